/*
 * prune_pass.c - set weights to zero, keeping shapes and formats. Training keeps the zeros if its
 * configuration has the same section (train/train_prune.c).
 */
#include <mase/prune.h>

#include "pass/support.h"

static enum mase_status check(const void *options, struct mase_err *err)
{
    struct mase_pruning p;
    return mase_prune_resolve(&p, options, err);
}

/* ---- apply ---- */

/* Writes new tensors: clones of the graph from before the pass keep the old values. */
static void carry_out(struct mase_graph *g, struct mase_prune_target *list, int count)
{
    for (int i = 0; i < count; i++)
        list[i].param->tensor.data = NULL;
    mase_graph_alloc(g);
    for (int i = 0; i < count; i++) {
        float *w = mase_f32(&list[i].param->tensor);
        for (int64_t k = 0; k < list[i].count; k++)
            w[k] = list[i].kept[k] ? list[i].w[k] : 0.0f;
    }
}

static int64_t channels_gone(const struct mase_prune_target *t)
{
    const int64_t per = t->count / t->channels;
    int64_t gone = 0;
    for (int64_t c = 0; c < t->channels; c++) {
        bool kept = false;
        for (int64_t i = c * per; i < (c + 1) * per; i++)
            kept |= t->kept[i];
        gone += !kept;
    }
    return gone;
}

/* Bits of a tensor with a bitmap of zeros: one bit for each value, and the values that are not
 * zero. */
static int64_t packed_bits(const struct mase_prune_target *t, int64_t zeros)
{
    const char mark = t->bias_of < 0 ? 'w' : 'b';
    const int bits = mase_format_bits(mase_mark_rounding(t->node, mark).format);
    return t->count + (t->count - zeros) * bits;
}

struct sums {
    int64_t values, zeros, bits, packed;
};

static void add_row(struct mase_table *t, const struct mase_prune_target *p, struct sums *sum)
{
    const struct mase_sparsity s = mase_tensor_sparsity(&p->param->tensor);
    const char mark = p->bias_of < 0 ? 'w' : 'b';
    const int64_t bits = s.values * mase_format_bits(mase_mark_rounding(p->node, mark).format);
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, p->name);
    mase_table_setf(t, row, 1, "%lld", (long long)s.values);
    mase_table_setf(t, row, 2, "%lld", (long long)s.zeros);
    mase_table_setf(t, row, 3, "%.4f", s.values ? (double)s.zeros / (double)s.values : 0.0);
    mase_table_setf(t, row, 4, "%lld of %lld", (long long)channels_gone(p), (long long)p->channels);
    mase_table_setf(t, row, 5, "%lld", (long long)bits);
    mase_table_setf(t, row, 6, "%lld", (long long)packed_bits(p, s.zeros));
    sum->values += s.values;
    sum->zeros += s.zeros;
    sum->bits += bits;
    sum->packed += packed_bits(p, s.zeros);
}

static void report(struct mase_pass_env *env, const struct mase_prune_target *list, int count)
{
    static const char *const headers[] = { "Parameter",     "Values", "Zeros",       "Sparsity",
                                           "Channels gone", "Bits",   "Packed bits", NULL };
    struct mase_table t = mase_table(env->scratch, headers);
    struct mase_arena *a = mase_pass_arena(env);
    struct mase_value *v = mase_value_table(a);
    struct sums sum = { 0 };
    for (int i = 0; i < count; i++)
        add_row(&t, &list[i], &sum);
    const int row = mase_table_row(&t);
    mase_table_set(&t, row, 0, "total");
    mase_table_setf(&t, row, 1, "%lld", (long long)sum.values);
    mase_table_setf(&t, row, 2, "%lld", (long long)sum.zeros);
    mase_table_setf(&t, row, 3, "%.4f", sum.values ? (double)sum.zeros / (double)sum.values : 0.0);
    mase_table_setf(&t, row, 5, "%lld", (long long)sum.bits);
    mase_table_setf(&t, row, 6, "%lld", (long long)sum.packed);
    mase_pass_show(env, "Pruned weights:\n", &(struct mase_sheet){ .key = "prune", .table = t },
                   NULL, NULL);
    mase_value_set(a, v, "values", mase_value_int(a, sum.values));
    mase_value_set(a, v, "zeros", mase_value_int(a, sum.zeros));
    mase_value_set(a, v, "sparsity",
                   mase_value_float(a, sum.values ? (double)sum.zeros / (double)sum.values : 0.0));
    mase_pass_note(env, "prune", v);
}

static enum mase_status run(struct mase_graph **g, const void *options, struct mase_pass_env *env,
                            struct mase_err *err)
{
    struct mase_pruning p;
    struct mase_prune_target *list;
    int count;
    MASE_TRY(mase_prune_resolve(&p, options, err));
    if (p.method == MASE_PRUNE_MOVEMENT)
        return mase_fail(err, MASE_EVALUE,
                         "movement is a matter of training: ch train prunes by it; a pass by "
                         "random, l1-norm or l2-norm");
    MASE_TRY(mase_prune_targets(&list, &count, env->scratch, *g, &p, err));
    for (int i = 0; i < count; i++) {
        if (!list[i].param->tensor.data)
            return mase_fail(err, MASE_EVALUE, "%s has no values to prune", list[i].name);
        list[i].w = mase_f32(&list[i].param->tensor);
    }
    mase_prune_masks(list, count, &p, 1.0, env->seed);
    carry_out(*g, list, count);
    report(env, list, count);
    return MASE_OK;
}

const struct mase_pass mase_pass_prune = {
    .name = "prune",
    .help = "set weights, or whole channels, to zero",
    .keeps = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = mase_prune_rows,
    .opts_size = sizeof(struct mase_prune_opts),
    .check = check,
    .transform = run,
};
