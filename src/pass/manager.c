/*
 * manager.c - run passes and check their contracts.
 *
 * For each pass: bind its options, provide properties that it needs, run it, check that an analysis
 * changed nothing, drop properties that an edit invalidated, add those that the pass gives, verify,
 * dump, time. A pass gets a copy of its arguments with every "NA" resolved: the caller's table is
 * never touched.
 */
#include <time.h>

#include <mase/log.h>

#include "base/counters.h"
#include "base/number.h"
#include "pass/outputs.h"
#include "pass/support.h"

/* The pass that provides each property. In order: each needs only properties before it. */
static const struct {
    unsigned prop;
    const char *pass;
} providers[] = {
    { MASE_PROP_META, "init_metadata" },
    { MASE_PROP_COMMON, "add_common_metadata" },
    { MASE_PROP_SOFTWARE, "add_software_metadata" },
    { MASE_PROP_HARDWARE, "add_hardware_metadata" },
};

enum { PROVIDERS = sizeof providers / sizeof providers[0] };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- options ---- */

static enum mase_status fail_pass(enum mase_status st, const struct mase_pass *p,
                                  struct mase_loc at, struct mase_err *err)
{
    mase_place(err, at);
    mase_wrap(err, "pass %s", p->name);
    return st;
}

enum mase_status mase_pass_bind(struct mase_pass_run *run, struct mase_arena *a,
                                const struct mase_value *args, struct mase_loc key,
                                struct mase_err *err)
{
    static const struct mase_opt no_options[] = { { 0 } };
    const struct mase_pass *p = run->pass;
    struct mase_value *own = args ? mase_value_copy(a, args) : NULL;
    void *opts = mase_arena_alloc(a, p->opts_size);
    if (own)
        mase_value_resolve_na(own);
    run->opts = opts;
    run->at = args ? args->at : MASE_NOWHERE;
    const bool any = own || p->opts;
    enum mase_status st =
        any ? mase_opts_bind(opts, p->opts_size, p->opts ? p->opts : no_options, own, a, err)
            : MASE_OK;
    if (!st && p->check)
        st = p->check(opts, err);
    return st ? fail_pass(st, p, key, err) : MASE_OK;
}

/* ---- properties ---- */

static enum mase_status assure(struct mase_manager *m, struct mase_graph **g, unsigned needs,
                               struct mase_err *err)
{
    for (int i = 0; i < PROVIDERS; i++)
        if (needs & ~(*g)->props & providers[i].prop)
            MASE_TRY(mase_manager_run(m, g, providers[i].pass, NULL, err));
    return MASE_OK;
}

/* Clear the metadata sections that are no longer valid, so that no report shows them. */
void mase_graph_drop_props(struct mase_graph *g, unsigned props)
{
    unsigned lost = g->props & props;
    g->props &= ~props;
    if (!(g->props & MASE_PROP_META))
        return;
    for (struct mase_node *n = g->first; n; n = n->next) {
        if (!n->meta)
            continue;
        if (lost & MASE_PROP_COMMON) {
            n->meta->has_common = false;
            n->meta->arg_count = n->meta->result_count = 0;
        }
        if (lost & MASE_PROP_SOFTWARE) {
            n->meta->has_software = false;
            n->meta->sw_arg_count = n->meta->sw_result_count = 0;
        }
        if (lost & MASE_PROP_HARDWARE)
            n->meta->hw = (struct mase_meta_hw){ .is_implicit = n->meta->hw.is_implicit };
    }
}

/* ---- running ---- */

static enum mase_status changed_nothing(const struct mase_graph *g, uint64_t edits,
                                        const struct mase_graph *before, struct mase_err *err)
{
    struct mase_str why = { 0 };
    enum mase_status st = MASE_OK;
    if (g->edits != edits)
        st = mase_fail(err, MASE_EUNSUPPORTED, "an analysis must not change the graph: %lld edits",
                       (long long)(g->edits - edits));
    else if (before && !mase_graph_equal(before, g, &why))
        st = mase_fail(err, MASE_EUNSUPPORTED, "an analysis must not change the graph: %s",
                       mase_str_text(&why));
    mase_str_release(&why);
    return st;
}

