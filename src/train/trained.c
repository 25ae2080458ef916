/*
 * trained.c - what weights were trained on: how features were scaled, which columns were read, how
 * rows were divided, what classes are called.
 *
 * A checkpoint of ours says it. For other people's a file can, and for saved folders the file
 * scaling.json in them:
 *
 *     {"mean": [0.5, ...], "scale": [1.25, ...],         one number for each feature
 *      "classes": ["g", "q", ...]}                       in the order of the outputs; may be left
 *                                                        out
 *
 * Saved folders also say which columns were read, "labels", "features", "drop_nan", and how the
 * rows were divided, "split", "split_by", "split_seed"; of pictures, "image_channels",
 * "image_height", "image_width", "image_mean" and "image_std".
 * "std" is another name for scale; {"scaling": "none"} says that there was none. A .safetensors or
 * .pt file may hold mean and scale as tensors.
 */
#include "train/trained_file.h"

#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/saved.h>
#include <mase/weights.h>

#include "train/trainer.h"

static enum mase_status fail_missing(const char *path, const char *what, struct mase_err *err)
{
    return mase_fail_in(err, MASE_EVALUE, path, "it has no %s of the features, one number for each",
                        what);
}

/* As many means as scales, which are numbers that can scale. */
static enum mase_status check_scaling(const struct mase_scaling *s, int64_t scales,
                                      const char *what, const char *path, struct mase_err *err)
{
    if (s->n != scales)
        return mase_fail_in(err, MASE_EVALUE, path, "%lld means do not go with %lld scales",
                            (long long)s->n, (long long)scales);
    for (int64_t i = 0; i < s->n; i++)
        if (!isfinite(s->mean[i]) || !isfinite(s->std[i]) || !(s->std[i] > 0))
            return mase_fail_in(err, MASE_EVALUE, path,
                                "%s %lld: mean %g and scale %g; both must be finite, a scale above "
                                "0",
                                what, (long long)i, s->mean[i], s->std[i]);
    return MASE_OK;
}

/* ---- tables: of a file in JSON, or of a checkpoint ---- */

/* NULL: there is none. */
static const struct mase_value *field(const struct mase_value *root, const char *key)
{
    const struct mase_value *v = mase_value_get(root, key);
    return v && v->kind != MASE_NONE ? v : NULL;
}

static const struct mase_value *field_of_kind(const struct mase_value *root, const char *key,
                                              enum mase_value_kind kind)
{
    const struct mase_value *v = mase_value_get(root, key);
    return v && v->kind == kind ? v : NULL;
}

static enum mase_status get_numbers(const double **out, int64_t *n, struct mase_arena *a,
                                    const struct mase_value *list, struct mase_err *err)
{
    double *values = mase_new_array(a, double, (size_t)list->count);
    for (int i = 0; i < list->count; i++) {
        const struct mase_value *v = list->items[i];
        if (v->kind != MASE_FLOAT && v->kind != MASE_INT)
            return mase_fail_at(err, MASE_EVALUE, v->at, "expected a number, got %s",
                                mase_value_kind_names[v->kind]);
        values[i] = mase_value_number(v);
    }
    *out = values;
    *n = list->count;
    return MASE_OK;
}

static enum mase_status get_names(const char ***names, int *count, struct mase_arena *a,
                                  const struct mase_value *root, const char *key, int least,
                                  struct mase_err *err)
{
    const struct mase_value *list = field(root, key);
    if (!list)
        return MASE_OK;
    if (list->kind != MASE_LIST || list->count < least)
        return mase_fail_at(err, MASE_EVALUE, list->at, "%s must be a list of names", key);
    *names = mase_new_array(a, const char *, (size_t)list->count);
    *count = list->count;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i]->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EVALUE, list->items[i]->at,
                                "%s: a name is a text, got %s", key,
                                mase_value_kind_names[list->items[i]->kind]);
        (*names)[i] = list->items[i]->s;
    }
    return MASE_OK;
}

