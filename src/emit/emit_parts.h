/*
 * emit_parts.h - a network as steps over arrays, from which C is written (mase/emit.h).
 *
 * Integers (from_integers.c) and floats (from_program.c) become the same few steps. emit_net.c
 * decides where values lie; write.c, write_sum.c and write_map.c print the steps. A step is one
 * loop nest, printed as a function of C; steps whose text is equal share one function.
 */
#ifndef MASE_EMIT_PRIVATE_H
#define MASE_EMIT_PRIVATE_H

#include <mase/emit.h>
#include <mase/int_program.h>

#include "integer/int_parts.h"

/* ---- types ---- */

enum mase_emit_type {
    MASE_EMIT_I8,
    MASE_EMIT_U8,
    MASE_EMIT_I16,
    MASE_EMIT_U16,
    MASE_EMIT_I32,
    MASE_EMIT_I64,
    MASE_EMIT_F32,
    MASE_EMIT_TYPES
};
struct mase_emit_type_info {
    const char *name;
    int bytes;
    int64_t lo, hi;
};
extern const struct mase_emit_type_info mase_emit_types[MASE_EMIT_TYPES];
/* The first C type from `least` on that holds integers of width and sign t; int64_t if none does,
 * since no sum needs more. */
enum mase_emit_type mase_emit_type_for(struct mase_int_type t, enum mase_emit_type least);
/* As mase_emit_type_for, for integers from lo to hi. */
enum mase_emit_type mase_emit_type_between(int64_t lo, int64_t hi, enum mase_emit_type least);

/* ---- values ---- */

struct mase_emit_value {
    enum mase_emit_type type;
    int64_t rows;
    int made, last; /* indices of steps: the producer, the last user; -1: an input */
    int number;     /* its name in C is v<number> */
    bool passed;    /* users read pairs of rows, the last of which may extend beyond the value */
    int slot;       /* static array that holds it; -1: the caller's x, -2: the caller's y */
};

/* ---- parameters of the rows of a step ---- */

/* One number for all rows, or an array: row i has number[i / per]. */
struct mase_emit_numbers {
    int64_t count, per;    /* count 1: one number for all rows */
    const int64_t *number; /* (count), or: */
    const float *real;
    const char *name; /* name of the array in C, once it is written */
    enum mase_emit_type type;
};

/* ---- steps ---- */

enum mase_emit_kind {
    MASE_EMIT_SUM,     /* sums of products at positions, then optionally a map */
    MASE_EMIT_ADD,     /* sums of two values, row by row, then optionally a map */
    MASE_EMIT_POOL,    /* sums under a window without weights, or maxima */
    MASE_EMIT_PICK,    /* copies rows */
    MASE_EMIT_LARGEST, /* maxima of listed rows */
    MASE_EMIT_MAP,     /* a function of each row */
    MASE_EMIT_KINDS
};
extern const char *const mase_emit_kind_names[MASE_EMIT_KINDS];

enum mase_emit_map_op {
    MASE_EMIT_STORE,
    MASE_EMIT_AFFINE, /* fma(x, scale, shift), exactly rounded */
    MASE_EMIT_AXPY,   /* x * scale + shift, as the compiler rounds it */
    MASE_EMIT_RELU,
    MASE_EMIT_ENCODE,
    MASE_EMIT_ROUND,
    MASE_EMIT_SCALE,
    MASE_EMIT_TABLE,
    MASE_EMIT_DECODE,
};

/* A function of one number; the operation decides which parameters it has. */
struct mase_emit_map {
    enum mase_emit_map_op op;
    int direction;            /* enum mase_direction, or MASE_TO_SIGN */
    bool shift;               /* round: divide by 2^div */
    bool relu;                /* affine, decode: clamp below at zero */
    bool doubles;             /* encode: in double, since float would lose bits */
    bool scaled;              /* encode: divide by the step; decode: in float32 */
    bool exact;               /* decode: an integer times a power of two */
    enum mase_emit_type work; /* round, decode: the type that holds code mul + add */
    struct mase_emit_numbers mul, add, div, lo, hi;
    struct mase_emit_numbers factor, offset; /* floats: scale; encode, decode: step */
    struct mase_emit_numbers bias, parts;    /* decode, if not exact */
    struct mase_emit_numbers start; /* table: index of a row's entries, minus its least code */
    const int64_t *table;
    int64_t table_length, table_lo, table_hi;
};

