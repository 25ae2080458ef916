/*
 * format.h - number formats: what a value is rounded to.
 *
 * A format is a row of quants.def and its parameters. Formats are interned: each is made once in a
 * process, never changes and is never freed, and two equal formats are one pointer. NULL is
 * float32, not quantised. One reference function per row defines the arithmetic; every faster
 * version gives the same bits.
 *
 *     const struct mase_format *f;
 *     MASE_TRY(mase_format_parse(&f, "block_fp(8, 8, NA, [1, 16])", err));
 *     mase_quantize(f, q, x, &shape, MASE_ROLE_WEIGHT, MASE_SIGNED);
 *
 * Values of a tensor may share something, such as an exponent: a format cuts a tensor into blocks
 * (struct mase_blocks) and rounds each block by itself. A format whose values share nothing has
 * blocks of one value. The first dimension of data counts samples, and no block spans two samples,
 * so the rounding of a sample does not depend on its neighbours in the batch.
 */
#ifndef MASE_FORMAT_H
#define MASE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/err.h>
#include <mase/opt.h>
#include <mase/str.h>
#include <mase/tensor.h>
#include <mase/value.h>

MASE_API_BEGIN

enum mase_quant_kind {
    MASE_QUANT_float, /* not quantised */
#define QUANT(name, kernel) MASE_QUANT_##name,
#include <mase/quants.def>
    MASE_QUANT_COUNT
};

/* Which way a number between two steps is rounded. */
enum mase_direction {
    MASE_TO_NEAREST_EVEN,
    MASE_TO_NEAREST_AWAY, /* ties away from zero */
    MASE_TO_FLOOR,
    MASE_TO_ZERO,
    MASE_BY_CHANCE,
};

struct mase_format {
    enum mase_quant_kind kind;
    const struct mase_quant_info *row;
    const struct mase_value *config; /* a list: the parameters as configured, none where NA */
    const void
        *params; /* the row's own struct, every NA replaced by the value that it stands for */
};

enum mase_sign { MASE_SIGNED, MASE_UNSIGNED };
/* The role of a tensor in its operation: the first dimension of data counts samples. */
enum mase_role { MASE_ROLE_DATA, MASE_ROLE_WEIGHT };

/* ---- what a row consists of ---- */

/* Blocks side by side: value r of lane l lies at row[r] + l, and each lane is a block of its own. A
 * dense tensor has one lane for each block, a plan one for each sample. */
struct mase_block {
    const int64_t *row; // (rows)
    int64_t rows, lanes;
    const float *around; // (lanes): what looks_around asks for; NULL: nothing
    int64_t index;       /* number of the block within its tensor, or within its sample */
};

/* Round the blocks; x and q may be the same array. */
typedef void mase_quant_fn(float *q, const float *x, const struct mase_block *b, const void *params,
                           enum mase_sign sign);
/* Replace NA by the value that it stands for, and check what concerns several parameters. */
typedef enum mase_status mase_quant_resolve_fn(void *params, struct mase_err *err);
/* The length of a block along each dimension of a tensor. */
typedef void mase_quant_geometry_fn(int64_t *length, const struct mase_shape *s,
                                    enum mase_role role, const void *params);
/* Check that a tensor of this shape can be cut into blocks; a format may require whole blocks. */
typedef enum mase_status mase_quant_fits_fn(const struct mase_shape *s, enum mase_role role,
                                            const void *params, struct mase_err *err);
/* What a block with this largest magnitude shares; around: what looks_around asks for, NaN:
 * nothing. MASE_NO_CODE: the block becomes NaN. */
typedef int64_t mase_quant_share_fn(float largest, float around, const void *params);
/* Round one value, and encode it, in a block that shares `shared`. */
typedef float mase_quant_round_fn(float x, int64_t shared, const void *params);
typedef int64_t mase_quant_code_fn(float q, int64_t shared, const void *params);
/* Encode the n rounded values of one block as integers, and what they share as *shared, which holds
 * the number of the block on entry. Returns false, with MASE_NO_CODE for each such value, when the
 * format does not have some of the values: another program may have rounded them. */
