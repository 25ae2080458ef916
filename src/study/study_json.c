/*
 * study_json.c - a study as one value, to be printed as JSON, and back.
 *
 *     {"format": "mase study 1", "name": ..., "objectives": [{"name", "direction"}], "constraints":
 * [...], "parameters": {NAME: {"name": "FloatDistribution", "attributes": {...}}}, "user": {...},
 * "system": {...}, "trials": [{"number", "state", "values", "violations", "params": {NAME: VALUE},
 *                  "readings": [[STEP, VALUE]], "start", "end", "user", "system"}]}
 *
 * Distributions are Optuna's; times are microseconds since 1970; what is not there is left out.
 * Numbers that are not finite are texts.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "study/store.h"

#define FORMAT "mase study 1"

/* ---- out ---- */

static struct mase_value *print_distribution(struct mase_arena *a, const struct mase_dimension *d)
{
    struct mase_str text = { 0 };
    struct mase_value *v;
    struct mase_err err;
    mase_distribution_print(&text, d);
    if (mase_json_parse(&v, a, mase_str_text(&text), text.len, NULL, &err))
        mase_bug("%s", err.msg);
    mase_str_release(&text);
    return v;
}

struct mase_value *mase_trial_param(struct mase_arena *a, const struct mase_dimension *d, double x)
{
    if (isnan(x))
        return mase_value_none(a);
    if (d->kind == MASE_DIMENSION_CHOICE)
        return mase_value_copy(a, d->choices->items[(int)x]);
    return d->kind == MASE_DIMENSION_INT ? mase_value_int(a, (int64_t)x) : mase_value_float(a, x);
}

static void set_numbers(struct mase_arena *a, struct mase_value *to, const char *key,
                        const double *x, int count)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < count && !isnan(x[i]); i++)
        mase_value_push(a, list, mase_value_float(a, x[i]));
    if (count && list->count == count)
        mase_value_set(a, to, key, list);
}

static void set_readings(struct mase_arena *a, struct mase_value *to, const struct mase_trial *t)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < t->readings; i++) {
        struct mase_value *pair = mase_value_list(a);
        mase_value_push(a, pair, mase_value_int(a, t->reading[i].step));
        mase_value_push(a, pair, mase_value_float(a, t->reading[i].value));
        mase_value_push(a, list, pair);
    }
    if (t->readings)
        mase_value_set(a, to, "readings", list);
}

static void set_attributes(struct mase_arena *a, struct mase_value *to, const char *key,
                           const struct mase_value *v)
{
    if (v && v->count)
        mase_value_set(a, to, key, mase_value_copy(a, v));
}

struct mase_value *mase_trial_value(struct mase_arena *a, const struct mase_study *s,
                                    const struct mase_trial *t)
{
    struct mase_value *v = mase_value_table(a), *params = mase_value_table(a);
    mase_value_set(a, v, "number", mase_value_int(a, t->number));
    mase_value_set(a, v, "state", mase_value_string(a, mase_trial_states[t->state]));
    set_numbers(a, v, "values", t->value, s->objectives);
    set_numbers(a, v, "violations", t->violation, s->constraints);
    for (int i = 0; i < s->space.count; i++)
        if (!isnan(t->x[i]))
            mase_value_set(a, params, s->space.dimension[i].name,
                           mase_trial_param(a, &s->space.dimension[i], t->x[i]));
    mase_value_set(a, v, "params", params);
    set_readings(a, v, t);
    if (t->start)
        mase_value_set(a, v, "start", mase_value_int(a, t->start));
    if (t->end)
        mase_value_set(a, v, "end", mase_value_int(a, t->end));
    set_attributes(a, v, "user", t->user);
    set_attributes(a, v, "system", t->system);
    return v;
}

struct mase_value *mase_study_head_value(struct mase_arena *a, const struct mase_study *s)
{
    struct mase_value *v = mase_value_table(a), *objectives = mase_value_list(a);
    struct mase_value *constraints = mase_value_list(a), *parameters = mase_value_table(a);
    mase_value_set(a, v, "format", mase_value_string(a, FORMAT));
    mase_value_set(a, v, "name", mase_value_string(a, s->name));
    for (int i = 0; i < s->objectives; i++) {
        struct mase_value *o = mase_value_table(a);
        const bool maximize = s->objective[i].direction == MASE_MAXIMIZE;
        mase_value_set(a, o, "name", mase_value_string(a, s->objective[i].name));
        mase_value_set(a, o, "direction", mase_value_string(a, maximize ? "maximize" : "minimize"));
        mase_value_push(a, objectives, o);
    }
    for (int i = 0; i < s->constraints; i++)
        mase_value_push(a, constraints, mase_value_string(a, s->constraint[i]));
    for (int i = 0; i < s->space.count; i++)
        mase_value_set(a, parameters, s->space.dimension[i].name,
                       print_distribution(a, &s->space.dimension[i]));
    mase_value_set(a, v, "objectives", objectives);
    mase_value_set(a, v, "constraints", constraints);
    mase_value_set(a, v, "parameters", parameters);
    set_attributes(a, v, "user", s->user);
    set_attributes(a, v, "system", s->system);
    return v;
}

