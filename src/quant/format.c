/*
 * format.c - the table of number formats, and what can be asked of any of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/arena.h>

#include "base/alloc.h"
#include "quant/quant.h"

static const struct mase_opt no_params[] = { { 0 } };
static const struct mase_quant_info float_row = {
    .name = "float", .suffix = "", .func = "", .help = "not quantised", .params = no_params
};

const struct mase_quant_info *const mase_quants[MASE_QUANT_COUNT] = {
    [MASE_QUANT_float] = &float_row,
#define QUANT(name, kernel) [MASE_QUANT_##name] = &mase_quant_##name,
#include <mase/quants.def>
};

int mase_quant_param_count(const struct mase_quant_info *row)
{
    int n = 0;
    while (row->params[n].type)
        n++;
    return n;
}

enum mase_quant_kind mase_quant_find(const char *name)
{
    for (int k = 0; k < MASE_QUANT_COUNT; k++)
        if (mase_streq(mase_quants[k]->name, name))
            return (enum mase_quant_kind)k;
    return MASE_QUANT_COUNT;
}

enum mase_status mase_quant_need(enum mase_quant_kind *kind, const char *name, struct mase_loc at,
                                 struct mase_err *err)
{
    *kind = mase_quant_find(name);
    if (*kind > MASE_QUANT_float && *kind < MASE_QUANT_COUNT)
        return MASE_OK;
    const char *names[MASE_QUANT_COUNT] = { NULL };
    for (int i = MASE_QUANT_float + 1; i < MASE_QUANT_COUNT; i++)
        names[i] = mase_quants[i]->name;
    return mase_fail_unknown(
        err, at,
        &(struct mase_unknown){ name, names, MASE_QUANT_COUNT, .tail = "allowed: ", .lists = true },
        "no number format is called '%s'", name);
}

/* ---- rounding ---- */

bool mase_format_has_blocks(const struct mase_format *f)
{
    return f && f->row->geometry && !(f->row->alone && f->row->alone(f->params));
}

/* Asked of two samples of every rank, before there is a shape. */
bool mase_format_spans_samples(const struct mase_format *f)
{
    struct mase_shape two = { 0, { 2, 2, 2, 2, 2, 2, 2, 2 } };
    bool spans = false;
    for (two.rank = 1; two.rank <= MASE_MAX_RANK; two.rank++)
        spans |= mase_format_blocks(f, &two, MASE_ROLE_DATA).length[0] > 1;
    return spans;
}

enum mase_status mase_format_fits(const struct mase_format *f, const struct mase_shape *s,
                                  enum mase_role role, struct mase_err *err)
{
    return f && f->row->fits ? f->row->fits(s, role, f->params, err) : MASE_OK;
}

static float rounded_zero(const struct mase_format *f)
{
    float zero = 0.0f;
    mase_quantize_values(f, &zero, &zero, 1, MASE_SIGNED);
    return zero;
}

bool mase_format_keeps_zero(const struct mase_format *f)
{
    return rounded_zero(f) == 0.0f;
}

bool mase_format_breaks_zeros(const struct mase_format *f)
{
    return isnan(rounded_zero(f));
}

/* Each lane shares what its largest value decides. */
static void round_sharing(const struct mase_format *f, float *q, const float *x,
                          const struct mase_block *b)
{
    for (int64_t l = 0; l < b->lanes; l++) {
        float largest;
        mase_block_largest(&largest, x, b, l, 1);
        const int64_t shared = f->row->share(largest, b->around ? b->around[l] : NAN, f->params);
        for (int64_t r = 0; r < b->rows; r++) {
            const int64_t i = b->row[r] + l;
            q[i] = shared == MASE_NO_CODE ? NAN : f->row->round(x[i], shared, f->params);
        }
    }
}

void mase_quantize_blocks(const struct mase_format *f, float *q, const float *x,
                          const struct mase_block *b, enum mase_sign sign)
{
    if (f->row->quantize) {
        f->row->quantize(q, x, b, f->params, sign);
        return;
    }
    if (f->row->learned) {
        mase_learned_quantize(q, x, b, f->row->learned, f->params, sign);
        return;
    }
    if (f->row->share) {
        round_sharing(f, q, x, b);
        return;
    }
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t i = b->row[r]; i < b->row[r] + b->lanes; i++)
            q[i] = f->row->round(x[i], 0, f->params);
}

/* Blocks from .. to, one after the other: offsets serves them all. */
static void quantize_each(const struct mase_format *f, float *q, const float *x,
                          const struct mase_blocks *blocks, int64_t from, int64_t to,
                          enum mase_sign sign, int64_t *offset)
{
    const enum mase_looks looks = f->row->looks_around;
    float around = mase_around_none(looks);
    for (int64_t i = from; i < to && looks; i++) {
        const int64_t rows = mase_blocks_offsets(blocks, i, offset);
        mase_block_look(&around, x, &(struct mase_block){ offset, rows, 1, NULL, 0 }, looks);
    }
    for (int64_t i = from; i < to; i++) {
        const int64_t rows = mase_blocks_offsets(blocks, i, offset);
        const struct mase_block b = { offset, rows, 1, &around, i - from };
        mase_quantize_blocks(f, q, x, &b, sign);
    }
}

