/*
 * store_lease.c - who measures what: one process a file, or leases of single trials.
 *
 * A file belongs to one run at a time, which holds a lock beside it. In a database of many
 * machines, a trial is leased by a heartbeat, as Optuna has them: a trial that runs without one for
 * too long is for anyone to take.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/number.h"
#include "study/store.h"
#include "study/study_run.h"

/* ---- one run a study: of files ---- */

struct mase_store_hold {
    int fd;
    char path[]; /* of the file that is locked */
};

static void release(void *record)
{
    const struct mase_store_hold *h = record;
    if (h->fd < 0)
        return;
    (void)unlink(h->path); /* whoever waits for it looks whether it is still there */
    close(h->fd);
}

static enum mase_status fail_held(struct mase_store *s, const struct mase_study *study, int fd,
                                  struct mase_err *err)
{
    char holder[32] = "";
    const ssize_t n = pread(fd, holder, sizeof holder - 1, 0);
    holder[n > 0 ? strcspn(holder, "\n") : 0] = '\0';
    return mase_fail_in(err, MASE_EVALUE, s->sql->place,
                        "study '%s' is run by another process, %s; wait for it, or keep studies in "
                        "PostgreSQL, where many work on one",
                        study->name, holder[0] ? holder : "which has just begun");
}

