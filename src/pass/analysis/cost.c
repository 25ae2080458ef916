/*
 * cost.c - the cost of a node by the rule of its operation.
 *
 * What is too large for a count stays the largest one (mase_cost_fits), in all that follows from
 * it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/meta.h>
#include <mase/program.h>

#include "base/ptrmap.h"
#include "ir/shape/shape.h"
#include "pass/analysis/cost.h"
#include "pass/analysis/cost_operand.h"

/* What a rule finds. */
struct count {
    int64_t macs, ops;
    double carries;                     /* of each product log2 of how many its sum has */
    struct mase_cost_operand x, factor; /* the two operands of the products */
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

/* ---- rules ---- */

static void count_nothing(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)c, (void)n, (void)factor;
}

static void count_inputs(struct count *c, const struct mase_node *n, int64_t factor)
{
    const struct mase_cost_operand x = mase_cost_data(n, 0);
    const struct mase_meta_arg *any = arg_of(n, "data_in_0"); /* the first is a number */
    c->ops = times(factor, x.shape ? mase_cost_elements(&x)
                           : any   ? elements(any)
                                   : result_elements(n));
}

static void count_results(struct count *c, const struct mase_node *n, int64_t factor)
{
    c->ops = times(factor, result_elements(n));
}

/* What a window says for each of its dimensions. */
static const struct mase_arg *window_arg(const struct mase_node *n, const char *name)
{
    const struct mase_module *module = mase_node_module(n);
    const struct mase_meta_arg *raw = arg_of(n, name);
    return module ? mase_module_attr(module, name) : raw ? &raw->raw : NULL;
}

/* A number for all dimensions, or one for each. */
static int64_t window_value(const struct mase_arg *size, int dim, int64_t none)
{
    if (size && size->kind >= MASE_ARG_TUPLE)
        size = size->count == 1 ? size->items : dim < size->count ? &size->items[dim] : NULL;
    return size && size->kind == MASE_ARG_INT ? size->i : none;
}

