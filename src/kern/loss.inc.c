/*
 * loss.inc.c - losses with their gradients, sixteen samples at a time.
 *
 * With p = softmax(x), class weights w, smoothing s over C classes and label y:
 *     loss = (1 - s) w_y (-log p_y) + s / C sum over c of w_c (-log p_c)
 *     d loss / d x_j = (1 - s) w_y (p_j - [j = y]) + s / C (p_j sum of w - w_j)
 *
 * With q = softmax(x / T) and r = softmax(teacher / T):
 *     loss = T T sum over c of r_c (log r_c - log q_c)
 *     d loss / d x_j = T (q_j - r_j)
 */

/* Largest logit and the first class that has it. */
static inline vf find_largest(const struct mase_cross_entropy *c, long n, vf *which)
{
    vf best = vload(c->logits + n);
    *which = vzero();
    for (long j = 1; j < c->C; j++) {
        const vf x = vload(c->logits + j * c->stride + n);
        const vm larger = vgt(x, best);
        best = vselect(larger, x, best);
        *which = vselect(larger, vset1((float)j), *which);
    }
    return best;
}

struct ce_lanes {
    vf label, largest, log_sum, inverse; /* log and inverse of sum e^(x - largest) */
    vf weight;                           /* (1 - s) w_label, 0 in the padding */
    vf share;                            /* s / C, 0 in the padding */
};

static inline void ce_loss(const struct mase_cross_entropy *c, const struct ce_lanes *l, long n)
{
    vf loss = vzero();
    for (long j = 0; j < c->C; j++) {
        const vf x = vload(c->logits + j * c->stride + n);
        const vf nll = vsub(l->log_sum, vsub(x, l->largest));
        const vf at_label = vselect(veq(l->label, vset1((float)j)), l->weight, vzero());
        loss = vfma(at_label, nll, loss);
        if (c->smoothing > 0.0f)
            loss = vfma(vmul(l->share, vset1(c->weight ? c->weight[j] : 1.0f)), nll, loss);
    }
    vstore(c->loss + n, loss);
}

static inline void ce_gradient(const struct mase_cross_entropy *c, const struct ce_lanes *l,
                               float weight_sum, long n)
{
    const vf scale = vset1(c->scale);
    for (long j = 0; j < c->C; j++) {
        const vf x = vload(c->logits + j * c->stride + n);
        const vf p = vmul(vexp(vsub(x, l->largest)), l->inverse);
        const vf hit = vselect(veq(l->label, vset1((float)j)), vset1(1.0f), vzero());
        vf d = vmul(l->weight, vsub(p, hit));
        if (c->smoothing > 0.0f) {
            const vf w_j = vset1(c->weight ? c->weight[j] : 1.0f);
            d = vfma(l->share, vsub(vmul(p, vset1(weight_sum)), w_j), d);
        }
        vstore(c->dlogits + j * c->stride + n, vmul(d, scale));
    }
}

/* Labels, weights and the softmax's denominator of the lanes at n; counts the right answers. */
static inline struct ce_lanes ce_prepare(struct mase_cross_entropy *c, long n)
{
    float label[MASE_LANES], weight[MASE_LANES], share[MASE_LANES];
    for (long i = 0; i < MASE_LANES; i++) {
        const bool sample = n + i < c->samples && c->label[n + i] >= 0;
        const int32_t y = sample ? c->label[n + i] : 0;
        label[i] = sample ? (float)y : -1.0f;
        weight[i] = sample ? (1.0f - c->smoothing) * (c->weight ? c->weight[y] : 1.0f) : 0.0f;
        share[i] = sample ? c->smoothing / (float)c->C : 0.0f;
    }
    struct ce_lanes l = { .label = vload(label), .weight = vload(weight), .share = vload(share) };
    vf which, sum = vzero();
    l.largest = find_largest(c, n, &which);
    c->correct += vcount(veq(which, l.label));
    for (long j = 0; j < c->C; j++)
        sum = vadd(sum, vexp(vsub(vload(c->logits + j * c->stride + n), l.largest)));
    l.log_sum = vlog(sum);
    l.inverse = vdiv(vset1(1.0f), sum);
    return l;
}

void KERNEL(cross_entropy)(struct mase_cross_entropy *c)
{
    float weight_sum = 0.0f;
    for (long j = 0; j < c->C; j++)
        weight_sum += c->weight ? c->weight[j] : 1.0f;
    c->correct = 0;
    for (long n = 0; n < c->n; n += MASE_LANES) {
        const struct ce_lanes l = ce_prepare(c, n);
        ce_loss(c, &l, n);
        if (c->dlogits)
            ce_gradient(c, &l, weight_sum, n);
    }
}

/* ---- distillation ---- */

/* Logits as log softmax(x / T) = (x - largest) / T - log_sum. */
struct log_softmax {
    const float *x;
    long stride;
    vf largest, temperature, log_sum;
};

static inline vf tempered(const struct log_softmax *s, long j)
{
    return vdiv(vsub(vload(s->x + j * s->stride), s->largest), s->temperature);
}

static inline vf log_share(const struct log_softmax *s, long j)
{
    return vsub(tempered(s, j), s->log_sum);
}

