/*
 * fuzz_program.c - any bytes as a program: a status, or a program that prints and reads back equal,
 * and whose gradient, if it has one, holds and does so, too.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mase/program.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const struct mase_str *why)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", mase_str_text(why));
    abort();
}

static void must_read_back(const struct mase_program *p)
{
    struct mase_program *back;
    struct mase_str text = { 0 }, again = { 0 };
    struct mase_err err;
    mase_program_print(&text, p);
    must(!mase_program_parse(&back, text.data, text.len, NULL, &err), &text);
    mase_program_print(&again, back);
    must(!strcmp(text.data, again.data), &text);
    mase_program_free(back);
    mase_str_release(&text);
    mase_str_release(&again);
}

static void must_have_a_gradient_that_holds(const struct mase_program *p)
{
    static const struct mase_grad_opts opts = { .inputs = true };
    struct mase_program *joint;
    struct mase_str faults = { 0 };
    struct mase_err err;
    if (mase_program_grad(&joint, p, &opts, &err))
        return;
    must(!mase_program_verify(joint, &faults), &faults);
    must_read_back(joint);
    mase_program_free(joint);
    mase_str_release(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_program *p;
    struct mase_err err;
    if (mase_program_parse(&p, (const char *)data, size, NULL, &err))
        return 0;
    must_read_back(p);
    must_have_a_gradient_that_holds(p);
    mase_program_free(p);
    return 0;
}
