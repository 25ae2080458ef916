/*
 * t_grad_text.c - the text of gradients: in which order parts are added up, what passes nothing,
 * what is refused, and what is wrong with instructions that only gradients have. That gradients are
 * right is tested in tests/unit/exec/t_program_grad.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mase/program.h>

#include "run_cases.h"

static struct mase_program *parsed(const char *statements)
{
    char text[2048];
    struct mase_program *p;
    struct mase_err err = { 0 };
    snprintf(text, sizeof text, "mase-program 1\n%s", statements);
    if (mase_program_parse(&p, text, strlen(text), "t", &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    return p;
}

static void must_become(const char *forward, const struct mase_grad_opts *opts, const char *want)
{
    struct mase_program *p = parsed(forward), *joint;
    struct mase_err err = { 0 };
    struct mase_str text = { 0 }, faults = { 0 };
    char whole[4096];
    if (mase_program_grad(&joint, p, opts, &err))
        fail_msg("%s", err.msg);
    mase_program_print(&text, joint);
    snprintf(whole, sizeof whole, "mase-program 1\n%s", want);
    assert_string_equal(mase_str_text(&text), whole);
    if (mase_program_verify(joint, &faults))
        fail_msg("%s", mase_str_text(&faults));
    mase_program_free(parsed(mase_str_text(&text) + strlen("mase-program 1\n")));
    mase_str_release(&text);
    mase_str_release(&faults);
    mase_program_free(joint);
    mase_program_free(p);
}

/* %2 is used by %3, twice, and by %4: what %4 gives stands first, then what %3 gives by its first
 * operand. */
static void the_last_user_comes_first(void **state)
{
    (void)state;
    must_become("%0 : f32[N, 2] = input x\n"
                "%1 : f32[2] = param w\n"
                "%2 : f32[N, 2] = zip.add(%0, %1)\n"
                "%3 : f32[N, 2] = zip.mul(%2, %2)\n"
                "%4 : f32[N, 2] = zip.sub(%3, %2)\n"
                "return %4\n",
                NULL,
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[N, 2] = input output.grad\n"
                "%2 : f32[2] = param w\n"
                "%3 : f32[N, 2] = zip.add(%0, %2)\n"
                "%4 : f32[N, 2] = map.neg(%1)\n"
                "%5 : f32[N, 2] = zip.mul(%1, %3)\n"
                "%6 : f32[N, 2] = zip.add(%4, %5)\n"
                "%7 : f32[N, 2] = zip.mul(%1, %3)\n"
                "%8 : f32[N, 2] = zip.add(%6, %7)\n"
                "%9 : f32[2] = reduce.sum(%8, dim=(0,))\n"
                "return {w: %9}\n");
}

static void what_passes_nothing(void **state)
{
    static const struct mase_grad_opts inputs = { .inputs = true };
    (void)state;
    must_become("%0 : f32[N, 2] = input x\n"
                "%1 : f32[2] = param w\n"
                "%2 : f32[N, 2] = zip.mul(%0, %1) no_grad\n"
                "%3 : f32[N, 2] = copy.detach(%2)\n"
                "%4 : f32[N, 2] = map.floor(%0)\n"
                "%5 : f32[N, 2] = zip.add(%3, %4)\n"
                "%6 : f32[N, 2] = zip.add(%0, 1) no_grad in_place from add_\n"
                "%7 : f32[N, 2] = zip.mul(%5, %6)\n"
                "return %7\n",
                &inputs,
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[N, 2] = input output.grad\n"
                "%2 : f32[2] = param w\n"
                "%3 : f32[N, 2] = zip.mul(%0, %2) no_grad\n"
                "%4 : f32[N, 2] = copy.detach(%3)\n"
                "%5 : f32[N, 2] = map.floor(%0)\n"
                "%6 : f32[N, 2] = zip.add(%4, %5)\n"
                "%7 : f32[N, 2] = zip.mul(%1, %6)\n"
                "%8 : f32[2] = create.zeros(size=(2,))\n"
                "return ({w: %8}, {x: %7})\n");
}

