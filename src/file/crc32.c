/*
 * crc32.c - CRC-32 by folding: the checks of a checkpoint cost no more than reading it.
 *
 * A CRC is the remainder of a polynomial over GF(2). Blocks of 16 bytes, bits reversed, are
 * polynomials of degree 127; one that stands D bits before another is congruent to its two halves
 * multiplied by x^(D + 32) and x^(D - 32) modulo P, which has 96 bits at most and can be added to
 * the block D bits later. So a whole buffer is folded into its last 16 bytes, whose CRC zlib
 * computes. (V. Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel, 2009.)
 *
 * Four sums side by side hide the latency of the multiplication. AVX-512 folds four blocks at a
 * time. Without either, which cpuid tells, zlib does it all.
 */
#include "file/crc32.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define NARROW __attribute__((target("pclmul,sse2")))
#define WIDE   __attribute__((target("vpclmulqdq,avx512f")))

enum { LANES = 4, BLOCK = 16, WIDE_BLOCK = 64, STRIDE = LANES * BLOCK, WIDE_STRIDE = 4 * STRIDE };

/* x^(D + 32) and x^(D - 32) modulo P, their 32 bits reversed and shifted up by one. */
static const uint64_t by_128[2] = { 0x1751997d0, 0x0ccaa009e };
static const uint64_t by_512[2] = { 0x154442bd4, 0x1c6e41596 };
static const uint64_t by_2048[2] = { 0x11542778a, 0x1322d1430 };

NARROW static __m128i load(const void *p)
{
    return _mm_loadu_si128(p);
}

NARROW static __m128i fold(__m128i sum, __m128i by, __m128i next)
{
    const __m128i low = _mm_clmulepi64_si128(sum, by, 0x00);
    const __m128i high = _mm_clmulepi64_si128(sum, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* CRC of whole strides, at least one. */
NARROW static uint32_t fold_narrow(uint32_t crc, const unsigned char *p, size_t strides)
{
    const __m128i far = load(by_512), near = load(by_128);
    __m128i sum[LANES];
    unsigned char rest[BLOCK];
    for (int i = 0; i < LANES; i++)
        sum[i] = load(p + BLOCK * i);
    sum[0] = _mm_xor_si128(sum[0], _mm_cvtsi32_si128((int)~crc));
    while (--strides) {
        p += STRIDE;
        for (int i = 0; i < LANES; i++)
            sum[i] = fold(sum[i], far, load(p + BLOCK * i));
    }
    for (int i = 1; i < LANES; i++)
        sum[i] = fold(sum[i - 1], near, sum[i]);
    _mm_storeu_si128((void *)rest, sum[LANES - 1]);
    return (uint32_t)crc32_z(UINT32_MAX, rest, BLOCK); /* zlib inverts: nothing stands before */
}

WIDE static __m512i fold_four(__m512i sum, __m512i by, __m512i next)
{
    const __m512i low = _mm512_clmulepi64_epi128(sum, by, 0x00);
    const __m512i high = _mm512_clmulepi64_epi128(sum, by, 0x11);
    return _mm512_xor_si512(_mm512_xor_si512(low, high), next);
}

WIDE static uint32_t fold_wide(uint32_t crc, const unsigned char *p, size_t strides)
{
    const __m512i far = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)by_2048));
    const __m512i near = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)by_512));
    __m512i sum[LANES];
    unsigned char rest[WIDE_BLOCK];
    for (int i = 0; i < LANES; i++)
        sum[i] = _mm512_loadu_si512(p + WIDE_BLOCK * i);
    sum[0] = _mm512_xor_si512(sum[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
    while (--strides) {
        p += WIDE_STRIDE;
        for (int i = 0; i < LANES; i++)
            sum[i] = fold_four(sum[i], far, _mm512_loadu_si512(p + WIDE_BLOCK * i));
    }
    for (int i = 1; i < LANES; i++)
        sum[i] = fold_four(sum[i - 1], near, sum[i]);
    _mm512_storeu_si512(rest, sum[LANES - 1]);
    return fold_narrow(UINT32_MAX, rest, 1);
}

uint32_t mase_crc32_by(enum mase_crc32_way way, uint32_t crc, const void *data, size_t size)
{
    const unsigned char *p = data;
    const size_t wide = way >= MASE_CRC32_WIDE ? size / WIDE_STRIDE : 0;
    if (wide)
        crc = fold_wide(crc, p, wide);
    p += wide * WIDE_STRIDE;
    size -= wide * WIDE_STRIDE;
    const size_t narrow = way >= MASE_CRC32_NARROW ? size / STRIDE : 0;
    if (narrow)
        crc = fold_narrow(crc, p, narrow);
    p += narrow * STRIDE;
    size -= narrow * STRIDE;
    return (uint32_t)crc32_z(crc, p, size);
}

enum mase_crc32_way mase_crc32_best(void)
{
    if (!__builtin_cpu_supports("pclmul"))
        return MASE_CRC32_ZLIB;
    return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f")
               ? MASE_CRC32_WIDE
               : MASE_CRC32_NARROW;
}

#else

uint32_t mase_crc32_by(enum mase_crc32_way way, uint32_t crc, const void *data, size_t size)
{
    (void)way;
    return (uint32_t)crc32_z(crc, data, size);
}

enum mase_crc32_way mase_crc32_best(void)
{
    return MASE_CRC32_ZLIB;
}

#endif

uint32_t mase_crc32(uint32_t crc, const void *data, size_t size)
{
    return size ? mase_crc32_by(mase_crc32_best(), crc, data, size) : crc; /* data may be NULL */
}
