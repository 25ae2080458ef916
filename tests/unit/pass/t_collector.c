/*
 * t_collector.c - values watched while a plan runs, and their statistics by kernels: the same as of
 * the values one by one, and the same bits with any number of threads and on any instruction set.
 */
#include <math.h>

#include <mase/plan.h>
#include <mase/rng.h>

#include "fixture.h"
#include "kern/kern.h"
#include "pass/analysis/collector.h"
#include "run_cases.h"

static struct mase_plan *plan_of(struct fixture *f, int64_t batch, int threads)
{
    struct mase_plan *p;
    const struct mase_plan_opts opts = {
        .batch = batch, .threads = threads, .inputs = &f->dummy, .input_count = 1
    };
    MUST(f, mase_plan_new(&p, f->g, &opts, &f->err));
    return p;
}

/* ---- watching ---- */

struct copy {
    float *x; // (samples, rows)
    int64_t samples;
    int items; /* each of them once */
};

static void copy_lanes(void *data, const struct mase_lanes *v, long from, long to)
{
    struct copy *c = data;
    assert_true(from % 64 == 0 && from < to && to <= c->samples);
    for (long i = from; i < to; i++)
        for (int64_t r = 0; r < v->rows; r++)
            c->x[i * v->rows + r] = v->data[r * v->stride + i];
}

static void count_items(void *data, const struct mase_lanes *v, long from, long to)
{
    (void)v;
    struct copy *c = data;
    for (long i = from; i < to; i++) {
#pragma omp atomic
        c->items += 1 << i;
    }
}

/* Every value, as the reference has it when the network is through. */
static void check_watching(struct fixture *f, int threads)
{
    struct mase_plan *p = plan_of(f, BATCH, threads);
    struct copy *copies = mase_new_array(&f->arena, struct copy, (size_t)f->g->node_count);
    struct mase_values values;
    struct mase_input x = f->dummy;
    int i = 0;
    x.tensor.data = f->x.data;
    MUST(f, mase_run_reference(&values, &f->arena, f->g, &x, 1, &f->err));
    for (const struct mase_node *n = f->g->first; n->kind != MASE_OUTPUT; n = n->next, i++) {
        const struct mase_tensor *want = mase_values_get(&values, n)->tensor;
        struct mase_shape shape;
        copies[i].samples = BATCH;
        copies[i].x = mase_new_array(&f->arena, float, (size_t)mase_tensor_count(want));
        const struct mase_watch w = { n, copy_lanes, count_items, 3, &copies[i] };
        assert_true(mase_plan_watch(p, &w, &shape));
        assert_int_equal(mase_shape_count(&shape) * BATCH, mase_tensor_count(want));
    }
    mase_plan_gather(p, mase_f32(&f->x), mase_plan_input(p, 0).rows, NULL, BATCH);
    MUST(f, mase_plan_forward(p, &f->err));
    i = 0;
    for (const struct mase_node *n = f->g->first; n->kind != MASE_OUTPUT; n = n->next, i++) {
        const struct mase_tensor *want = mase_values_get(&values, n)->tensor;
        assert_int_equal(copies[i].items, 7);
        for (int64_t k = 0; k < mase_tensor_count(want); k++) {
            const float w = mase_f32(want)[k];
            if (!(fabsf(w - copies[i].x[k]) <= 1e-5f * fmaxf(1, fabsf(w))))
                fail_msg("%s[%d]: %g, expected %g", n->name, (int)k, copies[i].x[k], w);
        }
    }
    mase_plan_free(p);
}

static void every_value_is_shown(void **state)
{
    (void)state;
    static const char *const models[] = { "jsc-tiny", "jsc-s", "conv_bn", "res_mlp" };
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        setup(&f, models[i]);
        check_watching(&f, 1);
        check_watching(&f, 2 + i % 2 * 2);
        RUN(&f, "quantize",
            "by = 'type'\ndefault.config.name = 'integer'\ndefault.config.data_in_width = 8\n"
            "default.config.data_in_frac_width = 4\ndefault.config.weight_width = 8\n"
            "default.config.weight_frac_width = 4\ndefault.config.bias_width = 8\n"
            "default.config.bias_frac_width = 4\n");
        check_watching(&f, 1);
        teardown(&f);
    }
}

static struct mase_graph *parse(const char *text)
{
    struct mase_graph *g;
    struct mase_err err;
    if (mase_graph_parse_mg(&g, text, strlen(text), "text", &err))
        fail_msg("%d: %s", err.loc.line, err.msg);
    return g;
}

