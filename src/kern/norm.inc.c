/*
 * norm.inc.c - per sample over rows: moments and softmax, with their gradients.
 */

/* Rows are summed in groups of so many, then the sums, since a group norm over an image has 1e5
 * rows and more, and a large sum rounds each of them away. */
enum { SUMMED_ROWS = 1024 };

static INLINE long run_end(long first, long count)
{
    return count - first < SUMMED_ROWS ? count : first + SUMMED_ROWS;
}

static INLINE vf lane_sum(const float *x, long stride, long count)
{
    vf sum = vzero();
    for (long i = 0; i < count;) {
        vf part = vzero();
        for (const long end = run_end(i, count); i < end; i++)
            part = vadd(part, vload(x + i * stride));
        sum = vadd(sum, part);
    }
    return sum;
}

/* The sum of (x - from)^2. */
static INLINE vf lane_squares(const float *x, long stride, long count, vf from)
{
    vf sum = vzero();
    for (long i = 0; i < count;) {
        vf part = vzero();
        for (const long end = run_end(i, count); i < end; i++) {
            const vf d = vsub(vload(x + i * stride), from);
            part = vfma(d, d, part);
        }
        sum = vadd(sum, part);
    }
    return sum;
}

/* Mean and 1 / sqrt(variance + eps) of count rows, lane by lane. */
void KERNEL(lane_moments)(float *mean, float *rstd, const struct mase_channel *c, float eps)
{
    const vf share = vset1(1.0f / (float)c->count), e = vset1(eps);
    for (long l = 0; l < c->n; l += MASE_LANES) {
        const vf m = vmul(lane_sum(c->x + l, c->stride, c->count), share);
        const vf squares = lane_squares(c->x + l, c->stride, c->count, m);
        vstore(mean + l, m);
        vstore(rstd + l, vdiv(vset1(1.0f), vsqrt(vfma(squares, share, e))));
    }
}

/* y = (x - mean) rstd w + b */
void KERNEL(standardise)(float *y, const float *x, const float *mean, const float *rstd, float w,
                         float b, long n)
{
    const vf vw = vset1(w), vb = vset1(b);
    for (long l = 0; l < n; l += MASE_LANES) {
        const vf z = vmul(vsub(vload(x + l), vload(mean + l)), vload(rstd + l));
        vstore(y + l, vfma(z, vw, vb));
    }
}

/* sums += w dy, w dy z with z = (x - mean) rstd. */
void KERNEL(standard_sums)(float *sum, float *sum_z, const float *dy, const float *x,
                           const float *mean, const float *rstd, float w, long n)
{
    const vf vw = vset1(w);
    for (long l = 0; l < n; l += MASE_LANES) {
        const vf z = vmul(vsub(vload(x + l), vload(mean + l)), vload(rstd + l));
        const vf g = vmul(vw, vload(dy + l));
        vstore(sum + l, vadd(vload(sum + l), g));
        vstore(sum_z + l, vfma(g, z, vload(sum_z + l)));
    }
}

/* dx (+)= rstd (w dy - sum / count - z sum_z / count) */
void KERNEL(standard_back)(float *dx, const float *dy, const struct mase_standard *s, float w,
                           bool add, long n)
{
    const vf vw = vset1(w), share = vset1(-1.0f / (float)s->count);
    for (long l = 0; l < n; l += MASE_LANES) {
        const vf r = vload(s->rstd + l), z = vmul(vsub(vload(s->x + l), vload(s->mean + l)), r);
        vf d = vmul(vw, vload(dy + l));
        d = vfma(share, vfma(z, vload(s->sum_z + l), vload(s->sum + l)), d);
        vstore(dx + l, add ? vfma(r, d, vload(dx + l)) : vmul(r, d));
    }
}

/* Sums over lanes: of dy, and of dy z. */
void KERNEL(standard_params)(float *db, float *dw, const float *dy, const struct mase_standard *s,
                             long n)
{
    vf b = vzero(), w = vzero();
    for (long l = 0; l < n; l += MASE_LANES) {
        const vf d = vload(dy + l);
        b = vadd(b, d);
        w = vfma(d, vmul(vsub(vload(s->x + l), vload(s->mean + l)), vload(s->rstd + l)), w);
    }
    *db = vsum(b);
    *dw = vsum(w);
}

/* y = softmax, or its logarithm, over count rows. Rows that are -inf everywhere are above least in
 * nothing: they give zeros, or NaN if least is -inf itself. */
void KERNEL(softmax)(float *y, const struct mase_channel *c, bool logarithm, float least)
{
    for (long l = 0; l < c->n; l += MASE_LANES) {
        vf top = vload(c->x + l), sum = vzero();
        for (long i = 1; i < c->count; i++)
            top = vmax(top, vload(c->x + i * c->stride + l));
        top = vmax(vset1(least), top);
        for (long i = 0; i < c->count;) {
            vf part = vzero();
            for (const long end = run_end(i, c->count); i < end; i++) {
                const vf e = vexp(vsub(vload(c->x + i * c->stride + l), top));
                part = vadd(part, e);
                if (!logarithm)
                    vstore(y + i * c->stride + l, e);
            }
            sum = vadd(sum, part);
        }
        const vf inverse = vdiv(vset1(1.0f), vmax(vset1(1e-30f), sum));
        const vf shift = vadd(top, vlog(vmax(vset1(1e-30f), sum)));
        for (long i = 0; i < c->count; i++) {
            float *y_i = y + i * c->stride + l;
            vstore(y_i, logarithm ? vsub(vload(c->x + i * c->stride + l), shift)
                                  : vmul(vload(y_i), inverse));
        }
    }
}

/* dx (+)= y (dy - sum of dy y), or of the logarithm: dy - e^y sum of dy. c->x is y. */
void KERNEL(softmax_back)(float *dx, const float *dy, const struct mase_channel *c, bool logarithm,
                          bool add)
{
    for (long l = 0; l < c->n; l += MASE_LANES) {
        vf sum = vzero();
        for (long i = 0; i < c->count; i++) {
            const vf d = vload(dy + i * c->stride + l);
            sum = logarithm ? vadd(sum, d) : vfma(d, vload(c->x + i * c->stride + l), sum);
        }
        for (long i = 0; i < c->count; i++) {
            const long at = i * c->stride + l;
            const vf y = vload(c->x + at), d = vload(dy + at);
            const vf g = logarithm ? vsub(d, vmul(vexp(y), sum)) : vmul(y, vsub(d, sum));
            vstore(dx + at, add ? vadd(vload(dx + at), g) : g);
        }
    }
}
