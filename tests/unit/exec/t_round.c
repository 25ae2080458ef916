/*
 * t_round.c - rounding in plans: every format gives the bits of its reference, by its kernel where
 * it has one, on every instruction set, for both signs, in lanes and in dense tensors, in place
 * too; and what passes back through a rounding is what the format's row says.
 */
#include "run_cases.h"
#include "unit/kern/lanes.h"

#include "exec/step/round_step.h"
#include "formats.h"
#include "step_case.h"

enum { POOL = 4096, ROWS = 7, LANES = 5 * MASE_LANES };

/* ---- numbers that rounding goes wrong on ---- */

static float pool[POOL];
static int pooled;

static void add(float x)
{
    const float both[] = { x, nextafterf(x, -INFINITY), nextafterf(x, INFINITY) };
    for (int i = 0; i < 3 && pooled < POOL; i++)
        pool[pooled++] = both[i];
}

/* x, the values next to it in a block that shares this, and the ties between them. */
static void add_around(const struct mase_format *f, float x, int64_t shared, enum mase_sign sign)
{
    const struct mase_neighbours n = mase_format_neighbours(f, x, shared, sign);
    add(x);
    add(n.below);
    add(n.above);
    add((float)(((double)n.below + (double)x) / 2));
    add(mase_format_midpoint(f, x, shared, sign));
}

/* Around the values of blocks whose largest is about size. */
static void add_block(const struct mase_format *f, float size, enum mase_sign sign)
{
    static const float parts[] = { 1, -0.77f, 0.5f, -0.26f, 0.03f, 0, 0.91f, -0.0101f };
    enum { N = sizeof parts / sizeof *parts };
    int64_t row[N], code[N], shared = 0;
    float q[N], low, high;
    for (int i = 0; i < N; i++) {
        q[i] = parts[i] * size;
        row[i] = i;
    }
    mase_quantize_blocks(f, q, q, &(struct mase_block){ row, N, 1, NULL, 0 }, sign);
    mase_format_encode(code, &shared, f, q, N, sign);
    mase_format_limits(&low, &high, f, sign);
    for (int i = 0; i < N; i++)
        add_around(f, q[i], shared, sign);
    add_around(f, low, shared, sign);
    add_around(f, high, shared, sign);
}

/* Hostile numbers, both sides of every power of two, and what the format itself is delicate about.
 */
static void fill_pool(const struct mase_format *f, enum mase_sign sign)
{
    pooled = 0;
    for (int i = 0; i < HOSTILE; i++)
        add(hostile[i]);
    for (int i = -12; i <= 12; i += 4)
        add_block(f, ldexpf(1.37f, i), sign);
    for (int e = -149; e <= 127; e++)
        add(ldexpf(e % 2 ? 1.0f : -1.0f, e));
    struct mase_rng r = mase_rng(1, MASE_STREAM_TEST, 22);
    while (pooled < POOL) { /* any bits */
        const uint32_t bits = mase_rng_u32(&r);
        memcpy(&pool[pooled++], &bits, sizeof bits);
    }
}

/* A tensor of them, samples of all sizes: some tiny, some only with zeros. */
static void draw(float *x, int64_t samples, int64_t each, uint64_t seed)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_TEST, 21);
    for (int64_t s = 0; s < samples; s++) {
        const uint32_t kind = mase_rng_u32(&r) % 8;
        const float most = kind == 0 ? 0.0f : kind < 5 ? ldexpf(1.5f, (int)kind * 4 - 8) : INFINITY;
        for (int64_t i = 0; i < each; i++) {
            float v = pool[mase_rng_u32(&r) % (uint32_t)pooled];
            for (int tries = 0; tries < 50 && !(fabsf(v) <= most); tries++)
                v = pool[mase_rng_u32(&r) % (uint32_t)pooled];
            x[s * each + i] = fabsf(v) <= most || isinf(most) ? v : 0.0f;
        }
    }
}

/* ---- kernels ---- */

static void compare(const char *text, const char *isa, enum mase_sign sign, float *got, float *want,
                    const float *x, long n)
{
    one_nan(got, n);
    one_nan(want, n);
    const long at = differs(got, want, n);
    if (at >= 0)
        fail_msg("%s %s %s: %a gives %a, the reference %a", text, isa,
                 sign == MASE_SIGNED ? "signed" : "unsigned", (double)x[at], (double)got[at],
                 (double)want[at]);
}

