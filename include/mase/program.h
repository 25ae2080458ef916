/*
 * program.h - what a network computes, as data: primitives over numbered values.
 *
 * A graph is what its author wrote; a program states what the graph computes, and leaves nothing
 * implicit. It has no modules, methods or defaults: a parameter is a value like any other, and
 * rounding to a number format is an instruction. Code that runs or emits a network reads its
 * program and need not know how layers consist of primitives.
 *
 *     mase-program 1
 *     name small
 *     %0 : f32[N, 16] = input x
 *     %1 : f32[N, 16] = round(%0) to integer(8, 4) signed data
 *     %2 : f32[5, 16] = param fc.weight
 *     %3 : f32[5, 16] = round(%2) to integer(8, 4) signed weight
 *     %4 : f32[5] = param fc.bias
 *     %5 : f32[5] = round(%4) to integer(8, 4) signed weight
 *     %6 : f32[N, 5] = dot.linear(%1, %3, %5) sum fixed(20, 8) from fc
 *     return %6
 *
 * N is the number of samples; a length may be N, N+1 (one more), Nx4 (four times as many), Nx4-1.
 * The text reads back to an equal program (mase_program_parse).
 */
#ifndef MASE_PROGRAM_H
#define MASE_PROGRAM_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/type.h>

MASE_API_BEGIN

struct mase_ptrmap;

enum mase_prim {
#define PRIM(name, help) MASE_PRIM_##name,
#include <mase/prims.def>
    MASE_PRIM_COUNT
};

struct mase_prim_info {
    const char *name, *help;
};
extern const struct mase_prim_info mase_prims[MASE_PRIM_COUNT];
/* The primitive that an operation lowers to; MASE_PRIM_COUNT when programs do not have the
 * operation. */
enum mase_prim mase_op_prim(enum mase_op op);
/* The first node that draws numbers whenever the graph runs, or NULL. */
const struct mase_node *mase_graph_draws(const struct mase_graph *g);

/* ---- values ---- */

enum mase_psource {
    MASE_PSOURCE_INPUT,
    MASE_PSOURCE_PARAM, /* a parameter or buffer of the graph */
    MASE_PSOURCE_CONST,
    MASE_PSOURCE_RESULT,
};

struct mase_pvalue {
    struct mase_node
        handle; /* must be first: an argument mentions a value by its handle, so arguments of
                   programs print, parse and resolve as those of graphs do */
    int number; /* index among the program's values */
    struct mase_ptype type;
    enum mase_psource source;
    const char *name;             /* of an input or parameter: x, fc.weight */
    struct mase_param *param;     /* the graph's, borrowed; NULL in a program that was parsed */
    const void *data;             /* of a constant, dense */
    struct mase_rounding rounded; /* the rounding that made it; format NULL: any float */
    struct mase_instr *made_by;
    const struct mase_instr *last_use; /* NULL: no instruction uses it, but it may be returned */
    bool returned;
};

/* ---- instructions ---- */

enum { MASE_RESULT = -1 }; /* the result, in place of the number of a parameter */

struct mase_instr {
    enum mase_prim prim;
    enum mase_op op; /* the operation of the primitive; unknown: round */
    /* Values and attributes, by the signature of op. Of round: the operand, then the learned
     * numbers of its format. */
    struct mase_arg *param;
    struct mase_pvalue **result;
    int result_count;
    const struct mase_arg *form; /* its results as the call gives them, one tensor or tuples, with
                                  * tensors that are NULL; NULL: the shape rule knows */
    bool no_grad;                /* no gradient passes the results */
    bool in_place;               /* the result is written into the first operand */
    const char *from;            /* name of the graph's node */
    const struct mase_node
        *node; /* the graph's node, borrowed; NULL in a program that was parsed */
    /* round: the format, NULL for a copy (formats_change); recur: the rounding of products, at each
     * time step */
    struct mase_rounding round;
    int round_rank; /* round: the number of dimensions that the operand is treated as having when it
                       is cut into blocks */
    int operand;    /* round: number of the node's parameter that is rounded, or MASE_RESULT */
    bool writes, kept; /* round: in float the node writes into it; with formats it does not */
    /* round of a bias at the scale of products: the roundings of the data and of the weight in
     * these products; turned: the outputs are the weight's second dimension. Else NULL. */
    const struct mase_instr *of[2];
    bool turned;
    /* For sums of products of fixed-point numbers: the fixed-point format that holds every sum,
     * bias included, so sums are exact in any order. Width 0: operands are not fixed-point, and
     * sums are float. */
    struct mase_integer_form sum;
    struct mase_instr *next;
};

