/*
 * t_wrong.c - arguments that are wrong are statuses, and callbacks stay within what they may do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase.h>

#include "run_cases.h"

enum { FEATURES = 16, ROWS = 40, CLASSES = 5 };

static struct mase_session *session;
static struct mase_net *net;
static struct mase_rows *rows;
static struct mase_err err;
static float x[ROWS * FEATURES];
static int32_t label[ROWS];

static void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("unexpected error");
    }
}

/* The call is refused, with a sentence that has these words. */
static void refused(enum mase_status st, const char *words)
{
    assert_int_equal(st, MASE_EVALUE);
    assert_int_equal(err.status, MASE_EVALUE);
    if (!strstr(err.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", err.msg, words);
}

static struct mase_arrays arrays(const int64_t *shape, int rank)
{
    return (struct mase_arrays){ .size = sizeof(struct mase_arrays),
                                 .x = x,
                                 .count = ROWS,
                                 .shape = shape,
                                 .rank = rank,
                                 .labels = label };
}

static struct mase_net *fresh(void)
{
    struct mase_net *copy = NULL;
    must(mase_net_clone(net, &copy, &err));
    return copy;
}

static void what_is_missing_is_said(void **state)
{
    struct mase_text t = { 0 };
    struct mase_net *n = net;
    struct mase_rows *r = rows;
    struct mase_runner *runner = NULL;
    int64_t dim[8];
    (void)state;
    refused(mase_net_open(NULL, &n, "jsc-tiny", NULL, &err), "s is NULL");
    assert_null(n);
    refused(mase_net_open(session, NULL, "jsc-tiny", NULL, &err), "net is NULL");
    refused(mase_net_open(session, &n, NULL, NULL, &err), "spec is NULL");
    refused(mase_net_parse(session, &n, NULL, NULL, &err), "text is NULL");
    refused(mase_rows_open(session, &r, NULL, NULL, NULL, &err), "name is NULL");
    assert_null(r);
    refused(mase_rows_from(session, &r, NULL, NULL, &err), "arrays is NULL");
    refused(mase_net_print(NULL, &t, "mg", &err), "net is NULL");
    refused(mase_net_print(net, &t, NULL, &err), "what is NULL");
    refused(mase_net_pass(net, NULL, NULL, NULL, NULL, &err), "pass is NULL");
    refused(mase_net_add(net, NULL, NULL, NULL, &err), "statement is NULL");
    refused(mase_net_erase(net, NULL, &err), "n is NULL");
    refused(mase_net_save(net, NULL, &err), "dir is NULL");
    refused(mase_net_evaluate(net, NULL, rows, NULL, NULL, &err), "scores is NULL");
    refused(mase_net_train(net, NULL, NULL, NULL, &err), "rows is NULL");
    refused(mase_runner_new(NULL, &runner, NULL, &err), "net is NULL");
    refused(mase_runner_run(NULL, x, x, 1, &err), "runner is NULL");
    refused(mase_runner_run_typed(NULL, x, x, 1, &err), "runner is NULL");
    assert_null(mase_runner_type(NULL));
    assert_int_equal(mase_net_open(session, &n, "no-such-model", NULL, NULL), MASE_EVALUE);
    assert_null(mase_net_next(NULL, NULL));
    assert_null(mase_net_find(net, NULL));
    assert_null(mase_node_name(NULL));
    assert_int_equal(mase_net_sample(NULL, dim), -1);
    assert_int_equal(mase_rows_count(NULL, "train"), -1);
    mase_text_release(NULL);
    mase_net_free(NULL);
}

static void structs_have_sizes(void **state)
{
    const int64_t shape[] = { FEATURES };
    struct mase_arrays a = arrays(shape, 1);
    struct mase_scores s = { 0 };
    struct mase_net *n = NULL;
    struct mase_rows *r = NULL;
    struct mase_open o = { .size = 0, .seed = 1 };
    struct mase_hooks h = { 0 };
    (void)state;
    assert_null(mase_session_new(&h));
    h.size = offsetof(struct mase_hooks, user) + 3; /* half a pointer */
    assert_null(mase_session_new(&h));
    refused(mase_net_open(session, &n, "jsc-tiny", &o, &err), "size is 0");
    o.size = offsetof(struct mase_open, weights); /* an older one */
    must(mase_net_open(session, &n, "jsc-tiny", &o, &err));
    mase_net_free(n);
    o.size += 4;
    refused(mase_net_open(session, &n, "jsc-tiny", &o, &err), "size is");
    a.size = 4;
    refused(mase_rows_from(session, &r, &a, NULL, &err), "size is 4");
    refused(mase_net_evaluate(net, &s, rows, NULL, NULL, &err), "size is 0");
}

static void shapes_and_counts_are_checked(void **state)
{
    static const int64_t negative[] = { -4, -4 }, huge[] = { INT64_MAX / 2, INT64_MAX / 2 };
    static const int64_t good[] = { FEATURES };
    static const char integer[] = "name = 'integer'\nwidth = 8\nfrac_width = 4";
    struct mase_arrays a = arrays(negative, 2);
    struct mase_rows *r = NULL;
    struct mase_runner *runner = NULL;
    float y[CLASSES];
    (void)state;
    refused(mase_rows_from(session, &r, &a, NULL, &err), "dimension 0 is -4");
    a = arrays(huge, 2);
    assert_int_equal(mase_rows_from(session, &r, &a, NULL, &err), MASE_ELIMIT);
    a = arrays(huge, 1000);
    refused(mase_rows_from(session, &r, &a, NULL, &err), "dimensions, not 1000");
    a = arrays(NULL, 1);
    refused(mase_rows_from(session, &r, &a, NULL, &err), "NULL");
    a = arrays(good, 1);
    a.classes = -1;
    refused(mase_rows_from(session, &r, &a, NULL, &err), "-1 classes");
    refused(mase_session_round(session, y, x, -1, good, integer, "weight", &err),
            "dimensions, not -1");
    refused(mase_session_round(session, y, x, 2, negative, integer, "weight", &err),
            "dimension 0 is -4");
    assert_int_equal(mase_net_set_sample(net, 2, huge, &err), MASE_ELIMIT);
    refused(mase_net_set_sample(net, 99, good, &err), "dimensions, not 99");
    refused(mase_net_quantize(net, NULL, -1, NULL, &err), "-1 decisions");
    refused(mase_net_quantize(net, &(struct mase_decision_text){ NULL, NULL }, 1, NULL, &err),
            "NULL");
    must(mase_runner_new(net, &runner, NULL, &err));
    refused(mase_runner_run(runner, y, x, -1, &err), "-1 samples");
    must(mase_runner_run(runner, NULL, NULL, 0, &err));
    mase_runner_free(runner);
}

/* A copy of arrays() with one field that is wrong. */
#define REFUSED_ROWS(field, value, words)                                            \
    do {                                                                             \
        struct mase_arrays wrong = arrays(good, 1);                                  \
        struct mase_rows *given = rows;                                              \
        wrong.field = (value);                                                       \
        refused_somehow(mase_rows_from(session, &given, &wrong, NULL, &err), words); \
        assert_null(given);                                                          \
    } while (0)

static void refused_somehow(enum mase_status st, const char *words)
{
    assert_true(st == MASE_EVALUE || st == MASE_ELIMIT);
    assert_int_equal(err.status, st);
    if (!strstr(err.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", err.msg, words);
}

static void arrays_are_what_can_be(void **state)
{
    static const int64_t good[] = { FEATURES };
    static const char *const twice[] = { "a", "b", "c", "a", "e" };
    static const char *const unnamed[] = { "a", "", "c", "d", "e" };
    struct mase_arrays a = arrays(good, 1);
    struct mase_rows *none = NULL;
    (void)state;
    REFUSED_ROWS(x, NULL, "samples");
    REFUSED_ROWS(count, 0, "0 samples");
    REFUSED_ROWS(count, -1, "-1 samples");
    REFUSED_ROWS(count, INT64_MIN, "samples");
    REFUSED_ROWS(count, INT64_MAX, "rows");
    REFUSED_ROWS(count, INT64_MAX / 16, "rows");
    REFUSED_ROWS(count, (int64_t)1 << 33, "rows");
    REFUSED_ROWS(classes, INT32_MAX, "2147483647 classes");
    REFUSED_ROWS(classes, 65537, "65537 classes");
    REFUSED_ROWS(classes, 3, "there are 3 classes");
    REFUSED_ROWS(class_names, twice, "classes is 0");
    REFUSED_ROWS(name, "", "name is empty");
    REFUSED_ROWS(target_count, -1, "target_count is -1");
    REFUSED_ROWS(target_count, 2, "targets is NULL");
    REFUSED_ROWS(train, -1, "-1 rows train");
    REFUSED_ROWS(train, INT64_MAX, "rows train");
    REFUSED_ROWS(validation, INT64_MIN, "validate");
    a.classes = CLASSES;
    a.class_names = twice;
    refused(mase_rows_from(session, &none, &a, NULL, &err), "class_names[3] is 'a', as one before");
    a.class_names = unnamed;
    refused(mase_rows_from(session, &none, &a, NULL, &err), "class_names[1] is empty");
    a = arrays(good, 1);
    a.targets = x;
    a.target_count = INT64_MAX;
    assert_int_equal(mase_rows_from(session, &none, &a, "task = 'regression'", &err), MASE_ELIMIT);
    a.target_count = (int64_t)1 << 40;
    refused(mase_rows_from(session, &none, &a, "task = 'regression'", &err), "numbers to predict");
    refused(mase_rows_from(session, &none, &a, "taks = 'regression'", &err), "did you mean 'task'");
    refused(mase_rows_from(session, &none, &a, "image_channels = 4", &err), "0..3");
    refused(mase_rows_from(session, &none, &a, "target_scaling = 'minmax'", &err),
            "none, standard");
    refused(mase_rows_from(session, &none, &a, "label = 3", &err), "label");
}

/* What the command line refuses, too: tests/cli/bad_command_line.t. */
static void options_of_training_are_those_of_the_command_line(void **state)
{
    struct mase_training t = { .size = sizeof t };
    static const char *const wrong[][2] = {
        { "batch_size = 16777217", "1..16777216" },
        { "task = 'guessing'", "guessing" },
        { "lr_interval = 'day'", "day" },
        { "threads = 1025", "0..1024" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        t.options = wrong[i][0];
        refused(mase_net_train(net, NULL, rows, &t, &err), wrong[i][1]);
    }
}

static void options_are_within_bounds(void **state)
{
    struct mase_run_opts run = { .size = sizeof run };
    struct mase_test_opts test = { .size = sizeof test };
    struct mase_scores scores = { .size = sizeof scores };
    struct mase_proof proof = { .size = sizeof proof };
    struct mase_runner *runner = NULL;
    float y[CLASSES];
    static const int threads[] = { -1, INT32_MIN, 1025, INT32_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        run.threads = test.threads = threads[i];
        refused(mase_runner_new(net, &runner, &run, &err), "threads");
        assert_null(runner);
        refused(mase_net_evaluate(net, &scores, rows, &test, NULL, &err), "threads");
    }
    run.threads = test.threads = 0;
    run.samples = test.limit = -1;
    refused(mase_runner_new(net, &runner, &run, &err), "samples = -1");
    refused(mase_net_evaluate(net, &scores, rows, &test, NULL, &err), "limit = -1");
    refused(mase_net_prove(net, &proof, rows, NULL, -1, NULL, &err), "limit = -1");
    run.samples = test.limit = INT64_MAX;
    run.batch_size = test.batch_size = -1;
    refused(mase_runner_new(net, &runner, &run, &err), "batch_size = -1");
    refused(mase_net_evaluate(net, &scores, rows, &test, NULL, &err), "batch_size = -1");
    run.batch_size = test.batch_size = INT64_MAX;
    refused(mase_runner_new(net, &runner, &run, &err), "batch_size");
    refused(mase_net_evaluate(net, &scores, rows, &test, NULL, &err), "batch_size");
    run.batch_size = test.batch_size = 0;
    test.split = "train";
    must(mase_net_evaluate(net, &scores, rows, &test, NULL, &err));
    assert_int_equal(scores.samples, mase_rows_count(rows, "train"));
    must(mase_runner_new(net, &runner, &run, &err));
    for (int64_t n = INT64_MAX; n > (int64_t)1 << 55; n /= 2)
        assert_int_equal(mase_runner_run(runner, y, x, n, &err), MASE_ELIMIT);
    refused(mase_runner_run(runner, y, x, INT64_MIN, &err), "samples");
    mase_runner_free(runner);
}

static void training_is_within_bounds(void **state)
{
    const struct mase_training usual = { .size = sizeof usual, .max_epochs = 1, .batch_size = 8 };
    struct mase_training how = usual;
    struct mase_net *n = fresh();
    (void)state;
    how.checkpoint_dir = "";
    refused(mase_net_train(n, NULL, rows, &how, &err), "checkpoint_dir is empty");
    how = usual;
    how.resume = "";
    refused(mase_net_train(n, NULL, rows, &how, &err), "resume is empty");
    how = usual;
    how.seed = UINT64_MAX;
    refused(mase_net_train(n, NULL, rows, &how, &err), "18446744073709551615");
    how = usual;
    how.options = "max_epochs = 3";
    refused(mase_net_train(n, NULL, rows, &how, &err), "max_epochs is a field");
    how.options = "learning_rate = 0.1";
    how.learning_rate = 0.2;
    refused(mase_net_train(n, NULL, rows, &how, &err), "learning_rate is a field");
    how = usual;
    how.max_epochs = INT64_MIN;
    refused(mase_net_train(n, NULL, rows, &how, &err), "max_epochs");
    how = usual;
    how.threads = INT32_MAX;
    refused(mase_net_train(n, NULL, rows, &how, &err), "threads");
    mase_net_free(n);
}

static void texts_are_not_empty(void **state)
{
    static const int64_t shape[] = { FEATURES };
    struct mase_open o = { .size = sizeof o, .weights = "" };
    struct mase_net *n = net;
    (void)state;
    refused(mase_net_save(net, "", &err), "dir is empty");
    refused(mase_net_write(net, "", NULL, &err), "its name does not say");
    refused(mase_net_write(net, "/nowhere/a.c", "name = ''", &err), "name is empty");
    refused(mase_net_write(net, "/nowhere/a\"b.c", NULL, &err), "quotes");
    refused(mase_net_open(session, &n, "jsc-tiny", &o, &err), "weights is empty");
    assert_null(n);
    o.weights = NULL;
    o.key = "model";
    refused(mase_net_open(session, &n, "jsc-tiny", &o, &err), "key is of weights");
    o.key = NULL;
    o.rank = 1;
    refused(mase_net_open(session, &n, "jsc-tiny", &o, &err), "shape is NULL");
    o.shape = shape;
    o.seconds = 1e300;
    refused(mase_net_open(session, &n, "jsc-tiny", &o, &err), "1e+300 seconds");
    refused(mase_net_pass(net, "", NULL, NULL, NULL, &err), "no pass is called ''");
    refused(mase_net_passes(net, "passes = [1]", NULL, NULL, &err), "must be tables");
    refused(mase_net_passes(net, "passes = 'quantize'", NULL, NULL, &err), "must be tables");
}

static void a_node_has_one_decision(void **state)
{
    static const char text[] = "mase-graph 1\nmodule default = Linear(16, 5)\n"
                               "module fc = Linear(5, 5)\n%x = placeholder[target=x]\n"
                               "%default = call_module[target=default](args = (%x,))\n"
                               "%fc = call_module[target=fc](args = (%default,))\nreturn %fc\n";
    static const char integer[] = "name = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 4\n"
                                  "weight_width = 8\nweight_frac_width = 4\n"
                                  "bias_width = 8\nbias_frac_width = 4\n";
    const struct mase_decision_text two[] = { { "fc", integer }, { "fc", NULL } };
    const struct mase_decision_text word = { "default", integer };
    struct mase_net *n = NULL;
    struct mase_text t = { 0 };
    (void)state;
    must(mase_net_parse(session, &n, text, "named", &err));
    refused(mase_net_quantize(n, two, 2, NULL, &err), "two decisions for 'fc'");
    assert_int_equal(mase_net_quantize(n, &word, 1, NULL, &err), MASE_EUNSUPPORTED);
    must(mase_net_print(n, &t, "mg", &err));
    assert_null(strstr(t.data, "integer"));
    mase_text_release(&t);
    mase_net_free(n);
}

static void shapes_and_sentences_may_be_unwanted(void **state)
{
    struct mase_runner *runner = NULL;
    int64_t dim[8] = { 0 };
    char sentence[8];
    (void)state;
    refused(mase_net_save(net, "", &err), "dir is empty");
    assert_int_equal(mase_err_text(&err, NULL, 100), strlen("dir is empty"));
    assert_int_equal(mase_err_text(&err, sentence, sizeof sentence), strlen("dir is empty"));
    assert_string_equal(sentence, "dir is ");
    mase_err_print(NULL, &err);
    must(mase_runner_new(net, &runner, NULL, &err));
    assert_int_equal(mase_net_sample(net, NULL), 1);
    assert_int_equal(mase_runner_result(runner, NULL), 1);
    assert_int_equal(mase_runner_result(NULL, NULL), -1);
    assert_int_equal(mase_runner_input(runner, 0, NULL), 1);
    assert_int_equal(mase_runner_input(runner, 0, dim), 1);
    assert_int_equal(dim[0], FEATURES);
    assert_int_equal(mase_runner_input(runner, 1, dim), -1);
    assert_int_equal(mase_runner_input(runner, -1, dim), -1);
    assert_int_equal(mase_runner_input(NULL, 0, dim), -1);
    mase_runner_free(runner);
}

/* Samples of another shape would not fit into what passes hold for them. */
static void passes_take_samples_that_fit(void **state)
{
    const int64_t shape[] = { 2 * FEATURES };
    struct mase_arrays a = arrays(shape, 1);
    struct mase_rows *wide = NULL;
    (void)state;
    a.count = ROWS / 2;
    must(mase_rows_from(session, &wide, &a, NULL, &err));
    refused(mase_net_pass(net, "profile_statistics",
                          "target_activation_nodes = 'all'\n"
                          "[activation_statistics.range_min_max]\ndevice = 'cpu'\n",
                          wide, NULL, &err),
            "the network takes");
    mase_rows_free(wide);
}

static void nodes_are_of_their_network(void **state)
{
    struct mase_net *other = fresh();
    const struct mase_node *n = mase_net_find(other, "seq_blocks_2");
    struct mase_text t = { 0 };
    (void)state;
    refused(mase_net_erase(net, n, &err), "none of this network");
    refused(mase_net_set_args(net, n, "(%x,)", NULL, &err), "none of this network");
    refused(mase_net_replace(net, mase_net_find(net, "x"), n, &err), "none of this network");
    refused(mase_net_add(net, NULL, n, "module a = ReLU()", &err), "none of this network");
    refused(mase_node_json(net, &t, n, &err), "none of this network");
    assert_null(mase_net_next(net, n));
    mase_net_free(other);
}

/* In front of the output, where nothing else is said; an output that is gone can come again. */
static void edits_keep_the_output_last(void **state)
{
    struct mase_net *n = fresh();
    struct mase_text t = { 0 };
    struct mase_runner *runner = NULL;
    (void)state;
    must(mase_net_add(n, NULL, NULL, "%twice = call_function[target=operator.mul](args = (%x, 2))",
                      &err));
    must(mase_net_check(n, &err));
    assert_int_not_equal(mase_net_add(n, NULL, mase_net_find(n, "seq_blocks_1"), "return %x", &err),
                         MASE_OK);
    refused(mase_net_add(n, NULL, mase_net_find(n, "seq_blocks_1"), "%end = return %x", &err),
            "output");
    refused(mase_net_set_args(n, mase_net_find(n, "output"), "()", NULL, &err), "arguments");
    must(mase_net_erase(n, mase_net_find(n, "output"), &err));
    refused(mase_net_pass(n, "count_flops", NULL, NULL, NULL, &err), "no output");
    refused(mase_net_print(n, &t, "program", &err), "no output");
    refused(mase_runner_new(n, &runner, NULL, &err), "no output");
    must(mase_net_add(n, NULL, NULL, "return %twice", &err));
    must(mase_net_check(n, &err));
    mase_net_free(n);
}

static void values_that_are_missing_stay_so(void **state)
{
    struct mase_net *n = fresh(), *copy = NULL;
    struct mase_runner *runner = NULL;
    struct mase_weight_info w = { .size = sizeof w };
    int without = 0;
    (void)state;
    must(mase_net_add(n, NULL, NULL, "module more = Linear(16, 5)", &err));
    refused(mase_runner_new(n, &runner, NULL, &err), "'more.weight'");
    refused(mase_net_write(n, "/nowhere/net.onnx", NULL, &err), "'more.weight'");
    must(mase_net_clone(n, &copy, &err));
    for (int i = 0; i < mase_net_weights(copy); i++) {
        must(mase_net_weight(copy, i, &w, &err));
        without += !w.data;
    }
    assert_int_equal(without, 2);
    must(mase_net_start(copy, 1, &err));
    must(mase_runner_new(copy, &runner, NULL, &err));
    mase_runner_free(runner);
    mase_net_free(copy);
    mase_net_free(n);
}

/* ---- exact integers ---- */

static void set_values(struct mase_net *n, int weight, const float *values, int count)
{
    struct mase_weight_info w = { .size = sizeof w };
    must(mase_net_weight(n, weight, &w, &err));
    memcpy(w.data, values, (size_t)count * sizeof *values);
}

/* Two layers, of which the first has formats, and the second takes its sums as they are. */
static struct mase_net *two_layers(const char *formats)
{
    static const char text[] = "mase-graph 1\nmodule a = Linear(16, 3)\nmodule b = Linear(3, 1)\n"
                               "%x = placeholder[target=x]\n"
                               "%a = call_module[target=a](args = (%x,))\n"
                               "%b = call_module[target=b](args = (%a,))\nreturn %b\n";
    struct mase_net *n = NULL;
    must(mase_net_parse(session, &n, text, "two", &err));
    must(mase_net_set_sample(n, 1, (const int64_t[]){ FEATURES }, &err));
    must(mase_net_start(n, 1, &err));
    must(mase_net_quantize(n, &(struct mase_decision_text){ "a", formats }, 1, NULL, &err));
    return n;
}

static const struct mase_run_opts exact = { .size = sizeof exact, .exact = true };

/* Large terms that cancel are terms all the same: no sum of integers may overflow on its way. */
static void exact_sums_fit_on_their_way(void **state)
{
    struct mase_runner *runner = NULL;
    struct mase_net *n = two_layers("name = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 0\n"
                                    "weight_width = 2\nweight_frac_width = 0\n"
                                    "bias_width = 32\nbias_frac_width = 0\n");
    (void)state; /* weights of a round to 0: its bias is all there is */
    set_values(n, 1, (const float[]){ 0x1p30f, 0x1p30f, 0x1p30f }, 3);
    set_values(n, 2, (const float[]){ 0x1.000002p0f, -0x1.000002p0f, 0x1.000006p-12f }, 3);
    assert_int_equal(mase_runner_new(n, &runner, &exact, &err), MASE_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "62 bits"));
    mase_net_free(n);
}

static void exact_sums_go_on_unrounded(void **state)
{
    struct mase_runner *integers = NULL, *floats = NULL;
    float y[ROWS], wanted[ROWS];
    struct mase_net *n = two_layers("name = 'integer'\ndata_in_width = 4\ndata_in_frac_width = 0\n"
                                    "weight_width = 4\nweight_frac_width = 4\n"
                                    "bias_width = 4\nbias_frac_width = 4\n");
    (void)state;
    set_values(n, 2, (const float[]){ 1, -2, 3 }, 3);
    set_values(n, 3, (const float[]){ 1 }, 1);
    must(mase_runner_new(n, &integers, &exact, &err));
    must(mase_runner_new(n, &floats, NULL, &err));
    must(mase_runner_run(integers, y, x, ROWS, &err));
    must(mase_runner_run(floats, wanted, x, ROWS, &err));
    assert_memory_equal(y, wanted, sizeof y);
    mase_runner_free(integers);
    mase_runner_free(floats);
    mase_net_free(n);
}

/* ---- callbacks ---- */

static enum mase_status fail_silently(void *data, struct mase_err *e)
{
    (void)data, (void)e;
    return MASE_EUNSUPPORTED;
}

static void silent_functions_are_given_a_sentence(void **state)
{
    (void)state;
    struct mase_net *n = NULL;
    refused(mase_net_open(session, &n, "no-such-model", NULL, &err), "no-such-model");
    assert_int_equal(mase_session_call(session, fail_silently, NULL, &err), MASE_EUNSUPPORTED);
    assert_int_equal(err.status, MASE_EUNSUPPORTED);
    assert_null(strstr(err.msg, "no-such-model"));
    refused(mase_session_call(session, NULL, NULL, &err), "fn is NULL");
}

static struct {
    struct mase_net *trained;
    int tried;
} callback;

static bool change_it(void *user, const struct mase_epoch *e)
{
    struct mase_err refusal = { 0 };
    struct mase_text t = { 0 };
    (void)user, (void)e;
    callback.tried++;
    assert_int_equal(mase_net_pass(callback.trained, "fold_batch_norm", NULL, NULL, NULL, &refusal),
                     MASE_EVALUE);
    assert_non_null(strstr(refusal.msg, "can only look"));
    assert_int_equal(mase_net_print(callback.trained, &t, "mg", &refusal), MASE_OK);
    mase_text_release(&t);
    return true;
}

static void callbacks_look_at_what_is_changed(void **state)
{
    const struct mase_training how = {
        .size = sizeof how, .max_epochs = 1, .batch_size = 8, .on_epoch = change_it
    };
    (void)state;
    callback.trained = fresh();
    must(mase_net_train(callback.trained, NULL, rows, &how, &err));
    assert_int_equal(callback.tried, 1);
    must(mase_net_pass(callback.trained, "fold_batch_norm", NULL, NULL, NULL, &err));
    mase_net_free(callback.trained);
}

/* Passes of a pass: each network between the first and the last goes. */
static enum mase_status several(void *user, struct mase_net *n, const char *args,
                                struct mase_text *info, struct mase_err *e)
{
    (void)user, (void)args;
    for (int i = 0; i < 3; i++)
        MASE_TRY(mase_net_pass(n, "report_graph", NULL, NULL, NULL, e));
    mase_net_free(n); /* it is not the pass's to free */
    return mase_text_set(session, info, "{\"runs\": 3}", e);
}

static void programs_have_many_passes(void **state)
{
    struct mase_text info = { 0 };
    struct mase_net *n = fresh();
    char name[16];
    (void)state;
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "several_%d", i);
        const struct mase_own_pass p = { sizeof p, name, NULL, i % 2 == 0, NULL, several };
        must(mase_session_add_pass(session, &p, &err));
        refused(mase_session_add_pass(session, &p, &err), name);
    }
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "several_%d", i);
        must(mase_net_pass(n, name, NULL, NULL, &info, &err));
        assert_non_null(strstr(info.data, "\"runs\": 3"));
    }
    must(mase_net_check(n, &err));
    mase_text_release(&info);
    mase_net_free(n);
}

