/*
 * graph_types.c - the shapes of a graph for any number of samples, see graph_types.h.
 *
 * When do three batches stand for all? Every result is checked to be constant or a list of samples:
 * one length is a multiple of N, without an offset, all others are the same. No call may lose the
 * samples that an operand has: x[3], x[:5] and x.mean(0) are constant and yet fail, or are cut,
 * where there are fewer. Numbers that follow N stay multiples of N, so that N // 2, N > 5 and
 * max(N, 3) do not count. What is left treats each sample alike, so a batch of another size has
 * another N and nothing else; but squeeze() asks whether a length is 1, which N may be.
 */
#include "ir/shape/graph_types.h"

#include <string.h>

#include "base/alloc.h"
#include "base/ptrmap.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"

/* ---- the rules in three batches ---- */

static enum mase_status infer_step(struct mase_call *c, void *data, struct mase_err *err)
{
    (void)data;
    return mase_call_apply_rule(c, err);
}

static void infer(struct mase_values *v, struct mase_arena *a, const struct mase_graph *g,
                  const struct mase_input *inputs, int count, int size)
{
    struct mase_input *in = mase_arena_memdup(a, inputs, (size_t)count * sizeof *in);
    const struct mase_walk_plan plan = { .inputs = in,
                                         .input_count = count,
                                         .any_batch = mase_batch_is_any(size),
                                         .goes_on = true,
                                         .step = infer_step };
    struct mase_err err;
    for (int i = 0; i < count; i++)
        if (in[i].tensor.shape.rank)
            in[i].tensor.shape.dim[0] = mase_batch_sizes[size];
    if (mase_values_walk(v, a, g, &plan, &err))
        *v = (struct mase_values){ .arena = a };
}

/* ---- do they hold for any batch? ---- */

/* How a result depends on the number of samples. */
enum relation { CONSTANT, FOLLOWS, OTHER };

static enum relation worse(enum relation a, enum relation b)
{
    return a > b ? a : b;
}

static enum relation relation_of_tensor(const struct mase_arg *const at[MASE_BATCH_SIZES])
{
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    struct mase_ptype type;
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        t[s] = at[s]->tensor;
    if (!mase_ptype_through(&type, t) || !mase_ptype_is_batch(&type))
        return OTHER;
    return mase_ptype_follows(&type) ? FOLLOWS : CONSTANT;
}

static enum relation relation_of_int(const struct mase_arg *const at[MASE_BATCH_SIZES])
{
    int64_t v[MASE_BATCH_SIZES];
    struct mase_extent e;
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        v[s] = at[s]->i;
    if (!mase_extent_through(&e, v) || (e.times && e.plus))
        return OTHER;
    return e.times ? FOLLOWS : CONSTANT;
}

