/*
 * t_optim.c - optimisers against PyTorch: losses, learning rates and all weights after 1, 10 and
 * 100 steps; clipping against its definition.
 */
#include "check.h"
#include "run_cases.h"

#include <mase/call.h>
#include <mase/safetensors.h>

#include "../../zoo_extra.h"
#include "exec/plan/plan_parts.h"
#include "formats.h"
#include "train/optim.h"

enum { BATCH = 64, STEPS = 100, SAVED = 3 };
static const int saved[SAVED] = { 1, 10, 100 };

struct optimiser {
    const char *name, *kind;
    double lr, decay, momentum;
    bool cosine; /* over ten epochs, and on in the same wave */
    bool of_two; /* recorded for every network */
};

static const struct optimiser optimisers[] = {
    { "sgd", "sgd", 0.05, 0, 0, false, false },
    { "adam", "adam", 1e-3, 0, 0.9, false, true },
    { "adam_wd", "adam", 5e-3, 1e-2, 0.9, false, false },
    { "adamw", "adamw", 1e-3, 1e-2, 0.9, false, false },
    { "mase_adam", "adam", 1e-2, 0, 0.9, true, false },
    { "mase_adamw", "adamw", 5e-3, 1e-2, 0.9, true, false },
    { "mase_sgd", "sgd", 2e-2, 5e-4, 0.9, true, true },
};

/* Networks, and for the zoo's the data that they were recorded with. */
static const struct mase_data_info jets = { .sample = { 1, { 16 } }, .classes = 5 };
static const struct mase_data_info digits = { .sample = { 3, { 1, 4, 4 } }, .classes = 10 };
static const struct mase_data_info pairs = { .sample = { 3, { 1, 4, 4 } }, .classes = 2 };

static const struct net {
    const char *file, *name, *rows;
    const struct mase_data_info *data; /* NULL: one of extra_models */
    bool two;                          /* two optimisers only */
} nets[] = {
    { "jsc-tiny", "jsc-tiny", "jsc", &jets, false },
    { "jsc-tiny_1", "jsc-tiny", "jsc_1", &jets, true },
    { "jsc-toy", "jsc-toy", "jsc", &jets, false },
    { "jsc-toy_1", "jsc-toy", "jsc_1", &jets, true },
    { "jsc-s", "jsc-s", "jsc", &jets, true },
    { "jsc-s_1", "jsc-s", "jsc_1", &jets, true },
    { "jsc-test", "jsc-test", "jsc", &jets, true },
    { "toy", "toy", "digit", &digits, false },
    { "toy_tiny", "toy_tiny", "digit_2", &pairs, false },
    { "toy_convnet", "toy_convnet", "image", NULL, false },
    { "conv_bn", "conv_bn", "image", NULL, false },
    { "res_mlp", "res_mlp", "jsc", NULL, false },
    { "matmul_net", "matmul_net", "jsc", NULL, false },
};

struct run {
    struct mase_arena arena;
    const struct net *net;
    const struct optimiser *o;
    struct mase_safetensors recorded, rows;
    const struct mase_tensor *x, *labels;
    int64_t batches; /* of an epoch */
    struct mase_graph *graph;
    struct mase_plan *plan;
    struct mase_train_opts opts;
    struct mase_optimizer optim;
    int64_t at; /* walking the state dict */
    int index;
};

static const struct mase_tensor *find(const struct mase_safetensors *st, const char *name)
{
    const struct mase_tensor *t = mase_safetensors_find(st, name);
    if (!t)
        fail_msg("no tensor %s", name);
    return t;
}

/* What was recorded of this optimiser. */
static const struct mase_tensor *of(struct run *r, const char *what)
{
    return find(&r->recorded, mase_arena_printf(&r->arena, "%s.%s", r->o->name, what));
}

static void set_options(struct run *r)
{
    r->opts = default_opts();
    r->opts.optimizer = r->o->kind;
    r->opts.learning_rate = r->o->lr;
    r->opts.weight_decay = r->o->decay;
    r->opts.momentum = r->o->momentum;
    r->opts.schedule = r->o->cosine ? "cosine" : "constant";
    r->opts.max_epochs = 10;
}

