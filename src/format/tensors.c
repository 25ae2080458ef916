/*
 * tensors.c - the named tensors of a file, whatever its kind.
 */
#include <string.h>

#include <mase/safetensors.h>
#include <mase/torch.h>

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

static enum mase_status parse(struct mase_tensors *t, const char *path, struct mase_err *err)
{
    const struct mase_file *f = &t->file;
    if (is_torch(f, path)) {
        t->torch = mase_new(&t->arena, struct mase_torch);
        MASE_TRY(mase_torch_parse(t->torch, f->data, f->size, path, err));
        t->converted = t->torch->converted;
        return mase_torch_state_dict(t->torch, &t->items, &t->count, err);
    }
    t->safetensors = mase_new(&t->arena, struct mase_safetensors);
    MASE_TRY(mase_safetensors_parse(t->safetensors, f->data, f->size, path, err));
    t->converted = t->safetensors->converted;
    t->items = t->safetensors->items;
    t->count = t->safetensors->count;
    return MASE_OK;
}

enum mase_status mase_tensors_open(struct mase_tensors *t, const char *path, struct mase_err *err)
{
    *t = (struct mase_tensors){ 0 };
    MASE_TRY(mase_file_open(&t->file, path, err));
    const enum mase_status st = parse(t, path, err);
    if (st)
        mase_tensors_close(t);
    return st;
}

void mase_tensors_close(struct mase_tensors *t)
{
    if (t->torch)
        mase_torch_close(t->torch);
    if (t->safetensors)
        mase_safetensors_close(t->safetensors);
    mase_arena_release(&t->arena);
    mase_file_close(&t->file);
    *t = (struct mase_tensors){ 0 };
}
