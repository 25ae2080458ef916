/*
 * t_plan.c - plans of whole networks against PyTorch: outputs in both modes, running statistics and
 * gradients of the cross entropy; and the promise that threads and instruction sets change no bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase/call.h>
#include <mase/npy.h>
#include <mase/plan.h>
#include <mase/safetensors.h>
#include <mase/zoo.h>

#include "kern/kern.h"
#include "run_cases.h"

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
    struct mase_tensor x, labels;
};

static struct mase_tensor load(struct net *n, const char *file)
{
    struct mase_tensor t;
    must(mase_npy_read(&t, &n->arena,
                       mase_arena_printf(&n->arena, "data/models/%s/%s", n->name, file), &err));
    return t;
}

static struct net open_net(const char *name)
{
    struct net n = { .name = name };
    const struct mase_model *model;
    const struct mase_data_info *data;
    must(mase_zoo_find(&model, name, &err));
    must(mase_data_find(&data, model->dataset, &err));
    must(model->build(&n.graph, data, &err));
    mase_graph_init_weights(n.graph, 0);
    must(mase_weights_load(
        n.graph, mase_arena_printf(&n.arena, "data/models/%s/model.safetensors", name), &err));
    n.x = load(&n, "x.npy");
    n.labels = load(&n, "labels.npy");
    return n;
}

static void close_net(struct net *n)
{
    mase_graph_free(n->graph);
    mase_arena_release(&n->arena);
}

static struct mase_plan *plan_of(struct net *n, int64_t batch, bool train, int threads)
{
    struct mase_plan *p;
    const struct mase_input in = { "x", n->x };
    const struct mase_plan_opts o = {
        .batch = batch, .train = train, .threads = threads, .inputs = &in, .input_count = 1
    };
    must(mase_plan_new(&p, n->graph, &o, &err));
    return p;
}

static void check_close(double got, double want, const char *what, int64_t i)
{
    if (!(fabs(got - want) <= 1e-5 * fmax(1, fabs(want))))
        fail_msg("%s[%lld]: got %.9g, want %.9g", what, (long long)i, got, want);
}

/* Lanes against a row-major (samples, rows) array. */
static void check_lanes(struct mase_lanes got, const struct mase_tensor *want, const char *what)
{
    assert_int_equal(got.rows, want->shape.dim[1]);
    for (int64_t i = 0; i < want->shape.dim[0]; i++)
        for (int64_t r = 0; r < got.rows; r++)
            check_close(got.data[r * got.stride + i], mase_f32(want)[i * got.rows + r], what,
                        i * got.rows + r);
}

static int32_t *labels_of(struct net *n)
{
    int32_t *label = mase_new_array(&n->arena, int32_t, (size_t)mase_tensor_count(&n->labels));
    for (int64_t i = 0; i < mase_tensor_count(&n->labels); i++)
        label[i] = (int32_t)mase_tensor_get(&n->labels, i);
    return label;
}

static void forward(struct net *n, struct mase_plan *p, int64_t from, int64_t samples)
{
    const int64_t features = mase_tensor_count(&n->x) / n->x.shape.dim[0];
    mase_plan_gather(p, mase_f32(&n->x) + from * features, features, NULL, samples);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
}

static const char *const names[] = { "jsc-tiny", "jsc-toy", "jsc-s", "jsc-test" };

static void evaluation_equals_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct net n = open_net(names[i]);
        struct mase_plan *p = plan_of(&n, 64, false, 1);
        const struct mase_tensor y = load(&n, "y.npy");
        forward(&n, p, 0, 64);
        check_lanes(mase_plan_output(p), &y, names[i]);
        mase_plan_free(p);
        close_net(&n);
    }
}

/* Short batches give each sample what the whole batch gives it, to the bit. */
static void a_short_batch_is_no_other(void **state)
{
    (void)state;
    struct net n = open_net("jsc-toy");
    struct mase_plan *whole = plan_of(&n, 64, false, 1), *part = plan_of(&n, 40, false, 1);
    forward(&n, whole, 0, 64);
    for (int64_t size = 1; size <= 40; size += 3) {
        forward(&n, part, 7, size);
        struct mase_lanes a = mase_plan_output(whole), b = mase_plan_output(part);
        for (int64_t r = 0; r < a.rows; r++)
            assert_memory_equal(a.data + r * a.stride + 7, b.data + r * b.stride,
                                (size_t)size * sizeof(float));
    }
    mase_plan_free(whole);
    mase_plan_free(part);
    close_net(&n);
}

/* The plan's parameters follow one another as in the golden vectors, each padded to 16. */
struct cursor {
    const float *got;
    const struct mase_tensor *want;
    bool buffers;
    int64_t at;
    const char *name;
};

static bool check_gradient(const char *full, struct mase_param *param, void *data)
{
    struct cursor *c = data;
    const int64_t count = mase_tensor_count(&param->tensor);
    for (int64_t i = 0; i < count && !mase_param_is_buffer(param); i++)
        check_close(c->got[i], mase_f32(c->want)[c->at + i], full, i);
    c->at += count;
    c->got += mase_param_is_buffer(param) ? 0 : (count + 15) / 16 * 16;
    return true;
}

static bool check_state(const char *full, struct mase_param *param, void *data)
{
    struct cursor *c = data;
    for (int64_t i = 0; i < mase_tensor_count(&param->tensor); i++)
        check_close(mase_tensor_get(&param->tensor, i), mase_f32(c->want)[c->at++], full, i);
    return true;
}

