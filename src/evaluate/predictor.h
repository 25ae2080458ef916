/*
 * predictor.h - many samples through a predictor, batch by batch, each by one of its workers.
 */
#ifndef MASE_EVALUATE_PREDICTOR_H
#define MASE_EVALUATE_PREDICTOR_H

#include <mase/call.h>
#include <mase/evaluate.h>
#include <mase/int_program.h>

/* What a thread needs to run a batch. */
struct mase_worker {
    struct mase_plan *plan;        /* NULL: the reference runs it, or */
    struct mase_int_runner *exact; /* integers */
    struct mase_lanes x, y;        /* the plan's, that of integers, or the reference's own */
    int64_t samples;               /* in x */
    struct mase_tensor result;     /* of the reference, with its type: until it runs again */
    struct mase_targets targets;   /* of evaluate_rows.c: theirs */
    int64_t fault;                 /* where the batch begins that could not be run; -1: none */
    struct mase_err err;           /* then why */
};

struct mase_predictor {
    struct mase_graph *graph;       /* borrowed */
    struct mase_int_program *exact; /* NULL: floats */
    const struct mase_scaling *scaling;
    struct mase_arena arena;
    struct mase_inputs inputs; /* the shapes of a whole batch */
    int64_t batch, features, outputs;
    int64_t coupled_batch;    /* samples of a batch where the network mixes them; 0: all */
    int64_t told;             /* how many of them the user was told; 0: nothing */
    struct mase_shape result; /* of a sample: outputs in all */
    enum mase_dtype dtype;    /* of results, which workers have as floats */
    struct mase_worker *worker;
    int workers; /* threads; one for the reference */
    bool learns; /* what formats learn may have no values yet */
    uint64_t seed;
};

/* Are n values of a sample's, stride apart, such as the input takes? Floats are any. */
enum mase_status mase_input_check(const struct mase_input *in, const float *x, int64_t stride,
                                  int64_t n, struct mase_err *err) MASE_MUST_CHECK;

/* What to do with the batch of samples from `at` on: fill s->x with s->samples of them (scaling
 * follows), or take s->y away; that this cannot be done s->fault and s->err tell. Several threads
 * call it at once, for other batches. */
typedef void mase_worker_fn(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                            void *data);
/* n samples: for every batch fill, forward, take. */
enum mase_status mase_predictor_each(struct mase_predictor *p, int64_t n, mase_worker_fn *fill,
                                     mase_worker_fn *take, void *data,
                                     struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EVALUATE_PREDICTOR_H */
