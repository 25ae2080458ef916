/*
 * fold_batch_norm.c - in evaluation a batch norm is y = scale x + shift per channel, with
 * scale = gamma / sqrt(var + eps) and shift = beta - scale mean, so other layers can do it with
 * other weights:
 *
 *     the layer before it    w' = scale w,  b' = scale b + shift
 *     the layer behind it    w' = w scale,  b' = b + w shift
 *     that behind a ReLU     relu(scale x + shift) = f relu(p x + shift / f), with scale = f p, f
 *                            above 0 and p a power of two, and w' = w f: the batch norm stays, but
 *                            to multiply by p rounds nothing, so every machine adds the same
 *
 * computed in double and rounded once. Layers keep their names and get a bias if they had none;
 * their weights get memory of their own, so that whoever shares the old ones keeps them. What stays
 * is told, with the reason.
 */
#include <math.h>

#include <mase/log.h>

#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "pass/support.h"

static bool is_batch_norm(const struct mase_node *n)
{
    return n->op == MASE_OP_batch_norm1d || n->op == MASE_OP_batch_norm2d ||
           n->op == MASE_OP_batch_norm3d;
}

static bool can_scale(enum mase_op op)
{
    return op == MASE_OP_linear || op == MASE_OP_conv1d || op == MASE_OP_conv2d ||
           op == MASE_OP_conv3d || mase_op_is_transposed(op);
}

/* ---- checks ---- */

static const char no_layer[] = "no linear or convolutional layer comes before or behind it";

/* Batch norm normalises dimension 1: for a linear layer this must be the last, for a convolution
 * that of the channels. */
static bool matches_channels(const struct mase_node *layer)
{
    const struct mase_meta_arg *y =
        layer->meta ? mase_meta_result(layer->meta, "data_out_0") : NULL;
    const struct mase_param *w = mase_module_param(mase_node_module(layer), "weight");
    return y && y->shape.rank == w->tensor.shape.rank;
}

/* The reason why a layer's weights cannot absorb this batch norm; NULL: they can. */
static const char *reason_to_keep(const struct mase_graph *g, const struct mase_node *n,
                                  const struct mase_node *layer)
{
    const struct mase_module *m = mase_node_module(layer), *norm = mase_node_module(n);
    if (mase_module_calls(g, m) > 1 || mase_module_calls(g, norm) > 1)
        return "it or the layer is called several times";
    if (mase_module_is_shared(g, m) || mase_module_is_shared(g, norm))
        return "others read its weights or those of the layer";
    if (mase_node_quant(layer) || mase_node_quant(n))
        return "it has number formats: fold before you quantise";
    if (!mase_module_param(norm, "running_mean") || n->mode == MASE_MODE_TRAIN)
        return "it goes by the statistics of the batch";
    if (!matches_channels(layer))
        return "its channels are not the features of the layer";
    return mase_module_param(m, "weight")->tensor.data ? NULL : "there are no weights";
}

static bool is_layer(const struct mase_node *n)
{
    return n && n->kind == MASE_CALL_MODULE && can_scale(n->op);
}

/* The only user of the node, if it reads it as data. */
static struct mase_node *only_user(const struct mase_node *n)
{
    struct mase_node *u = n->user_count == 1 ? n->users[0] : NULL;
    return u && u->kind != MASE_OUTPUT && u->input_count == 1 ? u : NULL;
}

static bool has_edges(const struct mase_module *m)
{
    const struct mase_arg *pad = m->op == MASE_OP_linear ? NULL : mase_module_attr(m, "padding");
    bool some = pad && pad->kind != MASE_ARG_INT && !mase_arg_is_seq(pad);
    for (int k = 0; pad && mase_arg_is_seq(pad) && k < pad->count; k++)
        some |= pad->items[k].i != 0;
    return some || (pad && pad->kind == MASE_ARG_INT && pad->i != 0);
}

/* ---- fold ---- */

static double number(const struct mase_module *m, const char *name, int64_t i, double none)
{
    const struct mase_param *p = mase_module_param(m, name);
    return p ? mase_tensor_get(&p->tensor, i) : none;
}

static double eps_of(const struct mase_module *norm)
{
    const struct mase_arg *eps = mase_module_attr(norm, "eps");
    return eps->kind == MASE_ARG_INT ? (double)eps->i : eps->f;
}

struct affine {
    double scale, shift;
};

static struct affine affine_of(const struct mase_module *norm, int64_t c)
{
    const double scale =
        number(norm, "weight", c, 1) / sqrt(number(norm, "running_var", c, 1) + eps_of(norm));
    return (struct affine){ scale, number(norm, "bias", c, 0) -
                                       scale * number(norm, "running_mean", c, 0) };
}

/* The channel of the result, or of the operand, that element i of the weight belongs to. A weight
 * is (out, in / groups, ...), of a transposed convolution (in, out / groups, ...). */
