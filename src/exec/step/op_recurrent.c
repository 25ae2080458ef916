/*
 * op_recurrent.c - recurrent layers: a step for each layer and direction (recurrence.c), and maps
 * that pick output, h and c from their results.
 */
#include <string.h>

#include "exec/plan/plan_parts.h"
#include "exec/step/dropout.h"
#include "exec/step/plan_formats.h"
#include "exec/step/recurrence.h"
#include "exec/step/rowmap.h"

static const struct mase_step_kind map_kind = { .name = "recurrent map" };
static const struct mase_step_kind drop_kind = { .name = "recurrent dropout" };

/* Rows first .. first + count of input number `input` become rows at .. of the step's result. */
static void map_rows(struct mase_step *s, struct mase_term_list *l, int input, int64_t at,
                     int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        mase_rowmap_add(s, l,
                        (struct mase_term){ input, (int32_t)(at + i), (int32_t)(first + i), 1.0f });
}

/* Concatenate the outputs of both directions, step by step. */
static void map_output(struct mase_step *s, struct mase_slot *const *slot,
                       const struct mase_sequence *q)
{
    const struct mase_recurrent *r = &q->layer;
    struct mase_term_list terms = { 0 };
    for (int d = 0; d < r->directions; d++) {
        mase_step_add_input(s, slot[d]);
        for (int64_t t = 0; t < q->steps; t++)
            map_rows(s, &terms, d, (t * r->directions + d) * r->state, t * r->state, r->state);
    }
    mase_rowmap_set(s, &terms, 1, NULL);
}

/* The last h, or c, of every layer and direction. */
static void map_state(struct mase_step *s, struct mase_slot *const *slot,
                      const struct mase_sequence *q, bool cell)
{
    const struct mase_recurrent *r = &q->layer;
    struct mase_term_list terms = { 0 };
    const int64_t count = cell ? r->hidden : r->state;
    for (int i = 0; i < r->layers * r->directions; i++) {
        const bool reverse = r->directions == 2 && i % 2;
        const int64_t last = cell ? q->steps : reverse ? 0 : q->steps - 1;
        mase_step_add_input(s, slot[i]);
        map_rows(s, &terms, i, i * count, last * r->state, count);
    }
    mase_rowmap_set(s, &terms, 1, NULL);
}

/* ---- layers ---- */

static struct mase_shape sequence_shape(const struct mase_step *s, int64_t rows)
{
    return (struct mase_shape){ 2, { s->plan->batch, rows } };
}

/* The part of a first state that belongs to a layer and direction; NULL: zeros. */
static enum mase_status part_of_state(struct mase_step *s, struct mase_slot **part,
                                      const struct mase_tensor *state, int64_t rows, int at,
                                      struct mase_err *err)
{
    *part = NULL;
    if (!state)
        return MASE_OK;
    const struct mase_shape shape = sequence_shape(s, rows);
    struct mase_step *pick = mase_step_before(s, &map_kind, &shape);
    struct mase_term_list terms = { 0 };
    MASE_TRY(mase_step_operand(pick, state, err));
    map_rows(pick, &terms, 0, 0, at * rows, rows);
    mase_rowmap_set(pick, &terms, 1, NULL);
    mase_plan_add_step(s->plan, pick);
    *part = pick->out;
    return MASE_OK;
}

/* The input of the next layer: both directions, with dropout in training. */
static enum mase_status between(struct mase_step *s, struct mase_slot **x,
                                struct mase_slot *const *slot, const struct mase_sequence *q,
                                int layer, struct mase_err *err)
{
    const struct mase_recurrent *r = &q->layer;
    const struct mase_shape shape = sequence_shape(s, q->steps * r->state * r->directions);
    struct mase_step *join = mase_step_before(s, &map_kind, &shape);
    map_output(join, slot, q);
    mase_plan_add_step(s->plan, join);
    *x = join->out;
    if (r->dropout == 0.0 || !mase_call_training(s->call, "training", s->plan->train))
        return MASE_OK;
    if (!s->plan->train)
        return mase_call_fail(s->call, err,
                              "drops out in evaluation too, so results would be random");
    struct mase_step *drop = mase_step_before(s, &drop_kind, &shape);
    drop->result_index = layer;
    mase_step_add_input(drop, *x);
    MASE_TRY(mase_dropout_set(drop, r->dropout, 1, err));
    mase_plan_add_step(s->plan, drop);
    *x = drop->out;
    return MASE_OK;
}

