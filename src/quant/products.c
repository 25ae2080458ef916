/*
 * products.c - a bias as integer hardware has it: a whole number of the steps that the products
 * have to which it is added.
 *
 *     q = round(x / step) step
 *
 * step         one for each output. None is told: an output's is the step of its weights times
 *              that of its data, as both are now; of several the least. Who rounds asks
 *              mase_products_now for the numbers; without them x stays as it is.
 * rounding     to nearest, ties to even.
 * saturation   none: 32 bits hold a bias, or its layer does without them.
 * NaN          stays NaN; zero stays zero, without a sign.
 * gradient     straight through; steps learn by data and weights alone. A step counts as 2^-90 at
 *              least and as 2^90 at most.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quant/quant.h"

struct products {
    const struct mase_value *step; /* a number or a list; NULL: none */
};

static const struct mase_opt params[] = {
    { .key = "step",
      .type = MASE_OPT_TYPE_NUMBERS,
      .offset = offsetof(struct products, step),
      .may_be_none = true,
      .min = 1e-30,
      .max = 1e30,
      .help = "what one code is, or a list for each output; none: the product of the steps of data "
              "and weight" },
    { 0 },
};

static bool is_list(const struct mase_value *v)
{
    return v && (v->kind == MASE_LIST || v->kind == MASE_TUPLE);
}

/* ---- blocks: the numbers of an output ---- */

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    (void)opaque;
    mase_geometry_axis(length, s, role, role == MASE_ROLE_DATA && s->rank > 1 ? 1 : 0);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const struct products *p = opaque;
    (void)role;
    if (is_list(p->step) && (s->rank != 1 || s->dim[0] != p->step->count))
        return mase_fail(err, MASE_EVALUE, "%d steps are listed, one for each output",
                         p->step->count);
    return MASE_OK;
}

/* ---- rounding ---- */

static bool uniform(struct mase_uniform *u, const void *opaque, int64_t index, enum mase_sign sign)
{
    const struct products *p = opaque;
    const struct mase_value *v =
        is_list(p->step) ? p->step->items[index < p->step->count ? index : 0] : p->step;
    *u = mase_products_uniform(v ? (float)mase_value_number(v) : 1.0f, sign);
    return v != NULL;
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    struct mase_uniform u;
    if (uniform(&u, opaque, b->index, sign))
        mase_uniform_quantize(q, x, b, &u);
    for (int64_t r = 0; r < b->rows && !((const struct products *)opaque)->step; r++)
        memmove(q + b->row[r], x + b->row[r], (size_t)b->lanes * sizeof *q);
}

/* ---- codes: the bits of the step stand beside them ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const uint32_t bits = (uint32_t)shared;
    struct mase_uniform u;
    uniform(&u, opaque, 0, MASE_SIGNED);
    if (bits)
        memcpy(&u.scale, &bits, sizeof bits);
    return (float)code * u.scale;
}

static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    uint32_t bits;
    struct mase_uniform u;
    const bool known = uniform(&u, opaque, *shared, sign);
    bool all = true;
    memcpy(&bits, &u.scale, sizeof bits);
    *shared = bits;
    for (int64_t i = 0; i < n; i++) {
        const float c = rintf(q[i] / u.scale);
        const bool ok = known && fabsf(c) < 0x1p31f && c * u.scale == q[i];
        code[i] = ok ? (int64_t)c : MASE_NO_CODE;
        all &= ok;
    }
    return all;
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    (void)opaque;
    *high = INT32_MAX;
    *low = sign == MASE_SIGNED ? INT32_MIN : 0;
}

const struct mase_quant_info mase_quant_products = {
    .name = "products",
    .suffix = "Products",
    .func = "products",
    .help = "a bias in whole steps of the products to which it is added, as integer hardware has "
            "it",
    .standard = "ONNX QLinearConv",
    .params = params,
    .size = sizeof(struct products),
    .geometry = geometry,
    .fits = fits,
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .limits = mase_unbounded_limits,
    .range = range,
    .bits = mase_thirty_two_bits,
    .uniform = uniform,
};

/* ---- steps ---- */

bool mase_format_is_open(const struct mase_format *f)
{
    return f && f->kind == MASE_QUANT_products && !((const struct products *)f->params)->step;
}

bool mase_format_is_scaled(const struct mase_format *f)
{
    struct mase_uniform u;
    if (!f || f->kind == MASE_QUANT_products)
        return false;
    return f->row->learned ? f->row->learned->sized : mase_format_uniform(&u, f, 0, MASE_SIGNED);
}

struct mase_uniform mase_products_uniform(float step, enum mase_sign sign)
{
    return (struct mase_uniform){ mase_clamp(step, 0x1p-90f, 0x1p90f),
                                  sign == MASE_SIGNED ? -INFINITY : 0.0f, INFINITY };
}

