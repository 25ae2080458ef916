/*
 * t_schedule.c - learning rates as PyTorch's schedulers give them, the order of rows, and the
 * number of threads.
 */
#include "check.h"
#include "run_cases.h"

#include <omp.h>

#include "graph_text.h"
#include "train/trainer.h"

struct wanted {
    const char *schedule, *optimizer;
    double lr;
    int64_t max_epochs;
    double rate[10]; /* by epoch; 0 ends */
};

/* From CosineAnnealingLR (eta_min 1e-6, sgd: 0), StepLR(3, 0.5), PolynomialLR(10, 2) and
 * CosineAnnealingWarmRestarts(3, 2, 1e-6). */
static const struct wanted wanted[] = {
    { "cosine",
      "adam",
      0.01,
      10,
      { 0.01, 0.00975530705321762, 0.00904518046337755, 0.00793913236883622, 0.00654543046337755,
        0.005000500000000001, 0.0034555695366224513, 0.0020618676311637816, 0.000955819536622451,
        0.00024569294678237997 } },
    { "cosine",
      "sgd",
      0.02,
      10,
      { 0.02, 0.019510565162951538, 0.018090169943749474, 0.015877852522924733,
        0.013090169943749475, 0.01, 0.006909830056250526, 0.0041221474770752695,
        0.0019098300562505265, 0.0004894348370484647 } },
    { "cosine",
      "adamw",
      1e-7,
      4,
      { 1e-07, 2.3180194846605364e-07, 5.5e-07, 8.681980515339463e-07 } },
    { "step", "adam", 0.1, 10, { 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025 } },
    { "constant", "adam", 0.3, 10, { 0.3, 0.3, 0.3 } },
    { "polynomial",
      "adam",
      0.01,
      10,
      { 0.01, 0.0081, 0.0064, 0.0049, 0.0036, 0.0025, 0.0016, 0.0009, 0.0004, 0.0001 } },
    { "restarts",
      "adam",
      0.01,
      10,
      { 0.01, 0.00750025, 0.00250075, 0.01, 0.009330194006220302, 0.00750025, 0.0050005, 0.00250075,
        0.00067080599377969874, 0.01 } },
};

static void schedules_equal_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct wanted *w = &wanted[i];
        struct mase_train_opts o = default_opts();
        o.schedule = w->schedule;
        o.optimizer = w->optimizer;
        o.learning_rate = w->lr;
        o.max_epochs = w->max_epochs;
        o.lr_step_size = 3;
        o.lr_gamma = 0.5;
        o.lr_power = 2;
        o.lr_mult = 2;
        for (int e = 0; e < 10 && w->rate[e] != 0; e++)
            check_near(rate_at(&o, e, 7 * e, 7), w->rate[e], 1e-15, w->schedule, e);
    }
}

static void a_given_end_is_reached(void **state)
{
    (void)state;
    struct mase_train_opts o = default_opts();
    o.learning_rate = 1;
    o.lr_min = 0.5;
    o.max_epochs = 8;
    check_near(rate_at(&o, 8, 800, 100), 0.5, 1e-15, "lr_min", 8);
    check_near(rate_at(&o, 4, 400, 100), 0.75, 1e-15, "lr_min", 4);
}

/* CosineAnnealingLR(T_max = 10), stepped with the optimiser, is the table's first row. */
static void a_cosine_may_go_by_steps(void **state)
{
    (void)state;
    struct mase_train_opts o = default_opts();
    o.lr_interval = "step";
    o.learning_rate = wanted[0].lr;
    o.max_epochs = 2;
    for (int s = 0; s < 10; s++)
        check_near(rate_at(&o, s / 5, s, 5), wanted[0].rate[s], 1e-15, "steps", s);
    o.schedule = "step"; /* epochs between two cuts */
    o.lr_step_size = 1;
    o.lr_gamma = 0.5;
    check_near(rate_at(&o, 1, 7, 5), 0.005, 1e-15, "step", 7);
}

