/*
 * rules_shape.c - shapes, axes, slices, constants.
 */
#include <string.h>

#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* Axes from the attribute, or in later opsets the input. */
static const int64_t *axes_of(struct mase_ox_import *im, int input, int *count, bool *has)
{
    struct mase_ox_value *v = mase_ox_in(im, input);
    *has = v || mase_ox_has_attr(im, "axes");
    if (v)
        return mase_ox_ints(im, v, count);
    return mase_ox_attr_ints(im, "axes", count);
}

/* ---- reshaping ---- */

/* A 0 in the target copies dimension d of x. */
static struct mase_arg kept(struct mase_ox_import *im, struct mase_node *x, int d)
{
    if (d < mase_ox_rank(im, x))
        return mase_ox_dim(im, x, d);
    mase_ox_fail(im, MASE_EVALUE, "its shape keeps dimension %d, which the input has not", d);
    return ARG_INT(0);
}

/* A file with a fixed batch has it in its target shapes: if the first length equals the batch and
 * the input's first dimension is the batch, so is the result's. */
static bool stands_for_batch(struct mase_ox_import *im, struct mase_node *x,
                             const struct mase_arg *first)
{
    return im->static_batch && im->sizes > 1 && first->kind == MASE_ARG_INT &&
           first->i == im->static_batch && mase_ox_rank(im, x) > 0 &&
           !mase_ox_dim_is_fixed(im, x, 0);
}

OX_RULE(reshape)
{
    const int64_t allow_zero = mase_ox_attr_int(im, "allowzero", 0);
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *shape = mase_ox_in(im, 1);
    int count = 0;
    if (!shape)
        return mase_ox_fail(im, MASE_EVALUE, "it has no shape");
    const struct mase_arg *given = mase_ox_sizes(im, shape, &count);
    MASE_TRY(im->status);
    if (count > MASE_MAX_RANK)
        return mase_ox_fail(im, MASE_ELIMIT, "its shape has more than %d dimensions",
                            MASE_MAX_RANK);
    struct mase_arg dims[MASE_MAX_RANK];
    for (int d = 0; d < count; d++) {
        dims[d] = given[d];
        if (dims[d].kind == MASE_ARG_INT && dims[d].i == 0 && !allow_zero)
            dims[d] = kept(im, x, d);
    }
    if (count && stands_for_batch(im, x, &dims[0]))
        dims[0] = mase_ox_dim(im, x, 0);
    return mase_ox_out(im, 0, mase_ox_reshape(im, x, dims, count));
}

/* Flatten to two dimensions, the second from axis on. */
OX_RULE(flatten)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const int rank = mase_ox_rank(im, x);
    int64_t axis = mase_ox_attr_int(im, "axis", 1);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis > rank)
        return mase_ox_fail(im, MASE_EVALUE, "axis %lld is outside of %d dimensions",
                            (long long)axis, rank);
    if (axis == 1 && rank > 1)
        return GIVE(im, MASE_OP_flatten, ARG_NODE(x), ARG_INT(1));
    if (axis == 0 || rank == 0)
        return GIVE(im, MASE_OP_reshape, ARG_NODE(x),
                    mase_ox_int_list(im, (int64_t[]){ 1, -1 }, 2));
    if (axis < rank)
        x = EMIT(im, MASE_OP_flatten, ARG_NODE(x), ARG_INT(axis));
    else
        x = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(x), ARG_INT(-1));
    return mase_ox_out(
        im, 0,
        axis > 1 ? EMIT(im, MASE_OP_flatten, ARG_NODE(x), ARG_INT(0), ARG_INT(axis - 1)) : x);
}

