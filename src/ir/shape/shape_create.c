/*
 * shape_create.c - rules of conversions between types and of tensors made from numbers.
 */
#include <float.h>
#include <math.h>

#include "ir/shape/shape.h"

/* ---- conversions ---- */

/* One entry of x.to(...): a type, a tensor to be like, or a device, which changes nothing here. */
static enum mase_status cast_target(const struct mase_call *c, enum mase_dtype *t,
                                    const struct mase_arg *a, struct mase_err *err)
{
    if (mase_arg_tensor(a)) {
        *t = a->tensor->dtype;
        return MASE_OK;
    }
    bool text = a->kind == MASE_ARG_TEXT || a->kind == MASE_ARG_ATOM;
    if (a->kind == MASE_ARG_NONE || a->kind == MASE_ARG_BOOL)
        return MASE_OK; /* non_blocking, copy */
    if (text && (mase_dtype_parse(a->s, t) || !mase_starts_with(a->s, "torch.")))
        return MASE_OK;
    return mase_call_fail(c, err,
                          "%s is no type that we have (torch.float32, float64, int64, int32, "
                          "uint8, bool)",
                          mase_show_arg(c, a));
}

enum mase_status mase_shape_cast(struct mase_call *c, struct mase_err *err)
{
    static const struct {
        enum mase_op op;
        enum mase_dtype dtype;
    } fixed[] = {
        { MASE_OP_bool, MASE_DTYPE_BOOL },
        { MASE_OP_int, MASE_I32 },
        { MASE_OP_long, MASE_I64 },
        { MASE_OP_float, MASE_F32 },
    };
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    enum mase_dtype t = x->dtype;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (c->node->op == fixed[i].op)
            t = fixed[i].dtype;
    for (int i = 1; i < c->sig->count; i++) {
        const struct mase_arg *a = &c->param[i];
        for (int k = 0; k < (mase_arg_is_seq(a) ? a->count : 1); k++)
            MASE_TRY(cast_target(c, &t, mase_arg_is_seq(a) ? &a->items[k] : a, err));
    }
    mase_call_result(c, t, &x->shape);
    return MASE_OK;
}

/* ---- new tensors ---- */

static enum mase_dtype dtype_of_number(const struct mase_arg *a)
{
    return mase_dtype_of_args(&a, 1);
}

static enum mase_status set_sized(struct mase_call *c, enum mase_dtype t,
                                  const struct mase_shape *size, struct mase_err *err)
{
    if (mase_call_count(c, size) < 0)
        return mase_call_fail(c, err, "size %s is negative or too large", mase_show_shape(c, size));
    mase_call_result(c, t, size);
    return MASE_OK;
}

/* zeros_like(x) has x's shape, x.new_zeros(2, 3) another; both have its type. */
enum mase_status mase_shape_like(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    const struct mase_arg *fill = mase_call_arg(c, "fill_value");
    double number;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (fill && !mase_arg_number(fill, &number))
        return mase_call_fail(c, err, "fill_value must be a number, got %s",
                              mase_show_arg(c, fill));
    enum mase_dtype t = x->dtype;
    struct mase_shape size = x->shape;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    if (mase_call_arg(c, "size"))
        MASE_TRY(mase_call_sizes(c, &size, "size", err));
    return set_sized(c, t, &size, err);
}

enum mase_status mase_shape_full(struct mase_call *c, struct mase_err *err)
{
    struct mase_shape size;
    enum mase_dtype t = MASE_F32;
    const struct mase_arg *fill = mase_call_arg(c, "fill_value");
    double number;
    if (fill && !mase_arg_number(fill, &number))
        return mase_call_fail(c, err, "fill_value must be a number, got %s",
                              mase_show_arg(c, fill));
    if (fill)
        t = dtype_of_number(fill);
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    MASE_TRY(mase_call_sizes(c, &size, "size", err));
    return set_sized(c, t, &size, err);
}

/* ---- numbers drawn ---- */

static enum mase_status need_float(const struct mase_call *c, struct mase_err *err)
{
    const enum mase_dtype t = c->result.tensor->dtype;
    if (t == MASE_F32 || t == MASE_F64)
        return MASE_OK;
    return mase_call_fail(c, err, "draws floats, and is asked for %s", mase_dtypes[t].name);
}

enum mase_status mase_shape_random(struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_shape_full(c, err));
    return need_float(c, err);
}

