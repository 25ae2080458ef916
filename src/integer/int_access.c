/*
 * int_access.c - patterns in the lists of rows that sums and maxima read (mase/int_program.h).
 *
 * A pattern is set only if it yields the list, entry by entry, so that a back end can use loops
 * instead of lists.
 */
#include "integer/int_parts.h"
#include "ir/shape/shape.h"

/* ---- windows ---- */

bool mase_int_window_of(struct mase_int_window *out, const struct mase_window *w)
{
    if (w->in[0] != 1 || w->out[0] != 1 || w->kernel[0] != 1 || w->pad[0] != 0)
        return false;
    for (int d = 0; d < 2; d++) {
        out->in[d] = w->in[d + 1];
        out->out[d] = w->out[d + 1];
        out->kernel[d] = w->kernel[d + 1];
        out->stride[d] = w->stride[d + 1];
        out->dilation[d] = w->dilation[d + 1];
        out->pad[d] = w->pad[d + 1];
    }
    return true;
}

void mase_int_window_rows(int64_t *row, const struct mase_int_window *w, int64_t position)
{
    const int64_t top = position / w->out[1] * w->stride[0] - w->pad[0],
                  left = position % w->out[1] * w->stride[1] - w->pad[1];
    for (int64_t i = 0; i < w->kernel[0]; i++)
        for (int64_t j = 0; j < w->kernel[1]; j++) {
            const int64_t y = top + i * w->dilation[0], x = left + j * w->dilation[1];
            const bool inside = y >= 0 && y < w->in[0] && x >= 0 && x < w->in[1];
            *row++ = inside ? y * w->in[1] + x : -1;
        }
}

int64_t mase_int_window_area(const struct mase_int_window *w)
{
    return w->kernel[0] * w->kernel[1];
}

int64_t mase_int_window_positions(const struct mase_int_window *w)
{
    return w->out[0] * w->out[1];
}

int64_t mase_int_window_channel(const struct mase_int_window *w)
{
    return w->in[0] * w->in[1];
}

struct mase_int_window mase_int_window_of_rows(int64_t rows)
{
    return (struct mase_int_window){ .in = { 1, rows },
                                     .out = { 1, 1 },
                                     .kernel = { 1, rows },
                                     .stride = { 1, 1 },
                                     .dilation = { 1, 1 } };
}

/* ---- patterns ---- */

/* Does a sum read rows of this value only? The rows of a value are adjacent in memory. */
static bool reads_only(const struct mase_int_sum *f, const struct mase_int_value *x)
{
    for (int64_t k = 0; k < f->groups * f->positions * f->inputs; k++)
        if (f->from[k] >= 0 && (f->from[k] < x->at || f->from[k] >= x->at + x->rows))
            return false;
    return true;
}

static bool is_contiguous(const struct mase_int_sum *f, int64_t at)
{
    for (int64_t k = 0; k < f->groups * f->positions * f->inputs; k++)
        if (f->from[k] != at + k)
            return false;
    return true;
}

/* Does the window of a convolution yield the list? */
static bool is_window(const struct mase_int_sum *f, const struct mase_int_window *w, int64_t at,
                      int64_t *row)
{
    const int64_t area = mase_int_window_area(w), channels = f->inputs / area;
    if (f->positions != mase_int_window_positions(w) || channels * area != f->inputs)
        return false;
    for (int64_t p = 0; p < f->positions; p++) {
        mase_int_window_rows(row, w, p);
        for (int64_t c = 0; c < f->groups * channels; c++) {
            const int32_t *from =
                f->from + (c / channels * f->positions + p) * f->inputs + c % channels * area;
            for (int64_t k = 0; k < area; k++)
                if (from[k] != (row[k] < 0 ? -1 : at + c * mase_int_window_channel(w) + row[k]))
                    return false;
        }
    }
    return true;
}

/* The list entries of each position of a channel. */
struct entries {
    const int32_t *from;
    const int64_t *first; /* (channels * positions + 1), or NULL: */
    int64_t inputs;       /* number of entries of each position, if first is NULL */
};

