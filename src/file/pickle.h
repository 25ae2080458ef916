/*
 * pickle.h - pickles as PyTorch writes them: a restricted reader, and a writer.
 *
 * The reader runs the pickle's program on a stack of objects. Names of classes and functions are
 * looked up in one table (pickle_global.c); calling one builds data by our own code. Tensors refer
 * to storages by key; their data may come later in the file, so a pickle leaves a list of views,
 * which torch_dense.c fills when the storages are there.
 */
#ifndef MASE_FILE_PICKLE_H
#define MASE_FILE_PICKLE_H

#include <mase/cursor.h>
#include <mase/torch.h>

#include "file/element.h"

/* An element type by PyTorch's names. */
struct mase_torch_type {
    const char *storage;         /* "FloatStorage" */
    const char *dtype;           /* "torch.float32" */
    struct mase_element element; /* of kind 'X': not read */
};
extern const struct mase_torch_type mase_torch_types[];
extern const int mase_torch_type_count;
extern const struct mase_torch_type mase_torch_bytes; /* of an UntypedStorage */
const struct mase_torch_type *mase_torch_type_of(enum mase_dtype dtype);

/* A flat array of elements, which tensors are views of. */
struct mase_storage {
    const char *key;
    const struct mase_torch_type *type;
    int64_t count;             /* elements */
    struct mase_loc at;        /* of the first mention */
    const unsigned char *data; /* NULL until read */
    bool big_endian;
};

struct mase_torch_view {
    struct mase_tensor *tensor; /* type and shape are set, data follow */
    const struct mase_torch_type *type;
    struct mase_element element; /* of that type; what it becomes */
    struct mase_storage *storage;
    int64_t offset; /* elements */
    int64_t stride[MASE_MAX_RANK];
    struct mase_loc at;
};

struct mase_pickle;
struct mase_global;
typedef enum mase_status mase_call_fn(struct mase_pickle *p, struct mase_obj **result,
                                      const struct mase_obj *args, struct mase_err *err);

/* A name that a pickle may mention. */
struct mase_global {
    const char *module, *name;
    mase_call_fn *call; /* NULL: only mentioned */
};

struct mase_numpy_type {
    struct mase_element element;
    bool big_endian;
};

/* Behind MASE_OBJ_REF; exactly one is set. */
struct mase_obj_ref {
    const struct mase_global *global;
    const struct mase_torch_type *storage_type;
    struct mase_storage *storage;
    struct mase_numpy_type *numpy;
};

struct mase_pickle {
    struct mase_arena *arena; /* owns all that is read */
    size_t limit;             /* of arena->used */
    bool as_stored;           /* leave float16 and the like as they are */
    bool keep_arrays;         /* of NumPy's arrays keep the whole state, not the shape alone; the
                               * type of one is an opaque object called "<u1", ">i8" */
    struct mase_storage **storages;
    int storage_count, storage_cap;
    struct mase_map by_key; /* the same */
    struct mase_torch_view *views;
    int view_count, view_cap;

    /* the machine */
    struct mase_cursor in;
    size_t start, at; /* offsets of the pickle, of the current opcode */
    struct mase_obj **stack;
    int height, stack_cap;
    int *marks; /* heights at which MARK was seen */
    int mark_count, mark_cap;
    struct mase_obj **memo;
    size_t memo_cap, memo_count; /* room; objects that MEMOIZE put there */
};

/* Run the pickle at in->pos, and advance it. Storages and views are added to those of earlier
 * pickles. */
enum mase_status mase_pickle_read(struct mase_pickle *p, struct mase_cursor *in,
                                  const struct mase_obj **root,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* For the calls: an object of the machine, where it stands, a complaint about it. */
struct mase_obj *mase_pickle_new(struct mase_pickle *p, enum mase_obj_kind kind);
struct mase_loc mase_pickle_at(const struct mase_pickle *p);

/* pickle_global.c: what a name stands for, a storage by its persistent id, the effect of BUILD. */
void mase_pickle_global(struct mase_pickle *p, struct mase_obj **result, const char *module,
                        const char *name);
enum mase_status mase_pickle_call(struct mase_pickle *p, struct mase_obj **result,
                                  const struct mase_obj *callee, const struct mase_obj *args,
                                  struct mase_err *err);
enum mase_status mase_pickle_persistent(struct mase_pickle *p, struct mase_obj **result,
                                        const struct mase_obj *id, struct mase_err *err);
enum mase_status mase_pickle_build(struct mase_pickle *p, struct mase_obj *o,
                                   const struct mase_obj *state, struct mase_err *err);

/* pickle_opaque.c: a name that is not on the list; a call of one; more of what it was given; a
 * tensor that is passed over; what was of use only to the machine, by its name. */
struct mase_obj *mase_opaque_name(struct mase_pickle *p, const char *module, const char *name);
struct mase_obj *mase_opaque_call(struct mase_pickle *p, const struct mase_obj *callee,
                                  const struct mase_obj *args);
void mase_opaque_add(struct mase_pickle *p, struct mase_obj *o, struct mase_obj *item);
void mase_opaque_build(struct mase_pickle *p, struct mase_obj *o, const struct mase_obj *state);
struct mase_obj *mase_opaque_tensor(struct mase_pickle *p, const char *what);
void mase_opaque_from_ref(const struct mase_pickle *p, struct mase_obj *ref);
struct mase_obj *mase_opaque_stub(const struct mase_pickle *p, const struct mase_obj *o);

/* pickle_tensor.c: the calls that make tensors. */
mase_call_fn mase_call_rebuild_tensor, mase_call_rebuild_tensor_v3, mase_call_rebuild_parameter,
    mase_call_rebuild_from_type;

/* pickle_check.c: make a finished tree fit to be walked: no cycles, bounded, nothing private, no
 * key twice. */
enum mase_status mase_pickle_check_tree(const struct mase_pickle *p, struct mase_obj *root,
                                        struct mase_err *err) MASE_MUST_CHECK;

/* torch_read.c: bytes of the pickle with the magic number of files without zip; 0: there is none.
 */
size_t mase_torch_old_magic(const unsigned char *data, size_t size);

/* torch_module.c: is it a module that was pickled whole? Its state dict. */
bool mase_torch_is_module(const struct mase_obj *o);
bool mase_torch_has_state(const struct mase_obj *o); /* one that has any tensor? */
enum mase_status mase_torch_module_state(struct mase_torch *t, const struct mase_obj *module,
                                         const struct mase_obj **dict,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* torch_dense.c: the data of all views, once the storages have theirs. Counts the conversions. */
enum mase_status mase_views_fill(struct mase_pickle *p, int *converted,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* pickle_write.c: the tree as protocol 2. tensors collects what must be written as storages "0",
 * "1" and so on, in this order. */
struct mase_stored {
    const struct mase_tensor **items;
    int count, cap;
};
void mase_pickle_write(struct mase_str *out, struct mase_stored *stored, struct mase_arena *a,
                       const struct mase_obj *root);

#endif /* MASE_FILE_PICKLE_H */
