/*
 * npy.c - NumPy's .npy files.
 *
 *     offset  bytes       content
 *     0       6           93 'N' 'U' 'M' 'P' 'Y'
 *     6       1           major version: 1, 2 or 3
 *     7       1           minor version: 0
 *     8       2 or 4      length of the header, little endian: 16 bits in version 1, else 32
 *     10, 12  length      the header: a Python dictionary, blanks, '\n'
 *     ...     the rest    the elements, without gaps, and nothing after them
 *
 * The dictionary has exactly the keys 'descr', 'fortran_order' and 'shape', in any order:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * descr is a byte order (< little, > big, = the host's, | none), a kind and a size in bytes; the
 * table below says which are read and what they become. The header is latin-1, in version 3 UTF-8;
 * what we accept in it is ASCII.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mase/cursor.h>
#include <mase/npy.h>
#include <mase/str.h>

#include "file/npy_parts.h"
#include "value/utf8.h"

static const struct npy_type {
    char descr[4];
    struct mase_element element;
} types[] = {
    { "f2", { 'f', 2, MASE_F32 } }, { "f4", { 'f', 4, MASE_F32 } },
    { "f8", { 'f', 8, MASE_F64 } }, { "i1", { 'i', 1, MASE_I32 } },
    { "i2", { 'i', 2, MASE_I32 } }, { "i4", { 'i', 4, MASE_I32 } },
    { "i8", { 'i', 8, MASE_I64 } }, { "u1", { 'u', 1, MASE_U8 } },
    { "u2", { 'u', 2, MASE_I32 } }, { "u4", { 'u', 4, MASE_I64 } },
    { "u8", { 'u', 8, MASE_I64 } }, { "b1", { 'b', 1, MASE_DTYPE_BOOL } },
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

struct npy_header {
    struct mase_element element;
    bool texts;      /* asked for: an array of texts has a kind and a length, and no element */
    char text;       /* U: code points of 32 bits, S: bytes; 0: numbers */
    int64_t letters; /* of each */
    bool big_endian, fortran;
    struct mase_shape shape;
};

/* ---- the dictionary: Python literals under a cursor that ends with the header ---- */

static enum mase_status bad_header(const struct mase_cursor *c, const char *expected,
                                   struct mase_err *err)
{
    if (c->pos >= c->size)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c),
                            "the header ends where %s should be", expected);
    const unsigned char found = c->data[c->pos];
    const bool printable = found > ' ' && found < 0x7f;
    return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c),
                        printable ? "expected %s, found '%c'" : "expected %s, found byte 0x%02x",
                        expected, found);
}

static int peek(struct mase_cursor *c)
{
    while (c->pos < c->size && (c->data[c->pos] == ' ' || c->data[c->pos] == '\n'))
        c->pos++;
    return c->pos < c->size ? c->data[c->pos] : -1;
}

static bool accept(struct mase_cursor *c, char wanted)
{
    if (peek(c) != (unsigned char)wanted)
        return false;
    c->pos++;
    return true;
}

static enum mase_status expect(struct mase_cursor *c, char wanted, struct mase_err *err)
{
    const char text[] = { '\'', wanted, '\'', 0 };
    return accept(c, wanted) ? MASE_OK : bad_header(c, text, err);
}

static bool accept_word(struct mase_cursor *c, const char *word)
{
    const size_t n = strlen(word);
    peek(c);
    if (c->size - c->pos < n || memcmp(c->data + c->pos, word, n) != 0)
        return false;
    c->pos += n;
    return true;
}

/* A quoted string without escapes; it must fit into buf. */
static enum mase_status get_string(struct mase_cursor *c, char *buf, size_t cap, const char *what,
                                   struct mase_err *err)
{
    const int quote = peek(c);
    if (quote != '\'' && quote != '"')
        return bad_header(c, what, err);
    const size_t start = ++c->pos;
    while (c->pos < c->size && c->data[c->pos] != quote)
        c->pos++;
    if (c->pos == c->size)
        return bad_header(c, "a closing quote", err);
    const size_t n = c->pos++ - start;
    if (n >= cap || memchr(c->data + start, 0, n) || memchr(c->data + start, '\\', n)) {
        c->pos = start;
        return bad_header(c, what, err);
    }
    memcpy(buf, c->data + start, n);
    buf[n] = 0;
    return MASE_OK;
}

