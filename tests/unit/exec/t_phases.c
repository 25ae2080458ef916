/*
 * t_phases.c - the phases of a step: they run in the order in which they were listed, threads wait
 * for each other behind each of them, and a barrier without a phase is a bug, not a wrong number.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "exec/plan/plan_parts.h"
#include "run_cases.h"

/* The phases that ran, in their order. */
static char text[4096];

static void a(const struct mase_step *s, long from, long to)
{
    (void)s;
    assert_true(from < to);
    strcat(text, "a");
}

static void b(const struct mase_step *s, long from, long to)
{
    (void)s;
    assert_true(from < to);
    strcat(text, "b");
}

static const struct mase_step_kind kind = { .name = "by hand" };

/* A plan of a single step, made by hand. */
struct fixture {
    struct mase_plan plan;
    struct mase_step step, *list[1];
    struct mase_slot out;
};

static struct fixture *new_step(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->plan.n = f->plan.samples = f->plan.batch = 16;
    f->step = (struct mase_step){ .plan = &f->plan, .kind = &kind, .out = &f->out };
    f->list[0] = &f->step;
    f->plan.step = f->list;
    f->plan.step_count = 1;
    text[0] = '\0';
    return f;
}

static void free_step(struct fixture *f)
{
    mase_arena_release(&f->plan.arena);
    free(f);
}

static void many(void **state)
{
    (void)state;
    struct fixture *f = new_step();
    for (int i = 0; i < 1000; i++)
        mase_step_forward(&f->step, a, MASE_UNIT_ITEMS, 1);
    mase_plan_list_forward(&f->plan);
    assert_int_equal(f->plan.forward.count, 1000);
    mase_works_run(&f->plan.forward, 1);
    assert_int_equal(strlen(text), 1000);
    free_step(f);
}

static void in_order(void **state)
{
    (void)state;
    struct fixture *f = new_step();
    mase_step_forward(&f->step, a, MASE_UNIT_ITEMS, 1);
    mase_step_forward(&f->step, b, MASE_UNIT_LANES, 0); /* as many items as the plan has lanes */
    mase_step_forward(&f->step, b, MASE_UNIT_ITEMS, 0);
    mase_step_forward(&f->step, a, MASE_UNIT_ITEMS, 3);
    mase_plan_list_forward(&f->plan);
    mase_works_run(&f->plan.forward, 1);
    assert_string_equal(text, "aba");
    text[0] = '\0';
    mase_step_backward(&f->step, b, MASE_UNIT_ITEMS, 1);
    mase_step_backward(&f->step, a, MASE_UNIT_ITEMS, 1);
    mase_plan_list_backward(&f->plan);
    mase_works_run(&f->plan.backward, 1);
    assert_string_equal(text, "ba");
    free_step(f);
}

enum { ROUNDS = 50, CELLS = 64 };
static float cell[CELLS];

/* Each phase reads what the phase before wrote into the other cells: wrong without a barrier. */
static void read_next(const struct mase_step *s, long from, long to)
{
    float *next = ((struct mase_slot *)s->out)->x;
    for (long i = from; i < to; i++)
        next[i] = 0.5f * (cell[i] + cell[(i + CELLS / 2) % CELLS]) + (float)(i % 7);
}

static void take_next(const struct mase_step *s, long from, long to)
{
    memcpy(cell + from, s->out->x + from, (size_t)(to - from) * sizeof *cell);
}

static void run_cells(float *result, int threads)
{
    float next[CELLS];
    struct fixture *f = new_step();
    f->out.x = next;
    for (int i = 0; i < CELLS; i++)
        cell[i] = (float)(i * i % 17);
    for (int i = 0; i < ROUNDS; i++) {
        mase_step_forward(&f->step, read_next, MASE_UNIT_ITEMS, CELLS);
        mase_step_forward(&f->step, take_next, MASE_UNIT_ITEMS, CELLS);
    }
    mase_plan_list_forward(&f->plan);
    mase_works_run(&f->plan.forward, threads);
    memcpy(result, cell, sizeof cell);
    free_step(f);
}

static void shared(void **state)
{
    float one[CELLS], two[CELLS];
    (void)state;
    run_cells(one, 1);
    run_cells(two, 2);
    assert_memory_equal(one, two, sizeof one);
}

static void refused(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct fixture *f = new_step();
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        mase_step_forward(&f->step, a, MASE_UNIT_ITEMS, 1);
        mase_step_barrier_backward(&f->step, 0);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many),
        cmocka_unit_test(in_order),
        cmocka_unit_test(refused), /* before threads are started */
        cmocka_unit_test(shared),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
