/*
 * onnx_file.h - ONNX files as structs: the messages of onnx.def, and tensors in and beside the
 * file.
 *
 * A file is mapped and stays so: texts are copied, bytes point into it. Every message knows where
 * it begins, so that whoever dislikes what it says can name the place.
 */
#ifndef MASE_ONNX_ONNX_FILE_H
#define MASE_ONNX_ONNX_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/file.h>
#include <mase/str.h>
#include <mase/tensor.h>

struct mase_onnx_bytes {
    const unsigned char *data; /* in the file */
    size_t size;
};

/* What a field is in a struct, by its kind. */
#define MASE_ONNX_C_INT   int64_t
#define MASE_ONNX_C_FLOAT float
#define MASE_ONNX_C_TEXT  const char * /* "" when absent */
#define MASE_ONNX_C_BYTES struct mase_onnx_bytes
#define MASE_ONNX_MANY(T) \
    struct {              \
        T *items;         \
        int count;        \
    }
#define MASE_ONNX_C_INTS    MASE_ONNX_MANY(int64_t)
#define MASE_ONNX_C_UINTS   MASE_ONNX_MANY(uint64_t)
#define MASE_ONNX_C_FLOATS  MASE_ONNX_MANY(float)
#define MASE_ONNX_C_DOUBLES MASE_ONNX_MANY(double)
#define MASE_ONNX_C_TEXTS   MASE_ONNX_MANY(const char *)
#define MASE_ONNX_C_BLOBS   MASE_ONNX_MANY(struct mase_onnx_bytes)

#define MESSAGE(message) struct mase_onnx_##message;
#include "onnx/onnx.def"

/* The head of every message. */
struct mase_onnx_head {
    uint64_t has; /* bit n: field n was given */
    uint64_t at;  /* where it begins in the file */
};
static inline bool mase_onnx_has(const struct mase_onnx_head *h, int number)
{
    return h->has >> number & 1;
}

#define MESSAGE(message)         \
    struct mase_onnx_##message { \
        struct mase_onnx_head head;
#define FIELD(message, number, kind, name) MASE_ONNX_C_##kind name;
#define PART(message, number, name, of)    struct mase_onnx_##of *name; /* NULL: absent */
#define PARTS(message, number, name, of)   MASE_ONNX_MANY(struct mase_onnx_##of) name;
#define END(message) \
    }                \
    ;
#include "onnx/onnx.def"

/* ---- tables ---- */

enum mase_onnx_kind {
    MASE_ONNX_INT,
    MASE_ONNX_FLOAT,
    MASE_ONNX_TEXT,
    MASE_ONNX_BYTES,
    MASE_ONNX_PART,
    MASE_ONNX_INTS, /* from here on there may be any number */
    MASE_ONNX_UINTS,
    MASE_ONNX_FLOATS,
    MASE_ONNX_DOUBLES,
    MASE_ONNX_TEXTS,
    MASE_ONNX_BLOBS,
    MASE_ONNX_PARTS,
};

enum mase_onnx_message_id {
#define MESSAGE(message) MASE_ONNX_MESSAGE_##message,
#include "onnx/onnx.def"
    MASE_ONNX_MESSAGE_COUNT
};

struct mase_onnx_field {
    int number;
    enum mase_onnx_kind kind;
    const char *name;
    size_t offset;                /* in the struct */
    enum mase_onnx_message_id of; /* parts */
};
struct mase_onnx_message {
    const char *name;
    size_t size;
    const struct mase_onnx_field *fields; /* ends with number 0 */
};
extern const struct mase_onnx_message mase_onnx_messages[MASE_ONNX_MESSAGE_COUNT];

/* ---- files ---- */

struct mase_onnx_external;

struct mase_onnx_file {
    struct mase_onnx_model *model; /* never NULL after opening; its graph is there, too */
    struct mase_arena arena;
    struct mase_file file;
    struct mase_onnx_external *external; /* files that tensors lie in, opened when asked for */
};
enum mase_status mase_onnx_file_open(struct mase_onnx_file *f, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The same of bytes in memory, which the caller keeps; external data lie beside path. */
enum mase_status mase_onnx_file_parse(struct mase_onnx_file *f, const void *data, size_t size,
                                      const char *path, struct mase_err *err) MASE_MUST_CHECK;
void mase_onnx_file_close(struct mase_onnx_file *f);

/* Any message of a file that is no model: a TensorProto by itself. out: of the message's size. */
enum mase_status mase_onnx_parse(void *out, struct mase_arena *a, enum mase_onnx_message_id id,
                                 const void *data, size_t size, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* A message as a file has it (onnx_write.c): texts may be NULL, single numbers are written where
 * head.has says so. */
void mase_onnx_print(struct mase_str *out, enum mase_onnx_message_id id, const void *message);

/* A place in the file. */
struct mase_loc mase_onnx_at(const struct mase_onnx_file *f, const struct mase_onnx_head *h);

/* ---- tensors ---- */

/* The name that ONNX has for a type of elements: "FLOAT16"; "a type without a name". */
enum {
    MASE_ONNX_FLOAT32 = 1,
    MASE_ONNX_UINT8,
    MASE_ONNX_INT8,
    MASE_ONNX_UINT16,
    MASE_ONNX_INT16,
    MASE_ONNX_INT32,
    MASE_ONNX_INT64,
    MASE_ONNX_UINT4 = 21,
    MASE_ONNX_INT4,
    MASE_ONNX_UINT2 = 25,
    MASE_ONNX_INT2
};
const char *mase_onnx_type_name(int64_t data_type);
/* Which of them has elements of our type. */
int mase_onnx_type_of(enum mase_dtype dtype);
/* Ours, if tensors can hold it: false for strings, complex numbers, 8-bit floats ... */
bool mase_onnx_dtype(enum mase_dtype *dtype, int64_t data_type);
/* Type and shape of a tensor, whose data are looked at: there are as many as the shape says.
 * Integers of 2 and 4 bits have the type of bytes. */
enum mase_status mase_onnx_tensor_shape(struct mase_tensor *out, struct mase_onnx_file *f,
                                        const struct mase_onnx_tensor *t,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Its elements, to memory for as many of them, after mase_onnx_tensor_shape has said that all is
 * well. */
void mase_onnx_tensor_copy(void *to, const struct mase_onnx_file *f,
                           const struct mase_onnx_tensor *t);

#endif /* MASE_ONNX_ONNX_FILE_H */
