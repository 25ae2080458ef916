/*
 * shape_common.c - arguments, element types and shapes as every shape rule needs them.
 */
#include <string.h>

#include "ir/shape/shape.h"

/* ---- text for messages ---- */

static const char *keep_text(const struct mase_call *c, struct mase_str *s)
{
    const char *text = mase_arena_strdup(c->arena, mase_str_text(s));
    mase_str_release(s);
    return text;
}

const char *mase_show_shape(const struct mase_call *c, const struct mase_shape *s)
{
    struct mase_str text = { 0 };
    mase_shape_print(&text, s);
    return keep_text(c, &text);
}

const char *mase_show_ints(const struct mase_call *c, const int64_t *v, int n)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < n; i++)
        mase_str_printf(&text, "%s%lld", i ? ", " : "(", (long long)v[i]);
    mase_str_add(&text, n == 1 ? ",)" : ")");
    return keep_text(c, &text);
}

void mase_arg_show(struct mase_str *out, const struct mase_arg *a)
{
    const struct mase_tensor *t = mase_arg_tensor(a);
    if (t) {
        mase_str_add(out, mase_dtypes[t->dtype].name);
        mase_shape_print(out, &t->shape);
    } else {
        mase_arg_print(out, a, true);
    }
}

const char *mase_show_arg(const struct mase_call *c, const struct mase_arg *a)
{
    struct mase_str text = { 0 };
    mase_arg_show(&text, a);
    return keep_text(c, &text);
}

/* ---- arguments ---- */

bool mase_arg_number(const struct mase_arg *a, double *v)
{
    switch (a->kind) {
    case MASE_ARG_BOOL:
        *v = a->b;
        return true;
    case MASE_ARG_INT:
        *v = (double)a->i;
        return true;
    case MASE_ARG_FLOAT:
        *v = a->f;
        return true;
    default:
        return false;
    }
}

const char *mase_call_text(const struct mase_call *c, const char *name, const char *fallback)
{
    const struct mase_arg *a = mase_call_arg(c, name);
    return a && a->kind == MASE_ARG_TEXT ? a->s : fallback;
}

enum mase_status mase_call_sizes(const struct mase_call *c, struct mase_shape *out,
                                 const char *name, struct mase_err *err)
{
    const struct mase_arg *a = mase_call_arg(c, name);
    if (!a)
        mase_bug("%s has no parameter %s", mase_ops[c->node->op].name, name);
    if (mase_arg_is_seq(a) && a->count == 1 && mase_arg_is_seq(&a->items[0]))
        a = &a->items[0]; /* f((2, 3)) for f(2, 3) */
    const struct mase_arg *item = mase_arg_is_seq(a) ? a->items : a;
    int count = mase_arg_is_seq(a) ? a->count : 1;
    if (count > MASE_MAX_RANK)
        return mase_call_fail(c, err, "%s has %d entries, at most %d are possible", name, count,
                              MASE_MAX_RANK);
    out->rank = count;
    for (int i = 0; i < count; i++) {
        if (item[i].kind != MASE_ARG_INT)
            return mase_call_fail(c, err, "%s must be integers, got %s", name,
                                  mase_show_arg(c, &item[i]));
        out->dim[i] = item[i].i;
    }
    return MASE_OK;
}

enum mase_status mase_call_axis(const struct mase_call *c, int *axis, const struct mase_shape *s,
                                int64_t d, struct mase_err *err)
{
    /* A tensor without dimensions accepts 0 and -1, as in PyTorch. */
    if (s->rank == 0 && (d == 0 || d == -1)) {
        *axis = 0;
        return MASE_OK;
    }
    *axis = mase_shape_axis(s, d);
    if (*axis < 0)
        return mase_call_fail(c, err, "dim %lld is outside %d..%d of the input %s", (long long)d,
                              -s->rank, s->rank - 1, mase_show_shape(c, s));
    return MASE_OK;
}

enum mase_status mase_call_axis_arg(const struct mase_call *c, int *axis,
                                    const struct mase_shape *s, const char *name,
                                    struct mase_err *err)
{
    int64_t d;
    MASE_TRY(mase_call_int(c, &d, name, err));
    return mase_call_axis(c, axis, s, d, err);
}

enum mase_status mase_call_axes(const struct mase_call *c, bool *in, const struct mase_shape *s,
                                const char *name, bool all_if_none, struct mase_err *err)
{
    const struct mase_arg *a = mase_call_arg(c, name);
    bool none = !mase_arg_present(a) || (mase_arg_is_seq(a) && a->count == 0);
    for (int i = 0; i < MASE_MAX_RANK; i++)
        in[i] = none && all_if_none && i < s->rank;
    if (none)
        return MASE_OK;

    struct mase_shape dims;
    MASE_TRY(mase_call_sizes(c, &dims, name, err));
    for (int i = 0; i < dims.rank; i++) {
        int axis;
        MASE_TRY(mase_call_axis(c, &axis, s, dims.dim[i], err));
        if (in[axis])
            return mase_call_fail(c, err, "dim %d is given twice in %s", axis, mase_show_arg(c, a));
        in[axis] = true;
    }
    return MASE_OK;
}

