/*
 * cost_rules.c - the rules of costs.def (cost_rules.h).
 */
#include "program/cost_rules.h"

#include <math.h>

#include <mase/program.h>

#include "ir/graph/graph_parts.h"
#include "ir/graph/recurrent.h"
#include "ir/shape/shape.h"

/* factor: of the row in costs.def. */
typedef void count_fn(struct mase_operations *c, const struct mase_call *call, int64_t factor);

int64_t mase_count_times(int64_t a, int64_t b)
{
    int64_t n;
    return __builtin_mul_overflow(a, b, &n) ? INT64_MAX : n;
}

int64_t mase_count_plus(int64_t a, int64_t b)
{
    int64_t n;
    return __builtin_add_overflow(a, b, &n) ? INT64_MAX : n;
}

int64_t mase_count_elements(const struct mase_arg *a)
{
    int64_t count = a->kind == MASE_ARG_TENSOR ? mase_shape_count(&a->tensor->shape) : 0;
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        count = mase_count_plus(count, mase_count_elements(&a->items[i]));
    return count;
}

/* ---- operands ---- */

/* The k-th of the parameters that take data: x and y of matmul(x, y). */
static struct mase_cost_operand data(const struct mase_call *call, int k)
{
    for (int i = 0; i < call->sig->count; i++)
        if (mase_mark_is_data(call->sig->param[i].role) && !k--)
            return (struct mase_cost_operand){ mase_arg_tensor(&call->param[i]),
                                               call->sig->param[i].role };
    return (struct mase_cost_operand){ 0 };
}

static struct mase_cost_operand weight(const struct mase_call *call)
{
    return (struct mase_cost_operand){ mase_call_tensor(call, "weight"), 'w' };
}

static int64_t elements(struct mase_cost_operand o)
{
    return o.tensor ? mase_tensor_count(o.tensor) : 0;
}

static int64_t last_dim(struct mase_cost_operand o)
{
    const struct mase_shape *s = o.tensor ? &o.tensor->shape : NULL;
    return s && s->rank ? s->dim[s->rank - 1] : 1;
}

static const struct mase_tensor *first_tensor(const struct mase_arg *a)
{
    const struct mase_tensor *t = mase_arg_tensor(a);
    for (int i = 0; !t && mase_arg_is_seq(a) && i < a->count; i++)
        t = first_tensor(&a->items[i]);
    return t;
}

static void add_factor(struct mase_operations *c, const struct mase_call *call,
                       struct mase_cost_operand o)
{
    struct mase_cost_operand *all =
        mase_new_array(call->arena, struct mase_cost_operand, (size_t)c->factors + 1);
    for (int i = 0; i < c->factors; i++)
        all[i] = c->factor[i];
    all[c->factors++] = o;
    c->factor = all;
}

/* ---- operations for each value ---- */

static void count_nothing(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    (void)c, (void)call, (void)factor;
}

static void count_results(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    c->ops = mase_count_times(factor, mase_count_elements(&call->result));
}

/* Of the first operand, or the next one where that is a number. */
static void count_inputs(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_tensor *x = NULL;
    for (int i = 0; !x && i < call->sig->count; i++)
        if (mase_mark_is_data(call->sig->param[i].role))
            x = first_tensor(&call->param[i]);
    if (!x)
        count_results(c, call, factor);
    else
        c->ops = mase_count_times(factor, mase_tensor_count(x));
}

static void count_window(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    struct mase_window w;
    struct mase_err unwanted; /* the call has a result */
    count_results(c, call, factor);
    if (mase_pool_window(call, &w, &unwanted))
        return;
    for (int d = 0; d < w.n; d++)
        c->ops = mase_count_times(c->ops, w.kernel[d]);
}

/* ---- sums of products ---- */

/* So many products, in sums of so many each. */
static void add_sums(struct mase_operations *c, int64_t macs, int64_t each)
{
    c->macs = mase_count_plus(c->macs, macs);
    if (each > 1)
        c->carries += (double)macs * log2((double)each);
}

static void sums_of(struct mase_operations *c, const struct mase_call *call, int64_t fan_in,
                    struct mase_cost_operand x, struct mase_cost_operand factor)
{
    c->x = x;
    add_factor(c, call, factor);
    add_sums(c, mase_count_times(mase_count_elements(&call->result), fan_in), fan_in);
}

static void count_linear(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_cost_operand x = data(call, 0);
    (void)factor;
    sums_of(c, call, last_dim(x), x, weight(call));
}

/* Each output is a sum over one row of the weight: (out, in / groups, ...). */
static void count_per_row(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_cost_operand w = weight(call);
    const int64_t rows = w.tensor && w.tensor->shape.rank ? w.tensor->shape.dim[0] : 0;
    (void)factor;
    sums_of(c, call, rows ? elements(w) / rows : 0, data(call, 0), w);
}

