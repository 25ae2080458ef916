/*
 * width_layers.c - layers whose attributes are widths: what they take, what they give.
 */
#include "ir/graph/bind_call.h"
#include "ir/graph/recurrent.h"
#include "ir/shape/shape.h"
#include "pass/support.h"
#include "pass/widths/width_parts.h"

/* clang-format off */
static const struct mase_width_row rows[] = {
    { MASE_OP_linear, "in_features", "out_features", 0 },
    { MASE_OP_conv1d, "in_channels", "out_channels", 1 },
    { MASE_OP_conv2d, "in_channels", "out_channels", 2 },
    { MASE_OP_conv3d, "in_channels", "out_channels", 3 },
    { MASE_OP_convtranspose1d, "in_channels", "out_channels", 1 },
    { MASE_OP_convtranspose2d, "in_channels", "out_channels", 2 },
    { MASE_OP_convtranspose3d, "in_channels", "out_channels", 3 },
    { MASE_OP_rnn, "input_size", "hidden_size", 0 },
    { MASE_OP_lstm, "input_size", "hidden_size", 0 },
    { MASE_OP_gru, "input_size", "hidden_size", 0 },
    { MASE_OP_rnn_cell, "input_size", "hidden_size", 0 },
    { MASE_OP_lstm_cell, "input_size", "hidden_size", 0 },
    { MASE_OP_gru_cell, "input_size", "hidden_size", 0 },
    { MASE_OP_embedding, NULL, "embedding_dim", 0 },
    { MASE_OP_batch_norm1d, "num_features", NULL, -1 },
    { MASE_OP_batch_norm2d, "num_features", NULL, -1 },
    { MASE_OP_batch_norm3d, "num_features", NULL, -1 },
    { MASE_OP_instance_norm1d, "num_features", NULL, 1 },
    { MASE_OP_instance_norm2d, "num_features", NULL, 2 },
    { MASE_OP_instance_norm3d, "num_features", NULL, 3 },
    { MASE_OP_group_norm, "num_channels", NULL, -1 },
    { MASE_OP_prelu, "num_parameters", NULL, -1 },
    { MASE_OP_layer_norm, "normalized_shape", NULL, 0 },
    { MASE_OP_rms_norm, "normalized_shape", NULL, 0 },
};
/* clang-format on */

static int64_t attr(const struct mase_module *m, const char *name)
{
    return mase_module_attr(m, name)->i;
}

/* One slope for all channels has none to count. */
static bool counts_channels(const struct mase_module *m)
{
    return m->op != MASE_OP_prelu || attr(m, "num_parameters") > 1;
}

const struct mase_width_row *mase_width_row_of_op(enum mase_op op)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].op == op)
            return &rows[i];
    return NULL;
}

const struct mase_width_row *mase_width_row_of(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    return m && counts_channels(m) ? mase_width_row_of_op(m->op) : NULL;
}

bool mase_width_is_unit(const struct mase_width_layer *l)
{
    return l->row->in && l->row->out && !l->gives;
}

struct mase_width_layer *mase_width_layer_of(const struct mase_widths *w, const char *path)
{
    for (int i = 0; i < w->layers; i++)
        if (mase_streq(w->layer[i].path, path))
            return &w->layer[i];
    return NULL;
}

/* ---- what arrives ---- */

/* The dimension of the channels of a tensor; -1: it has none. */
static int channel_axis(const struct mase_width_row *row, const struct mase_width_flow *x)
{
    return row->spatial < 0 ? (x->rank > 1 ? 1 : -1) : x->rank - 1 - row->spatial;
}

/* How many lengths a layer takes: those of normalized_shape, or one. */
static int lengths_taken(const struct mase_module *m, const struct mase_width_row *row)
{
    const struct mase_arg *in = row->in ? mase_module_attr(m, row->in) : NULL;
    return !in ? 0 : in->kind == MASE_ARG_TUPLE ? in->count : 1;
}

static bool is_depthwise(const struct mase_module *m, const struct mase_width_row *row)
{
    const bool has = mase_sig_find(mase_op_ctor_sig(m->op), "groups") >= 0;
    return has && attr(m, "groups") > 1 && attr(m, "groups") == attr(m, row->in) &&
           attr(m, row->out) % attr(m, row->in) == 0;
}

static struct mase_width_layer *new_layer(struct mase_width_walk *k, const struct mase_node *n,
                                          const struct mase_module *m)
{
    struct mase_widths *w = k->w;
    w->layer = mase_arena_grow(&w->arena, w->layer, w->layers, &w->layer_cap, sizeof *w->layer);
    struct mase_width_layer *l = &w->layer[w->layers++];
    *l = (struct mase_width_layer){ .path = mase_arena_strdup(&w->arena, m->path),
                                    .node = mase_arena_strdup(&w->arena, n->name),
                                    .row = mase_width_row_of(n),
                                    .takes = -1 };
    if (l->row->out && l->row->in && is_depthwise(m, l->row))
        l->gives = attr(m, l->row->out) / attr(m, l->row->in);
    if (mase_width_is_unit(l))
        l->takes = attr(m, l->row->in);
    if (l->row->out && !l->gives)
        l->var = mase_width_new_var(w, l->node, attr(m, l->row->out));
    if (mase_module_is_shared(k->g, m))
        l->shared =
            mase_arena_printf(&w->arena, "the weights of %s are used elsewhere, too", n->name);
    if (l->var)
        w->var[l->var].fixed = l->shared;
    return l;
}

