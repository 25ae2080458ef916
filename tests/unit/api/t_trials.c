/*
 * t_trials.c - what mase.h promises of searches: studies that do not depend on workers, metrics of
 * the program, callbacks, and the networks of trials.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase.h>
#include <mase/arena.h>
#include <mase/value.h>

#include "run_cases.h"

enum { ROWS = 400, FEATURES = 16, CLASSES = 5 };

static struct {
    char dir[100];
    atomic_long blocks; /* that the session has */
    struct mase_session *session;
    struct mase_net *net;
    struct mase_rows *rows;
    struct mase_err err;
} world;

static void must(enum mase_status st)
{
    char text[2048];
    if (!st)
        return;
    mase_err_text(&world.err, text, sizeof text);
    fail_msg("%s", text);
}

/* The call is refused, with a sentence that has these words. */
static void refused(enum mase_status st, enum mase_status wanted, const char *words)
{
    assert_int_equal(st, wanted);
    if (!strstr(world.err.msg, words))
        fail_msg("\"%s\" does not say \"%s\"", world.err.msg, words);
}

static void *count_blocks(void *user, void *p, size_t size)
{
    (void)user;
    if (!size) {
        atomic_fetch_sub(&world.blocks, p != NULL);
        free(p);
        return NULL;
    }
    atomic_fetch_add(&world.blocks, p == NULL);
    return realloc(p, size);
}

static const char *path_of(const char *name)
{
    static char path[4][200];
    static int last;
    last = (last + 1) % 4;
    snprintf(path[last], sizeof path[last], "%s/%s", world.dir, name);
    return path[last];
}

/* ---- searching ---- */

#define SPACE                                                                      \
    "[search.search_space]\nname = 'graph/quantize/mixed_precision_ptq'\n"         \
    "[search.search_space.setup]\nby = 'name'\n"                                   \
    "[search.search_space.seed.default.config]\nname = ['NA']\n"                   \
    "[search.search_space.seed.seq_blocks_2.config]\nname = ['integer']\n"         \
    "data_in_width = [4, 6, 8]\ndata_in_frac_width = [3]\nweight_width = [2, 4, "  \
    "8]\nweight_frac_width = [1]\n"                                                \
    "bias_width = [8]\nbias_frac_width = [4]\n"                                    \
    "[search.strategy]\nname = 'optuna'\n"                                         \
    "setup = { sampler = 'random', n_trials = 20 }\n[search.strategy.sw_runner]\n" \
    "basic_evaluation = {}\n[search.strategy.hw_runner]\naverage_bitwidth = { compare_to = 32 }\n"

static const char two[] = "seed = 3\n" SPACE "[search.strategy.metrics]\n"
                          "accuracy.direction = 'maximize'\n"
                          "average_bitwidth = { direction = 'minimize', scale = 0.2 }\n";
static const char with_own[] = SPACE "[search.strategy.metrics]\nmine.direction = 'minimize'\n";

static struct mase_trials *search(const char *config, const struct mase_searching *how)
{
    struct mase_trials *trials = NULL;
    must(mase_net_search(world.net, &trials, world.rows, config, how, &world.err));
    return trials;
}

/* What is printed of trials, in an arena. */
static const struct mase_value *print(struct mase_arena *a, const struct mase_trials *trials,
                                      const char *what)
{
    struct mase_text text = { 0 };
    struct mase_value *v = NULL;
    must(mase_trials_print(trials, &text, what, &world.err));
    must(mase_json_parse(&v, a, mase_arena_strdup(a, text.data), text.len, "json", &world.err));
    mase_text_release(&text);
    return v;
}

static void hash_of(char hash[65], const struct mase_trials *trials)
{
    struct mase_arena a = { 0 };
    snprintf(hash, 65, "%s", mase_value_at(print(&a, trials, "study"), "hash")->s);
    mase_arena_release(&a);
}

static const struct mase_value *trial_at(const struct mase_value *study, int n)
{
    return mase_value_get(study, "trials")->items[n];
}