static enum mase_status get_length(struct mase_cursor *c, int64_t *v, struct mase_err *err)
{
    const int first = peek(c);
    if (first < '0' || first > '9')
        return bad_header(c, "a length", err);
    const struct mase_loc at = mase_cursor_at(c);
    *v = 0;
    for (; c->pos < c->size && c->data[c->pos] >= '0' && c->data[c->pos] <= '9'; c->pos++)
        if (__builtin_mul_overflow(*v, 10, v) ||
            __builtin_add_overflow(*v, c->data[c->pos] - '0', v))
            return mase_fail_at(err, MASE_ELIMIT, at, "a length exceeds 64 bits");
    return MASE_OK;
}

static enum mase_status get_shape(struct mase_cursor *c, struct mase_shape *s, struct mase_err *err)
{
    s->rank = 0;
    MASE_TRY(expect(c, '(', err));
    while (!accept(c, ')')) {
        const struct mase_loc at = mase_cursor_at(c);
        int64_t length = 0;
        MASE_TRY(get_length(c, &length, err));
        if (s->rank == MASE_MAX_RANK)
            return mase_fail_at(err, MASE_ELIMIT, at, "more than %d dimensions", MASE_MAX_RANK);
        s->dim[s->rank++] = length;
        if (peek(c) != ')' ||
            s->rank == 1) /* (3) would be a number: a tuple of one needs its comma */
            MASE_TRY(expect(c, ',', err));
    }
    return MASE_OK;
}

static enum mase_status get_bool(struct mase_cursor *c, bool *v, struct mase_err *err)
{
    if (accept_word(c, "True"))
        *v = true;
    else if (accept_word(c, "False"))
        *v = false;
    else
        return bad_header(c, "True or False", err);
    return MASE_OK;
}

/* 'U12' or 'S3': texts of so many letters at most. */
static bool is_text(struct npy_header *h, const char *descr)
{
    enum { LETTERS_MAX = 1 << 20 };
    if ((descr[0] != 'U' && descr[0] != 'S') || !descr[1] ||
        descr[1 + strspn(descr + 1, "0123456789")])
        return false;
    h->letters = strtoll(descr + 1, NULL, 10);
    h->text = descr[0];
    h->element =
        (struct mase_element){ .size = (int)(h->text == 'U' ? 4 * h->letters : h->letters) };
    return h->letters <= LETTERS_MAX;
}

static enum mase_status get_descr(struct mase_cursor *c, struct npy_header *h, struct mase_err *err)
{
    char descr[16];
    if (peek(c) == '[')
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_cursor_at(c),
                            "structured arrays are not supported");
    const struct mase_loc at = mase_cursor_at(c);
    MASE_TRY(get_string(c, descr, sizeof descr, "a type such as '<f4'", err));
    if (descr[0] && descr[1] == 'O')
        return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                            "an object array holds Python pickles, which are not read; save texts "
                            "with .astype(str), numbers with .astype(float)");
    h->element.size = 0;
    h->text = 0;
    h->big_endian = descr[0] == '>' || (descr[0] == '=' && mase_host_is_big);
    if (h->texts && descr[0] && is_text(h, descr + 1))
        return MASE_OK;
    for (int i = 0; i < TYPE_COUNT; i++)
        if (descr[0] && mase_streq(descr + 1, types[i].descr))
            h->element = types[i].element;
    if (!h->element.size)
        return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                            "type '%s' is not supported; f2 f4 f8 i1..i8 u1..u8 b1 are", descr);
    if (!strchr("<>=|", descr[0]) || (descr[0] == '|' && h->element.size > 1))
        return mase_fail_at(err, MASE_EPARSE, at, "type '%s' has no byte order", descr);
    return MASE_OK;
}

