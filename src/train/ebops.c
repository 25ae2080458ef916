/*
 * ebops.c - the cost of products in bits (ebops.h).
 *
 * A layer multiplies the values of an input feature or channel with the weights that belong to it,
 * all with all. So its cost is the sum over features of (bits of the feature's values) (bits of its
 * weights), and the derivative by a bit of a value is the sum of the bits of its weights: as much
 * work as there are values and weights.
 */
#include "train/ebops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"
#include "ir/shape/shape.h"
#include "program/cost_rules.h"
#include "program/program_parts.h"

/* An operand: what bits its values have, and to which feature they belong. */
struct side {
    struct mase_rounding how;
    const struct mase_weight *value[MASE_LEARNED_MAX]; /* NULL: all have the same bits */
    int64_t count, blocks;
    double *sum; // (features): of bits; NULL: values belong to none
    /* where bits are learned */
    int32_t *block;   // (count)
    int32_t *feature; // (count), or NULL
    double *bits;     // (blocks)
};

/* What a format learns of bits, and what it was. */
struct held {
    const struct mase_weight *value;
    float *was; // (value's count)
};

struct product {
    const struct mase_node *node;
    struct side x, w, bias; /* bias without format: none */
    int64_t features;
    double share;   /* products of a value with each of its weights */
    double outputs; /* for each bias */
    double cost;    /* when it was last asked for */
};

struct mase_ebops {
    struct mase_arena arena;
    const struct mase_plan *plan;
    struct product *product;
    int count, cap;
    struct held *held; /* of all roundings, whether they are in products or not */
    int held_count, held_cap;
};

/* Whose parameters say how many bits there are. */
enum whose { OF_PLAN, OF_GRAPH };

/* ---- finding products ---- */

bool mase_learns_bits(const struct mase_format *f)
{
    return mase_format_learned(f) && f->row->learned->bits;
}

bool mase_rounding_has_sign(const struct mase_rounding *how)
{
    int64_t low, high;
    mase_format_range(&low, &high, how->format, how->sign);
    return low < 0;
}

/* Of one value, without its sign. One that is 1 or -1 counts as a bit, too. */
static double fixed_bits(const struct mase_rounding *how)
{
    if (!how->format)
        return 32;
    return fmax(mase_format_bits(how->format) - (mase_rounding_has_sign(how) ? 1 : 0), 1);
}

static void map_blocks(struct side *s, struct mase_arena *a, const struct mase_shape *shape)
{
    const struct mase_blocks b = mase_format_blocks(s->how.format, shape, s->how.role);
    int64_t *offset = mase_new_array(a, int64_t, (size_t)b.largest);
    s->blocks = b.count;
    s->block = mase_new_array(a, int32_t, (size_t)s->count);
    for (int64_t i = 0; i < b.count && s->blocks > 1; i++) {
        const int64_t n = mase_blocks_offsets(&b, i, offset);
        for (int64_t k = 0; k < n; k++)
            s->block[offset[k]] = (int32_t)i;
    }
    s->bits = mase_new_array(a, double, (size_t)s->blocks);
}

static void find_side(struct side *s, struct mase_ebops *e, const struct mase_pvalue *v)
{
    const struct mase_instr *i = v->made_by;
    const struct mase_shape own = mase_ptype_shape(&v->type, 1);
    *s = (struct side){ .how = v->rounded, .count = mase_shape_count(&own) };
    if (!i || i->prim != MASE_PRIM_round || !mase_learns_bits(s->how.format))
        return;
    const struct mase_shape shape = mase_shape_to_rank(&own, i->round_rank);
    for (int j = 0; j < mase_format_learned(s->how.format); j++)
        s->value[j] = mase_plan_weight(e->plan, mase_pvalue_of(&i->param[1 + j])->param);
    map_blocks(s, &e->arena, &shape);
}

static void belong(struct side *s, struct mase_arena *a, int64_t features,
                   struct mase_feature_layout at)
{
    const double bits = fixed_bits(&s->how);
    s->sum = mase_new_array(a, double, (size_t)features);
    s->feature = s->value[0] ? mase_new_array(a, int32_t, (size_t)s->count) : NULL;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t f = i / at.group * at.each + i / at.run % at.each;
        if (s->feature)
            s->feature[i] = (int32_t)f;
        else
            s->sum[f] += bits;
    }
}

