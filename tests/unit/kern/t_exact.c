/*
 * t_exact.c - kernels whose result is defined to the bit: rounding against the format's reference,
 * rows against one fused multiply-add a value. Compared by memcmp, on hostile numbers, for every
 * number of lanes, in place too, on every instruction set.
 */
#include "lanes.h"
#include "run_cases.h"

#include "formats.h"
#include "quant/quant.h"

enum { N = 3 * MASE_LANES };

/* ---- rounding ---- */

/* What rounds near the ends and the middle of a format: both sides of every step there. */
static void fill_steps(float *x, long n, const struct mase_integer_levels *levels, long from)
{
    const float ends[] = { 0.0f, levels->lo, levels->hi };
    fill_hostile(x, n, (uint64_t)from);
    for (long i = 0; i < n; i += 2) {
        const float step = ends[(from + i) / 2 % 3] + (float)((from + i) / 6 % 9 - 4) / 2;
        x[i] = i % 4 ? nextafterf(step / levels->scale, from % 2 ? -INFINITY : INFINITY)
                     : step / levels->scale;
    }
}

static void check_rounding(const struct mase_format *f, enum mase_sign sign, long n, long seed)
{
    const struct mase_integer_levels levels = mase_integer_levels(f->params, sign);
    struct buf x = make(n, 0), want = make(n, 0);
    fill_steps(x.x, n, &levels, seed);
    mase_quantize_values(f, want.x, x.x, n, sign);
    EACH_ISA(k)
    for (int in_place = 0; in_place < 2; in_place++) {
        struct buf y = make(n, 1);
        if (in_place)
            memcpy(y.x, x.x, (size_t)n * sizeof(float));
        k->quantize_integer(y.x, in_place ? y.x : x.x, &levels, n);
        const long at = differs(y.x, want.x, n);
        if (at >= 0)
            fail_msg("%s %s width %d, 2^-%d: %a gives %a, the reference %a", k->isa,
                     sign == MASE_SIGNED ? "signed" : "unsigned", mase_format_bits(f),
                     ilogbf(levels.scale), (double)x.x[at], (double)y.x[at], (double)want.x[at]);
        drop(&y);
    }
    drop(&x);
    drop(&want);
}

static void rounding_is_the_reference_to_the_bit(void **state)
{
    static const int64_t widths[] = { 1, 2, 3, 4, 8, 16, 23, 24, 25, 31, 32 };
    static const int64_t places[] = { MASE_NA, 0, 1, 4, 8, 31, 64, -1, -8, -32 };
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            for (int sign = 0; sign < 2; sign++)
                for (long i = 0; i <= 3 * N; i++) {
                    const struct mase_format *f = integer_format(widths[w], places[p]);
                    check_rounding(f, sign ? MASE_SIGNED : MASE_UNSIGNED, i % 4 * MASE_LANES, i);
                }
}

/* ---- rows ---- */

static float cut(float x)
{
    return x < 0.0f ? 0.0f : x; /* NaN stays */
}

#define PLAIN(name) static float plain_##name(float y, float a, float b, float c)
#define UNUSED(x)   ((void)(x))
PLAIN(affine)
{
    UNUSED(y), UNUSED(b), UNUSED(c);
    return fmaf(2.0f, a, 0.5f);
}
PLAIN(affine_relu)
{
    UNUSED(y), UNUSED(b), UNUSED(c);
    return cut(fmaf(1.0f, a, 0.0f));
}
PLAIN(affine_each)
{
    UNUSED(y);
    return fmaf(b, a, c);
}
PLAIN(affine2)
{
    UNUSED(y), UNUSED(c);
    return fmaf(0.5f, a, fmaf(3.0f, b, -1.0f));
}
PLAIN(relu_back)
{
    UNUSED(y), UNUSED(c);
    return b > 0.0f ? a : 0.0f;
}
PLAIN(relu_back_add)
{
    UNUSED(c);
    return y + (b > 0.0f ? a : 0.0f);
}
PLAIN(axpy)
{
    UNUSED(b), UNUSED(c);
    return fmaf(3.0f, a, y);
}
PLAIN(mul_add)
{
    UNUSED(c);
    return fmaf(a, b, y);
}

struct operands {
    const float *a, *b, *c;
};
#define KERNEL(name, call)                                                                       \
    static void kernel_##name(const struct mase_kernels *k, float *y, struct operands o, long n) \
    {                                                                                            \
        call;                                                                                    \
    }
KERNEL(affine, k->affine(y, o.a, 2.0f, 0.5f, false, n))
KERNEL(affine_relu, k->affine(y, o.a, 1.0f, 0.0f, true, n))
KERNEL(affine_each, k->affine_each(y, o.a, o.b, o.c, n))
KERNEL(affine2, k->affine2(y, o.a, o.b, 0.5f, 3.0f, -1.0f, n))
KERNEL(relu_back, k->relu_back(y, o.a, o.b, false, n))
KERNEL(relu_back_add, k->relu_back(y, o.a, o.b, true, n))
KERNEL(axpy, k->axpy(y, o.a, 3.0f, n))
KERNEL(mul_add, k->mul_add(y, o.a, o.b, n))

static const struct {
    const char *name;
    float (*plain)(float y, float a, float b, float c);
    void (*run)(const struct mase_kernels *k, float *y, struct operands o, long n);
} rows[] = {
#define ROW(name)                          \
    {                                      \
#name, plain_##name, kernel_##name \
    }
    ROW(affine),    ROW(affine_relu),   ROW(affine_each), ROW(affine2),
    ROW(relu_back), ROW(relu_back_add), ROW(axpy),        ROW(mul_add),
};

static void check_rows(size_t f, long n, uint64_t seed)
{
    struct buf a = make(n, 0), b = make(n, 0), c = make(n, 0), start = make(n, 0),
               want = make(n, 0);
    fill_hostile(a.x, n, 4 * seed);
    fill_hostile(b.x, n, 4 * seed + 1);
    fill_hostile(c.x, n, 4 * seed + 2);
    fill_hostile(start.x, n, 4 * seed + 3);
    EACH_ISA(k)
    for (int in_place = 0; in_place < 2; in_place++) {
        struct buf y = make(n, 0);
        memcpy(y.x, in_place ? a.x : start.x, (size_t)n * sizeof(float));
        for (long i = 0; i < n; i++)
            want.x[i] = rows[f].plain(y.x[i], a.x[i], b.x[i], c.x[i]);
        rows[f].run(k, y.x, (struct operands){ in_place ? y.x : a.x, b.x, c.x }, n);
        one_nan(y.x, n);
        one_nan(want.x, n);
        const long at = differs(y.x, want.x, n);
        if (at >= 0)
            fail_msg("%s %s: of %a, %a, %a: %a, should be %a", rows[f].name, k->isa,
                     (double)a.x[at], (double)b.x[at], (double)c.x[at], (double)y.x[at],
                     (double)want.x[at]);
        drop(&y);
    }
    drop(&a);
    drop(&b);
    drop(&c);
    drop(&start);
    drop(&want);
}

static void rows_are_element_by_element(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof rows / sizeof *rows; f++)
        for (uint64_t seed = 0; seed < 40; seed++)
            check_rows(f, (long)(seed % 4) * MASE_LANES, seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_the_reference_to_the_bit),
        cmocka_unit_test(rows_are_element_by_element),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
