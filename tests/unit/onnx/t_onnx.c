/*
 * t_onnx.c - ONNX files as networks: what PyTorch's exporters write computes what ONNX Runtime
 * does, as layers under their names; what would compute something else is refused; damaged files do
 * no harm. The cases of tests/data/onnx/cases are run by onnx_tool.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>
#include <mase/npy.h>
#include <mase/onnx.h>
#include <mase/run.h>
#include <mase/zoo.h>

#include "bounded.h"
#include "onnx/onnx_file.h"
#include "run_cases.h"

#define DATA MASE_SOURCE_DIR "/tests/data/onnx/"

/* ---- networks ---- */

static struct mase_graph *open_network(const char *name, struct mase_onnx_info *info)
{
    struct mase_arena a = { 0 };
    struct mase_graph *g;
    struct mase_err err = { 0 };
    if (mase_onnx_read(&g, info, mase_arena_printf(&a, DATA "%s.onnx", name), NULL, &err))
        fail_msg("%s: %s", name, err.msg);
    mase_arena_release(&a);
    return g;
}

static void compare(const char *name, const char *kind)
{
    struct mase_arena a = { 0 };
    struct mase_onnx_info info;
    struct mase_values v;
    struct mase_err err = { 0 };
    struct mase_input in;
    struct mase_tensor want;
    struct mase_graph *g =
        open_network(kind[0] ? mase_arena_printf(&a, "%s_%s", name, kind) : name, &info);
    in.name = g->first->name;
    assert_int_equal(
        mase_npy_read(&in.tensor, &a, mase_arena_printf(&a, DATA "%s_x.npy", name), &err), MASE_OK);
    assert_int_equal(mase_npy_read(&want, &a, mase_arena_printf(&a, DATA "%s_y.npy", name), &err),
                     MASE_OK);
    assert_int_equal(info.batch, 0);
    assert_int_equal(info.dtype, in.tensor.dtype);
    assert_int_equal(info.sample.rank, in.tensor.shape.rank - 1);
    if (mase_run_reference(&v, &a, g, &in, 1, &err))
        fail_msg("%s_%s: %s", name, kind, err.msg);
    const struct mase_tensor *y = mase_run_output(&v, g)->tensor;
    assert_true(mase_shape_equal(&y->shape, &want.shape));
    for (int64_t i = 0; i < mase_tensor_count(y); i++)
        if (!(fabs(mase_tensor_get(y, i) - mase_tensor_get(&want, i)) < 1e-5))
            fail_msg("%s_%s: %lld: %g, not %g", name, kind, (long long)i, mase_tensor_get(y, i),
                     mase_tensor_get(&want, i));
    struct mase_str faults = { 0 };
    if (mase_graph_verify(g, &faults))
        fail_msg("%s", mase_str_text(&faults));
    mase_graph_free(g);
    mase_arena_release(&a);
}

static void networks_compute_what_onnx_runtime_does(void **state)
{
    (void)state;
    static const char *const kinds[] = { "script", "dynamo", "single" };
    for (int k = 0; k < 3; k++) {
        compare("mlp", kinds[k]);
        compare("cnn", kinds[k]);
        compare("attention", kinds[k]);
    }
    compare("recurrent", "script");
}

static const struct mase_quant *layer_quant(const struct mase_graph *g, int i)
{
    const struct mase_module *m = g->modules;
    while (i-- > 0)
        m = m->next;
    return m->quant;
}

/* QDQ and QOperators of ONNX Runtime, and QONNX: layers with number formats. */
static void quantised_networks_are_quantised_layers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int layers;
        const char *data, *weight; /* how the formats of the first layer begin */
    } rows[] = {
        { "qdq", 2, "int(8, ", "int(8, [" },      { "qoperator", 2, "int(8, ", "int(8, [" },
        { "qonnx", 2, "int(6, 0.1", "int(4, [" }, { "cut", 2, "int(4, 0.3", "int(4, [" },
        { "qgemm", 2, "int(8, ", "int(8, [" },    { "more", 2, "integer(6, 3, floor)", "int(2, [" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        struct mase_graph *g = open_network(rows[k].name, NULL);
        struct mase_str text = { 0 };
        compare(rows[k].name, "");
        assert_int_equal(g->module_count, rows[k].layers);
        for (int i = 0; i < rows[k].layers; i++)
            assert_non_null(layer_quant(g, i));
        mase_format_print(&text, layer_quant(g, 0)->operand[MASE_DATA_IN]);
        assert_true(mase_starts_with(mase_str_text(&text), rows[k].data));
        mase_str_clear(&text);
        mase_format_print(&text, layer_quant(g, 0)->operand[MASE_WEIGHT]);
        assert_true(mase_starts_with(mase_str_text(&text), rows[k].weight));
        mase_str_release(&text);
        mase_graph_free(g);
    }
}

