/*
 * t_trainer.c - whole runs on generated jets: they learn, give the same bits however they are run,
 * stop where they should, and go on from their checkpoints.
 */
#include "check.h"
#include "run_cases.h"

#include <sys/stat.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/torch.h>
#include <mase/weights.h>

#include "formats.h"
#include "train/trainer.h"

enum { ROWS = 6000 };

static char dir[] = "/tmp/t_trainer_XXXXXX";
static struct mase_dataset *jets;

static struct mase_train_opts quick_opts(void)
{
    struct mase_train_opts o = default_opts();
    o.learning_rate = 0.01;
    o.batch_size = 64;
    o.max_epochs = 4;
    o.threads = 1;
    o.seed = 3;
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

static void hash_weights(char hex[65], const struct mase_graph *g)
{
    struct mase_str s = { 0 };
    mase_graph_each_param(g, add_bytes, &s);
    mase_sha256(hex, s.data, s.len);
    mase_str_release(&s);
}

/* What a run tells, kept. */
struct notes {
    struct mase_train_epoch epoch[32];
    int epochs, points;
    int die_after; /* fail at this epoch's end, as if killed before its checkpoint; 0: never */
    double last_loss;
};

static enum mase_status note_step(void *data, const struct mase_train_point *p, struct mase_err *e)
{
    (void)e;
    struct notes *n = data;
    n->points++;
    n->last_loss = p->loss;
    return MASE_OK;
}

static enum mase_status note_epoch(void *data, const struct mase_train_epoch *p, struct mase_err *e)
{
    struct notes *n = data;
    n->epoch[n->epochs++] = *p;
    return n->epochs == n->die_after ? mase_fail(e, MASE_EIO, "killed") : MASE_OK;
}

/* Train and hash. resume: the checkpoint to go on from, or NULL. */
static struct notes train(char hex[65], const char *net, const struct mase_train_opts *o,
                          const char *resume, bool save, int die_after)
{
    struct notes n = { .die_after = die_after };
    struct mase_graph *g = build(net, (uint64_t)o->seed);
    struct mase_trainer *t;
    must(mase_trainer_new(&t, g, jets, o, &err));
    if (resume)
        must(mase_trainer_resume(t, resume, &err));
    const struct mase_train_env env = { .checkpoint_dir = save ? dir : NULL,
                                        .data = &n,
                                        .on_step = note_step,
                                        .on_epoch = note_epoch };
    const enum mase_status st = mase_trainer_run(t, &env, &err);
    if (!die_after)
        must(st);
    else
        assert_int_equal(st, MASE_EIO);
    if (hex)
        hash_weights(hex, g);
    mase_trainer_free(t);
    mase_graph_free(g);
    return n;
}

static void it_learns(void **state)
{
    (void)state;
    const struct mase_train_opts o = quick_opts();
    const struct notes n = train(NULL, "jsc-toy", &o, NULL, false, 0);
    const int64_t rows = mase_dataset_split(jets, MASE_SPLIT_TRAIN).count;
    assert_int_equal(n.epochs, 4);
    assert_true(n.epoch[3].val_loss < n.epoch[0].val_loss);
    assert_true(n.epoch[3].val_score > 0.5); /* guessing gives 0.2 */
    assert_true(n.epoch[3].train_score > 0.5);
    assert_int_equal(n.epoch[0].samples, rows);
    assert_int_equal(n.epoch[3].step, 4 * ((rows + 63) / 64));
    assert_int_equal(n.points, n.epoch[3].step / 50);
    assert_string_equal(n.epoch[3].stop, "all epochs done");
    assert_null(n.epoch[2].stop);
}

static void same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const nets[] = { "jsc-tiny", "jsc-toy", "jsc-s" };
    char want[65], got[65];
    struct mase_train_opts o = quick_opts();
    o.max_epochs = 2;
    o.batch_size = 200; /* shares of unequal size, a short last batch */
    for (int i = 0; i < 3; i++) {
        o.threads = 1;
        train(want, nets[i], &o, NULL, false, 0);
        for (o.threads = 2; o.threads <= 4; o.threads++) {
            train(got, nets[i], &o, NULL, false, 0);
            assert_string_equal(got, want);
        }
    }
}

