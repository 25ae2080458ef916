/*
 * opt.c - bind a table of values to a struct, by the rows that describe its fields.
 *
 * What the types of options differ in is one table, types[], below the functions it names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/opt.h>

#include "base/counters.h"

/* f is the field in the bound struct. */
typedef void default_fn(void *f, const struct mase_opt *row);
typedef enum mase_status bind_fn(void *f, const struct mase_opt *row, const struct mase_value *v,
                                 struct mase_err *err);
typedef struct mase_value *value_fn(struct mase_arena *a, const void *f);
typedef void text_fn(struct mase_str *out, const struct mase_opt *row);

struct type {
    const char *name;        /* of a value of this type, in messages */
    default_fn *set_default; /* NULL: the field stays zero */
    bind_fn *bind;
    value_fn *value; /* the inverse of bind */
    text_fn *show_default;
    text_fn *describe; /* NULL: the name says all */
};
static const struct type types[MASE_OPT_TYPE_REST + 1];

static void *field(void *opts, const struct mase_opt *row)
{
    return (char *)opts + row->offset;
}

/* ---- saying what is allowed and what was given ---- */

/* Bounds are doubles so that one column serves both types; beyond 2^53 they mean "no bound". */
static bool unbounded(double limit)
{
    return fabs(limit) >= 0x1p53;
}

static bool has_range(const struct mase_opt *row)
{
    return row->min != row->max || row->min != 0;
}

static void add_number(struct mase_str *out, const struct mase_opt *row, double f)
{
    if (row->type == MASE_OPT_TYPE_FLOAT || row->type == MASE_OPT_TYPE_NUMBERS)
        mase_repr_float(out, f);
    else
        mase_str_printf(out, "%.0f", f);
}

static void add_range(struct mase_str *out, const struct mase_opt *row)
{
    if (!unbounded(row->min))
        add_number(out, row, row->min);
    mase_str_add(out, "..");
    if (!unbounded(row->max))
        add_number(out, row, row->max);
}

static void add_none(struct mase_str *out, const struct mase_opt *row)
{
    if (row->may_be_none)
        mase_str_add(out, " or \"NA\"");
}

static void add_choices(struct mase_str *out, const struct mase_opt *row)
{
    for (int i = 0; row->choices[i]; i++)
        mase_str_printf(out, "%s%s", i ? ", " : "", row->choices[i]);
}

/* `string "8"`: a value in a message, cut when long. */
static void add_excerpt(struct mase_str *out, const struct mase_value *v)
{
    enum { SHOWN = 60 };
    mase_str_add(out, mase_value_kind_names[v->kind]);
    if (v->kind == MASE_NONE)
        return;
    mase_str_addc(out, ' ');
    size_t start = out->len;
    mase_json_print(out, v, 0);
    if (out->len - start <= SHOWN)
        return;
    size_t end = start + SHOWN;
    while ((out->data[end] & 0xc0) == 0x80) /* not inside a character */
        end--;
    out->len = end;
    mase_str_add(out, "...");
}

static enum mase_status wrong_type(const struct mase_opt *row, const struct mase_value *v,
                                   struct mase_err *err)
{
    struct mase_str got = { 0 }, allowed = { 0 };
    if (row->type == MASE_OPT_TYPE_CHOICE) /* which words are allowed is another message */
        mase_str_add(&allowed, types[row->type].name);
    else
        mase_opt_describe(&allowed, row);
    add_excerpt(&got, v);
    enum mase_status st =
        mase_fail_at(err, MASE_EVALUE, v->at, "%s must be %s %s, got %s", row->key,
                     strchr("aeiou", *mase_str_text(&allowed)) ? "an" : "a",
                     mase_str_text(&allowed), mase_str_text(&got));
    mase_str_release(&allowed);
    mase_str_release(&got);
    return st;
}

/* ---- booleans and numbers ---- */

static void default_bool(void *f, const struct mase_opt *row)
{
    *(bool *)f = row->num != 0;
}

static enum mase_status bind_bool(void *f, const struct mase_opt *row, const struct mase_value *v,
                                  struct mase_err *err)
{
    if (v->kind != MASE_BOOL)
        return wrong_type(row, v, err);
    *(bool *)f = v->b;
    return MASE_OK;
}

static struct mase_value *value_of_bool(struct mase_arena *a, const void *f)
{
    return mase_value_bool(a, *(const bool *)f);
}

static void show_bool(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_add(out, row->num != 0 ? "True" : "False");
}

