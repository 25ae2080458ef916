/*
 * element.c - array elements as files hold them, as ours. Every conversion is exact; NaNs keep sign
 * and payload.
 */
#include <math.h>
#include <string.h>

#include "format/element.h"

const bool mase_host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
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

bool mase_element_is_native(const struct mase_element *e)
{
    /* in a file, a boolean may be any byte */
    return e->kind != 'b' && e->kind != 'g' && e->size == mase_dtypes[e->dtype].size &&
           !(e->kind == 'u' && e->size == 8);
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
    case 4:
        ((uint32_t *)t->data)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)t->data)[i] = bits;
    }
}
