/*
 * sweep_seeds.c - mean and spread of results over seeds, and the options that all configurations
 * share.
 */
#include <math.h>

#include "base/number.h"
#include "train/sweep_parts.h"

/* ---- configurations that differ in the seed ---- */

int mase_sweep_seed_axis(const struct mase_sweep *s)
{
    for (int i = 0; i < s->axis_count; i++)
        if (mase_streq(s->axes[i].key, "seed") && s->axes[i].values->count > 1)
            return i;
    return -1;
}

bool mase_sweep_has_seeds(const struct mase_sweep *s)
{
    return mase_sweep_seed_axis(s) >= 0;
}

int mase_sweep_stride(const struct mase_sweep *s, int axis)
{
    int stride = 1;
    for (int i = axis + 1; i < s->axis_count; i++)
        stride *= s->axes[i].values->count;
    return stride;
}

bool mase_sweep_is_first_seed(const struct mase_sweep *s, int point)
{
    const int axis = mase_sweep_seed_axis(s);
    return axis < 0 || point / mase_sweep_stride(s, axis) % s->axes[axis].values->count == 0;
}

/* ---- mean and spread ---- */

/* The sample standard deviation, which divides by n - 1. */
struct mase_sweep_spread mase_sweep_spread(const struct mase_sweep *s, int first, size_t offset)
{
    const int axis = mase_sweep_seed_axis(s);
    const int count = axis < 0 ? 1 : s->axes[axis].values->count;
    const int stride = axis < 0 ? 0 : mase_sweep_stride(s, axis);
    struct mase_sweep_spread v = { .mean = NAN, .deviation = NAN };
    double sum = 0, squares = 0;
    for (int k = 0; k < count; k++) {
        const struct mase_sweep_point *p = &s->points[first + k * stride];
        sum += p->done ? *(const double *)((const char *)&p->result + offset) : 0;
        v.n += p->done;
    }
    if (v.n)
        v.mean = sum / v.n;
    for (int k = 0; k < count; k++) {
        const struct mase_sweep_point *p = &s->points[first + k * stride];
        const double d =
            p->done ? *(const double *)((const char *)&p->result + offset) - v.mean : 0;
        squares += d * d;
    }
    if (v.n > 1)
        v.deviation = sqrt(squares / (v.n - 1));
    return v;
}

static const struct {
    const char *part, *of; /* "val" and "loss"; NULL: the task's score */
    size_t offset;
} columns[] = {
#define RESULT(f) offsetof(struct mase_sweep_result, f)
    { "train", "loss", RESULT(train_loss) }, { "val", "loss", RESULT(val_loss) },
    { "val", NULL, RESULT(val_score) },      { "test", "loss", RESULT(test_loss) },
    { "test", NULL, RESULT(test_score) },
#undef RESULT
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };
_Static_assert(MASE_SWEEP_MAX_AXES - 1 + 1 + 2 * COLUMNS <= MASE_TABLE_MAX_COLUMNS,
               "a table has no room");

static void set_number(struct mase_table *t, int row, int column, double x)
{
    struct mase_str text = { 0 };
    if (!isnan(x))
        mase_repr_float(&text, x);
    mase_table_set(t, row, column, mase_str_text(&text));
    mase_str_release(&text);
}

/* Mean and deviation; the mean alone if there is no deviation; nothing if there is no mean. */
static void set_both(struct mase_table *t, int row, int column, const struct mase_sweep_spread *v)
{
    if (!v->n)
        mase_table_set(t, row, column, "-");
    else if (v->n == 1)
        mase_table_setf(t, row, column, "%.4f", v->mean);
    else
        mase_table_setf(t, row, column, "%.4f ± %.4f", v->mean, v->deviation);
}