struct mase_program {
    struct mase_arena arena;
    const char *name;
    bool training;
    struct mase_pvalue **value;
    int value_count, value_cap;
    struct mase_instr *first, *last;
    struct mase_arg output; /* the return value */
    struct mase_ptrmap
        *of_node; /* from nodes of the graph to results; NULL in a program that was parsed */
};

struct mase_lower_opts {
    const struct mase_input
        *inputs; /* one per placeholder: the first dimension is the batch; its length is not used */
    int input_count;
    bool training;       /* batch statistics, dropout; else evaluation */
    bool formats_change; /* every operand that may have a format has a round instruction, if only a
                            copy */
    bool concrete; /* lower for the lengths of the inputs: no length depends on N, so that networks
                      that mix or cut the samples of a batch have a program, too */
};
/* Lower a graph. The program borrows its parameters, so free the program first. Refused: a graph
 * with a length or attribute that is not a multiple of the number of samples plus a constant. */
enum mase_status mase_program_lower(struct mase_program **out, const struct mase_graph *g,
                                    const struct mase_lower_opts *opts,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_program_free(struct mase_program *p);
/* The result of a node of the lowered graph, with values for its tensors; NULL when it is not a
 * tensor and the program is not concrete. For a node that is written into later: the last value
 * written. */
const struct mase_arg *mase_program_result(const struct mase_program *p, const struct mase_node *n);
/* The result of a node if it is one tensor; NULL: it is not, or no instruction uses it. */
struct mase_pvalue *mase_program_value(const struct mase_program *p, const struct mase_node *n);

void mase_program_print(struct mase_str *out, const struct mase_program *p);
enum mase_status mase_program_parse(struct mase_program **out, const char *text, size_t size,
                                    const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* Check the rules of programs: one line to out (may be NULL) for each violation. Returns their
 * number. */
int mase_program_verify(const struct mase_program *p, struct mase_str *out);

struct mase_grad_opts {
    bool inputs; /* gradients of the inputs, too */
};
/* The gradient of a program, as a program that is independent of it but borrows the same
 * parameters: its instructions, then those that go back. It takes one more input for each tensor of
 * floats that the program returns, output.grad (then output.grad.1, ...): the gradient of what is
 * minimised by that tensor. It returns a dict of the gradients of the trained parameters by their
 * names (of a program that was parsed: of all parameters that are floats), and with inputs a tuple
 * of that dict and one of the inputs' gradients. What a value gets from several users is added up
 * in the order of plans: the last user's first. Instructions that neither a gradient nor a store
 * or check needs are left out. opts may be NULL. Refused: what programs cannot say a gradient of,
 * where one arrives. */
enum mase_status mase_program_grad(struct mase_program **out, const struct mase_program *p,
                                   const struct mase_grad_opts *opts,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Is there a rule by which gradients pass an operation? Does it stop them? Of an operation that
 * programs have, neither: its gradient is refused. */
bool mase_op_has_gradient(enum mase_op op);
bool mase_op_stops_gradient(enum mase_op op);

/* An instruction as a call for this number of samples, for shape rules and reference functions;
 * tensor[number] is the tensor of each value. Do not copy the struct: call points to node. */
struct mase_pcall {
    struct mase_call call;
    struct mase_node node;
};
void mase_pcall_init(struct mase_pcall *k, struct mase_arena *a, const struct mase_instr *i,
                     struct mase_tensor *const *tensor, int64_t samples);
/* Set the call's result, of the types that the instruction's results have. Where these do not say
 * what the call would give for so many samples, its shape rule does, or why it gives nothing. */
enum mase_status mase_pcall_infer(struct mase_pcall *k, const struct mase_instr *i, int64_t samples,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Store the tensors of an inferred call as those of the instruction's results. */
void mase_pcall_results(const struct mase_pcall *k, const struct mase_instr *i,
                        struct mase_tensor **tensor);
/* A copy of an argument with tensors in place of values. */
struct mase_arg mase_pcall_arg(struct mase_arena *a, const struct mase_arg *arg,
                               struct mase_tensor *const *tensor);

/* ---- the reference (exec/reference/interpret.c) ---- */

/* Run a program instruction by instruction, by the reference functions. Inputs are given by name,
 * with data. *out: the return value, allocated in a. */
enum mase_status mase_program_run(struct mase_arg *out, struct mase_arena *a,
                                  const struct mase_program *p, const struct mase_input *inputs,
                                  int input_count, struct mase_err *err) MASE_MUST_CHECK;
MASE_API_END

#endif /* MASE_PROGRAM_H */
