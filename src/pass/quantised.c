/*
 * quantised.c - the weights and biases that quantised layers compute with, held against their grid.
 */
#include <math.h>

#include <mase/compare.h>

#include "pass/support.h"

struct found {
    struct mase_arena *arena;
    struct mase_quantised *items;
    int count, cap;
    struct mase_map seen; /* by name: a module may be called twice */
};

static float quantise_one(const struct mase_format *f, float x)
{
    float q;
    mase_quantize(f, &q, &x, 1, MASE_SIGNED);
    return q;
}

/* What the format can say: its ends, and the step between two neighbours. */
static void set_range(struct mase_quantised *p)
{
    int64_t least = 0, most = 0;
    p->low = quantise_one(&p->format, -INFINITY);
    p->high = quantise_one(&p->format, INFINITY);
    if (mase_format_code(&least, p->low, &p->format, MASE_SIGNED) &&
        mase_format_code(&most, p->high, &p->format, MASE_SIGNED) && most > least)
        p->step = (float)(((double)p->high - p->low) / (double)(most - least));
}

bool mase_quantised_judge(struct mase_quantised *p, const struct mase_tensor *q)
{
    int64_t code;
    if (!mase_error_measure(&p->error, p->x, q))
        return false;
    p->q = *q;
    p->off_grid = p->saturated = 0;
    for (int64_t i = 0; i < p->error.count; i++) {
        const double x = mase_tensor_get(p->x, i), v = mase_tensor_get(q, i);
        /* a double that is no float is not on the grid of any float */
        p->off_grid +=
            (double)(float)v != v || !mase_format_code(&code, (float)v, &p->format, MASE_SIGNED);
        p->saturated += x < p->low || x > p->high;
    }
    return true;
}

static void add(struct found *f, const struct mase_node *n, const char *name,
                const struct mase_tensor *x, const struct mase_format *format)
{
    if (format->kind == MASE_QUANT_float || x->dtype != MASE_F32 || mase_map_get(&f->seen, name))
        return;
    f->items = mase_arena_grow(f->arena, f->items, f->count, &f->cap, sizeof *f->items);
    struct mase_quantised *p = &f->items[f->count++];
    *p = (struct mase_quantised){ .node = n, .name = name, .format = *format, .x = x };
    mase_map_put(&f->seen, name, (void *)name);
    set_range(p);
    struct mase_tensor q = mase_tensor(f->arena, MASE_F32, &x->shape, true);
    mase_quantize(format, mase_f32(&q), mase_f32(x), mase_tensor_count(x), MASE_SIGNED);
    (void)mase_quantised_judge(p, &q); /* of the same shape */
}

static const struct mase_format *format_of(const struct mase_quant *q, char role)
{
    return role == 'w' || role == 'y' ? &q->operand[MASE_WEIGHT]
           : role == 'b'              ? &q->operand[MASE_BIAS]
                                      : NULL;
}

static void add_module(struct found *f, const struct mase_node *n, const struct mase_module *m)
{
    const struct mase_sig *sig = mase_op_call_sig(m->op);
    for (int i = 0; i < sig->count; i++) {
        const struct mase_format *format = format_of(m->quant, sig->param[i].role);
        const struct mase_param *p = mase_module_param(m, sig->param[i].name);
        if (format && p)
            add(f, n, mase_arena_printf(f->arena, "%s.%s", m->path, p->name), &p->tensor, format);
    }
}

/* A function's weights are arguments: those that get_attr reads are parameters. */
static void add_function(struct found *f, const struct mase_node *n)
{
    struct mase_given *given;
    const int count = mase_given_args(f->arena, n, &given);
    for (int i = 0; i < count; i++) {
        const struct mase_format *format = format_of(n->quant, given[i].role);
        const struct mase_arg *arg = given[i].arg;
        if (!format || arg->kind != MASE_ARG_NODE || arg->node->kind != MASE_GET_ATTR)
            continue;
        const struct mase_param *p = mase_graph_attr(n->graph, arg->node->target);
        if (p)
            add(f, n, arg->node->target, &p->tensor, format);
    }
}

int mase_quantised_params(struct mase_quantised **out, struct mase_arena *arena,
                          const struct mase_graph *g)
{
    struct found f = { .arena = arena, .seen = { .arena = arena } };
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_quant *q = mase_node_quant(n);
        const struct mase_module *m = mase_node_module(n);
        if (!q || q->bypass)
            continue;
        if (m)
            add_module(&f, n, m);
        else
            add_function(&f, n);
    }
    *out = f.items;
    return f.count;
}
