/*
 * search_config.c - what a [search] section may say.
 *
 *     [search.search_space]                    name
 *     [search.search_space.setup]              by, model_parallel
 *     [search.search_space.seed.KEY.config]    every value a list of choices
 *     [search.strategy]                        name, eval_mode
 *     [search.strategy.sw_runner.RUNNER]       options of the runner; so hw_runner
 *     [search.strategy.setup]                  the sampler and its limits
 *     [search.strategy.sampler]                options of the sampler
 *     [search.strategy.pruner]                 name, and options of the pruner
 *     [search.strategy.metrics.METRIC]         scale, direction, at_least, at_most
 *
 * ch transform checks the section, too: a file that it accepts is one that ch search can use.
 */
#include "search/search_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/format.h>
#include <mase/graph.h>

#include "search/runner.h"

static const char *const spaces[] = { "graph/quantize/mixed_precision_ptq",
                                      "module/manual_hf/quantize/llm_mixed_precision_ptq", NULL };
static const char *const bys[] = { "name", "type", "regex_name", NULL };
static const char *const strategy_names[] = { "optuna", NULL };
static const char *const directions[] = { "minimize", "maximize", NULL };

/* ---- the rows ---- */

#define NO_LIMIT 0x1p53 /* what a row means by no bound */

struct search {
    const struct mase_value *space, *strategy;
};
static const struct mase_opt search_rows[] = {
    MASE_OPT_VALUE(struct search, space, "search_space", "what is varied"),
    MASE_OPT_VALUE(struct search, strategy, "strategy", "how it is varied"),
    { 0 },
};

struct space {
    const char *name;
    const struct mase_value *setup, *seed, *train, *model, *channels, *prune;
};
static const struct mase_opt space_rows[] = {
    { .key = "name",
      .type = MASE_OPT_TYPE_CHOICE,
      .offset = offsetof(struct space, name),
      .required = true,
      .choices = spaces,
      .help = "the kind of space" },
    MASE_OPT_VALUE(struct space, setup, "setup", "how seeds are looked up"),
    MASE_OPT_VALUE(struct space, seed, "seed", "choices by node name or operation"),
    MASE_OPT_VALUE(struct space, model, "model",
                   "arguments of the network's constructor: lists or ranges of integers"),
    MASE_OPT_VALUE(struct space, channels, "channels",
                   "multipliers of the widths of layers: lists or ranges"),
    MASE_OPT_VALUE(struct space, prune, "prune",
                   "options of [passes.prune], while trials train: lists or ranges"),
    MASE_OPT_VALUE(struct space, train, "train", "options of ch train: lists or ranges"),
    { 0 },
};

struct space_setup {
    const char *by;
    bool model_parallel;
    const struct mase_value *calibrate;
};
static const struct mase_opt space_setup_rows[] = {
    MASE_OPT_CHOICE(struct space_setup, by, "by", "name", bys, "what the keys of seed name"),
    MASE_OPT_BOOL(struct space_setup, model_parallel, "model_parallel", false,
                  "spread the model over devices"),
    MASE_OPT_VALUE(struct space_setup, calibrate, "calibrate",
                   "how \"auto\" is found: a table as of the quantise pass"),
    { 0 },
};

struct seed {
    const struct mase_value *config;
};
static const struct mase_opt seed_rows[] = {
    MASE_OPT_VALUE(struct seed, config, "config", "lists of choices"),
    { 0 },
};

struct strategy {
    const char *name;
    bool eval_mode;
    const struct mase_value *sw_runner, *hw_runner, *setup, *sampler, *pruner, *metrics;
};
static const struct mase_opt strategy_rows[] = {
    { .key = "name",
      .type = MASE_OPT_TYPE_CHOICE,
      .offset = offsetof(struct strategy, name),
      .required = true,
      .choices = strategy_names,
      .help = "the strategy" },
    MASE_OPT_BOOL(struct strategy, eval_mode, "eval_mode", true, "evaluate without training"),
    MASE_OPT_VALUE(struct strategy, sw_runner, "sw_runner", "software measurements"),
    MASE_OPT_VALUE(struct strategy, hw_runner, "hw_runner", "hardware measurements"),
    MASE_OPT_VALUE(struct strategy, setup, "setup", "sampler and limits"),
    MASE_OPT_VALUE(struct strategy, sampler, "sampler", "options of the sampler"),
    MASE_OPT_VALUE(struct strategy, pruner, "pruner", "what ends a trial early"),
    MASE_OPT_VALUE(struct strategy, metrics, "metrics", "objectives"),
    { 0 },
};

