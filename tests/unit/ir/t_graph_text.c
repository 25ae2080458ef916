/*
 * t_graph_text.c - networks from Python-like texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph_text.h"
#include "run_cases.h"

static void assert_graph(struct mase_graph *g, const char *text)
{
    struct mase_str s = { 0 };
    mase_graph_print(&s, g);
    assert_string_equal(mase_str_text(&s), text);
    mase_str_release(&s);
    mase_graph_free(g);
}

/* An operation goes by the name of its row; torch's names follow. */
static void operations_by_their_names(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new("g");
    mase_build_input(g, "x", NULL);
    text_call(g, "linear(x, x)");
    text_call(g, "softmax(linear, dim=1)");
    mase_build_output(g, text_call(g, "expand(softmax, 2, 3)"));
    const struct mase_node *n = mase_graph_find(g, "softmax");
    assert_true(n->op == MASE_OP_softmax && n->kind == MASE_CALL_FUNCTION);
    assert_string_equal(n->target, "torch.nn.functional.softmax");
    assert_int_equal(mase_graph_find(g, "expand")->kind, MASE_CALL_METHOD);
    assert_int_equal(mase_graph_verify(g, NULL), 0);
    mase_graph_free(g);
}

static void every_kind_of_call(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new("g");
    struct mase_node *x = mase_build_input(g, "x", "torch.Tensor");
    text_module(g, "act = ReLU()");
    x = text_layer(g, x, "fc.%d = Linear(%d, out_features=3)", 0, 4);
    x = text_call(g, "act(%s)", x->name);
    x = text_call(g, "torch.nn.functional.max_pool2d(x, (2, 2), stride=None, padding=[0])");
    x = text_call(g, "operator.mul( %s ,-1.5e-1 )", x->name);
    x = text_call(g, "mul.view(-1, 2)");
    x = text_call(g, "torch.div(view, 2, rounding_mode='floor')");
    mase_build_output(g, text_call(g, "act(div)"));
    assert_graph(
        g, "graph():\n"
           "    %x : torch.Tensor [num_users=2] = placeholder[target=x]\n"
           "    %fc_0 : [num_users=1] = call_module[target=fc.0](args = (%x,), kwargs = {})\n"
           "    %act : [num_users=0] = call_module[target=act](args = (%fc_0,), kwargs = {})\n"
           "    %max_pool2d : [num_users=1] = "
           "call_function[target=torch.nn.functional.max_pool2d](args = (%x, (2, 2)), "
           "kwargs = {stride: None, padding: [0]})\n"
           "    %mul : [num_users=1] = call_function[target=operator.mul](args = "
           "(%max_pool2d, -0.15), kwargs = {})\n"
           "    %view : [num_users=1] = call_method[target=view](args = (%mul, -1, 2), "
           "kwargs = {})\n"
           "    %div : [num_users=1] = call_function[target=torch.div](args = (%view, 2), "
           "kwargs = {rounding_mode: floor})\n"
           "    %act_1 : [num_users=1] = call_module[target=act](args = (%div,), kwargs = "
           "{})\n"
           "    return act_1");
}

static void constructors(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new("g");
    struct mase_str s = { 0 };
    mase_module_repr(&s, text_module(g, "a = Conv2d(1, 2, (3, 5), padding='same', bias=False)"));
    mase_str_addc(&s, '\n');
    mase_module_repr(&s, text_module(g, "b = BatchNorm2d(%d, eps=1e-3, momentum=.9)", 4));
    mase_str_addc(&s, '\n');
    mase_module_repr(&s, text_module(g, "c.d.0=Softmax(dim=None)"));
    assert_string_equal(
        mase_str_text(&s),
        "Conv2d(1, 2, kernel_size=(3, 5), stride=(1, 1), padding=same, bias=False)\n"
        "BatchNorm2d(4, eps=0.001, momentum=0.9, affine=True, "
        "track_running_stats=True)\n"
        "Softmax(dim=None)");
    mase_str_release(&s);
    mase_graph_free(g);
}

/* A wrong text is our fault: the process aborts. */
static void assert_aborts(bool call, const char *text)
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL); /* not cmocka's */
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        struct mase_graph *g = mase_graph_new("g");
        mase_build_input(g, "x", NULL);
        if (call)
            text_call(g, "%s", text);
        else
            text_module(g, "%s", text);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("\"%s\" was taken", text);
}

static void wrong_texts(void **state)
{
    (void)state;
    static const char *const modules[] = { "",
                                           "a",
                                           "a = ",
                                           "a = Liner(1, 2)",
                                           "a = Linear(1)",
                                           "a = Linear(1, 2",
                                           "a = Linear(1, 2) x",
                                           "a = Linear(1, 2, tail=3)",
                                           "a = Linear(1, 'b)",
                                           "a = Linear(1; 2)" };
    static const char *const calls[] = {
        "", "x", "x()", "y.view(1)", "x.vew(1)", "torch.add(x, y)", "torch.add(x,, x)"
    };
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        assert_aborts(false, modules[i]);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        assert_aborts(true, calls[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_call),
        cmocka_unit_test(operations_by_their_names),
        cmocka_unit_test(constructors),
        cmocka_unit_test(wrong_texts),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
