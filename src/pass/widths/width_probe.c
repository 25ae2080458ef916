/*
 * width_probe.c - how the lengths of a result depend on one operand: the shape rule says it.
 *
 * The rule runs with a length of the operand as it is, doubled and tripled. What stays on a line
 * through the three results depends on that length: a transposition moves it, a flatten multiplies
 * it, a chunk halves it, a constant pad adds to it. A result that does not change with its operand
 * is known to be right for a reduction; a slice x[:, :16] would leave out what is new. So that, and
 * what the rule refuses, counts as not known.
 */
#include <mase/program.h>

#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "pass/widths/width_parts.h"

enum { TRIES = 3 }; /* the length times 1, 2, 3 */

/* One length of one operand, and what the rule makes of it. */
struct probe {
    struct mase_width_walk *k;
    const struct mase_node *node, *operand;
    struct mase_arg changed; /* the operand's value in this try */
    const struct mase_width_sum *length;
    int64_t now;
    struct mase_arg result[TRIES];
    bool hit; /* some length of the result depends on it */
};

static const struct mase_arg *lookup(const struct mase_node *n, void *data)
{
    const struct probe *p = data;
    return n == p->operand ? &p->changed : mase_width_base(p->k, n);
}

/* axis -1: the operand is a number. */
static bool try_length(struct probe *p, int axis, int times)
{
    struct mase_arena *a = p->k->base.arena;
    struct mase_call c;
    struct mase_err why;
    p->changed = *mase_width_base(p->k, p->operand);
    if (axis < 0) {
        p->changed.i *= times;
    } else {
        p->changed.tensor = mase_arena_memdup(a, p->changed.tensor, sizeof *p->changed.tensor);
        p->changed.tensor->shape.dim[axis] *= times;
    }
    if (mase_call_init(&c, a, p->node, lookup, p, &why) || mase_call_apply_rule(&c, &why))
        return false;
    p->result[times - 1] = c.result;
    return true;
}

/* One length of the result. False: it is no line, or depends on two lengths of the operand. */
static bool take_length(struct probe *p, struct mase_width_sum *out, const int64_t at[TRIES])
{
    struct mase_widths *w = p->k->w;
    const int64_t step = at[1] - at[0];
    if (at[2] - at[1] != step)
        return false;
    if (!step)
        return true;
    if (!mase_width_is_constant(out))
        return false;
    const struct mase_width_sum rest = mase_width_constant(w, at[0] - step),
                                part = mase_width_times(w, p->length, step, p->now);
    *out = mase_width_plus(w, &part, &rest);
    p->hit = true;
    return true;
}

static bool take_tensor(struct probe *p, struct mase_width_flow *out,
                        const struct mase_arg r[TRIES])
{
    const struct mase_shape *s[TRIES];
    int changed = 0;
    for (int t = 0; t < TRIES; t++)
        s[t] = &r[t].tensor->shape;
    if (s[1]->rank != s[0]->rank || s[2]->rank != s[0]->rank)
        return false;
    for (int d = 0; d < s[0]->rank; d++) {
        const int64_t at[TRIES] = { s[0]->dim[d], s[1]->dim[d], s[2]->dim[d] };
        changed += at[0] != at[1];
        if (!take_length(p, &out->dim[d], at))
            return false;
    }
    return changed <= 1;
}

static bool take(struct probe *p, struct mase_width_flow *out, const struct mase_arg r[TRIES])
{
    if (r[1].kind != r[0].kind || r[2].kind != r[0].kind)
        return false;
    if (r[0].kind == MASE_ARG_TENSOR)
        return take_tensor(p, out, r);
    if (r[0].kind == MASE_ARG_INT)
        return take_length(p, &out->dim[0], (const int64_t[TRIES]){ r[0].i, r[1].i, r[2].i });
    if (r[0].kind == MASE_ARG_FLOAT) /* it is computed anew with the new widths */
        return true;
    if (!mase_arg_is_seq(&r[0]))
        return mase_arg_equal(&r[1], &r[0]) && mase_arg_equal(&r[2], &r[0]);
    if (r[1].count != r[0].count || r[2].count != r[0].count)
        return false;
    for (int i = 0; i < r[0].count; i++)
        if (!take(p, &out->item[i],
                  (const struct mase_arg[TRIES]){ r[0].items[i], r[1].items[i], r[2].items[i] }))
            return false;
    return true;
}

static bool has_tensor(const struct mase_arg *a)
{
    bool has = a->kind == MASE_ARG_TENSOR;
    for (int i = 0; mase_arg_is_seq(a) && i < a->count && !has; i++)
        has = has_tensor(&a->items[i]);
    return has;
}

/* May a result stay as it is while its operand grows? A batch size does; a buffer that takes the
 * operand's values must not. */
static bool may_stay(const struct probe *p)
{
    const struct mase_arg *r = &p->result[0];
    return mase_op_prim(p->node->op) == MASE_PRIM_reduce ||
           (r->kind != MASE_ARG_NONE && !has_tensor(r));
}

static bool probe_length(struct probe *p, struct mase_width_flow *out, int axis)
{
    p->hit = false;
    for (int times = 1; times <= TRIES; times++)
        if (!try_length(p, axis, times))
            return false;
    return take(p, out, p->result) && (p->hit || may_stay(p));
}

bool mase_width_probe(struct mase_width_walk *k, struct mase_width_flow *out,
                      const struct mase_node *n, const struct mase_node *operand)
{
    const struct mase_arg *x = mase_width_base(k, operand);
    const struct mase_width_flow *f = mase_width_flow_of(k, operand);
    struct probe p = { .k = k, .node = n, .operand = operand };
    const bool number = x->kind == MASE_ARG_INT;
    if (!number && x->kind != MASE_ARG_TENSOR)
        return false;
    if (mase_op_prim(n->op) == MASE_PRIM_update) /* at places that would stay where they are */
        return false;
    for (int d = 0; d < (number ? 1 : f->rank); d++) {
        p.length = &f->dim[d];
        p.now = number ? x->i : x->tensor->shape.dim[d];
        if (!mase_width_is_constant(p.length) && !probe_length(&p, out, number ? -1 : d))
            return false;
    }
    return true;
}
