/*
 * t_prune_masks.c - which weights go: counted exactly, the lowest first, of equal ones the first;
 * what has gone stays away; layers that share, that differ, that have no channels.
 */
#include "fixture.h"
#include "run_cases.h"

#include <math.h>

#include <mase/prune.h>
#include <mase/rng.h>

#include "graph_text.h"

enum { MOST = 4096 };

/* One tensor as a target, of (channels, count / channels). */
struct single {
    struct mase_prune_target t;
    uint8_t kept[MOST];
};

static void set_up(struct single *s, const float *w, int64_t count, int64_t channels)
{
    memset(s->kept, 1, sizeof s->kept);
    s->t = (struct mase_prune_target){ .name = "w",
                                       .count = count,
                                       .channels = channels,
                                       .bias_of = -1,
                                       .w = w,
                                       .score = w,
                                       .kept = s->kept };
}

static int gone(const struct single *s)
{
    int n = 0;
    for (int64_t i = 0; i < s->t.count; i++)
        n += !s->kept[i];
    return n;
}

static void prune(struct single *s, struct mase_pruning p, double progress)
{
    s->t.sparsity = p.sparsity;
    mase_prune_masks(&s->t, 1, &p, progress, 7);
}

static void the_smallest_go(void **state)
{
    static const float w[] = { 0.5f, -0.25f, 3.0f, -0.125f, 0.25f, -7.0f, 0.25f, 0.0f };
    static const struct {
        double sparsity;
        const char *kept;
    } cases[] = {
        { 0.0, "11111111" },   { 0.0625, "11111111" }, /* 0.5: to even */
        { 0.125, "11111110" }, { 0.1875, "11101110" }, /* 1.5: to even, 2 */
        { 0.25, "11101110" },  { 0.375, "10101110" },  /* of equal ones the first */
        { 0.5, "10100110" },   { 0.625, "10100100" },  { 0.875, "00000100" }, { 1.0, "00000000" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct single s;
        char text[9] = { 0 };
        set_up(&s, w, 8, 8);
        prune(&s, (struct mase_pruning){ .method = MASE_PRUNE_L1, .sparsity = cases[i].sparsity },
              1);
        for (int k = 0; k < 8; k++)
            text[k] = s.kept[k] ? '1' : '0';
        assert_string_equal(text, cases[i].kept);
    }
}

/* Movement has a sign; what is no number is kept, so that it is seen. */
static void scores_have_signs(void **state)
{
    static const float score[] = { 0.5f, -2.0f, NAN, -0.0f, -INFINITY, 0.0f, 1e-40f, -1e-40f };
    (void)state;
    struct single s;
    set_up(&s, score, 8, 8);
    for (int k = 1; k <= 8; k++) {
        static const int order[] = { 4, 1, 7, 3, 5, 6, 0, 2 };
        prune(&s, (struct mase_pruning){ .method = MASE_PRUNE_MOVEMENT, .sparsity = k / 8.0 }, 1);
        assert_int_equal(gone(&s), k);
        assert_int_equal(s.kept[order[k - 1]], 0);
    }
}

/* Against sorting, for many sizes. */
static int by_magnitude(const void *a, const void *b)
{
    const float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x > y) - (x < y);
}

static void as_sorting_would(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(1, MASE_STREAM_TEST, 0);
    for (int round = 0; round < 50; round++) {
        float w[MOST], sorted[MOST];
        struct single s;
        const int n = 1 + (int)(mase_rng_u32(&r) % MOST);
        for (int i = 0; i < n; i++)
            sorted[i] = w[i] = mase_rng_normal(&r);
        qsort(sorted, (size_t)n, sizeof *sorted, by_magnitude);
        const double sparsity = (double)mase_rng_float(&r);
        const int k = (int)rint(sparsity * n);
        set_up(&s, w, n, n);
        prune(&s, (struct mase_pruning){ .method = MASE_PRUNE_L2, .sparsity = sparsity }, 1);
        assert_int_equal(gone(&s), k);
        for (int i = 0; i < n; i++)
            assert_int_equal(!s.kept[i], k && fabsf(w[i]) <= fabsf(sorted[k - 1]));
    }
}

