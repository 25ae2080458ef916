/*
 * mean.c - sums of a block's values in the order in which PyTorch adds them, which decides the last
 * bits of a mean.
 *
 * Its reduction takes four times eight values at a step, eight lanes each; keeps sums of sixteen
 * steps and more apart, so that small and large are not added; and adds rows and lanes at the end.
 * Fewer than eight values are taken four by four. What is beyond the size at which PyTorch shares a
 * sum among threads is added in the same order here.
 */
#include "quant/quant.h"

enum { LANES = 8, ROWS = 4, LEVELS = 4 };

struct rows {
    float sum[ROWS][LANES];
};

static float term_at(const struct mase_sum *s, int64_t i)
{
    return s->term(s->x[s->b->row[i] + s->lane], s->limit);
}

/* Row k of r gets the values of vector v, of so many lanes. */
static void add_vector(struct rows *r, int k, const struct mase_sum *s, int64_t v, int lanes)
{
    for (int l = 0; l < lanes; l++)
        r->sum[k][l] += term_at(s, v * lanes + l);
}

static void add_rows(struct rows *to, struct rows *from)
{
    for (int k = 0; k < ROWS; k++)
        for (int l = 0; l < LANES; l++)
            to->sum[k][l] += from->sum[k][l];
    *from = (struct rows){ 0 };
}

static int ceil_log2(int64_t n)
{
    int b = 1;
    while ((INT64_C(1) << b) < n)
        b++;
    return b;
}

/* Sums of `steps` steps of ROWS vectors each. */
static struct rows sum_steps(const struct mase_sum *s, int64_t steps, int lanes)
{
    const int quarter = ceil_log2(steps) / LEVELS, power = quarter > 4 ? quarter : 4;
    const int64_t each = INT64_C(1) << power;
    struct rows level[LEVELS] = { 0 };
    for (int64_t i = 0; i < steps; i++) {
        for (int k = 0; k < ROWS; k++)
            add_vector(&level[0], k, s, i * ROWS + k, lanes);
        const int64_t done = i + 1;
        if (done % each)
            continue;
        for (int j = 1; j < LEVELS; j++) {
            add_rows(&level[j], &level[j - 1]);
            if (done & ((each - 1) << (j * power)))
                break;
        }
    }
    for (int j = 1; j < LEVELS; j++)
        add_rows(&level[0], &level[j]);
    return level[0];
}

float mase_sum(const struct mase_sum *s)
{
    const int64_t n = s->b->rows;
    const int lanes = n < LANES ? 1 : LANES;
    const int64_t vectors = n / lanes;
    struct rows r = sum_steps(s, vectors / ROWS, lanes);
    float sum = 0;
    for (int64_t v = vectors / ROWS * ROWS; v < vectors; v++)
        add_vector(&r, 0, s, v, lanes);
    for (int k = 1; k < ROWS; k++)
        for (int l = 0; l < lanes; l++)
            r.sum[0][l] += r.sum[k][l];
    for (int64_t i = vectors * lanes; i < n; i++)
        sum += term_at(s, i);
    for (int l = 0; l < lanes; l++)
        sum += r.sum[0][l];
    return sum;
}
