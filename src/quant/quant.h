/*
 * quant.h - private: the rows, and what faster versions of a format share with its reference.
 */
#ifndef MASE_QUANT_QUANT_H
#define MASE_QUANT_QUANT_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include <mase/format.h>

#define QUANT(name, kernel) extern const struct mase_quant_info mase_quant_##name;
#include <mase/quants.def>

/* Round one value, and a block (uniform.c). */
float mase_uniform_round(float x, const struct mase_uniform *u);
void mase_uniform_quantize(float *q, const float *x, const struct mase_block *b,
                           const struct mase_uniform *u);

/* Is it 1 from zero on, else -1? (binary.c) */
bool mase_binary_is_sign(const struct mase_format *f);

/* Constants of block_fp (block_fp.c): range of a block's exponent, number of mantissas. */
struct mase_block_fp_levels {
    float lo, hi, mantissas;
};
struct mase_block_fp_levels mase_block_fp_levels(const void *params);

/* ---- rounding ---- */

/* enum mase_direction of format.h (direction.c). */
extern const char *const mase_direction_names[];
/* Find a direction by name; *name becomes the table's own, which outlives the configuration. */
enum mase_direction mase_direction_of(const char **name);
/* The number of steps, whole; x, whose bits decide by chance, is the value they measure. */
double mase_direct(double steps, enum mase_direction d, float x);
/* In [0, 1), for each value its own. */
float mase_chance_at(float x);

/* Constants of integer: q = clamp(round(x scale), lo, hi) / scale (integer.c). */
struct mase_integer_levels {
    float scale; /* a power of two */
    float lo, hi;
    enum mase_direction direction;
};
struct mase_integer_levels mase_integer_levels(const void *params, enum mase_sign sign);

/* Floating point with subnormals (minifloat.c): steps of 2^-m times the power of two that is not
 * above |x|, or 2^emin if that is more. Everything is a float32, so that kernels need no more. */
struct mase_float_levels {
    float emin;           /* an integer, -126 .. 127 */
    float least, inverse; /* 2^emin, the smallest normal value, and 2^-emin */
    float steps, step;    /* 2^m, 2^-m */
    float most;           /* the largest finite value, 0 < most < 2^128 */
    float above, below;   /* what finite values beyond most and -most become */
    float infinite;       /* what infinity becomes */
    float zero;           /* is added to results: -0.0 changes nothing, 0.0 leaves no -0.0 */
    enum mase_direction direction;
};
float mase_float_round(float x, const struct mase_float_levels *levels);
/* Codes: exponent and mantissa side by side, as they are stored, with the sign of the value. */
float mase_float_decode(int64_t code, const struct mase_float_levels *levels);
int64_t mase_float_encode(float q, const struct mase_float_levels *levels);
/* The levels of the parameters of minifloat and its presets. */
const struct mase_float_levels *mase_minifloat_float_levels(const void *params);
/* By the name of a preset: "fp8_e4m3". What exceeds it saturates. NULL if there is none. */
bool mase_float_levels_named(struct mase_float_levels *levels, int *bits, const char *name,
                             enum mase_direction d);

/* Such elements and a power of two for each block (mx.c). */
struct mase_mx_levels {
    struct mase_float_levels element;
    float emax; /* the exponent of the largest element */
};
const struct mase_mx_levels *mase_mx_levels(const void *params);

/* ---- rows of parameters ---- */

#define MASE_PARAM_ROUNDING(S, f)                                           \
    MASE_OPT_CHOICE(S, f, "rounding", "nearest_even", mase_direction_names, \
                    "which way numbers between two values go")

/* A whole number that must be said, and one that may be said to be none. */
#define MASE_PARAM_INT(S, f, dflt, lo, hi, hlp)                                           \
    {                                                                                     \
        .key = #f, .type = MASE_OPT_TYPE_INT, .offset = offsetof(S, f), .required = true, \
        .num = dflt, .min = lo, .max = hi, .help = hlp                                    \
    }
