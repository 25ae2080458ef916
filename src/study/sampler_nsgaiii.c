/*
 * sampler_nsgaiii.c - NSGA-III (Deb and Jain, 2014): of a front that is too large, those remain
 * that are near to directions in which there are few.
 *
 * Losses are shifted to the best of each objective and divided by where the plane through the
 * extreme points meets the axes. The directions are the points of that plane whose coordinates are
 * multiples of 1 / dividing_parameter.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "study/nsga.h"

static const struct mase_opt rows[] = {
    MASE_NSGA_ROWS,
    MASE_OPT_INT(struct mase_nsga_options, dividing, "dividing_parameter", 3, 1, 100,
                 "parts of each axis between reference points"),
    { 0 },
};

enum { DIRECTIONS = 100000 };

struct directions {
    int64_t count;
    double *at;    /* (count, objectives), of length 1 */
    int32_t *held; /* (count): members near each */
};

/* What a front is beside the directions; parents before it come first. */
struct niche {
    int64_t nearest;
    double distance;
};

/* ---- directions ---- */

/* All ways to share `left` parts among the objectives from j on. */
static int64_t share_out(double *at, int64_t count, double *parts, int j, int left, int objectives)
{
    if (j == objectives - 1) {
        double length = 0;
        parts[j] = left;
        for (int i = 0; i < objectives; i++)
            length += parts[i] * parts[i];
        for (int i = 0; i < objectives; i++)
            at[count * objectives + i] = parts[i] / sqrt(length);
        return count + 1;
    }
    for (int part = left; part >= 0; part--) {
        parts[j] = part;
        count = share_out(at, count, parts, j + 1, left - part, objectives);
    }
    return count;
}

static double count_directions(int objectives, int dividing)
{
    double count = 1;
    for (int i = 1; i < objectives; i++)
        count *= (double)(dividing + i) / i;
    return rint(count);
}

/* ---- normal losses ---- */

/* Solve a x = 1 (n unknowns), by elimination; false where a is singular. */
static bool solve(double *a, double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = 1;
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c + 1; i < n; i++)
            p = fabs(a[i * n + c]) > fabs(a[p * n + c]) ? i : p;
        if (!(fabs(a[p * n + c]) > 1e-12))
            return false;
        for (int j = 0; j < n; j++) {
            const double t = a[c * n + j];
            a[c * n + j] = a[p * n + j], a[p * n + j] = t;
        }
        const double t = x[c];
        x[c] = x[p], x[p] = t;
        for (int i = 0; i < n; i++) {
            const double f = i == c ? 0 : a[i * n + c] / a[c * n + c];
            for (int j = 0; j < n; j++)
                a[i * n + j] -= f * a[c * n + j];
            x[i] -= f * x[c];
        }
    }
    for (int c = 0; c < n; c++)
        x[c] /= a[c * n + c];
    return true;
}

/* Losses without limit become a little more than the largest of the others. */
static void limit(double *loss, int64_t n, int m, int j)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(loss[i * m + j])) {
            low = fmin(low, loss[i * m + j]);
            high = fmax(high, loss[i * m + j]);
        }
    if (low > high)
        low = high = 0;
    for (int64_t i = 0; i < n; i++)
        loss[i * m + j] =
            fmin(fmax(loss[i * m + j], low - 3 * (high - low)), high + 3 * (high - low));
}

/* The row that is nearest to axis j: of the least largest loss, others weighing a million times. */
static int64_t extreme(const double *loss, int64_t n, int m, int axis)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double largest = 0;
        for (int j = 0; j < m; j++)
            largest = fmax(largest, loss[i * m + j] * (j == axis ? 1 : 1e6));
        if (largest < least) {
            least = largest;
            best = i;
        }
    }
    return best;
}

/* Shift and divide losses (n, m), all finite. */
static void normalise(double *loss, int64_t n, int m)
{
    double *plane = mase_xcalloc((size_t)m * (size_t)(m + 2) * sizeof *plane);
    double *inverse = plane + (size_t)m * (size_t)m, *high = inverse + m;
    for (int j = 0; j < m; j++) {
        double low = INFINITY;
        for (int64_t i = 0; i < n; i++)
            low = fmin(low, loss[i * m + j]);
        for (int64_t i = 0; i < n; i++) {
            loss[i * m + j] -= low;
            high[j] = fmax(high[j], loss[i * m + j]);
        }
    }
    for (int j = 0; j < m; j++)
        memcpy(plane + (size_t)j * (size_t)m, loss + extreme(loss, n, m, j) * m,
               (size_t)m * sizeof *plane);
    const bool solved = solve(plane, inverse, m);
    for (int j = 0; j < m; j++) {
        const double plain = high[j] > 0 ? 1 / high[j] : 1;
        const double by = solved && isfinite(inverse[j]) && inverse[j] > 0 ? inverse[j] : plain;
        for (int64_t i = 0; i < n; i++)
            loss[i * m + j] *= by;
    }
    mase_xfree(plane);
}

