/*
 * torch.h - PyTorch's files: .pt, .pth and .ckpt, read and written without PyTorch.
 *
 * Such a file is a pickled tree of Python objects whose tensors lie beside it. A pickle is a
 * program for a stack machine that can call any function; this reader calls none. It knows a fixed
 * list of names (tensors, their types, OrderedDict, NumPy's scalars) and builds plain data from
 * them. The arguments of any other class or function are kept under its name, as an opaque object.
 * A reference from such an object back to its container, or again to a large object, is replaced by
 * the name of that object. The result is a tree without cycles, at most MASE_OBJ_DEPTH deep, and
 * reading takes at most 128 MiB plus 16 times the file's size. Python objects may be shared: with
 * every occurrence counted, the tree has at most 65536 objects more than four times the bytes of
 * its pickle, and never more than MASE_OBJ_COUNT. MASE_MEMORY in the environment raises the first
 * two bounds.
 *
 *     struct mase_torch t;
 *     MASE_TRY(mase_torch_open(&t, "best.ckpt", err));
 *     const struct mase_obj *epoch = mase_obj_get(t.root, "epoch");
 *     ...
 *     mase_torch_close(&t);                              // and all that t.root leads to
 *
 * A file is written from a tree that the caller builds in an arena:
 *
 *     struct mase_obj *root = mase_obj_dict(&a);
 *     mase_obj_set(&a, root, "epoch", mase_obj_int(&a, 3));
 *     struct mase_obj *weights = mase_obj_set(&a, root, "state_dict", mase_obj_ordered_dict(&a));
 *     mase_obj_set(&a, weights, "model.fc.bias", mase_obj_tensor(&a, &bias));
 *     MASE_TRY(mase_torch_write(root, "last.ckpt", err));
 */
#ifndef MASE_TORCH_H
#define MASE_TORCH_H

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/file.h>
#include <mase/str.h>
#include <mase/tensor.h>
#include <mase/weights.h>

MASE_API_BEGIN

enum { MASE_OBJ_DEPTH = 100, MASE_OBJ_COUNT = 1 << 24 };

enum mase_obj_kind {
    MASE_OBJ_NONE,
    MASE_OBJ_BOOL,
    MASE_OBJ_INT,
    MASE_OBJ_FLOAT,
    MASE_OBJ_TEXT,
    MASE_OBJ_BYTES,
    MASE_OBJ_DTYPE, /* torch.float32: its name is in text */
    MASE_OBJ_LIST,  /* sets too */
    MASE_OBJ_TUPLE,
    MASE_OBJ_DICT,
    MASE_OBJ_TENSOR,
    MASE_OBJ_OPAQUE, /* a class, a function or an object of unknown meaning: its name is in type;
                      * keys and items are its arguments by number, then attributes, items ... */
    MASE_OBJ_REF,    /* private: a class or a storage; only while a file is read */
    MASE_OBJ_KIND_COUNT
};

/* "none", "boolean", "integer", ... for messages */
extern const char *const mase_obj_kind_names[MASE_OBJ_KIND_COUNT];

struct mase_obj {
    enum mase_obj_kind kind;
    union {
        bool b;
        int64_t i;
        double f;
        struct {
            const char *text; /* UTF-8, or any bytes; a NUL follows */
            size_t len;
        };
        struct {
            struct mase_obj **items; /* list, tuple, and the values of a dict */
            struct mase_obj **keys;  /* dict: of any kind, in order */
            int count, cap;
        };
        struct mase_tensor *tensor; /* never NULL; its data belong to the file or to the caller */
        const struct mase_obj_ref *ref;
    };
    const char *type; /* opaque: "argparse.Namespace" */
    bool ordered;     /* dict: an OrderedDict, as state dicts are */
    bool made;        /* opaque: the result of a call, not the class or function itself */
    bool unread;      /* opaque: a tensor of a kind that is not read */
    uint8_t height;   /* private: of the tree below */
    uint32_t weight;  /* private: objects in the tree below */
};

/* ---- building ---- */

struct mase_obj *mase_obj_none(struct mase_arena *a);
struct mase_obj *mase_obj_bool(struct mase_arena *a, bool b);
struct mase_obj *mase_obj_int(struct mase_arena *a, int64_t i);
struct mase_obj *mase_obj_float(struct mase_arena *a, double f);
struct mase_obj *mase_obj_text(struct mase_arena *a, const char *s);
struct mase_obj *mase_obj_text_n(struct mase_arena *a, const char *s, size_t n);
/* Written so that only PyTorch from 2.5 reads it back with weights_only; a tensor of bytes has no
 * such limit. */
