/*
 * tensor.c - shapes, element types and single elements.
 */
#include <math.h>

#include <mase/tensor.h>

const struct mase_dtype_info mase_dtypes[MASE_DTYPE_COUNT] = {
    [MASE_F32] = { "f32", "torch.float32", 4 }, [MASE_F64] = { "f64", "torch.float64", 8 },
    [MASE_I64] = { "i64", "torch.int64", 8 },   [MASE_I32] = { "i32", "torch.int32", 4 },
    [MASE_U8] = { "u8", "torch.uint8", 1 },     [MASE_DTYPE_BOOL] = { "bool", "torch.bool", 1 },
};

int64_t mase_shape_count(const struct mase_shape *s)
{
    int64_t n = 1;
    bool huge = false;

    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] == 0)
            return 0;
        huge |= __builtin_mul_overflow(n, s->dim[i], &n);
    }
    return huge ? INT64_MAX : n;
}

bool mase_shape_equal(const struct mase_shape *a, const struct mase_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

void mase_shape_print(struct mase_str *out, const struct mase_shape *s)
{
    mase_str_addc(out, '[');
    for (int i = 0; i < s->rank; i++)
        mase_str_printf(out, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
    mase_str_addc(out, ']');
}

int mase_shape_axis(const struct mase_shape *s, int64_t d)
{
    int64_t axis = d < 0 ? d + s->rank : d;
    return axis >= 0 && axis < s->rank ? (int)axis : -1;
}

struct mase_tensor mase_tensor(struct mase_arena *a, enum mase_dtype dtype,
                               const struct mase_shape *shape, bool with_data)
{
    struct mase_tensor t = { .dtype = dtype, .shape = *shape };
    if (with_data)
        t.data = mase_arena_alloc_array(a, (size_t)mase_tensor_count(&t),
                                        (size_t)mase_dtypes[dtype].size);
    return t;
}

int64_t mase_tensor_count(const struct mase_tensor *t)
{
    return mase_shape_count(&t->shape);
}

int64_t mase_tensor_bytes(const struct mase_tensor *t)
{
    int64_t bytes;
    if (__builtin_mul_overflow(mase_tensor_count(t), mase_dtypes[t->dtype].size, &bytes))
        return INT64_MAX;
    return bytes;
}

double mase_tensor_get(const struct mase_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case MASE_F32:
        return ((const float *)t->data)[i];
    case MASE_F64:
        return ((const double *)t->data)[i];
    case MASE_I64:
        return (double)((const int64_t *)t->data)[i];
    case MASE_I32:
        return ((const int32_t *)t->data)[i];
    case MASE_U8:
    case MASE_DTYPE_BOOL:
        return ((const uint8_t *)t->data)[i];
    case MASE_DTYPE_COUNT:
        break;
    }
    mase_bug("element type %d does not exist", t->dtype);
}

/* Towards zero, saturated: what C leaves undefined must not depend on the machine. */
static int64_t to_integer(double v, int64_t lo, int64_t hi)
{
    if (isnan(v))
        return 0;
    if (v <= (double)lo)
        return lo;
    if (v >= (double)hi)
        return hi;
    return (int64_t)v;
}

void mase_tensor_set(struct mase_tensor *t, int64_t i, double v)
{
    switch (t->dtype) {
    case MASE_F32:
        ((float *)t->data)[i] = (float)v;
        return;
    case MASE_F64:
        ((double *)t->data)[i] = v;
        return;
    case MASE_I64:
        ((int64_t *)t->data)[i] = to_integer(v, INT64_MIN, INT64_MAX);
        return;
    case MASE_I32:
        ((int32_t *)t->data)[i] = (int32_t)to_integer(v, INT32_MIN, INT32_MAX);
        return;
    case MASE_U8:
        ((uint8_t *)t->data)[i] = (uint8_t)to_integer(v, 0, UINT8_MAX);
        return;
    case MASE_DTYPE_BOOL:
        ((uint8_t *)t->data)[i] = v != 0;
        return;
    case MASE_DTYPE_COUNT:
        break;
    }
    mase_bug("element type %d does not exist", t->dtype);
}
