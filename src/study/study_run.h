/*
 * study_run.h - the state of a run, which its threads share under one lock.
 */
#ifndef MASE_STUDY_STUDY_RUN_H
#define MASE_STUDY_STUDY_RUN_H

#include <pthread.h>

#include <mase/study.h>

#include "base/host.h"
#include "study/study_parts.h"

struct mase_study_run {
    struct mase_study *study;
    const struct mase_study_setup *setup;
    const struct mase_study_run_opts *o;
    int workers;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a trial ended, or the run is stopping */
    int64_t *queue;         /* numbers of trials to measure: queue[first .. last) */
    int64_t first, last, queue_cap;
    const double **point; /* of every trial */
    bool *mine;           /* trials that this run measures, or has measured */
    int64_t points;       /* room for them */
    int64_t told;         /* results that the sampler knows */
    int64_t pruner_told;  /* and the pruner */
    int64_t ended;        /* trials that o->ended was called for */
    int64_t under_way;
    double deadline;
    bool stopping;
    struct mase_err failure; /* why it is stopping; no status: for no failure */
    int left;                /* workers that have ended */
    /* Of a run with a store (study_sync.c). */
    struct mase_trial *result; /* ended, but not written */
    int64_t results, results_cap;
    int64_t earlier;       /* trials that were there before */
    double synced, beaten; /* when the store was written to, and when leases were renewed */
    double measuring;      /* seconds that trials took */
    int64_t measured;      /* so many */
    int64_t batch;         /* trials that were last asked for at once */
};

#define MASE_RUN_POLL                                                           \
    0.2 /* seconds: a worker that waits looks at limits, and at other processes \
         */

double mase_run_clock(void); /* seconds */
int64_t mase_run_time(void); /* microseconds since 1970 */

/* End the run when the trials under way have ended. */
void mase_run_stop(struct mase_study_run *run, const struct mase_err *why);
/* Do the limits or the caller say that no further trial begins? */
bool mase_run_should_stop(struct mase_study_run *run);
/* Tell of trials that have ended, as far as all before them have. */
void mase_run_report(struct mase_study_run *run);
/* Take results into the study. */
void mase_run_keep(struct mase_study *s, const struct mase_trial *from);
/* Wait for a change, and no longer than so many seconds. */
void mase_run_wait(struct mase_study_run *run, double seconds);

/* ---- choose_trial.c ---- */

void mase_run_make_room(struct mase_study_run *run, int64_t trials);
void mase_run_push(struct mase_study_run *run, int64_t number);
/* A trial is there: its point is known to the sampler from here on. */
void mase_run_note(struct mase_study_run *run, int64_t number);
/* How many trials the study will have, as far as is known. */
int64_t mase_run_limit(const struct mase_study_run *run);
/* Add the next trial to the study, if all that it depends on is known. */
bool mase_run_choose(struct mase_study_run *run);
/* Let the sampler choose what is missing of a point, and tell the pruner what may decide on the
 * trial. False: results for that are missing. */
bool mase_run_complete(struct mase_study_run *run, int64_t number);
/* Queue the trials that an earlier run left; of a run without a store. */
void mase_run_recall(struct mase_study_run *run);

/* ---- study_sync.c ---- */

enum mase_status mase_run_open_store(struct mase_study_run *run,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Write results, read those of others, and fill the queue. */
enum mase_status mase_run_sync(struct mase_study_run *run, struct mase_err *err) MASE_MUST_CHECK;
/* A trial has ended; it is written now or soon. result lives as long as the study. */
enum mase_status mase_run_add_result(struct mase_study_run *run, const struct mase_trial *result,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Have all trials ended, also those of other processes? */
bool mase_run_all_ended(const struct mase_study_run *run);
/* Write what is due until all workers have ended. */
enum mase_status mase_run_keep_store(struct mase_study_run *run,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Write what is left, and give back what was not measured. */
enum mase_status mase_run_close_store(struct mase_study_run *run,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_STUDY_STUDY_RUN_H */
