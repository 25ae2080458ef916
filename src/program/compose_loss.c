/*
 * compose_loss.c - losses in the words of other operations: so they have gradients, and a plan
 * computes what they are for each sample. What reduces them, a mean or sum, goes over the samples.
 */
#include "ir/shape/shape.h"
#include "program/compose.h"

static struct mase_arg to_float(struct mase_compose *k, struct mase_arg x)
{
    const struct mase_arg type = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[MASE_F32].torch };
    return mase_compose(k, MASE_OP_cast, x,
                        mase_arg_seq(&k->l->program->arena, MASE_ARG_TUPLE, &type, 1));
}

/* The loss of each position, reduced as the call says. */
static enum mase_status reduce(struct mase_compose *k, struct mase_arg loss)
{
    const char *how = mase_call_text(&k->l->call[0], "reduction", "mean");
    if (mase_streq(how, "none")) {
        k->l->param[0] = loss;
        k->l->alias = true;
        return k->status;
    }
    if (mase_streq(how, "batchmean")) {
        const struct mase_ptype *type = k->status ? NULL : &mase_pvalue_of(&loss)->type;
        const struct mase_arg rows = type ? mase_lowered_sizes(k->l, type).items[0] : loss;
        return mase_compose_last(k, MASE_OP_div, mase_compose(k, MASE_OP_sum, loss), rows);
    }
    return mase_compose_last(k, mase_streq(how, "sum") ? MASE_OP_sum : MASE_OP_mean, loss);
}

static struct mase_arg weighed(struct mase_compose *k, struct mase_arg loss)
{
    const struct mase_arg weight = mase_compose_param(k, "weight");
    return mase_pvalue_of(&weight) ? mase_compose(k, MASE_OP_mul, loss, weight) : loss;
}

/* ---- of each number ---- */

enum mase_status mase_lower_mse_loss(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg d = mase_compose(&k, MASE_OP_sub, l->param[0], l->param[1]);
    return reduce(&k, mase_compose(&k, MASE_OP_mul, d, d));
}

enum mase_status mase_lower_l1_loss(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg d = mase_compose(&k, MASE_OP_sub, l->param[0], l->param[1]);
    return reduce(&k, mase_compose(&k, MASE_OP_abs, d));
}

/* huber_loss, and smooth_l1_loss, which is that over its bound; without one it is l1_loss. */
enum mase_status mase_lower_huber_loss(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const bool smooth = l->op == MASE_OP_smooth_l1_loss;
    double bound;
    MASE_TRY(mase_call_float(&l->call[0], &bound, smooth ? "beta" : "delta", err));
    if (bound == 0.0)
        return mase_lower_l1_loss(l, err);
    const double scale = smooth ? 1.0 / bound : 1.0;
    const struct mase_arg edge = mase_arg_float(bound);
    const struct mase_arg d = mase_compose(&k, MASE_OP_sub, l->param[0], l->param[1]);
    const struct mase_arg size = mase_compose(&k, MASE_OP_abs, d);
    struct mase_arg square = mase_compose(&k, MASE_OP_mul, d, d);
    square = mase_compose(&k, MASE_OP_mul, square, mase_arg_float(0.5 * scale));
    struct mase_arg linear = mase_compose(&k, MASE_OP_sub, size, mase_arg_float(0.5 * bound));
    linear = mase_compose(&k, MASE_OP_mul, linear, mase_arg_float(bound * scale));
    const struct mase_arg small = mase_compose(&k, MASE_OP_lt, size, edge);
    return reduce(&k, mase_compose(&k, MASE_OP_where, small, square, linear));
}

/* log x, at least -100, as PyTorch has it; its slope is 0 where x is. */
static struct mase_arg log_of(struct mase_compose *k, struct mase_arg x)
{
    const double least = 1.1754943508222875e-38;
    const struct mase_arg some = mase_compose(k, MASE_OP_ge, x, mase_arg_float(least));
    struct mase_arg y = mase_compose(k, MASE_OP_clamp, x, mase_arg_float(least));
    y = mase_compose(k, MASE_OP_log, y);
    return mase_compose(k, MASE_OP_where, some, y, mase_arg_float(-100.0));
}

