/*
 * element.c - array elements as files hold them, as ours. Every conversion is exact; NaNs keep sign
 * and payload.
 */
#include <string.h>

#include "file/element.h"

const bool mase_host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

struct mase_element mase_element_of(enum mase_dtype dtype)
{
    return (struct mase_element){ mase_dtypes[dtype].kind, mase_dtypes[dtype].size, dtype };
}

struct mase_element mase_element_as_stored(const struct mase_element *e)
{
    for (int i = 0; i < MASE_STORED_DTYPE_COUNT; i++)
        if (mase_dtypes[i].kind == e->kind && mase_dtypes[i].size == e->size)
            return mase_element_of((enum mase_dtype)i);
    mase_bug("no type of kind %c has %d bytes", e->kind, e->size);
}

/* Is the tensor's type the file's? */
static bool is_as_stored(const struct mase_element *e)
{
    return mase_dtypes[e->dtype].kind == e->kind && mase_dtypes[e->dtype].size == e->size;
}

bool mase_element_is_native(const struct mase_element *e)
{
    return e->kind != 'b' && is_as_stored(e); /* in a file, a boolean may be any byte */
}

static uint64_t load_raw(const unsigned char *p, int size, bool big_endian)
{
    uint64_t raw = 0;
    for (int i = 0; i < size; i++)
        raw |= (uint64_t)p[big_endian ? size - 1 - i : i] << (8 * i);
    return raw;
}

bool mase_element_load(const struct mase_element *e, uint64_t *bits, const unsigned char *p,
                       bool big_endian)
{
    const uint64_t raw = load_raw(p, e->size, big_endian);
    const int unused = 64 - 8 * e->size;
    *bits = raw;
    if (mase_element_is_native(e))
        return true;
    if (e->kind == 'i')
        *bits = (uint64_t)((int64_t)(raw << unused) >> unused);
    else if (e->kind == 'b')
        *bits = raw != 0;
    else if (e->kind == 'f' && e->size == 2)
        *bits = bits_of_float(mase_float_of_half((uint16_t)raw));
    else if (e->kind == 'g')
        *bits = bits_of_float(mase_float_of_bfloat((uint16_t)raw));
    return !(e->kind == 'u' && raw > INT64_MAX);
}

void mase_element_store(struct mase_tensor *t, int64_t i, uint64_t bits)
{
    switch (mase_dtypes[t->dtype].size) {
    case 1:
        ((uint8_t *)t->data)[i] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)t->data)[i] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)t->data)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)t->data)[i] = bits;
    }
}
