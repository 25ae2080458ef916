/*
 * optim.c - optimisers as PyTorch has them, one loop over all parameters; and Lion (Chen et al.,
 * 2023).
 */
#include "train/optim.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"

/* ---- the table ---- */

/* PyTorch's defaults. */
static const double usual_beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
static const double lion_beta2 = 0.99, rmsprop_alpha = 0.99, adagrad_eps = 1e-10;
static const double nadam_decay = 4e-3;

/* Every coefficient is rounded once, from double: 1 - 0.999 taken in float32 would be off by 5e-5
 * of itself, and v with it. */
static void set_adam(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    const double t = (double)(o->step + 1);
    k->beta1 = (float)o->beta1, k->take1 = (float)(1 - o->beta1);
    k->beta2 = (float)beta2, k->take2 = (float)(1 - beta2);
    k->root = (float)(1 / sqrt(1 - pow(beta2, t))), k->eps = (float)eps;
    k->step = (float)(lr / (1 - pow(o->beta1, t)));
}

static void set_sgd(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    k->beta1 = (float)o->beta1;
    k->step = (float)lr;
    k->nesterov = o->nesterov;
}

/* The momentum of step t, counted from 1, which rises to beta1. */
static double nadam_momentum(const struct mase_optimizer *o, int64_t t)
{
    return o->beta1 * (1 - 0.5 * pow(0.96, (double)t * nadam_decay));
}

static void set_nadam(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    const double mu = nadam_momentum(o, o->step + 1), next = nadam_momentum(o, o->step + 2);
    set_adam(k, o, lr);
    k->step = (float)(lr * next / (1 - o->mu * mu * next));
    k->ahead = (float)(lr * (1 - mu) / (1 - o->mu * mu));
}

static void set_rmsprop(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    (void)o;
    k->beta2 = (float)rmsprop_alpha, k->take2 = (float)(1 - rmsprop_alpha);
    k->eps = (float)eps;
    k->step = (float)lr;
}

static void set_adagrad(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    (void)o;
    k->beta2 = k->take2 = 1.0f;
    k->eps = (float)adagrad_eps;
    k->step = (float)lr;
}

static void set_lion(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    k->beta1 = (float)o->beta1, k->take1 = (float)(1 - o->beta1);
    k->beta2 = (float)lion_beta2, k->take2 = (float)(1 - lion_beta2);
    k->step = (float)lr;
}

#define RUN(name)                                                              \
    static void name(const struct mase_kernels *k, const struct mase_optim *o) \
    {                                                                          \
        k->name(o);                                                            \
    }
RUN(adam)
RUN(sgd)
RUN(nadam)
RUN(root_square)
RUN(lion)

static const struct mase_optim_row table[] = {
    { "adam", "Adam", "exp_avg", "exp_avg_sq", true, false, set_adam, adam },
    { "adamw", "AdamW", "exp_avg", "exp_avg_sq", true, true, set_adam, adam },
    { "sgd", "SGD", "momentum_buffer", NULL, false, false, set_sgd, sgd },
    { "nadam", "NAdam", "exp_avg", "exp_avg_sq", true, false, set_nadam, nadam },
    { "rmsprop", "RMSprop", NULL, "square_avg", true, false, set_rmsprop, root_square },
    { "adagrad", "Adagrad", NULL, "sum", true, false, set_adagrad, root_square },
    { "lion", "Lion", "exp_avg", NULL, false, true, set_lion, lion },
};

const char *const mase_optimizer_names[] = { "adam",    "adamw",   "sgd",  "nadam",
                                             "rmsprop", "adagrad", "lion", NULL };

const struct mase_optim_row *mase_optim_row(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (mase_streq(table[i].name, name))
            return &table[i];
    mase_bug("no optimiser is called %s", name);
}

const char *mase_optimizer_title(const char *name)
{
    return mase_optim_row(name)->title;
}

/* ---- create, release ---- */