static void add_product(struct mase_ebops *e, const struct mase_instr *i,
                        struct mase_tensor *const *tensor)
{
    const struct mase_pvalue *x = mase_pvalue_of(&i->param[0]), *w = mase_pvalue_of(&i->param[1]);
    struct mase_feature_products f;
    struct mase_pcall k;
    struct mase_err unwanted; /* a plan has inferred it */
    mase_pcall_init(&k, &e->arena, i, tensor, 1);
    if (mase_pcall_infer(&k, i, 1, &unwanted) || !mase_call_features(&f, &k.call) ||
        mase_ptype_follows(&w->type))
        return;
    e->product = mase_arena_grow(&e->arena, e->product, e->count, &e->cap, sizeof *e->product);
    struct product *p = &e->product[e->count++];
    *p = (struct product){ .node = i->node, .features = f.features, .share = f.share };
    find_side(&p->x, e, x);
    find_side(&p->w, e, w);
    belong(&p->x, &e->arena, f.features, f.x);
    belong(&p->w, &e->arena, f.features, f.w);
    const struct mase_pvalue *b = mase_pvalue_of(&i->param[2]); /* both have a bias, or None */
    if (b && b->rounded.format) {
        find_side(&p->bias, e, b);
        p->outputs = (double)mase_count_elements(&k.call.result) / (double)p->bias.count;
    }
}

/* The tensors of one sample, by the numbers of their values. */
static struct mase_tensor **tensors_of(struct mase_arena *a, const struct mase_program *p)
{
    struct mase_tensor **tensor = mase_new_array(a, struct mase_tensor *, (size_t)p->value_count);
    for (int i = 0; i < p->value_count; i++) {
        const struct mase_shape shape = mase_ptype_shape(&p->value[i]->type, 1);
        tensor[i] = mase_new(a, struct mase_tensor);
        *tensor[i] = mase_tensor(a, p->value[i]->type.dtype, &shape, false);
    }
    return tensor;
}

static void add_held(struct mase_ebops *e, const struct mase_instr *i)
{
    if (i->prim != MASE_PRIM_round || !mase_learns_bits(i->round.format))
        return;
    for (int j = 0; j < mase_format_learned(i->round.format); j++) {
        const struct mase_weight *v =
            mase_plan_weight(e->plan, mase_pvalue_of(&i->param[1 + j])->param);
        e->held = mase_arena_grow(&e->arena, e->held, e->held_count, &e->held_cap, sizeof *e->held);
        e->held[e->held_count++] =
            (struct held){ v, mase_new_array(&e->arena, float, (size_t)v->count) };
    }
}

struct mase_ebops *mase_ebops_new(const struct mase_plan *p)
{
    bool rounds = false;
    for (const struct mase_instr *i = p->program->first; i; i = i->next)
        rounds |= i->round.format != NULL;
    if (!rounds)
        return NULL;
    struct mase_ebops *e = mase_xcalloc(sizeof *e);
    e->plan = p;
    struct mase_tensor *const *tensor = tensors_of(&e->arena, p->program);
    for (const struct mase_instr *i = p->program->first; i; i = i->next) {
        add_held(e, i);
        if (i->prim == MASE_PRIM_dot || i->prim == MASE_PRIM_conv)
            add_product(e, i, tensor);
    }
    return e;
}

bool mase_ebops_learns(const struct mase_ebops *e)
{
    return e && e->held_count;
}

void mase_ebops_free(struct mase_ebops *e)
{
    if (!e)
        return;
    mase_arena_release(&e->arena);
    mase_xfree(e);
}

/* ---- bits ---- */

static void find_bits(struct side *s, enum whose whose)
{
    const struct mase_format *f = s->how.format;
    for (int64_t b = 0; b < s->blocks; b++) {
        float v[MASE_LEARNED_MAX];
        for (int j = 0; j < MASE_LEARNED_MAX && s->value[j]; j++)
            v[j] = whose == OF_PLAN ? s->value[j]->x[b] : mase_f32(&s->value[j]->param->tensor)[b];
        s->bits[b] = f->row->learned->bits(v, f->params, s->how.sign);
    }
}

