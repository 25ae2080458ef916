/*
 * graph_types.h - the shapes of a whole graph for any number of samples, found once.
 *
 * The shape rules run for each call in batches of mase_batch_sizes. What they find is kept with the
 * graph until its nodes, modules or attributes are edited, and goes over to its clones; number
 * formats do not change shapes. Whoever asks for shapes (mase_infer_shapes, lowering, cuts of the
 * batch) is answered from it.
 *
 * The results are those of every batch if they hold (mase_graph_types_at). They need not: x[2:]
 * fails for one sample, x.sum(0) knows nothing of them, squeeze() drops a batch of one. Then the
 * rules run again for the batch at hand.
 */
#ifndef MASE_IR_SHAPE_GRAPH_TYPES_H
#define MASE_IR_SHAPE_GRAPH_TYPES_H

#include <mase/call.h>
#include <mase/type.h>

struct mase_graph_types {
    struct mase_arena arena;       /* of its own; the struct lies in it, too */
    struct mase_graph_types *next; /* of other inputs, such as those of another type */
    uint64_t shape_edits;          /* of the graph when they were found */
    struct mase_input *inputs;     /* in a batch of any size */
    int input_count, node_count;
    /* [size][position of the node]: NULL where a rule refuses, or has no operands */
    const struct mase_arg **result[MASE_BATCH_SIZES];
    bool any_batch; /* every result is a batch of samples, or does not depend on them */
    bool drops_one; /* but for a batch of one sample */
    int cut;        /* position of the first node that takes a part of the samples; -1: none */
};

/* The inputs have the samples first; their number does not matter. Valid until the graph is edited,
 * or asked about many other inputs. */
const struct mase_graph_types *mase_graph_types(const struct mase_graph *g,
                                                const struct mase_input *inputs, int count);
/* As mase_graph_types, with results that the caller found by these rules: v[s] of
 * mase_batch_sizes[s]. */
const struct mase_graph_types *mase_graph_types_set(const struct mase_graph *g,
                                                    const struct mase_input *inputs, int count,
                                                    struct mase_values v[MASE_BATCH_SIZES]);
/* The result of each node, by position, in a batch of so many samples; NULL: they may be others.
 * In a; results that are one tensor in the graph are one there. */
const struct mase_arg **mase_graph_types_at(const struct mase_graph_types *t, struct mase_arena *a,
                                            int64_t samples);
/* As above for inputs with so many samples, if all have as many. */
const struct mase_arg **mase_graph_results(const struct mase_graph *g, struct mase_arena *a,
                                           const struct mase_input *inputs, int count);

/* Are there calls of it that fail where samples are few, though their results have them all? */
bool mase_op_bounds_samples(enum mase_op op);

/* For mase_graph_clone: copy the types of src to g. */
void mase_graph_types_copy(struct mase_graph *g, const struct mase_graph *src);
void mase_graph_types_free(const struct mase_graph *g);

/* batch.c: the first node of g that takes a part of the samples, by position; -1: none does. */
int mase_find_cut(const struct mase_graph *g, struct mase_values v[MASE_BATCH_SIZES]);

#endif /* MASE_IR_SHAPE_GRAPH_TYPES_H */
