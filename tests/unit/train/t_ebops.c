/*
 * t_ebops.c - effective bit operations against a count of every product, the derivatives by what
 * is learned, and the bits of every operand.
 */
#include "check.h"
#include "run_cases.h"

#include <math.h>

#include "exec/plan/plan_parts.h"
#include "formats.h"
#include "graph_text.h"
#include "train/ebops.h"

enum { C = 4, L = 9, K = 3, O = 6, POSITIONS = L - K + 1, GROUPS = 2, EACH = C / GROUPS, F = 5 };

/* A convolution in groups, then a dense layer over its channels' positions. */
static struct mase_graph *network(void)
{
    struct mase_graph *g = mase_graph_new("small");
    mase_build_input(g, "x", NULL);
    text_module(g, "conv = Conv1d(4, 6, 3, groups=2)");
    text_module(g, "fc = Linear(7, 5)");
    text_call(g, "conv(x)");
    mase_build_output(g, text_call(g, "fc(conv)"));
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
        mase_graph_add_attr(g, name, MASE_F32, &(struct mase_shape){ 1, { blocks } },
                            MASE_PARAM_TRAINED)
            ->init = MASE_INIT_UNSET;
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
    const double want = count_conv(g) + count_dense(g);
    assert_true(mase_ebops_learns(e));
    assert_true(want > 0 && fabs(mase_ebops(e) - want) < 1e-9 * want);
    assert_true(fabs(mase_ebops_of(e, mase_graph_find(g, "conv")) - count_conv(g)) < 1e-9 * want);
    assert_true(fabs(mase_ebops_of(e, mase_graph_find(g, "fc")) - count_dense(g)) < 1e-9 * want);
    assert_true(isnan(mase_ebops_of(e, mase_graph_find(g, "x"))));
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

/* ---- transposed convolutions, and widths beside products ---- */

enum { UP = 3, UP_K = 4 };

/* In groups: each input meets the outputs of its group, at every place of the kernel. */
static struct mase_graph *spreading(void)
{
    struct mase_graph *g = mase_graph_new("up");
    mase_build_input(g, "x", NULL);
    text_module(g, "up = ConvTranspose1d(4, 6, 4, stride=2, groups=2, bias=False)");
    text_module(g, "act = ReLU()");
    text_call(g, "up(x)");
    mase_build_output(g, text_call(g, "act(up)"));
    return g;
}

static double count_spread(struct mase_graph *g)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int o = 0; o < UP; o++)
            for (int k = 0; k < UP_K; k++)
                sum += L * bits(g, "up.data_in", c) * bits(g, "up.weight", (c * UP + o) * UP_K + k);
    return sum;
}

static struct mase_plan *spreading_plan(struct mase_graph *g)
{
    struct mase_arena a = { 0 };
    struct mase_quant up = { 0 }, act = { 0 };
    struct mase_plan *p = NULL;
    give(g, "up", MASE_DATA_IN, "hgq(6, 1)", C, &up);
    give(g, "up", MASE_WEIGHT, "hgq(6, NA, 1)", C * UP * UP_K, &up);
    give(g, "act", MASE_DATA_IN, "hgq(6)", 1, &act);
    mase_module_set_quant(g, mase_graph_module(g, "up"), &up);
    mase_module_set_quant(g, mase_graph_module(g, "act"), &act);
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 1);
    fill(g, "up.data_in", C, 2);
    fill(g, "up.weight", C * UP * UP_K, 3);
    fill(g, "act.data_in", 1, 1);
    const struct mase_input in = {
        .name = "x",
        .tensor = mase_tensor(&a, MASE_F32, &(struct mase_shape){ 3, { 1, C, L } }, true)
    };
    const struct mase_plan_opts o = { .batch = 16, .train = true, .inputs = &in, .input_count = 1 };
    must(mase_plan_new(&p, g, &o, &err));
    mase_arena_release(&a);
    return p;
}

