/*
 * export.c - a network as an ONNX model: its program, instruction by instruction.
 *
 * Names are those of the graph: a value is called as the node that computes it, an initialiser as
 * the parameter. The number of samples stays open ("N").
 */
#include "onnx/export_parts.h"

#include <stdarg.h>
#include <string.h>

#include <mase/log.h>

#include "exec/reference/interpret.h"
#include "onnx/onnx_check.h"
#include "program/program_parts.h"

enum { LEAST_OPSET = 18 };

enum mase_status mase_ow_refuse(const struct mase_ow_export *e, struct mase_err *err,
                                const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const enum mase_status st = mase_refuse_node(err, e->instr ? e->instr->from : NULL,
                                                 "cannot be written as ONNX", fmt, ap);
    va_end(ap);
    return st;
}

/* ---- names of values ---- */

const char *mase_ow_unique(struct mase_ow_export *e, const char *like)
{
    const char *name = like;
    for (int k = 1; mase_map_get(&e->names, name); k++)
        name = mase_arena_printf(e->a, "%s_%d", like, k);
    name = mase_arena_strdup(e->a, name);
    mase_map_put(&e->names, name, e);
    return name;
}

/* ---- parts of the model ---- */

static void *grow(struct mase_ow_export *e, void *items, int count, int *cap, size_t size)
{
    return mase_arena_grow(e->a, items, count, cap, size);
}

const char *mase_ow_constant(struct mase_ow_export *e, const char *like, int type,
                             const struct mase_shape *s, const void *data, size_t size)
{
    struct mase_onnx_graph *g = &e->graph;
    g->initializer.items = grow(e, g->initializer.items, g->initializer.count, &e->init_cap,
                                sizeof *g->initializer.items);
    struct mase_onnx_tensor *t = &g->initializer.items[g->initializer.count++];
    *t = (struct mase_onnx_tensor){ .data_type = type, .name = mase_ow_unique(e, like) };
    t->head.has = 1u << 2;
    t->dims.items = mase_arena_memdup(e->a, s->dim, (size_t)s->rank * sizeof s->dim[0]);
    t->dims.count = s->rank;
    t->raw_data = (struct mase_onnx_bytes){ data, size };
    return t->name;
}

const char *mase_ow_number(struct mase_ow_export *e, double v)
{
    const float f = (float)v;
    return mase_ow_constant(e, "number", MASE_ONNX_FLOAT32, &(struct mase_shape){ 0 },
                            mase_arena_memdup(e->a, &f, sizeof f), sizeof f);
}

const char *mase_ow_number_of(struct mase_ow_export *e, enum mase_dtype dtype,
                              const struct mase_arg *v)
{
    const struct mase_shape none = { 0 };
    struct mase_tensor t = mase_tensor(e->a, dtype, &none, true);
    if (v->kind == MASE_ARG_INT && dtype == MASE_I64) /* which doubles do not all hold */
        *(int64_t *)t.data = v->i;
    else
        mase_tensor_set(&t, 0,
                        v->kind == MASE_ARG_FLOAT ? v->f
                        : v->kind == MASE_ARG_INT ? (double)v->i
                                                  : (double)v->b);
    return mase_ow_constant(e, "number", mase_onnx_type_of(dtype), &none, t.data,
                            (size_t)mase_tensor_bytes(&t));
}

const char *mase_ow_lengths(struct mase_ow_export *e, const int64_t *v, int count)
{
    const struct mase_shape s = { 1, { count } };
    const size_t size = (size_t)count * sizeof *v;
    return mase_ow_constant(e, "lengths", MASE_ONNX_INT64, &s, mase_arena_memdup(e->a, v, size),
                            size);
}

struct mase_onnx_node *mase_ow_node(struct mase_ow_export *e, const char *op, const char *like, ...)
{
    struct mase_onnx_graph *g = &e->graph;
    const char *input[16];
    int count = 0;
    va_list ap;
    va_start(ap, like);
    for (const char *in; (in = va_arg(ap, const char *)) != NULL;)
        input[count++] = in;
    va_end(ap);
    while (count && !*input[count - 1]) /* trailing absent inputs are left out */
        count--;
    g->node.items = grow(e, g->node.items, g->node.count, &e->node_cap, sizeof *g->node.items);
    e->by = grow(e, e->by, g->node.count, &e->by_cap, sizeof(const struct mase_instr *));
    e->by[g->node.count] = e->instr;
    struct mase_onnx_node *n = &g->node.items[g->node.count++];
    *n = (struct mase_onnx_node){ .op_type = op };
    const char *output = mase_ow_unique(e, like);
    n->name = output;
    n->input.items = mase_arena_memdup(e->a, input, (size_t)count * sizeof *input);
    n->input.count = count;
    n->output.items = mase_arena_memdup(e->a, &output, sizeof output);
    n->output.count = 1;
    return n;
}

