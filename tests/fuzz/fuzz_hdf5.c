/*
 * fuzz_hdf5.c - any bytes as h5:FILE, read as the program reads them: by libhdf5 in a child. What
 * the library does to itself ends the child by a signal and is a sentence; what our own code does
 * wrong there, a sanitizer ends with a status.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mase/dataset.h>
#include <mase/log.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* libhdf5 asks for as much as a damaged file says, and can live with getting nothing. */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], spec[80];
    struct mase_dataset *d = NULL;
    struct mase_err err = { 0 };
    snprintf(path, sizeof path, "/dev/shm/fuzz_hdf5_%d.h5", (int)getpid());
    snprintf(spec, sizeof spec, "h5:%s", path);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        mase_bug("cannot write %s", path);
    mase_log_set_level(MASE_CRITICAL); /* warnings are no faults */
    if (mase_dataset_open(&d, spec, NULL, &err) == MASE_OK) {
        const struct mase_table_view t = mase_dataset_table(d);
        float sum = 0; /* every number can be read, every label has its class */
        for (int64_t i = 0; i < mase_dataset_info(d)->rows * t.stride; i++)
            sum += t.data[i];
        for (int64_t i = 0; i < mase_dataset_info(d)->rows; i++)
            if (mase_dataset_labels(d)[i] < 0 ||
                mase_dataset_labels(d)[i] >= mase_dataset_info(d)->data.classes)
                mase_bug("label %d", mase_dataset_labels(d)[i]);
        (void)sum;
        mase_dataset_close(d);
    } else if (!err.msg[0] || strstr(err.msg, "ended with status")) {
        mase_bug("refused without cause: %s", err.msg);
    }
    unlink(path);
    return 0;
}
