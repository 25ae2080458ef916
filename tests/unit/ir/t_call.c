/*
 * t_call.c - a call with everything filled in, from wherever it comes.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include <mase/call.h>

/* Every node's result is the tensor given as data. */
static const struct mase_arg *one_result(const struct mase_node *n, void *data)
{
    (void)n;
    return data;
}

struct world {
    struct mase_graph *g;
    struct mase_node *x;
    struct mase_arena arena;
    struct mase_tensor tensor;
    struct mase_arg result;
    struct mase_call call;
    struct mase_err err;
};

static struct world *set_up(void)
{
    static struct world w;
    w = (struct world){ .g = mase_graph_new(NULL) };
    w.x = placeholder(w.g, "x");
    w.tensor.shape = (struct mase_shape){ .rank = 2, .dim = { 8, 16 } };
    w.result = (struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = &w.tensor };
    return &w;
}

static void tear_down(struct world *w)
{
    mase_arena_release(&w->arena);
    mase_graph_free(w->g);
}

static void resolve(struct world *w, const struct mase_node *n)
{
    if (mase_call_init(&w->call, &w->arena, n, one_result, &w->result, &w->err))
        fail_msg("%s", w->err.msg);
}

/* How an argument of the resolved call prints, or "absent". */
static void print_arg(struct mase_str *out, const struct world *w, const char *name)
{
    const struct mase_arg *v = mase_call_arg(&w->call, name);
    if (v)
        mase_arg_print(out, v, true);
    else
        mase_str_add(out, "absent");
}
#define ASSERT_ARG(w, name, text) ASSERT_PRINTS(text, print_arg(out, w, name))

static void test_module_gives_operands_and_attributes(void **state)
{
    (void)state;
    struct world *w = set_up();
    MODULE_(w->g, "conv", "Conv2d", I(3), I(8), I(3), I(2));
    resolve(w, CALL_MODULE(w->g, "conv", N(w->x)));
    ASSERT_ARG(w, "input", "<f32[8, 16]>");
    ASSERT_ARG(w, "weight", "<f32[8, 3, 3, 3]>");
    ASSERT_ARG(w, "bias", "<f32[8]>");
    ASSERT_ARG(w, "stride", "(2, 2)");
    ASSERT_ARG(w, "padding", "(0, 0)");
    ASSERT_ARG(w, "kernel_size", "(3, 3)"); /* no call parameter: the constructor's */
    ASSERT_ARG(w, "nonsense", "absent");
    tear_down(w);
}

/* A Linear's attribute bias is a flag, its operand bias a tensor or None. */
static void test_bias_is_no_flag(void **state)
{
    (void)state;
    struct world *w = set_up();
    module(w->g, "fc", "Linear", &TUPLE(I(16), I(5)), &KW1("bias", B(false)));
    resolve(w, CALL_MODULE(w->g, "fc", N(w->x)));
    ASSERT_ARG(w, "bias", "None");
    assert_null(mase_call_tensor(&w->call, "bias"));
    assert_int_equal(mase_call_tensor(&w->call, "weight")->shape.dim[0], 5);
    tear_down(w);
}

static void test_buffers_are_tensors_too(void **state)
{
    (void)state;
    struct world *w = set_up();
    MODULE_(w->g, "bn", "BatchNorm1d", I(16));
    resolve(w, CALL_MODULE(w->g, "bn", N(w->x)));
    double eps = 0;
    assert_int_equal(mase_call_tensor(&w->call, "running_var")->shape.dim[0], 16);
    assert_int_equal(mase_call_float(&w->call, &eps, "eps", NULL), MASE_OK);
    assert_true(eps == 1e-5);
    tear_down(w);
}

static void test_functions_take_defaults_and_conversions(void **state)
{
    (void)state;
    struct world *w = set_up();
    resolve(w, mase_graph_insert(w->g, NULL, MASE_CALL_FUNCTION, "torch.conv2d",
                                 &TUPLE(N(w->x), N(w->x)), &KW1("padding", I(1))));
    ASSERT_ARG(w, "bias", "None");
    ASSERT_ARG(w, "padding", "(1, 1)");
    ASSERT_ARG(w, "stride", "(1, 1)");
    ASSERT_ARG(w, "groups", "1");
    int64_t two[2], one = 0;
    assert_int_equal(mase_call_ints(&w->call, two, 2, "padding", NULL), MASE_OK);
    assert_int_equal(two[1], 1);
    assert_int_equal(mase_call_int(&w->call, &one, "groups", NULL), MASE_OK);
    assert_int_equal(one, 1);
    tear_down(w);
}

