/*
 * store.h - what the files of a store share.
 */
#ifndef MASE_STUDY_STORE_H
#define MASE_STUDY_STORE_H

#include <mase/study.h>

#include "study/sql.h"
#include "study/study_parts.h"

struct mase_store {
    struct mase_sql *sql;
    bool older;                   /* the schema of Optuna 3.0 and 3.1 */
    struct mase_store_hold *hold; /* of the study that is run; NULL: none */
    struct mase_arena arena;      /* of what is small and lives as long */
};

/* Make the tables, or check that they are of the one revision that this program knows. */
enum mase_status mase_schema_open(struct mase_store *s, enum mase_store_access access,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- distribution.c: dimensions as Optuna's JSON ---- */

/* Everything is allocated in a. */
enum mase_status mase_distribution_read(struct mase_dimension *d, struct mase_arena *a,
                                        const char *json, struct mase_err *err) MASE_MUST_CHECK;
void mase_distribution_print(struct mase_str *out, const struct mase_dimension *d);
/* Widen d so that all of e is possible. Fails where one is a choice, or the choices differ. */
enum mase_status mase_dimension_join(struct mase_dimension *d, const struct mase_dimension *e,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- store_read.c ---- */

/* Attributes of the system that say more than Optuna's tables. Its own names, but for the second.
 */
#define MASE_STUDY_METRIC_NAMES "study:metric_names"
#define MASE_STUDY_CONSTRAINTS  "mase:constraints" /* names, in their order */
#define MASE_TRIAL_CONSTRAINTS  "constraints"      /* a list of numbers */
#define MASE_TRIAL_CONSTRAINT   "constraints:"     /* and a name, since Optuna 5 */

/* The number of a study in the database; 0: there is none of its name. */
enum mase_status mase_store_find(struct mase_store *s, const char *name, int64_t *id,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_store_fail_absent(struct mase_store *s, const char *name,
                                        struct mase_err *err);
/* Read what has changed of a study that was read before. */
enum mase_status mase_store_update(struct mase_store *s, struct mase_study *study,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- store_write.c ---- */

/* The study without its trials; sets its id. */
enum mase_status mase_store_insert_study(struct mase_store *s, struct mase_study *study,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* "2026-08-19 12:00:00.000000", naive UTC, as Optuna has times; 0: none. */
struct mase_sql_cell mase_store_time(struct mase_arena *a, int64_t microseconds);
/* Write trials that the database does not have yet, in order of numbers: their points and states,
 * and all else if they have ended. */
enum mase_status mase_store_add(struct mase_store *s, struct mase_study *study, int64_t first,
                                int64_t count, struct mase_err *err) MASE_MUST_CHECK;
/* Write the results of trials that the database has as running. One that has ended there stays as
 * it is; its state in result becomes RUNNING. */
enum mase_status mase_store_finish(struct mase_store *s, const struct mase_study *study,
                                   struct mase_trial *result, int64_t count,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- store_lease.c ---- */

/* Be the one process that runs this study, where there can be only one; until the release. */
enum mase_status mase_store_hold(struct mase_store *s, const struct mase_study *study,
                                 struct mase_err *err) MASE_MUST_CHECK;
void mase_store_release_hold(struct mase_store *s);
/* In a transaction: be the one process that chooses trials of the study, until its end. */
enum mase_status mase_store_lock(struct mase_store *s, const struct mase_study *study,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Which trials to take over. */
struct mase_claim {
    int64_t first, most; /* from this number on; so many */
    const bool *mine;    /* this run measures them already */
    double lease;        /* seconds */
    int64_t earlier;     /* trials before this one are older than the run */
};
/* The numbers of trials that nobody measures. They are running from here on. */
enum mase_status mase_store_claim(struct mase_store *s, struct mase_study *study,
                                  const struct mase_claim *claim, int64_t *number, int64_t *count,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Renew the leases of trials, or give them back. */
enum mase_status mase_store_beat(struct mase_store *s, const struct mase_study *study,
                                 const int64_t *number, int64_t count, bool alive,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_STUDY_STORE_H */
