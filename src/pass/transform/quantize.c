/*
 * quantize.c - give number formats to the operands of layers and functions.
 *
 * Weights stay the floats they are: a quantised layer rounds them on every forward, so training can
 * go on and another format can be tried at any time. A layer keeps its place and name; a function
 * call keeps its name and arguments. Operations that cannot be quantised are left alone.
 */
#include <mase/calibrate.h>
#include <mase/log.h>
#include <mase/quantize.h>

#include "ir/graph/graph_parts.h"
#include "pass/support.h"
#include "pass/transform/quantize_parts.h"

struct quantize_opts {
    const char *by, *reach;
    const struct mase_value *fallback;
    struct mase_value *sections;
    const struct mase_value *calibrate;
    bool report;
};

const char *const mase_reason_names[] = {
    [MASE_NOT_QUANTISABLE] = "not quantisable",
    [MASE_NOT_NAMED] = "has to be named",
    [MASE_NOT_A_LAYER] = "not a layer or function",
    [MASE_SAYS_NA] = "NA",
    [MASE_BYPASSED] = "bypass",
    [MASE_QUANTISED] = "quantised",
};

static const char *const ways[] = { "type", "name", "regex_name", NULL };
static const char *const reaches[] = { "usual", "all", NULL };

/* ---- decide ---- */

static bool changes(const struct mase_decision *d)
{
    return d->reason == MASE_BYPASSED || d->reason == MASE_QUANTISED;
}

static enum mase_status refuse(const struct mase_rules *r, const struct mase_rule *rule,
                               const struct mase_node *n, struct mase_err *err)
{
    if (r->by == MASE_BY_NAME && rule != &r->fallback)
        return mase_fail_at(err, MASE_EUNSUPPORTED, rule->at,
                            "'%s' is a %s: only modules and functions can be quantised", n->name,
                            mase_node_kind_names[n->kind]);
    mase_warn("quantize: %s is a %s and stays in float", n->name, mase_node_kind_names[n->kind]);
    return MASE_OK;
}

static enum mase_status decide(struct mase_decision *d, struct mase_arena *a, struct mase_rules *r,
                               struct mase_node *n, struct mase_err *err)
{
    struct mase_rule *rule;
    *d = (struct mase_decision){ .node = n, .by = ways[r->by] };
    if (!mase_ops[n->op].quantisable)
        return MASE_OK;
    MASE_TRY(mase_rules_pick(r, &rule, n, err));
    d->reason = MASE_NOT_NAMED;
    if (!rule)
        return MASE_OK;
    d->key = rule->key;
    d->fallback = rule == &r->fallback;
    d->reason = MASE_SAYS_NA;
    if (mase_quant_is_none(rule))
        return MASE_OK;
    d->reason = MASE_NOT_A_LAYER;
    if (n->kind != MASE_CALL_MODULE && n->kind != MASE_CALL_FUNCTION)
        return refuse(r, rule, n, err);
    MASE_TRY(mase_quant_bind(&d->quant, &d->pending, a, rule, n, err));
    d->reason = d->quant.bypass ? MASE_BYPASSED : MASE_QUANTISED;
    return MASE_OK;
}

/* Names that fit nothing were refused: what is left is an operation that this network does without,
 * or a pattern that came too late. */
static void report_unused(const struct mase_rules *r)
{
    for (int i = 0; i < r->count; i++) {
        const struct mase_rule *rule = &r->rules[i];
        if (rule->uses || mase_quant_is_none(rule))
            continue;
        if (r->by == MASE_BY_TYPE)
            mase_info("quantize: the network has no %s", rule->key);
        else if (r->by == MASE_BY_REGEX)
            mase_warn("quantize: every node that '%s' matches falls under an earlier pattern",
                      rule->key);
    }
}

