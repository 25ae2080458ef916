/*
 * runs.c - list the runs of passes that a [passes] table asks for, in the order of the file.
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

/* A run before its options are bound. */
struct entry {
    const struct mase_pass *pass;
    const struct mase_value *args;
    struct mase_loc at; /* of its name */
    const char *again;
};

struct entries {
    struct mase_arena *arena;
    struct entry *items;
    int count, cap;
};

static void insert(struct entries *r, int at, struct entry e)
{
    r->items = mase_arena_grow(r->arena, r->items, r->count, &r->cap, sizeof *r->items);
    for (int i = r->count++; i > at; i--)
        r->items[i] = r->items[i - 1];
    r->items[at] = e;
}

static bool is_before(const struct mase_loc *a, const struct mase_loc *b)
{
    return mase_streq(a->path, b->path) &&
           (a->line < b->line || (a->line == b->line && a->col < b->col));
}

/* Insert after all entries that precede it in the file. */
static int place_of(const struct entries *r, const struct mase_loc *at)
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

/* Add the first run of each key, in the order of the keys. */
static enum mase_status add_first(struct entries *r, const struct mase_value *passes, int i,
                                  struct mase_err *err)
{
    const struct mase_value *v = passes->items[i];
    struct entry run = { .args = v, .at = passes->key_at[i] };
    MASE_TRY(mase_pass_need(&run.pass, passes->keys[i], run.at, err));
    if (v->kind == MASE_LIST && v->count == 0)
        return mase_fail_at(err, MASE_EVALUE, v->at, "pass %s: the list of its runs is empty",
                            run.pass->name);
    if (v->kind == MASE_LIST)
        run.args = v->items[0];
    insert(r, r->count, run);
    return MASE_OK;
}

static void add_others(struct entries *r, const struct mase_value *passes, int i)
{
    const struct mase_value *v = passes->items[i];
    const struct mase_pass *p = mase_pass_find(passes->keys[i]);
    for (int k = 1; v->kind == MASE_LIST && k < v->count; k++) {
        const struct entry run = { p, v->items[k], v->items[k]->at,
                                   mase_arena_printf(r->arena, "_%d", k + 1) };
        insert(r, place_of(r, &run.at), run);
    }
}

enum mase_status mase_pass_runs_bind(struct mase_pass_runs *runs, struct mase_arena *a,
                                     const struct mase_value *passes, struct mase_err *err)
{
    struct entries r = { .arena = a };
    *runs = (struct mase_pass_runs){ 0 };
    if (passes && passes->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, passes->at, "passes must be tables, not %s",
                            mase_value_kind_names[passes->kind]);
    for (int i = 0; passes && i < passes->count; i++)
        MASE_TRY(add_first(&r, passes, i, err));
    for (int i = 0; passes && i < passes->count; i++)
        add_others(&r, passes, i);
    runs->items = mase_new_array(a, struct mase_pass_run, (size_t)r.count);
    for (int i = 0; i < r.count; i++) {
        const struct entry *e = &r.items[i];
        runs->items[i] = (struct mase_pass_run){ .pass = e->pass, .again = e->again };
        MASE_TRY(mase_pass_bind(&runs->items[i], a, e->args, e->at, err));
    }
    runs->count = r.count;
    return MASE_OK;
}

const struct mase_pass_run *mase_pass_runs_find(const struct mase_pass_runs *runs, const char *pass,
                                                const struct mase_pass_run *after)
{
    for (int i = after ? (int)(after - runs->items) + 1 : 0; i < runs->count; i++)
        if (mase_streq(runs->items[i].pass->name, pass))
            return &runs->items[i];
    return NULL;
}