static enum mase_status out_of_range(const struct mase_opt *row, const struct mase_value *v,
                                     struct mase_err *err)
{
    struct mase_str got = { 0 }, range = { 0 };
    mase_repr(&got, v);
    add_range(&range, row);
    enum mase_status st = mase_fail_at(err, MASE_EVALUE, v->at, "%s = %s is outside %s", row->key,
                                       mase_str_text(&got), mase_str_text(&range));
    mase_str_release(&got);
    mase_str_release(&range);
    return st;
}

static bool in_range(const struct mase_opt *row, double f)
{
    return !has_range(row) || (f >= row->min && f <= row->max);
}

static void default_int(void *f, const struct mase_opt *row)
{
    *(int64_t *)f = (int64_t)row->num;
}

/* True when v is none and may be. */
static bool takes_none(void *f, const struct mase_opt *row, const struct mase_value *v)
{
    if (!row->may_be_none || !mase_value_is_none(v))
        return false;
    *(int64_t *)f = MASE_NA;
    return true;
}

static enum mase_status bind_switch(void *f, const struct mase_opt *row, const struct mase_value *v,
                                    struct mase_err *err)
{
    if (takes_none(f, row, v))
        return MASE_OK;
    if (v->kind != MASE_BOOL)
        return wrong_type(row, v, err);
    *(int64_t *)f = v->b;
    return MASE_OK;
}

static struct mase_value *value_of_switch(struct mase_arena *a, const void *f)
{
    const int64_t i = *(const int64_t *)f;
    return i == MASE_NA ? mase_value_none(a) : mase_value_bool(a, i != 0);
}

static void show_switch(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_add(out, row->num == (double)MASE_NA ? "NA" : row->num != 0 ? "True" : "False");
}

static enum mase_status bind_int(void *f, const struct mase_opt *row, const struct mase_value *v,
                                 struct mase_err *err)
{
    if (takes_none(f, row, v))
        return MASE_OK;
    if (v->kind != MASE_INT)
        return wrong_type(row, v, err);
    if (!in_range(row, (double)v->i))
        return out_of_range(row, v, err);
    *(int64_t *)f = v->i;
    return MASE_OK;
}

static struct mase_value *value_of_int(struct mase_arena *a, const void *f)
{
    const int64_t i = *(const int64_t *)f;
    return i == MASE_NA ? mase_value_none(a) : mase_value_int(a, i);
}

static void default_float(void *f, const struct mase_opt *row)
{
    *(double *)f = row->num;
}

/* Most numbers are computed with in 32 bits: what is none there would be infinite, or nothing,
 * without a word. */
static enum mase_status check_single(const struct mase_opt *row, double number,
                                     const struct mase_value *v, struct mase_err *err)
{
    const float single = (float)number;
    if (!isfinite(number) || (isfinite(single) && (single != 0 || number == 0)))
        return MASE_OK;
    return mase_fail_at(err, MASE_EVALUE, v->at, "%s = %g is %g as a 32-bit float", row->key,
                        number, (double)single);
}

static enum mase_status bind_float(void *f, const struct mase_opt *row, const struct mase_value *v,
                                   struct mase_err *err)
{
    if (row->may_be_none && mase_value_is_none(v)) {
        *(double *)f = (double)MASE_NA;
        return MASE_OK;
    }
    if (v->kind != MASE_INT && v->kind != MASE_FLOAT)
        return wrong_type(row, v, err);
    double number = mase_value_number(v);
    if (!in_range(row, number))
        return out_of_range(row, v, err);
    MASE_TRY(check_single(row, number, v, err));
    *(double *)f = number;
    return MASE_OK;
}

static struct mase_value *value_of_float(struct mase_arena *a, const void *f)
{
    const double x = *(const double *)f;
    return x == (double)MASE_NA ? mase_value_none(a) : mase_value_float(a, x);
}

static void show_number(struct mase_str *out, const struct mase_opt *row)
{
    if (row->may_be_none && row->num == (double)MASE_NA)
        mase_str_add(out, "NA");
    else
        add_number(out, row, row->num);
}

static void describe_number(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_add(out, types[row->type].name);
    if (has_range(row)) {
        mase_str_addc(out, ' ');
        add_range(out, row);
    }
    add_none(out, row);
}

static void describe_switch(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_add(out, types[row->type].name);
    add_none(out, row);
}

/* ---- lists of integers ---- */

