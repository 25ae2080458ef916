/*
 * t_calibrate.c - parameters that calibration finds against a search of the test's own, gptq and
 * biases against NumPy, equalised layers, and what is refused.
 */
#include <math.h>

#include <mase/rng.h>

#include "fixture.h"
#include "pass/calibrate/calibrate_parts.h"
#include "run_cases.h"

static struct mase_err err;

/* ---- values ---- */

enum { VALUES = 1000 };

static void draw(float *x, int64_t n, uint64_t index)
{
    struct mase_rng r = mase_rng(5, MASE_STREAM_TEST, index);
    for (int64_t i = 0; i < n; i++)
        x[i] = mase_rng_normal(&r);
}

static struct mase_cal_values values_of(struct mase_cal_tensor *t, const float *x, int64_t n,
                                        enum mase_sign sign)
{
    *t = (struct mase_cal_tensor){ x, { 1, { n } }, MASE_ROLE_WEIGHT, sign };
    struct mase_cal_values v = { t, 1, INFINITY, -INFINITY };
    for (int64_t i = 0; i < n; i++) {
        v.min = fmin(v.min, (double)x[i]);
        v.max = fmax(v.max, (double)x[i]);
    }
    return v;
}

/* The table with its "auto" found; NULL: refused. */
static struct mase_value *found(struct mase_arena *a, const char *text, const char *method,
                                const struct mase_cal_values *v, struct mase_cal_fit *fit)
{
    const struct mase_calibrate_opts o = { .method = method, .quantile = 0.99 };
    struct mase_value *config;
    enum mase_quant_kind kind;
    if (mase_toml_parse(&config, a, text, strlen(text), "text", &err))
        fail_msg("%s", err.msg);
    mase_value_resolve_na(config);
    kind = mase_quant_find(mase_value_get(config, "name")->s);
    return mase_cal_decide(config, "w", fit, kind, v, &o, a, &err) ? NULL : config;
}

/* ---- fractions ---- */

/* Fixed point as integer.c's head says it, in long double. */
static long double fixed(long double x, int width, int frac, bool sign)
{
    const long double low = sign ? -ldexpl(1, width - 1) : 0;
    const long double high = ldexpl(1, sign ? width - 1 : width) - 1;
    long double c = rintl(ldexpl(x, frac));
    c = c < low ? low : c > high ? high : c;
    return ldexpl(c, -frac);
}

static long double error_of(const float *x, int64_t n, int width, int frac, bool sign)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double d = fixed(x[i], width, frac, sign) - (long double)x[i];
        sum += d * d;
    }
    return sum / (long double)n;
}

static void a_fraction_is_the_best_of_all(void **state)
{
    float x[VALUES];
    (void)state;
    for (int k = 0; k < 24; k++) {
        const int width = 2 + k % 8;
        const bool sign = k % 3 != 0;
        struct mase_arena a = { 0 };
        struct mase_cal_tensor t;
        struct mase_cal_fit fit;
        draw(x, VALUES, (uint64_t)k);
        const bool negative = sign || k % 2; /* as before a ReLU, where zero is the least */
        for (int i = 0; i < VALUES; i++)
            x[i] = ldexpf(negative ? x[i] : fabsf(x[i]), k - 12);
        const struct mase_cal_values v =
            values_of(&t, x, VALUES, sign ? MASE_SIGNED : MASE_UNSIGNED);
        int best = -32, held = -32;
        for (int f = -32; f <= 64; f++) {
            if (error_of(x, VALUES, width, f, sign) < error_of(x, VALUES, width, best, sign))
                best = f;
            const double high = ldexp(ldexp(1, sign ? width - 1 : width) - 1, -f);
            if (high >= v.max && (!sign || ldexp(-1, width - 1 - f) <= v.min))
                held = f;
        }
        const char *text = mase_arena_printf(
            &a, "name = \"integer\"\nw_width = %d\nw_frac_width = \"auto\"\n", width);
        assert_int_equal(mase_value_get(found(&a, text, "mse", &v, &fit), "w_frac_width")->i, best);
        assert_true(fabs(fit.mse - (double)error_of(x, VALUES, width, best, sign)) <=
                    1e-9 * fit.mse);
        assert_int_equal(mase_value_get(found(&a, text, "minmax", &v, &fit), "w_frac_width")->i,
                         held);
        assert_true((fit.saturated == 0) == (sign || !negative));
        mase_arena_release(&a);
    }
}

/* ---- every parameter of every format that may be "auto" ---- */

static const struct mase_opt *tuned(const struct mase_quant_info *row)
{
    for (const struct mase_opt *p = row->params; p->type; p++)
        if (mase_param_tuning(p) == MASE_TUNED_EXPONENT)
            return p;
    return NULL;
}

