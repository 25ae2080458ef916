/*
 * evaluation_record.c - what an evaluation found, as values for records and programs.
 */
#include <math.h>

#include <mase/evaluate.h>
#include <mase/verify.h>

struct mase_value *mase_value_measured(struct mase_arena *a, double f)
{
    return isnan(f) ? mase_value_none(a) : mase_value_float(a, f);
}

const char *mase_metric_row(struct mase_arena *a, const struct mase_metric_table *m, int64_t r)
{
    return m->names ? m->names[r] : mase_arena_printf(a, "%lld", (long long)r);
}

/* The predictions for samples of class c, whose cells begin at *at: a count for each class; with
 * many classes, the nonzero counts by class. */
static struct mase_value *answers(struct mase_arena *a, const struct mase_evaluation *e, int c,
                                  int64_t *at)
{
    struct mase_value *v = e->confusion ? mase_value_list(a) : mase_value_table(a);
    for (int k = 0; k < e->classes && e->confusion; k++)
        mase_value_push(a, v, mase_value_int(a, e->confusion[c * e->classes + k]));
    for (; *at < e->cells && e->cell[*at].truth == c; ++*at)
        if (!e->confusion)
            mase_value_set(a, v, mase_arena_printf(a, "%d", (int)e->cell[*at].answer),
                           mase_value_int(a, e->cell[*at].count));
    return v;
}

static struct mase_value *classes(struct mase_arena *a, const struct mase_evaluation *e,
                                  const char *const *names)
{
    struct mase_value *list = mase_value_list(a);
    int64_t at = 0;
    for (int c = 0; c < e->classes; c++) {
        struct mase_value *v = mase_value_table(a);
        mase_value_set(a, v, "name", mase_value_string(a, names[c]));
        mase_value_set(a, v, "precision", mase_value_measured(a, e->precision[c]));
        mase_value_set(a, v, "recall", mase_value_measured(a, e->recall[c]));
        mase_value_set(a, v, "auc", mase_value_measured(a, e->auc[c]));
        mase_value_set(a, v, "answers", answers(a, e, c, &at));
        mase_value_push(a, list, v);
    }
    return list;
}

static struct mase_value *outputs(struct mase_arena *a, const struct mase_metric_table *m)
{
    struct mase_value *list = mase_value_list(a);
    for (int64_t r = 0; r < m->rows; r++) {
        struct mase_value *v = mase_value_table(a);
        mase_value_set(a, v, "name", mase_value_string(a, mase_metric_row(a, m, r)));
        for (int k = 0; k < m->column_count; k++)
            mase_value_set(a, v, m->columns[k],
                           mase_value_measured(a, m->value[r * m->column_count + k]));
        mase_value_push(a, list, v);
    }
    return list;
}

void mase_evaluation_set(struct mase_arena *a, struct mase_value *v,
                         const struct mase_evaluation *e, const char *const *class_names)
{
    if (e->support) {
        mase_value_set(a, v, "accuracy_standard_error", mase_value_measured(a, e->accuracy_error));
        mase_value_set(a, v, "macro_accuracy", mase_value_measured(a, e->macro_accuracy));
    }
    for (int i = 0; i < e->metrics; i++)
        mase_value_set(a, v, e->metric[i].name, mase_value_measured(a, e->metric[i].value));
    mase_value_set(a, v, "seconds", mase_value_measured(a, e->seconds));
    mase_value_set(a, v, "samples_per_second",
                   mase_value_measured(a, (double)e->samples / e->seconds));
    if (e->support)
        mase_value_set(a, v, "classes", classes(a, e, class_names));
    if (e->by_output.rows)
        mase_value_set(a, v, "outputs", outputs(a, &e->by_output));
}

struct mase_value *mase_verification_nodes(struct mase_arena *a, const struct mase_verification *v)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < v->count; i++) {
        const struct mase_verified_node *n = &v->node[i];
        struct mase_value *t = mase_value_table(a);
        mase_value_set(a, t, "name", mase_value_string(a, n->node->name));
        mase_value_set(a, t, "bits", n->codes ? mase_value_int(a, n->bits) : mase_value_none(a));
        mase_value_set(a, t, "values", mase_value_int(a, n->values));
        mase_value_set(a, t, "different", mase_value_int(a, n->differ));
        mase_value_set(a, t, "largest", mase_value_float(a, n->most));
        mase_value_set(a, t, "first", mase_value_int(a, n->first));
        mase_value_set(a, t, "why", n->first ? mase_value_string(a, n->why) : mase_value_none(a));
        mase_value_push(a, list, t);
    }
    return list;
}
