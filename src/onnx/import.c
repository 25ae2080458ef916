/*
 * import.c - build a graph from an ONNX model: inputs, nodes by their rules, outputs; then fold
 * constants, remove unused nodes, and load the weights.
 */
#include <stdarg.h>
#include <string.h>

#include <mase/onnx.h>

#include "base/limit.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/graph_types.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* ---- faults ---- */

enum mase_status mase_ox_fail(struct mase_ox_import *im, enum mase_status st, const char *fmt, ...)
{
    struct mase_str text = { 0 };
    va_list ap;
    MASE_TRY(im->status);
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    if (im->node)
        mase_fail_at(im->err, st, mase_onnx_at(im->file, &im->node->head), "node '%s' (%s): %s",
                     im->node->name, im->node->op_type, mase_str_text(&text));
    else
        mase_fail_in(im->err, st, im->file->file.path, "%s", mase_str_text(&text));
    mase_str_release(&text);
    return im->status = st;
}

/* ---- rules ---- */

static bool is_own_domain(const char *domain)
{
    return !domain[0] || mase_streq(domain, "ai.onnx");
}

static bool is_qonnx_domain(const char *domain)
{
    return mase_streq(domain, "qonnx.custom_op.general") || mase_streq(domain, "onnx.brevitas") ||
           mase_streq(domain, "finn.custom_op.general");
}

static bool is_domain_of(const struct mase_ox_rule *r, const char *domain)
{
    return !r->domain                       ? is_own_domain(domain)
           : mase_streq(r->domain, "qonnx") ? is_qonnx_domain(domain)
                                            : mase_streq(r->domain, domain);
}

static const struct mase_ox_rule *find_rule(const struct mase_onnx_node *n, int opset)
{
    for (const struct mase_ox_rule *r = mase_ox_rules; r->name; r++)
        if (mase_streq(r->name, n->op_type) && opset >= r->from && opset <= r->to &&
            is_domain_of(r, n->domain))
            return r;
    return NULL;
}

static const struct mase_onnx_function *find_function(const struct mase_ox_import *im,
                                                      const struct mase_onnx_node *n)
{
    const struct mase_onnx_model *m = im->file->model;
    for (int i = 0; i < m->functions.count; i++) {
        const struct mase_onnx_function *f = &m->functions.items[i];
        if (mase_streq(f->name, n->op_type) && mase_streq(f->domain, n->domain) &&
            mase_streq(f->overload, n->overload))
            return f;
    }
    return NULL;
}

/* Report every operation without a rule once, with its first node. */
enum mase_status mase_ox_check_operations(struct mase_ox_import *im,
                                          const struct mase_onnx_node *nodes, int count, int opset)
{
    struct mase_str text = { 0 };
    struct mase_map seen = { .arena = &im->arena };
    for (int i = 0; i < count; i++) {
        const struct mase_onnx_node *n = &nodes[i];
        const char *full = mase_arena_printf(&im->arena, "%s%s%s", n->domain,
                                             is_own_domain(n->domain) ? "" : ".", n->op_type);
        if (find_rule(n, opset) || find_function(im, n) || mase_map_get(&seen, full))
            continue;
        mase_map_put(&seen, full, (void *)n);
        mase_str_printf(&text, "%s%s (node '%s')", text.len ? ", " : "", full, n->name);
    }
    if (text.len)
        mase_ox_fail(im, MASE_EUNSUPPORTED, "these operations are not read, in opset %d: %s", opset,
                     mase_str_text(&text));
    mase_str_release(&text);
    return im->status;
}

enum mase_status mase_ox_find_opset(struct mase_ox_import *im, const struct mase_onnx_opset *sets,
                                    int count, int *opset)
{
    *opset = 0;
    for (int i = 0; i < count; i++)
        if (is_own_domain(sets[i].domain))
            *opset = sets[i].version < OX_OLDEST || sets[i].version > OX_NEWEST
                         ? -1
                         : (int)sets[i].version;
    if (*opset > 0)
        return MASE_OK;
    return mase_ox_fail(im, MASE_EUNSUPPORTED, "its opset is not read: expected one of %d to %d",
                        OX_OLDEST, OX_NEWEST);
}

