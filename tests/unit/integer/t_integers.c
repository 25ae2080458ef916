/*
 * t_integers.c - quantised networks in integers: the numbers of the reference where that is exact,
 * roundings that no float gets wrong, sums whose width is known, and what is refused.
 */
#include "formats.h"
#include "integer/int_parts.h"
#include "run_cases.h"
#include "unit/exec/step_case.h"

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

/* ---- networks ---- */

/* Every call that can have formats gets them: 1/2 and 1/4 are steps of all of these, so that the
 * reference, in double, makes no error. */
static const struct step_case nets[] = {
    { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(5) } },
    { "linear", "fc = Linear(5, 7, bias=False); fc(x)", .in = { S(3, 5) } },
    { "linear", "a = Linear(5, 6); b = Linear(6, 3); a(x); torch.relu(a); b(relu)",
      .in = { S(5) } },
    { "linear",
      "fc = Linear(5, 4); n = BatchNorm1d(4); g = Linear(4, 2); fc(x); n(fc); "
      "torch.relu(n); g(relu)",
      .in = { S(5) } },
    { "linear", "n = BatchNorm1d(5); fc = Linear(5, 4); n(x); torch.relu(n); fc(relu)",
      .in = { S(5) } },
    { "conv1d", "c = Conv1d(3, 4, 3, stride=2, padding=1); c(x)", .in = { S(3, 7) } },
    { "conv2d", "c = Conv2d(4, 6, 3, groups=2, dilation=2, padding=2); c(x)",
      .in = { S(4, 5, 6) } },
    { "conv3d", "c = Conv3d(2, 3, 2); c(x)", .in = { S(2, 3, 3, 4) } },
    { "conv2d",
      "c = Conv2d(2, 3, 3); n = BatchNorm2d(3); p = MaxPool2d(2); d = Conv2d(3, 2, 1); "
      "c(x); n(c); p(n); d(p)",
      .in = { S(2, 6, 6) } },
    { "conv2d",
      "c = Conv2d(2, 4, 3, padding=1); p = AvgPool2d(2); fc = Linear(16, 3); c(x); "
      "torch.relu(c); p(relu); torch.flatten(p, 1); fc(flatten)",
      .in = { S(2, 4, 4) } },
    { "conv2d",
      "c = Conv2d(2, 4, 3); p = AvgPool2d(2, padding=1, count_include_pad=False); "
      "d = Conv2d(4, 2, 1); c(x); p(c); d(p)",
      .in = { S(2, 4, 4) } },
    { "conv2d",
      "c = Conv2d(2, 4, 3); p = AvgPool2d(2, padding=1); d = Conv2d(4, 2, 1); c(x); p(c); d(p)",
      .in = { S(2, 4, 4) } },
    { "conv2d",
      "c = Conv2d(2, 4, 3); p = AdaptiveAvgPool2d(1); fc = Linear(4, 3); c(x); "
      "p(c); torch.flatten(p, 1); fc(flatten)",
      .in = { S(2, 4, 6) } },
    { "conv2d", "c = Conv2d(2, 4, 3); fc = Linear(4, 3); c(x); torch.mean(c, (2, 3)); fc(mean)",
      .in = { S(2, 4, 6) } },
    { "conv2d",
      "c = Conv2d(2, 2, 3, padding=1); d = Conv2d(2, 2, 3, padding=1); e = Conv2d(2, 3, "
      "1); c(x); d(c); operator.add(d, c); torch.relu(add); e(relu)",
      .in = { S(2, 4, 4) } },
    { "conv2d",
      "c = Conv2d(2, 4, 3, padding=1, padding_mode='circular'); fc = Linear(4, 2); c(x); "
      "torch.permute(c, (0, 2, 3, 1)); fc(permute)",
      .in = { S(2, 4, 3) } },
    { "conv2d", "c = Conv2d(2, 3, 1, stride=3, padding=2); c(x)", .in = { S(2, 1, 2) } },
    { "conv2d",
      "c = Conv2d(2, 3, 3, padding=1); d = Conv2d(5, 2, 3); c(x); torch.relu(c); "
      "d2 = Conv2d(2, 2, 1); d2(x); torch.cat([relu, d2], 1); d(cat)",
      .in = { S(2, 4, 4) } },
    { "conv2d",
      "c = Conv2d(2, 3, 3, padding=1); d = Conv2d(2, 1, 1); e = Conv2d(7, 2, 3); c(x); d(x); "
      "torch.relu(c); torch.cat([d, relu, d, d, d], 1); e(cat)",
      .in = { S(2, 4, 4) } },
    { "linear",
      "a = Linear(5, 4); b = Linear(5, 4); fc = Linear(4, 3); a(x); b(x); "
      "torch.stack([a, b], 1); fc(stack)",
      .in = { S(5) } },
    { "conv2d",
      "c = Conv2d(2, 3, 1, bias=False); p = MaxPool2d(3, 2); c(x); "
      "torch.nn.functional.pad(c, (1, 1, 1, 1)); p(pad)",
      .in = { S(2, 4, 4) } },
    { "linear",
      "fc = Linear(7, 4); torch.nn.functional.pad(x, (2, 0)); fc(pad); torch.flip(fc, (1,))",
      .in = { S(5) } },
    { 0 },
};

