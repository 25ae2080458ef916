/*
 * cost.c - the cost of a node by the rule of its operation.
 *
 * What is too large for a count stays the largest one (mase_cost_fits), in all that follows from
 * it.
 */
#include <math.h>
#include <stdlib.h>

#include <mase/meta.h>
#include <mase/program.h>

#include "base/ptrmap.h"
#include "ir/shape.h"
#include "pass/analysis/cost.h"

/* What a rule finds. */
struct count {
    int64_t macs, ops;
    int64_t fan_in;                         /* products in each sum */
    const struct mase_meta_arg *x, *factor; /* the two operands of the products */
};

typedef void count_fn(struct count *c, const struct mase_node *n, int64_t factor);

static int64_t times(int64_t a, int64_t b)
{
    int64_t n;
    return __builtin_mul_overflow(a, b, &n) ? INT64_MAX : n;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t n;
    return __builtin_add_overflow(a, b, &n) ? INT64_MAX : n;
}

static int64_t elements(const struct mase_meta_arg *arg)
{
    const bool tensor = arg && (arg->kind == MASE_META_TENSOR || arg->kind == MASE_META_PARAM);
    return tensor ? mase_shape_count(&arg->shape) : 0;
}

static int64_t result_elements(const struct mase_node *n)
{
    int64_t count = 0;
    for (int i = 0; i < n->meta->result_count; i++)
        count = plus(count, elements(&n->meta->results[i]));
    return count;
}

static const struct mase_meta_arg *arg_of(const struct mase_node *n, const char *name)
{
    return mase_meta_arg(n->meta, name);
}

static int64_t last_dim(const struct mase_meta_arg *arg)
{
    return arg && arg->shape.rank ? arg->shape.dim[arg->shape.rank - 1] : 1;
}

/* ---- rules ---- */

static void count_nothing(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)c, (void)n, (void)factor;
}

static void count_inputs(struct count *c, const struct mase_node *n, int64_t factor)
{
    const struct mase_meta_arg *x = arg_of(n, "data_in_0");
    /* the object of a method is no argument in the metadata; its result is as large */
    c->ops = times(factor, x ? elements(x) : result_elements(n));
}

static void count_results(struct count *c, const struct mase_node *n, int64_t factor)
{
    c->ops = times(factor, result_elements(n));
}

static int64_t product_of(const struct mase_arg *size, int dims)
{
    int64_t n = 1;
    if (size->kind == MASE_ARG_INT)
        for (int i = 0; i < dims; i++)
            n = times(n, size->i);
    for (int i = 0; size->kind >= MASE_ARG_TUPLE && i < size->count; i++)
        n = times(n, size->items[i].kind == MASE_ARG_INT ? size->items[i].i : 1);
    return n;
}

static int64_t window(const struct mase_node *n, int dims)
{
    const struct mase_module *module = mase_node_module(n);
    const struct mase_meta_arg *raw = arg_of(n, "kernel_size");
    if (module)
        return product_of(mase_module_attr(module, "kernel_size"), dims);
    return raw ? product_of(&raw->raw, dims) : 1;
}

static void count_window1(struct count *c, const struct mase_node *n, int64_t factor)
{
    c->ops = times(times(factor, result_elements(n)), window(n, 1));
}

static void count_window2(struct count *c, const struct mase_node *n, int64_t factor)
{
    c->ops = times(times(factor, result_elements(n)), window(n, 2));
}

static void count_window3(struct count *c, const struct mase_node *n, int64_t factor)
{
    c->ops = times(times(factor, result_elements(n)), window(n, 3));
}

static void sums_of(struct count *c, const struct mase_node *n, int64_t fan_in, const char *x,
                    const char *factor)
{
    c->fan_in = fan_in;
    c->macs = times(result_elements(n), fan_in);
    c->x = arg_of(n, x);
    c->factor = arg_of(n, factor);
}

static void count_linear(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    sums_of(c, n, last_dim(arg_of(n, "data_in_0")), "data_in_0", "weight");
}

/* Each output is a sum over one row of the weight: (out, in / groups, ...). */
static void count_per_row(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_meta_arg *w = arg_of(n, "weight");
    const int64_t rows = w && w->shape.rank ? w->shape.dim[0] : 0;
    sums_of(c, n, rows ? elements(w) / rows : 0, "data_in_0", "weight");
}

