/*
 * gather.inc.c - shuffled table rows to feature-major lanes, 16 x 16 at a time.
 */
enum { AHEAD = 32 }; /* rows asked for before they are needed: a shuffled row is a cache miss */

static inline const float *table_row(const struct mase_gather *g, long i)
{
    return g->table + (g->index ? (long)g->index[i] : i) * g->table_stride;
}

/* Sixteen features from f of the samples from n. */
static inline void gather_block(const struct mase_gather *g, long f, long n)
{
    vf a[MASE_LANES];
    for (long i = 0; i < MASE_LANES; i++)
        a[i] = n + i < g->samples ? vload(table_row(g, n + i) + f) : vzero();
    vtranspose16(a);
    for (long i = 0; i < MASE_LANES; i++)
        vstore(g->y + (f + i) * g->y_stride + n, a[i]);
}

void KERNEL(gather)(const struct mase_gather *g)
{
    for (long n = 0; n < g->n; n += MASE_LANES) {
        for (long i = n + AHEAD; i < n + AHEAD + MASE_LANES && i < g->samples; i++)
            __builtin_prefetch(table_row(g, i));
        long f = 0;
        for (; f + MASE_LANES <= g->F; f += MASE_LANES)
            gather_block(g, f, n);
        for (; f < g->F; f++) {
            float *y_f = g->y + f * g->y_stride + n;
            for (long i = 0; i < MASE_LANES; i++)
                y_f[i] = n + i < g->samples ? table_row(g, n + i)[f] : 0.0f;
        }
    }
}
