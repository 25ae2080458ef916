/*
 * train_files.c - metrics.csv, TensorBoard's events, hparams.yaml and the curve as SVG; bits.csv
 * beside them is train_bits.c's.
 *
 * metrics.csv has Lightning's columns and ours behind them; a logged step fills one half of a row,
 * the end of an epoch the other:
 *
 *     epoch,lr-Adam,step,train_acc_step,train_loss_step,val_acc_epoch,val_loss_epoch,
 *     train_acc_epoch,train_loss_epoch,samples_per_second[,ebops]
 *
 * The last one only where bits are learned. acc is what the task calls its score: r2, f1, ppl.
 * Steps count from 0, as Lightning counts: the first is step 0.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/events.h>
#include <mase/file.h>
#include <mase/plot.h>

#include "base/number.h"
#include "cli/command/cmd_train.h"

enum { COLUMNS = 10, MOST_COLUMNS = 11, STEP_COLUMN = 2, VAL_LOSS_COLUMN = 6 };

/* The name that Lightning's LearningRateMonitor gives it. */
static const char *lr_tag(struct mase_arena *a, const struct mase_train_opts *o)
{
    return mase_arena_printf(a, "lr-%s", mase_optimizer_title(o->optimizer));
}

/* ---- the curve ---- */

static double *grow(struct mase_arena *a, double *p, int n, int cap)
{
    return mase_arena_grow(a, p, n, &cap, sizeof *p);
}

static void add_point(struct mase_cli_train_files *f, const struct mase_train_epoch *e)
{
    struct mase_cli_curve *c = &f->curve;
    int cap = c->cap;
    c->epoch = mase_arena_grow(f->arena, c->epoch, c->count, &cap, sizeof *c->epoch);
    c->train_loss = grow(f->arena, c->train_loss, c->count, c->cap);
    c->val_loss = grow(f->arena, c->val_loss, c->count, c->cap);
    c->train_score = grow(f->arena, c->train_score, c->count, c->cap);
    c->val_score = grow(f->arena, c->val_score, c->count, c->cap);
    c->cap = cap;
    c->epoch[c->count] = (double)(e->epoch + 1);
    c->train_loss[c->count] = e->train_loss;
    c->val_loss[c->count] = e->val_loss;
    c->train_score[c->count] = e->train_score;
    c->val_score[c->count] = e->val_score;
    c->count++;
}

static enum mase_status draw(const struct mase_cli_train_files *f, const char *title,
                             struct mase_err *err)
{
    const struct mase_cli_curve *c = &f->curve;
    const char *score = f->task->score_title;
    const struct {
        const char *name;
        const double *y;
        int colour;
        bool dashed;
    } rows[] = {
        { "training loss", c->train_loss, MASE_COLOUR_TRAINING, false },
        { "validation loss", c->val_loss, MASE_COLOUR_VALIDATION, false },
        { mase_arena_printf(f->arena, "training %s", score), c->train_score, MASE_COLOUR_TRAINING,
          true },
        { mase_arena_printf(f->arena, "validation %s", score), c->val_score, MASE_COLOUR_VALIDATION,
          true },
    };
    struct mase_plot_series series[4];
    for (int i = 0; i < 4; i++)
        series[i] = (struct mase_plot_series){ .name = rows[i].name,
                                               .x = c->epoch,
                                               .y = rows[i].y,
                                               .n = c->count,
                                               .colour = rows[i].colour,
                                               .dashed = rows[i].dashed };
    struct mase_str svg = { 0 };
    mase_plot_svg(&svg,
                  &(struct mase_plot){ .title = title,
                                       .x_label = "epoch",
                                       .y_label = mase_arena_printf(f->arena, "loss, %s", score),
                                       .series = series,
                                       .count = 4 });
    const enum mase_status st = mase_file_write(f->curve_path, svg.data, svg.len, err);
    mase_str_release(&svg);
    return st;
}

/* ---- metrics.csv ---- */

/* Split a line in place; false if there are too few fields. */
static bool split_line(char *line, char *field[MOST_COLUMNS], int columns)
{
    int n = 0;
    for (char *p = line; p && n < columns; n++) {
        field[n] = p;
        p = strchr(p, ',');
        if (p)
            *p++ = '\0';
    }
    return n == columns;
}

