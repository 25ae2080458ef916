/*
 * t_elementwise.c - every function of one or two values that ops.def writes out: its slopes are the
 * derivatives of its value, and a plan computes both as the row says, by a vector body or without.
 */
#include "run_cases.h"
#include "step_case.h"

#include "ir/shape/shape.h"

/* ---- slopes ---- */

/* On no corner, and with others for y on no quotient that is an integer. */
static const double points[] = {
    -2.3125, -1.3125, -0.6875, -0.1875, 0.3125, 0.8125, 1.4375, 2.6875
};
enum { POINTS = sizeof points / sizeof *points };

static double value_at(enum mase_op op, const double *x, int moved, double by)
{
    const double at[2] = { moved == 0 ? x[0] + by : x[0], moved == 1 ? x[1] + by : x[1] };
    return mase_unary_of(op) ? mase_unary_of(op)(at[0]) : mase_binary_of(op)(at[0], at[1]);
}

static double slope_at(enum mase_op op, const double *x, int operand)
{
    return mase_unary_of(op) ? mase_slope_of(op)(x[0]) : mase_partial_of(op, operand)(x[0], x[1]);
}

/* The five point rule: its error is h^4 f''''' / 30. */
static double difference(enum mase_op op, const double *x, int operand, double h)
{
    return (8 * (value_at(op, x, operand, h) - value_at(op, x, operand, -h)) -
            (value_at(op, x, operand, 2 * h) - value_at(op, x, operand, -2 * h))) /
           (12 * h);
}

static int check_slope(enum mase_op op, const double *x, int operand)
{
    const double want = difference(op, x, operand, 0x1p-12), got = slope_at(op, x, operand);
    if (!isfinite(want)) /* outside of its domain */
        return 0;
    if (!(fabs(got - want) <= 1e-6 * fmax(1.0, fabs(want))))
        fail_msg("%s(%g, %g): d/d %c: got %.9g, want %.9g", mase_ops[op].name, x[0], x[1],
                 "xy"[operand], got, want);
    assert_true(!mase_op_is_flat(op) || got == 0.0);
    return got != 0.0;
}

static void slopes_are_derivatives(void **state)
{
    (void)state;
    for (enum mase_op op = 0; op < MASE_OP_COUNT; op++) {
        const int operands = mase_unary_of(op) ? 1 : mase_binary_of(op) ? 2 : 0;
        int rising[2] = { 0 };
        for (int k = 0; k < operands; k++)
            for (int i = 0; i < POINTS * POINTS; i++)
                rising[k] += check_slope(
                    op, (double[]){ points[i / POINTS], 1.0371 * points[i % POINTS] }, k);
        const bool sign = op == MASE_OP_copysign; /* only its first operand has one */
        for (int k = 0; k < operands - sign; k++)
            if (!rising[k] && !mase_op_is_flat(op)) /* says so, then */
                fail_msg("%s has no slope anywhere", mase_ops[op].name);
    }
}

/* ---- plans ---- */

/* Quotients, ties, signs of zero, what overflows and what is not a number. */
static const float odd[] = { -2.5f, -1.0f,   -0.75f, -0.0f, 0.0f,      0.25f,    1.0f,
                             2.0f,  3.5f,    7.0f,   -7.0f, 1e-15f,    1e-25f,   1e30f,
                             88.6f, -100.0f, 100.0f, 3e38f, -INFINITY, INFINITY, NAN };
enum { ODD = sizeof odd / sizeof *odd, PAIRS = ODD * ODD };

static struct step_case case_of(enum mase_op op, char *text, size_t size)
{
    const char *const names = mase_ops[op].functions;
    const bool both = mase_binary_of(op);
    snprintf(text, size, "%.*s(x%s)", (int)strcspn(names, " "), names, both ? ", y" : "");
    return (struct step_case){ .op = mase_ops[op].name,
                               .text = text,
                               .in = { { 1, { 1 } }, { both, { 1 } } } };
}