/* (m, k) times (k, n) in whatever order either lies: k k = (m k)(k n) / (m n), batched alike. */
static int64_t inner(struct mase_cost_operand a, struct mase_cost_operand b, int64_t results)
{
    if (!a.tensor || !b.tensor || !results || a.tensor->shape.rank > 2 || b.tensor->shape.rank > 2)
        return last_dim(a);
    return llround(sqrt((double)elements(a) * (double)elements(b) / (double)results));
}

static void count_product(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_cost_operand a = data(call, 0), b = data(call, 1);
    (void)factor;
    sums_of(c, call, inner(a, b, mase_count_elements(&call->result)), a, b);
}

/* a has A K values, b K B, the result A B. */
static void count_tensordot(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_cost_operand a = data(call, 0), b = data(call, 1);
    const double products = (double)elements(a) * (double)elements(b);
    const int64_t results = mase_count_elements(&call->result);
    (void)factor;
    sums_of(c, call, results ? llround(sqrt(products / (double)results)) : 0, a, b);
}

/* Every product of the equation, for each further operand once more. */
static void count_einsum(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_arg *operand;
    const int64_t results = mase_count_elements(&call->result);
    struct mase_err unwanted; /* the call has a result */
    struct mase_einsum e;
    int count;
    int64_t products = 1;
    (void)factor;
    if (mase_einsum_read(call, &e, &unwanted) ||
        mase_call_tensors(call, &operand, &count, "operands", &unwanted))
        return;
    for (int i = 0; i < MASE_EINSUM_LABELS; i++)
        products = mase_count_times(products, e.size[i]);
    c->x = (struct mase_cost_operand){ operand[0].tensor, 0 };
    add_factor(c, call, (struct mase_cost_operand){ operand[count - 1].tensor, 0 });
    add_sums(c, mase_count_times(products, count > 1 ? count - 1 : 0),
             results ? products / results : 0);
}

static void count_sum_product(struct mase_operations *c, const struct mase_call *call,
                              int64_t factor)
{
    const struct mase_cost_operand a = data(call, 1);
    (void)factor;
    sums_of(c, call, last_dim(a), a, data(call, 2));
    c->ops = mase_count_elements(&call->result);
}

/* Every query with every key, a softmax over the keys, and with every value: sums over the width of
 * a key, and over the keys. */
static void count_attention(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    const struct mase_cost_operand q = data(call, 0), k = data(call, 1), v = data(call, 2);
    const struct mase_shape *s = &k.tensor->shape;
    const int64_t keys = s->rank > 1 ? s->dim[s->rank - 2] : 0, width = last_dim(q);
    const int64_t scores = mase_count_times(elements(q) / width, keys);
    (void)factor;
    c->x = q;
    add_factor(c, call, k);
    c->ops = mase_count_times(5, scores);
    add_sums(c, mase_count_times(scores, width), width);
    add_sums(c, mase_count_times(scores, last_dim(v)), keys);
}

/* ---- recurrent layers ---- */

/* The features of what a weight is multiplied with, and of what else is added in the same sum: a
 * gate is a sum over what comes in and what goes on. */
static int64_t summed(const struct mase_recurrent *r, int layer, const char *what)
{
    return mase_streq(what, "weight_hr") ? r->hidden : mase_recurrent_features(r, layer) + r->state;
}

/* Each weight is in one product at each step of each sample. */
static void count_recurrent(struct mase_operations *c, const struct mase_call *call, int64_t factor)
{
    struct mase_sequence q;
    struct mase_err unwanted; /* the call has a result */
    if (mase_sequence_read(&q, call, &unwanted))
        return;
    const struct mase_recurrent *r = &q.layer;
    const int64_t positions = mase_count_times(q.steps, q.samples);
    c->x = data(call, 0);
    for (int k = 0; k < r->layers * r->directions; k++) {
        struct mase_recurrent_param param[MASE_RECURRENT_PARAMS];
        const int layer = k / r->directions, direction = k % r->directions;
        const int count = mase_recurrent_params(param, r, layer);
        for (int i = 0; i < count; i++) {
            if (param[i].shape.rank != 2)
                continue; /* a bias is where a sum begins */
            add_factor(c, call,
                       (struct mase_cost_operand){
                           mase_sequence_param(&q, call, param[i].what, layer, direction), 'w' });
            add_sums(c, mase_count_times(positions, mase_shape_count(&param[i].shape)),
                     summed(r, layer, param[i].what));
        }
        c->ops = mase_count_plus(c->ops,
                                 mase_count_times(mase_count_times(factor, positions), r->hidden));
    }
}

/* ---- transposed convolutions ---- */

/* How many outputs along dimension d are sums of k inputs, for k from 0 to the kernel's length. */
static void count_meetings(int64_t *outputs, const struct mase_window *w, int d)
{
    for (int64_t o = 0; o < w->out[d]; o++) {
        int64_t met = 0;
        for (int64_t k = 0; k < w->kernel[d]; k++) {
            const int64_t from = o + w->pad[d] - k * w->dilation[d];
            met += from >= 0 && from % w->stride[d] == 0 && from / w->stride[d] < w->in[d];
        }
        outputs[met]++;
    }
}

