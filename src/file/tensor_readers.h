/*
 * tensor_readers.h - what tensors.c and the readers of archives share.
 */
#ifndef MASE_FILE_TENSOR_READERS_H
#define MASE_FILE_TENSOR_READERS_H

#include <mase/weights.h>

#include "file/zip.h"

/* torch_export.c: the entry that says where the weights are; NULL: it is no .pt2 file. */
const struct mase_zip_entry *mase_export_entry(const struct mase_zip *z);
enum mase_status mase_export_read(struct mase_tensors *t, bool as_stored,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* tensors.c: the state dict of a PyTorch file in memory, which must outlive t. */
enum mase_status mase_tensors_of_torch(struct mase_tensors *t, const void *data, size_t size,
                                       const char *path, bool as_stored,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* shards.c: the tensors of all files that an index names, which lies beside them. */
enum mase_status mase_shards_read(struct mase_tensors *t, bool as_stored,
                                  struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FILE_TENSOR_READERS_H */
