/*
 * store_write.c - trials into a database, so that Optuna reads them.
 *
 * Many rows are written by one statement each: a database that is far away answers once.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "study/store.h"

/* ---- values ---- */

static void date_of(int64_t days, int64_t date[3])
{
    const int64_t z = days + 719468, era = z / 146097, of_era = z % 146097;
    const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int64_t month = (5 * of_year + 2) / 153; /* from March */
    date[0] = 400 * era + year + (month >= 10);
    date[1] = month < 10 ? month + 3 : month - 9;
    date[2] = of_year - (153 * month + 2) / 5 + 1;
}

struct mase_sql_cell mase_store_time(struct mase_arena *a, int64_t microseconds)
{
    int64_t date[3];
    const int64_t seconds = microseconds / 1000000, of_day = seconds % 86400;
    if (microseconds <= 0)
        return MASE_SQL_NIL;
    date_of(seconds / 86400, date);
    return MASE_SQL_TEXT(mase_arena_printf(a, "%04lld-%02lld-%02lld %02lld:%02lld:%02lld.%06lld",
                                           (long long)date[0], (long long)date[1],
                                           (long long)date[2], (long long)(of_day / 3600),
                                           (long long)(of_day / 60 % 60), (long long)(of_day % 60),
                                           (long long)(microseconds % 1000000)));
}

static struct mase_sql_cell finite(double x)
{
    return isfinite(x) ? MASE_SQL_REAL(x) : MASE_SQL_NIL;
}

static struct mase_sql_cell type_of(double x)
{
    return MASE_SQL_TEXT(isnan(x) ? "NAN" : isfinite(x) ? "FINITE" : x > 0 ? "INF_POS" : "INF_NEG");
}

static struct mase_sql_cell json_of(struct mase_arena *a, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    if (v->kind == MASE_ATOM) /* a text that was kept as it is */
        return MASE_SQL_TEXT(mase_arena_strdup(a, v->s));
    mase_json_print(&text, v, 0);
    const char *kept = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return MASE_SQL_TEXT(kept);
}

/* ---- rows of trials ---- */

enum { TRIALS, PARAMS, VALUES, READINGS, USER, SYSTEM, TABLES };

static const struct mase_sql_each each[TABLES] = {
    [TRIALS] = { "INSERT INTO trials (trial_id, number, study_id, state, datetime_start, "
                 "datetime_complete) VALUES",
                 6,
                 "ON CONFLICT (trial_id) DO UPDATE SET state = excluded.state, "
                 "datetime_start = excluded.datetime_start, "
                 "datetime_complete = excluded.datetime_complete "
                 "WHERE trials.state IN ('RUNNING', 'WAITING') RETURNING trial_id" },
    [PARAMS] = { "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) "
                 "VALUES",
                 4, "ON CONFLICT (trial_id, param_name) DO NOTHING" },
    [VALUES] = { "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES", 4,
                 "ON CONFLICT (trial_id, objective) DO UPDATE SET value = excluded.value, "
                 "value_type = excluded.value_type" },
    [READINGS] = { "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, "
                   "intermediate_value_type) VALUES",
                   4,
                   "ON CONFLICT (trial_id, step) DO UPDATE SET "
                   "intermediate_value = excluded.intermediate_value, "
                   "intermediate_value_type = excluded.intermediate_value_type" },
    [USER] = { "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES", 3,
               "ON CONFLICT (trial_id, \"key\") DO UPDATE SET value_json = excluded.value_json" },
    [SYSTEM] = { "INSERT INTO trial_system_attributes (trial_id, \"key\", value_json) VALUES", 3,
                 "ON CONFLICT (trial_id, \"key\") DO UPDATE SET value_json = excluded.value_json" },
};

/* Rows for each table, which are sent at the end. */
struct writer {
    struct mase_store *s;
    const struct mase_study *study;
    struct mase_arena arena;
    struct mase_sql_rows rows[TABLES];
    const char **distribution; /* JSON of each dimension, or NULL */
};

static void begin(struct writer *w, struct mase_store *s, const struct mase_study *study)
{
    *w = (struct writer){ .s = s, .study = study };
    w->distribution = mase_new_array(&w->arena, const char *, (size_t)study->space.count);
    for (int i = 0; i < TABLES; i++)
        w->rows[i].arena = &w->arena;
}