static enum mase_status get_columns(struct mase_data_columns *c, struct mase_arena *a,
                                    const struct mase_value *root, struct mase_err *err)
{
    const char **labels = NULL, **features = NULL;
    MASE_TRY(get_names(&labels, &c->label_count, a, root, "labels", 1, err));
    MASE_TRY(get_names(&features, &c->feature_count, a, root, "features", 1, err));
    c->labels = labels ? labels : c->labels;
    c->features = features ? features : c->features;
    return MASE_OK;
}

/* Shares are three numbers, or a text. */
static enum mase_status get_split(struct mase_data_split *s, struct mase_arena *a,
                                  const struct mase_value *root, struct mase_err *err)
{
    const struct mase_value *shares = field(root, "split"),
                            *by = field_of_kind(root, "split_by", MASE_STRING),
                            *seed = field_of_kind(root, "split_seed", MASE_INT);
    const double *share;
    int64_t n = 0;
    if (shares && shares->kind == MASE_LIST)
        MASE_TRY(get_numbers(&share, &n, a, shares, err));
    if (n == 3)
        memcpy(s->share, share, sizeof s->share);
    else if (shares && (shares->kind != MASE_STRING || mase_data_split_parse(s, shares->s, err)))
        return mase_fail_at(err, MASE_EVALUE, shares->at, "split must be shares, as 0.8,0.1,0.1");
    s->by = by ? by->s : NULL;
    s->seed = seed ? (uint64_t)seed->i : 0;
    return MASE_OK;
}

/* Left as it is if there is none. */
static void get_text(const char **text, const struct mase_value *root, const char *key)
{
    const struct mase_value *v = field_of_kind(root, key, MASE_STRING);
    *text = v ? v->s : *text;
}

/* A whole number above 0, or 0. */
static int get_count(const struct mase_value *root, const char *key)
{
    const struct mase_value *v = field_of_kind(root, key, MASE_INT);
    return v && v->i > 0 && v->i < 65536 ? (int)v->i : 0;
}

static int64_t get_rows(const struct mase_value *root, const char *key)
{
    const struct mase_value *v = field_of_kind(root, key, MASE_INT);
    return v && v->i > 0 ? v->i : 0;
}

static bool get_flag(const struct mase_value *root, const char *key)
{
    const struct mase_value *v = field_of_kind(root, key, MASE_BOOL);
    return v && v->b;
}

static enum mase_status get_image(struct mase_image_opts *o, struct mase_arena *a,
                                  const struct mase_value *root, const char *path,
                                  struct mase_err *err)
{
    static const char *const keys[] = { "image_mean", "image_std" };
    double *const to[] = { o->mean, o->std };
    o->channels = get_count(root, "image_channels");
    o->height = get_count(root, "image_height");
    o->width = get_count(root, "image_width");
    if (field(root, "crop")) /* a checkpoint says it */
        o->crop = get_count(root, "crop");
    if (field(root, "flip"))
        o->flip = get_flag(root, "flip");
    for (int k = 0; k < 2; k++) {
        const struct mase_value *list = field_of_kind(root, keys[k], MASE_LIST);
        if (!list)
            return MASE_OK;
        const double *v;
        int64_t n = 0;
        MASE_TRY(get_numbers(&v, &n, a, list, err));
        if (n != 3)
            return mase_fail_in(err, MASE_EVALUE, path, "%s must be three numbers", keys[k]);
        memcpy(to[k], v, 3 * sizeof *v);
    }
    o->normalise = true;
    return MASE_OK;
}

