/*
 * csv.h - lines of fields: comma-separated text and the data part of ARFF files.
 *
 * A file whose first line has no comma may be separated by semicolons or tabs instead. Fields may
 * be quoted, a doubled quote standing for one; a quoted field may not span lines. Blanks around
 * fields and lines without anything are skipped.
 */
#ifndef MASE_DATA_CSV_H
#define MASE_DATA_CSV_H

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/file.h>

struct mase_csv_field {
    const char *text; /* not terminated */
    size_t size;
    int col;
    bool quoted;
};

struct mase_csv {
    const char *path;
    const char *at, *end; /* the unread rest of the file */
    const char *quotes;   /* quote characters */
    char separator;       /* between fields */
    char decimal; /* decimal point of numbers: '.', or ',' if mase_csv_find_decimal finds so */
    char comment; /* lines that begin with it are skipped; 0: none */
    int line;     /* number of the current line */
    struct mase_csv_field *field;
    int count, cap;
    struct mase_arena arena; /* copies of fields with doubled quotes; the caller releases it */
};

struct mase_csv mase_csv_of(const struct mase_file *f);
void mase_csv_release(struct mase_csv *c);
/* Read the fields of the next line; count is 0 at the end. */
enum mase_status mase_csv_next(struct mase_csv *c, struct mase_err *err) MASE_MUST_CHECK;
struct mase_loc mase_csv_at(const struct mase_csv *c, int field);
/* If commas do not separate fields, find out whether they are decimal points: some number must need
 * it (1,5 but not 1,234, which may be thousands), and none may have a point. Logs a finding. */
enum mase_status mase_csv_find_decimal(struct mase_csv *c, struct mase_err *err) MASE_MUST_CHECK;
/* Parse a decimal number; false: the field is not one. */
bool mase_csv_decimal(const struct mase_csv_field *f, double *v);
/* Does the field stand for a missing value: empty, a question mark, or one of pandas' words (NaN,
 * NA, None, null)? No class can have such a name, even quoted, since some programs quote all
 * fields. */
bool mase_is_missing_word(const char *text, size_t size);
bool mase_csv_is_missing(const struct mase_csv_field *f);
/* Parse a finite number within the range of float32. what: names it in messages. */
enum mase_status mase_csv_number(const struct mase_csv *c, int field, double *v, const char *what,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_CSV_H */
