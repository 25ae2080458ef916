/*
 * shape_index.c - rules of indexing: x[...] with numbers, slices, None, Ellipsis and one tensor of
 * integers, and the functions that pick by index.
 */
#include <string.h>

#include "ir/shape/shape.h"

/* ---- slices ---- */

/* A slice's bound; dflt when it is None. Negative counts from the end; the rest is cut to fit. */
static enum mase_status slice_bound(const struct mase_call *c, const struct mase_arg *a,
                                    int64_t len, int64_t dflt, int64_t *v, struct mase_err *err)
{
    *v = dflt;
    if (a->kind == MASE_ARG_NONE)
        return MASE_OK;
    if (a->kind != MASE_ARG_INT)
        return mase_call_fail(c, err, "a slice's bounds must be integers or None, got %s",
                              mase_show_arg(c, a));
    *v = a->i;
    if (*v < 0)
        *v = *v < -len ? 0 : *v + len;
    if (*v > len)
        *v = len;
    return MASE_OK;
}

enum mase_status mase_slice_plan(const struct mase_call *c, const struct mase_arg *slice,
                                 int64_t len, int64_t *first, int64_t *count, int64_t *step,
                                 struct mase_err *err)
{
    int64_t stop;
    MASE_TRY(slice_bound(c, &slice->items[0], len, 0, first, err));
    MASE_TRY(slice_bound(c, &slice->items[1], len, len, &stop, err));
    const struct mase_arg *by = &slice->items[2];
    *step = by->kind == MASE_ARG_INT ? by->i : 1;
    if (*step < 1 || (by->kind != MASE_ARG_INT && by->kind != MASE_ARG_NONE))
        return mase_call_fail(c, err, "a slice's step must be at least 1, got %s",
                              mase_show_arg(c, by));
    if (*step > len)
        *step = len ? len : 1; /* picks the same, and stays in range when multiplied */
    *count = stop > *first ? (stop - *first - 1) / *step + 1 : 0;
    return MASE_OK;
}

/* ---- x[index] of a tensor ---- */

static bool is_ellipsis(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_ATOM && (mase_streq(a->s, "Ellipsis") || mase_streq(a->s, "..."));
}

/* Dimensions of the tensor that an index item uses up. */
static int dims_used(const struct mase_arg *a)
{
    return a->kind != MASE_ARG_NONE && !is_ellipsis(a);
}

/* ---- masks ---- */

/* The parameter read by item i of the node's index, if that is a mask. */
static const struct mase_param *mask_of(const struct mase_call *c, int i)
{
    const struct mase_arg *index = &c->node->args.items[1];
    const struct mase_arg *item = index->kind == MASE_ARG_TUPLE ? &index->items[i] : index;
    if (item->kind != MASE_ARG_NODE || item->node->kind != MASE_GET_ATTR)
        return NULL;
    const struct mase_param *p = mase_graph_attr(c->node->graph, item->node->target);
    return p && p->tensor.dtype == MASE_DTYPE_BOOL ? p : NULL;
}

/* Does a constant hold at i? It is what it starts with. */
static bool holds(const struct mase_param *p, int64_t i)
{
    return p->init == MASE_INIT_VALUES ? p->values[i] != 0 : p->init == MASE_INIT_ONES;
}

static bool is_known(const struct mase_param *p)
{
    return p->init == MASE_INIT_VALUES || p->init == MASE_INIT_ONES || p->init == MASE_INIT_ZEROS;
}

static enum mase_status check_mask(const struct mase_call *c, const struct mase_param *p,
                                   const struct mase_shape *x, int d, struct mase_err *err)
{
    if (p->kind != MASE_PARAM_CONSTANT && p->kind != MASE_PARAM_FIXED)
        return mase_call_fail(
            c, err,
            "the mask '%s' is a buffer, and files of weights would change what it "
            "picks: it must be constant, or fixed",
            p->name);
    if (!is_known(p))
        return mase_call_fail(c, err, "the mask '%s' is random", p->name);
    if (p->tensor.shape.rank == 1 && d < x->rank && p->tensor.shape.dim[0] == x->dim[d])
        return MASE_OK;
    return mase_call_fail(c, err, "the mask '%s' of %s does not fit dim %d of %s", p->name,
                          mase_show_shape(c, &p->tensor.shape), d, mase_show_shape(c, x));
}

