/*
 * choose.c - choose parameters of a format for given values.
 *
 * The format's limits say where to look: with an exponent one apart every value is twice as large
 * or half, with a scale every value is a multiple of it, so one set of limits places all others.
 * The largest that is looked at holds every value; from there the range shrinks. What is left to
 * choose is judged by a score of the format's own rounding.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "pass/calibrate/calibrate_parts.h"

/* Ranges are shrunk to 1/64 at most; floating point may need a much larger range, to have its
 * precision where the values are. Scales: 16 steps for a power of two first, then between the
 * neighbours of the best. */
enum { OCTAVES = 6, WIDER = 16, STEPS = 16, REFINED = 14 };

struct search {
    enum mase_quant_kind kind;
    struct mase_value *config; /* prefix_PARAMETER, with the candidate tried last */
    const char *prefix;
    struct mase_value *exponent, *scale, *zero; /* entries of config; NULL: given */
    const struct mase_opt *exponent_row;
    bool power_of_two;
    struct mase_cal_scorer scorer;
    mase_cal_score_fn *score; /* NULL: the finest format that holds the range */
    double low, high;         /* the range to hold */
    double best, best_mse;    /* least score, and least error among equal scores */
    int64_t best_exponent, best_zero;
    double best_scale;
};

/* ---- methods ---- */

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The range that holds all but a share of the values, interpolated linearly. */
static void quantiles(double *low, double *high, const struct mase_cal_values *v, double share,
                      struct mase_arena *a)
{
    int64_t n = 0, at = 0;
    for (int i = 0; i < v->count; i++)
        n += mase_shape_count(&v->tensor[i].shape);
    float *x = mase_new_array(a, float, (size_t)n);
    for (int i = 0; i < v->count; i++)
        for (int64_t k = 0; k < mase_shape_count(&v->tensor[i].shape); k++)
            x[at++] = v->tensor[i].x[k];
    qsort(x, (size_t)n, sizeof *x, by_size);
    const double place = share * (double)(n - 1);
    const int64_t k = (int64_t)place, next = k + 1 < n ? k + 1 : k;
    const double part = place - (double)k;
    *high = (1 - part) * (double)x[k] + part * (double)x[next];
    *low = (1 - part) * (double)x[n - 1 - k] + part * (double)x[n - 1 - next];
}

static const struct method {
    const char *name;
    mase_cal_score_fn *score;
    bool quantile, histogram;
} methods[] = { { .name = "minmax" },
                { .name = "quantile", .quantile = true },
                { .name = "mse", .score = mase_cal_mse },
                { .name = "kl", .score = mase_cal_kl, .histogram = true } };
enum { METHODS = sizeof methods / sizeof *methods };

const char *const mase_calibrate_methods[] = { "minmax", "quantile", "mse", "kl", NULL };

static const struct method *method_of(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (mase_streq(methods[i].name, name))
            return &methods[i];
    mase_bug("no method is called %s", name);
}

/* ---- candidates ---- */

static void set_scale(struct search *s, double scale)
{
    s->scale->kind = MASE_FLOAT;
    s->scale->f =
        s->power_of_two ? exp2(ceil(log2(scale))) : mase_number_as_written((float)scale, 9);
}

static void set_int(struct mase_value *v, int64_t i)
{
    v->kind = MASE_INT;
    v->i = i;
}

static enum mase_sign sign_of(const struct search *s)
{
    return s->scorer.v->tensor[0].sign;
}

/* The limits of the format with the present parameters. */
static enum mase_status limits(const struct search *s, double *low, double *high,
                               struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_format f;
    float l = 0, h = 0;
    const enum mase_status st = mase_format_try(&f, &a, s->kind, s->config, s->prefix, err);
    if (!st)
        mase_format_limits(&l, &h, &f, sign_of(s));
    mase_arena_release(&a);
    *low = (double)l;
    *high = (double)h;
    return st;
}