static void transposed_convolutions_count(void **state)
{
    (void)state;
    struct mase_graph *g = spreading();
    struct mase_plan *p = spreading_plan(g);
    struct mase_ebops *e = mase_ebops_new(p);
    const double want = count_spread(g);
    assert_true(want > 0 && fabs(mase_ebops(e) - want) < 1e-9 * want);
    mase_ebops_add_gradient(e, 1);
    const float *dx = mase_plan_weight(p, mase_graph_attr(g, "up.data_in_int_width"))->dx;
    for (int c = 0; c < C; c++) {
        const double had = bits(g, "up.data_in", c);
        values(g, "up.data_in_int_width")[c] += 1;
        const double more = had > 0 ? count_spread(g) - want : 0;
        values(g, "up.data_in_int_width")[c] -= 1;
        assert_true(fabs((double)dx[c] - more) < 1e-4 * (1 + more));
    }
    mase_ebops_free(e);
    mase_plan_free(p);
    mase_graph_free(g);
}

static void every_width_is_held(void **state)
{
    static const char *const names[] = { "up.data_in_int_width", "up.weight_frac_width",
                                         "act.data_in_int_width", "act.data_in_frac_width" };
    (void)state;
    struct mase_graph *g = spreading();
    struct mase_plan *p = spreading_plan(g);
    struct mase_ebops *e = mase_ebops_new(p);
    mase_ebops_hold(e);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct mase_weight *w = mase_plan_weight(p, mase_graph_attr(g, names[i]));
        const float was = w->x[0];
        w->x[0] += 2;
        mase_ebops_put_back(e);
        assert_true(w->x[0] == was);
    }
    mase_ebops_free(e);
    mase_plan_free(p);
    mase_graph_free(g);
}

/* ---- bits of operands ---- */

static const struct mase_layer_bits *find_row(const struct mase_layer_bits *row, int count,
                                              const char *layer, const char *operand)
{
    for (int i = 0; i < count; i++)
        if (mase_streq(row[i].layer, layer) && mase_streq(row[i].operand, operand))
            return &row[i];
    fail_msg("no row %s.%s", layer, operand);
    return NULL;
}

/* As many values in each of these blocks; a bit more for the sign where there are any. */
static void check_row(struct mase_graph *g, const struct mase_layer_bits *row, const char *operand,
                      int64_t blocks, int64_t each)
{
    double sum = 0, none = 0;
    int min = 99, max = 0;
    for (int64_t b = 0; b < blocks; b++) {
        const int n = (int)bits(g, operand, b), with_sign = n ? n + 1 : 0;
        sum += (double)each * with_sign;
        none += with_sign ? 0 : (double)each;
        min = with_sign < min ? with_sign : min;
        max = with_sign > max ? with_sign : max;
    }
    assert_true(row->learned);
    assert_int_equal(row->values, blocks * each);
    assert_float_equal(row->mean, sum / (double)row->values, 1e-12);
    assert_float_equal(row->zero, none / (double)row->values, 1e-12);
    assert_int_equal(row->min, min);
    assert_int_equal(row->max, max);
}

static void every_operand_has_bits(void **state)
{
    (void)state;
    struct mase_graph *g = network();
    struct mase_plan *p = quantised_plan(g);
    struct mase_ebops *e = mase_ebops_new(p);
    struct mase_bits *b = mase_bits_new(p);
    const struct mase_layer_bits *row;
    values(g, "fc.weight_int_width")[2] = 3; /* the graph's count, which the plan has not seen */
    mase_ebops(e);
    const int count = mase_bits_count(b, e, &row);
    assert_int_equal(count, 5);
    check_row(g, find_row(row, count, "conv", "data_in"), "conv.data_in", C, L);
    check_row(g, find_row(row, count, "conv", "weight"), "conv.weight", O * EACH * K, 1);
    check_row(g, find_row(row, count, "fc", "data_in"), "fc.data_in", 1, O * POSITIONS);
    check_row(g, find_row(row, count, "fc", "weight"), "fc.weight", F, POSITIONS);
    check_row(g, find_row(row, count, "fc", "bias"), "fc.bias", F, 1);
    assert_true(find_row(row, count, "conv", "weight")->zero > 0);
    assert_float_equal(row[0].ebops, count_conv(g), 1e-9);
    assert_float_equal(row[count - 1].ebops, count_dense(g), 1e-9);
    mase_bits_free(b);
    mase_ebops_free(e);
    mase_plan_free(p);
    mase_graph_free(g);
}

