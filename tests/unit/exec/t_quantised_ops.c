/*
 * t_quantised_ops.c - every operation that can be quantised, by its row: the plan computes what the
 * reference does, gradients pass straight through, weights are rounded when they change and not
 * before, signs are where they are needed alone.
 */
#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "formats.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "run_cases.h"
#include "step_case.h"

enum { SAMPLES = 5, OUT_STEPS = 32 };

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

/* Operations whose cases among step_cases compute with something else than inputs and parameters.
 */
static const struct step_case more[] = {
    { "embedding", "e = Embedding(4, 3); e(x)", .in = { S(5) }, .values = INDEX },
    { "lstm_cell", "l = LSTMCell(3, 4); l(x); operator.getitem(l, 0)", .in = { S(3) } },
    { "gru_cell", "l = GRUCell(3, 4); l(x)", .in = { S(3) } },
    { "tanh", "a = Tanh(); a(x)", .in = { S(9) } },
    { "relu6", "torch.nn.functional.relu6(x)", .in = { S(9) } },
    { "hardtanh", "a = Hardtanh(-1.0, 1.5); a(x)", .in = { S(9) } },
    { "hardswish", "a = Hardswish(); a(x)", .in = { S(9) } },
    { "hardsigmoid", "a = Hardsigmoid(); a(x)", .in = { S(9) } },
    { "batch_norm",
      "buffer m 3; buffer var 3; param w 3; param b 3; "
      "torch.nn.functional.batch_norm(x, m, var, w, b)",
      .in = { S(3, 4) } },
    { "layer_norm", "param w 4; torch.nn.functional.layer_norm(x, (4,), w)", .in = { S(3, 4) } },
    { "group_norm", "param w 4; torch.nn.functional.group_norm(x, 2, w)", .in = { S(4, 3) } },
    { "cat", "param w 5 2; torch.relu(x); torch.cat((relu, y), 1); torch.stack((cat, cat), 1)",
      .in = { S(2), S(3) } },
    { "avg_pool2d", "torch.relu(x); torch.nn.functional.avg_pool2d(relu, 2)",
      .in = { S(2, 4, 4) } },
    { 0 },
};

/* The first has steps of 1/2 and 1/4: odd multiples of 1/8 all move. */
static const struct family {
    const char *data, *weight;
} families[] = {
    { "integer(4, 1)", "integer(4, 2)" },
    { "block_fp(3, 8, NA, [2])", "block_fp(3, 8, NA, [2])" },
    { "binary(1, false, true)", "ternary(2, true, NA, NA, NA)" },
    { "minifloat_denorm(5, 3, NA)", "log(4, NA)" },
};
static const struct family *family;
static bool quantised[MASE_OP_COUNT]; /* operations that a test has looked at */

static struct mase_node *call_of(const struct running *r)
{
    const enum mase_op op = mase_op_find(r->c->op);
    for (struct mase_node *n = r->graph->first; n; n = n->next)
        if (n->op == op && (n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_MODULE))
            return n;
    return NULL;
}

/* Called on its own result: a sum that is not exact is rounded again, to something else. */
static bool is_called_twice(const struct mase_node *n)
{
    int calls = 0;
    for (const struct mase_node *o = n->graph->first; o; o = o->next)
        calls += o->kind == MASE_CALL_MODULE && mase_streq(o->target, n->target);
    return calls > 1;
}

static void quantise(struct mase_graph *g, struct mase_node *n, bool result)
{
    const struct mase_format *data = format_of(family->data), *weight = format_of(family->weight);
    struct mase_quant q = { .kind = data->kind, .operand = { data, weight, weight } };
    if (result)
        q.operand[MASE_DATA_OUT] = format_of("integer(8, 5)"); /* steps of 1 / OUT_STEPS */
    if (mase_node_module(n))
        mase_module_set_quant(g, mase_node_module(n), &q);
    else
        mase_node_set_quant(n, &q);
}

/* NULL: the samples are not first, where blocks cannot be cut. */
static struct mase_plan *try_plan(struct running *r, bool train)
{
    struct mase_plan *p = NULL;
    const struct mase_plan_opts o = { .batch = SAMPLES,
                                      .train = train,
                                      .input_gradients = true,
                                      .inputs = r->input,
                                      .input_count = r->inputs };
    err = (struct mase_err){ 0 };
    const enum mase_status st = mase_plan_new(&p, r->graph, &o, &err);
    if (st && strstr(err.msg, "a format with blocks needs the samples in the first dimension"))
        return NULL;
    must(st, r->c);
    return p;
}

