/*
 * op_binary.c - functions of two values, with broadcasting.
 *
 * The common ones have vector bodies (kern/binary.inc.c); the rest are computed in double as ZIP in
 * ops.def says, the same on every instruction set.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/step/broadcast.h"

struct binary {
    struct mase_spread operand[2];
    enum mase_binary f;
    float scale;           /* of the second operand of a sum */
    mase_binary_fn *value; /* set: no vector body */
    bool whole;            /* of integers: what lies between two is cut off */
};

static struct mase_pair pair_at(const struct mase_step *s, long r)
{
    const struct binary *b = s->own;
    struct mase_pair p = { .f = b->f, .scale = b->scale };
    p.a = mase_spread_at(s, &b->operand[0], r, &p.a_broadcast);
    p.b = mase_spread_at(s, &b->operand[1], r, &p.b_broadcast);
    return p;
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct binary *b = s->own;
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++) {
        const struct mase_pair v = pair_at(s, r);
        float *y = s->out->x + r * p->stride;
        if (!b->value)
            p->k->binary(y, &v, p->n);
        for (long i = 0; b->value && i < p->n; i++) {
            const double x =
                b->value((double)v.a[v.a_broadcast ? 0 : i], (double)v.b[v.b_broadcast ? 0 : i]);
            y[i] = (float)(b->whole ? trunc(x) : x);
        }
    }
    mase_step_clear(s, s->out->x, from, to);
}

static void part(const struct mase_step *s, int operand, long r, long lane, float *dx, bool add,
                 long n)
{
    const struct binary *b = s->own;
    struct mase_pair v = pair_at(s, r);
    const float *dy = s->out->dx + r * s->plan->stride + lane;
    v.a += v.a_broadcast ? 0 : lane;
    v.b += v.b_broadcast ? 0 : lane;
    if (!b->value) {
        s->plan->k->binary_back(dx, dy, &v, operand == 1, add, n);
        return;
    }
    mase_binary_fn *const slope = mase_partial_of(s->node->op, operand);
    for (long i = 0; i < n; i++) {
        const double rise =
            slope((double)v.a[v.a_broadcast ? 0 : i], (double)v.b[v.b_broadcast ? 0 : i]);
        const float d = (float)((double)dy[i] * rise);
        dx[i] = add ? dx[i] + d : d;
    }
}

static void backward_first(const struct mase_step *s, long from, long to)
{
    const struct binary *b = s->own;
    mase_spread_back(s, &b->operand[0], 0, part, from, to);
}

static void backward_second(const struct mase_step *s, long from, long to)
{
    const struct binary *b = s->own;
    mase_spread_back(s, &b->operand[1], 1, part, from, to);
}

/* Report integer division by 0: one item, so that the first fault is reported. */
static void check_divisors(const struct mase_step *s, long from, long to)
{
    (void)from, (void)to;
    *s->fault = (struct mase_fault){ 0 };
    for (int64_t i = 0; i < s->plan->samples && !s->fault->found; i++)
        for (long r = 0; r < s->out->rows && !s->fault->found; r++) {
            const struct mase_pair v = pair_at(s, r);
            if (v.b[v.b_broadcast ? 0 : i] == 0.0f)
                *s->fault = (struct mase_fault){ true, 0.0f, i };
        }
}

static enum mase_status refuse(const struct mase_step *s, int64_t sample, struct mase_err *err)
{
    (void)sample;
    return mase_ref_zero_divisor(s->call, err);
}

/* div may round its quotient, which then has no slope. */
static enum mase_status set_division(struct mase_step *s, struct binary *b, struct mase_err *err)
{
    mase_binary_fn *f;
    MASE_TRY(mase_ref_division(s->call, &f, err));
    s->stops = f != mase_binary_of(MASE_OP_div);
    b->value = s->stops ? f : NULL;
    return MASE_OK;
}

static const struct {
    enum mase_op op;
    enum mase_binary f;
} vector_bodies[] = {
    { MASE_OP_add, MASE_ADD }, { MASE_OP_sub, MASE_ADD }, { MASE_OP_mul, MASE_MUL },
    { MASE_OP_div, MASE_DIV }, { MASE_OP_max, MASE_MAX }, { MASE_OP_min, MASE_MIN },
    { MASE_OP_eq, MASE_EQ },   { MASE_OP_ne, MASE_NE },   { MASE_OP_gt, MASE_GT },
    { MASE_OP_ge, MASE_GE },   { MASE_OP_lt, MASE_LT },   { MASE_OP_le, MASE_LE },
};

static enum mase_status choose(struct mase_step *s, struct binary *b, struct mase_err *err)
{
    const enum mase_op op = s->node->op;
    double alpha = 1.0;
    b->value = mase_binary_of(op);
    for (size_t i = 0; i < sizeof vector_bodies / sizeof *vector_bodies; i++)
        if (vector_bodies[i].op == op) {
            b->f = vector_bodies[i].f;
            b->value = NULL;
        }
    if (op == MASE_OP_add || op == MASE_OP_sub)
        MASE_TRY(mase_call_float(s->call, &alpha, "alpha", err));
    b->scale = (float)(op == MASE_OP_sub ? -alpha : alpha);
    b->whole = !mase_dtype_is_float(s->out->tensor->dtype);
    s->stops = mase_op_is_flat(op);
    return op == MASE_OP_div ? set_division(s, b, err) : MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    static mase_phase_fn *const backward[2] = { backward_first, backward_second };
    struct binary *b = s->own = mase_new(&s->plan->arena, struct binary);
    MASE_TRY(choose(s, b, err));
    for (int i = 0; i < 2; i++)
        MASE_TRY(mase_spread_set(s, &b->operand[i], &c->param[i], err));
    if (b->whole && mase_op_divides(c->node->op)) {
        s->fault = mase_new(&s->plan->arena, struct mase_fault);
        mase_step_forward(s, check_divisors, MASE_UNIT_ITEMS, 1);
    }
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    for (int i = 0; i < 2; i++)
        if (b->operand[i].in >= 0 && !s->stops)
            mase_step_backward(s, backward[i], MASE_UNIT_ITEMS,
                               (long)s->in[b->operand[i].in]->rows);
    return MASE_OK;
}

const struct mase_step_kind mase_step_binary = {
    .name = "binary", .prepare = prepare, .axes = MASE_AXES_KEPT, .refuse = refuse, .derives = true
};