/* Means and scales of what; s is left as it is where there are none. */
static enum mase_status get_scaling(struct mase_scaling *s, struct mase_arena *a,
                                    const struct mase_value *root, const char *const keys[3],
                                    const char *what, const char *path, struct mase_err *err)
{
    const struct mase_value *mean = field(root, keys[0]), *scale = field(root, keys[1]);
    int64_t n = 0;
    scale = scale ? scale : field(root, keys[2]);
    if (!mean && !scale)
        return MASE_OK;
    if (!mean || !scale || mean->kind != MASE_LIST || scale->kind != MASE_LIST)
        return mase_fail_in(err, MASE_EVALUE, path, "%s and %s must be lists of as many numbers",
                            keys[0], keys[1]);
    MASE_TRY(get_numbers(&s->mean, &s->n, a, mean, err));
    MASE_TRY(get_numbers(&s->std, &n, a, scale, err));
    return check_scaling(s, n, what, path, err);
}

/* Pictures, and what is said not to be scaled, have no numbers of features. */
static bool has_scaling(const struct mase_value *root)
{
    const struct mase_value *how = field_of_kind(root, "scaling", MASE_STRING);
    return !get_count(root, "image_channels") &&
           !(how && (mase_streq(how->s, mase_scale_names[MASE_SCALE_NONE]) ||
                     mase_streq(how->s, mase_scale_names[MASE_SCALE_USUAL])));
}

void mase_trained_task(struct mase_checkpoint_info *info, const struct mase_value *root)
{
    const struct mase_value *delta = field_of_kind(root, "loss_delta", MASE_FLOAT);
    get_text(&info->task, root, "task");
    get_text(&info->loss, root, "loss");
    info->loss_delta = delta ? delta->f : info->loss_delta;
}

static enum mase_status from_table(struct mase_checkpoint_info *info, struct mase_arena *a,
                                   const struct mase_value *root, const char *path,
                                   struct mase_err *err)
{
    static const char *const features[] = { "mean", "scale", "std" }, *const targets[] = {
        "target_mean", "target_scale", "target_std"
    };
    const struct mase_value *how = field_of_kind(root, "scaling", MASE_STRING);
    MASE_TRY(get_columns(&info->columns, a, root, err));
    MASE_TRY(get_split(&info->split, a, root, err));
    MASE_TRY(get_image(&info->image, a, root, path, err));
    if (has_scaling(root))
        MASE_TRY(get_scaling(&info->scaling, a, root, features, "feature", path, err));
    MASE_TRY(get_scaling(&info->target_scaling, a, root, targets, "target", path, err));
    info->drop_missing = get_flag(root, "drop_nan");
    get_text(&info->checksum, root, "sha256");
    get_text(&info->checksum, root, "checksum");
    info->scale = info->scaling.n ? MASE_SCALE_GIVEN : MASE_SCALE_USUAL;
    for (int i = MASE_SCALE_NONE; how && i < MASE_SCALE_COUNT; i++)
        if (mase_streq(how->s, mase_scale_names[i]))
            info->scale = (enum mase_scale)i;
    return MASE_OK;
}

static bool read_shape(struct mase_shape *s, const struct mase_value *list)
{
    if (!list || list->kind != MASE_LIST || list->count >= MASE_MAX_RANK)
        return false;
    s->rank = list->count;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i]->kind != MASE_INT || list->items[i]->i < 1)
            return false;
        s->dim[i] = list->items[i]->i;
    }
    return true;
}

/* All of it, or nothing. */
static struct mase_data_info get_data_info(const struct mase_value *d)
{
    const struct mase_value *classes = mase_value_get(d, "classes"),
                            *more = mase_value_get(d, "more"),
                            *targets = mase_value_get(d, "targets");
    struct mase_data_info info = { .help = "" };
    get_text(&info.name, d, "name");
    if (!read_shape(&info.sample, mase_value_get(d, "sample")) || !classes ||
        classes->kind != MASE_INT || classes->i < 0 || classes->i > INT32_MAX)
        return (struct mase_data_info){ 0 };
    info.classes = (int)classes->i;
    if (targets && targets->kind == MASE_INT && targets->i > 0)
        info.targets = targets->i;
    for (int i = 0; more && more->kind == MASE_LIST && i < more->count; i++)
        if (i == MASE_MORE_INPUTS || !read_shape(&info.more[info.more_count++], more->items[i]))
            return (struct mase_data_info){ 0 };
    return info;
}

