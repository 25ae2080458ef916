/*
 * file_kind.h - the kind of a file, by its first bytes.
 *
 * The name of a file decides only where the bytes do not: for text files. Of a zip file the
 * directory at its end is read, too; no file is read whole.
 */
#ifndef MASE_FILE_KIND_H
#define MASE_FILE_KIND_H

#include <stddef.h>

#include <mase/api.h>
#include <mase/err.h>

MASE_API_BEGIN

enum mase_file_kind {
    MASE_KIND_UNKNOWN,
    /* tensors by name */
    MASE_KIND_TORCH,       /* PyTorch's zip with a pickle */
    MASE_KIND_TORCH_OLD,   /* PyTorch's pickles in a row, until version 1.6 */
    MASE_KIND_SCRIPT,      /* PyTorch's zip with a pickle and code: TorchScript */
    MASE_KIND_SAFETENSORS, /* a JSON header and data */
    MASE_KIND_EXPORT,      /* torch.export's zip with a program and weights */
    MASE_KIND_NPZ,         /* a zip of NumPy's arrays */
    MASE_KIND_NPY,         /* one array */
    /* graphs */
    MASE_KIND_MG,     /* our text form */
    MASE_KIND_PYTHON, /* the source of a network */
    MASE_KIND_ONNX,   /* a network with its weights */
    MASE_KIND_SAVED,  /* a folder with graph_module.mg */
    /* others */
    MASE_KIND_RUN,    /* a folder with run.json */
    MASE_KIND_JSON,   /* run.json itself, or another */
    MASE_KIND_EVENTS, /* TensorBoard's curves */
    MASE_KIND_HDF5,   /* tables of HDF5 */
    MASE_KIND_TOML,   /* a configuration */
    MASE_KIND_PICKLE, /* known, not read: a pickle that is not PyTorch's */
    MASE_KIND_LFS,    /* known, not read: Git's text in place of a large file */
    MASE_KIND_HTML,   /* known, not read: a page */
    MASE_KIND_PACKED, /* known, not read: tar and gzip */
    MASE_KIND_ZIP,    /* a zip of anything else */
    MASE_KIND_FOLDER, /* a folder of anything else */
    MASE_KIND_COUNT
};

struct mase_file_kind_info {
    const char *name;   /* for programs: "safetensors" */
    const char *title;  /* for people: "a safetensors file" */
    const char *suffix; /* usual endings of file names, ".pt .pth .ckpt"; "": none */
};
extern const struct mase_file_kind_info mase_file_kinds[MASE_KIND_COUNT];

/* The kind of a file in memory; the path decides where the bytes do not. */
enum mase_file_kind mase_file_kind_of(const void *data, size_t size, const char *path);
/* The kind of the file or folder at path, which must exist; an unknown kind is not an error. */
enum mase_status mase_file_kind_find(enum mase_file_kind *kind, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_FILE_KIND_H */
