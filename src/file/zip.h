/*
 * zip.h - zip containers: .npz, .pt, .ckpt.
 *
 * Reading goes by the central directory alone, over a file in memory or mapped. A stored entry is a
 * view into the file; a deflated one is unpacked. Nothing is believed: offsets and sizes are
 * checked against the file, contents against their CRC, and entries may not overlap, so that what
 * can be unpacked is bounded by the file's own size (deflate gains at most 1032 to 1).
 *
 *     struct mase_zip z;
 *     MASE_TRY(mase_zip_open(&z, arena, f.data, f.size, path, err));
 *     const struct mase_zip_entry *e = mase_zip_find(&z, "archive/data.pkl");
 *     MASE_TRY(mase_zip_read(&z, e, arena, &p, limit, err));             // e->size bytes at p
 *
 * Writing stores entries without compression, each content starting at a multiple of 64 bytes, as
 * PyTorch does, so that whoever reads can map.
 */
#ifndef MASE_FILE_ZIP_H
#define MASE_FILE_ZIP_H

#include <stdint.h>

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/file.h>
#include <mase/str.h>

struct mase_zip_entry {
    const char *name;      /* owned by the arena */
    uint64_t size, packed; /* bytes of the content; in the file */
    uint64_t header;       /* offset of the local header */
    uint32_t crc;
    uint16_t method; /* 0 stored, 8 deflated */
};

struct mase_zip {
    const char *path;          /* borrowed, for messages */
    const unsigned char *data; /* borrowed: the whole file */
    uint64_t size;
    uint64_t directory; /* offset of the central directory: contents end before it */
    struct mase_zip_entry *entries;
    int count;
    struct mase_map names;
};

/* Read the central directory. data and path must outlive z; the arena owns what z points to. */
enum mase_status mase_zip_open(struct mase_zip *z, struct mase_arena *a, const void *data,
                               size_t size, const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* NULL when there is none of this name. */
const struct mase_zip_entry *mase_zip_find(const struct mase_zip *z, const char *name);

/* The content, e->size bytes: a view into the file if stored, else unpacked into the arena. More
 * than limit bytes is MASE_ELIMIT. */
enum mase_status mase_zip_read(const struct mase_zip *z, const struct mase_zip_entry *e,
                               struct mase_arena *a, const unsigned char **content, uint64_t limit,
                               struct mase_err *err) MASE_MUST_CHECK;

/* The first bytes of the content, at most n; *n becomes how many. Not checked against the CRC. */
enum mase_status mase_zip_peek(const struct mase_zip *z, const struct mase_zip_entry *e,
                               struct mase_arena *a, const unsigned char **content, size_t *n,
                               struct mase_err *err) MASE_MUST_CHECK;

struct mase_zip_writer {
    struct mase_writer *out;   /* borrowed; nothing else may write to it meanwhile */
    struct mase_str directory; /* the central directory so far */
    uint64_t count;
    uint64_t wide_from; /* private: sizes and offsets from here on take 64 bits; tests lower it */
};

/* out must be freshly opened. */
void mase_zip_begin(struct mase_zip_writer *w, struct mase_writer *out);
enum mase_status mase_zip_put(struct mase_zip_writer *w, const char *name, const void *data,
                              size_t size, struct mase_err *err) MASE_MUST_CHECK;
/* As above, with content in parts. */
struct mase_zip_part {
    const void *data;
    size_t size;
};
enum mase_status mase_zip_put_parts(struct mase_zip_writer *w, const char *name,
                                    const struct mase_zip_part *parts, int count,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Write the directory. The caller closes out, and releases w also after failures. */
enum mase_status mase_zip_finish(struct mase_zip_writer *w, struct mase_err *err) MASE_MUST_CHECK;
void mase_zip_release(struct mase_zip_writer *w);

#endif /* MASE_FILE_ZIP_H */
