/*
 * task_metrics.c - metrics of a test, by task.
 */
#include "evaluate/task_metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* ---- keeping ---- */

void mase_kept_outputs_init(struct mase_kept_outputs *k, struct mase_arena *a,
                            const struct mase_target_source *s, int64_t outputs, int64_t samples,
                            int64_t batch)
{
    const int64_t batches = (samples + batch - 1) / batch;
    *k = (struct mase_kept_outputs){
        .source = s, .samples = samples, .outputs = outputs, .batch = batch
    };
    if (s->objective.task->target == MASE_TASK_MAP) {
        k->classes = outputs / s->positions;
        k->counts = mase_new_array(a, struct mase_map_count, (size_t)(batches * k->classes));
        return;
    }
    if (s->positions > 1)
        return;
    k->y = mase_new_array(a, float, (size_t)(samples * outputs));
    if (s->positions)
        k->label = mase_new_array(a, int32_t, (size_t)samples);
    else
        k->target = mase_new_array(a, float, (size_t)(samples * outputs));
}

/* The class with the largest output at a position of a sample. */
static int64_t answer(const struct mase_kept_outputs *k, const struct mase_lanes *y, int64_t at,
                      int64_t i)
{
    const int64_t positions = k->source->positions;
    const float *x = y->data + at * y->stride + i;
    int64_t best = 0;
    for (int64_t c = 1; c < k->classes; c++)
        if (x[c * positions * y->stride] > x[best * positions * y->stride])
            best = c;
    return best;
}

static void count_answers(const struct mase_kept_outputs *k, const struct mase_lanes *output,
                          const struct mase_targets *t, int64_t batch, int64_t n)
{
    struct mase_map_count *counts = k->counts + batch * k->classes; // (classes)
    for (int64_t at = 0; at < k->source->positions; at++)
        for (int64_t i = 0; i < n; i++) {
            const int32_t label = t->label[at * t->label_stride + i];
            if (label < 0)
                continue;
            const int64_t said = answer(k, output, at, i);
            counts[label].labels++;
            counts[said].answers++;
            counts[said].hits += said == label;
        }
}

void mase_keep_outputs(const struct mase_kept_outputs *k, const struct mase_lanes *output,
                       const struct mase_targets *t, int64_t at, int64_t n)
{
    if (k->source && k->counts)
        count_answers(k, output, t, at / k->batch, n);
    for (int64_t i = 0; k->label && i < n; i++)
        k->label[at + i] = t->label[i];
    for (int64_t i = 0; k->y && i < n; i++)
        for (int64_t c = 0; c < k->outputs; c++) {
            k->y[(at + i) * k->outputs + c] = output->data[c * output->stride + i];
            if (k->target)
                k->target[(at + i) * k->outputs + c] = t->y.data[c * t->y.stride + i];
        }
}

/* ---- results ---- */

typedef void metrics_fn(struct mase_evaluation *e, struct mase_arena *a,
                        const struct mase_kept_outputs *k);

static void set_metrics(struct mase_evaluation *e, struct mase_arena *a,
                        const struct mase_metric *list, int n)
{
    e->metric = mase_arena_memdup(a, list, (size_t)n * sizeof *list);
    e->metrics = n;
}

static void set_table(struct mase_evaluation *e, struct mase_arena *a, const char *title,
                      const char *const *columns, int count, int64_t rows, const char *const *names)
{
    e->by_output = (struct mase_metric_table){
        .title = title,
        .columns = columns,
        .column_count = count,
        .rows = rows,
        .names = names,
        .value = mase_new_array(a, double, (size_t)(rows * count)),
    };
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Mean of what is a number. */
static double mean_of(const double *x, int64_t n, int64_t stride)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i * stride])) {
            sum += x[i * stride];
            count++;
        }
    return share(sum, (double)count);
}

/* ---- classes ---- */

