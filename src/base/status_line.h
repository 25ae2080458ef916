/*
 * status_line.h (private) - the status line: one line at the end of the log's terminal that is
 * redrawn in place and gets out of the way of log messages.
 */
#ifndef MASE_BASE_STATUS_LINE_H
#define MASE_BASE_STATUS_LINE_H

#include <stdbool.h>
#include <stdio.h>

FILE *mase_log_stream(void);
bool mase_log_shows_info(void);

/* Does it understand escape sequences? TERM=dumb does not. */
bool mase_is_terminal(FILE *stream);

/* Draw text (no newline) as the status line, or remove it with NULL. Only on a terminal. */
void mase_log_status(const char *text);

#endif /* MASE_BASE_STATUS_LINE_H */