/* ---- what outlives what ---- */

static void write_csv(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int k = 0; k < FEATURES; k++)
        fprintf(f, "f%d,", k);
    fprintf(f, "label\n");
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FEATURES; k++)
            fprintf(f, "%g,", (double)x[i * FEATURES + k]);
        fprintf(f, "%c\n", 'a' + label[i]);
    }
    assert_int_equal(fclose(f), 0);
}

static void rows_outlive_the_network_they_are_for(void **state)
{
    const char *base = getenv("TMPDIR");
    char dir[200], path[220];
    const struct mase_training how = { .size = sizeof how, .max_epochs = 1, .batch_size = 8 };
    struct mase_net *n = fresh();
    struct mase_rows *table = NULL, *same = NULL;
    struct mase_text t = { 0 };
    (void)state;
    snprintf(dir, sizeof dir, "%.150s/mase-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.csv", dir);
    write_csv(path);
    must(mase_rows_open(session, &table, path, NULL, NULL, &err));
    must(mase_net_train(n, NULL, table, &how, &err));
    mase_rows_free(table);
    must(mase_rows_open(session, &same, path, NULL, n, &err));
    mase_net_free(n);
    must(mase_rows_info(same, &t, &err));
    assert_non_null(strstr(t.data, "\"f15\""));
    mase_text_release(&t);
    mase_rows_free(same);
    unlink(path);
    rmdir(dir);
}

