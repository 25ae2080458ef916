/*
 * layer.c - fit the weights of a linear layer to its inputs.
 *
 * In float the layer gets x and gives W x; quantised it gets q, which is x with the errors of all
 * layers before it and of its own rounding. The weights nearest to W by which q gives W x again,
 *
 *     W' = W + W (X Q' - Q Q') (Q Q' + damping)^-1
 *
 * are rounded column by column (gptq.c). Means are left out: the bias makes up for those.
 */
#include <math.h>
#include <string.h>

#include "pass/calibrate/calibrate_parts.h"

/* Can columns be rounded independently? If each value is rounded by itself, or by the step of its
 * row. */
static bool rounds_columns(const struct mase_format *f, const struct mase_shape *s)
{
    struct mase_uniform u;
    if (!f || !mase_format_has_blocks(f))
        return f != NULL;
    const struct mase_blocks b = mase_format_blocks(f, s, MASE_ROLE_WEIGHT);
    return b.length[1] == s->dim[1] && mase_format_uniform(&u, f, 0, MASE_SIGNED);
}

static struct mase_tensor *weight_of(const struct mase_node *n)
{
    return &mase_module_param(mase_node_module(n), "weight")->tensor;
}

/* The rounding of an operand, with learned numbers if there are any. */
static struct mase_rounding rounding(const struct mase_node *n, char mark)
{
    return mase_rounding_now(n, mase_mark_find(mark)->operand, mase_mark_rounding(n, mark));
}

const char *mase_cal_unfit(const struct mase_node *n)
{
    enum { MOST_INPUTS = 4096 };
    const char *why = mase_cal_fixed(n);
    if (why)
        return why;
    if (n->op != MASE_OP_linear)
        return "it is no linear layer";
    return weight_of(n)->shape.dim[1] > MOST_INPUTS ? "it has too many inputs" : NULL;
}

/* ---- collect inputs ---- */

/* A batch of both inputs, and sums so far. */
struct gathering {
    struct mase_cal_inputs *out;
    struct mase_rounding how;
    struct mase_arena *arena;
    float *f, *q; /* the batch */
    int64_t room;
    double *mean_f, *mean_q; /* (in) sums */
};

static void take_float(void *data, const float *x, const struct mase_shape *shape, bool samples)
{
    struct gathering *g = data;
    const int64_t n = mase_shape_count(shape);
    (void)samples;
    if (n > g->room) {
        g->f = mase_new_array(g->arena, float, (size_t)n);
        g->q = mase_new_array(g->arena, float, (size_t)n);
        g->room = n;
    }
    memcpy(g->f, x, (size_t)n * sizeof *x);
}

static void add_row(struct gathering *g, const float *f, const float *q)
{
    const struct mase_cal_inputs *o = g->out;
    for (int64_t i = 0; i < o->in; i++) {
        const double fi = (double)f[i], qi = (double)q[i];
        double *ff = o->ff + i * o->in, *fq = o->fq + i * o->in, *qq = o->qq + i * o->in;
        g->mean_f[i] += fi;
        g->mean_q[i] += qi;
        for (int64_t k = 0; k < o->in; k++) {
            ff[k] += fi * (double)f[k];
            fq[k] += fi * (double)q[k];
            qq[k] += qi * (double)q[k];
        }
    }
}

static void take_rounded(void *data, const float *x, const struct mase_shape *shape, bool samples)
{
    struct gathering *g = data;
    const int64_t in = g->out->in, n = mase_shape_count(shape) / in;
    (void)samples;
    mase_quantize(g->how.format, g->q, x, shape, g->how.role, g->how.sign);
    for (int64_t r = 0; r < n; r++)
        add_row(g, g->f + r * in, g->q + r * in);
    g->out->rows += n;
}

/* Convert sums of products of values to sums of products of deviations. */
static void take_means(const struct gathering *g)
{
    const struct mase_cal_inputs *o = g->out;
    const double n = (double)o->rows;
    for (int64_t i = 0; i < o->in; i++)
        for (int64_t k = 0; k < o->in; k++) {
            o->ff[i * o->in + k] -= g->mean_f[i] * g->mean_f[k] / n;
            o->fq[i * o->in + k] -= g->mean_f[i] * g->mean_q[k] / n;
            o->qq[i * o->in + k] -= g->mean_q[i] * g->mean_q[k] / n;
        }
}

