/*
 * portable.c - functions of numbers with the same bits on every machine.
 */
#include "study/portable.h"

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
