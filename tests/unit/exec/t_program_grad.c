/*
 * t_program_grad.c - the gradient of a program is a program: every operation's cases are lowered as
 * for training and differentiated; the result is verified, written and read back, and run by the
 * interpreter beside the plan's backward and beside differences of the forward program.
 *
 * Differences go by the five point rule of t_steps.c, with its tolerance: the forward program
 * rounds every value to float32, which moves a difference by at most 48 * 2^-24 of the functional's
 * absolute terms for each of two nodes in a row; 1e-4 is for what the rule cuts off. Rows of
 * ops.def that write a function out are functions of double: there h is 2^-12, and the tolerance
 * 1e-6.
 */
#include "grad_case.h"
#include "run_cases.h"

#include "ir/shape/shape.h"

/* What step_cases has not: layers that differ in training from what the reference of graphs runs,
 * and paths that no gradient takes. */
static const struct step_case more[] = {
    { "counted_batch_norm", "n = BatchNorm1d(3); n(x)", .in = { { 1, { 3 } } } },
    { "counted_batch_norm", "c = Conv2d(2, 3, 2); c(x); n = BatchNorm2d(3); n(c); torch.tanh(n)",
      .in = { { 3, { 2, 3, 3 } } } },
    { "detach", "fc = Linear(3, 3); fc(x); fc.detach(); operator.mul(detach, x)",
      .in = { { 1, { 3 } } }, .constant = true },
    { 0 },
};
static const struct step_case *const lists[] = { step_cases, more };

typedef void case_fn(const struct step_case *c, void *data);

static void each_case(case_fn *fn, void *data)
{
    for (int l = 0; l < 2; l++)
        for (const struct step_case *c = lists[l]; c->op; c++)
            fn(c, data);
}

/* ---- beside plans ---- */

/* The numbers of cases are multiples of 1/16 below 4: sums of a few products of them are exact in
 * float32, in any order. So gradients have the same bits where nothing else is computed. */
static bool is_exact(const struct mase_program *forward)
{
    static const enum mase_prim prims[] = {
        MASE_PRIM_dot,    MASE_PRIM_conv,   MASE_PRIM_reshape, MASE_PRIM_permute,
        MASE_PRIM_expand, MASE_PRIM_flip,   MASE_PRIM_join,    MASE_PRIM_rearrange,
        MASE_PRIM_pad,    MASE_PRIM_cut,    MASE_PRIM_gather,  MASE_PRIM_update,
        MASE_PRIM_cast,   MASE_PRIM_select, MASE_PRIM_copy,
    };
    static const enum mase_op ops[] = {
        MASE_OP_relu, MASE_OP_neg, MASE_OP_abs, MASE_OP_clamp, MASE_OP_add,
        MASE_OP_sub,  MASE_OP_max, MASE_OP_min, MASE_OP_sum,   MASE_OP_cumsum,
    };
    for (const struct mase_instr *i = forward->first; i; i = i->next) {
        bool exact = false;
        for (size_t k = 0; k < sizeof prims / sizeof *prims; k++)
            exact |= i->prim == prims[k];
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            exact |= i->op == ops[k];
        if (!exact)
            return false;
    }
    return true;
}

static void as_the_plan(const struct step_case *c, void *data)
{
    int *exact = data;
    struct subject s = differentiate(start(c, 3));
    must_hold(&s, s.joint);
    must_read_back(&s);
    const struct mase_arg both = gradients(&s);
    const struct comparing k = compare_with_plan(&s, &both);
    if (is_exact(s.forward) && k.equal != k.values)
        refuse(&s, "its gradients have other bits than the plan's");
    *exact += is_exact(s.forward);
    release(&s);
}

static void every_operation_as_the_plan(void **state)
{
    int exact = 0;
    (void)state;
    each_case(as_the_plan, &exact);
    assert_true(exact > 150);
}

/* ---- beside differences ---- */

static const double H = 1.0 / 32;

/* The functional of the forward program, and the sum of its absolute terms. */
static double functional_of(const struct subject *s, double *size)
{
    struct mase_arena a = { 0 };
    struct mase_arg y;
    double sum = 0;
    *size = 0;
    must(mase_program_run(&y, &a, s->forward, s->r.input, s->r.inputs, &err), s->r.c);
    const int64_t rows = mase_tensor_count(y.tensor) / s->r.samples;
    for (int64_t i = 0; i < mase_tensor_count(y.tensor); i++) {
        const double term = (double)functional(i % rows, i / rows) * mase_tensor_get(y.tensor, i);
        sum += term;
        *size += fabs(term);
    }
    mase_arena_release(&a);
    return sum;
}

