/*
 * t_steps_quantised.c - a quantised call in a plan: operands rounded as the reference rounds them,
 * gradients as if they had not been; and what else steps promise beside their values: dropout's
 * masks, refusals.
 */
#include "formats.h"
#include "run_cases.h"
#include "step_case.h"

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

/* constant: parameters that are data, whose gradients are not compared. */
static const struct step_case cases[] = {
    { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(5) } },
    { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(3, 5) } },
    { "matmul", "torch.matmul(x, y)", .in = { S(3, 4), S(4, 2) } },
    { "matmul", "param w 4 3; torch.matmul(x, w)", .in = { S(2, 4) } },
    { "matmul", "buffer w 4 3; torch.matmul(x, w)", .in = { S(2, 4) } },
    { "bmm", "torch.bmm(x, y)", .in = { S(3, 4), S(4, 2) } },
    { "conv1d", "c = Conv1d(3, 4, 3); c(x)", .in = { S(3, 7) } },
    { "conv2d", "c = Conv2d(3, 8, 3, padding=1); c(x)", .in = { S(3, 4, 3) } },
    { "relu", "a = ReLU(); a(x)", .in = { S(9) } },
    { "add", "operator.add(x, y)", .in = { S(3, 4), S(1, 4) } },
    { "sub", "torch.sub(x, y)", .in = { S(4), S(4) } },
    { "mul", "param w 4; operator.mul(x, w)", .in = { S(3, 4) } },
    { "linear", "param w 4 5; param b 4; torch.nn.functional.linear(x, w, b)", .in = { S(5) } },
    { "linear", "param w 20; w.view(4, 5); torch.nn.functional.linear(x, view)", .in = { S(5) } },
    { "linear",
      "param w 4 5; param b 4; torch.neg(w); torch.neg(b); "
      "torch.nn.functional.linear(x, neg, neg_1)",
      .in = { S(3, 5) } },
    { "conv2d", "param w 3 2 2 2; torch.neg(w); torch.conv2d(x, neg)", .in = { S(2, 3, 3) } },
    { "linear", "fc = Linear(5, 4); param q 3 5; fc(q); operator.sub(x, fc)", .in = { S(3, 4) },
      .constant = true },
    { "add", "param w 4; param u 4; operator.add(w, u); operator.sub(x, add)", .in = { S(3, 4) },
      .constant = true },
    { "add",
      "torch.arange(4.0); torch.mul(arange, 0.3); operator.add(mul, mul); operator.sub(x, add)",
      .in = { S(3, 4) } },
    { "linear",
      "param w 4 5; param q 3 5; torch.neg(w); torch.nn.functional.linear(q, neg); "
      "operator.sub(x, linear)",
      .in = { S(3, 4) }, .constant = true },
    { "rnn_cell", "l = RNNCell(3, 4); l(x, y)", .in = { S(3), S(4) } },
    { "rnn", "l = RNN(3, 4, num_layers=2, batch_first=True); l(x); operator.getitem(l, 0)",
      .in = { S(5, 3) }, .constant = true },
    { "lstm", "l = LSTM(3, 4, batch_first=True); l(x); operator.getitem(l, 0)", .in = { S(5, 3) },
      .constant = true },
    { "lstm",
      "torch.transpose(x, 0, 1); l = LSTM(3, 4, bidirectional=True, proj_size=3, num_layers=2); "
      "l(transpose); operator.getitem(l, 1); operator.getitem(getitem, 1); "
      "torch.transpose(getitem_1, 0, 1)",
      .in = { S(5, 3) }, .constant = true },
    { "gru",
      "torch.transpose(x, 0, 1); torch.transpose(y, 0, 1); l = GRU(3, 4, bidirectional=True); "
      "l(transpose, transpose_1); operator.getitem(l, 0); operator.getitem(getitem, 2)",
      .in = { S(5, 3), S(2, 4) }, .constant = true },
    { 0 },
};

/* The first has steps of 1/2 for data and 1/4 for weights: odd multiples of 1/8 all move. Weights
 * are negated before and after rounding, so theirs must be odd functions. */
