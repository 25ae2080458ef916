/*
 * int.c - integers with a scale: the arithmetic of ONNX's QuantizeLinear and DequantizeLinear.
 *
 *     code = clamp(round(x / scale) + zero_point, lo, hi)      q = (code - zero_point) scale
 *
 *     signed      lo = -2^(width-1), narrow: 1 more    hi = 2^(width-1) - 1
 *     unsigned    lo = 0                               hi = 2^width - 1
 *
 * scale        a number; a list, one for each block; or none: each block has its own, by what is
 *              in it (below). width and zero_point may be lists, too.
 * blocks       the whole of a weight, or of a sample; with axis all values at one position of that
 *              dimension, a channel; with block_size as many values in a row along the last one.
 *              A block that is told width 0 is zero.
 * none         symmetric: the largest magnitude becomes hi, scale = max |x| / hi. Else lo and hi
 *              are the least and the largest value and 0, scale = (max - min) / (hi - lo), and
 *              zero_point = round(lo - min / scale). power_of_two: the next power of two that is
 *              not less. A block of zeros has scale 2^-23, as small as PyTorch's observers make it,
 *              so that biases in steps of products keep their value.
 * rounding     to nearest, ties to even; every step is a float32 operation.
 * saturation   beyond lo and hi, infinities included where the scale is given.
 * NaN          stays NaN. Where no scale is given it spoils none; an infinity makes its block NaN.
 * zero         stays zero, without a sign.
 * gradient     nothing passes where x was cut; without a scale nothing is cut.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quant/quant.h"

struct ints {
    const struct mase_value *width, *scale, *zero_point; /* numbers or lists; NULL: none */
    int64_t axis, block_size, is_signed;
    bool symmetric, narrow, power_of_two;
};

enum { MOST_BITS = 24 }; /* float32 has every integer up to there */

static const struct mase_opt params[] = {
    { .key = "width",
      .type = MASE_OPT_TYPE_NUMBERS,
      .offset = offsetof(struct ints, width),
      .required = true,
      .num = 8,
      .min = 0,
      .max = MOST_BITS,
      .help = "bits of the integer, or a list of them for each block" },
    { .key = "scale",
      .type = MASE_OPT_TYPE_NUMBERS,
      .offset = offsetof(struct ints, scale),
      .may_be_none = true,
      .min = 1e-30,
      .max = 1e30,
      .help = "what one step is, or a list for each block; none: by the values of a block" },
    { .key = "zero_point",
      .type = MASE_OPT_TYPE_NUMBERS,
      .offset = offsetof(struct ints, zero_point),
      .may_be_none = true,
      .min = -(1 << 24),
      .max = 1 << 24,
      .help = "the integer that stands for zero, or a list for each block; none: 0" },
    MASE_PARAM_AXIS(struct ints, axis),
    MASE_PARAM_BLOCK_RUN(struct ints, block_size),
    MASE_OPT_BOOL(struct ints, symmetric, "symmetric", true,
                  "a scale by values: zero_point is 0; else the range is used up"),
    MASE_OPT_BOOL(struct ints, narrow, "narrow", false, "leave out the lowest signed code"),
    MASE_OPT_BOOL(struct ints, power_of_two, "power_of_two", false,
                  "a scale by values is a power of two"),
    MASE_PARAM_SIGNED(struct ints, is_signed),
    { 0 },
};

/* ---- parameters ---- */

static bool is_list(const struct mase_value *v)
{
    return v && (v->kind == MASE_LIST || v->kind == MASE_TUPLE);
}

static double number_at(const struct mase_value *v, int64_t index, double none)
{
    if (is_list(v))
        v = v->items[index < v->count ? index : v->count - 1];
    return v ? mase_value_number(v) : none;
}

/* How many blocks its lists speak of; 0: it has none. */
static int64_t listed(const struct ints *p)
{
    const struct mase_value *const all[] = { p->width, p->scale, p->zero_point };
    int64_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (is_list(all[i]))
            count = all[i]->count;
    return count;
}

