/*
 * blocks.c - how a tensor is cut into the blocks of a format.
 */
#include <math.h>

#include "quant/quant.h"

/* ---- geometries ---- */

/* Dimensions before this one are not cut: each position of them has tiles of its own. */
static int first_cut(const struct mase_shape *s, enum mase_role role, int64_t skip_first)
{
    if (skip_first == MASE_NA)
        skip_first = role == MASE_ROLE_DATA || s->rank > 2;
    if (!skip_first || !s->rank)
        return 0;
    return s->rank > 2 ? s->rank - 2 : 1;
}

void mase_geometry_tiles(int64_t *length, const struct mase_shape *s, enum mase_role role,
                         const struct mase_ints *size, int64_t skip_first)
{
    const int first = first_cut(s, role, skip_first);
    for (int d = 0; d < s->rank; d++) {
        const int i = size->count - (s->rank - d); /* which size is aligned with d */
        const int64_t asked = i >= 0 ? size->item[i] : -1;
        length[d] = d < first ? 1 : asked <= 0 || asked > s->dim[d] ? s->dim[d] : asked;
    }
}

/* The first dimension that a run goes into. That of samples it does not, nor, beyond matrices, the
 * first of any tensor unless it lies along it: a second factor may follow the samples, too. */
static int first_of(const struct mase_shape *s, enum mase_role role, int at)
{
    return role == MASE_ROLE_DATA || (s->rank > 2 && at > 0) ? 1 : 0;
}

/* The part of `left` values that dimension d takes: as many as fit evenly. */
static int64_t take(int64_t *left, int64_t d)
{
    const int64_t n = *left >= d ? d : *left;
    *left = n > 0 ? (*left + n - 1) / n : *left;
    return n > 0 ? n : 1;
}

void mase_geometry_run(int64_t *length, const struct mase_shape *s, enum mase_role role,
                       int64_t values, int64_t dim)
{
    const int at = mase_shape_axis(s, (int)dim);
    int64_t left = values;
    for (int d = 0; d < s->rank; d++)
        length[d] = 1;
    if (at < first_of(s, role, at))
        return;
    length[at] = take(&left, s->dim[at]);
    for (int d = s->rank - 1; d >= first_of(s, role, at); d--)
        if (d != at)
            length[d] = take(&left, s->dim[d]);
}

/* "a tensor [8, 16]", "samples of [16]". */
void mase_blocks_tell(struct mase_str *out, const struct mase_shape *s, enum mase_role role)
{
    struct mase_shape own = *s;
    if (role == MASE_ROLE_DATA && s->rank) {
        own.rank--;
        for (int d = 0; d < own.rank; d++)
            own.dim[d] = s->dim[d + 1];
    }
    mase_str_add(out, role == MASE_ROLE_DATA ? "samples of " : "a tensor ");
    mase_shape_print(out, &own);
}

enum mase_status mase_run_fits(const struct mase_shape *s, enum mase_role role, int64_t values,
                               int64_t dim, struct mase_err *err)
{
    int64_t length[MASE_MAX_RANK], product = 1;
    const int at = mase_shape_axis(s, (int)dim);
    bool even = at >= first_of(s, role, at);
    struct mase_str text = { 0 };
    mase_geometry_run(length, s, role, values, dim);
    for (int d = 0; d < s->rank; d++) {
        product *= length[d];
        even &= length[d] > 0 && s->dim[d] % length[d] == 0;
    }
    if (even && product == values)
        return MASE_OK;
    mase_blocks_tell(&text, s, role);
    const enum mase_status st = mase_fail(
        err, MASE_EVALUE,
        "blocks of %lld values along dimension %lld do not fill %s: block_size must divide that "
        "dimension%s, or hold it whole and divide the others",
        (long long)values, (long long)dim, mase_str_text(&text),
        role == MASE_ROLE_DATA ? ", which must not be that of samples" : "");
    mase_str_release(&text);
    return st;
}

void mase_geometry_one_dim(int64_t *length, const struct mase_shape *s, enum mase_role role,
                           int64_t values, int64_t dim)
{
    const int at = mase_shape_axis(s, (int)dim);
    for (int d = 0; d < s->rank; d++)
        length[d] = 1;
    if (at >= 0 && !(at == 0 && role == MASE_ROLE_DATA))
        length[at] = values < s->dim[at] ? values : s->dim[at];
}

enum mase_status mase_one_dim_fits(const struct mase_shape *s, enum mase_role role, int64_t dim,
                                   struct mase_err *err)
{
    const int at = mase_shape_axis(s, (int)dim);
    struct mase_str text = { 0 };
    if (at >= 0 && !(at == 0 && role == MASE_ROLE_DATA))
        return MASE_OK;
    mase_blocks_tell(&text, s, role);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "blocks along dimension %lld do not fit %s: block_dim must %s",
                  (long long)dim, mase_str_text(&text),
                  at == 0 ? "not be that of samples" : "be one of the tensor's dimensions");
    mase_str_release(&text);
    return st;
}

void mase_geometry_items(int64_t *length, const struct mase_shape *s, enum mase_role role,
                         const void *params)
{
    (void)params;
    for (int d = 0; d < s->rank; d++)
        length[d] = d == 0 && (role == MASE_ROLE_DATA || s->rank > 1) ? 1 : s->dim[d];
}

