/*
 * verify.h - compare a quantised network emulated in float32, as it was trained, with its exact
 * integers, as it is deployed, value by value and node by node.
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
    int64_t differ;              /* values where the float is not the nearest to the exact number */
    int64_t first;               /* samples in which this node differs and no earlier node does */
    double most;                 /* the largest difference */
    int64_t differ_float_biases; /* differ and most, if biases were not rounded to the steps of */
    double most_float_biases;    /* products; equal to them when no bias is rounded */
    const char *why;             /* the cause, by measurement; NULL: nothing differs */
};

struct mase_verification {
    int64_t samples;
    int64_t outputs, differ; /* values of outputs, and those that differ */
    int64_t decisions;       /* samples whose largest output has another index */
    int rounded_biases;      /* layers whose bias the integers round to the scale of products */
    int64_t differ_float_biases, decisions_float_biases; /* if biases were not rounded */
    struct mase_verified_node *node;
    int count;
    double seconds;
};

/* Compare on rows of a dataset. A graph with weights whose formats lack integer codes is refused as
 * by mase_int_program_new. Results are allocated in a. */
enum mase_status mase_verify(struct mase_verification *v, struct mase_arena *a,
                             struct mase_graph *g, const struct mase_dataset *d,
                             struct mase_split_rows rows, struct mase_err *err) MASE_MUST_CHECK;

/* The nodes of a verification as a list of tables, for records and programs. */
struct mase_value;
struct mase_value *mase_verification_nodes(struct mase_arena *a, const struct mase_verification *v);

MASE_API_END

#endif /* MASE_VERIFY_H */
