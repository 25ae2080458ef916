/*
 * t_front.c - dominance, ranks, fronts and hypervolumes, beside their definitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include <mase/rng.h>

#include "run_cases.h"
#include "study/front.h"

static const enum mase_goal down[] = { MASE_MINIMIZE, MASE_MINIMIZE, MASE_MINIMIZE, MASE_MINIMIZE },
                            mixed[] = { MASE_MAXIMIZE, MASE_MINIMIZE };

static void a_trial_dominates_by_objectives_and_constraints(void **state)
{
    (void)state;
    const struct mase_study_setup s = { .direction = mixed, .objectives = 2, .constraints = 1 };
    const struct {
        double value[2], violation;
        enum mase_trial_state state;
    } t[] = {
        { { 0.7, 4 }, 0, MASE_TRIAL_COMPLETE },    { { 0.8, 4 }, -1, MASE_TRIAL_COMPLETE },
        { { 0.9, 5 }, 0, MASE_TRIAL_COMPLETE },    { { 0.99, 1 }, 0.1, MASE_TRIAL_COMPLETE },
        { { 0.99, 1 }, NAN, MASE_TRIAL_COMPLETE }, { { 0.99, 1 }, 0, MASE_TRIAL_FAIL },
        { { NAN, 3 }, 0, MASE_TRIAL_COMPLETE },
    };
    /* Which of these dominates which: rows over columns. */
    static const char *const wanted[] = { "...xxx.", "x..xxx.", "...xxx.", "....xx.",
                                          ".....x.", ".......", "...xxx." };
    struct mase_trial trial[7];
    for (int i = 0; i < 7; i++)
        trial[i] = (struct mase_trial){ .state = t[i].state,
                                        .value = (double *)t[i].value,
                                        .violation = (double *)&t[i].violation };
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            assert_int_equal(mase_trial_dominates(&s, &trial[i], &trial[j]), wanted[i][j] == 'x');
}

/* The definition: a rank is what no point of the rest dominates. */
static void rank_slowly(int32_t *rank, const double *loss, int n, int m)
{
    for (int i = 0; i < n; i++)
        rank[i] = -1;
    for (int r = 0, left = n; left > 0; r++)
        for (int i = 0; i < n; i++) {
            bool free = rank[i] < 0;
            for (int j = 0; j < n && free; j++)
                free = (rank[j] >= 0 && rank[j] < r) ||
                       !mase_loss_dominates(loss + (size_t)j * m, loss + (size_t)i * m, m);
            if (free) {
                rank[i] = r;
                left--;
            }
        }
}

/* Small integers, so that equal losses and equal points occur. */
static void draw(double *loss, int count, struct mase_rng *r, int values)
{
    for (int i = 0; i < count; i++)
        loss[i] = mase_rng_u32(r) % (unsigned)values;
}

static void ranks_follow_the_definition(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(1, MASE_STREAM_TEST, 0);
    for (int m = 1; m <= 4; m++)
        for (int n = 0; n <= 60; n += 6) {
            double loss[240];
            int32_t order[60], rank[60], wanted[60];
            draw(loss, n * m, &r, 12);
            mase_loss_order(order, loss, n, m);
            mase_front_ranks(rank, loss, order, n, m);
            rank_slowly(wanted, loss, n, m);
            for (int i = 0; i < n; i++)
                assert_int_equal(rank[i], wanted[i]);
        }
}

static void the_front_is_what_no_trial_dominates(void **state)
{
    (void)state;
    const struct mase_study_setup s = { .direction = mixed, .objectives = 2, .constraints = 1 };
    struct mase_rng r = mase_rng(2, MASE_STREAM_TEST, 0);
    struct mase_trial t[80];
    double loss[240];
    int64_t index[80];
    draw(loss, 240, &r, 20);
    for (int i = 0; i < 80; i++)
        t[i] = (struct mase_trial){ .state = i % 9 ? MASE_TRIAL_COMPLETE : MASE_TRIAL_PRUNED,
                                    .value = loss + (size_t)i * 2,
                                    .violation = loss + 160 + i };
    int64_t n = 0;
    const int64_t found = mase_pareto_front(index, &s, t, 80);
    for (int i = 0; i < 80; i++) {
        bool in = i % 9 && t[i].violation[0] <= 0;
        for (int j = 0; j < 80 && in; j++)
            in = !mase_trial_dominates(&s, &t[j], &t[i]);
        if (in)
            assert_true(n < found && index[n++] == i);
    }
    assert_int_equal(n, found);
    assert_true(n > 0);
}

