/*
 * toml_table.c - keys, and the table each of them leads to.
 *
 * A table may be defined once: by [a], by dotted keys of one section, or as a value. What a line
 * may still add to is decided by how the table came to be, enum toml_origin:
 *
 *     found on the way of     implicit   header     dotted     closed    array
 *     [a.b], before the last  enter      enter      enter      refuse    enter its last element
 *     [a.b], the last         define     refuse     refuse     refuse    refuse
 *     a.b = 1                 define     refuse     enter      refuse    refuse
 */
#include <string.h>

#include "value/toml.h"

/* ---- reading a key ---- */

static bool is_bare(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static enum mase_status read_quoted(struct toml *t, struct toml_key *key)
{
    size_t start = t->pos;
    MASE_TRY(mase_toml_string(t, true));
    key->at = mase_toml_from(t, start);
    const char *name = mase_str_text(&t->buf);
    if (strlen(name) != t->buf.len)
        return mase_fail_at(t->err, MASE_EUNSUPPORTED, key->at,
                            "a key with the character U+0000 cannot be represented");
    key->name = mase_arena_strndup(t->a, name, t->buf.len);
    return MASE_OK;
}

static enum mase_status read_bare(struct toml *t, struct toml_key *key)
{
    size_t start = t->pos;
    while (is_bare(mase_toml_peek(t)))
        t->pos++;
    if (t->pos == start)
        return mase_toml_expected(t, "a key");
    key->at = mase_toml_from(t, start);
    key->name = mase_arena_strndup(t->a, t->text + start, t->pos - start);
    return MASE_OK;
}

static enum mase_status read_key(struct toml *t, struct toml_key *key)
{
    bool quoted = mase_toml_peek(t) == '"' || mase_toml_peek(t) == '\'';
    return quoted ? read_quoted(t, key) : read_bare(t, key);
}

/* ---- nodes ---- */

enum mase_status mase_toml_node_new(struct toml *t, struct toml_node **out,
                                    const struct toml_node *parent, enum mase_value_kind kind,
                                    enum toml_origin origin, struct mase_loc at)
{
    int depth = parent ? parent->depth + 1 : 0;
    if (depth > TOML_DEPTH_MAX)
        return mase_fail_at(t->err, MASE_ELIMIT, at, "nested deeper than %d levels",
                            TOML_DEPTH_MAX);
    struct toml_node *node = mase_new(t->a, struct toml_node);
    node->v.kind = kind;
    node->v.at = at;
    node->origin = origin;
    node->depth = depth;
    *out = node;
    return MASE_OK;
}

void mase_toml_add(struct toml *t, struct toml_node *table, const struct toml_key *key,
                   struct mase_value *v)
{
    mase_value_set(t->a, &table->v, key->name, v);
    table->v.key_at[table->v.count - 1] = key->at;
}

static enum mase_status add_node(struct toml *t, struct toml_node **out, struct toml_node *table,
                                 const struct toml_key *key, enum mase_value_kind kind,
                                 enum toml_origin origin)
{
    MASE_TRY(mase_toml_node_new(t, out, table, kind, origin, key->at));
    mase_toml_add(t, table, key, &(*out)->v);
    return MASE_OK;
}

/* The table or list under key, or NULL; *taken gets its index, -1 when the key is free. */
static struct toml_node *find_node(const struct toml_node *table, const struct toml_key *key,
                                   int *taken)
{
    *taken = mase_value_find(&table->v, key->name);
    if (*taken < 0)
        return NULL;
    struct mase_value *v = table->v.items[*taken];
    return v->kind == MASE_TABLE || v->kind == MASE_LIST ? (struct toml_node *)v : NULL;
}

static enum mase_status already(struct toml *t, const struct toml_node *table, int taken,
                                const struct toml_key *key)
{
    const struct mase_value *v = table->v.items[taken];
    bool closed = v->kind != MASE_TABLE || ((const struct toml_node *)v)->origin == TOML_CLOSED;
    const char *what = closed ? "key" : "table";
    const char *how = closed ? "set" : "defined";
    if (v->kind == MASE_LIST && ((const struct toml_node *)v)->origin == TOML_ARRAY) {
        what = "array of tables";
        how = "begun";
    }
    return mase_fail_at(t->err, MASE_EPARSE, key->at, "%s '%.100s' is already %s at line %d", what,
                        key->name, how, closed ? table->v.key_at[taken].line : v->at.line);
}

/* A second [a.b]. */
static enum mase_status twice(struct toml *t, const struct toml_node *first,
                              const struct toml_key *key)
{
    size_t begin = t->pos;
    while (begin > 0 && t->text[begin - 1] != '[')
        begin--;
    const size_t length = strcspn(t->text + begin, "]\r\n");
    return mase_fail_at(t->err, MASE_EPARSE, key->at,
                        "table '%.100s' is already defined at line %d; where several may stand, "
                        "each is written [[%.*s]]",
                        key->name, first->v.at.line, (int)(length < 100 ? length : 100),
                        t->text + begin);
}

/* ---- headers ---- */

/* Enter the table under key on the way of a header, making it if need be. */
static enum mase_status enter(struct toml *t, struct toml_node **table, const struct toml_key *key)
{
    int taken;
    struct toml_node *next = find_node(*table, key, &taken);
    if (taken < 0)
        return add_node(t, table, *table, key, MASE_TABLE, TOML_IMPLICIT);
    if (!next || next->origin == TOML_CLOSED)
        return already(t, *table, taken, key);
    if (next->origin == TOML_ARRAY)
        next = (struct toml_node *)next->v.items[next->v.count - 1];
    *table = next;
    return MASE_OK;
}

enum mase_status mase_toml_open_table(struct toml *t, struct toml_node **table,
                                      const struct toml_key *key)
{
    int taken;
    struct toml_node *found = find_node(*table, key, &taken);
    if (taken < 0)
        return add_node(t, table, *table, key, MASE_TABLE, TOML_HEADER);
    if (found && found->origin == TOML_HEADER)
        return twice(t, found, key);
    if (!found || found->origin != TOML_IMPLICIT)
        return already(t, *table, taken, key);
    found->origin = TOML_HEADER;
    found->v.at = (*table)->v.key_at[taken] = key->at;
    *table = found;
    return MASE_OK;
}

enum mase_status mase_toml_open_element(struct toml *t, struct toml_node **table,
                                        const struct toml_key *key)
{
    int taken;
    struct toml_node *list = find_node(*table, key, &taken);
    if (taken < 0)
        MASE_TRY(add_node(t, &list, *table, key, MASE_LIST, TOML_ARRAY));
    else if (!list || list->origin != TOML_ARRAY)
        return already(t, *table, taken, key);
    MASE_TRY(mase_toml_node_new(t, table, list, MASE_TABLE, TOML_HEADER, key->at));
    mase_value_push(t->a, &list->v, &(*table)->v);
    return MASE_OK;
}

/* ---- dotted keys ---- */

static enum mase_status enter_dotted(struct toml *t, struct toml_node **table,
                                     const struct toml_key *key)
{
    int taken;
    struct toml_node *next = find_node(*table, key, &taken);
    if (taken < 0)
        return add_node(t, table, *table, key, MASE_TABLE, TOML_DOTTED);
    if (!next || (next->origin != TOML_IMPLICIT && next->origin != TOML_DOTTED))
        return already(t, *table, taken, key);
    next->origin = TOML_DOTTED;
    *table = next;
    return MASE_OK;
}

enum mase_status mase_toml_check_free(struct toml *t, const struct toml_node *table,
                                      const struct toml_key *key)
{
    int taken = mase_value_find(&table->v, key->name);
    return taken < 0 ? MASE_OK : already(t, table, taken, key);
}

enum mase_status mase_toml_walk_key(struct toml *t, struct toml_node **table, struct toml_key *last,
                                    bool header)
{
    for (;;) {
        mase_toml_skip_blanks(t);
        MASE_TRY(read_key(t, last));
        mase_toml_skip_blanks(t);
        if (mase_toml_peek(t) != '.')
            return MASE_OK;
        t->pos++;
        MASE_TRY(header ? enter(t, table, last) : enter_dotted(t, table, last));
    }
}
