/*
 * jsc_data.c - the jets: from the original HDF5 file, the OpenML table or the cache; else from the
 * formula of jsc-sim, with a warning.
 *
 * What is read is kept in the cache under the checksum of its source (jsc-SUM.table), so that it is
 * parsed, freed of duplicates, split and scaled once. `ch data import jsc FILE` puts a table there
 * as jsc.table, which is found without any file.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/log.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"
#include "data/raw.h"

static const char *const file_names[] = {
    "processed-pythia82-lhc13-all-pt1-50k-r1_h022_e0175_t220_nonu_truth.z",
    "jsc.h5",
    "jsc.hdf5",
    "jsc.csv",
    "jsc.arff",
    "hls4ml_lhc_jets_hlf.arff",
    "hls4ml_lhc_jets_hlf.csv",
};
enum { NAME_COUNT = sizeof file_names / sizeof file_names[0] };

static const struct mase_columns columns = {
    .chosen = { .features = mase_jsc_features, .feature_count = MASE_JSC_FEATURES },
    .classes = mase_jsc_classes,
    .class_count = MASE_JSC_CLASSES,
};

static bool is_text(const char *path)
{
    return mase_ends_with(path, ".csv") || mase_ends_with(path, ".arff");
}

static enum mase_status read_source(struct mase_raw *r, struct mase_arena *a, const char *path,
                                    struct mase_err *err)
{
    static const char *const one_hot[] = { "j_g", "j_q", "j_w", "j_z", "j_t" };
    if (is_text(path))
        return mase_csv_read(r, a, path, &columns, err);
    return mase_h5_read_table(r, a, path, "t_allpar_new", &columns, one_hot, err);
}

/* Build the dataset from the file; source and checksum are set. */
static enum mase_status build(struct mase_dataset *d, const char *path,
                              const struct mase_dataset_opts *opts, struct mase_err *err)
{
    struct mase_raw r = { 0 };
    enum mase_status st = read_source(&r, &d->arena, path, err);
    r.published = true;
    if (!st)
        st = mase_raw_check(
            &r, path, err); /* before rows are reordered, so that messages give the file's rows */
    if (!st) {
        mase_raw_drop_duplicates(&r);
        st = mase_raw_finish(d, &r, opts, path, err);
    }
    mase_raw_release(&r);
    return st;
}

/* ---- the cache ---- */

static const char *table_path(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                              const char *sum)
{
    const char *dir = mase_cache_dir(&d->arena, opts);
    if (!dir)
        return NULL;
    const char *name = sum ? mase_arena_printf(&d->arena, "jsc-%.16s.table", sum) : "jsc.table";
    return mase_path_join(&d->arena, dir, name);
}

/* Do opts ask for another scaling than the published one, which the table has? */
static bool wants_other(const struct mase_dataset *d, const struct mase_dataset_opts *opts)
{
    if (opts->scale == MASE_SCALE_GIVEN)
        return !opts->scaling || !mase_scaling_equal(opts->scaling, &d->info.scaling);
    return opts->scale != MASE_SCALE_USUAL && opts->scale != MASE_SCALE_STANDARD;
}

/* Set names and splits; scale the features as opts ask. */
static enum mase_status finish(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                               int64_t training, struct mase_err *err)
{
    d->info.feature_names = mase_jsc_features;
    d->info.class_names = mase_jsc_classes;
    MASE_TRY(mase_split_parts(d, opts, training, 0, MASE_SPLIT_TRAIN, err));
    if (!wants_other(d, opts))
        return MASE_OK;
    const struct mase_floats plain = { d->plain, MASE_JSC_FEATURES };
    const struct mase_scale_source from = { mase_floats_row, &plain, true, training };
    mase_aligned_free(d->block);
    d->block = mase_new_table(d);
    return mase_scale_table(d, d->block, opts, &from, err);
}

/* The unscaled numbers are read only if needed. */
static enum mase_status read_table(struct mase_dataset *d, int64_t *training, const char *path,
                                   const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const bool plain = opts->ranges || opts->scale != MASE_SCALE_USUAL;
    return mase_cache_read(d, training, path, plain, err);
}

