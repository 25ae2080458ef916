/*
 * path.c - paths as text, and the directories they need.
 */
#include <mase/file.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/alloc.h"
#include "base/fault.h"

char *mase_path_join(struct mase_arena *a, const char *dir, const char *name)
{
    if (name[0] == '/' || !dir || !dir[0])
        return mase_arena_strdup(a, name);
    return mase_arena_printf(a, "%s%s%s", dir, mase_ends_with(dir, "/") ? "" : "/", name);
}

/* Drop the last component of an absolute path being built; the root stays. */
static void drop_last(struct mase_str *path)
{
    while (path->len && path->data[path->len - 1] != '/')
        path->len--;
    if (path->len)
        path->len--;
}

/* Add the components of text, resolving "." and ".." by their letters. */
static void add_components(struct mase_str *path, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, "/");
        if (n == 2 && memcmp(text, "..", 2) == 0) {
            drop_last(path);
        } else if (n > 0 && !(n == 1 && text[0] == '.')) {
            mase_str_addc(path, '/');
            mase_str_addn(path, text, n);
        }
        text += n + (text[n] == '/');
    }
}

static char *current_dir(void)
{
    for (size_t size = 256;; size *= 2) {
        char *dir = mase_xrealloc(NULL, size);
        if (getcwd(dir, size))
            return dir;
        mase_xfree(dir);
        if (errno != ERANGE)
            return NULL; /* it was removed under us */
    }
}

char *mase_path_absolute(struct mase_arena *a, const char *path)
{
    struct mase_str s = { 0 };
    if (path[0] != '/') {
        char *dir = current_dir();
        add_components(&s, dir ? dir : "");
        mase_xfree(dir);
    }
    add_components(&s, path);
    char *absolute = mase_arena_strndup(a, s.len ? s.data : "/", s.len ? s.len : 1);
    mase_str_release(&s);
    return absolute;
}

/* ---- links of others ---- */

static enum mase_status check_link(const char *path, struct mase_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0)
        return MASE_OK;
    return mase_fail_in(err, MASE_EIO, path,
                        "is a symbolic link of another user: what it points to is not written");
}

enum mase_status mase_check_links(const char *path, struct mase_err *err)
{
    struct mase_str part = { 0 };
    enum mase_status st = path[0] ? check_link(path, err) : MASE_OK;
    mase_str_add(&part, path);
    for (char *slash = path[0] ? strchr(part.data + 1, '/') : NULL; slash && !st;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        st = check_link(part.data, err);
        *slash = '/';
    }
    mase_str_release(&part);
    return st;
}

/* ---- directories ---- */

static enum mase_status make_dir(const char *path, struct mase_err *err)
{
    if (mase_sys_mkdir(path, 0777) == 0)
        return MASE_OK;
    const int why = errno;
    if (mase_is_dir(path))
        return MASE_OK;
    errno = why; /* looking changed it */
    if (errno == EEXIST)
        return mase_fail_in(err, MASE_EIO, path, "is a file, expected a directory");
    return mase_fail_errno(err, path, "cannot make the directory");
}

enum mase_status mase_make_dirs(const char *path, struct mase_err *err)
{
    MASE_TRY(mase_check_links(path, err));
    if (!path[0] || mase_is_dir(path))
        return MASE_OK;
    struct mase_str part = { 0 };
    mase_str_add(&part, path);
    enum mase_status st = MASE_OK;
    for (char *slash = strchr(part.data + 1, '/'); slash && !st; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        st = make_dir(part.data, err);
        *slash = '/';
    }
    if (!st)
        st = make_dir(path, err);
    mase_str_release(&part);
    return st;
}
