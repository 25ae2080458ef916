/*
 * quote.h - text in double quotes, as both JSON and TOML basic strings want it.
 */
#ifndef MASE_VALUE_QUOTE_H
#define MASE_VALUE_QUOTE_H

#include <stddef.h>

#include <mase/str.h>

/* Escapes common to both; a byte that is not UTF-8 becomes U+FFFD. */
void mase_quote(struct mase_str *out, const char *s, size_t n);

#endif /* MASE_VALUE_QUOTE_H */
