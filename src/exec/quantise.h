/*
 * quantise.h - number formats in a plan: what the program's `round` becomes.
 *
 * What follows the samples is rounded by a step of its own; a weight by each step that uses it,
 * once per forward when training, else once when weights are read; what is derived from weights
 * where it is computed; a constant once. Gradients pass back by the format's column, mostly as if
 * nothing were rounded, so no kind of step needs to know.
 *
 * In a plan whose formats change (reformat.c) every operand that could have a format is rounded,
 * those in float by copying.
 */
#ifndef MASE_EXEC_QUANTISE_H
#define MASE_EXEC_QUANTISE_H

#include "exec/round.h"
#include "exec/step.h"

/* A rounding that a node of the graph asks for. */
struct mase_asked {
    struct mase_rounding how; /* format NULL: a copy */
    const struct mase_node *node;
    int operand;       /* parameter of its signature, or MASE_RESULT */
    int rank;          /* dimensions that blocks are cut from */
    bool apart;        /* blocks would have to be cut across what a plan keeps apart */
    bool writes, kept; /* in float the call writes into it; with formats it does not */
};

/* A weight's copy, and how it is rounded. */
struct mase_rounded {
    struct mase_weight weight;
    struct mase_round how;
    struct mase_rounded *next;
};

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

#endif /* MASE_EXEC_QUANTISE_H */
