/*
 * ref_derived.h - the reference of the instructions that only gradients have.
 */
#ifndef MASE_EXEC_REFERENCE_REF_DERIVED_H
#define MASE_EXEC_REFERENCE_REF_DERIVED_H

#include <mase/program.h>

/* slope, slope_y: out has memory for the derivative, k is the instruction as a call whose shape
 * rule has succeeded. */
enum mase_status mase_ref_slope(struct mase_tensor *out, struct mase_call *c, bool second,
                                struct mase_err *err) MASE_MUST_CHECK;
/* adjoint: c's first operand has the shape of out but no data; dy goes back through the call. */
enum mase_status mase_ref_adjoint(struct mase_tensor *out, struct mase_call *c,
                                  const struct mase_tensor *dy,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* round_back to this format, which has learned value[] if it learns: dx, and what is learned
 * gets. */
struct mase_rounding_back {
    const struct mase_rounding *how;
    int rank; /* as round has it */
    const struct mase_tensor *dy, *x, *value[MASE_LEARNED_MAX];
    struct mase_tensor *dx, *dvalue[MASE_LEARNED_MAX];
};
void mase_ref_round_back(const struct mase_rounding_back *r, struct mase_arena *a);

#endif /* MASE_EXEC_REFERENCE_REF_DERIVED_H */
