/*
 * profiler.c - run a network on samples and collect statistics of its values. A plan runs it if it
 * can; otherwise the reference does.
 */
#include <string.h>

#include <mase/log.h>
#include <mase/profile.h>
#include <mase/progress.h>
#include <mase/run.h>

#include "ir/graph/graph_parts.h"
#include "pass/analysis/collector.h"
#include "pass/analysis/profiler.h"
#include "pass/support.h"

/* Default batches: for plans, about so many input values, which fit caches; for the reference,
 * samples. */
enum { ENGINE_VALUES = 1 << 13, ENGINE_LEAST = 16, ENGINE_MOST = 512, REFERENCE_BATCH = 256 };

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

/* A tensor as samples: (B, ...) holds B of shape (1, ...); a value that does not depend on the
 * batch is one sample. */
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

static enum mase_status feed(const struct mase_measured *c, const struct mase_stat_block *b,
                             int round, struct mase_err *err)
{
    for (int i = 0; i < c->count && !c->shared; i++)
        if (round < mase_stat_rounds(c->stats[i]) && mase_stat_feed(c->stats[i], b, err))
            return mase_wrap(err, "%s.%s", c->node->name, c->name);
    return MASE_OK;
}

static void end_round(const struct mase_measured *c, int round)
{
    if (c->collector)
        mase_collector_end_round(c->collector);
    for (int i = 0; i < c->count && !c->collector && !c->shared; i++)
        if (round < mase_stat_rounds(c->stats[i]))
            mase_stat_end_round(c->stats[i]);
}

static int rounds_of(const struct mase_measured *c, int count)
{
    int rounds = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < c[k].count; i++)
            if (mase_stat_rounds(c[k].stats[i]) > rounds)
                rounds = mase_stat_rounds(c[k].stats[i]);
    return rounds;
}

