/*
 * t_curves.c - functions of one and two values, chosen rows and per-sample statistics: right
 * against plain loops in double, and the same bits on every instruction set this machine has.
 */
#include "lanes.h"
#include "run_cases.h"

enum { N = 48, ROWS = 6 };

static const char *const curve_names[] = {
#define CURVE(name) #name,
#include "kern/curves.def"
};
enum { CURVES = sizeof curve_names / sizeof *curve_names };

static void fill(float *x, long n, float lo, float hi, uint64_t seed)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_TEST, 11);
    for (long i = 0; i < n; i++)
        x[i] = mase_rng_range(&r, lo, hi);
}

static void close_to(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance * fmax(1.0, fabs(want))))
        fail_msg("%s: got %.9g, want %.9g", what, got, want);
}

/* Keep what the first set computed, and compare the others with it. */
static void same_as_first(float *first, const float *got, long n, int isa, const char *what)
{
    if (isa == 0)
        memcpy(first, got, (size_t)n * sizeof *first);
    if (memcmp(first, got, (size_t)n * sizeof *first))
        fail_msg("%s: %s differs from scalar", what, mase_isa_names[isa]);
}

/* ---- one value ---- */

/* The functions in double; p as curves.def says. */
static double exact(enum mase_curve f, double x, const float *p)
{
    switch (f) {
    case MASE_CURVE_neg:
        return -x;
    case MASE_CURVE_abs:
        return fabs(x);
    case MASE_CURVE_sqrt:
        return sqrt(x);
    case MASE_CURVE_square:
        return x * x;
    case MASE_CURVE_exp:
        return exp(x);
    case MASE_CURVE_round:
        return rint(x);
    case MASE_CURVE_floor:
        return floor(x);
    case MASE_CURVE_clip:
    case MASE_CURVE_clamp:
        return fmin(fmax(x, p[0]), p[1]);
    case MASE_CURVE_leaky_relu:
        return x < 0 ? p[0] * x : x;
    case MASE_CURVE_elu:
        return p[1] * (x < 0 ? p[0] * expm1(x) : x);
    case MASE_CURVE_sigmoid:
        return 1 / (1 + exp(-x));
    case MASE_CURVE_silu:
        return x / (1 + exp(-x));
    case MASE_CURVE_tanh:
        return tanh(x);
    case MASE_CURVE_gelu:
        return 0.5 * x * erfc(-x / sqrt(2.0));
    case MASE_CURVE_gelu_tanh:
        return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case MASE_CURVE_hardsigmoid:
        return fmin(fmax(x + 3, 0), 6) / 6;
    case MASE_CURVE_hardswish:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    case MASE_CURVE_hardshrink:
        return fabs(x) > p[0] ? x : 0;
    case MASE_CURVE_softshrink:
        return x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : 0;
    case MASE_CURVE_softplus:
        return x * p[0] > p[1] ? x : log1p(exp(x * p[0])) / p[0];
    case MASE_CURVE_softsign:
        return x / (1 + fabs(x));
    case MASE_CURVE_logsigmoid:
        return fmin(x, 0) - log1p(exp(-fabs(x)));
    default:
        return x;
    }
}

static void set_params(enum mase_curve f, float *p)
{
    p[0] = f == MASE_CURVE_clip || f == MASE_CURVE_clamp ? -1.25f : 0.75f;
    p[1] = f == MASE_CURVE_softplus ? 6.0f : 1.5f;
}

static void curves_are_the_functions(void **state)
{
    (void)state;
    for (int f = 0; f < CURVES; f++) {
        float x[N], first[N], p[2];
        set_params((enum mase_curve)f, p);
        fill(x, N, f == MASE_CURVE_sqrt ? 0.0f : -12.0f, 12.0f, 1 + (uint64_t)f);
        for (int i = 0; i < 8 && f != MASE_CURVE_sqrt; i++)
            x[i] = (float)(i - 4) * 1e-4f; /* where differences lose their digits */
        EACH_ISA(k)
        {
            float y[N];
            k->curve((enum mase_curve)f, y, x, p, N);
            for (int i = 0; i < N; i++)
                close_to(y[i], exact((enum mase_curve)f, x[i], p), 1e-6, curve_names[f]);
            same_as_first(first, y, N, isa, curve_names[f]);
        }
    }
}

