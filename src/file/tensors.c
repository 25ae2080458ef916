/*
 * tensors.c - the named tensors of a file, whatever its kind.
 */
#include <mase/file_kind.h>
#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

#include "file/tensor_readers.h"

enum mase_status mase_tensors_of_torch(struct mase_tensors *t, const void *data, size_t size,
                                       const char *path, bool as_stored, struct mase_err *err)
{
    t->torch = mase_new(&t->arena, struct mase_torch);
    MASE_TRY(
        (as_stored ? mase_torch_parse_stored : mase_torch_parse)(t->torch, data, size, path, err));
    t->torch->key = t->key;
    MASE_TRY(mase_torch_state_dict(t->torch, &t->items, &t->count, err));
    t->converted = t->torch->converted;
    t->unread = t->torch->unread;
    t->unread_count = t->torch->unread_count;
    t->left_out = t->torch->left_out;
    t->key = t->torch->state.key;
    t->others = t->torch->state.others;
    return MASE_OK;
}

static enum mase_status parse_torch(struct mase_tensors *t, const char *path, bool as_stored,
                                    struct mase_err *err)
{
    return mase_tensors_of_torch(t, t->file.data, t->file.size, path, as_stored, err);
}

static enum mase_status parse_export(struct mase_tensors *t, const char *path, bool as_stored,
                                     struct mase_err *err)
{
    (void)path;
    return mase_export_read(t, as_stored, err);
}

static enum mase_status parse_index(struct mase_tensors *t, const char *path, bool as_stored,
                                    struct mase_err *err)
{
    (void)path;
    return mase_shards_read(t, as_stored, err);
}

static enum mase_status parse_npz(struct mase_tensors *t, const char *path, bool as_stored,
                                  struct mase_err *err)
{
    const struct mase_file *f = &t->file;
    t->npz = mase_new(&t->arena, struct mase_npz);
    MASE_TRY(
        (as_stored ? mase_npz_parse_stored : mase_npz_parse)(t->npz, f->data, f->size, path, err));
    t->converted = t->npz->converted;
    t->items = t->npz->items;
    t->count = t->npz->count;
    return MASE_OK;
}

static enum mase_status parse_safetensors(struct mase_tensors *t, const char *path, bool as_stored,
                                          struct mase_err *err)
{
    const struct mase_file *f = &t->file;
    t->safetensors = mase_new(&t->arena, struct mase_safetensors);
    MASE_TRY((as_stored ? mase_safetensors_parse_stored
                        : mase_safetensors_parse)(t->safetensors, f->data, f->size, path, err));
    t->converted = t->safetensors->converted;
    t->items = t->safetensors->items;
    t->count = t->safetensors->count;
    t->unread = t->safetensors->unread;
    t->unread_count = t->safetensors->unread_count;
    return MASE_OK;
}

/* Refuse what users have instead of the file: a pointer of Git LFS, an HTML page, an archive. */
static enum mase_status refuse_stand_in(struct mase_tensors *t, const char *path, bool as_stored,
                                        struct mase_err *err)
{
    (void)as_stored;
    const enum mase_file_kind kind = mase_file_kind_of(t->file.data, t->file.size, path);
    return mase_fail_in(err, MASE_EPARSE, path, "%s: %s", mase_file_kinds[kind].title,
                        kind == MASE_KIND_LFS    ? "'git lfs pull' fetches the file itself"
                        : kind == MASE_KIND_HTML ? "the download gave a page in place of the file"
                                                 : "unpack it first");
}

static enum mase_status refuse_empty(struct mase_tensors *t, const char *path, bool as_stored,
                                     struct mase_err *err)
{
    (void)t;
    (void)as_stored;
    return mase_fail_in(err, MASE_EPARSE, path, "the file is empty");
}

typedef enum mase_status parse_fn(struct mase_tensors *t, const char *path, bool as_stored,
                                  struct mase_err *err);

static parse_fn *const parsers[MASE_KIND_COUNT] = {
    [MASE_KIND_NPZ] = parse_npz,          [MASE_KIND_TORCH] = parse_torch,
    [MASE_KIND_TORCH_OLD] = parse_torch,  [MASE_KIND_SCRIPT] = parse_torch,
    [MASE_KIND_PICKLE] = parse_torch,     [MASE_KIND_ZIP] = parse_torch,
    [MASE_KIND_EXPORT] = parse_export,    [MASE_KIND_SAFETENSORS] = parse_safetensors,
    [MASE_KIND_LFS] = refuse_stand_in,    [MASE_KIND_HTML] = refuse_stand_in,
    [MASE_KIND_PACKED] = refuse_stand_in,
};

/* A file of an unknown kind is parsed by its suffix, whose parser reports the error. */
static parse_fn *parser_of(const struct mase_file *f)
{
    static const char *const torch[] = { ".pt", ".pth", ".ckpt", ".bin", ".tar", ".pt2" };
    if (!f->size)
        return refuse_empty;
    if (mase_ends_with(f->path, ".json"))
        return parse_index;
    parse_fn *known = parsers[mase_file_kind_of(f->data, f->size, f->path)];
    if (known)
        return known;
    for (size_t i = 0; i < sizeof torch / sizeof torch[0]; i++)
        if (mase_ends_with(f->path, torch[i]))
            return parse_torch;
    return mase_ends_with(f->path, ".npz") ? parse_npz : parse_safetensors;
}

static enum mase_status open_any(struct mase_tensors *t, const char *path, const char *key,
                                 bool as_stored, struct mase_err *err)
{
    *t = (struct mase_tensors){ .key = key };
    MASE_TRY(mase_file_open(&t->file, path, err));
    const enum mase_status st = parser_of(&t->file)(t, path, as_stored, err);
    if (st)
        mase_tensors_close(t);
    return st;
}

enum mase_status mase_tensors_open(struct mase_tensors *t, const char *path, struct mase_err *err)
{
    return open_any(t, path, NULL, false, err);
}

enum mase_status mase_tensors_open_key(struct mase_tensors *t, const char *path, const char *key,
                                       struct mase_err *err)
{
    return open_any(t, path, key, false, err);
}

enum mase_status mase_tensors_open_stored(struct mase_tensors *t, const char *path, const char *key,
                                          struct mase_err *err)
{
    return open_any(t, path, key, true, err);
}

void mase_tensors_close(struct mase_tensors *t)
{
    if (t->torch)
        mase_torch_close(t->torch);
    if (t->safetensors)
        mase_safetensors_close(t->safetensors);
    if (t->npz)
        mase_npz_close(t->npz);
    for (struct mase_tensors *shard = t->shards, *next; shard; shard = next) {
        next = shard->next;
        mase_tensors_close(shard);
    }
    mase_arena_release(&t->arena);
    mase_file_close(&t->file);
    *t = (struct mase_tensors){ 0 };
}
