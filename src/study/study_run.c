/*
 * study_run.c - the run loop: trials are chosen in order of their numbers, and measured by threads.
 *
 * All that threads share is touched under one lock: the study, the sampler, the pruner, and the
 * queue of trials that are chosen but not measured. A thread that holds the lock runs in a guard of
 * its own, so that no jump leaves with the lock. Trial n is chosen as soon as as many results are
 * there as the sampler needs for it, and by exactly these, so the study does not depend on how
 * many threads there are, nor on which of them is faster.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <omp.h>

#include "base/alloc.h"
#include "base/host.h"
#include "study/study_parts.h"

struct mase_study_run {
    struct mase_study *study;
    const struct mase_study_setup *setup;
    const struct mase_study_run_opts *o;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a trial ended, or the run is stopping */
    int64_t *queue;         /* numbers of trials to measure: queue[first .. last) */
    int64_t first, last, queue_cap;
    const double **point; /* of every trial */
    int64_t point_cap;
    int64_t told;  /* results that the sampler knows */
    int64_t ended; /* trials that o->ended was called for */
    int64_t under_way;
    double deadline;
    bool stopping;
    struct mase_err failure; /* why it is stopping; no status: for no failure */
};

/* A trial that a worker measures. */
struct job {
    struct mase_trial t; /* first: mase_study_report finds the job by it */
    struct mase_arena arena;
    struct mase_study_run *run;
    int worker;
    bool prunes;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t microseconds(void)
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

static void stop(struct mase_study_run *run, const struct mase_err *why)
{
    if (why && !run->failure.status)
        run->failure = *why;
    run->stopping = true;
    pthread_cond_broadcast(&run->changed);
}

static void push(struct mase_study_run *run, int64_t number)
{
    if (run->first == run->last)
        run->first = run->last = 0;
    if (run->last == run->queue_cap) {
        run->queue_cap *= 2;
        run->queue = mase_xrealloc(run->queue, (size_t)run->queue_cap * sizeof *run->queue);
    }
    run->queue[run->last++] = number;
}

/* The sampler sees points of trials under way as an array of pointers. */
static void note_point(struct mase_study_run *run, int64_t number)
{
    if (number >= run->point_cap) {
        run->point_cap = 2 * number;
        run->point = mase_xrealloc(run->point, (size_t)run->point_cap * sizeof *run->point);
    }
    run->point[number] = run->study->trial[number].x;
}

/* Tell the sampler all results that it needs to choose trial n. False: they are not there yet. */
static bool tell(struct mase_study_run *run, int64_t n)
{
    struct mase_sampler *s = run->o->sampler;
    while (run->told < mase_sampler_needs(s, n)) {
        if (run->told >= n)
            mase_bug("trial %lld needs its own result", (long long)n);
        if (!mase_trial_ended(&run->study->trial[run->told]))
            return false;
        mase_sampler_tell(s, &run->study->trial[run->told++]);
    }
    return true;
}

static void ask(struct mase_study_run *run, double *x, int64_t n)
{
    mase_sampler_ask(run->o->sampler, x, n, run->point + run->told, n - run->told);
}

/* How many trials the study will have, as far as is known. */
static int64_t trial_limit(const struct mase_study_run *run)
{
    const double all = mase_sampler_trials(run->o->sampler);
    return all < (double)run->o->trials ? (int64_t)all : run->o->trials;
}

/* Choose the next trial, if all that it depends on is known. */
static bool choose(struct mase_study_run *run)
{
    const int64_t n = run->study->trials;
    if (n >= trial_limit(run) || !tell(run, n) || n >= trial_limit(run))
        return false;
    double *x = mase_study_numbers(run->study, run->setup->space->count);
    ask(run, x, n);
    mase_study_add(run->study)->x = x;
    note_point(run, n);
    push(run, n);
    return true;
}

/* ---- trials that an earlier run, or another program, left to be measured ---- */

/* Numbers that a trial was enqueued with; the others are for the sampler to choose. */
static void take_fixed(double *x, const struct mase_space *s, const struct mase_trial *t)
{
    const struct mase_value *fixed = mase_value_get(t->system, "fixed_params");
    for (int i = 0; i < s->count; i++) {
        const struct mase_dimension *d = &s->dimension[i];
        const struct mase_value *v = mase_value_get(fixed, d->name);
        if (v && d->kind != MASE_DIMENSION_CHOICE && isfinite(mase_value_number(v)))
            x[i] = mase_dimension_nearest(d, mase_value_number(v));
        for (int c = 0; v && d->kind == MASE_DIMENSION_CHOICE && c < d->choices->count; c++)
            if (mase_value_equal(d->choices->items[c], v))
                x[i] = c;
    }
}

static bool is_whole(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (isnan(x[i]))
            return false;
    return true;
}

/* Complete the point of a trial that has been added. False: results for it are missing. */
static bool complete_point(struct mase_study_run *run, int64_t n)
{
    const struct mase_space *s = &run->study->space;
    double *x = run->study->trial[n].x;
    if (is_whole(x, s->count))
        return true;
    if (!tell(run, n))
        return false;
    double *all = mase_study_numbers(run->study, s->count);
    ask(run, all, n);
    for (int i = 0; i < s->count; i++)
        if (isnan(x[i]))
            x[i] = all[i];
    return true;
}

static void recall(struct mase_study_run *run)
{
    struct mase_study *s = run->study;
    for (int64_t n = 0; n < s->trials; n++) {
        struct mase_trial *t = &s->trial[n];
        if (t->state == MASE_TRIAL_WAITING)
            take_fixed(t->x, &s->space, t);
        if (!mase_trial_ended(t))
            push(run, n);
        else if (run->ended == n)
            run->ended = n + 1;
        note_point(run, n);
    }
}

/* ---- a worker ---- */

/* What may be called for: no trial begins after the time, or when the caller says so. */
static bool should_stop(struct mase_study_run *run)
{
    if (!run->stopping && (now() >= run->deadline || (run->o->stop && run->o->stop(run->o->data))))
        stop(run, NULL);
    return run->stopping;
}

static void begin(struct job *job, int64_t number)
{
    struct mase_study *s = job->run->study;
    struct mase_trial *t = &s->trial[number];
    t->state = MASE_TRIAL_RUNNING;
    t->start = microseconds();
    job->t = (struct mase_trial){ .number = number,
                                  .x = t->x,
                                  .value = t->value,
                                  .violation = t->violation,
                                  .system = t->system,
                                  .start = t->start };
    job->run->under_way++;
}

/* Take the next trial to measure, choosing it if need be; its number is -1 if there is none left.
 */
static enum mase_status take(void *data, struct mase_err *err)
{
    struct job *job = data;
    struct mase_study_run *run = job->run;
    (void)err;
    job->t.number = -1;
    while (!should_stop(run)) {
        if (run->first < run->last || choose(run)) {
            if (complete_point(run, run->queue[run->first])) {
                begin(job, run->queue[run->first++]);
                return MASE_OK;
            }
        } else if (!run->under_way) {
            return MASE_OK;
        }
        pthread_cond_wait(&run->changed, &run->lock);
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
    t->end = microseconds();
}

static void keep(double *to, const double *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from ? from[i] + 0.0 : NAN; /* a file keeps no sign of zero */
}

/* Move the results of a job into the study. */
static void keep_results(struct mase_study *s, const struct mase_trial *from)
{
    struct mase_trial *t = &s->trial[from->number];
    keep(t->value, from->value, s->objectives);
    keep(t->violation, from->violation, s->constraints);
    t->user = from->user ? mase_value_copy(&s->arena, from->user) : NULL;
    t->reading = NULL;
    if (from->readings)
        t->reading = mase_arena_memdup(&s->arena, from->reading,
                                       (size_t)from->readings * sizeof *t->reading);
    t->readings = from->readings;
    t->end = from->end;
    t->state = from->state;
}

/* Tell of trials that have ended, as far as all before them have. */
static void report_ended(struct mase_study_run *run)
{
    const struct mase_study *s = run->study;
    while (run->ended < s->trials && mase_trial_ended(&s->trial[run->ended])) {
        const struct mase_trial *t = &s->trial[run->ended++];
        if (run->o->ended)
            run->o->ended(run->o->data, s, t);
    }
}

static enum mase_status finish(void *data, struct mase_err *err)
{
    struct job *job = data;
    struct mase_study_run *run = job->run;
    (void)err;
    run->under_way--;
    keep_results(run->study, &job->t);
    report_ended(run);
    pthread_cond_broadcast(&run->changed);
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
    MASE_TRY(locked(job->run, finish, job, err));
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

bool mase_study_report(struct mase_study_run *run, struct mase_trial *t, int64_t step, double value)
{
    struct job *job = (struct job *)(void *)t; /* its first member */
    struct mase_reading *r = add_reading(t, &job->arena, step);
    (void)run;
    if (r)
        *r = (struct mase_reading){ step, value };
    return job->prunes;
}

/* ---- all of it ---- */

static void run_workers(struct mase_study_run *run)
{
    struct mase_guard *guard = mase_guard_current();
    const int workers = run->o->workers > 0 ? run->o->workers : 1;
#pragma omp parallel num_threads(workers)
    {
        struct mase_err err;
        if (mase_guarded_part(guard, run_worker, run, &err)) {
            pthread_mutex_lock(&run->lock);
            stop(run, &err);
            pthread_mutex_unlock(&run->lock);
        }
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

enum mase_status mase_study_run(struct mase_study *s, const struct mase_study_setup *setup,
                                const struct mase_study_run_opts *o, struct mase_err *err)
{
    struct mase_study_run run = { .study = s, .setup = setup, .o = o };
    MASE_TRY(check_study(s, setup, err));
    MASE_TRY(mase_study_take_space(s, setup->space, err));
    /* Blocks that several threads make grow belong to this call, not to that of one thread. */
    run.queue_cap = run.point_cap = 64;
    run.queue = mase_xcalloc((size_t)run.queue_cap * sizeof *run.queue);
    run.point = mase_xcalloc((size_t)run.point_cap * sizeof *run.point);
    run.deadline = o->seconds > 0 ? now() + o->seconds : INFINITY;
    recall(&run);
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    run_workers(&run);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    mase_xfree(run.queue);
    mase_xfree(run.point);
    if (!run.failure.status)
        return MASE_OK;
    (void)mase_guard_propagate(run.failure.status, &run.failure);
    *err = run.failure;
    err->loc.path = run.failure.loc.path ? err->path : NULL; /* it points into its own struct */
    return run.failure.status;
}
