/*
 * t_ebops.c - effective bit operations against a count of every product, and the derivatives by
 * what is learned.
 */
#include "check.h"

#include <math.h>

#include "exec/plan.h"
#include "formats.h"
#include "ir/build.h"
#include "train/ebops.h"

enum { C = 4, L = 9, K = 3, O = 6, POSITIONS = L - K + 1, GROUPS = 2, EACH = C / GROUPS, F = 5 };

/* A convolution in groups, then a dense layer over its channels' positions. */
static struct mase_graph *network(void)
{
    struct mase_graph *g = mase_graph_new("small");
    mase_build_input(g, "x", NULL);
    mase_build_module(g, "conv = Conv1d(4, 6, 3, groups=2)");
    mase_build_module(g, "fc = Linear(7, 5)");
    mase_build_call(g, "conv(x)");
    mase_build_output(g, mase_build_call(g, "fc(conv)"));
    return g;
}

static void give(struct mase_graph *g, const char *layer, enum mase_operand o, const char *format,
                 int64_t blocks, struct mase_quant *q)
{
    const struct mase_format *f = format_of(format);
    q->kind = MASE_QUANT_hgq;
    q->operand[o] = f;
    for (int j = 0; j < mase_format_learned(f); j++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s_%s", layer, mase_operand_names[o],
                 f->row->learned->names[j]);
        mase_graph_add_attr(g, name, MASE_F32, &(struct mase_shape){ 1, { blocks } }, false)->init =
            MASE_INIT_UNSET;
    }
}

static float *values(struct mase_graph *g, const char *name)
{
    return mase_f32(&mase_graph_attr(g, name)->tensor);
}

/* Bits without the sign: some none, some more. */
static void fill(struct mase_graph *g, const char *operand, int64_t blocks, int step)
{
    char name[64];
    for (int64_t i = 0; i < blocks; i++) {
        snprintf(name, sizeof name, "%s_frac_width", operand);
        values(g, name)[i] = (float)((i * step) % 5) - 0.3f;
        snprintf(name, sizeof name, "%s_int_width", operand);
        values(g, name)[i] = (float)((i * step) % 3) - 0.9f;
    }
}

static double bits(struct mase_graph *g, const char *operand, int64_t block)
{
    char f[64], i[64];
    snprintf(f, sizeof f, "%s_frac_width", operand);
    snprintf(i, sizeof i, "%s_int_width", operand);
    return fmax(rint((double)values(g, f)[block]) + rint((double)values(g, i)[block]), 0);
}

static double count_conv(struct mase_graph *g)
{
    double sum = 0;
    for (int o = 0; o < O; o++)
        for (int c = 0; c < EACH; c++)
            for (int k = 0; k < K; k++)
                sum += POSITIONS * bits(g, "conv.data_in", o / (O / GROUPS) * EACH + c) *
                       bits(g, "conv.weight", (o * EACH + c) * K + k);
    return sum;
}

/* Six rows of seven values: blocks are values along the last dimension. */
static double count_dense(struct mase_graph *g)
{
    double sum = 0;
    for (int o = 0; o < F; o++) {
        sum += O * bits(g, "fc.bias", o);
        for (int i = 0; i < POSITIONS; i++)
            sum += O * bits(g, "fc.data_in", 0) * bits(g, "fc.weight", o);
    }
    return sum;
}

static struct mase_plan *quantised_plan(struct mase_graph *g)
{
    static struct mase_input in;
    static struct mase_arena a;
    struct mase_quant conv = { 0 }, fc = { 0 };
    struct mase_plan *p = NULL;
    give(g, "conv", MASE_DATA_IN, "hgq(6, 1)", C, &conv);
    give(g, "conv", MASE_WEIGHT, "hgq(6, NA, 1)", O * EACH * K, &conv);
    give(g, "fc", MASE_DATA_IN, "hgq(6)", 1, &fc);
    give(g, "fc", MASE_WEIGHT, "hgq(6, 0)", F, &fc);
    give(g, "fc", MASE_BIAS, "hgq(6, 0)", F, &fc);
    mase_module_set_quant(g, mase_graph_module(g, "conv"), &conv);
    mase_module_set_quant(g, mase_graph_module(g, "fc"), &fc);
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 1);
    fill(g, "conv.data_in", C, 2);
    fill(g, "conv.weight", O * EACH * K, 3);
    fill(g, "fc.data_in", 1, 1);
    fill(g, "fc.weight", F, 4);
    fill(g, "fc.bias", F, 1);
    values(g, "fc.data_in_frac_width")[0] = 4;
    in = (struct mase_input){ .name = "x",
                              .tensor = mase_tensor(&a, MASE_F32,
                                                    &(struct mase_shape){ 3, { 1, C, L } }, true) };
    const struct mase_plan_opts o = { .batch = 16, .train = true, .inputs = &in, .input_count = 1 };
    must(mase_plan_new(&p, g, &o, &err));
    mase_arena_release(&a);
    return p;
}

static void every_product_counts(void **state)
{
    (void)state;
    struct mase_graph *g = network();
    struct mase_plan *p = quantised_plan(g);
    struct mase_ebops *e = mase_ebops_new(p);
    const struct mase_layer_bits *layer;
    const double want = count_conv(g) + count_dense(g);
    assert_true(want > 0 && fabs(mase_ebops(e) - want) < 1e-9 * want);
    assert_int_equal(mase_ebops_layers(e, &layer), 2);
    assert_string_equal(layer[1].layer, "fc");
    assert_true(fabs(layer[0].ebops - count_conv(g)) < 1e-9 * want);
    mase_ebops_free(e);
    mase_plan_free(p);
    mase_graph_free(g);
}

/* One bit more of a block, where it has some, is what the derivative says. */
static void check_derivative(struct mase_graph *g, const struct mase_plan *p, const char *operand,
                             int64_t blocks)
{
    char name[64];
    snprintf(name, sizeof name, "%s_int_width", operand);
    const float *dx = mase_plan_weight(p, mase_graph_attr(g, name))->dx;
    for (int64_t b = 0; b < blocks; b++) {
        const double before = count_conv(g) + count_dense(g);
        const double had = bits(g, operand, b);
        values(g, name)[b] += 1;
        const double more = count_conv(g) + count_dense(g) - before;
        values(g, name)[b] -= 1;
        assert_true(fabs((double)dx[b] - 0.5 * (had > 0 ? more : 0)) < 1e-4 * (1 + more));
    }
}

static void derivatives_are_of_bits(void **state)
{
    (void)state;
    struct mase_graph *g = network();
    struct mase_plan *p = quantised_plan(g);
    struct mase_ebops *e = mase_ebops_new(p);
    mase_ebops_add_gradient(e, 0.5);
    check_derivative(g, p, "conv.data_in", C);
    check_derivative(g, p, "conv.weight", O * EACH * K);
    check_derivative(g, p, "fc.data_in", 1);
    check_derivative(g, p, "fc.weight", F);
    check_derivative(g, p, "fc.bias", F);
    mase_ebops_free(e);
    mase_plan_free(p);
    mase_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_product_counts),
        cmocka_unit_test(derivatives_are_of_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
