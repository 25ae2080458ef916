/*
 * data_choice.c - options for opening a dataset: those given; else those of the data that the
 * weights were trained on; else the defaults of the dataset.
 */
#include <mase/trained.h>

#include <stdlib.h>
#include <string.h>

#include <mase/log.h>

/* NULL if the option is not given. */
static const char *text_of(const struct mase_data_choice *c, enum mase_data_word w)
{
    return c->value[w]->kind == MASE_STRING ? c->value[w]->s : NULL;
}

void mase_data_choice_init(struct mase_data_choice *c, struct mase_arena *a)
{
    *c = (struct mase_data_choice){ .arena = a, .at = MASE_NOWHERE };
    for (int w = 0; w < MASE_DATA_WORD_COUNT; w++)
        c->value[w] = mase_opt_default_value(a, &mase_data_rows[w]);
}

/* ---- columns ---- */

/* Divide the columns that the network was trained on among its inputs; arrays have names of their
 * own. */
static void divide_columns(struct mase_data_columns *c, const struct mase_data_info *was)
{
    if (!was->more_count || mase_data_features(was) != c->feature_count)
        return;
    c->input_count = 1 + was->more_count;
    for (int i = 0; i < c->input_count; i++)
        c->inputs[i] = (int)mase_shape_count(i ? &was->more[i - 1] : &was->sample);
}