static const struct family {
    const char *data, *weight;
} families[] = {
    { "integer(4, 1)", "integer(4, 2)" },
    { "fixed(4, 1)", "fixed(4, 2)" },
    { "block_fp(3, 8, NA, [2])", "block_fp(3, 8, NA, [2, 3])" },
    { "block_fp(4, 4, 3, [-1])", "integer(4, 2)" },
    { "minifloat_denorm(5, 3, NA)", "minifloat_ieee(5, 3, NA)" },
    { "log(4, NA)", "minifloat_ieee(6, 2, NA)" },
    { "fixed_floor(4, 1)", "log(5, 3)" },
    { "block_minifloat(6, 3, 4, [2])", "block_minifloat(6, 3, 4, [2, 3])" },
    { "block_log(4, 4, [2])", "block_log(4, 4, [2, 3])" },
    { "binary(1, false, true)", "ternary(2, true, NA, NA, NA)" },
    { "logicnets(4, 1)", "binary(1, false, true)" },
    { "integer(4, 1)", "ternary(2, false, NA, NA, NA)" },
};
static const struct family *family = families;
/* All; where every instruction takes long the first ones, which have kernels, a block's among them.
 */
static const struct family *families_end(void)
{
    const size_t all = sizeof families / sizeof *families;
    return families + (getenv("MASE_QUICK") ? 3 : all);
}
#define EACH_FAMILY for (family = families; family < families_end(); family++)

static struct mase_quant formats(bool result)
{
    const struct mase_format *data = format_of(family->data), *weight = format_of(family->weight);
    struct mase_quant q = { .kind = data->kind, .operand = { data, weight, weight } };
    if (result)
        q.operand[MASE_DATA_OUT] = data;
    return q;
}

/* Blocks that must fill a tensor of three times eight values and its weights. */
static const struct {
    const char *data, *weight, *message;
} fills[] = {
    { "mxint(4, 4)", "mxint(8, 4, 0)", NULL },
    { "mxint(24, 4)", "mxint(2, 4)", NULL },
    { "mxfp(8, 2, 3)", "mxfp(16, 4, 3)", NULL },
    { "scale_integer(5)", "scale_integer(4)", NULL },
    { "mxint_hardware(6, 4, [3, 4])", "mxint_hardware(6, 4, [2, 8])", NULL },
    { "mxint(5, 4)", "mxint(8, 4)", "blocks of 5 values along dimension -1 do not fill" },
    { "mxint(48, 4)", "mxint(8, 4)", "do not fill samples of [3, 8]" },
    { "mxfp(4, 2, 3, 0)", "mxint(8, 4)", "which must not be that of samples" },
    { "mxint(8, 4)", "mxfp(3, 4, 3)", "fc (linear): weight: blocks of 3 values" },
    { "mxint_hardware(6, 4, [2, 4])", "mxint(8, 4)",
      "tiles of parallelism 2 x 4 do not fill samples of [3, 8]" },
};

static struct mase_node *call_of(struct running *r)
{
    const enum mase_op op = mase_op_find(r->c->op);
    for (struct mase_node *n = r->graph->first; n; n = n->next)
        if (n->op == op)
            return n;
    fail_msg("no %s", r->c->op);
    return NULL;
}

static void quantise(struct running *r, bool result)
{
    struct mase_node *n = call_of(r);
    struct mase_quant q = formats(result);
    if (result && mase_op_is_recurrent(n->op)) /* its states take no blocks */
        q.operand[MASE_DATA_OUT] = format_of("integer(4, 1)");
    if (mase_node_module(n))
        mase_module_set_quant(r->graph, mase_node_module(n), &q);
    else
        mase_node_set_quant(n, &q);
}

static void check_rows(struct running *r, struct mase_plan *p, const struct mase_tensor *want)
{
    const struct mase_lanes y = mase_plan_output(p);
    for (int64_t i = 0; i < mase_tensor_count(want); i++) {
        const double got = (double)y.data[i % y.rows * y.stride + i / y.rows];
        const double w = mase_tensor_get(want, i);
        if (!(fabs(got - w) <= 1e-5 * fmax(1.0, fabs(w))))
            fail_msg("%s: %s: [%lld]: got %.9g, want %.9g", r->c->op, r->c->text, (long long)i, got,
                     w);
    }
}

