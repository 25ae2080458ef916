/*
 * place.c - where values and gradients lie: one block, reused as lifetimes allow.
 *
 * Time runs over the steps forward, 0 .. S - 1, and backward, step i again at 2 S - 1 - i. A value
 * lives until its last reader; in training, until the last backward that reads it. A gradient lives
 * from its first contribution (the backward of its last reader) to the backward of its step. Steps
 * that go element by element work in place where they can. Buffers are placed first fit in the
 * order of birth.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limit.h"
#include "exec/plan/plan_parts.h"

struct buffer {
    float **to; /* set to the place */
    int64_t size, at;
    int born, dies;
};

struct placing {
    struct buffer *buffer;
    int count, cap;
};

/* Whole vectors, so that what follows is aligned. */
static int64_t padded(int64_t n)
{
    return (n + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

void mase_to_lanes(struct mase_lanes y, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < y.rows; r++)
            y.data[r * y.stride + i] = x[i * y.rows + r];
}

void mase_from_lanes(float *y, struct mase_lanes x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < x.rows; r++)
            y[i * x.rows + r] = x.data[r * x.stride + i];
}

float *mase_plan_floats(int64_t n)
{
    return mase_aligned_calloc((size_t)padded(n) * sizeof(float));
}

static struct mase_slot *root(struct mase_slot *s)
{
    return s->alias_of ? s->alias_of : s;
}

static int backward_time(const struct mase_plan *p, int step)
{
    return 2 * p->step_count - 1 - step;
}

/* Walk backward: which gradients are wanted, who stores first and who adds. */
static void plan_gradients(struct mase_plan *p)
{
    for (int i = 0; i < p->slot_count; i++) { /* what a derived plan collects is no result */
        if (!p->slot[i]->is_result)
            continue;
        root(p->slot[i])->has_grad = true;
        root(p->slot[i])->grad_born = p->step_count;
    }
    for (int i = p->step_count - 1; i >= 0; i--) {
        struct mase_step *s = p->step[i];
        if (!root(s->out)->has_grad || !s->out->needs_grad)
            s->backward.count = 0; /* no gradient reaches the result, or none is needed */
        for (int j = 0; j < s->in_count; j++) {
            struct mase_slot *in = root(s->in[j]);
            if (!s->backward.count || !in->needs_grad)
                continue;
            s->add[j] = in->has_grad;
            if (!in->has_grad)
                in->grad_born = backward_time(p, i);
            in->has_grad = true;
        }
    }
}

/* The last use of a weight that the loss depends on. */
static void plan_weight(struct mase_weight *w)
{
    const struct mase_use *use = w->uses;
    while (use && !use->step->backward.count)
        use = use->next;
    w->last = use ? use->step : NULL;
}

static void plan_weights(struct mase_plan *p)
{
    for (int i = 0; i < p->weight_count; i++)
        plan_weight(&p->weight[i]);
    for (int i = 0; i < p->number_count; i++)
        plan_weight(p->numbers[i]);
    for (int i = 0; i < p->copy_count; i++)
        plan_weight(p->copies[i]);
}

static void live_until(struct mase_slot *s, int time)
{
    struct mase_slot *r = root(s);
    if (time > r->dies)
        r->dies = time;
}

static void plan_lives(struct mase_plan *p)
{
    for (int i = 0; i < p->step_count; i++) {
        struct mase_step *s = p->step[i];
        if (!s->out->alias_of)
            s->out->born = s->out->dies = i;
        const int last = p->train && s->backward.count ? backward_time(p, i) : i;
        live_until(s->out, s->kind->forgets_out ? i : last);
        for (int j = 0; j < s->in_count; j++)
            live_until(s->in[j], s->kind->forgets_in ? i : last);
    }
    for (int i = 0; i < p->slot_count; i++)
        p->slot[i]->grad_dies = backward_time(p, p->slot[i]->born);
    const int end = 2 * p->step_count;
    for (int i = 0; i < p->slot_count; i++) {
        if (!p->slot[i]->is_result)
            continue;
        live_until(p->slot[i], end);
        root(p->slot[i])->grad_dies = end;
    }
    for (int i = 0; i < p->input_count; i++)
        live_until(p->input[i], end); /* filled before time 0; never reused */
}

/* Could the step's operand and result lie in one place? */
static bool may_share(const struct mase_step *s, const struct mase_slot *in, int i)
{
    return s->kind->in_place && !s->out->alias_of && s->out->born == i && in->lanes &&
           s->out->lanes && in->rows == s->out->rows && !in->is_input;
}