enum mase_status mase_cal_gather(struct mase_cal_inputs *x, struct mase_node *n,
                                 struct mase_node *plain, int64_t rows, struct mase_arena *a,
                                 struct mase_pass_env *env, struct mase_err *err)
{
    const struct mase_tensor *w = weight_of(n);
    const size_t in = (size_t)w->shape.dim[1];
    *x = (struct mase_cal_inputs){ .in = w->shape.dim[1],
                                   .ff = mase_new_array(a, double, in *in),
                                   .fq = mase_new_array(a, double, in *in),
                                   .qq = mase_new_array(a, double, in *in),
                                   .w = mase_arena_memdup(a, w->data,
                                                          (size_t)mase_tensor_bytes(w)) };
    struct gathering g = { .out = x,
                           .how = rounding(n, 'x'),
                           .arena = a,
                           .mean_f = mase_new_array(a, double, in),
                           .mean_q = mase_new_array(a, double, in) };
    struct mase_graph *const graphs[2] = { plain->graph, n->graph };
    const struct mase_tap taps[2] = { { plain->inputs[0], take_float, &g },
                                      { n->inputs[0], take_rounded, &g } };
    MASE_TRY(mase_collect_pair(graphs, taps, rows, env, err));
    take_means(&g);
    return MASE_OK;
}

/* ---- the weights ---- */

enum mase_status mase_cal_refit(struct mase_node *n, const struct mase_cal_inputs *x,
                                double damping, struct mase_err *err)
{
    MASE_TRY(mase_cal_unshare(n, false, err));
    struct mase_tensor *t = weight_of(n);
    const int64_t out = t->shape.dim[0], in = x->in;
    struct mase_arena a = { 0 };
    float *w = mase_f32(t);
    double *h = mase_arena_memdup(&a, x->qq, (size_t)(in * in) * sizeof *h);
    double *b = mase_new_array(&a, double, (size_t)(out * in));
    for (int64_t o = 0; o < out; o++)
        for (int64_t i = 0; i < in; i++)
            for (int64_t k = 0; k < in; k++)
                b[o * in + k] += (double)w[o * in + i] * (x->fq[i * in + k] - x->qq[i * in + k]);
    mase_damp(h, in, damping);
    if (mase_cholesky(h, in)) {
        mase_cholesky_solve(h, in, b, out);
        for (int64_t i = 0; i < out * in; i++)
            w[i] = (float)((double)w[i] + b[i]);
    }
    mase_arena_release(&a);
    return MASE_OK;
}

/* a H b', for rows a and b. */
static double form(const float *a, const double *h, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double part = 0;
        for (int64_t k = 0; k < n; k++)
            part += h[i * n + k] * (double)b[k];
        sum += part * (double)a[i];
    }
    return sum;
}

/* The mean square of w x - v q. */
static double error_of(const struct mase_cal_inputs *x, const float *v, int64_t out)
{
    const int64_t in = x->in;
    double sum = 0;
    for (int64_t o = 0; o < out; o++) {
        const float *w = x->w + o * in, *q = v + o * in;
        sum += form(w, x->ff, w, in) - 2 * form(w, x->fq, q, in) + form(q, x->qq, q, in);
    }
    return fmax(sum, 0) / ((double)x->rows * (double)out);
}

enum mase_status mase_cal_round(struct mase_node *n, const struct mase_cal_inputs *x,
                                double damping, double *nearest, double *fitted,
                                struct mase_err *err)
{
    MASE_TRY(mase_cal_unshare(n, false, err));
    struct mase_tensor *t = weight_of(n);
    const struct mase_rounding how = rounding(n, 'w');
    const int64_t out = t->shape.dim[0], in = x->in;
    const size_t count = (size_t)(out * in);
    struct mase_arena a = { 0 };
    float *plain = mase_new_array(&a, float, count);
    float *w = mase_arena_memdup(&a, t->data, count * sizeof *w);
    double *h = mase_arena_memdup(&a, x->qq, (size_t)(in * in) * sizeof *h);
    mase_quantize(how.format, plain, x->w, &t->shape, how.role, how.sign);
    *fitted = *nearest = error_of(x, plain, out);
    memcpy(t->data, plain, count * sizeof *w);
    if (rounds_columns(how.format, &t->shape) &&
        mase_gptq(w, x->w, out, in, h, damping, how.format) && error_of(x, w, out) < *nearest) {
        *fitted = error_of(x, w, out);
        memcpy(t->data, w, count * sizeof *w);
    }
    mase_arena_release(&a);
    return MASE_OK;
}
