/*
 * cache.c - a parsed table in a file that is mapped.
 *
 *     offset  content                                 all little endian
 *     0       8 bytes 'MASETBL\n'
 *     8       u32 version, u32 CRC-32 of the header with this field 0
 *     16      u64 rows, training rows, features, classes, duplicates
 *     56      u32 CRC-32 of table and labels, u32 CRC-32 of the table before scaling
 *     64      64 bytes: SHA-256 of the source in hexadecimal
 *     128     1024 bytes: the path of the source, ended by zeros
 *     1152    f64 mean and std, 64 of each
 *     4096    f32 table (rows, features), i32 labels (rows), f32 table before scaling
 */
#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"
#include "data/raw.h"

enum { VERSION = 2, HEADER_SIZE = 4096, FEATURES_MAX = 64, PATH_SIZE = 1024 };

static const char magic[8] = "MASETBL\n"; /* not terminated */

struct header {
    char magic[8];
    uint32_t version, header_crc;
    uint64_t rows, training, features, classes, duplicates;
    uint32_t data_crc, plain_crc;
    char checksum[64];
    char source[PATH_SIZE];
    double mean[FEATURES_MAX], std[FEATURES_MAX];
    char fill[HEADER_SIZE - 1152 - 16 * FEATURES_MAX];
};
_Static_assert(sizeof(struct header) == HEADER_SIZE, "the header has no gaps");

static uint32_t crc(uint32_t start, const void *data, size_t size)
{
    return (uint32_t)crc32_z(start, data, size);
}

static uint32_t header_crc(const struct header *h)
{
    struct header copy = *h;
    copy.header_crc = 0;
    return crc(0, &copy, sizeof copy);
}

static size_t table_size(const struct header *h)
{
    return (size_t)(h->rows * h->features) * sizeof(float);
}

static size_t label_size(const struct header *h)
{
    return (size_t)h->rows * sizeof(int32_t);
}

enum mase_status mase_cache_write(const struct mase_dataset *d, int64_t training, const char *path,
                                  struct mase_err *err)
{
    const struct mase_scaling *s = &d->info.scaling;
    if (s->n > FEATURES_MAX || strlen(d->info.source) >= PATH_SIZE)
        return mase_fail_in(err, MASE_EUNSUPPORTED, path, "a table that the cache cannot hold");
    struct header h = {
        .version = VERSION,
        .rows = (uint64_t)d->info.rows,
        .training = (uint64_t)training,
        .features = (uint64_t)s->n,
        .classes = (uint64_t)d->info.data.classes,
        .duplicates = (uint64_t)d->info.duplicates,
    };
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.checksum, d->info.checksum, sizeof h.checksum);
    memcpy(h.source, d->info.source, strlen(d->info.source));
    memcpy(h.mean, s->mean, (size_t)s->n * sizeof *s->mean);
    memcpy(h.std, s->std, (size_t)s->n * sizeof *s->std);
    h.data_crc = crc(crc(0, d->table, table_size(&h)), d->label, label_size(&h));
    h.plain_crc = crc(0, d->plain, table_size(&h));
    h.header_crc = header_crc(&h);

    struct mase_writer w;
    MASE_TRY(mase_writer_open(&w, path, err));
    enum mase_status st;
    if ((st = mase_writer_put(&w, &h, sizeof h, err)) ||
        (st = mase_writer_put(&w, d->table, table_size(&h), err)) ||
        (st = mase_writer_put(&w, d->label, label_size(&h), err)) ||
        (st = mase_writer_put(&w, d->plain, table_size(&h), err))) {
        mase_writer_abort(&w);
        return st;
    }
    return mase_writer_close(&w, err);
}

static bool labels_fit(const struct header *h, const unsigned char *labels)
{
    const int32_t *label = (const int32_t *)(const void *)labels;
    for (uint64_t i = 0; i < h->rows; i++)
        if (label[i] < 0 || (uint64_t)label[i] >= h->classes)
            return false;
    return true;
}

/* What is wrong with the header, or NULL. Sets source and checksum of d if the header is whole,
 * even of another version, since all versions have them in the same place. */
static const char *header_fault(struct header *h, const struct mase_file *f, struct mase_dataset *d)
{
    if (f->size < HEADER_SIZE)
        return "shorter than its header";
    memcpy(h, f->data, sizeof *h);
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return "not a table of ours";
    if (h->header_crc != header_crc(h) || h->source[PATH_SIZE - 1])
        return "its header is damaged";
    d->info.source = mase_arena_strdup(&d->arena, h->source);
    memcpy(d->info.checksum, h->checksum, sizeof h->checksum);
    if (h->version != VERSION)
        return "not a table of this version";
    const uint64_t features = (uint64_t)mase_data_features(&d->info.data);
    if (h->features != features || features > FEATURES_MAX || h->rows > UINT32_MAX ||
        h->training > h->rows || h->classes != (uint64_t)d->info.data.classes)
        return "not a table of this dataset";
    return NULL;
}

