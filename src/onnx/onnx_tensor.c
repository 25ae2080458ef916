/*
 * onnx_tensor.c - models and the tensors of models: in the file itself, or in files beside it.
 *
 * A tensor has its elements as bytes (raw_data), as a row of numbers that several types share
 * (int32_data has what is at most 32 bits wide, halves by their bits), or says where they lie:
 * location, a path that counts from the model's folder, offset and length. Whatever a path says,
 * no file outside of that folder is read.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <mase/str.h>

#include "base/alloc.h"
#include "file/element.h"
#include "onnx/onnx_file.h"

/* ---- types ---- */

enum row { ROW_NONE, ROW_FLOAT, ROW_INT32, ROW_INT64, ROW_DOUBLE, ROW_UINT64 };

static const struct {
    const char *name;
    int dtype; /* our type, or -1 */
    enum row row;
    int64_t low, high; /* range of a number */
    int packed;        /* bits of an element, if several share a byte, lowest first */
} types[] = {
    [0] = { "UNDEFINED", -1, ROW_NONE, 0, 0, 0 },
    [1] = { "FLOAT", MASE_F32, ROW_FLOAT, 0, 0, 0 },
    [2] = { "UINT8", MASE_U8, ROW_INT32, 0, UINT8_MAX, 0 },
    [3] = { "INT8", MASE_I8, ROW_INT32, INT8_MIN, INT8_MAX, 0 },
    [4] = { "UINT16", MASE_U16, ROW_INT32, 0, UINT16_MAX, 0 },
    [5] = { "INT16", MASE_I16, ROW_INT32, INT16_MIN, INT16_MAX, 0 },
    [6] = { "INT32", MASE_I32, ROW_INT32, INT32_MIN, INT32_MAX, 0 },
    [7] = { "INT64", MASE_I64, ROW_INT64, INT64_MIN, INT64_MAX, 0 },
    [8] = { "STRING", -1, ROW_NONE, 0, 0, 0 },
    [9] = { "BOOL", MASE_DTYPE_BOOL, ROW_INT32, 0, 1, 0 },
    [10] = { "FLOAT16", MASE_F16, ROW_INT32, 0, UINT16_MAX, 0 },
    [11] = { "DOUBLE", MASE_F64, ROW_DOUBLE, 0, 0, 0 },
    [12] = { "UINT32", MASE_U32, ROW_UINT64, 0, UINT32_MAX, 0 },
    [13] = { "UINT64", MASE_U64, ROW_UINT64, INT64_MIN, INT64_MAX, 0 },
    [14] = { "COMPLEX64", -1, ROW_NONE, 0, 0, 0 },
    [15] = { "COMPLEX128", -1, ROW_NONE, 0, 0, 0 },
    [16] = { "BFLOAT16", MASE_BF16, ROW_INT32, 0, UINT16_MAX, 0 },
    [17] = { "FLOAT8E4M3FN", -1, ROW_NONE, 0, 0, 0 },
    [18] = { "FLOAT8E4M3FNUZ", -1, ROW_NONE, 0, 0, 0 },
    [19] = { "FLOAT8E5M2", -1, ROW_NONE, 0, 0, 0 },
    [20] = { "FLOAT8E5M2FNUZ", -1, ROW_NONE, 0, 0, 0 },
    [21] = { "UINT4", MASE_U8, ROW_INT32, INT8_MIN, UINT8_MAX, 4 },
    [22] = { "INT4", MASE_I8, ROW_INT32, INT8_MIN, UINT8_MAX, 4 },
    [23] = { "FLOAT4E2M1", -1, ROW_NONE, 0, 0, 0 },
    [24] = { "FLOAT8E8M0", -1, ROW_NONE, 0, 0, 0 },
    [25] = { "UINT2", MASE_U8, ROW_INT32, INT8_MIN, UINT8_MAX, 2 },
    [26] = { "INT2", MASE_I8, ROW_INT32, INT8_MIN, UINT8_MAX, 2 },
};
enum { TYPE_COUNT = sizeof types / sizeof types[0], EXTERNAL = 1 };

