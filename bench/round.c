/*
 * round.c - our side of bench/round: rounding a large tensor in place, beside copying it.
 *
 *     round list                     the formats: every row as it proposes itself
 *     round FORMAT VALUES TURNS      a line for each turn: GB/s copied, GB/s rounded
 *
 * Both count what is read and what is written, eight bytes for a value. A format that only its
 * reference rounds gets a sixteenth of the values, which takes long enough. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mase/arena.h>
#include <mase/rng.h>

#include "exec/step/round_step.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

_Noreturn static void fail(const char *what, const char *message)
{
    fprintf(stderr, "round: %s: %s\n", what, message);
    exit(2);
}

/* "block_fp(8, 8, NA, [1, 16])": blocks within a row are what a weight has. */
static void list_formats(void)
{
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        const struct mase_quant_info *q = mase_quants[k];
        struct mase_str text = { 0 };
        for (const struct mase_opt *p = q->params; p->type && p->required; p++) {
            struct mase_str dflt = { 0 };
            mase_opt_default(&dflt, p);
            mase_str_printf(&text, "%s%s", text.len ? ", " : "",
                            p->type == MASE_OPT_TYPE_INTS ? "[1, 16]" : mase_str_text(&dflt));
            mase_str_release(&dflt);
        }
        printf("%s(%s)\n", q->name, mase_str_text(&text));
        mase_str_release(&text);
    }
    puts("int(8, 0.03)"); /* by a scale that is known; above it is found */
}

static void measure(const struct mase_format *f, int64_t values, int turns)
{
    enum { ROW = 4096 };
    const struct mase_shape s = { 2, { values / ROW, ROW } };
    const size_t bytes = (size_t)mase_shape_count(&s) * sizeof(float);
    const struct mase_kernels *k;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    float *x = aligned_alloc(64, bytes), *y = aligned_alloc(64, bytes);
    struct mase_rng r = mase_rng(1, MASE_STREAM_TEST, 0);
    if (!x || !y)
        fail("memory", "there is not enough");
    if (mase_kernels_select(&k, &err))
        fail("kernels", err.msg);
    for (int64_t i = 0; i < ROW * ROW && i < mase_shape_count(&s); i++)
        x[i] = mase_rng_normal(&r);
    for (int64_t i = ROW * ROW; i < mase_shape_count(&s); i++)
        x[i] = x[i % (ROW * ROW)];
    memset(y, 0, bytes);
    const struct mase_round round =
        mase_round_dense(&a, (struct mase_rounding){ f, MASE_SIGNED, MASE_ROLE_WEIGHT }, &s);
    for (int i = 0; i < turns; i++) {
        const double start = now();
        memcpy(y, x, bytes);
        const double copied = now();
        mase_round_all(&round, k, y, y);
        const double rounded = now();
        printf("%.3f %.3f\n", 2e-9 * (double)bytes / (copied - start),
               2e-9 * (double)bytes / (rounded - copied));
    }
    free(x);
    free(y);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct mase_format *f;
    struct mase_err err = { 0 };
    if (argc == 2 && !strcmp(argv[1], "list")) {
        list_formats();
        return 0;
    }
    if (argc != 4)
        fail("usage", "round list | round FORMAT VALUES TURNS");
    if (mase_format_parse(&f, argv[1], &err))
        fail(argv[1], err.msg);
    const int64_t values = strtoll(argv[2], NULL, 10);
    measure(f, mase_round_has_kernel(f) ? values : values / 16, atoi(argv[3]));
    return 0;
}
