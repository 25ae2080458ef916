/*
 * growth.c - our side of bench/growth: what long networks cost.
 *
 *     growth NODES TURNS
 *
 * A chain of linear layers, functions and sums of 16 features, so many nodes long. Prints, for
 * every turn, the milliseconds of the processor that it takes to read it from text, to quantise it
 * by the pass, to plan it for evaluation, to plan it for training, and to profile it over 64
 * samples; at the end the kilobytes of memory that the process had at most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/resource.h>

#include <mase/log.h>
#include <mase/pass.h>
#include <mase/plan.h>

enum { FEATURES = 16, SAMPLES = 64 };

/* Every fourth node is a layer. */
static void write_chain(struct mase_str *out, long nodes)
{
    static const char *const calls[] = { "torch.relu", "torch.tanh", "torch.add" };
    mase_str_add(out, "mase-graph 1\nname chain\n\n");
    for (long i = 0; i < nodes; i += 4)
        mase_str_printf(out, "module m%ld = Linear(in_features=16, out_features=16, bias=True)\n",
                        i);
    mase_str_add(out, "\n%x = placeholder[target=x]\n");
    for (long i = 0; i < nodes; i++) {
        char last[32] = "x";
        if (i)
            snprintf(last, sizeof last, "n%ld", i - 1);
        if (i % 4 == 0)
            mase_str_printf(out, "%%n%ld = call_module[target=m%ld](args = (%%%s,), kwargs = {})\n",
                            i, i, last);
        else
            mase_str_printf(out,
                            "%%n%ld = call_function[target=%s](args = (%%%s,%s), kwargs = {})\n", i,
                            calls[i % 4 - 1], last, i % 4 == 3 ? " %x" : "");
    }
    mase_str_printf(out, "return %%n%ld\n", nodes - 1);
}

struct bench {
    struct mase_arena arena;
    struct mase_str text;
    struct mase_graph *g;
    struct mase_input input;
    float *samples;
    FILE *out; /* what passes print */
};

static enum mase_status read_text(struct bench *b, struct mase_err *err)
{
    MASE_TRY(mase_graph_parse_mg(&b->g, mase_str_text(&b->text), b->text.len, "chain", err));
    mase_graph_alloc(b->g);
    mase_graph_init_weights(b->g, 0);
    return MASE_OK;
}

static enum mase_status plan(struct bench *b, bool train, struct mase_err *err)
{
    const struct mase_plan_opts o = {
        .batch = SAMPLES, .train = train, .inputs = &b->input, .input_count = 1
    };
    struct mase_plan *p;
    MASE_TRY(mase_plan_new(&p, b->g, &o, err));
    mase_plan_free(p);
    return MASE_OK;
}

static enum mase_status evaluate(struct bench *b, struct mase_err *err)
{
    return plan(b, false, err);
}

static enum mase_status train(struct bench *b, struct mase_err *err)
{
    return plan(b, true, err);
}

/* ---- passes ---- */

static enum mase_status count_rows(void *data, const char *split, int64_t *count,
                                   struct mase_err *err)
{
    (void)data, (void)split, (void)err;
    *count = SAMPLES;
    return MASE_OK;
}

static enum mase_status read_rows(void *data, const char *split, int64_t first, int64_t n, float *x,
                                  struct mase_err *err)
{
    (void)split, (void)err;
    const struct bench *b = data;
    memcpy(x, b->samples + first * FEATURES, (size_t)(n * FEATURES) * sizeof *x);
    return MASE_OK;
}

static enum mase_status run_pass(struct bench *b, const char *pass, const char *toml,
                                 struct mase_err *err)
{
    const struct mase_samples samples = { count_rows, read_rows, 0, b, NULL };
    struct mase_manager m = {
        .env = { .out = b->out, .inputs = &b->input, .input_count = 1, .samples = &samples }
    };
    struct mase_value *options;
    MASE_TRY(mase_toml_parse(&options, &b->arena, toml, strlen(toml), "bench", err));
    const enum mase_status st = mase_manager_run(&m, &b->g, pass, options, err);
    mase_manager_release(&m);
    return st;
}

static enum mase_status quantise(struct bench *b, struct mase_err *err)
{
    return run_pass(b, "quantize",
                    "by = 'type'\ndefault.config.name = 'NA'\n"
                    "linear.config = { name = 'integer', data_in_width = 8, data_in_frac_width = "
                    "4, weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width "
                    "= 4 }\n",
                    err);
}

static enum mase_status profile(struct bench *b, struct mase_err *err)
{
    return run_pass(b, "profile_statistics",
                    "target_activation_nodes = 'all'\nprofile_output_activation = true\n"
                    "activation_statistics.range_min_max = {}\n"
                    "activation_statistics.variance_online = {}\n",
                    err);
}

/* ---- turns ---- */

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static enum mase_status turn(struct bench *b, struct mase_err *err)
{
    static enum mase_status (*const work[])(
        struct bench *, struct mase_err *) = { read_text, quantise, evaluate, train, profile };
    enum mase_status st = MASE_OK;
    for (size_t i = 0; i < sizeof work / sizeof *work && !st; i++) {
        const double start = milliseconds();
        st = work[i](b, err);
        printf("%s%.3f", i ? " " : "", milliseconds() - start);
    }
    printf("\n");
    mase_graph_free(b->g);
    b->g = NULL;
    return st;
}

int main(int argc, char **argv)
{
    struct mase_err err = { 0 };
    struct bench b = { 0 };
    struct rusage usage;
    const long nodes = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    enum mase_status st = MASE_OK;
    if (nodes < 1) {
        fprintf(stderr, "usage: growth NODES TURNS\n");
        return 2;
    }
    mase_log_set_level(MASE_ERROR);
    const struct mase_shape shape = { 2, { SAMPLES, FEATURES } };
    b.input =
        (struct mase_input){ .name = "x", .tensor = mase_tensor(&b.arena, MASE_F32, &shape, true) };
    b.samples = mase_f32(&b.input.tensor);
    for (int i = 0; i < SAMPLES * FEATURES; i++)
        b.samples[i] = (float)(i % 37 - 18) / 16;
    b.out = fopen("/dev/null", "w");
    if (!b.out)
        return 2;
    write_chain(&b.text, nodes);
    for (long i = strtol(argv[2], NULL, 10); i > 0 && !st; i--)
        st = turn(&b, &err);
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss);
    if (st)
        mase_err_print(stderr, &err);
    fclose(b.out);
    mase_str_release(&b.text);
    mase_arena_release(&b.arena);
    return st ? 2 : 0;
}
