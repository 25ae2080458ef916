/*
 * math.h - exponential and logarithm of sixteen lanes, the same bits on every instruction set.
 */

/* e^x to about 1 ulp; below -87.3 the result is 0, above 88.72 infinite. */
static inline vf vexp(vf x)
{
    const vf lo = vset1(-87.3f);
    const vm tiny = vgt(lo, x);
    x = vmax(lo, vmin(vset1(89.0f), x));
    const vf k = vrint(vmul(x, vset1(1.44269504f))), top = vmin(vset1(127.0f), k);
    vf r = vfma(k, vset1(-0.693359375f), x); /* ln 2 in two parts, the first exact */
    r = vfma(k, vset1(2.12194440e-4f), r);
    vf p = vset1(1.9875691500e-4f);
    p = vfma(p, r, vset1(1.3981999507e-3f));
    p = vfma(p, r, vset1(8.3334519073e-3f));
    p = vfma(p, r, vset1(4.1665795894e-2f));
    p = vfma(p, r, vset1(1.6666665459e-1f));
    p = vfma(p, r, vset1(5.0000001201e-1f));
    p = vadd(vfma(p, vmul(r, r), r), vset1(1.0f));
    p = vfma(p, vsub(k, top), p); /* doubled where k is 128, which is no float's exponent */
    return vselect(tiny, vzero(), vscale2(p, top));
}

/* Natural logarithm of positive normal numbers, by the series of artanh around 1. */
static inline vf vlog(vf x)
{
    vf m = vmantissa(x), k = vexponent(x);
    const vm high = vgt(m, vset1(1.41421356f)); /* bring m into [0.707, 1.414] */
    m = vselect(high, vmul(m, vset1(0.5f)), m);
    k = vselect(high, vadd(k, vset1(1.0f)), k);
    const vf s = vdiv(vsub(m, vset1(1.0f)), vadd(m, vset1(1.0f))), s2 = vmul(s, s);
    vf p = vset1(2.0f / 9);
    p = vfma(p, s2, vset1(2.0f / 7));
    p = vfma(p, s2, vset1(2.0f / 5));
    p = vfma(p, s2, vset1(2.0f / 3));
    p = vfma(vmul(p, s2), s, vmul(s, vset1(2.0f)));
    return vfma(k, vset1(0.693359375f), vfma(k, vset1(-2.12194440e-4f), p));
}

/* e^x - 1 without loss near 0, for x up to 88: with x = k ln 2 + r it is 2^k (e^r - 1) + (2^k - 1).
 */
static inline vf vexpm1(vf x)
{
    x = vmax(vset1(-87.3f), vmin(vset1(88.3f), x));
    const vf k = vrint(vmul(x, vset1(1.44269504f)));
    vf r = vfma(k, vset1(-0.693359375f), x);
    r = vfma(k, vset1(2.12194440e-4f), r);
    vf p = vset1(1.9875691500e-4f);
    p = vfma(p, r, vset1(1.3981999507e-3f));
    p = vfma(p, r, vset1(8.3334519073e-3f));
    p = vfma(p, r, vset1(4.1665795894e-2f));
    p = vfma(p, r, vset1(1.6666665459e-1f));
    p = vfma(p, r, vset1(5.0000001201e-1f));
    p = vfma(p, vmul(r, r), r);
    const vf two_k = vscale2(vset1(1.0f), k);
    return vfma(p, two_k, vsub(two_k, vset1(1.0f)));
}

/* log(1 + u) for u in [0, 1], by the series of artanh at u / (2 + u). */
static inline vf vlog1p(vf u)
{
    const vf s = vdiv(u, vadd(u, vset1(2.0f))), s2 = vmul(s, s);
    vf p = vset1(2.0f / 15);
    p = vfma(p, s2, vset1(2.0f / 13));
    p = vfma(p, s2, vset1(2.0f / 11));
    p = vfma(p, s2, vset1(2.0f / 9));
    p = vfma(p, s2, vset1(2.0f / 7));
    p = vfma(p, s2, vset1(2.0f / 5));
    p = vfma(p, s2, vset1(2.0f / 3));
    p = vfma(p, s2, vset1(2.0f));
    return vmul(p, s);
}