static struct mase_arg one_minus(struct mase_compose *k, struct mase_arg x)
{
    return mase_compose(k, MASE_OP_add, mase_compose(k, MASE_OP_neg, x), mase_arg_float(1.0));
}

enum mase_status mase_lower_binary_cross_entropy(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0], t = l->param[1];
    const struct mase_arg yes = mase_compose(&k, MASE_OP_mul, t, log_of(&k, x));
    const struct mase_arg no =
        mase_compose(&k, MASE_OP_mul, one_minus(&k, t), log_of(&k, one_minus(&k, x)));
    const struct mase_arg sum = mase_compose(&k, MASE_OP_add, yes, no);
    return reduce(&k, weighed(&k, mase_compose(&k, MASE_OP_neg, sum)));
}

/* (1 - t) x - w log sigmoid(x), w = 1 + (pos_weight - 1) t. */
enum mase_status mase_lower_bce_with_logits(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0], t = l->param[1];
    const struct mase_arg positive = mase_compose_param(&k, "pos_weight");
    struct mase_arg bend = mase_compose(&k, MASE_OP_logsigmoid, x);
    if (mase_pvalue_of(&positive)) {
        struct mase_arg w = mase_compose(&k, MASE_OP_sub, positive, mase_arg_float(1.0));
        w = mase_compose(&k, MASE_OP_mul, t, w);
        w = mase_compose(&k, MASE_OP_add, w, mase_arg_float(1.0));
        bend = mase_compose(&k, MASE_OP_mul, bend, w);
    }
    const struct mase_arg linear = mase_compose(&k, MASE_OP_mul, one_minus(&k, t), x);
    return reduce(&k, weighed(&k, mase_compose(&k, MASE_OP_sub, linear, bend)));
}

/* t (log t - x), 0 where t is; with log_target the target is the log. */
enum mase_status mase_lower_kl_div(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0], t = l->param[1];
    const struct mase_arg *logs = mase_call_arg(&l->call[0], "log_target");
    const bool is_log = logs && mase_arg_truthy(logs);
    const struct mase_arg share = is_log ? mase_compose(&k, MASE_OP_exp, t) : t;
    struct mase_arg own = mase_compose(&k, MASE_OP_mul, share, is_log ? t : log_of(&k, t));
    const struct mase_arg cross = mase_compose(&k, MASE_OP_mul, share, x);
    return reduce(&k, mase_compose(&k, MASE_OP_sub, own, cross));
}

/* ---- of classes ---- */

/* Operands of cross_entropy and nll_loss. */
struct entropy {
    struct mase_arg logp, target, weight; /* weight: of the classes; no value: none */
    struct mase_ptype positions;          /* those of the target */
    int64_t classes;
    int axis; /* of the classes */
    double smoothing;
};

static struct mase_arg reshaped(struct mase_compose *k, struct mase_arg x,
                                const struct mase_ptype *to)
{
    return mase_compose(k, MASE_OP_reshape, x, mase_lowered_sizes(k->l, to));
}

/* The classes' weights beside the values of logp. */
static struct mase_arg beside(struct mase_compose *k, const struct entropy *e)
{
    struct mase_ptype type = { .rank = e->positions.rank + 1 - e->axis };
    for (int d = 0; d < type.rank; d++)
        type.dim[d].plus = d ? 1 : e->classes;
    return reshaped(k, e->weight, &type);
}

/* minus the mean of logp over the classes, each with its weight. */
static struct mase_arg spread(struct mase_compose *k, const struct entropy *e)
{
    struct mase_arg x = e->logp;
    if (mase_pvalue_of(&e->weight))
        x = mase_compose(k, MASE_OP_mul, x, beside(k, e));
    x = mase_compose(k, MASE_OP_sum, x, mase_arg_int(e->axis));
    return mase_compose(k, MASE_OP_mul, x, mase_arg_float(-1.0 / (double)e->classes));
}

/* The weight of each position by its class. */
static struct mase_arg weight_at(struct mase_compose *k, const struct entropy *e,
                                 struct mase_arg index, struct mase_arg counts)
{
    const struct mase_ptype column = { .rank = 2, .dim = { { e->classes, 0 }, { 1, 0 } } };
    if (!mase_pvalue_of(&e->weight))
        return counts;
    struct mase_arg w = reshaped(k, e->weight, &column);
    w = reshaped(k, mase_compose(k, MASE_OP_embedding, index, w), &e->positions);
    return mase_compose(k, MASE_OP_mul, w, counts);
}

