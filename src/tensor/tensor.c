/*
 * tensor.c - shapes, element types and single elements.
 */
#include <math.h>
#include <string.h>

#include <mase/tensor.h>

const struct mase_dtype_info mase_dtypes[MASE_STORED_DTYPE_COUNT] = {
    [MASE_F32] = { "f32", "torch.float32", 4, 'f' },
    [MASE_F64] = { "f64", "torch.float64", 8, 'f' },
    [MASE_I64] = { "i64", "torch.int64", 8, 'i' },
    [MASE_I32] = { "i32", "torch.int32", 4, 'i' },
    [MASE_U8] = { "u8", "torch.uint8", 1, 'u' },
    [MASE_DTYPE_BOOL] = { "bool", "torch.bool", 1, 'b' },
    [MASE_F16] = { "f16", "torch.float16", 2, 'f' },
    [MASE_BF16] = { "bf16", "torch.bfloat16", 2, 'g' },
    [MASE_I16] = { "i16", "torch.int16", 2, 'i' },
    [MASE_I8] = { "i8", "torch.int8", 1, 'i' },
    [MASE_U64] = { "u64", "torch.uint64", 8, 'u' },
    [MASE_U32] = { "u32", "torch.uint32", 4, 'u' },
    [MASE_U16] = { "u16", "torch.uint16", 2, 'u' },
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

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

float mase_float_of_half(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0x1f) /* infinity, NaN */
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) { /* zero, subnormal: fraction * 2^-24 */
        const float f = ldexpf((float)fraction, -24);
        return sign ? -f : f;
    }
    return float_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

float mase_float_of_bfloat(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
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
    case MASE_F16:
        return mase_float_of_half(((const uint16_t *)t->data)[i]);
    case MASE_BF16:
        return mase_float_of_bfloat(((const uint16_t *)t->data)[i]);
    case MASE_I16:
        return ((const int16_t *)t->data)[i];
    case MASE_I8:
        return ((const int8_t *)t->data)[i];
    case MASE_U64:
        return (double)((const uint64_t *)t->data)[i];
    case MASE_U32:
        return ((const uint32_t *)t->data)[i];
    case MASE_U16:
        return ((const uint16_t *)t->data)[i];
    case MASE_STORED_DTYPE_COUNT:
        break;
    }
    mase_bug("element type %d does not exist", t->dtype);
}

/* Towards zero; the lowest integer where no 64 bits hold it: no index and no count is mistaken for
 * it. */
static int64_t to_int64(double v)
{
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

/* The lowest bits of a whole number, with the sign of the type. */
static int64_t wrapped(int64_t v, enum mase_dtype to)
{
    switch (to) {
    case MASE_I32:
        return (int32_t)(uint32_t)((uint64_t)v & UINT32_MAX);
    case MASE_U8:
        return (uint8_t)((uint64_t)v & UINT8_MAX);
    case MASE_DTYPE_BOOL:
        return v != 0;
    default:
        return v;
    }
}

int64_t mase_integer_of_float(double v, enum mase_dtype to)
{
    if (to == MASE_I32)
        return v > -0x1p31 - 1 && v < 0x1p31 ? (int64_t)v : INT32_MIN;
    return to == MASE_DTYPE_BOOL ? v != 0 : wrapped(to_int64(v), to);
}

/* A number that integers gave. */
static int64_t to_integer(double v, enum mase_dtype to)
{
    return v >= -0x1p63 && v < 0x1p63 ? wrapped((int64_t)v, to) : mase_integer_of_float(v, to);
}

static bool is_float(enum mase_dtype dtype)
{
    return dtype == MASE_F32 || dtype == MASE_F64 || dtype == MASE_F16 || dtype == MASE_BF16;
}

void mase_tensor_convert(struct mase_tensor *t, int64_t i, const struct mase_tensor *from,
                         int64_t j)
{
    const bool large = from->dtype == MASE_I64, whole = !is_float(from->dtype);
    const int64_t v = large ? ((const int64_t *)from->data)[j] : 0;
    if (large && t->dtype == MASE_F32)
        ((float *)t->data)[i] = (float)v;
    else if (large && t->dtype == MASE_I64)
        ((int64_t *)t->data)[i] = v;
    else if (large && !is_float(t->dtype))
        mase_tensor_set(t, i, (double)wrapped(v, t->dtype));
    else if (whole || is_float(t->dtype) || t->dtype == MASE_DTYPE_BOOL)
        mase_tensor_set(t, i, mase_tensor_get(from, j));
    else if (t->dtype == MASE_I64)
        ((int64_t *)t->data)[i] = mase_integer_of_float(mase_tensor_get(from, j), MASE_I64);
    else
        mase_tensor_set(t, i, (double)mase_integer_of_float(mase_tensor_get(from, j), t->dtype));
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
        ((int64_t *)t->data)[i] = to_integer(v, MASE_I64);
        return;
    case MASE_I32:
        ((int32_t *)t->data)[i] = (int32_t)to_integer(v, MASE_I32);
        return;
    case MASE_U8:
        ((uint8_t *)t->data)[i] = (uint8_t)to_integer(v, MASE_U8);
        return;
    case MASE_DTYPE_BOOL:
        ((uint8_t *)t->data)[i] = v != 0;
        return;
    default:
        mase_bug("element type %d is not computed with", t->dtype);
    }
}

int64_t mase_tensor_not_finite(const struct mase_tensor *t)
{
    const int64_t count = mase_tensor_count(t);
    int64_t n = 0;
    if (t->dtype == MASE_F32) /* the one that is large */
        for (int64_t i = 0; i < count; i++)
            n += !isfinite(mase_f32(t)[i]);
    else
        for (int64_t i = 0; i < count; i++)
            n += !isfinite(mase_tensor_get(t, i));
    return n;
}
