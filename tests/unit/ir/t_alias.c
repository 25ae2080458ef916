/*
 * t_alias.c - writes in place that reach other values: followed by later readers of the operand, or
 * refused where they are written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/graph.h>

#include "ir/graph/graph_parts.h"
#include "run_cases.h"

static struct mase_graph *parse(const char *body)
{
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    struct mase_str text = { 0 };
    mase_str_printf(&text,
                    "mase-graph 1\n"
                    "module r = ReLU(inplace=True)\nmodule d = Dropout()\nmodule l = Linear(4, 4)\n"
                    "%%x = placeholder[target=x]\n%%n = call_module[target=l](args = (%%x,))\n%s",
                    body);
    if (mase_graph_parse_mg(&g, mase_str_text(&text), text.len, "t.mg", &err))
        fail_msg("%d:%d: %s\n%s", err.loc.line, err.loc.col, err.msg, body);
    mase_str_release(&text);
    return g;
}

#define METHOD(name, target, args) \
    "%" name " = call_method[target=" target "](args = (" args ",))\n"
#define FUNCTION(name, target, args) \
    "%" name " = call_function[target=" target "](args = (" args ",))\n"
#define MODULE(name, target, args) \
    "%" name " = call_module[target=" target "](args = (" args ",))\n"
#define ITEM(name, of, index) FUNCTION(name, "operator.getitem", of ", " index)
#define LEFT                  "(slice(None, None, None), slice(None, 2, None))"
#define RIGHT                 "(slice(None, None, None), slice(2, None, None))"
#define TWO                   "(slice(None, None, None), slice(1, 3, None))"

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *begins;
    } rows[] = {
        { ITEM("v", "%n", LEFT) METHOD("w", "add_", "%n, 1") "return %v\n",
          "w changes n in place, and with it v, which may lie in the same memory and is read by "
          "output afterwards" },
        { METHOD("v", "view", "%n, -1") MODULE("w", "r", "%n")
              FUNCTION("y", "operator.mul", "%v, 2") "return %y\n",
          "w changes n in place, and with it v, which may lie in the same memory and is read by "
          "y" },
        { ITEM("v", "%n", LEFT) METHOD("w", "mul_", "%v, 2") "return (%n, %w)\n",
          "w changes v in place, and with it n," },
        { METHOD("a", "relu_", "%n") METHOD("b", "add_", "%a, 1") "return (%n, %b)\n",
          "b changes a in place, and with it n," },
        { ITEM("a", "%n", TWO) ITEM("b", "%n", LEFT) METHOD("w", "relu_", "%a") "return (%b, %w)\n",
          "w changes a in place, and with it b," },
        { ITEM("v", "%n", LEFT) FUNCTION("s", "operator.setitem", "%n, 0, 1.0") "return %v\n",
          "s changes n in place, and with it v," },
        { MODULE("v", "d", "%n") METHOD("w", "relu_", "%n") "return %v\n",
          "w changes n in place, and with it v," },
        { FUNCTION("v", "torch.chunk", "%n, 2, 1") ITEM("a", "%v", "0") METHOD("w", "relu_", "%a")
              FUNCTION("y", "torch.cat", "%v") "return %y\n",
          "w changes a in place, and with it v," },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mase_graph *g = parse(rows[i].body);
        struct mase_err err = { 0 };
        if (mase_graph_check_writes(g, &err) != MASE_EUNSUPPORTED)
            fail_msg("followed:\n%s", rows[i].body);
        if (!mase_starts_with(err.msg, rows[i].begins))
            fail_msg("%s\nwanted %s", err.msg, rows[i].begins);
        mase_graph_free(g);
    }
}

static void test_followed(void **state)
{
    (void)state;
    static const char *const rows[] = {
        METHOD("w", "relu_", "%n") "return (%n, %w)\n",
        MODULE("w", "r", "%n") FUNCTION("y", "operator.add", "%w, %n") "return %y\n",
        METHOD("v", "view", "%n, -1") METHOD("w", "relu_", "%v") "return %w\n",
        METHOD("c", "clone", "%n") METHOD("w", "relu_", "%n") "return (%c, %n)\n",
        ITEM("a", "%n", LEFT) ITEM("b", "%n", RIGHT) METHOD("w", "relu_", "%a") "return (%b, %w)\n",
        ITEM("a", "%n", "0") ITEM("b", "%n", "1") METHOD("w", "relu_", "%a") "return (%b, %w)\n",
        ITEM("a", "%n", LEFT) ITEM("b", "%n", RIGHT) METHOD("v", "view", "%a, -1")
            METHOD("w", "relu_", "%v") METHOD("y", "flatten", "%b") "return (%y, %w)\n",
        ITEM("a", "%n", "[0, 1]") METHOD("w", "relu_", "%n") "return (%a, %n)\n",
        FUNCTION("s", "builtins.getattr", "%n, 'shape'")
            METHOD("w", "relu_", "%n") "return (%s, %n)\n",
        ITEM("v", "%n", LEFT) METHOD("y", "abs", "%v")
            METHOD("w", "relu_", "%n") "return (%y, %n)\n",
        ITEM("v", "%n", LEFT) FUNCTION("w", "operator.not_", "%n") "return (%v, %w)\n",
        ITEM("v", "%n", LEFT) FUNCTION("w", "operator.and_", "%n, %n") "return (%v, %w)\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mase_graph *g = parse(rows[i]);
        struct mase_err err = { 0 };
        if (mase_graph_check_writes(g, &err))
            fail_msg("%s\n%s", err.msg, rows[i]);
        mase_graph_free(g);
    }
}

/* x += y is add for torch.fx, and writes where x is read later. */
static void test_assigned(void **state)
{
    (void)state;
    static const struct {
        const char *body, *target; /* what the node becomes; NULL: it is refused */
    } rows[] = {
        { FUNCTION("w", "operator.add", "%n, 1") "return %w\n", "operator.add" },
        { FUNCTION("w", "operator.add", "%n, 1") "return (%n, %w)\n", "operator.iadd" },
        { FUNCTION("w", "operator.truediv", "%n, 2") "return (%n, %w)\n", "operator.itruediv" },
        { FUNCTION("w", "operator.pow", "%n, 2") "return (%n, %w)\n", NULL },
        { FUNCTION("w", "operator.pow", "%n, 2") "return %w\n", "operator.pow" },
        { ITEM("v", "%n", LEFT) FUNCTION("w", "operator.mul", "%n, 2") "return (%v, %w)\n", NULL },
        { METHOD("s", "size", "%n, 0") FUNCTION("w", "operator.add", "%s, 1") "return (%s, %w)\n",
          "operator.add" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mase_graph *g = parse(rows[i].body);
        struct mase_node *w = mase_graph_find(g, "w");
        struct mase_err err = { 0 };
        const enum mase_status st = mase_graph_follow_assigned(g, &w, 1, &err);
        assert_int_equal(st, rows[i].target ? MASE_OK : MASE_EUNSUPPORTED);
        if (rows[i].target)
            assert_string_equal(w->target, rows[i].target);
        struct mase_str why = { 0 };
        assert_int_equal(mase_graph_verify(g, &why), 0);
        mase_str_release(&why);
        mase_graph_free(g);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_followed),
        cmocka_unit_test(test_assigned),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