/* Its other parameters at what their rows say. */
static struct mase_value *defaults(struct mase_arena *a, const struct mase_quant_info *row)
{
    struct mase_value *v = mase_value_table(a);
    for (const struct mase_opt *p = row->params; p->type; p++) {
        const char *key = mase_arena_printf(a, "w_%s", p->key);
        if (!p->required)
            continue;
        if (mase_param_tuning(p))
            mase_value_set(a, v, key, mase_value_string(a, MASE_AUTO));
        else if (p->type == MASE_OPT_TYPE_INTS)
            mase_value_set(a, v, key, mase_value_int(a, 16));
        else if (p->type == MASE_OPT_TYPE_INT)
            mase_value_set(a, v, key, mase_value_int(a, (int64_t)p->num));
        else
            return NULL;
    }
    return v;
}

static double error_with(struct mase_arena *a, enum mase_quant_kind kind,
                         const struct mase_value *config, const char *key, int64_t exponent,
                         const float *x)
{
    struct mase_value *copy = mase_value_copy(a, config);
    struct mase_format f;
    float q[VALUES];
    double sum = 0;
    mase_value_set(a, copy, key, mase_value_int(a, exponent));
    if (mase_format_try(&f, a, kind, copy, "w", &err))
        return INFINITY;
    mase_quantize_values(&f, q, x, VALUES, MASE_SIGNED);
    for (int i = 0; i < VALUES; i++)
        sum += ((double)q[i] - (double)x[i]) * ((double)q[i] - (double)x[i]);
    return sum;
}

static void exponents_of_every_format(void **state)
{
    float x[VALUES];
    int formats = 0;
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        const struct mase_opt *row = tuned(mase_quants[k]);
        struct mase_arena a = { 0 };
        struct mase_value *config = row ? defaults(&a, mase_quants[k]) : NULL;
        for (int octave = -20; config && octave <= 20; octave += 13) {
            const struct mase_calibrate_opts o = { .method = "mse" };
            struct mase_value *copy = mase_value_copy(&a, config);
            struct mase_cal_tensor t;
            struct mase_cal_fit fit;
            draw(x, VALUES, 77);
            for (int i = 0; i < VALUES; i++)
                x[i] = ldexpf(x[i], octave);
            const struct mase_cal_values v = values_of(&t, x, VALUES, MASE_SIGNED);
            if (mase_cal_decide(copy, "w", &fit, (enum mase_quant_kind)k, &v, &o, &a, &err))
                fail_msg("%s: %s", mase_quants[k]->name, err.msg);
            const char *key = mase_arena_printf(&a, "w_%s", row->key);
            const int64_t at = mase_value_get(copy, key)->i;
            const double best = error_with(&a, (enum mase_quant_kind)k, copy, key, at, x);
            for (int64_t e = at - 20; e <= at + 20; e++)
                if (error_with(&a, (enum mase_quant_kind)k, copy, key, e, x) < best)
                    fail_msg("%s at 2^%d: %lld is worse than %lld", mase_quants[k]->name, octave,
                             (long long)at, (long long)e);
        }
        formats += config != NULL;
        mase_arena_release(&a);
    }
    assert_true(formats >= 8);
}

/* ---- scales ---- */

/* clamp(round(x / s), lo, hi) s */
static double scaled_error(const float *x, int64_t n, double s, double lo, double hi)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double c = rint((double)x[i] / s), d = (c < lo ? lo : c > hi ? hi : c) * s;
        sum += (d - (double)x[i]) * (d - (double)x[i]);
    }
    return sum / (double)n;
}

static void a_scale_is_near_the_best(void **state)
{
    float x[VALUES];
    (void)state;
    for (int width = 2; width <= 8; width++) {
        struct mase_arena a = { 0 };
        struct mase_cal_tensor t;
        struct mase_cal_fit fit;
        const double hi = ldexp(1, width - 1) - 1, lo = -hi - 1;
        double best = INFINITY;
        draw(x, VALUES, (uint64_t)width);
        x[0] = 9; /* far from the others */
        const struct mase_cal_values v = values_of(&t, x, VALUES, MASE_SIGNED);
        for (int i = 1; i <= 3000; i++)
            best = fmin(best, scaled_error(x, VALUES, i * 9.0 / 3000, lo, hi));
        const char *text =
            mase_arena_printf(&a, "name = \"int\"\nw_width = %d\nw_scale = \"auto\"\n", width);
        const double s = mase_value_get(found(&a, text, "mse", &v, &fit), "w_scale")->f;
        assert_true(scaled_error(x, VALUES, s, lo, hi) <= 1.01 * best);
        assert_true(fabs(fit.mse - scaled_error(x, VALUES, s, lo, hi)) <= 1e-4 * fit.mse);
        const double all = mase_value_get(found(&a, text, "minmax", &v, &fit), "w_scale")->f;
        assert_true(fabs(all - 9 / (hi > 0 ? hi : 1)) <= 1e-6 * all);
        assert_true(s < all || width == 8);
        const double most = mase_value_get(found(&a, text, "quantile", &v, &fit), "w_scale")->f;
        assert_true(most < all / 2 && fit.saturated > 0.001 && fit.saturated < 0.03);
        mase_arena_release(&a);
    }
}

