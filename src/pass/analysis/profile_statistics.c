/*
 * profile_statistics.c - statistics of parameters and of what flows through the network.
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
#include <mase/progress.h>
#include <mase/run.h>

#include "pass/analysis/collector.h"
#include "pass/support.h"

/* When nobody asks for another batch: about so many input values at once for the engine, which its
 * caches hold; for the reference, samples. */
enum { ENGINE_VALUES = 1 << 13, ENGINE_LEAST = 16, ENGINE_MOST = 512, REFERENCE_BATCH = 256 };

struct profile_opts {
    const char *by;
    const struct mase_value *weight_nodes, *activation_nodes;
    const struct mase_value *weight_stats, *activation_stats;
    int64_t num_samples, batch_size, max_values;
    const char *split, *mode;
    bool outputs;
};

/* The statistics of one argument or result. */
struct measured {
    const struct mase_node *node;   /* whose it is */
    struct mase_meta_stat *entry;   /* where results go */
    const struct mase_node *source; /* the node whose value is measured; NULL: a parameter */
    const struct mase_tensor *parameter;
    struct mase_stat **stats;
    int count;
    bool shared;                      /* the statistics are an earlier one's, of the same source */
    struct mase_collector *collector; /* what the engine shows the value to */
};

struct profile {
    const struct profile_opts *o;
    struct mase_pass_env *env;
    struct mase_graph *g;
    struct mase_stat_budget budget;
    struct measured *list;
    int count, cap, parameters; /* the first so many measure parameters */
    int64_t samples, batch;
    struct mase_plan *plan; /* NULL: the engine cannot run the network */
    float *x;               /* the samples of a batch */
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

/* Every name must be of the graph; an operation that it does not use is worth a word. */
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

/* What one node computes and another reads is measured once. */
static const struct measured *same_source(const struct profile *p, const struct measured *c)
{
    for (int k = p->parameters; c->source && k < p->count; k++)
        if (p->list[k].source == c->source)
            return &p->list[k];
    return NULL;
}

static enum mase_status add_measured(struct profile *p, struct measured c,
                                     const struct mase_value *table, struct mase_err *err)
{
    if (!table || !table->count)
        return MASE_OK;
    const struct measured *same = same_source(p, &c);
    c.count = table->count;
    c.shared = same != NULL;
    c.stats = same ? same->stats
                   : mase_new_array(p->env->scratch, struct mase_stat *, (size_t)table->count);
    if (!same)
        MASE_TRY(make_stats(c.stats, p->env->scratch, table, &p->budget, err));
    p->list = mase_arena_grow(p->env->scratch, p->list, p->count, &p->cap, sizeof *p->list);
    p->list[p->count++] = c;
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
        struct mase_meta_stat *entry = &n->meta->sw_args[i];
        const struct mase_param *param = mase_module_param(module, entry->name);
        if (!param)
            continue;
        if (!param->tensor.data)
            return mase_fail(err, MASE_EVALUE,
                             "'%s.%s' has no values: load or initialise the weights", module->path,
                             param->name);
        MASE_TRY(add_measured(
            p, (struct measured){ .node = n, .entry = entry, .parameter = &param->tensor },
            p->o->weight_stats, err));
    }
    return MASE_OK;
}

