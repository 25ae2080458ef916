/*
 * spans.h - which elements of a dimension a pool or a resampling looks at.
 *
 * A pool looks, for every output, at one span of each spatial dimension; an interpolated output
 * lies between two elements of each.
 */
#ifndef MASE_EXEC_REFERENCE_SPANS_H
#define MASE_EXEC_REFERENCE_SPANS_H

#include "ir/shape/shape.h"

/* Elements first, first + step, ... before end. */
struct mase_span {
    int64_t first, end, step;
    int64_t padded; /* elements when the padding counts too */
};
/* The span of inputs of output o along dimension d. */
typedef struct mase_span mase_span_fn(const struct mase_window *w, int d, int64_t o);
mase_span_fn mase_window_span;
mase_span_fn mase_adaptive_span;

/* Pools that computers other than plans know. */
struct mase_pool {
    enum mase_op op;
    bool largest, adaptive;
};
const struct mase_pool *mase_pool_of(enum mase_op op); /* NULL: it is none */
/* Express an adaptive pool by windows; false: its spans differ in length. */
bool mase_window_adapt(struct mase_window *w);

/* An output element is the sum of so many of the input, each with its part. */
enum { MASE_NEIGHBOURS = 4 };
struct mase_blend {
    int count;
    int64_t at[MASE_NEIGHBOURS];
    double part[MASE_NEIGHBOURS];
};
/* Interpolation weights along dimension d, one for each output. */
struct mase_blend *mase_blends(const struct mase_call *c, struct mase_arena *a,
                               const struct mase_resize *r, int d);

/* The neighbours in all dimensions at once, those of weight 0 left out:
 *
 *     for (mase_blending_start(&k, r, b, at); mase_blending_next(&k);)
 *         sum += k.weight * plane[k.off];
 */
struct mase_blending {
    const struct mase_resize *r;
    const struct mase_blend *b[3];
    int next, count; /* combinations passed, and in all */
    double weight;
    int64_t off, size; /* in a plane, and of it */
};
void mase_blending_start(struct mase_blending *k, const struct mase_resize *r,
                         struct mase_blend *const *b, const int64_t *at);
bool mase_blending_next(struct mase_blending *k);

#endif /* MASE_EXEC_REFERENCE_SPANS_H */