typedef bool mase_quant_encode_fn(int64_t *code, int64_t *shared, const float *q, int64_t n,
                                  const void *params, enum mase_sign sign);
typedef float mase_quant_decode_fn(int64_t code, int64_t shared, const void *params);
/* The lowest and the highest value. */
typedef void mase_quant_limits_fn(float *low, float *high, const void *params, enum mase_sign sign);
/* The lowest and the highest code. Every integer between them is a code, and a higher code never
 * decodes to a lower value. */
typedef void mase_quant_range_fn(int64_t *low, int64_t *high, const void *params,
                                 enum mase_sign sign);

#define MASE_NO_CODE INT64_MIN

/* A value is code * 2^-frac_width, the code an integer of width bits. */
struct mase_integer_form {
    int width, frac_width;
};
typedef struct mase_integer_form mase_quant_integer_fn(const void *params);

/* A uniform quantiser, multiples of a step between two bounds: q = clamp(round(x / scale), lo, hi)
 * scale. To nearest, ties to even; NaN stays NaN; unsigned zeros have no sign. */
struct mase_uniform {
    float scale, lo, hi;
};
/* The step and bounds of block `index`; false: they depend on the values of the block. */
typedef bool mase_quant_uniform_fn(struct mase_uniform *u, const void *params, int64_t index,
                                   enum mase_sign sign);

/* Statistics of the values of a block, from which its learned numbers get their first values. */
struct mase_block_size {
    double mean;    /* mean magnitude */
    float min, max; /* extremes of the values and 0 */
    int64_t count;
    enum mase_role role;
};

/* What training learns of a format: up to MASE_LEARNED_MAX numbers for each block, which are
 * parameters of the graph. */
enum { MASE_LEARNED_MAX = 2 };
struct mase_learning {
    const char *const *names; /* names of these parameters, ended by NULL */
    bool sized;               /* the first number is a step or a bound, so it is above 0 */
    struct mase_uniform (*uniform)(const float *value, const void *params, enum mase_sign sign);
    /* Bits of a value without its sign, if training learns them too; NULL: they are fixed. */
    int (*bits)(const float *value, const void *params, enum mase_sign sign);
    void (*start)(float *value, const struct mase_block_size *s, const void *params,
                  enum mase_sign sign);
    /* The gradient of the loss by the learned numbers of a block of `count` values; sum as in
     * kernels.def. */
    void (*gradient)(float *d, const float sum[3], const float *value, const void *params,
                     enum mase_sign sign, int64_t count);
};

/* How gradients pass back through a rounding. */
enum mase_gradient {
    MASE_GRADIENT_STRAIGHT, /* the gradient of the result unchanged (straight-through estimator) */
    MASE_GRADIENT_CLIPPED,  /* that gradient, but 0 where x lies outside the format's limits */
};

typedef enum mase_gradient mase_quant_gradient_fn(const void *params);

/* What the rounding of a block reads of the other blocks of its sample, or, if the tensor is not
 * data, of the tensor: nothing, or the least or greatest of the blocks' largest magnitudes, where
 * zero, infinity and NaN do not count. Without any, the least is infinity and the greatest 0. */
enum mase_looks { MASE_LOOKS_NOWHERE, MASE_LOOKS_FOR_LEAST, MASE_LOOKS_FOR_MOST };

/* Which operands a format rounds when a configuration names it for a whole layer: a layer with
 * weights, or nn.ReLU. An operand that names the format itself is rounded in any case. */
enum mase_rounds {
    MASE_ROUNDS_ALL = 0,
    MASE_ROUNDS_DATA = 1, /* and the result */
    MASE_ROUNDS_WEIGHT = 2,
};

