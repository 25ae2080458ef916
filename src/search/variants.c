/*
 * variants.c - networks by the arguments of their constructor.
 */
#include "search/variants.h"

#include <mase/progress.h>

int mase_variants_index(const struct mase_variants *v, const struct mase_space *space,
                        const double *x)
{
    int index = 0;
    for (int i = v->arguments.first; i < v->arguments.first + v->arguments.count; i++)
        index = index * (int)mase_dimension_size(&space->dimension[i]) +
                (int)(x[i] - space->dimension[i].low);
    return index;
}

/* The inverse of mase_variants_index, in x. */
static void set_point(double *x, const struct mase_variants *v, const struct mase_space *space,
                      int index)
{
    for (int i = v->arguments.first + v->arguments.count - 1; i >= v->arguments.first; i--) {
        const int size = (int)mase_dimension_size(&space->dimension[i]);
        x[i] = space->dimension[i].low + index % size;
        index /= size;
    }
}

static enum mase_status count_variants(struct mase_variants *v, const struct mase_space *space,
                                       const struct mase_value *model, struct mase_err *err)
{
    double count = 1;
    for (int i = v->arguments.first; i < v->arguments.first + v->arguments.count; i++) {
        const struct mase_dimension *d = &space->dimension[i];
        if (d->kind == MASE_DIMENSION_FLOAT || (d->kind == MASE_DIMENSION_INT && d->step != 1))
            return mase_fail_at(err, MASE_EVALUE, model->at,
                                "%s must be a list of choices, or a range of integers", d->name);
        count *= mase_dimension_size(d);
    }
    if (count > MASE_VARIANTS_MOST)
        return mase_fail_at(err, MASE_ELIMIT, model->at,
                            "the arguments of the model have %g combinations, each a network that "
                            "is opened; at most %d",
                            count, MASE_VARIANTS_MOST);
    v->count = (int)count;
    return MASE_OK;
}

static enum mase_status open_one(struct mase_variants *v, int index, const struct mase_space *space,
                                 const struct mase_search_opts *o, const struct mase_value *model,
                                 struct mase_err *err)
{
    struct mase_arena a = { 0 };
    double *x = mase_new_array(&a, double, (size_t)space->count);
    struct mase_value *arguments = mase_value_table(&a);
    set_point(x, v, space, index);
    mase_option_space_set(arguments, &a, &v->arguments, space, x);
    const enum mase_status st = o->open_model(o->open_data, arguments, &v->graph[index], err);
    mase_arena_release(&a);
    return st ? mase_place(err, model->at) : MASE_OK;
}

enum mase_status mase_variants_open(struct mase_variants *v, struct mase_space *space,
                                    struct mase_arena *a, const struct mase_search_opts *o,
                                    const struct mase_value *model, struct mase_err *err)
{
    struct mase_progress bar;
    enum mase_status st = MASE_OK;
    *v = (struct mase_variants){ .owned = model != NULL };
    MASE_TRY(mase_option_space_read(&v->arguments, space, a, "model", model, err));
    if (!model) {
        v->graph = mase_new_array(a, struct mase_graph *, 1);
        v->graph[v->count++] = o->graph;
        return MASE_OK;
    }
    if (!o->open_model)
        return mase_fail_at(err, MASE_EUNSUPPORTED, model->at,
                            "this network has no constructor whose arguments could vary");
    MASE_TRY(count_variants(v, space, model, err));
    v->graph = mase_new_array(a, struct mase_graph *, (size_t)v->count);
    mase_progress_start(&bar, "opening networks", v->count);
    for (int i = 0; i < v->count && !st; i++) {
        st = open_one(v, i, space, o, model, err);
        mase_progress_step(&bar, i + 1);
    }
    mase_progress_end(&bar);
    return st;
}

void mase_variants_close(struct mase_variants *v)
{
    for (int i = 0; v->owned && i < v->count && v->graph; i++)
        mase_graph_free(v->graph[i]);
    *v = (struct mase_variants){ 0 };
}
