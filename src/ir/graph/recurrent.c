/*
 * recurrent.c - recurrent layers: their attributes, the names of their parameters, their shapes.
 */
#include "ir/graph/recurrent.h"

#include "ir/graph/bind_call.h"
#include "ir/shape/shape.h"

enum { MOST_LAYERS = 1000 };

/* ---- attributes ---- */

static const struct {
    enum mase_op op;
    enum mase_cell cell;
    bool single;
    int gates;
} kinds[] = {
    { MASE_OP_rnn, MASE_CELL_TANH, false, 1 },  { MASE_OP_rnn_cell, MASE_CELL_TANH, true, 1 },
    { MASE_OP_lstm, MASE_CELL_LSTM, false, 4 }, { MASE_OP_lstm_cell, MASE_CELL_LSTM, true, 4 },
    { MASE_OP_gru, MASE_CELL_GRU, false, 3 },   { MASE_OP_gru_cell, MASE_CELL_GRU, true, 3 },
};

/* Source of attributes: a layer, or a call in a program. */
struct source {
    enum mase_op op;
    const struct mase_module *module; /* NULL: */
    const struct mase_call *call;
};

/* NULL when there is no such attribute. */
static const struct mase_arg *attr(const struct source *m, const char *name)
{
    if (!m->module)
        return mase_call_arg(m->call, name);
    const int i = mase_sig_find(mase_op_ctor_sig(m->op), name);
    return i >= 0 ? &m->module->attrs[i] : NULL;
}

static enum mase_status read_int(const struct source *m, const char *name, int64_t min, int64_t max,
                                 int64_t *out, struct mase_err *err)
{
    const struct mase_arg *v = attr(m, name);
    if (!v)
        return MASE_OK;
    if (v->kind == MASE_ARG_INT && v->i >= min && v->i <= max) {
        *out = v->i;
        return MASE_OK;
    }
    struct mase_str text = { 0 };
    mase_arg_print(&text, v, true);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "%s = %s must be an integer from %lld to %lld", name,
                  mase_str_text(&text), (long long)min, (long long)max);
    mase_str_release(&text);
    return st;
}

static enum mase_status read_nonlinearity(struct mase_recurrent *r, const struct source *m,
                                          struct mase_err *err)
{
    const struct mase_arg *v = attr(m, "nonlinearity");
    const char *name = v && v->kind == MASE_ARG_TEXT ? v->s : "tanh";
    if (mase_streq(name, "relu"))
        r->cell = MASE_CELL_RELU;
    else if (!mase_streq(name, "tanh") || (v && v->kind != MASE_ARG_TEXT))
        return mase_fail(err, MASE_EVALUE, "nonlinearity must be 'tanh' or 'relu'");
    return MASE_OK;
}

static enum mase_status read_dropout(struct mase_recurrent *r, const struct source *m,
                                     struct mase_err *err)
{
    const struct mase_arg *v = attr(m, "dropout");
    if (v && (!mase_arg_number(v, &r->dropout) || !(r->dropout >= 0.0 && r->dropout <= 1.0)))
        return mase_fail(err, MASE_EVALUE, "dropout must be a number from 0 to 1");
    return MASE_OK;
}

static bool flag(const struct source *m, const char *name)
{
    const struct mase_arg *v = attr(m, name);
    return v && mase_arg_truthy(v);
}

static enum mase_status read_layer(struct mase_recurrent *r, const struct source *m,
                                   struct mase_err *err)
{
    int64_t layers = 1, projected = 0;
    *r = (struct mase_recurrent){ .bias = flag(m, "bias"), .batch_first = flag(m, "batch_first") };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].op == m->op) {
            r->cell = kinds[i].cell;
            r->single = kinds[i].single;
            r->gates = kinds[i].gates;
        }
    MASE_TRY(read_int(m, "input_size", 1, INT32_MAX, &r->input, err));
    MASE_TRY(read_int(m, "hidden_size", 1, INT32_MAX / 4, &r->hidden, err));
    MASE_TRY(read_int(m, "num_layers", 1, MOST_LAYERS, &layers, err));
    MASE_TRY(read_int(m, "proj_size", 0, r->hidden - 1, &projected, err));
    MASE_TRY(read_nonlinearity(r, m, err));
    MASE_TRY(read_dropout(r, m, err));
    r->layers = (int)layers;
    r->directions = flag(m, "bidirectional") ? 2 : 1;
    r->state = projected ? projected : r->hidden;
    return MASE_OK;
}

