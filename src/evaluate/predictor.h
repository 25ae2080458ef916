/*
 * predictor.h - many samples through a predictor, batch by batch, each by one of its workers; and
 * what an engine does for it.
 */
#ifndef MASE_EVALUATE_PREDICTOR_H
#define MASE_EVALUATE_PREDICTOR_H

#include <mase/call.h>
#include <mase/evaluate.h>
#include <mase/int_program.h>

/* Memory of a thread that runs batches. */
struct mase_worker {
    struct mase_plan *plan;         /* of floats */
    struct mase_int_runner *runner; /* of integers */
    struct mase_lanes x, y;         /* the samples, and what comes of them, of either or its own */
    int64_t first, samples;         /* those in x */
    struct mase_tensor result;      /* of the reference, with its type, until the batch is taken */
    struct mase_targets targets;    /* of evaluate_rows.c: those of the samples */
    int64_t fault;                  /* where the batch begins that could not be run; -1: none */
    struct mase_err err;            /* then why */
};

struct mase_predictor {
    struct mase_graph *graph; /* borrowed */
    const struct mase_engine_functions *engine;
    struct mase_int_program *integers; /* of the engine int */
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
    bool formats_change;
    uint64_t seed;
};

/* threads.c: a process that shares the CPUs of a machine with others takes so many of them, unless
 * OMP_NUM_THREADS says how many. */
void mase_threads_take(int threads);

/* Are n values of a sample's, stride apart, such as the input takes? Floats are any. */
enum mase_status mase_input_check(const struct mase_input *in, const float *x, int64_t stride,
                                  int64_t n, struct mase_err *err) MASE_MUST_CHECK;

/* Called with the batch of samples from `at` on: fill s->x with s->samples of them (scaling
 * follows), or read s->y; failures go to s->fault and s->err. Several threads call it at once, for
 * different batches. */
typedef void mase_worker_fn(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                            void *data);
/* n samples: for every batch fill, forward, take. */
enum mase_status mase_predictor_each(struct mase_predictor *p, int64_t n, mase_worker_fn *fill,
                                     mase_worker_fn *take, void *data,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- engines ---- */

/* The samples of a mase_predictor_each. */
struct mase_each_batch {
    struct mase_predictor *p;
    int64_t n;
    mase_worker_fn *fill, *take;
    void *data;
};

/* Functions of an engine; NULL is allowed where noted. */
struct mase_engine_functions {
    /* Refuses what the engine cannot compute, and makes what workers share; may make batches
     * smaller. May be NULL. */
    enum mase_status (*prepare)(struct mase_predictor *p, struct mase_err *err);
    void (*release)(struct mase_predictor *p); /* may be NULL */
    /* Worker i, able to take p->batch samples. NULL: only mase_predictor_use_reference makes one.
     */
    enum mase_status (*worker_init)(struct mase_predictor *p, int i, struct mase_err *err);
    void (*worker_release)(struct mase_worker *w);
    /* Do the samples of a batch decide about each other? NULL: never. */
    bool (*mixes)(const struct mase_predictor *p);
    /* Settles how many samples are taken at a time; may pass the work on to the reference. May be
     * NULL. */
    enum mase_status (*settle)(const struct mase_each_batch *e, struct mase_err *err);
    /* w->samples are from w->first on. May be NULL. */
    void (*begin)(struct mase_worker *w);
    /* Takes the samples from an array whose rows are stride apart; row: their numbers, NULL: as
     * they stand. x may be NULL: only the numbers are noted. False: w->x is to be filled. May be
     * NULL. */
    bool (*gather)(struct mase_worker *w, const float *x, int64_t stride, const uint32_t *row);
    /* w->x to w->y. What is allocated in a stays until the batch is taken. */
    enum mase_status (*run)(const struct mase_predictor *p, struct mase_worker *w,
                            struct mase_arena *a, struct mase_err *err);
    /* n samples, (n, features) to (n, outputs), where nothing is to be done between. May be NULL.
     */
    enum mase_status (*run_array)(struct mase_worker *w, float *y, const float *x, int64_t n,
                                  struct mase_err *err);
    /* The loss of what is in w->y. NULL: mase_reference_loss. */
    void (*loss)(struct mase_worker *w, struct mase_loss_result *r, const struct mase_loss_opts *o);
    void (*set_threads)(struct mase_predictor *p,
                        int threads);            /* of the first worker; may be NULL */
    void (*read_weights)(struct mase_worker *w); /* may be NULL */
    /* NULL: the engine computes in the formats that it was made for. */
    enum mase_status (*follow_formats)(struct mase_worker *w, const struct mase_node *n,
                                       struct mase_err *err);
    const char *(*isa)(const struct mase_worker *w); /* NULL: scalar */
    bool checks_indices;                             /* an index that is none is found by run */
    bool is_reference;
};
#define ENGINE(name, several, help) extern const struct mase_engine_functions mase_engine_##name;
#include "evaluate/engines.def"
/* Runs what no plan can run. */
extern const struct mase_engine_functions mase_engine_reference;
/* It takes the place of the engine, with one worker for batches of n samples. */
void mase_predictor_use_reference(struct mase_predictor *p, int64_t n);

/* For engines: the result of the network, by that of a batch, which stands first. */
void mase_predictor_set_result(struct mase_predictor *p, enum mase_dtype dtype,
                               const struct mase_shape *out);
/* The number of n samples that run at once if the network mixes samples; logs it. */
int64_t mase_predictor_couple(struct mase_predictor *p, int64_t n);
/* The samples of a batch from an array, if the engine reads arrays; row: as of gather. */
bool mase_worker_gather(const struct mase_predictor *p, struct mase_worker *s, const float *x,
                        int64_t stride, const uint32_t *row);
/* Fills a worker with the batch from `at` on. False: the samples are not what the network takes. */
bool mase_predictor_begin(const struct mase_each_batch *e, struct mase_worker *s, int64_t at);

#endif /* MASE_EVALUATE_PREDICTOR_H */
