/*
 * t_jsc_sim.c - the built-in jets: they agree with the reference sample of their recipe, a row does
 * not depend on its neighbours, and the bits never change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/dataset.h>
#include <mase/value.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"
#include "run_cases.h"

#define CHECK MASE_SOURCE_DIR "/tests/data/data/jsc_sim_check.json"

enum { F = MASE_JSC_FEATURES, DEFAULT_ROWS = 800000, ROWS = 2000000 };

struct jets {
    float *x;
    int32_t *label;
};

static void make_rows(float *x, int32_t *label, uint64_t seed, int64_t first, int64_t n)
{
    struct mase_jets *m = mase_jets_new();
    mase_jets_rows(x, label, m, seed, first, n);
    mase_xfree(m);
}

static int make_jets(void **state)
{
    struct jets *j = malloc(sizeof *j);
    j->x = malloc(sizeof(float) * F * ROWS);
    j->label = malloc(sizeof(int32_t) * ROWS);
    make_rows(j->x, j->label, 0, 0, ROWS);
    *state = j;
    return 0;
}

static int free_jets(void **state)
{
    struct jets *j = *state;
    free(j->x);
    free(j->label);
    free(j);
    return 0;
}

/* Of one feature of one class. */
static void moments(const struct jets *j, int c, int f, double *mean, double *std, int *count)
{
    double sum = 0, squares = 0;
    *count = 0;
    for (int i = 0; i < ROWS; i++)
        if (j->label[i] == c) {
            sum += (double)j->x[(size_t)i * F + f];
            squares += (double)j->x[(size_t)i * F + f] * (double)j->x[(size_t)i * F + f];
            ++*count;
        }
    *mean = sum / *count;
    *std = sqrt(squares / *count - *mean * *mean);
}

static double number(const struct mase_value *list, int i)
{
    const struct mase_value *v = list->items[i];
    return v->kind == MASE_INT ? (double)v->i : v->f;
}

static void agrees_with_recipe(void **state)
{
    const struct jets *j = *state;
    struct mase_arena a = { 0 };
    struct mase_value *root = NULL;
    struct mase_err err;
    assert_int_equal(mase_json_read(&root, &a, CHECK, &err), MASE_OK);
    for (int c = 0; c < MASE_JSC_CLASSES; c++) {
        const struct mase_value *expected = mase_value_get(root, "class")->items[c];
        assert_string_equal(mase_value_get(expected, "name")->s, mase_jsc_classes[c]);
        for (int f = 0; f < F; f++) {
            double mean, std;
            int count;
            moments(j, c, f, &mean, &std, &count);
            const double mean_0 = number(mase_value_get(expected, "mean"), f);
            const double std_0 = number(mase_value_get(expected, "std"), f);
            assert_string_equal(mase_value_get(root, "features")->items[f]->s,
                                mase_jsc_features[f]);
            assert_in_range(count, ROWS / 5 - 1200, ROWS / 5 + 1200); /* two sigma */
            if (fabs(mean - mean_0) > 0.01 * std_0 || fabs(std - std_0) > 0.01 * std_0)
                fail_msg("%s of %s: %g +- %g, expected %g +- %g", mase_jsc_features[f],
                         mase_jsc_classes[c], mean, std, mean_0, std_0);
        }
    }
    mase_arena_release(&a);
}

static void identities_hold(void **state)
{
    const struct jets *j = *state;
    for (int i = 0; i < ROWS; i++) {
        const float *x = j->x + (size_t)i * F;
        assert_true(x[0] < 0 && x[6] == x[8] && x[6] == x[4] / x[2] && x[7] == x[5] / x[3]);
        assert_true(x[15] >= 3 && x[15] == rintf(x[15]));
        for (int f = 0; f < F; f++)
            assert_true(isfinite(x[f]));
    }
}

/* Any piece of the table can be made alone. */
static void rows_stand_alone(void **state)
{
    const struct jets *j = *state;
    static const struct {
        int64_t first, n;
    } pieces[] = { { 0, 1 }, { 1, 33 }, { 777, 64 }, { ROWS - 5, 5 } };
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
        float x[64 * F];
        int32_t label[64];
        const int64_t first = pieces[p].first, n = pieces[p].n;
        make_rows(x, label, 0, first, n);
        assert_memory_equal(x, j->x + first * F, (size_t)n * F * sizeof *x);
        assert_memory_equal(label, j->label + first, (size_t)n * sizeof *label);
    }
}

