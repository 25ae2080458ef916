/*
 * outputs.c - what a network computes before and after a transform (outputs.h).
 */
#include "pass/outputs.h"

#include <math.h>
#include <string.h>

#include <mase/plan.h>
#include <mase/program.h>
#include <mase/rng.h>
#include <mase/run.h>

#include "pass/support.h"

enum { SAMPLES = 16 };

/* Relative to the largest output; float32 rounding stays far below, in deep networks too. */
#define BEYOND_ROUNDING 1e-3

static int64_t samples_for(const struct mase_graph *g)
{
    return g->batch ? g->batch : SAMPLES;
}

static struct mase_input *draw_inputs(struct mase_pass_env *env, int64_t samples)
{
    struct mase_input *in = mase_arena_memdup(env->scratch, env->inputs,
                                              (size_t)env->input_count * sizeof *env->inputs);
    for (int i = 0; i < env->input_count; i++) {
        struct mase_shape shape = in[i].tensor.shape;
        struct mase_rng r = mase_rng(env->seed, MASE_STREAM_TEST, mase_rng_name(in[i].name));
        if (shape.rank)
            shape.dim[0] = samples;
        in[i].tensor = mase_tensor(env->scratch, in[i].tensor.dtype, &shape, true);
        for (int64_t k = 0; in[i].tensor.dtype == MASE_F32 && k < mase_tensor_count(&in[i].tensor);
             k++)
            mase_f32(&in[i].tensor)[k] = mase_rng_normal(&r);
    }
    return in;
}

static bool has_weights(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    return *(bool *)data &= p->tensor.data != NULL;
}

/* By a plan, if the network can be planned. */
static float *run_plan(int64_t *count, struct mase_graph *g, const struct mase_input *in,
                       struct mase_pass_env *env)
{
    const int64_t samples = samples_for(g);
    const struct mase_plan_opts o = {
        .batch = samples, .threads = env->threads, .inputs = in, .input_count = env->input_count
    };
    struct mase_err unwanted;
    struct mase_plan *p;
    float *value = NULL;
    if (mase_plan_new(&p, g, &o, &unwanted))
        return NULL;
    for (int i = 0; i < env->input_count; i++) {
        const struct mase_lanes x = mase_plan_input(p, i);
        for (int64_t k = 0; k < x.rows * samples; k++)
            x.data[k % x.rows * x.stride + k / x.rows] = (float)mase_tensor_get(&in[i].tensor, k);
    }
    mase_plan_set_samples(p, samples);
    if (!mase_plan_forward(p, &unwanted)) {
        const struct mase_lanes y = mase_plan_output(p);
        *count = y.rows * samples;
        value = mase_new_array(env->scratch, float, (size_t)*count);
        for (int64_t k = 0; k < *count; k++)
            value[k] = y.data[k % y.rows * y.stride + k / y.rows];
    }
    mase_plan_free(p);
    return value;
}

/* Append the values of all tensors of a result, also of nested ones; to may be NULL. */
static int64_t flatten(float *to, const struct mase_arg *y)
{
    int64_t n = 0;
    if (y->kind == MASE_ARG_TENSOR) {
        n = mase_tensor_count(y->tensor);
        for (int64_t k = 0; to && k < n; k++)
            to[k] = (float)mase_tensor_get(y->tensor, k);
        return n;
    }
    for (int i = 0; y->kind >= MASE_ARG_TUPLE && i < y->count; i++)
        n += flatten(to ? to + n : NULL, &y->items[i]);
    return n;
}

static float *run_reference(int64_t *count, const struct mase_graph *g, const struct mase_input *in,
                            struct mase_pass_env *env)
{
    struct mase_err unwanted;
    struct mase_arena a = { 0 };
    struct mase_values v;
    float *value = NULL;
    if (!mase_run_reference(&v, &a, g, in, env->input_count, &unwanted)) {
        const struct mase_arg *y = mase_run_output(&v, g);
        *count = flatten(NULL, y);
        value = *count ? mase_new_array(env->scratch, float, (size_t)*count) : NULL;
        flatten(value, y);
    }
    mase_arena_release(&a);
    return value;
}

static float *run(int64_t *count, struct mase_graph *g, const struct mase_input *in,
                  struct mase_pass_env *env)
{
    float *value = run_plan(count, g, in, env);
    return value ? value : run_reference(count, g, in, env);
}

struct mase_outputs mase_outputs(const struct mase_graph *g, struct mase_pass_env *env)
{
    struct mase_outputs out = { .samples = samples_for(g) };
    bool all = env->input_count > 0;
    mase_graph_each_param(g, has_weights, &all);
    if (!all || mase_graph_draws(g))
        return out;
    struct mase_graph *clone = mase_graph_clone(g);
    const struct mase_input *in = draw_inputs(env, out.samples);
    out.plain = out.value = run(&out.count, clone, in, env);
    if (out.value && mase_graph_is_quantised(clone)) {
        int64_t count = 0;
        mase_graph_drop_formats(clone);
        out.plain = run(&count, clone, in, env);
        if (count != out.count)
            out.plain = NULL;
    }
    mase_graph_free(clone);
    return out;
}

/* ---- compare ---- */

struct difference {
    double apart, largest;
};

/* A number that becomes NaN counts as infinitely far. */
static struct difference compare(const float *before, const float *after, int64_t n)
{
    struct difference d = { 0 };
    for (int64_t i = 0; i < n; i++) {
        const double a = (double)before[i], b = (double)after[i];
        const bool same = a == b || (isnan(a) && isnan(b));
        d.apart = same ? d.apart : isfinite(a - b) ? fmax(d.apart, fabs(a - b)) : INFINITY;
        if (isfinite(a))
            d.largest = fmax(d.largest, fabs(a));
    }
    return d;
}

static bool within_rounding(struct difference d)
{
    return d.apart <= BEYOND_ROUNDING * d.largest;
}

bool mase_outputs_report(struct mase_pass_env *env, const char *pass, int changed,
                         const struct mase_outputs *before, const struct mase_outputs *after)
{
    struct mase_arena *a = mase_pass_arena(env);
    struct mase_value *note = mase_value_table(a);
    bool kept = true;
    mase_value_set(a, note, "changed", mase_value_int(a, changed));
    if (before->value && after->value && before->count == after->count) {
        const struct difference d = compare(before->value, after->value, before->count);
        const bool plain = before->plain && after->plain;
        kept = within_rounding(plain ? compare(before->plain, after->plain, before->count) : d);
        mase_pass_say(env,
                      "Outputs of %d random samples: values up to %.3g, changed by at most %.2g\n",
                      (int)before->samples, d.largest, d.apart);
        mase_value_set(a, note, "largest_output", mase_value_float(a, d.largest));
        mase_value_set(a, note, "largest_change",
                       isfinite(d.apart) ? mase_value_float(a, d.apart) : mase_value_none(a));
    } else if (before->value) { /* the graph ran before the transform */
        kept = false;
        mase_pass_say(env, "Outputs are of another shape, or the network runs no more\n");
    } else if (changed) {
        mase_pass_say(env,
                      "Outputs were not compared: the network has no weights or samples here\n");
    }
    if (!kept)
        mase_value_set(a, note, "undone", mase_value_bool(a, true));
    mase_pass_note(env, pass, note);
    return kept;
}
