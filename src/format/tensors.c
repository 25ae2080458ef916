/*
 * tensors.c - the named tensors of a file, whatever its kind.
 */
#include <string.h>

#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

#include "format/zip.h"

/* A safetensors file begins with the length of its header in 64 bits: "PK\3\4" would be one of 64
 * MiB, and the other format's first 13 bytes none at all. */
static bool is_torch(const struct mase_file *f, const char *path)
{
    static const char *const suffixes[] = { ".pt", ".pth", ".ckpt" };
    if (f->size >= 4 && memcmp(f->data, "PK\3\4", 4) == 0)
        return true;
    if (f->size > 8 && f->data[8] == '{')
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (mase_ends_with(path, suffixes[i]))
            return true;
    return f->size > 2 && f->data[0] == 0x80 && f->data[1] >= 2 && f->data[1] <= 5;
}

/* A zip file with arrays of NumPy's, and no pickle as PyTorch has it. */
static bool is_npz(const struct mase_file *f)
{
    struct mase_arena a = { 0 };
    struct mase_zip z;
    bool arrays = false, pickle = false;
    if (mase_zip_open(&z, &a, f->data, f->size, f->path, NULL) == MASE_OK)
        for (int i = 0; i < z.count; i++) {
            arrays |= mase_ends_with(z.entries[i].name, ".npy");
            pickle |= mase_ends_with(z.entries[i].name, "/data.pkl");
        }
    mase_arena_release(&a);
    return arrays && !pickle;
}

static enum mase_status parse_torch(struct mase_tensors *t, const char *path, bool as_stored,
                                    struct mase_err *err)
{
    const struct mase_file *f = &t->file;
    t->torch = mase_new(&t->arena, struct mase_torch);
    MASE_TRY((as_stored ? mase_torch_parse_stored : mase_torch_parse)(t->torch, f->data, f->size,
                                                                      path, err));
    t->converted = t->torch->converted;
    return mase_torch_state_dict(t->torch, &t->items, &t->count, err);
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
    return MASE_OK;
}

static enum mase_status open(struct mase_tensors *t, const char *path, bool as_stored,
                             struct mase_err *err)
{
    *t = (struct mase_tensors){ 0 };
    MASE_TRY(mase_file_open(&t->file, path, err));
    const enum mase_status st =
        (is_npz(&t->file)           ? parse_npz
         : is_torch(&t->file, path) ? parse_torch
                                    : parse_safetensors)(t, path, as_stored, err);
    if (st)
        mase_tensors_close(t);
    return st;
}

enum mase_status mase_tensors_open(struct mase_tensors *t, const char *path, struct mase_err *err)
{
    return open(t, path, false, err);
}

enum mase_status mase_tensors_open_stored(struct mase_tensors *t, const char *path,
                                          struct mase_err *err)
{
    return open(t, path, true, err);
}

void mase_tensors_close(struct mase_tensors *t)
{
    if (t->torch)
        mase_torch_close(t->torch);
    if (t->safetensors)
        mase_safetensors_close(t->safetensors);
    if (t->npz)
        mase_npz_close(t->npz);
    mase_arena_release(&t->arena);
    mase_file_close(&t->file);
    *t = (struct mase_tensors){ 0 };
}
