/*
 * curve.inc.c - functions of one value and their slopes, sixteen at a time.
 *
 * curve_NAME(x, p0, p1) is the value, slope_NAME the derivative as PyTorch defines it at corners.
 * NaN stays NaN: it is the second operand of vmin and vmax.
 */
#define ONE      vset1(1.0f)
#define HALF     vset1(0.5f)
#define V1(name) static inline vf name(vf x, vf p0, vf p1)
#define UNUSED   ((void)p0, (void)p1)

static inline vf cut(vf x, vf lo, vf hi)
{
    return vmax(lo, vmin(hi, x));
}

/* ---- simple ones ---- */

V1(curve_identity)
{
    UNUSED;
    return x;
}
V1(slope_identity)
{
    (void)x, UNUSED;
    return ONE;
}
V1(curve_neg)
{
    UNUSED;
    return vmul(x, vset1(-1.0f));
}
V1(slope_neg)
{
    (void)x, UNUSED;
    return vset1(-1.0f);
}
V1(curve_abs)
{
    UNUSED;
    return vabs(x);
}
V1(slope_abs)
{
    UNUSED;
    return vselect(vgt(x, vzero()), ONE, vselect(vgt(vzero(), x), vset1(-1.0f), vzero()));
}
V1(curve_sqrt)
{
    UNUSED;
    return vsqrt(x);
}
V1(slope_sqrt)
{
    UNUSED;
    return vdiv(HALF, vsqrt(x));
}
V1(curve_square)
{
    UNUSED;
    return vmul(x, x);
}
V1(slope_square)
{
    UNUSED;
    return vadd(x, x);
}
V1(curve_exp)
{
    UNUSED;
    return vexp(x);
}
V1(slope_exp)
{
    UNUSED;
    return vexp(x);
}
V1(curve_round)
{
    UNUSED;
    return vrint(x);
}
V1(slope_round)
{
    (void)x, UNUSED;
    return vzero();
}
V1(curve_floor)
{
    UNUSED;
    const vf r = vrint(x);
    return vselect(vgt(r, x), vsub(r, ONE), r);
}
V1(slope_floor)
{
    (void)x, UNUSED;
    return vzero();
}
V1(curve_clip)
{
    return cut(x, p0, p1);
}
V1(slope_clip)
{
    return vselect(vand(vgt(x, p0), vgt(p1, x)), ONE, vzero());
}
V1(curve_clamp)
{
    return cut(x, p0, p1);
}
V1(slope_clamp)
{
    return vselect(vor(vgt(p0, x), vgt(x, p1)), vzero(), ONE);
}
V1(curve_leaky_relu)
{
    (void)p1;
    return vselect(vgt(vzero(), x), vmul(p0, x), x);
}
V1(slope_leaky_relu)
{
    (void)p1;
    return vselect(vgt(x, vzero()), ONE, p0);
}

/* ---- by the exponential ---- */

V1(curve_elu)
{
    return vmul(p1, vselect(vgt(vzero(), x), vmul(p0, vexpm1(x)), x));
}
V1(slope_elu)
{
    return vmul(p1, vselect(vgt(x, vzero()), ONE, vmul(p0, vexp(x))));
}
V1(curve_sigmoid)
{
    UNUSED;
    return vdiv(ONE, vadd(ONE, vexp(vmul(x, vset1(-1.0f)))));
}
V1(slope_sigmoid)
{
    const vf y = curve_sigmoid(x, p0, p1);
    return vmul(y, vsub(ONE, y));
}
V1(curve_silu)
{
    return vmul(x, curve_sigmoid(x, p0, p1));
}
V1(slope_silu)
{
    const vf y = curve_sigmoid(x, p0, p1);
    return vmul(y, vfma(x, vsub(ONE, y), ONE));
}
/* (e^2x - 1) / (e^2x + 1), exact to the last places near 0. */
V1(curve_tanh)
{
    UNUSED;
    const vf e = vexpm1(vmul(cut(x, vset1(-10.0f), vset1(10.0f)), vset1(2.0f)));
    return vdiv(e, vadd(e, vset1(2.0f)));
}
V1(slope_tanh)
{
    const vf y = curve_tanh(x, p0, p1);
    return vfma(vmul(y, vset1(-1.0f)), y, ONE);
}
/* The normal distribution function: Abramowitz and Stegun 7.1.26, to 1e-7. */
static inline vf normal_cdf(vf x)
{
    const vf z = vmul(vabs(x), vset1(0.707106781f));
    const vf t = vdiv(ONE, vfma(vset1(0.3275911f), z, ONE));
    vf p = vset1(1.061405429f);
    p = vfma(p, t, vset1(-1.453152027f));
    p = vfma(p, t, vset1(1.421413741f));
    p = vfma(p, t, vset1(-0.284496736f));
    p = vfma(p, t, vset1(0.254829592f));
    const vf tail = vmul(HALF, vmul(vmul(p, t), vexp(vmul(vmul(z, vset1(-1.0f)), z))));
    return vselect(vgt(x, vzero()), vsub(ONE, tail), tail);
}
V1(curve_gelu)
{
    UNUSED;
    return vmul(x, normal_cdf(x));
}
V1(slope_gelu)
{
    UNUSED;
    const vf density = vmul(vset1(0.398942280f), vexp(vmul(vmul(x, vset1(-0.5f)), x)));
    return vfma(x, density, normal_cdf(x));
}
static inline vf gelu_inner(vf x)
{
    const vf x2 = vmul(x, x);
    return vmul(vmul(x, vset1(0.797884561f)), vfma(vset1(0.044715f), x2, ONE));
}
V1(curve_gelu_tanh)
{
    return vmul(vmul(x, HALF), vadd(ONE, curve_tanh(gelu_inner(x), p0, p1)));
}
V1(slope_gelu_tanh)
{
    const vf t = curve_tanh(gelu_inner(x), p0, p1), x2 = vmul(x, x);
    const vf inner = vmul(vset1(0.797884561f), vfma(vset1(3.0f * 0.044715f), x2, ONE));
    const vf rise = vmul(vmul(x, vfma(vmul(t, vset1(-1.0f)), t, ONE)), inner);
    return vmul(HALF, vadd(vadd(ONE, t), rise));
}
V1(curve_softplus)
{
    const vf z = vmul(x, p0);
    const vf soft = vadd(vmax(vzero(), z), vlog1p(vexp(vmul(vabs(z), vset1(-1.0f)))));
    return vselect(vgt(z, p1), x, vdiv(soft, p0));
}
V1(slope_softplus)
{
    const vf z = vmul(x, p0);
    return vselect(vgt(z, p1), ONE, curve_sigmoid(z, p0, p1));
}
V1(curve_logsigmoid)
{
    UNUSED;
    return vsub(vmin(vzero(), x), vlog1p(vexp(vmul(vabs(x), vset1(-1.0f)))));
}
V1(slope_logsigmoid)
{
    return curve_sigmoid(vmul(x, vset1(-1.0f)), p0, p1);
}

