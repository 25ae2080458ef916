/*
 * mg_quant.c - number formats in .mg: the dictionary that the quantise pass was given.
 */
#include <mase/value.h>

#include "ir/mg.h"

/* One value of the dictionary, with its place: range errors point at it. */
static enum mase_status take_setting(struct mase_mg_parser *p, struct mase_value **v)
{
    struct mase_loc at = p->lx.t.at;
    struct mase_arg arg;

    MASE_TRY(mase_mg_value(p, &arg));
    switch (arg.kind) {
    case MASE_ARG_NONE:
        *v = mase_value_none(&p->scratch);
        break;
    case MASE_ARG_BOOL:
        *v = mase_value_bool(&p->scratch, arg.b);
        break;
    case MASE_ARG_INT:
        *v = mase_value_int(&p->scratch, arg.i);
        break;
    case MASE_ARG_TEXT:
    case MASE_ARG_ATOM:
        *v = mase_value_string(&p->scratch, arg.s);
        break;
    default:
        return mase_fail_at(p->err, MASE_EPARSE, at, "expected a text, an integer, True or None");
    }
    (*v)->at = at;
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

static enum mase_status find_kind(struct mase_mg_parser *p, const struct mase_value *config,
                                  enum mase_quant_kind *kind)
{
    const struct mase_value *name = mase_value_get(config, "name");
    if (!name || name->kind != MASE_STRING)
        return mase_fail_at(p->err, MASE_EPARSE, name ? name->at : config->at,
                            "quantized needs name: 'FORMAT'");
    *kind = mase_quant_find(name->s);
    if (*kind != MASE_QUANT_COUNT && *kind != MASE_QUANT_float)
        return MASE_OK;

    const char *names[MASE_QUANT_COUNT] = { NULL };
    for (int i = MASE_QUANT_float + 1; i < MASE_QUANT_COUNT; i++)
        names[i] = mase_quants[i].name;
    const char *near = mase_nearest(name->s, names, MASE_QUANT_COUNT);
    return mase_fail_at(p->err, MASE_EVALUE, name->at,
                        near ? "unknown number format '%s'; did you mean '%s'?"
                             : "unknown number format '%s'",
                        name->s, near);
}

/* The keys that a quantisation of this kind may have. */
static int known_keys(struct mase_mg_parser *p, enum mase_quant_kind kind, const char **keys)
{
    int n = 0;
    keys[n++] = "name";
    keys[n++] = "bypass";
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        for (int i = 0; i < mase_quants[kind].count; i++)
            keys[n++] = mase_arena_printf(&p->scratch, "%s_%s", mase_operand_names[o],
                                          mase_quants[kind].params[i].name);
    return n;
}

static enum mase_status check_keys(struct mase_mg_parser *p, const struct mase_value *config,
                                   enum mase_quant_kind kind)
{
    const char *keys[2 + MASE_OPERAND_COUNT * MASE_QUANT_PARAMS];
    int n = known_keys(p, kind, keys);
    for (int k = 0; k < config->count; k++) {
        int i = 0;
        while (i < n && !mase_streq(config->keys[k], keys[i]))
            i++;
        if (i < n)
            continue;
        const char *near = mase_nearest(config->keys[k], keys, n);
        return mase_fail_at(p->err, MASE_EVALUE, config->key_at[k],
                            near ? "unknown setting '%s'; did you mean '%s'?"
                                 : "unknown setting '%s'",
                            config->keys[k], near);
    }
    return MASE_OK;
}

enum mase_status mase_mg_quant(struct mase_mg_parser *p, struct mase_quant *q)
{
    struct mase_value *config = mase_value_table(&p->scratch);

    *q = (struct mase_quant){ 0 };
    MASE_TRY(take_config(p, config));
    MASE_TRY(find_kind(p, config, &q->kind));
    MASE_TRY(check_keys(p, config, q->kind));
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        if (mase_format_mentioned(config, mase_operand_names[o]))
            MASE_TRY(
                mase_format_bind(&q->operand[o], q->kind, config, mase_operand_names[o], p->err));
    const struct mase_value *bypass = mase_value_get(config, "bypass");
    if (bypass && bypass->kind != MASE_BOOL)
        return mase_fail_at(p->err, MASE_EVALUE, bypass->at, "bypass must be True or False");
    q->bypass = bypass && bypass->b;
    return MASE_OK;
}