const char *mase_onnx_type_name(int64_t data_type)
{
    return data_type >= 0 && data_type < TYPE_COUNT ? types[data_type].name
                                                    : "a type without a name";
}

/* The type of the elements in memory. */
static bool memory_type(enum mase_dtype *dtype, int64_t data_type)
{
    if (data_type < 0 || data_type >= TYPE_COUNT || types[data_type].dtype < 0)
        return false;
    *dtype = (enum mase_dtype)types[data_type].dtype;
    return true;
}

bool mase_onnx_dtype(enum mase_dtype *dtype, int64_t data_type)
{
    return memory_type(dtype, data_type) && !types[data_type].packed;
}

int mase_onnx_type_of(enum mase_dtype dtype)
{
    int k = TYPE_COUNT - 1;
    while (k > 0 && (types[k].dtype != (int)dtype || types[k].packed))
        k--;
    return k;
}

/* The number of bytes, or of numbers, in which the elements are stored. */
static int64_t stored_count(const struct mase_onnx_tensor *t, int64_t count, int size)
{
    const int bits = types[t->data_type].packed;
    return bits ? count / (8 / bits) + (count % (8 / bits) != 0) : count * size;
}

/* ---- files beside the model ---- */

struct mase_onnx_external {
    const char *location; /* as the model says */
    struct mase_file file;
    struct mase_onnx_external *next;
};

/* The bytes of a tensor in a file. */
struct span {
    const char *location;
    uint64_t offset, length;
    bool has_length;
};

static bool parse_size(uint64_t *v, const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *v = strtoull(text, &end, 10);
    return !errno && !*end;
}

static enum mase_status read_span(struct span *s, const struct mase_onnx_file *f,
                                  const struct mase_onnx_tensor *t, struct mase_err *err)
{
    *s = (struct span){ 0 };
    for (int i = 0; i < t->external_data.count; i++) {
        const struct mase_onnx_entry *e = &t->external_data.items[i];
        const bool is_length = mase_streq(e->key, "length");
        if (mase_streq(e->key, "location"))
            s->location = e->value;
        else if ((is_length || mase_streq(e->key, "offset")) &&
                 !parse_size(is_length ? &s->length : &s->offset, e->value))
            return mase_fail_at(err, MASE_EPARSE, mase_onnx_at(f, &e->head),
                                "tensor '%s': its %s '%s' is no number of bytes", t->name, e->key,
                                e->value);
        s->has_length |= is_length;
    }
    if (!s->location || !s->location[0])
        return mase_fail_at(err, MASE_EPARSE, mase_onnx_at(f, &t->head),
                            "tensor '%s' lies outside, but does not say in which file", t->name);
    return MASE_OK;
}

/* Does the path stay within its folder, by its text? */
static bool is_inside(const char *location)
{
    for (const char *p = location; *p; p += *p == '/') {
        const size_t n = strcspn(p, "/\\");
        if ((n == 2 && p[0] == '.' && p[1] == '.') || n == 0 || p[n] == '\\')
            return false;
        p += n;
    }
    return true;
}

/* And by the file system, since links may lead anywhere? */
static bool is_beneath(struct mase_arena *a, const char *path, const char *dir)
{
    char *real = mase_real_path(path), *top = mase_real_path(dir);
    const bool beneath =
        real && top &&
        mase_starts_with(real, mase_path_join(a, mase_streq(top, "/") ? "" : top, ""));
    mase_xfree(real);
    mase_xfree(top);
    return beneath;
}