static struct mase_graph *build_net(const struct net *net)
{
    const struct extra_model *extra = net->data ? NULL : extra_model(net->name);
    struct mase_graph *g = NULL;
    const struct mase_model *model;
    if (extra) {
        g = extra->build(&extra->data);
    } else {
        must(mase_zoo_find(&model, net->name, &err));
        must(model->build(&g, net->data, &err));
    }
    mase_graph_init_weights(g, 0);
    return g;
}

static bool set_param(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    struct run *r = data;
    const struct mase_tensor *start = find(&r->recorded, "start");
    for (int64_t i = 0, n = mase_tensor_count(&p->tensor); i < n; i++)
        mase_tensor_set(&p->tensor, i, mase_tensor_get(start, r->at++));
    return true;
}

static void open_files(struct run *r)
{
    struct mase_arena *a = &r->arena;
    must(mase_safetensors_open(
        &r->recorded, mase_arena_printf(a, "data/train/%s.safetensors", r->net->file), &err));
    must(mase_safetensors_open(
        &r->rows, mase_arena_printf(a, "data/train/%s.safetensors", r->net->rows), &err));
    r->x = find(&r->rows, "x");
    r->labels = find(&r->rows, "labels");
    r->batches = mase_tensor_count(r->labels) / BATCH;
}

static void open_run(struct run *r)
{
    open_files(r);
    r->graph = build_net(r->net);
    mase_graph_each_param(r->graph, set_param, r);
    assert_int_equal(r->at, mase_tensor_count(find(&r->recorded, "start")));
    set_options(r);
    const struct mase_input in = { "x", *r->x };
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
    mase_safetensors_close(&r->recorded);
    mase_safetensors_close(&r->rows);
    mase_arena_release(&r->arena);
}

static void step(struct run *r, int s)
{
    const struct mase_tensor *curve = of(r, "curve");
    const int64_t from = s % r->batches * BATCH;
    const int64_t features = mase_tensor_count(r->x) / r->x->shape.dim[0];
    struct mase_loss_result loss;
    int32_t label[BATCH];
    for (int i = 0; i < BATCH; i++)
        label[i] = (int32_t)mase_tensor_get(r->labels, from + i);
    mase_plan_gather(r->plan, mase_f32(r->x) + from * features, features, NULL, BATCH);
    assert_int_equal(mase_plan_forward(r->plan, &err), MASE_OK);
    mase_plan_loss(r->plan, &loss, &(struct mase_targets){ .label = label }, NULL);
    mase_plan_backward(r->plan);
    const double lr = rate_at(&r->opts, s / r->batches, s, r->batches);
    check_near(lr, mase_tensor_get(curve, STEPS + s), 1e-8, "learning rate", s);
    check_near(loss.loss / BATCH, mase_tensor_get(curve, s),
               mase_tensor_get(of(r, "loss_tolerance"), 0),
               mase_arena_printf(&r->arena, "loss of %s %s", r->net->file, r->o->name), s);
    mase_optimizer_step(&r->optim, lr);
}

/* Walk the state dict beside the recorded state and its tolerances. */
struct comparing {
    struct run *r;
    const struct mase_tensor *state, *tolerance; // (SAVED, values), (SAVED, tensors)
    const char *names;                           /* in the order of the recording */
    int row, tensor;
    int64_t at;
};

static bool compare(const char *full, struct mase_param *p, void *data)
{
    struct comparing *c = data;
    const size_t length = strcspn(c->names, " ");
    assert_true(strlen(full) == length && !memcmp(full, c->names, length));
    c->names += length + (c->names[length] == ' ');
    const int64_t n = mase_tensor_count(&p->tensor), width = c->state->shape.dim[1];
    const double tolerance =
        mase_tensor_get(c->tolerance, c->row * c->tolerance->shape.dim[1] + c->tensor++);
    const char *what = mase_arena_printf(&c->r->arena, "%s %s after %d steps: %s", c->r->net->file,
                                         c->r->o->name, saved[c->row], full);
    for (int64_t i = 0; i < n; i++)
        check_near(mase_tensor_get(&p->tensor, i),
                   mase_tensor_get(c->state, c->row * width + c->at++), tolerance, what, i);
    return true;
}

