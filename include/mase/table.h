/*
 * table.h - rows and columns as text.
 *
 * Cells are text; control sequences in them are escaped (mase_str_add_printable). A column whose
 * body cells are all numbers is aligned to the right, with its header, unless an alignment is set.
 * The styles are those of the reports:
 *
 *     simple    a rule of dashes under the header, two blanks between columns
 *     grid      full rules, = under the header
 *     pretty    rules around, centred cells
 *     orgtbl    | a | b |  with |---+---|
 *     github    | a | b |  with |---|---:|
 *     csv       comma separated, quoted where needed (RFC 4180, newline "\n")
 */
#ifndef MASE_TABLE_H
#define MASE_TABLE_H

#include <stdbool.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/str.h>

MASE_API_BEGIN

enum mase_table_style {
    MASE_TABLE_SIMPLE,
    MASE_TABLE_GRID,
    MASE_TABLE_PRETTY,
    MASE_TABLE_ORGTBL,
    MASE_TABLE_GITHUB,
    MASE_TABLE_CSV,
};
extern const char *const mase_table_style_names[]; /* NULL-terminated, in that order */

enum mase_align { MASE_ALIGN_AUTO, MASE_ALIGN_LEFT, MASE_ALIGN_RIGHT, MASE_ALIGN_CENTRE };

enum { MASE_TABLE_MAX_COLUMNS = 16 };

struct mase_table {
    struct mase_arena *arena; /* borrowed: cells are copied into it */
    int columns, rows, rows_cap;
    bool no_header;
    bool lines;    /* a line feed in a cell begins a new line of the cell; else it is escaped */
    bool coloured; /* cells contain colours (ESC[...m), so their text is not escaped: the caller
                      escapes it */
    const char *header[MASE_TABLE_MAX_COLUMNS];
    enum mase_align align[MASE_TABLE_MAX_COLUMNS];
    int wrap; /* pretty: break cells, not numbers, at this many columns (blank, after hyphen, hard);
               * 0: never */
    const char **cell; /* (rows, columns) */
};

/* A table with the columns of a NULL-terminated list of headers. */
struct mase_table mase_table(struct mase_arena *arena, const char *const *headers);
/* Append an empty row and return its index; cells start as "". */
int mase_table_row(struct mase_table *t);
void mase_table_set(struct mase_table *t, int row, int column, const char *text);
void mase_table_setf(struct mase_table *t, int row, int column, const char *fmt, ...)
    MASE_PRINTF(4, 5);
/* Append a whole row: exactly t->columns texts. */
void mase_table_add(struct mase_table *t, const char *const *cells);

/* A copy with the number of each row in front, under an empty heading, as data frames print. */
struct mase_table mase_table_indexed(struct mase_arena *arena, const struct mase_table *t);

/* Append the table to out, without a final newline. Colours in a cell take no columns. */
void mase_table_render(const struct mase_table *t, enum mase_table_style style,
                       struct mase_str *out);

MASE_API_END

#endif /* MASE_TABLE_H */
