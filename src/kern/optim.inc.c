/*
 * optim.inc.c - optimiser steps over all parameters at once. Arrays are padded to whole vectors.
 */

/* The gradient, clipped, with L2 decay unless the decay is decoupled. */
static inline vf decayed(const struct mase_optim *o, vf w, long i)
{
    const vf g = vmul(vload(o->g + i), vset1(o->clip));
    return o->decoupled ? g : vfma(vset1(o->decay), w, g);
}

void KERNEL(adam)(const struct mase_optim *o)
{
    const vf b1 = vset1(o->beta1), c1 = vset1(1.0f - o->beta1);
    const vf b2 = vset1(o->beta2), c2 = vset1(1.0f - o->beta2);
    const vf keep = vset1(o->decoupled ? 1.0f - o->lr * o->decay : 1.0f);
    const vf step = vset1(-o->lr / o->bias1), root = vset1(1.0f / sqrtf(o->bias2)),
             eps = vset1(o->eps);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        const vf w = vload(o->w + i), g = decayed(o, w, i);
        const vf m = vfma(b1, vload(o->m + i), vmul(c1, g));
        const vf v = vfma(b2, vload(o->v + i), vmul(c2, vmul(g, g)));
        vstore(o->m + i, m);
        vstore(o->v + i, v);
        const vf size = vfma(vsqrt(v), root, eps);
        vstore(o->w + i, vfma(step, vdiv(m, size), vmul(w, keep)));
    }
}

void KERNEL(sgd)(const struct mase_optim *o)
{
    const vf momentum = vset1(o->first ? 0.0f : o->beta1), step = vset1(-o->lr);
    const vf ahead = vset1(o->beta1);
    for (long i = 0; i < o->n; i += MASE_LANES) {
        const vf w = vload(o->w + i), g = decayed(o, w, i);
        const vf m = vfma(momentum, vload(o->m + i), g);
        vstore(o->m + i, m);
        vstore(o->w + i, vfma(step, o->nesterov ? vfma(ahead, m, g) : m, w));
    }
}
