/*
 * search_schema.c - what a [search] section may say.
 *
 *     [search.search_space]                    name
 *     [search.search_space.setup]              by, model_parallel
 *     [search.search_space.seed.KEY.config]    every value a list of choices
 *     [search.strategy]                        name, eval_mode
 *     [search.strategy.sw_runner.RUNNER]       options of the runner; so hw_runner
 *     [search.strategy.setup]                  the sampler and its limits
 *     [search.strategy.metrics.METRIC]         scale, direction
 *
 * Checked now, so that a file that transform accepts is one that search can use.
 */
#include <string.h>

#include <mase/format.h>
#include <mase/graph.h>
#include <mase/opt.h>
#include <mase/search.h>

#include "base/number.h"

static const char *const spaces[] = { "graph/quantize/mixed_precision_ptq",
                                      "module/manual_hf/quantize/llm_mixed_precision_ptq", NULL };
static const char *const bys[] = { "name", "type", NULL };
static const char *const strategy_names[] = { "optuna", NULL };
static const char *const samplers[] = { "random", "tpe",        "nsgaii", "nsgaiii",
                                        "qmc",    "bruteforce", NULL };
static const char *const directions[] = { "minimize", "maximize", NULL };
static const char *const loaders[] = { "train_dataloader", "val_dataloader", "test_dataloader",
                                       NULL };
static const char *const optimizers[] = { "adam", "adamw", "sgd", NULL };

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
    const struct mase_value *setup, *seed;
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
    { 0 },
};

struct space_setup {
    const char *by;
    bool model_parallel;
};
static const struct mase_opt space_setup_rows[] = {
    MASE_OPT_CHOICE(struct space_setup, by, "by", "name", bys, "what the keys of seed name"),
    MASE_OPT_BOOL(struct space_setup, model_parallel, "model_parallel", false,
                  "spread the model over devices"),
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
    const struct mase_value *sw_runner, *hw_runner, *setup, *metrics;
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
    MASE_OPT_VALUE(struct strategy, metrics, "metrics", "objectives"),
    { 0 },
};

struct strategy_setup {
    int64_t n_jobs, n_trials, save_every_n_trials;
    double timeout;
    const char *sampler, *direction, *pkl_ckpt;
    bool sum_scaled_metrics;
};
static const struct mase_opt strategy_setup_rows[] = {
    MASE_OPT_INT(struct strategy_setup, n_jobs, "n_jobs", 1, 1, 65536, "trials at a time"),
    MASE_OPT_INT(struct strategy_setup, n_trials, "n_trials", 20, 1, NO_LIMIT, "trials in all"),
    MASE_OPT_FLOAT(struct strategy_setup, timeout, "timeout", 20000, 0, 1e9, "seconds in all"),
    MASE_OPT_CHOICE(struct strategy_setup, sampler, "sampler", "tpe", samplers,
                    "how the next point is chosen"),
    MASE_OPT_BOOL(struct strategy_setup, sum_scaled_metrics, "sum_scaled_metrics", false,
                  "one objective, the sum, instead of one per metric"),
    MASE_OPT_CHOICE(struct strategy_setup, direction, "direction", NULL, directions, "of the sum"),
    MASE_OPT_PATH(struct strategy_setup, pkl_ckpt, "pkl_ckpt", NULL, "a study to continue"),
    MASE_OPT_INT(struct strategy_setup, save_every_n_trials, "save_every_n_trials", 10, 1, NO_LIMIT,
                 "trials between two saved studies"),
    { 0 },
};

struct metric {
    double scale;
    const char *direction;
};
static const struct mase_opt metric_rows[] = {
    MASE_OPT_FLOAT(struct metric, scale, "scale", 1, -1e9, 1e9, "factor of the metric"),
    MASE_OPT_CHOICE(struct metric, direction, "direction", NULL, directions, "of this metric"),
    { 0 },
};

/* Every runner's options in one struct: each table binds those it knows. */
struct runner_opts {
    int64_t num_samples, max_epochs, num_warmup_steps, gradient_accumulation_steps;
    double learning_rate, weight_decay, compare_to;
    const char *data_loader, *dataloader, *optimizer, *lr_scheduler;
};
#define RUNNER_REQUIRED(f, t, lo, hi, hlp)                                                 \
    {                                                                                      \
        .key = #f, .type = t, .offset = offsetof(struct runner_opts, f), .required = true, \
        .min = lo, .max = hi, .help = hlp                                                  \
    }
