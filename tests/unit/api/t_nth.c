/*
 * t_nth.c - the calls of mase.h when something fails in their middle: the N-th request for memory,
 * for every N, and the N-th system call.
 *
 * Each is tried with a session whose allocator refuses one request, the first, the second and so on
 * until the call has all it asks for. Whatever N is, the status is MASE_ENOMEM; what the call was
 * to change is as it was, text, weights and files; what it took has been given back. The same
 * objects go through all these failures, and what the call gives in the end is what an undisturbed
 * one gives. Of edits the header says less: the network is as it was, or can only be freed.
 *
 * MASE_QUICK: every N up to a hundred, then ever fewer. MASE_ONLY_CALL=NAME looks at one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mase.h>

#include "base/fault.h"
#include "net_sum.h"
#include "run_cases.h"

#define DATA     MASE_SOURCE_DIR "/tests/data/"
#define EXAMPLES MASE_SOURCE_DIR "/examples/own_network/"

enum { FEATURES = 16, CLASSES = 5, ROWS = 60 };

/* ---- a session with little memory ---- */

static struct {
    atomic_long alive, asked; /* blocks; requests since the call began */
    long refused;             /* the number of the request that is; 0: none */
    long counted;             /* asked when the call had ended; 0: now */
    bool has_refused;
} memory;

static void *grant(void *user, void *p, size_t size)
{
    (void)user;
    if (!size) {
        atomic_fetch_sub(&memory.alive, 1);
        free(p);
        return NULL;
    }
    if (1 + atomic_fetch_add(&memory.asked, 1) == memory.refused) {
        memory.has_refused = true;
        return NULL;
    }
    void *q = realloc(p, size);
    if (!p && q) {
        atomic_fetch_add(&memory.alive, 1);
        memset(q, 0xa5, size < 4096 ? size : 4096); /* it is not zeroed */
    }
    return q;
}

/* ---- what there is before the calls ---- */

static struct {
    char dir[200], out[220]; /* of the test's own; what calls write to */
    struct mase_session *session;
    struct mase_net *plain, *quantised, *bare; /* bare: without values */
    struct mase_rows *rows;
    struct mase_runner *runner;
    struct mase_trials *trials;
    struct mase_err err;
    float x[ROWS * FEATURES];
    int32_t label[ROWS];
} world;

static void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &world.err);
        fail_msg("unexpected error");
    }
}

/* Each holds until the eighth after it. */
static const char *path_of(const char *name)
{
    static char path[8][512];
    static int last;
    last = (last + 1) % 8;
    snprintf(path[last], sizeof path[last], "%s/%s", world.dir, name);
    return path[last];
}

static const char *out_of(const char *name)
{
    char inside[128];
    snprintf(inside, sizeof inside, "out/%s", name);
    return path_of(inside);
}

/* ---- sums ---- */

/* Names and bytes of a folder; it must hold nothing unfinished. */
static uint64_t folder_sum(const char *dir)
{
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[1024], bytes[65536];
        struct stat is;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (e->d_name[0] == '.')
            fail_msg("%s is left in %s", e->d_name, dir);
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        uint64_t h = add_bytes(1, e->d_name, strlen(e->d_name));
        assert_int_equal(stat(path, &is), 0);
        if (S_ISDIR(is.st_mode)) {
            sum += h ^ folder_sum(path);
            continue;
        }
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
            h = add_bytes(h, bytes, n);
        fclose(f);
        sum += h;
    }
    closedir(d);
    return sum;
}

/* ---- the calls ---- */

/* One call of the library on net, which only `change`s may change; what it gave is added to sum. */
struct trial {
    struct mase_net *net;
    const char *text, *more; /* of the row */
    uint64_t sum;
};

/* What follows belongs to the test. */
static void end_of_call(void)
{
    memory.refused = 0;
    memory.counted = memory.asked;
}

typedef enum mase_status call_fn(struct trial *t, struct mase_err *err);

static enum mase_status keep_net(struct trial *t, struct mase_net *net, enum mase_status st)
{
    if (st) {
        assert_null(net);
        return st;
    }
    end_of_call();
    t->sum = sum_of(net);
    mase_net_free(net);
    return MASE_OK;
}

static enum mase_status keep_text(struct trial *t, struct mase_text *text, enum mase_status st)
{
    if (st)
        assert_null(text->data);
    else
        t->sum = add_bytes(1, text->data, text->len);
    mase_text_release(text);
    return st;
}

static const char *file_or_name(const char *text)
{
    return strchr(text, '.') && text[0] != '/' ? path_of(text) : text;
}

static enum mase_status open_net(struct trial *t, struct mase_err *err)
{
    struct mase_net *net = t->net; /* it must be set */
    const struct mase_open o = { .size = sizeof o,
                                 .seed = 3,
                                 .weights = t->more ? path_of(t->more) : NULL };
    const enum mase_status st = mase_net_open(world.session, &net, file_or_name(t->text), &o, err);
    return keep_net(t, net, st);
}

static enum mase_status capture(struct trial *t, struct mase_err *err)
{
    struct mase_net *net = NULL;
    const int64_t shape[] = { FEATURES };
    const struct mase_open o = { .size = sizeof o, .seed = 3, .shape = shape, .rank = 1 };
    const enum mase_status st = mase_net_open(world.session, &net, path_of("net.py"), &o, err);
    return keep_net(t, net, st);
}

static enum mase_status parse(struct trial *t, struct mase_err *err)
{
    struct mase_net *net = NULL;
    const enum mase_status st = mase_net_parse(world.session, &net, t->text, "text", err);
    return keep_net(t, net, st);
}