/* Keep a line of an earlier run if its step is before the resumed one. */
static void keep_line(struct mase_cli_train_files *f, struct mase_str *out, const char *line,
                      int64_t step)
{
    struct mase_arena a = { 0 };
    char *field[MOST_COLUMNS];
    if (split_line(mase_arena_strdup(&a, line), field, f->columns) && *field[STEP_COLUMN] &&
        atoll(field[STEP_COLUMN]) < step) {
        mase_str_printf(out, "%s\n", line);
        if (*field[VAL_LOSS_COLUMN])
            add_point(f,
                      &(struct mase_train_epoch){ .epoch = atoll(field[0]),
                                                  .val_score = mase_number_read(field[5], NULL),
                                                  .val_loss = mase_number_read(field[6], NULL),
                                                  .train_score = mase_number_read(field[7], NULL),
                                                  .train_loss = mase_number_read(field[8], NULL) });
    }
    mase_arena_release(&a);
}

static enum mase_status keep_lines(struct mase_cli_train_files *f, struct mase_str *out,
                                   int64_t step, struct mase_err *err)
{
    struct mase_file file;
    if (!mase_is_file(f->metrics_path))
        return MASE_OK;
    MASE_TRY(mase_file_open(&file, f->metrics_path, err));
    char *text = mase_arena_strndup(f->arena, (const char *)file.data, file.size), *rest = NULL;
    mase_file_close(&file);
    strtok_r(text, "\n", &rest); /* skip the header */
    for (char *line; (line = strtok_r(NULL, "\n", &rest));)
        keep_line(f, out, line, step);
    return MASE_OK;
}

static enum mase_status open_metrics(struct mase_cli_train_files *f, bool resume, int64_t step,
                                     struct mase_err *err)
{
    struct mase_str text = { 0 };
    enum mase_status st = MASE_OK;
    const char *score = f->task->score;
    mase_str_printf(&text,
                    "epoch,%s,step,train_%s_step,train_loss_step,val_%s_epoch,val_loss_epoch,"
                    "train_%s_epoch,train_loss_epoch,samples_per_second%s\n",
                    f->lr_tag, score, score, score, f->columns > COLUMNS ? ",ebops" : "");
    if (resume)
        st = keep_lines(f, &text, step, err);
    if (!st)
        st = mase_file_write(f->metrics_path, text.data, text.len, err);
    mase_str_release(&text);
    if (!st && !(f->metrics = fopen(f->metrics_path, "a")))
        st = mase_fail_errno(err, f->metrics_path, "cannot open");
    return st;
}

/* Write the bits, and end the line. */
static void end_line(const struct mase_cli_train_files *f, double ebops)
{
    if (f->columns > COLUMNS)
        fputc(',', f->metrics);
    if (f->columns > COLUMNS && isfinite(ebops))
        mase_fprintf(f->metrics, "%.17g", ebops);
    fputc('\n', f->metrics);
}

static enum mase_status check_metrics(const struct mase_cli_train_files *f, struct mase_err *err)
{
    return ferror(f->metrics) ? mase_fail_errno(err, f->metrics_path, "cannot write") : MASE_OK;
}

/* ---- TensorBoard ---- */

/* The first version_N that does not exist, so that runs in one folder lie next to each other. */
static const char *new_version(struct mase_arena *a, const char *software)
{
    for (int n = 0;; n++) {
        const char *dir =
            mase_arena_printf(a, "%s/tensorboard/lightning_logs/version_%d", software, n);
        if (!mase_is_dir(dir))
            return dir;
    }
}

/* YAML reads JSON, except that 1e-05 would be a text: write 1.0e-05, as Python does. */
static void add_yaml(struct mase_str *out, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    mase_json_print(&text, v, 0);
    const char *s = mase_str_text(&text), *e = v->kind == MASE_FLOAT ? strchr(s, 'e') : NULL;
    if (e && !strchr(s, '.'))
        mase_str_printf(out, "%.*s.0%s", (int)(e - s), s, e);
    else
        mase_str_add(out, s);
    mase_str_release(&text);
}

static enum mase_status write_hparams(const struct mase_cli_train_files *f,
                                      const struct mase_cli_train_run *r, struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_str_add(&text, "model: ");
    add_yaml(&text, mase_value_string(f->arena, r->model));
    mase_str_add(&text, "\ndataset: ");
    add_yaml(&text, mase_value_string(f->arena, r->dataset));
    mase_str_addc(&text, '\n');
    for (const struct mase_opt *row = mase_train_rows; row->key; row++) {
        mase_str_printf(&text, "%s: ", row->key);
        add_yaml(&text, mase_opt_value(f->arena, r->opts, row));
        mase_str_addc(&text, '\n');
    }
    const enum mase_status st = mase_file_write(f->hparams_path, text.data, text.len, err);
    mase_str_release(&text);
    return st;
}

/* ---- all files ---- */