/* The i-th entry of a call is its i-th input; a layer's further ones are its parameters. */
static enum mase_status add_activations(struct profile *p, const struct mase_node *n,
                                        struct mase_err *err)
{
    struct mase_meta *m = n->meta;
    for (int i = 0; i < m->sw_arg_count && i < n->input_count; i++)
        MASE_TRY(add_measured(
            p, (struct measured){ .node = n, .entry = &m->sw_args[i], .source = n->inputs[i] },
            p->o->activation_stats, err));
    if (p->o->outputs && m->sw_result_count)
        return add_measured(p,
                            (struct measured){ .node = n, .entry = &m->sw_results[0], .source = n },
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
    p->parameters = p->count;
    for (const struct mase_node *n = p->g->first; n; n = n->next)
        if (is_target(p->o, p->o->activation_nodes, n))
            MASE_TRY(add_activations(p, n, err));
    return MASE_OK;
}

/* ---- measuring ---- */

static const float *as_f32(struct mase_arena *a, const struct mase_tensor *t)
{
    if (t->dtype == MASE_F32)
        return t->data;
    struct mase_tensor f = mase_tensor(a, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(&f, i, mase_tensor_get(t, i));
    return f.data;
}

/* A tensor as samples: (B, ...) holds B of shape (1, ...); what does not follow the batch is one
 * sample as a whole. */
static struct mase_stat_block block_of(struct mase_arena *a, const struct mase_tensor *t,
                                       int64_t batch, int64_t samples, int64_t batches)
{
    const bool follows = batch && t->shape.rank && t->shape.dim[0] == batch;
    struct mase_stat_block b = {
        .data = as_f32(a, t),
        .shape = t->shape,
        .samples = follows ? batch : 1,
        .element_stride = 1,
        .total = follows ? samples : batches,
    };
    if (follows)
        b.shape.dim[0] = 1;
    b.sample_stride = mase_shape_count(&b.shape);
    return b;
}

static enum mase_status feed(const struct measured *c, const struct mase_stat_block *b, int round,
                             struct mase_err *err)
{
    for (int i = 0; i < c->count && !c->shared; i++)
        if (round < mase_stat_rounds(c->stats[i]) && mase_stat_feed(c->stats[i], b, err))
            return mase_wrap(err, "%s.%s", c->node->name, c->entry->name);
    return MASE_OK;
}

static void end_round(const struct measured *c, int round)
{
    if (c->collector)
        mase_collector_end_round(c->collector);
    for (int i = 0; i < c->count && !c->collector && !c->shared; i++)
        if (round < mase_stat_rounds(c->stats[i]))
            mase_stat_end_round(c->stats[i]);
}

static int rounds_of(const struct measured *c, int count)
{
    int rounds = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < c[k].count; i++)
            if (mase_stat_rounds(c[k].stats[i]) > rounds)
                rounds = mase_stat_rounds(c[k].stats[i]);
    return rounds;
}

static enum mase_status measure_parameters(struct profile *p, struct mase_err *err)
{
    struct mase_progress bar;
    if (!p->parameters)
        return MASE_OK;
    mase_progress_start(&bar, "Profiling weight statistics", p->parameters);
    for (int k = 0; k < p->parameters; k++) {
        const struct measured *c = &p->list[k];
        const struct mase_stat_block b = block_of(p->env->scratch, c->parameter, 0, 1, 1);
        for (int round = 0; round < rounds_of(c, 1); round++) {
            MASE_TRY(feed(c, &b, round, err));
            end_round(c, round);
        }
        mase_progress_step(&bar, k + 1);
    }
    mase_progress_end(&bar);
    return MASE_OK;
}

/* Show every statistic its value. A value that is no tensor has no statistics. */
static enum mase_status run_reference(struct profile *p, const struct mase_input *x, int round,
                                      struct mase_err *err)
{
    const int64_t n = x->tensor.shape.dim[0], batches = (p->samples + p->batch - 1) / p->batch;
    struct mase_arena a = { 0 };
    struct mase_values values;
    enum mase_status st = mase_run_reference(&values, &a, p->g, x, 1, err);
    for (int k = p->parameters; k < p->count && !st; k++) {
        const struct mase_arg *v = mase_values_get(&values, p->list[k].source);
        if (v->kind != MASE_ARG_TENSOR)
            continue;
        const struct mase_stat_block b = block_of(&a, v->tensor, n, p->samples, batches);
        st = feed(&p->list[k], &b, round, err);
    }
    mase_arena_release(&a);
    return st;
}

static enum mase_status run_plan(struct profile *p, int64_t first, int64_t n, struct mase_err *err)
{
    const struct mase_samples *s = p->env->samples;
    struct mase_sample_rows rows = { .table = p->x, .stride = mase_plan_input(p->plan, 0).rows };
    for (int k = p->parameters; k < p->count; k++)
        if (p->list[k].collector)
            mase_collector_expect(p->list[k].collector, n);
    if (!s->lend || !s->lend(s->data, p->o->split, first, &rows))
        MASE_TRY(s->read(s->data, p->o->split, first, n, p->x, err));
    mase_plan_gather(p->plan, rows.table, rows.stride, rows.index, n);
    mase_plan_set_step(p->plan, (uint64_t)first); /* dropout: the same in every round */
    return mase_plan_forward(p->plan, err);
}

static enum mase_status measure_batch(struct profile *p, int64_t first, int64_t n, int round,
                                      struct mase_err *err)
{
    const struct mase_samples *s = p->env->samples;
    struct mase_input x = p->env->inputs[0];
    if (p->plan)
        return run_plan(p, first, n, err);
    x.tensor.shape.dim[0] = n;
    x.tensor.data = p->x;
    MASE_TRY(s->read(s->data, p->o->split, first, n, p->x, err));
    return run_reference(p, &x, round, err);
}

/* ---- the engine ---- */

static bool has_weight(const char *full, struct mase_param *param, void *data)
{
    (void)full;
    *(bool *)data &= param->tensor.data != NULL;
    return true;
}

/* Let the statistics watch the plan. False when a value does not follow the samples: the reference
 * knows what to do with it. */
static enum mase_status add_collectors(struct profile *p, bool *all, struct mase_err *err)
{
    *all = true;
    for (int k = p->parameters; k < p->count && *all; k++) {
        struct measured *c = &p->list[k];
        if (c->shared)
            continue;
        if (mase_collector_new(&c->collector, p->env->scratch, p->plan, c->source, c->stats,
                               c->count, p->samples, err))
            return mase_wrap(err, "%s.%s", c->node->name, c->entry->name);
        *all = c->collector != NULL;
    }
    return MASE_OK;
}

/* Do results depend on which samples are run together? */
static bool mixes_samples(const struct mase_graph *g)
{
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_module *m = mase_node_module(n);
        if (mase_starts_with(mase_ops[n->op].name, "batch_norm") &&
            !(m && mase_module_param(m, "running_mean")))
            return true;
    }
    return false;
}

