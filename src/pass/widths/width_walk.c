/*
 * width_walk.c - which lengths of a network depend on which widths: one walk in graph order.
 */
#include <mase/log.h>
#include <mase/program.h>

#include "base/alloc.h"
#include "ir/shape/shape.h"
#include "pass/widths/width_parts.h"

/* ---- results ---- */

const struct mase_arg *mase_width_base(const struct mase_width_walk *k, const struct mase_node *n)
{
    return mase_values_get(&k->base, n);
}

struct mase_width_flow *mase_width_flow_of(const struct mase_width_walk *k,
                                           const struct mase_node *n)
{
    return &k->w->flow[mase_width_base(k, n) - k->base.value];
}

bool mase_width_flow_is_constant(const struct mase_width_flow *f)
{
    bool constant = true;
    for (int d = 0; d < f->rank && constant; d++)
        constant = mase_width_is_constant(&f->dim[d]);
    for (int i = 0; i < f->count && constant; i++)
        constant = mase_width_flow_is_constant(&f->item[i]);
    return constant;
}

void mase_width_fix_flow(struct mase_widths *w, const struct mase_width_flow *f, const char *why)
{
    for (int d = 0; d < f->rank; d++)
        mase_width_fix(w, &f->dim[d], why);
    for (int i = 0; i < f->count; i++)
        mase_width_fix_flow(w, &f->item[i], why);
}

struct mase_width_flow mase_width_flow_constant(struct mase_widths *w, const struct mase_arg *base)
{
    struct mase_width_flow f = { 0 };
    const struct mase_tensor *t = mase_arg_tensor(base);
    f.rank = t ? t->shape.rank : base->kind == MASE_ARG_INT;
    f.count = mase_arg_is_seq(base) ? base->count : 0;
    f.dim = mase_new_array(&w->arena, struct mase_width_sum, (size_t)f.rank);
    f.item = mase_new_array(&w->arena, struct mase_width_flow, (size_t)f.count);
    for (int d = 0; d < f.rank; d++)
        f.dim[d] = mase_width_constant(w, t ? t->shape.dim[d] : base->i);
    for (int i = 0; i < f.count; i++)
        f.item[i] = mase_width_flow_constant(w, &base->items[i]);
    return f;
}

/* ---- one call ---- */

/* The operands that depend on widths; *one: the first of them. */
static int operands(const struct mase_width_walk *k, const struct mase_node *n,
                    const struct mase_node **one)
{
    int count = 0;
    for (int i = 0; i < n->input_count; i++) {
        if (mase_width_flow_is_constant(mase_width_flow_of(k, n->inputs[i])))
            continue;
        if (!count++)
            *one = n->inputs[i];
    }
    return count;
}

static bool is_item(const struct mase_width_walk *k, const struct mase_node *n)
{
    return n->op == MASE_OP_getitem && n->input_count &&
           mase_arg_is_seq(mase_width_base(k, n->inputs[0]));
}

/* Numbers that are multiplied are not broadcast. */
static bool zips(const struct mase_width_walk *k, const struct mase_node *n)
{
    const enum mase_prim prim = mase_op_prim(n->op);
    return (prim == MASE_PRIM_zip || prim == MASE_PRIM_select) && n->input_count > 1 &&
           mase_arg_tensor(mase_width_base(k, n));
}

/* Does it make a tensor of the lengths that are its first arguments? */
static bool takes_lengths(enum mase_op op)
{
    return op == MASE_OP_zeros || op == MASE_OP_ones || op == MASE_OP_full || op == MASE_OP_rand ||
           op == MASE_OP_randn;
}

static bool follow(struct mase_width_walk *k, struct mase_width_flow *out,
                   const struct mase_node *n)
{
    const struct mase_node *one = NULL;
    const int count = operands(k, n, &one);
    if (n->input_count && mase_width_row_of(n))
        return mase_width_through_layer(k, out, n);
    if (!count && takes_lengths(n->op))
        mase_width_create(k, out, n);
    if (!count)
        return true;
    if (is_item(k, n))
        return mase_width_item(k, out, n);
    if (n->op == MASE_OP_view || n->op == MASE_OP_reshape)
        return mase_width_reshape(k, out, n);
    if (n->op == MASE_OP_cat || n->op == MASE_OP_stack)
        return mase_width_join(k, out, n);
    if (zips(k, n))
        return mase_width_zip(k, out, n);
    return count == 1 && mase_width_probe(k, out, n, one);
}

static const char *why_fixed(struct mase_widths *w, const struct mase_node *n)
{
    if (n->kind == MASE_OUTPUT)
        return "it gives the network's outputs";
    return mase_arena_printf(&w->arena, "%s (%s) is not known to follow it", n->name,
                             mase_ops[n->op].name);
}

