/*
 * int_parts.h - what the files of the exact engine share (int_run.c, int_*.c).
 */
#ifndef MASE_INTEGER_INT_PARTS_H
#define MASE_INTEGER_INT_PARTS_H

#include <mase/int_program.h>

#include "quant/quant.h"

/* Codes and sums stay below 2^MASE_INT_LIMIT_BITS, so that adding two cannot overflow. */
enum { MASE_INT_LIMIT_BITS = 62 };
#define MASE_INT_LIMIT (INT64_C(1) << MASE_INT_LIMIT_BITS)

__extension__ typedef __int128 mase_int_wide;
/* What some numbers can be; 0, 0 at first. */
struct mase_int_range {
    mase_int_wide lo, hi;
};
/* A code of a row of x times mul, and with add and room on either side. */
void mase_int_range_add(struct mase_int_range *r, const struct mase_int_value *x, int64_t row,
                        int64_t mul, int64_t add, int64_t room);
struct mase_int_type mase_int_range_type(const struct mase_int_range *r);

/* ---- exact arithmetic while lowering (int_number.c) ---- */

/* m 2^e, m odd or 0. */
struct mase_dyadic {
    int64_t m;
    int e;
};
struct mase_dyadic mase_dyadic_of(double x);
bool mase_dyadic_mul(struct mase_dyadic *p, struct mase_dyadic a, struct mase_dyadic b);
double mase_dyadic_double(struct mase_dyadic d); /* rounded if it has more than 53 bits */
/* A power of two? */
bool mase_dyadic_is_power(struct mase_dyadic d);

int64_t mase_gcd(int64_t a, int64_t b);
/* n / d, d above 0. */
int64_t mase_divide_rounded(int64_t n, int64_t d, int direction);

/* A meaning as an integer: v / step = (code mul + add) / div, for codes in lo..hi, with the step a
 * power of two. What is left over of the constant counts as a little more than add, which is all
 * that a rounding needs to know. False: more than MASE_INT_LIMIT_BITS would be needed. */
struct mase_int_fraction {
    int64_t mul, add, div;
};
bool mase_meaning_as_fraction(struct mase_int_fraction *f, const struct mase_meaning *m,
                              double step, int64_t lo, int64_t hi);
/* The largest step of which every value is a multiple; 0: there is none that can be told. */
double mase_meaning_unit(const struct mase_meaning *m);
/* Is a value the code times the step, and no more? */
bool mase_meaning_is_code(const struct mase_meaning *m);
bool mase_meaning_equal(const struct mase_meaning *a, const struct mase_meaning *b);

/* Where the codes of a format lie, for each number of a tensor; false: they are no multiples of a
 * step that is known without its values. */
bool mase_int_formats(struct mase_int_format *g, struct mase_arena *a,
                      const struct mase_rounding *how, const struct mase_shape *s);
/* How codes lo..hi become floats: (code mul + add) unit, rounded to float before it is scaled, if
 * that is exact; else in float32 where m is scaled, and in double where not. */
struct mase_decoding {
    const struct mase_meaning *m;
    struct mase_int_fraction form;
    float unit; /* a power of two */
    bool exact;
};
struct mase_decoding mase_decoding_between(const struct mase_meaning *m, int64_t lo, int64_t hi);

float mase_decoded(int64_t code, const struct mase_decoding *d);

int64_t mase_int_encode(float x, const struct mase_int_format *g); /* x is a number */

/* A sample has no number where it is rounded. */
enum mase_status mase_int_fail_nan(const struct mase_int_instr *i, int64_t sample,
                                   struct mase_err *err);

/* ---- by kernels (int16.c) ---- */

/* e->fast, if the network is one of 16-bit codes and 32-bit sums. */
void mase_int_find_int16(struct mase_int_program *e);
struct mase_int16_work;
struct mase_int16_work *mase_int16_work_new(const struct mase_int_program *e, int64_t samples);
void mase_int16_work_free(struct mase_int16_work *w);
struct mase_lanes mase_int16_input(const struct mase_int16_work *w);
enum mase_status mase_int16_run(struct mase_int16_work *w, int64_t samples,
                                struct mase_err *err) MASE_MUST_CHECK;
/* A row of codes, and one of floats. */
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
/* Do kernels encode by it? */
bool mase_int_format_has_kernel(const struct mase_int_format *g);

/* Do all codes of a value lie between? */
bool mase_int_value_within(const struct mase_int_value *v, int64_t lo, int64_t hi);

/* ---- by kernels, sample by sample (int_dense.c, int_pack.c) ---- */

/* The weights of a dense layer of l->tiles tiles for some kernels, in the type of input that takes
 * less; false: they or the codes have too many bits. Sets tile, from and x_stride. */
struct mase_int_layer;
struct mase_kernels;
bool mase_int_pack(struct mase_int_layer *l, const struct mase_int_instr *i,
                   const struct mase_kernels *k, struct mase_arena *a);

