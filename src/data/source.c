/*
 * source.c - find data files, and compute their checksums.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "data/dataset_parts.h"
#include "data/raw.h"

void mase_split_name(struct mase_arena *a, const char *name, const char **path, const char **label)
{
    const char *colon = strrchr(name, ':');
    const bool named = colon && colon[1] && !mase_is_file(name);
    *path = named ? mase_arena_strndup(a, name, (size_t)(colon - name)) : name;
    *path = mase_arena_strdup(a, *path);
    *label = named ? mase_arena_strdup(a, colon + 1) : NULL;
}

void mase_source_of(struct mase_dataset *d, const struct mase_file *f)
{
    mase_sha256(d->info.checksum, f->data, f->size);
    d->info.source = mase_path_absolute(&d->arena, f->path);
}

enum mase_status mase_source(struct mase_dataset *d, const char *path, struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    mase_source_of(d, &f);
    mase_file_close(&f);
    return MASE_OK;
}

bool mase_is_fashion(const char *dir)
{
    for (const char *p = dir; *p; p++)
        if (mase_strncaseeq(p, "fashion", 7))
            return true;
    return false;
}

static const char *environment(const char *name)
{
    const char *v = getenv(name);
    return v && v[0] ? v : NULL;
}

const char *mase_data_dir(const struct mase_dataset_opts *opts)
{
    return opts->data_dir ? opts->data_dir : environment("MASE_DATA");
}

enum mase_status mase_check_data_dir(const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const char *dir = mase_data_dir(opts);
    if (!dir || mase_is_dir(dir) || mase_is_file(dir))
        return MASE_OK;
    return mase_fail_in(err, MASE_EIO, dir, "there is no such folder or file of data%s",
                        opts->data_dir ? "" : ", which MASE_DATA names");
}

const char *mase_find_file(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                           const char *folder, const char *const *names, int n)
{
    const char *dir = mase_data_dir(opts);
    if (!dir)
        return NULL;
    const char *const places[] = { dir, mase_path_join(&d->arena, dir, folder) };
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < n; i++) {
            const char *path = mase_path_join(&d->arena, places[p], names[i]);
            if (mase_is_file(path))
                return path;
        }
    return NULL;
}

const char *mase_cache_dir(struct mase_arena *a, const struct mase_dataset_opts *opts)
{
    const char *base = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    if (opts->cache_dir)
        return opts->cache_dir;
    if (base && base[0] == '/') /* the XDG specification ignores relative paths */
        return mase_path_join(a, base, "mase");
    return home ? mase_path_join(a, home, ".cache/mase") : NULL;
}
