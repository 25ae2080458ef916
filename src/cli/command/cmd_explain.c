/*
 * cmd_explain.c - ch explain: explain, for each node, why the pass quantize changes it or not.
 */
#include <mase/compare.h>
#include <mase/quantize.h>

#include "cli/command_nets.h"

static const char *matched(struct mase_arena *a, const struct mase_decision *d)
{
    return d->fallback ? "default" : mase_arena_printf(a, "%s '%s'", d->by, d->key);
}

/* The sentence for each reason. */
static const char *why(struct mase_arena *a, const struct mase_decision *d)
{
    switch (d->reason) {
    case MASE_NOT_QUANTISABLE:
        return mase_arena_printf(a, "%s is not quantisable", mase_ops[d->node->op].name);
    case MASE_NOT_NAMED:
        return mase_arena_printf(a, "%s has to be named", mase_ops[d->node->op].name);
    case MASE_NOT_A_LAYER:
        return mase_arena_printf(a, "matched by %s, but a %s stays in float", matched(a, d),
                                 mase_node_kind_names[d->node->kind]);
    case MASE_SAYS_NA:
        return d->fallback ? "default says NA"
                           : mase_arena_printf(a, "matched by %s, which says NA", matched(a, d));
    case MASE_BYPASSED:
        return mase_arena_printf(a, "matched by %s, which says bypass", matched(a, d));
    default:
        return d->fallback ? "no section of its own: default"
                           : mase_arena_printf(a, "matched by %s", matched(a, d));
    }
}

static const char *formats(struct mase_arena *a, const struct mase_decision *d)
{
    struct mase_str text = { 0 };
    const bool given = d->reason == MASE_QUANTISED || d->reason == MASE_BYPASSED;
    mase_quant_print(&text, given ? &d->quant : mase_node_quant(d->node));
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

static struct mase_sheet sheet(struct mase_arena *a, const struct mase_decision *list, int count)
{
    static const char *const headers[] = { "Node", "Op", "Changed", "Why", "Formats", NULL };
    struct mase_sheet s = { .key = "nodes", .table = mase_table(a, headers) };
    int changed = 0;
    for (int i = 0; i < count; i++) {
        const struct mase_decision *d = &list[i];
        const bool yes = d->reason == MASE_QUANTISED || d->reason == MASE_BYPASSED;
        mase_table_add(&s.table,
                       (const char *[]){ d->node->name, mase_ops[d->node->op].name,
                                         yes ? "True" : "False", why(a, d), formats(a, d) });
        changed += yes;
    }
    s.title = mase_arena_printf(a, "%d of %d nodes change", changed, count);
    return s;
}

static enum mase_status explain(struct mase_cli *c, const struct mase_opened *net,
                                const struct mase_pass_run *run, struct mase_err *err)
{
    const int count = net->graph->node_count;
    struct mase_decision *list = mase_new_array(&c->arena, struct mase_decision, (size_t)count);
    MASE_TRY(mase_quantize_explain(list, &c->arena, net->graph, run, err));
    const struct mase_sheet s = sheet(&c->arena, list, count);
    mase_cli_put_sheets(c, &s, 1);
    return MASE_OK;
}

enum mase_status mase_cli_explain(struct mase_cli *c, struct mase_err *err)
{
    struct mase_opened net;
    const struct mase_pass_run *run;
    const char *word;
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(mase_cli_merge(c, err));
    if (c->operand_count > 1)
        MASE_TRY(mase_cli_name_dataset(c, c->operands[1], err));
    MASE_TRY(mase_cli_quantize_run(&run, c, err));
    const struct mase_value *section = mase_value_at(c->config, "passes.quantize");
    if (mase_pass_runs_find(&c->passes, "quantize", run))
        return mase_fail_at(err, MASE_EUNSUPPORTED, section->at,
                            "the file quantises %d times, and ch explain explains one of them; ch "
                            "diff shows what all of them come to",
                            section->count);
    MASE_TRY(mase_cli_subject(&word, c, err));
    MASE_TRY(mase_cli_net_outline(&net, c, word, err));
    enum mase_status st = net.graph ? explain(c, &net, run, err)
                                    : mase_fail(err, MASE_EVALUE, "'%s' holds weights alone", word);
    mase_work_close(&net);
    return st;
}