static int make_world(void **state)
{
    const int64_t shape[] = { FEATURES };
    (void)state;
    session = mase_session_new(NULL);
    assert_non_null(session);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FEATURES; k++)
            x[i * FEATURES + k] = (float)((i * 7 + k * 5) % 23) / 4 - 3;
        label[i] = i % CLASSES;
    }
    const struct mase_arrays a = arrays(shape, 1);
    must(mase_rows_from(session, &rows, &a, NULL, &err));
    must(mase_net_open(session, &net, "jsc-tiny", NULL, &err));
    return 0;
}

static int end_world(void **state)
{
    (void)state;
    mase_net_free(net);
    mase_rows_free(rows);
    mase_session_free(session);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(structs_have_sizes),
        cmocka_unit_test(shapes_and_counts_are_checked),
        cmocka_unit_test(arrays_are_what_can_be),
        cmocka_unit_test(options_of_training_are_those_of_the_command_line),
        cmocka_unit_test(options_are_within_bounds),
        cmocka_unit_test(training_is_within_bounds),
        cmocka_unit_test(texts_are_not_empty),
        cmocka_unit_test(a_node_has_one_decision),
        cmocka_unit_test(shapes_and_sentences_may_be_unwanted),
        cmocka_unit_test(passes_take_samples_that_fit),
        cmocka_unit_test(nodes_are_of_their_network),
        cmocka_unit_test(edits_keep_the_output_last),
        cmocka_unit_test(values_that_are_missing_stay_so),
        cmocka_unit_test(exact_sums_fit_on_their_way),
        cmocka_unit_test(exact_sums_go_on_unrounded),
        cmocka_unit_test(silent_functions_are_given_a_sentence),
        cmocka_unit_test(callbacks_look_at_what_is_changed),
        cmocka_unit_test(programs_have_many_passes),
        cmocka_unit_test(rows_outlive_the_network_they_are_for),
    };
    return run_cases(argc, argv, tests, make_world, end_world);
}
