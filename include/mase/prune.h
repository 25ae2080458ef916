/*
 * prune.h - which weights of a network become zero, and when.
 *
 * A configuration ([passes.prune]) says how much of each layer goes, by what measure, and by
 * which schedule while the network is trained. The weights that may go are targets; a mask says of
 * each value whether it is kept. Who has the values asks for masks and carries them out: the pass
 * once, a trainer (train.h) again and again.
 *
 *     struct mase_pruning p;
 *     MASE_TRY(mase_prune_resolve(&p, options, err));
 *     MASE_TRY(mase_prune_targets(&list, &n, &a, graph, &p, err));
 *     for (int i = 0; i < n; i++)
 *         list[i].w = mase_f32(&list[i].param->tensor);
 *     mase_prune_masks(list, n, &p, 1.0, seed);       // list[i].kept
 *
 * Of n values round(sparsity n) go, those of the lowest score, of equal ones the first; what has
 * gone stays away. Scores are magnitudes, random numbers that depend on the seed and the name of
 * the parameter, or movement: the sum of -w dL/dw over the steps, large for weights that grow. A
 * channel's is the mean magnitude or the root of the mean square of its weights, and its bias goes
 * with it.
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

/* What a section says. */
struct mase_prune_opts {
    const struct mase_value *sparsity;            /* a number, or a table by node */
    const struct mase_value *weight, *activation; /* the original's tables */
    const char *method, *scope, *granularity, *unit;
    int64_t begin, end, every;
    double initial_sparsity;
};
extern const struct mase_opt mase_prune_rows[]; /* of [passes.prune] */

/* What it means. */
struct mase_pruning {
    enum mase_prune_method method;
    bool global;   /* scores of all layers are compared; else of each by itself */
    bool channels; /* channels of the output go as a whole; else single weights */
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
    int64_t count, channels; /* values; and the first dimension */
    double sparsity;
    int bias_of; /* the target whose channels decide; -1: its own scores do */
    /* for mase_prune_masks */
    const float *w;     // (count)
    const float *score; // (count), movement
    uint8_t *kept;      // (count), ones at first, in the arena
};
/* Weights of linear, convolutional and recurrent layers, each once. Errors name the node. */
enum mase_status mase_prune_targets(struct mase_prune_target **list, int *count,
                                    struct mase_arena *a, const struct mase_graph *g,
                                    const struct mase_pruning *p,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Clear what goes. progress: from 0, where initial_sparsity is wanted, to 1; between them the
 * sparsity follows the cubic curve of gradual pruning. */
void mase_prune_masks(struct mase_prune_target *list, int count, const struct mase_pruning *p,
                      double progress, uint64_t seed);

/* Values that are zero, of all. */
struct mase_sparsity {
    int64_t zeros, values;
};
struct mase_sparsity mase_tensor_sparsity(const struct mase_tensor *t);
/* Of the weights that could be pruned; parameters without values count nothing. */
struct mase_sparsity mase_graph_sparsity(const struct mase_graph *g);

MASE_API_END

#endif /* MASE_PRUNE_H */
