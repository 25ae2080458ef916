/*
 * quantise_options.c - give a network number formats, for training, testing, sweeping and
 * predicting.
 *
 * [passes.quantize] of the configuration counts for every command that computes, so that one file
 * means one network: ch train trains through the formats, ch test measures what was trained.
 * Formats that come with a checkpoint, a folder or a .mg file stay where the configuration gives
 * none; where it gives others it decides, and a warning says so. [passes.prune] counts for
 * training. Other passes are for ch transform alone.
 */
#include <mase/compare.h>
#include <mase/log.h>

#include "cli/project.h"
#include "ir/graph/graph_parts.h"
#include "pass/support.h"

enum mase_status mase_cli_run_quantize(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_cli *c, struct mase_err *err)
{
    const struct mase_pass_run *run = NULL;
    while ((run = mase_pass_runs_find(&c->passes, "quantize", run)))
        MASE_TRY(mase_manager_run_bound(m, g, run, err));
    return MASE_OK;
}

enum mase_status mase_cli_pruning(const struct mase_prune_opts **o, const struct mase_cli *c,
                                  struct mase_err *err)
{
    const struct mase_pass_run *run = mase_pass_runs_find(&c->passes, "prune", NULL);
    const struct mase_pass_run *second = run ? mase_pass_runs_find(&c->passes, "prune", run) : NULL;
    *o = run ? run->opts : NULL;
    return second ? mase_fail_at(err, MASE_EVALUE, second->at,
                                 "training prunes in one way: there are several [[passes.prune]]")
                  : MASE_OK;
}

/* ---- describe the formats ---- */

/* Nodes with equal formats. */
struct group {
    const struct mase_quant *quant;
    int count;
};

enum { MOST_GROUPS = 3 }; /* listed in the message */

static int group_nodes(struct group *groups, const struct mase_graph *g, int *nodes)
{
    int count = 0;
    *nodes = 0;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_quant *q = mase_node_quant(n);
        int k = 0;
        if (!q || q->bypass)
            continue;
        while (k < count && !mase_quant_equal(groups[k].quant, q))
            k++;
        if (k == count)
            groups[count++] = (struct group){ .quant = q };
        groups[k].count++;
        ++*nodes;
    }
    return count;
}

const char *mase_cli_formats_in(struct mase_arena *a, const struct mase_graph *g)
{
    struct mase_str text = { 0 };
    struct group *groups = mase_new_array(a, struct group, (size_t)g->node_count);
    int nodes;
    const int count = group_nodes(groups, g, &nodes);
    if (!nodes)
        return NULL;
    mase_str_printf(&text, "%d %s", nodes, nodes == 1 ? "node" : "nodes");
    for (int i = 0; i < count && i < MOST_GROUPS; i++) {
        mase_str_add(&text, i ? "; " : ": ");
        if (count > 1)
            mase_str_printf(&text, "%d in ", groups[i].count);
        mase_quant_print(&text, groups[i].quant);
    }
    if (count > MOST_GROUPS)
        mase_str_printf(&text, "; and %d more kinds", count - MOST_GROUPS);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

/* ---- set the formats ---- */

/* Does the command prune? Only training does; later the weights are pruned already. */
static bool prunes(const struct mase_cli *c)
{
    return mase_streq(c->command->name, "train") || mase_streq(c->command->name, "sweep");
}

/* Warn of other transforms in the configuration, which the command does not run. */
static void warn_of_transforms(const struct mase_cli *c)
{
    for (int i = 0; i < c->passes.count; i++) {
        const struct mase_pass *p = c->passes.items[i].pass;
        if (p->transform && !mase_streq(p->name, "quantize") &&
            !(mase_streq(p->name, "prune") && prunes(c)))
            mase_warn("pass %s is not run by ch %s: ch transform runs it, and --load takes what it "
                      "saved",
                      p->name, c->command->name);
    }
}

static void warn_of_difference(const struct mase_cli *c, const struct mase_graph *was,
                               const struct mase_graph *is)
{
    struct mase_str why = { 0 };
    const char *load = mase_cli_text(c, MASE_CLI_load_name);
    if (mase_graph_is_quantised(was) && !mase_graph_same_formats(was, is, &why))
        mase_warn("%s has other number formats than [passes.quantize] of %s, which is used: %s",
                  load ? load : mase_cli_text(c, MASE_CLI_model), mase_cli_text(c, MASE_CLI_config),
                  mase_str_text(&why));
    mase_str_release(&why);
}

/* Replace "auto" in the configuration by calibrated parameters, for the record. */
static void note_calibration(struct mase_cli *c, const struct mase_graph *g,
                             const struct mase_value *info)
{
    struct mase_arena *a = &c->arena;
    struct mase_value *passes = mase_value_get(c->config, "passes");
    if (!mase_value_get(info, "calibrate"))
        return;
    mase_value_set(a, passes, "quantize", mase_cli_formats_by_name(a, g));
    if (!mase_cli_text(c, MASE_CLI_load_name))
        mase_warn("the number formats were calibrated on initial weights: train in float first, "
                  "and --load what was trained");
}

/* Opens the data if calibration needs it. */
enum mase_status mase_cli_apply_formats(struct mase_graph **g, struct mase_cli *c,
                                        struct mase_opened *w, struct mase_err *err)
{
    struct mase_manager m = { .env = { .seed = (uint64_t)mase_cli_value(c, MASE_CLI_seed)->i } };
    struct mase_cli_samples samples;
    struct mase_graph *was = mase_graph_clone(*g);
    mase_cli_sample_inputs(&m.env, &c->arena, *g, &w->sample);
    mase_cli_samples_init(&samples, c, w);
    if (w->choice.data.dataset)
        m.env.samples = &samples.source;
    m.env.info = mase_value_table(&c->arena);
    m.env.info_arena = &c->arena;
    const enum mase_status st = mase_cli_run_quantize(&m, g, c, err);
    mase_cli_samples_close(&samples);
    mase_manager_release(&m);
    if (!st) {
        warn_of_difference(c, was, *g);
        note_calibration(c, *g, m.env.info);
    }
    mase_graph_free(was);
    return st;
}

enum mase_status mase_cli_quantise(struct mase_graph **g, struct mase_cli *c, struct mase_opened *w,
                                   struct mase_err *err)
{
    const bool trained = mase_graph_is_quantised(*g);
    warn_of_transforms(c);
    if (mase_pass_runs_find(&c->passes, "quantize", NULL))
        MASE_TRY(mase_cli_apply_formats(g, c, w, err));
    const char *formats = mase_cli_formats_in(&c->arena, *g);
    if (formats)
        mase_info("Quantised, %s", formats);
    if (formats &&
        mase_cli_text(c, MASE_CLI_load_name)) /* weights are trained if --load names them */
        mase_rounding_loss_log(*g, trained);
    return MASE_OK;
}
