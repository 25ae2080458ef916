/*
 * store.c - opening a store, and the studies in it.
 */
#include "study/store.h"

#include "base/alloc.h"

static enum mase_status open_store(struct mase_store **out, const char *where,
                                   enum mase_store_access access, bool older, struct mase_err *err)
{
    struct mase_store *s = mase_xcalloc(sizeof *s);
    s->older = older;
    enum mase_status st = mase_sql_open(&s->sql, where, access, err);
    if (!st)
        st = mase_schema_open(s, access, err);
    if (st)
        mase_store_close(s);
    else
        *out = s;
    return st;
}

enum mase_status mase_store_open(struct mase_store **out, const char *where,
                                 enum mase_store_access access, struct mase_err *err)
{
    return open_store(out, where, access, false, err);
}

enum mase_status mase_store_open_older(struct mase_store **out, const char *where,
                                       struct mase_err *err)
{
    return open_store(out, where, MASE_STORE_CREATE, true, err);
}

void mase_store_close(struct mase_store *s)
{
    if (!s)
        return;
    mase_sql_close(s->sql);
    mase_arena_release(&s->arena);
    mase_xfree(s);
}

enum mase_status mase_store_list(struct mase_store *s, struct mase_arena *a,
                                 const char *const **names, int *count, struct mase_err *err)
{
    struct mase_sql_rows rows = { .arena = a };
    MASE_TRY(
        MASE_SQL_PLAIN(s->sql, &rows, err, "SELECT study_name FROM studies ORDER BY study_id"));
    const char **list = mase_new_array(a, const char *, (size_t)rows.count);
    for (int64_t i = 0; i < rows.count; i++) {
        list[i] = mase_sql_text(&rows, i, 0);
        if (!list[i])
            return mase_fail_in(err, MASE_EPARSE, s->sql->where, "a study has no name");
    }
    *names = list;
    *count = (int)rows.count;
    return MASE_OK;
}

enum mase_status mase_store_fail_absent(struct mase_store *s, const char *name,
                                        struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const char *const *names;
    int count;
    enum mase_status st = mase_store_list(s, &a, &names, &count, err);
    if (!st)
        st = mase_fail_unknown(err, (struct mase_loc){ .path = s->sql->where, .off = -1 },
                               &(struct mase_unknown){ .word = name,
                                                       .names = names,
                                                       .count = count,
                                                       .lists = count > 0,
                                                       .list_bytes = 400 },
                               "there is no study '%s'", name);
    mase_arena_release(&a);
    return st;
}

/* ---- writing all of a study ---- */

static enum mase_status create(struct mase_store *s, struct mase_study *study, struct mase_err *err)
{
    int64_t id;
    if (s->sql->driver->lock_schema) /* two processes may begin the same study */
        MASE_TRY(MASE_SQL_PLAIN(s->sql, NULL, err, s->sql->driver->lock_schema));
    MASE_TRY(mase_store_find(s, study->name, &id, err));
    if (id)
        return mase_fail_in(err, MASE_EVALUE, s->sql->where, "there is a study '%s' already",
                            study->name);
    MASE_TRY(mase_store_insert_study(s, study, err));
    return study->trials ? mase_store_add(s, study, 0, study->trials, err) : MASE_OK;
}

static enum mase_status in_transaction(struct mase_store *s, struct mase_study *study,
                                       enum mase_status fn(struct mase_store *s,
                                                           struct mase_study *study,
                                                           struct mase_err *err),
                                       struct mase_err *err)
{
    enum mase_status st = mase_sql_begin(s->sql, err);
    if (!st)
        st = fn(s, study, err);
    if (!st)
        st = mase_sql_commit(s->sql, err);
    if (st)
        mase_sql_rollback(s->sql);
    return st;
}

enum mase_status mase_store_create(struct mase_store *s, struct mase_study *study,
                                   struct mase_err *err)
{
    return in_transaction(s, study, create, err);
}

static enum mase_status remove_study(struct mase_store *s, struct mase_study *study,
                                     struct mase_err *err)
{
#define OF_TRIALS(table) \
    "DELETE FROM " table " WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = $1)"
    static const char *const statements[] = {
        OF_TRIALS("trial_user_attributes"),
        OF_TRIALS("trial_system_attributes"),
        OF_TRIALS("trial_params"),
        OF_TRIALS("trial_values"),
        OF_TRIALS("trial_intermediate_values"),
        OF_TRIALS("trial_heartbeats"),
        "DELETE FROM trials WHERE study_id = $1",
        "DELETE FROM study_directions WHERE study_id = $1",
        "DELETE FROM study_user_attributes WHERE study_id = $1",
        "DELETE FROM study_system_attributes WHERE study_id = $1",
        "DELETE FROM studies WHERE study_id = $1",
    };
    MASE_TRY(mase_store_find(s, study->name, &study->id, err));
    if (!study->id)
        return mase_store_fail_absent(s, study->name, err);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        MASE_TRY(MASE_SQL(s->sql, NULL, err, statements[i], MASE_SQL_INT(study->id)));
    return MASE_OK;
}

enum mase_status mase_store_remove(struct mase_store *s, const char *name, struct mase_err *err)
{
    struct mase_study study = { .name = name };
    return in_transaction(s, &study, remove_study, err);
}
