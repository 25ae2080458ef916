/*
 * config.c - one quantisation configuration: [passes.quantize.linear.config].
 *
 *     name = "integer"          the number format; none leaves the node alone
 *     data_in_width = 8         OPERAND_PARAMETER for every operand of the operation and every
 *     data_in_frac_width = 4    parameter of the format
 *     bypass = true             of the quantised class, but computing in float
 *
 * Which operands an operation has follows from the roles in its signature: x is data_in, w and y
 * are weight, b is bias (only if the layer has one). Keys of operands that the operation lacks are
 * accepted and dropped, so that one configuration can serve all; any other key is an error. A layer
 * with weights may also be told data_out.
 */
#include "pass/transform/quantize.h"

enum { MAX_KEYS = 2 + MASE_OPERAND_COUNT * MASE_QUANT_PARAMS };

static const struct mase_value *config_of(const struct mase_rule *rule)
{
    return mase_value_get(rule->section, "config");
}

/* ---- what a configuration may say ---- */

static enum mase_status find_format(enum mase_quant_kind *kind, const struct mase_value *name,
                                    struct mase_err *err)
{
    if (name->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EVALUE, name->at, "name must be a string, not %s",
                            mase_value_kind_names[name->kind]);
    *kind = mase_quant_find(name->s);
    if (*kind > MASE_QUANT_float && *kind < MASE_QUANT_COUNT)
        return MASE_OK;
    const char *names[MASE_QUANT_COUNT] = { NULL };
    struct mase_str list = { 0 };
    for (int i = 1; i < MASE_QUANT_COUNT; i++) {
        names[i] = mase_quants[i].name;
        mase_str_printf(&list, "%s%s", i > 1 ? ", " : "", names[i]);
    }
    const char *near = mase_nearest(name->s, names, MASE_QUANT_COUNT);
    mase_fail_at(err, MASE_EVALUE, name->at, "no number format is called '%s'%s%s%s allowed: %s",
                 name->s, near ? ", did you mean '" : ";", near ? near : "", near ? "'?" : "",
                 mase_str_text(&list));
    mase_str_release(&list);
    return MASE_EVALUE;
}

static int known_keys(const char *keys[MAX_KEYS], struct mase_arena *a, enum mase_quant_kind kind)
{
    int n = 0;
    keys[n++] = "name";
    keys[n++] = "bypass";
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        for (int p = 0; p < mase_quants[kind].count; p++)
            keys[n++] = mase_arena_printf(a, "%s_%s", mase_operand_names[o],
                                          mase_quants[kind].params[p].name);
    return n;
}

static bool is_among(const char *word, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (mase_streq(word, names[i]))
            return true;
    return false;
}

static enum mase_status check_keys(const struct mase_value *config, enum mase_quant_kind kind,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const char *keys[MAX_KEYS];
    int n = known_keys(keys, &a, kind);
    enum mase_status st = MASE_OK;
    for (int i = 0; i < config->count && !st; i++) {
        if (is_among(config->keys[i], keys, n))
            continue;
        const char *near = mase_nearest(config->keys[i], keys, n);
        st = near ? mase_fail_at(err, MASE_EVALUE, config->key_at[i],
                                 "'%s' has no parameter '%s': did you mean '%s'?",
                                 mase_quants[kind].name, config->keys[i], near)
                  : mase_fail_at(err, MASE_EVALUE, config->key_at[i],
                                 "'%s' has no parameter '%s': its keys are name, bypass, and "
                                 "data_in_, weight_, bias_ or data_out_ before %s",
                                 mase_quants[kind].name, config->keys[i],
                                 mase_quants[kind].params[0].name);
    }
    mase_arena_release(&a);
    return st;
}

/* The section itself holds one table, config. */
static enum mase_status check_section(const struct mase_rule *rule, struct mase_err *err)
{
    const struct mase_value *section = rule->section;
    if (section->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, section->at,
                            "'%s' must be a table with a config, not %s", rule->key,
                            mase_value_kind_names[section->kind]);
    for (int i = 0; i < section->count; i++)
        if (!mase_streq(section->keys[i], "config"))
            return mase_fail_at(err, MASE_EVALUE, section->key_at[i],
                                "'%s' may hold only 'config', not '%s'", rule->key,
                                section->keys[i]);
    const struct mase_value *config = config_of(rule);
    if (!config)
        return mase_fail_at(err, MASE_EVALUE, rule->at, "'%s' has no config", rule->key);
    if (config->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, config->at, "config must be a table, not %s",
                            mase_value_kind_names[config->kind]);
    if (!mase_value_get(config, "name"))
        return mase_fail_at(err, MASE_EVALUE, config->at,
                            "the config of '%s' has no name: a number format, or \"NA\" for none",
                            rule->key);
    return MASE_OK;
}

