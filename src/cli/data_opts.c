/*
 * data_opts.c - how a dataset is opened: as the options say; where they say nothing, as that was
 * which the weights of --load were trained on.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/log.h>

#include "cli/train.h"

/* ---- columns ---- */

/* Columns that the network was trained on, among its inputs; arrays have names of their own. */
static void divide_columns(struct mase_data_columns *c, const struct mase_data_info *was)
{
    if (!was->more_count || mase_data_features(was) != c->feature_count)
        return;
    c->input_count = 1 + was->more_count;
    for (int i = 0; i < c->input_count; i++)
        c->inputs[i] = (int)mase_shape_count(i ? &was->more[i - 1] : &was->sample);
}

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
        divide_columns(&o->columns, &info->data);
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

/* ---- splits ---- */

/* The record of a run, which a report reads as its file, has defaults in it, too. */
static bool is_said(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_cli_setting *s = &c->setting[id];
    return s->cmdline || (s->file && !mase_value_equal(s->file, s->dflt));
}

static bool trains(const struct mase_cli *c)
{
    return mase_streq(c->command->name, "train") || mase_streq(c->command->name, "sweep");
}

static enum mase_status find_split(struct mase_dataset_opts *o, const struct mase_cli *c,
                                   const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_value *how = mase_cli_value(c, MASE_CLI_split);
    const bool said = is_said(c, MASE_CLI_split) || is_said(c, MASE_CLI_split_by) ||
                      is_said(c, MASE_CLI_split_seed);
    if (!said && info) {
        o->split = info->split;
        o->split.inherited = true;
        return MASE_OK;
    }
    o->original_splits = mase_streq(how->s, "mase");
    o->split = (struct mase_data_split){
        .by = mase_cli_text(c, MASE_CLI_split_by),
        .seed = (uint64_t)mase_cli_value(c, MASE_CLI_split_seed)->i,
    };
    if (o->original_splits || mase_streq(how->s, "held-out"))
        return MASE_OK;
    return mase_data_split_parse(&o->split, how->s, err) ? mase_place(err, how->at) : MASE_OK;
}

/* Are the rows to test other ones than usual? */
static bool moves_tests(const struct mase_data_split *s)
{
    return s->share[2] > 0 || s->by;
}

static const char *split_words(struct mase_arena *a, const struct mase_data_split *s)
{
    const char *shares =
        s->share[2] > 0   ? mase_arena_printf(a, "%g,%g,%g", s->share[0], s->share[1], s->share[2])
        : s->share[0] > 0 ? mase_arena_printf(a, "%g,%g", s->share[0], s->share[1])
                          : "held-out";
    const char *by = s->by ? mase_arena_printf(a, " by column %s", s->by) : "";
    return s->seed
               ? mase_arena_printf(a, "%s%s, seed %llu", shares, by, (unsigned long long)s->seed)
               : mase_arena_printf(a, "%s%s", shares, by);
}

const char *mase_cli_split_words(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_data_split *s = &mase_dataset_info(d)->split;
    return s->share[0] > 0 || s->by || s->seed ? split_words(a, s) : NULL;
}

enum mase_status mase_cli_check_split(struct mase_cli *c, const struct mase_dataset *d,
                                      const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_dataset_info *now = mase_dataset_info(d);
    const bool same_data = info->checksum && mase_streq(info->checksum, now->checksum);
    const bool differ = moves_tests(&info->split) || moves_tests(&now->split)
                            ? !mase_data_split_equal(&info->split, &now->split)
                            : false;
    if (!same_data || !differ)
        return MASE_OK;
    const char *load = mase_cli_text(c, MASE_CLI_load_name),
               *was = split_words(&c->arena, &info->split),
               *is = split_words(&c->arena, &now->split);
    if (trains(c)) {
        mase_warn(
            "%s was trained with the split %s of this data; with %s it is tested on rows that "
            "it has seen",
            load, was, is);
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EVALUE, mase_cli_value(c, MASE_CLI_split)->at,
                        "the split %s contradicts %s, which was trained with the split %s of this "
                        "data: rows that it has seen would be tested; without --split, --split-by "
                        "and --split-seed its own is taken",
                        is, load, was);
}

/* ---- pictures ---- */

static enum mase_status read_size(struct mase_image_opts *o, const char *text, struct mase_err *err)
{
    char *end = NULL;
    const bool digits = text[0] >= '0' && text[0] <= '9';
    const long h = digits ? strtol(text, &end, 10) : 0;
    const bool two = h >= 1 && *end == ',' && end[1] >= '0' && end[1] <= '9';
    const long w = two ? strtol(end + 1, &end, 10) : h >= 1 && !*end ? h : 0;
    if (h < 1 || w < 1 || h > 16384 || w > 16384 || *end)
        return mase_fail(err, MASE_EVALUE,
                         "image size '%s': expected height and width from 1 to 16384, as 32,32",
                         text);
    o->height = (int)h;
    o->width = (int)w;
    return MASE_OK;
}

