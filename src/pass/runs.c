/*
 * runs.c - a [passes] table as the runs that it asks for, in the order of the file.
 *
 * A pass may stand several times, as an array of tables:
 *
 *     [[passes.report_graph]]
 *     [passes.quantize]
 *     [[passes.report_graph]]
 *
 * Tables keep each key once, at its first place; the later elements of an array say by their own
 * places where they belong. Files and results of the second run of a pass go by NAME_2.
 */
#include "pass/support.h"

struct runs {
    struct mase_arena *arena;
    struct mase_pass_run *items;
    int count, cap;
};

static void insert(struct runs *r, int at, struct mase_pass_run run)
{
    r->items = mase_arena_grow(r->arena, r->items, r->count, &r->cap, sizeof *r->items);
    for (int i = r->count++; i > at; i--)
        r->items[i] = r->items[i - 1];
    r->items[at] = run;
}

static bool is_before(const struct mase_loc *a, const struct mase_loc *b)
{
    return mase_streq(a->path, b->path) &&
           (a->line < b->line || (a->line == b->line && a->col < b->col));
}

/* Behind everything that stands before it in the file. */
static int place_of(const struct runs *r, const struct mase_loc *at)
{
    for (int i = r->count; i > 0; i--)
        if (is_before(&r->items[i - 1].at, at))
            return i;
    return r->count;
}

static enum mase_status unknown_pass(const char *name, struct mase_loc at, struct mase_err *err)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int n = 0;
    for (const struct mase_pass *p; n < MOST && (p = mase_pass_at(n)); n++)
        names[n] = p->name;
    return mase_fail_unknown(err, at,
                             &(struct mase_unknown){ name, names, n, .before = ": did you mean '",
                                                     .otherwise = ": 'ch passes' lists them" },
                             "no pass is called '%s'", name);
}

enum mase_status mase_pass_need(const struct mase_pass **p, const char *name, struct mase_loc at,
                                struct mase_err *err)
{
    *p = mase_pass_find(name);
    return *p ? MASE_OK : unknown_pass(name, at, err);
}

/* The first of each key, in the order of the keys. */
static enum mase_status add_first(struct runs *r, const struct mase_value *passes, int i,
                                  struct mase_err *err)
{
    const struct mase_value *v = passes->items[i];
    struct mase_pass_run run = { .args = v, .at = passes->key_at[i] };
    MASE_TRY(mase_pass_need(&run.pass, passes->keys[i], run.at, err));
    if (v->kind == MASE_LIST && v->count == 0)
        return mase_fail_at(err, MASE_EVALUE, v->at, "pass %s: the list of its runs is empty",
                            run.pass->name);
    if (v->kind == MASE_LIST)
        run.args = v->items[0];
    insert(r, r->count, run);
    return MASE_OK;
}

static void add_others(struct runs *r, const struct mase_value *passes, int i)
{
    const struct mase_value *v = passes->items[i];
    const struct mase_pass *p = mase_pass_find(passes->keys[i]);
    for (int k = 1; v->kind == MASE_LIST && k < v->count; k++) {
        const struct mase_pass_run run = { p, v->items[k], v->items[k]->at,
                                           mase_arena_printf(r->arena, "_%d", k + 1) };
        insert(r, place_of(r, &run.at), run);
    }
}

enum mase_status mase_pass_runs(struct mase_pass_run **out, int *count, struct mase_arena *a,
                                const struct mase_value *passes, struct mase_err *err)
{
    struct runs r = { .arena = a };
    if (passes && passes->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, passes->at, "passes must be tables, not %s",
                            mase_value_kind_names[passes->kind]);
    for (int i = 0; passes && i < passes->count; i++)
        MASE_TRY(add_first(&r, passes, i, err));
    for (int i = 0; passes && i < passes->count; i++)
        add_others(&r, passes, i);
    *out = r.items;
    *count = r.count;
    return MASE_OK;
}