bool mase_quant_is_none(const struct mase_rule *rule)
{
    return mase_value_get(config_of(rule), "name")->kind == MASE_NONE;
}

enum mase_status mase_quant_check(const struct mase_rule *rule, struct mase_err *err)
{
    enum mase_quant_kind kind;
    MASE_TRY(check_section(rule, err));
    if (mase_quant_is_none(rule))
        return MASE_OK;
    const struct mase_value *config = config_of(rule), *bypass = mase_value_get(config, "bypass");
    MASE_TRY(find_format(&kind, mase_value_get(config, "name"), err));
    MASE_TRY(check_keys(config, kind, err));
    if (bypass && bypass->kind != MASE_BOOL)
        return mase_fail_at(err, MASE_EVALUE, bypass->at, "bypass must be true or false, not %s",
                            mase_value_kind_names[bypass->kind]);
    return MASE_OK;
}

/* ---- what it means for one node ---- */

struct operands {
    bool needed[MASE_OPERAND_COUNT];
    bool allowed[MASE_OPERAND_COUNT];
};

/* Does this call really have the operand: a parameter of its module, or an argument not None? */
static bool is_given(const struct mase_node *n, const struct mase_sig *sig, int i)
{
    const struct mase_module *m = mase_node_module(n);
    if (m)
        return mase_module_param(m, sig->param[i].name) != NULL;
    if (i < n->args.count)
        return n->args.items[i].kind != MASE_ARG_NONE;
    for (int k = 0; k < n->kwargs.count; k++)
        if (mase_streq(n->kwargs.keys[k], sig->param[i].name))
            return n->kwargs.items[k].kind != MASE_ARG_NONE;
    return false;
}

static struct operands operands_of(const struct mase_node *n)
{
    struct operands o = { 0 };
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    for (int i = 0; i < sig->count; i++)
        switch (sig->param[i].role) {
        case 'x':
            o.needed[MASE_DATA_IN] = true;
            break;
        case 'y':
            o.needed[MASE_WEIGHT] = true;
            break;
        case 'w':
            o.needed[MASE_WEIGHT] = o.allowed[MASE_DATA_OUT] = true;
            break;
        case 'b':
            o.needed[MASE_BIAS] = is_given(n, sig, i);
            break;
        default:
            break;
        }
    return o;
}

/* All that is missing, so that one run of the program tells the whole story. */
static enum mase_status check_missing(const struct mase_value *config, enum mase_quant_kind kind,
                                      const struct operands *o, const struct mase_node *n,
                                      struct mase_err *err)
{
    struct mase_str missing = { 0 }, key = { 0 };
    for (int i = 0; i < MASE_OPERAND_COUNT; i++)
        for (int p = 0; o->needed[i] && p < mase_quants[kind].count; p++) {
            mase_str_clear(&key);
            mase_str_printf(&key, "%s_%s", mase_operand_names[i], mase_quants[kind].params[p].name);
            if (!mase_value_get(config, mase_str_text(&key)))
                mase_str_printf(&missing, "%s%s", missing.len ? ", " : "", mase_str_text(&key));
        }
    enum mase_status st = MASE_OK;
    if (missing.len)
        st = mase_fail_at(err, MASE_EVALUE, config->at, "%s (%s) in %s also needs %s", n->name,
                          mase_ops[n->op].name, mase_quants[kind].name, mase_str_text(&missing));
    mase_str_release(&key);
    mase_str_release(&missing);
    return st;
}

enum mase_status mase_quant_bind(struct mase_quant *q, const struct mase_rule *rule,
                                 const struct mase_node *n, struct mase_err *err)
{
    const struct mase_value *config = config_of(rule), *bypass = mase_value_get(config, "bypass");
    struct operands o = operands_of(n);
    *q = (struct mase_quant){ .bypass = bypass && bypass->b };
    MASE_TRY(find_format(&q->kind, mase_value_get(config, "name"), err));
    if (!q->bypass)
        MASE_TRY(check_missing(config, q->kind, &o, n, err));
    for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
        bool said = mase_format_mentioned(config, mase_operand_names[i]);
        bool wanted = q->bypass ? said && (o.needed[i] || o.allowed[i])
                                : o.needed[i] || (said && o.allowed[i]);
        if (!wanted)
            continue;
        MASE_TRY(mase_format_bind(&q->operand[i], q->kind, config, mase_operand_names[i], err));
    }
    return MASE_OK;
}