struct strategy_setup {
    int64_t n_jobs, n_trials, save_every_n_trials, window;
    double timeout;
    const char *sampler, *direction, *pkl_ckpt;
    bool sum_scaled_metrics;
};
static const struct mase_opt strategy_setup_rows[] = {
    MASE_OPT_INT(struct strategy_setup, n_jobs, "n_jobs", 1, 1, 65536, "trials at a time"),
    MASE_OPT_INT(struct strategy_setup, n_trials, "n_trials", 20, 1, NO_LIMIT, "trials in all"),
    MASE_OPT_FLOAT(struct strategy_setup, timeout, "timeout", 20000, 0, 1e9, "seconds in all"),
    MASE_OPT_TEXT(struct strategy_setup, sampler, "sampler", "tpe", "how the next point is chosen"),
    MASE_OPT_BOOL(struct strategy_setup, sum_scaled_metrics, "sum_scaled_metrics", false,
                  "one objective, the sum, instead of one per metric"),
    MASE_OPT_CHOICE(struct strategy_setup, direction, "direction", NULL, directions, "of the sum"),
    MASE_OPT_PATH(struct strategy_setup, pkl_ckpt, "pkl_ckpt", NULL, "a study to continue"),
    MASE_OPT_INT(struct strategy_setup, save_every_n_trials, "save_every_n_trials", 10, 1, NO_LIMIT,
                 "accepted for older files: each trial is kept when it ends"),
    MASE_OPT_INT(struct strategy_setup, window, "window", 64, 1, 65536,
                 "trial n is chosen by the results of trials 0 to n - window: so many can run at a "
                 "time"),
    { 0 },
};

struct pruner {
    const char *name;
    struct mase_value *options;
};
static const struct mase_opt pruner_rows[] = {
    { .key = "name",
      .type = MASE_OPT_TYPE_TEXT,
      .offset = offsetof(struct pruner, name),
      .required = true,
      .help = "which one" },
    MASE_OPT_REST(struct pruner, options, "KEY", "an option of the pruner"),
    { 0 },
};

struct metric {
    double scale, at_least, at_most;
    const char *direction;
};
static const struct mase_opt metric_rows[] = {
    MASE_OPT_FLOAT(struct metric, scale, "scale", 1, -1e9, 1e9, "factor of the metric"),
    MASE_OPT_CHOICE(struct metric, direction, "direction", NULL, directions, "of this metric"),
    MASE_OPT_FLOAT(struct metric, at_least, "at_least", NAN, 0, 0, "a trial below is not feasible"),
    MASE_OPT_FLOAT(struct metric, at_most, "at_most", NAN, 0, 0, "a trial above is not feasible"),
    { 0 },
};

/* ---- checking ---- */

static enum mase_status need_table(const struct mase_value *v, const char *key,
                                   const struct mase_value *parent, struct mase_err *err)
{
    if (!v)
        return mase_fail_at(err, MASE_EVALUE, parent->at, "section %s is missing", key);
    if (v->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a section, got %s", key,
                            mase_value_kind_names[v->kind]);
    return MASE_OK;
}

/* A sub-table that may be absent. */
static enum mase_status may_table(const struct mase_value *v, const char *key, struct mase_err *err)
{
    return v ? need_table(v, key, v, err) : MASE_OK;
}

/* "unknown WHAT 'WORD', did you mean 'NEAR'? available: ..." */
static enum mase_status fail_name(struct mase_loc at, const char *what, const char *word,
                                  const char *const *names, int n, struct mase_err *err)
{
    return mase_fail_unknown(
        err, at,
        &(struct mase_unknown){ word, names, n, .tail = n ? "available: " : "there are none here",
                                .lists = true },
        "unknown %s '%s'", what, word);
}

