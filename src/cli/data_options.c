/*
 * data_options.c - options for opening data, and their description.
 */
#include <mase/log.h>

#include "cli/command/cmd_train.h"

enum mase_status mase_cli_data_opts(struct mase_dataset_opts *o, struct mase_cli *c,
                                    const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_data_choice choice = mase_cli_data_choice(c);
    return mase_data_choice_opts(o, &choice, info, err);
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
