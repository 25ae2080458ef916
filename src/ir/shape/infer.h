/*
 * infer.h - results of nodes: how arguments find them, and the walk over a graph that shape
 * inference and execution share.
 */
#ifndef MASE_IR_SHAPE_INFER_H
#define MASE_IR_SHAPE_INFER_H

#include <mase/call.h>
#include <mase/type.h>

/* Replacing nodes by their results (call.c). */
struct mase_resolving {
    struct mase_arena *arena;
    mase_lookup_fn *lookup;
    void *data;
    const struct mase_node *missing; /* the first node without a result */
};
struct mase_arg mase_resolve(struct mase_resolving *r, const struct mase_arg *arg);

/* With values for the nodes of an argument, all of which must be there: in their arena. */
struct mase_arg mase_values_resolve(struct mase_values *v, const struct mase_arg *arg);

/* Called for each call: set c->result. */
typedef enum mase_status mase_step_fn(struct mase_call *c, void *data, struct mase_err *err);

/* Give every node its result in graph order: placeholders from inputs (or their default), get_attr
 * from the graph, calls from step. with_data: tensors keep their values, else they lose them. */
struct mase_walk_plan {
    const struct mase_input *inputs;
    int input_count;
    bool with_data;
    bool any_batch; /* the inputs have the largest of mase_batch_sizes */
    bool goes_on;   /* what fails has no result, and neither has what needs it */
    mase_step_fn *step;
    void *data;
};
enum mase_status mase_values_walk(struct mase_values *v, struct mase_arena *a,
                                  const struct mase_graph *g, const struct mase_walk_plan *plan,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* As mase_values_walk, for nodes that were added to g since the last call; v begins as { .arena =
 * a, .index.arena = a }. */
enum mase_status mase_values_extend(struct mase_values *v, const struct mase_graph *g,
                                    const struct mase_walk_plan *plan,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* The placeholder n has neither an input nor a default: the message lists what g takes. */
enum mase_status mase_missing_input(const struct mase_graph *g, const struct mase_node *n,
                                    const struct mase_input *inputs, int input_count,
                                    struct mase_err *err);
/* The shape rule of a call, and a limit on what it may ask for. */
enum mase_status mase_call_apply_rule(struct mase_call *c, struct mase_err *err) MASE_MUST_CHECK;
/* As above, and check that its formats can divide its operands and results into blocks. */
enum mase_status mase_call_infer(struct mase_call *c, struct mase_err *err) MASE_MUST_CHECK;

/* Is it the one of mase_batch_sizes whose results are only compared with those of the others? */
static inline bool mase_batch_is_any(int size)
{
    return size == MASE_BATCH_SIZES - 1;
}

#endif /* MASE_IR_SHAPE_INFER_H */