static struct mase_sql_cell *add_row(struct writer *w, int table)
{
    return mase_sql_add_row(&w->rows[table], each[table].columns);
}

static struct mase_sql_cell distribution(struct writer *w, int i)
{
    struct mase_str text = { 0 };
    if (!w->distribution[i]) {
        mase_distribution_print(&text, &w->study->space.dimension[i]);
        w->distribution[i] = mase_arena_strdup(&w->arena, mase_str_text(&text));
        mase_str_release(&text);
    }
    return MASE_SQL_TEXT(w->distribution[i]);
}

static void add_trial(struct writer *w, const struct mase_trial *t)
{
    struct mase_sql_cell *cell = add_row(w, TRIALS);
    cell[0] = MASE_SQL_INT(t->id);
    cell[1] = MASE_SQL_INT(t->number);
    cell[2] = MASE_SQL_INT(w->study->id);
    cell[3] = MASE_SQL_TEXT(mase_trial_states[t->state]);
    cell[4] = mase_store_time(&w->arena, t->start);
    cell[5] = mase_trial_ended(t) ? mase_store_time(&w->arena, t->end) : MASE_SQL_NIL;
}

static void add_params(struct writer *w, const struct mase_trial *t)
{
    for (int i = 0; i < w->study->space.count; i++) {
        if (isnan(t->x[i]))
            continue;
        struct mase_sql_cell *cell = add_row(w, PARAMS);
        cell[0] = MASE_SQL_INT(t->id);
        cell[1] = MASE_SQL_TEXT(w->study->space.dimension[i].name);
        cell[2] = MASE_SQL_REAL(t->x[i]);
        cell[3] = distribution(w, i);
    }
}

static void add_values(struct writer *w, const struct mase_trial *t)
{
    for (int i = 0; i < w->study->objectives; i++) {
        if (!t->value || isnan(t->value[i]))
            continue;
        struct mase_sql_cell *cell = add_row(w, VALUES);
        cell[0] = MASE_SQL_INT(t->id);
        cell[1] = MASE_SQL_INT(i);
        cell[2] = finite(t->value[i]);
        cell[3] = type_of(t->value[i]);
    }
    for (int i = 0; i < t->readings; i++) {
        struct mase_sql_cell *cell = add_row(w, READINGS);
        cell[0] = MASE_SQL_INT(t->id);
        cell[1] = MASE_SQL_INT(t->reading[i].step);
        cell[2] = finite(t->reading[i].value);
        cell[3] = type_of(t->reading[i].value);
    }
}

static void add_attribute(struct writer *w, int table, int64_t id, const char *key,
                          struct mase_sql_cell json)
{
    struct mase_sql_cell *cell = add_row(w, table);
    cell[0] = MASE_SQL_INT(id);
    cell[1] = MASE_SQL_TEXT(key);
    cell[2] = json;
}

/* Attributes that say what t->violation has are written from that. */
static bool is_violation(const char *key)
{
    return mase_streq(key, MASE_TRIAL_CONSTRAINTS) || mase_starts_with(key, MASE_TRIAL_CONSTRAINT);
}

static void add_attributes(struct writer *w, int table, int64_t id, const struct mase_value *v)
{
    for (int i = 0; v && i < v->count; i++)
        if (table != SYSTEM || !is_violation(v->keys[i]))
            add_attribute(w, table, id, v->keys[i], json_of(&w->arena, v->items[i]));
}

/* Optuna 3 knows a list of constraints, Optuna 5 an attribute for each. */
static void add_violation(struct writer *w, const struct mase_trial *t)
{
    const struct mase_study *s = w->study;
    struct mase_value *list = mase_value_list(&w->arena);
    for (int i = 0; i < s->constraints && t->violation; i++) {
        struct mase_value *v = mase_value_float(&w->arena, t->violation[i]);
        if (isnan(t->violation[i]))
            return; /* it was not measured */
        mase_value_push(&w->arena, list, v);
        if (!w->s->older)
            add_attribute(
                w, SYSTEM, t->id,
                mase_arena_printf(&w->arena, MASE_TRIAL_CONSTRAINT "%s", s->constraint[i]),
                json_of(&w->arena, v));
    }
    if (w->s->older && list->count)
        add_attribute(w, SYSTEM, t->id, MASE_TRIAL_CONSTRAINTS, json_of(&w->arena, list));
}

