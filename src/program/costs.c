/*
 * costs.c - what a network costs (costs.h).
 */
#include "program/costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ptrmap.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "program/cost_rules.h"

/* What the values of a weight say about its products. */
struct density {
    int64_t nonzero; /* values that are not zero */
    int64_t bits;    /* enclosed bits of all values; their width where they are no integers */
};

struct known_density {
    const struct mase_format *format;
    struct density d;
    struct known_density *next;
};

/* A factor of products: nothing, where shape is NULL. */
struct factor {
    const struct mase_tensor *tensor; /* with data: a parameter */
    char mark;
    struct known_density *known;
};

/* A tensor that a node reads. */
struct reading {
    const struct mase_tensor *tensor;
    char mark;
};

/* What is found of a node, whatever formats it has. */
struct found {
    const struct mase_node *node;
    int64_t macs, ops;
    double carries;
    struct factor x, *factor; // (factors)
    int factors;
    struct reading *in; // (in_count): what it is given, without a layer's own parameters
    int in_count, in_cap;
    const struct mase_arg *result;
    char *reads; // (node->user_count): of a parameter, by which marks its users read it
};

struct mase_costs {
    struct mase_arena arena;
    const struct mase_graph *graph;
    struct found *found;   // (node_count), by position
    struct mase_ptrmap of; /* from nodes to what is found */
};

static int64_t times(int64_t a, int64_t b)
{
    return mase_count_times(a, b);
}

/* ---- finding ---- */

/* The tensors of an argument, which may be a list of operands. */
static void add_readings(struct mase_costs *e, struct found *f, const struct mase_arg *a, char mark,
                         bool list)
{
    if (a->kind == MASE_ARG_TENSOR) {
        f->in = mase_arena_grow(&e->arena, f->in, f->in_count, &f->in_cap, sizeof *f->in);
        f->in[f->in_count++] = (struct reading){ a->tensor, mark };
    }
    for (int i = 0; list && mase_arg_is_seq(a) && i < a->count; i++)
        add_readings(e, f, &a->items[i], mark, list);
}

static void find_call(struct mase_costs *e, struct found *f, const struct mase_call *call)
{
    struct mase_operations c;
    mase_call_operations(&c, call);
    f->macs = c.macs;
    f->ops = c.ops;
    f->carries = c.carries;
    f->x = (struct factor){ .tensor = c.x.tensor, .mark = c.x.mark };
    f->factor = mase_new_array(&e->arena, struct factor, (size_t)c.factors);
    f->factors = c.factors;
    for (int i = 0; i < c.factors; i++)
        f->factor[i] = (struct factor){ .tensor = c.factor[i].tensor, .mark = c.factor[i].mark };
    for (int i = 0; i < call->sig->count; i++) {
        const struct mase_sig_param *p = &call->sig->param[i];
        if (!call->module || !mase_module_param(call->module, p->name))
            add_readings(e, f, &call->param[i], p->role, mase_mark_is_data(p->role) || p->variadic);
    }
}

/* By which mark the user reads the tensor of a parameter. */
static char mark_of_reading(const struct found *user, const struct mase_tensor *t)
{
    for (int i = 0; i < user->in_count; i++)
        if (user->in[i].tensor == t)
            return user->in[i].mark;
    return 0;
}

static void find_reads(struct mase_costs *e, struct found *f)
{
    f->reads = mase_new_array(&e->arena, char, (size_t)f->node->user_count);
    for (int i = 0; i < f->node->user_count; i++)
        f->reads[i] =
            mark_of_reading(mase_ptrmap_get(&e->of, f->node->users[i]), f->result->tensor);
}

static bool is_call(const struct mase_node *n)
{
    return n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD ||
           n->kind == MASE_CALL_MODULE;
}

static const struct mase_arg *lookup(const struct mase_node *n, void *values)
{
    return mase_values_get(values, n);
}

static enum mase_status find_node(struct mase_costs *e, struct found *f, struct mase_values *v,
                                  struct mase_err *err)
{
    struct mase_call call;
    if (!is_call(f->node))
        return MASE_OK;
    MASE_TRY(mase_call_init(&call, &e->arena, f->node, lookup, v, err));
    call.result = *f->result;
    find_call(e, f, &call);
    return MASE_OK;
}

