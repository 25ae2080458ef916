/*
 * int.inc.c - sums of products of 16-bit integers, and what makes 16 bits of them again. Integers
 * have no rounding: every instruction set gives the same, in whatever order.
 */

/* MR outputs of sixteen lanes: two rows of the operand at a time, whose values are paired, as are
 * the two weights. */
static INLINE void int_gemm_block(const struct mase_int_gemm *g, long o, long n, int MR)
{
    const int32_t *w = g->w + o * g->pairs;
    vp acc[4];
    UNROLL
    for (int r = 0; r < MR; r++)
        acc[r] = vp_set1(g->bias[o + r]);
    for (long k = 0; k < g->pairs; k++) {
        const vp x = vp_pairs(g->rows[2 * k] + n, g->rows[2 * k + 1] + n);
        UNROLL
        for (int r = 0; r < MR; r++)
            acc[r] = vp_dot(acc[r], x, w[r * g->pairs + k]);
    }
    UNROLL
    for (int r = 0; r < MR; r++)
        vp_store(g->y[o + r] + n, acc[r]);
}

static void int_gemm_1(const struct mase_int_gemm *g, long o, long n)
{
    int_gemm_block(g, o, n, 1);
}
static void int_gemm_2(const struct mase_int_gemm *g, long o, long n)
{
    int_gemm_block(g, o, n, 2);
}
static void int_gemm_3(const struct mase_int_gemm *g, long o, long n)
{
    int_gemm_block(g, o, n, 3);
}
static void int_gemm_4(const struct mase_int_gemm *g, long o, long n)
{
    int_gemm_block(g, o, n, 4);
}

void KERNEL(int_gemm)(const struct mase_int_gemm *g, long from, long to)
{
    typedef void block_fn(const struct mase_int_gemm *, long, long);
    static block_fn *const blocks[] = { int_gemm_1, int_gemm_2, int_gemm_3, int_gemm_4 };
    for (long n = from; n < to; n += MASE_LANES)
        for (long o = 0, left; (left = g->O - o) > 0;) {
            const long take = left <= 4 ? left : left == 5 ? 3 : 4;
            blocks[take - 1](g, o, n);
            o += take;
        }
}

/* Exact in double: no operand has more than 53 bits. */
void KERNEL(int_affine)(int16_t *y, const int32_t *x, const struct mase_int_affine *l, long n)
{
    for (long i = 0; i < n; i += MASE_LANES)
        vp_affine(y + i, x + i, l->mul, l->add, l->lo, l->hi);
}

/* To nearest, ties to even: half a step less one, and one more where the result would be odd. */
void KERNEL(int_shift)(int16_t *y, const int32_t *x, const struct mase_int_affine *l, long n)
{
    const int half = l->shift ? (1 << (l->shift - 1)) - 1 : 0;
    for (long i = 0; i < n; i += MASE_LANES)
        vp_shift(y + i, x + i, l->shift, half, l->shift != 0, (int)l->lo, (int)l->hi);
}

void KERNEL(int_scale)(int16_t *y, const int32_t *x, const struct mase_int_affine *l, long n)
{
    const vf factor = vset1(l->factor), offset = vset1(l->offset), lo = vset1((float)l->lo),
             hi = vset1((float)l->hi);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore_i16(y + i, vmin(vmax(vrint(vfma(vload_i32(x + i), factor, offset)), lo), hi));
}

/* A step that is a power of two is multiplied by its reciprocal, which is exact; any other divides.
 * What is no number becomes lo. */
void KERNEL(int_encode)(int16_t *y, const float *x, const struct mase_int_affine *l, long n)
{
    const vf factor = vset1(l->factor), lo = vset1((float)l->lo), hi = vset1((float)l->hi);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf v = l->divides ? vdiv(vload(x + i), factor) : vmul(vload(x + i), factor);
        const vf whole = l->floor ? vfloor(v) : vrint(v);
        vstore_i16(y + i, vmin(vmax(whole, lo), hi));
    }
}
