/*
 * seen.c - hashes of rows (seen.h).
 */
#include "train/seen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ir/shape/shape.h"

enum {
    KEPT = 2048,           /* hashes */
    VALUES_MOST = 1 << 24, /* values read at most, which takes milliseconds */
    ROWS_AT_ONCE = 64
};

/* The finaliser of SplitMix64: every bit of the result depends on all of h. */
static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

static uint64_t hash_row(const float *x, int64_t features)
{
    uint64_t h = (uint64_t)features;
    for (int64_t f = 0; f < features; f++) {
        uint32_t bits;
        memcpy(&bits, &x[f], sizeof bits);
        h = mix(h + UINT64_C(0x9e3779b97f4a7c15) + bits);
    }
    return h & INT64_MAX; /* files store signed numbers */
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The distance between hashed rows, so that at most VALUES_MOST values are read. */
static int64_t distance_of(const struct mase_dataset *d, int64_t rows)
{
    const int64_t features = mase_data_features(&mase_dataset_info(d)->data);
    const int64_t most = VALUES_MOST / (features > 0 ? features : 1);
    const int64_t wanted = most > 1 ? most : 1;
    return (rows + wanted - 1) / wanted;
}

/* The hashes of every distance-th row, unsorted; returns how many. */
static int64_t hash_rows(uint64_t *hash, const struct mase_dataset *d, struct mase_split_rows rows,
                         int64_t distance)
{
    const int64_t features = mase_data_features(&mase_dataset_info(d)->data);
    float *x = mase_xcalloc((size_t)(ROWS_AT_ONCE * features) * sizeof *x);
    int64_t count = 0;
    for (int64_t at = 0; at < rows.count;) {
        uint32_t row[ROWS_AT_ONCE];
        int64_t n = 0;
        for (; n < ROWS_AT_ONCE && at < rows.count; at += distance)
            row[n++] = rows.row[at];
        mase_dataset_batch(
            d, &(struct mase_batch){
                   .row = row, .n = n, .x = x, .feature_stride = 1, .sample_stride = features });
        for (int64_t i = 0; i < n; i++)
            hash[count++] = hash_row(x + i * features, features);
    }
    mase_xfree(x);
    return count;
}

/* Sort, drop duplicates, and keep the KEPT least; returns how many. */
static int keep_least(uint64_t *hash, int n)
{
    int kept = 0;
    qsort(hash, (size_t)n, sizeof *hash, by_value);
    for (int i = 0; i < n && kept < KEPT; i++)
        if (!kept || hash[i] != hash[kept - 1])
            hash[kept++] = hash[i];
    return kept;
}

/* Write the KEPT least different hashes of n, sorted, to `least`, which has room for twice as many;
 * returns how many. Most hashes are above the greatest kept so far, and skipped. */
static int find_least(uint64_t *least, const uint64_t *hash, int64_t n)
{
    uint64_t limit = UINT64_MAX;
    int count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (hash[i] >= limit)
            continue;
        least[count++] = hash[i];
        if (count < 2 * KEPT)
            continue;
        count = keep_least(least, count);
        limit = count == KEPT ? least[KEPT - 1] : limit;
    }
    return keep_least(least, count);
}

struct mase_seen_rows mase_seen_of(struct mase_arena *a, const struct mase_dataset *d,
                                   struct mase_split_rows rows)
{
    struct mase_seen_rows seen = { .rows = rows.count };
    if (!rows.count)
        return seen;
    uint64_t *hash = mase_xcalloc((size_t)rows.count * sizeof *hash);
    seen.hashed = hash_rows(hash, d, rows, distance_of(d, rows.count));
    uint64_t least[2 * KEPT];
    const int kept = find_least(least, hash, seen.hashed);
    seen.all = kept < KEPT;
    seen.count = kept;
    seen.hash = mase_arena_memdup(a, least, (size_t)kept * sizeof *least);
    mase_xfree(hash);
    return seen;
}

double mase_seen_share(const struct mase_seen_rows *seen, const struct mase_dataset *d,
                       struct mase_split_rows rows)
{
    enum { LEAST = 3 }; /* with fewer hashes the share says nothing */
    int64_t below = 0, found = 0;
    if (!seen->count || !rows.count)
        return 0;
    uint64_t *hash = mase_xcalloc((size_t)rows.count * sizeof *hash);
    const int64_t n = hash_rows(hash, d, rows, distance_of(d, rows.count));
    for (int64_t i = 0; i < n; i++) {
        below += seen->all || hash[i] <= seen->hash[seen->count - 1];
        found += bsearch(&hash[i], seen->hash, (size_t)seen->count, sizeof *hash, by_value) != NULL;
    }
    mase_xfree(hash);
    if (found < LEAST && found < n)
        return 0;
    return fmin((double)found / (double)below * (double)seen->rows / (double)seen->hashed, 1);
}