/* The lengths that the layer takes. Of several calls they are the same. */
static bool take(struct mase_width_walk *k, struct mase_width_layer *l, const struct mase_node *n)
{
    const struct mase_width_flow *x = mase_width_flow_of(k, n->inputs[0]);
    const int count = lengths_taken(mase_node_module(n), l->row);
    const int axis = channel_axis(l->row, x) - count + 1;
    const bool first = !l->in;
    if (count && axis < 0)
        return false;
    if (first)
        l->in = mase_new_array(&k->w->arena, struct mase_width_sum, (size_t)count);
    for (int i = 0; i < count; i++) {
        if (first)
            l->in[i] = x->dim[axis + i];
        else
            mase_width_unite(k->w, &l->in[i], &x->dim[axis + i], n);
        if (l->shared)
            mase_width_fix(k->w, &l->in[i], l->shared);
    }
    l->ins = count;
    return true;
}

/* ---- what is given ---- */

/* Windows over lengths that depend on a width are not followed. */
static void fix_windows(struct mase_width_walk *k, const struct mase_width_flow *x, int axis,
                        const struct mase_node *n)
{
    const char *why = mase_arena_printf(&k->w->arena, "%s has windows over it", n->name);
    for (int d = axis + 1; d < x->rank; d++)
        mase_width_fix(k->w, &x->dim[d], why);
}

/* The sequence, the last states, and of an LSTM its cells: in the order of the result's tensors. */
struct states {
    struct mase_width_walk *k;
    const struct mase_node *node;
    struct mase_width_sum hidden;
    struct mase_recurrent layer;
    int seen;
};

static void give_lengths(struct states *s, struct mase_width_flow *out)
{
    for (int i = 0; i < out->count; i++)
        give_lengths(s, &out->item[i]);
    if (!out->rank)
        return;
    const int first = s->layer.single ? 1 : 0; /* a cell has no sequence */
    const int place = s->seen++ + first;
    struct mase_width_sum *last = &out->dim[out->rank - 1];
    if (place == 0)
        *last = mase_width_times(s->k->w, &s->hidden, s->layer.directions, 1);
    else if (place == 1 || s->layer.state == s->layer.hidden)
        *last = s->hidden;
}

static void unite_initial(struct states *s, const struct mase_width_flow *hx)
{
    for (int i = 0; i < hx->count; i++)
        unite_initial(s, &hx->item[i]);
    if (hx->rank)
        mase_width_unite(s->k->w, &s->hidden, &hx->dim[hx->rank - 1], s->node);
}

/* hx, the second argument: a tensor, or a tuple of nodes. */
static void unite_states(struct states *s, const struct mase_node *n)
{
    for (int i = 1; i < n->input_count; i++)
        unite_initial(s, mase_width_flow_of(s->k, n->inputs[i]));
}

static bool give_states(struct mase_width_walk *k, struct mase_width_flow *out,
                        const struct mase_node *n, const struct mase_width_layer *l)
{
    struct states s = { .k = k, .node = n, .hidden = mase_width_variable(k->w, l->var) };
    struct mase_err why;
    if (mase_recurrent_read(&s.layer, mase_node_module(n), &why))
        return false;
    if (s.layer.state != s.layer.hidden) {
        mase_width_fix(k->w, &s.hidden, "it projects its hidden units");
        return true;
    }
    give_lengths(&s, out);
    unite_states(&s, n);
    return true;
}

/* Of layers with weights the channels are those of the layer; what stands before them passes. */
static void give_channels(struct mase_width_walk *k, struct mase_width_flow *out,
                          const struct mase_node *n, const struct mase_width_layer *l)
{
    const struct mase_width_flow *x = mase_width_flow_of(k, n->inputs[0]);
    const int axis = l->ins ? channel_axis(l->row, x) : out->rank - 1;
    fix_windows(k, x, axis, n);
    for (int d = 0; d < axis; d++)
        out->dim[d] = x->dim[d];
    out->dim[axis] = l->gives ? mase_width_times(k->w, &l->in[0], l->gives, 1)
                              : mase_width_variable(k->w, l->var);
}

bool mase_width_through_layer(struct mase_width_walk *k, struct mase_width_flow *out,
                              const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    struct mase_width_layer *l = mase_width_layer_of(k->w, m->path);
    l = l ? l : new_layer(k, n, m);
    if (!take(k, l, n)) {
        const struct mase_width_sum own = mase_width_variable(k->w, l->var);
        mase_width_fix(k->w, &own, "its operand has no channels");
        return false;
    }
    if (mase_op_is_recurrent(m->op))
        return give_states(k, out, n, l);
    if (l->row->out)
        give_channels(k, out, n, l);
    else
        *out = *mase_width_flow_of(k, n->inputs[0]);
    return true;
}
