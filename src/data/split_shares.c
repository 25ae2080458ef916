/*
 * split_shares.c - split rows by shares that the user gives: stratified by class, or by the values
 * of a column.
 *
 * Which row goes where is a function of the labels, the column's values and the seed alone. Rows of
 * a class are drawn in an order of their own; what rounding takes from a part in one class, the
 * part gets in the next, so that its share of all rows is right, too.
 */
#include <math.h>
#include <string.h>

#include <mase/rng.h>
#include <mase/str.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/dataset_parts.h"

/* ---- options ---- */

static const char *const part_titles[] = { "train on", "validate", "test" };

static enum mase_status fail_shares(const char *text, const char *why, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "split '%s' %s; expected held-out, mase, or shares above 0 that sum to 1: of "
                     "rows to train on, validate and test, as 0.8,0.1,0.1, or of the first two, as "
                     "0.9,0.1, where the data has its own to test",
                     text, why);
}

enum mase_status mase_data_split_parse(struct mase_data_split *s, const char *text,
                                       struct mase_err *err)
{
    double sum = 0;
    int n = 0;
    for (const char *p = text;; p++) {
        char *end;
        const bool digit = (*p >= '0' && *p <= '9') || *p == '.';
        const double v = digit ? mase_number_read(p, &end) : 0;
        if (!digit || n == 3 || (*end && *end != ','))
            return fail_shares(text, "is no list of two or three shares", err);
        if (!(v > 0 && v < 1))
            return fail_shares(text, "has a share that is not between 0 and 1", err);
        s->share[n++] = v;
        sum += v;
        p = end;
        if (!*p)
            break;
    }
    if (n < 2)
        return fail_shares(text, "has one share", err);
    if (fabs(sum - 1) > 1e-9)
        return fail_shares(text, "does not sum to 1", err);
    if (n == 2)
        s->share[2] = 0;
    return MASE_OK;
}

bool mase_data_split_equal(const struct mase_data_split *a, const struct mase_data_split *b)
{
    for (int i = 0; i < 3; i++)
        if (a->share[i] != b->share[i])
            return false;
    return mase_streq(a->by, b->by) && a->seed == b->seed;
}

static bool has_shares(const struct mase_data_split *s)
{
    return s->share[0] > 0;
}

/* ---- stratified split ---- */

/* The numbers 0..n-1 in random order (Fisher and Yates). */
static void shuffle(uint32_t *row, int64_t n, uint64_t seed, uint64_t index)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_SPLIT, index);
    for (int64_t i = n - 1; i > 0; i--) {
        const uint32_t k = mase_draw_below(&r, (uint32_t)i + 1), kept = row[i];
        row[i] = row[k];
        row[k] = kept;
    }
}

/* The number of n rows for a share; *left carries the rounding error to the next class. */
static int64_t take_share(double share, int64_t n, double *left)
{
    const double wanted = share * (double)n + *left;
    const int64_t taken = (int64_t)floor(wanted + 0.5);
    *left = wanted - (double)taken;
    return taken < 0 ? 0 : taken < n ? taken : n;
}

/* Rows by class: those of class k are row[first[k]] to row[first[k + 1] - 1]. */
static uint32_t *sort_by_class(int64_t *first, const int32_t *label, int classes, int64_t n)
{
    uint32_t *row = mase_xcalloc((size_t)n * sizeof *row);
    for (int64_t i = 0; i < n; i++)
        first[label[i] + 1]++;
    for (int k = 0; k < classes; k++)
        first[k + 1] += first[k];
    for (int64_t i = n; i-- > 0;)
        row[--first[label[i] + 1]] = (uint32_t)i; /* first[k + 1] then is the start of class k */
    for (int k = 0; k < classes; k++)
        first[k] = first[k + 1]; /* move it to k */
    first[classes] = n;
    return row;
}

static void divide_by_class(unsigned char *part, const int32_t *label, int classes, int64_t n,
                            const double share[3], uint64_t seed)
{
    int64_t *first = mase_xcalloc((size_t)(classes + 1) * sizeof *first);
    uint32_t *row = sort_by_class(first, label, classes, n);
    double left[3] = { 0 };
    memset(part, MASE_SPLIT_TRAIN, (size_t)n);
    for (int k = 0; k < classes; k++) {
        uint32_t *rows = row + first[k];
        const int64_t count = first[k + 1] - first[k];
        int64_t tests = take_share(share[2], count, &left[2]);
        int64_t validates = take_share(share[1], count, &left[1]);
        if (tests + validates >= count && count) { /* keep one training row of each class */
            tests = tests < count ? tests : count - 1;
            validates = count - 1 - tests;
        }
        shuffle(rows, count, seed, (uint64_t)k);
        for (int64_t i = 0; i < tests; i++)
            part[rows[i]] = MASE_SPLIT_TEST;
        for (int64_t i = tests; i < tests + validates; i++)
            part[rows[i]] = MASE_SPLIT_VALIDATION;
    }
    mase_xfree(row);
    mase_xfree(first);
}

