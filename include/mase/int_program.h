/*
 * int_program.h - a quantised network in integers.
 *
 * An integer program is made from a program (program.h) whose data and weights are rounded to
 * formats with integer codes. It computes the program in real arithmetic: sums of products are
 * exact, in any order, and no value is rounded but where the program says so. Every code has
 * bounds, found from formats and weights, so no accumulator can overflow.
 *
 * A value is rows of codes, one row for each number of a sample. What a code of a row stands for is
 * its meaning:
 *
 *     v = (code step / parts + bias) scale + shift,  and max(v, 0) where relu
 *
 * Bias, batch norm, relu and division by a count change the meaning and need no instruction; the
 * next rounding applies the meaning exactly. Where all steps are powers of two, or the weights
 * share a factor, a rounding is
 *
 *     clamp(round((code mul + add) / div), lo, hi)           in integers
 *
 * in the direction of the format. Where a step is any number (scaled integers), a rounding is that
 * of ONNX Runtime, in float32:
 *
 *     clamp(round(fma(code, factor, offset)), lo, hi)        to nearest, ties to even
 *
 * and a bias there is an integer, at the scale of the products. Before the first rounding the
 * samples are floats; batch norm and relu on them are float32, as in plans.
 */
#ifndef MASE_INT_PROGRAM_H
#define MASE_INT_PROGRAM_H

#include <mase/api.h>
#include <mase/format.h>
#include <mase/plan.h>
#include <mase/program.h>

MASE_API_BEGIN

/* ---- what integers stand for ---- */

/* The number that a code stands for: (code step / parts + bias) scale + shift, and at least 0 where
 * relu. */
struct mase_meaning {
    double step; /* above 0 */
    int64_t parts;
    float bias, scale, shift; /* 0, 1, 0: the code times step / parts is the number */
    bool scaled;              /* the step is no power of two times an integer */
    bool relu;
};

/* What a row is rounded to: multiples of a step. */
struct mase_int_format {
    double step;
    int64_t lo, hi;
    int direction; /* enum mase_direction, of those that draw no random number, or MASE_TO_SIGN */
    bool scaled;
};
/* A direction beside those of number formats: 1 from zero on, else -1. */
enum { MASE_TO_SIGN = MASE_BY_CHANCE + 1 };

/* Integers of so many bits, the sign among them; in two's complement. */
struct mase_int_type {
    int width;
    bool is_signed;
};
/* The narrowest type that holds lo..hi: at least one bit, and a sign if lo is below 0. */
struct mase_int_type mase_int_type_of(int64_t lo, int64_t hi);

/* ---- instructions ---- */

enum mase_int_op {
    MASE_INT_OP_AFFINE, /* floats: fma(x, scale, shift), then max(x, 0) if relu */
    MASE_INT_OP_ENCODE, /* floats to codes */
    MASE_INT_OP_SUM,    /* sums of products with constant integers, plus constant integers */
    MASE_INT_OP_ROUND,  /* codes to codes, in integers */
    MASE_INT_OP_SCALE,  /* codes to codes, in float32 */
    MASE_INT_OP_TABLE,  /* codes to codes by a table */
    MASE_INT_OP_MAX,    /* the largest of some rows */
    MASE_INT_OP_PICK,   /* rows in another order, some twice or not at all */
    MASE_INT_OP_COUNT
};
extern const char *const mase_int_op_names[];

/* Which rows a sum or a maximum reads. Lists of rows always say so; where the lists have one of
 * these patterns, the lowering has found that, and a back end can have loops instead. */
enum mase_int_access {
    MASE_INT_ACCESS_LIST,   /* none of the patterns below */
    MASE_INT_ACCESS_ROWS,   /* the rows of the operand in their order: group after group, position
                             * after position, input after input */
    MASE_INT_ACCESS_WINDOW, /* a convolution: input k of group g is element k % area of the window
                             * on channel g * channels + k / area; zero beside the channel */
    MASE_INT_ACCESS_POOL,   /* group g, or channel g of a maximum, reads the elements of the window
                             * on channel g that lie in the channel. In a sum all weights are 1, and
                             * all biases 0 */
    MASE_INT_ACCESS_PAIRS   /* group g reads row g of in[0] and row g of in[1] */
};
extern const char *const mase_int_access_names[];
/* A window on the rows and columns (y, x) of a channel. Channels lie one after the other. */
struct mase_int_window {
    int64_t in[2], out[2]; /* sizes of a channel, and how many positions there are */
    int64_t kernel[2], stride[2], dilation[2];
    int64_t pad[2]; /* before the first element */
};
/* The rows of a channel under the window at a position, (kernel[0] * kernel[1]); -1: beside it. */
void mase_int_window_rows(int64_t *row, const struct mase_int_window *w, int64_t position);

/* y[g m + o][p] = bias[g m + o] + sum over k of weight[g m + o][k] x[from[g][p][k]], where m is
 * `outputs`; row o, p of the result is o * output_stride + p * position_stride. `from` holds rows
 * of memory, so a sum may read several values. */
struct mase_int_sum {
    int64_t groups, outputs, inputs, positions;
    int64_t output_stride, position_stride;
    const int32_t *from;   // (groups, positions, inputs); -1: zero
    const int64_t *weight; // (groups * outputs, inputs)
    const int64_t *bias;   // (groups * outputs)
    enum mase_int_access access;
    const struct mase_int_window *window; /* of WINDOW and POOL */
};

/* clamp(round((x mul + add) / div), lo, hi). The quotient has no end of digits; the direction
 * rounds it once. */
