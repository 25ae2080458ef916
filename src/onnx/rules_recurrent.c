/*
 * rules_recurrent.c - RNN, LSTM and GRU as PyTorch's layers, whose gates stand in another order.
 *
 *     ONNX                             PyTorch
 *     X (T, N, I)                      the same
 *     W (directions, gates H, I)       weight_ih_l0, weight_ih_l0_reverse (gates H, I)
 *     R (directions, gates H, H)       weight_hh_l0, ...
 *     B (directions, 2 gates H)        bias_ih_l0, bias_hh_l0, ...
 *     Y (T, directions, N, H)          output (T, N, directions H)
 */
#include <string.h>

#include "onnx/import_parts.h"

struct cell {
    enum mase_op op;
    int gates;
    int order[4];                   /* index of PyTorch's gates in ONNX's order */
    const char *const *activations; /* of one direction; no others are supported */
};

static const char *const rnn_activations[] = { "Tanh", NULL };
static const char *const lstm_activations[] = { "Sigmoid", "Tanh", "Tanh", NULL };
static const char *const gru_activations[] = { "Sigmoid", "Tanh", NULL };
static const struct cell rnn = { MASE_OP_rnn, 1, { 0 }, rnn_activations };
static const struct cell lstm = { MASE_OP_lstm, 4, { 0, 2, 3, 1 }, lstm_activations };
static const struct cell gru = { MASE_OP_gru, 3, { 1, 0, 2 }, gru_activations };

struct sequence {
    const struct cell *cell;
    int64_t hidden, inputs;
    int directions;
    bool backwards;
    const struct mase_tensor *w, *r, *b; /* b may be NULL */
};

static bool same_text(const struct mase_onnx_bytes *s, const char *word)
{
    return s->size == strlen(word) && memcmp(s->data, word, s->size) == 0;
}

/* Activations must be the default, in every direction. */
static void check_activations(struct mase_ox_import *im, const struct sequence *s)
{
    const struct mase_onnx_attribute *a = mase_ox_attr(im, "activations");
    int n = 0;
    while (s->cell->activations[n])
        n++;
    bool usual = !a || a->strings.count == n * s->directions;
    for (int i = 0; a && usual && i < a->strings.count; i++)
        usual = same_text(&a->strings.items[i], s->cell->activations[i % n]);
    if (!usual)
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "other activations than the default ones are not computed");
}

static bool has_shape(const struct mase_tensor *t, int64_t a, int64_t b, int64_t c)
{
    return t && t->dtype == MASE_F32 && t->shape.rank == (c ? 3 : 2) && t->shape.dim[0] == a &&
           t->shape.dim[1] == b && (!c || t->shape.dim[2] == c);
}

static bool read_sequence(struct mase_ox_import *im, struct sequence *s, struct mase_node *x)
{
    const char *direction = mase_ox_attr_text(im, "direction", "forward");
    struct mase_ox_value *bias = mase_ox_in(im, 3);
    s->hidden = mase_ox_attr_int(im, "hidden_size", 0);
    s->directions = mase_streq(direction, "bidirectional") ? 2 : 1;
    s->backwards = mase_streq(direction, "reverse");
    s->w = mase_ox_known_tensor(im, mase_ox_in(im, 1));
    s->r = mase_ox_known_tensor(im, mase_ox_in(im, 2));
    s->b = mase_ox_known_tensor(im, bias);
    check_activations(im, s);
    if (im->status)
        return false;
    if (mase_ox_rank(im, x) != 3 || mase_ox_dtype(im, x) != MASE_F32 ||
        mase_ox_attr_int(im, "layout", 0) || mase_ox_in(im, 4) || mase_ox_in(im, 7) || !s->w ||
        !s->r || (bias && !s->b)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "only float32 (steps, samples, features) with known weights is computed, "
                     "without sequence_lens, peepholes and layout 1");
        return false;
    }
    const int64_t rows = s->cell->gates * s->hidden;
    s->inputs = mase_ox_tensor(im, x)->shape.dim[2];
    if (s->hidden < 1 || !has_shape(s->w, s->directions, rows, s->inputs) ||
        !has_shape(s->r, s->directions, rows, s->hidden) ||
        (s->b && !has_shape(s->b, s->directions, 2 * rows, 0))) {
        mase_ox_fail(im, MASE_EVALUE,
                     "its weights are not of the shapes that hidden_size and its input ask for");
        return false;
    }
    return true;
}

