/*
 * progress.h - progress of long work on a terminal.
 *
 * On a terminal a line is redrawn at most ten times a second, and removed or finished at the end;
 * elsewhere one log message is written when the stage ends. Nothing is drawn when the log level
 * hides INFO. In a library call the program's progress function is called instead, equally often.
 */
#ifndef MASE_PROGRESS_H
#define MASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>

MASE_API_BEGIN

struct mase_progress {
    const char *title; /* borrowed */
    int64_t done, total;
    uint64_t started, drawn; /* nanoseconds */
    bool terminal;
    char note[80]; /* shown at the end of the line: "loss 0.71" */
};

void mase_progress_start(struct mase_progress *p, const char *title, int64_t total);
void mase_progress_step(struct mase_progress *p, int64_t done);
void mase_progress_end(struct mase_progress *p);

/* Nanoseconds of a monotonic clock. */
uint64_t mase_clock(void);

MASE_API_END

#endif /* MASE_PROGRESS_H */
