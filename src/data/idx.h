/*
 * idx.h - IDX files of bytes, gzipped or not.
 */
#ifndef MASE_DATA_IDX_H
#define MASE_DATA_IDX_H

#include <mase/file.h>
#include <mase/tensor.h>

/* Check an open file, after unpacking it into the arena if it is gzipped (to at most 128 MiB plus
 * 16 times its size): it must hold *n items of this shape, from byte 8 + 4 * item->rank on, and
 * nothing else. */
enum mase_status mase_idx_check(struct mase_file *f, struct mase_arena *a,
                                const struct mase_shape *item, int64_t *n,
                                struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_IDX_H */
