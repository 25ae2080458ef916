/*
 * data_for.c - data for a network: scaled, divided and read as its weights were trained on.
 */
#include <mase/log.h>
#include <mase/work.h>

enum mase_status mase_work_read_scaling(struct mase_work *w, struct mase_err *err)
{
    const struct mase_data_choice *c = &w->choice.data;
    const char *file = mase_data_choice_scaling_file(c);
    if (!file || w->scaling_read)
        return MASE_OK;
    if (w->trained.scale)
        mase_warn("%s scales the features, not what %s says", file, c->weights);
    w->scaling_read = true;
    return mase_trained_read(&w->trained, c->arena, file, err);
}

enum mase_status mase_work_open_data(struct mase_dataset **d, struct mase_work *w,
                                     struct mase_err *err)
{
    MASE_TRY(mase_work_read_scaling(w, err));
    return mase_dataset_open_for(d, &w->choice.data, &w->trained, err);
}

enum mase_status mase_work_data_info(const struct mase_data_info **info, struct mase_work *w,
                                     const char *name, struct mase_err *err)
{
    const struct mase_data_choice *c = &w->choice.data;
    struct mase_dataset_opts opts;
    struct mase_dataset *d;
    if (!mase_data_kind_of(name))
        return mase_data_find(info, name, err);
    MASE_TRY(mase_data_choice_opts(&opts, c, &w->trained, err));
    MASE_TRY(mase_dataset_open(&d, name, &opts, err));
    struct mase_data_info *own = mase_data_info_copy(c->arena, &mase_dataset_info(d)->data);
    own->name = mase_arena_strdup(c->arena, name);
    mase_dataset_close(d);
    *info = own;
    return MASE_OK;
}

/* From now on the data of the choice are read so. */
static void name_features(struct mase_data_choice *c, const char *features)
{
    c->value[MASE_DATA_features] = mase_value_string(c->arena, features);
    c->said[MASE_DATA_features] = true;
}

enum mase_status mase_work_match_inputs(struct mase_dataset **d, struct mase_work *w,
                                        struct mase_err *err)
{
    struct mase_data_choice *c = &w->choice.data;
    const char *features;
    MASE_TRY(mase_inputs_match(&features, c->arena, w->graph, &mase_dataset_info(*d)->data, err));
    if (!features)
        return MASE_OK;
    name_features(c, features);
    mase_dataset_close(*d);
    *d = NULL;
    return mase_dataset_open_for(d, c, &w->trained, err);
}