/* least: below this size the error is not relative to it. */
static bool agree(double got, double want, double least)
{
    return (isnan(got) && isnan(want)) || got == want ||
           (isfinite(want) && fabs(got - want) <= 1e-5 * fmax(least, fabs(want)));
}

static void check_pair(const struct running *r, struct mase_plan *p, enum mase_op op, int64_t k)
{
    const double x[2] = { (double)odd[k / ODD], (double)odd[k % ODD] };
    const float dy = functional(0, k), want = (float)value_at(op, x, -1, 0.0);
    const float got = mase_plan_output(p).data[k];
    if (!agree((double)got, (double)want, 0x1p-100))
        fail_msg("%s of %g, %g: got %.9g, want %.9g", r->c->text, x[0], x[1], (double)got,
                 (double)want);
    for (int i = 0; i < r->inputs; i++) {
        const struct mase_lanes g = mase_plan_input_gradient(p, i);
        const double slope = g.rows ? (double)(float)slope_at(op, x, i) : 0.0;
        const double d = g.rows ? (double)g.data[k] : 0.0;
        if (!agree(d, g.rows ? (double)(float)((double)dy * slope) : 0.0, 0.1) && isfinite(x[0]) &&
            isfinite(x[1]) && isfinite((double)want) && isfinite(slope))
            fail_msg("%s of %g, %g: d/d %c: got %.9g, want %.9g", r->c->text, x[0], x[1], "xy"[i],
                     d, (double)dy * slope);
    }
}

/* Weights and bits are no plain operands: step_cases.c has these. */
static bool takes_any(enum mase_op op)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    return (sig->count < 2 || sig->param[1].role != 'w') &&
           strncmp(mase_ops[op].name, "bitwise", 7) != 0;
}

static void plans_compute_what_the_rows_say(void **state)
{
    (void)state;
    for (enum mase_op op = 0; op < MASE_OP_COUNT; op++) {
        char text[80];
        if ((!mase_unary_of(op) && !mase_binary_of(op)) || !takes_any(op))
            continue;
        const struct step_case c = case_of(op, text, sizeof text);
        struct running r = start(&c, PAIRS);
        for (int64_t k = 0; k < PAIRS; k++)
            for (int i = 0; i < r.inputs; i++)
                mase_tensor_set(&r.input[i].tensor, k, (double)odd[i ? k % ODD : k / ODD]);
        struct mase_plan *p = plan_of(&r, PAIRS, true, 1);
        feed(&r, p, PAIRS);
        assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
        run_backward(p, PAIRS);
        for (int64_t k = 0; k < PAIRS; k++)
            check_pair(&r, p, op, k);
        mase_plan_free(p);
        stop(&r);
    }
}

/* As the reference does (errors_run.txt). */
static void plans_refuse_integers_divided_by_zero(void **state)
{
    static const char *const calls[] = {
        "operator.floordiv(7, x)",
        "operator.mod(x, x)",
        "torch.fmod(x, x)",
        "torch.div(x, x, rounding_mode='trunc')",
    };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct step_case c = { "int", calls[i], .in = { { 1, { 1 } } }, .values = INDEX };
        struct running r = start(&c, 3);
        struct mase_plan *p = plan_of(&r, 3, false, 1);
        for (int zero = 0; zero < 2; zero++) {
            mase_plan_set_samples(p, 3);
            for (int k = 0; k < 3; k++)
                mase_plan_input(p, 0).data[k] = (float)(2 + k * (1 - 2 * zero)); /* 2 1 0 */
            assert_int_equal(mase_plan_forward(p, &err), zero ? MASE_EVALUE : MASE_OK);
            assert_true(!zero || strstr(err.msg, "division of integers by zero"));
        }
        mase_plan_free(p);
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(plans_compute_what_the_rows_say),
        cmocka_unit_test(plans_refuse_integers_divided_by_zero),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
