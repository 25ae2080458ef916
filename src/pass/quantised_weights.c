/*
 * quantised_weights.c - list the weights and biases of quantised layers, and check that they are
 * values of their formats.
 */
#include <math.h>

#include <mase/compare.h>

#include "pass/support.h"

struct found {
    struct mase_arena *arena;
    struct mase_quantised *items;
    int count, cap;
    struct mase_map seen; /* by name: a module may be called several times */
};

/* ---- saturation ---- */

static int64_t count_outside(const struct mase_tensor *x, const int64_t *offset, int64_t n,
                             double low, double high, mase_outside_fn *fn, void *data)
{
    int64_t outside = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = offset ? offset[i] : i;
        const double v = mase_tensor_get(x, at);
        if (!(v < low || v > high))
            continue;
        outside++;
        if (fn)
            fn(data, at);
    }
    return outside;
}

/* Blocks of scaled integers have bounds of their own. A block with zero bits has none: it rounds to
 * zero. */
int64_t mase_quantised_saturated(const struct mase_quantised *p, mase_outside_fn *fn, void *data)
{
    const struct mase_rounding r = p->rounding;
    const struct mase_blocks blocks = mase_format_blocks(r.format, &p->x->shape, r.role);
    struct mase_uniform u;
    if (!mase_format_has_blocks(r.format) || !mase_format_uniform(&u, r.format, 0, r.sign))
        return count_outside(p->x, NULL, mase_tensor_count(p->x), (double)p->low, (double)p->high,
                             fn, data);
    struct mase_arena a = { 0 };
    int64_t *offset = mase_new_array(&a, int64_t, (size_t)blocks.largest), outside = 0;
    for (int64_t b = 0; b < blocks.count; b++) {
        const int64_t n = mase_blocks_offsets(&blocks, b, offset);
        mase_format_uniform(&u, r.format, b, r.sign);
        if (u.lo < u.hi)
            outside += count_outside(p->x, offset, n, (double)(u.lo * u.scale),
                                     (double)(u.hi * u.scale), fn, data);
    }
    mase_arena_release(&a);
    return outside;
}

bool mase_quantised_check(struct mase_quantised *p, const struct mase_tensor *q)
{
    if (!mase_error_measure(&p->error, p->x, q))
        return false;
    struct mase_arena a = { 0 };
    const int64_t n = p->error.count;
    float *values = mase_new_array(&a, float, (size_t)n);
    int64_t *codes = mase_new_array(&a, int64_t, (size_t)n);
    p->q = *q;
    for (int64_t i = 0; i < n; i++) {
        const double v = mase_tensor_get(q, i);
        /* no float format represents a double that is no float */
        values[i] = (double)(float)v == v ? (float)v : NAN;
    }
    p->saturated = mase_quantised_saturated(p, NULL, NULL);
    p->unrepresentable = mase_format_codes(codes, p->rounding.format, values, &q->shape,
                                           p->rounding.role, p->rounding.sign);
    mase_arena_release(&a);
    return true;
}

static void add(struct found *f, const struct mase_node *n, const char *name,
                const struct mase_tensor *x, struct mase_rounding r)
{
    if (!r.format || x->dtype != MASE_F32 || mase_map_get(&f->seen, name))
        return;
    f->items = mase_arena_grow(f->arena, f->items, f->count, &f->cap, sizeof *f->items);
    struct mase_quantised *p = &f->items[f->count++];
    *p = (struct mase_quantised){ .node = n, .name = name, .rounding = r, .x = x };
    mase_map_put(&f->seen, name, (void *)name);
    mase_format_limits(&p->low, &p->high, r.format, r.sign);
    p->step = mase_format_step(r.format);
}

/* The rounding with the learned numbers of its format. */
static struct mase_rounding rounding_of(const struct mase_node *n, char mark)
{
    const struct mase_rounding r = mase_mark_rounding(n, mark);
    return r.format ? mase_rounding_now(n, mase_mark_find(mark)->operand, r) : r;
}

static void add_module(struct found *f, const struct mase_node *n, const struct mase_module *m)
{
    for (int i = 0; i < m->param_count; i++) {
        const struct mase_param *p = &m->params[i];
        add(f, n, mase_arena_printf(f->arena, "%s.%s", m->path, p->name), &p->tensor,
            rounding_of(n, mase_param_mark(m, p)));
    }
}

/* A function's weights are arguments; those that get_attr reads are parameters. */
static void add_function(struct found *f, const struct mase_node *n)
{
    struct mase_named_arg *args;
    const int count = mase_named_args(f->arena, n, &args);
    for (int i = 0; i < count; i++) {
        const struct mase_rounding r = rounding_of(n, args[i].role);
        const struct mase_arg *arg = args[i].arg;
        if (!r.format || r.role == MASE_ROLE_DATA || arg->kind != MASE_ARG_NODE ||
            arg->node->kind != MASE_GET_ATTR)
            continue;
        const struct mase_param *p = mase_graph_attr(n->graph, arg->node->target);
        if (p)
            add(f, n, arg->node->target, &p->tensor, r);
    }
}

int mase_quantised_list(struct mase_quantised **out, struct mase_arena *arena,
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

int mase_quantised_params(struct mase_quantised **out, struct mase_arena *arena,
                          const struct mase_graph *g)
{
    const int count = mase_quantised_list(out, arena, g);
    for (int i = 0; i < count; i++) {
        struct mase_quantised *p = &(*out)[i];
        const struct mase_rounding r = p->rounding;
        struct mase_tensor q = mase_tensor(arena, MASE_F32, &p->x->shape, true);
        mase_quantize(r.format, mase_f32(&q), mase_f32(p->x), &p->x->shape, r.role, r.sign);
        (void)mase_quantised_check(p, &q); /* cannot fail: equal shapes */
    }
    return count;
}