/* ---- nodes ---- */

static void count_use(struct mase_ox_import *im, const char *name, const struct mase_onnx_node *by)
{
    struct mase_ox_use *u = mase_map_get(&im->uses, name);
    if (!u) {
        u = mase_new(&im->arena, struct mase_ox_use);
        mase_map_put(&im->uses, name, u);
    }
    u->count++;
    u->by = by;
}

/* Count uses in the graph and in the graphs of its nodes. */
static void count_uses(struct mase_ox_import *im, const struct mase_onnx_graph *g)
{
    im->uses.arena = &im->arena;
    for (int i = 0; i < g->node.count; i++) {
        const struct mase_onnx_node *n = &g->node.items[i];
        for (int k = 0; k < n->input.count; k++)
            count_use(im, n->input.items[k], n);
        for (int k = 0; k < n->attribute.count; k++)
            if (n->attribute.items[k].g)
                count_uses(im, n->attribute.items[k].g);
    }
    for (int i = 0; i < g->output.count; i++)
        count_use(im, g->output.items[i].name, NULL);
}

enum mase_status mase_ox_import_nodes(struct mase_ox_import *im, const struct mase_onnx_node *nodes,
                                      int count)
{
    for (int i = 0; i < count; i++) {
        const struct mase_onnx_function *f = find_function(im, &nodes[i]);
        im->node = &nodes[i];
        im->rule = f ? NULL : find_rule(&nodes[i], im->scope->opset);
        im->attributes_read = 0;
        if (f) {
            MASE_TRY(mase_ox_inline(im, f));
            continue;
        }
        if (nodes[i].output.count == 0)
            return mase_ox_fail(im, MASE_EVALUE, "it has no outputs");
        if (!mase_ox_move_codes(im))
            MASE_TRY(im->rule->apply(im));
        MASE_TRY(im->status);
        MASE_TRY(mase_ox_attrs_done(im));
        for (int k = 0; k < nodes[i].output.count; k++)
            if (nodes[i].output.items[k][0] &&
                !mase_map_get(&im->scope->values, nodes[i].output.items[k]))
                return mase_ox_fail(im, MASE_EUNSUPPORTED, "its output %d, '%s', is not computed",
                                    k, nodes[i].output.items[k]);
    }
    im->node = NULL;
    return MASE_OK;
}

/* ---- inputs ---- */

static const struct mase_input *given_input(const struct mase_ox_import *im, const char *name)
{
    for (int i = 0; im->opts && i < im->opts->input_count; i++)
        if (mase_streq(im->opts->inputs[i].name, name))
            return &im->opts->inputs[i];
    return NULL;
}

static enum mase_status input_type(struct mase_ox_import *im, const struct mase_onnx_value_info *v,
                                   enum mase_dtype *dtype)
{
    const struct mase_onnx_tensor_type *t = v->type ? v->type->tensor_type : NULL;
    if (!t)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "input '%s' is no tensor", v->name);
    if (!mase_onnx_dtype(dtype, t->elem_type) || *dtype >= MASE_DTYPE_COUNT)
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "input '%s' is of type %s, which is not computed with", v->name,
                            mase_onnx_type_name(t->elem_type));
    return MASE_OK;
}

/* The length of a dimension; -1: the file leaves it open. */
static int64_t fixed_length(const struct mase_onnx_dimension *d)
{
    return mase_onnx_has(&d->head, 1) && d->dim_value >= 0 ? d->dim_value : -1;
}

static enum mase_status open_length(struct mase_ox_import *im, const struct mase_onnx_value_info *v,
                                    int d, bool is_first, int64_t *length)
{
    const struct mase_shape *sample = im->opts ? im->opts->sample : NULL;
    const struct mase_onnx_shape *s = v->type->tensor_type->shape;
    if (sample && is_first && sample->rank == s->dim.count - 1) {
        *length = sample->dim[d - 1];
        return MASE_OK;
    }
    return mase_ox_fail(
        im, MASE_EVALUE,
        "input '%s' leaves dimension %d%s%s%s open: --input-shape gives the lengths of "
        "a sample",
        v->name, d, s->dim.items[d].dim_param[0] ? " ('" : "", s->dim.items[d].dim_param,
        s->dim.items[d].dim_param[0] ? "')" : "");
}