/* Is key OPERAND_PARAMETER of one of the formats named in names? */
static bool is_parameter(const char *key, const struct mase_value *names)
{
    enum mase_operand operand;
    const char *parameter;
    if (!mase_operand_key(&operand, &parameter, key))
        return false;
    for (int n = 0; n < names->count; n++)
        if (names->items[n]->kind == MASE_STRING &&
            mase_format_has_parameter(mase_quant_find(names->items[n]->s), parameter))
            return true;
    return false;
}

/* "name", "weight_name" */
static bool names_formats(const char *key)
{
    enum mase_operand operand;
    const char *parameter;
    return mase_streq(key, "name") ||
           (mase_operand_key(&operand, &parameter, key) && mase_streq(parameter, "name"));
}

static bool is_known_key(const struct mase_value *config, const char *key)
{
    bool known = names_formats(key) || mase_streq(key, "bypass");
    for (int i = 0; i < config->count && !known; i++)
        known = names_formats(config->keys[i]) && is_parameter(key, config->items[i]);
    return known;
}

static enum mase_status check_format_names(const struct mase_value *names, struct mase_err *err)
{
    const char *known[MASE_QUANT_COUNT];
    for (int k = 0; k < MASE_QUANT_COUNT; k++)
        known[k] = mase_quants[k]->name;
    for (int i = 0; names && i < names->count; i++) {
        const struct mase_value *v = names->items[i];
        if (v->kind == MASE_NONE)
            continue;
        if (v->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EVALUE, v->at,
                                "name: a choice must be a format's name or \"NA\", got %s",
                                mase_value_kind_names[v->kind]);
        if (mase_quant_find(v->s) == MASE_QUANT_COUNT)
            return fail_name(v->at, "number format", v->s, known, MASE_QUANT_COUNT, err);
    }
    return MASE_OK;
}

static enum mase_status check_seed_config(const struct mase_value *config, struct mase_err *err)
{
    for (int i = 0; i < config->count; i++) {
        const struct mase_value *v = config->items[i];
        if (v->kind != MASE_LIST || v->count == 0)
            return mase_fail_at(err, MASE_EVALUE, v->at,
                                "%s must be a list of choices with at least one, such as [4, 8]",
                                config->keys[i]);
    }
    const struct mase_value *names = mase_value_get(config, "name");
    if (!names)
        return mase_fail_at(err, MASE_EVALUE, config->at,
                            "name is missing: a list of number formats, such as [\"integer\"]");
    for (int i = 0; i < config->count; i++)
        if (names_formats(config->keys[i]))
            MASE_TRY(check_format_names(config->items[i], err));
    for (int i = 0; i < config->count; i++)
        if (!is_known_key(config, config->keys[i]))
            return mase_fail_at(err, MASE_EVALUE, config->key_at[i],
                                "'%s' is no parameter of the formats in name; they are written "
                                "OPERAND_PARAMETER, such as weight_width",
                                config->keys[i]);
    return MASE_OK;
}

static enum mase_status read_space(struct mase_search_config *c, const struct mase_value *v,
                                   struct mase_arena *a, struct mase_err *err)
{
    struct space space;
    struct space_setup setup;
    MASE_TRY(mase_opts_bind(&space, sizeof space, space_rows, v, a, err));
    MASE_TRY(may_table(space.setup, "setup", err));
    MASE_TRY(mase_opts_bind(&setup, sizeof setup, space_setup_rows, space.setup, a, err));
    if ((!space.train && !space.model && !space.channels && !space.prune) || space.seed)
        MASE_TRY(need_table(space.seed, "seed", v, err));
    for (int i = 0; space.seed && i < space.seed->count; i++) {
        struct seed seed;
        const struct mase_value *s = space.seed->items[i];
        MASE_TRY(need_table(s, space.seed->keys[i], s, err));
        MASE_TRY(mase_opts_bind(&seed, sizeof seed, seed_rows, s, a, err));
        MASE_TRY(need_table(seed.config, "config", s, err));
        MASE_TRY(check_seed_config(seed.config, err));
    }
    MASE_TRY(may_table(setup.calibrate, "calibrate", err));
    MASE_TRY(mase_opts_bind(&c->calibrate, sizeof c->calibrate, mase_calibrate_rows,
                            setup.calibrate, a, err));
    MASE_TRY(may_table(space.train, "train", err));
    MASE_TRY(may_table(space.model, "model", err));
    c->training = space.train;
    MASE_TRY(may_table(space.channels, "channels", err));
    MASE_TRY(may_table(space.prune, "prune", err));
    c->pruning = space.prune;
    c->model = space.model;
    c->channels = space.channels;
    if (!mase_streq(space.name, spaces[0])) {
        c->refused = mase_value_get(v, "name");
        c->why =
            "is for Hugging Face's own modules; graph/quantize/mixed_precision_ptq is for graphs";
    }
    c->by = setup.by;
    c->seed = space.seed;
    return MASE_OK;
}