static void workers_change_no_result(void **state)
{
    char first[65], hash[65];
    (void)state;
    for (int workers = 1; workers <= 4; workers++) {
        const struct mase_searching how = { .size = sizeof how, .workers = workers };
        struct mase_trials *t = search(two, &how);
        assert_int_equal(mase_trials_count(t), 20);
        hash_of(workers == 1 ? first : hash, t);
        if (workers > 1)
            assert_string_equal(hash, first);
        mase_trials_free(t);
    }
    const struct mase_searching other = { .size = sizeof other, .seed = 4 };
    struct mase_trials *t = search(two, &other);
    hash_of(hash, t);
    assert_string_not_equal(hash, first);
    mase_trials_free(t);
}

static void a_study_is_gone_on_with(void **state)
{
    char whole[65], hash[65];
    struct mase_text names = { 0 };
    struct mase_trials *t = search(two, NULL);
    struct mase_searching how = {
        .size = sizeof how, .storage = path_of("on.db"), .study = "mine", .trials = 7
    };
    (void)state;
    hash_of(whole, t);
    mase_trials_free(t);
    t = search(two, &how);
    assert_int_equal(mase_trials_count(t), 7);
    mase_trials_free(t);
    how.trials = 0;
    how.workers = 2;
    t = search(two, &how);
    hash_of(hash, t);
    assert_string_equal(hash, whole);
    mase_trials_free(t);
    how.seed = 9;
    refused(mase_net_search(world.net, &t, world.rows, two, &how, &world.err), MASE_EVALUE,
            "another search");
    assert_null(t);
    must(mase_session_studies(world.session, &names, how.storage, &world.err));
    assert_string_equal(names.data, "[\"mine\"]");
    mase_text_release(&names);
}

static void studies_are_written_and_read(void **state)
{
    static const char *const files[] = { "copy.json", "copy.db" };
    char hash[65], copy[65];
    struct mase_trials *t = search(two, NULL), *again = NULL;
    struct mase_net *n = NULL;
    (void)state;
    hash_of(hash, t);
    for (int i = 0; i < 2; i++) {
        must(mase_trials_write(t, path_of(files[i]), &world.err));
        must(mase_trials_open(world.session, &again, path_of(files[i]), NULL, &world.err));
        hash_of(copy, again);
        assert_string_equal(copy, hash);
        refused(mase_trials_net(again, &n, 0, &world.err), MASE_EVALUE, "from a store");
        mase_trials_free(again);
    }
    refused(mase_trials_write(t, path_of("copy.db"), &world.err), MASE_EVALUE, "already");
    refused(mase_trials_write(t, path_of("copy.txt"), &world.err), MASE_EVALUE, "copy.txt");
    mase_trials_free(t);
}

/* ---- metrics of the program ---- */

struct own {
    struct mase_searching how;
    struct mase_own_metric metric;
    atomic_int calls, at_once;
    bool changes;
};

/* Other formats, and weights that are zero. */
static enum mase_status change(struct mase_net *net, struct mase_err *err)
{
    struct mase_weight_info w = { .size = sizeof w };
    MASE_TRY(mase_net_pass(net, "quantize", "by = 'type'\ndefault.config.name = 'NA'\n", NULL, NULL,
                           err));
    MASE_TRY(mase_net_weight(net, 2, &w, err));
    memset(w.data, 0, sizeof(float));
    return MASE_OK;
}

/* The width of the weights, as the network and the point have it; a width of 4 cannot be measured.
 */
static enum mase_status measure(void *user, double *value, struct mase_net *net, const char *point,
                                struct mase_err *err)
{
    struct own *own = user;
    const bool alone = atomic_fetch_add(&own->at_once, 1) == 0;
    const struct mase_node *n = mase_net_find(net, "seq_blocks_2");
    struct mase_text text = { 0 };
    atomic_fetch_add(&own->calls, 1);
    assert_true(alone);
    MASE_TRY(mase_node_json(net, &text, n, err));
    *value = strstr(text.data, "integer(2, 1)") ? 2 : 8;
    const bool four = strstr(text.data, "\"weight\": \"integer(4, 1)\"") != NULL;
    assert_int_equal(four, strstr(point, "\"weight_width\": 4") != NULL);
    mase_text_release(&text);
    if (own->changes)
        MASE_TRY(change(net, err));
    atomic_fetch_sub(&own->at_once, 1);
    return four ? mase_fail(err, MASE_EVALUE, "four is not measured") : MASE_OK;
}

