/*
 * portable.c - functions of numbers with the same bits on every machine.
 */
#include "study/portable.h"

double mase_study_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent); /* [0.5, 1) */
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    /* ln m = 2 artanh((m - 1) / (m + 1)) */
    const double s = (m - 1) / (m + 1), s2 = s * s;
    double sum = 0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

/* Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17. */
double mase_study_normal_share(double x)
{
    static const double b[] = { 0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429 };
    const double t = 1 / (1 + 0.2316419 * fabs(x));
    double sum = 0;
    for (int i = 4; i >= 0; i--)
        sum = (sum + b[i]) * t;
    const double tail = 0.39894228040143268 * mase_study_exp(-x * x / 2) * sum;
    return x > 0 ? 1 - tail : tail;
}
