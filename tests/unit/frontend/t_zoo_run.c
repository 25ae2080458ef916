/*
 * t_zoo_run.c - the models compute what PyTorch computes: recorded weights and inputs of the
 * original's runs in, recorded outputs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include <mase/npy.h>
#include <mase/run.h>
#include <mase/safetensors.h>
#include <mase/zoo.h>

#include "run_cases.h"
#include "zoo_extra.h"

#define MODELS MASE_SOURCE_DIR "/tests/data/models/"

static struct mase_tensor read(struct mase_arena *a, const char *model, const char *file)
{
    struct mase_tensor t;
    struct mase_err err;
    char path[256];
    snprintf(path, sizeof path, MODELS "%s/%s", model, file);
    if (mase_npy_read(&t, a, path, &err))
        fail_msg("%s: %s", path, err.msg);
    return t;
}

/* Largest difference, relative to max(1, |expected|). */
static double deviation(const struct mase_tensor *t, const struct mase_tensor *expected)
{
    double worst = 0;
    assert_true(mase_shape_equal(&t->shape, &expected->shape));
    for (int64_t i = 0; i < mase_tensor_count(t); i++) {
        const double e = mase_tensor_get(expected, i);
        const double d = fabs(mase_tensor_get(t, i) - e) / fmax(1, fabs(e));
        worst = d > worst || isnan(d) ? d : worst;
    }
    return worst;
}

static void check(const char *model, struct mase_graph *g)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_err err;
    char path[256];
    snprintf(path, sizeof path, MODELS "%s/model.safetensors", model);
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 0); /* the constants that are in no state dict */
    if (mase_weights_load(g, path, &err))
        fail_msg("%s: %s", path, err.msg);
    const struct mase_input in = { "x", read(&a, model, "x.npy") };
    if (mase_run_reference(&v, &a, g, &in, 1, &err))
        fail_msg("%s: %s", model, err.msg);
    const struct mase_arg *out = mase_run_output(&v, g);
    const struct mase_tensor y = read(&a, model, "y.npy");
    assert_int_equal(out->kind, MASE_ARG_TENSOR);
    const double d = deviation(out->tensor, &y);
    if (!(d <= 1e-5))
        fail_msg("%s: off by %g", model, d);
    mase_graph_free(g);
    mase_arena_release(&a);
}

static struct mase_graph *build(const char *name, const struct mase_data_info *data)
{
    const struct mase_model *m = NULL;
    struct mase_graph *g = NULL;
    struct mase_err err;
    if (mase_zoo_find(&m, name, &err) || m->build(&g, data, &err))
        fail_msg("%s", err.msg);
    return g;
}

static void physical(void **state)
{
    (void)state;
    static const char *const names[] = { "jsc-tiny", "jsc-toy", "jsc-s", "jsc-test" };
    const struct mase_data_info jsc = {
        .name = "jsc", .sample = { 1, { 16 } }, .classes = 5, .help = ""
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check(names[i], build(names[i], &jsc));
}

static void toys(void **state)
{
    (void)state;
    const struct mase_data_info ten = {
        .name = "small", .sample = { 3, { 1, 4, 4 } }, .classes = 10, .help = ""
    };
    const struct mase_data_info two = {
        .name = "small", .sample = { 3, { 1, 4, 4 } }, .classes = 2, .help = ""
    };
    check("toy", build("toy", &ten));
    check("toy_tiny", build("toy_tiny", &two));
}

static void extra(void **state)
{
    (void)state;
    for (const struct extra_model *m = extra_models; m->name; m++)
        check(m->name, m->build(&m->data));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(physical),
        cmocka_unit_test(toys),
        cmocka_unit_test(extra),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
