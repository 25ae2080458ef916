/*
 * compare.c - two networks side by side: values, nodes, parameters, activations.
 */
#include <math.h>

#include <mase/compare.h>

#include "ir/graph/graph_parts.h"

/* ---- values ---- */

static double distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    const double d = fabs(b - a);
    return isnan(d) ? INFINITY : d; /* one of them is NaN */
}

static int64_t largest(const struct mase_tensor *t, int64_t start, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (mase_tensor_get(t, start + i) > mase_tensor_get(t, start + best))
            best = i;
    return best;
}

static void count_flips(struct mase_error *e, const struct mase_tensor *a,
                        const struct mase_tensor *b)
{
    const int64_t width = a->shape.rank > 0 ? a->shape.dim[a->shape.rank - 1] : 1;
    e->rows = width > 0 ? e->count / width : 0;
    for (int64_t r = 0; e->differ && r < e->rows; r++)
        e->flips += largest(a, r * width, width) != largest(b, r * width, width);
}

bool mase_error_measure(struct mase_error *e, const struct mase_tensor *a,
                        const struct mase_tensor *b)
{
    double signal = 0, noise = 0, sum = 0;
    *e = (struct mase_error){ .count = mase_tensor_count(a) };
    if (!mase_shape_equal(&a->shape, &b->shape))
        return false;
    for (int64_t i = 0; i < e->count; i++) {
        const double x = mase_tensor_get(a, i), d = distance(x, mase_tensor_get(b, i));
        e->differ += d != 0;
        e->max = fmax(e->max, d);
        sum += d;
        signal += x * x;
        noise += d * d;
    }
    e->mean = e->count ? sum / (double)e->count : 0;
    e->sqnr = noise == 0 ? INFINITY : 10 * log10(signal / noise);
    count_flips(e, a, b);
    return true;
}

/* ---- structure ---- */

static bool same_module(const struct mase_module *a, const struct mase_module *b)
{
    if (!a || !b)
        return a == b;
    if (a->op != b->op)
        return false;
    for (int i = 0; i < mase_op_ctor_sig(a->op)->count; i++)
        if (!mase_arg_equal(&a->attrs[i], &b->attrs[i]))
            return false;
    return true;
}

static struct mase_node_pair pair(const struct mase_node *a, const struct mase_node *b)
{
    struct mase_node_pair p = { .a = a, .b = b };
    if (!a || !b)
        return p;
    p.same_call = a->kind == b->kind && mase_streq(a->target, b->target) &&
                  mase_arg_equal(&a->args, &b->args) && mase_arg_equal(&a->kwargs, &b->kwargs) &&
                  same_module(mase_node_module(a), mase_node_module(b));
    p.same_formats = mase_quant_equal(mase_node_quant(a), mase_node_quant(b));
    return p;
}

int mase_compare_nodes(struct mase_node_pair **out, struct mase_arena *arena,
                       const struct mase_graph *a, const struct mase_graph *b)
{
    struct mase_node_pair *pairs =
        mase_new_array(arena, struct mase_node_pair, (size_t)(a->node_count + b->node_count));
    const struct mase_node *next = b->first; /* node of b up to which nodes of b alone are listed */
    int n = 0;
    for (const struct mase_node *node = a->first; node; node = node->next) {
        const struct mase_node *other = mase_graph_find(b, node->name);
        /* nodes of b alone come before the common node that follows them in b */
        while (other && next && !mase_graph_find(a, next->name)) {
            pairs[n++] = pair(NULL, next);
            next = next->next;
        }
        if (other && other == next)
            next = next->next;
        pairs[n++] = pair(node, other);
    }
    for (; next; next = next->next)
        if (!mase_graph_find(a, next->name))
            pairs[n++] = pair(NULL, next);
    *out = pairs;
    return n;
}

/* The format of all operands that have one; NULL if they differ or none has. */
static const struct mase_format *common_format(const struct mase_quant *q)
{
    const struct mase_format *common = NULL;
    for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
        const struct mase_format *f = q->operand[i];
        if (!f)
            continue;
        if (common && common != f)
            return NULL;
        common = f;
    }
    return common;
}