typedef void check_fn(struct running *r, struct mase_node *n);

static void on_list(const struct step_case *c, check_fn *check)
{
    for (; c->op; c++) {
        struct running r = start(c, SAMPLES);
        struct mase_node *n = call_of(&r);
        if (n && mase_ops[n->op].quantisable && !is_called_twice(n))
            check(&r, n);
        stop(&r);
    }
}

/* Each family, and no operation left out. */
static void on_every_operation(check_fn *check)
{
    const size_t count = getenv("MASE_QUICK") ? 2 : sizeof families / sizeof *families;
    for (family = families; family < families + count; family++) {
        memset(quantised, 0, sizeof quantised);
        on_list(step_cases, check);
        on_list(more, check);
        for (int op = 0; op < MASE_OP_COUNT; op++)
            if (mase_ops[op].quantisable && !quantised[op])
                fail_msg("%s in %s is not looked at", mase_ops[op].name, family->data);
    }
}

/* ---- values ---- */

/* Sums in another order may fall to the other side of a tie of the result's format. */
static bool at_a_tie(double unrounded)
{
    const double steps = unrounded * OUT_STEPS;
    return fabs(steps - floor(steps) - 0.5) < 1e-3;
}

static bool agree(double got, double want, double unrounded)
{
    if (fabs(got - want) <= 1e-5 * fmax(1.0, fabs(want)) || (isnan(got) && isnan(want)) ||
        got == want)
        return true;
    return fabs(got - want) == 1.0 / OUT_STEPS && at_a_tie(unrounded);
}

static void check_values(struct running *r, struct mase_node *n)
{
    struct mase_tensor unrounded = { 0 };
    for (int mode = 0; mode < 4; mode++) {
        quantise(r->graph, n, mode & 2);
        struct mase_plan *p = try_plan(r, mode & 1);
        if (!p)
            return;
        const struct mase_tensor want = reference(r, &r->arena);
        unrounded = mode & 2 ? unrounded : want;
        feed(r, p, SAMPLES);
        must(mase_plan_forward(p, &err), r->c);
        const struct mase_lanes y = mase_plan_output(p);
        for (int64_t i = 0; i < mase_tensor_count(&want); i++) {
            const double got = (double)y.data[i % y.rows * y.stride + i / y.rows];
            const double w = mase_tensor_get(&want, i);
            if (!agree(got, w, mase_tensor_get(&unrounded, i)))
                fail_msg("%s in %s, mode %d: [%lld]: got %.9g, want %.9g", r->c->text, family->data,
                         mode, (long long)i, got, w);
        }
        mase_plan_free(p);
        quantised[n->op] = true;
    }
}

static void plans_compute_what_the_reference_does(void **state)
{
    (void)state;
    on_every_operation(check_values);
}

/* ---- every format ---- */

static const struct mase_format *proposed; /* for all operands */

/* What a format cannot do, it cannot do in the reference or in a plan; what it can is the same in
 * both. */
static void check_format(struct running *r, struct mase_node *n)
{
    struct mase_quant q = { .kind = proposed->kind, .operand = { proposed, proposed, proposed } };
    struct mase_plan *p = NULL;
    struct mase_values v;
    const struct mase_plan_opts o = { .batch = SAMPLES,
                                      .inputs = r->input,
                                      .input_count = r->inputs };
    if (quantised[n->op]) /* one case is enough */
        return;
    if (mase_node_module(n))
        mase_module_set_quant(r->graph, mase_node_module(n), &q);
    else
        mase_node_set_quant(n, &q);
    const bool runs = !mase_run_reference(&v, &r->arena, r->graph, r->input, r->inputs, &err);
    const bool plans = !mase_plan_new(&p, r->graph, &o, &err);
    quantised[n->op] = true;
    if (!runs && plans)
        fail_msg("%s in %s: a plan without a reference", r->c->text, mase_format_name(proposed));
    if (!plans && runs && !strstr(err.msg, "needs the samples in the first dimension"))
        fail_msg("%s in %s: %s", r->c->text, mase_format_name(proposed), err.msg);
    if (!plans)
        return;
    const struct mase_tensor *want = mase_run_output(&v, r->graph)->tensor;
    feed(r, p, SAMPLES);
    must(mase_plan_forward(p, &err), r->c);
    const struct mase_lanes y = mase_plan_output(p);
    for (int64_t i = 0; i < mase_tensor_count(want); i++) {
        const double got = (double)y.data[i % y.rows * y.stride + i / y.rows];
        if (!agree(got, mase_tensor_get(want, i), 0))
            fail_msg("%s in %s: [%lld]: got %.9g, want %.9g", r->c->text,
                     mase_format_name(proposed), (long long)i, got, mase_tensor_get(want, i));
    }
    mase_plan_free(p);
}