/* Start and end of block b along a dimension. */
static void place(int64_t *from, int64_t *to, const struct mase_blocks *blocks, int64_t b, int axis)
{
    int64_t count = 1;
    for (int d = blocks->shape.rank - 1; d >= axis; d--) {
        b /= count;
        count = (blocks->shape.dim[d] + blocks->length[d] - 1) / blocks->length[d];
    }
    *from = b % count * blocks->length[axis];
    *to = *from + blocks->length[axis];
    *to = *to < blocks->shape.dim[axis] ? *to : blocks->shape.dim[axis];
}

/* The parts of a dimension that each block lies in. Single values that share one step are one
 * block. */
static void spread(struct mase_factor_spread *s, struct mase_arena *a, const struct mase_factor *f,
                   enum mase_role role, int axis, int64_t parts)
{
    const bool cut = mase_format_has_blocks(f->format);
    const struct mase_blocks blocks = mase_format_blocks(f->format, &f->shape, role);
    const int64_t len = f->shape.dim[axis];
    int cap = 0;
    *s = (struct mase_factor_spread){ .blocks = cut ? blocks.count : 1, .parts = parts };
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t from = 0, to = len;
        if (cut)
            place(&from, &to, &blocks, b, axis);
        const int64_t end = cut ? (to - 1) * parts / len + 1 : parts;
        for (int64_t part = cut ? from * parts / len : 0; part < end; part++) {
            s->pair = mase_arena_grow(a, s->pair, s->count, &cap, sizeof *s->pair);
            s->pair[s->count++] = (struct mase_factor_part){ (int32_t)b, (int32_t)part };
        }
    }
}

/* The dimension of data in which channels lie, and how many groups of them there are: the weight of
 * a linear layer has two dimensions, that of a convolution (outputs, channels of a group, ...). */
static int64_t find_groups(int *axis, const struct mase_products *p)
{
    const struct mase_shape *w = &p->weight.shape, *x = &p->data.shape;
    const int64_t of_group = w->rank > 1 ? w->dim[1] : 1;
    *axis = 0;
    if (w->rank > 2 && x->rank >= w->rank - 1)
        *axis = x->rank - (w->rank - 1);
    const int64_t channels = p->turned ? p->outputs : w->rank > 2 ? x->dim[*axis] : of_group;
    return of_group > 0 && channels > of_group ? channels / of_group : 1;
}

void mase_products_init(struct mase_products *p, struct mase_arena *a)
{
    int axis;
    p->groups = find_groups(&axis, p);
    spread(&p->of_data, a, &p->data, MASE_ROLE_DATA, axis, p->groups);
    spread(&p->of_weight, a, &p->weight, MASE_ROLE_WEIGHT, p->turned,
           p->outputs / (p->turned ? p->groups : 1));
}

/* The least step of the blocks that have values in each part. */
static void least(float *step, const struct mase_factor_spread *s, const float *of_block)
{
    for (int64_t i = 0; i < s->parts; i++)
        step[i] = INFINITY;
    for (int i = 0; i < s->count; i++) {
        float *to = &step[s->pair[i].part];
        const float v = of_block[s->pair[i].block];
        *to = v >= *to ? *to : v; /* NaN stays */
    }
}

void mase_products_steps(float *step, const struct mase_products *p, float *room, const float *data,
                         const float *weight)
{
    float *of_data = room, *of_weight = room + p->groups;
    least(of_data, &p->of_data, data);
    least(of_weight, &p->of_weight, weight);
    for (int64_t o = 0; o < p->outputs; o++)
        step[o] = of_data[o * p->groups / p->outputs] * of_weight[o % p->of_weight.parts];
}

static float *steps_of(struct mase_arena *a, const struct mase_factor *f, int64_t blocks)
{
    float *step = mase_new_array(a, float, (size_t)blocks);
    for (int64_t b = 0; b < blocks; b++) {
        struct mase_uniform u = { .scale = NAN };
        mase_format_uniform(&u, f->format, b, f->sign);
        step[b] = u.scale;
    }
    return step;
}

const struct mase_format *mase_products_now(struct mase_products *p)
{
    struct mase_arena a = { 0 };
    const struct mase_format *now = NULL;
    struct mase_err err = { 0 };
    struct mase_value *all = mase_value_list(&a), *list = mase_value_list(&a);
    mase_products_init(p, &a);
    float *step = mase_new_array(&a, float, (size_t)p->outputs);
    float *room = mase_new_array(&a, float, (size_t)(p->groups + p->of_weight.parts));
    mase_products_steps(step, p, room, steps_of(&a, &p->data, p->of_data.blocks),
                        steps_of(&a, &p->weight, p->of_weight.blocks));
    for (int64_t o = 0; o < p->outputs; o++) {
        const struct mase_uniform u = mase_products_uniform(step[o], MASE_SIGNED);
        mase_value_push(&a, list, mase_value_float(&a, (double)u.scale));
    }
    mase_value_push(&a, all, list);
    if (mase_format_from_list(&now, MASE_QUANT_products, all, &err))
        mase_bug("steps of products: %s", err.msg);
    mase_arena_release(&a);
    return now;
}
