/*
 * report.h - the report of a run: contents of its folder, and sections that show them.
 *
 * The folder is read and measured first (read.c, section_networks.c, section_measure.c); then every
 * section that applies writes its part (sections.def). What lies in the folder must be readable, or
 * there is no page; what lies elsewhere (a model's file, the data) may be gone, and the page says
 * what it could not show for that.
 */
#ifndef MASE_CLI_REPORT_H
#define MASE_CLI_REPORT_H

#include <mase/plot.h>
#include <mase/study.h>
#include <mase/sweep.h>

#include "cli/command/cmd_train.h"

/* Statistics of the values of an operand. */
struct mase_report_spread {
    const struct mase_node *node;
    const char *operand;           /* "weight", "data_in_0" */
    struct mase_rounding rounding; /* format NULL: not quantised */
    const struct mase_value *stat; /* by name: histogram, and with a format saturation ... */
};
struct mase_report_spreads {
    struct mase_report_spread *items;
    int count, cap;
};

/* Results on the test split. */
struct mase_report_test {
    struct mase_evaluation e;
    const char *const *names;      /* (e.classes) */
    const char *split;             /* "test", "all" */
    bool measured;                 /* measured for the report; else read from ch test */
    const char *weights;           /* description of the tested weights; may be NULL */
    struct mase_evaluation before; /* of the network before the transforms; samples 0: none */
};

/* Columns of metrics.csv, NaN where a row has none. */
struct mase_report_metrics {
    int rows;
    const double *epoch, *step, *rate; // (rows) each
    const double *train_loss_step, *train_score_step;
    const double *train_loss, *train_score, *val_loss, *val_score, *ebops;
};

struct mase_report {
    struct mase_cli *c;
    struct mase_arena *arena; /* c's arena */
    const char *dir;

    /* read.c */
    struct mase_value *run;  /* run.json; if only a test was run, its record */
    struct mase_value *test; /* software/test/run.json, or NULL */
    const char *action;      /* action, such as "train" */
    const char *model;       /* its name */
    struct mase_data_info data;
    const char *notice; /* notice about the data, or NULL */
    bool simulated;
    const struct mase_task *task; /* NULL: that of the options in force */

    /* section_networks.c */
    struct mase_graph *graph;  /* network of the page; owned; NULL: could not be opened */
    struct mase_graph *before; /* network before the transforms; owned; NULL: none, or unknown */
    const char *weights;       /* description of the weights; NULL: the graph has none */

    /* section_costs.c */
    const struct mase_value *costs, *costs_before; /* results of count_flops; NULL: no network */

    /* section_measure.c */
    struct mase_opened work; /* for opening the data; its graph is unused */
    struct mase_cli_samples samples;
    struct mase_report_spreads parameters, activations;
    const char *activations_of; /* "the first 1,024 samples of ..." */
    struct mase_report_test *tested;

    /* section_training.c, section_bits.c, section_sweep.c */
    struct mase_report_metrics *metrics; /* NULL: the run has none */
    struct mase_report_bits *bits;       // (bit_rows)
    int bit_rows;
    struct mase_sweep *sweep; /* NULL: no sweep */

    /* section_search.c */
    struct mase_study *study; /* owned; NULL: the run is no search */

    const char **notes; /* notes about what could not be shown */
    int note_count, note_cap;
};

/* Add a note about something that the page cannot show, and log it. */
void mase_report_note(struct mase_report *r, const char *fmt, ...) MASE_PRINTF(2, 3);

/* The share of values that saturate, and the signal-to-noise ratio; NaN if saturation does not
 * matter (section_quantised.c). */
double mase_report_saturated(const struct mase_report_spread *s);
double mase_report_sqnr(const struct mase_report_spread *s);

/* ---- read the folder ---- */