/* As activations lie in a plan, samples innermost, against a dense tensor of samples. */
static void check_lanes(const struct mase_format *f, const char *text, enum mase_sign sign,
                        uint64_t seed)
{
    static float x[LANES * ROWS], want[LANES * ROWS], y[LANES * ROWS], lanes[LANES * ROWS];
    struct mase_arena a = { 0 };
    const struct mase_rounding how = { f, sign, MASE_ROLE_DATA };
    const struct mase_round r =
        mase_round_rows(&a, how, &(struct mase_shape){ 2, { 1, ROWS } }, LANES);
    draw(x, LANES, ROWS, seed);
    mase_quantize(f, want, x, &(struct mase_shape){ 2, { LANES, ROWS } }, MASE_ROLE_DATA, sign);
    EACH_ISA(k)
    for (int in_place = 0; in_place < 2; in_place++) {
        struct buf out = make(LANES * ROWS, 1);
        for (int i = 0; i < LANES * ROWS; i++)
            lanes[i % ROWS * LANES + i / ROWS] = x[i];
        if (in_place)
            memcpy(out.x, lanes, sizeof lanes);
        mase_round_run(&r, k, out.x, in_place ? out.x : lanes, LANES, 0, r.count);
        for (int i = 0; i < LANES * ROWS; i++)
            y[i] = out.x[i % ROWS * LANES + i / ROWS];
        compare(text, k->isa, sign, y, want, x, LANES * ROWS);
        drop(&out);
    }
    mase_arena_release(&a);
}

/* As weights lie. */
static void check_dense(const struct mase_format *f, const char *text, enum mase_sign sign,
                        uint64_t seed)
{
    static const struct mase_shape shapes[] = {
        { 1, { 37 } }, { 2, { 37, 11 } }, { 2, { 3, 300 } }, { 3, { 5, 7, 9 } }, { 2, { 19, 64 } }
    };
    struct mase_arena a = { 0 };
    const struct mase_rounding how = { f, sign, MASE_ROLE_WEIGHT };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t n = mase_shape_count(&shapes[i]), room = (n + 15) / 16 * 16;
        float *x = mase_new_array(&a, float, (size_t)room),
              *y = mase_new_array(&a, float, (size_t)room);
        float *want = mase_new_array(&a, float, (size_t)room);
        const struct mase_round r = mase_round_dense(&a, how, &shapes[i]);
        draw(x, shapes[i].dim[0], n / shapes[i].dim[0], seed + i);
        mase_quantize(f, want, x, &shapes[i], MASE_ROLE_WEIGHT, sign);
        EACH_ISA(k)
        {
            mase_round_all(&r, k, y, x);
            compare(text, k->isa, sign, y, want, x, (long)n);
        }
    }
    mase_arena_release(&a);
}

/* Every power of two, and as much above and below it as a float32 logarithm may not see. */
static void check_powers(const struct mase_format *f, const char *text, enum mase_sign sign)
{
    enum { LEAST = -149, MOST = 127, AROUND = 96, N = (MOST - LEAST + 1) * AROUND };
    static float x[N], y[N], want[N];
    struct mase_arena a = { 0 };
    const struct mase_shape s = { 1, { N } };
    const struct mase_round r =
        mase_round_dense(&a, (struct mase_rounding){ f, sign, MASE_ROLE_WEIGHT }, &s);
    for (int i = 0; i < N; i++)
        x[i] = ldexpf(1.0f + (float)(i % AROUND - AROUND / 2) *
                                 (i % AROUND < AROUND / 2 ? 0x1p-24f : 0x1p-23f),
                      LEAST + i / AROUND);
    mase_quantize(f, want, x, &s, MASE_ROLE_WEIGHT, sign);
    EACH_ISA(k)
    {
        mase_round_all(&r, k, y, x);
        compare(text, k->isa, sign, y, want, x, N);
    }
    mase_arena_release(&a);
}

static void check_format(const char *text)
{
    const struct mase_format *f = format_of(text);
    const uint64_t seeds = !mase_round_has_kernel(f) || getenv("MASE_QUICK") ? 2 : 12;
    for (int sign = MASE_SIGNED; sign <= MASE_UNSIGNED; sign++) {
        check_powers(f, text, (enum mase_sign)sign);
        fill_pool(f, (enum mase_sign)sign);
        for (uint64_t seed = 0; seed < seeds; seed++) {
            check_lanes(f, text, (enum mase_sign)sign, seed);
            check_dense(f, text, (enum mase_sign)sign, seed * 16);
        }
    }
}

static void check_formats(const char *const *format)
{
    for (; *format; format++)
        check_format(*format);
}

