/*
 * python.c - values as Python's repr() and str() print them, and as they compare.
 *
 * Reports of the original were printed by Python and are compared text with text, so the rules here
 * are Python's: the shortest digits that read back as the same double, an exponent below 1e-4 and
 * from 1e16, single quotes unless the text has single quotes only.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/value.h>

#include "base/number.h"
#include "value/utf8.h"

/* ---- floats ---- */

/* A positive double as digits d1 d2 ... dn, meaning d1.d2...dn * 10^exp. */
struct decimal {
    char digits[24];
    int n, exp;
};

static struct decimal round_to(double f, int digits)
{
    char text[40];
    struct decimal d = { .n = digits };
    mase_snprintf(text, sizeof text, "%.*e", digits - 1, f);
    d.digits[0] = text[0];
    memcpy(d.digits + 1, text + 2, (size_t)digits - 1);
    d.exp = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return d;
}

static double decimal_value(const struct decimal *d)
{
    char text[40];
    mase_snprintf(text, sizeof text, "%c.%.*se%d", d->digits[0], d->n - 1, d->digits + 1, d->exp);
    return mase_number_read(text, NULL);
}

static void increment(struct decimal *d)
{
    int i = d->n - 1;
    while (i >= 0 && d->digits[i] == '9')
        d->digits[i--] = '0';
    if (i >= 0) {
        d->digits[i]++;
        return;
    }
    d->digits[0] = '1'; /* 9.99 became 10.00; the digits behind are zeros already */
    d->exp++;
}

/* n digits that read back as f, if there are any. Below a power of two doubles lie twice as dense
 * as above it, so there the nearest decimal may fail while the next one up succeeds. */
static bool reads_back(struct decimal *d, double f, int n)
{
    *d = round_to(f, n);
    double back = decimal_value(d);
    if (back == f)
        return true;
    int exp2;
    if (frexp(f, &exp2) != 0.5 || back > f)
        return false;
    increment(d);
    return decimal_value(d) == f;
}

static struct decimal shortest(double f)
{
    struct decimal d;
    /* DBL_DIG digits always survive the way through a normal double: if fewer suffice, what is left
     * over is zeros. A subnormal double has fewer digits to give. */
    int n = f < DBL_MIN ? 1 : DBL_DIG;
    while (n < 17 && !reads_back(&d, f, n))
        n++;
    if (n == 17)
        d = round_to(f, 17);
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.n--;
    return d;
}

static void add_scientific(struct mase_str *out, const struct decimal *d)
{
    mase_str_addc(out, d->digits[0]);
    if (d->n > 1)
        mase_str_addc(out, '.');
    mase_str_addn(out, d->digits + 1, (size_t)d->n - 1);
    mase_str_printf(out, "e%c%02d", d->exp < 0 ? '-' : '+', abs(d->exp));
}

static void add_positional(struct mase_str *out, const struct decimal *d)
{
    if (d->exp < 0) {
        mase_str_add(out, "0.");
        mase_str_pad(out, '0', -d->exp - 1);
        mase_str_addn(out, d->digits, (size_t)d->n);
        return;
    }
    int whole = d->exp + 1;
    int given = d->n < whole ? d->n : whole;
    mase_str_addn(out, d->digits, (size_t)given);
    mase_str_pad(out, '0', whole - given);
    mase_str_addc(out, '.');
    if (d->n > whole)
        mase_str_addn(out, d->digits + whole, (size_t)(d->n - whole));
    else
        mase_str_addc(out, '0');
}

void mase_repr_float(struct mase_str *out, double f)
{
    if (isnan(f)) {
        mase_str_add(out, "nan");
        return;
    }
    if (signbit(f))
        mase_str_addc(out, '-');
    if (isinf(f)) {
        mase_str_add(out, "inf");
        return;
    }
    struct decimal d = shortest(fabs(f));
    if (d.exp < -4 || d.exp >= 16)
        add_scientific(out, &d);
    else
        add_positional(out, &d);
}

/* ---- strings ---- */

/* Code points that str.isprintable() refuses: controls, format characters, separators other than
 * the blank, private use and noncharacters. Code points that Unicode has not assigned yet are
 * printed as they are: which those are changes with every edition. */
