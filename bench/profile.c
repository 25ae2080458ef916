/*
 * profile.c - our side of bench/profile: statistics of all activations beside a plain forward pass.
 *
 *     profile NETWORK ROWS TURNS
 *
 * Prints, for every turn, the nanoseconds of the processor that a sample takes to predict and to
 * profile, one after the other over the same rows of jsc-sim; at the end the kilobytes that the
 * first profile added to the most memory the process had. Profiling is the pass with min/max,
 * variance and histogram of what every node reads and computes; predicting is the library's call.
 * Each by batches of its own choice, on one thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/resource.h>

#include <mase/dataset.h>
#include <mase/log.h>
#include <mase/pass.h>
#include <mase/train.h>
#include <mase/zoo.h>

static const char args[] = "target_activation_nodes = 'all'\n"
                           "profile_output_activation = true\n"
                           "activation_statistics.range_min_max = {}\n"
                           "activation_statistics.variance_online = {}\n"
                           "activation_statistics.histogram = {}\n";

struct bench {
    struct mase_arena arena;
    struct mase_graph *g;
    struct mase_dataset *data;
    struct mase_table_view table;
    int64_t rows, features;
};

static enum mase_status count_rows(void *data, const char *split, int64_t *count,
                                   struct mase_err *err)
{
    (void)split, (void)err;
    *count = ((const struct bench *)data)->rows;
    return MASE_OK;
}

static enum mase_status read_rows(void *data, const char *split, int64_t first, int64_t n, float *x,
                                  struct mase_err *err)
{
    (void)split, (void)err;
    const struct bench *b = data;
    memcpy(x, b->table.data + first * b->features, (size_t)(n * b->features) * sizeof *x);
    return MASE_OK;
}

static bool lend_rows(void *data, const char *split, int64_t first, struct mase_sample_rows *rows)
{
    (void)split;
    const struct bench *b = data;
    *rows = (struct mase_sample_rows){ b->table.data + first * b->features, b->features, NULL };
    return true;
}

static enum mase_status predict(struct bench *b, struct mase_err *err)
{
    const struct mase_shape *sample = &mase_dataset_info(b->data)->data.sample;
    struct mase_predictor *p;
    enum mase_status st = MASE_OK;
    MASE_TRY(mase_predictor_new(&p, b->g, sample, NULL, err));
    const int64_t batch = mase_predictor_batch(p);
    float *y = malloc((size_t)(batch * mase_predictor_outputs(p)) * sizeof *y);
    for (int64_t at = 0; y && at < b->rows && !st; at += batch) {
        const int64_t n = b->rows - at < batch ? b->rows - at : batch;
        st = mase_predictor_run(p, y, b->table.data + at * b->features, n, err);
    }
    free(y);
    mase_predictor_free(p);
    return st;
}

static enum mase_status profile(struct bench *b, struct mase_err *err)
{
    const struct mase_samples samples = { count_rows, read_rows, 0, b, lend_rows };
    const struct mase_shape shape = { 2, { 1, b->features } };
    struct mase_input input = { .name = "x",
                                .tensor = mase_tensor(&b->arena, MASE_F32, &shape, false) };
    struct mase_manager m = {
        .env = { .out = stdout, .inputs = &input, .input_count = 1, .samples = &samples }
    };
    struct mase_value *options;
    MASE_TRY(mase_toml_parse(&options, &b->arena, args, strlen(args), "bench", err));
    const enum mase_status st = mase_manager_run(&m, &b->g, "profile_statistics", options, err);
    mase_manager_release(&m);
    return st;
}

static long peak_memory(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* Of the processor: on one thread that is the time it takes where nobody else works. */
static double nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds per row. */
static enum mase_status timed(enum mase_status (*f)(struct bench *, struct mase_err *),
                              struct bench *b, double *ns, struct mase_err *err)
{
    const double start = nanoseconds();
    MASE_TRY(f(b, err));
    *ns = (nanoseconds() - start) / (double)b->rows;
    return MASE_OK;
}

static enum mase_status run(struct bench *b, const char *network, long turns, struct mase_err *err)
{
    const struct mase_model *model;
    const struct mase_dataset_opts opts = { .sim_rows = b->rows };
    MASE_TRY(mase_zoo_find(&model, network, err));
    MASE_TRY(mase_dataset_open(&b->data, "jsc-sim", &opts, err));
    MASE_TRY(model->build(&b->g, &mase_dataset_info(b->data)->data, err));
    mase_graph_alloc(b->g);
    mase_graph_init_weights(b->g, 0);
    b->table = mase_dataset_table(b->data);
    b->features = b->table.stride;
    MASE_TRY(predict(b, err)); /* warm */
    const long before = peak_memory();
    long added = 0;
    for (long i = 0; i < turns; i++) {
        double forward, all;
        MASE_TRY(timed(predict, b, &forward, err));
        MASE_TRY(timed(profile, b, &all, err));
        added = i ? added : peak_memory() - before; /* the results stay in the graph */
        printf("%.1f %.1f\n", forward, all);
    }
    printf("%ld\n", added);
    return MASE_OK;
}

int main(int argc, char **argv)
{
    struct mase_err err = { 0 };
    struct bench b = { 0 };
    if (argc != 4) {
        fprintf(stderr, "usage: profile NETWORK ROWS TURNS\n");
        return 2;
    }
    mase_log_set_level(MASE_ERROR);
    b.rows = strtol(argv[2], NULL, 10);
    const enum mase_status st = run(&b, argv[1], strtol(argv[3], NULL, 10), &err);
    if (st)
        mase_err_print(stderr, &err);
    mase_graph_free(b.g);
    mase_dataset_close(b.data);
    mase_arena_release(&b.arena);
    return st ? 2 : 0;
}
