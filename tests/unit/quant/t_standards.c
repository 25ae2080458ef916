/*
 * t_standards.c - formats that standards define, against what the standards say: every value of at
 * most 16 bits, every midpoint and one ulp to either side of both, in every direction of rounding.
 *
 * The oracles know lists of values, made in long double from the definitions, and find the
 * neighbours of a number in them; the formats compute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/rng.h>

#include "formats.h"
#include "run_cases.h"
#include "unit/quant/vectors.h"

enum direction { NEAREST_EVEN, NEAREST_AWAY, FLOOR, TOWARD_ZERO, STOCHASTIC, DIRECTIONS };
static const char *const direction_names[] = { "nearest_even", "nearest_away", "floor",
                                               "toward_zero", "stochastic" };

/* ---- lists of values ---- */

/* Sizes by code: those of the format, and the one that would follow. */
struct list {
    long double size[(1 << 15) + 2];
    int top; /* the code of the largest */
    bool one_digit;
};

static long double twice(long double x, int times)
{
    for (; times > 0; times--)
        x *= 2;
    for (; times < 0; times++)
        x /= 2;
    return x;
}

/* A floating point format of the IEEE's making: code c is exponent and mantissa side by side. */
static void list_floats(struct list *l, int mantissa_bits, int bias, int top)
{
    const int all = 1 << mantissa_bits;
    l->top = top;
    l->one_digit = mantissa_bits == 0;
    for (int c = 0; c <= top + 1; c++) {
        const int exponent = c / all, mantissa = c % all;
        l->size[c] = exponent ? twice(all + mantissa, exponent - bias - mantissa_bits)
                              : twice(mantissa, 1 - bias - mantissa_bits);
    }
}

/* The code that a size is rounded to, top + 1 for what is too large. Half way to the even code; to
 * the larger where both have one digit, as IEEE 754 says in 4.3.1. */
static int round_to_list(const struct list *l, long double size, enum direction d, bool negative)
{
    int low = 0, high = l->top + 1;
    if (size >= l->size[high])
        return high;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (l->size[middle] <= size)
            low = middle;
        else
            high = middle;
    }
    const long double below = size - l->size[low], above = l->size[high] - size;
    if (below == 0)
        return low;
    if (d == FLOOR)
        return negative ? high : low;
    if (d == TOWARD_ZERO)
        return low;
    if (below != above)
        return below < above ? low : high;
    return d == NEAREST_AWAY || (l->one_digit ? low > 0 : low % 2) ? high : low;
}

/* Call for every value, every midpoint, and one ulp to either side of both, with both signs. */
typedef void point_fn(float x, void *context);

static void each_point(const struct list *l, point_fn *check, void *context)
{
    for (int c = 0; c <= l->top; c++)
        for (int half = 0; half < 2; half++) {
            const long double at = half ? (l->size[c] + l->size[c + 1]) / 2 : l->size[c];
            const float points[] = { nextafterf((float)at, -INFINITY), (float)at,
                                     nextafterf((float)at, INFINITY) };
            assert_true((long double)points[1] == at || isinf(points[1]));
            for (int i = 0; i < 3; i++) {
                check(points[i], context);
                check(-points[i], context);
            }
        }
}

/* ---- minifloat ---- */

struct minifloat_case {
    const struct mase_format *format;
    const char *text;
    const struct list *list;
    enum direction direction;
    float special; /* what overflow becomes */
    bool no_negative_zero;
};

static float expected_minifloat(float x, const struct minifloat_case *c)
{
    const bool negative = signbit(x), infinite = isinf(x);
    const int code = infinite
                         ? c->list->top + 1
                         : round_to_list(c->list, fabsl((long double)x), c->direction, negative);
    const bool away = c->direction == FLOOR ? negative : c->direction != TOWARD_ZERO;
    const float most = (float)c->list->size[c->list->top];
    const float size = code <= c->list->top ? (float)c->list->size[code]
                       : away || infinite   ? c->special
                                            : most;
    if (size == 0 && c->no_negative_zero)
        return 0.0f;
    return negative ? -size : size;
}

/* By chance: one of the two neighbours. */
static bool is_neighbour(float x, float q, const struct minifloat_case *c)
{
    struct minifloat_case down = *c, up = *c;
    down.direction = TOWARD_ZERO;
    up.direction = FLOOR;
    const float size = fabsf(x), low = expected_minifloat(size, &down);
    float high = -expected_minifloat(-size, &up);
    if (c->no_negative_zero)
        high += 0.0f;
    return same_bits(fabsf(q), low) || same_bits(fabsf(q), high) ||
           (isnan(q) && isnan(c->special) && size > low);
}