/* An LSTM, a layer of fixed bits, one of a single bit, a sum, and a result that is rounded. */
static struct mase_plan *fixed_plan(struct mase_graph *g, struct mase_arena *a)
{
    struct mase_plan *p = NULL;
    mase_build_input(g, "x", NULL);
    text_module(g, "lstm = LSTM(4, 3, batch_first=True)");
    text_module(g, "fc = Linear(3, 3)");
    text_module(g, "last = Linear(3, 2, bias=False)");
    text_call(g, "lstm(x)");
    text_call(g, "operator.getitem(lstm, 0)");
    text_call(g, "fc(getitem)");
    text_call(g, "operator.add(fc, getitem)");
    mase_build_output(g, text_call(g, "last(add)"));
    const struct mase_format *i8 = integer_format(8, 4), *i5 = integer_format(5, 4);
    const struct mase_quant lstm = { .operand = { i8, i5, i8 } };
    const struct mase_quant fc = { .operand = { [MASE_DATA_IN] = i8, [MASE_WEIGHT] = i5 } };
    const struct mase_quant sum = { .operand = { [MASE_DATA_IN] = i5 } };
    const struct mase_quant last = { .operand = { i8, format_of("binary(1, false, true)"), i8,
                                                  i5 } };
    mase_module_set_quant(g, mase_graph_module(g, "lstm"), &lstm);
    mase_module_set_quant(g, mase_graph_module(g, "fc"), &fc);
    mase_module_set_quant(g, mase_graph_module(g, "last"), &last);
    mase_node_set_quant(mase_graph_find(g, "add"), &sum);
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 1);
    const struct mase_shape shape = { 3, { 1, 6, 4 } };
    const struct mase_input in = { .name = "x", .tensor = mase_tensor(a, MASE_F32, &shape, true) };
    const struct mase_plan_opts o = { .batch = 16, .train = true, .inputs = &in, .input_count = 1 };
    must(mase_plan_new(&p, g, &o, &err));
    return p;
}

static void fixed_bits_are_told_too(void **state)
{
    (void)state;
    static const struct {
        const char *layer, *operand;
        int64_t values;
        int bits;
        double ebops;
    } want[] = {
        { "lstm", "data_in", 24, 8, NAN },        { "lstm", "weight", 12 * 4 + 12 * 3, 5, NAN },
        { "lstm", "bias", 24, 8, NAN },           { "fc", "data_in", 18, 8, 6 * 9 * 7 * 4 },
        { "fc", "weight", 9, 5, 6 * 9 * 7 * 4 },  { "add", "data_in", 36, 5, NAN },
        { "last", "data_in", 18, 8, 6 * 6 * 7 },  { "last", "weight", 6, 1, 6 * 6 * 7 },
        { "last", "data_out", 12, 5, 6 * 6 * 7 },
    };
    struct mase_arena a = { 0 };
    struct mase_graph *g = mase_graph_new("fixed");
    struct mase_plan *p = fixed_plan(g, &a);
    struct mase_ebops *e = mase_ebops_new(p);
    struct mase_bits *b = mase_bits_new(p);
    const struct mase_layer_bits *row;
    assert_false(mase_ebops_learns(e));
    assert_float_equal(mase_ebops(e), 6 * 9 * 7 * 4 + 6 * 6 * 7, 1e-9);
    assert_int_equal(mase_bits_count(b, e, &row), sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_string_equal(row[i].layer, want[i].layer);
        assert_string_equal(row[i].operand, want[i].operand);
        assert_int_equal(row[i].values, want[i].values);
        assert_true(row[i].mean == want[i].bits && row[i].zero == 0 && !row[i].learned);
        assert_true(row[i].min == want[i].bits && row[i].max == want[i].bits);
        assert_true(isnan(want[i].ebops) ? isnan(row[i].ebops) : row[i].ebops == want[i].ebops);
    }
    mase_bits_free(b);
    mase_ebops_free(e);
    mase_plan_free(p);
    mase_graph_free(g);
    mase_arena_release(&a);
}

static void floats_have_none(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_graph *g = network();
    struct mase_plan *p = NULL;
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 1);
    const struct mase_shape shape = { 3, { 1, C, L } };
    const struct mase_input in = { .name = "x", .tensor = mase_tensor(&a, MASE_F32, &shape, true) };
    const struct mase_plan_opts o = { .batch = 16, .train = true, .inputs = &in, .input_count = 1 };
    must(mase_plan_new(&p, g, &o, &err));
    assert_null(mase_ebops_new(p));
    assert_null(mase_bits_new(p));
    mase_plan_free(p);
    mase_graph_free(g);
    mase_arena_release(&a);
}