/* Numbers 1 .. 3: half of a symmetric range would be wasted, and 0 stays a value. */
static void a_zero_point_uses_the_range(void **state)
{
    float x[VALUES];
    struct mase_arena a = { 0 };
    struct mase_cal_tensor t;
    struct mase_cal_fit both, one;
    (void)state;
    draw(x, VALUES, 1);
    for (int i = 0; i < VALUES; i++)
        x[i] = 2 + tanhf(x[i]);
    const struct mase_cal_values v = values_of(&t, x, VALUES, MASE_SIGNED);
    const struct mase_value *z = mase_value_get(
        found(&a, "name = \"int\"\nw_width = 6\nw_scale = \"auto\"\nw_zero_point = \"auto\"\n",
              "minmax", &v, &both),
        "w_zero_point");
    assert_int_equal(z->kind, MASE_INT);
    assert_int_equal(z->i, -32);
    assert_non_null(
        found(&a, "name = \"int\"\nw_width = 6\nw_scale = \"auto\"\n", "minmax", &v, &one));
    assert_true(both.mse < 0.3 * one.mse);
    z = mase_value_get(found(&a,
                             "name = \"int\"\nw_width = 6\nw_scale = 0.05\nw_zero_point = "
                             "\"auto\"\n",
                             "mse", &v, &one),
                       "w_zero_point");
    assert_int_equal(z->i, -32);
    mase_arena_release(&a);
}

static void a_scale_for_each_channel(void **state)
{
    enum { ROWS = 5, COLUMNS = 300 };
    float x[ROWS * COLUMNS];
    struct mase_arena a = { 0 };
    struct mase_cal_tensor t;
    struct mase_cal_fit fit;
    (void)state;
    draw(x, ROWS * COLUMNS, 2);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = ldexpf(x[i], i / COLUMNS);
    struct mase_cal_values v = values_of(&t, x, ROWS * COLUMNS, MASE_SIGNED);
    t.shape = (struct mase_shape){ 2, { ROWS, COLUMNS } };
    const struct mase_value *s = mase_value_get(
        found(&a, "name = \"int\"\nw_width = 4\nw_scale = \"auto\"\nw_axis = 0\n", "mse", &v, &fit),
        "w_scale");
    assert_int_equal(s->kind, MASE_LIST);
    assert_int_equal(s->count, ROWS);
    for (int r = 0; r < ROWS; r++) {
        struct mase_cal_tensor row;
        struct mase_cal_fit alone;
        const struct mase_cal_values own = values_of(&row, x + r * COLUMNS, COLUMNS, MASE_SIGNED);
        const struct mase_value *one = mase_value_get(
            found(&a, "name = \"int\"\nw_width = 4\nw_scale = \"auto\"\n", "mse", &own, &alone),
            "w_scale");
        assert_true(one->f == s->items[r]->f);
    }
    mase_arena_release(&a);
}

/* The scale of a whole tensor whose blocks have one, too. */
static void a_scale_above_those_of_blocks(void **state)
{
    float x[VALUES];
    struct mase_arena a = { 0 };
    struct mase_cal_tensor t;
    struct mase_cal_fit fit, plain;
    (void)state;
    draw(x, VALUES, 4);
    const struct mase_cal_values v = values_of(&t, x, VALUES, MASE_SIGNED);
    const struct mase_value *s =
        mase_value_get(found(&a, "name = \"nvfp4\"\nw_tensor_scale = \"auto\"\n", "mse", &v, &fit),
                       "w_tensor_scale");
    assert_true(s->f > 0);
    assert_non_null(found(&a, "name = \"nvfp4\"\nw_tensor_scale = 0.01\n", "mse", &v, &plain));
    assert_true(fit.mse <= plain.mse);
    mase_arena_release(&a);
}