/* Of a checkpoint. What it says of its scaling has numbers, or they are damaged. */
enum mase_status mase_trained_from_data(struct mase_checkpoint_info *info, struct mase_arena *a,
                                        const struct mase_value *data, const char *path,
                                        struct mase_err *err)
{
    int names = 0;
    info->data = get_data_info(data);
    MASE_TRY(get_names(&info->class_names, &names, a, data, "class_names", 1, err));
    if (names != info->data.classes)
        info->class_names = NULL;
    info->rows = get_rows(data, "rows");
    info->train_rows = get_rows(data, "train_rows");
    info->simulated = get_flag(data, "simulated");
    get_text(&info->notice, data, "notice");
    const enum mase_status st = from_table(info, a, data, path, err);
    if (st && err)
        mase_place(err, (struct mase_loc){ .path = path, .off = -1 });
    if (st || (info->scaling.n > 0) == (info->scale > MASE_SCALE_NONE))
        return st;
    return mase_fail_in(err, MASE_EPARSE, path,
                        "what it says of the scaling of its data is damaged");
}

static enum mase_status from_json(struct mase_checkpoint_info *info, struct mase_arena *a,
                                  const char *path, struct mase_err *err)
{
    struct mase_value *root;
    MASE_TRY(mase_json_read(&root, a, path, err));
    if (has_scaling(root)) {
        const struct mase_value *mean = field_of_kind(root, "mean", MASE_LIST),
                                *scale = field_of_kind(root, "scale", MASE_LIST);
        scale = scale ? scale : field_of_kind(root, "std", MASE_LIST);
        if (!mean || !mean->count)
            return fail_missing(path, "mean", err);
        if (!scale || !scale->count)
            return fail_missing(path, "scale (or std)", err);
    }
    MASE_TRY(get_names(&info->class_names, &info->data.classes, a, root, "classes", 2, err));
    mase_trained_task(info, root);
    return from_table(info, a, root, path, err);
}

/* ---- tensors ---- */

static const struct mase_tensor *find(const struct mase_tensors *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (mase_streq(file->items[i].name, name))
            return &file->items[i].tensor;
    return NULL;
}

