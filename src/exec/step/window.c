/*
 * window.c - the largest of several rows (window.h). Forward records for each lane which term is
 * the largest; backward runs over input rows and visits the windows that contain each row.
 */
#include "exec/step/window.h"

struct window {
    struct mase_rowmap map;
    int32_t *number; /* by backward's terms: which of its window's terms a row is */
    float sign;
    bool place; /* the result is which, not the value */
};

static void forward(const struct mase_step *s, long from, long to)
{
    const struct window *w = s->own;
    const struct mase_plan *p = s->plan;
    float *value = w->place ? s->scratch : s->out->x, *which = w->place ? s->out->x : s->scratch;
    for (long row = from; row < to; row++) {
        const long plane = row / w->map.out_rows, r = row % w->map.out_rows;
        const int32_t *start = w->map.forward->start + r;
        const struct mase_terms t = { w->map.forward->row + start[0], NULL, start[1] - start[0] };
        p->k->max_rows(value + row * p->stride, which ? which + row * p->stride : NULL,
                       s->in[0]->x + plane * w->map.in_rows * p->stride, &t, p->stride, w->sign,
                       p->n);
    }
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct window *w = s->own;
    const struct mase_plan *p = s->plan;
    for (long row = from; row < to && s->in[0]->dx; row++) {
        const long plane = row / w->map.in_rows, r = row % w->map.in_rows;
        float *dx = s->in[0]->dx + row * p->stride;
        bool begun = s->add[0];
        for (int32_t i = w->map.backward->start[r]; i < w->map.backward->start[r + 1]; i++) {
            const long out = (plane * w->map.out_rows + w->map.backward->row[i]) * p->stride;
            p->k->pick_back(dx, s->out->dx + out, s->scratch + out, (float)w->number[i], begun,
                            p->n);
            begun = true;
        }
        if (!begun)
            p->k->weigh(dx, NULL, &(struct mase_terms){ 0 }, p->stride, 0.0f, false, p->n);
    }
}

/* The index of row `in` among the terms of its window. */
static int32_t number_of(const struct mase_csr *forward, int32_t out, int32_t in)
{
    int32_t i = forward->start[out];
    while (forward->row[i] != in)
        i++;
    return i - forward->start[out];
}

void mase_window_set(struct mase_step *s, const struct mase_term_list *l, long planes, float sign,
                     bool place)
{
    struct mase_plan *p = s->plan;
    struct window *w = mase_new(&p->arena, struct window);
    mase_rowmap_set(s, l, planes, NULL); /* lists the terms; its phases give way to ours */
    w->map = *(struct mase_rowmap *)s->own;
    w->sign = sign;
    w->place = place;
    s->own = w;
    s->forward.count = s->backward.count = 0;
    if (place || p->train)
        s->scratch_size = s->out->rows * p->stride;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    s->stops = place;
    if (place)
        return;
    const struct mase_csr *back = w->map.backward;
    w->number = mase_new_array(&p->arena, int32_t, (size_t)l->count);
    for (long r = 0; r < w->map.in_rows; r++)
        for (int32_t i = back->start[r]; i < back->start[r + 1]; i++)
            w->number[i] = number_of(w->map.forward, back->row[i], (int32_t)r);
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, (long)s->in[0]->rows);
}