/* The places at which a constant holds, as a list. */
static struct mase_arg places_of(const struct mase_call *c, const struct mase_param *p)
{
    const int64_t length = p->tensor.shape.dim[0];
    struct mase_arg *items = mase_new_array(c->arena, struct mase_arg, (size_t)length);
    int count = 0;
    for (int64_t i = 0; i < length; i++)
        if (holds(p, i))
            items[count++] = mase_arg_int(i);
    return mase_arg_seq(c->arena, MASE_ARG_LIST, items, count);
}

enum mase_status mase_index_masks(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_arg *index = &c->param[1];
    const bool tuple = index->kind == MASE_ARG_TUPLE;
    const int count = tuple ? index->count : 1;
    if (!x || c->node->args.count < 2)
        return MASE_OK;
    int d = 0, used = 0;
    for (int i = 0; i < count; i++)
        used += dims_used(tuple ? &index->items[i] : index);
    for (int i = 0; i < count; i++) {
        struct mase_arg *item = tuple ? &index->items[i] : index;
        const struct mase_param *mask = mask_of(c, i);
        if (mask) {
            MASE_TRY(check_mask(c, mask, &x->shape, d, err));
            *item = places_of(c, mask);
            d++;
        } else {
            d += is_ellipsis(item) ? x->shape.rank - used : dims_used(item);
        }
    }
    return MASE_OK;
}

/* A list of integers picks like a tensor of them. */
static const struct mase_tensor *list_as_tensor(const struct mase_call *c,
                                                const struct mase_arg *list)
{
    struct mase_shape s = { .rank = 1, .dim = { list->count } };
    struct mase_tensor t = mase_tensor(c->arena, MASE_I64, &s, true);
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].kind != MASE_ARG_INT)
            return NULL;
        ((int64_t *)t.data)[i] = list->items[i].i;
    }
    return mase_arena_memdup(c->arena, &t, sizeof t);
}

static enum mase_status keep_dim(const struct mase_call *c, struct mase_index *x, int64_t length,
                                 int64_t stride, struct mase_err *err)
{
    MASE_TRY(mase_call_rank(c, x->view.shape.rank + 1, err));
    x->view.stride[x->view.shape.rank] = stride;
    mase_shape_push(&x->view.shape, length);
    return MASE_OK;
}

static enum mase_status index_number(const struct mase_call *c, struct mase_index *x, int64_t i,
                                     const struct mase_view *from, int d, struct mase_err *err)
{
    int64_t len = from->shape.dim[d];
    if (i < -len || i >= len)
        return mase_call_fail(c, err, "index %lld is outside dim %d of %s", (long long)i, d,
                              mase_show_shape(c, &from->shape));
    x->view.offset += (i < 0 ? i + len : i) * from->stride[d];
    return MASE_OK;
}

static enum mase_status index_tensor(const struct mase_call *c, struct mase_index *x,
                                     const struct mase_arg *a, const struct mase_view *from, int d,
                                     struct mase_err *err)
{
    const struct mase_tensor *pick = a->kind == MASE_ARG_LIST ? list_as_tensor(c, a) : a->tensor;
    if (!pick || (pick->dtype != MASE_I64 && pick->dtype != MASE_I32))
        return mase_call_fail(c, err, "an index must be integers, got %s%s", mase_show_arg(c, a),
                              pick && pick->dtype == MASE_DTYPE_BOOL
                                  ? "; a mask's result has no shape known beforehand"
                                  : "");
    if (x->picks == MASE_INDEX_PICKS)
        return mase_call_fail(c, err, "at most %d indices may be tensors or lists",
                              (int)MASE_INDEX_PICKS);
    x->pick[x->picks].by = pick;
    x->pick[x->picks++].dim = x->view.shape.rank;
    return keep_dim(c, x, from->shape.dim[d], from->stride[d], err);
}