static void same_bits_on_every_instruction_set(void **state)
{
    (void)state;
    char want[65], got[65];
    struct mase_train_opts o = quick_opts();
    o.max_epochs = 2;
    train(want, "jsc-s", &o, NULL, false, 0);
    setenv("MASE_ISA", "scalar", 1);
    train(got, "jsc-s", &o, NULL, false, 0);
    unsetenv("MASE_ISA");
    assert_string_equal(got, want);
    o.seed = 4;
    train(got, "jsc-s", &o, NULL, false, 0);
    assert_string_not_equal(got, want);
}

static void a_killed_run_goes_on(void **state)
{
    (void)state;
    static const char *const optimizers[] = { "adam", "adamw", "sgd" };
    char want[65], got[65];
    for (int i = 0; i < 3; i++) {
        struct mase_train_opts o = quick_opts();
        o.optimizer = optimizers[i];
        o.weight_decay = 1e-3;
        const struct notes whole = train(want, "jsc-toy", &o, NULL, false, 0);
        train(NULL, "jsc-toy", &o, NULL, true, 2);
        const struct notes rest = train(got, "jsc-toy", &o, file("last.ckpt"), true, 0);
        assert_string_equal(got, want);
        assert_int_equal(rest.epochs, 3); /* what was told and not saved is told again */
        for (int e = 0; e < 3; e++) {
            assert_true(rest.epoch[e].train_loss == whole.epoch[1 + e].train_loss);
            assert_true(rest.epoch[e].val_loss == whole.epoch[1 + e].val_loss);
            assert_int_equal(rest.epoch[e].best, whole.epoch[1 + e].best);
        }
    }
}

static void also_in_the_middle_of_an_epoch(void **state)
{
    (void)state;
    char want[65], got[65];
    struct mase_train_opts o = quick_opts();
    o.accumulate = 3;
    const struct notes whole = train(want, "jsc-toy", &o, NULL, false, 0);
    o.max_steps = 37;
    const struct notes first = train(NULL, "jsc-toy", &o, NULL, true, 0);
    assert_int_equal(first.epoch[first.epochs - 1].step, 37);
    assert_string_equal(first.epoch[first.epochs - 1].stop, "all steps done");
    o.max_steps = -1;
    const struct notes rest = train(got, "jsc-toy", &o, file("last.ckpt"), false, 0);
    assert_string_equal(got, want);
    assert_true(rest.epoch[0].train_loss == whole.epoch[1].train_loss);
}

/* Resume with these options must fail with this message. */
static void refuse(const struct mase_train_opts *o, const char *net, const char *message)
{
    struct mase_graph *g = build(net, 0);
    struct mase_trainer *t;
    char before[65], after[65];
    must(mase_trainer_new(&t, g, jets, o, &err));
    hash_weights(before, g);
    assert_int_not_equal(mase_trainer_resume(t, file("last.ckpt"), &err), MASE_OK);
    if (!strstr(err.msg, message))
        fail_msg("'%s' does not say '%s'", err.msg, message);
    hash_weights(after, g);
    assert_string_equal(before, after);
    mase_trainer_free(t);
    mase_graph_free(g);
}

static void another_run_is_not_resumed(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    train(NULL, "jsc-toy", &o, NULL, true, 2);
    o.seed = 9;
    refuse(&o, "jsc-toy", "another seed: the run had 3");
    o = quick_opts();
    o.batch_size = 65;
    refuse(&o, "jsc-toy", "another batch_size: the run had 64");
    o = quick_opts();
    o.class_weights = "balanced";
    refuse(&o, "jsc-toy", "another class_weights: the run had None");
    o = quick_opts();
    refuse(&o, "jsc-tiny", "is missing or of another shape");
    struct mase_dataset *ours = jets;
    must(mase_dataset_open(&jets, "jsc-sim",
                           &(struct mase_dataset_opts){ .sim_rows = ROWS, .sim_seed = 5 }, &err));
    refuse(&o, "jsc-toy", "other data than jsc-sim");
    mase_dataset_close(jets);
    jets = ours;
}