#define RUNNER_LOADER(f) \
    MASE_OPT_CHOICE(struct runner_opts, f, #f, "val_dataloader", loaders, "the split to measure on")
static const struct mase_opt evaluation_rows[] = {
    RUNNER_REQUIRED(num_samples, MASE_OPT_TYPE_INT, 1, NO_LIMIT, "samples to measure on"),
    RUNNER_LOADER(data_loader),
    RUNNER_LOADER(dataloader),
    { 0 },
};
static const struct mase_opt train_rows[] = {
    MASE_OPT_INT(struct runner_opts, num_samples, "num_samples", -1, -1, NO_LIMIT,
                 "samples to train on; -1: no limit"),
    MASE_OPT_INT(struct runner_opts, max_epochs, "max_epochs", -1, -1, NO_LIMIT,
                 "passes over the data; -1: no limit"),
    MASE_OPT_CHOICE(struct runner_opts, optimizer, "optimizer", "adam", optimizers, "optimiser"),
    MASE_OPT_FLOAT(struct runner_opts, learning_rate, "learning_rate", 1e-5, 0, 1e6,
                   "learning rate"),
    MASE_OPT_FLOAT(struct runner_opts, weight_decay, "weight_decay", 0, 0, 1e6, "weight decay"),
    MASE_OPT_TEXT(struct runner_opts, lr_scheduler, "lr_scheduler", "linear",
                  "learning rate schedule"),
    MASE_OPT_INT(struct runner_opts, num_warmup_steps, "num_warmup_steps", 0, 0, NO_LIMIT,
                 "steps of rising learning rate"),
    MASE_OPT_INT(struct runner_opts, gradient_accumulation_steps, "gradient_accumulation_steps", 1,
                 1, NO_LIMIT, "batches per step"),
    RUNNER_LOADER(data_loader),
    RUNNER_LOADER(dataloader),
    { 0 },
};
static const struct mase_opt bitwidth_rows[] = {
    RUNNER_REQUIRED(compare_to, MASE_OPT_TYPE_FLOAT, 1, 64, "bits that density is relative to"),
    { 0 },
};
static const struct mase_opt no_rows[] = { { 0 } };

enum runner_kind { SOFTWARE, HARDWARE };
static const struct runner {
    enum runner_kind kind;
    const char *name;
    const struct mase_opt *rows;
    const char *const metrics[4]; /* delivered, NULL ends */
} runners[] = {
    { SOFTWARE, "basic_evaluation", evaluation_rows, { "loss", "accuracy", "perplexity" } },
    { SOFTWARE, "basic_train", train_rows, { "loss", "accuracy", "perplexity" } },
    { HARDWARE, "average_bitwidth", bitwidth_rows, { "average_bitwidth", "memory_density" } },
    { HARDWARE, "hw_dummy", no_rows, { NULL } },
};
enum { RUNNER_COUNT = sizeof runners / sizeof runners[0], MAX_METRICS = 4 * RUNNER_COUNT };

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
static bool known_choice_key(const char *key, const struct mase_value *names)
{
    char word[128];
    for (int n = 0; names && n < names->count; n++) {
        const struct mase_value *name = names->items[n];
        if (name->kind != MASE_STRING)
            continue;
        const struct mase_quant_info *q = mase_quants[mase_quant_find(name->s)];
        for (int o = 0; o < MASE_OPERAND_COUNT; o++)
            for (const struct mase_opt *p = q->params; p->type; p++) {
                mase_snprintf(word, sizeof word, "%s_%s", mase_operand_names[o], p->key);
                if (mase_streq(word, key))
                    return true;
            }
    }
    return mase_streq(key, "name") || mase_streq(key, "bypass");
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
    MASE_TRY(check_format_names(names, err));
    for (int i = 0; i < config->count; i++)
        if (!known_choice_key(config->keys[i], names))
            return mase_fail_at(err, MASE_EVALUE, config->key_at[i],
                                "'%s' is no parameter of the formats in name; they are written "
                                "OPERAND_PARAMETER, such as weight_width",
                                config->keys[i]);
    return MASE_OK;
}

static enum mase_status check_space(const struct mase_value *v, struct mase_arena *a,
                                    struct mase_err *err)
{
    struct space space;
    struct space_setup setup;
    MASE_TRY(mase_opts_bind(&space, sizeof space, space_rows, v, a, err));
    MASE_TRY(may_table(space.setup, "setup", err));
    MASE_TRY(mase_opts_bind(&setup, sizeof setup, space_setup_rows, space.setup, a, err));
    MASE_TRY(need_table(space.seed, "seed", v, err));
    for (int i = 0; i < space.seed->count; i++) {
        struct seed seed;
        const struct mase_value *s = space.seed->items[i];
        MASE_TRY(need_table(s, space.seed->keys[i], s, err));
        MASE_TRY(mase_opts_bind(&seed, sizeof seed, seed_rows, s, a, err));
        MASE_TRY(need_table(seed.config, "config", s, err));
        MASE_TRY(check_seed_config(seed.config, err));
    }
    return MASE_OK;
}

static const struct runner *find_runner(enum runner_kind kind, const char *name)
{
    for (int i = 0; i < RUNNER_COUNT; i++)
        if (runners[i].kind == kind && mase_streq(runners[i].name, name))
            return &runners[i];
    return NULL;
}

/* Check one runner section and add the metrics it delivers. */
static enum mase_status check_runners(const struct mase_value *v, enum runner_kind kind,
                                      const char **metrics, int *metric_count, struct mase_arena *a,
                                      struct mase_err *err)
{
    const char *names[RUNNER_COUNT];
    int n = 0;
    for (int i = 0; i < RUNNER_COUNT; i++)
        if (runners[i].kind == kind)
            names[n++] = runners[i].name;
    for (int i = 0; v && i < v->count; i++) {
        struct runner_opts opts;
        const struct runner *r = find_runner(kind, v->keys[i]);
        if (!r)
            return fail_name(v->key_at[i], "runner", v->keys[i], names, n, err);
        MASE_TRY(need_table(v->items[i], v->keys[i], v, err));
        MASE_TRY(mase_opts_bind(&opts, sizeof opts, r->rows, v->items[i], a, err));
        for (int m = 0; m < 4 && r->metrics[m] && *metric_count < MAX_METRICS; m++)
            metrics[(*metric_count)++] = r->metrics[m];
    }
    return MASE_OK;
}

static bool contains(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (mase_streq(names[i], name))
            return true;
    return false;
}

static enum mase_status check_metrics(const struct mase_value *v, bool summed,
                                      const char *const *known, int known_count,
                                      struct mase_arena *a, struct mase_err *err)
{
    for (int i = 0; i < v->count; i++) {
        struct metric metric;
        if (!contains(known, known_count, v->keys[i]))
            return fail_name(v->key_at[i], "metric", v->keys[i], known, known_count, err);
        MASE_TRY(need_table(v->items[i], v->keys[i], v, err));
        MASE_TRY(mase_opts_bind(&metric, sizeof metric, metric_rows, v->items[i], a, err));
        if (!summed && !metric.direction)
            return mase_fail_at(err, MASE_EVALUE, v->key_at[i],
                                "metric %s: direction is missing: minimize or maximize",
                                v->keys[i]);
    }
    return MASE_OK;
}

/* Sampler names are understood in any case; the rest of the table is left as it is. */
static const struct mase_value *lower_sampler(const struct mase_value *setup, struct mase_arena *a)
{
    const struct mase_value *v = mase_value_get(setup, "sampler");
    if (!v || v->kind != MASE_STRING)
        return setup;
    for (const char *const *s = samplers; *s; s++)
        if (mase_strcaseeq(*s, v->s)) {
            struct mase_value *copy = mase_value_copy(a, setup);
            mase_value_set(a, copy, "sampler", mase_value_string(a, *s));
            return copy;
        }
    return setup;
}

static enum mase_status check_strategy(const struct mase_value *v, struct mase_arena *a,
                                       struct mase_err *err)
{
    struct strategy s;
    struct strategy_setup setup;
    const char *metrics[MAX_METRICS];
    int metric_count = 0;

    MASE_TRY(mase_opts_bind(&s, sizeof s, strategy_rows, v, a, err));
    MASE_TRY(may_table(s.sw_runner, "sw_runner", err));
    MASE_TRY(may_table(s.hw_runner, "hw_runner", err));
    MASE_TRY(check_runners(s.sw_runner, SOFTWARE, metrics, &metric_count, a, err));
    MASE_TRY(check_runners(s.hw_runner, HARDWARE, metrics, &metric_count, a, err));
    MASE_TRY(need_table(s.setup, "setup", v, err));
    MASE_TRY(mase_opts_bind(&setup, sizeof setup, strategy_setup_rows, lower_sampler(s.setup, a), a,
                            err));
    if (setup.sum_scaled_metrics && !setup.direction)
        return mase_fail_at(err, MASE_EVALUE, s.setup->at,
                            "sum_scaled_metrics = true needs direction: minimize or maximize");
    MASE_TRY(need_table(s.metrics, "metrics", v, err));
    return check_metrics(s.metrics, setup.sum_scaled_metrics, metrics, metric_count, a, err);
}

static enum mase_status check(const struct mase_value *search, struct mase_arena *a,
                              struct mase_err *err)
{
    struct search s;
    MASE_TRY(mase_opts_bind(&s, sizeof s, search_rows, search, a, err));
    MASE_TRY(need_table(s.space, "search_space", search, err));
    MASE_TRY(need_table(s.strategy, "strategy", search, err));
    if (check_space(s.space, a, err))
        return mase_wrap(err, "search_space");
    if (check_strategy(s.strategy, a, err))
        return mase_wrap(err, "strategy");
    return MASE_OK;
}

enum mase_status mase_search_check(const struct mase_value *search, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    enum mase_status st = check(search, &a, err);
    mase_arena_release(&a);
    return st ? mase_wrap(err, "search") : MASE_OK;
}
