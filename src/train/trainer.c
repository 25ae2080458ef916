/*
 * trainer.c - create and free a trainer.
 */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include <mase/call.h>
#include <mase/log.h>

#include "base/alloc.h"
#include "base/number.h"
#include "train/content.h"
#include "train/seen.h"

/* ---- class weights ---- */

static void balance(struct mase_trainer *t)
{
    const int classes = mase_dataset_info(t->data)->data.classes;
    int64_t *count = mase_new_array(&t->arena, int64_t, (size_t)classes);
    mase_dataset_balance(t->data, MASE_SPLIT_TRAIN, count);
    double rows = 0;
    for (int c = 0; c < classes; c++)
        rows += (double)count[c];
    for (int c = 0; c < classes; c++)
        t->class_weight[c] = count[c] ? (float)(rows / ((double)classes * (double)count[c])) : 0;
}

static enum mase_status parse_weights(struct mase_trainer *t, const char *text,
                                      struct mase_err *err)
{
    const int classes = mase_dataset_info(t->data)->data.classes;
    const char *p = text;
    int n = 0;
    for (char *end; *p; p = *end ? end + 1 : end) {
        const double w = mase_number_read(p, &end);
        if (end == p || (*end && *end != ',') || !(w >= 0) || !isfinite((float)w) ||
            (w > 0 && (float)w == 0))
            return mase_fail(err, MASE_EVALUE,
                             "class_weights = '%s': expected 'balanced' or %d numbers from 0 up "
                             "with commas between them",
                             text, classes);
        if (n < classes)
            t->class_weight[n] = (float)w;
        n++;
    }
    if (n != classes)
        return mase_fail(err, MASE_EVALUE, "class_weights = '%s' has %d numbers for %d classes",
                         text, n, classes);
    return MASE_OK;
}

static enum mase_status set_class_weights(struct mase_trainer *t, struct mase_err *err)
{
    const char *text = t->opts.class_weights;
    if (!text)
        return MASE_OK;
    const size_t classes = (size_t)mase_dataset_info(t->data)->data.classes;
    t->class_weight = mase_new_array(&t->arena, float, classes);
    if (!mase_streq(text, "balanced"))
        return parse_weights(t, text, err);
    balance(t);
    return MASE_OK;
}

/* ---- rows ---- */

static bool has_batch_norm(const struct mase_graph *g)
{
    for (const struct mase_module *m = g->modules; m; m = m->next)
        if (mase_module_param(m, "running_mean"))
            return true;
    return false;
}

/* Drop a last batch of one sample: batch norm cannot train on it, since it has no variance. */
static void leave_out_single(struct mase_trainer *t)
{
    const int64_t last = t->rows % t->opts.batch_size;
    if (last != 1 || t->rows == 1 || !has_batch_norm(t->trained))
        return;
    mase_warn("the last batch of an epoch would be one sample, on which a batch norm cannot train: "
              "it is left out");
    t->rows--;
}

static enum mase_status set_rows(struct mase_trainer *t, struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(t->data);
    const int64_t all = mase_dataset_split(t->data, MASE_SPLIT_TRAIN).count;
    if (all == 0)
        return mase_fail(err, MASE_EVALUE, "the train split of %s is empty", info->data.name);
    if (!mase_dataset_split(t->data, MASE_SPLIT_VALIDATION).count)
        return mase_fail(err, MASE_EVALUE, "the validation split of %s is empty", info->data.name);
    if (has_batch_norm(t->trained) && (t->opts.batch_size == 1 || all == 1))
        return mase_fail(err, MASE_EVALUE,
                         "batches of one sample: the batch norms of the network need at least 2");
    t->rows = all;
    leave_out_single(t);
    if (t->opts.dev_run && t->rows > t->opts.batch_size)
        t->rows = t->opts.batch_size;
    t->batches = (t->rows + t->opts.batch_size - 1) / t->opts.batch_size;
    t->steps = (t->batches + t->opts.accumulate - 1) / t->opts.accumulate;
    t->order = mase_xcalloc((size_t)all * sizeof *t->order);
    t->shuffled = -1;
    return MASE_OK;
}

/* ---- targets ---- */

