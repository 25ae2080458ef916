/*
 * table.c - the rows that ch trains on and tests on, for peers: the same numbers, the same split.
 *
 *     table DATASET DATA_DIR FILE.npz      DATA_DIR "-": where ch looks without --data-dir
 *
 * Writes xtr (rows, features), ytr (rows), xte and yte, scaled as a network is given them. Splits
 * are those of --split mase: no row is kept back from training.
 */
#include <stdio.h>

#include <mase/dataset.h>
#include <mase/log.h>
#include <mase/npy.h>
#include <mase/str.h>

static struct mase_named_tensor named(struct mase_arena *a, const char *name, enum mase_dtype dtype,
                                      const struct mase_shape *shape)
{
    return (struct mase_named_tensor){ .name = name, .tensor = mase_tensor(a, dtype, shape, true) };
}

static void take(struct mase_named_tensor *x, struct mase_named_tensor *y, struct mase_arena *a,
                 const struct mase_dataset *d, enum mase_split split)
{
    const struct mase_split_rows rows = mase_dataset_split(d, split);
    const int64_t features = mase_shape_count(&mase_dataset_info(d)->data.sample);
    const bool train = split == MASE_SPLIT_TRAIN;
    *x = named(a, train ? "xtr" : "xte", MASE_F32,
               &(struct mase_shape){ 2, { rows.count, features } });
    *y = named(a, train ? "ytr" : "yte", MASE_I32, &(struct mase_shape){ 1, { rows.count } });
    mase_dataset_batch(d, &(struct mase_batch){ .row = rows.row,
                                                .n = rows.count,
                                                .x = x->tensor.data,
                                                .feature_stride = 1,
                                                .sample_stride = features,
                                                .label = y->tensor.data });
}

static enum mase_status run(char **argv, struct mase_err *err)
{
    const struct mase_dataset_opts opts = { .data_dir = mase_streq(argv[2], "-") ? NULL : argv[2],
                                            .original_splits = true };
    struct mase_arena arena = { 0 };
    struct mase_dataset *d;
    struct mase_named_tensor items[4];
    MASE_TRY(mase_dataset_open(&d, argv[1], &opts, err));
    take(&items[0], &items[1], &arena, d, MASE_SPLIT_TRAIN);
    take(&items[2], &items[3], &arena, d, MASE_SPLIT_TEST);
    const enum mase_status st = mase_npz_write(items, 4, argv[3], err);
    mase_dataset_close(d);
    mase_arena_release(&arena);
    return st;
}

int main(int argc, char **argv)
{
    struct mase_err err = { 0 };
    if (argc != 4) {
        fprintf(stderr, "usage: table DATASET DATA_DIR|- FILE.npz\n");
        return 2;
    }
    mase_log_set_level(MASE_ERROR);
    if (!run(argv, &err))
        return 0;
    mase_err_print(stderr, &err);
    return 2;
}
