/*
 * sweep.h - train one network for every combination of some options.
 *
 * A sweep is every combination of the axes' values, the last axis varying fastest. Configurations
 * run at the same time, each on one thread, and give the same bits as when run alone. The result of
 * a finished configuration is kept in a file named after its effective options, its model and its
 * data, so a sweep that was interrupted or extended runs only the configurations without a result.
 *
 *     struct mase_sweep s = { .network = g, .data = d, .options = table, .axes = axes,
 *                             .axis_count = 2, .dir = "sweep" };
 *     MASE_TRY(mase_sweep_expand(&s, &arena, err));
 *     MASE_TRY(mase_sweep_run(&s, err));
 *     struct mase_table t = mase_sweep_table(&s, &arena);
 *
 * Some axes are special. "model" and parameters of formats change the network: there is one network
 * for each combination of their values. Configurations that differ only in "seed" repeat one
 * experiment, which is reported by mean and spread. A configuration of 0 epochs is evaluated
 * without training.
 */
#ifndef MASE_SWEEP_H
#define MASE_SWEEP_H

#include <mase/api.h>
#include <mase/plot.h>
#include <mase/table.h>
#include <mase/train.h>
#include <mase/weights.h>

MASE_API_BEGIN

/* An option of mase_train_rows and its values; or, if network is true, "model" or a parameter of
 * the network's number formats. */
struct mase_sweep_axis {
    const char *key;
    const struct mase_value *values; /* a list */
    bool network;
};
/* The value of an axis of formats at which there are none. */
#define MASE_SWEEP_PLAIN "float"

enum { MASE_SWEEP_MAX_AXES = 5, MASE_SWEEP_MAX_RUNS = 10000 };

/* The result of a configuration. A loss that is not a number is NaN. */
struct mase_sweep_result {
    int64_t epochs, steps;          /* epochs and steps run; fewer than asked after an early stop */
    double train_loss, train_score; /* over the last epoch */
    double val_loss, val_score;     /* after the last epoch */
    double best_val_loss;
    int64_t best_epoch;
    double test_loss, test_score,
        test_error; /* with the last weights; standard error of an accuracy */
    double seconds; /* of training */
    double samples_per_second;
};

struct mase_sweep_point {
    struct mase_train_opts opts;
    const struct mase_graph *network; /* the network to train */
    const struct mase_graph
        *base; /* the network that the file of weights belongs to; NULL: network */
    const struct mase_value *value[MASE_SWEEP_MAX_AXES]; /* value on each axis */
    char key[17];                                        /* names the result's file */
    char loss_hash[65];                                  /* SHA-256 of a loss of one's own, or "" */
    bool done, reused;
    struct mase_sweep_result result; /* when done */
    struct mase_err failure;         /* status 0: none */
};

struct mase_sweep {
    const struct mase_graph *network; /* each configuration trains a clone; its name is printed */
    const struct mase_graph *const
        *networks; /* instead: one for each combination of values of the axes that change the
                      network, the last axis varying fastest */
    /* For each network, or the only one: the network that the file of weights belongs to, before
     * its formats were changed; NULL: that network itself. Learned numbers that the file lacks get
     * first values from the data. */
    const struct mase_graph *const *bases;
    const struct mase_dataset *data;
    const char *data_variant;      /* how the data was opened beyond its checksum, or NULL */
    const char *weights;           /* file to start from; NULL: initialised from the seed */
    struct mase_weights_opts load; /* options of loading; each configuration has its own seed */
    const struct mase_value
        *options; /* options that all configurations share; NULL: the defaults */
    const struct mase_prune_opts *prune; /* pruning during training; NULL: none */
    const struct mase_sweep_axis *axes;
    int axis_count;
    const char *dir; /* of the results, made if missing */
    int jobs;        /* configurations at once; 0: one per processor */
    /* filled by mase_sweep_expand, in the arena given to it */
    struct mase_sweep_point *points;
    int count;
    char weights_hash[65]; /* SHA-256 of the file of weights, or "" */
};

/* Make the list of configurations and check every value. */
enum mase_status mase_sweep_grid(struct mase_sweep *s, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Make the list of configurations, and read the results that exist. */
enum mase_status mase_sweep_expand(struct mase_sweep *s, struct mase_arena *a,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Train the configurations without a result. One that fails does not stop the others; the error
 * returned says how many failed, and each point has its own error. */
enum mase_status mase_sweep_run(struct mase_sweep *s, struct mase_err *err) MASE_MUST_CHECK;

/* The task of all configurations; headers of tables have the name of its score. */
const struct mase_task *mase_sweep_task(const struct mase_sweep *s);

/* ---- results ---- */

/* A table with one row per configuration, rounded for people; and with all digits, for programs. */
struct mase_table mase_sweep_table(const struct mase_sweep *s, struct mase_arena *a);
struct mase_table mase_sweep_csv(const struct mase_sweep *s, struct mase_arena *a);
/* Is there an axis "seed" of several values? */
bool mase_sweep_has_seeds(const struct mase_sweep *s);
/* If so: a table with one row for the configurations that differ only in their seed, with mean and
 * sample standard deviation over the n finished ones: "0.72 ± 0.01" for people, two columns with
 * all digits for programs. A single configuration has no deviation. */
struct mase_table mase_sweep_seeds_table(const struct mase_sweep *s, struct mase_arena *a);
struct mase_table mase_sweep_seeds_csv(const struct mase_sweep *s, struct mase_arena *a);
/* "max_epochs 10, learning_rate 0.01, ...": options that all configurations share and that affect
 * results, the main ones and those not at their defaults; and all shared options as a table. */
void mase_sweep_fixed(struct mase_str *out, const struct mase_sweep *s);
struct mase_table mase_sweep_fixed_table(const struct mase_sweep *s, struct mase_arena *a);
/* Read results from a file that mase_sweep_csv was written to. */
enum mase_status mase_sweep_read_csv(struct mase_sweep *s, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Is it a configuration without number formats, among others with formats? */
bool mase_sweep_is_plain(const struct mase_sweep *s, const struct mase_sweep_point *p);
/* A chart of validation loss over the axis with most values, or of the test score over an axis of
 * formats, with the network without formats as a dashed curve; one curve for each combination of
 * the other axes; over seeds the mean, with the deviation as error bar. mase_sweep_plot has no
 * title, mase_sweep_svg is a whole document. */
struct mase_plot mase_sweep_plot(const struct mase_sweep *s, struct mase_arena *a);
void mase_sweep_svg(struct mase_str *out, const struct mase_sweep *s);
/* "batch_size=64 learning_rate=0.1" */
void mase_sweep_label(struct mase_str *out, const struct mase_sweep *s,
                      const struct mase_sweep_point *p);

MASE_API_END

#endif /* MASE_SWEEP_H */
