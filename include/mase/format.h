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
 * (struct mase_blocks), and rounds each of them for itself. A format of single values has blocks of
 * one. The first dimension of data counts samples, and no block spans two of them: what a sample
 * becomes does not depend on its neighbours in the batch.
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
    const void *params;              /* the row's own struct, with NA replaced by what it means */
};

enum mase_sign { MASE_SIGNED, MASE_UNSIGNED };
/* What a tensor is to its operation: the first dimension of data counts samples. */
enum mase_role { MASE_ROLE_DATA, MASE_ROLE_WEIGHT };

/* ---- what a row consists of ---- */

/* Blocks side by side: value r of lane l lies at row[r] + l, and each lane is a block of its own. A
 * dense tensor has one lane for each block, a plan one for each sample. */
struct mase_block {
    const int64_t *row; // (rows)
    int64_t rows, lanes;
    const float *around; // (lanes) what rows that look around find, else NULL
    int64_t index;       /* of the block among those of its tensor, or of its sample */
};

/* Round the blocks; x and q may be the same array. */
typedef void mase_quant_fn(float *q, const float *x, const struct mase_block *b, const void *params,
                           enum mase_sign sign);
/* What NA stands for, and what no row of parameters can check alone. */
typedef enum mase_status mase_quant_resolve_fn(void *params, struct mase_err *err);
/* The length of a block along each dimension of a tensor. */
typedef void mase_quant_geometry_fn(int64_t *length, const struct mase_shape *s,
                                    enum mase_role role, const void *params);
/* Can a tensor of this shape be cut so? Its blocks may have to fill it. */
typedef enum mase_status mase_quant_fits_fn(const struct mase_shape *s, enum mase_role role,
                                            const void *params, struct mase_err *err);
/* What a block shares whose largest magnitude is this; around is what it finds of other blocks,
 * NaN: nothing. MASE_NO_CODE: the block becomes NaN. */
typedef int64_t mase_quant_share_fn(float largest, float around, const void *params);
/* One value, and its code, in a block that shares this. */
typedef float mase_quant_round_fn(float x, int64_t shared, const void *params);
typedef int64_t mase_quant_code_fn(float q, int64_t shared, const void *params);
/* The n values of one block, which were rounded by this format or by others, as integers, and what
 * they share: *shared, which is on entry the number of the block. False, with MASE_NO_CODE in the
 * place of such values, when some are none of the format's. */
typedef bool mase_quant_encode_fn(int64_t *code, int64_t *shared, const float *q, int64_t n,
                                  const void *params, enum mase_sign sign);
typedef float mase_quant_decode_fn(int64_t code, int64_t shared, const void *params);
/* The lowest and the highest value. */
typedef void mase_quant_limits_fn(float *low, float *high, const void *params, enum mase_sign sign);
/* The lowest and the highest code. All between them are codes, and a higher one never decodes to a
 * lower value. */
typedef void mase_quant_range_fn(int64_t *low, int64_t *high, const void *params,
                                 enum mase_sign sign);

#define MASE_NO_CODE INT64_MIN

/* A value is code * 2^-frac_width, the code an integer of width bits. */
struct mase_integer_form {
    int width, frac_width;
};
typedef struct mase_integer_form mase_quant_integer_fn(const void *params);

/* Multiples of a step between two bounds: q = clamp(round(x / scale), lo, hi) scale. To nearest,
 * ties to even; NaN stays NaN; unsigned zeros have no sign. */
struct mase_grid {
    float scale, lo, hi;
};
/* That of block `index`; false: the values of a block decide. */
typedef bool mase_quant_grid_fn(struct mase_grid *g, const void *params, int64_t index,
                                enum mase_sign sign);

/* Values of a block, by which what is learned of it starts. */
struct mase_block_size {
    double mean;    /* of the magnitudes */
    float min, max; /* and zero */
    int64_t count;
    enum mase_role role;
};

