/*
 * int_sum.c - sums of products as sums of integers.
 *
 * x is a code times a step, so w x is a code times w step. The products of one sum become integers
 * by the largest number of which all of them are multiples: weights that share a factor (a scale, a
 * mean) are small integers again. Where a scale is no power of two, the step of the weights' format
 * is that number by definition, and biases are rounded to multiples of it; weights without a format
 * have none, and there the bias stays what it is. Bounds of the codes bound every sum.
 */
#include <math.h>
#include <stdlib.h>

#include "integer/int_parts.h"

const struct mase_int_value *mase_int_find_row(const struct mase_int_operands *s, int64_t *row,
                                               int64_t at)
{
    for (int k = 0; k < s->count; k++) {
        const struct mase_int_value *v = s->value[k];
        if (at >= v->at && at < v->at + v->rows) {
            *row = at - v->at;
            return v;
        }
    }
    mase_bug("row %lld is none of the operands'", (long long)at);
}

/* Properties of input k of a group; its step is equal at every position. */
struct input {
    double step;
    bool scaled, used;
};

static enum mase_status find_input(struct mase_int_lowering *l, struct input *in,
                                   const struct mase_int_operands *x, const struct mase_int_sum *f,
                                   int64_t group, int64_t k, struct mase_err *err)
{
    *in = (struct input){ .step = 1 };
    for (int64_t p = 0; p < f->positions; p++) {
        const int32_t at = f->from[(group * f->positions + p) * f->inputs + k];
        int64_t row;
        if (at < 0)
            continue;
        const struct mase_meaning *m = &mase_int_find_row(x, &row, at)->meaning[row];
        if (in->used && in->step != m->step)
            return mase_int_refuse(l, err,
                                   "its weights meet data of different scales at "
                                   "different places");
        *in = (struct input){ m->step, m->scaled, true };
    }
    return MASE_OK;
}

/* The integers of one sum, and its step. */
struct sum {
    int64_t *weight, *bias;
    double step;
    bool scaled;
    float left; /* the part of the bias that is not a multiple of the step */
};

/* Write numbers m 2^e as multiples of their largest common divisor. False: exponents too far apart.
 */
static bool common(int64_t *out, double *step, const struct mase_dyadic *d, int64_t n)
{
    int least = 0;
    bool any = false;
    int64_t gcd = 0;
    for (int64_t k = 0; k < n; k++) {
        if (d[k].m == 0)
            continue;
        least = !any || d[k].e < least ? d[k].e : least;
        any = true;
    }
    for (int64_t k = 0; k < n; k++) {
        const int shift = d[k].m ? d[k].e - least : 0;
        const mase_int_wide v = shift < MASE_INT_LIMIT_BITS
                                    ? (mase_int_wide)d[k].m * ((mase_int_wide)1 << shift)
                                    : (mase_int_wide)MASE_INT_LIMIT;
        if (v >= MASE_INT_LIMIT || v <= -(mase_int_wide)MASE_INT_LIMIT)
            return false;
        out[k] = (int64_t)v;
        gcd = mase_gcd(gcd, out[k]);
    }
    for (int64_t k = 0; k < n && gcd; k++)
        out[k] /= gcd;
    *step = gcd ? ldexp((double)gcd, least) : 1.0;
    return (double)gcd < 0x1p53;
}