static const struct mase_step_kind zero_kind = { .name = "recurrent zeros" };

static void clear(const struct mase_step *s, long from, long to)
{
    for (int64_t r = 0; r < s->out->rows; r++)
        memset(s->out->x + r * s->plan->stride + from, 0, (size_t)(to - from) * sizeof(float));
}

/* A first state that was not given: nothing, or zeros where rounding makes more of them. */
static struct mase_slot *zero_state(struct mase_step *s, int64_t rows)
{
    const struct mase_rounding how = s->call->factors;
    if (mase_format_keeps_zero(how.format))
        return NULL;
    const struct mase_shape shape = sequence_shape(s, rows);
    struct mase_step *zeros = mase_step_before(s, &zero_kind, &shape);
    mase_step_forward(zeros, clear, MASE_UNIT_LANES, 0);
    mase_plan_add_step(s->plan, zeros);
    return zeros->out;
}

static enum mase_status add_layers(struct mase_step *s, struct mase_slot **slot,
                                   const struct mase_sequence *q, struct mase_err *err)
{
    const struct mase_recurrent *r = &q->layer;
    struct mase_slot *x = mase_step_slot(s, q->x);
    for (int l = 0; l < r->layers; l++) {
        for (int d = 0; d < r->directions; d++) {
            const int at = l * r->directions + d;
            struct mase_recurrence_inputs in = { .x = x };
            MASE_TRY(part_of_state(s, &in.h, q->h, r->state, at, err));
            if (!in.h)
                in.h = zero_state(s, r->state);
            MASE_TRY(part_of_state(s, &in.c, q->c, r->hidden, at, err));
            MASE_TRY(mase_recurrence_add(s, &slot[at], q, &in, l, d, err));
        }
        if (l + 1 < r->layers)
            MASE_TRY(between(s, &x, slot + l * r->directions, q, l, err));
    }
    return MASE_OK;
}

/* The layers of a call are planned with its first result; the others find them. */
static void find_layers(const struct mase_step *s, struct mase_slot **slot, int count)
{
    for (int i = s->plan->step_count - 1; count > 0 && i >= 0; i--)
        if (s->plan->step[i]->node == s->node && mase_is_recurrence(s->plan->step[i]))
            slot[--count] = s->plan->step[i]->out;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct mase_sequence q;
    MASE_TRY(mase_sequence_read(&q, c, err));
    const struct mase_recurrent *r = &q.layer;
    if (!q.batched)
        return mase_call_fail(c, err, "a plan needs an input with a dimension of samples");
    const struct mase_slot *x = mase_step_slot(s, q.x);
    if (!x || !x->lanes || x->axis != (r->single || r->batch_first ? 0 : 1))
        return mase_call_fail(
            c, err, "takes dimension %d as samples (batch_first=%s), but the batch is %s",
            r->single || r->batch_first ? 0 : 1, r->batch_first ? "True" : "False",
            x && x->lanes ? "another" : "none");
    const char *why = mase_quantise_refusal(s->plan, s->call->factors);
    if (why)
        return mase_call_fail(c, err, "%s", why);
    const struct mase_format *f = mase_mark_rounding(s->node, 's').format;
    if (s->plan->train && mase_format_breaks_zeros(f))
        return mase_call_fail(c, err, "%s makes NaN of zeros, which a plan needs to train it",
                              f->row->name);
    const int count = r->layers * r->directions;
    struct mase_slot **slot = mase_new_array(&s->plan->arena, struct mase_slot *, (size_t)count);
    if (s->result_index)
        find_layers(s, slot, count);
    else
        MASE_TRY(add_layers(s, slot, &q, err));
    const int state = s->result_index - (r->single ? 0 : 1); /* -1: output, 0: h, 1: c */
    if (state < 0)
        map_output(s, slot + (r->layers - 1) * r->directions, &q);
    else
        map_state(s, slot, &q, state == 1);
    return MASE_OK;
}

const struct mase_step_kind mase_step_recurrent = { .name = "recurrent",
                                                    .prepare = prepare,
                                                    .axes = MASE_AXES_ANY };