enum mase_status mase_report_read_record(struct mase_report *r,
                                         struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_report_read_networks(struct mase_report *r,
                                           struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_report_read_test(struct mase_report *r, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_report_read_metrics(struct mase_report *r,
                                          struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_report_read_bits(struct mase_report *r, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_report_read_sweep(struct mase_report *r,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The study that a search kept; or one of a file: the only one where name is NULL. */
enum mase_status mase_report_read_search(struct mase_report *r,
                                         struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_report_open_study(struct mase_report *r, const char *path, const char *name,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Run count_flops on both networks. */
enum mase_status mase_report_read_costs(struct mase_report *r,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* A number of its results by key, such as "macs": of a node, or with node NULL of the network; or
 * NaN. */
double mase_report_cost(const struct mase_value *costs, const char *node, const char *key);
/* Measure parameters, activations, and the test split if requested. */
enum mase_status mase_report_measure(struct mase_report *r, struct mase_err *err) MASE_MUST_CHECK;

/* The task of the run. */
const struct mase_task *mase_report_task(const struct mase_report *r);
/* DIR/name, in the arena; and a path relative to DIR, if it is inside. */
const char *mase_report_path(const struct mase_report *r, const char *name);
const char *mase_report_relative(const struct mase_report *r, const char *path);
/* A value of run.json by its dotted path, or NULL. */
const struct mase_value *mase_report_value(const struct mase_report *r, const char *path);
const char *mase_report_text(const struct mase_report *r, const char *path); /* or NULL */
double mase_report_number(const struct mase_report *r, const char *path);    /* or NaN */
/* A number below v by its dotted path; NaN if there is none. */
double mase_report_real(const struct mase_value *v, const char *path);
/* Check that v exists and has this kind; owner and key name it in messages. */
enum mase_status mase_report_expect(const struct mase_value *v, enum mase_value_kind kind,
                                    const struct mase_value *owner, const char *key,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* As mase_report_expect, for a number; null is NaN. */
enum mase_status mase_report_expect_number(double *x, const struct mase_value *owner,
                                           const char *key, struct mase_err *err) MASE_MUST_CHECK;

/* A score for people: 71.20 %, 0.8974. */
void mase_report_score(struct mase_str *out, const struct mase_task *task, double score);

/* ---- several runs ---- */

enum { MASE_REPORT_NUMBERS = 12, MASE_REPORT_RUNS = 16 };

/* A number of a run that matters: "test accuracy". */
struct mase_report_number {
    const char *name;
    double value, error; /* error: NaN where it has none */
    bool is_share;
};
/* At most MASE_REPORT_NUMBERS; returns how many. */
int mase_report_numbers(struct mase_report_number *out, const struct mase_report *r);
void mase_report_put_number(struct mase_str *out, const struct mase_report_number *n);

/* Read what lies in the folder, or the file of a study: neither networks nor data. */
enum mase_status mase_report_read_brief(struct mase_report *r,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* A column of the metrics over epochs. */
struct mase_plot_series mase_report_curve(const struct mase_report *r, const char *name, int colour,
                                          const double *column);

/* compare_runs.c: a page of all operands. */
enum mase_status mase_report_compare(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
/* project_index.c: a page of the projects in a folder; is it one of projects? */
bool mase_report_is_index(struct mase_arena *a, const char *dir);
enum mase_status mase_report_index(struct mase_cli *c, const char *dir,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- write the page ---- */

/* Write a page: its title, and what makes its body out of data; say where it is. */
typedef void mase_report_body_fn(struct mase_str *out, const void *data);
enum mase_status mase_report_write(struct mase_cli *c, const char *path, const char *title,
                                   mase_report_body_fn *body, const void *data,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The body of the page of a run: data is a struct mase_report. */
void mase_report_put_run(struct mase_str *out, const void *data);

struct mase_report_section {
    const char *id, *title;
    bool (*applies)(const struct mase_report *r);
    void (*write)(struct mase_str *out, const struct mase_report *r);
};
#define SECTION(name, title)                                  \
    bool mase_report_has_##name(const struct mase_report *r); \
    void mase_report_##name(struct mase_str *out, const struct mase_report *r);
#include "cli/report/sections.def"

/* Title, notice and main results, above the sections. */
void mase_report_heading(struct mase_str *out, const struct mase_report *r);
/* A chart with title and legend, and a line for the values under the pointer. */
void mase_report_chart(struct mase_str *out, const struct mase_plot *p);
/* "2026-11-15T12:56:12Z" as "2026-11-15 12:56 UTC"; other texts are unchanged. */
const char *mase_report_time(struct mase_arena *a, const char *iso);
/* "jsc-s on jsc" */
const char *mase_report_title(const struct mase_report *r);

#endif /* MASE_CLI_REPORT_H */
