/*
 * opt.c - bind a table of values to a struct, by the rows that describe its fields.
 */
#include <math.h>
#include <string.h>

#include <mase/opt.h>

/* What a value of each type is called. */
static const char *const type_names[] = {
    [MASE_OPT_TYPE_BOOL] = "boolean", [MASE_OPT_TYPE_INT] = "integer",
    [MASE_OPT_TYPE_FLOAT] = "number", [MASE_OPT_TYPE_TEXT] = "string",
    [MASE_OPT_TYPE_PATH] = "path",    [MASE_OPT_TYPE_CHOICE] = "string",
    [MASE_OPT_TYPE_VALUE] = "value",  [MASE_OPT_TYPE_REST] = "table",
};

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
    if (row->type == MASE_OPT_TYPE_FLOAT)
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

static void add_choices(struct mase_str *out, const struct mase_opt *row)
{
    for (int i = 0; row->choices[i]; i++)
        mase_str_printf(out, "%s%s", i ? ", " : "", row->choices[i]);
}

void mase_opt_describe(struct mase_str *out, const struct mase_opt *row)
{
    switch (row->type) {
    case MASE_OPT_TYPE_INT:
    case MASE_OPT_TYPE_FLOAT:
        mase_str_add(out, type_names[row->type]);
        if (has_range(row)) {
            mase_str_addc(out, ' ');
            add_range(out, row);
        }
        break;
    case MASE_OPT_TYPE_CHOICE:
        mase_str_add(out, "one of ");
        add_choices(out, row);
        break;
    case MASE_OPT_TYPE_VALUE:
        mase_str_add(out, "any value");
        break;
    case MASE_OPT_TYPE_REST:
        mase_str_add(out, "further keys");
        break;
    default:
        mase_str_add(out, type_names[row->type]);
    }
}

void mase_opt_default(struct mase_str *out, const struct mase_opt *row)
{
    switch (row->type) {
    case MASE_OPT_TYPE_BOOL:
        mase_str_add(out, row->num != 0 ? "True" : "False");
        break;
    case MASE_OPT_TYPE_INT:
    case MASE_OPT_TYPE_FLOAT:
        add_number(out, row, row->num);
        break;
    default:
        mase_str_add(out, row->text ? row->text : "None");
    }
}

/* `string "8"`: a value in a message, cut when long. */
static void add_given(struct mase_str *out, const struct mase_value *v)
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

static enum mase_status not_a_table(const struct mase_value *v, struct mase_err *err)
{
    struct mase_str given = { 0 };
    add_given(&given, v);
    enum mase_status st = mase_fail_at(
        err, MASE_EVALUE, v->at, "expected a table of options, got %s", mase_str_text(&given));
    mase_str_release(&given);
    return st;
}

static enum mase_status wrong_type(const struct mase_opt *row, const struct mase_value *v,
                                   struct mase_err *err)
{
    struct mase_str given = { 0 };
    const char *name = type_names[row->type];
    add_given(&given, v);
    enum mase_status st =
        mase_fail_at(err, MASE_EVALUE, v->at, "%s must be %s %s, got %s", row->key,
                     strchr("aeiou", name[0]) ? "an" : "a", name, mase_str_text(&given));
    mase_str_release(&given);
    return st;
}

/* ---- one value against one row ---- */

static enum mase_status out_of_range(const struct mase_opt *row, const struct mase_value *v,
                                     struct mase_err *err)
{
    struct mase_str given = { 0 }, range = { 0 };
    mase_repr(&given, v);
    add_range(&range, row);
    enum mase_status st = mase_fail_at(err, MASE_EVALUE, v->at, "%s = %s is outside %s", row->key,
                                       mase_str_text(&given), mase_str_text(&range));
    mase_str_release(&given);
    mase_str_release(&range);
    return st;
}

static bool in_range(const struct mase_opt *row, double f)
{
    return !has_range(row) || (f >= row->min && f <= row->max);
}

static enum mase_status bind_int(void *opts, const struct mase_opt *row, const struct mase_value *v,
                                 struct mase_err *err)
{
    if (v->kind != MASE_INT)
        return wrong_type(row, v, err);
    if (!in_range(row, (double)v->i))
        return out_of_range(row, v, err);
    *(int64_t *)field(opts, row) = v->i;
    return MASE_OK;
}

static enum mase_status bind_float(void *opts, const struct mase_opt *row,
                                   const struct mase_value *v, struct mase_err *err)
{
    if (v->kind != MASE_INT && v->kind != MASE_FLOAT)
        return wrong_type(row, v, err);
    double f = v->kind == MASE_INT ? (double)v->i : v->f;
    if (!in_range(row, f))
        return out_of_range(row, v, err);
    *(double *)field(opts, row) = f;
    return MASE_OK;
}

