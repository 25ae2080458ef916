/*
 * t_graph_copy.c - clones, walks and comparisons, and who owns the weights.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include <mase/meta.h>
#include <mase/value.h>

static void assert_equal(const struct mase_graph *a, const struct mase_graph *b)
{
    struct mase_str why = { 0 };
    if (!mase_graph_equal(a, b, &why))
        fail_msg("%s", mase_str_text(&why));
    if (mase_graph_verify(b, &why))
        fail_msg("%s", mase_str_text(&why));
    mase_str_release(&why);
}

static const float *weight(const struct mase_graph *g, const char *path)
{
    return mase_f32(&mase_graph_attr(g, path)->tensor);
}

/* ---- clone ---- */

static void test_clone_is_equal_and_apart(void **state)
{
    (void)state;
    struct mase_graph *g = residual();
    struct mase_quant q = integer_8_4();
    mase_node_set_quant(mase_graph_find(g, "add"), &q);
    mase_module_set_quant(g, mase_graph_module(g, "fc"), &q);
    struct mase_graph *c = mase_graph_clone(g);
    assert_equal(g, c);

    mase_graph_find(c, "add")->quant->operand[MASE_DATA_IN] = integer_format(16, 4);
    assert_ptr_equal(mase_graph_find(g, "add")->quant->operand[MASE_DATA_IN], integer_format(8, 4));
    struct mase_node *relu = mase_graph_find(c, "layer1_0_relu");
    mase_graph_replace_uses(c, relu, relu->inputs[0], NULL);
    mase_graph_erase(c, relu);
    assert_non_null(mase_graph_find(g, "layer1_0_relu"));
    assert_false(mase_graph_equal(g, c, NULL));

    /* both go on naming as the original would have */
    assert_string_equal(FUNCTION(g, "operator.add", I(1), I(2))->name, "add_1");
    assert_string_equal(FUNCTION(c, "operator.add", I(1), I(2))->name, "add_1");
    mase_graph_free(c);
    mase_graph_free(g);
}

/* Formats, names and starts are not what a network is; layers and constants are. */
static void test_same_network(void **state)
{
    (void)state;
    struct mase_graph *g = residual(), *c = mase_graph_clone(g);
    struct mase_quant q = integer_8_4();
    struct mase_str why = { 0 };
    assert_false(mase_graph_is_quantised(c));
    mase_module_set_quant(c, mase_graph_module(c, "fc"), &q);
    assert_true(mase_graph_is_quantised(c));
    mase_module_param(mase_graph_module(c, "fc"), "weight")->scale = 7;
    c->name = "other";
    assert_true(mase_graph_same_network(g, c, NULL));
    assert_false(mase_graph_same_formats(g, c, &why));
    assert_string_equal(mase_str_text(&why), "module fc: different number formats");
    mase_module_set_quant(c, mase_graph_module(c, "fc"), NULL);
    assert_true(mase_graph_same_formats(g, c, NULL));
    mase_node_set_quant(mase_graph_find(c, "add"), &q);
    assert_true(mase_graph_is_quantised(c));
    assert_true(mase_graph_same_network(g, c, NULL));
    assert_false(mase_graph_same_formats(g, c, NULL));
    struct mase_node *relu = mase_graph_find(c, "layer1_0_relu");
    mase_graph_replace_uses(c, relu, relu->inputs[0], NULL);
    mase_graph_erase(c, relu);
    assert_false(mase_graph_same_network(g, c, NULL));
    mase_str_release(&why);
    mase_graph_free(c);
    mase_graph_free(g);
}

static void test_clone_keeps_order_of_users(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *a = FUNCTION(g, "torch.relu", N(x)), *b = FUNCTION(g, "torch.exp", N(x));
    mase_node_set_args(a, &TUPLE(N(x)), NULL); /* moves to the end of x's users */
    assert_ptr_equal(x->users[0], b);
    struct mase_graph *c = mase_graph_clone(g);
    assert_string_equal(c->first->users[0]->name, b->name);
    assert_string_equal(c->first->users[1]->name, a->name);
    assert_ptr_equal(c->first->users[1]->graph, c);
    mase_graph_free(c);
    mase_graph_free(g);
}