/* fc is read by a relu that writes into it, and by an addition after it. */
static void values_written_into_are_seen_as_they_end(void **state)
{
    (void)state;
    static const char text[] =
        "mase-graph 1\n\nmodule relu = ReLU(inplace=True)\nmodule fc = Linear(in_features=4, "
        "out_features=4)\n\n%x : f32[1, 4] = placeholder[target=x]\n"
        "%fc : f32[1, 4] = call_module[target=fc](args = (%x,), kwargs = {})\n"
        "%relu : f32[1, 4] = call_module[target=relu](args = (%fc,), kwargs = {})\n"
        "%add : f32[1, 4] = call_function[target=operator.add](args = (%fc, %relu), kwargs = {})\n"
        "return %add\n";
    struct fixture f;
    float rows[BATCH * 4];
    setup_graph(&f, parse(text), (struct mase_shape){ 2, { BATCH, 4 } });
    mase_graph_alloc(f.g);
    mase_graph_init_weights(f.g, 0);
    for (int i = 0; i < BATCH * 4; i++)
        rows[i] = (float)(i - 10);
    f.x.data = rows;
    check_watching(&f, 1);
    teardown(&f);
}

/* ---- statistics ---- */

enum { SAMPLES = 330, PLAN_BATCH = 136 };

/* Name and arguments of each. */
static const char *const wanted[][2] = {
    { "range_min_max", "" },
    { "range_min_max", "abs = true" },
    { "range_min_max", "dims = 'NA'" },
    { "range_min_max", "dims = 'NA'\nabs = true" },
    { "variance_online", "" },
    { "variance_online", "exact = true" },
    { "variance_online", "dims = 'NA'" },
    { "variance_precise", "" },
    { "variance_precise", "dims = [1]" },
    { "range_n_sigma", "" },
    { "range_n_sigma", "abs = true\nvar_mode = 'precise'" },
    { "abs_mean", "" },
    { "abs_mean", "dims = [0]" },
    { "histogram", "" },
    { "histogram", "bins = 7" },
    { "histogram", "bins = 100" },
    { "histogram", "dims = 'NA'\nbins = 64" },
    { "histogram", "abs = true" },
    { "histogram", "min = -1" },
    { "histogram", "min = -1\nmax = 1.5" },
    { "range_quantile", "" },
    { "sparsity", "threshold = 0.25" },
    { "record", "" },
    { "sqnr", "format_width = 8\nformat_frac_width = 4" },
};
enum { WANTED = sizeof wanted / sizeof wanted[0] };

/* What the samples are like: a normal value r becomes this at position i. */
static float plain_value(float r, int i)
{
    (void)i;
    return r;
}

static float far_from_zero(float r, int i)
{
    return 1000 + (float)(i % 3) + r;
}

static float like_a_relu(float r, int i)
{
    (void)i;
    return r > 0 ? r : 0;
}

static float multiples(float r, int i)
{
    (void)i;
    return rintf(r * 8) / 8;
}

static float all_alike(float r, int i)
{
    (void)r, (void)i;
    return 0.3f;
}

static float zeros_of_both_signs(float r, int i)
{
    (void)i;
    return r > 0 ? 0.0f : -0.0f;
}

static float huge(float r, int i)
{
    (void)i;
    return r * 1e30f;
}

static float tiny(float r, int i)
{
    (void)i;
    return r * 1e-30f;
}

static float with_nan(float r, int i)
{
    return i == 1000 ? NAN : r;
}

static float with_infinities(float r, int i)
{
    return i == 3 ? INFINITY : i == 1001 ? -INFINITY : r;
}

static float (*const kinds[])(float, int) = {
    plain_value,         far_from_zero, like_a_relu, multiples, all_alike,
    zeros_of_both_signs, huge,          tiny,        with_nan,  with_infinities,
};

static struct mase_stat **make_stats(struct fixture *f)
{
    struct mase_stat **s = mase_new_array(&f->arena, struct mase_stat *, WANTED);
    for (int i = 0; i < WANTED; i++)
        MUST(f, mase_stat_new(&s[i], &f->arena, wanted[i][0], MASE_NOWHERE, toml(f, wanted[i][1]),
                              NULL, &f->err));
    return s;
}

/* All samples at once, value by value. */
static struct mase_stat **measure_plainly(struct fixture *f, int64_t elements)
{
    struct mase_stat **s = make_stats(f);
    const struct mase_stat_block b = { .data = mase_f32(&f->x),
                                       .shape = { 2, { 1, elements } },
                                       .samples = SAMPLES,
                                       .element_stride = 1,
                                       .sample_stride = elements,
                                       .total = SAMPLES };
    for (int i = 0; i < WANTED; i++)
        for (int round = 0; round < mase_stat_rounds(s[i]); round++) {
            MUST(f, mase_stat_feed(s[i], &b, &f->err));
            mase_stat_end_round(s[i]);
        }
    return s;
}

