/*
 * product.c - matrix products within each sample (product.h).
 */
#include "exec/step/product.h"

#include "exec/reference/ref.h"

static const float *row_of(const struct mase_step *s, const float *x, long row)
{
    return x + row * s->plan->stride;
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct mase_product *t = s->own;
    const long stride = s->plan->stride;
    for (long r = from; r < to; r++) {
        const long l = r / (t->M * t->J), m = r / t->J % t->M, j = r % t->J;
        const struct mase_dot d = { .a = row_of(s, s->in[0]->x, t->a.matrix[l] + m * t->a.outer),
                                    .b = row_of(s, s->in[1]->x, t->b.matrix[l] + j * t->b.outer),
                                    .a_step = t->a.inner * stride,
                                    .b_step = t->b.inner * stride,
                                    .K = t->K,
                                    .scale = t->scale };
        s->plan->k->dot_rows(s->out->x + r * stride, &d, false, s->plan->n);
    }
}

/* Element (o, k) of matrix `own` of one side, o being m or j: over all l that use it, the gradient
 * along the other dimension times the other side. */
static void side_gradient(const struct mase_step *s, int side, long own, long o, long k)
{
    const struct mase_product *t = s->own;
    const struct mase_product_side *me = side ? &t->b : &t->a, *other = side ? &t->a : &t->b;
    const long stride = s->plan->stride, dy_step = side ? t->J : 1, dy_o = side ? 1 : t->J;
    bool add = s->add[side];
    for (int32_t i = me->start[own]; i < me->start[own + 1]; i++, add = true) {
        const long l = me->users[i], row = me->matrix[l] + o * me->outer + k * me->inner;
        const struct mase_dot d = { .a = row_of(s, s->out->dx, l * t->M * t->J + o * dy_o),
                                    .b = row_of(s, s->in[!side]->x,
                                                other->matrix[l] + k * other->inner),
                                    .a_step = dy_step * stride,
                                    .b_step = other->outer * stride,
                                    .K = side ? t->M : t->J,
                                    .scale = t->scale };
        s->plan->k->dot_rows(s->in[side]->dx + row * stride, &d, add, s->plan->n);
    }
}

static void backward_a(const struct mase_step *s, long from, long to)
{
    const struct mase_product *t = s->own;
    for (long i = from; i < to && s->in[0]->dx; i++)
        side_gradient(s, 0, i / (t->M * t->K), i / t->K % t->M, i % t->K);
}

static void backward_b(const struct mase_step *s, long from, long to)
{
    const struct mase_product *t = s->own;
    for (long i = from; i < to && s->in[1]->dx; i++)
        side_gradient(s, 1, i / (t->J * t->K), i / t->K % t->J, i % t->K);
}

/* Set where the matrices of a side begin, and which products read each; shape is that of a sample.
 */
static void set_side(struct mase_step *s, struct mase_product_side *side,
                     const struct mase_shape *shape, const struct mase_shape *leading)
{
    struct mase_arena *a = &s->plan->arena;
    const struct mase_shape own = mase_shape_part(shape, 0, shape->rank - 2);
    const long size = (long)(shape->dim[shape->rank - 2] * shape->dim[shape->rank - 1]);
    const long L = (long)mase_shape_count(leading);
    side->matrices = (long)mase_shape_count(&own);
    side->matrix = mase_new_array(a, int32_t, (size_t)L);
    side->start = mase_new_array(a, int32_t, (size_t)side->matrices + 2);
    side->users = mase_new_array(a, int32_t, (size_t)L);
    struct mase_nd w = mase_nd(leading);
    mase_nd_add(&w, &own);
    for (; w.i < w.count; mase_nd_next(&w)) {
        side->matrix[w.i] = (int32_t)(w.off[0] * size);
        side->start[w.off[0] + 2]++;
    }
    for (long i = 2; i < side->matrices + 2; i++)
        side->start[i] += side->start[i - 1];
    for (long l = 0; l < L; l++)
        side->users[side->start[side->matrix[l] / size + 1]++] = (int32_t)l;
}

static void add_phases(struct mase_step *s)
{
    const struct mase_product *t = s->own;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, t->L * t->M * t->J);
    mase_step_backward(s, backward_a, MASE_UNIT_ITEMS, t->a.matrices * t->M * t->K);
    mase_step_backward(s, backward_b, MASE_UNIT_ITEMS, t->b.matrices * t->J * t->K);
}

void mase_product_set(struct mase_step *s, const struct mase_shape *a, const struct mase_shape *b,
                      const struct mase_shape *leading, bool turned, float scale)
{
    struct mase_product *t = s->own = mase_new(&s->plan->arena, struct mase_product);
    t->L = (long)mase_shape_count(leading);
    t->M = (long)a->dim[a->rank - 2];
    t->K = (long)a->dim[a->rank - 1];
    t->J = (long)b->dim[b->rank - (turned ? 2 : 1)];
    t->scale = scale;
    set_side(s, &t->a, a, leading);
    set_side(s, &t->b, b, leading);
    t->a.outer = t->K;
    t->a.inner = 1;
    t->b.outer = turned ? t->K : 1;
    t->b.inner = turned ? 1 : t->J;
    add_phases(s);
}

void mase_outer_set(struct mase_step *s, const struct mase_shape *leading, long M, long J)
{
    struct mase_product *t = s->own = mase_new(&s->plan->arena, struct mase_product);
    const struct mase_shape a = { 3, { leading->dim[0], M, 1 } },
                            b = { 3, { leading->dim[0], 1, J } };
    *t = (struct mase_product){ .L = (long)leading->dim[0], .M = M, .K = 1, .J = J, .scale = 1.0f };
    set_side(s, &t->a, &a, leading);
    set_side(s, &t->b, &b, leading);
    t->a.outer = t->b.outer = 1;
    add_phases(s);
}
