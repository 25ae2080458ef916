/*
 * op_batch_norm.c - batch normalisation by channels.
 *
 * Training: mean and biased variance of the batch normalise, running statistics follow (with the
 * unbiased variance). With r = 1 / sqrt(var + eps), N values per channel and g = weight r:
 *     dbias = sum dy,  dweight = r sum dy (x - mean)
 *     dx = g dy - g r^2 / N sum(dy (x - mean)) (x - mean) - g / N sum dy
 *
 * With tiles, each tile computes sums over its samples and, behind a barrier, adds the sums of all
 * tiles in their order (collective.h). Without tiles both passes run channel by channel, while a
 * channel is in the cache.
 */
#include "exec/plan/collective.h"
#include "exec/reference/norm_affine.h"

/* Moments of a channel over one tile, and the number of values. */
struct moments {
    float mean, var;
    double count;
};
/* Backward: the sum of dy, and of dy (x - mean). */
enum { SUM, SUM_X, SUMS };

struct batch_norm {
    struct mase_weight *weight, *bias;        /* either may be NULL: 1, and 0 */
    struct mase_weight *mean, *var, *tracked; /* NULL when not tracking */
    bool follows;                             /* the running statistics are kept */
    long channels, per;                       /* rows per channel */
    double eps, momentum;                     /* momentum below 0: cumulative average */
    struct moments *moments;                  // (channels), the tile's
    float *sums;                              // (channels, SUMS), the tile's
    int moments_part, sums_part;              /* and their numbers among the parts of tiles */
    float *batch_mean, *batch_rstd;           // (channels), for backward
    float *scale, *shift;         // (channels): evaluation by running statistics, else NULL
    float *row_scale, *row_shift; // (rows padded to 16): the same, for single samples
};

static struct mase_channel channel(const struct mase_step *s, const float *x, long c)
{
    const struct batch_norm *b = s->own;
    const struct mase_plan *p = s->plan;
    return (struct mase_channel){ x + c * b->per * p->stride, b->per, p->stride, p->n, p->samples };
}

static void follow(const struct batch_norm *b, long c, float mean, float var, double count)
{
    const double keep = b->momentum >= 0 ? b->momentum : 1.0 / (b->tracked->x[0] + 1.0);
    b->mean->x[c] = (float)((1 - keep) * b->mean->x[c] + keep * mean);
    b->var->x[c] = (float)((1 - keep) * b->var->x[c] + keep * (var * count / (count - 1)));
}

/* y = x scale + shift; keeps what backward needs. */
static void channel_affine(const struct batch_norm *b, long c, float mean, float var, float *scale,
                           float *shift)
{
    const struct mase_norm_affine affine = mase_norm_affine(
        mean, var, b->eps, b->weight ? b->weight->x[c] : 1.0f, b->bias ? b->bias->x[c] : 0.0f);
    b->batch_mean[c] = mean;
    b->batch_rstd[c] = affine.rstd;
    *scale = affine.scale;
    *shift = affine.shift;
}

static void measure(const struct mase_step *s, long from, long to)
{
    const struct batch_norm *b = s->own;
    for (long c = from; c < to; c++) {
        const struct mase_channel x = channel(s, s->in[0]->x, c);
        s->plan->k->moments(&b->moments[c].mean, &b->moments[c].var, &x);
        b->moments[c].count = (double)b->per * (double)s->plan->samples;
    }
}

/* The moments of channel c over tile k. */
static const struct moments *moments_of(const struct mase_step *s, int k, long c)
{
    const struct batch_norm *b = s->own;
    const struct moments *all = mase_collective_part(s->plan, b->moments_part, k);
    return &all[c];
}

static double batch_count(const struct mase_step *s, long c)
{
    double count = 0;
    for (int k = 0; k < mase_collective_tiles(s->plan); k++)
        count += moments_of(s, k, c)->count;
    return count;
}

/* Mean and variance of the batch; of a single tile, its own. */
static struct moments batch_moments(const struct mase_step *s, long c)
{
    const double count = batch_count(s, c);
    const int tiles = mase_collective_tiles(s->plan);
    double m = 0, v = 0;
    for (int k = 0; k < tiles; k++)
        m += moments_of(s, k, c)->count * moments_of(s, k, c)->mean;
    m /= count;
    for (int k = 0; k < tiles; k++) {
        const double d = moments_of(s, k, c)->mean - m;
        v += moments_of(s, k, c)->count * (moments_of(s, k, c)->var + d * d);
    }
    return (struct moments){ (float)m, (float)(v / count), count };
}

/* By the batch's own statistics, which the running ones follow. */
static void batch_affine(const struct mase_step *s, long c, float *scale, float *shift)
{
    const struct batch_norm *b = s->own;
    const struct moments m = batch_moments(s, c);
    if (b->follows && mase_collective_is_first(s->plan))
        follow(b, c, m.mean, m.var, m.count);
    channel_affine(b, c, m.mean, m.var, scale, shift);
}

