/*
 * plan_formats.h - number formats in a plan: what the program's `round` becomes.
 *
 * What follows the samples is rounded by a step of its own; a weight by each step that uses it,
 * once per forward when training, else once when weights are read; what is derived from weights
 * where it is computed; a constant once. Gradients pass back by the format's column, mostly as if
 * nothing were rounded, so no kind of step needs to know.
 *
 * In a plan whose formats change (reformat.c) every operand that could have a format is rounded,
 * those in float by copying.
 */
#ifndef MASE_EXEC_STEP_PLAN_FORMATS_H
#define MASE_EXEC_STEP_PLAN_FORMATS_H

#include "exec/plan/step.h"
#include "exec/step/round_step.h"
#include "quant/quant.h"

/* Of a bias: the roundings whose steps make its own, and what they have learned. */
struct mase_asked_products {
    struct mase_products products;
    struct mase_param *learned[2][MASE_LEARNED_MAX]; /* of data, of weight */
};

/* A rounding that a node of the graph asks for. */
struct mase_asked {
    struct mase_rounding how; /* format NULL: a copy */
    const struct mase_node *node;
    int operand;                                  /* parameter of its signature, or MASE_RESULT */
    int rank;                                     /* dimensions that blocks are cut from */
    struct mase_param *learned[MASE_LEARNED_MAX]; /* what the format learns of it */
    const struct mase_asked_products *products;   /* NULL: it has steps of its own */
    bool apart;        /* blocks would have to be cut across what a plan keeps apart */
    bool writes, kept; /* in float the call writes into it; with formats it does not */
};

/* A weight's copy, and how it is rounded. */
struct mase_rounded {
    struct mase_weight weight; /* with a gradient of its own if it has a grid, else from's */
    struct mase_weight *from;
    struct mase_round how;
    struct mase_gridded *grid; /* NULL: gradients pass straight */
    struct mase_rounded *next;
};

/* ---- grids whose gradient is not straight: what was cut has none, and steps may be learned
 * (learned_round.c) ---- */

struct mase_gridded_products;

/* Values that lie on grids, one for each block. */
struct mase_gridded {
    struct mase_rounding how;
    const struct mase_gridded_products
        *products;                               /* whose steps these are; NULL: they are its own */
    struct mase_weight *value[MASE_LEARNED_MAX]; /* what is learned of each block */
    int learned;
    int64_t blocks, rows;
    const int64_t *row; // (rows) of each block, one block after the other, as struct mase_round
    const int64_t *end; // (blocks)
    const int32_t *block_of; // (rows), by row / stride
    struct mase_grid *grid;  // (blocks)
    struct mase_block_size
        *seen; // (blocks) of data by which what is learned starts; of weights NULL
    int64_t stride, lanes;
};
/* NULL where a format needs none of this: gradients pass straight. r: its blocks, rows in all. */
struct mase_gridded *mase_gridded(struct mase_plan *p, const struct mase_asked *asked,
                                  const struct mase_round *r, int64_t rows);
/* The step's: it uses what is learned. */
void mase_gridded_use(struct mase_step *s, struct mase_gridded *g);
/* Do its grids follow from what training learns, of it or of others? Before anything is learned,
 * its values stay as they are. */
bool mase_gridded_moves(const struct mase_gridded *g);
/* Grids as they follow from what is learned now. */
void mase_gridded_refresh(const struct mase_gridded *g);
/* What has no value yet is started by x, of which so many lanes are samples: of data by every x
 * since the first, of weights by that one. */
void mase_gridded_start(const struct mase_gridded *g, const float *x, int64_t lanes, bool first);
/* Of rows, by number: y, and later dx, with the sums of each row, (rows, 3). */
void mase_gridded_rows(const struct mase_gridded *g, const struct mase_kernels *k, float *y,
                       const float *x, int64_t lanes, int64_t from, int64_t to);
void mase_gridded_rows_back(const struct mase_gridded *g, const struct mase_kernels *k, float *dx,
                            float *sum, const float *dy, const float *x, bool add, int64_t lanes,
                            int64_t from, int64_t to);
/* The gradients of what is learned of blocks from..to, out of the sums of their rows. */
void mase_gridded_learn(const struct mase_step *s, const struct mase_gridded *g, const float *sum,
                        int64_t from, int64_t to);
/* All of a dense tensor; sum: (rows, 3), NULL when nothing is learned. */
void mase_gridded_single(const struct mase_gridded *g, const struct mase_kernels *k, float *y,
                         const float *x);
void mase_gridded_dense(const struct mase_gridded *g, const struct mase_kernels *k, float *y,
                        const float *x);
void mase_gridded_dense_back(const struct mase_step *s, const struct mase_gridded *g, float *dx,
                             const float *dy, const float *x, bool add);

/* Why a plan cannot pass gradients through this rounding other than straight; NULL: it need not. */
const char *mase_quantise_refusal(const struct mase_plan *p, struct mase_rounding how);
/* to := from rounded, as the instruction says. */
enum mase_status mase_plan_round(struct mase_plan *p, const struct mase_instr *i,
                                 struct mase_slot *to, struct mase_slot *from,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* from rounded by a step of its own, in a new slot with lanes. */
struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      const struct mase_asked *asked);
/* What the step reads instead of slot: its own rounded copy, if slot is a weight to be rounded. */
struct mase_slot *mase_rounded_for(struct mase_step *s, struct mase_slot *slot);
/* The step is prepared: it gives what it rounded its gradient. */
void mase_quantise_finish(struct mase_step *s);
/* Can it be rounded to this format? */
bool mase_asked_fits(const struct mase_asked *a, const struct mase_format *f);
/* Round all weights that do not change until they are read again. */
void mase_quantise_weights(struct mase_plan *p);
void mase_quantise_weight(const struct mase_plan *p, const struct mase_rounded *r);

/* ---- where formats can change (reformat.c) ---- */

/* One of these is rounded: the rows of a step whose own is a struct mase_round, a weight, or the
 * constant `from` into `to`. shape: as it was given to make the rounding. */
struct mase_site {
    struct mase_asked asked;
    struct mase_plan *plan; /* which does it: the plan or its derived one */
    struct mase_shape shape;
    struct mase_step *step;
    struct mase_rounded *rounded;
    float *to;
    const float *from;
    struct mase_site_round *made; /* for formats it has had */
    struct mase_site *next;       /* of the same node or module */
};
/* Remember a copy of it, if the plan's formats may change. */
void mase_site_add(const struct mase_site *site);
/* Round the constant of a site. */
void mase_site_constant(const struct mase_site *site);

#endif /* MASE_EXEC_STEP_PLAN_FORMATS_H */
