/*
 * thread_tuner.h - choose between one thread and all of them, whichever is faster at present.
 *
 * Threads with frequent barriers are fast on idle cores, and many times slower than a single thread
 * when other processes use the cores, because each barrier waits for the last thread to be
 * scheduled. Results do not depend on the number of threads, so it is measured: some steps with all
 * threads and some with one, in turns; and again later, the sooner the more steps were slow.
 */
#ifndef MASE_EXEC_PLAN_THREAD_TUNER_H
#define MASE_EXEC_PLAN_THREAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

enum { MASE_TUNER_TURNS = 5 }; /* steps with all threads, and with one, in a trial */

struct mase_thread_tuner {
    bool single;                      /* one thread was faster */
    int trial;                        /* remaining steps of the current trial */
    int slow;                         /* steps since the trial that one thread was faster than */
    int64_t left;                     /* steps until the next trial */
    int64_t wait;                     /* the wait before the current trial */
    double took[2][MASE_TUNER_TURNS]; /* of the trial, per sample: by all, by one */
    double single_takes;              /* by the last trial; 0: none yet */
};

/* Start with all threads, and a trial soon. */
struct mase_thread_tuner mase_thread_tuner(void);
/* Shall the next step use one thread? */
bool mase_thread_tuner_single(const struct mase_thread_tuner *p);
/* Record the duration of a step. */
void mase_thread_tuner_record(struct mase_thread_tuner *p, double nanoseconds, int64_t samples);

#endif /* MASE_EXEC_PLAN_THREAD_TUNER_H */