static void check_difference(const struct subject *s, struct mase_tensor *t, int64_t i,
                             const struct mase_tensor *g, const char *what)
{
    const double x = mase_tensor_get(t, i), got = g ? mase_tensor_get(g, i) : 0.0;
    double f[4], size = 0;
    for (int k = 0; k < 4; k++) {
        mase_tensor_set(t, i, x + (k < 2 ? k - 2 : k - 1) * H);
        f[k] = functional_of(s, &size);
    }
    mase_tensor_set(t, i, x);
    const double want = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * H);
    const double tolerance = 2 * 1.5 / H * 0x1p-24 * size + 1e-4 * fmax(1.0, fabs(want));
    if (fabs(got - want) <= tolerance)
        return;
    report(s);
    fail_msg("%s: %s: d/d %s[%lld]: got %.9g, want %.9g +- %.2g", s->r.c->op, s->r.c->text, what,
             (long long)i, got, want, tolerance);
}

struct walk {
    const struct subject *s;
    const struct mase_arg *params;
};

static bool check_param(const char *full, struct mase_param *param, void *data)
{
    const struct walk *w = data;
    for (int64_t i = 0; i < mase_tensor_count(&param->tensor); i++)
        if (!param->tied && mase_param_is_trained(param))
            check_difference(w->s, &param->tensor, i, find(w->params, full), full);
    return true;
}

static void as_differences(const struct step_case *c, void *data)
{
    (void)data;
    if (c->constant) /* differences see what PyTorch does not pass on */
        return;
    struct subject s = differentiate(start(c, 3));
    const struct mase_arg both = gradients(&s);
    struct walk w = { &s, &both.items[0] };
    mase_graph_each_param(s.r.graph, check_param, &w);
    for (int n = 0; n < s.r.inputs; n++) {
        struct mase_tensor *t = &s.r.input[n].tensor;
        const struct mase_tensor *g = find(&both.items[1], s.r.input[n].name);
        for (int64_t i = 0; t->dtype == MASE_F32 && i < mase_tensor_count(t); i++)
            check_difference(&s, t, i, g, s.r.input[n].name);
    }
    release(&s);
}

static void every_operation_as_differences(void **state)
{
    (void)state;
    each_case(as_differences, NULL);
}

/* ---- rows of one or two values ---- */

/* On no corner, and with others for y on no quotient that is an integer. */
static const double points[] = {
    -2.3125, -1.3125, -0.6875, -0.1875, 0.3125, 0.8125, 1.4375, 2.6875
};
enum { POINTS = sizeof points / sizeof *points };

static double value_at(enum mase_op op, double x, double y)
{
    return mase_unary_of(op) ? mase_unary_of(op)(x) : mase_binary_of(op)(x, y);
}

/* By x, or by y. */
static double difference(enum mase_op op, double x, double y, bool second)
{
    const double h = 0x1p-12, dx = second ? 0 : h, dy = second ? h : 0;
    return (8 * (value_at(op, x + dx, y + dy) - value_at(op, x - dx, y - dy)) -
            (value_at(op, x + 2 * dx, y + 2 * dy) - value_at(op, x - 2 * dx, y - 2 * dy))) /
           (12 * h);
}

/* Weights and bits are no plain operands; copysign has no slope by y. */
static bool is_plain(enum mase_op op, bool second)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    return !(second && op == MASE_OP_copysign) && (sig->count < 2 || sig->param[1].role != 'w') &&
           strncmp(mase_ops[op].name, "bitwise", 7) != 0;
}

static void check_row(enum mase_op op, bool two)
{
    char text[80];
    const char *const names = mase_ops[op].functions;
    snprintf(text, sizeof text, "%.*s(x%s)", (int)strcspn(names, " "), names, two ? ", y" : "");
    const struct step_case c = { .op = mase_ops[op].name,
                                 .text = text,
                                 .in = { { 1, { 1 } }, { two, { 1 } } } };
    struct running r = start(&c, POINTS * POINTS);
    for (int64_t k = 0; k < POINTS * POINTS; k++)
        for (int i = 0; i < r.inputs; i++)
            mase_tensor_set(&r.input[i].tensor, k,
                            (double)(float)(i ? 1.0371 * points[k % POINTS] : points[k / POINTS]));
    struct subject s = differentiate(r);
    must_hold(&s, s.joint);
    must_read_back(&s);
    const struct mase_arg both = gradients(&s);
    for (int64_t k = 0; k < POINTS * POINTS * r.inputs; k++) {
        const int64_t at = k / r.inputs;
        const bool second = k % r.inputs;
        const struct mase_tensor *g = find(&both.items[1], r.input[second].name);
        const double x = mase_tensor_get(&r.input[0].tensor, at);
        const double y = two ? mase_tensor_get(&r.input[1].tensor, at) : 0.0;
        const double want = (double)functional(0, at) * difference(op, x, y, second);
        const double got = g ? mase_tensor_get(g, at) : 0.0;
        if (isfinite(want) && is_plain(op, second) && !mase_op_is_flat(op) &&
            !(fabs(got - want) <= 1e-6 * fmax(1.0, fabs(want))))
            fail_msg("%s of %g, %g: d/d %c: got %.9g, want %.9g", text, x, y, "xy"[second], got,
                     want);
        assert_true(!mase_op_is_flat(op) || got == 0.0);
    }
    release(&s);
}

