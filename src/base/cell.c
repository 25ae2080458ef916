/*
 * cell.c - what a cell's text is; see cell.h. The rules are those of the reports this tool
 * reproduces, so that a table looks the same whichever program printed it.
 */
#include "base/cell.h"

#include <string.h>

#include "base/number.h"

size_t mase_cell_escape(const char *s, size_t n)
{
    if (n < 3 || s[0] != '\033' || s[1] != '[')
        return 0;
    for (size_t i = 2; i < n; i++) {
        if (s[i] >= 0x40 && s[i] <= 0x7e)
            return i + 1;
    }
    return 0;
}

long mase_cell_columns(const char *s, size_t n)
{
    long columns = 0;
    for (size_t i = 0; i < n;) {
        const size_t escape = mase_cell_escape(s + i, n - i);
        columns += escape ? 0 : mase_str_columns(s + i, 1);
        i += escape ? escape : 1;
    }
    return columns;
}

/* The cell without escape sequences and surrounding blanks, as far as a number can reach. */
static size_t plain(char text[64], const char *s)
{
    size_t len = 0;
    for (size_t n = strlen(s); n;) {
        const size_t escape = mase_cell_escape(s, n);
        if (!escape && len == 63)
            break; /* no number of ours is that long */
        if (!escape)
            text[len++] = *s;
        s += escape ? escape : 1;
        n -= escape ? escape : 1;
    }
    while (len && mase_is_space(text[len - 1]))
        len--;
    text[len] = '\0';
    size_t blanks = strspn(text, " \t\n");
    memmove(text, text + blanks, len - blanks + 1);
    return len - blanks;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* Digits, perhaps in groups of three as in 12,345. Returns the bytes, 0 if there are none. */
static size_t whole_part(const char *s)
{
    size_t n = digits(s);
    if (n == 0 || n > 3)
        return n;
    while (s[n] == ',' && digits(s + n + 1) == 3)
        n += 4;
    return n;
}

static bool is_number(const char *s)
{
    if (mase_strcaseeq(s, "inf") || mase_strcaseeq(s, "-inf") || mase_strcaseeq(s, "nan"))
        return true;
    s += *s == '+' || *s == '-';
    const size_t whole = whole_part(s);
    s += whole;
    size_t part = 0;
    if (*s == '.') {
        part = digits(s + 1);
        s += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s += s[1] == '+' || s[1] == '-' ? 2 : 1;
        if (digits(s) == 0)
            return false;
        s += digits(s);
    }
    return *s == '\0';
}

enum mase_cell_kind mase_cell_kind(const char *s)
{
    char text[64];
    if (plain(text, s) == 0)
        return MASE_CELL_EMPTY;
    if (mase_streq(text, "True") || mase_streq(text, "False"))
        return MASE_CELL_BOOL;
    return is_number(text) ? MASE_CELL_NUMBER : MASE_CELL_TEXT;
}

int mase_cell_decimals(const char *s)
{
    char text[64];
    const size_t len = plain(text, s);
    if (!is_number(text))
        return -1;
    const char *point = strchr(text, '.');
    if (!point)
        point = strpbrk(text, "eE");
    return point ? (int)(text + len - point) - 1 : -1;
}

/* A letter in the sense of hyphenation; characters beyond ASCII count as letters. */
static bool is_letter(char c)
{
    return mase_is_alpha(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_inner_byte(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Is the character before s[*i] a letter? Moves *i to it. */
static bool letter_before(const char *s, size_t *i)
{
    if (*i == 0)
        return false;
    do
        --*i;
    while (*i && is_inner_byte(s[*i]));
    return is_letter(s[*i]);
}

/* Is the character at s[*i] a letter? Advances *i. */
static bool letter_at(const char *s, size_t *i, size_t n)
{
    if (*i >= n || !is_letter(s[*i]))
        return false;
    do
        ++*i;
    while (*i < n && is_inner_byte(s[*i]));
    return true;
}

/* May a line end after the hyphen s[i]? Only within a word: "half-done", not "-1" or "a-1". */
static bool breaks_after_hyphen(const char *s, size_t i, size_t n)
{
    if (s[i] != '-')
        return false;
    size_t before = i, after = i + 1;
    if (!letter_before(s, &before))
        return false;
    if (before && s[before - 1] == '-') /* x-y-: the hyphen between letters counts as a letter */
        before--;
    if (!letter_before(s, &before) || !letter_at(s, &after, n))
        return false;
    if (after < n && s[after] == '-')
        after++;
    return letter_at(s, &after, n);
}

/* Bytes of the unbreakable token at s[from]: a run of blanks, or a word up to a hyphen. */
static size_t token_bytes(const char *s, size_t from, size_t n)
{
    size_t i = from;
    if (s[i] == ' ') {
        while (i < n && s[i] == ' ')
            i++;
        return i - from;
    }
    while (i < n && s[i] != ' ' && !(i > from && breaks_after_hyphen(s, i - 1, n)))
        i++;
    return i - from;
}

/* Bytes of the longest beginning of s that fits the columns. */
static size_t bytes_within(const char *s, size_t n, long columns)
{
    size_t i = 0;
    while (i < n) {
        const size_t escape = mase_cell_escape(s + i, n - i);
        if (!escape && !is_inner_byte(s[i]) && columns-- == 0)
            break;
        i += escape ? escape : 1;
    }
    return i;
}

/* The end of the line of text that begins at s[from]: whole tokens, or a part of a token that is
 * too long. */
static size_t line_end(const char *s, size_t from, size_t n, int width)
{
    long columns = 0;
    size_t i = from;
    while (i < n) {
        const size_t len = token_bytes(s, i, n);
        const long add = mase_cell_columns(s + i, len);
        if (columns + add > width) {
            if (add > width && columns < width)
                i += bytes_within(s + i, len, width - columns);
            break;
        }
        columns += add;
        i += len;
    }
    return i;
}

/* Colours switched on and not yet off, as the sequences that did it. */
static void note_colours(struct mase_str *on, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t escape = mase_cell_escape(s + i, n - i);
        if (escape == 4 && memcmp(s + i, "\033[0m", 4) == 0)
            mase_str_clear(on);
        else if (escape)
            mase_str_addn(on, s + i, escape);
    }
}

static void wrap_line(struct mase_str *out, const char *s, size_t n, int width)
{
    struct mase_str on = { 0 };
    for (size_t i = 0; i < n;) {
        const size_t stop = line_end(s, i, n, width);
        size_t end = stop;
        while (end > i && s[end - 1] == ' ')
            end--;
        mase_str_add(out, mase_str_text(&on));
        mase_str_addn(out, s + i, end - i);
        note_colours(&on, s + i, end - i);
        if (on.len)
            mase_str_add(out, "\033[0m");
        for (i = stop; i < n && s[i] == ' ';)
            i++;
        if (i < n)
            mase_str_addc(out, '\n');
    }
    mase_str_release(&on);
}

void mase_cell_wrap(struct mase_str *out, const char *text, int width)
{
    for (;;) {
        const size_t n = strcspn(text, "\n");
        wrap_line(out, text, n, width);
        if (!text[n])
            return;
        mase_str_addc(out, '\n');
        text += n + 1;
    }
}