static enum mase_status clone(struct trial *t, struct mase_err *err)
{
    struct mase_net *net = NULL;
    const enum mase_status st = mase_net_clone(t->net, &net, err);
    return keep_net(t, net, st);
}

static enum mase_status set_original(struct trial *t, struct mase_err *err)
{
    return mase_net_set_original(t->net, world.plain, err);
}

static enum mase_status start(struct trial *t, struct mase_err *err)
{
    return mase_net_start(t->net, 5, err);
}

static enum mase_status set_sample(struct trial *t, struct mase_err *err)
{
    return mase_net_set_sample(t->net, 2, (const int64_t[]){ 4, 4 }, err);
}

static enum mase_status load(struct trial *t, struct mase_err *err)
{
    return mase_net_load(t->net, path_of(t->text), t->more, err);
}

static enum mase_status print(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_net_print(t->net, &out, t->text, err));
}

static enum mase_status print_node(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out,
                     mase_node_json(t->net, &out, mase_net_find(t->net, "seq_blocks_2"), err));
}

static enum mase_status find_weight(struct trial *t, struct mase_err *err)
{
    struct mase_weight_info w = { .size = sizeof w };
    MASE_TRY(mase_net_weight(t->net, 2, &w, err));
    t->sum = add_bytes(1, w.name, strlen(w.name));
    return MASE_OK;
}

/* ---- edits ---- */

static enum mase_status add(struct trial *t, struct mase_err *err)
{
    const struct mase_node *added = NULL;
    const enum mase_status st = mase_net_add(t->net, &added, NULL, t->text, err);
    if (st)
        assert_null(added);
    return st;
}

static enum mase_status set_args(struct trial *t, struct mase_err *err)
{
    return mase_net_set_args(t->net, mase_net_find(t->net, "seq_blocks_2"), "(%seq_blocks_0,)",
                             NULL, err);
}

static enum mase_status replace(struct trial *t, struct mase_err *err)
{
    return mase_net_replace(t->net, mase_net_find(t->net, "seq_blocks_3"),
                            mase_net_find(t->net, "seq_blocks_2"), err);
}

static enum mase_status erase(struct trial *t, struct mase_err *err)
{
    return mase_net_erase(t->net, mase_net_find(t->net, "output"), err);
}

static enum mase_status check(struct trial *t, struct mase_err *err)
{
    return mase_net_check(t->net, err);
}

/* ---- passes ---- */

static const char formats[] = "by = 'type'\ndefault.config.name = 'NA'\n"
                              "linear.config = { name = 'integer', data_in_width = 8,"
                              " data_in_frac_width = 4, weight_width = 6, weight_frac_width = 3,"
                              " bias_width = 6, bias_frac_width = 3 }\n";

static enum mase_status run_pass(struct trial *t, struct mase_err *err)
{
    struct mase_text info = { 0 };
    const enum mase_status st = mase_net_pass(t->net, t->text, t->more, world.rows, &info, err);
    assert_true((info.data != NULL) == !st);
    mase_text_release(&info); /* seconds stand in it */
    return st;
}

static enum mase_status run_passes(struct trial *t, struct mase_err *err)
{
    return mase_net_passes(t->net,
                           "[passes.fold_batch_norm]\n[passes.quantize]\nby = 'type'\n"
                           "default.config.name = 'NA'\n"
                           "linear.config = { name = 'integer', data_in_width = 8,"
                           " data_in_frac_width = 4, weight_width = 6, weight_frac_width = 3,"
                           " bias_width = 6, bias_frac_width = 3 }\n[passes.count_flops]\n",
                           world.rows, NULL, err);
}

static enum mase_status quantize(struct trial *t, struct mase_err *err)
{
    const struct mase_decision_text d[] = {
        { "seq_blocks_2", "name = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 'auto'\n"
                          "weight_width = 4\nweight_frac_width = 3\n"
                          "bias_width = 8\nbias_frac_width = 4\n" },
        { "seq_blocks_3", NULL },
    };
    return mase_net_quantize(t->net, d, 2, world.rows, err);
}

static enum mase_status explain(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_net_explain(t->net, &out, formats, err));
}

static enum mase_status profile(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out,
                     mase_net_profile(t->net, &out, world.rows,
                                      "by = 'type'\ntarget_weight_nodes = ['linear']\n"
                                      "target_activation_nodes = ['relu']\nnum_samples = 32\n"
                                      "[weight_statistics.variance_precise]\ndevice = 'cpu'\n"
                                      "[activation_statistics.range_quantile]\nquantile = 0.9\n"
                                      "[activation_statistics.histogram]\nbins = 8\n",
                                      err));
}

/* A pass of the program's own, which edits, runs passes and reports. */
static enum mase_status own_transform(void *user, struct mase_net *net, const char *args,
                                      struct mase_text *info, struct mase_err *err)
{
    struct mase_text seen = { 0 };
    (void)user, (void)args;
    MASE_TRY(mase_text_set(world.session, info, "{\"nodes\": 6}", err));
    MASE_TRY(mase_net_pass(net, "fold_batch_norm", NULL, NULL, NULL, err));
    MASE_TRY(mase_net_set_original(net, world.plain, err));
    MASE_TRY(mase_net_pass(net, "quantize", formats, NULL, &seen, err));
    mase_text_release(&seen);
    return mase_net_add(net, NULL, NULL,
                        "%twice = call_function[target=operator.mul](args = (%x, 2))", err);
}

