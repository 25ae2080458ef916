/*
 * mg_lex.c - the tokens of .mg.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "ir/text/mg.h"

static bool at_end(const struct mase_mg_lexer *lx)
{
    return lx->pos == lx->end;
}

static bool is_word_char(char c)
{
    return mase_is_alnum(c) || (c && strchr("_.+-", c));
}

static void start_token(struct mase_mg_lexer *lx)
{
    lx->t = (struct mase_mg_token){
        .at = { .path = lx->path,
                .line = lx->line,
                .col = (int)(lx->pos - lx->line_start) + 1,
                .off = -1 },
    };
}

static void end_token(struct mase_mg_lexer *lx, enum mase_mg_kind kind, const char *start)
{
    lx->t.kind = kind;
    lx->t.at.span = (int)(lx->pos - start);
}

/* Blanks and comments, and inside of brackets line ends too. */
static void skip_blanks(struct mase_mg_lexer *lx)
{
    for (; !at_end(lx); lx->pos++) {
        if (*lx->pos == '#') {
            while (lx->pos + 1 < lx->end && lx->pos[1] != '\n')
                lx->pos++;
        } else if (*lx->pos == '\n' && lx->depth) {
            lx->line++;
            lx->line_start = lx->pos + 1;
        } else if (!*lx->pos || !strchr(" \t\r", *lx->pos)) {
            return;
        }
    }
}

static enum mase_status lex_newline(struct mase_mg_lexer *lx)
{
    end_token(lx, MASE_MG_NEWLINE, lx->pos++);
    lx->line++;
    lx->line_start = lx->pos;
    return MASE_OK;
}

static enum mase_status lex_mark(struct mase_mg_lexer *lx)
{
    const char *start = lx->pos++;
    if (strchr("([{", *start))
        lx->depth++;
    else if (strchr(")]}", *start) && lx->depth)
        lx->depth--;
    lx->t.text = mase_arena_strndup(lx->arena, start, 1);
    end_token(lx, MASE_MG_MARK, start);
    return MASE_OK;
}

static const char *take_word(struct mase_mg_lexer *lx)
{
    const char *start = lx->pos;
    while (!at_end(lx) && is_word_char(*lx->pos))
        lx->pos++;
    return mase_arena_strndup(lx->arena, start, (size_t)(lx->pos - start));
}

static enum mase_status lex_word(struct mase_mg_lexer *lx)
{
    const char *start = lx->pos;
    lx->t.text = take_word(lx);
    end_token(lx, MASE_MG_WORD, start);
    return MASE_OK;
}

static enum mase_status lex_node(struct mase_mg_lexer *lx)
{
    const char *start = lx->pos++;
    const char *name = lx->pos;
    while (!at_end(lx) && (mase_is_alnum(*lx->pos) || *lx->pos == '_'))
        lx->pos++;
    lx->t.text = mase_arena_strndup(lx->arena, name, (size_t)(lx->pos - name));
    end_token(lx, MASE_MG_NODE, start);
    if (lx->pos == name || (mase_is_digit(*name) && !lx->numbered))
        return mase_fail_at(lx->err, MASE_EPARSE, lx->t.at,
                            "after %% a node's name must follow: a letter or _, then letters, "
                            "digits and _");
    return MASE_OK;
}

/* Numbers as Python writes them; a word that only begins like one (2d, 0.conv) stays a word. */
static enum mase_status lex_number(struct mase_mg_lexer *lx)
{
    const char *start = lx->pos;
    const char *text = lx->t.text = take_word(lx);
    char *end;