/* Each input is spread over one row of the weight: (in, out / groups, ...). */
static void count_transposed(struct count *c, const struct mase_node *n, int64_t factor)
{
    count_per_row(c, n, factor);
    const int64_t results = result_elements(n);
    c->macs = times(elements(c->x), c->fan_in);
    c->fan_in = results ? plus(c->macs, results - 1) / results : 0;
}

/* (m, k) times (k, n) in whatever order either lies: k k = (m k)(k n) / (m n), batched alike. */
static int64_t inner(const struct mase_meta_arg *a, const struct mase_meta_arg *b, int64_t results)
{
    if (!a || !b || !results || a->shape.rank > 2 || b->shape.rank > 2)
        return last_dim(a);
    return llround(sqrt((double)elements(a) * (double)elements(b) / (double)results));
}

static void count_product(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_meta_arg *a = arg_of(n, "data_in_0"), *b = arg_of(n, "data_in_1");
    sums_of(c, n, inner(a, b, result_elements(n)), "data_in_0", "data_in_1");
    if (n->kind != MASE_CALL_METHOD || !a || !a->shape.rank)
        return;
    /* of x.matmul(y) the metadata has y alone: (k, n), or (k) */
    const int rank = a->shape.rank;
    sums_of(c, n, a->shape.dim[rank > 1 ? rank - 2 : 0], "", "data_in_0");
}

/* a has A K values, b K B, the result A B. */
static void count_tensordot(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const double a = (double)elements(arg_of(n, "data_in_0")),
                 b = (double)elements(arg_of(n, "data_in_1"));
    const int64_t results = result_elements(n);
    sums_of(c, n, results ? llround(sqrt(a * b / (double)results)) : 0, "data_in_0", "data_in_1");
}

/* Every product of the equation, for each further operand once more. */
static void count_einsum(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    struct mase_tensor tensor[MASE_EINSUM_OPERANDS];
    struct mase_arg operand[MASE_EINSUM_OPERANDS];
    struct mase_arena arena = { 0 };
    struct mase_call call = { .arena = &arena, .node = n, .param = { n->args.items[0] } };
    struct mase_err err;
    struct mase_einsum e;
    int count = 0;
    for (int i = 0; i < n->meta->arg_count && count < MASE_EINSUM_OPERANDS; i++) {
        const struct mase_meta_arg *a = &n->meta->args[i];
        if (a->kind != MASE_META_TENSOR && a->kind != MASE_META_PARAM)
            continue;
        tensor[count] = (struct mase_tensor){ .dtype = a->dtype, .shape = a->shape };
        operand[count] = (struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = &tensor[count] };
        c->x = count ? c->x : a;
        c->factor = a;
        count++;
    }
    call.param[1] = mase_arg_seq(&arena, MASE_ARG_TUPLE, operand, count);
    int64_t products = 1;
    if (!mase_einsum_read(&call, &e, &err))
        for (int i = 0; i < MASE_EINSUM_LABELS; i++)
            products = times(products, e.size[i]);
    mase_arena_release(&arena);
    const int64_t results = result_elements(n);
    c->macs = times(products, count > 1 ? count - 1 : 0);
    c->fan_in = results ? products / results : 0;
}

static void count_sum_product(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    sums_of(c, n, last_dim(arg_of(n, "data_in_1")), "data_in_1", "data_in_2");
    c->ops = result_elements(n);
}

/* Every query with every key, a softmax over the keys, and with every value. */
static void count_attention(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_meta_arg *q = arg_of(n, "data_in_0"), *k = arg_of(n, "data_in_1");
    const int64_t keys = k && k->shape.rank > 1 ? k->shape.dim[k->shape.rank - 2] : 0;
    const int64_t scores = times(elements(q) / last_dim(q), keys);
    c->macs = plus(times(scores, last_dim(q)), times(scores, last_dim(arg_of(n, "data_in_2"))));
    c->ops = times(5, scores);
    c->fan_in = last_dim(q);
    c->x = q;
    c->factor = k;
}

/* Each weight is in one product at each step of each sample. The sums that make one gate are one
 * sum; their mean length is the number of products in each. */
