/*
 * dataset.c - properties of an open dataset, its batches, closing it.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/rng.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"

const char *const mase_split_names[] = { "train", "validation", "test", "pred", NULL };

void mase_dataset_close(struct mase_dataset *d)
{
    if (!d)
        return;
    for (int i = 0; i < MASE_DATA_FILES; i++)
        mase_file_close(&d->file[i]);
    mase_aligned_free(d->block);
    mase_aligned_free(d->plain_block);
    mase_aligned_free(d->target_block);
    mase_arena_release(&d->arena);
    mase_xfree(d);
}

const struct mase_dataset_info *mase_dataset_info(const struct mase_dataset *d)
{
    return &d->info;
}

struct mase_split_rows mase_dataset_split(const struct mase_dataset *d, enum mase_split split)
{
    return d->split[split];
}

const int32_t *mase_dataset_labels(const struct mase_dataset *d)
{
    return d->label;
}

const float *mase_dataset_targets(const struct mase_dataset *d)
{
    return d->target;
}

static int64_t feature_count(const struct mase_dataset *d)
{
    return mase_data_features(&d->info.data);
}

struct mase_table_view mase_dataset_table(const struct mase_dataset *d)
{
    return (struct mase_table_view){ d->table, d->table ? feature_count(d) : 0 };
}

static void count_map(int64_t *count, const float *map, int64_t positions)
{
    for (int64_t k = 0; k < positions; k++)
        if (map[k] >= 0)
            count[(int32_t)map[k]]++;
}

void mase_dataset_balance(const struct mase_dataset *d, enum mase_split split, int64_t *count)
{
    const struct mase_split_rows rows = d->split[split];
    memset(count, 0, (size_t)d->info.data.classes * sizeof *count);
    for (int64_t i = 0; d->label && i < rows.count; i++)
        count[d->label[rows.row[i]]]++;
    for (int64_t i = 0; !d->label && d->info.data.classes && i < rows.count; i++)
        count_map(count, d->target + rows.row[i] * d->info.data.targets, d->info.data.targets);
}

/* ---- ranges ---- */

struct column {
    const float *table;
    int64_t features, f;
};

static void get_column(double *x, const void *table, int64_t i)
{
    const struct column *c = table;
    *x = (double)c->table[i * c->features + c->f];
}

struct mase_feature_range mase_dataset_range(const struct mase_dataset *d, enum mase_split split,
                                             int64_t f)
{
    const struct mase_split_rows rows = d->split[split];
    const struct column c = { d->plain ? d->plain : d->table, feature_count(d), f };
    if (!c.table || rows.count == 0)
        return (struct mase_feature_range){ 0 };
    if (!d->plain && d->info.scaling.n)
        mase_bug("%s was not opened to be asked for its ranges", d->info.data.name);
    struct mase_arena a = { 0 };
    const struct mase_scaling now = mase_scaling_fit(&a, 1, rows, get_column, &c);
    struct mase_feature_range r = { .mean = now.mean[0], .std = now.std[0] };
    mase_arena_release(&a);
    get_column(&r.min, &c, rows.row[0]);
    r.max = r.min;
    for (int64_t i = 1; i < rows.count; i++) {
        double x;
        get_column(&x, &c, rows.row[i]);
        r.min = x < r.min ? x : r.min;
        r.max = x > r.max ? x : r.max;
    }
    if (r.min == r.max)
        r.std = 0; /* scaling reports 1 for constant features */
    return r;
}

/* ---- batches ---- */

static void batch_table(const struct mase_dataset *d, const struct mase_batch *b)
{
    const int64_t F = feature_count(d);
    const float *table = b->raw && d->plain ? d->plain : d->table;
    if (b->raw && !d->plain && d->info.scaling.n)
        mase_bug("%s was not opened to be asked for what was read", d->info.data.name);
    for (int64_t i = 0; i < b->n; i++) {
        const float *from = table + (int64_t)b->row[i] * F; // (F)
        float *to = b->x + i * b->sample_stride;
        for (int64_t f = 0; f < F; f++)
            to[f * b->feature_stride] = from[f];
    }
}

const unsigned char *mase_image_bytes(const struct mase_image_store *s, int64_t row)
{
    for (int p = 0; p < s->parts; p++)
        if (row - s->part[p].first < s->part[p].count)
            return s->part[p].data + (row - s->part[p].first) * s->part[p].stride;
    mase_bug("row %lld is in no file of the dataset", (long long)row);
}

/* How a sample's pixels are taken: shifted by (top, left), mirrored if flip. */
struct placing {
    int top, left;
    bool flip;
};

static struct placing place_image(const struct mase_image_store *s, const struct mase_batch *b,
                                  uint32_t row)
{
    if (!b->augment || (!s->pad && !s->flip))
        return (struct placing){ 0 };
    struct mase_rng r = mase_rng(b->seed, MASE_STREAM_AUGMENT, b->epoch << 32 | row);
    const uint32_t places = 2 * (uint32_t)s->pad + 1;
    /* 9 places of 2^32: a bias of 2e-9 */
    const int top = (int)((uint64_t)mase_rng_u32(&r) * places >> 32) - s->pad;
    const int left = (int)((uint64_t)mase_rng_u32(&r) * places >> 32) - s->pad;
    return (struct placing){ top, left, s->flip && (mase_rng_u32(&r) & 1) };
}

/* Write one sample. Pixels outside the image are black, as if it were padded before normalisation.
 */
static void put_image(const struct mase_dataset *d, const struct mase_batch *b, int64_t i)
{
    const struct mase_image_store *s = d->image;
    const int64_t *dim = d->info.data.sample.dim;
    const int C = (int)dim[0], H = (int)dim[1], W = (int)dim[2];
    const unsigned char *bytes = mase_image_bytes(s, b->row[i]);
    const struct placing at = place_image(s, b, b->row[i]);
    float *to = b->x + i * b->sample_stride;
    for (int c = 0; c < C; c++)
        for (int h = 0; h < H; h++) {
            const int y = h + at.top;
            const bool inside = y >= 0 && y < H;
            for (int w = 0; w < W; w++, to += b->feature_stride) {
                const int x = (at.flip ? W - 1 - w : w) + at.left;
                const unsigned char byte =
                    inside && x >= 0 && x < W ? bytes[(c * H + y) * W + x] : 0;
                *to = b->raw ? (float)byte : s->level[c][byte];
            }
        }
}

void mase_dataset_batch(const struct mase_dataset *d, const struct mase_batch *b)
{
    if (d->table)
        batch_table(d, b);
    else
        for (int64_t i = 0; i < b->n; i++)
            put_image(d, b, i);
    for (int64_t i = 0; b->label && i < b->n; i++)
        b->label[i] = d->label[b->row[i]];
}