/* More and more of the same: the numbers of a random choice do not depend on when it is made. */
static void what_has_gone_stays(void **state)
{
    (void)state;
    for (int m = 0; m < MASE_PRUNE_METHOD_COUNT; m++) {
        float w[100];
        struct single s;
        struct mase_rng r = mase_rng(2, MASE_STREAM_TEST, 0);
        uint8_t before[100];
        set_up(&s, w, 100, 10);
        memcpy(before, s.kept, sizeof before);
        for (int step = 1; step <= 10; step++) {
            for (int i = 0; i < 100; i++)
                w[i] = mase_rng_normal(&r); /* other weights each time */
            prune(&s, (struct mase_pruning){ .method = (enum mase_prune_method)m, .sparsity = 0.9 },
                  step / 10.0);
            assert_int_equal(gone(&s), (int)rint(100 * 0.9 * (1 - pow(1 - step / 10.0, 3))));
            for (int i = 0; i < 100; i++)
                assert_true(before[i] || !s.kept[i]);
            memcpy(before, s.kept, sizeof before);
        }
    }
}

/* A row of large values with many small ones: by l1 it goes first, by l2 it stays. */
static void channels_go_as_a_whole(void **state)
{
    static const float w[] = { 3, 0, 0, 0, 1, 1, 1, 1, 9, 9, 9, 9 };
    (void)state;
    for (int l2 = 0; l2 < 2; l2++) {
        struct single s;
        set_up(&s, w, 12, 3);
        prune(&s,
              (struct mase_pruning){ .method = l2 ? MASE_PRUNE_L2 : MASE_PRUNE_L1,
                                     .channels = true,
                                     .sparsity = 1 / 3.0 },
              1);
        assert_int_equal(gone(&s), 4);
        for (int i = 0; i < 4; i++)
            assert_int_equal(s.kept[(l2 ? 4 : 0) + i], 0);
    }
}

/* ---- targets ---- */

static int targets(struct mase_prune_target **list, struct mase_arena *a, struct mase_graph *g,
                   bool channels)
{
    int n;
    struct mase_err err = { 0 };
    const struct mase_pruning p = { .channels = channels, .sparsity = 0.5 };
    if (mase_prune_targets(list, &n, a, g, &p, &err))
        fail_msg("%s", err.msg);
    return n;
}

static void layers_that_have_weights(void **state)
{
    static const char *const want[] = { "c.weight", "t.weight", "w", "l.weight_ih_l0",
                                        "l.weight_hh_l0" };
    struct mase_graph *g = mase_graph_new("net");
    struct mase_arena a = { 0 };
    struct mase_prune_target *list;
    (void)state;
    mase_log_set_level(MASE_ERROR);
    mase_build_input(g, "x", NULL);
    text_module(g, "c = Conv2d(3, 4, 3)");
    text_module(g, "b = BatchNorm2d(4)");
    text_module(g, "t = ConvTranspose2d(4, 2, 2)");
    text_module(g, "l = LSTM(3, 4)");
    mase_graph_add_attr(g, "w", MASE_F32, &(struct mase_shape){ 2, { 5, 4 } }, MASE_PARAM_TRAINED);
    mase_graph_insert(g, NULL, MASE_GET_ATTR, "w", NULL, NULL);
    text_call(g, "c(x)");
    text_call(g, "b(c)");
    text_call(g, "c(b)"); /* twice, pruned once */
    text_call(g, "t(c_1)");
    text_call(g, "torch.nn.functional.linear(t, w)");
    mase_build_output(g, text_call(g, "l(linear)"));
    assert_int_equal(targets(&list, &a, g, false), 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(list[i].name, want[i]);
    /* neither transposed convolutions nor recurrent layers have their outputs in the first
     * dimension */
    assert_int_equal(targets(&list, &a, g, true), 3);
    assert_string_equal(list[1].name, "c.bias");
    assert_int_equal(list[1].bias_of, 0);
    assert_string_equal(list[2].name, "w");
    mase_graph_free(g);
    mase_arena_release(&a);
}

/* ---- the pass ---- */

static struct mase_sparsity zeros(const struct fixture *f, const char *name)
{
    return mase_tensor_sparsity(&mase_graph_attr(f->g, name)->tensor);
}

static void layer_by_layer(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, "jsc-toy");
    RUN(&f, "prune", "sparsity = { default = 0.25, seq_blocks_5 = 0.75, seq_blocks_8 = 0 }");
    assert_int_equal(zeros(&f, "seq_blocks.2.weight").zeros, 32);
    assert_int_equal(zeros(&f, "seq_blocks.5.weight").zeros, 48);
    assert_int_equal(zeros(&f, "seq_blocks.8.weight").zeros, 0);
    assert_int_equal(mase_graph_sparsity(f.g).zeros, 80);
    assert_int_equal(mase_graph_sparsity(f.g).values, 232);
    teardown(&f);
}