OX_RULE(squeeze)
{
    int count = 0;
    bool has;
    const int64_t *axes = axes_of(im, 1, &count, &has);
    struct mase_node *x = mase_ox_x(im, 0);
    const int rank = mase_ox_rank(im, x);
    bool gone[MASE_MAX_RANK] = { false };
    if (!has)
        return GIVE(im, MASE_OP_squeeze, ARG_NODE(x));
    for (int i = 0; i < count && !im->status; i++)
        gone[mase_ox_axis(im, axes[i], rank)] = true;
    for (int d = rank - 1; d >= 0; d--) {
        if (!gone[d])
            continue;
        if (!im->status &&
            (mase_ox_tensor(im, x)->shape.dim[d] != 1 || !mase_ox_dim_is_fixed(im, x, d)))
            return mase_ox_fail(im, MASE_EVALUE, "dimension %d is not 1", d);
        x = EMIT(im, MASE_OP_squeeze, ARG_NODE(x), ARG_INT(d));
    }
    return mase_ox_out(im, 0, x);
}

OX_RULE(unsqueeze)
{
    int count = 0;
    bool has;
    const int64_t *axes = axes_of(im, 1, &count, &has);
    struct mase_node *x = mase_ox_x(im, 0);
    const int rank = mase_ox_rank(im, x) + count;
    bool is_new[MASE_MAX_RANK] = { false };
    if (!im->status && rank > MASE_MAX_RANK)
        return mase_ox_fail(im, MASE_ELIMIT, "more than %d dimensions", MASE_MAX_RANK);
    for (int i = 0; i < count && !im->status; i++) {
        const int axis = mase_ox_axis(im, axes[i], rank);
        if (is_new[axis])
            return mase_ox_fail(im, MASE_EVALUE, "axis %d is given twice", axis);
        is_new[axis] = true;
    }
    for (int d = 0; d < rank && !im->status; d++)
        if (is_new[d])
            x = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(x), ARG_INT(d));
    return mase_ox_out(im, 0, x);
}

OX_RULE(transpose)
{
    int count = 0, order[MASE_MAX_RANK];
    const int64_t *perm = mase_ox_attr_ints(im, "perm", &count);
    struct mase_node *x = mase_ox_x(im, 0);
    const int rank = mase_ox_rank(im, x);
    if (!im->status && perm && count != rank)
        return mase_ox_fail(im, MASE_EVALUE, "perm has %d entries for %d dimensions", count, rank);
    for (int d = 0; d < rank; d++)
        order[d] = perm ? mase_ox_axis(im, perm[d], rank) : rank - 1 - d;
    return mase_ox_out(im, 0, mase_ox_permute(im, x, order, rank));
}

/* Bidirectional broadcast. */
OX_RULE(expand)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *shape = mase_ox_in(im, 1);
    int count = 0;
    const struct mase_arg *given = shape ? mase_ox_sizes(im, shape, &count) : NULL;
    struct mase_arg dims[MASE_MAX_RANK];
    MASE_TRY(im->status);
    const int rank = mase_ox_rank(im, x), out = count > rank ? count : rank;
    if (out > MASE_MAX_RANK)
        return mase_ox_fail(im, MASE_ELIMIT, "more than %d dimensions", MASE_MAX_RANK);
    for (int d = 0; d < out; d++) {
        const int own = d - (out - rank), asked = d - (out - count);
        const bool one = asked < 0 || (given[asked].kind == MASE_ARG_INT && given[asked].i == 1);
        dims[d] = one && own >= 0 ? mase_ox_dim(im, x, own) : one ? ARG_INT(1) : given[asked];
    }
    return GIVE(im, MASE_OP_expand, ARG_NODE(x), mase_ox_list(im, dims, out));
}

OX_RULE(tile)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *repeats = mase_ox_in(im, 1);
    int count = 0;
    const struct mase_arg *given = repeats ? mase_ox_sizes(im, repeats, &count) : NULL;
    return GIVE(im, MASE_OP_repeat, ARG_NODE(x), mase_ox_list(im, given, count));
}

/* ---- joining and cutting ---- */

