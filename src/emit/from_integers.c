/*
 * from_integers.c - exact integers (mase/int_program.h) as steps.
 *
 * An instruction becomes a step. A rounding that is alone in reading a sum is done with it. Where
 * an instruction looks is stated by lists of rows; a window that gives the same lists stands for
 * them.
 */
#include <string.h>

#include "emit/integer_maps.h"
#include "integer/int_parts.h"

/* Rows of the engine's memory, and the value that has them here. */
struct place {
    int64_t at, rows;
    struct mase_emit_value *value;
};

struct reading {
    struct mase_emit_net *n;
    struct mase_arena *a;
    const struct mase_int_program *e;
    struct place *place;
    int count, cap;
    bool codes; /* the caller gives codes */
};

static const struct place *place_of(const struct reading *r, int64_t at)
{
    for (int i = r->count - 1; i >= 0; i--)
        if (at >= r->place[i].at && at < r->place[i].at + r->place[i].rows)
            return &r->place[i];
    return NULL;
}

static void keep(struct reading *r, const struct mase_int_value *x, struct mase_emit_value *v)
{
    r->place = mase_arena_grow(r->a, r->place, r->count, &r->cap, sizeof *r->place);
    r->place[r->count++] = (struct place){ x->at, x->rows, v };
}

/* A value for what an instruction gives: the smallest type that its bounds allow. */
static struct mase_emit_value *add_value(struct reading *r, const struct mase_int_value *x)
{
    int64_t lo = 0, hi = 0;
    for (int64_t k = 0; x->codes && k < x->rows; k++) {
        lo = k == 0 || x->lo[k] < lo ? x->lo[k] : lo;
        hi = k == 0 || x->hi[k] > hi ? x->hi[k] : hi;
    }
    struct mase_emit_value *v = mase_emit_add_value(
        r->n, x->codes ? mase_emit_type_for(lo, hi, MASE_EMIT_I8) : MASE_EMIT_F32, x->rows);
    v->lo = lo;
    v->hi = hi;
    keep(r, x, v);
    return v;
}

static mase_emit_wide least(mase_emit_wide a, mase_emit_wide b)
{
    return a < b ? a : b;
}
static mase_emit_wide most(mase_emit_wide a, mase_emit_wide b)
{
    return a > b ? a : b;
}

/* ---- sums ---- */

/* All that partial sums can be, in any order, and the products. */
static enum mase_emit_type acc_type(const struct mase_int_sum *f,
                                    const struct mase_emit_value *const *x)
{
    const int64_t least_x = x[1] && x[1]->lo < x[0]->lo ? x[1]->lo : x[0]->lo,
                  most_x = x[1] && x[1]->hi > x[0]->hi ? x[1]->hi : x[0]->hi;
    mase_emit_wide lo = 0, hi = 0;
    for (int64_t o = 0; o < f->groups * f->outputs; o++) {
        mase_emit_wide a = least(0, f->bias[o]), b = most(0, f->bias[o]);
        for (int64_t k = 0; k < f->inputs; k++) {
            const mase_emit_wide w = f->weight[o * f->inputs + k];
            a += least(0, least(w * least_x, w * most_x));
            b += most(0, most(w * least_x, w * most_x));
        }
        lo = least(lo, a);
        hi = most(hi, b);
    }
    return mase_emit_type_for(lo, hi, MASE_EMIT_I32);
}

static enum mase_emit_type type_of(const int64_t *number, int64_t n)
{
    int64_t lo = 0, hi = 0;
    for (int64_t k = 0; k < n; k++) {
        lo = number[k] < lo ? number[k] : lo;
        hi = number[k] > hi ? number[k] : hi;
    }
    return mase_emit_type_for(lo, hi, MASE_EMIT_I8);
}

/* Does a sum look at no other value than this? Rows of memory tell: values lie side by side there.
 */
static bool reads_only(const struct mase_int_sum *f, const struct mase_int_value *x)
{
    for (int64_t k = 0; k < f->groups * f->positions * f->inputs; k++)
        if (f->from[k] >= 0 && (f->from[k] < x->at || f->from[k] >= x->at + x->rows))
            return false;
    return true;
}

/* Rows side by side, group after group, position after position? */
static bool is_contiguous(const struct mase_int_sum *f, int64_t at)
{
    for (int64_t k = 0; k < f->groups * f->positions * f->inputs; k++)
        if (f->from[k] != at + k)
            return false;
    return true;
}