#define MASE_PARAM_INT_OR_NONE(S, f, lo, hi, hlp)                                         \
    {                                                                                     \
        .key = #f, .type = MASE_OPT_TYPE_INT, .offset = offsetof(S, f), .required = true, \
        .may_be_none = true, .num = (double)MASE_NA, .min = lo, .max = hi, .help = hlp    \
    }

/* Block geometry, as block_fp, block_minifloat and block_log have it. */
#define MASE_PARAM_BLOCK_SIZE(S, f)                                                        \
    {                                                                                      \
        .key = #f, .type = MASE_OPT_TYPE_INTS, .offset = offsetof(S, f), .required = true, \
        .text = "[16]", .min = -1, .max = 1 << 30,                                         \
        .help = "lengths of a block along the last dimensions; -1: the whole dimension"    \
    }
#define MASE_PARAM_SKIP_FIRST_DIM(S, f)                                                         \
    {                                                                                           \
        .key = #f, .type = MASE_OPT_TYPE_SWITCH, .offset = offsetof(S, f), .may_be_none = true, \
        .num = (double)MASE_NA,                                                                 \
        .help = "no block spans two positions of the first dimension; none: so for data"        \
    }
#define MASE_PARAM_BLOCK_DIM(S, f)             \
    MASE_OPT_INT(S, f, "block_dim", -1, -8, 7, \
                 "dimension along which blocks lie; negative: from the last")

/* ---- the original's arithmetic ---- */

/* The original adds MASE_TINY before it takes signs or logarithms, and leaves values up to
 * MASE_KEPT unchanged. */
#define MASE_TINY 1e-9f
#define MASE_KEPT 1e-8f

/* -1, 0, 1; 0 for NaN. */
static inline float mase_sign_of(float x)
{
    return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
}

static inline float mase_clamp(float x, float lo, float hi) /* NaN stays */
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* q, or x where that is small; infinities become NaN, as 0 times them. */
static inline float mase_kept_or(float x, float q)
{
    const float keep = x <= MASE_KEPT && x >= -MASE_KEPT ? 1.0f : 0.0f;
    return (1.0f - keep) * q + keep * x;
}

/* Floating point with a sign, exponents lo .. hi and so many mantissas. */
struct mase_minifloat_levels {
    float lo, hi, mantissas;
};
struct mase_minifloat_levels mase_minifloat_levels(int64_t width, int64_t exponent_width,
                                                   int64_t bias);
/* Parameters that several formats have, resolved and as levels (minifloat_ieee.c). */
struct mase_minifloat {
    int64_t width, exponent_width, exponent_bias;
};
extern const struct mase_opt mase_minifloat_params[];
mase_quant_resolve_fn mase_minifloat_resolve;
struct mase_minifloat_levels mase_minifloat_levels_of(const void *minifloat);
float mase_minifloat_ieee(float x, const struct mase_minifloat_levels *levels);
float mase_minifloat_ieee_decode(int64_t code, const struct mase_minifloat_levels *levels);
/* MASE_NO_CODE when q is none of its values; what is kept counts as zero. */
int64_t mase_minifloat_ieee_encode(float q, const struct mase_minifloat_levels *levels);
int64_t mase_minifloat_ieee_top(const struct mase_minifloat_levels *levels); /* the highest code */
/* Sign and mantissa must fit: an error that names width. */
enum mase_status mase_minifloat_check(int64_t width, int64_t exponent_width, struct mase_err *err);

/* Integers of -steps .. steps - 1 with a power of two for each block, 2^least .. 2^most (mxint.c
 * and mxint_hardware.c). */
struct mase_mxint_levels {
    float least, most, steps;
};
/* False: each block looks for the best power. */
bool mase_mxint_levels(struct mase_mxint_levels *levels, const void *params);
struct mase_mxint_levels mase_mxint_hardware_levels(const void *params);

