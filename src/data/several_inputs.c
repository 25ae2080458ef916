/*
 * several_inputs.c - samples with several inputs: arrays of a file, or groups of columns,
 * concatenated in the rows of the table.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/log.h>
#include <mase/str.h>

#include "data/dataset_parts.h"
#include "data/raw.h"

int64_t mase_data_features(const struct mase_data_info *d)
{
    int64_t features = mase_shape_count(&d->sample);
    for (int i = 0; i < d->more_count; i++)
        features += mase_shape_count(&d->more[i]);
    return features;
}

struct mase_data_info *mase_data_info_copy(struct mase_arena *a, const struct mase_data_info *d)
{
    struct mase_data_info *copy = mase_arena_memdup(a, d, sizeof *d);
    struct mase_data_array *others =
        mase_new_array(a, struct mase_data_array, (size_t)d->other_count);
    for (int i = 0; i < d->other_count; i++)
        others[i] = (struct mase_data_array){ mase_arena_strdup(a, d->others[i].name),
                                              d->others[i].sample };
    copy->others = others;
    copy->name = d->name ? mase_arena_strdup(a, d->name) : NULL;
    for (int i = 0; i <= MASE_MORE_INPUTS; i++)
        copy->names[i] = d->names[i] ? mase_arena_strdup(a, d->names[i]) : NULL;
    return copy;
}

const struct mase_shape *mase_data_input(const struct mase_data_info *d, const char *name)
{
    for (int i = 0; i <= d->more_count; i++)
        if (d->names[i] && mase_streq(d->names[i], name))
            return i ? &d->more[i - 1] : &d->sample;
    for (int i = 0; i < d->other_count; i++)
        if (mase_streq(d->others[i].name, name))
            return &d->others[i].sample;
    return NULL;
}

/* ---- arrays ---- */

const char *mase_array_of_part(struct mase_arena *a, const struct mase_array_names *n,
                               const struct mase_columns *c, int part, int input)
{
    if (!input || !n->x[part])
        return n->x[part];
    const char *own = c->chosen.features[input];
    const int head = n->before ? (int)(strlen(n->x[part]) - strlen(n->stem)) : 0;
    const char *tail = n->before ? "" : n->x[part] + strlen(n->stem);
    return mase_arena_printf(a, "%.*s%s%s", head, n->x[part], own, tail);
}

/* "mask" of "mask_train", if the samples are "x_train"; NULL: no such name. */
static const char *stem_of(struct mase_arena *a, const struct mase_array_names *n, const char *name)
{
    const size_t size = strlen(name), part = strlen(n->x[0]) - strlen(n->stem);
    const char *x = n->x[0], *end = n->before ? name : name + size - part;
    if (size <= part || strncmp(end, n->before ? x : x + strlen(n->stem), part) != 0)
        return NULL;
    return mase_arena_strndup(a, n->before ? name + part : name, size - part);
}

int mase_array_inputs(const struct mase_columns *c, const struct mase_array_names *n)
{
    return c->chosen.feature_count && n->chosen ? c->chosen.feature_count : 1;
}

enum mase_status mase_raw_add_input(struct mase_raw *r, int input, const struct mase_shape *x,
                                    int64_t rows, const char *name, const char *path,
                                    struct mase_err *err)
{
    if (input > MASE_MORE_INPUTS)
        return mase_fail_in(err, MASE_ELIMIT, path, "--features names more than %d arrays",
                            1 + MASE_MORE_INPUTS);
    struct mase_shape *own = &r->more[input - 1];
    const bool known = r->more_count >= input;
    struct mase_shape sample = { 0 };
    if (x->rank >= 1)
        sample = mase_sample_shape(x);
    if (x->rank < 1 || x->dim[0] != rows || mase_shape_count(x) < 1 ||
        (known && !mase_shape_equal(&sample, own))) {
        struct mase_str text = { 0 };
        mase_shape_print(&text, x);
        const enum mase_status st = mase_fail_in(
            err, MASE_EVALUE, path,
            "%s has the shape %s, expected [N, ...] with %" PRId64 " rows%s", name,
            mase_str_text(&text), rows, known ? " and samples like those of the other parts" : "");
        mase_str_release(&text);
        return st;
    }
    *own = sample;
    r->more_count = known ? r->more_count : input;
    r->features += mase_shape_count(&sample);
    return MASE_OK;
}

