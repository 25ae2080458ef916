/*
 * t_study_run.c - the run loop: one study for any number of threads, whatever fails or was left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/host.h"
#include "chain.h"
#include "run_cases.h"
#include "study/pruner.h"
#include "study/study_parts.h"

enum { TRIALS = 60, WINDOW = 5 };

/* ---- a study of two numbers */

static struct mase_dimension two[] = {
    { "a", MASE_DIMENSION_FLOAT, .low = 0, .high = 1 },
    { "b", MASE_DIMENSION_FLOAT, .low = 0, .high = 1 },
};
static const struct mase_space space = { 2, two };
static const enum mase_goal least[] = { MASE_MINIMIZE };
static struct mase_study_objective objective[] = { { "distance", MASE_MINIMIZE } };

struct test {
    struct mase_study_setup setup;
    struct mase_study study;
    struct mase_study_run_opts opts;
    atomic_int measured;
    int64_t told_of; /* trials that ended() was called for */
    int stop_after;
};

/* Slower trials overtake others: their time depends on the point. */
static enum mase_status distance(void *data, int worker, struct mase_study_run *run,
                                 struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    struct test *test = data;
    const struct timespec pause = { .tv_nsec = (long)(2e6 * t->x[1]) };
    (void)a, (void)run;
    assert_in_range(worker, 0, 3);
    atomic_fetch_add(&test->measured, 1);
    nanosleep(&pause, NULL);
    if (t->number % 7 == 3)
        return mase_fail(err, MASE_EVALUE, "%lld is a bad number", (long long)t->number);
    if (t->number % 7 != 5) /* else it stays NaN */
        t->value[0] = t->x[0] * t->x[0] + t->x[1];
    return MASE_OK;
}

static void ended(void *data, const struct mase_study *s, const struct mase_trial *t)
{
    struct test *test = data;
    assert_ptr_equal(t, &s->trial[t->number]);
    assert_int_equal(t->number, test->told_of++);
}

static bool stops(void *data)
{
    struct test *test = data;
    return test->stop_after && test->measured >= test->stop_after;
}

static void begin(struct test *t)
{
    *t = (struct test){
        .setup = { &space, least, .objectives = 1, .seed = 3, .window = WINDOW },
        .study = { .name = "test", .objective = objective, .objectives = 1 },
        .opts = { .trials = TRIALS, .measure = distance, .ended = ended, .stop = stops },
    };
    t->opts.data = t;
}

static enum mase_status run(struct test *t, int workers, struct mase_err *err)
{
    t->opts.workers = workers;
    assert_int_equal(mase_sampler_new(&t->opts.sampler, &chain_kind, &t->setup, NULL, err), 0);
    const enum mase_status st = mase_study_run(&t->study, &t->setup, &t->opts, err);
    mase_sampler_free(t->opts.sampler);
    return st;
}

/* The study of one worker, unbroken. */
static void expect(char hex[65])
{
    struct test t;
    struct mase_err err;
    begin(&t);
    assert_int_equal(run(&t, 1, &err), MASE_OK);
    assert_int_equal(t.study.trials, TRIALS);
    assert_int_equal(t.measured, TRIALS);
    assert_int_equal(t.told_of, TRIALS);
    mase_study_hash(hex, &t.study);
    mase_study_release(&t.study);
}

static void any_number_of_workers_makes_the_same_study(void **state)
{
    char expected[65], hex[65];
    struct mase_err err;
    (void)state;
    expect(expected);
    for (int workers = 2; workers <= 4; workers++) {
        struct test t;
        begin(&t);
        assert_int_equal(run(&t, workers, &err), MASE_OK);
        assert_int_equal(t.measured, TRIALS);
        assert_int_equal(t.told_of, TRIALS);
        mase_study_hash(hex, &t.study);
        assert_string_equal(hex, expected);
        mase_study_release(&t.study);
    }
}

/* The hash sees a changed value. */
static void another_study_has_another_hash(void **state)
{
    char expected[65], hex[65];
    struct test t;
    struct mase_err err;
    (void)state;
    expect(expected);
    begin(&t);
    t.setup.window = WINDOW + 1;
    assert_int_equal(run(&t, 1, &err), MASE_OK);
    mase_study_hash(hex, &t.study);
    assert_string_not_equal(hex, expected);
    mase_study_release(&t.study);
}

