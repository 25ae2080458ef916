/*
 * profile_statistics.c - statistics of parameters and activations.
 *
 * Targets are nodes, named or by operation. A weight target's parameters and buffers are measured
 * once; an activation target's inputs (and its output, if asked) over samples of the dataset. The
 * network runs in evaluation mode unless asked for the other, and with weights of its own, so that
 * looking at it changes nothing. Results join the software metadata, statistic by statistic: a
 * second profile adds to the first.
 *
 * An argument is measured by its name: the inputs of a layer are activations and its parameters are
 * weights, whichever list it stands in.
 */
#include <string.h>

#include <mase/log.h>

#include "pass/analysis/profiler.h"
#include "pass/support.h"

struct profile_opts {
    const char *by;
    const struct mase_value *weight_nodes, *activation_nodes;
    const struct mase_value *weight_stats, *activation_stats;
    int64_t num_samples, batch_size, max_values;
    const char *split, *mode;
    bool outputs;
};

struct profile {
    const struct profile_opts *o;
    struct mase_pass_env *env;
    struct mase_graph *g;
    struct mase_stat_budget budget;
    struct mase_profiler profiler;
};

/* ---- options ---- */

static bool is_all(const struct mase_value *targets)
{
    return targets && targets->kind == MASE_STRING && mase_streq(targets->s, "all");
}

static enum mase_status unknown_op(const struct mase_value *name, struct mase_err *err)
{
    const char *names[MASE_OP_COUNT];
    for (int i = 1; i < MASE_OP_COUNT; i++)
        names[i - 1] = mase_ops[i].name;
    return mase_fail_unknown(err, name->at,
                             &(struct mase_unknown){ name->s, names, MASE_OP_COUNT - 1,
                                                     .before = ": did you mean '",
                                                     .otherwise = "; 'ch ops' lists them" },
                             "no operation is called '%s'", name->s);
}

static enum mase_status check_targets(const struct profile_opts *o,
                                      const struct mase_value *targets, const char *key,
                                      struct mase_err *err)
{
    if (!targets || is_all(targets))
        return MASE_OK;
    if (targets->kind != MASE_LIST)
        return mase_fail_at(err, MASE_EVALUE, targets->at,
                            "%s must be a list of names or \"all\", not %s", key,
                            mase_value_kind_names[targets->kind]);
    for (int i = 0; i < targets->count; i++) {
        const struct mase_value *name = targets->items[i];
        if (name->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EVALUE, name->at, "%s must hold strings, not %s", key,
                                mase_value_kind_names[name->kind]);
        if (mase_streq(o->by, "type") && mase_op_find(name->s) == MASE_OP_unknown)
            return unknown_op(name, err);
    }
    return MASE_OK;
}

static enum mase_status make_stats(struct mase_stat **stats, struct mase_arena *a,
                                   const struct mase_value *table, struct mase_stat_budget *budget,
                                   struct mase_err *err)
{
    for (int i = 0; table && i < table->count; i++)
        MASE_TRY(mase_stat_new(&stats[i], a, table->keys[i], table->key_at[i], table->items[i],
                               budget, err));
    return MASE_OK;
}

static enum mase_status check_stats(const struct mase_value *table, const char *key,
                                    struct mase_err *err)
{
    struct mase_arena a = { 0 };
    if (table && table->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, table->at, "%s must be a table, not %s", key,
                            mase_value_kind_names[table->kind]);
    const size_t count = table ? (size_t)table->count : 0;
    enum mase_status st =
        make_stats(mase_new_array(&a, struct mase_stat *, count), &a, table, NULL, err);
    mase_arena_release(&a);
    return st;
}

static enum mase_status check(const void *options, struct mase_err *err)
{
    const struct profile_opts *o = options;
    MASE_TRY(check_targets(o, o->weight_nodes, "target_weight_nodes", err));
    MASE_TRY(check_targets(o, o->activation_nodes, "target_activation_nodes", err));
    MASE_TRY(check_stats(o->weight_stats, "weight_statistics", err));
    return check_stats(o->activation_stats, "activation_statistics", err);
}

/* ---- which arguments ---- */

