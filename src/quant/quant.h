/*
 * quant.h - private: the rows, and what faster versions of a format share with its reference.
 */
#ifndef MASE_QUANT_QUANT_H
#define MASE_QUANT_QUANT_H

#include <mase/format.h>

#define QUANT(name, kernel) extern const struct mase_quant_info mase_quant_##name;
#include <mase/quants.def>

/* What rounding to integer needs to know: q = clamp(round(x scale), lo, hi) / scale (integer.c). */
struct mase_integer_grid {
    float scale; /* a power of two */
    float lo, hi;
};
struct mase_integer_grid mase_integer_grid(const void *params, enum mase_sign sign);

/* The same for block_fp: the exponents that a block may have, and how many mantissas there are
 * (block_fp.c). */
struct mase_block_fp_grid {
    float lo, hi, mantissas;
};
struct mase_block_fp_grid mase_block_fp_grid(const void *params);

/* The one format of these parameters, as configured and as the row's struct has them (intern.c). */
const struct mase_format *mase_format_intern(enum mase_quant_kind kind,
                                             const struct mase_value *config, const void *params);

#endif /* MASE_QUANT_QUANT_H */