static void compare_state(struct run *r, int row)
{
    struct comparing c = { r, of(r, "state"), of(r, "tolerance"), .row = row };
    c.names = mase_value_get(r->recorded.metadata, "tensors")->s;
    mase_plan_write_weights(r->plan);
    mase_graph_each_param(r->graph, compare, &c);
    assert_int_equal(c.at, c.state->shape.dim[1]);
    assert_int_equal(c.tensor, c.tolerance->shape.dim[1]);
}

static void check_run(const struct net *net, const struct optimiser *o, int states)
{
    struct run r = { .net = net, .o = o };
    open_run(&r);
    int row = 0;
    for (int s = 0; row < states; s++) {
        step(&r, s);
        if (s + 1 == saved[row])
            compare_state(&r, row++);
    }
    close_run(&r);
}

/* Under valgrind one step of two optimisers has to do. */
static void steps_equal_pytorch(void **state)
{
    const bool quick = getenv("MASE_QUICK");
    (void)state;
    for (size_t n = 0; n < sizeof nets / sizeof *nets; n++)
        for (size_t o = 0; o < sizeof optimisers / sizeof *optimisers; o++)
            if (optimisers[o].of_two || !(quick || nets[n].two))
                check_run(&nets[n], &optimisers[o], quick ? 1 : SAVED);
}

/* With plain gradient descent a step shows the gradient that was used. */
static void clipped(float *moved, int64_t n, double by_value, double by_norm)
{
    struct run r = { .net = &nets[0], .o = &optimisers[0] };
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

/* Two steps of length 1 along the same gradient. */
static float moved_by(double momentum, bool plain)
{
    struct run r = { .net = &nets[0], .o = &optimisers[0] };
    open_run(&r);
    mase_optimizer_release(&r.optim);
    r.opts.momentum = momentum;
    r.opts.plain_momentum = plain;
    must(mase_optimizer_init(&r.optim, r.plan, &r.opts, &err));
    r.optim.params.w[0] = 0;
    r.optim.params.g[0] = 1;
    mase_optimizer_step(&r.optim, 1.0);
    mase_optimizer_step(&r.optim, 1.0);
    const float moved = r.optim.params.w[0];
    close_run(&r);
    return moved;
}

static void momentum_looks_ahead_unless_plain(void **state)
{
    (void)state;
    assert_true(moved_by(0, false) == -2.0f);
    assert_true(moved_by(0.5, true) == -1.0f - 1.5f);
    assert_true(moved_by(0.5, false) == -1.5f - (1.0f + 0.5f * 1.5f));
}

/* One weight of 1 that decays by 0.1, at a rate of 0.1: PyTorch's in float64, Lion's by its paper.
 */
static const float slopes[] = { 0.5f, -1.25f, 0.75f, 0.0f, 2.0f, -0.125f };
enum { SLOPES = sizeof slopes / sizeof slopes[0] };
static const struct {
    const char *name;
    double w[SLOPES];
} walks[] = {
    { "nadam",
      { 0.8943548226, 0.9842957778, 0.9257185457, 0.9168371162, 0.8071488784, 0.8004372168 } },
    { "rmsprop",
      { 1.666666394e-07, 0.9023684229, 0.3818468368, 0.3580792043, -0.4284329759, -0.3633998351 } },
    { "adagrad", { 0.9, 0.9888217643, 0.9343233294, 0.9283357139, 0.8481668933, 0.8497059871 } },
    { "lion", { 0.89, 0.9811, 0.871289, 0.76257611, 0.6549503489, 0.5484008454 } },
};

static void a_weight_walks_as_it_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        struct run r = { .net = &nets[0], .o = &optimisers[0] };
        open_run(&r);
        mase_optimizer_release(&r.optim);
        r.opts.optimizer = walks[i].name;
        r.opts.weight_decay = 0.1;
        must(mase_optimizer_init(&r.optim, r.plan, &r.opts, &err));
        r.optim.params.w[0] = 1;
        for (int k = 0; k < SLOPES; k++) {
            if (k == 3) /* as after a resumption */
                mase_optimizer_set_steps(&r.optim, 3, &r.opts, SLOPES);
            r.optim.params.g[0] = slopes[k];
            mase_optimizer_step(&r.optim, 0.1);
            check_near(r.optim.params.w[0], walks[i].w[k], 1e-6, walks[i].name, k);
        }
        close_run(&r);
    }
}

