/*
 * source_ask.c - answer the tracer's questions about the shapes of the nodes traced so far.
 *
 *     ?{"from": 12, "modules": [...], "attrs": [...], "nodes": [...]}     what is new since node 12
 *     [{"shape": ["batch", 64, 8, 8], "dtype": "float32"}, [{"shape": [4]}, null], null]
 *                                                                         of nodes 12, 13, 14
 *
 * Python decides by shapes: if x.size(2) % 2. The rules are those of the operations, applied to the
 * batches that stand for any (type.h): a length that is the same for all is known, one that is the
 * batch's is called so, any other is null. So is a result that is no tensor: the tracer computes
 * with numbers itself, since it must know which of them depend on the batch. Each node is inferred
 * once, for each type that samples may have and that is asked about.
 */
#include <mase/value.h>

#include "base/alloc.h"
#include "frontend/source_read.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"

/* Until samples are known to be numbers or indices, both are tried, since an operation may take
 * only one. Bit i: input i has indices; none, all, and mixtures of the first three inputs. */
static const unsigned indices[] = { 0, ~0u, 2, 1, 4, 3, 5, 6 };
enum { BATCHES = MASE_BATCH_SIZES, TYPES = sizeof indices / sizeof indices[0] };

struct mase_answers {
    struct mase_arena arena;
    struct mase_values v[TYPES][BATCHES];
};

static int types_tried(const struct mase_question *q)
{
    return q->data->more_count || q->data->other_count ? TYPES : 2;
}

/* ---- shapes ---- */

/* Does it multiply integers by float weights? PyTorch refuses that. */
static bool mixes_types(const struct mase_call *c)
{
    bool integers = false, floats = false;
    for (int i = 0; i < c->sig->count; i++) {
        const struct mase_tensor *t = mase_arg_tensor(&c->param[i]);
        integers |= t && c->sig->param[i].role == 'x' && !mase_dtype_is_float(t->dtype);
        floats |= t && c->sig->param[i].role == 'w' && mase_dtype_is_float(t->dtype);
    }
    return integers && floats;
}

/* Would squeeze() remove the batch dimension of a single sample? Then its shape holds for no other
 * batch. */
static bool drops_single_sample(const struct mase_call *c, int64_t batch)
{
    if (c->node->op != MASE_OP_squeeze)
        return false;
    struct mase_call one = *c;
    struct mase_tensor x = *c->param[0].tensor;
    struct mase_err err;
    for (int d = 0; d < x.shape.rank; d++)
        x.shape.dim[d] = x.shape.dim[d] == batch ? 1 : x.shape.dim[d];
    one.param[0].tensor = &x;
    return mase_call_apply_rule(&one, &err) ||
           one.result.tensor->shape.rank != c->result.tensor->shape.rank;
}

static enum mase_status infer_step(struct mase_call *c, void *data, struct mase_err *err)
{
    const int64_t *batch = data;
    if (mixes_types(c))
        return mase_call_fail(c, err, "takes no integers");
    MASE_TRY(mase_call_infer(c, err));
    if (drops_single_sample(c, *batch))
        return mase_call_fail(c, err, "drops the samples where there is one");
    return MASE_OK;
}

/* A batch of samples for a placeholder. */
static struct mase_input input_of(const struct mase_node *n, enum mase_dtype dtype,
                                  const struct mase_shape *sample, int64_t batch)
{
    struct mase_input in = { .tensor = { .dtype = dtype, .shape = *sample } };
    struct mase_shape *s = &in.tensor.shape;
    for (int i = s->rank++; i > 0; i--)
        s->dim[i] = s->dim[i - 1];
    s->dim[0] = batch;
    in.name = n && n->kind == MASE_PLACEHOLDER ? n->name : "";
    return in;
}

