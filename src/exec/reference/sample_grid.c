/*
 * sample_grid.c - grid_sample's places (sample_grid.h), its reference, and that of affine_grid.
 */
#include "exec/reference/sample_grid.h"

#include <math.h>

#include "exec/reference/ref.h"

/* ---- reading a call ---- */

enum mase_status mase_grid_read(const struct mase_call *c, struct mase_grid_sampler *g,
                                struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    int mode = 0, edge = 0;
    MASE_TRY(mase_grid_modes(c, &mode, &edge, err));
    *g = (struct mase_grid_sampler){ .n = x->shape.rank - 2,
                                     .nearest = mode == 1,
                                     .corners = mase_call_flag(c, "align_corners"),
                                     .edge = (enum mase_sampler_edge)edge };
    for (int d = 0; d < g->n; d++)
        g->size[d] = x->shape.dim[x->shape.rank - 1 - d];
    return MASE_OK;
}

/* ---- one coordinate ---- */

/* A position in pixels, and its derivative by the coordinate. */
struct position {
    double at, slope;
};

/* Mirrored at low / 2 and high / 2 until it lies between. */
static struct position reflected(struct position p, double low, double high)
{
    const double first = low / 2.0, span = (high - low) / 2.0;
    if (low == high)
        return (struct position){ 0.0, 0.0 };
    double x = p.at - first;
    p.slope = x < 0.0 ? -p.slope : p.slope;
    x = fabs(x);
    const double extra = fmod(x, span);
    const bool back = fmod(floor(x / span), 2.0) != 0.0;
    p.at = back ? span - extra + first : extra + first;
    p.slope = back ? -p.slope : p.slope;
    return p;
}

static struct position clipped(struct position p, double last)
{
    if (!(p.at > 0.0)) /* NaN, too */
        return (struct position){ 0.0, 0.0 };
    return p.at < last ? p : (struct position){ last, 0.0 };
}

static struct position position_of(const struct mase_grid_sampler *g, double x, int d)
{
    const double n = (double)g->size[d], last = n - 1.0;
    struct position p = { ((x + 1.0) * n - 1.0) / 2.0, n / 2.0 };
    if (g->corners)
        p = (struct position){ (x + 1.0) / 2.0 * last, last / 2.0 };
    if (g->edge == MASE_GRID_ZEROS)
        return p;
    if (g->edge == MASE_GRID_REFLECTION)
        p = g->corners ? reflected(p, 0.0, 2.0 * last) : reflected(p, -1.0, 2.0 * n - 1.0);
    return clipped(p, last);
}

/* ---- one place ---- */

/* The pixels that lie around in every dimension. */
void mase_grid_look(const struct mase_grid_sampler *g, const double *coordinate,
                    struct mase_look *l)
{
    struct position p[3];
    for (int d = 0; d < g->n; d++)
        p[d] = position_of(g, coordinate[d], d);
    l->count = 0;
    for (int corner = 0; corner < (g->nearest ? 1 : 1 << g->n); corner++) {
        double weight = 1.0, slope[3] = { 1.0, 1.0, 1.0 };
        int64_t off = 0, step = 1;
        bool inside = true;
        for (int d = 0; d < g->n; d++) {
            const bool second = corner >> d & 1;
            const double low = g->nearest ? rint(p[d].at) : floor(p[d].at);
            const double at = low + second, part = p[d].at - low;
            inside = inside && at >= 0.0 && at < (double)g->size[d];
            off += inside ? (int64_t)at * step : 0;
            step *= g->size[d];
            const double w = g->nearest ? 1.0 : second ? part : 1.0 - part;
            const double dw = g->nearest ? 0.0 : second ? p[d].slope : -p[d].slope;
            for (int a = 0; a < g->n; a++)
                slope[a] *= a == d ? dw : w;
            weight *= w;
        }
        if (!inside)
            continue;
        l->off[l->count] = off;
        l->weight[l->count] = weight;
        for (int a = 0; a < g->n; a++)
            l->slope[l->count][a] = slope[a];
        l->count++;
    }
}

/* ---- references ---- */

enum mase_status mase_grid_each(const struct mase_call *c, struct mase_tensor *out, bool by_axis,
                                mase_place_fn *fn, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *at = mase_call_tensor(c, "grid");
    struct mase_grid_sampler g;
    struct mase_look l;
    MASE_TRY(mase_grid_read(c, &g, err));
    const int64_t samples = x->shape.dim[0], channels = x->shape.dim[1];
    const int64_t pixels = mase_tensor_count(x) / (samples * channels);
    const int64_t places = mase_tensor_count(at) / (samples * g.n);
    const int n = by_axis ? g.n : 1;
    for (int64_t i = 0; i < samples * places; i++) {
        double coordinate[3];
        for (int d = 0; d < g.n; d++)
            coordinate[d] = ref_get(at, i * g.n + d);
        mase_grid_look(&g, coordinate, &l);
        for (int64_t k = 0; k < channels; k++) {
            const int64_t plane = i / places * channels + k;
            fn(out, (plane * places + i % places) * n, x, plane * pixels, &l, n);
        }
    }
    return MASE_OK;
}

static void set_sample(struct mase_tensor *out, int64_t at, const struct mase_tensor *x,
                       int64_t plane, const struct mase_look *l, int n)
{
    double sum = 0.0;
    (void)n;
    for (int p = 0; p < l->count; p++)
        sum += l->weight[p] * ref_get(x, plane + l->off[p]);
    ref_set(out, at, sum);
}

enum mase_status mase_forward_grid_sample(struct mase_call *c, struct mase_err *err)
{
    return mase_grid_each(c, ref_out(c), false, set_sample, err);
}

/* Coordinate i of n, from -1 to 1. */
static double coordinate_of(int64_t i, int64_t n, bool corners)
{
    if (corners)
        return n > 1 ? -1.0 + 2.0 * (double)i / (double)(n - 1) : 0.0;
    return (2.0 * (double)i + 1.0) / (double)n - 1.0;
}

void mase_affine_base(double *base, const struct mase_shape *size, bool corners, int64_t place)
{
    const int n = size->rank - 2;
    for (int d = 0; d < n; d++) { /* the last dimension first */
        const int64_t length = size->dim[size->rank - 1 - d];
        base[d] = coordinate_of(place % length, length, corners);
        place /= length;
    }
    base[n] = 1.0;
}

enum mase_status mase_forward_affine_grid(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *theta = mase_call_tensor(c, "theta");
    struct mase_shape size;
    MASE_TRY(mase_call_sizes(c, &size, "size", err));
    const int n = size.rank - 2;
    const int64_t places = mase_tensor_count(ref_out(c)) / (size.dim[0] * n);
    for (int64_t i = 0; i < size.dim[0] * places; i++) {
        double base[4];
        mase_affine_base(base, &size, mase_call_flag(c, "align_corners"), i % places);
        for (int r = 0; r < n; r++) {
            double sum = 0.0;
            for (int k = 0; k <= n; k++)
                sum += base[k] * ref_get(theta, (i / places * n + r) * (n + 1) + k);
            ref_set(ref_out(c), i * n + r, sum);
        }
    }
    return MASE_OK;
}
