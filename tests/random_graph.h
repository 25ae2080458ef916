/*
 * random_graph.h - small random networks: what a plan and the reference are compared on, by a unit
 * test with fixed seeds and by fuzzers.
 *
 * Where decisions come from is the caller's: a stream of random numbers, or the bytes of a fuzzer.
 * A network grows call by call; a call that shape inference refuses is taken back, so that
 * proposals may be careless. Calls take inputs, parameters, values computed from parameters alone,
 * and earlier results; layers are shared; a few proposals mix the samples of a batch, which no plan
 * may run.
 *
 * Numbers are odd multiples of 1/16. "Exact" values are those and what is only moved, added or
 * rounded from them: plan and reference agree on them to the bit, so that comparisons, casts and
 * number formats, which jump, are put on exact values alone.
 */
#ifndef MASE_TESTS_RANDOM_GRAPH_H
#define MASE_TESTS_RANDOM_GRAPH_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mase/call.h>
#include <mase/graph.h>

#include "formats.h"
#include "graph_text.h"

enum {
    RG_VALUES = 64,
    RG_BATCH = 7,     /* no other dimension is as long */
    RG_LARGEST = 600, /* elements of a value for that batch */
};

struct rg_value {
    struct mase_node *node;
    struct mase_shape shape; /* for RG_BATCH samples */
    bool follows;            /* the samples */
    bool exact;
};

struct rg {
    struct mase_graph *g;
    uint32_t (*next)(void *data); /* decisions */
    void *data;
    struct mase_arena arena;
    struct rg_value v[RG_VALUES];
    int count;
    struct mase_input input[2]; /* shapes for RG_BATCH samples */
    int inputs, attrs, modules;
    bool with_formats;
    bool has_formats; /* some call carries them: gradients pass straight through */
};

static inline int rg_pick(struct rg *r, int n)
{
    return (int)(r->next(r->data) % (uint32_t)n);
}

static inline int rg_dim(struct rg *r)
{
    return 1 + rg_pick(r, 4);
}

/* ---- calls ---- */

/* The tensor that n gives for a batch, or NULL; a batch of one more must do as well. */
static inline const struct mase_tensor *rg_infer(struct rg *r, const struct mase_node *n,
                                                 struct mase_arena *a)
{
    struct mase_values v;
    struct mase_err err;
    struct mase_input more[2] = { r->input[0], r->input[1] };
    more[0].tensor.shape.dim[0] = more[1].tensor.shape.dim[0] = RG_BATCH + 1;
    if (mase_infer_shapes(&v, a, r->g, more, r->inputs, &err) ||
        mase_infer_shapes(&v, a, r->g, r->input, r->inputs, &err))
        return NULL;
    const struct mase_arg *value = mase_values_get(&v, n);
    const bool tensor = value->kind == MASE_ARG_TENSOR;
    return tensor && mase_tensor_count(value->tensor) <= RG_LARGEST ? value->tensor : NULL;
}

/* Keep n and its value if it has a small tensor; else take it back. */
static inline struct rg_value *rg_keep(struct rg *r, struct mase_node *n, bool exact)
{
    struct mase_arena a = { 0 };
    const struct mase_tensor *t = r->count < RG_VALUES ? rg_infer(r, n, &a) : NULL;
    struct rg_value *v = NULL;
    if (t) {
        v = &r->v[r->count++];
        *v = (struct rg_value){ .node = n, .shape = t->shape, .exact = exact };
        v->follows = t->shape.rank > 0 && t->shape.dim[0] == RG_BATCH;
        if (t->dtype != MASE_F32)
            r->count--; /* v is good until the next value, for the call that wants it */
    } else {
        mase_graph_erase(r->g, n);
    }
    mase_arena_release(&a);
    return v;
}

static inline struct rg_value *rg_call(struct rg *r, bool exact, const char *fmt, ...)
    MASE_PRINTF(3, 4);