static enum mase_status index_item(const struct mase_call *c, struct mase_index *x,
                                   const struct mase_arg *a, const struct mase_view *from, int d,
                                   struct mase_err *err)
{
    int64_t first, count, step;
    switch (a->kind) {
    case MASE_ARG_INT:
        return index_number(c, x, a->i, from, d, err);
    case MASE_ARG_SLICE:
        MASE_TRY(mase_slice_plan(c, a, from->shape.dim[d], &first, &count, &step, err));
        if (count)
            x->view.offset += first * from->stride[d];
        return keep_dim(c, x, count, step * from->stride[d], err);
    case MASE_ARG_TENSOR:
    case MASE_ARG_LIST:
        return index_tensor(c, x, a, from, d, err);
    default:
        return mase_call_fail(c, err, "%s cannot be an index", mase_show_arg(c, a));
    }
}

bool mase_index_picks(const struct mase_index *x, int d)
{
    for (int i = 0; i < x->picks; i++)
        if (x->pick[i].dim == d)
            return true;
    return false;
}

enum mase_status mase_index_shape(const struct mase_call *c, struct mase_index *x,
                                  struct mase_err *err)
{
    const int rank = x->view.shape.rank, last = x->picks - 1;
    x->shape = x->view.shape;
    if (!x->picks)
        return MASE_OK;
    x->picked = x->pick[0].by->shape;
    for (int i = 1; i < x->picks; i++)
        if (!mase_shape_widen(&x->picked, &x->pick[i].by->shape))
            return mase_call_fail(c, err, "indices of %s and %s cannot be broadcast",
                                  mase_show_shape(c, &x->picked),
                                  mase_show_shape(c, &x->pick[i].by->shape));
    MASE_TRY(mase_call_rank(c, rank - x->picks + x->picked.rank, err));
    x->at = x->pick[last].dim - x->pick[0].dim == last ? x->pick[0].dim : 0;
    struct mase_shape rest = { 0 };
    for (int d = 0; d < rank; d++)
        if (!mase_index_picks(x, d))
            mase_shape_push(&rest, x->view.shape.dim[d]);
    const struct mase_shape tail = mase_shape_part(&rest, x->at, rest.rank);
    x->shape = mase_shape_part(&rest, 0, x->at);
    mase_shape_append(&x->shape, &x->picked);
    mase_shape_append(&x->shape, &tail);
    return MASE_OK;
}

enum mase_status mase_index_plan(const struct mase_call *c, struct mase_index *x,
                                 const struct mase_tensor *t, const struct mase_arg *index,
                                 struct mase_err *err)
{
    struct mase_view from = mase_view_of(&t->shape);
    const struct mase_arg *item = index->kind == MASE_ARG_TUPLE ? index->items : index;
    int count = index->kind == MASE_ARG_TUPLE ? index->count : 1;
    int used = 0, ellipses = 0, d = 0;
    *x = (struct mase_index){ .wrap = true };
    for (int i = 0; i < count; i++) {
        used += dims_used(&item[i]);
        ellipses += is_ellipsis(&item[i]);
    }
    if (used > t->shape.rank || ellipses > 1)
        return mase_call_fail(c, err, "index %s has too many parts for %s", mase_show_arg(c, index),
                              mase_show_shape(c, &t->shape));
    for (int i = 0; i < count; i++) {
        if (item[i].kind == MASE_ARG_NONE)
            MASE_TRY(keep_dim(c, x, 1, 0, err));
        else if (!is_ellipsis(&item[i]))
            MASE_TRY(index_item(c, x, &item[i], &from, d++, err));
        else
            for (int end = d + t->shape.rank - used; d < end; d++)
                MASE_TRY(keep_dim(c, x, from.shape.dim[d], from.stride[d], err));
    }
    for (; d < t->shape.rank; d++)
        MASE_TRY(keep_dim(c, x, from.shape.dim[d], from.stride[d], err));
    return mase_index_shape(c, x, err);
}

/* ---- x[index] of what is no tensor ---- */

