/*
 * binary.c - one bit, the original's; and its residual form, which takes several bits in turn.
 *
 *     bipolar    stochastic
 *     true       false       q = 1 where x >= 0, else -1
 *     true       true        q = 1 where p >= u, else -1    p = clamp((x + 1) / 2, 0, 1)
 *     false      false       q = a where x > 0, else 0      a = mean of |x|
 *     false      true        the same with p in the place of x; there is no chance in it
 *
 *     binary_residual with levels 1 to 3: r = x; o = sign(clamp(r, -1, 1)) * g, r = r - o for each
 *     level in turn; q is the sum of o. g = levels, levels - 1, ... 1, each over the sum of them.
 *     Without levels, or if residual_sign is false, as binary.
 *
 * width          is kept for configurations; a value has one bit, or one for each level.
 * blocks         a is that of each position of the first dimension: an output of a layer, a sample.
 *                A vector that is no data is one block. The original takes four dimensions only.
 * u              the original draws it from PyTorch's generator. Here it is the number that the
 *                stream of roundings has at the bits of x: results do not depend on the order of
 *                work, on the batch or on the instruction set; equal values are rounded alike.
 * zero           bipolar: 1; else 0; residual: 0.
 * infinity, NaN  bipolar: as any number, NaN as a negative one; else a is infinite or NaN.
 *                Residual: infinity as any number, NaN stays.
 * gradient       straight through; residual: clipped, nothing where |x| > 1.
 * again          scaled, a is the mean of less: results shrink.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

struct binary {
    int64_t width;
    bool stochastic, bipolar;
    int64_t levels, residual_sign;
};

#define BINARY_PARAMS                                                                             \
    MASE_PARAM_INT(struct binary, width, 1, 1, 32,                                                \
                   "bits, as configurations say; a value has one"),                               \
        { .key = "stochastic",                                                                    \
          .type = MASE_OPT_TYPE_BOOL,                                                             \
          .offset = offsetof(struct binary, stochastic),                                          \
          .required = true,                                                                       \
          .help = "bipolar: by chance, the more likely 1 the larger x is" },                      \
    {                                                                                             \
        .key = "bipolar", .type = MASE_OPT_TYPE_BOOL, .offset = offsetof(struct binary, bipolar), \
        .required = true, .help = "-1 and 1; else 0 and the mean of the magnitudes"               \
    }

static const struct mase_opt params[] = { BINARY_PARAMS, { 0 } };
static const struct mase_opt residual_params[] = {
    BINARY_PARAMS,
    { .key = "levels",
      .type = MASE_OPT_TYPE_INT,
      .offset = offsetof(struct binary, levels),
      .may_be_none = true,
      .num = (double)MASE_NA,
      .min = 1,
      .max = 3,
      .help = "how many bits are taken in turn; none: one, as binary" },
    { .key = "residual_sign",
      .type = MASE_OPT_TYPE_SWITCH,
      .offset = offsetof(struct binary, residual_sign),
      .may_be_none = true,
      .num = (double)MASE_NA,
      .help = "false: as binary, whatever levels says" },
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct binary *p = opaque;
    (void)err;
    if (p->levels == MASE_NA || p->residual_sign == 0)
        p->levels = 0;
    return MASE_OK;
}

static bool is_alone(const void *opaque)
{
    const struct binary *p = opaque;
    return p->bipolar || p->levels;
}

bool mase_binary_is_sign(const struct mase_format *f)
{
    const struct binary *p = f->params;
    return (f->kind == MASE_QUANT_binary ||
            (f->kind == MASE_QUANT_binary_residual && !p->levels)) &&
           p->bipolar && !p->stochastic;
}

/* ---- rounding ---- */

static float chance_of(float x)
{
    return mase_clamp((x + 1) / 2, 0.0f, 1.0f);
}

static bool falls_up(float x)
{
    return chance_of(x) >= mase_chance_at(x);
}

static float size_of(float x, float limit)
{
    (void)limit;
    return fabsf(x);
}

static float chance_term(float x, float limit)
{
    (void)limit;
    return chance_of(x);
}

/* 1 + 2 + ... + levels */
static int64_t whole_of(int64_t levels)
{
    return levels * (levels + 1) / 2;
}

static float residual(float x, int64_t levels)
{
    const float whole = (float)whole_of(levels);
    float r = x, q = 0;
    for (int64_t k = levels; k > 0; k--) {
        const float o = isnan(r) ? r : mase_sign_of(r) * ((float)k / whole);
        q += o;
        r -= o;
    }
    return q;
}

