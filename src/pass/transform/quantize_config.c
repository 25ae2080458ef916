/*
 * quantize_config.c - one quantisation configuration: [passes.quantize.linear.config].
 *
 *     name = "integer"          the number format; none leaves the node alone
 *     data_in_width = 8         OPERAND_PARAMETER for every operand of the operation and every
 *     data_in_frac_width = 4    parameter of the format
 *     bypass = true             of the quantised class, but computing in float
 *
 * Which operands an operation has follows from the roles in its signature: x is data_in, w and y
 * are weight, b is bias, the last two only if the layer has them. Keys of operands that the
 * operation lacks are accepted and dropped, so that one configuration can serve all; any other key
 * is an error. All may also be told data_out.
 */
#include <stdio.h>

#include <mase/meta.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "pass/support.h"
#include "pass/transform/quantize_parts.h"
#include "quant/quant.h"

static const struct mase_value *config_of(const struct mase_rule *rule)
{
    return mase_value_get(rule->section, "config");
}

/* ---- check a configuration ---- */

static enum mase_status check_section(const struct mase_rule *rule, struct mase_err *err)
{
    const struct mase_value *config;
    MASE_TRY(mase_section_config(&config, rule->key, rule->at, rule->section, err));
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

/* ---- "auto" ---- */

/* The parameter that key names, and its format; NULL: none. */
static const struct mase_opt *find_param(enum mase_quant_kind *kind,
                                         const struct mase_quant_table *t, const char *key)
{
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        for (const struct mase_opt *p = mase_quants[t->kind[o]]->params; p->type; p++) {
            char full[64];
            mase_snprintf(full, sizeof full, "%s_%s", mase_operand_names[o], p->key);
            if (!mase_streq(full, key))
                continue;
            *kind = t->kind[o];
            return p;
        }
    return NULL;
}

static enum mase_status check_autos(const struct mase_quant_table *t, struct mase_err *err)
{
    for (int i = 0; i < t->config->count; i++) {
        enum mase_quant_kind kind;
        const struct mase_opt *p = find_param(&kind, t, t->config->keys[i]);
        if (p && mase_value_is_auto(t->config->items[i]) && !mase_param_tuning(p))
            return mase_format_refuse_auto(kind, p, t->config->keys[i], t->config->items[i]->at,
                                           err);
    }
    return MASE_OK;
}

bool mase_quant_has_auto(const struct mase_value *config)
{
    for (int i = 0; i < config->count; i++)
        if (mase_value_is_auto(config->items[i]))
            return true;
    return false;
}

/* A copy in which each "auto" has some valid value. */
static const struct mase_value *provisional(struct mase_arena *a, const struct mase_quant_table *t)
{
    struct mase_value *copy = mase_value_copy(a, t->config);
    for (int i = 0; i < copy->count; i++) {
        enum mase_quant_kind kind;
        const struct mase_opt *p = find_param(&kind, t, copy->keys[i]);
        if (p && mase_value_is_auto(copy->items[i]))
            copy->items[i] = p->may_be_none                 ? mase_value_none(a)
                             : p->type == MASE_OPT_TYPE_INT ? mase_value_int(a, (int64_t)p->num)
                                                            : mase_value_float(a, p->num);
    }
    return copy;
}

enum mase_status mase_quant_check(const struct mase_rule *rule, struct mase_err *err)
{
    struct mase_quant_table t;
    MASE_TRY(check_section(rule, err));
    const struct mase_value *config = config_of(rule), *name = mase_value_get(config, "name");
    if (mase_quant_is_none(rule))
        return mase_quant_table_none(config, err);
    const enum mase_status st = mase_quant_table(&t, config, err);
    if (st && name->kind == MASE_STRING && t.named == MASE_QUANT_COUNT)
        return mase_fail_at(err, st, name->at, "%s, or NA to leave the node alone", err->msg);
    return st ? st : check_autos(&t, err);
}

/* ---- bind to a node ---- */

struct operands {
    bool layer; /* it has weights */
    bool needed[MASE_OPERAND_COUNT];
    bool allowed[MASE_OPERAND_COUNT];
};

/* Does this call have the operand: a parameter of its module, or an argument other than None? */
static bool has_operand(const struct mase_node *n, const char *name)
{
    const struct mase_module *m = mase_node_module(n);
    const struct mase_arg *given = m ? NULL : mase_node_argument(n, name);
    return m ? mase_module_param(m, name) != NULL : given && given->kind != MASE_ARG_NONE;
}

static struct operands operands_of(const struct mase_node *n)
{
    struct operands o = { 0 };
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    for (int i = 0; i < sig->count; i++) {
        const struct mase_mark *m = mase_mark_find(sig->param[i].role);
        if (!m)
            continue;
        o.needed[m->operand] |= mase_mark_is_data(m->mark) || has_operand(n, sig->param[i].name);
        o.layer |= m->mark == 'w';
    }
    const struct mase_module *m = mase_node_module(n);
    for (int i = 0; m && i < m->param_count; i++) { /* signatures do not list weight_ih_l0 */
        const struct mase_mark *mark = mase_mark_find(mase_param_mark(m, &m->params[i]));
        if (mark)
            o.needed[mark->operand] = true;
    }
    o.allowed[MASE_DATA_OUT] = true;
    return o;
}

/* Some formats round only some operands when they are set for a whole layer; another operand is
 * rounded only if its own key names the format. */
static void leave_out(struct operands *o, const struct mase_quant_table *t,
                      const struct mase_node *n)
{
    static const int of_operand[MASE_OPERAND_COUNT] = { [MASE_DATA_IN] = MASE_ROUNDS_DATA,
                                                        [MASE_WEIGHT] = MASE_ROUNDS_WEIGHT,
                                                        [MASE_DATA_OUT] = MASE_ROUNDS_DATA };
    const int rounds = mase_quants[t->named]->rounds;
    const bool all =
        n->op == MASE_OP_conv1d && t->named == MASE_QUANT_binary; /* as the original does */
    if (rounds == MASE_ROUNDS_ALL || all ||
        !(o->layer || (n->op == MASE_OP_relu && mase_node_module(n))))
        return;
    for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
        char key[32];
        mase_snprintf(key, sizeof key, "%s_name", mase_operand_names[i]);
        if (!(rounds & of_operand[i]) && !mase_value_get(t->config, key))
            o->needed[i] = o->allowed[i] = false;
    }
}

