/*
 * element.h - array elements as files hold them, in types we have or lack, as ours.
 *
 * Shared by the readers: a reader's type table names one struct mase_element per type, and each
 * element of the file becomes the bits of the tensor type that holds all its values.
 */
#ifndef MASE_FILE_ELEMENT_H
#define MASE_FILE_ELEMENT_H

#include <mase/tensor.h>

struct mase_element {
    char kind;             /* in the file, as mase_dtypes has it */
    int size;              /* bytes in the file */
    enum mase_dtype dtype; /* in the tensor */
};

struct mase_element mase_element_of(enum mase_dtype dtype);
/* The type in which the file stores it, for reading without conversion. */
struct mase_element mase_element_as_stored(const struct mase_element *e);

/* Does this machine keep the most significant byte first? */
extern const bool mase_host_is_big;

/* Are the file's bytes those of the tensor, if the byte order is the host's? */
bool mase_element_is_native(const struct mase_element *e);
/* One element as the bits of e->dtype: floats exactly, integers widened, booleans 0 or 1. False
 * when the value does not fit: an unsigned beyond the largest int64. */
bool mase_element_load(const struct mase_element *e, uint64_t *bits, const unsigned char *p,
                       bool big_endian);
void mase_element_store(struct mase_tensor *t, int64_t i, uint64_t bits);

#endif /* MASE_FILE_ELEMENT_H */