static void training_equals_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct net n = open_net(names[i]);
        struct mase_plan *p = plan_of(&n, 64, true, 1);
        const struct mase_tensor y = load(&n, "y_train.npy"),
                                 after = load(&n, "params_after_forward_train.npy");
        const struct mase_tensor gradient = load(&n, "grad_ce_train.npy");
        forward(&n, p, 0, 64);
        check_lanes(mase_plan_output(p), &y, names[i]);
        struct mase_loss_result loss;
        mase_plan_loss(p, &loss, &(struct mase_targets){ .label = labels_of(&n) }, NULL);
        mase_plan_backward(p);
        struct cursor c = { .got = mase_plan_params(p).g, .want = &gradient };
        mase_graph_each_param(n.graph, check_gradient, &c);
        mase_plan_write_weights(p);
        c = (struct cursor){ .want = &after };
        mase_graph_each_param(n.graph, check_state, &c);
        mase_plan_free(p);
        close_net(&n);
    }
}

/* Gradients of a step on every sample but the last three, as bytes. */
static float *gradients(struct net *n, int threads, int64_t *count)
{
    struct mase_plan *p = plan_of(n, 64, true, threads);
    struct mase_loss_result loss;
    forward(n, p, 0, 61);
    mase_plan_loss(p, &loss, &(struct mase_targets){ .label = labels_of(n) }, NULL);
    mase_plan_backward(p);
    *count = mase_plan_params(p).n;
    float *copy =
        mase_arena_memdup(&n->arena, mase_plan_params(p).g, (size_t)*count * sizeof(float));
    mase_plan_free(p);
    return copy;
}

static void threads_and_isa_change_no_bit(void **state)
{
    (void)state;
    struct net n = open_net("jsc-s");
    int64_t count;
    const float *standard = gradients(&n, 1, &count);
    for (int i = 0; i < 3 * MASE_ISA_COUNT; i++) {
        setenv("MASE_ISA", mase_isa_names[i / 3], 1);
        struct mase_plan *p;
        const struct mase_input in = { "x", n.x };
        const struct mase_plan_opts o = { .batch = 64, .inputs = &in, .input_count = 1 };
        if (mase_plan_new(&p, n.graph, &o, &err) == MASE_EUNSUPPORTED)
            continue; /* not on this CPU */
        mase_plan_free(p);
        assert_memory_equal(standard, gradients(&n, i % 3 + 1, &count),
                            (size_t)count * sizeof(float));
    }
    unsetenv("MASE_ISA");
    close_net(&n);
}

static void step(struct net *n, struct mase_plan *p)
{
    struct mase_loss_result loss;
    forward(n, p, 0, 64);
    mase_plan_loss(p, &loss, &(struct mase_targets){ .label = labels_of(n) }, NULL);
    mase_plan_backward(p);
}

static void accumulation_adds_up(void **state)
{
    (void)state;
    struct net n = open_net("jsc-toy");
    struct mase_plan *p = plan_of(&n, 64, true, 1);
    const struct mase_plan_params q = mase_plan_params(p);
    step(&n, p);
    float *once = mase_arena_memdup(&n.arena, q.g, (size_t)q.n * sizeof(float));
    mase_plan_accumulate(p, true);
    step(&n, p);
    for (int64_t i = 0; i < q.n; i++)
        check_close(q.g[i], 2.0 * once[i], "twice", i);
    mase_plan_free(p);
    close_net(&n);
}

/* The last call of a layer is the first to store its gradient: unless the loss does not see it. */
static void a_call_that_nobody_uses_changes_no_gradient(void **state)
{
    (void)state;
    struct net n = open_net("jsc-toy");
    struct mase_plan *p = plan_of(&n, 64, true, 1);
    step(&n, p);
    const struct mase_plan_params q = mase_plan_params(p);
    float *once = mase_arena_memdup(&n.arena, q.g, (size_t)q.n * sizeof(float));
    mase_plan_free(p);
    const struct mase_node *linear = n.graph->first;
    while (linear->op != MASE_OP_linear)
        linear = linear->next;
    mase_graph_insert(n.graph, NULL, MASE_CALL_MODULE, linear->target, &linear->args, NULL);
    p = plan_of(&n, 64, true, 1);
    step(&n, p);
    step(&n, p);
    assert_memory_equal(mase_plan_params(p).g, once, (size_t)q.n * sizeof(float));
    mase_plan_free(p);
    close_net(&n);
}

static void what_mixes_samples_is_refused(void **state)
{
    (void)state;
    static const char text[] = "mase-graph 1\n"
                               "%x = placeholder[target=x]\n"
                               "%view = call_method[target=view](args = (%x, 1, -1), kwargs = {})\n"
                               "return %view\n";
    struct mase_graph *g;
    struct mase_plan *p;
    must(mase_graph_parse_mg(&g, text, sizeof text - 1, "mix.mg", &err));
    struct mase_input in = { .name = "x", .tensor.shape = { 2, { 8, 4 } } };
    const struct mase_plan_opts o = { .batch = 8, .inputs = &in, .input_count = 1 };
    assert_int_equal(mase_plan_new(&p, g, &o, &err), MASE_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "view: "));
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_equals_pytorch),
        cmocka_unit_test(a_short_batch_is_no_other),
        cmocka_unit_test(training_equals_pytorch),
        cmocka_unit_test(threads_and_isa_change_no_bit),
        cmocka_unit_test(accumulation_adds_up),
        cmocka_unit_test(a_call_that_nobody_uses_changes_no_gradient),
        cmocka_unit_test(what_mixes_samples_is_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
