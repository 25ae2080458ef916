/*
 * meta.c - metadata: finding, copying, and turning it into the dictionaries that reports print.
 *
 * The order of keys is that in which the original writes them; it shows where a record is printed
 * as it is.
 */
#include <string.h>

#include <mase/meta.h>

#include "ir/text/arg.h"

const char *const mase_section_names[] = {
    [MASE_COMMON] = "common",
    [MASE_HARDWARE] = "hardware",
    [MASE_SOFTWARE] = "software",
};

/* ---- finding ---- */

static struct mase_meta_arg *find(struct mase_meta_arg *args, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (mase_streq(args[i].name, name))
            return &args[i];
    return NULL;
}

struct mase_meta_arg *mase_meta_arg(const struct mase_meta *m, const char *name)
{
    return find(m->args, m->arg_count, name);
}

struct mase_meta_arg *mase_meta_result(const struct mase_meta *m, const char *name)
{
    return find(m->results, m->result_count, name);
}

/* ---- copying ---- */

static struct mase_tensor *copy_tensor(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_tensor *copy = mase_arena_memdup(a, t, sizeof *t);
    if (t->data)
        copy->data = mase_arena_memdup(a, t->data, (size_t)mase_tensor_bytes(t));
    return copy;
}

static struct mase_meta_arg *copy_args(struct mase_graph *g, const struct mase_meta_arg *src,
                                       int count)
{
    struct mase_meta_arg *args = mase_new_array(&g->arena, struct mase_meta_arg, (size_t)count);
    for (int i = 0; i < count; i++) {
        args[i] = src[i];
        args[i].name = mase_intern(&g->intern, src[i].name);
        args[i].raw = mase_arg_copy(&g->arena, &src[i].raw);
        args[i].value = src[i].value ? copy_tensor(&g->arena, src[i].value) : NULL;
    }
    return args;
}

static struct mase_value *copy_value(struct mase_graph *g, const struct mase_value *v)
{
    return v ? mase_value_copy(&g->arena, v) : NULL;
}

static struct mase_meta_stat *copy_stats(struct mase_graph *g, const struct mase_meta_stat *src,
                                         int count)
{
    struct mase_meta_stat *stats = mase_new_array(&g->arena, struct mase_meta_stat, (size_t)count);
    for (int i = 0; i < count; i++) {
        stats[i].name = mase_intern(&g->intern, src[i].name);
        stats[i].stat = copy_value(g, src[i].stat);
    }
    return stats;
}

/* The nodes of the same names; those that g does not have are left out. */
static struct mase_node **copy_nodes(struct mase_graph *g, struct mase_node *const *src, int *count)
{
    struct mase_node **nodes = mase_new_array(&g->arena, struct mase_node *, (size_t)*count);
    int n = 0;
    for (int i = 0; i < *count; i++) {
        struct mase_node *twin = mase_graph_find(g, src[i]->name);
        if (twin)
            nodes[n++] = twin;
    }
    *count = n;
    return nodes;
}

struct mase_meta *mase_meta_copy(struct mase_graph *g, const struct mase_meta *src)
{
    struct mase_meta *m = mase_arena_memdup(&g->arena, src, sizeof *src);

    m->args = copy_args(g, src->args, src->arg_count);
    m->results = copy_args(g, src->results, src->result_count);
    m->sw_args = copy_stats(g, src->sw_args, src->sw_arg_count);
    m->sw_results = copy_stats(g, src->sw_results, src->sw_result_count);
    m->hw.interface = copy_value(g, src->hw.interface);
    m->hw.verilog_param = copy_value(g, src->hw.verilog_param);
    if (src->nodes_in)
        m->nodes_in = copy_nodes(g, src->nodes_in, &m->nodes_in_count);
    if (src->nodes_out)
        m->nodes_out = copy_nodes(g, src->nodes_out, &m->nodes_out_count);
    m->verilog_sources = copy_value(g, src->verilog_sources);
    return m;
}

/* ---- as dictionaries: common ---- */

