/*
 * width_rules.c - lengths behind calls of several operands, and behind calls whose lengths are
 * written out: view, zeros.
 */
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "pass/widths/width_parts.h"

/* The tensor that n gives with the widths as they are, or NULL. */
static const struct mase_shape *shape_of(const struct mase_width_walk *k, const struct mase_node *n)
{
    const struct mase_tensor *t = mase_arg_tensor(mase_width_base(k, n));
    return t ? &t->shape : NULL;
}

/* ---- one value out of several at the same place ---- */

/* Does broadcasting the operands give the result, so that their last lengths meet? */
static bool broadcasts(const struct mase_width_walk *k, const struct mase_node *n)
{
    const struct mase_shape *to = shape_of(k, n), *s;
    struct mase_shape wide = { 0 };
    for (int i = 0; i < n->input_count && to; i++)
        if ((s = shape_of(k, n->inputs[i])) && !mase_shape_widen(&wide, s))
            return false;
    return to && mase_shape_equal(&wide, to);
}

/* Length d of the result, counted from the end, is that of the operand where it is not repeated. */
static void zip_length(struct mase_width_walk *k, struct mase_width_flow *out, int d,
                       const struct mase_node *n, const struct mase_node *operand)
{
    const struct mase_shape *s = shape_of(k, operand), *to = shape_of(k, n);
    const struct mase_width_flow *f = mase_width_flow_of(k, operand);
    if (d >= s->rank)
        return;
    const struct mase_width_sum *length = &f->dim[s->rank - 1 - d];
    struct mase_width_sum *result = &out->dim[to->rank - 1 - d];
    if (s->dim[s->rank - 1 - d] != to->dim[to->rank - 1 - d])
        mase_width_fix(k->w, length,
                       mase_arena_printf(&k->w->arena, "%s repeats its one value", n->name));
    else if (!result->term)
        *result = *length;
    else
        mase_width_unite(k->w, result, length, n);
}

bool mase_width_zip(struct mase_width_walk *k, struct mase_width_flow *out,
                    const struct mase_node *n)
{
    if (!broadcasts(k, n))
        return false;
    for (int d = 0; d < out->rank; d++) {
        out->dim[out->rank - 1 - d] = (struct mase_width_sum){ 0 };
        for (int i = 0; i < n->input_count; i++)
            if (shape_of(k, n->inputs[i]))
                zip_length(k, out, d, n, n->inputs[i]);
    }
    return true;
}

/* ---- concatenation, and along a new dimension ---- */

static bool is_list_of_tensors(const struct mase_width_walk *k, const struct mase_arg *list,
                               int rank)
{
    bool is = mase_arg_is_seq(list) && list->count > 0;
    for (int i = 0; is && i < list->count; i++) {
        const struct mase_shape *s =
            list->items[i].kind == MASE_ARG_NODE ? shape_of(k, list->items[i].node) : NULL;
        is = s && s->rank == rank;
    }
    return is;
}

static const struct mase_arg *lookup(const struct mase_node *n, void *data)
{
    return mase_width_base(data, n);
}

static bool read_axis(struct mase_width_walk *k, int *axis, const struct mase_node *n)
{
    struct mase_call c;
    struct mase_err why;
    return !mase_call_init(&c, k->base.arena, n, lookup, k, &why) &&
           !mase_call_axis_arg(&c, axis, shape_of(k, n), "dim", &why);
}

/* The lengths of a tensor of the list, without that along which it is joined, are equal to those
 * of the first. */
static void unite_others(struct mase_width_walk *k, struct mase_width_flow *out,
                         const struct mase_width_flow *f, int axis, const struct mase_node *n)
{
    const bool stacked = f->rank < out->rank;
    for (int d = 0; d < f->rank; d++) {
        struct mase_width_sum *own = &out->dim[stacked && d >= axis ? d + 1 : d];
        if (!own->term)
            *own = f->dim[d];
        else if (stacked || d != axis)
            mase_width_unite(k->w, own, &f->dim[d], n);
        else
            *own = mase_width_plus(k->w, own, &f->dim[d]);
    }
}

bool mase_width_join(struct mase_width_walk *k, struct mase_width_flow *out,
                     const struct mase_node *n)
{
    const struct mase_arg *list = n->args.count ? &n->args.items[0] : NULL;
    const bool stacked = n->op == MASE_OP_stack;
    int axis;
    if (!list || !is_list_of_tensors(k, list, out->rank - stacked) || !read_axis(k, &axis, n))
        return false;
    for (int d = 0; d < out->rank; d++)
        if (!stacked || d != axis)
            out->dim[d] = (struct mase_width_sum){ 0 };
    for (int i = 0; i < list->count; i++)
        unite_others(k, out, mase_width_flow_of(k, list->items[i].node), axis, n);
    return true;
}

/* ---- an item of a tuple ---- */

bool mase_width_item(struct mase_width_walk *k, struct mase_width_flow *out,
                     const struct mase_node *n)
{
    const struct mase_arg *x = n->args.count == 2 ? n->args.items : NULL;
    if (!x || x[0].kind != MASE_ARG_NODE || x[1].kind != MASE_ARG_INT)
        return false;
    const struct mase_width_flow *f = mase_width_flow_of(k, x[0].node);
    const int64_t i = x[1].i < 0 ? x[1].i + f->count : x[1].i;
    if (i < 0 || i >= f->count)
        return false;
    *out = f->item[i];
    return true;
}

/* ---- view and reshape ---- */

/* Lengths [from, to) of the operand are lengths [at, end) of the result. */
struct folding {
    int from, to, at, end;
};

