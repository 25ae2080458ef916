/*
 * hdf5.c - reading HDF5 files by libhdf5.
 *
 * The library is loaded when the first file is opened: Debian's brings curl, Kerberos and thirty
 * others with it, which would cost every start of the program five milliseconds.
 */
#define H5_USE_110_API 1
#include "data/hdf5.h"

#include <dlfcn.h>
#include <hdf5.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <mase/file.h>
#include <mase/str.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/isolate.h"

/* Everything of the library that is used; the last two are variables. */
/* clang-format off */
#define API(X)                                                                                 \
    X(H5open) X(H5free_memory) X(H5PLset_loading_state)                                        \
    X(H5Eset_auto2) X(H5Ewalk2) X(H5Eclear2)                                                   \
    X(H5Fopen) X(H5Fclose) X(H5Lexists) X(H5Literate)                                          \
    X(H5Dopen2) X(H5Dclose) X(H5Dread) X(H5Dget_type) X(H5Dget_space) X(H5Dget_create_plist)   \
    X(H5Dget_storage_size) X(H5Pget_layout) X(H5Pget_chunk) X(H5Pget_external_count)           \
    X(H5Pcreate) X(H5Pset_elink_cb) X(H5Pclose) X(H5Lget_info)                                 \
    X(H5Screate_simple) X(H5Sselect_hyperslab) X(H5Sget_simple_extent_ndims)                   \
    X(H5Sget_simple_extent_dims) X(H5Sclose)                                                   \
    X(H5Tcreate) X(H5Tinsert) X(H5Tclose) X(H5Tget_class) X(H5Tget_size) X(H5Tget_nmembers)    \
    X(H5Tis_variable_str) X(H5Dvlen_reclaim)                                                   \
    X(H5Tget_member_name) X(H5Tget_member_index) X(H5Tget_member_class)                        \
    X(H5Tget_member_type) X(H5Tget_member_offset) X(H5T_NATIVE_DOUBLE_g)                       \
    X(H5P_CLS_DATASET_ACCESS_ID_g)
/* clang-format on */

static struct {
#define POINTER(name) __typeof__(&name) name;
    API(POINTER)
} h5;

static const char *trouble; /* why it could not be loaded; NULL: it is */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *library = dlopen(MASE_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool whole = library != NULL;
#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name) /* the name that a macro of hdf5.h may have made of it */
#define FIND(name)                                                    \
    if (whole) {                                                      \
        void *address = dlsym(library, TEXT(name));                   \
        memcpy(&h5.name, &address, sizeof address); /* POSIX's way */ \
        whole = address != NULL;                                      \
    }
    API(FIND)
    if (!whole || h5.H5open() < 0) {
        trouble = "the library " MASE_HDF5_LIBRARY " (Debian: libhdf5-103-1) cannot be loaded";
        return;
    }
    h5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    h5.H5PLset_loading_state(0);
}

enum {
    GAIN = 1032, /* deflate, the usual filter, gains no more */
    CHUNK_USUAL = 64 << 20,
    TEXT_MOST = 4096,
    READ_ONLY = 0, /* H5F_ACC_RDONLY, whose macro calls the library */
};

static herr_t keep_first(unsigned n, const H5E_error2_t *e, void *text)
{
    if (n == 0 && e->desc)
        mase_snprintf(text, 256, "%s", e->desc);
    return 0;
}

/* Our sentence, and HDF5's innermost one. */
static enum mase_status fail(struct mase_err *err, const char *path, const char *what)
{
    char text[256] = "";
    h5.H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
    h5.H5Eclear2(H5E_DEFAULT);
    return mase_fail_in(err, MASE_EPARSE, path, text[0] ? "%s (HDF5: %s)" : "%s", what, text);
}

static herr_t refuse_file(const char *parent, const char *group, const char *file,
                          const char *object, unsigned *flags, hid_t access, void *user)
{
    (void)parent, (void)group, (void)file, (void)object, (void)flags, (void)access, (void)user;
    return -1;
}

/* How datasets are opened: their names may lead through links, but not into another file. */
static hid_t within_file(void)
{
    const hid_t access = h5.H5Pcreate(*h5.H5P_CLS_DATASET_ACCESS_ID_g);
    if (access >= 0 && h5.H5Pset_elink_cb(access, refuse_file, NULL) < 0) {
        h5.H5Pclose(access);
        return -1;
    }
    return access;
}

