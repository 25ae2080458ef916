/*
 * evaluate.c - a split through a predictor: loss and accuracy, and on request the fuller metrics.
 */
#include <math.h>

#include <mase/progress.h>

#include "exec/plan.h"
#include "train/predict.h"

/* Sums over the samples of a batch. */
struct tally {
    double loss;
    int64_t correct;
};

/* An evaluation under way. */
struct work {
    const struct mase_dataset *data;
    const struct mase_evaluate_opts *opts;
    int32_t *label;      // (samples): as the network numbers the classes
    float *y;            // (samples, classes), or NULL: outputs are not kept
    struct tally *tally; // (batches)
};

/* Cross entropy of the reference's outputs, in double. */
static void tally_reference(struct tally *t, const struct mase_predictor *p,
                            const struct mase_worker *s, const int32_t *label)
{
    for (int64_t i = 0; i < s->samples; i++) {
        const float *y = s->y.data + i; // (classes), stride apart
        int64_t best = 0;
        for (int64_t c = 1; c < p->outputs; c++)
            if (y[c * s->y.stride] > y[best * s->y.stride])
                best = c;
        double sum = 0;
        for (int64_t c = 0; c < p->outputs; c++)
            sum += exp((double)y[c * s->y.stride] - y[best * s->y.stride]);
        t->loss += log(sum) + (double)y[best * s->y.stride] - y[label[i] * s->y.stride];
        t->correct += best == label[i];
    }
}

static void fill(const struct mase_predictor *p, struct mase_worker *s, int64_t at, void *data)
{
    const struct work *w = data;
    const uint32_t *row = w->opts->rows.row + at;
    const struct mase_table_view table = mase_dataset_table(w->data);
    const int32_t *labels = mase_dataset_labels(w->data), *map = w->opts->class_map;
    (void)p;
    if (s->plan)
        s->plan->row = row;
    for (int64_t i = 0; i < s->samples; i++)
        w->label[at + i] = map ? map[labels[row[i]]] : labels[row[i]];
    if (table.data && s->plan)
        mase_plan_gather(s->plan, table.data, table.stride, row, s->samples);
    else
        mase_dataset_batch(w->data, &(struct mase_batch){ .row = row,
                                                          .n = s->samples,
                                                          .x = s->x.data,
                                                          .feature_stride = s->x.stride,
                                                          .sample_stride = 1 });
}

static void take(const struct mase_predictor *p, struct mase_worker *s, int64_t at, void *data)
{
    const struct work *w = data;
    struct tally *t = &w->tally[at / p->batch];
    if (s->plan) {
        struct mase_loss_result r;
        mase_plan_loss(s->plan, &r, w->label + at, NULL);
        *t = (struct tally){ r.loss, r.correct };
    } else {
        tally_reference(t, p, s, w->label + at);
    }
    for (int64_t i = 0; w->y && i < s->samples; i++)
        for (int64_t c = 0; c < p->outputs; c++)
            w->y[(at + i) * p->outputs + c] = s->y.data[c * s->y.stride + i];
}

static enum mase_status check(const struct mase_predictor *p, const struct mase_dataset *d,
                              struct mase_split_rows rows, struct mase_err *err)
{
    const struct mase_data_info *info = &mase_dataset_info(d)->data;
    if (p->outputs != info->classes)
        return mase_fail(err, MASE_EVALUE, "the network has %lld outputs, but %s has %d classes",
                         (long long)p->outputs, info->name, info->classes);
    if (rows.count == 0)
        return mase_fail(err, MASE_EVALUE, "%s has no rows to evaluate the network on", info->name);
    return MASE_OK;
}

static void set_result(struct mase_evaluation *e, const struct tally *t, int64_t batches, int64_t n)
{
    double loss = 0;
    int64_t correct = 0;
    for (int64_t i = 0; i < batches; i++) {
        loss += t[i].loss;
        correct += t[i].correct;
    }
    e->samples = n;
    e->loss = loss / (double)n;
    e->accuracy = (double)correct / (double)n;
    e->accuracy_error = sqrt(e->accuracy * (1 - e->accuracy) / (double)n);
}

enum mase_status mase_evaluate_rows(struct mase_evaluation *e, struct mase_predictor *p,
                                    const struct mase_dataset *d,
                                    const struct mase_evaluate_opts *o, struct mase_err *err)
{
    MASE_TRY(check(p, d, o->rows, err));
    const uint64_t started = mase_clock();
    const int64_t n = o->rows.count, batches = (n + p->batch - 1) / p->batch;
    struct mase_arena a = { 0 };
    struct work w = { .data = d,
                      .opts = o,
                      .label = mase_new_array(&a, int32_t, (size_t)n),
                      .tally = mase_new_array(&a, struct tally, (size_t)batches) };
    if (o->detail)
        w.y = mase_new_array(&a, float, (size_t)(n * p->outputs));
    const enum mase_status st = mase_predictor_each(p, n, fill, take, &w, err);
    if (!st) {
        e->seconds = 1e-9 * (double)(mase_clock() - started);
        e->classes = (int)p->outputs;
        if (o->detail)
            mase_metrics(e, o->detail, w.y, w.label, n, (int)p->outputs);
        set_result(e, w.tally, batches, n);
    }
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_evaluate(struct mase_evaluation *e, struct mase_predictor *p,
                               const struct mase_dataset *d, enum mase_split split, int64_t limit,
                               struct mase_arena *detail, struct mase_err *err)
{
    struct mase_split_rows rows = mase_dataset_split(d, split);
    if (limit > 0 && limit < rows.count)
        rows.count = limit;
    const struct mase_evaluate_opts o = { .rows = rows, .detail = detail };
    return mase_evaluate_rows(e, p, d, &o, err);
}
