/*
 * t_tie.c - parameters under several names: one memory, whatever happens to the graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/graph.h>
#include <mase/tensor.h>

#include "build.h"
#include "run_cases.h"

static const char text[] =
    "mase-graph 1\n"
    "name Tied\n\n"
    "attr first.g = f32[3] init ones\n"
    "module embed = Embedding(num_embeddings=4, embedding_dim=3, padding_idx=1)\n"
    "module a = Linear(in_features=3, out_features=3) frozen {bias}\n"
    "attr b.weight = f32[3, 3] tied a.weight\n"
    "attr b.bias = f32[3] tied a.bias\n"
    "module n = BatchNorm1d(num_features=3)\n"
    "module head = Linear(in_features=3, out_features=4) tied {weight: embed.weight}\n"
    "attr m.g = f32[3] tied first.g\n"
    "attr m.mean = f32[3] buffer tied n.running_mean\n\n"
    "%x = placeholder[target=x]\n"
    "%embed = call_module[target=embed](args = (%x,), kwargs = {})\n"
    "%a = call_module[target=a](args = (%embed,), kwargs = {})\n"
    "%m_g = get_attr[target=m.g]\n"
    "%mul = call_function[target=operator.mul](args = (%a, %m_g), kwargs = {})\n"
    "%head = call_module[target=head](args = (%mul,), kwargs = {})\n"
    "return %head\n";

static struct mase_graph *parse(const char *mg)
{
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    if (mase_graph_parse_mg(&g, mg, strlen(mg), "t.mg", &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    return g;
}

static void assert_sound(const struct mase_graph *g)
{
    struct mase_str why = { 0 };
    if (mase_graph_verify(g, &why))
        fail_msg("%s", mase_str_text(&why));
    mase_str_release(&why);
}

static void assert_text(const char *expected, const struct mase_graph *g)
{
    ASSERT_PRINTS(expected, mase_graph_print_mg(out, g));
}

static const float *data_of(const struct mase_graph *g, const char *path)
{
    return mase_f32(&mase_graph_attr(g, path)->tensor);
}

static bool list_name(const char *full, struct mase_param *p, void *data)
{
    mase_str_printf(data, "%s%s ", full, p->tied ? "*" : "");
    return true;
}

static void test_text(void **state)
{
    (void)state;
    struct mase_graph *g = parse(text), *copy = mase_graph_clone(g);
    assert_sound(g);
    assert_text(text, g);
    assert_text(text, copy);
    assert_true(mase_graph_equal(g, copy, NULL));
    mase_graph_attr(copy, "m.g")->tied = NULL;
    assert_false(mase_graph_same_network(g, copy, NULL));
    /* PyTorch's order, though only parameters say where first, b and m stand */
    ASSERT_PRINTS("first.g embed.weight a.weight a.bias b.weight* b.bias* n.weight n.bias "
                  "n.running_mean n.running_var n.num_batches_tracked head.weight* head.bias m.g* "
                  "m.mean* ",
                  mase_graph_each_param(g, list_name, out));
    assert_int_equal(mase_graph_param_count(g), 3 + 12 + 12 + 6 + 4);
    assert_int_equal(mase_graph_frozen_count(g), 3);
    assert_int_equal(mase_graph_attr(g, "b.bias")->kind, MASE_PARAM_FROZEN);
    mase_graph_free(copy);
    mase_graph_free(g);
}

static void assert_one_memory(const struct mase_graph *g)
{
    assert_sound(g);
    assert_ptr_equal(data_of(g, "head.weight"), data_of(g, "embed.weight"));
    assert_ptr_equal(data_of(g, "b.bias"), data_of(g, "a.bias"));
    assert_ptr_equal(data_of(g, "m.mean"), data_of(g, "n.running_mean"));
    assert_ptr_not_equal(data_of(g, "m.mean"), data_of(g, "n.running_var"));
}

static void test_memory(void **state)
{
    (void)state;
    struct mase_graph *g = parse(text);
    mase_graph_init_weights(g, 5);
    assert_one_memory(g);
    struct mase_graph *copy = mase_graph_clone(g);
    assert_ptr_equal(data_of(copy, "head.weight"), data_of(g, "embed.weight"));
    mase_graph_own_weights(copy);
    assert_one_memory(copy);
    assert_ptr_not_equal(data_of(copy, "head.weight"), data_of(g, "head.weight"));
    assert_memory_equal(data_of(copy, "head.weight"), data_of(g, "head.weight"), 12 * 4);
    mase_graph_free(copy);
    mase_graph_free(g);
}

/* It starts as the first name does, which is that of an embedding here, its padding empty. */
static void test_start(void **state)
{
    (void)state;
    struct mase_graph *tied = parse(text);
    struct mase_graph *alone = parse("mase-graph 1\n"
                                     "module embed = Embedding(4, 3, padding_idx=1)\n"
                                     "%x = placeholder[target=x]\n"
                                     "return %x\n");
    mase_graph_init_weights(tied, 5);
    mase_graph_init_weights(alone, 5);
    assert_memory_equal(data_of(tied, "head.weight"), data_of(alone, "embed.weight"), 12 * 4);
    assert_float_equal(data_of(tied, "head.weight")[3], 0, 0);
    mase_graph_free(alone);
    mase_graph_free(tied);
}

