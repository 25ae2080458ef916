/*
 * interpret.h - what running a program and folding its constants share.
 */
#ifndef MASE_EXEC_INTERPRET_H
#define MASE_EXEC_INTERPRET_H

#include <mase/program.h>

/* Compute one instruction: tensor[number] has data for its operands and gets some for its results,
 * all in the arena. */
enum mase_status mase_instr_run(const struct mase_instr *i, struct mase_arena *a,
                                struct mase_tensor **tensor, int64_t samples,
                                struct mase_err *err) MASE_MUST_CHECK;
/* What a rounding rounds to, with what its format has learned. */
const struct mase_format *mase_instr_format(const struct mase_instr *i,
                                            struct mase_tensor *const *tensor);
/* Does it give the same every time, and are all its operands known, tensor[number] being there? */
bool mase_instr_is_known(const struct mase_instr *i, struct mase_tensor *const *tensor);

#endif /* MASE_EXEC_INTERPRET_H */
