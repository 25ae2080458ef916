/*
 * log.h - messages for a person, on stderr.
 *
 * "INFO     message", level padded to 8 columns; coloured on a terminal unless NO_COLOR is set. The
 * one process-wide setting of the library: which level is shown, and where. During a library call
 * whose program has set a log function, that function gets the message and nothing is printed.
 */
#ifndef MASE_LOG_H
#define MASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include <mase/api.h>
#include <mase/err.h>

MASE_API_BEGIN

enum mase_log_level { MASE_DEBUG, MASE_INFO, MASE_WARNING, MASE_ERROR, MASE_CRITICAL };

extern const char *const mase_log_level_names[]; /* "debug" ... "critical" */

void mase_log_set_level(enum mase_log_level level);
enum mase_log_level mase_log_get_level(void);
void mase_log_set_stream(FILE *out); /* tests; NULL restores stderr */
void mase_log(enum mase_log_level level, const char *fmt, ...) MASE_PRINTF(2, 3);

#define mase_debug(...) mase_log(MASE_DEBUG, __VA_ARGS__)
#define mase_info(...)  mase_log(MASE_INFO, __VA_ARGS__)
#define mase_warn(...)  mase_log(MASE_WARNING, __VA_ARGS__)

/* Flush stdout, as every message does first. Returns the errno of the first failed flush of the
 * process, or 0. */
int mase_flush_output(void);

/* May output to this stream have colours? It must be a terminal, NO_COLOR unset or empty, TERM not
 * "dumb". */
bool mase_use_colour(FILE *stream);

MASE_API_END

#endif /* MASE_LOG_H */