struct mase_obj *mase_obj_bytes(struct mase_arena *a, const void *data, size_t n);
struct mase_obj *mase_obj_list(struct mase_arena *a);
struct mase_obj *mase_obj_tuple(struct mase_arena *a);
struct mase_obj *mase_obj_dict(struct mase_arena *a);
struct mase_obj *mase_obj_ordered_dict(struct mase_arena *a);
/* Copies the struct and borrows the data. */
struct mase_obj *mase_obj_tensor(struct mase_arena *a, const struct mase_tensor *t);

/* All return item, so that trees can be built from the top. The caller must set each key of a dict
 * only once, which is not checked. */
struct mase_obj *mase_obj_push(struct mase_arena *a, struct mase_obj *list, struct mase_obj *item);
struct mase_obj *mase_obj_set(struct mase_arena *a, struct mase_obj *dict, const char *key,
                              struct mase_obj *item);
struct mase_obj *mase_obj_set_key(struct mase_arena *a, struct mase_obj *dict, struct mase_obj *key,
                                  struct mase_obj *item);

/* ---- looking ---- */

/* NULL when o is NULL, neither dict nor opaque, or has no such key. */
const struct mase_obj *mase_obj_get(const struct mase_obj *o, const char *key);
const struct mase_obj *mase_obj_get_int(const struct mase_obj *o, int64_t key);
bool mase_obj_is_text(const struct mase_obj *o, const char *text); /* false for NULL */
/* Deep equality: kinds, order, the bits of floats and tensors. */
bool mase_obj_equal(const struct mase_obj *a, const struct mase_obj *b);
/* As Python prints, a tensor as its type and shape: {'epoch': 3, 'w': tensor f32[5, 16]}. */
void mase_obj_print(struct mase_str *out, const struct mase_obj *o);

/* ---- files ---- */

/* Where in a file the model's tensors are. */
struct mase_torch_state {
    const struct mase_obj *dict; /* names and values: tensors, and entries that are passed over */
    const struct mase_obj *from; /* in the tree: the dict itself, or the module it was made from */
    const char *key;             /* the keys that lead there, "ema.model"; "" is the root */
    const char *others; /* other state dicts of the file: "'model_ema', 'teacher'"; "": none */
};

struct mase_torch {
    struct mase_arena arena; /* owns the tree */
    struct mase_file file;
    const struct mase_obj *root;
    int converted; /* tensors converted from a type that tensors do not have (float16, int8) */
    struct mase_torch_state state; /* the state dict of the last call of mase_torch_find_state */
    struct mase_unread *unread;    /* tensors in state that are not read */
    int unread_count;
    int left_out;    /* tensors of Lightning's training loop, left out */
    const char *key; /* which state dict to take; NULL: the most likely one */
    bool as_stored;  /* private: convert no tensor */
    bool no_data;    /* private: read no data */
};

/* Open a zip file, or a file of the older format. A tensor is a view of the mapped file where the
 * file has the layout of memory, else a copy: transposed tensors, float16 and bfloat16 (to
 * float32), int8 and int16 (to int32), unaligned data. */
enum mase_status mase_torch_open(struct mase_torch *t, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Read a file in memory, which must outlive t; path is used in messages only. */
enum mase_status mase_torch_parse(struct mase_torch *t, const void *data, size_t size,
                                  const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* mase_torch_parse, but every tensor keeps the type that it has in the file. */
enum mase_status mase_torch_parse_stored(struct mase_torch *t, const void *data, size_t size,
                                         const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* Read the tree only: tensors have the types and shapes of the file, and no data. */
enum mase_status mase_torch_outline(struct mase_torch *t, const void *data, size_t size,
                                    const char *path, struct mase_err *err) MASE_MUST_CHECK;
void mase_torch_close(struct mase_torch *t);

/* Write a zip file in the layout of torch.save, which torch.load(weights_only=True) accepts. Equal
 * trees give equal bytes. Tensors that share data share them in the file. */
enum mase_status mase_torch_write(const struct mase_obj *root, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* Find the state dict of a file: a dict with texts as keys and tensors among its values. Other
 * values under a key with a dot, and tensors of a kind that is not read, are passed over. A module,
 * pickled whole or as TorchScript, stands for its own state_dict(). The state dict is the first of:
 * the root itself; the value of the root under state_dict, model_state_dict, model and the like,
 * searched likewise; the only state dict among the root's values; the tensors among other values of
 * the root. key, or NULL, says where to look instead. MASE_EVALUE: there is none, or more than one
 * of equal rank. */
enum mase_status mase_torch_find_state(struct mase_torch *t, const char *key,
                                       struct mase_torch_state *state,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* The tensors of the state dict by name. In a Lightning checkpoint whose names begin with "model.",
 * tensors of other names (metrics, weights of the loss) belong to the training loop and are left
 * out. Names and data live as long as t. */
enum mase_status mase_torch_state_dict(struct mase_torch *t, struct mase_named_tensor **items,
                                       int *count, struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_TORCH_H */