/* ---- niches ---- */

static struct niche find_niche(const struct directions *d, const double *loss, int m)
{
    struct niche best = { 0, INFINITY };
    for (int64_t k = 0; k < d->count; k++) {
        double along = 0, square = 0;
        for (int j = 0; j < m; j++) {
            along += loss[j] * d->at[k * m + j];
            square += loss[j] * loss[j];
        }
        const double distance = fmax(square - along * along, 0);
        if (distance < best.distance)
            best = (struct niche){ k, distance };
    }
    return best;
}

/* The niches of the parents chosen so far and of the front, as rows behind each other. */
static struct niche *find_niches(const struct mase_nsga *g, const struct mase_nsga_member *front,
                                 int64_t n)
{
    const int m = g->base.setup.objectives;
    const int64_t all = g->parents + n;
    double *loss = mase_xcalloc((size_t)all * (size_t)m * sizeof *loss);
    struct niche *niche = mase_xcalloc((size_t)all * sizeof *niche);
    for (int64_t i = 0; i < all; i++) {
        const struct mase_nsga_member *one =
            i < g->parents ? &g->parent[i] : &front[i - g->parents];
        memcpy(loss + i * m, g->history.loss + (int64_t)one->result * m, (size_t)m * sizeof *loss);
    }
    for (int j = 0; j < m; j++)
        limit(loss, all, m, j);
    normalise(loss, all, m);
    for (int64_t i = 0; i < all; i++)
        niche[i] = find_niche(g->data, loss + i * m, m);
    mase_xfree(loss);
    return niche;
}

/* Which of those left to take: in the emptiest direction that has one; the nearest to it, if it is
 * empty, else any. */
static int64_t next_member(const struct directions *d, const struct niche *niche, int64_t n,
                           struct mase_rng *r)
{
    int32_t fewest = INT32_MAX;
    int64_t best = -1, equals = 0;
    for (int64_t i = 0; i < n; i++)
        fewest = d->held[niche[i].nearest] < fewest ? d->held[niche[i].nearest] : fewest;
    for (int64_t i = 0; i < n; i++) {
        if (d->held[niche[i].nearest] != fewest)
            continue;
        if (fewest == 0 ? best < 0 || niche[i].distance < niche[best].distance
                        : mase_rng_double(r) * (double)++equals < 1)
            best = i;
    }
    return best;
}

static void choose(struct mase_nsga *g, struct mase_nsga_member *front, int64_t n, int64_t wanted,
                   struct mase_rng *r)
{
    struct directions *d = g->data;
    struct niche *all = find_niches(g, front, n), *niche = all + g->parents;
    memset(d->held, 0, (size_t)d->count * sizeof *d->held);
    for (int64_t i = 0; i < g->parents; i++)
        d->held[all[i].nearest]++;
    for (int64_t taken = 0; taken < wanted; taken++) {
        const int64_t i = taken + next_member(d, niche + taken, n - taken, r);
        const struct mase_nsga_member member = front[i];
        const struct niche own = niche[i];
        front[i] = front[taken], niche[i] = niche[taken];
        front[taken] = member, niche[taken] = own;
        d->held[own.nearest]++;
    }
    mase_xfree(all);
}

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct mase_nsga *g = (struct mase_nsga *)s;
    const struct mase_nsga_options *o = s->options;
    const int m = s->setup.objectives;
    const double count = count_directions(m, (int)o->dividing);
    if (count > DIRECTIONS)
        return mase_fail(err, MASE_ELIMIT, "%.15g reference points are more than %d", count,
                         DIRECTIONS);
    struct directions *d = mase_new(&s->arena, struct directions);
    double *parts = mase_new_array(&s->arena, double, (size_t)m);
    d->count = (int64_t)count;
    d->at = mase_new_array(&s->arena, double, (size_t)(d->count * m));
    d->held = mase_new_array(&s->arena, int32_t, (size_t)d->count);
    (void)share_out(d->at, 0, parts, 0, (int)o->dividing, m);
    g->choose = choose;
    g->data = d;
    mase_nsga_open(g);
    return MASE_OK;
}

const struct mase_sampler_functions mase_sampler_nsgaiii = {
    .size = sizeof(struct mase_nsga),
    .options = rows,
    .options_size = sizeof(struct mase_nsga_options),
    .open = open,
    .needs = mase_nsga_needs,
    .tell = mase_nsga_tell,
    .ask = mase_nsga_ask,
    .close = mase_nsga_close,
};
