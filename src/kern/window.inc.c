/*
 * window.inc.c - sums and maxima over chosen rows.
 */

/* y = (add ? y : shift) + sum of coef[i] x[row[i]]. */
void KERNEL(weigh)(float *y, const float *x, const struct mase_terms *t, long stride, float shift,
                   bool add, long n)
{
    for (long l = 0; l < n; l += MASE_LANES) {
        long i = 0;
        vf acc = add ? vload(y + l) : vset1(shift);
        if (!add && shift == 0.0f && t->count > 0) /* the first term alone keeps its zero's sign */
            acc = vmul(vset1(t->coef[0]), vload(x + t->row[i++] * stride + l));
        for (; i < t->count; i++)
            acc = vfma(vset1(t->coef[i]), vload(x + t->row[i] * stride + l), acc);
        vstore(y + l, acc);
    }
}

/* y = the largest of x[row[i]] (smallest: sign -1), which = the first i that has it; NaN wins. */
void KERNEL(max_rows)(float *y, float *which, const float *x, const struct mase_terms *t,
                      long stride, float sign, long n)
{
    const vf s = vset1(sign);
    for (long l = 0; l < n; l += MASE_LANES) {
        vf best = vmul(s, vload(x + t->row[0] * stride + l)), at = vzero();
        for (long i = 1; i < t->count; i++) {
            const vf v = vmul(s, vload(x + t->row[i] * stride + l));
            const vm nan = vand(vnot(veq(v, v)), veq(best, best)), better = vor(vgt(v, best), nan);
            best = vselect(better, v, best);
            at = vselect(better, vset1((float)i), at);
        }
        vstore(y + l, vmul(s, best));
        if (which)
            vstore(which + l, at);
    }
}

/* dx (+)= dy where which is i. */
void KERNEL(pick_back)(float *dx, const float *dy, const float *which, float i, bool add, long n)
{
    for (long l = 0; l < n; l += MASE_LANES) {
        const vf d = vselect(veq(vload(which + l), vset1(i)), vload(dy + l), vzero());
        vstore(dx + l, add ? vadd(vload(dx + l), d) : d);
    }
}

/* y = scale sum over k of a[k] b[k] (+ y). */
void KERNEL(dot_rows)(float *y, const struct mase_dot *d, bool add, long n)
{
    const vf scale = vset1(d->scale);
    for (long l = 0; l < n; l += MASE_LANES) {
        const float *a = d->a + l, *b = d->b + l;
        vf acc = vzero();
        for (long k = 0; k < d->K; k++)
            acc = vfma(vload(a + k * d->a_step), vload(b + k * d->b_step), acc);
        vstore(y + l, add ? vfma(acc, scale, vload(y + l)) : vmul(acc, scale));
    }
}

/* Sum over the lanes of a b. */
void KERNEL(dot_lanes)(float *out, const float *a, const float *b, bool add, long n)
{
    vf acc = vzero();
    for (long l = 0; l < n; l += MASE_LANES)
        acc = vfma(vload(a + l), vload(b + l), acc);
    const float sum = vsum(acc);
    *out = add ? *out + sum : sum;
}

/* y[lane][i] = x[i][lane] for `count` rows, zeros to the next multiple of 16. */
void KERNEL(transpose)(float *y, const float *x, long count, long stride, long n)
{
    const long width = (count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    for (long r = 0; r < count; r += MASE_LANES)
        for (long l = 0; l < n; l += MASE_LANES) {
            vf a[MASE_LANES];
            for (long i = 0; i < MASE_LANES; i++)
                a[i] = r + i < count ? vload(x + (r + i) * stride + l) : vzero();
            vtranspose16(a);
            for (long i = 0; i < MASE_LANES; i++)
                vstore(y + (l + i) * width + r, a[i]);
        }
}
