/*
 * int_program.h - a quantised network in integers.
 *
 * Made of a program (program.h) whose data and weights are rounded to formats with integer codes.
 * What is computed is the program in real arithmetic: sums of products are exact, whatever their
 * order, and the roundings that the program states are the only ones. Every code has bounds, found
 * from the formats and the weights, so every accumulator is known to hold what comes.
 *
 * A value is rows of codes, one row for each number of a sample. What a code of a row stands for is
 * its meaning:
 *
 *     v = (code step / parts + bias) scale + shift,  and max(v, 0) where relu
 *
 * Bias, batch norm, relu and division by a count change the meaning and compute nothing; they are
 * done at once with the next rounding, exactly. Where all steps are powers of two, or the weights
 * share a factor, a rounding is
 *
 *     clamp(round((code mul + add) / div), lo, hi)           in integers
 *
 * by the format's own direction. Where a step is any number (scaled integers), it is what ONNX
 * Runtime does, in float32:
 *
 *     clamp(round(fma(code, factor, offset)), lo, hi)        to nearest, ties to even
 *
 * and a bias there is an integer, too, at the scale of the products. Before the first rounding the
 * samples are floats; batch norm and relu on them are float32, as in plans.
 */
#ifndef MASE_INT_PROGRAM_H
#define MASE_INT_PROGRAM_H

#include <mase/api.h>
#include <mase/format.h>
#include <mase/plan.h>
#include <mase/program.h>

MASE_API_BEGIN

struct mase_window;

/* What a code stands for: the formula above. */
struct mase_meaning {
    double step; /* above 0 */
    int64_t parts;
    float bias, scale, shift; /* 0, 1, 0: nothing of it */
    bool scaled;              /* the step is no power of two times an integer */
    bool relu;
};

/* What a row is rounded to: multiples of a step. */
struct mase_int_format {
    double step;
    int64_t lo, hi;
    int direction; /* enum mase_direction, of those that draw no random number */
    bool scaled;
};

enum mase_int_op {
    MASE_INT_OP_AFFINE, /* floats: fma(x, scale, shift), then max(x, 0) if relu */
    MASE_INT_OP_ENCODE, /* floats to codes of grids */
    MASE_INT_OP_SUM,    /* sums of products with known integers, and known integers added */
    MASE_INT_OP_ROUND,  /* codes to codes: integers */
    MASE_INT_OP_SCALE,  /* codes to codes: float32 */
    MASE_INT_OP_TABLE,  /* codes to codes by a table */
    MASE_INT_OP_MAX,    /* the largest of some rows */
    MASE_INT_OP_PICK,   /* rows in another order, some twice or not at all */
    MASE_INT_OP_COUNT
};
extern const char *const mase_int_op_names[];

/* y[g m + o][p] = bias[g m + o] + sum over k of weight[g m + o][k] x[from[g][p][k]], m being
 * outputs; row o, p of the result is o * output_stride + p * position_stride. Rows are those of
 * memory, so several values may be summed. */
struct mase_int_sum {
    int64_t groups, outputs, inputs, positions;
    int64_t output_stride, position_stride;
    const int32_t *from;   // (groups, positions, inputs); -1: zero
    const int64_t *weight; // (groups * outputs, inputs)
    const int64_t *bias;   // (groups * outputs)
    /* What from comes from, of one channel: where a convolution or an average looks. NULL: no such
     * window. */
    const struct mase_window *window;
};

struct mase_int_round {
    int64_t mul, add, div, lo, hi;
    int direction;
};

struct mase_int_scale {
    float factor, offset;
    int64_t lo, hi;
};

/* Rows share few tables: that of row r is code[table[r]], from the code lo[table[r]] on. */
struct mase_int_table {
    int count;
    int32_t *table;       // (rows)
    int64_t *lo, *length; // (count)
    int64_t **code;
};

/* Row r of the result is made of from[first[r]] to before from[first[r + 1]], rows of memory; -1:
 * zero. Of pick, of from[r]. */