static void count_recurrent(struct count *c, const struct mase_node *n, int64_t factor)
{
    const struct mase_module *m = mase_node_module(n);
    int64_t weights = 0, rows = 0, units = 0;
    c->x = arg_of(n, "data_in_0");
    for (int i = 0; i < m->param_count; i++) {
        const struct mase_param *p = &m->params[i];
        if (mase_param_mark(m, p) != 'w')
            continue;
        const struct mase_shape *s = &p->tensor.shape;
        const bool inner = mase_starts_with(p->name, "weight_hh");
        c->factor = c->factor ? c->factor : arg_of(n, p->name);
        weights += mase_shape_count(s);
        rows += inner ? 0 : s->dim[0];
        units += inner ? mase_module_attr(m, "hidden_size")->i : 0;
    }
    const int64_t positions = elements(c->x) / last_dim(c->x);
    c->macs = times(positions, weights);
    c->ops = times(times(factor, positions), units);
    c->fan_in = (weights + rows - 1) / rows;
}

struct rule {
    count_fn *count;
    int64_t factor;
};

static const struct rule by_primitive[MASE_PRIM_COUNT] = {
#define PRIM_COST(prim, rule, factor) [MASE_PRIM_##prim] = { count_##rule, factor },
#include "pass/analysis/costs.def"
};
static const struct rule by_operation[MASE_OP_COUNT] = {
#define COST(op, rule, factor) [MASE_OP_##op] = { count_##rule, factor },
#include "pass/analysis/costs.def"
};

/* A new primitive must say what it costs. */
enum {
    PRIMITIVES_WITH_A_COST = 0
#define PRIM_COST(...) +1
#include "pass/analysis/costs.def"
};
_Static_assert(PRIMITIVES_WITH_A_COST == (int)MASE_PRIM_COUNT, "every primitive has a cost");

static struct rule rule_of(enum mase_op op)
{
    const enum mase_prim prim = mase_op_prim(op);
    if (by_operation[op].count)
        return by_operation[op];
    return prim < MASE_PRIM_COUNT ? by_primitive[prim] : (struct rule){ count_nothing, 0 };
}

/* ---- bits ---- */

/* Of one value: what a multiplier takes. */
static int bits_of(const struct mase_meta_arg *arg)
{
    if (!arg)
        return 32;
    return arg->format ? mase_format_bits(arg->format) : 8 * mase_dtypes[arg->dtype].size;
}

/* Of all values and what they share: what a memory takes. */
static int64_t stored_bits(const struct mase_node *n, const struct mase_meta_arg *arg)
{
    if (!arg->format)
        return elements(arg) * bits_of(arg);
    return mase_format_stored_bits(arg->format, &arg->shape,
                                   mase_named_rounding(n, arg->name).role);
}

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

/* What the values of a weight say about its products. */
struct density {
    int64_t nonzero; /* values that are not zero */
    int64_t bits;    /* enclosed bits of all values; their width where they are no integers */
};

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

/* A weight without values, or of another type than float32, is taken to be dense. */
static struct density density_of(const struct mase_meta_arg *w, const struct mase_param *p)
{
    const int64_t n = elements(w);
    if (!p || !p->tensor.data || p->tensor.dtype != MASE_F32)
        return (struct density){ n, n * bits_of(w) };
    return count_values(&p->tensor, w->format, bits_of(w));
}

/* The values of all weights of a layer: most have one. */
static struct density density_of_layer(const struct mase_node *n, const struct mase_module *m,
                                       int64_t *weights)
{
    struct density all = { 0 };
    *weights = 0;
    for (int i = 0; i < m->param_count; i++) {
        const struct mase_meta_arg *w = arg_of(n, m->params[i].name);
        if (!w || mase_param_mark(m, &m->params[i]) != 'w')
            continue;
        const struct density d = density_of(w, &m->params[i]);
        all.nonzero += d.nonzero;
        all.bits += d.bits;
        *weights += elements(w);
    }
    return all;
}