static inline struct rg_value *rg_call(struct rg *r, bool exact, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return rg_keep(r, text_call(r->g, "%s", text), exact);
}

/* "(2, 3)", "(2,)", "()". */
static inline const char *rg_tuple(struct rg *r, const struct mase_shape *s)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < s->rank; i++)
        mase_str_printf(&text, "%s%d", i ? ", " : "", (int)s->dim[i]);
    const char *tuple =
        mase_arena_printf(&r->arena, "(%s%s)", mase_str_text(&text), s->rank == 1 ? "," : "");
    mase_str_release(&text);
    return tuple;
}

/* ---- values that parameters decide ---- */

static inline struct rg_value *rg_attr(struct rg *r, const struct mase_shape *s, bool buffer)
{
    char name[16];
    snprintf(name, sizeof name, "p%d", r->attrs++);
    mase_graph_add_attr(r->g, name, MASE_F32, s, buffer ? MASE_PARAM_BUFFER : MASE_PARAM_TRAINED);
    return rg_keep(r, mase_graph_insert(r->g, NULL, MASE_GET_ATTR, name, NULL, NULL), true);
}

static inline struct rg_value *rg_plain(struct rg *r, const struct mase_shape *s, int depth);

/* A matrix as a product, transposed, or rows that an embedding gives. */
static inline struct rg_value *rg_plain_matrix(struct rg *r, const struct mase_shape *s, int depth)
{
    const struct mase_shape left = { 2, { s->dim[0], 2 } }, right = { 2, { 2, s->dim[1] } };
    const struct mase_shape turned = { 2, { s->dim[1], s->dim[0] } };
    const struct mase_shape wide = { 2, { s->dim[0] + 1, s->dim[1] } };
    struct rg_value *a, *b;
    switch (rg_pick(r, 4)) {
    case 0:
        a = rg_plain(r, &left, depth);
        b = a ? rg_plain(r, &right, depth) : NULL;
        return b ? rg_call(r, false, "torch.matmul(%s, %s)", a->node->name, b->node->name) : NULL;
    case 1:
        a = rg_plain(r, &turned, depth);
        return a ? rg_call(r, a->exact, "%s.t()", a->node->name) : NULL;
    case 2:
        a = rg_plain(r, &left, depth);
        b = a ? rg_plain(r, &(struct mase_shape){ 2, { s->dim[1], 2 } }, depth) : NULL;
        return b ? rg_call(r, false, "torch.nn.functional.linear(%s, %s)", a->node->name,
                           b->node->name)
                 : NULL;
    default:
        a = rg_plain(r, &wide, depth);
        b = a ? rg_call(r, true, "torch.arange(%d)", (int)s->dim[0]) : NULL;
        return b ? rg_call(r, a->exact, "torch.nn.functional.embedding(%s, %s)", b->node->name,
                           a->node->name)
                 : NULL;
    }
}

/* One call more on what is plain already. */
static inline struct rg_value *rg_plain_call(struct rg *r, const struct mase_shape *s, int depth)
{
    static const char *const unary[] = { "torch.tanh(%s)", "torch.sigmoid(%s)", "torch.neg(%s)",
                                         "torch.exp(%s)",  "torch.sin(%s)",     "torch.relu(%s)",
                                         "torch.abs(%s)" };
    char text[64];
    struct rg_value *a = rg_plain(r, s, depth), *b;
    if (!a)
        return NULL;
    const char *name = a->node->name;
    const bool exact = a->exact;
    switch (rg_pick(r, 9)) {
    case 0:
        return rg_call(r, false, "torch.mul(%s, 0.75)", name);
    case 1:
        b = rg_plain(r, s, depth);
        return b ? rg_call(r, false, "torch.add(%s, %s, alpha=0.5)", name, b->node->name) : NULL;
    case 2:
        b = s->rank ? rg_call(r, false, "%s.mean(-1, True)", name) : NULL;
        return b ? rg_call(r, false, "operator.sub(%s, %s)", name, b->node->name) : NULL;
    case 3:
        return s->rank ? rg_call(r, false, "torch.softmax(%s, %d)", name, rg_pick(r, s->rank))
                       : NULL;
    case 4:
        return s->rank ? rg_call(r, exact, "torch.flip(%s, (%d,))", name, rg_pick(r, s->rank))
                       : NULL;
    case 5:
        return s->rank ? rg_call(r, false, "torch.cumsum(%s, %d)", name, rg_pick(r, s->rank))
                       : NULL;
    case 6:
        return s->rank ? rg_call(r, false, "torch.nn.functional.layer_norm(%s, %s, eps=0.1)", name,
                                 rg_tuple(r, s))
                       : NULL;
    default:
        snprintf(text, sizeof text, unary[rg_pick(r, 7)], name);
        return rg_call(r, false, "%s", text);
    }
}