static void values_are_the_reference_s(void **state)
{
    (void)state;
    EACH_FAMILY
    for (const struct step_case *c = cases; c->op; c++)
        for (int mode = 0; mode < 4; mode++) {
            struct running r = start(c, 5);
            quantise(&r, mode & 2);
            const struct mase_tensor want = reference(&r, &r.arena);
            struct mase_plan *p = plan_of(&r, 5, mode & 1, 1);
            feed(&r, p, 5);
            assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
            check_rows(&r, p, &want);
            mase_plan_free(p);
            stop(&r);
        }
}

/* What becomes of a sample does not depend on the others, on how many there are, or on padding. */
static void samples_do_not_see_each_other(void **state)
{
    static const int batches[] = { 1, 5, 16, 17, 1000 };
    (void)state;
    EACH_FAMILY
    for (const struct step_case *c = cases; c->op; c++) {
        struct running r = start(c, 1000);
        quantise(&r, true);
        struct mase_plan *whole = plan_of(&r, 1000, false, 1);
        feed(&r, whole, 1000);
        assert_int_equal(mase_plan_forward(whole, &err), MASE_OK);
        const struct mase_lanes want = mase_plan_output(whole);
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            struct mase_plan *p = plan_of(&r, batches[b], false, 1);
            feed(&r, p, batches[b]);
            assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
            const struct mase_lanes y = mase_plan_output(p);
            for (int64_t row = 0; row < y.rows; row++)
                assert_memory_equal(y.data + row * y.stride, want.data + row * want.stride,
                                    (size_t)batches[b] * sizeof(float));
            mase_plan_free(p);
        }
        mase_plan_free(whole);
        stop(&r);
    }
}

/* New weights are rounded anew: by the next forward when training, else when they are read. */
static void weights_follow(void **state)
{
    (void)state;
    EACH_FAMILY
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases - 1); i++) {
        struct running r = start(&cases[i / 2], 5);
        quantise(&r, false);
        struct mase_plan *p = plan_of(&r, 5, i % 2, 1);
        struct mase_rng rng = mase_rng(8, MASE_STREAM_TEST, 1);
        mase_graph_each_param(r.graph, fill_param, &rng);
        const struct mase_tensor want = reference(&r, &r.arena);
        mase_plan_read_weights(p);
        feed(&r, p, 5);
        assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
        check_rows(&r, p, &want);
        mase_plan_free(p);
        stop(&r);
    }
}

static bool round_param(const char *full, struct mase_param *p, void *data)
{
    const struct mase_quant *q = data;
    (void)full;
    if (p->tensor.dtype == MASE_F32)
        mase_quantize(q->operand[MASE_WEIGHT], mase_f32(&p->tensor), mase_f32(&p->tensor),
                      &p->tensor.shape, MASE_ROLE_WEIGHT, MASE_SIGNED);
    return true;
}

/* Inputs and parameters of a float network to what the quantised one makes of them. */
static void round_operands(struct running *r)
{
    const struct mase_quant q = formats(false);
    const struct mase_node *n = call_of(r);
    const bool product = n->op == MASE_OP_matmul || n->op == MASE_OP_bmm;
    const bool data_param = n->op == MASE_OP_mul; /* its second operand counts as data */
    struct mase_quant params = q;
    if (data_param)
        params.operand[MASE_WEIGHT] = q.operand[MASE_DATA_IN];
    mase_graph_each_param(r->graph, round_param, &params);
    for (int i = 0; i < r->inputs; i++)
        mase_quantize(q.operand[product && i == 1 ? MASE_WEIGHT : MASE_DATA_IN],
                      mase_f32(&r->input[i].tensor), mase_f32(&r->input[i].tensor),
                      &r->input[i].tensor.shape,
                      product && i == 1 ? MASE_ROLE_WEIGHT : MASE_ROLE_DATA,
                      n->op == MASE_OP_relu ? MASE_UNSIGNED : MASE_SIGNED);
}

