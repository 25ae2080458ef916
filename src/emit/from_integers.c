/*
 * from_integers.c - lower an integer program (mase/int_program.h) to steps.
 *
 * An instruction becomes a step; a rounding that is the only user of a sum is fused with it.
 */
#include <string.h>

#include "emit/integer_maps.h"
#include "integer/int_parts.h"

/* Rows of the integer program's memory, and the value that holds them here. */
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

/* Add a value for a result, with the smallest type that its bounds allow. */
static struct mase_emit_value *add_value(struct reading *r, const struct mase_int_value *x)
{
    const enum mase_emit_type t =
        x->codes ? mase_emit_type_for(mase_int_value_type(x), MASE_EMIT_I8) : MASE_EMIT_F32;
    struct mase_emit_value *v = mase_emit_add_value(r->n, t, x->rows);
    keep(r, x, v);
    return v;
}

/* ---- sums ---- */

/* A pool: sums of rows under a window without weights. */
static struct mase_emit_step *add_pool(struct reading *r, const struct mase_int_instr *i,
                                       struct mase_emit_value *x)
{
    struct mase_emit_step *s = mase_emit_add_step(r->n, MASE_EMIT_POOL, i->out->from, x, NULL);
    s->window = i->u.sum.window;
    s->channels = i->u.sum.groups;
    return s;
}

static struct mase_emit_step *add_pairs(struct reading *r, const struct mase_int_instr *i,
                                        struct mase_emit_value *x)
{
    const struct mase_int_sum *f = &i->u.sum;
    struct mase_emit_step *s = mase_emit_add_step(r->n, MASE_EMIT_ADD, i->out->from, x, NULL);
    int64_t *w = mase_new_array(r->a, int64_t, (size_t)f->groups);
    s->in[1] = place_of(r, i->in[1]->at)->value;
    for (int k = 0; k < 2; k++) {
        for (int64_t g = 0; g < f->groups; g++)
            w[g] = f->weight[2 * g + k];
        s->weight[k] = mase_emit_numbers(r->a, w, f->groups);
    }
    s->bias = mase_emit_numbers(r->a, f->bias, f->groups);
    return s;
}

/* Convert rows of memory to rows of the value that begins at row `at`. */
static int32_t *rows_of_value(struct reading *r, const int32_t *from, int64_t count, int64_t at)
{
    int32_t *list = mase_new_array(r->a, int32_t, (size_t)count);
    for (int64_t k = 0; k < count; k++)
        list[k] = from[k] < 0 ? -1 : (int32_t)(from[k] - at);
    return list;
}

/* The distance between the operand rows of adjacent groups. */
static int64_t group_rows(const struct mase_int_sum *f)
{
    const struct mase_int_window *w = f->window;
    return w ? f->inputs / mase_int_window_area(w) * mase_int_window_channel(w)
             : f->positions * f->inputs;
}

static struct mase_emit_step *add_sum(struct reading *r, const struct mase_int_instr *i,
                                      struct mase_emit_value *x)
{
    const struct mase_int_sum *f = &i->u.sum;
    const bool list = f->access == MASE_INT_ACCESS_LIST;
    struct mase_emit_step *s = mase_emit_add_step(r->n, MASE_EMIT_SUM, i->out->from, x, NULL);
    s->sum = (struct mase_emit_sum){
        .groups = f->groups,
        .outputs = f->outputs,
        .inputs = f->inputs,
        .positions = f->positions,
        .output_stride = f->output_stride,
        .position_stride = f->position_stride,
        .weight = f->weight,
        .bias = f->bias,
        .access = f->access,
        .window = f->window,
        .group_rows = list ? 0 : group_rows(f),
        .list = list ? rows_of_value(r, f->from, f->groups * f->positions * f->inputs, i->in[0]->at)
                     : NULL,
        .wtype = mase_emit_type_for(mase_int_weight_type(i), MASE_EMIT_I8),
    };
    return s;
}

