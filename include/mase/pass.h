/*
 * pass.h - passes: analyses look, transforms change, interfaces save and load. The contract is
 * data.
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

/* Properties of a graph: what holds of it now. Any edit drops those the pass does not keep. */
enum {
    MASE_PROP_META = 1u << 0,     /* every node has (possibly empty) metadata */
    MASE_PROP_COMMON = 1u << 1,   /* ops, types, shapes, formats */
    MASE_PROP_SOFTWARE = 1u << 2, /* entries for statistics */
    MASE_PROP_HARDWARE = 1u << 3,
    MASE_PROP_ALL = (1u << 4) - 1,
};

/* These hold no longer: their metadata are emptied. */
void mase_graph_drop_props(struct mase_graph *g, unsigned props);

/* Samples as they lie in memory: sample i is row index[i] of the table, or row i when index is
 * NULL. Borrowed. */
struct mase_sample_rows {
    const float *table;
    int64_t stride; /* floats between rows */
    const uint32_t *index;
};

/* Samples of the run's data for passes that run the network. The layer of datasets lies above: who
 * has one fills this in. Any sample can be read at any time, so a pass may go through them twice.
 */
struct mase_samples {
    /* How many samples a split has: "train", "validation", "test". The data may be opened now. */
    enum mase_status (*count)(void *data, const char *split, int64_t *count, struct mase_err *err);
    /* n samples of the split from first on, row-major: x is (n, ...). */
    enum mase_status (*read)(void *data, const char *split, int64_t first, int64_t n, float *x,
                             struct mase_err *err);
    int64_t batch_size; /* what the user asked for; 0: nothing */
    void *data;
    /* Those of read without copying, if they are a table of numbers; false: they are not. May be
     * NULL. */
    bool (*lend)(void *data, const char *split, int64_t first, struct mase_sample_rows *rows);
};

/* What passes may use of the world around them. */
struct mase_pass_env {
    struct mase_arena *scratch; /* released by the manager after each pass */
    FILE *out;                  /* results for the user, usually stdout */
    const char *out_dir;        /* where files go: .../software/transform; NULL: none are written
                                   unless a path is given */
    const struct mase_input *inputs; /* one per placeholder, shapes only, or with data if known */
    int input_count;
    const struct mase_samples *samples; /* of the dataset; NULL: there is none */
    uint64_t seed;
    const struct mase_graph *original; /* the graph before the newest transform, or NULL */
    struct mase_value *info; /* a table for results a program may want (run.json); may be NULL */
    struct mase_arena *info_arena; /* where info lives */
    struct mase_value *files;      /* a list: paths of the files written; may be NULL */
    struct mase_pass_files *late;  /* files of a list of passes, which are closed together behind
                                    * the last of them; NULL: each at once */
    struct mase_sheets *sheets;    /* tables go here; NULL: to out, each in its own style */
    int threads;                   /* that may compute; 0: one. Results do not depend on it */
    bool rehearsal;                /* only to find out what is wrong: nothing is calibrated */
    const char
        *again; /* NULL: the first run of a pass; "_2": its second, which goes by that name */
    const struct mase_pass *pass; /* the one that runs */
    int changed; /* what a pass with same_outputs changed: nodes, or pairs of them */
};

/* What a pass shows: a table in the format that the user asked for, and text around it, which
 * programs do not get. */
void mase_pass_put_table(struct mase_pass_env *env, const struct mase_sheet *sheet);
void mase_pass_say(struct mase_pass_env *env, const char *fmt, ...) MASE_PRINTF(2, 3);
/* Note a file that a pass wrote. */
void mase_pass_wrote(struct mase_pass_env *env, const char *path);

typedef enum mase_status mase_analyse_fn(const struct mase_graph *g, const void *opts,
                                         struct mase_pass_env *env, struct mase_err *err);
/* May set *g to a new graph (load_mase_graph); the manager frees the old one. */
typedef enum mase_status mase_transform_fn(struct mase_graph **g, const void *opts,
                                           struct mase_pass_env *env, struct mase_err *err);

struct mase_pass {
    const char *name, *help;
    unsigned needs, gives, keeps; /* properties: before; after; despite edits */
    unsigned drops;               /* true no longer, edits or not */
    const struct mase_opt *opts;  /* schema, ends with { 0 }; NULL: no options */
    size_t opts_size;
    mase_analyse_fn *analyse; /* exactly one of the two is set */
    mase_transform_fn *transform;
    /* What the schema cannot say of the options and needs no graph; NULL: nothing more. */
    enum mase_status (*check)(const void *opts, struct mase_err *err);
    const char *then; /* a pass the manager runs right after with default options, or NULL */
    void *user;       /* whatever its functions want to know: they find it by env->pass */
    /* A transform that promises that the network computes what it did. The manager runs a few
     * samples before and after, tells the difference, and undoes what changed more than rounding
     * does. The pass gives what it changes memory of its own, and counts in env->changed. */
    bool same_outputs;
};

extern const struct mase_pass *const mase_passes[]; /* NULL-terminated, from passes.def */
/* The i-th pass: those, then the ones that plugins brought (plugin.h); NULL after the last. */
const struct mase_pass *mase_pass_at(int i);
const struct mase_pass *mase_pass_find(const char *name);
const char *mase_pass_kind(const struct mase_pass *p); /* "analysis", "transform", "interface" */
bool mase_pass_is_plugin(const struct mase_pass *p);   /* it is none of mase_passes */

struct mase_manager {
    struct mase_pass_env env;
    struct mase_arena scratch;
    const char *const *dump_after; /* NULL-terminated names, or "all"; NULL: no dumps */
    const char *dump_dir;          /* dumps go to dump_dir/NN_pass.mg; NULL: to env.out */
    bool verify;                   /* run mase_graph_verify after every pass */
    int runs;                      /* passes run so far */
    struct mase_value *timings;    /* a list of {pass, seconds} in env.info_arena; may be NULL */
    struct mase_graph *before;     /* what env.original is; owned, kept until the next transform */
};

/* Run one pass by name with its TOML section (NULL: defaults). Errors are wrapped "pass NAME: ...",
 * and an error without a place gets that of the section. */
enum mase_status mase_manager_run(struct mase_manager *m, struct mase_graph **g, const char *pass,
                                  const struct mase_value *args,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The same for a pass that need not be in the table: one of your own. */
enum mase_status mase_manager_run_pass(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_pass *pass, const struct mase_value *args,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* One run of a pass, its options bound: the pass's own struct, of opts_size bytes. */
struct mase_pass_run {
    const struct mase_pass *pass;
    const void *opts;
    struct mase_loc at; /* of errors that have no place */
    const char *again;  /* of mase_pass_env */
};
enum mase_status mase_manager_run_bound(struct mase_manager *m, struct mase_graph **g,
                                        const struct mase_pass_run *run,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The runs that a [passes] table asks for, in the order of the file, in a. Names and options are
 * checked. A pass may stand several times, as [[passes.NAME]]. */
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
/* Run them all, each under its own name. */
enum mase_status mase_manager_run_list(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_pass_runs *runs,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Both: every pass of a [passes] table. */
enum mase_status mase_manager_run_all(struct mase_manager *m, struct mase_graph **g,
                                      const struct mase_value *passes,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Call it before the graph is freed: the original it keeps borrows the graph's weights. */
void mase_manager_release(struct mase_manager *m);

MASE_API_END

#endif /* MASE_PASS_H */
