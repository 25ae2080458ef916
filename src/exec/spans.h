/*
 * spans.h - which elements of a dimension a pool or a resampling looks at.
 *
 * A pool looks, for every output, at one span of each spatial dimension; an interpolated output
 * lies between two elements of each.
 */
#ifndef MASE_EXEC_SPANS_H
#define MASE_EXEC_SPANS_H

#include "ir/shape.h"

/* Elements first, first + step, ... before end. */
struct mase_span {
    int64_t first, end, step;
    int64_t padded; /* elements when the padding counts too */
};
/* What output o of dimension d looks at. */
typedef struct mase_span mase_span_fn(const struct mase_window *w, int d, int64_t o);
mase_span_fn mase_window_span;
mase_span_fn mase_adaptive_span;

/* An output element lies between two of the input: (1 - part) low + part high. */
struct mase_blend {
    int64_t low, high;
    double part;
};
/* Those of dimension d, one for each output. */
struct mase_blend *mase_blends(const struct mase_call *c, struct mase_arena *a,
                               const struct mase_resize *r, int d);

#endif /* MASE_EXEC_SPANS_H */
