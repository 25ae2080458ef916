/*
 * fuzz_cifar.c - any bytes as a file of cifar10 or cifar100.
 */
#include <stddef.h>
#include <stdint.h>

#include "data/cifar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_images(const uint8_t *data, size_t size, int label_bytes, int classes)
{
    const struct mase_file f = { .path = "fuzz.bin", .data = data, .size = size };
    struct mase_err err = { 0 };
    int64_t n = 0;
    if (mase_cifar_check(&f, label_bytes, classes, &n, &err) == MASE_OK) {
        unsigned sum = 0; /* every byte of every record can be read */
        for (int64_t i = 0; i < n * (label_bytes + MASE_CIFAR_IMAGE); i++)
            sum += data[i];
        for (int64_t i = 0; i < n; i++)
            if (data[i * (label_bytes + MASE_CIFAR_IMAGE) + label_bytes - 1] >= classes)
                mase_bug("label of image %lld", (long long)i);
        (void)sum;
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_images(data, size, 1, 10);
    read_images(data, size, 2, 100);
    return 0;
}
