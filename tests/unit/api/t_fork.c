/*
 * t_fork.c - a program may fork whenever it likes: parent and child compute on, with as many
 * threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase.h>

#include "run_cases.h"

enum { FEATURES = 16, ROWS = 1024, CLASSES = 5 };

static struct mase_session *session;
static struct mase_err err;
static float x[ROWS * FEATURES], before[ROWS * CLASSES], after[ROWS * CLASSES];
static int32_t label[ROWS];

static void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("unexpected error");
    }
}

typedef enum mase_status compute_fn(struct mase_net *net, float *y);

static enum mase_status predict(struct mase_net *net, float *y)
{
    const struct mase_run_opts two = { .size = sizeof two, .threads = 2 };
    struct mase_runner *r = NULL;
    MASE_TRY(mase_runner_new(net, &r, &two, &err));
    const enum mase_status st = mase_runner_run(r, y, x, ROWS, &err);
    mase_runner_free(r);
    return st;
}

static enum mase_status train(struct mase_net *net, float *y)
{
    const int64_t shape[] = { FEATURES };
    const struct mase_arrays arrays = {
        .size = sizeof arrays, .x = x, .count = ROWS, .shape = shape, .rank = 1, .labels = label
    };
    const struct mase_training how = {
        .size = sizeof how, .max_epochs = 1, .batch_size = 600, .threads = 2
    };
    struct mase_rows *rows = NULL;
    MASE_TRY(mase_rows_from(session, &rows, &arrays, NULL, &err));
    const enum mase_status st = mase_net_train(net, NULL, rows, &how, &err);
    mase_rows_free(rows);
    return st ? st : predict(net, y);
}

static enum mase_status afresh(compute_fn *compute, float *y)
{
    static const char text[] = "mase-graph 1\nmodule a = Linear(16, 64)\n"
                               "module b = Linear(64, 5)\n%x = placeholder[target=x]\n"
                               "%a = call_module[target=a](args = (%x,))\n"
                               "%b = call_module[target=b](args = (%a,))\nreturn %b\n";
    struct mase_net *net = NULL;
    MASE_TRY(mase_net_parse(session, &net, text, "wide", &err));
    enum mase_status st = mase_net_set_sample(net, 1, (const int64_t[]){ FEATURES }, &err);
    if (!st)
        st = mase_net_start(net, 0, &err);
    if (!st)
        st = compute(net, y);
    mase_net_free(net);
    return st;
}

static bool again(compute_fn *compute)
{
    memset(after, 0, sizeof after);
    return !afresh(compute, after) && !memcmp(before, after, sizeof after);
}

/* A child that waits for threads it has not is ended by its alarm. */
static void check_child(compute_fn *compute, int depth)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(120);
        if (depth && again(compute))
            check_child(compute, depth - 1);
        _exit(again(compute) ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void check(compute_fn *compute)
{
    must(afresh(compute, before));
    check_child(compute, 1);
    assert_true(again(compute));
    check_child(compute, 0);
}

static void children_predict(void **state)
{
    (void)state;
    check(predict);
}

static void children_train(void **state)
{
    (void)state;
    check(train);
}

static int make_world(void **state)
{
    (void)state;
    session = mase_session_new(NULL);
    assert_non_null(session);
    for (int i = 0; i < ROWS * FEATURES; i++)
        x[i] = (float)((i * 7) % 23) / 4 - 3;
    for (int i = 0; i < ROWS; i++)
        label[i] = i % CLASSES;
    return 0;
}

static int end_world(void **state)
{
    (void)state;
    mase_session_free(session);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_predict),
        cmocka_unit_test(children_train),
    };
    return run_cases(argc, argv, tests, make_world, end_world);
}
