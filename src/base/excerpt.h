/*
 * excerpt.h - the line of a text file that a message speaks of, with a caret under the fault.
 *
 *        12 | width = 99
 *           |         ^~
 */
#ifndef MASE_BASE_EXCERPT_H
#define MASE_BASE_EXCERPT_H

#include <stdio.h>

#include <mase/err.h>
#include <mase/str.h>

/* Print it; print nothing when the file or the line cannot be had. */
void mase_excerpt_print(FILE *out, const char *path, const struct mase_loc *at);

#endif /* MASE_BASE_EXCERPT_H */
