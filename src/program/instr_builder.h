/*
 * instr_builder.h - instructions written one after the other, like expressions:
 *
 *     struct mase_instr_builder b = { .p = p, .err = err };
 *     struct mase_arg d = mase_expr(&b, MASE_OP_sub, end, x);
 *     struct mase_arg y = mase_expr(&b, MASE_OP_mul, d, weight);
 *
 * Each has the type that its operation's shape rule finds. After a failure the rest does nothing
 * and gives None; whoever ends returns b.status.
 */
#ifndef MASE_PROGRAM_INSTR_BUILDER_H
#define MASE_PROGRAM_INSTR_BUILDER_H

#include "program/program_parts.h"

struct mase_instr_builder {
    struct mase_program *p;
    struct mase_err *err;
    enum mase_status status;
    const char *from;             /* the node that the instructions are for, and */
    const struct mase_node *node; /* itself; both may be NULL */
};

/* Write op with these operands and default attributes; result[0..count) are its first results. */
void mase_expr_results(struct mase_instr_builder *b, enum mase_op op, const struct mase_arg *arg,
                       int args, struct mase_arg *result, int count);
/* Its only result. */
struct mase_arg mase_expr_call(struct mase_instr_builder *b, enum mase_op op,
                               const struct mase_arg *arg, int args);
#define mase_expr(b, op, ...)                                 \
    mase_expr_call(b, op, (struct mase_arg[]){ __VA_ARGS__ }, \
                   (int)(sizeof((struct mase_arg[]){ __VA_ARGS__ }) / sizeof(struct mase_arg)))
/* An instruction of this primitive and operation with all its parameters, whose results have these
 * types. */
struct mase_instr *mase_expr_instr(struct mase_instr_builder *b, enum mase_prim prim,
                                   enum mase_op op, const struct mase_arg *param,
                                   const struct mase_ptype *type, int results);

struct mase_arg mase_expr_tuple(struct mase_instr_builder *b, const struct mase_arg *item,
                                int count);
struct mase_arg mase_expr_ints(struct mase_instr_builder *b, const int64_t *v, int count);
/* A length as an argument: a number, or what it is times N. */
struct mase_arg mase_expr_length(struct mase_instr_builder *b, struct mase_extent e);
/* The lengths of a type as a tuple. */
struct mase_arg mase_expr_sizes(struct mase_instr_builder *b, const struct mase_ptype *t);
/* Vector of integers or tensor of floats that are part of the program. */
struct mase_arg mase_expr_constant(struct mase_instr_builder *b, enum mase_dtype dtype,
                                   const struct mase_shape *shape, const double *v);

/* ---- in other shapes ---- */

struct mase_arg mase_expr_reshape(struct mase_instr_builder *b, struct mase_arg x,
                                  const struct mase_ptype *t);
struct mase_arg mase_expr_permute(struct mase_instr_builder *b, struct mase_arg x,
                                  const int *order);
/* The last two dimensions swapped. */
struct mase_arg mase_expr_transpose(struct mase_instr_builder *b, struct mase_arg x);
/* Elements start to start + length of a dimension. */
struct mase_arg mase_expr_narrow(struct mase_instr_builder *b, struct mase_arg x, int dim,
                                 struct mase_extent start, struct mase_extent length);
/* Zeros around x, so that it becomes of this type and begins at `start` of a dimension. */
struct mase_arg mase_expr_embed(struct mase_instr_builder *b, struct mase_arg x, int dim,
                                struct mase_extent start, const struct mase_ptype *t);
struct mase_arg mase_expr_zeros(struct mase_instr_builder *b, const struct mase_ptype *t);
struct mase_arg mase_expr_unsqueeze(struct mase_instr_builder *b, struct mase_arg x, int dim);
/* The sum over leading and broadcast dimensions that leaves this type. */
struct mase_arg mase_expr_sum_to(struct mase_instr_builder *b, struct mase_arg x,
                                 const struct mase_ptype *t);
/* Dimensions from .. to - 1 become one; false: there are not so many, or their product does not
 * follow N by a factor and an offset. */
bool mase_ptype_merge(struct mase_ptype *t, int from, int to);

/* The type of a value; that of a scalar after a failure. */
const struct mase_ptype *mase_type_of(const struct mase_arg *a);

#endif /* MASE_PROGRAM_INSTR_BUILDER_H */