/* The next group of lengths whose products agree, ones behind it included. */
static bool next_group(struct folding *f, const struct mase_shape *x, const struct mase_shape *y)
{
    int64_t a = 1, b = 1;
    f->from = f->to;
    f->at = f->end;
    if (f->from == x->rank && f->at == y->rank)
        return false;
    do {
        if (f->to < x->rank && (a <= b || f->end == y->rank))
            a *= x->dim[f->to++];
        else if (f->end < y->rank)
            b *= y->dim[f->end++];
        else
            return false;
    } while (a != b || a == 1);
    return true;
}

/* What the other lengths of the operand multiply length d by. */
static int64_t product_without(const struct mase_shape *x, const struct folding *f, int d)
{
    int64_t product = 1;
    for (int i = f->from; i < f->to; i++)
        product *= i == d ? 1 : x->dim[i];
    return product;
}

/* False: one of the lengths that depend on widths is cut, or meets another. */
static bool fold(struct mase_width_walk *k, struct mase_width_flow *out, const struct folding *f,
                 const struct mase_width_flow *from, const struct mase_shape *x,
                 const struct mase_shape *y)
{
    int open = -1, target = -1;
    for (int d = f->from; d < f->to; d++) {
        if (mase_width_is_constant(&from->dim[d]))
            continue;
        if (open >= 0 || x->dim[d] == 1) /* where a one goes cannot be told */
            return false;
        open = d;
    }
    for (int d = f->at; d < f->end && open >= 0; d++) {
        if (y->dim[d] == 1)
            continue;
        if (target >= 0)
            return false;
        target = d;
    }
    if (open < 0)
        return true;
    if (target < 0)
        return false;
    out->dim[target] = mase_width_times(k->w, &from->dim[open], product_without(x, f, open), 1);
    return true;
}

static bool fold_all(struct mase_width_walk *k, struct mase_width_flow *out,
                     const struct mase_node *n)
{
    const struct mase_node *operand = n->args.items[0].node;
    const struct mase_shape *x = shape_of(k, operand), *y = shape_of(k, n);
    struct folding f = { 0 };
    int folded = 0;
    while (next_group(&f, x, y)) {
        if (!fold(k, out, &f, mase_width_flow_of(k, operand), x, y))
            return false;
        folded = f.to;
    }
    for (int d = folded; d < x->rank; d++) /* ones at the end */
        if (!mase_width_is_constant(&mase_width_flow_of(k, operand)->dim[d]))
            return false;
    return true;
}

/* The lengths that forward gives, as f(2, 3) or f((2, 3)), from argument `first` on. */
struct lengths {
    const struct mase_arg *number;
    int count, first;
    bool listed;
};

static struct lengths lengths_of(const struct mase_node *n, int first)
{
    const struct mase_arg *args = n->args.items;
    struct lengths l = { .first = first };
    if (n->args.count <= first)
        return l;
    l.listed = mase_arg_is_seq(&args[first]);
    l.number = l.listed ? args[first].items : args + first;
    l.count = l.listed ? args[first].count : n->args.count - first;
    return l;
}

/* Length d becomes what its sum says. */
static void add_view(struct mase_widths *w, const struct mase_node *n, const struct lengths *l,
                     int d, const struct mase_width_sum *sum)
{
    w->view = mase_arena_grow(&w->arena, w->view, w->views, &w->view_cap, sizeof *w->view);
    w->view[w->views++] = (struct mase_width_view){ .node = mase_arena_strdup(&w->arena, n->name),
                                                    .arg = l->first + (l->listed ? 0 : d),
                                                    .item = l->listed ? d : -1,
                                                    .sum = *sum };
}

/* The number that forward gives for length d: what it is, or has to become. */
static bool follow_number(struct mase_width_walk *k, const struct mase_node *n,
                          const struct lengths *l, int d, const struct mase_width_sum *sum)
{
    const struct mase_arg *number = &l->number[d];
    if (number->kind == MASE_ARG_NODE) {
        const struct mase_width_flow *f = mase_width_flow_of(k, number->node);
        return mase_width_base(k, number->node)->kind == MASE_ARG_INT &&
               (mase_width_equal(k->w, &f->dim[0], sum) ||
                (mase_width_is_constant(&f->dim[0]) && mase_width_is_constant(sum)));
    }
    if (number->kind != MASE_ARG_INT)
        return false;
    if (number->i != -1 && !mase_width_is_constant(sum))
        add_view(k->w, n, l, d, sum);
    return true;
}

static bool follow_numbers(struct mase_width_walk *k, const struct mase_width_flow *out,
                           const struct mase_node *n)
{
    const struct lengths l = lengths_of(n, 1);
    if (l.count != out->rank || n->kwargs.count)
        return false;
    for (int d = 0; d < out->rank; d++)
        if (!follow_number(k, n, &l, d, &out->dim[d]))
            return false;
    return true;
}

bool mase_width_reshape(struct mase_width_walk *k, struct mase_width_flow *out,
                        const struct mase_node *n)
{
    return n->args.count > 1 && n->args.items[0].kind == MASE_ARG_NODE &&
           shape_of(k, n->args.items[0].node) && fold_all(k, out, n) && follow_numbers(k, out, n);
}

/* ---- new tensors ---- */

void mase_width_create(struct mase_width_walk *k, struct mase_width_flow *out,
                       const struct mase_node *n)
{
    const struct lengths l = lengths_of(n, 0);
    for (int d = 0; d < out->rank && l.count == out->rank; d++) {
        if (l.number[d].kind != MASE_ARG_INT || l.number[d].i <= 1)
            continue;
        out->dim[d] = mase_width_variable(k->w, mase_width_new_var(k->w, NULL, l.number[d].i));
        add_view(k->w, n, &l, d, &out->dim[d]);
    }
}