enum mase_status mase_h5_open(struct mase_h5 *f, const char *path, struct mase_err *err)
{
    static const unsigned char magic[8] = "\x89HDF\r\n\x1a\n";
    *f = (struct mase_h5){ .path = path, .file = -1, .access = -1 };
    struct mase_file head;
    MASE_TRY(mase_file_open(&head, path, err)); /* missing, a directory: our own words */
    const bool empty = head.size == 0;
    f->size = head.size;
    const bool ours = head.size >= 8 && memcmp(head.data, magic, 8) == 0;
    mase_file_close(&head);
    if (empty)
        return mase_fail_in(err, MASE_EPARSE, path, "the file is empty");
    if (!ours)
        return mase_fail_in(err, MASE_EPARSE, path,
                            "not an HDF5 file: it does not begin with HDF5's magic");
    pthread_once(&once, load);
    if (trouble)
        return mase_fail_in(err, MASE_EUNSUPPORTED, path, "%s", trouble);
    f->file = h5.H5Fopen(path, READ_ONLY, H5P_DEFAULT);
    if (f->file < 0)
        return fail(err, path, "damaged or truncated HDF5 file");
    f->access = within_file();
    if (f->access < 0) {
        mase_h5_close(f);
        return fail(err, path, "its datasets cannot be opened");
    }
    return MASE_OK;
}

void mase_h5_close(struct mase_h5 *f)
{
    if (f->access > 0)
        h5.H5Pclose(f->access);
    if (f->file > 0)
        h5.H5Fclose(f->file);
    *f = (struct mase_h5){ 0 };
}

bool mase_h5_has(const struct mase_h5 *f, const char *name)
{
    const bool has = h5.H5Lexists(f->file, name, H5P_DEFAULT) > 0;
    h5.H5Eclear2(H5E_DEFAULT);
    return has;
}

/* ---- datasets ---- */

/* Numbers stored elsewhere would let a file make us read any other. */
static bool lies_in_file(hid_t plist)
{
    return h5.H5Pget_layout(plist) != H5D_VIRTUAL && h5.H5Pget_external_count(plist) == 0;
}

/* Bytes of one chunk, which is unpacked whole; 0: not chunked. */
static hsize_t chunk_bytes(hid_t plist, size_t element)
{
    hsize_t dim[H5S_MAX_RANK], bytes = element;
    if (h5.H5Pget_layout(plist) != H5D_CHUNKED)
        return 0;
    const int rank = h5.H5Pget_chunk(plist, H5S_MAX_RANK, dim);
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(bytes, dim[i], &bytes))
            return UINT64_MAX;
    return bytes;
}

static enum mase_status read_shape(struct mase_h5_set *s, hid_t plist, struct mase_err *err)
{
    hsize_t dim[H5S_MAX_RANK];
    const int rank = h5.H5Sget_simple_extent_ndims(s->space);
    if (rank < 1 || rank > MASE_MAX_RANK || h5.H5Sget_simple_extent_dims(s->space, dim, NULL) < 0)
        return mase_fail_in(err, MASE_EUNSUPPORTED, s->path,
                            "dataset %s has %d dimensions, expected 1 to %d", s->name, rank,
                            MASE_MAX_RANK);
    const size_t element = h5.H5Tget_size(s->type);
    const hsize_t stored = h5.H5Dget_storage_size(s->id);
    hsize_t bytes = element;
    s->shape.rank = rank;
    for (int i = 0; i < rank; i++) {
        if (dim[i] > INT32_MAX * (hsize_t)2 || __builtin_mul_overflow(bytes, dim[i], &bytes))
            return mase_fail_in(err, MASE_ELIMIT, s->path, "dataset %s is too large", s->name);
        s->shape.dim[i] = (int64_t)dim[i];
    }
    if (bytes / GAIN > stored)
        return mase_fail_in(err, MASE_EPARSE, s->path,
                            "dataset %s claims %" PRIu64 " bytes, but only %" PRIu64 " are stored",
                            s->name, (uint64_t)bytes, (uint64_t)stored);
    const hsize_t chunk = chunk_bytes(plist, element);
    if (chunk > CHUNK_USUAL && chunk > bytes)
        return mase_fail_in(err, MASE_ELIMIT, s->path,
                            "dataset %s has %" PRIu64 " bytes in chunks of %" PRIu64
                            "; a chunk of more than %d may be no larger than its dataset",
                            s->name, (uint64_t)bytes, (uint64_t)chunk, CHUNK_USUAL);
    return MASE_OK;
}