/* Rounding is the reference to the bit: every row as it proposes itself, and families at parameters
 * where their arithmetic is strained. */
static void rows_round_as_their_reference(void **state)
{
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        struct mase_str text = { 0 };
        format_proposed(&text, mase_quants[k]);
        check_format(mase_str_text(&text));
        mase_str_release(&text);
    }
}

/* Steps of one size, given or by the values of a block. */
static void integers_round_as_their_reference(void **state)
{
    static const char *const formats[] = {
        "integer(1, 0)",
        "integer(25, 12)",
        "integer(32, 64)",
        "integer(32, -32)",
        "integer(8, 4, nearest_away)",
        "integer(8, 4, toward_zero)",
        "integer(8, -3, floor)",
        "integer(32, 12, nearest_away)",
        "integer(6, 3, stochastic)",
        "fixed(16, 8)",
        "integer_floor(1, 40)",
        "scale_integer(3)",
        "scale_integer(24)",
        "binary(1, false, true)",
        "binary(1, true, true)",
        "binary(1, true, false)",
        "binary_residual(1, false, true, 3)",
        "ternary(2, true, NA, NA, NA)",
        "int(4, 0.37)",
        "int(1, 0.5, NA, NA, NA, true, false, false, false)",
        "int(8, 0.1, 3)",
        "int(24, 1e-6, NA, NA, NA, true, true)",
        "int(8, 0.02, 100, NA, NA, true, false, false, false)",
        "int(3, [0.5, 0.25, 1, 0.125, 3, 0.1, 7], NA, -1)",
        "int([0, 1, 2, 3, 4, 5, 6], [0.5, 0.25, 1, 0.125, 3, 0.1, 7], [0, 1, 0, 1, -1, 2, 0], -1)",
        "int(4, NA, NA, 0)",
        "int(4, NA, NA, NA, 3, false)",
        "int(5, NA, NA, NA, NA, true, true, true)",
        NULL,
    };
    (void)state;
    check_formats(formats);
}

/* Steps that grow with the value. */
static void floats_round_as_their_reference(void **state)
{
    static const char *const formats[] = {
        "minifloat(8, 4, NA, ieee, infinity)",
        "minifloat(8, 4, NA, fn, infinity, nearest_away)",
        "minifloat(8, 4, NA, fnuz, infinity)",
        "minifloat(8, 5, NA, ieee, infinity, floor)",
        "minifloat(8, 5, NA, ieee, infinity, toward_zero)",
        "minifloat(8, 5, NA, fnuz, saturate, floor)",
        "minifloat(6, 3, NA, none, saturate, stochastic)",
        "minifloat(32, 8, NA, ieee, infinity)",
        "minifloat(31, 7, 100, none, saturate, nearest_away)",
        "minifloat(9, 8, 127, ieee)",
        "minifloat(2, 1, NA, none)",
        "minifloat(3, 1, -125, none, saturate, floor)",
        "minifloat(4, 2, 127, none, saturate, floor)",
        "posit(32)",
        "posit(16)",
        "posit(5, 0)",
        "posit(9, 4)",
        "half(saturate, floor)",
        "bfloat16(infinity, toward_zero)",
        "minifloat_denorm(9, 8, NA)",
        "minifloat_denorm(10, 3, -256)",
        "minifloat_denorm(32, 8, 100)",
        "minifloat_ieee(10, 8, 256)",
        "minifloat_ieee(9, 2, -256)",
        "minifloat_ieee(32, 8, NA)",
        "minifloat_ieee(16, 5, NA)",
        "log(8, 128)",
        NULL,
    };
    (void)state;
    check_formats(formats);
}

/* Blocks that share an exponent. */
static void shared_exponents_round_as_their_reference(void **state)
{
    static const char *const formats[] = {
        "mx(fp8_e4m3)",
        "mx(fp8_e5m2, 3, -1, floor)",
        "mx(fp6_e3m2, 5, -1, toward_zero)",
        "mx(fp6_e2m3, 7)",
        "mx(fp4_e2m1, 300, -1, nearest_away)",
        "mx(fp4_e2m1, 16, -1, stochastic)",
        "mx(int8, 16)",
        "mx(int8, 2, -1, floor)",
        "mx(fp8_e4m3, 1)",
        "nvfp4(3, -1, 0, floor)",
        "nvfp4(5, -1, 0.01)",
        "block_fp(8, 8, NA, [-1])",
        "block_fp(2, 8, NA, [1])",
        "block_fp(24, 8, NA, [3])",
        "block_fp(6, 2, NA, [2])",
        "block_fp(6, 1, 149, [2])",
        "block_fp(6, 4, -120, [4, 4])",
        "block_fp(6, 16, 0, [4])",
        "block_fp(6, 16, NA, [2, 2])",
        "block_minifloat(5, 2, 2, [3])",
        "block_log(4, 3, [2])",
        "block_log(5, 8, [2, 2])",
        "mxint(7, 3, -1, 4, true)",
        "mxint(1, 24, -1, 8)",
        "mxint(1, 8, -1, 2)",
        "mxint_hardware(12, 8, [1])",
        "mxfp(7, 2, 3)",
        "mxfp(7, 5, 2, -1, 8, false, rz)",
        "mxint_hardware(4, 3, [7])",
        NULL,
    };
    (void)state;
    check_formats(formats);
}

