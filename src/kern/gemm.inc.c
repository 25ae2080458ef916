/*
 * gemm.inc.c - the products.
 *
 * Every output lane of gemm is one chain of fused multiply-adds in the order of k, every element of
 * grad one chain per lane and one fixed tree over the lanes: the bits do not depend on the register
 * block, nor on how lanes or outputs are shared among threads.
 *
 * A block is written once for any size; INLINE and constant sizes make each size a function whose
 * sums stay in registers.
 */

/* MR outputs by NV vectors of lanes. */
static INLINE void gemm_block(const struct mase_gemm *g, long o, long n, int MR, int NV)
{
    const float *w = g->w + o * g->w_stride;
    float *y = g->y + o * g->y_stride + n;
    const long step = g->w_step ? g->w_step : 1;
    vf acc[6][4];
    UNROLL
    for (int r = 0; r < MR; r++) {
        const vf b = vset1(g->bias ? g->bias[o + r] : 0.0f);
        UNROLL
        for (int v = 0; v < NV; v++)
            acc[r][v] = g->add ? vload(y + r * g->y_stride + MASE_LANES * v) : b;
    }
    for (long k = 0; k < g->K; k++, w += step) {
        const float *x_k = g->rows[k] + n;
        vf x[4];
        UNROLL
        for (int v = 0; v < NV; v++)
            x[v] = vload(x_k + MASE_LANES * v);
        UNROLL
        for (int r = 0; r < MR; r++) {
            const vf w_rk = vset1(w[r * g->w_stride]);
            UNROLL
            for (int v = 0; v < NV; v++)
                acc[r][v] = vfma(w_rk, x[v], acc[r][v]);
        }
    }
    UNROLL
    for (int r = 0; r < MR; r++) {
        UNROLL
        for (int v = 0; v < NV; v++)
            vstore(y + r * g->y_stride + MASE_LANES * v,
                   g->relu ? vmax(vzero(), acc[r][v]) : acc[r][v]);
    }
}

typedef void gemm_fn(const struct mase_gemm *g, long o, long n);
#define GEMM(MR, NV)                                                        \
    static void gemm_##MR##x##NV(const struct mase_gemm *g, long o, long n) \
    {                                                                       \
        gemm_block(g, o, n, MR, NV);                                        \
    }
#define GEMMS(NV)                                                                 \
    GEMM(1, NV)                                                                   \
    GEMM(2, NV)                                                                   \
    GEMM(3, NV)                                                                   \
    GEMM(4, NV)                                                                   \
    GEMM(5, NV)                                                                   \
    GEMM(6, NV)                                                                   \
    static gemm_fn *const gemms_##NV[] = { gemm_1x##NV, gemm_2x##NV, gemm_3x##NV, \
                                           gemm_4x##NV, gemm_5x##NV, gemm_6x##NV };
GEMMS(1)
#if GEMM_NV > 1
GEMMS(4)
#endif

/* All outputs for one block of lanes, GEMM_MR at a time; the rest in at most two blocks. */
static void gemm_outputs(gemm_fn *const *blocks, const struct mase_gemm *g, long n)
{
    for (long o = 0, left; (left = g->O - o) > 0;) {
        const long take = left <= 6 ? left : left < 2 * GEMM_MR ? left / 2 : GEMM_MR;
        blocks[take - 1](g, o, n);
        o += take;
    }
}

void KERNEL(gemm)(const struct mase_gemm *g, long from, long to)
{
    long n = from;
#if GEMM_NV > 1
    for (; n + 4 * MASE_LANES <= to; n += 4 * MASE_LANES)
        gemm_outputs(gemms_4, g, n);
#endif
    for (; n < to; n += MASE_LANES)
        gemm_outputs(gemms_1, g, n);
}

