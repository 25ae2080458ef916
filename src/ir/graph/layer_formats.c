/*
 * layer_formats.c - how a layer is quantised, from a table and back.
 *
 *     name = "integer"          the number format
 *     data_in_width = 8         OPERAND_PARAMETER for every operand and every parameter
 *     weight_name = "block_fp"  another format for one operand, with the parameters of that format;
 * "float" or NA: none bypass = true             the class is the quantised one, but it computes in
 * float
 *
 * Configurations of the quantise pass and .mg files have such tables.
 */
#include <mase/value.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

struct mase_quant *mase_quant_copy(struct mase_arena *a, const struct mase_quant *q)
{
    return mase_arena_memdup(a, q, sizeof *q);
}

bool mase_quant_equal(const struct mase_quant *a, const struct mase_quant *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind || a->bypass != b->bypass)
        return false;
    for (int i = 0; i < MASE_OPERAND_COUNT; i++)
        if (a->operand[i] != b->operand[i])
            return false;
    return true;
}

static void set(struct mase_arena *a, struct mase_arg *dict, int *cap, const char *key,
                struct mase_arg value)
{
    int keys_cap = *cap;
    dict->keys = mase_arena_grow(a, dict->keys, dict->count, &keys_cap, sizeof *dict->keys);
    dict->items = mase_arena_grow(a, dict->items, dict->count, cap, sizeof *dict->items);
    dict->keys[dict->count] = key;
    dict->items[dict->count++] = value;
}

struct mase_arg mase_quant_config(struct mase_arena *a, const struct mase_quant *q)
{
    struct mase_arg dict = { .kind = MASE_ARG_DICT };
    int cap = 0;

    set(a, &dict, &cap, "name", mase_arg_text(mase_quants[q->kind]->name));
    for (int o = 0; o < MASE_OPERAND_COUNT; o++) {
        const struct mase_format *f = q->operand[o];
        /* an operand that says nothing would be taken for one without a format */
        if (f && (f->kind != q->kind || !f->config->count))
            set(a, &dict, &cap, mase_arena_printf(a, "%s_name", mase_operand_names[o]),
                mase_arg_text(f->row->name));
        for (int p = 0; f && p < f->config->count; p++)
            set(a, &dict, &cap,
                mase_arena_printf(a, "%s_%s", mase_operand_names[o], f->row->params[p].key),
                mase_arg_from_value(a, f->config->items[p]));
    }
    if (q->bypass)
        set(a, &dict, &cap, "bypass", mase_arg_bool(true));
    return dict;
}

/* ---- from a table ---- */

static enum mase_status find_kind(enum mase_quant_kind *kind, const struct mase_value *name,
                                  const char *key, struct mase_err *err)
{
    if (name->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EVALUE, name->at, "%s must be a string, not %s", key,
                            mase_value_kind_names[name->kind]);
    return mase_quant_need(kind, name->s, name->at, err);
}

/* An operand may stay in float, whatever the others do. */
static enum mase_status find_operand_kind(enum mase_quant_kind *kind, const struct mase_value *name,
                                          const char *key, struct mase_err *err)
{
    *kind = MASE_QUANT_float;
    if (mase_value_is_none(name) ||
        (name->kind == MASE_STRING && mase_streq(name->s, mase_format_name(NULL))))
        return MASE_OK;
    return find_kind(kind, name, key, err);
}

/* The keys that a table may have, growing. */
struct keys {
    struct mase_arena *arena;
    const char **items;
    int count, cap;
};

static void add_key(struct keys *k, const char *key)
{
    k->items = mase_arena_grow(k->arena, k->items, k->count, &k->cap, sizeof *k->items);
    k->items[k->count++] = key;
}

static void add_operand(struct keys *k, int operand, enum mase_quant_kind kind)
{
    add_key(k, mase_arena_printf(k->arena, "%s_name", mase_operand_names[operand]));
    for (const struct mase_opt *p = mase_quants[kind]->params; p->type; p++)
        add_key(k, mase_arena_printf(k->arena, "%s_%s", mase_operand_names[operand], p->key));
}