/* What training learns of a format: so many numbers for each block, parameters of the graph. */
enum { MASE_LEARNED_MAX = 2 };
struct mase_learning {
    const char *const *names; /* up to NULL: what parameters are called */
    bool sized;               /* the first is a step or a bound: above 0 */
    struct mase_grid (*grid)(const float *value, const void *params, enum mase_sign sign);
    /* Bits of a value without its sign, where they are learned too; NULL: they are fixed. */
    int (*bits)(const float *value, const void *params, enum mase_sign sign);
    void (*start)(float *value, const struct mase_block_size *s, const void *params,
                  enum mase_sign sign);
    /* Of the loss by the values of a block of so many numbers; sums as kernels.def has them. */
    void (*gradient)(float *d, const float sum[3], const float *value, const void *params,
                     enum mase_sign sign, int64_t count);
};

/* What passes back through a rounding. */
enum mase_gradient {
    MASE_GRADIENT_STRAIGHT, /* the gradient of the result, as if nothing were rounded */
    MASE_GRADIENT_CLIPPED,  /* the same, but nothing where x lies outside the format's limits */
};

typedef enum mase_gradient mase_quant_gradient_fn(const void *params);

/* What a block is told of all blocks of its sample, or of a tensor that is no data: of their
 * largest magnitudes, but those that are zero, infinite or NaN, the least or the most. Where there
 * is none, the least is infinite and the most 0. */
enum mase_looks { MASE_LOOKS_NOWHERE, MASE_LOOKS_FOR_LEAST, MASE_LOOKS_FOR_MOST };

/* Which operands a format rounds where it stands for a whole layer: those of a layer with weights,
 * or nn.ReLU. An operand that names the format itself is rounded in any case. */
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
    const char *standard; /* that defines it; NULL: the original's arithmetic */
    const char *same_as;  /* of a preset: the format that it stands for, less what its own
                           * parameters say; else NULL */
    const char *drawn;    /* a small one of the family, whose values can be told apart on a line */
    const struct mase_opt *params;    /* required rows must be configured; ends with a zeroed row */
    size_t size;                      /* of the struct that they bind */
    mase_quant_resolve_fn *resolve;   /* NULL: nothing to do */
    mase_quant_geometry_fn *geometry; /* NULL: every value is a block */
    bool (*alone)(
        const void *params);    /* NULL, or: with these parameters every value is one, after all */
    mase_quant_fits_fn *fits;   /* NULL: any tensor can be cut */
    mase_quant_fn *quantize;    /* NULL: value by value, by share and round */
    mase_quant_share_fn *share; /* by whole numbers; NULL: a block shares nothing */
    mase_quant_round_fn *round;
    mase_quant_encode_fn *encode; /* NULL: value by value, by share and code */
    mase_quant_code_fn *code;
    mase_quant_decode_fn *decode;
    mase_quant_limits_fn *limits; /* NULL: those of its codes, which share nothing */
    mase_quant_range_fn *range;   /* NULL: from -top to top */
    int64_t (*top)(const void *params);
    int (*bits)(const void *params);        /* of a value, without what it shares */
    int (*shared_bits)(const void *params); /* of what a block shares; NULL: nothing */
    mase_quant_integer_fn *integer;         /* NULL: there is none */
    mase_quant_grid_fn *grid;               /* NULL: its values are no multiples of a step */
    mase_quant_gradient_fn *gradient;       /* NULL: straight through */
    const struct mase_learning *learned;    /* NULL: nothing */
    int rounds;                             /* of enum mase_rounds, or-ed */
    enum mase_looks looks_around;
    bool for_data; /* what nobody says the role of is taken for data if it may be; else for a weight
                    */
    bool
        by_values; /* data that cannot be negative is rounded without a sign (ir/graph/operand.c) */
    bool (*by_chance)(const void *params); /* NULL: never */
    bool unstable; /* by a flaw of its definition what it has rounded may change when rounded again
                    */
};

extern const struct mase_quant_info *const mase_quants[MASE_QUANT_COUNT];