struct mase_emit_sum {
    int64_t groups, outputs, inputs, positions;
    int64_t output_stride, position_stride;
    int64_t group_rows;          /* rows between the operand rows of adjacent groups */
    enum mase_int_access access; /* LIST, ROWS or WINDOW */
    const struct mase_int_window *window;
    const int32_t *list;          // (groups, positions, inputs)
    const int64_t *weight, *bias; // integers, or
    const float *fweight, *fbias; // floats
    enum mase_emit_type acc, wtype;
    bool tiled; /* tile.c: many outputs in parallel */
};

struct mase_emit_step {
    enum mase_emit_kind kind;
    const char *from;
    struct mase_emit_value *in[2], *out;
    bool largest;                             /* of a pool */
    struct mase_emit_sum sum;                 /* parameters of SUM */
    struct mase_emit_numbers weight[2], bias; /* parameters of ADD */
    enum mase_emit_type acc;                  /* type of sums of ADD and POOL */
    const struct mase_int_window *window;     /* window of POOL, over each channel */
    int64_t channels;
    int64_t parts;       /* POOL of floats: the divisor of sums */
    const int32_t *list; /* PICK and LARGEST: rows of the operand; -1: zero; -2 and below: rows of
                            the second operand */
    const int64_t *first;
    struct mase_emit_map map;
    struct mase_emit_step *next;
};

struct mase_emit_net {
    struct mase_arena *a;
    const char *name;
    bool floats;
    struct mase_emit_step *first, *last;
    int count;
    struct mase_emit_value *input, *output;
    struct mase_emit_map decode;          /* if codes are returned: how they decode */
    const struct mase_int_format *encode; // (inputs) formats of given codes, or NULL
    struct mase_emit_value **value;
    int value_count, value_cap;
    int64_t *slot; /* bytes of each slot */
    int slot_count, slot_cap;
};

struct mase_emit_value *mase_emit_add_value(struct mase_emit_net *n, enum mase_emit_type t,
                                            int64_t rows);
struct mase_emit_step *mase_emit_add_step(struct mase_emit_net *n, enum mase_emit_kind kind,
                                          const char *from, struct mase_emit_value *in,
                                          struct mase_emit_value *out);
/* A row of one of several values; row -1: zero. mase_emit_add_picks fills `out` with such rows. */
struct mase_emit_picked {
    int value;
    int32_t row;
};
void mase_emit_add_picks(struct mase_emit_net *n, const char *from,
                         struct mase_emit_value *const *value, int count,
                         const struct mase_emit_picked *picked, struct mase_emit_value *out);
/* The shortest array of parameters for these numbers of rows. */
struct mase_emit_numbers mase_emit_numbers(struct mase_arena *a, const int64_t *number,
                                           int64_t rows);
struct mase_emit_numbers mase_emit_reals(struct mase_arena *a, const float *real, int64_t rows);
bool mase_emit_all(const struct mase_emit_numbers *n, int64_t number);

enum mase_status mase_emit_refuse(const char *from, struct mase_err *err, const char *fmt, ...)
    MASE_PRINTF(3, 4);

