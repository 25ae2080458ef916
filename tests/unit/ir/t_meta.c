/*
 * t_meta.c - metadata as the dictionaries of reports, and elements of tensors.
 */
#include <math.h>

#include "run_cases.h"
#include "unit/ir/build.h"

#include <mase/meta.h>
#include <mase/value.h>

#include "formats.h"

static struct mase_meta_arg tensor_arg(const char *name, int64_t n, int64_t c)
{
    return (struct mase_meta_arg){ .name = name,
                                   .kind = MASE_META_TENSOR,
                                   .shape = { .rank = 2, .dim = { n, c } } };
}

static void assert_section(const struct mase_meta *m, enum mase_section s, const char *repr)
{
    struct mase_arena a = { 0 };
    ASSERT_PRINTS(repr, mase_repr(out, mase_meta_value(&a, m, s)));
    mase_arena_release(&a);
}

static void test_common_of_a_layer(void **state)
{
    (void)state;
    struct mase_meta_arg args[] = { tensor_arg("data_in_0", 8, 16),
                                    { .name = "weight",
                                      .kind = MASE_META_PARAM,
                                      .shape = { .rank = 2, .dim = { 5, 16 } },
                                      .format = integer_format(8, MASE_NA) } };
    struct mase_meta_arg result = tensor_arg("data_out_0", 8, 5);
    struct mase_meta m = { .type = MASE_TYPE_MODULE_RELATED_FUNC,
                           .op = MASE_OP_linear,
                           .args = args,
                           .arg_count = 2,
                           .results = &result,
                           .result_count = 1 };

    assert_section(&m, MASE_COMMON, "{}"); /* before add_common_metadata */
    m.has_common = true;
    assert_section(&m, MASE_COMMON,
                   "{'mase_type': 'module_related_func', 'mase_op': 'linear', 'args': "
                   "{'data_in_0': {'shape': [8, 16], 'torch_dtype': torch.float32, "
                   "'type': 'float', 'precision': [32]}, 'weight': {'type': 'integer', "
                   "'precision': [8, None], 'shape': [5, 16], 'from': None}}, 'results': "
                   "{'data_out_0': {'type': 'float', 'precision': [32], 'shape': [8, 5], "
                   "'torch_dtype': torch.float32}}}");
    assert_ptr_equal(mase_meta_arg(&m, "weight"), &args[1]);
    assert_null(mase_meta_arg(&m, "bias"));
    assert_ptr_equal(mase_meta_result(&m, "data_out_0"), &result);
}

static void test_plain_values_and_objects(void **state)
{
    (void)state;
    struct mase_tensor t = { .shape = { .rank = 1, .dim = { 4 } } };
    struct mase_meta_arg args[] = {
        { .name = "dim", .kind = MASE_META_RAW, .raw = I(0) },
        { .name = "size", .kind = MASE_META_RAW, .raw = TUPLE(I(1), T("a"), B(true)) },
        { .name = "data_in_0", .kind = MASE_META_TENSOR, .shape = t.shape, .value = &t },
    };
    struct mase_meta_arg result = { .name = "data_out_0",
                                    .kind = MASE_META_OBJECT,
                                    .shape = { .rank = 1, .dim = { 1 } },
                                    .raw = I(8) };
    struct mase_meta m = { .type = MASE_TYPE_IMPLICIT_FUNC,
                           .op = MASE_OP_size,
                           .args = args,
                           .arg_count = 3,
                           .results = &result,
                           .result_count = 1,
                           .has_common = true };
    assert_section(&m, MASE_COMMON,
                   "{'mase_type': 'implicit_func', 'mase_op': 'size', 'args': {'dim': 0, "
                   "'size': (1, 'a', True), 'data_in_0': {'shape': [4], 'torch_dtype': "
                   "torch.float32, 'type': 'float', 'precision': [32], 'value': <f32[4]>}}, "
                   "'results': {'data_out_0': {'type': <class 'int'>, 'shape': [1], "
                   "'value': 8}}}");
}

static void test_graph_level(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    struct mase_node *in = g->first->next, *out_node = g->last->prev;
    struct mase_meta m = { .has_common = true,
                           .nodes_in = &in,
                           .nodes_in_count = 1,
                           .nodes_out = &out_node,
                           .nodes_out_count = 1 };
    assert_section(&m, MASE_COMMON,
                   "{'nodes_in': [seq_blocks_0], 'nodes_out': [seq_blocks_3], 'args': {}, "
                   "'results': {}}");
    mase_graph_free(g);
}