static void share_values(struct mase_plan *p)
{
    for (int i = 0; i < p->step_count; i++) {
        const struct mase_step *s = p->step[i];
        struct mase_slot *in = s->in_count ? root(s->in[0]) : NULL;
        if (!in || !may_share(s, in, i) || in->dies != i)
            continue;
        s->out->over = in->over ? in->over : in;
        if (s->out->dies > s->out->over->dies)
            s->out->over->dies = s->out->dies;
    }
}

/* That of the operand begins where that of the result ends. */
static void share_gradients(struct mase_plan *p)
{
    for (int i = p->step_count - 1; i >= 0; i--) {
        const struct mase_step *s = p->step[i];
        struct mase_slot *in = s->in_count ? root(s->in[0]) : NULL;
        if (!in || !may_share(s, in, i) || !s->backward.count || !in->has_grad || s->add[0] ||
            s->out->is_result)
            continue;
        in->grad_over = s->out->grad_over ? s->out->grad_over : s->out;
        if (in->grad_dies > in->grad_over->grad_dies)
            in->grad_over->grad_dies = in->grad_dies;
    }
}

static void add_buffer(struct mase_plan *p, struct placing *pl, struct buffer b)
{
    pl->buffer = mase_arena_grow(&p->arena, pl->buffer, pl->count, &pl->cap, sizeof *pl->buffer);
    pl->buffer[pl->count] = b;
    if (b.dies < b.born) /* no step reads it, but its own step writes it */
        pl->buffer[pl->count].dies = b.born;
    pl->count++;
}

static void list_buffers(struct mase_plan *p, struct placing *pl)
{
    for (int i = 0; i < p->slot_count; i++) {
        struct mase_slot *s = p->slot[i];
        const int64_t size = s->rows * p->stride;
        if (s->alias_of || !s->lanes)
            continue;
        if (!s->over)
            add_buffer(p, pl, (struct buffer){ &s->x, size, 0, s->born, s->dies });
        if (s->needs_grad && s->has_grad && !s->grad_over)
            add_buffer(p, pl, (struct buffer){ &s->dx, size, 0, s->grad_born, s->grad_dies });
    }
    for (int i = 0; i < p->step_count; i++) {
        struct mase_step *s = p->step[i];
        const int back = backward_time(p, i);
        if (s->scratch_size)
            add_buffer(
                p, pl,
                (struct buffer){ &s->scratch, padded(s->scratch_size), 0, i, p->train ? back : i });
        if (s->work_size && p->train)
            add_buffer(p, pl, (struct buffer){ &s->work, padded(s->work_size), 0, back, back });
    }
}

/* ---- first fit ---- */

/* Free places by address; the last one has no end. */
struct gap {
    int64_t at, size;
    struct gap *next;
};

struct gaps {
    struct mase_arena *arena;
    struct gap *first, *spare;
};

static struct gap *new_gap(struct gaps *g, struct gap value)
{
    struct gap *made = g->spare ? g->spare : mase_new(g->arena, struct gap);
    g->spare = g->spare ? g->spare->next : NULL;
    *made = value;
    return made;
}

static int64_t take(struct gaps *g, int64_t size)
{
    struct gap **at = &g->first;
    while ((*at)->size < size)
        at = &(*at)->next;
    struct gap *gap = *at;
    const int64_t place = gap->at;
    gap->at += size;
    gap->size -= size;
    if (!gap->size) {
        *at = gap->next;
        gap->next = g->spare;
        g->spare = gap;
    }
    return place;
}

/* Join two neighbours. */
static void join(struct gaps *g, struct gap *gap)
{
    struct gap *next = gap->next;
    if (!next || gap->at + gap->size != next->at)
        return;
    gap->size += next->size;
    gap->next = next->next;
    next->next = g->spare;
    g->spare = next;
}

static void give_back(struct gaps *g, const struct buffer *b)
{
    struct gap **at = &g->first, *before = NULL;
    for (; (*at)->at < b->at; at = &(*at)->next)
        before = *at;
    *at = new_gap(g, (struct gap){ b->at, b->size, *at });
    join(g, *at);
    if (before)
        join(g, before);
}

static int by_birth(const void *a, const void *b)
{
    const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
    return x->born != y->born ? (x->born > y->born) - (x->born < y->born) : (x > y) - (x < y);
}