/* A value of this shape that does not follow the samples. */
static inline struct rg_value *rg_plain(struct rg *r, const struct mase_shape *s, int depth)
{
    struct rg_value *a, *b;
    if (depth <= 0 || r->count > RG_VALUES - 8)
        return rg_attr(r, s, rg_pick(r, 5) == 0);
    switch (rg_pick(r, 6)) {
    case 0:
        if (s->rank == 2 && (a = rg_plain_matrix(r, s, depth - 1)))
            return a;
        break;
    case 1:
        a = rg_attr(r, &(struct mase_shape){ 1, { mase_shape_count(s) } }, false);
        if (a && (a = rg_call(r, true, "%s.reshape(%s)", a->node->name, rg_tuple(r, s))))
            return a;
        break;
    case 2:
        a = rg_plain(r, s, depth - 1);
        b = a && s->rank
                ? rg_call(r, a->exact, "torch.cat((%s, %s), 0)", a->node->name, a->node->name)
                : NULL;
        if (b && (b = rg_call(r, b->exact, "onnx.slice(%s, 0, 1, %d)", b->node->name,
                              1 + (int)s->dim[0])))
            return b;
        break;
    case 3:
    case 4:
        if ((a = rg_plain_call(r, s, depth - 1)))
            return a;
        break;
    default:
        break;
    }
    return rg_attr(r, s, rg_pick(r, 5) == 0);
}

/* ---- formats ---- */

static inline const struct mase_format *rg_format(struct rg *r)
{
    static const char *const others[] = {
        "block_fp(6, 8, NA, [2])",       "block_fp(6, 8, NA, [1, 3])",
        "block_fp(7, 8, NA, [-1, -1])",  "minifloat_denorm(7, 3, NA)",
        "minifloat_ieee(7, 3, NA)",      "log(6, NA)",
        "block_minifloat(7, 3, 4, [3])", "block_log(6, 6, [2])",
    };
    const int count = sizeof others / sizeof *others;
    return rg_pick(r, 3) ? integer_format(6, 2 + rg_pick(r, 3))
                         : format_of(others[rg_pick(r, count)]);
}

static inline void rg_round(struct rg *r, struct rg_value *v)
{
    struct mase_node *n = v->node;
    struct mase_quant q = { .kind = MASE_QUANT_integer };
    if (!r->with_formats || !mase_ops[n->op].quantisable || rg_pick(r, 2))
        return;
    for (int i = 0; i < 3; i++)
        q.operand[i] = rg_format(r);
    if (rg_pick(r, 2))
        q.operand[MASE_DATA_OUT] = integer_format(8, 3);
    if (mase_node_module(n))
        mase_module_set_quant(r->g, mase_node_module(n), &q);
    else
        mase_node_set_quant(n, &q);
    r->has_formats = true;
}

/* ---- proposals: each takes a value and may do nothing ---- */

typedef void rg_fn(struct rg *r, const struct rg_value *v);

