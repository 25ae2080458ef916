/*
 * norm_affine.c - see norm_affine.h.
 */
#include "exec/reference/norm_affine.h"

#include <math.h>

#include "ir/shape/infer.h"

struct mase_norm_affine mase_norm_affine(float mean, float var, double eps, float weight,
                                         float bias)
{
    const float rstd = (float)(1 / sqrt((double)var + eps)), scale = rstd * weight;
    return (struct mase_norm_affine){ rstd, scale, bias - mean * scale };
}

bool mase_norm_affines(float *scale, float *shift, const struct mase_call *c, int64_t channels)
{
    const struct mase_tensor *mean = mase_call_tensor(c, "running_mean"),
                             *var = mase_call_tensor(c, "running_var"),
                             *weight = mase_call_tensor(c, "weight"),
                             *bias = mase_call_tensor(c, "bias");
    double eps;
    if (!mean || !var || !mean->data || !var->data || (weight && !weight->data) ||
        (bias && !bias->data) || mase_call_training(c, "training", false) ||
        mase_call_float(c, &eps, "eps", NULL))
        return false;
    for (int64_t k = 0; k < channels; k++) {
        const struct mase_norm_affine affine =
            mase_norm_affine(mase_f32(mean)[k], mase_f32(var)[k], eps,
                             weight ? mase_f32(weight)[k] : 1.0f, bias ? mase_f32(bias)[k] : 0.0f);
        scale[k] = affine.scale;
        shift[k] = affine.shift;
    }
    return true;
}