/* Build from path and store the result; failure to write the cache is not an error. */
static enum mase_status build_table(struct mase_dataset *d, const char *path, const char *table,
                                    const struct mase_dataset_opts *opts, struct mase_err *err)
{
    struct mase_dataset_opts published = *opts;
    struct mase_err trouble;
    published.scale = MASE_SCALE_USUAL;
    MASE_TRY(build(d, path, &published, err));
    const int64_t training = d->info.rows - d->split[MASE_SPLIT_TEST].count;
    d->info.cache = table;
    if (table && mase_cache_write(d, training, table, &trouble)) {
        mase_warn("the table could not be kept in the cache: %s", trouble.msg);
        d->info.cache = NULL;
    }
    return finish(d, opts, training, err);
}

static enum mase_status open_source(struct mase_dataset *d, const char *path,
                                    const struct mase_dataset_opts *opts, struct mase_err *err)
{
    struct mase_err fault;
    int64_t training = 0;
    MASE_TRY(mase_source(d, path, err));
    const char *table = table_path(d, opts, d->info.checksum);
    const char *source = d->info.source;
    if (table && mase_is_file(table)) {
        const bool whole = read_table(d, &training, table, opts, &fault) == MASE_OK;
        d->info.source = source; /* the file may have been moved */
        d->info.cache = table;
        if (whole)
            return finish(d, opts, training, err);
        mase_warn("the cached table %s is made again: %s", table, fault.msg);
    }
    return build_table(d, path, table, opts, err);
}

/* Open the imported table; if it is damaged, rebuild it from its source. */
static enum mase_status open_imported(struct mase_dataset *d, const char *table,
                                      const struct mase_dataset_opts *opts, struct mase_err *err)
{
    int64_t training = 0;
    d->info.cache = table;
    if (read_table(d, &training, table, opts, err) == MASE_OK)
        return finish(d, opts, training, err);
    const char *source = d->info.source;
    if (!source || !mase_is_file(source))
        return mase_wrap(err, "the imported table of jsc cannot be used; import it again");
    mase_warn("the imported table %s is made again from %s: %s", table, source, err->msg);
    MASE_TRY(mase_source(d, source, err));
    return build_table(d, source, table, opts, err);
}

/* ---- open ---- */

static enum mase_status open_stand_in(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      struct mase_err *err)
{
    const char *dir = mase_data_dir(opts);
    if (opts->require_real)
        return mase_fail(err, MASE_EVALUE,
                         "the file of jsc is not found in %s and not imported, and a simulated "
                         "stand-in is not wanted; `ch data import jsc FILE` keeps one",
                         dir ? dir : "MASE_DATA (not set)");
    MASE_TRY(mase_open_jsc_sim(d, opts, NULL, err));
    d->info.notice = "simulated stand-in, not the CERN file";
    mase_info("jsc: %s (%lld rows); `ch data import jsc FILE` reads the real one", d->info.notice,
              (long long)d->info.rows);
    return MASE_OK;
}

enum mase_status mase_open_jsc(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                               const char *file, struct mase_err *err)
{
    const char *dir = mase_data_dir(opts);
    if (!file)
        MASE_TRY(mase_check_data_dir(opts, err));
    if (!file && dir && mase_is_file(dir))
        file = dir;
    if (!file)
        file = mase_find_file(d, opts, "jsc", file_names, NAME_COUNT);
    if (file)
        return open_source(d, file, opts, err);
    const char *table = table_path(d, opts, NULL);
    if (table && mase_is_file(table))
        return open_imported(d, table, opts, err);
    return open_stand_in(d, opts, err);
}

enum mase_status mase_import_jsc(struct mase_dataset *d, const char *path,
                                 const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const char *table = table_path(d, opts, NULL);
    if (!table)
        return mase_fail(err, MASE_EIO,
                         "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set");
    struct mase_dataset_opts published = *opts;
    published.scale = MASE_SCALE_USUAL;
    MASE_TRY(mase_source(d, path, err));
    MASE_TRY(build(d, path, &published, err));
    return mase_cache_write(d, d->info.rows - d->split[MASE_SPLIT_TEST].count, table, err);
}