/* Is it still the file of that name? The one who had it may have removed it. */
static bool is_current(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

static enum mase_status try_lock(struct mase_store *s, const struct mase_study *study, bool *again,
                                 struct mase_err *err)
{
    struct mase_store_hold *h = s->hold;
    char pid[32];
    *again = false;
    h->fd = open(h->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (h->fd < 0)
        return mase_fail_errno(err, h->path, "cannot lock");
    if (flock(h->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        const enum mase_status st = fail_held(s, study, h->fd, err);
        close(h->fd);
        h->fd = -1;
        return st;
    }
    if (!is_current(h->fd, h->path)) {
        close(h->fd);
        h->fd = -1;
        *again = true;
        return MASE_OK;
    }
    const int n = mase_snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(h->fd, 0) || pwrite(h->fd, pid, (size_t)n, 0) != n)
        return mase_fail_errno(err, h->path, "cannot write");
    return MASE_OK;
}

enum mase_status mase_store_hold(struct mase_store *s, const struct mase_study *study,
                                 struct mase_err *err)
{
    char path[4096];
    if (s->sql->driver->many_hosts || mase_streq(s->sql->place, ":memory:"))
        return MASE_OK;
    const int n =
        mase_snprintf(path, sizeof path, "%s.%lld.lock", s->sql->place, (long long)study->id);
    if (n >= (int)sizeof path)
        return mase_fail_in(err, MASE_ELIMIT, s->sql->place, "the path is too long");
    s->hold = mase_xcalloc_with_cleanup(sizeof *s->hold + (size_t)n + 1, release);
    s->hold->fd = -1;
    memcpy(s->hold->path, path, (size_t)n + 1);
    bool again = true;
    enum mase_status st = MASE_OK;
    while (!st && again)
        st = try_lock(s, study, &again, err);
    if (st)
        mase_store_release_hold(s);
    return st;
}

void mase_store_release_hold(struct mase_store *s)
{
    if (!s->hold)
        return;
    release(s->hold);
    mase_xfree(s->hold);
    s->hold = NULL;
}

/* ---- transactions ---- */

enum mase_status mase_store_lock(struct mase_store *s, const struct mase_study *study,
                                 struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    if (!s->sql->driver->lock_study)
        return MASE_OK; /* the transaction has the whole file */
    enum mase_status st =
        MASE_SQL(s->sql, &rows, err, s->sql->driver->lock_study, MASE_SQL_INT(study->id));
    if (!st && rows.count == 0)
        st = mase_fail_in(err, MASE_EVALUE, s->sql->where, "study '%s' was removed", study->name);
    mase_arena_release(&a);
    return st;
}

static const struct mase_sql_each begin_trial = {
    "INSERT INTO trials (trial_id, number, study_id, state, datetime_start) VALUES", 5,
    "ON CONFLICT (trial_id) DO UPDATE SET state = excluded.state, "
    "datetime_start = excluded.datetime_start WHERE trials.state IN ('RUNNING', 'WAITING')"
};

/* Trials that were enqueued are running from here on. */
static enum mase_status begin_trials(struct mase_store *s, struct mase_study *study,
                                     const int64_t *number, int64_t count, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    for (int64_t i = 0; i < count; i++) {
        struct mase_trial *t = &study->trial[number[i]];
        struct mase_sql_cell *cell = mase_sql_add_row(&rows, begin_trial.columns);
        t->state = MASE_TRIAL_RUNNING;
        t->start = mase_run_time();
        cell[0] = MASE_SQL_INT(t->id);
        cell[1] = MASE_SQL_INT(t->number);
        cell[2] = MASE_SQL_INT(study->id);
        cell[3] = MASE_SQL_TEXT(mase_trial_states[t->state]);
        cell[4] = mase_store_time(&a, t->start);
    }
    const enum mase_status st =
        mase_sql_run_each(s->sql, NULL, &begin_trial, rows.cell, rows.count, err);
    mase_arena_release(&a);
    return st;
}

/* Of a file: what waits. When the run begins, nobody else measures what is running; what Optuna
 * begins beside us later is its own, unless it takes too long. */
static int64_t find_open(const struct mase_study *study, const struct mase_claim *claim,
                         int64_t *number)
{
    const int64_t late = mase_run_time() - (int64_t)(1e6 * claim->lease);
    int64_t count = 0;
    for (int64_t n = claim->first; n < study->trials && count < claim->most; n++) {
        const struct mase_trial *t = &study->trial[n];
        const bool stale = n < claim->earlier || t->state == MASE_TRIAL_WAITING || t->start < late;
        if (!claim->mine[n] && !mase_trial_ended(t) && stale)
            number[count++] = n;
    }
    return count;
}

/* Of a database: what waits, and what has lost its lease. */
static enum mase_status find_stale(struct mase_store *s, const struct mase_study *study,
                                   const struct mase_claim *claim, int64_t *number, int64_t *count,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    const enum mase_status st =
        MASE_SQL(s->sql, &rows, err, s->sql->driver->find_stale, MASE_SQL_INT(study->id),
                 MASE_SQL_REAL(claim->lease), MASE_SQL_INT(claim->most));
    *count = 0;
    for (int64_t i = 0; !st && i < rows.count; i++) {
        const int64_t n = mase_sql_int(&rows, i, 0);
        if (n >= 0 && n < study->trials && !claim->mine[n] && !mase_trial_ended(&study->trial[n]))
            number[(*count)++] = n;
    }
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_store_claim(struct mase_store *s, struct mase_study *study,
                                  const struct mase_claim *claim, int64_t *number, int64_t *count,
                                  struct mase_err *err)
{
    if (s->sql->driver->find_stale)
        MASE_TRY(find_stale(s, study, claim, number, count, err));
    else
        *count = find_open(study, claim, number);
    return begin_trials(s, study, number, *count, err);
}

/* ---- heartbeats ---- */

static const struct mase_sql_each heartbeats = {
    "INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES", 2,
    "ON CONFLICT (trial_id) DO UPDATE SET heartbeat = excluded.heartbeat"
};

enum mase_status mase_store_beat(struct mase_store *s, const struct mase_study *study,
                                 const int64_t *number, int64_t count, bool alive,
                                 struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows now = { .arena = &a }, rows = { .arena = &a };
    enum mase_status st = MASE_OK;
    if (count && alive)
        st = MASE_SQL_PLAIN(s->sql, &now, err, s->sql->driver->now);
    for (int64_t i = 0; !st && i < count; i++) {
        struct mase_sql_cell *cell = mase_sql_add_row(&rows, heartbeats.columns);
        cell[0] = MASE_SQL_INT(study->trial[number[i]].id);
        cell[1] = alive ? now.cell[0] : MASE_SQL_TEXT("1970-01-01 00:00:00");
    }
    if (!st)
        st = mase_sql_run_each(s->sql, NULL, &heartbeats, rows.cell, rows.count, err);
    mase_arena_release(&a);
    return st;
}