static void every_format_on_every_operation(void **state)
{
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        struct mase_str text = { 0 };
        format_proposed(&text, mase_quants[k]);
        proposed = format_of(mase_str_text(&text));
        memset(quantised, mase_format_learned(proposed) > 0, sizeof quantised); /* by the pass */
        on_list(more, check_format); /* the plain ones first */
        on_list(step_cases, check_format);
        for (int op = 0; op < MASE_OP_COUNT; op++)
            if (mase_ops[op].quantisable && !quantised[op])
                fail_msg("%s in %s is not looked at", mase_ops[op].name, mase_str_text(&text));
        mase_str_release(&text);
    }
}

/* ---- gradients ---- */

static bool mentions(const struct mase_arg *a, const struct mase_node *x)
{
    bool found = a->kind == MASE_ARG_NODE && a->node == x;
    for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
        found |= mentions(&a->items[k], x);
    return found;
}

/* The mark under which n uses x; 0: there is none, several, or another user. */
static char mark_of(const struct mase_node *n, const struct mase_node *x)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    char mark = 0;
    bool one = x->user_count == 1;
    for (int i = 0; i < n->args.count && i < sig->count; i++)
        if (mentions(&n->args.items[i], x)) {
            one &= !mark || mark == sig->param[i].role;
            mark = sig->param[i].role;
        }
    return one ? mark : 0;
}

static int largest_rank(const struct running *r)
{
    int rank = 0;
    for (int i = 0; i < r->inputs; i++)
        rank = r->input[i].tensor.shape.rank > rank ? r->input[i].tensor.shape.rank : rank;
    return rank;
}

static void round_tensor(struct mase_tensor *t, struct mase_rounding how, int rank)
{
    const struct mase_shape shape =
        mase_shape_to_rank(&t->shape, rank > t->shape.rank ? rank : t->shape.rank);
    if (t->dtype == MASE_F32 && how.format)
        mase_quantize(how.format, mase_f32(t), mase_f32(t), &shape, how.role, how.sign);
}

/* Inputs and parameters of the float network b to what n of the quantised one makes of them. False:
 * n computes with something else. */
static bool round_operands(struct running *b, const struct mase_node *n)
{
    struct mase_module *m = mase_node_module(call_of(b));
    for (int i = 0; i < n->input_count; i++) {
        struct mase_node *x = n->inputs[i];
        const char mark = mark_of(n, x);
        const int rank = mase_mark_is_data(mark) ? largest_rank(b) : 0;
        struct mase_tensor *t = NULL;
        for (int k = 0; k < b->inputs; k++)
            if (x->kind == MASE_PLACEHOLDER && mase_streq(x->name, b->input[k].name))
                t = &b->input[k].tensor;
        if (x->kind == MASE_GET_ATTR)
            t = &mase_graph_attr(b->graph, x->target)->tensor;
        if (!t || !mark)
            return false;
        round_tensor(t, mase_mark_rounding(n, mark), rank);
    }
    for (int i = 0; m && i < m->param_count; i++)
        round_tensor(&m->params[i].tensor, mase_mark_rounding(n, mase_param_mark(m, &m->params[i])),
                     0);
    return n->input_count > 0;
}

