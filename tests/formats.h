/*
 * formats.h - number formats for tests, by their text.
 */
#ifndef TESTS_FORMATS_H
#define TESTS_FORMATS_H

#include <stdio.h>
#include <string.h>

#include <mase/format.h>

/* "integer(8, 4)"; a bug in the test when there is none. */
static inline const struct mase_format *format_of(const char *text)
{
    const struct mase_format *f = NULL;
    struct mase_err problem = { 0 };
    if (mase_format_parse(&f, text, &problem))
        mase_bug("%s: %s", text, problem.msg);
    return f;
}

static inline const struct mase_format *integer_format(int64_t width, int64_t frac_width)
{
    char text[64];
    if (frac_width == MASE_NA)
        snprintf(text, sizeof text, "integer(%lld, NA)", (long long)width);
    else
        snprintf(text, sizeof text, "integer(%lld, %lld)", (long long)width, (long long)frac_width);
    return format_of(text);
}

/* What a parameter proposes itself. */
static inline void format_add_proposed(struct mase_str *out, const struct mase_opt *p)
{
    if (p->text)
        mase_str_add(out, p->text);
    else if (p->may_be_none && p->num == (double)MASE_NA)
        mase_str_add(out, "NA");
    else if (p->type == MASE_OPT_TYPE_BOOL)
        mase_str_add(out, p->num != 0 ? "true" : "false");
    else
        mase_str_printf(out, "%g", p->num);
}

/* "block_fp(8, 8, NA, [16])": a row with the parameters that it proposes. */
static inline void format_proposed(struct mase_str *out, const struct mase_quant_info *q)
{
    mase_str_printf(out, "%s(", q->name);
    for (const struct mase_opt *p = q->params; p->type && p->required; p++) {
        mase_str_add(out, p == q->params ? "" : ", ");
        format_add_proposed(out, p);
    }
    mase_str_addc(out, ')');
}

/* Is this the message, whatever formats there are? "allowed: ..." of expected stands for any list.
 */
static inline bool same_message(const char *msg, const char *expected)
{
    const char *list = strstr(expected, "allowed: ...");
    const size_t n = list ? (size_t)(list - expected) + strlen("allowed: ") : 0;
    return list ? !strncmp(msg, expected, n) : !strcmp(msg, expected);
}

#endif /* TESTS_FORMATS_H */
