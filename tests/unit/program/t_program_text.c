/*
 * t_program_text.c - the text of programs: what is written, and what is wrong with what is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <mase/program.h>

#include "formats.h"
#include "run_cases.h"

static void a_text_reads_back(void **state)
{
    static const char text[] = "mase-program 1\n"
                               "name small\n"
                               "%0 : f32[N, 16] = input x\n"
                               "%1 : f32[N, 16] = round(%0) to integer(8, 4) signed data\n"
                               "%2 : f32[5, 16] = param fc.weight\n"
                               "%3 : f32[5, 16] = round(%2) to integer(8, 4) signed weight\n"
                               "%4 : f32[5] = const [0.0, 0.5, 1.0, -1.5, 2.0] in integer(8, 4) "
                               "signed weight\n"
                               "%5 : f32[N, 5] = dot.linear(%1, %3, %4) sum fixed(21, 8) from fc\n"
                               "%6 : f32[N, 5] = map.relu(%5)\n"
                               "%7 : f32[Nx5] = reshape.reshape(%6, shape=(Nx5,))\n"
                               "%8 : f32[N], %9 : i64[N] = reduce.max(%6, dim=1) no_grad\n"
                               "%10 : f32[N, 5] = zip.add(%6, 1) no_grad in_place from add_\n"
                               "%11 : f32[20, 5] = param cell.weight_ih\n"
                               "%12 : f32[20, 5] = param cell.weight_hh\n"
                               "%13 : f32[N, 5], %14 : f32[N, 5] = recur.lstm_cell(%10, "
                               "weights=(%11, %12), input_size=5, hidden_size=5, bias=False) "
                               "factors integer(8, 4) signed data from cell\n"
                               "return (%7, %8, N, %13)\n";
    struct mase_program *p;
    struct mase_err err = { 0 };
    struct mase_str again = { 0 };
    (void)state;
    if (mase_program_parse(&p, text, strlen(text), "t", &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    mase_program_print(&again, p);
    assert_string_equal(mase_str_text(&again), text);
    assert_int_equal(p->value[4]->rounded.sign, MASE_SIGNED);
    assert_ptr_equal(p->value[5]->last_use, p->value[6]->made_by);
    assert_true(p->value[8]->returned && !p->value[9]->returned);
    mase_str_release(&again);
    mase_program_free(p);
}

/* What a format does not need to be told is not said. */
static void formats_without_parameters_read_back(void **state)
{
    static const char text[] = "mase-program 1\n"
                               "%0 : f32[N, 16] = input x\n"
                               "%1 : f32[N, 16] = round(%0) to fp8_e4m3 signed data\n"
                               "%2 : f32[N, 16] = round(%1) to fp8_e4m3(infinity) signed data\n"
                               "return %2\n";
    struct mase_program *p;
    struct mase_err err = { 0 };
    struct mase_str again = { 0 };
    (void)state;
    if (mase_program_parse(&p, text, strlen(text), "t", &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    mase_program_print(&again, p);
    assert_string_equal(mase_str_text(&again), text);
    mase_str_release(&again);
    mase_program_free(p);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *text; /* behind the first line */
        int line;
        const char *msg;
    } cases[] = {
        { "return %0\n", 2, "%0 is not defined above" },
        { "%1 : f32[N] = input x\nreturn %1\n", 2,
          "values are numbered in order: expected %0, got %1" },
        { "%0 : f32[M] = input x\nreturn %0\n", 2,
          "dimension 0 must be a number, N, or like Nx4+1" },
        { "%0 : f32[N] = input x\n", 3, "the program has no return" },
        { "%0 : f16[N] = input x\nreturn %0\n", 2,
          "expected a type: f32, f64, i64, i32, u8 or bool, got 'f16'" },
        { "%0 : f32[N] = input x\n%1 : f32[N] = zip.relu(%0)\nreturn %1\n", 0,
          "%1: relu is no zip" },
        { "%0 : f32[N] = input x\n%1 : f32[N, 2] = map.relu(%0)\nreturn %1\n", 0,
          "%1: of 2 samples relu makes f32[2]" },
        { "%0 : f32[N] = input x\n%1 : f32[N] = map.rela(%0)\nreturn %1\n", 3,
          "expected input, param, const, round or PRIMITIVE.OPERATION, got 'map.rela'" },
        { "%0 : f32[N] = input x\n%1 : f32[N] = map.relu()\nreturn %1\n", 3,
          "argument 'input' is missing" },
        { "%0 : f32[N] = input x\n%1 : f32[N] = round(%0) to whole(8) signed data\nreturn %1\n", 3,
          "no number format is called 'whole'; allowed: ..." },
        { "%0 : f32[2] = const [1.0]\nreturn %0\n", 2, "expected a list of 2 numbers" },
        { "%0 : f32[N] = input x\n%1 : f32[N] = map.relu(%0) factors integer(8, 4) signed data\n"
          "return %1\n",
          3, "expected the end of the line, got 'factors'" },
        { "%0 : f32[N] = const [1.0]\nreturn %0\n", 2, "a constant does not depend on N" },
        { "%0 : f32[N, 4] = input x\n%1 : f32[4, 4] = param w\n"
          "%2 : f32[N, 4] = dot.linear(%0, %1) sum fixed(8, 4)\nreturn %2\n",
          0, "%2: its operands make the sum fixed(0, 0)" },
        { "%0 : f32[9999999, 9999999] = input x\nreturn %0\n", 2, "more than 2^31 values" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct mase_program *p;
        struct mase_err err = { 0 };
        snprintf(text, sizeof text, "mase-program 1\n%s", cases[i].text);
        assert_int_not_equal(mase_program_parse(&p, text, strlen(text), "t", &err), MASE_OK);
        assert_null(p);
        if (!same_message(err.msg, cases[i].msg))
            fail_msg("%s\nwanted: %s", err.msg, cases[i].msg);
        assert_int_equal(err.loc.line, cases[i].line);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_reads_back),
        cmocka_unit_test(formats_without_parameters_read_back),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
