/*
 * shape_layout.c - rules of operations that ask for a shape or rearrange values without changing
 * them.
 */
#include <string.h>

#include "ir/shape/shape.h"

/* ---- questions ---- */

enum mase_status mase_shape_size(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (!mase_arg_present(mase_call_arg(c, "dim"))) {
        mase_call_result_ints(c, &x->shape);
        return MASE_OK;
    }
    int64_t d;
    MASE_TRY(mase_call_int(c, &d, "dim", err));
    int axis = mase_shape_axis(&x->shape, d);
    if (axis < 0)
        return mase_call_fail(c, err, "dim %lld is outside the %d dimensions of %s", (long long)d,
                              x->shape.rank, mase_show_shape(c, &x->shape));
    c->result = mase_arg_int(x->shape.dim[axis]);
    return MASE_OK;
}

enum mase_status mase_shape_dim(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    c->result = mase_arg_int(x->shape.rank);
    return MASE_OK;
}

/* Attributes of what is no tensor: a result (values, indices), the limits that finfo gives. */
static bool getattr_plain(struct mase_call *c, const struct mase_arg *a, const char *name)
{
    if (a->kind == MASE_ARG_DICT) {
        for (int i = 0; i < a->count; i++) {
            if (mase_streq(a->keys[i], name)) {
                c->result = a->items[i];
                return true;
            }
        }
    }
    bool values = mase_streq(name, "values"), indices = mase_streq(name, "indices");
    if (a->kind != MASE_ARG_TUPLE || a->count != 2 || (!values && !indices))
        return false;
    c->result = a->items[indices];
    return true;
}

/* T reverses the dimensions, mT swaps the last two. */
static bool getattr_transposed(struct mase_call *c, const struct mase_tensor *x, const char *name)
{
    bool all = mase_streq(name, "T");
    if (!all && !(mase_streq(name, "mT") && x->shape.rank >= 2))
        return false;
    int order[MASE_MAX_RANK];
    mase_attr_order(order, &x->shape, all);
    struct mase_view v = mase_view_permuted(&x->shape, order);
    mase_call_result(c, x->dtype, &v.shape);
    return true;
}

enum mase_status mase_shape_getattr(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *a = &c->param[0];
    const struct mase_tensor *x = mase_arg_tensor(a);
    const char *name = mase_call_text(c, "b", "");
    if (!x) {
        if (getattr_plain(c, a, name))
            return MASE_OK;
    } else if (mase_streq(name, "shape")) {
        mase_call_result_ints(c, &x->shape);
        return MASE_OK;
    } else if (mase_streq(name, "ndim")) {
        c->result = mase_arg_int(x->shape.rank);
        return MASE_OK;
    } else if (mase_streq(name, "dtype")) {
        c->result = (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = mase_dtypes[x->dtype].torch };
        return MASE_OK;
    } else if (mase_streq(name, "device")) {
        c->result = (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = "cpu" };
        return MASE_OK;
    } else if (getattr_transposed(c, x, name)) {
        return MASE_OK;
    }
    return mase_call_fail(c, err, "%s has no attribute '%s' (shape, ndim, dtype, device, T, mT)",
                          mase_show_arg(c, a), name);
}

/* ---- other shapes for the same values ---- */