static void check_minifloat(float x, void *context)
{
    const struct minifloat_case *c = context;
    float q;
    mase_quantize_values(c->format, &q, &x, 1, MASE_SIGNED);
    const float want = c->direction == STOCHASTIC ? q : expected_minifloat(x, c);
    if (!same_bits(q, want) || (c->direction == STOCHASTIC && !is_neighbour(x, q, c)))
        fail_msg("%s: %a gives %a, not %a", c->text, (double)x, (double)q, (double)want);
}

static const char *const specials[] = { "ieee", "fn", "fnuz", "none" };

static int top_code(int width, int mantissa_bits, const char *special)
{
    int top = (1 << (width - 1)) - 1;
    if (!strcmp(special, "ieee"))
        top -= 1 << mantissa_bits;
    if (!strcmp(special, "fn"))
        top -= 1;
    return top;
}

/* One format in all directions, or in those that its width leaves time for. */
static void check_minifloats(const char *name, int width, int exponent, const char *special,
                             bool saturate)
{
    static struct list l;
    const int m = width - exponent - 1, bias = (1 << (exponent - 1)) - !!strcmp(special, "fnuz");
    if (top_code(width, m, special) < 1 || (!saturate && !strcmp(special, "none")))
        return;
    list_floats(&l, m, bias, top_code(width, m, special));
    if (l.size[l.top] >= 0x1p128L)
        return;
    for (int d = 0; d < DIRECTIONS; d++) {
        char text[96];
        if (name)
            snprintf(text, sizeof text, "%s(%s, %s)", name, saturate ? "saturate" : "infinity",
                     direction_names[d]);
        else
            snprintf(text, sizeof text, "minifloat(%d, %d, NA, %s, %s, %s)", width, exponent,
                     special, saturate ? "saturate" : "infinity", direction_names[d]);
        struct minifloat_case c = { format_of(text),
                                    text,
                                    &l,
                                    (enum direction)d,
                                    saturate                   ? (float)l.size[l.top]
                                    : !strcmp(special, "ieee") ? INFINITY
                                                               : NAN,
                                    !strcmp(special, "fnuz") };
        each_point(&l, check_minifloat, &c);
        static const float more[] = { INFINITY, FLT_MAX, FLT_MIN, FLT_TRUE_MIN, NAN };
        for (size_t i = 0; i < sizeof more / sizeof *more - 1; i++) {
            check_minifloat(more[i], &c);
            check_minifloat(-more[i], &c);
        }
        float q = 0;
        mase_quantize_values(c.format, &q, &more[4], 1, MASE_SIGNED);
        assert_true(isnan(q));
    }
}

static void minifloats_of_all_shapes(void **state)
{
    (void)state;
    for (int width = 2; width <= 8; width++)
        for (int exponent = 1; exponent < width; exponent++)
            for (int s = 0; s < 4; s++)
                for (int saturate = 0; saturate < 2; saturate++)
                    check_minifloats(NULL, width, exponent, specials[s], saturate);
}

static void presets_are_what_their_standards_say(void **state)
{
    static const struct {
        const char *name;
        int width, exponent;
        const char *special;
        float most, normal, least; /* as the standards print them */
    } rows[] = {
        { "fp8_e4m3", 8, 4, "fn", 448, 0x1p-6f, 0x1p-9f },
        { "fp8_e5m2", 8, 5, "ieee", 57344, 0x1p-14f, 0x1p-16f },
        { "fp6_e2m3", 6, 2, "none", 7.5f, 1, 0.125f },
        { "fp6_e3m2", 6, 3, "none", 28, 0.25f, 0.0625f },
        { "fp4_e2m1", 4, 2, "none", 6, 1, 0.5f },
        { "half", 16, 5, "ieee", 65504, 0x1p-14f, 0x1p-24f },
        { "bfloat16", 16, 8, "ieee", 0x1.fep127f, 0x1p-126f, 0x1p-133f },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mase_format *f = format_of(rows[i].name);
        const bool wide = rows[i].width > 8 && getenv("MASE_QUICK");
        float low, high;
        mase_format_limits(&low, &high, f, MASE_SIGNED);
        assert_true(high == rows[i].most && low == -high);
        assert_int_equal(mase_format_bits(f), rows[i].width);
        assert_true(mase_format_neighbours(f, 0, 0, MASE_SIGNED).above == rows[i].least);
        assert_true(f->row->decode(1 << (rows[i].width - rows[i].exponent - 1), 0, f->params) ==
                    rows[i].normal);
        for (int saturate = 0; saturate < (rows[i].width > 8 ? 1 : 2) && !wide; saturate++)
            check_minifloats(rows[i].name, rows[i].width, rows[i].exponent, rows[i].special,
                             saturate);
    }
}