/* randint(high, size), randint(low, high, size), and by keywords. */
enum mase_status mase_randint_read(const struct mase_call *c, int64_t *low, int64_t *high,
                                   struct mase_shape *size, struct mase_err *err)
{
    const struct mase_arg *given = &c->param[0], *named = mase_call_arg(c, "size");
    const struct mase_arg *ends[2] = { mase_call_arg(c, "low"), mase_call_arg(c, "high") };
    const int64_t most = INT64_C(1) << 24; /* floats are drawn */
    int count = mase_arg_is_seq(given) ? given->count : 0;
    int64_t v[2] = { 0, 0 };
    *size = (struct mase_shape){ 0 };
    if (!mase_arg_present(named) && count)
        named = &given->items[--count];
    for (int i = 0; i < count && i < 2; i++)
        ends[count == 1 && !mase_arg_present(ends[1]) ? 1 : i] = &given->items[i];
    for (int i = 0; i < 2; i++)
        if (mase_arg_present(ends[i]) && ends[i]->kind == MASE_ARG_INT)
            v[i] = ends[i]->i;
        else if (i || mase_arg_present(ends[i]))
            return mase_call_fail(c, err, "%s must be an integer, got %s", i ? "high" : "low",
                                  mase_show_arg(c, ends[i]));
    if (count > 2 || !mase_arg_is_seq(named) || named->count > MASE_MAX_RANK)
        return mase_call_fail(c, err, "needs low, high and a size, got %s",
                              mase_show_arg(c, given));
    for (int i = 0; i < named->count; i++) {
        if (named->items[i].kind != MASE_ARG_INT)
            return mase_call_fail(c, err, "size must be integers, got %s", mase_show_arg(c, named));
        mase_shape_push(size, named->items[i].i);
    }
    if (v[0] >= v[1] || v[0] < -most || v[1] > most)
        return mase_call_fail(c, err,
                              "integers from %lld to below %lld cannot be drawn: at least "
                              "one, between -2^24 and 2^24",
                              (long long)v[0], (long long)v[1]);
    *low = v[0];
    *high = v[1];
    return MASE_OK;
}

enum mase_status mase_shape_randint(struct mase_call *c, struct mase_err *err)
{
    struct mase_shape size;
    enum mase_dtype t = MASE_I64;
    int64_t low, high;
    MASE_TRY(mase_randint_read(c, &low, &high, &size, err));
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    return set_sized(c, t, &size, err);
}

enum mase_status mase_shape_random_like(struct mase_call *c, struct mase_err *err)
{
    static const char *const numbers[] = { "from", "to", "mean", "std", "p" };
    double v;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (mase_arg_present(mase_call_arg(c, numbers[i])))
            MASE_TRY(mase_call_float(c, &v, numbers[i], err));
    MASE_TRY(mase_shape_like(c, err));
    return need_float(c, err);
}

enum mase_status mase_shape_normal(struct mase_call *c, struct mase_err *err)
{
    if (!mase_arg_tensor(&c->param[0]) && !mase_arg_tensor(&c->param[1]))
        return mase_call_fail(c, err, "mean or std must be a tensor (randn takes a size)");
    MASE_TRY(mase_shape_broadcast(c, err));
    return need_float(c, err);
}

enum mase_status mase_range_plan(const struct mase_call *c, double *start, double *end,
                                 double *step, bool *integers, struct mase_err *err)
{
    const struct mase_arg *a = &c->param[0];
    double v[3] = { 0.0, 0.0, 1.0 };
    if (!mase_arg_is_seq(a) || a->count < 1 || a->count > 3)
        return mase_call_fail(c, err, "needs one to three numbers, got %s", mase_show_arg(c, a));
    *integers = true;
    for (int i = 0; i < a->count; i++) {
        int at = a->count == 1 ? 1 : i; /* a single number is the end */
        if (!mase_arg_number(&a->items[i], &v[at]))
            return mase_call_fail(c, err, "needs numbers, got %s", mase_show_arg(c, &a->items[i]));
        *integers &= a->items[i].kind != MASE_ARG_FLOAT;
    }
    *start = v[0];
    *end = v[1];
    *step = v[2];
    bool backwards = (v[1] - v[0]) * v[2] < 0.0;
    if (v[2] == 0.0 || backwards || !isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]))
        return mase_call_fail(c, err, "cannot go from %g to %g in steps of %g", v[0], v[1], v[2]);
    return MASE_OK;
}