static const double *doubles(struct mase_arena *a, const struct mase_tensor *t)
{
    const int64_t n = mase_tensor_count(t);
    double *values = mase_new_array(a, double, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        values[k] = mase_tensor_get(t, k);
    return values;
}

static enum mase_status from_tensors(struct mase_checkpoint_info *info, struct mase_arena *a,
                                     const char *path, struct mase_err *err)
{
    struct mase_tensors file;
    MASE_TRY(mase_tensors_open(&file, path, err));
    const struct mase_tensor *mean = find(&file, "mean"), *scale = find(&file, "scale");
    scale = scale ? scale : find(&file, "std");
    enum mase_status st = MASE_OK;
    if (!mean || !mase_tensor_count(mean))
        st = fail_missing(path, "mean", err);
    else if (!scale || !mase_tensor_count(scale))
        st = fail_missing(path, "scale (or std)", err);
    if (!st) {
        info->scaling =
            (struct mase_scaling){ mase_tensor_count(mean), doubles(a, mean), doubles(a, scale) };
        st = check_scaling(&info->scaling, mase_tensor_count(scale), "feature", path, err);
    }
    mase_tensors_close(&file);
    info->scale = MASE_SCALE_GIVEN;
    return st;
}

/* ---- both ---- */

enum mase_status mase_trained_read(struct mase_checkpoint_info *info, struct mase_arena *a,
                                   const char *path, struct mase_err *err)
{
    info->scaling = (struct mase_scaling){ 0 };
    return (mase_ends_with(path, ".json") ? from_json : from_tensors)(info, a, path, err);
}

/* ---- of weights ---- */

enum mase_status mase_trained_on(struct mase_checkpoint_info *info, struct mase_arena *a,
                                 const char *path, struct mase_err *err)
{
    enum mase_file_kind kind;
    *info = (struct mase_checkpoint_info){ .epoch = -1, .step = -1 };
    if (mase_is_dir(path) || mase_ends_with(path, MASE_SAVED_GRAPH)) {
        const char *dir =
            mase_is_dir(path)
                ? path
                : mase_arena_strndup(a, path, strlen(path) - strlen(MASE_SAVED_GRAPH));
        const char *file = mase_path_join(a, dir, MASE_TRAINED_FILE);
        return mase_is_file(file) ? mase_trained_read(info, a, file, err) : MASE_OK;
    }
    if (!mase_is_file(path)) /* a stream can be read once only, for its weights */
        return MASE_OK;
    MASE_TRY(mase_file_kind_find(&kind, path, err));
    return kind == MASE_KIND_TORCH || kind == MASE_KIND_TORCH_OLD
               ? mase_checkpoint_info(info, a, path, err)
               : MASE_OK;
}

/* ---- writing ---- */

/* A table under way: of a saved folder, which leaves out what it does not say, or of a checkpoint,
 * which says none. */
struct record {
    struct mase_arena *a;
    struct mase_value *table;
    bool file;
};

/* NULL: there is nothing to say. */
static void say(struct record *r, const char *key, struct mase_value *v)
{
    if (v || !r->file)
        mase_value_set(r->a, r->table, key, v ? v : mase_value_none(r->a));
}

static void say_text(struct record *r, const char *key, const char *text)
{
    say(r, key, text ? mase_value_string(r->a, text) : NULL);
}

static void say_int(struct record *r, const char *key, int64_t i)
{
    if (i || !r->file)
        say(r, key, mase_value_int(r->a, i));
}

static void say_flag(struct record *r, const char *key, bool b)
{
    if (b || !r->file)
        say(r, key, mase_value_bool(r->a, b));
}

static void say_numbers(struct record *r, const char *key, const double *x, int64_t n)
{
    say(r, key, n ? mase_value_floats(r->a, x, n) : NULL);
}

static void say_names(struct record *r, const char *key, const char *const *names, int n)
{
    say(r, key, n ? mase_value_strings(r->a, names, n) : NULL);
}

static void say_scaling(struct record *r, const char *mean, const char *scale,
                        const struct mase_scaling *s)
{
    say_numbers(r, mean, s->mean, s->n);
    say_numbers(r, scale, s->std, s->n);
}

static void say_split(struct record *r, const struct mase_data_split *s)
{
    const char *text = mase_arena_printf(r->a, "%.17g,%.17g", s->share[0], s->share[1]);
    if (s->share[2] > 0)
        text = mase_arena_printf(r->a, "%s,%.17g", text, s->share[2]);
    const bool usual = !(s->share[0] > 0);
    if (r->file)
        say_text(r, "split", usual ? NULL : text);
    else
        say_numbers(r, "split", s->share, usual ? 0 : 3);
    say_text(r, "split_by", s->by);
    say_int(r, "split_seed", (int64_t)s->seed);
}

static void say_image(struct record *r, const struct mase_image_opts *o)
{
    say_int(r, "image_channels", o->channels);
    say_int(r, "image_height", o->height);
    say_int(r, "image_width", o->width);
    say_numbers(r, "image_mean", o->mean, o->normalise ? 3 : 0);
    say_numbers(r, "image_std", o->std, o->normalise ? 3 : 0);
    if (r->file)
        return; /* training alone changes pictures */
    say_int(r, "crop", o->crop);
    say_flag(r, "flip", o->flip);
}

/* How rows and columns became samples. */
static void say_reading(struct record *r, const struct mase_checkpoint_info *info)
{
    say_names(r, "labels", info->columns.labels, info->columns.label_count);
    say_names(r, "features", info->columns.features, info->columns.feature_count);
    say_flag(r, "drop_nan", info->drop_missing);
    say_split(r, &info->split);
    if (info->image.channels)
        say_image(r, &info->image);
}

static const char *scale_name(const struct mase_checkpoint_info *info)
{
    return info->scale == MASE_SCALE_USUAL ? NULL : mase_scale_names[info->scale];
}

bool mase_trained_print(struct mase_str *out, struct mase_arena *a,
                        const struct mase_checkpoint_info *info)
{
    struct record r = { a, mase_value_table(a), .file = true };
    const bool special = info->task && mase_task_find(info->task) != mase_tasks;
    if (info->scale == MASE_SCALE_USUAL && !special && !info->image.channels)
        return false;
    say_text(&r, "scaling", scale_name(info));
    say_text(&r, "sha256", info->checksum);
    if (special) {
        say_text(&r, "task", info->task);
        say_text(&r, "loss", info->loss);
        say(&r, "loss_delta", mase_value_float(a, info->loss_delta));
    }
    say_scaling(&r, "target_mean", "target_scale", &info->target_scaling);
    say_scaling(&r, "mean", "scale", &info->scaling);
    say_names(&r, "classes", info->class_names, info->class_names ? info->data.classes : 0);
    say_reading(&r, info);
    mase_json_print(out, r.table, 2);
    mase_str_addc(out, '\n');
    return true;
}

struct mase_value *mase_trained_table(struct mase_arena *a, const struct mase_checkpoint_info *info)
{
    struct record r = { a, mase_value_table(a), .file = false };
    const struct mase_data_info *d = &info->data;
    say_text(&r, "name", d->name);
    say(&r, "sample", mase_value_ints(a, d->sample.dim, d->sample.rank));
    if (d->more_count) {
        struct mase_value *more = mase_value_set(a, r.table, "more", mase_value_list(a));
        for (int k = 0; k < d->more_count; k++)
            mase_value_push(a, more, mase_value_ints(a, d->more[k].dim, d->more[k].rank));
    }
    say_int(&r, "classes", d->classes);
    say_names(&r, "class_names", info->class_names, d->classes);
    say_int(&r, "targets", d->targets);
    if (info->target_scaling.n)
        say_scaling(&r, "target_mean", "target_std", &info->target_scaling);
    say_text(&r, "checksum", info->checksum);
    say_int(&r, "rows", info->rows);
    say_int(&r, "train_rows", info->train_rows);
    say_flag(&r, "simulated", info->simulated);
    say_text(&r, "notice", info->notice);
    say_text(&r, "scaling", scale_name(info));
    say_scaling(&r, "mean", "std", &info->scaling);
    say_reading(&r, info);
    return r.table;
}

/* ---- of a run ---- */

struct mase_checkpoint_info mase_trainer_trained(const struct mase_trainer *t)
{
    const struct mase_dataset_info *d = mase_dataset_info(t->data);
    const struct mase_objective *o = &t->objective;
    struct mase_checkpoint_info info = {
        .ours = true,
        .epoch = t->state.epoch,
        .step = t->state.step,
        .data = d->data,
        .class_names = (const char **)(uintptr_t)d->class_names,
        .task = o->task->name,
        .loss = o->own ? o->own : mase_loss_names[o->loss],
        .loss_delta = o->delta,
        .target_scaling = d->target_scaling,
        .checksum = d->checksum,
        .rows = d->rows,
        .train_rows = mase_dataset_split(t->data, MASE_SPLIT_TRAIN).count,
        .simulated = d->simulated,
        .notice = d->notice,
        .scale = d->scale,
        .scaling = d->scaling,
        .columns = d->columns,
        .drop_missing = d->drop_missing,
        .split = d->split,
        .image = d->image,
    };
    info.columns.origin = NULL; /* a file that is read has one */
    return info;
}
