/*
 * search.c - a search: its space over a network, its trials, what they measure.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>
#include <mase/pass.h>
#include <mase/work.h>

#include "base/alloc.h"
#include "base/host.h"
#include "search/runner.h"
#include "search/search_parts.h"

/* ---- opening ---- */

/* Constraints are values that are not above 0 where they hold. */
static void set_up_study(struct mase_search *s)
{
    const struct mase_search_config *c = &s->config;
    enum mase_goal *d = mase_new_array(&s->arena, enum mase_goal, (size_t)c->objectives);
    int n = 0;
    for (int i = 0; i < c->metrics && !c->sum; i++)
        if (c->metric[i].objective)
            d[n++] = c->metric[i].direction;
    if (c->sum)
        d[0] = c->sum_direction;
    s->setup = (struct mase_study_setup){ .space = &s->space,
                                          .direction = d,
                                          .objectives = c->objectives,
                                          .constraints = c->constraints,
                                          .seed = s->opts.seed,
                                          .window = c->window };
}

static enum mase_status open_candidates(struct mase_search *s, struct mase_err *err)
{
    s->workers = s->opts.workers > 1 ? s->opts.workers : 1;
    s->candidate = mase_new_array(&s->arena, struct mase_candidate, (size_t)s->workers);
    for (int i = 0; i < s->workers; i++)
        MASE_TRY(mase_candidate_init(&s->candidate[i], s, err));
    return MASE_OK;
}

static enum mase_status prepare_runners(struct mase_search *s, struct mase_err *err)
{
    for (int i = 0; i < s->config.measures; i++) {
        const struct mase_search_measure *m = &s->config.measure[i];
        const struct mase_runner_functions *f = m->runner->functions;
        if (f->prepare && f->prepare(&s->candidate[0], m->options, err)) {
            mase_place(err, m->at);
            return mase_wrap(err, "search: %s", m->runner->name);
        }
    }
    return MASE_OK;
}

/* Everything that may vary, as dimensions of one space. */
static enum mase_status read_space(struct mase_search *s, struct mase_err *err)
{
    const struct mase_search_config *c = &s->config;
    const struct mase_samples samples = mase_work_samples(s->opts.data, s->opts.batch_size);
    MASE_TRY(mase_variants_open(&s->variants, &s->space, &s->arena, &s->opts, c->model, err));
    if (c->channels && s->variants.count > 1)
        return mase_fail_at(err, MASE_EUNSUPPORTED, c->channels->at,
                            "channels and arguments of the model cannot both vary: arguments can "
                            "be the widths");
    MASE_TRY(mase_channel_space_open(&s->channels, &s->space, &s->arena, s->variants.graph[0],
                                     &mase_dataset_info(s->opts.data)->data.sample, c->channels,
                                     err));
    for (int i = 0; i < s->variants.count; i++)
        MASE_TRY(mase_format_space_read(&s->formats, &s->space, &s->arena, s->variants.graph[i],
                                        c->by, c->seed, err));
    MASE_TRY(mase_option_space_read(&s->training, &s->space, &s->arena, "train", c->training, err));
    MASE_TRY(mase_option_space_read(&s->pruning, &s->space, &s->arena, "prune", c->pruning, err));
    return mase_format_space_calibrate(&s->formats, &s->arena, &s->variants, &c->calibrate,
                                       &samples, &mase_dataset_info(s->opts.data)->data.sample,
                                       err);
}

/* Those of a run; pruner is NULL if there is none. */
static enum mase_status new_choosers(struct mase_sampler **sampler, struct mase_pruner **pruner,
                                     const struct mase_search *s, struct mase_err *err)
{
    const struct mase_search_config *c = &s->config;
    *pruner = NULL;
    if (mase_sampler_new(sampler, c->sampler, &s->setup, c->sampler_opts, err))
        return mase_wrap(err, "search");
    if (c->pruner && mase_pruner_new(pruner, c->pruner, &s->setup, c->pruner_opts, err)) {
        mase_sampler_free(*sampler);
        return mase_wrap(err, "search");
    }
    return MASE_OK;
}

