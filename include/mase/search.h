/*
 * search.h - the section [search] of a configuration: networks of many kinds, each measured.
 *
 *     struct mase_search *s;
 *     MASE_TRY(mase_search_new(&s, &(struct mase_search_opts){ .section = section, .graph = g,
 *                                                              .data = d, .objective = &o }, err));
 *     MASE_TRY(mase_search_run(s, &study, NULL, err));
 *     ...
 *     mase_search_free(s);
 *
 * A trial is a point of the space that the section describes. What it measures is a pure function
 * of the point, the network and the data; two trials of the same formats are measured once.
 */
#ifndef MASE_SEARCH_H
#define MASE_SEARCH_H

#include <mase/api.h>
#include <mase/dataset.h>
#include <mase/evaluate.h>
#include <mase/graph.h>
#include <mase/study.h>
#include <mase/train.h>
#include <mase/value.h>

MASE_API_BEGIN

/* Check a [search] section without a network. */
enum mase_status mase_search_check(const struct mase_value *search,
                                   struct mase_err *err) MASE_MUST_CHECK;

struct mase_search;

/* A metric of the program's own, beside those of the runners: a number that depends on nothing but
 * the network g and the point, which is sampled_config, sampled_arguments and sampled_options as
 * trials record them. g is as it is measured, trained if trials train, and stays as it is. One
 * thread at a time calls the functions of a search. */
struct mase_search_own_metric {
    const char *name;
    enum mase_status (*measure)(void *data, double *found, struct mase_graph *g,
                                const struct mase_value *point, struct mase_err *err);
    void *data;
};

/* Borrowed, all of it. */
struct mase_search_opts {
    const struct mase_value *section;
    struct mase_graph *graph; /* with its weights; it stays as it is */
    /* Open the network with these arguments of its constructor, with weights: the caller frees it.
     * NULL: it has none. */
    enum mase_status (*open_model)(void *data, const struct mase_value *arguments,
                                   struct mase_graph **g, struct mase_err *err);
    void *open_data;
    const struct mase_dataset *data;
    const struct mase_objective *objective;
    const int32_t *class_map; /* the network's class for each of the data's; NULL: the same */
    int64_t batch_size;       /* of num_samples, and of networks that mix samples */
    uint64_t seed;
    const struct mase_value *training; /* options of ch train, for runners that train; or NULL */
    int workers;                       /* trials at a time; 0: one */
    const struct mase_search_own_metric *own; /* the last has no name; NULL: none */
};
enum mase_status mase_search_new(struct mase_search **out, const struct mase_search_opts *o,
                                 struct mase_err *err) MASE_MUST_CHECK;
void mase_search_free(struct mase_search *s);

/* The space and the objectives. */
const struct mase_study_setup *mase_search_setup(const struct mase_search *s);
/* Give a new study its name, objectives, constraints and space, and mark it as that of this search.
 */
void mase_search_describe(const struct mase_search *s, struct mase_study *study, const char *name);
/* Note in a new study what the network measures before any trial: the attribute of users
 * MASE_SEARCH_BASELINE has software_metrics, hardware_metrics and scaled_metrics, as trials do.
 * Where trials train, or draw their weights, no network is there to measure, and nothing is noted.
 */
#define MASE_SEARCH_BASELINE "baseline"
enum mase_status mase_search_note_baseline(struct mase_search *s, struct mase_study *study,
                                           struct mase_err *err) MASE_MUST_CHECK;

/* Is a study of `where` that of this search: of the same section, network, weights, data and seed?
 * A study that another program made may be. */
enum mase_status mase_search_check_study(const struct mase_search *s,
                                         const struct mase_study *study, const char *where,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* The study of this name in a store, which `where` names: to be gone on with if there is one of
 * this search, else a new one, described and with its baseline; store NULL: a new one in memory. */
enum mase_status mase_search_take_study(struct mase_study *study, struct mase_search *s,
                                        struct mase_store *store, const char *name,
                                        const char *where, struct mase_err *err) MASE_MUST_CHECK;

struct mase_search_run_opts {
    struct mase_store *store; /* NULL: in memory */
    int64_t trials;           /* 0: as the section says */
    double seconds;           /* 0: as the section says */
    void (*ended)(void *data, const struct mase_study *s, const struct mase_trial *t);
    bool (*stop)(void *data);
    void *data;
};
/* How many trials the study is to have: at most as many as the sampler has points. */
int64_t mase_search_trials(const struct mase_search *s, const struct mase_search_run_opts *o);
/* Run trials until the study has as many as it should have. o may be NULL. */
enum mase_status mase_search_run(struct mase_search *s, struct mase_study *study,
                                 const struct mase_search_run_opts *o,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* Do layers have other widths in a trial than the model has? Then the model does not name its
 * network.
 */
bool mase_search_widens(const struct mase_search *s);
/* Do trials train? */
bool mase_search_trains(const struct mase_search *s);
/* The network of a trial, trained if trials train, until another is asked for. *info: what it was
 * trained on; empty if it was not. */
enum mase_status mase_search_network(struct mase_graph **g, struct mase_checkpoint_info *info,
                                     struct mase_search *s, const struct mase_trial *t,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Evaluate that network on a split that no trial was chosen by. */
enum mase_status mase_search_evaluate(struct mase_evaluation *e, struct mase_search *s,
                                      enum mase_split split, struct mase_err *err) MASE_MUST_CHECK;
/* The arguments of the constructor of a trial's network, allocated in a; an empty table: none vary.
 */
struct mase_value *mase_search_arguments(struct mase_arena *a, const struct mase_search *s,
                                         const struct mase_trial *t);
/* The trials of the Pareto front, the first of those that have the same values; room
 * for all trials. Returns how many. */
int64_t mase_search_distinct(int64_t *index, const struct mase_study_setup *setup,
                             const struct mase_study *study);
/* What the original writes: log.json, a table of all trials by row, and best.json, that of the best
 * (several objectives: the Pareto front); allocated in a. */
struct mase_value *mase_search_log(struct mase_arena *a, const struct mase_study *study);
struct mase_value *mase_search_best(struct mase_arena *a, const struct mase_study_setup *setup,
                                    const struct mase_study *study);

MASE_API_END

#endif /* MASE_SEARCH_H */
