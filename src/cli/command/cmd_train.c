/*
 * cmd_train.c - ch train: fit a network to a dataset.
 *
 *     PROJECT/software/training_ckpts/{best,last}.ckpt
 *     PROJECT/software/metrics.csv, training_curve.svg, and bits.csv of a quantised network
 *     PROJECT/software/tensorboard/lightning_logs/version_N/{events..., hparams.yaml}
 *     PROJECT/run.json
 *
 * Under mpirun all processes do the same, up to the steps, which they share; rank 0 alone has a
 * project folder.
 */
#include "cli/command/cmd_train.h"

#include <math.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/tiled_plan.h>

#include "base/number.h"
#include "base/ranks.h"
#include "base/status_line.h"
#include "pass/support.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    struct mase_opened work; /* owns its graph */
    const char *project_dir, *software, *ckpt_dir;
    uint64_t started;
    struct mase_train_opts opts;
    struct mase_objective objective;
    struct mase_dataset *data; /* owned, as is the next */
    struct mase_trainer *trainer;
    struct mase_cli_train_files files;
    struct mase_cli_claim claim;
    struct mase_progress progress; /* of the current epoch */
    char title[64];
    int64_t drawn_epoch; /* epoch of the displayed progress; -1: none */
    uint64_t ticked;     /* time of the last update, and its step */
    int64_t ticked_step;
    int64_t first_step; /* of this run */
    struct mase_train_epoch last, best;
    double train_seconds;
    int64_t samples;
    bool saves; /* write checkpoints and other files */
};

/* ---- options ---- */

static enum mase_status bind_options(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    const struct mase_value *table = mase_cli_training(j->c);
    MASE_TRY(mase_opts_bind(&j->opts, sizeof j->opts, mase_train_rows, table, a, err));
    MASE_TRY(mase_cli_pruning(&j->opts.prune, j->c, err));
    j->opts.ranks = j->c->ranks;
    j->saves = !j->opts.dev_run && mase_ranks_speaks(j->c->ranks);
    return MASE_OK;
}

static void warn_of_differences(const struct mase_cli *c)
{
    const char *precision = mase_cli_text(c, MASE_CLI_trainer_precision);
    if (!mase_streq(precision, "32"))
        mase_warn("trainer_precision = %s: this version trains in 32 bits", precision);
    if (!mase_streq(mase_cli_text(c, MASE_CLI_report_to), "tensorboard"))
        mase_warn("report_to = %s: this version writes TensorBoard's files",
                  mase_cli_text(c, MASE_CLI_report_to));
}

static enum mase_status find_folders(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    MASE_TRY(mase_cli_find_project(&j->project_dir, j->c, err));
    j->software = mase_path_join(a, j->project_dir, "software");
    j->ckpt_dir = mase_path_join(a, j->software, "training_ckpts");
    return MASE_OK;
}

/* ---- checks before training ---- */

/* Can the run be resumed? One that was stopped before its first checkpoint starts anew. */
static bool can_resume(const struct job *j, const char *last)
{
    if (!mase_cli_flag(j->c, MASE_CLI_resume))
        return false;
    if (!mase_is_file(last))
        mase_warn("nothing to resume from, starting at the beginning: no file %s", last);
    return mase_is_file(last);
}

static enum mase_status resume(struct job *j, const char *path, struct mase_err *err)
{
    MASE_TRY(mase_trainer_resume(j->trainer, path, err));
    const struct mase_train_state *s = mase_trainer_state(j->trainer);
    mase_info("Resuming after epoch %lld, step %lld", (long long)s->epoch, (long long)s->step);
    return MASE_OK;
}

static enum mase_status check_distill(const struct job *j, struct mase_err *err)
{
    const struct mase_value *v = mase_cli_value(j->c, MASE_CLI_distill);
    MASE_TRY(mase_train_check_distill(&j->opts, j->work.graph, v->at, err));
    if (j->opts.distill > 0 && j->work.source == MASE_WEIGHTS_SEED && !j->opts.quantize_after)
        mase_warn("distill: the float network to learn from has initial weights; --load gives it "
                  "better ones, and --quantize-after trains it first");
    return MASE_OK;
}

