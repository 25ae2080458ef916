/*
 * t_graph.c - nodes: the text of torch.fx, users, rewiring, erasing.
 */
#include "formats.h"
#include "run_cases.h"
#include "unit/ir/build.h"

static void test_prints_jsc_tiny(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    ASSERT_PRINTS("graph():\n"
                  "    %x : [num_users=1] = placeholder[target=x]\n"
                  "    %seq_blocks_0 : [num_users=1] = call_module[target=seq_blocks.0]"
                  "(args = (%x,), kwargs = {})\n"
                  "    %seq_blocks_1 : [num_users=1] = call_module[target=seq_blocks.1]"
                  "(args = (%seq_blocks_0,), kwargs = {})\n"
                  "    %seq_blocks_2 : [num_users=1] = call_module[target=seq_blocks.2]"
                  "(args = (%seq_blocks_1,), kwargs = {})\n"
                  "    %seq_blocks_3 : [num_users=1] = call_module[target=seq_blocks.3]"
                  "(args = (%seq_blocks_2,), kwargs = {})\n"
                  "    return seq_blocks_3",
                  mase_graph_print(out, g));
    mase_graph_free(g);
}

static void test_prints_methods(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new("toy");
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *s = METHOD(g, "size", N(x), I(0));
    struct mase_node *v = METHOD(g, "view", N(x), N(s), I(-1));
    MODULE_(g, "seq_blocks.0", "Linear", I(16), I(8));
    output(g, CALL_MODULE(g, "seq_blocks.0", N(v)));
    ASSERT_PRINTS("graph():\n"
                  "    %x : [num_users=2] = placeholder[target=x]\n"
                  "    %size : [num_users=1] = call_method[target=size](args = (%x, 0), kwargs = "
                  "{})\n"
                  "    %view : [num_users=1] = call_method[target=view](args = (%x, %size, -1), "
                  "kwargs = {})\n"
                  "    %seq_blocks_0 : [num_users=1] = call_module[target=seq_blocks.0](args = "
                  "(%view,), kwargs = {})\n"
                  "    return seq_blocks_0",
                  mase_graph_print(out, g));
    mase_graph_free(g);
}

static void test_prints_residual(void **state)
{
    (void)state;
    struct mase_graph *g = residual();
    ASSERT_PRINTS(
        "graph():\n"
        "    %x : torch.Tensor [num_users=2] = placeholder[target=x]\n"
        "    %layer1_0_conv1 : [num_users=1] = call_module[target=layer1.0.conv1]"
        "(args = (%x,), kwargs = {})\n"
        "    %layer1_0_bn1 : [num_users=1] = call_module[target=layer1.0.bn1]"
        "(args = (%layer1_0_conv1,), kwargs = {})\n"
        "    %layer1_0_relu : [num_users=1] = call_module[target=layer1.0.relu]"
        "(args = (%layer1_0_bn1,), kwargs = {})\n"
        "    %add : [num_users=1] = call_function[target=operator.add]"
        "(args = (%layer1_0_relu, %x), kwargs = {})\n"
        "    %layer1_0_relu_1 : [num_users=1] = call_module[target=layer1.0.relu]"
        "(args = (%add,), kwargs = {})\n"
        "    %flatten : [num_users=1] = call_function[target=torch.flatten]"
        "(args = (%layer1_0_relu_1,), kwargs = {start_dim: 1, end_dim: -1})\n"
        "    %fc : [num_users=1] = call_module[target=fc](args = (%flatten,), kwargs = {})\n"
        "    return fc",
        mase_graph_print(out, g));
    mase_graph_free(g);
}