static enum mase_status check_numbers(const struct mase_value *v, const char *name, int64_t count,
                                      struct mase_err *err)
{
    for (int i = 0; v && i < (is_list(v) ? v->count : 1); i++) {
        const double x = number_at(v, i, 0);
        if (x != rint(x))
            return mase_fail(err, MASE_EVALUE, "%s = %g is no whole number", name, x);
    }
    if (is_list(v) && v->count != count)
        return mase_fail(err, MASE_EVALUE, "%s lists %d blocks, another parameter %lld", name,
                         v->count, (long long)count);
    return MASE_OK;
}

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct ints *p = opaque;
    const int64_t count = listed(p);
    MASE_TRY(check_numbers(p->width, "width", count, err));
    MASE_TRY(check_numbers(p->zero_point, "zero_point", count, err));
    if (is_list(p->scale) && p->scale->count != count)
        return mase_fail(err, MASE_EVALUE, "scale lists %d blocks, another parameter %lld",
                         p->scale->count, (long long)count);
    if (!is_list(p->width) && number_at(p->width, 0, 0) < 1)
        return mase_fail(err, MASE_EVALUE, "width = 0 is outside 1..%d", MOST_BITS);
    MASE_TRY(mase_check_channels(p->axis, p->block_size, err));
    if (count > 1 && p->axis == MASE_NA && p->block_size == MASE_NA)
        return mase_fail(err, MASE_EVALUE,
                         "a list of %lld needs axis or block_size, which say what it counts",
                         (long long)count);
    if (!p->scale && p->zero_point)
        return mase_fail(err, MASE_EVALUE,
                         "zero_point needs a scale; symmetric = false finds both by the values");
    if (p->scale && p->power_of_two)
        return mase_fail(err, MASE_EVALUE,
                         "power_of_two is for a scale by values, but scale is given");
    return MASE_OK;
}

/* ---- blocks ---- */

static bool alone(const void *opaque)
{
    const struct ints *p = opaque;
    return p->scale && listed(p) <= 1;
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct ints *p = opaque;
    mase_geometry_channels(length, s, role, p->axis, p->block_size);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const struct ints *p = opaque;
    int64_t length[MASE_MAX_RANK], count = 1;
    if (alone(p))
        return MASE_OK;
    MASE_TRY(mase_channels_fit(s, role, p->axis, p->block_size, err));
    geometry(length, s, role, p);
    for (int d = role == MASE_ROLE_DATA ? 1 : 0; d < s->rank; d++)
        count *= length[d] ? s->dim[d] / length[d] : 1;
    if (listed(p) && count != listed(p))
        return mase_fail(err, MASE_EVALUE, "it has %lld blocks, but %lld are listed",
                         (long long)count, (long long)listed(p));
    return MASE_OK;
}

/* ---- rounding ---- */

/* The codes of a block, zero_point included. */
static void codes_of(float *lo, float *hi, const struct ints *p, int64_t index, enum mase_sign sign)
{
    const int bits = (int)number_at(p->width, index, 0);
    const bool negative = mase_has_sign(p->is_signed, sign);
    const float steps = bits ? ldexpf(1.0f, negative ? bits - 1 : bits) : 1.0f;
    *hi = steps - 1;
    *lo = negative && bits ? p->narrow ? 1 - steps : -steps : 0.0f;
}

static bool uniform(struct mase_uniform *u, const void *opaque, int64_t index, enum mase_sign sign)
{
    const struct ints *p = opaque;
    const bool none = number_at(p->width, index, 0) == 0;
    const float zero = none ? 0.0f : (float)number_at(p->zero_point, index, 0);
    codes_of(&u->lo, &u->hi, p, index, sign);
    u->lo -= zero;
    u->hi -= zero;
    u->scale = (float)number_at(p->scale, index, 1);
    return p->scale != NULL;
}

static float next_power(float scale)
{
    int e;
    return frexpf(scale, &e) == 0.5f ? scale : ldexpf(1.0f, e);
}

/* By the values of one lane. */
static struct mase_uniform uniform_by_values(const struct ints *p, const float *x,
                                             const struct mase_block *b, int64_t lane,
                                             enum mase_sign sign)
{
    float low = 0, high = 0, lo, hi;
    for (int64_t r = 0; r < b->rows; r++) {
        const float v = x[b->row[r] + lane];
        low = v < low ? v : low; /* NaN is passed by */
        high = v > high ? v : high;
    }
    codes_of(&lo, &hi, p, b->index, sign);
    const float largest = mase_has_sign(p->is_signed, sign) && -low > high ? -low : high;
    float scale = p->symmetric ? largest / (hi > 0 ? hi : 1) : (high - low) / (hi - lo);
    if (p->power_of_two && scale > 0 && scale < FLT_MAX / 2)
        scale = next_power(scale);
    if (scale == 0)
        scale = FLT_EPSILON;
    const float zero = p->symmetric ? 0.0f : mase_clamp(rintf(lo - low / scale), lo, hi);
    return (struct mase_uniform){ scale, lo - zero, hi - zero };
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct ints *p = opaque;
    struct mase_uniform u;
    if (uniform(&u, p, b->index, sign)) {
        mase_uniform_quantize(q, x, b, &u);
        return;
    }
    for (int64_t l = 0; l < b->lanes; l++) {
        u = uniform_by_values(p, x, b, l, sign);
        for (int64_t r = 0; r < b->rows; r++)
            q[b->row[r] + l] = mase_uniform_round(x[b->row[r] + l], &u);
    }
}