/* Where exponentials end: infinite where the function is, and about zero where that is all but
 * zero: a sigmoid below the normal numbers is 0, and x times as much is lost by silu. */
static void curves_reach_the_ends(void **state)
{
    static const float ends[16] = { 88.25f,   88.5f, 88.7f,     88.75f,  100.0f,  1e4f,
                                    INFINITY, 12.5f, -88.5f,    -88.75f, -100.0f, -1e4f,
                                    40.0f,    0.0f,  -INFINITY, -0.0f };
    (void)state;
    for (int f = 0; f < CURVES; f++)
        EACH_ISA(k)
        {
            float y[16], p[2];
            set_params((enum mase_curve)f, p);
            k->curve((enum mase_curve)f, y, ends, p, 16);
            for (int i = 0; i < 16; i++) {
                const float want = (float)exact((enum mase_curve)f, (double)ends[i], p);
                const bool same = y[i] == want || (isnan(y[i]) && isnan(want));
                if (!same &&
                    !(fabsf(y[i] - want) <= 1e-6f * fabsf(want) + 1e-36f && isfinite(want)))
                    fail_msg("%s(%g): got %.9g, want %.9g", curve_names[f], (double)ends[i],
                             (double)y[i], (double)want);
            }
        }
}

/* Slopes: differences of the function in double, away from corners. */
static void slopes_are_derivatives(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (int f = 0; f < CURVES; f++) {
        float x[N], dy[N], first[N], p[2];
        set_params((enum mase_curve)f, p);
        fill(dy, N, -2.0f, 2.0f, 99);
        for (int i = 0; i < N; i++)
            x[i] = f == MASE_CURVE_sqrt ? 0.3f + (float)i / 7 : (float)(i - 24) / 7 + 0.06f;
        EACH_ISA(k)
        for (int add = 0; add < 2; add++) {
            float dx[N];
            for (int i = 0; i < N; i++)
                dx[i] = 0.5f;
            k->curve_back((enum mase_curve)f, dx, dy, x, p, add, N);
            for (int i = 0; i < N; i++) {
                const double slope = (exact((enum mase_curve)f, x[i] + h, p) -
                                      exact((enum mase_curve)f, x[i] - h, p)) /
                                     (2 * h);
                close_to(dx[i], dy[i] * slope + (add ? 0.5 : 0), 2e-6, curve_names[f]);
            }
            if (add)
                same_as_first(first, dx, N, isa, curve_names[f]);
        }
    }
}

/* ---- two values ---- */

static double exact_pair(enum mase_binary f, double a, double b, double scale)
{
    switch (f) {
    case MASE_ADD:
        return a + scale * b;
    case MASE_MUL:
        return a * b;
    case MASE_DIV:
        return a / b;
    case MASE_MAX:
        return fmax(a, b);
    case MASE_MIN:
        return fmin(a, b);
    case MASE_EQ:
        return a == b;
    case MASE_NE:
        return a != b;
    case MASE_GT:
        return a > b;
    case MASE_GE:
        return a >= b;
    case MASE_LT:
        return a < b;
    default:
        return a <= b;
    }
}

