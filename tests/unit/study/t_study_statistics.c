/*
 * t_study_statistics.c - what is said of a study's trials: states, the best so far, fronts of two
 * objectives, and the importance of parameters beside numbers of Optuna 5.0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "run_cases.h"
#include "study/study_parts.h"
#include "study/study_statistics.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static struct mase_study_objective three[] = { { "accuracy", MASE_MAXIMIZE },
                                               { "bits", MASE_MINIMIZE },
                                               { "size", MASE_MINIMIZE } };
static const char *const constraint[] = { "accuracy at least 0.5" };

/* A study of these objectives, without parameters. */
static struct mase_study new_study(int objectives)
{
    return (struct mase_study){
        .objective = three, .objectives = objectives, .constraint = constraint, .constraints = 1
    };
}

static void add(struct mase_study *s, enum mase_trial_state state, const double *value,
                double violation)
{
    struct mase_trial *t = mase_study_add(s);
    t->state = state;
    memcpy(t->value, value, (size_t)s->objectives * sizeof *value);
    t->violation[0] = violation;
}

static void trials_that_do_not_count_are_never_the_best(void **state)
{
    (void)state;
    struct mase_study s = new_study(1);
    static const struct {
        enum mase_trial_state state;
        double value, violation, best;
    } row[] = {
        { MASE_TRIAL_FAIL, NAN, NAN, NAN },      { MASE_TRIAL_COMPLETE, 0.99, 0.1, NAN },
        { MASE_TRIAL_COMPLETE, 0.6, 0, 0.6 },    { MASE_TRIAL_PRUNED, 0.9, 0, 0.6 },
        { MASE_TRIAL_COMPLETE, 0.5, -1, 0.6 },   { MASE_TRIAL_RUNNING, NAN, NAN, 0.6 },
        { MASE_TRIAL_COMPLETE, 0.7, -0.2, 0.7 }, { MASE_TRIAL_COMPLETE, NAN, 0, 0.7 },
        { MASE_TRIAL_COMPLETE, 0.8, NAN, 0.7 },
    };
    double best[COUNT(row)];
    int64_t count[MASE_TRIAL_STATES];
    for (int i = 0; i < COUNT(row); i++)
        add(&s, row[i].state, &row[i].value, row[i].violation);
    mase_study_best_so_far(best, &s, 0);
    for (int i = 0; i < COUNT(row); i++)
        assert_true(best[i] == row[i].best || (isnan(best[i]) && isnan(row[i].best)));
    mase_study_count_states(count, &s);
    assert_int_equal(count[MASE_TRIAL_COMPLETE], 6);
    assert_int_equal(count[MASE_TRIAL_FAIL], 1);
    assert_int_equal(count[MASE_TRIAL_PRUNED], 1);
    assert_int_equal(count[MASE_TRIAL_RUNNING], 1);
    assert_int_equal(count[MASE_TRIAL_WAITING], 0);
    mase_study_release(&s);
}

static void a_pair_has_a_front_of_its_own(void **state)
{
    (void)state;
    struct mase_study s = new_study(3);
    static const double value[][3] = {
        { 0.70, 4, 9 }, { 0.60, 2, 9 }, { 0.65, 3, 1 }, { 0.65, 5, 0.5 }, { 0.90, 8, 9 },
    };
    int64_t index[COUNT(value) + 1];
    for (int i = 0; i < COUNT(value); i++)
        add(&s, MASE_TRIAL_COMPLETE, value[i], 0);
    add(&s, MASE_TRIAL_COMPLETE, (const double[]){ 1, 1, 0 }, 1); /* violates */
    assert_int_equal(mase_study_pair_front(index, &s, 0, 1), 4);
    static const int64_t by_accuracy[] = { 1, 2, 0, 4 };
    assert_memory_equal(index, by_accuracy, sizeof by_accuracy);
    assert_int_equal(mase_study_pair_front(index, &s, 2, 0), 2);
    static const int64_t by_size[] = { 3, 4 };
    assert_memory_equal(index, by_size, sizeof by_size);
    mase_study_release(&s);
}

static void a_study_of_no_trials_has_no_front(void **state)
{
    (void)state;
    struct mase_study s = new_study(2);
    int64_t index[1];
    assert_int_equal(mase_study_pair_front(index, &s, 0, 1), 0);
    mase_study_release(&s);
}

/* ---- importance ---- */

/* A number, a number by its logarithm, an integer, a choice, and what cannot vary. */
static struct mase_dimension mixed[] = {
    { "plain", MASE_DIMENSION_FLOAT, .low = -1, .high = 2 },
    { "log", MASE_DIMENSION_FLOAT, .low = 1e-4, .high = 1, .log = true },
    { "int", MASE_DIMENSION_INT, .low = 1, .high = 8, .step = 1 },
    { "choice", MASE_DIMENSION_CHOICE, .low = 0, .high = 2 },
    { "single", MASE_DIMENSION_INT, .low = 3, .high = 3, .step = 1 },
};

static struct mase_study importance_study(int trials)
{
    struct mase_study s = { .objective = three + 1, .objectives = 1, .space = { 5, mixed } };
    for (int i = 0; i < trials; i++) {
        struct mase_trial *t = mase_study_add(&s);
        t->x[0] = -1 + 3 * fmod(i * 0.618, 1);
        t->x[1] = i % 5 ? pow(10, -4 * fmod(i * 0.414, 1)) : NAN;
        t->x[2] = 1 + i * 5 % 8;
        t->x[3] = i * 7 % 3;
        t->x[4] = 3;
        t->state = MASE_TRIAL_COMPLETE;
        t->value[0] = t->x[0] * t->x[0] + (i % 5 ? 0.1 * log10(t->x[1]) : 0) + (t->x[3] == 1);
    }
    return s;
}

static void importance_is_that_of_optuna(void **state)
{
    (void)state;
    static const double wanted[5] = { 0.773261904895, 0.130826859006, 0.0544870460556,
                                      0.0414241900437, 0 };
    struct mase_study s = importance_study(97);
    double share[5];
    mase_study_importance(share, &s, 0);
    for (int i = 0; i < 5; i++)
        assert_float_equal(share[i], wanted[i], 1e-9);
    mase_study_release(&s);
}

static void without_trials_all_parameters_are_equal(void **state)
{
    (void)state;
    double share[5];
    for (int trials = 0; trials < 2; trials++) {
        struct mase_study s = importance_study(trials);
        mase_study_importance(share, &s, 0);
        for (int i = 0; i < 5; i++)
            assert_float_equal(share[i], 0.2, 1e-15);
        mase_study_release(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_that_do_not_count_are_never_the_best),
        cmocka_unit_test(a_pair_has_a_front_of_its_own),
        cmocka_unit_test(a_study_of_no_trials_has_no_front),
        cmocka_unit_test(importance_is_that_of_optuna),
        cmocka_unit_test(without_trials_all_parameters_are_equal),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
