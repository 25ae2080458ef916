/*
 * markup.c - text for HTML and SVG.
 */
#include "value/markup.h"

#include <string.h>

#include "value/utf8.h"

static bool is_forbidden(uint32_t cp)
{
    return (cp < ' ' && cp != '\n' && cp != '\t') || cp == 0x7f || cp == 0xfffe || cp == 0xffff;
}

void mase_markup_add(struct mase_str *out, const char *text)
{
    const char *const end = text + strlen(text);
    while (text < end) {
        uint32_t cp = 0;
        const int len = mase_utf8_decode(&cp, text, (size_t)(end - text));
        if (!len || is_forbidden(cp))
            mase_utf8_add(out, 0xfffd);
        else if (cp < 0x80 && strchr("&<>\"'", (int)cp))
            mase_str_printf(out, "&#%u;", (unsigned)cp);
        else
            mase_str_addn(out, text, (size_t)len);
        text += len ? len : 1;
    }
}
