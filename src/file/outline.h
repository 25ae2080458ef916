/*
 * outline.h - the tensors of a file of any kind: names, types, shapes.
 *
 * Only headers are read, however large the file: of a .safetensors or .npy file the first bytes, of
 * a PyTorch file the pickle, of an .npz file the directory and the header of each array. The reader
 * checks that the data are present, and reads them only on request.
 *
 *     struct mase_outline o;
 *     MASE_TRY(mase_outline_open(&o, "best.ckpt", false, err));
 *     for (int i = 0; i < o.count; i++)
 *         ... o.items[i].name, o.items[i].tensor.shape ...
 *     mase_outline_close(&o);
 */
#ifndef MASE_FILE_OUTLINE_H
#define MASE_FILE_OUTLINE_H

#include <mase/arena.h>
#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/value.h>
#include <mase/weights.h>

struct mase_obj;

struct mase_outline {
    enum mase_file_kind kind;
    int64_t file_bytes;
    struct mase_named_tensor *items; /* in the types of the file; data only on request */
    int count;
    /* A PyTorch file: its whole tree, and the dict or module in it whose tensors are the items.
     * state is NULL when no state dict is found; then the items are all tensors of the tree, named
     * by the keys that lead to them. */
    const struct mase_obj *tree, *state;
    const char
        *state_key; /* the keys that lead to state, "" is the tree itself; NULL without state */
    const struct mase_value *metadata; /* of a .safetensors file: a table of strings; else NULL */

    struct mase_arena arena; /* private, like the members below */
    struct mase_torch *torch;
    struct mase_safetensors *safetensors;
    struct mase_npz *npz;
    struct mase_tensors *export;
    struct mase_file file;
};

/* A file of another kind is MASE_EUNSUPPORTED. */
enum mase_status mase_outline_open(struct mase_outline *o, const char *path, bool values,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Open an outline from memory, which must outlive o; path is used in messages only. */
enum mase_status mase_outline_parse(struct mase_outline *o, const void *data, size_t size,
                                    const char *path, bool values,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_outline_close(struct mase_outline *o);

#endif /* MASE_FILE_OUTLINE_H */