static inline struct log_softmax log_softmax(const float *x, long stride, long C, float temperature)
{
    struct log_softmax s = { x, stride, vload(x), vset1(temperature), vzero() };
    vf sum = vzero();
    for (long j = 1; j < C; j++) {
        const vf v = vload(x + j * stride);
        s.largest = vselect(vgt(v, s.largest), v, s.largest);
    }
    for (long j = 0; j < C; j++)
        sum = vadd(sum, vexp(tempered(&s, j)));
    s.log_sum = vlog(sum);
    return s;
}

/* Classes with teacher probability 0 contribute nothing. */
static inline vf divergence(const struct mase_distillation *d, const struct log_softmax *teacher,
                            const struct log_softmax *own)
{
    vf sum = vzero();
    for (long j = 0; j < d->C; j++) {
        const vf log_r = log_share(teacher, j), r = vexp(log_r);
        const vf each = vmul(r, vsub(log_r, log_share(own, j)));
        sum = vadd(sum, vselect(veq(r, vzero()), vzero(), each));
    }
    return sum;
}

void KERNEL(distillation)(const struct mase_distillation *d)
{
    const vf keep = vset1(d->keep);
    const vf weight = vset1(d->weight * d->temperature * d->temperature);
    const vf slope = vset1(d->weight * d->temperature * d->scale);
    for (long n = 0; n < d->n; n += MASE_LANES) {
        const long left = d->samples - n; /* the teacher's padding is undefined */
        const vm sample = vfirst(left < MASE_LANES ? (int)left : MASE_LANES);
        const struct log_softmax own = log_softmax(d->logits + n, d->stride, d->C, d->temperature),
                                 teacher = log_softmax(d->teacher + n, d->teacher_stride, d->C,
                                                       d->temperature);
        const vf loss = vmul(weight, divergence(d, &teacher, &own));
        vstore(d->loss + n, vselect(sample, vfma(keep, vload(d->loss + n), loss), vzero()));
        for (long j = 0; d->dlogits && j < d->C; j++) {
            float *dx = d->dlogits + j * d->stride + n;
            const vf apart = vsub(vexp(log_share(&own, j)), vexp(log_share(&teacher, j)));
            vstore(dx, vselect(sample, vfma(keep, vload(dx), vmul(slope, apart)), vzero()));
        }
    }
}

/* ---- numbers ---- */

/* Of every number x with its target t, d = x - t:
 *     mse    d d                                        slope 2 d
 *     l1     |d|                                        slope sign(d)
 *     huber  d d / 2 up to delta, delta (|d| - delta / 2) beyond
 *                                                       slope d, cut at +- delta
 *     bce    max(x, 0) - x t + log(1 + e^-|x|)          slope 1 / (1 + e^-x) - t
 */
struct pointwise {
    vf value, slope;
};

static inline struct pointwise mse_at(vf x, vf t, vf delta)
{
    const vf d = vsub(x, t);
    (void)delta;
    return (struct pointwise){ vmul(d, d), vadd(d, d) };
}

static inline struct pointwise l1_at(vf x, vf t, vf delta)
{
    const vf d = vsub(x, t), zero = vzero();
    (void)delta;
    return (struct pointwise){ vabs(d), vselect(veq(d, zero), zero, vcopysign(vset1(1.0f), d)) };
}

static inline struct pointwise huber_at(vf x, vf t, vf delta)
{
    const vf d = vsub(x, t), size = vabs(d), half = vset1(0.5f);
    const vm straight = vgt(size, delta);
    const vf linear = vmul(delta, vsub(size, vmul(half, delta)));
    return (struct pointwise){ vselect(straight, linear, vmul(half, vmul(d, d))),
                               vselect(straight, vcopysign(delta, d), d) };
}

static inline struct pointwise bce_at(vf x, vf t, vf delta)
{
    const vf e = vexp(vsub(vzero(), vabs(x))), one = vset1(1.0f), zero = vzero();
    const vf share = vdiv(vselect(vgt(zero, x), e, one), vadd(one, e));
    (void)delta;
    return (struct pointwise){ vadd(vsub(vmax(x, zero), vmul(x, t)), vlog1p(e)), vsub(share, t) };
}

#define POINTWISE_LOSS(name)                                                       \
    void KERNEL(name)(const struct mase_pointwise_loss *l)                         \
    {                                                                              \
        const vf scale = vset1(l->scale), delta = vset1(l->delta), zero = vzero(); \
        for (long n = 0; n < l->n; n += MASE_LANES) {                              \
            const long left = l->samples - n;                                      \
            const vm sample = vfirst(left < MASE_LANES ? (int)left : MASE_LANES);  \
            vf sum = zero;                                                         \
            for (long r = 0; r < l->rows; r++) {                                   \
                const struct pointwise at =                                        \
                    name##_at(vload(l->x + r * l->stride + n),                     \
                              vload(l->target + r * l->target_stride + n), delta); \
                sum = vadd(sum, at.value);                                         \
                if (l->dx)                                                         \
                    vstore(l->dx + r * l->stride + n,                              \
                           vselect(sample, vmul(at.slope, scale), zero));          \
            }                                                                      \
            vstore(l->loss + n, vselect(sample, sum, zero));                       \
        }                                                                          \
    }

POINTWISE_LOSS(mse)
POINTWISE_LOSS(l1)
POINTWISE_LOSS(huber)
POINTWISE_LOSS(bce)