/* What is fixed has been summed. */
static void sum_features(struct side *s, int64_t features, enum whose whose)
{
    if (!s->value[0])
        return;
    find_bits(s, whose);
    memset(s->sum, 0, (size_t)features * sizeof *s->sum);
    for (int64_t i = 0; i < s->count; i++)
        s->sum[s->feature[i]] += s->bits[s->block[i]];
}

static double sum_bits(struct side *s, enum whose whose)
{
    double sum = 0;
    if (!s->value[0])
        return (double)s->count * fixed_bits(&s->how);
    find_bits(s, whose);
    for (int64_t i = 0; i < s->count; i++)
        sum += s->bits[s->block[i]];
    return sum;
}

static void find_cost(struct product *p, enum whose whose)
{
    double cost = 0;
    sum_features(&p->x, p->features, whose);
    sum_features(&p->w, p->features, whose);
    for (int64_t i = 0; i < p->features; i++)
        cost += p->x.sum[i] * p->w.sum[i];
    p->cost = cost * p->share;
    if (p->bias.how.format)
        p->cost += p->outputs * sum_bits(&p->bias, whose);
}

double mase_ebops(struct mase_ebops *e)
{
    double cost = 0;
    for (int i = 0; i < e->count; i++) {
        find_cost(&e->product[i], OF_GRAPH);
        cost += e->product[i].cost;
    }
    return cost;
}

double mase_ebops_of(const struct mase_ebops *e, const struct mase_node *n)
{
    for (int i = 0; i < e->count; i++)
        if (e->product[i].node == n)
            return e->product[i].cost;
    return NAN;
}

/* ---- gradients ---- */

/* d(cost)/d(bits of value i) = factor[feature of i], or one for all. What has no bits has none to
 * lose. */
static void add_side(const struct side *s, const double *factor, double weight)
{
    for (int64_t i = 0; i < s->count && s->value[0]; i++) {
        const int64_t b = s->block[i];
        const double d = weight * (factor ? factor[s->feature[i]] : 1.0);
        for (int j = 0; j < MASE_LEARNED_MAX && s->value[j] && s->bits[b] > 0; j++)
            if (s->value[j]->dx)
                s->value[j]->dx[b] += (float)d;
    }
}

void mase_ebops_add_gradient(struct mase_ebops *e, double weight)
{
    for (int i = 0; i < e->count; i++) {
        struct product *p = &e->product[i];
        find_cost(p, OF_PLAN);
        add_side(&p->x, p->w.sum, weight * p->share);
        add_side(&p->w, p->x.sum, weight * p->share);
        if (p->bias.how.format)
            add_side(&p->bias, NULL, weight * p->outputs);
    }
}

/* ---- keeping bits ---- */

void mase_ebops_hold(struct mase_ebops *e)
{
    for (int i = 0; i < e->held_count; i++)
        memcpy(e->held[i].was, e->held[i].value->x,
               (size_t)e->held[i].value->count * sizeof(float));
}

void mase_ebops_put_back(struct mase_ebops *e)
{
    for (int i = 0; i < e->held_count; i++)
        memcpy(e->held[i].value->x, e->held[i].was,
               (size_t)e->held[i].value->count * sizeof(float));
}

/* ---- when ---- */

/* How far training through the formats has come, 0 .. 1. */
static double progress(const struct mase_train_opts *o, int64_t step, int64_t steps_per_epoch)
{
    const int64_t before = o->quantize_after * steps_per_epoch;
    const int64_t all = o->max_epochs * steps_per_epoch - before;
    return all > 0 ? (double)(step - before) / (double)all : 1;
}

/* The cost counts more and more: bits that are taken at once are not found again. */
double mase_ebops_weight(const struct mase_train_opts *o, int64_t step, int64_t steps_per_epoch)
{
    const double ramp = o->ebops_ramp, at = progress(o, step, steps_per_epoch);
    return o->ebops_weight * (at < ramp ? at / ramp : 1);
}

/* At the end weights adapt to bits that stay: otherwise a bit may go in the last step. */
bool mase_ebops_holds(const struct mase_train_opts *o, int64_t step, int64_t steps_per_epoch)
{
    return progress(o, step, steps_per_epoch) >= 1 - o->bits_hold;
}
