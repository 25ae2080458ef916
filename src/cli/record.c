/*
 * record.c - write run.json: the command, its options and its results.
 */
#include <string.h>
#include <time.h>

#include <mase/file.h>
#include <mase/progress.h>

#include "base/ranks.h"
#include "cli/command_nets.h"
#include "cli/project.h"
#include "kern/kern.h"

static void set_text(struct mase_arena *a, struct mase_value *v, const char *key, const char *text)
{
    mase_value_set(a, v, key, mase_value_text(a, text));
}

static void set_int(struct mase_arena *a, struct mase_value *v, const char *key, int64_t i)
{
    mase_value_set(a, v, key, mase_value_int(a, i));
}

static enum mase_status set_hash(struct mase_arena *a, struct mase_value *v, const char *path,
                                 struct mase_err *err)
{
    struct mase_file f;
    char hex[65];
    MASE_TRY(mase_file_open(&f, path, err));
    mase_sha256(hex, f.data, f.size);
    set_int(a, v, "bytes", (int64_t)f.size);
    set_text(a, v, "sha256", hex);
    mase_file_close(&f);
    return MASE_OK;
}

static struct mase_value *command_line(struct mase_arena *a, const struct mase_cli *c)
{
    return mase_value_strings(a, (const char *const *)c->argv, c->argc);
}

/* Do options print alike? */
static bool prints_alike(const struct mase_value *a, const struct mase_value *b)
{
    struct mase_str one = { 0 }, other = { 0 };
    if (a && b) {
        mase_json_print(&one, a, 0);
        mase_json_print(&other, b, 0);
    }
    const bool alike = a && b && mase_streq(mase_str_text(&one), mase_str_text(&other));
    mase_str_release(&one);
    mase_str_release(&other);
    return alike;
}

/* Results without durations. */
static struct mase_value *untimed(struct mase_arena *a, const struct mase_value *results)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; results && results->kind == MASE_TABLE && i < results->count; i++)
        if (!mase_streq(results->keys[i], "seconds") &&
            !mase_streq(results->keys[i], "samples_per_second"))
            mase_value_set(a, v, results->keys[i], results->items[i]);
    return v;
}

bool mase_cli_is_recorded(struct mase_cli *c, const char *path, const struct mase_value *results)
{
    struct mase_value *record;
    if (!mase_is_file(path) || mase_json_read(&record, &c->arena, path, NULL))
        return false;
    return prints_alike(mase_value_get(record, "command"), command_line(&c->arena, c)) &&
           prints_alike(untimed(&c->arena, mase_value_get(record, "results")),
                        untimed(&c->arena, results));
}

static enum mase_status configuration(struct mase_value **out, struct mase_arena *a,
                                      const struct mase_cli *c, struct mase_err *err)
{
    struct mase_value *v = *out = mase_value_table(a), *options = mase_value_table(a);
    const char *path = mase_cli_text(c, MASE_CLI_config);
    if (path) {
        struct mase_value *file = mase_value_set(a, v, "file", mase_value_table(a));
        set_text(a, file, "path", mase_path_absolute(a, path));
        MASE_TRY(set_hash(a, file, path, err));
    }
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        if (mase_cli_options[i].flags & MASE_CLI_KEY)
            mase_value_set(a, options, mase_cli_options[i].key,
                           mase_value_copy(a, mase_cli_value(c, (enum mase_cli_option_id)i)));
    mase_value_set(a, v, "options", options);
    for (int i = 0; c->config && i < c->config->count; i++)
        if (c->config->items[i]->kind == MASE_TABLE)
            mase_value_set(a, v, c->config->keys[i], c->config->items[i]);
    return MASE_OK;
}

struct mase_value *mase_cli_data_shape(struct mase_arena *a, const struct mase_data_info *d)
{
    struct mase_value *v = mase_value_table(a), *more = mase_value_list(a);
    set_text(a, v, "name", d->name);
    mase_value_set(a, v, "sample", mase_value_ints(a, d->sample.dim, d->sample.rank));
    for (int i = 0; i < d->more_count; i++)
        mase_value_push(a, more, mase_value_ints(a, d->more[i].dim, d->more[i].rank));
    if (d->more_count)
        mase_value_set(a, v, "more", more);
    set_int(a, v, "classes", d->classes);
    if (d->targets)
        set_int(a, v, "targets", d->targets);
    set_int(a, v, "rows_read", 0);
    return v;
}

struct mase_value *mase_cli_data_record(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    struct mase_value *v = mase_cli_data_shape(a, &info->data), *splits = mase_value_table(a);
    for (int s = 0; s < MASE_SPLIT_COUNT; s++)
        set_int(a, splits, mase_split_names[s], mase_dataset_split(d, (enum mase_split)s).count);
    set_int(a, v, "rows_read", info->rows);
    set_int(a, v, "duplicates", info->duplicates);
    if (info->drop_missing)
        set_int(a, v, "dropped", info->dropped);
    if (info->columns.label_count)
        set_text(a, v, "label", info->columns.labels[0]);
    mase_value_set(a, v, "splits", splits);
    set_text(a, v, "source", info->source);
    set_text(a, v, "sha256", info->checksum);
    mase_value_set(a, v, "simulated", mase_value_bool(a, info->simulated));
    set_text(a, v, "notice", info->notice);
    set_text(a, v, "scaling", mase_scale_names[info->scale]);
    set_int(a, v, "scaling_rows", info->scale_rows);
    return v;
}

