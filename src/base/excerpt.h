/*
 * excerpt.h - the line of a text file that an error message refers to, with a caret under the
 * fault.
 *
 *        12 | width = 99
 *           |         ^~
 */
#ifndef MASE_BASE_EXCERPT_H
#define MASE_BASE_EXCERPT_H

#include <stdio.h>

#include <mase/err.h>
#include <mase/str.h>

/* Print the excerpt, or nothing when the file or the line cannot be read. */
void mase_excerpt_print(FILE *out, const char *path, const struct mase_loc *at);

#endif /* MASE_BASE_EXCERPT_H */
