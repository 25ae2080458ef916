/*
 * neighbours.c - the values of a format next to a number.
 *
 * Codes are ordered as the values they decode to, so the neighbours of any number are found by
 * halving the range of codes: no format says them itself.
 */
#include <math.h>

#include "quant/quant.h"

struct search {
    const struct mase_format *format;
    int64_t shared;
    float x;
    bool beyond; /* look for values above x, else for those not below */
};

static bool is_high(const struct search *s, int64_t code)
{
    const float v = s->format->row->decode(code, s->shared, s->format->params);
    return s->beyond ? v > s->x : v >= s->x;
}

/* The lowest code that is high, or one more than the highest. */
static int64_t first_high(const struct search *s, int64_t low, int64_t high)
{
    int64_t end = high + 1;
    while (low < end) {
        const int64_t middle = low + (end - low) / 2;
        if (is_high(s, middle))
            end = middle;
        else
            low = middle + 1;
    }
    return end;
}

struct mase_neighbours mase_format_neighbours(const struct mase_format *f, float x, int64_t shared,
                                              enum mase_sign sign)
{
    struct mase_neighbours n = { -INFINITY, INFINITY };
    int64_t low, high;
    if (!f)
        return (struct mase_neighbours){ nextafterf(x, -INFINITY), nextafterf(x, INFINITY) };
    mase_format_range(&low, &high, f, sign);
    const int64_t at = first_high(&(struct search){ f, shared, x, false }, low, high);
    const int64_t above = first_high(&(struct search){ f, shared, x, true }, low, high);
    if (at > low)
        n.below = f->row->decode(at - 1, shared, f->params);
    if (above <= high)
        n.above = f->row->decode(above, shared, f->params);
    return n;
}

float mase_format_midpoint(const struct mase_format *f, float x, int64_t shared,
                           enum mase_sign sign)
{
    const float above = mase_format_neighbours(f, x, shared, sign).above;
    return isinf(above) ? NAN : (float)(((double)x + (double)above) / 2);
}
