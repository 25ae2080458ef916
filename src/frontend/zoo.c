/*
 * zoo.c - the table of models, gathered from zoo.def, and what their builders share.
 */
#include <inttypes.h>

#include "base/number.h"
#include "data/find_name.h"
#include "frontend/zoo/zoo_parts.h"

const struct mase_model mase_zoo[] = {
#define MODEL(name_, class_, build_, task_, dataset_, help_) \
    { name_, class_, task_, dataset_, help_, mase_zoo_##build_ },
#include "frontend/zoo.def"
    { 0 },
};

static const char *const names[] = {
#define MODEL(name_, ...) name_,
#include "frontend/zoo.def"
};

enum mase_status mase_zoo_find(const struct mase_model **m, const char *name, struct mase_err *err)
{
    int i;
    MASE_TRY(mase_name_find(&i, "model", name, names, sizeof names / sizeof names[0], err));
    *m = &mase_zoo[i];
    return MASE_OK;
}

static enum mase_status refuse(const char *model, const struct mase_data_info *data,
                               const char *wanted, struct mase_err *err)
{
    struct mase_str shape = { 0 };
    mase_shape_print(&shape, &data->sample);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "model %s takes %s, but a sample of %s is %s", model, wanted,
                  data->name, mase_str_text(&shape));
    mase_str_release(&shape);
    return st;
}

enum mase_status mase_zoo_need_rank(const char *model, const struct mase_data_info *data, int rank,
                                    struct mase_err *err)
{
    if (data->sample.rank == rank)
        return MASE_OK;
    return refuse(model, data, rank == 1 ? "one row of features" : "images of 3 dimensions", err);
}

enum mase_status mase_zoo_need_size(const char *model, const struct mase_data_info *data,
                                    int64_t height, int64_t width, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank(model, data, 3, err));
    if (data->sample.dim[1] == height && data->sample.dim[2] == width)
        return MASE_OK;
    char wanted[64];
    mase_snprintf(wanted, sizeof wanted, "images of %" PRId64 " x %" PRId64, height, width);
    return refuse(model, data, wanted, err);
}