/* Infer the new nodes. A node without a shape rule, or that violates it, gets no result. */
static void infer(struct mase_values *v, const struct mase_question *q, int size, unsigned is_index)
{
    int64_t batch = mase_batch_sizes[size];
    const struct mase_node *first = q->r.g->first;
    struct mase_input in[1 + MASE_MORE_INPUTS];
    struct mase_err err;
    int count = 0;
    if (q->target && first) {
        in[count++] = input_of(first, MASE_F32, &q->data->sample, batch);
        in[count++] = input_of(first->next, q->target->dtype, &q->target->shape, batch);
    }
    for (const struct mase_node *n = first; n && !q->target && count <= MASE_MORE_INPUTS;
         n = n->next) {
        const struct mase_shape *own =
            n->kind == MASE_PLACEHOLDER ? mase_model_sample(q->data, n->target, count) : NULL;
        if (!own)
            break;
        in[count] = input_of(n, is_index >> count & 1 ? MASE_I64 : MASE_F32, own, batch);
        count++;
    }
    const struct mase_walk_plan plan = { .inputs = in,
                                         .input_count = count,
                                         .any_batch = mase_batch_is_any(size),
                                         .goes_on = true,
                                         .step = infer_step,
                                         .data = &batch };
    if (mase_values_extend(v, q->r.g, &plan, &err)) /* the last node has its status */
        *v = (struct mase_values){ .arena = v->arena, .index.arena = v->arena };
}

/* The results of node n for samples of type t. */
static void look_up(const struct mase_arg *of[BATCHES], const struct mase_question *q, int t,
                    const struct mase_node *n)
{
    for (int i = 0; i < BATCHES; i++) {
        struct mase_values *v = &q->known->v[t][i];
        if (v->count < q->r.g->node_count)
            infer(v, q, i, indices[t]);
        of[i] = mase_values_get(v, n);
    }
}

/* ---- the answer ---- */

static void print_length(struct mase_str *out, const int64_t n[BATCHES])
{
    bool is_same = true, is_batch = true;
    for (int i = 0; i < BATCHES; i++) {
        is_same = is_same && n[i] == n[0];
        is_batch = is_batch && n[i] == mase_batch_sizes[i];
    }
    if (is_same)
        mase_str_printf(out, "%lld", (long long)n[0]);
    else
        mase_str_add(out, is_batch ? "\"batch\"" : "null");
}

/* dtype: MASE_DTYPE_COUNT if it depends on the type of the samples. */
static void print_shape(struct mase_str *out, const struct mase_arg *const v[BATCHES],
                        enum mase_dtype dtype)
{
    mase_str_add(out, "{\"shape\": [");
    for (int d = 0; d < v[0]->tensor->shape.rank; d++) {
        int64_t n[BATCHES];
        for (int i = 0; i < BATCHES; i++)
            n[i] = v[i]->tensor->shape.dim[d];
        mase_str_add(out, d ? ", " : "");
        print_length(out, n);
    }
    mase_str_add(out, "]");
    if (dtype != MASE_DTYPE_COUNT)
        mase_str_printf(out, ", \"dtype\": \"%s\"", mase_dtypes[dtype].torch + sizeof "torch." - 1);
    mase_str_add(out, "}");
}

static bool is_sequence(const struct mase_arg *v)
{
    return v->kind == MASE_ARG_TUPLE || v->kind == MASE_ARG_LIST;
}

/* Do the results have one form for all batches? */
static bool agree(const struct mase_arg *const v[BATCHES])
{
    for (int i = 0; i < BATCHES; i++) {
        if (!v[i] || v[i]->kind != v[0]->kind)
            return false;
        if (v[i]->kind == MASE_ARG_TENSOR ? v[i]->tensor->shape.rank != v[0]->tensor->shape.rank
                                          : !is_sequence(v[i]) || v[i]->count != v[0]->count)
            return false;
    }
    return true;
}

