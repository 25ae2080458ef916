/*
 * rows.c - data of programs: datasets by name, from files, from memory.
 */
#include "api/objects.h"

#include <inttypes.h>
#include <string.h>

#include <mase/work.h>

#include "base/alloc.h"

/* ---- options ---- */

static enum mase_status take_word(struct mase_data_choice *c, enum mase_data_word w,
                                  const struct mase_value *v, struct mase_err *err)
{
    const struct mase_opt *row = &mase_data_rows[w];
    struct mase_value *said;
    c->said[w] = v && v->kind != MASE_NONE;
    if (!c->said[w])
        return MASE_OK;
    MASE_TRY(mase_opt_convert(&said, c->arena, row, v, err));
    c->value[w] = said;
    return MASE_OK;
}

static enum mase_status take_task(struct mase_data_choice *c, const struct mase_value *v,
                                  const struct mase_net *trained, struct mase_err *err)
{
    const char *name = trained ? trained->trained.task : NULL;
    if (v && v->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EVALUE, v->at, "task must be a text");
    if (mase_task_need(&c->task, v ? v->s : name, err))
        return v ? mase_place(err, v->at) : err->status;
    return MASE_OK;
}

static enum mase_status check_keys(const struct mase_value *options, struct mase_err *err)
{
    const char *names[MASE_DATA_WORD_COUNT + 1] = { "task" };
    for (int w = 0; w < MASE_DATA_WORD_COUNT; w++)
        names[1 + w] = mase_data_rows[w].key;
    for (int i = 0; i < options->count; i++) {
        int k = 0;
        while (k <= MASE_DATA_WORD_COUNT && !mase_streq(names[k], options->keys[i]))
            k++;
        if (k > MASE_DATA_WORD_COUNT)
            return mase_fail_unknown(err, options->key_at[i],
                                     &(struct mase_unknown){ options->keys[i], names,
                                                             MASE_DATA_WORD_COUNT + 1,
                                                             .tail = "allowed: ", .lists = true },
                                     "unknown option '%s' of data", options->keys[i]);
    }
    return MASE_OK;
}

/* Parse the options, in c->arena. */
static enum mase_status choose(struct mase_data_choice *c, const char *options,
                               const struct mase_net *trained, struct mase_err *err)
{
    struct mase_value *said;
    MASE_TRY(mase_api_options(&said, c->arena, options, err));
    MASE_TRY(check_keys(said, err));
    for (int w = 0; w < MASE_DATA_WORD_COUNT; w++)
        MASE_TRY(
            take_word(c, (enum mase_data_word)w, mase_value_get(said, mase_data_rows[w].key), err));
    c->weights = trained ? trained->origin : NULL;
    return take_task(c, mase_value_get(said, "task"), trained, err);
}

/* ---- opening ---- */

static struct mase_rows *new_rows(struct mase_session *s, struct mase_dataset *d)
{
    struct mase_rows *rows = mase_xcalloc(sizeof *rows);
    *rows = (struct mase_rows){ s, d };
    return rows;
}

struct open {
    struct mase_session *session;
    struct mase_rows **out;
    const char *name, *options;
    const struct mase_net *trained;
};

/* For a network, scaled as its weights want it, the arrays that its inputs are called. */
static enum mase_status open_choice(struct mase_dataset **d, const struct open *o,
                                    struct mase_data_choice *choice, struct mase_err *err)
{
    MASE_TRY(choose(choice, o->options, o->trained, err));
    struct mase_opened w = { .choice.data = *choice, .trained = { .epoch = -1, .step = -1 } };
    if (o->trained) {
        w.trained = o->trained->trained;
        w.graph = o->trained->graph;
    }
    MASE_TRY(mase_work_open_data(d, &w, err));
    return w.graph ? mase_work_match_inputs(d, &w, err) : MASE_OK;
}

static enum mase_status open_rows(void *data, struct mase_err *err)
{
    const struct open *o = data;
    struct mase_arena a = { 0 };
    struct mase_dataset *d = NULL;
    struct mase_data_choice choice;
    mase_data_choice_init(&choice, &a);
    choice.dataset = o->name;
    const enum mase_status st = open_choice(&d, o, &choice, err);
    mase_arena_release(&a);
    if (st)
        mase_dataset_close(d);
    else
        *o->out = new_rows(o->session, d);
    return st;
}

enum mase_status mase_rows_open(struct mase_session *s, struct mase_rows **rows, const char *name,
                                const char *options, const struct mase_net *trained,
                                struct mase_err *err)
{
    MASE_API_NEED(rows, err);
    *rows = NULL;
    MASE_API_NEED(name, err);
    if (trained)
        MASE_TRY(mase_net_use(trained, err));
    return mase_api_run(s, open_rows, &(struct open){ s, rows, name, options, trained }, err);
}