/* The three counts of bit operations. Every weight is in as many products as every other. */
static void count_bit_operations(struct mase_cost *cost, const struct mase_node *n,
                                 const struct count *c)
{
    const int64_t a = bits_of(c->x), w = bits_of(c->factor);
    int64_t weights = 0;
    const struct mase_module *module = mase_node_module(n);
    cost->nonzero_macs = c->macs;
    cost->bitops = times(c->macs, a * w);
    cost->nonzero_bitops = cost->ebops = cost->bitops;
    const struct density d = module ? density_of_layer(n, module, &weights) : (struct density){ 0 };
    if (weights) {
        cost->nonzero_macs = times(c->macs / weights, d.nonzero);
        cost->nonzero_bitops = times(cost->nonzero_macs, a * w);
        cost->ebops = times(times(c->macs / weights, d.bits), a);
    }
    cost->bops = (double)cost->nonzero_bitops +
                 (double)c->macs * ((double)(a + w) + log2((double)c->fan_in));
}

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

/* What is stored for a node: parameters in their formats, buffers as they are. before: what is
 * counted already; NULL: of the node alone. */
static void count_parameters(struct mase_cost *cost, const struct mase_node *n,
                             struct counted *before)
{
    const struct mase_module *module = mase_node_module(n);
    for (int i = 0; module && i < module->param_count; i++) {
        const struct mase_param *p = &module->params[i];
        const struct mase_meta_arg *record = arg_of(n, p->name);
        const int64_t count = mase_tensor_count(&p->tensor);
        bool first;
        if (mase_streq(p->name, "num_batches_tracked"))
            continue; /* of training alone */
        if (!is_new(before, mase_param_root(n->graph, p), record ? record->format : NULL, &first))
            continue;
        cost->params += p->is_buffer || !first ? 0 : count;
        cost->param_bits +=
            record ? stored_bits(n, record) : count * 8 * mase_dtypes[p->tensor.dtype].size;
    }
}

/* The object of a method is no argument in the metadata; it is what its node left. */
static int64_t object_bits(const struct mase_node *n)
{
    const struct mase_node *object =
        n->kind == MASE_CALL_METHOD && n->input_count ? n->inputs[0] : NULL;
    int64_t bits = 0;
    for (int i = 0; object && object->meta && i < object->meta->result_count; i++)
        bits += stored_bits(object, &object->meta->results[i]);
    return bits;
}

static void count_traffic(struct mase_cost *cost, const struct mase_node *n)
{
    const bool computes = n->kind != MASE_PLACEHOLDER && n->kind != MASE_OUTPUT;
    cost->in_bits = object_bits(n);
    for (int i = 0; computes && i < n->meta->arg_count; i++)
        if (n->meta->args[i].kind == MASE_META_TENSOR)
            cost->in_bits += stored_bits(n, &n->meta->args[i]);
    for (int i = 0; computes && i < n->meta->result_count; i++)
        cost->out_bits += stored_bits(n, &n->meta->results[i]);
    cost->traffic = (cost->param_bits + cost->in_bits + cost->out_bits + 7) / 8;
}

/* ---- all of it ---- */

struct mase_cost mase_node_cost(const struct mase_node *n)
{
    struct count c = { 0 };
    struct mase_cost cost = { 0 };
    const struct rule rule = rule_of(n->op);
    rule.count(&c, n, rule.factor);
    cost.macs = c.macs;
    cost.ops = c.ops;
    cost.flops = plus(times(2, c.macs), c.ops);
    /* backward: for each product one for the input's gradient and one for the weight's */
    cost.train_flops = plus(times(3 * 2, c.macs), times(2, c.ops));
    count_parameters(&cost, n, NULL);
    count_traffic(&cost, n);
    if (c.macs)
        count_bit_operations(&cost, n, &c);
    return cost;
}

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
        *count_at(to, i) = plus(*count_at(to, i), *count_at(&more, i));
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

struct mase_cost mase_graph_cost(const struct mase_graph *g)
{
    struct mase_cost sum = { 0 };
    struct counted counted = { 0 };
    for (const struct mase_node *n = g->first; n; n = n->next) {
        struct mase_cost c = mase_node_cost(n);
        c.params = c.param_bits = 0;
        count_parameters(&c, n, &counted);
        mase_cost_add(&sum, &c);
    }
    mase_arena_release(&counted.arena);
    return sum;
}
