/*
 * sampler_study.h - small studies for tests of samplers: spaces, and the loop of study.h.
 */
#ifndef MASE_TESTS_SAMPLER_STUDY_H
#define MASE_TESTS_SAMPLER_STUDY_H

#include <stdlib.h>
#include <string.h>

#include "study/sampler.h"

enum { DIMENSIONS = 8, OBJECTIVES = 4, STUDY_TRIALS = 1200 };

struct sampler_study {
    struct mase_space space;
    struct mase_dimension dimension[DIMENSIONS];
    enum mase_goal direction[OBJECTIVES];
    struct mase_study_setup setup;
    struct mase_sampler *sampler;
    const char *name, *options;
    struct mase_trial trial[STUDY_TRIALS];
    double x[STUDY_TRIALS][DIMENSIONS], value[STUDY_TRIALS][OBJECTIVES], violation[STUDY_TRIALS];
    struct mase_reading reading[STUDY_TRIALS];
    const double *point[STUDY_TRIALS];
    int64_t trials, told;
    struct mase_arena arena;
};

static const struct mase_dimension
    dimension_u = { "u", MASE_DIMENSION_FLOAT, .low = 0, .high = 1 },
    dimension_rate = { "rate", MASE_DIMENSION_FLOAT, .low = 1e-4, .high = 1, .log = true },
    dimension_w = { "w", MASE_DIMENSION_INT, .low = 2, .high = 8, .step = 1 },
    dimension_o = { "o", MASE_DIMENSION_CHOICE, .low = 0, .high = 3, .ordered = true },
    dimension_one = { "one", MASE_DIMENSION_FLOAT, .low = 3, .high = 3 },
    dimension_s = { "s", MASE_DIMENSION_CHOICE, .low = 0, .high = 2 };

/* Everything that a space can have; without what takes any number; what is ordered alone. */
static inline void mixed_space(struct sampler_study *s)
{
    const struct mase_dimension all[] = { dimension_u, dimension_rate, dimension_w,
                                          dimension_o, dimension_s,    dimension_one };
    memcpy(s->dimension, all, sizeof all);
    s->space.count = 6;
}

static inline void discrete_space(struct sampler_study *s)
{
    const struct mase_dimension all[] = { dimension_w, dimension_o, dimension_s };
    memcpy(s->dimension, all, sizeof all);
    s->space.count = 3;
}

static inline void ordered_space(struct sampler_study *s)
{
    const struct mase_dimension all[] = {
        { "a", MASE_DIMENSION_INT, .low = 2, .high = 4, .step = 1 },
        { "b", MASE_DIMENSION_CHOICE, .low = 0, .high = 2, .ordered = true },
        { "c", MASE_DIMENSION_FLOAT, .low = 0, .high = 2, .step = 1 },
    };
    memcpy(s->dimension, all, sizeof all);
    s->space.count = 3;
}

static inline void open_study(struct sampler_study *s, void (*space)(struct sampler_study *),
                              int objectives, int64_t window)
{
    memset(s, 0, sizeof *s);
    space(s);
    s->space.dimension = s->dimension;
    for (int i = 0; i < s->space.count; i++)
        if (s->dimension[i].kind == MASE_DIMENSION_CHOICE) {
            struct mase_value *list = mase_value_list(&s->arena);
            for (int k = 0; k <= (int)s->dimension[i].high; k++)
                mase_value_push(&s->arena, list, mase_value_int(&s->arena, k));
            s->dimension[i].choices = list;
        }
    s->setup = (struct mase_study_setup){ .space = &s->space,
                                          .direction = s->direction,
                                          .objectives = objectives,
                                          .constraints = 1,
                                          .seed = 5,
                                          .window = window };
}

static inline enum mase_status make_sampler(struct sampler_study *s, const char *name,
                                            const char *options, struct mase_err *err)
{
    struct mase_value *v;
    s->name = name;
    s->options = options;
    assert_int_equal(mase_json_parse(&v, &s->arena, options, strlen(options), "options", err), 0);
    return mase_sampler_new(&s->sampler, mase_sampler_find(name), &s->setup, v, err);
}

static inline void start_sampler(struct sampler_study *s, const char *name, const char *options)
{
    struct mase_err err = { 0 };
    if (make_sampler(s, name, options, &err))
        fail_msg("%s %s: %s", name, options, err.msg);
}

static inline void expect_refusal(struct sampler_study *s, const char *name, const char *options,
                                  enum mase_status status, const char *word)
{
    struct mase_err err = { 0 };
    assert_int_equal(make_sampler(s, name, options, &err), status);
    s->sampler = NULL;
    if (!strstr(err.msg, word))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, err.msg, word);
}

static inline void restart_sampler(struct sampler_study *s)
{
    mase_sampler_free(s->sampler);
    s->told = 0;
    start_sampler(s, s->name, s->options);
}

static inline void close_study(struct sampler_study *s)
{
    mase_sampler_free(s->sampler);
    mase_arena_release(&s->arena);
}

/* Tell all that trial n needs; returns how many results were told in all. */
static inline int64_t tell_needed(struct sampler_study *s, int64_t n)
{
    while (s->told < mase_sampler_needs(s->sampler, n))
        mase_sampler_tell(s->sampler, &s->trial[s->told++]);
    return s->told;
}

static inline void ask_point(struct sampler_study *s, double *x, int64_t n)
{
    mase_sampler_ask(s->sampler, x, n, s->point + s->told, n - s->told);
}

/* So many trials, or as many as there are. */
static inline void run_study(struct sampler_study *s, int64_t trials,
                             void (*measure)(struct mase_trial *, const struct sampler_study *))
{
    for (int64_t n = 0; n < trials; n++) {
        tell_needed(s, n);
        if ((double)n >= mase_sampler_trials(s->sampler))
            break;
        struct mase_trial *t = &s->trial[n];
        *t = (struct mase_trial){ .number = n,
                                  .x = s->x[n],
                                  .value = s->value[n],
                                  .violation = &s->violation[n],
                                  .reading = &s->reading[n] };
        ask_point(s, t->x, n);
        s->point[n] = t->x;
        measure(t, s);
        s->trials = n + 1;
    }
}

#endif /* MASE_TESTS_SAMPLER_STUDY_H */