static void step(struct running *r, struct mase_plan *p)
{
    feed(r, p, 5);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    run_backward(p, 5);
}

/* Straight through: the gradient is the float network's at the rounded operands, to the bit. */
static void gradients_pass_straight(void **state)
{
    (void)state;
    EACH_FAMILY
    for (const struct step_case *c = cases; c->op; c++) {
        /* blocks of a view, or of a factor that gets more dimensions, are not those of the
         * parameter, which is what round_operands rounds */
        if (c->constant || (mase_format_has_blocks(format_of(family->weight)) &&
                            (strstr(c->text, "view(") || strstr(c->text, "matmul(x, w)"))))
            continue;
        struct running a = start(c, 5), b = start(c, 5);
        quantise(&a, false);
        round_operands(&b);
        struct mase_plan *p = plan_of(&a, 5, true, 1), *q = plan_of(&b, 5, true, 1);
        step(&a, p);
        step(&b, q);
        const struct mase_plan_params wp = mase_plan_params(p), wq = mase_plan_params(q);
        if (wp.n)
            assert_memory_equal(wp.g, wq.g, (size_t)wp.n * sizeof *wp.g);
        for (int i = 0; i < a.inputs; i++) {
            const struct mase_lanes g = mase_plan_input_gradient(p, i),
                                    h = mase_plan_input_gradient(q, i);
            if (memcmp(g.data, h.data, (size_t)(g.rows * g.stride) * sizeof *g.data))
                fail_msg("%s in %s and %s: input %d", c->text, family->data, family->weight, i);
        }
        mase_plan_free(p);
        mase_plan_free(q);
        stop(&a);
        stop(&b);
    }
}

/* What does not fit is refused by plan and reference alike; what fits is the same in both. */
static void blocks_fill_tensors_or_are_refused(void **state)
{
    static const struct step_case c = { "linear", "fc = Linear(8, 8); fc(x)", .in = { S(3, 8) } };
    (void)state;
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        for (int train = 0; train < 2; train++) {
            struct running r = start(&c, 5);
            struct mase_quant q = { .operand = { format_of(fills[i].data),
                                                 format_of(fills[i].weight) } };
            struct mase_values v;
            struct mase_plan *p = NULL;
            const struct mase_plan_opts o = {
                .batch = 5, .train = train, .inputs = r.input, .input_count = r.inputs
            };
            q.kind = q.operand[0]->kind;
            mase_module_set_quant(r.graph, mase_node_module(call_of(&r)), &q);
            if (!fills[i].message) {
                const struct mase_tensor want = reference(&r, &r.arena);
                must(mase_plan_new(&p, r.graph, &o, &err), &c);
                feed(&r, p, 5);
                assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
                check_rows(&r, p, &want);
                mase_plan_free(p);
            } else {
                assert_true(mase_run_reference(&v, &r.arena, r.graph, r.input, 1, &err));
                assert_non_null(strstr(err.msg, fills[i].message));
                err = (struct mase_err){ 0 };
                assert_true(mase_plan_new(&p, r.graph, &o, &err));
                if (!strstr(err.msg, fills[i].message))
                    fail_msg("%s", err.msg);
            }
            err = (struct mase_err){ 0 };
            stop(&r);
        }
}

/* ---- dropout ---- */

static const struct step_case drop = { "dropout", "d = Dropout(0.25); d(x)", .in = { S(40) } };
static const struct step_case drop_channels = { "dropout2d", "d = Dropout2d(0.25); d(x)",
                                                .in = { S(10, 2, 2) } };

/* The factor each value was multiplied by, and a check that the gradient is the same. */
static float *factors(struct running *r, struct mase_plan *p, uint64_t step)
{
    const struct mase_lanes x = mase_plan_input(p, 0), y = mase_plan_output(p);
    feed(r, p, r->samples);
    mase_plan_set_step(p, step);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    run_backward(p, r->samples);
    const struct mase_lanes g = mase_plan_input_gradient(p, 0);
    float *f = mase_new_array(&r->arena, float, (size_t)(x.rows * r->samples));
    for (int64_t i = 0; i < x.rows * r->samples; i++) {
        const int64_t at = i / r->samples * x.stride + i % r->samples;
        f[i] = y.data[at] / x.data[at];
        assert_true(f[i] == 0.0f || fabsf(f[i] - 1 / 0.75f) < 1e-6f);
        const float dy = functional(i / r->samples, i % r->samples);
        assert_true(fabsf(g.data[at] - f[i] * dy) < 1e-6f);
    }
    return f;
}