void mase_geometry_whole(int64_t *length, const struct mase_shape *s, enum mase_role role)
{
    for (int d = 0; d < s->rank; d++)
        length[d] = role == MASE_ROLE_DATA && d == 0 ? 1 : s->dim[d];
}

void mase_geometry_axis(int64_t *length, const struct mase_shape *s, enum mase_role role, int axis)
{
    const int at = mase_shape_axis(s, axis);
    mase_geometry_whole(length, s, role);
    if (at >= 0)
        length[at] = 1;
}

/* ---- the whole, channels, or runs of the last dimension ---- */

enum mase_status mase_check_channels(int64_t axis, int64_t block_size, struct mase_err *err)
{
    if (axis == MASE_NA || block_size == MASE_NA)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "blocks go by axis or by block_size, not by both");
}

void mase_geometry_channels(int64_t *length, const struct mase_shape *s, enum mase_role role,
                            int64_t axis, int64_t block_size)
{
    if (block_size != MASE_NA)
        mase_geometry_run(length, s, role, block_size, -1);
    else if (axis != MASE_NA)
        mase_geometry_axis(length, s, role, (int)axis);
    else
        mase_geometry_whole(length, s, role);
}

enum mase_status mase_channels_fit(const struct mase_shape *s, enum mase_role role, int64_t axis,
                                   int64_t block_size, struct mase_err *err)
{
    const int at = axis == MASE_NA ? s->rank - 1 : mase_shape_axis(s, axis);
    if (axis != MASE_NA && (at < 0 || at >= s->rank || (role == MASE_ROLE_DATA && at == 0)))
        return mase_fail(err, MASE_EVALUE, "axis = %lld is no dimension of %s with %d",
                         (long long)axis,
                         role == MASE_ROLE_DATA ? "a batch of samples" : "a tensor", s->rank);
    return block_size > 1 ? mase_run_fits(s, role, block_size, -1, err) : MASE_OK;
}

/* ---- blocks ---- */

static int64_t along(const struct mase_blocks *b, int d)
{
    return (b->shape.dim[d] + b->length[d] - 1) / b->length[d];
}

struct mase_blocks mase_format_blocks(const struct mase_format *f, const struct mase_shape *s,
                                      enum mase_role role)
{
    struct mase_blocks b = { .shape = *s, .count = 1, .largest = 1 };
    for (int d = 0; d < s->rank; d++)
        b.length[d] = 1;
    if (mase_format_has_blocks(f))
        f->row->geometry(b.length, s, role, f->params);
    for (int d = 0; d < s->rank; d++) {
        if (b.length[d] < 1) /* of an empty tensor */
            b.length[d] = 1;
        b.count *= along(&b, d);
        b.largest *= b.length[d];
    }
    return b;
}

int64_t mase_blocks_offsets(const struct mase_blocks *b, int64_t i, int64_t *offset)
{
    const int rank = b->shape.rank;
    const struct mase_view dense = mase_view_of(&b->shape);
    int64_t from[MASE_MAX_RANK], n[MASE_MAX_RANK], at[MASE_MAX_RANK] = { 0 };
    int64_t base = 0, count = 1;

    for (int d = rank - 1; d >= 0; d--) {
        const int64_t blocks = along(b, d);
        from[d] = i % blocks * b->length[d];
        n[d] = b->shape.dim[d] - from[d] < b->length[d] ? b->shape.dim[d] - from[d] : b->length[d];
        base += from[d] * dense.stride[d];
        count *= n[d];
        i /= blocks;
    }
    for (int64_t k = 0; k < count; k++) {
        offset[k] = base;
        for (int d = rank - 1; d >= 0; d--) { /* the next position, the last dimension first */
            base += dense.stride[d];
            if (++at[d] < n[d])
                break;
            base -= n[d] * dense.stride[d];
            at[d] = 0;
        }
    }
    return count;
}

/* ---- values of blocks ---- */

void mase_block_largest(float *largest, const float *x, const struct mase_block *b, int64_t from,
                        int64_t n)
{
    for (int64_t l = 0; l < n; l++)
        largest[l] = 0;
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t l = 0; l < n; l++) {
            const float v = fabsf(x[b->row[r] + from + l]);
            largest[l] = v > largest[l] || isnan(v) ? v : largest[l]; /* nothing exceeds NaN */
        }
}

float mase_around_none(enum mase_looks looks)
{
    return looks == MASE_LOOKS_FOR_LEAST ? INFINITY : 0.0f;
}

void mase_block_look(float *around, const float *x, const struct mase_block *b,
                     enum mase_looks looks)
{
    float largest[MASE_BLOCK_CHUNK];
    for (int64_t from = 0; from < b->lanes; from += MASE_BLOCK_CHUNK) {
        const int64_t n = b->lanes - from < MASE_BLOCK_CHUNK ? b->lanes - from : MASE_BLOCK_CHUNK;
        mase_block_largest(largest, x, b, from, n);
        for (int64_t l = 0; l < n; l++) {
            float *found = &around[from + l];
            const bool better =
                looks == MASE_LOOKS_FOR_LEAST ? largest[l] < *found : largest[l] > *found;
            if (largest[l] > 0 && isfinite(largest[l]) && better)
                *found = largest[l];
        }
    }
}

float mase_largest(const float *q, int64_t n)
{
    float largest = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabsf(q[i]) > largest)
            largest = fabsf(q[i]);
    return largest;
}