static enum mase_status find_columns(struct mase_dataset_opts *o, const struct mase_data_choice *c,
                                     const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const char *labels = text_of(c, MASE_DATA_label), *features = text_of(c, MASE_DATA_features);
    const struct mase_value *at = c->value[features ? MASE_DATA_features : MASE_DATA_label];
    if (mase_data_columns_parse(&o->columns, c->arena, labels, features, err))
        return mase_place(err, at->at);
    o->drop_missing = c->value[MASE_DATA_drop_nan]->b;
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
        o->columns.origin = c->weights;
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

static void log_columns(const struct mase_data_choice *c, const struct mase_dataset *d,
                        const struct mase_checkpoint_info *info)
{
    const struct mase_data_columns *now = &mase_dataset_info(d)->columns, *was = &info->columns;
    struct mase_data_columns same_label = *now;
    same_label.labels = was->labels;
    same_label.label_count = was->label_count;
    if (!now->feature_count || !was->feature_count || mase_data_columns_equal(&same_label, was))
        return;
    mase_warn("%s was trained on the features %s; it is given %s", c->weights,
              list(c->arena, was->features, was->feature_count),
              list(c->arena, now->features, now->feature_count));
}

/* ---- splits ---- */

static enum mase_status find_split(struct mase_dataset_opts *o, const struct mase_data_choice *c,
                                   const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_value *how = c->value[MASE_DATA_split];
    const bool said =
        c->said[MASE_DATA_split] || c->said[MASE_DATA_split_by] || c->said[MASE_DATA_split_seed];
    if (!said && info) {
        o->split = info->split;
        o->split.inherited = true;
        return MASE_OK;
    }
    o->original_splits = mase_streq(how->s, "mase");
    o->split = (struct mase_data_split){
        .by = text_of(c, MASE_DATA_split_by),
        .seed = (uint64_t)c->value[MASE_DATA_split_seed]->i,
    };
    if (o->original_splits || mase_streq(how->s, "held-out"))
        return MASE_OK;
    return mase_data_split_parse(&o->split, how->s, err) ? mase_place(err, how->at) : MASE_OK;
}

/* Do the options move rows into or out of the test split? */
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

const char *mase_dataset_split_words(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_data_split *s = &mase_dataset_info(d)->split;
    return s->share[0] > 0 || s->by || s->seed ? split_words(a, s) : NULL;
}

static enum mase_status check_split(const struct mase_data_choice *c, const struct mase_dataset *d,
                                    const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_dataset_info *now = mase_dataset_info(d);
    const bool same_data = info->checksum && mase_streq(info->checksum, now->checksum);
    const bool differ = moves_tests(&info->split) || moves_tests(&now->split)
                            ? !mase_data_split_equal(&info->split, &now->split)
                            : false;
    if (!same_data || !differ)
        return MASE_OK;
    const char *load = c->weights, *was = split_words(c->arena, &info->split),
               *is = split_words(c->arena, &now->split);
    if (c->trains) {
        mase_warn(
            "%s was trained with the split %s of this data; with %s it is tested on rows that "
            "it has seen",
            load, was, is);
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EVALUE, c->value[MASE_DATA_split]->at,
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

static enum mase_status find_image(struct mase_dataset_opts *o, const struct mase_data_choice *c,
                                   const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_value *size = c->value[MASE_DATA_image_size],
                            *how = c->value[MASE_DATA_normalize],
                            *augment = c->value[MASE_DATA_augment];
    const char *name = c->dataset;
    const struct mase_data_kind *kind = name ? mase_data_kind_of(name) : NULL;
    const bool folder = kind && mase_streq(kind->prefix, "images");
    const struct mase_image_opts *was = info && info->image.channels ? &info->image : NULL;
    struct mase_image_opts *i = &o->image;
    i->channels = (int)c->value[MASE_DATA_image_channels]->i;
    if (size->kind == MASE_STRING && read_size(i, size->s, err))
        return mase_place(err, size->at);
    if (how->kind == MASE_STRING && mase_image_normalise_parse(i, how->s, err))
        return mase_place(err, how->at);
    if (augment->kind == MASE_STRING && mase_image_augment_parse(i, augment->s, err))
        return mase_place(err, augment->at);
    if (i->channels == 2)
        return mase_fail_at(err, MASE_EVALUE, c->value[MASE_DATA_image_channels]->at,
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

static enum mase_status check_pixels(const struct mase_data_choice *c, const struct mase_dataset *d,
                                     const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_image_opts *now = &mase_dataset_info(d)->image;
    const char *load = c->weights;
    if (!now->channels || !info->image.channels || mase_image_same_normalisation(now, &info->image))
        return MASE_OK;
    if (!c->trains)
        return mase_fail_at(err, MASE_EVALUE, c->value[MASE_DATA_normalize]->at,
                            "--normalize contradicts %s, which was trained with pixels normalised "
                            "otherwise; without it they are as they were then",
                            load);
    mase_warn("%s was trained with pixels normalised otherwise", load);
    return MASE_OK;
}

/* ---- targets ---- */

/* Weights are used with the target scaling they were trained with; only training may change it. */
static enum mase_status find_targets(struct mase_dataset_opts *o, const struct mase_data_choice *c,
                                     const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const struct mase_value *how = c->value[MASE_DATA_target_scaling];
    const bool standard = mase_streq(how->s, "standard"), said = c->said[MASE_DATA_target_scaling];
    const struct mase_task *task = c->task;
    if (standard && !(task && mase_streq(task->name, "regression")))
        return mase_fail_at(err, MASE_EVALUE, how->at,
                            "--target-scaling is for the numbers of task regression");
    if (info && info->target_scaling.n && !(said && c->trains)) {
        if (said && !standard)
            return mase_fail_at(err, MASE_EVALUE, how->at,
                                "--target-scaling none contradicts %s, whose targets were scaled",
                                c->weights);
        o->target_scaling =
            mase_arena_memdup(c->arena, &info->target_scaling, sizeof info->target_scaling);
        return MASE_OK;
    }
    if (standard && info && info->task && !c->trains)
        return mase_fail_at(err, MASE_EVALUE, how->at,
                            "--target-scaling standard contradicts %s, whose targets were not "
                            "scaled",
                            c->weights);
    o->scale_targets = standard;
    return MASE_OK;
}

/* ---- all options ---- */

enum mase_status mase_data_choice_opts(struct mase_dataset_opts *o,
                                       const struct mase_data_choice *c,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err)
{
    *o = (struct mase_dataset_opts){
        .data_dir = text_of(c, MASE_DATA_data_dir),
        .require_real = c->value[MASE_DATA_require_real_data]->b,
        .ranges = c->ranges, /* for commands that show them */
        .target = c->task ? mase_task_reads(c->task) : MASE_TARGET_CLASS,
    };
    MASE_TRY(find_split(o, c, info, err));
    MASE_TRY(find_image(o, c, info, err));
    MASE_TRY(find_targets(o, c, info, err));
    return find_columns(o, c, info, err);
}

/* ---- scaling ---- */

/* The word given for `scaling`; USUAL if it is a file or not given. */
enum mase_scale mase_data_choice_scale(const struct mase_data_choice *c)
{
    const char *said = text_of(c, MASE_DATA_scaling);
    for (int i = MASE_SCALE_NONE; said && i <= MASE_SCALE_MINMAX; i++)
        if (mase_streq(mase_scale_names[i], said))
            return (enum mase_scale)i;
    return MASE_SCALE_USUAL;
}

const char *mase_data_choice_scaling_file(const struct mase_data_choice *c)
{
    return mase_data_choice_scale(c) ? NULL : text_of(c, MASE_DATA_scaling);
}

/* ---- apply the scaling ---- */

/* Weights are used with the feature scaling they were trained with; only training may change it. */
static enum mase_status check_word(const struct mase_data_choice *c, enum mase_scale word,
                                   enum mase_scale trained, struct mase_err *err)
{
    const char *load = c->weights;
    if (trained == MASE_SCALE_USUAL || trained == word ||
        (trained == MASE_SCALE_GIVEN && word != MASE_SCALE_NONE))
        return MASE_OK;
    if (c->trains) {
        mase_warn("%s was trained with scaling %s; from here on it is %s", load,
                  mase_scale_names[trained], mase_scale_names[word]);
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EVALUE, c->value[MASE_DATA_scaling]->at,
                        "--scaling %s contradicts %s, which was trained with scaling %s",
                        mase_scale_names[word], load, mase_scale_names[trained]);
}

static bool is_own_table(const struct mase_data_choice *c)
{
    const char *name = c->dataset;
    return name && mase_data_kind_of(name);
}

static enum mase_status find_scaling(struct mase_dataset_opts *o, const struct mase_data_choice *c,
                                     const struct mase_checkpoint_info *info, struct mase_err *err)
{
    const enum mase_scale word = mase_data_choice_scale(c);
    if (word)
        MASE_TRY(check_word(c, word, info->scale, err));
    if (word && (c->trains || info->scale == MASE_SCALE_USUAL)) {
        o->scale = word; /* from the statistics of this data */
    } else if (info->scaling.n) {
        o->scale = MASE_SCALE_GIVEN;
        o->scaling = mase_arena_memdup(c->arena, &info->scaling, sizeof info->scaling);
    } else {
        o->scale = info->scale;
    }
    return MASE_OK;
}

static bool is_same_data(const struct mase_data_choice *c, const struct mase_dataset *d,
                         const struct mase_checkpoint_info *info)
{
    return !is_own_table(c) && info->checksum &&
           mase_streq(info->checksum, mase_dataset_info(d)->checksum);
}

/* Log where the numbers of a given scaling come from. */
static void log_scaling(const struct mase_data_choice *c, const struct mase_dataset *d,
                        const struct mase_checkpoint_info *info)
{
    const enum mase_scale done = mase_dataset_info(d)->scale;
    const char *load = c->weights;
    if (done == MASE_SCALE_GIVEN && mase_data_choice_scaling_file(c))
        mase_info("The features are scaled as %s says", mase_data_choice_scaling_file(c));
    else if (done == MASE_SCALE_GIVEN && is_same_data(c, d, info))
        return; /* the dataset's own scaling would have these numbers */
    else if (done == MASE_SCALE_GIVEN)
        mase_info("The features are scaled as those of %s, on which the checkpoint was trained",
                  info->data.name ? info->data.name : "the data");
    else if (load && is_own_table(c) && !mase_dataset_info(d)->image.channels && !info->scale &&
             !mase_data_choice_scale(c))
        mase_warn("%s does not say how the features were scaled that it was trained on: they are "
                  "given as stored; --scaling says otherwise",
                  load);
}

enum mase_status mase_dataset_open_for(struct mase_dataset **d, const struct mase_data_choice *c,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err)
{
    struct mase_dataset_opts opts;
    MASE_TRY(mase_data_choice_opts(&opts, c, info, err));
    MASE_TRY(find_scaling(&opts, c, info, err));
    if (mase_dataset_open(d, c->dataset, &opts, err))
        return mase_place(err, c->at);
    enum mase_status st = check_split(c, *d, info, err);
    if (!st)
        st = check_pixels(c, *d, info, err);
    if (st) {
        mase_dataset_close(*d);
        *d = NULL;
        return st;
    }
    log_columns(c, *d, info);
    log_scaling(c, *d, info);
    return MASE_OK;
}