    errno = 0;
    lx->t.i = strtoll(text, &end, 10);
    if (!*end && end != text) {
        end_token(lx, MASE_MG_INT, start);
        if (errno == ERANGE)
            return mase_fail_at(lx->err, MASE_ELIMIT, lx->t.at, "%s does not fit into 64 bits",
                                text);
        return MASE_OK;
    }
    bool plain = strspn(text, "0123456789.eE+-") == strlen(text);
    lx->t.f = mase_number_read(text, &end);
    bool is_float = !*end && (plain || mase_streq(text, "-inf"));
    end_token(lx, is_float ? MASE_MG_FLOAT : MASE_MG_WORD, start);
    return MASE_OK;
}

/* ---- texts ---- */

static int hex_digit(char c)
{
    if (mase_is_digit(c))
        return c - '0';
    c = mase_to_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At the character after a backslash. */
static enum mase_status lex_escape(struct mase_mg_lexer *lx, struct mase_str *out)
{
    static const char from[] = "nt\\'\"", to[] = "\n\t\\'\"";
    const char c = lx->pos < lx->end ? *lx->pos : '\0';
    const char *simple = c ? strchr(from, c) : NULL;

    if (simple) {
        mase_str_addc(out, to[simple - from]);
        return MASE_OK;
    }
    int high = c == 'x' && lx->end - lx->pos > 2 ? hex_digit(lx->pos[1]) : -1;
    int low = high >= 0 ? hex_digit(lx->pos[2]) : -1;
    if (low < 0 || high * 16 + low == 0)
        return mase_fail_at(lx->err, MASE_EPARSE, lx->t.at,
                            "an escape must be one of \\n \\t \\\\ \\' \\\" and \\x01 to \\xff");
    mase_str_addc(out, (char)(high * 16 + low));
    lx->pos += 2;
    return MASE_OK;
}

static enum mase_status read_text(struct mase_mg_lexer *lx, struct mase_str *out, char quote)
{
    for (; !at_end(lx) && *lx->pos != quote && *lx->pos != '\n' && *lx->pos; lx->pos++) {
        if (*lx->pos != '\\') {
            mase_str_addc(out, *lx->pos);
            continue;
        }
        lx->pos++;
        MASE_TRY(lex_escape(lx, out));
    }
    if (at_end(lx) || *lx->pos != quote)
        return mase_fail_at(lx->err, MASE_EPARSE, lx->t.at, "this text has no closing %c", quote);
    lx->pos++;
    return MASE_OK;
}

static enum mase_status lex_text(struct mase_mg_lexer *lx)
{
    const char *start = lx->pos++;
    struct mase_str text = { 0 };
    enum mase_status st = read_text(lx, &text, *start);

    lx->t.text = mase_arena_strdup(lx->arena, mase_str_text(&text));
    mase_str_release(&text);
    end_token(lx, MASE_MG_TEXT, start);
    return st;
}

/* ---- any token ---- */

enum mase_status mase_mg_next(struct mase_mg_lexer *lx)
{
    skip_blanks(lx);
    start_token(lx);
    if (at_end(lx))
        return MASE_OK;

    const char c = *lx->pos;
    if (c == '\n')
        return lex_newline(lx);
    if (c && strchr("()[]{},:=", c))
        return lex_mark(lx);
    if (c == '%')
        return lex_node(lx);
    if (c == '\'' || c == '"')
        return lex_text(lx);
    if (mase_is_alpha(c) || c == '_')
        return lex_word(lx);
    if (is_word_char(c))
        return lex_number(lx);
    return mase_fail_at(lx->err, MASE_EPARSE, lx->t.at,
                        mase_is_print(c) ? "unexpected character '%c'" : "unexpected byte 0x%02x",
                        mase_is_print(c) ? c : (unsigned char)c);
}

void mase_mg_describe(struct mase_str *out, const struct mase_mg_token *t)
{
    switch (t->kind) {
    case MASE_MG_END:
        mase_str_add(out, "the end of the file");
        break;
    case MASE_MG_NEWLINE:
        mase_str_add(out, "the end of the line");
        break;
    default:
        mase_str_printf(out, "'%s%s'", t->kind == MASE_MG_NODE ? "%" : "", t->text);
    }
}