/* A parameter that is read by its name has the values that inference leaves out. */
static void give_parameters(struct mase_values *v, const struct mase_graph *g)
{
    int i = 0;
    for (const struct mase_node *n = g->first; n; n = n->next, i++)
        if (n->kind == MASE_GET_ATTR && v->value[i].kind == MASE_ARG_TENSOR)
            v->value[i].tensor = &mase_graph_attr(g, n->target)->tensor;
}

static enum mase_status find(struct mase_costs *e, const struct mase_input *inputs, int count,
                             struct mase_err *err)
{
    const struct mase_graph *g = e->graph;
    struct mase_values v;
    MASE_TRY(mase_infer_shapes(&v, &e->arena, g, inputs, count, err));
    give_parameters(&v, g);
    e->found = mase_new_array(&e->arena, struct found, (size_t)g->node_count);
    struct found *f = e->found;
    for (const struct mase_node *n = g->first; n; n = n->next, f++) {
        *f = (struct found){ .node = n, .result = &v.value[f - e->found] };
        mase_ptrmap_put(&e->of, &e->arena, n, f);
        MASE_TRY(mase_node_place(n, find_node(e, f, &v, err), err));
    }
    for (f = e->found; f < e->found + g->node_count; f++)
        if (f->node->kind == MASE_GET_ATTR)
            find_reads(e, f);
    return MASE_OK;
}

enum mase_status mase_costs_new(struct mase_costs **out, const struct mase_graph *g,
                                const struct mase_input *inputs, int count, struct mase_err *err)
{
    struct mase_costs *e = mase_xcalloc(sizeof *e);
    e->graph = g;
    const enum mase_status st = find(e, inputs, count, err);
    *out = st ? NULL : e;
    if (st)
        mase_costs_free(e);
    return st;
}

void mase_costs_free(struct mase_costs *e)
{
    if (!e)
        return;
    mase_arena_release(&e->arena);
    mase_xfree(e);
}

int64_t mase_costs_macs(const struct mase_costs *e)
{
    int64_t sum = 0;
    for (int i = 0; i < e->graph->node_count; i++)
        sum = mase_count_plus(sum, e->found[i].macs);
    return sum;
}

/* ---- bits of operands ---- */

/* How the node computes with an operand. */
static struct mase_rounding rounding_of(const struct found *f, const struct factor *o)
{
    const struct mase_rounding none = { 0 };
    return o->tensor && o->tensor->dtype == MASE_F32 ? mase_mark_rounding(f->node, o->mark) : none;
}

/* Of one value: what a multiplier takes. */
static int width_of(const struct found *f, const struct factor *o)
{
    const struct mase_format *format = rounding_of(f, o).format;
    if (!o->tensor)
        return 32;
    return format ? mase_format_bits(format) : 8 * mase_dtypes[o->tensor->dtype].size;
}

/* Of all values and what they share: what a memory takes. */
static int64_t stored_bits(const struct mase_tensor *t, struct mase_rounding how)
{
    if (!how.format)
        return mase_tensor_count(t) * 8 * mase_dtypes[t->dtype].size;
    return mase_format_stored_bits(how.format, &t->shape, how.role);
}

static int64_t result_bits(const struct mase_arg *a, const struct mase_format *format)
{
    int64_t bits = 0;
    if (a->kind == MASE_ARG_TENSOR)
        bits = stored_bits(a->tensor, (struct mase_rounding){ .format = format });
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        bits += result_bits(&a->items[i], format);
    return bits;
}

/* ---- values of weights ---- */

/* From the highest to the lowest bit that is set: 0b0101100 has four. */
static int enclosed_bits(int64_t code)
{
    uint64_t magnitude = (uint64_t)(code < 0 ? -code : code);
    int bits = 0;
    while (magnitude && !(magnitude & 1))
        magnitude >>= 1;
    for (; magnitude; magnitude >>= 1)
        bits++;
    return bits;
}