/* Integers lo .. hi, of which `steps` are the largest value of a block (scale_integer.c). */
struct mase_scaled_levels {
    float lo, hi, steps;
};
struct mase_scaled_levels mase_scaled_levels(const void *params, enum mase_sign sign);

/* Powers of two with a sign and exponents lo .. hi; no zero. */
struct mase_log_levels {
    int64_t lo, hi;
};
float mase_log_round(float x, const struct mase_log_levels *levels);
float mase_log_decode(int64_t code, const struct mase_log_levels *levels);
int64_t mase_log_encode(float q, const struct mase_log_levels *levels);

/* The largest magnitude of each of n lanes from `from` on; NaN where one of a lane's values is. */
void mase_block_largest(float *largest, const float *x, const struct mase_block *b, int64_t from,
                        int64_t n);
enum { MASE_BLOCK_CHUNK = 64 }; /* lanes that references take at a time */
/* For formats that read other blocks: the initial value, and, for each lane, the least or greatest
 * of each block of a sample. */
float mase_around_none(enum mase_looks looks);
void mase_block_look(float *around, const float *x, const struct mase_block *b,
                     enum mase_looks looks);

/* Blocks that are the whole, a channel along an axis, or so many values of the last dimension: at
 * most one of both is not MASE_NA. */
#define MASE_PARAM_AXIS(S, f)                                                                 \
    {                                                                                         \
        .key = #f, .type = MASE_OPT_TYPE_INT, .offset = offsetof(S, f), .may_be_none = true,  \
        .num = (double)MASE_NA, .min = -MASE_MAX_RANK, .max = MASE_MAX_RANK - 1,              \
        .help = "the dimension of channels, each of which is a block; none: the whole tensor" \
    }
#define MASE_PARAM_BLOCK_RUN(S, f)                                                           \
    {                                                                                        \
        .key = #f, .type = MASE_OPT_TYPE_INT, .offset = offsetof(S, f), .may_be_none = true, \
        .num = (double)MASE_NA, .min = 1, .max = 1 << 30,                                    \
        .help = "values of a block along the last dimension"                                 \
    }
#define MASE_PARAM_SIGNED(S, f)                                                   \
    {                                                                             \
        .key = "signed", .type = MASE_OPT_TYPE_SWITCH, .offset = offsetof(S, f),  \
        .may_be_none = true, .num = (double)MASE_NA,                              \
        .help = "spend a bit on the sign; none: unless values cannot be negative" \
    }
enum mase_status mase_check_channels(int64_t axis, int64_t block_size,
                                     struct mase_err *err) MASE_MUST_CHECK;
void mase_geometry_channels(int64_t *length, const struct mase_shape *s, enum mase_role role,
                            int64_t axis, int64_t block_size);
enum mase_status mase_channels_fit(const struct mase_shape *s, enum mase_role role, int64_t axis,
                                   int64_t block_size, struct mase_err *err) MASE_MUST_CHECK;

/* What rows have whose values training learns (learned_step.c): rounding by what each block would
 * start with, and no codes before they are an int. */
void mase_learned_quantize(float *q, const float *x, const struct mase_block *b,
                           const struct mase_learning *learned, const void *params,
                           enum mase_sign sign);
mase_quant_encode_fn mase_learned_encode;
mase_quant_decode_fn mase_learned_decode;

/* ---- the scale of products (products.c) ---- */

/* Is f the format of a bias whose steps follow from those of data and weight, and are not told? */
bool mase_format_is_open(const struct mase_format *f);
/* Are its values codes times steps that are any numbers, told or learned? Then hardware adds a bias
 * in steps of the products. */
bool mase_format_is_scaled(const struct mase_format *f);
struct mase_uniform mase_products_uniform(float step, enum mase_sign sign);

