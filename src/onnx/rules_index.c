/*
 * rules_index.c - Gather, Scatter and related operations.
 */
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* Negative indices count from the end. */
static struct mase_node *wrapped(struct mase_ox_import *im, struct mase_node *index,
                                 struct mase_arg n)
{
    const struct mase_ox_result *r = index ? mase_ox_result(im, index) : NULL;
    bool negative = !r || !r->known;
    for (int s = 0; !negative && s < im->sizes; s++)
        for (int64_t i = 0; i < mase_tensor_count(r->value[s].tensor); i++)
            negative |= mase_tensor_get(r->value[s].tensor, i) < 0;
    if (!negative)
        return index;
    struct mase_node *below = EMIT(im, MASE_OP_lt, ARG_NODE(index), ARG_INT(0));
    return EMIT(im, MASE_OP_where, ARG_NODE(below),
                ARG_NODE(EMIT(im, MASE_OP_add, ARG_NODE(index), n)), ARG_NODE(index));
}

static struct mase_node *as_index(struct mase_ox_import *im, struct mase_node *index)
{
    return mase_ox_cast(im, index, MASE_I64);
}

static struct mase_node *gather_by(struct mase_ox_import *im, struct mase_node *x, int axis,
                                   struct mase_node *index)
{
    struct mase_arg items[MASE_MAX_RANK];
    const struct mase_arg all[3] = { ARG_NONE, ARG_NONE, ARG_NONE };
    for (int d = 0; d < axis; d++)
        items[d] = mase_arg_seq(&im->arena, MASE_ARG_SLICE, all, 3);
    items[axis] = ARG_NODE(index);
    return EMIT(im, MASE_OP_getitem, ARG_NODE(x),
                axis ? mase_ox_list(im, items, axis + 1) : items[0]);
}

OX_RULE(gather)
{
    struct mase_ox_value *table = mase_ox_in(im, 0);
    struct mase_node *index = as_index(im, mase_ox_x(im, 1));
    const int64_t asked = mase_ox_attr_int(im, "axis", 0);
    if (im->status || !table)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no data");
    const struct mase_ox_result *known = mase_ox_result(im, index);
    if (asked == 0 && !known->known && mase_ox_fits_layer(im, table, 2)) {
        const struct mase_ox_value *params[] = { table };
        const char *names[] = { "weight" }, *path = mase_ox_layer_path(im, params, names, 1);
        const struct mase_shape s = mase_ox_like(im, table)->shape;
        const struct mase_arg args[] = { ARG_INT(s.dim[0]), ARG_INT(s.dim[1]) };
        index = wrapped(im, index, ARG_INT(s.dim[0]));
        if (!mase_ox_add_layer(im, path, MASE_OP_embedding, args, 2, NULL, NULL, 0))
            return im->status;
        mase_ox_fill(im, path, "weight", table, false);
        return mase_ox_out(im, 0, mase_ox_emit_layer(im, path, index));
    }
    struct mase_node *x = mase_ox_node_of(im, table);
    const int axis = mase_ox_axis(im, asked, mase_ox_rank(im, x));
    MASE_TRY(im->status);
    const struct mase_tensor *t = mase_ox_tensor(im, index);
    if (known->known && t->shape.rank == 0) { /* a scalar index removes the dimension */
        const int64_t at = mase_ox_element(t, 0), n = mase_ox_tensor(im, x)->shape.dim[axis];
        if (at < -n || at >= n)
            return mase_ox_fail(im, MASE_EVALUE, "index %lld is outside of %lld elements",
                                (long long)at, (long long)n);
        return GIVE(im, MASE_OP_select, ARG_NODE(x), ARG_INT(axis), ARG_INT(at));
    }
    return mase_ox_out(im, 0, gather_by(im, x, axis, index));
}

OX_RULE(gather_elements)
{
    struct mase_node *x = mase_ox_x(im, 0), *index = as_index(im, mase_ox_x(im, 1));
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", 0), mase_ox_rank(im, x));
    MASE_TRY(im->status);
    index = wrapped(im, index, mase_ox_dim(im, x, axis));
    return GIVE(im, MASE_OP_gather, ARG_NODE(x), ARG_INT(axis), ARG_NODE(index));
}

OX_RULE(scatter_elements)
{
    struct mase_node *x = mase_ox_x(im, 0), *index = as_index(im, mase_ox_x(im, 1)),
                     *src = mase_ox_x(im, 2);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", 0), mase_ox_rank(im, x));
    const char *reduction = mase_ox_attr_text(im, "reduction", "none");
    MASE_TRY(im->status);
    index = wrapped(im, index, mase_ox_dim(im, x, axis));
    if (mase_streq(reduction, "add"))
        return GIVE(im, MASE_OP_scatter_add, ARG_NODE(x), ARG_INT(axis), ARG_NODE(index),
                    ARG_NODE(src));
    if (!mase_streq(reduction, "none"))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "reduction '%s' is not computed", reduction);
    return GIVE(im, MASE_OP_scatter, ARG_NODE(x), ARG_INT(axis), ARG_NODE(index), ARG_NODE(src));
}

