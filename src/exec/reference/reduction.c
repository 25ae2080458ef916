/*
 * reduction.c - one result out of many values (reduction.h), and the reference of these operations.
 */
#include "exec/reference/reduction.h"

#include <math.h>

#include "exec/reference/ref.h"

struct mase_reduction_kind {
    void (*sum)(const struct mase_reduction_op *op, const struct mase_vector *l,
                struct mase_reduction_sum *s);
    double (*slope)(const struct mase_reduction_op *op, const struct mase_vector *l,
                    const struct mase_reduction_sum *s, double x); /* NULL: no gradient passes */
};

static double sign(double x)
{
    return (x > 0.0) - (x < 0.0);
}

/* ---- mean, variance ---- */

static double degrees(const struct mase_reduction_op *op, const struct mase_vector *l)
{
    return fmax(0.0, (double)l->count - op->p);
}

static void sum_var(const struct mase_reduction_op *op, const struct mase_vector *l,
                    struct mase_reduction_sum *s)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t k = 0; k < l->count; k++)
        sum += l->at(l, k);
    s->mean = sum / (double)l->count;
    for (int64_t k = 0; k < l->count; k++) {
        const double d = l->at(l, k) - s->mean;
        squares += d * d;
    }
    s->value = squares / degrees(op, l);
}

static void sum_mean(const struct mase_reduction_op *op, const struct mase_vector *l,
                     struct mase_reduction_sum *s)
{
    sum_var(op, l, s);
    s->value = s->mean;
}

static double slope_mean(const struct mase_reduction_op *op, const struct mase_vector *l,
                         const struct mase_reduction_sum *s, double x)
{
    (void)op, (void)s, (void)x;
    return 1.0 / (double)l->count;
}

static double slope_var(const struct mase_reduction_op *op, const struct mase_vector *l,
                        const struct mase_reduction_sum *s, double x)
{
    return 2.0 * (x - s->mean) / degrees(op, l);
}

static void sum_std(const struct mase_reduction_op *op, const struct mase_vector *l,
                    struct mase_reduction_sum *s)
{
    sum_var(op, l, s);
    s->value = sqrt(s->value);
}

static double slope_std(const struct mase_reduction_op *op, const struct mase_vector *l,
                        const struct mase_reduction_sum *s, double x)
{
    return s->value == 0.0 ? 0.0 : (x - s->mean) / (degrees(op, l) * s->value);
}

/* ---- norms ---- */

static void sum_norm(const struct mase_reduction_op *op, const struct mase_vector *l,
                     struct mase_reduction_sum *s)
{
    const bool extreme = isinf(op->p);
    double sum = extreme && op->p < 0.0 ? INFINITY : 0.0;
    for (int64_t k = 0; k < l->count; k++) {
        const double x = fabs(l->at(l, k));
        if (extreme && (isnan(x) || (op->p > 0.0 ? x > sum : x < sum)) && !isnan(sum))
            sum = x;
        else if (!extreme)
            sum += op->p == 2.0   ? x * x
                   : op->p == 1.0 ? x
                   : op->p == 0.0 ? x != 0.0
                                  : pow(x, op->p);
    }
    s->value = op->p == 2.0                              ? sqrt(sum)
               : extreme || op->p == 1.0 || op->p == 0.0 ? sum
                                                         : pow(sum, 1.0 / op->p);
    for (int64_t k = 0; extreme && k < l->count; k++)
        s->ties += fabs(l->at(l, k)) == s->value;
}

static double slope_norm(const struct mase_reduction_op *op, const struct mase_vector *l,
                         const struct mase_reduction_sum *s, double x)
{
    (void)l;
    if (isinf(op->p))
        return fabs(x) == s->value ? sign(x) / s->ties : 0.0;
    if (op->p == 0.0 || s->value == 0.0 || (x == 0.0 && op->p < 2.0))
        return 0.0;
    if (op->p == 1.0)
        return sign(x);
    if (op->p == 2.0)
        return x / s->value;
    return sign(x) * pow(fabs(x), op->p - 1.0) * pow(s->value, 1.0 - op->p);
}