static void layers_have_the_names_of_their_weights(void **state)
{
    (void)state;
    static const char *const layers[][2] = {
        { "cnn_script", "conv: Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))" },
        { "cnn_script", "down: Conv2d(4, 4, kernel_size=(3, 3), stride=(2, 2), groups=2)" },
        { "cnn_script", "fc: Linear(in_features=16, out_features=6, bias=True)" },
        { "attention_script", "q: Linear(in_features=8, out_features=8, bias=True)" },
        { "attention_script", "embed: Embedding(11, 8)" },
        { "attention_dynamo", "norm: LayerNorm((8,), eps=1e-05, elementwise_affine=True)" },
        { "recurrent_script", "lstm: LSTM(3, 4, bidirectional=True)" },
        { "recurrent_script", "gru: GRU(8, 5)" },
        { "nested", "a: Linear(in_features=2, out_features=2, bias=False)" },
        { "nested", "a_b: Linear(in_features=2, out_features=2, bias=False)" },
        { "nested", "c_d: Linear(in_features=2, out_features=2, bias=False)" },
        { "nested", "c_d_1: Linear(in_features=2, out_features=2, bias=False)" },
        { "attention_dynamo", "out: Linear(in_features=8, out_features=3, bias=True)" },
    };
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        struct mase_graph *g = open_network(layers[i][0], NULL);
        struct mase_str text = { 0 };
        bool found = false;
        for (const struct mase_module *m = g->modules; m; m = m->next) {
            mase_str_clear(&text);
            mase_str_printf(&text, "%s: ", m->path);
            mase_module_repr(&text, m);
            found |= mase_streq(mase_str_text(&text), layers[i][1]);
        }
        if (!found)
            fail_msg("%s has no %s", layers[i][0], layers[i][1]);
        mase_str_release(&text);
        mase_graph_free(g);
    }
}

/* What mixes its samples holds for a batch of the file's size alone, where it has one. */
static void mixed_samples_keep_their_batch(void **state)
{
    (void)state;
    struct mase_onnx_info info;
    struct mase_err err = { 0 };
    struct mase_graph *g = open_network("mixed_fixed", &info);
    assert_int_equal(info.batch, 2);
    mase_graph_free(g);
    assert_int_equal(mase_model_open_onnx(&g, &info, DATA "mixed_fixed.onnx", NULL, &err), MASE_OK);
    assert_int_equal(g->batch, 2);
    struct mase_graph *training;
    assert_int_equal(mase_graph_to_train(&training, g, &err), MASE_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "its shapes hold for batches of 2 alone"));
    mase_graph_free(g);
    g = open_network("mixed_open", &info);
    assert_int_equal(info.batch, 0);
    mase_graph_free(g);
}

static void tensors_may_lie_in_another_file(void **state)
{
    (void)state;
    struct mase_graph *inside = open_network("mlp_script", NULL),
                      *outside = open_network("external", NULL);
    assert_int_equal(mase_graph_param_count(inside), mase_graph_param_count(outside));
    for (const struct mase_module *m = inside->modules; m; m = m->next)
        for (int i = 0; i < m->param_count; i++) {
            const struct mase_param *p =
                mase_module_param(mase_graph_module(outside, m->path), m->params[i].name);
            assert_memory_equal(p->tensor.data, m->params[i].tensor.data,
                                (size_t)mase_tensor_bytes(&p->tensor));
        }
    mase_graph_free(inside);
    mase_graph_free(outside);
}