void mase_quant_print(struct mase_str *out, const struct mase_quant *q)
{
    const struct mase_format *common = q ? common_format(q) : NULL;
    const char *between = "";
    if (!q || q->bypass)
        mase_str_add(out, q ? "float (bypass)" : "float");
    else if (common)
        mase_format_tell(out, common);
    else
        for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
            if (!q->operand[i])
                continue;
            mase_str_printf(out, "%s%s ", between, mase_operand_names[i]);
            mase_format_tell(out, q->operand[i]);
            between = ", ";
        }
}

/* ---- parameters ---- */

struct collection {
    struct mase_arena *arena;
    struct mase_named_tensor *items;
    int count, cap;
};

static bool collect(const char *full, struct mase_param *p, void *data)
{
    struct collection *c = data;
    c->items = mase_arena_grow(c->arena, c->items, c->count, &c->cap, sizeof *c->items);
    c->items[c->count++] =
        (struct mase_named_tensor){ mase_arena_strdup(c->arena, full), p->tensor };
    return true;
}

int mase_graph_tensors(struct mase_named_tensor **out, struct mase_arena *arena,
                       const struct mase_graph *g)
{
    struct collection c = { .arena = arena };
    mase_graph_each_param(g, collect, &c);
    *out = c.items;
    return c.count;
}

static void index_tensors(struct mase_map *m, const struct mase_named_tensor *items, int count)
{
    for (int i = 0; i < count; i++)
        mase_map_put(m, items[i].name, (void *)&items[i].tensor);
}

int mase_compare_tensors(struct mase_tensor_pair **out, struct mase_arena *arena,
                         const struct mase_named_tensor *a, int a_count,
                         const struct mase_named_tensor *b, int b_count)
{
    struct mase_map in_a = { .arena = arena }, in_b = { .arena = arena };
    struct mase_tensor_pair *pairs =
        mase_new_array(arena, struct mase_tensor_pair, (size_t)(a_count + b_count));
    int n = 0;
    index_tensors(&in_a, a, a_count);
    index_tensors(&in_b, b, b_count);
    for (int i = 0; i < a_count; i++) {
        struct mase_tensor_pair *p = &pairs[n++];
        *p = (struct mase_tensor_pair){ .name = a[i].name, .a = &a[i].tensor };
        p->b = mase_map_get(&in_b, p->name);
        p->same_shape = p->b && mase_error_measure(&p->error, p->a, p->b);
    }
    for (int i = 0; i < b_count; i++)
        if (!mase_map_get(&in_a, b[i].name))
            pairs[n++] = (struct mase_tensor_pair){ .name = b[i].name, .b = &b[i].tensor };
    *out = pairs;
    return n;
}

/* ---- activations ---- */

static struct mase_value_pair compare_results(const struct mase_node *a, const struct mase_arg *x,
                                              const struct mase_node *b, const struct mase_arg *y)
{
    struct mase_value_pair p = { .a = a, .b = b };
    p.comparable = x->kind == MASE_ARG_TENSOR && y->kind == MASE_ARG_TENSOR &&
                   mase_error_measure(&p.error, x->tensor, y->tensor);
    return p;
}

int mase_compare_values(struct mase_value_pair **out, int *first, struct mase_arena *arena,
                        const struct mase_graph *a, const struct mase_values *va,
                        const struct mase_graph *b, const struct mase_values *vb)
{
    struct mase_value_pair *pairs =
        mase_new_array(arena, struct mase_value_pair, (size_t)a->node_count);
    int n = 0;
    *first = -1;
    for (const struct mase_node *node = a->first; node; node = node->next) {
        const struct mase_node *other = mase_graph_find(b, node->name);
        if (!other)
            continue;
        pairs[n] =
            compare_results(node, mase_values_get(va, node), other, mase_values_get(vb, other));
        if (*first < 0 && pairs[n].comparable && pairs[n].error.differ)
            *first = n;
        n++;
    }
    *out = pairs;
    return n;
}
