/*
 * tensor.h - shapes, element types, strided views, and a tensor: dense, row-major, of rank 0 to
 * MASE_MAX_RANK.
 *
 * A tensor with data == NULL is a shape only: shape inference and execution use the same struct. A
 * tensor never frees its data; the function that makes a tensor says who owns its data.
 */
#ifndef MASE_TENSOR_H
#define MASE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/err.h>
#include <mase/str.h>

MASE_API_BEGIN

enum { MASE_MAX_RANK = 8 };

enum mase_dtype {
    MASE_F32,
    MASE_F64,
    MASE_I64,
    MASE_I32,
    MASE_U8,
    MASE_DTYPE_BOOL,
    MASE_DTYPE_COUNT,
    /* Types of files only. Readers widen them to the types above, unless asked to keep the stored
     * type; a tensor of stored type can be read and written, but not computed with. */
    MASE_F16 = MASE_DTYPE_COUNT,
    MASE_BF16,
    MASE_I16,
    MASE_I8,
    MASE_U64,
    MASE_U32,
    MASE_U16,
    MASE_STORED_DTYPE_COUNT
};

struct mase_dtype_info {
    const char *name;  /* "f32", as .mg says */
    const char *torch; /* "torch.float32" */
    int size;          /* bytes */
    char kind;         /* f IEEE float, g bfloat16, i signed, u unsigned, b boolean */
};
extern const struct mase_dtype_info mase_dtypes[MASE_STORED_DTYPE_COUNT];

struct mase_shape {
    int rank;
    int64_t dim[MASE_MAX_RANK];
};

struct mase_tensor {
    enum mase_dtype dtype;
    struct mase_shape shape;
    void *data; /* NULL: a shape only */
};

/* A view of a dense tensor: element (i0, i1, ...) lies at offset + sum i_d stride_d. */
struct mase_view {
    struct mase_shape shape;
    int64_t offset;
    int64_t stride[MASE_MAX_RANK];
};

/* One axis of a shape: element k along the axis, at position o of the axes before and i of the axes
 * behind, lies at (o * len + k) * inner + i. */
struct mase_axis {
    int64_t outer, len, inner;
};

int64_t mase_shape_count(const struct mase_shape *s); /* elements; 1 for rank 0 */
bool mase_shape_equal(const struct mase_shape *a, const struct mase_shape *b);
void mase_shape_print(struct mase_str *out, const struct mase_shape *s); /* "[8, 16]" */
/* Dimension d, counted from the end when negative, as Python does: -1 when out of range. */
int mase_shape_axis(const struct mase_shape *s, int64_t d);

struct mase_view mase_view_of(const struct mase_shape *s); /* the whole tensor in order */
struct mase_view mase_view_permuted(const struct mase_shape *s, const int *order);
/* A tensor of shape s broadcast to the shape `to`; a bug if it does not broadcast. */
struct mase_view mase_view_broadcast(const struct mase_shape *s, const struct mase_shape *to);
struct mase_axis mase_axis_of(const struct mase_shape *s, int axis);

/* f32[8, 16] and so on, with data from the arena when with_data. */
struct mase_tensor mase_tensor(struct mase_arena *a, enum mase_dtype dtype,
                               const struct mase_shape *shape, bool with_data);
int64_t mase_tensor_count(const struct mase_tensor *t);
int64_t mase_tensor_bytes(const struct mase_tensor *t);
/* Read element i of any type as a double; write it, rounded to the type, which is not one of files
 * (an integer beyond its type keeps its lowest bits). */
double mase_tensor_get(const struct mase_tensor *t, int64_t i);
void mase_tensor_set(struct mase_tensor *t, int64_t i, double v);
/* Convert a float to an integer as PyTorch and ONNX Runtime do on x86: towards zero; INT64_MIN for
 * NaN and values beyond 64 bits, INT32_MIN for values beyond int32; bytes keep the lowest bits. */
int64_t mase_integer_of_float(double v, enum mase_dtype to);
/* Set element i to element j of `from`, converted to the type of t. */
void mase_tensor_convert(struct mase_tensor *t, int64_t i, const struct mase_tensor *from,
                         int64_t j);
int64_t mase_tensor_not_finite(
    const struct mase_tensor *t); /* number of elements that are NaN or infinite */

float mase_float_of_half(uint16_t bits);   /* IEEE binary16: 1 sign, 5 exponent, 10 fraction */
float mase_float_of_bfloat(uint16_t bits); /* bfloat16: the upper half of a float32 */

static inline float *mase_f32(const struct mase_tensor *t)
{
    return (float *)t->data;
}

MASE_API_END

#endif /* MASE_TENSOR_H */