static enum mase_status own_analysis(void *user, struct mase_net *net, const char *args,
                                     struct mase_text *info, struct mase_err *err)
{
    struct mase_text seen = { 0 };
    (void)user, (void)args;
    MASE_TRY(mase_net_pass(net, "report_graph", NULL, NULL, &seen, err));
    const enum mase_status st = mase_text_set(world.session, info, seen.data, err);
    mase_text_release(&seen);
    return st;
}

/* ---- data ---- */

static enum mase_status keep_rows(struct trial *t, struct mase_rows *rows, enum mase_status st)
{
    if (st) {
        assert_null(rows);
        return st;
    }
    struct mase_text info = { 0 };
    end_of_call();
    must(mase_rows_info(rows, &info, &world.err));
    t->sum = add_bytes(1, info.data, info.len);
    mase_text_release(&info);
    mase_rows_free(rows);
    return MASE_OK;
}

static enum mase_status wrap_rows(struct trial *t, struct mase_err *err)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    const int64_t shape[] = { FEATURES };
    const struct mase_arrays a = { .size = sizeof a,
                                   .name = "mine",
                                   .x = world.x,
                                   .count = ROWS,
                                   .shape = shape,
                                   .rank = 1,
                                   .labels = world.label,
                                   .classes = CLASSES,
                                   .class_names = names };
    struct mase_rows *rows = world.rows; /* it must be set */
    const enum mase_status st = mase_rows_from(world.session, &rows, &a, t->text, err);
    return keep_rows(t, rows, st);
}

static enum mase_status open_rows(struct trial *t, struct mase_err *err)
{
    struct mase_rows *rows = NULL;
    const enum mase_status st =
        mase_rows_open(world.session, &rows, file_or_name(t->text), NULL, NULL, err);
    return keep_rows(t, rows, st);
}

static enum mase_status rows_info(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_rows_info(world.rows, &out, err));
}

/* ---- computing ---- */

static enum mase_status compute(struct trial *t, struct mase_err *err)
{
    struct mase_runner *r = world.runner; /* it must be set */
    float y[ROWS * CLASSES];
    const struct mase_run_opts o = { .size = sizeof o, .exact = t->text != NULL, .threads = 1 };
    enum mase_status st = mase_runner_new(t->net, &r, &o, err);
    if (st)
        assert_null(r);
    if (!st)
        st = mase_runner_run(r, y, world.x, ROWS, err);
    mase_runner_free(r);
    t->sum = st ? 0 : add_bytes(1, y, sizeof y);
    return st;
}

static enum mase_status run_typed(struct trial *t, struct mase_err *err)
{
    float y[ROWS * CLASSES];
    MASE_TRY(mase_runner_run_typed(world.runner, y, world.x, ROWS, err));
    t->sum = add_bytes(1, y, sizeof y);
    return MASE_OK;
}

static enum mase_status run_again(struct trial *t, struct mase_err *err)
{
    float y[ROWS * CLASSES];
    MASE_TRY(mase_runner_run(world.runner, y, world.x, ROWS, err));
    t->sum = add_bytes(1, y, sizeof y);
    return MASE_OK;
}

static enum mase_status evaluate(struct trial *t, struct mase_err *err)
{
    struct mase_scores s = { .size = sizeof s };
    struct mase_text detail = { 0 };
    const struct mase_test_opts o = { .size = sizeof o, .exact = t->text != NULL, .threads = 1 };
    const enum mase_status st = mase_net_evaluate(t->net, &s, world.rows, &o, &detail, err);
    t->sum = add_bytes(1, &s.loss, sizeof s.loss);
    assert_true((detail.data != NULL) == !st);
    mase_text_release(&detail);
    return st;
}

static enum mase_status prove(struct trial *t, struct mase_err *err)
{
    struct mase_proof p = { .size = sizeof p };
    struct mase_text detail = { 0 };
    const enum mase_status st = mase_net_prove(t->net, &p, world.rows, NULL, 10, &detail, err);
    return keep_text(t, &detail, st);
}

static bool go_on(void *user, const struct mase_epoch *e)
{
    (void)user, (void)e;
    return true;
}

static enum mase_status train(struct trial *t, struct mase_err *err)
{
    const struct mase_training how = {
        .size = sizeof how,
        .max_epochs = 1,
        .batch_size = 16,
        .learning_rate = 1e-2,
        .threads = 1,
        .checkpoint_dir = t->text ? out_of("run") : NULL,
        .options = "max_steps = 1",
        .on_epoch = go_on,
    };
    return mase_net_train(t->net, NULL, world.rows, &how, err);
}

/* ---- searching ---- */

static const char searched[] =
    "search_space.name = 'graph/quantize/mixed_precision_ptq'\nsearch_space.setup.by = 'name'\n"
    "search_space.seed.default.config.name = ['NA']\n"
    "search_space.seed.seq_blocks_2.config = { name = ['integer'], data_in_width = [4, 8],"
    " data_in_frac_width = [3], weight_width = [2, 4], weight_frac_width = [1], bias_width = [8],"
    " bias_frac_width = [4] }\n"
    "strategy.name = 'optuna'\nstrategy.setup = { sampler = 'random', n_trials = 3 }\n"
    "strategy.metrics.mine.direction = 'minimize'\n";

static enum mase_status count_params(void *user, double *value, struct mase_net *net,
                                     const char *point, struct mase_err *err)
{
    struct mase_text program = { 0 };
    (void)user, (void)point;
    MASE_TRY(mase_net_print(net, &program, "program", err));
    *value = (double)program.len;
    mase_text_release(&program);
    return MASE_OK;
}