static void default_ints(void *f, const struct mase_opt *row)
{
    struct mase_ints *list = f;
    const char *p = row->text + 1; /* after the bracket */
    while (*p && *p != ']' && list->count < MASE_INTS_MAX) {
        char *end;
        list->item[list->count++] = strtoll(p, &end, 10);
        p = end + strspn(end, ", ");
    }
}

static enum mase_status bind_ints(void *f, const struct mase_opt *row, const struct mase_value *v,
                                  struct mase_err *err)
{
    struct mase_ints list = { 0 };
    const bool is_list = v->kind == MASE_LIST || v->kind == MASE_TUPLE;
    const int count = is_list ? v->count : 1;
    if ((!is_list && v->kind != MASE_INT) || count < 1 || count > MASE_INTS_MAX)
        return wrong_type(row, v, err);
    for (int i = 0; i < count; i++) {
        const struct mase_value *item = is_list ? v->items[i] : v;
        if (item->kind != MASE_INT)
            return wrong_type(row, v, err);
        if (item->i == 0 && row->min < 0)
            return mase_fail_at(err, MASE_EVALUE, item->at,
                                "%s = 0 is neither -1 nor within 1..%.0f", row->key, row->max);
        if (!in_range(row, (double)item->i))
            return out_of_range(row, item, err);
        list.item[list.count++] = item->i;
    }
    *(struct mase_ints *)f = list;
    return MASE_OK;
}

static struct mase_value *value_of_ints(struct mase_arena *a, const void *f)
{
    const struct mase_ints *list = f;
    return mase_value_ints(a, list->item, list->count);
}

static void describe_ints(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_printf(out, "%s of 1 to %d integers", types[row->type].name, MASE_INTS_MAX);
    if (has_range(row)) {
        mase_str_addc(out, ' ');
        add_range(out, row);
    }
}

/* ---- numbers ---- */

static bool is_number(const struct mase_value *v)
{
    return v->kind == MASE_INT || v->kind == MASE_FLOAT;
}

static enum mase_status bind_numbers(void *f, const struct mase_opt *row,
                                     const struct mase_value *v, struct mase_err *err)
{
    const bool is_list = v->kind == MASE_LIST || v->kind == MASE_TUPLE;
    *(const struct mase_value **)f = NULL;
    if (row->may_be_none && mase_value_is_none(v))
        return MASE_OK;
    if ((!is_list && !is_number(v)) || (is_list && !v->count))
        return wrong_type(row, v, err);
    for (int i = 0; i < (is_list ? v->count : 1); i++) {
        const struct mase_value *item = is_list ? v->items[i] : v;
        if (!is_number(item))
            return wrong_type(row, v, err);
        if (!in_range(row, mase_value_number(item)))
            return out_of_range(row, item, err);
        MASE_TRY(check_single(row, mase_value_number(item), item, err));
    }
    *(const struct mase_value **)f = v;
    return MASE_OK;
}

/* ---- texts and values ---- */

static void default_text(void *f, const struct mase_opt *row)
{
    *(const char **)f = row->text;
}

/* None ("NA") is allowed only where none is the default: readers of other options rely on a text.
 */
static bool may_be_none(const struct mase_opt *row)
{
    return !row->required && !row->text;
}

static enum mase_status bind_text(void *f, const struct mase_opt *row, const struct mase_value *v,
                                  struct mase_err *err)
{
    bool none = mase_value_is_none(v);
    if (none && !may_be_none(row))
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a %s, and \"NA\" means none",
                            row->key, types[row->type].name);
    if (!none && v->kind != MASE_STRING)
        return wrong_type(row, v, err);
    if (!none && strlen(v->s) != v->len)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s holds the character U+0000", row->key);
    *(const char **)f = none ? NULL : v->s;
    return MASE_OK;
}

static struct mase_value *value_of_text(struct mase_arena *a, const void *f)
{
    const char *s = *(const char *const *)f;
    return s ? mase_value_string(a, s) : mase_value_none(a);
}

static void show_text(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_add(out, row->text ? row->text : "None");
}

/* A required number shows an example, an optional one NA. */
static void show_numbers(struct mase_str *out, const struct mase_opt *row)
{
    if (row->required)
        mase_str_printf(out, "%g", row->num);
    else
        mase_str_add(out, "NA");
}