int mase_quant_param_count(const struct mase_quant_info *row);
/* MASE_QUANT_COUNT when there is no such format. */
enum mase_quant_kind mase_quant_find(const char *name);
/* The same with a message that names the nearest; float counts as none. at: of the name. */
enum mase_status mase_quant_need(enum mase_quant_kind *kind, const char *name, struct mase_loc at,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- making formats ---- */

/* Read prefix_<param> ("weight_width") for every parameter of kind from a configuration table:
 * checks that all required ones are there, their type and range. Places come from the table. An
 * empty prefix reads the parameters' own names. */
enum mase_status mase_format_bind(const struct mase_format **f, enum mase_quant_kind kind,
                                  const struct mase_value *config, const char *prefix,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The same without interning it: a candidate, which lives in a and is gone with it. Not float. */
enum mase_status mase_format_try(struct mase_format *f, struct mase_arena *a,
                                 enum mase_quant_kind kind, const struct mase_value *config,
                                 const char *prefix, struct mase_err *err) MASE_MUST_CHECK;
/* From the parameters in order, as metadata has them: [8, 4]. */
enum mase_status mase_format_from_list(const struct mase_format **f, enum mase_quant_kind kind,
                                       const struct mase_value *list,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* From what mase_format_print writes: "integer(8, NA)". */
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
    MASE_TUNED_EXPONENT, /* an integer; one more or less doubles every value */
    MASE_TUNED_SCALE,    /* every value is a multiple of it */
    MASE_TUNED_ZERO,     /* the code of zero */
};
enum mase_tuning mase_param_tuning(const struct mase_opt *row);
/* The error of an "auto" that nobody decided, or that the parameter cannot be. */
enum mase_status mase_format_refuse_auto(enum mase_quant_kind kind, const struct mase_opt *row,
                                         const char *key, struct mase_loc at, struct mase_err *err);

/* ---- blocks ---- */

/* How a format cuts a tensor. The last block along a dimension may be shorter. */
struct mase_blocks {
    struct mase_shape shape;
    int64_t length[MASE_MAX_RANK]; /* of a block along each dimension */
    int64_t count;                 /* blocks in all */
    int64_t largest;               /* values in a block that is not cut short */
};
struct mase_blocks mase_format_blocks(const struct mase_format *f, const struct mase_shape *s,
                                      enum mase_role role);
/* The offsets of block i's values in the dense tensor, into offset (largest). Returns how many. */
int64_t mase_blocks_offsets(const struct mase_blocks *b, int64_t i, int64_t *offset);

/* Geometries. Tiles: sizes are aligned with the last dimensions; where there are fewer, the others
 * are whole; -1 is whole, too. Of data and of weights with more than two dimensions only the last
 * two are cut (the last one of data with two), and each position of the others has tiles of its
 * own; skip_first true or false says so for all, MASE_NA leaves it to the role. */
void mase_geometry_tiles(int64_t *length, const struct mase_shape *s, enum mase_role role,
                         const struct mase_ints *size, int64_t skip_first);
/* As many values in a row along a dimension, counted from the end when negative, and on into the
 * others, the last of them first; each of those is filled before the next. */
void mase_geometry_run(int64_t *length, const struct mase_shape *s, enum mase_role role,
                       int64_t values, int64_t dim);
/* As many values in a row along a dimension, counted from the end when negative, fewer at its end.
 * Along that of samples every value is a block. */
void mase_geometry_line(int64_t *length, const struct mase_shape *s, enum mase_role role,
                        int64_t values, int64_t dim);
/* All values at one position of the first dimension; those of a vector that is no data. */
void mase_geometry_items(int64_t *length, const struct mase_shape *s, enum mase_role role);
/* All values that are not of different samples. */
void mase_geometry_whole(int64_t *length, const struct mase_shape *s, enum mase_role role);
/* All values at one position of a dimension, counted from the end when negative. */
void mase_geometry_axis(int64_t *length, const struct mase_shape *s, enum mase_role role, int axis);

/* ---- what can be asked of a format; NULL is float ---- */

/* The reference arithmetic of f on a dense tensor. float copies. */
void mase_quantize(const struct mase_format *f, float *q, const float *x,
                   const struct mase_shape *s, enum mase_role role, enum mase_sign sign);
/* The same for n values in a row, no samples. */
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
/* The integer codes of quantised values, (count of s); MASE_NO_CODE for those that are none of the
 * format's. It looks at values alone, so it judges what others have quantised, too. Returns how
 * many have none. */
int64_t mase_format_codes(int64_t *code, const struct mase_format *f, const float *q,
                          const struct mase_shape *s, enum mase_role role, enum mase_sign sign);
/* Its lowest and highest value; infinities for float. */
void mase_format_limits(float *low, float *high, const struct mase_format *f, enum mase_sign sign);
/* The distance of neighbours where it is the same everywhere, else 0. */
float mase_format_step(const struct mase_format *f);
/* The values of f next to x, which need not be one, in a block that shares this (0: f has no
 * blocks): the largest below x and the smallest above; infinite where there is none. NULL: floats.
 */
struct mase_neighbours {
    float below, above;
};
struct mase_neighbours mase_format_neighbours(const struct mase_format *f, float x, int64_t shared,
                                              enum mase_sign sign);
/* Half way from x to the next value above: what rounds to nearest has a tie there. NaN: none. */
float mase_format_midpoint(const struct mase_format *f, float x, int64_t shared,
                           enum mase_sign sign);
/* The step and bounds of block `index`; false: it has none before values are seen. */
bool mase_format_grid(struct mase_grid *g, const struct mase_format *f, int64_t index,
                      enum mase_sign sign);
/* The step of a block of n values that were rounded to the format; false: they are no codes times a
 * step. */
bool mase_format_step_of(float *step, const struct mase_format *f, int64_t index, const float *q,
                         int64_t n, enum mase_sign sign);
/* How many numbers of each block are learned. */
int mase_format_learned(const struct mase_format *f);
/* By the values that are learned, value[j][block]: a block's grid, whose step is NaN where one of
 * them is; and the int that f is now, which needs them all. */
struct mase_grid mase_learned_grid(const struct mase_format *f, const float *const *value,
                                   int64_t block, enum mase_sign sign);
const struct mase_format *mase_learned_now(const struct mase_format *f, const float *const *value,
                                           int64_t blocks, enum mase_sign sign);
/* What a block starts by: the first so many of its lanes. */
struct mase_block_size mase_block_sizes(const float *x, const struct mase_block *b, int64_t lanes,
                                        enum mase_role role);
/* The same of both together. */
struct mase_block_size mase_block_sizes_of_both(const struct mase_block_size *a,
                                                const struct mase_block_size *b);
/* What passes back through a rounding; straight for float. */
enum mase_gradient mase_format_gradient(const struct mase_format *f);
/* Does it put values of different samples into one block, because it was told so? */
bool mase_format_spans_samples(const struct mase_format *f);
/* Can it cut a tensor of this shape? If not, the message says why. */
enum mase_status mase_format_fits(const struct mase_format *f, const struct mase_shape *s,
                                  enum mase_role role, struct mase_err *err) MASE_MUST_CHECK;
/* Does zero stay zero? Some formats have none. */
bool mase_format_keeps_zero(const struct mase_format *f);
/* Does a block of zeros become NaN? */
bool mase_format_breaks_zeros(const struct mase_format *f);
/* Do values share anything? */
bool mase_format_has_blocks(const struct mase_format *f);
/* Bits of one value, without what it shares with others; 32 for float. */
int mase_format_bits(const struct mase_format *f);
/* Bits that a tensor takes: those of each value, and what every block of them shares once. */
int64_t mase_format_stored_bits(const struct mase_format *f, const struct mase_shape *s,
                                enum mase_role role);
const char *mase_format_name(const struct mase_format *f); /* "integer", "float" */
/* "float", "integer(8, 4)", "integer(8, NA)", "block_fp(8, 8, NA, [16])". */
void mase_format_print(struct mase_str *out, const struct mase_format *f);
/* The same for people: of a long list "[64 from 0.01 to 0.3]". */
void mase_format_tell(struct mase_str *out, const struct mase_format *f);

MASE_API_END

#endif /* MASE_FORMAT_H */
