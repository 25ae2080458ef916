/*
 * grad_recurrent.c - recurrent layers step by step: dense layers, gates and states, through which
 * gradients go back in time.
 *
 * What a quantised layer multiplies is rounded at each step, as recur says (ref_recurrent.c).
 */
#include "ir/graph/recurrent.h"
#include "ir/shape/shape.h"
#include "program/grad.h"

enum { MOST_STEPS = 1 << 14 }; /* that are written out */

struct unrolled {
    struct mase_backward *k;
    struct mase_sequence q;
    int time;                      /* the dimension of x that steps go along; -1: a cell has none */
    struct mase_ptype hidden;      /* of h and c */
    const struct mase_arg *weight; /* of the current layer and direction */
    int weights;
    struct mase_arg h, c;
};

/* ---- one step ---- */

static struct mase_arg rounded(struct unrolled *u, struct mase_arg x)
{
    const struct mase_rounding how = u->k->i->round;
    if (!how.format || u->k->b.status)
        return x;
    const struct mase_ptype *t = mase_type_of(&x);
    struct mase_instr *i = mase_expr_instr(&u->k->b, MASE_PRIM_round, MASE_OP_unknown, NULL, t, 1);
    i->param[0] = x;
    i->round = i->result[0]->rounded = how;
    i->round_rank = t->rank;
    i->operand = MASE_RESULT;
    return mase_pvalue_arg(i->result[0]);
}

/* Weights are weight_ih, weight_hh, then biases in the same order, then the projection's. */
static struct mase_arg dense(struct unrolled *u, struct mase_arg x, int which)
{
    const struct mase_arg bias = u->q.layer.bias ? u->weight[2 + which] : mase_arg_none();
    return mase_g(u->k, linear, rounded(u, x), u->weight[which], bias);
}

/* The rows of gate number n. */
static struct mase_arg gate(struct unrolled *u, struct mase_arg sums, int n)
{
    const int64_t width = u->q.layer.hidden;
    return mase_expr_narrow(&u->k->b, sums, 1, (struct mase_extent){ n * width, 0 },
                            (struct mase_extent){ width, 0 });
}

static void plain_step(struct unrolled *u, struct mase_arg from_x, struct mase_arg from_h)
{
    const struct mase_arg sum = mase_g(u->k, add, from_x, from_h);
    u->h = u->q.layer.cell == MASE_CELL_RELU ? mase_g(u->k, relu, sum) : mase_g(u->k, tanh, sum);
}

/* The gates are i, f, g, o. */
static void lstm_step(struct unrolled *u, struct mase_arg from_x, struct mase_arg from_h)
{
    const struct mase_arg sum = mase_g(u->k, add, from_x, from_h);
    const struct mase_arg i = mase_g(u->k, sigmoid, gate(u, sum, 0));
    const struct mase_arg f = mase_g(u->k, sigmoid, gate(u, sum, 1));
    const struct mase_arg g = mase_g(u->k, tanh, gate(u, sum, 2));
    const struct mase_arg o = mase_g(u->k, sigmoid, gate(u, sum, 3));
    u->c = mase_g(u->k, add, mase_g(u->k, mul, f, u->c), mase_g(u->k, mul, i, g));
    u->h = mase_g(u->k, mul, o, mase_g(u->k, tanh, u->c));
    if (u->q.layer.state != u->q.layer.hidden)
        u->h = mase_g(u->k, linear, rounded(u, u->h), u->weight[u->weights - 1], mase_arg_none());
}

/* The gates are r, z, n. */
static void gru_step(struct unrolled *u, struct mase_arg from_x, struct mase_arg from_h)
{
    const struct mase_arg r =
        mase_g(u->k, sigmoid, mase_g(u->k, add, gate(u, from_x, 0), gate(u, from_h, 0)));
    const struct mase_arg z =
        mase_g(u->k, sigmoid, mase_g(u->k, add, gate(u, from_x, 1), gate(u, from_h, 1)));
    const struct mase_arg candidate = mase_g(u->k, mul, r, gate(u, from_h, 2));
    const struct mase_arg n = mase_g(u->k, tanh, mase_g(u->k, add, gate(u, from_x, 2), candidate));
    const struct mase_arg rest = mase_g(u->k, sub, mase_arg_float(1.0), z);
    u->h = mase_g(u->k, add, mase_g(u->k, mul, rest, n), mase_g(u->k, mul, z, u->h));
}

static void step(struct unrolled *u, struct mase_arg x)
{
    const struct mase_arg from_x = dense(u, x, 0), from_h = dense(u, u->h, 1);
    if (u->q.layer.cell == MASE_CELL_LSTM)
        lstm_step(u, from_x, from_h);
    else if (u->q.layer.cell == MASE_CELL_GRU)
        gru_step(u, from_x, from_h);
    else
        plain_step(u, from_x, from_h);
}

/* ---- a layer in one direction ---- */

/* A state to start from: number `at` of those given, or zeros; (N, width) as all that steps see. */
static struct mase_arg first_state(struct unrolled *u, const struct mase_arg *given, int at,
                                   int64_t width)
{
    struct mase_ptype t = u->hidden;
    t.dim[1] = (struct mase_extent){ width, 0 };
    if (given->kind == MASE_ARG_NONE)
        return mase_expr_zeros(&u->k->b, &t);
    if (u->q.layer.single)
        return mase_expr_reshape(&u->k->b, *given, &t);
    const struct mase_arg own = mase_g(u->k, select, *given, mase_arg_int(0), mase_arg_int(at));
    return mase_expr_reshape(&u->k->b, own, &t);
}

