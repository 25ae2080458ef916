/*
 * t_compare.c - two networks side by side, on graphs and numbers small enough to work out by hand.
 */
#include "fixture.h"
#include "run_cases.h"

#include <math.h>

#include <mase/compare.h>

static struct mase_arena arena;

static struct mase_graph *graph(const char *text)
{
    struct mase_graph *g = NULL;
    struct mase_err err;
    if (mase_graph_parse_mg(&g, text, strlen(text), "test.mg", &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    mase_graph_alloc(g);
    return g;
}

static struct mase_tensor matrix(int64_t rows, int64_t columns, const float *values)
{
    struct mase_shape shape = { 2, { rows, columns } };
    struct mase_tensor t = mase_tensor(&arena, MASE_F32, &shape, true);
    memcpy(t.data, values, (size_t)mase_tensor_bytes(&t));
    return t;
}

static int release(void **state)
{
    (void)state;
    mase_arena_release(&arena);
    return 0;
}

/* ---- values ---- */

static void errors_by_hand(void **state)
{
    (void)state;
    const struct mase_tensor a = matrix(2, 2, (float[]){ 3, 4, 0, 1 });
    const struct mase_tensor b = matrix(2, 2, (float[]){ 3, 2, 0, 2 });
    struct mase_error e;
    assert_true(mase_error_measure(&e, &a, &b));
    assert_int_equal(e.count, 4);
    assert_int_equal(e.differ, 2);
    assert_true(e.max == 2 && e.mean == 0.75);
    assert_true(fabs(e.sqnr - 10 * log10(26.0 / 5.0)) < 1e-12);
    assert_int_equal(e.rows, 2);
    assert_int_equal(e.flips, 1); /* the first row: from 4 to 3 */
}

static void equal_values(void **state)
{
    (void)state;
    const struct mase_tensor a = matrix(1, 3, (float[]){ 0.0f, NAN, INFINITY });
    const struct mase_tensor b = matrix(1, 3, (float[]){ -0.0f, NAN, INFINITY });
    struct mase_error e;
    assert_true(mase_error_measure(&e, &a, &b));
    assert_int_equal(e.differ, 0);
    assert_true(e.max == 0 && e.mean == 0 && isinf(e.sqnr) && e.sqnr > 0);
    assert_int_equal(e.flips, 0);
}

static void not_a_number_on_one_side(void **state)
{
    (void)state;
    const struct mase_tensor a = matrix(1, 2, (float[]){ 1, 2 });
    const struct mase_tensor b = matrix(1, 2, (float[]){ 1, NAN });
    const struct mase_tensor c = matrix(2, 1, (float[]){ 1, 2 });
    struct mase_error e;
    assert_true(mase_error_measure(&e, &a, &b));
    assert_int_equal(e.differ, 1);
    assert_true(isinf(e.max) && isinf(e.mean) && e.sqnr < 0);
    assert_false(mase_error_measure(&e, &a, &c));
}

/* ---- structure ---- */

#define LINEAR(width)                                                                          \
    "module fc = Linear(in_features=2, out_features=2) quantized {name: 'integer', "           \
    "data_in_width: 8, data_in_frac_width: 4, weight_width: " width ", weight_frac_width: 2, " \
    "bias_width: 8, bias_frac_width: 4}\n"
#define TAIL "%fc = call_module[target=fc](args = (%x,), kwargs = {})\n"

static const char plain[] = "mase-graph 1\n"
                            "module fc = Linear(in_features=2, out_features=2)\n\n"
                            "%x = placeholder[target=x]\n" TAIL "return %fc\n";
static const char quantised[] =
    "mase-graph 1\n" LINEAR("4") "\n"
                                 "%x = placeholder[target=x]\n" TAIL "return %fc\n";
static const char longer[] =
    "mase-graph 1\n"
    "module act = ReLU()\n"
    "module fc = Linear(in_features=2, out_features=2, bias=False)\n\n"
    "%x = placeholder[target=x]\n"
    "%act = call_module[target=act](args = (%x,), kwargs = {})\n" TAIL "return %fc\n";

static void formats_differ(void **state)
{
    (void)state;
    struct mase_graph *a = graph(plain), *b = graph(quantised);
    struct mase_node_pair *p;
    struct mase_str text = { 0 };
    assert_int_equal(mase_compare_nodes(&p, &arena, a, b), 3);
    assert_true(p[0].same_call && p[0].same_formats);
    assert_string_equal(p[1].a->name, "fc");
    assert_true(p[1].same_call);
    assert_false(p[1].same_formats);
    mase_quant_print(&text, mase_node_quant(p[1].b));
    assert_string_equal(mase_str_text(&text),
                        "data_in integer(8, 4), weight integer(4, 2), bias integer(8, 4)");
    mase_str_release(&text);
    mase_graph_free(a);
    mase_graph_free(b);
}

static void nodes_of_one_side(void **state)
{
    (void)state;
    struct mase_graph *a = graph(plain), *b = graph(longer);
    struct mase_node_pair *p;
    assert_int_equal(mase_compare_nodes(&p, &arena, a, b), 4);
    assert_null(p[1].a);
    assert_string_equal(p[1].b->name, "act"); /* where it stands in b */
    assert_string_equal(p[2].a->name, "fc");
    assert_false(p[2].same_call); /* without a bias */
    assert_int_equal(mase_compare_nodes(&p, &arena, b, a), 4);
    assert_string_equal(p[1].a->name, "act");
    assert_null(p[1].b);
    mase_graph_free(a);
    mase_graph_free(b);
}

static void parameters(void **state)
{
    (void)state;
    struct mase_graph *a = graph(plain), *b = graph(longer);
    struct mase_named_tensor *ta, *tb;
    struct mase_tensor_pair *p;
    const int na = mase_graph_tensors(&ta, &arena, a), nb = mase_graph_tensors(&tb, &arena, b);
    assert_int_equal(na, 2);
    assert_int_equal(nb, 1);
    mase_f32(&tb[0].tensor)[3] = 0.5f;
    assert_int_equal(mase_compare_tensors(&p, &arena, ta, na, tb, nb), 2);
    assert_string_equal(p[0].name, "fc.weight");
    assert_true(p[0].same_shape);
    assert_int_equal(p[0].error.differ, 1);
    assert_true(p[0].error.max == 0.5);
    assert_non_null(p[1].a);
    assert_null(p[1].b);
    assert_int_equal(mase_compare_tensors(&p, &arena, tb, nb, ta, na), 2);
    assert_string_equal(p[1].name, "fc.bias");
    assert_null(p[1].a);
    mase_graph_free(a);
    mase_graph_free(b);
}

/* ---- activations ---- */

/* y = x with the weight 1 and the input 0.3, which in 8 bits with 4 of fraction is 0.3125. */
static void first_difference(void **state)
{
    (void)state;
    struct mase_graph *a = graph(plain), *b = graph(quantised);
    const struct mase_input x = { "x", matrix(1, 2, (float[]){ 0.3f, 0.25f }) };
    struct mase_values va, vb;
    struct mase_value_pair *p;
    struct mase_err err;
    int first;
    for (int i = 0; i < 2; i++) {
        struct mase_graph *g = i ? b : a;
        float *w = mase_f32(&mase_graph_attr(g, "fc.weight")->tensor);
        w[0] = w[3] = 1;
        assert_int_equal(mase_run_reference(i ? &vb : &va, &arena, g, &x, 1, &err), MASE_OK);
    }
    assert_int_equal(mase_compare_values(&p, &first, &arena, a, &va, b, &vb), 3);
    assert_int_equal(first, 1);
    assert_true(p[1].comparable);
    assert_int_equal(p[1].error.differ, 1);
    assert_true(fabs(p[1].error.max - 0.0125) < 1e-7);
    assert_true(p[2].comparable && p[2].error.max == p[1].error.max);
    assert_int_equal(mase_compare_values(&p, &first, &arena, a, &va, a, &va), 3);
    assert_int_equal(first, -1);
    mase_graph_free(a);
    mase_graph_free(b);
}

/* ---- quantised parameters ---- */

/* integer(4, 2): multiples of 1/4 from -2 to 1.75 */
static void weights_and_their_formats(void **state)
{
    (void)state;
    struct mase_graph *g = graph(quantised);
    struct mase_quantised *p;
    const float w[] = { 0.3f, -5.0f, 1.75f, 2.0f }, q[] = { 0.25f, -2.0f, 1.75f, 1.75f };
    memcpy(mase_graph_attr(g, "fc.weight")->tensor.data, w, sizeof w);
    assert_int_equal(mase_quantised_params(&p, &arena, g), 2);
    assert_string_equal(p[0].name, "fc.weight");
    assert_true(p[0].low == -2 && p[0].high == 1.75f && p[0].step == 0.25f);
    assert_memory_equal(p[0].q.data, q, sizeof q);
    assert_int_equal(p[0].unrepresentable, 0);
    assert_int_equal(p[0].saturated, 2);
    assert_true(p[0].error.max == 3);
    assert_string_equal(p[1].name, "fc.bias");

    const struct mase_tensor foreign = matrix(2, 2, (float[]){ 0.25f, -2.25f, 0.1f, NAN });
    const struct mase_tensor other = matrix(1, 4, w);
    assert_true(mase_quantised_check(&p[0], &foreign));
    assert_int_equal(p[0].unrepresentable, 3);
    assert_false(mase_quantised_check(&p[0], &other));
    mase_graph_free(g);
}

static void float_networks_have_none(void **state)
{
    (void)state;
    struct mase_graph *g = graph(plain);
    struct mase_quantised *p;
    assert_int_equal(mase_quantised_params(&p, &arena, g), 0);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(errors_by_hand, release),
        cmocka_unit_test_teardown(equal_values, release),
        cmocka_unit_test_teardown(not_a_number_on_one_side, release),
        cmocka_unit_test_teardown(formats_differ, release),
        cmocka_unit_test_teardown(nodes_of_one_side, release),
        cmocka_unit_test_teardown(parameters, release),
        cmocka_unit_test_teardown(first_difference, release),
        cmocka_unit_test_teardown(weights_and_their_formats, release),
        cmocka_unit_test_teardown(float_networks_have_none, release),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