static void print_result(struct mase_str *out, const struct mase_arg *const v[BATCHES],
                         enum mase_dtype dtype)
{
    if (!agree(v)) {
        mase_str_add(out, "null");
        return;
    }
    if (v[0]->kind == MASE_ARG_TENSOR) {
        print_shape(out, v, dtype);
        return;
    }
    mase_str_add(out, "[");
    for (int k = 0; k < v[0]->count; k++) {
        const struct mase_arg *inner[BATCHES];
        for (int i = 0; i < BATCHES; i++)
            inner[i] = &v[i]->items[k];
        mase_str_add(out, k ? ", " : "");
        print_result(out, inner, MASE_DTYPE_COUNT);
    }
    mase_str_add(out, "]");
}

/* The type of a tensor, if it does not depend on the type of the samples. Samples of rank 3 are
 * pictures, which are numbers. of: the results for the first type that gives some. */
static enum mase_dtype sure_type(const struct mase_question *q, const struct mase_node *n,
                                 const struct mase_arg *const of[BATCHES], int first)
{
    const int tried = q->data->sample.rank < 3 ? types_tried(q) : 0;
    if (of[0]->kind != MASE_ARG_TENSOR)
        return MASE_DTYPE_COUNT;
    for (int t = first + 1; t < tried; t++) {
        const struct mase_arg *other[BATCHES];
        look_up(other, q, t, n);
        if (agree(other) && other[0]->kind == MASE_ARG_TENSOR &&
            other[0]->tensor->dtype != of[0]->tensor->dtype)
            return MASE_DTYPE_COUNT;
    }
    return of[0]->tensor->dtype;
}

static void print_node(struct mase_str *out, const struct mase_question *q,
                       const struct mase_node *n)
{
    const struct mase_arg *of[BATCHES];
    int t = 0;
    look_up(of, q, t, n);
    while (!agree(of) && t < types_tried(q) - 1)
        look_up(of, q, ++t, n);
    print_result(out, of, agree(of) ? sure_type(q, n, of, t) : MASE_DTYPE_COUNT);
}

static void print_results(struct mase_str *out, struct mase_question *q, int from)
{
    if (!q->known) {
        q->known = mase_xcalloc(sizeof *q->known);
        for (int k = 0; k < TYPES * BATCHES; k++)
            q->known->v[k / BATCHES][k % BATCHES] =
                (struct mase_values){ .arena = &q->known->arena, .index.arena = &q->known->arena };
    }
    for (int k = from; k < q->r.count; k++) {
        mase_str_add(out, k > from ? ", " : "");
        print_node(out, q, q->r.nodes[k]);
    }
}

/* ---- questions ---- */

void mase_question_release(struct mase_question *q)
{
    mase_graph_free(q->r.g);
    mase_arena_release(&q->r.scratch);
    if (q->known)
        mase_arena_release(&q->known->arena);
    mase_xfree(q->known);
    q->known = NULL;
    q->r = (struct reading){ .path = q->r.path };
    q->is_lost = false;
}

/* Add the new nodes to the graph; a new trace starts a new graph. */
static enum mase_status extend(struct mase_question *q, int *from, const char *text, size_t size,
                               struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_value *root = NULL;
    enum mase_status st = mase_json_parse(&root, &a, text, size, "the tracer's question", err);
    const struct mase_value *first = st ? NULL : mase_value_get(root, "from");
    if (first && first->kind == MASE_INT && first->i == 0)
        mase_question_release(q);
    if (!q->r.g)
        q->r.g = mase_graph_new(NULL);
    q->r.err = err;
    *from = q->r.count;
    if (!st && (!first || first->kind != MASE_INT || first->i != q->r.count || q->is_lost))
        st = mase_reading_malformed(&q->r, "question");
    if (!st)
        st = mase_reading_extend(&q->r, root);
    q->is_lost = st != MASE_OK;
    mase_arena_release(&a);
    return st;
}

void mase_question_reply(struct mase_str *reply, const char *question, size_t size, void *data)
{
    struct mase_question *q = data;
    struct mase_err err;
    int from = 0;
    mase_str_add(reply, "[");
    if (!extend(q, &from, question, size, &err) && q->data->sample.rank < MASE_MAX_RANK)
        print_results(reply, q, from);
    mase_str_add(reply, "]\n");
}
