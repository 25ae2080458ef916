/*
 * study_sync.c - a run and its store: one transaction writes results, reads those of others, claims
 * trials that nobody measures, and adds new ones.
 *
 * Whoever holds the transaction is the only one to choose trials of the study, and chooses them by
 * what is stored; so the study is the same for any number of processes. A trial counts as ended,
 * for the sampler as for the caller, when its result is stored. Results wait for a part of a
 * second, so that many are written at once; trials are claimed for about a second of work.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include <mase/log.h>

#include "base/alloc.h"
#include "study/store.h"
#include "study/study_run.h"

/* Seconds. */
#define WRITE_EVERY 0.1 /* results wait so long to be written together */
#define WORK_AHEAD  1.0 /* trials are claimed for so long */
#define RETRY       0.5 /* how often a database that went away is tried */
#define LEASE       60  /* without a heartbeat for so long, a trial is taken over */

enum { BATCH_MOST = 4096 };

static double lease(const struct mase_study_run *run)
{
    return run->o->lease_seconds > 0 ? run->o->lease_seconds : LEASE;
}

static bool has_leases(const struct mase_study_run *run)
{
    return run->o->store->sql->driver->many_hosts;
}

/* ---- one transaction ---- */

/* The first trial that has not ended. */
static int64_t first_open(const struct mase_study_run *run)
{
    int64_t n = run->ended;
    while (n < run->study->trials && mase_trial_ended(&run->study->trial[n]))
        n++;
    return n;
}

static enum mase_status read_others(struct mase_study_run *run, struct mase_err *err)
{
    struct mase_study *s = run->study;
    const int64_t before = s->trials;
    if (!mase_sql_changed(run->o->store->sql))
        return MASE_OK;
    MASE_TRY(mase_store_update(run->o->store, s, err));
    for (int64_t n = before; n < s->trials; n++)
        mase_run_note(run, n);
    return MASE_OK;
}

static enum mase_status write_results(struct mase_study_run *run, struct mase_err *err)
{
    MASE_TRY(mase_store_finish(run->o->store, run->study, run->result, run->results, err));
    for (int64_t i = 0; i < run->results; i++)
        if (mase_trial_ended(&run->result[i])) /* else another process was first */
            mase_run_keep(run->study, &run->result[i]);
    return MASE_OK;
}

/* How many trials to have in the queue: about a second of work, and not all that may be chosen. */
static int64_t wanted(struct mase_study_run *run)
{
    const double seconds = run->measured ? run->measuring / (double)run->measured : INFINITY;
    double most = fmin(WORK_AHEAD / fmax(seconds, 1e-6) * run->workers, 2.0 * (double)run->batch);
    if (mase_sampler_needs(run->o->sampler, run->study->trials + run->setup->window) > 0)
        most = fmin(most, (double)run->setup->window / 4);
    most = fmin(fmax(most, run->workers), BATCH_MOST);
    return (int64_t)most - (run->last - run->first);
}

/* Trials that this transaction gives to this process. */
struct claims {
    int64_t number[BATCH_MOST];
    int64_t count;
};

static enum mase_status claim_left(struct mase_study_run *run, struct claims *c, int64_t most,
                                   struct mase_err *err)
{
    const struct mase_claim claim = { .first = first_open(run),
                                      .most = most,
                                      .mine = run->mine,
                                      .lease = lease(run),
                                      .earlier = run->earlier };
    return mase_store_claim(run->o->store, run->study, &claim, c->number, &c->count, err);
}

static enum mase_status add_new(struct mase_study_run *run, struct claims *c, int64_t most,
                                struct mase_err *err)
{
    struct mase_study *s = run->study;
    const int64_t before = s->trials, start = mase_run_time();
    while (c->count < most && mase_run_choose(run)) {
        s->trial[s->trials - 1].start = start;
        c->number[c->count++] = s->trials - 1;
    }
    return mase_store_add(run->o->store, s, before, s->trials - before, err);
}