static bool trains(const struct profile *p)
{
    return mase_streq(p->o->mode, "train");
}

static int64_t engine_batch(const struct profile *p)
{
    const struct mase_shape *shape = &p->env->inputs[0].tensor.shape;
    const int64_t features = mase_shape_count(shape) / (shape->dim[0] > 0 ? shape->dim[0] : 1);
    int64_t n = ENGINE_VALUES / (features > 0 ? features : 1);
    n = n < ENGINE_LEAST ? ENGINE_LEAST : n > ENGINE_MOST ? ENGINE_MOST : n;
    if (p->o->batch_size || trains(p) || mixes_samples(p->g))
        return p->batch;
    return n < p->samples ? n : p->samples;
}

static enum mase_status make_plan(struct profile *p, struct mase_err *err)
{
    bool weights = true;
    const struct mase_plan_opts opts = {
        .batch = engine_batch(p),
        .train = trains(p),
        .seed = p->env->seed,
        .threads = p->env->threads,
        .inputs = p->env->inputs,
        .input_count = 1,
    };
    mase_graph_each_param(p->g, has_weight, &weights);
    if (!weights)
        return mase_fail(err, MASE_EUNSUPPORTED, "some weights have no values");
    MASE_TRY(mase_plan_new(&p->plan, p->g, &opts, err));
    p->batch = opts.batch;
    return MASE_OK;
}

/* The engine where it can; else the plain reference, which says what is wrong with the network, if
 * anything is. */
static enum mase_status choose_engine(struct profile *p, struct mase_err *err)
{
    const int64_t batch = p->batch;
    struct mase_err why;
    bool all;
    if (make_plan(p, &why)) {
        if (trains(p))
            return mase_fail(err, MASE_EUNSUPPORTED, "mode = \"train\": %s", why.msg);
        mase_warn("profile_statistics: %s; the plain reference runs the network, which takes much "
                  "longer",
                  why.msg);
        return MASE_OK;
    }
    MASE_TRY(add_collectors(p, &all, err));
    if (all)
        return MASE_OK;
    if (trains(p))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "mode = \"train\": a value that is measured does not follow the samples");
    mase_warn("profile_statistics: a value that is measured does not follow the samples; the plain "
              "reference runs the network, which takes much longer");
    for (int k = p->parameters; k < p->count; k++)
        p->list[k].collector = NULL;
    mase_plan_free(p->plan);
    p->plan = NULL;
    p->batch = batch;
    return MASE_OK;
}

