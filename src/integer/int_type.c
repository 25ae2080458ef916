/*
 * int_type.c - the types of codes, sums and roundings (mase/int_program.h).
 */
#include "integer/int_parts.h"

static mase_int_wide least(mase_int_wide a, mase_int_wide b)
{
    return a < b ? a : b;
}

static mase_int_wide most(mase_int_wide a, mase_int_wide b)
{
    return a > b ? a : b;
}

struct mase_int_type mase_int_range_type(const struct mase_int_range *r)
{
    const mase_int_wide lo = r->lo, hi = r->hi,
                        magnitude = most(lo < 0 ? -(lo + 1) : lo, hi < 0 ? -(hi + 1) : hi);
    struct mase_int_type t = { .is_signed = lo < 0 };
    while (magnitude >> t.width)
        t.width++;
    t.width += t.is_signed;
    t.width += t.width == 0;
    return t;
}

struct mase_int_type mase_int_type_of(int64_t lo, int64_t hi)
{
    return mase_int_range_type(&(struct mase_int_range){ lo, hi });
}

void mase_int_range_add(struct mase_int_range *r, const struct mase_int_value *x, int64_t row,
                        int64_t mul, int64_t add, int64_t room)
{
    const mase_int_wide a = (mase_int_wide)mul * x->lo[row], b = (mase_int_wide)mul * x->hi[row];
    r->lo = least(r->lo, least(least(a, b), least(a, b) + add) - room);
    r->hi = most(r->hi, most(most(a, b), most(a, b) + add) + room);
}

/* ---- values ---- */

/* Bounds of the codes of several values. */
static void bounds_of(int64_t *lo, int64_t *hi, const struct mase_int_value *const *v, int count)
{
    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (int k = 0; k < count; k++)
        for (int64_t r = 0; r < v[k]->rows; r++) {
            *lo = v[k]->lo[r] < *lo ? v[k]->lo[r] : *lo;
            *hi = v[k]->hi[r] > *hi ? v[k]->hi[r] : *hi;
        }
}

struct mase_int_type mase_int_value_type(const struct mase_int_value *v)
{
    int64_t lo, hi;
    bounds_of(&lo, &hi, &v, 1);
    return mase_int_type_of(lo, hi);
}

int mase_int_value_bits(const struct mase_int_value *v)
{
    int bits = 1;
    for (int64_t r = 0; v->codes && r < v->rows; r++) {
        const int width = mase_int_type_of(v->lo[r], v->hi[r]).width;
        bits = width > bits ? width : bits;
    }
    return bits;
}

/* ---- instructions ---- */

struct mase_int_type mase_int_sum_type(const struct mase_int_instr *i)
{
    const struct mase_int_sum *f = &i->u.sum;
    struct mase_int_range all = { 0, 0 };
    int64_t least_x, most_x;
    bounds_of(&least_x, &most_x, i->in, i->in_count);
    for (int64_t o = 0; o < f->groups * f->outputs; o++) {
        mase_int_wide below = least(0, f->bias[o]), above = most(0, f->bias[o]);
        for (int64_t k = 0; k < f->inputs; k++) {
            const mase_int_wide w = f->weight[o * f->inputs + k];
            below += least(0, least(w * least_x, w * most_x));
            above += most(0, most(w * least_x, w * most_x));
        }
        all.lo = least(all.lo, below);
        all.hi = most(all.hi, above);
    }
    return mase_int_range_type(&all);
}

struct mase_int_type mase_int_weight_type(const struct mase_int_instr *i)
{
    const struct mase_int_sum *f = &i->u.sum;
    int64_t lo = 0, hi = 0;
    for (int64_t k = 0; k < f->groups * f->outputs * f->inputs; k++) {
        lo = f->weight[k] < lo ? f->weight[k] : lo;
        hi = f->weight[k] > hi ? f->weight[k] : hi;
    }
    return mase_int_type_of(lo, hi);
}

struct mase_int_type mase_int_round_type(const struct mase_int_instr *i)
{
    struct mase_int_range all = { 0, 0 };
    for (int64_t r = 0; r < i->out->rows; r++) {
        const struct mase_int_round *f = &i->u.round[r];
        mase_int_range_add(&all, i->in[0], r, f->mul, f->add, f->div);
    }
    return mase_int_range_type(&all);
}
