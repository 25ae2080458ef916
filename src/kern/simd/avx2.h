/* avx2.h - the sixteen lanes as two 256-bit registers. */
#include <immintrin.h>

#include "kern/simd/int256.h"

typedef struct {
    __m256 lo, hi;
} vf;
typedef struct {
    __m256 lo, hi;
} vm; /* all bits of a lane set, or none */

#define GEMM_MR     6
#define GEMM_NV     1
#define EXTENT_TILE 1
#define GRAD_MR     3
#define GRAD_NR     2
#define INT_MR      4

static inline vf vload(const float *p)
{
    return (vf){ _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8) };
}
static inline void vstore(float *p, vf a)
{
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
}
static inline __m256 load_i32_half(const int32_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)p));
}
static inline vf vload_i32(const int32_t *p)
{
    return (vf){ load_i32_half(p), load_i32_half(p + 8) };
}
/* Whole numbers that 16 bits hold. */
static inline void vstore_i16(int16_t *p, vf a)
{
    vp_store16(p, _mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi));
}
static inline vf vp_floats(vp a)
{
    return (vf){ _mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi) };
}
/* Round to nearest even, to 32-bit integers; in the order of vp. */
static inline vp vp_rounded(vf a)
{
    return (vp){ _mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi) };
}
static inline vp vp_ordered(vf a)
{
    const vp r = vp_rounded(a);
    return (vp){ _mm256_permute2x128_si256(r.lo, r.hi, 0x20),
                 _mm256_permute2x128_si256(r.lo, r.hi, 0x31) };
}
/* In order. */
static inline vf vp_double_floats(const int32_t *x, const double *mul, const double *add)
{
    return (vf){ double_floats8(x, mul, add), double_floats8(x + 8, mul + 8, add + 8) };
}
static inline vf vset1(float a)
{
    __m256 v = _mm256_set1_ps(a);
    return (vf){ v, v };
}
static inline vf vzero(void)
{
    return (vf){ _mm256_setzero_ps(), _mm256_setzero_ps() };
}
static inline vf vadd(vf a, vf b)
{
    return (vf){ _mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi) };
}
static inline vf vsub(vf a, vf b)
{
    return (vf){ _mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi) };
}
static inline vf vmul(vf a, vf b)
{
    return (vf){ _mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi) };
}
static inline vf vdiv(vf a, vf b)
{
    return (vf){ _mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi) };
}
static inline vf vsqrt(vf a)
{
    return (vf){ _mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi) };
}
static inline vf vabs(vf a)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return (vf){ _mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi) };
}
static inline vf vfma(vf a, vf b, vf c)
{
    return (vf){ _mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi) };
}
static inline vf vmax(vf a, vf b)
{
    return (vf){ _mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi) };
}
static inline vf vmin(vf a, vf b)
{
    return (vf){ _mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi) };
}
static inline vm vgt(vf a, vf b)
{
    return (vm){ _mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ) };
}
static inline vm veq(vf a, vf b)
{
    return (vm){ _mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ) };
}
static inline vf vselect(vm m, vf yes, vf no)
{
    return (vf){ _mm256_blendv_ps(no.lo, yes.lo, m.lo), _mm256_blendv_ps(no.hi, yes.hi, m.hi) };
}
static inline vf vrint(vf a)
{
    return (vf){ _mm256_round_ps(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                 _mm256_round_ps(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC) };
}
static inline vf vfloor(vf a)
{
    return (vf){ _mm256_floor_ps(a.lo), _mm256_floor_ps(a.hi) };
}
static inline __m256 copysign_half(__m256 a, __m256 b)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, b));
}
/* The size of a with the sign of b. */
static inline vf vcopysign(vf a, vf b)
{
    return (vf){ copysign_half(a.lo, b.lo), copysign_half(a.hi, b.hi) };
}
/* The power of two that is not above |a|; 0 of zero and of subnormals, infinite of NaN. */
static inline vf vpower(vf a)
{
    const __m256 exponent = _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000));
    return (vf){ _mm256_and_ps(exponent, a.lo), _mm256_and_ps(exponent, a.hi) };
}
static inline __m256 larger_half(__m256 a, __m256 b)
{
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
}
/* The larger of nonnegative numbers; NaN counts as larger than all. */
static inline vf vlarger(vf a, vf b)
{
    return (vf){ larger_half(a.lo, b.lo), larger_half(a.hi, b.hi) };
}
static inline float vlargest(vf a)
{
    const __m256i b = _mm256_castps_si256(larger_half(a.lo, a.hi));
    __m128i c = _mm_max_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
    c = _mm_max_epi32(c, _mm_shuffle_epi32(c, 0x4e));
    c = _mm_max_epi32(c, _mm_shuffle_epi32(c, 0xb1));
    return _mm_cvtss_f32(_mm_castsi128_ps(c));
}
static inline __m256 scale2_half(__m256 a, __m256 k)
{
    __m256i e =
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(k), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(a, _mm256_castsi256_ps(e));
}
static inline vf vscale2(vf a, vf k)
{
    return (vf){ scale2_half(a.lo, k.lo), scale2_half(a.hi, k.hi) };
}
static inline vm vfirst(int n)
{
    const __m256 i = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), m = _mm256_set1_ps((float)n);
    return (vm){ _mm256_cmp_ps(i, m, _CMP_LT_OQ),
                 _mm256_cmp_ps(_mm256_add_ps(i, _mm256_set1_ps(8)), m, _CMP_LT_OQ) };
}
static inline float vsum(vf a)
{
    __m256 b = _mm256_add_ps(a.lo, a.hi);
    __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}
