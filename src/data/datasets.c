/*
 * datasets.c - the table of datasets from datasets.def; open a dataset by name.
 */
#include <stdio.h>
#include <string.h>

#include <mase/data.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/dataset_parts.h"
#include "data/find_name.h"
#include "data/raw.h"

#define SAMPLE(...)                                           \
    {                                                         \
        sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), \
        {                                                     \
            __VA_ARGS__                                       \
        }                                                     \
    }

const struct mase_data_info mase_datasets[] = {
#define DATASET(name_, sample_, classes_, open_, help_) \
    { .name = name_, .sample = sample_, .classes = classes_, .help = help_ },
#include "data/datasets.def"
    { 0 },
};

static const char *const names[] = {
#define DATASET(name_, sample_, classes_, open_, help_) name_,
#include "data/datasets.def"
};
enum { COUNT = sizeof names / sizeof names[0] };

static mase_dataset_fn *const openers[COUNT] = {
#define DATASET(name_, sample_, classes_, open_, help_) open_,
#include "data/datasets.def"
};

const struct mase_data_kind mase_data_kinds[] = {
#define FILE_KIND(prefix_, endings_, open_, help_) { prefix_, endings_, help_ },
#include "data/datasets.def"
    { 0 },
};

static mase_dataset_fn *const kind_openers[] = {
#define FILE_KIND(prefix_, endings_, open_, help_) open_,
#include "data/datasets.def"
};

/* Add the kinds of files to an error that lists known names. */
static void list_kinds(struct mase_err *err)
{
    struct mase_str all = { 0 };
    for (const struct mase_data_kind *k = mase_data_kinds; k->prefix; k++)
        mase_str_printf(&all, "%s%s", k->endings[0] ? " " : "", k->endings);
    const size_t used = strlen(err->msg);
    mase_snprintf(
        err->msg + used, sizeof err->msg - used,
        "; or a file whose name ends in one of%s (npz:FILE, csv:FILE, h5:FILE whatever its "
        "name), a folder of pictures by class, or shape:3,224,224",
        mase_str_text(&all));
    mase_str_release(&all);
}

/* Find the row of a name; what follows its colon is a file. */
static enum mase_status find(int *index, const char **file, const char *name, struct mase_err *err)
{
    char head[32];
    const size_t n = strcspn(name, ":");
    *file = name[n] ? name + n + 1 : NULL;
    if (name[n] && n < sizeof head) {
        memcpy(head, name, n);
        head[n] = 0;
        name = head;
    }
    const enum mase_status st = mase_name_find(index, "dataset", name, names, COUNT, err);
    if (st && err)
        list_kinds(err);
    return st;
}

static bool is_named(const char *name)
{
    struct mase_err err;
    const char *file;
    int i;
    return find(&i, &file, name, &err) == MASE_OK;
}

enum mase_status mase_data_find(const struct mase_data_info **d, const char *name,
                                struct mase_err *err)
{
    int i = 0;
    const char *file;
    MASE_TRY(find(&i, &file, name, err));
    *d = &mase_datasets[i];
    return MASE_OK;
}

/* The rest of a name after the prefix of a kind; NULL: no such prefix. */
static const char *after_prefix(const struct mase_data_kind *k, const char *name)
{
    const size_t n = strlen(k->prefix);
    return strncmp(name, k->prefix, n) == 0 && name[n] == ':' ? name + n + 1 : NULL;
}

/* Does a name of n characters end in one of the kind's endings, in any case? */
static bool has_ending(const struct mase_data_kind *k, const char *name, size_t n)
{
    for (const char *e = k->endings; *e;) {
        const size_t size = strcspn(e, " ");
        if (n > size && mase_strncaseeq(name + n - size, e, size))
            return true;
        e += size + strspn(e + size, " ");
    }
    return false;
}

const struct mase_data_kind *mase_data_kind_of(const char *name)
{
    for (const struct mase_data_kind *k = mase_data_kinds; k->prefix; k++)
        if (after_prefix(k, name))
            return k;
    const char *colon = strrchr(name, ':');
    const size_t whole = strlen(name), path = colon ? (size_t)(colon - name) : whole;
    for (const struct mase_data_kind *k = mase_data_kinds; k->prefix; k++)
        if ((has_ending(k, name, whole) || has_ending(k, name, path)) && !is_named(name))
            return k;
    for (const struct mase_data_kind *k = mase_data_kinds; k->prefix; k++)
        if (mase_streq(k->prefix, "images") && !is_named(name) && mase_is_dir(name))
            return k;
    return NULL;
}

/* Open a user's file: the opener finds out shape and classes. */
static enum mase_status open_kind(struct mase_dataset *d, const struct mase_data_kind *kind,
                                  const char *name, const struct mase_dataset_opts *opts,
                                  struct mase_err *err)
{
    const char *file = after_prefix(kind, name);
    if (!file)
        file = name;
    if (!file[0])
        return mase_fail(err, MASE_EVALUE, "dataset '%s' names no file; it is %s", name,
                         kind->help);
    d->info.data.name = mase_arena_strdup(&d->arena, name);
    d->info.data.help = "a table of your own";
    return kind_openers[kind - mase_data_kinds](d, opts, file, err);
}

static enum mase_status open_named(struct mase_dataset *d, const char *name,
                                   const struct mase_dataset_opts *opts, struct mase_err *err)
{
    int i = 0;
    const char *file;
    MASE_TRY(find(&i, &file, name, err));
    d->info.data = mase_datasets[i];
    return openers[i](d, opts, file, err);
}