/* Values of a bell and one far away: the bell decides. */
static void kl_lets_outliers_go(void **state)
{
    float x[VALUES];
    struct mase_arena a = { 0 };
    struct mase_cal_tensor t;
    struct mase_cal_fit fit;
    (void)state;
    draw(x, VALUES, 3);
    x[0] = 60;
    const struct mase_cal_values v = values_of(&t, x, VALUES, MASE_SIGNED);
    const char *text = "name = \"int\"\nw_width = 5\nw_scale = \"auto\"\n";
    assert_non_null(found(&a, text, "kl", &v, &fit));
    assert_true(fit.high > 2 && fit.high < 12);
    assert_non_null(
        found(&a, "name = \"integer\"\nw_width = 5\nw_frac_width = \"auto\"\n", "kl", &v, &fit));
    assert_true(fit.high > 1 && fit.high < 16);
    assert_null(found(&a,
                      "name = \"block_fp\"\nw_width = 5\nw_exponent_width = 4\nw_exponent_bias = "
                      "\"auto\"\nw_block_size = [16]\n",
                      "kl", &v, &fit));
    assert_non_null(strstr(err.msg, "kl is for formats that round each value for itself"));
    mase_arena_release(&a);
}

/* So few that each has a bin of its own: no format diverges, and all zeros would be as good. */
static void kl_of_few_values_is_their_error(void **state)
{
    static const char *const texts[] = {
        "name = \"integer\"\nw_width = 8\nw_frac_width = \"auto\"\n",
        "name = \"minifloat_denorm\"\nw_width = 8\nw_exponent_width = 4\nw_exponent_bias = "
        "\"auto\"\n",
    };
    (void)state;
    for (int n = 1; n < 40; n += 7)
        for (int k = 0; k < 2; k++) {
            float x[VALUES];
            struct mase_arena a = { 0 };
            struct mase_cal_tensor t;
            struct mase_cal_fit kl, mse;
            draw(x, n, (uint64_t)n);
            const struct mase_cal_values v = values_of(&t, x, n, MASE_SIGNED);
            assert_non_null(found(&a, texts[k], "kl", &v, &kl));
            assert_non_null(found(&a, texts[k], "mse", &v, &mse));
            assert_true(kl.saturated == 0 && kl.mse >= mse.mse);
            assert_true(kl.mse <= 16 * mse.mse + 1e-12); /* two bits at most */
            mase_arena_release(&a);
        }
}

/* What was nothing but zero on the rows that were looked at may be more on others. */
static void zeros_get_a_range_up_to_one(void **state)
{
    static const char *const methods[] = { "minmax", "quantile", "mse", "kl" };
    const float x[4] = { 0 };
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int sign = MASE_SIGNED; sign <= MASE_UNSIGNED; sign++) {
            struct mase_arena a = { 0 };
            struct mase_cal_tensor t;
            struct mase_cal_fit fit;
            const struct mase_cal_values v = values_of(&t, x, 4, (enum mase_sign)sign);
            const struct mase_value *c =
                found(&a, "name = \"integer\"\nw_width = 8\nw_frac_width = \"auto\"\n", methods[k],
                      &v, &fit);
            assert_int_equal(mase_value_get(c, "w_frac_width")->i, sign == MASE_SIGNED ? 6 : 7);
            mase_arena_release(&a);
        }
}

static void nothing_but_zeros_and_no_numbers(void **state)
{
    float x[4] = { 0 };
    struct mase_arena a = { 0 };
    struct mase_cal_tensor t;
    struct mase_cal_fit fit;
    (void)state;
    struct mase_cal_values v = values_of(&t, x, 4, MASE_SIGNED);
    static const char *const texts[] = {
        "name = \"int\"\nw_width = 4\nw_scale = \"auto\"\n",
        "name = \"int\"\nw_width = 4\nw_scale = \"auto\"\nw_zero_point = \"auto\"\n",
        "name = \"integer\"\nw_width = 4\nw_frac_width = \"auto\"\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *const *m = mase_calibrate_methods; *m; m++) {
            assert_non_null(found(&a, texts[i], *m, &v, &fit));
            assert_true(fit.mse == 0);
        }
    v.min = NAN;
    assert_null(found(&a, texts[0], "mse", &v, &fit));
    assert_non_null(strstr(err.msg, "some of its values are NaN or infinite"));
    mase_arena_release(&a);
}

/* ---- networks, and rows to run them on ---- */

struct table {
    const float *x;
    int64_t rows, features;
};

static enum mase_status count_rows(void *data, const char *split, int64_t *count,
                                   struct mase_err *e)
{
    (void)e;
    assert_string_equal(split, "train");
    *count = ((const struct table *)data)->rows;
    return MASE_OK;
}

static enum mase_status read_rows(void *data, const char *split, int64_t first, int64_t n, float *x,
                                  struct mase_err *e)
{
    const struct table *t = data;
    (void)split, (void)e;
    memcpy(x, t->x + first * t->features, (size_t)(n * t->features) * sizeof *x);
    return MASE_OK;
}