static enum mase_status open_external(const struct mase_file **out, struct mase_onnx_file *f,
                                      const struct mase_onnx_tensor *t, const char *location,
                                      struct mase_err *err)
{
    struct mase_onnx_external *e = f->external;
    while (e && !mase_streq(e->location, location))
        e = e->next;
    if (!e) {
        const char *slash = strrchr(f->file.path, '/');
        const char *dir =
            slash ? mase_arena_strndup(&f->arena, f->file.path,
                                       (size_t)(slash - f->file.path + (slash == f->file.path)))
                  : ".";
        const char *path = mase_path_join(&f->arena, dir, location);
        e = mase_new(&f->arena, struct mase_onnx_external);
        e->location = location;
        if (!is_inside(location) || (mase_is_file(path) && !is_beneath(&f->arena, path, dir)))
            return mase_fail_at(err, MASE_EVALUE, mase_onnx_at(f, &t->head),
                                "tensor '%s' lies in '%s', which is not in the model's own folder",
                                t->name, location);
        if (!mase_is_file(path))
            return mase_fail_at(err, MASE_EIO, mase_onnx_at(f, &t->head),
                                "tensor '%s' lies in '%s', which is no file", t->name, path);
        if (mase_file_open(&e->file, path, err))
            return mase_wrap(err, "tensor '%s'", t->name);
        e->next = f->external;
        f->external = e;
    }
    *out = &e->file;
    return MASE_OK;
}

/* ---- the bytes of a tensor ---- */

static enum mase_status fail_tensor(const struct mase_onnx_file *f,
                                    const struct mase_onnx_tensor *t, struct mase_err *err,
                                    const char *what, uint64_t got, uint64_t want)
{
    return mase_fail_at(err, MASE_EPARSE, mase_onnx_at(f, &t->head),
                        "tensor '%s' has %llu %s; its type and shape ask for %llu", t->name,
                        (unsigned long long)got, what, (unsigned long long)want);
}

static enum mase_status find_external(struct mase_onnx_bytes *b, struct mase_onnx_file *f,
                                      const struct mase_onnx_tensor *t, uint64_t bytes,
                                      struct mase_err *err)
{
    struct span s;
    const struct mase_file *file = NULL;
    MASE_TRY(read_span(&s, f, t, err));
    if (s.has_length && s.length != bytes)
        return fail_tensor(f, t, err, "bytes", s.length, bytes);
    MASE_TRY(open_external(&file, f, t, s.location, err));
    if (s.offset > file->size || bytes > file->size - s.offset)
        return mase_fail_at(err, MASE_EPARSE, mase_onnx_at(f, &t->head),
                            "tensor '%s': bytes %llu to %llu are asked for of '%s', which has %zu",
                            t->name, (unsigned long long)s.offset,
                            (unsigned long long)s.offset + bytes, s.location, file->size);
    *b = (struct mase_onnx_bytes){ file->data + s.offset, (size_t)bytes };
    return MASE_OK;
}

static int row_count(const struct mase_onnx_tensor *t, enum row row)
{
    return row == ROW_FLOAT    ? t->float_data.count
           : row == ROW_INT32  ? t->int32_data.count
           : row == ROW_INT64  ? t->int64_data.count
           : row == ROW_DOUBLE ? t->double_data.count
                               : t->uint64_data.count;
}

static int64_t row_int(const struct mase_onnx_tensor *t, enum row row, int i)
{
    return row == ROW_INT32   ? t->int32_data.items[i]
           : row == ROW_INT64 ? t->int64_data.items[i]
                              : (int64_t)t->uint64_data.items[i];
}

static enum mase_status check_row(const struct mase_onnx_file *f, const struct mase_onnx_tensor *t,
                                  int64_t count, struct mase_err *err)
{
    const enum row row = types[t->data_type].row;
    const int n = row_count(t, row);
    if (n != count)
        return fail_tensor(f, t, err, "elements", (uint64_t)n, (uint64_t)count);
    for (int i = 0; row != ROW_FLOAT && row != ROW_DOUBLE && i < n; i++) {
        const int64_t v = row_int(t, row, i);
        if (v < types[t->data_type].low || v > types[t->data_type].high)
            return mase_fail_at(err, MASE_EPARSE, mase_onnx_at(f, &t->head),
                                "tensor '%s': element %d is %lld, which is no %s", t->name, i,
                                (long long)v, types[t->data_type].name);
    }
    return MASE_OK;
}