static enum mase_status get_dict(struct mase_cursor *c, struct npy_header *h, struct mase_err *err)
{
    enum { DESCR = 1, FORTRAN = 2, SHAPE = 4 };
    unsigned seen = 0;
    MASE_TRY(expect(c, '{', err));
    while (!accept(c, '}')) {
        char key[16];
        peek(c);
        const struct mase_loc at = mase_cursor_at(c);
        MASE_TRY(get_string(c, key, sizeof key, "'descr', 'fortran_order' or 'shape'", err));
        const unsigned bit = mase_streq(key, "descr")           ? DESCR
                             : mase_streq(key, "fortran_order") ? FORTRAN
                             : mase_streq(key, "shape")         ? SHAPE
                                                                : 0;
        if (!bit || seen & bit)
            return mase_fail_at(err, MASE_EPARSE, at, "%s key '%s'", bit ? "second" : "unknown",
                                key);
        seen |= bit;
        MASE_TRY(expect(c, ':', err));
        MASE_TRY(bit == DESCR     ? get_descr(c, h, err)
                 : bit == FORTRAN ? get_bool(c, &h->fortran, err)
                                  : get_shape(c, &h->shape, err));
        if (peek(c) != '}')
            MASE_TRY(expect(c, ',', err));
    }
    if (seen != (DESCR | FORTRAN | SHAPE))
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c), "the header has no '%s'",
                            !(seen & DESCR)     ? "descr"
                            : !(seen & FORTRAN) ? "fortran_order"
                                                : "shape");
    return peek(c) < 0 ? MASE_OK : bad_header(c, "the end of the header", err);
}

static enum mase_status get_header(struct mase_cursor *c, struct npy_header *h,
                                   struct mase_err *err)
{
    uint8_t major, minor;
    uint16_t short_length;
    uint32_t length;
    MASE_TRY(mase_get_magic(c, "\x93NUMPY", 6, "NPY magic", err));
    const struct mase_loc at = mase_cursor_at(c);
    MASE_TRY(mase_get_u8(c, &major, err));
    MASE_TRY(mase_get_u8(c, &minor, err));
    if (major < 1 || major > 3 || minor != 0)
        return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                            "version %d.%d of the NPY format; 1.0, 2.0 and 3.0 are known", major,
                            minor);
    if (major == 1) {
        MASE_TRY(mase_get_u16(c, &short_length, err));
        length = short_length;
    } else {
        MASE_TRY(mase_get_u32(c, &length, err));
    }
    struct mase_cursor dict = *c;
    const unsigned char *skipped;
    MASE_TRY(mase_get_bytes(c, &skipped, length, err));
    dict.size = c->pos;
    return get_dict(&dict, h, err);
}

/* ---- the elements ---- */

/* Bytes of the elements in the file. Lengths count even beside a length of 0, so that no later
 * product over the shape can overflow; 8: what the widest of our types takes. */
static enum mase_status data_size(const struct mase_cursor *c, const struct npy_header *h,
                                  uint64_t *size, struct mase_err *err)
{
    int64_t product = 8;
    bool empty = false;
    for (int d = 0; d < h->shape.rank; d++) {
        empty |= h->shape.dim[d] == 0;
        if (h->shape.dim[d] && __builtin_mul_overflow(product, h->shape.dim[d], &product))
            return mase_fail_at(err, MASE_ELIMIT, mase_cursor_at(c),
                                "the shape has more than 2^60 elements");
    }
    *size = empty ? 0 : (uint64_t)(product / 8) * (uint64_t)h->element.size;
    return MASE_OK;
}

/* Step to the next element in Fortran order, the first index fastest; returns its place in C
 * order. */
static int64_t next_fortran(int64_t index[MASE_MAX_RANK], const struct mase_shape *s)
{
    int d = 0;
    while (d < s->rank && ++index[d] == s->dim[d])
        index[d++] = 0;
    int64_t place = 0;
    for (d = 0; d < s->rank; d++)
        place = place * s->dim[d] + index[d];
    return place;
}

static enum mase_status convert(struct mase_tensor *t, const struct npy_header *h,
                                const struct mase_cursor *start, const unsigned char *p,
                                struct mase_err *err)
{
    const int64_t count = mase_tensor_count(t);
    int64_t index[MASE_MAX_RANK] = { 0 };
    for (int64_t i = 0, place = 0; i < count; i++, p += h->element.size) {
        uint64_t bits;
        if (!mase_element_load(&h->element, &bits, p, h->big_endian))
            return mase_fail_at(err, MASE_EVALUE, mase_cursor_at(start),
                                "element %" PRId64 " = %" PRIu64
                                " exceeds the largest signed 64-bit integer",
                                i, bits);
        mase_element_store(t, place, bits);
        place = h->fortran ? next_fortran(index, &h->shape) : i + 1;
    }
    return MASE_OK;
}

