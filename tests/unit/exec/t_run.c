/*
 * t_run.c - the walk of the reference: number formats, memory that is not ours, and faults that
 * only values show.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include <stdlib.h>

#include <mase/run.h>

#include "formats.h"
#include "unit/ir/cases.h"

struct fixture {
    struct mase_arena arena;
    struct mase_graph *g;
    struct mase_values v;
    struct mase_err err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->g = mase_graph_new("test");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    mase_graph_free(f->g);
    mase_arena_release(&f->arena);
    free(f);
    return 0;
}

static struct mase_input floats(struct fixture *f, const char *name, const float *v, int64_t n)
{
    struct mase_shape s = { .rank = 1, .dim = { n } };
    struct mase_input in = { name, mase_tensor(&f->arena, MASE_F32, &s, true) };
    memcpy(in.tensor.data, v, sizeof *v * (size_t)n);
    return in;
}
#define FLOATS(f, name, ...)                  \
    floats(f, name, (float[]){ __VA_ARGS__ }, \
           (int64_t)(sizeof((float[]){ __VA_ARGS__ }) / sizeof(float)))

static void run(struct fixture *f, const struct mase_input *in, int count)
{
    if (mase_run_reference(&f->v, &f->arena, f->g, in, count, &f->err))
        fail_msg("%s", f->err.msg);
}

static void assert_floats(const struct mase_arg *a, const float *want, int64_t n)
{
    assert_non_null(a);
    assert_int_equal(a->kind, MASE_ARG_TENSOR);
    assert_int_equal(mase_tensor_count(a->tensor), n);
    for (int64_t i = 0; i < n; i++)
        assert_float_equal(mase_f32(a->tensor)[i], want[i], 0.0f);
}
#define ASSERT_FLOATS(a, ...)                  \
    assert_floats(a, (float[]){ __VA_ARGS__ }, \
                  (int64_t)(sizeof((float[]){ __VA_ARGS__ }) / sizeof(float)))

/* Width 4: -8 .. 7 steps of 1/4, 1/2 or 1 for data, weight and bias. */
static struct mase_quant formats(void)
{
    return (struct mase_quant){
        .kind = MASE_QUANT_integer,
        .operand = { [MASE_DATA_IN] = integer_format(4, 2),
                     [MASE_WEIGHT] = integer_format(4, 1),
                     [MASE_BIAS] = integer_format(4, 0) },
    };
}

/* ---- number formats ---- */

/* A linear layer of one input and one output: y = q(x) q(w) + q(b). */
static struct mase_node *small_linear(struct fixture *f, const struct mase_quant *q)
{
    struct mase_module *m;
    struct mase_node *x = placeholder(f->g, "x");
    assert_int_equal(
        mase_graph_add_module(f->g, &m, "fc", MASE_OP_linear, &TUPLE(I(1), I(1)), NULL, &f->err),
        MASE_OK);
    mase_graph_alloc(f->g);
    mase_f32(&mase_module_param(m, "weight")->tensor)[0] = 1.3f; // 1.5
    mase_f32(&mase_module_param(m, "bias")->tensor)[0] = 0.7f;   // 1
    if (q)
        mase_module_set_quant(f->g, m, q);
    struct mase_node *y = CALL_MODULE(f->g, "fc", N(x));
    output(f->g, y);
    return y;
}

static void a_quantised_layer_rounds_each_operand_in_its_format(void **state)
{
    struct fixture *f = *state;
    struct mase_quant q = formats();
    small_linear(f, &q);
    struct mase_input in = FLOATS(f, "x", 0.6f); // 0.5
    run(f, &in, 1);
    ASSERT_FLOATS(mase_run_output(&f->v, f->g), 0.5f * 1.5f + 1.0f);
}

static void a_bypassed_layer_computes_in_float(void **state)
{
    struct fixture *f = *state;
    struct mase_quant q = formats();
    q.bypass = true;
    small_linear(f, &q);
    struct mase_input in = FLOATS(f, "x", 0.5f);
    run(f, &in, 1);
    ASSERT_FLOATS(mase_run_output(&f->v, f->g), (float)(0.5 * (double)1.3f + (double)0.7f));
}

static void data_out_rounds_the_result(void **state)
{
    struct fixture *f = *state;
    struct mase_quant q = formats();
    q.operand[MASE_DATA_OUT] = integer_format(8, 1);
    small_linear(f, &q);
    struct mase_input in = FLOATS(f, "x", 0.6f);
    run(f, &in, 1);
    ASSERT_FLOATS(mase_run_output(&f->v, f->g), 2.0f); /* 1.75, ties to even */
}

static void relu_spends_no_bit_on_a_sign(void **state)
{
    struct fixture *f = *state;
    struct mase_quant q = formats();
    struct mase_node *x = placeholder(f->g, "x");
    struct mase_node *y = FUNCTION(f->g, "torch.relu", N(x));
    mase_node_set_quant(y, &q);
    output(f->g, y);
    struct mase_input in = FLOATS(f, "x", -1.0f, 1.1f, 3.0f, 9.0f);
    run(f, &in, 1);
    ASSERT_FLOATS(mase_values_get(&f->v, y), 0.0f, 1.0f, 3.0f, 3.75f);
}

static void a_product_takes_its_second_factor_in_the_weights_format(void **state)
{
    struct fixture *f = *state;
    struct mase_quant q = formats();
    struct mase_node *x = placeholder(f->g, "x"), *z = placeholder(f->g, "z");
    struct mase_node *y = FUNCTION(f->g, "torch.matmul", N(x), N(z));
    mase_node_set_quant(y, &q);
    output(f->g, y);
    struct mase_input in[] = { FLOATS(f, "x", 0.6f, 1.0f), FLOATS(f, "z", 0.7f, 2.2f) };
    run(f, in, 2);
    ASSERT_FLOATS(mase_values_get(&f->v, y), 0.5f * 0.5f + 1.0f * 2.0f);
}