/* A preset is the format that its row says, with its own parameters added. */
static void presets_are_the_formats_they_stand_for(void **state)
{
    int presets = 0;
    (void)state;
    for (int k = 0; k < MASE_QUANT_COUNT; k++) {
        const char *same = mase_quants[k]->same_as;
        if (!same)
            continue;
        const struct mase_format *a = format_of(mase_quants[k]->name), *b = format_of(same);
        for (int c = 0; c < 4096; c++) {
            const float x = ldexpf((float)(c % 64) + 64, c / 64 - 32 - 6);
            float q[2], low[2], high[2];
            mase_quantize_values(a, &q[0], &x, 1, MASE_SIGNED);
            mase_quantize_values(b, &q[1], &x, 1, MASE_SIGNED);
            mase_format_limits(&low[0], &high[0], a, MASE_SIGNED);
            mase_format_limits(&low[1], &high[1], b, MASE_SIGNED);
            assert_true(high[0] == high[1] && (same_bits(q[0], q[1]) || fabsf(x) > high[0]));
        }
        presets++;
    }
    assert_true(presets >= 7);
}

/* ---- mx ---- */

struct mx_element {
    const char *name;
    int mantissa_bits, bias, top, emax;
};
static const struct mx_element mx_elements[] = {
    { "fp8_e4m3", 3, 7, 126, 8 }, { "fp8_e5m2", 2, 15, 123, 15 }, { "fp6_e3m2", 2, 3, 31, 4 },
    { "fp6_e2m3", 3, 1, 31, 2 },  { "fp4_e2m1", 1, 1, 7, 2 },     { "int8", 6, 1, 127, 0 },
};

/* The power of two below, by trying. */
static int floor_log2(long double x)
{
    int e = 0;
    for (; x >= 2; e++)
        x /= 2;
    for (; x < 1; e--)
        x *= 2;
    return e;
}

static float expected_mx(float x, float largest, const struct mx_element *e, const struct list *l,
                         enum direction d)
{
    const int scale = largest > 0 ? floor_log2((long double)largest) - e->emax : -127;
    const int s = scale < -127 ? -127 : scale;
    const int code = round_to_list(l, twice(fabsl((long double)x), -s), d, signbit(x));
    const float size = (float)twice(l->size[code > l->top ? l->top : code], s);
    return size == 0 && !strcmp(e->name, "int8") ? 0.0f : signbit(x) ? -size : size;
}

struct mx_case {
    const struct mx_element *element;
    const struct list *list;
    const struct mase_format *format;
    enum direction direction;
    int exponent; /* of the block's largest value */
};

/* x stands beside the largest value of a block, unless it is larger itself. */
static void check_mx(float x, void *context)
{
    const struct mx_case *c = context;
    const float v = ldexpf(x, c->exponent - c->element->emax);
    const float top = ldexpf(1.25f, c->exponent), largest = fabsf(v) > top ? fabsf(v) : top;
    const float block[] = { top, v, 0.0f, -0.0f };
    float q[4];
    if (isinf(v))
        return;
    mase_quantize_values(c->format, q, block, 4, MASE_SIGNED);
    for (int i = 0; i < 4; i++) {
        const float want = expected_mx(block[i], largest, c->element, c->list, c->direction);
        if (!same_bits(q[i], want))
            fail_msg("mx(%s) %s: %a beside %a gives %a, not %a", c->element->name,
                     direction_names[c->direction], (double)block[i], (double)largest, (double)q[i],
                     (double)want);
    }
}

static void mx_of_all_elements_and_scales(void **state)
{
    static const int exponents[] = { -149, -127, -126, -120, -119, -112, -1, 0, 1, 8, 126, 127 };
    static struct list l;
    (void)state;
    for (size_t i = 0; i < sizeof mx_elements / sizeof *mx_elements; i++)
        for (int d = 0; d < STOCHASTIC; d++) {
            const struct mx_element *e = &mx_elements[i];
            char text[64];
            list_floats(&l, e->mantissa_bits, e->bias, e->top);
            snprintf(text, sizeof text, "mx(%s, 4, -1, %s)", e->name, direction_names[d]);
            for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
                struct mx_case c = { e, &l, format_of(text), (enum direction)d, exponents[k] };
                each_point(&l, check_mx, &c);
            }
        }
}

