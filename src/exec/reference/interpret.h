/*
 * interpret.h - what running a program and folding its constants share.
 */
#ifndef MASE_EXEC_REFERENCE_INTERPRET_H
#define MASE_EXEC_REFERENCE_INTERPRET_H

#include <stdarg.h>

#include <mase/program.h>

#include "program/program_parts.h"

/* Compute one instruction: tensor[number] has data for its operands and gets some for its results,
 * all in the arena. */
enum mase_status mase_instr_run(const struct mase_instr *i, struct mase_arena *a,
                                struct mase_tensor **tensor, int64_t samples,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Run a concrete program of g: what every node gives. */
enum mase_status mase_program_run_nodes(struct mase_values *out, struct mase_arena *a,
                                        const struct mase_program *p, const struct mase_graph *g,
                                        const struct mase_input *inputs, int input_count,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The format of a rounding, with its learned numbers. */
const struct mase_format *mase_instr_format(const struct mase_instr *i,
                                            struct mase_tensor *const *tensor);
/* Does it give the same every time, and are all its operands known, tensor[number] being there? */
bool mase_instr_is_known(const struct mase_instr *i, struct mase_tensor *const *tensor);
/* The instruction as a call for one sample: shapes, and the values of what is known, known[number]
 * being there, of all that its program has. */
enum mase_status mase_instr_call(struct mase_pcall *k, const struct mase_instr *i,
                                 struct mase_arena *a, const struct mase_program *p,
                                 struct mase_tensor *const *known,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* "FROM: WHAT: ...": why what a node computes cannot be said in another way. from NULL: the
 * network. */
enum mase_status mase_refuse_node(struct mase_err *err, const char *from, const char *what,
                                  const char *fmt, va_list ap);
/* What an instruction does to the rows of one sample: the numbers of the rows of its first operand,
 * counted from 1, go through the reference; where they come out the rows do, and 0 is a new one. Of
 * a list of operands those of the next are counted on, of one that is there twice once. known has
 * the other operands, by number, as many as the program has values. */
enum mase_status mase_instr_rows(struct mase_tensor **out, const struct mase_instr *i,
                                 struct mase_arena *a, struct mase_tensor *const *known, int count,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EXEC_REFERENCE_INTERPRET_H */
