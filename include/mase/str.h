/*
 * str.h - building text, comparing it, interning it.
 *
 * A struct mase_str is a growing buffer that is always NUL-terminated once it has been written to;
 * `{ 0 }` is a valid empty one and mase_str_text() of it is "". The caller releases it.
 */
#ifndef MASE_STR_H
#define MASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/err.h>

MASE_API_BEGIN

struct mase_str {
    char *data;
    size_t len, cap;
};

void mase_str_release(struct mase_str *s);
void mase_str_clear(struct mase_str *s);           /* empty it, keep the memory */
void mase_str_cut(struct mase_str *s, size_t len); /* keep the first len bytes */
const char *mase_str_text(const struct mase_str *s);

void mase_str_add(struct mase_str *s, const char *text);
void mase_str_addn(struct mase_str *s, const char *text, size_t n);
void mase_str_addc(struct mase_str *s, char c);
void mase_str_pad(struct mase_str *s, char c, long n); /* n copies of c; none if n <= 0 */
void mase_str_printf(struct mase_str *s, const char *fmt, ...) MASE_PRINTF(2, 3);
void mase_str_vprintf(struct mase_str *s, const char *fmt, va_list ap) MASE_PRINTF(2, 0);

/* Append n bytes made safe for a terminal: bytes that are not printable UTF-8 become escapes such
 * as \n or \x1b, a tab blanks. keep_lines keeps line feeds. All text that comes from files or users
 * is printed through this function. */
void mase_str_add_printable(struct mase_str *s, const char *text, size_t n, bool keep_lines);

bool mase_streq(const char *a, const char *b); /* two NULLs are equal */
bool mase_starts_with(const char *s, const char *prefix);
bool mase_ends_with(const char *s, const char *suffix);

/* The width of a UTF-8 text on a terminal, one column per code point. */
long mase_str_columns(const char *s, size_t n);

/* The name nearest to word by edit distance, or NULL if none is near enough to be a typing error.
 * names[i] may be NULL. */
const char *mase_nearest(const char *word, const char *const *names, int n);

/* An unknown word, the known names, and the parts of the message. */
struct mase_unknown {
    const char *word;         /* NULL: nothing can be near */
    const char *const *names; /* NULLs are skipped */
    int count;
    const char *before, *after; /* around the nearest; NULL: ", did you mean '" and "'?" */
    const char *otherwise;      /* when no name is near; NULL: ";" before a tail */
    const char *tail;           /* text that follows in both cases, or NULL */
    bool lists;                 /* then list all names */
    size_t list_bytes;          /* limit of the list; 0: none */
    enum mase_status status;    /* 0: MASE_EVALUE */
};
/* Fail with a sentence that fmt begins: "unknown key 'modle', did you mean 'model'?" Returns the
 * status. */
enum mase_status mase_fail_unknown(struct mase_err *err, struct mase_loc at,
                                   const struct mase_unknown *u, const char *fmt, ...)
    MASE_PRINTF(4, 5);

/* Interned strings: equal texts give the same pointer, which lives as long as the arena. */
struct mase_intern {
    struct mase_arena *arena;
    const char **slots;
    size_t count, cap;
};
const char *mase_intern(struct mase_intern *in, const char *s);
const char *mase_intern_n(struct mase_intern *in, const char *s, size_t n);

/* A map from text to pointer. Keys are borrowed. A zeroed map with its arena set is empty. */
struct mase_map {
    struct mase_arena *arena;
    struct mase_map_slot *slots;
    size_t count, cap;
};
void *mase_map_get(const struct mase_map *m, const char *key); /* NULL when absent */
void mase_map_put(struct mase_map *m, const char *key, void *value);

MASE_API_END

#endif /* MASE_STR_H */
