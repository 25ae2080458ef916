/*
 * t_names.c - the names of nodes, as torch.fx makes them.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include "ir/graph/node_names.h"

/* A sequence of targets inserted one after the other, and the names they get. */
struct sequence {
    enum mase_node_kind kind;
    const char *targets[8], *names[8];
};

static const struct sequence sequences[] = {
    { MASE_CALL_METHOD,
      { "seq_blocks.0", "seq_blocks.1", "seq_blocks.2", "seq_blocks.10" },
      { "seq_blocks_0", "seq_blocks_1", "seq_blocks_2", "seq_blocks_10" } },
    { MASE_CALL_FUNCTION,
      { "operator.add", "torch.add", "operator.add" },
      { "add", "add_1", "add_2" } },
    { MASE_CALL_METHOD,
      { "layer1.0.relu", "layer1.0.relu", "layer1.0.downsample.1" },
      { "layer1_0_relu", "layer1_0_relu_1", "layer1_0_downsample_1" } },
    { MASE_PLACEHOLDER, { "input", "input", "x" }, { "input_1", "input_2", "x" } },
    { MASE_CALL_FUNCTION,
      { "torch.max", "torch.sum", "torch.abs", "torch.pow", "builtins.getattr", "onnx.slice",
        "torch.round", "builtins.type" },
      { "max_1", "sum_1", "abs_1", "pow_1", "getattr_1", "slice_1", "round_1", "type_1" } },
    { MASE_CALL_METHOD, { "float", "int", "bool" }, { "float_1", "int_1", "bool_1" } },
    { MASE_CALL_METHOD, { "l1", "relu_1", "relu" }, { "l1", "relu_1", "relu" } },
    { MASE_CALL_METHOD, { "relu", "relu", "relu_1" }, { "relu", "relu_1", "relu_2" } },
    /* the number given is tried as it is, whatever the base has counted to */
    { MASE_CALL_METHOD, { "a_7", "a", "a", "a_7", "a_0" }, { "a_7", "a", "a_8", "a_9", "a_0" } },
    /* again and again: the first that is free, though others were taken in between */
    { MASE_CALL_METHOD,
      { "a_1", "a_1", "a_1", "a_5", "a_1", "a_1", "a_1", "a_2" },
      { "a_1", "a_2", "a_3", "a_5", "a_4", "a_6", "a_7", "a_8" } },
    { MASE_CALL_METHOD, { "a_01", "a_1", "a_00" }, { "a_1", "a_2", "a_0" } },
    { MASE_CALL_METHOD,
      { "myNet.convA", "ABc", "HTTPServer" },
      { "my_net_conv_a", "abc", "httpserver" } },
    { MASE_CALL_METHOD,
      { "__getitem__", "0.weight", "a..b-c", "", "\xc3\xa9", "__" },
      { "getitem", "_0_weight", "a_b_c", "_unnamed", "_", "_unnamed_1" } },
    { MASE_PLACEHOLDER,
      { "torch", "inf", "nan", "device", "lambda", "None", "pytree" },
      { "torch_1", "inf_1", "nan_1", "device_1", "lambda_1", "none", "pytree_1" } },
    /* longer than can be counted: part of the base */
    { MASE_CALL_METHOD,
      { "a_99999999999999999999", "a_99999999999999999999" },
      { "a_99999999999999999999", "a_99999999999999999999_1" } },
};

static void test_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        const struct sequence *s = &sequences[i];
        struct mase_graph *g = mase_graph_new(NULL);
        for (int k = 0; k < 8 && s->targets[k]; k++) {
            struct mase_node *n = mase_graph_insert(g, NULL, s->kind, s->targets[k], NULL, NULL);
            assert_string_equal(n->name, s->names[k]);
            assert_string_equal(n->target, s->targets[k]);
            assert_ptr_equal(mase_graph_find(g, n->name), n);
        }
        mase_graph_free(g);
    }
}

static void test_chosen_names(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = { "mine", "mine_1", "mine_2" };
        struct mase_node *n =
            mase_graph_insert_named(g, NULL, MASE_CALL_METHOD, "mine", "relu", NULL, NULL);
        assert_string_equal(n->name, names[i]);
    }
    mase_graph_free(g);
}

static void test_reserved(void **state)
{
    (void)state;
    static const char *const yes[] = { "ArithmeticError", "False",     "zip",      "yield",
                                       "print",           "torch",     "NoneType", "fx_pytree",
                                       "aiter",           "__import__" };
    static const char *const no[] = { "x", "", "relu", "Zip", "zzz", "ExceptionGroup" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(mase_name_is_reserved(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(mase_name_is_reserved(no[i]));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_chosen_names),
        cmocka_unit_test(test_reserved),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