static enum mase_status find_image(struct mase_dataset_opts *o, const struct mase_cli *c,
                                   const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_value *size = mase_cli_value(c, MASE_CLI_image_size),
                            *how = mase_cli_value(c, MASE_CLI_normalize),
                            *augment = mase_cli_value(c, MASE_CLI_augment);
    const char *name = mase_cli_text(c, MASE_CLI_dataset);
    const struct mase_data_kind *kind = name ? mase_data_kind_of(name) : NULL;
    const bool folder = kind && mase_streq(kind->prefix, "images");
    const struct mase_image_opts *was = info && info->image.channels ? &info->image : NULL;
    struct mase_image_opts *i = &o->image;
    i->channels = (int)mase_cli_value(c, MASE_CLI_image_channels)->i;
    if (size->kind == MASE_STRING && read_size(i, size->s, err))
        return mase_place(err, size->at);
    if (how->kind == MASE_STRING && mase_image_normalise_parse(i, how->s, err))
        return mase_place(err, how->at);
    if (augment->kind == MASE_STRING && mase_image_augment_parse(i, augment->s, err))
        return mase_place(err, augment->at);
    if (i->channels == 2)
        return mase_fail_at(err, MASE_EVALUE, mase_cli_value(c, MASE_CLI_image_channels)->at,
                            "pictures have 1 channel or 3, not 2");
    if (was && folder && !i->channels)
        i->channels = was->channels;
    if (was && folder && !i->height) {
        i->height = was->height;
        i->width = was->width;
    }
    if (was && was->normalise && how->kind != MASE_STRING && (folder || !kind)) {
        i->normalise = true;
        memcpy(i->mean, was->mean, sizeof i->mean);
        memcpy(i->std, was->std, sizeof i->std);
    }
    return MASE_OK;
}

enum mase_status mase_cli_check_pixels(const struct mase_cli *c, const struct mase_dataset *d,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err)
{
    const struct mase_image_opts *now = &mase_dataset_info(d)->image;
    const char *load = mase_cli_text(c, MASE_CLI_load_name);
    if (!now->channels || !info->image.channels || mase_image_same_levels(now, &info->image))
        return MASE_OK;
    if (!trains(c))
        return mase_fail_at(err, MASE_EVALUE, mase_cli_value(c, MASE_CLI_normalize)->at,
                            "--normalize contradicts %s, which was trained with pixels normalised "
                            "otherwise; without it they are as they were then",
                            load);
    mase_warn("%s was trained with pixels normalised otherwise", load);
    return MASE_OK;
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
        const char *key = mase_cli_options[ids[i]].opt.key;
        if (mase_value_equal(v, c->setting[ids[i]].dflt))
            continue;
        text = v->kind == MASE_STRING ? mase_arena_printf(&c->arena, "%s, %s %s", text, key, v->s)
               : v->kind == MASE_INT
                   ? mase_arena_printf(&c->arena, "%s, %s %lld", text, key, (long long)v->i)
                   : mase_arena_printf(&c->arena, "%s, %s", text, key);
    }
    return text;
}

/* ---- targets ---- */

/* Weights are used with the scaling they were trained with; only training may change it. */
static enum mase_status find_targets(struct mase_dataset_opts *o, struct mase_cli *c,
                                     const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_value *how = mase_cli_value(c, MASE_CLI_target_scaling);
    const bool standard = mase_streq(how->s, "standard"),
               said = is_said(c, MASE_CLI_target_scaling);
    const struct mase_task *task = mase_cli_task(c);
    if (standard && !(task && mase_streq(task->name, "regression")))
        return mase_fail_at(err, MASE_EVALUE, how->at,
                            "--target-scaling is for the numbers of task regression");
    if (info && info->target_scaling.n && !(said && trains(c))) {
        if (said && !standard)
            return mase_fail_at(err, MASE_EVALUE, how->at,
                                "--target-scaling none contradicts %s, whose targets were scaled",
                                mase_cli_text(c, MASE_CLI_load_name));
        o->target_scaling =
            mase_arena_memdup(&c->arena, &info->target_scaling, sizeof info->target_scaling);
        return MASE_OK;
    }
    if (standard && info && info->task && !trains(c))
        return mase_fail_at(err, MASE_EVALUE, how->at,
                            "--target-scaling standard contradicts %s, whose targets were not "
                            "scaled",
                            mase_cli_text(c, MASE_CLI_load_name));
    o->scale_targets = standard;
    return MASE_OK;
}

/* ---- all of it ---- */

enum mase_status mase_cli_data_opts(struct mase_dataset_opts *o, struct mase_cli *c,
                                    const struct mase_checkpoint_info *info, struct mase_err *err)
{
    *o = (struct mase_dataset_opts){
        .data_dir = mase_cli_text(c, MASE_CLI_data_dir),
        .require_real = mase_cli_flag(c, MASE_CLI_require_real_data),
        .ranges = mase_streq(c->command->name, "data"), /* which shows them */
        .target = mase_cli_task(c) ? mase_task_reads(mase_cli_task(c)) : MASE_TARGET_CLASS,
    };
    MASE_TRY(find_split(o, c, info, err));
    MASE_TRY(find_image(o, c, info, err));
    MASE_TRY(find_targets(o, c, info, err));
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
    struct mase_data_info *own = mase_data_info_copy(&c->arena, &mase_dataset_info(d)->data);
    own->name = mase_arena_strdup(&c->arena, name);
    mase_dataset_close(d);
    *info = own;
    return MASE_OK;
}