static enum mase_status item_of_seq(struct mase_call *c, const struct mase_arg *seq,
                                    const struct mase_arg *index, struct mase_err *err)
{
    int64_t first = 0, count, step;
    if (index->kind == MASE_ARG_SLICE) {
        MASE_TRY(mase_slice_plan(c, index, seq->count, &first, &count, &step, err));
        struct mase_arg *items = mase_new_array(c->arena, struct mase_arg, (size_t)count);
        for (int64_t i = 0; i < count; i++)
            items[i] = seq->items[first + i * step];
        c->result = mase_arg_seq(c->arena, seq->kind, items, (int)count);
        return MASE_OK;
    }
    if (index->kind != MASE_ARG_INT || index->i < -seq->count || index->i >= seq->count)
        return mase_call_fail(c, err, "index %s is outside a sequence of %d",
                              mase_show_arg(c, index), seq->count);
    c->result = seq->items[index->i < 0 ? index->i + seq->count : index->i];
    return MASE_OK;
}

static enum mase_status item_of_dict(struct mase_call *c, const struct mase_arg *dict,
                                     const struct mase_arg *index, struct mase_err *err)
{
    for (int i = 0; i < dict->count && index->kind == MASE_ARG_TEXT; i++) {
        if (mase_streq(dict->keys[i], index->s)) {
            c->result = dict->items[i];
            return MASE_OK;
        }
    }
    return mase_call_fail(c, err, "there is no key %s", mase_show_arg(c, index));
}

enum mase_status mase_shape_getitem(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *in = &c->param[0], *index = &c->param[1];
    if (mase_arg_is_seq(in))
        return item_of_seq(c, in, index, err);
    if (in->kind == MASE_ARG_DICT)
        return item_of_dict(c, in, index, err);
    const struct mase_tensor *t;
    struct mase_index x;
    MASE_TRY(mase_call_need(c, &t, c->sig->param[0].name, err));
    MASE_TRY(mase_index_plan(c, &x, t, index, err));
    mase_call_result(c, t->dtype, &x.shape);
    return MASE_OK;
}

/* x[index] = value gives x as it is afterwards, which is what later readers of x find. */
enum mase_status mase_shape_setitem(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *t, *value = mase_arg_tensor(&c->param[2]);
    struct mase_index x;
    double number;
    MASE_TRY(mase_call_need(c, &t, c->sig->param[0].name, err));
    MASE_TRY(mase_index_plan(c, &x, t, &c->param[1], err));
    if (!value && !mase_arg_number(&c->param[2], &number))
        return mase_call_fail(c, err, "value must be a tensor or a number, got %s",
                              mase_show_arg(c, &c->param[2]));
    if (value && !mase_shape_fits(&value->shape, &x.shape))
        return mase_call_fail(c, err, "value %s cannot be broadcast to the place %s",
                              mase_show_shape(c, &value->shape), mase_show_shape(c, &x.shape));
    mase_call_result(c, t->dtype, &t->shape);
    return MASE_OK;
}

/* ---- functions ---- */

