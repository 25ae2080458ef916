/*
 * ref_round_back.c - the reference of round_back: nothing passes where a value was cut, and what a
 * format has learned gets what its row defines of three sums over a block (format.h), which are
 * summed in double. Blocks of data are the same for all samples.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/reference/ref_derived.h"
#include "quant/quant.h"

/* A format that is not uniform is bounded by its lowest and highest value. */
static struct mase_uniform bounds_of(const struct mase_rounding_back *r, int64_t block)
{
    const struct mase_format *f = r->how->format;
    const float *value[MASE_LEARNED_MAX] = { NULL };
    struct mase_uniform u = { .scale = 1 };
    for (int j = 0; j < mase_format_learned(f); j++)
        value[j] = mase_f32(r->value[j]);
    if (value[0])
        return mase_learned_uniform(f, value, block, r->how->sign);
    if (!mase_format_uniform(&u, f, block, r->how->sign))
        mase_format_limits(&u.lo, &u.hi, f, r->how->sign);
    return u;
}

static void value_back(const struct mase_rounding_back *r, const struct mase_uniform *u, int64_t i,
                       double sum[3])
{
    const float dy = mase_f32(r->dy)[i], v = mase_f32(r->x)[i] / u->scale;
    const bool low = v<u->lo, high = v> u->hi;
    mase_f32(r->dx)[i] = low || high ? 0.0f : dy;
    if (low || high)
        sum[low ? 1 : 2] += (double)dy;
    else if (dy != 0.0f)
        sum[0] += (double)(dy * (rintf(v) - v));
}

static void learn(const struct mase_rounding_back *r, int64_t block, const double sum[3],
                  int64_t count)
{
    const struct mase_format *f = r->how->format;
    const int learned = mase_format_learned(f);
    const float sums[3] = { (float)sum[0], (float)sum[1], (float)sum[2] };
    float value[MASE_LEARNED_MAX], d[MASE_LEARNED_MAX];
    for (int j = 0; j < learned; j++)
        value[j] = mase_f32(r->value[j])[block];
    if (learned)
        f->row->learned->gradient(d, sums, value, f->params, r->how->sign, count);
    for (int j = 0; j < learned; j++)
        mase_f32(r->dvalue[j])[block] = d[j];
}

void mase_ref_round_back(const struct mase_rounding_back *r, struct mase_arena *a)
{
    struct mase_shape one = mase_shape_to_rank(&r->x->shape, r->rank);
    int64_t samples = 1;
    if (r->how->role == MASE_ROLE_DATA && one.rank) {
        samples = one.dim[0];
        one.dim[0] = 1;
    }
    const int64_t each = mase_shape_count(&one);
    struct mase_blocks b = mase_format_blocks(r->how->format, &one, r->how->role);
    int64_t *offset = mase_new_array(a, int64_t, (size_t)b.largest + 1);
    for (int64_t block = 0; block < b.count; block++) {
        const struct mase_uniform u = bounds_of(r, block);
        const int64_t count = mase_blocks_offsets(&b, block, offset);
        double sum[3] = { 0.0, 0.0, 0.0 };
        for (int64_t k = 0; k < count; k++)
            for (int64_t n = 0; n < samples; n++)
                value_back(r, &u, n * each + offset[k], sum);
        learn(r, block, sum, count);
    }
}
