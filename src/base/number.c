/*
 * number.c - numbers and words without the host's locale; see number.h.
 *
 * The C library's conversions are correctly rounded, so they are used, in the locale "C", which is
 * made once. Reading takes the locale as an argument; printing has no such function, so the thread
 * switches to the locale and back, which costs less than printing a digit and does not affect other
 * threads.
 */
#define _GNU_SOURCE /* strtod_l */
#include "base/number.h"

#include <fnmatch.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(locale_t) plain;

static locale_t plain_locale(void)
{
    locale_t made = atomic_load_explicit(&plain, memory_order_acquire), none = (locale_t)0;
    if (made)
        return made;
    made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!made)
        mase_bug("the locale C cannot be had");
    if (atomic_compare_exchange_strong(&plain, &none, made))
        return made;
    freelocale(made); /* another thread was first */
    return none;
}

double mase_number_read(const char *text, char **end)
{
    return strtod_l(text, end, plain_locale());
}

float mase_number_read_float(const char *text, char **end)
{
    return strtof_l(text, end, plain_locale());
}

int mase_vsnprintf(char *text, size_t size, const char *fmt, va_list ap)
{
    const locale_t before = uselocale(plain_locale());
    const int len = vsnprintf(text, size, fmt, ap);
    uselocale(before);
    return len;
}

int mase_snprintf(char *text, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int len = mase_vsnprintf(text, size, fmt, ap);
    va_end(ap);
    return len;
}

int mase_fprintf(FILE *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const locale_t before = uselocale(plain_locale());
    const int len = vfprintf(out, fmt, ap);
    uselocale(before);
    va_end(ap);
    return len;
}

bool mase_glob_match(const char *pattern, const char *text)
{
    const locale_t before = uselocale(plain_locale());
    const int differs = fnmatch(pattern, text, 0);
    uselocale(before);
    return !differs;
}

const char *mase_strerror(int errnum)
{
    return strerror_l(errnum, plain_locale());
}

const char *mase_number_shortest(char text[MASE_NUMBER_BYTES], double x, int digits, bool single)
{
    for (const int most = single ? 9 : 17;; digits++) {
        mase_snprintf(text, MASE_NUMBER_BYTES, "%.*g", digits, x);
        if (digits >= most || (single ? mase_number_read_float(text, NULL) == (float)x
                                      : mase_number_read(text, NULL) == x))
            return text;
    }
}

double mase_number_as_written(float x, int digits)
{
    char text[MASE_NUMBER_BYTES];
    return mase_number_read(mase_number_shortest(text, (double)x, digits, true), NULL);
}

bool mase_strncaseeq(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++)
        if (mase_to_lower(*a) != mase_to_lower(*b))
            return false;
        else if (!*a)
            return true;
    return true;
}

bool mase_strcaseeq(const char *a, const char *b)
{
    return mase_strncaseeq(a, b, (size_t)-1);
}