struct mase_int_round {
    int64_t mul, add, div, lo, hi; /* div above 0 */
    int direction;                 /* as of a format */
};

/* clamp(rint(fma(x, factor, offset)), lo, hi) in float32: to nearest, ties to even. */
struct mase_int_scale {
    float factor, offset;
    int64_t lo, hi;
};

/* Rows share tables: row r uses code[table[r]], whose first entry is for the code lo[table[r]]. */
struct mase_int_table {
    int count;
    int32_t *table;       // (rows)
    int64_t *lo, *length; // (count)
    int64_t **code;
};

/* Row r of a maximum is made of from[first[r]] to before from[first[r + 1]], rows of memory. Row r
 * of a pick is row from[r] of memory; -1: zero. */
struct mase_int_rows {
    const int64_t *first; // (rows + 1); NULL: of a pick
    const int32_t *from;
    enum mase_int_access access;          /* LIST or POOL of a maximum */
    const struct mase_int_window *window; /* of POOL */
};

struct mase_int_value {
    const struct mase_pvalue *of; /* the value of the program; NULL: an intermediate value */
    const char *from;             /* the graph's node */
    bool codes;                   /* else floats */
    int64_t rows;
    int64_t at; /* its first row in memory; values with equal codes share rows */
    const struct mase_meaning *meaning; // (rows), of codes
    const int64_t *lo, *hi;             // (rows): bounds of the codes
};

enum { MASE_INT_OPERANDS_MAX = 16 };
struct mase_int_instr {
    enum mase_int_op op;
    const struct mase_int_value *in[MASE_INT_OPERANDS_MAX], *out;
    int in_count; /* several of a sum and of a pick */
    union {
        struct {
            const float *scale, *shift; // (rows)
            bool relu;
        } affine;
        const struct mase_int_format *encode; // (rows)
        struct mase_int_sum sum;
        const struct mase_int_round *round; // (rows)
        const struct mase_int_scale *scale; // (rows)
        struct mase_int_table table;
        struct mase_int_rows rows; /* of max and pick */
    } u;
    const struct mase_int_instr *next;
};

/* The narrowest type of all codes of a value. */
struct mase_int_type mase_int_value_type(const struct mase_int_value *v);
/* The bits of a value's widest row, with a sign if that row has one. */
int mase_int_value_bits(const struct mase_int_value *v);
/* The narrowest type that holds every sum of an instruction, whatever the order of its terms, and
 * every product. */
struct mase_int_type mase_int_sum_type(const struct mase_int_instr *sum);
struct mase_int_type mase_int_weight_type(const struct mase_int_instr *sum);
/* The narrowest type that holds x mul + add, with room to add or subtract div. */
struct mase_int_type mase_int_round_type(const struct mase_int_instr *round);

/* ---- programs ---- */

struct mase_int_program {
    struct mase_arena arena;
    struct mase_program *program;
    const struct mase_int_instr *first, *last;
    struct mase_int_value **value; /* by the number of the program's value; NULL: none */
    const struct mase_int_value *input, *output;
    struct mase_shape result;     /* of one sample */
    int64_t rows;                 /* of all values together */
    struct mase_int16_plan *fast; /* how vector kernels run it; NULL: one number at a time */
    struct mase_int_dense *dense; /* how kernels run it sample by sample; NULL: they cannot */
    int rounded_biases;           /* layers whose bias was rounded to the scale of their products */
};

/* Make the integer program of a graph with weights; the program borrows the graph. A node without
 * integer codes, or with sums beyond 62 bits, is refused by its name. */
enum mase_status mase_int_program_new(struct mase_int_program **out, struct mase_graph *g,
                                      const struct mase_input *inputs, int input_count,
                                      struct mase_err *err) MASE_MUST_CHECK;
void mase_int_program_free(struct mase_int_program *e);

/* Memory to run an integer program on at most `samples` samples at once. Several runners of one
 * program may run at a time. After a run only the output can be read, so that the runner may choose
 * how to compute it, or every value. */
enum mase_int_keep { MASE_INT_KEEP_OUTPUT, MASE_INT_KEEP_ALL };
struct mase_int_runner;
struct mase_int_runner *mase_int_runner_new(const struct mase_int_program *e, int64_t samples,
                                            enum mase_int_keep keep);
void mase_int_runner_free(struct mase_int_runner *w);
/* The memory for input samples, and the run. MASE_EVALUE: a value to be rounded is NaN. */
struct mase_lanes mase_int_runner_input(struct mase_int_runner *w);
enum mase_status mase_int_runner_run(struct mase_int_runner *w, int64_t samples,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The output as floats, each the nearest float to the exact value. */
struct mase_lanes mase_int_runner_output(struct mase_int_runner *w);
/* Run samples from x (samples, rows of the input) to y (samples, rows of the output). */
enum mase_status mase_int_runner_run_array(struct mase_int_runner *w, float *y, const float *x,
                                           int64_t samples, struct mase_err *err) MASE_MUST_CHECK;
/* Read a value of the last run into y (rows, samples), rows `stride` apart. The runner must keep
 * all values. */
void mase_int_runner_read(const struct mase_int_runner *w, float *y, int64_t stride,
                          const struct mase_int_value *v, int64_t samples);
/* The nearest float to the value of a code. */
float mase_int_decode(int64_t code, const struct mase_meaning *m);

void mase_int_program_print(struct mase_str *out, const struct mase_int_program *e);

MASE_API_END

#endif /* MASE_INT_PROGRAM_H */
