/*
 * emit_turns.c - the least CPU time of a call of net(), in nanoseconds, over so many turns of 1024.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void net(const float *x, float *y);

enum { INPUTS = 16, OUTPUTS = 5, SAMPLES = 1024 };

static float x[SAMPLES][INPUTS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : 100;
    double least = 1e18;
    float y[OUTPUTS], sum = 0;
    unsigned seed = 1;
    for (int i = 0; i < SAMPLES * INPUTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i / INPUTS][i % INPUTS] = (float)(seed >> 8) / (float)(1 << 22) - 2;
    }
    for (int t = 0; t < turns; t++) {
        const double start = now();
        for (int i = 0; i < SAMPLES; i++) {
            net(x[i], y);
            sum += y[0] + y[OUTPUTS - 1];
        }
        const double took = (now() - start) / SAMPLES;
        least = took < least ? took : least;
    }
    if (sum == 12345) /* the results are used */
        puts("");
    printf("%.1f\n", least);
    return 0;
}