static bool is_bytes(const struct mase_onnx_tensor *t)
{
    return mase_onnx_has(&t->head, 9);
}

static enum mase_status check_data(struct mase_onnx_file *f, const struct mase_onnx_tensor *t,
                                   const struct mase_tensor *like, struct mase_err *err)
{
    const int64_t count = mase_tensor_count(like),
                  bytes = stored_count(t, count, mase_dtypes[like->dtype].size);
    struct mase_onnx_bytes b;
    if (t->data_location == EXTERNAL)
        return find_external(&b, f, t, (uint64_t)bytes, err);
    if (!is_bytes(t))
        return check_row(f, t, stored_count(t, count, 1), err);
    if (t->raw_data.size != (size_t)bytes)
        return fail_tensor(f, t, err, "bytes", t->raw_data.size, (uint64_t)bytes);
    return MASE_OK;
}

enum mase_status mase_onnx_tensor_shape(struct mase_tensor *out, struct mase_onnx_file *f,
                                        const struct mase_onnx_tensor *t, struct mase_err *err)
{
    const struct mase_loc at = mase_onnx_at(f, &t->head);
    struct mase_shape s = { .rank = t->dims.count };
    enum mase_dtype dtype;
    if (!memory_type(&dtype, t->data_type))
        return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                            "tensor '%s' is of type %s, which is not read", t->name,
                            mase_onnx_type_name(t->data_type));
    if (t->dims.count > MASE_MAX_RANK)
        return mase_fail_at(err, MASE_ELIMIT, at,
                            "tensor '%s' has %d dimensions, at most %d are possible", t->name,
                            t->dims.count, MASE_MAX_RANK);
    for (int i = 0; i < s.rank; i++)
        if ((s.dim[i] = t->dims.items[i]) < 0)
            return mase_fail_at(err, MASE_EPARSE, at, "tensor '%s' has a dimension of %lld",
                                t->name, (long long)s.dim[i]);
    *out = (struct mase_tensor){ .dtype = dtype, .shape = s };
    if (mase_tensor_bytes(out) == INT64_MAX)
        return mase_fail_at(err, MASE_ELIMIT, at, "tensor '%s' has more than 2^63 bytes", t->name);
    return check_data(f, t, out, err);
}

/* ---- copying ---- */

/* Files are little-endian; booleans are 0 or 1. */
static void copy_bytes(void *to, enum mase_dtype dtype, struct mase_onnx_bytes b)
{
    const struct mase_dtype_info *info = &mase_dtypes[dtype];
    unsigned char *out = to;
    if (b.size)
        memcpy(to, b.data, b.size);
    for (size_t i = 0; info->kind == 'b' && i < b.size; i++)
        out[i] = out[i] != 0;
    for (size_t i = 0; mase_host_is_big && i < b.size; i++)
        out[i] =
            b.data[i - i % (size_t)info->size + (size_t)info->size - 1 - i % (size_t)info->size];
}

static void copy_ints(void *to, enum mase_dtype dtype, const struct mase_onnx_tensor *t,
                      enum row row)
{
    const int size = mase_dtypes[dtype].size, n = row_count(t, row);
    for (int i = 0; i < n; i++) {
        const uint64_t v = (uint64_t)row_int(t, row, i);
        const uint32_t v32 = (uint32_t)v;
        const uint16_t v16 = (uint16_t)v;
        const uint8_t v8 = (uint8_t)v;
        memcpy((char *)to + (size_t)i * (size_t)size,
               size == 8   ? (const void *)&v
               : size == 4 ? (const void *)&v32
               : size == 2 ? (const void *)&v16
                           : (const void *)&v8,
               (size_t)size);
    }
}

