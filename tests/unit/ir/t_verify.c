/*
 * t_verify.c - a graph is broken in one way at a time; verify says exactly that.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include "graph_text.h"

static struct mase_node *node(struct mase_graph *g, const char *name)
{
    return mase_graph_find(g, name);
}

/* ---- one fault each; the graph is residual() ---- */

static void swap_order(struct mase_graph *g)
{
    struct mase_node *a = node(g, "layer1_0_conv1"), *b = a->next; /* b uses a */
    a->prev->next = b;
    b->next->prev = a;
    a->next = b->next;
    b->prev = a->prev;
    a->prev = b;
    b->next = a;
}

static void forget_user(struct mase_graph *g)
{
    node(g, "add")->user_count = 0;
}

static void repeat_user(struct mase_graph *g)
{
    struct mase_node *n = node(g, "x");
    n->users[1] = n->users[0];
}

static void invent_user(struct mase_graph *g)
{
    struct mase_node *n = node(g, "layer1_0_bn1");
    n->users[0] = node(g, "fc");
}

static void change_argument(struct mase_graph *g)
{
    node(g, "fc")->args.items[0].node = node(g, "x");
}

static void break_prev(struct mase_graph *g)
{
    node(g, "fc")->prev = NULL;
}

static void miscount(struct mase_graph *g)
{
    g->node_count++;
}

static void make_circle(struct mase_graph *g)
{
    g->last->next = g->first;
}

static void same_name(struct mase_graph *g)
{
    node(g, "fc")->name = "x";
}

static void bad_name(struct mase_graph *g)
{
    node(g, "fc")->name = "my node";
}

static void wrong_op(struct mase_graph *g)
{
    node(g, "add")->op = MASE_OP_mul;
}

static void wrong_function(struct mase_graph *g)
{
    node(g, "add")->target = "torch.made_up";
}

static void missing_module(struct mase_graph *g)
{
    mase_map_put(&g->module_map, "fc", NULL);
}

static void missing_attr(struct mase_graph *g)
{
    mase_graph_insert(g, NULL, MASE_GET_ATTR, "scale", NULL, NULL);
}

static void tensor_argument(struct mase_graph *g)
{
    struct mase_tensor *t = mase_new(&g->arena, struct mase_tensor);
    struct mase_arg arg = { .kind = MASE_ARG_TENSOR, .tensor = t };
    mase_node_set_args(node(g, "add"), &TUPLE(N(node(g, "layer1_0_relu")), arg), NULL);
    mase_node_set_args(node(g, "layer1_0_conv1"), &TUPLE(N(node(g, "x"))), NULL);
}

static void unknown_keyword(struct mase_graph *g)
{
    mase_node_set_args(node(g, "flatten"), &TUPLE(N(node(g, "layer1_0_relu_1"))),
                       &KW1("start", I(1)));
}

static void method_without_object(struct mase_graph *g)
{
    mase_graph_insert(g, NULL, MASE_CALL_METHOD, "relu", NULL, NULL);
}

static void args_list(struct mase_graph *g)
{
    node(g, "flatten")->args.kind = MASE_ARG_LIST;
}

static void no_output(struct mase_graph *g)
{
    mase_graph_erase(g, g->last);
}

static void early_output(struct mase_graph *g)
{
    mase_graph_insert(g, g->last, MASE_OUTPUT, "output", &TUPLE(N(node(g, "fc"))), NULL);
}

static void quantise_flatten(struct mase_graph *g)
{
    struct mase_quant q = integer_8_4();
    mase_node_set_quant(node(g, "flatten"), &q);
}

static void quantise_dropout(struct mase_graph *g)
{
    struct mase_quant q = integer_8_4();
    text_module(g, "drop = Dropout(0.5)");
    mase_module_set_quant(g, mase_graph_module(g, "drop"), &q);
}

static void quantise_to_nothing(struct mase_graph *g)
{
    struct mase_quant q = { 0 };
    mase_node_set_quant(node(g, "add"), &q);
}

