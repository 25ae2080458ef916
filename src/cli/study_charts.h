/*
 * study_charts.h - what a terminal and a page both show of a study: its charts, and its parameters
 * by importance.
 *
 * Everything is allocated in the arena that is given.
 */
#ifndef MASE_CLI_STUDY_CHARTS_H
#define MASE_CLI_STUDY_CHARTS_H

#include <mase/plot.h>
#include <mase/study.h>

/* "400 trials: 397 complete, 2 pruned, 1 failed" */
const char *mase_cli_study_states(struct mase_arena *a, const struct mase_study *s);

/* Trials by two objectives: all that are complete, the front with its error bars, and the network
 * before the search. Objective x lies to the right. joined: a line goes through the front. */
struct mase_plot mase_cli_front_chart(struct mase_arena *a, const struct mase_study *s, int x,
                                      int y, bool joined);
/* That front alone, joined; and the best so far alone. */
struct mase_plot_series mase_cli_front_series(struct mase_arena *a, const struct mase_study *s,
                                              int x, int y, const char *name);
struct mase_plot_series mase_cli_course_series(struct mase_arena *a, const struct mase_study *s,
                                               int objective, const char *name);
/* The values of complete trials in an objective, and the best so far. */
struct mase_plot mase_cli_course_chart(struct mase_arena *a, const struct mase_study *s,
                                       int objective);

struct mase_cli_parameter {
    int dimension;
    double *share; /* (objectives): its importance */
};
/* Those that vary, the most important for any objective first; returns how many. */
int mase_cli_parameters(struct mase_cli_parameter **out, struct mase_arena *a,
                        const struct mase_study *s);

/* The front of all objectives, by the first objective: indices of trials, the first of those with
 * the same values; returns how many. Of one objective it is the best trial. */
int mase_cli_front(int64_t **index, struct mase_arena *a, const struct mase_study *s);

#endif /* MASE_CLI_STUDY_CHARTS_H */