enum mase_status mase_call_tensors(const struct mase_call *c, const struct mase_arg **items,
                                   int *count, const char *name, struct mase_err *err)
{
    const struct mase_arg *a = mase_call_arg(c, name);
    if (!a || !mase_arg_is_seq(a) || a->count == 0)
        return mase_call_fail(c, err, "%s must be a list of tensors, got %s", name,
                              a ? mase_show_arg(c, a) : "nothing");
    for (int i = 0; i < a->count; i++)
        if (a->items[i].kind != MASE_ARG_TENSOR)
            return mase_call_fail(c, err, "%s[%d] must be a tensor, got %s", name, i,
                                  mase_show_arg(c, &a->items[i]));
    *items = a->items;
    *count = a->count;
    return MASE_OK;
}

/* ---- element types ---- */

bool mase_dtype_is_float(enum mase_dtype t)
{
    return t == MASE_F32 || t == MASE_F64;
}

enum mase_dtype mase_dtype_promote(enum mase_dtype a, enum mase_dtype b)
{
    static const int width[MASE_DTYPE_COUNT] = {
        [MASE_DTYPE_BOOL] = 0, [MASE_U8] = 1,  [MASE_I32] = 2,
        [MASE_I64] = 3,        [MASE_F32] = 4, [MASE_F64] = 5,
    };
    return width[a] > width[b] ? a : b;
}

enum { CLASS_NUMBER, CLASS_POINT, CLASS_TENSOR, CLASS_COUNT };

static int arg_class(const struct mase_arg *a, enum mase_dtype *t)
{
    switch (a->kind) {
    case MASE_ARG_TENSOR:
        *t = a->tensor->dtype;
        return a->tensor->shape.rank ? CLASS_TENSOR : CLASS_POINT;
    case MASE_ARG_BOOL:
        *t = MASE_DTYPE_BOOL;
        return CLASS_NUMBER;
    case MASE_ARG_INT:
        *t = MASE_I64;
        return CLASS_NUMBER;
    default:
        *t = MASE_F32;
        return CLASS_NUMBER;
    }
}

/* A lower class changes the type only when it is of a higher category: bool, integer, float. */
static enum mase_dtype combine_classes(enum mase_dtype high, enum mase_dtype low)
{
    if (mase_dtype_is_float(high))
        return high;
    if (high == MASE_DTYPE_BOOL || mase_dtype_is_float(low))
        return mase_dtype_promote(high, low);
    return high;
}

enum mase_dtype mase_dtype_of_args(const struct mase_arg *const *args, int n)
{
    bool seen[CLASS_COUNT] = { false };
    enum mase_dtype type[CLASS_COUNT] = { MASE_F32 };
    for (int i = 0; i < n; i++) {
        enum mase_dtype t;
        int k = arg_class(args[i], &t);
        type[k] = seen[k] ? mase_dtype_promote(type[k], t) : t;
        seen[k] = true;
    }
    enum mase_dtype result = MASE_F32;
    bool any = false;
    for (int k = 0; k < CLASS_COUNT; k++) {
        if (!seen[k])
            continue;
        result = any ? combine_classes(type[k], result) : type[k];
        any = true;
    }
    return result;
}