static enum mase_status beat(struct mase_study_run *run, const int64_t *number, int64_t count,
                             struct mase_err *err)
{
    return has_leases(run) ? mase_store_beat(run->o->store, run->study, number, count, true, err)
                           : MASE_OK;
}

static enum mase_status exchange(struct mase_study_run *run, struct claims *c, int64_t *known,
                                 struct mase_err *err)
{
    MASE_TRY(mase_store_lock(run->o->store, run->study, err));
    MASE_TRY(read_others(run, err));
    *known = run->study->trials;
    if (run->synced == 0)
        run->earlier = *known;
    MASE_TRY(write_results(run, err));
    const int64_t most = run->stopping ? 0 : wanted(run);
    if (most > 0) {
        MASE_TRY(claim_left(run, c, most, err));
        MASE_TRY(add_new(run, c, most, err));
    }
    MASE_TRY(beat(run, c->number, c->count, err));
    return mase_sql_commit(run->o->store->sql, err);
}

/* What was chosen and not stored is chosen again, and is the same then. */
static enum mase_status try_sync(struct mase_study_run *run, struct mase_err *err)
{
    struct claims *c = mase_xcalloc(sizeof *c);
    int64_t known = run->study->trials;
    enum mase_status st = mase_sql_begin(run->o->store->sql, err);
    if (!st)
        st = exchange(run, c, &known, err);
    if (st) {
        mase_sql_rollback(run->o->store->sql);
        run->study->trials = known;
    } else {
        for (int64_t i = 0; i < c->count; i++)
            mase_run_push(run, c->number[i]);
        if (c->count > run->batch)
            run->batch = c->count;
        run->results = 0;
        run->synced = mase_run_clock();
    }
    mase_xfree(c);
    return st;
}

/* ---- a database that goes away ---- */

static void pause_for(double seconds)
{
    const struct timespec t = { (time_t)seconds, (long)(1e9 * (seconds - floor(seconds))) };
    nanosleep(&t, NULL);
}

/* Try again until it is there, or the caller wants to stop. */
static enum mase_status persist(struct mase_study_run *run,
                                enum mase_status fn(struct mase_study_run *run,
                                                    struct mase_err *err),
                                struct mase_err *err)
{
    struct mase_sql *sql = run->o->store->sql;
    enum mase_status st = fn(run, err);
    bool told = false;
    while (st && sql->lost) {
        if (run->o->stop && run->o->stop(run->o->data))
            return st;
        if (!told)
            mase_warn("%s; waiting for it", err->msg);
        told = true;
        pause_for(RETRY);
        st = mase_sql_reopen(sql, err);
        if (!st) {
            mase_info("the database is there again");
            st = fn(run, err);
        }
    }
    return st;
}

enum mase_status mase_run_sync(struct mase_study_run *run, struct mase_err *err)
{
    MASE_TRY(persist(run, try_sync, err));
    mase_run_report(run);
    pthread_cond_broadcast(&run->changed);
    return MASE_OK;
}

/* The trials that this process has leased and that are not done; the caller frees the list. */
static int64_t *list_leases(const struct mase_study_run *run, int64_t *count)
{
    const struct mase_study *s = run->study;
    int64_t *number = mase_xcalloc((size_t)(s->trials - run->ended + 1) * sizeof *number);
    *count = 0;
    for (int64_t n = run->ended; n < s->trials; n++)
        if (run->mine[n] && !mase_trial_ended(&s->trial[n]))
            number[(*count)++] = n;
    return number;
}

static enum mase_status try_beat(struct mase_study_run *run, struct mase_err *err)
{
    int64_t count;
    int64_t *number = list_leases(run, &count);
    const enum mase_status st = beat(run, number, count, err);
    mase_xfree(number);
    return st;
}

static enum mase_status renew_leases(struct mase_study_run *run, struct mase_err *err)
{
    run->beaten = mase_run_clock();
    return persist(run, try_beat, err);
}