/* Blocks of a sample; of what is no data, all. */
static int64_t blocks_each(const struct mase_blocks *b, enum mase_role role)
{
    const struct mase_shape *s = &b->shape;
    const bool samples = role == MASE_ROLE_DATA && s->rank && b->length[0] == 1;
    return samples && s->dim[0] ? b->count / s->dim[0] : b->count;
}

void mase_quantize(const struct mase_format *f, float *q, const float *x,
                   const struct mase_shape *s, enum mase_role role, enum mase_sign sign)
{
    const int64_t n = mase_shape_count(s);
    if (mase_format_has_blocks(f)) {
        const struct mase_blocks blocks = mase_format_blocks(f, s, role);
        struct mase_arena a = { 0 };
        int64_t *offset = mase_new_array(&a, int64_t, (size_t)blocks.largest);
        const int64_t each = blocks_each(&blocks, role);
        for (int64_t i = 0; i < blocks.count; i += each)
            quantize_each(f, q, x, &blocks, i, i + each, sign, offset);
        mase_arena_release(&a);
    } else if (f) {
        const int64_t start = 0;
        mase_quantize_blocks(f, q, x, &(struct mase_block){ &start, 1, n, NULL, 0 }, sign);
    } else if (n > 0 && q != x) {
        memcpy(q, x, (size_t)n * sizeof *q);
    }
}

void mase_quantize_values(const struct mase_format *f, float *q, const float *x, int64_t n,
                          enum mase_sign sign)
{
    mase_quantize(f, q, x, &(struct mase_shape){ 1, { n } }, MASE_ROLE_WEIGHT, sign);
}

/* ---- codes ---- */

bool mase_encode_by(int64_t *code, int64_t shared, const float *q, int64_t n,
                    mase_quant_code_fn *code_of, const void *params)
{
    bool all = true;
    for (int64_t i = 0; i < n; i++) {
        code[i] = code_of(q[i], shared, params);
        all &= code[i] != MASE_NO_CODE;
    }
    return all;
}

bool mase_encode_sharing(int64_t *code, int64_t *shared, const float *q, int64_t n,
                         const struct mase_shared *among, mase_quant_code_fn *code_of,
                         const void *params)
{
    for (*shared = among->from; *shared <= among->to; ++*shared)
        if (mase_encode_by(code, *shared, q, n, code_of, params))
            return true;
    *shared = among->else_take;
    return mase_encode_by(code, *shared, q, n, code_of, params);
}

bool mase_format_encode(int64_t *code, int64_t *shared, const struct mase_format *f, const float *q,
                        int64_t n, enum mase_sign sign)
{
    const struct mase_quant_info *row = f->row;
    if (row->encode)
        return row->encode(code, shared, q, n, f->params, sign);
    *shared = row->share ? row->share(mase_largest(q, n), NAN, f->params) : 0;
    *shared = *shared == MASE_NO_CODE ? 0 : *shared;
    return mase_encode_by(code, *shared, q, n, row->code, f->params);
}

void mase_format_range(int64_t *low, int64_t *high, const struct mase_format *f,
                       enum mase_sign sign)
{
    if (f->row->range) {
        f->row->range(low, high, f->params, sign);
        return;
    }
    *high = f->row->top(f->params);
    *low = -*high;
}

int mase_width_of(const void *params)
{
    return (int)*(const int64_t *)params;
}

int mase_eight_bits(const void *params)
{
    (void)params;
    return 8;
}

int mase_thirty_two_bits(const void *params)
{
    (void)params;
    return 32;
}

static int64_t encode_block(int64_t *code, const struct mase_format *f, const float *q,
                            const int64_t *offset, int64_t n, int64_t index, enum mase_sign sign,
                            float *values, int64_t *codes)
{
    int64_t shared = index, missing = 0;
    for (int64_t k = 0; k < n; k++)
        values[k] = q[offset[k]];
    mase_format_encode(codes, &shared, f, values, n, sign);
    for (int64_t k = 0; k < n; k++) {
        code[offset[k]] = codes[k];
        missing += codes[k] == MASE_NO_CODE;
    }
    return missing;
}

int64_t mase_format_codes(int64_t *code, const struct mase_format *f, const float *q,
                          const struct mase_shape *s, enum mase_role role, enum mase_sign sign)
{
    const int64_t n = mase_shape_count(s);
    const struct mase_blocks blocks = mase_format_blocks(f, s, role);
    int64_t missing = 0, shared = 0;
    if (!f) {
        for (int64_t i = 0; i < n; i++)
            code[i] = MASE_NO_CODE;
        return n;
    }
    if (!mase_format_has_blocks(f)) {
        if (mase_format_encode(code, &shared, f, q, n, sign))
            return 0;
        for (int64_t i = 0; i < n; i++)
            missing += code[i] == MASE_NO_CODE;
        return missing;
    }
    struct mase_arena a = { 0 };
    int64_t *offset = mase_new_array(&a, int64_t, (size_t)blocks.largest);
    int64_t *codes = mase_new_array(&a, int64_t, (size_t)blocks.largest);
    float *values = mase_new_array(&a, float, (size_t)blocks.largest);
    const int64_t each = blocks_each(&blocks, role);
    for (int64_t i = 0; i < blocks.count; i++) {
        const int64_t rows = mase_blocks_offsets(&blocks, i, offset);
        missing += encode_block(code, f, q, offset, rows, i % each, sign, values, codes);
    }
    mase_arena_release(&a);
    return missing;
}

