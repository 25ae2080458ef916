/*
 * datasets.c - the table of datasets, gathered from datasets.def.
 */
#include <mase/data.h>

#include "data/names.h"

#define SAMPLE(...)                                           \
    {                                                         \
        sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), \
        {                                                     \
            __VA_ARGS__                                       \
        }                                                     \
    }

const struct mase_data_info mase_datasets[] = {
#define DATASET(name_, sample_, classes_, help_) { name_, sample_, classes_, help_ },
#include "data/datasets.def"
    { 0 },
};

static const char *const names[] = {
#define DATASET(name_, sample_, classes_, help_) name_,
#include "data/datasets.def"
};

enum mase_status mase_data_find(const struct mase_data_info **d, const char *name,
                                struct mase_err *err)
{
    int i;
    MASE_TRY(mase_name_find(&i, "dataset", name, names, sizeof names / sizeof names[0], err));
    *d = &mase_datasets[i];
    return MASE_OK;
}
