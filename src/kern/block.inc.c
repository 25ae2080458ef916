/*
 * block.inc.c - rounding of blocks: values of a lane that share an exponent.
 */

/* ceil(log2(a)) for a > 0, with the float32 logarithm as formats define it: a mantissa so little
 * above 1 that its logarithm is lost beside the exponent counts as 1. How little is known for each
 * power of two that the exponent reaches; a negative one must exceed it. Infinity gives 128. */
static inline vf ceil_log2(vf a)
{
    static const float lost[] = { 1, 2, 5, 11, 22, 44 }; /* times 2^-23, from exponent 4 on */
    const vm tiny = vgt(vset1(0x1p-126f), a);
    a = vselect(tiny, vmul(a, vset1(0x1p24f)), a);
    const vf e = vsub(vexponent(a), vselect(tiny, vset1(24.0f), vzero()));
    const vf size = vselect(vgt(vzero(), e), vsub(vsub(vzero(), e), vset1(1.0f)), e);
    vf most = vzero();
    for (int i = 0; i < 6; i++)
        most = vselect(vgt(size, vset1((float)(4 << i) - 1.0f)), vset1(lost[i] * 0x1p-23f), most);
    const vf f = vsub(vmantissa(a), vset1(1.0f));
    return vselect(vgt(f, most), vadd(e, vset1(1.0f)), e);
}

/* 2^e for any integral e, in two steps, since vscale2 makes normal numbers only. */
static inline vf power_of_2(vf e)
{
    e = vmax(vset1(-152.0f), vmin(vset1(130.0f), e));
    const vf half = vrint(vmul(e, vset1(0.5f)));
    return vscale2(vscale2(vset1(1.0f), half), vsub(e, half));
}

/* The largest magnitude of rows of sixteen lanes; NaN where one of them is. */
static inline vf largest_of(const float *x, const int64_t *row, long rows)
{
    vf largest = vzero();
    for (long r = 0; r < rows; r++) {
        const vf v = vabs(vload(x + row[r]));
        largest = vselect(vor(vgt(v, largest), vnot(veq(v, v))), v, largest);
    }
    return largest;
}

/* As quant/block_fp.c, to the bit: the same operations in the same order. */
void KERNEL(quantize_block_fp)(float *y, const float *x, const int64_t *row, long rows,
                               const struct mase_block_fp_levels *levels, long n)
{
    const vf tiny = vset1(1e-9f), kept = vset1(1e-8f), one = vset1(1.0f);
    const vf mantissas = vset1(levels->mantissas), back = vset1(1.0f / levels->mantissas);
    const vf most = vset1(levels->mantissas - 1.0f), lo = vset1(levels->lo), hi = vset1(levels->hi);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf largest = largest_of(x + i, row, rows);
        const vf e = ceil_log2(vselect(vgt(largest, vzero()), largest, one));
        const vf scale =
            vselect(vgt(vset1(INFINITY), largest), power_of_2(vmax(lo, vmin(hi, e))), vset1(NAN));
        for (long r = 0; r < rows; r++) {
            const vf v = vload(x + row[r] + i), size = vabs(v), moved = vadd(v, tiny);
            vf m = vrint(vmul(vdiv(vadd(size, tiny), scale), mantissas));
            m = vmin(most, m); /* NaN stays */
            const vf sign = vselect(vgt(moved, vzero()), one,
                                    vselect(vgt(vzero(), moved), vset1(-1.0f), vzero()));
            const vf q = vmul(vmul(sign, scale), vmul(m, back));
            const vm keep = vand(vnot(vgt(size, kept)), vand(veq(q, q), veq(v, v)));
            vstore(y + row[r] + i, vselect(keep, v, q));
        }
    }
}