static enum relation relation_of(const struct mase_arg *const at[MASE_BATCH_SIZES])
{
    enum relation r = CONSTANT;
    for (int s = 1; s < MASE_BATCH_SIZES; s++)
        if (at[s]->kind != at[0]->kind ||
            (mase_arg_has_items(at[0]) && at[s]->count != at[0]->count))
            return OTHER;
    if (at[0]->kind == MASE_ARG_TENSOR)
        return relation_of_tensor(at);
    if (at[0]->kind == MASE_ARG_INT)
        return relation_of_int(at);
    if (!mase_arg_has_items(at[0])) {
        for (int s = 1; s < MASE_BATCH_SIZES; s++)
            if (!mase_arg_equal(at[0], at[s]))
                return OTHER;
        return CONSTANT;
    }
    for (int i = 0; i < at[0]->count; i++) {
        const struct mase_arg *item[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            item[s] = &at[s]->items[i];
        r = worse(r, relation_of(item));
    }
    return r;
}

/* Does every tensor in it follow the samples? */
static bool all_follow(const struct mase_arg *const at[MASE_BATCH_SIZES])
{
    if (at[0]->kind == MASE_ARG_TENSOR)
        return relation_of_tensor(at) == FOLLOWS;
    for (int i = 0; mase_arg_has_items(at[0]) && i < at[0]->count; i++) {
        const struct mase_arg *item[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            item[s] = &at[s]->items[i];
        if (!all_follow(item))
            return false;
    }
    return true;
}

/* The results of every node, and which of them follow the samples. */
struct judging {
    const struct mase_values *v; /* (MASE_BATCH_SIZES) */
    struct mase_ptrmap following;
    struct mase_arena scratch;
};

/* A call whose operands follow the samples: does what it gives do so? A part of a shape, x.size(1),
 * need not; a number computed from others must. */
static bool keeps_samples(const struct judging *j, const struct mase_node *n,
                          const struct mase_arg *const at[MASE_BATCH_SIZES])
{
    bool any = false, plain = false, number = false;
    for (int i = 0; i < n->input_count; i++) {
        const struct mase_arg *x = mase_values_get(&j->v[0], n->inputs[i]);
        const bool follows = mase_ptrmap_get(&j->following, n->inputs[i]);
        any |= follows;
        plain |= follows && x->kind != MASE_ARG_TENSOR;
        number |= follows && x->kind == MASE_ARG_INT;
    }
    if (!any)
        return true;
    return all_follow(at) && (!plain || at[0]->kind != MASE_ARG_BOOL) &&
           (!number || relation_of(at) == FOLLOWS);
}

static bool is_call(const struct mase_node *n)
{
    return n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD ||
           n->kind == MASE_CALL_MODULE;
}

static bool judge_node(struct judging *j, const struct mase_node *n)
{
    const struct mase_arg *at[MASE_BATCH_SIZES];
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        at[s] = mase_values_get(&j->v[s], n);
        if (!at[s])
            return false;
    }
    const enum relation r = relation_of(at);
    if (r == FOLLOWS)
        mase_ptrmap_put(&j->following, &j->scratch, n, (void *)n);
    return r != OTHER && (!is_call(n) || keeps_samples(j, n, at));
}

bool mase_op_bounds_samples(enum mase_op op)
{
    return op == MASE_OP_scatter || op == MASE_OP_scatter_add;
}

static void judge(struct mase_graph_types *t, const struct mase_graph *g,
                  const struct mase_values v[MASE_BATCH_SIZES])
{
    struct judging j = { .v = v };
    t->any_batch = t->cut < 0;
    for (const struct mase_node *n = g->first; n && t->any_batch; n = n->next) {
        t->any_batch = judge_node(&j, n) && !mase_op_bounds_samples(n->op);
        t->drops_one |= n->op == MASE_OP_squeeze;
    }
    mase_arena_release(&j.scratch);
}

/* ---- kept ---- */

/* Free the entry at *link and the following ones. */
static void drop(struct mase_graph_types **link)
{
    while (*link) {
        struct mase_arena arena = (*link)->arena;
        *link = (*link)->next;
        mase_arena_release(&arena);
    }
}

void mase_graph_types_free(const struct mase_graph *g)
{
    drop(g->types);
}

struct copying {
    struct mase_arena *a;
    struct mase_arena scratch;
    struct mase_ptrmap tensor_of;
};

static struct mase_tensor *copy_tensor(struct copying *k, const struct mase_tensor *t)
{
    struct mase_tensor *copy = mase_ptrmap_get(&k->tensor_of, t);
    if (copy)
        return copy;
    copy = mase_arena_memdup(k->a, t, sizeof *t);
    copy->data = NULL;
    mase_ptrmap_put(&k->tensor_of, &k->scratch, t, copy);
    return copy;
}

static struct mase_arg copy_arg(struct copying *k, const struct mase_arg *arg)
{
    struct mase_arg out = mase_arg_copy(k->a, arg);
    if (out.kind == MASE_ARG_TENSOR)
        out.tensor = copy_tensor(k, arg->tensor);
    for (int i = 0; mase_arg_has_items(&out) && i < out.count; i++)
        out.items[i] = copy_arg(k, &arg->items[i]);
    return out;
}

/* Several entries, since callers may try several types of inputs. */
static void add(const struct mase_graph *g, struct mase_graph_types *t)
{
    enum { MOST = 8 };
    struct mase_graph_types **link = g->types;
    int count = 1;
    if (*link && (*link)->shape_edits != t->shape_edits)
        drop(link);
    t->next = *link;
    *link = t;
    while (*link && count++ <= MOST)
        link = &(*link)->next;
    drop(link);
}

/* A copy of t is g's from now on. The graph may be older than the call, and stays if that fails. */
static const struct mase_graph_types *keep(const struct mase_graph *g,
                                           const struct mase_graph_types *t)
{
    struct mase_arena a = { 0 };
    struct copying k = { .a = &a };
    struct mase_graph_types *own = mase_arena_memdup(&a, t, sizeof *t);
    own->inputs = mase_arena_memdup(&a, t->inputs, (size_t)t->input_count * sizeof *t->inputs);
    for (int i = 0; i < t->input_count; i++)
        own->inputs[i].name = mase_arena_strdup(&a, t->inputs[i].name);
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        own->result[s] = mase_new_array(&a, const struct mase_arg *, (size_t)t->node_count);
        for (int i = 0; i < t->node_count; i++) {
            if (!t->result[s][i])
                continue;
            const struct mase_arg copy = copy_arg(&k, t->result[s][i]);
            own->result[s][i] = mase_arena_memdup(&a, &copy, sizeof copy);
        }
    }
    mase_arena_release(&k.scratch);
    own->arena = a;
    mase_arena_give_to_arena(&a, &g->arena);
    add(g, own);
    return own;
}

