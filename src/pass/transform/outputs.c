/*
 * outputs.c - what a network computes before and after a transform (outputs.h).
 */
#include "pass/transform/outputs.h"

#include <math.h>
#include <string.h>

#include <mase/plan.h>
#include <mase/rng.h>
#include <mase/run.h>

#include "pass/support.h"

enum { SAMPLES = 16 };

static struct mase_input *draw_inputs(struct mase_pass_env *env)
{
    struct mase_input *in = mase_arena_memdup(env->scratch, env->inputs,
                                              (size_t)env->input_count * sizeof *env->inputs);
    for (int i = 0; i < env->input_count; i++) {
        struct mase_shape shape = in[i].tensor.shape;
        struct mase_rng r = mase_rng(env->seed, MASE_STREAM_TEST, mase_rng_name(in[i].name));
        if (shape.rank)
            shape.dim[0] = SAMPLES;
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

/* Fast, if it can be planned. */
static bool run_plan(struct mase_outputs *out, struct mase_graph *g, const struct mase_input *in,
                     struct mase_pass_env *env)
{
    const struct mase_plan_opts o = {
        .batch = SAMPLES, .threads = env->threads, .inputs = in, .input_count = env->input_count
    };
    struct mase_err unwanted;
    struct mase_plan *p;
    if (mase_plan_new(&p, g, &o, &unwanted))
        return false;
    for (int i = 0; i < env->input_count; i++) {
        const struct mase_lanes x = mase_plan_input(p, i);
        for (int64_t k = 0; k < x.rows * SAMPLES; k++)
            x.data[k % x.rows * x.stride + k / x.rows] = (float)mase_tensor_get(&in[i].tensor, k);
    }
    mase_plan_set_samples(p, SAMPLES);
    const bool done = !mase_plan_forward(p, &unwanted);
    const struct mase_lanes y = mase_plan_output(p);
    if (done) {
        out->count = y.rows * SAMPLES;
        out->value = mase_new_array(env->scratch, float, (size_t)out->count);
        for (int64_t k = 0; k < out->count; k++)
            out->value[k] = y.data[k % y.rows * y.stride + k / y.rows];
    }
    mase_plan_free(p);
    return done;
}

static bool run_reference(struct mase_outputs *out, struct mase_graph *g,
                          const struct mase_input *in, struct mase_pass_env *env)
{
    struct mase_err unwanted;
    struct mase_arena a = { 0 };
    struct mase_values v;
    const bool ran = !mase_run_reference(&v, &a, g, in, env->input_count, &unwanted);
    const struct mase_arg *y = ran ? mase_run_output(&v, g) : NULL;
    const bool done = y && y->kind == MASE_ARG_TENSOR;
    if (done) {
        out->count = mase_tensor_count(y->tensor);
        out->value = mase_new_array(env->scratch, float, (size_t)out->count);
        for (int64_t k = 0; k < out->count; k++)
            out->value[k] = (float)mase_tensor_get(y->tensor, k);
    }
    mase_arena_release(&a);
    return done;
}

struct mase_outputs mase_outputs(struct mase_graph *g, struct mase_pass_env *env)
{
    struct mase_outputs out = { .samples = SAMPLES };
    bool all = env->input_count > 0;
    mase_graph_each_param(g, has_weights, &all);
    if (!all)
        return out;
    const struct mase_input *in = draw_inputs(env);
    if (!run_plan(&out, g, in, env))
        run_reference(&out, g, in, env);
    return out;
}

void mase_outputs_report(struct mase_pass_env *env, const char *pass, int changed,
                         const struct mase_outputs *before, const struct mase_outputs *after)
{
    struct mase_arena *a = mase_pass_arena(env);
    struct mase_value *note = mase_value_table(a);
    mase_value_set(a, note, "changed", mase_value_int(a, changed));
    if (before->value && after->value && before->count == after->count) {
        double apart = 0, largest = 0;
        for (int64_t i = 0; i < before->count; i++) {
            apart = fmax(apart, fabs((double)after->value[i] - (double)before->value[i]));
            largest = fmax(largest, fabs((double)before->value[i]));
        }
        mase_pass_say(env,
                      "Outputs of %d random samples: values up to %.3g, changed by at most %.2g\n",
                      (int)before->samples, largest, apart);
        mase_value_set(a, note, "largest_output", mase_value_float(a, largest));
        mase_value_set(a, note, "largest_change", mase_value_float(a, apart));
    } else if (changed) {
        mase_pass_say(env,
                      "Outputs were not compared: the network has no weights or samples here\n");
    }
    mase_pass_note(env, pass, note);
}