/* Among formats that hold the range the narrowest is best, among others the widest. An unsigned
 * format holds nothing below zero, so only the upper end counts. */
static double coverage(const struct search *s, const struct mase_format *f)
{
    float low, high;
    mase_format_limits(&low, &high, f, sign_of(s));
    const double width = (double)high - (double)low;
    const bool holds_low = (double)low <= s->low || low >= 0;
    return holds_low && (double)high >= s->high ? width : FLT_MAX + FLT_MAX / width;
}

/* Is it better than the best so far? With few values a histogram has one in every bin, and a format
 * that rounds all of them to zero has no divergence; then the error decides. */
static bool is_better(const struct search *s, double score, double mse)
{
    const double tie = 1e-12;
    if (s->score != mase_cal_kl)
        return score < s->best;
    return score < s->best - tie || (score < s->best + tie && mse < s->best_mse);
}

static enum mase_status try(struct search *s, double *score, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_format f;
    const enum mase_status st = mase_format_try(&f, &a, s->kind, s->config, s->prefix, err);
    *score = st ? INFINITY : s->score ? s->score(&s->scorer, &f) : coverage(s, &f);
    const double mse = !st && s->score == mase_cal_kl ? mase_cal_mse(&s->scorer, &f) : 0;
    mase_arena_release(&a);
    if (st || !is_better(s, *score, mse))
        return st;
    s->best = *score;
    s->best_mse = mse;
    s->best_exponent = s->exponent ? s->exponent->i : 0;
    s->best_scale = s->scale ? s->scale->f : 0;
    s->best_zero = s->zero ? s->zero->i : 0;
    return MASE_OK;
}

/* log2(wants / has); -infinity if they lie on different sides of zero. */
static double octaves(double wants, double has)
{
    return wants * has > 0 ? log2(wants / has) : -INFINITY;
}

static enum mase_status refuse(const struct search *s, const char *what, struct mase_err *err)
{
    return mase_fail(err, MASE_EUNSUPPORTED, "%s of %s cannot be calibrated: its range %s", what,
                     mase_quants[s->kind]->name, "does not follow from it");
}

/* Limits at two adjacent exponents, small enough to differ: 0 and 1, or further away. */
struct places {
    int64_t at;
    double low, high; /* limits at that exponent */
    double step;      /* octaves to the next exponent */
};

static enum mase_status find_places(struct search *s, struct places *p, struct mase_err *err)
{
    const double large = 0x1p100;
    const struct mase_opt *row = s->exponent_row;
    for (int64_t at = 0; at <= 1 << 16; at = at > 0 ? -at : at < 0 ? -2 * at : 1) {
        double low, high;
        if ((double)at < row->min || (double)at + 1 > row->max)
            continue;
        set_int(s->exponent, at);
        MASE_TRY(limits(s, &p->low, &p->high, err));
        set_int(s->exponent, at + 1);
        MASE_TRY(limits(s, &low, &high, err));
        p->at = at;
        p->step = log2(high / p->high);
        if (fabs(p->step) == 1 && p->high < large && p->high > 1 / large)
            return MASE_OK;
    }
    return refuse(s, row->key, err);
}

/* Values that are all zero say nothing: use a range up to 1, which suits later values better than a
 * tiny or huge one. */
static void look_up_to_one(struct search *s)
{
    if (s->scorer.v->min != 0 || s->scorer.v->max != 0)
        return;
    s->low = sign_of(s) == MASE_SIGNED ? -1 : 0;
    s->high = 1;
    s->score = NULL;
}

/* Start at the exponent that just holds the range; then try finer ones. */
static enum mase_status seek_exponent(struct search *s, struct mase_err *err)
{
    const struct mase_opt *row = s->exponent_row;
    struct places p;
    double score;
    MASE_TRY(find_places(s, &p, err));
    double need = fmax(octaves(s->high, p.high), octaves(s->low, p.low));
    need = isfinite(need) ? ceil(need) : 0;
    for (int k = -WIDER; k <= OCTAVES; k++) {
        double at = (double)p.at + p.step * (need - k);
        at = at < row->min ? row->min : at > row->max ? row->max : at;
        set_int(s->exponent, (int64_t)at);
        MASE_TRY(try(s, &score, err));
    }
    set_int(s->exponent, s->best_exponent);
    return MASE_OK;
}

