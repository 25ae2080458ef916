/*
 * learned_step.c - formats of which training learns something: what they round to now.
 *
 * The values that are learned are parameters of the graph. With them such a format is an int with a
 * scale, a width and a zero point for each block, and whoever does not train asks for that.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

int mase_format_learned(const struct mase_format *f)
{
    int n = 0;
    while (f && f->row->learned && f->row->learned->names[n])
        n++;
    return n;
}

struct mase_uniform mase_learned_uniform(const struct mase_format *f, const float *const *value,
                                         int64_t block, enum mase_sign sign)
{
    float v[MASE_LEARNED_MAX];
    bool known = true;
    for (int j = 0; j < mase_format_learned(f); j++) {
        v[j] = value[j][block];
        known &= !isnan(v[j]);
    }
    if (!known)
        return (struct mase_uniform){ .scale = NAN };
    return f->row->learned->uniform(v, f->params, sign);
}

/* ---- as an int ---- */

/* Ranges of codes: unsigned, signed, symmetric (narrow), or with a zero point. */
enum style { NOTHING, UNSIGNED, SIGNED, NARROW, AFFINE };

static enum style style_of(const struct mase_uniform *u)
{
    return u->lo == u->hi        ? NOTHING
           : u->lo == 0          ? UNSIGNED
           : u->lo == -u->hi - 1 ? SIGNED
           : u->lo == -u->hi     ? NARROW
                                 : AFFINE;
}

/* One that says all. */
static enum style common_style(const struct mase_format *f, const float *const *value,
                               int64_t blocks, enum mase_sign sign)
{
    enum style all = NOTHING;
    for (int64_t i = 0; i < blocks; i++) {
        const struct mase_uniform u = mase_learned_uniform(f, value, i, sign);
        const enum style s = style_of(&u);
        all = all == NOTHING || s == all ? s : s == NOTHING ? all : AFFINE;
    }
    return all;
}

static int width_of(const struct mase_uniform *u)
{
    return u->lo == u->hi ? 0 : (int)ceilf(log2f(u->hi - u->lo + 1));
}

/* A parameter of f under its name, or none. */
static struct mase_value *parameter(struct mase_arena *a, const struct mase_format *f,
                                    const char *name)
{
    for (int i = 0; i < f->config->count; i++)
        if (mase_streq(f->row->params[i].key, name))
            return mase_value_copy(a, f->config->items[i]);
    return mase_value_none(a);
}

/* One block has a number, several have a list; zero bits need a list. */
static struct mase_value *numbers(struct mase_value *list)
{
    const bool one = list->count == 1 && mase_value_number(list->items[0]) != 0;
    return one ? list->items[0] : list;
}

static struct mase_value *parameters(struct mase_arena *a, const struct mase_format *f,
                                     const float *const *value, int64_t blocks, enum mase_sign sign)
{
    const enum style style = common_style(f, value, blocks, sign);
    struct mase_value *width = mase_value_list(a), *scale = mase_value_list(a);
    struct mase_value *zero = mase_value_list(a), *all = mase_value_list(a);
    for (int64_t i = 0; i < blocks; i++) {
        const struct mase_uniform u = mase_learned_uniform(f, value, i, sign);
        mase_value_push(a, width, mase_value_int(a, width_of(&u)));
        mase_value_push(a, scale, mase_value_float(a, (double)u.scale));
        mase_value_push(a, zero, mase_value_int(a, -(int64_t)u.lo));
    }
    mase_value_push(a, all, numbers(width));
    mase_value_push(a, all, numbers(scale));
    mase_value_push(a, all, style == AFFINE ? zero : mase_value_none(a));
    mase_value_push(a, all, parameter(a, f, "axis"));
    mase_value_push(a, all, parameter(a, f, "block_size"));
    mase_value_push(a, all, mase_value_bool(a, true));
    mase_value_push(a, all, mase_value_bool(a, style == NARROW));
    mase_value_push(a, all, mase_value_bool(a, false));
    mase_value_push(a, all, mase_value_bool(a, style == SIGNED || style == NARROW));
    return all;
}

const struct mase_format *mase_learned_now(const struct mase_format *f, const float *const *value,
                                           int64_t blocks, enum mase_sign sign)
{
    struct mase_arena a = { 0 };
    const struct mase_format *now = NULL;
    struct mase_err err = { 0 };
    if (mase_format_from_list(&now, MASE_QUANT_int, parameters(&a, f, value, blocks, sign), &err))
        mase_bug("%s as an int: %s", f->row->name, err.msg);
    mase_arena_release(&a);
    return now;
}

/* ---- before anything is learned ---- */

struct mase_block_size mase_block_sizes(const float *x, const struct mase_block *b, int64_t lanes,
                                        enum mase_role role)
{
    struct mase_block_size s = { .role = role, .count = b->rows * lanes };
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t l = 0; l < lanes; l++) {
            const float v = x[b->row[r] + l];
            s.mean += fabs((double)v);
            s.min = v < s.min ? v : s.min;
            s.max = v > s.max ? v : s.max;
        }
    s.mean /= s.count > 0 ? (double)s.count : 1.0;
    return s;
}

struct mase_block_size mase_block_sizes_of_both(const struct mase_block_size *a,
                                                const struct mase_block_size *b)
{
    struct mase_block_size s = *a;
    s.count = a->count + b->count;
    if (s.count > 0)
        s.mean = (a->mean * (double)a->count + b->mean * (double)b->count) / (double)s.count;
    s.min = fminf(a->min, b->min);
    s.max = fmaxf(a->max, b->max);
    return s;
}

/* Each block by the values that it would start with. */
void mase_learned_quantize(float *q, const float *x, const struct mase_block *b,
                           const struct mase_learning *learned, const void *params,
                           enum mase_sign sign)
{
    for (int64_t l = 0; l < b->lanes; l++) {
        float value[MASE_LEARNED_MAX];
        const struct mase_block_size s = mase_block_sizes(x + l, b, 1, MASE_ROLE_WEIGHT);
        learned->start(value, &s, params, sign);
        const struct mase_uniform u = learned->uniform(value, params, sign);
        for (int64_t r = 0; r < b->rows; r++)
            q[b->row[r] + l] = mase_uniform_round(x[b->row[r] + l], &u);
    }
}

bool mase_learned_encode(int64_t *code, int64_t *shared, const float *q, int64_t n,
                         const void *params, enum mase_sign sign)
{
    (void)q;
    (void)params;
    (void)sign;
    *shared = 0;
    for (int64_t i = 0; i < n; i++)
        code[i] = MASE_NO_CODE;
    return n == 0;
}

float mase_learned_decode(int64_t code, int64_t shared, const void *params)
{
    (void)shared;
    (void)params;
    return (float)code;
}

void mase_unbounded_limits(float *low, float *high, const void *params, enum mase_sign sign)
{
    (void)params;
    *high = FLT_MAX;
    *low = sign == MASE_SIGNED ? -FLT_MAX : 0.0f;
}