/* Fill the rows of one direction in PyTorch's order of gates, from row `from` on. */
static void fill_gates(struct mase_ox_import *im, const struct sequence *s, const char *path,
                       const char *name, const struct mase_tensor *t, int direction, int64_t from,
                       int64_t width)
{
    const int64_t h = s->hidden, rows = s->cell->gates * h;
    const int64_t all = mase_tensor_count(t) / s->directions;
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    struct mase_ox_value *v = mase_new(&im->arena, struct mase_ox_value);
    const struct mase_shape matrix = { 2, { rows, width } }, vector = { 1, { rows } };
    *y = mase_tensor(&im->arena, MASE_F32, width ? &matrix : &vector, true);
    const int64_t step = width ? width : 1;
    for (int g = 0; g < s->cell->gates; g++)
        memcpy(mase_f32(y) + g * h * step,
               mase_f32(t) + direction * all + (from + s->cell->order[g] * h) * step,
               (size_t)(h * step) * sizeof(float));
    *v = (struct mase_ox_value){ .name = name, .data = y, .like = *y };
    mase_ox_fill(im, path,
                 mase_arena_printf(&im->arena, "%s_l0%s", name, direction ? "_reverse" : ""), v,
                 false);
}

static const char *sequence_layer(struct mase_ox_import *im, const struct sequence *s)
{
    static const char *const keys[] = { "bias", "bidirectional" };
    const struct mase_arg args[] = { ARG_INT(s->inputs), ARG_INT(s->hidden) };
    const struct mase_arg values[] = { ARG_BOOL(s->b != NULL), ARG_BOOL(s->directions == 2) };
    const char *path = mase_ox_layer_path(im, NULL, NULL, 0);
    const int64_t rows = s->cell->gates * s->hidden;
    if (!mase_ox_add_layer(im, path, s->cell->op, args, 2, keys, values, 2))
        return NULL;
    for (int d = 0; d < s->directions; d++) {
        fill_gates(im, s, path, "weight_ih", s->w, d, 0, s->inputs);
        fill_gates(im, s, path, "weight_hh", s->r, d, 0, s->hidden);
        if (s->b)
            fill_gates(im, s, path, "bias_ih", s->b, d, 0, 0);
        if (s->b)
            fill_gates(im, s, path, "bias_hh", s->b, d, rows, 0);
    }
    return path;
}

static struct mase_node *flip_steps(struct mase_ox_import *im, struct mase_node *x)
{
    return EMIT(im, MASE_OP_flip, ARG_NODE(x), mase_ox_int_list(im, (int64_t[]){ 0 }, 1));
}

/* (T, N, directions H) as (T, directions, N, H) */
static struct mase_node *split_directions(struct mase_ox_import *im, const struct sequence *s,
                                          struct mase_node *y)
{
    if (s->directions == 1)
        return EMIT(im, MASE_OP_unsqueeze, ARG_NODE(y), ARG_INT(1));
    const struct mase_arg dims[] = { mase_ox_dim(im, y, 0), mase_ox_dim(im, y, 1), ARG_INT(2),
                                     ARG_INT(s->hidden) };
    return mase_ox_permute(im, mase_ox_reshape(im, y, dims, 4), (const int[]){ 0, 2, 1, 3 }, 4);
}

static enum mase_status recur(struct mase_ox_import *im, const struct cell *cell)
{
    struct sequence s = { .cell = cell };
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *h0 = mase_ox_in(im, 5), *c0 = mase_ox_in(im, 6);
    if (im->scope->opset < 7)
        (void)mase_ox_attr_int(im, "output_sequence", 0);
    if (im->status || !read_sequence(im, &s, x))
        return im->status;
    const bool is_lstm = cell->op == MASE_OP_lstm;
    if (is_lstm && (!h0 != !c0))
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "one initial state without the other is not computed");
    struct mase_arg call[2] = { ARG_NODE(s.backwards ? flip_steps(im, x) : x) };
    const struct mase_arg states[2] = { h0 ? ARG_NODE(mase_ox_node_of(im, h0)) : ARG_NONE,
                                        c0 ? ARG_NODE(mase_ox_node_of(im, c0)) : ARG_NONE };
    call[1] = is_lstm ? mase_ox_list(im, states, 2) : states[0];
    const char *path = sequence_layer(im, &s);
    if (!path)
        return im->status;
    struct mase_node *all = mase_ox_emit_target(im, MASE_CALL_MODULE, path, call, h0 ? 2 : 1);
    struct mase_node *last = mase_ox_item(im, all, 1);
    if (mase_ox_has_out(im, 0)) {
        struct mase_node *y = split_directions(im, &s, mase_ox_item(im, all, 0));
        mase_ox_out(im, 0, s.backwards ? flip_steps(im, y) : y);
    }
    if (mase_ox_has_out(im, 1))
        mase_ox_out(im, 1, is_lstm ? mase_ox_item(im, last, 0) : last);
    if (mase_ox_has_out(im, 2))
        mase_ox_out(im, 2, mase_ox_item(im, last, 1));
    return im->status;
}

OX_RULE(rnn)
{
    return recur(im, &rnn);
}

OX_RULE(lstm)
{
    if (mase_ox_attr_int(im, "input_forget", 0))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "input_forget is not computed");
    return recur(im, &lstm);
}

OX_RULE(gru)
{
    if (!mase_ox_attr_int(im, "linear_before_reset", 0))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "linear_before_reset = 0 is not computed");
    return recur(im, &gru);
}
