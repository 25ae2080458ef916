/*
 * npy_parts.h - what .npz files share with .npy files: arrays as they lie in a file.
 */
#ifndef MASE_FILE_NPY_PARTS_H
#define MASE_FILE_NPY_PARTS_H

#include <mase/cursor.h>
#include <mase/npy.h>
#include <mase/str.h>

#include "file/element.h"

/* The array that takes the rest of the cursor's file: a view of the elements where they lie as in
 * memory, else a copy in the arena. as_stored: in the file's own type; else counts the arrays whose
 * type became wider. */
enum mase_status mase_npy_view(struct mase_tensor *t, struct mase_arena *a, bool as_stored,
                               int *converted, struct mase_cursor *in,
                               struct mase_err *err) MASE_MUST_CHECK;

/* As above for an array of texts, in UTF-8; text = NULL: it holds numbers. */
struct mase_npy_texts {
    struct mase_shape shape;
    const char **text; // (count)
    int64_t count;
};
enum mase_status mase_npy_texts(struct mase_npy_texts *t, struct mase_arena *a,
                                struct mase_cursor *in, struct mase_err *err) MASE_MUST_CHECK;

/* How many bytes of the array mase_npy_view would copy; 0: it is viewed where it lies. */
enum mase_status mase_npy_copied(uint64_t *bytes, bool as_stored, struct mase_cursor *in,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* Type and shape only, from the header, which lies in the cursor's file as the first bytes of a
 * whole of this size. */
enum mase_status mase_npy_outline(struct mase_tensor *t, struct mase_cursor *in, uint64_t whole,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* Can t be written? what names it in the message. */
enum mase_status mase_npy_check(const struct mase_tensor *t, const char *what, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Write the header, whose length is a multiple of 64 bytes. */
void mase_npy_header(struct mase_str *out, const struct mase_tensor *t);

#endif /* MASE_FILE_NPY_PARTS_H */
