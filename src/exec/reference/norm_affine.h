/*
 * norm_affine.h - a batch norm by given statistics: y = x scale + shift for each channel, the same
 * bits wherever it is computed.
 */
#ifndef MASE_EXEC_REFERENCE_NORM_AFFINE_H
#define MASE_EXEC_REFERENCE_NORM_AFFINE_H

#include <mase/call.h>

struct mase_norm_affine {
    float rstd, scale, shift;
};
struct mase_norm_affine mase_norm_affine(float mean, float var, double eps, float weight,
                                         float bias);

/* Scale and shift of each channel of a call; false, without an error, if it uses statistics of the
 * batch or unknown values. */
bool mase_norm_affines(float *scale, float *shift, const struct mase_call *c, int64_t channels);

#endif /* MASE_EXEC_REFERENCE_NORM_AFFINE_H */
