/*
 * meta_read.c - node metadata from a table, as mase_meta_table writes it.
 *
 *     [NODE.common]                       mase_type, mase_op
 *     [NODE.common.args.NAME]             a tensor: shape, torch_dtype, type, precision
 *                                         a parameter: type, precision, shape, from
 *     [NODE.common.args] NAME = value     a plain value
 *     [NODE.common.results.data_out_0]    a tensor, or type "<class ...>", shape, value
 *     [NODE.software.args.NAME.stat]      statistics
 *     [NODE.hardware]                     is_implicit, toolchain, verilog_param ...
 *
 * The file is checked against the graph: every node must be there with its own operation, and a
 * parameter must have the shape it has in its layer.
 */
#include <string.h>

#include "ir/text/arg.h"
#include "pass/support.h"

struct reader {
    struct mase_graph *g;
    const struct mase_node *node;
    struct mase_meta *meta; /* metadata for the node, moved there once the whole file is valid */
    struct mase_err *err;
};

static enum mase_status bad(const struct reader *r, const struct mase_value *v, const char *fmt,
                            ...) MASE_PRINTF(3, 4);

static enum mase_status bad(const struct reader *r, const struct mase_value *v, const char *fmt,
                            ...)
{
    struct mase_str why = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&why, fmt, ap);
    va_end(ap);
    enum mase_status st = mase_fail_at(r->err, MASE_EVALUE, v->at, "node '%s': %s", r->node->name,
                                       mase_str_text(&why));
    mase_str_release(&why);
    return st;
}

/* ---- fields ---- */

static enum mase_status need(const struct reader *r, const struct mase_value **v,
                             const struct mase_value *table, const char *key,
                             enum mase_value_kind kind)
{
    *v = mase_value_get(table, key);
    if (!*v)
        return bad(r, table, "%s is missing", key);
    if ((*v)->kind != kind)
        return bad(r, *v, "%s must be of type %s, not %s", key, mase_value_kind_names[kind],
                   mase_value_kind_names[(*v)->kind]);
    return MASE_OK;
}

static enum mase_status read_shape(const struct reader *r, struct mase_shape *s,
                                   const struct mase_value *table)
{
    const struct mase_value *v;
    MASE_TRY(need(r, &v, table, "shape", MASE_LIST));
    if (v->count > MASE_MAX_RANK)
        return bad(r, v, "a shape has at most %d dimensions, not %d", MASE_MAX_RANK, v->count);
    *s = (struct mase_shape){ .rank = v->count };
    for (int i = 0; i < v->count; i++) {
        if (v->items[i]->kind != MASE_INT || v->items[i]->i < 0)
            return bad(r, v->items[i], "a shape holds integers from 0");
        s->dim[i] = v->items[i]->i;
    }
    return MASE_OK;
}

static enum mase_status read_dtype(const struct reader *r, enum mase_dtype *dtype,
                                   const struct mase_value *table)
{
    const struct mase_value *v;
    MASE_TRY(need(r, &v, table, "torch_dtype", MASE_STRING));
    for (int i = 0; i < MASE_DTYPE_COUNT; i++)
        if (mase_streq(mase_dtypes[i].torch, v->s)) {
            *dtype = (enum mase_dtype)i;
            return MASE_OK;
        }
    return bad(r, v, "torch_dtype '%s' is unknown", v->s);
}

static enum mase_status read_format(const struct reader *r, const struct mase_format **f,
                                    const struct mase_value *table)
{
    const struct mase_value *type, *precision;
    MASE_TRY(need(r, &type, table, "type", MASE_STRING));
    MASE_TRY(need(r, &precision, table, "precision", MASE_LIST));
    *f = NULL;
    if (mase_streq(type->s, "float"))
        return MASE_OK;
    const enum mase_quant_kind kind = mase_quant_find(type->s);
    if (kind == MASE_QUANT_COUNT)
        return bad(r, type, "type '%s' is no number format", type->s);
    return mase_format_from_list(f, kind, precision, r->err);
}

