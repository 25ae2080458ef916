/*
 * data_options.c - data as the options say, for the weights that --load names.
 */
#include <mase/log.h>

#include "cli/command/cmd_train.h"

/* The record of a run, which a report reads as its file, has defaults in it, too. */
static bool is_said(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_cli_setting *s = &c->setting[id];
    return s->cmdline || (s->file && !mase_value_equal(s->file, s->dflt));
}

static struct mase_data_choice choice_of(struct mase_cli *c)
{
    struct mase_data_choice choice = {
        .arena = &c->arena,
        .dataset = mase_cli_text(c, MASE_CLI_dataset),
        .at = mase_cli_value(c, MASE_CLI_dataset)->at,
        .task = mase_cli_task(c),
        .weights = mase_cli_text(c, MASE_CLI_load_name),
        .trains = mase_streq(c->command->name, "train") || mase_streq(c->command->name, "sweep"),
        .ranges = mase_streq(c->command->name, "data"), /* which shows them */
    };
    for (int w = 0; w < MASE_DATA_WORD_COUNT; w++) {
        choice.value[w] = mase_cli_value(c, mase_cli_data_ids[w]);
        choice.said[w] = is_said(c, mase_cli_data_ids[w]);
    }
    return choice;
}

/* ---- what --load was trained on ---- */

static enum mase_status trained_on(struct mase_checkpoint_info *info, struct mase_cli *c,
                                   enum mase_cli_weights kind, struct mase_err *err)
{
    *info = (struct mase_checkpoint_info){ .epoch = -1, .step = -1 };
    if (kind == MASE_CLI_INITIALISED)
        return MASE_OK;
    return mase_trained_on(info, &c->arena, mase_cli_text(c, MASE_CLI_load_name), err);
}

enum mase_status mase_cli_loaded_info(struct mase_checkpoint_info *info, struct mase_cli *c,
                                      struct mase_err *err)
{
    enum mase_cli_weights kind;
    MASE_TRY(mase_cli_load_kind(&kind, c, err));
    return trained_on(info, c, kind, err);
}

enum mase_status mase_cli_checkpoint_info(struct mase_checkpoint_info *info, struct mase_cli *c,
                                          enum mase_cli_weights kind, struct mase_err *err)
{
    const struct mase_data_choice choice = choice_of(c);
    const char *file = mase_data_choice_scaling_file(&choice);
    MASE_TRY(trained_on(info, c, kind, err));
    MASE_TRY(mase_cli_settle_task(c, info, err));
    if (!file)
        return MASE_OK;
    if (info->scale)
        mase_warn("%s scales the features, not what %s says", file, choice.weights);
    return mase_trained_read(info, &c->arena, file, err);
}

/* ---- opening it ---- */

enum mase_status mase_cli_data_opts(struct mase_dataset_opts *o, struct mase_cli *c,
                                    const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_data_choice choice = choice_of(c);
    return mase_data_choice_opts(o, &choice, info, err);
}

enum mase_status mase_cli_open_data_for(struct mase_dataset **d, struct mase_cli *c,
                                        const struct mase_checkpoint_info *info,
                                        struct mase_err *err)
{
    const struct mase_data_choice choice = choice_of(c);
    return mase_dataset_open_for(d, &choice, info, err);
}

enum mase_status mase_cli_open_data(struct mase_dataset **d, struct mase_cli *c,
                                    struct mase_err *err)
{
    enum mase_cli_weights kind;
    struct mase_checkpoint_info info;
    MASE_TRY(mase_cli_load_kind(&kind, c, err));
    MASE_TRY(mase_cli_checkpoint_info(&info, c, kind, err));
    return mase_cli_open_data_for(d, c, &info, err);
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
    struct mase_data_info *own = mase_data_info_copy(&c->arena, &mase_dataset_info(d)->data);
    own->name = mase_arena_strdup(&c->arena, name);
    mase_dataset_close(d);
    *info = own;
    return MASE_OK;
}

/* ---- inputs ---- */

enum mase_status mase_cli_match_inputs(struct mase_dataset **d, struct mase_cli *c,
                                       struct mase_graph *g, const struct mase_data_info *data,
                                       struct mase_err *err)
{
    const char *features;
    MASE_TRY(mase_inputs_match(&features, &c->arena, g, data, err));
    if (!features)
        return MASE_OK;
    c->setting[MASE_CLI_features].cmdline = mase_value_string(&c->arena, features);
    if (!d)
        return MASE_OK;
    mase_dataset_close(*d);
    *d = NULL;
    return mase_cli_open_data(d, c, err);
}

/* ---- in words ---- */

const char *mase_cli_scaling_words(struct mase_arena *a, const struct mase_dataset *d)
{
    static const char *const words[MASE_SCALE_COUNT] = {
        [MASE_SCALE_USUAL] = "as stored",
        [MASE_SCALE_NONE] = "as stored",
        [MASE_SCALE_STANDARD] = "standardised: mean 0, deviation 1",
        [MASE_SCALE_MINMAX] = "scaled to 0..1",
        [MASE_SCALE_GIVEN] = "scaled by numbers that are given",
    };
    const struct mase_dataset_info *info = mase_dataset_info(d);
    if (info->pixels)
        return info->pixels;
    if (!info->scale_rows)
        return words[info->scale];
    const bool more = info->scale_rows > mase_dataset_split(d, MASE_SPLIT_TRAIN).count;
    return mase_arena_printf(a, "%s, over the %lld rows that train%s", words[info->scale],
                             (long long)info->scale_rows, more ? " or validate" : "");
}

const char *mase_cli_data_variant(struct mase_cli *c)
{
    static const enum mase_cli_option_id ids[] = {
        MASE_CLI_split_by,  MASE_CLI_split_seed, MASE_CLI_scaling,       MASE_CLI_label,
        MASE_CLI_features,  MASE_CLI_drop_nan,   MASE_CLI_image_size,    MASE_CLI_image_channels,
        MASE_CLI_normalize, MASE_CLI_augment,    MASE_CLI_target_scaling
    };
    const char *text = mase_cli_text(c, MASE_CLI_split);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const struct mase_value *v = mase_cli_value(c, ids[i]);
        const char *key = mase_cli_options[ids[i]].key;
        if (mase_value_equal(v, c->setting[ids[i]].dflt))
            continue;
        text = v->kind == MASE_STRING ? mase_arena_printf(&c->arena, "%s, %s %s", text, key, v->s)
               : v->kind == MASE_INT
                   ? mase_arena_printf(&c->arena, "%s, %s %lld", text, key, (long long)v->i)
                   : mase_arena_printf(&c->arena, "%s, %s", text, key);
    }
    return text;
}