static const struct {
    const char *data, *weight;
} families[] = {
    { "integer(6, 2)", "integer(5, 2)" },
    { "integer(5, 1)", "integer(4, 1)" },
    { "fixed_floor(6, 2)", "integer(6, 3)" },
    { "integer(6, 2, nearest_away)", "integer_floor(5, 2)" },
    { "integer(6, 1, toward_zero)", "ternary(2, false, NA, NA, NA)" },
    { "int(6, 0.25)", "int(5, 0.5)" },
    { "int(6, 0.5, 3)", "binary(1, false, true)" },
    { "binary(1, false, true)", "binary(1, false, true)" },
    { "integer(7, 3)", "float" },
};

static void quantise(struct running *r, const char *data, const char *weight)
{
    struct mase_quant q = { .operand = { format_of(data),
                                         strcmp(weight, "float") ? format_of(weight) : NULL } };
    q.kind = q.operand[0]->kind;
    q.operand[MASE_BIAS] = q.operand[MASE_WEIGHT];
    for (struct mase_node *n = r->graph->first; n; n = n->next) {
        if (n->op != MASE_OP_linear && n->op != MASE_OP_conv1d && n->op != MASE_OP_conv2d &&
            n->op != MASE_OP_conv3d)
            continue;
        mase_module_set_quant(r->graph, mase_node_module(n), &q);
    }
}

/* Scales and statistics by which batch norm is exact: 1 / sqrt(var + eps) is a power of two. */
static bool exact_norm(const char *full, struct mase_param *p, void *data)
{
    (void)data;
    for (int64_t i = 0; strstr(full, "running_var") && i < mase_tensor_count(&p->tensor); i++)
        mase_f32(&p->tensor)[i] = (float)((i % 2 ? 0.25 : 4.0) - 1e-5);
    return true;
}

static struct mase_lanes run_exact(struct running *r, struct mase_int_program *e,
                                   struct mase_int_runner *w)
{
    const struct mase_lanes x = mase_int_runner_input(w);
    for (int64_t row = 0; row < x.rows; row++)
        for (int64_t k = 0; k < r->samples; k++)
            x.data[row * x.stride + k] = mase_f32(&r->input[0].tensor)[k * x.rows + row];
    (void)e;
    must(mase_int_runner_run(w, r->samples, &err), r->c);
    return mase_int_runner_output(w);
}

static void check_values(struct running *r, struct mase_int_program *e,
                         const struct mase_tensor *want, const char *format,
                         enum mase_int_keep keep)
{
    struct mase_int_runner *w = mase_int_runner_new(e, r->samples, keep);
    const struct mase_lanes y = run_exact(r, e, w);
    for (int64_t i = 0; i < mase_tensor_count(want); i++) {
        const float got = y.data[i % y.rows * y.stride + i / y.rows];
        if (got != mase_f32(want)[i])
            fail_msg("%s, %s: %s: [%lld]: got %.9g, want %.9g", format, e->fast ? "fast" : "plain",
                     r->c->text, (long long)i, (double)got, (double)mase_f32(want)[i]);
    }
    mase_int_runner_free(w);
}

