/*
 * gptq.c - round the weights of a layer so that their errors compensate each other.
 *
 * Column by column a weight is rounded, and the columns that are still to come take over what its
 * error did to the layer's result on the inputs that were seen (Frantar and others, GPTQ, 2022).
 * With H = X'X + damping, the inverse of H as U'U, U upper triangular:
 *
 *     e = (w_i - round(w_i)) / U_ii,    w_k -= e U_ik  for k > i
 *
 * All of it in double; the rounding is the format's own. A weight that was zero stays zero: it was
 * pruned, and the others make up for what fitting would make of it.
 */
#include <math.h>
#include <string.h>

#include "pass/calibrate/calibrate_parts.h"

bool mase_cholesky(double *h, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        double *row_j = h + j * n;
        for (int64_t i = j; i < n; i++) {
            double *row_i = h + i * n, sum = row_i[j];
            for (int64_t k = 0; k < j; k++)
                sum -= row_i[k] * row_j[k];
            if (i == j && !(sum > 0))
                return false;
            row_i[j] = i == j ? sqrt(sum) : sum / row_j[j];
        }
    }
    return true;
}

void mase_cholesky_solve(const double *h, int64_t n, double *b, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++) {
        double *x = b + r * n;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = 0; k < i; k++)
                x[i] -= h[i * n + k] * x[k];
            x[i] /= h[i * n + i];
        }
        for (int64_t i = n; i-- > 0;) {
            for (int64_t k = i + 1; k < n; k++)
                x[i] -= h[k * n + i] * x[k];
            x[i] /= h[i * n + i];
        }
    }
}

/* Invert a lower triangular matrix in place. */
static void invert_lower(double *l, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        l[j * n + j] = 1 / l[j * n + j];
        for (int64_t i = j + 1; i < n; i++) {
            double sum = 0;
            for (int64_t k = j; k < i; k++)
                sum -= l[i * n + k] * l[k * n + j];
            l[i * n + j] = sum / l[i * n + i];
        }
    }
}

/* From the factor L of H compute U, where U'U is the inverse of H. The rows and columns of H are in
 * reverse order: then the inverse of the factor, transposed and reversed, is U. */
static bool root_of_inverse(double *h, int64_t n)
{
    for (int64_t i = 0; i < n * n / 2; i++) {
        const double t = h[i];
        h[i] = h[n * n - 1 - i];
        h[n * n - 1 - i] = t;
    }
    if (!mase_cholesky(h, n))
        return false;
    invert_lower(h, n);
    for (int64_t i = 0; i < n * n / 2; i++) { /* transpose */
        const double t = h[i];
        h[i] = h[n * n - 1 - i];
        h[n * n - 1 - i] = t;
    }
    return true;
}

void mase_damp(double *h, int64_t n, double damping)
{
    double mean = 0;
    for (int64_t i = 0; i < n; i++)
        mean += h[i * n + i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        h[i * n + i] += mean > 0 ? damping * mean : 1;
}

bool mase_gptq(float *w, const float *was, int64_t out, int64_t in, double *hessian, double damping,
               const struct mase_format *f)
{
    const struct mase_shape column = { 2, { out, 1 } };
    struct mase_arena a = { 0 };
    mase_damp(hessian, in, damping);
    if (!root_of_inverse(hessian, in))
        return false;
    double *v = mase_new_array(&a, double, (size_t)(out * in));
    float *x = mase_new_array(&a, float, (size_t)out);
    for (int64_t i = 0; i < out * in; i++)
        v[i] = (double)w[i];
    for (int64_t i = 0; i < in; i++) {
        const double *u = hessian + i * in;
        for (int64_t o = 0; o < out; o++)
            x[o] = (float)v[o * in + i];
        mase_quantize(f, x, x, &column, MASE_ROLE_WEIGHT, MASE_SIGNED);
        for (int64_t o = 0; o < out; o++) {
            double *row = v + o * in;
            if (was[o * in + i] == 0)
                x[o] = 0;
            const double e = (row[i] - (double)x[o]) / u[i];
            w[o * in + i] = x[o];
            for (int64_t k = i + 1; k < in; k++)
                row[k] -= e * u[k];
        }
    }
    mase_arena_release(&a);
    return true;
}
