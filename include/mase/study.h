/*
 * study.h - studies: points of a space, chosen one after the other by a sampler, and what was
 * measured at each.
 *
 * Nothing here knows what is measured. A space has dimensions; a point has a number for each: the
 * number itself, or the index of a choice. A trial is a point with its results. A sampler chooses
 * the point of trial n from the study's seed, the number n, and the results of the first m trials,
 * where m depends on n and on those results, but never on time: a study is the same whoever runs
 * its trials, in whatever order they end.
 *
 *     MASE_TRY(mase_sampler_new(&s, kind, &setup, options, err));
 *     for (int64_t n = 0; n < trials; n++) {
 *         while (told < mase_sampler_needs(s, n))
 *             mase_sampler_tell(s, &study->trial[told++]);    // finished; wait for it if need be
 *         MASE_TRY(mase_sampler_ask(s, x, n, pending, n - told, err));
 *         ...
 *     }
 *     mase_sampler_free(s);
 */
#ifndef MASE_STUDY_H
#define MASE_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/err.h>
#include <mase/opt.h>
#include <mase/value.h>

MASE_API_BEGIN

/* ---- spaces (space.c) ---- */

enum mase_dimension_kind {
    MASE_DIMENSION_FLOAT,
    MASE_DIMENSION_INT,
    MASE_DIMENSION_CHOICE, /* one of a list; a point has its index */
};

struct mase_dimension {
    const char *name;
    enum mase_dimension_kind kind;
    double low, high; /* both are possible; of choices 0 and count - 1 */
    double step;      /* between two possible numbers; 0: any number */
    bool log;         /* drawn evenly by the logarithm; step is 0, or 1 of integers */
    /* Of choices: a list of texts, numbers, truth values and none. */
    const struct mase_value *choices;
    /* Choices are numbers in rising order: neighbours are alike. */
    bool ordered;
};

struct mase_space {
    int count;
    struct mase_dimension *dimension;
};

/* How many numbers a dimension has, or points a space; INFINITY where any number is possible. */
double mase_dimension_size(const struct mase_dimension *d);
double mase_space_size(const struct mase_space *s);
/* The possible number that is nearest to x. */
double mase_dimension_nearest(const struct mase_dimension *d, double x);

/* ---- trials ---- */

enum mase_trial_state {
    MASE_TRIAL_RUNNING,
    MASE_TRIAL_COMPLETE,
    MASE_TRIAL_PRUNED,
    MASE_TRIAL_FAIL,
    MASE_TRIAL_WAITING,
};
extern const char *const mase_trial_states[]; /* RUNNING, ...; NULL-terminated */

/* What was measured on the way: after an epoch, for example. */
struct mase_reading {
    int64_t step;
    double value;
};

struct mase_trial {
    int64_t number;
    int64_t id; /* in its store; 0: it is in none */
    enum mase_trial_state state;
    double *x;                    /* (dimensions); NaN: the trial has no such dimension */
    double *value;                /* (objectives); of a complete trial */
    double *violation;            /* (constraints); feasible where not above 0 */
    struct mase_reading *reading; /* by rising step */
    int readings;
    const struct mase_value *user, *system; /* attributes: tables, or NULL */
    int64_t start, end; /* microseconds since 1970, 0: not known. No decision depends on them */
};

enum mase_goal { MASE_MINIMIZE, MASE_MAXIMIZE };

struct mase_study_objective {
    const char *name;
    enum mase_goal direction;
};

/* ---- samplers (samplers.def, sampler.c) ---- */

/* What samplers and pruners know of a study before its first trial. Borrowed. */
struct mase_study_setup {
    const struct mase_space *space;
    const enum mase_goal *direction; /* (objectives) */
    int objectives, constraints;
    uint64_t seed;
    int64_t window; /* W: trial n is chosen by results of trials 0 .. n - W; at least 1 */
};

struct mase_sampler;
struct mase_sampler_functions; /* src/study/sampler.h */
struct mase_sampler_kind {
    const char *name, *help;
    const struct mase_sampler_functions *functions;
};
extern const struct mase_sampler_kind mase_samplers[];               /* the last has no name */
const struct mase_sampler_kind *mase_sampler_find(const char *name); /* any case; NULL: none */