static void make_own(struct own *own)
{
    *own = (struct own){ .metric = { "mine", own, measure } };
    own->how = (struct mase_searching){
        .size = sizeof own->how, .workers = 3, .metrics = &own->metric, .metric_count = 1
    };
}

static void metrics_of_the_program_are_objectives(void **state)
{
    struct own own;
    struct mase_arena a = { 0 };
    int failed = 0, two_bits = 0;
    (void)state;
    make_own(&own);
    struct mase_trials *t = search(with_own, &own.how);
    const struct mase_value *study = print(&a, t, "study");
    for (int i = 0; i < 20; i++) {
        const struct mase_value *trial = trial_at(study, i);
        const int64_t width =
            mase_value_get(mase_value_get(trial, "params"), "seq_blocks_2/config/weight_width")->i;
        const struct mase_value *values = mase_value_get(trial, "values");
        failed += width == 4;
        two_bits += width == 2;
        assert_string_equal(mase_value_get(trial, "state")->s, width == 4 ? "FAIL" : "COMPLETE");
        if (width == 4)
            assert_non_null(strstr(mase_value_at(trial, "user.failure")->s, "four is not"));
        else
            assert_true(mase_value_number(values->items[0]) == (double)width);
    }
    assert_true(failed > 0 && two_bits > 0);
    assert_true(own.calls < 20 + failed); /* what was measured is known */
    assert_int_equal(mase_value_get(study, "best")->count, 1);
    mase_trials_free(t);
    mase_arena_release(&a);
}

static void what_a_metric_changes_is_gone(void **state)
{
    struct own own;
    char plain[65], hash[65];
    (void)state;
    for (int changes = 0; changes < 2; changes++) {
        make_own(&own);
        own.changes = changes;
        struct mase_trials *t =
            search(SPACE "[search.strategy.metrics]\nmine.direction = 'minimize'\n"
                         "loss.direction = 'minimize'\n",
                   &own.how);
        hash_of(changes ? hash : plain, t);
        mase_trials_free(t);
    }
    assert_string_equal(hash, plain);
}

/* ---- callbacks ---- */

static bool until_third(void *user, const char *trial)
{
    struct mase_arena a = { 0 };
    struct mase_value *v;
    int *seen = user;
    must(mase_json_parse(&v, &a, trial, strlen(trial), "trial", &world.err));
    assert_int_equal(mase_value_get(v, "number")->i, *seen);
    assert_non_null(mase_value_at(v, "user.software_metrics.accuracy"));
    mase_arena_release(&a);
    return ++*seen < 3;
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

static void callbacks_stop_a_search(void **state)
{
    int seen = 0;
    struct mase_searching how = {
        .size = sizeof how, .workers = 1, .user = &seen, .on_trial = until_third
    };
    (void)state;
    struct mase_trials *t = search(two, &how);
    assert_int_equal(mase_trials_count(t), 3);
    assert_int_equal(seen, 3);
    mase_trials_free(t);
    how = (struct mase_searching){ .size = sizeof how, .stop = at_once };
    t = search(two, &how);
    assert_int_equal(mase_trials_count(t), 0);
    mase_trials_free(t);
}

/* ---- networks of trials ---- */

static void a_trial_has_its_network(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_trials *t = search(two, NULL);
    const struct mase_value *study = print(&a, t, "study");
    const struct mase_test_opts validation = { .size = sizeof validation, .split = "validation" };
    struct mase_net *n = NULL;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct mase_scores scores = { .size = sizeof scores };
        must(mase_trials_net(t, &n, i, &world.err));
        must(mase_net_evaluate(n, &scores, world.rows, &validation, NULL, &world.err));
        assert_true(scores.score == mase_value_number(mase_value_at(
                                        trial_at(study, i), "user.software_metrics.accuracy")));
        mase_net_free(n);
    }
    refused(mase_trials_net(t, &n, 20, &world.err), MASE_EVALUE, "there is no trial 20");
    assert_null(n);
    mase_trials_free(t);
    mase_arena_release(&a);
}

