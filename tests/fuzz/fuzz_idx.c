/*
 * fuzz_idx.c - any bytes as an IDX file, gzipped or not: of labels, and of images of 2 x 3 pixels.
 */
#include <stddef.h>
#include <stdint.h>

#include "data/idx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_items(const uint8_t *data, size_t size, const struct mase_shape *item)
{
    struct mase_file f = { .path = "fuzz.idx", .data = data, .size = size };
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    int64_t n = 0;
    if (mase_idx_check(&f, &a, item, &n, &err) == MASE_OK) {
        const unsigned char *p = f.data + 8 + 4 * item->rank;
        unsigned sum = 0; /* every byte of every item can be read */
        for (int64_t i = 0; i < n * mase_shape_count(item); i++)
            sum += p[i];
        (void)sum;
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
    mase_arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_items(data, size, &(struct mase_shape){ 0 });
    read_items(data, size, &(struct mase_shape){ 2, { 2, 3 } });
    return 0;
}