/* Is it the number of samples, which may be any? */
static bool is_samples(const struct mase_ox_import *im, const struct mase_onnx_dimension *d, int i,
                       const struct mase_onnx_dimension *first)
{
    const bool both_open = fixed_length(d) < 0 && fixed_length(first) < 0;
    if (im->sizes == 1)
        return false;
    if (i == 0)
        return both_open || fixed_length(d) == fixed_length(first);
    return both_open && d->dim_param[0] && mase_streq(d->dim_param, first->dim_param);
}

/* The shape of an input for each batch size. */
static enum mase_status input_shape(struct mase_ox_import *im, const struct mase_onnx_value_info *v,
                                    const struct mase_onnx_value_info *lead,
                                    struct mase_shape shape[MASE_BATCH_SIZES])
{
    const struct mase_onnx_shape *s = v->type->tensor_type->shape;
    const struct mase_onnx_shape *first = lead->type->tensor_type->shape;
    if (!s || s->dim.count > MASE_MAX_RANK)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "input '%s' has no rank, or one of more than %d",
                            v->name, MASE_MAX_RANK);
    for (int d = 0; d < s->dim.count; d++) {
        int64_t length = fixed_length(&s->dim.items[d]);
        const bool samples =
            first && first->dim.count && is_samples(im, &s->dim.items[d], d, &first->dim.items[0]);
        if (length < 0 && !samples && (d > 0 || im->sizes > 1))
            MASE_TRY(open_length(im, v, d, v == lead, &length));
        for (int k = 0; k < im->sizes; k++) {
            shape[k].rank = s->dim.count;
            shape[k].dim[d] = samples ? im->samples[k] : length < 0 ? 1 : length;
        }
    }
    return MASE_OK;
}

static enum mase_status add_input(struct mase_ox_import *im, const struct mase_onnx_value_info *v,
                                  const struct mase_onnx_value_info *lead)
{
    const struct mase_input *given = given_input(im, v->name);
    struct mase_shape shape[MASE_BATCH_SIZES] = { { 0 } };
    struct mase_ox_result *r = mase_new(&im->arena, struct mase_ox_result);
    enum mase_dtype dtype;
    MASE_TRY(input_type(im, v, &dtype));
    if (given)
        shape[0] = given->tensor.shape;
    else
        MASE_TRY(input_shape(im, v, lead, shape));
    if (given && given->tensor.dtype != dtype)
        return mase_ox_fail(im, MASE_EVALUE, "input '%s' is of type %s, not of %s", v->name,
                            mase_dtypes[dtype].name, mase_dtypes[given->tensor.dtype].name);
    struct mase_node *n =
        mase_graph_insert_named(im->g, NULL, MASE_PLACEHOLDER, v->name, v->name, NULL, NULL);
    n->target = n->name; /* an argument of forward needs a Python identifier */
    for (int k = 0; k < im->sizes; k++) {
        struct mase_tensor *t = mase_new(&im->arena, struct mase_tensor);
        *t = (struct mase_tensor){ dtype, shape[k], given ? given->tensor.data : NULL };
        if (!mase_ox_is_any(im, k) && mase_shape_count_checked(&t->shape) < 0)
            return mase_ox_fail(im, MASE_ELIMIT, "input '%s' has more than 2^31 values", v->name);
        r->value[k] = (struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = t };
    }
    r->known = r->given = given && given->tensor.data;
    mase_ptrmap_put(&im->results, &im->arena, n, r);
    if (v == lead && shape[0].rank)
        im->batch = n;
    mase_ox_new_value(im, v->name)->node = n;
    return MASE_OK;
}