static bool is_flat(const struct mase_window *w)
{
    return w && w->in[0] == 1 && w->out[0] == 1 && w->kernel[0] == 1 && w->pad[0] == 0;
}

/* What an element of the kernel sees, a row of its channel; -1: the edge. */
static int64_t seen(const struct mase_window *w, int64_t p, int64_t k)
{
    const int64_t y = p / w->out[2] * w->stride[1] + k / w->kernel[2] * w->dilation[1] - w->pad[1],
                  x = p % w->out[2] * w->stride[2] + k % w->kernel[2] * w->dilation[2] - w->pad[2];
    return y < 0 || y >= w->in[1] || x < 0 || x >= w->in[2] ? -1 : y * w->in[2] + x;
}

/* Does the window give the list of a convolution? */
static bool is_window(const struct mase_int_sum *f, const struct mase_window *w, int64_t at)
{
    if (!is_flat(w))
        return false;
    const int64_t area = w->kernel[1] * w->kernel[2], size = w->in[1] * w->in[2],
                  channels = f->inputs / area;
    if (f->positions != w->out[1] * w->out[2] || channels * area != f->inputs)
        return false;
    const int32_t *from = f->from;
    for (int64_t g = 0; g < f->groups; g++)
        for (int64_t p = 0; p < f->positions; p++)
            for (int64_t k = 0; k < f->inputs; k++, from++) {
                const int64_t row = seen(w, p, k % area);
                if (*from != (row < 0 ? -1 : at + (g * channels + k / area) * size + row))
                    return false;
            }
    return true;
}

/* Does the window give a list of rows for each output of a channel, edges left out? */
static bool is_pool(const struct mase_window *w, int64_t channels, const int32_t *from,
                    const int64_t *first, int64_t inputs, int64_t at)
{
    if (!is_flat(w))
        return false;
    const int64_t area = w->kernel[1] * w->kernel[2], size = w->in[1] * w->in[2],
                  positions = w->out[1] * w->out[2];
    for (int64_t c = 0; c < channels; c++)
        for (int64_t p = 0; p < positions; p++) {
            int64_t k = first ? first[c * positions + p] : (c * positions + p) * inputs;
            const int64_t end = first ? first[c * positions + p + 1] : k + inputs;
            for (int64_t j = 0; j < area; j++) {
                const int64_t row = seen(w, p, j);
                if (row >= 0 && (k == end || from[k++] != at + c * size + row))
                    return false;
            }
            for (; k < end; k++)
                if (from[k] >= 0)
                    return false;
        }
    return true;
}

static bool all_ones(const struct mase_int_sum *f)
{
    const int64_t outputs = f->groups * f->outputs;
    for (int64_t k = 0; k < outputs * f->inputs; k++)
        if (f->weight[k] != 1)
            return false;
    for (int64_t o = 0; o < outputs; o++)
        if (f->bias[o] != 0)
            return false;
    return f->outputs == 1;
}

/* A mean of rows side by side is a window as wide as they are. */
static const struct mase_window *row_window(struct mase_arena *a, int64_t inputs)
{
    const struct mase_window w = { .n = 3,
                                   .in = { 1, 1, inputs },
                                   .out = { 1, 1, 1 },
                                   .kernel = { 1, 1, inputs },
                                   .stride = { 1, 1, 1 },
                                   .dilation = { 1, 1, 1 },
                                   .groups = 1 };
    return mase_arena_memdup(a, &w, sizeof w);
}

/* A step that has the shape of the sum, its operand but for the result; false: it has none of these
 * shapes. */
static struct mase_emit_step *add_pool(struct reading *r, const struct mase_int_instr *i,
                                       struct mase_emit_value *x)
{
    const struct mase_int_sum *f = &i->u.affine;
    const struct mase_window *w = f->window;
    if (!reads_only(f, i->in) || !all_ones(f) || f->output_stride != f->positions ||
        (f->position_stride != 1 && f->positions != 1))
        return NULL;
    if (f->positions == 1 && is_contiguous(f, i->in->at))
        w = row_window(r->a, f->inputs);
    else if (!w || f->positions != w->out[1] * w->out[2] ||
             !is_pool(w, f->groups, f->from, NULL, f->inputs, i->in->at))
        return NULL;
    struct mase_emit_step *s = mase_emit_add_step(r->n, MASE_EMIT_POOL, i->out->from, x, NULL);
    s->window = w;
    s->channels = f->groups;
    return s;
}

