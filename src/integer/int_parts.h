/*
 * int_parts.h - shared by the files of the integer engine (int_run.c, int_*.c).
 */
#ifndef MASE_INTEGER_INT_PARTS_H
#define MASE_INTEGER_INT_PARTS_H

#include <mase/int_program.h>

#include "quant/quant.h"

/* Codes and sums stay below 2^MASE_INT_LIMIT_BITS, so that adding two cannot overflow. */
enum { MASE_INT_LIMIT_BITS = 62 };
#define MASE_INT_LIMIT (INT64_C(1) << MASE_INT_LIMIT_BITS)

__extension__ typedef __int128 mase_int_wide;
/* The range of an integer, 0..0 at first. */
struct mase_int_range {
    mase_int_wide lo, hi;
};
/* Extend the range by code mul and code mul + add, for the codes of row `row` of x, with margin
 * `room`. */
void mase_int_range_add(struct mase_int_range *r, const struct mase_int_value *x, int64_t row,
                        int64_t mul, int64_t add, int64_t room);
struct mase_int_type mase_int_range_type(const struct mase_int_range *r);

/* ---- exact arithmetic while lowering (int_number.c) ---- */

/* m 2^e, with m odd or 0. */
struct mase_dyadic {
    int64_t m;
    int e;
};
struct mase_dyadic mase_dyadic_of(double x);
bool mase_dyadic_mul(struct mase_dyadic *p, struct mase_dyadic a, struct mase_dyadic b);
double mase_dyadic_double(struct mase_dyadic d); /* rounded if it has more than 53 bits */
/* Is it a power of two? */
bool mase_dyadic_is_power(struct mase_dyadic d);

int64_t mase_gcd(int64_t a, int64_t b);
/* n / d, rounded; d above 0. */
int64_t mase_divide_rounded(int64_t n, int64_t d, int direction);

/* A meaning as a fraction of integers: v / step = (code mul + add) / div, for codes lo..hi and a
 * step that is a power of two. An inexact remainder of the constant counts as slightly more than
 * add, which is enough for rounding. False: it needs more than MASE_INT_LIMIT_BITS. */
struct mase_int_fraction {
    int64_t mul, add, div;
};
bool mase_meaning_as_fraction(struct mase_int_fraction *f, const struct mase_meaning *m,
                              double step, int64_t lo, int64_t hi);
/* The largest step of which every value is a multiple; 0: none is known. */
double mase_meaning_unit(const struct mase_meaning *m);
/* Is the value simply code times step? */
bool mase_meaning_is_code(const struct mase_meaning *m);
bool mase_meaning_equal(const struct mase_meaning *a, const struct mase_meaning *b);

/* Steps and bounds of the codes of a format, for each element; false: the codes are not multiples
 * of a step that is known without the values. */
bool mase_int_formats(struct mase_int_format *g, struct mase_arena *a,
                      const struct mase_rounding *how, const struct mase_shape *s);
/* How codes lo..hi are decoded: (code mul + add) unit, rounded to float before it is scaled, if
 * that is exact; else in float32 if m is scaled, and in double if not. */
struct mase_decoding {
    const struct mase_meaning *m;
    struct mase_int_fraction form;
    float unit; /* a power of two */
    bool exact;
};
struct mase_decoding mase_decoding_between(const struct mase_meaning *m, int64_t lo, int64_t hi);

float mase_decoded(int64_t code, const struct mase_decoding *d);

int64_t mase_int_encode(float x, const struct mase_int_format *g); /* x is not NaN */

/* Fail since a sample has a NaN where it is rounded. */
enum mase_status mase_int_fail_nan(const struct mase_int_instr *i, int64_t sample,
                                   struct mase_err *err);

/* ---- 16-bit kernels (int16.c) ---- */

/* Set e->fast, if the program has 16-bit codes and 32-bit sums. */
void mase_int_find_int16(struct mase_int_program *e);
struct mase_int16_work;
struct mase_int16_work *mase_int16_work_new(const struct mase_int_program *e, int64_t samples);
void mase_int16_work_free(struct mase_int16_work *w);
struct mase_lanes mase_int16_input(const struct mase_int16_work *w);
enum mase_status mase_int16_run(struct mase_int16_work *w, int64_t samples,
                                struct mase_err *err) MASE_MUST_CHECK;
/* A row of a value as codes, and as floats. */
void mase_int16_codes(const struct mase_int16_work *w, int64_t *code,
                      const struct mase_int_value *v, int64_t row, int64_t samples);
const float *mase_int16_floats(const struct mase_int16_work *w, const struct mase_int_value *v,
                               int64_t row);

/* A rounding as kernels compute it: an affine function in double, or, if shift is not NULL, perhaps
 * a division by 2^l->shift; false: more bits or another direction. most: the largest magnitude of a
 * code. */
struct mase_int_affine;
bool mase_int_round_as_affine(struct mase_int_affine *l, bool *shift,
                              const struct mase_int_round *r, int64_t most);
/* Do kernels encode to this format? */
bool mase_int_format_has_kernel(const struct mase_int_format *g);

/* Are all codes of a value within lo..hi? */
bool mase_int_value_within(const struct mase_int_value *v, int64_t lo, int64_t hi);

/* ---- dense kernels, sample by sample (int_dense.c, int_pack.c) ---- */

/* Pack the weights of a dense layer of l->tiles tiles for these kernels, for the cheaper type of
 * input; false: weights or codes have too many bits. Sets tile, from and x_stride. */
struct mase_int_layer;
struct mase_kernels;
bool mase_int_pack(struct mase_int_layer *l, const struct mase_int_instr *i,
                   const struct mase_kernels *k, struct mase_arena *a);