static enum mase_status add_inputs(struct mase_ox_import *im)
{
    const struct mase_onnx_graph *g = im->file->model->graph;
    const struct mase_onnx_value_info *lead = NULL;
    for (int i = 0; i < g->input.count; i++) {
        const struct mase_onnx_value_info *v = &g->input.items[i];
        if (mase_map_get(&im->scope->values,
                         v->name)) /* old files list initialisers as inputs, too */
            continue;
        lead = lead ? lead : v;
        MASE_TRY(add_input(im, v, lead));
    }
    return MASE_OK;
}

enum mase_status mase_ox_add_tensors(struct mase_ox_import *im, const struct mase_onnx_graph *g)
{
    if (g->sparse_initializer.count)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "sparse tensors are not read");
    for (int i = 0; i < g->initializer.count; i++) {
        const struct mase_onnx_tensor *t = &g->initializer.items[i];
        if (mase_map_get(&im->scope->values, t->name))
            return mase_fail_at(im->err, im->status = MASE_EVALUE, mase_onnx_at(im->file, &t->head),
                                "there are two tensors called '%s'", t->name);
        struct mase_ox_value *v = mase_ox_new_value(im, t->name);
        v->init = t;
        im->status = mase_onnx_tensor_shape(&v->like, im->file, t, im->err);
        MASE_TRY(im->status);
    }
    return MASE_OK;
}

/* ---- outputs ---- */

static enum mase_status add_outputs(struct mase_ox_import *im)
{
    const struct mase_onnx_graph *g = im->file->model->graph;
    struct mase_arg *items = mase_new_array(&im->arena, struct mase_arg, (size_t)g->output.count);
    const char **keys = mase_new_array(&im->arena, const char *, (size_t)g->output.count);
    for (int i = 0; i < g->output.count; i++) {
        struct mase_ox_value *v = mase_map_get(&im->scope->values, g->output.items[i].name);
        if (!v)
            return mase_ox_fail(im, MASE_EVALUE, "its output '%s' is made by no node",
                                g->output.items[i].name);
        items[i] = ARG_NODE(mase_ox_node_of(im, v));
        keys[i] = v->name;
        MASE_TRY(im->status);
    }
    if (!g->output.count)
        return mase_ox_fail(im, MASE_EVALUE, "it has no outputs");
    struct mase_arg out = items[0];
    if (g->output.count > 1) {
        out = mase_arg_seq(&im->arena, MASE_ARG_DICT, items, g->output.count);
        out.keys = keys;
    }
    const struct mase_arg args = mase_arg_seq(&im->arena, MASE_ARG_TUPLE, &out, 1);
    mase_graph_insert(im->g, NULL, MASE_OUTPUT, "output", &args, NULL);
    return MASE_OK;
}

/* ---- constants, unused nodes ---- */

static bool is_call(const struct mase_node *n)
{
    return n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD;
}

static bool is_constant(struct mase_ox_import *im, const struct mase_node *n)
{
    const struct mase_ox_result *r = mase_ox_result(im, n);
    return is_call(n) && r && mase_ox_result_is_constant(im, r);
}

static void fold_node(struct mase_ox_import *im, struct mase_node *n)
{
    struct mase_onnx_node origin = { .name = n->name, .op_type = n->name };
    const struct mase_tensor *t = mase_ox_tensor(im, n);
    im->node = &origin;
    struct mase_node *c = mase_ox_constant(im, t); /* appended; moved later */
    im->node = NULL;
    if (!c)
        return;
    struct mase_node *here = mase_graph_insert(im->g, n, MASE_GET_ATTR, c->target, NULL, NULL);
    mase_ptrmap_put(&im->results, &im->arena, here, (void *)mase_ox_result(im, c));
    for (struct mase_ox_fill *f = im->fills; f; f = f->next)
        if (mase_streq(f->path, c->target)) {
            struct mase_ox_value *v = mase_new(&im->arena, struct mase_ox_value);
            v->node = here;
            f->value = v;
        }
    mase_graph_erase(im->g, c);
    mase_graph_replace_uses(im->g, n, here, NULL);
}

