/*
 * evaluate.h - a network run on samples: predictions, and how good they are.
 *
 *     MASE_TRY(mase_predictor_new(&p, graph, &sample, NULL, err));
 *     MASE_TRY(mase_evaluate(&e, p, data, NULL, MASE_SPLIT_TEST, 0, NULL, err));
 */
#ifndef MASE_EVALUATE_H
#define MASE_EVALUATE_H

#include <mase/api.h>
#include <mase/dataset.h>
#include <mase/graph.h>
#include <mase/plan.h>
#include <mase/task.h>
#include <mase/value.h>

MASE_API_BEGIN

/* ---- threads ---- */

/* How many threads a user lets us have: the CPUs of the process's affinity mask (taskset, a
 * container's set), or what OMP_NUM_THREADS says. */
int mase_threads_allowed(void);

/* How many threads pay off to train with batches of this size, or to predict this many rows: at
 * most as many as asked for, 0: as are allowed. More would only be slower. */
int mase_train_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t batch,
                       int asked);
int mase_predict_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t rows,
                         int asked);

/* ---- prediction ---- */

/* A graph ready to evaluate: planned where a plan can run it, else by the reference (operations
 * that mix samples). */
struct mase_predictor;

struct mase_predictor_opts {
    bool exact;            /* in integers (int_program.h); refused where the network has none */
    int64_t batch;         /* most samples at once; 0: a good number */
    int64_t coupled_batch; /* samples at once of a network that mixes those of a batch; 0: all */
    int64_t usual;         /* samples that usually come; 0: not known */
    int threads;           /* 0: one */
    bool learns;           /* what formats learn may have no values yet */
    uint64_t seed;         /* of what the network draws */
    const struct mase_scaling *scaling; /* applied to the features first; NULL: none. Borrowed */
};
/* The graph takes one input; it is borrowed and its weights are copied. opts may be NULL. */
enum mase_status mase_predictor_new(struct mase_predictor **out, struct mase_graph *g,
                                    const struct mase_shape *sample,
                                    const struct mase_predictor_opts *opts,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_predictor_free(struct mase_predictor *p);
void mase_predictor_read_weights(struct mase_predictor *p); /* the graph's, again */
int64_t mase_predictor_batch(const struct mase_predictor *p);
bool mase_predictor_planned(const struct mase_predictor *p);
const char *mase_predictor_isa(const struct mase_predictor *p); /* "scalar" for the reference */
int64_t mase_predictor_outputs(const struct mase_predictor *p); /* per sample */
struct mase_shape mase_predictor_result(const struct mase_predictor *p); /* of one sample */

enum mase_dtype mase_predictor_dtype(const struct mase_predictor *p); /* of results */

/* n samples of a row-major (samples, features) array to y, (n, outputs). Any n. */
enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* To y of another element type, as that of results, which then are not rounded to floats. */
enum mase_status mase_predictor_run_typed(struct mase_predictor *p, void *y, enum mase_dtype dtype,
                                          const float *x, int64_t n,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* ---- evaluation ---- */

/* A number of a task by its name in files: "mae", and in tables: "mean absolute error". */
struct mase_metric {
    const char *name, *title;
    double value; /* NaN: there is none, as of a class that does not occur */
};
/* Numbers for each output, label or class. */
struct mase_metric_table {
    const char *title;          /* of the rows: "Output" */
    const char *const *columns; /* (column_count), by their names in files */
    int column_count;
    int64_t rows;
    const char *const *names; /* (rows), or NULL: 0, 1, ... */
    double *value;            // (rows, column_count)
};

/* So many samples of a class were taken for another, or told right. */
struct mase_confused {
    int32_t truth, answer;
    int64_t count;
};
enum { MASE_CONFUSION_CLASSES = 256 }; /* of a matrix that is kept whole */

struct mase_evaluation {
    const struct mase_task *task;
    int64_t samples;
    double loss;  /* mean over all that counts in it: samples, positions, outputs */
    double score; /* what the task calls so */
    double hits;  /* cross entropy: share of positions with the right answer; else NaN */
    double seconds;
    /* Of other tasks than classification, on request, in the arena given. */
    const struct mase_metric *metric;
    int metrics;
    struct mase_metric_table by_output; /* rows is 0: there is none */
    /* Of classification and two classes; else NaN. */
    double accuracy;       /* of all samples (micro): the score */
    double accuracy_error; /* standard error of it */
    int classes;
    /* The rest only of classification and on request, in the arena given; NaN where a class does
     * not occur. */
    double macro_accuracy;      /* mean recall of the classes that occur */
    int64_t *confusion;         /* (classes, classes): [truth][answer]; NULL: there are more than */
    int64_t *support;           /* MASE_CONFUSION_CLASSES. (classes): samples of each */
    struct mase_confused *cell; /* (cells): that matrix where it is not 0, by truth and answer */
    int64_t cells;
    double *precision, *recall; /* (classes) */
    double *auc;                /* (classes), one against the rest, ties counted half */
};
/* Which rows, and how their labels are to be understood. */
struct mase_evaluate_opts {
    struct mase_split_rows rows;
    const struct mase_objective *objective; /* NULL: classification */
    const int32_t *class_map; /* (classes): the network's class for each of the dataset's; NULL: the
                               * same */
    struct mase_arena *detail; /* NULL: loss and score only */
};
enum mase_status mase_evaluate_rows(struct mase_evaluation *e, struct mase_predictor *p,
                                    const struct mase_dataset *d,
                                    const struct mase_evaluate_opts *o,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Of a split, limit samples at most, 0: all. o may be NULL: classification. */
enum mase_status mase_evaluate(struct mase_evaluation *e, struct mase_predictor *p,
                               const struct mase_dataset *d, const struct mase_objective *o,
                               enum mase_split split, int64_t limit, struct mase_arena *detail,
                               struct mase_err *err) MASE_MUST_CHECK;

/* What was found beside loss and score, into the table v: by the names of files, none where there
 * is none. class_names: (classes), in the network's order. */
void mase_evaluation_set(struct mase_arena *a, struct mase_value *v,
                         const struct mase_evaluation *e, const char *const *class_names);
struct mase_value *mase_value_measured(struct mase_arena *a, double f); /* NaN: none */
/* What row r of such a table is called; in a. */
const char *mase_metric_row(struct mase_arena *a, const struct mase_metric_table *m, int64_t r);

/* From (n, classes) outputs and labels: everything but loss and seconds. */
void mase_metrics(struct mase_evaluation *e, struct mase_arena *a, const float *y,
                  const int32_t *label, int64_t n, int classes);
/* Chance that a random positive scores above a random negative, ties half; NaN without both. */
double mase_auc(const float *score, int64_t stride, const int32_t *label, int64_t n,
                int32_t positive);

MASE_API_END

#endif /* MASE_EVALUATE_H */
