/*
 * learned_parameters.c - learned numbers of formats: parameters of the graph like weights, saved
 * and shown under the name of the layer, fc1.weight_scale, fc1.data_in_scale.
 */
#include <math.h>

#include <mase/call.h>
#include <mase/meta.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "quant/quant.h"

/* "fc1", or the name of a call of a function. */
static const char *owner_of(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    return m ? m->path : n->name;
}

static const char *const *names_of(const struct mase_format *f)
{
    static const char *const none[] = { NULL };
    return f && f->row->learned ? f->row->learned->names : none;
}

static const struct mase_format *format_of(const struct mase_node *n, enum mase_operand o)
{
    const struct mase_quant *q = mase_node_quant(n);
    return q && !q->bypass ? q->operand[o] : NULL;
}

static void add_name(struct mase_str *out, const struct mase_node *n, enum mase_operand o,
                     const char *learned)
{
    mase_str_printf(out, "%s.%s_%s", owner_of(n), mase_operand_names[o], learned);
}

struct mase_param *mase_learned_param(const struct mase_node *n, enum mase_operand o, int j)
{
    struct mase_str name = { 0 };
    add_name(&name, n, o, names_of(format_of(n, o))[j]);
    struct mase_param *p = mase_graph_attr(n->graph, mase_str_text(&name));
    mase_str_release(&name);
    return p;
}

/* ---- how many ---- */

/* The shape of an operand: a parameter's own, else the metadata's. */
static bool find_shape(struct mase_shape *s, const struct mase_node *n, enum mase_operand o)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    const struct mase_module *m = mase_node_module(n);
    int data = 0;
    for (int i = 0; i < sig->count; i++) {
        const struct mase_mark *mark = mase_mark_find(sig->param[i].role);
        const struct mase_param *p = m ? mase_module_param(m, sig->param[i].name) : NULL;
        char name[32];
        if (!mark)
            continue;
        if (mase_mark_is_data(mark->mark))
            mase_snprintf(name, sizeof name, "data_in_%d", data++);
        else
            mase_snprintf(name, sizeof name, "%s", sig->param[i].name);
        const struct mase_meta_arg *a = n->meta ? mase_meta_arg(n->meta, name) : NULL;
        if (mark->operand != o || (!p && !a))
            continue;
        *s = p ? p->tensor.shape : a->shape;
        return true;
    }
    const struct mase_meta_arg *out = n->meta ? mase_meta_result(n->meta, "data_out_0") : NULL;
    if (o == MASE_DATA_OUT && out)
        *s = out->shape;
    return o == MASE_DATA_OUT && out;
}

static enum mase_role role_of(enum mase_operand o)
{
    return o == MASE_WEIGHT || o == MASE_BIAS ? MASE_ROLE_WEIGHT : MASE_ROLE_DATA;
}

static int64_t blocks_of(const struct mase_node *n, enum mase_operand o, struct mase_shape s)
{
    if (role_of(o) == MASE_ROLE_DATA && s.rank)
        s.dim[0] = 1;
    return mase_format_blocks(format_of(n, o), &s, role_of(o)).count;
}

/* Operands of one format share what it learns: the tensors that torch.cat joins, the two that
 * torch.bilinear multiplies. So they must have as many blocks. */
static enum mase_status check_others(const struct mase_node *n, enum mase_operand o, int64_t count,
                                     struct mase_err *err)
{
    for (int k = 0; n->meta && k < n->meta->arg_count; k++) {
        const struct mase_meta_arg *a = &n->meta->args[k];
        const struct mase_mark *mark = mase_mark_find(mase_named_mark(n, a->name));
        if (a->kind != MASE_META_TENSOR || a->dtype != MASE_F32 || !mark || mark->operand != o)
            continue;
        const int64_t own = blocks_of(n, o, a->shape);
        if (own != count)
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: %s learns for %lld blocks, but its %s has %lld: operands that "
                             "share a format must have the same number",
                             n->name, format_of(n, o)->row->name, (long long)count, a->name,
                             (long long)own);
    }
    return MASE_OK;
}

/* Blocks of a weight or of one sample. */
static enum mase_status count_blocks(int64_t *count, const struct mase_node *n, enum mase_operand o,
                                     struct mase_err *err)
{
    struct mase_shape s;
    if (!find_shape(&s, n, o))
        return mase_fail(err, MASE_EVALUE, "%s: the shape of its %s is not known, and %s learns",
                         n->name, mase_operand_names[o], format_of(n, o)->row->name);
    *count = blocks_of(n, o, s);
    return check_others(n, o, *count, err);
}

/* ---- the graph's parameters ---- */

static enum mase_status add_params(struct mase_graph *g, const struct mase_node *n,
                                   enum mase_operand o, struct mase_map *wanted,
                                   struct mase_err *err)
{
    const struct mase_format *f = format_of(n, o);
    int64_t blocks = 0;
    if (mase_format_learned(f))
        MASE_TRY(count_blocks(&blocks, n, o, err));
    for (int j = 0; j < mase_format_learned(f); j++) {
        const struct mase_shape shape = { 1, { blocks } };
        struct mase_str name = { 0 };
        add_name(&name, n, o, names_of(f)[j]);
        const char *path = mase_intern(&g->intern, mase_str_text(&name));
        mase_str_release(&name);
        struct mase_param *p = mase_graph_attr(g, path);
        mase_map_put(wanted, path, (void *)path);
        if (p && mase_shape_equal(&p->tensor.shape, &shape))
            continue;
        if (p)
            mase_graph_drop_attr(g, path);
        mase_graph_add_attr(g, path, MASE_F32, &shape, MASE_PARAM_TRAINED)->init = MASE_INIT_UNSET;
    }
    return MASE_OK;
}

