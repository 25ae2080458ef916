/*
 * samples.c - the dataset as passes see it: opened when the first one asks for samples, and the
 * shape of one for those that need no more.
 */
#include <string.h>

#include "cli/project.h"

static enum mase_split split_of(const char *name)
{
    int i = 0;
    while (i < MASE_SPLIT_COUNT && !mase_streq(mase_split_names[i], name))
        i++;
    if (i == MASE_SPLIT_COUNT)
        mase_bug("no split is called '%s'", name);
    return (enum mase_split)i;
}

static enum mase_status count_samples(void *data, const char *split, int64_t *count,
                                      struct mase_err *err)
{
    struct mase_cli_samples *s = data;
    if (!s->dataset)
        MASE_TRY(mase_work_open_data(&s->dataset, s->work, err));
    *count = mase_dataset_split(s->dataset, split_of(split)).count;
    if (*count == 0)
        return mase_fail(err, MASE_EVALUE, "the %s split of %s is empty", split,
                         mase_dataset_info(s->dataset)->data.name);
    return MASE_OK;
}

static enum mase_status read_samples(void *data, const char *split, int64_t first, int64_t n,
                                     float *x, struct mase_err *err)
{
    struct mase_cli_samples *s = data;
    int64_t count;
    MASE_TRY(count_samples(data, split, &count, err));
    if (first < 0 || n < 0 || n > count - first)
        mase_bug("samples %lld to %lld of %lld", (long long)first, (long long)(first + n),
                 (long long)count);
    const struct mase_data_info *info = &mase_dataset_info(s->dataset)->data;
    mase_dataset_batch(s->dataset,
                       &(struct mase_batch){
                           .row = mase_dataset_split(s->dataset, split_of(split)).row + first,
                           .n = n,
                           .x = x,
                           .feature_stride = 1,
                           .sample_stride = mase_data_features(info),
                       });
    return MASE_OK;
}

static bool lend_samples(void *data, const char *split, int64_t first,
                         struct mase_sample_rows *rows)
{
    const struct mase_cli_samples *s = data;
    const struct mase_table_view table = mase_dataset_table(s->dataset);
    if (!table.data)
        return false;
    *rows =
        (struct mase_sample_rows){ table.data, table.stride,
                                   mase_dataset_split(s->dataset, split_of(split)).row + first };
    return true;
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
