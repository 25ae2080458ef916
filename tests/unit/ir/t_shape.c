/*
 * t_shape.c - shapes of whole graphs: inputs by name, values that flow through sizes, and what is
 * said when something is missing. The single operations are in exec's t_forward.c and in
 * t_shape_errors.c.
 */
#include "build.h"
#include "run_cases.h"

#include <stdlib.h>

#include <mase/call.h>

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

static struct mase_input input_of(const char *name, enum mase_dtype dtype, int rank,
                                  const int64_t *dim)
{
    struct mase_input in = { .name = name, .tensor.dtype = dtype, .tensor.shape.rank = rank };
    memcpy(in.tensor.shape.dim, dim, sizeof *dim * (size_t)rank);
    return in;
}
#define INPUT(name, dtype, ...)                                                        \
    input_of(name, dtype, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
             (int64_t[]){ __VA_ARGS__ })

static void assert_tensor(const struct mase_arg *a, const char *want)
{
    struct mase_str s = { 0 };
    assert_non_null(a);
    assert_int_equal(a->kind, MASE_ARG_TENSOR);
    mase_str_add(&s, mase_dtypes[a->tensor->dtype].name);
    mase_shape_print(&s, &a->tensor->shape);
    assert_string_equal(mase_str_text(&s), want);
    assert_null(a->tensor->data);
    mase_str_release(&s);
}

static struct mase_module *add_module(struct fixture *f, const char *path, const char *cls,
                                      const struct mase_arg *args)
{
    struct mase_module *m;
    if (mase_graph_add_module(f->g, &m, path, mase_op_of_module(cls), args, NULL, &f->err))
        fail_msg("%s", f->err.msg);
    return m;
}

static void shapes_flow_through_modules_functions_and_sizes(void **state)
{
    struct fixture *f = *state;
    struct mase_node *x = placeholder(f->g, "x");
    add_module(f, "conv", "Conv2d", &TUPLE(I(3), I(8), I(3)));
    add_module(f, "fc", "Linear", &TUPLE(I(8 * 6 * 6), I(10)));
    struct mase_node *conv = CALL_MODULE(f->g, "conv", N(x));
    struct mase_node *size = METHOD(f->g, "size", N(conv), I(0));
    struct mase_node *half = FUNCTION(f->g, "operator.floordiv", N(size), I(2));
    struct mase_node *view = METHOD(f->g, "view", N(conv), N(size), I(-1));
    struct mase_node *fc = CALL_MODULE(f->g, "fc", N(view));
    struct mase_node *top = METHOD(f->g, "max", N(fc), I(1));
    struct mase_node *index = FUNCTION(f->g, "operator.getitem", N(top), I(1));
    output(f->g, index);
    struct mase_input in = INPUT("x", MASE_F32, 4, 3, 8, 8);

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_OK);
    assert_tensor(mase_values_get(&f->v, conv), "f32[4, 8, 6, 6]");
    assert_int_equal(mase_values_get(&f->v, size)->i, 4);
    assert_int_equal(mase_values_get(&f->v, half)->i, 2);
    assert_tensor(mase_values_get(&f->v, view), "f32[4, 288]");
    assert_tensor(mase_values_get(&f->v, fc), "f32[4, 10]");
    assert_int_equal(mase_values_get(&f->v, top)->kind, MASE_ARG_TUPLE);
    assert_tensor(mase_values_get(&f->v, index), "i64[4]");
    assert_tensor(mase_values_get(&f->v, mase_graph_output(f->g)), "i64[4]");
    assert_int_equal(f->v.count, f->g->node_count);
}

/* Shapes only, even when the caller's tensors have values. */
static void inferred_results_have_no_values(void **state)
{
    struct fixture *f = *state;
    struct mase_node *x = placeholder(f->g, "x");
    struct mase_node *y = FUNCTION(f->g, "torch.relu", N(x));
    output(f->g, y);
    struct mase_input in = INPUT("x", MASE_F32, 2, 3);
    in.tensor = mase_tensor(&f->arena, MASE_F32, &in.tensor.shape, true);

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_OK);
    assert_tensor(mase_values_get(&f->v, x), "f32[2, 3]");
    assert_tensor(mase_values_get(&f->v, y), "f32[2, 3]");
    assert_non_null(in.tensor.data);
}