/* Every kind of argument, as torch.fx writes it. */
static void test_prints_arguments(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x = placeholder(g, "x");
    struct mase_arg slice = SEQ(MASE_ARG_SLICE, mase_arg_none(), N(x), I(2));
    struct mase_arg atom = { .kind = MASE_ARG_ATOM, .s = "torch.float32" };
    const struct {
        struct mase_arg arg;
        const char *fx, *mg;
    } cases[] = {
        { mase_arg_none(), "None", "None" },
        { B(true), "True", "True" },
        { I(-3), "-3", "-3" },
        { F(1e-5), "1e-05", "1e-05" },
        { F(2), "2.0", "2.0" },
        { T("shape"), "shape", "'shape'" },
        { T("it's\n"), "it's\n", "'it\\'s\\n'" },
        { atom, "torch.float32", "torch.float32" },
        { { .kind = MASE_ARG_ATOM, .s = "<class 'int'>" },
          "<class 'int'>",
          "atom('<class \\'int\\'>')" },
        { N(x), "%x", "%x" },
        { TUPLE(N(x)), "(%x,)", "(%x,)" },
        { TUPLE(N(x), I(1)), "(%x, 1)", "(%x, 1)" },
        { { .kind = MASE_ARG_TUPLE }, "()", "()" },
        { LIST(I(1), T("a")), "[1, a]", "[1, 'a']" },
        { KW1("dim", LIST(N(x))), "{dim: [%x]}", "{dim: [%x]}" },
        { slice, "slice(None, x, 2)", "slice(None, %x, 2)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_PRINTS(cases[i].fx, mase_arg_print(out, &cases[i].arg, false));
        ASSERT_PRINTS(cases[i].mg, mase_arg_print(out, &cases[i].arg, true));
    }
    mase_graph_free(g);
}

static void test_prints_defaults_and_outputs(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x =
        mase_graph_insert(g, NULL, MASE_PLACEHOLDER, "x", &TUPLE(mase_arg_none()), NULL);
    struct mase_node *out_node = mase_graph_insert(
        g, NULL, MASE_OUTPUT, "output", &TUPLE(KW2("a", N(x), "b", LIST(T("s"), N(x)))), NULL);
    ASSERT_PRINTS("%x : [num_users=1] = placeholder[target=x](default=None)",
                  mase_node_print(out, x));
    ASSERT_PRINTS("return {'a': x, 'b': ['s', x]}", mase_node_print(out, out_node));
    mase_graph_free(g);
}

/* A quantised call shows the long name of its function and its configuration. */
static void test_prints_quantised_functions(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *mul = FUNCTION(g, "operator.mul", N(x), N(x));
    struct mase_node *relu =
        mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, "torch.nn.functional.relu", &TUPLE(N(mul)),
                          &KW1("inplace", B(false)));
    struct mase_quant q = integer_8_4();
    q.operand[MASE_BIAS] = NULL;
    q.operand[MASE_WEIGHT] = integer_format(8, MASE_NA);
    mase_node_set_quant(mul, &q);
    q.operand[MASE_WEIGHT] = NULL;
    q.bypass = true;
    mase_node_set_quant(relu, &q);

    ASSERT_PRINTS("%mul : [num_users=1] = call_function[target=chop.passes.graph.transforms."
                  "quantize.quantized_funcs.mult.mult_integer](args = (%x, %x), kwargs = {config: "
                  "{name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, "
                  "weight_frac_width: None}})",
                  mase_node_print(out, mul));
    ASSERT_PRINTS("%relu : [num_users=0] = call_function[target=chop.passes.graph.transforms."
                  "quantize.quantized_funcs.relu.relu_integer](args = (%mul,), kwargs = {inplace: "
                  "False, config: {name: integer, data_in_width: 8, data_in_frac_width: 4, "
                  "bypass: True}})",
                  mase_node_print(out, relu));
    ASSERT_PRINTS("mult_integer", mase_node_type_name(out, mul));
    mase_node_set_quant(mul, NULL);
    ASSERT_PRINTS("mul", mase_node_type_name(out, mul));
    ASSERT_PRINTS("operator.mul", mase_node_target(out, mul));
    mase_graph_free(g);
}

/* ---- users ---- */

static void test_users_count_once(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x = placeholder(g, "x"), *y = placeholder(g, "y");
    struct mase_node *cat = mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, "torch.cat",
                                              &TUPLE(LIST(N(x), N(y), N(x))), &KW1("dim", N(y)));
    assert_int_equal(cat->input_count, 2);
    assert_ptr_equal(cat->inputs[0], x);
    assert_ptr_equal(cat->inputs[1], y);
    assert_int_equal(x->user_count, 1);
    assert_int_equal(y->user_count, 1);

    mase_node_set_args(cat, &TUPLE(LIST(N(y))), NULL);
    assert_int_equal(x->user_count, 0);
    assert_int_equal(y->user_count, 1);
    assert_ptr_equal(cat->inputs[0], y);
    assert_int_equal(cat->kwargs.count, 0);
    mase_graph_free(g);
}

static void test_replace_spares_one(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *a = FUNCTION(g, "operator.add", N(x), I(1));
    struct mase_node *b = FUNCTION(g, "operator.mul", N(x), N(a));
    output(g, b);
    struct mase_node *r =
        mase_graph_insert_after(g, x, MASE_CALL_FUNCTION, "torch.relu", &TUPLE(N(x)), NULL);

    assert_int_equal(mase_graph_replace_uses(g, x, r, r), 2);
    assert_int_equal(x->user_count, 1);
    assert_ptr_equal(x->users[0], r);
    assert_int_equal(r->user_count, 2);
    assert_ptr_equal(a->args.items[0].node, r);
    assert_ptr_equal(b->args.items[0].node, r);
    assert_ptr_equal(x->next, r);
    struct mase_str why = { 0 };
    assert_int_equal(mase_graph_verify(g, &why), 0);
    mase_str_release(&why);
    mase_graph_free(g);
}