static enum mase_status read_type(struct mase_h5_set *s, hid_t plist, struct mase_err *err)
{
    if (!lies_in_file(plist))
        return mase_fail_in(err, MASE_EUNSUPPORTED, s->path,
                            "dataset %s cannot be read: its numbers are not in this file", s->name);
    s->type = h5.H5Dget_type(s->id);
    s->space = h5.H5Dget_space(s->id);
    if (s->type < 0 || s->space < 0)
        return fail(err, s->path, "a dataset without type or shape");
    const H5T_class_t class = h5.H5Tget_class(s->type);
    s->compound = class == H5T_COMPOUND;
    s->truth = class == H5T_ENUM && h5.H5Tget_size(s->type) == 1; /* h5py's, 0 and 1 */
    s->integer = class == H5T_INTEGER || s->truth;
    s->text = class == H5T_STRING;
    s->single = class == H5T_FLOAT && h5.H5Tget_size(s->type) <= sizeof(float);
    if (!s->compound && !s->integer && !s->text && class != H5T_FLOAT)
        return mase_fail_in(err, MASE_EVALUE, s->path,
                            "dataset %s holds no numbers; integers, floats and truth values are "
                            "read, and texts as labels",
                            s->name);
    return read_shape(s, plist, err);
}

static enum mase_status read_properties(struct mase_h5_set *s, struct mase_err *err)
{
    const hid_t plist = h5.H5Dget_create_plist(s->id);
    if (plist < 0)
        return fail(err, s->path, "a dataset cannot be read");
    const enum mase_status st = read_type(s, plist, err);
    h5.H5Pclose(plist);
    return st;
}