static enum mase_status add_step_of_sum(struct reading *r, struct mase_emit_step **s,
                                        const struct mase_int_instr *i, struct mase_emit_value *x,
                                        struct mase_err *err)
{
    const enum mase_int_access access = i->u.sum.access;
    if (access != MASE_INT_ACCESS_PAIRS && i->in_count > 1)
        return mase_emit_refuse(i->out->from, err, "it sums several values row by other row");
    *s = access == MASE_INT_ACCESS_POOL    ? add_pool(r, i, x)
         : access == MASE_INT_ACCESS_PAIRS ? add_pairs(r, i, x)
                                           : add_sum(r, i, x);
    (*s)->acc = (*s)->sum.acc = mase_emit_type_for(mase_int_sum_type(i), MASE_EMIT_I32);
    return MASE_OK;
}

/* ---- fuse roundings ---- */

static bool reads(const struct mase_int_instr *i, const struct mase_int_value *v)
{
    for (int k = 0; k < i->in_count; k++)
        if (i->in[k]->at == v->at)
            return true;
    return false;
}

/* The next instruction, if it rounds the result of i and is its only user. */
static const struct mase_int_instr *only_reader(const struct reading *r,
                                                const struct mase_int_instr *i)
{
    const struct mase_int_instr *n = i->next;
    if (!n || (n->op != MASE_INT_OP_ROUND && n->op != MASE_INT_OP_SCALE) || !reads(n, i->out) ||
        r->e->output->at == i->out->at)
        return NULL;
    for (const struct mase_int_instr *j = n->next; j; j = j->next)
        if (reads(j, i->out))
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

/* Does an output round alike at every position? */
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

/* *at: advanced to the last instruction that was fused. */
static enum mase_status read_sum(struct reading *r, const struct mase_int_instr **at,
                                 struct mase_emit_value *x, struct mase_err *err)
{
    const struct mase_int_instr *i = *at, *round = only_reader(r, i);
    const struct mase_int_sum *f = &i->u.sum;
    struct mase_emit_step *s = NULL;
    MASE_TRY(add_step_of_sum(r, &s, i, x, err));
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
    const bool pool = f->access == MASE_INT_ACCESS_POOL;
    struct mase_emit_step *s = mase_emit_add_step(r->n, pool ? MASE_EMIT_POOL : MASE_EMIT_LARGEST,
                                                  i->out->from, x, add_value(r, i->out));
    if (pool) {
        s->largest = true;
        s->window = f->window;
        s->channels = i->out->rows / mase_int_window_positions(f->window);
    } else {
        s->list = rows_of_value(r, f->from, f->first[i->out->rows], i->in[0]->at);
        s->first = f->first;
    }
}

/* Pick rows of memory, from one value or several. */
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
    if (same) /* a reshape */
        keep(r, i->out, x);
    else
        mase_emit_add_picks(r->n, i->out->from, value, count, picked, add_value(r, i->out));
}

/* ---- the network ---- */

static enum mase_status read_map(struct reading *r, const struct mase_int_instr *i,
                                 struct mase_emit_value *x, struct mase_err *err)
{
    const struct mase_emit_rows all = { i->out->rows, 1, false };
    struct mase_emit_map m;
    switch (i->op) {
    case MASE_INT_OP_AFFINE:
        mase_emit_map_affine(r->a, &m, i);
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
    struct mase_emit_value *x = place_of(r, (*i)->in[0]->at)->value;
    if (r->codes && (*i)->op == MASE_INT_OP_ENCODE) {
        if (x != r->n->input || r->n->first)
            return mase_emit_refuse((*i)->out->from, err,
                                    "codes cannot be given: it is not what samples meet first");
        r->n->value_count--; /* remove the float input: the caller passes codes */
        r->n->input = add_value(r, (*i)->out);
        r->n->encode = (*i)->u.encode;
        return MASE_OK;
    }
    if ((*i)->op == MASE_INT_OP_SUM)
        return read_sum(r, i, x, err);
    if ((*i)->op == MASE_INT_OP_MAX || (*i)->op == MASE_INT_OP_PICK) {
        ((*i)->op == MASE_INT_OP_MAX ? read_largest : read_picks)(r, *i, x);
        return MASE_OK;
    }
    return read_map(r, *i, x, err);
}

/* The returned value lies in the caller's memory. */
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