static enum mase_status find_samples(struct profile *p, struct mase_err *err)
{
    const struct profile_opts *o = p->o;
    const struct mase_samples *s = p->env->samples;
    int64_t count;
    if (!s)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "statistics of activations need samples, and there is no dataset");
    if (p->env->input_count != 1)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "statistics of activations need a network of one input; this has %d",
                         p->env->input_count);
    MASE_TRY(s->count(s->data, o->split, &count, err));
    if (!count)
        return mase_fail(err, MASE_EVALUE, "the %s split has no samples", o->split);
    if (o->num_samples > count)
        mase_warn("num_samples = %lld, but the %s split has %lld: all of them are used",
                  (long long)o->num_samples, o->split, (long long)count);
    p->samples = o->num_samples && o->num_samples < count ? o->num_samples : count;
    p->batch = o->batch_size ? o->batch_size : s->batch_size;
    if (p->batch < 1)
        p->batch = REFERENCE_BATCH;
    if (p->batch > p->samples)
        p->batch = p->samples;
    return MASE_OK;
}

static void make_input(struct profile *p)
{
    struct mase_shape shape = p->env->inputs[0].tensor.shape;
    shape.dim[0] = p->batch;
    p->x = mase_new_array(p->env->scratch, float, (size_t)mase_shape_count(&shape));
}

static enum mase_status measure_activations(struct profile *p, struct mase_err *err)
{
    struct mase_progress bar;
    enum mase_status st = MASE_OK;
    if (p->parameters == p->count)
        return MASE_OK;
    const int rounds = rounds_of(p->list + p->parameters, p->count - p->parameters);
    MASE_TRY(find_samples(p, err));
    MASE_TRY(choose_engine(p, err));
    make_input(p);
    mase_progress_start(&bar, "Profiling act statistics", rounds * p->samples);
    for (int round = 0; round < rounds && !st; round++) {
        for (int64_t at = 0; at < p->samples && !st; at += p->batch) {
            const int64_t n = p->samples - at < p->batch ? p->samples - at : p->batch;
            st = measure_batch(p, at, n, round, err);
            mase_progress_step(&bar, round * p->samples + at + n);
        }
        for (int k = p->parameters; k < p->count; k++)
            end_round(&p->list[k], round);
    }
    mase_progress_end(&bar);
    return st;
}

/* ---- results ---- */

static void store(struct profile *p)
{
    for (int k = 0; k < p->count; k++) {
        const struct measured *c = &p->list[k];
        for (int i = 0; i < c->count; i++)
            mase_value_set(&p->g->arena, c->entry->stat, c->stats[i]->kind->name,
                           mase_stat_result(c->stats[i], &p->g->arena));
    }
}

static void note(struct profile *p)
{
    struct mase_arena *a = p->env->info_arena;
    if (!p->env->info)
        return;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "split", mase_value_string(a, p->o->split));
    mase_value_set(a, v, "mode", mase_value_string(a, p->o->mode));
    mase_value_set(a, v, "samples", mase_value_int(a, p->samples));
    mase_value_set(a, v, "batch_size", mase_value_int(a, p->batch));
    mase_value_set(a, v, "weights", mase_value_int(a, p->parameters));
    mase_value_set(a, v, "activations", mase_value_int(a, p->count - p->parameters));
    mase_pass_note(p->env, "profile_statistics", v);
}

static enum mase_status run(const struct mase_graph *graph, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct profile_opts *o = options;
    struct profile p = {
        .o = o,
        .env = env,
        .g = mase_side_tables(graph),
        .budget = { .limit = o->max_values },
    };
    MASE_TRY(find_measured(&p, err));
    MASE_TRY(measure_parameters(&p, err));
    const enum mase_status st = measure_activations(&p, err);
    mase_plan_free(p.plan);
    if (st)
        return st;
    if (!p.count)
        mase_warn("profile_statistics: nothing to measure: no target has a statistic");
    store(&p);
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
    MASE_OPT_INT(struct profile_opts, max_values, "max_values", 1 << 25, 0, 0x1p40,
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
