/*
 * excerpt.c - read a line of a file and print it. The file may have changed, may be one line of a
 * gigabyte, and may hold control sequences: only a window around the fault is read, and it is
 * escaped.
 */
#include "base/excerpt.h"

#include <string.h>
#include <sys/stat.h>

#include "base/number.h"

enum { WINDOW = 76, BEFORE = 48 }; /* bytes shown, of them before the caret */

/* Open a regular file: opening a pipe again would wait for ever. */
static FILE *open_text(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
}

/* Move to the first byte of the line; false when the file has fewer. */
static bool skip_to_line(FILE *in, int line)
{
    int c = 0;
    for (int i = 1; i < line && c != EOF; i++) {
        while ((c = getc(in)) != EOF && c != '\n')
            ;
    }
    c = getc(in);
    if (c == EOF)
        return false;
    ungetc(c, in);
    return true;
}

struct window {
    char text[WINDOW + 1];
    size_t len;
    size_t from; /* bytes of the line before it */
    bool more;   /* the line continues */
};

/* Read the part of the line around byte col (from 1; 0: the beginning). */
static struct window read_window(FILE *in, int col)
{
    struct window w = { .from = col > WINDOW - 8 ? (size_t)col - 1 - BEFORE : 0 };
    int c = 0;
    for (size_t i = 0; i < w.from; i++) {
        c = getc(in);
        if (c == EOF || c == '\n')
            return w; /* the line became shorter than that */
    }
    while ((c = getc(in)) != EOF && c != '\n' && w.len < WINDOW)
        w.text[w.len++] = (char)c;
    w.more = c != EOF && c != '\n';
    if (w.len && !w.more && w.text[w.len - 1] == '\r')
        w.len--;
    size_t cut = 0; /* do not begin within a character */
    while (w.from && cut < 3 && cut < w.len && ((unsigned char)w.text[cut] & 0xc0) == 0x80)
        cut++;
    if (cut)
        memmove(w.text, w.text + cut, w.len - cut);
    w.len -= cut;
    w.from += cut;
    while (w.more && w.len && ((unsigned char)w.text[w.len - 1] & 0xc0) == 0x80)
        w.len--; /* nor end within one: drop its tail, then its head */
    if (w.more && w.len && (unsigned char)w.text[w.len - 1] >= 0xc0)
        w.len--;
    return w;
}

/* Columns that the first n bytes of the window take once made harmless. */
static long columns_of(const struct window *w, size_t n)
{
    struct mase_str s = { 0 };
    mase_str_add_printable(&s, w->text, n, false);
    const long columns = mase_str_columns(mase_str_text(&s), s.len);
    mase_str_release(&s);
    return columns;
}

static void add_caret(struct mase_str *s, const struct window *w, const struct mase_loc *at)
{
    size_t col = (size_t)at->col - 1;
    col = col < w->from ? 0 : col - w->from;
    if (col > w->len)
        col = w->len;
    size_t end = col + (at->span > 0 ? (size_t)at->span : 1);
    if (end > w->len)
        end = w->len;
    const long before = columns_of(w, col);
    mase_str_pad(s, ' ', before + (w->from ? 3 : 0));
    mase_str_addc(s, '^');
    mase_str_pad(s, '~', at->span > 1 ? columns_of(w, end) - before - 1 : 0);
}

void mase_excerpt_print(FILE *out, const char *path, const struct mase_loc *at)
{
    FILE *in = open_text(path);
    if (!in)
        return;
    struct window w = { 0 };
    const bool found = skip_to_line(in, at->line);
    if (found)
        w = read_window(in, at->col);
    fclose(in); /* before memory is asked for */
    if (!found)
        return;
    struct mase_str s = { 0 };
    mase_str_printf(&s, "%5d | %s", at->line, w.from ? "..." : "");
    mase_str_add_printable(&s, w.text, w.len, false);
    mase_str_add(&s, w.more ? "...\n" : "\n");
    if (at->col > 0) {
        mase_str_printf(&s, "%*s | ", mase_snprintf(NULL, 0, "%5d", at->line), "");
        add_caret(&s, &w, at);
        mase_str_addc(&s, '\n');
    }
    fwrite(s.data, 1, s.len, out);
    mase_str_release(&s);
}