struct mase_value *mase_format_type(struct mase_arena *a, const struct mase_format *f)
{
    return mase_value_string(a, mase_format_name(f));
}

struct mase_value *mase_format_precision(struct mase_arena *a, const struct mase_format *f)
{
    if (f)
        return mase_value_copy(a, f->config);
    struct mase_value *list = mase_value_list(a);
    mase_value_push(a, list, mase_value_int(a, 32));
    return list;
}

static struct mase_value *shape_value(struct mase_arena *a, const struct mase_shape *s)
{
    return mase_value_ints(a, s->dim, s->rank);
}

/* Python's name for the type of a plain value. */
static const char *class_name(enum mase_arg_kind kind)
{
    static const char *const names[] = {
        [MASE_ARG_NONE] = "<class 'NoneType'>", [MASE_ARG_BOOL] = "<class 'bool'>",
        [MASE_ARG_INT] = "<class 'int'>",       [MASE_ARG_FLOAT] = "<class 'float'>",
        [MASE_ARG_TEXT] = "<class 'str'>",      [MASE_ARG_ATOM] = "<class 'torch.dtype'>",
        [MASE_ARG_NODE] = "<class 'Node'>",     [MASE_ARG_TENSOR] = "<class 'torch.Tensor'>",
        [MASE_ARG_TUPLE] = "<class 'tuple'>",   [MASE_ARG_LIST] = "<class 'list'>",
        [MASE_ARG_DICT] = "<class 'dict'>",     [MASE_ARG_SLICE] = "<class 'slice'>",
    };
    return names[kind];
}

/* A tensor stands in a report as its type and shape: "<f32[8, 16]>". */
static struct mase_value *tensor_value(struct mase_arena *a, struct mase_tensor *t)
{
    return mase_arg_to_value(a, &(struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = t });
}

static void set_type(struct mase_arena *a, struct mase_value *v, const struct mase_meta_arg *arg)
{
    mase_value_set(a, v, "type", mase_format_type(a, arg->format));
    mase_value_set(a, v, "precision", mase_format_precision(a, arg->format));
}

static void set_shape(struct mase_arena *a, struct mase_value *v, const struct mase_meta_arg *arg)
{
    mase_value_set(a, v, "shape", shape_value(a, &arg->shape));
}

static void set_dtype(struct mase_arena *a, struct mase_value *v, const struct mase_meta_arg *arg)
{
    mase_value_set(a, v, "torch_dtype", mase_value_atom(a, mase_dtypes[arg->dtype].torch));
}

/* The type of an argument comes before its precision, that of a result after it. */
static struct mase_value *record(struct mase_arena *a, const struct mase_meta_arg *arg,
                                 bool is_result)
{
    struct mase_value *v = mase_value_table(a);
    switch (arg->kind) {
    case MASE_META_RAW:
        return mase_arg_to_value(a, &arg->raw);
    case MASE_META_OBJECT:
        mase_value_set(a, v, "type", mase_value_atom(a, class_name(arg->raw.kind)));
        set_shape(a, v, arg);
        mase_value_set(a, v, "value", mase_arg_to_value(a, &arg->raw));
        return v;
    case MASE_META_PARAM:
        set_type(a, v, arg);
        set_shape(a, v, arg);
        mase_value_set(a, v, "from", mase_value_none(a));
        break;
    case MASE_META_TENSOR:
        if (is_result)
            set_type(a, v, arg);
        set_shape(a, v, arg);
        set_dtype(a, v, arg);
        if (!is_result)
            set_type(a, v, arg);
        break;
    }
    if (arg->value)
        mase_value_set(a, v, "value", tensor_value(a, arg->value));
    return v;
}

static struct mase_value *records(struct mase_arena *a, const struct mase_meta_arg *args, int count,
                                  bool are_results)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < count; i++)
        mase_value_set(a, v, args[i].name, record(a, &args[i], are_results));
    return v;
}

static struct mase_value *node_names(struct mase_arena *a, struct mase_node *const *nodes,
                                     int count)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < count; i++)
        mase_value_push(a, list, mase_value_atom(a, nodes[i]->name));
    return list;
}

