/*
 * cmd_ops.c - ch ops [NAME]: the operations, from their table.
 */
#include <string.h>

#include <mase/graph.h>

#include "cli/cli.h"

static struct mase_value *text_or_none(struct mase_arena *a, const char *text)
{
    return text && *text ? mase_value_string(a, text) : mase_value_none(a);
}

/* Split words at blanks. */
static struct mase_value *words(struct mase_arena *a, const char *text)
{
    struct mase_value *list = mase_value_list(a);
    for (const char *p = text ? text : ""; *p;) {
        const size_t n = strcspn(p, " ");
        if (n)
            mase_value_push(a, list, mase_value_string_n(a, p, n));
        p += n + (p[n] == ' ');
    }
    return list;
}

/* "yes", "if named" or otherwise: does the pass quantize apply to the operation? */
static const char *quantisable(const struct mase_op_info *o, const char *otherwise)
{
    return !o->quantisable ? otherwise : o->usual ? "yes" : "if named";
}

/* The operands that configurations can give formats. */
static const char *operands(struct mase_arena *a, enum mase_op op)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    const bool sequence = mase_op_is_recurrent(op); /* its signature does not list its weights */
    bool has[MASE_OPERAND_COUNT] = {
        [MASE_WEIGHT] = sequence, [MASE_BIAS] = sequence, [MASE_DATA_OUT] = true
    };
    const char *list = "";
    for (int i = 0; i < sig->count; i++)
        if (mase_mark_find(sig->param[i].role))
            has[mase_mark_find(sig->param[i].role)->operand] = true;
    for (int i = 0; i < MASE_OPERAND_COUNT; i++)
        if (has[i])
            list = mase_arena_printf(a, "%s%s%s", list, *list ? ", " : "", mase_operand_names[i]);
    return list;
}

static struct mase_value *op_json(struct mase_arena *a, const struct mase_op_info *o)
{
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "name", mase_value_string(a, o->name));
    mase_value_set(a, v, "help", mase_value_string(a, o->help));
    mase_value_set(a, v, "type", mase_value_string(a, mase_op_type_names[o->type]));
    mase_value_set(a, v, "call", text_or_none(a, o->call));
    mase_value_set(a, v, "functions", words(a, o->functions));
    mase_value_set(a, v, "methods", words(a, o->methods));
    mase_value_set(a, v, "module", text_or_none(a, o->module));
    mase_value_set(a, v, "module_type",
                   text_or_none(a, o->module ? mase_op_type_names[o->module_type] : NULL));
    mase_value_set(a, v, "constructor", text_or_none(a, o->ctor));
    mase_value_set(a, v, "quantisable", mase_value_bool(a, o->quantisable));
    mase_value_set(a, v, "usual", mase_value_bool(a, o->usual));
    return v;
}

static void put_all(struct mase_cli *c)
{
    static const char *const headers[] = { "Op", "Module", "Quantisable", "What it computes",
                                           NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    for (int i = MASE_OP_unknown + 1; i < MASE_OP_COUNT; i++) {
        const struct mase_op_info *o = &mase_ops[i];
        mase_table_add(&t, (const char *[]){ o->name, o->module ? o->module : "-",
                                             quantisable(o, ""), o->help });
    }
    mase_cli_put_table(c, &t);
}

static void put_details(struct mase_cli *c, const struct mase_op_info *o)
{
    static const char *const headers[] = { "Property", "Value", NULL };
    struct mase_arena *a = &c->arena;
    struct mase_table t = mase_table(a, headers);
    mase_sheets_say(&c->sheets, "%s: %s\n\n", o->name, o->help);
    if (o->module)
        mase_table_add(&t, (const char *[]){
                               "module", mase_arena_printf(a, "%s(%s), a %s", o->module,
                                                           o->ctor ? o->ctor : "",
                                                           mase_op_type_names[o->module_type]) });
    if (o->call && *o->call)
        mase_table_add(&t,
                       (const char *[]){ "call", mase_arena_printf(a, "(%s), a %s", o->call,
                                                                   mase_op_type_names[o->type]) });
    if (o->functions && *o->functions)
        mase_table_add(&t, (const char *[]){ "functions", o->functions });
    if (o->methods && *o->methods)
        mase_table_add(&t, (const char *[]){ "methods", o->methods });
    mase_table_add(&t, (const char *[]){ "quantisable", quantisable(o, "no") });
    if (o->quantisable)
        mase_table_add(&t,
                       (const char *[]){ "formats of", operands(a, (enum mase_op)(o - mase_ops)) });
    mase_cli_put_pairs(c, &t);
}

static enum mase_status find(enum mase_op *op, const char *name, struct mase_err *err)
{
    const char *names[MASE_OP_COUNT] = { NULL };
    *op = mase_op_find(name);
    if (*op != MASE_OP_unknown)
        return MASE_OK;
    for (int i = MASE_OP_unknown + 1; i < MASE_OP_COUNT; i++)
        names[i] = mase_ops[i].name;
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ name, names, MASE_OP_COUNT, .tail = "ch ops lists them" },
        "no operation is called '%s'", name);
}

enum mase_status mase_cli_ops(struct mase_cli *c, struct mase_err *err)
{
    const bool json = mase_cli_wants_json(c);
    enum mase_op op = MASE_OP_unknown;
    MASE_TRY(mase_cli_operands(c, 1, err));
    if (c->operand_count)
        MASE_TRY(find(&op, c->operands[0], err));
    if (json && op) {
        mase_cli_put_json(op_json(&c->arena, &mase_ops[op]));
    } else if (json) {
        struct mase_value *all = mase_value_list(&c->arena);
        for (int i = MASE_OP_unknown + 1; i < MASE_OP_COUNT; i++)
            mase_value_push(&c->arena, all, op_json(&c->arena, &mase_ops[i]));
        mase_cli_put_json(all);
    } else if (op) {
        put_details(c, &mase_ops[op]);
    } else {
        put_all(c);
    }
    return MASE_OK;
}
