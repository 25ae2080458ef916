/*
 * store_read.c - studies out of a database, whoever wrote it.
 *
 * What Optuna may have written is read; all else is an error that names the trial. A study that was
 * read before is brought up to date: trials that had ended stay as they are.
 */
#include <math.h>
#include <string.h>

#include "study/store.h"

struct reader {
    struct mase_store *s;
    struct mase_study *study;
    struct mase_arena arena;       /* of rows */
    struct mase_map distributions; /* parsed, by their texts */
    int64_t known;                 /* trials that were read before */
    int64_t first;                 /* the first that may have changed */
    int guess;                     /* the dimension that the next row is probably about */
    bool *fresh;                   /* trials that had not ended, from the first on */
};

#define FAIL_TRIAL(r, number, ...) fail_trial((r), (number), err, __VA_ARGS__)

static enum mase_status fail_trial(const struct reader *r, int64_t number, struct mase_err *err,
                                   const char *fmt, ...) MASE_PRINTF(4, 5);

static enum mase_status fail_trial(const struct reader *r, int64_t number, struct mase_err *err,
                                   const char *fmt, ...)
{
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    const enum mase_status st =
        mase_fail_in(err, MASE_EPARSE, r->s->sql->where, "study '%s', trial %lld: %s",
                     r->study->name, (long long)number, mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

/* ---- attributes ---- */

/* A text that Python takes for JSON and we do not, with NaN or Infinity, is kept as it is. */
static struct mase_value *read_json(struct mase_arena *a, const char *text)
{
    struct mase_value *v;
    struct mase_err unwanted;
    if (!text)
        return mase_value_none(a);
    return mase_json_parse(&v, a, text, strlen(text), NULL, &unwanted) ? mase_value_atom(a, text)
                                                                       : v;
}

static void set_attribute(struct mase_arena *a, const struct mase_value **table, const char *key,
                          const char *json)
{
    struct mase_value *to = *table ? (struct mase_value *)*table : mase_value_table(a);
    if (key)
        mase_value_set(a, to, key, read_json(a, json));
    *table = to;
}

/* ---- the study itself ---- */

enum mase_status mase_store_find(struct mase_store *s, const char *name, int64_t *id,
                                 struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    const enum mase_status st =
        MASE_SQL(s->sql, &rows, err, "SELECT study_id FROM studies WHERE study_name = $1",
                 MASE_SQL_TEXT(name));
    *id = !st && rows.count ? mase_sql_int(&rows, 0, 0) : 0;
    mase_arena_release(&a);
    return st;
}

static enum mase_status read_directions(struct reader *r, struct mase_err *err)
{
    struct mase_study *study = r->study;
    struct mase_sql_rows rows = { .arena = &r->arena };
    MASE_TRY(MASE_SQL(r->s->sql, &rows, err,
                      "SELECT direction FROM study_directions WHERE study_id = $1 "
                      "ORDER BY objective",
                      MASE_SQL_INT(study->id)));
    study->objectives = (int)rows.count;
    study->objective =
        mase_new_array(&study->arena, struct mase_study_objective, (size_t)rows.count);
    for (int i = 0; i < study->objectives; i++) {
        const char *text = mase_sql_text(&rows, i, 0);
        struct mase_study_objective *o = &study->objective[i];
        if (mase_streq(text, "MAXIMIZE"))
            o->direction = MASE_MAXIMIZE;
        else if (!mase_streq(text, "MINIMIZE")) /* NOT_SET was before it had trials */
            return mase_fail_in(err, MASE_EPARSE, r->s->sql->where,
                                "study '%s': the direction of objective %d is '%s'", study->name, i,
                                text ? text : "");
        o->name =
            study->objectives == 1 ? "value" : mase_arena_printf(&study->arena, "values_%d", i);
    }
    return MASE_OK;
}

static enum mase_status read_study_attributes(struct reader *r, const struct mase_value **table,
                                              const char *query, struct mase_err *err)
{
    struct mase_sql_rows rows = { .arena = &r->arena };
    MASE_TRY(MASE_SQL(r->s->sql, &rows, err, query, MASE_SQL_INT(r->study->id)));
    *table = NULL;
    for (int64_t i = 0; i < rows.count; i++)
        set_attribute(&r->study->arena, table, mase_sql_text(&rows, i, 0),
                      mase_sql_text(&rows, i, 1));
    return MASE_OK;
}

static const struct mase_value *list_of_names(const struct mase_study *s, const char *key)
{
    const struct mase_value *v = mase_value_get(s->system, key);
    for (int i = 0; v && i < v->count; i++)
        if (v->items[i]->kind != MASE_STRING)
            return NULL;
    return v && v->kind == MASE_LIST ? v : NULL;
}

static void take_names(struct mase_study *s)
{
    const struct mase_value *names = list_of_names(s, MASE_STUDY_METRIC_NAMES);
    for (int i = 0; names && names->count == s->objectives && i < names->count; i++)
        s->objective[i].name = names->items[i]->s;
    names = list_of_names(s, MASE_STUDY_CONSTRAINTS);
    if (!names)
        return;
    const char **constraint = mase_new_array(&s->arena, const char *, (size_t)names->count);
    for (int i = 0; i < names->count; i++)
        constraint[i] = names->items[i]->s;
    s->constraint = constraint;
    s->constraints = names->count;
}

static enum mase_status read_head(struct reader *r, struct mase_err *err)
{
    MASE_TRY(read_directions(r, err));
    MASE_TRY(read_study_attributes(
        r, &r->study->user,
        "SELECT \"key\", value_json FROM study_user_attributes WHERE study_id = $1 "
        "ORDER BY study_user_attribute_id",
        err));
    MASE_TRY(read_study_attributes(
        r, &r->study->system,
        "SELECT \"key\", value_json FROM study_system_attributes WHERE study_id = $1 "
        "ORDER BY study_system_attribute_id",
        err));
    take_names(r->study);
    return MASE_OK;
}

/* ---- names that only trials have ---- */

/* The dimension that a text stands for. Equal texts are read once. */
static enum mase_status find_distribution(struct reader *r, const struct mase_dimension **out,
                                          const char *json, struct mase_err *err)
{
    struct mase_dimension *d = mase_map_get(&r->distributions, json);
    if (!d) {
        d = mase_new(&r->arena, struct mase_dimension);
        MASE_TRY(mase_distribution_read(d, &r->arena, json, err));
        mase_map_put(&r->distributions, json, d);
    }
    *out = d;
    return MASE_OK;
}

static void add_dimension(struct mase_study *s, const struct mase_dimension *d, const char *name)
{
    struct mase_space *space = &s->space;
    if ((space->count & (space->count - 1)) == 0) { /* full: twice the room */
        const size_t cap = space->count ? 2 * (size_t)space->count : 1;
        struct mase_dimension *all = mase_new_array(&s->arena, struct mase_dimension, cap);
        if (space->count)
            memcpy(all, space->dimension, (size_t)space->count * sizeof *all);
        space->dimension = all;
    }
    struct mase_dimension *to = &space->dimension[space->count++];
    *to = *d;
    to->name = mase_arena_strdup(&s->arena, name);
    if (d->choices)
        to->choices = mase_value_copy(&s->arena, d->choices);
}

/* Columns of the rows of parameters. */
enum { PARAM_TRIAL, PARAM_NAME, PARAM_VALUE, PARAM_DISTRIBUTION };

/* The space of a study is all that its trials have, in the order in which they came. */
static enum mase_status collect_space(struct reader *r, const struct mase_sql_rows *params,
                                      struct mase_err *err)
{
    struct mase_map found = { .arena = &r->arena }; /* 1 + index, of a name */
    for (int64_t i = 0; i < params->count; i++) {
        const char *name = mase_sql_text(params, i, PARAM_NAME);
        const char *json = mase_sql_text(params, i, PARAM_DISTRIBUTION);
        const struct mase_dimension *d;
        if (!name || !json)
            return mase_fail_in(err, MASE_EPARSE, r->s->sql->where,
                                "study '%s': a parameter has no name or no distribution",
                                r->study->name);
        enum mase_status st = find_distribution(r, &d, json, err);
        const intptr_t at = (intptr_t)mase_map_get(&found, name);
        if (!st && at)
            st = mase_dimension_join(&r->study->space.dimension[at - 1], d, err);
        if (st) {
            mase_wrap(err, "study '%s', parameter '%s'", r->study->name, name);
            return mase_place(err, (struct mase_loc){ .path = r->s->sql->where, .off = -1 });
        }
        if (!at) {
            add_dimension(r->study, d, name);
            mase_map_put(&found, name, (void *)(intptr_t)r->study->space.count);
        }
    }
    return MASE_OK;
}

static int find_constraint(const struct mase_study *s, const char *name)
{
    for (int i = 0; i < s->constraints; i++)
        if (mase_streq(s->constraint[i], name))
            return i;
    return -1;
}

static void add_constraint(struct mase_study *s, const char *name)
{
    if (find_constraint(s, name) >= 0)
        return;
    const char **all = mase_new_array(&s->arena, const char *, (size_t)s->constraints + 1);
    if (s->constraints)
        memcpy(all, s->constraint, (size_t)s->constraints * sizeof *all);
    all[s->constraints++] = mase_arena_strdup(&s->arena, name);
    s->constraint = all;
}

/* Columns of the rows of attributes. */
enum { ATTRIBUTE_TRIAL, ATTRIBUTE_KEY, ATTRIBUTE_JSON };
enum { CONSTRAINTS_MOST = 1000, NUMBERS_MOST = 1 << 28 };

/* Optuna 5 has an attribute for each constraint; before that it had one list, without names. */
static void collect_constraints(struct reader *r, const struct mase_sql_rows *rows)
{
    for (int64_t i = 0; i < rows->count && r->study->constraints < CONSTRAINTS_MOST; i++) {
        const char *key = mase_sql_text(rows, i, ATTRIBUTE_KEY);
        if (key && mase_starts_with(key, MASE_TRIAL_CONSTRAINT))
            add_constraint(r->study, key + strlen(MASE_TRIAL_CONSTRAINT));
        else if (mase_streq(key, MASE_TRIAL_CONSTRAINTS)) {
            const struct mase_value *v =
                read_json(&r->arena, mase_sql_text(rows, i, ATTRIBUTE_JSON));
            for (int c = 0; c < v->count && c < CONSTRAINTS_MOST; c++)
                add_constraint(r->study, mase_arena_printf(&r->arena, "%d", c));
        }
    }
}

/* ---- trials ---- */

static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month > 2 ? year : year - 1; /* a year that begins in March */
    const int64_t m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719469;
}

/* Digits of a fixed place; -1: something else stands there. */
static int64_t digits(const char *text, int at, int count)
{
    int64_t n = 0;
    for (int i = at; i < at + count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        n = 10 * n + (text[i] - '0');
    }
    return n;
}

/* Of "2026-08-19 12:00:00.25"; 0: it is no time. */
static int64_t read_time(const char *text)
{
    if (!text || strlen(text) < 19)
        return 0;
    const int64_t days =
        days_since_1970(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2));
    const int64_t seconds =
        3600 * digits(text, 11, 2) + 60 * digits(text, 14, 2) + digits(text, 17, 2);
    int64_t fraction = 0, unit = 100000;
    for (const char *c = text + 20; text[19] == '.' && *c >= '0' && *c <= '9'; c++, unit /= 10)
        fraction += unit * (*c - '0');
    return (86400 * days + seconds) * 1000000 + fraction;
}

