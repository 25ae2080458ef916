/*
 * dataset_samples.c - an open dataset as passes read samples.
 */
#include "work/work_parts.h"

static enum mase_split split_of(const char *name)
{
    int i = 0;
    while (i < MASE_SPLIT_COUNT && !mase_streq(mase_split_names[i], name))
        i++;
    if (i == MASE_SPLIT_COUNT)
        mase_bug("no split is called '%s'", name);
    return (enum mase_split)i;
}

static enum mase_status count_samples(void *data, const char *split, int64_t *count,
                                      struct mase_err *err)
{
    const struct mase_dataset *d = data;
    *count = mase_dataset_split(d, split_of(split)).count;
    if (*count == 0)
        return mase_fail(err, MASE_EVALUE, "the %s split of %s is empty", split,
                         mase_dataset_info(d)->data.name);
    return MASE_OK;
}

static enum mase_status read_samples(void *data, const char *split, int64_t first, int64_t n,
                                     float *x, struct mase_err *err)
{
    const struct mase_dataset *d = data;
    const struct mase_data_info *info = &mase_dataset_info(d)->data;
    int64_t count;
    MASE_TRY(count_samples(data, split, &count, err));
    if (first < 0 || n < 0 || n > count - first)
        mase_bug("samples %lld to %lld of %lld", (long long)first, (long long)(first + n),
                 (long long)count);
    mase_dataset_batch(d, &(struct mase_batch){
                              .row = mase_dataset_split(d, split_of(split)).row + first,
                              .n = n,
                              .x = x,
                              .feature_stride = 1,
                              .sample_stride = mase_data_features(info),
                          });
    return MASE_OK;
}

static bool lend_samples(void *data, const char *split, int64_t first,
                         struct mase_sample_rows *rows)
{
    const struct mase_dataset *d = data;
    const struct mase_table_view table = mase_dataset_table(d);
    if (!table.data)
        return false;
    *rows = (struct mase_sample_rows){ table.data, table.stride,
                                       mase_dataset_split(d, split_of(split)).row + first };
    return true;
}

struct mase_samples mase_work_samples(const struct mase_dataset *d, int64_t batch_size)
{
    return (struct mase_samples){ .count = count_samples,
                                  .read = read_samples,
                                  .lend = lend_samples,
                                  .batch_size = batch_size,
                                  .data = (void *)d }; /* which is only read */
}
