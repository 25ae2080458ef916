/*
 * utf8.h - strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef MASE_VALUE_UTF8_H
#define MASE_VALUE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mase/str.h>

/* The code point at s (n bytes follow) in *cp; returns its length, or 0 when it is malformed. */
int mase_utf8_decode(uint32_t *cp, const char *s, size_t n);

/* A code point that may be encoded: not a surrogate, not above U+10FFFF. */
bool mase_utf8_is_scalar(uint32_t cp);
void mase_utf8_add(struct mase_str *out, uint32_t cp);

#endif /* MASE_VALUE_UTF8_H */
