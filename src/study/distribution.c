/*
 * distribution.c - dimensions as Optuna's distributions: {"name": ..., "attributes": {...}}.
 */
#include <math.h>

#include "study/store.h"

/* Names of Optuna 3.0 and later, and those before, which it still reads. */
static const struct kind {
    const char *name;
    enum mase_dimension_kind kind;
    const char *step; /* the attribute; NULL: none */
    bool log;
} kinds[] = {
    { "FloatDistribution", MASE_DIMENSION_FLOAT, "step", false },
    { "IntDistribution", MASE_DIMENSION_INT, "step", false },
    { "CategoricalDistribution", MASE_DIMENSION_CHOICE, NULL, false },
    { "UniformDistribution", MASE_DIMENSION_FLOAT, NULL, false },
    { "LogUniformDistribution", MASE_DIMENSION_FLOAT, NULL, true },
    { "DiscreteUniformDistribution", MASE_DIMENSION_FLOAT, "q", false },
    { "IntUniformDistribution", MASE_DIMENSION_INT, "step", false },
    { "IntLogUniformDistribution", MASE_DIMENSION_INT, "step", true },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_scalar(const struct mase_value *v)
{
    return v->kind == MASE_NONE || v->kind == MASE_BOOL || v->kind == MASE_INT ||
           v->kind == MASE_FLOAT || v->kind == MASE_STRING;
}

static enum mase_status read_choices(struct mase_dimension *d, const struct mase_value *attributes,
                                     struct mase_err *err)
{
    d->choices = mase_value_get(attributes, "choices");
    if (!d->choices || d->choices->kind != MASE_LIST || d->choices->count == 0)
        return mase_fail(err, MASE_EPARSE, "a distribution has no choices");
    d->ordered = true;
    for (int i = 0; i < d->choices->count; i++) {
        const struct mase_value *v = d->choices->items[i];
        if (!is_scalar(v))
            return mase_fail(err, MASE_EPARSE, "a choice is a %s", mase_value_kind_names[v->kind]);
        if (isnan(mase_value_number(v)) ||
            (i && mase_value_number(v) <= mase_value_number(d->choices->items[i - 1])))
            d->ordered = false;
    }
    d->high = d->choices->count - 1;
    return MASE_OK;
}

static enum mase_status read_range(struct mase_dimension *d, const struct kind *k,
                                   const struct mase_value *attributes, struct mase_err *err)
{
    const struct mase_value *log = mase_value_get(attributes, "log");
    const double step = k->step ? mase_value_number(mase_value_get(attributes, k->step)) : NAN;
    d->low = mase_value_number(mase_value_get(attributes, "low"));
    d->high = mase_value_number(mase_value_get(attributes, "high"));
    d->log = k->log || (log && log->kind == MASE_BOOL && log->b);
    d->step = step > 0 ? step : d->kind == MASE_DIMENSION_INT ? 1 : 0;
    if (!isfinite(d->low) || !isfinite(d->high) || d->low > d->high || !isfinite(d->step))
        return mase_fail(err, MASE_EPARSE, "a distribution has no range of finite numbers");
    if (d->log && d->low <= 0)
        return mase_fail(err, MASE_EPARSE, "a logarithmic distribution begins at %g", d->low);
    if (d->log)
        d->step = d->kind == MASE_DIMENSION_INT;
    return MASE_OK;
}

enum mase_status mase_distribution_read(struct mase_dimension *d, struct mase_arena *a,
                                        const char *json, struct mase_err *err)
{
    struct mase_value *v;
    size_t size = 0;
    while (json[size])
        size++;
    MASE_TRY(mase_json_parse(&v, a, json, size, NULL, err));
    const struct mase_value *name = mase_value_get(v, "name");
    if (!name || name->kind != MASE_STRING)
        return mase_fail(err, MASE_EPARSE, "a distribution has no name");
    for (int i = 0; i < KINDS; i++) {
        const struct mase_value *attributes = mase_value_get(v, "attributes");
        if (!mase_streq(kinds[i].name, name->s))
            continue;
        *d = (struct mase_dimension){ .name = d->name, .kind = kinds[i].kind };
        return d->kind == MASE_DIMENSION_CHOICE ? read_choices(d, attributes, err)
                                                : read_range(d, &kinds[i], attributes, err);
    }
    return mase_fail(err, MASE_EUNSUPPORTED, "distributions called '%s' are not known", name->s);
}

static struct mase_value *number(struct mase_arena *a, const struct mase_dimension *d, double x)
{
    return d->kind == MASE_DIMENSION_INT ? mase_value_int(a, (int64_t)x) : mase_value_float(a, x);
}

void mase_distribution_print(struct mase_str *out, const struct mase_dimension *d)
{
    struct mase_arena a = { 0 };
    struct mase_value *v = mase_value_table(&a), *attributes = mase_value_table(&a);
    mase_value_set(&a, v, "name", mase_value_string(&a, kinds[d->kind].name));
    mase_value_set(&a, v, "attributes", attributes);
    if (d->kind == MASE_DIMENSION_CHOICE) {
        mase_value_set(&a, attributes, "choices", mase_value_copy(&a, d->choices));
    } else {
        const bool none = d->kind == MASE_DIMENSION_FLOAT && d->step <= 0;
        mase_value_set(&a, attributes, "step", none ? mase_value_none(&a) : number(&a, d, d->step));
        mase_value_set(&a, attributes, "low", number(&a, d, d->low));
        mase_value_set(&a, attributes, "high", number(&a, d, d->high));
        mase_value_set(&a, attributes, "log", mase_value_bool(&a, d->log));
    }
    mase_json_print(out, v, 0);
    mase_arena_release(&a);
}

enum mase_status mase_dimension_join(struct mase_dimension *d, const struct mase_dimension *e,
                                     struct mase_err *err)
{
    const bool choice = d->kind == MASE_DIMENSION_CHOICE;
    if (choice != (e->kind == MASE_DIMENSION_CHOICE))
        return mase_fail(err, MASE_EPARSE, "'%s' is a choice in one trial, a number in another",
                         d->name);
    if (choice)
        return mase_value_equal(d->choices, e->choices)
                   ? MASE_OK
                   : mase_fail(err, MASE_EPARSE, "'%s' has other choices in another trial",
                               d->name);
    if (e->kind == MASE_DIMENSION_FLOAT)
        d->kind = MASE_DIMENSION_FLOAT;
    /* One step serves both if each begins on a step of the other. */
    if (d->step != e->step || fmod(e->low - d->low, d->step) != 0)
        d->step = d->kind == MASE_DIMENSION_INT;
    d->low = fmin(d->low, e->low);
    d->high = fmax(d->high, e->high);
    d->log = d->log && e->log;
    return MASE_OK;
}
