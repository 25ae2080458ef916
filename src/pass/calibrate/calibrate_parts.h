/*
 * calibrate_parts.h - private: the parts of calibration. Collect values, choose a format for them,
 * fit weights to it.
 */
#ifndef MASE_PASS_CALIBRATE_H
#define MASE_PASS_CALIBRATE_H

#include <mase/calibrate.h>

/* ---- values (collect.c) ---- */

/* Receives the values of a node, batch by batch: row-major x (n, ...). A value that does not depend
 * on the samples comes once, with samples false. */
typedef void mase_tap_fn(void *data, const float *x, const struct mase_shape *shape, bool samples);
struct mase_tap {
    const struct mase_node *node;
    mase_tap_fn *take;
    void *data;
};
/* Check that there is data. *rows: rows wanted; on return, limited to those available. */
enum mase_status mase_cal_rows(int64_t *rows, struct mase_pass_env *env,
                               struct mase_err *err) MASE_MUST_CHECK;
/* Run g on so many rows of the training split, and call the taps. */
enum mase_status mase_collect(struct mase_graph *g, const struct mase_tap *taps, int count,
                              int64_t rows, struct mase_pass_env *env,
                              struct mase_err *err) MASE_MUST_CHECK;

/* Run two graphs, with a tap in each: for every batch the first tap is called, then the second. */
enum mase_status mase_collect_pair(struct mase_graph *const g[2], const struct mase_tap taps[2],
                                   int64_t rows, struct mase_pass_env *env,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- choosing (choose.c) ---- */

/* A tensor that a format rounds. */
struct mase_cal_tensor {
    const float *x;
    struct mase_shape shape;
    enum mase_role role;
    enum mase_sign sign;
};

/* All tensors that one format rounds, and the extremes of all values, also of those not kept. */
struct mase_cal_values {
    const struct mase_cal_tensor *tensor;
    int count;
    double min, max;
};

/* How a chosen format fits the values. */
struct mase_cal_fit {
    double min, max;  /* range of the values */
    double low, high; /* range of the format */
    double mse, sqnr; /* sqnr in dB; infinite if nothing is lost */
    double saturated; /* share of the values outside the range */
    int64_t values;
};

/* Replace every "auto" among the parameters prefix_PARAMETER of config by a number, allocated in a.
 */
enum mase_status mase_cal_choose(struct mase_value *config, const char *prefix,
                                 struct mase_cal_fit *fit, enum mase_quant_kind kind,
                                 const struct mase_cal_values *v,
                                 const struct mase_calibrate_opts *o, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* As mase_cal_choose, with a list of numbers if the format has a scale for each channel or block
 * (channels.c). */
enum mase_status mase_cal_decide(struct mase_value *config, const char *prefix,
                                 struct mase_cal_fit *fit, enum mase_quant_kind kind,
                                 const struct mase_cal_values *v,
                                 const struct mase_calibrate_opts *o, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- operands (sources.c) ---- */

/* A tensor of an operand. */
struct mase_cal_source {
    enum mase_operand operand;
    struct mase_rounding how;
    const struct mase_tensor *parameter; /* a parameter of the graph; or NULL: the result */
    const struct mase_node *node;        /* of this node */
    struct mase_cal_tensor values;       /* values that are kept; data NULL: none seen */
    double min, max;                     /* of all values; min is NaN if one was not finite */
    /* private */
    struct mase_arena *arena;
    float *kept;
    int64_t rows, wanted, seen;
};
/* List the operands of n that have formats, with its result; for a module that is called several
 * times, of every call. Returns how many. */
int mase_cal_sources(struct mase_cal_source **out, struct mase_arena *a, const struct mase_node *n);
/* Set their values, allocated in a. rows: at most those available. */
enum mase_status mase_cal_read(struct mase_cal_source *s, int count, struct mase_graph *g,
                               int64_t rows, struct mase_arena *a, struct mase_pass_env *env,
                               struct mase_err *err) MASE_MUST_CHECK;

/* ---- weights and biases (correct.c) ---- */

/* The reason why weights and bias of n cannot be changed for n alone; NULL: they can. */
const char *mase_cal_fixed(const struct mase_node *n);
/* Give the module of n parameters of its own, and a bias if asked for; others that share the
 * parameters keep the old ones. */
enum mase_status mase_cal_unshare(struct mase_node *n, bool bias,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Add to the bias of n, for each channel, the mean difference between the result of plain, in a
 * float graph, and that of n. largest: the largest number added. */
enum mase_status mase_cal_correct(struct mase_node *n, struct mase_node *plain, int64_t rows,
                                  struct mase_pass_env *env, double *largest,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Copy the parameters of from's module to the module of n; add a bias if that has one. */
enum mase_status mase_cal_copy_weights(struct mase_node *n, const struct mase_node *from,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- scores (score.c) ---- */

/* The error of a format on values: 0 is best, infinite if it gives NaN. */
struct mase_cal_scorer;
typedef double mase_cal_score_fn(const struct mase_cal_scorer *s, const struct mase_format *f);
struct mase_cal_scorer {
    const struct mase_cal_values *v;
    float *q;          /* buffer for the largest tensor */
    double *histogram; /* (MASE_CAL_BINS) for kl: values except zeros; NULL: unused */
};
enum { MASE_CAL_BINS = 2048 };
void mase_cal_scorer_init(struct mase_cal_scorer *s, const struct mase_cal_values *v,
                          struct mase_arena *a, bool histogram);
mase_cal_score_fn mase_cal_mse, mase_cal_kl;
/* The figures of a chosen format. */
struct mase_cal_fit mase_cal_fit(const struct mase_cal_scorer *s, const struct mase_format *f);

/* ---- weights (gptq.c, layer.c) ---- */

/* Add damping times the mean of the diagonal to the diagonal; 1 where it is 0. */
void mase_damp(double *h, int64_t n, double damping);
/* Cholesky factorisation in the lower half; false: the matrix is not positive definite. */
bool mase_cholesky(double *h, int64_t n);
/* Solve h z = b for each row of b, (rows, n), in place; h as factored. */
void mase_cholesky_solve(const double *h, int64_t n, double *b, int64_t rows);
/* Round w (out, in) column by column; later columns compensate the error of each on inputs whose
 * Hessian (in, in) is given. Zeros stay zero. f must round columns independently. Destroys hessian.
 * False: it has no Cholesky factor. */
bool mase_gptq(float *w, const float *was, int64_t out, int64_t in, double *hessian, double damping,
               const struct mase_format *f);

/* Inputs of a linear layer in float and as it rounds them: sums of products of deviations from the
 * means. */
struct mase_cal_inputs {
    int64_t in, rows;
    double *ff, *fq, *qq; /* (in, in): float float, float rounded, rounded rounded */
    float *w;             /* (out, in) weights of the float layer */
};
/* The reason why the weights of n cannot be fitted; NULL: they can. */
const char *mase_cal_unfit(const struct mase_node *n);
/* Collect the inputs of n and of its float counterpart on the rows, in a; n has the format of its
 * data. */
enum mase_status mase_cal_gather(struct mase_cal_inputs *x, struct mase_node *n,
                                 struct mase_node *plain, int64_t rows, struct mase_arena *a,
                                 struct mase_pass_env *env, struct mase_err *err) MASE_MUST_CHECK;
/* Least-squares weights that reproduce the float result from rounded inputs, before they are
 * rounded. */
enum mase_status mase_cal_refit(struct mase_node *n, const struct mase_cal_inputs *x,
                                double damping, struct mase_err *err) MASE_MUST_CHECK;
/* Round the weights, by gptq or to nearest, whichever has the smaller error. Mean squared errors of
 * the result: of the first weights rounded to nearest, and of the new weights. */
enum mase_status mase_cal_round(struct mase_node *n, const struct mase_cal_inputs *x,
                                double damping, double *nearest, double *fitted,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- as passes (again.c) ---- */

/* Fit weights and biases of a graph whose formats are chosen, and report the distance of its
 * outputs from float, before and after, under the name of the pass. */
enum mase_status mase_calibrate_again(struct mase_graph *g, const char *pass,
                                      const struct mase_calibrate_opts *o,
                                      struct mase_pass_env *env,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_CALIBRATE_H */