/* ---- gradients ---- */

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

static enum mase_gradient clips(const void *params)
{
    (void)params;
    return MASE_GRADIENT_CLIPPED;
}

/* integer(3, 1), from -2 to 1.5, with another gradient. */
static const struct mase_format *clipping(void)
{
    static struct mase_quant_info row;
    static struct mase_format f;
    f = *format_of("integer(3, 1)");
    row = *f.row;
    row.gradient = clips;
    f.row = &row;
    return &f;
}

static void gradient_of(float *g, const struct mase_format *f)
{
    static const struct step_case c = { "add", "operator.add(x, y)", .in = { S(8), S(8) } };
    struct running r = start(&c, 5);
    const struct mase_quant q = { .kind = f->kind, .operand = { f } };
    for (int i = 0; i < 40; i++) /* -2.5 .. 2.375, the limits among them */
        mase_tensor_set(&r.input[0].tensor, i, -2.5 + 0.125 * i);
    mase_node_set_quant(r.graph->first->next->next, &q);
    struct mase_plan *p = plan_of(&r, 5, true, 1);
    feed(&r, p, 5);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    run_backward(p, 5);
    const struct mase_lanes dx = mase_plan_input_gradient(p, 0);
    for (int i = 0; i < 40; i++)
        g[i] = dx.data[i % 8 * dx.stride + i / 8];
    mase_plan_free(p);
    stop(&r);
}

/* The ends count as inside. */
static void clipped_gradients_stop_at_the_limits(void **state)
{
    (void)state;
    float through[40], clipped[40];
    gradient_of(through, format_of("integer(3, 1)"));
    gradient_of(clipped, clipping());
    for (int i = 0; i < 40; i++) {
        const double x = -2.5 + 0.125 * i;
        assert_true(through[i] == functional(i % 8, i / 8));
        assert_true(clipped[i] == (x < -2.0 || x > 1.5 ? 0.0f : through[i]));
    }
}

/* Recurrent layers pass gradients straight or not at all. */
static void other_gradients_are_refused_in_recurrent_layers(void **state)
{
    static const struct step_case refused[] = {
        { "rnn", "l = RNN(3, 4, batch_first=True); l(x); operator.getitem(l, 0)",
          .in = { S(5, 3) } },
    };
    (void)state;
    const struct mase_format *f = clipping();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int train = 0; train < 2; train++) {
            struct running r = start(&refused[i], 5);
            const struct mase_quant q = { .kind = f->kind, .operand = { f, f, f } };
            struct mase_plan *p = NULL;
            const struct mase_plan_opts o = {
                .batch = 5, .train = train, .inputs = r.input, .input_count = r.inputs
            };
            for (struct mase_node *n = r.graph->first; n; n = n->next)
                if (n->op == mase_op_find(refused[i].op) && mase_node_module(n))
                    mase_module_set_quant(r.graph, mase_node_module(n), &q);
                else if (n->op == mase_op_find(refused[i].op))
                    mase_node_set_quant(n, &q);
            const enum mase_status st = mase_plan_new(&p, r.graph, &o, &err);
            assert_true((st != MASE_OK) == train);
            if (train && !strstr(err.msg, "clips gradients"))
                fail_msg("%s", err.msg);
            if (!st)
                mase_plan_free(p);
            stop(&r);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_round_as_their_reference),
        cmocka_unit_test(integers_round_as_their_reference),
        cmocka_unit_test(floats_round_as_their_reference),
        cmocka_unit_test(shared_exponents_round_as_their_reference),
        cmocka_unit_test(clipped_gradients_stop_at_the_limits),
        cmocka_unit_test(other_gradients_are_refused_in_recurrent_layers),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
