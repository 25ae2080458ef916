/*
 * round_step.c - rounding to a number format in a plan (round_step.h).
 *
 * A kernel has the arguments of the reference function, blocks of rows and lanes, and returns equal
 * bits. Blocks lie within a sample, so that lanes, which are samples, are rounded side by side.
 */
#include "exec/step/round_step.h"

#include <math.h>
#include <string.h>

#include "quant/quant.h"

/* ---- kernels ---- */

typedef void round_fn(const struct mase_kernels *k, float *y, const float *x,
                      const struct mase_block *b, const void *params, enum mase_sign sign);

static void round_integer(const struct mase_kernels *k, float *y, const float *x,
                          const struct mase_block *b, const void *params, enum mase_sign sign)
{
    const struct mase_integer_levels levels = mase_integer_levels(params, sign);
    for (int64_t r = 0; r < b->rows; r++)
        k->quantize_integer(y + b->row[r], x + b->row[r], &levels, b->lanes);
}

static void round_minifloat(const struct mase_kernels *k, float *y, const float *x,
                            const struct mase_block *b, const void *params, enum mase_sign sign)
{
    const struct mase_float_levels *levels = mase_minifloat_float_levels(params);
    (void)sign;
    for (int64_t r = 0; r < b->rows; r++)
        k->quantize_float(y + b->row[r], x + b->row[r], levels, b->lanes);
}

#define ROUND_MINIFLOAT(name)                                                                     \
    static void round_##name(const struct mase_kernels *k, float *y, const float *x,              \
                             const struct mase_block *b, const void *params, enum mase_sign sign) \
    {                                                                                             \
        const struct mase_minifloat_levels levels = mase_minifloat_levels_of(params);             \
        (void)sign;                                                                               \
        for (int64_t r = 0; r < b->rows; r++)                                                     \
            k->quantize_##name(y + b->row[r], x + b->row[r], &levels, b->lanes);                  \
    }
ROUND_MINIFLOAT(denorm)
ROUND_MINIFLOAT(ieee)

static void round_mxint(const struct mase_kernels *k, float *y, const float *x,
                        const struct mase_block *b, const void *params, enum mase_sign sign)
{
    struct mase_mxint_levels levels;
    if (mase_mxint_levels(&levels, params))
        k->quantize_mxint(y, x, b->row, b->rows, &levels, b->lanes);
    else
        mase_quant_mxint.quantize(y, x, b, params, sign);
}

static void round_mxint_down(const struct mase_kernels *k, float *y, const float *x,
                             const struct mase_block *b, const void *params, enum mase_sign sign)
{
    const struct mase_mxint_levels levels = mase_mxint_hardware_levels(params);
    (void)sign;
    k->quantize_mxint_down(y, x, b->row, b->rows, &levels, b->lanes);
}

static void round_scaled(const struct mase_kernels *k, float *y, const float *x,
                         const struct mase_block *b, const void *params, enum mase_sign sign)
{
    const struct mase_scaled_levels levels = mase_scaled_levels(params, sign);
    k->quantize_scaled(y, x, b->row, b->rows, &levels, b->lanes);
}

static void round_mx(const struct mase_kernels *k, float *y, const float *x,
                     const struct mase_block *b, const void *params, enum mase_sign sign)
{
    (void)sign;
    k->quantize_mx(y, x, b->row, b->rows, mase_mx_levels(params), b->lanes);
}

static void round_block_fp(const struct mase_kernels *k, float *y, const float *x,
                           const struct mase_block *b, const void *params, enum mase_sign sign)
{
    const struct mase_block_fp_levels levels = mase_block_fp_levels(params);
    (void)sign;
    k->quantize_block_fp(y, x, b->row, b->rows, &levels, b->lanes);
}

#define round_NONE NULL
static round_fn *const kernels[MASE_QUANT_COUNT] = {
#define QUANT(name, kernel) [MASE_QUANT_##name] = round_##kernel,
#include <mase/quants.def>
};

/* NULL: the reference rounds. So it does by chance, whatever the row. */
static round_fn *kernel_of(const struct mase_format *f)
{
    return f->row->by_chance && f->row->by_chance(f->params) ? NULL : kernels[f->kind];
}

bool mase_round_has_kernel(const struct mase_format *f)
{
    struct mase_uniform u;
    return kernel_of(f) || mase_format_uniform(&u, f, 0, MASE_SIGNED);
}