/* ---- exponentials and products ---- */

static void sum_logsumexp(const struct mase_reduction_op *op, const struct mase_vector *l,
                          struct mase_reduction_sum *s)
{
    double top = -INFINITY, sum = 0.0;
    (void)op;
    for (int64_t k = 0; k < l->count; k++)
        top = fmax(top, l->at(l, k));
    if (isinf(top))
        top = 0.0;
    for (int64_t k = 0; k < l->count; k++)
        sum += exp(l->at(l, k) - top);
    s->value = log(sum) + top;
}

static double slope_logsumexp(const struct mase_reduction_op *op, const struct mase_vector *l,
                              const struct mase_reduction_sum *s, double x)
{
    (void)op, (void)l;
    return exp(x - s->value);
}

static void sum_prod(const struct mase_reduction_op *op, const struct mase_vector *l,
                     struct mase_reduction_sum *s)
{
    (void)op;
    s->value = s->rest = 1.0;
    for (int64_t k = 0; k < l->count; k++) {
        const double x = l->at(l, k);
        s->value *= x;
        s->zeros += x == 0.0;
        s->rest *= x == 0.0 ? 1.0 : x;
    }
}

/* The product of the others. */
static double slope_prod(const struct mase_reduction_op *op, const struct mase_vector *l,
                         const struct mase_reduction_sum *s, double x)
{
    (void)op, (void)l;
    if (s->zeros == 0)
        return s->value / x;
    return s->zeros == 1 && x == 0.0 ? s->rest : 0.0;
}

/* ---- extremes and truth values ---- */

/* The first of the best; NaN is better than anything. */
static void find_best(const struct mase_vector *l, struct mase_reduction_sum *s, bool max)
{
    for (int64_t k = 0; k < l->count; k++) {
        const double x = l->at(l, k);
        if (k == 0 || (!isnan(s->value) && (isnan(x) || (max ? x > s->value : x < s->value)))) {
            s->value = x;
            s->place = k;
        }
    }
    for (int64_t k = 0; k < l->count; k++)
        s->ties += l->at(l, k) == s->value;
}

static void sum_amax(const struct mase_reduction_op *op, const struct mase_vector *l,
                     struct mase_reduction_sum *s)
{
    (void)op;
    find_best(l, s, true);
}

static void sum_amin(const struct mase_reduction_op *op, const struct mase_vector *l,
                     struct mase_reduction_sum *s)
{
    (void)op;
    find_best(l, s, false);
}

/* All that are the best share the gradient. */
static double slope_extreme(const struct mase_reduction_op *op, const struct mase_vector *l,
                            const struct mase_reduction_sum *s, double x)
{
    (void)op, (void)l;
    return x == s->value ? 1.0 / s->ties : 0.0;
}

static void sum_argmax(const struct mase_reduction_op *op, const struct mase_vector *l,
                       struct mase_reduction_sum *s)
{
    sum_amax(op, l, s);
    s->value = (double)s->place;
}

static void sum_argmin(const struct mase_reduction_op *op, const struct mase_vector *l,
                       struct mase_reduction_sum *s)
{
    sum_amin(op, l, s);
    s->value = (double)s->place;
}

static void sum_any(const struct mase_reduction_op *op, const struct mase_vector *l,
                    struct mase_reduction_sum *s)
{
    (void)op;
    for (int64_t k = 0; k < l->count; k++)
        s->value = s->value != 0.0 || l->at(l, k) != 0.0;
}

static void sum_all(const struct mase_reduction_op *op, const struct mase_vector *l,
                    struct mase_reduction_sum *s)
{
    (void)op;
    s->value = 1.0;
    for (int64_t k = 0; k < l->count; k++)
        s->value = s->value != 0.0 && l->at(l, k) != 0.0;
}

/* ---- reading a call ---- */

