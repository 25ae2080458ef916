/*
 * t_loss.c - expressions of output and target: the graph that one becomes, and what is wrong with
 * one that is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/rng.h>

#include "frontend/loss_source.h"
#include "run_cases.h"

static const struct {
    const char *text, *graph; /* the lines between the inputs and the return */
} losses[] = {
    { "mean((output - target) ** 2) + 1e-3 * mean(abs(output))",
      "sub = call_function[target=operator.sub](args = (%output, %target), kwargs = {})\n"
      "pow_1 = call_function[target=operator.pow](args = (%sub, 2), kwargs = {})\n"
      "mean = call_function[target=torch.mean](args = (%pow_1,), kwargs = {})\n"
      "abs_1 = call_function[target=torch.abs](args = (%output,), kwargs = {})\n"
      "mean_1 = call_function[target=torch.mean](args = (%abs_1,), kwargs = {})\n"
      "mul = call_function[target=operator.mul](args = (0.001, %mean_1), kwargs = {})\n"
      "add = call_function[target=operator.add](args = (%mean, %mul), kwargs = {})\n" },
    { "F.cross_entropy(output,target,reduction='none').mean( )",
      "cross_entropy = call_function[target=torch.nn.functional.cross_entropy](args = (%output, "
      "%target), kwargs = {reduction: none})\n"
      "mean = call_method[target=mean](args = (%cross_entropy,), kwargs = {})\n" },
    { "torch.sum(-output[:, 1, 0:2], dim=(1, 2,)).mean()",
      "getitem = call_function[target=operator.getitem](args = (%output, (slice(None, None, None), "
      "1, slice(0, 2, None))), kwargs = {})\n"
      "neg = call_function[target=operator.neg](args = (%getitem,), kwargs = {})\n"
      "sum_1 = call_function[target=torch.sum](args = (%neg,), kwargs = {dim: (1, 2)})\n"
      "mean = call_method[target=mean](args = (%sum_1,), kwargs = {})\n" },
    /* numbers are computed as Python does; powers from the right, signs behind them */
    { "output * -2 ** 2 ** 3 / (7 // -2 + 10 ** -1 + 3 % -2)",
      "mul = call_function[target=operator.mul](args = (%output, -256), kwargs = {})\n"
      "truediv = call_function[target=operator.truediv](args = (%mul, -4.9), kwargs = {})\n" },
    { "(output > target) @ output.T == 3 / 2",
      "gt = call_function[target=operator.gt](args = (%output, %target), kwargs = {})\n"
      "t = call_method[target=t](args = (%output,), kwargs = {})\n"
      "matmul = call_function[target=operator.matmul](args = (%gt, %t), kwargs = {})\n"
      "eq = call_function[target=operator.eq](args = (%matmul, 1.5), kwargs = {})\n" },
};

static void expressions_are_graphs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        struct mase_graph *g;
        struct mase_err err;
        struct mase_str got = { 0 }, want = { 0 }, faults = { 0 };
        if (mase_loss_parse(&g, losses[i].text, &err))
            fail_msg("%s: %s", losses[i].text, err.msg);
        for (const struct mase_node *n = g->first->next->next; n->next; n = n->next) {
            mase_str_printf(&got, "%s = ", n->name);
            struct mase_str line = { 0 };
            mase_node_print(&line, n);
            const char *call = strstr(mase_str_text(&line), "call_");
            mase_str_printf(&got, "%s\n", call ? call : mase_str_text(&line));
            mase_str_release(&line);
        }
        mase_str_add(&want, losses[i].graph);
        assert_string_equal(mase_str_text(&got), mase_str_text(&want));
        assert_int_equal(mase_graph_verify(g, &faults), 0);
        mase_str_release(&got);
        mase_str_release(&want);
        mase_str_release(&faults);
        mase_graph_free(g);
    }
}

static const struct {
    const char *text;
    int col;
    const char *message;
} faults[] = {
    { "", 1, "expected output, target, a number or a function, got the end" },
    { "mean(output", 12, "expected ',' or ')', got the end" },
    { "mean(output target)", 13, "expected ',' or ')', got 'target'" },
    { "meen(output)", 1, "unknown function 'meen', did you mean 'mean'?" },
    { "mean(outptu)", 6, "'outptu' is neither output nor target nor a function that is called" },
    { "output.meen()", 8, "unknown method 'meen', did you mean 'mean'?" },
    { "output - ", 10, "expected output, target, a number or a function, got the end" },
    { "output output", 8, "expected an operator or the end, got 'output'" },
    { "1 + 2", 1, "a loss depends on output; this is a constant" },
    { "1 / 0 * output", 3, "this is no finite number" },
    { "'a' + 1", 5, "'+' takes output, target or numbers" },
    { "output < 1 < 2", 12, "one comparison at a time: put brackets around it" },
    { "mean(dim=1, output)", 13, "expected an argument with its name, got 'output'" },
    { "mean('output)", 6, "a text without its end" },
    { "output[1", 9, "expected ',' or ']', got the end" },
    { "3x", 1, "expected a number, got '3x'" },
    { "import os", 1, "'import' is neither output nor target" },
    { "__import__('os').system('ls')", 1, "unknown function '__import__'" },
};

static void faults_have_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct mase_graph *g;
        struct mase_err err;
        if (!mase_loss_parse(&g, faults[i].text, &err))
            fail_msg("'%s' is a loss", faults[i].text);
        if (err.loc.col != faults[i].col || !strstr(err.msg, faults[i].message))
            fail_msg("'%s': %d: %s", faults[i].text, err.loc.col, err.msg);
        assert_string_equal(err.path, MASE_LOSS_PLACE);
        assert_int_equal(err.loc.line, 1);
    }
}

/* Whatever is written, it is a graph or a sentence. */
static void anything_is_answered(void **state)
{
    static const char *const words[] = { "output", "target", "mean", "(", ")",  "[", "]", ",",
                                         "-",      "**",     "1",    ".", "=",  ":", "'", "sum",
                                         "2.5",    "%",      "<",    " ", "//", "T", "F", "@" };
    struct mase_rng r = mase_rng(3, MASE_STREAM_INIT, mase_rng_name("words"));
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct mase_str text = { 0 };
        struct mase_graph *g;
        struct mase_err err = { 0 };
        for (int n = 0; n <= i % 13; n++)
            mase_str_add(&text, words[mase_rng_u32(&r) % (sizeof words / sizeof words[0])]);
        if (!mase_loss_parse(&g, mase_str_text(&text), &err))
            mase_graph_free(g);
        else
            assert_true(err.msg[0]);
        mase_str_release(&text);
    }
    for (const char *const *nest =
             (const char *const[]){ "(", "-", "+", "abs(", "2**", "output[", NULL };
         *nest; nest++) {
        struct mase_str text = { 0 };
        struct mase_graph *g;
        struct mase_err err = { 0 };
        for (int n = 0; n < 100000; n++)
            mase_str_add(&text, *nest);
        assert_int_not_equal(mase_loss_parse(&g, mase_str_text(&text), &err), MASE_OK);
        mase_str_release(&text);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_graphs),
        cmocka_unit_test(faults_have_their_place),
        cmocka_unit_test(anything_is_answered),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
