/*
 * quantise.h - number formats in a plan: a quantised call gets quantised copies of its operands.
 *
 * Data is rounded by a step of its own before the call, a result after it; weights are rounded once
 * per forward when training, else once when they are read. Gradients pass back by the format's
 * column, mostly as if nothing were rounded, so no kind of step needs to know.
 *
 * In a plan whose formats change (reformat.c) every operand that could have a format is rounded,
 * those in float by copying.
 */
#ifndef MASE_EXEC_QUANTISE_H
#define MASE_EXEC_QUANTISE_H

#include "exec/round.h"
#include "exec/step.h"

/* A rounding that a call asks for. */
struct mase_asked {
    struct mase_rounding how; /* format NULL: a copy */
    const struct mase_node *node;
    int operand;       /* parameter of its signature, or */
    bool writes, kept; /* in float the call writes into it; with formats it does not */
};
enum { MASE_RESULT = -1 };

/* A weight's copy, and how it is rounded. */
struct mase_rounded {
    struct mase_weight weight;
    struct mase_round how;
    struct mase_rounded *next;
};

/* Why a plan cannot pass gradients through this rounding other than straight; NULL: it need not. */
const char *mase_quantise_refusal(const struct mase_plan *p, struct mase_rounding how);
/* Put rounding steps before s and let its call read their results. */
void mase_quantise_inputs(struct mase_step *s);
/* from rounded, in lanes too. shape: what its blocks are cut from. */
struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      const struct mase_asked *asked,
                                      const struct mase_shape *shape);
/* If the result has a format: the slot it belongs in, s->out being another now. Else NULL. */
struct mase_slot *mase_quantised_result(struct mase_step *s);
/* The step that rounds s's result into that slot. */
void mase_quantise_output(struct mase_step *s, struct mase_slot *result);
/* The rounded copy of w if the call's formats say so, else w. */
struct mase_weight *mase_quantised_weight(struct mase_step *s, const struct mase_call *c,
                                          const char *name, struct mase_weight *w);
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

#endif /* MASE_EXEC_QUANTISE_H */
