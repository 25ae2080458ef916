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

/* ---- checking ---- */

/* The sum of a file in the text, or NULL. */
static const char *find(const char *text, const char *name)
{
    for (const char *line = text; *line;) {
        const size_t len = strcspn(line, "\n");
        if (len == NAME_AT + strlen(name) && !memcmp(line + DIGITS, "  ", 2) &&
            !memcmp(line + NAME_AT, name, len - NAME_AT))
            return line;
        line += len + (line[len] == '\n');
    }
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
    mase_file_close(&f);
    mase_arena_release(&a);
    return st;
}