/* No format. */
static void copy_block(float *y, const float *x, const struct mase_block *b)
{
    for (int64_t r = 0; r < b->rows; r++)
        memcpy(y + b->row[r], x + b->row[r], (size_t)b->lanes * sizeof *y);
}

static void round_uniform(const struct mase_kernels *k, float *y, const float *x,
                          const struct mase_block *b, const struct mase_uniform *u)
{
    for (int64_t r = 0; r < b->rows; r++)
        k->quantize_uniform(y + b->row[r], x + b->row[r], u, b->lanes);
}

static void round_block(const struct mase_round *r, const struct mase_kernels *k, float *y,
                        const float *x, const struct mase_block *b)
{
    const struct mase_format *f = r->how.format;
    struct mase_uniform u;
    if (!f)
        copy_block(y, x, b);
    else if (mase_format_uniform(&u, f, b->index, r->how.sign))
        round_uniform(k, y, x, b, &u);
    else if (kernel_of(f))
        kernel_of(f)(k, y, x, b, f->params, r->how.sign);
    else
        mase_quantize_blocks(f, y, x, b, r->how.sign);
}

/* ---- blocks of dense tensors ---- */

enum { SIDE_BY_SIDE_ROWS = 256 };

/* Blocks of as many values each, one after the other in `at`, into the lanes of a kernel. */
static void gather(float *lane, int64_t *start, const float *x, const int64_t *at, int64_t rows,
                   int64_t blocks)
{
    int64_t i = 0;
    do { /* a block has a value at least */
        start[i] = i * MASE_LANES;
        for (int64_t b = 0; b < MASE_LANES; b++)
            lane[start[i] + b] = b < blocks ? x[at[b * rows + i]] : 0.0f;
    } while (++i < rows);
}

static void round_side_by_side(const struct mase_round *r, const struct mase_kernels *k, float *y,
                               const float *x, const int64_t *at, int64_t rows, int64_t blocks)
{
    float lane[SIDE_BY_SIDE_ROWS * MASE_LANES];
    int64_t start[SIDE_BY_SIDE_ROWS];
    gather(lane, start, x, at, rows, blocks);
    round_block(r, k, lane, lane, &(struct mase_block){ start, rows, MASE_LANES, NULL, 0 });
    for (int64_t i = 0; i < rows; i++)
        for (int64_t b = 0; b < blocks; b++)
            y[at[b * rows + i]] = lane[i * MASE_LANES + b];
}

static int64_t rows_of(const struct mase_round *r, int64_t i)
{
    return r->end[i] - (i ? r->end[i - 1] : 0);
}

/* Does the format have a kernel, which needs whole vectors of lanes, while blocks have one each? */
static bool needs_lanes(const struct mase_round *r)
{
    const struct mase_format *f = r->how.format;
    return r->row && r->lanes == 1 && f && kernel_of(f);
}

/* As many blocks of the same size as a vector has lanes, again and again. */
static void round_dense_blocks(const struct mase_round *r, const struct mase_kernels *k, float *y,
                               const float *x)
{
    const struct mase_format *f = r->how.format;
    for (int64_t i = 0, n; i < r->count; i += n) {
        const int64_t rows = rows_of(r, i);
        const int64_t *first = r->row + (i ? r->end[i - 1] : 0);
        for (n = 1; n < MASE_LANES && i + n < r->count && rows_of(r, i + n) == rows;)
            n++;
        if (rows <= SIDE_BY_SIDE_ROWS) {
            round_side_by_side(r, k, y, x, first, rows, n);
            continue;
        }
        n = 1;
        mase_quantize_blocks(f, y, x, &(struct mase_block){ first, rows, 1, NULL, 0 }, r->how.sign);
    }
}

/* Consecutive blocks of whole vectors each, which need no transposition. */
typedef void run_fn(const struct mase_kernels *k, float *y, const float *x, int64_t run,
                    int64_t blocks, const void *params);

static void run_mx(const struct mase_kernels *k, float *y, const float *x, int64_t run,
                   int64_t blocks, const void *params)
{
    k->quantize_mx_runs(y, x, run, blocks, mase_mx_levels(params));
}

static run_fn *const run_kernels[MASE_QUANT_COUNT] = { [MASE_QUANT_mx] = run_mx };