static enum mase_status bind_choice(void *f, const struct mase_opt *row, const struct mase_value *v,
                                    struct mase_err *err)
{
    if (row->may_be_none && mase_value_is_none(v)) {
        *(const char **)f = NULL;
        return MASE_OK;
    }
    if (v->kind != MASE_STRING)
        return wrong_type(row, v, err);
    for (int i = 0; row->choices[i]; i++)
        if (strlen(row->choices[i]) == v->len && mase_streq(row->choices[i], v->s)) {
            *(const char **)f = row->choices[i];
            return MASE_OK;
        }
    struct mase_str got = { 0 }, allowed = { 0 };
    mase_json_print(&got, v, 0);
    add_choices(&allowed, row);
    enum mase_status st = mase_fail_at(err, MASE_EVALUE, v->at, "%s = %.100s is not one of %s",
                                       row->key, mase_str_text(&got), mase_str_text(&allowed));
    mase_str_release(&got);
    mase_str_release(&allowed);
    return st;
}

static void describe_choice(struct mase_str *out, const struct mase_opt *row)
{
    mase_str_add(out, "one of ");
    add_choices(out, row);
}

static enum mase_status bind_value(void *f, const struct mase_opt *row, const struct mase_value *v,
                                   struct mase_err *err)
{
    (void)row, (void)err;
    *(const struct mase_value **)f = v;
    return MASE_OK;
}

static struct mase_value *copy_of_value(struct mase_arena *a, const void *f)
{
    const struct mase_value *v = *(const struct mase_value *const *)f;
    return v ? mase_value_copy(a, v) : mase_value_none(a);
}

static void describe_value(struct mase_str *out, const struct mase_opt *row)
{
    (void)row;
    mase_str_add(out, "any value");
}

static void describe_rest(struct mase_str *out, const struct mase_opt *row)
{
    (void)row;
    mase_str_add(out, "further keys");
}

/* clang-format off */
static const struct type types[MASE_OPT_TYPE_REST + 1] = {
    [MASE_OPT_TYPE_BOOL]    = { "boolean", default_bool,  bind_bool,    value_of_bool,   show_bool,    NULL },
    [MASE_OPT_TYPE_INT]     = { "integer", default_int,   bind_int,     value_of_int,    show_number,  describe_number },
    [MASE_OPT_TYPE_FLOAT]   = { "number",  default_float, bind_float,   value_of_float,  show_number,  describe_number },
    [MASE_OPT_TYPE_TEXT]    = { "string",  default_text,  bind_text,    value_of_text,   show_text,    NULL },
    [MASE_OPT_TYPE_PATH]    = { "path",    default_text,  bind_text,    value_of_text,   show_text,    NULL },
    [MASE_OPT_TYPE_CHOICE]  = { "string",  default_text,  bind_choice,  value_of_text,   show_text,    describe_choice },
    [MASE_OPT_TYPE_SWITCH]  = { "boolean", default_int,   bind_switch,  value_of_switch, show_switch,  describe_switch },
    [MASE_OPT_TYPE_INTS]    = { "list",    default_ints,  bind_ints,    value_of_ints,   show_text,    describe_ints },
    [MASE_OPT_TYPE_NUMBERS] = { "number or list of numbers",
                                           NULL,          bind_numbers, copy_of_value,   show_numbers, describe_number },
    [MASE_OPT_TYPE_VALUE]   = { "value",   NULL,          bind_value,   copy_of_value,   show_text,    describe_value },
    [MASE_OPT_TYPE_REST]    = { "table",   NULL,          NULL,         copy_of_value,   show_text,    describe_rest },
};
/* clang-format on */

/* ---- one row ---- */

void mase_opt_describe(struct mase_str *out, const struct mase_opt *row)
{
    if (types[row->type].describe)
        types[row->type].describe(out, row);
    else
        mase_str_add(out, types[row->type].name);
}

void mase_opt_default(struct mase_str *out, const struct mase_opt *row)
{
    types[row->type].show_default(out, row);
}

enum mase_status mase_opt_bind_value(void *opts, const struct mase_opt *row,
                                     const struct mase_value *v, struct mase_err *err)
{
    if (!types[row->type].bind)
        mase_bug("option '%s' has no type that takes a value", row->key);
    return types[row->type].bind(field(opts, row), row, v, err);
}

struct mase_value *mase_opt_value(struct mase_arena *a, const void *opts,
                                  const struct mase_opt *row)
{
    return types[row->type].value(a, (const char *)opts + row->offset);
}

void mase_opt_set_default(void *opts, const struct mase_opt *row)
{
    if (types[row->type].set_default)
        types[row->type].set_default(field(opts, row), row);
}