/* Is operand k of every sum the next row of one value? */
static struct mase_emit_value *operand(const struct reading *r, const struct mase_int_sum *f,
                                       int64_t k)
{
    const struct place *p = f->from[k] < 0 ? NULL : place_of(r, f->from[k]);
    for (int64_t g = 0; p && g < f->groups; g++)
        if (f->from[g * f->inputs + k] != p->at + g)
            return NULL;
    return p && p->rows == f->groups ? p->value : NULL;
}

static struct mase_emit_step *add_add(struct reading *r, const struct mase_int_instr *i)
{
    const struct mase_int_sum *f = &i->u.affine;
    if (f->inputs != 2 || f->outputs != 1 || f->positions != 1 || f->output_stride != 1)
        return NULL;
    struct mase_emit_value *x = operand(r, f, 0), *y = operand(r, f, 1);
    if (!x || !y)
        return NULL;
    struct mase_emit_step *s = mase_emit_add_step(r->n, MASE_EMIT_ADD, i->out->from, x, NULL);
    s->in[1] = y;
    int64_t *w = mase_new_array(r->a, int64_t, (size_t)f->groups);
    for (int k = 0; k < 2; k++) {
        for (int64_t g = 0; g < f->groups; g++)
            w[g] = f->weight[2 * g + k];
        s->weight[k] = mase_emit_numbers(r->a, w, f->groups);
    }
    s->bias = mase_emit_numbers(r->a, f->bias, f->groups);
    return s;
}

static enum mase_status add_sum(struct reading *r, struct mase_emit_step **out,
                                const struct mase_int_instr *i, struct mase_emit_value *x,
                                struct mase_err *err)
{
    const struct mase_int_sum *f = &i->u.affine;
    struct mase_emit_sum sum = { .groups = f->groups,
                                 .outputs = f->outputs,
                                 .inputs = f->inputs,
                                 .positions = f->positions,
                                 .output_stride = f->output_stride,
                                 .position_stride = f->position_stride,
                                 .weight = f->weight,
                                 .bias = f->bias,
                                 .look = MASE_EMIT_LIST };
    const int64_t entries = f->groups * f->positions * f->inputs;
    if (!reads_only(f, i->in))
        return mase_emit_refuse(i->out->from, err, "it sums several values row by other row");
    if (is_contiguous(f, i->in->at)) {
        sum.look = MASE_EMIT_ROWS;
        sum.group_rows = f->positions * f->inputs;
    } else if (is_window(f, f->window, i->in->at)) {
        sum.look = MASE_EMIT_WINDOW;
        sum.window = f->window;
        sum.group_rows = f->inputs / (f->window->kernel[1] * f->window->kernel[2]) *
                         f->window->in[1] * f->window->in[2];
    } else {
        int32_t *list = mase_new_array(r->a, int32_t, (size_t)entries);
        for (int64_t k = 0; k < entries; k++)
            list[k] = f->from[k] < 0 ? -1 : (int32_t)(f->from[k] - i->in->at);
        sum.list = list;
    }
    sum.wtype = type_of(f->weight, f->groups * f->outputs * f->inputs);
    *out = mase_emit_add_step(r->n, MASE_EMIT_SUM, i->out->from, x, NULL);
    (*out)->sum = sum;
    return MASE_OK;
}

/* ---- which rounding belongs to a sum ---- */

static bool reads(const struct mase_int_instr *i, int64_t at, int64_t rows)
{
    const struct mase_int_sum *f = &i->u.affine;
    const bool affine = i->op == MASE_INT_OP_SUM;
    const int32_t *from = affine ? f->from : i->u.rows.from;
    if (i->in->at == at)
        return true;
    if (!affine && i->op != MASE_INT_OP_PICK)
        return false;
    for (int64_t k = 0; k < (affine ? f->groups * f->positions * f->inputs : i->out->rows); k++)
        if (from[k] >= at && from[k] < at + rows)
            return true;
    return false;
}