/* The zeros of dropout are a value: the same forward and backward. */
static void dropout_is_drawn_once(void **state)
{
    (void)state;
    must_become("training\n"
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[2] = param w\n"
                "%2 : f32[N, 2] = zip.mul(%0, %1)\n"
                "%3 : f32[N, 2] = dropout.dropout(%2, p=0.25) from drop\n"
                "%4 : f32[N, 2] = map.exp(%3)\n"
                "return %4\n",
                NULL,
                "training\n"
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[N, 2] = input output.grad\n"
                "%2 : f32[2] = param w\n"
                "%3 : f32[N, 2] = zip.mul(%0, %2)\n"
                "%4 : f32[N, 2] = create.ones(size=(N, 2)) from drop\n"
                "%5 : f32[N, 2] = dropout.dropout(%4, p=0.25) from drop\n"
                "%6 : f32[N, 2] = zip.mul(%3, %5) from drop\n"
                "%7 : f32[N, 2] = slope.exp(%6)\n"
                "%8 : f32[N, 2] = zip.mul(%1, %7)\n"
                "%9 : f32[N, 2] = zip.mul(%8, %5) from drop\n"
                "%10 : f32[N, 2] = zip.mul(%9, %0)\n"
                "%11 : f32[2] = reduce.sum(%10, dim=(0,))\n"
                "return {w: %11}\n");
}

/* A tensor of the result each, and those that are no floats have none. */
static void results_have_a_gradient_each(void **state)
{
    (void)state;
    must_become("%0 : f32[N, 2] = input x\n"
                "%1 : f32[2] = param w\n"
                "%2 : f32[N, 2] = zip.mul(%0, %1)\n"
                "%3 : f32[N], %4 : i64[N] = reduce.max(%2, dim=1)\n"
                "return (%3, %4, %2)\n",
                NULL,
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[N] = input output.grad\n"
                "%2 : f32[N, 2] = input output.grad.1\n"
                "%3 : f32[2] = param w\n"
                "%4 : f32[N, 2] = zip.mul(%0, %3)\n"
                "%5 : f32[N], %6 : i64[N] = reduce.max(%4, dim=1)\n"
                "%7 : f32[N, 1] = reshape.reshape(%1, shape=(N, 1))\n"
                "%8 : i64[N, 1] = reshape.reshape(%6, shape=(N, 1))\n"
                "%9 : f32[N, 2] = create.zeros(size=(N, 2))\n"
                "%10 : f32[N, 2] = update.scatter_add(%9, dim=1, index=%8, src=%7)\n"
                "%11 : f32[N, 2] = zip.add(%2, %10)\n"
                "%12 : f32[N, 2] = zip.mul(%11, %0)\n"
                "%13 : f32[2] = reduce.sum(%12, dim=(0,))\n"
                "return {w: %13}\n");
}

/* One value twice: both gradients count. */
static void a_value_returned_twice_gets_both(void **state)
{
    (void)state;
    must_become("%0 : f32[N, 2] = input x\n"
                "%1 : f32[N, 2] = map.exp(%0)\n"
                "return (%1, %1)\n",
                &(struct mase_grad_opts){ .inputs = true },
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[N, 2] = input output.grad\n"
                "%2 : f32[N, 2] = input output.grad.1\n"
                "%3 : f32[N, 2] = zip.add(%1, %2)\n"
                "%4 : f32[N, 2] = slope.exp(%0)\n"
                "%5 : f32[N, 2] = zip.mul(%3, %4)\n"
                "return ({}, {x: %5})\n");
}

static void what_is_learned_is_a_result(void **state)
{
    (void)state;
    must_become("%0 : f32[N, 2] = input x\n"
                "%1 : f32[1] = param fc.data_in_scale\n"
                "%2 : f32[N, 2] = round(%0, %1) to lsq(4) signed data\n"
                "return %2\n",
                NULL,
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[N, 2] = input output.grad\n"
                "%2 : f32[1] = param fc.data_in_scale\n"
                "%3 : f32[N, 2], %4 : f32[1] = round_back(%1, %0, %2) to lsq(4) signed data\n"
                "return {fc.data_in_scale: %4}\n");
}

/* A number of values that follows the samples is a tensor of one value. */
static void a_mean_over_samples_divides_by_their_number(void **state)
{
    (void)state;
    must_become("%0 : f32[N, 2] = input x\n"
                "%1 : f32[2] = param w\n"
                "%2 : f32[N, 2] = zip.mul(%0, %1)\n"
                "%3 : f32[] = reduce.mean(%2)\n"
                "return %3\n",
                NULL,
                "%0 : f32[N, 2] = input x\n"
                "%1 : f32[] = input output.grad\n"
                "%2 : f32[1, 1] = reshape.reshape(%1, shape=(1, 1))\n"
                "%3 : f32[] = create.full(size=(), fill_value=Nx2, dtype=torch.float32)\n"
                "%4 : f32[1, 1] = zip.div(%2, %3)\n"
                "%5 : f32[N, 2] = expand.expand(%4, size=(N, 2))\n"
                "%6 : f32[N, 2] = zip.mul(%5, %0)\n"
                "%7 : f32[2] = reduce.sum(%6, dim=(0,))\n"
                "return {w: %7}\n");
}