struct net {
    struct fixture f;
    struct table table;
    struct mase_samples samples;
};

static bool fill(const char *full, struct mase_param *p, void *data)
{
    (void)data;
    draw(mase_f32(&p->tensor), mase_tensor_count(&p->tensor), mase_rng_name(full));
    return true;
}

static void open_net(struct net *n, const char *text, struct mase_shape sample, int64_t rows)
{
    struct mase_graph *g;
    if (mase_graph_parse_mg(&g, text, strlen(text), "text", &err))
        fail_msg("%d: %s", err.loc.line, err.msg);
    mase_graph_alloc(g);
    mase_graph_each_param(g, fill, NULL);
    setup_graph(&n->f, g, sample);
    n->table = (struct table){ NULL, rows, mase_shape_count(&sample) };
    float *x = mase_new_array(&n->f.arena, float, (size_t)(rows * n->table.features));
    draw(x, rows * n->table.features, 9);
    n->table.x = x;
    n->samples = (struct mase_samples){ .count = count_rows, .read = read_rows, .data = &n->table };
    n->f.m.env.samples = &n->samples;
}

#define CALL(name, module, from) \
    "%" name " = call_module[target=" module "](args = (%" from ",), kwargs = {})\n"

static const char linear[] = "mase-graph 1\nname net\n\nmodule fc = Linear(8, 6)\n\n"
                             "%x = placeholder[target=x]\n" CALL("fc", "fc", "x") "return %fc\n";
static const char two[] = "mase-graph 1\nname net\n\nmodule a = Linear(6, 8)\nmodule r = ReLU()\n"
                          "module b = Linear(8, 4)\n\n"
                          "%x = placeholder[target=x]\n" CALL("a", "a", "x") CALL("r", "r", "a")
                              CALL("b", "b", "r") "return %b\n";

static const char convolutions[] =
    "mase-graph 1\nname net\n\nmodule a = Conv2d(2, 4, 3, padding=1)\nmodule r = ReLU()\n"
    "module p = MaxPool2d(2)\nmodule b = Conv2d(4, 3, 3, bias=False)\nmodule l = LeakyReLU(0.1)\n"
    "module fc = Linear(12, 5)\n\n%x = placeholder[target=x]\n" CALL("a", "a", "x")
        CALL("r", "r", "a") CALL("p", "p", "r") CALL("b", "b", "p")
            CALL("l", "l", "b") "%flat = call_function[target=torch.flatten](args = (%l, 1), "
                                "kwargs = {})\n" CALL("fc", "fc", "flat") "return %fc\n";

static struct mase_tensor *param(struct net *n, const char *path)
{
    return &mase_graph_attr(n->f.g, path)->tensor;
}

static struct mase_tensor npy(struct net *n, const char *name)
{
    struct mase_tensor t;
    MUST(&n->f,
         mase_npy_read(&t, &n->f.arena,
                       mase_arena_printf(&n->f.arena, DATA "/calibrate/%s.npy", name), &n->f.err));
    return t;
}

static void take(struct net *n, const char *path, const char *name)
{
    const struct mase_tensor t = npy(n, name);
    memcpy(param(n, path)->data, t.data, (size_t)mase_tensor_bytes(&t));
}

static const char told[] = "by = \"type\"\n[linear.config]\nname = \"integer\"\n"
                           "data_in_width = 4\ndata_in_frac_width = 0\nweight_width = 3\n"
                           "weight_frac_width = 2\nbias_width = 16\nbias_frac_width = 10\n";

/* ---- gptq and biases ---- */

static void gptq_is_numpys(void **state)
{
    struct net n;
    (void)state;
    open_net(&n, linear, (struct mase_shape){ 2, { 1, 8 } }, 96);
    const struct mase_tensor x = npy(&n, "x"), q = npy(&n, "q"), bias = npy(&n, "bias"),
                             errors = npy(&n, "errors");
    n.table.x = mase_f32(&x);
    take(&n, "fc.weight", "w");
    take(&n, "fc.bias", "b");
    RUN(&n.f, "quantize", told);
    RUN(&n.f, "gptq", NULL);
    const struct mase_tensor *w = param(&n, "fc.weight"), *b = param(&n, "fc.bias");
    assert_memory_equal(w->data, q.data, (size_t)mase_tensor_bytes(&q));
    for (int i = 0; i < 6; i++)
        assert_float_equal(mase_f32(b)[i], mase_f32(&bias)[i], 1e-5f);
    const struct mase_value *layer =
        mase_value_get(mase_value_get(n.f.m.env.info, "calibrate"), "layers")->items[0];
    const double nearest = mase_value_get(layer, "error_nearest")->f,
                 fitted = mase_value_get(layer, "error_gptq")->f;
    assert_float_equal((float)nearest, mase_f32(&errors)[0], 1e-4f);
    assert_float_equal((float)fitted, mase_f32(&errors)[1], 1e-4f);
    assert_true(fitted < 0.7 * nearest);
    const struct mase_value *note = mase_value_get(n.f.m.env.info, "gptq");
    assert_true(mase_value_get(note, "output_mse_after")->f <
                0.8 * mase_value_get(note, "output_mse_before")->f);
    FAILS(&n.f, "bias_correction", NULL, 0, 0, "the weights of fc are rounded already");
    teardown(&n.f);
}