/* The same on every machine: a change here is a change of every result measured on jsc-sim. */
static void bits_are_fixed(void **state)
{
    const struct jets *j = *state;
    char hex[65];
    mase_sha256(hex, j->x, sizeof(float) * F * DEFAULT_ROWS);
    assert_string_equal(hex, "29f49fc36a913aa5900cfb2b9b9776a361c35a8c594f88c9d242496a54d3ffb8");
}

static void seeds_differ(void **state)
{
    const struct jets *j = *state;
    float x[F];
    int32_t label;
    make_rows(x, &label, 1, 0, 1);
    assert_memory_not_equal(x, j->x, sizeof x);
}

/* ---- as a dataset ---- */

static void check_scaled(const struct mase_dataset *d, enum mase_split split, double tolerance)
{
    const struct mase_table_view t = mase_dataset_table(d);
    const struct mase_split_rows s = mase_dataset_split(d, split);
    for (int f = 0; f < F; f++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < s.count; i++) {
            const double x = (double)t.data[s.row[i] * t.stride + f];
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum / (double)s.count) < tolerance);
        assert_true(fabs(squares / (double)s.count - 1) < tolerance);
    }
}

static void as_dataset(void **state)
{
    const struct jets *j = *state;
    struct mase_dataset *d = NULL;
    struct mase_err err;
    assert_int_equal(mase_dataset_open(&d, "jsc_sim", NULL, &err), MASE_OK);
    const struct mase_dataset_info *info = mase_dataset_info(d);
    assert_string_equal(info->data.name, "jsc-sim");
    assert_true(info->simulated && info->notice && info->rows == DEFAULT_ROWS);
    assert_int_equal(strlen(info->checksum), 64);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 576000);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_VALIDATION).count, 64000);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 160000);
    assert_memory_equal(mase_dataset_labels(d), j->label, sizeof(int32_t) * DEFAULT_ROWS);
    check_scaled(d, MASE_SPLIT_TRAIN, 0.02);
    check_scaled(d, MASE_SPLIT_TEST, 0.1); /* the ratios have long tails */
    const struct mase_table_view t = mase_dataset_table(d);
    for (int f = 0; f < F; f++) /* the scaling says how to come back */
        assert_true(fabs((double)t.data[f] * info->scaling.std[f] + info->scaling.mean[f] -
                         (double)j->x[f]) <= 1e-6 * fabs((double)j->x[f]) + 1e-6);
    mase_dataset_close(d);
}

static void options(void **state)
{
    const struct jets *j = *state;
    struct mase_dataset *d = NULL, *other = NULL;
    struct mase_err err;
    const struct mase_dataset_opts raw = { .scale = MASE_SCALE_NONE,
                                           .sim_rows = 1001,
                                           .original_splits = true };
    assert_int_equal(mase_dataset_open(&d, "jsc-sim", &raw, &err), MASE_OK);
    assert_memory_equal(mase_dataset_table(d).data, j->x, 1001 * F * sizeof(float));
    assert_int_equal(mase_dataset_info(d)->scaling.n, 0);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 201);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 800);
    assert_ptr_equal(mase_dataset_split(d, MASE_SPLIT_VALIDATION).row,
                     mase_dataset_split(d, MASE_SPLIT_TRAIN).row);
    const struct mase_dataset_opts seeded = { .scale = MASE_SCALE_NONE,
                                              .sim_rows = 1001,
                                              .sim_seed = 7 };
    assert_int_equal(mase_dataset_open(&other, "jsc-sim", &seeded, &err), MASE_OK);
    assert_string_not_equal(mase_dataset_info(d)->checksum, mase_dataset_info(other)->checksum);
    mase_dataset_close(d);
    mase_dataset_close(other);
    assert_int_equal(
        mase_dataset_open(&d, "jsc-sim", &(struct mase_dataset_opts){ .sim_rows = 9 }, &err),
        MASE_EVALUE);
    assert_string_equal(err.msg, "jsc-sim can have 10 to 100000000 rows, not 9");
    assert_int_equal(mase_dataset_open(&d, "jsc-sim:x.h5", NULL, &err), MASE_EVALUE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_recipe),
        cmocka_unit_test(identities_hold),
        cmocka_unit_test(rows_stand_alone),
        cmocka_unit_test(bits_are_fixed),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(as_dataset),
        cmocka_unit_test(options),
    };
    return run_cases(argc, argv, tests, make_jets, free_jets);
}
