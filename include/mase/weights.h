/*
 * weights.h - named tensors in files of every kind, and a graph's weights read from and written to
 * them.
 */
#ifndef MASE_WEIGHTS_H
#define MASE_WEIGHTS_H

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/file.h>
#include <mase/tensor.h>

MASE_API_BEGIN

struct mase_named_tensor {
    const char *name;
    struct mase_tensor
        tensor; /* data borrowed: from the mapped file, or from the caller when writing */
};

/* A tensor in a form that is not read; what: "a sparse tensor", "a tensor of complex64". */
struct mase_unread {
    const char *name, *what;
};

/* The tensors of a .safetensors or .npz file, or the state dict of a .pt, .pth or .ckpt file. The
 * kind is found from the content, or from the name where the content does not tell. */
struct mase_tensors {
    struct mase_named_tensor *items;
    int count;
    int converted; /* tensors converted from a type that tensors do not have (float16 ...) */
    struct mase_unread *unread; /* tensors that are not read */
    int unread_count;
    int left_out; /* tensors of Lightning's training loop, left out */
    const char *key,
        *others; /* PyTorch file: keys that lead to the state dict; other state dicts of the file */
    struct mase_arena arena; /* private, like the members below */
    struct mase_file file;
    struct mase_safetensors *safetensors;
    struct mase_torch *torch;
    struct mase_npz *npz;
    struct mase_tensors *shards, *next; /* the files of an index */
};
/* Open a file of tensors, also a .pt2 file, or an index (model.safetensors.index.json) of several
 * files. */
enum mase_status mase_tensors_open(struct mase_tensors *t, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Open the state dict of a PyTorch file at `key`, keys joined by dots; NULL: the most likely one.
 */
enum mase_status mase_tensors_open_key(struct mase_tensors *t, const char *path, const char *key,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* mase_tensors_open_key, but every tensor keeps the type that it has in the file: float16, int8 ...
 */
enum mase_status mase_tensors_open_stored(struct mase_tensors *t, const char *path, const char *key,
                                          struct mase_err *err) MASE_MUST_CHECK;
void mase_tensors_close(struct mase_tensors *t);
/* The file of weights, or their index, in a Hugging Face folder; NULL: none. */
const char *mase_weights_in(struct mase_arena *a, const char *dir);

/* A change of names. `from` is a whole name or its first parts: "fc1" also matches fc1.weight and
 * fc1.bias, and "" matches every name. `to` replaces the matched parts; "" removes them. */
struct mase_rename {
    const char *from, *to;
};
/* Apply renames in order to the names of all tensors. A rename matches a whole name, or the part
 * behind a "model." or "module." that all names begin with, which is kept. A rename that matches no
 * name, or gives two tensors one name, is an error. path is used in messages only. */
enum mase_status mase_tensors_rename(struct mase_tensors *t, const struct mase_rename *renames,
                                     int count, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* Remove the prefixes that wrappers add to names: DataParallel's "module." before all names,
 * Lightning's "model.", torch.compile's "_orig_mod." anywhere. Returns what was removed, as
 * "'module.'" for messages; NULL: nothing. */
const char *mase_tensors_unwrap(struct mase_tensors *t, bool lightning);

struct mase_value;

/* Write tensors of any type to a file whose kind follows from its name: .safetensors; .pt or .pth,
 * a state dict; .ckpt, a dict with a state_dict; .npz; any other name: .safetensors. metadata: a
 * table of strings, or NULL; kinds without metadata leave it out. */
enum mase_status mase_tensors_write(const struct mase_named_tensor *items, int count,
                                    const struct mase_value *metadata, const char *path,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Write a state dict in PyTorch's format, whatever the file's name. */
enum mase_status mase_tensors_write_plain(const struct mase_named_tensor *items, int count,
                                          const char *path, struct mase_err *err) MASE_MUST_CHECK;
bool mase_tensors_can_write(const char *path); /* does its name have one of these endings? */
bool mase_tensors_keep_metadata(const char *path);

struct mase_graph;

/* Write every parameter and buffer of g, by full name, as mase_tensors_write does. */
enum mase_status mase_weights_save(const struct mase_graph *g, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* Read the parameters and buffers of g from a file. Names and shapes must agree; the error lists
 * missing, unexpected and mis-shaped tensors, and then no weight has changed. Prefixes that
 * wrappers add are removed: "model.", "module." and the like before all names, "_orig_mod."
 * anywhere. The log says what was removed, which of several state dicts was read, and which types
 * were converted. */
enum mase_status mase_weights_load(struct mase_graph *g, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;

struct mase_weights_opts {
    const struct mase_rename *renames; /* names to change first */
    int rename_count;
    const char *key; /* of the state dict, as for mase_tensors_open_key; or NULL */
    bool lenient; /* read the tensors that fit; initialise the others from the seed, and list them
                     in the log */
    uint64_t seed;
};
enum mase_status mase_weights_load_by(struct mase_graph *g, const char *path,
                                      const struct mase_weights_opts *opts,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Read the parameters and buffers of g from tensors in memory; path is used in messages only. */
enum mase_status mase_weights_take(struct mase_graph *g, const struct mase_tensors *from,
                                   const char *path, struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_WEIGHTS_H */
