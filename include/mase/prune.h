/*
 * prune.h - which weights of a network become zero, and when.
 *
 * A configuration ([passes.prune]) says which share of each layer is removed, by which score, and
 * by which schedule during training. Parameters that may lose values are targets; a mask says of
 * each value whether it is kept. The pass computes masks and applies them once, a trainer (train.h)
 * at intervals.
 *
 *     struct mase_pruning p;
 *     MASE_TRY(mase_prune_resolve(&p, options, err));
 *     MASE_TRY(mase_prune_targets(&list, &n, &a, graph, &p, err));
 *     for (int i = 0; i < n; i++)
 *         list[i].w = mase_f32(&list[i].param->tensor);
 *     mase_prune_masks(list, n, &p, 1.0, seed);       // list[i].kept
 *
 * Of n values round(sparsity n) are removed, those of the lowest score, of equal scores the first;
 * a removed value stays removed. Scores are magnitudes, random numbers that depend on the seed and
 * the name of the parameter, or movement: the sum of -w dL/dw over the steps, which is large for
 * weights that grow. The score of a channel is the mean magnitude or the root mean square of its
 * weights, and its bias is removed with it.
 */
#ifndef MASE_PRUNE_H
#define MASE_PRUNE_H

#include <mase/api.h>
#include <mase/graph.h>
#include <mase/value.h>

MASE_API_BEGIN

enum mase_prune_method {
    MASE_PRUNE_RANDOM,
    MASE_PRUNE_L1,
    MASE_PRUNE_L2,
    MASE_PRUNE_MOVEMENT,
    MASE_PRUNE_METHOD_COUNT
};
extern const char *const mase_prune_methods[]; /* "random", "l1-norm", "l2-norm", "movement" */

/* The options of a section. */
struct mase_prune_opts {
    const struct mase_value *sparsity;            /* a number, or a table by node */
    const struct mase_value *weight, *activation; /* the original's tables */
    const char *method, *scope, *granularity, *unit;
    int64_t begin, end, every;
    double initial_sparsity;
};
extern const struct mase_opt mase_prune_rows[]; /* of [passes.prune] */

/* The options, checked and converted. */
struct mase_pruning {
    enum mase_prune_method method;
    bool global;   /* compare the scores of all layers; else those of each layer by itself */
    bool channels; /* remove whole output channels; else single weights */
    double sparsity;
    const struct mase_value *shares; /* by node, where they differ; or NULL */
    /* in training */
    bool by_steps; /* begin, end and every count steps; else epochs */
    int64_t begin, end, every;
    double initial_sparsity;
};
/* Texts and tables are borrowed. */
enum mase_status mase_prune_resolve(struct mase_pruning *p, const struct mase_prune_opts *o,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* A parameter that loses values. */
struct mase_prune_target {
    const char *name; /* "seq_blocks.2.weight" */
    const struct mase_node *node;
    struct mase_param *param;
    int64_t count, channels; /* number of values; length of the first dimension */
    double sparsity;
    int bias_of; /* index of the target whose channels decide; -1: its own scores */
    /* for mase_prune_masks */
    const float *w;     // (count)
    const float *score; // (count), movement
    uint8_t *kept;      // (count): all 1 at first, in the arena
};
/* List the weights of linear, convolutional and recurrent layers, each once. Errors name the node.
 */
enum mase_status mase_prune_targets(struct mase_prune_target **list, int *count,
                                    struct mase_arena *a, const struct mase_graph *g,
                                    const struct mase_pruning *p,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Clear kept[] for values to remove. progress goes from 0, where the sparsity is initial_sparsity,
 * to 1; between them the sparsity follows the cubic curve of gradual pruning. */
void mase_prune_masks(struct mase_prune_target *list, int count, const struct mase_pruning *p,
                      double progress, uint64_t seed);

/* The number of values that are zero, and of all values. */
struct mase_sparsity {
    int64_t zeros, values;
};
struct mase_sparsity mase_tensor_sparsity(const struct mase_tensor *t);
/* The sparsity of all weights that can be pruned; parameters without data are left out. */
struct mase_sparsity mase_graph_sparsity(const struct mase_graph *g);

MASE_API_END

#endif /* MASE_PRUNE_H */