/* Mostly a dimension of a sample; now and then the batch, which mixes. */
static inline int rg_axis(struct rg *r, const struct rg_value *v)
{
    const int first = v->follows && rg_pick(r, 16) ? 1 : 0;
    return first < v->shape.rank ? first + rg_pick(r, v->shape.rank - first) : 0;
}

static inline void rg_unary(struct rg *r, const struct rg_value *v)
{
    static const char *const calls[] = {
        "torch.relu(%s)",
        "torch.tanh(%s)",
        "torch.sigmoid(%s)",
        "torch.nn.functional.gelu(%s)",
        "torch.neg(%s)",
        "torch.abs(%s)",
        "torch.sin(%s)",
        "torch.nn.functional.softplus(%s)",
        "torch.nn.functional.leaky_relu(%s, 0.25)",
        "torch.nn.functional.silu(%s)",
        "torch.clamp(%s, -1.03, 1.03)",
        "torch.nn.functional.elu(%s)",
        "torch.erf(%s)",
        "torch.mul(%s, 0.75)",
        "torch.sub(1.5, %s)",
        "%s.contiguous()",
        "%s.float()",
        "torch.nn.functional.dropout(%s, 0.0)",
    };
    char text[96];
    const int i = rg_pick(r, (int)(sizeof calls / sizeof *calls));
    const bool exact = v->exact && (i == 0 || i == 4 || i == 5 || i == 14);
    snprintf(text, sizeof text, calls[i], v->node->name);
    struct rg_value *y = rg_call(r, exact, "%s", text);
    if (y && i == 0 && exact)
        rg_round(r, y);
}

static inline void rg_binary(struct rg *r, const struct rg_value *v)
{
    static const char *const calls[] = { "operator.add(%s, %s)",  "torch.sub(%s, %s)",
                                         "operator.mul(%s, %s)",  "torch.maximum(%s, %s)",
                                         "torch.minimum(%s, %s)", "torch.add(%s, %s, alpha=-0.5)" };
    const struct rg_value *w = &r->v[rg_pick(r, r->count)];
    if (rg_pick(r, 2)) { /* what broadcasts for sure */
        const int skip = v->shape.rank ? rg_pick(r, v->shape.rank) + 1 : 0;
        struct mase_shape s = { .rank = v->shape.rank - skip };
        for (int i = 0; i < s.rank; i++)
            s.dim[i] = rg_pick(r, 3) ? v->shape.dim[i + skip] : 1;
        w = rg_plain(r, &s, 2);
    }
    if (!w)
        return;
    const int i = rg_pick(r, 6);
    const bool exact = v->exact && w->exact && i < 2;
    char text[128];
    if (rg_pick(r, 2)) {
        const struct rg_value *other = v;
        v = w;
        w = other;
    }
    snprintf(text, sizeof text, calls[i], v->node->name, w->node->name);
    const bool operands = v->exact && w->exact && i < 3;
    struct rg_value *y = rg_call(r, exact, "%s", text);
    if (y && operands)
        rg_round(r, y);
}

static inline void rg_divide(struct rg *r, const struct rg_value *v)
{
    const struct rg_value *a =
        rg_call(r, false, "torch.abs(%s)", r->v[rg_pick(r, r->count)].node->name);
    const struct rg_value *b = a ? rg_call(r, false, "operator.add(%s, 1.0)", a->node->name) : NULL;
    const struct rg_value *c = b ? rg_call(r, false, "torch.sqrt(%s)", b->node->name) : NULL;
    if (c)
        rg_call(r, false, "torch.div(%s, %s)", v->node->name, c->node->name);
}

/* A layer of a class, new or one that is there already. */
static inline void rg_shared(struct rg *r, const struct rg_value *v, enum mase_op op,
                             const char *made)
{
    const struct mase_module *m = r->g->modules;
    const bool exact = v->exact;
    for (int skip = rg_pick(r, 3); m && (m->op != op || skip-- > 0 || m->quant);)
        m = m->next;
    if (m) {
        rg_call(r, false, "%s(%s)", m->path, v->node->name);
        return;
    }
    text_module(r->g, "m%d = %s", r->modules, made);
    struct rg_value *y = rg_call(r, false, "m%d(%s)", r->modules++, v->node->name);
    if (y && exact)
        rg_round(r, y);
}

