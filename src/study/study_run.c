/*
 * study_run.c - the run loop: threads take trials, measure them, and bring the results.
 *
 * All that threads share is touched under one lock: the study, the sampler, the pruner, the store,
 * and the queue of trials that are chosen but not measured. A thread that holds the lock runs in a
 * guard of its own, so that no jump leaves with the lock. So the study does not depend on how many
 * threads there are, nor on which of them is faster.
 */
#include "study/study_run.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include <omp.h>

#include "base/alloc.h"

/* A trial that a worker measures. */
struct job {
    struct mase_trial t; /* first: mase_study_report finds the job by it */
    struct mase_arena arena;
    struct mase_study_run *run;
    int worker;
    bool prunes;
};

double mase_run_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t mase_run_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- under the lock ---- */

/* Call fn with the lock held, in a guard of its own. */
static enum mase_status locked(struct mase_study_run *run, mase_guarded_fn *fn, void *data,
                               struct mase_err *err)
{
    pthread_mutex_lock(&run->lock);
    const enum mase_status st = mase_guarded_part(mase_guard_current(), fn, data, err);
    pthread_mutex_unlock(&run->lock);
    return mase_guard_propagate(st, err);
}

void mase_run_stop(struct mase_study_run *run, const struct mase_err *why)
{
    if (why && !run->failure.status)
        run->failure = *why;
    run->stopping = true;
    pthread_cond_broadcast(&run->changed);
}

bool mase_run_should_stop(struct mase_study_run *run)
{
    if (!run->stopping &&
        (mase_run_clock() >= run->deadline || (run->o->stop && run->o->stop(run->o->data))))
        mase_run_stop(run, NULL);
    return run->stopping;
}

void mase_run_wait(struct mase_study_run *run, double seconds)
{
    const int64_t until = mase_run_time() + (int64_t)(1e6 * seconds);
    const struct timespec t = { until / 1000000, until % 1000000 * 1000 };
    (void)pthread_cond_timedwait(&run->changed, &run->lock, &t);
}

void mase_run_report(struct mase_study_run *run)
{
    const struct mase_study *s = run->study;
    while (run->ended < s->trials && mase_trial_ended(&s->trial[run->ended])) {
        const struct mase_trial *t = &s->trial[run->ended++];
        if (run->o->ended)
            run->o->ended(run->o->data, s, t);
    }
}

/* ---- a worker ---- */

static void begin(struct job *job, int64_t number)
{
    struct mase_trial *t = &job->run->study->trial[number];
    t->state = MASE_TRIAL_RUNNING;
    t->start = mase_run_time();
    job->t = (struct mase_trial){
        .number = number, .id = t->id, .x = t->x, .system = t->system, .start = t->start
    };
    job->run->under_way++;
}

/* Fill the queue, if anything can be done now. */
static enum mase_status refill(struct mase_study_run *run, struct mase_err *err)
{
    if (run->o->store)
        return mase_run_sync(run, err);
    if (mase_run_choose(run))
        mase_run_push(run, run->study->trials - 1);
    return MASE_OK;
}

/* Is there nothing left to measure, whatever the trials under way bring? */
static bool is_over(const struct mase_study_run *run)
{
    return run->first == run->last && !run->under_way &&
           (!run->o->store || mase_run_all_ended(run));
}

/* Take the next trial to measure, choosing it if need be; its number is -1 if there is none left.
 */
static enum mase_status take(void *data, struct mase_err *err)
{
    struct job *job = data;
    struct mase_study_run *run = job->run;
    job->t.number = -1;
    while (!mase_run_should_stop(run)) {
        if (run->first == run->last)
            MASE_TRY(refill(run, err));
        if (run->first < run->last && mase_run_complete(run, run->queue[run->first])) {
            begin(job, run->queue[run->first++]);
            return MASE_OK;
        }
        if (is_over(run))
            return MASE_OK;
        mase_run_wait(run, MASE_RUN_POLL);
    }
    return MASE_OK;
}

static enum mase_status measure(void *data, struct mase_err *err)
{
    struct job *job = data;
    const struct mase_study_run_opts *o = job->run->o;
    return o->measure(o->data, job->worker, job->run, &job->t, &job->arena, err);
}

static int find_nan(const double *x, int count)
{
    int i = 0;
    while (i < count && !isnan(x[i]))
        i++;
    return i;
}

/* A trial whose values are not numbers has failed. */
static enum mase_status check_values(const struct job *job, struct mase_err *err)
{
    const struct mase_study *s = job->run->study;
    const int value = find_nan(job->t.value, s->objectives);
    const int violation = find_nan(job->t.violation, s->constraints);
    if (value < s->objectives)
        return mase_fail(err, MASE_EVALUE, "objective '%s' is not a number",
                         s->objective[value].name);
    if (violation < s->constraints)
        return mase_fail(err, MASE_EVALUE, "constraint '%s' is not a number",
                         s->constraint[violation]);
    return MASE_OK;
}

