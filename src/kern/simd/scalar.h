/* scalar.h - the sixteen lanes as an array: what the instruction sets must reproduce bit for bit.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    float l[16];
} vf;
typedef unsigned vm;

#define GEMM_MR     4
#define GEMM_NV     1
#define EXTENT_TILE 1
#define GRAD_MR     4
#define GRAD_NR     4
#define INT_MR      1

#define LANES(expr)                  \
    do {                             \
        vf r_;                       \
        for (int i = 0; i < 16; i++) \
            r_.l[i] = (expr);        \
        return r_;                   \
    } while (0)

static inline vf vload(const float *p)
{
    vf a;
    memcpy(&a, p, sizeof(a));
    return a;
}
static inline void vstore(float *p, vf a)
{
    memcpy(p, &a, sizeof(a));
}
static inline vf vload_i32(const int32_t *p)
{
    LANES((float)p[i]);
}
/* Whole numbers that 16 bits hold. */
static inline void vstore_i16(int16_t *p, vf a)
{
    for (int i = 0; i < 16; i++)
        p[i] = (int16_t)a.l[i];
}
static inline vf vset1(float a)
{
    LANES(a);
}
static inline vf vzero(void)
{
    LANES(0.0f);
}
static inline vf vadd(vf a, vf b)
{
    LANES(a.l[i] + b.l[i]);
}
static inline vf vsub(vf a, vf b)
{
    LANES(a.l[i] - b.l[i]);
}
static inline vf vmul(vf a, vf b)
{
    LANES(a.l[i] * b.l[i]);
}
static inline vf vdiv(vf a, vf b)
{
    LANES(a.l[i] / b.l[i]);
}
static inline vf vsqrt(vf a)
{
    LANES(sqrtf(a.l[i]));
}
static inline vf vabs(vf a)
{
    LANES(fabsf(a.l[i]));
}
static inline vf vfma(vf a, vf b, vf c)
{
    LANES(fmaf(a.l[i], b.l[i], c.l[i]));
}
static inline vf vmax(vf a, vf b)
{
    LANES(a.l[i] > b.l[i] ? a.l[i] : b.l[i]);
}
static inline vf vmin(vf a, vf b)
{
    LANES(a.l[i] < b.l[i] ? a.l[i] : b.l[i]);
}
static inline vm vgt(vf a, vf b)
{
    vm m = 0;
    for (int i = 0; i < 16; i++)
        m |= (vm)(a.l[i] > b.l[i]) << i;
    return m;
}
static inline vm veq(vf a, vf b)
{
    vm m = 0;
    for (int i = 0; i < 16; i++)
        m |= (vm)(a.l[i] == b.l[i]) << i;
    return m;
}
static inline vf vselect(vm m, vf yes, vf no)
{
    LANES(m >> i & 1 ? yes.l[i] : no.l[i]);
}
static inline vf vrint(vf a)
{
    LANES(rintf(a.l[i]));
}
static inline vf vfloor(vf a)
{
    LANES(floorf(a.l[i]));
}
/* The size of a with the sign of b. */
static inline vf vcopysign(vf a, vf b)
{
    LANES(copysignf(a.l[i], b.l[i]));
}
static inline vm vfirst(int n)
{
    return (1u << n) - 1u;
}
static inline float vsum(vf a)
{
    for (int half = 8; half; half /= 2)
        for (int i = 0; i < half; i++)
            a.l[i] += a.l[i + half];
    return a.l[0];
}
static inline vf vsum16(const vf a[16])
{
    LANES(vsum(a[i]));
}