static const struct mase_reduction_kind table[MASE_OP_COUNT] = {
    [MASE_OP_var] = { sum_var, slope_var },
    [MASE_OP_std] = { sum_std, slope_std },
    [MASE_OP_var_mean] = { sum_var, slope_var },
    [MASE_OP_std_mean] = { sum_std, slope_std },
    [MASE_OP_norm] = { sum_norm, slope_norm },
    [MASE_OP_linalg_norm] = { sum_norm, slope_norm },
    [MASE_OP_vector_norm] = { sum_norm, slope_norm },
    [MASE_OP_logsumexp] = { sum_logsumexp, slope_logsumexp },
    [MASE_OP_prod] = { sum_prod, slope_prod },
    [MASE_OP_amax] = { sum_amax, slope_extreme },
    [MASE_OP_amin] = { sum_amin, slope_extreme },
    [MASE_OP_argmax] = { sum_argmax, NULL },
    [MASE_OP_argmin] = { sum_argmin, NULL },
    [MASE_OP_any] = { sum_any, NULL },
    [MASE_OP_all] = { sum_all, NULL },
};

/* The second result of var_mean and std_mean. */
static const struct mase_reduction_kind mean_row = { sum_mean, slope_mean };

enum mase_status mase_reduction_read(const struct mase_call *c, int result,
                                     struct mase_reduction_op *op, struct mase_err *err)
{
    *op = (struct mase_reduction_op){ .row = result ? &mean_row : &table[c->node->op] };
    MASE_TRY(mase_reduction_axes(c, op->in, err));
    return mase_reduction_number(c, &op->p, err);
}

struct mase_reduction_sum mase_reduction_sum(const struct mase_reduction_op *op,
                                             const struct mase_vector *l)
{
    struct mase_reduction_sum s = { 0 };
    op->row->sum(op, l, &s);
    return s;
}

double mase_reduction_slope(const struct mase_reduction_op *op, const struct mase_vector *l,
                            const struct mase_reduction_sum *s, double x)
{
    return op->row->slope(op, l, s, x);
}

bool mase_reduction_is_flat(const struct mase_reduction_op *op)
{
    return !op->row->slope;
}

/* ---- the reference ---- */

static double element(const struct mase_vector *l, int64_t k)
{
    return ref_get(l->from, l->row[k]);
}

const int32_t *mase_reduction_rows(struct mase_arena *a, const struct mase_tensor *x,
                                   const struct mase_reduction_op *op, int64_t vectors,
                                   int64_t length)
{
    const int64_t n = mase_tensor_count(x);
    int32_t *row = mase_new_array(a, int32_t, (size_t)n);
    int64_t *next = mase_new_array(a, int64_t, (size_t)vectors);
    for (struct mase_nd w = mase_nd_reduced(&x->shape, op->in); w.i < w.count; mase_nd_next(&w))
        row[w.off[0] * length + next[w.off[0]]++] = (int32_t)w.i;
    return row;
}

/* One of the results. */
static enum mase_status reduce_vectors(struct mase_call *c, struct mase_tensor *out, int result,
                                       struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_reduction_op op;
    MASE_TRY(mase_reduction_read(c, result, &op, err));
    int64_t length = 1;
    for (int d = 0; d < x->shape.rank; d++)
        length *= op.in[d] ? x->shape.dim[d] : 1;
    const int64_t vectors = mase_tensor_count(out);
    const int32_t *row = mase_reduction_rows(c->arena, x, &op, vectors, length);
    for (int64_t i = 0; i < vectors; i++) {
        const struct mase_vector l = {
            .at = element, .count = length, .from = x, .row = row + i * length
        };
        ref_set(out, i, mase_reduction_sum(&op, &l).value);
    }
    return MASE_OK;
}

enum mase_status mase_forward_reduction(struct mase_call *c, struct mase_err *err)
{
    if (!mase_arg_is_seq(&c->result))
        return reduce_vectors(c, ref_out(c), 0, err);
    for (int i = 0; i < c->result.count; i++)
        MASE_TRY(reduce_vectors(c, c->result.items[i].tensor, i, err));
    return MASE_OK;
}

