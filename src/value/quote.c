/*
 * quote.c - text in double quotes, as both JSON and TOML basic strings want it.
 */
#include "value/quote.h"

#include <string.h>

#include "value/utf8.h"

/* Characters that may control a terminal: C0, C1, line separators, bidirectional marks. */
static bool is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2066 && cp <= 0x2069);
}

static void add_code_point(struct mase_str *out, uint32_t cp)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *s = cp && cp < 0x80 ? strchr(special, (int)cp) : NULL;
    if (s)
        mase_str_printf(out, "\\%c", letters[s - special]);
    else if (is_control(cp))
        mase_str_printf(out, "\\u%04X", (unsigned)cp);
    else
        mase_utf8_add(out, cp);
}

void mase_quote(struct mase_str *out, const char *s, size_t n)
{
    mase_str_addc(out, '"');
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int len = mase_utf8_decode(&cp, s + i, n - i);
        add_code_point(out, len ? cp : 0xfffd);
        i += len ? (size_t)len : 1;
    }
    mase_str_addc(out, '"');
}
