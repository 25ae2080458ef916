/*
 * op_binary.c - functions of two values, with broadcasting.
 *
 * The common ones have vector bodies (kern/binary.inc.c); powers and rounded quotients call the C
 * library in double.
 */
#include <math.h>

#include "exec/broadcast.h"
#include "exec/ref.h"

struct binary {
    struct mase_spread operand[2];
    enum mase_binary f;
    float scale;           /* of the second operand of a sum */
    mase_binary_fn *value; /* set: no vector body */
};

/* d x^y / dx, or / dy when second. */
static double slope_pow(double x, double y, bool second)
{
    if (second)
        return x == 0.0 && y >= 0.0 ? 0.0 : pow(x, y) * log(x);
    return y == 0.0 ? 0.0 : y * pow(x, y - 1.0);
}

static double divide_to_zero(double x, double y)
{
    return trunc(x / y);
}

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
        for (long i = 0; b->value && i < p->n; i++)
            y[i] = (float)b->value((double)v.a[v.a_broadcast ? 0 : i],
                                   (double)v.b[v.b_broadcast ? 0 : i]);
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
    for (long i = 0; i < n; i++) {
        const double slope = slope_pow((double)v.a[v.a_broadcast ? 0 : i],
                                       (double)v.b[v.b_broadcast ? 0 : i], operand == 1);
        const float d = (float)((double)dy[i] * slope);
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

/* div may round its quotient, which then has no slope. */
static enum mase_status set_division(struct mase_step *s, struct binary *b, struct mase_err *err)
{
    const char *mode = mase_call_text(s->call, "rounding_mode", "");
    s->stops = *mode != '\0';
    if (mase_streq(mode, "trunc"))
        b->value = divide_to_zero;
    else if (mase_streq(mode, "floor"))
        b->value = mase_binary_of(MASE_OP_floordiv);
    else if (*mode)
        return mase_call_fail(s->call, err, "rounding_mode = '%s' is neither 'trunc' nor 'floor'",
                              mode);
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
    s->stops = op == MASE_OP_floordiv || (!b->value && b->f >= MASE_EQ);
    return op == MASE_OP_div ? set_division(s, b, err) : MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    static mase_phase_fn *const backward[2] = { backward_first, backward_second };
    struct binary *b = s->own = mase_new(&s->plan->arena, struct binary);
    MASE_TRY(choose(s, b, err));
    for (int i = 0; i < 2; i++)
        MASE_TRY(mase_spread_set(s, &b->operand[i], &c->param[i], err));
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    for (int i = 0; i < 2; i++)
        if (b->operand[i].in >= 0 && !s->stops)
            mase_step_backward(s, backward[i], MASE_UNIT_ITEMS,
                               (long)s->in[b->operand[i].in]->rows);
    return MASE_OK;
}

const struct mase_step_kind mase_step_binary = {
    .name = "binary", .prepare = prepare, .axes = MASE_AXES_KEPT, .derives = true
};
