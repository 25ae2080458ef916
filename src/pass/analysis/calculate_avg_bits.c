/*
 * calculate_avg_bits.c - bits per value of the layers that multiply: linear, convolutions of any
 * kind, and the recurrent ones.
 *
 * An average over values, not layers: their number decides the weight of each width. A float
 * has 32. What a block of values shares, such as an exponent, is spread over them.
 */
#include <mase/log.h>
#include <mase/program.h>

#include "pass/support.h"

struct average {
    double bits;
    int64_t values;
};

static void add(struct average *a, const struct mase_node *n, const struct mase_meta_arg *arg)
{
    if (!arg)
        return;
    a->bits += (double)mase_format_stored_bits(arg->format, &arg->shape,
                                               mase_named_rounding(n, arg->name).role);
    a->values += mase_shape_count(&arg->shape);
}

static double mean(const struct average *a)
{
    return a->bits / (double)a->values;
}

static bool counts(const struct mase_node *n)
{
    const enum mase_prim prim = mase_op_prim(n->op);
    return n->op == MASE_OP_linear || prim == MASE_PRIM_conv || prim == MASE_PRIM_recur;
}

/* Add the weight of a call, or of a layer; a recurrent layer has several. */
static void add_weights(struct average *a, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (!m)
        add(a, n, mase_meta_arg(n->meta, "weight"));
    for (int i = 0; m && i < m->param_count; i++)
        if (mase_param_mark(m, &m->params[i]) == 'w')
            add(a, n, mase_meta_arg(n->meta, m->params[i].name));
}

/* Print a sentence, or a table if a format is given. */
static void show(struct mase_pass_env *env, const struct mase_average_bits *bits)
{
    static const char *const headers[] = { "Values", "Average bits", NULL };
    if (!env->sheets || env->sheets->format == MASE_SHEET_TEXT) {
        mase_pass_say(env, "average bits: data_in %.6g, weight %.6g, both %.6g\n", bits->data,
                      bits->weight, bits->all);
        return;
    }
    struct mase_table t = mase_table(env->scratch, headers);
    mase_table_add(&t, (const char *[]){ "data_in", "" });
    mase_table_add(&t, (const char *[]){ "weight", "" });
    mase_table_add(&t, (const char *[]){ "both", "" });
    mase_table_setf(&t, 0, 1, "%.9g", bits->data);
    mase_table_setf(&t, 1, 1, "%.9g", bits->weight);
    mase_table_setf(&t, 2, 1, "%.9g", bits->all);
    mase_pass_put_table(env, &(struct mase_sheet){ .key = "calculate_avg_bits", .table = t });
}

static void note(struct mase_pass_env *env, const struct mase_average_bits *bits)
{
    struct mase_arena *a = env->info_arena;
    if (!env->info)
        return;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "data_avg_bit", mase_value_float(a, bits->data));
    mase_value_set(a, v, "w_avg_bit", mase_value_float(a, bits->weight));
    mase_value_set(a, v, "avg_bit", mase_value_float(a, bits->all));
    mase_pass_note(env, "calculate_avg_bits", v);
}

bool mase_average_bits(struct mase_average_bits *out, const struct mase_graph *g)
{
    struct average data = { 0 }, weight = { 0 };
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (counts(n)) {
            add(&data, n, mase_meta_arg(n->meta, "data_in_0"));
            add_weights(&weight, n);
        }
    if (!data.values || !weight.values)
        return false;
    const struct average all = { data.bits + weight.bits, data.values + weight.values };
    *out = (struct mase_average_bits){ mean(&data), mean(&weight), mean(&all) };
    return true;
}

static enum mase_status run(const struct mase_graph *g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    struct mase_average_bits bits;
    (void)opts, (void)err;
    if (!mase_average_bits(&bits, g)) {
        mase_warn("calculate_avg_bits: the network has no linear, convolution or recurrent layer");
        return MASE_OK;
    }
    show(env, &bits);
    note(env, &bits);
    return MASE_OK;
}

const struct mase_pass mase_pass_calculate_avg_bits = {
    .name = "calculate_avg_bits",
    .help = "average width of weights and inputs of linear, convolution and recurrent layers",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .analyse = run,
};