/* OneCycleLR(0.1, total_steps=6) moves the momentum, too: PyTorch's in float64. */
static const struct {
    const char *name;
    double w[SLOPES];
} cycles[] = {
    { "adam",
      { 0.9960000001, 1.0533711716, 1.0573136465, 1.0579161819, 1.0526011408, 1.0526009676 } },
    { "adamw",
      { 0.9956000001, 1.048215237, 1.0517518709, 1.054293445, 1.0491507448, 1.0491505894 } },
    { "sgd", { 0.99532, 1.1638672981, 1.0716597851, 1.0504993587, 0.9915458872, 0.9915450164 } },
    { "nadam",
      { 0.9958772629, 1.0930435932, 1.045519235, 1.0420628175, 1.0283858435, 1.0283858259 } },
};

static void a_cycle_moves_the_momentum(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++) {
        struct run r = { .net = &nets[0], .o = &optimisers[0] };
        open_run(&r);
        mase_optimizer_release(&r.optim);
        r.opts.optimizer = cycles[i].name;
        r.opts.weight_decay = 0.1;
        r.opts.schedule = "onecycle";
        r.opts.learning_rate = 0.1;
        r.opts.momentum = 0.9;
        r.opts.max_epochs = 1;
        must(mase_optimizer_init(&r.optim, r.plan, &r.opts, &err));
        r.optim.params.w[0] = 1;
        for (int k = 0; k < SLOPES; k++) {
            const struct mase_train_at at = { .step = k, .steps = SLOPES };
            if (k == 4) /* as after a resumption */
                mase_optimizer_set_steps(&r.optim, 4, &r.opts, SLOPES);
            r.optim.beta1 = mase_train_momentum(&r.opts, &at, r.optim.usual);
            r.optim.params.g[0] = slopes[k];
            mase_optimizer_step(&r.optim, mase_train_lr(&r.opts, &at));
            check_near(r.optim.params.w[0], cycles[i].w[k], 1e-6, cycles[i].name, k);
        }
        close_run(&r);
    }
}

static void what_has_no_momentum_does_not_cycle(void **state)
{
    (void)state;
    struct run r = { .net = &nets[0], .o = &optimisers[0] };
    open_run(&r);
    mase_optimizer_release(&r.optim);
    r.opts.schedule = "onecycle";
    r.opts.optimizer = "adagrad";
    assert_int_equal(mase_optimizer_init(&r.optim, r.plan, &r.opts, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "adagrad has none: constant_momentum leaves that out"));
    r.opts.constant_momentum = true;
    must(mase_optimizer_init(&r.optim, r.plan, &r.opts, &err));
    close_run(&r);
}

/* ---- what formats learn ---- */

static const float *values_of(const struct mase_plan *p, const char *name)
{
    return mase_plan_weight(p, mase_graph_attr(p->graph, name))->x;
}

/* A layer whose weights have learned steps, 0.5 each, and an optimiser for it. */
struct learning {
    struct mase_graph *graph;
    struct mase_plan *plan;
    struct mase_optimizer optim;
};

static struct learning learn(const char *format, const char *optimiser, double decay)
{
    const struct mase_format *f = format_of(format);
    const struct mase_quant q = { .kind = f->kind, .operand = { [MASE_WEIGHT] = f } };
    struct learning l = { .graph = build("jsc-tiny", 1) };
    struct mase_train_opts o = default_opts();
    const struct mase_input in = { "x", { MASE_F32, { 2, { 1, 16 } }, NULL } };
    const struct mase_plan_opts po = {
        .batch = 16, .train = true, .inputs = &in, .input_count = 1
    };
    mase_module_set_quant(l.graph, mase_graph_module(l.graph, "seq_blocks.2"), &q);
    must(mase_graph_learn(l.graph, &err));
    for (int i = 0; i < l.graph->attr_count; i++)
        for (int k = 0; k < 5; k++)
            mase_f32(&l.graph->attrs[i].tensor)[k] = 0.5f;
    must(mase_plan_new(&l.plan, l.graph, &po, &err));
    o.optimizer = optimiser;
    o.weight_decay = decay;
    o.momentum = 0;
    must(mase_optimizer_init(&l.optim, l.plan, &o, &err));
    memset(l.optim.params.g, 0, (size_t)l.optim.params.n * sizeof(float));
    return l;
}