static void a_missing_input_is_named_with_those_there_are(void **state)
{
    struct fixture *f = *state;
    struct mase_node *a = placeholder(f->g, "a"), *b = placeholder(f->g, "b");
    output(f->g, FUNCTION(f->g, "operator.add", N(a), N(b)));
    struct mase_input in[] = { INPUT("a", MASE_F32, 2), INPUT("c", MASE_F32, 2) };

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, in, 2, &f->err), MASE_EVALUE);
    assert_string_equal(f->err.msg,
                        "no input for placeholder 'b': the graph takes a, b; given: a, c");
}

static void a_placeholder_falls_back_on_its_default(void **state)
{
    struct fixture *f = *state;
    struct mase_node *x = placeholder(f->g, "x");
    struct mase_node *k = mase_graph_insert(f->g, NULL, MASE_PLACEHOLDER, "k", &TUPLE(I(3)), NULL);
    struct mase_node *y = METHOD(f->g, "view", N(x), N(k), I(-1));
    output(f->g, y);
    struct mase_input in = INPUT("x", MASE_F32, 2, 6);

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_OK);
    assert_tensor(mase_values_get(&f->v, y), "f32[3, 4]");
}

static void attributes_have_their_own_type(void **state)
{
    struct fixture *f = *state;
    mase_graph_add_attr(f->g, "index", MASE_I64, &(struct mase_shape){ .rank = 1, .dim = { 5 } },
                        MASE_PARAM_BUFFER);
    struct mase_node *x = placeholder(f->g, "x");
    struct mase_node *i = mase_graph_insert(f->g, NULL, MASE_GET_ATTR, "index", NULL, NULL);
    struct mase_node *y = FUNCTION(f->g, "torch.index_select", N(x), I(0), N(i));
    output(f->g, y);
    struct mase_input in = INPUT("x", MASE_F32, 9, 2);

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_OK);
    assert_tensor(mase_values_get(&f->v, i), "i64[5]");
    assert_tensor(mase_values_get(&f->v, y), "f32[5, 2]");
}

static void a_missing_attribute_is_named(void **state)
{
    struct fixture *f = *state;
    struct mase_node *w = mase_graph_insert(f->g, NULL, MASE_GET_ATTR, "block.w", NULL, NULL);
    output(f->g, w);

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, NULL, 0, &f->err), MASE_EVALUE);
    assert_string_equal(f->err.msg, "block_w: the graph has no attribute 'block.w'");
}

static void an_unknown_operation_is_named(void **state)
{
    struct fixture *f = *state;
    struct mase_node *x = placeholder(f->g, "x");
    output(f->g, FUNCTION(f->g, "torch.fft.rfft", N(x)));
    struct mase_input in = INPUT("x", MASE_F32, 2);

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, &in, 1, &f->err), MASE_EUNSUPPORTED);
    assert_string_equal(f->err.msg, "rfft: 'torch.fft.rfft' is no operation that we know");
}

/* A product of two harmless inputs may still be beyond any memory. */
static void a_result_beyond_the_limit_is_refused(void **state)
{
    struct fixture *f = *state;
    struct mase_node *x = placeholder(f->g, "x"), *z = placeholder(f->g, "z");
    output(f->g, FUNCTION(f->g, "operator.add", N(x), N(z)));
    struct mase_input in[] = { INPUT("x", MASE_F32, 1 << 20, 1), INPUT("z", MASE_F32, 1 << 20) };

    assert_int_equal(mase_infer_shapes(&f->v, &f->arena, f->g, in, 2, &f->err), MASE_ELIMIT);
    assert_non_null(strstr(f->err.msg, "add: the result f32[1048576, 1048576]"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(shapes_flow_through_modules_functions_and_sizes),
        TEST(inferred_results_have_no_values),
        TEST(a_missing_input_is_named_with_those_there_are),
        TEST(a_placeholder_falls_back_on_its_default),
        TEST(attributes_have_their_own_type),
        TEST(a_missing_attribute_is_named),
        TEST(an_unknown_operation_is_named),
        TEST(a_result_beyond_the_limit_is_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
