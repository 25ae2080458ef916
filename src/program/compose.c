/*
 * compose.c - lower calls to several other calls (compose.h): the rules.
 */
#include "program/compose.h"

#include <math.h>
#include <string.h>

#include "ir/graph/bind_call.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"

/* ---- writing instructions ---- */

/* The parameters of op: those given, then defaults. */
static void bind(struct mase_compose *k, struct mase_arg *param, enum mase_op op,
                 const struct mase_arg *arg, int count)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    for (int i = 0; i < sig->count; i++)
        param[i] = i < count ? arg[i] : mase_bind_default(&k->l->program->arena, sig, i, param);
}

struct mase_arg mase_compose_call(struct mase_compose *k, enum mase_op op,
                                  const struct mase_arg *arg, int count)
{
    struct mase_arena a = { 0 };
    struct mase_arg param[MASE_MAX_PARAMS];
    struct mase_instr i = { .prim = mase_op_prim(op), .op = op, .param = param };
    struct mase_arg result = mase_arg_none();
    struct mase_ptype *type;
    int results;
    if (k->status)
        return result;
    bind(k, param, op, arg, count);
    k->status =
        mase_instr_types(k->l->program, &i, k->l->call[0].node, &a, &type, &results, k->err);
    if (!k->status)
        result = mase_pvalue_arg(mase_lowered_emit(k->l, op, param, type));
    mase_arena_release(&a);
    return result;
}

enum mase_status mase_compose_end(struct mase_compose *k, enum mase_op op,
                                  const struct mase_arg *arg, int count)
{
    struct mase_arg param[MASE_MAX_PARAMS] = { { 0 } };
    if (k->status)
        return k->status;
    bind(k, param, op, arg, count);
    memcpy(k->l->param, param, sizeof param);
    k->l->op = op;
    k->l->prim = mase_op_prim(op);
    return MASE_OK;
}

struct mase_arg mase_compose_param(const struct mase_compose *k, const char *name)
{
    const int i = mase_sig_find(k->l->call[0].sig, name);
    if (i < 0)
        mase_bug("%s has no parameter %s", mase_ops[k->l->call[0].node->op].name, name);
    return k->l->param[i];
}

struct mase_arg mase_compose_ints(struct mase_compose *k, const int64_t *v, int count)
{
    struct mase_arg item[MASE_MAX_RANK];
    for (int i = 0; i < count; i++)
        item[i] = mase_arg_int(v[i]);
    return mase_arg_seq(&k->l->program->arena, MASE_ARG_TUPLE, item, count);
}

struct mase_shape mase_compose_shape(const struct mase_arg *value)
{
    return mase_ptype_shape(&mase_pvalue_of(value)->type, mase_batch_sizes[0]);
}

/* ---- activations ---- */

enum mase_status mase_lower_rrelu(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    double slope;
    MASE_TRY(mase_rrelu_slope(&l->call[0], l->program->training, &slope, err));
    return mase_compose_last(&k, MASE_OP_leaky_relu, l->param[0], mase_arg_float(slope));
}

/* One slope for each channel stands beside the dimensions behind it. */
enum mase_status mase_lower_prelu(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_shape x = mase_compose_shape(&l->param[0]);
    const struct mase_shape w = mase_compose_shape(&l->param[1]);
    int64_t beside[MASE_MAX_RANK] = { w.rank ? w.dim[0] : 1 };
    if (w.rank != 1 || w.dim[0] == 1 || x.rank <= 2)
        return MASE_OK;
    for (int i = 1; i < x.rank - 1; i++)
        beside[i] = 1;
    l->param[1] =
        mase_compose(&k, MASE_OP_reshape, l->param[1], mase_compose_ints(&k, beside, x.rank - 1));
    return k.status;
}

enum mase_status mase_lower_glu(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0];
    const struct mase_shape s = mase_compose_shape(&x);
    int axis;
    MASE_TRY(mase_call_axis_arg(&l->call[0], &axis, &s, "dim", err));
    const struct mase_arg dim = mase_arg_int(axis), half = mase_arg_int(s.dim[axis] / 2);
    if (mase_pvalue_of(&x)->type.dim[axis].times)
        return mase_call_fail(&l->call[0], err, "dim %d is the batch, which a program keeps", axis);
    struct mase_arg a = mase_compose(&k, MASE_OP_slice, x, dim, mase_arg_int(0), half);
    struct mase_arg b = mase_compose(&k, MASE_OP_slice, x, dim, half, mase_arg_none());
    return mase_compose_last(&k, MASE_OP_mul, a, mase_compose(&k, MASE_OP_sigmoid, b));
}