/* Are the file's bytes already those of the tensor? */
static bool as_in_memory(const struct npy_header *h)
{
    return mase_element_is_native(&h->element) && h->big_endian == mase_host_is_big &&
           (!h->fortran || h->shape.rank < 2);
}

/* The array that ends where the file does: its header, and where its elements begin. */
static enum mase_status get_array(struct npy_header *h, const unsigned char **elements,
                                  struct mase_cursor *c, struct mase_err *err)
{
    uint64_t bytes = 0;
    MASE_TRY(get_header(c, h, err));
    const struct mase_cursor start = *c;
    MASE_TRY(data_size(&start, h, &bytes, err));
    MASE_TRY(mase_get_bytes(c, elements, bytes, err));
    if (c->pos != c->size)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c), "%zu bytes after the array",
                            c->size - c->pos);
    c->pos = start.pos;
    return MASE_OK;
}

static enum mase_status copy_array(struct mase_tensor *t, struct mase_arena *a,
                                   const struct npy_header *h, const struct mase_cursor *start,
                                   const unsigned char *elements, struct mase_err *err)
{
    struct mase_tensor out = mase_tensor(a, h->element.dtype, &h->shape, true);
    if (!as_in_memory(h))
        MASE_TRY(convert(&out, h, start, elements, err));
    else
        memcpy(out.data, elements, (size_t)mase_tensor_bytes(&out));
    *t = out;
    return MASE_OK;
}

/* ---- texts ---- */

static uint32_t letter_at(const struct npy_header *h, const unsigned char *p, int64_t i)
{
    if (h->text == 'S')
        return p[i];
    uint32_t letter = 0;
    for (int b = 0; b < 4; b++)
        letter |= (uint32_t)p[4 * i + b] << 8 * (h->big_endian ? 3 - b : b);
    return letter;
}

/* Texts are padded with zeros. */
static const char *text_at(struct mase_arena *a, const struct npy_header *h, const unsigned char *p)
{
    struct mase_str text = { 0 };
    int64_t n = h->letters;
    while (n && !letter_at(h, p, n - 1))
        n--;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t letter = letter_at(h, p, i);
        if (h->text == 'S')
            mase_str_addc(&text, letter ? (char)letter : '?');
        else
            mase_utf8_add(&text, letter && mase_utf8_is_scalar(letter) ? letter : '?');
    }
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

enum mase_status mase_npy_texts(struct mase_npy_texts *t, struct mase_arena *a,
                                struct mase_cursor *in, struct mase_err *err)
{
    struct npy_header h = { .texts = true };
    const unsigned char *p = NULL;
    const size_t start = in->pos;
    MASE_TRY(get_array(&h, &p, in, err));
    in->pos = start;
    *t = (struct mase_npy_texts){ .shape = h.shape };
    if (!h.text)
        return MASE_OK;
    if (h.fortran && h.shape.rank > 1)
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_cursor_at(in),
                            "texts in Fortran order are not supported");
    t->count = mase_shape_count(&h.shape);
    t->text = mase_new_array(a, const char *, (size_t)t->count);
    for (int64_t i = 0; i < t->count; i++)
        t->text[i] = text_at(a, &h, p + i * h.element.size);
    return MASE_OK;
}

enum mase_status mase_npy_parse(struct mase_tensor *t, struct mase_arena *a, const void *data,
                                size_t size, const char *path, struct mase_err *err)
{
    struct mase_cursor c = { .path = path, .data = data, .size = size };
    struct npy_header h = { 0 };
    const unsigned char *elements = NULL;
    MASE_TRY(get_array(&h, &elements, &c, err));
    return copy_array(t, a, &h, &c, elements, err);
}

static bool must_copy(const struct npy_header *h, const unsigned char *elements)
{
    return !as_in_memory(h) || (uintptr_t)elements % (size_t)h->element.size != 0;
}

enum mase_status mase_npy_copied(uint64_t *bytes, bool as_stored, struct mase_cursor *in,
                                 struct mase_err *err)
{
    struct npy_header h = { 0 };
    const unsigned char *elements = NULL;
    MASE_TRY(get_array(&h, &elements, in, err));
    if (as_stored)
        h.element = mase_element_as_stored(&h.element);
    const struct mase_tensor t = { .dtype = h.element.dtype, .shape = h.shape };
    *bytes = must_copy(&h, elements) ? (uint64_t)mase_tensor_bytes(&t) : 0;
    return MASE_OK;
}

