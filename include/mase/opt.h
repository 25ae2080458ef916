/*
 * opt.h - options as data: one row gives binding, checking, help and documentation.
 *
 *     struct shape_opts { bool all; int64_t limit; const char *file; };
 *     static const struct mase_opt shape_rows[] = {
 *         MASE_OPT_BOOL(struct shape_opts, all, "all", false, "show implicit nodes too"),
 *         MASE_OPT_INT(struct shape_opts, limit, "limit", 0, 0, 1000, "stop after so many nodes"),
 *         MASE_OPT_PATH(struct shape_opts, file, "file_name", NULL, "write here, not to stdout"),
 *         { 0 },
 *     };
 *
 * Binding a table fills the struct: defaults first, then the table's values, each checked for type
 * and range. An unknown key is an error that names the nearest known key, unless a MASE_OPT_REST
 * row collects unknown keys.
 */
#ifndef MASE_OPT_H
#define MASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/value.h>

MASE_API_BEGIN

enum mase_opt_type {
    MASE_OPT_END = 0,
    MASE_OPT_TYPE_BOOL,    /* bool */
    MASE_OPT_TYPE_INT,     /* int64_t */
    MASE_OPT_TYPE_FLOAT,   /* double; an integer is accepted */
    MASE_OPT_TYPE_TEXT,    /* const char *; none ("NA", NULL) only where that is the default */
    MASE_OPT_TYPE_PATH,    /* the same */
    MASE_OPT_TYPE_CHOICE,  /* const char *, one of choices */
    MASE_OPT_TYPE_SWITCH,  /* int64_t, 0 or 1: a boolean that may be none */
    MASE_OPT_TYPE_INTS,    /* struct mase_ints; an integer is a list of one */
    MASE_OPT_TYPE_NUMBERS, /* const struct mase_value *: a number or a list of them; NULL: none */
    MASE_OPT_TYPE_VALUE,   /* const struct mase_value *, any kind, NULL when not given */
    MASE_OPT_TYPE_REST,    /* struct mase_value * (a table): every key no other row knows */
};

/* The value of a number given as none ("NA"), where may_be_none allows it. Its reader decides what
 * it means. */
#define MASE_NA INT64_MIN

enum { MASE_INTS_MAX = 8 };
struct mase_ints {
    int count;
    int64_t item[MASE_INTS_MAX];
};

struct mase_opt {
    const char *key;
    enum mase_opt_type type;
    size_t offset; /* of the field in the bound struct */
    bool required;
    bool may_be_none; /* int, float, switch: MASE_NA is allowed, and a default; choice: NULL is */
    double num;       /* default of bool, int, float, switch */
    /* int, float, ints: the range allowed; min == max == 0: any; a limit of 2^53 or more: none */
    double min, max;
    const char *text;           /* default of text, path, choice; of ints: "[1, 16]" */
    const char *const *choices; /* NULL-terminated */
    const char *help;
};

#define MASE_OPT_BOOL(S, f, k, dflt, hlp)                                                        \
    {                                                                                            \
        .key = k, .type = MASE_OPT_TYPE_BOOL, .offset = offsetof(S, f), .num = dflt, .help = hlp \
    }
#define MASE_OPT_INT(S, f, k, dflt, lo, hi, hlp)                                               \
    {                                                                                          \
        .key = k, .type = MASE_OPT_TYPE_INT, .offset = offsetof(S, f), .num = dflt, .min = lo, \
        .max = hi, .help = hlp                                                                 \
    }
#define MASE_OPT_FLOAT(S, f, k, dflt, lo, hi, hlp)                                               \
    {                                                                                            \
        .key = k, .type = MASE_OPT_TYPE_FLOAT, .offset = offsetof(S, f), .num = dflt, .min = lo, \
        .max = hi, .help = hlp                                                                   \
    }
#define MASE_OPT_TEXT(S, f, k, dflt, hlp)                                                         \
    {                                                                                             \
        .key = k, .type = MASE_OPT_TYPE_TEXT, .offset = offsetof(S, f), .text = dflt, .help = hlp \
    }
#define MASE_OPT_PATH(S, f, k, dflt, hlp)                                                         \
    {                                                                                             \
        .key = k, .type = MASE_OPT_TYPE_PATH, .offset = offsetof(S, f), .text = dflt, .help = hlp \
    }
#define MASE_OPT_CHOICE(S, f, k, dflt, list, hlp)                                       \
    {                                                                                   \
        .key = k, .type = MASE_OPT_TYPE_CHOICE, .offset = offsetof(S, f), .text = dflt, \
        .choices = list, .help = hlp                                                    \
    }
#define MASE_OPT_VALUE(S, f, k, hlp)                                                 \
    {                                                                                \
        .key = k, .type = MASE_OPT_TYPE_VALUE, .offset = offsetof(S, f), .help = hlp \
    }
#define MASE_OPT_REST(S, f, k, hlp)                                                 \
    {                                                                               \
        .key = k, .type = MASE_OPT_TYPE_REST, .offset = offsetof(S, f), .help = hlp \
    }

/* Fill opts (size bytes, zeroed here) from table (NULL: defaults only). Texts point into table or
 * the rows; a REST table is made in a. The table is not changed. */
enum mase_status mase_opts_bind(void *opts, size_t size, const struct mase_opt *rows,
                                const struct mase_value *table, struct mase_arena *a,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Set the field of one row to its default. The field must be zeroed. */
void mase_opt_set_default(void *opts, const struct mase_opt *row);
/* Check one value against one row and set the field. */
enum mase_status mase_opt_bind_value(void *opts, const struct mase_opt *row,
                                     const struct mase_value *v,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The inverse of mase_opt_bind_value: the field of a row as a value, allocated in a. MASE_NA and a
 * NULL text give none. */
struct mase_value *mase_opt_value(struct mase_arena *a, const void *opts,
                                  const struct mase_opt *row);
/* The default of a row as a value, allocated in a. */
struct mase_value *mase_opt_default_value(struct mase_arena *a, const struct mase_opt *row);
/* Convert a value as binding would, allocated in a: it is checked, and an integer for a FLOAT row
 * becomes a float. */
enum mase_status mase_opt_convert(struct mase_value **out, struct mase_arena *a,
                                  const struct mase_opt *row, const struct mase_value *v,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* "integer 1..32", "integer 0..", "one of type, name, regex_name": what the row allows, for help
 * and messages. */
void mase_opt_describe(struct mase_str *out, const struct mase_opt *row);
/* Print the default as Python does: "True", "0.5", "None" for no default. */
void mase_opt_default(struct mase_str *out, const struct mase_opt *row);

MASE_API_END

#endif /* MASE_OPT_H */
