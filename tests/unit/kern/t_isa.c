/*
 * t_isa.c - every kernel of kernels.def on hostile numbers: the same bits on every instruction set
 * as from the scalar one, in place where rows may be, and nothing written beside the result. A
 * kernel without a case here does not compile.
 */
#include "lanes.h"
#include "run_cases.h"

#include "quant/quant.h"

enum {
    MAX_N = 64, /* lanes of a row: none to four vectors */
    ROWS = 5,   /* of an operand */
    OUT = 2048, /* floats that a result may have */
    INPUTS = 4,
};

/* One call: operands, a result that starts as operand 0, and what varies. */
struct scene {
    const float *in[INPUTS]; // (ROWS, MAX_N)
    float *out;              // (OUT)
    long n, samples;
    bool add, flag; /* flag: any other choice that a kernel has */
    int f;          /* which curve or function of two values */
    const float *x; /* operand 0, or the result where that is allowed */
};

/* How much of `out` was written: floats, then raw words of other types. */
struct wrote {
    long floats, raw;
};

static struct mase_channel channel(const struct scene *s, const float *x)
{
    return (struct mase_channel){ x, ROWS, MAX_N, s->n, s->samples };
}

static void raw(const struct scene *s, long *at, const void *data, size_t size)
{
    memcpy(s->out + *at, data, size);
    *at += (long)(size / sizeof(float));
}

static const float *const *rows_of(const float *x)
{
    static const float *rows[2 * ROWS];
    for (int i = 0; i < 2 * ROWS; i++)
        rows[i] = x + i * 3 % ROWS * MAX_N;
    return rows;
}

#define CASE(name) static struct wrote case_##name(const struct mase_kernels *k, struct scene *s)