static void dropout_keeps_three_of_four(void **state)
{
    (void)state;
    struct running r = start(&drop, 50);
    struct mase_plan *p = plan_of(&r, 50, true, 1), *q = plan_of(&r, 64, true, 3);
    const float *first = factors(&r, p, 0), *shared = factors(&r, q, 0);
    assert_memory_equal(first, shared, 2000 * sizeof *first); /* neither threads nor room matter */
    int kept = 0;
    for (int i = 0; i < 2000; i++)
        kept += first[i] != 0.0f;
    assert_in_range(kept, 1500 - 97, 1500 + 97); /* five standard deviations */
    const float *second = factors(&r, p, 1);
    assert_memory_not_equal(first, second, 2000 * sizeof *first);
    assert_memory_equal(first, factors(&r, p, 0), 2000 * sizeof *first);
    mase_plan_free(p);
    mase_plan_free(q);
    stop(&r);
}

static void channels_drop_as_a_whole(void **state)
{
    (void)state;
    struct running r = start(&drop_channels, 50);
    struct mase_plan *p = plan_of(&r, 50, true, 2);
    const float *f = factors(&r, p, 0);
    for (int i = 0; i < 40 * 50; i++)
        assert_true(f[i] == f[i / 50 / 4 * 4 * 50 + i % 50]);
    mase_plan_free(p);
    stop(&r);
}

/* ---- refusals ---- */