/* ---- when ---- */

/* Four epochs of ten steps, of which the first is float. */
static void the_weight_rises_and_bits_stay(void **state)
{
    (void)state;
    static const struct {
        int64_t step;
        double weight;
        bool holds;
    } cases[] = {
        { 10, 0, false },   { 11, 0.5 / 18, false }, { 19, 0.25, false }, { 27, 17.0 / 36, false },
        { 28, 0.5, false }, { 33, 0.5, false },      { 34, 0.5, true },   { 39, 0.5, true },
    };
    struct mase_train_opts o = default_opts();
    o.max_epochs = 4;
    o.quantize_after = 1;
    o.ebops_weight = 0.5;
    o.ebops_ramp = 0.6;
    o.bits_hold = 0.2;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_near(mase_ebops_weight(&o, cases[i].step, 10), cases[i].weight, 1e-15, "weight",
                   (long long)cases[i].step);
        assert_int_equal(mase_ebops_holds(&o, cases[i].step, 10), cases[i].holds);
    }
    o.ebops_ramp = 0; /* all of it at once */
    assert_true(mase_ebops_weight(&o, 10, 10) == 0.5);
    o.bits_hold = 0; /* never */
    assert_false(mase_ebops_holds(&o, 39, 10));
    o.bits_hold = 1;
    assert_true(mase_ebops_holds(&o, 10, 10));
}

static enum mase_status note_ebops(void *data, const struct mase_train_epoch *e, struct mase_err *x)
{
    (void)x;
    ((double *)data)[e->epoch] = e->ebops;
    return MASE_OK;
}

/* Bits of every weight, of which a run with this hold is left with so many after each epoch. */
static void train_bits(double ebops[4], double hold, double weight)
{
    struct mase_train_opts o = default_opts();
    struct mase_graph *g = build("jsc-tiny", 1);
    const struct mase_quant q = { .kind = MASE_QUANT_hgq,
                                  .operand = { [MASE_WEIGHT] = format_of("hgq(6, NA, 1)") } };
    struct mase_dataset *jets;
    struct mase_trainer *t;
    for (struct mase_module *m = g->modules; m; m = m->next)
        if (mase_streq(mase_ops[m->op].name, "linear"))
            mase_module_set_quant(g, m, &q);
    must(mase_graph_learn(g, &err));
    must(
        mase_dataset_open(&jets, "jsc-sim", &(struct mase_dataset_opts){ .sim_rows = 2000 }, &err));
    o.learning_rate = 0.02;
    o.schedule = "constant";
    o.max_epochs = 4;
    o.threads = 1;
    o.ebops_weight = weight;
    o.bits_hold = hold;
    must(mase_trainer_new(&t, g, jets, &o, &err));
    must(mase_trainer_run(t, &(struct mase_train_env){ .data = ebops, .on_epoch = note_ebops },
                          &err));
    mase_trainer_free(t);
    mase_dataset_close(jets);
    mase_graph_free(g);
}

static void a_run_holds_its_bits(void **state)
{
    (void)state;
    double none[4], half[4], all[4], free_of_cost[4];
    train_bits(none, 0, 1e-3);
    train_bits(half, 0.5, 1e-3);
    train_bits(all, 1, 1e-3);
    train_bits(free_of_cost, 0, 0);
    for (int e = 0; e < 4; e++) {
        assert_true(e ? none[e] < none[e - 1] : none[e] > 0);
        assert_true(half[e] == (e < 2 ? none[e] : half[1]));
        assert_true(all[e] == all[0]);
    }
    assert_true(all[3] > half[3] && half[3] > none[3] && free_of_cost[3] > none[3]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_product_counts),   cmocka_unit_test(derivatives_are_of_bits),
        cmocka_unit_test(every_operand_has_bits), cmocka_unit_test(fixed_bits_are_told_too),
        cmocka_unit_test(floats_have_none),       cmocka_unit_test(the_weight_rises_and_bits_stay),
        cmocka_unit_test(a_run_holds_its_bits),   cmocka_unit_test(transposed_convolutions_count),
        cmocka_unit_test(every_width_is_held),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