static void test_clone_copies_metadata(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    struct mase_node *n = mase_graph_find(g, "seq_blocks_2");
    n->meta = mase_new(&g->arena, struct mase_meta);
    n->meta->has_common = true;
    n->meta->result_count = 1;
    n->meta->results = mase_new(&g->arena, struct mase_meta_arg);
    n->meta->results->name = "data_out_0";
    g->meta = mase_new(&g->arena, struct mase_meta);
    g->meta->nodes_in = mase_new(&g->arena, struct mase_node *);
    g->meta->nodes_in[0] = n;
    g->meta->nodes_in_count = 1;
    g->props = 5;

    struct mase_graph *c = mase_graph_clone(g);
    struct mase_node *copy = mase_graph_find(c, "seq_blocks_2");
    assert_ptr_not_equal(copy->meta, n->meta);
    assert_ptr_not_equal(copy->meta->results, n->meta->results);
    assert_string_equal(copy->meta->results->name, "data_out_0");
    assert_ptr_equal(c->meta->nodes_in[0], copy);
    assert_int_equal(c->props, 5);
    assert_int_equal(c->edits, g->edits);
    mase_graph_free(c);
    mase_graph_free(g);
}

/* ---- weights ---- */

static void test_clone_borrows_until_it_owns(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    mase_graph_init_weights(g, 1);
    struct mase_graph *c = mase_graph_clone(g);
    assert_true(c->weights_borrowed);
    assert_ptr_equal(weight(c, "seq_blocks.2.weight"), weight(g, "seq_blocks.2.weight"));

    mase_graph_own_weights(c);
    assert_false(c->weights_borrowed);
    assert_ptr_not_equal(weight(c, "seq_blocks.2.weight"), weight(g, "seq_blocks.2.weight"));
    assert_memory_equal(weight(c, "seq_blocks.2.weight"), weight(g, "seq_blocks.2.weight"), 320);
    mase_graph_free(g); /* an owner needs no other */
    assert_true(weight(c, "seq_blocks.0.weight")[0] == 1);
    mase_graph_free(c);
}

static void test_blocks_do_not_move(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    mase_graph_init_weights(g, 1);
    const float *before = weight(g, "seq_blocks.2.weight");
    assert_int_equal((uintptr_t)before % 64, 0);
    struct mase_graph *c = mase_graph_clone(g);

    MODULE_(g, "more", "Linear", I(3), I(3));
    MODULE_(c, "other", "Linear", I(2), I(2));
    mase_graph_alloc(g);
    mase_graph_alloc(c); /* borrows the old, owns the new */
    mase_graph_alloc(c);
    assert_ptr_equal(weight(g, "seq_blocks.2.weight"), before);
    assert_ptr_equal(weight(c, "seq_blocks.2.weight"), before);
    assert_int_equal((uintptr_t)weight(g, "more.bias") % 64, 0);
    assert_true(weight(c, "other.weight")[3] == 0);
    mase_graph_own_weights(c);
    mase_graph_free(g);
    assert_true(weight(c, "seq_blocks.0.weight")[0] == 1);
    mase_graph_free(c);
}

static void test_initialising_a_clone_spares_the_original(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    mase_graph_init_weights(g, 1);
    float first = weight(g, "seq_blocks.2.weight")[0];
    struct mase_graph *c = mase_graph_clone(g);
    mase_graph_init_weights(c, 2);
    assert_true(weight(g, "seq_blocks.2.weight")[0] == first);
    assert_true(weight(c, "seq_blocks.2.weight")[0] != first);
    mase_graph_free(c);
    mase_graph_free(g);
}

/* ---- walks ---- */

struct trail {
    struct mase_str names;
    const char *prune, *stop;
};

