/*
 * plan_formats.h - number formats in a plan: the steps of the program's `round`.
 *
 * A value with a batch axis is rounded by a step of its own; a weight by each step that uses it,
 * once per forward in training, else once when weights are read; a value derived from weights where
 * it is computed; a constant once. Gradients pass back as the format's row says, mostly unchanged,
 * so kinds of steps do not depend on formats.
 *
 * In a plan whose formats change (reformat.c) every operand that could have a format is rounded,
 * those in float by copying.
 */
#ifndef MASE_EXEC_STEP_PLAN_FORMATS_H
#define MASE_EXEC_STEP_PLAN_FORMATS_H

#include "exec/plan/step.h"
#include "exec/step/round_step.h"
#include "quant/quant.h"

/* For a bias: the roundings whose steps multiply to the step of the bias, and their learned
 * numbers. */
struct mase_rounding_products {
    struct mase_products products;
    struct mase_param *learned[2][MASE_LEARNED_MAX]; /* of data, of weight */
};

/* A rounding that a node of the graph asks for. */
struct mase_rounding_request {
    struct mase_rounding how; /* format NULL: a copy */
    const struct mase_node *node;
    int operand;                                   /* parameter of its signature, or MASE_RESULT */
    int rank;                                      /* dimensions that blocks are cut from */
    struct mase_param *learned[MASE_LEARNED_MAX];  /* learned numbers of the format */
    const struct mase_rounding_products *products; /* NULL: the rounding has a step of its own */
    bool apart; /* blocks would have to be cut across what a plan keeps apart */
    bool writes,
        kept; /* without formats the call writes into the operand; with formats it does not */
};

/* A rounded copy of a weight. */
struct mase_rounded {
    struct mase_weight
        weight; /* with a gradient of its own if `learned` is set, else that of `from` */
    struct mase_weight *from;
    struct mase_round how;
    struct mase_learned_rounding *learned; /* NULL: gradients pass straight */
    struct mase_rounded *next;
};

/* ---- roundings whose gradient is not straight: clamped values have none, and steps may be learned
 * (learned_round.c) ---- */

struct mase_learned_rounding_products;

/* Values that are rounded to a step with bounds for each block. */
struct mase_learned_rounding {
    struct mase_rounding how;
    const struct mase_learned_rounding_products
        *products; /* the roundings whose steps multiply to these; NULL: steps of its own */
    struct mase_weight *value[MASE_LEARNED_MAX]; /* what is learned of each block */
    int learned;
    int64_t blocks, rows;
    const int64_t *row; // (rows) of each block, one block after the other, as struct mase_round
    const int64_t *end; // (blocks)
    const int32_t *block_of;      // (rows), by row / stride
    struct mase_uniform *uniform; // (blocks)
    struct mase_block_size
        *seen; // (blocks) of data by which what is learned starts; of weights NULL
    int64_t stride, lanes;
};
/* NULL for a format whose gradients pass straight. r: its blocks; rows: number of rows. */
struct mase_learned_rounding *mase_learned_rounding(struct mase_plan *p,
                                                    const struct mase_rounding_request *request,
                                                    const struct mase_round *r, int64_t rows);
/* Record that the step uses the learned numbers. */
void mase_learned_rounding_use(struct mase_step *s, struct mase_learned_rounding *g);
/* Do the steps depend on learned numbers, its own or those of other roundings? Until these have
 * values, nothing is rounded. */
bool mase_learned_rounding_moves(const struct mase_learned_rounding *g);
/* Recompute steps and bounds from the learned numbers. */
void mase_learned_rounding_refresh(const struct mase_learned_rounding *g);
/* Set learned numbers without a value from x, of which the first lanes are samples: for data from
 * every x since the first, for weights from this x. */
void mase_learned_rounding_start(const struct mase_learned_rounding *g, const float *x,
                                 int64_t lanes, bool first);
/* Round rows, given by number, to y; and later compute dx, with the sums of each row, (rows, 3). */
void mase_learned_rounding_rows(const struct mase_learned_rounding *g, const struct mase_kernels *k,
                                float *y, const float *x, int64_t lanes, int64_t from, int64_t to);
void mase_learned_rounding_rows_back(const struct mase_learned_rounding *g,
                                     const struct mase_kernels *k, float *dx, float *sum,
                                     const float *dy, const float *x, bool add, int64_t lanes,
                                     int64_t from, int64_t to);
/* Compute the gradients of the learned numbers of blocks from..to from the sums of their rows. */
void mase_learned_rounding_learn(const struct mase_step *s, const struct mase_learned_rounding *g,
                                 const float *sum, int64_t from, int64_t to);
/* Round all of a dense tensor; sum: (rows, 3), NULL when nothing is learned. */
void mase_learned_rounding_single(const struct mase_learned_rounding *g,
                                  const struct mase_kernels *k, float *y, const float *x);
void mase_learned_rounding_dense(const struct mase_learned_rounding *g,
                                 const struct mase_kernels *k, float *y, const float *x);
void mase_learned_rounding_dense_back(const struct mase_step *s,
                                      const struct mase_learned_rounding *g, float *dx,
                                      const float *dy, const float *x, bool add);

/* The reason why a plan cannot pass back gradients through this rounding; NULL: it can. */
const char *mase_quantise_refusal(const struct mase_plan *p, struct mase_rounding how);
/* Round `from` to `to` as the instruction says. */
enum mase_status mase_plan_round(struct mase_plan *p, const struct mase_instr *i,
                                 struct mase_slot *to, struct mase_slot *from,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Add a step that rounds `from` to a new slot with lanes. */
struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      const struct mase_rounding_request *request);
/* The slot that the step reads in place of slot: its own rounded copy, if slot is a weight to be
 * rounded. */
struct mase_slot *mase_rounded_for(struct mase_step *s, struct mase_slot *slot);
/* After prepare: let the step pass gradients back to the weights that it rounded. */
void mase_quantise_finish(struct mase_step *s);
/* Can the value be rounded to this format? */
bool mase_rounding_request_fits(const struct mase_rounding_request *a, const struct mase_format *f);
/* Round all weights, after they were read. */
void mase_quantise_weights(struct mase_plan *p);
void mase_quantise_weight(const struct mase_plan *p, const struct mase_rounded *r);

/* ---- where formats can change (reformat.c) ---- */

/* A place where a format can change: a step whose own is a struct mase_round, a weight, or the
 * constant `from`, rounded into `to`. shape: the shape that the rounding was made for. */
struct mase_site {
    struct mase_rounding_request request;
    struct mase_plan *plan; /* the plan that rounds: the plan itself or its derived plan */
    struct mase_shape shape;
    struct mase_step *step;
    struct mase_rounded *rounded;
    float *to;
    const float *from;
    struct mase_site_round *made; /* roundings made so far, by format */
    struct mase_site *next;       /* next place of the same node or module */
};
/* Record a copy of a place, if formats of the plan may change. */
void mase_site_add(const struct mase_site *site);
/* Round the constant of a site. */
void mase_site_constant(const struct mase_site *site);

#endif /* MASE_EXEC_STEP_PLAN_FORMATS_H */
