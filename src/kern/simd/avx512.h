/* avx512.h - the sixteen lanes as one 512-bit register. */
#include <immintrin.h>

#include "kern/simd/int512.h"

typedef __m512 vf;
typedef __mmask16 vm; /* one bit per lane */

/* Register blocks of the products: outputs x vectors of lanes. */
#define GEMM_MR     4
#define GEMM_NV     4
#define EXTENT_TILE 4
#define GRAD_MR     4
#define GRAD_NR     4
#define INT_MR      8

static inline vf vload(const float *p)
{
    return _mm512_loadu_ps(p);
}
static inline void vstore(float *p, vf a)
{
    _mm512_storeu_ps(p, a);
}
static inline vf vload_i32(const int32_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_loadu_si512(p));
}
/* Whole numbers that 16 bits hold. */
static inline void vstore_i16(int16_t *p, vf a)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(a)));
}
static inline vf vset1(float a)
{
    return _mm512_set1_ps(a);
}
static inline vf vzero(void)
{
    return _mm512_setzero_ps();
}
static inline vf vadd(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}
static inline vf vsub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}
static inline vf vmul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}
static inline vf vdiv(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}
static inline vf vsqrt(vf a)
{
    return _mm512_sqrt_ps(a);
}
static inline vf vabs(vf a)
{
    return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a);
}
static inline vf vfma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
static inline vf vmax(vf a, vf b)
{
    return _mm512_max_ps(a, b);
} /* b when either is NaN */
static inline vf vmin(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}
static inline vm vgt(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
static inline vm veq(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline vf vselect(vm m, vf yes, vf no)
{
    return _mm512_mask_blend_ps(m, no, yes);
}
static inline vf vrint(vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vf vfloor(vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
/* The size of a with the sign of b. */
static inline vf vcopysign(vf a, vf b)
{
    return _mm512_or_ps(vabs(a), _mm512_and_ps(b, _mm512_set1_ps(-0.0f)));
}
/* The power of two that is not above |a|; 0 of zero and of subnormals, infinite of NaN. */
static inline vf vpower(vf a)
{
    return _mm512_and_ps(a, _mm512_castsi512_ps(_mm512_set1_epi32(0x7f800000)));
}
/* The larger of nonnegative numbers; NaN counts as larger than all. */
static inline vf vlarger(vf a, vf b)
{
    return _mm512_castsi512_ps(_mm512_max_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}
static inline float vlargest(vf a)
{
    return _mm_cvtss_f32(
        _mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(_mm512_castps_si512(a)))));
}
/* a * 2^k for integral k in -126..127 */
static inline vf vscale2(vf a, vf k)
{
    __m512i e =
        _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(k), _mm512_set1_epi32(127)), 23);
    return _mm512_mul_ps(a, _mm512_castsi512_ps(e));
}
/* The lanes below n, 0 <= n <= 16. */
static inline vm vfirst(int n)
{
    return (vm)((1u << n) - 1u);
}

/* Lane i of the result is the sum over the lanes of a[i]: 8 apart first, then 4, 2, 1. */
static inline vf vsum16(const vf a[16])
{
    vf b[8], c[4], d[2];
    for (int i = 0; i < 8; i++) /* lanes 0-7: a[i], 8-15: a[i + 8] */
        b[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a[i], a[i + 8], 0x44),
                             _mm512_shuffle_f32x4(a[i], a[i + 8], 0xee));
    for (int i = 0; i < 4; i++) /* quarters: a[i], a[i+8], a[i+4], a[i+12] */
        c[i] = _mm512_add_ps(_mm512_shuffle_f32x4(b[i], b[i + 4], 0x88),
                             _mm512_shuffle_f32x4(b[i], b[i + 4], 0xdd));
    for (int i = 0; i < 2; i++) /* in each quarter: two of c[i], two of c[i + 2] */
        d[i] = _mm512_add_ps(_mm512_shuffle_ps(c[i], c[i + 2], 0x44),
                             _mm512_shuffle_ps(c[i], c[i + 2], 0xee));
    vf e = _mm512_add_ps(_mm512_shuffle_ps(d[0], d[1], 0x88), _mm512_shuffle_ps(d[0], d[1], 0xdd));
    /* lane 4q + j holds a[quarter(q) + order(j)]: quarters 0, 8, 4, 12, order 0, 2, 1, 3 */
    const __m512i back = _mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15);
    return _mm512_permutexvar_ps(back, e);
}
static inline float vsum(vf a)
{
    __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}

