/*
 * sweep.h - train one network many times, over a grid of options.
 *
 * The grid is every combination of the axes' values, the last axis running fastest. Configurations
 * run side by side, each on one thread, and come to the same bits as when run alone. What a
 * finished one came to is kept in a file named after its effective options, its model and its data:
 * a sweep that is started again, interrupted or widened, does only what is missing.
 *
 *     struct mase_sweep s = { .network = g, .data = d, .options = table, .axes = axes,
 *                             .axis_count = 2, .dir = "sweep" };
 *     MASE_TRY(mase_sweep_expand(&s, &arena, err));
 *     MASE_TRY(mase_sweep_run(&s, err));
 *     struct mase_table t = mase_sweep_table(&s, &arena);
 *
 * Some axes are special. Along "model" and parameters of formats the network changes, one for each
 * combination. Configurations that differ along "seed" alone are the same experiment repeated: mean
 * and spread tell what came of it. A configuration of no epochs is not trained, but measured.
 */
#ifndef MASE_SWEEP_H
#define MASE_SWEEP_H

#include <mase/api.h>
#include <mase/plot.h>
#include <mase/table.h>
#include <mase/train.h>
#include <mase/weights.h>

MASE_API_BEGIN

/* One option of mase_train_rows and the values it takes in turn; or, if network is true, a name for
 * what changes the network: "model", or a parameter of its number formats. */
struct mase_sweep_axis {
    const char *key;
    const struct mase_value *values; /* a list */
    bool network;
};
/* The value of an axis of formats at which there are none. */
#define MASE_SWEEP_PLAIN "float"

enum { MASE_SWEEP_MAX_AXES = 5, MASE_SWEEP_MAX_RUNS = 10000 };

/* What a configuration came to. A loss that is no number is NaN. */
struct mase_sweep_result {
    int64_t epochs, steps;          /* done; fewer than asked when it stopped early */
    double train_loss, train_score; /* over the last epoch */
    double val_loss, val_score;     /* after the last epoch */
    double best_val_loss;
    int64_t best_epoch;
    double test_loss, test_score,
        test_error; /* of the last weights; standard error of an accuracy */
    double seconds; /* of training */
    double samples_per_second;
};

struct mase_sweep_point {
    struct mase_train_opts opts;
    const struct mase_graph *network;                    /* that is trained, and */
    const struct mase_graph *base;                       /* what weights are of, or NULL: it */
    const struct mase_value *value[MASE_SWEEP_MAX_AXES]; /* on each axis */
    char key[17];                                        /* names the result's file */
    char loss_hash[65];                                  /* SHA-256 of a loss of one's own, or "" */
    bool done, reused;
    struct mase_sweep_result result; /* when done */
    struct mase_err failure;         /* status 0: none */
};

struct mase_sweep {
    const struct mase_graph *network; /* each configuration trains a clone; its name is told */
    const struct mase_graph *const *networks; /* in its place: one for each combination of values
                                               * of the axes that change it, the last fastest */
    /* For each of them, or the one: what the file's weights are of, which was given other formats
     * then; NULL: it itself. What these learn and the weights have nothing of starts by the data.
     */
    const struct mase_graph *const *bases;
    const struct mase_dataset *data;
    const char *data_variant;            /* how the data was opened beyond its checksum, or NULL */
    const char *weights;                 /* file to start from; NULL: initialised from the seed */
    struct mase_weights_opts load;       /* how; the seed is each configuration's own */
    const struct mase_value *options;    /* what is the same everywhere; NULL: the defaults */
    const struct mase_prune_opts *prune; /* and how all are pruned on the way; NULL: not */
    const struct mase_sweep_axis *axes;
    int axis_count;
    const char *dir; /* of the results, made if missing */
    int jobs;        /* configurations at once; 0: one per processor */
    /* filled by mase_sweep_expand, in the arena given to it */
    struct mase_sweep_point *points;
    int count;
    char weights_hash[65]; /* SHA-256 of that file, or "" */
};

/* Make the grid and check every value. */
enum mase_status mase_sweep_grid(struct mase_sweep *s, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The same, and look up which results are there already. */
enum mase_status mase_sweep_expand(struct mase_sweep *s, struct mase_arena *a,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Train what is missing. A configuration that fails does not stop the others; how many did is the
 * error returned, and each point has its own. */
enum mase_status mase_sweep_run(struct mase_sweep *s, struct mase_err *err) MASE_MUST_CHECK;

/* What all configurations of a grid are trained for; tables are by the name of its score. */
const struct mase_task *mase_sweep_task(const struct mase_sweep *s);

/* ---- what came of it ---- */

/* One row per configuration, rounded for people; and all digits for programs. */
struct mase_table mase_sweep_table(const struct mase_sweep *s, struct mase_arena *a);
struct mase_table mase_sweep_csv(const struct mase_sweep *s, struct mase_arena *a);
/* Is there an axis "seed" of several values? */
bool mase_sweep_has_seeds(const struct mase_sweep *s);
/* Then: a row for all configurations that differ in their seed alone, with mean and sample standard
 * deviation of what the n finished ones came to: "0.72 ± 0.01" for people, two columns with all
 * digits for programs. A single one has no deviation. */
struct mase_table mase_sweep_seeds_table(const struct mase_sweep *s, struct mase_arena *a);
struct mase_table mase_sweep_seeds_csv(const struct mase_sweep *s, struct mase_arena *a);
/* "max_epochs 10, learning_rate 0.01, ...": options that are the same everywhere and decide
 * results, the main ones and what is not at its default; and all of them as a table. */
void mase_sweep_fixed(struct mase_str *out, const struct mase_sweep *s);
struct mase_table mase_sweep_fixed_table(const struct mase_sweep *s, struct mase_arena *a);
/* The results of a grid from the file that such a table was written to. */
enum mase_status mase_sweep_read_csv(struct mase_sweep *s, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Is it a configuration without the formats that others have? */
bool mase_sweep_is_plain(const struct mase_sweep *s, const struct mase_sweep_point *p);
/* Validation loss over the axis with most values, or the score in the test over that of formats,
 * the plain network as a dashed line; a line for each combination of the others: as a chart without
 * title, and as a whole document. Over seeds its mean, and a bar as long as the deviation up and
 * down. */
struct mase_plot mase_sweep_plot(const struct mase_sweep *s, struct mase_arena *a);
void mase_sweep_svg(struct mase_str *out, const struct mase_sweep *s);
/* "batch_size=64 learning_rate=0.1" */
void mase_sweep_label(struct mase_str *out, const struct mase_sweep *s,
                      const struct mase_sweep_point *p);

MASE_API_END

#endif /* MASE_SWEEP_H */