/* name and parameter are of the format, for the message. */
static enum mase_status check_keys(struct keys *known, const struct mase_value *config,
                                   const char *name, const char *parameter, struct mase_err *err)
{
    add_key(known, "name");
    add_key(known, "bypass");
    for (int i = 0; i < config->count; i++) {
        const char *key = config->keys[i];
        bool found = false;
        for (int k = 0; k < known->count && !found; k++)
            found = mase_streq(key, known->items[k]);
        if (found)
            continue;
        const char *keys = mase_arena_printf(
            known->arena,
            ": its keys are name, bypass, and data_in_, weight_, bias_ or data_out_ before %s",
            parameter);
        return mase_fail_unknown(err, config->key_at[i],
                                 &(struct mase_unknown){ key, known->items, known->count,
                                                         .before = ": did you mean '",
                                                         .otherwise = keys },
                                 "'%s' has no parameter '%s'", name, key);
    }
    return MASE_OK;
}

enum mase_status mase_quant_table_none(const struct mase_value *config, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct keys known = { .arena = &a };
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++)
        for (int o = 0; o < MASE_OPERAND_COUNT; o++)
            add_operand(&known, o, (enum mase_quant_kind)k);
    const enum mase_status st = check_keys(&known, config, "NA", "a format's parameter", err);
    mase_arena_release(&a);
    return st;
}

static enum mase_status find_kinds(struct mase_quant_table *t, struct mase_err *err)
{
    enum mase_quant_kind named;
    MASE_TRY(find_kind(&named, mase_value_get(t->config, "name"), "name", err));
    t->named = named;
    for (int o = 0; o < MASE_OPERAND_COUNT; o++) {
        char key[32];
        mase_snprintf(key, sizeof key, "%s_name", mase_operand_names[o]);
        const struct mase_value *own = mase_value_get(t->config, key);
        t->kind[o] = t->named;
        if (own)
            MASE_TRY(find_operand_kind(&t->kind[o], own, key, err));
    }
    return MASE_OK;
}

enum mase_status mase_quant_table(struct mase_quant_table *t, const struct mase_value *config,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct keys known = { .arena = &a };

    *t = (struct mase_quant_table){ .config = config, .named = MASE_QUANT_COUNT };
    MASE_TRY(find_kinds(t, err));
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        add_operand(&known, o, t->kind[o]);
    const enum mase_status st = check_keys(&known, config, mase_quants[t->named]->name,
                                           mase_quants[t->named]->params[0].key, err);
    mase_arena_release(&a);
    MASE_TRY(st);
    const struct mase_value *bypass = mase_value_get(config, "bypass");
    if (bypass && bypass->kind != MASE_BOOL)
        return mase_fail_at(err, MASE_EVALUE, bypass->at, "bypass must be true or false, not %s",
                            mase_value_kind_names[bypass->kind]);
    t->bypass = bypass && bypass->b;
    return MASE_OK;
}

bool mase_quant_table_mentions(const struct mase_quant_table *t, enum mase_operand o)
{
    return mase_format_mentioned(t->config, mase_operand_names[o]);
}

enum mase_status mase_quant_table_bind(struct mase_quant *q, const struct mase_quant_table *t,
                                       enum mase_operand o, struct mase_err *err)
{
    q->kind = t->named;
    q->bypass = t->bypass;
    if (t->kind[o] == MASE_QUANT_products && o != MASE_BIAS)
        return mase_fail_at(err, MASE_EVALUE, t->config->at, "products is for a bias, not for %s",
                            mase_operand_names[o]);
    MASE_TRY(mase_format_bind(&q->operand[o], t->kind[o], t->config, mase_operand_names[o], err));
    const bool data = o == MASE_DATA_IN || o == MASE_DATA_OUT;
    if (data && mase_format_spans_samples(q->operand[o]))
        return mase_fail_at(err, MASE_EVALUE, t->config->at,
                            "the blocks of %s would span the samples of a batch: leave out "
                            "%s_skip_first_dim",
                            mase_operand_names[o], mase_operand_names[o]);
    return MASE_OK;
}