enum mase_status mase_lower_softmin(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    l->param[0] = mase_compose(&k, MASE_OP_neg, l->param[0]);
    l->op = MASE_OP_softmax;
    return k.status;
}

enum mase_status mase_lower_softmax2d(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    return mase_compose_last(&k, MASE_OP_softmax, l->param[0], mase_arg_int(-3));
}

/* ---- arithmetic ---- */

/* clamp_min and clamp_max. */
enum mase_status mase_lower_clamp(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg none = mase_arg_none(), bound = l->param[1];
    const bool low = l->op == MASE_OP_clamp_min;
    return mase_compose_last(&k, MASE_OP_clamp, l->param[0], low ? bound : none,
                             low ? none : bound);
}

enum mase_status mase_lower_lerp(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0];
    struct mase_arg way = mase_compose(&k, MASE_OP_sub, l->param[1], x);
    return mase_compose_last(&k, MASE_OP_add, x, mase_compose(&k, MASE_OP_mul, way, l->param[2]));
}

/* addcmul, and addcdiv, which divides. */
enum mase_status mase_lower_addcmul(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const enum mase_op f = l->op == MASE_OP_addcmul ? MASE_OP_mul : MASE_OP_div;
    const struct mase_arg value = mase_compose_param(&k, "value");
    struct mase_arg y = mase_compose(&k, f, l->param[1], l->param[2]);
    return mase_compose_last(&k, MASE_OP_add, l->param[0], y, value);
}

enum mase_status mase_lower_outer(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    struct mase_ptype type = mase_pvalue_of(&l->param[0])->type;
    type.dim[type.rank++] = (struct mase_extent){ .plus = 1 };
    struct mase_arg column =
        mase_compose(&k, MASE_OP_reshape, l->param[0], mase_lowered_sizes(l, &type));
    return mase_compose_last(&k, MASE_OP_mul, column, l->param[1]);
}

/* ---- edges and new tensors ---- */

/* The layers that widen. */
enum mase_status mase_lower_pad(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_call *c = &l->call[0];
    struct mase_arena *a = &l->program->arena;
    const struct mase_arg *value = mase_call_arg(c, "value");
    return mase_compose_last(
        &k, MASE_OP_pad, l->param[0], mase_arg_copy(a, mase_call_arg(c, "padding")),
        mase_arg_text(mase_pad_mode(c)), value ? mase_arg_copy(a, value) : mase_arg_none());
}

/* zeros_like(x), x.new_zeros(2, 3) ...: what counts of x is its shape and its type. */
enum mase_status mase_lower_like(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_call *c = &l->call[0];
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    struct mase_ptype type;
    const bool one = l->op == MASE_OP_ones_like || l->op == MASE_OP_new_ones;
    const struct mase_arg *fill = mase_call_arg(c, "fill_value");
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        t[s] = l->call[s].result.tensor;
    MASE_TRY(mase_lowered_type(&type, t, c->node, err));
    const struct mase_arg dtype = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[type.dtype].torch };
    return mase_compose_last(&k, MASE_OP_full, mase_lowered_sizes(l, &type),
                             fill ? mase_arg_copy(&l->program->arena, fill) : mase_arg_int(one),
                             dtype);
}

/* ---- numbers drawn ---- */

/* rand or randn in the shape of the result. */
static struct mase_arg drawn(struct mase_compose *k, enum mase_op op)
{
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    struct mase_ptype type;
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        t[s] = k->l->call[s].result.tensor;
    k->status = mase_lowered_type(&type, t, k->l->call[0].node, k->err);
    if (k->status)
        return mase_arg_none();
    const struct mase_arg dtype = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[type.dtype].torch };
    return mase_compose(k, op, mase_lowered_sizes(k->l, &type), dtype);
}

