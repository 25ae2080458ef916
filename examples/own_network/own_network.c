/*
 * own_network.c - the network of net.py in C: built, trained, tested, quantised, saved.
 *
 *     cc -std=c17 own_network.c $(pkg-config --cflags --libs mase) -o own_network
 *     ./own_network 300 quantize.toml out
 *
 * trains 300 steps, runs the passes of the file and leaves checkpoints and the quantised graph in
 * out. Built from the same seed, it is what the command line makes of net.py, to the last bit:
 *
 *     ch train net.py:Test jsc --max-steps 300 --batch-size 256 --learning-rate 1e-3
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/pass.h>
#include <mase/train.h>
#include <mase/weights.h>
#include <mase/zoo.h>

/* ---- build ---- */

/* A layer and the numbers its constructor is called with; 0: none. */
struct layer {
    enum mase_op op;
    int arg[2];
};
static const struct layer layers[] = {
    { MASE_OP_batch_norm1d, { 16 } },  { MASE_OP_relu, { 0 } }, { MASE_OP_linear, { 16, 64 } },
    { MASE_OP_batch_norm1d, { 64 } },  { MASE_OP_relu, { 0 } }, { MASE_OP_linear, { 64, 128 } },
    { MASE_OP_batch_norm1d, { 128 } }, { MASE_OP_relu, { 0 } }, { MASE_OP_linear, { 128, 8 } },
    { MASE_OP_batch_norm1d, { 8 } },   { MASE_OP_relu, { 0 } }, { MASE_OP_linear, { 8, 8 } },
    { MASE_OP_batch_norm1d, { 8 } },   { MASE_OP_relu, { 0 } }, { MASE_OP_linear, { 8, 5 } },
    { MASE_OP_batch_norm1d, { 5 } },   { MASE_OP_relu, { 0 } },
};

/* Register the layer under path and call it on *x, which becomes the result. */
static enum mase_status add_layer(struct mase_graph *g, struct mase_node **x, const char *path,
                                  const struct layer *l, struct mase_err *err)
{
    const struct mase_arg values[] = { mase_arg_int(l->arg[0]), mase_arg_int(l->arg[1]) };
    const int count = !!l->arg[0] + !!l->arg[1];
    const struct mase_arg ctor = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, values, count);
    const struct mase_arg input = mase_arg_node(*x);
    const struct mase_arg call = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, &input, 1);
    struct mase_module *m;
    MASE_TRY(mase_graph_add_module(g, &m, path, l->op, &ctor, NULL, err));
    *x = mase_graph_insert(g, NULL, MASE_CALL_MODULE, path, &call, NULL);
    return MASE_OK;
}

static enum mase_status build(struct mase_graph *g, struct mase_err *err)
{
    struct mase_node *x = mase_graph_insert(g, NULL, MASE_PLACEHOLDER, "x", NULL, NULL);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        char path[32];
        snprintf(path, sizeof path, "seq_blocks.%zu", i);
        MASE_TRY(add_layer(g, &x, path, &layers[i], err));
    }
    const struct mase_arg result = mase_arg_node(x);
    const struct mase_arg returned = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, &result, 1);
    mase_graph_insert(g, NULL, MASE_OUTPUT, "output", &returned, NULL);
    return MASE_OK;
}

/* ---- train, test ---- */

static enum mase_status print_epoch(void *data, const struct mase_train_epoch *e,
                                    struct mase_err *err)
{
    (void)data;
    (void)err;
    printf("step %lld: train_loss %.4f, val_loss %.4f, val_acc %.4f\n", (long long)e->step,
           e->train_loss, e->val_loss, e->val_score);
    return MASE_OK;
}

static enum mase_status train(struct mase_graph *g, const struct mase_dataset *d, int64_t steps,
                              const char *dir, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_trainer *t = NULL;
    struct mase_train_opts o;
    enum mase_status st = mase_opts_bind(&o, sizeof o, mase_train_rows, NULL, &a, err);
    o.max_steps = steps;
    o.batch_size = 256;
    o.learning_rate = 1e-3;
    mase_graph_alloc(g);
    mase_graph_init_weights(g, (uint64_t)o.seed);
    if (!st && !(st = mase_trainer_new(&t, g, d, &o, err)))
        st = mase_trainer_run(
            t, &(struct mase_train_env){ .checkpoint_dir = dir, .on_epoch = print_epoch }, err);
    mase_trainer_free(t);
    mase_arena_release(&a);
    return st;
}

static enum mase_status test(struct mase_graph *g, const struct mase_dataset *d, const char *what,
                             struct mase_err *err)
{
    struct mase_evaluation e;
    struct mase_predictor *p;
    MASE_TRY(mase_predictor_new(&p, g, &mase_dataset_info(d)->data.sample, NULL, err));
    const enum mase_status st = mase_evaluate(&e, p, d, NULL, MASE_SPLIT_TEST, 0, NULL, err);
    if (!st)
        printf("%s: test_loss %.4f, test_acc %.4f\n", what, e.loss, e.accuracy);
    mase_predictor_free(p);
    return st;
}

/* ---- quantise, save ---- */

/* One sample of the data: the shapes of all nodes follow from it. */
static struct mase_input sample_of(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_shape *one = &mase_dataset_info(d)->data.sample;
    struct mase_shape shape = { .rank = 1 + one->rank, .dim = { 1 } };
    memcpy(shape.dim + 1, one->dim, sizeof shape.dim - sizeof shape.dim[0]);
    return (struct mase_input){ "x", mase_tensor(a, MASE_F32, &shape, false) };
}

/* The [passes] of a configuration, then the graph to dir/saved_mase_graph. */
static enum mase_status transform(struct mase_graph **g, const struct mase_dataset *d,
                                  const char *config, const char *dir, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_value *root;
    const struct mase_input x = sample_of(&a, d);
    struct mase_manager m = { .env = {
                                  .out = stdout, .out_dir = dir, .inputs = &x, .input_count = 1 } };
    enum mase_status st = mase_toml_read(&root, &a, config, err);
    if (!st && !(st = mase_manager_run_all(&m, g, mase_value_get(root, "passes"), err)))
        st = mase_manager_run(&m, g, "save_mase_graph", NULL, err);
    mase_manager_release(&m);
    mase_arena_release(&a);
    return st;
}

static enum mase_status run(struct mase_graph **g, struct mase_dataset **d, int64_t steps,
                            const char *config, const char *dir, struct mase_err *err)
{
    char best[4096];
    snprintf(best, sizeof best, "%s/best.ckpt", dir);
    MASE_TRY(build(*g, err));
    printf("%lld parameters\n", (long long)mase_graph_param_count(*g));
    MASE_TRY(mase_dataset_open(d, "jsc", NULL, err));
    MASE_TRY(train(*g, *d, steps, dir, err));
    MASE_TRY(mase_weights_load(*g, best, err));
    MASE_TRY(test(*g, *d, "float", err));
    MASE_TRY(transform(g, *d, config, dir, err));
    return test(*g, *d, "quantised", err);
}

int main(int argc, char **argv)
{
    if (argc != 4 || atoll(argv[1]) <= 0) {
        fprintf(stderr, "usage: own_network STEPS CONFIG.toml FOLDER\n");
        return 2;
    }
    struct mase_graph *g = mase_graph_new("Test");
    struct mase_dataset *d = NULL;
    struct mase_err err = { 0 };
    const enum mase_status st = run(&g, &d, atoll(argv[1]), argv[2], argv[3], &err);
    if (st)
        mase_err_print(stderr, &err);
    mase_dataset_close(d);
    mase_graph_free(g);
    return st ? 2 : 0;
}
