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
    const char *at, *end; /* the rest of the file */
    const char *quotes;   /* which characters quote */
    char separator;       /* between fields */
    char decimal;         /* in numbers: a point, or a comma where mase_csv_find_decimal says so */
    char comment;         /* lines that begin so are skipped; 0: none */
    int line;             /* of the fields */
    struct mase_csv_field *field;
    int count, cap;
    struct mase_arena arena; /* fields that had doubled quotes; released by the caller */
};

struct mase_csv mase_csv_of(const struct mase_file *f);
void mase_csv_release(struct mase_csv *c);
/* The next line's fields; count is 0 at the end. */
enum mase_status mase_csv_next(struct mase_csv *c, struct mase_err *err) MASE_MUST_CHECK;
struct mase_loc mase_csv_at(const struct mase_csv *c, int field);
/* Where commas do not separate fields, numbers may have them for decimal points: if some can be
 * nothing else (1,5 and not 1,234, which may be thousands) and none has a point. Says so. */
enum mase_status mase_csv_find_decimal(struct mase_csv *c, struct mase_err *err) MASE_MUST_CHECK;
/* Is the field a decimal number, and which? */
bool mase_csv_decimal(const struct mase_csv_field *f, double *v);
/* Is there no value: nothing, a question mark, or a word of pandas for it (NaN, NA, None, null)? A
 * class cannot be called so, in quotes either: programs that write them write all cells so. */
bool mase_is_missing_word(const char *text, size_t size);
bool mase_csv_is_missing(const struct mase_csv_field *f);
/* A field that must be a finite number that a 32-bit float can hold. what names it in messages. */
enum mase_status mase_csv_number(const struct mase_csv *c, int field, double *v, const char *what,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_CSV_H */