OX_RULE(concat)
{
    struct mase_arg items[OX_OPERANDS];
    const int count = im->node->input.count;
    if (count > OX_OPERANDS || !count)
        return mase_ox_fail(im, MASE_ELIMIT, "%d operands; 1 to %d are possible", count,
                            OX_OPERANDS);
    for (int i = 0; i < count; i++)
        items[i] = ARG_NODE(mase_ox_x(im, i));
    MASE_TRY(im->status);
    if (!mase_ox_has_attr(im, "axis"))
        return mase_ox_fail(im, MASE_EVALUE, "it has no axis");
    const int axis =
        mase_ox_axis(im, mase_ox_attr_int(im, "axis", 0), mase_ox_rank(im, items[0].node));
    return GIVE(im, MASE_OP_cat, mase_ox_list(im, items, count), ARG_INT(axis));
}

/* The lengths of a split: given, or equal but for the last. */
static const struct mase_arg *split_sizes(struct mase_ox_import *im, struct mase_node *x, int axis,
                                          int *count)
{
    struct mase_ox_value *v = mase_ox_in(im, 1);
    if (v)
        return mase_ox_sizes(im, v, count);
    const int64_t *given = mase_ox_attr_ints(im, "split", count);
    const int64_t parts = mase_ox_attr_int(im, "num_outputs", im->node->output.count);
    if (!given && !im->status && !mase_ox_dim_is_fixed(im, x, axis)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "it splits the samples");
        return NULL;
    }
    if (im->status || parts < 1 || parts > OX_OPERANDS || parts != im->node->output.count)
        return mase_ox_fail(im, MASE_EVALUE, "num_outputs is not the number of its outputs"), NULL;
    const int64_t n = mase_ox_tensor(im, x)->shape.dim[axis], part = (n + parts - 1) / parts;
    *count = given ? *count : (int)parts;
    struct mase_arg *out = mase_new_array(&im->arena, struct mase_arg, (size_t)*count);
    for (int i = 0; i < *count; i++)
        out[i] = ARG_INT(given ? given[i] : i < parts - 1 ? part : n - part * (parts - 1));
    return out;
}

OX_RULE(split)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", 0), mase_ox_rank(im, x));
    int count = 0;
    MASE_TRY(im->status);
    const struct mase_arg *sizes = split_sizes(im, x, axis, &count);
    MASE_TRY(im->status);
    struct mase_node *parts =
        EMIT(im, MASE_OP_split, ARG_NODE(x), mase_arg_seq(&im->arena, MASE_ARG_LIST, sizes, count),
             ARG_INT(axis));
    for (int i = 0; i < im->node->output.count && !im->status; i++) {
        if (i >= count)
            return mase_ox_fail(im, MASE_EVALUE, "it has more outputs than parts");
        mase_ox_out(im, i, mase_ox_item(im, parts, i));
    }
    return im->status;
}

/* One end of a slice: lengths count as in Python, but huge numbers mean the end. */
static struct mase_arg slice_end(int64_t v, bool is_start, int64_t step)
{
    const int64_t huge = INT64_C(1) << 31;
    if (v >= huge - 1)
        return is_start && step > 0 ? ARG_INT(v) : ARG_NONE;
    if (v <= -huge)
        return ARG_NONE;
    return ARG_INT(v);
}

/* Elements from the last to the first: flipped first, since slices of PyTorch go forwards. */
static struct mase_node *slice_backwards(struct mase_ox_import *im, struct mase_node *x, int axis,
                                         int64_t start, int64_t stop, int64_t step)
{
    if (!mase_ox_dim_is_fixed(im, x, axis)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "it goes backwards along the samples");
        return NULL;
    }
    const int64_t n = mase_ox_tensor(im, x)->shape.dim[axis];
    start = start < 0 ? (start < -n ? -1 : start + n) : start >= n ? n - 1 : start;
    stop = stop < 0 ? (stop < -n ? -1 : stop + n) : stop >= n ? n - 1 : stop;
    x = EMIT(im, MASE_OP_flip, ARG_NODE(x), mase_ox_int_list(im, (int64_t[]){ axis }, 1));
    const int64_t from = n - 1 - start, to = n - 1 - stop;
    return mase_ox_slice(im, x, axis, ARG_INT(from), ARG_INT(to < from ? from : to), -step);
}