static void pairs_are_the_functions(void **state)
{
    (void)state;
    float a[N], b[N], dy[N], first[3 * N];
    fill(a, N, 0.5f, 2.0f, 1);
    fill(b, N, 0.5f, 2.0f, 2);
    fill(dy, N, -1.0f, 1.0f, 3);
    b[7] = a[7]; /* a tie */
    for (int f = MASE_ADD; f <= MASE_LE; f++)
        for (int one = 0; one < 4; one++)
            EACH_ISA(k)
            {
                const struct mase_pair p = { (enum mase_binary)f, a, b, one & 1, one & 2, 0.5f };
                float y[3 * N];
                k->binary(y, &p, N);
                k->binary_back(y + N, dy, &p, false, false, N);
                k->binary_back(y + 2 * N, dy, &p, true, false, N);
                for (int i = 0; i < N; i++) {
                    const double u = a[one & 1 ? 0 : i], v = b[one & 2 ? 0 : i], h = 1e-6;
                    close_to(y[i], exact_pair(p.f, u, v, 0.5), 1e-6, "binary");
                    if (u == v || f >= MASE_EQ)
                        continue;
                    const double du =
                        (exact_pair(p.f, u + h, v, 0.5) - exact_pair(p.f, u - h, v, 0.5)) / (2 * h);
                    const double dv =
                        (exact_pair(p.f, u, v + h, 0.5) - exact_pair(p.f, u, v - h, 0.5)) / (2 * h);
                    close_to(y[N + i], dy[i] * du, 1e-5, "d first");
                    close_to(y[2 * N + i], dy[i] * dv, 1e-5, "d second");
                }
                if (!one && (f == MASE_MAX || f == MASE_MIN)) { /* a tie is shared */
                    assert_true(y[N + 7] == dy[7] / 2);
                    assert_true(y[2 * N + 7] == dy[7] / 2);
                }
                same_as_first(first, y, 3 * N, isa, "binary");
            }
}

/* ---- rows ---- */

static void chosen_rows_are_summed_and_compared(void **state)
{
    (void)state;
    static const int32_t row[] = { 4, 0, 4, 2 };
    static const float coef[] = { 0.5f, -1.0f, 2.0f, 0.25f };
    const struct mase_terms t = { row, coef, 4 };
    float x[ROWS * N], first[4 * N];
    fill(x, ROWS * N, -2.0f, 2.0f, 4);
    x[2 * N + 5] = NAN;
    EACH_ISA(k)
    {
        float y[4 * N] = { 0 };
        k->weigh(y, x, &t, N, 0.75f, false, N);
        k->max_rows(y + N, y + 2 * N, x, &t, N, 1.0f, N);
        for (int i = 0; i < N; i++) {
            double sum = 0.75, best = x[4 * N + i];
            int which = 0;
            for (int j = 0; j < 4; j++) {
                sum += (double)coef[j] * (double)x[row[j] * N + i];
                if ((double)x[row[j] * N + i] > best || isnan(x[row[j] * N + i])) {
                    best = x[row[j] * N + i];
                    which = j;
                }
            }
            if (i != 5)
                close_to(y[i], sum, 1e-6, "weigh");
            assert_true(y[2 * N + i] == (float)which);
            assert_true(y[N + i] == (float)best || (isnan(best) && isnan(y[N + i])));
        }
        k->pick_back(y + 3 * N, x, y + 2 * N, 1.0f, false, N);
        for (int i = 0; i < N; i++)
            assert_true(y[3 * N + i] == (y[2 * N + i] == 1.0f ? x[i] : 0.0f));
        same_as_first(first, y, 4 * N, isa, "rows");
    }
}

static void products_and_transposes(void **state)
{
    (void)state;
    float a[ROWS * N], b[ROWS * N], first[N + 1];
    fill(a, ROWS * N, -2.0f, 2.0f, 5);
    fill(b, ROWS * N, -2.0f, 2.0f, 6);
    EACH_ISA(k)
    {
        float y[N + 1], turned[N * 16];
        const struct mase_dot d = { a, b, N, N, ROWS, 0.5f };
        for (int i = 0; i < N; i++)
            y[i] = 1.0f;
        k->dot_rows(y, &d, true, N);
        k->dot_lanes(&y[N], a, b, false, N);
        double all = 0;
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int r = 0; r < ROWS; r++)
                sum += (double)a[r * N + i] * (double)b[r * N + i];
            close_to(y[i], 1 + 0.5 * sum, 1e-6, "dot_rows");
            all += (double)a[i] * (double)b[i];
        }
        close_to(y[N], all, 1e-5, "dot_lanes");
        same_as_first(first, y, N + 1, isa, "products");
        k->transpose(turned, a, ROWS, N, N);
        for (int i = 0; i < N * 16; i++)
            assert_true(turned[i] == (i % 16 < ROWS ? a[i % 16 * N + i / 16] : 0.0f));
    }
}

