/*
 * printable.c - escape untrusted text for a terminal. Names of files, tensors, nodes, classes and
 * columns may hold any bytes: those that would move the cursor, change colours, reverse the text or
 * imitate a line of this program are written as escapes, \n or \x1b.
 */
#include <mase/str.h>

enum { TAB = 4 }; /* blanks */

/* Bytes of the well-formed, printable UTF-8 character at s, or 0. */
static size_t printable(const unsigned char *s, size_t n)
{
    static const unsigned least[] = { 0, 0x20, 0xa0, 0x800,
                                      0x10000 }; /* by length: C1 is control */
    const size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : 4;
    if (len > n || (len == 4 && s[0] >> 3 != 30))
        return 0;
    unsigned code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    const bool line = code == 0x2028 || code == 0x2029;
    if (code < least[len] || code == 0x7f || code > 0x10ffff || surrogate || direction || line)
        return 0;
    return len;
}

static void add_escape(struct mase_str *s, unsigned char c)
{
    if (c == '\t')
        mase_str_pad(s, ' ', TAB);
    else if (c == '\n' || c == '\r')
        mase_str_add(s, c == '\n' ? "\\n" : "\\r");
    else
        mase_str_printf(s, "\\x%02x", c);
}

void mase_str_add_printable(struct mase_str *s, const char *text, size_t n, bool keep_lines)
{
    for (size_t i = 0; i < n;) {
        const size_t len = printable((const unsigned char *)text + i, n - i);
        if (len)
            mase_str_addn(s, text + i, len);
        else if (text[i] == '\n' && keep_lines)
            mase_str_addc(s, '\n');
        else
            add_escape(s, (unsigned char)text[i]);
        i += len ? len : 1;
    }
}
