/*
 * op_order.c - operations that sort along a dimension: sort, argsort, topk, median, kthvalue.
 * Backward sorts again, and adds the gradient at the original places of the values.
 *
 * Equal values keep their order, and NaN is larger than anything.
 */
#include <math.h>
#include <string.h>

#include "exec/plan/step.h"
#include "exec/reference/reduction.h"
#include "exec/reference/ref.h"

/* ---- the order of a vector ---- */

/* Does a stand before b? */
static bool before(double a, double b, bool descending)
{
    if (isnan(a) || isnan(b))
        return descending ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
    return descending ? a > b : a < b;
}

/* Runs from..middle and middle..end of `from` as one run of `to`. */
static void merge(const struct mase_vector *l, bool descending, const int32_t *from, int32_t *to,
                  int64_t first, int64_t middle, int64_t end)
{
    int64_t a = first, b = middle;
    for (int64_t i = first; i < end; i++) {
        const bool second =
            a == middle || (b < end && before(l->at(l, from[b]), l->at(l, from[a]), descending));
        to[i] = from[second ? b++ : a++];
    }
}

/* order: room for twice the values of the vector; its first half becomes their places. */
static void find_order(const struct mase_vector *l, bool descending, int32_t *order)
{
    int32_t *from = order, *to = order + l->count;
    for (int64_t i = 0; i < l->count; i++)
        from[i] = (int32_t)i;
    for (int64_t run = 1; run < l->count; run *= 2) {
        for (int64_t first = 0; first < l->count; first += 2 * run) {
            const int64_t middle = first + run < l->count ? first + run : l->count;
            const int64_t end = first + 2 * run < l->count ? first + 2 * run : l->count;
            merge(l, descending, from, to, first, middle, end);
        }
        int32_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, (size_t)l->count * sizeof *order);
}

/* The sorted position of the first requested value; of the first NaN if that wins. NaN sorts last.
 */
static int64_t first_of(const struct mase_vector *l, const struct mase_order *o,
                        const int32_t *order)
{
    int64_t first = o->first;
    if (o->nan_wins && isnan(l->at(l, order[l->count - 1])))
        for (first = l->count - 1; first && isnan(l->at(l, order[first - 1]));)
            first--;
    return first;
}

/* ---- the reference ---- */

static double element(const struct mase_vector *l, int64_t k)
{
    return ref_get(l->from, l->first + k * l->stride);
}

enum mase_status mase_forward_order(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const bool pair = mase_arg_is_seq(&c->result);
    struct mase_order o;
    MASE_TRY(mase_order_read(c, &o, err));
    const bool all = o.axis < 0; /* the median of all has no place */
    struct mase_tensor *values = pair ? c->result.items[0].tensor : all ? c->result.tensor : NULL;
    struct mase_tensor *places = pair ? c->result.items[1].tensor : all ? NULL : c->result.tensor;
    const struct mase_shape row = { .rank = 1, .dim = { mase_tensor_count(x) } };
    const struct mase_axis a = all ? mase_axis_of(&row, 0) : mase_axis_of(&x->shape, o.axis);
    int32_t *order = mase_new_array(c->arena, int32_t, (size_t)(2 * a.len));
    for (int64_t i = 0; i < a.outer * a.inner; i++) {
        const struct mase_vector l = { .at = element,
                                       .count = a.len,
                                       .from = x,
                                       .first = i / a.inner * a.len * a.inner + i % a.inner,
                                       .stride = a.inner };
        find_order(&l, o.descending, order);
        const int32_t *picked = order + first_of(&l, &o, order);
        for (int64_t k = 0; k < o.count; k++) {
            const int64_t to = (i / a.inner * o.count + k) * a.inner + i % a.inner;
            if (values)
                ref_set(values, to, element(&l, picked[k]));
            if (places)
                ref_set(places, to, (double)picked[k]);
        }
    }
    return MASE_OK;
}

/* ---- the step ---- */

