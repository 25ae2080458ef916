/*
 * pass.h - passes: analyses read a graph, transforms change it, interfaces save and load it. The
 * contract of a pass is data.
 *
 * Each pass file ends with its struct mase_pass; passes.def names it once. The manager binds
 * options from the schema, provides what the pass needs, runs it, checks that an analysis changed
 * nothing, times it and can dump the graph after it. A pass never changes its arguments.
 */
#ifndef MASE_PASS_H
#define MASE_PASS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <mase/api.h>
#include <mase/call.h>
#include <mase/graph.h>
#include <mase/opt.h>
#include <mase/sheet.h>
#include <mase/value.h>

MASE_API_BEGIN

/* Properties that a graph has. An edit drops every property that the pass does not keep. */
enum {
    MASE_PROP_META = 1u << 0,     /* every node has (possibly empty) metadata */
    MASE_PROP_COMMON = 1u << 1,   /* ops, types, shapes, formats */
    MASE_PROP_SOFTWARE = 1u << 2, /* entries for statistics */
    MASE_PROP_HARDWARE = 1u << 3,
    MASE_PROP_ALL = (1u << 4) - 1,
};

/* Drop these properties and empty their metadata. */
void mase_graph_drop_props(struct mase_graph *g, unsigned props);

/* Samples as they lie in memory: sample i is row index[i] of the table, or row i when index is
 * NULL. Borrowed. */
struct mase_sample_rows {
    const float *table;
    int64_t stride; /* floats between rows */
    const uint32_t *index;
};

/* Samples of the run's data for passes that run the network. Datasets belong to a higher layer,
 * whose code fills this in. Samples can be read in any order and repeatedly. */
struct mase_samples {
    /* The number of samples of a split: "train", "validation", "test". The first call may open the
     * data. */
    enum mase_status (*count)(void *data, const char *split, int64_t *count, struct mase_err *err);
    /* n samples of the split from first on, row-major: x is (n, ...). */
    enum mase_status (*read)(void *data, const char *split, int64_t first, int64_t n, float *x,
                             struct mase_err *err);
    int64_t batch_size; /* the batch size that the user asked for; 0: none */
    void *data;
    /* Lend samples without copying, if they are a table of numbers; false: they are not. May be
     * NULL. */
    bool (*lend)(void *data, const char *split, int64_t first, struct mase_sample_rows *rows);
};

/* The environment of a pass. */
struct mase_pass_env {
    struct mase_arena *scratch; /* released by the manager after each pass */
    FILE *out;                  /* results for the user, usually stdout */
    const char *out_dir; /* folder for files, .../software/transform; NULL: a file is written only
                            when the user gives a path */
    const struct mase_input *inputs; /* one per placeholder, shapes only, or with data if known */
    int input_count;
    const struct mase_samples *samples; /* samples of the dataset; NULL: no dataset */
    uint64_t seed;
    const struct mase_graph *original; /* the graph before the newest transform, or NULL */
    struct mase_value *info; /* a table for results that programs read (run.json); may be NULL */
    struct mase_arena *info_arena; /* where info lives */
    struct mase_value *files;      /* a list: paths of the files written; may be NULL */
    struct mase_pass_files *late;  /* files of a list of passes, closed after the last pass; NULL:
                                      each file is closed at once */
    struct mase_sheets
        *sheets;       /* printer of tables; NULL: tables go to out, each in its own style */
    int threads;       /* number of threads to use, 0: one. Results do not depend on it */
    bool dry_run;      /* only look for errors; nothing is calibrated */
    const char *again; /* suffix of names in a repeated run of a pass: "_2" for the second; NULL:
                          first run */
    const struct mase_pass *pass; /* the pass that runs */
    int changed; /* number of nodes, or pairs of nodes, that a pass with same_outputs changed */
};

/* Show a table in the format that the user asked for; and text for people, which csv and json leave
 * out. */
void mase_pass_put_table(struct mase_pass_env *env, const struct mase_sheet *sheet);
void mase_pass_say(struct mase_pass_env *env, const char *fmt, ...) MASE_PRINTF(2, 3);
/* Record a file that a pass wrote. */
void mase_pass_wrote(struct mase_pass_env *env, const char *path);

