/*
 * step_grid.c - multiples of a step between two bounds (struct mase_grid), the arithmetic of int
 * and of the formats that learn their steps.
 */
#include <math.h>

#include "quant/quant.h"

float mase_grid_round(float x, const struct mase_grid *g)
{
    const float v = rintf(x / g->scale) + 0.0f; /* zero has no sign */
    return (v < g->lo ? g->lo : v > g->hi ? g->hi : v) * g->scale;
}

void mase_grid_quantize(float *q, const float *x, const struct mase_block *b,
                        const struct mase_grid *g)
{
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t i = b->row[r]; i < b->row[r] + b->lanes; i++)
            q[i] = mase_grid_round(x[i], g);
}