const char *mase_ow_output(const struct mase_onnx_node *n)
{
    return n->output.items[0];
}

/* ---- attributes ---- */

/* Nodes have few attributes, so each new one copies the array. */
static struct mase_onnx_attribute *add_attribute(struct mase_ow_export *e, struct mase_onnx_node *n,
                                                 const char *name, int type)
{
    const int count = n->attribute.count;
    struct mase_onnx_attribute *items =
        mase_new_array(e->a, struct mase_onnx_attribute, (size_t)count + 1);
    for (int i = 0; i < count; i++)
        items[i] = n->attribute.items[i];
    n->attribute.items = items;
    n->attribute.count = count + 1;
    items[count] = (struct mase_onnx_attribute){ .name = name, .type = type };
    items[count].head.has = 1u << 20;
    return &items[count];
}

void mase_ow_int(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name, int64_t v)
{
    struct mase_onnx_attribute *a = add_attribute(e, n, name, 2);
    a->i = v;
    a->head.has |= 1u << 3;
}

void mase_ow_float(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name, double v)
{
    struct mase_onnx_attribute *a = add_attribute(e, n, name, 1);
    a->f = (float)v;
    a->head.has |= 1u << 2;
}

void mase_ow_text(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name,
                  const char *v)
{
    add_attribute(e, n, name, 3)->s =
        (struct mase_onnx_bytes){ (const unsigned char *)v, strlen(v) };
}

void mase_ow_ints(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name,
                  const int64_t *v, int count)
{
    struct mase_onnx_attribute *a = add_attribute(e, n, name, 7);
    a->ints.items = mase_arena_memdup(e->a, v, (size_t)count * sizeof *v);
    a->ints.count = count;
}

/* ---- values ---- */

static const char *write_known(struct mase_ow_export *e, const struct mase_pvalue *v)
{
    const struct mase_tensor *t = e->known[v->number];
    const struct mase_instr *by = v->made_by;
    const struct mase_pvalue *from =
        by && by->prim == MASE_PRIM_round ? mase_pvalue_of(&by->param[0]) : NULL;
    const char *like = v->name              ? v->name
                       : from && from->name ? from->name
                       : by && by->from     ? by->from
                                            : "constant";
    const size_t size = (size_t)mase_tensor_bytes(t);
    return mase_ow_constant(e, like, mase_onnx_type_of(t->dtype), &t->shape,
                            mase_arena_memdup(e->a, t->data, size), size);
}

const char *mase_ow_value(struct mase_ow_export *e, const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    if (!v)
        return NULL;
    if (!e->name[v->number] && e->known[v->number])
        e->name[v->number] = write_known(e, v);
    return e->name[v->number];
}

/* A constant converted to a type that holds it exactly. */
static const char *write_as(struct mase_ow_export *e, const struct mase_pvalue *v,
                            enum mase_dtype dtype)
{
    const struct mase_tensor *t = e->known[v->number];
    struct mase_tensor as = mase_tensor(e->a, dtype, &t->shape, true);
    for (int64_t k = 0; k < mase_tensor_count(t); k++)
        mase_tensor_set(&as, k, mase_tensor_get(t, k));
    return mase_ow_constant(e, v->name ? v->name : "constant", mase_onnx_type_of(dtype), &t->shape,
                            as.data, (size_t)mase_tensor_bytes(&as));
}

const char *mase_ow_value_as(struct mase_ow_export *e, const struct mase_arg *a,
                             enum mase_dtype dtype)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    if (!v)
        return a->kind == MASE_ARG_INT || a->kind == MASE_ARG_FLOAT || a->kind == MASE_ARG_BOOL
                   ? mase_ow_number_of(e, dtype, a)
                   : NULL;
    if (v->type.dtype == dtype)
        return mase_ow_value(e, a);
    return e->known[v->number] ? write_as(e, v, dtype)
                               : mase_ow_cast(e, "cast", mase_ow_value(e, a), dtype);
}

const char *mase_ow_cast(struct mase_ow_export *e, const char *like, const char *x,
                         enum mase_dtype dtype)
{
    struct mase_onnx_node *n = mase_ow_node(e, "Cast", like, x, NULL);
    mase_ow_int(e, n, "to", mase_onnx_type_of(dtype));
    return mase_ow_output(n);
}

/* ---- inputs, outputs ---- */

