/*
 * cmd_formats.c - ch formats [NAME]: list the number formats; --values: their values; --apply:
 * round a NumPy file.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/format.h>
#include <mase/log.h>
#include <mase/npy.h>

#include "cli/cli.h"
#include "cli/command/cmd_formats.h"

static struct mase_value *param_json(struct mase_arena *a, const struct mase_opt *p)
{
    struct mase_value *row = mase_value_table(a);
    struct mase_str allowed = { 0 }, dflt = { 0 };
    mase_opt_describe(&allowed, p);
    mase_opt_default(&dflt, p);
    mase_value_set(a, row, "name", mase_value_string(a, p->key));
    mase_value_set(a, row, "allowed", mase_value_string(a, mase_str_text(&allowed)));
    if (p->type == MASE_OPT_TYPE_INT) {
        mase_value_set(a, row, "min", mase_value_int(a, (int64_t)p->min));
        mase_value_set(a, row, "max", mase_value_int(a, (int64_t)p->max));
    }
    mase_value_set(a, row, "may_be_na", mase_value_bool(a, p->may_be_none));
    mase_value_set(a, row, "required", mase_value_bool(a, p->required));
    mase_value_set(a, row, "default", mase_format_word(a, mase_str_text(&dflt)));
    mase_value_set(a, row, "help", mase_value_string(a, p->help));
    mase_str_release(&allowed);
    mase_str_release(&dflt);
    return row;
}

static struct mase_value *format_json(struct mase_arena *a, const struct mase_quant_info *q)
{
    struct mase_value *v = mase_value_table(a), *params = mase_value_list(a);
    mase_value_set(a, v, "name", mase_value_string(a, q->name));
    mase_value_set(a, v, "help", mase_value_string(a, q->help));
    for (const struct mase_opt *p = q->params; p->type; p++)
        mase_value_push(a, params, param_json(a, p));
    mase_value_set(a, v, "parameters", params);
    return v;
}

static void put_all(struct mase_cli *c)
{
    static const char *const headers[] = { "Format", "Parameters", "What it does", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    for (int k = 0; k < MASE_QUANT_COUNT; k++) {
        struct mase_str params = { 0 };
        for (const struct mase_opt *p = mase_quants[k]->params; p->type; p++)
            mase_str_printf(&params, "%s%s", params.len ? ", " : "", p->key);
        mase_table_add(&t, (const char *[]){ mase_quants[k]->name,
                                             params.len ? mase_str_text(&params) : "-",
                                             mase_quants[k]->help });
        mase_str_release(&params);
    }
    mase_cli_put_table(c, &t);
}

static void put_details(struct mase_cli *c, const struct mase_quant_info *q)
{
    static const char *const headers[] = { "Parameter", "Allowed", "Default", "Meaning", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    for (int i = 1; i < t.columns; i++)
        t.align[i] = MASE_ALIGN_LEFT;
    mase_sheets_say(&c->sheets, "%s: %s\n", q->name, q->help);
    for (const struct mase_opt *p = q->params; p->type; p++) {
        const int row = mase_table_row(&t);
        struct mase_str allowed = { 0 }, dflt = { 0 };
        mase_opt_describe(&allowed, p);
        mase_opt_default(&dflt, p);
        mase_table_set(&t, row, 0, p->key);
        mase_table_set(&t, row, 1, mase_str_text(&allowed));
        mase_table_set(&t, row, 2, mase_str_text(&dflt));
        mase_table_set(&t, row, 3, p->help);
        mase_str_release(&allowed);
        mase_str_release(&dflt);
    }
    if (!q->params->type && !mase_sheets_for_programs(&c->sheets))
        return;
    mase_sheets_say(&c->sheets, "\nIn a configuration each parameter is written once per operand: "
                                "data_in_width, weight_width, ...\n\n");
    mase_cli_put_table(c, &t);
}

static enum mase_status find(enum mase_quant_kind *kind, const char *name, struct mase_err *err)
{
    const char *names[MASE_QUANT_COUNT];
    *kind = mase_quant_find(name);
    if (*kind != MASE_QUANT_COUNT)
        return MASE_OK;
    for (int k = 0; k < MASE_QUANT_COUNT; k++)
        names[k] = mase_quants[k]->name;
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ name, names, MASE_QUANT_COUNT, .tail = "ch formats lists them" },
        "no number format is called '%s'", name);
}

/* ---- --apply ---- */

static enum mase_status unknown_param(const char *word, const struct mase_quant_info *q,
                                      struct mase_err *err)
{
    struct mase_str known = { 0 };
    for (const struct mase_opt *p = q->params; p->type; p++)
        mase_str_printf(&known, "%s%s=", known.len ? ", " : "", p->key);
    enum mase_status st = mase_fail(err, MASE_EVALUE, "%s: not a parameter of %s; it takes %s",
                                    word, q->name, known.len ? mase_str_text(&known) : "none");
    mase_str_release(&known);
    return st;
}