static void fold_constants(struct mase_ox_import *im)
{
    for (struct mase_node *n = im->g->first; n; n = n->next) {
        bool needed = false;
        if (!is_constant(im, n))
            continue;
        for (int i = 0; i < n->user_count; i++)
            needed |= !is_constant(im, n->users[i]);
        if (needed)
            fold_node(im, n);
    }
}

static bool reads_attr(const struct mase_graph *g, const char *path)
{
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->kind == MASE_GET_ATTR && mase_streq(n->target, path))
            return true;
    return false;
}

static void drop_unused(struct mase_ox_import *im)
{
    struct mase_node *before;
    for (struct mase_node *n = im->g->last; n; n = before) {
        before = n->prev;
        if (!n->user_count && n->kind != MASE_PLACEHOLDER && n->kind != MASE_OUTPUT)
            mase_graph_erase(im->g, n);
    }
    mase_graph_sweep(im->g);
    for (int i = im->g->attr_count - 1; i >= 0; i--)
        if (!reads_attr(im->g, im->g->attrs[i].name))
            mase_graph_drop_attr(im->g, im->g->attrs[i].name);
}

/* ---- weights ---- */

static const struct mase_tensor *source_of(struct mase_ox_import *im, const struct mase_ox_fill *f,
                                           struct mase_tensor *own, struct mase_arena *a)
{
    const struct mase_ox_value *v = f->value;
    if (v->data)
        return v->data;
    if (v->node && !v->init)
        return mase_ox_tensor(im, v->node);
    *own = v->like;
    own->data = mase_arena_alloc(a, (size_t)mase_tensor_bytes(own));
    mase_onnx_tensor_copy(own->data, im->file, v->init);
    return own;
}

static void fill_param(struct mase_ox_import *im, const struct mase_ox_fill *f)
{
    struct mase_param *p = mase_graph_attr(im->g, f->path);
    struct mase_arena a = { 0 };
    struct mase_tensor own;
    if (!p) /* unused */
        return;
    if (f->value->init && !f->transposed && !f->count &&
        mase_shape_equal(&p->tensor.shape, &f->value->like.shape)) {
        mase_onnx_tensor_copy(p->tensor.data, im->file, f->value->init);
        return;
    }
    const struct mase_tensor *t = source_of(im, f, &own, &a);
    const int64_t rows = f->transposed ? t->shape.dim[0] : 1,
                  n = mase_tensor_count(t) / (rows ? rows : 1);
    if (mase_tensor_count(t) != mase_tensor_count(&p->tensor) || t->dtype != p->tensor.dtype)
        mase_bug("'%s' does not fit its values", f->path);
    if (!f->transposed)
        memcpy(p->tensor.data, t->data, (size_t)mase_tensor_bytes(t));
    for (int64_t i = 0; f->transposed && i < rows; i++)
        for (int64_t j = 0; j < n; j++)
            mase_f32(&p->tensor)[j * rows + i] = mase_f32(t)[i * n + j];
    mase_arena_release(&a);
}

static enum mase_status give_weights(struct mase_ox_import *im)
{
    im->status = mase_graph_check_size(im->g, im->err);
    MASE_TRY(im->status);
    mase_graph_alloc(im->g);
    mase_graph_init_constants(im->g);
    for (const struct mase_ox_fill *f = im->fills; f; f = f->next)
        fill_param(im, f);
    return MASE_OK;
}

/* ---- the import ---- */

/* Has every output one row for each sample? */
static bool keeps_samples(struct mase_ox_import *im)
{
    const struct mase_node *out = mase_graph_output(im->g);
    for (int i = 0; i < out->input_count; i++) {
        const struct mase_ox_result *r = mase_ox_result(im, out->inputs[i]);
        for (int s = 0; s < im->sizes; s++)
            if (r->value[s].kind != MASE_ARG_TENSOR || !r->value[s].tensor->shape.rank ||
                r->value[s].tensor->shape.dim[0] != im->samples[s])
                return false;
    }
    return true;
}

