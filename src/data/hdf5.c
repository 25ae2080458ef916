/*
 * hdf5.c - read HDF5 files by libhdf5. The library is loaded when a file is opened, since Debian's
 * pulls in curl, Kerberos and thirty others.
 */
#define H5_USE_110_API 1
#include "data/hdf5.h"

#include <dlfcn.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <mase/str.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/lzf.h"

/* Every function of the library in use; the last two are variables. */
/* clang-format off */
#define API(X)                                                                                 \
    X(H5open) X(H5allocate_memory) X(H5free_memory) X(H5Zregister) X(H5PLset_loading_state)                                        \
    X(H5Eset_auto2) X(H5Ewalk2) X(H5Eclear2)                                                   \
    X(H5Fopen) X(H5Fclose) X(H5Lexists) X(H5Literate)                                          \
    X(H5Dopen2) X(H5Dclose) X(H5Dread) X(H5Dget_type) X(H5Dget_space) X(H5Dget_create_plist)   \
    X(H5Dget_storage_size) X(H5Pget_layout) X(H5Pget_chunk) X(H5Pget_external_count)           \
    X(H5Pcreate) X(H5Pset_elink_cb) X(H5Pclose) X(H5Lget_info)                                 \
    X(H5Screate_simple) X(H5Sselect_hyperslab) X(H5Sget_simple_extent_ndims)                   \
    X(H5Sget_simple_extent_dims) X(H5Sclose)                                                   \
    X(H5Tcreate) X(H5Tinsert) X(H5Tclose) X(H5Tget_class) X(H5Tget_size) X(H5Tget_nmembers)    \
    X(H5Tis_variable_str) X(H5Tget_strpad) X(H5Dvlen_reclaim)                                                   \
    X(H5Tget_member_name) X(H5Tget_member_index) X(H5Tget_member_class)                        \
    X(H5Tget_member_type) X(H5Tget_member_offset) X(H5T_NATIVE_DOUBLE_g)                       \
    X(H5P_CLS_DATASET_ACCESS_ID_g)
/* clang-format on */

static struct {
#define POINTER(name) __typeof__(&name) name;
    API(POINTER)
} h5;

enum {
    GAIN = 1032, /* deflate, the usual filter, compresses at most so much */
    CHUNK_USUAL = 64 << 20,
    TEXT_MOST = 4096,
    LZF = 32000, /* its registered number */
    LZF_MOST = 1 << 30,
    READ_ONLY = 0, /* the value of H5F_ACC_RDONLY, a macro that calls the library */
};

/* ---- LZF, a filter of h5py that libhdf5 lacks ---- */

static size_t unpack_lzf(unsigned flags, size_t n, const unsigned number[], size_t size,
                         size_t *room, void **block)
{
    size_t most = n > 2 && number[2] ? number[2] : *room; /* size of the chunk, as h5py stores it */
    while ((flags & H5Z_FLAG_REVERSE) && most && most <= LZF_MOST) {
        unsigned char *to = h5.H5allocate_memory(most, false);
        const size_t made = to ? mase_unlzf(to, most, *block, size) : 0;
        if (made && made <= most) {
            h5.H5free_memory(*block);
            *block = to;
            *room = most;
            return made;
        }
        h5.H5free_memory(to);
        if (!made)
            return 0;
        most *= 2;
    }
    return 0;
}

static const H5Z_class2_t lzf = { .version = H5Z_CLASS_T_VERS,
                                  .id = LZF,
                                  .decoder_present = 1,
                                  .name = "lzf",
                                  .filter = unpack_lzf };

