/*
 * rowmap.h - results whose rows are weighted sums of rows: y[r] = shift[r] + sum of coef x[row].
 *
 * Everything that moves, repeats, joins, averages or interpolates is such a map; it is listed once
 * when the plan is made and runs, and is run backward, by one pair of functions. Inputs may be
 * plain: then a coefficient multiplies one number for all samples.
 */
#ifndef MASE_EXEC_STEP_ROWMAP_H
#define MASE_EXEC_STEP_ROWMAP_H

#include "exec/plan/step.h"

/* Terms by row: those of row r are [start[r], start[r + 1]). */
struct mase_csr {
    int32_t *start, *row;
    float *coef;
};

struct mase_rowmap {
    long planes;            /* the map below repeats so many times, */
    long out_rows, in_rows; /* these rows further each time (one input only, unless 1) */
    int inputs;
    struct mase_csr *forward, *backward; /* by input */
    float *shift;                        /* (out_rows) or NULL */
    long *first;                         /* backward's items: where those of an input start */
};

/* A term while a map is listed. */
struct mase_term {
    int input;
    int32_t out, in;
    float coef;
};
struct mase_term_list {
    struct mase_term *term;
    int count, cap;
};
void mase_rowmap_add(struct mase_step *s, struct mase_term_list *l, struct mase_term term);
/* The step computes this map of its inputs, in planes repetitions; shift may be NULL. */
void mase_rowmap_set(struct mase_step *s, const struct mase_term_list *l, long planes,
                     float *shift);

#endif /* MASE_EXEC_STEP_ROWMAP_H */
