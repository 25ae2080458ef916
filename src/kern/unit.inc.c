/*
 * unit.inc.c - a hidden unit of an LSTM or GRU: its gates and its state, and their gradients.
 */

static inline vf logistic(vf x)
{
    return curve_sigmoid(x, x, x);
}

static inline vf hyperbolic(vf x)
{
    return curve_tanh(x, x, x);
}

/* d y (1 - y), the gradient of what y is the sigmoid of; and d (1 - y y) for tanh. */
static inline vf logistic_back(vf d, vf y)
{
    return vmul(d, vmul(y, vsub(vset1(1.0f), y)));
}

static inline vf hyperbolic_back(vf d, vf y)
{
    return vmul(d, vsub(vset1(1.0f), vmul(y, y)));
}

/* c = f c' + i g, h = o tanh(c) */
void KERNEL(lstm_unit)(const struct mase_unit_rows *u, long n)
{
    for (long k = 0; k < n; k += MASE_LANES) {
        const vf i = logistic(vload(u->gate[0] + k)), f = logistic(vload(u->gate[1] + k));
        const vf g = hyperbolic(vload(u->gate[2] + k)), o = logistic(vload(u->gate[3] + k));
        const vf before = u->before ? vload(u->before + k) : vzero();
        const vf c = vfma(f, before, vmul(i, g)), t = hyperbolic(c);
        vstore(u->gate[0] + k, i);
        vstore(u->gate[1] + k, f);
        vstore(u->gate[2] + k, g);
        vstore(u->gate[3] + k, o);
        vstore(u->c + k, c);
        vstore(u->tanh_c + k, t);
        vstore(u->h + k, vmul(o, t));
    }
}

void KERNEL(lstm_unit_back)(const struct mase_unit_rows *u, long n)
{
    for (long k = 0; k < n; k += MASE_LANES) {
        const vf i = vload(u->gate[0] + k), f = vload(u->gate[1] + k);
        const vf g = vload(u->gate[2] + k), o = vload(u->gate[3] + k);
        const vf before = u->before ? vload(u->before + k) : vzero();
        const vf t = vload(u->tanh_c + k), dh = vload(u->dh + k);
        const vf dc = vadd(vload(u->dc + k), hyperbolic_back(vmul(dh, o), t));
        vstore(u->gate[0] + k, logistic_back(vmul(dc, g), i));
        vstore(u->gate[1] + k, logistic_back(vmul(dc, before), f));
        vstore(u->gate[2] + k, hyperbolic_back(vmul(dc, i), g));
        vstore(u->gate[3] + k, logistic_back(vmul(dh, t), o));
        vstore(u->dc + k, vmul(dc, f));
    }
}

/* n = tanh(x + r inner), h = n + z (h' - n) */
void KERNEL(gru_unit)(const struct mase_unit_rows *u, long n)
{
    for (long k = 0; k < n; k += MASE_LANES) {
        const vf r = logistic(vload(u->gate[0] + k)), z = logistic(vload(u->gate[1] + k));
        const vf m = hyperbolic(vfma(r, vload(u->inner + k), vload(u->gate[2] + k)));
        const vf before = u->before ? vload(u->before + k) : vzero();
        vstore(u->gate[0] + k, r);
        vstore(u->gate[1] + k, z);
        vstore(u->gate[2] + k, m);
        vstore(u->h + k, vfma(z, vsub(before, m), m));
    }
}

void KERNEL(gru_unit_back)(const struct mase_unit_rows *u, long n)
{
    for (long k = 0; k < n; k += MASE_LANES) {
        const vf r = vload(u->gate[0] + k), z = vload(u->gate[1] + k), m = vload(u->gate[2] + k);
        const vf inner = vload(u->inner + k), dh = vload(u->dh + k);
        const vf before = u->before ? vload(u->before + k) : vzero();
        const vf dm = hyperbolic_back(vmul(dh, vsub(vset1(1.0f), z)), m);
        vstore(u->gate[0] + k, logistic_back(vmul(dm, inner), r));
        vstore(u->gate[1] + k, logistic_back(vmul(dh, vsub(before, m)), z));
        vstore(u->gate[2] + k, dm);
        vstore(u->inner + k, vmul(dm, r));
        vstore(u->dh + k, vmul(dh, z));
    }
}
