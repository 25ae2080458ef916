/*
 * toml_date.c - dates and times of RFC 3339, checked and kept as text.
 *
 *     1979-05-27T07:32:00.5-07:00    offset date-time (T, t or one blank; Z, z or an offset)
 *     1979-05-27T07:32:00            local date-time
 *     1979-05-27                     local date
 *     07:32:00                       local time
 */
#include "value/toml.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool digits_then(const char *s, size_t n, size_t digits, char then)
{
    if (n <= digits || s[digits] != then)
        return false;
    for (size_t i = 0; i < digits; i++)
        if (!is_digit(s[i]))
            return false;
    return true;
}

bool mase_toml_is_date(const char *s, size_t n)
{
    return digits_then(s, n, 4, '-') || digits_then(s, n, 2, ':');
}

/* The text left to read. */
struct scan {
    const char *s, *end;
};

/* A fixed number of digits that make a number in lo..hi. */
static bool take_field(struct scan *in, int digits, int lo, int hi, int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++) {
        if (in->s == in->end || !is_digit(*in->s))
            return false;
        *value = *value * 10 + (*in->s++ - '0');
    }
    return *value >= lo && *value <= hi;
}

static bool take_char(struct scan *in, const char *allowed)
{
    for (; *allowed; allowed++)
        if (in->s != in->end && *in->s == *allowed) {
            in->s++;
            return true;
        }
    return false;
}

static int days_in(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(struct scan *in)
{
    int year, month, day;
    return take_field(in, 4, 0, 9999, &year) && take_char(in, "-") &&
           take_field(in, 2, 1, 12, &month) && take_char(in, "-") &&
           take_field(in, 2, 1, days_in(year, month), &day);
}

static bool take_time(struct scan *in)
{
    int hour, minute, second;
    if (!take_field(in, 2, 0, 23, &hour) || !take_char(in, ":") ||
        !take_field(in, 2, 0, 59, &minute) || !take_char(in, ":") ||
        !take_field(in, 2, 0, 60, &second)) /* 60: a leap second */
        return false;
    if (!take_char(in, "."))
        return true;
    if (!take_char(in, "0123456789"))
        return false;
    while (take_char(in, "0123456789"))
        ;
    return true;
}

static bool take_offset(struct scan *in)
{
    int hour, minute;
    if (take_char(in, "Zz"))
        return true;
    return take_char(in, "+-") && take_field(in, 2, 0, 23, &hour) && take_char(in, ":") &&
           take_field(in, 2, 0, 59, &minute);
}

static bool take_any(struct scan *in)
{
    if (digits_then(in->s, (size_t)(in->end - in->s), 2, ':'))
        return take_time(in);
    if (!take_date(in))
        return false;
    if (in->s == in->end)
        return true;
    return take_char(in, "Tt ") && take_time(in) && (in->s == in->end || take_offset(in));
}

enum mase_status mase_toml_check_date(struct toml *t, const char *s, size_t n, struct mase_loc at)
{
    struct scan in = { s, s + n };
    if (take_any(&in) && in.s == in.end)
        return MASE_OK;
    return mase_fail_at(t->err, MASE_EPARSE, at, "'%.*s' is not a date or time",
                        n < 60 ? (int)n : 60, s);
}
