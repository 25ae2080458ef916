/*
 * lowering.h - the state of a lowering, shared by lower.c and lower_end.c.
 */
#ifndef MASE_PROGRAM_LOWERING_H
#define MASE_PROGRAM_LOWERING_H

#include "base/ptrmap.h"
#include "program/program_parts.h"

/* A buffer and its value for the next batch. */
struct stored {
    struct mase_pvalue *buffer, *value;
    const struct mase_node *node; /* that wrote it */
};

struct lowering {
    struct mase_program *p;
    struct mase_arena scratch; /* calls, tensors and what is found by them */
    const struct mase_graph *g;
    const struct mase_lower_opts *opts;
    struct mase_values v[MASE_BATCH_SIZES];
    const struct mase_arg *const *known[MASE_BATCH_SIZES]; /* by position; NULL: infer */
    bool has_written; /* a value that others see, since when known results may be of before */
    struct mase_ptrmap value_of; /* from tensors for the first number of samples, and parameters */
    int position;                /* of the current node */
    struct stored *stored;
    int stored_count, stored_cap;
};

/* The call writes into a buffer: the next batch of training finds it. */
enum mase_status mase_lowering_note_stored(struct lowering *low, const struct mase_lowered *l,
                                           struct mase_err *err) MASE_MUST_CHECK;
/* After the last node: add stores of buffers, map nodes to their values, find learned numbers of
 * formats. */
enum mase_status mase_lowering_end(struct lowering *low, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PROGRAM_LOWERING_H */