bool mase_dtype_parse(const char *text, enum mase_dtype *t)
{
    static const struct {
        const char *name;
        enum mase_dtype dtype;
    } alias[] = {
        { "torch.float", MASE_F32 }, { "torch.double", MASE_F64 }, { "torch.long", MASE_I64 },
        { "torch.int", MASE_I32 },   { "float", MASE_F32 },        { "int", MASE_I64 },
        { "bool", MASE_DTYPE_BOOL },
    };
    for (int i = 0; i < MASE_DTYPE_COUNT; i++) {
        if (mase_streq(text, mase_dtypes[i].torch)) {
            *t = (enum mase_dtype)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof alias / sizeof alias[0]; i++) {
        if (mase_streq(text, alias[i].name)) {
            *t = alias[i].dtype;
            return true;
        }
    }
    return false;
}

enum mase_status mase_call_dtype(const struct mase_call *c, enum mase_dtype *t, const char *name,
                                 struct mase_err *err)
{
    const struct mase_arg *a = mase_call_arg(c, name);
    if (!mase_arg_present(a))
        return MASE_OK;
    bool text = a->kind == MASE_ARG_ATOM || a->kind == MASE_ARG_TEXT;
    if (text && mase_dtype_parse(a->s, t))
        return MASE_OK;
    return mase_call_fail(c, err,
                          "%s = %s is no type that we have (torch.float32, float64, int64, int32, "
                          "uint8, bool)",
                          name, mase_show_arg(c, a));
}

enum mase_status mase_call_float_tensor(const struct mase_call *c, const struct mase_tensor *t,
                                        const char *name, struct mase_err *err)
{
    if (mase_dtype_is_float(t->dtype))
        return MASE_OK;
    return mase_call_fail(c, err, "%s must have float elements, got %s%s", name,
                          mase_dtypes[t->dtype].name, mase_show_shape(c, &t->shape));
}

/* ---- shapes ---- */

/* The number of elements; -1: more than `most`, also if a length of 0 hides the others. */
static int64_t count_up_to(const struct mase_shape *s, int64_t most)
{
    int64_t count = 1;
    bool empty = false;
    for (int i = 0; i < s->rank; i++) {
        const int64_t n = s->dim[i] ? s->dim[i] : 1;
        if (n < 0 || count > most / n)
            return -1;
        count *= n;
        empty |= s->dim[i] == 0;
    }
    return empty ? 0 : count;
}

int64_t mase_shape_count_checked(const struct mase_shape *s)
{
    return count_up_to(s, MASE_MAX_ELEMENTS);
}

int64_t mase_call_most(const struct mase_call *c)
{
    return c->any_batch ? INT64_MAX >> 1 : MASE_MAX_ELEMENTS;
}

int64_t mase_call_count(const struct mase_call *c, const struct mase_shape *s)
{
    return count_up_to(s, mase_call_most(c));
}

enum mase_status mase_call_rank(const struct mase_call *c, int rank, struct mase_err *err)
{
    if (rank <= MASE_MAX_RANK)
        return MASE_OK;
    return mase_call_fail(c, err, "the result would have %d dimensions, at most %d are possible",
                          rank, MASE_MAX_RANK);
}

bool mase_shape_widen(struct mase_shape *out, const struct mase_shape *s)
{
    struct mase_shape wide = out->rank >= s->rank ? *out : *s;
    const struct mase_shape *thin = out->rank >= s->rank ? s : out;
    int skip = wide.rank - thin->rank;
    for (int i = 0; i < thin->rank; i++) {
        int64_t *w = &wide.dim[skip + i];
        if (*w == 1)
            *w = thin->dim[i];
        else if (thin->dim[i] != 1 && thin->dim[i] != *w)
            return false;
    }
    *out = wide;
    return true;
}

bool mase_shape_fits(const struct mase_shape *s, const struct mase_shape *to)
{
    struct mase_shape wide = *to;
    return mase_shape_widen(&wide, s) && mase_shape_equal(&wide, to);
}

struct mase_shape mase_shape_part(const struct mase_shape *s, int from, int to)
{
    struct mase_shape part = { .rank = to - from };
    for (int i = from; i < to; i++)
        part.dim[i - from] = s->dim[i];
    return part;
}

struct mase_shape mase_shape_to_rank(const struct mase_shape *s, int rank)
{
    struct mase_shape out = { .rank = rank };
    for (int d = 0; d < rank; d++)
        out.dim[d] = d < rank - s->rank ? 1 : s->dim[d - (rank - s->rank)];
    return out;
}

void mase_shape_push(struct mase_shape *s, int64_t dim)
{
    if (s->rank == MASE_MAX_RANK)
        mase_bug("a shape grew beyond %d dimensions", MASE_MAX_RANK);
    s->dim[s->rank++] = dim;
}

void mase_shape_append(struct mase_shape *s, const struct mase_shape *more)
{
    for (int i = 0; i < more->rank; i++)
        mase_shape_push(s, more->dim[i]);
}

void mase_call_result_tuple(struct mase_call *c, const struct mase_tensor *tensors, int count)
{
    struct mase_arg *items = mase_new_array(c->arena, struct mase_arg, (size_t)count);
    for (int i = 0; i < count; i++) {
        items[i].kind = MASE_ARG_TENSOR;
        items[i].tensor = mase_arena_memdup(c->arena, &tensors[i], sizeof tensors[i]);
    }
    c->result = mase_arg_seq(c->arena, MASE_ARG_TUPLE, items, count);
}

void mase_call_result_ints(struct mase_call *c, const struct mase_shape *s)
{
    struct mase_arg items[MASE_MAX_RANK];
    for (int i = 0; i < s->rank; i++)
        items[i] = mase_arg_int(s->dim[i]);
    c->result = mase_arg_seq(c->arena, MASE_ARG_TUPLE, items, s->rank);
}