void mase_raw_add_other(struct mase_raw *r, struct mase_arena *a, const struct mase_array_names *n,
                        const char *array, const struct mase_shape *x, int64_t rows)
{
    const char *name = stem_of(a, n, array);
    if (!name || mase_streq(array, n->x[0]) || (n->y[0] && mase_streq(array, n->y[0])))
        return;
    if (r->other_count == MASE_RAW_OTHERS || strlen(name) >= sizeof r->other[0].name ||
        x->rank < 1 || x->dim[0] != rows || rows < 1)
        return;
    struct mase_raw_other *o = &r->other[r->other_count++];
    *o = (struct mase_raw_other){ .sample = mase_sample_shape(x) };
    memcpy(o->name, name, strlen(name) + 1);
}

void mase_raw_set_array_name(struct mase_raw *r, const struct mase_array_names *n)
{
    if (strlen(n->stem) < sizeof r->array)
        memcpy(r->array, n->stem, strlen(n->stem) + 1);
    r->guessed = n->guessed;
}

/* ---- columns ---- */

/* Replace the first column of each further input, in more[i].dim[0], by its number of columns.
 * Returns the shape of the first input. */
struct mase_shape mase_raw_shape_inputs(struct mase_raw *r)
{
    const int64_t all = r->features - r->targets, first = r->more_count ? r->more[0].dim[0] : all;
    for (int i = 0; i < r->more_count; i++) {
        const int64_t end = i + 1 < r->more_count ? r->more[i + 1].dim[0] : all;
        r->more[i].dim[0] = end - r->more[i].dim[0];
    }
    return (struct mase_shape){ 1, { first } };
}

/* Are all numbers of these columns integers? */
static bool is_whole(const struct mase_raw *r, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t f = first; f < first + count; f++) {
            const double x = r->x[i * r->features + f];
            if (x != (double)(int64_t)x)
                return false;
        }
    return true;
}

/* ---- the dataset ---- */

static void name_input(struct mase_raw *r, const char **names, struct mase_arena *a, int64_t first,
                       int64_t count, const char *array)
{
    for (int64_t i = 0; i < count && !r->named; i++)
        names[first + i] = count == 1 ? array : mase_arena_printf(a, "%s%" PRId64, array, i);
}

static const char *list_names(struct mase_arena *a, const char *const *names, int count)
{
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = mase_arena_printf(a, "%s%s%s", text, i ? ", " : "", names[i]);
    return text;
}

static void take_others(struct mase_dataset *d, const struct mase_raw *r)
{
    struct mase_data_array *others =
        mase_new_array(&d->arena, struct mase_data_array, (size_t)r->other_count);
    for (int i = 0; i < r->other_count; i++)
        others[i] = (struct mase_data_array){ mase_arena_strdup(&d->arena, r->other[i].name),
                                              r->other[i].sample };
    d->info.data.others = others;
    d->info.data.other_count = r->other_count;
}

void mase_dataset_set_inputs(struct mase_dataset *d, struct mase_raw *r,
                             const struct mase_dataset_opts *opts)
{
    struct mase_data_info *info = &d->info.data;
    const struct mase_data_columns *c = &opts->columns;
    take_others(d, r);
    info->guessed = r->guessed;
    if (r->guessed)
        mase_info("%s: no array of samples has a usual name; '%s' is read%s", info->name, r->array,
                  r->other_count ? ", others as a network asks for them" : "");
    if (r->array[0])
        info->names[0] = mase_arena_strdup(&d->arena, r->array);
    if (!r->more_count)
        return;
    const char **names = mase_new_array(&d->arena, const char *, (size_t)r->features);
    memcpy(names, r->feature_names, (size_t)r->features * sizeof *names);
    info->more_count = r->more_count;
    memcpy(info->more, r->more, sizeof info->more);
    int64_t first = 0;
    for (int i = 0; i <= r->more_count; i++) {
        const int64_t count = mase_shape_count(i ? &info->more[i - 1] : &info->sample);
        const char *name = r->named ? NULL : mase_arena_strdup(&d->arena, c->features[i]);
        info->names[i] = name;
        name_input(r, names, &d->arena, first, count, name);
        d->integers[i] = r->named ? is_whole(r, first, count) : r->integers[i];
        if (d->integers[i] && opts->scale != MASE_SCALE_USUAL && opts->scale != MASE_SCALE_NONE)
            mase_info("%s: whole numbers, as categories are: not scaled",
                      name ? name : list_names(&d->arena, names + first, (int)count));
        first += count;
    }
    r->feature_names = names;
}

void mase_unscale_integers(struct mase_dataset *d, double *mean, double *std)
{
    const struct mase_data_info *info = &d->info.data;
    int64_t f = 0;
    for (int i = 0; i <= info->more_count && info->more_count; i++) {
        const int64_t end = f + mase_shape_count(i ? &info->more[i - 1] : &info->sample);
        for (; f < end; f++)
            if (d->integers[i]) {
                mean[f] = 0;
                std[f] = 1;
            }
    }
}