/* ---- runners ---- */

enum { MOST_RUNNERS = 32 };

static const struct mase_trial_runner *find_runner(enum mase_runner_kind kind, const char *name)
{
    for (const struct mase_trial_runner *r = mase_runners; r->name; r++)
        if (r->kind == kind && mase_streq(r->name, name))
            return r;
    return NULL;
}

static enum mase_status fail_runner(enum mase_runner_kind kind, const char *name,
                                    struct mase_loc at, struct mase_err *err)
{
    const char *names[MOST_RUNNERS];
    int n = 0;
    for (const struct mase_trial_runner *r = mase_runners; r->name; r++)
        if (r->kind == kind)
            names[n++] = r->name;
    return fail_name(at, "runner", name, names, n, err);
}

/* Those that train come first, then in the order of the table. */
static int by_row(const void *a, const void *b)
{
    const struct mase_search_measure *x = a, *y = b;
    return (x->runner > y->runner) - (x->runner < y->runner);
}

static enum mase_status read_runners(struct mase_search_config *c, const struct mase_value *v,
                                     enum mase_runner_kind kind, struct mase_arena *a,
                                     struct mase_err *err)
{
    for (int i = 0; v && i < v->count; i++) {
        const struct mase_trial_runner *r = find_runner(kind, v->keys[i]);
        if (!r)
            return fail_runner(kind, v->keys[i], v->key_at[i], err);
        MASE_TRY(need_table(v->items[i], v->keys[i], v, err));
        void *options = mase_arena_alloc(a, r->functions->options_size);
        MASE_TRY(mase_opts_bind(options, r->functions->options_size, r->functions->options,
                                v->items[i], a, err));
        if (r->functions->check && r->functions->check(options, a, err)) {
            mase_place(err, v->key_at[i]);
            return mase_wrap(err, "%s", r->name);
        }
        c->measure[c->measures++] =
            (struct mase_search_measure){ .runner = r, .options = options, .at = v->key_at[i] };
    }
    return MASE_OK;
}

static int own_metrics(const struct mase_search_config *c)
{
    int n = 0;
    while (c->own && c->own[n].name)
        n++;
    return n;
}

/* Of the runners that the section has, the first that finds it, or the program's own. */
static int slot_of(const struct mase_search_config *c, const char *metric)
{
    for (int i = 0; i < c->measures; i++)
        for (int k = 0; k < mase_runner_metrics(c->measure[i].runner); k++)
            if (mase_streq(c->measure[i].runner->functions->metrics[k].name, metric))
                return c->measure[i].slot + k;
    for (int i = 0; i < own_metrics(c); i++)
        if (mase_streq(c->own[i].name, metric))
            return c->own_slot + i;
    return -1;
}

/* A name means one metric. */
static enum mase_status check_own(const struct mase_search_config *c, struct mase_err *err)
{
    for (int i = 0; i < own_metrics(c); i++)
        if (slot_of(c, c->own[i].name) != c->own_slot + i)
            return mase_fail(err, MASE_EVALUE, "there are two metrics '%s'", c->own[i].name);
    return MASE_OK;
}

static enum mase_status fail_metric(const struct mase_search_config *c, const char *name,
                                    struct mase_loc at, struct mase_arena *a, struct mase_err *err)
{
    const char **names = mase_new_array(a, const char *, (size_t)c->slots);
    int n = 0;
    for (int i = 0; i < c->measures; i++)
        for (int k = 0; k < mase_runner_metrics(c->measure[i].runner); k++)
            names[n++] = c->measure[i].runner->functions->metrics[k].name;
    for (int i = 0; i < own_metrics(c); i++)
        names[n++] = c->own[i].name;
    return fail_name(at, "metric", name, names, n, err);
}

/* ---- metrics ---- */

