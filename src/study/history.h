/*
 * history.h - the results that a sampler was told, in order of numbers.
 *
 * Everything is to be minimised. Failed trials have no result, but their points count as seen.
 */
#ifndef MASE_STUDY_HISTORY_H
#define MASE_STUDY_HISTORY_H

#include <mase/study.h>

/* What a result is worth: earlier kinds are better than later ones. */
enum mase_result_kind {
    MASE_RESULT_COMPLETE,
    MASE_RESULT_PRUNED,     /* loss[0]: the last reading */
    MASE_RESULT_INFEASIBLE, /* by how much: violation */
};

struct mase_history {
    const struct mase_study_setup *setup;
    int64_t count, cap;
    double *x;              /* (count, dimensions) */
    double *loss;           /* (count, objectives) */
    double *violation;      /* (count) */
    int64_t *number, *step; /* of the trial, and of its last reading where it was pruned */
    enum mase_result_kind *kind;
    /* Points of all trials that were told, by a hash: open addressing, 0 is free. */
    uint64_t *seen;
    int64_t seen_count, seen_cap;
};

void mase_history_open(struct mase_history *h, const struct mase_study_setup *setup);
void mase_history_close(struct mase_history *h);
/* Add a trial. False: it failed, and only its point is kept in mind. */
bool mase_history_add(struct mase_history *h, const struct mase_trial *t);
/* Is this the point of a trial that was told, or one of these? */
bool mase_history_seen(const struct mase_history *h, const double *x, const double *const *pending,
                       int64_t pending_count);

#endif /* MASE_STUDY_HISTORY_H */
