/*
 * cmd_data.c - ch data: list datasets, describe one, import and remove tables of the cache.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <mase/dataset.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/command/cmd_train.h"

enum { FEATURES_SHOWN = 64 };

/* ---- list ---- */

static enum mase_status list(struct mase_cli *c, struct mase_err *err)
{
    static const char *const headers[] = { "Name", "Sample", "Classes", "Data", NULL };
    MASE_TRY(mase_cli_operands(c, 1, err));
    if (mase_cli_wants_json(c)) {
        struct mase_value *all = mase_value_list(&c->arena);
        mase_cli_datasets_json(&c->arena, all);
        mase_cli_put_json(all);
        return MASE_OK;
    }
    struct mase_table t = mase_table(&c->arena, headers);
    struct mase_str shape = { 0 };
    for (const struct mase_data_info *d = mase_datasets; d->name; d++) {
        const int row = mase_table_row(&t);
        mase_str_clear(&shape);
        mase_shape_print(&shape, &d->sample);
        mase_table_set(&t, row, 0, d->name);
        mase_table_set(&t, row, 1, mase_str_text(&shape));
        mase_table_setf(&t, row, 2, "%d", d->classes);
        mase_table_set(&t, row, 3, d->help);
    }
    mase_str_release(&shape);
    mase_cli_put_table(c, &t);
    mase_sheets_say(&c->sheets, "\nA table of your own:\n");
    for (const struct mase_data_kind *k = mase_data_kinds; k->prefix; k++)
        mase_sheets_say(&c->sheets, "  %s\n", k->help);
    const char *cache = mase_dataset_cache(&c->arena, NULL);
    if (cache)
        mase_sheets_say(&c->sheets, "\nWhat is imported is kept in %s\n", cache);
    return MASE_OK;
}

/* ---- info ---- */

static bool shows_features(const struct mase_dataset *d)
{
    return mase_dataset_table(d).data && mase_dataset_info(d)->feature_names &&
           mase_dataset_table(d).stride <= FEATURES_SHOWN;
}

static void put_facts(struct mase_cli *c, const struct mase_dataset *d)
{
    static const char *const headers[] = { "Property", "Value", NULL };
    const struct mase_dataset_info *info = mase_dataset_info(d);
    struct mase_table t = mase_table(&c->arena, headers);
    mase_sheets_line(&c->sheets, "%s: %s", info->data.name, info->data.help);
    if (info->notice)
        mase_table_add(&t, (const char *[]){ "note", info->notice });
    mase_table_add(&t, (const char *[]){ "source", info->source });
    mase_table_add(&t, (const char *[]){ "sha256", info->checksum });
    if (info->cache)
        mase_table_add(&t, (const char *[]){ "cache", info->cache });
    const int row = mase_table_row(&t);
    mase_table_set(&t, row, 0, "rows");
    if (info->duplicates)
        mase_table_setf(&t, row, 1, "%" PRId64 " (%" PRId64 " duplicates left out)", info->rows,
                        info->duplicates);
    else if (info->drop_missing)
        mase_table_setf(&t, row, 1, "%" PRId64 " (%" PRId64 " with a missing value left out)",
                        info->rows, info->dropped);
    else
        mase_table_setf(&t, row, 1, "%" PRId64, info->rows);
    for (int i = 0; i < info->columns.label_count && i < FEATURES_SHOWN; i++)
        mase_table_add(&t, (const char *[]){ "label", info->columns.labels[i] });
    const char *split = mase_dataset_split_words(&c->arena, d);
    if (split)
        mase_table_add(&t, (const char *[]){ "split", split });
    mase_table_add(&t, (const char *[]){ "features", mase_cli_scaling_words(&c->arena, d) });
    mase_cli_put_pairs(c, &t);
}