static int64_t window(const struct mase_node *n, int dims)
{
    int64_t all = 1;
    for (int d = 0; d < dims; d++)
        all = times(all, window_value(window_arg(n, "kernel_size"), d, 1));
    return all;
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

/* So many products, in sums of so many each. */
static void add_sums(struct count *c, int64_t macs, int64_t each)
{
    c->macs = plus(c->macs, macs);
    if (each > 1)
        c->carries += (double)macs * log2((double)each);
}

static void sums_of(struct count *c, const struct mase_node *n, int64_t fan_in,
                    struct mase_cost_operand x, struct mase_cost_operand factor)
{
    c->x = x;
    c->factor = factor;
    add_sums(c, times(result_elements(n), fan_in), fan_in);
}

static void count_linear(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_cost_operand x = mase_cost_data(n, 0);
    sums_of(c, n, mase_cost_last_dim(&x), x, mase_cost_named(n, "weight"));
}

/* Each output is a sum over one row of the weight: (out, in / groups, ...). */
static void count_per_row(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_cost_operand w = mase_cost_named(n, "weight");
    const int64_t rows = w.shape && w.shape->rank ? w.shape->dim[0] : 0;
    sums_of(c, n, rows ? mase_cost_elements(&w) / rows : 0, mase_cost_data(n, 0), w);
}

/* ---- transposed convolutions ---- */

enum { WINDOW_DIMS = 3 };

/* How many outputs along dimension d are sums of k inputs, for k from 0 to the kernel's length. */
static void count_meetings(int64_t *outputs, const struct mase_node *n, int d, int64_t in,
                           int64_t out, int64_t kernel)
{
    const int64_t stride = window_value(window_arg(n, "stride"), d, 1),
                  padding = window_value(window_arg(n, "padding"), d, 0),
                  dilation = window_value(window_arg(n, "dilation"), d, 1);
    for (int64_t o = 0; o < out; o++) {
        int64_t met = 0;
        for (int64_t k = 0; k < kernel; k++) {
            const int64_t from = o + padding - k * dilation;
            met += from >= 0 && from % stride == 0 && from / stride < in;
        }
        outputs[met]++;
    }
}

/* Carries of all outputs of a sample and channel: products of what each dimension meets. */
static double carries_of(const int64_t *const *outputs, const int64_t *kernel, int dims,
                         double outer, double met)
{
    double sum = 0;
    if (!dims)
        return met > 1 ? outer * met * log2(met) : 0;
    for (int64_t k = 1; k <= kernel[0]; k++)
        if (outputs[0][k])
            sum += carries_of(outputs + 1, kernel + 1, dims - 1, outer * (double)outputs[0][k],
                              met * (double)k);
    return sum;
}

/* Each input is spread over one row of the weight: (in, out / groups, ...). What falls beside the
 * output, where that is cropped, is no part of a sum. */
static void count_transposed(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    struct mase_arena a = { 0 };
    c->x = mase_cost_data(n, 0);
    c->factor = mase_cost_named(n, "weight");
    const struct mase_shape *w = c->factor.shape, *x = c->x.shape, *y = &n->meta->results[0].shape;
    const int dims = w ? w->rank - 2 : 0;
    const int64_t groups = window_value(window_arg(n, "groups"), 0, 1);
    int64_t *outputs[WINDOW_DIMS], kernel[WINDOW_DIMS], spatial = 1;
    if (!x || !w || dims < 1 || dims > WINDOW_DIMS || !w->dim[0])
        return;
    c->macs = times(mase_cost_elements(&c->x), mase_cost_elements(&c->factor) / w->dim[0]);
    for (int d = 0; d < dims; d++) {
        kernel[d] = w->dim[2 + d];
        outputs[d] = mase_new_array(&a, int64_t, (size_t)kernel[d] + 1);
        count_meetings(outputs[d], n, d, x->dim[x->rank - dims + d], y->dim[y->rank - dims + d],
                       kernel[d]);
        spatial *= y->dim[y->rank - dims + d];
    }
    const int64_t planes = spatial ? mase_shape_count(y) / spatial : 0;
    const int64_t inputs = w->dim[0] / groups;
    c->carries =
        carries_of((const int64_t *const *)outputs, kernel, dims, (double)planes, (double)inputs);
    mase_arena_release(&a);
}

/* ---- products ---- */

/* (m, k) times (k, n) in whatever order either lies: k k = (m k)(k n) / (m n), batched alike. */
static int64_t inner(const struct mase_cost_operand *a, const struct mase_cost_operand *b,
                     int64_t results)
{
    if (!a->shape || !b->shape || !results || a->shape->rank > 2 || b->shape->rank > 2)
        return mase_cost_last_dim(a);
    return llround(
        sqrt((double)mase_cost_elements(a) * (double)mase_cost_elements(b) / (double)results));
}

static void count_product(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_cost_operand a = mase_cost_data(n, 0), b = mase_cost_data(n, 1);
    sums_of(c, n, inner(&a, &b, result_elements(n)), a, b);
}

/* a has A K values, b K B, the result A B. */
static void count_tensordot(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_cost_operand a = mase_cost_data(n, 0), b = mase_cost_data(n, 1);
    const double products = (double)mase_cost_elements(&a) * (double)mase_cost_elements(&b);
    const int64_t results = result_elements(n);
    sums_of(c, n, results ? llround(sqrt(products / (double)results)) : 0, a, b);
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
        c->factor = (struct mase_cost_operand){ .shape = &a->shape,
                                                .dtype = a->dtype,
                                                .how = mase_named_rounding(n, a->name) };
        c->x = count ? c->x : c->factor;
        count++;
    }
    call.param[1] = mase_arg_seq(&arena, MASE_ARG_TUPLE, operand, count);
    int64_t products = 1;
    if (!mase_einsum_read(&call, &e, &err))
        for (int i = 0; i < MASE_EINSUM_LABELS; i++)
            products = times(products, e.size[i]);
    mase_arena_release(&arena);
    const int64_t results = result_elements(n);
    add_sums(c, times(products, count > 1 ? count - 1 : 0), results ? products / results : 0);
}

