/*
 * optim.inc.c - optimiser steps over all parameters at once. Arrays are padded to whole vectors.
 */

/* The gradient, clipped, with L2 decay. */
static inline vf decayed(const struct mase_optim *o, vf w, long i)
{
    return vfma(vset1(o->decay), w, vmul(vload(o->g + i), vset1(o->clip)));
}

/* Shared by optimisers like Adam. */
struct adam {
    vf b1, t1, b2, t2, root, eps;
};

static inline struct adam adam_of(const struct mase_optim *o)
{
    return (struct adam){ vset1(o->beta1), vset1(o->take1), vset1(o->beta2),
                          vset1(o->take2), vset1(o->root),  vset1(o->eps) };
}

/* Both moments move by the gradient; the first is returned, and what the step is divided by. */
static inline vf move_moments(const struct adam *a, const struct mase_optim *o, vf g, long i,
                              vf *size)
{
    const vf m = vfma(a->b1, vload(o->m + i), vmul(a->t1, g));
    const vf v = vfma(a->b2, vload(o->v + i), vmul(a->t2, vmul(g, g)));
    vstore(o->m + i, m);
    vstore(o->v + i, v);
    *size = vfma(vsqrt(v), a->root, a->eps);
    return m;
}

void KERNEL(adam)(const struct mase_optim *o)
{
    const struct adam a = adam_of(o);
    const vf keep = vset1(o->keep), step = vset1(-o->step);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        vf size;
        const vf w = vload(o->w + i), m = move_moments(&a, o, decayed(o, w, i), i, &size);
        vstore(o->w + i, vfma(step, vdiv(m, size), vmul(w, keep)));
    }
}

void KERNEL(sgd)(const struct mase_optim *o)
{
    const vf momentum = vset1(o->beta1), step = vset1(-o->step);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        const vf w = vload(o->w + i), g = decayed(o, w, i);
        const vf m = vfma(momentum, vload(o->m + i), g);
        vstore(o->m + i, m);
        vstore(o->w + i, vfma(step, o->nesterov ? vfma(momentum, m, g) : m, w));
    }
}

/* The step goes along the moment and ahead of it, along the gradient. */
void KERNEL(nadam)(const struct mase_optim *o)
{
    const struct adam a = adam_of(o);
    const vf step = vset1(-o->step), ahead = vset1(-o->ahead);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        vf size;
        const vf w = vload(o->w + i), g = decayed(o, w, i), m = move_moments(&a, o, g, i, &size);
        vstore(o->w + i, vadd(w, vdiv(vfma(step, m, vmul(ahead, g)), size)));
    }
}

/* rmsprop and adagrad: the gradient over the root of what its squares were. */
void KERNEL(root_square)(const struct mase_optim *o)
{
    const vf b2 = vset1(o->beta2), t2 = vset1(o->take2), step = vset1(-o->step);
    const vf eps = vset1(o->eps);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        const vf w = vload(o->w + i), g = decayed(o, w, i);
        const vf v = vfma(b2, vload(o->v + i), vmul(t2, vmul(g, g)));
        vstore(o->v + i, v);
        vstore(o->w + i, vfma(step, vdiv(g, vadd(vsqrt(v), eps)), w));
    }
}

/* Every weight moves as far as any other; of zero not at all. */
void KERNEL(lion)(const struct mase_optim *o)
{
    const vf b1 = vset1(o->beta1), t1 = vset1(o->take1);
    const vf b2 = vset1(o->beta2), t2 = vset1(o->take2);
    const vf keep = vset1(o->keep), step = vset1(-o->step);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        const vf w = vload(o->w + i), g = decayed(o, w, i), m = vload(o->m + i);
        const vf way = vfma(b1, m, vmul(t1, g));
        const vf sign = vselect(veq(way, vzero()), vzero(), vcopysign(vset1(1.0f), way));
        vstore(o->m + i, vfma(b2, m, vmul(t2, g)));
        vstore(o->w + i, vfma(step, sign, vmul(w, keep)));
    }
}