static void every_row_as_differences(void **state)
{
    int rows = 0;
    (void)state;
    for (enum mase_op op = 0; op < MASE_OP_COUNT; op++) {
        const bool two = mase_binary_of(op);
        if ((!mase_unary_of(op) && !two) || !is_plain(op, false))
            continue;
        check_row(op, two);
        rows++;
    }
    assert_true(rows > 70);
}

/* Corners, and what is large or no number: a slope is one-sided there, the plan's. */
static const float odd[] = { -6.0f, -3.0f, -1.0f, -0.5f, -0.0f,  0.0f,   0.5f,  1.0f,
                             1.5f,  3.0f,  6.0f,  20.0f, 100.0f, 1e-20f, 1e20f, NAN };

static bool is_activation(const struct mase_program *p)
{
    return p->first && !p->first->next && p->first->prim == MASE_PRIM_map;
}

static void corners_as_the_plan(void **state)
{
    int activations = 0;
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, sizeof odd / sizeof *odd);
        const int64_t each = mase_tensor_count(&r.input[0].tensor) / r.samples;
        for (int64_t i = 0; i < r.samples * each && r.input[0].tensor.dtype == MASE_F32; i++)
            mase_f32(&r.input[0].tensor)[i] = odd[i / each];
        struct subject s = differentiate(r);
        if (is_activation(s.forward)) {
            const struct mase_arg both = gradients(&s);
            struct mase_plan *p = plan_of(&s.r, s.r.samples, true, 1);
            feed(&s.r, p, s.r.samples);
            assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
            run_backward(p, s.r.samples);
            const struct mase_lanes g = mase_plan_input_gradient(p, 0);
            for (int64_t i = 0; g.rows && i < s.r.samples * each; i++) {
                const double got = mase_tensor_get(find(&both.items[1], "x"), i);
                const double want = (double)g.data[i % each * g.stride + i / each];
                if (!(fabs(got - want) <= 1e-5) && isfinite(got) && isfinite(want))
                    fail_msg("%s of %g: the program %.9g, the plan %.9g", c->text,
                             (double)odd[i / each], got, want);
            }
            mase_plan_free(p);
            activations++;
        }
        release(&s);
    }
    assert_true(activations > 30);
}

/* ---- no operation is left out ---- */

/* clang-format off */
static const struct {
    enum mase_op op;
    const char *step;
} rows[MASE_OP_COUNT] = {
    [MASE_OP_unknown] = { .op = MASE_OP_unknown
#define OP(name, ...) }, [MASE_OP_##name] = { .op = MASE_OP_##name
#define STEP(kind) , .step = #kind
#include <mase/ops.def>
    }
};
/* clang-format on */

/* What passes a gradient in a plan has a rule, and what does not says so. */
static void every_step_has_a_rule(void **state)
{
    (void)state;
    for (enum mase_op op = 0; op < MASE_OP_COUNT; op++)
        if (rows[op].step && !mase_op_has_gradient(op) && !mase_op_stops_gradient(op))
            fail_msg("%s has a step, but no GRAD in ops.def", mase_ops[op].name);
}

static void note_operations(const struct step_case *c, void *data)
{
    bool *seen = data;
    struct subject s = differentiate(start(c, 3));
    for (const struct mase_instr *i = s.forward->first; i; i = i->next)
        seen[i->op] = true;
    release(&s);
}

/* Every rule is held to plans and differences: by a case, or by its row. Dropout's zeros are
 * random. */
static void every_rule_is_tested(void **state)
{
    bool seen[MASE_OP_COUNT] = { [MASE_OP_dropout] = true,
                                 [MASE_OP_dropout1d] = true,
                                 [MASE_OP_dropout2d] = true,
                                 [MASE_OP_dropout3d] = true };
    (void)state;
    each_case(note_operations, seen);
    for (enum mase_op op = 0; op < MASE_OP_COUNT; op++)
        if (mase_op_has_gradient(op) && !seen[op] && !mase_unary_of(op) && !mase_binary_of(op))
            fail_msg("no case of step_cases.c has the gradient of %s", mase_ops[op].name);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_as_the_plan),
        cmocka_unit_test(every_operation_as_differences),
        cmocka_unit_test(every_row_as_differences),
        cmocka_unit_test(corners_as_the_plan),
        cmocka_unit_test(every_step_has_a_rule),
        cmocka_unit_test(every_rule_is_tested),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