/* ---- hard and soft ones ---- */

V1(curve_hardsigmoid)
{
    UNUSED;
    return vdiv(cut(vadd(x, vset1(3.0f)), vzero(), vset1(6.0f)), vset1(6.0f));
}
V1(slope_hardsigmoid)
{
    UNUSED;
    return vselect(vgt(vset1(3.0f), vabs(x)), vset1(1.0f / 6), vzero());
}
V1(curve_hardswish)
{
    return vmul(x, curve_hardsigmoid(x, p0, p1));
}
V1(slope_hardswish)
{
    UNUSED;
    const vf middle = vfma(x, vset1(1.0f / 3), HALF);
    return vselect(vgt(x, vset1(3.0f)), ONE, vselect(vgt(vset1(-3.0f), x), vzero(), middle));
}
V1(curve_hardshrink)
{
    (void)p1;
    return vselect(vgt(vabs(x), p0), x, vselect(veq(x, x), vzero(), x));
}
V1(slope_hardshrink)
{
    (void)p1;
    return vselect(vgt(vabs(x), p0), ONE, vzero());
}
V1(curve_softshrink)
{
    (void)p1;
    const vf inside = vmul(x, vzero());
    const vf low = vselect(vgt(vmul(p0, vset1(-1.0f)), x), vadd(x, p0), inside);
    return vselect(vgt(x, p0), vsub(x, p0), low);
}
V1(slope_softshrink)
{
    return slope_hardshrink(x, p0, p1);
}
V1(curve_softsign)
{
    UNUSED;
    return vdiv(x, vadd(ONE, vabs(x)));
}
V1(slope_softsign)
{
    UNUSED;
    const vf d = vadd(ONE, vabs(x));
    return vdiv(ONE, vmul(d, d));
}

/* ---- rows ---- */

typedef void curve_fn(float *y, const float *x, const float *p, long n);
typedef void slope_fn(float *dx, const float *dy, const float *x, const float *p, bool add, long n);

#define CURVE(name)                                                                               \
    static void row_##name(float *y, const float *x, const float *p, long n)                      \
    {                                                                                             \
        const vf p0 = vset1(p[0]), p1 = vset1(p[1]);                                              \
        for (long i = 0; i < n; i += MASE_LANES)                                                  \
            vstore(y + i, curve_##name(vload(x + i), p0, p1));                                    \
    }                                                                                             \
    static void back_##name(float *dx, const float *dy, const float *x, const float *p, bool add, \
                            long n)                                                               \
    {                                                                                             \
        const vf p0 = vset1(p[0]), p1 = vset1(p[1]);                                              \
        for (long i = 0; i < n; i += MASE_LANES) {                                                \
            const vf d = vmul(vload(dy + i), slope_##name(vload(x + i), p0, p1));                 \
            vstore(dx + i, add ? vadd(vload(dx + i), d) : d);                                     \
        }                                                                                         \
    }
#include "kern/curves.def"

static curve_fn *const curve_rows[] = {
#define CURVE(name) row_##name,
#include "kern/curves.def"
};
static slope_fn *const slope_rows[] = {
#define CURVE(name) back_##name,
#include "kern/curves.def"
};

void KERNEL(curve)(enum mase_curve f, float *y, const float *x, const float *p, long n)
{
    curve_rows[f](y, x, p, n);
}

void KERNEL(curve_back)(enum mase_curve f, float *dx, const float *dy, const float *x,
                        const float *p, bool add, long n)
{
    slope_rows[f](dx, dy, x, p, add, n);
}