static struct mase_onnx_value_info info_of(struct mase_ow_export *e, const char *name,
                                           const struct mase_ptype *t)
{
    struct mase_onnx_dimension *dim =
        mase_new_array(e->a, struct mase_onnx_dimension, (size_t)t->rank);
    for (int d = 0; d < t->rank; d++) {
        dim[d].dim_value = t->dim[d].plus;
        if (t->dim[d].times) /* a length that depends on the samples in another way has its formula
                                as its name */
            dim[d].dim_param = mase_extent_text(e->a, t->dim[d]);
        else
            dim[d].head.has = 1u << 1;
    }
    struct mase_onnx_shape *shape = mase_new(e->a, struct mase_onnx_shape);
    shape->dim.items = dim;
    shape->dim.count = t->rank;
    struct mase_onnx_tensor_type *tensor = mase_new(e->a, struct mase_onnx_tensor_type);
    tensor->elem_type = mase_onnx_type_of(t->dtype);
    tensor->head.has = 1u << 1;
    tensor->shape = shape;
    struct mase_onnx_type *type = mase_new(e->a, struct mase_onnx_type);
    type->tensor_type = tensor;
    return (struct mase_onnx_value_info){ .name = name, .type = type };
}

static void add_sources(struct mase_ow_export *e)
{
    struct mase_onnx_graph *g = &e->graph;
    const int count = e->program->value_count;
    g->input.items = mase_new_array(e->a, struct mase_onnx_value_info, (size_t)count);
    for (int n = 0; n < count; n++) {
        const struct mase_pvalue *v = e->program->value[n];
        if (v->source == MASE_PSOURCE_INPUT) {
            e->name[n] = mase_ow_unique(e, v->name);
            g->input.items[g->input.count++] = info_of(e, e->name[n], &v->type);
        } else if (v->source != MASE_PSOURCE_RESULT) {
            struct mase_tensor *t = e->known[n] = mase_new(&e->scratch, struct mase_tensor);
            *t = (struct mase_tensor){ v->type.dtype, mase_ptype_shape(&v->type, 0),
                                       (void *)(v->param ? v->param->tensor.data : v->data) };
        }
    }
}

static enum mase_status add_outputs(struct mase_ow_export *e, const struct mase_arg *a,
                                    struct mase_err *err)
{
    struct mase_onnx_graph *g = &e->graph;
    const struct mase_pvalue *v = mase_pvalue_of(a);
    if (a->kind == MASE_ARG_TUPLE || a->kind == MASE_ARG_LIST) {
        for (int i = 0; i < a->count; i++)
            MASE_TRY(add_outputs(e, &a->items[i], err));
        return MASE_OK;
    }
    if (!v || g->output.count >= e->program->value_count)
        return mase_ow_refuse(e, err, "it returns what is no tensor, or a dict");
    const char *name = mase_ow_value(e, a);
    if (v->source != MASE_PSOURCE_RESULT || e->known[v->number])
        name = mase_ow_output(mase_ow_node(e, "Identity", "output", name, NULL));
    for (int i = 0; i < g->output.count; i++)
        if (mase_streq(g->output.items[i].name, name))
            name = mase_ow_output(mase_ow_node(e, "Identity", name, name, NULL));
    g->output.items[g->output.count++] = info_of(e, name, &v->type);
    return MASE_OK;
}

/* ---- the model ---- */

static enum mase_status export_instr(struct mase_ow_export *e, const struct mase_instr *i,
                                     struct mase_err *err)
{
    const char *name = NULL;
    e->instr = i;
    if (i->prim == MASE_PRIM_check && i->result_count == 0)
        return MASE_OK;
    if (mase_instr_is_known(i, e->known)) {
        if (i->prim == MASE_PRIM_round)
            e->format[i->result[0]->number] = mase_instr_format(i, e->known);
        return mase_instr_run(i, &e->scratch, e->known, 0, err);
    }
    if (i->result_count != 1)
        return mase_ow_refuse(e, err, "%s gives several results", mase_ops[i->op].name);
    MASE_TRY((i->prim != MASE_PRIM_round      ? mase_ow_export_call
              : e->dialect == MASE_ONNX_QONNX ? mase_ow_export_quant
                                              : mase_ow_export_round)(e, &name, i, err));
    e->name[i->result[0]->number] = name;
    return MASE_OK;
}

static enum mase_status export_program(struct mase_ow_export *e, struct mase_err *err)
{
    const size_t n = (size_t)e->program->value_count;
    e->known = mase_new_array(&e->scratch, struct mase_tensor *, n);
    e->format = mase_new_array(&e->scratch, const struct mase_format *, n);
    e->name = mase_new_array(&e->scratch, const char *, n);
    add_sources(e);
    for (const struct mase_instr *i = e->program->first; i; i = i->next)
        MASE_TRY(mase_node_place(i->node, export_instr(e, i, err), err));
    e->instr = NULL;
    e->graph.output.items = mase_new_array(e->a, struct mase_onnx_value_info, n);
    return add_outputs(e, &e->program->output, err);
}

