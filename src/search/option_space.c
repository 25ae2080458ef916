/*
 * option_space.c - lists and ranges of a configuration as dimensions.
 */
#include "search/option_space.h"

#include <math.h>
#include <string.h>

/* ---- adding ---- */

void mase_space_add(struct mase_space *space, struct mase_arena *a, struct mase_dimension d)
{
    const size_t old = (size_t)space->count;
    if (!(old & (old - 1))) { /* its room is the next power of two */
        struct mase_dimension *more = mase_new_array(a, struct mase_dimension, old ? 2 * old : 1);
        if (old)
            memcpy(more, space->dimension, old * sizeof *more);
        space->dimension = more;
    }
    space->dimension[space->count++] = d;
}

/* Numbers that rise: then neighbours are alike. */
static bool rises(const struct mase_value *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct mase_value *v = list->items[i];
        if ((v->kind != MASE_INT && v->kind != MASE_FLOAT) ||
            (i && mase_value_number(list->items[i - 1]) >= mase_value_number(v)))
            return false;
    }
    return true;
}

void mase_space_add_choices(struct mase_space *space, struct mase_arena *a, const char *name,
                            const struct mase_value *list)
{
    mase_space_add(space, a,
                   (struct mase_dimension){ .name = name,
                                            .kind = MASE_DIMENSION_CHOICE,
                                            .high = list->count - 1,
                                            .step = 1,
                                            .choices = list,
                                            .ordered = rises(list) });
}

/* ---- reading ---- */

struct range {
    double low, high, step;
    bool log;
};
static const struct mase_opt range_rows[] = {
    MASE_OPT_FLOAT(struct range, low, "low", NAN, 0, 0, "the least number"),
    MASE_OPT_FLOAT(struct range, high, "high", NAN, 0, 0, "the largest number"),
    MASE_OPT_FLOAT(struct range, step, "step", 0, 0, 0x1p53, "between two numbers; 0: any"),
    MASE_OPT_BOOL(struct range, log, "log", false, "drawn evenly by the logarithm"),
    { 0 },
};

static bool are_integers(const struct mase_value *range)
{
    for (int i = 0; i < range->count; i++)
        if (range->items[i]->kind == MASE_FLOAT)
            return false;
    return true;
}

static enum mase_status add_range(struct mase_space *space, struct mase_arena *a, const char *name,
                                  const struct mase_value *v, struct mase_err *err)
{
    struct range r;
    const bool integers = are_integers(v);
    MASE_TRY(mase_opts_bind(&r, sizeof r, range_rows, v, a, err));
    if (!(r.low <= r.high) || !isfinite(r.low) || !isfinite(r.high))
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "%s: a range needs low and high, low not above high", name);
    if (r.log && (r.low <= 0 || r.step > (integers ? 1 : 0)))
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s: log needs numbers above 0, and no step",
                            name);
    mase_space_add(
        space, a,
        (struct mase_dimension){ .name = name,
                                 .kind = integers ? MASE_DIMENSION_INT : MASE_DIMENSION_FLOAT,
                                 .low = r.low,
                                 .high = r.high,
                                 .step = integers && r.step == 0 ? 1 : r.step,
                                 .log = r.log });
    return MASE_OK;
}

static bool is_scalar(const struct mase_value *v)
{
    return v->kind == MASE_NONE || v->kind == MASE_BOOL || v->kind == MASE_INT ||
           v->kind == MASE_FLOAT || v->kind == MASE_STRING;
}

static enum mase_status add_list(struct mase_space *space, struct mase_arena *a, const char *name,
                                 const struct mase_value *list, struct mase_err *err)
{
    for (int i = 0; i < list->count; i++)
        if (!is_scalar(list->items[i]))
            return mase_fail_at(err, MASE_EVALUE, list->items[i]->at,
                                "%s: a choice must be a number, a text, true, false or \"NA\", not "
                                "a %s",
                                name, mase_value_kind_names[list->items[i]->kind]);
    mase_space_add_choices(space, a, name, list);
    return MASE_OK;
}

static enum mase_status add_key(struct mase_space *space, struct mase_arena *a, const char *name,
                                const struct mase_value *v, struct mase_err *err)
{
    if (v->kind == MASE_LIST && v->count)
        return add_list(space, a, name, v, err);
    if (v->kind == MASE_TABLE)
        return add_range(space, a, name, v, err);
    return mase_fail_at(err, MASE_EVALUE, v->at,
                        "%s must be a list of choices with at least one, or a range such as "
                        "{ low = 1e-4, high = 1e-1, log = true }",
                        name);
}

enum mase_status mase_option_space_read(struct mase_option_space *o, struct mase_space *space,
                                        struct mase_arena *a, const char *prefix,
                                        const struct mase_value *table, struct mase_err *err)
{
    *o = (struct mase_option_space){ .first = space->count };
    for (int i = 0; table && i < table->count; i++)
        MASE_TRY(add_key(space, a, mase_arena_printf(a, "%s/%s", prefix, table->keys[i]),
                         table->items[i], err));
    o->count = space->count - o->first;
    o->key = table ? table->keys : NULL;
    return MASE_OK;
}

/* ---- points ---- */

void mase_option_space_set(struct mase_value *table, struct mase_arena *a,
                           const struct mase_option_space *o, const struct mase_space *space,
                           const double *x)
{
    for (int i = 0; i < o->count; i++) {
        const struct mase_dimension *d = &space->dimension[o->first + i];
        const double at = x[o->first + i];
        mase_value_set(a, table, o->key[i],
                       d->kind == MASE_DIMENSION_CHOICE
                           ? mase_value_copy(a, d->choices->items[(int)at])
                       : d->kind == MASE_DIMENSION_INT ? mase_value_int(a, (int64_t)at)
                                                       : mase_value_float(a, at));
    }
}
