/*
 * loss.c - the loss of a plan's output, and where training wants it the output's gradient.
 *
 * Cross entropy may be asked at several positions of a sample: the kernel, which knows samples and
 * classes, runs once for each.
 */
#include <math.h>

#include "exec/plan/plan_parts.h"

const char *const mase_loss_names[] = {
#define LOSS(name, title, help) #name,
#include <mase/losses.def>
    NULL
};

const char *const mase_loss_titles[] = {
#define LOSS(name, title, help) title,
#include <mase/losses.def>
    NULL
};

/* ---- cross entropy ---- */

static int64_t positions_of(const struct mase_loss_opts *o)
{
    return o->positions > 0 ? o->positions : 1;
}

/* Sample weights do not apply to the difference from the teacher. Its mean is over the samples, and
 * is scaled here, since the sum is later divided by the sum of weights. */
static void distil(const struct mase_plan *p, const struct mase_loss_opts *o,
                   const struct mase_cross_entropy *ce, double mean_weight)
{
    p->k->distillation(&(struct mase_distillation){ .logits = ce->logits,
                                                    .teacher = o->teacher.data,
                                                    .dlogits = ce->dlogits,
                                                    .loss = ce->loss,
                                                    .C = ce->C,
                                                    .n = ce->n,
                                                    .samples = ce->samples,
                                                    .stride = ce->stride,
                                                    .teacher_stride = o->teacher.stride,
                                                    .keep = 1.0f - o->distill,
                                                    .weight = (float)(o->distill * mean_weight),
                                                    .temperature = o->temperature,
                                                    .scale = ce->scale });
}

static double sum_of_losses(const struct mase_plan *p)
{
    double sum = 0;
    for (int64_t i = 0; i < p->samples; i++)
        sum += p->losses[i];
    return sum;
}

static int64_t count_labels(const int32_t *label, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += label[i] >= 0;
    return count;
}

static void cross_entropy(struct mase_plan *p, struct mase_loss_result *result,
                          const struct mase_targets *targets, const struct mase_loss_opts *o,
                          float scale, double mean_weight)
{
    const int64_t positions = positions_of(o), classes = p->output->rows / positions;
    const int64_t apart = (o->classes_last ? classes : 1) * p->stride;
    struct mase_cross_entropy ce = { .weight = o->class_weight,
                                     .loss = p->losses,
                                     .C = classes,
                                     .n = p->n,
                                     .samples = p->samples,
                                     .stride = (o->classes_last ? 1 : positions) * p->stride,
                                     .scale = scale,
                                     .smoothing = o->smoothing };
    for (int64_t at = 0; at < positions; at++) {
        ce.logits = p->output->x + at * apart;
        ce.dlogits = p->train ? p->output->dx + at * apart : NULL;
        ce.label = targets->label + at * targets->label_stride;
        p->k->cross_entropy(&ce);
        if (o->teacher.data)
            distil(p, o, &ce, mean_weight);
        result->score.part += (double)ce.correct;
        result->score.whole += (double)count_labels(ce.label, p->samples);
        result->loss += sum_of_losses(p);
    }
}

/* ---- numbers ---- */

typedef void pointwise_fn(const struct mase_pointwise_loss *l);

static pointwise_fn *kernel_of(const struct mase_kernels *k, enum mase_loss loss)
{
    pointwise_fn *const of[MASE_LOSS_COUNT] = { [MASE_LOSS_mse] = k->mse,
                                                [MASE_LOSS_l1] = k->l1,
                                                [MASE_LOSS_huber] = k->huber,
                                                [MASE_LOSS_bce] = k->bce };
    return of[loss];
}

static void pointwise(struct mase_plan *p, struct mase_loss_result *result,
                      const struct mase_targets *targets, const struct mase_loss_opts *o,
                      float scale)
{
    const struct mase_lanes output = mase_plan_output(p);
    kernel_of(p->k, o->loss)(&(struct mase_pointwise_loss){ .x = output.data,
                                                            .target = targets->y.data,
                                                            .dx = p->train ? p->output->dx : NULL,
                                                            .loss = p->losses,
                                                            .rows = output.rows,
                                                            .n = p->n,
                                                            .samples = p->samples,
                                                            .stride = p->stride,
                                                            .target_stride = targets->y.stride,
                                                            .scale = scale,
                                                            .delta = o->delta });
    result->loss = sum_of_losses(p);
    if (o->score)
        o->score(&result->score, &output, &targets->y, o, p->samples);
}

/* ---- both ---- */

double mase_plan_weight_sum(const struct mase_plan *p, const struct mase_targets *targets,
                            const struct mase_loss_opts *o)
{
    double sum = 0;
    if (o->own)
        return (double)p->samples;
    if (o->loss != MASE_LOSS_cross_entropy)
        return (double)p->samples * (double)p->output->rows;
    for (int64_t at = 0; at < positions_of(o); at++) {
        const int32_t *label = targets->label + at * targets->label_stride;
        for (int64_t i = 0; i < p->samples; i++)
            if (label[i] >= 0)
                sum += o->class_weight ? o->class_weight[label[i]] : 1;
    }
    return sum;
}