/* Describe the weights of --load by path and hash, since the file at the path may change. */
static enum mase_status set_weights(struct mase_arena *a, struct mase_value *v,
                                    const struct mase_cli_record *r, struct mase_err *err)
{
    const char *path = mase_cli_text(r->c, MASE_CLI_load_name);
    struct mase_value *file = mase_value_table(a);
    if (r->weights == MASE_WEIGHTS_SEED) {
        set_text(a, v, "weights", "initialised from the seed");
        return MASE_OK;
    }
    set_text(a, v, "weights", path);
    if (mase_ends_with(path, MASE_SAVED_GRAPH))
        path = mase_arena_strndup(a, path, strlen(path) - strlen(MASE_SAVED_GRAPH));
    if (mase_is_dir(path))
        path = mase_path_join(a, path, MASE_SAVED_WEIGHTS);
    if (!mase_is_file(path)) /* a stream, or a graph without parameters */
        return MASE_OK;
    MASE_TRY(set_hash(a, file, path, err));
    mase_value_set(a, v, "weights_sha256", mase_value_copy(a, mase_value_get(file, "sha256")));
    return MASE_OK;
}

static enum mase_status set_model(struct mase_arena *a, struct mase_value *record,
                                  const struct mase_cli_record *r, struct mase_err *err)
{
    struct mase_value *v = mase_value_set(a, record, "model", mase_value_table(a));
    set_text(a, v, "name", r->model->name);
    if (r->graph)
        set_int(a, v, "parameters", mase_graph_param_count(r->graph));
    if (r->graph && mase_graph_frozen_count(r->graph))
        set_int(a, v, "frozen_parameters", mase_graph_frozen_count(r->graph));
    if (r->graph)
        set_int(a, v, "not_finite", mase_graph_not_finite(r->graph, NULL));
    if (r->graph && mase_cli_formats_in(a, r->graph))
        set_text(a, v, "quantised", mase_cli_formats_in(a, r->graph));
    return set_weights(a, v, r, err);
}

/* The instruction set of the plans, if the run does not say. */
static enum mase_status set_isa(struct mase_arena *a, struct mase_value *record, const char *isa,
                                struct mase_err *err)
{
    const struct mase_kernels *kernels;
    if (!isa) {
        MASE_TRY(mase_kernels_select(&kernels, err));
        isa = kernels->isa;
    }
    set_text(a, record, "isa", isa);
    return MASE_OK;
}

/* Make paths inside the project relative, so that its folder can be moved. */
static const char *relative(const char *path, const char *dir)
{
    const size_t n = strlen(dir);
    return mase_starts_with(path, dir) && path[n] == '/' ? path + n + 1 : path;
}

static enum mase_status files(struct mase_value **out, struct mase_arena *a,
                              const struct mase_cli_record *r, struct mase_err *err)
{
    const struct mase_value *paths = r->files;
    *out = mase_value_list(a);
    for (int i = 0; i < paths->count; i++) {
        struct mase_value *v = mase_value_table(a);
        set_text(a, v, "path", relative(paths->items[i]->s, r->project_dir));
        MASE_TRY(set_hash(a, v, paths->items[i]->s, err));
        mase_value_push(a, *out, v);
    }
    return MASE_OK;
}

const char *mase_cli_graph_text(struct mase_arena *a, const struct mase_model *m,
                                const struct mase_graph *g)
{
    struct mase_str text = { 0 };
    if (m->build)
        return NULL;
    mase_graph_print_mg(&text, g);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

enum mase_status mase_cli_save_graph(struct mase_arena *a, const char *text, const char *dir,
                                     struct mase_value *files, struct mase_err *err)
{
    const char *path = mase_path_join(a, dir, MASE_CLI_GRAPH);
    if (!text)
        return MASE_OK;
    mase_value_push(a, files, mase_value_string(a, path));
    return mase_file_write(path, text, strlen(text), err);
}

static const char *now(struct mase_arena *a)
{
    struct tm tm;
    char text[32];
    const time_t t = time(NULL);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    return mase_arena_strdup(a, text);
}

enum mase_status mase_cli_record(const struct mase_cli_record *r, struct mase_err *err)
{
    struct mase_arena *a = &r->c->arena;
    struct mase_value *v = mase_value_table(a), *config, *written;
    struct mase_str text = { 0 };

    MASE_TRY(configuration(&config, a, r->c, err));
    MASE_TRY(files(&written, a, r, err));
    set_text(a, v, "version", MASE_VERSION);
    set_text(a, v, "action", r->c->command->name);
    mase_value_set(a, v, "command", command_line(a, r->c));
    set_text(a, v, "finished", now(a));
    MASE_TRY(set_model(a, v, r, err));
    mase_value_set(a, v, "dataset", r->dataset);
    mase_value_set(a, v, "seed", mase_value_copy(a, mase_cli_value(r->c, MASE_CLI_seed)));
    MASE_TRY(set_isa(a, v, r->isa, err));
    set_int(a, v, "threads", r->threads);
    if (r->c->ranks)
        set_int(a, v, "processes", r->c->ranks->count);
    mase_value_set(a, v, "configuration", config);
    if (r->passes)
        mase_value_set(a, v, "passes", r->passes);
    mase_value_set(a, v, "results", r->results);
    mase_value_set(a, v, "files", written);
    mase_value_set(a, v, "seconds",
                   mase_value_float(a, 1e-9 * (double)(mase_clock() - r->started)));
    mase_json_print(&text, v, 2);
    mase_str_addc(&text, '\n');
    enum mase_status st = mase_cli_write_record(r->c, r->project_dir, r->name, &text, err);
    mase_str_release(&text);
    return st;
}

enum mase_status mase_cli_record_passes(const struct mase_cli_record *r,
                                        const struct mase_manager *m, struct mase_err *err)
{
    struct mase_cli_record whole = *r;
    whole.threads = m->env.threads;
    whole.passes = m->timings;
    whole.results = m->env.info;
    whole.files = m->env.files;
    return mase_cli_record(&whole, err);
}