struct wrap {
    struct mase_session *session;
    struct mase_rows **out;
    const struct mase_arrays *arrays;
    const char *options;
};

/* Each class has a name of its own: those of a network are found by theirs. */
static enum mase_status check_names(struct mase_arena *a, const struct mase_arrays *in,
                                    struct mase_err *err)
{
    struct mase_map names = { .arena = a };
    MASE_TRY(mase_api_text(in->name, "name", err));
    if (in->classes < 0 || in->classes > UINT16_MAX + 1)
        return mase_fail(err, MASE_EVALUE, "there are %d classes, and can be %d", in->classes,
                         UINT16_MAX + 1);
    if (in->class_names && !in->classes)
        return mase_fail(err, MASE_EVALUE, "class_names are names of classes, and classes is 0");
    for (int i = 0; in->class_names && i < in->classes; i++) {
        const char *name = in->class_names[i];
        if (!name || !*name)
            return mase_fail(err, MASE_EVALUE, "class_names[%d] is %s", i, name ? "empty" : "NULL");
        if (mase_map_get(&names, name))
            return mase_fail(err, MASE_EVALUE, "class_names[%d] is '%s', as one before it", i,
                             name);
        mase_map_put(&names, name, (void *)name);
    }
    return MASE_OK;
}

/* Check that arrays in memory have possible sizes. */
static enum mase_status check_counts(const struct mase_arrays *in, const struct mase_shape *sample,
                                     struct mase_err *err)
{
    if (in->target_count < 0 || (in->target_count && !in->targets))
        return mase_fail(err, MASE_EVALUE, "target_count is %lld%s", (long long)in->target_count,
                         in->targets ? "" : ", and targets is NULL");
    if (in->count > UINT32_MAX)
        return mase_fail(err, MASE_ELIMIT, "more than %u rows", UINT32_MAX);
    if (in->count > 0 && (mase_shape_count(sample) > MASE_API_VALUES / in->count ||
                          in->target_count > MASE_API_VALUES / in->count))
        return mase_fail(err, MASE_ELIMIT, "no memory has so many values as %lld samples",
                         (long long)in->count);
    return MASE_OK;
}

static enum mase_status wrap_arrays(struct mase_dataset **d, struct mase_data_choice *choice,
                                    const struct wrap *w, struct mase_err *err)
{
    struct mase_arrays in = { 0 };
    struct mase_dataset_opts opts;
    struct mase_checkpoint_info info = { .epoch = -1, .step = -1 };
    MASE_TRY(
        mase_api_size(w->arrays->size, offsetof(struct mase_arrays, labels), "mase_arrays", err));
    MASE_API_COPY(in, w->arrays);
    struct mase_shape sample;
    if (mase_api_shape(&sample, in.rank, in.shape, MASE_MAX_RANK - 1, err))
        return mase_wrap(err, "the shape of a sample");
    MASE_TRY(check_names(choice->arena, &in, err));
    MASE_TRY(check_counts(&in, &sample, err));
    struct mase_data_arrays arrays = {
        .name = in.name ? in.name : "arrays",
        .x = in.x,
        .count = in.count,
        .sample = sample,
        .labels = in.labels,
        .targets = in.targets,
        .target_count = in.target_count,
        .classes = in.classes,
        .class_names = in.class_names,
        .train = in.train,
        .validation = in.validation,
    };
    choice->dataset = arrays.name;
    MASE_TRY(choose(choice, w->options, NULL, err));
    if (mase_data_choice_scaling_file(choice))
        MASE_TRY(
            mase_trained_read(&info, choice->arena, mase_data_choice_scaling_file(choice), err));
    MASE_TRY(mase_data_choice_opts(&opts, choice, &info, err));
    opts.scale = mase_data_choice_scale(choice);
    if (info.scaling.n) {
        opts.scale = MASE_SCALE_GIVEN;
        opts.scaling = &info.scaling;
    }
    if (!in.labels && !in.targets && opts.target == MASE_TARGET_CLASS)
        opts.target = MASE_TARGET_NONE;
    return mase_dataset_from(d, &arrays, &opts, err);
}

static enum mase_status wrap_rows(void *data, struct mase_err *err)
{
    const struct wrap *w = data;
    struct mase_arena a = { 0 };
    struct mase_dataset *d = NULL;
    struct mase_data_choice choice;
    mase_data_choice_init(&choice, &a);
    const enum mase_status st = wrap_arrays(&d, &choice, w, err);
    mase_arena_release(&a);
    if (!st)
        *w->out = new_rows(w->session, d);
    return st;
}

