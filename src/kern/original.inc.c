/*
 * original.inc.c - rounding to the original's formats that look at a float32 logarithm or at the
 * largest value of a block, as their references in src/quant do, to the bit: the same operations in
 * the same order, but for the logarithm.
 */

/* floor(log2(a)) for normal a, with the float32 logarithm: a mantissa so little below 2 that its
 * logarithm is lost beside the exponent counts as 2 (ceil_log2 has the same above 1). */
static inline vf floor_log2(vf a)
{
    static const float lost[] = { 1, 2, 5, 11, 22, 44 }; /* times 2^-23, from exponent 2 on */
    const vf e = vexponent(a), one = vset1(1.0f);
    const vf size = vselect(vgt(vzero(), e), vsub(vsub(vzero(), e), one), e);
    vf most = vzero();
    for (int i = 0; i < 6; i++)
        most = vselect(vgt(size, vset1((float)(2 << i) - 1.0f)), vset1(lost[i] * 0x1p-23f), most);
    const vf gap = vsub(vset1(2.0f), vmantissa(a));
    return vselect(vgt(gap, most), e, vadd(e, one));
}

static inline vf clamp(vf x, vf lo, vf hi) /* NaN stays */
{
    return vselect(vgt(lo, x), lo, vselect(vgt(x, hi), hi, x));
}

/* -1, 0, 1; 0 for NaN */
static inline vf sign_of(vf x)
{
    return vselect(vgt(x, vzero()), vset1(1.0f), vselect(vgt(vzero(), x), vset1(-1.0f), vzero()));
}

/* q, or x where that is small; infinities become NaN, as 0 times them. */
static inline vf kept_or(vf x, vf q)
{
    const vf one = vset1(1.0f), keep = vselect(vgt(vabs(x), vset1(1e-8f)), vzero(), one);
    return vselect(veq(x, x), vadd(vmul(vsub(one, keep), q), vmul(keep, x)), x);
}

/* ---- minifloat_denorm, minifloat_ieee ---- */

void KERNEL(quantize_denorm)(float *y, const float *x, const struct mase_minifloat_levels *levels,
                             long n)
{
    const vf tiny = vset1(1e-9f), mantissas = vset1(levels->mantissas), lo = vset1(levels->lo);
    const vf hi = vset1(levels->hi), most = vset1(levels->mantissas - 1),
             back = vset1(1 / levels->mantissas);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf v = vload(x + i), size = vabs(v);
        const vf scale = power_of_2(clamp(ceil_log2(vadd(size, tiny)), lo, hi));
        const vf m = clamp(vrint(vmul(vdiv(size, scale), mantissas)), vzero(), most);
        const vf q = vmul(vmul(sign_of(vadd(v, tiny)), scale), vmul(m, back));
        vstore(y + i, kept_or(v, q));
    }
}

void KERNEL(quantize_ieee)(float *y, const float *x, const struct mase_minifloat_levels *levels,
                           long n)
{
    const vf tiny = vset1(1e-9f), mantissas = vset1(levels->mantissas), lo = vset1(levels->lo);
    const vf hi = vset1(levels->hi), most = vset1(levels->mantissas - 1),
             back = vset1(1 / levels->mantissas);
    const vf half = vset1(0.5f), one = vset1(1.0f), two = vset1(2.0f);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf v = vload(x + i), size = vabs(v);
        const vf e = clamp(floor_log2(vadd(size, tiny)), lo, hi), scale = power_of_2(e);
        const vf m = vmul(vdiv(size, scale), mantissas);
        const vf normal = clamp(vrint(vsub(m, mantissas)), vzero(), most);
        const vf low = clamp(vrint(vmul(m, half)), vzero(), most);
        const vf mantissa =
            vselect(vgt(e, lo), vadd(one, vmul(normal, back)), vmul(vmul(low, back), two));
        vstore(y + i, kept_or(v, vmul(vmul(sign_of(vadd(v, tiny)), scale), mantissa)));
    }
}

/* ---- mxint, mxint_hardware, scale_integer: blocks of rows ---- */

void KERNEL(quantize_mxint)(float *y, const float *x, const int64_t *row, long rows,
                            const struct mase_mxint_levels *levels, long n)
{
    const vf steps = vset1(levels->steps), lo = vset1(-levels->steps),
             hi = vset1(levels->steps - 1);
    const vf back = vset1(1 / levels->steps);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf largest = largest_of(x + i, row, rows);
        const vf e = ceil_log2(vmax(largest, vset1(0x1p-126f))), scale = power_of_2(e);
        const vf out = power_of_2(clamp(e, vset1(levels->least), vset1(levels->most)));
        const vm finite = vgt(vset1(INFINITY), largest);
        for (long r = 0; r < rows; r++) {
            const vf v = vload(x + row[r] + i);
            const vf m = clamp(vrint(vmul(vdiv(v, scale), steps)), lo, hi);
            vstore(y + row[r] + i, vselect(finite, vmul(vmul(m, back), out), vset1(NAN)));
        }
    }
}

void KERNEL(quantize_mxint_down)(float *y, const float *x, const int64_t *row, long rows,
                                 const struct mase_mxint_levels *levels, long n)
{
    const vf lo = vset1(-levels->steps), hi = vset1(levels->steps - 1),
             least = vset1(levels->least);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf largest = largest_of(x + i, row, rows);
        const vf e = clamp(vadd(ceil_log2(largest), least), least, vset1(levels->most));
        const vf cut = vselect(vgt(largest, vzero()), e, least); /* zero has no logarithm */
        const vf scale = vselect(vgt(vset1(INFINITY), largest), power_of_2(cut), vset1(NAN));
        for (long r = 0; r < rows; r++) {
            const vf m = vfloor(vdiv(vload(x + row[r] + i), scale));
            vstore(y + row[r] + i, vmul(clamp(m, lo, hi), scale));
        }
    }
}

void KERNEL(quantize_scaled)(float *y, const float *x, const int64_t *row, long rows,
                             const struct mase_scaled_levels *levels, long n)
{
    const vf lo = vset1(levels->lo), hi = vset1(levels->hi), steps = vset1(levels->steps),
             tiny = vset1(1e-9f);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf s = vdiv(steps, vadd(largest_of(x + i, row, rows), tiny));
        for (long r = 0; r < rows; r++) {
            const vf m = clamp(vrint(vmul(vload(x + row[r] + i), s)), lo, hi);
            vstore(y + row[r] + i, vdiv(m, s));
        }
    }
}
