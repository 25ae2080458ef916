/*
 * read.c - read and check run.json, and restore the options of the run. Options that name the
 * network and the data are set as if by a configuration file, so that both open as they did in the
 * run; the command line overrides them.
 */
#include "cli/report/report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>

const char *mase_report_path(const struct mase_report *r, const char *name)
{
    return mase_path_join(r->arena, r->dir, name);
}

const char *mase_report_relative(const struct mase_report *r, const char *path)
{
    const char *dir = mase_path_absolute(r->arena, r->dir);
    const size_t n = strlen(dir);
    return mase_starts_with(path, dir) && path[n] == '/' ? path + n + 1 : path;
}

void mase_report_note(struct mase_report *r, const char *fmt, ...)
{
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    r->notes = mase_arena_grow(r->arena, r->notes, r->note_count, &r->note_cap, sizeof *r->notes);
    r->notes[r->note_count++] = mase_arena_strdup(r->arena, mase_str_text(&text));
    mase_warn("%s", mase_str_text(&text));
    mase_str_release(&text);
}

/* ---- values ---- */

const struct mase_value *mase_report_value(const struct mase_report *r, const char *path)
{
    return mase_value_at(r->run, path);
}

const char *mase_report_text(const struct mase_report *r, const char *path)
{
    const struct mase_value *v = mase_report_value(r, path);
    return v && v->kind == MASE_STRING ? v->s : NULL;
}

double mase_report_real(const struct mase_value *v, const char *path)
{
    return mase_value_number(mase_value_at(v, path));
}

double mase_report_number(const struct mase_report *r, const char *path)
{
    return mase_report_real(r->run, path);
}

enum mase_status mase_report_expect(const struct mase_value *v, enum mase_value_kind kind,
                                    const struct mase_value *owner, const char *key,
                                    struct mase_err *err)
{
    if (!v)
        return mase_fail_at(err, MASE_EPARSE, owner->at, "'%s' is missing", key);
    if (v->kind != kind)
        return mase_fail_at(err, MASE_EPARSE, v->at, "'%s': expected %s, got %s", key,
                            mase_value_kind_names[kind], mase_value_kind_names[v->kind]);
    return MASE_OK;
}

enum mase_status mase_report_expect_number(double *x, const struct mase_value *owner,
                                           const char *key, struct mase_err *err)
{
    const struct mase_value *v = mase_value_get(owner, key);
    if (!v)
        return mase_fail_at(err, MASE_EPARSE, owner->at, "'%s' is missing", key);
    if (v->kind != MASE_INT && v->kind != MASE_FLOAT && v->kind != MASE_NONE)
        return mase_fail_at(err, MASE_EPARSE, v->at, "'%s': expected number, got %s", key,
                            mase_value_kind_names[v->kind]);
    *x = mase_report_real(owner, key);
    return MASE_OK;
}

/* ---- the record ---- */

/* Check what every page needs. */
static enum mase_status check_record(const struct mase_value *run, struct mase_err *err)
{
    static const struct {
        const char *path;
        enum mase_value_kind kind;
    } needed[] = {
        { "action", MASE_STRING },
        { "version", MASE_STRING },
        { "command", MASE_LIST },
        { "model", MASE_TABLE },
        { "model.name", MASE_STRING },
        { "dataset", MASE_TABLE },
        { "dataset.name", MASE_STRING },
        { "dataset.sample", MASE_LIST },
        { "dataset.classes", MASE_INT },
        { "configuration", MASE_TABLE },
        { "configuration.options", MASE_TABLE },
        { "results", MASE_TABLE },
    };
    if (run->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EPARSE, run->at, "is no record of a run");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        MASE_TRY(mase_report_expect(mase_value_at(run, needed[i].path), needed[i].kind, run,
                                    needed[i].path, err));
    return MASE_OK;
}

static enum mase_status read_sample(struct mase_shape *s, const struct mase_value *list,
                                    struct mase_err *err)
{
    if (list->count > MASE_MAX_RANK - 1)
        return mase_fail_at(err, MASE_EPARSE, list->at, "a sample has %d dimensions, at most %d",
                            list->count, MASE_MAX_RANK - 1);
    int64_t all = 1;
    s->rank = list->count;
    for (int i = 0; i < list->count; i++) {
        const struct mase_value *v = list->items[i];
        const int64_t most = INT32_MAX / all;
        MASE_TRY(mase_report_expect(v, MASE_INT, list, "dataset.sample", err));
        if (v->i < 1 || v->i > most)
            return mase_fail_at(err, MASE_EPARSE, v->at, "a dimension of %lld is outside 1..%lld",
                                (long long)v->i, (long long)most);
        all *= s->dim[i] = v->i;
    }
    return MASE_OK;
}

/* Read the shapes of further inputs. */
static enum mase_status read_more(struct mase_data_info *d, const struct mase_value *list,
                                  struct mase_err *err)
{
    if (!list)
        return MASE_OK;
    MASE_TRY(mase_report_expect(list, MASE_LIST, list, "dataset.more", err));
    if (list->count > MASE_MORE_INPUTS)
        return mase_fail_at(err, MASE_EPARSE, list->at, "%d further inputs, at most %d",
                            list->count, (int)MASE_MORE_INPUTS);
    for (int i = 0; i < list->count; i++) {
        MASE_TRY(mase_report_expect(list->items[i], MASE_LIST, list, "dataset.more", err));
        MASE_TRY(read_sample(&d->more[d->more_count++], list->items[i], err));
    }
    return MASE_OK;
}