static enum mase_goal direction_of(const char *name)
{
    return mase_streq(name, "maximize") ? MASE_MAXIMIZE : MASE_MINIMIZE;
}

static enum mase_status read_metric(struct mase_search_metric *m,
                                    const struct mase_search_config *c, const struct mase_value *v,
                                    int at, struct mase_arena *a, struct mase_err *err)
{
    struct metric metric;
    const char *name = v->keys[at];
    *m = (struct mase_search_metric){ .name = name, .at = v->key_at[at], .slot = slot_of(c, name) };
    if (m->slot < 0)
        return fail_metric(c, name, m->at, a, err);
    MASE_TRY(need_table(v->items[at], name, v, err));
    MASE_TRY(mase_opts_bind(&metric, sizeof metric, metric_rows, v->items[at], a, err));
    m->scale = metric.scale;
    m->at_least = metric.at_least;
    m->at_most = metric.at_most;
    const bool bounded = !isnan(m->at_least) || !isnan(m->at_most);
    m->objective = metric.direction || (c->sum && !bounded);
    if (metric.direction)
        m->direction = direction_of(metric.direction);
    if (!m->objective && !bounded)
        return mase_fail_at(err, MASE_EVALUE, m->at,
                            "metric %s: direction is missing: minimize or maximize", name);
    return MASE_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct mase_search_metric *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* In the order of their names, as the original has its objectives. */
static enum mase_status read_metrics(struct mase_search_config *c, const struct mase_value *v,
                                     struct mase_arena *a, struct mase_err *err)
{
    c->metric = mase_new_array(a, struct mase_search_metric, (size_t)v->count);
    for (int i = 0; i < v->count; i++) {
        struct mase_search_metric *m = &c->metric[c->metrics++];
        MASE_TRY(read_metric(m, c, v, i, a, err));
        c->objectives += m->objective;
        c->constraints += !isnan(m->at_least) + !isnan(m->at_most);
    }
    qsort(c->metric, (size_t)c->metrics, sizeof *c->metric, by_name);
    if (!c->objectives)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "no metric has a direction: there is nothing to search for");
    c->objectives = c->sum ? 1 : c->objectives;
    return MASE_OK;
}

/* ---- the strategy ---- */

static enum mase_status find_sampler(struct mase_search_config *c, const char *name,
                                     const struct mase_value *setup, struct mase_err *err)
{
    const char *names[MOST_RUNNERS];
    const struct mase_value *v = mase_value_get(setup, "sampler");
    int n = 0;
    c->sampler = mase_sampler_find(name);
    if (c->sampler)
        return MASE_OK;
    for (const struct mase_sampler_kind *k = mase_samplers; k->name; k++)
        names[n++] = k->name;
    return fail_name(v ? v->at : setup->at, "sampler", name, names, n, err);
}

static enum mase_status read_pruner(struct mase_search_config *c, const struct mase_value *v,
                                    struct mase_arena *a, struct mase_err *err)
{
    struct pruner p;
    const char *names[MOST_RUNNERS];
    int n = 0;
    if (!v)
        return MASE_OK;
    MASE_TRY(need_table(v, "pruner", v, err));
    MASE_TRY(mase_opts_bind(&p, sizeof p, pruner_rows, v, a, err));
    c->pruner = mase_pruner_find(p.name);
    c->pruner_opts = p.options;
    if (c->pruner)
        return MASE_OK;
    for (const struct mase_pruner_kind *k = mase_pruners; k->name; k++)
        names[n++] = k->name;
    return fail_name(mase_value_get(v, "name")->at, "pruner", p.name, names, n, err);
}

/* A pruner reads the metric that is searched for, after each epoch. */
static enum mase_status check_pruner(struct mase_search_config *c, const struct mase_value *v,
                                     struct mase_err *err)
{
    bool trains = false;
    if (!c->pruner)
        return MASE_OK;
    for (int i = 0; i < c->measures; i++)
        trains |= c->measure[i].runner->functions->trains;
    if (!trains || c->objectives != 1 || c->sum)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "a pruner needs trials that train, and one metric with a direction, "
                            "which it reads after each epoch");
    for (int i = 0; i < c->metrics; i++)
        c->reading = c->metric[i].objective ? c->metric[i].name : c->reading;
    if (mase_streq(c->reading, "loss") || mase_streq(c->reading, "accuracy") ||
        mase_streq(c->reading, "score"))
        return MASE_OK;
    return mase_fail_at(err, MASE_EVALUE, v->at,
                        "%s is not known after an epoch: a pruner reads loss, accuracy or score",
                        c->reading);
}

