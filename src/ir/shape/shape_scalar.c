/*
 * shape_scalar.c - one function per element-wise operation, and Python's rules for plain numbers.
 *
 * Sizes are computed with numbers (x.size(1) // 2) and needed while shapes are inferred, so numbers
 * are folded here. Integers stay integers where Python keeps them; they are exact up to 2^53, far
 * beyond any length.
 */
#include <math.h>

#include "ir/shape/shape.h"

/* The result type for integers, with flags of functions of two values (ops.def). */
enum { KEEP, TO_INT, TO_FLOAT, TO_BOOL, NUMBERS = 3, DIVIDES = 4, FLAT = 8 };

/* ---- what is too long for a row ---- */

/* By the remainder, as Python: x / y may round up to the next integer. */
static double floor_quotient(double x, double y)
{
    if (y == 0.0)
        return x / y;
    const double rest = fmod(x, y);
    const double quotient = (x - rest) / y - (rest != 0.0 && (rest < 0.0) != (y < 0.0) ? 1.0 : 0.0);
    return quotient == 0.0 ? copysign(0.0, x / y) : rint(quotient);
}

static double floor_remainder(double x, double y)
{
    const double rest = fmod(x, y);
    return rest != 0.0 && (rest < 0.0) != (y < 0.0) ? rest + y : rest;
}

/* The part of a maximum's gradient that x gets. */
static double won(double x, double y)
{
    return x > y ? 1.0 : x == y ? 0.5 : 0.0;
}

/* x / (x x + y y), 0 in the origin. */
static double over_square(double x, double y)
{
    return x == 0.0 && y == 0.0 ? 0.0 : x / (x * x + y * y);
}

static double sine_quotient(double x)
{
    const double a = 3.141592653589793 * x;
    return x == 0.0 ? 1.0 : sin(a) / a;
}

/* From a series for the middle and the ends, and two steps of Newton. */
static double inverse_erf(double x)
{
    if (!(x > -1.0 && x < 1.0))
        return x == 1.0 ? INFINITY : x == -1.0 ? -INFINITY : NAN;
    const double w = log1p(-x * x), a = 2.0 / (3.141592653589793 * 0.147) + w / 2.0;
    double y = copysign(sqrt(sqrt(a * a - w / 0.147) - a), x);
    for (int i = 0; i < 4; i++) {
        const double off = fabs(x) < 0.9 ? erf(y) - x
                           : x > 0.0     ? 1.0 - x - erfc(y)
                                         : erfc(-y) - 1.0 - x;
        y -= off / (1.1283791670955126 * exp(-y * y));
    }
    return y;
}

/* The derivative of lgamma, and its own: the asymptotic series from 10 on, below it by what one
 * step adds, and of negative numbers by reflection. */
static double psi(double x)
{
    if (x <= 0.0 && x == floor(x))
        return x == 0.0 ? copysign(INFINITY, -x) : NAN;
    if (x < 0.0)
        return psi(1.0 - x) - 3.141592653589793 / tan(3.141592653589793 * (x - floor(x)));
    double sum = 0.0;
    while (x < 10.0) {
        sum -= 1.0 / x;
        x += 1.0;
    }
    const double z = 1.0 / (x * x);
    return sum + log(x) - 0.5 / x -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z / 132))));
}

static double psi_slope(double x)
{
    if (x <= 0.0 && x == floor(x))
        return INFINITY;
    if (x < 0.0) {
        const double s = sin(3.141592653589793 * (x - floor(x)));
        return 9.869604401089358 / (s * s) - psi_slope(1.0 - x);
    }
    double sum = 0.0;
    while (x < 10.0) {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    const double z = 1.0 / (x * x);
    return sum + 1.0 / x + z / 2.0 +
           z / x * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * 5 / 66))));
}

/* An integer's bits; what is none has no bits, and no rule lets it come here. */
static int64_t bits(double x)
{
    return fabs(x) <= 0x1p53 ? (int64_t)x : 0;
}

/* ---- the functions that MAP and ZIP write out, and their derivatives ---- */

#define OP(...)
#define MAP(name, kind, value, slope)    \
    static double value_##name(double x) \
    {                                    \
        return value;                    \
    }                                    \
    static double slope_##name(double x) \
    {                                    \
        (void)x;                         \
        return slope;                    \
    }