/* ---- codes: a block shares the bits of its scale, and above them its zero_point ---- */

static int64_t pack(float scale, float zero)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return (int64_t)((uint64_t)(int64_t)zero << 32 | bits);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct ints *p = opaque;
    const uint32_t bits = (uint32_t)shared;
    float scale = (float)number_at(p->scale, 0, 1), zero = (float)number_at(p->zero_point, 0, 0);
    if (bits) {
        memcpy(&scale, &bits, sizeof scale);
        zero = (float)(shared >> 32);
    }
    return ((float)code - zero) * scale;
}

static bool encode_by(int64_t *code, const float *q, int64_t n, const struct mase_uniform *u,
                      float zero)
{
    bool all = true;
    for (int64_t i = 0; i < n; i++) {
        const float c = rintf(q[i] / u->scale);
        const bool ok = c >= u->lo && c <= u->hi && c * u->scale == q[i];
        code[i] = ok ? (int64_t)(c + zero) : MASE_NO_CODE;
        all &= ok;
    }
    return all;
}

/* The largest value has the highest code or nearly so; the scale follows but for its last bits. The
 * nearest that gives all values is taken. */
static bool find_scale(int64_t *code, int64_t *shared, const float *q, int64_t n,
                       const struct ints *p, enum mase_sign sign)
{
    const struct mase_block b = {
        .row = (int64_t[]){ 0, 1 }, .rows = 2, .lanes = 1, .index = *shared
    };
    float lo, hi, edge[2] = { 0, 0 };
    codes_of(&lo, &hi, p, b.index, sign);
    for (int64_t i = 0; i < n; i++) {
        edge[0] = q[i] < edge[0] ? q[i] : edge[0];
        edge[1] = q[i] > edge[1] ? q[i] : edge[1];
    }
    struct mase_uniform u = uniform_by_values(p, edge, &b, 0, sign);
    const float zero = lo - u.lo, middle = u.scale, below = nextafterf(middle, 0.0f),
                above = nextafterf(middle, INFINITY);
    const float near[] = { middle, below, above, nextafterf(below, 0.0f),
                           nextafterf(above, INFINITY) };
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        u.scale = near[i];
        if (encode_by(code, q, n, &u, zero)) {
            *shared = pack(u.scale, zero);
            return true;
        }
    }
    return false;
}

static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct ints *p = opaque;
    struct mase_uniform u;
    if (!uniform(&u, p, *shared, sign))
        return find_scale(code, shared, q, n, p, sign);
    const float zero = (float)number_at(p->zero_point, *shared, 0);
    *shared = pack(u.scale, zero);
    return encode_by(code, q, n, &u, zero);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    float lo, hi;
    codes_of(&lo, &hi, opaque, 0, sign);
    *low = (int64_t)lo;
    *high = (int64_t)hi;
}

/* Over all blocks. */
static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const struct ints *p = opaque;
    *high = p->scale ? 0.0f : FLT_MAX;
    *low = p->scale || !mase_has_sign(p->is_signed, sign) ? 0.0f : -FLT_MAX;
    for (int64_t i = 0; p->scale && i < (listed(p) ? listed(p) : 1); i++) {
        struct mase_uniform u;
        uniform(&u, p, i, sign);
        *low = u.lo * u.scale < *low ? u.lo * u.scale : *low;
        *high = u.hi * u.scale > *high ? u.hi * u.scale : *high;
    }
}

static int bits(const void *opaque) /* of the widest block */
{
    const struct ints *p = opaque;
    double most = 0;
    for (int i = 0; i < (is_list(p->width) ? p->width->count : 1); i++)
        most = fmax(most, number_at(p->width, i, 0));
    return (int)most;
}

static int shared_bits(const void *opaque)
{
    const struct ints *p = opaque;
    return p->zero_point || !p->symmetric ? 32 + (int)bits(p) : 32;
}

static enum mase_gradient gradient(const void *opaque)
{
    return ((const struct ints *)opaque)->scale ? MASE_GRADIENT_CLIPPED : MASE_GRADIENT_STRAIGHT;
}

const struct mase_quant_info mase_quant_int = {
    .name = "int",
    .suffix = "Int",
    .func = "int",
    .help = "integers with a scale and a zero point, per tensor, channel or block, as in ONNX",
    .standard = "ONNX QuantizeLinear",
    .drawn = "int(4)",
    .params = params,
    .size = sizeof(struct ints),
    .resolve = resolve,
    .geometry = geometry,
    .alone = alone,
    .fits = fits,
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .range = range,
    .bits = bits,
    .shared_bits = shared_bits,
    .uniform = uniform,
    .gradient = gradient,
    .by_values = true,
};