static bool is_external_link(const struct mase_h5 *f, const char *name)
{
    H5L_info_t info;
    return h5.H5Lget_info(f->file, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_EXTERNAL;
}

enum mase_status mase_h5_set_open(struct mase_h5_set *s, const struct mase_h5 *f, const char *name,
                                  struct mase_err *err)
{
    *s = (struct mase_h5_set){ .path = f->path, .name = name, .id = -1, .type = -1, .space = -1 };
    s->most = mase_data_memory(f->size) / 2; /* the rest is for libhdf5 */
    if (!mase_h5_has(f, name))
        return mase_fail_in(err, MASE_EVALUE, f->path, "there is no dataset '%s' in the file",
                            name);
    if (is_external_link(f, name))
        return mase_fail_in(err, MASE_EUNSUPPORTED, f->path,
                            "'%s' is a link into another file, which is not followed", name);
    s->id = h5.H5Dopen2(f->file, name, f->access);
    if (s->id < 0)
        return fail(err, f->path, "a dataset cannot be opened");
    const enum mase_status st = read_properties(s, err);
    if (st)
        mase_h5_set_close(s);
    return st;
}

void mase_h5_set_close(struct mase_h5_set *s)
{
    if (s->space > 0)
        h5.H5Sclose(s->space);
    if (s->type > 0)
        h5.H5Tclose(s->type);
    if (s->id > 0)
        h5.H5Dclose(s->id);
    *s = (struct mase_h5_set){ 0 };
}

/* ---- numbers ---- */

static enum mase_status read_rows(const struct mase_h5_set *s, hid_t type, void *to, int64_t first,
                                  int64_t n, struct mase_err *err)
{
    hsize_t start[MASE_MAX_RANK] = { (hsize_t)first }, count[MASE_MAX_RANK] = { (hsize_t)n };
    for (int i = 1; i < s->shape.rank; i++)
        count[i] = (hsize_t)s->shape.dim[i];
    const hid_t memory = h5.H5Screate_simple(s->shape.rank, count, NULL);
    const bool ok =
        memory >= 0 &&
        h5.H5Sselect_hyperslab(s->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        h5.H5Dread(s->id, type, memory, s->space, H5P_DEFAULT, to) >= 0;
    char what[128];
    mase_snprintf(what, sizeof what, "rows %" PRId64 " to %" PRId64 " of %.60s cannot be read",
                  first, first + n - 1, s->name);
    const enum mase_status st = ok ? MASE_OK : fail(err, s->path, what);
    if (memory >= 0)
        h5.H5Sclose(memory); /* forgets HDF5's messages */
    return st;
}

/* Truth values are bytes, which HDF5 does not make numbers of. */
static enum mase_status read_bytes(const struct mase_h5_set *s, double *x, int64_t first, int64_t n,
                                   struct mase_err *err)
{
    const int64_t count = n * (mase_shape_count(&s->shape) / s->shape.dim[0]);
    signed char *bytes = mase_xcalloc((size_t)count);
    const enum mase_status st = read_rows(s, s->type, bytes, first, n, err);
    for (int64_t i = 0; i < count && !st; i++)
        x[i] = (double)bytes[i];
    mase_xfree(bytes);
    return st;
}

enum mase_status mase_h5_rows(const struct mase_h5_set *s, double *x, int64_t first, int64_t n,
                              struct mase_err *err)
{
    if (s->text)
        return mase_fail_in(err, MASE_EVALUE, s->path, "dataset %s holds texts, not numbers",
                            s->name);
    if (s->truth)
        return read_bytes(s, x, first, n, err);
    return read_rows(s, *h5.H5T_NATIVE_DOUBLE_g, x, first, n, err);
}

/* ---- texts ---- */

/* Without the zeros or blanks that fill it up. */
static const char *trimmed(struct mase_arena *a, const char *p, size_t size)
{
    const char *end = memchr(p, 0, size);
    size = end ? (size_t)(end - p) : size;
    while (size && p[size - 1] == ' ')
        size--;
    return mase_arena_strndup(a, p, size);
}

/* Texts of any length lie in memory of HDF5's own, which takes it back. */
static enum mase_status read_varying(const char **text, const struct mase_h5_set *s, int64_t n,
                                     struct mase_arena *a, struct mase_err *err)
{
    char **own = mase_xcalloc((size_t)n * sizeof *own);
    const enum mase_status st = read_rows(s, s->type, own, 0, n, err);
    for (int64_t i = 0; i < n && !st; i++)
        text[i] = trimmed(a, own[i] ? own[i] : "", own[i] ? strlen(own[i]) : 0);
    if (!st)
        h5.H5Dvlen_reclaim(s->type, s->space, H5P_DEFAULT, own);
    h5.H5Eclear2(H5E_DEFAULT);
    mase_xfree(own);
    return st;
}

enum mase_status mase_h5_texts(const char *const **out, const struct mase_h5_set *s,
                               struct mase_arena *a, struct mase_err *err)
{
    const int64_t n = s->shape.dim[0];
    const size_t size = h5.H5Tget_size(s->type);
    const char **text = mase_new_array(a, const char *, (size_t)n);
    *out = text;
    if (s->shape.rank != 1)
        return mase_fail_in(err, MASE_EVALUE, s->path, "%s has several texts for a sample",
                            s->name);
    if (h5.H5Tis_variable_str(s->type) > 0)
        return read_varying(text, s, n, a, err);
    if (size > TEXT_MOST || (uint64_t)n * size > s->most)
        return mase_fail_in(err, MASE_ELIMIT, s->path, "texts of %zu bytes in %s, at most %d", size,
                            s->name, (int)TEXT_MOST);
    char *bytes = mase_xcalloc((size_t)n * size + 1);
    const enum mase_status st = read_rows(s, s->type, bytes, 0, n, err);
    for (int64_t i = 0; i < n && !st; i++)
        text[i] = trimmed(a, bytes + (size_t)i * size, size);
    mase_xfree(bytes);
    return st;
}

/* libhdf5 itself does not look whether a column lies within its record. */
static enum mase_status check_records(const struct mase_h5_set *s, struct mase_err *err)
{
    const size_t record = h5.H5Tget_size(s->type);
    for (int i = 0; i < h5.H5Tget_nmembers(s->type); i++) {
        const hid_t type = h5.H5Tget_member_type(s->type, (unsigned)i);
        const size_t offset = h5.H5Tget_member_offset(s->type, (unsigned)i);
        const size_t size = type >= 0 ? h5.H5Tget_size(type) : SIZE_MAX;
        if (type >= 0)
            h5.H5Tclose(type);
        if (offset > record || size > record - offset)
            return mase_fail_in(err, MASE_EPARSE, s->path,
                                "column %d of table %s lies outside its record", i, s->name);
    }
    return MASE_OK;
}

static enum mase_status check_member(const struct mase_h5_set *s, const char *name, bool *single,
                                     struct mase_err *err)
{
    const int i = h5.H5Tget_member_index(s->type, name);
    h5.H5Eclear2(H5E_DEFAULT);
    if (i < 0)
        return mase_fail_in(err, MASE_EVALUE, s->path, "table %s has no column '%s'", s->name,
                            name);
    const H5T_class_t class = h5.H5Tget_member_class(s->type, (unsigned)i);
    const hid_t type = h5.H5Tget_member_type(s->type, (unsigned)i);
    *single = *single && class == H5T_FLOAT && h5.H5Tget_size(type) <= sizeof(float);
    h5.H5Tclose(type);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        return mase_fail_in(err, MASE_EVALUE, s->path, "column '%s' of table %s holds no numbers",
                            name, s->name);
    return MASE_OK;
}

const char *const *mase_h5_columns(const struct mase_h5_set *s, struct mase_arena *a, int *count)
{
    const int n = h5.H5Tget_nmembers(s->type);
    const char **names = mase_new_array(a, const char *, n > 0 ? (size_t)n : 1);
    *count = 0;
    for (int i = 0; i < n; i++) {
        char *name = h5.H5Tget_member_name(s->type, (unsigned)i);
        if (name)
            names[(*count)++] = mase_arena_strdup(a, name);
        h5.H5free_memory(name);
    }
    return names;
}

enum mase_status mase_h5_choose(struct mase_h5_choice *c, const struct mase_h5_set *s,
                                const char *const *names, int n, struct mase_err *err)
{
    if (!s->compound || s->shape.rank != 1)
        return mase_fail_in(err, MASE_EVALUE, s->path,
                            "dataset %s is not a table: expected one dimension of records",
                            s->name);
    MASE_TRY(check_records(s, err));
    c->single = true;
    for (int i = 0; i < n; i++)
        MASE_TRY(check_member(s, names[i], &c->single, err));
    c->type = h5.H5Tcreate(H5T_COMPOUND, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++)
        if (h5.H5Tinsert(c->type, names[i], (size_t)i * sizeof(double), *h5.H5T_NATIVE_DOUBLE_g) <
            0) {
            mase_h5_choice_close(c);
            return fail(err, s->path, "two columns have the same name");
        }
    return MASE_OK;
}

void mase_h5_choice_close(struct mase_h5_choice *c)
{
    if (c->type > 0)
        h5.H5Tclose(c->type);
    c->type = 0;
}

enum mase_status mase_h5_records(const struct mase_h5_set *s, const struct mase_h5_choice *c,
                                 double *x, int64_t first, int64_t n, struct mase_err *err)
{
    return read_rows(s, c->type, x, first, n, err);
}

/* ---- looking for a table ---- */

struct hunt {
    struct mase_arena *a;
    hid_t access;
    const char *column, *found;
};

static bool has_column(hid_t group, const char *name, hid_t access, const char *column)
{
    bool has = false;
    const hid_t set = h5.H5Dopen2(group, name, access);
    const hid_t type = set >= 0 ? h5.H5Dget_type(set) : -1;
    if (type >= 0 && h5.H5Tget_class(type) == H5T_COMPOUND)
        has = h5.H5Tget_member_index(type, column) >= 0;
    if (type >= 0)
        h5.H5Tclose(type);
    if (set >= 0)
        h5.H5Dclose(set);
    h5.H5Eclear2(H5E_DEFAULT);
    return has;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct hunt *h = user;
    if (info->type != H5L_TYPE_HARD || !has_column(group, name, h->access, h->column))
        return 0;
    h->found = mase_arena_strdup(h->a, name);
    return 1; /* stops */
}

const char *mase_h5_find_table(const struct mase_h5 *f, struct mase_arena *a, const char *column)
{
    struct hunt h = { a, f->access, column, NULL };
    h5.H5Literate(f->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit, &h);
    h5.H5Eclear2(H5E_DEFAULT);
    return h.found;
}

/* ---- all of them ---- */

struct visitor {
    mase_h5_visit_fn *visit;
    void *data;
};

static herr_t visit_each(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    const struct visitor *v = user;
    (void)group;
    if (info->type == H5L_TYPE_HARD)
        v->visit(v->data, name);
    return 0;
}

void mase_h5_each(const struct mase_h5 *f, mase_h5_visit_fn *visit_name, void *data)
{
    struct visitor v = { visit_name, data };
    h5.H5Literate(f->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit_each, &v);
    h5.H5Eclear2(H5E_DEFAULT);
}
