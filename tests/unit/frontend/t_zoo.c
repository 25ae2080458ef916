/*
 * t_zoo.c - the models: parameter counts, and graph text and layers as torch.fx and PyTorch print
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/file.h>
#include <mase/zoo.h>

#include "run_cases.h"
#include "zoo_extra.h"

#define GRAPHS MASE_SOURCE_DIR "/tests/data/graphs/"

static struct mase_graph *build_on(const char *name, const struct mase_data_info *data)
{
    const struct mase_model *m = NULL;
    struct mase_graph *g = NULL;
    struct mase_err err;
    if (mase_zoo_find(&m, name, &err) || m->build(&g, data, &err))
        fail_msg("%s", err.msg);
    return g;
}

static struct mase_graph *build(const char *name, const char *dataset)
{
    const struct mase_data_info *data = NULL;
    struct mase_err err;
    assert_int_equal(mase_data_find(&data, dataset, &err), MASE_OK);
    return build_on(name, data);
}

/* ---- the table ---- */

static void rows_are_complete(void **state)
{
    (void)state;
    for (const struct mase_model *m = mase_zoo; m->name; m++) {
        const struct mase_model *found = NULL;
        struct mase_err err;
        assert_int_equal(mase_zoo_find(&found, m->name, &err), MASE_OK);
        assert_ptr_equal(found, m); /* no name comes twice */
        assert_true(m->task && m->help && m->build);
        struct mase_graph *g = build(m->name, m->dataset);
        struct mase_str faults = { 0 };
        assert_string_equal(g->name, m->name);
        if (mase_graph_verify(g, &faults))
            fail_msg("%s: %s", m->name, mase_str_text(&faults));
        mase_str_release(&faults);
        mase_graph_free(g);
    }
}