/* Is the learned number a step or a bound, which stays above 0? */
static bool is_size(const struct mase_plan *p, const struct mase_param *param)
{
    for (const struct mase_node *n = p->graph->first; n; n = n->next)
        for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
            const struct mase_quant *q = mase_node_quant(n);
            const struct mase_format *f = q && !q->bypass ? q->operand[i] : NULL;
            if (mase_format_learned(f) && f->row->learned->sized &&
                mase_learned_param(n, (enum mase_operand)i, 0) == param)
                return true;
        }
    return false;
}

/* As PyTorch, skip parameters that have no gradient. */
static void find_spans(struct mase_optimizer *o, const struct mase_plan *p)
{
    o->span = mase_xcalloc((size_t)(p->weight_count + 1) * sizeof *o->span);
    for (int i = 0; i < p->weight_count; i++) {
        const struct mase_weight *w = &p->weight[i];
        if (!w->dx || !mase_plan_reaches(p, w))
            continue;
        const int64_t from = w->x - o->params.w;
        const int64_t n = (w->count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
        const bool learned = w->param->init == MASE_INIT_UNSET;
        const bool sizes = learned && is_size(p, w->param);
        struct mase_optim_span *before = o->span_count ? &o->span[o->span_count - 1] : NULL;
        if (before && before->to == from && before->learned == learned && before->sizes == sizes)
            before->to += n;
        else
            o->span[o->span_count++] = (struct mase_optim_span){ from, from + n, learned, sizes };
    }
}

enum mase_status mase_optimizer_init(struct mase_optimizer *o, const struct mase_plan *p,
                                     const struct mase_train_opts *opts, struct mase_err *err)
{
    const struct mase_kernels *k;
    MASE_TRY(mase_kernels_select(&k, err));
    *o = (struct mase_optimizer){ .k = k,
                                  .params = mase_plan_params(p),
                                  .weight_decay = opts->weight_decay,
                                  .nesterov = opts->momentum > 0 && !opts->plain_momentum,
                                  .clip_value = opts->clip_value,
                                  .clip_norm = opts->clip_norm };
    o->row = mase_optim_row(opts->optimizer);
    if (mase_train_cycle(opts).momentum && !o->row->m)
        return mase_fail(err, MASE_EVALUE,
                         "lr_schedule = onecycle moves the momentum, and %s has none: "
                         "constant_momentum leaves that out",
                         o->row->name);
    o->usual = o->beta1 = mase_streq(o->row->name, "sgd") ? opts->momentum : usual_beta1;
    o->m = o->row->m ? mase_plan_floats(o->params.n) : NULL;
    o->v = o->row->v ? mase_plan_floats(o->params.n) : NULL;
    o->mu = 1;
    find_spans(o, p);
    return MASE_OK;
}

void mase_optimizer_move(struct mase_optimizer *o, const struct mase_plan *p)
{
    const struct mase_plan_params params = mase_plan_params(p);
    if (params.n != o->params.n)
        mase_bug("a plan of %lld parameters in place of one of %lld", (long long)params.n,
                 (long long)o->params.n);
    o->params = params;
    mase_xfree(o->span);
    o->span_count = 0;
    find_spans(o, p);
}

void mase_optimizer_release(struct mase_optimizer *o)
{
    mase_xfree(o->span);
    mase_aligned_free(o->m);
    mase_aligned_free(o->v);
    o->m = o->v = NULL;
    o->span = NULL;
}

/* ---- steps ---- */

static void cut_values(const struct mase_optimizer *o, int64_t from, int64_t to)
{
    const float most = (float)o->clip_value;
    for (int64_t i = from; i < to; i++) {
        float *g = &o->params.g[i];
        *g = *g > most ? most : *g < -most ? -most : *g; /* NaN passes, so that it is noticed */
    }
}

/* torch.nn.utils.clip_grad_norm_: the factor that makes the gradients' length at most clip_norm. */
static double norm_factor(const struct mase_optimizer *o)
{
    double sum = 0;
    for (int64_t i = 0; i < o->params.n; i++)
        sum += (double)o->params.g[i] * o->params.g[i];
    return fmin(o->clip_norm / (sqrt(sum) + 1e-6), 1);
}

/* Multiply steps and bounds by factors, so that none crosses zero: the optimiser's update is taken
 * as one of log s, whose gradient is s times that of s. For plain gradient descent this is, to
 * first order, the update of s itself. A factor lies between 1/2 and 2. */
static void move_sizes(const struct mase_optimizer *o, const struct mase_optim *all)
{
    enum { AT_ONCE = 16 * MASE_LANES };
    const double most = 0.69314718055994531;
    _Alignas(64) float g[AT_ONCE], added[AT_ONCE];
    struct mase_optim k = *all;
    for (long at = 0; at < all->n; at += k.n) {
        k.n = all->n - at < AT_ONCE ? all->n - at : AT_ONCE;
        for (long i = 0; i < k.n; i++) {
            const float s = all->w[at + i];
            g[i] = s > 0 ? all->g[at + i] / s
                         : 0.0f; /* lanes after the last are 0: vectors are whole */
            added[i] = 0;
        }
        k.w = added, k.g = g;
        k.m = all->m ? all->m + at : NULL, k.v = all->v ? all->v + at : NULL;
        o->row->run(o->k, &k);
        for (long i = 0; i < k.n; i++) {
            const double d = (double)added[i];
            all->w[at + i] *= (float)exp(d > most ? most : d < -most ? -most : d); /* NaN passes */
        }
    }
}

static void apply(const struct mase_optimizer *o, double lr, double factor, int64_t from,
                  int64_t to)
{
    struct mase_optim weights = { .clip = (float)factor, .keep = 1 };
    if (o->row->decoupled)
        weights.keep = (float)(1 - lr * o->weight_decay);
    else
        weights.decay = (float)o->weight_decay;
    o->row->set(&weights, o, lr);
    for (int i = 0; i < o->span_count; i++) {
        const struct mase_optim_span *s = &o->span[i];
        struct mase_optim k = weights;
        if (s->learned)
            k.decay = 0, k.keep = 1;
        const int64_t at = s->from > from ? s->from : from;
        const int64_t end = s->to < to ? s->to : to;
        if (at >= end)
            continue;
        k.n = (long)(end - at);
        k.w = o->params.w + at, k.g = o->params.g + at;
        k.m = o->m ? o->m + at : NULL, k.v = o->v ? o->v + at : NULL;
        if (s->sizes)
            move_sizes(o, &k);
        else
            o->row->run(o->k, &k);
    }
}

bool mase_optimizer_has_parts(const struct mase_optimizer *o)
{
    return !(o->clip_norm > 0);
}

void mase_optimizer_part(const struct mase_optimizer *o, double lr, int64_t from, int64_t to)
{
    if (o->clip_value > 0)
        cut_values(o, from, to);
    apply(o, lr, 1.0, from, to);
}

void mase_optimizer_step(struct mase_optimizer *o, double lr)
{
    if (o->clip_value > 0)
        cut_values(o, 0, o->params.n);
    apply(o, lr, o->clip_norm > 0 ? norm_factor(o) : 1.0, 0, o->params.n);
    mase_optimizer_count(o);
}

void mase_optimizer_count(struct mase_optimizer *o)
{
    o->step++;
    o->mu *= nadam_momentum(o, o->step);
}

void mase_optimizer_set_steps(struct mase_optimizer *o, int64_t steps,
                              const struct mase_train_opts *opts, int64_t steps_per_epoch)
{
    o->step = 0;
    o->mu = 1;
    while (o->step < steps) {
        const struct mase_train_at at = { .step = o->step, .steps = steps_per_epoch };
        o->beta1 = mase_train_momentum(opts, &at, o->usual);
        mase_optimizer_count(o);
    }
}