struct mase_quant_info {
    const char *name;   /* "integer", as configurations say */
    const char *suffix; /* of class names: "Integer" */
    const char *func;   /* suffix of function names: "integer" */
    const char *help;
    const char *standard; /* defines the format; NULL: the original's code does */
    const char *same_as;  /* a preset: the format whose other parameters it fixes; else NULL */
    const char *drawn;    /* a small format of the family, to draw on an axis */
    const struct mase_opt *params;     /* ended by a zeroed row */
    size_t size;                       /* size of the struct that params binds */
    mase_quant_resolve_fn *resolve;    /* NULL: nothing to do */
    mase_quant_geometry_fn *geometry;  /* NULL: every value is a block */
    bool (*alone)(const void *params); /* NULL, or: is every value a block of its own with these
                                          parameters? */
    mase_quant_fits_fn *fits;          /* NULL: any tensor can be cut */
    mase_quant_fn *quantize;           /* NULL: as it learns, else each value by share and round */
    mase_quant_share_fn *share;        /* by whole numbers; NULL: a block shares nothing */
    mase_quant_round_fn *round;
    mase_quant_encode_fn *encode; /* NULL: each value by share and code */
    mase_quant_code_fn *code;
    mase_quant_decode_fn *decode;
    mase_quant_limits_fn *limits; /* NULL: the values of the lowest and highest code */
    mase_quant_range_fn *range;   /* NULL: from -top to top */
    int64_t (*top)(const void *params);
    int (*bits)(const void *params);        /* bits of a value, without what it shares */
    int (*shared_bits)(const void *params); /* bits that a block shares; NULL: none */
    mase_quant_integer_fn *integer;         /* NULL: values are not integers times a power of two */
    mase_quant_uniform_fn *uniform;         /* NULL: values are not multiples of a step */
    mase_quant_gradient_fn *gradient;       /* NULL: straight through */
    const struct mase_learning *learned;    /* NULL: nothing */
    int rounds;                             /* flags of enum mase_rounds */
    enum mase_looks looks_around;
    bool for_data;  /* a tensor of unknown role, if its rank is above 1, is rounded as data; else as
                       a weight */
    bool by_values; /* data that cannot be negative is rounded unsigned (ir/graph/operand.c) */
    bool (*by_chance)(const void *params); /* NULL: never */
    bool unstable; /* by a flaw of its definition, rounding a rounded value may change it */
};

extern const struct mase_quant_info *const mase_quants[MASE_QUANT_COUNT];

int mase_quant_param_count(const struct mase_quant_info *row);
/* MASE_QUANT_COUNT when there is no such format. */
enum mase_quant_kind mase_quant_find(const char *name);
/* Find a format, or fail with a message that says the nearest name; float is not found. at: the
 * place of the name. */
