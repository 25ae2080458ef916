/*
 * metrics.c - what a classifier's answers come to.
 */
#include <math.h>
#include <stdlib.h>

#include <mase/evaluate.h>

#include "base/alloc.h"

/* ---- area under the curve ---- */

struct scored {
    float score;
    bool positive;
};

static int by_score(const void *a, const void *b)
{
    const float x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x > y) - (x < y);
}

/* The number of pairs of a positive and a negative that rank the positive higher, by sorting: among
 * equal scores a pair counts one half. */
static double ranked_pairs(const struct scored *s, int64_t n)
{
    double pairs = 0, below = 0;
    for (int64_t i = 0, end; i < n; i = end) {
        double positive = 0, negative = 0;
        for (end = i; end < n && s[end].score == s[i].score; end++)
            *(s[end].positive ? &positive : &negative) += 1;
        if (end == i)
            return NAN; /* a score that does not equal itself */
        pairs += positive * (below + negative / 2);
        below += negative;
    }
    return pairs;
}

double mase_auc(const float *score, int64_t stride, const int32_t *label, int64_t n,
                int32_t positive)
{
    struct scored *s = mase_xcalloc((size_t)(n + 1) * sizeof *s);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        s[i] = (struct scored){ score[i * stride], label[i] == positive };
        count += s[i].positive;
    }
    qsort(s, (size_t)n, sizeof *s, by_score);
    const double pairs = ranked_pairs(s, n);
    mase_xfree(s);
    return count && count < n ? pairs / ((double)count * (double)(n - count)) : NAN;
}

/* ---- answers ---- */

static int32_t answer(const float *y, int classes)
{
    int32_t best = 0;
    for (int32_t c = 1; c < classes; c++)
        if (y[c] > y[best])
            best = c;
    return best;
}

/* The classes' shares, what a threshold would be set on: outputs alone do not compare between
 * samples. */
static void softmax(float *p, const float *y, int classes)
{
    const double largest = y[answer(y, classes)];
    double sum = 0;
    for (int c = 0; c < classes; c++)
        sum += exp(y[c] - largest);
    for (int c = 0; c < classes; c++)
        p[c] = (float)(exp(y[c] - largest) / sum);
}

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static int by_place(const void *a, const void *b)
{
    const struct mase_confused *x = a, *y = b;
    return x->truth != y->truth ? (x->truth > y->truth) - (x->truth < y->truth)
                                : (x->answer > y->answer) - (x->answer < y->answer);
}

/* Samples that were told alike as one: as much memory as there are samples, not squared classes. */
static void count_cells(struct mase_evaluation *e, struct mase_arena *a,
                        struct mase_confused *sample, int64_t n)
{
    qsort(sample, (size_t)n, sizeof *sample, by_place);
    for (int64_t i = 0; i < n; i++) {
        struct mase_confused *last = e->cells ? &sample[e->cells - 1] : NULL;
        if (last && by_place(last, &sample[i]) == 0)
            last->count++;
        else
            sample[e->cells++] = sample[i];
    }
    e->cell = mase_arena_memdup(a, sample, (size_t)e->cells * sizeof *sample);
    for (int64_t i = 0; i < e->cells && e->confusion; i++)
        e->confusion[e->cell[i].truth * e->classes + e->cell[i].answer] = e->cell[i].count;
}

static void rates(struct mase_evaluation *e)
{
    const int C = e->classes;
    int64_t *hits = mase_xcalloc((size_t)C * 2 * sizeof *hits), *answers = hits + C;
    double sum = 0;
    int present = 0;
    for (int64_t i = 0; i < e->cells; i++) {
        const struct mase_confused *k = &e->cell[i];
        e->support[k->truth] += k->count;
        answers[k->answer] += k->count;
        hits[k->truth] += k->truth == k->answer ? k->count : 0;
    }
    for (int c = 0; c < C; c++) {
        e->recall[c] = share(hits[c], e->support[c]);
        e->precision[c] = share(hits[c], answers[c]);
        if (e->support[c]) {
            sum += e->recall[c];
            present++;
        }
    }
    e->macro_accuracy = present ? sum / present : NAN;
    mase_xfree(hits);
}

void mase_metrics(struct mase_evaluation *e, struct mase_arena *a, const float *y,
                  const int32_t *label, int64_t n, int classes)
{
    const size_t C = (size_t)classes;
    e->samples = n;
    e->classes = classes;
    e->confusion = classes > MASE_CONFUSION_CLASSES ? NULL : mase_new_array(a, int64_t, C * C);
    e->support = mase_new_array(a, int64_t, C);
    e->cells = 0;
    e->precision = mase_new_array(a, double, C);
    e->recall = mase_new_array(a, double, C);
    e->auc = mase_new_array(a, double, C);
    float *p = mase_xcalloc((size_t)(n + 1) * C * sizeof *p);
    struct mase_confused *sample = mase_xcalloc((size_t)(n + 1) * sizeof *sample);
    int64_t correct = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t said = answer(y + i * classes, classes);
        sample[i] = (struct mase_confused){ label[i], said, 1 };
        correct += said == label[i];
        softmax(p + i * classes, y + i * classes, classes);
    }
    e->accuracy = share(correct, n);
    e->accuracy_error = sqrt(e->accuracy * (1 - e->accuracy) / (double)n);
    count_cells(e, a, sample, n);
    mase_xfree(sample);
    rates(e);
    for (int c = 0; c < classes; c++)
        e->auc[c] = mase_auc(p + c, classes, label, n, c);
    mase_xfree(p);
}
