/*
 * t_prune.c - pruning while a network is trained: the schedule, zeros that stay zero at every step,
 * gradients that do not count, runs that are resumed, threads, what is refused.
 */
#include "check.h"
#include "run_cases.h"

#include <unistd.h>

#include <mase/file.h>
#include <mase/log.h>

#include "formats.h"

enum { ROWS = 3000, EPOCHS = 4 };

static char dir[] = "/tmp/t_prune_XXXXXX";
static struct mase_dataset *jets;

static struct mase_train_opts quick_opts(const struct mase_prune_opts *prune)
{
    struct mase_train_opts o = default_opts();
    o.learning_rate = 0.01;
    o.schedule = "constant";
    o.batch_size = 64;
    o.max_epochs = EPOCHS;
    o.threads = 1;
    o.seed = 3;
    o.prune = prune;
    return o;
}

/* "sparsity = 0.5\nmethod = ..." */
static struct mase_prune_opts prune_opts(struct mase_arena *a, const char *toml)
{
    struct mase_prune_opts o;
    struct mase_value *table;
    must(mase_toml_parse(&table, a, toml, strlen(toml), "test", &err));
    must(mase_opts_bind(&o, sizeof o, mase_prune_rows, table, a, &err));
    return o;
}

static const char *file(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static bool add_bytes(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    mase_str_addn(data, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

/* What a run told and came to. */
struct outcome {
    struct mase_train_epoch epoch[8];
    int epochs, die_after;
    char weights[65];
    struct mase_sparsity zeros; /* of the weights that could be pruned */
    int64_t best_epoch;
};

static enum mase_status note_epoch(void *data, const struct mase_train_epoch *p, struct mase_err *e)
{
    struct outcome *n = data;
    n->epoch[n->epochs++] = *p;
    return n->epochs == n->die_after ? mase_fail(e, MASE_EIO, "killed") : MASE_OK;
}

static struct outcome train_graph(struct mase_graph *g, const struct mase_train_opts *o,
                                  bool resume, int die_after)
{
    struct outcome n = { .die_after = die_after };
    struct mase_str bytes = { 0 };
    struct mase_trainer *t;
    must(mase_trainer_new(&t, g, jets, o, &err));
    if (resume)
        must(mase_trainer_resume(t, file("last.ckpt"), &err));
    const struct mase_train_env env = { .checkpoint_dir = dir, .data = &n, .on_epoch = note_epoch };
    const enum mase_status st = mase_trainer_run(t, &env, &err);
    if (!die_after)
        must(st);
    mase_graph_each_param(g, add_bytes, &bytes);
    mase_sha256(n.weights, bytes.data, bytes.len);
    mase_str_release(&bytes);
    n.zeros = mase_graph_sparsity(g);
    n.best_epoch = mase_trainer_state(t)->best_epoch;
    mase_trainer_free(t);
    return n;
}

static struct outcome train(const struct mase_train_opts *o, bool resume, int die_after)
{
    struct mase_graph *g = build("jsc-toy", 3);
    const struct outcome n = train_graph(g, o, resume, die_after);
    mase_graph_free(g);
    return n;
}

static const char *const sections[] = {
    "sparsity = 0.5\nmethod = 'l1-norm'",
    "sparsity = 0.7\nmethod = 'random'\nbegin = 1",
    "sparsity = 0.8\nmethod = 'l1-norm'\nscope = 'global'\nend = 3",
    "sparsity = 0.6\nmethod = 'movement'\nbegin = 1\nend = 3",
    ("sparsity = 0.4\nmethod = 'l2-norm'\ngranularity = 'channel'\nunit = 'steps'\nbegin = 10\n"
     "end = 100\nevery = 7"),
    "sparsity = 0.6\nmethod = 'movement'\ngranularity = 'channel'\nbegin = 2",
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* ---- what comes out ---- */

/* Also where an average of the weights is kept, in which those from before count. */
static void the_target_is_reached(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * SECTIONS; i++) {
        struct mase_arena a = { 0 };
        const struct mase_prune_opts p = prune_opts(&a, sections[i / 2]);
        struct mase_train_opts o = quick_opts(&p);
        o.average_weights = i % 2 ? 0.9 : 0;
        const struct outcome n = train(&o, false, 0);
        const double share = (double)n.zeros.zeros / (double)n.zeros.values;
        check_near(share, p.sparsity->f, 0.03, sections[i / 2], i);
        check_near(share, n.epoch[EPOCHS - 1].sparsity, 1e-12, "told", i);
        mase_arena_release(&a);
    }
}

/* 1 - (1 - t)^3 of it, in thirds; all of it only in the last epoch, which is then the best. */
static void gradual_is_cubic(void **state)
{
    static const double want[] = { 0, 0.8 * (1 - 8.0 / 27), 0.8 * (1 - 1.0 / 27), 0.8 };
    struct mase_arena a = { 0 };
    (void)state;
    const struct mase_prune_opts p = prune_opts(&a, sections[2]);
    const struct mase_train_opts o = quick_opts(&p);
    const struct outcome n = train(&o, false, 0);
    for (int e = 0; e < EPOCHS; e++)
        check_near(n.epoch[e].sparsity, want[e], 0.5 / 232, "sparsity", e);
    assert_int_equal(n.best_epoch, EPOCHS - 1);
    mase_arena_release(&a);
}

/* After every step, and in every checkpoint. */
struct watched {
    const struct mase_trainer *trainer;
    struct mase_graph *graph;
    int64_t most; /* zeros so far */
    int steps;
};

static enum mase_status look(void *data, const struct mase_train_point *p, struct mase_err *e)
{
    struct watched *w = data;
    (void)e;
    mase_plan_write_weights(mase_trainer_plan(w->trainer));
    const int64_t zeros = mase_graph_sparsity(w->graph).zeros;
    if (zeros < w->most)
        fail_msg("step %lld: %lld zeros after %lld", (long long)p->step, (long long)zeros,
                 (long long)w->most);
    w->most = zeros;
    w->steps++;
    return MASE_OK;
}

static void zeros_stay_at_every_step(void **state)
{
    (void)state;
    for (int i = 0; i < SECTIONS; i++) {
        struct mase_arena a = { 0 };
        const struct mase_prune_opts p = prune_opts(&a, sections[i]);
        struct mase_train_opts o = quick_opts(&p);
        struct watched w = { .graph = build("jsc-toy", 3) };
        struct mase_trainer *t;
        o.log_every = 1;
        o.clip_norm = i % 2 ? 0.5 : 0; /* the optimiser at once, and in parts */
        o.weight_decay = 0.01;
        must(mase_trainer_new(&t, w.graph, jets, &o, &err));
        w.trainer = t;
        must(mase_trainer_run(t, &(struct mase_train_env){ .data = &w, .on_step = look }, &err));
        assert_true(w.most > 0 && w.steps > 100);
        mase_trainer_free(t);
        mase_graph_free(w.graph);
        mase_arena_release(&a);
    }
}

/* ---- the same bits ---- */

static void resumed_is_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < SECTIONS; i++)
        for (int die = 1; die < EPOCHS; die++) {
            struct mase_arena a = { 0 };
            const struct mase_prune_opts p = prune_opts(&a, sections[i]);
            struct mase_train_opts o = quick_opts(&p);
            const struct outcome whole = train(&o, false, 0);
            train(&o, false, die);
            /* the checkpoint of the epoch that it died in was not written */
            const struct outcome rest = train(&o, die > 1, 0);
            assert_string_equal(whole.weights, rest.weights);
            mase_arena_release(&a);
            if (getenv("MASE_QUICK"))
                break;
        }
}

/* In the middle of an epoch, too. */
static void resumed_after_some_steps(void **state)
{
    struct mase_arena a = { 0 };
    (void)state;
    const struct mase_prune_opts p = prune_opts(&a, sections[4]);
    struct mase_train_opts o = quick_opts(&p);
    const struct outcome whole = train(&o, false, 0);
    o.max_steps = 59; /* the last update before it is that of step 52, the next 59 */
    train(&o, false, 0);
    o.max_steps = 0;
    const struct outcome rest = train(&o, true, 0);
    assert_string_equal(whole.weights, rest.weights);
    mase_arena_release(&a);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < SECTIONS; i++) {
        struct mase_arena a = { 0 };
        const struct mase_prune_opts p = prune_opts(&a, sections[i]);
        struct mase_train_opts o = quick_opts(&p);
        o.max_epochs = 3;
        o.batch_size = 1500; /* several tiles */
        const struct outcome one = train(&o, false, 0);
        o.threads = 3;
        const struct outcome three = train(&o, false, 0);
        assert_string_equal(one.weights, three.weights);
        mase_arena_release(&a);
    }
}

