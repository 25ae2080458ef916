/*
 * optim.c - PyTorch's Adam, AdamW and SGD, one loop over all parameters.
 */
#include "train/optim.h"

#include <math.h>
#include <stdlib.h>

#include "exec/plan.h"

/* PyTorch's defaults. */
static const double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

enum mase_status mase_optimizer_init(struct mase_optimizer *o, const struct mase_plan *p,
                                     const struct mase_train_opts *opts, struct mase_err *err)
{
    const struct mase_kernels *k;
    MASE_TRY(mase_kernels_select(&k, err));
    *o = (struct mase_optimizer){ .k = k,
                                  .params = mase_plan_params(p),
                                  .weight_decay = opts->weight_decay,
                                  .momentum = opts->momentum,
                                  .clip_value = opts->clip_value,
                                  .clip_norm = opts->clip_norm };
    o->kind = mase_streq(opts->optimizer, "sgd")     ? MASE_OPTIM_SGD
              : mase_streq(opts->optimizer, "adamw") ? MASE_OPTIM_ADAMW
                                                     : MASE_OPTIM_ADAM;
    o->m = mase_plan_floats(o->params.n);
    o->v = o->kind == MASE_OPTIM_SGD ? NULL : mase_plan_floats(o->params.n);
    return MASE_OK;
}

void mase_optimizer_release(struct mase_optimizer *o)
{
    free(o->m);
    free(o->v);
    o->m = o->v = NULL;
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

static void apply(const struct mase_optimizer *o, double lr, double factor, int64_t from,
                  int64_t to)
{
    const bool sgd = o->kind == MASE_OPTIM_SGD;
    const struct mase_optim step = {
        .w = o->params.w + from,
        .g = o->params.g + from,
        .m = o->m + from,
        .v = o->v ? o->v + from : NULL,
        .n = (long)(to - from),
        .lr = (float)lr,
        .beta1 = (float)(sgd ? o->momentum : beta1),
        .beta2 = (float)beta2,
        .eps = (float)eps,
        .decay = (float)o->weight_decay,
        .bias1 = (float)(1 - pow(beta1, (double)(o->step + 1))),
        .bias2 = (float)(1 - pow(beta2, (double)(o->step + 1))),
        .clip = (float)factor,
        .decoupled = o->kind == MASE_OPTIM_ADAMW,
        .nesterov = true,
        .first = o->step == 0,
    };
    (sgd ? o->k->sgd : o->k->adam)(&step);
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