/* The names under which checkpoints have task and loss. */
static enum mase_status set_objective(struct mase_trainer *t, struct mase_err *err)
{
    struct mase_objective usual;
    MASE_TRY(mase_train_objective(&t->objective, &t->opts, err));
    t->opts.task = t->objective.task->name;
    MASE_TRY(mase_objective_find(&usual, t->opts.task, NULL, 0, err));
    if (usual.loss == t->objective.loss && !t->objective.own)
        t->opts.loss = NULL;
    return MASE_OK;
}

void mase_trainer_drop_targets(struct mase_trainer *t)
{
    for (int k = 0; k < t->target_tiles; k++)
        mase_target_buffer_release(&t->target[k]);
    mase_target_source_release(&t->targets);
    mase_xfree(t->target);
    t->target = NULL;
    t->target_tiles = 0;
}

enum mase_status mase_trainer_find_targets(struct mase_trainer *t, struct mase_err *err)
{
    const struct mase_shape result = mase_predictor_result(t->validator);
    mase_trainer_drop_targets(t);
    MASE_TRY(mase_target_source_init(&t->targets, &t->objective, t->data, &result, err));
    if (t->targets.to_free) { /* shared by all phases and validations */
        t->own_graph = t->objective.own_graph = t->targets.to_free;
        t->targets.to_free = NULL;
        mase_content_of_graph(t->loss_hash, t->own_graph);
    }
    const int classes = mase_dataset_info(t->data)->data.classes;
    if (t->class_weight && t->validator->outputs / t->targets.positions != classes)
        return mase_fail(err, MASE_EVALUE,
                         "class_weights are for the %d classes of %s, but the network tells %lld",
                         classes, mase_dataset_info(t->data)->data.name,
                         (long long)(t->validator->outputs / t->targets.positions));
    mase_target_source_score(&t->targets, mase_dataset_split(t->data, MASE_SPLIT_TRAIN));
    return MASE_OK;
}

void mase_trainer_hold_targets(struct mase_trainer *t, int tiles)
{
    t->target_tiles = tiles;
    t->target = mase_xcalloc((size_t)tiles * sizeof *t->target);
    for (int k = 0; k < tiles; k++)
        mase_target_buffer_init(&t->target[k], &t->targets, t->plan->batch);
}

/* ---- inputs ---- */

/* Plans hold truth values as floats and cannot check this. */
static enum mase_status check_inputs(const struct mase_trainer *t, struct mase_err *err)
{
    const struct mase_inputs *in = &t->validator->inputs;
    const int64_t rows = mase_dataset_info(t->data)->rows;
    int64_t first = 0, each;
    for (int i = 0; i < in->count; i++, first += each) {
        const struct mase_tensor *x = &in->item[i].tensor;
        each = mase_shape_count(&x->shape) / x->shape.dim[0];
        for (int64_t r = 0; r < rows && t->table.data && x->dtype == MASE_DTYPE_BOOL; r++)
            MASE_TRY(mase_input_check(&in->item[i], t->table.data + r * t->table.stride + first, 1,
                                      each, err));
    }
    return MASE_OK;
}

/* ---- create, free ---- */

static void release(struct mase_trainer *t)
{
    mase_optimizer_release(&t->optim);
    mase_trainer_forget_average(t);
    mase_trainer_drop_teacher(t);
    mase_trainer_leave_phase(t);
    mase_trainer_drop_targets(t);
    mase_graph_free(t->own_graph);
    mase_xfree(t->order);
    mase_arena_release(&t->arena);
    mase_xfree(t);
}

struct making {
    struct mase_trainer *t;
    struct mase_graph *g;
    const struct mase_dataset *d;
    const struct mase_train_opts *o;
};