static enum mase_status import(struct mase_ox_import *im)
{
    const struct mase_onnx_model *m = im->file->model;
    struct mase_ox_scope top = { .values.arena = &im->arena, .prefix = "" };
    im->scope = &top;
    im->paths.arena = im->path_numbers.arena = &im->arena;
    MASE_TRY(mase_ox_find_opset(im, m->opset_import.items, m->opset_import.count, &top.opset));
    MASE_TRY(mase_ox_check_operations(im, m->graph->node.items, m->graph->node.count, top.opset));
    MASE_TRY(mase_ox_add_tensors(im, m->graph));
    MASE_TRY(add_inputs(im));
    count_uses(im, m->graph);
    MASE_TRY(mase_ox_import_nodes(im, m->graph->node.items, m->graph->node.count));
    MASE_TRY(add_outputs(im));
    if (im->sizes > 1 && im->batch && !keeps_samples(im)) {
        im->batch_matters = true;
        if (im->static_batch)
            return mase_ox_fail(im, MASE_EUNSUPPORTED, "its outputs do not follow the samples");
    }
    fold_constants(im);
    drop_unused(im);
    return give_weights(im);
}

/* The batch size that the file fixes by its first input; 0: it is open. */
static int64_t static_batch(const struct mase_onnx_file *f)
{
    const struct mase_onnx_graph *g = f->model->graph;
    for (int i = 0; i < g->input.count; i++) {
        const struct mase_onnx_value_info *v = &g->input.items[i];
        bool is_tensor = false;
        for (int k = 0; k < g->initializer.count; k++)
            is_tensor |= mase_streq(g->initializer.items[k].name, v->name);
        if (is_tensor || !v->type || !v->type->tensor_type || !v->type->tensor_type->shape)
            continue;
        const struct mase_onnx_shape *s = v->type->tensor_type->shape;
        const int64_t n = s->dim.count ? fixed_length(&s->dim.items[0]) : 0;
        return n > 0 ? n : 0;
    }
    return 0;
}

/* Set the sample shapes of the inputs after the first. */
static void set_further_samples(struct mase_ox_import *im)
{
    struct mase_shape *more =
        mase_new_array(&im->arena, struct mase_shape, (size_t)im->g->node_count);
    int count = 0;
    for (const struct mase_node *n = im->g->first; n; n = n->next) {
        const struct mase_shape *s =
            n->kind == MASE_PLACEHOLDER ? &mase_ox_tensor(im, n)->shape : NULL;
        if (s)
            more[count++] = mase_shape_part(s, s->rank > 0, s->rank);
    }
    if (count > 1)
        mase_graph_set_more(im->g, more + 1, count - 1);
}

static void tell(const struct mase_ox_import *im, struct mase_onnx_info *info)
{
    const struct mase_node *x = im->batch;
    *info = (struct mase_onnx_info){ 0 };
    if (!x)
        return;
    const struct mase_tensor *t = mase_ox_tensor((struct mase_ox_import *)im, x);
    info->sample = mase_shape_part(&t->shape, 1, t->shape.rank);
    info->dtype = t->dtype;
    info->has_sample = true;
    info->batch = im->sizes > 1 ? 0 : t->shape.dim[0];
}

/* Do samples lie along the first dimension, and along no other? */
static bool is_led_by_samples(const struct mase_ox_import *im, const struct mase_ox_result *r)
{
    for (int s = 0; s < im->sizes; s++) {
        struct mase_shape shape = r->value[s].tensor->shape;
        if (!shape.rank || shape.dim[0] != im->samples[s])
            return false;
        shape.dim[0] = r->value[0].tensor->shape.dim[0];
        if (!mase_shape_equal(&shape, &r->value[0].tensor->shape))
            return false;
    }
    return true;
}