/* The last dimension of the indices indexes the first dimensions of the data: flatten both to one
 * index. */
static struct mase_node *flat_index(struct mase_ox_import *im, struct mase_node *x,
                                    struct mase_node *index, int from, int depth)
{
    struct mase_node *flat = NULL;
    const int last = mase_ox_rank(im, index) - 1;
    for (int k = 0; k < depth && !im->status; k++) {
        struct mase_node *at = EMIT(im, MASE_OP_select, ARG_NODE(index), ARG_INT(last), ARG_INT(k));
        const struct mase_arg n = mase_ox_dim(im, x, from + k);
        at = wrapped(im, at, n);
        flat = flat ? EMIT(im, MASE_OP_add, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(flat), n)),
                           ARG_NODE(at))
                    : at;
    }
    return flat;
}

OX_RULE(gather_nd)
{
    struct mase_node *x = mase_ox_x(im, 0), *index = as_index(im, mase_ox_x(im, 1));
    const int64_t batch_dims = mase_ox_attr_int(im, "batch_dims", 0);
    const int rank = mase_ox_rank(im, x), last = mase_ox_rank(im, index) - 1;
    MASE_TRY(im->status);
    if (batch_dims || last < 0)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "batch_dims other than 0 are not computed");
    const int64_t depth = mase_ox_tensor(im, index)->shape.dim[last];
    if (depth < 1 || depth > rank)
        return mase_ox_fail(im, MASE_EVALUE, "its indices are of %lld dimensions",
                            (long long)depth);
    struct mase_node *at = flat_index(im, x, index, 0, (int)depth);
    if (depth > 1)
        x = EMIT(im, MASE_OP_flatten, ARG_NODE(x), ARG_INT(0), ARG_INT(depth - 1));
    return mase_ox_out(im, 0, gather_by(im, x, 0, at));
}

/* Flatten the dimensions before `last` into one, of length 1 if there are none. */
static struct mase_node *joined(struct mase_ox_import *im, struct mase_node *x, int last)
{
    return last == 0  ? EMIT(im, MASE_OP_unsqueeze, ARG_NODE(x), ARG_INT(0))
           : last > 1 ? EMIT(im, MASE_OP_flatten, ARG_NODE(x), ARG_INT(0), ARG_INT(last - 1))
                      : x;
}

/* Replace slices of the data, chosen by the last dimension of the indices: flatten the indexed
 * dimensions, and expand the indices over a slice. */
OX_RULE(scatter_nd)
{
    struct mase_node *x = mase_ox_x(im, 0), *index = as_index(im, mase_ox_x(im, 1)),
                     *src = mase_ox_x(im, 2);
    const char *reduction = mase_ox_attr_text(im, "reduction", "none");
    const bool adds = mase_streq(reduction, "add");
    const int rank = mase_ox_rank(im, x), last = mase_ox_rank(im, index) - 1;
    struct mase_arg dims[MASE_MAX_RANK], spread[MASE_MAX_RANK];
    MASE_TRY(im->status);
    const int64_t depth = last < 0 ? 0 : mase_ox_tensor(im, index)->shape.dim[last];
    if (depth < 1 || depth > rank || mase_ox_rank(im, src) != last + rank - (int)depth)
        return mase_ox_fail(im, MASE_EVALUE, "its indices do not fit its data or updates");
    if (!adds && !mase_streq(reduction, "none"))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "reduction '%s' is not computed", reduction);
    for (int d = 0; d < rank; d++)
        dims[d] = mase_ox_dim(im, x, d);
    struct mase_node *at = joined(im, flat_index(im, x, index, 0, (int)depth), last);
    struct mase_node *y = joined(im, x, (int)depth);
    src = joined(im, src, last);
    const int rest = rank - (int)depth;
    for (int d = 0; d <= rest && !im->status; d++) {
        spread[d] = mase_ox_dim(im, src, d);
        if (d)
            at = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(at), ARG_INT(-1));
    }
    if (rest)
        at = EMIT(im, MASE_OP_expand, ARG_NODE(at), mase_ox_list(im, spread, rest + 1));
    y = EMIT(im, adds ? MASE_OP_scatter_add : MASE_OP_scatter, ARG_NODE(y), ARG_INT(0),
             ARG_NODE(at), ARG_NODE(src));
    return mase_ox_out(im, 0, depth > 1 ? mase_ox_reshape(im, y, dims, rank) : y);
}
