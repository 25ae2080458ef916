/*
 * t_optim.c - optimisers against PyTorch: losses, learning rates and all weights after 1, 10 and
 * 100 steps; clipping against its definition.
 */
#include "check.h"

#include <mase/call.h>
#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/weights.h>

#include "train/optim.h"

enum { BATCH = 64, BATCHES = 10, STEPS = 100 };

struct optimiser {
    const char *name, *kind;
    double lr, decay, momentum;
    bool cosine; /* over ten epochs */
};

static const struct optimiser optimisers[] = {
    { "sgd", "sgd", 0.05, 0, 0, false },           { "adam", "adam", 1e-3, 0, 0.9, false },
    { "adam_wd", "adam", 5e-3, 1e-2, 0.9, false }, { "adamw", "adamw", 1e-3, 1e-2, 0.9, false },
    { "mase_adam", "adam", 1e-2, 0, 0.9, true },   { "mase_adamw", "adamw", 5e-3, 1e-2, 0.9, true },
    { "mase_sgd", "sgd", 2e-2, 5e-4, 0.9, true },
};

struct run {
    struct mase_arena arena;
    const char *net;
    const struct optimiser *o;
    struct mase_graph *graph;
    struct mase_plan *plan;
    struct mase_train_opts opts;
    struct mase_optimizer optim;
    struct mase_tensor x, label, state, curve;
    FILE *tolerances;
    double loss_tolerance;
};

static struct mase_tensor load(struct run *r, const char *path)
{
    struct mase_tensor t;
    must(mase_npy_read(&t, &r->arena, path, &err));
    return t;
}

static const char *path_of(struct run *r, const char *suffix)
{
    return mase_arena_printf(&r->arena, "data/train/%s/%s%s", r->net, r->o->name, suffix);
}

static void set_options(struct run *r)
{
    r->opts = default_opts();
    r->opts.optimizer = r->o->kind;
    r->opts.learning_rate = r->o->lr;
    r->opts.weight_decay = r->o->decay;
    r->opts.momentum = r->o->momentum;
    r->opts.schedule = r->o->cosine ? "cosine" : "constant";
    r->opts.max_epochs = STEPS / BATCHES;
}

static void open_run(struct run *r)
{
    r->graph = build(r->net, 0);
    must(mase_weights_load(
        r->graph, mase_arena_printf(&r->arena, "data/models/%s/model.safetensors", r->net), &err));
    r->x = load(r, "data/train/x_train.npy");
    r->label = load(r, "data/train/labels_train.npy");
    r->state = load(r, path_of(r, ".npy"));
    r->curve = load(r, path_of(r, "_curve.npy"));
    set_options(r);
    const struct mase_input in = { "x", r->x };
    const struct mase_plan_opts po = {
        .batch = BATCH, .train = true, .inputs = &in, .input_count = 1
    };
    must(mase_plan_new(&r->plan, r->graph, &po, &err));
    must(mase_optimizer_init(&r->optim, r->plan, &r->opts, &err));
}

static void close_run(struct run *r)
{
    mase_optimizer_release(&r->optim);
    mase_plan_free(r->plan);
    mase_graph_free(r->graph);
    mase_arena_release(&r->arena);
}

static void step(struct run *r, int s)
{
    const int64_t from = (int64_t)(s % BATCHES) * BATCH;
    struct mase_loss_result loss;
    int32_t label[BATCH];
    for (int i = 0; i < BATCH; i++)
        label[i] = (int32_t)mase_tensor_get(&r->label, from + i);
    mase_plan_gather(r->plan, mase_f32(&r->x) + from * 16, 16, NULL, BATCH);
    mase_plan_forward(r->plan);
    mase_plan_loss(r->plan, &loss, label, NULL);
    mase_plan_backward(r->plan);
    const double lr = mase_train_lr(&r->opts, s / BATCHES, s, BATCHES);
    check_near(lr, mase_tensor_get(&r->curve, STEPS + s), 1e-8, "learning rate", s);
    check_near(loss.loss / BATCH, mase_tensor_get(&r->curve, s), r->loss_tolerance, r->o->name, s);
    mase_optimizer_step(&r->optim, lr);
}

/* Walk the state dict beside the file of tolerances. */
struct comparing {
    struct run *r;
    int row; /* of state: 0, 1, 2 */
    int64_t at;
};