static void round_lane(float *q, const float *x, const struct mase_block *b, int64_t l,
                       const struct binary *p)
{
    const struct mase_sum sum = { x, b, l, p->stochastic ? chance_term : size_of, 0 };
    const float mean = mase_sum(&sum) / (float)b->rows;
    for (int64_t r = 0; r < b->rows; r++) {
        const int64_t i = b->row[r] + l;
        q[i] = (p->stochastic ? chance_of(x[i]) : x[i]) > 0 ? mean : 0.0f;
    }
}

static float round_alone(float x, const struct binary *p)
{
    if (p->levels)
        return residual(x, p->levels);
    return (p->stochastic ? falls_up(x) : x >= 0) ? 1.0f : -1.0f;
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct binary *p = opaque;
    (void)sign;
    if (!is_alone(p))
        for (int64_t l = 0; l < b->lanes; l++)
            round_lane(q, x, b, l, p);
    for (int64_t r = 0; r < b->rows && is_alone(p); r++)
        for (int64_t i = b->row[r]; i < b->row[r] + b->lanes; i++)
            q[i] = round_alone(x[i], p);
}

/* ---- codes ---- */

/* The largest parts that a code of the residual form is made of; a level may be zero. */
static float residual_value(int64_t code, int64_t levels)
{
    const float whole = (float)whole_of(levels);
    int64_t left = code;
    float q = 0;
    for (int64_t k = levels; k > 0; k--) {
        const int64_t sign = left > 0 ? 1 : left < 0 ? -1 : 0;
        q += (float)sign * ((float)k / whole);
        left -= sign * k;
    }
    return q;
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct binary *p = opaque;
    if (p->levels)
        return residual_value(code, p->levels);
    if (p->bipolar)
        return code ? 1.0f : -1.0f;
    return code ? mase_shared_float(shared) : 0.0f;
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct binary *p = opaque;
    const int64_t code =
        p->levels && isfinite(q) ? (int64_t)rintf(q * (float)whole_of(p->levels)) : q > 0;
    return decode(code, shared, p) == q ? code : MASE_NO_CODE;
}

static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    (void)sign;
    *shared = mase_share_float(is_alone(opaque) ? 0.0f : mase_largest(q, n));
    return mase_encode_by(code, *shared, q, n, code_of, opaque);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    const struct binary *p = opaque;
    (void)sign;
    *high = p->levels ? whole_of(p->levels) : 1;
    *low = p->levels ? -*high : 0;
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    (void)sign;
    *high = is_alone(opaque) ? 1.0f : FLT_MAX;
    *low = is_alone(opaque) ? -1.0f : 0.0f;
}

static int bits_of(const void *opaque)
{
    const struct binary *p = opaque;
    return p->levels ? (int)p->levels : 1;
}

static enum mase_gradient gradient(const void *opaque)
{
    return ((const struct binary *)opaque)->levels ? MASE_GRADIENT_CLIPPED : MASE_GRADIENT_STRAIGHT;
}

#define ROW(name_, suffix_, params_, resolve_, gradient_, rounds_, drawn_, help_)              \
    {                                                                                          \
        .name = name_, .suffix = suffix_, .func = name_, .help = help_, .params = params_,     \
        .drawn = drawn_, .size = sizeof(struct binary), .resolve = resolve_,                   \
        .geometry = mase_geometry_items, .alone = is_alone, .quantize = quantize,              \
        .encode = encode, .decode = decode, .limits = limits, .range = range, .bits = bits_of, \
        .shared_bits = mase_thirty_two_bits, .gradient = gradient_, .rounds = rounds_,         \
        .unstable = true                                                                       \
    }

const struct mase_quant_info mase_quant_binary =
    ROW("binary", "Binary", params, NULL, NULL, MASE_ROUNDS_WEIGHT, "binary(1, false, true)",
        "one bit: -1 and 1, or 0 and the mean of the magnitudes");
const struct mase_quant_info mase_quant_binary_residual =
    ROW("binary_residual", "BinaryResidualSign", residual_params, resolve, gradient,
        MASE_ROUNDS_DATA | MASE_ROUNDS_WEIGHT, "binary_residual(1, false, true, 2)",
        "several bits in turn, each the sign of what the ones before leave");