/* The results of the nodes for batch size s. */
static void list_results(struct mase_ox_import *im, struct mase_values *v, int s)
{
    *v = (struct mase_values){ .arena = &im->arena, .index.arena = &im->arena };
    v->value = mase_new_array(&im->arena, struct mase_arg, (size_t)im->g->node_count);
    for (const struct mase_node *n = im->g->first; n; n = n->next) {
        const struct mase_ox_result *r = mase_ox_result(im, n);
        if (n->kind == MASE_OUTPUT)
            v->value[v->count] = mase_values_resolve(v, &n->args.items[0]);
        else
            v->value[v->count] = r->value[s];
        v->count++;
        mase_map_put(&v->index, n->name, (void *)(uintptr_t)v->count);
    }
}

/* Store the inferred types with the graph, as shape inference would. */
static void keep_types(struct mase_ox_import *im)
{
    struct mase_values v[MASE_BATCH_SIZES];
    struct mase_input *in =
        mase_new_array(&im->arena, struct mase_input, (size_t)im->g->node_count);
    int count = 0;
    if (im->sizes == 1 || im->static_batch)
        return;
    for (const struct mase_node *n = im->g->first; n; n = n->next) {
        const struct mase_ox_result *r = mase_ox_result(im, n);
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        if (!is_led_by_samples(im, r))
            return;
        in[count++] = (struct mase_input){ n->name, *r->value[0].tensor };
    }
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        list_results(im, &v[s], s);
    mase_graph_types_set(im->g, in, count, v);
}

/* The batch sizes that stand for any; a file with a fixed batch adds its own. */
static void set_samples(struct mase_ox_import *im)
{
    for (int k = 0, next = 0; k < im->sizes; k++) {
        if (k == 0 && im->static_batch) {
            im->samples[k] = im->static_batch;
            continue;
        }
        next += im->static_batch == mase_batch_sizes[next];
        im->samples[k] = mase_batch_sizes[next++];
    }
}

/* sizes: number of batch sizes that the graph must hold for. */
static enum mase_status attempt(struct mase_graph **g, struct mase_onnx_info *info,
                                struct mase_onnx_file *f, const struct mase_onnx_opts *opts,
                                int sizes, bool *batch_matters, struct mase_err *err)
{
    const char *slash = strrchr(f->file.path, '/');
    struct mase_ox_import im = { .file = f, .opts = opts, .sizes = sizes, .err = err };
    im.static_batch = static_batch(f);
    set_samples(&im);
    im.g = mase_graph_new(slash ? slash + 1 : f->file.path);
    const enum mase_status st = import(&im);
    *batch_matters = im.batch_matters;
    if (!st) {
        set_further_samples(&im);
        keep_types(&im);
    }
    if (!st && info)
        tell(&im, info);
    mase_arena_release(&im.arena);
    if (st)
        mase_graph_free(im.g);
    else
        *g = im.g;
    return st;
}

static enum mase_status read_model(struct mase_graph **g, struct mase_onnx_info *info,
                                   struct mase_onnx_file *f, const struct mase_onnx_opts *opts,
                                   struct mase_err *err)
{
    bool batch_matters;
    const bool given = opts && opts->input_count;
    enum mase_status st =
        attempt(g, info, f, opts, given ? 1 : MASE_BATCH_SIZES, &batch_matters, err);
    if (st && batch_matters && static_batch(f)) /* then import for the file's own batch only */
        st = attempt(g, info, f, opts, 1, &batch_matters, err);
    return st;
}

enum mase_status mase_onnx_read(struct mase_graph **g, struct mase_onnx_info *info,
                                const char *path, const struct mase_onnx_opts *opts,
                                struct mase_err *err)
{
    struct mase_onnx_file f;
    MASE_TRY(mase_onnx_file_open(&f, path, err));
    const enum mase_status st = read_model(g, info, &f, opts, err);
    mase_onnx_file_close(&f);
    return st;
}

enum mase_status mase_onnx_parse_graph(struct mase_graph **g, struct mase_onnx_info *info,
                                       const void *data, size_t size, const char *path,
                                       const struct mase_onnx_opts *opts, struct mase_err *err)
{
    struct mase_onnx_file f;
    MASE_TRY(mase_onnx_file_parse(&f, data, size, path, err));
    const enum mase_status st = read_model(g, info, &f, opts, err);
    mase_onnx_file_close(&f);
    return st;
}