static void what_is_refused_is_named(void **state)
{
    static const struct {
        const char *forward, *msg;
    } cases[] = {
        { "%0 : i64[N, 2] = input x\n"
          "%1 : f32[4, 3] = param w\n"
          "%2 : f32[N, 3] = gather.embedding_bag(%0, %1) from bag\n"
          "return %2\n",
          "bag: the gradient of embedding_bag has no rule" },
        { "%0 : f32[2] = param w\n"
          "%1 : f32[2] = slope.exp(%0) from e\n"
          "return %1\n",
          "e: slope has no gradient of its own" },
        { "training\n"
          "%0 : f32[N, 2, 4] = input x\n"
          "%1 : f32[4] = param w\n"
          "%2 : f32[N, 2, 4] = zip.mul(%0, %1)\n"
          "%3 : f32[N, 2, 4] = attention.scaled_dot_product_attention(%2, %2, %2, "
          "dropout_p=0.5)\n"
          "return %3\n",
          "the program: the gradient of scaled_dot_product_attention with dropout has no rule: its "
          "zeros are no value of the program" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_program *p = parsed(cases[i].forward), *joint;
        struct mase_err err = { 0 };
        assert_int_equal(mase_program_grad(&joint, p, NULL, &err), MASE_EUNSUPPORTED);
        assert_null(joint);
        assert_string_equal(err.msg, cases[i].msg);
        mase_program_free(p);
    }
}

/* What only gradients have is verified as all else is. */
static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *text, *msg;
    } cases[] = {
        { "%0 : f32[N, 2] = input x\n%1 : f32[N] = slope.exp(%0)\nreturn %1\n",
          "%1: slope of exp has another type" },
        { "%0 : f32[N, 2] = input x\n%1 : f32[N, 2] = slope_y.exp(%0)\nreturn %1\n",
          "%1: exp is no slope_y" },
        { "%0 : f32[N, 2] = input x\n%1 : f32[N, 2] = slope.floor(%0)\nreturn %1\n",
          "%1: floor is no slope" },
        { "%0 : f32[N, 2, 3] = input x\n"
          "%1 : f32[N, 2, 7] = adjoint.avg_pool1d(%0, kernel_size=(2,))\nreturn %1\n",
          NULL },
        { "%0 : f32[N, 2, 3] = input x\n"
          "%1 : f32[N, 2, 4] = adjoint.avg_pool1d(%0, kernel_size=(2,))\nreturn %1\n",
          "%1: of 2 samples avg_pool1d makes f32[2, 2, 2]" },
        { "%0 : f32[N, 2] = input x\n%1 : f32[N, 3] = input y\n"
          "%2 : f32[N, 3] = round_back(%0, %1) to int(4, 0.5) signed data\nreturn %2\n",
          "%2: the gradient has another type than what was rounded" },
        { "%0 : f32[N, 2] = input x\n%1 : f32[3] = param s\n"
          "%2 : f32[N, 2], %3 : f32[3] = round_back(%0, %0, %1) to lsq(4) signed data\n"
          "return %2\n",
          "%2: lsq learns 1 values of it, not 3" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct mase_program *p;
        struct mase_err err = { 0 };
        snprintf(text, sizeof text, "mase-program 1\n%s", cases[i].text);
        const enum mase_status st = mase_program_parse(&p, text, strlen(text), "t", &err);
        if (!cases[i].msg ? st : !st || strcmp(err.msg, cases[i].msg))
            fail_msg("%s: %s", cases[i].text, err.msg);
        mase_program_free(p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_user_comes_first),
        cmocka_unit_test(what_passes_nothing),
        cmocka_unit_test(dropout_is_drawn_once),
        cmocka_unit_test(results_have_a_gradient_each),
        cmocka_unit_test(a_value_returned_twice_gets_both),
        cmocka_unit_test(what_is_learned_is_a_result),
        cmocka_unit_test(a_mean_over_samples_divides_by_their_number),
        cmocka_unit_test(what_is_refused_is_named),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
