/*
 * t_delay.c - number formats that come on after some epochs, batch norms that freeze after some:
 * what each epoch trains, what checkpoints say of it, and runs that are resumed across the change.
 */
#include "check.h"
#include "run_cases.h"

#include <unistd.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/torch.h>
#include <mase/weights.h>

#include "formats.h"

enum { ROWS = 3000, EPOCHS = 4 };

static char dir[] = "/tmp/t_delay_XXXXXX";
static struct mase_dataset *jets;

static struct mase_train_opts quick_opts(void)
{
    struct mase_train_opts o = default_opts();
    o.learning_rate = 0.01;
    o.schedule = "constant";
    o.batch_size = 64;
    o.max_epochs = EPOCHS;
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

/* jsc-toy with its linear layers in so many bits; 0: float. */
static struct mase_graph *network(int bits)
{
    struct mase_graph *g = build("jsc-toy", 3);
    struct mase_quant q = { .kind = MASE_QUANT_integer };
    for (int i = 0; bits && i < MASE_DATA_OUT; i++)
        q.operand[i] = integer_format(bits, bits / 2);
    for (struct mase_module *m = g->modules; bits && m; m = m->next)
        if (mase_streq(mase_ops[m->op].name, "linear"))
            mase_module_set_quant(g, m, &q);
    return g;
}

struct bytes {
    struct mase_str all, stats; /* of every parameter; of batch norms */
};

static bool add_bytes(const char *full, struct mase_param *p, void *data)
{
    struct bytes *b = data;
    const size_t n = (size_t)mase_tensor_bytes(&p->tensor);
    mase_str_addn(&b->all, p->tensor.data, n);
    if (strstr(full, "running_") || strstr(full, "num_batches"))
        mase_str_addn(&b->stats, p->tensor.data, n);
    return true;
}

/* What a run told and came to. */
struct outcome {
    struct mase_train_epoch epoch[8];
    int epochs, die_after;
    char weights[65], stats[65]; /* hashes */
};

static enum mase_status note_epoch(void *data, const struct mase_train_epoch *p, struct mase_err *e)
{
    struct outcome *n = data;
    n->epoch[n->epochs++] = *p;
    return n->epochs == n->die_after ? mase_fail(e, MASE_EIO, "killed") : MASE_OK;
}

static struct outcome train(int bits, const struct mase_train_opts *o, bool resume, int die_after)
{
    struct outcome n = { .die_after = die_after };
    struct bytes b = { 0 };
    struct mase_graph *g = network(bits);
    struct mase_trainer *t;
    must(mase_trainer_new(&t, g, jets, o, &err));
    if (resume)
        must(mase_trainer_resume(t, file("last.ckpt"), &err));
    const struct mase_train_env env = { .checkpoint_dir = dir, .data = &n, .on_epoch = note_epoch };
    const enum mase_status st = mase_trainer_run(t, &env, &err);
    if (!die_after)
        must(st);
    mase_graph_each_param(g, add_bytes, &b);
    mase_sha256(n.weights, b.all.data, b.all.len);
    mase_sha256(n.stats, b.stats.data, b.stats.len);
    mase_str_release(&b.all);
    mase_str_release(&b.stats);
    mase_trainer_free(t);
    mase_graph_free(g);
    return n;
}

static bool checkpoint_is_quantised(const char *name)
{
    struct mase_graph *g;
    must(mase_checkpoint_graph(&g, file(name), &err));
    const bool quantised = mase_graph_is_quantised(g);
    mase_graph_free(g);
    return quantised;
}

/* Until the formats are on a run is that of the float network, to the last bit. */
static void the_first_epochs_are_float(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    const struct outcome plain = train(0, &o, false, 0);
    o.quantize_after = 2;
    const struct outcome late = train(3, &o, false, 0);
    for (int e = 0; e < EPOCHS; e++) {
        assert_int_equal(late.epoch[e].plain, e < 2);
        assert_int_equal(late.epoch[e].val_loss == plain.epoch[e].val_loss, e < 2);
        assert_int_equal(late.epoch[e].train_loss == plain.epoch[e].train_loss, e < 2);
    }
    o.quantize_after = 0;
    assert_string_not_equal(train(3, &o, false, 0).weights, late.weights);
}

/* The best network is sought among quantised ones, and measures as it was validated. */
static void the_best_is_quantised(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_evaluation e;
    struct mase_predictor *p;
    o.quantize_after = 3;
    const struct outcome n = train(3, &o, false, 0);
    assert_true(n.epoch[3].val_loss > n.epoch[2].val_loss); /* three bits are worse than floats */
    assert_true(n.epoch[3].best);
    assert_true(checkpoint_is_quantised("best.ckpt"));
    struct mase_graph *g = network(3);
    must(mase_weights_load(g, file("best.ckpt"), &err));
    must(mase_predictor_new(&p, g, &mase_dataset_info(jets)->data.sample, NULL, &err));
    must(mase_evaluate(&e, p, jets, NULL, MASE_SPLIT_VALIDATION, 0, NULL, &err));
    assert_true(e.loss == n.epoch[3].val_loss);
    mase_predictor_free(p);
    mase_graph_free(g);
}

static void patience_waits_for_the_formats(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.learning_rate = 0;
    o.lr_min = 0;
    o.max_epochs = 8;
    o.quantize_after = 4;
    o.patience = 1;
    o.min_delta = 1e6;
    const struct outcome n = train(3, &o, false, 0);
    assert_int_equal(n.epochs, 6); /* four float ones, the first quantised, one in vain */
    assert_string_equal(n.epoch[5].stop, "no better validation loss");
}

/* Killed before, at and after the change, with batch norms that freeze at another epoch. */
static void a_killed_run_goes_on(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.quantize_after = 2;
    o.freeze_bn_stats_after = 3;
    const struct outcome whole = train(3, &o, false, 0);
    for (int die = 2; die <= EPOCHS; die++)
        for (o.threads = 1; o.threads <= 2; o.threads++) {
            train(3, &o, false, die);
            const struct outcome rest = train(3, &o, true, 0);
            assert_string_equal(rest.weights, whole.weights);
            for (int e = 0; e < rest.epochs; e++) {
                const struct mase_train_epoch *was = &whole.epoch[EPOCHS - rest.epochs + e];
                assert_true(rest.epoch[e].val_loss == was->val_loss);
                assert_int_equal(rest.epoch[e].best, was->best);
                assert_int_equal(rest.epoch[e].plain, was->plain);
            }
        }
}

static void also_in_the_middle_of_an_epoch(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.quantize_after = 1;
    const struct outcome whole = train(3, &o, false, 0);
    for (int k = 0; k < 2; k++) {
        o.max_steps = k ? 60 : 20; /* of some 33 an epoch */
        train(3, &o, false, 0);
        assert_int_equal(checkpoint_is_quantised("last.ckpt"), k);
        o.max_steps = -1;
        assert_string_equal(train(3, &o, true, 0).weights, whole.weights);
    }
}

/* A checkpoint of float epochs is a float network, and knows what is to come. */
static void checkpoints_say_what_they_are(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_trainer *t;
    o.quantize_after = 2;
    train(3, &o, false, 2);
    assert_false(checkpoint_is_quantised("last.ckpt"));
    assert_false(checkpoint_is_quantised("best.ckpt"));
    struct mase_graph *g = network(4);
    must(mase_trainer_new(&t, g, jets, &o, &err));
    assert_int_equal(mase_trainer_resume(t, file("last.ckpt"), &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "network"));
    mase_trainer_free(t);
    o.quantize_after = 3;
    must(mase_trainer_new(&t, g, jets, &o, &err));
    assert_int_equal(mase_trainer_resume(t, file("last.ckpt"), &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "quantize_after"));
    mase_trainer_free(t);
    mase_graph_free(g);
}

/* Files from before an option are of runs with its default. */
static void older_checkpoints_are_resumed(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_torch f;
    struct mase_trainer *t;
    struct mase_arena a = { 0 };
    train(3, &o, false, 2);
    must(mase_torch_open(&f, file("last.ckpt"), &err));
    struct mase_obj *options = (struct mase_obj *)mase_obj_get(f.root, "hyper_parameters");
    for (int i = 0; i < options->count; i++)
        if (mase_obj_is_text(options->keys[i], "quantize_after"))
            options->keys[i] = mase_obj_text(&a, "another");
    must(mase_torch_write(f.root, file("older.ckpt"), &err));
    mase_torch_close(&f);
    mase_arena_release(&a);
    struct mase_graph *g = network(3);
    must(mase_trainer_new(&t, g, jets, &o, &err));
    must(mase_trainer_resume(t, file("older.ckpt"), &err));
    mase_trainer_free(t);
    o.quantize_after = 2;
    must(mase_trainer_new(&t, g, jets, &o, &err));
    assert_int_equal(mase_trainer_resume(t, file("older.ckpt"), &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "quantize_after"));
    mase_trainer_free(t);
    mase_graph_free(g);
    unlink(file("older.ckpt"));
}

/* Scores were kept otherwise once: in the middle of an epoch they cannot be told. */
static void older_checkpoints_within_an_epoch_are_not(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_torch f;
    struct mase_trainer *t;
    struct mase_arena a = { 0 };
    train(3, &o, false, 2);
    for (int64_t batch = 0; batch < 2; batch++) {
        must(mase_torch_open(&f, file("last.ckpt"), &err));
        struct mase_obj *s = (struct mase_obj *)mase_obj_get(mase_obj_get(f.root, "mase"), "state");
        for (int i = 0; i < s->count; i++) {
            if (mase_obj_is_text(s->keys[i], "score_whole"))
                s->keys[i] = mase_obj_text(&a, "another");
            if (mase_obj_is_text(s->keys[i], "batch"))
                s->items[i] = mase_obj_int(&a, batch);
        }
        must(mase_torch_write(f.root, file("older.ckpt"), &err));
        mase_torch_close(&f);
        struct mase_graph *g = network(3);
        must(mase_trainer_new(&t, g, jets, &o, &err));
        const enum mase_status st = mase_trainer_resume(t, file("older.ckpt"), &err);
        assert_int_equal(st, batch ? MASE_EPARSE : MASE_OK);
        if (batch)
            assert_non_null(strstr(err.msg, "score_whole is missing"));
        mase_trainer_free(t);
        mase_graph_free(g);
        unlink(file("older.ckpt"));
    }
    mase_arena_release(&a);
}

static void frozen_statistics_stay(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.max_epochs = 2;
    const struct outcome two = train(0, &o, false, 0);
    o.max_epochs = EPOCHS;
    const struct outcome free_run = train(0, &o, false, 0);
    o.freeze_bn_stats_after = 2;
    const struct outcome frozen = train(0, &o, false, 0);
    assert_string_equal(frozen.stats, two.stats);
    assert_string_not_equal(free_run.stats, two.stats);
    assert_string_not_equal(frozen.weights, two.weights); /* the rest learns on */
    assert_true(frozen.epoch[3].train_loss < frozen.epoch[1].train_loss);
    assert_true(frozen.epoch[1].val_loss == free_run.epoch[1].val_loss);
    o.freeze_bn_stats_after = 0;
    struct outcome still = train(0, &o, false, 0);
    o.max_epochs = 1;
    assert_string_equal(train(0, &o, false, 0).stats, still.stats); /* as they began */
}

static void what_says_nothing_is_told(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_graph *g = network(3);
    struct mase_trainer *t;
    o.quantize_after = EPOCHS;
    assert_int_equal(mase_trainer_new(&t, g, jets, &o, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "quantize_after = 4: none of the 4 epochs would train through the "
                                 "number formats");
    o.dev_run = true; /* tries the formats */
    must(mase_trainer_new(&t, g, jets, &o, &err));
    assert_ptr_equal(mase_trainer_graph(t), g);
    mase_trainer_free(t);
    mase_graph_free(g);
    o.dev_run = false;
    train(0, &o, false, 0); /* of no effect on floats, with a warning */
}

static int open_data(void **state)
{
    (void)state;
    mase_log_set_level(MASE_ERROR);
    if (!mkdtemp(dir))
        return 1;
    must(
        mase_dataset_open(&jets, "jsc-sim", &(struct mase_dataset_opts){ .sim_rows = ROWS }, &err));
    return 0;
}

static int close_data(void **state)
{
    (void)state;
    mase_dataset_close(jets);
    unlink(file("best.ckpt"));
    unlink(file("last.ckpt"));
    assert_int_equal(rmdir(dir), 0); /* nothing else was left */
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_epochs_are_float),
        cmocka_unit_test(the_best_is_quantised),
        cmocka_unit_test(patience_waits_for_the_formats),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(also_in_the_middle_of_an_epoch),
        cmocka_unit_test(checkpoints_say_what_they_are),
        cmocka_unit_test(older_checkpoints_are_resumed),
        cmocka_unit_test(older_checkpoints_within_an_epoch_are_not),
        cmocka_unit_test(frozen_statistics_stay),
        cmocka_unit_test(what_says_nothing_is_told),
    };
    return run_cases(argc, argv, tests, open_data, close_data);
}
