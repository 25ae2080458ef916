/*
 * torch_write.c - a tree as PyTorch's zip file (torch_read.c says what is in it).
 *
 * The archive's name is always "archive", as where torch.save does not know the file's name: the
 * bytes depend on the tree alone.
 */
#include <string.h>

#include "base/number.h"
#include "file/pickle.h"
#include "file/zip.h"

static enum mase_status put_storages(struct mase_zip_writer *z, const struct mase_stored *stored,
                                     struct mase_err *err)
{
    for (int i = 0; i < stored->count; i++) {
        const struct mase_tensor *t = stored->items[i];
        char name[40];
        mase_snprintf(name, sizeof name, "archive/data/%d", i);
        MASE_TRY(mase_zip_put(z, name, t->data, (size_t)mase_tensor_bytes(t), err));
    }
    return MASE_OK;
}

static enum mase_status put_all(struct mase_zip_writer *z, const struct mase_str *pickle,
                                const struct mase_stored *stored, struct mase_err *err)
{
    const char *order = mase_host_is_big ? "big" : "little";
    MASE_TRY(mase_zip_put(z, "archive/data.pkl", pickle->data, pickle->len, err));
    MASE_TRY(mase_zip_put(z, "archive/byteorder", order, strlen(order), err));
    MASE_TRY(put_storages(z, stored, err));
    MASE_TRY(mase_zip_put(z, "archive/version", "3\n", 2, err));
    return mase_zip_finish(z, err);
}

enum mase_status mase_torch_write(const struct mase_obj *root, const char *path,
                                  struct mase_err *err)
{
    struct mase_writer out;
    MASE_TRY(mase_writer_open(&out, path, err));
    struct mase_arena a = { 0 };
    struct mase_str pickle = { 0 };
    struct mase_stored stored = { 0 };
    mase_pickle_write(&pickle, &stored, &a, root);
    struct mase_zip_writer z;
    mase_zip_begin(&z, &out);
    enum mase_status st = put_all(&z, &pickle, &stored, err);
    if (!st)
        st = mase_writer_close(&out, err);
    else
        mase_writer_abort(&out);
    mase_zip_release(&z);
    mase_str_release(&pickle);
    mase_arena_release(&a);
    return st;
}
