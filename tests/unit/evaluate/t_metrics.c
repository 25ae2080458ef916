/*
 * t_metrics.c - what answers come to, against scikit-learn and by hand.
 */
#include "run_cases.h"
#include "unit/train/check.h"

/* 24 answers with many equal scores; the numbers below are scikit-learn's for them. */
static const float outputs[24][3] = {
    { 1, -.5f, 2.5f }, { 0, 0, 1.5f },  { -1, -.5f, .5f },    { -.5f, -.5f, 0 },  { -.5f, .5f, -1 },
    { 0, 1, 2 },       { -1, .5f, -1 }, { -1, -1, 0 },        { 1, .5f, .5f },    { -.5f, .5f, 0 },
    { 1, 0, 0 },       { 0, .5f, 0 },   { 0, 2, 0 },          { 1.5f, -.5f, 0 },  { 0, .5f, 1 },
    { 1.5f, 1, 1 },    { 0, 0, 1.5f },  { .5f, -1.5f, -.5f }, { -.5f, 1.5f, 0 },  { 2.5f, 1, 0 },
    { -.5f, 1.5f, 0 }, { -1, 1, 0 },    { 1.5f, 0, -3 },      { 1.5f, -2, 1.5f },
};
static const int32_t labels[24] = { 0, 0, 2, 1, 2, 0, 0, 2, 2, 1, 1, 1,
                                    1, 2, 2, 2, 0, 0, 1, 1, 1, 1, 0, 0 };

static void metrics_equal_scikit_learn(void **state)
{
    (void)state;
    static const int64_t confusion[9] = { 3, 1, 4, 2, 6, 1, 3, 1, 3 };
    static const double precision[3] = { 0.375, 0.75, 0.375 };
    static const double recall[3] = { 0.375, 0.6666666666666666, 0.42857142857142855 };
    static const double auc[3] = { 0.49609375, 0.811111111111111, 0.5546218487394958 };
    struct mase_arena a = { 0 };
    struct mase_evaluation e = { 0 };
    mase_metrics(&e, &a, outputs[0], labels, 24, 3);
    assert_int_equal(e.samples, 24);
    assert_memory_equal(e.confusion, confusion, sizeof confusion);
    check_near(e.accuracy, 0.5, 0, "accuracy", 0);
    check_near(e.accuracy_error, sqrt(0.25 / 24), 1e-15, "standard error", 0);
    check_near(e.macro_accuracy, 0.49007936507936506, 1e-15, "macro accuracy", 0);
    for (int c = 0; c < 3; c++) {
        check_near(e.precision[c], precision[c], 1e-15, "precision", c);
        check_near(e.recall[c], recall[c], 1e-15, "recall", c);
        check_near(e.auc[c], auc[c], 1e-15, "auc", c);
    }
    mase_arena_release(&a);
}

static void areas_by_hand(void **state)
{
    (void)state;
    const float score[] = { 0.1f, 0.4f, 0.35f, 0.8f };
    const int32_t label[] = { 0, 0, 1, 1 };
    check_near(mase_auc(score, 1, label, 4, 1), 0.75, 0, "one pair of four wrong", 0);
    check_near(mase_auc(score, 1, label, 4, 0), 0.25, 0, "the other way round", 0);
    const float same[] = { 1, 1, 1, 1 };
    check_near(mase_auc(same, 1, label, 4, 1), 0.5, 0, "all equal", 0);
    const int32_t one_kind[] = { 1, 1, 1, 1 };
    assert_true(isnan(mase_auc(score, 1, one_kind, 4, 1)));
    assert_true(isnan(mase_auc(score, 1, one_kind, 4, 0)));
    assert_true(isnan(mase_auc(NULL, 1, NULL, 0, 0)));
    const float broken[] = { 0.1f, NAN, 0.35f, 0.8f };
    assert_true(isnan(mase_auc(broken, 1, label, 4, 1)));
    const float strided[] = { 0.1f, 9, 0.4f, 9, 0.35f, 9, 0.8f, 9 };
    check_near(mase_auc(strided, 2, label, 4, 1), 0.75, 0, "every second score", 0);
}

/* A class without samples has no recall, one that is never answered no precision. */
static void absent_classes_do_not_count(void **state)
{
    (void)state;
    const float y[4][3] = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    const int32_t label[4] = { 0, 0, 1, 1 };
    struct mase_arena a = { 0 };
    struct mase_evaluation e = { 0 };
    mase_metrics(&e, &a, y[0], label, 4, 3);
    check_near(e.macro_accuracy, 0.75, 0, "macro accuracy", 0);
    check_near(e.precision[0], 2.0 / 3, 1e-15, "precision", 0);
    assert_true(isnan(e.precision[2]) && isnan(e.recall[2]) && isnan(e.auc[2]));
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_equal_scikit_learn),
        cmocka_unit_test(areas_by_hand),
        cmocka_unit_test(absent_classes_do_not_count),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
