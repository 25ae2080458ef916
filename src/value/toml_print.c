/*
 * toml_print.c - a table as TOML that reads back equal, the order of its keys included.
 *
 * In TOML everything behind [a] belongs to a, so a section can only be followed by sections. In
 * each table the tables behind its last plain value become sections; those before it are written
 * inline.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/value.h>

#include "value/quote.h"

/* The way from the root to a section, innermost first. */
struct way {
    const struct way *up;
    const char *key;
};

static void print_key(struct mase_str *out, const char *key)
{
    size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (n && !key[n])
        mase_str_add(out, key);
    else
        mase_quote(out, key, strlen(key));
}

static void print_value(struct mase_str *out, const struct mase_value *v);

static void print_list(struct mase_str *out, const struct mase_value *v)
{
    mase_str_addc(out, '[');
    for (int i = 0; i < v->count; i++) {
        mase_str_add(out, i ? ", " : "");
        print_value(out, v->items[i]);
    }
    mase_str_addc(out, ']');
}

static void print_inline(struct mase_str *out, const struct mase_value *v)
{
    mase_str_addc(out, '{');
    for (int i = 0; i < v->count; i++) {
        mase_str_add(out, i ? ", " : " ");
        print_key(out, v->keys[i]);
        mase_str_add(out, " = ");
        print_value(out, v->items[i]);
    }
    mase_str_add(out, v->count ? " }" : "}");
}

static void print_value(struct mase_str *out, const struct mase_value *v)
{
    switch (v->kind) {
    case MASE_NONE:
        mase_str_add(out, "\"NA\"");
        break;
    case MASE_BOOL:
        mase_str_add(out, v->b ? "true" : "false");
        break;
    case MASE_INT:
        mase_str_printf(out, "%" PRId64, v->i);
        break;
    case MASE_FLOAT:
        mase_repr_float(out, v->f);
        break;
    case MASE_STRING:
    case MASE_ATOM:
        mase_quote(out, v->s, v->len);
        break;
    case MASE_DATE:
        mase_str_addn(out, v->s, v->len);
        break;
    case MASE_LIST:
    case MASE_TUPLE:
        print_list(out, v);
        break;
    case MASE_TABLE:
        print_inline(out, v);
        break;
    }
}

static bool is_array_of_tables(const struct mase_value *v)
{
    if (v->kind != MASE_LIST || v->count == 0)
        return false;
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->kind != MASE_TABLE)
            return false;
    return true;
}

/* The index of the first entry that becomes a section, as do all that follow. */
static int first_section(const struct mase_value *table)
{
    int i = table->count;
    while (i > 0 &&
           (table->items[i - 1]->kind == MASE_TABLE || is_array_of_tables(table->items[i - 1])))
        i--;
    return i;
}

static void print_way(struct mase_str *out, const struct way *way)
{
    if (way->up) {
        print_way(out, way->up);
        mase_str_addc(out, '.');
    }
    print_key(out, way->key);
}

static void print_header(struct mase_str *out, const struct way *way, bool element)
{
    mase_str_add(out, out->len ? "\n" : "");
    mase_str_add(out, element ? "[[" : "[");
    print_way(out, way);
    mase_str_add(out, element ? "]]\n" : "]\n");
}

static void print_body(struct mase_str *out, const struct mase_value *table, const struct way *up);

static void print_section(struct mase_str *out, const struct mase_value *v, const struct way *way)
{
    if (v->kind == MASE_LIST) {
        for (int i = 0; i < v->count; i++) {
            print_header(out, way, true);
            print_body(out, v->items[i], way);
        }
        return;
    }
    if (v->count == 0 || first_section(v) > 0) /* otherwise its sections name it */
        print_header(out, way, false);
    print_body(out, v, way);
}

static void print_body(struct mase_str *out, const struct mase_value *table, const struct way *up)
{
    int sections = first_section(table);
    for (int i = 0; i < sections; i++) {
        print_key(out, table->keys[i]);
        mase_str_add(out, " = ");
        print_value(out, table->items[i]);
        mase_str_addc(out, '\n');
    }
    for (int i = sections; i < table->count; i++)
        print_section(out, table->items[i], &(struct way){ up, table->keys[i] });
}

void mase_toml_print(struct mase_str *out, const struct mase_value *table)
{
    if (table->kind != MASE_TABLE)
        mase_bug("a TOML document is a table, not a %s", mase_value_kind_names[table->kind]);
    print_body(out, table, NULL);
}
