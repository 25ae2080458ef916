/*
 * evaluate.h - a network run on samples: predictions, and how good they are.
 *
 *     const struct mase_predictor_opts o = { .engine = mase_engine_find("int") };
 *     MASE_TRY(mase_predictor_new(&p, graph, &sample, &o, err));
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

/* How many threads the process may use: OMP_NUM_THREADS if it is set, else the number of CPUs in
 * the affinity mask (taskset, a container's set). */
int mase_threads_allowed(void);

/* How many threads make training with batches of this size, or predicting this many rows, fastest:
 * at most `asked`, or, if that is 0, at most mase_threads_allowed(). */
int mase_train_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t batch,
                       int asked);
int mase_predict_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t rows,
                         int asked);

/* ---- engines ---- */

/* What computes a network, a row of evaluate/engines.def each. An engine refuses what it cannot
 * compute when a predictor is made, before anything runs. */
struct mase_engine_functions;
struct mase_engine {
    const char *name, *help;
    bool several; /* takes networks of several inputs or results */
    const struct mase_engine_functions *functions;
};
extern const struct mase_engine mase_engines[]; /* the last has no name */

const struct mase_engine *mase_engine_find(const char *name); /* NULL: there is none */
/* Fails, and says which engines there are. */
enum mase_status mase_engine_unknown(const char *name, struct mase_err *err);
/* What a program in C or in hardware computes: integers of a network with number formats, else
 * floats. */
const struct mase_engine *mase_engine_deployed(const struct mase_graph *g);

/* ---- prediction ---- */

/* A graph ready to evaluate, by an engine. */
struct mase_predictor;