/* Carries of all outputs of a sample and channel: products of what each dimension meets. */
static double carries_of(int64_t *const *outputs, const int64_t *kernel, int dims, double outer,
                         double met)
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
static void count_transposed(struct mase_operations *c, const struct mase_call *call,
                             int64_t factor)
{
    const struct mase_cost_operand x = data(call, 0), w = weight(call);
    int64_t *outputs[3], spatial = 1;
    struct mase_window at;
    struct mase_err unwanted; /* the call has a result */
    (void)factor;
    if (!w.tensor->shape.dim[0] || mase_conv_transpose_window(call, &at, &unwanted))
        return;
    for (int d = 0; d < at.n; d++) {
        outputs[d] = mase_new_array(call->arena, int64_t, (size_t)at.kernel[d] + 1);
        count_meetings(outputs[d], &at, d);
        spatial *= at.out[d];
    }
    const int64_t planes = spatial ? mase_count_elements(&call->result) / spatial : 0;
    const int64_t inputs = w.tensor->shape.dim[0] / at.groups;
    c->x = x;
    add_factor(c, call, w);
    c->macs = mase_count_times(elements(x), elements(w) / w.tensor->shape.dim[0]);
    c->carries = carries_of(outputs, at.kernel, at.n, (double)planes, (double)inputs);
}

/* ---- the table ---- */

struct rule {
    count_fn *count;
    int64_t factor;
};

static const struct rule by_primitive[MASE_PRIM_COUNT] = {
#define PRIM_COST(prim, rule, factor) [MASE_PRIM_##prim] = { count_##rule, factor },
#include "program/costs.def"
};
static const struct rule by_operation[MASE_OP_COUNT] = {
#define COST(op, rule, factor) [MASE_OP_##op] = { count_##rule, factor },
#include "program/costs.def"
};

/* A new primitive must say what it costs. */
enum {
    PRIMITIVES_WITH_A_COST = 0
#define PRIM_COST(...) +1
#include "program/costs.def"
};
_Static_assert(PRIMITIVES_WITH_A_COST == (int)MASE_PRIM_COUNT, "every primitive has a cost");

void mase_call_operations(struct mase_operations *c, const struct mase_call *call)
{
    const enum mase_op op = call->node->op;
    const enum mase_prim prim = mase_op_prim(op);
    *c = (struct mase_operations){ 0 };
    if (by_operation[op].count)
        by_operation[op].count(c, call, by_operation[op].factor);
    else if (prim < MASE_PRIM_COUNT)
        by_primitive[prim].count(c, call, by_primitive[prim].factor);
}

/* ---- products by features ---- */

static int64_t run_behind(const struct mase_shape *s, int dim)
{
    int64_t run = 1;
    for (int d = dim + 1; d < s->rank; d++)
        run *= s->dim[d];
    return run;
}

/* Weights (outputs, channels of a group, ...): the groups lie one behind the other along outputs. A
 * value meets each weight of its channel as often as there are outputs for each input. Transposed,
 * weights (channels, outputs of a group, ...): once. */
static void conv_features(struct mase_feature_products *f, const struct mase_shape *x,
                          const struct mase_shape *w, const struct mase_shape *y, bool transposed)
{
    const int64_t channels = x->dim[1], run = run_behind(x, 1), each = w->dim[1];
    f->features = channels;
    f->x = (struct mase_feature_layout){ run, channels, mase_shape_count(x) };
    if (transposed) {
        f->share = 1;
        f->w = (struct mase_feature_layout){ run_behind(w, 0), channels, mase_shape_count(w) };
        return;
    }
    const int64_t kernel = run_behind(w, 1), outputs = w->dim[0] / (channels / each);
    f->share = (double)run_behind(y, 1) / (double)run;
    f->w = (struct mase_feature_layout){ kernel, each, outputs * each * kernel };
}

bool mase_call_features(struct mase_feature_products *f, const struct mase_call *call)
{
    const enum mase_op op = call->node->op;
    const struct mase_tensor *x = data(call, 0).tensor, *w = weight(call).tensor;
    const bool dense = op == MASE_OP_linear;
    if (!x || !w || (!dense && mase_op_prim(op) != MASE_PRIM_conv))
        return false;
    if (!dense) {
        conv_features(f, &x->shape, &w->shape, &call->result.tensor->shape,
                      mase_op_is_transposed(op));
        return true;
    }
    *f = (struct mase_feature_products){ .features = w->shape.dim[w->shape.rank - 1], .share = 1 };
    f->x = (struct mase_feature_layout){ 1, f->features, mase_tensor_count(x) };
    f->w = (struct mase_feature_layout){ 1, f->features, mase_tensor_count(w) };
    return true;
}
