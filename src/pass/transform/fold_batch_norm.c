/*
 * fold_batch_norm.c - in evaluation a batch norm is y = scale x + shift per channel, so the layer
 * before it can do it with other weights:
 *
 *     scale = gamma / sqrt(var + eps),  w' = scale w,  b' = scale (b - mean) + beta
 *
 * computed in double and rounded once. The layer keeps its name and gets a bias if it had none; its
 * weights get memory of their own, so that whoever shares the old ones keeps them. What stays is
 * told, with the reason.
 */
#include <math.h>

#include <mase/log.h>

#include "ir/graph.h"
#include "ir/shape.h"
#include "pass/support.h"
#include "pass/transform/outputs.h"

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

/* ---- what stays ---- */

/* The dimension of a batch norm is the second: of a linear layer's result that must be the last. */
static bool meets_channels(const struct mase_node *layer)
{
    const struct mase_meta_arg *y =
        layer->meta ? mase_meta_result(layer->meta, "data_out_0") : NULL;
    return layer->op != MASE_OP_linear || (y && y->shape.rank == 2);
}

/* Why this batch norm cannot be folded; NULL: it can. */
static const char *reason_to_stay(const struct mase_graph *g, const struct mase_node *n)
{
    const struct mase_node *layer = n->input_count ? n->inputs[0] : NULL;
    const struct mase_module *m = layer ? mase_node_module(layer) : NULL,
                             *norm = mase_node_module(n);
    if (!m || !can_scale(layer->op))
        return "no linear or convolutional layer comes before it";
    if (layer->user_count > 1)
        return "others use the result of the layer before it";
    if (mase_module_calls(g, m) > 1 || mase_module_calls(g, norm) > 1)
        return "it or the layer before it is called several times";
    if (mase_module_is_shared(g, m))
        return "others read the weights of the layer before it";
    if (mase_node_quant(layer) || mase_node_quant(n))
        return "it has number formats: fold before you quantise";
    if (!mase_module_param(norm, "running_mean") || n->mode == MASE_MODE_TRAIN)
        return "it goes by the statistics of the batch";
    if (!meets_channels(layer))
        return "its channels are not the features of the layer before it";
    return mase_module_param(m, "weight")->tensor.data ? NULL : "there are no weights";
}

/* ---- folding ---- */

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

/* Which channel of the result element i of the weight belongs to. A transposed convolution's weight
 * is (in, out / groups, ...). */
static int64_t channel_of(const struct mase_module *m, const struct mase_shape *w, int64_t i)
{
    const struct mase_shape rest = mase_shape_part(w, 1, w->rank);
    const int64_t first = i / mase_shape_count(&rest);
    if (!mase_op_is_transposed(m->op))
        return first;
    const struct mase_shape kernel = mase_shape_part(w, 2, w->rank);
    const int64_t inputs = w->dim[0] / mase_module_attr(m, "groups")->i;
    return first / inputs * w->dim[1] + i / mase_shape_count(&kernel) % w->dim[1];
}

static enum mase_status fold(struct mase_graph *g, struct mase_node *n, struct mase_err *err)
{
    struct mase_node *layer = n->inputs[0];
    struct mase_module *m = mase_node_module(layer);
    const struct mase_module *norm = mase_node_module(n);
    const struct mase_module was = *m; /* its old parameters */
    const struct mase_arg yes = mase_arg_bool(true);
    MASE_TRY(mase_module_set_attr(g, m, "bias", &yes, err));
    struct mase_tensor *w = &mase_module_param(m, "weight")->tensor;
    struct mase_tensor *b = &mase_module_param(m, "bias")->tensor;
    w->data = b->data = NULL;
    mase_graph_alloc(g);
    const double eps = eps_of(norm);
    for (int64_t i = 0; i < mase_tensor_count(w); i++) {
        const int64_t c = channel_of(m, &w->shape, i);
        const double scale =
            number(norm, "weight", c, 1.0) / sqrt(number(norm, "running_var", c, 1.0) + eps);
        mase_tensor_set(w, i, scale * number(&was, "weight", i, 0.0));
    }
    for (int64_t c = 0; c < mase_tensor_count(b); c++) {
        const double scale =
            number(norm, "weight", c, 1.0) / sqrt(number(norm, "running_var", c, 1.0) + eps);
        mase_tensor_set(
            b, c,
            scale * (number(&was, "bias", c, 0.0) - number(norm, "running_mean", c, 0)) +
                number(norm, "bias", c, 0.0));
    }
    mase_graph_replace_uses(g, n, layer, NULL);
    mase_graph_erase(g, n);
    return MASE_OK;
}

static enum mase_status fold_all(struct mase_graph *g, int *folded, struct mase_err *err)
{
    *folded = 0;
    for (struct mase_node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (!is_batch_norm(n))
            continue;
        const char *why = reason_to_stay(g, n);
        if (why) {
            mase_info("fold_batch_norm: %s stays: %s", n->name, why);
            continue;
        }
        MASE_TRY(fold(g, n, err));
        ++*folded;
    }
    mase_graph_sweep(g);
    return MASE_OK;
}

static enum mase_status run(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    int folded;
    (void)opts;
    const struct mase_outputs before = mase_outputs(*g, env);
    MASE_TRY(fold_all(*g, &folded, err));
    const struct mase_outputs after = mase_outputs(*g, env);
    mase_pass_say(env, "Folded %d batch norm%s into the layers before them\n", folded,
                  folded == 1 ? "" : "s");
    mase_outputs_report(env, "fold_batch_norm", folded, &before, &after);
    return MASE_OK;
}

const struct mase_pass mase_pass_fold_batch_norm = {
    .name = "fold_batch_norm",
    .help = "let layers do the batch norms behind them, by other weights",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .transform = run,
};
