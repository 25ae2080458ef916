/*
 * broadcast.c - rows of operands that are broadcast to a result (broadcast.h).
 */
#include "exec/step/broadcast.h"

#include <stdalign.h>

#include "exec/reference/ref.h"

enum { PART = 256 }; /* lanes of a plain operand's gradient summed at a time */

/* The rows of the result that use each row of the operand. */
static void invert(struct mase_step *s, struct mase_spread *o, int64_t rows)
{
    struct mase_arena *a = &s->plan->arena;
    const int64_t out = s->out->rows;
    o->start = mase_new_array(a, int32_t, (size_t)rows + 2);
    o->users = mase_new_array(a, int32_t, (size_t)out);
    for (int64_t r = 0; r < out; r++)
        o->start[o->row[r] + 2]++;
    for (int64_t r = 2; r < rows + 2; r++)
        o->start[r] += o->start[r - 1];
    for (int64_t r = 0; r < out; r++)
        o->users[o->start[o->row[r] + 1]++] = (int32_t)r;
}

/* The rows of an operand as they line up with those of the result. Where the batch is not the first
 * dimension, a plain operand has a dimension of length 1 there, (T, 1, C), or ends behind it. */
static struct mase_shape rows_for(const struct mase_step *s, const struct mase_slot *slot)
{
    struct mase_shape own = mase_slot_rows(s->plan, slot);
    const int at = s->out->axis - (s->out->tensor->shape.rank - own.rank);
    if (slot->lanes || !s->out->axis || at < 0)
        return own;
    for (int d = at; d + 1 < own.rank; d++)
        own.dim[d] = own.dim[d + 1];
    own.rank--;
    return own;
}

enum mase_status mase_spread_set(struct mase_step *s, struct mase_spread *o,
                                 const struct mase_arg *arg, struct mase_err *err)
{
    double number = 0.0;
    *o = (struct mase_spread){ .in = -1 };
    if (arg->kind != MASE_ARG_TENSOR) {
        if (!mase_arg_number(arg, &number))
            return mase_call_fail(s->call, err, "needs tensors or numbers, got %s",
                                  mase_show_arg(s->call, arg));
        o->number = (float)number;
        return MASE_OK;
    }
    MASE_TRY(mase_step_operand(s, arg->tensor, err));
    o->in = s->in_count - 1;
    const struct mase_slot *slot = s->in[o->in];
    const struct mase_shape out = mase_slot_rows(s->plan, s->out);
    const struct mase_shape own = rows_for(s, slot);
    if (!mase_shape_equal(&out, &own)) {
        o->row = mase_new_array(&s->plan->arena, int32_t, (size_t)s->out->rows);
        struct mase_nd w = mase_nd(&out);
        mase_nd_add(&w, &own);
        for (; w.i < w.count; mase_nd_next(&w))
            o->row[w.i] = (int32_t)w.off[0];
        if (slot->needs_grad)
            invert(s, o, slot->rows);
    }
    return MASE_OK;
}

const float *mase_spread_at(const struct mase_step *s, const struct mase_spread *o, long r,
                            bool *broadcast)
{
    const struct mase_slot *slot = o->in >= 0 ? s->in[o->in] : NULL;
    *broadcast = !slot || !slot->lanes;
    if (!slot)
        return &o->number;
    const long row = o->row ? o->row[r] : r;
    return slot->x + (slot->lanes ? row * s->plan->stride : row);
}

/* The rows of the result that use a row of the operand: count of them, from *first on. */
static long users_of(const struct mase_spread *o, long row, const int32_t **first)
{
    *first = o->row ? o->users + o->start[row] : NULL;
    return o->row ? o->start[row + 1] - o->start[row] : 1;
}

/* One number's gradient: the parts of all its users summed over their lanes. */
static float plain_sum(const struct mase_step *s, const struct mase_spread *o, int operand,
                       mase_part_fn *part, long row)
{
    const struct mase_plan *p = s->plan;
    alignas(64) float lanes[PART];
    const int32_t *user;
    const long users = users_of(o, row, &user);
    float sum = 0.0f;
    for (long i = 0; i < users; i++)
        for (long l = 0; l < p->n; l += PART) {
            const long n = p->n - l < PART ? p->n - l : PART;
            part(s, operand, user ? user[i] : row, l, lanes, false, n);
            for (long k = p->samples - l; k < n; k++)
                if (k >= 0)
                    lanes[k] = 0.0f; /* an infinite slope times 0 */
            p->k->row_sum(&sum, &(struct mase_channel){ lanes, 1, n, n, n }, true);
        }
    return sum;
}

void mase_spread_back(const struct mase_step *s, const struct mase_spread *o, int operand,
                      mase_part_fn *part, long from, long to)
{
    const struct mase_slot *slot = s->in[o->in];
    const struct mase_plan *p = s->plan;
    for (long row = from; row < to && slot->dx; row++) {
        if (!slot->lanes) {
            const float sum = plain_sum(s, o, operand, part, row);
            slot->dx[row] = mase_step_adds_input(s, o->in) ? slot->dx[row] + sum : sum;
            continue;
        }
        bool add = s->add[o->in];
        const int32_t *user;
        const long users = users_of(o, row, &user);
        for (long i = 0; i < users; i++, add = true)
            part(s, operand, user ? user[i] : row, 0, slot->dx + row * p->stride, add, p->n);
        mase_step_clear(s, slot->dx, row, row + 1);
    }
}