/* Blocks end with their row, share one scale, and one bad value makes all of them NaN. */
static void mx_blocks(void **state)
{
    const struct mase_format *f = format_of("mx(fp4_e2m1, 2)");
    const struct mase_shape s = { 2, { 2, 3 } };
    const float x[6] = { 6, 0.26f, 0.26f, NAN, 1, -INFINITY };
    float q[6];
    struct mase_err err = { 0 };
    (void)state;
    mase_quantize(f, q, x, &s, MASE_ROLE_WEIGHT, MASE_SIGNED);
    assert_true(q[0] == 6 && q[1] == 0.5f && q[2] == 0.25f);
    assert_true(isnan(q[3]) && isnan(q[4]) && isnan(q[5]));
    assert_int_equal(mase_format_stored_bits(f, &s, MASE_ROLE_WEIGHT), 6 * 4 + 4 * 8);
    assert_int_equal(mase_format_fits(f, &s, MASE_ROLE_DATA, &err), MASE_OK);
    assert_int_equal(mase_format_fits(f, &(struct mase_shape){ 1, { 6 } }, MASE_ROLE_DATA, &err),
                     MASE_EVALUE);
    assert_non_null(strstr(err.msg, "not be that of samples"));
    err = (struct mase_err){ 0 };
    assert_int_equal(mase_format_fits(format_of("mx(int8, 2, 2)"), &s, MASE_ROLE_WEIGHT, &err),
                     MASE_EVALUE);
    assert_non_null(strstr(err.msg, "be one of the tensor's dimensions"));
}

/* ---- nvfp4 ---- */

static float nearest_of(const struct list *l, float x)
{
    const int code = round_to_list(l, fabsl((long double)x), NEAREST_EVEN, false);
    const float size = (float)l->size[code > l->top ? l->top : code];
    return signbit(x) ? -size : size;
}

/* By its definition, with lists in the place of arithmetic. */
static void nvfp4_by_its_definition(void **state)
{
    enum { N = 1600, BLOCK = 16 };
    static struct list fp4, fp8;
    static float x[N], q[N];
    struct mase_rng r = mase_rng(3, MASE_STREAM_TEST, 31);
    float most = 0;
    (void)state;
    list_floats(&fp4, 1, 1, 7);
    list_floats(&fp8, 3, 7, 126);
    for (int i = 0; i < N; i++) {
        x[i] = ldexpf(mase_rng_range(&r, -1, 1), -(i / BLOCK) / 4);
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    }
    mase_quantize_values(format_of("nvfp4"), q, x, N, MASE_SIGNED);
    const float t = most / 2688.0f;
    for (int b = 0; b < N; b += BLOCK) {
        float largest = 0;
        for (int i = b; i < b + BLOCK; i++)
            largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
        const float scale = nearest_of(&fp8, largest / 6.0f / t) * t;
        for (int i = b; i < b + BLOCK; i++)
            assert_true(same_bits(q[i], scale == 0 ? copysignf(0, x[i])
                                                   : nearest_of(&fp4, x[i] / scale) * scale));
    }
    assert_true(q[0] != 0 && q[N - 1] == 0); /* blocks both large and lost beside them */
}

/* The scale of a tensor is that of a sample where there are samples; a number where one is said;
 * what is infinite spoils its own block alone. */
static void nvfp4_scales(void **state)
{
    const struct mase_shape s = { 2, { 2, 4 } };
    const float x[8] = { 1, 0.1f, 0.3f, 0.01f, 1000, 100, 300, 10 };
    float q[8], two[8], bad[8] = { 1, 0.5f, INFINITY, 2, 3, 4, NAN, 6 };
    (void)state;
    const struct mase_format *f = format_of("nvfp4(2)");
    mase_quantize(f, q, x, &s, MASE_ROLE_DATA, MASE_SIGNED);
    mase_quantize(f, two, x, &(struct mase_shape){ 1, { 4 } }, MASE_ROLE_WEIGHT, MASE_SIGNED);
    assert_memory_equal(q, two, 4 * sizeof(float));
    mase_quantize(f, two, x, &s, MASE_ROLE_WEIGHT, MASE_SIGNED);
    assert_true(two[0] != q[0] || two[2] != q[2]); /* beside 1000 the scale of 1 is a coarser one */
    mase_quantize(f, bad, bad, &(struct mase_shape){ 1, { 8 } }, MASE_ROLE_WEIGHT, MASE_SIGNED);
    assert_true(bad[0] == 1 && isnan(bad[2]) && isnan(bad[3]) && bad[5] == 4 && isnan(bad[7]));
    mase_quantize(format_of("nvfp4(2, -1, 1)"), two, x, &s, MASE_ROLE_WEIGHT, MASE_SIGNED);
    assert_true(two[0] == 6 * 0.171875f && two[4] == 6 * 160.0f && two[6] == 6 * 48.0f);
}