static void add_row(struct mase_table *t, const struct mase_sweep *s, int first, bool exact)
{
    const int row = mase_table_row(t), seeds = mase_sweep_seed_axis(s);
    int at = 0;
    for (int axis = 0; axis < s->axis_count; axis++) {
        struct mase_str text = { 0 };
        if (axis == seeds)
            continue;
        mase_value_str(&text, s->points[first].value[axis]);
        mase_table_set(t, row, at++, mase_str_text(&text));
        mase_str_release(&text);
    }
    const int n = at++;
    for (int c = 0; c < COLUMNS; c++) {
        const struct mase_sweep_spread v = mase_sweep_spread(s, first, columns[c].offset);
        mase_table_setf(t, row, n, "%d", v.n);
        if (!exact) {
            set_both(t, row, at++, &v);
            continue;
        }
        set_number(t, row, at++, v.mean);
        set_number(t, row, at++, v.deviation);
    }
}

static struct mase_table make_table(const struct mase_sweep *s, struct mase_arena *a, bool exact)
{
    const char *headers[MASE_TABLE_MAX_COLUMNS + 1] = { 0 };
    const int seeds = mase_sweep_seed_axis(s);
    int n = 0;
    for (int i = 0; i < s->axis_count; i++)
        if (i != seeds)
            headers[n++] = s->axes[i].key;
    headers[n++] = "n";
    for (int c = 0; c < COLUMNS; c++) {
        const char *of = columns[c].of ? columns[c].of : mase_sweep_task(s)->score;
        headers[n++] = mase_arena_printf(a, "%s_%s%s", columns[c].part, of, exact ? "_mean" : "");
        if (exact)
            headers[n++] = mase_arena_printf(a, "%s_%s_std", columns[c].part, of);
    }
    struct mase_table t = mase_table(a, headers);
    for (int i = 0; i < s->count; i++)
        if (mase_sweep_is_first_seed(s, i))
            add_row(&t, s, i, exact);
    return t;
}

struct mase_table mase_sweep_seeds_table(const struct mase_sweep *s, struct mase_arena *a)
{
    return make_table(s, a, false);
}

struct mase_table mase_sweep_seeds_csv(const struct mase_sweep *s, struct mase_arena *a)
{
    return make_table(s, a, true);
}

/* ---- options that do not vary ---- */

/* Threads and the log do not change results. */
static bool is_fixed(const struct mase_sweep *s, const char *key)
{
    if (mase_streq(key, "threads") || mase_streq(key, "log_every_n_steps"))
        return false;
    for (int i = 0; i < s->axis_count; i++)
        if (mase_streq(s->axes[i].key, key))
            return false;
    return true;
}

struct mase_table mase_sweep_fixed_table(const struct mase_sweep *s, struct mase_arena *a)
{
    static const char *const headers[] = { "option", "value", NULL };
    struct mase_table t = mase_table(a, headers);
    for (int i = 0; s->options && i < s->options->count; i++) {
        struct mase_str text = { 0 };
        if (!is_fixed(s, s->options->keys[i]))
            continue;
        mase_value_str(&text, s->options->items[i]);
        mase_table_add(&t, (const char *[]){ s->options->keys[i], mase_str_text(&text) });
        mase_str_release(&text);
    }
    return t;
}

/* Options that readers expect, and those that differ from their defaults. */
static bool should_report(const char *key, const char *value)
{
    static const char *const always[] = { "training_optimizer", "learning_rate", "max_epochs",
                                          "batch_size", "seed" };
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (mase_streq(key, always[i]))
            return true;
    const struct mase_opt *row = mase_train_rows;
    while (row->key && !mase_streq(row->key, key))
        row++;
    struct mase_str dflt = { 0 };
    if (row->key)
        mase_opt_default(&dflt, row);
    char *end; /* "0" and "0.0" are equal */
    const double number = mase_number_read(value, &end);
    const bool same = *end ? mase_streq(mase_str_text(&dflt), value)
                           : dflt.len && number == mase_number_read(dflt.data, &end) && !*end;
    mase_str_release(&dflt);
    return !same;
}

void mase_sweep_fixed(struct mase_str *out, const struct mase_sweep *s)
{
    struct mase_arena a = { 0 };
    const struct mase_table t = mase_sweep_fixed_table(s, &a);
    for (int i = 0; i < t.rows; i++)
        if (should_report(t.cell[2 * i], t.cell[2 * i + 1]))
            mase_str_printf(out, "%s%s %s", out->len ? ", " : "", t.cell[2 * i], t.cell[2 * i + 1]);
    mase_arena_release(&a);
}