/* Losses for which a network should not end in certain layers. */
enum { DIFFERENCES = 1 << MASE_LOSS_mse | 1 << MASE_LOSS_l1 | 1 << MASE_LOSS_huber };
static const struct {
    enum mase_op op;
    unsigned losses;
    const char *name, *why;
} bad_endings[] = {
    { MASE_OP_softmax, 1 << MASE_LOSS_cross_entropy, "softmax",
      ", and the loss takes another: it learns slowly and not as far; give the values before it, "
      "which have the same order" },
    { MASE_OP_sigmoid, 1 << MASE_LOSS_bce, "sigmoid",
      ", and the loss takes another: no output can then mean no; give the values before it" },
    { MASE_OP_relu, DIFFERENCES, "relu",
      ": it gives no number below 0, and learns nothing where it gives 0" },
};

static void warn_of_ending(const struct mase_graph *g, const struct mase_objective *o)
{
    const struct mase_node *out = mase_graph_output(g);
    const struct mase_node *n = out && out->input_count == 1 ? out->inputs[0] : NULL;
    for (size_t i = 0; n && !o->own && i < sizeof bad_endings / sizeof bad_endings[0]; i++)
        if (n->op == bad_endings[i].op && bad_endings[i].losses >> o->loss & 1)
            mase_warn("the network ends in a %s ('%s')%s", bad_endings[i].name, n->name,
                      bad_endings[i].why);
}

/* The batch may have fewer tiles than there are processes. */
static void warn_of_tiles(const struct job *j)
{
    const int64_t rows = mase_dataset_split(j->data, MASE_SPLIT_TRAIN).count;
    const int64_t batch = j->opts.batch_size < rows ? j->opts.batch_size : rows;
    const int tiles = mase_tiled_plan_tiles(batch), count = j->c->ranks ? j->c->ranks->count : 1;
    if (tiles < count)
        mase_warn("a batch of %lld samples has work for %d of %d processes: one takes 512 or fewer",
                  (long long)batch, tiles, count);
}

/* Network, data and trainer. Nothing is written. */
static enum mase_status open_all(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_train_objective(&j->objective, &j->opts, err));
    mase_info("Initialising model '%s'...", j->model->name);
    mase_info("Initialising dataset '%s'...", mase_cli_text(j->c, MASE_CLI_dataset));
    const enum mase_status opened = mase_work_open_data(&j->data, &j->work, err);
    if (opened)
        return mase_cli_fail_data(&j->work, opened, err);
    MASE_TRY(mase_cli_build(&j->work, j->c, &mase_dataset_info(j->data)->data, err));
    MASE_TRY(mase_cli_match_inputs(&j->data, j->c, &j->work, err));
    MASE_TRY(mase_cli_quantise(&j->work.graph, j->c, &j->work, err));
    MASE_TRY(mase_cli_freeze(j->work.graph, j->c, err));
    MASE_TRY(check_distill(j, err));
    mase_cli_log_data(&j->c->arena, j->data);
    warn_of_ending(j->work.graph, &j->objective);
    warn_of_tiles(j);
    return mase_trainer_new(&j->trainer, j->work.graph, j->data, &j->opts, err);
}

/* The project folder, and the checkpoint to go on from. */
static enum mase_status begin(struct job *j, bool again, const char *last, struct mase_err *err)
{
    if (j->saves)
        MASE_TRY(mase_cli_claim(&j->claim, j->c, j->project_dir, again, err));
    if (again)
        MASE_TRY(resume(j, last, err));
    if (!j->saves)
        return MASE_OK;
    mase_info("Project will be created at %s", j->project_dir);
    return mase_cli_train_files_open(
        &j->files, &j->c->arena,
        &(struct mase_cli_train_run){ .software = j->software,
                                      .model = j->model->name,
                                      .dataset = mase_dataset_info(j->data)->data.name,
                                      .opts = &j->opts,
                                      .task = j->objective.task,
                                      .quantised = mase_graph_is_quantised(j->work.graph),
                                      .learns_bits = mase_trainer_learns_bits(j->trainer),
                                      .resume = again,
                                      .step = mase_trainer_state(j->trainer)->step,
                                      .epoch = mase_trainer_state(j->trainer)->epoch },
        err);
}

