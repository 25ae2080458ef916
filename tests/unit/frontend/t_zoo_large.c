/*
 * t_zoo_large.c - the models too large to store: weights that both sides compute, outputs recorded
 * from PyTorch and torchvision in double precision (data/models/generate.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include <mase/npy.h>
#include <mase/rng.h>
#include <mase/run.h>
#include <mase/zoo.h>

#include "run_cases.h"

#define MODELS MASE_SOURCE_DIR "/tests/data/models/"

/* Number i of the stream of a name, in [0, 1): splitmix64. */
static double unit(uint64_t seed, int64_t i)
{
    uint64_t z = seed + ((uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 40) / (1 << 24);
}

static double scaled(const char *name, const struct mase_tensor *t, double u)
{
    if (mase_streq(name, "input"))
        return 2 * u - 1;
    if (t->shape.rank >= 2) {
        const int64_t inputs = mase_tensor_count(t) / t->shape.dim[0];
        return (2 * u - 1) * sqrt(6.0 / (double)inputs);
    }
    if (mase_ends_with(name, "weight") || mase_ends_with(name, "running_var"))
        return 0.5 + u;
    return 0.1 * (2 * u - 1);
}

static void fill(struct mase_tensor *t, const char *name)
{
    const uint64_t seed = mase_rng_name(name); /* FNV-1a */
    const int64_t n = mase_tensor_count(t);
    for (int64_t i = 0; i < n; i++)
        mase_tensor_set(t, i, t->dtype == MASE_I64 ? 1 : scaled(name, t, unit(seed, i)));
}

static bool fill_param(const char *full, struct mase_param *p, void *data)
{
    (void)data;
    fill(&p->tensor, full);
    return true;
}

/* Largest difference, relative to the largest expected value: what cancels in one output was added
 * up from terms of that size. */
static double deviation(const struct mase_tensor *t, const struct mase_tensor *expected)
{
    double worst = 0, largest = 0;
    assert_true(mase_shape_equal(&t->shape, &expected->shape));
    for (int64_t i = 0; i < mase_tensor_count(t); i++) {
        const double e = mase_tensor_get(expected, i), d = fabs(mase_tensor_get(t, i) - e);
        worst = d > worst || isnan(d) ? d : worst;
        largest = fmax(largest, fabs(e));
    }
    return worst / largest;
}

static void check(const char *model, const char *dataset, struct mase_shape shape)
{
    const struct mase_model *m = NULL;
    const struct mase_data_info *data = NULL;
    struct mase_graph *g = NULL;
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_tensor y;
    struct mase_err err;
    char path[256];
    if (mase_zoo_find(&m, model, &err) || mase_data_find(&data, dataset, &err) ||
        m->build(&g, data, &err))
        fail_msg("%s", err.msg);
    mase_graph_alloc(g);
    mase_graph_each_param(g, fill_param, NULL);
    struct mase_input in = { "x", mase_tensor(&a, MASE_F32, &shape, true) };
    fill(&in.tensor, "input");
    snprintf(path, sizeof path, MODELS "%s/y.npy", model);
    if (mase_npy_read(&y, &a, path, &err) || mase_run_reference(&v, &a, g, &in, 1, &err))
        fail_msg("%s: %s", model, err.msg);
    const double d = deviation(mase_run_output(&v, g)->tensor, &y);
    if (!(d <= 1e-5))
        fail_msg("%s: off by %g of the largest output", model, d);
    mase_graph_free(g);
    mase_arena_release(&a);
}

static void vgg7(void **state)
{
    (void)state;
    check("vgg7", "cifar10", (struct mase_shape){ 4, { 1, 3, 32, 32 } });
}

static void lutnet(void **state)
{
    (void)state;
    check("lfc", "mnist", (struct mase_shape){ 4, { 4, 1, 28, 28 } });
    check("cnv", "cifar10", (struct mase_shape){ 4, { 2, 3, 32, 32 } });
}

static void resnets(void **state)
{
    (void)state;
    check("resnet18", "imagenet", (struct mase_shape){ 4, { 2, 3, 32, 32 } });
    check("resnet34", "imagenet", (struct mase_shape){ 4, { 2, 3, 32, 32 } });
    check("resnet50", "imagenet", (struct mase_shape){ 4, { 2, 3, 32, 32 } });
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vgg7),
        cmocka_unit_test(lutnet),
        cmocka_unit_test(resnets),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