/* The instruction behind i, if it rounds what i gives and nobody else reads that. */
static const struct mase_int_instr *only_reader(const struct reading *r,
                                                const struct mase_int_instr *i)
{
    const struct mase_int_instr *n = i->next;
    if (!n || (n->op != MASE_INT_OP_ROUND && n->op != MASE_INT_OP_SCALE) ||
        n->in->at != i->out->at || r->e->output->at == i->out->at)
        return NULL;
    for (const struct mase_int_instr *j = n->next; j; j = j->next)
        if (reads(j, i->out->at, i->out->rows))
            return NULL;
    return n;
}

static bool same_round(const struct mase_int_instr *i, int64_t a, int64_t b)
{
    if (i->op == MASE_INT_OP_SCALE)
        return memcmp(&i->u.scale[a], &i->u.scale[b], sizeof *i->u.scale) == 0;
    const struct mase_int_round *x = &i->u.round[a], *y = &i->u.round[b];
    return x->mul == y->mul && x->add == y->add && x->div == y->div && x->lo == y->lo &&
           x->hi == y->hi && x->direction == y->direction;
}

/* Is an output rounded in the same way at every position? */
static bool is_by_output(const struct mase_int_instr *round, const struct mase_int_sum *f)
{
    for (int64_t o = 0; o < f->groups * f->outputs; o++)
        for (int64_t p = 1; p < f->positions; p++)
            if (!same_round(round, o * f->output_stride,
                            o * f->output_stride + p * f->position_stride))
                return false;
    return true;
}

static enum mase_status map_of(struct reading *r, struct mase_emit_map *m,
                               const struct mase_int_instr *i, const struct mase_emit_rows *w,
                               struct mase_err *err)
{
    return i->op == MASE_INT_OP_ROUND ? mase_emit_map_round(r->a, m, i, w, err)
                                      : mase_emit_map_scale(r->a, m, i, w, err);
}

/* *i: the last instruction that was taken. */
static enum mase_status read_affine(struct reading *r, const struct mase_int_instr **at,
                                    struct mase_emit_value *x, struct mase_err *err)
{
    const struct mase_int_instr *i = *at, *round = only_reader(r, i);
    const struct mase_int_sum *f = &i->u.affine;
    struct mase_emit_step *s = add_pool(r, i, x);
    if (!s)
        s = add_add(r, i);
    if (!s)
        MASE_TRY(add_sum(r, &s, i, x, err));
    s->acc = s->sum.acc = acc_type(f, (const struct mase_emit_value *const *)s->in);
    s->map = (struct mase_emit_map){ .op = MASE_EMIT_STORE };
    if (s->kind == MASE_EMIT_POOL || (s->kind == MASE_EMIT_SUM && round && !is_by_output(round, f)))
        round = NULL;
    if (round) {
        const struct mase_emit_rows w =
            s->kind == MASE_EMIT_ADD
                ? (struct mase_emit_rows){ i->out->rows, 1, false }
                : (struct mase_emit_rows){ f->groups * f->outputs, f->output_stride, true };
        MASE_TRY(map_of(r, &s->map, round, &w, err));
        *at = round;
    }
    s->out = add_value(r, (*at)->out);
    return MASE_OK;
}

/* ---- rows ---- */

static void read_largest(struct reading *r, const struct mase_int_instr *i,
                         struct mase_emit_value *x)
{
    const struct mase_int_rows *f = &i->u.rows;
    const int64_t rows = i->out->rows, entries = f->first[rows];
    const struct mase_window *w = f->window;
    if (w && rows % (w->out[1] * w->out[2]) == 0 &&
        is_pool(w, rows / (w->out[1] * w->out[2]), f->from, f->first, 0, i->in->at)) {
        struct mase_emit_step *s =
            mase_emit_add_step(r->n, MASE_EMIT_POOL, i->out->from, x, add_value(r, i->out));
        s->largest = true;
        s->window = w;
        s->channels = rows / (w->out[1] * w->out[2]);
        return;
    }
    int32_t *list = mase_new_array(r->a, int32_t, (size_t)entries);
    for (int64_t k = 0; k < entries; k++)
        list[k] = (int32_t)(f->from[k] - i->in->at);
    struct mase_emit_step *s =
        mase_emit_add_step(r->n, MASE_EMIT_LARGEST, i->out->from, x, add_value(r, i->out));
    s->list = list;
    s->first = f->first;
}

