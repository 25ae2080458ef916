/*
 * t_forward.c - every operation gives what PyTorch gives, in value, type and shape.
 *
 * The cases are tests/data/ops/cases.txt. Floats may differ by 1e-5, relative to the larger of the
 * value and 1: PyTorch rounds every step to float32, we round once. Integers and booleans may not.
 */
#include <math.h>

#include <mase/run.h>

#include "run_cases.h"
#include "unit/ir/cases.h"

#define CASES "data/ops/cases.txt"

/* ---- comparing ---- */

static bool near(double got, double want, bool exact)
{
    if (got == want || (isnan(got) && isnan(want)))
        return true;
    return !exact && fabs(got - want) <= 1e-5 * fmax(1.0, fabs(want));
}

static const char *same_tensor(const struct mase_tensor *got, const struct mase_tensor *want)
{
    bool exact = got->dtype != MASE_F32 && got->dtype != MASE_F64;
    if (got->dtype != want->dtype)
        return "another type";
    if (!mase_shape_equal(&got->shape, &want->shape))
        return "another shape";
    for (int64_t i = 0; i < mase_tensor_count(want); i++)
        if (!near(mase_tensor_get(got, i), mase_tensor_get(want, i), exact))
            return "other values";
    return NULL;
}

/* NULL, or what differs. */
static const char *same(const struct mase_arg *got, const struct mase_arg *want)
{
    if (got->kind != want->kind)
        return "another kind of result";
    if (got->kind == MASE_ARG_TENSOR)
        return same_tensor(got->tensor, want->tensor);
    if (got->kind == MASE_ARG_FLOAT)
        return near(got->f, want->f, false) ? NULL : "another number";
    return mase_arg_equal(got, want) ? NULL : "another value";
}

/* The tensors of a tuple, those of tuples in it too, one by one from number *i on. */
static const char *same_items(const struct op_case *c, const struct mase_arg *got, int *i)
{
    const char *why = NULL;
    for (int k = 0; k < got->count && !why; k++)
        if (got->items[k].kind == MASE_ARG_TUPLE)
            why = same_items(c, &got->items[k], i);
        else if (*i == c->expect_count)
            why = "too many results";
        else
            why = same(&got->items[k], &c->expect[(*i)++]);
    return why;
}

static const char *same_result(const struct op_case *c, const struct mase_arg *got)
{
    int i = 0;
    if (!c->expect_tuple)
        return same(got, &c->expect[0]);
    const char *why = got->kind == MASE_ARG_TUPLE ? same_items(c, got, &i) : "no tuple";
    return why || i == c->expect_count ? why : "too few results";
}

/* The shapes of two results agree, whether they have values or not. */
static bool same_shapes(const struct mase_arg *a, const struct mase_arg *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == MASE_ARG_TENSOR)
        return a->tensor->dtype == b->tensor->dtype &&
               mase_shape_equal(&a->tensor->shape, &b->tensor->shape);
    if (a->kind != MASE_ARG_TUPLE)
        return true;
    bool equal = a->count == b->count;
    for (int i = 0; i < a->count && equal; i++)
        equal = same_shapes(&a->items[i], &b->items[i]);
    return equal;
}

/* ---- running ---- */

static const char *run_case(struct op_case *c, struct mase_err *err)
{
    struct mase_values run, shapes;
    if (mase_run_reference(&run, &c->arena, c->graph, c->input, c->input_count, err))
        return err->msg;
    if (mase_infer_shapes(&shapes, &c->arena, c->graph, c->input, c->input_count, err))
        return err->msg;
    for (const struct mase_node *n = c->graph->first; n; n = n->next)
        if (!same_shapes(mase_values_get(&run, n), mase_values_get(&shapes, n)))
            return "shape inference and execution disagree";
    return same_result(c, mase_run_output(&run, c->graph));
}

static void every_case_agrees_with_pytorch(void **state)
{
    (void)state;
    struct case_reader r = open_cases(CASES);
    struct op_case c;
    int cases = 0, wrong = 0;
    for (; next_case(&r, &c); cases++) {
        struct mase_err err = { 0 };
        const char *why = run_case(&c, &err);
        if (why) {
            print_error("%s:%d: %s: %s\n", CASES, c.line, c.op, why);
            wrong++;
        }
        release_case(&c);
    }
    close_cases(&r);
    assert_true(cases > 400);
    assert_int_equal(wrong, 0);
}

static void every_operation_has_a_case(void **state)
{
    (void)state;
    struct case_reader r = open_cases(CASES);
    struct op_case c;
    int seen[MASE_OP_COUNT] = { 0 }, missing = 0;
    for (; next_case(&r, &c); release_case(&c)) {
        enum mase_op op = mase_op_find(c.op);
        assert_int_not_equal(op, MASE_OP_unknown);
        bool used = false;
        for (const struct mase_node *n = c.graph->first; n; n = n->next)
            used |= n->op == op;
        if (!used)
            fail_msg("%s:%d: the case for %s does not call it", CASES, c.line, c.op);
        seen[op]++;
    }
    close_cases(&r);
    for (int op = 1; op < MASE_OP_COUNT; op++) {
        bool has_rule = mase_ops[op].shape || mase_forward_of((enum mase_op)op);
        if (op == MASE_OP_counted_batch_norm || op == MASE_OP_store) /* said by programs alone */
            continue;
        if (has_rule && !seen[op]) {
            print_error("%s has no case\n", mase_ops[op].name);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_agrees_with_pytorch),
        cmocka_unit_test(every_operation_has_a_case),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