/* Two layers, as wide as the arguments say. */
static enum mase_status open_wide(void *user, struct mase_net **net, const char *arguments,
                                  struct mase_err *err)
{
    struct mase_net **last = user;
    char text[400];
    int width = 0;
    assert_int_equal(sscanf(arguments, "{\"width\": %d}", &width), 1);
    snprintf(text, sizeof text,
             "mase-graph 1\nname wide\nmodule fc1 = Linear(16, %d)\nmodule fc2 = Linear(%d, 5)\n"
             "%%x = placeholder[target=x]\n%%fc1 = call_module[target=fc1](args = (%%x,))\n"
             "%%fc2 = call_module[target=fc2](args = (%%fc1,))\nreturn %%fc2\n",
             width, width);
    mase_net_free(*last);
    MASE_TRY(mase_net_parse(world.session, last, text, "wide", err));
    MASE_TRY(mase_net_start(*last, 1, err));
    *net = *last;
    return MASE_OK;
}

static const char widths[] =
    "search_space = { name = 'graph/quantize/mixed_precision_ptq', model = { width = [4, 8] } }\n"
    "strategy.name = 'optuna'\nstrategy.setup = { sampler = 'random', n_trials = 8 }\n"
    "strategy.sw_runner.basic_train = { max_epochs = 1, learning_rate = 1e-2 }\n"
    "strategy.metrics.loss.direction = 'minimize'\n";

static void arguments_make_other_networks(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_net *last = NULL, *n = NULL;
    struct mase_trials *t = NULL;
    const struct mase_searching how = {
        .size = sizeof how, .user = &last, .open = open_wide, .options = "batch_size = 16"
    };
    (void)state;
    refused(mase_net_search(world.net, &t, world.rows, widths, NULL, &world.err), MASE_EUNSUPPORTED,
            "constructor");
    t = search(widths, &how);
    const struct mase_value *study = print(&a, t, "study");
    const struct mase_test_opts validation = { .size = sizeof validation, .split = "validation" };
    for (int i = 0; i < 8; i++) {
        const struct mase_value *trial = trial_at(study, i);
        const int64_t width = mase_value_at(trial, "user.sampled_arguments.width")->i;
        struct mase_scores scores = { .size = sizeof scores };
        must(mase_trials_net(t, &n, i, &world.err));
        assert_int_equal(mase_net_params(n), 16 * width + width + 5 * width + 5);
        must(mase_net_evaluate(n, &scores, world.rows, &validation, NULL, &world.err));
        assert_true(scores.loss == mase_value_number(mase_value_get(trial, "values")->items[0]));
        mase_net_free(n);
    }
    mase_trials_free(t);
    mase_net_free(last);
    mase_arena_release(&a);
}

/* ---- what is wrong ---- */