struct slices {
    const int64_t *starts, *ends, *axes, *steps;
    int count;
};

static enum mase_status read_slices(struct mase_ox_import *im, struct slices *s)
{
    int n[4] = { 0 };
    struct mase_ox_value *axes = mase_ox_in(im, 3), *steps = mase_ox_in(im, 4);
    if (im->node->input.count < 3) {
        s->starts = mase_ox_attr_ints(im, "starts", &n[0]);
        s->ends = mase_ox_attr_ints(im, "ends", &n[1]);
        s->axes = mase_ox_attr_ints(im, "axes", &n[2]);
    } else {
        if (!mase_ox_in(im, 1) || !mase_ox_in(im, 2))
            return mase_ox_fail(im, MASE_EVALUE, "it has no starts or no ends");
        s->starts = mase_ox_ints(im, mase_ox_in(im, 1), &n[0]);
        s->ends = mase_ox_ints(im, mase_ox_in(im, 2), &n[1]);
        s->axes = axes ? mase_ox_ints(im, axes, &n[2]) : NULL;
        s->steps = steps ? mase_ox_ints(im, steps, &n[3]) : NULL;
    }
    s->count = n[0];
    if (!im->status && (n[0] != n[1] || (s->axes && n[2] != n[0]) || (s->steps && n[3] != n[0])))
        return mase_ox_fail(im, MASE_EVALUE, "starts, ends, axes and steps are not of one length");
    return im->status;
}

OX_RULE(slice)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct slices s = { 0 };
    MASE_TRY(im->status);
    MASE_TRY(read_slices(im, &s));
    for (int i = 0; i < s.count && !im->status; i++) {
        const int axis = mase_ox_axis(im, s.axes ? s.axes[i] : i, mase_ox_rank(im, x));
        const int64_t step = s.steps ? s.steps[i] : 1;
        if (!im->status && step == 0)
            return mase_ox_fail(im, MASE_EVALUE, "a step is 0");
        if (step < 0)
            x = slice_backwards(im, x, axis, s.starts[i], s.ends[i], step);
        else
            x = mase_ox_slice(im, x, axis, slice_end(s.starts[i], true, step),
                              slice_end(s.ends[i], false, step), step);
    }
    return mase_ox_out(im, 0, x);
}

/* ---- padding ---- */

/* Numbers before and after each dimension as PyTorch has them: the last dimension first. */
static struct mase_arg pad_list(struct mase_ox_import *im, const int64_t *before,
                                const int64_t *after, int rank)
{
    int64_t v[2 * MASE_MAX_RANK];
    int first = 0;
    while (first < rank && !before[first] && !after[first])
        first++;
    for (int d = rank - 1, k = 0; d >= first; d--) {
        v[k++] = before[d];
        v[k++] = after[d];
    }
    return mase_ox_int_list(im, v, 2 * (rank - first));
}

struct mase_node *mase_ox_pad(struct mase_ox_import *im, struct mase_node *x, const int64_t *before,
                              const int64_t *after, const char *mode, double value)
{
    const int rank = mase_ox_rank(im, x);
    const struct mase_arg list = pad_list(im, before, after, rank);
    if (im->status || list.count == 0)
        return x;
    const bool constant = mase_streq(mode, "constant");
    return EMIT(im, MASE_OP_pad, ARG_NODE(x), list, ARG_TEXT(mode),
                constant ? ARG_FLOAT(value) : ARG_NONE);
}