static void checkpoints_keep_everything(void **state)
{
    (void)state;
    char want[65], got[65];
    struct mase_train_opts o = quick_opts();
    train(want, "jsc-s", &o, NULL, true, 0);
    struct mase_graph *g = build("jsc-s", 77);
    must(mase_weights_load(g, file("last.ckpt"), &err));
    hash_weights(got, g);
    assert_string_equal(got, want);
    mase_graph_free(g);

    struct mase_arena a = { 0 };
    struct mase_checkpoint_info c;
    const struct mase_dataset_info *info = mase_dataset_info(jets);
    must(mase_checkpoint_info(&c, &a, file("last.ckpt"), &err));
    assert_true(c.ours);
    assert_int_equal(c.epoch, 3);
    assert_string_equal(c.data.name, "jsc-sim");
    assert_int_equal(c.data.classes, 5);
    assert_true(c.data.sample.rank == 1 && c.data.sample.dim[0] == 16);
    assert_string_equal(c.checksum, info->checksum);
    assert_string_equal(c.notice, info->notice);
    assert_int_equal(c.rows, info->rows);
    assert_int_equal(c.train_rows, mase_dataset_split(jets, MASE_SPLIT_TRAIN).count);
    assert_int_equal(c.simulated, info->simulated);
    assert_int_equal(c.scaling.n, 16);
    assert_memory_equal(c.scaling.mean, info->scaling.mean, 16 * sizeof(double));
    assert_memory_equal(c.scaling.std, info->scaling.std, 16 * sizeof(double));
    mase_arena_release(&a);
}

static void the_best_epoch_is_kept(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.learning_rate = 0.3; /* large enough for epochs that get worse */
    o.schedule = "constant";
    o.max_epochs = 8;
    const struct notes n = train(NULL, "jsc-toy", &o, NULL, true, 0);
    int best = 0;
    for (int e = 1; e < n.epochs; e++)
        best = n.epoch[e].val_loss < n.epoch[best].val_loss ? e : best;
    struct mase_arena a = { 0 };
    struct mase_checkpoint_info c;
    must(mase_checkpoint_info(&c, &a, file("best.ckpt"), &err));
    assert_int_equal(c.epoch, best);
    mase_arena_release(&a);

    struct mase_graph *g = build("jsc-toy", 0); /* and it is as good as it was */
    struct mase_predictor *p;
    struct mase_evaluation e;
    must(mase_weights_load(g, file("best.ckpt"), &err));
    must(mase_predictor_new(&p, g, &mase_dataset_info(jets)->data.sample, NULL, &err));
    must(mase_evaluate(&e, p, jets, NULL, MASE_SPLIT_VALIDATION, 0, NULL, &err));
    assert_true(e.loss == n.epoch[best].val_loss && e.accuracy == n.epoch[best].val_score);
    mase_predictor_free(p);
    mase_graph_free(g);
}

static void patience_ends_a_run(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.learning_rate = 0; /* only the running statistics move */
    o.lr_min = 0;
    o.max_epochs = 30;
    o.patience = 2;
    o.min_delta = 1;
    const struct notes n = train(NULL, "jsc-toy", &o, NULL, false, 0);
    assert_int_equal(n.epochs, 3);
    assert_string_equal(n.epoch[2].stop, "no better validation loss");
}

static void a_dev_run_is_one_batch(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.dev_run = true;
    const struct notes n = train(NULL, "jsc-toy", &o, NULL, false, 0);
    assert_int_equal(n.epochs, 1);
    assert_int_equal(n.epoch[0].step, 1);
    assert_int_equal(n.epoch[0].samples, 64);
}

struct norm {
    double sum, difference;
    const struct mase_graph *other;
};