static void count_sum_product(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_cost_operand a = mase_cost_data(n, 1);
    sums_of(c, n, mase_cost_last_dim(&a), a, mase_cost_data(n, 2));
    c->ops = result_elements(n);
}

/* Every query with every key, a softmax over the keys, and with every value: sums over the width of
 * a key, and over the keys. */
static void count_attention(struct count *c, const struct mase_node *n, int64_t factor)
{
    (void)factor;
    const struct mase_cost_operand q = mase_cost_data(n, 0), k = mase_cost_data(n, 1),
                                   v = mase_cost_data(n, 2);
    const int64_t keys = k.shape && k.shape->rank > 1 ? k.shape->dim[k.shape->rank - 2] : 0;
    const int64_t width = mase_cost_last_dim(&q);
    const int64_t scores = times(mase_cost_elements(&q) / width, keys);
    c->x = q;
    c->factor = k;
    c->ops = times(5, scores);
    add_sums(c, times(scores, width), width);
    add_sums(c, times(scores, mase_cost_last_dim(&v)), keys);
}

/* Each weight is in one product at each step of each sample. A gate is a sum over what comes in and
 * what goes on; where that is projected, another one over the hidden units. */
static void count_recurrent(struct count *c, const struct mase_node *n, int64_t factor)
{
    static const char ih[] = "weight_ih", hh[] = "weight_hh";
    const struct mase_module *m = mase_node_module(n);
    c->x = mase_cost_data(n, 0);
    const int64_t positions = mase_cost_elements(&c->x) / mase_cost_last_dim(&c->x);
    for (int i = 0; i < m->param_count; i++) {
        const struct mase_param *p = &m->params[i];
        if (mase_param_mark(m, p) != 'w')
            continue;
        const struct mase_shape *s = &p->tensor.shape;
        const bool enters = mase_starts_with(p->name, ih), goes_on = mase_starts_with(p->name, hh);
        int64_t each = s->dim[1];
        for (int k = 0; k < m->param_count && (enters || goes_on); k++) {
            const struct mase_param *other = &m->params[k];
            if (mase_starts_with(other->name, enters ? hh : ih) &&
                mase_streq(other->name + strlen(ih), p->name + strlen(ih)))
                each += other->tensor.shape.dim[1];
        }
        if (!c->factor.shape)
            c->factor = mase_cost_named(n, p->name);
        if (goes_on)
            c->ops = plus(c->ops,
                          times(times(factor, positions), mase_module_attr(m, "hidden_size")->i));
        add_sums(c, times(positions, mase_shape_count(s)), each);
    }
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

/* Of a record of the metadata. */
static int64_t stored_bits(const struct mase_node *n, const struct mase_meta_arg *arg)
{
    if (!arg->format)
        return elements(arg) * 8 * mase_dtypes[arg->dtype].size;
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
static struct density density_of(const struct mase_cost_operand *w)
{
    const struct mase_param *p = w->param;
    const int64_t n = mase_cost_elements(w);
    if (!p || !p->tensor.data || p->tensor.dtype != MASE_F32)
        return (struct density){ n, n * mase_cost_bits(w) };
    return count_values(&p->tensor, w->how.format, mase_cost_bits(w));
}

/* The values of all weights of a call: a layer's, of which most have one, or a parameter that a
 * function is given. */
static struct density density_of_call(const struct mase_node *n, const struct count *c,
                                      int64_t *weights)
{
    const struct mase_module *m = mase_node_module(n);
    struct density all = { 0 };
    *weights = 0;
    if (!m && c->factor.param) {
        *weights = mase_cost_elements(&c->factor);
        return density_of(&c->factor);
    }
    for (int i = 0; m && i < m->param_count; i++) {
        if (mase_param_mark(m, &m->params[i]) != 'w')
            continue;
        const struct mase_cost_operand w = mase_cost_named(n, m->params[i].name);
        const struct density d = density_of(&w);
        all.nonzero += d.nonzero;
        all.bits += d.bits;
        *weights += mase_cost_elements(&w);
    }
    return all;
}

/* The three counts of bit operations. Every weight is in as many products as every other. */
static void count_bit_operations(struct mase_cost *cost, const struct mase_node *n,
                                 const struct count *c)
{
    const int64_t a = mase_cost_bits(&c->x), w = mase_cost_bits(&c->factor);
    int64_t weights = 0;
    cost->nonzero_macs = c->macs;
    cost->bitops = times(c->macs, a * w);
    cost->nonzero_bitops = cost->ebops = cost->bitops;
    const struct density d = density_of_call(n, c, &weights);
    if (weights) {
        cost->nonzero_macs = times(c->macs / weights, d.nonzero);
        cost->nonzero_bitops = times(cost->nonzero_macs, a * w);
        cost->ebops = times(times(c->macs / weights, d.bits), a);
    }
    cost->bops = (double)cost->nonzero_bitops + (double)c->macs * (double)(a + w) + c->carries;
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

/* One parameter or buffer in a format; NULL: as it is. */
static void count_parameter(struct mase_cost *cost, const struct mase_node *n,
                            const struct mase_param *p, struct mase_rounding how,
                            struct counted *before)
{
    const struct mase_cost_operand o = { &p->tensor.shape, p->tensor.dtype, how, p };
    bool first;
    if (!is_new(before, mase_param_root(n->graph, p), how.format, &first))
        return;
    cost->params += mase_param_is_buffer(p) || !first ? 0 : mase_cost_elements(&o);
    cost->param_bits += mase_cost_stored_bits(&o);
}

/* Read by its name: in each format that calls read it in, once. */
static void count_read(struct mase_cost *cost, const struct mase_node *n, struct counted *before)
{
    const struct mase_param *p = mase_graph_attr(n->graph, n->target);
    struct counted own = { 0 }; /* of the node alone, too */
    for (int i = 0; p && i < n->user_count; i++) {
        const struct mase_rounding how = mase_cost_reads(n->users[i], n);
        count_parameter(cost, n, p, how, before ? before : &own);
    }
    mase_arena_release(&own.arena);
}

/* What is stored for a node: parameters in their formats, buffers as they are. before: what is
 * counted already; NULL: of the node alone. */
static void count_parameters(struct mase_cost *cost, const struct mase_node *n,
                             struct counted *before)
{
    const struct mase_module *module = mase_node_module(n);
    if (n->kind == MASE_GET_ATTR)
        count_read(cost, n, before);
    for (int i = 0; module && i < module->param_count; i++) {
        const struct mase_param *p = &module->params[i];
        const struct mase_rounding none = { 0 };
        if (mase_streq(p->name, "num_batches_tracked"))
            continue; /* of training alone */
        count_parameter(cost, n, p, arg_of(n, p->name) ? mase_named_rounding(n, p->name) : none,
                        before);
    }
}

/* The object of a method is no argument in the metadata. */
static int64_t object_bits(const struct mase_node *n)
{
    const struct mase_node *object =
        n->kind == MASE_CALL_METHOD && n->args.count && n->args.items[0].kind == MASE_ARG_NODE
            ? n->args.items[0].node
            : NULL;
    const struct mase_cost_operand x =
        object ? mase_cost_data(n, 0) : (struct mase_cost_operand){ 0 };
    int64_t bits = 0;
    if (x.shape)
        return mase_cost_stored_bits(&x);
    for (int i = 0; object && object->meta && i < object->meta->result_count; i++)
        bits += stored_bits(object, &object->meta->results[i]);
    return bits;
}

/* A parameter that is read by its name is in the bits of those who read it. */
static void count_traffic(struct mase_cost *cost, const struct mase_node *n)
{
    const bool computes =
        n->kind != MASE_PLACEHOLDER && n->kind != MASE_OUTPUT && n->kind != MASE_GET_ATTR;
    if (!computes)
        return;
    cost->in_bits = object_bits(n);
    for (int i = 0; i < n->meta->arg_count; i++)
        if (n->meta->args[i].kind == MASE_META_TENSOR)
            cost->in_bits += stored_bits(n, &n->meta->args[i]);
    for (int i = 0; i < n->meta->result_count; i++)
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
