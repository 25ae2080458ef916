/*
 * toml_number.c - integers (decimal, 0x, 0o, 0b) and floats.
 *
 * The token has been cut out already; here it either is a number from its first byte to its last or
 * it is an error. Underscores must stand between digits; only decimal numbers have a sign; a
 * decimal integer part has no leading zero.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "value/toml.h"

/* The token and how far it has been read; digits collects it without underscores, for strtod. */
struct number {
    const char *s;
    size_t n, pos;
    struct mase_str digits;
};

static int at(const struct number *num)
{
    return num->pos < num->n ? (unsigned char)num->s[num->pos] : -1;
}

static bool is_digit(int c, int base)
{
    if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
        return true;
    return c >= '0' && c < '0' + (base < 10 ? base : 10);
}

/* One or more digits, single underscores between them. */
static bool take_digits(struct number *num, int base)
{
    for (;;) {
        if (!is_digit(at(num), base))
            return false;
        while (is_digit(at(num), base))
            mase_str_addc(&num->digits, num->s[num->pos++]);
        if (at(num) != '_')
            return true;
        num->pos++;
    }
}

static bool take_sign(struct number *num)
{
    if (at(num) != '+' && at(num) != '-')
        return false;
    mase_str_addc(&num->digits, num->s[num->pos++]);
    return true;
}

/* The integer of the digits; false: beyond 64 bits. */
static bool to_int(struct mase_value *v, const struct number *num, int base)
{
    errno = 0;
    long long i = strtoll(mase_str_text(&num->digits), NULL, base);
    v->kind = MASE_INT;
    v->i = i;
    return errno == 0;
}

static bool to_float(struct mase_value *v, const struct number *num)
{
    v->kind = MASE_FLOAT;
    v->f = mase_number_read(mase_str_text(&num->digits), NULL);
    return isfinite(v->f);
}

enum outcome { FINE, MALFORMED, TOO_LARGE };

static enum outcome read_based(struct mase_value *v, struct number *num)
{
    char letter = num->s[1];
    int base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    num->pos = 2;
    if (!take_digits(num, base) || num->pos != num->n)
        return MALFORMED;
    return to_int(v, num, base) ? FINE : TOO_LARGE;
}

/* inf and nan, with a sign or without. */
static bool read_special(struct mase_value *v, const struct number *num, bool negative)
{
    const char *word = num->s + num->pos;
    if (num->n - num->pos != 3 || (memcmp(word, "inf", 3) != 0 && memcmp(word, "nan", 3) != 0))
        return false;
    v->kind = MASE_FLOAT;
    v->f = copysign(word[0] == 'i' ? (double)INFINITY : (double)NAN, negative ? -1 : 1);
    return true;
}

static enum outcome read_decimal(struct mase_value *v, struct number *num)
{
    bool negative = at(num) == '-';
    take_sign(num);
    if (read_special(v, num, negative))
        return FINE;
    size_t first = num->pos;
    if (!take_digits(num, 10) || (num->s[first] == '0' && num->pos > first + 1))
        return MALFORMED;
    if (num->pos == num->n)
        return to_int(v, num, 10) ? FINE : TOO_LARGE;
    if (at(num) == '.') {
        mase_str_addc(&num->digits, num->s[num->pos++]);
        if (!take_digits(num, 10))
            return MALFORMED;
    }
    if (at(num) == 'e' || at(num) == 'E') {
        mase_str_addc(&num->digits, num->s[num->pos++]);
        take_sign(num);
        if (!take_digits(num, 10))
            return MALFORMED;
    }
    if (num->pos != num->n)
        return MALFORMED;
    return to_float(v, num) ? FINE : TOO_LARGE;
}

enum mase_status mase_toml_number(struct toml *t, struct mase_value *v, const char *s, size_t n)
{
    struct number num = { .s = s, .n = n };
    bool based = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'o' || s[1] == 'b');
    enum outcome got = based ? read_based(v, &num) : read_decimal(v, &num);
    mase_str_release(&num.digits);
    int shown = n < 60 ? (int)n : 60;
    if (got == MALFORMED)
        return mase_fail_at(t->err, MASE_EPARSE, v->at,
                            "'%.*s' is not a number, date or boolean (a string needs quotes)",
                            shown, s);
    if (got == TOO_LARGE)
        return mase_fail_at(t->err, MASE_EPARSE, v->at, "%.*s does not fit in %s", shown, s,
                            v->kind == MASE_INT ? "a 64-bit integer" : "a double");
    return MASE_OK;
}