/* Report all missing parameters at once. */
static enum mase_status check_missing(const struct mase_quant_table *t, const struct operands *o,
                                      const struct mase_node *n, struct mase_err *err)
{
    struct mase_str missing = { 0 }, key = { 0 };
    for (int i = 0; i < MASE_OPERAND_COUNT; i++)
        for (const struct mase_opt *p = mase_quants[t->kind[i]]->params; o->needed[i] && p->type;
             p++) {
            mase_str_clear(&key);
            mase_str_printf(&key, "%s_%s", mase_operand_names[i], p->key);
            if (p->required && !mase_value_get(t->config, mase_str_text(&key)))
                mase_str_printf(&missing, "%s%s", missing.len ? ", " : "", mase_str_text(&key));
        }
    enum mase_status st = MASE_OK;
    if (missing.len)
        st = mase_fail_at(err, MASE_EVALUE, t->config->at, "%s (%s) in %s also needs %s", n->name,
                          mase_ops[n->op].name, mase_quants[t->named]->name,
                          mase_str_text(&missing));
    mase_str_release(&key);
    mase_str_release(&missing);
    return st;
}

/* Can the formats divide the operands' shapes, as metadata gives them, into blocks? */
static enum mase_status check_fits(const struct mase_quant *q, const struct mase_quant_table *t,
                                   const struct mase_node *n, struct mase_err *err)
{
    for (int i = 0; n->meta && i < n->meta->arg_count && !q->bypass; i++) {
        const struct mase_meta_arg *a = &n->meta->args[i];
        const struct mase_mark *m = mase_mark_find(mase_named_mark(n, a->name));
        const bool tensor = a->kind == MASE_META_TENSOR || a->kind == MASE_META_PARAM;
        if (!m || !tensor || a->dtype != MASE_F32 ||
            !mase_format_fits(q->operand[m->operand], &a->shape, m->role, err))
            continue;
        mase_place(err, t->config->at);
        return mase_wrap(err, "%s (%s): %s", n->name, mase_ops[n->op].name,
                         mase_operand_names[m->operand]);
    }
    return MASE_OK;
}

