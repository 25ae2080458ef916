/*
 * json_print.c - values as JSON: keys in their order, floats with the fewest digits that read back.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <mase/value.h>

#include "value/quote.h"

static void print(struct mase_str *out, const struct mase_value *v, int indent, int depth);

static void print_float(struct mase_str *out, double f)
{
    bool quoted = !isfinite(f); /* JSON has no such numbers */
    mase_str_add(out, quoted ? "\"" : "");
    mase_repr_float(out, f);
    mase_str_add(out, quoted ? "\"" : "");
}

static void new_line(struct mase_str *out, int indent, int depth)
{
    if (indent == 0)
        return;
    mase_str_addc(out, '\n');
    mase_str_pad(out, ' ', (long)indent * depth);
}

static void print_items(struct mase_str *out, const struct mase_value *v, int indent, int depth)
{
    bool table = v->kind == MASE_TABLE;
    mase_str_addc(out, table ? '{' : '[');
    for (int i = 0; i < v->count; i++) {
        if (i)
            mase_str_add(out, indent ? "," : ", ");
        new_line(out, indent, depth + 1);
        if (table) {
            mase_quote(out, v->keys[i], strlen(v->keys[i]));
            mase_str_add(out, ": ");
        }
        print(out, v->items[i], indent, depth + 1);
    }
    if (v->count)
        new_line(out, indent, depth);
    mase_str_addc(out, table ? '}' : ']');
}

static void print(struct mase_str *out, const struct mase_value *v, int indent, int depth)
{
    switch (v->kind) {
    case MASE_NONE:
        mase_str_add(out, "null");
        break;
    case MASE_BOOL:
        mase_str_add(out, v->b ? "true" : "false");
        break;
    case MASE_INT:
        mase_str_printf(out, "%" PRId64, v->i);
        break;
    case MASE_FLOAT:
        print_float(out, v->f);
        break;
    case MASE_STRING:
    case MASE_DATE:
    case MASE_ATOM:
        mase_quote(out, v->s, v->len);
        break;
    case MASE_LIST:
    case MASE_TUPLE:
    case MASE_TABLE:
        print_items(out, v, indent, depth);
        break;
    }
}

void mase_json_print(struct mase_str *out, const struct mase_value *v, int indent)
{
    print(out, v, indent, 0);
}
