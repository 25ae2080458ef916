/*
 * hypervolume.c - the volume that points dominate, and the few points that dominate most of it.
 *
 * Two objectives: a staircase. More: points in the order of their first loss. What a point adds to
 * those before it is its own box without what they cover of it; they are all at least as good in
 * the first loss, so that this is a volume of one objective less (While, Bradstreet and Barone: "A
 * fast way of calculating exact hypervolumes", 2012, with their slicing).
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "study/front.h"

/* The side of a box from a loss to the reference; losses without limit count as very large ones. */
static double side(double loss, double reference)
{
    return fmax(reference - fmax(loss, -1e100), 0);
}

static double box(const double *p, int m, const double *reference)
{
    double volume = 1;
    for (int i = 0; i < m; i++)
        volume *= side(p[i], reference[i]);
    return volume;
}

static double staircase(const double *loss, const int32_t *order, int64_t n,
                        const double *reference)
{
    double volume = 0, height = reference[1];
    for (int64_t i = 0; i < n; i++) {
        const double *p = loss + (int64_t)order[i] * 2;
        if (p[1] < height) {
            volume += side(p[0], reference[0]) * side(p[1], height);
            height = p[1];
        }
    }
    return volume;
}

/* What of the box of p the points of other (n, m) cover: those points, moved into the box. */
static double covered(const double *p, const double *other, const int32_t *which, int64_t n,
                      int64_t stride, int m, const double *reference)
{
    double *moved = mase_xcalloc((size_t)n * (size_t)m * sizeof *moved + 1);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            moved[i * m + j] = fmax(other[which[i] * stride + j], p[j]);
    const double volume = mase_loss_volume(moved, n, m, reference);
    mase_xfree(moved);
    return volume;
}

static double slices(const double *loss, const int32_t *order, int64_t n, int m,
                     const double *reference)
{
    double volume = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *p = loss + (int64_t)order[i] * m;
        const double depth = side(p[0], reference[0]);
        if (depth > 0)
            volume += depth * (box(p + 1, m - 1, reference + 1) -
                               covered(p + 1, loss + 1, order, i, m, m - 1, reference + 1));
    }
    return volume;
}

double mase_loss_volume(const double *loss, int64_t n, int m, const double *reference)
{
    if (n == 0)
        return 0;
    double best = 0;
    for (int64_t i = 0; i < n && m == 1; i++)
        best = fmax(best, side(loss[i], reference[0]));
    if (m == 1)
        return best;
    int32_t *order = mase_xcalloc((size_t)n * sizeof *order);
    mase_loss_order(order, loss, n, m);
    const double volume =
        m == 2 ? staircase(loss, order, n, reference) : slices(loss, order, n, m, reference);
    mase_xfree(order);
    return volume;
}

double mase_hypervolume(const double *value, int64_t count, const struct mase_study_setup *s,
                        const double *reference)
{
    const int m = s->objectives;
    double *loss = mase_xcalloc(((size_t)count + 1) * (size_t)m * sizeof *loss);
    for (int64_t i = 0; i <= count; i++)
        for (int j = 0; j < m; j++) {
            const double v = i < count ? value[i * m + j] : reference[j];
            loss[i * m + j] = isnan(v) ? INFINITY : s->direction[j] == MASE_MAXIMIZE ? -v : v;
        }
    const double volume = mase_loss_volume(loss, count, m, loss + count * m);
    mase_xfree(loss);
    return volume;
}

/* ---- subsets ---- */

/* What each point would add to those chosen, the chosen ones as rows of their own. */
struct subset {
    const double *loss, *reference;
    int m;
    int64_t n, chosen;
    double *gain;    /* (n); less than 0: chosen. Never rises, so an old one is a bound */
    int64_t *of;     /* (n): how many were chosen when the gain was computed */
    int32_t *picked; /* (chosen) */
};

static double gain(const struct subset *s, int64_t i)
{
    const double *p = s->loss + i * s->m;
    return fmax(box(p, s->m, s->reference) -
                    covered(p, s->loss, s->picked, s->chosen, s->m, s->m, s->reference),
                0);
}

static int64_t largest(const double *v, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (v[i] > v[best])
            best = i;
    return best;
}

static void subset_of_many(int32_t *chosen, int64_t k, const double *loss, int64_t n, int m,
                           const double *reference)
{
    struct subset s = { loss, reference, m, n, .picked = chosen };
    s.gain = mase_xcalloc((size_t)n * sizeof *s.gain + 1);
    s.of = mase_xcalloc((size_t)n * sizeof *s.of + 1);
    for (int64_t i = 0; i < n; i++)
        s.gain[i] = box(loss + i * m, m, reference);
    while (s.chosen < k) {
        const int64_t i = largest(s.gain, n);
        if (s.of[i] == s.chosen) {
            chosen[s.chosen++] = (int32_t)i;
            s.gain[i] = -1;
        } else {
            s.gain[i] = gain(&s, i);
            s.of[i] = s.chosen;
        }
    }
    mase_xfree(s.of);
    mase_xfree(s.gain);
}

/* Of two losses, a point of a front adds the rectangle between its neighbours that were chosen. */
static void subset_of_two(int32_t *chosen, int64_t k, const double *loss, int64_t n,
                          const double *reference)
{
    double *gains = mase_xcalloc((size_t)n * 3 * sizeof *gains + 1);
    double *right = gains + n, *above = right + n; /* of the neighbours: first and second loss */
    int32_t *order = mase_xcalloc((size_t)n * sizeof *order + 1);
    mase_loss_order(order, loss, n, 2);
    for (int64_t i = 0; i < n; i++) {
        right[i] = reference[0], above[i] = reference[1];
        gains[i] = box(loss + (int64_t)order[i] * 2, 2, reference);
    }
    for (int64_t c = 0; c < k; c++) {
        const int64_t at = largest(gains, n);
        const double *p = loss + (int64_t)order[at] * 2;
        chosen[c] = order[at];
        for (int64_t i = 0; i < n; i++) {
            const double *q = loss + (int64_t)order[i] * 2;
            right[i] = i < at ? fmin(right[i], p[0]) : right[i];
            above[i] = i > at ? fmin(above[i], p[1]) : above[i];
            if (gains[i] >= 0)
                gains[i] = side(q[0], right[i]) * side(q[1], above[i]);
        }
        gains[at] = -1;
    }
    mase_xfree(order);
    mase_xfree(gains);
}

void mase_loss_subset(int32_t *chosen, int64_t k, const double *loss, int64_t n, int m,
                      const double *reference)
{
    if (m == 2)
        subset_of_two(chosen, k, loss, n, reference);
    else
        subset_of_many(chosen, k, loss, n, m, reference);
}
