/*
 * own_pass.c - a pass of your own: how many weights of each layer are nearly zero.
 *
 *     cc -std=c17 -shared -fPIC $(pkg-config --cflags mase) own_pass.c -o libown_pass.so
 *     ch passes small_weights --plugin ./libown_pass.so
 *     ch transform --config c.toml --plugin ./libown_pass.so
 *
 * with a section in c.toml:
 *
 *     [passes.small_weights]
 *     threshold = 0.05
 *
 * The schema below gives the section its checks and `ch passes` its help; what the pass puts into
 * env->info is in run.json under its name.
 */
#include <math.h>

#include <mase/plugin.h>
#include <mase/table.h>

struct options {
    double threshold;
    bool buffers;
};

struct count {
    const struct options *options;
    struct mase_table table;
    struct mase_value *info; /* by parameter; NULL: nobody wants it */
    struct mase_arena *info_arena;
    int64_t small, total;
};

static bool count_param(const char *full, struct mase_param *p, void *data)
{
    struct count *c = data;
    const int64_t n = mase_tensor_count(&p->tensor);
    int64_t small = 0;
    if (mase_param_is_buffer(p) && !c->options->buffers)
        return true;
    for (int64_t i = 0; p->tensor.data && i < n; i++)
        small += fabs(mase_tensor_get(&p->tensor, i)) < c->options->threshold;
    const int row = mase_table_row(&c->table);
    mase_table_set(&c->table, row, 0, full);
    mase_table_setf(&c->table, row, 1, "%lld", (long long)n);
    mase_table_setf(&c->table, row, 2, "%lld", (long long)small);
    if (c->info)
        mase_value_set(c->info_arena, c->info, full, mase_value_int(c->info_arena, small));
    c->small += small;
    c->total += n;
    return true;
}

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    static const char *const headers[] = { "Parameter", "Values", "Small", NULL };
    struct count c = { .options = options,
                       .table = mase_table(env->scratch, headers),
                       .info_arena = env->info_arena };
    if (!g->weights)
        return mase_fail(err, MASE_EVALUE, "the network has no weights yet");
    if (env->info)
        c.info = mase_value_set(env->info_arena, env->info, "small_weights",
                                mase_value_table(env->info_arena));
    mase_graph_each_param(g, count_param, &c);
    mase_pass_put_table(env, &(struct mase_sheet){ .key = "small_weights", .table = c.table });
    mase_pass_say(env, "%lld of %lld values are below %g\n", (long long)c.small, (long long)c.total,
                  c.options->threshold);
    return MASE_OK;
}

static const struct mase_opt rows[] = {
    MASE_OPT_FLOAT(struct options, threshold, "threshold", 0.01, 0, 0x1p53,
                   "values of less than this size are small"),
    MASE_OPT_BOOL(struct options, buffers, "buffers", false,
                  "count running means and variances, too"),
    { 0 },
};

static const struct mase_pass small_weights = {
    .name = "small_weights",
    .help = "count the weights of each layer that are nearly zero",
    .opts = rows,
    .opts_size = sizeof(struct options),
    .analyse = run,
};

MASE_PLUGIN("own_pass", &small_weights);