/* A table of splits by classes; many classes are summarised by the smallest and the largest. */
static void put_splits(struct mase_cli *c, const struct mase_dataset *d)
{
    struct mase_arena *a = &c->arena;
    enum { COLUMNS = 12 };
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const int classes = info->data.classes;
    const bool each = classes <= COLUMNS;
    const char *headers[COLUMNS + 3] = { "Split", "Rows" };
    for (int k = 0; each && k < classes; k++)
        headers[2 + k] = info->class_names[k];
    if (!each) {
        headers[2] = "Smallest class";
        headers[3] = "Largest class";
    }
    struct mase_table t = mase_table(a, headers);
    int64_t *count = mase_new_array(a, int64_t, (size_t)classes);
    for (int s = 0; s < MASE_SPLIT_COUNT; s++) {
        const int row = mase_table_row(&t);
        int64_t low = INT64_MAX, high = 0;
        mase_dataset_balance(d, (enum mase_split)s, count);
        mase_table_set(&t, row, 0, mase_split_names[s]);
        mase_table_setf(&t, row, 1, "%" PRId64, mase_dataset_split(d, (enum mase_split)s).count);
        for (int k = 0; k < classes; k++) {
            low = count[k] < low ? count[k] : low;
            high = count[k] > high ? count[k] : high;
            if (each)
                mase_table_setf(&t, row, 2 + k, "%" PRId64, count[k]);
        }
        if (!each) {
            mase_table_setf(&t, row, 2, "%" PRId64, low);
            mase_table_setf(&t, row, 3, "%" PRId64, high);
        }
    }
    mase_sheets_say(&c->sheets, "\n");
    mase_cli_put_table(c, &t);
}

static void put_features(struct mase_cli *c, const struct mase_dataset *d)
{
    static const char *const headers[] = { "Feature", "Min", "Max", "Mean", "Deviation", NULL };
    const struct mase_dataset_info *info = mase_dataset_info(d);
    struct mase_table t = mase_table(&c->arena, headers);
    for (int64_t f = 0; f < mase_dataset_table(d).stride; f++) {
        const struct mase_feature_range r = mase_dataset_range(d, MASE_SPLIT_TRAIN, f);
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, info->feature_names[f]);
        mase_table_setf(&t, row, 1, "%.5g", r.min);
        mase_table_setf(&t, row, 2, "%.5g", r.max);
        mase_table_setf(&t, row, 3, "%.5g", r.mean);
        mase_table_setf(&t, row, 4, "%.5g", r.std);
    }
    mase_sheets_say(&c->sheets, "\nBefore scaling, over the training split:\n\n");
    mase_cli_put_table(c, &t);
}

/* A table of regression targets. */
static void put_targets(struct mase_cli *c, const struct mase_dataset *d)
{
    static const char *const headers[] = { "Target", "Min", "Max", "Mean", NULL };
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const struct mase_split_rows rows = mase_dataset_split(d, MASE_SPLIT_TRAIN);
    const float *y = mase_dataset_targets(d);
    struct mase_table t = mase_table(&c->arena, headers);
    for (int64_t k = 0; k < info->data.targets && k < FEATURES_SHOWN; k++) {
        double min = INFINITY, max = -INFINITY, sum = 0;
        for (int64_t i = 0; i < rows.count; i++) {
            const double x = y[rows.row[i] * info->data.targets + k];
            min = x < min ? x : min;
            max = x > max ? x : max;
            sum += x;
        }
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, info->target_names[k]);
        mase_table_setf(&t, row, 1, "%.5g", min);
        mase_table_setf(&t, row, 2, "%.5g", max);
        mase_table_setf(&t, row, 3, "%.5g", sum / (double)rows.count);
    }
    mase_sheets_say(&c->sheets, "\nOver the training split:\n\n");
    mase_cli_put_table(c, &t);
}