/* ---- by norms ---- */

static double place_of(const struct mase_vector *l, int64_t k)
{
    return ref_get(l->from, l->first + k * l->stride);
}

static double norm_of(const struct mase_vector *l, double p)
{
    struct mase_reduction_sum s = { 0 };
    sum_norm(&(struct mase_reduction_op){ .p = p }, l, &s);
    return s.value;
}

enum mase_status mase_forward_normalize(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    double p, eps;
    struct mase_reduction_op op = { 0 };
    MASE_TRY(mase_call_float(c, &p, "p", err));
    MASE_TRY(mase_call_float(c, &eps, "eps", err));
    MASE_TRY(mase_call_axes(c, op.in, &x->shape, "dim", true, err));
    int64_t length = 1;
    for (int d = 0; d < x->shape.rank; d++)
        length *= op.in[d] ? x->shape.dim[d] : 1;
    const int64_t vectors = length ? mase_tensor_count(x) / length : 0;
    const int32_t *row = mase_reduction_rows(c->arena, x, &op, vectors, length);
    for (int64_t i = 0; i < vectors; i++, row += length) {
        const struct mase_vector l = { .at = element, .count = length, .from = x, .row = row };
        const double norm = norm_of(&l, p), by = norm < eps ? eps : norm;
        for (int64_t k = 0; k < length; k++)
            ref_set(ref_out(c), row[k], ref_get(x, row[k]) / by);
    }
    return MASE_OK;
}

/* Broadcast both operands to their common shape. */
static struct mase_tensor widened(struct mase_call *c, const struct mase_tensor *x,
                                  const struct mase_shape *shape)
{
    struct mase_tensor t = mase_tensor(c->arena, MASE_F64, shape, true);
    struct mase_nd w = mase_nd(shape);
    mase_nd_add(&w, &x->shape);
    for (; w.i < w.count; mase_nd_next(&w))
        ((double *)t.data)[w.i] = ref_get(x, w.off[0]);
    return t;
}

static double cosine(const struct mase_vector *x, const struct mase_vector *y, double eps)
{
    double dot = 0.0;
    for (int64_t k = 0; k < x->count; k++)
        dot += x->at(x, k) * y->at(y, k);
    return dot / (fmax(norm_of(x, 2.0), eps) * fmax(norm_of(y, 2.0), eps));
}

/* cosine_similarity and pairwise_distance. */
enum mase_status mase_forward_pairs(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x1 = mase_call_tensor(c, "x1"), *x2 = mase_call_tensor(c, "x2");
    const bool distance = c->node->op == MASE_OP_pairwise_distance;
    struct mase_shape both = x1->shape;
    double eps, p = 2.0;
    int axis = 0;
    mase_shape_widen(&both, &x2->shape);
    MASE_TRY(mase_call_float(c, &eps, "eps", err));
    if (distance)
        MASE_TRY(mase_call_float(c, &p, "p", err));
    if (distance)
        axis = both.rank - 1;
    else
        MASE_TRY(mase_call_axis_arg(c, &axis, &both, "dim", err));
    struct mase_tensor a = widened(c, x1, &both), b = widened(c, x2, &both);
    for (int64_t i = 0; distance && i < mase_tensor_count(&a); i++)
        ((double *)a.data)[i] += eps - ((double *)b.data)[i];
    const struct mase_axis v = mase_axis_of(&both, axis);
    for (int64_t i = 0; i < v.outer * v.inner; i++) {
        struct mase_vector x = { place_of, v.len, &a, NULL, 0, v.inner }, y = x;
        x.first = y.first = i / v.inner * v.len * v.inner + i % v.inner;
        y.from = &b;
        ref_set(ref_out(c), i, distance ? norm_of(&x, p) : cosine(&x, &y, eps));
    }
    return MASE_OK;
}
