/*
 * grad.h - what the rules of gradients (grad_*.c) are given: mase_back_* of the GRAD column of
 * ops.def.
 *
 * A rule is called with an instruction some of whose results have a gradient. It writes
 * instructions that make the gradients of the operands which are wanted, and gives them away:
 *
 *     void mase_back_zip(struct mase_backward *k)
 *     {
 *         const struct mase_arg dy = mase_grad_result(k, 0);
 *         for (int i = 0; i < 2; i++)
 *             mase_grad_give(k, &k->i->param[i], mase_g(k, mul, dy, mase_grad_slope(k, i)));
 *     }
 */
#ifndef MASE_PROGRAM_GRAD_H
#define MASE_PROGRAM_GRAD_H

#include "program/instr_builder.h"

struct mase_backward {
    struct mase_instr_builder b; /* of the joint program */
    const struct mase_instr *i;  /* the forward instruction that is differentiated */
    struct mase_arena scratch;
    int values;          /* of the forward part; by number: */
    bool *wanted;        /* does a gradient pass from it to something that is asked for? */
    struct mase_arg *of; /* its gradient so far, or None */
};

typedef void mase_back_fn(struct mase_backward *k);
#define GRAD(rule) mase_back_fn mase_back_##rule;
#include <ops/gradients.def>
mase_back_fn mase_back_round;              /* of round, which is no row of ops.def */
mase_back_fn mase_back_map, mase_back_zip; /* and of rows that write out their slopes */

/* By the operation's own rule, or by the slopes that its row writes out; NULL: there is none. */
mase_back_fn *mase_back_rule(enum mase_op op);

/* The gradient of a result, or None. */
struct mase_arg mase_grad_result(const struct mase_backward *k, int result);
/* The parameter that has this name in the signature. */
struct mase_arg mase_grad_param(const struct mase_backward *k, const char *name);
/* A flag among them; an integer; a number. */
bool mase_grad_flag(const struct mase_backward *k, const char *name);
int64_t mase_grad_int(const struct mase_backward *k, const char *name, int64_t otherwise);
double mase_grad_number(const struct mase_backward *k, const char *name, double otherwise);
bool mase_grad_wants(const struct mase_backward *k, const struct mase_arg *operand);
/* g, or its sum over broadcast dimensions, is a part of the operand's gradient. Parts are added up
 * in the order in which they are given: later instructions first, of one its parameters in order.
 */
void mase_grad_give(struct mase_backward *k, const struct mase_arg *operand, struct mase_arg g);
/* The instruction as a call for the batch that stands for any number of samples, with shapes only:
 * what the rules of ir/shape read. In k->scratch. */
struct mase_call *mase_grad_call(struct mase_backward *k);
/* This cannot be said: the message names node and operation. */
void mase_grad_refuse(struct mase_backward *k, const char *why);
/* A dimension as a number from 0 on. */
int mase_grad_axis(const struct mase_backward *k, const char *name, int rank);

/* ---- instructions that only gradients have ---- */

/* The derivative of the instruction's function by operand 0 or 1. */
struct mase_arg mase_grad_slope(struct mase_backward *k, int operand);
/* The transpose of the instruction, which is linear in its first operand, applied to dy. */
struct mase_arg mase_grad_adjoint(struct mase_backward *k, struct mase_arg dy);

/* The instructions written after `before` compute the results of the instruction; differentiate
 * them instead. */
void mase_grad_expand(struct mase_backward *k, const struct mase_instr *before,
                      const struct mase_arg *result, int results);

/* Short for mase_expr of the rule's program. */
#define mase_g(k, op, ...) mase_expr(&(k)->b, MASE_OP_##op, __VA_ARGS__)

#endif /* MASE_PROGRAM_GRAD_H */