static inline void vtranspose16(vf a[16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < i; j++) {
            const float t = a[i].l[j];
            a[i].l[j] = a[j].l[i];
            a[j].l[i] = t;
        }
}
static inline uint32_t float_bits(float a)
{
    uint32_t b;
    memcpy(&b, &a, sizeof(b));
    return b;
}
static inline float bits_float(uint32_t b)
{
    float a;
    memcpy(&a, &b, sizeof(a));
    return a;
}
/* The power of two that is not above |a|; 0 of zero and of subnormals, infinite of NaN. */
static inline vf vpower(vf a)
{
    LANES(bits_float(float_bits(a.l[i]) & 0x7f800000));
}
/* The larger of nonnegative numbers; NaN counts as larger than all. */
static inline vf vlarger(vf a, vf b)
{
    LANES(float_bits(a.l[i]) > float_bits(b.l[i]) ? a.l[i] : b.l[i]);
}
static inline float vlargest(vf a)
{
    uint32_t most = 0;
    for (int i = 0; i < 16; i++)
        most = float_bits(a.l[i]) > most ? float_bits(a.l[i]) : most;
    return bits_float(most);
}
/* NaN has no integer; what it scales is NaN anyway. */
static inline vf vscale2(vf a, vf k)
{
    LANES(a.l[i] * bits_float((uint32_t)((k.l[i] == k.l[i] ? (int32_t)k.l[i] : 0) + 127) << 23));
}
static inline vf vexponent(vf a)
{
    LANES((float)((int)(float_bits(a.l[i]) >> 23) - 127));
}
static inline vf vmantissa(vf a)
{
    LANES(bits_float((float_bits(a.l[i]) & 0x7fffff) | 0x3f800000));
}
static inline int vcount(vm m)
{
    return __builtin_popcount(m);
}
static inline vm vand(vm a, vm b)
{
    return a & b;
}
static inline vm vor(vm a, vm b)
{
    return a | b;
}
static inline vm vnot(vm a)
{
    return a ^ 0xffffu;
}

/* Eight words of 64 bits. */
typedef struct {
    uint64_t l[8];
} vword;
#define WORDS(expr)                 \
    do {                            \
        vword r_;                   \
        for (int i = 0; i < 8; i++) \
            r_.l[i] = (expr);       \
        return r_;                  \
    } while (0)

static inline vword vword0(void)
{
    WORDS(0);
}
/* Set bit floor(x scale + offset) for each of eight values, unless it is 64 or more. */
static inline uint64_t one_hot(double bin)
{
    return bin < 64.0 ? UINT64_C(1) << (int)bin : 0;
}
static inline vword vhot(const float *x, double scale, double offset)
{
    WORDS(one_hot(fma(x[i], scale, offset)));
}
/* The bits of the sum of three words: those of weight one, and of weight two. */
static inline vword vadd3(vword *twice, vword a, vword b, vword c)
{
    for (int i = 0; i < 8; i++)
        twice->l[i] = (a.l[i] & b.l[i]) | (c.l[i] & (a.l[i] ^ b.l[i]));
    WORDS(a.l[i] ^ b.l[i] ^ c.l[i]);
}
/* count[b] += weight times the words with bit b. */
static inline void vtally(uint8_t *count, vword a, int weight)
{
    for (int i = 0; i < 8; i++)
        for (int b = 0; b < 64; b++)
            count[b] = (uint8_t)(count[b] + (int)(a.l[i] >> b & 1) * weight);
}

/* ---- integers ---- */

/* Lanes stand as mase_int_lane says. */
typedef struct {
    int32_t l[16];
} vp;