static enum mase_walk note(struct mase_node *n, void *data)
{
    struct trail *t = data;
    mase_str_printf(&t->names, "%s ", n->name);
    if (mase_streq(n->name, t->stop))
        return MASE_WALK_STOP;
    return mase_streq(n->name, t->prune) ? MASE_WALK_PRUNE : MASE_WALK_ON;
}

static void test_walks(void **state)
{
    (void)state;
    static const struct {
        const char *start, *prune, *stop, *visits;
        bool forward;
    } cases[] = {
        { "x", NULL, NULL,
          "x layer1_0_conv1 add layer1_0_bn1 layer1_0_relu_1 layer1_0_relu flatten fc output ",
          true },
        { "x", "add", NULL, "x layer1_0_conv1 add layer1_0_bn1 layer1_0_relu ", true },
        { "x", NULL, "add", "x layer1_0_conv1 add ", true },
        { "add", NULL, NULL, "add layer1_0_relu x layer1_0_bn1 layer1_0_conv1 ", false },
        { "output", "layer1_0_relu_1", NULL, "output fc flatten layer1_0_relu_1 ", false },
    };
    struct mase_graph *g = residual();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trail t = { .prune = cases[i].prune, .stop = cases[i].stop };
        (cases[i].forward ? mase_walk_forward
                          : mase_walk_backward)(mase_graph_find(g, cases[i].start), note, &t);
        assert_string_equal(mase_str_text(&t.names), cases[i].visits);
        mase_str_release(&t.names);
    }
    mase_graph_free(g);
}

/* ---- differences ---- */

static void assert_differs(const struct mase_graph *a, const struct mase_graph *b,
                           const char *sentence)
{
    struct mase_str why = { 0 };
    assert_false(mase_graph_equal(a, b, &why));
    assert_string_equal(mase_str_text(&why), sentence);
    mase_str_release(&why);
}

static void test_differences_are_named(void **state)
{
    (void)state;
    struct mase_graph *g = residual();
    struct mase_graph *c = mase_graph_clone(g);
    struct mase_quant q = integer_8_4();
    struct mase_node *add = mase_graph_find(c, "add");

    mase_node_set_args(add, &TUPLE(N(c->first), I(2)), NULL);
    assert_differs(g, c, "node add: arguments (%layer1_0_relu, %x){} and (%x, 2){}");
    mase_graph_free(c);
    c = mase_graph_clone(g);
    mase_node_set_quant(mase_graph_find(c, "add"), &q);
    assert_differs(g, c, "node add: different number formats");
    mase_graph_free(c);
    c = mase_graph_clone(g);
    mase_module_set_quant(c, mase_graph_module(c, "fc"), &q);
    assert_differs(g, c, "module fc: different number formats");
    mase_graph_free(c);
    c = mase_graph_clone(g);
    mase_graph_module(c, "fc")->attrs[1].i = 11;
    assert_differs(g, c, "module fc: different out_features");
    mase_graph_free(c);
    c = mase_graph_clone(g);
    mase_graph_module(c, "fc")->params[0].init = MASE_INIT_ONES;
    assert_differs(g, c, "module fc: different parameter weight");
    MODULE0(c, "extra", "ReLU");
    mase_graph_module(c, "fc")->params[0].init = MASE_INIT_UNIFORM;
    assert_differs(g, c, "module extra is in one graph only");
    mase_graph_free(c);
    c = mase_graph_clone(g);
    c->first->annotation = NULL;
    assert_differs(g, c, "node x: annotations torch.Tensor and none");
    c->first->annotation = "torch.Tensor";
    assert_equal(g, c);
    FUNCTION(c, "operator.add", I(1), I(2));
    assert_differs(g, c, "node output stands where the other graph has add_1");
    mase_graph_free(c);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clone_is_equal_and_apart),
        cmocka_unit_test(test_same_network),
        cmocka_unit_test(test_clone_keeps_order_of_users),
        cmocka_unit_test(test_clone_copies_metadata),
        cmocka_unit_test(test_clone_borrows_until_it_owns),
        cmocka_unit_test(test_blocks_do_not_move),
        cmocka_unit_test(test_initialising_a_clone_spares_the_original),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_differences_are_named),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