/* OneCycleLR(0.01, 10 steps). */
static void one_cycle_goes_by_steps(void **state)
{
    (void)state;
    static const double rate[] = { 0.0004,
                                   0.0052,
                                   0.01,
                                   0.0095048463201347373,
                                   0.0081174565394976309,
                                   0.0061126202193628925,
                                   0.0038874197806371079,
                                   0.0018825834605023699,
                                   0.00049519367986526283,
                                   4e-8 };
    struct mase_train_opts o = default_opts();
    o.schedule = "onecycle";
    o.learning_rate = 0.01;
    o.max_epochs = 2;
    for (int s = 0; s < 10; s++)
        check_near(rate_at(&o, s / 5, s, 5), rate[s], 1e-15, "onecycle", s);
    static const double momentum[] = { 0.95,
                                       0.8999999999999999,
                                       0.85,
                                       0.854951556604879,
                                       0.8688255099070633,
                                       0.8888739533021842,
                                       0.9111260466978157,
                                       0.9311744900929366,
                                       0.945048443395121,
                                       0.95 };
    for (int s = 0; s < 10; s++) {
        const struct mase_train_at at = { .step = s, .steps = 5 };
        o.constant_momentum = false;
        check_near(mase_train_momentum(&o, &at, 0.9), momentum[s], 1e-15, "momentum", s);
        o.constant_momentum = true; /* cycle_momentum=False */
        check_near(mase_train_momentum(&o, &at, 0.9), 0.9, 0, "momentum", s);
    }
}

/* ReduceLROnPlateau(factor=0.5, patience=1). */
static void a_plateau_cuts_the_rate(void **state)
{
    (void)state;
    static const double loss[] = { 1, 0.9, 0.91, 0.92, 0.8, 0.85, 0.79999, 0.9, 0.9, 0.1 };
    static const double rate[] = { 0.01,  0.01,  0.01,   0.01,   0.005,
                                   0.005, 0.005, 0.0025, 0.0025, 0.00125 };
    struct mase_train_opts o = default_opts();
    struct mase_train_state s = { .plateau_loss = INFINITY };
    o.schedule = "plateau";
    o.learning_rate = 0.01;
    o.lr_gamma = 0.5;
    o.lr_patience = 1;
    for (int e = 0; e < 10; e++) {
        const struct mase_train_at at = { e, 7 * e, 7, s.cuts };
        check_near(mase_train_lr(&o, &at), rate[e], 1e-15, "plateau", e);
        s.val_loss = loss[e];
        mase_train_check_plateau(&s, &o);
    }
    o.lr_min = 0.004;
    check_near(mase_train_lr(&o, &(struct mase_train_at){ 9, 9, 1, 3 }), 0.004, 1e-15, "lowest", 9);
}

/* As LinearLR with a start factor of 1/5 over 4 steps. */
static void warm_up_rises_step_by_step(void **state)
{
    (void)state;
    static const double rate[] = { 0.06, 0.12, 0.18, 0.24, 0.3, 0.3, 0.3, 0.3 };
    struct mase_train_opts o = default_opts();
    o.schedule = "constant";
    o.learning_rate = 0.3;
    o.warmup_steps = 5;
    for (int s = 0; s < 8; s++)
        check_near(rate_at(&o, 0, s, 100), rate[s], 1e-15, "steps", s);
    o.warmup_steps = 2;
    o.warmup_epochs = 1; /* the longer one counts */
    for (int s = 0; s < 8; s++)
        check_near(rate_at(&o, s / 5, s, 5), rate[s], 1e-15, "epochs", s);
    o.schedule = "cosine"; /* both at once: a product */
    o.max_epochs = 4;
    check_near(rate_at(&o, 0, 0, 5), 0.06, 1e-15, "cosine", 0);
    check_near(rate_at(&o, 2, 10, 5), 1e-6 + (0.3 - 1e-6) / 2, 1e-15, "cosine", 10);
}