enum mase_status mase_open_as(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                              const char *name, struct mase_err *err)
{
    int i = 0;
    const char *called = d->info.data.name, *file;
    MASE_TRY(find(&i, &file, name, err));
    d->info.data = mase_datasets[i];
    const enum mase_status st = openers[i](d, opts, NULL, err);
    d->info.data.name = called;
    return st;
}

/* Refuse options for users' tables with other data. */
static enum mase_status check_columns(const char *name, const struct mase_dataset_opts *opts,
                                      struct mase_err *err)
{
    const char *option = opts->drop_missing            ? "--drop-nan"
                         : opts->columns.label_count   ? "--label"
                         : opts->columns.feature_count ? "--features"
                                                       : NULL;
    if (!option || opts->columns.origin)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "%s is for tables of your own, .csv, .npz or .h5 files; %s has columns that "
                     "are known",
                     option, name);
}

/* Refuse options for pictures with other data. */
static enum mase_status check_image(const struct mase_dataset *d,
                                    const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const struct mase_image_opts *o = &opts->image;
    const char *option = o->height                ? "--image-size"
                         : o->channels            ? "--image-channels"
                         : o->normalise || o->fit ? "--normalize"
                         : o->augment             ? "--augment"
                                                  : NULL;
    if (d->image || !option)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "%s is for pictures; %s has none", option,
                     d->info.data.name);
}

/* Refuse scaling for data that has none, or its own. */
static enum mase_status check_scale(const struct mase_dataset *d,
                                    const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const bool as_stored = opts->scale == MASE_SCALE_NONE && !d->info.pixels;
    if (d->info.scale != MASE_SCALE_USUAL || opts->scale == MASE_SCALE_USUAL || as_stored)
        return MASE_OK;
    return mase_fail(
        err, MASE_EVALUE, "scaling is for tables of numbers; %s has a way of its own%s%s",
        d->info.data.name, d->info.pixels ? ": " : "", d->info.pixels ? d->info.pixels : "");
}

/* Named datasets have classes; refuse other targets. */
static enum mase_status check_target(const struct mase_dataset *d,
                                     const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const bool classes = opts->target == MASE_TARGET_CLASS || opts->target == MASE_TARGET_NONE;
    if (classes || d->target || !d->label)
        return MASE_OK;
    return mase_fail(
        err, MASE_EVALUE,
        "%s has classes, and no %s; a table of one's own may have them: FILE.csv:COLUMN, "
        "or FILE.npz with arrays X and y",
        d->info.data.name,
        opts->target == MASE_TARGET_MAP ? "classes by position" : "numbers to predict");
}

enum mase_status mase_dataset_open(struct mase_dataset **out, const char *name,
                                   const struct mase_dataset_opts *opts, struct mase_err *err)
{
    static const struct mase_dataset_opts defaults = { 0 };
    const struct mase_data_kind *kind = mase_data_kind_of(name);
    struct mase_dataset *d = mase_xcalloc(sizeof *d);
    opts = opts ? opts : &defaults;
    enum mase_status st = opts->data_dir ? mase_check_data_dir(opts, err) : MASE_OK;
    if (!st && (!kind || mase_streq(kind->prefix, "images")))
        st = check_columns(name, opts, err);
    if (!st)
        st = kind ? open_kind(d, kind, name, opts, err) : open_named(d, name, opts, err);
    if (!st)
        st = check_scale(d, opts, err);
    if (!st)
        st = check_target(d, opts, err);
    if (!st)
        st = check_image(d, opts, err);
    if (st)
        mase_dataset_close(d);
    else
        *out = d;
    return st;
}

/* Only jsc has tables in the cache. */
static enum mase_status find_imported(const struct mase_data_info **info, const char *name,
                                      struct mase_err *err)
{
    MASE_TRY(mase_data_find(info, name, err));
    if (openers[*info - mase_datasets] == mase_open_jsc)
        return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "only jsc is imported; %s is read from the folder that --data-dir names",
                     (*info)->name);
}

enum mase_status mase_dataset_remove(struct mase_dataset_removed *removed, struct mase_arena *a,
                                     const char *name, const struct mase_dataset_opts *opts,
                                     struct mase_err *err)
{
    static const struct mase_dataset_opts defaults = { 0 };
    const struct mase_data_info *info = NULL;
    MASE_TRY(find_imported(&info, name, err));
    return mase_cache_remove(removed, a, info->name, opts ? opts : &defaults, err);
}

const char *mase_dataset_cache(struct mase_arena *a, const struct mase_dataset_opts *opts)
{
    static const struct mase_dataset_opts defaults = { 0 };
    return mase_cache_dir(a, opts ? opts : &defaults);
}

enum mase_status mase_dataset_import(const char *name, const char *path,
                                     const struct mase_dataset_opts *opts, struct mase_err *err)
{
    static const struct mase_dataset_opts defaults = { 0 };
    const struct mase_data_info *info = NULL;
    MASE_TRY(find_imported(&info, name, err));
    struct mase_dataset *d = mase_xcalloc(sizeof *d);
    d->info.data = *info;
    const enum mase_status st = mase_import_jsc(d, path, opts ? opts : &defaults, err);
    mase_dataset_close(d);
    return st;
}

enum mase_status mase_open_unavailable(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                       const char *file, struct mase_err *err)
{
    (void)opts, (void)file;
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "dataset %s is known by its shape only; its images cannot be read",
                     d->info.data.name);
}