static void test_hardware(void **state)
{
    (void)state;
    static const char *const files[] = { "activations/rtl/fixed_relu.sv", NULL };
    struct mase_meta m = { .hw = { .is_implicit = true } };
    assert_section(&m, MASE_HARDWARE, "{'is_implicit': True}");
    m.hw = (struct mase_meta_hw){ .valid = true, .is_implicit = true, .parallelism = { 1, 4 } };
    assert_section(&m, MASE_HARDWARE,
                   "{'is_implicit': True, 'device_id': 0, 'parallelism': [1, 4]}");
    m.hw = (struct mase_meta_hw){ .valid = true,
                                  .device_id = -1,
                                  .parallelism = { 1, 4 },
                                  .toolchain = "INTERNAL",
                                  .module = "fixed_relu",
                                  .dependence_files = files };
    assert_section(&m, MASE_HARDWARE,
                   "{'is_implicit': False, 'device_id': -1, 'interface': {}, 'toolchain': "
                   "'INTERNAL', 'module': 'fixed_relu', 'dependence_files': "
                   "['activations/rtl/fixed_relu.sv'], 'parallelism': [1, 4]}");
    m.hw.module = NULL;
    m.hw.dependence_files = NULL;
    m.hw.toolchain = "HLS";
    assert_section(&m, MASE_HARDWARE,
                   "{'is_implicit': False, 'device_id': -1, 'interface': {}, 'toolchain': 'HLS', "
                   "'module': None, 'dependence_files': [], 'parallelism': [1, 4]}");
}

static void test_software(void **state)
{
    (void)state;
    struct mase_meta_stat in = { .name = "data_in_0" }, result = { .name = "data_out_0" };
    struct mase_meta m = { .sw_args = &in,
                           .sw_arg_count = 1,
                           .sw_results = &result,
                           .sw_result_count = 1,
                           .sw_has_results = true };
    assert_section(&m, MASE_SOFTWARE, "{}");
    m.has_software = true;
    assert_section(&m, MASE_SOFTWARE, "{'results': {'data_out_0': {'stat': {}}}}");
    m.sw_has_args = true;
    assert_section(&m, MASE_SOFTWARE,
                   "{'args': {'data_in_0': {'stat': {}}}, 'results': {'data_out_0': {'stat': "
                   "{}}}}");
}

/* ---- tensors ---- */

static void test_elements_of_every_type(void **state)
{
    (void)state;
    static const struct {
        enum mase_dtype dtype;
        double in, out;
    } cases[] = {
        { MASE_F32, 0.1, 0.1f },
        { MASE_F64, 0.1, 0.1 },
        { MASE_I64, -2.9, -2 },
        { MASE_I64, 1e30, -9223372036854775808.0 }, /* as PyTorch has it on x86 */
        { MASE_I32, -1e30, -2147483648.0 },
        { MASE_I64, NAN, -9223372036854775808.0 },
        { MASE_I32, NAN, -2147483648.0 },
        { MASE_U8, NAN, 0 },
        { MASE_U8, 300, 44 },
        { MASE_U8, -1, 255 },
        { MASE_DTYPE_BOOL, 0.5, 1 },
        { MASE_DTYPE_BOOL, 0, 0 },
    };
    struct mase_arena a = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_shape s = { .rank = 1, .dim = { 3 } };
        struct mase_tensor t = mase_tensor(&a, cases[i].dtype, &s, true);
        mase_tensor_set(&t, 1, cases[i].in);
        assert_true(mase_tensor_get(&t, 1) == cases[i].out);
        assert_true(mase_tensor_get(&t, 0) == 0 && mase_tensor_get(&t, 2) == 0);
        assert_int_equal(mase_tensor_bytes(&t), 3 * mase_dtypes[cases[i].dtype].size);
    }
    mase_arena_release(&a);
}

static void test_shapes(void **state)
{
    (void)state;
    const struct mase_shape s = { .rank = 2, .dim = { 8, 16 } }, scalar = { 0 };
    const struct mase_shape huge = { .rank = 3, .dim = { INT64_MAX, 2, 4 } };
    const struct mase_shape empty = { .rank = 3, .dim = { INT64_MAX, 2, 0 } };
    ASSERT_PRINTS("[8, 16]", mase_shape_print(out, &s));
    ASSERT_PRINTS("[]", mase_shape_print(out, &scalar));
    assert_int_equal(mase_shape_count(&s), 128);
    assert_int_equal(mase_shape_count(&scalar), 1);
    assert_int_equal(mase_shape_count(&huge), INT64_MAX);
    assert_int_equal(mase_shape_count(&empty), 0);
    assert_int_equal(mase_shape_axis(&s, -1), 1);
    assert_int_equal(mase_shape_axis(&s, 2), -1);
    assert_int_equal(mase_shape_axis(&s, -3), -1);
    assert_true(mase_shape_equal(&s, &s));
    assert_false(mase_shape_equal(&s, &scalar));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_of_a_layer),
        cmocka_unit_test(test_plain_values_and_objects),
        cmocka_unit_test(test_graph_level),
        cmocka_unit_test(test_hardware),
        cmocka_unit_test(test_software),
        cmocka_unit_test(test_elements_of_every_type),
        cmocka_unit_test(test_shapes),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