static inline vf vsum16(const vf a[16])
{
    float s[16];
    for (int i = 0; i < 16; i++)
        s[i] = vsum(a[i]);
    return vload(s);
}

/* Eight rows of eight lanes in place. */
static inline void transpose8(__m256 a[8])
{
    __m256 t[8];
    for (int i = 0; i < 4; i++) { /* pairs of rows, interleaved within halves */
        t[2 * i] = _mm256_unpacklo_ps(a[2 * i], a[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_ps(a[2 * i], a[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) { /* four rows: half h of a[4i + j] is column 4h + j */
        a[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
        a[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
        a[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
        a[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
    }
    for (int j = 0; j < 4; j++) {
        t[j] = _mm256_permute2f128_ps(a[j], a[4 + j], 0x20);
        t[4 + j] = _mm256_permute2f128_ps(a[j], a[4 + j], 0x31);
    }
    for (int i = 0; i < 8; i++)
        a[i] = t[i];
}
static inline void vtranspose16(vf a[16])
{
    __m256 q[4][8]; /* quarters: rows 0 to 7 and 8 to 15, their first and last lanes */
    for (int i = 0; i < 8; i++) {
        q[0][i] = a[i].lo;
        q[1][i] = a[i].hi;
        q[2][i] = a[8 + i].lo;
        q[3][i] = a[8 + i].hi;
    }
    for (int k = 0; k < 4; k++)
        transpose8(q[k]);
    for (int i = 0; i < 8; i++) {
        a[i] = (vf){ q[0][i], q[2][i] };
        a[8 + i] = (vf){ q[1][i], q[3][i] };
    }
}
static inline __m256 exponent_half(__m256 a)
{
    __m256i e = _mm256_srli_epi32(_mm256_castps_si256(a), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(e, _mm256_set1_epi32(127)));
}
static inline __m256 mantissa_half(__m256 a)
{
    __m256 m = _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffff)));
    return _mm256_or_ps(m, _mm256_set1_ps(1.0f));
}
static inline vf vexponent(vf a)
{
    return (vf){ exponent_half(a.lo), exponent_half(a.hi) };
}
static inline vf vmantissa(vf a)
{
    return (vf){ mantissa_half(a.lo), mantissa_half(a.hi) };
}
static inline int vcount(vm m)
{
    return __builtin_popcount((unsigned)_mm256_movemask_ps(m.lo)) +
           __builtin_popcount((unsigned)_mm256_movemask_ps(m.hi));
}
static inline vm vand(vm a, vm b)
{
    return (vm){ _mm256_and_ps(a.lo, b.lo), _mm256_and_ps(a.hi, b.hi) };
}
static inline vm vor(vm a, vm b)
{
    return (vm){ _mm256_or_ps(a.lo, b.lo), _mm256_or_ps(a.hi, b.hi) };
}
static inline vm vnot(vm a)
{
    const __m256 ones = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    return (vm){ _mm256_xor_ps(a.lo, ones), _mm256_xor_ps(a.hi, ones) };
}

/* Eight words of 64 bits. */
typedef struct {
    __m256i lo, hi;
} vword;

static inline vword vword0(void)
{
    return (vword){ _mm256_setzero_si256(), _mm256_setzero_si256() };
}
static inline __m256i hot_half(const float *x, double scale, double offset)
{
    const __m128i bin = _mm256_cvttpd_epi32(_mm256_fmadd_pd(
        _mm256_cvtps_pd(_mm_loadu_ps(x)), _mm256_set1_pd(scale), _mm256_set1_pd(offset)));
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_cvtepu32_epi64(bin));
}
static inline vword vhot(const float *x, double scale, double offset)
{
    return (vword){ hot_half(x, scale, offset), hot_half(x + 4, scale, offset) };
}
static inline __m256i add3_half(__m256i *twice, __m256i a, __m256i b, __m256i c)
{
    const __m256i odd = _mm256_xor_si256(a, b);
    *twice = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(odd, c));
    return _mm256_xor_si256(odd, c);
}
static inline vword vadd3(vword *twice, vword a, vword b, vword c)
{
    return (vword){ add3_half(&twice->lo, a.lo, b.lo, c.lo),
                    add3_half(&twice->hi, a.hi, b.hi, c.hi) };
}
/* The bits of half a word as 32 bytes of 0 and 255. */
static inline __m256i spread_bits(int bits)
{
    const __m256i byte =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    return _mm256_cmpeq_epi8(
        _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte), bit), bit);
}
static inline void vtally(uint8_t *count, vword a, int weight)
{
    const __m256i one = _mm256_set1_epi8((char)weight);
    int half[16];
    __m256i low = _mm256_loadu_si256((const __m256i *)count);
    __m256i high = _mm256_loadu_si256((const __m256i *)(count + 32));
    _mm256_storeu_si256((__m256i *)half, a.lo);
    _mm256_storeu_si256((__m256i *)(half + 8), a.hi);
    for (int i = 0; i < 16; i += 2) {
        low = _mm256_add_epi8(low, _mm256_and_si256(spread_bits(half[i]), one));
        high = _mm256_add_epi8(high, _mm256_and_si256(spread_bits(half[i + 1]), one));
    }
    _mm256_storeu_si256((__m256i *)count, low);
    _mm256_storeu_si256((__m256i *)(count + 32), high);
}