/* ---- common ---- */

static enum mase_status check_param(const struct reader *r, const struct mase_meta_arg *arg,
                                    const struct mase_value *v)
{
    const struct mase_module *m = mase_node_module(r->node);
    const struct mase_param *p = m ? mase_module_param(m, arg->name) : NULL;
    if (!p)
        return bad(r, v, "has no parameter '%s'", arg->name);
    if (mase_shape_equal(&p->tensor.shape, &arg->shape))
        return MASE_OK;
    struct mase_str is = { 0 }, says = { 0 };
    mase_shape_print(&is, &p->tensor.shape);
    mase_shape_print(&says, &arg->shape);
    enum mase_status st = bad(r, v, "%s is %s in the graph, not %s", arg->name, mase_str_text(&is),
                              mase_str_text(&says));
    mase_str_release(&is);
    mase_str_release(&says);
    return st;
}

/* The keys of a record tell its kind. */
static enum mase_status read_record(const struct reader *r, struct mase_meta_arg *arg,
                                    const char *name, const struct mase_value *v)
{
    const struct mase_value *type = mase_value_get(v, "type");
    *arg = (struct mase_meta_arg){ .name = mase_intern(&r->g->intern, name) };
    if (!type || type->kind != MASE_STRING) {
        arg->kind = MASE_META_RAW;
        arg->raw = mase_arg_from_value(&r->g->arena, v);
        return MASE_OK;
    }
    MASE_TRY(read_shape(r, &arg->shape, v));
    if (mase_starts_with(type->s, "<class")) {
        const struct mase_value *value = mase_value_get(v, "value");
        arg->kind = MASE_META_OBJECT;
        arg->raw = value ? mase_arg_from_value(&r->g->arena, value) : mase_arg_none();
        return MASE_OK;
    }
    MASE_TRY(read_format(r, &arg->format, v));
    if (mase_value_get(v, "torch_dtype")) {
        arg->kind = MASE_META_TENSOR;
        return read_dtype(r, &arg->dtype, v);
    }
    arg->kind = MASE_META_PARAM;
    return check_param(r, arg, v);
}

static enum mase_status read_records(const struct reader *r, struct mase_meta_arg **out, int *count,
                                     const struct mase_value *common, const char *key)
{
    const struct mase_value *table;
    MASE_TRY(need(r, &table, common, key, MASE_TABLE));
    *out = mase_new_array(&r->g->arena, struct mase_meta_arg, (size_t)table->count);
    *count = table->count;
    for (int i = 0; i < table->count; i++)
        MASE_TRY(read_record(r, &(*out)[i], table->keys[i], table->items[i]));
    return MASE_OK;
}

/* Older files give every get_attr the type of constants, files of the original some. */
static bool is_old_type(const struct mase_node *n, const char *type)
{
    return n->kind == MASE_GET_ATTR &&
           mase_streq(type, mase_op_type_names[MASE_TYPE_IMPLICIT_FUNC]);
}

static enum mase_status read_common(const struct reader *r, const struct mase_value *v)
{
    struct mase_meta *m = r->meta;
    const struct mase_value *op, *type;
    MASE_TRY(need(r, &op, v, "mase_op", MASE_STRING));
    MASE_TRY(need(r, &type, v, "mase_type", MASE_STRING));
    const char *is = mase_ops[r->node->op].name;
    if (!mase_streq(op->s, is))
        return bad(r, op, "is a %s in the graph, not a %s", is, op->s);
    is = mase_op_type_names[mase_node_op_type(r->node)];
    if (!mase_streq(type->s, is) && !is_old_type(r->node, type->s))
        return bad(r, type, "is of type %s in the graph, not %s", is, type->s);
    MASE_TRY(read_records(r, &m->args, &m->arg_count, v, "args"));
    MASE_TRY(read_records(r, &m->results, &m->result_count, v, "results"));
    m->has_common = true;
    return MASE_OK;
}

