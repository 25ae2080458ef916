/*
 * nvfp4.c - Nvidia's four bits: fp4_e2m1 with a scale of eight bits for each block of sixteen and a
 * float32 for the whole.
 *
 *     t = max |x| / (6 * 448)            of the tensor; of each sample of data
 *     s = fp8_e4m3(max |x| / 6 / t)      of each block, to nearest even, at most 448
 *     q = s t * fp4_e2m1(x / (s t))
 *
 * tensor_scale   t, if it is known beforehand. Else it is at least 2^-126, and of data every sample
 *                has its own: what a sample becomes does not depend on its neighbours in the batch.
 * blocks         block_size values in a row along block_dim, fewer at its end; never along samples.
 * arithmetic     float32: x / 6, that over t, s t, x over that, and the product are rounded each.
 * rounding       (direction.c) of the element; nearest_even unless said. Chance looks at x / (s t).
 * saturation     of the element, at 6; of s, at 448.
 * subnormals     those of both formats. A block so small beside the tensor that s is 0 becomes 0.
 * zero           stays, with its sign.
 * infinity, NaN  make their block NaN, and are passed by in t.
 * again          t is that of the results, s follows it: results may move.
 *
 * The rule of Nvidia's own software (Transformer Engine, ModelOpt), where t is one number for a
 * whole tensor; the scale of the tensor is not counted among the bits of a block.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

struct nvfp4 {
    int64_t block_size, block_dim;
    double tensor_scale; /* 0: from the tensor */
    const char *rounding;
    struct mase_float_levels element, scale; /* what follows */
};

static const struct mase_opt params[] = {
    MASE_OPT_INT(struct nvfp4, block_size, "block_size", 16, 1, 1 << 30, "values of a block"),
    MASE_PARAM_BLOCK_DIM(struct nvfp4, block_dim),
    MASE_OPT_FLOAT(struct nvfp4, tensor_scale, "tensor_scale", 0, 0, 0x1p115,
                   "what scales are measured in; 0: by the largest value of the tensor or sample"),
    MASE_PARAM_ROUNDING(struct nvfp4, rounding),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct nvfp4 *p = opaque;
    int bits;
    mase_float_levels_named(&p->element, &bits, "fp4_e2m1", mase_direction_of(&p->rounding));
    mase_float_levels_named(&p->scale, &bits, "fp8_e4m3", MASE_TO_NEAREST_EVEN);
    if (p->tensor_scale == 0 || p->tensor_scale >= (double)FLT_MIN)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "tensor_scale = %g is neither 0 nor within 2^-126 .. 2^115",
                     p->tensor_scale);
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct nvfp4 *p = opaque;
    mase_geometry_one_dim(length, s, role, p->block_size, p->block_dim);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    return mase_one_dim_fits(s, role, ((const struct nvfp4 *)opaque)->block_dim, err);
}

/* ---- rounding ---- */

/* s t, of a block with this largest magnitude in a tensor with that. */
static float scale_of(float largest, float most, const struct nvfp4 *p)
{
    const float t = p->tensor_scale != 0 ? (float)p->tensor_scale : most / (6.0f * 448.0f);
    const float unit = t > FLT_MIN ? t : FLT_MIN;
    return mase_float_round(largest / 6.0f / unit, &p->scale) * unit;
}

static int64_t share(float largest, float around, const void *opaque)
{
    const float most = isnan(around) ? largest : around;
    return isfinite(largest) ? mase_share_float(scale_of(largest, most, opaque)) : MASE_NO_CODE;
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct nvfp4 *p = opaque;
    const float scale = mase_shared_float(shared);
    if (scale == 0)
        return copysignf(0.0f, x);
    return mase_clamp(mase_float_round(x / scale, &p->element) * scale, -FLT_MAX, FLT_MAX);
}

/* ---- codes: those of the element; a block shares the bits of s t ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct nvfp4 *p = opaque;
    const float v = mase_float_decode(code, &p->element) * mase_shared_float(shared);
    return mase_clamp(v, -FLT_MAX, FLT_MAX);
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    struct mase_float_levels nearest = ((const struct nvfp4 *)opaque)->element;
    nearest.direction = MASE_TO_NEAREST_EVEN;
    const int64_t code =
        mase_float_encode(mase_float_round(q / mase_shared_float(shared), &nearest), &nearest);
    return code != MASE_NO_CODE && decode(code, shared, opaque) == q ? code : MASE_NO_CODE;
}

/* The largest value is one of the seven times the scale, or next to it. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct nvfp4 *p = opaque;
    const float largest = mase_largest(q, n);
    (void)sign;
    for (int64_t c = 7; c > 0 && largest > 0 && isfinite(largest); c--)
        for (int64_t ulps = -1; ulps <= 1; ulps++) {
            *shared = mase_share_float(largest / mase_float_decode(c, &p->element)) + ulps;
            if (*shared > 0 && mase_encode_by(code, *shared, q, n, code_of, p))
                return true;
        }
    *shared = mase_share_float(1.0f); /* only zeros have codes of any scale */
    for (int64_t i = 0; i < n; i++)
        code[i] = q[i] == 0 ? 0 : MASE_NO_CODE;
    return !(largest > 0) && mase_encode_by(code, *shared, q, n, code_of, p);
}

static int64_t seven(const void *opaque)
{
    (void)opaque;
    return 7;
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const struct nvfp4 *p = opaque;
    (void)sign;
    *high = p->tensor_scale != 0 ? (float)p->tensor_scale * 448.0f * 6.0f : FLT_MAX;
    *low = -*high;
}

static int four(const void *opaque)
{
    (void)opaque;
    return 4;
}

static bool by_chance(const void *opaque)
{
    return ((const struct nvfp4 *)opaque)->element.direction == MASE_BY_CHANCE;
}

const struct mase_quant_info mase_quant_nvfp4 = {
    .name = "nvfp4",
    .suffix = "NVFP4",
    .func = "nvfp4",
    .help = "four bits, fp4_e2m1, with a scale in fp8_e4m3 for each block of 16",
    .standard = "Nvidia NVFP4",
    .drawn = "nvfp4",
    .params = params,
    .size = sizeof(struct nvfp4),
    .resolve = resolve,
    .geometry = geometry,
    .fits = fits,
    .share = share,
    .round = round_value,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .top = seven,
    .bits = four,
    .shared_bits = mase_eight_bits,
    .looks_around = MASE_LOOKS_FOR_MOST,
    .by_chance = by_chance,
    .unstable = true,
};
