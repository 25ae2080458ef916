/*
 * value.h - one ordered tree for TOML, JSON and pass arguments.
 *
 * Values live in an arena and are never freed one by one. Tables and lists keep their order. Every
 * value from a file has its place, so an error in its meaning found much later still points at the
 * text. "NA" in a configuration means none: mase_value_resolve_na turns it into MASE_NONE.
 *
 *     const struct mase_value *w = mase_value_at(root, "passes.quantize.linear.config.name");
 *     if (w && w->kind != MASE_STRING)
 *         return mase_fail_at(err, MASE_EVALUE, w->at, "name must be a string");
 */
#ifndef MASE_VALUE_H
#define MASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/err.h>
#include <mase/str.h>

MASE_API_BEGIN

enum mase_value_kind {
    MASE_NONE,
    MASE_BOOL,
    MASE_INT,
    MASE_FLOAT,
    MASE_STRING,
    MASE_DATE, /* TOML dates and times, kept as text in s */
    MASE_ATOM, /* printed bare, as Python prints a type or dtype: torch.float32, <class 'int'> */
    MASE_LIST,
    MASE_TUPLE, /* a list that prints with parentheses */
    MASE_TABLE,
};

struct mase_value {
    enum mase_value_kind kind;
    struct mase_loc at; /* of the value */
    union {
        bool b;
        int64_t i;
        double f;
        const char *s; /* string, date, atom; NUL-terminated, len bytes */
    };
    size_t len; /* of s */
    /* list, tuple: items[0..count); table: also keys[0..count) and their places */
    int count, cap;
    struct mase_value **items;
    const char **keys;
    struct mase_loc *key_at;
    uint32_t *index; /* private: finds keys of a large table, kept by mase_value_set */
    uint32_t index_mask;
};

/* "none", "boolean", "integer", ... for messages */
extern const char *const mase_value_kind_names[];

struct mase_value *mase_value_none(struct mase_arena *a);
struct mase_value *mase_value_bool(struct mase_arena *a, bool b);
struct mase_value *mase_value_int(struct mase_arena *a, int64_t i);
struct mase_value *mase_value_float(struct mase_arena *a, double f);
struct mase_value *mase_value_string(struct mase_arena *a, const char *s);
struct mase_value *mase_value_string_n(struct mase_arena *a, const char *s, size_t n);
struct mase_value *mase_value_atom(struct mase_arena *a, const char *s);
struct mase_value *mase_value_list(struct mase_arena *a);
struct mase_value *mase_value_tuple(struct mase_arena *a);
struct mase_value *mase_value_table(struct mase_arena *a);
struct mase_value *mase_value_copy(struct mase_arena *a, const struct mase_value *v);
/* A string, or none for NULL. */
struct mase_value *mase_value_text(struct mase_arena *a, const char *s);
/* Lists of n items. */
struct mase_value *mase_value_ints(struct mase_arena *a, const int64_t *x, int64_t n);
struct mase_value *mase_value_floats(struct mase_arena *a, const double *x, int64_t n);
struct mase_value *mase_value_strings(struct mase_arena *a, const char *const *s, int64_t n);

void mase_value_push(struct mase_arena *a, struct mase_value *list, struct mase_value *item);
/* Set a key, replacing an earlier value in place. The key is copied. Returns item. */
struct mase_value *mase_value_set(struct mase_arena *a, struct mase_value *table, const char *key,
                                  struct mase_value *item);

/* NULL when v is NULL, no table, or has no such key. */
struct mase_value *mase_value_get(const struct mase_value *v, const char *key);
/* Get a value by a dotted path ("search.strategy.name"); keys that contain dots cannot be reached.
 */
struct mase_value *mase_value_at(const struct mase_value *v, const char *path);
int mase_value_find(const struct mase_value *table, const char *key); /* index or -1 */

/* Deep equality; tables must agree in order too. NaN equals NaN. Places do not count. */
bool mase_value_equal(const struct mase_value *a, const struct mase_value *b);

/* An integer or float as a double; NaN when it is neither, or v is NULL. */
double mase_value_number(const struct mase_value *v);
/* Is it none, or the string "NA", which means none? */
bool mase_value_is_none(const struct mase_value *v);
/* Replace every string "NA" in the tree by none. */
void mase_value_resolve_na(struct mase_value *v);

/* The size limit of TOML and JSON texts, which bounds the memory that a file can use. */
enum { MASE_TEXT_MAX = 16 << 20 };

/* ---- TOML 1.0, strict (toml_*.c) ---- */

/* Parse a text; path (borrowed, must outlive the values) is used for places. */
enum mase_status mase_toml_parse(struct mase_value **root, struct mase_arena *a, const char *text,
                                 size_t size, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_toml_read(struct mase_value **root, struct mase_arena *a, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Write a table as TOML that reads back equal; none is written as "NA", atoms and dates as they are
 * (atoms as strings). */
void mase_toml_print(struct mase_str *out, const struct mase_value *table);

/* ---- JSON (json.c) ---- */

enum mase_status mase_json_parse(struct mase_value **root, struct mase_arena *a, const char *text,
                                 size_t size, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_json_read(struct mase_value **root, struct mase_arena *a, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* indent 0: one line. Floats shortest round trip; inf and nan as strings; atoms and dates as
 * strings. */
void mase_json_print(struct mase_str *out, const struct mase_value *v, int indent);

/* ---- as Python prints (python.c) ---- */

void mase_repr_float(struct mase_str *out, double f);                 /* repr(f): 1e-05, 0.1, inf */
void mase_repr_string(struct mase_str *out, const char *s, size_t n); /* repr(s): 'a', "it's" */
void mase_repr(struct mase_str *out,
               const struct mase_value *v); /* {'a': [1, 2]}; insertion order */
/* pprint.pformat(v, width=80, indent=1): sorted keys, broken where a line does not fit. */
void mase_pformat(struct mase_str *out, const struct mase_value *v);
/* str(v) as torch.fx prints arguments: strings and keys without quotes. */
void mase_value_str(struct mase_str *out, const struct mase_value *v);

MASE_API_END

#endif /* MASE_VALUE_H */