/* The text of a graph reads back, constants included. */
static void text_reads_back(void **state)
{
    (void)state;
    static const char *const names[] = { "mlp_dynamo", "cnn_script", "attention_script" };
    for (int i = 0; i < 3; i++) {
        struct mase_graph *g = open_network(names[i], NULL), *again;
        struct mase_str text = { 0 }, why = { 0 };
        struct mase_err err = { 0 };
        mase_graph_print_mg(&text, g);
        if (mase_graph_parse_mg(&again, mase_str_text(&text), text.len, "text", &err))
            fail_msg("%s: %s", names[i], err.msg);
        if (!mase_graph_equal(g, again, &why))
            fail_msg("%s: %s", names[i], mase_str_text(&why));
        mase_str_release(&text);
        mase_str_release(&why);
        mase_graph_free(g);
        mase_graph_free(again);
    }
}

/* ---- damage ---- */

static void try_bytes(const unsigned char *data, size_t size)
{
    struct mase_graph *g;
    struct mase_err err = { 0 };
    if (mase_onnx_parse_graph(&g, NULL, data, size, "damaged.onnx", NULL, &err) == MASE_OK)
        mase_graph_free(g);
    else
        assert_true(err.msg[0] != 0);
}

static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    struct mase_file f;
    struct mase_err err = { 0 };
    const size_t step = getenv("MASE_QUICK") ? 97 : 3;
    assert_int_equal(mase_file_open(&f, DATA "attention_dynamo.onnx", &err), MASE_OK);
    unsigned char *copy = malloc(f.size);
    bound_memory();
    for (size_t n = 0; n < f.size; n += step)
        try_bytes(f.data, n);
    for (size_t n = 0; n < f.size; n += step) {
        memcpy(copy, f.data, f.size);
        copy[n] ^= (unsigned char)(1u << n % 8);
        try_bytes(copy, f.size);
        copy[n] = 0xff;
        try_bytes(copy, f.size);
    }
    free(copy);
    mase_file_close(&f);
}

/* A product that nobody asks for, with two inputs that are not there, and no name for its result.
 */
static void a_node_without_outputs_is_refused(void **state)
{
    const char *inputs[] = { "x", "x" };
    struct mase_onnx_node node = { .op_type = "MatMul", .name = "lost" };
    struct mase_onnx_graph graph = { .name = "g" };
    struct mase_onnx_opset opset = { .version = 18 };
    struct mase_onnx_model model = { .ir_version = 8, .graph = &graph };
    struct mase_onnx_tensor_type tensor = { .elem_type = 1 };
    struct mase_onnx_type type = { .tensor_type = &tensor };
    struct mase_onnx_dimension dims[2] = { { .dim_value = 3 }, { .dim_value = 3 } };
    struct mase_onnx_shape shape = { 0 };
    struct mase_onnx_value_info x = { .name = "x", .type = &type };
    struct mase_str bytes = { 0 };
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    (void)state;
    node.input.items = inputs;
    node.input.count = 2;
    dims[0].head.has = dims[1].head.has = tensor.head.has = model.head.has = 1u << 1;
    opset.head.has = 1u << 2;
    shape.dim.items = dims;
    shape.dim.count = 2;
    tensor.shape = &shape;
    graph.node.items = &node;
    graph.node.count = 1;
    graph.input.items = graph.output.items = &x;
    graph.input.count = graph.output.count = 1;
    model.opset_import.items = &opset;
    model.opset_import.count = 1;
    mase_onnx_print(&bytes, MASE_ONNX_MESSAGE_model, &model);
    assert_int_equal(mase_onnx_parse_graph(&g, NULL, bytes.data, bytes.len, "m.onnx", NULL, &err),
                     MASE_EVALUE);
    assert_non_null(strstr(err.msg, "it has no outputs"));
    mase_str_release(&bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_compute_what_onnx_runtime_does),
        cmocka_unit_test(quantised_networks_are_quantised_layers),
        cmocka_unit_test(layers_have_the_names_of_their_weights),
        cmocka_unit_test(mixed_samples_keep_their_batch),
        cmocka_unit_test(tensors_may_lie_in_another_file),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(a_node_without_outputs_is_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