/* MR outputs by NR inputs, sixteen sums at most; the tree over the lanes comes last. */
static INLINE void grad_block(const struct mase_grad *g, long o, long k, int MR, int NR)
{
    vf acc[16];
    UNROLL
    for (int i = 0; i < 16; i++)
        acc[i] = vzero();
    for (long p = 0; p < g->P; p++) {
        const float *dy = g->dy + o * g->dy_stride + p * g->dy_pos;
        const float *x[4];
        UNROLL
        for (int c = 0; c < NR; c++)
            x[c] = g->rows[p * g->K + k + c];
        for (long n = 0; n < g->n; n += MASE_LANES) {
            vf x_n[4];
            UNROLL
            for (int c = 0; c < NR; c++)
                x_n[c] = vload(x[c] + n);
            UNROLL
            for (int r = 0; r < MR; r++) {
                const vf d = vload(dy + r * g->dy_stride + n);
                UNROLL
                for (int c = 0; c < NR; c++)
                    acc[r * NR + c] = vfma(d, x_n[c], acc[r * NR + c]);
            }
        }
    }
    float sum[16];
    vstore(sum, vsum16(acc));
    for (int r = 0; r < MR; r++) {
        float *dw = g->dw + (o + r) * g->dw_stride + k;
        for (int c = 0; c < NR; c++)
            dw[c] = g->add ? dw[c] + sum[r * NR + c] : sum[r * NR + c];
    }
}

typedef void grad_fn(const struct mase_grad *g, long o, long k);
#define GRAD(MR, NR)                                                        \
    static void grad_##MR##x##NR(const struct mase_grad *g, long o, long k) \
    {                                                                       \
        grad_block(g, o, k, MR, NR);                                        \
    }
#define GRADS(MR) GRAD(MR, 1) GRAD(MR, 2) GRAD(MR, 3) GRAD(MR, 4)
GRADS(1)
GRADS(2)
GRADS(3)
GRADS(4)
static grad_fn *const grads[4][4] = {
    { grad_1x1, grad_1x2, grad_1x3, grad_1x4 },
    { grad_2x1, grad_2x2, grad_2x3, grad_2x4 },
    { grad_3x1, grad_3x2, grad_3x3, grad_3x4 },
    { grad_4x1, grad_4x2, grad_4x3, grad_4x4 },
};

void KERNEL(grad)(const struct mase_grad *g, long from, long to)
{
    for (long o = from; o < to; o += GRAD_MR) {
        const long mr = to - o < GRAD_MR ? to - o : GRAD_MR;
        for (long k = 0; k < g->K; k += GRAD_NR) {
            const long nr = g->K - k < GRAD_NR ? g->K - k : GRAD_NR;
            grads[mr - 1][nr - 1](g, o, k);
        }
    }
}

/* NV vectors of outputs; each output is the chain it is in gemm. */
static INLINE void gemv_block(float *y, const float *w, const float *b, const float *x, long O,
                              long K, int NV)
{
    vf acc[4];
    UNROLL
    for (int v = 0; v < NV; v++)
        acc[v] = vload(b + MASE_LANES * v);
    for (long k = 0; k < K; k++, w += O) {
        const vf x_k = vset1(x[k]);
        UNROLL
        for (int v = 0; v < NV; v++)
            acc[v] = vfma(vload(w + MASE_LANES * v), x_k, acc[v]);
    }
    UNROLL
    for (int v = 0; v < NV; v++)
        vstore(y + MASE_LANES * v, acc[v]);
}

void KERNEL(gemv)(float *y, const float *w, const float *b, const float *x, long O, long K)
{
    long o = 0;
    for (; o + 4 * MASE_LANES <= O; o += 4 * MASE_LANES)
        gemv_block(y + o, w + o, b + o, x, O, K, 4);
    for (; o + 2 * MASE_LANES <= O; o += 2 * MASE_LANES)
        gemv_block(y + o, w + o, b + o, x, O, K, 2);
    for (; o < O; o += MASE_LANES)
        gemv_block(y + o, w + o, b + o, x, O, K, 1);
}
