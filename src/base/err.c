/*
 * err.c - filling in a failure and printing it once.
 *
 * Messages are formatted before the error is changed, since an argument may be err->msg itself; and
 * without allocating, since memory may have run out.
 */
#include <mase/err.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mase/str.h>

#include "base/excerpt.h"
#include "base/ledger.h"
#include "base/number.h"

/* Copy text to a buffer of size bytes; if too long, cut at a whole character and end in "...". */
static void copy_cut(char *to, const char *text, size_t size)
{
    size_t len = strlen(text);
    if (len < size) {
        memmove(to, text, len + 1);
        return;
    }
    len = size - sizeof("...");
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    memmove(to, text, len);
    memcpy(to + len, "...", sizeof("..."));
}

/* As much of the text as there is room for; its length. */
static size_t format(char *text, size_t size, const char *fmt, va_list ap)
{
    const int len = mase_vsnprintf(text, size, fmt, ap);
    if (len < 0)
        mase_bug("cannot format \"%s\"", fmt);
    return (size_t)len < size ? (size_t)len : size - 1;
}

static void set_place(struct mase_err *err, struct mase_loc at)
{
    if (at.path)
        copy_cut(err->path, at.path, sizeof(err->path));
    else
        err->path[0] = '\0';
    err->loc = at;
    err->loc.path = at.path ? err->path : NULL;
}

static enum mase_status fail(struct mase_err *err, enum mase_status status, struct mase_loc at,
                             const char *fmt, va_list ap)
{
    if (status == MASE_OK)
        mase_bug("a failure without a status: \"%s\"", fmt);
    if (!err)
        return status;
    char text[2 * sizeof(err->msg)]; /* longer than what is kept of it */
    format(text, sizeof(text), fmt, ap);
    copy_cut(err->msg, text, sizeof(err->msg));
    set_place(err, at);
    err->status = status;
    return status;
}

enum mase_status mase_fail(struct mase_err *err, enum mase_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail(err, status, MASE_NOWHERE, fmt, ap);
    va_end(ap);
    return status;
}

enum mase_status mase_fail_at(struct mase_err *err, enum mase_status status, struct mase_loc at,
                              const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail(err, status, at, fmt, ap);
    va_end(ap);
    return status;
}

enum mase_status mase_fail_in(struct mase_err *err, enum mase_status status, const char *path,
                              const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail(err, status, (struct mase_loc){ .path = path, .off = -1 }, fmt, ap);
    va_end(ap);
    return status;
}

enum mase_status mase_fail_errno(struct mase_err *err, const char *path, const char *what)
{
    const char *why = mase_strerror(errno);
    return mase_fail_in(err, MASE_EIO, path, "%s: %s", what, why);
}

enum mase_status mase_wrap(struct mase_err *err, const char *fmt, ...)
{
    if (!err)
        mase_bug("mase_wrap without an error cannot return its status");
    char text[3 * sizeof(err->msg)];
    va_list ap;
    va_start(ap, fmt);
    const size_t len = format(text, sizeof(text) - sizeof(err->msg), fmt, ap);
    va_end(ap);
    mase_snprintf(text + len, sizeof(text) - len, ": %s", err->msg);
    copy_cut(err->msg, text, sizeof(err->msg));
    return err->status;
}

enum mase_status mase_place(struct mase_err *err, struct mase_loc at)
{
    if (!err)
        mase_bug("mase_place without an error cannot return its status");
    if (!err->path[0])
        set_place(err, at);
    return err->status;
}

void mase_err_print(FILE *out, const struct mase_err *err)
{
    static const struct mase_err none;
    struct mase_str s = { 0 };
    if (!out)
        return;
    err = err ? err : &none;
    const struct mase_loc *at = &err->loc;
    if (err->path[0]) {
        mase_str_add_printable(&s, err->path, strlen(err->path), false);
        if (at->line > 0 && at->col > 0)
            mase_str_printf(&s, ":%d:%d", at->line, at->col);
        else if (at->line > 0)
            mase_str_printf(&s, ":%d", at->line);
        else if (at->off >= 0)
            mase_str_printf(&s, "@0x%llx", (unsigned long long)at->off);
        mase_str_add(&s, ": ");
    }
    mase_str_add_printable(&s, err->msg, strlen(err->msg), false);
    mase_str_addc(&s, '\n');
    fwrite(s.data, 1, s.len, out);
    mase_str_release(&s);
    if (err->path[0] && at->line > 0)
        mase_excerpt_print(out, err->path, at);
}

size_t mase_err_text(const struct mase_err *err, char *buffer, size_t size)
{
    static const struct mase_err none;
    err = err ? err : &none;
    const struct mase_loc *at = &err->loc;
    char place[sizeof err->path + 32] = "";
    if (err->path[0] && at->line > 0 && at->col > 0)
        mase_snprintf(place, sizeof place, "%s:%d:%d: ", err->path, at->line, at->col);
    else if (err->path[0] && at->line > 0)
        mase_snprintf(place, sizeof place, "%s:%d: ", err->path, at->line);
    else if (err->path[0] && at->off >= 0)
        mase_snprintf(place, sizeof place, "%s@0x%llx: ", err->path, (unsigned long long)at->off);
    else if (err->path[0])
        mase_snprintf(place, sizeof place, "%s: ", err->path);
    return (size_t)mase_snprintf(buffer, buffer ? size : 0, "%s%s", place, err->msg);
}

void mase_bug_at(const char *file, int line, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    mase_vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct mase_guard *g = mase_guard_current();
    if (g) {
        mase_fail(g->err, MASE_EBUG, "%s:%d: bug: %s", file, line, text);
        mase_guard_leave(g, MASE_EBUG);
    }
    mase_fprintf(stderr, "%s:%d: bug: %s\n", file, line,
                 text); /* in one call, so that other threads' output does not split it */
    abort();
}
