/*
 * search.c - our side of bench/search: how many points a second a sampler chooses.
 *
 *     search SAMPLER OBJECTIVES WINDOW TRIALS SEED
 *
 * Ten unordered choices of the numbers 2 .. 8, a trivial objective (one: the distance from 4; two:
 * that from 5, and the mean), results in memory. Prints trials per second of the processor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mase/study.h>

enum { DIMENSIONS = 10 };

static void measure(double *value, const double *x, int objectives)
{
    value[0] = value[1] = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        const double off = x[i] + 2 - (objectives == 1 ? 4 : 5);
        value[0] += off * off;
        value[1] += (x[i] + 2) / DIMENSIONS;
    }
}

static void run(struct mase_sampler *s, const struct mase_study_setup *setup, double *x, double *v,
                const double **point, int64_t trials)
{
    int64_t told = 0;
    for (int64_t n = 0; n < trials; n++) {
        for (; told < mase_sampler_needs(s, n); told++) {
            const struct mase_trial t = { .number = told,
                                          .state = MASE_TRIAL_COMPLETE,
                                          .x = x + told * DIMENSIONS,
                                          .value = v + told * 2 };
            mase_sampler_tell(s, &t);
        }
        point[n] = x + n * DIMENSIONS;
        mase_sampler_ask(s, x + n * DIMENSIONS, n, point + told, n - told);
        measure(v + n * 2, x + n * DIMENSIONS, setup->objectives);
    }
}

int main(int argc, char **argv)
{
    struct mase_dimension dimension[DIMENSIONS];
    const struct mase_space space = { DIMENSIONS, dimension };
    const enum mase_goal direction[] = { MASE_MINIMIZE, MASE_MINIMIZE };
    struct mase_err err = { 0 };
    struct mase_sampler *s;
    if (argc != 6 || !mase_sampler_find(argv[1])) {
        fprintf(stderr, "usage: search SAMPLER OBJECTIVES WINDOW TRIALS SEED\n");
        return 2;
    }
    const int64_t trials = strtoll(argv[4], NULL, 10);
    const struct mase_study_setup setup = { .space = &space,
                                            .direction = direction,
                                            .objectives = argv[2][0] == '2' ? 2 : 1,
                                            .window = strtoll(argv[3], NULL, 10),
                                            .seed = strtoull(argv[5], NULL, 10) };
    for (int i = 0; i < DIMENSIONS; i++)
        dimension[i] = (struct mase_dimension){ "w", MASE_DIMENSION_CHOICE, .high = 6 };
    double *x = calloc((size_t)trials * DIMENSIONS, sizeof *x);
    double *v = calloc((size_t)trials * 2, sizeof *v);
    const double **point = calloc((size_t)trials, sizeof *point);
    if (!x || !v || !point)
        return 2;
    const clock_t start = clock();
    if (mase_sampler_new(&s, mase_sampler_find(argv[1]), &setup, NULL, &err)) {
        mase_err_print(stderr, &err);
        return 2;
    }
    run(s, &setup, x, v, point, trials);
    mase_sampler_free(s);
    printf("%.0f\n", (double)trials * CLOCKS_PER_SEC / (double)(clock() - start));
    free(point);
    free(v);
    free(x);
    return 0;
}
