/*
 * program_parts.h - what the files of this layer share.
 */
#ifndef MASE_PROGRAM_PROGRAM_PARTS_H
#define MASE_PROGRAM_PROGRAM_PARTS_H

#include <mase/program.h>

struct mase_program *mase_program_new(const char *name, bool training);
struct mase_pvalue *mase_program_add_value(struct mase_program *p, enum mase_psource source,
                                           const struct mase_ptype *type, const char *name);
struct mase_instr *mase_program_add_instr(struct mase_program *p, enum mase_prim prim,
                                          enum mase_op op, int results);
/* Room for the parameters of what it is now. */
void mase_instr_set_op(struct mase_program *p, struct mase_instr *i, enum mase_prim prim,
                       enum mase_op op);
/* The value that an argument mentions. */
static inline struct mase_pvalue *mase_pvalue_of(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_NODE ? (struct mase_pvalue *)a->node : NULL;
}
static inline struct mase_arg mase_pvalue_arg(struct mase_pvalue *v)
{
    return mase_arg_node(&v->handle);
}
/* Every value that an argument mentions, in order. */
typedef void mase_each_pvalue_fn(struct mase_pvalue *v, void *data);
void mase_each_pvalue(const struct mase_arg *a, mase_each_pvalue_fn *fn, void *data);
/* Number the values in the order of the text, dropping those that nothing mentions but inputs, and
 * find last uses. */
void mase_program_renumber(struct mase_program *p);
/* Drop instructions that neither the return nor an effect needs, and number the rest; returns how
 * many. */
int mase_program_drop_unused(struct mase_program *p);
/* Does any number in it depend on the number of samples? */
bool mase_arg_follows_samples(const struct mase_arg *a);
/* The parameters of an instruction: of its operation's signature; of round, what it rounds and what
 * its format learns. */
int mase_instr_params(const struct mase_instr *i);

/* "N", "Nx4-1" as an atom of an argument; false when it is no extent. */
bool mase_extent_parse(const char *atom, struct mase_extent *e);
const char *mase_extent_text(struct mase_arena *a, struct mase_extent e);
void mase_ptype_print(struct mase_str *out, const struct mase_ptype *t);

/* ---- lowering (lower.c, lower_ops.c) ---- */

/* A call on its way: the same for several numbers of samples, and what it becomes. */
struct mase_lowered {
    struct mase_program *program;
    struct mase_call *call; /* (MASE_BATCH_SIZES) */
    enum mase_prim prim;
    enum mase_op op;
    struct mase_arg param[MASE_MAX_PARAMS]; /* of op */
    bool alias; /* nothing to compute: the result is the first parameter */
};
typedef enum mase_status mase_lower_fn(struct mase_lowered *l, struct mase_err *err);
#define LOWER(rule) mase_lower_fn mase_lower_##rule;
#include <ops/lowerings.def>
mase_lower_fn *mase_lower_rule(enum mase_op op); /* NULL: the operation gives no tensors */
/* The argument that stands for a tensor of the call for the smallest batch. */
struct mase_arg mase_lowered_tensor(struct mase_lowered *l, const struct mase_tensor *t,
                                    const char *param);
/* An instruction of its own before the call's, with one result. */
struct mase_pvalue *mase_lowered_emit(struct mase_lowered *l, enum mase_op op,
                                      const struct mase_arg *param, const struct mase_ptype *type);
/* The blocks that a round cuts its operand into: of a weight, or of one sample. */
int64_t mase_instr_blocks(const struct mase_instr *round);
/* The products that a bias is added to, for an instruction that rounds it at their scale. */
struct mase_products;
void mase_instr_products(struct mase_products *p, const struct mase_instr *i);
/* A value rounded for the call's parameter; no format: the value itself. */
struct mase_arg mase_lowered_round(struct mase_lowered *l, struct mase_arg value, int param,
                                   struct mase_rounding how);
/* Its lengths as an argument; those that follow the samples as N. */
struct mase_arg mase_lowered_sizes(struct mase_lowered *l, const struct mase_ptype *type);
/* The type of the tensors that one result is for each batch. */
enum mase_status mase_lowered_type(struct mase_ptype *type,
                                   const struct mase_tensor *const t[MASE_BATCH_SIZES],
                                   const struct mase_node *n, struct mase_err *err) MASE_MUST_CHECK;

/* The types of an instruction's results, in a: what its shape rule finds for those numbers of
 * samples. node: which messages name. (instr_builder.c) */
enum mase_status mase_instr_types(const struct mase_program *p, const struct mase_instr *i,
                                  const struct mase_node *node, struct mase_arena *a,
                                  struct mase_ptype **type, int *count,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- instructions that only gradients have (slope.c) ---- */

/* Is it one of them, named by an operation? round_back is not: it is written as round is. */
bool mase_prim_is_derived(enum mase_prim prim);
/* Does the primitive derive something of this operation? */
bool mase_prim_derives(enum mase_prim prim, enum mase_op op);
/* The type of slopes of an instruction with these parameters. */
struct mase_ptype mase_slope_type(const struct mase_instr *i);

/* ---- sums (sum_width.c) ---- */

/* The form that holds every sum of the instruction; width 0: its operands are not all integers. */
struct mase_integer_form mase_instr_sum(const struct mase_instr *i);

#endif /* MASE_PROGRAM_PROGRAM_PARTS_H */