static bool add_difference(const char *full, struct mase_param *p, void *data)
{
    struct norm *n = data;
    const struct mase_param *q = mase_graph_attr(n->other, full);
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++) {
        const double x = mase_tensor_get(&p->tensor, i), y = mase_tensor_get(&q->tensor, i);
        n->sum += x * x;
        n->difference += (x - y) * (x - y);
    }
    return true;
}

/* Without batch norms, two batches of 64 for a step are one batch of 128. */
static void accumulated_batches_are_one(void **state)
{
    (void)state;
    struct mase_dataset *d;
    struct mase_graph *g[2];
    must(mase_dataset_open(&d, "toy_tiny", NULL, &err));
    for (int i = 0; i < 2; i++) {
        struct mase_train_opts o = quick_opts();
        struct mase_trainer *t;
        o.optimizer = "sgd";
        o.batch_size = i ? 64 : 128;
        o.accumulate = i ? 2 : 1;
        o.max_epochs = 2;
        g[i] = build("toy", 0);
        must(mase_trainer_new(&t, g[i], d, &o, &err));
        must(mase_trainer_run(t, NULL, &err));
        assert_int_equal(mase_trainer_state(t)->step, 2 * 80);
        mase_trainer_free(t);
    }
    struct norm n = { .other = g[1] };
    mase_graph_each_param(g[0], add_difference, &n);
    assert_true(n.sum > 1 && n.difference < 1e-9 * n.sum);
    mase_graph_free(g[0]);
    mase_graph_free(g[1]);
    mase_dataset_close(d);
}

/* Recall of each class on the test split after training with these class weights. */
static void recalls(double recall[5], const char *weights)
{
    struct mase_train_opts o = quick_opts();
    o.class_weights = weights;
    struct mase_graph *g = build("jsc-toy", 0);
    struct mase_trainer *t;
    struct mase_predictor *p;
    struct mase_evaluation e;
    struct mase_arena a = { 0 };
    must(mase_trainer_new(&t, g, jets, &o, &err));
    must(mase_trainer_run(t, NULL, &err));
    must(mase_predictor_new(&p, g, &mase_dataset_info(jets)->data.sample, NULL, &err));
    must(mase_evaluate(&e, p, jets, NULL, MASE_SPLIT_TEST, 0, &a, &err));
    memcpy(recall, e.recall, 5 * sizeof *recall);
    mase_predictor_free(p);
    mase_trainer_free(t);
    mase_graph_free(g);
    mase_arena_release(&a);
}

static void class_weights_pull(void **state)
{
    (void)state;
    double even[5], odd[5], balanced[5];
    recalls(even, NULL);
    recalls(odd, "1,1,1,30,1");
    recalls(balanced, "balanced");
    assert_true(odd[3] > 0.97 && odd[3] > even[3] + 0.05);
    for (int c = 0; c < 5; c++) /* the generated classes are balanced already */
        check_near(balanced[c], even[c], 0.1, "balanced", c);
}

/* Formats of 6 bits on every linear layer: it still learns, and it is not the float network. */
/* A checkpoint says what it was trained as, formats and all. */
static void check_network(const struct mase_graph *g, const char *path)
{
    struct mase_graph *said;
    must(mase_checkpoint_graph(&said, path, &err));
    assert_non_null(said);
    assert_true(mase_graph_same_formats(g, said, NULL));
    assert_string_equal(said->name, g->name);
    mase_graph_free(said);
    must(mase_checkpoint_graph(&said, "data/lightning/jsc-toy.ckpt", &err));
    assert_null(said); /* of another program */
}