/* from_integers.c, from_program.c */
enum mase_status mase_emit_from_integers(struct mase_emit_net *n, const struct mase_int_program *e,
                                         bool codes, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_emit_from_program(struct mase_emit_net *n, const struct mase_program *p,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* emit_net.c: assign slots by lifetimes; the rows of memory that a value needs, including rows that
 * its users read beyond it. */
int64_t mase_emit_room(const struct mase_emit_value *v);
void mase_emit_place(struct mase_emit_net *n);

/* emit_check.c: the source of the steps, one of both; the program comes with its input. */
struct mase_emit_source {
    const struct mase_int_program *exact;
    const struct mase_program *program;
    const struct mase_input *input;
};
/* Do the steps give the results of the source for samples (samples, inputs)? 0 samples: draw some.
 */
enum mase_status mase_emit_check(const struct mase_emit_net *n, const struct mase_emit_source *from,
                                 const float *x, int64_t samples,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- targets ---- */

/* The state of writing a network for a target. */
struct mase_emit_job {
    struct mase_arena *a;
    const struct mase_target *target;
    const struct mase_emit_source *from;
    const struct mase_emit_opts *o;
    const char *name; /* of the network */
    void *steps;      /* owned by the target */
    struct mase_emitted *e;
};
/* The functions of a target. Only `write` cannot fail, so a refused network leaves no files. */
struct mase_target_functions {
    /* Bind the options and lower j->from; refuse what the target cannot express. */
    enum mase_status (*lower)(struct mase_emit_job *j, struct mase_err *err);
    /* Does the lowered form give the results of j->from? */
    enum mase_status (*check)(struct mase_emit_job *j, struct mase_err *err);
    void (*write)(struct mase_emit_job *j); /* write files and costs to j->e */
};
#define TARGET(name, ends, floats, help)                          \
    extern const struct mase_target_functions mase_target_##name; \
    extern const struct mase_opt mase_target_##name##_rows[];
#include "emit/targets.def"

/* tile.c: choose sums to compute in tiles; their operands become 16-bit codes. */
void mase_emit_find_tiles(struct mase_emit_net *n);
/* The number of outputs of a group that are computed in tiles. */
int64_t mase_emit_tiled(const struct mase_emit_sum *f);

/* ---- writing ---- */

struct mase_emit_writer {
    struct mase_arena *a;
    struct mase_emitted *e;
    const struct mase_emit_net *net;
    const struct mase_emit_opts *o;
    bool unrolled, codes; /* options of the target C */
    struct mase_str tables, helpers, body;
    struct mase_map functions; /* from the text of a C function to its name */
    struct mase_map names;     /* names in use */
    int numbered;
    int64_t acc_rows[MASE_EMIT_TYPES], patch_rows[MASE_EMIT_TYPES]; /* by type */
    bool fma, window, vectors; /* helpers that the source must define */
    bool rounds;               /* floats are rounded at each operation */
};

/* Add a C function, or find an equal one; returns its name. bytes: estimated size of its code. */
const char *mase_emit_function(struct mase_emit_writer *w, const char *prefix, const char *params,
                               const char *text, int bytes);
/* Add an array of integers or floats; returns its name. */
const char *mase_emit_table(struct mase_emit_writer *w, const char *prefix, enum mase_emit_type t,
                            const int64_t *number, const float *real, int64_t count);
const char *mase_emit_window(struct mase_emit_writer *w, const struct mase_int_window *g,
                             int64_t channels);
/* A list of numbers, with commas and line breaks. */
void mase_emit_list(struct mase_str *s, enum mase_emit_type t, const int64_t *number,
                    const float *real, int64_t count);
/* tile.c: the C function for tiles, its weights, and the vector types; the same for floats, whose
 * weights begin with a row of biases. */
const char *mase_emit_tile_function(struct mase_emit_writer *w);
const char *mase_emit_tile_table(struct mase_emit_writer *w, const struct mase_emit_sum *f);
const char *mase_emit_float_function(struct mase_emit_writer *w, int64_t outputs);
extern const char mase_emit_vectors[], mase_emit_float_vectors[];
/* The C text of fused(): a product and a sum with one rounding. */
extern const char mase_emit_fused[];
const char *mase_emit_upper(struct mase_arena *a, const char *name);
/* The base name of the files. */
const char *mase_emit_file(const struct mase_emit_writer *w);
/* write_test.c: the program that checks test vectors, and its Makefile. */
void mase_emit_test(struct mase_str *s, struct mase_emit_writer *w);
void mase_emit_makefile(struct mase_str *s, const struct mase_emit_writer *w);
/* The C expression of a value's memory. */
const char *mase_emit_at(struct mase_emit_writer *w, const struct mase_emit_value *v);
void mase_emit_real(struct mase_str *s, double x, bool single);
void mase_emit_integer(struct mase_str *s, int64_t x, enum mase_emit_type t);

/* A call of a C function that maps rows: from and to are expressions, i the index of the first
 * row's parameters. */
struct mase_emit_call {
    const char *to, *from;
    enum mase_emit_type to_type, from_type;
    int64_t rows, stride;
    const char *offset;               /* added to parameter arrays: "g * 8"; NULL: nothing */
    const struct mase_emit_step *add; /* map the sum of this step, or NULL */
};
const char *mase_emit_map_name(enum mase_emit_map_op op);
void mase_emit_map_call(struct mase_emit_writer *w, const struct mase_emit_map *m,
                        const struct mase_emit_call *c, int indent);
void mase_emit_step_write(struct mase_emit_writer *w, const struct mase_emit_step *s);

#endif /* MASE_EMIT_PRIVATE_H */