static void normalise(const struct mase_step *s, long from, long to)
{
    const struct batch_norm *b = s->own;
    const struct mase_plan *p = s->plan;
    for (long c = from; c < to; c++) {
        float scale, shift;
        if (b->scale) {
            scale = b->scale[c];
            shift = b->shift[c];
        } else {
            batch_affine(s, c, &scale, &shift);
        }
        for (long r = 0; r < b->per; r++) {
            const long row = (c * b->per + r) * p->stride;
            p->k->affine(s->out->x + row, s->in[0]->x + row, scale, shift, false, p->n);
        }
    }
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct batch_norm *b = s->own;
    for (long c = from; c < to; c++) {
        if (!b->scale)
            measure(s, c, c + 1);
        normalise(s, c, c + 1);
    }
}

static void count_batch(const struct mase_step *s, long from, long to)
{
    const struct batch_norm *b = s->own;
    (void)from;
    (void)to;
    if (s->plan->train && b->tracked && mase_collective_is_first(s->plan))
        b->tracked->x[0] += 1;
}

static void put(const struct mase_step *s, struct mase_weight *w, long c, float value)
{
    if (w && w->dx)
        w->dx[c] = mase_step_adds(s, w) ? w->dx[c] + value : value;
}

/* dx of one channel; what is not a sample stays zero, since sums over lanes take no mask. */
static void channel_dx(const struct mase_step *s, long c, float g, const float *sums)
{
    const struct batch_norm *b = s->own;
    const struct mase_plan *p = s->plan;
    const float r = b->batch_rstd[c], m = b->batch_mean[c];
    const float count = (float)batch_count(s, c);
    const float kx = -g * r * r / count * sums[SUM_X], shift = -g / count * sums[SUM] - kx * m;
    for (long i = 0; i < b->per; i++) {
        const long row = (c * b->per + i) * p->stride;
        float *dx = s->in[0]->dx + row;
        if (s->add[0]) {
            p->k->axpy(dx, s->out->dx + row, g, p->n);
            p->k->affine2(dx, dx, s->in[0]->x + row, 1.0f, kx, shift, p->n);
        } else {
            p->k->affine2(dx, s->out->dx + row, s->in[0]->x + row, g, kx, shift, p->n);
        }
        for (long n = p->samples; n < p->n; n++)
            dx[n] = 0.0f;
    }
}

/* The tile's own sums, which are its part of the parameters' gradients. */
static void measure_gradient(const struct mase_step *s, long from, long to)
{
    const struct batch_norm *b = s->own;
    const struct mase_plan *p = s->plan;
    for (long c = from; c < to; c++) {
        const struct mase_channel x = channel(s, s->in[0]->x, c);
        const float *dy = s->out->dx + c * b->per * p->stride;
        float *sums = b->sums + c * SUMS;
        p->k->norm_sums(&sums[SUM], &sums[SUM_X], &x, dy, b->batch_mean[c]);
        put(s, b->weight, c, sums[SUM_X] * b->batch_rstd[c]);
        put(s, b->bias, c, sums[SUM]);
    }
}

static void spread_gradient(const struct mase_step *s, long from, long to)
{
    const struct batch_norm *b = s->own;
    for (long c = from; c < to && s->in[0]->dx; c++) {
        float sums[SUMS] = { 0 };
        mase_collective_sum(s->plan, sums, b->sums_part, c * SUMS, SUMS);
        const float g = b->batch_rstd[c] * (b->weight ? b->weight->x[c] : 1.0f);
        channel_dx(s, c, g, sums);
    }
}

static void backward(const struct mase_step *s, long from, long to)
{
    for (long c = from; c < to; c++) {
        measure_gradient(s, c, c + 1);
        spread_gradient(s, c, c + 1);
    }
}

/* The halves apart, with the other tiles between them. */
static void list_tiled(struct mase_step *s, long channels)
{
    const struct batch_norm *b = s->own;
    mase_step_forward(s, measure, MASE_UNIT_ITEMS, channels);
    mase_step_forward(s, normalise, MASE_UNIT_ITEMS, channels);
    mase_step_barrier_forward(s, b->moments_part);
    mase_step_backward(s, measure_gradient, MASE_UNIT_ITEMS, channels);
    if (!s->in[0]->needs_grad)
        return;
    mase_step_backward(s, spread_gradient, MASE_UNIT_ITEMS, channels);
    mase_step_barrier_backward(s, b->sums_part);
}

static void list_whole(struct mase_step *s, long channels)
{
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, channels);
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, channels);
}