static void of_classes(struct mase_evaluation *e, struct mase_arena *a,
                       const struct mase_kept_outputs *k)
{
    mase_metrics(e, a, k->y, k->label, k->samples, (int)k->outputs);
}

/* Answers that are labels, all answers, all labels. */
struct counted {
    double hits, answers, labels;
};

static struct counted count(const struct mase_kept_outputs *k, int64_t output)
{
    struct counted c = { 0 };
    for (int64_t i = 0; i < k->samples; i++) {
        const int said = k->y[i * k->outputs + output] > 0,
                  is = k->target[i * k->outputs + output] > 0.5f;
        c.hits += said && is;
        c.answers += said;
        c.labels += is;
    }
    return c;
}

/* AUC for labels 0 and 1. */
static double auc_of(const struct mase_kept_outputs *k, int64_t output)
{
    int32_t *label = mase_xcalloc((size_t)(k->samples + 1) * sizeof *label);
    for (int64_t i = 0; i < k->samples; i++)
        label[i] = k->target[i * k->outputs + output] > 0.5f;
    const double auc = mase_auc(k->y + output, k->outputs, label, k->samples, 1);
    mase_xfree(label);
    return auc;
}

static void of_two_classes(struct mase_evaluation *e, struct mase_arena *a,
                           const struct mase_kept_outputs *k)
{
    const struct counted c = count(k, 0);
    const struct mase_metric list[] = {
        { "accuracy_standard_error", "standard error of accuracy", e->accuracy_error },
        { "auc", "AUC", auc_of(k, 0) },
        { "f1", "F1", share(2 * c.hits, c.answers + c.labels) },
        { "precision", "precision", share(c.hits, c.answers) },
        { "recall", "recall", share(c.hits, c.labels) },
        { "positive", "samples of the second class", c.labels },
    };
    set_metrics(e, a, list, sizeof list / sizeof list[0]);
}

/* Samples all of whose labels are right. */
static double exact_matches(const struct mase_kept_outputs *k)
{
    double exact = 0;
    for (int64_t i = 0; i < k->samples; i++) {
        bool same = true;
        for (int64_t c = 0; c < k->outputs; c++)
            same &= (k->y[i * k->outputs + c] > 0) == (k->target[i * k->outputs + c] > 0.5f);
        exact += same;
    }
    return share(exact, (double)k->samples);
}

static void of_labels(struct mase_evaluation *e, struct mase_arena *a,
                      const struct mase_kept_outputs *k)
{
    static const char *const columns[] = { "positive", "precision", "recall", "f1", "auc" };
    enum { F1 = 3, AUC, COLUMNS };
    const struct mase_dataset_info *info = mase_dataset_info(k->source->data);
    set_table(e, a, "Label", columns, COLUMNS, k->outputs, info->target_names);
    for (int64_t r = 0; r < k->outputs; r++) {
        const struct counted c = count(k, r);
        double *row = e->by_output.value + r * COLUMNS;
        row[0] = c.labels;
        row[1] = share(c.hits, c.answers);
        row[2] = share(c.hits, c.labels);
        row[F1] = share(2 * c.hits, c.answers + c.labels);
        row[AUC] = auc_of(k, r);
    }
    const struct mase_metric list[] = {
        { "f1_macro", "mean F1 of the labels",
          mean_of(e->by_output.value + F1, k->outputs, COLUMNS) },
        { "auc_macro", "mean AUC of the labels",
          mean_of(e->by_output.value + AUC, k->outputs, COLUMNS) },
        { "exact_match", "samples with all labels right", exact_matches(k) },
    };
    set_metrics(e, a, list, sizeof list / sizeof list[0]);
}

/* ---- numbers ---- */

/* Sums over the samples of one output. */
struct differences {
    double squares, sizes, spread;
};

