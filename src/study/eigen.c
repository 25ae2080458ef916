/*
 * eigen.c - Jacobi's method: rotations in the plane of two axes, each of which makes the element
 * off the diagonal 0, until all are small.
 */
#include "study/eigen.h"

#include <math.h>
#include <string.h>

/* Columns p and q of m (n, n) become their sums by cosine and sine. */
static void rotate_columns(double *m, int n, int p, int q, double c, double s)
{
    for (int i = 0; i < n; i++) {
        const double x = m[i * n + p], y = m[i * n + q];
        m[i * n + p] = c * x - s * y;
        m[i * n + q] = s * x + c * y;
    }
}

static void rotate_rows(double *m, int n, int p, int q, double c, double s)
{
    for (int i = 0; i < n; i++) {
        const double x = m[p * n + i], y = m[q * n + i];
        m[p * n + i] = c * x - s * y;
        m[q * n + i] = s * x + c * y;
    }
}

static void rotate(double *a, double *v, int n, int p, int q)
{
    const double off = a[p * n + q];
    if (off == 0)
        return;
    const double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    rotate_columns(a, n, p, q, c, s);
    rotate_rows(a, n, p, q, c, s);
    rotate_columns(v, n, p, q, c, s);
    a[p * n + q] = a[q * n + p] = 0;
}

enum { SWEEPS = 30 }; /* 6 to 10 are enough for doubles */

void mase_eigen(double *a, double *v, int n)
{
    memset(v, 0, (size_t)n * (size_t)n * sizeof *v);
    for (int i = 0; i < n; i++)
        v[i * n + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < n * n; i++) {
            all += a[i] * a[i];
            off += i / n == i % n ? 0 : a[i] * a[i];
        }
        if (!(off > 1e-30 * all))
            return;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(a, v, n, p, q);
    }
}
