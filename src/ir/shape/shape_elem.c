/*
 * shape_elem.c - rules of operations that work value by value: what goes in comes out in the same
 * shape, or two operands are broadcast to one.
 */
#include "ir/shape/shape.h"

static enum mase_dtype float_of(enum mase_dtype t)
{
    return mase_dtype_is_float(t) ? t : MASE_F32;
}

/* The input's type and shape. Numbers are computed on the spot. */
enum mase_status mase_shape_same(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    if (!x)
        return mase_scalar_unary(c, err);
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

/* Result of float type: sqrt of an integer tensor is float. */
enum mase_status mase_shape_float_same(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    if (!x)
        return mase_scalar_unary(c, err);
    mase_call_result(c, float_of(x->dtype), &x->shape);
    return MASE_OK;
}

/* Layers that are defined on floats only. */
enum mase_status mase_shape_activation(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    const struct mase_arg *flag = mase_call_arg(c, "inplace");
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    /* torch._C._nn.elu_(x, 1.0, 1.67): only nn.functional's functions have a flag there. */
    if (flag && flag->kind != MASE_ARG_BOOL && flag->kind != MASE_ARG_INT)
        return mase_call_fail(c, err, "inplace must be True or False");
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_rrelu_slope(const struct mase_call *c, bool training, double *slope,
                                  struct mase_err *err)
{
    double lower, upper;
    if (mase_call_training(c, "training", training))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: rrelu: its random slopes in training are not available: write "
                         "LeakyReLU, or PReLU",
                         c->node->name);
    MASE_TRY(mase_call_float(c, &lower, "lower", err));
    MASE_TRY(mase_call_float(c, &upper, "upper", err));
    *slope = (lower + upper) / 2.0;
    return MASE_OK;
}

/* One slope, or one for each channel: [C], or [C, 1, ...] in a program. */
enum mase_status mase_shape_prelu(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *w;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &w, "weight", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    const struct mase_shape *s = &x->shape;
    const int64_t channels = s->rank > 1 ? s->dim[1] : 1, n = mase_tensor_count(w);
    const bool lies = w->shape.rank < 2 || (w->shape.rank == s->rank - 1 && w->shape.dim[0] == n);
    if (!lies || (n != 1 && n != channels))
        return mase_call_fail(c, err, "weight %s must have 1 value, or the %lld of the channels",
                              mase_show_shape(c, &w->shape), (long long)channels);
    mase_call_result(c, x->dtype, s);
    return MASE_OK;
}

enum mase_status mase_shape_glu(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    struct mase_shape s = x->shape;
    if (!s.rank)
        return mase_call_fail(c, err, "input must have a dimension to halve");
    MASE_TRY(mase_call_axis_arg(c, &axis, &s, "dim", err));
    if (s.dim[axis] % 2)
        return mase_call_fail(c, err, "dim %d of %s cannot be halved", axis,
                              mase_show_shape(c, &s));
    s.dim[axis] /= 2;
    mase_call_result(c, x->dtype, &s);
    return MASE_OK;
}

/* x x of truth values is counted. */
enum mase_status mase_shape_square(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    if (!x || x->dtype != MASE_DTYPE_BOOL)
        return mase_shape_same(c, err);
    mase_call_result(c, MASE_I64, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_nan_to_num(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    return mase_shape_same(c, err);
}

enum mase_status mase_shape_softmax2d(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (x->shape.rank != 3 && x->shape.rank != 4)
        return mase_call_fail(c, err, "input must have 3 or 4 dimensions, got %s",
                              mase_show_shape(c, &x->shape));
    return mase_shape_activation(c, err);
}

enum mase_status mase_shape_softmax(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    enum mase_dtype t = x->dtype;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    /* torch.softmax(x, 1, torch.float64): only nn.functional's has a third before the type. */
    if (mase_call_arg(c, "_stacklevel") && mase_call_arg(c, "_stacklevel")->kind == MASE_ARG_ATOM)
        MASE_TRY(mase_call_dtype(c, &t, "_stacklevel", err));
    if (!mase_dtype_is_float(t))
        return mase_call_float_tensor(c, x, "input", err);
    int axis;
    if (mase_arg_present(mase_call_arg(c, "dim")))
        MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    mase_call_result(c, t, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_cumsum(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    enum mase_dtype t = mase_dtype_is_float(x->dtype) ? x->dtype : MASE_I64;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    mase_call_result(c, t, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_flip(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dims", false, err));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

/* Widen shape by every tensor among the arguments. */
static enum mase_status broadcast_args(const struct mase_call *c, struct mase_shape *shape,
                                       const struct mase_arg *const *args, int n,
                                       struct mase_err *err)
{
    *shape = (struct mase_shape){ 0 };
    for (int i = 0; i < n; i++) {
        const struct mase_tensor *t = mase_arg_tensor(args[i]);
        if (t && !mase_shape_widen(shape, &t->shape))
            return mase_call_fail(c, err, "shapes %s and %s cannot be broadcast together",
                                  mase_show_shape(c, shape), mase_show_shape(c, &t->shape));
    }
    return MASE_OK;
}

static enum mase_status need_operand(const struct mase_call *c, const struct mase_arg *a, int i,
                                     struct mase_err *err)
{
    double number;
    if (mase_arg_tensor(a) || mase_arg_number(a, &number))
        return MASE_OK;
    return mase_call_fail(c, err, "%s must be a tensor or a number, got %s", c->sig->param[i].name,
                          mase_show_arg(c, a));
}

/* x.size()[:-1] + (4, 8): Python joins tuples with a plus. */
static bool join_tuples(struct mase_call *c)
{
    const struct mase_arg *a = &c->param[0], *b = &c->param[1];
    if (c->node->op != MASE_OP_add || !mase_arg_is_seq(a) || a->kind != b->kind)
        return false;
    struct mase_arg *items =
        mase_new_array(c->arena, struct mase_arg, (size_t)(a->count + b->count));
    for (int i = 0; i < a->count; i++)
        items[i] = a->items[i];
    for (int i = 0; i < b->count; i++)
        items[a->count + i] = b->items[i];
    c->result = mase_arg_seq(c->arena, a->kind, items, a->count + b->count);
    return true;
}

/* (1,) * (x.ndim - 1), in either order: Python repeats tuples. */
static bool repeat_tuple(struct mase_call *c)
{
    enum { MOST = 4096 };
    const bool swapped = mase_arg_is_seq(&c->param[1]);
    const struct mase_arg *a = &c->param[swapped], *times = &c->param[!swapped];
    if (c->node->op != MASE_OP_mul || !mase_arg_is_seq(a) || times->kind != MASE_ARG_INT ||
        times->i > MOST || a->count > MOST)
        return false;
    const int count = times->i > 0 ? a->count * (int)times->i : 0;
    struct mase_arg *items = mase_new_array(c->arena, struct mase_arg, (size_t)count);
    for (int i = 0; i < count; i++)
        items[i] = a->items[i % a->count];
    c->result = mase_arg_seq(c->arena, a->kind, items, count);
    return true;
}

static enum mase_status broadcast_type(const struct mase_call *c, enum mase_dtype *t,
                                       struct mase_err *err)
{
    enum mase_op op = c->node->op;
    if (mase_op_makes_float(op) && !mase_call_text(c, "rounding_mode", NULL))
        *t = float_of(*t);
    if (mase_op_divides(op) && *t == MASE_DTYPE_BOOL)
        return mase_call_fail(c, err, "booleans cannot be divided; make them integers first");
    double power;
    if (op == MASE_OP_pow && !mase_dtype_is_float(*t) && mase_arg_number(&c->param[1], &power) &&
        power < 0.0)
        return mase_call_fail(c, err, "integers cannot be raised to the negative power %g", power);
    if (op == MASE_OP_sub && *t == MASE_DTYPE_BOOL)
        return mase_call_fail(c, err, "booleans cannot be subtracted; use logical operations");
    return MASE_OK;
}

enum mase_status mase_shape_broadcast(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *args[] = { &c->param[0], &c->param[1] };
    if (join_tuples(c) || repeat_tuple(c))
        return MASE_OK;
    if (!mase_arg_tensor(args[0]) && !mase_arg_tensor(args[1]))
        return mase_scalar_binary(c, err);
    struct mase_shape shape;
    for (int i = 0; i < 2; i++)
        MASE_TRY(need_operand(c, args[i], i, err));
    MASE_TRY(broadcast_args(c, &shape, args, 2, err));
    enum mase_dtype t = mase_dtype_of_args(args, 2);
    MASE_TRY(broadcast_type(c, &t, err));
    mase_call_result(c, t, &shape);
    return MASE_OK;
}

/* Anything may be compared for equality: shapes, types, None. */
static bool compare_values(struct mase_call *c)
{
    enum mase_op op = c->node->op;
    double number;
    bool plain = mase_arg_number(&c->param[0], &number) && mase_arg_number(&c->param[1], &number);
    if (plain || (op != MASE_OP_eq && op != MASE_OP_ne))
        return false;
    c->result = mase_arg_bool(mase_arg_equal(&c->param[0], &c->param[1]) == (op == MASE_OP_eq));
    return true;
}

enum mase_status mase_shape_compare(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *args[] = { &c->param[0], &c->param[1] };
    if (!mase_arg_tensor(args[0]) && !mase_arg_tensor(args[1]))
        return compare_values(c) ? MASE_OK : mase_scalar_binary(c, err);
    struct mase_shape shape;
    for (int i = 0; i < 2; i++)
        MASE_TRY(need_operand(c, args[i], i, err));
    MASE_TRY(broadcast_args(c, &shape, args, 2, err));
    mase_call_result(c, MASE_DTYPE_BOOL, &shape);
    return MASE_OK;
}

enum mase_status mase_shape_bool_same(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    if (x)
        mase_call_result(c, MASE_DTYPE_BOOL, &x->shape);
    else
        c->result = mase_arg_bool(!mase_arg_truthy(&c->param[0]));
    return MASE_OK;
}

enum mase_status mase_shape_invert(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *a = &c->param[0];
    if (a->kind == MASE_ARG_INT || a->kind == MASE_ARG_BOOL) {
        c->result = mase_arg_int(~(a->kind == MASE_ARG_INT ? a->i : (int64_t)a->b));
        return MASE_OK;
    }
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (mase_dtype_is_float(x->dtype))
        return mase_call_fail(c, err, "input must be integers or booleans, got %s",
                              mase_show_arg(c, a));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

static enum mase_status need_mask(const struct mase_call *c, const struct mase_tensor *mask,
                                  const char *name, struct mase_err *err)
{
    if (mask->dtype == MASE_DTYPE_BOOL || mask->dtype == MASE_U8)
        return MASE_OK;
    return mase_call_fail(c, err, "%s must be booleans, got %s%s", name,
                          mase_dtypes[mask->dtype].name, mase_show_shape(c, &mask->shape));
}

enum mase_status mase_shape_where(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *condition;
    const struct mase_arg *args[] = { mase_call_arg(c, "condition"), mase_call_arg(c, "input"),
                                      mase_call_arg(c, "other") };
    MASE_TRY(mase_call_need(c, &condition, "condition", err));
    MASE_TRY(need_mask(c, condition, "condition", err));
    for (int i = 1; i < 3; i++)
        MASE_TRY(need_operand(c, args[i], i, err));
    struct mase_shape shape;
    MASE_TRY(broadcast_args(c, &shape, args, 3, err));
    mase_call_result(c, mase_dtype_of_args(args + 1, 2), &shape);
    return MASE_OK;
}

enum mase_status mase_shape_masked_fill(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *mask;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &mask, "mask", err));
    MASE_TRY(need_mask(c, mask, "mask", err));
    MASE_TRY(need_operand(c, &c->param[2], 2, err));
    const struct mase_tensor *value = mase_arg_tensor(&c->param[2]);
    if (value && value->shape.rank)
        return mase_call_fail(c, err,
                              "value must be a number or a tensor without dimensions, got %s",
                              mase_show_arg(c, &c->param[2]));
    struct mase_shape shape;
    const struct mase_arg *args[] = { &c->param[0], &c->param[1] };
    MASE_TRY(broadcast_args(c, &shape, args, 2, err));
    mase_call_result(c, x->dtype, &shape);
    return MASE_OK;
}

enum mase_status mase_shape_clamp(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    const struct mase_arg *args[3] = { &c->param[0] };
    int n = 1;
    for (int i = 1; i < c->sig->count; i++) {
        if (!mase_arg_present(&c->param[i]))
            continue;
        MASE_TRY(need_operand(c, &c->param[i], i, err));
        args[n++] = &c->param[i];
    }
    if (n == 1)
        return mase_call_fail(c, err, "at least one of min and max must be given");
    struct mase_shape shape;
    MASE_TRY(broadcast_args(c, &shape, args, n, err));
    mase_call_result(c, mase_dtype_of_args(args, n), &shape);
    return MASE_OK;
}

/* lerp, addcmul, addcdiv: three operands, of which the last of lerp may be a number. */
enum mase_status mase_shape_weighted(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *args[3];
    struct mase_shape shape;
    for (int i = 0; i < 3; i++) {
        args[i] = &c->param[i];
        MASE_TRY(need_operand(c, args[i], i, err));
        const struct mase_tensor *t = mase_arg_tensor(args[i]);
        if (!t && (i < 2 || c->node->op != MASE_OP_lerp))
            return mase_call_fail(c, err, "%s must be a tensor, got %s", c->sig->param[i].name,
                                  mase_show_arg(c, args[i]));
        if (t)
            MASE_TRY(mase_call_float_tensor(c, t, c->sig->param[i].name, err));
    }
    MASE_TRY(broadcast_args(c, &shape, args, 3, err));
    mase_call_result(c, mase_dtype_of_args(args, 3), &shape);
    return MASE_OK;
}

/* For integers and booleans. */
enum mase_status mase_shape_bitwise(struct mase_call *c, struct mase_err *err)
{
    for (int i = 0; i < 2; i++) {
        const struct mase_tensor *t = mase_arg_tensor(&c->param[i]);
        if (t ? mase_dtype_is_float(t->dtype) : c->param[i].kind == MASE_ARG_FLOAT)
            return mase_call_fail(c, err, "%s must be integers or booleans, got %s",
                                  c->sig->param[i].name, mase_show_arg(c, &c->param[i]));
    }
    return mase_shape_broadcast(c, err);
}

/* An assertion: a condition that is known already is checked here, a tensor when it has values. */
enum mase_status mase_shape_nothing(struct mase_call *c, struct mase_err *err)
{
    c->result = mase_arg_none();
    if (!mase_arg_tensor(&c->param[0]) && !mase_arg_truthy(&c->param[0]))
        return mase_call_fail(c, err, "assertion failed: %s",
                              mase_call_text(c, "message", "no message"));
    return MASE_OK;
}