static void values_are_the_reference_s(void **state)
{
    int fast = 0;
    (void)state;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct step_case *c = nets; c->op; c++) {
            struct running r = start(c, 40);
            struct mase_int_program *e;
            mase_graph_each_param(r.graph, exact_norm, NULL);
            quantise(&r, families[f].data, families[f].weight);
            const struct mase_tensor want = reference(&r, &r.arena);
            must(mase_int_program_new(&e, r.graph, r.input, 1, &err), c);
            fast += e->fast != NULL;
            check_values(&r, e, &want, families[f].data, MASE_INT_KEEP_OUTPUT);
            check_values(&r, e, &want, families[f].data, MASE_INT_KEEP_ALL);
            e->fast = NULL; /* and number by number */
            check_values(&r, e, &want, families[f].data, MASE_INT_KEEP_ALL);
            mase_int_program_free(e);
            stop(&r);
        }
    assert_in_range(fast, 60, 1000); /* most have a form for kernels */
}

/* ---- bounds ---- */

/* No code leaves the bounds that were found without it, and the widest come near them. */
static void codes_stay_within_their_bounds(void **state)
{
    (void)state;
    for (const struct step_case *c = nets; c->op; c++) {
        struct running r = start(c, 40);
        struct mase_int_program *e;
        quantise(&r, "integer(6, 2)", "integer(5, 2)");
        must(mase_int_program_new(&e, r.graph, r.input, 1, &err), c);
        for (const struct mase_int_instr *i = e->first; i; i = i->next) {
            if (i->op != MASE_INT_OP_SUM)
                continue;
            const struct mase_int_sum *f = &i->u.sum;
            int64_t sum = llabs(f->bias[0]);
            for (int64_t k = 0; k < f->inputs; k++)
                sum += 32 * llabs(f->weight[k]);
            assert_in_range((uint64_t)i->out->hi[0], 0, (uint64_t)sum << 20);
            assert_true(i->out->lo[0] <= i->out->hi[0]);
        }
        stop(&r);
        mase_int_program_free(e);
    }
}

/* ---- numbers ---- */

static int64_t by_long_double(int64_t n, int64_t d, int direction)
{
    const long double q = (long double)n / (long double)d, below = floorl(q), rest = q - below;
    switch (direction) {
    case MASE_TO_FLOOR:
        return (int64_t)below;
    case MASE_TO_ZERO:
        return (int64_t)truncl(q);
    case MASE_TO_NEAREST_AWAY:
        return (int64_t)roundl(q);
    case MASE_TO_SIGN:
        return n >= 0 ? 1 : -1;
    default:
        return (int64_t)(rest > 0.5L || (rest == 0.5L && fmodl(below, 2) != 0) ? below + 1 : below);
    }
}

static void fractions_are_rounded_by_every_direction(void **state)
{
    (void)state;
    for (int direction = 0; direction <= MASE_TO_SIGN; direction++)
        for (int64_t d = 1; d <= 12 && direction != MASE_BY_CHANCE; d++)
            for (int64_t n = -200; n <= 200; n++)
                assert_int_equal(mase_divide_rounded(n, d, direction),
                                 by_long_double(n, d, direction));
    assert_int_equal(mase_divide_rounded(MASE_INT_LIMIT - 1, 2, MASE_TO_NEAREST_EVEN),
                     MASE_INT_LIMIT / 2);
}

static int64_t rounded(const struct mase_meaning *m, int64_t code, double step)
{
    struct mase_int_fraction f;
    assert_true(mase_meaning_as_fraction(&f, m, step, -1000, 1000));
    return mase_divide_rounded(code * f.mul + f.add, f.div, MASE_TO_NEAREST_EVEN);
}