enum mase_status mase_rows_from(struct mase_session *s, struct mase_rows **rows,
                                const struct mase_arrays *arrays, const char *options,
                                struct mase_err *err)
{
    MASE_API_NEED(rows, err);
    *rows = NULL;
    MASE_API_NEED(arrays, err);
    return mase_api_run(s, wrap_rows, &(struct wrap){ s, rows, arrays, options }, err);
}

void mase_rows_free(struct mase_rows *rows)
{
    if (!rows)
        return;
    mase_dataset_close(rows->dataset);
    mase_xfree(rows);
}

/* ---- looking ---- */

static struct mase_value *texts(struct mase_arena *a, const char *const *names, int64_t n)
{
    return names ? mase_value_strings(a, names, n) : mase_value_none(a);
}

static struct mase_value *numbers(struct mase_arena *a, const double *x, int64_t n)
{
    return n ? mase_value_floats(a, x, n) : mase_value_none(a);
}

static struct mase_value *describe(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    struct mase_value *v = mase_value_table(a), *splits = mase_value_table(a);
    for (int i = 0; i < MASE_SPLIT_PRED; i++)
        mase_value_set(a, splits, mase_split_names[i],
                       mase_value_int(a, mase_dataset_split(d, (enum mase_split)i).count));
    mase_value_set(a, v, "name", mase_value_text(a, info->data.name));
    mase_value_set(a, v, "source", mase_value_text(a, info->source));
    mase_value_set(a, v, "simulated", mase_value_bool(a, info->simulated));
    mase_value_set(a, v, "notice", mase_value_text(a, info->notice));
    mase_value_set(a, v, "rows", mase_value_int(a, info->rows));
    mase_value_set(a, v, "sample",
                   mase_value_ints(a, info->data.sample.dim, info->data.sample.rank));
    mase_value_set(a, v, "classes", mase_value_int(a, info->data.classes));
    mase_value_set(a, v, "class_names", texts(a, info->class_names, info->data.classes));
    mase_value_set(
        a, v, "feature_names",
        texts(a, info->feature_names, info->feature_names ? mase_data_features(&info->data) : 0));
    mase_value_set(a, v, "targets", mase_value_int(a, info->data.targets));
    mase_value_set(a, v, "target_names",
                   texts(a, info->target_names, info->target_names ? info->data.targets : 0));
    mase_value_set(a, v, "splits", splits);
    mase_value_set(a, v, "scaling", mase_value_string(a, mase_scale_names[info->scale]));
    mase_value_set(a, v, "mean", numbers(a, info->scaling.mean, info->scaling.n));
    mase_value_set(a, v, "scale", numbers(a, info->scaling.std, info->scaling.n));
    mase_value_set(a, v, "checksum", mase_value_string(a, info->checksum));
    return v;
}

struct look {
    const struct mase_rows *rows;
    struct mase_text *out;
};

static enum mase_status print_info(void *data, struct mase_err *err)
{
    const struct look *l = data;
    struct mase_arena a = { 0 };
    (void)err;
    mase_text_json(l->out, describe(&a, l->rows->dataset));
    mase_arena_release(&a);
    return MASE_OK;
}

enum mase_status mase_rows_info(const struct mase_rows *rows, struct mase_text *out,
                                struct mase_err *err)
{
    MASE_API_NEED(rows, err);
    MASE_API_NEED(out, err);
    return mase_api_run(rows->session, print_info, &(struct look){ rows, out }, err);
}

/* ---- reading ---- */

static int split_of(const char *name)
{
    int i = 0;
    while (i < MASE_SPLIT_COUNT && !mase_streq(mase_split_names[i], name))
        i++;
    return i < MASE_SPLIT_COUNT ? i : -1;
}

enum mase_status mase_api_split(enum mase_split *split, const char *name, struct mase_err *err)
{
    const int i = split_of(name);
    if (i < 0)
        return mase_fail(err, MASE_EVALUE,
                         "there is no split '%s'; there are train, validation and test", name);
    *split = (enum mase_split)i;
    return MASE_OK;
}

int64_t mase_rows_count(const struct mase_rows *rows, const char *split)
{
    const int i = rows ? split_of(split) : -1;
    return i < 0 ? -1 : mase_dataset_split(rows->dataset, (enum mase_split)i).count;
}

struct read {
    const struct mase_rows *rows;
    const char *split;
    int64_t first, n;
    float *x;
    int32_t *labels;
    float *targets;
};

