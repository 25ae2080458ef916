/*
 * targets.c - targets of samples, as a plan's loss wants them: labels by positions, or numbers in
 * lanes as the outputs are.
 */
#include "evaluate/targets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"
#include "frontend/loss_source.h"
#include "ir/shape/shape.h"

enum { ROWS_AT_ONCE = 256 };

/* ---- does the network fit? ---- */

static const char *shape_text(struct mase_str *s, const struct mase_shape *shape)
{
    mase_str_clear(s);
    mase_shape_print(s, shape);
    return mase_str_text(s);
}

static enum mase_status fit_class(struct mase_target_source *s, const struct mase_shape *result,
                                  struct mase_err *err)
{
    const struct mase_data_info *info = &mase_dataset_info(s->data)->data;
    const int64_t outputs = mase_shape_count(result);
    if (s->objective.loss == MASE_LOSS_cross_entropy) {
        s->positions = 1;
        if (outputs == info->classes)
            return MASE_OK;
        return mase_fail(err, MASE_EVALUE, "the network has %lld outputs, but %s has %d classes",
                         (long long)outputs, info->name, info->classes);
    }
    s->width = 1;
    if (info->classes != 2)
        return mase_fail(err, MASE_EVALUE,
                         "task %s is about two classes, but %s has %d; task cls takes any number",
                         s->objective.task->name, info->name, info->classes);
    if (outputs == 1)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "the network has %lld outputs; for task %s it has one, positive for class %s",
                     (long long)outputs, s->objective.task->name,
                     mase_dataset_info(s->data)->class_names[1]);
}

/* Labels of 0 or 1, each for itself. */
static enum mase_status check_bits(const struct mase_target_source *s, struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(s->data);
    const float *y = mase_dataset_targets(s->data);
    for (int64_t i = 0; i < info->rows * s->width; i++)
        if (y[i] != 0 && y[i] != 1)
            return mase_fail(err, MASE_EVALUE,
                             "%s: a value of target %s is %g; labels of task %s are 0 or 1",
                             info->data.name, info->target_names[i % s->width], (double)y[i],
                             s->objective.task->name);
    return MASE_OK;
}

static enum mase_status fit_numbers(struct mase_target_source *s, const struct mase_shape *result,
                                    struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(s->data);
    const int64_t outputs = mase_shape_count(result);
    s->width = info->data.targets;
    if (outputs != s->width)
        return mase_fail(
            err, MASE_EVALUE, "the network has %lld outputs, but %s has %lld target%s for a sample",
            (long long)outputs, info->data.name, (long long)s->width, s->width == 1 ? "" : "s");
    return s->objective.loss == MASE_LOSS_bce ? check_bits(s, err) : MASE_OK;
}

static enum mase_status fit_input(struct mase_target_source *s, const struct mase_shape *result,
                                  struct mase_err *err)
{
    const struct mase_data_info *info = &mase_dataset_info(s->data)->data;
    const int64_t outputs = mase_shape_count(result);
    s->width = mase_shape_count(&info->sample);
    if (outputs == s->width)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "the network has %lld outputs; to give back a sample of %s it needs %lld",
                     (long long)outputs, info->name, (long long)s->width);
}

/* The output is (classes, positions as the map has them). */
static enum mase_status fit_map(struct mase_target_source *s, const struct mase_shape *result,
                                struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(s->data);
    const struct mase_shape *map = &info->target;
    bool fit = result->rank == map->rank + 1 && result->dim[0] >= info->data.classes;
    for (int i = 0; fit && i < map->rank; i++)
        fit = result->dim[i + 1] == map->dim[i];
    s->positions = info->data.targets;
    if (fit)
        return MASE_OK;
    struct mase_str got = { 0 }, want = { 0 };
    const enum mase_status st = mase_fail(
        err, MASE_EVALUE,
        "the network gives %s for a sample; for the maps %s of %s it has to give its "
        "classes, at least %d, at each position: [classes, positions]",
        shape_text(&got, result), shape_text(&want, map), info->data.name, info->data.classes);
    mase_str_release(&got);
    mase_str_release(&want);
    return st;
}

static enum mase_status check_tokens(const struct mase_target_source *s, int64_t tokens,
                                     struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(s->data);
    const struct mase_table_view t = mase_dataset_table(s->data);
    for (int64_t i = 0; i < info->rows * t.stride; i++) {
        const bool token = i % t.stride < s->positions; /* not of a further input */
        if (token &&
            (!(t.data[i] >= 0 && t.data[i] < (float)tokens) || t.data[i] != floorf(t.data[i])))
            return mase_fail(
                err, MASE_EVALUE,
                "%s: a token is %g; the network has outputs for the whole numbers from "
                "0 to %lld",
                info->data.name, (double)t.data[i], (long long)tokens - 1);
    }
    return MASE_OK;
}