/* Straight through: the gradient is the float network's at the rounded operands, to the bit. */
static void check_gradients(struct running *a, struct mase_node *n)
{
    struct running b = start(a->c, SAMPLES);
    quantise(a->graph, n, false);
    if (mase_op_is_recurrent(n->op)) {
        quantised[n->op] = true; /* its states, too, at every step: t_steps_quantised.c */
    } else if (round_operands(&b, n) && n->user_count == 1 && n->users[0]->kind == MASE_OUTPUT) {
        struct mase_plan *p = try_plan(a, true), *q = p ? try_plan(&b, true) : NULL;
        struct mase_plan *const both[] = { p, q };
        for (int i = 0; q && i < 2; i++) {
            feed(i ? &b : a, both[i], SAMPLES);
            must(mase_plan_forward(both[i], &err), a->c);
            run_backward(both[i], SAMPLES);
        }
        const struct mase_plan_params wp = q ? mase_plan_params(p) : (struct mase_plan_params){ 0 };
        if (wp.n && memcmp(wp.g, mase_plan_params(q).g, (size_t)wp.n * sizeof *wp.g))
            fail_msg("%s in %s: gradients of parameters", a->c->text, family->data);
        for (int i = 0; q && i < a->inputs; i++) {
            const struct mase_lanes g = mase_plan_input_gradient(p, i),
                                    h = mase_plan_input_gradient(q, i);
            if (g.data && memcmp(g.data, h.data, (size_t)(g.rows * g.stride) * sizeof *g.data))
                fail_msg("%s in %s: gradient of input %d", a->c->text, family->data, i);
        }
        quantised[n->op] |= q != NULL;
        mase_plan_free(p);
        mase_plan_free(q);
    }
    stop(&b);
}

static void gradients_pass_straight(void **state)
{
    (void)state;
    on_every_operation(check_gradients);
}

/* ---- weights ---- */

/* What a plan has rounded stays as it is, spoilt or not, until weights are read again. */
static void check_once(struct running *r, struct mase_node *n)
{
    quantise(r->graph, n, false);
    struct mase_plan *p = try_plan(r, false);
    for (struct mase_rounded *w = p ? p->rounded : NULL; w; w = w->next) {
        w->weight.x[0] = 0.3f; /* not a value of any format here */
        for (int batch = 0; batch < 2; batch++) {
            feed(r, p, SAMPLES);
            must(mase_plan_forward(p, &err), r->c);
        }
        if (w->weight.x[0] != 0.3f)
            fail_msg("%s: a weight is rounded with every batch", r->c->text);
    }
    if (p)
        mase_plan_read_weights(p);
    for (struct mase_rounded *w = p ? p->rounded : NULL; w; w = w->next)
        assert_true(w->weight.x[0] != 0.3f);
    mase_plan_free(p);
    quantised[n->op] = true;
}

static void weights_are_rounded_once(void **state)
{
    (void)state;
    family = families;
    on_list(step_cases, check_once);
    on_list(more, check_once);
}

/* ---- signs ---- */

/* What a node's data and result are, with any format. */
static const struct {
    const char *op, *text;
    enum mase_sign in, out;
} signs[] = {
    { "relu", "torch.relu(x)", MASE_UNSIGNED, MASE_UNSIGNED },
    { "relu6", "r = ReLU6(); r(x)", MASE_UNSIGNED, MASE_UNSIGNED },
    { "gelu", "torch.nn.functional.gelu(x)", MASE_SIGNED, MASE_SIGNED },
    { "sigmoid", "torch.sigmoid(x)", MASE_SIGNED, MASE_UNSIGNED },
    { "softmax", "torch.softmax(x, 1)", MASE_SIGNED, MASE_UNSIGNED },
    { "mean", "torch.mean(x, 1)", MASE_SIGNED, MASE_SIGNED },
    { "mean", "torch.relu(x); relu.view(-1, 2, 2); torch.mean(view, 1)", MASE_UNSIGNED,
      MASE_UNSIGNED },
    { "mean", "torch.relu(x); relu.size(0); relu.view(size, 2, 2); torch.mean(view, 1)",
      MASE_UNSIGNED, MASE_UNSIGNED },
    { "mean", "torch.relu(x); d = Dropout(0.5); d(relu); torch.mean(input=d, dim=1)", MASE_UNSIGNED,
      MASE_UNSIGNED },
    { "cat", "torch.relu(x); torch.sigmoid(x); torch.cat((relu, sigmoid), 1)", MASE_UNSIGNED,
      MASE_UNSIGNED },
    { "cat", "torch.relu(x); torch.cat([relu, x], 1)", MASE_SIGNED, MASE_SIGNED },
    { "cat", "torch.relu(x); torch.neg(relu); torch.cat([neg], 1)", MASE_SIGNED, MASE_SIGNED },
    /* written over */
    { "mean", "torch.relu(x); relu.sub_(1); torch.mean(relu, 1)", MASE_SIGNED, MASE_SIGNED },
    { "mean", "torch.relu(x); relu.relu_(); torch.mean(relu, 1)", MASE_UNSIGNED, MASE_UNSIGNED },
    { "linear", "torch.relu(x); fc = Linear(4, 2); fc(relu)", MASE_SIGNED, MASE_SIGNED },
    { "avg_pool2d", "torch.abs(x); abs_1.view(-1, 1, 2, 2); p = AvgPool2d(2); p(view)",
      MASE_UNSIGNED, MASE_UNSIGNED },
    { "avg_pool2d",
      "torch.abs(x); abs_1.view(-1, 1, 2, 2); p = AvgPool2d(2, divisor_override=-4); p(view)",
      MASE_UNSIGNED, MASE_SIGNED },
};

