/*
 * markup.h - text for HTML and SVG.
 */
#ifndef MASE_VALUE_MARKUP_H
#define MASE_VALUE_MARKUP_H

#include <mase/str.h>

/* Append text, escaped for use between tags and inside a double-quoted attribute. Characters that
 * XML forbids even escaped (malformed bytes, controls) become the replacement character; line feeds
 * and tabs are kept. */
void mase_markup_add(struct mase_str *out, const char *text);

#endif /* MASE_VALUE_MARKUP_H */
