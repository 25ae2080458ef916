/*
 * cell.h - the text of one table cell: how wide it is, whether it is a number, where it breaks.
 */
#ifndef MASE_BASE_CELL_H
#define MASE_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include <mase/str.h>

/* Bytes of the escape sequence (ESC [ ... letter) at s, 0 if there is none. */
size_t mase_cell_escape(const char *s, size_t n);

/* Columns that n bytes take; escape sequences take none. */
long mase_cell_columns(const char *s, size_t n);

enum mase_cell_kind {
    MASE_CELL_EMPTY, /* says nothing about its column */
    MASE_CELL_BOOL,  /* True, False: no text, but no number either */
    MASE_CELL_NUMBER,
    MASE_CELL_TEXT,
};
enum mase_cell_kind mase_cell_kind(const char *s);

/* Columns after a number's decimal point (or its e); -1 for an integer and for anything else. */
int mase_cell_decimals(const char *s);

/* Append text with every line broken to at most width columns: at blanks, after hyphens between
 * letters, else anywhere. A colour that is on at a break is switched off and on again. */
void mase_cell_wrap(struct mase_str *out, const char *text, int width);

#endif /* MASE_BASE_CELL_H */
