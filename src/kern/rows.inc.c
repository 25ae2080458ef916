/*
 * rows.inc.c - element by element along rows, and sums over rows.
 *
 * Sums keep sixteen lanes, one chain each in the order of the rows and lanes, then one tree.
 */

/* The lanes of the vector at n that are samples. */
static inline vm live(const struct mase_channel *c, long n)
{
    const long left = c->samples - n;
    return vfirst(left >= MASE_LANES ? MASE_LANES : left > 0 ? (int)left : 0);
}

void KERNEL(row_sum)(float *out, const struct mase_channel *c, bool add)
{
    vf acc = vzero();
    for (long i = 0; i < c->count; i++) {
        const float *x = c->x + i * c->stride;
        for (long n = 0; n < c->n; n += MASE_LANES)
            acc = vadd(acc, vload(x + n));
    }
    const float sum = vsum(acc);
    *out = add ? *out + sum : sum;
}

/* Mean and biased variance, the latter in a second pass over the differences. Four chains hide the
 * latency of the additions. */
void KERNEL(moments)(float *mean, float *var, const struct mase_channel *c)
{
    const long whole = c->samples / (4 * MASE_LANES) * (4 * MASE_LANES);
    vf acc[4] = { vzero(), vzero(), vzero(), vzero() };
    for (long i = 0; i < c->count; i++) {
        const float *x = c->x + i * c->stride;
        for (long n = 0; n < whole; n += 4 * MASE_LANES)
            UNROLL for (int v = 0; v < 4; v++) acc[v] = vadd(acc[v], vload(x + n + MASE_LANES * v));
        for (long n = whole; n < c->n; n += MASE_LANES)
            acc[0] = vadd(acc[0], vselect(live(c, n), vload(x + n), vzero()));
    }
    const float count = (float)((double)c->count * (double)c->samples);
    *mean = vsum(vadd(vadd(acc[0], acc[1]), vadd(acc[2], acc[3]))) / count;
    const vf m = vset1(*mean);
    UNROLL for (int v = 0; v < 4; v++) acc[v] = vzero();
    for (long i = 0; i < c->count; i++) {
        const float *x = c->x + i * c->stride;
        for (long n = 0; n < whole; n += 4 * MASE_LANES)
            UNROLL for (int v = 0; v < 4; v++)
            {
                const vf d = vsub(vload(x + n + MASE_LANES * v), m);
                acc[v] = vfma(d, d, acc[v]);
            }
        for (long n = whole; n < c->n; n += MASE_LANES) {
            const vf d = vselect(live(c, n), vsub(vload(x + n), m), vzero());
            acc[0] = vfma(d, d, acc[0]);
        }
    }
    *var = vsum(vadd(vadd(acc[0], acc[1]), vadd(acc[2], acc[3]))) / count;
}

/* Sums of dy and of dy (x - mean); dy has the layout of x and is zero in the padding. */
void KERNEL(norm_sums)(float *sum_dy, float *sum_dy_x, const struct mase_channel *c,
                       const float *dy, float mean)
{
    const vf m = vset1(mean);
    const long whole = c->n / (4 * MASE_LANES) * (4 * MASE_LANES);
    vf s[4] = { vzero(), vzero(), vzero(), vzero() },
       sx[4] = { vzero(), vzero(), vzero(), vzero() };
    for (long i = 0; i < c->count; i++) {
        const float *x_i = c->x + i * c->stride, *dy_i = dy + i * c->stride;
        for (long n = 0; n < whole; n += 4 * MASE_LANES)
            UNROLL for (int v = 0; v < 4; v++)
            {
                const vf d = vload(dy_i + n + MASE_LANES * v);
                s[v] = vadd(s[v], d);
                sx[v] = vfma(d, vsub(vload(x_i + n + MASE_LANES * v), m), sx[v]);
            }
        for (long n = whole; n < c->n; n += MASE_LANES) {
            const vf d = vload(dy_i + n);
            s[0] = vadd(s[0], d);
            sx[0] = vfma(d, vsub(vload(x_i + n), m), sx[0]);
        }
    }
    *sum_dy = vsum(vadd(vadd(s[0], s[1]), vadd(s[2], s[3])));
    *sum_dy_x = vsum(vadd(vadd(sx[0], sx[1]), vadd(sx[2], sx[3])));
}

/* y = x scale + shift, cut at zero if relu. */
void KERNEL(affine)(float *y, const float *x, float scale, float shift, bool relu, long n)
{
    const vf a = vset1(scale), b = vset1(shift), floor = vset1(relu ? 0.0f : -INFINITY);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vmax(floor, vfma(a, vload(x + i), b)));
}

/* y = x scale + shift, element by element. */
void KERNEL(affine_each)(float *y, const float *x, const float *scale, const float *shift, long n)
{
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vfma(vload(scale + i), vload(x + i), vload(shift + i)));
}

/* y = ka a + kb b + shift. */
void KERNEL(affine2)(float *y, const float *a, const float *b, float ka, float kb, float shift,
                     long n)
{
    const vf va = vset1(ka), vb = vset1(kb), s = vset1(shift);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vfma(va, vload(a + i), vfma(vb, vload(b + i), s)));
}

void KERNEL(relu_back)(float *dx, const float *dy, const float *y, bool add, long n)
{
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf d = vselect(vgt(vload(y + i), vzero()), vload(dy + i), vzero());
        vstore(dx + i, add ? vadd(vload(dx + i), d) : d);
    }
}

void KERNEL(axpy)(float *y, const float *x, float a, long n)
{
    const vf va = vset1(a);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vfma(va, vload(x + i), vload(y + i)));
}

void KERNEL(mul_add)(float *y, const float *a, const float *b, long n)
{
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vfma(vload(a + i), vload(b + i), vload(y + i)));
}

/* As quant/uniform.c, to the bit. */
static inline vf to_code(vf v, vf lo, vf hi)
{
    const vf r = vmin(hi, vadd(vrint(v), vzero()));
    return vselect(vgt(lo, r), lo, r);
}

void KERNEL(quantize_uniform)(float *y, const float *x, const struct mase_uniform *u, long n)
{
    const vf s = vset1(u->scale), lo = vset1(u->lo), hi = vset1(u->hi);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vmul(to_code(vdiv(vload(x + i), s), lo, hi), s));
}

/* Values that lie beyond the bounds before rounding were clamped. */
void KERNEL(quantize_uniform_back)(float *dx, float sum[3], const float *dy, const float *x,
                                   const struct mase_uniform *u, bool add, long n)
{
    const vf s = vset1(u->scale), lo = vset1(u->lo), hi = vset1(u->hi);
    vf in = vzero(), below = vzero(), above = vzero();
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf d = vload(dy + i), v = vdiv(vload(x + i), s);
        const vm low = vgt(lo, v), high = vgt(v, hi);
        const vf kept = vselect(low, vzero(), vselect(high, vzero(), d));
        in = vfma(kept, vselect(veq(kept, vzero()), vzero(), vsub(vrint(v), v)), in);
        below = vadd(below, vselect(low, d, vzero()));
        above = vadd(above, vselect(high, d, vzero()));
        vstore(dx + i, add ? vadd(vload(dx + i), kept) : kept);
    }
    sum[0] = vsum(in);
    sum[1] = vsum(below);
    sum[2] = vsum(above);
}

void KERNEL(exp_rows)(float *y, const float *x, long n)
{
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, vexp(vload(x + i)));
}