static void add_results(struct writer *w, const struct mase_trial *t)
{
    add_values(w, t);
    add_attributes(w, USER, t->id, t->user);
    add_violation(w, t);
}

static enum mase_status send(struct writer *w, int table, struct mase_err *err)
{
    return mase_sql_run_each(w->s->sql, NULL, &each[table], w->rows[table].cell,
                             w->rows[table].count, err);
}

/* All but the trials themselves. */
static enum mase_status send_parts(struct writer *w, struct mase_err *err)
{
    for (int table = PARAMS; table < TABLES; table++)
        MASE_TRY(send(w, table, err));
    return MASE_OK;
}

/* ---- new trials ---- */

static const struct mase_sql_each new_trials = {
    "INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete) VALUES", 5,
    "RETURNING trial_id, number"
};

/* Their ids rise with their numbers: the database counts up, and the rows come in order. */
static enum mase_status insert(struct writer *w, struct mase_study *study, int64_t first,
                               int64_t count, struct mase_err *err)
{
    struct mase_sql_rows in = { .arena = &w->arena }, out = { .arena = &w->arena };
    for (int64_t n = first; n < first + count; n++) {
        const struct mase_trial *t = &study->trial[n];
        struct mase_sql_cell *cell = mase_sql_add_row(&in, new_trials.columns);
        cell[0] = MASE_SQL_INT(t->number);
        cell[1] = MASE_SQL_INT(study->id);
        cell[2] = MASE_SQL_TEXT(mase_trial_states[t->state]);
        cell[3] = mase_store_time(&w->arena, t->start);
        cell[4] = mase_store_time(&w->arena, t->end);
    }
    MASE_TRY(mase_sql_run_each(w->s->sql, &out, &new_trials, in.cell, count, err));
    for (int64_t i = 0; i < out.count; i++) {
        const int64_t number = mase_sql_int(&out, i, 1);
        if (number >= first && number < first + count)
            study->trial[number].id = mase_sql_int(&out, i, 0);
    }
    return MASE_OK;
}

static enum mase_status add(struct writer *w, struct mase_study *study, int64_t first,
                            int64_t count, struct mase_err *err)
{
    MASE_TRY(insert(w, study, first, count, err));
    for (int64_t n = first; n < first + count; n++) {
        const struct mase_trial *t = &study->trial[n];
        add_params(w, t);
        add_attributes(w, SYSTEM, t->id, t->system);
        if (mase_trial_ended(t))
            add_results(w, t);
    }
    return send_parts(w, err);
}

enum mase_status mase_store_add(struct mase_store *s, struct mase_study *study, int64_t first,
                                int64_t count, struct mase_err *err)
{
    struct writer w;
    begin(&w, s, study);
    const enum mase_status st = add(&w, study, first, count, err);
    mase_arena_release(&w.arena);
    return st;
}

/* ---- results ---- */

/* A trial is updated unless it has ended; the ids that come back are of those that had not. */
static enum mase_status update(struct writer *w, struct mase_trial *result, int64_t count,
                               struct mase_err *err)
{
    struct mase_sql_rows out = { .arena = &w->arena };
    for (int64_t i = 0; i < count; i++)
        add_trial(w, &result[i]);
    MASE_TRY(mase_sql_run_each(w->s->sql, &out, &each[TRIALS], w->rows[TRIALS].cell, count, err));
    int64_t done = 0; /* in the same order */
    for (int64_t i = 0; i < count; i++) {
        if (done < out.count && mase_sql_int(&out, done, 0) == result[i].id)
            done++;
        else
            result[i].state = MASE_TRIAL_RUNNING;
    }
    return MASE_OK;
}

static enum mase_status finish(struct writer *w, struct mase_trial *result, int64_t count,
                               struct mase_err *err)
{
    MASE_TRY(update(w, result, count, err));
    for (int64_t i = 0; i < count; i++) {
        if (result[i].state == MASE_TRIAL_RUNNING)
            continue;
        add_params(w, &result[i]); /* of one that was enqueued, with a part of its point */
        add_results(w, &result[i]);
    }
    return send_parts(w, err);
}

