/*
 * quantize.h - what the quantise pass does to each node of a graph, and why.
 *
 * The pass decides for every node before it changes the first one. The decisions can be had without
 * the change:
 *
 *     struct mase_decision *d = mase_new_array(&a, struct mase_decision, g->node_count);
 *     if ((st = mase_quantize_explain(d, &a, g, run, err)))       // of mase_pass_runs_bind
 *         return st;
 *     for (int i = 0; i < g->node_count; i++)
 *         printf("%s: %s\n", d[i].node->name, mase_reason_names[d[i].reason]);
 *     mase_quantize_apply(g, d, g->node_count);                   // the change itself
 */
#ifndef MASE_QUANTIZE_H
#define MASE_QUANTIZE_H

#include <mase/api.h>
#include <mase/graph.h>
#include <mase/pass.h>

MASE_API_BEGIN

enum mase_reason {
    MASE_NOT_QUANTISABLE, /* the operation has no quantised form */
    MASE_NOT_NAMED, /* it has a quantised form only where a configuration names it, and none does */
    MASE_NOT_A_LAYER, /* it has a quantised form, but not as this kind of node: a method stays in
                         float */
    MASE_SAYS_NA,     /* its section of the configuration names no format */
    MASE_BYPASSED,    /* its class is the quantised one, but it computes in float */
    MASE_QUANTISED,
    MASE_REASON_COUNT
};
extern const char
    *const mase_reason_names[]; /* "not quantisable", "not a layer or function", ... */

struct mase_decision {
    struct mase_node *node;
    enum mase_reason reason;
    const char *by;  /* "type", "name", "regex_name" */
    const char *key; /* the section that decided: "linear"; NULL: no section applies */
    bool fallback;   /* the default section decided, because the node has no section of its own */
    struct mase_quant quant; /* bypassed, quantised */
    /* The configuration of quant while parameters in it are "auto": calibration (calibrate.h) is to
     * find them, and the values in quant are placeholders. NULL: quant is final. */
    const struct mase_value *pending;
};

/* Decide for each node of g in order, (node_count), for a bound run of the pass
 * (mase_pass_runs_find). Errors are those of the pass. Texts are borrowed from run and g; the rest
 * is allocated in a. */
enum mase_status mase_quantize_explain(struct mase_decision *list, struct mase_arena *a,
                                       const struct mase_graph *g, const struct mase_pass_run *run,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* Apply `count` decisions, those of mase_quantize_explain or the caller's own; only node, reason
 * and quant are read. Formats in the metadata are updated. Two calls of one module share its
 * formats; the last decision with a format applies. */
void mase_quantize_apply(struct mase_graph *g, const struct mase_decision *list, int count);

MASE_API_END

#endif /* MASE_QUANTIZE_H */