/* y scale + shift, without what changes nothing. */
static enum mase_status set_affine(struct mase_compose *k, struct mase_arg y, double scale,
                                   double shift)
{
    if (scale != 1.0)
        y = mase_compose(k, MASE_OP_mul, y, mase_arg_float(scale));
    if (shift != 0.0)
        y = mase_compose(k, MASE_OP_add, y, mase_arg_float(shift));
    k->l->param[0] = y;
    k->l->alias = true;
    return k->status;
}

/* 1 where what is drawn is below the probability, in the type of the result. */
static enum mase_status set_chances(struct mase_compose *k, struct mase_arg chance)
{
    const struct mase_arg target = { .kind = MASE_ARG_ATOM,
                                     .s = mase_dtypes[k->l->call[0].result.tensor->dtype].torch };
    struct mase_arg below = mase_compose(k, MASE_OP_lt, drawn(k, MASE_OP_rand), chance);
    return mase_compose_last(k, MASE_OP_cast, below,
                             mase_arg_seq(&k->l->program->arena, MASE_ARG_TUPLE, &target, 1));
}

enum mase_status mase_lower_random(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_call *c = &l->call[0];
    const struct mase_arg *p = mase_call_arg(c, "p");
    double from = 0.0, to = 1.0;
    if (l->op == MASE_OP_bernoulli || l->op == MASE_OP_fill_bernoulli)
        return set_chances(&k, mase_arg_present(p) ? *p : l->param[0]);
    if (l->op == MASE_OP_fill_uniform) {
        MASE_TRY(mase_call_float(c, &from, "from", err));
        MASE_TRY(mase_call_float(c, &to, "to", err));
        return set_affine(&k, drawn(&k, MASE_OP_rand), to - from, from);
    }
    if (l->op == MASE_OP_fill_normal) {
        MASE_TRY(mase_call_float(c, &from, "mean", err));
        MASE_TRY(mase_call_float(c, &to, "std", err));
    }
    const bool even = l->op == MASE_OP_rand_like;
    return set_affine(&k, drawn(&k, even ? MASE_OP_rand : MASE_OP_randn), to, from);
}

/* No gradient passes to mean and deviation, as in PyTorch. */
enum mase_status mase_lower_normal(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    struct mase_arg z = mase_compose(&k, MASE_OP_mul, drawn(&k, MASE_OP_randn), l->param[1]);
    struct mase_arg y = mase_compose(&k, MASE_OP_add, z, l->param[0]);
    return mase_compose_last(&k, MASE_OP_detach, y);
}

/* ---- dropout that keeps mean and variance ---- */

/* Dropped values become the least value of selu; an affine function restores mean and variance:
 * a (m x + (1 - m) least) + b, m x being (1 - p) of what dropout makes of x. */
enum mase_status mase_lower_alpha_dropout(struct mase_lowered *l, struct mase_err *err)
{
    const double least = -1.7580993408473766;
    struct mase_compose k = { .l = l, .err = err };
    const bool channels = l->op == MASE_OP_feature_alpha_dropout;
    double p;
    MASE_TRY(mase_call_float(&l->call[0], &p, "p", err));
    l->alias = p == 0.0 || !mase_call_training(&l->call[0], "training", l->program->training);
    if (l->alias)
        return MASE_OK;
    if (!(p > 0.0 && p < 1.0))
        return mase_call_fail(&l->call[0], err, "p = %g must be at least 0 and below 1", p);
    const double a = 1.0 / sqrt((1.0 - p) * (1.0 + p * least * least)), b = -a * least * p;
    struct mase_arg y = mase_compose(&k, MASE_OP_sub, l->param[0], mase_arg_float(least));
    y = mase_compose(&k, channels ? MASE_OP_dropout2d : MASE_OP_dropout, y, mase_arg_float(p),
                     mase_arg_bool(true));
    y = mase_compose(&k, MASE_OP_mul, y, mase_arg_float(a * (1.0 - p)));
    return mase_compose_last(&k, MASE_OP_add, y, mase_arg_float(a * least + b));
}

/* ---- norms ---- */

/* The norm along dim, at least eps, in the shape that divides x. */
static struct mase_arg length_of(struct mase_compose *k, struct mase_arg x, struct mase_arg p,
                                 struct mase_arg dim, struct mase_arg eps)
{
    struct mase_arg norm = mase_compose(k, MASE_OP_norm, x, p, dim, mase_arg_bool(true));
    return mase_compose(k, MASE_OP_clamp, norm, eps);
}