static void what_a_plan_cannot_run_is_named(void **state)
{
    static const struct {
        struct step_case c;
        const char *message;
    } refused[] = {
        { { "flip", "torch.flip(x, (0,))", .in = { S(3) } },
          "flip: flip moves values between samples, which a plan cannot" },
        { { "softmax", "torch.softmax(x, 0)", .in = { S(3) } },
          "softmax: softmax: dim = 0 is the batch, which a plan keeps" },
        { { "setitem", "operator.setitem(x, (0, 1), 2.0); torch.neg(x)", .in = { S(3) } },
          "setitem: setitem takes a part of the samples of a batch, whose number is not known" },
        { { "mean", "torch.mean(x)", .in = { S(3) } }, NULL },
        { { "conv2d", "param w 1 2 3 3; c = Conv2d(2, 3, 2); c(w); operator.mul(x, c)",
            .in = { S(3, 2, 2) } },
          "c: a plan cannot run conv2d on parameters alone" },
        { { "linear", "torch.nn.functional.linear(y, x)", .in = { S(3), S(3) } }, NULL },
        { { "conv1d", "param w 2 3 2; x.sum(); operator.mul(w, sum_1); torch.conv1d(x, mul)",
            .in = { S(3, 4) } },
          "sum_1: sum mixes the samples of a batch, which a plan cannot" },
        { { "matmul", "x.t(); torch.matmul(x, t)", .in = { S(3) } },
          "matmul: its result mixes the samples of a batch, which a plan cannot run" },
        { { "div", "x.size(0); torch.div(x, size)", .in = { S(3) } },
          "div: 'other' of div depends on the number of samples, which a plan cannot" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct running r = start(&refused[i].c, 4);
        struct mase_plan *p;
        const struct mase_plan_opts o = { .batch = 4, .inputs = r.input, .input_count = r.inputs };
        assert_true(mase_plan_new(&p, r.graph, &o, &err) != MASE_OK);
        if (refused[i].message)
            assert_string_equal(err.msg, refused[i].message);
        stop(&r);
    }
}

/* Whatever lets one sample see another, or how many there are: where the batch is not a dimension
 * of its own that all steps leave alone, there is no plan. */
static const struct step_case mixing[] = {
    { "scaled_dot_product_attention", "torch.nn.functional.scaled_dot_product_attention(x, x, x)",
      .in = { S(4) } },
    { "scaled_dot_product_attention",
      "param q 2 3 4; torch.nn.functional.scaled_dot_product_attention(q, x, x)",
      .in = { S(3, 4) } },
    { "mean", "torch.mean(x, 0); operator.sub(x, mean)", .in = { S(3) } },
    { "mean", "x.mean((0, 1), True); operator.sub(x, mean)", .in = { S(3) } },
    { "sum", "torch.sum(x); operator.mul(x, sum_1)", .in = { S(3) } },
    { "sum", "x.sum(0, True); operator.mul(x, sum_1)", .in = { S(3) } },
    { "sum", "x.sum(-2); torch.exp(sum_1); operator.mul(x, exp)", .in = { S(3) } },
    { "max", "torch.max(x); operator.sub(x, max_1)", .in = { S(3) } },
    { "max", "torch.max(x, 0); operator.getitem(max_1, 0); operator.sub(x, getitem)",
      .in = { S(3) } },
    { "softmax", "torch.softmax(x, -2)", .in = { S(3) } },
    { "log_softmax", "torch.log_softmax(x, 0)", .in = { S(3) } },
    { "cumsum", "torch.cumsum(x, 0)", .in = { S(3) } },
    { "t", "x.t(); torch.matmul(x, t); torch.matmul(matmul, x)", .in = { S(3) } },
    { "matmul", "torch.matmul(x, y)", .in = { S(4, 4), S(4) } },
    { "gemm", "onnx.gemm(x, y, None, 1.0, 1.0, 1, 0); operator.matmul(x, gemm)",
      .in = { S(3), S(3) } },
    { "cat", "torch.cat((x, x), 0)", .in = { S(3) } },
    { "slice", "onnx.slice(x, 0, 0, 100, 1)", .in = { S(3) } },
    { "slice",
      "onnx.slice(x, 0, 0, 2, 1); onnx.slice(x, 0, 2, 1000, 1); torch.cat((slice_1, slice_2), 0)",
      .in = { S(3) } },
    { "setitem", "x.mul(1); operator.setitem(mul, 0, 1); torch.neg(mul)", .in = { S(3) } },
    { "split", "torch.split(x, 100, 0); operator.getitem(split, 0)", .in = { S(3) } },
    { "cat", "torch.cat((x, x), 0); torch.chunk(cat, 2, 0); operator.getitem(chunk, 1)",
      .in = { S(3) } },
    { "stack", "torch.stack((x, x), 0); torch.mean(stack, 1)", .in = { S(3) } },
    { "flatten", "torch.flatten(x); flatten.view(-1, 3)", .in = { S(3) } },
    { "flatten", "torch.flatten(x, 0, 1)", .in = { S(3, 2) } },
    { "permute", "x.permute(1, 0, 2); permute.mean(1)", .in = { S(3, 2) } },
    { "transpose", "x.transpose(0, 1)", .in = { S(4) } },
    { "flip", "torch.flip(x, (0, 1))", .in = { S(3) } },
    { "chunk",
      "torch.chunk(x, 5, 0); operator.getitem(chunk, 0); operator.getitem(getitem, 0); "
      "operator.add(x, getitem_1)",
      .in = { S(3) } },
    { "split",
      "torch.split(x, 2, 0); operator.getitem(split, 0); operator.getitem(getitem, 0); "
      "operator.add(x, getitem_1)",
      .in = { S(3) } },
    { "unbind", "torch.unbind(x); operator.getitem(unbind, 0); operator.add(x, getitem)",
      .in = { S(3) } },
    { "getitem", "operator.getitem(x, 0); operator.add(x, getitem)", .in = { S(3) } },
    { "repeat", "x.repeat(2, 1)", .in = { S(3) } },
    { "expand", "operator.getitem(x, 0); x.size(0); getitem.expand(size, 3)", .in = { S(3) } },
    { "div", "x.size(0); operator.truediv(x, size)", .in = { S(3) } },
    { "full", "x.size(0); torch.full((size, 3), size); operator.add(x, full)", .in = { S(3) } },
    { "clamp",
      "x.size(0); operator.sub(size, 9); operator.add(sub, 1); "
      "torch.clamp(x, add)",
      .in = { S(3) } },
    { "tensor", "x.size(0); torch.tensor(size); operator.mul(x, tensor)", .in = { S(3) } },
    { "slice", "x.size(0); operator.floordiv(size, size); onnx.slice(x, 1, floordiv, size)",
      .in = { S(30) } },
    { 0 },
};

static void what_mixes_samples_is_refused(void **state)
{
    (void)state;
    for (const struct step_case *c = mixing; c->op; c++)
        for (int i = 0; i < 6; i++) {
            const int64_t batch = (int64_t[]){ 1, 4, 10 }[i / 2];
            struct running r = start(c, 10);
            struct mase_plan *p;
            const struct mase_plan_opts o = {
                .batch = batch, .train = i % 2, .inputs = r.input, .input_count = r.inputs
            };
            if (!mase_plan_new(&p, r.graph, &o, &err))
                fail_msg("a plan for %lld samples: %s", (long long)batch, c->text);
            stop(&r);
        }
}

/* Rounding what cannot be used does not make it usable. */
static void a_rounded_value_is_refused_as_before(void **state)
{
    static const struct step_case c = {
        "mul", "param w 2 3 2; x.sum(); operator.mul(w, sum_1); torch.conv1d(x, mul)",
        .in = { S(3, 4) }
    };
    (void)state;
    EACH_FAMILY
    {
        struct running r = start(&c, 4);
        struct mase_plan *p;
        quantise(&r, false);
        const struct mase_plan_opts o = { .batch = 4, .inputs = r.input, .input_count = r.inputs };
        assert_true(mase_plan_new(&p, r.graph, &o, &err) != MASE_OK);
        assert_string_equal(err.msg,
                            "sum_1: sum mixes the samples of a batch, which a plan cannot");
        stop(&r);
    }
}

/* Blocks of (T, N, C) would reach from one sample to another, or be cut elsewhere than the
 * reference does. */
static void blocks_need_the_samples_first(void **state)
{
    static const struct step_case blocked[] = {
        { "linear",
          "torch.transpose(x, 0, 1); fc = Linear(4, 2); fc(transpose); torch.transpose(fc, 0, 1)",
          .in = { S(3, 4) } },
        { "mul", "torch.transpose(x, 0, 1); operator.mul(transpose, y); torch.transpose(mul, 0, 1)",
          .in = { S(3, 4), S(4) } },
        { "mul", "param p 3 1 4; operator.mul(x, p); torch.transpose(mul, 0, 1)", .in = { S(4) } },
    };
    (void)state;
    EACH_FAMILY
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++) {
        struct running r = start(&blocked[i], 4);
        struct mase_plan *p;
        quantise(&r, false);
        const struct mase_plan_opts o = { .batch = 4, .inputs = r.input, .input_count = r.inputs };
        const enum mase_status st = mase_plan_new(&p, r.graph, &o, &err);
        if (mase_format_has_blocks(format_of(family->data))) {
            assert_true(st &&
                        strstr(err.msg, "a format with blocks needs the samples in the first"));
        } else {
            must(st, &blocked[i]);
            const struct mase_tensor want = reference(&r, &r.arena);
            feed(&r, p, 4);
            must(mase_plan_forward(p, &err), &blocked[i]);
            check_rows(&r, p, &want);
            mase_plan_free(p);
        }
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_reference_s),
        cmocka_unit_test(samples_do_not_see_each_other),
        cmocka_unit_test(weights_follow),
        cmocka_unit_test(gradients_pass_straight),
        cmocka_unit_test(blocks_fill_tensors_or_are_refused),
        cmocka_unit_test(dropout_keeps_three_of_four),
        cmocka_unit_test(channels_drop_as_a_whole),
        cmocka_unit_test(what_a_plan_cannot_run_is_named),
        cmocka_unit_test(a_rounded_value_is_refused_as_before),
        cmocka_unit_test(blocks_need_the_samples_first),
        cmocka_unit_test(what_mixes_samples_is_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