/* Every weight stays a value of its row's format. */
static void weights_are_values_of_the_formats_of_their_channels(void **state)
{
    struct net n;
    (void)state;
    open_net(&n, two, (struct mase_shape){ 2, { 1, 6 } }, 300);
    RUN(&n.f, "quantize",
        "by = \"type\"\ndefault.config.name = \"NA\"\n[calibrate]\ngptq = true\nrows = 200\n"
        "[linear.config]\nname = \"int\"\ndata_in_width = 4\ndata_in_scale = \"auto\"\n"
        "weight_width = 3\nweight_scale = \"auto\"\nweight_axis = 0\nbias_width = 16\n"
        "bias_scale = \"auto\"\n");
    for (const char *const *m = (const char *const[]){ "a", "b", NULL }; *m; m++) {
        const struct mase_module *module = mase_graph_module(n.f.g, *m);
        const struct mase_tensor *w = &mase_module_param(module, "weight")->tensor;
        const struct mase_value *scale = module->quant->operand[MASE_WEIGHT]->config->items[1];
        const int64_t in = w->shape.dim[1];
        assert_int_equal(scale->count, w->shape.dim[0]);
        for (int64_t i = 0; i < mase_tensor_count(w); i++) {
            const float s = (float)scale->items[i / in]->f, c = mase_f32(w)[i] / s;
            assert_float_equal(c, rintf(c), 1e-4f);
            assert_true(rintf(c) >= -4 && rintf(c) <= 3);
        }
    }
    assert_int_equal(mase_value_get(mase_value_get(n.f.m.env.info, "calibrate"), "operands")->count,
                     6);
    teardown(&n.f);
}

/* What was pruned stays away. */
static void zeros_stay_zeros(void **state)
{
    struct net n;
    (void)state;
    open_net(&n, two, (struct mase_shape){ 2, { 1, 6 } }, 300);
    float *w = mase_f32(param(&n, "b.weight"));
    for (int i = 0; i < 32; i += 3)
        w[i] = 0;
    RUN(&n.f, "quantize", mase_arena_printf(&n.f.arena, "default.config.name = \"NA\"\n%s", told));
    RUN(&n.f, "gptq", "rows = 300\n");
    w = mase_f32(param(&n, "b.weight"));
    int others = 0;
    for (int i = 0; i < 32; i++) {
        assert_true(i % 3 || w[i] == 0);
        others += i % 3 && w[i] != 0;
    }
    assert_true(others > 15);
    teardown(&n.f);
}

/* The mean of every channel of a node on all rows. */
static void means(struct net *n, struct mase_graph *g, const char *node, double *mean, int count)
{
    struct mase_arena a = { 0 };
    struct mase_input in = n->f.dummy;
    struct mase_values v;
    in.tensor.shape.dim[0] = n->table.rows;
    in.tensor.data = (void *)n->table.x;
    if (mase_run_reference(&v, &a, g, &in, 1, &err))
        fail_msg("%s", err.msg);
    const struct mase_tensor *y = mase_values_get(&v, mase_graph_find(g, node))->tensor;
    for (int c = 0; c < count; c++)
        for (int64_t r = 0; r < n->table.rows; r++)
            mean[c] += (double)mase_f32(y)[r * count + c] / (double)n->table.rows;
    mase_arena_release(&a);
}

static void biases_make_up_for_means(void **state)
{
    double plain[8] = { 0 }, before[8] = { 0 }, after[8] = { 0 };
    struct net n;
    (void)state;
    open_net(&n, two, (struct mase_shape){ 2, { 1, 6 } }, 400);
    means(&n, n.f.g, "a", plain, 8);
    RUN(&n.f, "quantize", mase_arena_printf(&n.f.arena, "default.config.name = \"NA\"\n%s", told));
    means(&n, n.f.g, "a", before, 8);
    RUN(&n.f, "bias_correction", NULL);
    means(&n, n.f.g, "a", after, 8);
    double apart = 0;
    for (int c = 0; c < 8; c++) {
        apart = fmax(apart, fabs(before[c] - plain[c]));
        assert_true(fabs(after[c] - plain[c]) < 1e-3); /* half a step of the bias */
    }
    assert_true(apart > 0.01);
    assert_non_null(strstr(printed(&n.f), "mean squared error against float"));
    teardown(&n.f);
}

