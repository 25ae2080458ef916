/*
 * rowmap.c - rows as weighted sums of rows (rowmap.h).
 */
#include "exec/step/rowmap.h"

#include <string.h>

void mase_rowmap_add(struct mase_step *s, struct mase_term_list *l, struct mase_term term)
{
    l->term = mase_arena_grow(&s->plan->arena, l->term, l->count, &l->cap, sizeof *l->term);
    l->term[l->count++] = term;
}

/* ---- running ---- */

static struct mase_terms terms_of(const struct mase_csr *c, long row)
{
    const int32_t at = c->start[row];
    return (struct mase_terms){ c->row + at, c->coef + at, c->start[row + 1] - at };
}

/* The contribution of plain inputs and the constant to row r, equal in all lanes. */
static float plain_part(const struct mase_step *s, const struct mase_rowmap *m, long r)
{
    float sum = m->shift ? m->shift[r] : 0.0f;
    for (int i = 0; i < m->inputs; i++) {
        if (s->in[i]->lanes)
            continue;
        const struct mase_terms t = terms_of(&m->forward[i], r);
        for (long k = 0; k < t.count; k++)
            sum += t.coef[k] * s->in[i]->x[t.row[k]];
    }
    return sum;
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct mase_rowmap *m = s->own;
    const struct mase_plan *p = s->plan;
    for (long row = from; row < to; row++) {
        const long plane = row / m->out_rows, r = row % m->out_rows;
        float *y = s->out->x + row * p->stride;
        const float shift = plain_part(s, m, r);
        bool begun = false;
        for (int i = 0; i < m->inputs; i++) {
            const struct mase_terms t = terms_of(&m->forward[i], r);
            if (!s->in[i]->lanes || !t.count)
                continue;
            p->k->weigh(y, s->in[i]->x + plane * m->in_rows * p->stride, &t, p->stride, shift,
                        begun, p->n);
            begun = true;
        }
        if (!begun)
            p->k->weigh(y, NULL, &(struct mase_terms){ 0 }, p->stride, shift, false, p->n);
    }
}

static void plain_gradient(const struct mase_step *s, int i, const struct mase_terms *t, long row)
{
    const struct mase_plan *p = s->plan;
    float sum = 0.0f, part;
    for (long k = 0; k < t->count; k++) {
        const struct mase_channel dy = { s->out->dx + t->row[k] * p->stride, 1, p->stride, p->n,
                                         p->samples };
        p->k->row_sum(&part, &dy, false);
        sum += t->coef[k] * part;
    }
    float *dx = s->in[i]->dx + row;
    *dx = mase_step_adds_input(s, i) ? *dx + sum : sum;
}

static void input_gradient(const struct mase_step *s, int i, long row)
{
    const struct mase_rowmap *m = s->own;
    const struct mase_plan *p = s->plan;
    if (!s->in[i]->dx)
        return;
    if (!s->in[i]->lanes) {
        const struct mase_terms t = terms_of(&m->backward[i], row);
        plain_gradient(s, i, &t, row);
        return;
    }
    const long plane = row / m->in_rows;
    const struct mase_terms t = terms_of(&m->backward[i], m->planes > 1 ? row % m->in_rows : row);
    p->k->weigh(s->in[i]->dx + row * p->stride,
                s->out->dx + (m->planes > 1 ? plane * m->out_rows * p->stride : 0), &t, p->stride,
                0.0f, s->add[i], p->n);
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct mase_rowmap *m = s->own;
    int i = 0;
    for (long item = from; item < to; item++) {
        while (item >= m->first[i + 1])
            i++;
        input_gradient(s, i, item - m->first[i]);
    }
}

/* ---- listing ---- */

/* Terms of one input sorted by out (or by in), in their order. */
static struct mase_csr sorted(struct mase_arena *a, const struct mase_term_list *l, int input,
                              long rows, bool by_in)
{
    struct mase_csr c = { .start = mase_new_array(a, int32_t, (size_t)rows + 2) };
    for (int i = 0; i < l->count; i++)
        if (l->term[i].input == input)
            c.start[(by_in ? l->term[i].in : l->term[i].out) + 2]++;
    for (long r = 2; r < rows + 2; r++)
        c.start[r] += c.start[r - 1];
    c.row = mase_new_array(a, int32_t, (size_t)c.start[rows + 1]);
    c.coef = mase_new_array(a, float, (size_t)c.start[rows + 1]);
    for (int i = 0; i < l->count; i++) {
        const struct mase_term *t = &l->term[i];
        if (t->input != input)
            continue;
        const int32_t at = c.start[(by_in ? t->in : t->out) + 1]++;
        c.row[at] = by_in ? t->out : t->in;
        c.coef[at] = t->coef;
    }
    return c;
}

void mase_rowmap_set(struct mase_step *s, const struct mase_term_list *l, long planes, float *shift)
{
    struct mase_arena *a = &s->plan->arena;
    struct mase_rowmap *m = s->own = mase_new(a, struct mase_rowmap);
    *m = (struct mase_rowmap){ .planes = planes, .inputs = s->in_count, .shift = shift };
    m->out_rows = planes ? s->out->rows / planes : 0;
    m->in_rows = planes && s->in_count ? s->in[0]->rows / planes : 0;
    m->forward = mase_new_array(a, struct mase_csr, (size_t)m->inputs);
    m->backward = mase_new_array(a, struct mase_csr, (size_t)m->inputs);
    m->first = mase_new_array(a, long, (size_t)m->inputs + 1);
    for (int i = 0; i < m->inputs; i++) {
        const long rows = i ? (long)s->in[i]->rows : m->in_rows;
        m->forward[i] = sorted(a, l, i, m->out_rows, false);
        m->backward[i] = sorted(a, l, i, rows, true);
        m->first[i + 1] = m->first[i] + (long)s->in[i]->rows;
    }
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    if (m->inputs)
        mase_step_backward(s, backward, MASE_UNIT_ITEMS, m->first[m->inputs]);
}
