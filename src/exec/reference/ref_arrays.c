/*
 * ref_arrays.c - calls that go over two arrays at once: tensordot, cdist, searchsorted.
 */
#include <math.h>

#include "exec/reference/ref.h"

/* a with the dimensions that are left first, or last: rows of what is summed over. */
static struct mase_tensor as_rows(struct mase_call *c, const struct mase_tensor *x,
                                  const int *order, int sums)
{
    struct mase_shape s = { .rank = x->shape.rank };
    int turned[MASE_MAX_RANK];
    for (int d = 0; d < s.rank; d++) {
        turned[d] = order[(d + sums) % s.rank];
        s.dim[d] = x->shape.dim[turned[d]];
    }
    struct mase_tensor t = mase_tensor(c->arena, x->dtype, &s, true);
    const struct mase_view v = mase_view_permuted(&x->shape, turned);
    mase_ref_gather(&t, x, &v);
    return t;
}

enum mase_status mase_forward_tensordot(struct mase_call *c, struct mase_err *err)
{
    struct mase_tensordot t;
    const struct mase_tensor *a = mase_call_tensor(c, "a"), *b = mase_call_tensor(c, "b");
    MASE_TRY(mase_tensordot_read(c, &t, err));
    const struct mase_tensor x = a->shape.rank ? as_rows(c, a, t.order[0], t.sums) : *a;
    const struct mase_tensor y = b->shape.rank ? as_rows(c, b, t.order[1], t.sums) : *b;
    int64_t length = 1, columns = 1;
    for (int i = 0; i < t.sums; i++)
        length *= a->shape.dim[t.order[0][i]];
    for (int i = 0; i < t.kept[1]; i++)
        columns *= b->shape.dim[t.order[1][t.sums + i]];
    for (int64_t i = 0; i < mase_tensor_count(ref_out(c)); i++) {
        double sum = 0.0;
        for (int64_t k = 0; k < length; k++)
            sum += ref_get(&x, i / columns * length + k) * ref_get(&y, i % columns * length + k);
        ref_set(ref_out(c), i, sum);
    }
    return MASE_OK;
}

/* The norm of the difference of two rows. */
static double distance(const struct mase_tensor *x, int64_t i, const struct mase_tensor *y,
                       int64_t j, int64_t length, double p)
{
    double sum = 0.0;
    for (int64_t k = 0; k < length; k++) {
        const double d = fabs(ref_get(x, i + k) - ref_get(y, j + k));
        if (isinf(p))
            sum = isnan(d) || d > sum ? d : sum;
        else
            sum += p == 2.0 ? d * d : p == 1.0 ? d : p == 0.0 ? d != 0.0 : pow(d, p);
    }
    return isinf(p) || p == 1.0 || p == 0.0 ? sum : p == 2.0 ? sqrt(sum) : pow(sum, 1.0 / p);
}

enum mase_status mase_forward_cdist(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "x1"), *y = mase_call_tensor(c, "x2");
    const struct mase_shape *s = &ref_out(c)->shape;
    const int64_t rows = s->dim[s->rank - 2], columns = s->dim[s->rank - 1];
    const int64_t length = x->shape.dim[x->shape.rank - 1];
    const struct mase_shape lead = mase_shape_part(s, 0, s->rank - 2);
    const struct mase_shape a = mase_shape_part(&x->shape, 0, x->shape.rank - 2);
    const struct mase_shape b = mase_shape_part(&y->shape, 0, y->shape.rank - 2);
    double p;
    MASE_TRY(mase_call_float(c, &p, "p", err));
    struct mase_nd w = mase_nd(&lead);
    mase_nd_add(&w, &a);
    mase_nd_add(&w, &b);
    for (; w.i < w.count; mase_nd_next(&w))
        for (int64_t i = 0; i < rows * columns; i++)
            ref_set(ref_out(c), w.i * rows * columns + i,
                    distance(x, (w.off[0] * rows + i / columns) * length, y,
                             (w.off[1] * columns + i % columns) * length, length, p));
    return MASE_OK;
}

/* The number of elements in the row before the value; NaN sorts last. */
enum mase_status mase_forward_searchsorted(struct mase_call *c, struct mase_err *err)
{
    const bool one_row = c->node->op == MASE_OP_bucketize, right = mase_search_right(c);
    const struct mase_tensor *rows =
        mase_call_tensor(c, one_row ? "boundaries" : "sorted_sequence");
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const int64_t length = rows->shape.dim[rows->shape.rank - 1];
    const int64_t each = x->shape.rank ? x->shape.dim[x->shape.rank - 1] : 1;
    (void)err;
    for (int64_t i = 0; i < mase_tensor_count(x); i++) {
        const int64_t row = rows->shape.rank > 1 ? i / each * length : 0;
        const double v = ref_get(x, i);
        int64_t count = 0;
        for (int64_t k = 0; k < length; k++) {
            const double at = ref_get(rows, row + k);
            count += right ? !(at > v) : !(at >= v);
        }
        ref_set(ref_out(c), i, (double)count);
    }
    return MASE_OK;
}
