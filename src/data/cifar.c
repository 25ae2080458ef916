/*
 * cifar.c - checking the binary files of cifar10 and cifar100.
 */
#include "data/cifar.h"

#include <inttypes.h>

enum { IMAGES_MIN = 10 };

static struct mase_loc place(const struct mase_file *f, int64_t off)
{
    return (struct mase_loc){ .path = f->path, .off = off };
}

enum mase_status mase_cifar_check(const struct mase_file *f, int label_bytes, int classes,
                                  int64_t *n, struct mase_err *err)
{
    const int64_t record = label_bytes + MASE_CIFAR_IMAGE, size = (int64_t)f->size;
    *n = size / record;
    if (size % record)
        return mase_fail_at(err, MASE_EPARSE, place(f, *n * record),
                            "the last record has %" PRId64 " bytes, expected %" PRId64,
                            size % record, record);
    if (*n < IMAGES_MIN || *n > INT32_MAX)
        return mase_fail_in(err, MASE_EPARSE, f->path, "%" PRId64 " images, expected at least %d",
                            *n, IMAGES_MIN);
    for (int64_t i = 0; i < *n; i++) {
        const int64_t off = i * record + label_bytes - 1;
        if (f->data[off] >= classes)
            return mase_fail_at(err, MASE_EVALUE, place(f, off),
                                "label %d of image %" PRId64 " is outside 0..%d", f->data[off], i,
                                classes - 1);
    }
    return MASE_OK;
}
