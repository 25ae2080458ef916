/*
 * sheet.h - tables in the format that the user asked for, sentences around them for people alone.
 *
 *     text      as whoever prints it likes: the style of the sheet
 *     grid      full rules
 *     github    markdown, with the number of the row in front
 *     csv       comma separated, an empty line between two tables, no sentences
 *     json      one object: a list of rows, or a value of the caller's own, by key
 *
 * A printer writes as it goes, but for json, which it gathers and writes at its end.
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
    enum mase_table_style style; /* of the format text */
};

struct mase_sheets {
    struct mase_arena *arena;  /* borrowed, for as long as the printer lives */
    FILE *out;                 /* NULL: nothing is printed, unless to */
    struct mase_str *text;     /* a buffer; it goes before out */
    struct mase_value *tables; /* a list that gets every table as data, whatever is printed: key,
                                * title, columns, rows of texts. NULL: nobody wants them */
    enum mase_sheet_format format;
    struct mase_value *all; /* json: what was added so far; NULL: nothing */
    bool begun;             /* something was printed, */
    bool after_table;       /* last a table, */
    bool after_blank;       /* or an empty line */
    const char *suffix;     /* of the keys, so that a second table does not replace a first */
};

/* Is it csv or json? */
bool mase_sheets_for_programs(const struct mase_sheets *s);
/* The next table. */
void mase_sheets_add(struct mase_sheets *s, const struct mase_sheet *sheet);
/* json: a value of the caller's own, in place of what the key had. Else nothing. */
void mase_sheets_set(struct mase_sheets *s, const char *key, struct mase_value *value);
/* Text for people: as it is, or not at all in csv and json. */
void mase_sheets_say(struct mase_sheets *s, const char *fmt, ...) MASE_PRINTF(2, 3);
/* The same for one line, which ends here: a line feed in a name does not begin another. */
void mase_sheets_line(struct mase_sheets *s, const char *fmt, ...) MASE_PRINTF(2, 3);
/* json: write the object. */
void mase_sheets_end(struct mase_sheets *s);

/* The rows as tables whose keys are the headers, "Max error" as max_error; cells become numbers,
 * booleans, lists of whole numbers where they print as such (shapes), none where they are empty,
 * else strings. */
struct mase_value *mase_sheet_rows(struct mase_arena *a, const struct mase_table *t);

MASE_API_END

#endif /* MASE_SHEET_H */