/* Transpose sixteen vectors in place. */
static inline void vtranspose16(vf a[16])
{
    __m512 t[16];
    for (int i = 0; i < 8; i++) { /* pairs of rows: lanes interleaved within quarters */
        t[2 * i] = _mm512_unpacklo_ps(a[2 * i], a[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_ps(a[2 * i], a[2 * i + 1]);
    }
    for (int i = 0; i < 4; i++) { /* four rows: quarter q of a[4i + j] is column 4q + j */
        a[4 * i] = _mm512_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
        a[4 * i + 1] = _mm512_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
        a[4 * i + 2] = _mm512_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
        a[4 * i + 3] = _mm512_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
    }
    for (int j = 0; j < 4; j++) { /* the 4 x 4 block of quarters */
        const __m512 ab = _mm512_shuffle_f32x4(a[j], a[4 + j], 0x44);
        const __m512 cd = _mm512_shuffle_f32x4(a[8 + j], a[12 + j], 0x44);
        const __m512 ef = _mm512_shuffle_f32x4(a[j], a[4 + j], 0xee);
        const __m512 gh = _mm512_shuffle_f32x4(a[8 + j], a[12 + j], 0xee);
        t[j] = _mm512_shuffle_f32x4(ab, cd, 0x88);
        t[4 + j] = _mm512_shuffle_f32x4(ab, cd, 0xdd);
        t[8 + j] = _mm512_shuffle_f32x4(ef, gh, 0x88);
        t[12 + j] = _mm512_shuffle_f32x4(ef, gh, 0xdd);
    }
    for (int i = 0; i < 16; i++)
        a[i] = t[i];
}
/* a = mantissa 2^exponent with the mantissa in [1, 2), for positive normal a. */
static inline vf vexponent(vf a)
{
    __m512i e = _mm512_srli_epi32(_mm512_castps_si512(a), 23);
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(e, _mm512_set1_epi32(127)));
}
static inline vf vmantissa(vf a)
{
    __m512i m = _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7fffff));
    return _mm512_castsi512_ps(_mm512_or_si512(m, _mm512_set1_epi32(0x3f800000)));
}
/* How many lanes of a mask are set. */
static inline int vcount(vm m)
{
    return __builtin_popcount(m);
}
static inline vm vand(vm a, vm b)
{
    return (vm)(a & b);
}
static inline vm vor(vm a, vm b)
{
    return (vm)(a | b);
}
static inline vm vnot(vm a)
{
    return (vm)~a;
}

/* Eight words of 64 bits. */
typedef __m512i vword;

static inline vword vword0(void)
{
    return _mm512_setzero_si512();
}
/* Set bit floor(x scale + offset) for each of eight values, unless it is 64 or more. */
static inline vword vhot(const float *x, double scale, double offset)
{
    const __m512d v = _mm512_cvtps_pd(_mm256_loadu_ps(x));
    const __m512d bin = _mm512_fmadd_pd(v, _mm512_set1_pd(scale), _mm512_set1_pd(offset));
    return _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_cvttpd_epi64(bin));
}
/* The bits of the sum of three words: those of weight one, and of weight two. */
static inline vword vadd3(vword *twice, vword a, vword b, vword c)
{
    *twice = _mm512_ternarylogic_epi64(a, b, c, 0xe8);
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
/* count[b] += weight times the words with bit b. */
static inline void vtally(uint8_t *count, vword a, int weight)
{
    const __m512i one = _mm512_set1_epi8((char)weight);
    __m512i sum = _mm512_loadu_si512(count);
    uint64_t word[8];
    _mm512_storeu_si512(word, a);
    for (int i = 0; i < 8; i++)
        sum = _mm512_mask_add_epi8(sum, (__mmask64)word[i], sum, one);
    _mm512_storeu_si512(count, sum);
}
