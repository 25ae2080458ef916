/*
 * sums.c - SHA256SUMS of a saved graph: were its files saved together?
 *
 * A line is what sha256sum prints, "HEX  NAME", so that `sha256sum -c` reads it, too.
 */
#include <string.h>

#include "pass/interface/files.h"

enum { DIGITS = 64, NAME_AT = DIGITS + 2 };

static const char *const names[] = { MASE_SAVED_GRAPH, MASE_SAVED_WEIGHTS, MASE_SAVED_META };
enum { NAMES = sizeof names / sizeof names[0] };

static enum mase_status hash(char hex[DIGITS + 1], const char *path, struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    mase_sha256(hex, f.data, f.size);
    mase_file_close(&f);
    return MASE_OK;
}

enum mase_status mase_saved_sums(struct mase_str *out, const char *dir, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    enum mase_status st = MASE_OK;
    char hex[DIGITS + 1];
    for (int i = 0; i < NAMES && !st; i++) {
        const char *path = mase_path_join(&a, dir, names[i]);
        if (!mase_is_file(path))
            continue;
        st = hash(hex, path, err);
        if (!st)
            mase_str_printf(out, "%s  %s\n", hex, names[i]);
    }
    mase_arena_release(&a);
    return st;
}

/* ---- other files in SHA256SUMS ---- */

/* Parse a line; *name points into it. Returns the length with the newline, 0 at the end. */
static size_t line_at(const char *line, const char **name, size_t *length)
{
    const size_t len = strcspn(line, "\n");
    const bool whole = len > NAME_AT && !memcmp(line + DIGITS, "  ", 2);
    *name = line + (whole ? NAME_AT : 0);
    *length = whole ? len - NAME_AT : 0;
    return len + (line[len] == '\n');
}

enum mase_status mase_saved_add(const char *dir, const char *name, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_str out = { 0 };
    struct mase_file f;
    const char *sums = mase_path_join(&a, dir, MASE_SAVED_SUMS),
               *path = mase_path_join(&a, dir, name), *old;
    char hex[DIGITS + 1];
    size_t length;
    enum mase_status st = mase_is_file(sums) ? mase_file_open(&f, sums, err) : MASE_OK;
    if (st || !mase_is_file(sums)) {
        mase_arena_release(&a);
        return st;
    }
    const char *text = mase_arena_strndup(&a, (const char *)f.data, f.size);
    mase_file_close(&f);
    for (size_t n; (n = line_at(text, &old, &length)); text += n)
        if (length != strlen(name) || memcmp(old, name, length) != 0)
            mase_str_addn(&out, text, n);
    if (mase_is_file(path) && !(st = hash(hex, path, err)))
        mase_str_printf(&out, "%s  %s\n", hex, name);
    if (!st)
        st = mase_file_write(sums, mase_str_text(&out), out.len, err);
    mase_str_release(&out);
    mase_arena_release(&a);
    return st;
}

/* ---- checking ---- */

/* The checksum of a file in the text, or NULL. */
static const char *find(const char *text, const char *name)
{
    const char *at;
    size_t length;
    for (size_t n; (n = line_at(text, &at, &length)); text += n)
        if (length == strlen(name) && !memcmp(at, name, length))
            return text;
    return NULL;
}

static enum mase_status check_file(const char *text, const char *path, const char *name,
                                   struct mase_err *err)
{
    const char *sum = find(text, name);
    char hex[DIGITS + 1];
    if (!sum && !mase_is_file(path))
        return MASE_OK;
    if (!mase_is_file(path))
        return mase_fail_in(err, MASE_EIO, path,
                            "is missing: it was saved with the other files of its folder, as "
                            "%s there says",
                            MASE_SAVED_SUMS);
    MASE_TRY(hash(hex, path, err));
    if (sum && !memcmp(sum, hex, DIGITS))
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, path,
                        "was not saved together with the other files of its folder: the save was "
                        "broken off, or the file changed since; %s there has another sum for it",
                        MASE_SAVED_SUMS);
}

/* Files that were added later may be missing, but must be unchanged. */
static enum mase_status check_others(const char *text, struct mase_arena *a, const char *dir,
                                     struct mase_err *err)
{
    const char *at, *lines = text;
    size_t length;
    for (size_t n; (n = line_at(lines, &at, &length)); lines += n) {
        const char *name = mase_arena_strndup(a, at, length);
        const char *path = mase_path_join(a, dir, name);
        if (length && !strchr(name, '/') && mase_is_file(path))
            MASE_TRY(check_file(text, path, name, err));
    }
    return MASE_OK;
}

enum mase_status mase_saved_check(const char *dir, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_file f;
    const char *sums = mase_path_join(&a, dir, MASE_SAVED_SUMS);
    enum mase_status st = MASE_OK;
    if (mase_is_file(sums))
        st = mase_file_open(&f, sums, err);
    if (st || !mase_is_file(sums)) {
        mase_arena_release(&a);
        return st;
    }
    const char *text = mase_arena_strndup(&a, (const char *)f.data, f.size);
    for (int i = 0; i < NAMES && !st; i++)
        st = check_file(text, mase_path_join(&a, dir, names[i]), names[i], err);
    if (!st)
        st = check_others(text, &a, dir, err);
    mase_file_close(&f);
    mase_arena_release(&a);
    return st;
}