/* Halves are ties unless something, however small, is left: then they are none. */
static void what_is_left_decides_ties(void **state)
{
    static const struct {
        float bias, scale, shift;
        int64_t parts, code, want;
    } cases[] = {
        { 0, 1, 0, 1, 5, 2 },
        { 0, 1, 0, 1, 7, 4 },
        { 0, 1, 0x1p-60f, 1, 5, 3 },
        { 0, 1, -0x1p-60f, 1, 7, 3 },
        { 0, 1, 0x1p-140f, 1, 5, 3 },
        { 0x1p-100f, 1, 0, 1, 5, 3 },
        { 0, -1, 0, 1, 5, -2 },
        { 0, -1, 0x1p-70f, 1, 7, -3 },
        { 0.25f, 1, 0, 1, 5, 3 },
        { 0, 0.5f, 0.25f, 1, 5, 2 },
        { 0x1p-70f, 1, -0x1p-70f, 1, 5, 2 },
        { 0x1p-70f, 1, -0x1p-71f, 1, 5, 3 },
        { 0, 1, 0, 3, 9, 2 },
        { 0, 1, 0, 3, 10, 2 },
        { 0, 1, 0x1p-50f, 3, 9, 2 },
        { 0, 1, -0x1p-50f, 3, 9, 1 },
        { 0, 1, 0, 9, 45, 2 },
        { 0, 1, 0x1p-90f, 9, 45, 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mase_meaning m = { .step = 0.5,
                                        .parts = cases[i].parts,
                                        .bias = cases[i].bias,
                                        .scale = cases[i].scale,
                                        .shift = cases[i].shift };
        const int64_t got = rounded(&m, cases[i].code, 1.0);
        if (got != cases[i].want)
            fail_msg("case %zu: got %lld, want %lld", i, (long long)got, (long long)cases[i].want);
    }
}

/* A third of a step is no multiple of half a unit: what is left over counts by its size. */
static void means_keep_what_is_left(void **state)
{
    const struct mase_meaning m = { .step = 1, .parts = 3, .scale = 1, .shift = 0.2f };
    (void)state;
    assert_int_equal(rounded(&m, 1, 1.0), 1);  /* 0.533 */
    assert_int_equal(rounded(&m, 0, 1.0), 0);  /* 0.2 */
    assert_int_equal(rounded(&m, -2, 1.0), 0); /* -0.467 */
    assert_int_equal(rounded(&m, -3, 1.0), -1);
}

/* Far apart in magnitude, so that no product fits 62 bits. */
static void what_does_not_fit_is_known(void **state)
{
    struct mase_int_fraction f;
    const struct mase_meaning wide = { .step = 0x1.fffffep0, .parts = 1, .scale = 0x1.fffffep0f };
    const struct mase_meaning far = { .step = 0x1p-100, .parts = 1, .scale = 1 };
    (void)state;
    assert_true(mase_meaning_as_fraction(&f, &wide, 1.0, -1000, 1000));
    assert_false(mase_meaning_as_fraction(&f, &wide, 1.0, 0, INT64_C(1) << 40));
    assert_false(mase_meaning_as_fraction(&f, &far, 1.0, -1, 1));
}

/* ---- scaled integers: ONNX Runtime's arithmetic ---- */

static void scaled_codes_are_rounded_in_float32(void **state)
{
    static const struct step_case c = {
        "linear", "a = Linear(5, 6); b = Linear(6, 3); a(x); torch.relu(a); b(relu)", .in = { S(5) }
    };
    (void)state;
    struct running r = start(&c, 40);
    struct mase_int_program *e;
    struct mase_quant first = {
        .kind = MASE_QUANT_int,
        .operand = { format_of("int(8, 0.037)"),
                     format_of("int(8, [0.011, 0.013, 0.017, 0.019, 0.021, 0.023], NA, 0)") }
    };
    struct mase_quant second = { .kind = MASE_QUANT_int,
                                 .operand = { format_of("int(8, 0.041)"),
                                              format_of("int(8, 0.029)") } };
    mase_module_set_quant(r.graph, mase_node_module(mase_graph_find(r.graph, "a")), &first);
    mase_module_set_quant(r.graph, mase_node_module(mase_graph_find(r.graph, "b")), &second);
    const struct mase_module *a = mase_node_module(mase_graph_find(r.graph, "a"));
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    struct mase_int_runner *w = mase_int_runner_new(e, r.samples, MASE_INT_KEEP_ALL);
    run_exact(&r, e, w);
    assert_int_equal(e->rounded_biases, 2);

    static const float scales[] = { 0.011f, 0.013f, 0.017f, 0.019f, 0.021f, 0.023f };
    const struct mase_int_instr *scale = e->first;
    while (scale && scale->op != MASE_INT_OP_SCALE)
        scale = scale->next;
    assert_non_null(scale);
    float hidden[6 * 40];
    mase_int_runner_read(w, hidden, 40, scale->out, 40);
    const float *weight = mase_f32(&a->params[0].tensor), *bias = mase_f32(&a->params[1].tensor);
    for (int o = 0; o < 6; o++)
        for (int k = 0; k < 40; k++) {
            const float product = 0.037f * scales[o];
            int32_t sum = (int32_t)rint((double)bias[o] / ((double)0.037f * (double)scales[o]));
            for (int i = 0; i < 5; i++) {
                const float x = rintf(mase_f32(&r.input[0].tensor)[k * 5 + i] / 0.037f);
                const float v = rintf(weight[o * 5 + i] / scales[o]);
                sum += (int32_t)fminf(fmaxf(x, -128), 127) * (int32_t)fminf(fmaxf(v, -128), 127);
            }
            const float code = rintf((float)sum * (product / 0.041f));
            const float want = fminf(fmaxf(code, 0), 255) * 0.041f;
            if (hidden[o * 40 + k] != want)
                fail_msg("[%d, %d]: got %.9g, want %.9g", o, k, (double)hidden[o * 40 + k],
                         (double)want);
        }
    mase_int_runner_free(w);
    mase_int_program_free(e);
    stop(&r);
}

/* Windows that see padding alone give the bias, rounded as where they see data. */
static void a_bias_over_padding_stays(void **state)
{
    static const struct step_case c = { "conv2d", "c = Conv2d(1, 2, 1, stride=2, padding=1); c(x)",
                                        .in = { S(1, 1, 1) } };
    struct mase_quant q = { .kind = MASE_QUANT_int,
                            .operand = { format_of("int(8, 0.05)"), format_of("int(8, 0.03)") } };
    struct running r = start(&c, 4);
    struct mase_int_program *e;
    struct mase_module *m = mase_node_module(mase_graph_find(r.graph, "c"));
    const float *bias = mase_f32(&m->params[1].tensor);
    (void)state;
    mase_module_set_quant(r.graph, m, &q);
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    struct mase_int_runner *w = mase_int_runner_new(e, 4, MASE_INT_KEEP_ALL);
    const struct mase_lanes y = run_exact(&r, e, w);
    for (int64_t row = 0; row < y.rows; row++) {
        const double step = (double)0.05f * (double)0.03f;
        const float want = (float)rint((double)bias[row / 4] / step) * (float)step;
        assert_true(want != 0.0f && y.data[row * y.stride] == want);
    }
    mase_int_runner_free(w);
    mase_int_program_free(e);
    stop(&r);
}

/* An output all of whose weights are zero is its bias: no product is there whose step would round
 * it. */
static void a_bias_without_products_is_not_rounded(void **state)
{
    static const struct step_case c = { "linear", "fc = Linear(3, 2); fc(x)", .in = { S(3) } };
    struct mase_quant q = { .kind = MASE_QUANT_int,
                            .operand = { format_of("int(4, 0.7)"),
                                         format_of("int(4, NA, NA, 0)") } };
    struct running r = start(&c, 4);
    struct mase_int_program *e;
    struct mase_module *m = mase_node_module(mase_graph_find(r.graph, "fc"));
    (void)state;
    mase_module_set_quant(r.graph, m, &q);
    memset(mase_f32(&m->params[0].tensor) + 3, 0, 3 * sizeof(float));
    mase_f32(&m->params[1].tensor)[1] = -0.341796875f;
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    struct mase_int_runner *w = mase_int_runner_new(e, 4, MASE_INT_KEEP_ALL);
    const struct mase_lanes y = run_exact(&r, e, w);
    for (int k = 0; k < 4; k++)
        assert_true(y.data[y.stride + k] == -0.341796875f);
    mase_int_runner_free(w);
    mase_int_program_free(e);
    stop(&r);
}

/* Data has a scale that is no power of two: a bias is a multiple of that times the step that the
 * weights' format has, whatever the weights share; where it has none, the bias is what it is. */
static void a_bias_is_rounded_to_steps_of_formats(void **state)
{
    static const struct {
        const char *weight;
        double step; /* 0: none */
    } cases[] = { { "int(8, 0.25)", 0.25 },
                  { "integer(8, 4)", 0.0625 },
                  { "int(4, [0.125, 0.5], NA, 0)", 0.125 },
                  { "float", 0 } };
    static const struct step_case c = { "linear", "fc = Linear(2, 2); fc(x)", .in = { S(2) } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool rounds = cases[i].step != 0;
        struct mase_quant q = { .kind = MASE_QUANT_int,
                                .operand = { format_of("int(8, 0.05)"),
                                             rounds ? format_of(cases[i].weight) : NULL } };
        struct running r = start(&c, 4);
        struct mase_int_program *e;
        struct mase_module *m = mase_node_module(mase_graph_find(r.graph, "fc"));
        mase_module_set_quant(r.graph, m, &q);
        for (int k = 0; k < 4; k++)
            mase_f32(&m->params[0].tensor)[k] = 1.5f; /* as many steps of each format */
        mase_f32(&m->params[1].tensor)[0] = 0.0423f;
        must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
        const struct mase_int_sum *f = &e->last->u.sum;
        const double step = (double)0.05f * cases[i].step;
        if (rounds)
            assert_true(e->output->meaning[0].step == step &&
                        f->bias[0] == (int64_t)rint((double)0.0423f / step));
        else
            assert_true(f->bias[0] == 0 && e->output->meaning[0].bias == 0.0423f);
        mase_int_program_free(e);
        stop(&r);
    }
}

/* Codes may have a sign though nothing negative comes: relu still cuts. */
static void relu_cuts_scaled_codes(void **state)
{
    static const struct step_case c = {
        "linear", "a = Linear(5, 6); b = Linear(6, 3); a(x); torch.relu(a); b(relu)", .in = { S(5) }
    };
    struct mase_quant q = { .kind = MASE_QUANT_int,
                            .operand = { format_of("int(8, 0.041, NA, NA, NA, true, false, false, "
                                                   "true)"),
                                         format_of("int(8, 0.029)") } };
    struct running r = start(&c, 40);
    struct mase_int_program *e;
    (void)state;
    for (int i = 0; i < 2; i++)
        mase_module_set_quant(r.graph, mase_node_module(mase_graph_find(r.graph, i ? "b" : "a")),
                              &q);
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    const struct mase_int_instr *scale = e->first;
    while (scale && scale->op != MASE_INT_OP_SCALE)
        scale = scale->next;
    assert_non_null(scale);
    assert_int_equal(scale->u.scale[0].lo, 0);
    assert_int_equal(scale->u.scale[0].hi, 127);
    mase_int_program_free(e);
    /* a zero point beyond all codes: the nearest to what is not negative is the largest of them */
    for (int k = 0; k < 2; k++) {
        q.operand[0] = format_of(k ? "int(2, 0.5, 9)" : "int(2, 0.041, 9)");
        mase_module_set_quant(r.graph, mase_node_module(mase_graph_find(r.graph, "b")), &q);
        must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
        for (scale = e->first; scale->op != MASE_INT_OP_SCALE; scale = scale->next)
            continue;
        assert_int_equal(scale->u.scale[0].lo, -6);
        assert_int_equal(scale->u.scale[0].hi, -6);
        mase_int_program_free(e);
    }
    stop(&r);
}

/* Sums that 32 bits do not hold are not left to kernels of 32 bits. */
static void wide_sums_are_exact(void **state)
{
    static const struct step_case c = { "linear", "fc = Linear(5, 2, bias=False); fc(x)",
                                        .in = { S(5) } };
    struct running r = start(&c, 3);
    struct mase_int_program *e;
    (void)state;
    quantise(&r, "integer(16, 0)", "float");
    float *w = mase_f32(&mase_node_module(mase_graph_find(r.graph, "fc"))->params[0].tensor);
    float *x = mase_f32(&r.input[0].tensor);
    for (int i = 0; i < 10; i++)
        w[i] = (i == 3 ? -32767.0f : 32767.0f) / 32768;
    for (int i = 0; i < 15; i++)
        x[i] = i % 5 == 3 ? 32767.0f : -32768.0f;
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    struct mase_int_runner *work = mase_int_runner_new(e, 3, MASE_INT_KEEP_ALL);
    const struct mase_lanes y = run_exact(&r, e, work);
    for (int k = 0; k < 3; k++) {
        assert_true(y.data[k] == (float)(-32767.0 * (4 * 32768.0 + 32767) / 32768));
        assert_true(y.data[y.stride + k] == (float)(-32767.0 * (4 * 32768.0 - 32767) / 32768));
    }
    mase_int_runner_free(work);
    mase_int_program_free(e);
    stop(&r);
}

/* ---- tables ---- */

static void check_table(const char *data)
{
    static const struct step_case c = { "linear", "s = Sigmoid(); fc = Linear(5, 4); s(x); fc(s)",
                                        .in = { S(5) } };
    struct running r = start(&c, 40);
    struct mase_int_program *e;
    struct mase_quant q = { .kind = MASE_QUANT_integer, .operand = { format_of(data) } };
    quantise(&r, "integer(7, 5)", "integer(5, 2)");
    mase_module_set_quant(r.graph, mase_node_module(mase_graph_find(r.graph, "s")), &q);
    const struct mase_tensor want = reference(&r, &r.arena);
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    struct mase_int_runner *w = mase_int_runner_new(e, r.samples, MASE_INT_KEEP_ALL);
    const struct mase_lanes y = run_exact(&r, e, w);
    for (int64_t i = 0; i < mase_tensor_count(&want); i++)
        assert_true(y.data[i % 4 * y.stride + i / 4] == mase_f32(&want)[i]);
    bool table = false;
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        table |= i->op == MASE_INT_OP_TABLE && i->u.table.count == 1;
    assert_true(table);
    mase_int_runner_free(w);
    mase_int_program_free(e);
    stop(&r);
}

/* Of few codes, and of many more than a sample has numbers. */
static void functions_between_roundings_are_tables(void **state)
{
    (void)state;
    check_table("integer(6, 2)");
    check_table("integer(16, 12)");
}

/* ---- refusals ---- */

static const struct refusal {
    struct step_case c;
    const char *data, *weight, *message;
} refusals[] = {
    { { "linear", "fc = Linear(5, 7); fc(x); torch.softmax(fc, 1)", .in = { S(5) } },
      "integer(6, 2)",
      "integer(6, 2)",
      "softmax: no exact integers: softmax has none" },
    { { "linear", "fc = Linear(5, 7); fc(x); torch.sigmoid(fc)", .in = { S(5) } },
      "integer(6, 2)",
      "integer(6, 2)",
      "what sigmoid gives is returned and not rounded" },
    { { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(5) } },
      "minifloat(6, 3, NA)",
      "integer(6, 2)",
      "the codes of minifloat are no multiples of a step" },
    { { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(5) } },
      "int(6)",
      "integer(6, 2)",
      "the codes of int are no multiples of a step" },
    { { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(5) } },
      "integer(6, 2, stochastic)",
      "integer(6, 2)",
      "integer rounds by chance" },
    { { "linear", "fc = Linear(5, 5); g = Linear(5, 5); fc(x); torch.sigmoid(fc); g(sigmoid)",
        .in = { S(5) } },
      "integer(12, 2)",
      "integer(12, 2)",
      "sigmoid is a table, for which what comes in has" },
    { { "linear", "fc = Linear(5, 7); torch.mean(x, 1, True); operator.sub(x, mean); fc(sub)",
        .in = { S(5) } },
      "integer(6, 2)",
      "integer(6, 2)",
      "mean: no exact integers: what comes in is not rounded" },
    { { "conv2d", "c = Conv2d(2, 3, 2); fc = Linear(3, 2); c(x); torch.mean(c, 1); fc(mean)",
        .in = { S(2, 4, 4) } },
      "integer(6, 2)",
      "integer(6, 2)",
      "a mean over other than the last dimensions has none" },
    { { "conv2d", "c = Conv2d(1, 2, 1); p = MaxPool2d(2, 1, 1, 2); c(x); p(c)",
        .in = { S(1, 1, 1) } },
      "integer(6, 2)",
      "integer(6, 2)",
      "p: no exact integers: a window of it lies in the padding" },
};

