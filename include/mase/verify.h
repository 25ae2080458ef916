/*
 * verify.h - a quantised network twice: emulated in float32, as it was trained, and in exact
 * integers, as it will be deployed. Value by value, node by node.
 *
 *     MASE_TRY(mase_verify(&v, &arena, graph, dataset, rows, err));
 *     if (v.differ == 0)
 *         puts("what is deployed is what was trained");
 */
#ifndef MASE_VERIFY_H
#define MASE_VERIFY_H

#include <mase/api.h>
#include <mase/dataset.h>
#include <mase/int_program.h>

MASE_API_BEGIN

struct mase_verified_node {
    const struct mase_node *node;
    bool codes;                  /* integers; else floats before the first rounding */
    int bits;                    /* of the widest code */
    int64_t values;              /* compared */
    int64_t differ;              /* of them: the float is not the nearest to the exact number */
    int64_t first;               /* samples in which it differs and nothing before it does */
    double most;                 /* the largest difference */
    int64_t differ_float_biases; /* both, had the integers not rounded biases to the steps of */
    double most_float_biases;    /* products; where they round none, as above */
    const char *why;             /* by what was measured; NULL: nothing differs */
};

struct mase_verification {
    int64_t samples;
    int64_t outputs, differ; /* numbers that come out, and those that are not the same */
    int64_t decisions;       /* samples whose largest output is another */
    int rounded_biases;      /* layers whose bias the integers round to the scale of products */
    int64_t differ_float_biases, decisions_float_biases; /* had they not */
    struct mase_verified_node *node;
    int count;
    double seconds;
};

/* The graph has weights and formats with integer codes; else it is refused as mase_int_program_new
 * does. What is found lies in the arena. */
enum mase_status mase_verify(struct mase_verification *v, struct mase_arena *a,
                             struct mase_graph *g, const struct mase_dataset *d,
                             struct mase_split_rows rows, struct mase_err *err) MASE_MUST_CHECK;

/* Its nodes as a list of tables, for records and programs. */
struct mase_value;
struct mase_value *mase_verification_nodes(struct mase_arena *a, const struct mase_verification *v);

MASE_API_END

#endif /* MASE_VERIFY_H */