/* options: the sampler's own, by its rows; NULL: their defaults. Fails where the space is not one
 * that it can sample: too many points, numbers of no step. */
enum mase_status mase_sampler_new(struct mase_sampler **out, const struct mase_sampler_kind *kind,
                                  const struct mase_study_setup *setup,
                                  const struct mase_value *options,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_sampler_free(struct mase_sampler *s);
/* How many trials there are in all; INFINITY: any number. It may shrink as results are told. */
double mase_sampler_trials(const struct mase_sampler *s);
/* How many results must have been told before trial n can be chosen; it is then chosen by exactly
 * these. May rise after a result was told; then those are needed, too. Never falls as n rises. */
int64_t mase_sampler_needs(const struct mase_sampler *s, int64_t n);
/* The result of the next trial, in order of numbers; it may be pruned or failed. */
void mase_sampler_tell(struct mase_sampler *s, const struct mase_trial *t);
/* The point of trial n. pending: points of the trials between the last told and n, in order. */
void mase_sampler_ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                      int64_t pending_count);

/* ---- pruners (pruners.def, pruner.c) ---- */

struct mase_pruner;
struct mase_pruner_functions; /* src/study/pruner.h */
struct mase_pruner_kind {
    const char *name, *help;
    const struct mase_pruner_functions *functions;
};
extern const struct mase_pruner_kind mase_pruners[]; /* the last has no name */
const struct mase_pruner_kind *mase_pruner_find(const char *name);

enum mase_status mase_pruner_new(struct mase_pruner **out, const struct mase_pruner_kind *kind,
                                 const struct mase_study_setup *setup,
                                 const struct mase_value *options,
                                 struct mase_err *err) MASE_MUST_CHECK;
void mase_pruner_free(struct mase_pruner *p);
/* The readings of the next trial, in order of numbers. */
void mase_pruner_tell(struct mase_pruner *p, const struct mase_trial *t);
/* Should the trial end after its last reading? Decided by what was told of trials 0 .. n - W, which
 * is all of them when trial n begins, and by its own number. */
bool mase_pruner_prunes(const struct mase_pruner *p, const struct mase_trial *t);

/* ---- fronts (front.c) ---- */

/* Is a better than b in one objective, and worse in none? Feasible is better than not. */
bool mase_trial_dominates(const struct mase_study_setup *s, const struct mase_trial *a,
                          const struct mase_trial *b);
/* The indices of complete, feasible trials that no other dominates, by number; (count) must fit. */
int64_t mase_pareto_front(int64_t *index, const struct mase_study_setup *s,
                          const struct mase_trial *trials, int64_t count);
/* The volume that values (count, objectives) dominate, up to a reference point. */
double mase_hypervolume(const double *value, int64_t count, const struct mase_study_setup *s,
                        const double *reference);

/* ---- studies (study.c) ---- */

struct mase_study {
    const char *name;
    int64_t id; /* in its store; 0: it is in none */
    struct mase_study_objective *objective;
    int objectives;
    const char *const *constraint; /* names */
    int constraints;
    struct mase_space space; /* of a study that another program made: all that its trials have */
    const struct mase_value *user, *system; /* attributes: tables, or NULL */
    struct mase_trial *trial;               /* by number, which is the index */
    int64_t trials, cap;
    struct mase_arena arena; /* of all of these */
};

void mase_study_release(struct mase_study *s);

/* ---- studies as values (study_json.c) ---- */

/* All of a study, allocated in a; it prints as JSON and reads back equal. And parts of that:
 * without the trials, one trial, a number of a dimension as the user knows it. */
struct mase_value *mase_study_value(struct mase_arena *a, const struct mase_study *s);
struct mase_value *mase_study_head_value(struct mase_arena *a, const struct mase_study *s);
struct mase_value *mase_trial_value(struct mase_arena *a, const struct mase_study *s,
                                    const struct mase_trial *t);