void mase_plan_loss_part(struct mase_plan *p, struct mase_loss_result *result,
                         const struct mase_targets *targets, const struct mase_loss_opts *o,
                         double weight, int64_t samples)
{
    /* where nothing counts there is no gradient */
    const float scale = weight > 0 ? (float)((o->scale > 0 ? o->scale : 1.0f) / weight) : 0.0f;
    result->loss = 0;
    result->score = (struct mase_score){ 0 };
    if (o->loss == MASE_LOSS_cross_entropy)
        cross_entropy(p, result, targets, o, scale, weight / (double)samples);
    else
        pointwise(p, result, targets, o, scale);
}

void mase_plan_loss(struct mase_plan *p, struct mase_loss_result *result,
                    const struct mase_targets *targets, const struct mase_loss_opts *opts)
{
    const struct mase_loss_opts none = { 0 };
    const struct mase_loss_opts *o = opts ? opts : &none;
    result->weight = mase_plan_weight_sum(p, targets, o);
    mase_plan_loss_part(p, result, targets, o, result->weight, p->samples);
}

/* ---- classes, position by position ---- */

/* C outputs at one position of one sample, stride apart. */
struct position {
    const float *y;
    int64_t C, stride, largest; /* largest: the first of the largest */
    int32_t label;
};
typedef void position_fn(struct mase_loss_result *r, const struct position *p);

/* Every position that has a label. */
static void each_position(struct mase_loss_result *r, const struct mase_lanes *output,
                          const struct mase_targets *targets, const struct mase_loss_opts *o,
                          int64_t samples, position_fn *fn)
{
    const int64_t positions = positions_of(o), C = output->rows / positions;
    const int64_t apart = (o->classes_last ? C : 1) * output->stride;
    struct position p = { .C = C, .stride = (o->classes_last ? 1 : positions) * output->stride };
    for (int64_t i = 0; i < samples; i++)
        for (int64_t at = 0; at < positions; at++) {
            p.label = targets->label[at * targets->label_stride + i];
            p.y = output->data + at * apart + i;
            p.largest = 0;
            for (int64_t c = 1; c < C; c++)
                if (p.y[c * p.stride] > p.y[p.largest * p.stride])
                    p.largest = c;
            if (p.label >= 0)
                fn(r, &p);
        }
}

static void count_right(struct mase_loss_result *r, const struct position *p)
{
    r->score.part += p->largest == p->label;
    r->score.whole++;
}

void mase_loss_score(struct mase_loss_result *r, const struct mase_lanes *output,
                     const struct mase_targets *targets, const struct mase_loss_opts *o,
                     int64_t samples)
{
    r->score = (struct mase_score){ 0 };
    if (o->score)
        o->score(&r->score, output, &targets->y, o, samples);
    else if (targets->label)
        each_position(r, output, targets, o, samples, count_right);
}

/* ---- the reference ---- */

static void reference_position(struct mase_loss_result *r, const struct position *p)
{
    const double largest = p->y[p->largest * p->stride];
    double sum = 0;
    for (int64_t c = 0; c < p->C; c++)
        sum += exp((double)p->y[c * p->stride] - largest);
    r->loss += log(sum) + largest - p->y[p->label * p->stride];
    r->weight++;
    count_right(r, p);
}

static double mse(double x, double t, double delta)
{
    (void)delta;
    return (x - t) * (x - t);
}

static double l1(double x, double t, double delta)
{
    (void)delta;
    return fabs(x - t);
}

static double huber(double x, double t, double delta)
{
    const double d = fabs(x - t);
    return d > delta ? delta * (d - delta / 2) : d * d / 2;
}

static double bce(double x, double t, double delta)
{
    (void)delta;
    return (x > 0 ? x : 0) - x * t + log1p(exp(-fabs(x)));
}

void mase_reference_loss(struct mase_loss_result *result, const struct mase_lanes *output,
                         const struct mase_targets *targets, const struct mase_loss_opts *o,
                         int64_t samples)
{
    static double (*const of[MASE_LOSS_COUNT])(double, double, double) = {
        [MASE_LOSS_mse] = mse,
        [MASE_LOSS_l1] = l1,
        [MASE_LOSS_huber] = huber,
        [MASE_LOSS_bce] = bce,
    };
    *result = (struct mase_loss_result){ 0 };
    if (o->loss == MASE_LOSS_cross_entropy) {
        each_position(result, output, targets, o, samples, reference_position);
        return;
    }
    for (int64_t i = 0; i < samples; i++)
        for (int64_t r = 0; r < output->rows; r++)
            result->loss += of[o->loss](output->data[r * output->stride + i],
                                        targets->y.data[r * targets->y.stride + i], o->delta);
    result->weight = (double)samples * (double)output->rows;
    if (o->score)
        o->score(&result->score, output, &targets->y, o, samples);
}
