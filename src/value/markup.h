/*
 * markup.h - text for HTML and SVG.
 */
#ifndef MASE_VALUE_MARKUP_H
#define MASE_VALUE_MARKUP_H

#include <mase/str.h>

/* Append text so that it stands for itself between tags and inside a double-quoted attribute. What
 * XML forbids even escaped (malformed bytes, controls) becomes the replacement character; line
 * feeds and tabs stay. */
void mase_markup_add(struct mase_str *out, const char *text);

#endif /* MASE_VALUE_MARKUP_H */