static bool is_graph_level(const struct mase_meta *m)
{
    return m->nodes_in || m->nodes_out;
}

static void fill_common(struct mase_arena *a, struct mase_value *v, const struct mase_meta *m)
{
    if (!m->has_common)
        return;
    if (is_graph_level(m)) {
        mase_value_set(a, v, "nodes_in", node_names(a, m->nodes_in, m->nodes_in_count));
        mase_value_set(a, v, "nodes_out", node_names(a, m->nodes_out, m->nodes_out_count));
    } else {
        mase_value_set(a, v, "mase_type", mase_value_string(a, mase_op_type_names[m->type]));
        mase_value_set(a, v, "mase_op", mase_value_string(a, mase_ops[m->op].name));
    }
    mase_value_set(a, v, "args", records(a, m->args, m->arg_count, false));
    mase_value_set(a, v, "results", records(a, m->results, m->result_count, true));
}

/* ---- hardware ---- */

static void fill_hardware(struct mase_arena *a, struct mase_value *v, const struct mase_meta *m)
{
    const struct mase_meta_hw *hw = &m->hw;
    if (m->verilog_sources)
        mase_value_set(a, v, "verilog_sources", mase_value_copy(a, m->verilog_sources));
    if (!hw->valid) { /* add_common_metadata marks inputs and outputs on its way */
        if (hw->is_implicit)
            mase_value_set(a, v, "is_implicit", mase_value_bool(a, true));
        return;
    }
    mase_value_set(a, v, "is_implicit", mase_value_bool(a, hw->is_implicit));
    mase_value_set(a, v, "device_id", mase_value_int(a, hw->device_id));
    if (!hw->is_implicit) {
        struct mase_value *files = mase_value_list(a);
        for (const char *const *f = hw->dependence_files; f && *f; f++)
            mase_value_push(a, files, mase_value_string(a, *f));
        mase_value_set(a, v, "interface",
                       hw->interface ? mase_value_copy(a, hw->interface) : mase_value_table(a));
        mase_value_set(a, v, "toolchain", mase_value_text(a, hw->toolchain));
        mase_value_set(a, v, "module", mase_value_text(a, hw->module));
        mase_value_set(a, v, "dependence_files", files);
    }
    struct mase_value *parallelism = mase_value_list(a);
    for (int i = 0; i < 2; i++)
        mase_value_push(a, parallelism, mase_value_int(a, hw->parallelism[i]));
    mase_value_set(a, v, "parallelism", parallelism);
    if (hw->verilog_param)
        mase_value_set(a, v, "verilog_param", mase_value_copy(a, hw->verilog_param));
}

/* ---- software ---- */

static struct mase_value *stats(struct mase_arena *a, const struct mase_meta_stat *s, int count)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < count; i++) {
        struct mase_value *entry = mase_value_table(a);
        mase_value_set(a, entry, "stat",
                       s[i].stat ? mase_value_copy(a, s[i].stat) : mase_value_table(a));
        mase_value_set(a, v, s[i].name, entry);
    }
    return v;
}

static void fill_software(struct mase_arena *a, struct mase_value *v, const struct mase_meta *m)
{
    if (m->has_software && m->sw_has_args)
        mase_value_set(a, v, "args", stats(a, m->sw_args, m->sw_arg_count));
    if (m->has_software && m->sw_has_results)
        mase_value_set(a, v, "results", stats(a, m->sw_results, m->sw_result_count));
}

struct mase_value *mase_meta_value(struct mase_arena *a, const struct mase_meta *m,
                                   enum mase_section s)
{
    static void (*const fill[])(struct mase_arena *, struct mase_value *,
                                const struct mase_meta *) = {
        [MASE_COMMON] = fill_common,
        [MASE_HARDWARE] = fill_hardware,
        [MASE_SOFTWARE] = fill_software,
    };
    struct mase_value *v = mase_value_table(a);
    fill[s](a, v, m);
    return v;
}