static enum mase_status bind_text(void *opts, const struct mase_opt *row,
                                  const struct mase_value *v, struct mase_err *err)
{
    bool none = mase_value_is_none(v);
    if (!none && v->kind != MASE_STRING)
        return wrong_type(row, v, err);
    if (!none && strlen(v->s) != v->len)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s holds the character U+0000", row->key);
    *(const char **)field(opts, row) = none ? NULL : v->s;
    return MASE_OK;
}

static enum mase_status bind_choice(void *opts, const struct mase_opt *row,
                                    const struct mase_value *v, struct mase_err *err)
{
    if (v->kind != MASE_STRING)
        return wrong_type(row, v, err);
    for (int i = 0; row->choices[i]; i++)
        if (strlen(row->choices[i]) == v->len && mase_streq(row->choices[i], v->s)) {
            *(const char **)field(opts, row) = row->choices[i];
            return MASE_OK;
        }
    struct mase_str given = { 0 }, allowed = { 0 };
    mase_json_print(&given, v, 0);
    add_choices(&allowed, row);
    enum mase_status st = mase_fail_at(err, MASE_EVALUE, v->at, "%s = %.100s is not one of %s",
                                       row->key, mase_str_text(&given), mase_str_text(&allowed));
    mase_str_release(&given);
    mase_str_release(&allowed);
    return st;
}

enum mase_status mase_opt_bind_one(void *opts, const struct mase_opt *row,
                                   const struct mase_value *v, struct mase_err *err)
{
    switch (row->type) {
    case MASE_OPT_TYPE_BOOL:
        if (v->kind != MASE_BOOL)
            return wrong_type(row, v, err);
        *(bool *)field(opts, row) = v->b;
        return MASE_OK;
    case MASE_OPT_TYPE_INT:
        return bind_int(opts, row, v, err);
    case MASE_OPT_TYPE_FLOAT:
        return bind_float(opts, row, v, err);
    case MASE_OPT_TYPE_TEXT:
    case MASE_OPT_TYPE_PATH:
        return bind_text(opts, row, v, err);
    case MASE_OPT_TYPE_CHOICE:
        return bind_choice(opts, row, v, err);
    case MASE_OPT_TYPE_VALUE:
        *(const struct mase_value **)field(opts, row) = v;
        return MASE_OK;
    case MASE_OPT_TYPE_REST:
    case MASE_OPT_END:
        break;
    }
    mase_bug("option '%s' has no type that takes a value", row->key);
}

/* ---- a whole table ---- */

static void set_default(void *opts, const struct mase_opt *row)
{
    switch (row->type) {
    case MASE_OPT_TYPE_BOOL:
        *(bool *)field(opts, row) = row->num != 0;
        break;
    case MASE_OPT_TYPE_INT:
        *(int64_t *)field(opts, row) = (int64_t)row->num;
        break;
    case MASE_OPT_TYPE_FLOAT:
        *(double *)field(opts, row) = row->num;
        break;
    case MASE_OPT_TYPE_TEXT:
    case MASE_OPT_TYPE_PATH:
    case MASE_OPT_TYPE_CHOICE:
        *(const char **)field(opts, row) = row->text;
        break;
    default: /* values and the rest: nothing given, left NULL */
        break;
    }
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
    struct mase_str hint = { 0 };
    int n = 0;
    while (rows[n].type)
        n++;
    const char **names = mase_new_array(a, const char *, (size_t)n);
    for (int k = 0; k < n; k++)
        names[k] = rows[k].key;
    const char *near = mase_nearest(table->keys[i], names, n);
    if (near)
        mase_str_printf(&hint, ", did you mean '%s'?", near);
    else
        mase_str_addc(&hint, ';');
    mase_str_add(&hint, n ? " allowed: " : " there are none here");
    for (int k = 0; k < n; k++)
        mase_str_printf(&hint, "%s%s", k ? ", " : "", names[k]);
    enum mase_status st =
        mase_fail_at(err, MASE_EVALUE, table->key_at[i], "unknown option '%.100s'%s",
                     table->keys[i], mase_str_text(&hint));
    mase_str_release(&hint);
    return st;
}

static enum mase_status bind_key(void *opts, const struct mase_opt *rows,
                                 const struct mase_value *table, int i, struct mase_value *rest,
                                 struct mase_arena *a, struct mase_err *err)
{
    const struct mase_opt *row = find_row(rows, table->keys[i]);
    if (row)
        return mase_opt_bind_one(opts, row, table->items[i], err);
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
    memset(opts, 0, size);
    for (const struct mase_opt *row = rows; row->type; row++)
        set_default(opts, row);
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
