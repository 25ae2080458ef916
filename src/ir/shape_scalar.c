/*
 * shape_scalar.c - one function per element-wise operation, and Python's rules for plain numbers.
 *
 * Sizes are computed with numbers (x.size(1) // 2) and needed while shapes are inferred, so numbers
 * are folded here. Integers stay integers where Python keeps them; they are exact up to 2^53, far
 * beyond any length.
 */
#include <math.h>

#include "ir/shape.h"

/* What Python makes of integers: an integer again, a float, or a truth value. */
enum scalar_kind { KEEP, TO_INT, TO_FLOAT, TO_BOOL };

/* The functions that MAP writes out, and their derivatives. */
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
#include <mase/ops.def>

static double add(double x, double y)
{
    return x + y;
}

static double subtract(double x, double y)
{
    return x - y;
}

static double multiply(double x, double y)
{
    return x * y;
}

static double divide(double x, double y)
{
    return x / y;
}

/* By the remainder, as Python: x / y may round up to the next integer. */
static double floor_divide(double x, double y)
{
    if (y == 0.0 || isinf(x))
        return x / y;
    double rest = fmod(x, y);
    double quotient = rint((x - rest) / y);
    return rest != 0.0 && (rest < 0.0) != (y < 0.0) ? quotient - 1.0 : quotient;
}

static double equal(double x, double y)
{
    return x == y;
}

static double not_equal(double x, double y)
{
    return x != y;
}

static double greater_equal(double x, double y)
{
    return x >= y;
}

static double greater(double x, double y)
{
    return x > y;
}

static double less_equal(double x, double y)
{
    return x <= y;
}

static double less(double x, double y)
{
    return x < y;
}

/* NaN wins, as in PyTorch; fmax would drop it. */
static double maximum(double x, double y)
{
    return isnan(x) || x > y ? x : y;
}

static double minimum(double x, double y)
{
    return isnan(x) || x < y ? x : y;
}

static const struct {
    mase_unary_fn *f, *slope;
    enum scalar_kind kind;
} unary[MASE_OP_COUNT] = {
#define OP(...)
#define MAP(name, kind, value, slope) [MASE_OP_##name] = { value_##name, slope_##name, kind },
#include <mase/ops.def>
};

static const struct {
    mase_binary_fn *f;
    enum scalar_kind kind;
} binary[MASE_OP_COUNT] = {
    [MASE_OP_add] = { add, KEEP },
    [MASE_OP_sub] = { subtract, KEEP },
    [MASE_OP_mul] = { multiply, KEEP },
    [MASE_OP_div] = { divide, TO_FLOAT },
    [MASE_OP_floordiv] = { floor_divide, KEEP },
    [MASE_OP_pow] = { pow, KEEP },
    [MASE_OP_max] = { maximum, KEEP },
    [MASE_OP_min] = { minimum, KEEP },
    [MASE_OP_eq] = { equal, TO_BOOL },
    [MASE_OP_ne] = { not_equal, TO_BOOL },
    [MASE_OP_ge] = { greater_equal, TO_BOOL },
    [MASE_OP_gt] = { greater, TO_BOOL },
    [MASE_OP_le] = { less_equal, TO_BOOL },
    [MASE_OP_lt] = { less, TO_BOOL },
};

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

static enum mase_status set_number(struct mase_call *c, double v, enum scalar_kind kind,
                                   bool integers, struct mase_err *err)
{
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
    if ((op == MASE_OP_div || op == MASE_OP_floordiv) && y == 0.0)
        return mase_call_fail(c, err, "division of %s by zero", mase_show_arg(c, a));
    bool integers = is_integer(a) && is_integer(b) && !(op == MASE_OP_pow && y < 0.0);
    return set_number(c, binary[op].f(x, y), binary[op].kind, integers, err);
}