enum mase_status mase_cli_train_files_open(struct mase_cli_train_files *f, struct mase_arena *a,
                                           const struct mase_cli_train_run *r, struct mase_err *err)
{
    const char *version = new_version(a, r->software);
    *f = (struct mase_cli_train_files){ .arena = a,
                                        .lr_tag = lr_tag(a, r->opts),
                                        .task = r->task,
                                        .columns = r->learns_bits ? MOST_COLUMNS : COLUMNS };
    f->metrics_path = mase_path_join(a, r->software, "metrics.csv");
    f->curve_path = mase_path_join(a, r->software, "training_curve.svg");
    f->hparams_path = mase_path_join(a, version, "hparams.yaml");
    MASE_TRY(open_metrics(f, r->resume, r->step, err));
    if (r->quantised)
        MASE_TRY(mase_cli_bits_open(&f->bits, mase_path_join(a, r->software, "bits.csv"), r->resume,
                                    r->epoch, err));
    MASE_TRY(mase_events_open(&f->events, version, err));
    return write_hparams(f, r, err);
}

/* Write "train_acc_step" and the like, by the task's name for the score. */
static enum mase_status put_score(struct mase_cli_train_files *f, const char *part,
                                  const char *when, int64_t step, double score,
                                  struct mase_err *err)
{
    char tag[64];
    mase_snprintf(tag, sizeof tag, "%s_%s_%s", part, f->task->score, when);
    return mase_events_scalar(f->events, tag, step, score, err);
}

enum mase_status mase_cli_train_files_step(struct mase_cli_train_files *f,
                                           const struct mase_train_point *p, struct mase_err *err)
{
    const int64_t step = p->step - 1;
    mase_fprintf(f->metrics, "%lld,%.9g,%lld,%.9g,%.9g,,,,,", (long long)p->epoch, p->lr,
                 (long long)step, p->score, p->loss);
    end_line(f, NAN);
    MASE_TRY(mase_events_scalar(f->events, f->lr_tag, step, p->lr, err));
    MASE_TRY(put_score(f, "train", "step", step, p->score, err));
    MASE_TRY(mase_events_scalar(f->events, "train_loss_step", step, p->loss, err));
    return mase_events_scalar(f->events, "epoch", step, (double)p->epoch, err);
}

enum mase_status mase_cli_train_files_epoch(struct mase_cli_train_files *f,
                                            const struct mase_train_epoch *e, struct mase_err *err)
{
    const int64_t step = e->step - 1;
    mase_fprintf(f->metrics, "%lld,%.9g,%lld,,,%.9g,%.9g,%.9g,%.9g,%.0f", (long long)e->epoch,
                 e->lr, (long long)step, e->val_score, e->val_loss, e->train_score, e->train_loss,
                 (double)e->samples / e->train_seconds);
    end_line(f, e->ebops);
    fflush(f->metrics);
    add_point(f, e);
    MASE_TRY(check_metrics(f, err));
    MASE_TRY(mase_cli_bits_epoch(&f->bits, e, err));
    MASE_TRY(put_score(f, "val", "epoch", step, e->val_score, err));
    MASE_TRY(mase_cli_bits_events(f->events, f->arena, e, err));
    if (isfinite(e->sparsity))
        MASE_TRY(mase_events_scalar(f->events, "sparsity", step, e->sparsity, err));
    if (isfinite(e->val_iou))
        MASE_TRY(mase_events_scalar(f->events, "val_mean_iou_epoch", step, e->val_iou, err));
    MASE_TRY(mase_events_scalar(f->events, "val_loss_epoch", step, e->val_loss, err));
    return mase_events_flush(f->events, err);
}

static void list_file(struct mase_cli_train_files *f, struct mase_value *list, const char *path)
{
    if (path && mase_is_file(path))
        mase_value_push(f->arena, list, mase_value_string(f->arena, path));
}

enum mase_status mase_cli_train_files_close(struct mase_cli_train_files *f, const char *title,
                                            struct mase_value *list, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    const char *events =
        f->events ? mase_arena_strdup(f->arena, mase_events_path(f->events)) : NULL;
    if (f->metrics) {
        st = check_metrics(f, err);
        if (fclose(f->metrics) != 0 && !st)
            st = mase_fail_errno(err, f->metrics_path, "cannot write");
    }
    const enum mase_status counted = mase_cli_bits_close(&f->bits, st ? NULL : err);
    st = st ? st : counted;
    const enum mase_status closed = mase_events_close(f->events, st ? NULL : err);
    f->events = NULL;
    f->metrics = NULL;
    st = st ? st : closed;
    if (!st && title && f->curve.count)
        st = draw(f, title, err);
    list_file(f, list, f->metrics_path);
    list_file(f, list, f->bits.path);
    list_file(f, list, f->curve_path);
    list_file(f, list, f->hparams_path);
    list_file(f, list, events);
    return st;
}