static void print_summary(const struct job *j)
{
    mase_cli_summary(j->c, j->model, j->work.graph, &j->objective);
    mase_info(
        "%lld trainable parameters, %lld batches of %lld an epoch, %s with %d %s",
        (long long)(mase_graph_param_count(j->work.graph) - mase_graph_frozen_count(j->work.graph)),
        (long long)mase_trainer_batches(j->trainer), (long long)j->opts.batch_size,
        mase_plan_isa(mase_trainer_plan(j->trainer)), mase_trainer_threads(j->trainer),
        mase_trainer_threads(j->trainer) == 1 ? "thread" : "threads");
    if (j->c->ranks)
        mase_info("%d processes share each batch", j->c->ranks->count);
}

/* ---- during training ---- */

static enum mase_status on_step(void *data, const struct mase_train_point *p, struct mase_err *err)
{
    struct job *j = data;
    return j->saves ? mase_cli_train_files_step(&j->files, p, err) : MASE_OK;
}

static void on_tick(void *data, const struct mase_train_point *p)
{
    struct job *j = data;
    const uint64_t now = mase_clock();
    if (j->drawn_epoch != p->epoch) {
        mase_snprintf(j->title, sizeof j->title, "Epoch %lld/%lld", (long long)p->epoch + 1,
                      (long long)j->opts.max_epochs);
        mase_progress_start(&j->progress, j->title, p->batches);
        j->drawn_epoch = p->epoch;
    }
    mase_snprintf(j->progress.note, sizeof j->progress.note, "loss %.3f %s %.3f %.0f steps/s",
                  p->loss, j->objective.task->score, p->score,
                  1e9 * (double)(p->step - j->ticked_step) / (double)(now - j->ticked));
    j->ticked = now;
    j->ticked_step = p->step;
    mase_progress_step(&j->progress, p->batch);
}

/* The default learning rate is the original's, which is low for few steps: warn if the user did not
 * choose it. */
static void warn_of_rate(const struct job *j, const struct mase_train_epoch *e)
{
    const int classes = mase_dataset_info(j->data)->data.classes;
    const struct mase_value *rate = mase_cli_value(j->c, MASE_CLI_learning_rate);
    if (e->epoch > 0 || !mase_value_equal(rate, j->c->setting[MASE_CLI_learning_rate].dflt))
        return;
    if (classes > 1 && !j->objective.own && e->train_loss > 0.97 * log((double)classes))
        mase_warn(
            "the first epoch has learnt hardly anything: its loss is %.4f, that of guessing %.4f; "
            "learning_rate = %g is the original's default, --learning-rate 1e-3 is usual",
            e->train_loss, log((double)classes), j->opts.learning_rate);
    if (mase_streq(j->objective.task->score, "r2") && e->train_score < 0.03)
        mase_warn("the first epoch has learnt hardly anything: its R2 is %.4f, that of the mean 0; "
                  "learning_rate = %g is the original's default, --learning-rate 1e-3 is usual, "
                  "and large targets want --target-scaling standard",
                  e->train_score, j->opts.learning_rate);
}

static enum mase_status on_epoch(void *data, const struct mase_train_epoch *e, struct mase_err *err)
{
    struct job *j = data;
    j->last = *e;
    if (e->best)
        j->best = *e;
    j->train_seconds += e->train_seconds;
    j->samples += e->samples;
    j->drawn_epoch = -1;
    mase_log_status(NULL);
    char more[64] = "";
    if (isfinite(e->ebops))
        mase_snprintf(more, sizeof more, ", ebops %.0f", e->ebops);
    else if (isfinite(e->val_iou))
        mase_snprintf(more, sizeof more, ", val_mean_iou %.4f", e->val_iou);
    const char *score = j->objective.task->score;
    mase_info("Epoch %lld/%lld: train_loss %.4f, train_%s %.4f, val_loss %.4f, val_%s %.4f%s, lr "
              "%.3g, %.2f s, %.0f samples/s%s%s",
              (long long)e->epoch + 1, (long long)j->opts.max_epochs, e->train_loss, score,
              e->train_score, e->val_loss, score, e->val_score, more, e->lr, e->seconds,
              (double)e->samples / e->train_seconds, e->best ? ", best so far" : "",
              e->plain ? ", float" : "");
    if (isfinite(e->sparsity))
        mase_info("Epoch %lld/%lld: sparsity %.4f", (long long)e->epoch + 1,
                  (long long)j->opts.max_epochs, e->sparsity);
    warn_of_rate(j, e);
    return j->saves ? mase_cli_train_files_epoch(&j->files, e, err) : MASE_OK;
}

