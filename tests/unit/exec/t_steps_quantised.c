/*
 * t_steps_quantised.c - a quantised call in a plan: operands rounded as the reference rounds them,
 * gradients as if they had not been; and what else steps promise beside their values: dropout's
 * masks, refusals.
 */
#include "step_case.h"

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

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
    { 0 },
};

/* Steps of 1/2 for data and 1/4 for weights: numbers that are odd multiples of 1/8 all move. */
static struct mase_quant formats(bool result)
{
    const struct mase_format data = { MASE_QUANT_integer, { 4, 1 } },
                             weight = { MASE_QUANT_integer, { 4, 2 } };
    struct mase_quant q = { .kind = MASE_QUANT_integer, .operand = { data, weight, weight } };
    if (result)
        q.operand[MASE_DATA_OUT] = data;
    return q;
}

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
    const struct mase_quant q = formats(result);
    struct mase_node *n = call_of(r);
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
    for (const struct step_case *c = cases; c->op; c++)
        for (int mode = 0; mode < 4; mode++) {
            struct running r = start(c, 5);
            quantise(&r, mode & 2);
            const struct mase_tensor want = reference(&r, &r.arena);
            struct mase_plan *p = plan_of(&r, 5, mode & 1, 1);
            feed(&r, p, 5);
            mase_plan_forward(p);
            check_rows(&r, p, &want);
            mase_plan_free(p);
            stop(&r);
        }
}

/* New weights are rounded anew: by the next forward when training, else when they are read. */
static void weights_follow(void **state)
{
    (void)state;
    for (int train = 0; train < 2; train++) {
        struct running r = start(&cases[0], 5);
        quantise(&r, false);
        struct mase_plan *p = plan_of(&r, 5, train, 1);
        struct mase_rng rng = mase_rng(8, MASE_STREAM_TEST, 1);
        mase_graph_each_param(r.graph, fill_param, &rng);
        const struct mase_tensor want = reference(&r, &r.arena);
        mase_plan_read_weights(p);
        feed(&r, p, 5);
        mase_plan_forward(p);
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
        mase_quantize(&q->operand[MASE_WEIGHT], mase_f32(&p->tensor), mase_f32(&p->tensor),
                      mase_tensor_count(&p->tensor), MASE_SIGNED);
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
        mase_quantize(&q.operand[product && i == 1 ? MASE_WEIGHT : MASE_DATA_IN],
                      mase_f32(&r->input[i].tensor), mase_f32(&r->input[i].tensor),
                      mase_tensor_count(&r->input[i].tensor),
                      n->op == MASE_OP_relu ? MASE_UNSIGNED : MASE_SIGNED);
}

static void step(struct running *r, struct mase_plan *p)
{
    feed(r, p, 5);
    mase_plan_forward(p);
    run_backward(p, 5);
}

/* Straight through: the gradient is the float network's at the rounded operands, to the bit. */
static void gradients_pass_straight(void **state)
{
    (void)state;
    for (const struct step_case *c = cases; c->op; c++) {
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
            assert_memory_equal(g.data, h.data, (size_t)(g.rows * g.stride) * sizeof *g.data);
        }
        mase_plan_free(p);
        mase_plan_free(q);
        stop(&a);
        stop(&b);
    }
}

/* ---- dropout ---- */

static const struct step_case drop = { "dropout", "d = Dropout(0.25); d(x)", .in = { S(40) } };
static const struct step_case drop_channels = { "dropout2d", "d = Dropout2d(0.25); d(x)",
                                                .in = { S(10, 2, 2) } };

/* The factor each value was multiplied by, and a check that the gradient is the same. */
static float *factors(struct running *r, struct mase_plan *p)
{
    const struct mase_lanes x = mase_plan_input(p, 0), y = mase_plan_output(p);
    feed(r, p, r->samples);
    mase_plan_forward(p);
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
    const float *first = factors(&r, p), *shared = factors(&r, q);
    assert_memory_equal(first, shared, 2000 * sizeof *first); /* neither threads nor room matter */
    int kept = 0;
    for (int i = 0; i < 2000; i++)
        kept += first[i] != 0.0f;
    assert_in_range(kept, 1500 - 97, 1500 + 97); /* five standard deviations */
    const float *second = factors(&r, p);
    assert_memory_not_equal(first, second, 2000 * sizeof *first);
    mase_plan_set_step(p, 0);
    assert_memory_equal(first, factors(&r, p), 2000 * sizeof *first);
    mase_plan_free(p);
    mase_plan_free(q);
    stop(&r);
}

static void channels_drop_as_a_whole(void **state)
{
    (void)state;
    struct running r = start(&drop_channels, 50);
    struct mase_plan *p = plan_of(&r, 50, true, 2);
    const float *f = factors(&r, p);
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
          "setitem: a plan cannot run setitem" },
        { { "mean", "torch.mean(x)", .in = { S(3) } }, NULL },
        { { "add", "param w 3; param v 3; operator.add(w, v); operator.mul(x, add)",
            .in = { S(3) } },
          "mul: mul: an operand is computed from parameters alone, which a plan cannot" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct running r = start(&refused[i].c, 4);
        struct mase_plan *p;
        const struct mase_plan_opts o = { .batch = 4, .inputs = r.input, .input_count = 1 };
        assert_true(mase_plan_new(&p, r.graph, &o, &err) != MASE_OK);
        if (refused[i].message)
            assert_string_equal(err.msg, refused[i].message);
        stop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_reference_s),
        cmocka_unit_test(weights_follow),
        cmocka_unit_test(gradients_pass_straight),
        cmocka_unit_test(dropout_keeps_three_of_four),
        cmocka_unit_test(channels_drop_as_a_whole),
        cmocka_unit_test(what_a_plan_cannot_run_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