static bool load(void)
{
    void *library = dlopen(MASE_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool whole = library != NULL;
#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name) /* the symbol, since hdf5.h may define the name as a macro */
#define FIND(name)                                                                  \
    if (whole) {                                                                    \
        void *address = dlsym(library, TEXT(name));                                 \
        memcpy(&h5.name, &address, sizeof address); /* as POSIX's dlsym requires */ \
        whole = address != NULL;                                                    \
    }
    API(FIND)
    if (!whole || h5.H5open() < 0)
        return false;
    h5.H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    h5.H5PLset_loading_state(0);
    return h5.H5Zregister(&lzf) >= 0;
}

static herr_t keep_first(unsigned n, const H5E_error2_t *e, void *text)
{
    if (n == 0 && e->desc)
        mase_snprintf(text, 256, "%s", e->desc);
    return 0;
}

/* Fail with our message and HDF5's innermost one. */
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

/* Access property: follow links by name, but not into other files. */
static hid_t within_file(void)
{
    const hid_t access = h5.H5Pcreate(*h5.H5P_CLS_DATASET_ACCESS_ID_g);
    if (access >= 0 && h5.H5Pset_elink_cb(access, refuse_file, NULL) < 0) {
        h5.H5Pclose(access);
        return -1;
    }
    return access;
}

enum mase_status mase_hdf5_open(struct mase_hdf5 *f, const char *path, uint64_t most,
                                struct mase_err *err)
{
    *f = (struct mase_hdf5){ .path = path, .most = most };
    if (!load())
        return mase_fail_in(err, MASE_EUNSUPPORTED, path,
                            "the library " MASE_HDF5_LIBRARY
                            " (Debian: libhdf5-103-1) cannot be loaded");
    f->file = h5.H5Fopen(path, READ_ONLY, H5P_DEFAULT);
    if (f->file < 0)
        return fail(err, path, "damaged or truncated HDF5 file");
    f->access = within_file();
    return f->access < 0 ? fail(err, path, "its datasets cannot be opened") : MASE_OK;
}

bool mase_hdf5_has(const struct mase_hdf5 *f, const char *name)
{
    const bool has = h5.H5Lexists(f->file, name, H5P_DEFAULT) > 0;
    h5.H5Eclear2(H5E_DEFAULT);
    return has;
}

/* ---- datasets ---- */

/* Does the data lie in the file? External storage could make us read any file. */
static bool lies_in_file(hid_t plist)
{
    return h5.H5Pget_layout(plist) != H5D_VIRTUAL && h5.H5Pget_external_count(plist) == 0;
}

/* Bytes of a chunk, which is unpacked as a whole; 0: not chunked. */
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

static enum mase_status read_shape(struct mase_hdf5_set *s, hid_t plist, struct mase_err *err)
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
    s->facts.shape.rank = rank;
    for (int i = 0; i < rank; i++) {
        if (dim[i] > INT32_MAX * (hsize_t)2 || __builtin_mul_overflow(bytes, dim[i], &bytes))
            return mase_fail_in(err, MASE_ELIMIT, s->path, "dataset %s is too large", s->name);
        s->facts.shape.dim[i] = (int64_t)dim[i];
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

/* A bit field of one byte: booleans of PyTables. */
static bool is_truth(hid_t type)
{
    return h5.H5Tget_class(type) == H5T_BITFIELD && h5.H5Tget_size(type) == 1;
}

static enum mase_status read_type(struct mase_hdf5_set *s, hid_t plist, struct mase_err *err)
{
    if (!lies_in_file(plist))
        return mase_fail_in(err, MASE_EUNSUPPORTED, s->path,
                            "dataset %s cannot be read: its numbers are not in this file", s->name);
    s->type = h5.H5Dget_type(s->id);
    s->space = h5.H5Dget_space(s->id);
    if (s->type < 0 || s->space < 0)
        return fail(err, s->path, "a dataset without type or shape");
    const H5T_class_t class = h5.H5Tget_class(s->type);
    s->facts.compound = class == H5T_COMPOUND;
    s->bits = is_truth(s->type);
    s->facts.integer = class == H5T_INTEGER || class == H5T_ENUM ||
                       s->bits; /* booleans of h5py are enumerations of 0 and 1 */
    s->facts.text = class == H5T_STRING;
    s->facts.single = class == H5T_FLOAT && h5.H5Tget_size(s->type) <= sizeof(float);
    if (!s->facts.compound && !s->facts.integer && !s->facts.text && class != H5T_FLOAT)
        return mase_fail_in(err, MASE_EVALUE, s->path,
                            "dataset %s holds no numbers; integers, floats and truth values are "
                            "read, and texts as labels",
                            s->name);
    return read_shape(s, plist, err);
}

static enum mase_status read_properties(struct mase_hdf5_set *s, struct mase_err *err)
{
    const hid_t plist = h5.H5Dget_create_plist(s->id);
    if (plist < 0)
        return fail(err, s->path, "a dataset cannot be read");
    const enum mase_status st = read_type(s, plist, err);
    h5.H5Pclose(plist);
    return st;
}

static bool is_external_link(const struct mase_hdf5 *f, const char *name)
{
    H5L_info_t info;
    return h5.H5Lget_info(f->file, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_EXTERNAL;
}

enum mase_status mase_hdf5_set_open(struct mase_hdf5_set *s, const struct mase_hdf5 *f,
                                    const char *name, struct mase_err *err)
{
    *s = (struct mase_hdf5_set){ .path = f->path, .name = name, .id = -1, .type = -1, .space = -1 };
    s->most = f->most;
    if (!mase_hdf5_has(f, name))
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
        mase_hdf5_set_close(s);
    return st;
}

void mase_hdf5_set_close(struct mase_hdf5_set *s)
{
    if (s->chosen > 0)
        h5.H5Tclose(s->chosen);
    if (s->space > 0)
        h5.H5Sclose(s->space);
    if (s->type > 0)
        h5.H5Tclose(s->type);
    if (s->id > 0)
        h5.H5Dclose(s->id);
    *s = (struct mase_hdf5_set){ 0 };
}

/* ---- numbers ---- */

static enum mase_status read_rows(const struct mase_hdf5_set *s, hid_t type, void *to,
                                  int64_t first, int64_t n, struct mase_err *err)
{
    hsize_t start[MASE_MAX_RANK] = { (hsize_t)first }, count[MASE_MAX_RANK] = { (hsize_t)n };
    for (int i = 1; i < s->facts.shape.rank; i++)
        count[i] = (hsize_t)s->facts.shape.dim[i];
    const hid_t memory = h5.H5Screate_simple(s->facts.shape.rank, count, NULL);
    const bool ok =
        memory >= 0 &&
        h5.H5Sselect_hyperslab(s->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        h5.H5Dread(s->id, type, memory, s->space, H5P_DEFAULT, to) >= 0;
    char what[128];
    mase_snprintf(what, sizeof what, "rows %" PRId64 " to %" PRId64 " of %.60s cannot be read",
                  first, first + n - 1, s->name);
    const enum mase_status st = ok ? MASE_OK : fail(err, s->path, what);
    if (memory >= 0)
        h5.H5Sclose(memory); /* also clears HDF5's messages */
    return st;
}

int64_t mase_hdf5_width(const struct mase_hdf5_set *s)
{
    int64_t width = 1;
    for (int i = 1; i < s->facts.shape.rank; i++)
        width *= s->facts.shape.dim[i];
    return width;
}

/* Read bit fields as bytes, since HDF5 does not convert them to numbers. */
static enum mase_status read_bytes(const struct mase_hdf5_set *s, double *x, int64_t first,
                                   int64_t n, struct mase_err *err)
{
    const int64_t count = n * mase_hdf5_width(s);
    unsigned char *bytes = mase_xcalloc((size_t)count + 1);
    const enum mase_status st = read_rows(s, s->type, bytes, first, n, err);
    for (int64_t i = 0; i < count && !st; i++)
        x[i] = (double)bytes[i];
    mase_xfree(bytes);
    return st;
}

enum mase_status mase_hdf5_rows(const struct mase_hdf5_set *s, double *x, int64_t first, int64_t n,
                                struct mase_err *err)
{
    if (s->facts.text)
        return mase_fail_in(err, MASE_EVALUE, s->path, "dataset %s holds texts, not numbers",
                            s->name);
    if (s->bits)
        return read_bytes(s, x, first, n, err);
    return read_rows(s, *h5.H5T_NATIVE_DOUBLE_g, x, first, n, err);
}

/* ---- texts ---- */

/* Add n texts of a fixed size, up to the first zero, without padding blanks. */
static void add_fixed(struct mase_str *out, const char *p, size_t size, int64_t n, bool blanks)
{
    for (int64_t i = 0; i < n; i++, p += size) {
        size_t length = strnlen(p, size);
        while (blanks && length && p[length - 1] == ' ')
            length--;
        mase_str_addn(out, p, length);
        mase_str_addc(out, 0);
    }
}

/* Add n texts of variable length, which HDF5 allocated and frees. */
static void add_varying(struct mase_str *out, char *const *own, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        mase_str_addn(out, own[i] ? own[i] : "", own[i] ? strlen(own[i]) + 1 : 1);
}

/* Read all texts of a dataset, or of a column. */
static enum mase_status read_texts(struct mase_str *out, const struct mase_hdf5_set *s, hid_t type,
                                   hid_t memory, const char *what, struct mase_err *err)
{
    const int64_t n = s->facts.shape.dim[0];
    const bool varying = h5.H5Tis_variable_str(type) > 0;
    const size_t size = varying ? sizeof(char *) : h5.H5Tget_size(type);
    if (!varying && (size > TEXT_MOST || (uint64_t)n * size > s->most))
        return mase_fail_in(err, MASE_ELIMIT, s->path, "texts of %zu bytes in %s, at most %d", size,
                            what, (int)TEXT_MOST);
    char *bytes = mase_xcalloc((size_t)n * size + 1);
    const enum mase_status st = read_rows(s, memory, bytes, 0, n, err);
    if (!st && varying)
        add_varying(out, (char **)(void *)bytes, n);
    else if (!st)
        add_fixed(out, bytes, size, n, h5.H5Tget_strpad(type) == H5T_STR_SPACEPAD);
    if (!st && varying)
        h5.H5Dvlen_reclaim(memory, s->space, H5P_DEFAULT, bytes);
    h5.H5Eclear2(H5E_DEFAULT);
    mase_xfree(bytes);
    return st;
}

enum mase_status mase_hdf5_texts(struct mase_str *out, const struct mase_hdf5_set *s,
                                 struct mase_err *err)
{
    if (s->facts.shape.rank != 1)
        return mase_fail_in(err, MASE_EVALUE, s->path, "%s has several texts for a sample",
                            s->name);
    return read_texts(out, s, s->type, s->type, s->name, err);
}

/* Check that columns lie within their record, which libhdf5 does not. */
static enum mase_status check_records(const struct mase_hdf5_set *s, struct mase_err *err)
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

enum mase_status mase_hdf5_column_texts(struct mase_str *out, const struct mase_hdf5_set *s,
                                        const char *column, struct mase_err *err)
{
    const int i = h5.H5Tget_member_index(s->type, column);
    const hid_t type = i < 0 ? -1 : h5.H5Tget_member_type(s->type, (unsigned)i);
    const size_t size = type < 0 ? 0 : h5.H5Tget_size(type);
    const hid_t alone = size ? h5.H5Tcreate(H5T_COMPOUND, size) : -1;
    enum mase_status st = check_records(s, err);
    if (!st && (alone < 0 || h5.H5Tget_class(type) != H5T_STRING ||
                h5.H5Tinsert(alone, column, 0, type) < 0))
        st = fail(err, s->path, "a column of texts cannot be read");
    if (!st)
        st = read_texts(out, s, type, alone, column, err);
    if (alone >= 0)
        h5.H5Tclose(alone);
    if (type >= 0)
        h5.H5Tclose(type);
    return st;
}

/* ---- tables ---- */

static bool is_number(hid_t type)
{
    const H5T_class_t class = h5.H5Tget_class(type);
    return class == H5T_FLOAT || class == H5T_INTEGER || class == H5T_ENUM;
}

static struct mase_h5_column member(const struct mase_hdf5_set *s, int i)
{
    struct mase_h5_column c = { 0 };
    const hid_t type = h5.H5Tget_member_type(s->type, (unsigned)i);
    if (type < 0)
        return c;
    c.number = is_number(type);
    c.single = h5.H5Tget_class(type) == H5T_FLOAT && h5.H5Tget_size(type) <= sizeof(float);
    c.text = h5.H5Tget_class(type) == H5T_STRING;
    h5.H5Tclose(type);
    return c;
}

void mase_hdf5_columns(const struct mase_hdf5_set *s, struct mase_str *out)
{
    const int n = h5.H5Tget_nmembers(s->type);
    const int64_t count = n > 0 ? n : 0;
    mase_str_addn(out, (const char *)&count, sizeof count);
    for (int i = 0; i < n; i++) {
        const struct mase_h5_column c = member(s, i);
        mase_str_addn(out, (const char *)&c, sizeof c);
    }
    for (int i = 0; i < n; i++) {
        char *name = h5.H5Tget_member_name(s->type, (unsigned)i);
        mase_str_addn(out, name ? name : "", name ? strlen(name) + 1 : 1);
        h5.H5free_memory(name);
    }
}

static enum mase_status check_member(const struct mase_hdf5_set *s, const char *name,
                                     struct mase_err *err)
{
    const int i = h5.H5Tget_member_index(s->type, name);
    h5.H5Eclear2(H5E_DEFAULT);
    if (i < 0)
        return mase_fail_in(err, MASE_EVALUE, s->path, "table %s has no column '%s'", s->name,
                            name);
    const struct mase_h5_column c = member(s, i);
    return c.number ? MASE_OK
                    : mase_fail_in(err, MASE_EVALUE, s->path, "column '%s' of table %s holds %s",
                                   name, s->name, c.text ? "texts, not numbers" : "no numbers");
}

enum mase_status mase_hdf5_select(struct mase_hdf5_set *s, const char *const *names, int n,
                                  struct mase_err *err)
{
    if (!s->facts.compound || s->facts.shape.rank != 1)
        return mase_fail_in(err, MASE_EVALUE, s->path,
                            "dataset %s is not a table: expected one dimension of records",
                            s->name);
    MASE_TRY(check_records(s, err));
    for (int i = 0; i < n; i++)
        MASE_TRY(check_member(s, names[i], err));
    if (s->chosen > 0)
        h5.H5Tclose(s->chosen);
    s->chosen = h5.H5Tcreate(H5T_COMPOUND, (size_t)n * sizeof(double));
    s->columns = (size_t)n;
    for (int i = 0; i < n; i++)
        if (h5.H5Tinsert(s->chosen, names[i], (size_t)i * sizeof(double), *h5.H5T_NATIVE_DOUBLE_g) <
            0)
            return fail(err, s->path, "two columns have the same name");
    return MASE_OK;
}

enum mase_status mase_hdf5_records(const struct mase_hdf5_set *s, double *x, int64_t first,
                                   int64_t n, struct mase_err *err)
{
    return read_rows(s, s->chosen, x, first, n, err);
}

/* ---- find a table ---- */

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
        has = !column[0] || h5.H5Tget_member_index(type, column) >= 0;
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

const char *mase_hdf5_find_table(const struct mase_hdf5 *f, struct mase_arena *a,
                                 const char *column)
{
    struct hunt h = { a, f->access, column, NULL };
    h5.H5Literate(f->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit, &h);
    h5.H5Eclear2(H5E_DEFAULT);
    return h.found;
}

/* ---- open, close ---- */

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *out)
{
    (void)group;
    if (info->type == H5L_TYPE_HARD)
        mase_str_addn(out, name, strlen(name) + 1);
    return 0;
}

void mase_hdf5_names(const struct mase_hdf5 *f, struct mase_str *out)
{
    h5.H5Literate(f->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_name, out);
    h5.H5Eclear2(H5E_DEFAULT);
}