static int find_state(const char *name)
{
    for (int i = 0; mase_trial_states[i]; i++)
        if (mase_streq(mase_trial_states[i], name))
            return i;
    return -1;
}

/* Columns of the rows of trials. */
enum { TRIAL_ID, TRIAL_NUMBER, TRIAL_STATE, TRIAL_START, TRIAL_END };

static enum mase_status take_trial(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                   struct mase_err *err)
{
    struct mase_study *s = r->study;
    const int64_t number = r->first + i, id = mase_sql_int(rows, i, TRIAL_ID);
    const int state = find_state(mase_sql_text(rows, i, TRIAL_STATE));
    if (!mase_sql_is_null(rows, i, TRIAL_NUMBER) && mase_sql_int(rows, i, TRIAL_NUMBER) != number)
        return FAIL_TRIAL(r, number, "it has the number %lld",
                          (long long)mase_sql_int(rows, i, TRIAL_NUMBER));
    if (state < 0)
        return FAIL_TRIAL(r, number, "its state is '%s'",
                          mase_sql_text(rows, i, TRIAL_STATE) ? mase_sql_text(rows, i, TRIAL_STATE)
                                                              : "");
    struct mase_trial *t = number < s->trials ? &s->trial[number] : mase_study_add(s);
    if (number < r->known && mase_trial_ended(t))
        return MASE_OK;
    r->fresh[i] = true;
    t->id = id;
    t->state = (enum mase_trial_state)state;
    t->start = read_time(mase_sql_text(rows, i, TRIAL_START));
    t->end = read_time(mase_sql_text(rows, i, TRIAL_END));
    t->user = t->system = NULL;
    t->readings = 0;
    return MASE_OK;
}