static bool hear_trial(void *user, const char *trial)
{
    (void)user;
    return trial[0] == '{';
}

static enum mase_status search(struct trial *t, struct mase_err *err)
{
    const struct mase_own_metric metric = { "mine", NULL, count_params };
    const struct mase_searching how = { .size = sizeof how,
                                        .workers = 1,
                                        .options = "batch_size = 16",
                                        .metrics = &metric,
                                        .metric_count = 1,
                                        .on_trial = hear_trial };
    struct mase_trials *trials = world.trials; /* it must be set */
    const enum mase_status st = mase_net_search(t->net, &trials, world.rows, searched, &how, err);
    if (st)
        assert_null(trials);
    mase_trials_free(trials);
    return st;
}

static enum mase_status open_trials(struct trial *t, struct mase_err *err)
{
    struct mase_trials *trials = world.trials;
    const enum mase_status st =
        mase_trials_open(world.session, &trials, path_of(t->text), NULL, err);
    if (st)
        assert_null(trials);
    mase_trials_free(trials);
    return st;
}

static enum mase_status print_trials(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_trials_print(world.trials, &out, t->text, err));
}

static enum mase_status trial_net(struct trial *t, struct mase_err *err)
{
    struct mase_net *net = t->net;
    const enum mase_status st = mase_trials_net(world.trials, &net, 1, err);
    return keep_net(t, net, st);
}

static enum mase_status list_studies(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_session_studies(world.session, &out, path_of(t->text), err));
}

/* ---- files ---- */

static enum mase_status write_trials(struct trial *t, struct mase_err *err)
{
    return mase_trials_write(world.trials, out_of(t->text), err);
}

static enum mase_status save(struct trial *t, struct mase_err *err)
{
    return mase_net_save(t->net, out_of(t->text), err);
}

static enum mase_status write_file(struct trial *t, struct mase_err *err)
{
    return mase_net_write(t->net, out_of(t->text), t->more, err);
}

/* ---- sessions ---- */

static enum mase_status list(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_session_list(world.session, &out, t->text, err));
}

static enum mase_status set_text(struct trial *t, struct mase_err *err)
{
    struct mase_text out = { 0 };
    return keep_text(t, &out, mase_text_set(world.session, &out, t->text, err));
}

static enum mase_status round_values(struct trial *t, struct mase_err *err)
{
    float y[FEATURES];
    MASE_TRY(mase_session_round(world.session, y, world.x, 1, (const int64_t[]){ FEATURES },
                                "name = 'integer'\nwidth = 4\nfrac_width = 2", "weight", err));
    t->sum = add_bytes(1, y, sizeof y);
    return MASE_OK;
}

static const struct mase_hooks hooks = { .size = sizeof hooks,
                                         .alloc = grant,
                                         .log_level = MASE_CRITICAL };

static enum mase_status add_passes(struct trial *t, struct mase_err *err)
{
    struct mase_own_pass p = { sizeof p, NULL, "more", true, NULL, own_transform };
    struct mase_session *s = mase_session_new(&hooks);
    enum mase_status st = MASE_OK;
    char name[16];
    (void)t;
    if (!s) /* it has no other way to say so */
        return mase_fail(err, MASE_ENOMEM, "no session");
    for (int i = 0; i < 9 && !st; i++) {
        snprintf(name, sizeof name, "pass_%d", i);
        p.name = name;
        st = mase_session_add_pass(s, &p, err);
    }
    mase_session_free(s);
    return st;
}

/* ---- all of them ---- */

enum { PLAIN, QUANTISED, BARE };
/* It may break the network; its names may stay in it; checkpoints are there to outlive failures. */
enum { EDIT = 1, GROWS = 2, KEEPS = 4 };

struct call {
    const char *name;
    call_fn *run;
    int net; /* which it is called on, a copy of its own */
    const char *text, *more;
    int flags;
    int most; /* tries; 0: all */
};

static const char small[] = "mase-graph 1\nname small\nmodule fc = Linear(16, 5)\n"
                            "%x = placeholder[target=x]\n"
                            "%fc = call_module[target=fc](args = (%x,))\nreturn %fc\n";