/* ---- by a column ---- */

int mase_split_of_word(const char *name)
{
    static const struct {
        const char *word;
        int part;
    } words[] = {
        { "train", MASE_SPLIT_TRAIN },
        { "training", MASE_SPLIT_TRAIN },
        { "val", MASE_SPLIT_VALIDATION },
        { "valid", MASE_SPLIT_VALIDATION },
        { "validation", MASE_SPLIT_VALIDATION },
        { "dev", MASE_SPLIT_VALIDATION },
        { "test", MASE_SPLIT_TEST },
        { "testing", MASE_SPLIT_TEST },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (mase_strcaseeq(words[i].word, name))
            return words[i].part;
    return -1;
}

static bool names_parts(const struct mase_groups *g)
{
    for (int i = 0; i < g->count; i++)
        if (!g->names || mase_split_of_word(g->names[i]) < 0)
            return false;
    return g->names != NULL;
}

/* Hold out validation rows from the training rows, if the column names none. */
static void hold_out_of_train(unsigned char *part, const struct mase_dataset *d, uint64_t seed)
{
    const double share[3] = { 0.9, 0.1, 0 };
    const int64_t n = d->info.rows;
    uint32_t *row = mase_xcalloc((size_t)n * sizeof *row);
    int32_t *label = mase_xcalloc((size_t)n * sizeof *label);
    unsigned char *inner = mase_xcalloc((size_t)n);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (part[i] == MASE_SPLIT_TRAIN) {
            label[count] = d->label ? d->label[i] : 0;
            row[count++] = (uint32_t)i;
        }
    divide_by_class(inner, label, d->label ? d->info.data.classes : 1, count, share, seed);
    for (int64_t i = 0; i < count; i++)
        part[row[i]] = inner[i];
    mase_xfree(row);
    mase_xfree(label);
    mase_xfree(inner);
}

static enum mase_status divide_by_name(unsigned char *part, const struct mase_dataset *d,
                                       const struct mase_data_split *s, const struct mase_groups *g,
                                       struct mase_err *err)
{
    bool seen[MASE_SPLIT_COUNT] = { 0 };
    if (has_shares(s))
        return mase_fail(err, MASE_EVALUE,
                         "shares of a split contradict column '%s', whose values name the parts",
                         s->by);
    for (int64_t i = 0; i < d->info.rows; i++) {
        part[i] = (unsigned char)mase_split_of_word(g->names[g->of[i]]);
        seen[part[i]] = true;
    }
    if (!seen[MASE_SPLIT_TRAIN] || (!seen[MASE_SPLIT_VALIDATION] && !seen[MASE_SPLIT_TEST]))
        return mase_fail(err, MASE_EVALUE,
                         "column '%s' names rows to %s alone; some must train, some others "
                         "validate or test",
                         s->by, seen[MASE_SPLIT_TRAIN] ? "train on" : "validate or test");
    if (!seen[MASE_SPLIT_VALIDATION])
        hold_out_of_train(part, d, s->seed);
    return MASE_OK;
}

/* Assign groups, in random order, to the split that lacks most rows. */
static void divide_groups(unsigned char *part, int64_t rows, const struct mase_groups *g,
                          const double share[3], uint64_t seed)
{
    uint32_t *order = mase_xcalloc((size_t)g->count * sizeof *order);
    int64_t *size = mase_xcalloc((size_t)g->count * sizeof *size);
    unsigned char *home = mase_xcalloc((size_t)g->count);
    double lack[3];
    for (int k = 0; k < 3; k++)
        lack[k] = share[k] * (double)rows;
    for (int64_t i = 0; i < rows; i++)
        size[g->of[i]]++;
    for (int i = 0; i < g->count; i++)
        order[i] = (uint32_t)i;
    shuffle(order, g->count, seed, UINT64_MAX);
    for (int i = 0; i < g->count; i++) {
        int most = 0;
        for (int k = 1; k < 3; k++)
            most = lack[k] > lack[most] ? k : most;
        home[order[i]] = (unsigned char)most;
        lack[most] -= (double)size[order[i]];
    }
    for (int64_t i = 0; i < rows; i++)
        part[i] = home[g->of[i]];
    mase_xfree(order);
    mase_xfree(size);
    mase_xfree(home);
}

static enum mase_status divide_by_column(unsigned char *part, struct mase_dataset *d,
                                         const struct mase_groups *g, struct mase_err *err)
{
    static const double usual[] = { 0.8, 0.1, 0.1 };
    struct mase_data_split *s = &d->info.split;
    if (names_parts(g))
        return divide_by_name(part, d, s, g, err);
    if (!has_shares(s))
        memcpy(s->share, usual, sizeof usual);
    if (g->count < 3)
        return mase_fail(err, MASE_EVALUE,
                         "column '%s' has %d different values; three are needed, one for each part "
                         "at least",
                         s->by, g->count);
    divide_groups(part, d->info.rows, g, s->share, s->seed);
    return MASE_OK;
}

/* ---- both ---- */

/* List the rows of each split in order. Rows from n on test. */
static enum mase_status collect(struct mase_dataset *d, const unsigned char *part, int64_t n,
                                struct mase_err *err)
{
    for (int p = MASE_SPLIT_TRAIN; p <= MASE_SPLIT_TEST; p++) {
        uint32_t *row = mase_new_array(&d->arena, uint32_t, (size_t)d->info.rows);
        int64_t count = 0;
        for (int64_t i = 0; i < d->info.rows; i++)
            if ((i < n ? part[i] : MASE_SPLIT_TEST) == p)
                row[count++] = (uint32_t)i;
        d->split[p] = (struct mase_split_rows){ row, count };
        if (!count && p != MASE_SPLIT_TEST)
            return mase_fail(err, MASE_EVALUE,
                             "the split leaves none of %lld rows to %s; a larger share would",
                             (long long)d->info.rows, part_titles[p]);
    }
    if (!d->split[MASE_SPLIT_TEST].count && has_shares(&d->info.split))
        return mase_fail(err, MASE_EVALUE,
                         "the split leaves none of %lld rows to test; a larger share would",
                         (long long)d->info.rows);
    if (!d->split[MASE_SPLIT_TEST].count)
        d->split[MASE_SPLIT_TEST] = d->split[MASE_SPLIT_VALIDATION];
    d->split[MASE_SPLIT_PRED] = d->split[MASE_SPLIT_TEST];
    return MASE_OK;
}

bool mase_has_split_opts(const struct mase_dataset_opts *opts)
{
    return has_shares(&opts->split) || opts->split.by;
}

struct mase_dataset_opts mase_applicable_split(const struct mase_dataset_opts *opts, bool own_tests,
                                               bool own_validation, bool grouped)
{
    const struct mase_data_split *s = &opts->split;
    const bool tests = s->share[2] > 0 || s->by;
    struct mase_dataset_opts fitted = *opts;
    if (s->inherited && mase_has_split_opts(opts) &&
        (own_validation || own_tests == tests || (s->by && !grouped)))
        fitted.split = (struct mase_data_split){ .inherited = true };
    return fitted;
}

enum mase_status mase_split_by_shares(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      int64_t own, const struct mase_groups *g,
                                      struct mase_err *err)
{
    const bool tests = opts->split.share[2] > 0;
    const int64_t n = own ? own : d->info.rows;
    d->info.split = opts->split;
    d->info.split.by = opts->split.by ? mase_arena_strdup(&d->arena, opts->split.by) : NULL;
    if (opts->original_splits)
        return mase_fail(err, MASE_EVALUE, "--split mase cannot be divided further by a column");
    if (own && (tests || opts->split.by))
        return mase_fail(err, MASE_EVALUE,
                         "%s has its own rows to test; two shares divide the others: --split "
                         "0.9,0.1",
                         d->info.data.name);
    if (opts->split.by && !g)
        return mase_fail(err, MASE_EVALUE, "%s has no column '%s' to split by", d->info.data.name,
                         opts->split.by);
    if (!own && has_shares(&opts->split) && !tests)
        return mase_fail(err, MASE_EVALUE,
                         "%s has no rows of its own to test; three shares are needed: to train on, "
                         "validate and test, as --split 0.8,0.1,0.1",
                         d->info.data.name);
    unsigned char *part = mase_xcalloc((size_t)n + 1);
    int32_t *alike = d->label ? NULL : mase_xcalloc((size_t)n * sizeof *alike); /* a single class */
    enum mase_status st = MASE_OK;
    if (g)
        st = divide_by_column(part, d, g, err);
    else
        divide_by_class(part, d->label ? d->label : alike, d->label ? d->info.data.classes : 1, n,
                        opts->split.share, opts->split.seed);
    mase_xfree(alike);
    if (!st)
        st = collect(d, part, n, err);
    mase_xfree(part);
    return st;
}
