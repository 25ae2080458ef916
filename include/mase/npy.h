/*
 * npy.h - NumPy's .npy files, versions 1.0 to 3.0.
 */
#ifndef MASE_NPY_H
#define MASE_NPY_H

#include <stddef.h>

#include <mase/arena.h>
#include <mase/tensor.h>

/* Read a whole array into the arena: C or Fortran order, little or big endian; float16 is widened
 * to float32 and other types to the nearest we have; object arrays are refused. */
enum mase_status mase_npy_read(struct mase_tensor *t, struct mase_arena *a, const char *path,
                               struct mase_err *err) MASE_MUST_CHECK;
/* The same from memory; path is used in messages only. */
enum mase_status mase_npy_parse(struct mase_tensor *t, struct mase_arena *a, const void *data,
                                size_t size, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The bytes that numpy.save would write. */
enum mase_status mase_npy_write(const struct mase_tensor *t, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_NPY_H */