OX_RULE(pad)
{
    static const char *const modes[][2] = { { "constant", "constant" },
                                            { "reflect", "reflect" },
                                            { "edge", "replicate" },
                                            { "wrap", "circular" } };
    const char *asked = mase_ox_attr_text(im, "mode", "constant"), *mode = NULL;
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *amounts = mase_ox_in(im, 1), *constant = mase_ox_in(im, 2),
                         *axes = mase_ox_in(im, 3);
    const int rank = mase_ox_rank(im, x);
    int count = 0, axis_count = rank;
    double value = mase_ox_attr_float(im, "value", 0.0);
    const int64_t *pads =
        amounts ? mase_ox_ints(im, amounts, &count) : mase_ox_attr_ints(im, "pads", &count);
    const int64_t *given = axes ? mase_ox_ints(im, axes, &axis_count) : NULL;
    int64_t before[MASE_MAX_RANK] = { 0 }, after[MASE_MAX_RANK] = { 0 };
    if (constant)
        mase_ox_number(im, constant, &value);
    MASE_TRY(im->status);
    for (int i = 0; i < 4; i++)
        mode = mase_streq(asked, modes[i][0]) ? modes[i][1] : mode;
    if (!mode || count != 2 * axis_count)
        return mase_ox_fail(im, MASE_EVALUE,
                            mode ? "there are %d pads for %d axes"
                                 : "its mode is none of constant, reflect, edge and wrap",
                            count, axis_count);
    for (int i = 0; i < axis_count && !im->status; i++) {
        const int d = given ? mase_ox_axis(im, given[i], rank) : i;
        before[d] = pads[i];
        after[d] = pads[i + axis_count];
    }
    return mase_ox_out(im, 0, mase_ox_pad(im, x, before, after, mode, value));
}

/* ---- numbers about shapes, and constants ---- */

OX_RULE(shape)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const int rank = mase_ox_rank(im, x);
    int64_t start = mase_ox_attr_int(im, "start", 0), end = mase_ox_attr_int(im, "end", rank);
    struct mase_arg dims[MASE_MAX_RANK];
    bool fixed = true;
    start = start < 0 ? (start < -rank ? 0 : start + rank) : start > rank ? rank : start;
    end = end < 0 ? (end < -rank ? 0 : end + rank) : end > rank ? rank : end;
    const int count = end > start ? (int)(end - start) : 0;
    struct mase_tensor t =
        mase_tensor(&im->arena, MASE_I64, &(struct mase_shape){ 1, { count } }, true);
    for (int i = 0; i < count; i++) {
        dims[i] = mase_ox_dim(im, x, (int)start + i);
        fixed &= dims[i].kind == MASE_ARG_INT;
        ((int64_t *)t.data)[i] = dims[i].kind == MASE_ARG_INT ? dims[i].i : 0;
    }
    if (fixed)
        return mase_ox_out(im, 0, mase_ox_constant(im, &t));
    return GIVE(im, MASE_OP_tensor, mase_arg_seq(&im->arena, MASE_ARG_LIST, dims, count));
}

OX_RULE(size)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const struct mase_tensor *t = mase_ox_tensor(im, x);
    for (int d = 0; d < t->shape.rank && !im->status; d++)
        if (!mase_ox_dim_is_fixed(im, x, d))
            return mase_ox_fail(im, MASE_EUNSUPPORTED, "it depends on the number of samples");
    return mase_ox_out(im, 0, mase_ox_scalar(im, MASE_I64, (double)mase_tensor_count(t)));
}

static enum mase_status constant_tensor(struct mase_ox_import *im, const struct mase_onnx_tensor *t)
{
    struct mase_tensor own;
    im->status = mase_onnx_tensor_shape(&own, im->file, t, im->err);
    MASE_TRY(im->status);
    if (own.dtype >= MASE_DTYPE_COUNT)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is not computed with",
                            mase_onnx_type_name(t->data_type));
    own.data = mase_arena_alloc(&im->arena, (size_t)mase_tensor_bytes(&own));
    mase_onnx_tensor_copy(own.data, im->file, t);
    return mase_ox_out(im, 0, mase_ox_constant(im, &own));
}