static void failing_trials_are_recorded_with_their_sentence(void **state)
{
    struct test t;
    struct mase_err err;
    (void)state;
    begin(&t);
    assert_int_equal(run(&t, 2, &err), MASE_OK);
    for (int64_t n = 0; n < TRIALS; n++) {
        const struct mase_trial *trial = &t.study.trial[n];
        const struct mase_value *why = mase_value_get(trial->user, "failure");
        const bool fails = n % 7 == 3 || n % 7 == 5;
        assert_int_equal(trial->state, fails ? MASE_TRIAL_FAIL : MASE_TRIAL_COMPLETE);
        assert_int_equal(isnan(trial->value[0]), fails);
        assert_int_equal(why != NULL, fails);
        if (n == 3)
            assert_string_equal(why->s, "3 is a bad number");
        if (n == 5)
            assert_string_equal(why->s, "objective 'distance' is not a number");
        assert_true(trial->start > 0 && trial->end >= trial->start);
    }
    mase_study_release(&t.study);
}

/* It is stopped three times, and once more with trials under way, as a kill leaves them. */
static void a_study_goes_on_where_it_was_left(void **state)
{
    char expected[65], hex[65];
    struct test t;
    struct mase_err err;
    (void)state;
    expect(expected);
    begin(&t);
    for (int stop = 10; stop <= 30; stop += 10) {
        t.stop_after = stop;
        assert_int_equal(run(&t, 2, &err), MASE_OK);
        assert_in_range(t.study.trials, stop, stop + 1);
    }
    t.stop_after = 0;
    t.told_of = 25; /* those behind were not told of: one before them had not ended */
    const int before = t.measured;
    t.study.trial[25].state = t.study.trial[28].state = MASE_TRIAL_RUNNING;
    assert_int_equal(run(&t, 3, &err), MASE_OK);
    assert_int_equal(t.measured - before, TRIALS - before + 2);
    mase_study_hash(hex, &t.study);
    assert_string_equal(hex, expected);
    mase_study_release(&t.study);
}

static void enqueued_points_are_measured(void **state)
{
    struct test t;
    struct mase_err err;
    (void)state;
    begin(&t);
    t.opts.trials = 3;
    assert_int_equal(mase_study_take_space(&t.study, &space, &err), MASE_OK);
    struct mase_trial *trial = mase_study_add(&t.study);
    struct mase_value *system = mase_value_table(&t.study.arena);
    struct mase_value *fixed = mase_value_table(&t.study.arena);
    mase_value_set(&t.study.arena, fixed, "b", mase_value_float(&t.study.arena, 0.25));
    mase_value_set(&t.study.arena, system, "fixed_params", fixed);
    trial->state = MASE_TRIAL_WAITING;
    trial->system = system;
    assert_int_equal(run(&t, 1, &err), MASE_OK);
    assert_int_equal(t.study.trials, 3);
    assert_int_equal(t.study.trial[0].state, MASE_TRIAL_COMPLETE);
    assert_true(t.study.trial[0].x[1] == 0.25);
    assert_true(t.study.trial[0].x[0] == 0); /* chosen: nothing was told, nothing is pending */
    mase_study_release(&t.study);
}