static void parameter_counts(void **state)
{
    (void)state;
    static const struct {
        const char *model, *dataset;
        int64_t count;
    } rows[] = {
        { "jsc-tiny", "jsc", 117 },
        { "jsc-tiny-127", "jsc", 127 },
        { "jsc-toy", "jsc", 327 },
        { "jsc-s", "jsc", 5615 },
        { "jsc-test", "jsc", 11015 },
        { "jsc-three-linear", "jsc", 661 },
        { "toy", "toy_tiny", 130 },
        { "toy", "mnist", 6442 },
        { "toy", "cifar10", 24746 },
        { "toy_tiny", "toy_tiny", 16 }, /* 10 of them in layers that are called */
        { "toy_convnet", "cifar10", 9818 },
        { "vgg7", "cifar10", 14029450 },
        { "lfc", "mnist", 402974 },
        { "cnv", "cifar10", 1548638 },
        { "resnet18", "imagenet", 11689512 },
        { "resnet18", "cifar10", 11181642 },
        { "resnet34", "imagenet", 21797672 },
        { "resnet50", "imagenet", 25557032 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mase_graph *g = build(rows[i].model, rows[i].dataset);
        assert_int_equal(mase_graph_param_count(g), rows[i].count);
        mase_graph_free(g);
    }
}

static void uncalled_layers_can_go(void **state)
{
    (void)state;
    struct mase_graph *g = build("toy_tiny", "toy_tiny");
    assert_int_equal(mase_graph_sweep(g), 2);
    assert_int_equal(mase_graph_param_count(g), 10);
    mase_graph_free(g);
}

static void refuse(const char *model, const char *dataset, const char *message)
{
    const struct mase_model *m = NULL;
    const struct mase_data_info *data = NULL;
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    enum mase_status st = mase_zoo_find(&m, model, &err);
    if (!st) {
        assert_int_equal(mase_data_find(&data, dataset, &err), MASE_OK);
        st = m->build(&g, data, &err);
    }
    assert_int_equal(st, MASE_EVALUE);
    assert_null(g);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
}

static void refusals(void **state)
{
    (void)state;
    refuse("jsc-tinny", "jsc", "there is no model 'jsc-tinny'; is 'jsc-tiny' meant?");
    refuse("jsc_s", "mnist",
           "model jsc-s takes one row of features, but a sample of mnist is [1, 28, 28]");
    refuse("resnet50", "jsc", "takes images of 3 dimensions, but a sample of jsc is [16]");
    refuse("vgg7", "mnist", "model vgg7 takes images of 32 x 32, but a sample of mnist is");
    refuse("cnv", "imagenet", "model cnv takes images of 32 x 32, but a sample of imagenet is");
    refuse("toy_convnet", "jsc", "takes images of 3 dimensions");
}

/* ---- texts ---- */

/* A file of GRAPHS without its last newline must be this text. */
static void assert_file(const char *name, const char *ending, const char *text)
{
    struct mase_file f;
    struct mase_err err;
    char path[256];
    snprintf(path, sizeof path, GRAPHS "%s%s", name, ending);
    if (mase_file_open(&f, path, &err))
        fail_msg("%s: %s", path, err.msg);
    const size_t size = f.size && f.data[f.size - 1] == '\n' ? f.size - 1 : f.size;
    if (size != strlen(text) || memcmp(f.data, text, size) != 0)
        fail_msg("%s: differs from\n%s", path, text);
    mase_file_close(&f);
}

/* "path<tab>repr" of each called module, in order of first call. */
static void print_modules(struct mase_str *out, const struct mase_graph *g)
{
    struct mase_arena a = { 0 };
    struct mase_map seen = { .arena = &a };
    for (const struct mase_node *n = g->first; n; n = n->next) {
        struct mase_module *m = mase_node_module(n);
        if (!m || mase_map_get(&seen, m->path))
            continue;
        mase_map_put(&seen, m->path, m);
        mase_str_printf(out, "%s%s\t", out->len ? "\n" : "", m->path);
        mase_module_repr(out, m);
    }
    mase_arena_release(&a);
}

static void check_texts(const char *name, struct mase_graph *g)
{
    struct mase_str text = { 0 };
    mase_graph_print(&text, g);
    assert_file(name, ".txt", mase_str_text(&text));
    mase_str_clear(&text);
    print_modules(&text, g);
    assert_file(name, ".modules.txt", mase_str_text(&text));
    mase_str_release(&text);
    mase_graph_free(g);
}

static void texts_of_the_original(void **state)
{
    (void)state;
    static const char *const jsc[] = { "jsc-tiny", "jsc-toy", "jsc-s", "jsc-test" };
    const struct mase_data_info small = {
        .name = "small", .sample = { 3, { 1, 4, 4 } }, .classes = 10, .help = ""
    };
    for (size_t i = 0; i < sizeof jsc / sizeof jsc[0]; i++)
        check_texts(jsc[i], build(jsc[i], "jsc"));
    check_texts("toy", build_on("toy", &small));
    check_texts("toy_tiny", build_on("toy_tiny", &small));
    for (const struct extra_model *m = extra_models; m->name; m++)
        check_texts(m->name, m->build(&m->data));
}

static void texts_of_pytorch(void **state)
{
    (void)state;
    check_texts("vgg7", build("vgg7", "cifar10"));
    check_texts("lfc", build("lfc", "mnist"));
    check_texts("cnv", build("cnv", "cifar10"));
    check_texts("resnet18", build("resnet18", "imagenet"));
    check_texts("resnet34", build("resnet34", "imagenet"));
    check_texts("resnet50", build("resnet50", "imagenet"));
}

/* ---- initial weights ---- */

struct spread {
    const char *name;
    double mean, variance;
};

static bool measure(const char *full, struct mase_param *p, void *data)
{
    struct spread *s = data;
    if (!mase_streq(full, s->name))
        return true;
    const int64_t n = mase_tensor_count(&p->tensor);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = mase_tensor_get(&p->tensor, i);
        sum += v;
        squares += v * v;
    }
    s->mean = sum / (double)n;
    s->variance = squares / (double)n - s->mean * s->mean;
    return false;
}

/* Kaiming's normal distribution for the outputs: variance 2 / (512 * 9). */
static void residual_convolutions_start_normal(void **state)
{
    (void)state;
    struct mase_graph *g = build("resnet18", "cifar10");
    struct spread conv = { .name = "layer4.1.conv2.weight" }, fc = { .name = "fc.weight" };
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 1);
    mase_graph_each_param(g, measure, &conv);
    mase_graph_each_param(g, measure, &fc);
    const double wanted = 2.0 / (512 * 9), uniform = 1.0 / 512 / 3;
    assert_true(conv.variance > 0.99 * wanted && conv.variance < 1.01 * wanted);
    assert_true(fc.variance > 0.9 * uniform && fc.variance < 1.1 * uniform);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(parameter_counts),
        cmocka_unit_test(uncalled_layers_can_go),
        cmocka_unit_test(refusals),
        cmocka_unit_test(texts_of_the_original),
        cmocka_unit_test(texts_of_pytorch),
        cmocka_unit_test(residual_convolutions_start_normal),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