struct mase_value *mase_trial_param(struct mase_arena *a, const struct mase_dimension *d, double x);
/* Into an empty struct, also when it fails. */
enum mase_status mase_study_from_value(struct mase_study *s, const struct mase_value *v,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- stores (sql_drivers.def, store.c) ---- */

#define MASE_STUDY_FILE "study.db" /* the store in the folder of a project */

/* Where studies are kept: "PATH.db" or "sqlite:///PATH.db", "postgresql://...", ":memory:". */
struct mase_store;

enum mase_store_access {
    MASE_STORE_READ,
    MASE_STORE_WRITE,  /* there must be one */
    MASE_STORE_CREATE, /* or it is made */
};
enum mase_status mase_store_open(struct mase_store **out, const char *where,
                                 enum mase_store_access access,
                                 struct mase_err *err) MASE_MUST_CHECK;
void mase_store_close(struct mase_store *s);
/* Their names, allocated in a, in the order in which they were made. */
enum mase_status mase_store_list(struct mase_store *s, struct mase_arena *a,
                                 const char *const **names, int *count,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The schema of Optuna 3.0 and 3.1, which Debian has; it is made if there is none. */
enum mase_status mase_store_open_older(struct mase_store **out, const char *where,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Add a study with its trials, all at once. Fails where there is one of its name. */
enum mase_status mase_store_create(struct mase_store *s, struct mase_study *study,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Read a study into an empty struct, or, into one that was read before, what has changed since: it
 * has no further parameters then. */
enum mase_status mase_store_read(struct mase_store *s, struct mase_study *study, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_store_remove(struct mase_store *s, const char *name,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- running (study_run.c) ---- */

struct mase_study_run;

/* Measure the point t->x: fill in t->value and t->violation, which are NaN, and set t->user,
 * allocated in a. It must be a pure function of the point and of the number of the trial. worker:
 * 0 .. workers - 1, the calling thread's. A failure, or a value that stays NaN, is recorded as that
 * of the trial (attribute "failure"), and the study goes on; MASE_ENOMEM and MASE_EBUG end it. */
typedef enum mase_status mase_study_measure_fn(void *data, int worker, struct mase_study_run *run,
                                               struct mase_trial *t, struct mase_arena *a,
                                               struct mase_err *err);
/* Add a reading to the trial that measure was called with; a step has one. True: the trial should
 * end here, and does so as pruned. */
bool mase_study_report(struct mase_study_run *run, struct mase_trial *t, int64_t step,
                       double value);

struct mase_study_run_opts {
    struct mase_store *store; /* NULL: results are kept in memory alone */
    struct mase_sampler *sampler;
    struct mase_pruner *pruner; /* NULL: none */
    int64_t trials;             /* of the study in all, with those that it has */
    double seconds;             /* no trial begins after; 0: no limit */
    double lease_seconds; /* of a store of many machines: a trial without a heartbeat for so long is
                             measured by another; 0: 60 */
    int workers;          /* threads that measure; 0: one */
    mase_study_measure_fn *measure;
    void *data;
    /* Called after each trial ends, when that is stored, in order of numbers, by one thread at a
     * time; may be NULL. */
    void (*ended)(void *data, const struct mase_study *s, const struct mase_trial *t);
    /* Asked before each trial: true ends the run, when the trials under way have ended. A trial
     * that fails after that is left to be measured again. It may be called by any thread, and be
     * NULL. */
    bool (*stop)(void *data);
};
/* Go on with a study until it has so many trials. Its space becomes that of the setup, which must
 * have all of its dimensions. Trials that were under way when an earlier run was killed are
 * measured again; so are those that were enqueued, whose attribute fixed_params has all or a part
 * of a point.
 */
enum mase_status mase_study_run(struct mase_study *s, const struct mase_study_setup *setup,
                                const struct mase_study_run_opts *o,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Over points, values, states and readings of all trials, not over times: equal for equal studies.
 */
void mase_study_hash(char hex[65], const struct mase_study *s);

MASE_API_END

#endif /* MASE_STUDY_H */
