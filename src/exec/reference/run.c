/*
 * run.c - the values of a graph's nodes, by the interpreter of its program.
 */
#include <mase/run.h>

#include "exec/reference/interpret.h"
#include "ir/graph/graph_parts.h"

static enum mase_status check_values(const struct mase_graph *g, struct mase_err *err)
{
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_param *p =
            n->kind == MASE_GET_ATTR ? mase_graph_attr(g, n->target) : NULL;
        const struct mase_module *m = mase_node_module(n);
        for (int i = 0; m && i < m->param_count && !p; i++)
            p = m->params[i].tensor.data ? NULL : &m->params[i];
        if (p && !p->tensor.data)
            return mase_node_place(
                n,
                mase_fail(err, MASE_EVALUE,
                          "%s: '%s%s%s' has no values: load or initialise the weights", n->name,
                          m ? m->path : "", m ? "." : "", m ? p->name : n->target),
                err);
    }
    return MASE_OK;
}

/* With another number of samples a network of one size of batch may fail, or give other numbers. */
static enum mase_status check_samples(const struct mase_graph *g, const struct mase_input *inputs,
                                      int input_count, struct mase_err *err)
{
    const struct mase_shape *s = input_count ? &inputs[0].tensor.shape : NULL;
    if (!g->batch || !s || (s->rank && s->dim[0] == g->batch))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "the network takes batches of %lld samples alone, got %lld",
                     (long long)g->batch, (long long)(s->rank ? s->dim[0] : 0));
}

enum mase_status mase_run_reference(struct mase_values *v, struct mase_arena *a,
                                    const struct mase_graph *g, const struct mase_input *inputs,
                                    int input_count, struct mase_err *err)
{
    const struct mase_lower_opts opts = { .inputs = inputs,
                                          .input_count = input_count,
                                          .concrete = true };
    struct mase_program *p;
    MASE_TRY(mase_graph_need_learned(g, err));
    MASE_TRY(check_samples(g, inputs, input_count, err));
    MASE_TRY(mase_program_lower(&p, g, &opts, err));
    enum mase_status st = check_values(g, err);
    if (!st)
        st = mase_program_run_nodes(v, a, p, g, inputs, input_count, err);
    mase_program_free(p);
    return st;
}

const struct mase_arg *mase_run_output(const struct mase_values *v, const struct mase_graph *g)
{
    return mase_values_get(v, mase_graph_output(g));
}