/* ---- found ---- */

static uint64_t shape_edits(const struct mase_graph *g)
{
    return g->edits - g->format_edits;
}

const struct mase_graph_types *mase_graph_types_set(const struct mase_graph *g,
                                                    const struct mase_input *inputs, int count,
                                                    struct mase_values v[MASE_BATCH_SIZES])
{
    struct mase_graph_types t = { .shape_edits = shape_edits(g),
                                  .inputs = (struct mase_input *)inputs,
                                  .input_count = count,
                                  .node_count = g->node_count };
    struct mase_arena a = { 0 };
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        int position = 0;
        t.result[s] = mase_new_array(&a, const struct mase_arg *, (size_t)g->node_count);
        for (const struct mase_node *n = g->first; n; n = n->next)
            t.result[s][position++] = mase_values_get(&v[s], n);
    }
    t.cut = mase_find_cut(g, v);
    judge(&t, g, v);
    const struct mase_graph_types *kept = keep(g, &t);
    mase_arena_release(&a);
    return kept;
}

static const struct mase_graph_types *find(const struct mase_graph *g,
                                           const struct mase_input *inputs, int count)
{
    struct mase_arena a = { 0 };
    struct mase_values v[MASE_BATCH_SIZES];
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        infer(&v[s], &a, g, inputs, count, s);
    const struct mase_graph_types *t = mase_graph_types_set(g, inputs, count, v);
    mase_arena_release(&a);
    return t;
}

/* Samples like these, in batches of whatever size? */
static bool same_inputs(const struct mase_graph_types *t, const struct mase_input *inputs,
                        int count)
{
    bool same = t->input_count == count;
    for (int i = 0; same && i < count; i++) {
        struct mase_shape own = t->inputs[i].tensor.shape;
        const struct mase_tensor *x = &inputs[i].tensor;
        if (own.rank && x->shape.rank)
            own.dim[0] = x->shape.dim[0];
        same = mase_streq(t->inputs[i].name, inputs[i].name) &&
               t->inputs[i].tensor.dtype == x->dtype && mase_shape_equal(&own, &x->shape);
    }
    return same;
}

const struct mase_graph_types *mase_graph_types(const struct mase_graph *g,
                                                const struct mase_input *inputs, int count)
{
    for (const struct mase_graph_types *t = *g->types; t; t = t->next)
        if (t->shape_edits == shape_edits(g) && same_inputs(t, inputs, count))
            return t;
    return find(g, inputs, count);
}

