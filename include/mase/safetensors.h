/*
 * safetensors.h - named tensors in one file: a JSON header and raw little-endian data.
 */
#ifndef MASE_SAFETENSORS_H
#define MASE_SAFETENSORS_H

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/file.h>
#include <mase/tensor.h>
#include <mase/value.h>
#include <mase/weights.h>

MASE_API_BEGIN

struct mase_safetensors {
    struct mase_arena arena;
    struct mase_file file;
    struct mase_named_tensor *items;
    int count;
    struct mase_unread *unread; /* tensors of types that are not read: F8_E4M3 */
    int unread_count;
    int converted; /* number of items converted from a type that tensors do not have */
    struct mase_value *metadata; /* a table of strings, empty if the file has none */
};

/* Maps the file and checks every rule of the format: header length, JSON, types, shapes, offsets
 * without gaps or overlaps, the exact end. Tensors of other types (f16, bf16) are converted. */
enum mase_status mase_safetensors_open(struct mase_safetensors *st, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Read a file in memory, which must outlive st; path is used in messages only. */
enum mase_status mase_safetensors_parse(struct mase_safetensors *st, const void *data, size_t size,
                                        const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* mase_safetensors_parse, but every tensor keeps the type that it has in the file. */
enum mase_status mase_safetensors_parse_stored(struct mase_safetensors *st, const void *data,
                                               size_t size, const char *path,
                                               struct mase_err *err) MASE_MUST_CHECK;
/* Read the header only: tensors have the types and shapes of the file, and no data. */
enum mase_status mase_safetensors_outline(struct mase_safetensors *st, const void *data,
                                          size_t size, const char *path,
                                          struct mase_err *err) MASE_MUST_CHECK;
void mase_safetensors_close(struct mase_safetensors *st);
const struct mase_tensor *mase_safetensors_find(const struct mase_safetensors *st,
                                                const char *name); /* or NULL */
/* metadata: a table of strings, or NULL. */
enum mase_status mase_safetensors_write(const struct mase_named_tensor *items, int count,
                                        const struct mase_value *metadata, const char *path,
                                        struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_SAFETENSORS_H */
