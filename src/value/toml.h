/*
 * toml.h - declarations shared by the files of the TOML reader, src/value/toml_*.c.
 *
 *     toml_lex.c     the text: checking its bytes, moving through it, places, blanks, comments
 *     toml_string.c  the four kinds of string
 *     toml_number.c  integers and floats
 *     toml_date.c    dates and times
 *     toml_table.c   keys, and where they lead: every rule on defining a table once
 *     toml_parse.c   values and the document
 *
 * Every function that can fail leaves a complete error behind and its status must be handed on.
 */
#ifndef MASE_VALUE_TOML_H
#define MASE_VALUE_TOML_H

#include <mase/value.h>

enum { TOML_DEPTH_MAX = 200 };

/* How a table or list was defined, which decides what may still be added to it. */
enum toml_origin {
    TOML_IMPLICIT, /* named on the way to another: [a] in [a.b]; may still be defined once */
    TOML_HEADER,   /* [a] or an element of [[a]] */
    TOML_DOTTED,   /* a in a.b = 1; grows by dotted keys of the same section and by sub-tables */
    TOML_CLOSED,   /* { } or [ ]: complete as written */
    TOML_ARRAY,    /* the list of [[a]] */
};

/* Each table and list of a tree that is being read is the first member of a toml_node. */
struct toml_node {
    struct mase_value v;
    enum toml_origin origin;
    int depth; /* of the root: 0 */
};

struct toml {
    const char *path; /* borrowed */
    const char *text;
    size_t size, pos;
    int line; /* of pos, from 1 */
    size_t line_start;
    struct mase_arena *a;
    struct mase_str buf; /* the string being read */
    struct mase_err *err;
};

/* One part of a dotted key. */
struct toml_key {
    const char *name;
    struct mase_loc at;
};

/* ---- toml_lex.c ---- */

/* Refuse bytes that TOML forbids everywhere: malformed UTF-8, control characters, a lone CR. */
enum mase_status mase_toml_check_text(struct toml *t) MASE_MUST_CHECK;

int mase_toml_peek(const struct toml *t);                /* the byte at pos, -1 at the end */
int mase_toml_peek_at(const struct toml *t, size_t off); /* the byte off further on */
bool mase_toml_next_is(const struct toml *t, const char *s);
/* The place of pos, and of the text from start (on this line) up to pos. */
struct mase_loc mase_toml_here(const struct toml *t);
struct mase_loc mase_toml_from(const struct toml *t, size_t start);
/* "expected WHAT, got 'x'" (or a line end, or the end of the file) at pos. */
enum mase_status mase_toml_expected(struct toml *t, const char *what) MASE_MUST_CHECK;
enum mase_status mase_toml_take(struct toml *t, char c, const char *what) MASE_MUST_CHECK;

void mase_toml_skip_blanks(struct toml *t); /* spaces and tabs */
void mase_toml_skip_all(struct toml *t);    /* and comments and line ends */
bool mase_toml_take_line_end(struct toml *t);
/* Blanks and a comment may follow, then the line must end. */
enum mase_status mase_toml_end_line(struct toml *t, const char *after) MASE_MUST_CHECK;

/* ---- values ---- */

/* A string at pos, its content left in t->buf. Keys may not span lines. */
enum mase_status mase_toml_string(struct toml *t, bool key) MASE_MUST_CHECK;

bool mase_toml_is_date(const char *s, size_t n); /* it begins as one */
/* Check the date or time s[0..n), which stands at at. */
enum mase_status mase_toml_check_date(struct toml *t, const char *s, size_t n,
                                      struct mase_loc at) MASE_MUST_CHECK;
enum mase_status mase_toml_number(struct toml *t, struct mase_value *v, const char *s,
                                  size_t n) MASE_MUST_CHECK;

/* ---- toml_table.c ---- */

/* Read a dotted key at pos, and go from *table to the table that the parts before the last name, as
 * [a.b] does (header) or as a.b = 1 does. *table becomes the table that *last belongs to. */
enum mase_status mase_toml_walk_key(struct toml *t, struct toml_node **table, struct toml_key *last,
                                    bool header) MASE_MUST_CHECK;
/* An empty table or list in parent (NULL: the root), refused when too deep. */
enum mase_status mase_toml_node_new(struct toml *t, struct toml_node **out,
                                    const struct toml_node *parent, enum mase_value_kind kind,
                                    enum toml_origin origin, struct mase_loc at) MASE_MUST_CHECK;
/* [key] and [[key]] in *table, which becomes the table that the following lines fill. */
enum mase_status mase_toml_open_table(struct toml *t, struct toml_node **table,
                                      const struct toml_key *key) MASE_MUST_CHECK;
enum mase_status mase_toml_open_element(struct toml *t, struct toml_node **table,
                                        const struct toml_key *key) MASE_MUST_CHECK;
/* key = ...: refused when the table has it already. */
enum mase_status mase_toml_check_free(struct toml *t, const struct toml_node *table,
                                      const struct toml_key *key) MASE_MUST_CHECK;
void mase_toml_add(struct toml *t, struct toml_node *table, const struct toml_key *key,
                   struct mase_value *v);

#endif /* MASE_VALUE_TOML_H */