enum mase_status mase_quant_need(enum mase_quant_kind *kind, const char *name, struct mase_loc at,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- making formats ---- */

/* Read prefix_<param> ("weight_width") for every parameter of kind from a configuration table, and
 * check presence, type and range. Errors have the places of the table. An empty prefix reads the
 * parameters' own names. */
enum mase_status mase_format_bind(const struct mase_format **f, enum mase_quant_kind kind,
                                  const struct mase_value *config, const char *prefix,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Bind a format without interning it: a candidate that lives in a. kind is not float. */
enum mase_status mase_format_try(struct mase_format *f, struct mase_arena *a,
                                 enum mase_quant_kind kind, const struct mase_value *config,
                                 const char *prefix, struct mase_err *err) MASE_MUST_CHECK;
/* Make a format from a list of its parameters in order, as metadata has them: [8, 4]. */
enum mase_status mase_format_from_list(const struct mase_format **f, enum mase_quant_kind kind,
                                       const struct mase_value *list,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Parse the text that mase_format_print writes: "integer(8, NA)". */
enum mase_status mase_format_parse(const struct mase_format **f, const char *text,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Does any key of the table start with prefix_ ? */
bool mase_format_mentioned(const struct mase_value *config, const char *prefix);
/* A parameter on a command line: 8, 0.5, true, NA, [1, 16]; anything else is a text. */
struct mase_value *mase_format_word(struct mase_arena *a, const char *word);

/* ---- what calibration may find (calibrate.h) ---- */

/* A parameter that is "auto" in a configuration is decided before a format is made of it. */
#define MASE_AUTO "auto"
bool mase_value_is_auto(const struct mase_value *v); /* v may be NULL */

enum mase_tuning {
    MASE_NOT_TUNED,
    MASE_TUNED_EXPONENT, /* an integer; adding 1 doubles or halves every value */
    MASE_TUNED_SCALE,    /* every value is a multiple of the scale */
    MASE_TUNED_ZERO,     /* the code of zero */
};
enum mase_tuning mase_param_tuning(const struct mase_opt *row);
/* The error for an "auto" that calibration has not replaced, or that the parameter does not allow.
 */
enum mase_status mase_format_refuse_auto(enum mase_quant_kind kind, const struct mase_opt *row,
                                         const char *key, struct mase_loc at, struct mase_err *err);

/* ---- blocks ---- */

/* How a format cuts a tensor. The last block along a dimension may be shorter. */
struct mase_blocks {
    struct mase_shape shape;
    int64_t length[MASE_MAX_RANK]; /* of a block along each dimension */
    int64_t count;                 /* blocks in all */
    int64_t largest;               /* values in a full block */
};
struct mase_blocks mase_format_blocks(const struct mase_format *f, const struct mase_shape *s,
                                      enum mase_role role);
/* Write the offsets of block i's values in the dense tensor to offset (largest). Returns their
 * number. */
int64_t mase_blocks_offsets(const struct mase_blocks *b, int64_t i, int64_t *offset);

/* Geometries. Tiles: sizes count from the last dimension; a dimension without a size, or with size
 * -1, is not cut. Of data, and of weights with more than two dimensions, only the last two
 * dimensions are cut (of data with two, only the last), and each position of the other dimensions
 * has tiles of its own. skip_first true or false decides this for every role, MASE_NA leaves it to
 * the role. */
void mase_geometry_tiles(int64_t *length, const struct mase_shape *s, enum mase_role role,
                         const struct mase_ints *size, int64_t skip_first);
/* Runs of `values` values along dimension dim, counted from the end when negative. A run longer
 * than the dimension goes on into the others, the last first; each is filled before the next. */
void mase_geometry_run(int64_t *length, const struct mase_shape *s, enum mase_role role,
                       int64_t values, int64_t dim);
/* Runs of `values` values along dimension dim, counted from the end when negative; the last run may
 * be shorter. Along the dimension of samples every value is a block. */
void mase_geometry_one_dim(int64_t *length, const struct mase_shape *s, enum mase_role role,
                           int64_t values, int64_t dim);
/* One block for each position of the first dimension; a vector that is not data is one block. */
void mase_geometry_items(int64_t *length, const struct mase_shape *s, enum mase_role role,
                         const void *params);
/* One block for each sample of data; any other tensor is one block. */
void mase_geometry_whole(int64_t *length, const struct mase_shape *s, enum mase_role role);
/* One block for each position of dimension axis, counted from the end when negative. */
void mase_geometry_axis(int64_t *length, const struct mase_shape *s, enum mase_role role, int axis);

/* ---- properties of a format; NULL is float ---- */

/* The reference arithmetic of f on a dense tensor. float copies. */
void mase_quantize(const struct mase_format *f, float *q, const float *x,
                   const struct mase_shape *s, enum mase_role role, enum mase_sign sign);
/* Round n consecutive values that are not data. */
void mase_quantize_values(const struct mase_format *f, float *q, const float *x, int64_t n,
                          enum mase_sign sign);
/* Blocks side by side, as plans have them. */
void mase_quantize_blocks(const struct mase_format *f, float *q, const float *x,
                          const struct mase_block *b, enum mase_sign sign);
/* The codes of one block, as mase_quant_encode_fn gives them. */
bool mase_format_encode(int64_t *code, int64_t *shared, const struct mase_format *f, const float *q,
                        int64_t n, enum mase_sign sign);
/* Its lowest and highest code. */
void mase_format_range(int64_t *low, int64_t *high, const struct mase_format *f,
                       enum mase_sign sign);
/* The integer codes of quantised values, code (count of s); MASE_NO_CODE for values that the format
 * does not have. Any program may have quantised them. Returns the number of values without a code.
 */
int64_t mase_format_codes(int64_t *code, const struct mase_format *f, const float *q,
                          const struct mase_shape *s, enum mase_role role, enum mase_sign sign);
/* The lowest and highest value of f; infinities for float. */
void mase_format_limits(float *low, float *high, const struct mase_format *f, enum mase_sign sign);
/* The distance between neighbouring values where it is constant, else 0. */
float mase_format_step(const struct mase_format *f);
/* The values of f next to any x, in a block that shares `shared` (0: f has no blocks): the largest
 * below x and the smallest above; infinite where there is none. NULL: floats. */
struct mase_neighbours {
    float below, above;
};
struct mase_neighbours mase_format_neighbours(const struct mase_format *f, float x, int64_t shared,
                                              enum mase_sign sign);
/* The midpoint of x and the next value above, where rounding to nearest has a tie. NaN: no value
 * above. */
float mase_format_midpoint(const struct mase_format *f, float x, int64_t shared,
                           enum mase_sign sign);
/* The step and bounds of block `index`; false: they depend on the values. */
bool mase_format_uniform(struct mase_uniform *u, const struct mase_format *f, int64_t index,
                         enum mase_sign sign);
/* The step of a block of n values that were rounded to f; false: values are not codes times a step.
 */
bool mase_format_step_of(float *step, const struct mase_format *f, int64_t index, const float *q,
                         int64_t n, enum mase_sign sign);
/* How many numbers of each block are learned. */
int mase_format_learned(const struct mase_format *f);
/* From the learned numbers, value[j][block]: the step and bounds of a block, the step NaN where a
 * number is; and the format `int` that f has become, for which every number must be known. */
struct mase_uniform mase_learned_uniform(const struct mase_format *f, const float *const *value,
                                         int64_t block, enum mase_sign sign);
const struct mase_format *mase_learned_now(const struct mase_format *f, const float *const *value,
                                           int64_t blocks, enum mase_sign sign);
/* Statistics of the first `lanes` lanes of a block. */
struct mase_block_size mase_block_sizes(const float *x, const struct mase_block *b, int64_t lanes,
                                        enum mase_role role);
/* Statistics of the union of both. */
struct mase_block_size mase_block_sizes_of_both(const struct mase_block_size *a,
                                                const struct mase_block_size *b);
/* How gradients pass back; straight for float. */
enum mase_gradient mase_format_gradient(const struct mase_format *f);
/* Do its parameters put values of different samples into one block? */
bool mase_format_spans_samples(const struct mase_format *f);
/* Check that f can cut a tensor of this shape into blocks; the message says why not. */
enum mase_status mase_format_fits(const struct mase_format *f, const struct mase_shape *s,
                                  enum mase_role role, struct mase_err *err) MASE_MUST_CHECK;
/* Is 0 a value of the format? */
bool mase_format_keeps_zero(const struct mase_format *f);
/* Does a block of zeros become NaN? */
bool mase_format_breaks_zeros(const struct mase_format *f);
/* Do the values of a block share anything? */
bool mase_format_has_blocks(const struct mase_format *f);
/* Bits of one value, without what its block shares; 32 for float. */
int mase_format_bits(const struct mase_format *f);
/* Bits of a tensor: those of each value, and once for each block those that it shares. */
int64_t mase_format_stored_bits(const struct mase_format *f, const struct mase_shape *s,
                                enum mase_role role);
const char *mase_format_name(const struct mase_format *f); /* "integer", "float" */
/* "float", "integer(8, 4)", "integer(8, NA)", "block_fp(8, 8, NA, [16])". */
void mase_format_print(struct mase_str *out, const struct mase_format *f);
/* Print a format for people: a long list as "[64 from 0.01 to 0.3]". */
void mase_format_tell(struct mase_str *out, const struct mase_format *f);

MASE_API_END

#endif /* MASE_FORMAT_H */