static bool compare(const char *full, struct mase_param *p, void *data)
{
    struct comparing *c = data;
    char name[128];
    double tolerance[3];
    assert_int_equal(fscanf(c->r->tolerances, "%127s %lf %lf %lf", name, &tolerance[0],
                            &tolerance[1], &tolerance[2]),
                     4);
    assert_string_equal(name, full);
    const int64_t n = mase_tensor_count(&p->tensor);
    const char *what =
        mase_arena_printf(&c->r->arena, "%s %s after %s steps: %s", c->r->net, c->r->o->name,
                          c->row == 0   ? "1"
                          : c->row == 1 ? "10"
                                        : "100",
                          full);
    for (int64_t i = 0; i < n; i++)
        check_near(mase_tensor_get(&p->tensor, i),
                   mase_tensor_get(&c->r->state, c->row * c->r->state.shape.dim[1] + c->at + i),
                   tolerance[c->row], what, i);
    c->at += n;
    return true;
}

static void compare_state(struct run *r, int row)
{
    struct comparing c = { r, row, 0 };
    r->tolerances = fopen(path_of(r, "_tol.txt"), "r");
    assert_non_null(r->tolerances);
    mase_plan_write_weights(r->plan);
    mase_graph_each_param(r->graph, compare, &c);
    assert_int_equal(c.at, r->state.shape.dim[1]);
    fclose(r->tolerances);
}

/* loss: how far a float32 run of PyTorch's own is from a float64 one, or 2e-5. */
static void check_net(const char *net, const struct optimiser *o, double loss)
{
    struct run r = { .net = net, .o = o, .loss_tolerance = loss };
    open_run(&r);
    for (int s = 0; s < STEPS; s++) {
        step(&r, s);
        if (s + 1 == 1 || s + 1 == 10 || s + 1 == 100)
            compare_state(&r, s + 1 == 1 ? 0 : s + 1 == 10 ? 1 : 2);
    }
    close_run(&r);
}

static void steps_equal_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof optimisers / sizeof *optimisers; i++) {
        check_net("jsc-tiny", &optimisers[i], 2e-5);
        check_net("jsc-toy", &optimisers[i], 2e-5);
    }
    check_net("jsc-test", &optimisers[1], 1.8e-2);
    check_net("jsc-test", &optimisers[6], 7.6e-4);
}

/* With plain gradient descent a step shows the gradient that was used. */
static void clipped(float *moved, int64_t n, double by_value, double by_norm)
{
    struct run r = { .net = "jsc-tiny", .o = &optimisers[0] };
    open_run(&r);
    struct mase_plan_params p = r.optim.params;
    assert_true(p.n >= n);
    memset(p.g, 0, (size_t)p.n * sizeof *p.g);
    const float g[] = { 3.0f, -4.0f, 0.5f };
    memcpy(p.g, g, sizeof g);
    memset(p.w, 0, (size_t)p.n * sizeof *p.w);
    r.optim.clip_value = by_value;
    r.optim.clip_norm = by_norm;
    mase_optimizer_step(&r.optim, 1.0);
    memcpy(moved, p.w, (size_t)n * sizeof *moved);
    close_run(&r);
}

static void gradients_are_clipped(void **state)
{
    (void)state;
    float w[4];
    clipped(w, 4, 0, 0);
    assert_true(w[0] == -3.0f && w[1] == 4.0f && w[2] == -0.5f && w[3] == 0.0f);
    clipped(w, 4, 1, 0);
    assert_true(w[0] == -1.0f && w[1] == 1.0f && w[2] == -0.5f);
    clipped(w, 4, 0, 10); /* short enough */
    assert_true(w[0] == -3.0f && w[1] == 4.0f);
    clipped(w, 4, 0, 1);
    const double length = sqrt(9 + 16 + 0.25) + 1e-6;
    check_near(w[0], -3 / length, 1e-6, "by norm", 0);
    check_near(w[1], 4 / length, 1e-6, "by norm", 1);
    clipped(w, 4, 2, 1); /* values first: (2, -2, 0.5) */
    check_near(w[0], -2 / (sqrt(8.25) + 1e-6), 1e-6, "both", 0);
    check_near(w[2], -0.5 / (sqrt(8.25) + 1e-6), 1e-6, "both", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_equal_pytorch),
        cmocka_unit_test(gradients_are_clipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
