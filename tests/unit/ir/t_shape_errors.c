/*
 * t_shape_errors.c - a call that cannot work is refused with a message that names the node, the
 * shapes and what was expected: tests/data/ops/errors.txt.
 */
#include "run_cases.h"
#include "unit/ir/cases.h"

#define CASES "data/ops/errors.txt"

/* NULL, or what is wrong with the refusal. */
static const char *refused(struct op_case *c, struct mase_err *err)
{
    struct mase_values v;
    if (!mase_infer_shapes(&v, &c->arena, c->graph, c->input, c->input_count, err))
        return "accepted";
    if (!mase_starts_with(err->msg, "y: "))
        return "the message does not start with the node's name";
    return missing_message(c, err);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    struct case_reader r = open_cases(CASES);
    struct op_case c;
    int cases = 0, wrong = 0;
    for (; next_case(&r, &c); release_case(&c), cases++) {
        struct mase_err err = { 0 };
        assert_true(c.message_count > 0);
        const char *why = refused(&c, &err);
        if (why) {
            print_error("%s:%d: %s: %s: %s\n", CASES, c.line, c.op, why, err.msg);
            wrong++;
        }
    }
    close_cases(&r);
    assert_true(cases > 70);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
