/*
 * cifar.h - the binary files of cifar10 and cifar100: records of one or two label bytes, of which
 * the last counts, and 3 x 32 x 32 bytes, red, green, blue.
 */
#ifndef MASE_DATA_CIFAR_H
#define MASE_DATA_CIFAR_H

#include <stdint.h>

#include <mase/err.h>
#include <mase/file.h>

enum { MASE_CIFAR_IMAGE = 3 * 32 * 32 };

/* Check that there are whole records, at least ten, with labels below `classes`; *n: their number.
 */
enum mase_status mase_cifar_check(const struct mase_file *f, int label_bytes, int classes,
                                  int64_t *n, struct mase_err *err) MASE_MUST_CHECK;

/* A pickled batch: a dict with data, (n, 3072) bytes, and a list of labels under key. Images and
 * labels are in a. */
struct mase_cifar_batch {
    const unsigned char *images;
    const int32_t *labels;
    int64_t n;
};
enum mase_status mase_cifar_pickle(struct mase_cifar_batch *b, struct mase_arena *a,
                                   const struct mase_file *f, const char *key, int classes,
                                   struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_CIFAR_H */