static void softmax_and_moments_are_per_sample(void **state)
{
    (void)state;
    float x[ROWS * N], first[2 * ROWS * N + 2 * N];
    fill(x, ROWS * N, -20.0f, 20.0f, 7);
    for (int r = 0; r < ROWS; r++)
        x[r * N + 9] = -INFINITY; /* hidden everywhere: zeros, not NaN */
    EACH_ISA(k)
    {
        float y[2 * ROWS * N + 2 * N], *mean = y + 2 * ROWS * N, *rstd = mean + N;
        struct mase_channel c = { x, ROWS, N, N, N };
        k->softmax(y, &c, false, -3e38f);
        k->softmax(y + ROWS * N, &c, true, -INFINITY);
        x[9] = 0.0f; /* moments of finite numbers */
        for (int r = 1; r < ROWS; r++)
            x[r * N + 9] = (float)r;
        k->lane_moments(mean, rstd, &c, 0.125f);
        for (int i = 0; i < N; i++) {
            double top = -INFINITY, sum = 0, m = 0, v = 0;
            for (int r = 0; r < ROWS; r++) {
                top = fmax(top, x[r * N + i]);
                m += (double)x[r * N + i] / ROWS;
            }
            for (int r = 0; r < ROWS; r++) {
                sum += exp(x[r * N + i] - top);
                v += (x[r * N + i] - m) * (x[r * N + i] - m) / ROWS;
            }
            for (int r = 0; r < ROWS; r++) {
                const double d = x[r * N + i] - top;
                close_to(y[r * N + i], i == 9 ? 0 : exp(d) / sum, 1e-6, "softmax");
                if (i == 9) /* as PyTorch's, where nothing is to be zeros */
                    assert_true(isnan(y[(ROWS + r) * N + i]));
                else
                    close_to(y[(ROWS + r) * N + i], d - log(sum), 1e-6, "log softmax");
            }
            close_to(mean[i], m, 1e-6, "mean");
            close_to(rstd[i], 1 / sqrt(v + 0.125), 1e-6, "rstd");
        }
        for (int r = 0; r < ROWS; r++)
            x[r * N + 9] = -INFINITY;
        same_as_first(first, y, ROWS * N, isa, "softmax");
        same_as_first(first + ROWS * N, mean, 2 * N, isa, "moments");
    }
}

/* As of a group norm over an image: added one by one, a mean would be off by 1e-4. */
static void long_rows_are_summed_in_parts(void **state)
{
    enum { MANY = 1 << 17, L = MASE_LANES };
    (void)state;
    float *x = calloc((size_t)MANY * L, sizeof *x), *y = calloc((size_t)MANY * L, sizeof *y);
    float first[2 * L];
    double m = 0, v = 0, sum = 0;
    assert_true(x && y);
    fill(x, MANY * L, 0.5f, 1.5f, 11);
    for (long i = 0; i < MANY; i++)
        m += (double)x[i * L] / MANY;
    for (long i = 0; i < MANY; i++) {
        v += ((double)x[i * L] - m) * ((double)x[i * L] - m) / MANY;
        sum += exp((double)x[i * L]);
    }
    EACH_ISA(k)
    {
        float found[2 * L];
        const struct mase_channel c = { x, MANY, L, L, L };
        k->lane_moments(found, found + L, &c, 0.125f);
        close_to(found[0], m, 1e-6, "mean of many");
        close_to(found[L], 1 / sqrt(v + 0.125), 1e-6, "rstd of many");
        same_as_first(first, found, 2 * L, isa, "moments of many");
        k->softmax(y, &c, false, -3e38f);
        close_to(y[0] * MANY, exp((double)x[0]) / sum * MANY, 2e-6, "softmax of many");
    }
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rows_are_summed_in_parts),
        cmocka_unit_test(curves_are_the_functions),
        cmocka_unit_test(curves_reach_the_ends),
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(pairs_are_the_functions),
        cmocka_unit_test(chosen_rows_are_summed_and_compared),
        cmocka_unit_test(products_and_transposes),
        cmocka_unit_test(softmax_and_moments_are_per_sample),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