/* Set e->dense, if the program is a chain of dense layers. */
void mase_int_find_dense(struct mase_int_program *e);
struct mase_int_dense_work;
struct mase_int_dense_work *mase_int_dense_work_new(const struct mase_int_program *e);
void mase_int_dense_work_free(struct mase_int_dense_work *w);
/* x: (samples, features), y: (samples, outputs). */
enum mase_status mase_int_dense_run(const struct mase_int_dense_work *w, float *y, const float *x,
                                    int64_t samples, struct mase_err *err) MASE_MUST_CHECK;

/* As mase_int_program_new, but with biases as unrounded floats, to measure what rounding them
 * changes. */
enum mase_status mase_int_program_new_float_biases(struct mase_int_program **out,
                                                   struct mase_graph *g,
                                                   const struct mase_input *inputs, int input_count,
                                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- lowering (int_lower.c, int_sum.c, int_window.c) ---- */

struct mase_int_lowering {
    struct mase_int_program *e;
    struct mase_arena *a; /* of the integer program */
    struct mase_arena scratch;
    struct mase_tensor **known;        /* by number: values that depend on constants only */
    const struct mase_format **format; /* by number: format of a known value */
    struct mase_int_pending *mapped;   /* by number: functions to evaluate with the next rounding */
    const struct mase_instr *instr;    /* the current instruction */
    bool float_biases;                 /* do not round biases to the steps of their products */
};
/* Functions of one value, applied in order to the codes of `of`. */
struct mase_int_pending {
    const struct mase_int_value *of; /* NULL: no pending functions */
    const struct mase_instr **by;
    int count, cap;
};

enum mase_status mase_int_refuse(const struct mase_int_lowering *l, struct mase_err *err,
                                 const char *fmt, ...) MASE_PRINTF(3, 4);
/* The operands whose rows an instruction reads, one after the other. */
struct mase_int_operands {
    const struct mase_int_value *value[MASE_INT_OPERANDS_MAX];
    int count;
};
/* Add a value with rows of its own, or, with like, with the rows of that value. */
struct mase_int_value *mase_int_add_value(struct mase_int_lowering *l, bool codes, int64_t rows,
                                          const struct mase_int_value *like);
struct mase_int_instr *mase_int_add_instr(struct mase_int_lowering *l, enum mase_int_op op,
                                          const struct mase_int_operands *in,
                                          const struct mase_int_value *out);
/* The value's own copy of meanings and bounds, to be changed. */
struct mase_meaning *mase_int_own_meanings(struct mase_int_lowering *l, struct mase_int_value *v);
int64_t *mase_int_own_bounds(struct mase_int_lowering *l, struct mase_int_value *v);
/* Make *v a value whose codes have no pending relu, scale or shift: itself, or one that is computed
 * from it. */
enum mase_status mase_int_materialise(struct mase_int_lowering *l, const struct mase_int_value **v,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Find the value that has a row, and the index of the row in it. */
const struct mase_int_value *mase_int_find_row(const struct mase_int_operands *s, int64_t *row,
                                               int64_t at);
/* Specification of sums of products of codes; weight: (groups * outputs, inputs) or NULL: ones;
 * bias: (groups * outputs) or NULL. */
struct mase_int_sum_spec {
    struct mase_int_sum shape; /* weight, bias and access are set later */
    const float *weight, *bias;
    const double *step;   /* (groups * outputs): the step of which each output's weights are
                             multiples; NULL: weights are arbitrary */
    bool scaled;          /* some step is not a power of two */
    const int64_t *parts; // (positions): divisor of sums; NULL: 1
};
enum mase_status mase_int_add_sum(struct mase_int_lowering *l, const struct mase_int_value **out,
                                  const struct mase_int_operands *x,
                                  const struct mase_int_sum_spec *s,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Find the pattern of the rows that an instruction reads (int_access.c). On entry its window is the
 * window of the operation; it stays set if it yields these rows. */
void mase_int_find_sum_access(struct mase_int_lowering *l, struct mase_int_instr *sum);
void mase_int_find_max_access(struct mase_int_lowering *l, struct mase_int_instr *max);
/* A window of at most two dimensions; false: it has three. */
struct mase_window;
/* The window of a mean of so many adjacent rows. */
struct mase_int_window mase_int_window_of_rows(int64_t rows);
bool mase_int_window_of(struct mase_int_window *out, const struct mase_window *w);
int64_t mase_int_window_area(const struct mase_int_window *w);      /* elements of the kernel */
int64_t mase_int_window_positions(const struct mase_int_window *w); /* outputs of a channel */
int64_t mase_int_window_channel(const struct mase_int_window *w);   /* rows of a channel */
/* Lower instructions whose rows come from windows or sums. */
enum mase_status mase_int_lower_round(struct mase_int_lowering *l, const struct mase_instr *i,
                                      struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_linear(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_conv(struct mase_int_lowering *l, const struct mase_instr *i,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_window(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_add(struct mase_int_lowering *l, const struct mase_instr *i,
                                    struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_layout(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_join(struct mase_int_lowering *l, const struct mase_instr *i,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_int_lower_mean(struct mase_int_lowering *l, const struct mase_instr *i,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* The value of an operand; NULL if it has none. */
const struct mase_int_value *mase_int_operand(const struct mase_int_lowering *l,
                                              const struct mase_arg *a);
/* The value of an operand, which must be codes. */
enum mase_status mase_int_require_codes(struct mase_int_lowering *l,
                                        const struct mase_int_value **v, const struct mase_arg *a,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Set the result of the instruction. */
void mase_int_set_result(struct mase_int_lowering *l, const struct mase_instr *i,
                         const struct mase_int_value *v);

#endif /* MASE_INTEGER_INT_PARTS_H */