/* ---- the default format of a bias ---- */

/* Does the operand have codes with a scale: given, learned, or "auto"? */
static bool is_scaled(const struct mase_quant_table *t, enum mase_operand o)
{
    char key[32];
    const struct mase_format *f = NULL;
    struct mase_quant q = { 0 };
    struct mase_err ignored = { 0 };
    mase_snprintf(key, sizeof key, "%s_scale", mase_operand_names[o]);
    if (mase_quants[t->kind[o]]->uniform && mase_value_is_auto(mase_value_get(t->config, key)))
        return true;
    if (!mase_quant_table_bind(&q, t, o, &ignored))
        f = q.operand[o];
    return mase_format_is_scaled(f);
}

/* A bias without a format is rounded to the scale of the products, if the layer's operands have
 * scales. */
static void default_bias(struct mase_quant_table *t, const struct operands *o,
                         const struct mase_node *n)
{
    if (o->needed[MASE_BIAS] && !mase_quant_table_mentions(t, MASE_BIAS) &&
        mase_op_adds_products(n->op) && is_scaled(t, MASE_DATA_IN) && is_scaled(t, MASE_WEIGHT))
        t->kind[MASE_BIAS] = MASE_QUANT_products;
}

static enum mase_status check_bias(const struct mase_quant_table *t, const struct mase_quant *q,
                                   const struct mase_node *n, struct mase_err *err)
{
    if (!mase_format_is_open(q->operand[MASE_BIAS]) || t->bypass ||
        (mase_op_adds_products(n->op) && is_scaled(t, MASE_DATA_IN) && is_scaled(t, MASE_WEIGHT)))
        return MASE_OK;
    (void)mase_products_refuse(n, err);
    return mase_place(err, t->config->at);
}

enum mase_status mase_quant_bind(struct mase_quant *q, const struct mase_value **pending,
                                 struct mase_arena *a, const struct mase_rule *rule,
                                 const struct mase_node *n, struct mase_err *err)
{
    struct mase_quant_table t;
    struct operands o = operands_of(n);
    const struct mase_value *config = config_of(rule);
    MASE_TRY(mase_quant_table(&t, config, err));
    leave_out(&o, &t, n);
    default_bias(&t, &o, n);
    const struct mase_quant_table told = t;
    *pending = mase_quant_has_auto(config) ? config : NULL;
    if (*pending)
        t.config = provisional(a, &t);
    *q = (struct mase_quant){ .kind = t.named, .bypass = t.bypass };
    if (!t.bypass)
        MASE_TRY(check_missing(&t, &o, n, err));
    for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
        const bool said = mase_quant_table_mentions(&t, (enum mase_operand)i);
        const bool wanted = t.bypass ? said && (o.needed[i] || o.allowed[i])
                                     : o.needed[i] || (said && o.allowed[i]);
        if (wanted)
            MASE_TRY(mase_quant_table_bind(q, &t, (enum mase_operand)i, err));
    }
    MASE_TRY(check_bias(&told, q, n, err));
    if (mase_op_is_recurrent(n->op) && mase_recurrent_check(n->op, q, err)) {
        mase_place(err, t.config->at);
        return mase_wrap(err, "%s (%s)", n->name, mase_ops[n->op].name);
    }
    return check_fits(q, &t, n, err);
}