static void numbers_are_never_quantised(void **state)
{
    struct fixture *f = *state;
    struct mase_quant q = formats();
    struct mase_node *x = placeholder(f->g, "x");
    struct mase_node *y = FUNCTION(f->g, "operator.add", N(x), F(0.0625));
    mase_node_set_quant(y, &q);
    output(f->g, y);
    struct mase_input in = FLOATS(f, "x", 0.6f);
    run(f, &in, 1);
    ASSERT_FLOATS(mase_values_get(&f->v, y), 0.5625f);
}

/* ---- memory ---- */

static void writing_in_place_leaves_the_callers_input_alone(void **state)
{
    struct fixture *f = *state;
    struct mase_node *x = placeholder(f->g, "x");
    METHOD(f->g, "relu_", N(x));
    struct mase_node *r = METHOD(f->g, "clone", N(x));
    FUNCTION(f->g, "operator.setitem", N(x), I(1), F(5.0));
    struct mase_node *y = FUNCTION(f->g, "operator.add", N(x), N(r));
    output(f->g, y);
    struct mase_input in = FLOATS(f, "x", -1.0f, 2.0f);
    run(f, &in, 1);
    ASSERT_FLOATS(mase_values_get(&f->v, y), 0.0f, 7.0f);
    assert_float_equal(mase_f32(&in.tensor)[0], -1.0f, 0.0f);
    assert_float_equal(mase_f32(&in.tensor)[1], 2.0f, 0.0f);
}

static void writing_in_place_leaves_the_weights_alone(void **state)
{
    struct fixture *f = *state;
    struct mase_param *p = mase_graph_add_attr(
        f->g, "w", MASE_F32, &(struct mase_shape){ .rank = 1, .dim = { 2 } }, MASE_PARAM_TRAINED);
    mase_graph_alloc(f->g);
    mase_f32(&p->tensor)[0] = 3.0f;
    struct mase_node *w = mase_graph_insert(f->g, NULL, MASE_GET_ATTR, "w", NULL, NULL);
    FUNCTION(f->g, "operator.setitem", N(w), I(0), I(7));
    output(f->g, w);
    run(f, NULL, 0);
    ASSERT_FLOATS(mase_run_output(&f->v, f->g), 7.0f, 0.0f);
    assert_float_equal(mase_f32(&mase_graph_attr(f->g, "w")->tensor)[0], 3.0f, 0.0f);
}

/* ---- faults ---- */

static void a_layer_without_weights_is_refused(void **state)
{
    struct fixture *f = *state;
    struct mase_module *m;
    struct mase_node *x = placeholder(f->g, "x");
    assert_int_equal(
        mase_graph_add_module(f->g, &m, "fc", MASE_OP_linear, &TUPLE(I(1), I(1)), NULL, &f->err),
        MASE_OK);
    output(f->g, CALL_MODULE(f->g, "fc", N(x)));
    struct mase_input in = FLOATS(f, "x", 1.0f);
    assert_int_equal(mase_run_reference(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_EVALUE);
    assert_string_equal(f->err.msg,
                        "fc: 'fc.weight' has no values: load or initialise the weights");
}

static void an_input_without_values_is_refused(void **state)
{
    struct fixture *f = *state;
    output(f->g, placeholder(f->g, "x"));
    struct mase_input in = { .name = "x", .tensor.shape = { .rank = 1, .dim = { 2 } } };
    assert_int_equal(mase_run_reference(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_EVALUE);
    assert_string_equal(f->err.msg, "input 'x' has a shape but no values");
}

static void an_attribute_without_values_is_refused(void **state)
{
    struct fixture *f = *state;
    mase_graph_add_attr(f->g, "w", MASE_F32, &(struct mase_shape){ .rank = 1, .dim = { 2 } },
                        MASE_PARAM_TRAINED);
    output(f->g, mase_graph_insert(f->g, NULL, MASE_GET_ATTR, "w", NULL, NULL));
    assert_int_equal(mase_run_reference(&f->v, &f->arena, f->g, NULL, 0, &f->err), MASE_EVALUE);
    assert_string_equal(f->err.msg, "w: 'w' has no values: load or initialise the weights");
}

/* What shapes cannot show: tests/data/ops/errors_run.txt. */
static void wrong_values_are_refused(void **state)
{
    (void)state;
    struct case_reader r = open_cases("data/ops/errors_run.txt");
    struct op_case c;
    int cases = 0;
    for (; next_case(&r, &c); release_case(&c), cases++) {
        struct mase_err err = { 0 };
        struct mase_values v;
        if (!mase_run_reference(&v, &c.arena, c.graph, c.input, c.input_count, &err))
            fail_msg("errors_run.txt:%d: accepted", c.line);
        if (!mase_starts_with(err.msg, "y: ") || missing_message(&c, &err))
            fail_msg("errors_run.txt:%d: %s", c.line, err.msg);
    }
    close_cases(&r);
    assert_true(cases > 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quantised_layer_rounds_each_operand_in_its_format),
        TEST(a_bypassed_layer_computes_in_float),
        TEST(data_out_rounds_the_result),
        TEST(relu_spends_no_bit_on_a_sign),
        TEST(a_product_takes_its_second_factor_in_the_weights_format),
        TEST(numbers_are_never_quantised),
        TEST(writing_in_place_leaves_the_callers_input_alone),
        TEST(writing_in_place_leaves_the_weights_alone),
        TEST(a_layer_without_weights_is_refused),
        TEST(an_input_without_values_is_refused),
        TEST(an_attribute_without_values_is_refused),
        TEST(wrong_values_are_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
