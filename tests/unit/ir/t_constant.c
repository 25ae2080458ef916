/*
 * t_constant.c - shapes that follow from constants: x[:, mask] of a mask whose numbers are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/call.h>
#include <mase/graph.h>

#include "run_cases.h"

#define HEAD                                                    \
    "mase-graph 1\n\n"                                          \
    "attr m = bool[4] constant init [1.0, 0.0, 1.0, 1.0]\n"     \
    "attr f = bool[4] buffer fixed init [0.0, 0.0, 1.0, 0.0]\n" \
    "attr b = bool[4] buffer init ones\n"                       \
    "attr o = bool[3] constant init ones\n\n"                   \
    "%x = placeholder[target=x]\n"                              \
    "%m = get_attr[target=m]\n%f = get_attr[target=f]\n"        \
    "%b = get_attr[target=b]\n%o = get_attr[target=o]\n"
#define ALL "slice(None, None, None)"

static struct mase_graph *parse(const char *index)
{
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    struct mase_str text = { 0 };
    mase_str_add(&text, HEAD);
    mase_str_printf(&text,
                    "%%y = call_function[target=operator.getitem](args = (%%x, %s), kwargs = {})\n"
                    "return %%y\n",
                    index);
    if (mase_graph_parse_mg(&g, mase_str_text(&text), text.len, "t.mg", &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    struct mase_str again = { 0 };
    mase_graph_print_mg(&again, g);
    assert_string_equal(mase_str_text(&again), mase_str_text(&text)); /* fixed, too */
    mase_str_release(&again);
    mase_str_release(&text);
    return g;
}

static enum mase_status infer(const char *index, struct mase_str *shape, struct mase_err *err)
{
    struct mase_graph *g = parse(index);
    struct mase_arena a = { 0 };
    struct mase_values v;
    const struct mase_input x = { "x", { .dtype = MASE_F32, .shape = { 3, { 5, 4, 3 } } } };
    const enum mase_status st = mase_infer_shapes(&v, &a, g, &x, 1, err);
    if (!st)
        mase_shape_print(shape, &mase_values_get(&v, mase_graph_output(g))->tensor->shape);
    mase_arena_release(&a);
    mase_graph_free(g);
    return st;
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *index, *shape;
    } rows[] = {
        { "(" ALL ", %m)", "[5, 3, 3]" },  { "(" ALL ", %f)", "[5, 1, 3]" },
        { "(Ellipsis, %o)", "[5, 4, 3]" }, { "(Ellipsis, %m, 0)", "[5, 3]" },
        { "(None, 0, %m)", "[1, 3, 3]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mase_str shape = { 0 };
        struct mase_err err = { 0 };
        if (infer(rows[i].index, &shape, &err))
            fail_msg("%s: %s", rows[i].index, err.msg);
        assert_string_equal(mase_str_text(&shape), rows[i].shape);
        mase_str_release(&shape);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *index, *msg;
    } rows[] = {
        { "(" ALL ", %b)",
          "y: getitem: the mask 'b' is a buffer, and files of weights would change "
          "what it picks: it must be constant, or fixed" },
        { "(" ALL ", %o)", "y: getitem: the mask 'o' of [3] does not fit dim 1 of [5, 4, 3]" },
        { "%m", "y: getitem: the mask 'm' of [4] does not fit dim 0 of [5, 4, 3]" },
        { "(" ALL ", %m, " ALL ", %o)", "y: getitem: the mask 'o' of [3] does not fit dim 3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mase_str shape = { 0 };
        struct mase_err err = { 0 };
        assert_int_not_equal(infer(rows[i].index, &shape, &err), MASE_OK);
        if (strncmp(err.msg, rows[i].msg, strlen(rows[i].msg)) != 0)
            fail_msg("%s: %s", rows[i].index, err.msg);
        mase_str_release(&shape);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
