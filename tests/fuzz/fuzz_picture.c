/*
 * fuzz_picture.c - any bytes as a picture, and as a pickled batch of cifar.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "data/cifar.h"
#include "data/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const struct mase_file *f)
{
    const struct mase_picture_want want = { 3, 7, 5 };
    unsigned char to[3 * 7 * 5];
    struct mase_picture p;
    struct mase_err err = { 0 };
    enum mase_status st = mase_picture_header(&p, f, &err);
    if (!st && (int64_t)p.width * p.height < 1 << 20) /* a process of its own bounds the rest */
        st = mase_picture_decode(to, &want, f->data, f->size, &err);
    if (st && !err.msg[0])
        mase_bug("refused without cause");
}

static void batch(const struct mase_file *f)
{
    struct mase_arena a = { 0 };
    struct mase_cifar_batch b;
    struct mase_err err = { 0 };
    if (mase_cifar_pickle(&b, &a, f, "labels", 10, &err) == MASE_OK) {
        unsigned sum = 0; /* every byte can be read, every label has its class */
        for (int64_t i = 0; i < b.n * MASE_CIFAR_IMAGE; i++)
            sum += b.images[i];
        for (int64_t i = 0; i < b.n; i++)
            if (b.labels[i] < 0 || b.labels[i] > 9)
                mase_bug("label %d, after %u", b.labels[i], sum);
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
    mase_arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mase_file f = { .path = "fuzz", .data = data, .size = size };
    if (size && data[0] == 0x80)
        batch(&f);
    else
        decode(&f);
    return 0;
}