/* The mean of one channel of a convolution over samples and places. */
static double channel_mean(struct net *n, struct mase_graph *g, const char *node, int64_t channel)
{
    struct mase_arena a = { 0 };
    struct mase_input in = n->f.dummy;
    struct mase_values v;
    double sum = 0;
    in.tensor.shape.dim[0] = n->table.rows;
    in.tensor.data = (void *)n->table.x;
    if (mase_run_reference(&v, &a, g, &in, 1, &err))
        fail_msg("%s", err.msg);
    const struct mase_tensor *y = mase_values_get(&v, mase_graph_find(g, node))->tensor;
    const struct mase_axis at = mase_axis_of(&y->shape, 1);
    for (int64_t o = 0; o < at.outer; o++)
        for (int64_t i = 0; i < at.inner; i++)
            sum += (double)mase_f32(y)[(o * at.len + channel) * at.inner + i];
    mase_arena_release(&a);
    return sum / (double)(at.outer * at.inner);
}

/* A convolution without a bias gets one, and each channel of its weight has a scale. */
static void convolutions_too(void **state)
{
    struct net n;
    (void)state;
    open_net(&n, convolutions, (struct mase_shape){ 4, { 1, 2, 8, 8 } }, 24);
    struct mase_graph *plain = mase_graph_clone(n.f.g);
    mase_graph_own_weights(plain);
    RUN(&n.f, "quantize",
        "by = \"type\"\ndefault.config.name = \"NA\"\n[calibrate]\nbias_correction = true\n"
        "rows = 24\n[conv2d.config]\nname = \"int\"\ndata_in_width = 3\ndata_in_scale = \"auto\"\n"
        "weight_width = 3\nweight_scale = \"auto\"\nweight_axis = 0\nbias_width = 24\n"
        "bias_scale = \"auto\"\n");
    const struct mase_module *m = mase_graph_module(n.f.g, "b");
    assert_non_null(mase_module_param(m, "bias"));
    assert_int_equal(m->quant->operand[MASE_WEIGHT]->config->items[1]->count, 3);
    for (int64_t c = 0; c < 3; c++) {
        const double want = channel_mean(&n, plain, "b", c), has = channel_mean(&n, n.f.g, "b", c);
        assert_true(fabs(want - has) < 1e-4 * fmax(1, fabs(want)));
    }
    mase_graph_free(plain);
    teardown(&n.f);
}

/* ---- keeping ---- */

static void what_a_network_has_is_kept(void **state)
{
    static const char text[] = "by = \"type\"\ndefault.config.name = \"NA\"\n%s[linear.config]\n"
                               "name = \"integer\"\ndata_in_width = 6\ndata_in_frac_width = %s\n"
                               "weight_width = 5\nweight_frac_width = %s\nbias_width = 8\n"
                               "bias_frac_width = 4\n";
    struct net n;
    (void)state;
    open_net(&n, two, (struct mase_shape){ 2, { 1, 6 } }, 100);
    struct mase_arena *a = &n.f.arena;
    RUN(&n.f, "quantize", mase_arena_printf(a, text, "", "1", "0"));
    const struct mase_format *was = mase_graph_module(n.f.g, "a")->quant->operand[MASE_WEIGHT];
    n.f.m.env.samples = NULL; /* nothing needs to be run */
    RUN(&n.f, "quantize", mase_arena_printf(a, text, "", "\"auto\"", "\"auto\""));
    assert_ptr_equal(mase_graph_module(n.f.g, "a")->quant->operand[MASE_WEIGHT], was);
    n.f.m.env.samples = &n.samples;
    RUN(&n.f, "quantize",
        mase_arena_printf(a, text, "calibrate.keep = false\n", "\"auto\"", "\"auto\""));
    assert_ptr_not_equal(mase_graph_module(n.f.g, "a")->quant->operand[MASE_WEIGHT], was);
    teardown(&n.f);
}

/* ---- equalising ---- */

static double largest(const struct mase_tensor *w, int64_t first, int64_t step, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)mase_f32(w)[first + i * step]));
    return most;
}

