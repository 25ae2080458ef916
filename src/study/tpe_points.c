/*
 * tpe_points.c - where the points of results lie on the axes of mixtures.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "study/portable.h"
#include "study/sampler.h"
#include "study/tpe.h"

/* ---- axes ---- */

static double on_line(const struct mase_dimension *d, double x)
{
    return d->log ? mase_natural_log(x) : x;
}

static void open_axis(struct mase_tpe_axis *a, const struct mase_dimension *d)
{
    const double size = mase_dimension_size(d);
    const bool choice = d->kind == MASE_DIMENSION_CHOICE;
    const double step = choice ? 1 : d->step, half = isfinite(size) ? step / 2 : 0;
    a->dimension = d;
    a->kind = choice && !d->ordered      ? MASE_TPE_CHOICE
              : size <= MASE_TPE_CLASSES ? MASE_TPE_TABLE
                                         : MASE_TPE_LINE;
    a->classes = a->kind == MASE_TPE_LINE ? 0 : (int)size;
    a->low = on_line(d, d->low - half);
    a->high = on_line(d, d->high + half);
    if (a->low == a->high) { /* one number: any width will do */
        a->low -= 0.5;
        a->high += 0.5;
    }
    for (int c = 0; c < a->classes && a->kind == MASE_TPE_TABLE; c++)
        a->at[c] = on_line(d, mase_dimension_number(d, c));
}

double mase_tpe_number(const struct mase_tpe_axis *a, double place)
{
    const struct mase_dimension *d = a->dimension;
    if (a->kind != MASE_TPE_LINE)
        return mase_dimension_number(d, (int64_t)place);
    return mase_dimension_nearest(d, d->log ? mase_study_exp(place) : place);
}

double mase_tpe_place(const struct mase_tpe_axis *a, double number)
{
    const struct mase_dimension *d = a->dimension;
    const double x = mase_dimension_nearest(d, number);
    if (a->kind == MASE_TPE_LINE)
        return on_line(d, x);
    return a->classes == 1 ? 0
                           : rint((x - d->low) / (d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step));
}

/* ---- points ---- */

void mase_tpe_points_open(struct mase_tpe_points *p, struct mase_arena *a,
                          const struct mase_history *h)
{
    const struct mase_space *space = h->setup->space;
    p->history = h;
    p->axis = mase_new_array(a, struct mase_tpe_axis, (size_t)space->count);
    for (int d = 0; d < space->count; d++)
        open_axis(&p->axis[d], &space->dimension[d]);
}

void mase_tpe_points_close(struct mase_tpe_points *p)
{
    for (int d = 0; p->axis && d < p->history->setup->space->count; d++) {
        mase_xfree(p->axis[d].place);
        mase_xfree(p->axis[d].class_of);
        mase_xfree(p->axis[d].sigma);
        mase_xfree(p->axis[d].spread);
        mase_xfree(p->axis[d].sorted);
    }
}

static void make_room(struct mase_tpe_points *p, int64_t wanted)
{
    if (wanted <= p->cap)
        return;
    p->cap = wanted + wanted / 2 + 64;
    const size_t bytes = (size_t)p->cap * sizeof(double);
    for (int d = 0; d < p->history->setup->space->count; d++) {
        struct mase_tpe_axis *a = &p->axis[d];
        if (a->kind != MASE_TPE_LINE) {
            a->class_of = mase_xrealloc(a->class_of, (size_t)p->cap * sizeof *a->class_of);
            continue;
        }
        a->place = mase_xrealloc(a->place, bytes);
        a->sigma = mase_xrealloc(a->sigma, bytes);
        a->spread = mase_xrealloc(a->spread, bytes);
        a->sorted = mase_xrealloc(a->sorted, (size_t)p->cap * sizeof *a->sorted);
    }
}

/* A trial without such a dimension counts as at its beginning: no study of ours has one. */
static void put(struct mase_tpe_axis *a, int64_t i, double number)
{
    const double place = mase_tpe_place(a, isnan(number) ? a->dimension->low : number);
    if (a->kind != MASE_TPE_LINE) {
        a->class_of[i] = (uint16_t)place;
        return;
    }
    a->place[i] = place;
    a->sigma[i] = NAN;
}

static void sort_in(struct mase_tpe_axis *a, int64_t count)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (a->place[a->sorted[middle]] <= a->place[count])
            low = middle + 1;
        else
            high = middle;
    }
    memmove(a->sorted + low + 1, a->sorted + low, (size_t)(count - low) * sizeof *a->sorted);
    a->sorted[low] = (int32_t)count;
}

void mase_tpe_points_add(struct mase_tpe_points *p)
{
    const int n = p->history->setup->space->count;
    const double *x = p->history->x + p->count * n;
    make_room(p, p->count + 1);
    for (int d = 0; d < n; d++) {
        put(&p->axis[d], p->count, x[d]);
        if (p->axis[d].kind == MASE_TPE_LINE)
            sort_in(&p->axis[d], p->count);
    }
    p->count++;
    p->pending = 0;
}

void mase_tpe_points_pend(struct mase_tpe_points *p, const double *const *pending, int64_t count)
{
    make_room(p, p->count + count);
    for (int d = 0; d < p->history->setup->space->count; d++)
        for (int64_t i = 0; i < count; i++)
            put(&p->axis[d], p->count + i, pending[i][d]);
    p->pending = count;
}