enum mase_status mase_store_finish(struct mase_store *s, const struct mase_study *study,
                                   struct mase_trial *result, int64_t count, struct mase_err *err)
{
    struct writer w;
    begin(&w, s, study);
    const enum mase_status st = finish(&w, result, count, err);
    mase_arena_release(&w.arena);
    return st;
}

/* ---- the study itself ---- */

static const struct mase_sql_each study_attributes[] = {
    { "INSERT INTO study_user_attributes (study_id, \"key\", value_json) VALUES", 3,
      "ON CONFLICT (study_id, \"key\") DO UPDATE SET value_json = excluded.value_json" },
    { "INSERT INTO study_system_attributes (study_id, \"key\", value_json) VALUES", 3,
      "ON CONFLICT (study_id, \"key\") DO UPDATE SET value_json = excluded.value_json" },
};
static const struct mase_sql_each directions = {
    "INSERT INTO study_directions (direction, study_id, objective) VALUES", 3, ""
};

static void add_names(struct mase_sql_rows *rows, int64_t id, const char *key,
                      const struct mase_value *names)
{
    if (names->count == 0)
        return;
    struct mase_sql_cell *cell = mase_sql_add_row(rows, 3);
    cell[0] = MASE_SQL_INT(id);
    cell[1] = MASE_SQL_TEXT(key);
    cell[2] = json_of(rows->arena, names);
}

/* Attributes as rows; those that say what the tables have no place for come from the struct. */
static void collect(struct mase_sql_rows *rows, int64_t id, const struct mase_value *v)
{
    for (int i = 0; v && i < v->count; i++) {
        if (mase_streq(v->keys[i], MASE_STUDY_METRIC_NAMES) ||
            mase_streq(v->keys[i], MASE_STUDY_CONSTRAINTS))
            continue;
        struct mase_sql_cell *cell = mase_sql_add_row(rows, 3);
        cell[0] = MASE_SQL_INT(id);
        cell[1] = MASE_SQL_TEXT(v->keys[i]);
        cell[2] = json_of(rows->arena, v->items[i]);
    }
}

static void collect_names(struct mase_sql_rows *rows, int64_t id, const struct mase_study *s)
{
    struct mase_value *metrics = mase_value_list(rows->arena);
    struct mase_value *constraints = mase_value_list(rows->arena);
    for (int i = 0; i < s->objectives; i++)
        mase_value_push(rows->arena, metrics, mase_value_string(rows->arena, s->objective[i].name));
    for (int i = 0; i < s->constraints; i++)
        mase_value_push(rows->arena, constraints, mase_value_string(rows->arena, s->constraint[i]));
    add_names(rows, id, MASE_STUDY_METRIC_NAMES, metrics);
    add_names(rows, id, MASE_STUDY_CONSTRAINTS, constraints);
}

static enum mase_status write_head(struct mase_store *s, struct mase_arena *a, int64_t id,
                                   const struct mase_study *study, struct mase_err *err)
{
    struct mase_sql_rows user = { .arena = a }, system = { .arena = a }, of = { .arena = a };
    for (int i = 0; i < study->objectives; i++) {
        struct mase_sql_cell *cell = mase_sql_add_row(&of, 3);
        cell[0] =
            MASE_SQL_TEXT(study->objective[i].direction == MASE_MAXIMIZE ? "MAXIMIZE" : "MINIMIZE");
        cell[1] = MASE_SQL_INT(id);
        cell[2] = MASE_SQL_INT(i);
    }
    collect(&user, id, study->user);
    collect(&system, id, study->system);
    collect_names(&system, id, study);
    MASE_TRY(mase_sql_run_each(s->sql, NULL, &directions, of.cell, of.count, err));
    MASE_TRY(mase_sql_run_each(s->sql, NULL, &study_attributes[0], user.cell, user.count, err));
    return mase_sql_run_each(s->sql, NULL, &study_attributes[1], system.cell, system.count, err);
}

enum mase_status mase_store_insert_study(struct mase_store *s, struct mase_study *study,
                                         struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    enum mase_status st = MASE_SQL(s->sql, &rows, err,
                                   "INSERT INTO studies (study_name) VALUES ($1) "
                                   "RETURNING study_id",
                                   MASE_SQL_TEXT(study->name));
    if (!st) {
        study->id = mase_sql_int(&rows, 0, 0);
        st = write_head(s, &a, study->id, study, err);
    }
    mase_arena_release(&a);
    return st;
}
