/*
 * fuzz_zip.c - any bytes as a zip file; whatever opens, every entry is read.
 */
#include <stddef.h>
#include <stdint.h>

#include "file/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_arena a = { 0 };
    struct mase_zip z;
    struct mase_err err = { 0 };
    if (mase_zip_open(&z, &a, data, size, "fuzz.zip", &err) == MASE_OK) {
        for (int i = 0; i < z.count; i++) {
            const struct mase_zip_entry *e = &z.entries[i];
            const unsigned char *p;
            unsigned sum = 0;
            if (mase_zip_read(&z, e, &a, &p, 1 << 20, &err) == MASE_OK)
                for (uint64_t k = 0; k < e->size; k++) /* every byte can be read */
                    sum += p[k];
            else if (!err.msg[0])
                mase_bug("refused without cause");
            (void)sum;
        }
    }
    mase_arena_release(&a);
    return 0;
}