/* view(8, -1), view((8, -1)) and view([8, -1]) are one. Nodes inside are their results. */
static void test_a_star_takes_the_rest(void **state)
{
    (void)state;
    struct world *w = set_up();
    resolve(w, METHOD(w->g, "view", N(w->x), I(8), I(-1)));
    ASSERT_ARG(w, "shape", "(8, -1)");
    resolve(w, METHOD(w->g, "view", N(w->x), TUPLE(I(8), I(-1))));
    ASSERT_ARG(w, "shape", "(8, -1)");
    resolve(w, METHOD(w->g, "view", N(w->x), LIST(N(w->x), I(-1))));
    ASSERT_ARG(w, "shape", "(<f32[8, 16]>, -1)");
    resolve(w, METHOD(w->g, "view", N(w->x)));
    ASSERT_ARG(w, "shape", "()");
    tear_down(w);
}

static void test_placeholders_bind_nothing(void **state)
{
    (void)state;
    struct world *w = set_up();
    resolve(w, w->x);
    assert_int_equal(w->call.sig->count, 0);
    tear_down(w);
}

static void assert_refused(struct world *w, const struct mase_node *n, const char *msg)
{
    assert_int_not_equal(mase_call_init(&w->call, &w->arena, n, one_result, &w->result, &w->err),
                         MASE_OK);
    assert_string_equal(w->err.msg, msg);
}

static void test_wrong_calls_name_the_node(void **state)
{
    (void)state;
    struct world *w = set_up();
    MODULE_(w->g, "fc", "Linear", I(16), I(5));
    assert_refused(w, FUNCTION(w->g, "torch.matmul", N(w->x)),
                   "matmul: matmul: argument 'other' is missing");
    assert_refused(w, FUNCTION(w->g, "torch.relu", N(w->x), I(1), I(2)),
                   "relu: relu: takes at most 2 arguments (input, inplace), got 3");
    assert_refused(w,
                   mase_graph_insert(w->g, NULL, MASE_CALL_MODULE, "fc", &TUPLE(N(w->x)),
                                     &KW1("inputs", I(1))),
                   "fc: Linear: unknown argument 'inputs'; did you mean 'input'?");
    assert_refused(w, mase_graph_insert(w->g, NULL, MASE_CALL_MODULE, "fc", NULL, NULL),
                   "fc_1: Linear: argument 'input' is missing");
    assert_refused(w, FUNCTION(w->g, "torch.made_up", N(w->x)),
                   "made_up: unknown call_function 'torch.made_up'");
    tear_down(w);
}

static const struct mase_arg *no_result(const struct mase_node *n, void *data)
{
    (void)n;
    (void)data;
    return NULL;
}

static void test_nodes_without_results(void **state)
{
    (void)state;
    struct world *w = set_up();
    const struct mase_node *n = FUNCTION(w->g, "torch.relu", N(w->x));
    assert_int_equal(mase_call_init(&w->call, &w->arena, n, no_result, NULL, &w->err), MASE_EVALUE);
    assert_string_equal(w->err.msg, "relu: relu: x has no value yet");
    assert_int_equal(mase_call_init(&w->call, &w->arena, n, no_result, NULL, NULL), MASE_EVALUE);
    tear_down(w);
}

static void test_values_of_the_wrong_kind(void **state)
{
    (void)state;
    struct world *w = set_up();
    const struct mase_tensor *t;
    int64_t v[2];
    double f;

    resolve(w, FUNCTION(w->g, "torch.flatten", I(3), T("a"), TUPLE(I(1), I(2), I(3))));
    assert_int_equal(mase_call_need(&w->call, &t, "input", &w->err), MASE_EVALUE);
    assert_string_equal(w->err.msg, "flatten: flatten needs a tensor 'input', got 3");
    assert_int_equal(mase_call_int(&w->call, v, "start_dim", &w->err), MASE_EVALUE);
    assert_string_equal(w->err.msg, "flatten: flatten needs an integer 'start_dim', got 'a'");
    assert_int_equal(mase_call_float(&w->call, &f, "start_dim", &w->err), MASE_EVALUE);
    assert_int_equal(mase_call_ints(&w->call, v, 2, "end_dim", &w->err), MASE_EVALUE);
    assert_string_equal(
        w->err.msg, "flatten: flatten needs an integer or 2 of them as 'end_dim', got (1, 2, 3)");
    assert_int_equal(mase_call_fail(&w->call, &w->err, "rank %d", 9), MASE_EVALUE);
    assert_string_equal(w->err.msg, "flatten: flatten: rank 9");
    tear_down(w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module_gives_operands_and_attributes),
        cmocka_unit_test(test_bias_is_no_flag),
        cmocka_unit_test(test_buffers_are_tensors_too),
        cmocka_unit_test(test_functions_take_defaults_and_conversions),
        cmocka_unit_test(test_a_star_takes_the_rest),
        cmocka_unit_test(test_placeholders_bind_nothing),
        cmocka_unit_test(test_wrong_calls_name_the_node),
        cmocka_unit_test(test_nodes_without_results),
        cmocka_unit_test(test_values_of_the_wrong_kind),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