struct mase_predictor_opts {
    const struct mase_engine *engine; /* NULL: float */
    int64_t batch;         /* largest number of samples at once; 0: the library chooses */
    int64_t coupled_batch; /* samples at once, for a network that mixes the samples of a batch; 0:
                              all */
    int64_t usual;         /* usual number of samples in a call; 0: not known */
    int threads;           /* 0: one */
    bool learns;           /* learned parameters of formats may have no values yet */
    bool formats_change;   /* mase_predictor_follow_formats may be called */
    uint64_t seed;         /* seed of random numbers that the network draws */
    const struct mase_scaling *scaling; /* applied to the features first; NULL: none. Borrowed */
};
/* The graph takes one input; it is borrowed and its weights are copied. opts may be NULL. */
enum mase_status mase_predictor_new(struct mase_predictor **out, struct mase_graph *g,
                                    const struct mase_shape *sample,
                                    const struct mase_predictor_opts *opts,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_predictor_free(struct mase_predictor *p);
void mase_predictor_read_weights(
    struct mase_predictor *p); /* read the graph's weights again, after they changed */
/* Follow a change of a node's number formats (mase_plan_follow_formats). MASE_EUNSUPPORTED: this
 * predictor cannot, and is to be made anew. */
enum mase_status mase_predictor_follow_formats(struct mase_predictor *p, const struct mase_node *n,
                                               struct mase_err *err) MASE_MUST_CHECK;
int64_t mase_predictor_batch(const struct mase_predictor *p);
bool mase_predictor_planned(const struct mase_predictor *p);
const char *mase_predictor_isa(
    const struct mase_predictor *p); /* instruction set; "scalar" for the reference */
int64_t mase_predictor_outputs(const struct mase_predictor *p);          /* per sample */
struct mase_shape mase_predictor_result(const struct mase_predictor *p); /* of one sample */

enum mase_dtype mase_predictor_dtype(const struct mase_predictor *p); /* of results */

/* Run n samples, x (n, features) and y (n, outputs), both row-major; n may be any number. */
enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Run with y of element type dtype. With mase_predictor_dtype results are not rounded to floats. */
enum mase_status mase_predictor_run_typed(struct mase_predictor *p, void *y, enum mase_dtype dtype,
                                          const float *x, int64_t n,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* ---- evaluation ---- */

/* A metric by its name in files, "mae", and its title in tables, "mean absolute error". */
struct mase_metric {
    const char *name, *title;
    double value; /* NaN: undefined, as for a class that does not occur */
};
/* Metrics of each output, label or class. */
struct mase_metric_table {
    const char *title;          /* heading of the rows: "Output" */
    const char *const *columns; /* (column_count), by their names in files */
    int column_count;
    int64_t rows;
    const char *const *names; /* (rows), or NULL: 0, 1, ... */
    double *value;            // (rows, column_count)
};

/* A cell of the confusion matrix: samples of class `truth` that were classified as `answer`. */
struct mase_confused {
    int32_t truth, answer;
    int64_t count;
};
enum { MASE_CONFUSION_CLASSES = 256 }; /* most classes of a confusion matrix that is kept whole */

struct mase_evaluation {
    const struct mase_task *task;
    int64_t samples;
    double loss;  /* mean over samples, positions and outputs */
    double score; /* the score of the task */
    double hits;  /* cross entropy: share of positions with the right answer; else NaN */
    double seconds;
    /* For tasks other than classification, if mase_evaluate_opts.detail is set, and allocated
     * there. */
    const struct mase_metric *metric;
    int metrics;
    struct mase_metric_table by_output; /* rows is 0: no table */
    /* For classification, into two classes or more; else NaN. */
    double accuracy;       /* over all samples (micro average): the score */
    double accuracy_error; /* standard error of the accuracy */
    int classes;
    /* The rest for classification, if detail is set, and allocated there; NaN for classes that do
     * not occur. */
    double macro_accuracy;      /* mean recall of the classes that occur */
    int64_t *confusion;         /* (classes, classes): [truth][answer]; NULL: more than
                                   MASE_CONFUSION_CLASSES classes */
    int64_t *support;           /* (classes): samples of each */
    struct mase_confused *cell; /* (cells): the non-zero cells of the matrix, by truth and answer */
    int64_t cells;
    double *precision, *recall; /* (classes) */
    double *auc;                /* (classes): one against the rest, ties count half */
};
/* Which rows to evaluate, and what their labels mean. */
struct mase_evaluate_opts {
    struct mase_split_rows rows;
    const struct mase_objective *objective; /* NULL: classification */
    const int32_t
        *class_map; /* (classes): the network's class for each class of the dataset; NULL: equal */
    struct mase_arena *detail; /* NULL: loss and score only */
    /* The processes of a job (base/ranks.h), which all evaluate these rows and share the batches;
     * NULL: this one alone. */
    struct mase_ranks *ranks;
};
enum mase_status mase_evaluate_rows(struct mase_evaluation *e, struct mase_predictor *p,
                                    const struct mase_dataset *d,
                                    const struct mase_evaluate_opts *o,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Evaluate a split, at most `limit` samples of it, 0: all. o may be NULL: classification. */
enum mase_status mase_evaluate(struct mase_evaluation *e, struct mase_predictor *p,
                               const struct mase_dataset *d, const struct mase_objective *o,
                               enum mase_split split, int64_t limit, struct mase_arena *detail,
                               struct mase_err *err) MASE_MUST_CHECK;

/* Add the metrics beside loss and score to the table v, by their names in files; an undefined
 * metric is none. class_names: (classes), in the network's order. */
void mase_evaluation_set(struct mase_arena *a, struct mase_value *v,
                         const struct mase_evaluation *e, const char *const *class_names);
struct mase_value *mase_value_measured(struct mase_arena *a,
                                       double f); /* a float, or none for NaN */
/* The name of row r of a table, allocated in a. */
const char *mase_metric_row(struct mase_arena *a, const struct mase_metric_table *m, int64_t r);

/* Compute all members of e but loss and seconds, from outputs y (n, classes) and labels. */
void mase_metrics(struct mase_evaluation *e, struct mase_arena *a, const float *y,
                  const int32_t *label, int64_t n, int classes);
/* The probability that a random positive scores above a random negative, ties counted half; NaN
 * when either is missing. */
double mase_auc(const float *score, int64_t stride, const int32_t *label, int64_t n,
                int32_t positive);

MASE_API_END

#endif /* MASE_EVALUATE_H */