/* ---- what does not count ---- */

/* Kept weights are trained as if the others did not exist: by hand, one step of plain descent with
 * gradients cut to a length. */
static void what_has_gone_has_no_gradient(void **state)
{
    struct mase_arena a = { 0 };
    (void)state;
    const struct mase_prune_opts p = prune_opts(&a, sections[0]);
    struct mase_train_opts o = quick_opts(&p);
    o.optimizer = "sgd";
    o.momentum = 0;
    o.learning_rate = 1;
    o.clip_norm = 0.25;
    o.max_steps = 1;
    struct mase_graph *g = build("jsc-toy", 3), *before = build("jsc-toy", 3);
    struct mase_trainer *t;
    must(mase_trainer_new(&t, g, jets, &o, &err));
    must(mase_trainer_run(t, NULL, &err));
    double moved = 0;
    const char *const names[] = { "seq_blocks.2.weight", "seq_blocks.5.weight",
                                  "seq_blocks.8.weight" };
    for (int k = 0; k < 3; k++) {
        const struct mase_tensor *w = &mase_graph_attr(g, names[k])->tensor;
        const struct mase_tensor *was = &mase_graph_attr(before, names[k])->tensor;
        for (int64_t i = 0; i < mase_tensor_count(w); i++)
            if (mase_tensor_get(w, i) != 0)
                moved += pow(mase_tensor_get(w, i) - mase_tensor_get(was, i), 2);
    }
    /* everything else that is trained: biases and batch norms */
    for (const struct mase_module *m = g->modules; m; m = m->next)
        for (int k = 0; k < m->param_count; k++) {
            const struct mase_param *x = &m->params[k];
            char name[64];
            snprintf(name, sizeof name, "%s.%s", m->path, x->name);
            const struct mase_tensor *was = &mase_graph_attr(before, name)->tensor;
            if (mase_param_is_buffer(x) || x->tensor.shape.rank > 1)
                continue;
            for (int64_t i = 0; i < mase_tensor_count(&x->tensor); i++)
                moved += pow(mase_tensor_get(&x->tensor, i) - mase_tensor_get(was, i), 2);
        }
    check_near(sqrt(moved), 0.25, 1e-5, "length of the step", 0);
    mase_trainer_free(t);
    mase_graph_free(g);
    mase_graph_free(before);
    mase_arena_release(&a);
}