static void what_is_wrong_is_refused(void **state)
{
    struct mase_trials *t = NULL;
    struct mase_text text = { 0 };
    struct mase_err *err = &world.err;
    struct mase_searching how = { .size = sizeof how, .workers = -1 };
    struct mase_own_metric metric = { "loss", NULL, measure };
    (void)state;
    refused(mase_net_search(NULL, &t, world.rows, two, NULL, err), MASE_EVALUE, "net is NULL");
    refused(mase_net_search(world.net, NULL, world.rows, two, NULL, err), MASE_EVALUE, "trials is");
    refused(mase_net_search(world.net, &t, NULL, two, NULL, err), MASE_EVALUE, "rows is NULL");
    refused(mase_net_search(world.net, &t, world.rows, NULL, NULL, err), MASE_EVALUE, "config is");
    refused(mase_net_search(world.net, &t, world.rows, two, &how, err), MASE_EVALUE, "workers");
    how = (struct mase_searching){ .size = 3 };
    refused(mase_net_search(world.net, &t, world.rows, two, &how, err), MASE_EVALUE, "size is 3");
    how = (struct mase_searching){ .size = sizeof how, .seconds = NAN };
    refused(mase_net_search(world.net, &t, world.rows, two, &how, err), MASE_EVALUE, "seconds");
    how = (struct mase_searching){ .size = sizeof how, .options = "epochs = 3" };
    refused(mase_net_search(world.net, &t, world.rows, two, &how, err), MASE_EVALUE, "epochs");
    how = (struct mase_searching){ .size = sizeof how, .metric_count = 1 };
    refused(mase_net_search(world.net, &t, world.rows, two, &how, err), MASE_EVALUE, "metrics is");
    how.metrics = &metric;
    refused(mase_net_search(world.net, &t, world.rows, two, &how, err), MASE_EVALUE, "'loss'");
    refused(mase_net_search(world.net, &t, world.rows, with_own, NULL, err), MASE_EVALUE, "'mine'");
    assert_int_equal(err->loc.line, 23);
    assert_null(t);
    refused(mase_trials_open(world.session, &t, path_of("none.db"), NULL, err), MASE_EIO, "");
    t = search(two, NULL);
    refused(mase_trials_print(t, &text, "worst", err), MASE_EVALUE, "worst");
    mase_trials_free(t);
    mase_trials_free(NULL);
    assert_int_equal(mase_trials_count(NULL), 0);
}

/* ---- the world ---- */

static int make_world(void **state)
{
    static float x[ROWS * FEATURES];
    static int32_t labels[ROWS];
    static const int64_t shape[] = { FEATURES };
    const char *base = getenv("TMPDIR");
    const struct mase_hooks hooks = { .size = sizeof hooks,
                                      .alloc = count_blocks,
                                      .log_level = MASE_CRITICAL };
    unsigned random = 7;
    (void)state;
    snprintf(world.dir, sizeof world.dir, "%.70s/mase-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(world.dir))
        return -1;
    for (int i = 0; i < ROWS * FEATURES; i++) {
        random = random * 1664525u + 1013904223u;
        x[i] = (float)(random >> 16) / 32768.0f - 1.0f;
    }
    for (int i = 0; i < ROWS; i++)
        for (int c = 1; c < CLASSES; c++)
            if (x[i * FEATURES + c] > x[i * FEATURES + labels[i]])
                labels[i] = c;
    const struct mase_arrays arrays = {
        .size = sizeof arrays, .x = x, .count = ROWS, .shape = shape, .rank = 1, .labels = labels
    };
    const struct mase_training how = {
        .size = sizeof how, .max_epochs = 5, .learning_rate = 1e-2, .batch_size = 16
    };
    world.session = mase_session_new(&hooks);
    must(mase_rows_from(world.session, &world.rows, &arrays, NULL, &world.err));
    must(mase_net_open(world.session, &world.net, "jsc-tiny", NULL, &world.err));
    must(mase_net_train(world.net, NULL, world.rows, &how, &world.err));
    return 0;
}

/* Whatever the tests did, everything goes back to the host. */
static int end_world(void **state)
{
    char command[150];
    (void)state;
    mase_net_free(world.net);
    mase_rows_free(world.rows);
    mase_session_free(world.session);
    snprintf(command, sizeof command, "rm -r '%s'", world.dir);
    return system(command) || world.blocks;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_change_no_result),
        cmocka_unit_test(a_study_is_gone_on_with),
        cmocka_unit_test(studies_are_written_and_read),
        cmocka_unit_test(metrics_of_the_program_are_objectives),
        cmocka_unit_test(what_a_metric_changes_is_gone),
        cmocka_unit_test(callbacks_stop_a_search),
        cmocka_unit_test(a_trial_has_its_network),
        cmocka_unit_test(arguments_make_other_networks),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return run_cases(argc, argv, tests, make_world, end_world);
}
