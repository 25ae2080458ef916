/*
 * tensors_write.c - named tensors to a file of the kind that its name says.
 */
#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

static enum mase_status write_safetensors(struct mase_arena *a,
                                          const struct mase_named_tensor *items, int count,
                                          const struct mase_value *metadata, const char *path,
                                          struct mase_err *err)
{
    struct mase_value *all = metadata ? mase_value_copy(a, metadata) : mase_value_table(a);
    if (!mase_value_get(all, "format"))
        mase_value_set(a, all, "format", mase_value_string(a, "pt")); /* as PyTorch says */
    return mase_safetensors_write(items, count, all, path, err);
}

static struct mase_obj *state_dict(struct mase_arena *a, const struct mase_named_tensor *items,
                                   int count)
{
    struct mase_obj *dict = mase_obj_ordered_dict(a);
    for (int i = 0; i < count; i++)
        mase_obj_set(a, dict, items[i].name, mase_obj_tensor(a, &items[i].tensor));
    return dict;
}

/* The state dict itself. */
static enum mase_status write_pt(struct mase_arena *a, const struct mase_named_tensor *items,
                                 int count, const struct mase_value *metadata, const char *path,
                                 struct mase_err *err)
{
    (void)metadata;
    return mase_torch_write(state_dict(a, items, count), path, err);
}

/* {"format": "pt"}, which every file of PyTorch's tensors says, is not worth a word. */
static bool says_something(const struct mase_value *metadata)
{
    return metadata && metadata->count > (mase_value_get(metadata, "format") ? 1 : 0);
}

/* {'state_dict': ..., 'metadata': {...}} */
static enum mase_status write_ckpt(struct mase_arena *a, const struct mase_named_tensor *items,
                                   int count, const struct mase_value *metadata, const char *path,
                                   struct mase_err *err)
{
    struct mase_obj *root = mase_obj_dict(a);
    mase_obj_set(a, root, "state_dict", state_dict(a, items, count));
    if (says_something(metadata)) {
        struct mase_obj *texts = mase_obj_set(a, root, "metadata", mase_obj_dict(a));
        for (int i = 0; i < metadata->count; i++)
            mase_obj_set(a, texts, metadata->keys[i], mase_obj_text(a, metadata->items[i]->s));
    }
    return mase_torch_write(root, path, err);
}

static enum mase_status write_npz(struct mase_arena *a, const struct mase_named_tensor *items,
                                  int count, const struct mase_value *metadata, const char *path,
                                  struct mase_err *err)
{
    (void)a;
    (void)metadata;
    return mase_npz_write(items, count, path, err);
}

enum mase_status mase_tensors_write_plain(const struct mase_named_tensor *items, int count,
                                          const char *path, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const enum mase_status st = write_pt(&a, items, count, NULL, path, err);
    mase_arena_release(&a);
    return st;
}

static const struct {
    const char *suffix;
    bool metadata; /* can it hold any? */
    enum mase_status (*write)(struct mase_arena *a, const struct mase_named_tensor *items,
                              int count, const struct mase_value *metadata, const char *path,
                              struct mase_err *err);
} kinds[] = {
    { ".safetensors", true, write_safetensors },
    { ".pt", false, write_pt },
    { ".pth", false, write_pt },
    { ".ckpt", true, write_ckpt },
    { ".npz", false, write_npz },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int kind_of(const char *path)
{
    int i = 0;
    while (i < KINDS && !mase_ends_with(path, kinds[i].suffix))
        i++;
    return i < KINDS ? i : -1;
}

bool mase_tensors_can_write(const char *path)
{
    return kind_of(path) >= 0;
}

bool mase_tensors_keep_metadata(const char *path)
{
    const int kind = kind_of(path);
    return kind < 0 || kinds[kind].metadata;
}

enum mase_status mase_tensors_write(const struct mase_named_tensor *items, int count,
                                    const struct mase_value *metadata, const char *path,
                                    struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const int kind = kind_of(path);
    const enum mase_status st =
        (kind < 0 ? write_safetensors : kinds[kind].write)(&a, items, count, metadata, path, err);
    mase_arena_release(&a);
    return st;
}