/* Does the window of a pool yield the list: the elements in the channel, then zeros? */
static bool is_pool(const struct entries *e, const struct mase_int_window *w, int64_t channels,
                    int64_t at, int64_t *row)
{
    const int64_t area = mase_int_window_area(w), positions = mase_int_window_positions(w);
    for (int64_t p = 0; p < positions; p++) {
        mase_int_window_rows(row, w, p);
        for (int64_t c = 0; c < channels; c++) {
            const int64_t r = c * positions + p, from_channel = at + c * mase_int_window_channel(w);
            int64_t k = e->first ? e->first[r] : r * e->inputs;
            const int64_t end = e->first ? e->first[r + 1] : k + e->inputs;
            for (int64_t j = 0; j < area; j++)
                if (row[j] >= 0 && (k == end || e->from[k++] != from_channel + row[j]))
                    return false;
            for (; k < end; k++)
                if (e->from[k] >= 0)
                    return false;
        }
    }
    return true;
}

/* Are these sums of rows without weights, channel after channel? */
static bool adds_channels(const struct mase_int_sum *f)
{
    const int64_t outputs = f->groups * f->outputs;
    if (f->outputs != 1 || f->output_stride != f->positions ||
        (f->position_stride != 1 && f->positions != 1))
        return false;
    for (int64_t k = 0; k < outputs * f->inputs; k++)
        if (f->weight[k] != 1)
            return false;
    for (int64_t o = 0; o < outputs; o++)
        if (f->bias[o] != 0)
            return false;
    return true;
}

static bool is_pair(const struct mase_int_instr *i)
{
    const struct mase_int_sum *f = &i->u.sum;
    if (i->in_count != 2 || f->inputs != 2 || f->outputs != 1 || f->positions != 1 ||
        f->output_stride != 1 || i->in[0]->rows != f->groups || i->in[1]->rows != f->groups)
        return false;
    for (int64_t k = 0; k < 2 * f->groups; k++)
        if (f->from[k] != i->in[k % 2]->at + k / 2)
            return false;
    return true;
}

/* ---- instructions ---- */

static int64_t *row_buffer(struct mase_int_lowering *l, const struct mase_int_window *w)
{
    return w ? mase_new_array(&l->scratch, int64_t, (size_t)mase_int_window_area(w)) : NULL;
}

void mase_int_find_sum_access(struct mase_int_lowering *l, struct mase_int_instr *i)
{
    struct mase_int_sum *f = &i->u.sum;
    const struct mase_int_window *w = f->window, run = mase_int_window_of_rows(f->inputs);
    const struct entries e = { .from = f->from, .inputs = f->inputs };
    const int64_t at = i->in[0]->at;
    const bool alone = reads_only(f, i->in[0]), rows = alone && is_contiguous(f, at),
               adds = alone && adds_channels(f);
    int64_t *row = row_buffer(l, w);
    f->window = NULL;
    f->access = MASE_INT_ACCESS_LIST;
    if (adds && rows && f->positions == 1) {
        f->access = MASE_INT_ACCESS_POOL;
        f->window = mase_arena_memdup(l->a, &run, sizeof run);
    } else if (adds && w && f->positions == mase_int_window_positions(w) &&
               is_pool(&e, w, f->groups, at, row)) {
        f->access = MASE_INT_ACCESS_POOL;
        f->window = w;
    } else if (is_pair(i)) {
        f->access = MASE_INT_ACCESS_PAIRS;
    } else if (rows) {
        f->access = MASE_INT_ACCESS_ROWS;
    } else if (alone && w && is_window(f, w, at, row)) {
        f->access = MASE_INT_ACCESS_WINDOW;
        f->window = w;
    }
}

void mase_int_find_max_access(struct mase_int_lowering *l, struct mase_int_instr *i)
{
    struct mase_int_rows *f = &i->u.rows;
    const struct mase_int_window *w = f->window;
    const struct entries e = { .from = f->from, .first = f->first };
    if (w && is_pool(&e, w, i->out->rows / mase_int_window_positions(w), i->in[0]->at,
                     row_buffer(l, w))) {
        f->access = MASE_INT_ACCESS_POOL;
        return;
    }
    f->access = MASE_INT_ACCESS_LIST;
    f->window = NULL;
}