static inline vp vp_set1(int32_t a)
{
    vp r;
    for (int i = 0; i < 16; i++)
        r.l[i] = a;
    return r;
}
/* Interleave the values of two rows, the first in the lower half. */
static inline vp vp_pairs(const int16_t *a, const int16_t *b)
{
    vp r;
    for (int i = 0; i < 16; i++)
        r.l[mase_int_lane(i)] =
            (int32_t)((uint32_t)(uint16_t)a[i] | (uint32_t)(uint16_t)b[i] << 16);
    return r;
}
static inline int32_t lower(int32_t pair)
{
    return (int16_t)(uint16_t)((uint32_t)pair & 0xffff);
}
static inline int32_t upper(int32_t pair)
{
    return (int16_t)(uint16_t)((uint32_t)pair >> 16);
}
static inline vp vp_dot(vp acc, vp x, int32_t w)
{
    for (int i = 0; i < 16; i++)
        acc.l[i] = (int32_t)((uint32_t)acc.l[i] + (uint32_t)(lower(x.l[i]) * lower(w)) +
                             (uint32_t)(upper(x.l[i]) * upper(w)));
    return acc;
}
static inline void vp_store(int32_t *p, vp a)
{
    for (int i = 0; i < 16; i++)
        p[i] = a.l[mase_int_lane(i)];
}
static inline void vp_store_shorts(int16_t *p, vp a)
{
    for (int i = 0; i < 16; i++)
        p[i] = (int16_t)a.l[mase_int_lane(i)];
}
static inline void vp_store_bytes(uint8_t *p, vp a)
{
    for (int i = 0; i < 16; i++)
        p[i] = (uint8_t)a.l[mase_int_lane(i)];
}
static inline vp vp_load(const int32_t *p)
{
    vp a;
    memcpy(&a, p, sizeof a);
    return a;
}
/* As lanes, as vp_load takes them. */
static inline void vp_put(int32_t *p, vp a)
{
    memcpy(p, &a, sizeof a);
}
static inline vp vp_sub(vp a, vp b)
{
    for (int i = 0; i < 16; i++)
        a.l[i] -= b.l[i];
    return a;
}
static inline vf vp_floats(vp a)
{
    LANES((float)a.l[i]);
}
/* Round to nearest even, to 32-bit integers; in the order of vp. */
static inline vp vp_rounded(vf a)
{
    vp r;
    for (int i = 0; i < 16; i++)
        r.l[i] = (int32_t)rintf(a.l[i]);
    return r;
}
static inline vp vp_ordered(vf a)
{
    vp r;
    for (int i = 0; i < 16; i++)
        r.l[mase_int_lane(i)] = (int32_t)rintf(a.l[i]);
    return r;
}
static inline vp vp_double_affine(vp x, const double *mul, const double *add, const double *lo,
                                  const double *hi)
{
    for (int i = 0; i < 16; i++) {
        const double v = rint(fma((double)x.l[i], mul[i], add[i]));
        x.l[i] = (int32_t)(v < lo[i] ? lo[i] : v > hi[i] ? hi[i] : v);
    }
    return x;
}

/* In order. */
static inline vf vp_double_floats(const int32_t *x, const double *mul, const double *add)
{
    LANES((float)fma((double)x[i], mul[i], add[i]));
}
/* Words of bytes without a sign, at x + 4 word[j], times bytes that have one. */
static inline vp vp_dot_bytes(vp acc, const int32_t *w, const char *x, const int32_t *word,
                              int words)
{
    for (int j = 0; j < words; j++) {
        uint8_t a[4];
        int8_t b[16][4];
        memcpy(a, x + 4 * (long)word[j], sizeof a);
        memcpy(b, w + 16 * j, sizeof b);
        for (int i = 0; i < 16; i++)
            acc.l[i] = (int32_t)((uint32_t)acc.l[i] + (uint32_t)(a[0] * b[i][0] + a[1] * b[i][1] +
                                                                 a[2] * b[i][2] + a[3] * b[i][3]));
    }
    return acc;
}
/* clamp(round(x mul + add), lo, hi), in double. */
static inline void vp_affine(int16_t *y, const int32_t *x, double mul, double add, double lo,
                             double hi)
{
    for (int i = 0; i < 16; i++) {
        const double v = rint(fma((double)x[i], mul, add));
        y[i] = (int16_t)(v < lo ? lo : v > hi ? hi : v);
    }
}
/* clamp(round(x / 2^shift), lo, hi): half and one are 0 where shift is. */
static inline void vp_shift(int16_t *y, const int32_t *x, int shift, int half, int one, int lo,
                            int hi)
{
    for (int i = 0; i < 16; i++) {
        const int32_t v = (x[i] + half + ((x[i] >> shift) & one)) >> shift;
        y[i] = (int16_t)(v < lo ? lo : v > hi ? hi : v);
    }
}
