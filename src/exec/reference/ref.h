/*
 * ref.h - what the reference forwards share.
 *
 * How they compute: storage is float32 (or whatever type the tensor has), every element is read as
 * a double, the arithmetic of one result is done in double in the order of the definition, and the
 * result is rounded once to its type. A dot product, a mean or a softmax therefore has one rounding
 * error, not one per term. Integers pass through double too: exact up to 2^53.
 *
 * A forward (mase_forward_*, named by ops.def) is given a call whose shape rule has succeeded and
 * whose result tensors have memory. It can fail only for values: an index out of range.
 */
#ifndef MASE_EXEC_REFERENCE_REF_H
#define MASE_EXEC_REFERENCE_REF_H

#include <mase/run.h>

#include "ir/shape/shape.h"

#define RUN(forward) mase_forward_fn mase_forward_##forward;
#include <ops/references.def>

static inline double ref_get(const struct mase_tensor *t, int64_t i)
{
    return t->dtype == MASE_F32 ? (double)((const float *)t->data)[i] : mase_tensor_get(t, i);
}

static inline void ref_set(struct mase_tensor *t, int64_t i, double v)
{
    if (t->dtype == MASE_F32)
        ((float *)t->data)[i] = (float)v;
    else
        mase_tensor_set(t, i, v);
}

/* The result when it is one tensor. */
static inline struct mase_tensor *ref_out(const struct mase_call *c)
{
    return c->result.tensor;
}

/* MASE_ELIMIT where the new tensors of value, added to all that c's arena holds, are more than a
 * network may take. */
enum mase_status mase_ref_room(const struct mase_call *c, const struct mase_arg *value,
                               struct mase_err *err) MASE_MUST_CHECK;
/* Memory for the result's new tensors; returns how many there were. */
int mase_ref_allocate(struct mase_arena *a, struct mase_arg *result);
/* Compute the result, for which there is memory: integers by arithmetic of their own, all else by
 * the operation's forward. */
enum mase_status mase_ref_compute(struct mase_call *c, struct mase_err *err) MASE_MUST_CHECK;

/* An operand that is a tensor or a number; off is ignored for a number. */
double mase_ref_operand(const struct mase_arg *a, int64_t off);

/* An integer divided by zero is an error in Python and has no value. */
enum mase_status mase_ref_zero_divisor(const struct mase_call *c, struct mase_err *err);

/* A batch norm by the statistics of a batch that has one value for each channel. */
bool mase_batch_has_one_value(const struct mase_call *c);
enum mase_status mase_batch_too_small(const struct mase_node *n, struct mase_err *err);

/* The function of div by its rounding_mode. */
enum mase_status mase_ref_division(const struct mase_call *c, mase_binary_fn **f,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- walking over several tensors at once ---- */

enum { MASE_ND_OPERANDS = 6, MASE_ND_RANK = 2 * MASE_MAX_RANK };

/* All positions of a shape in row-major order, with the offset of each operand there:
 *
 *     struct mase_nd w = mase_nd(&out->shape);
 *     mase_nd_add(&w, &x->shape);                    // broadcast to the shape walked over
 *     for (; w.i < w.count; mase_nd_next(&w))
 *         ref_set(out, w.i, f(ref_get(x, w.off[0])));
 */
struct mase_nd {
    int rank, operands;
    int64_t dim[MASE_ND_RANK], at[MASE_ND_RANK];
    int64_t stride[MASE_ND_OPERANDS][MASE_ND_RANK];
    int64_t off[MASE_ND_OPERANDS];
    int64_t i, count; /* positions passed, and in all */
};
struct mase_nd mase_nd(const struct mase_shape *shape);
/* Beside the shape, the one that is left when the dimensions of `in` are reduced: off[0]. */
struct mase_nd mase_nd_reduced(const struct mase_shape *shape, const bool *in);
struct mase_nd mase_nd_dims(const int64_t *dim, int rank);
void mase_nd_add(struct mase_nd *w, const struct mase_shape *s);
void mase_nd_add_strides(struct mase_nd *w, const int64_t *stride, int64_t offset);
void mase_nd_next(struct mase_nd *w);

/* out = the elements of a view of in; the elements of a view of out = in. Types must agree for
 * gather; scatter converts. */
void mase_ref_gather(struct mase_tensor *out, const struct mase_tensor *in,
                     const struct mase_view *v);
void mase_ref_scatter(struct mase_tensor *out, const struct mase_view *v,
                      const struct mase_tensor *in);

/* ---- windows ---- */

/* One and two dimensions as three, the others of length 1. */
void mase_ref_lift_window(struct mase_window *w);
/* The index that element i of a padded row copies; the row has indices 0..n. */
int64_t mase_ref_pad_source(enum mase_pad_mode mode, int64_t i, int64_t n);

/* ---- modes ---- */

/* Dropout that is on though nothing is trained would make results random: refused. */
enum mase_status mase_check_dropout(const struct mase_call *c, bool training,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* ---- activations ---- */

/* A function of one value and its derivative; p: what the call gives it. */
typedef double mase_activation_fn(double x, const double *p);
struct mase_activation {
    mase_activation_fn *value, *slope;
    double p[3];
};
enum mase_status mase_activation_read(const struct mase_call *c, struct mase_activation *a,
                                      struct mase_err *err) MASE_MUST_CHECK;

/* ---- softmax and indices ---- */

/* The dimension of softmax, given or by PyTorch's default. */
enum mase_status mase_ref_softmax_axis(const struct mase_call *c, int *axis,
                                       const struct mase_shape *s,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* Element k of an index tensor, checked against a length; negative counts from the end when
 * wrap. */
enum mase_status mase_ref_index(const struct mase_call *c, const struct mase_tensor *index,
                                int64_t k, int64_t len, bool wrap, int64_t *at,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The epsilon of an rms norm: the argument, else the type's machine epsilon. */
enum mase_status mase_rms_eps(const struct mase_call *c, double *eps,
                              struct mase_err *err) MASE_MUST_CHECK;
/* An embedding's index v of a sample that is none of 0..len - 1. */
enum mase_status mase_ref_bad_index(const struct mase_call *c, double v, int64_t sample,
                                    int64_t len, struct mase_err *err);

#endif /* MASE_EXEC_REFERENCE_REF_H */