OX_RULE(constant)
{
    const struct mase_onnx_attribute *a = mase_ox_attr(im, "value");
    int n = 0;
    if (a && a->t)
        return constant_tensor(im, a->t);
    if (mase_ox_has_attr(im, "value_int") || mase_ox_has_attr(im, "value_float")) {
        const bool is_int = mase_ox_has_attr(im, "value_int");
        struct mase_tensor t =
            mase_tensor(&im->arena, is_int ? MASE_I64 : MASE_F32, &(struct mase_shape){ 0 }, true);
        if (is_int)
            ((int64_t *)t.data)[0] = mase_ox_attr_int(im, "value_int", 0);
        else
            mase_f32(&t)[0] = (float)mase_ox_attr_float(im, "value_float", 0);
        return mase_ox_out(im, 0, mase_ox_constant(im, &t));
    }
    if (mase_ox_has_attr(im, "value_ints")) {
        const int64_t *v = mase_ox_attr_ints(im, "value_ints", &n);
        return mase_ox_out(
            im, 0,
            mase_ox_constant(im, &(struct mase_tensor){ MASE_I64, { 1, { n } }, (void *)v }));
    }
    if (mase_ox_has_attr(im, "value_floats")) {
        const float *v = mase_ox_attr_floats(im, "value_floats", &n);
        return mase_ox_out(
            im, 0,
            mase_ox_constant(im, &(struct mase_tensor){ MASE_F32, { 1, { n } }, (void *)v }));
    }
    return mase_ox_fail(im, MASE_EUNSUPPORTED, "it has no value that is read");
}

OX_RULE(constant_of_shape)
{
    const struct mase_onnx_attribute *a = mase_ox_attr(im, "value");
    struct mase_ox_value *shape = mase_ox_in(im, 0);
    struct mase_tensor one = { .dtype = MASE_F32 };
    double v = 0.0;
    int count = 0;
    const struct mase_arg *dims = shape ? mase_ox_sizes(im, shape, &count) : NULL;
    MASE_TRY(im->status);
    if (a && a->t) {
        im->status = mase_onnx_tensor_shape(&one, im->file, a->t, im->err);
        MASE_TRY(im->status);
        if (mase_tensor_count(&one) != 1 || one.dtype >= MASE_DTYPE_COUNT)
            return mase_ox_fail(im, MASE_EUNSUPPORTED,
                                "its value is not one number of a type that is computed with");
        one.data = mase_arena_alloc(&im->arena, (size_t)mase_tensor_bytes(&one));
        mase_onnx_tensor_copy(one.data, im->file, a->t);
        v = mase_tensor_get(&one, 0);
    }
    const struct mase_arg value = mase_dtype_is_float(one.dtype) ? ARG_FLOAT(v)
                                  : one.dtype == MASE_DTYPE_BOOL ? ARG_BOOL(v != 0)
                                  : one.dtype == MASE_I64
                                      ? ARG_INT(one.data ? ((const int64_t *)one.data)[0] : 0)
                                      : ARG_INT(mase_ox_whole(v));
    return GIVE(im, MASE_OP_full, mase_ox_list(im, dims, count), value, mase_ox_type(one.dtype));
}

/* A bound of a range, which may follow the number of samples if it is an integer. */
static struct mase_arg range_bound(struct mase_ox_import *im, int i, bool is_float)
{
    struct mase_ox_value *x = mase_ox_in(im, i);
    double v = 0;
    int count = 0;
    if (!x)
        mase_ox_fail(im, MASE_EVALUE, "input %d is missing", i);
    else if (is_float && mase_ox_number(im, x, &v))
        return ARG_FLOAT(v);
    const struct mase_arg *n = im->status ? NULL : mase_ox_sizes(im, x, &count);
    if (!im->status && count != 1)
        mase_ox_fail(im, MASE_EVALUE, "input %d must be one number", i);
    return im->status ? ARG_NONE : n[0];
}

