/*
 * thread_tuner.h - one thread or all of them: whichever is faster now.
 *
 * Threads that often wait for each other are fast on cores of their own and many times slower than
 * one where others want the cores too, for each waits until the last has had its turn. Since
 * results do not depend on the number of threads, it is tried out: a few steps with all, a few with
 * one, in turns, and again later, the sooner the more steps were slow.
 */
#ifndef MASE_EXEC_PLAN_THREAD_TUNER_H
#define MASE_EXEC_PLAN_THREAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

enum { MASE_TUNER_TURNS = 5 }; /* of each in a trial */

struct mase_thread_tuner {
    bool single;                      /* one thread was faster */
    int trial;                        /* steps left of the trial under way */
    int slow;                         /* steps since the trial that one thread was faster than */
    int64_t left;                     /* steps until the next trial */
    int64_t wait;                     /* how many that were */
    double took[2][MASE_TUNER_TURNS]; /* of the trial, per sample: by all, by one */
    double single_takes;              /* by the last trial; 0: none yet */
};

/* All threads, and a trial soon. */
struct mase_thread_tuner mase_thread_tuner(void);
/* Shall the next step use one thread? */
bool mase_thread_tuner_single(const struct mase_thread_tuner *p);
/* What it took. */
void mase_thread_tuner_record(struct mase_thread_tuner *p, double nanoseconds, int64_t samples);

#endif /* MASE_EXEC_PLAN_THREAD_TUNER_H */
