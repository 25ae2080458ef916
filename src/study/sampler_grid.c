/*
 * sampler_grid.c - every combination of given numbers once, in the order given; the last dimension
 * changes fastest. A dimension of which none are given has all of its own.
 */
#include <math.h>
#include <string.h>

#include "study/sampler.h"

struct grid_options {
    const struct mase_value *lists;
};

static const struct mase_opt rows[] = {
    MASE_OPT_VALUE(struct grid_options, lists, "search_space",
                   "lists of numbers or choices by the names of dimensions"),
    { 0 },
};

struct list {
    int64_t count;
    double *number; /* NULL: all of the dimension */
};

struct grid {
    struct mase_sampler base;
    struct list *list; /* (dimensions) */
    double points;
};

static enum mase_status find_choice(double *x, const struct mase_dimension *d,
                                    const struct mase_value *v, struct mase_err *err)
{
    for (int i = 0; d->choices && i < d->choices->count; i++)
        if (mase_value_equal(d->choices->items[i], v)) {
            *x = i;
            return MASE_OK;
        }
    return mase_fail_at(err, MASE_EVALUE, v->at, "%s has no such choice", d->name);
}

static enum mase_status find_number(double *x, const struct mase_dimension *d,
                                    const struct mase_value *v, struct mase_err *err)
{
    if (d->kind == MASE_DIMENSION_CHOICE)
        return find_choice(x, d, v, err);
    const double number = mase_value_number(v);
    *x = mase_dimension_nearest(d, number);
    /* 0.1 + 0.2 is written as 0.3. */
    if (isnan(number) || fabs(*x - number) > 1e-9 * fmax(fabs(number), d->step))
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s has no such number", d->name);
    return MASE_OK;
}

static enum mase_status read_list(struct list *l, const struct mase_dimension *d,
                                  const struct mase_value *v, struct mase_arena *a,
                                  struct mase_err *err)
{
    if (v->kind != MASE_LIST || v->count == 0)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a list, not empty", d->name);
    l->count = v->count;
    l->number = mase_new_array(a, double, (size_t)v->count);
    for (int i = 0; i < v->count; i++)
        MASE_TRY(find_number(&l->number[i], d, v->items[i], err));
    return MASE_OK;
}

static enum mase_status check_names(const struct mase_value *lists, const struct mase_space *space,
                                    struct mase_err *err)
{
    for (int k = 0; lists && k < lists->count; k++) {
        int i = 0;
        while (i < space->count && strcmp(space->dimension[i].name, lists->keys[k]) != 0)
            i++;
        if (i == space->count)
            return mase_fail_at(err, MASE_EVALUE, lists->key_at[k], "the space has no dimension %s",
                                lists->keys[k]);
    }
    return MASE_OK;
}

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct grid *g = (struct grid *)s;
    const struct grid_options *o = s->options;
    const struct mase_space *space = s->setup.space;
    if (o->lists && o->lists->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, o->lists->at, "search_space must be a table");
    MASE_TRY(check_names(o->lists, space, err));
    g->list = mase_new_array(&s->arena, struct list, (size_t)space->count);
    g->points = 1;
    for (int i = 0; i < space->count; i++) {
        const struct mase_dimension *d = &space->dimension[i];
        const struct mase_value *v = mase_value_get(o->lists, d->name);
        const double size = mase_dimension_size(d);
        if (v)
            MASE_TRY(read_list(&g->list[i], d, v, &s->arena, err));
        else if (isinf(size))
            return mase_fail(err, MASE_EVALUE, "%s takes any number: it needs a list or a step",
                             d->name);
        g->points *= v ? (double)g->list[i].count : size;
    }
    return mase_space_check_count(g->points, err);
}

static double trials(const struct mase_sampler *s)
{
    return ((const struct grid *)s)->points;
}

static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    (void)pending, (void)pending_count;
    const struct grid *g = (const struct grid *)s;
    const struct mase_space *space = s->setup.space;
    for (int i = space->count - 1; i >= 0; i--) {
        const struct mase_dimension *d = &space->dimension[i];
        const struct list *l = &g->list[i];
        const int64_t size = l->number ? l->count : (int64_t)mase_dimension_size(d);
        x[i] = l->number ? l->number[n % size] : mase_dimension_number(d, n % size);
        n /= size;
    }
}

const struct mase_sampler_functions mase_sampler_grid = {
    .size = sizeof(struct grid),
    .options = rows,
    .options_size = sizeof(struct grid_options),
    .open = open,
    .trials = trials,
    .ask = ask,
};