static void all_together(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, "jsc-toy");
    RUN(&f, "prune", "sparsity = 0.5\nscope = 'global'");
    assert_int_equal(mase_graph_sparsity(f.g).zeros, 116);
    double largest = 0, least = INFINITY; /* of what went, of what stayed */
    struct mase_graph *before = f.m.before;
    static const char *const names[] = { "seq_blocks.2.weight", "seq_blocks.5.weight",
                                         "seq_blocks.8.weight" };
    for (int k = 0; k < 3; k++) {
        const struct mase_tensor *w = &mase_graph_attr(f.g, names[k])->tensor;
        const struct mase_tensor *was = &mase_graph_attr(before, names[k])->tensor;
        for (int64_t i = 0; i < mase_tensor_count(w); i++) {
            const double x = fabs(mase_tensor_get(was, i));
            assert_true(x > 0); /* the copy from before the pass has what it had */
            if (mase_tensor_get(w, i) == 0)
                largest = fmax(largest, x);
            else
                least = fmin(least, x);
        }
    }
    assert_true(largest < least);
    teardown(&f);
}

/* A seed chooses; another one chooses others. */
static void chance_is_that_of_the_seed(void **state)
{
    float w[3][128];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        setup(&f, "jsc-toy");
        f.m.env.seed = (uint64_t)(i / 2);
        RUN(&f, "prune", "sparsity = 0.5\nmethod = 'random'");
        memcpy(w[i], mase_graph_attr(f.g, "seq_blocks.2.weight")->tensor.data, sizeof w[i]);
        assert_int_equal(mase_graph_sparsity(f.g).zeros, 116);
        teardown(&f);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    assert_true(memcmp(w[0], w[2], sizeof w[0]) != 0);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *args, *message;
    } cases[] = {
        { "method = 'random'", "there is no sparsity" },
        { "sparsity = -0.1", "sparsity = -0.1 must be between 0 and 1" },
        { "sparsity = 'much'", "sparsity must be a number from 0 to 1, not" },
        { "sparsity = { seq_blocks_2 = 2 }", "seq_blocks_2 = 2 must be between 0 and 1" },
        { "sparsity = { wombat = 0.5 }", "no node with weights to prune is called 'wombat'" },
        { "sparsity = { seq_blocks_3 = 0.5 }", "is called 'seq_blocks_3'" },
        { "sparsity = 0.5\nscope = 'glbal'", "scope" },
        { "sparsity = 0.5\ngranularity = 'row'", "granularity" },
        { "sparsity = 0.5\nevery = 0", "every" },
        { "sparsity = 0.5\nweight = { sparsity = 0.5 }", "as well as in it" },
        { "weight = { method = 'random' }", "there is no sparsity" },
        { "weight = { sparsity = 0.5, weight = {} }", "a table within 'weight'" },
        { "activation = { sparsity = 0.5 }", "activations are not pruned" },
    };
    struct fixture f;
    (void)state;
    setup(&f, "jsc-toy");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!run(&f, "prune", cases[i].args) || !strstr(f.err.msg, cases[i].message))
            fail_msg("%s: %s", cases[i].args, f.err.msg);
        f.err = (struct mase_err){ 0 };
    }
    assert_int_equal(mase_graph_sparsity(f.g).zeros, 0);
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_go),
        cmocka_unit_test(scores_have_signs),
        cmocka_unit_test(as_sorting_would),
        cmocka_unit_test(what_has_gone_stays),
        cmocka_unit_test(channels_go_as_a_whole),
        cmocka_unit_test(layers_that_have_weights),
        cmocka_unit_test(layer_by_layer),
        cmocka_unit_test(all_together),
        cmocka_unit_test(chance_is_that_of_the_seed),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
