/*
 * utf8.c - decode and encode one code point.
 *
 *     U+0000..U+007F     0xxxxxxx
 *     U+0080..U+07FF     110xxxxx 10xxxxxx
 *     U+0800..U+FFFF     1110xxxx 10xxxxxx 10xxxxxx
 *     U+10000..U+10FFFF  11110xxx 10xxxxxx 10xxxxxx 10xxxxxx
 */
#include "value/utf8.h"

bool mase_utf8_is_scalar(uint32_t cp)
{
    return cp <= 0x10ffff && !(cp >= 0xd800 && cp <= 0xdfff);
}

int mase_utf8_decode(uint32_t *cp, const char *s, size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* by length: none shorter */
    if (n == 0)
        return 0;
    unsigned char lead = (unsigned char)s[0];
    int len = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (len == 0 || (size_t)len > n || lead > 0xf4)
        return 0;
    uint32_t c = len == 1 ? lead : lead & (0x7fu >> len);
    for (int i = 1; i < len; i++) {
        unsigned char next = (unsigned char)s[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (next & 0x3f);
    }
    if (c < least[len] || !mase_utf8_is_scalar(c))
        return 0;
    *cp = c;
    return len;
}

void mase_utf8_add(struct mase_str *out, uint32_t cp)
{
    if (cp < 0x80) {
        mase_str_addc(out, (char)cp);
        return;
    }
    int tail = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    unsigned lead = tail == 1 ? 0xc0 : tail == 2 ? 0xe0 : 0xf0;
    mase_str_addc(out, (char)(lead | cp >> 6 * tail));
    while (tail-- > 0)
        mase_str_addc(out, (char)(0x80 | (cp >> 6 * tail & 0x3f)));
}