/* Can this space be sampled, and these trials pruned? */
static enum mase_status check_choosers(const struct mase_search *s, struct mase_err *err)
{
    struct mase_sampler *sampler;
    struct mase_pruner *pruner;
    MASE_TRY(new_choosers(&sampler, &pruner, s, err));
    mase_pruner_free(pruner);
    mase_sampler_free(sampler);
    return MASE_OK;
}

static enum mase_status open_search(struct mase_search *s, struct mase_err *err)
{
    struct mase_search_config *c = &s->config;
    MASE_TRY(mase_search_config_read(c, &s->arena, s->opts.section, s->opts.own, err));
    if (c->refused)
        return mase_fail_at(err, MASE_EUNSUPPORTED, c->refused->at, "search: %s %s", c->refused->s,
                            c->why);
    if (!c->eval_mode)
        mase_warn("eval_mode = false: networks are measured as they are evaluated all the same");
    const struct mase_value *trained = c->training ? c->training : c->pruning;
    if (trained && !mase_search_trains(s))
        return mase_fail_at(err, MASE_EVALUE, trained->at,
                            "search: search_space: %s varies what the runner basic_train does, "
                            "which is not there",
                            c->training ? "train" : "prune");
    if (read_space(s, err))
        return mase_wrap(err, "search: search_space");
    if (!s->space.count)
        return mase_fail_at(err, MASE_EVALUE, s->opts.section->at,
                            "search: search_space: no node and no option varies");
    set_up_study(s);
    MASE_TRY(check_choosers(s, err));
    mase_known_init(&s->known, c->slots);
    MASE_TRY(open_candidates(s, err));
    return prepare_runners(s, err);
}

enum mase_status mase_search_new(struct mase_search **out, const struct mase_search_opts *o,
                                 struct mase_err *err)
{
    struct mase_search *s = mase_xcalloc(sizeof *s);
    s->opts = *o;
    const enum mase_status st = open_search(s, err);
    if (st) {
        mase_search_free(s);
        return st;
    }
    *out = s;
    return MASE_OK;
}

void mase_search_free(struct mase_search *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->workers && s->candidate; i++)
        if (s->candidate[i].graph)
            mase_candidate_release(&s->candidate[i]);
    mase_channel_space_close(&s->channels);
    mase_variants_close(&s->variants);
    mase_known_release(&s->known);
    mase_arena_release(&s->arena);
    mase_xfree(s);
}

const struct mase_study_setup *mase_search_setup(const struct mase_search *s)
{
    return &s->setup;
}

/* ---- the study ---- */

static const char *constraint_name(struct mase_arena *a, const struct mase_search_metric *m,
                                   bool least)
{
    return mase_arena_printf(a, "%s %s %.9g", m->name, least ? "at least" : "at most",
                             least ? m->at_least : m->at_most);
}

static void name_constraints(struct mase_study *study, const struct mase_search_config *c)
{
    struct mase_arena *a = &study->arena;
    const char **name = mase_new_array(a, const char *, (size_t)c->constraints);
    int n = 0;
    for (int i = 0; i < c->metrics; i++) {
        if (!isnan(c->metric[i].at_least))
            name[n++] = constraint_name(a, &c->metric[i], true);
        if (!isnan(c->metric[i].at_most))
            name[n++] = constraint_name(a, &c->metric[i], false);
    }
    study->constraint = name;
    study->constraints = n;
}

