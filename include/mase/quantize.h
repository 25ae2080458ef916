/*
 * quantize.h - what the quantise pass would do to each node of a graph, and why.
 *
 * The pass decides every node before it changes the first one; this is its decision, for those who
 * want to know it without the change:
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
    MASE_NOT_NAMED,       /* it has one for those who name it, which nobody did */
    MASE_NOT_A_LAYER,     /* it has, but not as this kind of node: a method stays in float */
    MASE_SAYS_NA,         /* the section that it falls under names no format */
    MASE_BYPASSED,        /* of the quantised class, computing in float */
    MASE_QUANTISED,
    MASE_REASON_COUNT
};
extern const char
    *const mase_reason_names[]; /* "not quantisable", "not a layer or function", ... */

struct mase_decision {
    struct mase_node *node;
    enum mase_reason reason;
    const char *by;          /* "type", "name", "regex_name" */
    const char *key;         /* the section that decided: "linear"; NULL: none was asked */
    bool fallback;           /* it is the default, for want of a section of the node's own */
    struct mase_quant quant; /* bypassed, quantised */
    /* Parameters that are "auto" in it are still to be found (calibrate.h), and what quant has in
     * their place counts for nothing; NULL: quant is what is meant. */
    const struct mase_value *pending;
};

/* One decision for each node of g in order, (node_count), for a bound run of the pass
 * (mase_pass_runs_find). Errors are the pass's own. Texts are those of run and g; the rest lives in
 * a. */
enum mase_status mase_quantize_explain(struct mase_decision *list, struct mase_arena *a,
                                       const struct mase_graph *g, const struct mase_pass_run *run,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* Carry out count decisions, those of explain or your own: node, reason and quant count. Formats of
 * the metadata follow. Two calls of one module share its formats; the last that has one decides. */
void mase_quantize_apply(struct mase_graph *g, const struct mase_decision *list, int count);

MASE_API_END

#endif /* MASE_QUANTIZE_H */