CASE(gemm)
{
    const struct mase_gemm g = { .y = s->out,
                                 .w = s->in[1],
                                 .bias = s->in[2],
                                 .rows = rows_of(s->in[0]),
                                 .O = 7,
                                 .K = 9,
                                 .y_stride = MAX_N,
                                 .w_stride = 9,
                                 .add = s->add,
                                 .relu = s->flag };
    k->gemm(&g, 0, s->n);
    return (struct wrote){ 7 * MAX_N, 0 };
}
CASE(grad)
{
    const struct mase_grad g = {
        s->out, s->in[1], rows_of(s->in[2]), 5, 5, 2, s->n / 2 / 16 * 16, 5, 32, MAX_N, s->add
    };
    k->grad(&g, 0, 5);
    return (struct wrote){ 25, 0 };
}
CASE(gemv)
{
    k->gemv(s->out, s->in[1], s->in[2], s->in[3], s->n, ROWS);
    return (struct wrote){ s->n, 0 };
}
CASE(row_sum)
{
    const struct mase_channel c = channel(s, s->in[1]);
    k->row_sum(s->out, &c, s->add);
    return (struct wrote){ 1, 0 };
}
CASE(moments)
{
    const struct mase_channel c = channel(s, s->in[1]);
    k->moments(s->out, s->out + 1, &c);
    return (struct wrote){ 2, 0 };
}
CASE(norm_sums)
{
    const struct mase_channel c = channel(s, s->in[1]);
    k->norm_sums(s->out, s->out + 1, &c, s->in[2], 0.25f);
    return (struct wrote){ 2, 0 };
}
CASE(summary)
{
    struct mase_channel c = channel(s, s->in[1]);
    struct mase_summary e;
    long at = 2 * MASE_LANES;
    c.samples = c.samples ? c.samples : 1;
    k->summary(&e, &c, 0.25f, s->flag);
    memcpy(s->out, e.min, sizeof e.min);
    memcpy(s->out + MASE_LANES, e.max, sizeof e.max);
    for (int i = 0; i < MASE_LANES; i++) {
        double sums[] = { e.sum[i], e.squares[i], e.lanes[i] };
        for (int j = 0; j < 3; j++)
            sums[j] = isnan(sums[j]) ? 0.5 : sums[j];
        raw(s, &at, sums, sizeof sums);
    }
    return (struct wrote){ 2 * MASE_LANES, at - 2 * MASE_LANES };
}
CASE(count_bins)
{
    float x[ROWS * MAX_N]; /* none may be NaN or less than the first bin */
    int64_t count[MASE_BINS] = { 0 };
    long at = 0;
    for (long i = 0; i < ROWS * MAX_N; i++)
        x[i] = s->in[1][i] >= -8.0f ? s->in[1][i] : -8.0f;
    const struct mase_channel c = channel(s, x);
    k->count_bins(count, &c, 4.0, 32.0);
    raw(s, &at, count, sizeof count);
    return (struct wrote){ 0, at };
}
CASE(affine)
{
    k->affine(s->out, s->x, -1.5f, 0.5f, s->flag, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(affine_each)
{
    k->affine_each(s->out, s->x, s->in[1], s->in[2], s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(affine2)
{
    k->affine2(s->out, s->x, s->in[1], 0.5f, -3.0f, -1.0f, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(relu_back)
{
    k->relu_back(s->out, s->x, s->in[1], s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(axpy)
{
    k->axpy(s->out, s->x, -0.0f, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(mul_add)
{
    k->mul_add(s->out, s->x, s->in[1], s->n);
    return (struct wrote){ s->n, 0 };
}
/* Integers out of floats, whatever these are. */
static const int32_t *integers_of(const float *x, int32_t most)
{
    static int32_t y[ROWS * MAX_N];
    for (int i = 0; i < ROWS * MAX_N; i++) {
        memcpy(&y[i], &x[i], sizeof y[i]);
        y[i] %= most;
    }
    return y;
}
static struct wrote shorts(const struct scene *s)
{
    return (struct wrote){ 0, s->n / 2 };
}
CASE(int_gemm)
{
    enum { O = 6, PAIRS = 3 };
    static int16_t shortened[2 * PAIRS][MAX_N];
    const int16_t *rows[2 * PAIRS];
    const int32_t *a = integers_of(s->in[0], 32768);
    int32_t *y[O], w[O * PAIRS], bias[O];
    for (int i = 0; i < 2 * PAIRS; i++) {
        rows[i] = shortened[i];
        for (int j = 0; j < MAX_N; j++)
            shortened[i][j] = (int16_t)a[(i * 7 + j) % (ROWS * MAX_N)];
    }
    for (int i = 0; i < O * PAIRS; i++)
        w[i] = (int32_t)((uint32_t)(uint16_t)(int16_t)(a[i] % 1000) << 16 |
                         (uint16_t)(int16_t)(a[i + 40] % 1000));
    for (int i = 0; i < O; i++) {
        bias[i] = a[i + 80];
        y[i] = (int32_t *)s->out + i * s->n;
    }
    const struct mase_int_gemm g = { y, w, bias, rows, O, PAIRS };
    k->int_gemm(&g, 0, s->n);
    return (struct wrote){ 0, O * s->n };
}
CASE(int_affine)
{
    const struct mase_int_affine l = { .mul = s->add ? 0.25 : -3.75e-3,
                                       .add = s->flag ? 0.125 : -17,
                                       .lo = -128,
                                       .hi = s->flag ? 127 : 32767 };
    k->int_affine((int16_t *)s->out, integers_of(s->in[0], 1 << 24), &l, s->n);
    return shorts(s);
}
CASE(int_shift)
{
    const struct mase_int_affine l = { .shift = s->add    ? 3
                                                : s->flag ? 0
                                                          : 11,
                                       .lo = -128,
                                       .hi = 127 };
    k->int_shift((int16_t *)s->out, integers_of(s->in[0], s->flag ? 300 : 1 << 20), &l, s->n);
    return shorts(s);
}
CASE(int_scale)
{
    const struct mase_int_affine l = {
        .factor = s->add ? 0.0137f : 1e-5f, .offset = s->flag ? 0.5f : 0, .lo = 0, .hi = 255
    };
    k->int_scale((int16_t *)s->out, integers_of(s->in[0], 1 << 30), &l, s->n);
    return shorts(s);
}
CASE(int_encode)
{
    const struct mase_int_affine l = { .factor = s->add ? 0.037f : 16.0f,
                                       .divides = s->add,
                                       .floor = s->flag,
                                       .lo = -32768,
                                       .hi = 32767 };
    k->int_encode((int16_t *)s->out, s->in[0], &l, s->n);
    return shorts(s);
}
/* Constants of a tile, out of floats. */
static struct mase_int_finish finish_of(const int32_t *a)
{
    struct mase_int_finish f;
    for (int i = 0; i < 16; i++) {
        f.factor[i] = (float)(a[i] % 1000) * 0x1p-12f;
        f.offset[i] = (float)(a[i + 16] % 999) * 0.37f;
        f.lo[i] = (float)(f.lowest[i] = -abs(a[i + 32] % 128));
        f.hi[i] = (float)(f.highest[i] = abs(a[i + 48] % 128));
        f.mul[i] = (double)(a[i] % 1000) * 0x1p-12;
        f.add[i] = (double)(a[i + 16] % 999) / 8;
        f.scale[i] = (float)(a[i + 64] % 77) * 0.01f;
        f.shift[i] = (float)(a[i + 80] % 77) * 0.3f;
        f.parts[i] = (float)(abs(a[i + 96] % 9) + 1);
        f.base[i] = (int32_t)f.lowest[i];
    }
    return f;
}
CASE(int_layer)
{
    enum { WORDS = 7 };
    static const int32_t word[WORDS] = { 3, 0, 1, 2, 1, 2, 0 }; /* four, two, one */
    const int32_t *a = integers_of(s->in[0], 0x7fffffff);
    const struct mase_int_finish f = finish_of(a);
    int32_t weight[WORDS * 16], x[MAX_N * 4], y[MAX_N * 16] = { 0 };
    for (int i = 0; i < WORDS * 16; i++) /* bytes below 15: seven pairs fit 16 bits */
        weight[i] = s->add ? a[i + 9] & 0x0f0f0f0f : a[i + 9];
    for (int i = 0; i < MAX_N * 4; i++)
        x[i] = a[(i * 5 + 7) % (ROWS * MAX_N)];
    const struct mase_int_tile tile = { s->add, s->add, s->add ? 1 : WORDS, word, weight, a + 100 };
    const enum mase_int_storage to = s->flag ? (enum mase_int_storage)(s->f % 3) : MASE_INT_LONGS;
    const struct mase_int_layer l = {
        .tiles = 1,
        .x_stride = 16,
        .y_stride = 64,
        .tile = &tile,
        .finish = &f,
        .from = s->add ? MASE_INT_BYTES : MASE_INT_SHORTS,
        .to = to,
        .how = s->flag ? (s->f % 2 ? MASE_INT_BY_FLOAT : MASE_INT_BY_DOUBLE) : MASE_INT_SUMS
    };
    k->int_layer(&l, y, x, s->samples);
    memcpy(s->out, y, sizeof y);
    return (struct wrote){ 0, MAX_N * 16 };
}
CASE(int_encode_samples)
{
    const struct mase_int_finish f = finish_of(integers_of(s->in[1], 0x7fffffff));
    int32_t y[MAX_N * 16] = { 0 };
    long wrong = 0, at = 0;
    const struct mase_int_encoding e = { .tiles = 1,
                                         .x_stride = 4,
                                         .y_stride = 64,
                                         .finish = &f,
                                         .to = s->f % 2 ? MASE_INT_BYTES : MASE_INT_SHORTS,
                                         .affine = s->add,
                                         .relu = s->flag,
                                         .divides = s->f % 3 == 0,
                                         .floor = s->f % 5 == 0 };
    k->int_encode_samples(&e, y, s->in[0], s->samples, &wrong);
    raw(s, &at, y, sizeof y);
    raw(s, &at, &wrong, sizeof wrong);
    return (struct wrote){ 0, at };
}
CASE(int_decode_samples)
{
    enum { OUTPUTS = 5 };
    const struct mase_int_finish f = finish_of(integers_of(s->in[1], 0x7fffffff));
    const struct mase_int_decoding d = { .tiles = 1,
                                         .outputs = OUTPUTS,
                                         .x_stride = 4,
                                         .finish = &f,
                                         .how = (enum mase_decode_how)(s->f % 3) };
    k->int_decode_samples(&d, s->out, integers_of(s->in[0], 1 << 30), s->samples);
    return (struct wrote){ OUTPUTS * s->samples, 0 };
}
CASE(quantize_integer)
{
    const struct mase_integer_levels levels = { 16.0f, s->add ? -128.0f : 0.0f,
                                                s->flag ? 127.0f : 4294967296.0f,
                                                s->add ? MASE_TO_NEAREST_EVEN
                                                       : MASE_TO_NEAREST_AWAY };
    k->quantize_integer(s->out, s->x, &levels, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(quantize_float) /* e4m3, with infinity, or with steps of one */
{
    const struct mase_float_levels levels = { .emin = s->flag ? -6 : 127,
                                              .least = s->flag ? 0x1p-6f : 0x1p127f,
                                              .inverse = s->flag ? 0x1p6f : 0x1p-127f,
                                              .steps = s->flag ? 8 : 1,
                                              .step = s->flag ? 0.125f : 1,
                                              .most = s->flag ? 448 : 0x1p127f,
                                              .above = INFINITY,
                                              .below = -INFINITY,
                                              .infinite = INFINITY,
                                              .zero = s->flag ? -0.0f : 0.0f,
                                              .direction =
                                                  s->add ? MASE_TO_FLOOR : MASE_TO_NEAREST_EVEN };
    k->quantize_float(s->out, s->x, &levels, s->n);
    return (struct wrote){ s->n, 0 };
}
static struct mase_uniform uniform(const struct scene *s)
{
    return (struct mase_uniform){ 0.07f, s->add ? -8.0f : 0.0f, s->flag ? 7.0f : 255.0f };
}
CASE(quantize_uniform)
{
    const struct mase_uniform u = uniform(s);
    k->quantize_uniform(s->out, s->x, &u, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(quantize_uniform_back)
{
    const struct mase_uniform u = uniform(s);
    k->quantize_uniform_back(s->out, s->out + s->n, s->in[1], s->x, &u, s->add, s->n);
    return (struct wrote){ s->n + 3, 0 };
}
CASE(quantize_block_fp)
{
    const int64_t row[ROWS] = { 0, MAX_N, 2 * MAX_N, 3 * MAX_N, 4 * MAX_N };
    const struct mase_block_fp_levels levels = { s->add ? -126.0f : -3.0f, s->flag ? 128.0f : 4.0f,
                                                 0x1p7f };
    k->quantize_block_fp(s->out, s->in[1], row, ROWS, &levels, s->n);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
CASE(quantize_denorm)
{
    const struct mase_minifloat_levels levels = { s->add ? -126.0f : -3.0f, s->flag ? 128.0f : 4.0f,
                                                  8 };
    k->quantize_denorm(s->out, s->x, &levels, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(quantize_ieee)
{
    const struct mase_minifloat_levels levels = { s->add ? -126.0f : -3.0f, s->flag ? 128.0f : 4.0f,
                                                  8 };
    k->quantize_ieee(s->out, s->x, &levels, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(quantize_mxint)
{
    const int64_t row[ROWS] = { 0, MAX_N, 2 * MAX_N, 3 * MAX_N, 4 * MAX_N };
    const struct mase_mxint_levels levels = { s->add ? -127.0f : -3.0f, s->flag ? 128.0f : 4.0f,
                                              8 };
    k->quantize_mxint(s->out, s->in[1], row, ROWS, &levels, s->n);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
CASE(quantize_mxint_down)
{
    const int64_t row[ROWS] = { 0, MAX_N, 2 * MAX_N, 3 * MAX_N, 4 * MAX_N };
    const struct mase_mxint_levels levels = { s->add ? -128.0f : -8.0f, s->add ? 127.0f : 7.0f, 8 };
    k->quantize_mxint_down(s->out, s->in[1], row, ROWS, &levels, s->n);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
CASE(quantize_scaled)
{
    const int64_t row[ROWS] = { 0, MAX_N, 2 * MAX_N, 3 * MAX_N, 4 * MAX_N };
    const struct mase_scaled_levels levels = { s->add ? -128.0f : 0.0f, 127, 128 };
    k->quantize_scaled(s->out, s->in[1], row, ROWS, &levels, s->n);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
static struct mase_mx_levels fp4_levels(enum mase_direction d)
{
    return (struct mase_mx_levels){ { .emin = 0,
                                      .least = 1,
                                      .inverse = 1,
                                      .steps = 2,
                                      .step = 0.5f,
                                      .most = 6,
                                      .above = 6,
                                      .below = -6,
                                      .infinite = 6,
                                      .zero = -0.0f,
                                      .direction = d },
                                    2 };
}
CASE(quantize_mx)
{
    const int64_t row[ROWS] = { 0, MAX_N, 2 * MAX_N, 3 * MAX_N, 4 * MAX_N };
    const struct mase_mx_levels levels = fp4_levels(s->add ? MASE_TO_FLOOR : MASE_TO_NEAREST_AWAY);
    k->quantize_mx(s->out, s->in[1], row, ROWS, &levels, s->n);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
CASE(quantize_mx_runs)
{
    const struct mase_mx_levels levels = fp4_levels(s->add ? MASE_TO_FLOOR : MASE_TO_NEAREST_EVEN);
    k->quantize_mx_runs(s->out, s->x, MASE_LANES, s->n / MASE_LANES, &levels);
    return (struct wrote){ s->n, 0 };
}
CASE(exp_rows)
{
    k->exp_rows(s->out, s->x, s->n);
    return (struct wrote){ s->n, 0 };
}
static const float curve_params[2] = { 0.75f, 1.5f };
CASE(curve)
{
    k->curve((enum mase_curve)s->f, s->out, s->x, curve_params, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(curve_back)
{
    k->curve_back((enum mase_curve)s->f, s->out, s->x, s->in[1], curve_params, s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
static struct mase_pair pair(const struct scene *s)
{
    return (struct mase_pair){
        (enum mase_binary)(s->f % (MASE_LE + 1)), s->x, s->in[1], false, s->flag, -0.5f
    };
}
CASE(binary)
{
    const struct mase_pair p = pair(s);
    k->binary(s->out, &p, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(binary_back)
{
    struct mase_pair p = pair(s);
    p.a = s->in[2];
    k->binary_back(s->out, s->x, &p, s->flag, s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
static struct mase_terms terms(void)
{
    static const int32_t row[] = { 4, 0, 4, 2, 1 };
    static const float coef[] = { 0.5f, -1.0f, 2.0f, -0.0f, 1.0f };
    return (struct mase_terms){ row, coef, 5 };
}
CASE(weigh)
{
    const struct mase_terms t = terms();
    k->weigh(s->out, s->in[1], &t, MAX_N, s->flag ? 0.75f : 0.0f, s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(max_rows)
{
    const struct mase_terms t = terms();
    k->max_rows(s->out, s->out + s->n, s->in[1], &t, MAX_N, s->flag ? -1.0f : 1.0f, s->n);
    return (struct wrote){ 2 * s->n, 0 };
}
CASE(pick_back)
{
    k->pick_back(s->out, s->x, s->in[1], 1.5f, s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(dot_rows)
{
    const struct mase_dot d = { s->in[1], s->in[2], MAX_N, MAX_N, ROWS, -0.5f };
    k->dot_rows(s->out, &d, s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(dot_lanes)
{
    k->dot_lanes(s->out, s->in[1], s->in[2], s->add, s->n);
    return (struct wrote){ 1, 0 };
}
CASE(transpose)
{
    k->transpose(s->out, s->in[1], ROWS, MAX_N, s->n);
    return (struct wrote){ s->n * MASE_LANES, 0 };
}
CASE(lane_moments)
{
    const struct mase_channel c = channel(s, s->in[1]);
    k->lane_moments(s->out, s->out + s->n, &c, 1e-5f);
    return (struct wrote){ 2 * s->n, 0 };
}
CASE(standardise)
{
    k->standardise(s->out, s->x, s->in[1], s->in[2], -0.5f, 0.25f, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(standard_sums)
{
    k->standard_sums(s->out, s->out + s->n, s->in[0], s->in[1], s->in[2], s->in[3], 0.5f, s->n);
    return (struct wrote){ 2 * s->n, 0 };
}
static struct mase_standard standard(const struct scene *s)
{
    return (struct mase_standard){ s->in[1],         s->in[2],         s->in[3],
                                   s->in[1] + MAX_N, s->in[2] + MAX_N, 3 };
}
CASE(standard_back)
{
    const struct mase_standard d = standard(s);
    k->standard_back(s->out, s->x, &d, 0.5f, s->add, s->n);
    return (struct wrote){ s->n, 0 };
}
CASE(standard_params)
{
    const struct mase_standard d = standard(s);
    k->standard_params(s->out, s->out + 1, s->in[0], &d, s->n);
    return (struct wrote){ 2, 0 };
}
CASE(softmax)
{
    const struct mase_channel c = channel(s, s->x);
    k->softmax(s->out, &c, s->flag, -3e38f);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
CASE(softmax_back)
{
    const struct mase_channel c = channel(s, s->in[1]);
    k->softmax_back(s->out, s->x, &c, s->flag, s->add);
    return (struct wrote){ ROWS * MAX_N, 0 };
}
/* All rows of a hidden unit lie in the result, filled with operands first. */
static struct mase_unit_rows unit_rows(const struct scene *s, float *y)
{
    for (int i = 0; i < 11; i++)
        memcpy(y + i * MAX_N, s->in[i % INPUTS] + i / INPUTS * MAX_N, (size_t)s->n * sizeof *y);
    return (struct mase_unit_rows){ .gate = { y, y + MAX_N, y + 2 * MAX_N, y + 3 * MAX_N },
                                    .inner = y + 4 * MAX_N,
                                    .before = s->add ? y + 5 * MAX_N : NULL,
                                    .c = y + 6 * MAX_N,
                                    .tanh_c = y + 7 * MAX_N,
                                    .h = y + 8 * MAX_N,
                                    .dh = y + 9 * MAX_N,
                                    .dc = y + 10 * MAX_N };
}
#define UNIT_CASE(name)                                       \
    CASE(name)                                                \
    {                                                         \
        const struct mase_unit_rows u = unit_rows(s, s->out); \
        k->name(&u, s->n);                                    \
        return (struct wrote){ 11 * MAX_N, 0 };               \
    }
UNIT_CASE(lstm_unit)
UNIT_CASE(lstm_unit_back)
UNIT_CASE(gru_unit)
UNIT_CASE(gru_unit_back)
CASE(cross_entropy)
{
    int32_t label[MAX_N];
    struct mase_cross_entropy c = { .logits = s->in[1],
                                    .dlogits = s->out,
                                    .label = label,
                                    .weight = s->add ? s->in[2] : NULL,
                                    .loss = s->out + ROWS * MAX_N,
                                    .C = ROWS,
                                    .n = s->n,
                                    .samples = s->samples,
                                    .stride = MAX_N,
                                    .scale = 0.25f,
                                    .smoothing = s->flag ? 0.125f : 0.0f };
    long at = ROWS * MAX_N + s->n;
    for (int i = 0; i < MAX_N; i++)
        label[i] = i * 3 % ROWS;
    k->cross_entropy(&c);
    raw(s, &at, &c.correct, sizeof c.correct);
    return (struct wrote){ ROWS * MAX_N + s->n, 2 };
}
CASE(distillation)
{
    k->distillation(&(struct mase_distillation){ .logits = s->in[1],
                                                 .teacher = s->in[2],
                                                 .dlogits = s->out,
                                                 .loss = s->out + ROWS * MAX_N,
                                                 .C = ROWS,
                                                 .n = s->n,
                                                 .samples = s->samples,
                                                 .stride = MAX_N,
                                                 .teacher_stride = MAX_N,
                                                 .keep = 0.75f,
                                                 .weight = s->add ? 0.25f : 0.7f,
                                                 .temperature = s->flag ? 3.0f : 0.5f,
                                                 .scale = 0.25f });
    return (struct wrote){ ROWS * MAX_N + s->n, 0 };
}
#define LOSS_CASE(name)                                                          \
    CASE(name)                                                                   \
    {                                                                            \
        k->name(&(struct mase_pointwise_loss){ .x = s->in[1],                    \
                                               .target = s->in[2],               \
                                               .dx = s->out,                     \
                                               .loss = s->out + ROWS * MAX_N,    \
                                               .rows = ROWS,                     \
                                               .n = s->n,                        \
                                               .samples = s->samples,            \
                                               .stride = MAX_N,                  \
                                               .target_stride = MAX_N,           \
                                               .scale = 0.25f,                   \
                                               .delta = s->add ? 0.5f : 1.5f }); \
        return (struct wrote){ ROWS * MAX_N + s->n, 0 };                         \
    }
LOSS_CASE(mse)
LOSS_CASE(l1)
LOSS_CASE(huber)
LOSS_CASE(bce)
static struct mase_optim optim(const struct scene *s)
{
    return (struct mase_optim){ .w = s->out,
                                .m = s->out + s->n,
                                .v = s->out + 2 * s->n,
                                .g = s->in[1],
                                .n = s->n,
                                .clip = 0.5f,
                                .decay = 0.02f,
                                .keep = 0.98f,
                                .beta1 = 0.9f,
                                .take1 = 0.1f,
                                .beta2 = 0.999f,
                                .take2 = 0.001f,
                                .root = 22.0f,
                                .eps = 1e-8f,
                                .step = 0.05f,
                                .nesterov = s->flag };
}
CASE(adam)
{
    const struct mase_optim o = optim(s);
    k->adam(&o);
    return (struct wrote){ 3 * s->n, 0 };
}
CASE(sgd)
{
    const struct mase_optim o = optim(s);
    k->sgd(&o);
    return (struct wrote){ 2 * s->n, 0 };
}
CASE(nadam)
{
    struct mase_optim o = optim(s);
    o.ahead = 0.03f;
    k->nadam(&o);
    return (struct wrote){ 3 * s->n, 0 };
}
CASE(root_square)
{
    const struct mase_optim o = optim(s);
    k->root_square(&o);
    return (struct wrote){ 3 * s->n, 0 };
}
CASE(lion)
{
    const struct mase_optim o = optim(s);
    k->lion(&o);
    return (struct wrote){ 2 * s->n, 0 };
}
CASE(gather)
{
    uint32_t index[MAX_N];
    for (uint32_t i = 0; i < MAX_N; i++)
        index[i] = i * 5 % 13;
    k->gather(&(struct mase_gather){ s->out, s->in[1], s->flag ? index : NULL, 4, s->n,
                                     s->samples < 13 ? s->samples : 13, s->n, 19 });
    return (struct wrote){ 4 * s->n, 0 };
}

/* ---- all of them ---- */

#define CURVE(name) +1
enum {
    CURVES = 0
#include "kern/curves.def"
};

static const struct {
    const char *name;
    struct wrote (*run)(const struct mase_kernels *k, struct scene *s);
} cases[] = {
#define KERNEL_ROW(name, args) { #name, case_##name },
#include "kern/kernels.def"
};
enum { CASES = sizeof cases / sizeof *cases };

struct memory {
    float in[INPUTS][ROWS * MAX_N], start[OUT], standard[OUT], out[OUT];
};

static void set_up(struct memory *m, uint64_t seed)
{
    for (int i = 0; i < INPUTS; i++)
        fill_hostile(m->in[i], ROWS * MAX_N, 4 * seed + (uint64_t)i);
    for (int i = 0; i < OUT; i++)
        m->start[i] = i < ROWS * MAX_N ? m->in[0][i] : canary;
}

/* Runs case c; what it wrote, and a check that it wrote nothing else. */
static struct wrote run(struct memory *m, int c, const struct mase_kernels *k, struct scene s,
                        bool in_place)
{
    memcpy(m->out, m->start, sizeof m->out);
    s.out = m->out;
    s.x = in_place ? m->out : m->in[0];
    for (int i = 0; i < INPUTS; i++)
        s.in[i] = m->in[i];
    const struct wrote w = cases[c].run(k, &s);
    const long end = w.floats + w.raw;
    assert_in_range(end, 0, OUT);
    if (memcmp(m->out + end, m->start + end, (size_t)(OUT - end) * sizeof(float)))
        fail_msg("%s: %s writes behind its %ld results for %ld lanes", cases[c].name, k->isa, end,
                 s.n);
    one_nan(m->out, w.floats);
    return w;
}

static void one_scene(struct memory *m, int c, const struct scene *s)
{
    EACH_ISA(k)
    for (int in_place = 0; in_place < 2; in_place++) {
        const struct wrote w = run(m, c, k, *s, in_place);
        if (isa == 0 && !in_place)
            memcpy(m->standard, m->out, sizeof m->standard);
        const long at = differs(m->standard, m->out, w.floats + w.raw);
        if (at >= 0)
            fail_msg("%s%s: %s gives %a for %ld lanes of %ld, function %d, at %ld; scalar gives %a",
                     cases[c].name, in_place ? " in place" : "", k->isa, (double)m->out[at], s->n,
                     s->samples, s->f, at, (double)m->standard[at]);
    }
}

static void every_kernel_gives_the_same_bits(void **state)
{
    (void)state;
    static struct memory m;
    for (int c = 0; c < CASES; c++) {
        const bool functions = strstr(cases[c].name, "curve") || strstr(cases[c].name, "binary");
        for (int f = 0; f < (functions ? (int)CURVES : 1); f++)
            for (long samples = 0; samples <= 3 * MASE_LANES + 1; samples++) {
                set_up(&m, (uint64_t)(samples * 100 + f));
                for (int choice = 0; choice < 4; choice++) {
                    const long n = (samples + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
                    one_scene(&m, c,
                              &(struct scene){ .n = n,
                                               .samples = samples,
                                               .f = f,
                                               .add = choice & 1,
                                               .flag = choice & 2 });
                }
            }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_same_bits),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