static const struct mase_value *add_sentence(struct mase_arena *a, const struct mase_value *user,
                                             const struct mase_err *err)
{
    char text[sizeof err->path + sizeof err->msg];
    struct mase_value *table = user ? mase_value_copy(a, user) : mase_value_table(a);
    mase_err_text(err, text, sizeof text);
    mase_value_set(a, table, MASE_STUDY_FAILURE, mase_value_string(a, text));
    return table;
}

/* A pruned trial has its last reading as its value, if the study has one objective. */
static void settle_pruned(struct job *job)
{
    const struct mase_study *s = job->run->study;
    for (int i = 0; i < s->objectives; i++)
        job->t.value[i] =
            s->objectives == 1 && job->t.readings ? job->t.reading[job->t.readings - 1].value : NAN;
}

static void settle(struct job *job, enum mase_status st, struct mase_err *err)
{
    struct mase_trial *t = &job->t;
    if (!st && !job->prunes)
        st = check_values(job, err);
    t->state = st ? MASE_TRIAL_FAIL : job->prunes ? MASE_TRIAL_PRUNED : MASE_TRIAL_COMPLETE;
    if (st) {
        t->value = t->violation = NULL;
        t->user = add_sentence(&job->arena, t->user, err);
    } else if (job->prunes) {
        settle_pruned(job);
    }
    t->end = mase_run_time();
}

static void keep_numbers(double *to, const double *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from ? from[i] + 0.0 : NAN; /* a file keeps no sign of zero */
}

void mase_run_keep(struct mase_study *s, const struct mase_trial *from)
{
    struct mase_trial *t = &s->trial[from->number];
    keep_numbers(t->value, from->value, s->objectives);
    keep_numbers(t->violation, from->violation, s->constraints);
    t->user = from->user;
    t->reading = from->reading;
    t->readings = from->readings;
    t->end = from->end;
    t->state = from->state;
}

/* The results of a job, in memory of the study. */
static struct mase_trial copy_results(struct mase_study *s, const struct mase_trial *from)
{
    struct mase_trial t = *from;
    const size_t values = (size_t)s->objectives * sizeof(double),
                 violations = (size_t)s->constraints * sizeof(double);
    t.value = from->value ? mase_arena_memdup(&s->arena, from->value, values) : NULL;
    t.violation =
        from->violation ? mase_arena_memdup(&s->arena, from->violation, violations) : NULL;
    t.user = from->user ? mase_value_copy(&s->arena, from->user) : NULL;
    t.reading = NULL;
    if (from->readings)
        t.reading =
            mase_arena_memdup(&s->arena, from->reading, (size_t)from->readings * sizeof *t.reading);
    return t;
}

static enum mase_status finish(void *data, struct mase_err *err)
{
    struct job *job = data;
    struct mase_study_run *run = job->run;
    const struct mase_trial result = copy_results(run->study, &job->t);
    run->under_way--;
    pthread_cond_broadcast(&run->changed);
    if (run->o->store)
        return mase_run_add_result(run, &result, err);
    mase_run_keep(run->study, &result);
    mase_run_report(run);
    return MASE_OK;
}

/* A trial that failed because the run is stopping is left as it is, to be measured again. */
static enum mase_status abandon(void *data, struct mase_err *err)
{
    struct job *job = data;
    (void)err;
    job->run->under_way--;
    pthread_cond_broadcast(&job->run->changed);
    return MASE_OK;
}

/* Room for the results of a trial, which may be measured for the second time. */
static void make_room(struct job *job)
{
    const struct mase_study *s = job->run->study;
    double *x = mase_new_array(&job->arena, double, (size_t)(s->objectives + s->constraints));
    for (int i = 0; i < s->objectives + s->constraints; i++)
        x[i] = NAN;
    job->t.value = x;
    job->t.violation = x + s->objectives;
}

static enum mase_status run_job(struct job *job, struct mase_err *err)
{
    struct mase_err failure;
    make_room(job);
    const enum mase_status st = mase_guarded_part(mase_guard_current(), measure, job, &failure);
    (void)mase_guard_propagate(st, &failure);
    settle(job, st, &failure);
    const bool left = st && job->run->o->stop && job->run->o->stop(job->run->o->data);
    MASE_TRY(locked(job->run, left ? abandon : finish, job, err));
    mase_arena_release(&job->arena);
    return MASE_OK;
}

static enum mase_status run_worker(void *data, struct mase_err *err)
{
    struct mase_study_run *run = data;
    for (;;) {
        struct job job = { .run = run, .worker = omp_get_thread_num() };
        MASE_TRY(locked(run, take, &job, err));
        if (job.t.number < 0)
            return MASE_OK;
        MASE_TRY(run_job(&job, err));
    }
}

/* ---- readings ---- */

/* Room for one more reading, behind those of earlier steps. NULL: this step has one already. */
static struct mase_reading *add_reading(struct mase_trial *t, struct mase_arena *a, int64_t step)
{
    int at = t->readings;
    while (at > 0 && t->reading[at - 1].step >= step)
        at--;
    if (at < t->readings && t->reading[at].step == step)
        return NULL;
    if ((t->readings & (t->readings - 1)) == 0) { /* full: twice the room */
        const int cap = t->readings ? 2 * t->readings : 1;
        struct mase_reading *r = mase_new_array(a, struct mase_reading, (size_t)cap);
        if (t->readings)
            memcpy(r, t->reading, (size_t)t->readings * sizeof *r);
        t->reading = r;
    }
    memmove(t->reading + at + 1, t->reading + at, (size_t)(t->readings - at) * sizeof *t->reading);
    t->readings++;
    return t->reading + at;
}

