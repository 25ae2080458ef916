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

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/saved.h>
#include <mase/weights.h>

static const char *const number_names[2][2] = { { "mean", "mean" }, { "scale", "std" } };

static enum mase_status fail_missing(const char *path, int which, struct mase_err *err)
{
    return mase_fail_in(err, MASE_EVALUE, path, "it has no %s of the features, one number for each",
                        which ? "scale (or std)" : "mean");
}

/* ---- JSON ---- */

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

static enum mase_status get_list(const double **out, int64_t *n, struct mase_arena *a,
                                 const struct mase_value *root, const char *path, int which,
                                 struct mase_err *err)
{
    const struct mase_value *list = mase_value_get(root, number_names[which][0]);
    list = list ? list : mase_value_get(root, number_names[which][1]);
    if (!list || list->kind != MASE_LIST || !list->count)
        return fail_missing(path, which, err);
    return get_numbers(out, n, a, list, err);
}

/* A list of at least `least` names. */
static enum mase_status get_names(const char ***names, int *count, struct mase_arena *a,
                                  const struct mase_value *list, const char *what, int least,
                                  struct mase_err *err)
{
    if (list->kind != MASE_LIST || list->count < least)
        return mase_fail_at(err, MASE_EVALUE, list->at, "%s must be a list of names", what);
    *names = mase_new_array(a, const char *, (size_t)list->count);
    *count = list->count;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i]->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EVALUE, list->items[i]->at,
                                "%s: a name is a text, got %s", what,
                                mase_value_kind_names[list->items[i]->kind]);
        (*names)[i] = list->items[i]->s;
    }
    return MASE_OK;
}

static enum mase_status get_columns(struct mase_data_columns *c, struct mase_arena *a,
                                    const struct mase_value *root, struct mase_err *err)
{
    const struct mase_value *labels = mase_value_get(root, "labels"),
                            *features = mase_value_get(root, "features");
    const char **names;
    if (labels) {
        MASE_TRY(get_names(&names, &c->label_count, a, labels, "labels", 1, err));
        c->labels = names;
    }
    if (features) {
        MASE_TRY(get_names(&names, &c->feature_count, a, features, "features", 1, err));
        c->features = names;
    }
    return MASE_OK;
}

static enum mase_status get_split(struct mase_data_split *s, const struct mase_value *root,
                                  struct mase_err *err)
{
    const struct mase_value *shares = mase_value_get(root, "split"),
                            *by = mase_value_get(root, "split_by"),
                            *seed = mase_value_get(root, "split_seed");
    if (shares && (shares->kind != MASE_STRING || mase_data_split_parse(s, shares->s, err)))
        return mase_fail_at(err, MASE_EVALUE, shares->at, "split must be shares, as 0.8,0.1,0.1");
    s->by = by && by->kind == MASE_STRING ? by->s : NULL;
    s->seed = seed && seed->kind == MASE_INT ? (uint64_t)seed->i : 0;
    return MASE_OK;
}

/* Left as it is if there is none. */
static void get_text(const char **text, const struct mase_value *root, const char *key)
{
    const struct mase_value *v = mase_value_get(root, key);
    if (v && v->kind == MASE_STRING)
        *text = v->s;
}

/* A whole number above 0, or 0. */
static int get_count(const struct mase_value *root, const char *key)
{
    const struct mase_value *v = mase_value_get(root, key);
    return v && v->kind == MASE_INT && v->i > 0 && v->i < 65536 ? (int)v->i : 0;
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
    for (int k = 0; k < 2; k++) {
        const struct mase_value *list = mase_value_get(root, keys[k]);
        if (!list || list->kind != MASE_LIST)
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

/* What became of the numbers to predict, if anything did. */
static enum mase_status get_targets(struct mase_checkpoint_info *info, struct mase_arena *a,
                                    const struct mase_value *root, const char *path,
                                    struct mase_err *err)
{
    const struct mase_value *mean = mase_value_get(root, "target_mean"),
                            *scale = mase_value_get(root, "target_scale");
    struct mase_scaling *s = &info->target_scaling;
    int64_t n = 0;
    if (!mean && !scale)
        return MASE_OK;
    if (!mean || !scale || mean->kind != MASE_LIST || scale->kind != MASE_LIST ||
        mean->count != scale->count)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "target_mean and target_scale must be lists of as many numbers");
    MASE_TRY(get_numbers(&s->mean, &s->n, a, mean, err));
    MASE_TRY(get_numbers(&s->std, &n, a, scale, err));
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(s->mean[i]) || !isfinite(s->std[i]) || !(s->std[i] > 0))
            return mase_fail_in(err, MASE_EVALUE, path,
                                "target %lld: mean %g and scale %g; both must be finite, a scale "
                                "above 0",
                                (long long)i, s->mean[i], s->std[i]);
    return MASE_OK;
}