static inline int rg_last(const struct rg_value *v)
{
    return v->shape.rank ? (int)v->shape.dim[v->shape.rank - 1] : 1;
}

static inline void rg_linear(struct rg *r, const struct rg_value *v)
{
    const int in = rg_last(v), out = rg_dim(r);
    char made[64];
    if (rg_pick(r, 2)) {
        snprintf(made, sizeof made, "Linear(%d, %d, bias=%s)", in, out,
                 rg_pick(r, 3) ? "True" : "False");
        rg_shared(r, v, MASE_OP_linear, made);
        return;
    }
    const char *x = v->node->name;
    const bool exact = v->exact;
    const struct rg_value *w = rg_plain(r, &(struct mase_shape){ 2, { out, in } }, 3), *b = NULL;
    if (!w)
        return;
    const char *weight = w->node->name;
    bool operands = exact && w->exact;
    if (rg_pick(r, 3) && (b = rg_plain(r, &(struct mase_shape){ 1, { out } }, 3)))
        operands &= b->exact;
    struct rg_value *y = rg_call(r, false, "torch.nn.functional.linear(%s, %s, %s)", x, weight,
                                 b ? b->node->name : "None");
    if (y && operands)
        rg_round(r, y);
}

static inline void rg_matmul(struct rg *r, const struct rg_value *v)
{
    const char *x = v->node->name;
    const struct mase_shape right = { 2, { rg_last(v), rg_dim(r) } };
    const struct mase_shape left = {
        2, { rg_dim(r), v->shape.rank > 1 ? v->shape.dim[v->shape.rank - 2] : 1 }
    };
    const struct rg_value *w;
    switch (rg_pick(r, 4)) {
    case 0:
        rg_call(r, false, "torch.matmul(%s, %s)", x, r->v[rg_pick(r, r->count)].node->name);
        return;
    case 1:
        if ((w = rg_call(r, v->exact, "%s.transpose(-1, -2)", x)))
            rg_call(r, false, "torch.matmul(%s, %s)", x, w->node->name);
        return;
    case 2:
        if ((w = rg_plain(r, &left, 3)))
            rg_call(r, false, "torch.matmul(%s, %s)", w->node->name, x);
        return;
    default:
        if ((w = rg_plain(r, &right, 3)))
            rg_call(r, false, "torch.matmul(%s, %s)", x, w->node->name);
    }
}

static inline void rg_conv(struct rg *r, const struct rg_value *v)
{
    const int n = v->shape.rank - 2;
    char made[96];
    if (n < 1 || n > 2)
        return;
    const int in = (int)v->shape.dim[1], out = rg_dim(r);
    if (rg_pick(r, 2)) {
        snprintf(made, sizeof made, "Conv%dd(%d, %d, 2, stride=%d, padding=%d)", n, in, out,
                 1 + rg_pick(r, 2), rg_pick(r, 2));
        rg_shared(r, v, n == 1 ? MASE_OP_conv1d : MASE_OP_conv2d, made);
        return;
    }
    const char *x = v->node->name;
    const struct mase_shape s = { 2 + n, { out, in, 2, 2 } };
    const struct rg_value *w = rg_plain(r, &s, 3);
    const char *weight = w ? w->node->name : "";
    const struct rg_value *b = w ? rg_plain(r, &(struct mase_shape){ 1, { out } }, 2) : NULL;
    if (b)
        rg_call(r, false, "torch.conv%dd(%s, %s, %s, padding=1)", n, x, weight, b->node->name);
}

static inline const char *rg_name_or_none(struct rg *r, const struct mase_shape *s)
{
    const struct rg_value *w = rg_pick(r, 3) ? rg_plain(r, s, 3) : NULL;
    return w ? w->node->name : "None";
}