static void print_model(struct mase_str *out, struct mase_ow_export *e)
{
    struct mase_onnx_opset opset[] = { { .version = e->opset },
                                       { .version = 1, .domain = MASE_OW_QONNX } };
    struct mase_onnx_model model = { .ir_version = e->opset >= 21   ? 10
                                                   : e->opset >= 19 ? 9
                                                                    : 8,
                                     .producer_name = "mase",
                                     .producer_version = MASE_VERSION,
                                     .graph = &e->graph };
    opset[0].head.has = opset[1].head.has = 1u << 2;
    model.head.has = 1u << 1;
    model.opset_import.items = opset;
    model.opset_import.count = e->qonnx ? 2 : 1;
    e->graph.name = e->program->name;
    mase_onnx_print(out, MASE_ONNX_MESSAGE_model, &model);
}

/* Check the model as a reader of the file would; name the node that is wrong. */
static enum mase_status check_model(struct mase_ow_export *e, const struct mase_str *model,
                                    struct mase_err *err)
{
    struct mase_err fault = { 0 };
    int node;
    if (!mase_onnx_check(&node, mase_str_text(model), model->len, &fault))
        return MASE_OK;
    e->instr = node < 0 ? NULL : e->by[node];
    const enum mase_status st = mase_ow_refuse(e, err, "no reader would take it: %s", fault.msg);
    return e->instr ? mase_node_place(e->instr->node, st, err) : st;
}

static enum mase_status export_once(struct mase_ow_export *e, struct mase_str *out,
                                    struct mase_err *err)
{
    MASE_TRY(export_program(e, err));
    print_model(out, e);
    return check_model(e, out, err);
}

/* `refused` is set if the other dialect may be able to express a rounding. In opsets with 16-bit
 * codes ONNX Runtime's optimiser turns int8 into uint8 and forgets half of the consequences, so
 * there int8 is written as uint8. */
static enum mase_status export_as(struct mase_str *out, struct mase_program *p,
                                  enum mase_onnx_dialect dialect, struct mase_onnx_written *told,
                                  bool *refused, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    bool again = false;
    do {
        struct mase_arena a = { 0 };
        struct mase_ow_export e = { .a = &a,
                                    .opset = LEAST_OPSET,
                                    .names = { .arena = &a },
                                    .program = p,
                                    .dialect = dialect,
                                    .unsigned_bytes = again };
        mase_str_release(out);
        st = export_once(&e, out, err);
        again = !st && !again && e.opset >= 21 && e.rounds;
        told->float_weights = e.float_weights;
        told->float_biases = e.float_biases;
        told->rounded_biases = e.rounded_biases;
        told->bias_off = e.bias_off;
        *refused = e.refused;
        mase_arena_release(&e.scratch);
        mase_arena_release(&a);
    } while (again);
    return st;
}

/* Log where the file differs from the network. */
static void tell(const struct mase_onnx_written *how)
{
    if (how->rounded_biases)
        mase_warn("biases of %d layer%s are rounded to the scale of their products, by up to %.3g: "
                  "--engine int computes these, float does not round them",
                  how->rounded_biases, how->rounded_biases == 1 ? "" : "s", how->bias_off);
    if (how->float_biases)
        mase_info("biases of %d layer%s stay floats: they are no whole numbers at the scale of "
                  "their products",
                  how->float_biases, how->float_biases == 1 ? "" : "s");
    if (how->float_weights)
        mase_info("weights of %d layer%s stay floats: what they are rounded to is no integers of "
                  "16 bits times a scale, or one for each channel",
                  how->float_weights, how->float_weights == 1 ? "" : "s");
}

enum mase_status mase_onnx_export(struct mase_str *out, struct mase_graph *g,
                                  const struct mase_input *inputs, int input_count,
                                  struct mase_onnx_written *how, struct mase_err *err)
{
    const struct mase_lower_opts opts = { .inputs = inputs, .input_count = input_count };
    const bool choose = how->dialect == MASE_ONNX_ANY;
    struct mase_program *p;
    struct mase_err unwanted;
    bool refused;
    MASE_TRY(mase_graph_need_learned(g, err));
    MASE_TRY(mase_program_lower(&p, g, &opts, err));
    if (choose)
        how->dialect = MASE_ONNX_QDQ;
    enum mase_status st = export_as(out, p, how->dialect, how, &refused, err);
    if (st && choose && refused && !export_as(out, p, MASE_ONNX_QONNX, how, &refused, &unwanted)) {
        how->dialect = MASE_ONNX_QONNX;
        how->why = *err;
        *err = (struct mase_err){ 0 };
        st = MASE_OK;
    }
    mase_program_free(p);
    if (!st)
        tell(how);
    return st;
}