static void what_has_no_integers_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct running r = start(&refusals[i].c, 4);
        struct mase_int_program *e = NULL;
        quantise(&r, refusals[i].data, refusals[i].weight);
        if (mase_int_program_new(&e, r.graph, r.input, 1, &err) != MASE_EUNSUPPORTED)
            fail_msg("%s was not refused", refusals[i].c.text);
        if (!strstr(err.msg, refusals[i].message))
            fail_msg("got '%s', want '%s'", err.msg, refusals[i].message);
        stop(&r);
    }
}

static void sums_beyond_62_bits_are_refused(void **state)
{
    static const struct {
        float least;
        const char *message;
    } cases[] = { { 0x1p-40f, "fc: no exact integers: its sums need more than 62 bits" },
                  { 0x1p-80f, "fc: no exact integers: its weights are too far apart for 62 bits" },
                  { INFINITY, "fc: no exact integers: a weight is not finite" } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct running r = start(&nets[0], 4);
        struct mase_int_program *e = NULL;
        quantise(&r, "integer(32, 2)", "float");
        mase_f32(&mase_node_module(mase_graph_find(r.graph, "fc"))->params[0].tensor)[0] =
            cases[i].least;
        assert_int_equal(mase_int_program_new(&e, r.graph, r.input, 1, &err), MASE_EUNSUPPORTED);
        assert_string_equal(err.msg, cases[i].message);
        stop(&r);
    }
}