/* ---- facts ---- */

void mase_format_limits(float *low, float *high, const struct mase_format *f, enum mase_sign sign)
{
    int64_t least, most;
    *low = -INFINITY;
    *high = INFINITY;
    if (f && f->row->limits) {
        f->row->limits(low, high, f->params, sign);
    } else if (f) {
        mase_format_range(&least, &most, f, sign);
        *low = f->row->decode(least, 0, f->params);
        *high = f->row->decode(most, 0, f->params);
    }
}

float mase_format_step(const struct mase_format *f)
{
    return f && f->row->integer ? f->row->decode(1, 0, f->params) : 0.0f;
}

bool mase_format_uniform(struct mase_uniform *u, const struct mase_format *f, int64_t index,
                         enum mase_sign sign)
{
    return f && f->row->uniform && f->row->uniform(u, f->params, index, sign);
}

bool mase_format_step_of(float *step, const struct mase_format *f, int64_t index, const float *q,
                         int64_t n, enum mase_sign sign)
{
    struct mase_uniform u;
    int64_t shared = index;
    if (mase_format_uniform(&u, f, index, sign)) {
        *step = u.scale;
        return true;
    }
    if (!f->row->uniform)
        return false;
    /* a trailing zero gives its code; far from it a step would be the difference of two rounded
     * products */
    int64_t *code = mase_xcalloc((size_t)(n + 1) * sizeof *code);
    float *value = mase_xcalloc((size_t)(n + 1) * sizeof *value);
    memcpy(value, q, (size_t)n * sizeof *value);
    const bool found = mase_format_encode(code, &shared, f, value, n + 1, sign);
    if (found)
        *step = f->row->decode(code[n] + 1, shared, f->params);
    mase_xfree(code);
    mase_xfree(value);
    return found;
}

enum mase_gradient mase_format_gradient(const struct mase_format *f)
{
    return f && f->row->gradient ? f->row->gradient(f->params) : MASE_GRADIENT_STRAIGHT;
}

int mase_format_bits(const struct mase_format *f)
{
    return f ? f->row->bits(f->params) : 32;
}

int64_t mase_format_stored_bits(const struct mase_format *f, const struct mase_shape *s,
                                enum mase_role role)
{
    const int64_t own = mase_shape_count(s) * mase_format_bits(f);
    if (!mase_format_has_blocks(f) || !f->row->shared_bits)
        return own;
    return own + mase_format_blocks(f, s, role).count * f->row->shared_bits(f->params);
}

const char *mase_format_name(const struct mase_format *f)
{
    return f ? f->row->name : float_row.name;
}

static void print_param(struct mase_str *out, const struct mase_value *v)
{
    if (v->kind == MASE_NONE)
        mase_str_add(out, "NA");
    else if (v->kind == MASE_STRING) /* one of a few words */
        mase_str_add(out, v->s);
    else
        mase_json_print(out, v, 0);
}

/* Lengths of blocks are few and short; scales of channels are neither. */
static bool is_long(const struct mase_value *v)
{
    bool fractions = false;
    for (int i = 0; v->kind == MASE_LIST && i < v->count; i++)
        fractions |= v->items[i]->kind == MASE_FLOAT;
    return v->kind == MASE_LIST && v->count > (fractions ? 2 : MASE_INTS_MAX);
}

/* A long list: from what to what, and how many. */
static void tell_param(struct mase_str *out, const struct mase_value *v)
{
    double least = INFINITY, most = -INFINITY;
    if (!is_long(v)) {
        print_param(out, v);
        return;
    }
    for (int i = 0; i < v->count; i++) {
        least = fmin(least, mase_value_number(v->items[i]));
        most = fmax(most, mase_value_number(v->items[i]));
    }
    mase_str_printf(out, "[%d from %.4g to %.4g]", v->count, least, most);
}

static void print_with(struct mase_str *out, const struct mase_format *f,
                       void (*param)(struct mase_str *out, const struct mase_value *v))
{
    mase_str_add(out, mase_format_name(f));
    for (int i = 0; f && i < f->config->count; i++) {
        mase_str_add(out, i ? ", " : "(");
        param(out, f->config->items[i]);
    }
    if (f && f->config->count)
        mase_str_addc(out, ')');
}

void mase_format_print(struct mase_str *out, const struct mase_format *f)
{
    print_with(out, f, print_param);
}

void mase_format_tell(struct mase_str *out, const struct mase_format *f)
{
    print_with(out, f, tell_param);
}