static bool is_target(const struct profile_opts *o, const struct mase_value *targets,
                      const struct mase_node *n)
{
    const char *name = mase_streq(o->by, "type") ? mase_ops[n->op].name : n->name;
    for (int i = 0; targets && targets->kind == MASE_LIST && i < targets->count; i++)
        if (mase_streq(targets->items[i]->s, name))
            return true;
    return is_all(targets);
}

static enum mase_status unknown_node(const struct profile *p, const struct mase_value *name,
                                     struct mase_err *err)
{
    const char **names = mase_new_array(p->env->scratch, const char *, (size_t)p->g->node_count);
    int n = 0;
    for (const struct mase_node *node = p->g->first; node; node = node->next)
        names[n++] = node->name;
    return mase_fail_unknown(err, name->at,
                             &(struct mase_unknown){ name->s, names, n,
                                                     .before = ": did you mean '",
                                                     .otherwise = "; report_graph prints them" },
                             "no node is called '%s'", name->s);
}

/* Every name must be in the graph; an operation that the graph does not use is warned of. */
static enum mase_status check_in_graph(const struct profile *p, const struct mase_value *targets,
                                       struct mase_err *err)
{
    for (int i = 0; targets && targets->kind == MASE_LIST && i < targets->count; i++) {
        const struct mase_value *name = targets->items[i];
        bool found = false;
        if (mase_streq(p->o->by, "name")) {
            if (!mase_graph_find(p->g, name->s))
                return unknown_node(p, name, err);
            continue;
        }
        for (const struct mase_node *n = p->g->first; n && !found; n = n->next)
            found = mase_streq(mase_ops[n->op].name, name->s);
        if (!found)
            mase_warn("profile_statistics: the network has no %s", name->s);
    }
    return MASE_OK;
}

/* entry: the table for the results. */
static enum mase_status add_measured(struct profile *p, struct mase_measured m,
                                     const struct mase_meta_stat *entry,
                                     const struct mase_value *table, struct mase_err *err)
{
    if (!table || !table->count)
        return MASE_OK;
    m.name = entry->name;
    m.results = entry->stat;
    m.asked = table;
    m.count = table->count;
    m.stats = mase_profiler_stats(&p->profiler, m.source, m.asked);
    m.shared = m.stats != NULL;
    if (!m.shared) {
        m.stats = mase_new_array(p->env->scratch, struct mase_stat *, (size_t)table->count);
        MASE_TRY(make_stats(m.stats, p->env->scratch, table, &p->budget, err));
    }
    mase_profiler_add(&p->profiler, &m);
    return MASE_OK;
}

static enum mase_status add_parameters(struct profile *p, const struct mase_node *n,
                                       struct mase_err *err)
{
    const struct mase_module *module = mase_node_module(n);
    if (!module) {
        if (!is_all(p->o->weight_nodes))
            mase_warn("Node %s is not a call_module node, but is in target_weight_nodes. Skip.",
                      n->name);
        return MASE_OK;
    }
    for (int i = 0; i < n->meta->sw_arg_count; i++) {
        const struct mase_meta_stat *entry = &n->meta->sw_args[i];
        const struct mase_param *param = mase_module_param(module, entry->name);
        if (!param)
            continue;
        if (!param->tensor.data)
            return mase_fail(err, MASE_EVALUE,
                             "'%s.%s' has no values: load or initialise the weights", module->path,
                             param->name);
        MASE_TRY(add_measured(p, (struct mase_measured){ .node = n, .parameter = &param->tensor },
                              entry, p->o->weight_stats, err));
    }
    return MASE_OK;
}

/* The i-th entry of a call is its i-th input; further entries of a layer are its parameters. */
static enum mase_status add_activations(struct profile *p, const struct mase_node *n,
                                        struct mase_err *err)
{
    struct mase_meta *m = n->meta;
    for (int i = 0; i < m->sw_arg_count && i < n->input_count; i++)
        MASE_TRY(add_measured(p, (struct mase_measured){ .node = n, .source = n->inputs[i] },
                              &m->sw_args[i], p->o->activation_stats, err));
    if (p->o->outputs && m->sw_result_count)
        return add_measured(p, (struct mase_measured){ .node = n, .source = n }, &m->sw_results[0],
                            p->o->activation_stats, err);
    return MASE_OK;
}

