/*
 * prune_masks.c - choose the values with the lowest scores, exactly as many as asked for (prune.h).
 * Scores map to integers of the same order, whose k-th is found digit by digit, without sorting and
 * without memory for each. One thread works in a fixed order, so masks do not depend on the
 * machine.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/prune.h>
#include <mase/rng.h>

/* Units that are pruned together: single values, or channels of `per` values. */
struct units {
    uint8_t *kept;
    int64_t n, per;
    const double *score; // (n), or NULL: that of one value
    const float *value;  // (n): scored by magnitude
    const float *signed_value;
};

/* ---- keys ---- */

/* An integer that orders as x does; NaN is the highest, so that it is kept and noticed. */
static uint64_t key_of_number(double x)
{
    uint64_t bits;
    if (isnan(x))
        return UINT64_MAX;
    x += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Pruned units come first, so that they stay pruned. */
static uint64_t key_of(const struct units *u, int64_t i)
{
    if (!u->kept[i * u->per])
        return 0;
    if (u->score)
        return key_of_number(u->score[i]);
    return key_of_number(u->value ? fabs((double)u->value[i]) : (double)u->signed_value[i]);
}

/* ---- the k-th key ---- */

enum { DIGIT_BITS = 16, DIGITS = 64 / DIGIT_BITS, BINS = 1 << DIGIT_BITS };

/* The key of the k-th unit, from 1, in the order of keys, and how many units with that key are
 * among the first k. */
static uint64_t find_key(const struct units *u, int sets, int64_t k, int64_t *ties)
{
    struct mase_arena a = { 0 };
    int64_t *bin = mase_new_array(&a, int64_t, BINS);
    uint64_t found = 0, known = 0;
    for (int d = DIGITS - 1; d >= 0; d--) {
        const int shift = d * DIGIT_BITS;
        memset(bin, 0, BINS * sizeof *bin);
        for (int s = 0; s < sets; s++)
            for (int64_t i = 0; i < u[s].n; i++) {
                const uint64_t key = key_of(&u[s], i);
                if ((key & known) == found)
                    bin[key >> shift & (BINS - 1)]++;
            }
        uint64_t digit = 0;
        while (bin[digit] < k)
            k -= bin[digit++];
        found |= digit << shift;
        known |= (uint64_t)(BINS - 1) << shift;
    }
    mase_arena_release(&a);
    *ties = k;
    return found;
}

static void clear(struct units *u, int sets, int64_t k)
{
    int64_t ties, n = 0;
    for (int s = 0; s < sets; s++)
        n += u[s].n;
    k = k < n ? k : n;
    if (k < 1)
        return;
    const uint64_t last = find_key(u, sets, k, &ties);
    for (int s = 0; s < sets; s++)
        for (int64_t i = 0; i < u[s].n; i++) {
            const uint64_t key = key_of(&u[s], i);
            if (key < last || (key == last && ties-- > 0))
                memset(u[s].kept + i * u[s].per, 0, (size_t)u[s].per);
        }
}

/* ---- scores ---- */

static double channel_score(const struct mase_prune_target *t, enum mase_prune_method method,
                            int64_t c)
{
    const int64_t per = t->count / t->channels;
    double sum = 0;
    for (int64_t i = c * per; i < (c + 1) * per; i++)
        sum += method == MASE_PRUNE_MOVEMENT ? (double)t->score[i]
               : method == MASE_PRUNE_L2     ? (double)t->w[i] * (double)t->w[i]
                                             : fabs((double)t->w[i]);
    return method == MASE_PRUNE_L2 ? sqrt(sum / (double)per) : sum / (double)per;
}

static const double *random_scores(struct mase_arena *a, const struct mase_prune_target *t,
                                   int64_t n, uint64_t seed)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_PRUNE, mase_rng_name(t->name));
    double *score = mase_new_array(a, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        score[i] = (double)mase_rng_u32(&r);
    return score;
}

static struct units units_of(struct mase_arena *a, const struct mase_prune_target *t,
                             const struct mase_pruning *p, uint64_t seed)
{
    struct units u = { .kept = t->kept, .n = t->count, .per = 1 };
    if (p->channels) {
        u.n = t->channels;
        u.per = t->count / t->channels;
    }
    if (p->method == MASE_PRUNE_RANDOM) {
        u.score = random_scores(a, t, u.n, seed);
    } else if (p->channels) {
        double *score = mase_new_array(a, double, (size_t)u.n);
        for (int64_t c = 0; c < u.n; c++)
            score[c] = channel_score(t, p->method, c);
        u.score = score;
    } else if (p->method == MASE_PRUNE_MOVEMENT) {
        u.signed_value = t->score;
    } else {
        u.value = t->w;
    }
    return u;
}

/* ---- masks ---- */

/* Zhu and Gupta's cubic schedule: fast at first, slow at the end. */
static double share_at(double from, double to, double progress)
{
    const double left = (1 - progress) * (1 - progress) * (1 - progress);
    return to + ((from < to ? from : to) - to) * left;
}

/* Round as Python: ties to even. */
static int64_t how_many(double share, int64_t n)
{
    return (int64_t)rint(share * (double)n);
}

static void follow_channels(const struct mase_prune_target *bias,
                            const struct mase_prune_target *weight)
{
    const int64_t per = weight->count / weight->channels;
    for (int64_t c = 0; c < bias->count; c++)
        bias->kept[c] = weight->kept[c * per];
}

void mase_prune_masks(struct mase_prune_target *list, int count, const struct mase_pruning *p,
                      double progress, uint64_t seed)
{
    struct mase_arena a = { 0 };
    struct units *u = mase_new_array(&a, struct units, (size_t)count);
    int64_t units = 0;
    int sets = 0;
    for (int i = 0; i < count; i++) {
        if (list[i].bias_of >= 0)
            continue;
        u[sets] = units_of(&a, &list[i], p, seed);
        units += u[sets].n;
        if (!p->global)
            clear(&u[sets], 1,
                  how_many(share_at(p->initial_sparsity, list[i].sparsity, progress), u[sets].n));
        sets++;
    }
    if (p->global)
        clear(u, sets, how_many(share_at(p->initial_sparsity, p->sparsity, progress), units));
    for (int i = 0; i < count; i++)
        if (list[i].bias_of >= 0)
            follow_channels(&list[i], &list[list[i].bias_of]);
    mase_arena_release(&a);
}