static enum mase_status read_setup(struct mase_search_config *c, const struct mase_value *v,
                                   struct mase_arena *a, struct mase_err *err)
{
    struct strategy_setup setup;
    MASE_TRY(mase_opts_bind(&setup, sizeof setup, strategy_setup_rows, v, a, err));
    MASE_TRY(find_sampler(c, setup.sampler, v, err));
    if (setup.sum_scaled_metrics && !setup.direction)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "sum_scaled_metrics = true needs direction: minimize or maximize");
    if (setup.pkl_ckpt) {
        c->refused = mase_value_get(v, "pkl_ckpt");
        c->why = "is a pickled study, which is Python code: --resume goes on with a study, and ch "
                 "study import takes Optuna's database";
    }
    c->jobs = setup.n_jobs;
    c->trials = setup.n_trials;
    c->seconds = setup.timeout;
    c->window = setup.window;
    c->sum = setup.sum_scaled_metrics;
    c->sum_direction = setup.direction ? direction_of(setup.direction) : MASE_MINIMIZE;
    return MASE_OK;
}

static enum mase_status read_strategy(struct mase_search_config *c, const struct mase_value *v,
                                      struct mase_arena *a, struct mase_err *err)
{
    struct strategy s;
    MASE_TRY(mase_opts_bind(&s, sizeof s, strategy_rows, v, a, err));
    MASE_TRY(may_table(s.sw_runner, "sw_runner", err));
    MASE_TRY(may_table(s.hw_runner, "hw_runner", err));
    MASE_TRY(may_table(s.sampler, "sampler", err));
    c->measure = mase_new_array(a, struct mase_search_measure, MOST_RUNNERS);
    MASE_TRY(read_runners(c, s.sw_runner, MASE_RUNNER_SOFTWARE, a, err));
    MASE_TRY(read_runners(c, s.hw_runner, MASE_RUNNER_HARDWARE, a, err));
    qsort(c->measure, (size_t)c->measures, sizeof *c->measure, by_row);
    for (int i = 0; i < c->measures; i++) {
        c->measure[i].slot = c->slots;
        c->slots += mase_runner_metrics(c->measure[i].runner);
    }
    c->own_slot = c->slots;
    c->slots += own_metrics(c);
    MASE_TRY(check_own(c, err));
    MASE_TRY(need_table(s.setup, "setup", v, err));
    MASE_TRY(read_setup(c, s.setup, a, err));
    MASE_TRY(need_table(s.metrics, "metrics", v, err));
    c->eval_mode = s.eval_mode;
    c->sampler_opts = s.sampler;
    MASE_TRY(read_pruner(c, s.pruner, a, err));
    MASE_TRY(read_metrics(c, s.metrics, a, err));
    return check_pruner(c, s.pruner, err);
}

static enum mase_status read_sections(struct mase_search_config *c, struct mase_arena *a,
                                      const struct mase_value *search, struct mase_err *err)
{
    struct search s;
    MASE_TRY(mase_opts_bind(&s, sizeof s, search_rows, search, a, err));
    MASE_TRY(need_table(s.space, "search_space", search, err));
    MASE_TRY(need_table(s.strategy, "strategy", search, err));
    if (read_space(c, s.space, a, err))
        return mase_wrap(err, "search_space");
    if (read_strategy(c, s.strategy, a, err))
        return mase_wrap(err, "strategy");
    return MASE_OK;
}

enum mase_status mase_search_config_read(struct mase_search_config *c, struct mase_arena *a,
                                         const struct mase_value *section,
                                         const struct mase_search_own_metric *own,
                                         struct mase_err *err)
{
    *c = (struct mase_search_config){ .own = own };
    return read_sections(c, a, section, err) ? mase_wrap(err, "search") : MASE_OK;
}

enum mase_status mase_search_check(const struct mase_value *search, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_search_config c;
    const enum mase_status st = mase_search_config_read(&c, &a, search, NULL, err);
    mase_arena_release(&a);
    return st;
}
