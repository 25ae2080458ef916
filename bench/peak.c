/*
 * peak.c - how many floating-point operations one core can do: the 100 % of the benchmarks.
 *
 *     peak [ISA]          "ISA GFLOP/s", one line for each instruction set, or for the one named
 *
 * Independent chains of fused multiply-adds in registers, enough of them to cover the latency: no
 * memory, no dependence. A fused multiply-add is two operations. The best of several short runs
 * counts, since everything that disturbs makes it slower.
 */
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CHAINS = 12, ROUNDS = 4000000, RUNS = 7 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One body per instruction set. The factor is below 1, so the values settle and never overflow or
 * become denormal; their sum is returned, or the loop would be dropped. */
#define PEAK(NAME, TARGET, LANES, V, SET1, FMA, STORE)            \
    __attribute__((target(TARGET))) static float run_##NAME(void) \
    {                                                             \
        const V factor = SET1(0.999f), addend = SET1(0.001f);     \
        V v[CHAINS];                                              \
        float lane[LANES], sum = 0;                               \
        for (int i = 0; i < CHAINS; i++)                          \
            v[i] = SET1(1.0f + (float)i);                         \
        for (int r = 0; r < ROUNDS; r++)                          \
            for (int i = 0; i < CHAINS; i++)                      \
                v[i] = FMA(v[i], factor, addend);                 \
        for (int i = 0; i < CHAINS; i++) {                        \
            STORE(lane, v[i]);                                    \
            for (int k = 0; k < LANES; k++)                       \
                sum += lane[k];                                   \
        }                                                         \
        return sum;                                               \
    }

#define SCALAR_SET1(x)     (x)
#define SCALAR_STORE(p, x) (*(p) = (x))
PEAK(scalar, "fma", 1, float, SCALAR_SET1, __builtin_fmaf, SCALAR_STORE)
PEAK(avx2, "avx2,fma", 8, __m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_storeu_ps)
PEAK(avx512, "avx512f", 16, __m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_storeu_ps)

static const struct {
    const char *name;
    int lanes;
    float (*run)(void);
} sets[] = { { "scalar", 1, run_scalar }, { "avx2", 8, run_avx2 }, { "avx512", 16, run_avx512 } };

static bool supported(int i)
{
    switch (sets[i].lanes) {
    case 16:
        return __builtin_cpu_supports("avx512f");
    case 8:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default:
        return __builtin_cpu_supports("fma");
    }
}

static double measure(int i)
{
    const double operations = 2.0 * CHAINS * ROUNDS * sets[i].lanes;
    double best = 0;
    for (int r = 0; r < RUNS; r++) {
        const double start = seconds();
        const float sum = sets[i].run();
        const double rate = operations / (seconds() - start) * 1e-9;
        best = isfinite(sum) && rate > best ? rate : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < (int)(sizeof(sets) / sizeof(sets[0])); i++)
        if (supported(i) && (argc < 2 || strcmp(argv[1], sets[i].name) == 0))
            printf("%s %.1f\n", sets[i].name, measure(i));
    return 0;
}