/* ---- software and hardware ---- */

static enum mase_status read_stats(const struct reader *r, struct mase_meta_stat **out, int *count,
                                   bool *present, const struct mase_value *v, const char *key)
{
    struct mase_arena *a = &r->g->arena;
    const struct mase_value *table = mase_value_get(v, key);
    *present = table != NULL;
    *count = 0;
    if (!table)
        return MASE_OK;
    MASE_TRY(need(r, &table, v, key, MASE_TABLE));
    *out = mase_new_array(a, struct mase_meta_stat, (size_t)table->count);
    for (int i = 0; i < table->count; i++) {
        const struct mase_value *stat;
        MASE_TRY(need(r, &stat, table->items[i], "stat", MASE_TABLE));
        (*out)[(*count)++] = (struct mase_meta_stat){ mase_intern(&r->g->intern, table->keys[i]),
                                                      mase_value_copy(a, stat) };
    }
    return MASE_OK;
}

static enum mase_status read_software(const struct reader *r, const struct mase_value *v)
{
    struct mase_meta *m = r->meta;
    MASE_TRY(read_stats(r, &m->sw_args, &m->sw_arg_count, &m->sw_has_args, v, "args"));
    MASE_TRY(read_stats(r, &m->sw_results, &m->sw_result_count, &m->sw_has_results, v, "results"));
    m->has_software = m->sw_has_args || m->sw_has_results;
    return MASE_OK;
}

/* Check the module: it follows from the operation, so another one means a file of another version.
 */
static enum mase_status check_hw_module(const struct reader *r, const struct mase_hw_module *c,
                                        const struct mase_value *v)
{
    const struct mase_value *toolchain, *files, *module = mase_value_get(v, "module");
    MASE_TRY(need(r, &toolchain, v, "toolchain", MASE_STRING));
    MASE_TRY(need(r, &files, v, "dependence_files", MASE_LIST));
    const char *name = module && module->kind == MASE_STRING ? module->s : NULL;
    if (!mase_streq(toolchain->s, c->toolchain))
        return bad(r, toolchain, "toolchain is %s here, not %s", c->toolchain, toolchain->s);
    if (!mase_streq(name, c->module))
        return bad(r, module ? module : v, "module is %s here", c->module ? c->module : "none");
    int n = 0;
    while (c->files[n])
        n++;
    bool same = files->count == n;
    for (int i = 0; same && i < n; i++)
        same = files->items[i]->kind == MASE_STRING && mase_streq(files->items[i]->s, c->files[i]);
    return same ? MASE_OK : bad(r, files, "dependence_files are others here");
}

static enum mase_status read_hw_module(const struct reader *r, struct mase_meta_hw *hw,
                                       const struct mase_value *v)
{
    struct mase_arena *a = &r->g->arena;
    const struct mase_hw_module *c = mase_hw_module_of(r->node->op);
    const struct mase_value *interface, *params;
    MASE_TRY(check_hw_module(r, c, v));
    MASE_TRY(need(r, &interface, v, "interface", MASE_TABLE));
    MASE_TRY(need(r, &params, v, "verilog_param", MASE_TABLE));
    hw->toolchain = c->toolchain;
    hw->module = c->module;
    hw->dependence_files = c->files;
    hw->interface = mase_value_copy(a, interface);
    hw->verilog_param = mase_value_copy(a, params);
    return MASE_OK;
}