static inline void rg_norm(struct rg *r, const struct rg_value *v)
{
    const char *x = v->node->name;
    char made[96];
    if (v->shape.rank < 2)
        return;
    const int channels = (int)v->shape.dim[1];
    const struct mase_shape c = { 1, { channels } }, last = { 1, { rg_last(v) } };
    const char *w, *b;
    switch (rg_pick(r, 5)) {
    case 0:
        snprintf(made, sizeof made, "LayerNorm(%d, eps=0.1)", rg_last(v));
        rg_shared(r, v, MASE_OP_layer_norm, made);
        return;
    case 1:
        snprintf(made, sizeof made, "BatchNorm1d(%d, eps=0.1, track_running_stats=False)",
                 channels);
        rg_shared(r, v, MASE_OP_batch_norm1d, made);
        return;
    case 2:
        w = rg_name_or_none(r, &last);
        b = rg_name_or_none(r, &last);
        rg_call(r, false, "torch.nn.functional.layer_norm(%s, (%d,), %s, %s, 0.1)", x, rg_last(v),
                w, b);
        return;
    case 3:
        w = rg_name_or_none(r, &c);
        b = rg_name_or_none(r, &c);
        rg_call(r, false, "torch.nn.functional.batch_norm(%s, None, None, %s, %s, True, 0.1, 0.1)",
                x, w, b);
        return;
    default:
        w = rg_name_or_none(r, &c);
        b = rg_name_or_none(r, &c);
        rg_call(r, false, "torch.nn.functional.group_norm(%s, 1, %s, %s, 0.1)", x, w, b);
    }
}

/* Of the pair that max gives, the values. */
static inline void rg_extreme(struct rg *r, const char *x, int axis)
{
    struct mase_node *pair =
        text_call(r->g, "torch.%s(%s, %d)", rg_pick(r, 2) ? "max" : "min", x, axis);
    if (!rg_call(r, false, "operator.getitem(%s, 0)", pair->name))
        mase_graph_erase(r->g, pair);
}

static inline void rg_reduce(struct rg *r, const struct rg_value *v)
{
    static const char *const calls[] = { "%s.sum(%d, %s)", "%s.mean(%d, %s)" };
    char text[64];
    const char *x = v->node->name;
    const int axis = rg_axis(r, v);
    struct rg_value *y;
    switch (rg_pick(r, 6)) {
    case 0:
        rg_call(r, false, "torch.softmax(%s, %d)", x, axis);
        return;
    case 1:
        rg_call(r, false, "torch.log_softmax(%s, %d)", x, axis);
        return;
    case 2:
        rg_call(r, false, "torch.cumsum(%s, %d)", x, axis);
        return;
    case 3:
        rg_extreme(r, x, axis);
        return;
    default:
        snprintf(text, sizeof text, calls[rg_pick(r, 2)], x, axis,
                 rg_pick(r, 2) ? "True" : "False");
        y = rg_call(r, false, "%s", text);
        if (y && !y->follows && v->follows) /* mixed: let something use it */
            rg_call(r, false, "operator.add(%s, %s)", x, y->node->name);
    }
}

static inline void rg_reshape(struct rg *r, const char *x, bool exact)
{
    struct mase_node *n = text_call(r->g, "%s.size(0)", x);
    if (!rg_call(r, exact, "%s.reshape(%s, %d, -1)", x, n->name, rg_dim(r)))
        mase_graph_erase(r->g, n);
}

