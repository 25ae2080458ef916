/*
 * sheet.h - tables in the format that the user asked for, and sentences around them for people.
 *
 *     text in the style of the sheet
 *     grid      full rules
 *     github    markdown, with the number of the row in front
 *     csv       comma separated, an empty line between two tables, no sentences
 *     json      one object: a list of rows, or a value of the caller's own, by key
 *
 * A printer writes each table at once; json is collected and written at the end.
 */
#ifndef MASE_SHEET_H
#define MASE_SHEET_H

#include <stdio.h>

#include <mase/api.h>
#include <mase/table.h>
#include <mase/value.h>

MASE_API_BEGIN

enum mase_sheet_format {
    MASE_SHEET_TEXT,
    MASE_SHEET_GRID,
    MASE_SHEET_GITHUB,
    MASE_SHEET_CSV,
    MASE_SHEET_JSON,
};
extern const char *const mase_sheet_formats[];              /* NULL-terminated, in that order */
enum mase_sheet_format mase_sheet_format(const char *name); /* text when there is no such one */

/* A table with a sentence above it and a key for programs. */
struct mase_sheet {
    const char *key;
    const char *title; /* NULL: none */
    struct mase_table table;
    enum mase_table_style style; /* style for the format text */
};

struct mase_sheets {
    struct mase_arena *arena;  /* borrowed, for as long as the printer lives */
    FILE *out;                 /* NULL: nothing is printed, unless to */
    struct mase_str *text;     /* a buffer that takes the output instead of out */
    struct mase_value *tables; /* a list that gets every table as data, whatever is printed: key,
                                  title, columns, rows of texts. NULL: not collected */
    enum mase_sheet_format format;
    struct mase_value *all; /* json: what was added so far; NULL: nothing */
    bool begun;             /* something was printed */
    bool after_table;       /* a table was printed last */
    bool after_blank;       /* an empty line was printed last */
    const char *suffix;     /* suffix of keys, so that a table does not replace an earlier one */
};

/* Is the format csv or json? */
bool mase_sheets_for_programs(const struct mase_sheets *s);
/* Print a table. */
void mase_sheets_add(struct mase_sheets *s, const struct mase_sheet *sheet);
/* json: set a key to the caller's own value. Other formats: nothing. */
void mase_sheets_set(struct mase_sheets *s, const char *key, struct mase_value *value);
/* Print text for people; csv and json leave it out. */
void mase_sheets_say(struct mase_sheets *s, const char *fmt, ...) MASE_PRINTF(2, 3);
/* Print one line for people and end it; a line feed in an argument is escaped. */
void mase_sheets_line(struct mase_sheets *s, const char *fmt, ...) MASE_PRINTF(2, 3);
/* json: write the object. */
void mase_sheets_end(struct mase_sheets *s);

/* The rows as a list of tables, with headers as keys, "Max error" as max_error. A cell that reads
 * as a number, a boolean or a list of integers (a shape) becomes one, an empty cell none, any other
 * cell a string. */
struct mase_value *mase_sheet_rows(struct mase_arena *a, const struct mase_table *t);

MASE_API_END

#endif /* MASE_SHEET_H */