static void drop_others(struct mase_graph *g, const struct mase_map *wanted)
{
    for (int i = g->attr_count - 1; i >= 0; i--)
        if (g->attrs[i].init == MASE_INIT_UNSET && !mase_map_get(wanted, g->attrs[i].name))
            mase_graph_drop_attr(g, g->attrs[i].name);
}

/* Allocate learned numbers, initially NaN. */
static void place(struct mase_graph *g, struct mase_arena *a)
{
    bool *is_new = mase_new_array(a, bool, (size_t)g->attr_count);
    for (int i = 0; i < g->attr_count; i++)
        is_new[i] = g->attrs[i].init == MASE_INIT_UNSET && !g->attrs[i].tensor.data;
    mase_graph_alloc(g);
    for (int i = 0; i < g->attr_count; i++)
        for (int64_t k = 0; is_new[i] && k < mase_tensor_count(&g->attrs[i].tensor); k++)
            mase_f32(&g->attrs[i].tensor)[k] = NAN;
}

enum mase_status mase_graph_learn(struct mase_graph *g, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_map wanted = { .arena = &a };
    enum mase_status st = MASE_OK;
    for (const struct mase_node *n = g->first; n && !st; n = n->next)
        for (int o = 0; o < MASE_OPERAND_COUNT && !st; o++)
            st = add_params(g, n, (enum mase_operand)o, &wanted, err);
    if (!st)
        drop_others(g, &wanted);
    if (!st && g->weights)
        place(g, &a);
    mase_arena_release(&a);
    return st;
}

void mase_graph_take_learned(struct mase_graph *g, const struct mase_graph *from)
{
    for (int i = 0; i < from->attr_count; i++) {
        const struct mase_param *p = &from->attrs[i];
        if (p->init == MASE_INIT_UNSET && !mase_graph_attr(g, p->name))
            mase_graph_copy_attr(g, p)->tensor.data = NULL;
    }
}

/* ---- what was learned ---- */

/* Has every value of it been learned, to a number? */
static bool is_learned(const struct mase_param *p)
{
    bool learned = p && p->tensor.data;
    for (int64_t i = 0; learned && i < mase_tensor_count(&p->tensor); i++)
        learned = isfinite(mase_f32(&p->tensor)[i]);
    return learned;
}

/* ---- steps of products ---- */

/* The current steps of data or weight. A format with a single step does not need the shape. */
static bool find_factor(struct mase_factor *f, const struct mase_node *n, enum mase_operand o,
                        const struct mase_shape *s)
{
    const int at = o == MASE_WEIGHT; /* the first two of its parameters */
    const struct mase_rounding how = mase_rounding_now(n, o, mase_operand_rounding(n, at));
    struct mase_uniform u;
    *f = (struct mase_factor){ how.format, how.sign, s ? *s : (struct mase_shape){ 1, { 1 } } };
    if (!mase_format_is_scaled(how.format) || !mase_format_uniform(&u, how.format, 0, how.sign) ||
        (!s && mase_format_has_blocks(how.format)))
        return false;
    if (o == MASE_DATA_IN)
        f->shape.dim[0] = 1;
    return f->shape.rank > 0;
}

/* The bias's format with its steps, if the shapes and steps of all operands are known; else itself.
 */
static const struct mase_format *products_now(const struct mase_node *n,
                                              const struct mase_format *f)
{
    struct mase_products p = { .turned = mase_op_is_transposed(n->op) };
    struct mase_shape shape[MASE_OPERAND_COUNT];
    const struct mase_shape *known[MASE_OPERAND_COUNT] = { 0 };
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        known[o] = find_shape(&shape[o], n, (enum mase_operand)o) ? &shape[o] : NULL;
    const struct mase_shape *bias = known[MASE_BIAS];
    if (!mase_op_adds_products(n->op) || !bias || bias->rank != 1 || !known[MASE_WEIGHT] ||
        !find_factor(&p.data, n, MASE_DATA_IN, known[MASE_DATA_IN]) ||
        !find_factor(&p.weight, n, MASE_WEIGHT, known[MASE_WEIGHT]))
        return f;
    p.outputs = bias->dim[0];
    return mase_products_now(&p);
}

struct mase_rounding mase_rounding_now(const struct mase_node *n, enum mase_operand o,
                                       struct mase_rounding how)
{
    const int count = mase_format_learned(how.format);
    const float *value[MASE_LEARNED_MAX];
    int64_t blocks = 0;
    for (int j = 0; j < count; j++) {
        const struct mase_param *p = mase_learned_param(n, o, j);
        if (!is_learned(p))
            return how;
        value[j] = mase_f32(&p->tensor);
        blocks = mase_tensor_count(&p->tensor);
    }
    if (count)
        how.format = mase_learned_now(how.format, value, blocks, how.sign);
    else if (o == MASE_BIAS && mase_format_is_open(how.format))
        how.format = products_now(n, how.format);
    return how;
}

enum mase_status mase_graph_need_learned(const struct mase_graph *g, struct mase_err *err)
{
    for (int i = 0; i < g->attr_count && mase_graph_is_quantised(g); i++)
        if (g->attrs[i].init == MASE_INIT_UNSET && !is_learned(&g->attrs[i]))
            return mase_fail(
                err, MASE_EVALUE,
                "'%s' has no value: training learns it (ch train), and the network has "
                "not been trained through its number formats",
                g->attrs[i].name);
    return MASE_OK;
}