/* In the measure of the data, whatever training made of it. */
static struct differences differences(const struct mase_kept_outputs *k, int64_t output)
{
    const double *units = mase_target_unit(k->source), unit = units ? units[output] : 1;
    struct differences d = { 0 };
    for (int64_t i = 0; i < k->samples; i++) {
        const double t = k->target[i * k->outputs + output];
        const double off = unit * (k->y[i * k->outputs + output] - t),
                     from = unit * (t - k->source->mean[output]);
        d.squares += off * off;
        d.sizes += fabs(off);
        d.spread += from * from;
    }
    return d;
}

static void of_numbers(struct mase_evaluation *e, struct mase_arena *a,
                       const struct mase_kept_outputs *k)
{
    static const char *const columns[] = { "r2", "mae", "rmse" };
    enum { COLUMNS = 3 };
    const struct mase_dataset_info *info = mase_dataset_info(k->source->data);
    const bool inputs = k->source->objective.task->target == MASE_TASK_INPUT;
    const double n = (double)k->samples;
    double squares = 0, sizes = 0;
    set_table(e, a, "Output", columns, COLUMNS, k->outputs,
              inputs ? info->feature_names : info->target_names);
    for (int64_t r = 0; r < k->outputs; r++) {
        const struct differences d = differences(k, r);
        double *row = e->by_output.value + r * COLUMNS;
        row[0] = d.spread > 0 ? 1 - d.squares / d.spread : NAN;
        row[1] = d.sizes / n;
        row[2] = sqrt(d.squares / n);
        squares += d.squares;
        sizes += d.sizes;
    }
    const double values = n * (double)k->outputs;
    const struct mase_metric list[] = {
        { "mae", "mean absolute error", sizes / values },
        { "rmse", "root of the mean squared error", sqrt(squares / values) },
        { "r2_mean", "mean R2 of the outputs", mean_of(e->by_output.value, k->outputs, COLUMNS) },
    };
    set_metrics(e, a, list, k->outputs > 1 ? 3 : 2);
}

/* ---- positions ---- */

static void of_maps(struct mase_evaluation *e, struct mase_arena *a,
                    const struct mase_kept_outputs *k)
{
    static const char *const columns[] = { "positions", "iou", "precision", "recall" };
    enum { IOU = 1, COLUMNS = 4 };
    const struct mase_dataset_info *info = mase_dataset_info(k->source->data);
    const int64_t C = k->classes, batches = (k->samples + k->batch - 1) / k->batch;
    set_table(e, a, "Class", columns, COLUMNS, C,
              info->data.classes == C ? info->class_names : NULL);
    for (int64_t c = 0; c < C; c++) {
        struct counted n = { 0 };
        for (int64_t b = 0; b < batches; b++) {
            const struct mase_map_count *of = &k->counts[b * C + c];
            n.hits += (double)of->hits;
            n.labels += (double)of->labels;
            n.answers += (double)of->answers;
        }
        double *row = e->by_output.value + c * COLUMNS;
        row[0] = n.labels;
        row[IOU] = share(n.hits, n.labels + n.answers - n.hits);
        row[2] = share(n.hits, n.answers);
        row[3] = share(n.hits, n.labels);
    }
    const struct mase_metric list[] = {
        { "mean_iou", "mean IoU of the classes", mean_of(e->by_output.value + IOU, C, COLUMNS) },
    };
    set_metrics(e, a, list, 1);
}

static void of_tokens(struct mase_evaluation *e, struct mase_arena *a,
                      const struct mase_kept_outputs *k)
{
    (void)k;
    const struct mase_metric list[] = {
        { "token_accuracy", "tokens told right", e->hits },
    };
    set_metrics(e, a, list, 1);
}

void mase_task_metrics(struct mase_evaluation *e, struct mase_arena *a,
                       const struct mase_kept_outputs *k)
{
    static metrics_fn *const of[] = {
#define TASK(name, alias, target, losses, score, title, class, share, sums, of_sums, metrics, \
             help)                                                                            \
    metrics,
#include "evaluate/tasks.def"
    };
    of[k->source->objective.task - mase_tasks](e, a, k);
}
