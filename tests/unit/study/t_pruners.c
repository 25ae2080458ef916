/*
 * t_pruners.c - when trials end early: each pruner beside decisions worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "run_cases.h"
#include "study/pruner.h"

static const enum mase_goal down[] = { MASE_MINIMIZE, MASE_MINIMIZE }, up[] = { MASE_MAXIMIZE };
static const struct mase_study_setup least = { .direction = down, .objectives = 1, .window = 1 },
                                     most = { .direction = up, .objectives = 1, .window = 1 };

static struct mase_arena arena;

static struct mase_pruner *make(const char *name, const char *options,
                                const struct mase_study_setup *setup)
{
    struct mase_err err = { 0 };
    struct mase_value *v;
    struct mase_pruner *p;
    assert_int_equal(mase_json_parse(&v, &arena, options, strlen(options), "options", &err), 0);
    if (mase_pruner_new(&p, mase_pruner_find(name), setup, v, &err))
        fail_msg("%s %s: %s", name, options, err.msg);
    return p;
}

static int release(void **state)
{
    (void)state;
    mase_arena_release(&arena);
    return 0;
}

/* A trial of so many readings: at steps first, first + by, ... */
static struct mase_trial trial(int64_t number, enum mase_trial_state state, int64_t first,
                               int64_t by, int count, const double *value)
{
    struct mase_trial t = { .number = number, .state = state, .readings = count };
    t.reading = mase_new_array(&arena, struct mase_reading, (size_t)count);
    for (int i = 0; i < count; i++)
        t.reading[i] = (struct mase_reading){ first + i * by, value[i] };
    return t;
}

/* Trials 0, 1, ... whose one reading at `step` is value[i]. */
static void tell_all(struct mase_pruner *p, int64_t step, int count, const double *value)
{
    for (int i = 0; i < count; i++) {
        const struct mase_trial t = trial(i, MASE_TRIAL_COMPLETE, step, 1, 1, value + i);
        mase_pruner_tell(p, &t);
    }
}

static bool prunes(const struct mase_pruner *p, int64_t number, int64_t first, int64_t by,
                   int count, const double *value)
{
    const struct mase_trial t = trial(number, MASE_TRIAL_RUNNING, first, by, count, value);
    return mase_pruner_prunes(p, &t);
}

static const double five[] = { 1, 2, 3, 4, 5 };

static void the_median_is_of_complete_trials_at_the_same_step(void **state)
{
    (void)state;
    const double bad = 3.5, good = 3, better_before[] = { 2, 9 };
    struct mase_pruner *p = make("median", "{}", &least);
    assert_false(prunes(p, 9, 1, 1, 1, &bad)); /* nothing to compare with */
    tell_all(p, 1, 4, five);
    assert_false(prunes(p, 9, 1, 1, 1, &bad)); /* 4 of 5 that n_startup_trials asks for */
    const struct mase_trial last = trial(4, MASE_TRIAL_COMPLETE, 1, 1, 1, five + 4),
                            pruned = trial(5, MASE_TRIAL_PRUNED, 1, 1, 1, &(double){ -99 });
    mase_pruner_tell(p, &last);
    mase_pruner_tell(p, &pruned);
    assert_true(prunes(p, 9, 1, 1, 1, &bad));
    assert_false(prunes(p, 9, 1, 1, 1, &good));
    assert_true(prunes(p, 9, 1, 1, 1, &(double){ NAN }));
    assert_false(prunes(p, 9, 2, 1, 1, &bad));          /* no other has step 2 */
    assert_false(prunes(p, 9, 0, 1, 2, better_before)); /* the best so far counts */
    mase_pruner_free(p);
}

static void percentiles_follow_the_direction(void **state)
{
    (void)state;
    const struct {
        const struct mase_study_setup *setup;
        double value;
        bool pruned;
    } cases[] = {
        { &least, 2, false }, { &least, 2.01, true }, { &most, 4, false }, { &most, 3.99, true }
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_pruner *p = make("percentile", "{\"percentile\": 25}", cases[i].setup);
        tell_all(p, 0, 5, five);
        assert_int_equal(prunes(p, 9, 0, 1, 1, &cases[i].value), cases[i].pruned);
        mase_pruner_free(p);
    }
}

static void pruning_waits_for_steps_and_trials(void **state)
{
    (void)state;
    const double bad[] = { 9, 9, 9 };
    struct mase_pruner *p =
        make("median", "{\"n_warmup_steps\": 4, \"interval_steps\": 3, \"n_startup_trials\": 0}",
             &least);
    for (int step = 0; step < 12; step++)
        for (int i = 0; i < 5; i++) {
            const struct mase_trial t = trial(i, MASE_TRIAL_COMPLETE, step, 1, 1, five + i);
            mase_pruner_tell(p, &t);
        }
    static const char due[] = "....x..x..x.";
    for (int step = 2; step < 12; step++)
        assert_int_equal(prunes(p, 9, step - 2, 1, 3, bad), due[step] == 'x');
    mase_pruner_free(p);
    p = make("median", "{\"n_min_trials\": 6}", &least);
    tell_all(p, 0, 5, five);
    assert_false(prunes(p, 9, 0, 1, 1, bad));
    mase_pruner_free(p);
}