static enum mase_status train(struct job *j, struct mase_err *err)
{
    const bool watched = mase_is_terminal(mase_log_stream()) && mase_log_shows_info();
    const struct mase_train_env env = { .checkpoint_dir = j->saves ? j->ckpt_dir : NULL,
                                        .data = j,
                                        .on_step = on_step,
                                        .on_tick = watched ? on_tick : NULL,
                                        .on_epoch = on_epoch };
    mase_info("Training model '%s'...", j->model->name);
    if (j->saves)
        mase_cli_on_interrupt("\nch: interrupted; the same command with --resume goes on after the "
                              "last epoch\n");
    j->ticked = mase_clock();
    j->ticked_step = j->first_step = mase_trainer_state(j->trainer)->step;
    const struct mase_ranks *ranks = j->c->ranks;
    const struct mase_ranks none = { 0 }, before = ranks ? *ranks : none;
    const enum mase_status st = mase_trainer_run(j->trainer, &env, err);
    mase_log_status(NULL);
    if (!st && ranks)
        mase_debug("rank 0 sent %lld bytes in %lld exchanges over %lld steps",
                   (long long)(ranks->bytes - before.bytes),
                   (long long)(ranks->waits - before.waits),
                   (long long)(mase_trainer_state(j->trainer)->step - j->first_step));
    return st;
}

/* ---- after training ---- */

static void set_float(struct mase_arena *a, struct mase_value *v, const char *key, double f)
{
    mase_value_set(a, v, key, mase_value_float(a, f));
}

static struct mase_value *results(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    const struct mase_train_state *s = mase_trainer_state(j->trainer);
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "epochs", mase_value_int(a, s->epoch));
    mase_value_set(a, v, "steps", mase_value_int(a, s->step));
    mase_value_set(a, v, "stopped",
                   mase_value_string(a, j->last.stop ? j->last.stop : "nothing to do"));
    set_float(a, v, "train_loss_epoch", j->last.train_loss);
    if (j->objective.task != mase_tasks)
        mase_value_set(a, v, "task", mase_value_string(a, j->objective.task->name));
    const char *score = j->objective.task->score;
    set_float(a, v, mase_arena_printf(a, "train_%s_epoch", score), j->last.train_score);
    set_float(a, v, "val_loss_epoch", j->last.val_loss);
    set_float(a, v, mase_arena_printf(a, "val_%s_epoch", score), j->last.val_score);
    mase_value_set(a, v, "best_epoch", mase_value_int(a, s->best_epoch));
    set_float(a, v, "best_val_loss", s->best_loss);
    if (j->opts.prune)
        set_float(a, v, "sparsity", j->last.sparsity);
    mase_cli_bits_set(a, v, &j->last);
    set_float(a, v, "train_seconds", j->train_seconds);
    set_float(a, v, "samples_per_second",
              j->train_seconds > 0 ? (double)j->samples / j->train_seconds : 0);
    struct mase_value *lost = mase_rounding_loss(a, mase_trainer_graph(j->trainer));
    if (lost)
        mase_value_set(a, v, "rounded_weights", lost);
    return v;
}

static void add_row(struct mase_table *t, const char *which, const struct mase_train_epoch *e)
{
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, which);
    mase_table_setf(t, row, 1, "%lld", (long long)e->epoch + 1);
    mase_table_setf(t, row, 2, "%.4f", e->train_loss);
    mase_table_setf(t, row, 3, "%.4f", e->train_score);
    mase_table_setf(t, row, 4, "%.4f", e->val_loss);
    mase_table_setf(t, row, 5, "%.4f", e->val_score);
}