OX_RULE(range)
{
    const enum mase_dtype dtype = mase_ox_dtype(im, mase_ox_x(im, 0));
    struct mase_arg bounds[3];
    for (int i = 0; i < 3; i++)
        bounds[i] = range_bound(im, i, mase_dtype_is_float(dtype));
    const char *key = "dtype";
    const struct mase_arg type = mase_ox_type(dtype);
    return mase_ox_out(im, 0, mase_ox_emit_kw(im, MASE_OP_arange, bounds, 3, &key, &type, 1));
}

OX_RULE(trilu)
{
    const int64_t upper = mase_ox_attr_int(im, "upper", 1);
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *k = mase_ox_in(im, 1);
    double diagonal = 0.0;
    if (k)
        mase_ox_number(im, k, &diagonal);
    return GIVE(im, upper ? MASE_OP_triu : MASE_OP_tril, ARG_NODE(x),
                ARG_INT(mase_ox_whole(diagonal)));
}

/* ---- blocks ---- */

OX_RULE(depth_to_space)
{
    const int64_t b = mase_ox_attr_int(im, "blocksize", 1);
    const bool crd = mase_streq(mase_ox_attr_text(im, "mode", "DCR"), "CRD");
    struct mase_node *x = mase_ox_x(im, 0);
    if (im->status || mase_ox_rank(im, x) != 4 || b < 1)
        return mase_ox_fail(im, MASE_EVALUE, "expected 4 dimensions and a blocksize of at least 1");
    if (crd)
        return GIVE(im, MASE_OP_pixel_shuffle, ARG_NODE(x), ARG_INT(b));
    const struct mase_shape s = mase_ox_tensor(im, x)->shape;
    const struct mase_arg n = mase_ox_dim(im, x, 0);
    const struct mase_arg split[] = {
        n, ARG_INT(b), ARG_INT(b), ARG_INT(s.dim[1] / (b * b)), ARG_INT(s.dim[2]), ARG_INT(s.dim[3])
    };
    const struct mase_arg joined[] = { n, ARG_INT(s.dim[1] / (b * b)), ARG_INT(s.dim[2] * b),
                                       ARG_INT(s.dim[3] * b) };
    x = mase_ox_permute(im, mase_ox_reshape(im, x, split, 6), (const int[]){ 0, 3, 4, 1, 5, 2 }, 6);
    return mase_ox_out(im, 0, mase_ox_reshape(im, x, joined, 4));
}

OX_RULE(space_to_depth)
{
    const int64_t b = mase_ox_attr_int(im, "blocksize", 1);
    struct mase_node *x = mase_ox_x(im, 0);
    if (!im->status && (mase_ox_rank(im, x) != 4 || b < 1))
        return mase_ox_fail(im, MASE_EVALUE, "expected 4 dimensions and a blocksize of at least 1");
    MASE_TRY(im->status);
    if (mase_streq(mase_ox_attr_text(im, "mode", "DCR"), "CRD"))
        return GIVE(im, MASE_OP_pixel_unshuffle, ARG_NODE(x), ARG_INT(b));
    const struct mase_shape s = mase_ox_tensor(im, x)->shape;
    const struct mase_arg n = mase_ox_dim(im, x, 0);
    const struct mase_arg split[] = { n,          ARG_INT(s.dim[1]),     ARG_INT(s.dim[2] / b),
                                      ARG_INT(b), ARG_INT(s.dim[3] / b), ARG_INT(b) };
    const struct mase_arg joined[] = { n, ARG_INT(s.dim[1] * b * b), ARG_INT(s.dim[2] / b),
                                       ARG_INT(s.dim[3] / b) };
    x = mase_ox_permute(im, mase_ox_reshape(im, x, split, 6), (const int[]){ 0, 3, 5, 1, 2, 4 }, 6);
    return mase_ox_out(im, 0, mase_ox_reshape(im, x, joined, 4));
}
