/*
 * mg_quant.c - number formats in .mg: the dictionary that the quantise pass was given.
 */
#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"
#include "ir/text/mg.h"

/* NULL: it is nothing that a setting can be. */
static struct mase_value *setting(struct mase_arena *a, const struct mase_arg *arg,
                                  struct mase_loc at)
{
    struct mase_value *v;
    if (arg->kind == MASE_ARG_ATOM)
        v = mase_value_string(a, arg->s);
    else if (arg->kind <= MASE_ARG_TEXT)
        v = mase_arg_to_value(a, arg);
    else if (arg->kind == MASE_ARG_LIST)
        v = mase_value_list(a);
    else
        return NULL;
    for (int i = 0; arg->kind == MASE_ARG_LIST && i < arg->count; i++) {
        struct mase_value *item = setting(a, &arg->items[i], at);
        if (!item)
            return NULL;
        mase_value_push(a, v, item);
    }
    v->at = at;
    return v;
}

/* One value of the dictionary, with its place: range errors point at it. */
static enum mase_status take_setting(struct mase_mg_parser *p, struct mase_value **v)
{
    struct mase_loc at = p->lx.t.at;
    struct mase_arg arg;

    MASE_TRY(mase_mg_value(p, &arg));
    *v = setting(&p->scratch, &arg, at);
    if (!*v)
        return mase_fail_at(p->err, MASE_EPARSE, at,
                            "expected a text, a number, a list, True or None");
    return MASE_OK;
}

static enum mase_status take_config(struct mase_mg_parser *p, struct mase_value *config)
{
    config->at = p->lx.t.at;
    MASE_TRY(mase_mg_need(p, "{"));
    while (!mase_mg_at(p, "}")) {
        const char *key = NULL;
        struct mase_value *v = NULL;
        struct mase_loc at = p->lx.t.at;
        MASE_TRY(mase_mg_label(p, &key, "a name"));
        MASE_TRY(mase_mg_need(p, ":"));
        MASE_TRY(take_setting(p, &v));
        if (mase_value_get(config, key))
            return mase_fail_at(p->err, MASE_EPARSE, at, "'%s' is given twice", key);
        mase_value_set(&p->scratch, config, key, v);
        config->key_at[config->count - 1] = at;
        if (!mase_mg_at(p, "}"))
            MASE_TRY(mase_mg_need(p, ","));
    }
    return mase_mg_next(&p->lx);
}

/* ---- meaning ---- */

enum mase_status mase_mg_quant(struct mase_mg_parser *p, struct mase_quant *q)
{
    struct mase_value *config = mase_value_table(&p->scratch);
    struct mase_quant_table t;

    MASE_TRY(take_config(p, config));
    const struct mase_value *name = mase_value_get(config, "name");
    if (!name || name->kind != MASE_STRING)
        return mase_fail_at(p->err, MASE_EPARSE, name ? name->at : config->at,
                            "quantized needs name: 'FORMAT'");
    MASE_TRY(mase_quant_table(&t, config, p->err));
    *q = (struct mase_quant){ .kind = t.named, .bypass = t.bypass };
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        if (mase_quant_table_mentions(&t, (enum mase_operand)o))
            MASE_TRY(mase_quant_table_bind(q, &t, (enum mase_operand)o, p->err));
    return MASE_OK;
}
