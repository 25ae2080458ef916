/*
 * format.h - number formats: what a value is rounded to.
 *
 * A format is a small value: a row of quants.def and its parameters. One reference function per
 * row defines its arithmetic; every faster version must give the same bits. The same definition
 * serves fake quantisation, the weights shown to the user and, later, integers and hardware.
 *
 *     struct mase_format f = { .kind = MASE_QUANT_integer, .param = { 8, 4 } };
 *     mase_quantize(&f, q, x, n, MASE_SIGNED);
 */
#ifndef MASE_FORMAT_H
#define MASE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/err.h>
#include <mase/str.h>
#include <mase/value.h>

enum mase_quant_kind {
    MASE_QUANT_float, /* not quantised: kind 0, so that a zeroed format is float32 */
#define QUANT(name, ...) MASE_QUANT_##name,
#include <mase/quants.def>
    MASE_QUANT_COUNT
};

enum { MASE_QUANT_PARAMS = 6 };
#define MASE_NA INT64_MIN /* a parameter given as none: the format's own rule decides */

struct mase_format {
    enum mase_quant_kind kind;
    int64_t param[MASE_QUANT_PARAMS]; /* in the order of the row's parameters */
};

enum mase_sign { MASE_SIGNED, MASE_UNSIGNED };

/* x and q may be the same array. */
typedef void mase_quant_fn(float *q, const float *x, int64_t n, const struct mase_format *f,
                           enum mase_sign sign);

/* Of a value on the format's grid and in its range, the number of steps from zero: what hardware
 * stores. False for any other value. */
typedef bool mase_code_fn(int64_t *code, float q, const struct mase_format *f, enum mase_sign sign);

/* What a parameter says about the room that values take. */
enum mase_param_role {
    MASE_PARAM_OTHER,
    MASE_PARAM_WIDTH,  /* bits of each value */
    MASE_PARAM_SHARED, /* bits that a block of values has in common, such as its exponent */
    MASE_PARAM_BLOCK,  /* values in a block */
};

struct mase_quant_param {
    const char *name; /* "width"; a configuration says "weight_width" */
    int64_t min, max;
    bool may_be_na;
    int64_t dflt; /* used by `ch formats`; configurations must say */
    const char *help;
    enum mase_param_role role;
};

struct mase_quant_info {
    const char *name;                      /* "integer", as configurations say */
    const char *suffix;                    /* of class names: "Integer" */
    const char *func;                      /* suffix of function names: "integer" */
    const struct mase_quant_param *params; /* params[0..count) */
    int count;
    mase_quant_fn *quantize; /* NULL for float */
    mase_code_fn *code;      /* NULL for float */
    const char *help;
};
extern const struct mase_quant_info mase_quants[MASE_QUANT_COUNT];

/* MASE_QUANT_COUNT when there is no such format. */
enum mase_quant_kind mase_quant_find(const char *name);

/* The reference arithmetic of f. float copies. */
void mase_quantize(const struct mase_format *f, float *q, const float *x, int64_t n,
                   enum mase_sign sign);

/* The integer code of a quantised value; false when q is not one of the format's values. It looks
 * at the value alone, so it judges what others have quantised, too. */
bool mase_format_code(int64_t *code, float q, const struct mase_format *f, enum mase_sign sign);

/* Bits of one value, without what it shares with others (width); 32 for float. */
int mase_format_bits(const struct mase_format *f);
/* Bits that n values take: the width of each, and what every block of them shares once. */
int64_t mase_format_stored_bits(const struct mase_format *f, int64_t n);
/* The same by a row and its parameters; the row need not be in the table. */
int64_t mase_quant_stored_bits(const struct mase_quant_info *row, const int64_t *param, int64_t n);
bool mase_format_equal(const struct mase_format *a, const struct mase_format *b);
/* "float", "integer(8, 4)", "integer(8, NA)". */
void mase_format_print(struct mase_str *out, const struct mase_format *f);

/* Read prefix_<param> ("weight_width") for every parameter of kind from a configuration table:
 * checks that all are there, their type and range. Places come from the table. */
enum mase_status mase_format_bind(struct mase_format *f, enum mase_quant_kind kind,
                                  const struct mase_value *config, const char *prefix,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Does any key of the table start with prefix_ ? */
bool mase_format_mentioned(const struct mase_value *config, const char *prefix);

#endif /* MASE_FORMAT_H */
