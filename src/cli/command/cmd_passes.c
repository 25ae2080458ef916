/*
 * cmd_passes.c - ch passes [NAME]: the passes and their options, from the tables.
 */
#include <mase/pass.h>

#include "cli/cli.h"

static const char *const props[] = { "metadata", "common", "software", "hardware" };

static struct mase_value *prop_list(struct mase_arena *a, unsigned set)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < (int)(sizeof props / sizeof props[0]); i++)
        if (set >> i & 1)
            mase_value_push(a, list, mase_value_string(a, props[i]));
    return list;
}

static struct mase_value *option_json(struct mase_arena *a, const struct mase_opt *o)
{
    struct mase_value *v = mase_value_table(a);
    struct mase_str text = { 0 };
    mase_opt_describe(&text, o);
    mase_value_set(a, v, "name", mase_value_string(a, o->key));
    mase_value_set(a, v, "allowed", mase_value_string(a, mase_str_text(&text)));
    mase_str_clear(&text);
    mase_opt_default(&text, o);
    mase_value_set(a, v, "default", mase_value_string(a, mase_str_text(&text)));
    mase_value_set(a, v, "required", mase_value_bool(a, o->required));
    mase_value_set(a, v, "help", mase_value_string(a, o->help ? o->help : ""));
    mase_str_release(&text);
    return v;
}

static struct mase_value *pass_json(struct mase_arena *a, const struct mase_pass *p)
{
    struct mase_value *v = mase_value_table(a), *opts = mase_value_list(a);
    mase_value_set(a, v, "name", mase_value_string(a, p->name));
    mase_value_set(a, v, "kind", mase_value_string(a, mase_pass_kind(p)));
    mase_value_set(a, v, "help", mase_value_string(a, p->help));
    mase_value_set(a, v, "needs", prop_list(a, p->needs));
    mase_value_set(a, v, "gives", prop_list(a, p->gives));
    for (const struct mase_opt *o = p->opts; o && o->type != MASE_OPT_END; o++)
        mase_value_push(a, opts, option_json(a, o));
    mase_value_set(a, v, "options", opts);
    return v;
}

static void put_all(struct mase_cli *c)
{
    static const char *const headers[] = { "Pass", "Kind", "What it does", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    const struct mase_pass *p;
    for (int i = 0; (p = mase_pass_at(i)); i++)
        mase_table_add(&t, (const char *[]){ p->name, mase_pass_kind(p), p->help });
    mase_cli_put_table(c, &t);
}

static void put_options(struct mase_cli *c, const struct mase_opt *rows)
{
    struct mase_arena *a = &c->arena;
    static const char *const headers[] = { "Option", "Allowed", "Default", "Meaning", NULL };
    struct mase_table t = mase_table(a, headers);
    for (int i = 1; i < t.columns; i++)
        t.align[i] = MASE_ALIGN_LEFT;
    for (const struct mase_opt *o = rows; o && o->type != MASE_OPT_END; o++) {
        const struct mase_value *row = option_json(a, o);
        mase_table_add(
            &t, (const char *[]){ o->key, mase_value_get(row, "allowed")->s,
                                  o->required ? "(required)" : mase_value_get(row, "default")->s,
                                  o->help ? o->help : "" });
    }
    mase_cli_put_table(c, &t);
}

static void put_props(struct mase_sheets *s, const char *word, unsigned set)
{
    if (!set)
        return;
    mase_sheets_say(s, "%s", word);
    for (int i = 0; i < (int)(sizeof props / sizeof props[0]); i++)
        if (set >> i & 1)
            mase_sheets_say(s, " %s", props[i]);
    mase_sheets_say(s, "\n");
}

static void put_details(struct mase_cli *c, const struct mase_pass *p)
{
    struct mase_sheets *s = &c->sheets;
    mase_sheets_say(s, "%s (%s): %s\n", p->name, mase_pass_kind(p), p->help);
    put_props(s, "needs:", p->needs);
    put_props(s, "gives:", p->gives);
    if (p->then)
        mase_sheets_say(s, "then runs: %s\n", p->then);
    if ((p->opts && p->opts->type != MASE_OPT_END) || mase_sheets_for_programs(s)) {
        mase_sheets_say(s, "\n[passes.%s]\n\n", p->name);
        put_options(c, p->opts);
    } else {
        mase_sheets_say(s, "no options\n");
    }
}

enum mase_status mase_cli_find_pass(const struct mase_pass **p, const char *name,
                                    struct mase_err *err)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int n = 0;
    *p = mase_pass_find(name);
    if (*p)
        return MASE_OK;
    for (const struct mase_pass *q; n < MOST && (q = mase_pass_at(n)); n++)
        names[n] = q->name;
    return mase_fail_unknown(
        err, MASE_NOWHERE, &(struct mase_unknown){ name, names, n, .tail = "ch passes lists them" },
        "no pass is called '%s'", name);
}

enum mase_status mase_cli_passes(struct mase_cli *c, struct mase_err *err)
{
    const bool json = mase_cli_wants_json(c);
    const struct mase_pass *p = NULL;
    MASE_TRY(mase_cli_operands(c, 1, err));
    MASE_TRY(mase_cli_load_plugins(c, err));
    if (c->operand_count)
        MASE_TRY(mase_cli_find_pass(&p, c->operands[0], err));
    if (json && p) {
        mase_cli_put_json(pass_json(&c->arena, p));
    } else if (json) {
        struct mase_value *all = mase_value_list(&c->arena);
        for (int i = 0; (p = mase_pass_at(i)); i++)
            mase_value_push(&c->arena, all, pass_json(&c->arena, p));
        mase_cli_put_json(all);
    } else if (p) {
        put_details(c, p);
    } else {
        put_all(c);
    }
    return MASE_OK;
}