/* Blocks of so many values in a row, `apart` from each other. */
static void round_runs(const struct mase_round *r, const struct mase_kernels *k, float *y,
                       const float *x, int64_t rows, int64_t apart, int64_t blocks)
{
    float lane[SIDE_BY_SIDE_ROWS * MASE_LANES];
    int64_t start[SIDE_BY_SIDE_ROWS];
    const struct mase_block side_by_side = { start, rows, MASE_LANES, NULL, 0 };
    const struct mase_format *f = r->how.format;
    if (run_kernels[f->kind] && rows % MASE_LANES == 0 && apart == rows) {
        run_kernels[f->kind](k, y, x, rows, blocks, f->params);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        start[i] = i * MASE_LANES;
    for (int64_t b = 0; b < blocks; b += MASE_LANES) {
        const int64_t n = blocks - b < MASE_LANES ? blocks - b : MASE_LANES;
        float *y_b = y + b * apart;
        k->gather(&(struct mase_gather){ .y = lane,
                                         .table = x + b * apart,
                                         .F = rows,
                                         .n = MASE_LANES,
                                         .samples = n,
                                         .y_stride = MASE_LANES,
                                         .table_stride = apart });
        round_block(r, k, lane, lane, &side_by_side);
        if (n == MASE_LANES && apart == rows && rows % MASE_LANES == 0) {
            k->transpose(y_b, lane, rows, MASE_LANES, MASE_LANES);
            continue;
        }
        for (int64_t l = 0; l < n; l++)
            for (int64_t i = 0; i < rows; i++)
                y_b[l * apart + i] = lane[i * MASE_LANES + l];
    }
}

/* Round the whole blocks of each slice, then the shorter last ones. Slices of whole blocks only are
 * rounded in one call. */
static void round_dense_runs(const struct mase_round *r, const struct mase_kernels *k, float *y,
                             const float *x)
{
    const int64_t slices = r->count, rest = r->slice % r->run, full = r->slice - rest;
    if (!rest) {
        round_runs(r, k, y, x, r->run, r->run, slices * (full / r->run));
        return;
    }
    for (int64_t i = 0; i < slices; i++)
        round_runs(r, k, y + i * r->slice, x + i * r->slice, r->run, r->run, full / r->run);
    round_runs(r, k, y + full, x + full, rest, r->slice, slices);
}

/* Are the blocks of a dense tensor contiguous runs? All dimensions after one are whole, none before
 * it is divided. */
static bool find_runs(struct mase_round *r, const struct mase_shape *s)
{
    const struct mase_blocks b = mase_format_blocks(r->how.format, s, r->how.role);
    int64_t behind = 1;
    int d = s->rank - 1;
    for (; d > 0 && b.length[d] == s->dim[d]; d--)
        behind *= s->dim[d];
    for (int i = 0; i < d; i++)
        if (b.length[i] != 1)
            return false;
    if (d < 0 || !b.count || b.length[d] * behind > SIDE_BY_SIDE_ROWS)
        return false;
    r->run = b.length[d] * behind;
    r->slice = s->dim[d] * behind;
    r->count = mase_shape_count(s) / r->slice;
    return true;
}

/* Each block has its own step and bounds; its values are copied side by side, some at a time. */
static void round_dense_uniform(const struct mase_round *r, const struct mase_kernels *k, float *y,
                                const float *x)
{
    enum { AT_ONCE = 256 };
    float lane[AT_ONCE];
    struct mase_uniform u;
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t *at = r->row + (i ? r->end[i - 1] : 0), rows = rows_of(r, i);
        mase_format_uniform(&u, r->how.format, i, r->how.sign);
        for (int64_t from = 0, n; from < rows; from += n) {
            n = rows - from < AT_ONCE ? rows - from : AT_ONCE;
            memset(lane, 0, sizeof lane);
            for (int64_t j = 0; j < n; j++)
                lane[j] = x[at[from + j]];
            k->quantize_uniform(lane, lane, &u, (n + MASE_LANES - 1) / MASE_LANES * MASE_LANES);
            for (int64_t j = 0; j < n; j++)
                y[at[from + j]] = lane[j];
        }
    }
}

static bool is_uniform(const struct mase_round *r)
{
    struct mase_uniform u;
    return mase_format_uniform(&u, r->how.format, 0, r->how.sign);
}

/* ---- blocks ---- */

/* List the offsets of the rows of each block, `stride` apart. */
static void list_rows(struct mase_round *r, struct mase_arena *a, const struct mase_shape *s)
{
    const struct mase_blocks b = mase_format_blocks(r->how.format, s, r->how.role);
    int64_t *row = mase_new_array(a, int64_t, (size_t)mase_shape_count(s));
    int64_t *end = mase_new_array(a, int64_t, (size_t)b.count);
    int64_t n = 0;
    for (int64_t i = 0; i < b.count; i++) {
        int64_t *first = row + n;
        n += mase_blocks_offsets(&b, i, first);
        for (int64_t *p = first; p < row + n; p++)
            *p *= r->stride;
        end[i] = n;
    }
    r->blocks = b.count;
    r->count = r->how.format->row->looks_around && b.count ? 1 : b.count;
    r->shape = *s;
    r->breaks_zeros = mase_format_breaks_zeros(r->how.format);
    r->row = row;
    r->end = end;
}

