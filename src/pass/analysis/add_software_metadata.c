/*
 * add_software_metadata.c - a place for statistics beside every argument and result.
 *
 * A layer has entries for its input, its parameters and its buffers (but for the batch counter,
 * which is no statistic's subject); a function has one for each node it reads. The statistics
 * themselves are another pass's work.
 */
#include "base/number.h"
#include "pass/support.h"

static struct mase_meta_stat entry(struct mase_graph *g, const char *name)
{
    return (struct mase_meta_stat){ mase_intern(&g->intern, name), mase_value_table(&g->arena) };
}

static void add_arg(struct mase_graph *g, struct mase_meta *m, const char *name)
{
    m->sw_args[m->sw_arg_count++] = entry(g, name);
}

static void add_data(struct mase_graph *g, struct mase_meta *m, int i)
{
    char name[32];
    mase_snprintf(name, sizeof name, "data_in_%d", i);
    add_arg(g, m, name);
}

/* The parameter name of an argument, if the function's layer has such parameters: weight, bias,
 * running_mean. */
static const char *parameter_name(const struct mase_named_arg *args, int count,
                                  const struct mase_node *input)
{
    for (int i = 0; i < count; i++)
        if (args[i].arg->kind == MASE_ARG_NODE && args[i].arg->node == input)
            return mase_mark_is_data(args[i].role) ? NULL : args[i].name;
    return NULL;
}

static void add_inputs(struct mase_graph *g, struct mase_node *n, struct mase_arena *scratch)
{
    struct mase_named_arg *args;
    bool named = n->meta->type == MASE_TYPE_MODULE_RELATED_FUNC;
    int count = named ? mase_named_args(scratch, n, &args) : 0;
    for (int i = 0, data = 0; i < n->input_count; i++) {
        const char *name = count ? parameter_name(args, count, n->inputs[i]) : NULL;
        if (name)
            add_arg(g, n->meta, name);
        else
            add_data(g, n->meta, data++);
    }
}

static void add_layer(struct mase_graph *g, struct mase_node *n)
{
    const struct mase_module *module = mase_node_module(n);
    add_data(g, n->meta, 0);
    for (int i = 0; i < module->param_count; i++)
        if (!mase_streq(module->params[i].name, "num_batches_tracked"))
            add_arg(g, n->meta, module->params[i].name);
}

static bool has_args(const struct mase_node *n)
{
    return n->kind != MASE_PLACEHOLDER && n->kind != MASE_GET_ATTR;
}

static bool has_results(const struct mase_node *n)
{
    return n->kind != MASE_OUTPUT && n->op != MASE_OP_size;
}

static void describe(struct mase_graph *g, struct mase_node *n, struct mase_arena *scratch)
{
    struct mase_meta *m = n->meta;
    const struct mase_module *module = mase_node_module(n);
    int room = 1 + n->input_count + (module ? module->param_count : 0);
    m->sw_args = mase_new_array(&g->arena, struct mase_meta_stat, (size_t)room);
    m->sw_results = mase_new_array(&g->arena, struct mase_meta_stat, 1);
    m->sw_arg_count = m->sw_result_count = 0;
    m->has_software = true;
    m->sw_has_args = has_args(n);
    m->sw_has_results = has_results(n);
    if (module)
        add_layer(g, n);
    else if (n->kind == MASE_OUTPUT)
        add_data(g, m, 0);
    else if (m->sw_has_args)
        add_inputs(g, n, scratch);
    if (m->sw_has_results)
        m->sw_results[m->sw_result_count++] = entry(g, "data_out_0");
}

static enum mase_status run(const struct mase_graph *graph, const void *opts,
                            struct mase_pass_env *env, struct mase_err *err)
{
    (void)opts, (void)err;
    struct mase_graph *g = mase_side_tables(graph);
    for (struct mase_node *n = g->first; n; n = n->next)
        describe(g, n, env->scratch);
    return MASE_OK;
}

const struct mase_pass mase_pass_add_software_metadata = {
    .name = "add_software_metadata",
    .help = "a place for statistics beside every argument and result",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .gives = MASE_PROP_SOFTWARE,
    .analyse = run,
};
