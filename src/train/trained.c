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

enum mase_status mase_trained_names(const char ***names, int *count, struct mase_arena *a,
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
    MASE_TRY(mase_trained_names(&labels, &c->label_count, a, root, "labels", 1, err));
    MASE_TRY(mase_trained_names(&features, &c->feature_count, a, root, "features", 1, err));
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

enum mase_status mase_trained_from_table(struct mase_checkpoint_info *info, struct mase_arena *a,
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
    MASE_TRY(
        mase_trained_names(&info->class_names, &info->data.classes, a, root, "classes", 2, err));
    mase_trained_task(info, root);
    return mase_trained_from_table(info, a, root, path, err);
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

/* ---- for a saved folder ---- */

static struct mase_value *numbers(struct mase_arena *a, const double *x, int64_t n)
{
    struct mase_value *list = mase_value_list(a);
    for (int64_t i = 0; i < n; i++)
        mase_value_push(a, list, mase_value_float(a, x[i]));
    return list;
}

static void set_names(struct mase_arena *a, struct mase_value *v, const char *key,
                      const char *const *names, int n)
{
    struct mase_value *list = n ? mase_value_set(a, v, key, mase_value_list(a)) : NULL;
    for (int i = 0; i < n; i++)
        mase_value_push(a, list, mase_value_string(a, names[i]));
}

static void set_split(struct mase_arena *a, struct mase_value *v, const struct mase_data_split *s)
{
    const char *two = mase_arena_printf(a, "%.17g,%.17g", s->share[0], s->share[1]);
    const char *all = s->share[2] > 0 ? mase_arena_printf(a, "%s,%.17g", two, s->share[2]) : two;
    if (s->share[0] > 0)
        mase_value_set(a, v, "split", mase_value_string(a, all));
    if (s->by)
        mase_value_set(a, v, "split_by", mase_value_string(a, s->by));
    if (s->seed)
        mase_value_set(a, v, "split_seed", mase_value_int(a, (int64_t)s->seed));
}

static void set_image(struct mase_arena *a, struct mase_value *v, const struct mase_image_opts *o)
{
    mase_value_set(a, v, "image_channels", mase_value_int(a, o->channels));
    if (o->height) {
        mase_value_set(a, v, "image_height", mase_value_int(a, o->height));
        mase_value_set(a, v, "image_width", mase_value_int(a, o->width));
    }
    if (o->normalise) {
        mase_value_set(a, v, "image_mean", numbers(a, o->mean, 3));
        mase_value_set(a, v, "image_std", numbers(a, o->std, 3));
    }
}

bool mase_trained_print(struct mase_str *out, struct mase_arena *a,
                        const struct mase_checkpoint_info *info)
{
    struct mase_value *v = mase_value_table(a);
    const bool special = info->task && mase_task_find(info->task) != mase_tasks;
    if (info->scale == MASE_SCALE_USUAL && !special && !info->image.channels)
        return false;
    if (info->scale)
        mase_value_set(a, v, "scaling", mase_value_string(a, mase_scale_names[info->scale]));
    if (info->checksum)
        mase_value_set(a, v, "sha256", mase_value_string(a, info->checksum));
    if (special) {
        mase_value_set(a, v, "task", mase_value_string(a, info->task));
        if (info->loss)
            mase_value_set(a, v, "loss", mase_value_string(a, info->loss));
        mase_value_set(a, v, "loss_delta", mase_value_float(a, info->loss_delta));
    }
    if (info->target_scaling.n) {
        const struct mase_scaling *s = &info->target_scaling;
        mase_value_set(a, v, "target_mean", numbers(a, s->mean, s->n));
        mase_value_set(a, v, "target_scale", numbers(a, s->std, s->n));
    }
    if (info->scaling.n) {
        mase_value_set(a, v, "mean", numbers(a, info->scaling.mean, info->scaling.n));
        mase_value_set(a, v, "scale", numbers(a, info->scaling.std, info->scaling.n));
    }
    set_names(a, v, "classes", info->class_names, info->class_names ? info->data.classes : 0);
    set_names(a, v, "labels", info->columns.labels, info->columns.label_count);
    set_names(a, v, "features", info->columns.features, info->columns.feature_count);
    if (info->drop_missing)
        mase_value_set(a, v, "drop_nan", mase_value_bool(a, true));
    set_split(a, v, &info->split);
    if (info->image.channels)
        set_image(a, v, &info->image);
    mase_json_print(out, v, 2);
    mase_str_addc(out, '\n');
    return true;
}