/* ---- posit ---- */

/* The standard's formula, of two's complement bits: (1 - 3s + f) 2^((1 - 2s)(2^es r + e + s)). */
static long double posit_value(int64_t code, int width, int es)
{
    const int s = code < 0;
    int at = width - 2, run = 0, e = 0;
    long double f = 0;
#define BIT(i) ((i) >= 0 ? (int)(code >> (i)&1) : 0)
    const int first = BIT(at);
    if (code == 0)
        return 0;
    while (at >= 0 && BIT(at) == first) {
        run++;
        at--;
    }
    at--; /* the bit that ends the regime */
    const int r = first ? run - 1 : -run;
    for (int i = 0; i < es; i++, at--)
        e = 2 * e + BIT(at);
    for (long double part = 0.5L; at >= 0; at--, part /= 2)
        f += part * BIT(at);
    return twice(1 - 3 * s + f, (1 - 2 * s) * ((1 << es) * r + e + s));
#undef BIT
}

/* The posits of one bit more, which are those themselves and, between two, the tie. */
struct posits {
    long double size[1 << 16];
    int width, es, top;
};

static void list_posits(struct posits *p, int width, int es)
{
    p->width = width;
    p->es = es;
    p->top = (1 << (width - 1)) - 1;
    for (int c = 0; c <= 2 * p->top + 1; c++)
        p->size[c] = posit_value(c, width + 1, es);
}

static float expected_posit(float x, const struct posits *p)
{
    const long double size = fabsl((long double)x);
    int low = 0, high = p->top;
    if (size >= p->size[2 * high])
        low = high;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (p->size[2 * middle] <= size)
            low = middle;
        else
            high = middle;
    }
    const long double tie = p->size[2 * low + 1];
    const bool up = size > tie || (size == tie && low % 2) || (low == 0 && size > 0);
    const float q = (float)p->size[2 * (up ? high : low)];
    return x < 0 ? -q : q;
}

static void check_posit(float x, const struct posits *p, const struct mase_format *f)
{
    const float want = expected_posit(x, p);
    float q;
    mase_quantize_values(f, &q, &x, 1, MASE_SIGNED);
    if (!same_bits(q, want))
        fail_msg("posit(%d, %d): %a gives %a, not %a", p->width, p->es, (double)x, (double)q,
                 (double)want);
}

static void posits_to_the_bit(void **state)
{
    static const struct {
        int width, es;
    } rows[] = { { 3, 2 }, { 5, 0 },  { 6, 1 },  { 8, 0 },  { 8, 2 },
                 { 9, 3 }, { 10, 2 }, { 12, 1 }, { 16, 1 }, { 16, 2 } };
    static struct posits p;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int step = getenv("MASE_QUICK") && rows[i].width > 10 ? 7 : 1;
        char text[32];
        list_posits(&p, rows[i].width, rows[i].es);
        snprintf(text, sizeof text, "posit(%d, %d)", p.width, p.es);
        const struct mase_format *f = format_of(text);
        for (int c = 0; c <= 2 * p.top + 1; c += step)
            for (int sign = -1; sign <= 1; sign += 2) {
                const float at = (float)(sign * p.size[c]);
                check_posit(nextafterf(at, -INFINITY), &p, f);
                check_posit(at, &p, f);
                check_posit(nextafterf(at, INFINITY), &p, f);
            }
        check_posit(FLT_MAX, &p, f);
        check_posit(-FLT_TRUE_MIN, &p, f);
    }
    for (int c = 1; c <= p.top; c++) /* negative ones are two's complements */
        assert_true(posit_value(-c, p.width, p.es) == -posit_value(c, p.width, p.es));
}

