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
/* The same from memory; path is used in messages only. */
enum mase_status mase_npy_parse(struct mase_tensor *t, struct mase_arena *a, const void *data,
                                size_t size, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The bytes that numpy.save would write. */
enum mase_status mase_npy_write(const struct mase_tensor *t, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;

/* The arrays of a .npz file by name, as numpy.load gives them. */
struct mase_npz {
    struct mase_arena arena;
    struct mase_named_tensor *items;
    int count;
    int converted; /* arrays of types we lack (float16 ...), now of one of ours */
};

/* From memory, which must outlive z; path is used in messages only. Arrays are views where the file
 * holds them as they are in memory (stored, in C order, aligned), else copies: deflated ones take
 * at most 128 MiB plus 16 times the file's size. */
enum mase_status mase_npz_parse(struct mase_npz *z, const void *data, size_t size, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The same, every array left in the type that the file has it in. */
enum mase_status mase_npz_parse_stored(struct mase_npz *z, const void *data, size_t size,
                                       const char *path, struct mase_err *err) MASE_MUST_CHECK;
void mase_npz_close(struct mase_npz *z);
/* As numpy.savez: stored, not deflated, each array aligned to 64 bytes. bfloat16 is refused: NumPy
 * has no such type. */
enum mase_status mase_npz_write(const struct mase_named_tensor *items, int count, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_NPY_H */
