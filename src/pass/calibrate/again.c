/*
 * again.c - fit weights and biases of a network whose formats are chosen.
 */
#include <math.h>

#include "pass/calibrate/calibrate_parts.h"
#include "pass/support.h"

/* ---- distance of the outputs from float ---- */

struct outputs {
    struct mase_arena *arena;
    float *plain; /* outputs in float, of the batch */
    int64_t room, count;
    double error, power;
};

static void take_plain(void *data, const float *x, const struct mase_shape *shape, bool samples)
{
    struct outputs *o = data;
    const int64_t n = mase_shape_count(shape);
    (void)samples;
    if (n > o->room) {
        o->plain = mase_new_array(o->arena, float, (size_t)n);
        o->room = n;
    }
    for (int64_t i = 0; i < n; i++)
        o->plain[i] = x[i];
}

static void take_quantised(void *data, const float *x, const struct mase_shape *shape, bool samples)
{
    struct outputs *o = data;
    const int64_t n = mase_shape_count(shape);
    (void)samples;
    for (int64_t i = 0; i < n; i++) {
        const double p = (double)o->plain[i], d = (double)x[i] - p;
        o->error += d * d;
        o->power += p * p;
    }
    o->count += n;
}

/* A copy without formats. */
static struct mase_graph *without_formats(const struct mase_graph *g)
{
    struct mase_graph *copy = mase_graph_clone(g);
    mase_graph_own_weights(copy);
    mase_graph_drop_formats(copy);
    return copy;
}

/* The mean square of the differences between the outputs of g and plain; NaN: several outputs. */
static enum mase_status measure(double *mse, struct mase_graph *plain, struct mase_graph *g,
                                int64_t rows, struct mase_pass_env *env, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct outputs o = { .arena = &a };
    const struct mase_node *p = mase_graph_output(plain), *q = mase_graph_output(g);
    *mse = NAN;
    if (p->input_count != 1)
        return MASE_OK;
    struct mase_graph *const graphs[2] = { plain, g };
    const struct mase_tap taps[2] = { { p->inputs[0], take_plain, &o },
                                      { q->inputs[0], take_quantised, &o } };
    const enum mase_status st = mase_collect_pair(graphs, taps, rows, env, err);
    if (!st && o.count)
        *mse = o.error / (double)o.count;
    mase_arena_release(&a);
    return st;
}

/* ---- the passes ---- */

/* Weights that their format represents have been fitted: their float values are not known here. */
static bool is_representable(const struct mase_node *n)
{
    const struct mase_rounding how = mase_rounding_now(n, MASE_WEIGHT, mase_mark_rounding(n, 'w'));
    if (!how.format || mase_cal_fixed(n))
        return false;
    const struct mase_tensor *w = &mase_module_param(mase_node_module(n), "weight")->tensor;
    const int64_t count = mase_tensor_count(w);
    struct mase_arena a = { 0 };
    float *q = mase_new_array(&a, float, (size_t)count);
    bool same = true, zero = true;
    mase_quantize(how.format, q, mase_f32(w), &w->shape, how.role, how.sign);
    for (int64_t i = 0; i < count && same; i++) {
        same = q[i] == mase_f32(w)[i];
        zero &= q[i] == 0;
    }
    mase_arena_release(&a);
    return same && !zero;
}

static enum mase_status need_float_weights(const struct mase_graph *g, struct mase_err *err)
{
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (is_representable(n))
            return mase_fail(err, MASE_EVALUE,
                             "the weights of %s are rounded already, as gptq leaves them, which "
                             "corrects biases, too: there is no float to compare with",
                             n->name);
    return MASE_OK;
}

static void report(struct mase_pass_env *env, const char *pass, int64_t rows, double before,
                   double after)
{
    struct mase_arena *a = mase_pass_arena(env);
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "rows", mase_value_int(a, rows));
    mase_value_set(a, v, "output_mse_before", mase_value_float(a, before));
    mase_value_set(a, v, "output_mse_after", mase_value_float(a, after));
    mase_pass_note(env, pass, v);
    mase_pass_say(env,
                  "Outputs on %lld rows of the training split: mean squared error against float "
                  "%.4g, before %.4g\n",
                  (long long)rows, after, before);
}

static enum mase_status fit(struct mase_graph *g, struct mase_graph *plain, const char *pass,
                            const struct mase_calibrate_opts *o, struct mase_pass_env *env,
                            struct mase_err *err)
{
    struct mase_decision *list =
        mase_new_array(env->scratch, struct mase_decision, (size_t)g->node_count);
    double before, after;
    int64_t rows = o->rows;
    int i = 0;
    for (struct mase_node *n = g->first; n; n = n->next, i++) {
        const struct mase_quant *q = mase_node_quant(n);
        list[i] = (struct mase_decision){ .node = n };
        if (!q)
            continue;
        list[i].reason = q->bypass ? MASE_BYPASSED : MASE_QUANTISED;
        list[i].quant = *q;
    }
    MASE_TRY(mase_cal_rows(&rows, env, err));
    MASE_TRY(measure(&before, plain, g, rows, env, err));
    MASE_TRY(mase_calibrate(list, g->node_count, g, o, env, err));
    MASE_TRY(measure(&after, plain, g, rows, env, err));
    report(env, pass, rows, before, after);
    return MASE_OK;
}

enum mase_status mase_calibrate_again(struct mase_graph *g, const char *pass,
                                      const struct mase_calibrate_opts *o,
                                      struct mase_pass_env *env, struct mase_err *err)
{
    if (!mase_graph_is_quantised(g))
        return mase_fail(err, MASE_EVALUE, "the network has no number formats: quantise it first");
    if (env->dry_run)
        return MASE_OK;
    MASE_TRY(need_float_weights(g, err));
    struct mase_graph *plain = without_formats(g);
    const enum mase_status st = fit(g, plain, pass, o, env, err);
    mase_graph_free(plain);
    return st;
}