static enum mase_status analyse(struct mase_manager *m, const struct mase_graph *g,
                                const struct mase_pass *p, const void *opts, struct mase_err *err)
{
    uint64_t edits = g->edits;
    struct mase_graph *before = m->verify ? mase_graph_clone(g) : NULL;
    enum mase_status st = p->analyse(g, opts, &m->env, err);
    if (!st)
        st = changed_nothing(g, edits, before, err);
    mase_graph_free(before);
    return st;
}

static void forget_original(struct mase_manager *m)
{
    if (m->before)
        m->env.original = NULL;
    mase_graph_free(m->before);
    m->before = NULL;
}

/* Refuse training: the pass changed what is evaluated, but not graph->training. */
static void lose_training(struct mase_graph *g, const struct mase_pass *p)
{
    char why[160];
    if (!g->training)
        return;
    mase_snprintf(why, sizeof why,
                  "cannot be trained: forward asks self.training, and %s changed only what it then "
                  "computes in evaluation",
                  p->name);
    mase_warn("what %s changes %s", p->name, why);
    mase_graph_refuse_training(g, why);
}

/* Restore the graph. The memory of its weights moves along, since others may point into it. */
static void undo(struct mase_graph **g, struct mase_graph *before, const struct mase_pass *p)
{
    mase_warn("%s changed what the network computes, and was undone: the network is as it was",
              p->name);
    mase_graph_take_weights(before, *g);
    mase_graph_free(*g);
    *g = before;
}

static enum mase_status transform(struct mase_manager *m, struct mase_graph **g,
                                  const struct mase_pass *p, const void *opts, struct mase_err *err)
{
    struct mase_graph *old = *g;
    uint64_t edits = old->edits;
    struct mase_outputs was = { 0 };
    forget_original(m);
    m->env.changed = 0;
    /* for comparison by other passes and here; in a dry run, here only */
    const bool compared = !m->env.dry_run || p->same_outputs;
    struct mase_graph *before = compared ? mase_graph_clone(old) : NULL;
    if (p->same_outputs)
        was = mase_outputs(old, &m->env);
    enum mase_status st = p->transform(g, opts, &m->env, err);
    if (st || *g != old) { /* failed, or replaced by another graph: nothing to compare */
        mase_graph_free(before);
        if (*g != old)
            mase_graph_free(old);
        return st;
    }
    if (p->same_outputs) {
        const struct mase_outputs is = mase_outputs(*g, &m->env);
        if (!mase_outputs_report(&m->env, p->name, m->env.changed, &was, &is)) {
            undo(g, before, p);
            return MASE_OK;
        }
    }
    m->env.original = m->before = before;
    if ((*g)->edits != edits) {
        mase_graph_drop_props(*g, ~p->keeps);
        lose_training(*g, p);
    }
    return MASE_OK;
}

/* Check the metadata that a pass claims to keep or give, since later passes rely on it. */
static enum mase_status verify_metadata(const struct mase_graph *g, struct mase_err *err)
{
    for (const struct mase_node *n = g->first; n && g->props & MASE_PROP_META; n = n->next)
        if (!n->meta)
            return mase_fail(err, MASE_EUNSUPPORTED, "says that metadata holds, but '%s' has none",
                             n->name);
    return MASE_OK;
}

static enum mase_status verify(const struct mase_graph *g, struct mase_err *err)
{
    struct mase_str why = { 0 };
    enum mase_status st = verify_metadata(g, err);
    int broken = mase_graph_verify(g, &why);
    if (broken)
        st = mase_fail(err, MASE_EUNSUPPORTED, "left a broken graph (%d faults): %s", broken,
                       mase_str_text(&why));
    mase_str_release(&why);
    return st;
}

static bool dumps(const struct mase_manager *m, const char *pass)
{
    for (int i = 0; m->dump_after && m->dump_after[i]; i++)
        if (mase_streq(m->dump_after[i], pass) || mase_streq(m->dump_after[i], "all"))
            return true;
    return false;
}