static void single(const struct mase_step *s, float *y, const float *x)
{
    const struct batch_norm *b = s->own;
    s->plan->k->affine_each(y, x, b->row_scale, b->row_shift, b->channels * b->per);
}

/* The running statistics, if they can be stored: derived values would be overwritten in the next
 * step, and trained parameters belong to the optimiser. */
static enum mase_status find_statistics(struct mase_step *s, struct batch_norm *b,
                                        struct mase_err *err)
{
    MASE_TRY(mase_step_weight(s, &b->mean, "running_mean", err));
    MASE_TRY(mase_step_weight(s, &b->var, "running_var", err));
    MASE_TRY(mase_step_weight(s, &b->tracked, "num_batches_tracked", err));
    if (!b->mean != !b->var)
        return mase_call_fail(s->call, err, "needs both running_mean and running_var, or neither");
    if (s->plan->train && b->mean &&
        ((b->mean->param && !mase_param_is_buffer(b->mean->param)) ||
         (b->var->param && !mase_param_is_buffer(b->var->param))))
        return mase_call_fail(s->call, err, "running statistics must be buffers, not parameters");
    b->follows = s->plan->train && b->mean && b->mean->param && b->var->param;
    const struct mase_arg *momentum = mase_call_arg(s->call, "momentum");
    b->momentum = -1;
    if (momentum->kind != MASE_ARG_NONE)
        return mase_call_float(s->call, &b->momentum, "momentum", err);
    if (b->follows && !b->tracked)
        return mase_call_fail(s->call, err, "needs a momentum: nothing counts the batches");
    return MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    const bool training = mase_call_training(c, "training", s->plan->train);
    if (s->plan->train && !training && mase_call_tensor(c, "running_mean")) {
        s->kind = &mase_step_fixed_batch_norm; /* others train, this one does not */
        return s->kind->prepare(s, c, err);
    }
    MASE_TRY(mase_step_input(s, c, "input", err));
    struct batch_norm *b = s->own = mase_new(&s->plan->arena, struct batch_norm);
    MASE_TRY(mase_step_weight(s, &b->weight, "weight", err));
    MASE_TRY(mase_step_weight(s, &b->bias, "bias", err));
    MASE_TRY(find_statistics(s, b, err));
    MASE_TRY(mase_call_float(c, &b->eps, "eps", err));
    b->channels = s->in[0]->tensor->shape.dim[1];
    b->per = s->in[0]->rows / b->channels;
    b->batch_mean = mase_new_array(&s->plan->arena, float, (size_t)b->channels);
    b->batch_rstd = mase_new_array(&s->plan->arena, float, (size_t)b->channels);
    if (!s->plan->train && training)
        b->mean = b->var = b->tracked = NULL; /* always by the batch's own */
    if (!s->plan->train && !b->mean && !s->plan->least_samples) {
        s->plan->least_samples = b->per > 1 ? 1 : 2;
        s->plan->mixing_node = c->node;
    }
    if (b->mean) /* else a single sample has no statistics */
        s->single = single;
    b->moments = mase_new_array(&s->plan->arena, struct moments, (size_t)b->channels);
    b->sums = mase_new_array(&s->plan->arena, float, (size_t)(b->channels * SUMS));
    b->moments_part =
        mase_collective_add(s->plan, b->moments, (size_t)b->channels * sizeof *b->moments);
    b->sums_part =
        mase_collective_add(s->plan, b->sums, (size_t)b->channels * SUMS * sizeof *b->sums);
    (mase_collective_is_tile(s->plan) && s->plan->train ? list_tiled : list_whole)(s, b->channels);
    mase_step_forward(s, count_batch, MASE_UNIT_ITEMS, 1);
    return MASE_OK;
}

static void refresh(struct mase_step *s)
{
    struct batch_norm *b = s->own;
    if (!b->mean)
        return;
    if (!b->scale) {
        b->scale = mase_new_array(&s->plan->arena, float, (size_t)(2 * b->channels));
        b->shift = b->scale + b->channels;
    }
    for (long c = 0; c < b->channels; c++)
        channel_affine(b, c, b->mean->x[c], b->var->x[c], &b->scale[c], &b->shift[c]);
}

static void refresh_single(struct mase_step *s)
{
    struct batch_norm *b = s->own;
    const long rows = b->channels * b->per;
    if (!b->row_scale) {
        b->row_scale = mase_new_array(&s->plan->arena, float, (size_t)(2 * (rows + MASE_LANES)));
        b->row_shift = b->row_scale + rows + MASE_LANES;
    }
    for (long r = 0; r < rows; r++) {
        b->row_scale[r] = b->scale[r / b->per];
        b->row_shift[r] = b->shift[r / b->per];
    }
}

const struct mase_step_kind mase_step_batch_norm = {
    .name = "batch_norm", .prepare = prepare, .refresh = refresh, .refresh_single = refresh_single
};