/* A channel that has gone gives nothing: its bias is zero, too. */
static void channels_go_with_their_bias(void **state)
{
    struct mase_arena a = { 0 };
    (void)state;
    const struct mase_prune_opts p = prune_opts(&a, sections[4]);
    const struct mase_train_opts o = quick_opts(&p);
    struct mase_graph *g = build("jsc-toy", 3);
    train_graph(g, &o, false, 0);
    const struct mase_tensor *w = &mase_graph_attr(g, "seq_blocks.2.weight")->tensor;
    const struct mase_tensor *b = &mase_graph_attr(g, "seq_blocks.2.bias")->tensor;
    int gone = 0;
    for (int64_t c = 0; c < 8; c++) {
        int zeros = 0;
        for (int64_t i = 0; i < 16; i++)
            zeros += mase_tensor_get(w, c * 16 + i) == 0;
        assert_true(zeros == 0 || zeros == 16);
        assert_int_equal(zeros == 16, mase_tensor_get(b, c) == 0);
        gone += zeros == 16;
    }
    assert_int_equal(gone, 3); /* round(0.4 * 8) */
    mase_graph_free(g);
    mase_arena_release(&a);
}

/* ---- what is refused ---- */

static void another_section_is_not_resumed(void **state)
{
    struct mase_arena a = { 0 };
    (void)state;
    const struct mase_prune_opts p = prune_opts(&a, sections[0]), q = prune_opts(&a, sections[2]);
    const struct mase_train_opts o = quick_opts(&p);
    train(&o, false, 0);
    const struct mase_prune_opts *others[] = { &q, NULL };
    for (int i = 0; i < 2; i++) {
        struct mase_graph *g = build("jsc-toy", 3);
        const struct mase_train_opts other = quick_opts(others[i]);
        struct mase_trainer *t;
        must(mase_trainer_new(&t, g, jets, &other, &err));
        assert_int_equal(mase_trainer_resume(t, file("last.ckpt"), &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, "cannot resume with another [passes.prune]: the run had"));
        assert_non_null(strstr(err.msg, "local elementwise l1-norm sparsity 0.5"));
        mase_trainer_free(t);
        mase_graph_free(g);
    }
    mase_arena_release(&a);
}

static void formats_need_a_zero(void **state)
{
    struct mase_arena a = { 0 };
    (void)state;
    const struct mase_prune_opts p = prune_opts(&a, sections[0]);
    const struct mase_train_opts o = quick_opts(&p);
    struct mase_graph *g = build("jsc-toy", 3);
    struct mase_quant q = { .kind = MASE_QUANT_binary };
    struct mase_trainer *t;
    q.operand[MASE_WEIGHT] = format_of("binary(1, false, true)");
    mase_module_set_quant(g, mase_graph_module(g, "seq_blocks.5"), &q);
    assert_int_equal(mase_trainer_new(&t, g, jets, &o, &err), MASE_EVALUE);
    assert_string_equal(err.msg,
                        "pass prune: seq_blocks_5: its weights are in binary(1, false, true), "
                        "which has no zero: what is pruned would come back");
    mase_graph_free(g);
    mase_arena_release(&a);
}

static int open_data(void **state)
{
    (void)state;
    mase_log_set_level(MASE_ERROR);
    assert_non_null(mkdtemp(dir));
    must(
        mase_dataset_open(&jets, "jsc-sim", &(struct mase_dataset_opts){ .sim_rows = ROWS }, &err));
    return 0;
}

static int close_data(void **state)
{
    (void)state;
    mase_dataset_close(jets);
    unlink(file("last.ckpt"));
    unlink(file("best.ckpt"));
    return rmdir(dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_target_is_reached),
        cmocka_unit_test(gradual_is_cubic),
        cmocka_unit_test(zeros_stay_at_every_step),
        cmocka_unit_test(resumed_is_the_same),
        cmocka_unit_test(resumed_after_some_steps),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_has_gone_has_no_gradient),
        cmocka_unit_test(channels_go_with_their_bias),
        cmocka_unit_test(another_section_is_not_resumed),
        cmocka_unit_test(formats_need_a_zero),
    };
    return run_cases(argc, argv, tests, open_data, close_data);
}