/* e->dense, if the network is a chain of dense layers. */
void mase_int_find_dense(struct mase_int_program *e);
struct mase_int_dense_work;
struct mase_int_dense_work *mase_int_dense_work_new(const struct mase_int_program *e);
void mase_int_dense_work_free(struct mase_int_dense_work *w);
/* x: (samples, features), y: (samples, outputs). */
enum mase_status mase_int_dense_run(const struct mase_int_dense_work *w, float *y, const float *x,
                                    int64_t samples, struct mase_err *err) MASE_MUST_CHECK;

/* What mase_int_program_new makes, but for biases: as they are in float. It tells what they change.
 */
enum mase_status mase_int_program_new_float_biases(struct mase_int_program **out,
                                                   struct mase_graph *g,
                                                   const struct mase_input *inputs, int input_count,
                                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- lowering (int_lower.c, int_sum.c, int_window.c) ---- */

struct mase_int_lowering {
    struct mase_int_program *e;
    struct mase_arena *a; /* the engine's own */
    struct mase_arena scratch;
    struct mase_tensor **known;        /* by number: what constants alone decide */
    const struct mase_format **format; /* by number: what a known value was rounded to */
    struct mase_int_pending *mapped;   /* by number: functions that await a rounding */
    const struct mase_instr *instr;    /* under way */
    bool float_biases;                 /* none is rounded to the steps of its products */
};
/* Functions of one value, one after the other, of the codes of another. */
struct mase_int_pending {
    const struct mase_int_value *of; /* NULL: it is no such value */
    const struct mase_instr **by;
    int count, cap;
};

enum mase_status mase_int_refuse(const struct mase_int_lowering *l, struct mase_err *err,
                                 const char *fmt, ...) MASE_PRINTF(3, 4);
/* Values, whose rows an instruction reads. */
struct mase_int_operands {
    const struct mase_int_value *value[MASE_INT_OPERANDS_MAX];
    int count;
};
/* A value with room for rows of its own; those of another if like. */
struct mase_int_value *mase_int_add_value(struct mase_int_lowering *l, bool codes, int64_t rows,
                                          const struct mase_int_value *like);
struct mase_int_instr *mase_int_add_instr(struct mase_int_lowering *l, enum mase_int_op op,
                                          const struct mase_int_operands *in,
                                          const struct mase_int_value *out);
/* Meanings and bounds that are the value's own to write. */
struct mase_meaning *mase_int_own_meanings(struct mase_int_lowering *l, struct mase_int_value *v);
int64_t *mase_int_own_bounds(struct mase_int_lowering *l, struct mase_int_value *v);
/* What the value's codes mean is in plain codes: it itself, or one that is computed from it. */
enum mase_status mase_int_materialise(struct mase_int_lowering *l, const struct mase_int_value **v,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The value that has a row, and which of its rows it is. */
const struct mase_int_value *mase_int_find_row(const struct mase_int_operands *s, int64_t *row,
                                               int64_t at);
/* Sums of products of plain codes; weight: (groups * outputs, inputs) or NULL: ones; bias: (groups
 * * outputs) or NULL. */
struct mase_int_sum_spec {
    struct mase_int_sum shape; /* weight, bias and access are not set yet; window is where a
                                * convolution or a pool looks */
    const float *weight, *bias;
    const double *step;   /* of each output's weights, of which they are multiples: (groups *
                           * outputs); NULL: each is the number that it is */
    bool scaled;          /* a step is no power of two */
    const int64_t *parts; // (positions): what sums are divided by; NULL: 1
};
enum mase_status mase_int_add_sum(struct mase_int_lowering *l, const struct mase_int_value **out,
                                  const struct mase_int_operands *x,
                                  const struct mase_int_sum_spec *s,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Which pattern the rows have that an instruction reads (int_access.c). Its window, if there is
 * one, is where the instruction looks; it stays where it gives the same rows. */
void mase_int_find_sum_access(struct mase_int_lowering *l, struct mase_int_instr *sum);
void mase_int_find_max_access(struct mase_int_lowering *l, struct mase_int_instr *max);
/* A window of at most two dimensions; false: it has three. */
struct mase_window;
/* As wide as so many rows side by side: a mean of them. */
struct mase_int_window mase_int_window_of_rows(int64_t rows);
bool mase_int_window_of(struct mase_int_window *out, const struct mase_window *w);
int64_t mase_int_window_area(const struct mase_int_window *w);      /* elements of the kernel */
int64_t mase_int_window_positions(const struct mase_int_window *w); /* outputs of a channel */
int64_t mase_int_window_channel(const struct mase_int_window *w);   /* rows of a channel */
/* Instructions whose rows come from windows or from sums. */
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

/* What an operand is; NULL where it is no value of the engine. */
const struct mase_int_value *mase_int_operand(const struct mase_int_lowering *l,
                                              const struct mase_arg *a);
/* The same, which has to be codes. */
enum mase_status mase_int_require_codes(struct mase_int_lowering *l,
                                        const struct mase_int_value **v, const struct mase_arg *a,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* v is what the instruction gives. */
void mase_int_set_result(struct mase_int_lowering *l, const struct mase_instr *i,
                         const struct mase_int_value *v);

#endif /* MASE_INTEGER_INT_PARTS_H */