/* Rows of memory, of one value or of several. */
static void read_picks(struct reading *r, const struct mase_int_instr *i, struct mase_emit_value *x)
{
    const int64_t rows = i->out->rows;
    struct mase_emit_picked *picked = mase_new_array(r->a, struct mase_emit_picked, (size_t)rows);
    struct mase_emit_value *value[MASE_INT_OPERANDS_MAX] = { x };
    bool same = rows == x->rows;
    int count = 1;
    for (int64_t k = 0; k < rows; k++) {
        const int32_t at = i->u.rows.from[k];
        const struct place *p = at < 0 ? NULL : place_of(r, at);
        int v = 0;
        while (p && v < count && value[v] != p->value)
            v++;
        if (v == count)
            value[count++] = p->value;
        picked[k] = (struct mase_emit_picked){ v, p ? (int32_t)(at - p->at) : -1 };
        same &= v == 0 && picked[k].row == k;
    }
    if (same) /* another shape of the same rows */
        keep(r, i->out, x);
    else
        mase_emit_add_picks(r->n, i->out->from, value, count, picked, add_value(r, i->out));
}

/* ---- the whole ---- */

static enum mase_status read_map(struct reading *r, const struct mase_int_instr *i,
                                 struct mase_emit_value *x, struct mase_err *err)
{
    const struct mase_emit_rows all = { i->out->rows, 1, false };
    struct mase_emit_map m;
    switch (i->op) {
    case MASE_INT_OP_AFFINE:
        mase_emit_map_line(r->a, &m, i);
        break;
    case MASE_INT_OP_ENCODE:
        MASE_TRY(mase_emit_map_encode(r->a, &m, i, err));
        break;
    case MASE_INT_OP_TABLE:
        mase_emit_map_table(r->a, &m, i);
        break;
    default:
        MASE_TRY(map_of(r, &m, i, &all, err));
    }
    mase_emit_add_step(r->n, MASE_EMIT_MAP, i->out->from, x, add_value(r, i->out))->map = m;
    return MASE_OK;
}

static enum mase_status read_instr(struct reading *r, const struct mase_int_instr **i,
                                   struct mase_err *err)
{
    struct mase_emit_value *x = place_of(r, (*i)->in->at)->value;
    if (r->codes && (*i)->op == MASE_INT_OP_ENCODE) {
        if (x != r->n->input || r->n->first)
            return mase_emit_refuse((*i)->out->from, err,
                                    "codes cannot be given: it is not what samples meet first");
        r->n->value_count--; /* the floats that are not there */
        r->n->input = add_value(r, (*i)->out);
        r->n->grid = (*i)->u.encode;
        return MASE_OK;
    }
    if ((*i)->op == MASE_INT_OP_SUM)
        return read_affine(r, i, x, err);
    if ((*i)->op == MASE_INT_OP_MAX || (*i)->op == MASE_INT_OP_PICK) {
        ((*i)->op == MASE_INT_OP_MAX ? read_largest : read_picks)(r, *i, x);
        return MASE_OK;
    }
    return read_map(r, *i, x, err);
}

/* What is returned lies in memory of the caller. */
static enum mase_status give_output(struct reading *r, struct mase_err *err)
{
    struct mase_emit_value *v = place_of(r, r->e->output->at)->value;
    struct mase_emit_map m = { .op = MASE_EMIT_STORE };
    MASE_TRY(mase_emit_map_decode(r->a, &r->n->decode, r->e->output, err));
    if (r->codes && v != r->n->input) {
        r->n->output = v;
        return MASE_OK;
    }
    if (!r->codes)
        m = r->n->decode;
    r->n->output = mase_emit_add_value(r->n, r->codes ? v->type : MASE_EMIT_F32, v->rows);
    mase_emit_add_step(r->n, MASE_EMIT_MAP, r->e->output->from, v, r->n->output)->map = m;
    return MASE_OK;
}

enum mase_status mase_emit_from_integers(struct mase_emit_net *n, const struct mase_int_program *e,
                                         bool codes, struct mase_err *err)
{
    struct reading r = { .n = n, .a = n->a, .e = e, .codes = codes };
    n->input = add_value(&r, e->input);
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        MASE_TRY(read_instr(&r, &i, err));
    return give_output(&r, err);
}