enum { ROWS = 5000 };

static void orders_are_permutations(void **state)
{
    (void)state;
    static uint32_t row[ROWS], a[ROWS], b[ROWS], seen[2 * ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        row[i] = 2 * i;
    mase_train_shuffle(a, row, ROWS, 1, 0);
    for (int i = 0; i < ROWS; i++)
        seen[a[i]]++;
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(seen[row[i]], 1);
    mase_train_shuffle(b, row, ROWS, 1, 0);
    assert_memory_equal(a, b, sizeof a);
    mase_train_shuffle(b, row, ROWS, 1, 1);
    assert_memory_not_equal(a, b, sizeof a);
    mase_train_shuffle(b, row, ROWS, 2, 0);
    assert_memory_not_equal(a, b, sizeof a);
}

/* Every row comes to every place about equally often: 1000 orders of 8 rows, 125 each expected,
 * standard deviation 10.5. */
static void orders_are_fair(void **state)
{
    (void)state;
    const uint32_t row[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int count[8][8] = { 0 };
    uint32_t order[8];
    for (uint64_t e = 0; e < 1000; e++) {
        mase_train_shuffle(order, row, 8, 42, e);
        for (int i = 0; i < 8; i++)
            count[i][order[i]]++;
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            assert_in_range(count[i][j], 125 - 52, 125 + 52);
}

static void threads_follow_the_work(void **state)
{
    (void)state;
    const struct mase_shape jet = { 1, { 16 } };
    struct mase_graph *tiny = build("jsc-tiny", 0), *large = build("jsc-test", 0);
    assert_int_equal(mase_train_threads(tiny, &jet, 256, 2), 1);
    assert_int_equal(mase_train_threads(large, &jet, 512, 2), 1);
    assert_int_equal(mase_train_threads(tiny, &jet, 1024, 2), 2);
    assert_int_equal(mase_train_threads(tiny, &jet, 1024, 4), 2); /* two tiles */
    for (int allowed = 1; allowed < 6; allowed++) {
        omp_set_num_threads(allowed); /* as OMP_NUM_THREADS does */
        assert_int_equal(mase_train_threads(large, &jet, 1 << 20, 0), allowed);
        assert_int_equal(mase_train_threads(large, &jet, 1 << 20, 7), 7); /* asked for */
    }
    assert_int_equal(mase_predict_threads(large, &jet, 100, 2), 1);
    assert_int_equal(mase_predict_threads(large, &jet, 100000, 2), 2);
    mase_graph_free(tiny);
    mase_graph_free(large);
}

/* A dense layer has 4096 products for each of 100 steps, an LSTM 32768. */
static void threads_count_every_product(void **state)
{
    static const struct {
        const char *layer;
        int64_t rows; /* the fewest that keep two threads busy */
    } cases[] = { { "net = Linear(64, 64)", 147 }, { "net = LSTM(64, 64, batch_first=True)", 19 } };
    const struct mase_shape sequence = { 2, { 100, 64 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_graph *g = mase_graph_new("net");
        mase_build_output(g, text_layer(g, mase_build_input(g, "x", NULL), "%s", cases[i].layer));
        assert_int_equal(mase_predict_threads(g, &sequence, cases[i].rows - 1, 2), 1);
        assert_int_equal(mase_predict_threads(g, &sequence, cases[i].rows, 2), 2);
        mase_graph_free(g);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_equal_pytorch),  cmocka_unit_test(a_given_end_is_reached),
        cmocka_unit_test(a_cosine_may_go_by_steps), cmocka_unit_test(one_cycle_goes_by_steps),
        cmocka_unit_test(a_plateau_cuts_the_rate),  cmocka_unit_test(warm_up_rises_step_by_step),
        cmocka_unit_test(orders_are_permutations),  cmocka_unit_test(orders_are_fair),
        cmocka_unit_test(threads_follow_the_work),  cmocka_unit_test(threads_count_every_product),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
