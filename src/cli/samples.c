/*
 * samples.c - the dataset for passes: its shape, and its samples, for which it is opened when a
 * pass first needs them.
 */
#include "cli/project.h"

/* Samples of the open dataset. */
static struct mase_samples opened(const struct mase_cli_samples *s)
{
    return mase_work_samples(s->dataset, s->source.batch_size);
}

static enum mase_status count_samples(void *data, const char *split, int64_t *count,
                                      struct mase_err *err)
{
    struct mase_cli_samples *s = data;
    if (!s->dataset)
        MASE_TRY(mase_work_open_data(&s->dataset, s->work, err));
    const struct mase_samples samples = opened(s);
    return samples.count(samples.data, split, count, err);
}

static enum mase_status read_samples(void *data, const char *split, int64_t first, int64_t n,
                                     float *x, struct mase_err *err)
{
    int64_t count;
    MASE_TRY(count_samples(data, split, &count, err));
    const struct mase_samples samples = opened(data);
    return samples.read(samples.data, split, first, n, x, err);
}

static bool lend_samples(void *data, const char *split, int64_t first,
                         struct mase_sample_rows *rows)
{
    const struct mase_samples samples = opened(data);
    return samples.lend(samples.data, split, first, rows);
}

void mase_cli_samples_init(struct mase_cli_samples *s, struct mase_cli *c, struct mase_opened *w)
{
    *s = (struct mase_cli_samples){
        .work = w,
        .source = { .count = count_samples,
                    .read = read_samples,
                    .lend = lend_samples,
                    .batch_size = mase_cli_value(c, MASE_CLI_batch_size)->i,
                    .data = s },
    };
}

void mase_cli_manager_init(struct mase_manager *m, struct mase_cli *c, struct mase_cli_samples *s,
                           struct mase_opened *w)
{
    struct mase_arena *a = &c->arena;
    mase_cli_samples_init(s, c, w);
    m->verify = mase_cli_flag(c, MASE_CLI_to_debug);
    m->timings = mase_value_list(a);
    m->env = (struct mase_pass_env){
        .samples = &s->source,
        .seed = (uint64_t)mase_cli_value(c, MASE_CLI_seed)->i,
        .info = mase_value_table(a),
        .info_arena = a,
        .files = mase_value_list(a),
    };
}

void mase_cli_samples_close(struct mase_cli_samples *s)
{
    mase_dataset_close(s->dataset);
    s->dataset = NULL;
}

void mase_cli_sample_inputs(struct mase_pass_env *env, struct mase_arena *a,
                            const struct mase_graph *g, const struct mase_shape *sample)
{
    const struct mase_inputs in = mase_graph_inputs(a, g, sample, 1);
    env->inputs = in.item;
    env->input_count = in.count;
}