static void forget(struct learning *l)
{
    mase_optimizer_release(&l->optim);
    mase_plan_free(l->plan);
    mase_graph_free(l->graph);
}

/* A step without gradients takes something off the weights, and off nothing else. */
static void steps_of_formats_do_not_decay(void **state)
{
    (void)state;
    for (int i = 0; mase_optimizer_names[i]; i++) {
        struct learning l = learn("lsq(4, 0)", mase_optimizer_names[i], 0.1);
        const float weight = values_of(l.plan, "seq_blocks.2.weight")[0];
        mase_optimizer_step(&l.optim, 0.01);
        assert_true(fabsf(values_of(l.plan, "seq_blocks.2.weight")[0]) < fabsf(weight));
        for (int k = 0; k < 5; k++)
            assert_true(values_of(l.plan, "seq_blocks.2.weight_scale")[k] == 0.5f);
        forget(&l);
    }
}

static void set_gradient(const struct learning *l, const char *name, float g)
{
    const struct mase_weight *w = mase_plan_weight(l->plan, mase_graph_attr(l->graph, name));
    for (int k = 0; k < 5; k++)
        w->dx[k] = g;
}

/* However long and hard the gradient pulls: steps and bounds stay above 0, and find back. What is
 * no size, an offset or a number of bits, crosses zero. */
static void steps_never_come_to_zero(void **state)
{
    static const struct {
        const char *format, *size, *other;
    } rows[] = { { "lsq(4, 0)", "seq_blocks.2.weight_scale", NULL },
                 { "pact(4, 0)", "seq_blocks.2.weight_bound", NULL },
                 { "lsq_plus(4, 0)", "seq_blocks.2.weight_scale", "seq_blocks.2.weight_offset" } };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = 0; mase_optimizer_names[i]; i++) {
            struct learning l = learn(rows[r].format, mase_optimizer_names[i], 0);
            for (int s = 0; s < 50; s++) {
                set_gradient(&l, rows[r].size, 100);
                if (rows[r].other)
                    set_gradient(&l, rows[r].other, 100);
                mase_optimizer_step(&l.optim, 0.3);
            }
            const float low = values_of(l.plan, rows[r].size)[4];
            assert_true(low > 0 && low < 0.5f);
            if (rows[r].other)
                assert_true(values_of(l.plan, rows[r].other)[4] < 0);
            for (int s = 0; s < 50; s++) {
                set_gradient(&l, rows[r].size, -100);
                mase_optimizer_step(&l.optim, 0.3);
            }
            assert_true(values_of(l.plan, rows[r].size)[4] > low);
            forget(&l);
        }
}

/* A small step of plain descent is that of the step itself; Adam's first is a factor of 1 + rate.
 */
static void small_steps_are_those_of_the_size(void **state)
{
    (void)state;
    struct learning l = learn("lsq(4, 0)", "sgd", 0);
    set_gradient(&l, "seq_blocks.2.weight_scale", 0.25f);
    mase_optimizer_step(&l.optim, 1e-3);
    check_near(values_of(l.plan, "seq_blocks.2.weight_scale")[0], 0.5 * exp(-0.00025 / 0.5), 1e-7,
               "sgd", 0);
    check_near(values_of(l.plan, "seq_blocks.2.weight_scale")[0], 0.5 - 0.00025, 1e-6, "sgd", 1);
    forget(&l);
    l = learn("lsq(4, 0)", "adam", 0);
    set_gradient(&l, "seq_blocks.2.weight_scale", -7);
    mase_optimizer_step(&l.optim, 1e-2);
    check_near(values_of(l.plan, "seq_blocks.2.weight_scale")[0], 0.5 * exp(0.01), 1e-6, "adam", 0);
    forget(&l);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_equal_pytorch),
        cmocka_unit_test(gradients_are_clipped),
        cmocka_unit_test(momentum_looks_ahead_unless_plain),
        cmocka_unit_test(a_weight_walks_as_it_should),
        cmocka_unit_test(a_cycle_moves_the_momentum),
        cmocka_unit_test(what_has_no_momentum_does_not_cycle),
        cmocka_unit_test(steps_of_formats_do_not_decay),
        cmocka_unit_test(steps_never_come_to_zero),
        cmocka_unit_test(small_steps_are_those_of_the_size),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