static void quantised_networks_train(void **state)
{
    (void)state;
    struct mase_quant q = { .kind = MASE_QUANT_integer };
    for (int i = MASE_DATA_IN; i <= MASE_BIAS; i++)
        q.operand[i] = integer_format(6, 3);
    const struct mase_train_opts o = quick_opts();
    struct mase_evaluation e[2];
    for (int quantised = 0; quantised < 2; quantised++) {
        struct mase_graph *g = build("jsc-toy", 0);
        struct mase_trainer *t;
        struct mase_predictor *p;
        for (struct mase_module *m = g->modules; quantised && m; m = m->next)
            if (m->op == MASE_OP_linear)
                mase_module_set_quant(g, m, &q);
        must(mase_trainer_new(&t, g, jets, &o, &err));
        must(mase_trainer_run(t, NULL, &err));
        must(mase_trainer_save(t, file("network.ckpt"), &err));
        check_network(g, file("network.ckpt"));
        must(mase_predictor_new(&p, g, &mase_dataset_info(jets)->data.sample, NULL, &err));
        assert_true(mase_predictor_planned(p));
        must(mase_evaluate(&e[quantised], p, jets, NULL, MASE_SPLIT_TEST, 0, NULL, &err));
        mase_predictor_free(p);
        mase_trainer_free(t);
        mase_graph_free(g);
    }
    assert_true(e[1].accuracy > 0.5);
    assert_true(e[1].loss != e[0].loss);
}

struct fault {
    const char *weights, *net;
    int64_t batch;
    const char *message;
};

/* The weight of jsc-tiny after so many steps. */
static struct mase_graph *after(int64_t steps, double decay)
{
    struct mase_train_opts o = quick_opts();
    struct mase_graph *g = build("jsc-tiny", 1);
    struct mase_trainer *t;
    o.max_steps = steps;
    o.average_weights = decay;
    must(mase_trainer_new(&t, g, jets, &o, &err));
    must(mase_trainer_run(t, &(struct mase_train_env){ 0 }, &err));
    mase_trainer_free(t);
    return g;
}

/* It was not pruned: its average is what it was and is. */
static void a_weight_that_passes_zero_is_averaged(void **state)
{
    struct mase_train_opts o = quick_opts();
    struct mase_graph *g = build("jsc-tiny", 1);
    struct mase_trainer *t;
    (void)state;
    o.max_steps = 1;
    o.average_weights = 0.75;
    must(mase_trainer_new(&t, g, jets, &o, &err));
    must(mase_trainer_run(t, &(struct mase_train_env){ 0 }, &err));
    t->average[3] = 1;
    t->optim.params.w[3] = 0;
    mase_trainer_average(t);
    assert_true(t->average[3] == 0.75f);
    mase_trainer_free(t);
    mase_graph_free(g);
}

static void averages_follow_the_weights(void **state)
{
    (void)state;
    struct mase_graph *w[] = { after(1, 0), after(2, 0), after(3, 0) }, *mean = after(3, 0.75);
    int moved = 0;
    for (int i = 0; i < 80; i++) {
        const float *x[3], got = mase_f32(&mase_graph_attr(mean, "seq_blocks.2.weight")->tensor)[i];
        for (int k = 0; k < 3; k++)
            x[k] = mase_f32(&mase_graph_attr(w[k], "seq_blocks.2.weight")->tensor);
        const double two = 0.75 * (double)x[0][i] + 0.25 * (double)x[1][i];
        check_near((double)got, 0.75 * two + 0.25 * (double)x[2][i], 1e-6, "average", i);
        moved += x[0][i] != x[1][i] && x[1][i] != x[2][i];
    }
    assert_true(moved > 0);
    for (int k = 0; k < 3; k++)
        mase_graph_free(w[k]);
    mase_graph_free(mean);
}

static void bad_options_are_told(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        { "1,2", "jsc-toy", 64, "class_weights = '1,2' has 2 numbers for 5 classes" },
        { "1,2,3,4,5,6", "jsc-toy", 64, "has 6 numbers for 5 classes" },
        { "1,2,x,4,5", "jsc-toy", 64, "expected 'balanced' or 5 numbers" },
        { "1,2,-1,4,5", "jsc-toy", 64, "expected 'balanced' or 5 numbers" },
        { "balance", "jsc-toy", 64, "expected 'balanced' or 5 numbers" },
        { NULL, "jsc-toy", 1, "batches of one sample" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct mase_train_opts o = quick_opts();
        struct mase_trainer *t;
        struct mase_graph *g = build(faults[i].net, 0);
        o.class_weights = faults[i].weights;
        o.batch_size = faults[i].batch;
        assert_int_equal(mase_trainer_new(&t, g, jets, &o, &err), MASE_EVALUE);
        if (!strstr(err.msg, faults[i].message))
            fail_msg("'%s' does not say '%s'", err.msg, faults[i].message);
        mase_graph_free(g);
    }
}

