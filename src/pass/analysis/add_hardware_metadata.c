/*
 * add_hardware_metadata.c - the hardware module of each node, and its parameters.
 *
 * Implicit nodes (placeholders, the output, views at the graph's edge) become none. Of the others,
 * those with a row in hw_modules.c have a module of their own; the rest go through high-level
 * synthesis. Sizes count from the innermost dimension. The parallelism list has two entries, for
 * the rows and columns of a matrix: a dimension beyond it is not split, so its parallelism is 1.
 */

#include "base/number.h"
#include "ir/text/arg.h"
#include "pass/support.h"

static bool is_record(const struct mase_meta_arg *arg)
{
    return arg->kind != MASE_META_RAW;
}

static struct mase_value *interface_of(struct mase_arena *a, const struct mase_meta *m)
{
    struct mase_value *all = mase_value_table(a);
    for (int i = 0; i < m->arg_count; i++) {
        if (mase_starts_with(m->args[i].name, "data_in"))
            continue;
        struct mase_value *one = mase_value_set(a, all, m->args[i].name, mase_value_table(a));
        if (is_record(&m->args[i])) {
            mase_value_set(a, one, "storage", mase_value_string(a, "BRAM"));
            mase_value_set(a, one, "transpose", mase_value_bool(a, false));
        }
    }
    return all;
}

/* ---- verilog parameters ---- */

struct verilog {
    struct mase_arena *arena;
    struct mase_value *params;
    const int *parallelism;
};

static const char *upper(struct mase_arena *a, const char *name)
{
    char *s = mase_arena_strdup(a, name);
    for (char *p = s; *p; p++)
        *p = mase_to_upper(*p);
    return s;
}

static void set(const struct verilog *v, const char *name, const char *what, int i, int64_t value)
{
    const char *key = mase_arena_printf(v->arena, "%s_%s_%d", name, what, i);
    mase_value_set(v->arena, v->params, key, mase_value_int(v->arena, value));
}

/* The parameters of a format, with none (NA) as its default; lists and words are not numbers. */
static void set_precision(const struct verilog *v, const char *name, const struct mase_format *f)
{
    int n = 0;
    if (!f)
        set(v, name, "PRECISION", n++, mase_format_bits(f));
    for (int i = 0; f && i < f->config->count; i++) {
        const struct mase_opt *row = &f->row->params[i];
        const void *field = (const char *)f->params + row->offset;
        const struct mase_ints *list = field;
        if (row->type == MASE_OPT_TYPE_INT)
            set(v, name, "PRECISION", n++, *(const int64_t *)field);
        else if (row->type == MASE_OPT_TYPE_BOOL)
            set(v, name, "PRECISION", n++, *(const bool *)field);
        for (int k = 0; row->type == MASE_OPT_TYPE_INTS && k < list->count; k++)
            set(v, name, "PRECISION", n++, list->item[k]);
    }
}

static void set_record(const struct verilog *v, const struct mase_meta_arg *arg)
{
    const char *name = upper(v->arena, arg->name);
    const struct mase_shape *s = &arg->shape;
    if (arg->kind != MASE_META_OBJECT)
        set_precision(v, name, arg->format);
    for (int d = 0; d < s->rank; d++) {
        int outer = s->rank - 1 - d;
        set(v, name, "TENSOR_SIZE_DIM", d, s->dim[outer]);
        set(v, name, "PARALLELISM_DIM", d, outer < 2 ? v->parallelism[outer] : 1);
    }
}

static void set_raw(const struct verilog *v, const struct mase_meta_arg *arg)
{
    struct mase_arena *a = v->arena;
    struct mase_value *value;
    if (arg->raw.kind == MASE_ARG_BOOL) {
        value = mase_value_int(a, arg->raw.b);
    } else if (arg->raw.kind < MASE_ARG_TEXT) {
        value = mase_arg_to_value(a, &arg->raw);
    } else {
        struct mase_str text = { 0 };
        mase_arg_print(&text, &arg->raw, false);
        value = mase_value_string(a, mase_str_text(&text));
        mase_str_release(&text);
    }
    mase_value_set(a, v->params, upper(a, arg->name), value);
}

static struct mase_value *verilog_of(struct mase_arena *a, const struct mase_meta *m)
{
    struct verilog v = { a, mase_value_table(a), m->hw.parallelism };
    for (int i = 0; i < m->arg_count; i++)
        if (is_record(&m->args[i]))
            set_record(&v, &m->args[i]);
        else
            set_raw(&v, &m->args[i]);
    for (int i = 0; i < m->result_count; i++)
        set_record(&v, &m->results[i]);
    return v.params;
}

/* ---- the pass ---- */

static void describe(struct mase_graph *g, struct mase_node *n)
{
    struct mase_meta_hw *hw = &n->meta->hw;
    const struct mase_hw_module *c = mase_hw_module_of(n->meta->op);
    hw->valid = true;
    hw->parallelism[0] = 1;
    hw->parallelism[1] = 4;
    hw->device_id = hw->is_implicit ? 0 : -1;
    if (hw->is_implicit)
        return;
    hw->toolchain = c->toolchain;
    hw->module = c->module;
    hw->dependence_files = c->files;
    hw->interface = interface_of(&g->arena, n->meta);
    hw->verilog_param = verilog_of(&g->arena, n->meta);
    for (int i = 0; c->files[i]; i++)
        mase_value_push(&g->arena, g->meta->verilog_sources,
                        mase_value_string(&g->arena, c->files[i]));
}

static enum mase_status run(const struct mase_graph *graph, const void *opts,
                            struct mase_pass_env *env, struct mase_err *err)
{
    (void)opts, (void)env, (void)err;
    struct mase_graph *g = mase_side_tables(graph);
    for (struct mase_node *n = g->first; n; n = n->next)
        n->meta->hw = (struct mase_meta_hw){ 0 };
    mase_meta_boundary(g);
    g->meta->verilog_sources = mase_value_list(&g->arena);
    for (struct mase_node *n = g->first; n; n = n->next)
        describe(g, n);
    return MASE_OK;
}

const struct mase_pass mase_pass_add_hardware_metadata = {
    .name = "add_hardware_metadata",
    .help = "tool chain, module, files and verilog parameters of every node that computes",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .gives = MASE_PROP_HARDWARE,
    .analyse = run,
};