static enum mase_status from_json(struct mase_checkpoint_info *info, const double *v[2],
                                  int64_t n[2], struct mase_arena *a, const char *path,
                                  struct mase_err *err)
{
    struct mase_value *root;
    MASE_TRY(mase_json_read(&root, a, path, err));
    const struct mase_value *classes = mase_value_get(root, "classes");
    if (classes)
        MASE_TRY(get_names(&info->class_names, &info->data.classes, a, classes, "classes", 2, err));
    MASE_TRY(get_columns(&info->columns, a, root, err));
    const struct mase_value *how = mase_value_get(root, "scaling"),
                            *drop = mase_value_get(root, "drop_nan");
    info->drop_missing = drop && drop->kind == MASE_BOOL && drop->b;
    MASE_TRY(get_split(&info->split, root, err));
    get_text(&info->checksum, root, "sha256");
    get_text(&info->task, root, "task");
    get_text(&info->loss, root, "loss");
    const struct mase_value *delta = mase_value_get(root, "loss_delta");
    if (delta && delta->kind == MASE_FLOAT)
        info->loss_delta = delta->f;
    MASE_TRY(get_targets(info, a, root, path, err));
    for (int i = MASE_SCALE_NONE; how && how->kind == MASE_STRING && i < MASE_SCALE_COUNT; i++)
        if (mase_streq(how->s, mase_scale_names[i]))
            info->scale = (enum mase_scale)i;
    MASE_TRY(get_image(&info->image, a, root, path, err));
    const bool unscaled =
        how && how->kind == MASE_STRING && mase_streq(how->s, mase_scale_names[MASE_SCALE_USUAL]);
    if (info->scale == MASE_SCALE_NONE || unscaled || info->image.channels)
        return MASE_OK;
    for (int i = 0; i < 2; i++)
        MASE_TRY(get_list(&v[i], &n[i], a, root, path, i, err));
    return MASE_OK;
}

/* ---- tensors ---- */

static const struct mase_tensor *find(const struct mase_tensors *file, int which)
{
    for (int i = 0; i < file->count; i++)
        if (mase_streq(file->items[i].name, number_names[which][0]) ||
            mase_streq(file->items[i].name, number_names[which][1]))
            return &file->items[i].tensor;
    return NULL;
}

static enum mase_status from_tensors(struct mase_checkpoint_info *info, const double *v[2],
                                     int64_t n[2], struct mase_arena *a, const char *path,
                                     struct mase_err *err)
{
    (void)info; /* tensors name no classes */
    struct mase_tensors file;
    MASE_TRY(mase_tensors_open(&file, path, err));
    enum mase_status st = MASE_OK;
    for (int i = 0; i < 2 && !st; i++) {
        const struct mase_tensor *t = find(&file, i);
        n[i] = t ? mase_tensor_count(t) : 0;
        if (!n[i]) {
            st = fail_missing(path, i, err);
            break;
        }
        double *values = mase_new_array(a, double, (size_t)n[i]);
        for (int64_t k = 0; k < n[i]; k++)
            values[k] = mase_tensor_get(t, k);
        v[i] = values;
    }
    mase_tensors_close(&file);
    return st;
}

/* ---- both ---- */

enum mase_status mase_trained_read(struct mase_checkpoint_info *info, struct mase_arena *a,
                                   const char *path, struct mase_err *err)
{
    const double *v[2] = { 0 };
    int64_t n[2] = { 0 };
    info->scale = MASE_SCALE_USUAL;
    MASE_TRY((mase_ends_with(path, ".json") ? from_json : from_tensors)(info, v, n, a, path, err));
    if (n[0] != n[1])
        return mase_fail_in(err, MASE_EVALUE, path, "%lld means do not go with %lld scales",
                            (long long)n[0], (long long)n[1]);
    for (int64_t i = 0; i < n[0]; i++)
        if (!isfinite(v[0][i]) || !isfinite(v[1][i]) || !(v[1][i] > 0))
            return mase_fail_in(err, MASE_EVALUE, path,
                                "feature %lld: mean %g and scale %g; both must be finite, a scale "
                                "above 0",
                                (long long)i, v[0][i], v[1][i]);
    info->scaling = (struct mase_scaling){ n[0], v[0], v[1] };
    if (info->scale == MASE_SCALE_USUAL && n[0])
        info->scale = MASE_SCALE_GIVEN;
    return MASE_OK;
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

enum mase_status mase_trained_keep(const char *dir, struct mase_arena *a,
                                   const struct mase_checkpoint_info *info,
                                   struct mase_value *files, struct mase_err *err)
{
    const char *path = mase_path_join(a, dir, MASE_TRAINED_FILE);
    struct mase_str text = { 0 };
    if (!mase_trained_print(&text, a, info))
        return unlink(path) && errno != ENOENT
                   ? mase_fail_errno(err, path, "cannot remove what an earlier run left")
                   : mase_saved_add(dir, MASE_TRAINED_FILE, err);
    const enum mase_status st = mase_file_write(path, mase_str_text(&text), text.len, err);
    mase_str_release(&text);
    mase_value_push(a, files, mase_value_string(a, path));
    return st ? st : mase_saved_add(dir, MASE_TRAINED_FILE, err);
}