enum mase_status mase_shape_reshape(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_shape want;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_sizes(c, &want, "shape", err));
    int64_t count = mase_tensor_count(x);
    struct mase_shape out = want;
    int open = -1;
    for (int i = 0; i < want.rank; i++) {
        if (want.dim[i] >= 0)
            continue;
        if (want.dim[i] != -1 || open >= 0)
            return mase_call_fail(c, err, "shape %s may have one -1 and no other negative length",
                                  mase_show_shape(c, &want));
        open = i;
        out.dim[i] = 1;
    }
    int64_t known = mase_call_count(c, &out);
    if (open >= 0 && known > 0 && count % known == 0)
        out.dim[open] = count / known;
    if (mase_call_count(c, &out) != count || (open >= 0 && known <= 0))
        return mase_call_fail(c, err, "the %lld values of %s cannot have shape %s",
                              (long long)count, mase_show_shape(c, &x->shape),
                              mase_show_shape(c, &want));
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_flatten(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int start, end;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, &start, &x->shape, "start_dim", err));
    MASE_TRY(mase_call_axis_arg(c, &end, &x->shape, "end_dim", err));
    if (start > end)
        return mase_call_fail(c, err, "start_dim %d comes after end_dim %d in %s", start, end,
                              mase_show_shape(c, &x->shape));
    struct mase_shape out = { .rank = 1, .dim = { 1 } };
    if (x->shape.rank) {
        struct mase_shape middle = mase_shape_part(&x->shape, start, end + 1);
        struct mase_shape tail = mase_shape_part(&x->shape, end + 1, x->shape.rank);
        out = mase_shape_part(&x->shape, 0, start);
        mase_shape_push(&out, mase_shape_count(&middle));
        mase_shape_append(&out, &tail);
    }
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_squeeze(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    struct mase_shape out = { 0 };
    for (int i = 0; i < x->shape.rank; i++)
        if (!in[i] || x->shape.dim[i] != 1)
            mase_shape_push(&out, x->shape.dim[i]);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* s with a dimension of this length put before dimension axis. */
static struct mase_shape with_dim(const struct mase_shape *s, int axis, int64_t length)
{
    struct mase_shape out = mase_shape_part(s, 0, axis);
    struct mase_shape tail = mase_shape_part(s, axis, s->rank);
    mase_shape_push(&out, length);
    mase_shape_append(&out, &tail);
    return out;
}

/* A place for a new dimension: 0 to rank, or counted from the end of the result. */
static enum mase_status new_axis(const struct mase_call *c, int *axis, const struct mase_shape *s,
                                 struct mase_err *err)
{
    int64_t d;
    MASE_TRY(mase_call_int(c, &d, "dim", err));
    MASE_TRY(mase_call_rank(c, s->rank + 1, err));
    int64_t at = d < 0 ? d + s->rank + 1 : d;
    if (at < 0 || at > s->rank)
        return mase_call_fail(c, err, "dim %lld is outside %d..%d for %s", (long long)d,
                              -s->rank - 1, s->rank, mase_show_shape(c, s));
    *axis = (int)at;
    return MASE_OK;
}

enum mase_status mase_shape_unsqueeze(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(new_axis(c, &axis, &x->shape, err));
    struct mase_shape out = with_dim(&x->shape, axis, 1);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* ---- other orders ---- */

/* The order of dimensions in x.T (all: reversed) or x.mT (the last two swapped). */
void mase_attr_order(int *order, const struct mase_shape *s, bool all)
{
    for (int i = 0; i < s->rank; i++)
        order[i] = all ? s->rank - 1 - i : i;
    if (!all) {
        order[s->rank - 1] = s->rank - 2;
        order[s->rank - 2] = s->rank - 1;
    }
}

static enum mase_status permute_order(const struct mase_call *c, int *order,
                                      const struct mase_shape *s, struct mase_err *err)
{
    struct mase_shape dims;
    bool seen[MASE_MAX_RANK] = { false };
    MASE_TRY(mase_call_sizes(c, &dims, "dims", err));
    if (dims.rank != s->rank)
        return mase_call_fail(c, err, "dims %s must name each dimension of %s once",
                              mase_show_ints(c, dims.dim, dims.rank), mase_show_shape(c, s));
    for (int i = 0; i < dims.rank; i++) {
        MASE_TRY(mase_call_axis(c, &order[i], s, dims.dim[i], err));
        if (seen[order[i]])
            return mase_call_fail(c, err, "dims %s must name each dimension of %s once",
                                  mase_show_ints(c, dims.dim, dims.rank), mase_show_shape(c, s));
        seen[order[i]] = true;
    }
    return MASE_OK;
}

/* movedim: each source gets its destination, the others fill the gaps in their order. */
static enum mase_status moved_order(const struct mase_call *c, int *order,
                                    const struct mase_shape *s, struct mase_err *err)
{
    struct mase_shape from, to;
    bool taken[MASE_MAX_RANK] = { false }, moved[MASE_MAX_RANK] = { false };
    MASE_TRY(mase_call_sizes(c, &from, "source", err));
    MASE_TRY(mase_call_sizes(c, &to, "destination", err));
    if (from.rank != to.rank)
        return mase_call_fail(c, err, "source and destination must be as many");
    for (int i = 0; i < from.rank; i++) {
        int a, b;
        MASE_TRY(mase_call_axis(c, &a, s, from.dim[i], err));
        MASE_TRY(mase_call_axis(c, &b, s, to.dim[i], err));
        if (moved[a] || taken[b])
            return mase_call_fail(c, err, "a dimension is named twice");
        moved[a] = taken[b] = true;
        order[b] = a;
    }
    for (int d = 0, next = 0; d < s->rank; d++) {
        if (taken[d])
            continue;
        while (moved[next])
            next++;
        order[d] = next++;
    }
    return MASE_OK;
}

enum mase_status mase_layout_order(const struct mase_call *c, int *order,
                                   const struct mase_shape *s, struct mase_err *err)
{
    int a = 0, b = s->rank == 2; /* t: a matrix is turned, a vector stays */
    for (int i = 0; i < s->rank; i++)
        order[i] = i;
    switch (c->node->op) {
    case MASE_OP_permute:
        return permute_order(c, order, s, err);
    case MASE_OP_movedim:
        return moved_order(c, order, s, err);
    case MASE_OP_transpose:
        MASE_TRY(mase_call_axis_arg(c, &a, s, "dim0", err));
        MASE_TRY(mase_call_axis_arg(c, &b, s, "dim1", err));
        break;
    default:
        if (s->rank > 2)
            return mase_call_fail(c, err, "input must have at most 2 dimensions, got %s",
                                  mase_show_shape(c, s));
    }
    order[a] = b;
    order[b] = a;
    return MASE_OK;
}

/* transpose, t and permute. */
enum mase_status mase_shape_permute(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int order[MASE_MAX_RANK];
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_layout_order(c, order, &x->shape, err));
    struct mase_view v = mase_view_permuted(&x->shape, order);
    mase_call_result(c, x->dtype, &v.shape);
    return MASE_OK;
}

/* ---- more of the same ---- */

/* One dimension as several, of which one may be -1. */
enum mase_status mase_shape_unflatten(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_shape sizes;
    int axis, open = -1;
    int64_t known = 1;
    const char *name = c->module ? "unflattened_size" : "sizes";
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    MASE_TRY(mase_call_sizes(c, &sizes, name, err));
    MASE_TRY(mase_call_rank(c, x->shape.rank + sizes.rank - 1, err));
    for (int i = 0; i < sizes.rank; i++) {
        if (sizes.dim[i] == -1 && open < 0)
            open = i;
        else if (sizes.dim[i] < 0 || sizes.dim[i] > mase_call_most(c) / (known ? known : 1))
            return mase_call_fail(c, err, "%s %s cannot be", name, mase_show_shape(c, &sizes));
        else
            known *= sizes.dim[i];
    }
    const int64_t length = x->shape.rank ? x->shape.dim[axis] : 0;
    if (open >= 0 && known && length % known == 0)
        sizes.dim[open] = length / known;
    if (!x->shape.rank || !sizes.rank || mase_call_count(c, &sizes) != length)
        return mase_call_fail(c, err, "dim %d of %s cannot become %s", axis,
                              mase_show_shape(c, &x->shape), mase_show_shape(c, &sizes));
    struct mase_shape out = mase_shape_part(&x->shape, 0, axis);
    const struct mase_shape rest = mase_shape_part(&x->shape, axis + 1, x->shape.rank);
    mase_shape_append(&out, &sizes);
    mase_shape_append(&out, &rest);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_view_as(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *other;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &other, "other", err));
    if (mase_tensor_count(x) != mase_tensor_count(other))
        return mase_call_fail(c, err, "%s cannot be viewed as %s", mase_show_shape(c, &x->shape),
                              mase_show_shape(c, &other->shape));
    mase_call_result(c, x->dtype, &other->shape);
    return MASE_OK;
}

