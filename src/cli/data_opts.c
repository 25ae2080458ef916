/*
 * data_opts.c - how a dataset is opened: as the options say; where they say nothing, as that was
 * which the weights of --load were trained on.
 */
#include <mase/log.h>

#include "cli/train.h"

/* ---- columns ---- */

static enum mase_status find_columns(struct mase_dataset_opts *o, struct mase_cli *c,
                                     const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const char *labels = mase_cli_text(c, MASE_CLI_label),
               *features = mase_cli_text(c, MASE_CLI_features);
    const struct mase_value *at = mase_cli_value(c, features ? MASE_CLI_features : MASE_CLI_label);
    if (mase_data_columns_parse(&o->columns, &c->arena, labels, features, err))
        return mase_place(err, at->at);
    o->drop_missing = mase_cli_flag(c, MASE_CLI_drop_nan);
    if (!info)
        return MASE_OK;
    o->drop_missing = o->drop_missing || info->drop_missing;
    if (!labels && info->columns.label_count) {
        o->columns.labels = info->columns.labels;
        o->columns.label_count = info->columns.label_count;
        o->columns.usual_label = true;
    }
    if (!features && info->columns.feature_count) {
        o->columns.features = info->columns.features;
        o->columns.feature_count = info->columns.feature_count;
    }
    if (!labels && !features)
        o->columns.origin = mase_cli_text(c, MASE_CLI_load_name);
    return MASE_OK;
}

static const char *list(struct mase_arena *a, const char *const *names, int n)
{
    enum { SHOWN = 12 };
    const char *text = "";
    for (int i = 0; i < n && i < SHOWN; i++)
        text = mase_arena_printf(a, "%s%s%s", text, i ? ", " : "", names[i]);
    return n > SHOWN ? mase_arena_printf(a, "%s and %d more", text, n - SHOWN) : text;
}

void mase_cli_tell_columns(struct mase_cli *c, const struct mase_dataset *d,
                           const struct mase_checkpoint_info *info)
{
    const struct mase_data_columns *now = &mase_dataset_info(d)->columns, *was = &info->columns;
    struct mase_data_columns same_label = *now;
    same_label.labels = was->labels;
    same_label.label_count = was->label_count;
    if (!now->feature_count || !was->feature_count || mase_data_columns_equal(&same_label, was))
        return;
    mase_warn("%s was trained on the features %s; it is given %s",
              mase_cli_text(c, MASE_CLI_load_name),
              list(&c->arena, was->features, was->feature_count),
              list(&c->arena, now->features, now->feature_count));
}

/* ---- all of it ---- */

enum mase_status mase_cli_data_opts(struct mase_dataset_opts *o, struct mase_cli *c,
                                    const struct mase_checkpoint_info *info, struct mase_err *err)
{
    *o = (struct mase_dataset_opts){
        .data_dir = mase_cli_text(c, MASE_CLI_data_dir),
        .require_real = mase_cli_flag(c, MASE_CLI_require_real_data),
        .original_splits = mase_streq(mase_cli_text(c, MASE_CLI_split), "mase"),
        .ranges = mase_streq(c->command->name, "data"), /* which shows them */
    };
    return find_columns(o, c, info, err);
}

enum mase_status mase_cli_data_info(const struct mase_data_info **info, struct mase_cli *c,
                                    const char *name, struct mase_err *err)
{
    struct mase_checkpoint_info trained;
    struct mase_dataset_opts opts;
    struct mase_dataset *d;
    if (!mase_data_kind_of(name))
        return mase_data_find(info, name, err);
    MASE_TRY(mase_cli_loaded_info(&trained, c, err));
    MASE_TRY(mase_cli_data_opts(&opts, c, &trained, err));
    MASE_TRY(mase_dataset_open(&d, name, &opts, err));
    struct mase_data_info *own = mase_arena_memdup(&c->arena, &mase_dataset_info(d)->data,
                                                   sizeof mase_dataset_info(d)->data);
    own->name = mase_arena_strdup(&c->arena, name);
    mase_dataset_close(d);
    *info = own;
    return MASE_OK;
}
