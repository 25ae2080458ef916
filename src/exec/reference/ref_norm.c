/*
 * ref_norm.c - normalisations. Variances are those of the population: divided by the count.
 */
#include <float.h>
#include <math.h>

#include "exec/reference/ref.h"

struct moments {
    double mean, var;
};

/* Moments of `blocks` runs of `length` elements, `jump` apart. */
static struct moments moments_of(const struct mase_tensor *x, int64_t first, int64_t length,
                                 int64_t jump, int64_t blocks)
{
    struct moments m = { 0.0, 0.0 };
    double count = (double)(length * blocks);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = 0; i < length; i++)
            m.mean += ref_get(x, first + b * jump + i);
    m.mean /= count;
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t i = 0; i < length; i++) {
            double d = ref_get(x, first + b * jump + i) - m.mean;
            m.var += d * d;
        }
    }
    m.var /= count;
    return m;
}

/* Normalise one value; w and b may be NULL. */
static double normalised(double x, const struct moments *m, double eps, const struct mase_tensor *w,
                         const struct mase_tensor *b, int64_t k)
{
    double y = (x - m->mean) / sqrt(m->var + eps);
    if (w)
        y *= ref_get(w, k);
    return b ? y + ref_get(b, k) : y;
}

/* An input as samples, channels, and values per channel. */
struct planes {
    const struct mase_tensor *x, *weight, *bias, *mean, *var;
    int64_t N, C, S;
    double eps;
};

static enum mase_status planes_of(const struct mase_call *c, struct planes *p, struct mase_err *err)
{
    p->x = mase_call_tensor(c, "input");
    p->weight = mase_call_tensor(c, "weight");
    p->bias = mase_call_tensor(c, "bias");
    p->mean = mase_call_tensor(c, "running_mean");
    p->var = mase_call_tensor(c, "running_var");
    struct mase_axis a = mase_axis_of(&p->x->shape, mase_norm_channel_dim(c, &p->x->shape));
    p->N = a.outer;
    p->C = a.len;
    p->S = a.inner;
    return mase_call_float(c, &p->eps, "eps", err);
}

static void normalise_plane(const struct mase_call *c, const struct planes *p, int64_t n,
                            int64_t ch, const struct moments *m)
{
    int64_t first = (n * p->C + ch) * p->S;
    for (int64_t i = first; i < first + p->S; i++)
        ref_set(ref_out(c), i, normalised(ref_get(p->x, i), m, p->eps, p->weight, p->bias, ch));
}

enum mase_status mase_batch_too_small(const struct mase_node *n, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "%s: the statistics of a batch are those of more than one value for each "
                     "channel, and the last batch has 1: take batches of another size",
                     n->name);
}

bool mase_batch_has_one_value(const struct mase_call *c)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const bool running = mase_call_tensor(c, "running_mean") &&
                         mase_call_tensor(c, "running_var") &&
                         !mase_call_training(c, "training", false);
    const struct mase_axis a = mase_axis_of(&x->shape, mase_norm_channel_dim(c, &x->shape));
    return !running && a.outer * a.inner == 1;
}

/* By the running statistics; by the batch's own where none are kept, or always in training. */
enum mase_status mase_forward_batch_norm(struct mase_call *c, struct mase_err *err)
{
    struct planes p;
    MASE_TRY(planes_of(c, &p, err));
    const bool running = p.mean && p.var && !mase_call_training(c, "training", false);
    if (mase_batch_has_one_value(c))
        return mase_batch_too_small(c->node, err);
    for (int64_t ch = 0; ch < p.C; ch++) {
        struct moments m;
        if (running)
            m = (struct moments){ ref_get(p.mean, ch), ref_get(p.var, ch) };
        else
            m = moments_of(p.x, ch * p.S, p.S, p.C * p.S, p.N);
        for (int64_t n = 0; n < p.N; n++)
            normalise_plane(c, &p, n, ch, &m);
    }
    return MASE_OK;
}

enum mase_status mase_forward_instance_norm(struct mase_call *c, struct mase_err *err)
{
    struct planes p;
    MASE_TRY(planes_of(c, &p, err));
    /* a layer with running statistics uses them in evaluation; a function has an argument */
    bool running = p.mean && p.var && !mase_call_training(c, "use_input_stats", false);
    for (int64_t k = 0; k < p.N * p.C; k++) {
        int64_t n = k / p.C, ch = k % p.C;
        struct moments m = running ? (struct moments){ ref_get(p.mean, ch), ref_get(p.var, ch) }
                                   : moments_of(p.x, k * p.S, p.S, 0, 1);
        normalise_plane(c, &p, n, ch, &m);
    }
    return MASE_OK;
}

enum mase_status mase_forward_layer_norm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const struct mase_tensor *w = mase_call_tensor(c, "weight"), *b = mase_call_tensor(c, "bias");
    struct mase_shape over;
    double eps;
    MASE_TRY(mase_call_sizes(c, &over, "normalized_shape", err));
    MASE_TRY(mase_call_float(c, &eps, "eps", err));
    int64_t length = mase_shape_count(&over), count = mase_tensor_count(x);
    for (int64_t first = 0; first < count; first += length) {
        struct moments m = moments_of(x, first, length, 0, 1);
        for (int64_t i = 0; i < length; i++)
            ref_set(ref_out(c), first + i, normalised(ref_get(x, first + i), &m, eps, w, b, i));
    }
    return MASE_OK;
}

enum mase_status mase_rms_eps(const struct mase_call *c, double *eps, struct mase_err *err)
{
    const struct mase_arg *given = mase_call_arg(c, "eps");
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    *eps = x && x->dtype == MASE_F64 ? DBL_EPSILON : FLT_EPSILON;
    return mase_arg_present(given) ? mase_call_float(c, eps, "eps", err) : MASE_OK;
}

enum mase_status mase_forward_rms_norm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *w = mase_call_tensor(c, "weight");
    struct mase_shape over;
    double eps;
    MASE_TRY(mase_call_sizes(c, &over, "normalized_shape", err));
    MASE_TRY(mase_rms_eps(c, &eps, err));
    const int64_t length = mase_shape_count(&over), count = mase_tensor_count(x);
    for (int64_t first = 0; first < count; first += length) {
        struct moments m = { 0 }; /* about zero, not about their mean */
        for (int64_t i = first; i < first + length; i++)
            m.var += ref_get(x, i) * ref_get(x, i) / (double)length;
        for (int64_t i = 0; i < length; i++)
            ref_set(ref_out(c), first + i, normalised(ref_get(x, first + i), &m, eps, w, NULL, i));
    }
    return MASE_OK;
}

enum mase_status mase_forward_group_norm(struct mase_call *c, struct mase_err *err)
{
    struct planes p;
    int64_t groups;
    MASE_TRY(planes_of(c, &p, err));
    MASE_TRY(mase_call_int(c, &groups, "num_groups", err));
    int64_t each = p.C / groups; // channels
    for (int64_t k = 0; k < p.N * groups; k++) {
        struct moments m = moments_of(p.x, k * each * p.S, each * p.S, 0, 1);
        for (int64_t ch = 0; ch < each; ch++)
            normalise_plane(c, &p, k / groups, k % groups * each + ch, &m);
    }
    return MASE_OK;
}
