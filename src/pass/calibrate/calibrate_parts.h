/*
 * calibrate_parts.h - private: the parts of calibration. Values are collected, a format is chosen
 * for them, weights are fitted to it.
 */
#ifndef MASE_PASS_CALIBRATE_H
#define MASE_PASS_CALIBRATE_H

#include <mase/calibrate.h>

/* ---- values (collect.c) ---- */

/* Whoever wants to see what a node computes: batch by batch, row-major, x (n, ...). A value that
 * does not follow the samples comes once, as a whole, with samples false. */
typedef void mase_tap_fn(void *data, const float *x, const struct mase_shape *shape, bool samples);
struct mase_tap {
    const struct mase_node *node;
    mase_tap_fn *take;
    void *data;
};
/* Is there anything to run on? *rows: those asked for, then those there are at most. */
enum mase_status mase_cal_rows(int64_t *rows, struct mase_pass_env *env,
                               struct mase_err *err) MASE_MUST_CHECK;
/* Run g on so many rows of the training split and show the taps, one after the other. */
enum mase_status mase_collect(struct mase_graph *g, const struct mase_tap *taps, int count,
                              int64_t rows, struct mase_pass_env *env,
                              struct mase_err *err) MASE_MUST_CHECK;

/* The same for two graphs and a tap in each: both see a batch before the next one comes, the first
 * before the second. */