static struct density count_values(const struct mase_tensor *w, const struct mase_format *f,
                                   int width)
{
    struct mase_arena a = { 0 };
    struct density d = { 0 };
    const int64_t n = mase_tensor_count(w);
    float *q = mase_new_array(&a, float, (size_t)n);
    int64_t *code = mase_new_array(&a, int64_t, (size_t)n);
    mase_quantize(f, q, mase_f32(w), &w->shape, MASE_ROLE_WEIGHT, MASE_SIGNED);
    mase_format_codes(code, f, q, &w->shape, MASE_ROLE_WEIGHT, MASE_SIGNED);
    for (int64_t i = 0; i < n; i++) {
        d.nonzero += q[i] != 0;
        if (q[i] != 0)
            d.bits += code[i] != MASE_NO_CODE ? enclosed_bits(code[i]) : width;
    }
    mase_arena_release(&a);
    return d;
}

/* In the format that it has now, which is remembered. */
static struct density density_of(struct mase_costs *e, const struct found *f, struct factor *w)
{
    const struct mase_format *format = rounding_of(f, w).format;
    const struct known_density *known = w->known;
    while (known && known->format != format)
        known = known->next;
    if (known)
        return known->d;
    struct known_density *made = mase_new(&e->arena, struct known_density);
    *made =
        (struct known_density){ format, count_values(w->tensor, format, width_of(f, w)), w->known };
    w->known = made;
    return made->d;
}

/* ---- the price of products ---- */

/* A weight without values, or of another type than float32, is taken to be dense. */
static bool has_values(const struct factor *w)
{
    return w->tensor && w->tensor->data && w->tensor->dtype == MASE_F32;
}

/* The three counts of bit operations. Every weight is in as many products as every other. */
static void price_products(struct mase_cost *cost, struct mase_costs *e, const struct found *f)
{
    const int64_t a = width_of(f, &f->x), w = width_of(f, &f->factor[0]);
    int64_t weights = 0;
    struct density all = { 0 };
    cost->nonzero_macs = f->macs;
    cost->bitops = times(f->macs, a * w);
    cost->nonzero_bitops = cost->ebops = cost->bitops;
    for (int i = 0; i < f->factors && has_values(&f->factor[i]); i++) {
        const struct density d = density_of(e, f, &f->factor[i]);
        all.nonzero += d.nonzero;
        all.bits += d.bits;
        weights += mase_tensor_count(f->factor[i].tensor);
    }
    if (weights) {
        cost->nonzero_macs = times(f->macs / weights, all.nonzero);
        cost->nonzero_bitops = times(cost->nonzero_macs, a * w);
        cost->ebops = times(times(f->macs / weights, all.bits), a);
    }
    cost->bops = (double)cost->nonzero_bitops + (double)f->macs * (double)(a + w) + f->carries;
}

/* ---- parameters ---- */

/* Parameters that have been counted, and in which formats: one that several calls share is stored
 * once in each. */
struct counted {
    struct mase_arena arena;
    struct mase_ptrmap formats;
};

struct counted_format {
    const struct mase_format *format;
    struct counted_format *next;
};

/* Is it the first time? any_format: that the parameter is met at all. */
static bool is_new(struct counted *c, const struct mase_param *p, const struct mase_format *format,
                   bool *any_format)
{
    struct counted_format *known = c ? mase_ptrmap_get(&c->formats, p) : NULL;
    *any_format = !known;
    if (!c)
        return true;
    for (const struct counted_format *f = known; f; f = f->next)
        if (f->format == format)
            return false;
    struct counted_format *f = mase_new(&c->arena, struct counted_format);
    *f = (struct counted_format){ format, known };
    mase_ptrmap_put(&c->formats, &c->arena, p, f);
    return true;
}

/* One parameter or buffer in a format; NULL: as it is. */
static void count_parameter(struct mase_cost *cost, const struct mase_node *n,
                            const struct mase_param *p, struct mase_rounding how,
                            struct counted *before)
{
    bool first;
    if (!is_new(before, mase_param_root(n->graph, p), how.format, &first))
        return;
    cost->params += mase_param_is_buffer(p) || !first ? 0 : mase_tensor_count(&p->tensor);
    cost->param_bits += stored_bits(&p->tensor, how);
}

/* Read by its name: in each format that calls read it in, once. */
static void count_read(struct mase_cost *cost, const struct found *f, struct counted *before)
{
    const struct mase_node *n = f->node;
    struct counted own = { 0 }; /* of the node alone, too */
    for (int i = 0; i < n->user_count; i++)
        count_parameter(cost, n, mase_graph_attr(n->graph, n->target),
                        mase_mark_rounding(n->users[i], f->reads[i]), before ? before : &own);
    mase_arena_release(&own.arena);
}

