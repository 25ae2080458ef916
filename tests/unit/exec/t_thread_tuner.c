/*
 * t_thread_tuner.c - the number of threads follows what steps take: on a quiet machine, on a busy
 * one, and when it becomes the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/plan/thread_tuner.h"
#include "run_cases.h"

enum { SAMPLES = 1000 };

/* Nanoseconds of a step. */
static const double alone = 450e3, together = 240e3, in_turns = 25e6;

/* Steps on a machine, busy or not; returns how many of them used one thread. */
static int run(struct mase_thread_tuner *p, int steps, bool busy)
{
    int one = 0;
    for (int i = 0; i < steps; i++) {
        const bool single = mase_thread_tuner_single(p);
        one += single;
        mase_thread_tuner_record(p, single ? alone : busy ? in_turns : together, SAMPLES);
    }
    return one;
}

static void all_threads_where_that_is_faster(void **state)
{
    struct mase_thread_tuner p = mase_thread_tuner();
    (void)state;
    assert_false(mase_thread_tuner_single(&p));
    assert_in_range(run(&p, 100000, false), 4, 60); /* only to see that it is so */
    assert_false(mase_thread_tuner_single(&p));
}

static void one_where_others_want_the_cores(void **state)
{
    struct mase_thread_tuner p = mase_thread_tuner();
    (void)state;
    run(&p, 20, true);
    assert_true(mase_thread_tuner_single(&p));
    assert_in_range(run(&p, 100000, true), 100000 - 60, 99999);
}

static void a_step_held_up_decides_nothing(void **state)
{
    struct mase_thread_tuner p = mase_thread_tuner();
    (void)state;
    run(&p, 8, false);
    for (int i = 0; i < 10; i++) /* the trial */
        mase_thread_tuner_record(&p,
                                 mase_thread_tuner_single(&p) ? alone
                                 : i < 3                      ? in_turns
                                                              : together,
                                 SAMPLES);
    assert_false(mase_thread_tuner_single(&p));
}

static void the_answer_may_change(void **state)
{
    struct mase_thread_tuner p = mase_thread_tuner();
    (void)state;
    run(&p, 20000, false);
    run(&p, 40, true); /* noticed long before the next trial is due */
    assert_true(mase_thread_tuner_single(&p));
    run(&p, 300, false);
    assert_false(mase_thread_tuner_single(&p));
}

/* The last batch of an epoch is short, and its time no sign of anything. */
static void short_batches_count_by_their_samples(void **state)
{
    struct mase_thread_tuner p = mase_thread_tuner();
    (void)state;
    run(&p, 100, false);
    const int64_t left = p.left;
    for (int i = 0; i < 50; i++)
        mase_thread_tuner_record(&p, together / 10, SAMPLES / 10);
    assert_int_equal(p.slow, 0);
    assert_int_equal(p.left, left - 50);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_where_that_is_faster),
        cmocka_unit_test(one_where_others_want_the_cores),
        cmocka_unit_test(a_step_held_up_decides_nothing),
        cmocka_unit_test(the_answer_may_change),
        cmocka_unit_test(short_batches_count_by_their_samples),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