/* The output is (positions, tokens). The token after the last position is unknown. */
static enum mase_status fit_next(struct mase_target_source *s, const struct mase_shape *result,
                                 struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(s->data);
    const struct mase_shape *sample = &info->data.sample;
    s->positions = mase_shape_count(sample);
    if (!mase_dataset_table(s->data).data || sample->rank != 1 || s->positions < 2 ||
        info->scaling.n)
        return mase_fail(err, MASE_EVALUE,
                         "task %s needs samples of tokens: rows of two or more whole numbers that "
                         "are not scaled; %s has none",
                         s->objective.task->name, info->data.name);
    if (result->rank == 2 && result->dim[0] == s->positions)
        return check_tokens(s, result->dim[1], err);
    struct mase_str got = { 0 };
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE,
                  "the network gives %s for a sample; for the %lld tokens of a sample of %s it has "
                  "to give [%lld, tokens]",
                  shape_text(&got, result), (long long)s->positions, info->data.name,
                  (long long)s->positions);
    mase_str_release(&got);
    return st;
}

void mase_target_source_release(struct mase_target_source *s)
{
    mase_xfree(s->mean);
    mase_graph_free(s->to_free);
    s->mean = NULL;
    s->own = s->to_free = NULL;
}

const double *mase_target_unit(const struct mase_target_source *s)
{
    const struct mase_scaling *scaling = &mase_dataset_info(s->data)->target_scaling;
    return scaling->n && s->objective.task->target == MASE_TASK_NUMBERS ? scaling->std : NULL;
}

struct mase_loss_opts mase_target_loss(const struct mase_target_source *s)
{
    return (struct mase_loss_opts){
        .loss = s->objective.loss,
        .positions = s->positions,
        .classes_last = s->objective.task->target == MASE_TASK_NEXT,
        .delta = (float)s->objective.delta,
        .score = s->objective.task->sums,
        .target_mean = s->mean,
        .target_unit = mase_target_unit(s),
    };
}

/* ---- a loss of one's own ---- */

/* The target of a sample: a class, classes at positions, or numbers in the shape of the output. */
static struct mase_tensor target_of(const struct mase_target_source *s)
{
    struct mase_tensor t = { .dtype = s->positions ? MASE_I64 : MASE_F32 };
    if (!s->positions)
        t.shape = s->result;
    else if (s->objective.task->target == MASE_TASK_MAP)
        t.shape = mase_shape_part(&s->result, 1, s->result.rank);
    return t;
}

/* Its graph: the objective's, or one of the source's own. */
static enum mase_status open_own(struct mase_target_source *s, struct mase_err *err)
{
    const struct mase_data_info output = { .name = mase_dataset_info(s->data)->data.name,
                                           .sample = s->result,
                                           .classes = mase_dataset_info(s->data)->data.classes };
    const struct mase_tensor target = target_of(s);
    s->own = s->objective.own_graph;
    if (s->own || !s->objective.own)
        return MASE_OK;
    MASE_TRY(mase_loss_open(&s->to_free, s->objective.own, &output, &target, err));
    s->own = s->to_free;
    return MASE_OK;
}

enum mase_status mase_target_own_loss(struct mase_own_loss **out,
                                      const struct mase_target_source *s, int64_t batch, int tiles,
                                      bool train, struct mase_err *err)
{
    const struct mase_tensor target = target_of(s);
    struct mase_own_loss_opts o = { .graph = s->own,
                                    .output = s->result,
                                    .target = target.shape,
                                    .target_type = target.dtype,
                                    .batch = batch,
                                    .tiles = tiles,
                                    .train = train };
    *out = NULL;
    if (!s->own)
        return MASE_OK;
    if (train)
        MASE_TRY(mase_graph_to_train(&o.graph, s->own, err));
    return mase_own_loss_new(out, &o, err);
}

/* ---- loading ---- */

void mase_target_buffer_init(struct mase_target_buffer *b, const struct mase_target_source *s,
                             int64_t samples)
{
    *b = (struct mase_target_buffer){ .stride =
                                          (samples + MASE_LANES - 1) / MASE_LANES * MASE_LANES };
    if (s->positions)
        b->label = mase_xcalloc((size_t)(s->positions * b->stride) * sizeof *b->label);
    else
        b->y = mase_plan_floats(s->width * b->stride);
}

void mase_target_buffer_release(struct mase_target_buffer *b)
{
    mase_xfree(b->label);
    mase_aligned_free(b->y);
    *b = (struct mase_target_buffer){ 0 };
}

static void load_classes(const struct mase_target_buffer *b, const struct mase_target_source *s,
                         const uint32_t *row, int64_t n, struct mase_lanes x)
{
    (void)x;
    const int32_t *labels = mase_dataset_labels(s->data), *map = s->class_map;
    for (int64_t i = 0; i < n; i++) {
        const int32_t label = map ? map[labels[row[i]]] : labels[row[i]];
        if (b->label)
            b->label[i] = label;
        else
            b->y[i] = (float)label;
    }
}

static void load_numbers(const struct mase_target_buffer *b, const struct mase_target_source *s,
                         const uint32_t *row, int64_t n, struct mase_lanes x)
{
    (void)x;
    const float *y = mase_dataset_targets(s->data);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < s->width; k++)
            b->y[k * b->stride + i] = y[(int64_t)row[i] * s->width + k];
}

