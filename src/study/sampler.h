/*
 * sampler.h - what a sampler is made of.
 */
#ifndef MASE_STUDY_SAMPLER_H
#define MASE_STUDY_SAMPLER_H

#include <mase/rng.h>
#include <mase/study.h>

struct mase_sampler {
    const struct mase_sampler_functions *functions;
    struct mase_study_setup setup;
    int64_t told;
    void *options; /* bound by the rows of the functions */
    struct mase_arena arena;
};

/* A sampler's struct begins with a struct mase_sampler, which is filled in before `open`. */
struct mase_sampler_functions {
    size_t size; /* of the struct */
    const struct mase_opt *options;
    size_t options_size;
    enum mase_status (*open)(struct mase_sampler *s, struct mase_err *err); /* or NULL */
    double (*trials)(const struct mase_sampler *s);                         /* NULL: any number */
    int64_t (*needs)(const struct mase_sampler *s, int64_t n);              /* NULL: none */
    void (*tell)(struct mase_sampler *s, const struct mase_trial *t);       /* or NULL */
    void (*ask)(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count);
    void (*close)(struct mase_sampler *s); /* of what is not in the arena; or NULL */
};

#define SAMPLER(name, help) extern const struct mase_sampler_functions mase_sampler_##name;
#include "study/samplers.def"

/* [0, 1), 53 bits. */
double mase_rng_double(struct mase_rng *r);
/* A possible number of a dimension, drawn evenly. */
double mase_dimension_draw(const struct mase_dimension *d, struct mase_rng *r);
/* The number at a share u of a dimension, [0, 1); of a logarithmic one, a share of the logarithm.
 */
double mase_dimension_at(const struct mase_dimension *d, double u);

/* The share at which a number is, in the middle of those that give it. */
double mase_dimension_share(const struct mase_dimension *d, double x);
/* A number of a dimension of finitely many, counted from the lowest; 0 is the first. */
double mase_dimension_number(const struct mase_dimension *d, int64_t index);

/* Samplers of all points take at most so many. */
#define MASE_POINTS_MAX 0x1p31
enum mase_status mase_space_check_count(double points, struct mase_err *err) MASE_MUST_CHECK;
/* Has a space finitely many points, and no more than that? */
enum mase_status mase_space_check_points(const struct mase_space *s,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* One of them by its number: the last dimension changes fastest. */
void mase_space_point(double *x, const struct mase_space *s, int64_t number);

#endif /* MASE_STUDY_SAMPLER_H */