typedef enum mase_status mase_analyse_fn(const struct mase_graph *g, const void *opts,
                                         struct mase_pass_env *env, struct mase_err *err);
/* May set *g to a new graph (load_mase_graph); the manager frees the old one. */
typedef enum mase_status mase_transform_fn(struct mase_graph **g, const void *opts,
                                           struct mase_pass_env *env, struct mase_err *err);

struct mase_pass {
    const char *name, *help;
    unsigned needs, gives, keeps; /* properties required before, valid after, kept despite edits */
    unsigned drops;               /* properties that the pass drops, with or without edits */
    const struct mase_opt *opts;  /* schema, ends with { 0 }; NULL: no options */
    size_t opts_size;
    mase_analyse_fn *analyse; /* exactly one of the two is set */
    mase_transform_fn *transform;
    /* Check options beyond the schema, without a graph; NULL: no further check. */
    enum mase_status (*check)(const void *opts, struct mase_err *err);
    const char *then; /* a pass the manager runs right after with default options, or NULL */
    void *user;       /* data for the functions of the pass, reached by env->pass */
    /* The transform promises that outputs do not change. The manager runs a few samples before and
     * after, reports the difference, and undoes a pass whose difference exceeds rounding errors.
     * Such a pass allocates new memory for weights that it changes, and counts its changes in
     * env->changed. */
    bool same_outputs;
};

extern const struct mase_pass *const mase_passes[]; /* NULL-terminated, from passes.def */
/* Pass number i: those of mase_passes, then those of plugins (plugin.h); NULL after the last. */
const struct mase_pass *mase_pass_at(int i);
const struct mase_pass *mase_pass_find(const char *name);
const char *mase_pass_kind(const struct mase_pass *p); /* "analysis", "transform", "interface" */
bool mase_pass_is_plugin(const struct mase_pass *p);   /* is it not in mase_passes? */

struct mase_manager {
    struct mase_pass_env env;
    struct mase_arena scratch;
    const char *const *dump_after; /* NULL-terminated names, or "all"; NULL: no dumps */
    const char *dump_dir;          /* dumps go to dump_dir/NN_pass.mg; NULL: to env.out */
    bool verify;                   /* run mase_graph_verify after every pass */
    int runs;                      /* passes run so far */
    struct mase_value *timings;    /* a list of {pass, seconds} in env.info_arena; may be NULL */
    struct mase_graph
        *before; /* the graph that env.original points to; owned, kept until the next transform */
};

/* Run one pass by name with its TOML section (NULL: defaults). Errors are wrapped "pass NAME: ...",
 * and an error without a place gets that of the section. */
enum mase_status mase_manager_run(struct mase_manager *m, struct mase_graph **g, const char *pass,
                                  const struct mase_value *args,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Run one pass that need not be in the table. */
enum mase_status mase_manager_run_pass(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_pass *pass, const struct mase_value *args,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* One run of a pass with bound options: opts is the pass's own struct, of opts_size bytes. */
struct mase_pass_run {
    const struct mase_pass *pass;
    const void *opts;
    struct mase_loc at; /* place for errors that have none */
    const char *again;  /* as in mase_pass_env */
};
enum mase_status mase_manager_run_bound(struct mase_manager *m, struct mase_graph **g,
                                        const struct mase_pass_run *run,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Bind the runs of a [passes] table, in the order of the file, allocated in a. Names and options
 * are checked. A pass may occur several times, as [[passes.NAME]]. */
struct mase_pass_runs {
    struct mase_pass_run *items;
    int count;
};
enum mase_status mase_pass_runs_bind(struct mase_pass_runs *runs, struct mase_arena *a,
                                     const struct mase_value *passes,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The first run of a pass behind `after` (NULL: of all), or NULL. */
const struct mase_pass_run *mase_pass_runs_find(const struct mase_pass_runs *runs, const char *pass,
                                                const struct mase_pass_run *after);
/* Run all of these runs. */
enum mase_status mase_manager_run_list(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_pass_runs *runs,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Bind and run every pass of a [passes] table. */
enum mase_status mase_manager_run_all(struct mase_manager *m, struct mase_graph **g,
                                      const struct mase_value *passes,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Call it before the graph is freed: m->before borrows the graph's weights. */
void mase_manager_release(struct mase_manager *m);

MASE_API_END

#endif /* MASE_PASS_H */