static void info_json(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    struct mase_value *v = mase_cli_data_record(a, d), *balance = mase_value_table(a),
                      *features = mase_value_list(a);
    int64_t *count = mase_new_array(a, int64_t, (size_t)info->data.classes);
    for (int s = 0; s < MASE_SPLIT_COUNT; s++) {
        struct mase_value *counts = mase_value_table(a);
        mase_dataset_balance(d, (enum mase_split)s, count);
        for (int k = 0; k < info->data.classes; k++)
            mase_value_set(a, counts, info->class_names[k], mase_value_int(a, count[k]));
        mase_value_set(a, balance, mase_split_names[s], counts);
    }
    for (int64_t f = 0; shows_features(d) && f < mase_dataset_table(d).stride; f++) {
        const struct mase_feature_range r = mase_dataset_range(d, MASE_SPLIT_TRAIN, f);
        struct mase_value *one = mase_value_table(a);
        mase_value_set(a, one, "name", mase_value_string(a, info->feature_names[f]));
        mase_value_set(a, one, "min", mase_value_float(a, mase_number_as_written((float)r.min, 6)));
        mase_value_set(a, one, "max", mase_value_float(a, mase_number_as_written((float)r.max, 6)));
        mase_value_set(a, one, "mean", mase_value_float(a, r.mean));
        mase_value_set(a, one, "std", mase_value_float(a, r.std));
        mase_value_push(a, features, one);
    }
    mase_value_set(a, v, "balance", balance);
    mase_value_set(a, v, "features", features);
    mase_cli_put_json(v);
}

static enum mase_status info(struct mase_cli *c, struct mase_err *err)
{
    struct mase_dataset *d = NULL;
    MASE_TRY(mase_cli_operands(c, 2, err));
    if (c->operand_count < 2)
        return mase_fail(err, MASE_EVALUE, "ch data info needs the name of a dataset");
    MASE_TRY(mase_cli_open_data(&d, c, c->operands[1], err));
    if (mase_cli_wants_json(c)) {
        info_json(&c->arena, d);
    } else {
        put_facts(c, d);
        put_splits(c, d);
        if (shows_features(d))
            put_features(c, d);
        if (mase_dataset_info(d)->target_names)
            put_targets(c, d);
    }
    mase_dataset_close(d);
    return MASE_OK;
}

/* ---- import ---- */

static enum mase_status import(struct mase_cli *c, struct mase_err *err)
{
    const struct mase_dataset_opts kept = { .require_real = true };
    struct mase_dataset_opts opts;
    struct mase_dataset *d = NULL;
    MASE_TRY(mase_cli_operands(c, 3, err));
    MASE_TRY(mase_cli_data_opts(&opts, c, NULL, err));
    if (c->operand_count < 3)
        return mase_fail(err, MASE_EVALUE,
                         "ch data import needs a dataset and a file: ch data "
                         "import jsc FILE");
    MASE_TRY(mase_dataset_import(c->operands[1], c->operands[2], &opts, err));
    MASE_TRY(mase_dataset_open(&d, c->operands[1], &kept, err)); /* as the next run will find it */
    if (mase_cli_wants_json(c))
        info_json(&c->arena, d);
    else
        put_facts(c, d);
    mase_dataset_close(d);
    return MASE_OK;
}

/* ---- remove ---- */

static enum mase_status remove_kept(struct mase_cli *c, struct mase_err *err)
{
    struct mase_dataset_removed gone;
    MASE_TRY(mase_cli_operands(c, 2, err));
    if (c->operand_count < 2)
        return mase_fail(err, MASE_EVALUE,
                         "ch data remove needs a dataset that was imported: ch data remove jsc");
    MASE_TRY(mase_dataset_remove(&gone, &c->arena, c->operands[1], NULL, err));
    struct mase_table t = mase_table(&c->arena, (const char *const[]){ "Removed", NULL });
    for (int i = 0; i < gone.count; i++)
        mase_table_add(&t, (const char *[]){ gone.paths[i] });
    mase_cli_put_table(c, &t);
    return MASE_OK;
}

static const struct {
    const char *name;
    mase_cli_run_fn *run;
} verbs[] = { { "list", list },
              { "info", info },
              { "import", import },
              { "remove", remove_kept },
              { "export", mase_cli_data_export } };

enum mase_status mase_cli_data(struct mase_cli *c, struct mase_err *err)
{
    if (c->operand_count == 0)
        return list(c, err);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (mase_streq(verbs[i].name, c->operands[0]))
            return verbs[i].run(c, err);
    return mase_fail(err, MASE_EVALUE,
                     "ch data can list, info, import, remove and export, not '%s'", c->operands[0]);
}