static void walk_node(struct mase_width_walk *k, const struct mase_node *n)
{
    struct mase_widths *w = k->w;
    struct mase_width_flow *out = mase_width_flow_of(k, n);
    struct mase_width_flow found = mase_width_flow_constant(w, mase_width_base(k, n));
    *out = found;
    if (n->kind != MASE_OUTPUT && follow(k, &found, n)) {
        *out = found;
        return;
    }
    const char *why = why_fixed(w, n);
    for (int i = 0; i < n->input_count; i++)
        mase_width_fix_flow(w, mase_width_flow_of(k, n->inputs[i]), why);
}

/* ---- the network ---- */

/* Everything in terms of free variables, which are all known now. */
static void settle_flow(struct mase_widths *w, struct mase_width_flow *f)
{
    for (int d = 0; d < f->rank; d++)
        f->dim[d] = mase_width_normal(w, &f->dim[d]);
    for (int i = 0; i < f->count; i++)
        settle_flow(w, &f->item[i]);
}

static void settle(struct mase_widths *w)
{
    for (int i = 0; i < w->nodes; i++)
        settle_flow(w, &w->flow[i]);
    for (int i = 0; i < w->views; i++)
        w->view[i].sum = mase_width_normal(w, &w->view[i].sum);
    for (int i = 0; i < w->layers; i++)
        for (int k = 0; k < w->layer[i].ins; k++)
            w->layer[i].in[k] = mase_width_normal(w, &w->layer[i].in[k]);
    for (int i = 0; i < w->vars; i++)
        w->var[i].bound = mase_width_normal(w, &w->var[i].bound);
}

static struct mase_width width_of(struct mase_widths *w, const struct mase_width_layer *l)
{
    const struct mase_width_var *v = &w->var[l->var];
    const bool follows = v->bound.count > 1;
    const int group = follows ? l->var : v->bound.term[0].var;
    return (struct mase_width){
        .node = l->node,
        .channels = v->width,
        .group = group,
        .fixed = follows ? mase_arena_printf(&w->arena, "%s decides it", v->joined)
                         : w->var[group].fixed,
        .follows = follows,
    };
}

/* Widths in graph order. */
static void list_widths(struct mase_widths *w)
{
    w->listed = mase_new_array(&w->arena, struct mase_width, (size_t)w->layers);
    for (int i = 0; i < w->layers; i++)
        if (w->layer[i].var)
            w->listed[w->listed_count++] = width_of(w, &w->layer[i]);
}

static enum mase_status find(struct mase_widths *w, struct mase_arena *a,
                             const struct mase_graph *g, struct mase_err *err)
{
    struct mase_width_walk k = { .w = w, .g = g };
    MASE_TRY(mase_infer_shapes(&k.base, a, g, w->input, w->inputs, err));
    w->nodes = g->node_count;
    w->flow = mase_new_array(&w->arena, struct mase_width_flow, (size_t)w->nodes);
    mase_width_new_var(w, NULL, 1);
    w->var[0].fixed = "";
    for (const struct mase_node *n = g->first; n; n = n->next)
        walk_node(&k, n);
    settle(w);
    list_widths(w);
    return MASE_OK;
}

enum mase_status mase_widths_find(struct mase_widths **out, const struct mase_graph *g,
                                  const struct mase_input *inputs, int count, struct mase_err *err)
{
    struct mase_widths *w = mase_xcalloc(sizeof *w);
    struct mase_arena scratch = { 0 };
    w->input = mase_new_array(&w->arena, struct mase_input, (size_t)count);
    w->inputs = count;
    for (int i = 0; i < count; i++) {
        w->input[i] = inputs[i];
        w->input[i].name = mase_arena_strdup(&w->arena, inputs[i].name);
        w->input[i].tensor.data = NULL;
    }
    const enum mase_status st = find(w, &scratch, g, err);
    mase_arena_release(&scratch);
    if (st) {
        mase_widths_free(w);
        return st;
    }
    *out = w;
    return MASE_OK;
}

void mase_widths_free(struct mase_widths *w)
{
    if (!w)
        return;
    mase_arena_release(&w->arena);
    mase_xfree(w);
}

int mase_widths_count(const struct mase_widths *w)
{
    return w->listed_count;
}

const struct mase_width *mase_widths_at(const struct mase_widths *w, int i)
{
    if (i < 0 || i >= w->listed_count)
        mase_bug("there is no width %d of %d", i, w->listed_count);
    return &w->listed[i];
}
