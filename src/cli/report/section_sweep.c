/*
 * section_sweep.c - the configurations of a sweep, compared: its table and its chart.
 */
#include <mase/file.h>
#include <mase/sweep.h>

#include "cli/report/html.h"
#include "cli/report/report.h"

/* Find the options that were lists, in the order of the sweep. */
static enum mase_status find_axes(struct mase_sweep *s, const struct mase_report *r,
                                  struct mase_err *err)
{
    const struct mase_value *options = mase_report_value(r, "configuration.options");
    struct mase_sweep_axis *axes =
        mase_new_array(r->arena, struct mase_sweep_axis, MASE_SWEEP_MAX_AXES);
    const struct mase_value *models = mase_value_get(options, "model");
    if (models && models->kind == MASE_LIST && models->count)
        axes[s->axis_count++] = (struct mase_sweep_axis){ "model", models, true };
    const struct mase_value *formats = mase_report_value(r, "results.format_axes");
    for (int i = 0; formats && formats->kind == MASE_TABLE && i < formats->count; i++) {
        const struct mase_value *v = formats->items[i];
        if (s->axis_count == MASE_SWEEP_MAX_AXES || v->kind != MASE_LIST || !v->count)
            return mase_fail_at(err, MASE_EPARSE, v->at, "'%s' cannot be an axis of the sweep",
                                formats->keys[i]);
        axes[s->axis_count++] = (struct mase_sweep_axis){ formats->keys[i], v, true };
    }
    for (const struct mase_opt *row = mase_train_rows; row->key; row++) {
        const struct mase_value *v = mase_value_get(options, row->key);
        if (!v || v->kind != MASE_LIST)
            continue;
        if (s->axis_count == MASE_SWEEP_MAX_AXES || !v->count)
            return mase_fail_at(err, MASE_EPARSE, v->at, "'%s' cannot be an axis of the sweep",
                                row->key);
        axes[s->axis_count++] = (struct mase_sweep_axis){ .key = row->key, .values = v };
    }
    s->axes = axes;
    return MASE_OK;
}

enum mase_status mase_report_read_sweep(struct mase_report *r, struct mase_err *err)
{
    const char *path = mase_report_path(r, "software/sweep/sweep.csv");
    if (!mase_streq(r->action, "sweep"))
        return MASE_OK;
    struct mase_sweep *s = mase_new(r->arena, struct mase_sweep);
    struct mase_value *common = mase_value_table(r->arena);
    mase_value_set(r->arena, common, "task",
                   mase_value_string(r->arena, mase_report_task(r)->name)); /* names the scores */
    s->options = common;
    MASE_TRY(find_axes(s, r, err));
    if (mase_sweep_grid(s, r->arena, err))
        return mase_place(err, mase_report_value(r, "configuration.options")->at);
    MASE_TRY(mase_sweep_read_csv(s, path, err));
    r->sweep = s;
    return MASE_OK;
}

bool mase_report_has_sweep(const struct mase_report *r)
{
    return r->sweep != NULL;
}

void mase_report_sweep(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_table t = mase_sweep_table(r->sweep, r->arena);
    struct mase_plot p = mase_sweep_plot(r->sweep, r->arena);
    p.title = mase_report_value(r, "results.format_axes")
                  ? mase_arena_printf(r->arena, "Test %s of every configuration",
                                      mase_report_task(r)->score_title)
                  : "Validation loss of every configuration";
    p.embedded = true;
    mase_str_add(out, "<div class=\"charts\">\n");
    mase_report_chart(out, &p);
    mase_str_add(out, "</div>\n");
    mase_html_table_of(out, "Configurations", &t);
    if (mase_sweep_has_seeds(r->sweep)) {
        const struct mase_table seeds = mase_sweep_seeds_table(r->sweep, r->arena);
        mase_html_table_of(out, "Mean ± sample standard deviation over n seeds", &seeds);
    }
}