static enum mase_status read_hardware(const struct reader *r, const struct mase_value *v)
{
    struct mase_meta_hw *hw = &r->meta->hw;
    const struct mase_value *implicit, *device, *parallelism;
    if (!mase_value_get(v, "device_id"))
        return MASE_OK; /* was never filled in */
    MASE_TRY(need(r, &implicit, v, "is_implicit", MASE_BOOL));
    MASE_TRY(need(r, &device, v, "device_id", MASE_INT));
    MASE_TRY(need(r, &parallelism, v, "parallelism", MASE_LIST));
    if (parallelism->count != 2 || parallelism->items[0]->kind != MASE_INT ||
        parallelism->items[1]->kind != MASE_INT)
        return bad(r, parallelism, "parallelism holds two integers");
    hw->valid = true;
    hw->is_implicit = implicit->b;
    hw->device_id = (int)device->i;
    for (int i = 0; i < 2; i++)
        hw->parallelism[i] = (int)parallelism->items[i]->i;
    return hw->is_implicit ? MASE_OK : read_hw_module(r, hw, v);
}

/* ---- the file ---- */

static enum mase_status read_node(const struct reader *r, const struct mase_value *v)
{
    const struct mase_value *section;
    *r->meta = (struct mase_meta){ .op = r->node->op, .type = mase_node_op_type(r->node) };
    MASE_TRY(need(r, &section, v, "common", MASE_TABLE));
    MASE_TRY(read_common(r, section));
    if (mase_value_get(v, "software")) {
        MASE_TRY(need(r, &section, v, "software", MASE_TABLE));
        MASE_TRY(read_software(r, section));
    }
    if (mase_value_get(v, "hardware")) {
        MASE_TRY(need(r, &section, v, "hardware", MASE_TABLE));
        MASE_TRY(read_hardware(r, section));
    }
    return MASE_OK;
}

static enum mase_status check_names(const struct mase_graph *g, const struct mase_value *table,
                                    struct mase_err *err)
{
    for (int i = 0; i < table->count; i++)
        if (!mase_graph_find(g, table->keys[i]))
            return mase_fail_at(err, MASE_EVALUE, table->key_at[i], "the graph has no node '%s'",
                                table->keys[i]);
    return MASE_OK;
}

static void collect_sources(struct mase_graph *g)
{
    g->meta->verilog_sources = mase_value_list(&g->arena);
    for (const struct mase_node *n = g->first; n; n = n->next)
        for (int i = 0; n->meta->hw.dependence_files && n->meta->hw.dependence_files[i]; i++)
            mase_value_push(&g->arena, g->meta->verilog_sources,
                            mase_value_string(&g->arena, n->meta->hw.dependence_files[i]));
}

static enum mase_status read_all(struct mase_meta *metas, struct mase_graph *g,
                                 const struct mase_value *table, struct mase_err *err)
{
    struct reader r = { .g = g, .meta = metas, .err = err };
    for (const struct mase_node *n = g->first; n; n = n->next, r.meta++) {
        const struct mase_value *v = mase_value_get(table, n->name);
        r.node = n;
        if (!v)
            return bad(&r, table, "is missing");
        if (v->kind != MASE_TABLE)
            return bad(&r, v, "must be a table, not %s", mase_value_kind_names[v->kind]);
        MASE_TRY(read_node(&r, v));
    }
    return MASE_OK;
}

enum mase_status mase_meta_read(struct mase_graph *g, const struct mase_value *table,
                                struct mase_err *err)
{
    unsigned props = MASE_PROP_ALL;
    struct mase_meta *metas = mase_new_array(&g->arena, struct mase_meta, (size_t)g->node_count);
    MASE_TRY(check_names(g, table, err));
    MASE_TRY(read_all(metas, g, table, err));
    for (struct mase_node *n = g->first; n; n = n->next) {
        n->meta = metas++;
        if (!n->meta->has_software)
            props &= ~(unsigned)MASE_PROP_SOFTWARE;
        if (!n->meta->hw.valid)
            props &= ~(unsigned)MASE_PROP_HARDWARE;
    }
    g->meta = mase_new(&g->arena, struct mase_meta);
    g->meta->has_common = true;
    mase_meta_boundary(g);
    if (props & MASE_PROP_HARDWARE)
        collect_sources(g);
    g->props = props;
    return MASE_OK;
}
