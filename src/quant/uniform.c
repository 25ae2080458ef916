/*
 * uniform.c - multiples of a step between two bounds (struct mase_uniform), the arithmetic of int
 * and of the formats that learn their steps.
 */
#include <math.h>

#include "quant/quant.h"

float mase_uniform_round(float x, const struct mase_uniform *u)
{
    const float v = rintf(x / u->scale) + 0.0f; /* zero has no sign */
    return (v < u->lo ? u->lo : v > u->hi ? u->hi : v) * u->scale;
}

void mase_uniform_quantize(float *q, const float *x, const struct mase_block *b,
                           const struct mase_uniform *u)
{
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t i = b->row[r]; i < b->row[r] + b->lanes; i++)
            q[i] = mase_uniform_round(x[i], u);
}
