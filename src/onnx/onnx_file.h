/*
 * onnx_file.h - ONNX files as structs: the messages of onnx.def, and tensors in and beside the
 * file.
 *
 * A file stays mapped: texts are copied, bytes point into it. Every message has its offset in the
 * file, for error messages.
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

/* The C type of each kind of field. */
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

/* The first member of every message. */
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
    MASE_ONNX_INTS, /* this and the following are arrays */
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
    enum mase_onnx_message_id of; /* message type of the parts */
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
    struct mase_onnx_model *model; /* not NULL once open; model->graph is not NULL either */
    struct mase_arena arena;
    struct mase_file file;
    struct mase_onnx_external *external; /* external files, opened at first use */
};
enum mase_status mase_onnx_file_open(struct mase_onnx_file *f, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Parse bytes in memory, which the caller keeps; external data lies beside path. */
enum mase_status mase_onnx_file_parse(struct mase_onnx_file *f, const void *data, size_t size,
                                      const char *path, struct mase_err *err) MASE_MUST_CHECK;
void mase_onnx_file_close(struct mase_onnx_file *f);

/* Parse one message, such as a TensorProto alone. out: a struct of that message. */
enum mase_status mase_onnx_parse(void *out, struct mase_arena *a, enum mase_onnx_message_id id,
                                 const void *data, size_t size, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* Write a message (onnx_write.c): texts may be NULL; single numbers are written if head.has says
 * so. */
void mase_onnx_print(struct mase_str *out, enum mase_onnx_message_id id, const void *message);

/* The place of a message, for errors. */
struct mase_loc mase_onnx_at(const struct mase_onnx_file *f, const struct mase_onnx_head *h);

/* ---- tensors ---- */

/* Data types, with ONNX's names for them: "FLOAT16"; "a type without a name". */
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
/* ONNX's type for one of ours. */
int mase_onnx_type_of(enum mase_dtype dtype);
/* Our type; false for types that tensors cannot hold: strings, complex numbers, 8-bit floats ... */
bool mase_onnx_dtype(enum mase_dtype *dtype, int64_t data_type);
/* Type and shape of a tensor; checks that its data has as many elements. Integers of 2 and 4 bits
 * get a type of 8 bits. */
enum mase_status mase_onnx_tensor_shape(struct mase_tensor *out, struct mase_onnx_file *f,
                                        const struct mase_onnx_tensor *t,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Copy the elements, after mase_onnx_tensor_shape has succeeded. */
void mase_onnx_tensor_copy(void *to, const struct mase_onnx_file *f,
                           const struct mase_onnx_tensor *t);

#endif /* MASE_ONNX_ONNX_FILE_H */
