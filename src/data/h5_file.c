/*
 * h5_file.c - requests to the process that reads HDF5 files. A hostile file may control its
 * answers, so shapes are checked before use.
 */
#include "data/h5_file.h"

#include <string.h>

#include <mase/file.h>
#include <mase/str.h>

enum {
    SECONDS = 60, /* of CPU time, plus one for each megabyte of the file */
    NAMES_MOST = 1 << 24,
};

static struct mase_reader_request about(enum mase_reader_verb verb, const char *text)
{
    return (struct mase_reader_request){ .verb = verb, .bytes = text ? strlen(text) + 1 : 0 };
}

/* An HDF5 file begins with its signature, possibly after a user block. */
static bool is_hdf5(const struct mase_file *f)
{
    static const unsigned char magic[8] = "\x89HDF\r\n\x1a\n";
    for (size_t at = 0; at < f->size && f->size - at >= sizeof magic; at = at ? 2 * at : 512)
        if (memcmp(f->data + at, magic, sizeof magic) == 0)
            return true;
    return false;
}

static enum mase_status look(uint64_t *size, const char *path, struct mase_err *err)
{
    struct mase_file head;
    MASE_TRY(mase_file_open(&head, path, err)); /* report a missing file or a directory ourselves */
    *size = head.size;
    const bool ours = is_hdf5(&head);
    mase_file_close(&head);
    if (!*size)
        return mase_fail_in(err, MASE_EPARSE, path, "the file is empty");
    if (ours && !mase_is_file(path)) /* libhdf5 seeks */
        return mase_fail_in(err, MASE_EUNSUPPORTED, path,
                            "HDF5 is read from a file, not from a pipe");
    return ours ? MASE_OK
                : mase_fail_in(err, MASE_EPARSE, path,
                               "not an HDF5 file: HDF5's magic is neither at its beginning nor "
                               "behind a user block");
}

enum mase_status mase_h5_open(struct mase_h5 *f, const char *path, struct mase_err *err)
{
    uint64_t size;
    MASE_TRY(look(&size, path, err));
    f->path = path;
    f->most = mase_data_memory(size) / 2; /* the other half is for libhdf5 */
    f->reader = (struct mase_reader){
        .limits = { mase_data_memory(size), (f->seconds ? f->seconds : SECONDS) + (size >> 20),
                    false },
        .path = path,
        .library = "libhdf5",
        .kind = "HDF5 file",
    };
    MASE_TRY(mase_reader_start(&f->reader, err));
    struct mase_reader_request q = about(MASE_READER_OPEN, path);
    q.count = (int64_t)f->most;
    const enum mase_status st = mase_reader_call(&f->reader, q, path, NULL, 0, NULL, err);
    if (st)
        mase_reader_stop(&f->reader);
    return st;
}

void mase_h5_close(struct mase_h5 *f)
{
    mase_reader_stop(&f->reader);
    *f = (struct mase_h5){ 0 };
}

bool mase_h5_has(struct mase_h5 *f, const char *name)
{
    int64_t has = 0;
    struct mase_err err;
    return !mase_reader_call(&f->reader, about(MASE_READER_HAS, name), name, NULL, 0, &has, &err) &&
           has;
}

/* Split `count` zero-terminated texts; -1: all. NULL: there are fewer. */
static const char *const *cut(int64_t *count, const char *text, size_t size, struct mase_arena *a)
{
    int64_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += !text[i];
    if ((size && text[size - 1]) || (*count >= 0 && n != *count))
        return NULL;
    const char **list = mase_new_array(a, const char *, (size_t)n + 1);
    *count = n;
    for (int64_t i = 0; i < n; i++, text += strlen(text) + 1)
        list[i] = text;
    return list;
}

static enum mase_status fail_texts(const struct mase_h5 *f, struct mase_err *err)
{
    return mase_fail_in(err, MASE_EPARSE, f->path,
                        "damaged HDF5 file: what libhdf5 says of it is impossible");
}

const char *mase_h5_find_table(struct mase_h5 *f, struct mase_arena *a, const char *column)
{
    const char *name;
    size_t size;
    struct mase_err err;
    if (mase_reader_call_any(&f->reader, about(MASE_READER_TABLE, column), column, &name, &size,
                             NAMES_MOST, a, &err))
        return NULL;
    return name[0] ? name : NULL;
}

const char *const *mase_h5_names(struct mase_h5 *f, struct mase_arena *a, int *count)
{
    const char *text;
    size_t size;
    int64_t n = -1;
    struct mase_err err;
    *count = 0;
    if (mase_reader_call_any(&f->reader, about(MASE_READER_NAMES, NULL), NULL, &text, &size,
                             NAMES_MOST, a, &err))
        return NULL;
    const char *const *names = cut(&n, text, size, a);
    *count = names ? (int)n : 0;
    return names;
}

/* ---- datasets ---- */

/* Is the shape valid? Numbers are read in pieces, so their memory is not checked here. */
static bool is_possible(const struct mase_h5_facts *facts)
{
    const struct mase_shape *s = &facts->shape;
    int64_t bytes = sizeof(double);
    if (s->rank < 1 || s->rank > MASE_MAX_RANK)
        return false;
    for (int i = 0; i < s->rank; i++)
        if (s->dim[i] < 0 || __builtin_mul_overflow(bytes, s->dim[i] ? s->dim[i] : 1, &bytes))
            return false;
    return true;
}