/* Decide for every node of g; list has node_count entries. */
static enum mase_status decide_all(struct mase_decision *list, struct mase_arena *a,
                                   struct mase_rules *r, const struct mase_graph *g,
                                   struct mase_err *err)
{
    MASE_TRY(mase_rules_check_nodes(r, g, err));
    for (struct mase_node *n = g->first; n; n = n->next)
        MASE_TRY(decide(list++, a, r, n, err));
    report_unused(r);
    return MASE_OK;
}

/* ---- apply ---- */

/* Warn if two calls of one module share its formats. */
static void warn_of_sharing(struct mase_map *callers, const struct mase_decision *d)
{
    const struct mase_decision *first = mase_map_get(callers, d->node->target);
    if (first &&
        !mase_quant_equal(changes(first) ? &first->quant : NULL, changes(d) ? &d->quant : NULL))
        mase_warn("quantize: %s and %s are both calls of %s, but are configured differently: "
                  "the last of them that names a format decides for both",
                  first->node->name, d->node->name, d->node->target);
    mase_map_put(callers, d->node->target, (void *)d);
}

static void carry_out(const struct mase_decision *d, struct mase_map *callers)
{
    if (mase_node_module(d->node))
        warn_of_sharing(callers, d);
    if (!changes(d))
        return;
    mase_node_set_quant(d->node, &d->quant);
    mase_debug("quantize: %s (%s) by '%s'", d->node->name, mase_ops[d->node->op].name,
               d->key ? d->key : "decision");
}

void mase_quantize_apply(struct mase_graph *g, const struct mase_decision *list, int count)
{
    struct mase_arena a = { 0 };
    struct mase_map callers = { .arena = &a };
    for (int i = 0; i < count; i++)
        carry_out(&list[i], &callers);
    for (struct mase_node *n = g->first; n; n = n->next)
        if (n->meta)
            mase_meta_set_formats(n);
    mase_arena_release(&a);
}

/* ---- calibrate ---- */

static enum mase_status bind_calibration(struct mase_calibrate_opts *c,
                                         const struct quantize_opts *o, struct mase_arena *a,
                                         struct mase_err *err)
{
    if (o->calibrate && o->calibrate->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, o->calibrate->at,
                            "calibrate must be a table with method, rows, ..., not %s",
                            mase_value_kind_names[o->calibrate->kind]);
    return mase_opts_bind(c, sizeof *c, mase_calibrate_rows, o->calibrate, a, err);
}

static const struct mase_decision *first_pending(const struct mase_decision *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].pending)
            return &list[i];
    return NULL;
}

/* Without data, "auto" means the formats that the network has already. */
static enum mase_status fail_pending(const struct mase_decision *d, struct mase_err *err)
{
    int i = 0;
    while (!mase_value_is_auto(d->pending->items[i]))
        i++;
    return mase_fail_at(err, MASE_EVALUE, d->pending->items[i]->at,
                        "%s = \"" MASE_AUTO
                        "\" is to be found on samples of a dataset, and there are none here: "
                        "ch calibrate finds it and writes a configuration with the numbers",
                        d->pending->keys[i]);
}

/* Replace "auto" by calibration. */
static enum mase_status settle(struct mase_decision *list, struct mase_graph *g,
                               const struct quantize_opts *o, struct mase_pass_env *env,
                               struct mase_err *err)
{
    struct mase_calibrate_opts c;
    MASE_TRY(bind_calibration(&c, o, env->scratch, err));
    if (c.keep)
        mase_calibrate_keep(list, g->node_count, env->scratch);
    const struct mase_decision *open = first_pending(list, g->node_count);
    if (env->dry_run || (!open && (c.keep || !(c.gptq || c.bias_correction))))
        return MASE_OK;
    if (!env->samples && open)
        return fail_pending(open, err);
    return mase_calibrate(list, g->node_count, g, &c, env, err);
}