#define ZIP(name, kind, value, slope, slope_y)       \
    static double value_##name(double x, double y)   \
    {                                                \
        return value;                                \
    }                                                \
    static double slope_##name(double x, double y)   \
    {                                                \
        (void)x, (void)y;                            \
        return slope;                                \
    }                                                \
    static double slope_y_##name(double x, double y) \
    {                                                \
        (void)x, (void)y;                            \
        return slope_y;                              \
    }
#include <mase/ops.def>

static const struct {
    mase_unary_fn *f, *slope;
    int kind;
} unary[MASE_OP_COUNT] = {
#define OP(...)
#define MAP(name, kind, value, slope) [MASE_OP_##name] = { value_##name, slope_##name, kind },
#include <mase/ops.def>
};

static const struct {
    mase_binary_fn *f, *slope[2];
    int kind;
} binary[MASE_OP_COUNT] = {
#define OP(...)
#define ZIP(name, kind, value, slope, slope_y) \
    [MASE_OP_##name] = { value_##name, { slope_##name, slope_y_##name }, kind },
#include <mase/ops.def>
};

static int kind_of(enum mase_op op)
{
    return unary[op].kind | binary[op].kind;
}

bool mase_op_divides(enum mase_op op)
{
    return kind_of(op) & DIVIDES;
}

bool mase_op_makes_float(enum mase_op op)
{
    return (kind_of(op) & NUMBERS) == TO_FLOAT;
}

bool mase_op_is_flat(enum mase_op op)
{
    const int numbers = kind_of(op) & NUMBERS;
    return numbers == TO_INT || numbers == TO_BOOL || kind_of(op) & FLAT;
}

mase_unary_fn *mase_unary_of(enum mase_op op)
{
    return unary[op].f;
}

mase_unary_fn *mase_slope_of(enum mase_op op)
{
    return unary[op].slope;
}

mase_binary_fn *mase_binary_of(enum mase_op op)
{
    return binary[op].f;
}

mase_binary_fn *mase_partial_of(enum mase_op op, int operand)
{
    return binary[op].slope[operand];
}

static enum mase_status set_number(struct mase_call *c, double v, int kind, bool integers,
                                   struct mase_err *err)
{
    kind &= NUMBERS;
    if (kind == TO_BOOL) {
        c->result = mase_arg_bool(v != 0.0);
        return MASE_OK;
    }
    bool to_int = kind == TO_INT || (kind == KEEP && integers);
    if (!to_int) {
        c->result = mase_arg_float(v);
        return MASE_OK;
    }
    if (!(fabs(v) <= 0x1p53))
        return mase_call_fail(c, err, "%g is too large for an integer here", v);
    c->result = mase_arg_int((int64_t)v);
    return MASE_OK;
}

static bool is_integer(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_INT || a->kind == MASE_ARG_BOOL;
}

enum mase_status mase_scalar_unary(struct mase_call *c, struct mase_err *err)
{
    enum mase_op op = c->node->op;
    double x;
    if (!unary[op].f || !mase_arg_number(&c->param[0], &x))
        return mase_call_fail(c, err, "needs a tensor, got %s", mase_show_arg(c, &c->param[0]));
    return set_number(c, unary[op].f(x), unary[op].kind, is_integer(&c->param[0]), err);
}

enum mase_status mase_scalar_binary(struct mase_call *c, struct mase_err *err)
{
    enum mase_op op = c->node->op;
    const struct mase_arg *a = &c->param[0], *b = &c->param[1];
    double x, y;
    if (!binary[op].f || !mase_arg_number(a, &x) || !mase_arg_number(b, &y))
        return mase_call_fail(c, err, "needs tensors or numbers, got %s and %s",
                              mase_show_arg(c, a), mase_show_arg(c, b));
    if (mase_op_divides(op) && y == 0.0)
        return mase_call_fail(c, err, "division of %s by zero", mase_show_arg(c, a));
    bool integers = is_integer(a) && is_integer(b) && !(op == MASE_OP_pow && y < 0.0);
    return set_number(c, binary[op].f(x, y), binary[op].kind, integers, err);
}