static inline void rg_layout(struct rg *r, const struct rg_value *v)
{
    const char *x = v->node->name;
    const bool exact = v->exact;
    const int a = rg_axis(r, v), b = rg_axis(r, v);
    switch (rg_pick(r, 12)) {
    case 0:
        rg_call(r, exact, "torch.flatten(%s, %d)", x, rg_pick(r, 16) ? 1 : 0);
        return;
    case 1:
        rg_call(r, exact, "%s.transpose(%d, %d)", x, a, b);
        return;
    case 2:
        rg_call(r, exact, "%s.unsqueeze(%d)", x, a + 1);
        return;
    case 3:
        rg_call(r, exact, "torch.squeeze(%s, %d)", x, a);
        return;
    case 4:
        rg_call(r, exact, "torch.flip(%s, (%d,))", x, a);
        return;
    case 5:
        rg_call(r, exact, "torch.cat((%s, %s), %d)", x, r->v[rg_pick(r, r->count)].node->name, a);
        return;
    case 6:
        rg_call(r, exact, "torch.stack((%s, %s), %d)", x, r->v[rg_pick(r, r->count)].node->name, a);
        return;
    case 7:
        rg_call(r, exact, "onnx.slice(%s, %d, %d, %d)", x, a, rg_pick(r, 2), 2 + rg_pick(r, 3));
        return;
    case 8:
        rg_call(r, exact, "torch.nn.functional.pad(%s, (1, %d))", x, rg_pick(r, 3));
        return;
    case 9:
        rg_call(r, exact, "torch.tile(%s, (2,))", x);
        return;
    case 10:
        rg_reshape(r, x, exact);
        return;
    default:
        if (v->shape.rank == 4)
            rg_call(r, exact, "%s.permute(0, %d, 1, %d)", x, 2 + rg_pick(r, 2), 3 - rg_pick(r, 2));
    }
}

static inline void rg_pool(struct rg *r, const struct rg_value *v)
{
    static const char *const calls[] = { "torch.nn.functional.avg_pool%dd(%s, 2)",
                                         "torch.nn.functional.max_pool%dd(%s, 2)",
                                         "torch.nn.functional.adaptive_avg_pool%dd(%s, 2)" };
    char text[96];
    const int n = v->shape.rank - 2;
    if (n < 1 || n > 2)
        return;
    snprintf(text, sizeof text, calls[rg_pick(r, 3)], n, v->node->name);
    rg_call(r, false, "%s", text);
}

/* Jumps: on exact values alone. */
static inline void rg_choose(struct rg *r, const struct rg_value *v)
{
    const char *x = v->node->name;
    if (!v->exact)
        return;
    const struct rg_value *c = rg_call(r, true, "operator.gt(%s, 0.03125)", x);
    if (!c)
        return;
    const char *condition = c->node->name, *other = r->v[rg_pick(r, r->count)].node->name;
    if (rg_pick(r, 3))
        rg_call(r, false, "torch.where(%s, %s, %s)", condition, x, other);
    else
        rg_call(r, false, "torch.masked_fill(%s, %s, 0.25)", other, condition);
}

static inline void rg_embedding(struct rg *r, const struct rg_value *v)
{
    if (!v->exact)
        return;
    const struct rg_value *a = rg_call(r, true, "torch.abs(%s)", v->node->name);
    const struct rg_value *c =
        a ? rg_call(r, true, "torch.clamp(%s, 0.0, 3.0)", a->node->name) : NULL;
    const struct rg_value *i = c ? rg_call(r, true, "%s.long()", c->node->name) : NULL;
    const char *index = i ? i->node->name : NULL;
    const struct rg_value *w =
        i ? rg_plain(r, &(struct mase_shape){ 2, { 4, rg_dim(r) } }, 3) : NULL;
    if (w)
        rg_call(r, w->exact, "torch.nn.functional.embedding(%s, %s)", index, w->node->name);
}

static inline void rg_attention(struct rg *r, const struct rg_value *v)
{
    const char *x = v->node->name, *y = r->v[rg_pick(r, r->count)].node->name;
    if (v->shape.rank < 3 && rg_pick(r, 8))
        return;
    rg_call(r, false, "torch.nn.functional.scaled_dot_product_attention(%s, %s, %s, is_causal=%s)",
            x, y, y, rg_pick(r, 2) ? "True" : "False");
}