/* h of every step in the order of time, each (N, P). */
static void run_direction(struct unrolled *u, struct mase_arg *out, const struct mase_arg *in,
                          int at, bool back)
{
    const struct mase_arg hx = mase_grad_param(u->k, "hx");
    const bool both = mase_arg_is_seq(&hx);
    const struct mase_arg none = mase_arg_none();
    u->h = first_state(u, both ? &hx.items[0] : &hx, at, u->q.layer.state);
    if (u->q.layer.cell == MASE_CELL_LSTM)
        u->c = first_state(u, both ? &hx.items[1] : &none, at, u->q.layer.hidden);
    for (int64_t n = 0; n < u->q.steps; n++) {
        const int64_t t = back ? u->q.steps - 1 - n : n;
        step(u, in[t]);
        out[t] = u->h;
    }
}

/* ---- all layers ---- */

/* The last states of all layers and directions, (layers * directions, N, P). */
static struct mase_arg states(struct unrolled *u, const struct mase_arg *state, int count,
                              const struct mase_pvalue *like)
{
    const struct mase_arg all =
        u->q.layer.single
            ? state[0]
            : mase_g(u->k, stack, mase_expr_tuple(&u->k->b, state, count), mase_arg_int(0));
    return mase_expr_reshape(&u->k->b, all, &like->type);
}

/* Steps of x, each (N, features). */
static struct mase_arg *steps_of(struct unrolled *u)
{
    struct mase_backward *k = u->k;
    const struct mase_arg x = k->i->param[0];
    struct mase_arg *in = mase_new_array(&k->scratch, struct mase_arg, (size_t)u->q.steps);
    struct mase_ptype t = u->hidden;
    t.dim[1] = (struct mase_extent){ u->q.layer.input, 0 };
    for (int64_t n = 0; n < u->q.steps; n++)
        in[n] = mase_expr_reshape(
            &k->b, u->time < 0 ? x : mase_g(k, select, x, mase_arg_int(u->time), mase_arg_int(n)),
            &t);
    return in;
}

static void run_layers(struct unrolled *u, struct mase_arg *in, struct mase_arg *h,
                       struct mase_arg *c)
{
    struct mase_backward *k = u->k;
    const struct mase_recurrent *r = &u->q.layer;
    const struct mase_arg weights = mase_grad_param(k, "weights");
    struct mase_recurrent_param list[MASE_RECURRENT_PARAMS];
    u->weight = weights.items;
    for (int l = 0; l < r->layers && !k->b.status; l++) {
        struct mase_arg *out[2];
        u->weights = mase_recurrent_params(list, r, l);
        for (int d = 0; d < r->directions; d++, u->weight += u->weights) {
            const int at = l * r->directions + d;
            out[d] = mase_new_array(&k->scratch, struct mase_arg, (size_t)u->q.steps);
            run_direction(u, out[d], in, at, d == 1);
            h[at] = u->h;
            c[at] = u->c;
        }
        for (int64_t t = 0; t < u->q.steps; t++) {
            const struct mase_arg sides[2] = { out[0][t], out[r->directions - 1][t] };
            in[t] = r->directions == 1
                        ? sides[0]
                        : mase_g(k, cat, mase_expr_tuple(&k->b, sides, 2), mase_arg_int(1));
        }
    }
}

/* The dimensions of steps and samples of x. */
static bool read_layout(struct unrolled *u)
{
    struct mase_backward *k = u->k;
    const struct mase_ptype *x = mase_type_of(&k->i->param[0]);
    const struct mase_recurrent *r = &u->q.layer;
    const bool first = r->batch_first && u->q.batched;
    u->time = r->single ? -1 : first ? 1 : 0;
    u->hidden = (struct mase_ptype){ .dtype = x->dtype, .rank = 2, .dim = { { 1, 0 } } };
    if (u->q.batched)
        u->hidden.dim[0] = x->dim[r->single || first ? 0 : 1];
    u->hidden.dim[1] = (struct mase_extent){ r->state, 0 };
    if (u->time >= 0 && x->dim[u->time].times)
        mase_grad_refuse(k, "has steps whose number follows the samples");
    if (u->q.steps > MOST_STEPS)
        mase_grad_refuse(k, "would write out more steps than 16384");
    if (k->b.p->training && r->dropout != 0.0 && r->layers > 1)
        mase_grad_refuse(k, "with dropout has no rule: its zeros are no value of the program");
    return !k->b.status;
}

void mase_back_recurrent(struct mase_backward *k)
{
    const struct mase_instr *before = k->b.p->last;
    struct unrolled u = { .k = k };
    struct mase_arg result[3];
    int results = 0;
    const struct mase_call *call = mase_grad_call(k);
    if (!k->b.status)
        k->b.status = mase_sequence_read(&u.q, call, k->b.err);
    if (k->b.status || !read_layout(&u))
        return;
    const int count = u.q.layer.layers * u.q.layer.directions;
    struct mase_arg *h = mase_new_array(&k->scratch, struct mase_arg, (size_t)count);
    struct mase_arg *c = mase_new_array(&k->scratch, struct mase_arg, (size_t)count);
    struct mase_arg *in = steps_of(&u);
    run_layers(&u, in, h, c);
    struct mase_pvalue *const *like = k->i->result;
    if (!u.q.layer.single) {
        const struct mase_arg all =
            mase_g(k, stack, mase_expr_tuple(&k->b, in, (int)u.q.steps), mase_arg_int(u.time));
        result[results] = mase_expr_reshape(&k->b, all, &like[results]->type);
        results++;
    }
    result[results] = states(&u, h, count, like[results]);
    results++;
    if (u.q.layer.cell == MASE_CELL_LSTM) {
        result[results] = states(&u, c, count, like[results]);
        results++;
    }
    mase_grad_expand(k, before, result, results);
}