struct mase_round mase_round_rows(struct mase_arena *a, struct mase_rounding how,
                                  const struct mase_shape *s, int64_t stride)
{
    struct mase_round r = { .how = how, .stride = stride, .lanes = stride };
    r.count = mase_shape_count(s);
    if (how.format && mase_format_has_blocks(how.format))
        list_rows(&r, a, s);
    return r;
}

/* Single values of a dense tensor are one row, of which kernels take all lanes. */
struct mase_round mase_round_dense(struct mase_arena *a, struct mase_rounding how,
                                   const struct mase_shape *s)
{
    struct mase_round r = { .how = how, .stride = 1, .lanes = mase_shape_count(s), .count = 1 };
    if (!how.format || !mase_format_has_blocks(how.format)) {
        r.lanes = (r.lanes + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
        return r;
    }
    r.lanes = 1;
    r.shape = *s;
    r.whole = how.format->row->looks_around;
    if (r.whole || (kernel_of(how.format) && !is_uniform(&r) && find_runs(&r, s)))
        return r;
    list_rows(&r, a, s);
    return r;
}

static struct mase_block block_at(const struct mase_round *r, int64_t i, int64_t lanes)
{
    const int64_t begin = i ? r->end[i - 1] : 0;
    return (struct mase_block){ r->row + begin, r->end[i] - begin, lanes, NULL, i };
}

/* Round all blocks of some samples, since a block reads others. */
static void round_around(const struct mase_round *r, const struct mase_kernels *k, float *y,
                         const float *x, int64_t lanes)
{
    const enum mase_looks looks = r->how.format->row->looks_around;
    float around[MASE_BLOCK_CHUNK];
    for (int64_t l = 0; l < lanes; l++)
        around[l] = mase_around_none(looks);
    for (int64_t i = 0; i < r->blocks; i++) {
        const struct mase_block b = block_at(r, i, lanes);
        mase_block_look(around, x, &b, looks);
    }
    for (int64_t i = 0; i < r->blocks; i++) {
        struct mase_block b = block_at(r, i, lanes);
        b.around = around;
        round_block(r, k, y, x, &b);
    }
}

static bool looks_around(const struct mase_round *r)
{
    return r->row && r->how.format->row->looks_around;
}

void mase_round_run(const struct mase_round *r, const struct mase_kernels *k, float *y,
                    const float *x, int64_t lanes, int64_t from, int64_t to)
{
    for (int64_t l = 0; looks_around(r) && l < lanes && from < to; l += MASE_BLOCK_CHUNK)
        round_around(r, k, y + l, x + l,
                     lanes - l < MASE_BLOCK_CHUNK ? lanes - l : MASE_BLOCK_CHUNK);
    if (looks_around(r))
        return;
    for (int64_t i = from; i < to; i++) {
        const int64_t single = i * r->stride;
        const struct mase_block b =
            r->row ? block_at(r, i, lanes) : (struct mase_block){ &single, 1, lanes, NULL, 0 };
        round_block(r, k, y, x, &b);
    }
}

void mase_round_clear(const struct mase_round *r, float *y, int64_t first, int64_t end,
                      int64_t from, int64_t to)
{
    for (int64_t i = from; i < to && first < end && r->row; i++) {
        const struct mase_block b = block_at(r, i, end);
        for (int64_t k = 0; k < b.rows; k++)
            memset(y + b.row[k] + first, 0, (size_t)(end - first) * sizeof *y);
    }
}

void mase_round_all(const struct mase_round *r, const struct mase_kernels *k, float *y,
                    const float *x)
{
    const struct mase_rounding how = r->how;
    if (r->whole)
        mase_quantize(how.format, y, x, &r->shape, how.role, how.sign);
    else if (r->run)
        round_dense_runs(r, k, y, x);
    else if (r->row && r->lanes == 1 && is_uniform(r))
        round_dense_uniform(r, k, y, x);
    else if (needs_lanes(r))
        round_dense_blocks(r, k, y, x);
    else
        mase_round_run(r, k, y, x, r->lanes, 0, r->count);
}