static const char *data_fault(const struct header *h, const struct mase_file *f, bool plain)
{
    const size_t before = HEADER_SIZE + table_size(h) + label_size(h);
    if (f->size != before + table_size(h))
        return "cut short";
    if (plain && h->plain_crc != crc(0, f->data + before, table_size(h)))
        return "its numbers before scaling are damaged";
    if (h->data_crc != crc(0, f->data + HEADER_SIZE, table_size(h) + label_size(h)))
        return "its numbers are damaged";
    return labels_fit(h, f->data + HEADER_SIZE + table_size(h)) ? NULL : "a label is out of range";
}

enum mase_status mase_cache_parse(struct mase_dataset *d, int64_t *training, bool plain,
                                  struct mase_err *err)
{
    struct header h;
    const struct mase_file *f = &d->file[0];
    const char *fault = header_fault(&h, f, d);
    if (!fault)
        fault = data_fault(&h, f, plain);
    if (fault)
        return mase_fail_in(err, MASE_EPARSE, f->path, "%s", fault);
    const size_t n = (size_t)h.features;
    d->table = (const float *)(const void *)(f->data + HEADER_SIZE);
    d->label = (const int32_t *)(const void *)(f->data + HEADER_SIZE + table_size(&h));
    d->plain =
        (const float *)(const void *)(f->data + HEADER_SIZE + table_size(&h) + label_size(&h));
    d->info.rows = (int64_t)h.rows;
    d->info.duplicates = (int64_t)h.duplicates;
    d->info.scaling = (struct mase_scaling){
        (int64_t)n,
        mase_arena_memdup(&d->arena, h.mean, n * sizeof h.mean[0]),
        mase_arena_memdup(&d->arena, h.std, n * sizeof h.std[0]),
    };
    d->info.scale = MASE_SCALE_STANDARD;
    d->info.scale_rows = *training = (int64_t)h.training;
    return MASE_OK;
}

enum mase_status mase_cache_read(struct mase_dataset *d, int64_t *training, const char *path,
                                 bool plain, struct mase_err *err)
{
    MASE_TRY(mase_file_open(&d->file[0], path, err));
    const enum mase_status st = mase_cache_parse(d, training, plain, err);
    if (st)
        mase_file_close(&d->file[0]);
    return st;
}

/* ---- remove tables ---- */

/* Is it NAME.table, an imported table, or NAME-SUM.table, a parsed one, SUM being sixteen digits of
 * a SHA-256? */
static bool is_table_of(const char *file, const char *name)
{
    const size_t n = strlen(name), sum = 16;
    if (strncmp(file, name, n) != 0)
        return false;
    file += n;
    if (file[0] == '-' && strspn(file + 1, "0123456789abcdef") == sum)
        file += 1 + sum;
    return mase_streq(file, ".table");
}

enum mase_status mase_cache_remove(struct mase_dataset_removed *removed, struct mase_arena *a,
                                   const char *name, const struct mase_dataset_opts *opts,
                                   struct mase_err *err)
{
    *removed = (struct mase_dataset_removed){ 0 };
    const char *dir = mase_cache_dir(a, opts);
    struct mase_dir list = { 0 };
    int cap = 0;
    enum mase_status st = MASE_OK;
    if (dir)
        list = mase_dir_open(dir);
    for (const struct dirent *e; list.dir && !st && (e = readdir(list.dir));) {
        if (!is_table_of(e->d_name, name))
            continue;
        struct stat info = { 0 };
        const char *path = mase_path_join(a, dir, e->d_name);
        if (stat(path, &info) || unlink(path)) {
            st = mase_fail_errno(err, path, "cannot remove it");
            break;
        }
        removed->paths =
            mase_arena_grow(a, removed->paths, removed->count, &cap, sizeof *removed->paths);
        removed->paths[removed->count++] = path;
        removed->bytes += info.st_size;
    }
    mase_dir_close(&list);
    if (!st && !removed->count)
        st = mase_fail(err, MASE_EVALUE, "nothing of %s is kept in %s", name,
                       dir ? dir : "a cache: neither XDG_CACHE_HOME nor HOME is set");
    return st;
}
