/*
 * study.c - the trials of a study: added, read into its space, hashed.
 */
#include "study/study_parts.h"

#include <math.h>
#include <string.h>

#include <mase/file.h>

#include "base/alloc.h"

const char *const mase_trial_states[] = {
    "RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING", NULL
};

bool mase_trial_ended(const struct mase_trial *t)
{
    return t->state != MASE_TRIAL_RUNNING && t->state != MASE_TRIAL_WAITING;
}

void mase_study_release(struct mase_study *s)
{
    mase_arena_release(&s->arena);
    *s = (struct mase_study){ 0 };
}

double *mase_study_numbers(struct mase_study *s, int n)
{
    double *x = mase_new_array(&s->arena, double, (size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = NAN;
    return x;
}

static void grow(struct mase_study *s)
{
    const int64_t cap = s->cap ? 2 * s->cap : 64;
    struct mase_trial *t = mase_new_array(&s->arena, struct mase_trial, (size_t)cap);
    if (s->trials)
        memcpy(t, s->trial, (size_t)s->trials * sizeof *t);
    s->trial = t;
    s->cap = cap;
}

struct mase_trial *mase_study_add(struct mase_study *s)
{
    if (s->trials == s->cap)
        grow(s);
    const struct mase_trial t = { .number = s->trials,
                                  .state = MASE_TRIAL_RUNNING,
                                  .x = mase_study_numbers(s, s->space.count),
                                  .value = mase_study_numbers(s, s->objectives),
                                  .violation = mase_study_numbers(s, s->constraints) };
    s->trial[s->trials] = t;
    return &s->trial[s->trials++];
}

int mase_space_find(const struct mase_space *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (mase_streq(s->dimension[i].name, name))
            return i;
    return -1;
}

/* ---- a space of another order ---- */

static struct mase_space copy_space(struct mase_arena *a, const struct mase_space *s)
{
    struct mase_space copy = {
        s->count, mase_arena_memdup(a, s->dimension, (size_t)s->count * sizeof *s->dimension)
    };
    for (int i = 0; i < s->count; i++) {
        struct mase_dimension *d = &copy.dimension[i];
        d->name = mase_arena_strdup(a, d->name);
        if (d->choices)
            d->choices = mase_value_copy(a, d->choices);
    }
    return copy;
}

/* A choice's index is its place in a list, so the lists must be equal. */
static enum mase_status check_dimension(const struct mase_dimension *has,
                                        const struct mase_dimension *d, struct mase_err *err)
{
    const bool choice = d->kind == MASE_DIMENSION_CHOICE;
    if (choice != (has->kind == MASE_DIMENSION_CHOICE))
        return mase_fail(err, MASE_EVALUE, "the study has '%s' as %s, not as %s", d->name,
                         choice ? "a number" : "a choice", choice ? "a choice" : "a number");
    if (choice && !mase_value_equal(has->choices, d->choices))
        return mase_fail(err, MASE_EVALUE, "the study has other choices of '%s'", d->name);
    return MASE_OK;
}

static enum mase_status match(int *from, const struct mase_study *s, const struct mase_space *space,
                              struct mase_err *err)
{
    for (int i = 0; i < space->count; i++) {
        const struct mase_dimension *d = &space->dimension[i];
        from[i] = mase_space_find(&s->space, d->name);
        if (from[i] >= 0)
            MASE_TRY(check_dimension(&s->space.dimension[from[i]], d, err));
    }
    for (int i = 0; i < s->space.count; i++)
        if (mase_space_find(space, s->space.dimension[i].name) < 0)
            return mase_fail(err, MASE_EVALUE, "the study has a parameter '%s', the space has not",
                             s->space.dimension[i].name);
    return MASE_OK;
}

static bool is_same_order(const int *from, const struct mase_study *s, int count)
{
    for (int i = 0; i < count; i++)
        if (from[i] != i)
            return false;
    return count == s->space.count;
}

enum mase_status mase_study_take_space(struct mase_study *s, const struct mase_space *space,
                                       struct mase_err *err)
{
    if (space == &s->space)
        return MASE_OK;
    int *from = mase_new_array(&s->arena, int, (size_t)space->count);
    MASE_TRY(match(from, s, space, err));
    const struct mase_space copy = copy_space(&s->arena, space);
    for (int64_t n = 0; n < s->trials && !is_same_order(from, s, space->count); n++) {
        double *x = mase_study_numbers(s, space->count);
        for (int i = 0; i < space->count; i++)
            x[i] = from[i] >= 0 ? s->trial[n].x[from[i]] : NAN;
        s->trial[n].x = x;
    }
    s->space = copy;
    return MASE_OK;
}

/* ---- the hash ---- */

static void add_number(struct mase_str *out, double x)
{
    const double plain = isnan(x) ? NAN : x + 0.0; /* one NaN, one zero */
    uint64_t bits;
    memcpy(&bits, &plain, sizeof bits);
    for (int i = 0; i < 64; i += 8)
        mase_str_addc(out, (char)(bits >> i));
}

static void add_numbers(struct mase_str *out, const double *x, int count)
{
    for (int i = 0; i < count; i++)
        add_number(out, x ? x[i] : NAN);
}

static void add_trial(struct mase_str *out, const struct mase_study *s, const struct mase_trial *t)
{
    mase_str_addc(out, (char)t->state);
    add_numbers(out, t->x, s->space.count);
    add_numbers(out, t->value, s->objectives);
    add_numbers(out, t->violation, s->constraints);
    add_number(out, t->readings);
    for (int i = 0; i < t->readings; i++) {
        add_number(out, (double)t->reading[i].step);
        add_number(out, t->reading[i].value);
    }
}

void mase_study_hash(char hex[65], const struct mase_study *s)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < s->space.count; i++)
        mase_str_addn(&text, s->space.dimension[i].name, strlen(s->space.dimension[i].name) + 1);
    for (int64_t n = 0; n < s->trials; n++)
        add_trial(&text, s, &s->trial[n]);
    mase_sha256(hex, mase_str_text(&text), text.len);
    mase_str_release(&text);
}
