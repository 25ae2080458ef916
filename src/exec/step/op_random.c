/*
 * op_random.c - random numbers that a network draws: rand, randn and operations on them.
 *
 * As with dropout, a number is that of a random stream chosen by the plan's seed, the step's number
 * and the node's name, at a place given by row and sample: neither threads, tiles nor the batch's
 * size change it. In evaluation, which has no training steps, a sample is identified by its row in
 * the data set, so that equal seeds give equal results.
 */
#include <math.h>

#include <mase/rng.h>

#include "exec/plan/step.h"
#include "exec/reference/ref.h"

struct draw {
    bool normal;
    uint64_t seed, stream;
    int64_t each; /* of what is the same for all samples: rows of its first dimension; else 0 */
};

/* Four samples' numbers are one block of Philox. */
static void draw_block(uint32_t *r, const struct draw *d, enum mase_stream purpose, int64_t block,
                       int64_t row)
{
    const uint32_t key[2] = { (uint32_t)d->seed ^ (uint32_t)purpose, (uint32_t)(d->seed >> 32) };
    const uint32_t counter[4] = { (uint32_t)block, (uint32_t)row, (uint32_t)d->stream,
                                  (uint32_t)(d->stream >> 32) };
    mase_philox(r, counter, key);
}

static float uniform_of(uint32_t r)
{
    return (float)(r >> 8) * 0x1p-24f;
}

/* A normal number from two uniform ones, by Box and Muller; the first is never 0. */
static float normal_of(uint32_t r, uint32_t turn)
{
    const double two_pi = 6.283185307179586;
    const double length = sqrt(-2.0 * log(((double)r + 1.0) * 0x1p-32));
    return (float)(length * cos(two_pi * ((double)turn * 0x1p-32)));
}

/* Row `row` of samples first .. first + n. */
static void draw_row(float *y, const struct draw *d, int64_t row, int64_t first, int64_t n)
{
    uint32_t r[4], turn[4];
    for (int64_t i = 0; i < n; i++) {
        const int64_t sample = first + i;
        if (i == 0 || sample % 4 == 0) {
            draw_block(r, d, MASE_STREAM_DRAW, sample / 4, row);
            if (d->normal)
                draw_block(turn, d, MASE_STREAM_TURN, sample / 4, row);
        }
        y[i] = d->normal ? normal_of(r[sample % 4], turn[sample % 4]) : uniform_of(r[sample % 4]);
    }
}

static bool is_normal(enum mase_op op)
{
    return op == MASE_OP_randn || op == MASE_OP_randn_like || op == MASE_OP_fill_normal ||
           op == MASE_OP_normal;
}

/* ---- the reference ---- */

/* How a call transforms the drawn numbers. */
struct made {
    double scale, shift;
    int64_t count;                /* of integers from shift on; 0: floats */
    bool chance;                  /* 1 below a probability, else 0: */
    const struct mase_arg *a, *b; /* that, or mean and deviation; NULL: as said above */
};

static enum mase_status read_call(const struct mase_call *c, struct made *m, struct mase_err *err)
{
    const enum mase_op op = c->node->op;
    const struct mase_arg *p = mase_call_arg(c, "p");
    double to = 1.0;
    *m = (struct made){ .scale = 1.0, .chance = mase_call_arg(c, "p") != NULL };
    if (m->chance)
        m->a = mase_arg_present(p) ? p : &c->param[0];
    if (op == MASE_OP_normal) {
        m->a = &c->param[0];
        m->b = &c->param[1];
    }
    if (op == MASE_OP_fill_uniform) {
        MASE_TRY(mase_call_float(c, &m->shift, "from", err));
        MASE_TRY(mase_call_float(c, &to, "to", err));
        m->scale = to - m->shift;
    }
    if (op == MASE_OP_fill_normal) {
        MASE_TRY(mase_call_float(c, &m->shift, "mean", err));
        MASE_TRY(mase_call_float(c, &m->scale, "std", err));
    }
    if (op == MASE_OP_randint) {
        struct mase_shape size;
        int64_t low, high;
        MASE_TRY(mase_randint_read(c, &low, &high, &size, err));
        m->count = high - low;
        m->shift = (double)low;
    }
    return MASE_OK;
}

/* One of count: a product in float may come to the end. */
static double whole_of(float y, int64_t count)
{
    const double v = floor((double)(y * (float)count));
    return v < (double)count ? v : (double)(count - 1);
}

/* With the seed 0, the samples in the first dimension. */
enum mase_status mase_forward_random(struct mase_call *c, struct mase_err *err)
{
    struct mase_tensor *out = ref_out(c);
    const struct draw d = { .normal = is_normal(c->node->op),
                            .stream = mase_rng_name(c->node->name) };
    const int64_t samples = out->shape.rank ? out->shape.dim[0] : 1;
    const int64_t rows = samples ? mase_tensor_count(out) / samples : 0;
    struct made m;
    MASE_TRY(read_call(c, &m, err));
    struct mase_nd w = mase_nd(&out->shape);
    mase_nd_add(&w, m.a && mase_arg_tensor(m.a) ? &m.a->tensor->shape : &(struct mase_shape){ 0 });
    mase_nd_add(&w, m.b && mase_arg_tensor(m.b) ? &m.b->tensor->shape : &(struct mase_shape){ 0 });
    for (; w.i < w.count; mase_nd_next(&w)) {
        float y;
        draw_row(&y, &d, w.i % rows, w.i / rows, 1);
        double v = (m.count ? whole_of(y, m.count) : (double)y * m.scale) + m.shift;
        if (m.chance)
            v = v < mase_ref_operand(m.a, w.off[0]);
        else if (m.b)
            v = v * mase_ref_operand(m.b, w.off[1]) + mase_ref_operand(m.a, w.off[0]);
        ref_set(out, w.i, v);
    }
    return MASE_OK;
}

/* ---- the step ---- */

static void forward(const struct mase_step *s, long from, long to)
{
    const struct draw *own = s->own;
    const struct mase_plan *p = s->plan;
    struct draw d = *own;
    if (p->train)
        d.stream ^= p->number * UINT64_C(0x9e3779b97f4a7c15);
    for (long r = from; r < to && d.each; r++)
        draw_row(s->out->x + r * p->stride, &d, r % d.each, r / d.each, 1);
    for (long r = from; r < to && !d.each; r++)
        draw_row(s->out->x + r * p->stride, &d, r, p->first, p->n);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    (void)err;
    struct draw *d = s->own = mase_new(&s->plan->arena, struct draw);
    const struct mase_shape *shape = &s->out->tensor->shape;
    *d = (struct draw){ .normal = is_normal(c->node->op),
                        .seed = s->plan->seed,
                        .stream = mase_rng_name(s->node->name) };
    if (s->plan->derived_of) /* as the reference counts them */
        d->each = shape->rank ? s->out->rows / shape->dim[0] : 1;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    return MASE_OK;
}

const struct mase_step_kind mase_step_random = {
    .name = "random", .prepare = prepare, .axes = MASE_AXES_ANY, .derives = true
};