/* Elements start .. start + length of dim; of select one, without the dimension. */
enum mase_status mase_narrow_plan(const struct mase_call *c, int *axis, int64_t *start,
                                  int64_t *length, struct mase_err *err)
{
    const bool one = c->node->op == MASE_OP_select;
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, axis, &x->shape, "dim", err));
    MASE_TRY(mase_call_int(c, start, one ? "index" : "start", err));
    *length = 1;
    if (!one)
        MASE_TRY(mase_call_int(c, length, "length", err));
    const int64_t all = x->shape.rank ? x->shape.dim[*axis] : 0;
    const int64_t from = *start < 0 ? *start + all : *start;
    if (from < 0 || *length < 0 || from > all || *length > all - from)
        return mase_call_fail(c, err, "%lld from %lld on is not in dim %d of %s",
                              (long long)*length, (long long)*start, *axis,
                              mase_show_shape(c, &x->shape));
    *start = from;
    return MASE_OK;
}

enum mase_status mase_shape_narrow(struct mase_call *c, struct mase_err *err)
{
    int axis;
    int64_t start, length;
    MASE_TRY(mase_narrow_plan(c, &axis, &start, &length, err));
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_shape out = mase_shape_part(&x->shape, 0, axis);
    const struct mase_shape rest = mase_shape_part(&x->shape, axis + 1, x->shape.rank);
    if (c->node->op != MASE_OP_select)
        mase_shape_push(&out, length);
    mase_shape_append(&out, &rest);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_expand(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_shape want;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_sizes(c, &want, "size", err));
    struct mase_shape out = want;
    int skip = want.rank - x->shape.rank;
    for (int i = 0; i < want.rank && skip >= 0; i++)
        if (want.dim[i] == -1 && i >= skip)
            out.dim[i] = x->shape.dim[i - skip];
    if (skip < 0 || mase_call_count(c, &out) < 0 || !mase_shape_fits(&x->shape, &out))
        return mase_call_fail(c, err, "%s cannot be expanded to %s", mase_show_shape(c, &x->shape),
                              mase_show_shape(c, &want));
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_expand_as(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *other;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &other, "other", err));
    if (!mase_shape_fits(&x->shape, &other->shape))
        return mase_call_fail(c, err, "%s cannot be expanded to %s", mase_show_shape(c, &x->shape),
                              mase_show_shape(c, &other->shape));
    mase_call_result(c, x->dtype, &other->shape);
    return MASE_OK;
}

