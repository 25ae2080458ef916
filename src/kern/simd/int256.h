/* int256.h - integers of sixteen lanes in two 256-bit registers.
 *
 * Pairs of 16-bit numbers are interleaved within halves of a register, so lanes of `lo` are 0 to 3
 * and 8 to 11, those of `hi` the others; storing puts them in order. */
typedef struct {
    __m256i lo, hi;
} vp;

static inline vp vp_set1(int32_t a)
{
    const __m256i v = _mm256_set1_epi32(a);
    return (vp){ v, v };
}
/* Interleave the values of two rows. */
static inline vp vp_pairs(const int16_t *a, const int16_t *b)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)a),
                  y = _mm256_loadu_si256((const __m256i *)b);
    return (vp){ _mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y) };
}
/* acc + x.first w.first + x.second w.second; w has both in its halves. */
static inline vp vp_dot(vp acc, vp x, int32_t w)
{
    const __m256i v = _mm256_set1_epi32(w);
    return (vp){ _mm256_add_epi32(acc.lo, _mm256_madd_epi16(x.lo, v)),
                 _mm256_add_epi32(acc.hi, _mm256_madd_epi16(x.hi, v)) };
}
static inline void vp_store(int32_t *p, vp a)
{
    _mm256_storeu_si256((__m256i *)p, _mm256_permute2x128_si256(a.lo, a.hi, 0x20));
    _mm256_storeu_si256((__m256i *)(p + 8), _mm256_permute2x128_si256(a.lo, a.hi, 0x31));
}
static inline vp vp_load(const int32_t *p)
{
    return (vp){ _mm256_loadu_si256((const __m256i *)p),
                 _mm256_loadu_si256((const __m256i *)(p + 8)) };
}
/* As lanes, as vp_load takes them. */
static inline void vp_put(int32_t *p, vp a)
{
    _mm256_storeu_si256((__m256i *)p, a.lo);
    _mm256_storeu_si256((__m256i *)(p + 8), a.hi);
}
static inline vp vp_sub(vp a, vp b)
{
    return (vp){ _mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi) };
}
/* Saturate to 16 bits; to unsigned 8 bits. */
static inline void vp_store_shorts(int16_t *p, vp a)
{
    _mm256_storeu_si256((__m256i *)p, _mm256_packs_epi32(a.lo, a.hi));
}
static inline void vp_store_bytes(uint8_t *p, vp a)
{
    const __m256i s = _mm256_packs_epi32(a.lo, a.hi), b = _mm256_packus_epi16(s, s);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(_mm256_permute4x64_epi64(b, 0x08)));
}
/* Words of bytes without a sign, at x + 4 word[j], times bytes that have one: by pairs in 16 bits,
 * which hold the sums of all words. */
static inline __attribute__((always_inline)) vp vp_dot_bytes(vp acc, const int32_t *w,
                                                             const char *x, const int32_t *word,
                                                             int words)
{
    const __m256i one = _mm256_set1_epi16(1);
    vp part = { 0 };
    for (int j = 0; j < words; j++) {
        int32_t bytes;
        memcpy(&bytes, x + 4 * (long)word[j], sizeof bytes);
        const __m256i v = _mm256_set1_epi32(bytes);
        const vp weight = vp_load(w + 16 * j),
                 p = { _mm256_maddubs_epi16(v, weight.lo), _mm256_maddubs_epi16(v, weight.hi) };
        part =
            j == 0 ? p : (vp){ _mm256_add_epi16(part.lo, p.lo), _mm256_add_epi16(part.hi, p.hi) };
    }
    return (vp){ _mm256_add_epi32(acc.lo, _mm256_madd_epi16(part.lo, one)),
                 _mm256_add_epi32(acc.hi, _mm256_madd_epi16(part.hi, one)) };
}
/* 32-bit lanes in order, which 16 bits hold. */
static inline void vp_store16(int16_t *p, __m256i a, __m256i b)
{
    _mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8));
}
static inline __m128i line4(const int32_t *x, __m256d mul, __m256d add, __m256d lo, __m256d hi)
{
    const __m256d v =
        _mm256_fmadd_pd(_mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)x)), mul, add);
    return _mm256_cvtpd_epi32(_mm256_min_pd(_mm256_max_pd(v, lo), hi)); /* to nearest even */
}
/* clamp(round(x mul + add), lo, hi) of sixteen, in double. */
static inline void vp_affine(int16_t *y, const int32_t *x, double mul, double add, double lo,
                             double hi)
{
    const __m256d m = _mm256_set1_pd(mul), a = _mm256_set1_pd(add), l = _mm256_set1_pd(lo),
                  h = _mm256_set1_pd(hi);
    const __m256i first = _mm256_setr_m128i(line4(x, m, a, l, h), line4(x + 4, m, a, l, h)),
                  last = _mm256_setr_m128i(line4(x + 8, m, a, l, h), line4(x + 12, m, a, l, h));
    vp_store16(y, first, last);
}
static inline __m256i shift8(const int32_t *x, __m128i shift, __m256i half, __m256i one, __m256i lo,
                             __m256i hi)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)x),
                  odd = _mm256_and_si256(_mm256_sra_epi32(v, shift), one),
                  r = _mm256_sra_epi32(_mm256_add_epi32(_mm256_add_epi32(v, half), odd), shift);
    return _mm256_min_epi32(_mm256_max_epi32(r, lo), hi);
}
/* clamp(round(x / 2^shift), lo, hi) of sixteen: half and one are 0 where shift is. */
static inline void vp_shift(int16_t *y, const int32_t *x, int shift, int half, int one, int lo,
                            int hi)
{
    const __m128i s = _mm_cvtsi32_si128(shift);
    const __m256i f = _mm256_set1_epi32(half), o = _mm256_set1_epi32(one),
                  l = _mm256_set1_epi32(lo), h = _mm256_set1_epi32(hi);
    vp_store16(y, shift8(x, s, f, o, l, h), shift8(x + 8, s, f, o, l, h));
}
static inline __m256i double_line8(__m256i x, const double *mul, const double *add,
                                   const double *lo, const double *hi)
{
    __m128i r[2];
    const __m128i half[] = { _mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1) };
    for (int i = 0; i < 2; i++) {
        const __m256d v = _mm256_fmadd_pd(_mm256_cvtepi32_pd(half[i]), _mm256_loadu_pd(mul + 4 * i),
                                          _mm256_loadu_pd(add + 4 * i));
        r[i] = _mm256_cvtpd_epi32(_mm256_min_pd(_mm256_max_pd(v, _mm256_loadu_pd(lo + 4 * i)),
                                                _mm256_loadu_pd(hi + 4 * i)));
    }
    return _mm256_setr_m128i(r[0], r[1]);
}
/* clamp(round(x mul + add), lo, hi) in double, each lane with its own constants. */
static inline vp vp_double_affine(vp x, const double *mul, const double *add, const double *lo,
                                  const double *hi)
{
    return (vp){ double_line8(x.lo, mul, add, lo, hi),
                 double_line8(x.hi, mul + 8, add + 8, lo + 8, hi + 8) };
}
static inline __m128 double_floats4(const int32_t *x, const double *mul, const double *add)
{
    return _mm256_cvtpd_ps(_mm256_fmadd_pd(_mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)x)),
                                           _mm256_loadu_pd(mul), _mm256_loadu_pd(add)));
}
static inline __m256 double_floats8(const int32_t *x, const double *mul, const double *add)
{
    return _mm256_setr_m128(double_floats4(x, mul, add), double_floats4(x + 4, mul + 4, add + 4));
}