static enum mase_status read_rows(void *data, struct mase_err *err)
{
    const struct read *r = data;
    const struct mase_dataset *d = r->rows->dataset;
    const struct mase_data_info *info = &mase_dataset_info(d)->data;
    const float *targets = mase_dataset_targets(d);
    enum mase_split which;
    MASE_TRY(mase_api_split(&which, r->split, err));
    const struct mase_split_rows split = mase_dataset_split(d, which);
    if (r->first < 0 || r->n < 0 || r->first > split.count || r->n > split.count - r->first)
        return mase_fail(err, MASE_EVALUE,
                         "the %s split of %s has %" PRId64 " samples; %" PRId64 " from %" PRId64
                         " on are not there",
                         r->split, info->name, split.count, r->n, r->first);
    if ((r->labels && !mase_dataset_labels(d)) || (r->targets && !targets))
        return mase_fail(err, MASE_EVALUE, "%s has no %s", info->name,
                         r->labels ? "labels" : "numbers to predict");
    const uint32_t *row = split.row + r->first;
    if (r->x)
        mase_dataset_batch(d, &(struct mase_batch){ .row = row,
                                                    .n = r->n,
                                                    .x = r->x,
                                                    .feature_stride = 1,
                                                    .sample_stride = mase_data_features(info) });
    for (int64_t i = 0; i < r->n && r->labels; i++)
        r->labels[i] = mase_dataset_labels(d)[row[i]];
    for (int64_t i = 0; i < r->n && r->targets; i++)
        memcpy(r->targets + i * info->targets, targets + row[i] * info->targets,
               (size_t)info->targets * sizeof *targets);
    return MASE_OK;
}

enum mase_status mase_rows_read(const struct mase_rows *rows, const char *split, int64_t first,
                                int64_t n, float *x, int32_t *labels, float *targets,
                                struct mase_err *err)
{
    struct read r = { rows, split, first, n, x, labels, targets };
    MASE_API_NEED(rows, err);
    MASE_API_NEED(split, err);
    return mase_api_run(rows->session, read_rows, &r, err);
}

struct table {
    const struct mase_rows *rows;
    struct mase_table_rows *out;
    const char *split;
};

static enum mase_status find_table(void *data, struct mase_err *err)
{
    const struct table *t = data;
    const struct mase_dataset *d = t->rows->dataset;
    const struct mase_table_view view = mase_dataset_table(d);
    enum mase_split which;
    MASE_TRY(mase_api_size(t->out->size, sizeof *t->out, "mase_table_rows", err));
    MASE_TRY(mase_api_split(&which, t->split, err));
    const struct mase_split_rows split = mase_dataset_split(d, which);
    struct mase_table_rows found = { .x = view.data,
                                     .rows = mase_dataset_info(d)->rows,
                                     .stride = view.stride,
                                     .labels = mase_dataset_labels(d),
                                     .targets = mase_dataset_targets(d),
                                     .split = split.row,
                                     .count = split.count };
    MASE_API_GIVE(t->out, found);
    return MASE_OK;
}

enum mase_status mase_rows_table(const struct mase_rows *rows, struct mase_table_rows *table,
                                 const char *split, struct mase_err *err)
{
    MASE_API_NEED(rows, err);
    MASE_API_NEED(table, err);
    MASE_API_NEED(split, err);
    return mase_api_run(rows->session, find_table, &(struct table){ rows, table, split }, err);
}

/* ---- for passes ---- */

static enum mase_status count_samples(void *data, const char *split, int64_t *count,
                                      struct mase_err *err)
{
    const struct mase_rows *rows = data;
    enum mase_split which;
    MASE_TRY(mase_api_split(&which, split, err));
    *count = mase_dataset_split(rows->dataset, which).count;
    if (*count == 0)
        return mase_fail(err, MASE_EVALUE, "the %s split of %s is empty", split,
                         mase_dataset_info(rows->dataset)->data.name);
    return MASE_OK;
}

static enum mase_status read_samples(void *data, const char *split, int64_t first, int64_t n,
                                     float *x, struct mase_err *err)
{
    return read_rows(&(struct read){ .rows = data, .split = split, .first = first, .n = n, .x = x },
                     err);
}

static bool lend_samples(void *data, const char *split, int64_t first, struct mase_sample_rows *out)
{
    const struct mase_rows *rows = data;
    const struct mase_table_view table = mase_dataset_table(rows->dataset);
    if (!table.data)
        return false;
    *out = (struct mase_sample_rows){
        table.data, table.stride,
        mase_dataset_split(rows->dataset, (enum mase_split)split_of(split)).row + first
    };
    return true;
}

struct mase_samples mase_api_samples(const struct mase_rows *rows)
{
    return (struct mase_samples){
        .count = count_samples, .read = read_samples, .lend = lend_samples, .data = (void *)rows
    };
}
