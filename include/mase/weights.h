/*
 * weights.h - named tensors in files of any kind we read, and a graph's weights from and to them.
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
    struct mase_tensor tensor; /* data borrowed: the mapped file's, or the caller's when writing */
};

/* A tensor that a file has in a form that is not read: "a sparse tensor", "a tensor of complex64".
 */
struct mase_unread {
    const char *name, *what;
};

/* The tensors of a .safetensors or .npz file, or the state dict of a .pt, .pth or .ckpt file. What
 * it is, is told from its content, and from its name where that says nothing. */
struct mase_tensors {
    struct mase_named_tensor *items;
    int count;
    int converted;              /* tensors of types we lack (float16 ...), now of one of ours */
    struct mase_unread *unread; /* what is passed over */
    int unread_count;
    int left_out;             /* tensors of a training loop around the model */
    const char *key, *others; /* where in a PyTorch file they are, what else it could have been */
    struct mase_arena arena;  /* private, like the rest */
    struct mase_file file;
    struct mase_safetensors *safetensors;
    struct mase_torch *torch;
    struct mase_npz *npz;
    struct mase_tensors *shards, *next; /* files that an index names */
};
/* Also a .pt2 file, and an index (model.safetensors.index.json) of several files. */
enum mase_status mase_tensors_open(struct mase_tensors *t, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The same from this state dict of a PyTorch file: keys with dots between; NULL: as above. */
enum mase_status mase_tensors_open_key(struct mase_tensors *t, const char *path, const char *key,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* The same, every tensor left in the type that the file has it in: float16, int8 ... */
enum mase_status mase_tensors_open_stored(struct mase_tensors *t, const char *path, const char *key,
                                          struct mase_err *err) MASE_MUST_CHECK;
void mase_tensors_close(struct mase_tensors *t);
/* The file of a Hugging Face folder that has the weights, or their index; NULL: there is none. */
const char *mase_weights_in(struct mase_arena *a, const char *dir);

/* A change of names. `from` is a whole name or its first parts: "fc1" is also that of fc1.weight
 * and fc1.bias, and "" that of all. `to` takes their place; "" drops them. */
struct mase_rename {
    const char *from, *to;
};
/* Apply these in order to the names of all tensors. One fits a name as it is, or what is behind a
 * "model." or "module." common to all, which then stays. It is an error when one fits no name, or
 * when two tensors come to be called the same. path is used in messages only. */
enum mase_status mase_tensors_rename(struct mase_tensors *t, const struct mase_rename *renames,
                                     int count, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* Leave out of the names what wrappers put there: DataParallel's "module." before all of them,
 * Lightning's "model.", torch.compile's "_orig_mod." anywhere. What went, as "'module.'" for
 * messages; NULL: nothing. */
const char *mase_tensors_unwrap(struct mase_tensors *t, bool lightning);

struct mase_value;

/* Tensors of any type to a file of the kind that the name of path says: .safetensors; .pt or .pth,
 * a state dict; .ckpt, a dict with a state_dict; .npz; any other name: .safetensors, too. metadata:
 * a table of strings, or NULL; kept where the kind has a place for it. */
enum mase_status mase_tensors_write(const struct mase_named_tensor *items, int count,
                                    const struct mase_value *metadata, const char *path,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* A state dict in PyTorch's format, whatever the name of path. */
enum mase_status mase_tensors_write_plain(const struct mase_named_tensor *items, int count,
                                          const char *path, struct mase_err *err) MASE_MUST_CHECK;
bool mase_tensors_can_write(const char *path); /* is its name one of those? */
bool mase_tensors_keep_metadata(const char *path);

struct mase_graph;

/* Every parameter and buffer of g, by full name, to a file as mase_tensors_write has it. */
enum mase_status mase_weights_save(const struct mase_graph *g, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* And back. Names and shapes must agree; missing, unexpected and mis-shaped ones are listed in the
 * error, and then no weight has changed. What wrappers put into names is dropped: "model.",
 * "module." and the like before all of them, "_orig_mod." anywhere. The log tells that, which of
 * several state dicts was taken, and conversions of type. */
enum mase_status mase_weights_load(struct mase_graph *g, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;

struct mase_weights_opts {
    const struct mase_rename *renames; /* names to change first */
    int rename_count;
    const char *key; /* of the state dict, as mase_tensors_open_key has it; or NULL */
    bool lenient;    /* take what fits; name the rest in the log, and draw it from the seed */
    uint64_t seed;
};
enum mase_status mase_weights_load_by(struct mase_graph *g, const char *path,
                                      const struct mase_weights_opts *opts,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The same from tensors in memory; path is used in messages only. */
enum mase_status mase_weights_take(struct mase_graph *g, const struct mase_tensors *from,
                                   const char *path, struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_WEIGHTS_H */