/* Weights as exact numbers. A weight that multiplies padding only is ignored. */
static enum mase_status whole_sum(struct mase_int_lowering *l, struct sum *s,
                                  const struct input *in, const float *w, int64_t n,
                                  struct mase_err *err)
{
    struct mase_dyadic *d = mase_new_array(&l->scratch, struct mase_dyadic, (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        const double v = w ? (double)w[k] : 1.0;
        if (!mase_dyadic_mul(&d[k], mase_dyadic_of(in[k].used ? v : 0), mase_dyadic_of(in[k].step)))
            return mase_int_refuse(l, err, "its weights have too many digits");
    }
    if (!common(s->weight, &s->step, d, n))
        return mase_int_refuse(l, err, "its weights are too far apart for %d bits",
                               MASE_INT_LIMIT_BITS);
    return MASE_OK;
}

/* The least step of the data that a sum reads; of all data, if it reads padding only, so that its
 * bias is rounded like others. */
static double least_step(const struct input *in, int64_t n, const struct mase_int_operands *x)
{
    double least = INFINITY;
    for (int64_t k = 0; k < n; k++)
        least = in[k].used && in[k].step < least ? in[k].step : least;
    for (int k = 0; k < x->count && isinf(least); k++)
        for (int64_t r = 0; r < x->value[k]->rows; r++)
            least = fmin(least, x->value[k]->meaning[r].step);
    return least;
}

/* An operand has a scale that is no power of two: all inputs have one step, or powers of two of it.
 */
static enum mase_status scaled_sum(struct mase_int_lowering *l, struct sum *s,
                                   const struct input *in, const float *w, const double *step,
                                   double least, int64_t n, struct mase_err *err)
{
    struct mase_dyadic *d = mase_new_array(&l->scratch, struct mase_dyadic, (size_t)n);
    double unit;
    for (int64_t k = 0; k < n; k++) {
        const double ratio = in[k].used ? in[k].step / least : 1.0, v = w ? (double)w[k] : 1.0;
        if (!mase_dyadic_is_power(mase_dyadic_of(ratio)))
            return mase_int_refuse(l, err,
                                   "its data has scales whose ratios are no powers of "
                                   "two");
        d[k] = mase_dyadic_of(in[k].used ? (step ? rint(v / *step) : v) * ratio : 0);
    }
    if (!common(s->weight, &unit, d, n))
        return mase_int_refuse(l, err, "its weights are too far apart for %d bits",
                               MASE_INT_LIMIT_BITS);
    if (step) /* codes remain codes under a factor */
        for (int64_t k = 0; k < n; k++)
            s->weight[k] = (int64_t)mase_dyadic_double(d[k]);
    s->step = step ? *step * least : unit * least;
    s->scaled = true;
    return MASE_OK;
}

static bool all_zero(const float *w, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (!w || w[k] != 0)
            return false;
    return true;
}

static bool all_finite(const float *w, int64_t n)
{
    for (int64_t k = 0; w && k < n; k++)
        if (!isfinite(w[k]))
            return false;
    return true;
}

/* The bias as a number of steps, if it is an integer, or rounds to one that 32 bits hold; otherwise
 * it becomes part of the sums' meaning. */
static enum mase_status set_bias(struct mase_int_lowering *l, struct sum *s, float bias,
                                 bool rounds, struct mase_err *err)
{
    const double steps = rint((double)bias / s->step);
    if (!isfinite(bias))
        return mase_int_refuse(l, err, "a bias is not finite");
    const bool whole =
        rounds ? fabs(steps) <= INT32_MAX : fabs(steps) < 0x1p52 && steps * s->step == (double)bias;
    *s->bias = whole ? (int64_t)steps : 0;
    s->left = whole ? 0.0f : bias;
    return MASE_OK;
}

static mase_int_wide magnitude(mase_int_wide v)
{
    return v < 0 ? -v : v;
}

/* The least and greatest value of the sum at one position. It must not overflow in any order of its
 * terms; inputs that hardly vary, as biases under zero weights, may be large. */
static bool bound_sum(int64_t *lo, int64_t *hi, const struct mase_int_operands *x,
                      const int32_t *from, const int64_t *weight, int64_t bias, int64_t n)
{
    mase_int_wide least = bias, most = bias, size = magnitude(bias);
    for (int64_t k = 0; k < n; k++) {
        int64_t row;
        if (from[k] < 0)
            continue;
        const struct mase_int_value *v = mase_int_find_row(x, &row, from[k]);
        const mase_int_wide a = (mase_int_wide)weight[k] * v->lo[row],
                            b = (mase_int_wide)weight[k] * v->hi[row];
        least += a < b ? a : b;
        most += a < b ? b : a;
        size += magnitude(a) > magnitude(b) ? magnitude(a) : magnitude(b);
        if (size >= (mase_int_wide)MASE_INT_LIMIT)
            return false;
    }
    *lo = (int64_t)least;
    *hi = (int64_t)most;
    return size < (mase_int_wide)MASE_INT_LIMIT;
}

/* One output of a layer: its integers and the rows that hold it. */
static enum mase_status add_output(struct mase_int_lowering *l, struct mase_int_value *y,
                                   const struct mase_int_operands *x,
                                   const struct mase_int_sum_spec *s, const struct input *in,
                                   int64_t output, struct mase_err *err)
{
    const struct mase_int_sum *f = &s->shape;
    const int64_t group = output / f->outputs, n = f->inputs;
    const float *w = s->weight ? s->weight + output * n : NULL;
    struct sum sum = { .weight = (int64_t *)f->weight + output * n,
                       .bias = (int64_t *)f->bias + output };
    const double *step = s->step ? &s->step[output] : NULL;
    bool scaled = s->scaled;
    for (int64_t k = 0; k < n; k++)
        scaled |= in[k].scaled;
    if (!all_finite(w, n))
        return mase_int_refuse(l, err, "a weight is not finite");
    MASE_TRY(scaled ? scaled_sum(l, &sum, in, w, step, least_step(in, n, x), n, err)
                    : whole_sum(l, &sum, in, w, n, err));
    /* without products there is no step to round the bias to */
    const bool rounds = scaled && step && !l->float_biases && !all_zero(w, n);
    MASE_TRY(set_bias(l, &sum, s->bias ? s->bias[output] : 0.0f, rounds, err));
    for (int64_t p = 0; p < f->positions; p++) {
        const int64_t r = output * f->output_stride + p * f->position_stride;
        struct mase_meaning *m = (struct mase_meaning *)&y->meaning[r];
        *m = (struct mase_meaning){ .step = sum.step,
                                    .scaled = sum.scaled,
                                    .parts = s->parts ? s->parts[p] : 1,
                                    .bias = sum.left,
                                    .scale = 1 };
        if (!bound_sum((int64_t *)&y->lo[r], (int64_t *)&y->hi[r], x,
                       f->from + (group * f->positions + p) * n, sum.weight, *sum.bias, n))
            return mase_int_refuse(l, err, "its sums need more than %d bits", MASE_INT_LIMIT_BITS);
    }
    return MASE_OK;
}

enum mase_status mase_int_add_sum(struct mase_int_lowering *l, const struct mase_int_value **out,
                                  const struct mase_int_operands *x,
                                  const struct mase_int_sum_spec *given, struct mase_err *err)
{
    struct mase_int_sum_spec s = *given;
    struct mase_int_sum *f = &s.shape;
    const int64_t outputs = f->groups * f->outputs;
    struct mase_int_value *y = mase_int_add_value(l, true, outputs * f->positions, NULL);
    struct input *in = mase_new_array(&l->scratch, struct input, (size_t)f->inputs);
    mase_int_own_meanings(l, y);
    mase_int_own_bounds(l, y);
    f->weight = mase_new_array(l->a, int64_t, (size_t)(outputs * f->inputs));
    f->bias = mase_new_array(l->a, int64_t, (size_t)outputs);
    for (int64_t o = 0; o < outputs; o++) {
        for (int64_t k = 0; o % f->outputs == 0 && k < f->inputs; k++)
            MASE_TRY(find_input(l, &in[k], x, f, o / f->outputs, k, err));
        MASE_TRY(add_output(l, y, x, &s, in, o, err));
    }
    struct mase_int_instr *i = mase_int_add_instr(l, MASE_INT_OP_SUM, x, y);
    i->u.sum = *f;
    mase_int_find_sum_access(l, i);
    *out = y;
    return MASE_OK;
}