static void points_take_the_order_of_the_space(void **state)
{
    struct mase_dimension turned[] = { two[1],
                                       { "c", MASE_DIMENSION_INT, .high = 9, .step = 1 },
                                       two[0] };
    const struct mase_space other = { 3, turned }, less = { 1, two };
    struct mase_study s = { .objective = objective, .objectives = 1 };
    struct mase_err err;
    (void)state;
    assert_int_equal(mase_study_take_space(&s, &space, &err), MASE_OK);
    struct mase_trial *t = mase_study_add(&s);
    t->x[0] = 0.25;
    t->x[1] = 0.5;
    assert_int_equal(mase_study_take_space(&s, &other, &err), MASE_OK);
    assert_true(s.trial[0].x[0] == 0.5 && isnan(s.trial[0].x[1]) && s.trial[0].x[2] == 0.25);
    assert_int_equal(mase_study_take_space(&s, &less, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "the study has a parameter 'b', the space has not");
    turned[0].kind = MASE_DIMENSION_CHOICE;
    assert_int_equal(mase_study_take_space(&s, &other, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "the study has 'b' as a number, not as a choice");
    mase_study_release(&s);
}

/* ---- readings */

static enum mase_status with_readings(void *data, int worker, struct mase_study_run *run,
                                      struct mase_trial *t, struct mase_arena *a,
                                      struct mase_err *err)
{
    static const int64_t step[] = { 4, 1, 9, 4, 2 };
    (void)data, (void)worker, (void)a, (void)err;
    for (int i = 0; i < 5; i++)
        mase_study_report(run, t, step[i], i);
    t->value[0] = 1;
    return MASE_OK;
}

static void readings_are_kept_by_step(void **state)
{
    static const struct mase_reading expected[] = { { 1, 1 }, { 2, 4 }, { 4, 0 }, { 9, 2 } };
    struct test t;
    struct mase_err err;
    (void)state;
    begin(&t);
    t.opts.trials = 1;
    t.opts.measure = with_readings;
    assert_int_equal(run(&t, 1, &err), MASE_OK);
    assert_int_equal(t.study.trial[0].readings, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(t.study.trial[0].reading[i].step, expected[i].step);
        assert_true(t.study.trial[0].reading[i].value == expected[i].value);
    }
    mase_study_release(&t.study);
}

/* ---- pruning */

/* Trials that were told of up to now: a pruner that saw others decides otherwise. */
static bool above_mean(const struct mase_pruner *p, const struct mase_trial *t)
{
    double sum = 0;
    for (int i = 0; i < p->count; i++)
        sum += p->told[i].reading[0].value;
    return p->count && t->reading[0].value > sum / p->count + 0.01 * p->count;
}

static const struct mase_opt no_options[] = { { 0 } };
static const struct mase_pruner_functions mean_functions = { .options = no_options,
                                                             .prunes = above_mean };
static const struct mase_pruner_kind mean_kind = { "mean", "", &mean_functions };

static enum mase_status in_steps(void *data, int worker, struct mase_study_run *run,
                                 struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    const struct timespec pause = { .tv_nsec = (long)(1e6 * t->x[1]) };
    (void)data, (void)worker, (void)a, (void)err;
    for (int step = 0; step < 3; step++) {
        nanosleep(&pause, NULL);
        if (mase_study_report(run, t, step, t->x[0]))
            return MASE_OK;
    }
    t->value[0] = t->x[0];
    return MASE_OK;
}

/* Whoever is faster, a trial is pruned by the same results. */
static void pruning_does_not_depend_on_the_workers(void **state)
{
    char expected[65], hex[65];
    struct mase_err err;
    (void)state;
    for (int workers = 1; workers <= 4; workers++) {
        struct test t;
        int64_t pruned = 0;
        begin(&t);
        t.opts.measure = in_steps;
        assert_int_equal(mase_pruner_new(&t.opts.pruner, &mean_kind, &t.setup, NULL, &err), 0);
        assert_int_equal(run(&t, workers, &err), MASE_OK);
        mase_pruner_free(t.opts.pruner);
        mase_study_hash(workers == 1 ? expected : hex, &t.study);
        if (workers > 1)
            assert_string_equal(hex, expected);
        for (int64_t n = 0; n < TRIALS; n++) {
            const struct mase_trial *trial = &t.study.trial[n];
            pruned += trial->state == MASE_TRIAL_PRUNED;
            assert_true(trial->value[0] == trial->x[0]); /* if pruned, the last reading */
        }
        assert_in_range(pruned, 5, TRIALS - 5);
        mase_study_release(&t.study);
    }
}

/* ---- a fault of the library, or the end of memory, ends the run and the call */

static enum mase_status fault(void *data, int worker, struct mase_study_run *run,
                              struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    (void)data, (void)worker, (void)run, (void)a, (void)err;
    if (t->number == 9)
        mase_bug("at trial nine");
    t->value[0] = 0;
    return MASE_OK;
}

static enum mase_status run_guarded(void *data, struct mase_err *err)
{
    return run(data, 3, err);
}

static void a_fault_ends_the_run(void **state)
{
    struct test t;
    struct mase_err err;
    (void)state;
    begin(&t);
    t.opts.measure = fault;
    t.opts.ended = NULL;
    assert_int_equal(mase_guarded(NULL, run_guarded, &t, &err), MASE_EBUG);
    assert_non_null(strstr(err.msg, "at trial nine"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_workers_makes_the_same_study),
        cmocka_unit_test(another_study_has_another_hash),
        cmocka_unit_test(failing_trials_are_recorded_with_their_sentence),
        cmocka_unit_test(a_study_goes_on_where_it_was_left),
        cmocka_unit_test(enqueued_points_are_measured),
        cmocka_unit_test(points_take_the_order_of_the_space),
        cmocka_unit_test(readings_are_kept_by_step),
        cmocka_unit_test(pruning_does_not_depend_on_the_workers),
        cmocka_unit_test(a_fault_ends_the_run),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
