/*
 * evaluate.c - a split through a predictor: loss and accuracy, and on request the outputs for the
 * fuller metrics.
 */
#include <math.h>

#include <mase/progress.h>

#include "train/predict.h"

/* Sums over the samples so far. */
struct tally {
    double loss;
    int64_t correct;
};

/* Cross entropy of the reference's outputs, in double. */
static void tally_reference(struct tally *t, const struct mase_predictor *p, const int32_t *label)
{
    for (int64_t i = 0; i < p->samples; i++) {
        const float *y = p->y.data + i; // (classes), stride apart
        int64_t best = 0;
        for (int64_t c = 1; c < p->outputs; c++)
            if (y[c * p->y.stride] > y[best * p->y.stride])
                best = c;
        double sum = 0;
        for (int64_t c = 0; c < p->outputs; c++)
            sum += exp((double)y[c * p->y.stride] - y[best * p->y.stride]);
        t->loss += log(sum) + (double)y[best * p->y.stride] - y[label[i] * p->y.stride];
        t->correct += best == label[i];
    }
}

static void tally_batch(struct tally *t, struct mase_predictor *p, const int32_t *label)
{
    if (!p->plan) {
        tally_reference(t, p, label);
        return;
    }
    struct mase_loss_result r;
    mase_plan_loss(p->plan, &r, label, NULL);
    t->loss += r.loss;
    t->correct += r.correct;
}

/* Outputs of the batch at sample `at` of (samples, classes) arrays. */
static void keep(float *y, int32_t *labels, const struct mase_predictor *p, const int32_t *label,
                 int64_t at)
{
    for (int64_t i = 0; i < p->samples; i++) {
        labels[at + i] = label[i];
        for (int64_t c = 0; c < p->outputs; c++)
            y[(at + i) * p->outputs + c] = p->y.data[c * p->y.stride + i];
    }
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

static void take_labels(int32_t *label, const struct mase_dataset *d, const uint32_t *row,
                        int64_t n, const int32_t *map)
{
    const int32_t *labels = mase_dataset_labels(d);
    for (int64_t i = 0; i < n; i++)
        label[i] = map ? map[labels[row[i]]] : labels[row[i]];
}

enum mase_status mase_evaluate_rows(struct mase_evaluation *e, struct mase_predictor *p,
                                    const struct mase_dataset *d,
                                    const struct mase_evaluate_opts *o, struct mase_err *err)
{
    MASE_TRY(check(p, d, o->rows, err));
    const uint64_t started = mase_clock();
    const int64_t n = o->rows.count;
    struct mase_arena a = { 0 };
    int32_t *label = mase_new_array(&a, int32_t, (size_t)p->batch);
    float *y = o->detail ? mase_new_array(&a, float, (size_t)(n * p->outputs)) : NULL;
    int32_t *kept = o->detail ? mase_new_array(&a, int32_t, (size_t)n) : NULL;
    struct tally t = { 0 };
    enum mase_status st = MASE_OK;
    for (int64_t at = 0; at < n; at += p->batch) {
        const uint32_t *row = o->rows.row + at;
        mase_predictor_take(p, d, row, n - at < p->batch ? n - at : p->batch);
        take_labels(label, d, row, p->samples, o->class_map);
        if ((st = mase_predictor_forward(p, err)))
            break;
        tally_batch(&t, p, label);
        if (o->detail)
            keep(y, kept, p, label, at);
    }
    const double seconds = 1e-9 * (double)(mase_clock() - started);
    if (!st && o->detail)
        mase_metrics(e, o->detail, y, kept, n, (int)p->outputs);
    mase_arena_release(&a);
    if (st)
        return st;
    e->samples = n;
    e->classes = (int)p->outputs;
    e->seconds = seconds;
    e->loss = t.loss / (double)n;
    e->accuracy = (double)t.correct / (double)n;
    e->accuracy_error = sqrt(e->accuracy * (1 - e->accuracy) / (double)n);
    return MASE_OK;
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