static void print_results(const struct job *j)
{
    const char *score = j->objective.task->score;
    const char *const headers[] = {
        "Checkpoint", "Epoch",
        "train_loss", mase_arena_printf(&j->c->arena, "train_%s", score),
        "val_loss",   mase_arena_printf(&j->c->arena, "val_%s", score),
        NULL
    };
    struct mase_table t = mase_table(&j->c->arena, headers);
    const struct mase_dataset_info *info = mase_dataset_info(j->data);
    struct mase_sheets *s = &j->c->sheets;
    if (j->best.step)
        add_row(&t, "best", &j->best);
    add_row(&t, "last", &j->last);
    mase_sheets_add(
        s, &(struct mase_sheet){ .key = "checkpoints", .table = t, .style = MASE_TABLE_PRETTY });
    mase_sheets_line(s, "%s on %s%s, validated on %lld rows", j->model->name, info->data.name,
                     mase_graph_is_quantised(mase_trainer_graph(j->trainer)) ? ", quantised" : "",
                     (long long)mase_dataset_split(j->data, MASE_SPLIT_VALIDATION).count);
    mase_cli_bits_print(s, &j->last);
    if (info->notice)
        mase_sheets_line(s, "%s", info->notice);
}

static enum mase_status record(const struct job *j, struct mase_value *files, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    static const char *const names[] = { "best.ckpt", "last.ckpt" };
    for (int i = 0; i < 2; i++) {
        const char *path = mase_path_join(a, j->ckpt_dir, names[i]);
        if (mase_is_file(path))
            mase_value_push(a, files, mase_value_string(a, path));
    }
    return mase_cli_record(
        &(struct mase_cli_record){ .c = j->c,
                                   .project_dir = j->project_dir,
                                   .name = "run.json",
                                   .model = j->model,
                                   .graph = mase_trainer_graph(j->trainer),
                                   .weights = j->work.source,
                                   .dataset = mase_cli_data_record(a, j->data),
                                   .isa = mase_plan_isa(mase_trainer_plan(j->trainer)),
                                   .threads = mase_trainer_threads(j->trainer),
                                   .results = results(j),
                                   .files = files,
                                   .started = j->started },
        err);
}

static enum mase_status finish(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *files = mase_value_list(a);
    const char *title =
        mase_arena_printf(a, "%s on %s%s", j->model->name, mase_dataset_info(j->data)->data.name,
                          mase_dataset_info(j->data)->simulated ? " (simulated)" : "");
    if (j->last.step) {
        mase_rounding_loss_log(mase_trainer_graph(j->trainer), true);
        print_results(j);
    } else {
        mase_info("There was nothing left to train");
    }
    mase_sheets_set(&j->c->sheets, "results", results(j));
    mase_sheets_end(&j->c->sheets);
    if (!j->saves)
        return MASE_OK;
    MASE_TRY(mase_cli_train_files_close(&j->files, title, files, err));
    MASE_TRY(mase_make_dirs(mase_path_join(a, j->project_dir, "hardware"), err));
    return record(j, files, err);
}

static enum mase_status prepare(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_find_work(&j->work, c, err));
    MASE_TRY(bind_options(j, err));
    MASE_TRY(mase_cli_find_model(&j->model, c, &j->work, err));
    mase_cli_announce(c);
    warn_of_differences(c);
    MASE_TRY(find_folders(j, err));
    return open_all(j, err);
}

/* All processes are ready before rank 0 writes: what this run loads may move out of its way. */
static enum mase_status run(struct job *j, struct mase_err *err)
{
    struct mase_ranks *ranks = j->c->ranks;
    MASE_TRY(mase_ranks_agree(ranks, prepare(j, err), err));
    const char *last = mase_path_join(&j->c->arena, j->ckpt_dir, "last.ckpt");
    bool again = can_resume(j, last);
    mase_ranks_broadcast(ranks, &again, sizeof again, 0);
    MASE_TRY(mase_ranks_agree(ranks, begin(j, again, last, err), err));
    print_summary(j);
    MASE_TRY(train(j, err));
    mase_ranks_part(ranks);
    MASE_TRY(finish(j, err));
    mase_info("Training is completed");
    return MASE_OK;
}

enum mase_status mase_cli_train(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock(), .drawn_epoch = -1, .claim = { .lock = -1 } };
    MASE_TRY(mase_cli_join(c, err));
    const enum mase_status st = run(&j, err);
    if (st && j.files.arena) /* keep the measurements so far readable */
        (void)!mase_cli_train_files_close(&j.files, NULL, mase_value_list(&c->arena), NULL);
    mase_cli_unclaim(&j.claim);
    mase_trainer_free(j.trainer);
    mase_work_close(&j.work);
    mase_dataset_close(j.data);
    return st;
}