static void formats_have_signs_where_values_do(void **state)
{
    (void)state;
    family = families;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const struct step_case c = { .op = signs[i].op, .text = signs[i].text };
        struct mase_graph *g = build_case(&c);
        const struct running r = { .c = &c, .graph = g };
        struct mase_node *n = call_of(&r);
        quantise(g, n, true);
        if (mase_named_rounding(n, "data_in_0").sign != signs[i].in ||
            mase_named_rounding(n, "data_in_1").sign != signs[i].in ||
            mase_result_rounding(n).sign != signs[i].out)
            fail_msg("%s", signs[i].text);
        mase_graph_free(g);
    }
}

/* A format that looks at values has no sign for data that has none, wherever it stands; factors
 * that are parameters may be negative. */
static void int_goes_by_values(void **state)
{
    static const struct step_case c[] = {
        { .op = "linear", .text = "torch.relu(x); fc = Linear(4, 2); fc(relu)" },
        { .op = "mul", .text = "torch.relu(x); param w 4; operator.mul(relu, w)" },
    };
    struct mase_str text = { 0 };
    (void)state;
    format_proposed(&text, mase_quants[MASE_QUANT_int]);
    family = &(const struct family){ mase_str_text(&text), mase_str_text(&text) };
    for (int i = 0; i < 2; i++) {
        struct mase_graph *g = build_case(&c[i]);
        const struct running r = { .c = &c[i], .graph = g };
        quantise(g, call_of(&r), false);
        assert_int_equal(mase_named_rounding(call_of(&r), "data_in_0").sign,
                         i ? MASE_SIGNED : MASE_UNSIGNED);
        mase_graph_free(g);
    }
    mase_str_release(&text);
}

/* A chain in which each result stands twice is as long as it is, not two to the power of it. */
static void a_long_chain_is_soon_known(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new("chain");
    mase_build_input(g, "x", NULL);
    struct mase_node *n = text_call(g, "torch.relu(x)");
    for (int i = 0; i < 60; i++)
        n = text_call(g, "torch.cat((%s, %s), 1)", n->name, n->name);
    assert_false(mase_node_never_negative(n));
    mase_graph_free(g);
}

/* The rule of sign.c rests on it. */
static void no_format_makes_a_negative_number(void **state)
{
    static const float x[] = { 0.0f, 1e-30f, 0.01f, 0.3f, 1.0f, 7.7f, 1e6f, 3e38f };
    enum { COUNT = sizeof x / sizeof *x };
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        struct mase_str text = { 0 };
        format_proposed(&text, mase_quants[k]);
        const struct mase_format *f = format_of(mase_str_text(&text));
        for (int one = 0; one <= COUNT; one++) {
            float q[32] = { 0 };
            const struct mase_shape shape = { 2, { 1, 32 } };
            for (int i = 0; i < 32; i++)
                q[i] = one == COUNT ? x[i % COUNT] : x[one];
            if (!mase_format_fits(f, &shape, MASE_ROLE_DATA, &err))
                mase_quantize(f, q, q, &shape, MASE_ROLE_DATA, MASE_SIGNED);
            for (int i = 0; i < 32; i++)
                if (q[i] < 0)
                    fail_msg("%s makes %g of %g", mase_str_text(&text), q[i], x[one % COUNT]);
        }
        mase_str_release(&text);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_compute_what_the_reference_does),
        cmocka_unit_test(every_format_on_every_operation),
        cmocka_unit_test(gradients_pass_straight),
        cmocka_unit_test(weights_are_rounded_once),
        cmocka_unit_test(formats_have_signs_where_values_do),
        cmocka_unit_test(int_goes_by_values),
        cmocka_unit_test(a_long_chain_is_soon_known),
        cmocka_unit_test(no_format_makes_a_negative_number),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