static const struct call calls[] = {
    { .name = "session_add_pass", .run = add_passes },
    { .name = "session_list passes", .run = list, .text = "passes" },
    { .name = "session_list formats", .run = list, .text = "formats" },
    { .name = "session_list training", .run = list, .text = "training" },
    { .name = "session_list models", .run = list, .text = "models" },
    { .name = "session_list ops", .run = list, .text = "ops" },
    { .name = "text_set", .run = set_text, .text = "{\"a\": 1}" },
    { .name = "session_round", .run = round_values },
    { .name = "rows_from", .run = wrap_rows },
    { .name = "rows_from, scaled", .run = wrap_rows, .text = "scaling = 'minmax'\nsplit_seed = 3" },
    { .name = "rows_open .csv", .run = open_rows, .text = "t.csv" },
    { .name = "rows_open .npz", .run = open_rows, .text = DATA "data/own.npz" },
    { .name = "rows_open .h5", .run = open_rows, .text = DATA "data/own.h5", .most = 60 },
    { .name = "rows_info", .run = rows_info },
    { .name = "net_open zoo", .run = open_net, .text = "jsc-tiny" },
    { .name = "net_open .mg", .run = open_net, .text = "net.mg" },
    { .name = "net_open saved", .run = open_net, .text = "saved.d" },
    { .name = "net_open saved, quantised", .run = open_net, .text = "saved-q.d" },
    { .name = "net_open .ckpt", .run = open_net, .text = "run.d/last.ckpt" },
    { .name = "net_open run", .run = open_net, .text = "run.d" },
    { .name = "net_open .onnx", .run = open_net, .text = "net.onnx" },
    { .name = "net_open .onnx of integers",
      .run = open_net,
      .text = EXAMPLES "mlp_int8.onnx",
      .most = 3000 },
    { .name = "net_open with .pt", .run = open_net, .text = "jsc-tiny", .more = "w.pt" },
    { .name = "net_open with .npz", .run = open_net, .text = "jsc-tiny", .more = "w.npz" },
    { .name = "net_open with .safetensors",
      .run = open_net,
      .text = "jsc-tiny",
      .more = "w.safetensors" },
    { .name = "net_open with a folder", .run = open_net, .text = "jsc-tiny", .more = "saved.d" },
    { .name = "net_open .py", .run = capture, .most = 12 },
    { .name = "net_parse", .run = parse, .text = small },
    { .name = "net_parse, empty", .run = parse, .text = "mase-graph 1\n" },
    { .name = "net_clone", .run = clone },
    { .name = "net_set_original", .run = set_original },
    { .name = "net_start", .run = start, .net = BARE },
    { .name = "net_set_sample", .run = set_sample },
    { .name = "net_load .pt", .run = load, .text = "w2.pt" },
    { .name = "net_load .safetensors", .run = load, .text = "w2.safetensors" },
    { .name = "net_load .npz", .run = load, .text = "w2.npz", .more = "lenient = true" },
    { .name = "net_load .ckpt", .run = load, .text = "run.d/last.ckpt" },
    { .name = "net_load into nothing", .run = load, .net = BARE, .text = "w2.pt" },
    { .name = "net_print graph", .run = print, .net = QUANTISED, .text = "graph" },
    { .name = "net_print mg", .run = print, .net = QUANTISED, .text = "mg" },
    { .name = "net_print py", .run = print, .text = "py" },
    { .name = "net_print program", .run = print, .net = QUANTISED, .text = "program" },
    { .name = "net_print integers", .run = print, .net = QUANTISED, .text = "integers" },
    { .name = "net_print svg", .run = print, .net = QUANTISED, .text = "svg" },
    { .name = "net_print dot", .run = print, .net = QUANTISED, .text = "dot" },
    { .name = "net_print json", .run = print, .net = QUANTISED, .text = "json" },
    { .name = "node_json", .run = print_node, .net = QUANTISED },
    { .name = "net_weight", .run = find_weight, .flags = GROWS },
    { .name = "net_add node",
      .run = add,
      .text = "%twice = call_function[target=operator.mul](args = (%x, 2))",
      .flags = EDIT },
    { .name = "net_add layer", .run = add, .text = "module more = Linear(16, 5)", .flags = EDIT },
    { .name = "net_add attribute", .run = add, .text = "attr scale = f32[16]", .flags = EDIT },
    { .name = "net_set_args", .run = set_args, .flags = EDIT },
    { .name = "net_replace", .run = replace, .flags = EDIT },
    { .name = "net_erase", .run = erase, .flags = EDIT },
    { .name = "net_check", .run = check, .net = QUANTISED },
    { .name = "net_passes", .run = run_passes },
    { .name = "own transform", .run = run_pass, .text = "own_transform" },
    { .name = "own analysis", .run = run_pass, .text = "own_analysis" },
    { .name = "net_quantize", .run = quantize },
    { .name = "net_quantize again", .run = quantize, .net = QUANTISED },
    { .name = "net_explain", .run = explain },
    { .name = "net_profile", .run = profile },
    { .name = "runner_new, runner_run", .run = compute },
    { .name = "the same, exact", .run = compute, .net = QUANTISED, .text = "exact" },
    { .name = "runner_run", .run = run_again },
    { .name = "runner_run_typed", .run = run_typed },
    { .name = "net_evaluate", .run = evaluate },
    { .name = "net_evaluate, exact", .run = evaluate, .net = QUANTISED, .text = "exact" },
    { .name = "net_prove", .run = prove, .net = QUANTISED },
    { .name = "net_train", .run = train },
    { .name = "net_train, quantised", .run = train, .net = QUANTISED },
    { .name = "net_train to a folder", .run = train, .text = "run", .flags = KEEPS },
    { .name = "net_search", .run = search },
    { .name = "trials_open .json", .run = open_trials, .text = "trials.json" },
    { .name = "trials_open .db", .run = open_trials, .text = "trials.db" },
    { .name = "trials_print study", .run = print_trials, .text = "study" },
    { .name = "trials_print log", .run = print_trials, .text = "log" },
    { .name = "trials_print best", .run = print_trials, .text = "best" },
    { .name = "trials_net", .run = trial_net },
    { .name = "session_studies", .run = list_studies, .text = "trials.db" },
    { .name = "trials_write .json", .run = write_trials, .text = "trials.json" },
    { .name = "net_save", .run = save, .text = "saved" },
    { .name = "net_save, quantised", .run = save, .net = QUANTISED, .text = "saved" },
    { .name = "net_save, new folder", .run = save, .text = "new" },
    { .name = "net_write .onnx", .run = write_file, .net = QUANTISED, .text = "net.onnx" },
    { .name = "net_write .onnx, qonnx",
      .run = write_file,
      .net = QUANTISED,
      .text = "net.onnx",
      .more = "dialect = 'qonnx'" },
    { .name = "net_write .mg", .run = write_file, .text = "net.mg" },
    { .name = "net_write .py", .run = write_file, .text = "net.py" },
    { .name = "net_write .safetensors", .run = write_file, .text = "w.safetensors" },
    { .name = "net_write .pt", .run = write_file, .text = "w.pt" },
    { .name = "net_write .pth", .run = write_file, .text = "w.pth" },
    { .name = "net_write .ckpt", .run = write_file, .text = "w.ckpt" },
    { .name = "net_write .npz", .run = write_file, .text = "w.npz" },
    { .name = "net_write .svg", .run = write_file, .text = "net.svg" },
    { .name = "net_write .dot", .run = write_file, .text = "net.dot" },
    { .name = "net_write .c", .run = write_file, .net = QUANTISED, .text = "net.c" },
    { .name = "net_write .c, new",
      .run = write_file,
      .net = QUANTISED,
      .text = "other.c",
      .more = "unrolled = true" },
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- trying them ---- */

/* Files as earlier calls may have left them. */
static void fill_target(void)
{
    static const char *const names[] = { "net.onnx", "net.mg",  "net.py", "w.safetensors",
                                         "w.pt",     "w.pth",   "w.ckpt", "w.npz",
                                         "net.svg",  "net.dot", "net.c",  "net.h" };
    remove_all(world.out);
    assert_int_equal(mkdir(world.out, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        FILE *f = fopen(out_of(names[i]), "w");
        assert_non_null(f);
        fprintf(f, "old %s\n", names[i]);
        fclose(f);
    }
    must(mase_net_save(world.bare, out_of("saved"), &world.err));
}

static struct mase_net *subject(const struct call *c)
{
    struct mase_net *const from[] = { world.plain, world.quantised, world.bare }, *net = NULL;
    must(mase_net_clone(from[c->net], &net, &world.err));
    must(mase_net_set_original(net, world.plain, &world.err));
    return net;
}

static long next(long n, long step)
{
    return n + (getenv("MASE_QUICK") && n >= 100 ? 1 + n / 12 : step);
}

struct tally {
    long asked, tried, broken, written;
    double seconds;
};

/* What the undisturbed call gives, and how much it asks for. */
static uint64_t run_once(const struct call *c, long *asked, uint64_t *files)
{
    struct trial t = { subject(c), c->text, c->more, 0 };
    fill_target();
    memory.refused = 0;
    memory.asked = 0;
    memory.counted = 0;
    must(c->run(&t, &world.err));
    *asked = memory.counted ? memory.counted : memory.asked;
    *files = folder_sum(world.out);
    const uint64_t sum = t.sum ^ sum_of(t.net);
    mase_net_free(t.net);
    return sum;
}

/* After a failure: true, or the network is one that can only be freed. */
static bool check_failure(const struct call *c, long n, struct trial *t, enum mase_status st,
                          uint64_t before)
{
    if (st != MASE_ENOMEM || world.err.status != MASE_ENOMEM)
        fail_msg("%s, request %ld: status %d, %s", c->name, n, (int)st, world.err.msg);
    const uint64_t now = sum_of(t->net);
    if (now != before && (now || !(c->flags & EDIT)))
        fail_msg("%s, request %ld: the network has changed", c->name, n);
    return now != 0;
}

static void try_all(const struct call *c, struct tally *tally, uint64_t wanted,
                    uint64_t wanted_files)
{
    const long step = c->most && tally->asked > c->most ? tally->asked / c->most : 1;
    struct trial t = { subject(c), c->text, c->more, 0 };
    const uint64_t before = sum_of(t.net);
    fill_target();
    const uint64_t files_before = folder_sum(world.out);
    const int open_before = open_files();
    for (long n = 1;; n = next(n, step)) {
        const long alive = memory.alive;
        world.err = (struct mase_err){ 0 };
        memory.refused = n;
        memory.asked = 0;
        memory.has_refused = false;
        t.sum = 0;
        const enum mase_status st = c->run(&t, &world.err);
        memory.refused = 0;
        assert_int_equal(open_files(), open_before);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child either */
        if (!memory.has_refused)
            break;
        tally->tried++;
        if (!check_failure(c, n, &t, st, before)) {
            tally->broken++;
            mase_net_free(t.net);
            t.net = subject(c);
        } else if (memory.alive != alive && !(c->flags & (GROWS | EDIT))) {
            fail_msg("%s, request %ld: %ld blocks more", c->name, n, memory.alive - alive);
        }
        const uint64_t files = folder_sum(world.out);
        if (files != files_before && files != wanted_files && !(c->flags & KEEPS))
            fail_msg("%s, request %ld: files are neither old nor new", c->name, n);
        if (files != files_before) {
            tally->written++;
            fill_target();
        }
    }
    must(world.err.status);
    if ((t.sum ^ sum_of(t.net)) != wanted)
        fail_msg("%s: after so many failures it gives something else", c->name);
    assert_true(folder_sum(world.out) == wanted_files);
    mase_net_free(t.net);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void try_call(const struct call *c)
{
    const char *only = getenv("MASE_ONLY_CALL");
    struct tally tally = { .seconds = -seconds() };
    uint64_t files;
    if (only && !strstr(c->name, only))
        return;
    run_once(c, &tally.asked, &files); /* what is made once for the process */
    const long alive = memory.alive;
    const uint64_t wanted = run_once(c, &tally.asked, &files);
    try_all(c, &tally, wanted, files);
    assert_int_equal(memory.alive, alive);
    printf("%-34s %11ld %8ld %6ld %7ld %8.2f\n", c->name, tally.asked, tally.tried, tally.broken,
           tally.written, tally.seconds + seconds());
    fflush(stdout);
}

static void whichever_request_is_refused(void **state)
{
    (void)state;
    printf("%-34s %11s %8s %6s %7s %8s\n", "call", "allocations", "failures", "broken", "written",
           "seconds");
    for (int i = 0; i < CALLS; i++)
        try_call(&calls[i]);
}

/* What passes need to run at all. */
static const char *args_of(const char *pass)
{
    static char text[512];
    text[0] = '\0';
    if (strcmp(pass, "quantize") == 0)
        return formats;
    if (strcmp(pass, "prune") == 0)
        return "sparsity = 0.5";
    if (strcmp(pass, "redefine_linear") == 0)
        return "default.config = { name = 'width', channel_multiplier = 2 }";
    if (strcmp(pass, "save_mase_graph") == 0)
        snprintf(text, sizeof text, "save_dir = '%s'", out_of("saved"));
    if (strcmp(pass, "load_mase_graph") == 0)
        snprintf(text, sizeof text, "load_dir = '%s'", path_of("saved-q.d"));
    if (strcmp(pass, "save_node_meta_param") == 0)
        snprintf(text, sizeof text, "save_path = '%s'", out_of("meta.toml"));
    if (strcmp(pass, "load_node_meta_param") == 0)
        snprintf(text, sizeof text, "load_path = '%s'", path_of("meta.toml"));
    if (strcmp(pass, "profile_statistics") == 0)
        return "by = 'type'\ntarget_weight_nodes = ['linear']\nnum_samples = 8\n"
               "[weight_statistics.range_min_max]\ndevice = 'cpu'\n";
    return text;
}

static void every_pass_of_the_library(void **state)
{
    struct mase_text passes = { 0 };
    int count = 0;
    (void)state;
    must(mase_session_list(world.session, &passes, "passes", &world.err));
    for (const char *at = passes.data; (at = strstr(at, "{\"name\": \"")); count++) {
        char name[64], title[80];
        at += 10;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
        snprintf(title, sizeof title, "net_pass %s", name);
        const bool fits = strcmp(name, "gptq") == 0 || strcmp(name, "bias_correction") == 0;
        if (strncmp(name, "own_", 4) != 0)
            try_call(&(struct call){ title, run_pass, fits ? QUANTISED : PLAIN, name, args_of(name),
                                     0, 0 });
    }
    assert_true(count > 20);
    mase_text_release(&passes);
}

/* ---- system calls ---- */

static struct {
    const char *call; /* NULL: any */
    long fails, made; /* the number of the call that does */
    bool has_failed;
} faults;

static int fault(const char *call, void *user)
{
    (void)user;
    if (faults.call && strcmp(call, faults.call) != 0)
        return 0;
    if (++faults.made != faults.fails)
        return 0;
    faults.has_failed = true;
    return EIO;
}

static void try_faults(const struct call *c, const char *which, long *tried)
{
    const bool writes = c->run == save || c->run == write_file;
    uint64_t wanted = 0;
    long asked;
    if (writes)
        run_once(c, &asked, &wanted);
    struct trial t = { subject(c), c->text, c->more, 0 };
    uint64_t before = sum_of(t.net);
    fill_target();
    const uint64_t files = folder_sum(world.out);
    const int open_before = open_files();
    long alive = memory.alive;
    for (long n = 1;; n++) {
        faults.call = which;
        faults.fails = n;
        faults.made = 0;
        faults.has_failed = false;
        world.err = (struct mase_err){ 0 };
        mase_fault = fault;
        const enum mase_status st = c->run(&t, &world.err);
        mase_fault = NULL;
        if (!faults.has_failed)
            break;
        ++*tried;
        const uint64_t now = folder_sum(world.out);
        const bool whole = writes && now == wanted; /* a look at what was there, or at the disk */
        if (whole)
            fill_target();
        if (st != MASE_EIO && (st || !whole) && !(c->flags & KEEPS)) /* whose folder may be there */
            fail_msg("%s, %s %ld fails: status %d, %s", c->name, which, n, (int)st, world.err.msg);
        if (!st) { /* it went well all the same */
            before = sum_of(t.net);
            alive = memory.alive;
        }
        if (sum_of(t.net) != before)
            fail_msg("%s, %s %ld fails: the network has changed", c->name, which, n);
        if (now != files && !whole && !(c->flags & KEEPS))
            fail_msg("%s, %s %ld fails: files have changed", c->name, which, n);
        assert_int_equal(open_files(), open_before);
        if (memory.alive != alive)
            fail_msg("%s, %s %ld fails: blocks are left", c->name, which, n);
    }
    mase_net_free(t.net);
}

static void whichever_system_call_fails(void **state)
{
    static const char *const which[] = { "open",  "read", "write",  "fsync", "fchmod",
                                         "close", "link", "rename", "mkdir", "mmap" };
    static const char *const kinds[] = { "net_save", "net_write", "net_load",
                                         "net_open", "rows_open", "net_train to a folder" };
    const char *only = getenv("MASE_ONLY_CALL");
    (void)state;
    for (int i = 0; i < CALLS; i++) {
        long tried = 0;
        bool is_of_files = false;
        const bool writes = calls[i].run == save || calls[i].run == write_file;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            is_of_files |= strncmp(calls[i].name, kinds[k], strlen(kinds[k])) == 0;
        if (!is_of_files || calls[i].run == capture || strstr(calls[i].name, ".h5") ||
            (only && !strstr(calls[i].name, only)))
            continue;
        for (size_t k = 0; k < sizeof which / sizeof *which; k++)
            if (writes || strcmp(which[k], "close") != 0) /* what was read has been read */
                try_faults(&calls[i], which[k], &tried);
        printf("%-34s %11ld system calls\n", calls[i].name, tried);
        fflush(stdout);
    }
}

/* ---- the world ---- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void write_csv(void)
{
    static char text[ROWS * FEATURES * 8];
    size_t n = 0;
    for (int k = 0; k < FEATURES; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "f%d,", k);
    n += (size_t)snprintf(text + n, sizeof text - n, "label\n");
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FEATURES; k++) {
            world.x[i * FEATURES + k] = (float)((i * 7 + k * 5) % 23) / 4 - 3;
            n += (size_t)snprintf(text + n, sizeof text - n, "%g,",
                                  (double)world.x[i * FEATURES + k]);
        }
        world.label[i] = i % CLASSES;
        n += (size_t)snprintf(text + n, sizeof text - n, "%c\n", 'a' + i % CLASSES);
    }
    write_text(path_of("t.csv"), text);
}

static const char module[] = "import torch\n"
                             "class Net(torch.nn.Module):\n"
                             "    def __init__(self):\n"
                             "        super().__init__()\n"
                             "        self.fc = torch.nn.Linear(16, 5)\n"
                             "    def forward(self, x):\n"
                             "        return torch.relu(self.fc(x))\n";

static void make_networks(void)
{
    struct mase_session *s = world.session;
    struct mase_err *err = &world.err;
    const struct mase_open bare = { .size = sizeof bare, .no_weights = true };
    struct mase_text t = { 0 };
    must(mase_net_open(s, &world.plain, "jsc-tiny", NULL, err));
    must(mase_net_open(s, &world.bare, "jsc-tiny", &bare, err));
    must(mase_net_clone(world.plain, &world.quantised, err));
    must(mase_net_pass(world.quantised, "quantize", formats, NULL, NULL, err));
    must(mase_net_print(world.plain, &t, "mg", err));
    write_text(path_of("net.mg"), t.data);
    write_text(path_of("net.py"), module);
    mase_text_release(&t);
    must(mase_runner_new(world.plain, &world.runner, NULL, err));
}

static void write_networks(void)
{
    static const char *const weights[] = { "w.pt", "w.npz", "w.safetensors" };
    static const char *const others[] = { "w2.pt", "w2.npz", "w2.safetensors" };
    struct mase_err *err = &world.err;
    const struct mase_open seeded = { .size = sizeof seeded, .seed = 9 };
    struct mase_net *other = NULL;
    char args[300];
    must(mase_net_open(world.session, &other, "jsc-tiny", &seeded, err));
    for (int i = 0; i < 3; i++) {
        must(mase_net_write(world.plain, path_of(weights[i]), NULL, err));
        must(mase_net_write(other, path_of(others[i]), NULL, err));
    }
    must(mase_net_save(world.plain, path_of("saved.d"), err));
    must(mase_net_save(world.quantised, path_of("saved-q.d"), err));
    must(mase_net_write(world.plain, path_of("net.onnx"), NULL, err));
    snprintf(args, sizeof args, "save_path = '%s'", path_of("meta.toml"));
    must(mase_net_pass(other, "save_node_meta_param", args, NULL, NULL, err));
    const struct mase_training how = { .size = sizeof how,
                                       .max_epochs = 1,
                                       .batch_size = 16,
                                       .learning_rate = 1e-2,
                                       .checkpoint_dir = path_of("run.d") };
    must(mase_net_train(other, NULL, world.rows, &how, err));
    mase_net_free(other);
}

static void make_trials(void)
{
    static const struct mase_own_metric metric = { "mine", NULL, count_params };
    const struct mase_searching how = {
        .size = sizeof how, .workers = 1, .metrics = &metric, .metric_count = 1
    };
    must(mase_net_search(world.plain, &world.trials, world.rows, searched, &how, &world.err));
    must(mase_trials_write(world.trials, path_of("trials.json"), &world.err));
    must(mase_trials_write(world.trials, path_of("trials.db"), &world.err));
}

static int make_world(void **state)
{
    const char *base = getenv("TMPDIR");
    const struct mase_own_pass own[] = {
        { sizeof own[0], "own_transform", "changes", true, NULL, own_transform },
        { sizeof own[0], "own_analysis", "looks", false, NULL, own_analysis },
    };
    (void)state;
    omp_set_num_threads(1); /* the machine may have others to serve */
    snprintf(world.dir, sizeof world.dir, "%.150s/mase-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(world.dir));
    snprintf(world.out, sizeof world.out, "%s/out", world.dir);
    world.session = mase_session_new(&hooks);
    assert_non_null(world.session);
    for (int i = 0; i < 2; i++)
        must(mase_session_add_pass(world.session, &own[i], &world.err));
    write_csv();
    must(mase_rows_open(world.session, &world.rows, path_of("t.csv"), NULL, NULL, &world.err));
    make_networks();
    write_networks();
    make_trials();
    return 0;
}

static int end_world(void **state)
{
    (void)state;
    mase_runner_free(world.runner);
    mase_trials_free(world.trials);
    mase_net_free(world.plain);
    mase_net_free(world.quantised);
    mase_net_free(world.bare);
    mase_rows_free(world.rows);
    mase_session_free(world.session);
    remove_all(world.dir);
    assert_int_equal(memory.alive, 0);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_request_is_refused),
        cmocka_unit_test(every_pass_of_the_library),
        cmocka_unit_test(whichever_system_call_fails),
    };
    return run_cases(argc, argv, tests, make_world, end_world);
}
