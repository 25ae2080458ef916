/*
 * t_plan_golden.c - plans of networks with convolutions, residuals and products of activations
 * against PyTorch: outputs in both modes, the state a forward leaves, gradients of the cross
 * entropy.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mase/call.h>
#include <mase/npy.h>
#include <mase/plan.h>
#include <mase/safetensors.h>
#include <mase/zoo.h>

#include "run_cases.h"
#include "zoo_extra.h"

static const char *const names[] = { "toy",     "toy_tiny", "toy_convnet",
                                     "conv_bn", "res_mlp",  "matmul_net" };
enum { COUNT = sizeof names / sizeof *names };

static struct mase_err err;

static void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("unexpected error");
    }
}

struct net {
    struct mase_arena arena;
    const char *name;
    struct mase_graph *graph;
};

static const char *path_of(struct net *n, const char *file)
{
    return mase_arena_printf(&n->arena, "data/models/%s/%s", n->name, file);
}

static struct mase_tensor load(struct net *n, const char *file)
{
    struct mase_tensor t;
    must(mase_npy_read(&t, &n->arena, path_of(n, file), &err));
    return t;
}

static struct net open_net(const char *name)
{
    struct net n = { .name = name };
    const struct extra_model *extra = extra_model(name);
    const struct mase_model *model;
    struct mase_data_info recorded = { .name = "recorded", .sample = { 3, { 1, 4, 4 } } };
    recorded.classes = !strcmp(name, "toy") ? 10 : 2;
    if (extra) {
        n.graph = extra->build(&extra->data);
    } else {
        must(mase_zoo_find(&model, name, &err));
        must(model->build(&n.graph, &recorded, &err));
    }
    mase_graph_alloc(n.graph);
    must(mase_weights_load(n.graph, path_of(&n, "model.safetensors"), &err));
    return n;
}

static void close_net(struct net *n)
{
    mase_graph_free(n->graph);
    mase_arena_release(&n->arena);
}

/* A plan for the recorded batch, and its forward. */
static struct mase_plan *forward(struct net *n, bool train)
{
    struct mase_plan *p;
    const struct mase_input in = { "x", load(n, "x.npy") };
    const int64_t samples = in.tensor.shape.dim[0];
    const struct mase_plan_opts o = {
        .batch = samples, .train = train, .threads = 2, .inputs = &in, .input_count = 1
    };
    must(mase_plan_new(&p, n->graph, &o, &err));
    const int64_t features = mase_tensor_count(&in.tensor) / samples;
    mase_plan_gather(p, mase_f32(&in.tensor), features, NULL, samples);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    return p;
}

static void check_close(double got, double want, const char *name, const char *what, int64_t i)
{
    if (!(fabs(got - want) <= 1e-5 * fmax(1, fabs(want))))
        fail_msg("%s: %s[%lld]: got %.9g, want %.9g", name, what, (long long)i, got, want);
}

static void check_output(struct net *n, struct mase_plan *p, const char *file)
{
    const struct mase_tensor want = load(n, file);
    const struct mase_lanes y = mase_plan_output(p);
    assert_int_equal(y.rows, want.shape.dim[1]);
    for (int64_t i = 0; i < mase_tensor_count(&want); i++)
        check_close(y.data[i % y.rows * y.stride + i / y.rows], mase_f32(&want)[i], n->name, file,
                    i);
}

static void evaluation_equals_pytorch(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        struct net n = open_net(names[i]);
        struct mase_plan *p = forward(&n, false);
        check_output(&n, p, "y.npy");
        mase_plan_free(p);
        close_net(&n);
    }
}

/* The golden vectors hold all entries of the state in order. */
struct cursor {
    struct net *net;
    const float *gradient; /* the plan's: trainable ones only, each padded to 16 */
    struct mase_tensor want_gradient, want_state;
    int64_t at;
};

static bool check_entry(const char *full, struct mase_param *param, void *data)
{
    struct cursor *c = data;
    const int64_t count = mase_tensor_count(&param->tensor);
    for (int64_t i = 0; i < count; i++) {
        check_close(mase_tensor_get(&param->tensor, i), mase_f32(&c->want_state)[c->at + i],
                    c->net->name, full, i);
        if (!mase_param_is_buffer(param))
            check_close(c->gradient[i], mase_f32(&c->want_gradient)[c->at + i], c->net->name, full,
                        i);
    }
    c->at += count;
    c->gradient += mase_param_is_buffer(param) ? 0 : (count + 15) / 16 * 16;
    return true;
}

static void training_equals_pytorch(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        struct net n = open_net(names[i]);
        struct mase_plan *p = forward(&n, true);
        check_output(&n, p, "y_train.npy");
        const struct mase_tensor labels = load(&n, "labels.npy");
        const int64_t samples = mase_tensor_count(&labels);
        int32_t *label = mase_new_array(&n.arena, int32_t, (size_t)samples);
        for (int64_t k = 0; k < samples; k++)
            label[k] = (int32_t)mase_tensor_get(&labels, k);
        struct mase_loss_result loss;
        mase_plan_loss(p, &loss, &(struct mase_targets){ .label = label }, NULL);
        mase_plan_backward(p);
        mase_plan_write_weights(p);
        struct cursor c = { .net = &n, .gradient = mase_plan_params(p).g };
        c.want_gradient = load(&n, "grad_ce_train.npy");
        c.want_state = load(&n, "params_after_forward_train.npy");
        mase_graph_each_param(n.graph, check_entry, &c);
        mase_plan_free(p);
        close_net(&n);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_equals_pytorch),
        cmocka_unit_test(training_equals_pytorch),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