static enum mase_status dump(struct mase_manager *m, const struct mase_graph *g, const char *pass,
                             struct mase_err *err)
{
    struct mase_str text = { 0 };
    enum mase_status st = MASE_OK;
    mase_str_printf(&text, "# after %s\n", pass);
    mase_graph_print_mg(&text, g);
    if (m->dump_dir) {
        const char *name = mase_arena_printf(&m->scratch, "%02d_%s.mg", m->runs, pass);
        st = mase_pass_write(&m->env, mase_path_join(&m->scratch, m->dump_dir, name), &text, err);
    } else if (m->env.out) {
        mase_pass_say(&m->env, "%s", mase_str_text(&text));
    }
    mase_str_release(&text);
    return st;
}

static void record_time(struct mase_manager *m, const char *pass, double t)
{
    struct mase_arena *a = m->env.info_arena;
    mase_debug("pass %s took %.3f ms", pass, 1e3 * t);
    if (!m->timings)
        return;
    struct mase_value *row = mase_value_table(a);
    mase_value_set(a, row, "pass", mase_value_string(a, pass));
    mase_value_set(a, row, "seconds", mase_value_float(a, t));
    mase_value_push(a, m->timings, row);
}

/* Run the pass, with its options bound and its needs met. */
static enum mase_status execute(struct mase_manager *m, struct mase_graph **g,
                                const struct mase_pass *p, const void *opts, struct mase_err *err)
{
    double start = seconds();
    m->env.scratch = &m->scratch;
    m->env.pass = p;
    m->runs++;
    mase_count(MASE_COUNT_PASSES);
    MASE_TRY(p->analyse ? analyse(m, *g, p, opts, err) : transform(m, g, p, opts, err));
    mase_graph_drop_props(*g, p->drops);
    (*g)->props |= p->gives;
    record_time(m, p->name, seconds() - start);
    if (m->verify)
        MASE_TRY(verify(*g, err));
    return dumps(m, p->name) ? dump(m, *g, p->name, err) : MASE_OK;
}

enum mase_status mase_manager_run_bound(struct mase_manager *m, struct mase_graph **g,
                                        const struct mase_pass_run *run, struct mase_err *err)
{
    const struct mase_pass *p = run->pass;
    enum mase_status st = assure(m, g, p->needs, err);
    if (!st)
        st = execute(m, g, p, run->opts, err);
    mase_arena_release(&m->scratch);
    if (st && err && !err->msg[0]) /* a plugin may fail without a message */
        st = mase_fail(err, st, "failed without a message");
    if (st)
        return fail_pass(st, p, run->at, err);
    /* a dry run has no report to complete */
    const bool more = p->then && !m->env.dry_run;
    return more ? mase_manager_run(m, g, p->then, NULL, err) : MASE_OK;
}

enum mase_status mase_manager_run_pass(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_pass *p, const struct mase_value *args,
                                       struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_pass_run run = { .pass = p };
    enum mase_status st = mase_pass_bind(&run, &a, args, args ? args->at : MASE_NOWHERE, err);
    if (!st)
        st = mase_manager_run_bound(m, g, &run, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_manager_run(struct mase_manager *m, struct mase_graph **g, const char *pass,
                                  const struct mase_value *args, struct mase_err *err)
{
    const struct mase_pass *p;
    MASE_TRY(mase_pass_need(&p, pass, args ? args->at : MASE_NOWHERE, err));
    return mase_manager_run_pass(m, g, p, args, err);
}

enum mase_status mase_manager_run_list(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_pass_runs *runs, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    struct mase_pass_files late = { 0 };
    m->env.late = &late;
    for (int i = 0; i < runs->count && !st; i++) {
        m->env.again = runs->items[i].again;
        if (m->env.sheets)
            m->env.sheets->suffix = m->env.again;
        st = mase_manager_run_bound(m, g, &runs->items[i], err);
    }
    m->env.again = NULL;
    m->env.late = NULL;
    if (m->env.sheets)
        m->env.sheets->suffix = NULL;
    const enum mase_status closed = mase_pass_files_close(&late, st ? NULL : err);
    return st ? st : closed;
}

enum mase_status mase_manager_run_all(struct mase_manager *m, struct mase_graph **g,
                                      const struct mase_value *passes, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_pass_runs runs;
    enum mase_status st = mase_pass_runs_bind(&runs, &a, passes, err);
    if (!st)
        st = mase_manager_run_list(m, g, &runs, err);
    mase_arena_release(&a);
    return st;
}

void mase_manager_release(struct mase_manager *m)
{
    forget_original(m);
    mase_arena_release(&m->scratch);
}
