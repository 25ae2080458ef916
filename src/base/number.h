/*
 * number.h - numbers and words as files write them, whatever the host's locale is.
 *
 * A program that has called setlocale may have a decimal comma, other letters and other spaces;
 * strtod, printf and isalpha follow it. Files and configurations do not: they have a decimal point
 * and the letters of ASCII. So the library reads and prints numbers and classifies characters by
 * these functions only; scripts/lint rejects the C library's elsewhere.
 */
#ifndef MASE_BASE_NUMBER_H
#define MASE_BASE_NUMBER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <mase/err.h>

/* strtod and strtof of a program that never called setlocale. */
double mase_number_read(const char *text, char **end);
float mase_number_read_float(const char *text, char **end);

/* snprintf, vsnprintf and fprintf of such a program. */
int mase_snprintf(char *text, size_t size, const char *fmt, ...) MASE_PRINTF(3, 4);
int mase_vsnprintf(char *text, size_t size, const char *fmt, va_list ap) MASE_PRINTF(3, 0);
int mase_fprintf(FILE *out, const char *fmt, ...) MASE_PRINTF(2, 3);

/* Does the whole text match the pattern of a shell, as fnmatch has it? */
bool mase_glob_match(const char *pattern, const char *text);

/* The system's message for errno, in English. */
const char *mase_strerror(int errnum);

enum { MASE_NUMBER_BYTES = 32 }; /* hold the text of any */
/* The fewest digits that read back to x, from these on; single: to x as a float. Returns text. */
const char *mase_number_shortest(char text[MASE_NUMBER_BYTES], double x, int digits, bool single);
/* A float as what was probably written: the double of its fewest digits, from these on. */
double mase_number_as_written(float x, int digits);

/* ---- characters of ASCII; no other is any of these ---- */

static inline bool mase_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool mase_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool mase_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool mase_is_alpha(char c)
{
    return mase_is_upper(c) || mase_is_lower(c);
}

static inline bool mase_is_alnum(char c)
{
    return mase_is_alpha(c) || mase_is_digit(c);
}

static inline bool mase_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool mase_is_print(char c)
{
    return c >= ' ' && c <= '~';
}

static inline char mase_to_lower(char c)
{
    return (char)(mase_is_upper(c) ? c - 'A' + 'a' : c);
}

static inline char mase_to_upper(char c)
{
    return (char)(mase_is_lower(c) ? c - 'a' + 'A' : c);
}

/* Equal but for the case of letters; of the second, the first n bytes. */
bool mase_strcaseeq(const char *a, const char *b);
bool mase_strncaseeq(const char *a, const char *b, size_t n);

/* ln x of a positive number, within 4 units of the last place; the same bits on every processor
 * (rng.c). */
double mase_natural_log(double x);

#endif /* MASE_BASE_NUMBER_H */