enum mase_status mase_recurrent_read(struct mase_recurrent *r, const struct mase_module *m,
                                     struct mase_err *err)
{
    return read_layer(r, &(struct source){ .op = m->op, .module = m }, err);
}

const char *mase_recurrent_name(struct mase_arena *a, const struct mase_recurrent *r,
                                const char *what, int layer, int direction)
{
    if (r->single)
        return mase_arena_strdup(a, what);
    return mase_arena_printf(a, "%s_l%d%s", what, layer, direction ? "_reverse" : "");
}

int mase_recurrent_params(struct mase_recurrent_param *p, const struct mase_recurrent *r, int layer)
{
    const int64_t rows = r->gates * r->hidden;
    int n = 0;
    p[n++] = (struct mase_recurrent_param){ "weight_ih",
                                            { 2, { rows, mase_recurrent_features(r, layer) } } };
    p[n++] = (struct mase_recurrent_param){ "weight_hh", { 2, { rows, r->state } } };
    if (r->bias) {
        p[n++] = (struct mase_recurrent_param){ "bias_ih", { 1, { rows } } };
        p[n++] = (struct mase_recurrent_param){ "bias_hh", { 1, { rows } } };
    }
    if (r->state != r->hidden)
        p[n++] = (struct mase_recurrent_param){ "weight_hr", { 2, { r->state, r->hidden } } };
    return n;
}

int64_t mase_recurrent_features(const struct mase_recurrent *r, int layer)
{
    return layer ? r->state * r->directions : r->input;
}

/* ---- calls ---- */

/* Sizes from the shape of x. */
static enum mase_status read_input(struct mase_sequence *q, const struct mase_call *c,
                                   struct mase_err *err)
{
    const struct mase_recurrent *r = &q->layer;
    MASE_TRY(mase_call_need(c, &q->x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, q->x, "input", err));
    const struct mase_shape *s = &q->x->shape;
    const int full = r->single ? 2 : 3;
    if (s->rank != full && s->rank != full - 1)
        return mase_call_fail(c, err, "input must have %d or %d dimensions, got %s", full - 1, full,
                              mase_show_shape(c, s));
    if (s->dim[s->rank - 1] != r->input)
        return mase_call_fail(c, err, "input %s must end in input_size = %lld features",
                              mase_show_shape(c, s), (long long)r->input);
    q->batched = s->rank == full;
    const int batch = r->single || r->batch_first ? 0 : 1;
    q->samples = q->batched ? s->dim[batch] : 1;
    q->steps = r->single ? 1 : s->dim[q->batched ? 1 - batch : 0];
    if (q->steps < 1)
        return mase_call_fail(c, err, "input %s has no steps", mase_show_shape(c, s));
    return MASE_OK;
}

static struct mase_shape state_shape(const struct mase_sequence *q, int64_t features)
{
    struct mase_shape s = { 0 };
    if (!q->layer.single)
        mase_shape_push(&s, (int64_t)q->layer.layers * q->layer.directions);
    if (q->batched)
        mase_shape_push(&s, q->samples);
    mase_shape_push(&s, features);
    return s;
}

static enum mase_status read_state(const struct mase_sequence *q, const struct mase_call *c,
                                   const struct mase_arg *given, int64_t features,
                                   const struct mase_tensor **out, struct mase_err *err)
{
    const struct mase_shape want = state_shape(q, features);
    *out = mase_arg_tensor(given);
    if (*out && (*out)->dtype == q->x->dtype && mase_shape_equal(&(*out)->shape, &want))
        return MASE_OK;
    return mase_call_fail(c, err, "a state of hx must be %s%s, got %s",
                          mase_dtypes[q->x->dtype].name, mase_show_shape(c, &want),
                          mase_show_arg(c, given));
}

static enum mase_status read_states(struct mase_sequence *q, const struct mase_call *c,
                                    struct mase_err *err)
{
    const struct mase_arg *hx = mase_call_arg(c, "hx");
    if (!mase_arg_present(hx))
        return MASE_OK;
    if (q->layer.cell != MASE_CELL_LSTM)
        return read_state(q, c, hx, q->layer.state, &q->h, err);
    if (!mase_arg_is_seq(hx) || hx->count != 2)
        return mase_call_fail(c, err, "hx must be two tensors (h, c), got %s",
                              mase_show_arg(c, hx));
    MASE_TRY(read_state(q, c, &hx->items[0], q->layer.state, &q->h, err));
    return read_state(q, c, &hx->items[1], q->layer.hidden, &q->c, err);
}