enum mase_status mase_h5_set_open(struct mase_h5_set *s, struct mase_h5 *f, const char *name,
                                  struct mase_err *err)
{
    struct mase_h5_facts facts;
    int64_t number = 0;
    *s = (struct mase_h5_set){ .path = f->path, .name = name, .file = f, .most = f->most };
    MASE_TRY(mase_reader_call(&f->reader, about(MASE_READER_SET_OPEN, name), name, &facts,
                              sizeof facts, &number, err));
    if (!is_possible(&facts))
        return fail_texts(f, err);
    s->number = (int)number;
    s->compound = facts.compound;
    s->single = facts.single;
    s->integer = facts.integer;
    s->text = facts.text;
    s->shape = facts.shape;
    return MASE_OK;
}

void mase_h5_set_close(struct mase_h5_set *s)
{
    struct mase_err err;
    struct mase_reader_request q = about(MASE_READER_SET_CLOSE, NULL);
    q.set = s->number;
    if (s->number && s->file->reader.fd > 0)
        (void)!mase_reader_call(&s->file->reader, q, NULL, NULL, 0, NULL, &err);
    *s = (struct mase_h5_set){ 0 };
}

/* ---- numbers ---- */

static enum mase_status ask_rows(const struct mase_h5_set *s, enum mase_reader_verb verb, double *x,
                                 int64_t first, int64_t n, int64_t each, struct mase_err *err)
{
    struct mase_reader_request q = about(verb, NULL);
    q.set = s->number;
    q.first = first;
    q.count = n;
    return mase_reader_call(&s->file->reader, q, NULL, x, (size_t)(n * each) * sizeof *x, NULL,
                            err);
}

enum mase_status mase_h5_rows(const struct mase_h5_set *s, double *x, int64_t first, int64_t n,
                              struct mase_err *err)
{
    int64_t each = 1;
    for (int i = 1; i < s->shape.rank; i++)
        each *= s->shape.dim[i];
    return ask_rows(s, MASE_READER_ROWS, x, first, n, each, err);
}

enum mase_status mase_h5_records(const struct mase_h5_set *s, int columns, double *x, int64_t first,
                                 int64_t n, struct mase_err *err)
{
    return ask_rows(s, MASE_READER_RECORDS, x, first, n, columns, err);
}

/* ---- texts ---- */

static enum mase_status ask_texts(const char *const **out, const struct mase_h5_set *s,
                                  struct mase_reader_request q, const char *column,
                                  struct mase_arena *a, struct mase_err *err)
{
    const char *text;
    size_t size;
    int64_t n = s->shape.dim[0];
    q.set = s->number;
    MASE_TRY(mase_reader_call_any(&s->file->reader, q, column, &text, &size, s->most, a, err));
    *out = cut(&n, text, size, a);
    return *out ? MASE_OK : fail_texts(s->file, err);
}

enum mase_status mase_h5_texts(const char *const **text, const struct mase_h5_set *s,
                               struct mase_arena *a, struct mase_err *err)
{
    return ask_texts(text, s, about(MASE_READER_TEXTS, NULL), NULL, a, err);
}

enum mase_status mase_h5_column_texts(const char *const **text, const struct mase_h5_set *s,
                                      const char *column, struct mase_arena *a,
                                      struct mase_err *err)
{
    return ask_texts(text, s, about(MASE_READER_COLUMN_TEXTS, column), column, a, err);
}

/* ---- tables ---- */

enum mase_status mase_h5_columns(const struct mase_h5_column **column, const char *const **name,
                                 int *count, const struct mase_h5_set *s, struct mase_arena *a,
                                 struct mase_err *err)
{
    const char *text;
    size_t size;
    int64_t n = 0;
    struct mase_reader_request q = about(MASE_READER_COLUMNS, NULL);
    q.set = s->number;
    MASE_TRY(mase_reader_call_any(&s->file->reader, q, NULL, &text, &size, NAMES_MOST, a, err));
    if (size >= sizeof n)
        memcpy(&n, text, sizeof n);
    if (n < 0 || size < sizeof n || (uint64_t)n > (size - sizeof n) / sizeof **column)
        return fail_texts(s->file, err);
    struct mase_h5_column *list = mase_new_array(a, struct mase_h5_column, (size_t)n + 1);
    const size_t head = sizeof n + (size_t)n * sizeof *list;
    memcpy(list, text + sizeof n, (size_t)n * sizeof *list);
    *column = list;
    *name = cut(&n, text + head, size - head, a);
    *count = (int)n;
    return *name ? MASE_OK : fail_texts(s->file, err);
}

enum mase_status mase_h5_select(const struct mase_h5_set *s, const char *const *names, int n,
                                struct mase_err *err)
{
    struct mase_str list = { 0 };
    struct mase_reader_request q = about(MASE_READER_SELECT, NULL);
    for (int i = 0; i < n; i++)
        mase_str_addn(&list, names[i], strlen(names[i]) + 1);
    q.set = s->number;
    q.count = n;
    q.bytes = list.len;
    const enum mase_status st =
        mase_reader_call(&s->file->reader, q, mase_str_text(&list), NULL, 0, NULL, err);
    mase_str_release(&list);
    return st;
}