void mase_search_describe(const struct mase_search *s, struct mase_study *study, const char *name)
{
    struct mase_arena *a = &study->arena;
    const struct mase_search_config *c = &s->config;
    study->name = mase_arena_strdup(a, name);
    study->objectives = c->objectives;
    study->objective = mase_new_array(a, struct mase_study_objective, (size_t)c->objectives);
    int n = 0;
    for (int i = 0; i < c->metrics && !c->sum; i++)
        if (c->metric[i].objective)
            study->objective[n++] =
                (struct mase_study_objective){ mase_arena_strdup(a, c->metric[i].name),
                                               c->metric[i].direction };
    if (c->sum)
        study->objective[0] =
            (struct mase_study_objective){ "sum of scaled metrics", c->sum_direction };
    name_constraints(study, c);
    study->space.count = s->space.count;
    study->space.dimension = mase_arena_memdup(a, s->space.dimension,
                                               (size_t)s->space.count * sizeof *s->space.dimension);
    for (int i = 0; i < s->space.count; i++) {
        struct mase_dimension *d = &study->space.dimension[i];
        d->name = mase_arena_strdup(a, d->name);
        d->choices = d->choices ? mase_value_copy(a, d->choices) : NULL;
    }
    mase_search_mark(s, study);
}

/* ---- running ---- */

int64_t mase_search_trials(const struct mase_search *s, const struct mase_search_run_opts *o)
{
    return o->trials ? o->trials : s->config.trials;
}

/* A search and whoever is told of its trials. */
struct running {
    struct mase_search *search;
    const struct mase_search_run_opts *opts;
};

static enum mase_status measure(void *data, int worker, struct mase_study_run *run,
                                struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    const struct running *r = data;
    r->search->candidate[worker].run = run;
    return mase_search_measure(r->search, worker, t, a, err);
}

static void ended(void *data, const struct mase_study *s, const struct mase_trial *t)
{
    const struct running *r = data;
    if (r->opts->ended)
        r->opts->ended(r->opts->data, s, t);
}

static bool stop(void *data)
{
    const struct running *r = data;
    return r->opts->stop && r->opts->stop(r->opts->data);
}

enum mase_status mase_search_run(struct mase_search *s, struct mase_study *study,
                                 const struct mase_search_run_opts *o, struct mase_err *err)
{
    const struct mase_search_config *c = &s->config;
    const struct mase_search_run_opts none = { 0 };
    struct mase_sampler *sampler;
    struct mase_pruner *pruner;
    o = o ? o : &none;
    struct running running = { s, o };
    MASE_TRY(new_choosers(&sampler, &pruner, s, err));
    const struct mase_study_run_opts run = { .store = o->store,
                                             .sampler = sampler,
                                             .pruner = pruner,
                                             .trials = mase_search_trials(s, o),
                                             .seconds = o->seconds > 0 ? o->seconds : c->seconds,
                                             .workers = s->workers,
                                             .measure = measure,
                                             .data = &running,
                                             .ended = ended,
                                             .stop = stop };
    const enum mase_status st = mase_study_run(study, &s->setup, &run, err);
    mase_pruner_free(pruner);
    mase_sampler_free(sampler);
    return st;
}

/* ---- a trial ---- */

struct mase_split_rows mase_search_rows(const struct mase_search *s, enum mase_split split,
                                        int64_t samples)
{
    struct mase_split_rows rows = mase_dataset_split(s->opts.data, split);
    const int64_t batch = s->opts.batch_size > 0 ? s->opts.batch_size : 1;
    if (samples > 0 && samples < rows.count) {
        const int64_t batches = (samples + batch - 1) / batch;
        rows.count = batches <= rows.count / batch ? batches * batch : rows.count;
    }
    return rows;
}

enum mase_status mase_candidate_evaluate(struct mase_evaluation *e, struct mase_candidate *c,
                                         struct mase_split_rows rows, struct mase_arena *detail,
                                         struct mase_err *err)
{
    const struct mase_search_opts *o = &c->search->opts;
    const struct mase_evaluate_opts how = {
        .rows = rows, .objective = o->objective, .class_map = o->class_map, .detail = detail
    };
    struct mase_predictor *p;
    MASE_TRY(mase_candidate_predictor(&p, c, err));
    return mase_evaluate_rows(e, p, o->data, &how, err);
}

/* All that the runners find. */
static enum mase_status measure_all(double *found, struct mase_candidate *c, struct mase_err *err)
{
    const struct mase_search_config *config = &c->search->config;
    for (int i = 0; i < config->slots; i++)
        found[i] = NAN;
    for (int i = 0; i < config->measures; i++) {
        const struct mase_search_measure *m = &config->measure[i];
        if (m->runner->functions->measure(found + m->slot, c, m->options, err)) {
            mase_place(err, m->at);
            return mase_wrap(err, "%s", m->runner->name);
        }
    }
    return MASE_OK;
}

