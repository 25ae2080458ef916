/*
 * infer.c - our side of bench/infer: predictions a second, by the library's own call.
 *
 *     infer NETWORK DATASET BATCH THREADS SECONDS [FORMATS [int]]    samples a second
 *     infer NETWORK DATASET                "PARAMETERS MULTIPLICATIONS" of a sample
 *
 * NETWORK is one of ours, with the weights of seed 0, an ONNX file or a saved folder (with a
 * slash). FORMATS is the section [passes.quantize] of a configuration: the numbers that are
 * emulated, or with int computed in integers; "-" leaves the network as it is.
 *
 * The samples are random numbers in a table that does not fit into the nearest cache. No dataset is
 * read: only the shape of its samples matters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/data.h>
#include <mase/onnx.h>
#include <mase/pass.h>
#include <mase/progress.h>
#include <mase/saved.h>
#include <mase/train.h>
#include <mase/zoo.h>

enum { TABLE_VALUES = 1 << 20 };

/* Products of the linear layers; convolutions are not counted. */
static int64_t multiplications(const struct mase_graph *g)
{
    int64_t n = 0;
    for (const struct mase_module *m = g->modules; m; m = m->next) {
        const struct mase_param *w = mase_module_param(m, "weight");
        if (w && w->tensor.shape.rank == 2)
            n += mase_shape_count(&w->tensor.shape);
    }
    return n;
}

static float *random_table(void)
{
    float *x = malloc(TABLE_VALUES * sizeof(*x));
    uint32_t state = 1;
    if (!x)
        exit(1);
    for (int i = 0; i < TABLE_VALUES; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) * 0x1p-23f - 1;
    }
    return x;
}

/* Batches one after the other through the table, for so long; a tenth of it first, to warm up. */
static enum mase_status measure(struct mase_predictor *p, int64_t features, int64_t batch,
                                double seconds, struct mase_err *err)
{
    float *x = random_table();
    float *y = malloc((size_t)(batch * mase_predictor_outputs(p)) * sizeof(*y));
    enum mase_status st = MASE_OK;
    double rate = 0;
    for (int warm = 0; warm < 2 && !st && y; warm++) {
        const uint64_t start = mase_clock(), limit = (uint64_t)(seconds * (warm ? 1e9 : 1e8));
        int64_t samples = 0, at = 0;
        while (!st && mase_clock() - start < limit) {
            for (int i = 0; i < 16 && !st; i++, samples += batch) {
                st = mase_predictor_run(p, y, x + at, batch, err);
                at += batch * features;
                if (at + batch * features > TABLE_VALUES)
                    at = 0;
            }
        }
        rate = (double)samples / ((double)(mase_clock() - start) * 1e-9);
    }
    if (!st)
        printf("%.0f\n", rate);
    free(x);
    free(y);
    return st;
}

static enum mase_status predict(struct mase_graph *g, const struct mase_shape *sample, char **argv,
                                bool exact, struct mase_err *err)
{
    struct mase_predictor *p;
    const struct mase_predictor_opts opts = { .batch = strtol(argv[3], NULL, 10),
                                              .threads = (int)strtol(argv[4], NULL, 10),
                                              .engine = mase_engine_find(exact ? "int" : "float") };
    if (opts.batch < 1 || opts.batch * mase_shape_count(sample) > TABLE_VALUES)
        return mase_fail(err, MASE_ELIMIT, "batch %s: a batch has at most %d values", argv[3],
                         TABLE_VALUES);
    MASE_TRY(mase_predictor_new(&p, g, sample, &opts, err));
    const enum mase_status st =
        measure(p, mase_shape_count(sample), opts.batch, strtod(argv[5], NULL), err);
    mase_predictor_free(p);
    return st;
}

/* Steps that training would learn: their size does not matter here, only that they are there. */
static void set_learned(struct mase_graph *g)
{
    for (int k = 0; k < g->attr_count; k++) {
        const struct mase_tensor *t = &g->attrs[k].tensor;
        float *v = t->data;
        for (int64_t i = 0; g->attrs[k].init == MASE_INIT_UNSET && i < mase_tensor_count(t); i++)
            v[i] = 0x1p-4f;
    }
}

static enum mase_status quantise(struct mase_graph **g, const struct mase_shape *sample,
                                 const char *formats, struct mase_err *err)
{
    const struct mase_shape one = { 2, { 1, mase_shape_count(sample) } };
    struct mase_arena arena = { 0 };
    struct mase_input input = { .name = "x", .tensor = mase_tensor(&arena, MASE_F32, &one, false) };
    FILE *nowhere = fopen("/dev/null", "w"); /* for the pass's summary */
    struct mase_manager m = { .env = { .out = nowhere, .inputs = &input, .input_count = 1 } };
    struct mase_value *options;
    enum mase_status st =
        mase_toml_parse(&options, &arena, formats, strlen(formats), "FORMATS", err);
    if (!st)
        st = mase_manager_run(&m, g, "quantize", options, err);
    set_learned(*g);
    mase_manager_release(&m);
    mase_arena_release(&arena);
    if (nowhere)
        fclose(nowhere);
    return st;
}

static enum mase_status read_network(struct mase_graph **g, const char *name,
                                     const struct mase_data_info *data, struct mase_err *err)
{
    const struct mase_model *model;
    const char *end = strrchr(name, '.');
    if (end && strcmp(end, ".onnx") == 0)
        return mase_onnx_read(g, NULL, name, NULL, err);
    if (strchr(name, '/'))
        return mase_graph_load(g, name, NULL, err);
    MASE_TRY(mase_zoo_find(&model, name, err));
    MASE_TRY(model->build(g, data, err));
    mase_graph_alloc(*g);
    mase_graph_init_weights(*g, 0);
    return MASE_OK;
}

static enum mase_status run(int argc, char **argv, struct mase_err *err)
{
    const struct mase_data_info *data;
    struct mase_graph *g;
    enum mase_status st = MASE_OK;
    MASE_TRY(mase_data_find(&data, argv[2], err));
    MASE_TRY(read_network(&g, argv[1], data, err));
    if (argc == 3)
        printf("%lld %lld\n", (long long)mase_graph_param_count(g), (long long)multiplications(g));
    else if (argc == 6 || strcmp(argv[6], "-") == 0 ||
             !(st = quantise(&g, &data->sample, argv[6], err)))
        st = predict(g, &data->sample, argv, argc == 8, err);
    mase_graph_free(g);
    return st;
}

int main(int argc, char **argv)
{
    struct mase_err err = { 0 };
    if (argc != 3 && argc != 6 && argc != 7 && !(argc == 8 && strcmp(argv[7], "int") == 0)) {
        fprintf(stderr, "usage: infer NETWORK DATASET [BATCH THREADS SECONDS [FORMATS|- [int]]]\n");
        return 2;
    }
    if (!run(argc, argv, &err))
        return 0;
    mase_err_print(stderr, &err);
    return 2;
}
