/*
 * predict_table.c - read samples to predict from a data file: the columns that the checkpoint was
 * trained on, by name; labels are optional.
 */
#include <string.h>

#include <mase/dataset.h>
#include <mase/log.h>

#include "cli/command/cmd_train.h"
#include "cli/predict_many.h"

/* Not .npz, which may as well have arrays named as forward's arguments. */
bool mase_cli_is_table(const char *path)
{
    const struct mase_data_kind *kind = mase_data_kind_of(path);
    return kind && !mase_streq(kind->prefix, "images") && !mase_streq(kind->prefix, "npz");
}

/* Open every row of the file, in order and unscaled. */
static enum mase_status open_table(struct mase_dataset **d, struct mase_cli *c,
                                   const struct mase_checkpoint_info *info, const char *path,
                                   struct mase_err *err)
{
    struct mase_dataset_opts o;
    MASE_TRY(mase_cli_data_opts(&o, c, info, err));
    o.target = MASE_TARGET_NONE;
    o.in_order = true;
    o.scale = MASE_SCALE_NONE;
    o.drop_missing = mase_cli_flag(c, MASE_CLI_drop_nan);
    return mase_dataset_open(d, path, &o, err);
}

enum mase_status mase_cli_read_table(struct mase_tensor *x, struct mase_cli *c,
                                     const struct mase_checkpoint_info *info, const char *path,
                                     struct mase_err *err)
{
    struct mase_dataset *d;
    MASE_TRY(open_table(&d, c, info, path, err));
    const struct mase_dataset_info *read = mase_dataset_info(d);
    const struct mase_table_view t = mase_dataset_table(d);
    const int64_t each = mase_shape_count(&read->data.sample);
    struct mase_shape shape = { .rank = 1 + read->data.sample.rank, .dim = { read->rows } };
    enum mase_status st = MASE_OK;
    memcpy(shape.dim + 1, read->data.sample.dim,
           (size_t)read->data.sample.rank * sizeof shape.dim[0]);
    if (read->data.more_count)
        st = mase_fail_in(err, MASE_EUNSUPPORTED, path,
                          "its columns are those of several inputs; give a .npz file that has an "
                          "array for each");
    else
        *x = mase_tensor(&c->arena, MASE_F32, &shape, true);
    for (int64_t i = 0; !st && i < read->rows; i++)
        memcpy(mase_f32(x) + i * each, t.data + i * t.stride, (size_t)each * sizeof(float));
    if (!st && read->dropped)
        mase_warn("%s: %lld row%s with a missing value %s left out: there are fewer outputs than "
                  "rows",
                  path, (long long)read->dropped, read->dropped == 1 ? "" : "s",
                  read->dropped == 1 ? "is" : "are");
    mase_dataset_close(d);
    return st;
}