static enum mase_status read_data(struct mase_report *r, struct mase_err *err)
{
    const struct mase_value *classes = mase_report_value(r, "dataset.classes");
    const double targets = mase_report_number(r, "dataset.targets");
    if (classes->i < 0 || classes->i > 1 << 20)
        return mase_fail_at(err, MASE_EPARSE, classes->at, "classes = %lld is outside 0..%d",
                            (long long)classes->i, 1 << 20);
    r->data = (struct mase_data_info){ .name = mase_report_text(r, "dataset.name"),
                                       .classes = (int)classes->i,
                                       .targets =
                                           targets > 0 && targets <= 1 << 22 ? (int64_t)targets : 0,
                                       .help = "" };
    const struct mase_value *simulated = mase_report_value(r, "dataset.simulated");
    r->notice = mase_report_text(r, "dataset.notice");
    r->simulated = simulated && simulated->kind == MASE_BOOL && simulated->b;
    MASE_TRY(read_sample(&r->data.sample, mase_report_value(r, "dataset.sample"), err));
    return read_more(&r->data, mase_report_value(r, "dataset.more"), err);
}

/* ---- options ---- */

/* Is the model the one whose layers the configuration lists? The command line may name another. */
static bool is_listed(const struct mase_report *r)
{
    const char *name = mase_report_text(r, "configuration.model.name");
    return mase_report_value(r, "configuration.model.layers") &&
           mase_streq(name ? name : "own", r->model);
}

/* Restore the options that decide the network and the data. Their paths may no longer exist. */
static enum mase_status restore_options(struct mase_report *r, struct mase_err *err)
{
    static const enum mase_cli_option_id ids[] = {
        MASE_CLI_model,         MASE_CLI_dataset,
        MASE_CLI_seed,          MASE_CLI_split,
        MASE_CLI_split_by,      MASE_CLI_split_seed,
        MASE_CLI_label,         MASE_CLI_features,
        MASE_CLI_drop_nan,      MASE_CLI_require_real_data,
        MASE_CLI_trace_seconds, MASE_CLI_task,
        MASE_CLI_loss,          MASE_CLI_loss_delta,
        MASE_CLI_image_size,    MASE_CLI_image_channels,
        MASE_CLI_normalize,
    };
    const struct mase_value *options = mase_report_value(r, "configuration.options");
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const char *key = mase_cli_options[ids[i]].key;
        const struct mase_value *v = mase_value_get(options, key);
        if (v && v->kind != MASE_NONE && v->kind != MASE_LIST) /* a list is an axis of a sweep */
            MASE_TRY(
                mase_cli_option_check(&r->c->setting[ids[i]].file, r->arena, ids[i], key, v, err));
    }
    r->c->config = mase_value_copy(r->arena, mase_value_get(r->run, "configuration"));
    if (!is_listed(r)) /* the layers belong to another model */
        mase_value_set(r->arena, r->c->config, "model", mase_value_none(r->arena));
    static const enum mase_cli_option_id paths[] = { MASE_CLI_data_dir, MASE_CLI_scaling };
    const bool trained = mase_streq(r->action, "train"); /* its checkpoints record the scaling */
    for (int i = 0; i < (trained ? 1 : 2); i++) {
        const struct mase_value *v = mase_value_get(options, mase_cli_options[paths[i]].key);
        if (v && v->kind == MASE_STRING)
            r->c->setting[paths[i]].file = mase_value_copy(r->arena, v);
    }
    return MASE_OK;
}

/* ---- read all ---- */

static enum mase_status find_records(struct mase_report *r, struct mase_err *err)
{
    const char *run = mase_report_path(r, "run.json");
    const char *test = mase_report_path(r, "software/test/run.json");
    if (!mase_is_dir(r->dir))
        return mase_fail_in(err, MASE_EIO, r->dir,
                            mase_is_file(r->dir) ? "is a file, expected the folder of a run"
                                                 : "no such folder");
    if (!mase_is_file(run) && !mase_is_file(test))
        return mase_fail_in(err, MASE_EVALUE, r->dir,
                            "is not the folder of a run: it has no run.json. ch train, transform, "
                            "test, sweep and search make such folders, mase_output/PROJECT");
    if (mase_is_file(run))
        MASE_TRY(mase_json_read(&r->run, r->arena, run, err));
    if (mase_is_file(test))
        MASE_TRY(mase_json_read(&r->test, r->arena, test, err));
    r->run = r->run ? r->run : r->test;
    return MASE_OK;
}

enum mase_status mase_report_read_record(struct mase_report *r, struct mase_err *err)
{
    static const char *const actions[] = { "train", "transform", "test", "sweep", "search" };
    MASE_TRY(find_records(r, err));
    MASE_TRY(check_record(r->run, err));
    if (r->test)
        MASE_TRY(check_record(r->test, err));
    r->action = mase_report_text(r, "action");
    r->model = mase_report_text(r, "model.name");
    bool known = false;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        known = known || mase_streq(actions[i], r->action);
    if (!known)
        return mase_fail_at(err, MASE_EVALUE, mase_report_value(r, "action")->at,
                            "'%s' is no action that reports are made of: train, transform, test, "
                            "sweep, search",
                            r->action);
    MASE_TRY(read_data(r, err));
    return restore_options(r, err);
}

const struct mase_task *mase_report_task(const struct mase_report *r)
{
    const struct mase_task *task = r->task ? r->task : mase_cli_task(r->c);
    return task ? task : mase_tasks;
}