/* What is stored for a node: parameters in their formats, buffers as they are. before: what is
 * counted already; NULL: of the node alone. */
static void count_parameters(struct mase_cost *cost, const struct found *f, struct counted *before)
{
    const struct mase_node *n = f->node;
    const struct mase_module *module = mase_node_module(n);
    if (f->reads)
        count_read(cost, f, before);
    for (int i = 0; module && i < module->param_count; i++) {
        const struct mase_param *p = &module->params[i];
        const struct mase_rounding none = { 0 };
        if (mase_streq(p->name, "num_batches_tracked"))
            continue; /* of training alone */
        count_parameter(cost, n, p,
                        mase_param_is_buffer(p) ? none : mase_named_rounding(n, p->name), before);
    }
}

/* ---- all of it ---- */

/* A parameter that is read by its name is in the bits of those who read it. */
static void price_traffic(struct mase_cost *cost, const struct found *f)
{
    if (!is_call(f->node))
        return;
    for (int i = 0; i < f->in_count; i++)
        cost->in_bits += stored_bits(f->in[i].tensor, mase_mark_rounding(f->node, f->in[i].mark));
    cost->out_bits = result_bits(f->result, mase_result_rounding(f->node).format);
    cost->traffic = (cost->param_bits + cost->in_bits + cost->out_bits + 7) / 8;
}

static struct mase_cost price(struct mase_costs *e, const struct found *f)
{
    struct mase_cost cost = { .macs = f->macs, .ops = f->ops };
    cost.flops = mase_count_plus(times(2, f->macs), f->ops);
    /* backward: for each product one for the input's gradient and one for the weight's */
    cost.train_flops = mase_count_plus(times(3 * 2, f->macs), times(2, f->ops));
    count_parameters(&cost, f, NULL);
    price_traffic(&cost, f);
    if (f->macs)
        price_products(&cost, e, f);
    return cost;
}

struct mase_cost mase_costs_node(struct mase_costs *e, const struct mase_node *n)
{
    return price(e, mase_ptrmap_get(&e->of, n));
}

struct mase_cost mase_costs_total(struct mase_costs *e)
{
    struct mase_cost sum = { 0 };
    struct counted counted = { 0 };
    for (int i = 0; i < e->graph->node_count; i++) {
        struct mase_cost c = price(e, &e->found[i]);
        c.params = c.param_bits = 0;
        count_parameters(&c, &e->found[i], &counted);
        mase_cost_add(&sum, &c);
    }
    mase_arena_release(&counted.arena);
    return sum;
}

/* ---- sums ---- */

/* The counts of a cost, which is these and the BOPs. */
static const size_t counts[] = {
    offsetof(struct mase_cost, macs),         offsetof(struct mase_cost, ops),
    offsetof(struct mase_cost, flops),        offsetof(struct mase_cost, params),
    offsetof(struct mase_cost, param_bits),   offsetof(struct mase_cost, in_bits),
    offsetof(struct mase_cost, out_bits),     offsetof(struct mase_cost, traffic),
    offsetof(struct mase_cost, bitops),       offsetof(struct mase_cost, nonzero_bitops),
    offsetof(struct mase_cost, ebops),        offsetof(struct mase_cost, train_flops),
    offsetof(struct mase_cost, nonzero_macs),
};
enum { COUNTS = sizeof counts / sizeof *counts };

static int64_t *count_at(struct mase_cost *c, int i)
{
    return (int64_t *)((char *)c + counts[i]);
}

void mase_cost_add(struct mase_cost *to, const struct mase_cost *c)
{
    struct mase_cost more = *c;
    for (int i = 0; i < COUNTS; i++)
        *count_at(to, i) = mase_count_plus(*count_at(to, i), *count_at(&more, i));
    to->bops += c->bops;
}

bool mase_cost_fits(const struct mase_cost *c)
{
    struct mase_cost all = *c;
    bool fits = c->bops < 0x1p63;
    for (int i = 0; i < COUNTS; i++)
        fits &= *count_at(&all, i) != INT64_MAX;
    return fits;
}