/* Factor 2, rungs at 1, 2, 4: of those that came to a rung the better half goes on. */
static void halving_lets_the_best_of_a_rung_go_on(void **state)
{
    (void)state;
    struct mase_pruner *p = make("successive_halving", "{\"reduction_factor\": 2}", &least);
    const double ten = 10, two[] = { 1, 3.5 };
    assert_false(prunes(p, 0, 1, 1, 1, &ten));             /* the first has no rival */
    tell_all(p, 1, 4, five);                               /* 1, 2, 3, 4 came to the first rung */
    assert_false(prunes(p, 9, 1, 1, 1, &(double){ 1.5 })); /* second of five: 5 / 2 = 2 go on */
    assert_true(prunes(p, 9, 1, 1, 1, &(double){ 2.5 }));
    assert_true(prunes(p, 9, 1, 1, 1, &(double){ NAN }));
    assert_false(prunes(p, 9, 0, 1, 1, &ten)); /* before the first rung */
    assert_false(prunes(p, 9, 1, 1, 2, two));  /* the first at step 2 */
    const struct mase_trial rival = trial(4, MASE_TRIAL_PRUNED, 1, 1, 2, (double[]){ 1, 3 });
    mase_pruner_tell(p, &rival);
    assert_true(prunes(p, 9, 1, 1, 2, two));                  /* one of two goes on */
    assert_false(prunes(p, 9, 2, 1, 2, (double[]){ 0, 99 })); /* at step 3 there is no rung */
    mase_pruner_free(p);
    p = make("successive_halving", "{\"bootstrap_count\": 2, \"min_early_stopping_rate\": 1}",
             &least);
    assert_false(prunes(p, 0, 1, 1, 1, &ten)); /* the first rung is 4 */
    assert_true(prunes(p, 0, 4, 1, 1, &ten));  /* alone there: two must have come before */
    mase_pruner_free(p);
}

/* Of 1 .. 9 by 3 there are three brackets, of 9, 5 and 3 parts. */
static void hyperband_deals_trials_out_by_their_number(void **state)
{
    (void)state;
    struct mase_pruner *p = make("hyperband", "{\"max_resource\": 9}", &least);
    int at_rung[3] = { 0 };
    for (int i = 0; i < 1700; i++) {
        const struct mase_trial t =
            trial(i, MASE_TRIAL_PRUNED, 1, 1, 9, (double[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0 });
        mase_pruner_tell(p, &t);
    }
    /* A bad trial falls at the first rung of its bracket: 1, 3 or 9. */
    for (int n = 0; n < 1700; n++) {
        int step = 1;
        while (!prunes(p, 1700 + n, step, 1, 1, &(double){ 1 }))
            step++;
        at_rung[step == 1 ? 0 : step == 3 ? 1 : 2]++;
        assert_true(step == 1 || step == 3 || step == 9);
    }
    assert_in_range(at_rung[0], 890, 910);
    assert_in_range(at_rung[1], 490, 510);
    assert_in_range(at_rung[2], 290, 310);
    mase_pruner_free(p);
}

static void limits_and_patience(void **state)
{
    (void)state;
    const double values[] = { 3, 2, 2.5, 2.4, 2.3 };
    struct mase_pruner *p = make("threshold", "{\"lower\": 1, \"upper\": 4}", &least);
    assert_false(prunes(p, 0, 0, 1, 1, &(double){ 1 }));
    assert_true(prunes(p, 0, 0, 1, 1, &(double){ 0.9 }));
    assert_true(prunes(p, 0, 0, 1, 1, &(double){ 4.1 }));
    assert_true(prunes(p, 0, 0, 1, 1, &(double){ NAN }));
    mase_pruner_free(p);
    p = make("patient", "{\"patience\": 2}", &least);
    assert_false(prunes(p, 0, 0, 1, 3, values));
    assert_false(prunes(p, 0, 0, 1, 4, values)); /* before: 3; then 2, 2.5, 2.4 */
    assert_true(prunes(p, 0, 0, 1, 5, values));
    mase_pruner_free(p);
    p = make("patient", "{\"patience\": 2, \"min_delta\": 0.5}", &least);
    assert_false(prunes(p, 0, 0, 1, 5, values));
    mase_pruner_free(p);
    p = make("nop", "{}", &least);
    assert_false(prunes(p, 0, 0, 1, 5, values));
    mase_pruner_free(p);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const struct mase_study_setup two = { .direction = down, .objectives = 2 };
    const struct {
        const char *name, *options, *word;
        const struct mase_study_setup *setup;
    } bad[] = {
        { "median", "{}", "2 objectives", &two },
        { "hyperband", "{}", "max_resource", &least },
        { "hyperband", "{\"min_resource\": 5, \"max_resource\": 4}", "below min_resource 5",
          &least },
        { "threshold", "{}", "neither", &least },
        { "threshold", "{\"lower\": 2, \"upper\": 1}", "lower 2", &least },
        { "patient", "{}", "patience", &least },
        { "successive_halving", "{\"reduction_factor\": 1}", "reduction_factor", &least },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mase_err err = { 0 };
        struct mase_value *v;
        struct mase_pruner *p;
        const char *o = bad[i].options;
        assert_int_equal(mase_json_parse(&v, &arena, o, strlen(o), "options", &err), 0);
        assert_int_equal(mase_pruner_new(&p, mase_pruner_find(bad[i].name), bad[i].setup, v, &err),
                         MASE_EVALUE);
        if (!strstr(err.msg, bad[i].word))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].name, err.msg, bad[i].word);
    }
    assert_null(mase_pruner_find("medium"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_is_of_complete_trials_at_the_same_step),
        cmocka_unit_test(percentiles_follow_the_direction),
        cmocka_unit_test(pruning_waits_for_steps_and_trials),
        cmocka_unit_test(halving_lets_the_best_of_a_rung_go_on),
        cmocka_unit_test(hyperband_deals_trials_out_by_their_number),
        cmocka_unit_test(limits_and_patience),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return run_cases(argc, argv, tests, NULL, release);
}