struct ordering {
    struct mase_order o;
    struct mase_axis axis; /* of a sample: vector (o, i) has rows (o len + k) inner + i */
    bool places;           /* the result is where the values lie */
    int32_t *order;        /* (vectors, 2 len) */
};

static double lane(const struct mase_vector *l, int64_t k)
{
    return (double)((const float *)l->from)[k * l->stride + l->first];
}

/* The values of vector i in one lane, sorted; the order found. picked: the first of those that are
 * asked for. */
static int32_t *sorted(const struct mase_step *s, long i, long n, int64_t *picked)
{
    const struct ordering *k = s->own;
    const struct mase_axis *a = &k->axis;
    const int64_t first = i / a->inner * a->len * a->inner + i % a->inner;
    const struct mase_vector l = { .at = lane,
                                   .count = a->len,
                                   .from = s->in[0]->x,
                                   .first = first * s->plan->stride + n,
                                   .stride = a->inner * s->plan->stride };
    int32_t *order = k->order + i * 2 * a->len;
    find_order(&l, k->o.descending, order);
    *picked = first_of(&l, &k->o, order);
    return order;
}

static int64_t result_row(const struct ordering *k, long i, int64_t place)
{
    return (i / k->axis.inner * k->o.count + place) * k->axis.inner + i % k->axis.inner;
}

static int64_t input_row(const struct ordering *k, long i, int64_t place)
{
    return (i / k->axis.inner * k->axis.len + place) * k->axis.inner + i % k->axis.inner;
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct ordering *k = s->own;
    const long stride = s->plan->stride;
    for (long i = from; i < to; i++)
        for (long n = 0; n < s->plan->n; n++) {
            int64_t first;
            const int32_t *order = sorted(s, i, n, &first);
            for (int64_t r = 0; r < k->o.count; r++)
                s->out->x[result_row(k, i, r) * stride + n] =
                    k->places ? (float)order[first + r]
                              : s->in[0]->x[input_row(k, i, order[first + r]) * stride + n];
        }
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct ordering *k = s->own;
    const long stride = s->plan->stride;
    float *const dx = s->in[0]->dx;
    for (long i = from; i < to && dx; i++)
        for (long n = 0; n < s->plan->n; n++) {
            int64_t first;
            const int32_t *order = sorted(s, i, n, &first);
            for (int64_t r = 0; r < k->axis.len; r++) {
                float *d = dx + input_row(k, i, order[r]) * stride + n;
                const bool passed = r >= first && r < first + k->o.count && n < s->plan->samples;
                *d = (s->add[0] ? *d : 0.0f) +
                     (passed ? s->out->dx[result_row(k, i, r - first) * stride + n] : 0.0f);
            }
        }
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct ordering *k = s->own = mase_new(&s->plan->arena, struct ordering);
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(mase_order_read(c, &k->o, err));
    if (k->o.axis < 0)
        return mase_call_fail(c, err, "of all values mixes the samples, which a plan cannot");
    const int axis = mase_slot_dim(s->in[0], k->o.axis) - mase_plan_first(s->plan);
    if (axis < 0)
        return mase_call_fail(c, err, "dim = %d is the batch, which a plan keeps", k->o.axis);
    const struct mase_shape sample = mase_slot_sample(s->plan, s->in[0]);
    k->axis = mase_axis_of(&sample, axis);
    k->places = !mase_arg_is_seq(&c->result) || s->result_index == 1;
    const long vectors = (long)(k->axis.outer * k->axis.inner);
    k->order = mase_new_array(&s->plan->arena, int32_t, (size_t)(vectors * 2 * k->axis.len));
    s->stops = k->places;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, vectors);
    if (!k->places)
        mase_step_backward(s, backward, MASE_UNIT_ITEMS, vectors);
    return MASE_OK;
}

const struct mase_step_kind mase_step_order = {
    .name = "order", .prepare = prepare, .axes = MASE_AXES_KEPT, .derives = true
};