/* Later users of v see what was written; so does the generator, whose v stays in the list. */
static inline void rg_write(struct rg *r, const struct rg_value *v)
{
    struct rg_value *y = rg_call(r, v->exact, "%s.add_(0.5)", v->node->name);
    if (y)
        rg_call(r, false, "operator.mul(%s, %s)", v->node->name, y->node->name);
}

/* A number that depends on how many samples there are. */
static inline void rg_count(struct rg *r, const struct rg_value *v)
{
    if (rg_pick(r, 4))
        return;
    struct mase_node *n = text_call(r->g, "%s.size(0)", v->node->name);
    struct rg_value *y = rg_call(r, false, "torch.div(%s, %s)", v->node->name, n->name);
    if (!y && !n->user_count)
        mase_graph_erase(r->g, n);
}

static const struct {
    int weight;
    rg_fn *propose;
} rg_proposals[] = {
    { 12, rg_unary },    { 12, rg_binary }, { 3, rg_divide }, { 14, rg_linear },
    { 10, rg_matmul },   { 8, rg_conv },    { 8, rg_norm },   { 6, rg_reduce },
    { 12, rg_layout },   { 4, rg_pool },    { 4, rg_choose }, { 3, rg_embedding },
    { 4, rg_attention }, { 2, rg_write },   { 1, rg_count },
};

/* ---- whole networks ---- */

static inline void rg_propose(struct rg *r)
{
    int total = 0, at = 0;
    const int from = r->count > 6 && rg_pick(r, 3) ? r->count - 6 : 0; /* chains, mostly */
    const struct rg_value *v = &r->v[from + rg_pick(r, r->count - from)];
    for (size_t i = 0; i < sizeof rg_proposals / sizeof *rg_proposals; i++)
        total += rg_proposals[i].weight;
    int chosen = rg_pick(r, total);
    while (chosen >= rg_proposals[at].weight)
        chosen -= rg_proposals[at++].weight;
    rg_proposals[at].propose(r, v);
}

static inline void rg_input(struct rg *r, const char *name, const struct mase_shape *s)
{
    struct mase_node *n = mase_build_input(r->g, name, NULL);
    r->input[r->inputs++] =
        (struct mase_input){ .name = n->name, .tensor = { .dtype = MASE_F32, .shape = *s } };
    rg_keep(r, n, true);
}

static inline bool rg_fill(const char *full, struct mase_param *p, void *data)
{
    struct rg *r = data;
    (void)full;
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++)
        mase_tensor_set(&p->tensor, i,
                        (2 * rg_pick(r, 16) - 15) / 16.0 + (double)(i % 64) * 0x1p-13);
    return true;
}

/* A network of about so many calls, its weights filled. Its output follows the samples. */
static inline void rg_make(struct rg *r, int calls)
{
    struct mase_shape s = { 1, { RG_BATCH } };
    r->g = mase_graph_new("random");
    for (int rank = 1 + rg_pick(r, 3); s.rank <= rank;)
        s.dim[s.rank++] = rg_dim(r);
    rg_input(r, "x", &s);
    if (rg_pick(r, 3) == 0) {
        s.dim[s.rank - 1] = rg_pick(r, 2) ? 1 : s.dim[s.rank - 1];
        rg_input(r, "y", &s);
    }
    r->with_formats = rg_pick(r, 3) == 0;
    for (int i = 0; i < calls && r->count < RG_VALUES - 12; i++)
        rg_propose(r);
    int last = r->count - 1;
    while (last > 0 && !r->v[last].follows)
        last--;
    mase_build_output(r->g, r->v[last].node);
    mase_graph_alloc(r->g);
    mase_graph_each_param(r->g, rg_fill, r);
}

static inline void rg_release(struct rg *r)
{
    mase_graph_free(r->g);
    mase_arena_release(&r->arena);
}

#endif /* MASE_TESTS_RANDOM_GRAPH_H */
