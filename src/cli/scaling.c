/*
 * scaling.c - how features were scaled and what the classes are, from a file: what other people's
 * checkpoints do not say.
 *
 *     {"mean": [0.5, ...], "scale": [1.25, ...],         one number for each feature
 *      "classes": ["g", "q", ...]}                       in the order of the outputs; may be left
 * out
 *
 * "std" is another name for scale. A .safetensors or .pt file may hold the two as tensors.
 */
#include <math.h>

#include <mase/weights.h>

#include "cli/train.h"

static const char *const names[2][2] = { { "mean", "mean" }, { "scale", "std" } };

static enum mase_status fail_missing(const char *path, int which, struct mase_err *err)
{
    return mase_fail_in(err, MASE_EVALUE, path, "it has no %s of the features, one number for each",
                        which ? "scale (or std)" : "mean");
}

/* ---- JSON ---- */

static enum mase_status get_list(const double **out, int64_t *n, struct mase_arena *a,
                                 const struct mase_value *root, const char *path, int which,
                                 struct mase_err *err)
{
    const struct mase_value *list = mase_value_get(root, names[which][0]);
    list = list ? list : mase_value_get(root, names[which][1]);
    if (!list || list->kind != MASE_LIST || !list->count)
        return fail_missing(path, which, err);
    double *values = mase_new_array(a, double, (size_t)list->count);
    for (int i = 0; i < list->count; i++) {
        const struct mase_value *v = list->items[i];
        if (v->kind != MASE_FLOAT && v->kind != MASE_INT)
            return mase_fail_at(err, MASE_EVALUE, v->at, "expected a number, got %s",
                                mase_value_kind_names[v->kind]);
        values[i] = v->kind == MASE_INT ? (double)v->i : v->f;
    }
    *out = values;
    *n = list->count;
    return MASE_OK;
}

static enum mase_status get_classes(struct mase_checkpoint_info *info, struct mase_arena *a,
                                    const struct mase_value *list, struct mase_err *err)
{
    if (list->kind != MASE_LIST || list->count < 2)
        return mase_fail_at(err, MASE_EVALUE, list->at, "classes must be a list of names");
    info->class_names = mase_new_array(a, const char *, (size_t)list->count);
    info->data.classes = list->count;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i]->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EVALUE, list->items[i]->at,
                                "the name of a class is a text, got %s",
                                mase_value_kind_names[list->items[i]->kind]);
        info->class_names[i] = list->items[i]->s;
    }
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
        MASE_TRY(get_classes(info, a, classes, err));
    for (int i = 0; i < 2; i++)
        MASE_TRY(get_list(&v[i], &n[i], a, root, path, i, err));
    return MASE_OK;
}

/* ---- tensors ---- */

static const struct mase_tensor *find(const struct mase_tensors *file, int which)
{
    for (int i = 0; i < file->count; i++)
        if (mase_streq(file->items[i].name, names[which][0]) ||
            mase_streq(file->items[i].name, names[which][1]))
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

enum mase_status mase_cli_scaling(struct mase_checkpoint_info *info, struct mase_arena *a,
                                  const char *path, struct mase_err *err)
{
    const double *v[2] = { 0 };
    int64_t n[2] = { 0 };
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
    return MASE_OK;
}