/* Values that the standard and its papers print. */
static void posits_by_hand(void **state)
{
    static const struct {
        const char *format;
        float x, q;
    } rows[] = {
        { "posit(8)", 1e30f, 0x1p24f },
        { "posit(8)", 1e-30f, 0x1p-24f },
        { "posit(8)", -1e-30f, -0x1p-24f },
        { "posit(8)", -0.0f, 0.0f },
        { "posit(8)", 3.14159274f, 3.25f },
        { "posit(8)", INFINITY, NAN },
        { "posit(8)", NAN, NAN },
        { "posit(16)", 1e30f, 0x1p56f },
        { "posit(16)", 3.14159274f, 3.1416015625f },
        { "posit(32)", 3.14159274f, 3.14159274f },
        { "posit(32)", 1e38f, 0x1p120f },
        { "posit(32)", 1e-38f, 0x1p-120f },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float q;
        mase_quantize_values(format_of(rows[i].format), &q, &rows[i].x, 1, MASE_SIGNED);
        if (!same_bits(q, rows[i].q))
            fail_msg("%s: %a gives %a, not %a", rows[i].format, (double)rows[i].x, (double)q,
                     (double)rows[i].q);
    }
}

/* ---- fixed point in other directions ---- */

/* In eighths of a step: ties, and less and more than half. */
static void fixed_point_in_all_directions(void **state)
{
    (void)state;
    for (int d = 0; d < DIRECTIONS; d++) {
        char text[64];
        snprintf(text, sizeof text, "integer(6, 2, %s)", direction_names[d]);
        const struct mase_format *f = format_of(text);
        for (int eighths = -8 * 34; eighths <= 8 * 34; eighths++) {
            const float x = (float)eighths / 32;
            const int below = (eighths + 8 * 64) / 8 - 64, rest = eighths - 8 * below;
            const bool up = d == FLOOR          ? false
                            : d == TOWARD_ZERO  ? eighths < 0 && rest
                            : d == NEAREST_AWAY ? rest > 4 || (rest == 4 && eighths > 0)
                                                : rest > 4 || (rest == 4 && below % 2);
            float q;
            mase_quantize_values(f, &q, &x, 1, MASE_SIGNED);
            const int steps = (int)(q * 4), most = below + up > 31 ? 31 : below + up;
            const int want = most < -32 ? -32 : most;
            if (d == STOCHASTIC) /* one of both */
                assert_true(steps == (below < -32  ? -32
                                      : below > 31 ? 31
                                                   : below) ||
                            (rest && steps == (below + 1 > 31 ? 31
                                               : below < -33  ? -32
                                                              : below + 1)));
            else
                assert_int_equal(steps, want);
        }
    }
}

/* Up as often as the distance from the step below says, and always alike. */
static void chance_is_fair(void **state)
{
    static const char *const texts[] = { "integer(16, 2, stochastic)",
                                         "minifloat(8, 4, NA, fn, saturate, stochastic)",
                                         "mx(fp8_e4m3, 4096, -1, stochastic)" };
    enum { N = 4096 };
    static float x[N], q[N], again[N];
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        double sum = 0, error = 0;
        for (int i = 0; i < N; i++) {
            x[i] = 2.0f + (float)i * 0x1p-14f; /* steps are 0.25 */
            sum += (double)x[i];
        }
        mase_quantize_values(format_of(texts[t]), q, x, N, MASE_SIGNED);
        mase_quantize_values(format_of(texts[t]), again, x, N, MASE_SIGNED);
        assert_memory_equal(q, again, sizeof q);
        for (int i = 0; i < N; i++) {
            assert_true(q[i] == 2.0f || q[i] == 2.25f);
            error += (double)q[i];
        }
        /* a standard deviation is at most 0.25 / 2 sqrt(N) = 8 */
        assert_true(fabs(error - sum) < 40 && error > sum - 40);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minifloats_of_all_shapes),
        cmocka_unit_test(presets_are_what_their_standards_say),
        cmocka_unit_test(presets_are_the_formats_they_stand_for),
        cmocka_unit_test(mx_of_all_elements_and_scales),
        cmocka_unit_test(mx_blocks),
        cmocka_unit_test(nvfp4_by_its_definition),
        cmocka_unit_test(nvfp4_scales),
        cmocka_unit_test(posits_to_the_bit),
        cmocka_unit_test(posits_by_hand),
        cmocka_unit_test(fixed_point_in_all_directions),
        cmocka_unit_test(chance_is_fair),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
