/*
 * data_for.c - data for a network: scaled, divided and read as its weights were trained on.
 */
#include <mase/log.h>
#include <mase/work.h>

enum mase_status mase_work_read_scaling(struct mase_opened *w, struct mase_err *err)
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

enum mase_status mase_work_open_data(struct mase_dataset **d, struct mase_opened *w,
                                     struct mase_err *err)
{
    MASE_TRY(mase_work_read_scaling(w, err));
    return mase_dataset_open_for(d, &w->choice.data, &w->trained, err);
}

enum mase_status mase_work_data_info(const struct mase_data_info **info, struct mase_opened *w,
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

/* The arrays that the inputs are called; from now on the data of the choice are read so. */
static enum mase_status match(bool *others, struct mase_opened *w,
                              const struct mase_data_info *info, struct mase_err *err)
{
    struct mase_data_choice *c = &w->choice.data;
    const char *features;
    MASE_TRY(mase_inputs_match(&features, c->arena, w->graph, info, err));
    *others = features != NULL;
    if (features) {
        c->value[MASE_DATA_features] = mase_value_string(c->arena, features);
        c->said[MASE_DATA_features] = true;
    }
    return MASE_OK;
}

enum mase_status mase_work_match_inputs(struct mase_dataset **d, struct mase_opened *w,
                                        struct mase_err *err)
{
    bool others;
    MASE_TRY(match(&others, w, &mase_dataset_info(*d)->data, err));
    if (!others)
        return MASE_OK;
    mase_dataset_close(*d);
    *d = NULL;
    MASE_TRY(mase_work_open_data(d, w, err));
    w->sample = mase_dataset_info(*d)->data.sample;
    return MASE_OK;
}

enum mase_status mase_work_match_data(const struct mase_data_info **info, struct mase_opened *w,
                                      struct mase_err *err)
{
    bool others;
    MASE_TRY(match(&others, w, *info, err));
    if (!others)
        return MASE_OK;
    MASE_TRY(mase_work_data_info(info, w, (*info)->name, err));
    w->sample = (*info)->sample;
    return MASE_OK;
}