/* Parameters from operand `first` on, with defaults for the rest. */
static enum mase_status read_params(struct mase_value **out, struct mase_cli *c,
                                    const struct mase_quant_info *q, int first,
                                    struct mase_err *err)
{
    struct mase_arena *a = &c->arena;
    struct mase_value *table = *out = mase_value_table(a);
    const int count = mase_quant_param_count(q);
    const char **names = mase_new_array(a, const char *, (size_t)count);
    for (int i = 0; i < count; i++) {
        struct mase_str dflt = { 0 };
        names[i] = q->params[i].key;
        mase_opt_default(&dflt, &q->params[i]);
        if (q->params[i].required)
            mase_value_set(a, table, names[i], mase_format_word(a, mase_str_text(&dflt)));
        mase_str_release(&dflt);
    }
    for (int i = first; i < c->operand_count; i++) {
        const char *word = c->operands[i], *eq = strchr(word, '=');
        const char *key = eq ? mase_arena_printf(a, "%.*s", (int)(eq - word), word) : word;
        int k = 0;
        while (k < count && !mase_streq(names[k], key))
            k++;
        if (!eq || k == count)
            return unknown_param(word, q, err);
        mase_value_set(a, table, key, mase_format_word(a, eq + 1));
    }
    return MASE_OK;
}

static struct mase_tensor as_f32(struct mase_arena *a, const struct mase_tensor *t)
{
    if (t->dtype == MASE_F32)
        return *t;
    struct mase_tensor f = mase_tensor(a, MASE_F32, &t->shape, true);
    mase_warn("%s is converted to float32", mase_dtypes[t->dtype].torch);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(&f, i, mase_tensor_get(t, i));
    return f;
}

static enum mase_status apply(struct mase_cli *c, enum mase_quant_kind kind, struct mase_err *err)
{
    const struct mase_format *f;
    const struct mase_quant_info *q = mase_quants[kind];
    struct mase_value *params;
    struct mase_tensor in;
    struct mase_str text = { 0 };

    if (c->operand_count < 3)
        return mase_fail(err, MASE_EVALUE,
                         "--apply needs two files: ch formats %s --apply IN.npy "
                         "OUT.npy [PARAMETER=VALUE]...",
                         q->name);
    MASE_TRY(read_params(&params, c, q, 3, err));
    MASE_TRY(mase_format_bind(&f, kind, params, "", err));
    MASE_TRY(mase_npy_read(&in, &c->arena, c->operands[1], err));

    struct mase_tensor x = as_f32(&c->arena, &in);
    /* a vector has no batch axis */
    const enum mase_role role = q->for_data && x.shape.rank > 1 ? MASE_ROLE_DATA : MASE_ROLE_WEIGHT;
    MASE_TRY(mase_format_fits(f, &x.shape, role, err));
    mase_quantize(f, mase_f32(&x), mase_f32(&x), &x.shape, role,
                  mase_cli_flag(c, MASE_CLI_unsigned) ? MASE_UNSIGNED : MASE_SIGNED);
    MASE_TRY(mase_npy_write(&x, c->operands[2], err));
    mase_format_print(&text, f);
    mase_info("%" PRId64 " values in %s written to %s", mase_tensor_count(&x), mase_str_text(&text),
              c->operands[2]);
    mase_str_release(&text);
    return MASE_OK;
}

/* ---- --values ---- */

enum mase_status mase_cli_format_proposed(const struct mase_format **f, struct mase_cli *c,
                                          enum mase_quant_kind kind, struct mase_err *err)
{
    struct mase_value *params;
    MASE_TRY(read_params(&params, c, mase_quants[kind], c->operand_count, err));
    return mase_format_bind(f, kind, params, "", err);
}

static enum mase_status show_values(struct mase_cli *c, enum mase_quant_kind kind,
                                    struct mase_err *err)
{
    const struct mase_format *f;
    struct mase_value *params;
    if (kind == MASE_QUANT_COUNT)
        return mase_cli_all_format_values(c, err);
    if (kind == MASE_QUANT_float)
        return mase_fail(err, MASE_EVALUE, "float has every value of 32 bits: nothing to show");
    MASE_TRY(read_params(&params, c, mase_quants[kind], 1, err));
    MASE_TRY(mase_format_bind(&f, kind, params, "", err));
    return mase_cli_format_values(c, f, err);
}

enum mase_status mase_cli_formats(struct mase_cli *c, struct mase_err *err)
{
    const bool json = mase_cli_wants_json(c), run = mase_cli_flag(c, MASE_CLI_apply);
    const bool values = mase_cli_flag(c, MASE_CLI_values);
    enum mase_quant_kind kind = MASE_QUANT_COUNT;
    if (!run && !values)
        MASE_TRY(mase_cli_operands(c, 1, err));
    if (c->operand_count)
        MASE_TRY(find(&kind, c->operands[0], err));
    if (run) {
        if (kind == MASE_QUANT_COUNT)
            return mase_fail(err, MASE_EVALUE,
                             "--apply needs a format: ch formats NAME --apply "
                             "IN.npy OUT.npy");
        return apply(c, kind, err);
    }
    if (values)
        return show_values(c, kind, err);
    if (json && kind != MASE_QUANT_COUNT) {
        mase_cli_put_json(format_json(&c->arena, mase_quants[kind]));
    } else if (json) {
        struct mase_value *all = mase_value_list(&c->arena);
        for (int k = 0; k < MASE_QUANT_COUNT; k++)
            mase_value_push(&c->arena, all, format_json(&c->arena, mase_quants[k]));
        mase_cli_put_json(all);
    } else if (kind != MASE_QUANT_COUNT) {
        put_details(c, mase_quants[kind]);
    } else {
        put_all(c);
    }
    return MASE_OK;
}