/* The target names a class, or says that the position does not count. A mean is that over the
 * weights. */
static enum mase_status by_class(struct mase_compose *k, const struct entropy *e)
{
    const char *how = mase_call_text(&k->l->call[0], "reduction", "mean");
    struct mase_ptype column = e->positions;
    for (int d = column.rank++; d > e->axis; d--)
        column.dim[d] = column.dim[d - 1];
    column.dim[e->axis] = (struct mase_extent){ .plus = 1 };
    const struct mase_arg is_there =
        mase_compose(k, MASE_OP_ne, e->target, mase_compose_param(k, "ignore_index"));
    const struct mase_arg index =
        mase_compose(k, MASE_OP_where, is_there, e->target, mase_arg_int(0));
    const struct mase_arg counts = to_float(k, is_there);
    const struct mase_arg weight = weight_at(k, e, index, counts);
    struct mase_arg loss = mase_compose(k, MASE_OP_gather, e->logp, mase_arg_int(e->axis),
                                        reshaped(k, index, &column));
    loss = mase_compose(k, MASE_OP_mul, reshaped(k, loss, &e->positions), weight);
    loss = mase_compose(k, MASE_OP_mul, loss, mase_arg_float(e->smoothing - 1.0));
    if (e->smoothing > 0.0) {
        struct mase_arg all = mase_compose(k, MASE_OP_mul, spread(k, e), counts);
        all = mase_compose(k, MASE_OP_mul, all, mase_arg_float(e->smoothing));
        loss = mase_compose(k, MASE_OP_add, loss, all);
    }
    if (!mase_streq(how, "mean"))
        return reduce(k, loss);
    return mase_compose_last(k, MASE_OP_div, mase_compose(k, MASE_OP_sum, loss),
                             mase_compose(k, MASE_OP_sum, weight));
}

/* The target is a share for each class. A mean is that over the positions. */
static enum mase_status by_shares(struct mase_compose *k, const struct entropy *e)
{
    struct mase_arg share = e->target;
    if (e->smoothing > 0.0) {
        const double each = e->smoothing / (double)e->classes;
        share = mase_compose(k, MASE_OP_mul, share, mase_arg_float(1.0 - e->smoothing));
        share = mase_compose(k, MASE_OP_add, share, mase_arg_float(each));
    }
    if (mase_pvalue_of(&e->weight))
        share = mase_compose(k, MASE_OP_mul, share, beside(k, e));
    struct mase_arg loss = mase_compose(k, MASE_OP_mul, share, e->logp);
    loss = mase_compose(k, MASE_OP_sum, loss, mase_arg_int(e->axis));
    return reduce(k, mase_compose(k, MASE_OP_neg, loss));
}

enum mase_status mase_lower_entropy(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_ptype *x = &mase_pvalue_of(&l->param[0])->type;
    struct entropy e = { .logp = l->param[0], .target = l->param[1], .axis = x->rank > 1 };
    const bool logits = l->op == MASE_OP_crossentropyloss;
    e.weight = mase_compose_param(&k, "weight");
    e.classes = x->dim[e.axis].plus;
    for (int d = 0; d < x->rank; d++)
        if (d != e.axis)
            e.positions.dim[e.positions.rank++] = x->dim[d];
    if (logits) {
        MASE_TRY(mase_call_float(&l->call[0], &e.smoothing, "label_smoothing", err));
        e.logp = mase_compose(&k, MASE_OP_log_softmax, e.logp, mase_arg_int(e.axis));
    }
    if (x->dim[e.axis].times && (e.smoothing > 0.0 || mase_pvalue_of(&e.weight)))
        return mase_call_fail(&l->call[0], err,
                              "the samples are the classes: then there are no weights and no "
                              "smoothing");
    if (mase_pvalue_of(&e.target)->type.dtype == MASE_I64)
        return by_class(&k, &e);
    return by_shares(&k, &e);
}
