/*
 * sampler_tool.c - the C side of tests/interop/samplers.py: a sampler asked and told by lines.
 *
 *     sampler_tool SAMPLER OPTIONS SEED WINDOW TRIALS DIRECTIONS DIMENSION...
 *
 * OPTIONS: JSON. DIRECTIONS: "min,max". DIMENSION: "int:2:8", "float:-5:5", "log:1e-4:1",
 * "choice:7" or "ordered:7", of so many choices. Prints the point of each trial as a line and reads
 * its values from one; the sampler is told of them when it needs them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/study.h>

enum { DIMENSIONS = 200, OBJECTIVES = 8 };

static void die(const char *what)
{
    fprintf(stderr, "sampler_tool: %s\n", what);
    exit(2);
}

static void read_dimension(struct mase_dimension *d, const char *text)
{
    const char *at = strchr(text, ':');
    char *end;
    if (!at)
        die(text);
    const double first = strtod(at + 1, &end), second = *end == ':' ? strtod(end + 1, NULL) : 0;
    d->name = text;
    if (*text == 'c' || *text == 'o') {
        d->kind = MASE_DIMENSION_CHOICE;
        d->high = first - 1;
        d->ordered = *text == 'o';
        return;
    }
    d->kind = *text == 'i' ? MASE_DIMENSION_INT : MASE_DIMENSION_FLOAT;
    d->step = *text == 'i';
    d->log = *text == 'l';
    d->low = first;
    d->high = second;
}

static void read_values(double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (scanf("%lf", &value[i]) != 1)
            exit(1);
}

static void run(struct mase_sampler *s, const struct mase_study_setup *setup, int64_t trials)
{
    const int d = setup->space->count, m = setup->objectives;
    double *x = calloc((size_t)(trials * d), sizeof *x),
           *v = calloc((size_t)(trials * m), sizeof *v);
    const double **pending = calloc((size_t)trials, sizeof *pending);
    int64_t told = 0;
    if (!x || !v || !pending)
        die("out of memory");
    for (int64_t n = 0; n < trials; n++) {
        while (told < mase_sampler_needs(s, n)) {
            const struct mase_trial t = { .number = told,
                                          .state = MASE_TRIAL_COMPLETE,
                                          .x = x + told * d,
                                          .value = v + told * m };
            mase_sampler_tell(s, &t);
            told++;
        }
        if ((double)n >= mase_sampler_trials(s))
            break;
        pending[n] = x + n * d;
        mase_sampler_ask(s, x + n * d, n, pending + told, n - told);
        for (int i = 0; i < d; i++)
            printf("%.17g ", x[n * d + i]);
        printf("\n");
        fflush(stdout);
        read_values(v + n * m, m);
    }
    free(pending);
    free(v);
    free(x);
}

int main(int argc, char **argv)
{
    static struct mase_dimension dimension[DIMENSIONS];
    struct mase_space space = { argc - 7, dimension };
    enum mase_goal direction[OBJECTIVES];
    struct mase_arena a = { 0 };
    struct mase_value *options;
    struct mase_sampler *s;
    struct mase_err err = { 0 };
    if (argc < 8 || argc - 7 > DIMENSIONS)
        die("SAMPLER OPTIONS SEED WINDOW TRIALS DIRECTIONS DIMENSION...");
    struct mase_study_setup setup = { .space = &space,
                                      .direction = direction,
                                      .seed = strtoull(argv[3], NULL, 10),
                                      .window = strtoll(argv[4], NULL, 10) };
    for (const char *w = argv[6]; w && setup.objectives < OBJECTIVES; w = strchr(w, ',')) {
        w += *w == ',';
        direction[setup.objectives++] = w[1] == 'a' ? MASE_MAXIMIZE : MASE_MINIMIZE;
    }
    for (int i = 7; i < argc; i++)
        read_dimension(&dimension[i - 7], argv[i]);
    const struct mase_sampler_kind *kind = mase_sampler_find(argv[1]);
    if (!kind)
        die("no such sampler");
    if (mase_json_parse(&options, &a, argv[2], strlen(argv[2]), "OPTIONS", &err) ||
        mase_sampler_new(&s, kind, &setup, options, &err)) {
        mase_err_print(stderr, &err);
        return 2;
    }
    run(s, &setup, strtoll(argv[5], NULL, 10));
    mase_sampler_free(s);
    mase_arena_release(&a);
    return 0;
}
