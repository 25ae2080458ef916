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

#endif /* MASE_EXEC_INTERPRET_H */
