/*
 * type.c - lengths and shapes that depend on the number of samples, see type.h.
 */
#include <mase/type.h>

const int64_t mase_batch_sizes[MASE_BATCH_SIZES] = { 11, 13, INT64_C(1) << 24 };

int64_t mase_extent_at(struct mase_extent e, int64_t samples)
{
    return e.plus + e.times * samples;
}

bool mase_extent_equal(struct mase_extent a, struct mase_extent b)
{
    return a.plus == b.plus && a.times == b.times;
}

bool mase_extent_between(struct mase_extent *e, const int64_t n[MASE_BATCH_SIZES],
                         const int64_t at[MASE_BATCH_SIZES])
{
    e->times = (at[1] - at[0]) / (n[1] - n[0]);
    e->plus = at[0] - e->times * n[0];
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        if (mase_extent_at(*e, n[s]) != at[s])
            return false;
    return true;
}

bool mase_extent_through(struct mase_extent *e, const int64_t at[MASE_BATCH_SIZES])
{
    return mase_extent_between(e, mase_batch_sizes, at);
}

bool mase_ptype_equal(const struct mase_ptype *a, const struct mase_ptype *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = mase_extent_equal(a->dim[d], b->dim[d]);
    return same;
}

struct mase_shape mase_ptype_shape(const struct mase_ptype *t, int64_t samples)
{
    struct mase_shape s = { .rank = t->rank };
    for (int d = 0; d < t->rank; d++)
        s.dim[d] = mase_extent_at(t->dim[d], samples);
    return s;
}

bool mase_ptype_follows(const struct mase_ptype *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d].times)
            return true;
    return false;
}

bool mase_ptype_through(struct mase_ptype *type,
                        const struct mase_tensor *const t[MASE_BATCH_SIZES])
{
    *type = (struct mase_ptype){ .dtype = t[0]->dtype, .rank = t[0]->shape.rank };
    for (int s = 1; s < MASE_BATCH_SIZES; s++)
        if (t[s]->shape.rank != type->rank || t[s]->dtype != type->dtype)
            return false;
    for (int d = 0; d < type->rank; d++) {
        int64_t at[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            at[s] = t[s]->shape.dim[d];
        if (!mase_extent_through(&type->dim[d], at))
            return false;
    }
    return true;
}

bool mase_ptype_is_batch(const struct mase_ptype *t)
{
    int following = 0;
    for (int d = 0; d < t->rank; d++) {
        const struct mase_extent e = t->dim[d];
        following += e.times != 0;
        if (e.times < 0 || (e.times && e.plus))
            return false;
    }
    return following <= 1;
}