static enum mase_status measure_parameters(struct mase_profiler *p, struct mase_err *err)
{
    struct mase_progress bar;
    if (!p->parameters)
        return MASE_OK;
    mase_progress_start(&bar, "Profiling weight statistics", p->parameters);
    for (int k = 0; k < p->parameters; k++) {
        const struct mase_measured *c = &p->list[k];
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

static struct mase_inputs inputs_of(const struct mase_profiler *p)
{
    return (struct mase_inputs){ p->env->inputs, p->env->input_count };
}

/* Run the reference, and feed every statistic. A value that is not a tensor has no statistics. */
static enum mase_status run_reference(struct mase_profiler *p, int64_t n, int round,
                                      struct mase_err *err)
{
    const int64_t batches = (p->samples + p->batch - 1) / p->batch;
    struct mase_arena a = { 0 };
    struct mase_values values;
    const struct mase_inputs inputs = inputs_of(p);
    enum mase_status st = mase_run_reference(
        &values, &a, p->g, mase_inputs_fill(&a, &inputs, p->x, n), inputs.count, err);
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

static enum mase_status run_plan(struct mase_profiler *p, int64_t first, int64_t n,
                                 struct mase_err *err)
{
    const struct mase_samples *s = p->env->samples;
    struct mase_sample_rows rows = { .table = p->x, .stride = mase_plan_inputs(p->plan).rows };
    for (int k = p->parameters; k < p->count; k++)
        if (p->list[k].collector)
            mase_collector_expect(p->list[k].collector, n);
    if (!s->lend || !s->lend(s->data, p->split, first, &rows))
        MASE_TRY(s->read(s->data, p->split, first, n, p->x, err));
    mase_plan_gather(p->plan, rows.table, rows.stride, rows.index, n);
    mase_plan_set_step(p->plan, (uint64_t)first); /* dropout draws alike in every round */
    return mase_plan_forward(p->plan, err);
}

static enum mase_status measure_batch(struct mase_profiler *p, int64_t first, int64_t n, int round,
                                      struct mase_err *err)
{
    const struct mase_samples *s = p->env->samples;
    if (p->plan)
        return run_plan(p, first, n, err);
    MASE_TRY(s->read(s->data, p->split, first, n, p->x, err));
    return run_reference(p, n, round, err);
}

/* ---- the plan ---- */

static bool has_weight(const char *full, struct mase_param *param, void *data)
{
    (void)full;
    *(bool *)data &= param->tensor.data != NULL;
    return true;
}

/* Let the statistics watch the plan. False if a value does not depend on the samples: the reference
 * handles it. */
static enum mase_status add_collectors(struct mase_profiler *p, bool *all, struct mase_err *err)
{
    *all = true;
    for (int k = p->parameters; k < p->count && *all; k++) {
        struct mase_measured *c = &p->list[k];
        if (c->shared)
            continue;
        if (mase_collector_new(&c->collector, p->env->scratch, p->plan, c->source, c->stats,
                               c->count, p->samples, err))
            return mase_wrap(err, "%s.%s", c->node->name, c->name);
        *all = c->collector != NULL;
    }
    return MASE_OK;
}

static int64_t engine_batch(const struct mase_profiler *p)
{
    const struct mase_inputs inputs = inputs_of(p);
    const int64_t features = mase_inputs_features(&inputs);
    int64_t n = ENGINE_VALUES / (features > 0 ? features : 1);
    n = n < ENGINE_LEAST ? ENGINE_LEAST : n > ENGINE_MOST ? ENGINE_MOST : n;
    if (p->batch_size || p->train || mase_graph_takes_batch_statistics(p->g))
        return p->batch;
    return n < p->samples ? n : p->samples;
}

static enum mase_status make_plan(struct mase_profiler *p, struct mase_err *err)
{
    bool weights = true;
    const struct mase_plan_opts opts = {
        .batch = engine_batch(p),
        .train = p->train,
        .seed = p->env->seed,
        .threads = p->env->threads,
        .inputs = p->env->inputs,
        .input_count = p->env->input_count,
    };
    mase_graph_each_param(p->g, has_weight, &weights);
    if (!weights)
        return mase_fail(err, MASE_EUNSUPPORTED, "some weights have no values");
    MASE_TRY(mase_plan_new(&p->plan, p->g, &opts, err));
    p->batch = opts.batch;
    return MASE_OK;
}

/* Use a plan if possible; else the reference, which reports errors of the network. */
static enum mase_status choose_engine(struct mase_profiler *p, struct mase_err *err)
{
    const int64_t batch = p->batch;
    struct mase_err why;
    bool all;
    if (make_plan(p, &why)) {
        if (p->train)
            return mase_fail(err, MASE_EUNSUPPORTED, "mode = \"train\": %s", why.msg);
        mase_warn("profile_statistics: %s; the plain reference runs the network, which takes much "
                  "longer",
                  why.msg);
        return MASE_OK;
    }
    MASE_TRY(add_collectors(p, &all, err));
    if (all)
        return MASE_OK;
    if (p->train)
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

static enum mase_status find_samples(struct mase_profiler *p, struct mase_err *err)
{
    const struct mase_samples *s = p->env->samples;
    int64_t count;
    if (!s)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "statistics of activations need samples, and there is no dataset");
    MASE_TRY(s->count(s->data, p->split, &count, err));
    if (!count)
        return mase_fail(err, MASE_EVALUE, "the %s split has no samples", p->split);
    if (p->max_samples > count)
        mase_warn("num_samples = %lld, but the %s split has %lld: all of them are used",
                  (long long)p->max_samples, p->split, (long long)count);
    p->samples = p->max_samples && p->max_samples < count ? p->max_samples : count;
    p->batch = p->batch_size ? p->batch_size : s->batch_size;
    if (p->batch < 1)
        p->batch = REFERENCE_BATCH;
    if (p->batch > p->samples)
        p->batch = p->samples;
    return MASE_OK;
}

static void make_input(struct mase_profiler *p)
{
    const struct mase_inputs inputs = inputs_of(p);
    const int64_t values = p->batch * mase_inputs_features(&inputs);
    p->x = mase_new_array(p->env->scratch, float, (size_t)values);
}

static enum mase_status measure_activations(struct mase_profiler *p, struct mase_err *err)
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

/* The number, from 1, of the latest entry for this source; 0: none. */
static int latest_of(const struct mase_profiler *p, const struct mase_node *source)
{
    return (int)(uintptr_t)mase_ptrmap_get(&p->latest, source);
}

struct mase_stat **mase_profiler_stats(const struct mase_profiler *p,
                                       const struct mase_node *source, const void *asked)
{
    for (int k = latest_of(p, source); k > 0; k = p->list[k - 1].before)
        if (p->list[k - 1].asked == asked)
            return p->list[k - 1].stats;
    return NULL;
}

void mase_profiler_add(struct mase_profiler *p, const struct mase_measured *m)
{
    p->list = mase_arena_grow(p->env->scratch, p->list, p->count, &p->cap, sizeof *p->list);
    p->list[p->count++] = *m;
    p->parameters += m->parameter != NULL;
    if (!m->source)
        return;
    p->list[p->count - 1].before = latest_of(p, m->source);
    mase_ptrmap_put(&p->latest, p->env->scratch, m->source, (void *)(uintptr_t)p->count);
}

enum mase_status mase_profiler_run(struct mase_profiler *p, struct mase_err *err)
{
    MASE_TRY(measure_parameters(p, err));
    const enum mase_status st = measure_activations(p, err);
    mase_plan_free(p->plan);
    p->plan = NULL;
    for (int k = 0; k < p->count && !st; k++) {
        const struct mase_measured *c = &p->list[k];
        for (int i = 0; i < c->count; i++)
            mase_value_set(p->arena, c->results, c->stats[i]->kind->name,
                           mase_stat_result(c->stats[i], p->arena));
    }
    return st;
}

/* ---- statistics without a configuration ---- */

static enum mase_status find_value(struct mase_measured *m, const struct mase_profile_target *t,
                                   struct mase_err *err)
{
    const struct mase_node *n = t->node;
    const struct mase_module *module = mase_node_module(n);
    const struct mase_param *param = module ? mase_module_param(module, t->name) : NULL;
    *m = (struct mase_measured){ .node = n, .name = t->name, .count = t->count };
    if (param && !param->tensor.data)
        return mase_fail(err, MASE_EVALUE, "'%s.%s' has no values: load or initialise the weights",
                         module->path, param->name);
    m->parameter = param ? &param->tensor : NULL;
    for (int i = 0; !param && n->meta && i < n->meta->sw_arg_count && i < n->input_count; i++)
        if (mase_streq(n->meta->sw_args[i].name, t->name))
            m->source = n->inputs[i];
    if (m->parameter || m->source)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "'%s' has no argument '%s'", n->name, t->name);
}

static enum mase_status add_target(struct mase_profiler *p, const struct mase_profile_target *t,
                                   struct mase_measured *m, struct mase_stat_budget *budget,
                                   struct mase_err *err)
{
    m->asked = t->stats;
    m->stats = mase_profiler_stats(p, m->source, m->asked);
    m->shared = m->stats != NULL;
    if (!m->shared) {
        m->stats = mase_new_array(p->env->scratch, struct mase_stat *, (size_t)t->count);
        for (int i = 0; i < t->count; i++)
            MASE_TRY(mase_stat_make(&m->stats[i], p->env->scratch, &t->stats[i], budget, err));
    }
    mase_profiler_add(p, m);
    return MASE_OK;
}

/* Add parameters, then activations. */
static enum mase_status add_targets(struct mase_profiler *p, struct mase_value **results,
                                    const struct mase_profile *o, struct mase_stat_budget *budget,
                                    struct mase_err *err)
{
    for (int activations = 0; activations < 2; activations++)
        for (int i = 0; i < o->count; i++) {
            struct mase_measured m;
            MASE_TRY(find_value(&m, &o->targets[i], err));
            if ((m.source != NULL) != activations)
                continue;
            m.results = results[i] = mase_value_table(p->arena);
            MASE_TRY(add_target(p, &o->targets[i], &m, budget, err));
        }
    return MASE_OK;
}

enum mase_status mase_profile(struct mase_value **results, struct mase_arena *a,
                              struct mase_graph *g, const struct mase_profile *o,
                              const struct mase_pass_env *env, struct mase_err *err)
{
    struct mase_arena scratch = { 0 };
    struct mase_pass_env own = *env;
    struct mase_stat_budget budget = { .limit = MASE_PROFILE_VALUES };
    struct mase_profiler p = { .env = &own,
                               .g = g,
                               .arena = a,
                               .split = o->split ? o->split : "train",
                               .max_samples = o->samples,
                               .batch_size = o->batch };
    own.scratch = &scratch;
    enum mase_status st = add_targets(&p, results, o, &budget, err);
    if (!st)
        st = mase_profiler_run(&p, err);
    mase_arena_release(&scratch);
    return st;
}