struct mase_value *mase_study_value(struct mase_arena *a, const struct mase_study *s)
{
    struct mase_value *v = mase_study_head_value(a, s), *trials = mase_value_list(a);
    for (int64_t n = 0; n < s->trials; n++)
        mase_value_push(a, trials, mase_trial_value(a, s, &s->trial[n]));
    mase_value_set(a, v, "trials", trials);
    return v;
}

/* ---- in ---- */

static enum mase_status want(const struct mase_value **out, const struct mase_value *v,
                             const char *key, enum mase_value_kind kind, struct mase_err *err)
{
    *out = mase_value_get(v, key);
    if (!*out)
        return mase_fail_at(err, MASE_EPARSE, v->at, "there is no '%s'", key);
    if ((*out)->kind != kind)
        return mase_fail_at(err, MASE_EPARSE, (*out)->at, "'%s' must be a %s", key,
                            mase_value_kind_names[kind]);
    return MASE_OK;
}

/* A number, or the text of one that is not finite. */
static double number_of(const struct mase_value *v)
{
    char *end;
    if (v->kind != MASE_STRING)
        return mase_value_number(v);
    const double x = mase_number_read(v->s, &end);
    return *end ? NAN : x;
}

static enum mase_status read_objectives(struct mase_study *s, const struct mase_value *v,
                                        struct mase_err *err)
{
    const struct mase_value *all, *name, *direction;
    MASE_TRY(want(&all, v, "objectives", MASE_LIST, err));
    s->objectives = all->count;
    s->objective = mase_new_array(&s->arena, struct mase_study_objective, (size_t)s->objectives);
    if (all->count == 0)
        return mase_fail_at(err, MASE_EPARSE, all->at, "a study has at least one objective");
    for (int i = 0; i < s->objectives; i++) {
        MASE_TRY(want(&name, all->items[i], "name", MASE_STRING, err));
        MASE_TRY(want(&direction, all->items[i], "direction", MASE_STRING, err));
        if (!mase_streq(direction->s, "minimize") && !mase_streq(direction->s, "maximize"))
            return mase_fail_at(err, MASE_EPARSE, direction->at,
                                "direction is 'minimize' or 'maximize', not '%s'", direction->s);
        s->objective[i].name = mase_arena_strdup(&s->arena, name->s);
        s->objective[i].direction =
            mase_streq(direction->s, "maximize") ? MASE_MAXIMIZE : MASE_MINIMIZE;
    }
    return MASE_OK;
}

static enum mase_status read_constraints(struct mase_study *s, const struct mase_value *v,
                                         struct mase_err *err)
{
    const struct mase_value *all;
    MASE_TRY(want(&all, v, "constraints", MASE_LIST, err));
    const char **names = mase_new_array(&s->arena, const char *, (size_t)all->count);
    for (int i = 0; i < all->count; i++) {
        if (all->items[i]->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EPARSE, all->items[i]->at, "a constraint is a name");
        names[i] = mase_arena_strdup(&s->arena, all->items[i]->s);
    }
    s->constraint = names;
    s->constraints = all->count;
    return MASE_OK;
}

static enum mase_status read_space(struct mase_study *s, const struct mase_value *v,
                                   struct mase_err *err)
{
    const struct mase_value *all;
    MASE_TRY(want(&all, v, "parameters", MASE_TABLE, err));
    s->space.count = all->count;
    s->space.dimension = mase_new_array(&s->arena, struct mase_dimension, (size_t)all->count);
    for (int i = 0; i < all->count; i++) {
        struct mase_dimension *d = &s->space.dimension[i];
        struct mase_str text = { 0 };
        d->name = mase_arena_strdup(&s->arena, all->keys[i]);
        mase_json_print(&text, all->items[i], 0);
        const enum mase_status st = mase_distribution_read(d, &s->arena, mase_str_text(&text), err);
        mase_str_release(&text);
        if (st)
            return mase_place(err, all->items[i]->at);
    }
    return MASE_OK;
}

static enum mase_status read_numbers(double *x, const struct mase_value *trial, const char *key,
                                     int count, struct mase_err *err)
{
    const struct mase_value *all;
    if (!mase_value_get(trial, key))
        return MASE_OK;
    MASE_TRY(want(&all, trial, key, MASE_LIST, err));
    if (all->count != count)
        return mase_fail_at(err, MASE_EPARSE, all->at, "'%s' has %d numbers, not %d", key,
                            all->count, count);
    for (int i = 0; i < count; i++) {
        x[i] = number_of(all->items[i]);
        if (isnan(x[i]))
            return mase_fail_at(err, MASE_EPARSE, all->items[i]->at, "that is no number");
    }
    return MASE_OK;
}

static double find_param(const struct mase_dimension *d, const struct mase_value *v)
{
    if (d->kind != MASE_DIMENSION_CHOICE)
        return isfinite(mase_value_number(v)) ? mase_value_number(v) : NAN;
    for (int c = 0; c < d->choices->count; c++)
        if (mase_value_equal(d->choices->items[c], v))
            return c;
    return NAN;
}