static const struct {
    uint32_t first, last;
} unprintable[] = {
    { 0x0000, 0x001f },   { 0x007f, 0x00a0 },    { 0x00ad, 0x00ad },   { 0x0600, 0x0605 },
    { 0x061c, 0x061c },   { 0x06dd, 0x06dd },    { 0x070f, 0x070f },   { 0x0890, 0x0891 },
    { 0x08e2, 0x08e2 },   { 0x1680, 0x1680 },    { 0x180e, 0x180e },   { 0x2000, 0x200f },
    { 0x2028, 0x202f },   { 0x205f, 0x206f },    { 0x3000, 0x3000 },   { 0xd7fc, 0xf8ff },
    { 0xfdd0, 0xfdef },   { 0xfeff, 0xfeff },    { 0xfff9, 0xfffb },   { 0xfffe, 0xffff },
    { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },  { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
    { 0x1d173, 0x1d17a }, { 0x1fffe, 0x1ffff },  { 0x2fffe, 0x2ffff }, { 0x3fffe, 0x3ffff },
    { 0xe0001, 0xe007f }, { 0xefffe, 0x10ffff },
};

static bool is_printable(uint32_t cp)
{
    for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++)
        if (cp <= unprintable[i].last)
            return cp < unprintable[i].first;
    return true;
}

static void add_escape(struct mase_str *out, uint32_t cp)
{
    static const char letters[] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r' };
    if (cp < sizeof letters && letters[cp])
        mase_str_printf(out, "\\%c", letters[cp]);
    else if (cp <= 0xff)
        mase_str_printf(out, "\\x%02x", (unsigned)cp);
    else if (cp <= 0xffff)
        mase_str_printf(out, "\\u%04x", (unsigned)cp);
    else
        mase_str_printf(out, "\\U%08x", (unsigned)cp);
}

void mase_repr_string(struct mase_str *out, const char *s, size_t n)
{
    char quote = memchr(s, '\'', n) && !memchr(s, '"', n) ? '"' : '\'';
    mase_str_addc(out, quote);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int len = mase_utf8_decode(&cp, s + i, n - i);
        if (len == 0) { /* a stray byte, as Python reads it from the system: surrogateescape */
            add_escape(out, 0xdc00 + (unsigned char)s[i]);
            len = 1;
        } else if (cp == (uint32_t)quote || cp == '\\') {
            mase_str_printf(out, "\\%c", (char)cp);
        } else if (is_printable(cp)) {
            mase_str_addn(out, s + i, (size_t)len);
        } else {
            add_escape(out, cp);
        }
        i += (size_t)len;
    }
    mase_str_addc(out, quote);
}

/* ---- trees ---- */

static void text_print(struct mase_str *out, const char *s, size_t n, bool quoted, bool inside)
{
    (void)inside;
    if (quoted)
        mase_repr_string(out, s, n);
    else
        mase_str_addn(out, s, n);
}

static void key_print(struct mase_str *out, const struct mase_value *v, int i, bool quoted)
{
    text_print(out, v->keys[i], strlen(v->keys[i]), quoted, true);
}

#define TREE    struct mase_value
#define KIND(v) ((v)->kind)
#define TREE_SHAPES                                                                               \
    [MASE_NONE] = PY_NONE, [MASE_BOOL] = PY_BOOL, [MASE_INT] = PY_INT, [MASE_FLOAT] = PY_FLOAT,   \
    [MASE_STRING] = PY_TEXT, [MASE_DATE] = PY_BARE, [MASE_ATOM] = PY_BARE, [MASE_LIST] = PY_LIST, \
    [MASE_TUPLE] = PY_TUPLE, [MASE_TABLE] = PY_DICT
#define ITEM(v, i)               ((v)->items[i])
#define TEXT(v)                  ((v)->s)
#define LENGTH(v)                ((v)->len)
#define FLOAT_EQUAL(x, y)        ((x) == (y) || (isnan(x) && isnan(y)))
#define TEXT_PRINT               text_print
#define KEY_PRINT                key_print
#define STYLE                    bool /* strings are quoted */
#define ITEM_STYLE(v, how)       (how)
#define FLOAT_PRINT(out, f, how) mase_repr_float(out, f)
#define KEY_EQUAL(a, b, i)       mase_streq((a)->keys[i], (b)->keys[i])
#define OWN_PRINT(out, v, how)   ((void)0)
#define OWN_EQUAL(a, b)          false
#include "value/tree.inc.c"

bool mase_value_equal(const struct mase_value *a, const struct mase_value *b)
{
    return tree_equal(a, b);
}

void mase_repr(struct mase_str *out, const struct mase_value *v)
{
    tree_print(out, v, true, false);
}

void mase_value_str(struct mase_str *out, const struct mase_value *v)
{
    tree_print(out, v, false, false);
}