static void equalised_channels_have_one_range(void **state)
{
    struct net n;
    (void)state;
    open_net(&n, two, (struct mase_shape){ 2, { 1, 6 } }, 10);
    for (int i = 0; i < 6; i++)
        mase_f32(param(&n, "a.weight"))[i] *= 100;
    RUN(&n.f, "equalise", NULL);
    for (int c = 0; c < 8; c++)
        assert_float_equal((float)largest(param(&n, "a.weight"), c * 6, 1, 6),
                           (float)largest(param(&n, "b.weight"), c, 8, 4), 1e-4f);
    const struct mase_value *note = mase_value_get(n.f.m.env.info, "equalise");
    assert_int_equal(mase_value_get(note, "changed")->i, 1);
    assert_true(mase_value_get(note, "largest_change")->f <
                1e-5 * mase_value_get(note, "largest_output")->f);
    teardown(&n.f);
}

static void powers_of_two_keep_every_bit(void **state)
{
    struct net n;
    (void)state;
    open_net(&n, convolutions, (struct mase_shape){ 4, { 1, 2, 8, 8 } }, 10);
    for (int64_t i = 0; i < mase_tensor_count(param(&n, "fc.weight")); i++)
        mase_f32(param(&n, "fc.weight"))[i] *= 1000;
    struct mase_graph *before = mase_graph_clone(n.f.g);
    RUN(&n.f, "equalise", "power_of_two = true\n");
    const struct mase_value *note = mase_value_get(n.f.m.env.info, "equalise");
    assert_int_equal(mase_value_get(note, "changed")->i, 2);
    assert_true(mase_value_get(note, "largest_change")->f == 0);
    assert_true(mase_value_get(note, "largest_output")->f > 0);
    /* the old weights are still those of a copy */
    const struct mase_tensor *old = &mase_graph_attr(before, "fc.weight")->tensor;
    assert_true(fabsf(mase_f32(param(&n, "fc.weight"))[0]) < fabsf(mase_f32(old)[0]) / 4);
    mase_graph_free(before);
    teardown(&n.f);
}

/* ---- what is refused ---- */

static void mistakes_are_told(void **state)
{
    static const char *const section = "by = \"type\"\ndefault.config.name = \"NA\"\n%s"
                                       "[linear.config]\nname = \"integer\"\ndata_in_width = %s\n"
                                       "data_in_frac_width = \"auto\"\nweight_width = 8\n"
                                       "weight_frac_width = 4\nbias_width = 8\n"
                                       "bias_frac_width = 4\n";
    struct net n;
    (void)state;
    open_net(&n, two, (struct mase_shape){ 2, { 1, 6 } }, 20);
    struct mase_arena *a = &n.f.arena;
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "", "\"auto\""), 5, 17,
          "data_in_width cannot be \"auto\": of integer only frac_width can be calibrated");
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "calibrate.method = \"best\"\n", "8"), 3,
          20, "method");
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "calibrate.rows = 0\n", "8"), 3, 18,
          "rows");
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "calibrate.quantile = 2\n", "8"), 3, 22,
          "quantile");
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "calibrate = 3\n", "8"), 3, 13,
          "calibrate must be a table");
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "calibrate.row = 3\n", "8"), 3, 11,
          "row");
    FAILS(&n.f, "gptq", NULL, 0, 0, "the network has no number formats");
    n.table.rows = 0;
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "", "8"), 1, 1, "has no samples");
    n.f.m.env.samples = NULL;
    FAILS(&n.f, "quantize", mase_arena_printf(a, section, "", "8"), 6, 22,
          "data_in_frac_width = \"auto\" is to be found on samples of a dataset");
    n.f.m.env.dry_run = true; /* the rest is right */
    RUN(&n.f, "quantize", mase_arena_printf(a, section, "", "8"));
    teardown(&n.f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fraction_is_the_best_of_all),
        cmocka_unit_test(exponents_of_every_format),
        cmocka_unit_test(a_scale_is_near_the_best),
        cmocka_unit_test(a_zero_point_uses_the_range),
        cmocka_unit_test(a_scale_for_each_channel),
        cmocka_unit_test(a_scale_above_those_of_blocks),
        cmocka_unit_test(kl_lets_outliers_go),
        cmocka_unit_test(kl_of_few_values_is_their_error),
        cmocka_unit_test(zeros_get_a_range_up_to_one),
        cmocka_unit_test(nothing_but_zeros_and_no_numbers),
        cmocka_unit_test(gptq_is_numpys),
        cmocka_unit_test(weights_are_values_of_the_formats_of_their_channels),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(biases_make_up_for_means),
        cmocka_unit_test(convolutions_too),
        cmocka_unit_test(what_a_network_has_is_kept),
        cmocka_unit_test(equalised_channels_have_one_range),
        cmocka_unit_test(powers_of_two_keep_every_bit),
        cmocka_unit_test(mistakes_are_told),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