static void quantise_call_of_module(struct mase_graph *g)
{
    struct mase_quant *q = mase_new(&g->arena, struct mase_quant);
    q->kind = MASE_QUANT_integer;
    node(g, "fc")->quant = q;
}

static void foreign_node(struct mase_graph *g)
{
    node(g, "fc")->graph = NULL;
}

static const struct {
    void (*spoil)(struct mase_graph *g);
    const char *says;
} cases[] = {
    { swap_order, "node layer1_0_bn1 uses layer1_0_conv1, which does not stand before it\n" },
    { forget_user, "node layer1_0_relu_1 uses add, but is not among its users\n" },
    { repeat_user, "node x lists the user layer1_0_conv1 twice\n"
                   "node add uses x, but is not among its users\n" },
    { invent_user, "node layer1_0_bn1 lists the user fc, which does not use it\n"
                   "node layer1_0_relu uses layer1_0_bn1, but is not among its users\n" },
    { change_argument, "node fc mentions x, which is not among its inputs\n"
                       "node fc lists the input flatten, but does not mention it\n" },
    { break_prev, "node fc: its prev is not the node before it\n" },
    { miscount, "the graph counts 10 nodes, the list has 9\n" },
    { make_circle, "node x: its prev is not the node before it\n"
                   "the list has more nodes than the 9 that the graph counts\n" },
    { same_name, "the name x belongs to two nodes\n" },
    { bad_name, "node 'my node': its name is no identifier\n"
                "node my node is not known by its name\n" },
    { wrong_op, "node add: its operation is mul, its target 'operator.add' is add\n" },
    { wrong_function, "node add: no operation is known as call_function 'torch.made_up'\n" },
    { missing_module, "node fc calls module 'fc', which does not exist\n"
                      "module fc is not known by its path\n" },
    { missing_attr, "node scale reads 'scale', which does not exist\n" },
    { tensor_argument, "node add: an argument holds a tensor, not a node\n" },
    { unknown_keyword,
      "node flatten: flatten: unknown argument 'start'; did you mean 'start_dim'?\n" },
    { method_without_object, "node relu: relu: argument 'input' is missing\n" },
    { args_list, "node flatten: its arguments are not a tuple and a dict\n" },
    { no_output, "a graph has one output, this one has 0\n" },
    { early_output, "node output_1: an output that is not the last node\n"
                    "a graph has one output, this one has 2\n" },
    { quantise_flatten, "node flatten: flatten cannot be quantised\n" },
    { quantise_dropout, "module drop: dropout cannot be quantised\n" },
    { quantise_to_nothing, "node add: its quantisation names no number format\n" },
    { quantise_call_of_module, "node fc: a call_module carries no number formats of its own\n" },
    { foreign_node, "node fc belongs to another graph\n" },
};

static void test_each_fault_is_named(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_str out = { 0 };
        struct mase_graph *g = residual();
        assert_int_equal(mase_graph_verify(g, &out), 0);
        cases[i].spoil(g);
        int faults = mase_graph_verify(g, &out), lines = 0;
        for (const char *c = mase_str_text(&out); *c; c++)
            lines += *c == '\n';
        assert_int_equal(faults, lines);
        if (!mase_streq(mase_str_text(&out), cases[i].says)) {
            print_error("got:\n%swanted:\n%s", mase_str_text(&out), cases[i].says);
            wrong++;
        }
        mase_str_release(&out);
        mase_graph_free(g);
    }
    assert_int_equal(wrong, 0);
}

/* Two things broken are two lines. */
static void test_all_faults_are_named(void **state)
{
    (void)state;
    struct mase_str out = { 0 };
    struct mase_graph *g = residual();
    wrong_op(g);
    quantise_dropout(g);
    miscount(g);
    assert_int_equal(mase_graph_verify(g, &out), 3);
    mase_str_release(&out);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fault_is_named),
        cmocka_unit_test(test_all_faults_are_named),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
