/*
 * quant.h - what the table of number formats is made of; private to the layer.
 *
 * A format is a row of quants.def, a params array and a reference function. Both are declared here
 * under the row's names, so that table.c can gather them and count the parameters.
 */
#ifndef MASE_QUANT_QUANT_H
#define MASE_QUANT_QUANT_H

#include <mase/format.h>

/* integer.c: the parameters' positions in mase_format.param */
enum { INTEGER_WIDTH, INTEGER_FRAC_WIDTH, INTEGER_PARAM_COUNT };
extern const struct mase_quant_param mase_integer_params[INTEGER_PARAM_COUNT];
mase_quant_fn mase_integer_ref;

/* What rounding to a format needs to know: q = clamp(round(x scale), lo, hi) / scale. */
struct mase_integer_grid {
    float scale; /* a power of two */
    float lo, hi;
};
struct mase_integer_grid mase_integer_grid(const struct mase_format *f, enum mase_sign sign);
mase_code_fn mase_integer_code;

#endif /* MASE_QUANT_QUANT_H */