enum mase_status mase_shape_arange(struct mase_call *c, struct mase_err *err)
{
    double start, end, step;
    bool integers, closed = c->node->op == MASE_OP_range; /* torch.range includes its end */
    MASE_TRY(mase_range_plan(c, &start, &end, &step, &integers, err));
    double count = closed ? floor((end - start) / step) + 1.0 : ceil((end - start) / step);
    if (!(count <= (double)MASE_MAX_ELEMENTS))
        return mase_call_fail(c, err, "%g elements are too many", count);
    enum mase_dtype t = integers && !closed ? MASE_I64 : MASE_F32;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    mase_call_result(c, t, &(struct mase_shape){ .rank = 1, .dim = { (int64_t)count } });
    return MASE_OK;
}

/* The shape of nested lists, every one of which must be as long as its siblings. */
static enum mase_status literal_shape(const struct mase_call *c, const struct mase_arg *a,
                                      int depth, struct mase_shape *s, enum mase_dtype *t,
                                      struct mase_err *err)
{
    double number;
    if (mase_arg_tensor(a) && depth == s->rank && mase_tensor_count(a->tensor) == 1) {
        *t = mase_dtype_promote(*t, a->tensor->dtype);
        return MASE_OK;
    }
    if (!mase_arg_is_seq(a)) {
        if (depth != s->rank || !mase_arg_number(a, &number))
            return mase_call_fail(c, err, "data must be numbers or equally long lists, got %s",
                                  mase_show_arg(c, a));
        *t = mase_dtype_promote(*t, dtype_of_number(a));
        return MASE_OK;
    }
    if (depth >= s->rank || a->count != s->dim[depth])
        return mase_call_fail(c, err, "lists of different lengths in data: %s",
                              mase_show_arg(c, a));
    for (int i = 0; i < a->count; i++)
        MASE_TRY(literal_shape(c, &a->items[i], depth + 1, s, t, err));
    return MASE_OK;
}

/* The shape of data, and the type that holds all of it. */
static enum mase_status literal_read(const struct mase_call *c, struct mase_shape *s,
                                     enum mase_dtype *t, struct mase_err *err)
{
    const struct mase_arg *data = mase_call_arg(c, "data");
    if (mase_arg_tensor(data)) { /* a copy */
        *s = data->tensor->shape;
        *t = data->tensor->dtype;
        return MASE_OK;
    }
    *s = (struct mase_shape){ 0 };
    *t = MASE_DTYPE_BOOL;
    for (const struct mase_arg *a = data; mase_arg_is_seq(a); a = a->items) {
        MASE_TRY(mase_call_rank(c, s->rank + 1, err));
        mase_shape_push(s, a->count);
        if (a->count == 0)
            break;
    }
    MASE_TRY(literal_shape(c, data, 0, s, t, err));
    if (mase_shape_count(s) == 0)
        *t = MASE_F32;
    return MASE_OK;
}

enum mase_status mase_shape_tensor(struct mase_call *c, struct mase_err *err)
{
    struct mase_shape s;
    enum mase_dtype t;
    MASE_TRY(literal_read(c, &s, &t, err));
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    mase_call_result(c, t, &s);
    return MASE_OK;
}

enum mase_status mase_shape_new_tensor(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_shape s;
    enum mase_dtype t;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(literal_read(c, &s, &t, err));
    t = x->dtype;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    mase_call_result(c, t, &s);
    return MASE_OK;
}

/* ---- limits ---- */

enum mase_status mase_shape_finfo(struct mase_call *c, struct mase_err *err)
{
    static const char *const keys[] = { "min", "max", "eps", "tiny", "bits" };
    enum mase_dtype t = MASE_F32;
    MASE_TRY(mase_call_dtype(c, &t, "type", err));
    if (!mase_dtype_is_float(t))
        return mase_call_fail(c, err, "%s is no float type", mase_dtypes[t].torch);
    bool wide = t == MASE_F64;
    struct mase_arg limits[] = {
        mase_arg_float(wide ? -DBL_MAX : -(double)FLT_MAX),
        mase_arg_float(wide ? DBL_MAX : (double)FLT_MAX),
        mase_arg_float(wide ? DBL_EPSILON : (double)FLT_EPSILON),
        mase_arg_float(wide ? DBL_MIN : (double)FLT_MIN),
        mase_arg_int(wide ? 64 : 32),
    };
    c->result = (struct mase_arg){
        .kind = MASE_ARG_DICT,
        .items = mase_arena_memdup(c->arena, limits, sizeof limits),
        .keys = mase_arena_memdup(c->arena, keys, sizeof keys),
        .count = (int)(sizeof keys / sizeof keys[0]),
    };
    return MASE_OK;
}