/* Apply all decisions or none: all are made before the first node changes. */
static enum mase_status apply(struct mase_graph *g, struct mase_rules *r,
                              const struct quantize_opts *o, struct mase_pass_env *env,
                              struct mase_err *err)
{
    struct mase_decision *list =
        mase_new_array(env->scratch, struct mase_decision, (size_t)g->node_count);
    MASE_TRY(decide_all(list, env->scratch, r, g, err));
    MASE_TRY(settle(list, g, o, env, err));
    mase_quantize_apply(g, list, g->node_count);
    MASE_TRY(mase_graph_learn(g, err));
    struct mase_value *lost = env->dry_run ? NULL : mase_rounding_loss(mase_pass_arena(env), g);
    if (lost)
        mase_pass_note(env, "rounded_weights", lost);
    return MASE_OK;
}

static enum mase_status rules_of(struct mase_rules *r, struct mase_arena *a,
                                 const struct quantize_opts *o, struct mase_err *err)
{
    const struct mase_rules_opts opts = { o->by, o->reach, o->sections, o->fallback };
    return mase_rules_init(r, a, &opts, err);
}

static enum mase_status check(const void *options, struct mase_err *err)
{
    struct mase_calibrate_opts c;
    struct mase_arena a = { 0 };
    struct mase_rules r;
    enum mase_status st = rules_of(&r, &a, options, err);
    if (!st)
        st = bind_calibration(&c, options, &a, err);
    mase_rules_release(&r);
    mase_arena_release(&a);
    return st;
}

static enum mase_status run(struct mase_graph **g, const void *options, struct mase_pass_env *env,
                            struct mase_err *err)
{
    struct mase_rules r;
    enum mase_status st = rules_of(&r, env->scratch, options, err);
    if (!st)
        st = apply(*g, &r, options, env, err);
    mase_rules_release(&r);
    return st;
}

static const struct mase_opt opts[] = {
    { .key = "by",
      .type = MASE_OPT_TYPE_CHOICE,
      .offset = offsetof(struct quantize_opts, by),
      .required = true,
      .choices = ways,
      .help = "what the sections are named after: operations, nodes, or patterns of node names" },
    MASE_OPT_CHOICE(struct quantize_opts, reach, "reach", "usual", reaches,
                    "what patterns and the default reach: products, sums, relu and recurrent "
                    "layers, or all operations; a section named after one reaches it in any case"),
    MASE_OPT_VALUE(struct quantize_opts, fallback, "default",
                   "configuration of what no section names; config.name = \"NA\" leaves it alone"),
    MASE_OPT_VALUE(struct quantize_opts, calibrate, "calibrate",
                   "how \"auto\" is found: a table of method, quantile, rows, keep, gptq, "
                   "bias_correction, damping"),
    MASE_OPT_BOOL(struct quantize_opts, report, "report", true,
                  "accepted for older files: the summary is always made"),
    MASE_OPT_REST(struct quantize_opts, sections, "KEY",
                  "config = { name = FORMAT, data_in_width = 8, ... } of an operation or node"),
    { 0 },
};

const struct mase_pass mase_pass_quantize = {
    .name = "quantize",
    .help = "give number formats to the operands of layers and functions",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .keeps = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = opts,
    .opts_size = sizeof(struct quantize_opts),
    .check = check,
    .transform = run,
    .then = "summarize_quantization",
};

/* ---- explain ---- */

enum mase_status mase_quantize_explain(struct mase_decision *list, struct mase_arena *a,
                                       const struct mase_graph *g, const struct mase_pass_run *run,
                                       struct mase_err *err)
{
    if (run->pass != &mase_pass_quantize)
        mase_bug("a run of %s is none of quantize", run->pass->name);
    struct mase_rules r = { 0 };
    enum mase_status st = rules_of(&r, a, run->opts, err);
    if (!st)
        st = decide_all(list, a, &r, g, err);
    mase_rules_release(&r);
    if (!st)
        mase_calibrate_keep(list, g->node_count, a);
    const struct mase_decision *open = st ? NULL : first_pending(list, g->node_count);
    if (open)
        st = fail_pending(open, err);
    if (!st)
        return MASE_OK;
    mase_place(err, run->at);
    return mase_wrap(err, "pass quantize");
}
