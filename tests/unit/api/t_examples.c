/*
 * t_examples.c - the examples in mase.h and docs/library.md compile as they stand there, and do
 * what they show: each is run with a network, data and a runner of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <mase.h>

struct example {
    struct mase_session *s;
    struct mase_net *net;
    const struct mase_node *node;
    struct mase_rows *rows;
    struct mase_runner *runner;
    struct mase_text text;
    struct mase_err err;
};

/* What the examples take from the program around them. */
static const char config[] =
    "by = 'type'\ndefault.config.name = 'NA'\n"
    "linear.config = { name = 'integer', data_in_width = 8, data_in_frac_width = 4,"
    " weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }\n";

static const char search[] =
    "search_space.name = 'graph/quantize/mixed_precision_ptq'\n"
    "search_space.setup.by = 'name'\nsearch_space.seed.default.config.name = ['NA']\n"
    "search_space.seed.seq_blocks_2.config = { name = ['integer'], data_in_width = [4, 8],"
    " data_in_frac_width = [3], weight_width = [2, 4], weight_frac_width = [1], bias_width = [8],"
    " bias_frac_width = [4] }\n"
    "strategy.name = 'optuna'\nstrategy.setup = { sampler = 'random', n_trials = 3 }\n"
    "strategy.sw_runner.basic_evaluation = {}\n"
    "strategy.metrics.accuracy.direction = 'maximize'\n";

static enum mase_status my_function(void *data, struct mase_err *err)
{
    (void)data;
    (void)err;
    return MASE_OK;
}

static enum mase_status my_pass(void *user, struct mase_net *net, const char *args,
                                struct mase_text *info, struct mase_err *err)
{
    (void)user;
    (void)net;
    (void)args;
    (void)info;
    (void)err;
    return MASE_OK;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "examples.inc"
#include "run_cases.h"
#pragma GCC diagnostic pop

static void must(enum mase_status st, const struct mase_err *err, const char *file, int line)
{
    char text[2048];
    if (!st)
        return;
    mase_err_text(err, text, sizeof text);
    fail_msg("%s:%d: %s", file, line, text);
}

/* A node without users, as one is erased. */
static const char unused[] = "%unused = call_function[target=operator.add]"
                             "(args = (%seq_blocks_2, %seq_blocks_2))";

static void open_all(struct example *e)
{
    const struct mase_node *added = NULL;
    must(mase_net_open(e->s, &e->net, "jsc-tiny", NULL, &e->err), &e->err, __FILE__, __LINE__);
    must(mase_runner_new(e->net, &e->runner, NULL, &e->err), &e->err, __FILE__, __LINE__);
    must(mase_net_add(e->net, &added, NULL, unused, &e->err), &e->err, __FILE__, __LINE__);
    e->node = added;
}

static void close_all(struct example *e)
{
    mase_text_release(&e->text);
    mase_runner_free(e->runner);
    mase_net_free(e->net);
}

/* Rows as jets are, few enough to be quick. */
static struct mase_rows *make_rows(struct mase_session *s, struct mase_err *err)
{
    enum { ROWS = 2000, FEATURES = 16 };
    static float x[ROWS * FEATURES];
    static int32_t labels[ROWS];
    static const int64_t shape[] = { FEATURES };
    struct mase_rows *rows = NULL;
    unsigned random = 1;
    for (int i = 0; i < ROWS * FEATURES; i++) {
        random = random * 1664525u + 1013904223u;
        x[i] = (float)(random >> 16) / 32768.0f - 1.0f;
    }
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 5;
    const struct mase_arrays arrays = { .size = sizeof arrays,
                                        .x = x,
                                        .count = ROWS,
                                        .shape = shape,
                                        .rank = 1,
                                        .labels = labels,
                                        .classes = 5 };
    must(mase_rows_from(s, &rows, &arrays, NULL, err), err, __FILE__, __LINE__);
    return rows;
}

/* What examples open. */
static void write_files(struct example *e)
{
    const struct mase_searching how = { .size = sizeof how, .storage = "mine.db" };
    struct mase_trials *trials = NULL;
    must(mase_net_write(e->net, "best.ckpt", NULL, &e->err), &e->err, __FILE__, __LINE__);
    must(mase_net_search(e->net, &trials, e->rows, search, &how, &e->err), &e->err, __FILE__,
         __LINE__);
    mase_trials_free(trials);
}

static void the_examples_run(void **state)
{
    struct example e = { .s = mase_session_new(NULL) };
    (void)state;
    assert_non_null(e.s);
    e.rows = make_rows(e.s, &e.err);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        open_all(&e);
        if (i == 0)
            write_files(&e);
        must(examples[i].run(&e), &e.err, examples[i].file, examples[i].line);
        close_all(&e);
        e.net = NULL;
        e.runner = NULL;
    }
    assert_true(sizeof examples / sizeof examples[0] > 40);
    mase_rows_free(e.rows);
    mase_session_free(e.s);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/mase-examples-XXXXXX";
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_examples_run) };
    if (!mkdtemp(dir) || chdir(dir))
        return 1;
    (void)!freopen("/dev/null", "w", stdout); /* what they print is for readers */
    const int failed = run_cases(argc, argv, tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return chdir("/") || system(command) || failed;
}