/* Unpack elements that share bytes. */
static void unpack(void *to, const struct mase_onnx_tensor *t, struct mase_onnx_bytes b,
                   int64_t count)
{
    const int bits = types[t->data_type].packed, per = 8 / bits;
    const bool is_signed = types[t->data_type].dtype == MASE_I8;
    unsigned char *out = to;
    for (int64_t i = 0; i < count; i++) {
        const unsigned byte = b.data ? b.data[i / per] : (unsigned)t->int32_data.items[i / per];
        const unsigned v = byte >> (i % per * bits) & ((1u << bits) - 1);
        const bool negative = is_signed && v >> (bits - 1);
        out[i] = (unsigned char)(negative ? v | (0xffu << bits & 0xffu) : v);
    }
}

void mase_onnx_tensor_copy(void *to, const struct mase_onnx_file *f,
                           const struct mase_onnx_tensor *t)
{
    const enum row row = types[t->data_type].row;
    enum mase_dtype dtype = MASE_F32;
    struct mase_onnx_bytes b = t->raw_data;
    struct span s;
    struct mase_err err;
    struct mase_shape shape = { .rank = t->dims.count };
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = t->dims.items[i];
    const int64_t count = mase_shape_count(&shape);
    (void)memory_type(&dtype, t->data_type);
    if (t->data_location == EXTERNAL) {
        const struct mase_onnx_external *e = f->external;
        if (read_span(&s, f, t, &err))
            mase_bug("tensor '%s' was not looked at before", t->name);
        while (e && !mase_streq(e->location, s.location))
            e = e->next;
        b.data = e ? e->file.data + s.offset : NULL;
        b.size = (size_t)stored_count(t, count, mase_dtypes[dtype].size);
    }
    const bool bytes = t->data_location == EXTERNAL || is_bytes(t);
    if (types[t->data_type].packed)
        unpack(to, t, bytes ? b : (struct mase_onnx_bytes){ 0 }, count);
    else if (bytes)
        copy_bytes(to, dtype, b);
    else if (row == ROW_FLOAT && t->float_data.count)
        memcpy(to, t->float_data.items, (size_t)t->float_data.count * sizeof(float));
    else if (row == ROW_DOUBLE && t->double_data.count)
        memcpy(to, t->double_data.items, (size_t)t->double_data.count * sizeof(double));
    else if (row != ROW_FLOAT && row != ROW_DOUBLE)
        copy_ints(to, dtype, t, row);
}

/* ---- files ---- */

struct mase_loc mase_onnx_at(const struct mase_onnx_file *f, const struct mase_onnx_head *h)
{
    return (struct mase_loc){ .path = f->file.path, .off = (int64_t)h->at };
}

static enum mase_status read_model(struct mase_onnx_file *f, struct mase_err *err)
{
    f->model = mase_new(&f->arena, struct mase_onnx_model);
    MASE_TRY(mase_onnx_parse(f->model, &f->arena, MASE_ONNX_MESSAGE_model, f->file.data,
                             f->file.size, f->file.path, err));
    if (!f->model->graph)
        return mase_fail_in(err, MASE_EPARSE, f->file.path, "this ONNX file has no graph");
    return MASE_OK;
}

enum mase_status mase_onnx_file_open(struct mase_onnx_file *f, const char *path,
                                     struct mase_err *err)
{
    *f = (struct mase_onnx_file){ 0 };
    MASE_TRY(mase_file_open(&f->file, path, err));
    const enum mase_status st = read_model(f, err);
    if (st)
        mase_onnx_file_close(f);
    return st;
}

enum mase_status mase_onnx_file_parse(struct mase_onnx_file *f, const void *data, size_t size,
                                      const char *path, struct mase_err *err)
{
    *f = (struct mase_onnx_file){ .file = { .path = path, .data = data, .size = size } };
    const enum mase_status st = read_model(f, err);
    if (st)
        mase_arena_release(&f->arena);
    return st;
}

void mase_onnx_file_close(struct mase_onnx_file *f)
{
    for (struct mase_onnx_external *e = f->external; e; e = e->next)
        mase_file_close(&e->file);
    mase_file_close(&f->file);
    mase_arena_release(&f->arena);
    *f = (struct mase_onnx_file){ 0 };
}
