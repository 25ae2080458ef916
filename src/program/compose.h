/*
 * compose.h - lower calls to several other calls.
 *
 * A rule writes them down like expressions; each becomes an instruction before the call's own, with
 * the type that its shape rule finds:
 *
 *     struct mase_compose k = { .l = l, .err = err };
 *     struct mase_arg d = mase_compose(&k, MASE_OP_sub, end, x);
 *     return mase_compose_last(&k, MASE_OP_mul, d, weight);
 *
 * After a failure the rest does nothing, and mase_compose_last returns it.
 */
#ifndef MASE_PROGRAM_COMPOSE_H
#define MASE_PROGRAM_COMPOSE_H

#include "program/program_parts.h"

struct mase_compose {
    struct mase_lowered *l;
    struct mase_err *err;
    enum mase_status status;
};

/* The value of op called with these, the further parameters at their defaults. */
struct mase_arg mase_compose_call(struct mase_compose *k, enum mase_op op,
                                  const struct mase_arg *arg, int count);
#define mase_compose(k, op, ...)                                 \
    mase_compose_call(k, op, (struct mase_arg[]){ __VA_ARGS__ }, \
                      (int)(sizeof((struct mase_arg[]){ __VA_ARGS__ }) / sizeof(struct mase_arg)))
/* The call itself becomes op, called with these. */
enum mase_status mase_compose_end(struct mase_compose *k, enum mase_op op,
                                  const struct mase_arg *arg, int count) MASE_MUST_CHECK;
#define mase_compose_last(k, op, ...)                           \
    mase_compose_end(k, op, (struct mase_arg[]){ __VA_ARGS__ }, \
                     (int)(sizeof((struct mase_arg[]){ __VA_ARGS__ }) / sizeof(struct mase_arg)))
/* The parameter of the call that has this name. */
struct mase_arg mase_compose_param(const struct mase_compose *k, const char *name);
/* A tuple of integers. */
struct mase_arg mase_compose_ints(struct mase_compose *k, const int64_t *v, int count);
/* The value's shape for the smallest of the batch sizes. */
struct mase_shape mase_compose_shape(const struct mase_arg *value);

#endif /* MASE_PROGRAM_COMPOSE_H */
