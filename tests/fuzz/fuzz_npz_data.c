/*
 * fuzz_npz_data.c - any bytes as npz:FILE, a table in a zip file of arrays.
 */
#include <stddef.h>
#include <stdint.h>

#include <mase/log.h>

#include "data/dataset_parts.h"
#include "data/raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mase_file f = { .path = "fuzz.npz", .data = data, .size = size };
    struct mase_dataset d = { 0 };
    struct mase_raw r = { 0 };
    struct mase_err err = { 0 };
    mase_log_set_level(MASE_CRITICAL); /* warnings are no faults */
    if (mase_npz_table(&d, &r, &f, &(struct mase_columns){ 0 }, &err) == MASE_OK) {
        double sum = 0; /* every number can be read, every feature has a name */
        for (int64_t i = 0; i < r.rows * r.features; i++)
            sum += r.x[i];
        for (int64_t i = 0; i < r.features; i++)
            sum += r.feature_names[i][0];
        for (int64_t i = 0; i < r.rows; i++)
            if (r.label[i] < 0)
                mase_bug("label %d", r.label[i]);
        (void)sum;
        if (mase_raw_check(&r, f.path, &err) && !err.msg[0])
            mase_bug("refused without cause");
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
    mase_raw_release(&r);
    mase_arena_release(&d.arena);
    return 0;
}