static enum mase_status decide(void *data, struct mase_err *err)
{
    struct job *job = data;
    (void)err;
    job->prunes = mase_pruner_prunes(job->run->o->pruner, &job->t);
    return MASE_OK;
}

bool mase_study_report(struct mase_study_run *run, struct mase_trial *t, int64_t step, double value)
{
    struct job *job = (struct job *)(void *)t; /* its first member */
    struct mase_reading *r = add_reading(t, &job->arena, step);
    struct mase_err err;
    if (r)
        *r = (struct mase_reading){ step, value };
    if (r && !job->prunes && run->o->pruner)
        (void)locked(run, decide, job, &err); /* what can fail there ends the call */
    return job->prunes;
}

/* ---- all of it ---- */

static enum mase_status keep_store(void *data, struct mase_err *err)
{
    return mase_run_keep_store(data, err);
}

/* The share of a thread: with a store, the last one looks after that. */
static enum mase_status run_thread(void *data, struct mase_err *err)
{
    struct mase_study_run *run = data;
    return omp_get_thread_num() < run->workers ? run_worker(run, err)
                                               : locked(run, keep_store, run, err);
}

static void run_threads(struct mase_study_run *run)
{
    struct mase_guard *guard = mase_guard_current();
#pragma omp parallel num_threads(run->workers + (run->o->store != NULL))
    {
        struct mase_err err;
        const enum mase_status st = mase_guarded_part(guard, run_thread, run, &err);
        pthread_mutex_lock(&run->lock);
        run->left += omp_get_thread_num() < run->workers;
        if (st)
            mase_run_stop(run, &err);
        pthread_cond_broadcast(&run->changed);
        pthread_mutex_unlock(&run->lock);
    }
}

static enum mase_status check_study(const struct mase_study *s,
                                    const struct mase_study_setup *setup, struct mase_err *err)
{
    if (s->objectives != setup->objectives)
        return mase_fail(err, MASE_EVALUE, "the study has %d objectives, not %d", s->objectives,
                         setup->objectives);
    for (int i = 0; i < s->objectives; i++)
        if (s->objective[i].direction != setup->direction[i])
            return mase_fail(err, MASE_EVALUE, "the study %s objective '%s'",
                             s->objective[i].direction == MASE_MINIMIZE ? "minimizes" : "maximizes",
                             s->objective[i].name);
    if (s->constraints != setup->constraints)
        return mase_fail(err, MASE_EVALUE, "the study has %d constraints, not %d", s->constraints,
                         setup->constraints);
    return MASE_OK;
}

/* Blocks that several threads make grow belong to this call, not to that of one thread. */
static void open_run(struct mase_study_run *run)
{
    const double seconds = run->o->seconds;
    run->workers = run->o->workers > 0 ? run->o->workers : 1;
    run->queue_cap = run->points = 64;
    run->queue = mase_xcalloc((size_t)run->queue_cap * sizeof *run->queue);
    run->point = mase_xcalloc((size_t)run->points * sizeof *run->point);
    run->mine = mase_xcalloc((size_t)run->points * sizeof *run->mine);
    run->deadline = seconds > 0 ? mase_run_clock() + seconds : INFINITY;
    while (run->ended < run->study->trials && mase_trial_ended(&run->study->trial[run->ended]))
        run->ended++;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->changed, NULL);
}

static void close_run(struct mase_study_run *run)
{
    pthread_cond_destroy(&run->changed);
    pthread_mutex_destroy(&run->lock);
    mase_xfree(run->queue);
    mase_xfree(run->point);
    mase_xfree(run->mine);
}

static enum mase_status run_stored(struct mase_study_run *run, struct mase_err *err)
{
    MASE_TRY(mase_run_open_store(run, err));
    run_threads(run);
    return mase_run_close_store(run, err);
}

enum mase_status mase_study_run(struct mase_study *s, const struct mase_study_setup *setup,
                                const struct mase_study_run_opts *o, struct mase_err *err)
{
    struct mase_study_run run = { .study = s, .setup = setup, .o = o };
    enum mase_status st = MASE_OK;
    MASE_TRY(check_study(s, setup, err));
    MASE_TRY(mase_study_take_space(s, setup->space, err));
    open_run(&run);
    if (o->store) {
        st = run_stored(&run, err);
    } else {
        mase_run_recall(&run);
        run_threads(&run);
    }
    close_run(&run);
    if (!run.failure.status)
        return st;
    (void)mase_guard_propagate(run.failure.status, &run.failure);
    *err = run.failure;
    err->loc.path = run.failure.loc.path ? err->path : NULL; /* it points into its own struct */
    return run.failure.status;
}