static void hypervolumes_are_known(void **state)
{
    (void)state;
    const struct mase_study_setup up = { .direction = mixed, .objectives = 2 },
                                  three = { .direction = down, .objectives = 3 };
    /* accuracy up, bits down, reference 0.2 and 8: two steps and a point behind them */
    const double steps[] = { 0.5, 4, 0.7, 6, 0.5, 5, NAN, 1, 0.1, 1 }, from[] = { 0.2, 8 };
    assert_true(fabs(mase_hypervolume(steps, 5, &up, from) - (0.3 * 4 + 0.2 * 2)) < 1e-12);
    /* A box of 2 x 2 x 2 and one of 3 x 1 x 1 that share 1 x 1 x 1 ... of the cube up to 3. */
    const double boxes[] = { 1, 1, 1, 0, 2, 2 }, corner[] = { 3, 3, 3 };
    assert_true(mase_hypervolume(boxes, 2, &three, corner) == 8 + 3 - 2);
    assert_true(mase_hypervolume(boxes, 0, &three, corner) == 0);
}

/* Over a grid of integers, the volume is the number of cells that some point dominates. */
static void volumes_count_cells(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(3, MASE_STREAM_TEST, 0);
    const double reference[] = { 5, 5, 5, 5 };
    for (int m = 1; m <= 4; m++)
        for (int n = 1; n <= 13; n += 3) {
            double loss[52], cell[4];
            int covered = 0, cells = 1;
            draw(loss, n * m, &r, 7);
            for (int i = 0; i < m; i++)
                cells *= 5;
            for (int c = 0; c < cells; c++) {
                for (int i = 0, rest = c; i < m; i++, rest /= 5)
                    cell[i] = rest % 5;
                bool in = false;
                for (int i = 0; i < n && !in; i++) {
                    in = true;
                    for (int j = 0; j < m; j++)
                        in &= loss[i * m + j] <= cell[j];
                }
                covered += in;
            }
            assert_true(mase_loss_volume(loss, n, m, reference) == covered);
        }
}

/* Each point that is chosen adds at least as much as any other would, by volumes of the whole. */
static void subsets_are_greedy(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(4, MASE_STREAM_TEST, 0);
    const double reference[] = { 35, 35, 35 };
    for (int m = 2; m <= 3; m++) {
        double loss[90], some[30];
        int32_t chosen[8];
        for (int i = 0; i < 30; i++) { /* points of a front: sums do not differ */
            draw(loss + (size_t)i * m, m - 1, &r, 15);
            loss[i * m + m - 1] = 30 - loss[i * m] - (m == 3 ? loss[i * m + 1] : 0);
        }
        mase_loss_subset(chosen, 8, loss, 30, m, reference);
        for (int k = 0; k < 8; k++) {
            double best = -1, got = 0;
            for (int i = 0; i < 30; i++) {
                for (int j = 0; j < k; j++)
                    memcpy(some + j * m, loss + chosen[j] * m, (size_t)m * sizeof *some);
                memcpy(some + k * m, loss + (size_t)i * m, (size_t)m * sizeof *some);
                const double v = mase_loss_volume(some, k + 1, m, reference);
                best = fmax(best, v);
                got = i == chosen[k] ? v : got;
            }
            assert_true(got == best);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_dominates_by_objectives_and_constraints),
        cmocka_unit_test(ranks_follow_the_definition),
        cmocka_unit_test(the_front_is_what_no_trial_dominates),
        cmocka_unit_test(hypervolumes_are_known),
        cmocka_unit_test(volumes_count_cells),
        cmocka_unit_test(subsets_are_greedy),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