/* By batches, the last of which is smaller, while a plan runs. */
static struct mase_stat **measure_by_collector(struct fixture *f, int64_t elements, int threads)
{
    struct mase_stat **s = make_stats(f);
    struct mase_plan *p = plan_of(f, PLAN_BATCH, threads);
    struct mase_collector *g;
    MUST(f, mase_collector_new(&g, &f->arena, p, f->g->first, s, WANTED, SAMPLES, &f->err));
    assert_non_null(g);
    for (int round = 0; round < 2; round++) {
        for (int64_t at = 0; at < SAMPLES; at += PLAN_BATCH) {
            const int64_t n = SAMPLES - at < PLAN_BATCH ? SAMPLES - at : PLAN_BATCH;
            mase_collector_expect(g, n);
            mase_plan_gather(p, mase_f32(&f->x) + at * elements, elements, NULL, n);
            MUST(f, mase_plan_forward(p, &f->err));
        }
        mase_collector_end_round(g);
    }
    mase_plan_free(p);
    return s;
}

static void assert_same(const char *where, const struct mase_value *want,
                        const struct mase_value *got, double tolerance)
{
    assert_int_equal(want->kind, got->kind);
    if (want->kind == MASE_INT)
        assert_int_equal(want->i, got->i);
    if (want->kind == MASE_FLOAT && !(isnan(want->f) && isnan(got->f)) && want->f != got->f &&
        !(fabs(want->f - got->f) <= tolerance * fabs(want->f)))
        fail_msg("%s: %.9g, expected %.9g", where, got->f, want->f);
    if (want->kind == MASE_FLOAT && tolerance == 0)
        assert_int_equal(signbit(want->f), signbit(got->f));
    if (want->kind != MASE_LIST && want->kind != MASE_TABLE)
        return;
    assert_int_equal(want->count, got->count);
    for (int i = 0; i < want->count; i++)
        assert_same(where, want->items[i], got->items[i], tolerance);
}

static void compare(struct fixture *f, struct mase_stat **want, struct mase_stat **got, int kind,
                    double tolerance)
{
    for (int i = 0; i < WANTED; i++) {
        const char *where =
            mase_arena_printf(&f->arena, "samples %d: %s (%s)", kind, wanted[i][0], wanted[i][1]);
        assert_same(where, mase_stat_result(want[i], &f->arena),
                    mase_stat_result(got[i], &f->arena), tolerance);
    }
}

static void setup_samples(struct fixture *f, int64_t elements, int kind)
{
    static const char text[] = "mase-graph 1\n\nmodule relu = ReLU()\n\n"
                               "%%x : f32[1, %d] = placeholder[target=x]\n"
                               "%%relu : f32[1, %d] = call_module[target=relu](args = (%%x,), "
                               "kwargs = {})\nreturn %%relu\n";
    char network[512];
    struct mase_rng r = mase_rng(7, MASE_STREAM_TEST, (uint64_t)kind);
    snprintf(network, sizeof network, text, (int)elements, (int)elements);
    setup_graph(f, parse(network), (struct mase_shape){ 2, { SAMPLES, elements } });
    f->x = mase_tensor(&f->arena, MASE_F32, &f->x.shape, true);
    for (int i = 0; i < SAMPLES * elements; i++)
        mase_f32(&f->x)[i] = kinds[kind](mase_rng_range(&r, -1, 2), i);
}

/* Close to the plain statistics; the same bits however they are measured. */
static void check_kind(int64_t elements, int kind, int threads)
{
    struct fixture f;
    setup_samples(&f, elements, kind);
    struct mase_stat **first = measure_by_collector(&f, elements, 1);
    compare(&f, measure_plainly(&f, elements), first, kind, 2e-6);
    if (threads > 1)
        compare(&f, first, measure_by_collector(&f, elements, threads), kind, 0);
    for (int isa = 0; isa < MASE_ISA_COUNT; isa++)
        if (mase_isa_supported((enum mase_isa)isa)) {
            setenv("MASE_ISA", mase_isa_names[isa], 1);
            compare(&f, first, measure_by_collector(&f, elements, 1), kind, 0);
        }
    unsetenv("MASE_ISA");
    teardown(&f);
}

static void kernels_measure_as_the_plain_statistics(void **state)
{
    (void)state;
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof kinds[0]); kind++)
        check_kind(5, kind, 1);
    check_kind(1, 0, 1);
    check_kind(70, 0, 2);
    check_kind(70, 8, 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_shown),
        cmocka_unit_test(values_written_into_are_seen_as_they_end),
        cmocka_unit_test(kernels_measure_as_the_plain_statistics),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