static int64_t channel_of(const struct mase_module *m, const struct mase_shape *w, int64_t i,
                          bool result)
{
    const struct mase_shape rest = mase_shape_part(w, 1, w->rank),
                            kernel = mase_shape_part(w, 2, w->rank);
    const int64_t first = i / mase_shape_count(&rest);
    if (result != mase_op_is_transposed(m->op))
        return first;
    const int64_t groups = m->op == MASE_OP_linear ? 1 : mase_module_attr(m, "groups")->i;
    return first / (w->dim[0] / groups) * w->dim[1] + i / mase_shape_count(&kernel) % w->dim[1];
}

/* Give a layer new weights; `was` gets its old parameters. */
static enum mase_status renew(struct mase_graph *g, struct mase_module *m, struct mase_module *was,
                              struct mase_err *err)
{
    const struct mase_arg yes = mase_arg_bool(true);
    *was = *m;
    MASE_TRY(mase_module_set_attr(g, m, "bias", &yes, err));
    mase_module_param(m, "weight")->tensor.data = mase_module_param(m, "bias")->tensor.data = NULL;
    mase_graph_alloc(g);
    return MASE_OK;
}

/* Fold into the layer before. */
static enum mase_status fold_back(struct mase_graph *g, struct mase_node *n, struct mase_err *err)
{
    struct mase_node *layer = n->inputs[0];
    struct mase_module *m = mase_node_module(layer), was;
    const struct mase_module *norm = mase_node_module(n);
    MASE_TRY(renew(g, m, &was, err));
    struct mase_tensor *w = &mase_module_param(m, "weight")->tensor;
    struct mase_tensor *b = &mase_module_param(m, "bias")->tensor;
    for (int64_t i = 0; i < mase_tensor_count(w); i++)
        mase_tensor_set(w, i,
                        affine_of(norm, channel_of(m, &w->shape, i, true)).scale *
                            number(&was, "weight", i, 0));
    for (int64_t c = 0; c < mase_tensor_count(b); c++) {
        const struct affine y = affine_of(norm, c);
        mase_tensor_set(b, c, y.scale * number(&was, "bias", c, 0) + y.shift);
    }
    mase_graph_replace_uses(g, n, layer, NULL);
    mase_graph_erase(g, n);
    return MASE_OK;
}

/* Give a layer the weights with which it computes these affine functions of its operand. */
static enum mase_status fold_into(struct mase_graph *g, struct mase_arena *a,
                                  const struct mase_node *layer, const struct affine *affine,
                                  struct mase_err *err)
{
    struct mase_module *m = mase_node_module(layer), was;
    MASE_TRY(renew(g, m, &was, err));
    struct mase_tensor *w = &mase_module_param(m, "weight")->tensor;
    struct mase_tensor *b = &mase_module_param(m, "bias")->tensor;
    double *sum = mase_new_array(a, double, (size_t)mase_tensor_count(b));
    for (int64_t i = 0; i < mase_tensor_count(w); i++) {
        const struct affine y = affine[channel_of(m, &w->shape, i, false)];
        const double old = number(&was, "weight", i, 0);
        mase_tensor_set(w, i, old * y.scale);
        sum[channel_of(m, &w->shape, i, true)] += old * y.shift;
    }
    for (int64_t c = 0; c < mase_tensor_count(b); c++)
        mase_tensor_set(b, c, number(&was, "bias", c, 0) + sum[c]);
    return MASE_OK;
}

/* Fold into the layer after. */
static enum mase_status fold_forward(struct mase_graph *g, struct mase_arena *a,
                                     struct mase_node *n, struct mase_err *err)
{
    const struct mase_module *norm = mase_node_module(n);
    const int64_t channels = mase_tensor_count(&mase_module_param(norm, "running_mean")->tensor);
    struct affine *affine = mase_new_array(a, struct affine, (size_t)channels);
    for (int64_t c = 0; c < channels; c++)
        affine[c] = affine_of(norm, c);
    MASE_TRY(fold_into(g, a, n->users[0], affine, err));
    mase_graph_replace_uses(g, n, n->inputs[0], NULL);
    mase_graph_erase(g, n);
    return MASE_OK;
}

/* Split scale = f p: p, a power of two, for the batch norm, and f for the layer after the ReLU. A
 * scale of 0 keeps the shift. */
static double power_of(double scale, double *f)
{
    int e;
    *f = fabs(frexp(scale, &e)) * 2; /* in [1, 2) */
    if (scale == 0)
        *f = 1;
    return scale == 0 ? 0 : copysign(ldexp(1, e - 1), scale);
}

/* Is the scale a power of two already, and the rest trivial? */
static bool is_power(const struct mase_module *norm, int64_t channels)
{
    bool all = eps_of(norm) == 0;
    for (int64_t c = 0; c < channels; c++) {
        double f;
        power_of(affine_of(norm, c).scale, &f);
        all &= f == 1 && number(norm, "running_mean", c, 0) == 0 &&
               number(norm, "running_var", c, 1) == 1;
    }
    return all;
}