/* ---- scales ---- */

/* The range of the codes: limits with scale 1 and zero point 0. */
struct codes {
    double low, high;
};

/* Try the range [low, high] by a scale, and a zero point if it is sought; zero is always a value.
 */
static enum mase_status try_range(struct search *s, const struct codes *c, double low, double high,
                                  double *score, struct mase_err *err)
{
    double scale;
    low = fmin(low, 0);
    high = fmax(high, 0);
    if (s->zero) {
        scale = (high - low) / (c->high - c->low);
        const double zero = scale > 0 ? rint(c->low - low / scale) : 0;
        set_int(s->zero, (int64_t)fmin(fmax(zero, c->low), c->high));
    } else {
        scale = fmax(c->high > 0 ? high / c->high : 0, c->low < 0 ? low / c->low : 0);
    }
    set_scale(s, scale >= FLT_MIN ? scale : 1);
    return try(s, score, err);
}

/* Shrink one end of the range, or both, by the best factor, coarse and then fine. */
struct cutting {
    double low, high; /* the range to shrink */
    bool cuts_low, cuts_high;
};

static enum mase_status try_factor(struct search *s, const struct codes *c,
                                   const struct cutting *cut, double octave, double *score,
                                   struct mase_err *err)
{
    const double f = exp2(-octave);
    return try_range(s, c, cut->cuts_low ? cut->low * f : cut->low,
                     cut->cuts_high ? cut->high * f : cut->high, score, err);
}

static enum mase_status seek_factor(struct search *s, const struct codes *c,
                                    const struct cutting *cut, double *octave, struct mase_err *err)
{
    double score, least = INFINITY, at = 0;
    for (int k = 0; k <= OCTAVES * STEPS; k++) {
        MASE_TRY(try_factor(s, c, cut, (double)k / STEPS, &score, err));
        if (score < least) {
            least = score;
            at = (double)k / STEPS;
        }
    }
    double width = 1.0 / STEPS;
    for (int k = 0; k < REFINED; k++) {
        const double side = k % 2 ? at + width / 2 : at - width / 2;
        MASE_TRY(try_factor(s, c, cut, side > 0 ? side : 0, &score, err));
        if (score < least) {
            least = score;
            at = side > 0 ? side : 0;
        }
        width /= k % 2 ? 2 : 1;
    }
    *octave = at;
    return MASE_OK;
}

/* Shrink both ends by one factor, then, with a zero point, each by its own. */
static enum mase_status seek_scale(struct search *s, struct mase_err *err)
{
    struct codes c;
    double score, octave;
    set_scale(s, 1);
    if (s->zero)
        set_int(s->zero, 0);
    MASE_TRY(limits(s, &c.low, &c.high, err));
    if (c.high >= FLT_MAX || !(c.high > c.low))
        return refuse(s, "the scale", err);
    struct cutting cut = { s->low, s->high, true, true };
    MASE_TRY(try_range(s, &c, cut.low, cut.high, &score, err));
    if (s->score)
        MASE_TRY(seek_factor(s, &c, &cut, &octave, err));
    for (int end = 0; s->score && s->zero && end < 2; end++) {
        cut.low *= end == 0 ? exp2(-octave) : cut.cuts_low ? exp2(-octave) : 1;
        cut.high *= end == 0 ? exp2(-octave) : 1;
        cut.cuts_low = end == 0;
        cut.cuts_high = end == 1;
        MASE_TRY(seek_factor(s, &c, &cut, &octave, err));
    }
    set_scale(s, s->best_scale);
    if (s->zero)
        set_int(s->zero, s->best_zero);
    return MASE_OK;
}

