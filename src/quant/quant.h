/*
 * quant.h - private: the rows, and what faster versions of a format share with its reference.
 */
#ifndef MASE_QUANT_QUANT_H
#define MASE_QUANT_QUANT_H

#include <stddef.h>

#include <mase/format.h>

#define QUANT(name, kernel) extern const struct mase_quant_info mase_quant_##name;
#include <mase/quants.def>

/* What rounding to integer needs to know: q = clamp(round(x scale), lo, hi) / scale (integer.c). */
struct mase_integer_grid {
    float scale; /* a power of two */
    float lo, hi;
};
struct mase_integer_grid mase_integer_grid(const void *params, enum mase_sign sign);

/* One value, and a block, on a grid (grid.c). */
float mase_grid_round(float x, const struct mase_grid *g);
void mase_grid_quantize(float *q, const float *x, const struct mase_block *b,
                        const struct mase_grid *g);

/* The same for block_fp: the exponents that a block may have, and how many mantissas there are
 * (block_fp.c). */
struct mase_block_fp_grid {
    float lo, hi, mantissas;
};
struct mase_block_fp_grid mase_block_fp_grid(const void *params);

/* ---- rows of parameters ---- */

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

/* How tensors are cut, as block_fp, block_minifloat and block_log are told. */
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

/* ---- the original's arithmetic ---- */

/* What it adds before it looks at the sign or the logarithm, and up to where it lets values be. */
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
struct mase_minifloat_grid {
    float lo, hi, mantissas;
};
struct mase_minifloat_grid mase_minifloat_grid(int64_t width, int64_t exponent_width, int64_t bias);
/* Parameters that several formats have, resolved and as a grid (minifloat_ieee.c). */
struct mase_minifloat {
    int64_t width, exponent_width, exponent_bias;
};
extern const struct mase_opt mase_minifloat_params[];
mase_quant_resolve_fn mase_minifloat_resolve;
struct mase_minifloat_grid mase_minifloat_grid_of(const void *minifloat);
float mase_minifloat_ieee(float x, const struct mase_minifloat_grid *g);
float mase_minifloat_ieee_decode(int64_t code, const struct mase_minifloat_grid *g);
/* MASE_NO_CODE when q is none of its values; what is kept counts as zero. */
int64_t mase_minifloat_ieee_encode(float q, const void *grid);
int64_t mase_minifloat_ieee_top(const struct mase_minifloat_grid *g); /* the highest code */
/* Sign and mantissa must fit: an error that names width. */
enum mase_status mase_minifloat_check(int64_t width, int64_t exponent_width, struct mase_err *err);

/* Powers of two with a sign and exponents lo .. hi; no zero. */
struct mase_log_grid {
    int64_t lo, hi;
};
float mase_log_round(float x, const struct mase_log_grid *g);
float mase_log_decode(int64_t code, const struct mase_log_grid *g);
int64_t mase_log_encode(float q, const void *grid);

/* The largest magnitude of each of n lanes from `from` on; NaN where one of a lane's values is. */
void mase_block_largest(float *largest, const float *x, const struct mase_block *b, int64_t from,
                        int64_t n);
enum { MASE_BLOCK_CHUNK = 64 }; /* lanes that references take at a time */
/* Of each lane, the less of least, which starts as infinity, and of b's largest if that is not
 * zero: what a format that looks around is given, once it has seen all blocks of a sample. */
void mase_block_least(float *least, const float *x, const struct mase_block *b);

/* What blocks do not fill, in a message: "a tensor [8, 16]", "samples of [16]". */
void mase_blocks_tell(struct mase_str *out, const struct mase_shape *s, enum mase_role role);
/* Does mase_geometry_run fill a tensor of this shape with whole blocks? */
enum mase_status mase_run_fits(const struct mase_shape *s, enum mase_role role, int64_t values,
                               int64_t dim, struct mase_err *err);
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

/* Values one by one: the code of each, MASE_NO_CODE for none. False: some have none. */
typedef int64_t mase_code_fn(float q, const void *grid);
bool mase_encode_each(int64_t *code, const float *q, int64_t n, mase_code_fn *code_of,
                      const void *grid);

/* The one format of these parameters, as configured and as the row's struct has them (intern.c). */
const struct mase_format *mase_format_intern(enum mase_quant_kind kind,
                                             const struct mase_value *config, const void *params);

#endif /* MASE_QUANT_QUANT_H */
