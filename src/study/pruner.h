/*
 * pruner.h - what a pruner is made of.
 */
#ifndef MASE_STUDY_PRUNER_H
#define MASE_STUDY_PRUNER_H

#include <mase/study.h>

/* What is kept of a trial that was told. */
struct mase_told_trial {
    int64_t number;
    bool complete;
    const struct mase_reading *reading; /* by rising step */
    int readings;
};

struct mase_pruner {
    const struct mase_pruner_functions *functions;
    struct mase_study_setup setup;
    void *options; /* bound by the rows of the functions */
    struct mase_told_trial *told;
    int count, cap;
    struct mase_arena arena;
};

struct mase_pruner_functions {
    const struct mase_opt *options; /* or NULL */
    size_t options_size;
    enum mase_status (*open)(struct mase_pruner *p, struct mase_err *err); /* or NULL */
    /* A trial with at least one reading. */
    bool (*prunes)(const struct mase_pruner *p, const struct mase_trial *t);
};

#define PRUNER(name, help) extern const struct mase_pruner_functions mase_pruner_##name;
#include "study/pruners.def"

/* A reading, to be minimised. NaN stays NaN. */
double mase_reading_loss(const struct mase_pruner *p, const struct mase_reading *r);
/* The first reading at this step or later; NULL: there is none. */
const struct mase_reading *mase_reading_from(const struct mase_reading *reading, int readings,
                                             int64_t step);
/* Is the last reading the first of its interval? Intervals are so many steps long, from the first
 * step that may prune. A reading before that is not. */
bool mase_reading_is_due(const struct mase_trial *t, int64_t first, int64_t interval);

#endif /* MASE_STUDY_PRUNER_H */