/* Its place among all parameters. */
static int position(const struct mase_recurrent *r, const char *what, int layer, int direction)
{
    struct mase_recurrent_param list[MASE_RECURRENT_PARAMS];
    const int count = mase_recurrent_params(list, r, layer);
    for (int i = 0; i < count; i++)
        if (mase_streq(list[i].what, what))
            return (layer * r->directions + direction) * count + i;
    return -1;
}

const struct mase_tensor *mase_sequence_param(const struct mase_sequence *q,
                                              const struct mase_call *c, const char *what,
                                              int layer, int direction)
{
    if (c->module) {
        const struct mase_param *p = mase_module_param(
            c->module, mase_recurrent_name(c->arena, &q->layer, what, layer, direction));
        return p ? &p->tensor : NULL;
    }
    const struct mase_arg *all = mase_call_arg(c, "weights");
    const int i = position(&q->layer, what, layer, direction);
    return i >= 0 && mase_arg_is_seq(all) && i < all->count ? mase_arg_tensor(&all->items[i])
                                                            : NULL;
}

/* The layer has the parameters that its attributes call for. */
static enum mase_status check_params(const struct mase_sequence *q, const struct mase_call *c,
                                     struct mase_err *err)
{
    const struct mase_recurrent *r = &q->layer;
    if (c->module && mase_arg_present(mase_call_arg(c, "weights")))
        return mase_call_fail(c, err, "takes an input and a state, no weights");
    for (int i = 0; i < r->layers * r->directions; i++) {
        struct mase_recurrent_param want[MASE_RECURRENT_PARAMS];
        const int layer = i / r->directions, direction = i % r->directions;
        const int count = mase_recurrent_params(want, r, layer);
        for (int k = 0; k < count; k++) {
            const struct mase_tensor *p = mase_sequence_param(q, c, want[k].what, layer, direction);
            if (!p || !mase_shape_equal(&p->shape, &want[k].shape))
                return mase_call_fail(
                    c, err, "needs a parameter %s of %s",
                    mase_recurrent_name(c->arena, r, want[k].what, layer, direction),
                    mase_show_shape(c, &want[k].shape));
        }
    }
    return MASE_OK;
}

enum mase_status mase_sequence_read(struct mase_sequence *q, const struct mase_call *c,
                                    struct mase_err *err)
{
    *q = (struct mase_sequence){ 0 };
    const struct source from = { c->node->op, c->module, c };
    MASE_TRY(read_layer(&q->layer, &from, err));
    MASE_TRY(check_params(q, c, err));
    MASE_TRY(read_input(q, c, err));
    return read_states(q, c, err);
}

/* ---- the shape rule ---- */

static struct mase_arg new_tensor(const struct mase_call *c, enum mase_dtype type,
                                  const struct mase_shape *s)
{
    const struct mase_tensor t = mase_tensor(c->arena, type, s, false);
    return (struct mase_arg){ .kind = MASE_ARG_TENSOR,
                              .tensor = mase_arena_memdup(c->arena, &t, sizeof t) };
}

static struct mase_arg pair(const struct mase_call *c, struct mase_arg a, struct mase_arg b)
{
    return mase_arg_seq(c->arena, MASE_ARG_TUPLE, (struct mase_arg[]){ a, b }, 2);
}

/* (output, h) or (output, (h, c)); of a cell h or (h, c). */
enum mase_status mase_shape_recurrent(struct mase_call *c, struct mase_err *err)
{
    struct mase_sequence q;
    MASE_TRY(mase_sequence_read(&q, c, err));
    const struct mase_recurrent *r = &q.layer;
    struct mase_shape out = q.x->shape;
    out.dim[out.rank - 1] = r->state * r->directions;
    const struct mase_shape h = state_shape(&q, r->state), cell = state_shape(&q, r->hidden);
    if (mase_call_count(c, &out) < 0 || mase_call_count(c, &h) < 0 || mase_call_count(c, &cell) < 0)
        return mase_call_fail(c, err, "its result %s is too large", mase_show_shape(c, &out));
    struct mase_arg state = new_tensor(c, q.x->dtype, &h);
    if (r->cell == MASE_CELL_LSTM)
        state = pair(c, state, new_tensor(c, q.x->dtype, &cell));
    c->result = r->single ? state : pair(c, new_tensor(c, q.x->dtype, &out), state);
    return MASE_OK;
}