static int by_death(const void *a, const void *b)
{
    const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
    return x->dies != y->dies ? (x->dies > y->dies) - (x->dies < y->dies) : (x > y) - (x < y);
}

/* A place for every buffer, free from its birth to its death; returns the end of all. */
static int64_t fit(struct mase_arena *a, struct placing *pl)
{
    const size_t n = (size_t)pl->count;
    struct buffer **born = mase_new_array(a, struct buffer *, n);
    struct buffer **dead = mase_new_array(a, struct buffer *, n);
    struct gaps gaps = { .arena = a };
    int64_t end = 0;
    size_t gone = 0;
    gaps.first = new_gap(&gaps, (struct gap){ 0, INT64_MAX / 2, NULL });
    for (size_t i = 0; i < n; i++)
        born[i] = dead[i] = &pl->buffer[i];
    qsort(born, n, sizeof *born, by_birth);
    qsort(dead, n, sizeof *dead, by_death);
    for (size_t i = 0; i < n; i++) {
        struct buffer *b = born[i];
        for (; gone < n && dead[gone]->dies < b->born; gone++)
            if (dead[gone]->size)
                give_back(&gaps, dead[gone]);
        b->at = b->size ? take(&gaps, b->size) : 0;
        end = b->at + b->size > end ? b->at + b->size : end;
    }
    return end;
}

/* Room for a single sample's values, when every step can use it. */
static void place_single(struct mase_plan *p)
{
    p->single = !p->train;
    for (int i = 0; i < p->step_count; i++)
        p->single = p->single && p->step[i]->single;
    for (int i = 0; p->single && i < p->slot_count; i++) {
        struct mase_slot *s = p->slot[i];
        if (s->lanes && !s->alias_of)
            s->single = mase_new_array(&p->arena, float, (size_t)(s->rows + MASE_LANES));
    }
}

/* The step with the largest result, for the error when memory is too large. */
static const struct mase_step *largest_step(const struct mase_plan *p)
{
    const struct mase_step *largest = p->step[0];
    for (int i = 1; i < p->step_count; i++)
        if (p->step[i]->out->rows > largest->out->rows)
            largest = p->step[i];
    return largest;
}

enum mase_status mase_plan_check_size(const struct mase_plan *p, int plans, struct mase_err *err)
{
    const uint64_t bytes = (uint64_t)mase_plan_memory(p) * (uint64_t)plans;
    if (bytes <= mase_limit_of_network() || !p->step_count)
        return mase_limit_network(bytes, err, "the plan");
    const struct mase_step *s = largest_step(p);
    struct mase_str shape = { 0 };
    mase_shape_print(&shape, &s->out->tensor->shape);
    const enum mase_status st =
        mase_limit_network(bytes, err, "%s: running batches of %lld samples, with its result %s,",
                           s->node->name, (long long)p->batch * plans, mase_str_text(&shape));
    mase_str_release(&shape);
    return mase_node_place(s->node, st, err);
}

enum mase_status mase_plan_place(struct mase_plan *p, struct mase_err *err)
{
    struct placing pl = { 0 };
    if (p->train) {
        plan_gradients(p);
        plan_weights(p);
    }
    plan_lives(p);
    share_values(p);
    if (p->train)
        share_gradients(p);
    list_buffers(p, &pl);
    p->memory_size = fit(&p->arena, &pl);
    const int64_t losses = p->memory_size;
    p->memory_size += p->stride;
    MASE_TRY(mase_plan_check_size(p, 1, err));
    p->memory = mase_plan_floats(p->memory_size);
    p->losses = p->memory + losses;
    for (int i = 0; i < pl.count; i++)
        *pl.buffer[i].to = p->memory + pl.buffer[i].at;
    place_single(p);
    for (int i = 0; i < p->slot_count; i++) {
        struct mase_slot *s = p->slot[i];
        s->x = s->over ? s->over->x : s->x;
        s->dx = s->grad_over ? s->grad_over->dx : s->dx;
    }
    for (int i = 0; i < p->slot_count; i++) {
        p->slot[i]->x = root(p->slot[i])->x;
        p->slot[i]->dx = root(p->slot[i])->dx;
        p->slot[i]->single = root(p->slot[i])->single;
    }
    for (int i = 0; i < p->step_count; i++)
        if (p->step[i]->kind->bind)
            p->step[i]->kind->bind(p->step[i]);
    return MASE_OK;
}
