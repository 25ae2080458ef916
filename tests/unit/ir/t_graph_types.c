/*
 * t_graph_types.c - the shapes of a graph that are found once for any batch: they are what the
 * rules say for the batch at hand, or are not given; they stay until the graph is edited.
 */
#include "base/counters.h"
#include "build.h"
#include "graph_text.h"
#include "ir/shape/graph_types.h"
#include "ir/shape/infer.h"
#include "run_cases.h"
#include "unit/ir/cases.h"

/* ---- the same as the rules say ---- */

static enum mase_status infer_step(struct mase_call *c, void *data, struct mase_err *err)
{
    (void)data;
    return mase_call_infer(c, err);
}

static bool same(const struct mase_arg *a, const struct mase_arg *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == MASE_ARG_TENSOR)
        return a->tensor->dtype == b->tensor->dtype &&
               mase_shape_equal(&a->tensor->shape, &b->tensor->shape);
    if (a->kind < MASE_ARG_TUPLE)
        return mase_arg_equal(a, b);
    bool all = a->count == b->count;
    for (int i = 0; all && i < a->count; i++)
        all = same(&a->items[i], &b->items[i]);
    return all;
}

/* Is what is known for these inputs what the rules find? *known counts the results. */
static bool agrees(const struct mase_graph *g, const struct mase_input *in, int count, int *known)
{
    struct mase_arena a = { 0 };
    struct mase_err err;
    struct mase_values v;
    const struct mase_walk_plan plan = { .inputs = in, .input_count = count, .step = infer_step };
    const struct mase_arg *const *at = mase_graph_results(g, &a, in, count);
    bool all = true;
    if (at)
        all = !mase_values_walk(&v, &a, g, &plan, &err);
    for (int i = 0; at && all && i < g->node_count; i++, ++*known)
        all = same(at[i], &v.value[i]);
    mase_arena_release(&a);
    return all;
}

static void types_say_what_the_rules_say(void **state)
{
    static const char *const files[] = { "data/ops/cases.txt", "data/ops/errors.txt" };
    static const int64_t batches[] = { 1, 2, 3, 4, 5, 7, 8, 11, 16, 64 };
    (void)state;
    int known = 0;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        struct case_reader r = open_cases(files[k]);
        struct op_case c;
        for (; next_case(&r, &c); release_case(&c))
            for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
                for (int i = 0; i < c.input_count; i++)
                    if (c.input[i].tensor.shape.rank)
                        c.input[i].tensor.shape.dim[0] = batches[b];
                if (!agrees(c.graph, c.input, c.input_count, &known))
                    fail_msg("%s:%d: %s: %d samples have other shapes", files[k], c.line, c.op,
                             (int)batches[b]);
            }
        close_cases(&r);
    }
    assert_true(known > 10000);
}

/* ---- which graphs have them ---- */

static struct mase_input samples(int64_t count)
{
    return (struct mase_input){ "x", { .shape = { 3, { count, 4, 300 } } } };
}

static const struct {
    const char *call; /* of x, (N, 4, 300) */
    int64_t least;    /* samples for which its shapes are known; 0: for none */
} networks[] = {
    { "torch.relu(x)", 1 },
    { "torch.flatten(x, 1)", 1 },
    { "torch.flatten(x, 0, 1)", 1 },
    { "x.permute(1, 0, 2)", 1 },
    { "x.size(1)", 1 },
    { "x.size(0)", 1 },
    { "x.squeeze()", 2 },
    { "x.repeat(2, 1, 1)", 1 },
    { "x.view(-1, 1200)", 1 },
    { "x.mean(0)", 0 },
    { "x.narrow(0, 0, 3)", 0 },
    { "x.split(5)", 0 },
    { "x.chunk(2)", 0 },
    { "torch.cat((x, x))", 1 },
    { "torch.nn.functional.pad(x, (0, 0, 0, 0, 1, 1))", 0 },
    { "x.view(-1, 2400)", 0 },
    { "x.view(11, -1)", 0 },
    { "x.unfold(0, 3, 1)", 0 },
};

static void shapes_are_known_where_samples_are_alike(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof networks / sizeof *networks; k++) {
        struct mase_graph *g = mase_graph_new("g");
        mase_build_input(g, "x", NULL);
        mase_build_output(g, text_call(g, "%s", networks[k].call));
        for (int64_t n = 1; n < 4; n++) {
            struct mase_arena a = { 0 };
            const struct mase_input in = samples(n);
            const bool known = mase_graph_results(g, &a, &in, 1);
            const bool wanted = networks[k].least && n >= networks[k].least;
            if (known != wanted)
                fail_msg("%s is %sknown for %d samples", networks[k].call, known ? "" : "un",
                         (int)n);
            mase_arena_release(&a);
        }
        mase_graph_free(g);
    }
}

/* The sample is so large that the limit of results cuts in before the constant does. */
static void a_cut_is_seen_behind_a_large_sample(void **state)
{
    (void)state;
    const struct mase_input in = samples(2);
    struct mase_graph *g = mase_graph_new("g");
    mase_build_input(g, "x", NULL);
    text_call(g, "x.view(-1, 1200)");
    struct mase_node *cut = text_call(g, "onnx.slice(view, 0, 0, 100, 1)");
    mase_build_output(g, cut);
    assert_ptr_equal(mase_graph_cuts_batch(g, &in, 1), cut);
    mase_graph_free(g);
}

/* ---- how long they are kept ---- */

static int64_t rules_for(const struct mase_graph *g, int64_t batch)
{
    struct mase_arena a = { 0 };
    struct mase_err err;
    struct mase_values v;
    const struct mase_input in = samples(batch);
    const int64_t before = mase_counted(MASE_COUNT_SHAPE_RULES);
    assert_int_equal(mase_infer_shapes(&v, &a, g, &in, 1, &err), MASE_OK);
    mase_arena_release(&a);
    return mase_counted(MASE_COUNT_SHAPE_RULES) - before;
}

static void shapes_are_found_once_until_an_edit(void **state)
{
    (void)state;
    const struct mase_quant q = { .kind = MASE_QUANT_integer };
    struct mase_graph *g = mase_graph_new("g");
    mase_build_input(g, "x", NULL);
    struct mase_node *relu = text_call(g, "torch.relu(x)");
    mase_build_output(g, relu);
    assert_int_equal(rules_for(g, 8), 3);
    assert_int_equal(rules_for(g, 8), 0);
    assert_int_equal(rules_for(g, 512), 0);
    struct mase_graph *clone = mase_graph_clone(g);
    assert_int_equal(rules_for(clone, 64), 0);
    mase_node_set_quant(relu, &q);
    assert_int_equal(rules_for(g, 8), 0);
    text_call(g, "torch.sigmoid(relu)");
    assert_int_equal(rules_for(g, 8), 6);
    assert_int_equal(rules_for(clone, 8), 0);
    mase_graph_free(clone);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_say_what_the_rules_say),
        cmocka_unit_test(shapes_are_known_where_samples_are_alike),
        cmocka_unit_test(a_cut_is_seen_behind_a_large_sample),
        cmocka_unit_test(shapes_are_found_once_until_an_edit),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