/* Choose a zero point for a given scale. */
static enum mase_status seek_zero(struct search *s, struct mase_err *err)
{
    double low, high, score;
    set_int(s->zero, 0);
    MASE_TRY(limits(s, &low, &high, err));
    set_int(s->zero, 1);
    double low1, high1;
    MASE_TRY(limits(s, &low1, &high1, err));
    const double step = low - low1;
    if (!(step > 0) || high >= FLT_MAX)
        return refuse(s, "the zero point", err);
    const double least = rint(low / step), most = rint(high / step);
    for (double z = least; z <= most && most - least <= 65536; z++) {
        set_int(s->zero, (int64_t)z);
        MASE_TRY(try(s, &score, err));
    }
    set_int(s->zero, s->best_zero);
    return MASE_OK;
}

/* ---- choose ---- */

/* Index of prefix_KEY in the table; -1: absent. */
static int find_key(const struct search *s, const char *key)
{
    char full[64];
    mase_snprintf(full, sizeof full, "%s_%s", s->prefix, key);
    return mase_value_find(s->config, full);
}

/* A chosen scale is stored, so the format need not round it to a power of two. */
static void take_power_of_two(struct search *s, struct mase_arena *a)
{
    const int at = find_key(s, "power_of_two");
    if (at < 0 || !s->scale || s->config->items[at]->kind != MASE_BOOL)
        return;
    s->power_of_two = s->config->items[at]->b;
    s->config->items[at] = mase_value_bool(a, false);
}

static void find_sought(struct search *s, struct mase_arena *a)
{
    for (const struct mase_opt *row = mase_quants[s->kind]->params; row->type; row++) {
        const int at = find_key(s, row->key);
        if (at < 0 || !mase_value_is_auto(s->config->items[at]))
            continue;
        struct mase_value *v = mase_value_int(a, 0);
        v->at = s->config->items[at]->at;
        s->config->items[at] = v;
        switch (mase_param_tuning(row)) {
        case MASE_TUNED_EXPONENT:
            s->exponent = v;
            s->exponent_row = row;
            break;
        case MASE_TUNED_SCALE:
            s->scale = v;
            break;
        case MASE_TUNED_ZERO:
            s->zero = v;
            break;
        case MASE_NOT_TUNED:
            mase_bug("%s is not for calibration", row->key);
        }
    }
    take_power_of_two(s, a);
}

enum mase_status mase_cal_choose(struct mase_value *config, const char *prefix,
                                 struct mase_cal_fit *fit, enum mase_quant_kind kind,
                                 const struct mase_cal_values *v,
                                 const struct mase_calibrate_opts *o, struct mase_arena *a,
                                 struct mase_err *err)
{
    const struct method *m = method_of(o->method);
    struct search s = { .kind = kind,
                        .config = config,
                        .prefix = prefix,
                        .score = m->score,
                        .low = v->min,
                        .high = v->max,
                        .best = INFINITY,
                        .best_mse = INFINITY };
    struct mase_format f;
    if (!isfinite(v->min) || !isfinite(v->max))
        return mase_fail(err, MASE_EVALUE, "some of its values are NaN or infinite");
    mase_cal_scorer_init(&s.scorer, v, a, m->histogram);
    if (m->quantile)
        quantiles(&s.low, &s.high, v, o->quantile, a);
    find_sought(&s, a);
    if (s.exponent) {
        look_up_to_one(&s);
        MASE_TRY(seek_exponent(&s, err));
    }
    if (s.scale)
        MASE_TRY(seek_scale(&s, err));
    else if (s.zero)
        MASE_TRY(seek_zero(&s, err));
    MASE_TRY(mase_format_try(&f, a, kind, config, prefix, err));
    if (m->histogram && mase_format_has_blocks(&f))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "kl is for formats that round each value for itself, and %s does not: "
                         "use mse",
                         mase_quants[kind]->name);
    *fit = mase_cal_fit(&s.scorer, &f);
    return MASE_OK;
}