enum mase_status mase_collect_pair(struct mase_graph *const g[2], const struct mase_tap taps[2],
                                   int64_t rows, struct mase_pass_env *env,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- choosing (choose.c) ---- */

/* One tensor that a format rounds. */
struct mase_cal_tensor {
    const float *x;
    struct mase_shape shape;
    enum mase_role role;
    enum mase_sign sign;
};

/* All that one format rounds, and the extremes of what was seen, kept or not. */
struct mase_cal_values {
    const struct mase_cal_tensor *tensor;
    int count;
    double min, max;
};

/* What a choice is like. */
struct mase_cal_fit {
    double min, max;  /* of the values */
    double low, high; /* of the format */
    double mse, sqnr; /* sqnr in dB; infinite where nothing is lost */
    double saturated; /* share of the values that lie outside */
    int64_t values;
};

/* Replace every "auto" among the parameters of kind in config, prefix_PARAMETER, by a number, in
 * a. */
enum mase_status mase_cal_choose(struct mase_value *config, const char *prefix,
                                 struct mase_cal_fit *fit, enum mase_quant_kind kind,
                                 const struct mase_cal_values *v,
                                 const struct mase_calibrate_opts *o, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* The same, where the format has a scale for each channel or block a list of them (channels.c). */
enum mase_status mase_cal_decide(struct mase_value *config, const char *prefix,
                                 struct mase_cal_fit *fit, enum mase_quant_kind kind,
                                 const struct mase_cal_values *v,
                                 const struct mase_calibrate_opts *o, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- operands (sources.c) ---- */

/* One tensor of an operand. */
struct mase_cal_source {
    enum mase_operand operand;
    struct mase_rounding how;
    const struct mase_tensor *parameter; /* of the graph; or NULL, and it is what */
    const struct mase_node *node;        /* computes */
    struct mase_cal_tensor values;       /* what was kept; no data: nothing came */
    double min, max;                     /* of all; min is NaN if one was not finite */
    /* private */
    struct mase_arena *arena;
    float *kept;
    int64_t rows, wanted, seen;
};
/* All operands of n that have formats, its result included; of a module that is called several
 * times, those of every call. Returns how many. */
int mase_cal_sources(struct mase_cal_source **out, struct mase_arena *a, const struct mase_node *n);
/* Fill in their values, in a. rows: no more than there are. */
enum mase_status mase_cal_read(struct mase_cal_source *s, int count, struct mase_graph *g,
                               int64_t rows, struct mase_arena *a, struct mase_pass_env *env,
                               struct mase_err *err) MASE_MUST_CHECK;

/* ---- weights and biases (correct.c) ---- */

/* Can its weights and bias be changed for it alone? If not, why. */
const char *mase_cal_fixed(const struct mase_node *n);
/* Give the parameters of its module memory of their own, and it a bias if that is asked for:
 * whoever shares the old ones keeps them. */
enum mase_status mase_cal_own(struct mase_node *n, bool bias, struct mase_err *err) MASE_MUST_CHECK;
/* Add to the bias of n, channel by channel, what its result lacks in the mean to that of its like
 * in a float graph. largest: of what was added. */
enum mase_status mase_cal_correct(struct mase_node *n, struct mase_node *plain, int64_t rows,
                                  struct mase_pass_env *env, double *largest,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Give parameters of the module of n in its own graph the values that they have in from's, and a
 * bias if that has one. */
enum mase_status mase_cal_copy_weights(struct mase_node *n, const struct mase_node *from,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- scores (score.c) ---- */

/* How badly a format suits values: 0 is best. Infinite where it gives NaN. */
struct mase_cal_scorer;
typedef double mase_cal_score_fn(const struct mase_cal_scorer *s, const struct mase_format *f);
struct mase_cal_scorer {
    const struct mase_cal_values *v;
    float *q;          /* room for the largest tensor */
    double *histogram; /* (MASE_CAL_BINS) of kl: values but for zeros; NULL: not asked for */
};
enum { MASE_CAL_BINS = 2048 };
void mase_cal_scorer_init(struct mase_cal_scorer *s, const struct mase_cal_values *v,
                          struct mase_arena *a, bool histogram);
mase_cal_score_fn mase_cal_mse, mase_cal_kl;
/* The figures of the format that was chosen. */
struct mase_cal_fit mase_cal_fit(const struct mase_cal_scorer *s, const struct mase_format *f);

/* ---- weights (gptq.c, layer.c) ---- */

/* Add to the diagonal, relative to its mean; 1 where there is nothing. */
void mase_damp(double *h, int64_t n, double damping);
/* The Cholesky factor of a symmetric matrix in place of its lower half; false: it has none. */
bool mase_cholesky(double *h, int64_t n);
/* Solve h z = b for rows of b, (rows, n), in their place; h as factored. */
void mase_cholesky_solve(const double *h, int64_t n, double *b, int64_t rows);
/* Round w (out, in), column by column: what each loses on the inputs whose products' sum is the
 * Hessian (in, in), the columns behind it make up for. What was zero stays zero. f must round every
 * column for itself. hessian is destroyed. False: it has no Cholesky factor. */
bool mase_gptq(float *w, const float *was, int64_t out, int64_t in, double *hessian, double damping,
               const struct mase_format *f);

/* What a linear layer is given, in float and rounded as it rounds it: deviations from the means,
 * their products summed. */
struct mase_cal_inputs {
    int64_t in, rows;
    double *ff, *fq, *qq; /* (in, in): float by float, float by rounded, rounded by rounded */
    float *w;             /* (out, in) the weights that float inputs met */
};
/* Can the weights of n be fitted? If not, why. */
const char *mase_cal_unfit(const struct mase_node *n);
/* Gather its inputs on the rows, from a float graph too, in a; n has the format of its data. */
enum mase_status mase_cal_gather(struct mase_cal_inputs *x, struct mase_node *n,
                                 struct mase_node *plain, int64_t rows, struct mase_arena *a,
                                 struct mase_pass_env *env, struct mase_err *err) MASE_MUST_CHECK;
/* The weights that come nearest to the float result on rounded inputs, before they are rounded. */
enum mase_status mase_cal_refit(struct mase_node *n, const struct mase_cal_inputs *x,
                                double damping, struct mase_err *err) MASE_MUST_CHECK;
/* Round them, by gptq or to nearest, whichever is better. Mean squared errors of the result: of the
 * weights at the start to nearest, and now. */
enum mase_status mase_cal_round(struct mase_node *n, const struct mase_cal_inputs *x,
                                double damping, double *nearest, double *fitted,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- by passes (again.c) ---- */

/* Fit weights and biases of a graph that has its formats, and report how far its outputs are from
 * float, before and after; by the name of the pass. */
enum mase_status mase_calibrate_again(struct mase_graph *g, const char *pass,
                                      const struct mase_calibrate_opts *o,
                                      struct mase_pass_env *env,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_CALIBRATE_H */