/* Ternary weights of a block of zeros have the scale 0 / 0. */
static void weights_that_are_no_numbers_are_refused_beside_scales(void **state)
{
    static const char *const data[] = { "int(6, 0.7)", "integer(6, 2)" };
    (void)state;
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        struct running r = start(&nets[0], 4);
        struct mase_int_program *e = NULL;
        struct mase_tensor *w = &mase_node_module(mase_graph_find(r.graph, "fc"))->params[0].tensor;
        quantise(&r, data[i], "ternary(2, true, NA, NA, NA)");
        memset(mase_f32(w), 0, (size_t)mase_tensor_count(w) * sizeof(float));
        assert_int_equal(mase_int_program_new(&e, r.graph, r.input, 1, &err), MASE_EUNSUPPORTED);
        assert_string_equal(err.msg, "fc: no exact integers: a weight is not finite");
        stop(&r);
    }
}

static void a_sample_without_a_number_is_refused(void **state)
{
    (void)state;
    struct running r = start(&nets[0], 4);
    struct mase_int_program *e;
    quantise(&r, "integer(6, 2)", "integer(5, 2)");
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &nets[0]);
    struct mase_int_runner *w = mase_int_runner_new(e, 4, MASE_INT_KEEP_ALL);
    const struct mase_lanes x = mase_int_runner_input(w);
    memset(x.data, 0, (size_t)(x.rows * x.stride) * sizeof *x.data);
    x.data[x.stride + 2] = NAN;
    assert_int_equal(mase_int_runner_run(w, 4, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "fc: sample 2 has a value that is no number"));
    x.data[x.stride + 2] = INFINITY; /* saturates, as the format does */
    assert_int_equal(mase_int_runner_run(w, 4, &err), MASE_OK);
    mase_int_runner_free(w);
    mase_int_program_free(e);
    stop(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_reference_s),
        cmocka_unit_test(codes_stay_within_their_bounds),
        cmocka_unit_test(fractions_are_rounded_by_every_direction),
        cmocka_unit_test(what_is_left_decides_ties),
        cmocka_unit_test(means_keep_what_is_left),
        cmocka_unit_test(what_does_not_fit_is_known),
        cmocka_unit_test(relu_cuts_scaled_codes),
        cmocka_unit_test(wide_sums_are_exact),
        cmocka_unit_test(a_bias_over_padding_stays),
        cmocka_unit_test(a_bias_without_products_is_not_rounded),
        cmocka_unit_test(a_bias_is_rounded_to_steps_of_formats),
        cmocka_unit_test(scaled_codes_are_rounded_in_float32),
        cmocka_unit_test(functions_between_roundings_are_tables),
        cmocka_unit_test(what_has_no_integers_is_refused_by_name),
        cmocka_unit_test(sums_beyond_62_bits_are_refused),
        cmocka_unit_test(weights_that_are_no_numbers_are_refused_beside_scales),
        cmocka_unit_test(a_sample_without_a_number_is_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