static enum mase_status make(void *data, struct mase_err *err)
{
    struct making *m = data;
    struct mase_graph *g = m->g;
    const struct mase_dataset *d = m->d;
    const struct mase_train_opts *o = m->o;
    struct mase_trainer *t = mase_xcalloc(sizeof *t);
    enum mase_status st;
    t->graph = t->evaluated = t->trained = g;
    t->data = d;
    t->opts = *o;
    if (o->dev_run)
        t->opts.max_epochs = 1;
    t->table = mase_dataset_table(d);
    t->state.best_loss = t->state.plateau_loss = INFINITY;
    t->state.best_epoch = -1;
    if ((st = set_objective(t, err)) || (st = mase_graph_to_train(&t->trained, g, err)) ||
        (st = set_rows(t, err)) || (st = set_class_weights(t, err)) ||
        (st = mase_trainer_check_phases(t, err)) || (st = mase_trainer_enter_phase(t, err)) ||
        (st = check_inputs(t, err)) || (st = mase_trainer_start_pruning(t, err))) {
        release(t);
        return st;
    }
    t->seen = mase_seen_of(&t->arena, d, mase_dataset_split(d, MASE_SPLIT_TRAIN));
    m->t = t;
    return MASE_OK;
}

enum mase_status mase_trainer_new(struct mase_trainer **out, struct mase_graph *g,
                                  const struct mase_dataset *d, const struct mase_train_opts *o,
                                  struct mase_err *err)
{
    struct making m = { NULL, g, d, o };
    struct mase_heap *heap = mase_heap_new();
    const enum mase_status st = mase_heap_run(heap, make, &m, err);
    if (st) {
        mase_heap_free(heap);
        return st;
    }
    m.t->heap = heap;
    *out = m.t;
    return MASE_OK;
}

void mase_trainer_free(struct mase_trainer *t)
{
    if (!t)
        return;
    struct mase_heap *heap = t->heap;
    if (!mase_heap_broken(heap)) /* a corrupt heap may hold invalid pointers */
        release(t);
    mase_heap_free(heap);
}

enum mase_status mase_trainer_check(const struct mase_trainer *t, struct mase_err *err)
{
    if (!mase_heap_broken(t->heap))
        return MASE_OK;
    return mase_fail(
        err, MASE_EVALUE,
        "this training ended in the middle of a step, for want of memory or by a fault "
        "of the library; it cannot go on");
}

const struct mase_train_state *mase_trainer_state(const struct mase_trainer *t)
{
    return &t->state;
}

const struct mase_objective *mase_trainer_objective(const struct mase_trainer *t)
{
    return &t->objective;
}

int64_t mase_trainer_batches(const struct mase_trainer *t)
{
    return t->batches;
}

const struct mase_plan *mase_trainer_plan(const struct mase_trainer *t)
{
    return t->plan;
}

const struct mase_graph *mase_trainer_graph(const struct mase_trainer *t)
{
    return t->evaluated;
}

int mase_trainer_threads(const struct mase_trainer *t)
{
    return t->threads;
}

bool mase_trainer_learns_bits(const struct mase_trainer *t)
{
    for (const struct mase_node *n = t->graph->first; n; n = n->next) {
        const struct mase_quant *q = mase_node_quant(n);
        for (int o = 0; q && !q->bypass && o < MASE_OPERAND_COUNT; o++)
            if (mase_learns_bits(q->operand[o]))
                return true;
    }
    return false;
}

/* ---- parameters ---- */

struct listing {
    struct mase_arena *arena;
    struct mase_train_param *item;
    int count, cap;
    int64_t at;
};

static bool list_param(const char *full, struct mase_param *param, void *data)
{
    struct listing *l = data;
    l->item = mase_arena_grow(l->arena, l->item, l->count, &l->cap, sizeof *l->item);
    struct mase_train_param *p = &l->item[l->count++];
    *p = (struct mase_train_param){ mase_arena_strdup(l->arena, full), param, -1 };
    if (mase_param_is_trained(param) && !param->tied) {
        p->at = l->at;
        l->at += (mase_tensor_count(&param->tensor) + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    }
    return true;
}

struct mase_train_param *mase_trainer_params(const struct mase_trainer *t, struct mase_arena *a,
                                             int *count)
{
    struct listing l = { .arena = a };
    mase_graph_each_param(t->trained, list_param, &l);
    if (l.at != t->optim.params.n)
        mase_bug("%lld parameters in the graph, %lld in its plan", (long long)l.at,
                 (long long)t->optim.params.n);
    *count = l.count;
    return l.item;
}