enum mase_status mase_lower_normalize(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0];
    struct mase_arg by = length_of(&k, x, mase_compose_param(&k, "p"),
                                   mase_compose_param(&k, "dim"), mase_compose_param(&k, "eps"));
    return mase_compose_last(&k, MASE_OP_div, x, by);
}

enum mase_status mase_lower_cosine_similarity(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = mase_compose_param(&k, "x1"), y = mase_compose_param(&k, "x2");
    const struct mase_arg dim = mase_compose_param(&k, "dim"), eps = mase_compose_param(&k, "eps");
    const struct mase_arg two = mase_arg_float(2.0);
    struct mase_arg a = mase_compose(&k, MASE_OP_div, x, length_of(&k, x, two, dim, eps));
    struct mase_arg b = mase_compose(&k, MASE_OP_div, y, length_of(&k, y, two, dim, eps));
    return mase_compose_last(&k, MASE_OP_sum, mase_compose(&k, MASE_OP_mul, a, b), dim);
}

enum mase_status mase_lower_pairwise_distance(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg keep = mase_compose_param(&k, "keepdim"), p = mase_compose_param(&k, "p");
    struct mase_arg d =
        mase_compose(&k, MASE_OP_sub, mase_compose_param(&k, "x1"), mase_compose_param(&k, "x2"));
    d = mase_compose(&k, MASE_OP_add, d, mase_compose_param(&k, "eps"));
    return mase_compose_last(&k, MASE_OP_norm, d, p, mase_arg_int(-1), keep);
}

/* ---- bags of rows ---- */

/* (N, L) beside the columns of (N, L, E). */
static struct mase_arg beside_columns(struct mase_compose *k, struct mase_arg x)
{
    if (k->status)
        return x;
    struct mase_ptype type = mase_pvalue_of(&x)->type;
    type.dim[type.rank++] = (struct mase_extent){ .plus = 1 };
    return mase_compose(k, MASE_OP_reshape, x, mase_lowered_sizes(k->l, &type));
}

/* 1 where a row counts, 0 where it is padding. */
static struct mase_arg counted(struct mase_compose *k, struct mase_arg index, int64_t padding)
{
    const struct mase_arg target = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[MASE_F32].torch };
    return mase_compose(k, MASE_OP_cast, mase_compose(k, MASE_OP_ne, index, mase_arg_int(padding)),
                        mase_arg_seq(&k->l->program->arena, MASE_ARG_TUPLE, &target, 1));
}

enum mase_status mase_lower_embedding_bag(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg index = mase_compose_param(&k, "input"), one = mase_arg_int(1);
    const struct mase_arg weight = mase_compose_param(&k, "weight");
    const struct mase_arg scale = mase_compose_param(&k, "per_sample_weights");
    enum mase_bag mode;
    int64_t padding;
    MASE_TRY(mase_bag_mode(&l->call[0], &mode, err));
    MASE_TRY(mase_bag_padding(&l->call[0], &padding, err));
    struct mase_arg rows = mase_compose(&k, MASE_OP_embedding, index, weight);
    if (mase_pvalue_of(&scale))
        rows = mase_compose(&k, MASE_OP_mul, rows, beside_columns(&k, scale));
    if (mode == MASE_BAG_MAX)
        return mase_compose_last(&k, MASE_OP_amax, rows, one);
    if (padding < 0)
        return mase_compose_last(&k, mode == MASE_BAG_MEAN ? MASE_OP_mean : MASE_OP_sum, rows, one);
    const struct mase_arg counts = counted(&k, index, padding);
    rows = mase_compose(&k, MASE_OP_mul, rows, beside_columns(&k, counts));
    if (mode == MASE_BAG_SUM)
        return mase_compose_last(&k, MASE_OP_sum, rows, one);
    struct mase_arg count = mase_compose(&k, MASE_OP_sum, counts, one, mase_arg_bool(true));
    return mase_compose_last(&k, MASE_OP_div, mase_compose(&k, MASE_OP_sum, rows, one),
                             mase_compose(&k, MASE_OP_clamp, count, mase_arg_float(1.0)));
}