static void test_replace_then_erase(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    uint64_t edits = g->edits;
    struct mase_node *relu = mase_graph_find(g, "seq_blocks_1");

    mase_graph_replace_uses(g, relu, relu->inputs[0], NULL);
    mase_graph_erase(g, relu);
    assert_true(g->edits > edits);
    assert_null(mase_graph_find(g, "seq_blocks_1"));
    assert_int_equal(g->node_count, 5);
    assert_int_equal(g->module_count, 4);
    assert_int_equal(mase_graph_sweep(g), 1);
    assert_int_equal(mase_graph_sweep(g), 0);
    assert_null(mase_graph_module(g, "seq_blocks.1"));
    assert_non_null(mase_graph_module(g, "seq_blocks.2"));
    assert_string_equal(g->modules_last->path, "seq_blocks.3");

    /* a name once used is not handed out again */
    MODULE0(g, "seq_blocks.1", "Identity");
    struct mase_node *n = CALL_MODULE(g, "seq_blocks.1", N(g->first));
    assert_string_equal(n->name, "seq_blocks_4");
    mase_graph_free(g);
}

/* Ten thousand users of one node: rewiring them must not take quadratic time. */
static void test_many_users(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x = placeholder(g, "x"), *y = placeholder(g, "y");
    for (int i = 0; i < COUNT; i++)
        FUNCTION(g, "operator.add", N(x), I(i));
    assert_string_equal(g->last->name, "add_19999");
    assert_int_equal(mase_graph_replace_uses(g, x, y, NULL), COUNT);
    assert_int_equal(x->user_count, 0);
    assert_int_equal(y->user_count, COUNT);
    for (struct mase_node *n = g->last; n->kind == MASE_CALL_FUNCTION; n = g->last)
        mase_graph_erase(g, n);
    assert_int_equal(y->user_count, 0);
    mase_graph_free(g);
}

/* ---- ops ---- */

static void test_ops_and_types(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    MODULE_(g, "bn", "BatchNorm2d", I(4));
    MODULE_(g, "drop", "Dropout", F(0.5));
    mase_graph_add_attr(g, "scale", MASE_F32, &(struct mase_shape){ .rank = 1, .dim = { 4 } },
                        MASE_PARAM_TRAINED);
    const struct {
        enum mase_node_kind kind;
        const char *target;
        enum mase_op op;
        enum mase_op_type type;
    } cases[] = {
        { MASE_PLACEHOLDER, "x", MASE_OP_placeholder, MASE_TYPE_PLACEHOLDER },
        { MASE_GET_ATTR, "scale", MASE_OP_constant, MASE_TYPE_GET_ATTR },
        { MASE_GET_ATTR, "_tensor_constant0", MASE_OP_constant, MASE_TYPE_IMPLICIT_FUNC },
        { MASE_CALL_FUNCTION, "operator.add", MASE_OP_add, MASE_TYPE_BUILTIN_FUNC },
        { MASE_CALL_FUNCTION, "torch.nn.functional.relu", MASE_OP_relu,
          MASE_TYPE_MODULE_RELATED_FUNC },
        { MASE_CALL_FUNCTION, "torch.made_up", MASE_OP_unknown, MASE_TYPE_NONE },
        { MASE_CALL_METHOD, "view", MASE_OP_view, MASE_TYPE_IMPLICIT_FUNC },
        { MASE_CALL_MODULE, "bn", MASE_OP_batch_norm2d, MASE_TYPE_MODULE },
        { MASE_CALL_MODULE, "drop", MASE_OP_dropout, MASE_TYPE_MODULE_RELATED_FUNC },
        { MASE_OUTPUT, "output", MASE_OP_output, MASE_TYPE_OUTPUT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_node *n =
            mase_graph_insert(g, NULL, cases[i].kind, cases[i].target, NULL, NULL);
        assert_int_equal(n->op, cases[i].op);
        assert_int_equal(mase_node_op_type(n), cases[i].type);
    }
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prints_jsc_tiny),
        cmocka_unit_test(test_prints_methods),
        cmocka_unit_test(test_prints_residual),
        cmocka_unit_test(test_prints_arguments),
        cmocka_unit_test(test_prints_defaults_and_outputs),
        cmocka_unit_test(test_prints_quantised_functions),
        cmocka_unit_test(test_users_count_once),
        cmocka_unit_test(test_replace_spares_one),
        cmocka_unit_test(test_replace_then_erase),
        cmocka_unit_test(test_many_users),
        cmocka_unit_test(test_ops_and_types),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