/* A factor of products; the shape of data is that of one sample, of rank 1 or more. */
struct mase_factor {
    const struct mase_format *format;
    enum mase_sign sign;
    struct mase_shape shape;
};
/* Parts of a dimension, and the blocks that have values there. */
struct mase_factor_spread {
    struct mase_factor_part {
        int32_t block, part;
    } * pair;
    int count;
    int64_t blocks, parts;
};
struct mase_products {
    struct mase_factor data, weight;
    int64_t outputs; /* as many as the bias has numbers */
    bool turned;    /* they are the weight's second dimension, as transposed convolutions have it */
    int64_t groups; /* by mase_products_init: of channels, */
    struct mase_factor_spread of_data, of_weight;
};
void mase_products_init(struct mase_products *p, struct mase_arena *a);
/* Steps of the outputs, by those of the blocks of data and weight; room: groups + of_weight.parts
 * floats. A step that is NaN makes NaN. */
void mase_products_steps(float *step, const struct mase_products *p, float *room, const float *data,
                         const float *weight);
/* products with its steps; both formats are uniform. */
const struct mase_format *mase_products_now(struct mase_products *p);

/* What blocks do not divide, for messages: "a tensor [8, 16]", "samples of [16]". */
void mase_blocks_tell(struct mase_str *out, const struct mase_shape *s, enum mase_role role);
/* Does mase_geometry_run fill a tensor of this shape with whole blocks? */
enum mase_status mase_run_fits(const struct mase_shape *s, enum mase_role role, int64_t values,
                               int64_t dim, struct mase_err *err);
/* Can blocks lie along this dimension (mase_geometry_one_dim)? Not if samples do, or the tensor
 * lacks it. */
enum mase_status mase_one_dim_fits(const struct mase_shape *s, enum mase_role role, int64_t dim,
                                   struct mase_err *err);
/* The largest magnitude of some values; NaN is passed by. */
float mase_largest(const float *q, int64_t n);

/* The sum of a function of each value of a lane, in PyTorch's order (mean.c). */
typedef float mase_term_fn(float x, float limit);
struct mase_sum {
    const float *x;
    const struct mase_block *b;
    int64_t lane;
    mase_term_fn *term;
    float limit; /* for the function */
};
float mase_sum(const struct mase_sum *s);

/* The codes of a block that shares this. */
bool mase_encode_by(int64_t *code, int64_t shared, const float *q, int64_t n,
                    mase_quant_code_fn *code_of, const void *params);
/* Numbers that a block might share. */
struct mase_shared {
    int64_t from, to, else_take;
};
/* The codes of a block by the first number with which all values have one; else by else_take. */
bool mase_encode_sharing(int64_t *code, int64_t *shared, const float *q, int64_t n,
                         const struct mase_shared *among, mase_quant_code_fn *code_of,
                         const void *params);
/* v as a code if it is a whole number from low to high, else MASE_NO_CODE. */
static inline int64_t mase_whole_code(double v, double low, double high)
{
    return v >= low && v <= high && v == rint(v) ? (int64_t)v : MASE_NO_CODE; /* not for NaN */
}
/* The bits of a value, of formats whose first parameter is their width. */
int mase_width_of(const void *params);
int mase_eight_bits(const void *params);
int mase_thirty_two_bits(const void *params);
/* Do values have a sign? is_signed says so (MASE_PARAM_SIGNED), or leaves it to what is asked. */
static inline bool mase_has_sign(int64_t is_signed, enum mase_sign asked)
{
    return is_signed == MASE_NA ? asked == MASE_SIGNED : is_signed;
}
/* The lowest and highest float. */
mase_quant_limits_fn mase_unbounded_limits;
/* A float that a block shares, by its bits. */
static inline int64_t mase_share_float(float scale)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return (int64_t)bits;
}
static inline float mase_shared_float(int64_t shared)
{
    const uint32_t bits = (uint32_t)shared;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

/* The one format of these parameters, as configured and as the row's struct has them
 * (intern_format.c). */
const struct mase_format *mase_format_intern(enum mase_quant_kind kind,
                                             const struct mase_value *config, const void *params);

#endif /* MASE_QUANT_QUANT_H */