struct mase_int_rows {
    const int64_t *first; // (rows + 1)
    const int32_t *from;
    const struct mase_window *window; /* of max, as of affine */
};

struct mase_int_value {
    const struct mase_pvalue *of; /* the program's; NULL: between its instructions */
    const char *from;             /* the graph's node */
    bool codes;                   /* else floats */
    int64_t rows;
    int64_t at; /* its first row in memory; values of the same codes share them */
    const struct mase_meaning *meaning; // (rows), of codes
    const int64_t *lo, *hi;             // (rows): every code lies between
};

struct mase_int_instr {
    enum mase_int_op op;
    const struct mase_int_value *in, *out;
    union {
        struct {
            const float *scale, *shift; // (rows)
            bool relu;
        } line;
        const struct mase_int_format *encode; // (rows)
        struct mase_int_sum affine;
        const struct mase_int_round *round; // (rows)
        const struct mase_int_scale *scale; // (rows)
        struct mase_int_table table;
        struct mase_int_rows rows; /* of max and pick */
    } u;
    const struct mase_int_instr *next;
};

struct mase_int_program {
    struct mase_arena arena;
    struct mase_program *program;
    const struct mase_int_instr *first, *last;
    struct mase_int_value **value; /* by the number of the program's, NULL: none */
    const struct mase_int_value *input, *output;
    struct mase_shape result;     /* of one sample */
    int64_t rows;                 /* of all values together */
    struct mase_int16_plan *fast; /* how kernels run it; NULL: number by number */
    struct mase_int_dense *dense; /* how they run it sample by sample; NULL: they do not */
    int rounded_biases;           /* layers whose bias was rounded to the scale of their products */
};

/* The graph has weights and is borrowed, until the end of what is made here. Refused, by the name
 * of the node: what has no integer codes, and sums beyond 62 bits. */
enum mase_status mase_int_program_new(struct mase_int_program **out, struct mase_graph *g,
                                      const struct mase_input *inputs, int input_count,
                                      struct mase_err *err) MASE_MUST_CHECK;
void mase_int_program_free(struct mase_int_program *e);

/* Memory to run it, for at most so many samples at once. Several may be at work. What can be read
 * behind a run: its output, which leaves the choice of how to compute it, or every value. */
enum mase_int_keep { MASE_INT_KEEP_OUTPUT, MASE_INT_KEEP_ALL };
struct mase_int_runner;
struct mase_int_runner *mase_int_runner_new(const struct mase_int_program *e, int64_t samples,
                                            enum mase_int_keep keep);
void mase_int_runner_free(struct mase_int_runner *w);
/* Where the samples go; then run them. MASE_EVALUE: a sample is NaN where it is rounded. */
struct mase_lanes mase_int_runner_input(struct mase_int_runner *w);
enum mase_status mase_int_runner_run(struct mase_int_runner *w, int64_t samples,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* What came out, as floats: each the nearest to the number that it stands for. */
struct mase_lanes mase_int_runner_output(struct mase_int_runner *w);
/* Both at once, with the samples one after the other: (samples, rows of the input) to (samples,
 * rows of the output). */
enum mase_status mase_int_runner_run_array(struct mase_int_runner *w, float *y, const float *x,
                                           int64_t samples, struct mase_err *err) MASE_MUST_CHECK;
/* What came out of any value, where all are kept, into y (rows, samples), rows stride apart. */
void mase_int_runner_read(const struct mase_int_runner *w, float *y, int64_t stride,
                          const struct mase_int_value *v, int64_t samples);
/* The nearest float to what a code means. */
float mase_int_decode(int64_t code, const struct mase_meaning *m);

/* How many bits the codes of a value take, the widest row, with a sign where there is one. */
int mase_int_value_bits(const struct mase_int_value *v);
void mase_int_program_print(struct mase_str *out, const struct mase_int_program *e);

MASE_API_END

#endif /* MASE_INT_PROGRAM_H */