/* ---- what the run loop calls ---- */

static enum mase_status check_joined(const struct mase_study *s, const struct mase_study *other,
                                     struct mase_err *err)
{
    bool same = s->objectives == other->objectives;
    for (int i = 0; same && i < s->objectives; i++)
        same = s->objective[i].direction == other->objective[i].direction;
    return same ? MASE_OK
                : mase_fail(err, MASE_EVALUE, "study '%s' has other objectives there", s->name);
}

/* Begin the study, or join one that another process has begun. */
static enum mase_status join(struct mase_study_run *run, struct mase_err *err)
{
    struct mase_study *s = run->study, other = { 0 };
    int64_t id = 0;
    if (has_leases(run) && !s->trials)
        MASE_TRY(mase_store_find(run->o->store, s->name, &id, err));
    enum mase_status st = id ? MASE_OK : mase_store_create(run->o->store, s, err);
    if (!id && (!st || !has_leases(run)))
        return st;
    st = mase_store_read(run->o->store, &other, s->name, err); /* it is there, or why not is said */
    if (!st)
        st = check_joined(s, &other, err);
    if (!st)
        s->id = other.id;
    mase_study_release(&other);
    return st;
}

enum mase_status mase_run_open_store(struct mase_study_run *run, struct mase_err *err)
{
    struct mase_study *s = run->study;
    if (!s->id)
        MASE_TRY(join(run, err));
    MASE_TRY(mase_store_hold(run->o->store, s, err));
    for (int64_t n = 0; n < s->trials; n++)
        mase_run_note(run, n);
    run->results_cap = 64;
    run->result = mase_xcalloc((size_t)run->results_cap * sizeof *run->result);
    run->batch = 1;
    run->beaten = mase_run_clock();
    return MASE_OK;
}

enum mase_status mase_run_add_result(struct mase_study_run *run, const struct mase_trial *result,
                                     struct mase_err *err)
{
    if (run->results == run->results_cap) {
        run->results_cap *= 2;
        run->result = mase_xrealloc(run->result, (size_t)run->results_cap * sizeof *run->result);
    }
    run->result[run->results++] = *result;
    run->measuring += 1e-6 * (double)(result->end - result->start);
    run->measured++;
    return mase_run_clock() - run->synced < WRITE_EVERY ? MASE_OK : mase_run_sync(run, err);
}

bool mase_run_all_ended(const struct mase_study_run *run)
{
    const int64_t limit = mase_run_limit(run);
    return run->results == 0 && first_open(run) >= limit;
}

/* The deadline of the next thing to do is a fraction of a second away. */
static enum mase_status keep(struct mase_study_run *run, struct mase_err *err)
{
    const double now = mase_run_clock();
    if (run->results && now - run->synced >= WRITE_EVERY)
        MASE_TRY(mase_run_sync(run, err));
    if (has_leases(run) && now - run->beaten >= lease(run) / 4)
        MASE_TRY(renew_leases(run, err));
    return MASE_OK;
}

enum mase_status mase_run_keep_store(struct mase_study_run *run, struct mase_err *err)
{
    while (run->left < run->workers) {
        MASE_TRY(keep(run, err));
        mase_run_wait(run, WRITE_EVERY);
    }
    return MASE_OK;
}

static enum mase_status give_back(struct mase_study_run *run, struct mase_err *err)
{
    int64_t count;
    int64_t *number = list_leases(run, &count);
    const enum mase_status st =
        has_leases(run) ? mase_store_beat(run->o->store, run->study, number, count, false, err)
                        : MASE_OK;
    mase_xfree(number);
    return st;
}

enum mase_status mase_run_close_store(struct mase_study_run *run, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    run->stopping = true; /* what it writes is the last */
    if (!run->failure.status || run->failure.status == MASE_EVALUE)
        st = mase_run_sync(run, err);
    if (!st)
        st = give_back(run, err);
    mase_store_release_hold(run->o->store);
    mase_xfree(run->result);
    return st;
}