/* ---- a batch of another size ---- */

struct batch {
    struct mase_arena *a;
    int64_t samples;
    struct mase_ptrmap tensor_of; /* a tensor of this batch for one of the smallest */
    struct mase_arena scratch;
};

static int64_t length_at(const struct batch *b, int64_t first, int64_t second)
{
    const int64_t *n = mase_batch_sizes;
    const int64_t times = (second - first) / (n[1] - n[0]);
    return first + times * (b->samples - n[0]);
}

static struct mase_tensor *tensor_at(struct batch *b, const struct mase_tensor *first,
                                     const struct mase_tensor *second)
{
    struct mase_tensor *t = mase_ptrmap_get(&b->tensor_of, first);
    if (t)
        return t;
    t = mase_arena_memdup(b->a, first, sizeof *first);
    for (int d = 0; d < t->shape.rank; d++)
        t->shape.dim[d] = length_at(b, first->shape.dim[d], second->shape.dim[d]);
    mase_ptrmap_put(&b->tensor_of, &b->scratch, first, t);
    return t;
}

static struct mase_arg arg_at(struct batch *b, const struct mase_arg *first,
                              const struct mase_arg *second)
{
    struct mase_arg out = mase_arg_copy(b->a, first);
    if (out.kind == MASE_ARG_TENSOR)
        out.tensor = tensor_at(b, first->tensor, second->tensor);
    if (out.kind == MASE_ARG_INT)
        out.i = length_at(b, first->i, second->i);
    for (int i = 0; mase_arg_has_items(&out) && i < out.count; i++)
        out.items[i] = arg_at(b, &first->items[i], &second->items[i]);
    return out;
}

static bool is_small_enough(const struct mase_arg *arg)
{
    if (arg->kind == MASE_ARG_TENSOR)
        return mase_shape_count_checked(&arg->tensor->shape) >= 0;
    for (int i = 0; mase_arg_is_seq(arg) && i < arg->count; i++)
        if (!is_small_enough(&arg->items[i]))
            return false;
    return true;
}

const struct mase_arg **mase_graph_types_at(const struct mase_graph_types *t, struct mase_arena *a,
                                            int64_t samples)
{
    struct batch b = { .a = a, .samples = samples };
    const struct mase_arg **at = NULL;
    if (!t->any_batch || samples < (t->drops_one ? 2 : 1) ||
        samples > mase_batch_sizes[MASE_BATCH_SIZES - 1])
        return NULL;
    at = mase_new_array(a, const struct mase_arg *, (size_t)t->node_count);
    for (int i = 0; i < t->node_count && at; i++) {
        const struct mase_arg out = arg_at(&b, t->result[0][i], t->result[1][i]);
        at[i] = mase_arena_memdup(a, &out, sizeof out);
        if (!is_small_enough(at[i])) /* the rules say what is too large */
            at = NULL;
    }
    mase_arena_release(&b.scratch);
    return at;
}

/* The number of samples of all inputs; 0 when there is none, or several. */
static int64_t samples_of(const struct mase_input *inputs, int count)
{
    int64_t samples = 0;
    for (int i = 0; i < count; i++) {
        const struct mase_shape *s = &inputs[i].tensor.shape;
        if (!s->rank || (i && s->dim[0] != samples))
            return 0;
        samples = s->dim[0];
    }
    return samples;
}

const struct mase_arg **mase_graph_results(const struct mase_graph *g, struct mase_arena *a,
                                           const struct mase_input *inputs, int count)
{
    const int64_t samples = samples_of(inputs, count);
    const struct mase_graph_types *t = samples > 0 ? mase_graph_types(g, inputs, count) : NULL;
    return t ? mase_graph_types_at(t, a, samples) : NULL;
}

/* ---- clones ---- */

void mase_graph_types_copy(struct mase_graph *g, const struct mase_graph *src)
{
    for (const struct mase_graph_types *t = *src->types; t; t = t->next)
        if (t->shape_edits == shape_edits(src))
            keep(g, t);
}
