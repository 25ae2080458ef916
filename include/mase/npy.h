/*
 * npy.h - NumPy's files: .npy, versions 1.0 to 3.0, and .npz, which are zip files of them.
 */
#ifndef MASE_NPY_H
#define MASE_NPY_H

#include <stddef.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/file.h>
#include <mase/tensor.h>
#include <mase/weights.h>

MASE_API_BEGIN

/* Read a whole array into the arena: C or Fortran order, little or big endian; float16 is widened
 * to float32 and other types to the nearest we have; object arrays are refused. */
enum mase_status mase_npy_read(struct mase_tensor *t, struct mase_arena *a, const char *path,
                               struct mase_err *err) MASE_MUST_CHECK;
/* Read an array from memory; path is used in messages only. */
enum mase_status mase_npy_parse(struct mase_tensor *t, struct mase_arena *a, const void *data,
                                size_t size, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Write the bytes that numpy.save would write. */
enum mase_status mase_npy_write(const struct mase_tensor *t, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;

/* The arrays of a .npz file by name, as numpy.load gives them. */
struct mase_npz {
    struct mase_arena arena;
    struct mase_named_tensor *items;
    int count;
    int converted; /* number of arrays converted from a type that tensors do not have (float16 ...)
                    */
};

/* Read arrays from memory, which must outlive z; path is used in messages only. An array is a view
 * where the file has the layout of memory (stored, in C order, aligned), else a copy; deflated
 * arrays take at most 128 MiB plus 16 times the file's size. */
enum mase_status mase_npz_parse(struct mase_npz *z, const void *data, size_t size, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* mase_npz_parse, but every array keeps the type that it has in the file. */
enum mase_status mase_npz_parse_stored(struct mase_npz *z, const void *data, size_t size,
                                       const char *path, struct mase_err *err) MASE_MUST_CHECK;
void mase_npz_close(struct mase_npz *z);
/* Write as numpy.savez does: stored, not deflated, each array aligned to 64 bytes. bfloat16, which
 * NumPy lacks, is refused. */
enum mase_status mase_npz_write(const struct mase_named_tensor *items, int count, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_NPY_H */