/* x.copy_(y): what y is, broadcast to x, in its type. */
enum mase_status mase_shape_copy_into(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *src = mase_arg_tensor(mase_call_arg(c, "src"));
    double number;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (!src && !mase_arg_number(mase_call_arg(c, "src"), &number))
        return mase_call_fail(c, err, "src must be a tensor or a number, got %s",
                              mase_show_arg(c, mase_call_arg(c, "src")));
    if (src && !mase_shape_fits(&src->shape, &x->shape))
        return mase_call_fail(c, err, "%s cannot be copied into %s",
                              mase_show_shape(c, &src->shape), mase_show_shape(c, &x->shape));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

/* Pairs of numbers, the last dimension first. */
static enum mase_status read_pads(const struct mase_call *c, struct mase_pads *p,
                                  const struct mase_shape *s, struct mase_err *err)
{
    const struct mase_arg *list = mase_call_arg(c, c->module ? "padding" : "pad");
    if (!mase_arg_is_seq(list) || list->count % 2 || list->count / 2 > s->rank)
        return mase_call_fail(c, err, "pad = %s must be pairs, for at most the %d dimensions of %s",
                              mase_show_arg(c, list), s->rank, mase_show_shape(c, s));
    for (int i = 0; i < list->count; i++) {
        const struct mase_arg *n = &list->items[i];
        if (n->kind != MASE_ARG_INT || n->i > INT32_MAX || n->i < -INT32_MAX)
            return mase_call_fail(c, err, "pad = %s must be integers", mase_show_arg(c, list));
        (i % 2 ? p->after : p->before)[s->rank - 1 - i / 2] = n->i;
    }
    return MASE_OK;
}

/* Is there something to repeat so far beyond an edge? */
static bool can_pad(enum mase_pad_mode mode, int64_t by, int64_t length)
{
    return by <= 0 || mode == MASE_PAD_ZEROS || (mode == MASE_PAD_REPLICATE && length > 0) ||
           by < length || (mode == MASE_PAD_CIRCULAR && by == length);
}

const char *mase_pad_mode(const struct mase_call *c)
{
    static const char *const layers[][2] = { { "Reflection", "reflect" },
                                             { "Replication", "replicate" },
                                             { "Circular", "circular" } };
    const char *cls = c->module ? mase_ops[c->node->op].module : "";
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (mase_starts_with(cls, layers[i][0]))
            return layers[i][1];
    return mase_call_text(c, "mode", "constant");
}

/* A layer pads as many trailing dimensions of (N, C, ...) or (C, ...) as its name says. */
enum mase_status mase_shape_pad_layer(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *list = mase_call_arg(c, "padding");
    const char *name = mase_ops[c->node->op].name;
    const int dims = name[strlen(name) - 2] - '0';
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (!mase_arg_is_seq(list) || list->count != 2 * dims)
        return mase_call_fail(c, err, "padding %s must be a number or %d of them",
                              mase_show_arg(c, list), 2 * dims);
    if (!mase_streq(mase_pad_mode(c), "constant") && x->shape.rank != dims + 1 &&
        x->shape.rank != dims + 2)
        return mase_call_fail(c, err, "input must have %d or %d dimensions, got %s", dims + 1,
                              dims + 2, mase_show_shape(c, &x->shape));
    return mase_shape_pad(c, err);
}

enum mase_status mase_pads_plan(const struct mase_call *c, struct mase_pads *p,
                                const struct mase_shape *s, struct mase_err *err)
{
    static const char *const modes[] = { "constant", "reflect", "replicate", "circular" };
    const char *mode = mase_pad_mode(c);
    *p = (struct mase_pads){ 0 };
    while (p->mode < 4 && !mase_streq(mode, modes[p->mode]))
        p->mode++;
    if (p->mode == 4)
        return mase_call_fail(
            c, err, "mode = '%s' is none of constant, reflect, replicate, circular", mode);
    MASE_TRY(read_pads(c, p, s, err));
    for (int i = 0; i < s->rank; i++)
        if (s->dim[i] + p->before[i] + p->after[i] < 0 || s->dim[i] + p->before[i] < 0 ||
            s->dim[i] + p->after[i] < 0 || !can_pad(p->mode, p->before[i], s->dim[i]) ||
            !can_pad(p->mode, p->after[i], s->dim[i]))
            return mase_call_fail(
                c, err, "%s cannot be padded by %s, mode '%s'", mase_show_shape(c, s),
                mase_show_arg(c, mase_call_arg(c, c->module ? "padding" : "pad")), mode);
    return MASE_OK;
}

enum mase_status mase_shape_pad(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_pads p;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_pads_plan(c, &p, &x->shape, err));
    struct mase_shape out = x->shape;
    for (int i = 0; i < out.rank; i++)
        out.dim[i] += p.before[i] + p.after[i];
    if (mase_call_count(c, &out) < 0)
        return mase_call_fail(c, err, "%s is too large", mase_show_shape(c, &out));
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_repeat(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_shape times;
    bool tile = c->node->op == MASE_OP_tile; /* which takes missing counts as 1 */
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_sizes(c, &times, tile ? "dims" : "repeats", err));
    if (times.rank < x->shape.rank && !tile)
        return mase_call_fail(
            c, err, "repeats %s must have at least one number per dimension of %s",
            mase_show_ints(c, times.dim, times.rank), mase_show_shape(c, &x->shape));
    struct mase_shape out = times.rank >= x->shape.rank ? times : x->shape;
    for (int i = 0; i < out.rank; i++) {
        int from = i - (out.rank - x->shape.rank), by = i - (out.rank - times.rank);
        int64_t n = by < 0 ? 1 : times.dim[by];
        if (n < 0 || n > MASE_MAX_ELEMENTS)
            return mase_call_fail(c, err, "cannot repeat %lld times", (long long)n);
        out.dim[i] = n * (from < 0 ? 1 : x->shape.dim[from]);
    }
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* ---- joining ---- */

static enum mase_status join_error(const struct mase_call *c, const struct mase_tensor *a,
                                   const struct mase_tensor *b, int i, struct mase_err *err)
{
    return mase_call_fail(c, err, "tensors[0] %s and tensors[%d] %s cannot be joined",
                          mase_show_shape(c, &a->shape), i, mase_show_shape(c, &b->shape));
}

static enum mase_dtype joined_type(const struct mase_arg *items, int count)
{
    enum mase_dtype t = items[0].tensor->dtype;
    for (int i = 1; i < count; i++)
        t = mase_dtype_promote(t, items[i].tensor->dtype);
    return t;
}

bool mase_cat_skips(const struct mase_shape *s)
{
    return s->rank == 1 && s->dim[0] == 0;
}

enum mase_status mase_shape_cat(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *items;
    int count, axis, first = 0;
    MASE_TRY(mase_call_tensors(c, &items, &count, "tensors", err));
    while (first + 1 < count && mase_cat_skips(&items[first].tensor->shape))
        first++;
    struct mase_shape out = items[first].tensor->shape;
    if (out.rank == 0)
        return mase_call_fail(c, err, "tensors without dimensions cannot be joined; stack them");
    MASE_TRY(mase_call_axis_arg(c, &axis, &out, "dim", err));
    for (int i = first + 1; i < count; i++) {
        struct mase_shape s = items[i].tensor->shape;
        if (mase_cat_skips(&s))
            continue;
        int64_t length = s.rank == out.rank ? s.dim[axis] : 0;
        s.dim[axis] = out.dim[axis];
        if (!mase_shape_equal(&s, &out))
            return join_error(c, items[first].tensor, items[i].tensor, i, err);
        out.dim[axis] += length;
    }
    mase_call_result(c, joined_type(items, count), &out);
    return MASE_OK;
}

enum mase_status mase_shape_stack(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *items;
    int count, axis;
    MASE_TRY(mase_call_tensors(c, &items, &count, "tensors", err));
    const struct mase_shape *s = &items[0].tensor->shape;
    MASE_TRY(new_axis(c, &axis, s, err));
    for (int i = 1; i < count; i++)
        if (!mase_shape_equal(&items[i].tensor->shape, s))
            return join_error(c, items[0].tensor, items[i].tensor, i, err);
    struct mase_shape out = with_dim(s, axis, count);
    mase_call_result(c, joined_type(items, count), &out);
    return MASE_OK;
}