/* A field of any type, for a row without a struct. */
union any {
    bool b;
    int64_t i;
    double f;
    const char *s;
    struct mase_ints ints;
    const struct mase_value *v;
};

struct mase_value *mase_opt_default_value(struct mase_arena *a, const struct mase_opt *row)
{
    union any f = { .ints = { 0 } };
    if (types[row->type].set_default)
        types[row->type].set_default(&f, row);
    return types[row->type].value(a, &f);
}

enum mase_status mase_opt_convert(struct mase_value **out, struct mase_arena *a,
                                  const struct mase_opt *row, const struct mase_value *v,
                                  struct mase_err *err)
{
    union any f = { .ints = { 0 } };
    struct mase_opt alone = *row;
    alone.offset = 0;
    MASE_TRY(mase_opt_bind_value(&f, &alone, v, err));
    *out = types[row->type].value(a, &f);
    (*out)->at = v->at;
    return MASE_OK;
}

/* ---- a whole table ---- */

static enum mase_status not_a_table(const struct mase_value *v, struct mase_err *err)
{
    struct mase_str got = { 0 };
    add_excerpt(&got, v);
    enum mase_status st = mase_fail_at(err, MASE_EVALUE, v->at,
                                       "expected a table of options, got %s", mase_str_text(&got));
    mase_str_release(&got);
    return st;
}

static const struct mase_opt *find_row(const struct mase_opt *rows, const char *key)
{
    for (; rows->type; rows++)
        if (rows->type != MASE_OPT_TYPE_REST && mase_streq(rows->key, key))
            return rows;
    return NULL;
}

static const struct mase_opt *rest_row(const struct mase_opt *rows)
{
    for (; rows->type; rows++)
        if (rows->type == MASE_OPT_TYPE_REST)
            return rows;
    return NULL;
}

/* "unknown option 'file_nam', did you mean 'file_name'? allowed: all, file_name" */
static enum mase_status unknown_key(const struct mase_opt *rows, const struct mase_value *table,
                                    int i, struct mase_arena *a, struct mase_err *err)
{
    int n = 0;
    while (rows[n].type)
        n++;
    const char **names = mase_new_array(a, const char *, (size_t)n);
    for (int k = 0; k < n; k++)
        names[k] = rows[k].key;
    return mase_fail_unknown(
        err, table->key_at[i],
        &(struct mase_unknown){ .word = table->keys[i],
                                .names = names,
                                .count = n,
                                .tail = n ? "allowed: " : "there are none here",
                                .lists = true },
        "unknown option '%.100s'", table->keys[i]);
}

static enum mase_status bind_key(void *opts, const struct mase_opt *rows,
                                 const struct mase_value *table, int i, struct mase_value *rest,
                                 struct mase_arena *a, struct mase_err *err)
{
    const struct mase_opt *row = find_row(rows, table->keys[i]);
    if (row)
        return mase_opt_bind_value(opts, row, table->items[i], err);
    if (!rest)
        return unknown_key(rows, table, i, a, err);
    mase_value_set(a, rest, table->keys[i], table->items[i]);
    rest->key_at[rest->count - 1] = table->key_at[i];
    return MASE_OK;
}

static enum mase_status check_required(const struct mase_opt *rows, const struct mase_value *table,
                                       struct mase_err *err)
{
    struct mase_loc at = table ? table->at : MASE_NOWHERE;
    for (; rows->type; rows++)
        if (rows->required && mase_value_find(table, rows->key) < 0)
            return mase_fail_at(err, MASE_EVALUE, at, "option '%s' is missing", rows->key);
    return MASE_OK;
}

enum mase_status mase_opts_bind(void *opts, size_t size, const struct mase_opt *rows,
                                const struct mase_value *table, struct mase_arena *a,
                                struct mase_err *err)
{
    mase_count(MASE_COUNT_BINDINGS);
    memset(opts, 0, size);
    for (const struct mase_opt *row = rows; row->type; row++)
        mase_opt_set_default(opts, row);
    const struct mase_opt *rest_at = rest_row(rows);
    struct mase_value *rest = NULL;
    if (rest_at) {
        rest = *(struct mase_value **)field(opts, rest_at) = mase_value_table(a);
        rest->at = table ? table->at : MASE_NOWHERE;
    }
    if (table && table->kind != MASE_TABLE)
        return not_a_table(table, err);
    for (int i = 0; table && i < table->count; i++)
        MASE_TRY(bind_key(opts, rows, table, i, rest, a, err));
    return check_required(rows, table, err);
}