enum mase_status mase_shape_slice(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    int64_t first, count, step;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    if (x->shape.rank == 0)
        return mase_call_fail(c, err, "a tensor without dimensions cannot be sliced");
    struct mase_arg slice = { .kind = MASE_ARG_SLICE, .items = &c->param[2], .count = 3 };
    MASE_TRY(mase_slice_plan(c, &slice, x->shape.dim[axis], &first, &count, &step, err));
    struct mase_shape out = x->shape;
    out.dim[axis] = count;
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

static enum mase_status need_index(const struct mase_call *c, const struct mase_tensor **index,
                                   struct mase_err *err)
{
    MASE_TRY(mase_call_need(c, index, "index", err));
    if ((*index)->dtype == MASE_I64 || (*index)->dtype == MASE_I32)
        return MASE_OK;
    return mase_call_fail(c, err, "index must be integers, got %s%s",
                          mase_dtypes[(*index)->dtype].name, mase_show_shape(c, &(*index)->shape));
}

enum mase_status mase_shape_gather(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *index;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(need_index(c, &index, err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    bool fit = index->shape.rank == x->shape.rank;
    for (int i = 0; i < x->shape.rank && fit; i++)
        fit = i == axis || index->shape.dim[i] <= x->shape.dim[i];
    if (!fit)
        return mase_call_fail(c, err, "index %s must have the dimensions of %s, none longer but %d",
                              mase_show_shape(c, &index->shape), mase_show_shape(c, &x->shape),
                              axis);
    mase_call_result(c, x->dtype, &index->shape);
    return MASE_OK;
}

enum mase_status mase_shape_index_select(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *index;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(need_index(c, &index, err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    if (index->shape.rank > 1 || x->shape.rank == 0)
        return mase_call_fail(c, err, "index must have one dimension, got %s for the input %s",
                              mase_show_shape(c, &index->shape), mase_show_shape(c, &x->shape));
    struct mase_shape out = x->shape;
    out.dim[axis] = mase_tensor_count(index);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* ---- putting and adding ---- */

const struct mase_arg *mase_scatter_source(const struct mase_call *c)
{
    const struct mase_arg *src = mase_call_arg(c, "src"), *value = mase_call_arg(c, "value");
    return mase_arg_present(src) || !value ? src : value;
}

/* src must be there for every place, and no place outside x. */
static enum mase_status check_source(const struct mase_call *c, const struct mase_tensor *x,
                                     const struct mase_tensor *index, int axis,
                                     struct mase_err *err)
{
    const struct mase_arg *source = mase_scatter_source(c);
    const struct mase_tensor *src = mase_arg_tensor(source);
    double number;
    bool fit = index->shape.rank == x->shape.rank;
    if (!src && !mase_arg_number(source, &number))
        return mase_call_fail(c, err, "src must be a tensor or a number, got %s",
                              mase_show_arg(c, source));
    for (int i = 0; i < x->shape.rank && fit; i++)
        fit = i == axis || index->shape.dim[i] <= x->shape.dim[i];
    fit = fit && (!src || src->shape.rank == index->shape.rank);
    for (int i = 0; i < x->shape.rank && fit && src; i++)
        fit = index->shape.dim[i] <= src->shape.dim[i];
    if (!fit)
        return mase_call_fail(
            c, err, "index %s must lie within the source %s, and but for dim %d within %s",
            mase_show_shape(c, &index->shape), mase_show_arg(c, source), axis,
            mase_show_shape(c, &x->shape));
    if (src && src->dtype != x->dtype)
        return mase_call_fail(c, err, "operands must have one type, got %s and %s",
                              mase_dtypes[x->dtype].name, mase_dtypes[src->dtype].name);
    return MASE_OK;
}

enum mase_status mase_shape_scatter(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *index;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(need_index(c, &index, err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    if (x->shape.rank == 0)
        return mase_call_fail(c, err, "a tensor without dimensions has no places");
    MASE_TRY(check_source(c, x, index, axis, err));
    if (mase_arg_present(mase_call_arg(c, "reduce")))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: %s: reduce is not available (scatter_add adds)", c->node->name,
                         mase_ops[c->node->op].name);
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_index_add(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *index, *source;
    int axis;
    double alpha;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(need_index(c, &index, err));
    MASE_TRY(mase_call_need(c, &source, "source", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    bool fit = index->shape.rank == 1 && x->shape.rank && source->shape.rank == x->shape.rank;
    for (int i = 0; fit && i < x->shape.rank; i++)
        fit = source->shape.dim[i] == (i == axis ? index->shape.dim[0] : x->shape.dim[i]);
    if (!fit || source->dtype != x->dtype)
        return mase_call_fail(c, err, "index %s and source %s%s do not fit dim %d of %s%s",
                              mase_show_shape(c, &index->shape), mase_dtypes[source->dtype].name,
                              mase_show_shape(c, &source->shape), axis, mase_dtypes[x->dtype].name,
                              mase_show_shape(c, &x->shape));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_one_hot(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int64_t classes;
    MASE_TRY(mase_call_need(c, &x, "tensor", err));
    MASE_TRY(mase_call_int(c, &classes, "num_classes", err));
    if (x->dtype != MASE_I64)
        return mase_call_fail(c, err, "tensor must be 64-bit integers, got %s",
                              mase_dtypes[x->dtype].name);
    if (classes < 1)
        return mase_call_fail(c, err,
                              "num_classes must be given here: by the largest number a result has "
                              "no shape known beforehand");
    struct mase_shape out = x->shape;
    MASE_TRY(mase_call_rank(c, out.rank + 1, err));
    mase_shape_push(&out, classes);
    mase_call_result(c, MASE_I64, &out);
    return MASE_OK;
}
