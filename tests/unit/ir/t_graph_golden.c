/*
 * t_graph_golden.c - graphs written in .mg print as the original system printed them.
 *
 * tests/data/ir/NAME.txt holds the original's text of the graph, an empty line, and one line
 * "path TAB repr" per layer.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include <mase/file.h>

static const char *const cases[] = {
    "conv_bn",     "jsc-s",         "matmul_net",      "matmul_net_integer",    "res_mlp",
    "toy_convnet", "toy_testmodel", "res_mlp_integer", "toy_custom_fn_integer",
};

static void test_prints_as_the_original(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct mase_graph *g = NULL;
        struct mase_str out = { 0 };
        struct mase_file want;

        if (mase_graph_read_mg(&g, mase_arena_printf(&a, "data/ir/%s.mg", cases[i]), &err) ||
            mase_file_open(&want, mase_arena_printf(&a, "data/ir/%s.txt", cases[i]), &err))
            fail_msg("%s:%d: %s", err.path, err.loc.line, err.msg);
        mase_graph_print(&out, g);
        mase_str_add(&out, "\n\n");
        for (const struct mase_module *m = g->modules; m; m = m->next) {
            mase_str_printf(&out, "%s\t", m->path);
            mase_module_repr(&out, m);
            mase_str_addc(&out, '\n');
        }
        assert_string_equal(mase_str_text(&out),
                            mase_arena_strndup(&a, (const char *)want.data, want.size));
        mase_str_clear(&out);
        assert_int_equal(mase_graph_verify(g, &out), 0);
        mase_str_release(&out);
        mase_file_close(&want);
        mase_graph_free(g);
        mase_arena_release(&a);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_prints_as_the_original) };
    return run_cases(argc, argv, tests, NULL, NULL);
}
