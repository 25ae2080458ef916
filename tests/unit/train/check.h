/*
 * check.h - what the tests of training share.
 */
#ifndef TESTS_TRAIN_CHECK_H
#define TESTS_TRAIN_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase/train.h>
#include <mase/zoo.h>

static struct mase_err err;

static inline void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("unexpected error");
    }
}

static inline void check_near(double got, double want, double tolerance, const char *what,
                              long long i)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s[%lld]: got %.9g, want %.9g within %g", what, i, got, want, tolerance);
}

/* The options as they are without anything said. */
static inline struct mase_train_opts default_opts(void)
{
    struct mase_train_opts o;
    struct mase_arena a = { 0 };
    must(mase_opts_bind(&o, sizeof o, mase_train_rows, NULL, &a, &err));
    mase_arena_release(&a);
    return o;
}

/* A network of the zoo for its own data, with weights from a seed. */
static inline struct mase_graph *build(const char *name, uint64_t seed)
{
    const struct mase_model *model;
    const struct mase_data_info *data;
    struct mase_graph *g;
    must(mase_zoo_find(&model, name, &err));
    must(mase_data_find(&data, model->dataset, &err));
    must(model->build(&g, data, &err));
    mase_graph_init_weights(g, seed);
    return g;
}

static inline double rate_at(const struct mase_train_opts *o, int64_t epoch, int64_t step,
                             int64_t steps)
{
    return mase_train_lr(o, &(struct mase_train_at){ epoch, step, steps, 0 });
}

#endif /* TESTS_TRAIN_CHECK_H */