static enum mase_status find(double *found, struct mase_search *s, struct mase_candidate *c,
                             struct mase_err *err)
{
    struct mase_str key = { 0 };
    mase_candidate_key(&key, c);
    enum mase_status st = MASE_OK;
    const bool again = !s->config.pruner; /* readings are made anew for each trial */
    if (!again || !mase_known_get(&s->known, mase_str_text(&key), found)) {
        st = measure_all(found, c, err);
        if (!st)
            st = mase_search_measure_own(found + s->config.own_slot, c, err);
        if (!st && again)
            mase_known_put(&s->known, mase_str_text(&key), found);
    }
    mase_str_release(&key);
    return st;
}

/* {"loss": ..., "accuracy": ...} of the runners of a kind. */
static struct mase_value *metrics_of(struct mase_arena *a, const struct mase_search_config *c,
                                     enum mase_runner_kind kind, const double *found)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < c->measures; i++) {
        const struct mase_search_measure *m = &c->measure[i];
        for (int k = 0; m->runner->kind == kind && k < mase_runner_metrics(m->runner); k++)
            if (!isnan(found[m->slot + k]))
                mase_value_set(a, v, m->runner->functions->metrics[k].name,
                               mase_value_float(a, found[m->slot + k]));
    }
    for (int i = 0; kind == MASE_RUNNER_SOFTWARE && c->own && c->own[i].name; i++)
        if (!isnan(found[c->own_slot + i]))
            mase_value_set(a, v, c->own[i].name, mase_value_float(a, found[c->own_slot + i]));
    return v;
}

static struct mase_value *scaled_metrics(struct mase_arena *a, const struct mase_search_config *c,
                                         const double *found)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < c->metrics; i++)
        if (c->metric[i].objective && !isnan(found[c->metric[i].slot]))
            mase_value_set(a, v, c->metric[i].name,
                           mase_value_float(a, c->metric[i].scale * found[c->metric[i].slot]));
    return v;
}

static void note_options(struct mase_value *v, struct mase_arena *a, const char *key,
                         const struct mase_search *s, const struct mase_option_space *o,
                         const double *x)
{
    struct mase_value *options = mase_value_table(a);
    mase_option_space_set(options, a, o, &s->space, x);
    if (o->count)
        mase_value_set(a, v, key, options);
}

void mase_search_note_point(struct mase_value *v, struct mase_arena *a, const struct mase_search *s,
                            const double *x)
{
    mase_value_set(a, v, "sampled_config", mase_format_config(a, &s->formats, x));
    note_options(v, a, "sampled_arguments", s, &s->variants.arguments, x);
    note_options(v, a, "sampled_channels", s, &s->channels.layers, x);
    note_options(v, a, "sampled_options", s, &s->training, x);
    note_options(v, a, "sampled_pruning", s, &s->pruning, x);
}

static struct mase_value *all_metrics(struct mase_arena *a, const struct mase_search_config *c,
                                      const double *found)
{
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "software_metrics", metrics_of(a, c, MASE_RUNNER_SOFTWARE, found));
    mase_value_set(a, v, "hardware_metrics", metrics_of(a, c, MASE_RUNNER_HARDWARE, found));
    mase_value_set(a, v, "scaled_metrics", scaled_metrics(a, c, found));
    return v;
}

static void note(struct mase_trial *t, struct mase_arena *a, const struct mase_search *s,
                 const double *found)
{
    struct mase_value *v = all_metrics(a, &s->config, found);
    mase_search_note_point(v, a, s, t->x);
    t->user = v;
}