static enum mase_status find_measured(struct profile *p, struct mase_err *err)
{
    MASE_TRY(check_in_graph(p, p->o->weight_nodes, err));
    MASE_TRY(check_in_graph(p, p->o->activation_nodes, err));
    for (const struct mase_node *n = p->g->first; n; n = n->next)
        if (is_target(p->o, p->o->weight_nodes, n))
            MASE_TRY(add_parameters(p, n, err));
    for (const struct mase_node *n = p->g->first; n; n = n->next)
        if (is_target(p->o, p->o->activation_nodes, n))
            MASE_TRY(add_activations(p, n, err));
    return MASE_OK;
}

/* ---- results ---- */

static void note(const struct profile *p)
{
    const struct mase_profiler *r = &p->profiler;
    struct mase_arena *a = p->env->info_arena;
    if (!p->env->info)
        return;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "split", mase_value_string(a, p->o->split));
    mase_value_set(a, v, "mode", mase_value_string(a, p->o->mode));
    mase_value_set(a, v, "samples", mase_value_int(a, r->samples));
    mase_value_set(a, v, "batch_size", mase_value_int(a, r->batch));
    mase_value_set(a, v, "weights", mase_value_int(a, r->parameters));
    mase_value_set(a, v, "activations", mase_value_int(a, r->count - r->parameters));
    mase_pass_note(p->env, "profile_statistics", v);
}

static enum mase_status run(const struct mase_graph *graph, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct profile_opts *o = options;
    struct mase_graph *g = mase_side_tables(graph);
    struct profile p = {
        .o = o,
        .env = env,
        .g = g,
        .budget = { .limit = o->max_values },
        .profiler = { .env = env,
                      .g = g,
                      .arena = &g->arena,
                      .split = o->split,
                      .train = mase_streq(o->mode, "train"),
                      .max_samples = o->num_samples,
                      .batch_size = o->batch_size },
    };
    MASE_TRY(find_measured(&p, err));
    MASE_TRY(mase_profiler_run(&p.profiler, err));
    if (!p.profiler.count)
        mase_warn("profile_statistics: nothing to measure: no target has a statistic");
    note(&p);
    return MASE_OK;
}

static const char *const by_choices[] = { "type", "name", NULL };
static const char *const splits[] = { "train", "validation", "test", "pred", NULL };
static const char *const modes[] = { "eval", "train", NULL };

static const struct mase_opt opts[] = {
    MASE_OPT_CHOICE(struct profile_opts, by, "by", "type", by_choices,
                    "targets are operations (type) or nodes (name)"),
    MASE_OPT_VALUE(struct profile_opts, weight_nodes, "target_weight_nodes",
                   "a list, or \"all\": whose parameters are measured"),
    MASE_OPT_VALUE(struct profile_opts, activation_nodes, "target_activation_nodes",
                   "a list, or \"all\": whose inputs are measured"),
    MASE_OPT_VALUE(struct profile_opts, weight_stats, "weight_statistics",
                   "a table: a statistic's name and the table of its arguments"),
    MASE_OPT_VALUE(struct profile_opts, activation_stats, "activation_statistics",
                   "the same for activations"),
    MASE_OPT_INT(struct profile_opts, num_samples, "num_samples", 0, 0, 0x1p53,
                 "samples of the dataset; 0: all"),
    MASE_OPT_INT(struct profile_opts, batch_size, "batch_size", 0, 0, 0x1p31,
                 "samples run at once; 0: as suits the engine, or as the command line says"),
    MASE_OPT_CHOICE(struct profile_opts, split, "split", "train", splits,
                    "which part of the dataset"),
    MASE_OPT_CHOICE(struct profile_opts, mode, "mode", "eval", modes,
                    "train: norms take the statistics of their batch, dropout drops"),
    MASE_OPT_BOOL(struct profile_opts, outputs, "profile_output_activation", false,
                  "measure the outputs of activation targets too"),
    MASE_OPT_INT(struct profile_opts, max_values, "max_values", MASE_PROFILE_VALUES, 0, 0x1p40,
                 "most values that record and range_quantile may keep in all"),
    { 0 },
};

const struct mase_pass mase_pass_profile_statistics = {
    .name = "profile_statistics",
    .help = "statistics of parameters, and of activations over samples of the dataset",
    .needs = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = opts,
    .opts_size = sizeof(struct profile_opts),
    .check = check,
    .analyse = run,
};
