/*
 * candidate.h - the network of a trial, as one thread measures it.
 *
 * A candidate has a copy of the network, whose formats follow the points that it is moved to. A
 * plan is made once; from then on a change of formats rounds weights anew, or takes those that were
 * rounded before (mase_plan_follow_formats).
 */
#ifndef MASE_SEARCH_CANDIDATE_H
#define MASE_SEARCH_CANDIDATE_H

#include <mase/evaluate.h>
#include <mase/search.h>
#include <mase/train.h>

#include "search/format_space.h"

struct mase_candidate {
    const struct mase_search *search;
    struct mase_graph *graph;               /* owned */
    int variant;                            /* which of the search's networks it is */
    double *widths;                         /* multipliers of its layers; NULL: as it came */
    struct mase_node **node;                /* of each site; NULL: the network has none */
    int *first_call;                        /* of each site: the first that calls the same module */
    const struct mase_quant **quant;        /* what they have now; NULL: float */
    struct mase_format_choices choices;     /* made so far */
    struct mase_predictor *predictor;       /* owned; NULL: to be made for the formats at hand */
    struct mase_costs *costs;               /* of the graph, owned; NULL: not asked for */
    struct mase_graph *trained;             /* owned; NULL: no runner has trained the network */
    struct mase_checkpoint_info trained_on; /* what that network was trained on */
    struct mase_predictor *of_trained;      /* owned; NULL: to be made */
    const double *x;                        /* the point, borrowed while it is measured */
    struct mase_study_run *run;             /* of the trial, for readings */
    struct mase_trial *trial;
    struct mase_arena arena; /* of what belongs to the variant */
};

/* A copy of the first network of the search. */
enum mase_status mase_candidate_init(struct mase_candidate *c, const struct mase_search *s,
                                     struct mase_err *err) MASE_MUST_CHECK;
void mase_candidate_release(struct mase_candidate *c);
/* Give the network the formats of a point. */
enum mase_status mase_candidate_move(struct mase_candidate *c, const double *x,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Begin a copy with weights of its own, to be trained: it is what is measured from then on, until
 * the candidate moves. */
void mase_candidate_copy(struct mase_candidate *c);
/* The network that is measured. */
struct mase_graph *mase_candidate_network(struct mase_candidate *c);
/* What decides the measurements, where the points of two trials differ only in numbers that have no
 * effect: as text. */
void mase_candidate_key(struct mase_str *out, const struct mase_candidate *c);
/* A predictor of the network that is measured; the candidate keeps it. */
enum mase_status mase_candidate_predictor(struct mase_predictor **p, struct mase_candidate *c,
                                          struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_SEARCH_CANDIDATE_H */