static void set_values(struct mase_trial *t, const struct mase_search_config *c,
                       const double *found)
{
    double sum = 0;
    int value = 0, constraint = 0;
    for (int i = 0; i < c->metrics; i++) {
        const struct mase_search_metric *m = &c->metric[i];
        const double x = found[m->slot];
        sum += m->objective ? m->scale * x : 0;
        if (m->objective && !c->sum)
            t->value[value++] = m->scale * x;
        if (!isnan(m->at_least))
            t->violation[constraint++] = m->at_least - x;
        if (!isnan(m->at_most))
            t->violation[constraint++] = x - m->at_most;
    }
    if (c->sum)
        t->value[0] = sum;
}

enum mase_status mase_search_measure(struct mase_search *s, int worker, struct mase_trial *t,
                                     struct mase_arena *a, struct mase_err *err)
{
    struct mase_candidate *c = &s->candidate[worker];
    double *found = mase_new_array(a, double, (size_t)s->config.slots);
    c->trial = t;
    MASE_TRY(mase_candidate_move(c, t->x, err));
    MASE_TRY(find(found, s, c, err));
    note(t, a, s, found);
    set_values(t, &s->config, found);
    return MASE_OK;
}

static enum mase_status measure_baseline(struct mase_value **metrics, struct mase_search *s,
                                         struct mase_arena *a, struct mase_err *err)
{
    struct mase_candidate c;
    double *found = mase_new_array(a, double, (size_t)s->config.slots);
    enum mase_status st = mase_candidate_init(&c, s, err);
    if (!st)
        st = measure_all(found, &c, err);
    mase_candidate_release(&c);
    if (!st)
        *metrics = all_metrics(a, &s->config, found);
    return st;
}

enum mase_status mase_search_note_baseline(struct mase_search *s, struct mase_study *study,
                                           struct mase_err *err)
{
    struct mase_arena *a = &study->arena;
    struct mase_value *user = mase_value_table(a), *metrics;
    if (mase_search_trains(s) || s->variants.arguments.count)
        return MASE_OK;
    MASE_TRY(measure_baseline(&metrics, s, a, err));
    for (int i = 0; study->user && i < study->user->count; i++)
        mase_value_set(a, user, study->user->keys[i], study->user->items[i]);
    mase_value_set(a, user, MASE_SEARCH_BASELINE, metrics);
    study->user = user;
    return MASE_OK;
}

/* ---- afterwards ---- */

/* Training is repeated: it comes to the same network. */
enum mase_status mase_search_network(struct mase_graph **g, struct mase_checkpoint_info *info,
                                     struct mase_search *s, const struct mase_trial *t,
                                     struct mase_err *err)
{
    const struct mase_search_config *config = &s->config;
    struct mase_candidate *c = &s->candidate[0];
    struct mase_arena a = { 0 };
    double *found = mase_new_array(&a, double, (size_t)config->slots);
    enum mase_status st = mase_candidate_move(c, t->x, err);
    c->run = NULL;
    for (int i = 0; i < config->measures && !st; i++) {
        const struct mase_search_measure *m = &config->measure[i];
        if (m->runner->functions->trains)
            st = m->runner->functions->measure(found, c, m->options, err);
    }
    *g = mase_candidate_network(c);
    *info = c->trained ? c->trained_on : (struct mase_checkpoint_info){ 0 };
    mase_arena_release(&a);
    return st;
}

bool mase_search_widens(const struct mase_search *s)
{
    return s->channels.layers.count > 0;
}

bool mase_search_trains(const struct mase_search *s)
{
    for (int i = 0; i < s->config.measures; i++)
        if (s->config.measure[i].runner->functions->trains)
            return true;
    return false;
}

enum mase_status mase_search_evaluate(struct mase_evaluation *e, struct mase_search *s,
                                      enum mase_split split, struct mase_err *err)
{
    return mase_candidate_evaluate(e, &s->candidate[0], mase_search_rows(s, split, 0), NULL, err);
}

struct mase_value *mase_search_arguments(struct mase_arena *a, const struct mase_search *s,
                                         const struct mase_trial *t)
{
    struct mase_value *v = mase_value_table(a);
    mase_option_space_set(v, a, &s->variants.arguments, &s->space, t->x);
    return v;
}