/* The trial that a row is about; NULL: one that had ended before. */
static struct mase_trial *find_trial(const struct reader *r, const struct mase_sql_rows *rows,
                                     int64_t i)
{
    const int64_t id = mase_sql_int(rows, i, 0);
    int64_t low = r->first, high = r->study->trials;
    while (low < high) { /* ids rise with numbers */
        const int64_t middle = low + (high - low) / 2;
        if (r->study->trial[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < r->study->trials && r->study->trial[low].id == id;
    return found && r->fresh[low - r->first] ? &r->study->trial[low] : NULL;
}

/* Trials have their parameters in the same order, mostly. */
static int find_dimension(struct reader *r, const char *name)
{
    const struct mase_space *s = &r->study->space;
    const bool right = r->guess < s->count && mase_streq(s->dimension[r->guess].name, name);
    const int at = right ? r->guess : mase_space_find(s, name);
    r->guess = at + 1 < s->count ? at + 1 : 0;
    return at;
}

static enum mase_status take_param(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                   struct mase_err *err)
{
    struct mase_trial *t = find_trial(r, rows, i);
    const char *name = mase_sql_text(rows, i, PARAM_NAME);
    if (!t || !name)
        return MASE_OK;
    const double x = mase_sql_real(rows, i, PARAM_VALUE);
    const int at = find_dimension(r, name);
    if (at < 0)
        return FAIL_TRIAL(r, t->number, "it has a parameter '%s', which the study had not", name);
    const struct mase_dimension *d = &r->study->space.dimension[at];
    if (!isfinite(x) ||
        (d->kind == MASE_DIMENSION_CHOICE && (x < 0 || x > d->high || x != rint(x))))
        return FAIL_TRIAL(r, t->number, "parameter '%s' cannot be %g", name, x);
    if (t->x[at] != x) /* one that is being measured is not written to */
        t->x[at] = x;
    return MASE_OK;
}

/* A number, of which only the finite ones are in their column. */
static bool take_number(double *x, const char *type, double finite)
{
    *x = mase_streq(type, "INF_POS")   ? INFINITY
         : mase_streq(type, "INF_NEG") ? -INFINITY
         : mase_streq(type, "FINITE")  ? finite
                                       : NAN;
    return !isnan(*x) || mase_streq(type, "NAN");
}

static enum mase_status take_value(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                   struct mase_err *err)
{
    struct mase_trial *t = find_trial(r, rows, i);
    const int64_t objective = mase_sql_int(rows, i, 1);
    const char *type = mase_sql_text(rows, i, 3);
    double x;
    if (!t)
        return MASE_OK;
    if (objective < 0 || objective >= r->study->objectives)
        return FAIL_TRIAL(r, t->number, "it has a value of an objective %lld",
                          (long long)objective);
    if (!take_number(&x, type, mase_sql_real(rows, i, 2)))
        return FAIL_TRIAL(r, t->number, "its value %lld is no number", (long long)objective);
    t->value[objective] = x;
    return MASE_OK;
}

/* Rows come by trial and step. */
static enum mase_status take_reading(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                     struct mase_err *err)
{
    struct mase_trial *t = find_trial(r, rows, i);
    const char *type = mase_sql_text(rows, i, 3);
    double x;
    if (!t)
        return MASE_OK;
    if (!take_number(&x, type, mase_sql_real(rows, i, 2)))
        return FAIL_TRIAL(r, t->number, "its reading at step %lld is no number",
                          (long long)mase_sql_int(rows, i, 1));
    if (!t->readings) {
        int64_t count = 1;
        while (i + count < rows->count &&
               mase_sql_int(rows, i + count, 0) == mase_sql_int(rows, i, 0))
            count++;
        t->reading = mase_new_array(&r->study->arena, struct mase_reading, (size_t)count);
    }
    t->reading[t->readings++] = (struct mase_reading){ mase_sql_int(rows, i, 1), x };
    return MASE_OK;
}

static enum mase_status take_user(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                  struct mase_err *err)
{
    struct mase_trial *t = find_trial(r, rows, i);
    (void)err;
    if (t)
        set_attribute(&r->study->arena, &t->user, mase_sql_text(rows, i, ATTRIBUTE_KEY),
                      mase_sql_text(rows, i, ATTRIBUTE_JSON));
    return MASE_OK;
}

static void take_violation(const struct mase_study *s, struct mase_trial *t, const char *key)
{
    const struct mase_value *v = mase_value_get(t->system, key);
    if (mase_starts_with(key, MASE_TRIAL_CONSTRAINT)) {
        const int at = find_constraint(s, key + strlen(MASE_TRIAL_CONSTRAINT));
        if (at >= 0)
            t->violation[at] = mase_value_number(v);
    } else if (mase_streq(key, MASE_TRIAL_CONSTRAINTS)) {
        for (int i = 0; i < v->count && i < s->constraints; i++)
            t->violation[i] = mase_value_number(v->items[i]);
    }
}

static enum mase_status take_system(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                    struct mase_err *err)
{
    struct mase_trial *t = find_trial(r, rows, i);
    const char *key = mase_sql_text(rows, i, ATTRIBUTE_KEY);
    (void)err;
    if (!t || !key)
        return MASE_OK;
    set_attribute(&r->study->arena, &t->system, key, mase_sql_text(rows, i, ATTRIBUTE_JSON));
    take_violation(r->study, t, key);
    return MASE_OK;
}

/* ---- all of it ---- */

typedef enum mase_status take_fn(struct reader *r, const struct mase_sql_rows *rows, int64_t i,
                                 struct mase_err *err);

enum { PARAMS, VALUES, READINGS, USER, SYSTEM, PARTS };

/* Rows of trials from an id on. */
#define OF_TRIALS(columns, table, order)                                                        \
    "SELECT p.trial_id, " columns " FROM " table " p JOIN trials t ON t.trial_id = p.trial_id " \
    "WHERE t.study_id = $1 AND t.trial_id >= $2 ORDER BY " order

static const struct {
    const char *query;
    take_fn *take;
} parts[PARTS] = {
    [PARAMS] = { OF_TRIALS("p.param_name, p.param_value, p.distribution_json", "trial_params",
                           "t.trial_id, p.param_id"),
                 take_param },
    [VALUES] = { OF_TRIALS("p.objective, p.value, p.value_type", "trial_values",
                           "t.trial_id, p.objective"),
                 take_value },
    [READINGS] = { OF_TRIALS("p.step, p.intermediate_value, p.intermediate_value_type",
                             "trial_intermediate_values", "t.trial_id, p.step"),
                   take_reading },
    [USER] = { OF_TRIALS("p.\"key\", p.value_json", "trial_user_attributes",
                         "t.trial_id, p.trial_user_attribute_id"),
               take_user },
    [SYSTEM] = { OF_TRIALS("p.\"key\", p.value_json", "trial_system_attributes",
                           "t.trial_id, p.trial_system_attribute_id"),
                 take_system },
};

/* Trials are asked for before their parts: of one that has ended by then, all parts are there. */
static enum mase_status query(struct reader *r, struct mase_sql_rows *trials,
                              struct mase_sql_rows rows[PARTS], struct mase_err *err)
{
    const struct mase_study *s = r->study;
    while (r->first < s->trials && mase_trial_ended(&s->trial[r->first]))
        r->first++;
    const int64_t low = r->first < s->trials ? s->trial[r->first].id
                        : s->trials          ? s->trial[s->trials - 1].id + 1
                                             : 0;
    *trials = (struct mase_sql_rows){ .arena = &r->arena };
    MASE_TRY(MASE_SQL(r->s->sql, trials, err,
                      "SELECT trial_id, number, state, datetime_start, datetime_complete "
                      "FROM trials WHERE study_id = $1 AND trial_id >= $2 ORDER BY trial_id",
                      MASE_SQL_INT(s->id), MASE_SQL_INT(low)));
    for (int p = 0; p < PARTS; p++) {
        rows[p] = (struct mase_sql_rows){ .arena = &r->arena };
        if (trials->count)
            MASE_TRY(MASE_SQL(r->s->sql, &rows[p], err, parts[p].query, MASE_SQL_INT(s->id),
                              MASE_SQL_INT(low)));
    }
    return MASE_OK;
}

static enum mase_status check_values(const struct reader *r, struct mase_err *err)
{
    for (int64_t n = r->first; n < r->study->trials; n++)
        for (int i = 0; i < r->study->objectives; i++)
            if (r->study->trial[n].state == MASE_TRIAL_COMPLETE &&
                isnan(r->study->trial[n].value[i]))
                return FAIL_TRIAL(r, n, "it is complete without a value of '%s'",
                                  r->study->objective[i].name);
    return MASE_OK;
}

/* A small file may name many trials and many parameters, of which each trial has one. */
static enum mase_status check_size(const struct reader *r, int64_t trials, struct mase_err *err)
{
    const struct mase_study *s = r->study;
    const double numbers =
        (double)(s->trials + trials) * ((double)s->space.count + s->objectives + s->constraints);
    if (numbers > NUMBERS_MOST)
        return mase_fail_in(err, MASE_ELIMIT, r->s->sql->where,
                            "study '%s' has %lld trials of %d parameters, more than are read",
                            s->name, (long long)trials, s->space.count);
    return MASE_OK;
}

static enum mase_status read_trials(struct reader *r, struct mase_err *err)
{
    struct mase_sql_rows trials, rows[PARTS];
    const struct mase_study *s = r->study;
    r->known = s->trials;
    MASE_TRY(query(r, &trials, rows, err));
    if (!s->trials && !s->space.count)
        MASE_TRY(collect_space(r, &rows[PARAMS], err));
    if (!s->trials && !s->constraints)
        collect_constraints(r, &rows[SYSTEM]);
    MASE_TRY(check_size(r, trials.count, err));
    r->fresh = mase_new_array(&r->arena, bool, (size_t)trials.count);
    for (int64_t i = 0; i < trials.count; i++)
        MASE_TRY(take_trial(r, &trials, i, err));
    for (int p = 0; p < PARTS; p++)
        for (int64_t i = 0; i < rows[p].count; i++)
            MASE_TRY(parts[p].take(r, &rows[p], i, err));
    return check_values(r, err);
}

enum mase_status mase_store_update(struct mase_store *s, struct mase_study *study,
                                   struct mase_err *err)
{
    struct reader r = { .s = s, .study = study, .distributions = { .arena = &r.arena } };
    const enum mase_status st = read_trials(&r, err);
    mase_arena_release(&r.arena);
    return st;
}

static enum mase_status read_first(struct mase_store *s, struct mase_study *study, const char *name,
                                   struct mase_err *err)
{
    struct reader r = { .s = s, .study = study };
    MASE_TRY(mase_store_find(s, name, &study->id, err));
    if (!study->id)
        return mase_store_fail_absent(s, name, err);
    study->name = mase_arena_strdup(&study->arena, name);
    const enum mase_status st = read_head(&r, err);
    mase_arena_release(&r.arena);
    return st;
}

static enum mase_status read_study(struct mase_store *s, struct mase_study *study, const char *name,
                                   struct mase_err *err)
{
    if (!study->id)
        MASE_TRY(read_first(s, study, name, err));
    return mase_store_update(s, study, err);
}

enum mase_status mase_store_read(struct mase_store *s, struct mase_study *study, const char *name,
                                 struct mase_err *err)
{
    /* One transaction: another process may write between two queries. */
    MASE_TRY(MASE_SQL_PLAIN(s->sql, NULL, err, s->sql->driver->begin_read));
    const enum mase_status st = read_study(s, study, name, err);
    mase_sql_rollback(s->sql); /* nothing was written */
    return st;
}