/* 1 + a multiple of the batch size: the last sample is left out, with a word. */
static void a_single_last_sample_is_left_out(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    const int64_t rows = mase_dataset_split(jets, MASE_SPLIT_TRAIN).count;
    o.batch_size = rows - 1;
    o.max_epochs = 1;
    FILE *log = tmpfile();
    char text[256] = "";
    mase_log_set_stream(log);
    mase_log_set_level(MASE_WARNING);
    const struct notes n = train(NULL, "jsc-toy", &o, NULL, false, 0);
    mase_log_set_level(MASE_ERROR);
    mase_log_set_stream(NULL);
    rewind(log);
    assert_true(fread(text, 1, sizeof text - 1, log) > 0);
    fclose(log);
    assert_non_null(strstr(text, "left out"));
    assert_int_equal(n.epoch[0].step, 1);
    assert_int_equal(n.epoch[0].samples, rows - 1);
}

/* A predictor with the checkpoint's scaling on raw features equals one on scaled features. */
static void scaling_is_applied(void **state)
{
    (void)state;
    struct mase_dataset *raw;
    must(mase_dataset_open(
        &raw, "jsc-sim", &(struct mase_dataset_opts){ .sim_rows = ROWS, .scale = MASE_SCALE_NONE },
        &err));
    const struct mase_dataset_info *info = mase_dataset_info(jets);
    struct mase_graph *g = build("jsc-toy", 5);
    struct mase_predictor *a, *b;
    struct mase_evaluation x, y;
    const struct mase_predictor_opts scaled = { .scaling = &info->scaling };
    must(mase_predictor_new(&a, g, &info->data.sample, NULL, &err));
    must(mase_predictor_new(&b, g, &info->data.sample, &scaled, &err));
    must(mase_evaluate(&x, a, jets, NULL, MASE_SPLIT_TEST, 0, NULL, &err));
    must(mase_evaluate(&y, b, raw, NULL, MASE_SPLIT_TEST, 0, NULL, &err));
    check_near(y.loss, x.loss, 1e-6, "loss", 0);
    assert_true(x.accuracy == y.accuracy);
    mase_predictor_free(a);
    mase_predictor_free(b);
    mase_graph_free(g);
    mase_dataset_close(raw);
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
    unlink(file("network.ckpt"));
    unlink(file("best.ckpt"));
    unlink(file("last.ckpt"));
    assert_int_equal(rmdir(dir), 0); /* nothing else was left */
    return 0;
}

int main(int argc, char **argv)
{
    if (getenv("MASE_QUICK"))
        cmocka_set_skip_filter("same_bits_*");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns),
        cmocka_unit_test(same_bits_with_any_number_of_threads),
        cmocka_unit_test(same_bits_on_every_instruction_set),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(also_in_the_middle_of_an_epoch),
        cmocka_unit_test(another_run_is_not_resumed),
        cmocka_unit_test(checkpoints_keep_everything),
        cmocka_unit_test(the_best_epoch_is_kept),
        cmocka_unit_test(patience_ends_a_run),
        cmocka_unit_test(a_dev_run_is_one_batch),
        cmocka_unit_test(accumulated_batches_are_one),
        cmocka_unit_test(class_weights_pull),
        cmocka_unit_test(quantised_networks_train),
        cmocka_unit_test(averages_follow_the_weights),
        cmocka_unit_test(a_weight_that_passes_zero_is_averaged),
        cmocka_unit_test(bad_options_are_told),
        cmocka_unit_test(a_single_last_sample_is_left_out),
        cmocka_unit_test(scaling_is_applied),
    };
    return run_cases(argc, argv, tests, open_data, close_data);
}