/* Reduce the scale to a power of two; the layer after the ReLU takes the rest. */
static enum mase_status fold_past_relu(struct mase_graph *g, struct mase_arena *a,
                                       struct mase_node *n, struct mase_err *err)
{
    struct mase_module *norm = mase_node_module(n);
    const struct mase_arg none = mase_arg_float(0);
    struct mase_tensor *w = &mase_module_param(norm, "weight")->tensor,
                       *b = &mase_module_param(norm, "bias")->tensor,
                       *mean = &mase_module_param(norm, "running_mean")->tensor,
                       *var = &mase_module_param(norm, "running_var")->tensor;
    const int64_t channels = mase_tensor_count(w);
    struct affine *affine = mase_new_array(a, struct affine, (size_t)channels),
                  *rest = mase_new_array(a, struct affine, (size_t)channels);
    for (int64_t c = 0; c < channels; c++) {
        const struct affine y = affine_of(norm, c);
        affine[c].scale = power_of(y.scale, &rest[c].scale);
        affine[c].shift = y.shift / rest[c].scale;
    }
    MASE_TRY(fold_into(g, a, n->users[0]->users[0], rest, err));
    w->data = b->data = mean->data = var->data = NULL;
    mase_graph_alloc(g);
    for (int64_t c = 0; c < channels; c++) {
        mase_tensor_set(w, c, affine[c].scale);
        mase_tensor_set(b, c, affine[c].shift);
        mase_tensor_set(mean, c, 0);
        mase_tensor_set(var, c, 1);
    }
    return mase_module_set_attr(g, norm, "eps", &none, err);
}

/* ---- choose ---- */

enum way { STAYS, BACK, FORWARD, PAST_RELU, WAYS };

static const char *reason_not_back(const struct mase_graph *g, const struct mase_node *n)
{
    const struct mase_node *layer = n->input_count ? n->inputs[0] : NULL;
    if (!is_layer(layer))
        return no_layer;
    return layer->user_count > 1 ? "others use the result of the layer before it"
                                 : reason_to_keep(g, n, layer);
}

static const char *reason_not_forward(const struct mase_graph *g, const struct mase_node *n)
{
    const struct mase_node *layer = only_user(n);
    if (!is_layer(layer))
        return no_layer;
    if (mase_op_is_transposed(layer->op) || has_edges(mase_node_module(layer)))
        return "the layer behind it does not see its shift everywhere: it pads, or is transposed";
    return reason_to_keep(g, n, layer);
}

static const char *reason_not_past_relu(const struct mase_graph *g, const struct mase_node *n)
{
    const struct mase_node *relu = only_user(n),
                           *layer = relu && relu->op == MASE_OP_relu ? only_user(relu) : NULL;
    const struct mase_module *norm = mase_node_module(n);
    const struct mase_param *weight = mase_module_param(norm, "weight");
    if (!is_layer(layer) || !weight || mase_node_quant(relu))
        return no_layer;
    const char *why = reason_to_keep(g, n, layer);
    return !why && is_power(norm, mase_tensor_count(&weight->tensor))
               ? "its scales are powers of two, and a ReLU is behind it"
               : why;
}

/* Where the batch norm can be folded; *why: the reason if nowhere. */
static enum way way_of(const struct mase_graph *g, const struct mase_node *n, const char **why)
{
    static const struct {
        enum way way;
        const char *(*reason)(const struct mase_graph *g, const struct mase_node *n);
    } ways[] = { { BACK, reason_not_back },
                 { FORWARD, reason_not_forward },
                 { PAST_RELU, reason_not_past_relu } };
    *why = no_layer;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const char *reason = ways[k].reason(g, n);
        if (!reason)
            return ways[k].way;
        if (*why == no_layer)
            *why = reason;
    }
    return STAYS;
}

static enum mase_status fold_all(struct mase_graph *g, struct mase_arena *a, int folded[WAYS],
                                 struct mase_err *err)
{
    for (struct mase_node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (!is_batch_norm(n))
            continue;
        const char *why;
        const enum way way = way_of(g, n, &why);
        folded[way]++;
        if (way == STAYS)
            mase_info("fold_batch_norm: %s stays: %s", n->name, why);
        else
            MASE_TRY(way == BACK      ? fold_back(g, n, err)
                     : way == FORWARD ? fold_forward(g, a, n, err)
                                      : fold_past_relu(g, a, n, err));
    }
    mase_graph_sweep(g);
    return MASE_OK;
}

static enum mase_status run(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    int folded[WAYS] = { 0 };
    (void)opts;
    MASE_TRY(fold_all(*g, env->scratch, folded, err));
    mase_pass_say(env, "Folded %d batch norm%s into the layers before them\n", folded[BACK],
                  folded[BACK] == 1 ? "" : "s");
    if (folded[FORWARD])
        mase_pass_say(env, "Folded %d into the layers behind them\n", folded[FORWARD]);
    if (folded[PAST_RELU])
        mase_pass_say(env,
                      "%d before a ReLU %s scales that are powers of two, the layers behind the "
                      "ReLU the rest\n",
                      folded[PAST_RELU], folded[PAST_RELU] == 1 ? "has" : "have");
    env->changed = folded[BACK] + folded[FORWARD] + folded[PAST_RELU];
    return MASE_OK;
}

const struct mase_pass mase_pass_fold_batch_norm = {
    .name = "fold_batch_norm",
    .help = "let layers do the batch norms beside them, by other weights",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .transform = run,
    .same_outputs = true,
};