/* The first name in the state dict counts, in whatever order they were tied. */
static void test_first_name(void **state)
{
    (void)state;
    struct mase_err err;
    struct mase_graph *g = parse("mase-graph 1\n"
                                 "module a = Linear(3, 3) tied {weight: b.weight}\n"
                                 "module b = Linear(3, 3) init {weight: ones}\n"
                                 "module c = Linear(3, 3)\n"
                                 "module d = Linear(3, 3)\n"
                                 "%x = placeholder[target=x]\n"
                                 "return %x\n");
    assert_null(mase_graph_attr(g, "a.weight")->tied);
    assert_string_equal(mase_graph_attr(g, "b.weight")->tied, "a.weight");
    assert_int_equal(mase_graph_attr(g, "a.weight")->init, MASE_INIT_ONES);
    assert_int_equal(mase_graph_tie(g, "c.weight", "d.weight", &err), MASE_OK);
    assert_int_equal(mase_graph_tie(g, "b.weight", "d.weight", &err), MASE_OK);
    ASSERT_PRINTS("a.weight a.bias b.weight* b.bias c.weight* c.bias d.weight* d.bias ",
                  mase_graph_each_param(g, list_name, out));
    assert_string_equal(mase_graph_attr(g, "d.weight")->tied, "a.weight");
    assert_int_equal(mase_graph_attr(g, "a.weight")->init, MASE_INIT_UNIFORM); /* as d.weight's */
    assert_int_equal(mase_graph_tie(g, "a.weight", "d.weight", &err), MASE_EVALUE);
    assert_string_equal(err.msg, "'a.weight' is tied to itself");
    assert_sound(g);
    mase_graph_free(g);
}

/* Where the first name goes, the next is the first, with the same numbers. */
static void test_first_name_goes(void **state)
{
    (void)state;
    struct mase_graph *g = parse(text);
    mase_graph_init_weights(g, 5);
    struct mase_graph *part = mase_graph_clone(g);
    struct mase_node *embed = mase_graph_find(part, "embed");
    mase_graph_replace_uses(part, embed, embed->inputs[0], NULL);
    mase_graph_erase(part, embed);
    assert_int_equal(mase_graph_sweep(part), 2); /* embed, and n, which nothing calls */
    assert_sound(part);
    assert_null(mase_graph_attr(part, "head.weight")->tied);
    assert_null(mase_graph_module(part, "embed"));
    assert_ptr_equal(data_of(part, "head.weight"), data_of(g, "embed.weight"));
    assert_int_equal(mase_graph_param_count(part), 12 + 4 + 9 + 3 + 3);
    mase_graph_own_weights(part);
    assert_memory_equal(data_of(part, "head.weight"), data_of(g, "embed.weight"), 12 * 4);
    mase_graph_free(part);

    /* a module that is dropped before others: they and the attributes keep their order */
    assert_int_equal(mase_graph_sweep(g), 1); /* n, which nothing calls */
    assert_sound(g);
    ASSERT_PRINTS("first.g embed.weight a.weight a.bias b.weight* b.bias* head.weight* head.bias "
                  "m.g* m.mean ",
                  mase_graph_each_param(g, list_name, out));
    mase_graph_free(g);
}

/* Long chains are followed once. */
static void test_chain(void **state)
{
    (void)state;
    enum { LINKS = 3000 };
    struct mase_str mg = { 0 };
    mase_str_add(&mg, "mase-graph 1\n");
    for (int i = 0; i < LINKS; i++)
        mase_str_printf(&mg, "attr p%d = f32[1] tied p%d\n", i, i + 1);
    mase_str_printf(&mg, "attr p%d = f32[1] init ones\n%%x = placeholder[target=x]\nreturn %%x\n",
                    LINKS);
    struct mase_graph *g = parse(mase_str_text(&mg));
    assert_int_equal(mase_graph_param_count(g), 1);
    assert_int_equal(mase_graph_attr(g, "p0")->init, MASE_INIT_ONES);
    assert_string_equal(mase_graph_attr(g, "p3000")->tied, "p0");
    mase_str_release(&mg);
    mase_graph_free(g);
}

static void test_errors(void **state)
{
    (void)state;
#define GRAPH "\n%x = placeholder[target=x]\nreturn %x\n"
    static const struct {
        const char *mg, *msg;
        int line, col;
    } rows[] = {
        { "module a = Linear(2, 3) tied {wieght: b}" GRAPH, "module a has no parameter 'wieght'", 2,
          31 },
        { "module a = Linear(2, 3) tied {weight: b}" GRAPH, "there is no parameter 'b'", 2, 39 },
        { "module a = Linear(2, 2) tied {weight: a.weight}" GRAPH, "'a.weight' is tied to itself",
          2, 39 },
        { "attr a = f32[2] tied b\nattr b = f32[3]" GRAPH,
          "'a' is f32[2] and cannot be tied to 'b', which is f32[3]", 2, 22 },
        { "attr a = f32[2] tied b\nattr b = i64[2]" GRAPH,
          "'a' is f32[2] and cannot be tied to 'b', which is i64[2]", 2, 22 },
        { "attr a = f32[2] buffer tied b\nattr b = f32[2]" GRAPH,
          "'a' cannot be tied to 'b': both must be parameters, or both buffers", 2, 29 },
        { "attr a = f32[2] frozen tied b\nattr b = f32[2]" GRAPH,
          "'a' is frozen, and 'b', to which it is tied, is not", 2, 29 },
        { "attr a = f32[2] tied" GRAPH, "expected the name of the parameter that it is", 2, 21 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mase_graph *g = NULL;
        struct mase_err err = { 0 };
        struct mase_str mg = { 0 };
        mase_str_printf(&mg, "mase-graph 1\n%s", rows[i].mg);
        assert_int_not_equal(mase_graph_parse_mg(&g, mase_str_text(&mg), mg.len, "t.mg", &err),
                             MASE_OK);
        if (strncmp(err.msg, rows[i].msg, strlen(rows[i].msg)) != 0 ||
            err.loc.line != rows[i].line || err.loc.col != rows[i].col)
            fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
        mase_str_release(&mg);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_first_name),
        cmocka_unit_test(test_first_name_goes),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_errors),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