static enum mase_status read_params(const struct mase_study *s, struct mase_trial *t,
                                    const struct mase_value *v, struct mase_err *err)
{
    const struct mase_value *all;
    MASE_TRY(want(&all, v, "params", MASE_TABLE, err));
    for (int i = 0; i < all->count; i++) {
        const int at = mase_space_find(&s->space, all->keys[i]);
        if (at < 0)
            return mase_fail_at(err, MASE_EPARSE, all->key_at[i], "the study has no parameter '%s'",
                                all->keys[i]);
        t->x[at] = find_param(&s->space.dimension[at], all->items[i]);
        if (isnan(t->x[at]))
            return mase_fail_at(err, MASE_EPARSE, all->items[i]->at, "'%s' cannot have this value",
                                all->keys[i]);
    }
    return MASE_OK;
}

static enum mase_status read_readings(struct mase_study *s, struct mase_trial *t,
                                      const struct mase_value *v, struct mase_err *err)
{
    const struct mase_value *all;
    if (!mase_value_get(v, "readings"))
        return MASE_OK;
    MASE_TRY(want(&all, v, "readings", MASE_LIST, err));
    t->reading = mase_new_array(&s->arena, struct mase_reading, (size_t)all->count);
    for (int i = 0; i < all->count; i++) {
        const struct mase_value *pair = all->items[i];
        if (pair->kind != MASE_LIST || pair->count != 2 || pair->items[0]->kind != MASE_INT ||
            (i && pair->items[0]->i <= t->reading[i - 1].step))
            return mase_fail_at(err, MASE_EPARSE, pair->at,
                                "a reading is a step, above the one before, and a value");
        t->reading[i] = (struct mase_reading){ pair->items[0]->i, number_of(pair->items[1]) };
    }
    t->readings = all->count;
    return MASE_OK;
}

static int64_t read_time(const struct mase_value *v, const char *key)
{
    const struct mase_value *time = mase_value_get(v, key);
    return time && time->kind == MASE_INT && time->i > 0 ? time->i : 0;
}

static const struct mase_value *read_attributes(struct mase_study *s, const struct mase_value *v,
                                                const char *key)
{
    const struct mase_value *table = mase_value_get(v, key);
    return table && table->kind == MASE_TABLE ? mase_value_copy(&s->arena, table) : NULL;
}

static int find_state(const char *name)
{
    for (int i = 0; mase_trial_states[i]; i++)
        if (mase_streq(mase_trial_states[i], name))
            return i;
    return -1;
}

static enum mase_status read_trial(struct mase_study *s, const struct mase_value *v,
                                   struct mase_err *err)
{
    const struct mase_value *number, *name;
    MASE_TRY(want(&number, v, "number", MASE_INT, err));
    MASE_TRY(want(&name, v, "state", MASE_STRING, err));
    const int state = find_state(name->s);
    if (number->i != s->trials)
        return mase_fail_at(err, MASE_EPARSE, number->at, "trial %lld stands at place %lld",
                            (long long)number->i, (long long)s->trials);
    if (state < 0)
        return mase_fail_at(err, MASE_EPARSE, name->at, "there is no state '%s'", name->s);
    struct mase_trial *t = mase_study_add(s);
    t->state = (enum mase_trial_state)state;
    MASE_TRY(read_numbers(t->value, v, "values", s->objectives, err));
    MASE_TRY(read_numbers(t->violation, v, "violations", s->constraints, err));
    MASE_TRY(read_params(s, t, v, err));
    MASE_TRY(read_readings(s, t, v, err));
    t->start = read_time(v, "start");
    t->end = read_time(v, "end");
    t->user = read_attributes(s, v, "user");
    t->system = read_attributes(s, v, "system");
    if (t->state == MASE_TRIAL_COMPLETE && isnan(t->value[0]))
        return mase_fail_at(err, MASE_EPARSE, v->at, "trial %lld is complete without values",
                            (long long)t->number);
    return MASE_OK;
}

enum mase_status mase_study_from_value(struct mase_study *s, const struct mase_value *v,
                                       struct mase_err *err)
{
    const struct mase_value *format, *name, *trials;
    MASE_TRY(want(&format, v, "format", MASE_STRING, err));
    if (!mase_streq(format->s, FORMAT))
        return mase_fail_at(err, MASE_EPARSE, format->at, "the format is '%s', not '" FORMAT "'",
                            format->s);
    MASE_TRY(want(&name, v, "name", MASE_STRING, err));
    s->name = mase_arena_strdup(&s->arena, name->s);
    MASE_TRY(read_objectives(s, v, err));
    MASE_TRY(read_constraints(s, v, err));
    MASE_TRY(read_space(s, v, err));
    s->user = read_attributes(s, v, "user");
    s->system = read_attributes(s, v, "system");
    MASE_TRY(want(&trials, v, "trials", MASE_LIST, err));
    for (int i = 0; i < trials->count; i++)
        MASE_TRY(read_trial(s, trials->items[i], err));
    return MASE_OK;
}
