/* int512.h - integers of sixteen lanes in one 512-bit register.
 *
 * The lanes are those of int256.h, for which weights are packed: of its four parts of four the
 * second and the third change places where numbers stand in order. */
typedef __m512i vp;

static inline vp vp_set1(int32_t a)
{
    return _mm512_set1_epi32(a);
}
/* From lanes to numbers in order, and back. */
static inline vp vp_swap(vp a)
{
    return _mm512_shuffle_i32x4(a, a, 0xd8);
}
static inline vp vp_join(__m256i lo, __m256i hi)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1);
}
/* Interleave the values of two rows. */
static inline vp vp_pairs(const int16_t *a, const int16_t *b)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)a),
                  y = _mm256_loadu_si256((const __m256i *)b);
    return vp_join(_mm256_unpacklo_epi16(x, y), _mm256_unpackhi_epi16(x, y));
}
/* acc + x.first w.first + x.second w.second; w has both in its halves. */
static inline vp vp_dot(vp acc, vp x, int32_t w)
{
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(acc, x, _mm512_set1_epi32(w));
#else
    return _mm512_add_epi32(acc, _mm512_madd_epi16(x, _mm512_set1_epi32(w)));
#endif
}
static inline void vp_store(int32_t *p, vp a)
{
    _mm512_storeu_si512(p, vp_swap(a));
}
static inline vp vp_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}
/* As lanes, as vp_load takes them. */
static inline void vp_put(int32_t *p, vp a)
{
    _mm512_storeu_si512(p, a);
}
static inline vp vp_sub(vp a, vp b)
{
    return _mm512_sub_epi32(a, b);
}
/* Saturate to 16 bits; to unsigned 8 bits. */
static inline void vp_store_shorts(int16_t *p, vp a)
{
    _mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(_mm512_cvtepi32_epi16(a), 0xd8));
}
static inline void vp_store_bytes(uint8_t *p, vp a)
{
    _mm_storeu_si128((__m128i *)p, _mm_shuffle_epi32(_mm512_cvtepi32_epi8(a), 0xd8));
}
static inline __m512i vp_word(const char *x, int32_t word)
{
    int32_t bytes;
    memcpy(&bytes, x + 4 * (long)word, sizeof bytes);
    return _mm512_set1_epi32(bytes);
}
#ifdef __AVX512VNNI__
/* Words of bytes without a sign, at x + 4 word[j], times bytes that have one. */
static inline __attribute__((always_inline)) vp vp_dot_bytes(vp acc, const int32_t *w,
                                                             const char *x, const int32_t *word,
                                                             int words)
{
    for (int j = 0; j < words; j++)
        acc = _mm512_dpbusd_epi32(acc, vp_word(x, word[j]), vp_load(w + 16 * j));
    return acc;
}
#else
/* Words of bytes without a sign, at x + 4 word[j], times bytes that have one: by pairs in 16 bits,
 * which hold the sums of all words. */
static inline __attribute__((always_inline)) vp vp_dot_bytes(vp acc, const int32_t *w,
                                                             const char *x, const int32_t *word,
                                                             int words)
{
    vp part = _mm512_maddubs_epi16(vp_word(x, word[0]), vp_load(w));
    for (int j = 1; j < words; j++)
        part =
            _mm512_add_epi16(part, _mm512_maddubs_epi16(vp_word(x, word[j]), vp_load(w + 16 * j)));
    return _mm512_add_epi32(acc, _mm512_madd_epi16(part, _mm512_set1_epi16(1)));
}
#endif
/* clamp(round(x mul + add), lo, hi) of eight, in double, to nearest even. */
static inline __m256i vp_line8(__m256i x, __m512d mul, __m512d add, __m512d lo, __m512d hi)
{
    const __m512d v = _mm512_fmadd_pd(_mm512_cvtepi32_pd(x), mul, add);
    return _mm512_cvtpd_epi32(_mm512_min_pd(_mm512_max_pd(v, lo), hi));
}
/* For sixteen values. */
static inline void vp_affine(int16_t *y, const int32_t *x, double mul, double add, double lo,
                             double hi)
{
    const __m512d m = _mm512_set1_pd(mul), a = _mm512_set1_pd(add), l = _mm512_set1_pd(lo),
                  h = _mm512_set1_pd(hi);
    const __m256i *from = (const __m256i *)x;
    const vp r = vp_join(vp_line8(_mm256_loadu_si256(from), m, a, l, h),
                         vp_line8(_mm256_loadu_si256(from + 1), m, a, l, h));
    _mm256_storeu_si256((__m256i *)y, _mm512_cvtepi32_epi16(r));
}
/* clamp(round(x / 2^shift), lo, hi) of sixteen: half and one are 0 where shift is. */
static inline void vp_shift(int16_t *y, const int32_t *x, int shift, int half, int one, int lo,
                            int hi)
{
    const __m128i s = _mm_cvtsi32_si128(shift);
    const vp v = _mm512_loadu_si512(x),
             odd = _mm512_and_si512(_mm512_sra_epi32(v, s), _mm512_set1_epi32(one)),
             sum = _mm512_add_epi32(_mm512_add_epi32(v, _mm512_set1_epi32(half)), odd),
             r = _mm512_max_epi32(_mm512_sra_epi32(sum, s), _mm512_set1_epi32(lo));
    _mm256_storeu_si256((__m256i *)y,
                        _mm512_cvtepi32_epi16(_mm512_min_epi32(r, _mm512_set1_epi32(hi))));
}
/* clamp(round(x mul + add), lo, hi) in double, each lane with its own constants. */
static inline vp vp_double_affine(vp x, const double *mul, const double *add, const double *lo,
                                  const double *hi)
{
    const __m256i first = _mm512_castsi512_si256(x), last = _mm512_extracti64x4_epi64(x, 1);
    return vp_join(vp_line8(first, _mm512_loadu_pd(mul), _mm512_loadu_pd(add), _mm512_loadu_pd(lo),
                            _mm512_loadu_pd(hi)),
                   vp_line8(last, _mm512_loadu_pd(mul + 8), _mm512_loadu_pd(add + 8),
                            _mm512_loadu_pd(lo + 8), _mm512_loadu_pd(hi + 8)));
}
static inline __m256 vp_double_floats8(const int32_t *x, const double *mul, const double *add)
{
    const __m512d v = _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)x));
    return _mm512_cvtpd_ps(_mm512_fmadd_pd(v, _mm512_loadu_pd(mul), _mm512_loadu_pd(add)));
}
/* x mul + add in double, then as floats; in order. */
static inline __m512 vp_double_floats(const int32_t *x, const double *mul, const double *add)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(vp_double_floats8(x, mul, add)),
                              vp_double_floats8(x + 8, mul + 8, add + 8), 1);
}
static inline __m512 vp_floats(vp a)
{
    return _mm512_cvtepi32_ps(a);
}
/* Round to nearest even, to 32-bit integers; in the order of vp. */
static inline vp vp_rounded(__m512 a)
{
    return _mm512_cvtps_epi32(a);
}
static inline vp vp_ordered(__m512 a)
{
    return vp_swap(vp_rounded(a));
}