enum mase_status mase_npy_view(struct mase_tensor *t, struct mase_arena *a, bool as_stored,
                               int *converted, struct mase_cursor *in, struct mase_err *err)
{
    struct npy_header h = { 0 };
    const unsigned char *elements = NULL;
    MASE_TRY(get_array(&h, &elements, in, err));
    if (as_stored)
        h.element = mase_element_as_stored(&h.element);
    *converted += h.element.size != mase_dtypes[h.element.dtype].size;
    if (must_copy(&h, elements))
        return copy_array(t, a, &h, in, elements, err);
    *t = mase_tensor(a, h.element.dtype, &h.shape, false);
    t->data = (void *)elements; /* tensors of files are never written to */
    return MASE_OK;
}

enum mase_status mase_npy_outline(struct mase_tensor *t, struct mase_cursor *in, uint64_t whole,
                                  struct mase_err *err)
{
    struct npy_header h = { 0 };
    uint64_t bytes = 0;
    MASE_TRY(get_header(in, &h, err));
    MASE_TRY(data_size(in, &h, &bytes, err));
    if (whole - in->pos != bytes)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(in),
                            "%" PRIu64 " bytes of data, type and shape ask for %" PRIu64,
                            whole - in->pos, bytes);
    *t =
        (struct mase_tensor){ .dtype = mase_element_as_stored(&h.element).dtype, .shape = h.shape };
    return MASE_OK;
}

enum mase_status mase_npy_read(struct mase_tensor *t, struct mase_arena *a, const char *path,
                               struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    const enum mase_status st = mase_npy_parse(t, a, f.data, f.size, path, err);
    mase_file_close(&f);
    return st;
}

/* ---- writing ---- */

enum mase_status mase_npy_check(const struct mase_tensor *t, const char *what, const char *path,
                                struct mase_err *err)
{
    if (mase_host_is_big)
        return mase_fail_in(err, MASE_EUNSUPPORTED, path, "writing needs a little-endian machine");
    if (t->dtype == MASE_BF16)
        return mase_fail_in(err, MASE_EUNSUPPORTED, path,
                            "%s is of bfloat16, which NumPy's files cannot hold", what);
    return MASE_OK;
}

/* NumPy leaves room for the first length to grow to 21 digits, then fills up to 64 bytes. */
void mase_npy_header(struct mase_str *out, const struct mase_tensor *t)
{
    enum { PREFIX = 10, GROWTH = 21, ALIGN = 64 };
    struct mase_str dict = { 0 };
    const struct mase_dtype_info *type = &mase_dtypes[t->dtype];
    mase_str_printf(&dict, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                    type->size == 1 ? '|' : '<', type->kind, type->size);
    long spare = 0;
    for (int d = 0; d < t->shape.rank; d++) {
        const size_t before = dict.len;
        mase_str_printf(&dict, "%s%" PRId64, d ? ", " : "", t->shape.dim[d]);
        if (d == 0)
            spare = GROWTH - (long)(dict.len - before);
    }
    mase_str_add(&dict, t->shape.rank == 1 ? ",), }" : "), }");
    mase_str_pad(&dict, ' ', spare);
    mase_str_pad(&dict, ' ', ALIGN - (long)(PREFIX + dict.len + 1) % ALIGN);
    mase_str_addc(&dict, '\n');

    mase_str_addn(out, "\x93NUMPY\x01\x00", 8);
    mase_str_addc(out, (char)(dict.len & 0xff));
    mase_str_addc(out, (char)(dict.len >> 8)); /* eight lengths of 20 digits stay far below 64 K */
    mase_str_addn(out, dict.data, dict.len);
    mase_str_release(&dict);
}

enum mase_status mase_npy_write(const struct mase_tensor *t, const char *path, struct mase_err *err)
{
    MASE_TRY(mase_npy_check(t, "the array", path, err));
    struct mase_writer w;
    MASE_TRY(mase_writer_open(&w, path, err));
    struct mase_str header = { 0 };
    mase_npy_header(&header, t);
    enum mase_status st = mase_writer_put(&w, header.data, header.len, err);
    if (!st)
        st = mase_writer_put(&w, t->data, (size_t)mase_tensor_bytes(t), err);
    if (!st)
        st = mase_writer_close(&w, err);
    mase_writer_abort(&w);
    mase_str_release(&header);
    return st;
}