static void load_inputs(const struct mase_target_buffer *b, const struct mase_target_source *s,
                        const uint32_t *row, int64_t n, struct mase_lanes x)
{
    (void)row;
    for (int64_t k = 0; k < s->width; k++)
        memcpy(b->y + k * b->stride, x.data + k * x.stride, (size_t)n * sizeof *b->y);
}

static void load_map(const struct mase_target_buffer *b, const struct mase_target_source *s,
                     const uint32_t *row, int64_t n, struct mase_lanes x)
{
    (void)x;
    const float *y = mase_dataset_targets(s->data);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < s->positions; k++)
            b->label[k * b->stride + i] = (int32_t)y[(int64_t)row[i] * s->positions + k];
}

static void load_next(const struct mase_target_buffer *b, const struct mase_target_source *s,
                      const uint32_t *row, int64_t n, struct mase_lanes x)
{
    (void)row;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < s->positions; k++)
            b->label[k * b->stride + i] =
                k + 1 < s->positions ? (int32_t)x.data[(k + 1) * x.stride + i] : -1;
}

/* ---- by kinds ---- */

static const struct {
    enum mase_status (*fit)(struct mase_target_source *s, const struct mase_shape *result,
                            struct mase_err *err);
    void (*load)(const struct mase_target_buffer *b, const struct mase_target_source *s,
                 const uint32_t *row, int64_t n, struct mase_lanes x);
} kinds[] = {
    [MASE_TASK_CLASS] = { fit_class, load_classes },
    [MASE_TASK_NUMBERS] = { fit_numbers, load_numbers },
    [MASE_TASK_INPUT] = { fit_input, load_inputs },
    [MASE_TASK_MAP] = { fit_map, load_map },
    [MASE_TASK_NEXT] = { fit_next, load_next },
};

/* Was the dataset opened for the task? */
static enum mase_status check_data(const struct mase_target_source *s, struct mase_err *err)
{
    const enum mase_target_kind wanted = mase_task_reads(s->objective.task);
    const bool has = wanted == MASE_TARGET_NONE    ? true
                     : wanted == MASE_TARGET_CLASS ? mase_dataset_labels(s->data) != NULL
                                                   : mase_dataset_targets(s->data) != NULL;
    if (has)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "%s was not opened for task %s: it has no %s",
                     mase_dataset_info(s->data)->data.name, s->objective.task->name,
                     wanted == MASE_TARGET_CLASS ? "classes" : "targets");
}

enum mase_status mase_target_source_init(struct mase_target_source *s,
                                         const struct mase_objective *o,
                                         const struct mase_dataset *d,
                                         const struct mase_shape *result, struct mase_err *err)
{
    *s = (struct mase_target_source){ .objective = *o, .data = d, .result = *result };
    MASE_TRY(check_data(s, err));
    MASE_TRY(kinds[o->task->target].fit(s, result, err));
    return open_own(s, err);
}

struct mase_targets mase_targets_load(const struct mase_target_buffer *b,
                                      const struct mase_target_source *s, const uint32_t *row,
                                      int64_t n, struct mase_lanes x)
{
    kinds[s->objective.task->target].load(b, s, row, n, x);
    return (struct mase_targets){ .label = b->label,
                                  .label_stride = b->stride,
                                  .y = { b->y, s->width, b->stride } };
}

/* ---- the mean ---- */

/* n rows of a dataset in lanes, as they are evaluated. */
static void load_samples(struct mase_lanes x, const struct mase_dataset *d, const uint32_t *row,
                         int64_t n)
{
    mase_dataset_batch(
        d, &(struct mase_batch){
               .row = row, .n = n, .x = x.data, .feature_stride = x.stride, .sample_stride = 1 });
}

void mase_target_source_score(struct mase_target_source *s, struct mase_split_rows rows)
{
    const int64_t features = mase_data_features(&mase_dataset_info(s->data)->data);
    const bool inputs = s->objective.task->target == MASE_TASK_INPUT;
    mase_xfree(s->mean);
    s->mean = NULL;
    if (!s->width)
        return;
    struct mase_target_buffer b;
    mase_target_buffer_init(&b, s, ROWS_AT_ONCE);
    struct mase_lanes x = { NULL, features, ROWS_AT_ONCE };
    if (inputs)
        x.data = mase_plan_floats(features * ROWS_AT_ONCE);
    s->mean = mase_xcalloc((size_t)s->width * sizeof *s->mean);
    for (int64_t from = 0; from < rows.count; from += ROWS_AT_ONCE) {
        const int64_t left = rows.count - from, n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        if (inputs)
            load_samples(x, s->data, rows.row + from, n);
        mase_targets_load(&b, s, rows.row + from, n, x);
        for (int64_t k = 0; k < s->width; k++)
            for (int64_t i = 0; i < n; i++)
                s->mean[k] += b.y[k * b.stride + i];
    }
    for (int64_t k = 0; k < s->width && rows.count; k++)
        s->mean[k] /= (double)rows.count;
    mase_aligned_free(x.data);
    mase_target_buffer_release(&b);
}
