/*
 * str.c - the growing text buffer and small questions about text.
 */
#include <mase/str.h>

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

void mase_str_release(struct mase_str *s)
{
    mase_xfree(s->data);
    *s = (struct mase_str){ 0 };
}

void mase_str_cut(struct mase_str *s, size_t len)
{
    if (len >= s->len)
        return;
    s->len = len;
    s->data[len] = '\0';
}

void mase_str_clear(struct mase_str *s)
{
    mase_str_cut(s, 0);
}

const char *mase_str_text(const struct mase_str *s)
{
    return s->data ? s->data : "";
}

/* Room for n more bytes and the NUL. */
static void reserve(struct mase_str *s, size_t n)
{
    if (n > SIZE_MAX / 2 - s->len - 1)
        mase_out_of_memory(n);
    const size_t need = s->len + n + 1;
    if (need <= s->cap)
        return;
    const size_t doubled = s->cap ? s->cap * 2 : 64;
    const size_t cap = need > doubled ? need : doubled;
    s->data = mase_xrealloc(s->data, cap);
    s->cap = cap; /* not before there is so much */
}

void mase_str_addn(struct mase_str *s, const char *text, size_t n)
{
    reserve(s, n);
    if (n)
        memcpy(s->data + s->len, text, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void mase_str_add(struct mase_str *s, const char *text)
{
    mase_str_addn(s, text, strlen(text));
}

void mase_str_addc(struct mase_str *s, char c)
{
    mase_str_addn(s, &c, 1);
}

void mase_str_pad(struct mase_str *s, char c, long n)
{
    if (n <= 0)
        return;
    reserve(s, (size_t)n);
    memset(s->data + s->len, c, (size_t)n);
    s->len += (size_t)n;
    s->data[s->len] = '\0';
}

void mase_str_vprintf(struct mase_str *s, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int len = mase_vsnprintf(NULL, 0, fmt, ap);
    if (len < 0)
        mase_bug("cannot format \"%s\"", fmt);
    reserve(s, (size_t)len);
    mase_vsnprintf(s->data + s->len, (size_t)len + 1, fmt, again);
    va_end(again);
    s->len += (size_t)len;
}

void mase_str_printf(struct mase_str *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(s, fmt, ap);
    va_end(ap);
}

bool mase_streq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool mase_starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool mase_ends_with(const char *s, const char *suffix)
{
    const size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

long mase_str_columns(const char *s, size_t n)
{
    long columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)s[i] & 0xc0) != 0x80; /* not a continuation byte */
    return columns;
}
