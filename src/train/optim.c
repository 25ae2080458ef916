/*
 * optim.c - PyTorch's Adam, AdamW and SGD, one loop over all parameters.
 */
#include "train/optim.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "exec/plan.h"

/* PyTorch's defaults. */
static const double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

/* PyTorch passes over parameters whose gradient is None. */
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
        struct mase_optim_span *before = o->span_count ? &o->span[o->span_count - 1] : NULL;
        if (before && before->to == from && before->learned == learned)
            before->to += n;
        else
            o->span[o->span_count++] = (struct mase_optim_span){ from, from + n, learned };
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
                                  .momentum = opts->momentum,
                                  .nesterov = opts->momentum > 0 && !opts->plain_momentum,
                                  .clip_value = opts->clip_value,
                                  .clip_norm = opts->clip_norm };
    o->kind = mase_streq(opts->optimizer, "sgd")     ? MASE_OPTIM_SGD
              : mase_streq(opts->optimizer, "adamw") ? MASE_OPTIM_ADAMW
                                                     : MASE_OPTIM_ADAM;
    o->m = mase_plan_floats(o->params.n);
    o->v = o->kind == MASE_OPTIM_SGD ? NULL : mase_plan_floats(o->params.n);
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
    free(o->span);
    o->span_count = 0;
    find_spans(o, p);
}

void mase_optimizer_release(struct mase_optimizer *o)
{
    free(o->span);
    mase_aligned_free(o->m);
    mase_aligned_free(o->v);
    o->m = o->v = NULL;
    o->span = NULL;
}

static void cut_values(const struct mase_optimizer *o, int64_t from, int64_t to)
{
    const float most = (float)o->clip_value;
    for (int64_t i = from; i < to; i++) {
        float *g = &o->params.g[i];
        *g = *g > most ? most : *g < -most ? -most : *g; /* NaN stays, to be seen */
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

/* Every coefficient is rounded once, from double: 1 - 0.999 taken in float32 would be off by 5e-5
 * of itself, and v with it. */
static void set_adam(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    const double t = (double)(o->step + 1);
    const bool decoupled = o->kind == MASE_OPTIM_ADAMW;
    k->decay = decoupled ? 0.0f : (float)o->weight_decay;
    k->keep = decoupled ? (float)(1 - lr * o->weight_decay) : 1.0f;
    k->beta1 = (float)beta1, k->take1 = (float)(1 - beta1);
    k->beta2 = (float)beta2, k->take2 = (float)(1 - beta2);
    k->root = (float)(1 / sqrt(1 - pow(beta2, t))), k->eps = (float)eps;
    k->step = (float)(lr / (1 - pow(beta1, t)));
}

static void set_sgd(struct mase_optim *k, const struct mase_optimizer *o, double lr)
{
    k->decay = (float)o->weight_decay;
    k->beta1 = (float)o->momentum;
    k->step = (float)lr;
    k->nesterov = o->nesterov;
}

static void apply(const struct mase_optimizer *o, double lr, double factor, int64_t from,
                  int64_t to)
{
    const bool sgd = o->kind == MASE_OPTIM_SGD;
    struct mase_optim weights = { .clip = (float)factor };
    (sgd ? set_sgd : set_adam)(&weights, o, lr);
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
        k.m = o->m + at, k.v = sgd ? NULL : o->v + at;
        (sgd ? o->k->sgd : o->k->adam)(&k);
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
    o->step++;
}
