/*
 * boxes.c - what a drawing says about each node: its group, a few short lines, the call in full.
 */
#include "draw/boxes.h"

#include <inttypes.h>
#include <string.h>

#include <mase/meta.h>

#include "base/number.h"

static const char *keep(struct mase_arena *a, struct mase_str *text)
{
    const char *copy = mase_arena_strdup(a, mase_str_text(text));
    mase_str_release(text);
    return copy;
}

/* "12,345": a count for people. */
static const char *grouped(struct mase_arena *a, int64_t n)
{
    char digits[24];
    struct mase_str text = { 0 };
    const int len = mase_snprintf(digits, sizeof digits, "%" PRId64, n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
            mase_str_addc(&text, ',');
        mase_str_addc(&text, digits[i]);
    }
    return keep(a, &text);
}

/* ---- groups ---- */

/* A weight with rows and columns, the module's or the call's: products, convolutions, tables. */
static bool has_matrix(const struct mase_node *n, const struct mase_module *m)
{
    for (int i = 0; m && i < m->param_count; i++)
        if (m->params[i].tensor.shape.rank > 1)
            return true;
    if (m || n->op == MASE_OP_unknown || !mase_ops[n->op].call)
        return false;
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    for (int i = 0; i < sig->count; i++)
        if (sig->param[i].role == 'w')
            return true;
    return false;
}

static const char *group_of(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    switch (n->kind) {
    case MASE_PLACEHOLDER:
        return "input";
    case MASE_GET_ATTR:
        return "constant";
    case MASE_OUTPUT:
        return "output";
    default:
        break;
    }
    if (has_matrix(n, m))
        return "layer";
    if (m && m->param_count)
        return "norm";
    switch (mase_node_op_type(n)) {
    case MASE_TYPE_BUILTIN_FUNC:
        return "arithmetic";
    case MASE_TYPE_MODULE:
    case MASE_TYPE_MODULE_RELATED_FUNC:
        return "activation";
    default:
        return n->op == MASE_OP_softmax ? "activation" : "layout";
    }
}

/* ---- facts ---- */

static const struct mase_shape *shape_of(const struct mase_node *n, const struct mase_draw *opts)
{
    const struct mase_arg *value = opts->values ? mase_values_get(opts->values, n) : NULL;
    if (value)
        return value->kind == MASE_ARG_TENSOR ? &value->tensor->shape : NULL;
    if (!n->meta || !n->meta->result_count || n->meta->results[0].kind != MASE_META_TENSOR)
        return NULL;
    return &n->meta->results[0].shape;
}

static const struct mase_arg *attr_of(const struct mase_module *m, const char *name)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    for (int i = 0; i < sig->count; i++)
        if (mase_streq(sig->param[i].name, name))
            return &m->attrs[i];
    return NULL;
}

/* " 3x3": the sizes of a window, one by one. */
static void add_sizes(struct mase_str *out, const struct mase_arg *size)
{
    if (size->kind == MASE_ARG_INT)
        mase_str_printf(out, "%" PRId64, size->i);
    if (size->kind != MASE_ARG_TUPLE && size->kind != MASE_ARG_LIST)
        return;
    for (int i = 0; i < size->count; i++) {
        mase_str_add(out, i ? "\u00d7" : "");
        mase_arg_print(out, &size->items[i], false);
    }
}

static bool all_ones(const struct mase_arg *size)
{
    if (size->kind == MASE_ARG_INT)
        return size->i == 1;
    for (int i = 0; i < size->count; i++)
        if (!all_ones(&size->items[i]))
            return false;
    return true;
}

/* The class, with attributes that distinguish its calls: "Conv2d 3x3, stride 2x2". */
static const char *call_of(struct mase_arena *a, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    struct mase_str text = { 0 };
    if (n->kind == MASE_GET_ATTR)
        return n->target;
    if (n->kind == MASE_PLACEHOLDER || n->kind == MASE_OUTPUT)
        return n->kind == MASE_OUTPUT ? "result" : "input";
    mase_node_type_name(&text, n);
    const struct mase_arg *kernel = m ? attr_of(m, "kernel_size") : NULL;
    const struct mase_arg *stride = m ? attr_of(m, "stride") : NULL;
    if (kernel) {
        mase_str_addc(&text, ' ');
        add_sizes(&text, kernel);
    }
    if (kernel && stride && stride->kind != MASE_ARG_NONE && !all_ones(stride)) {
        mase_str_add(&text, ", stride ");
        add_sizes(&text, stride);
    }
    return keep(a, &text);
}

/* ---- lines ---- */

static void add_line(struct mase_box *b, const char *text)
{
    if (text && text[0] && b->lines < MASE_BOX_LINES)
        b->line[b->lines++] = text;
}

/* "[8, 64]  1,088 parameters" */
static const char *size_line(struct mase_arena *a, const struct mase_box *b, bool with_shape)
{
    const int64_t params = mase_module_param_count(mase_node_module(b->node));
    struct mase_str text = { 0 };
    if (b->shape && with_shape)
        mase_str_add(&text, b->shape);
    if (params)
        mase_str_printf(&text, "%s%s params", text.len ? " \u00b7 " : "", grouped(a, params));
    return keep(a, &text);
}

/* The operands that share the format of the first, "weight, bias integer(8, 4)"; the format alone
 * when all do. Takes them from the list. */
static const char *format_line(struct mase_arena *a, const struct mase_format *const *operand,
                               bool *listed)
{
    const struct mase_format *format = NULL;
    struct mase_str names = { 0 };
    bool all = true;
    for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
        if (!operand[i])
            continue;
        if (listed[i] || (format && format != operand[i])) {
            all = false;
            continue;
        }
        format = operand[i];
        listed[i] = true;
        mase_str_printf(&names, "%s%s", names.len ? ", " : "", mase_operand_names[i]);
    }
    if (!format)
        return NULL;
    if (all)
        mase_str_clear(&names);
    else
        mase_str_addc(&names, ' ');
    mase_format_tell(&names, format);
    return keep(a, &names);
}

static void add_formats(struct mase_arena *a, struct mase_box *b)
{
    const struct mase_quant *q = mase_node_quant(b->node);
    bool listed[MASE_OPERAND_COUNT] = { 0 };
    b->quantised = q && !q->bypass;
    if (q && q->bypass)
        add_line(b, "float (bypass)");
    for (int i = 0; b->quantised && i < MASE_OPERAND_COUNT; i++)
        add_line(b, format_line(a, q->operand, listed));
}

static const char *tip_of(struct mase_arena *a, const struct mase_box *b)
{
    const struct mase_module *m = mase_node_module(b->node);
    struct mase_str text = { 0 };
    mase_node_print(&text, b->node);
    if (m) {
        mase_str_addc(&text, '\n');
        mase_module_repr(&text, m);
    }
    if (b->shape)
        mase_str_printf(&text, "\nresult %s", b->shape);
    for (int i = 2; i < b->lines; i++)
        if (!mase_starts_with(b->line[i], "["))
            mase_str_printf(&text, "\n%s", b->line[i]);
    return keep(a, &text);
}

static void fill_box(struct mase_box *b, struct mase_arena *a, const struct mase_draw *opts)
{
    struct mase_draw_note note = { 0 };
    const struct mase_shape *shape = shape_of(b->node, opts);
    struct mase_str text = { 0 };
    if (shape) {
        mase_shape_print(&text, shape);
        b->shape = keep(a, &text);
    }
    b->group = group_of(b->node);
    add_line(b, b->node->name);
    add_line(b, call_of(a, b->node));
    add_line(b, size_line(a, b, !opts->edge_shapes));
    add_formats(a, b);
    b->tip = tip_of(a, b);
    if (opts->note)
        opts->note(&note, b->node, opts->note_data);
    add_line(b, note.line ? mase_arena_strdup(a, note.line) : NULL);
    b->href = note.href ? mase_arena_strdup(a, note.href) : NULL;
    b->css_class = note.css_class ? mase_arena_strdup(a, note.css_class) : NULL;
}

struct mase_box *mase_draw_boxes(struct mase_arena *a, const struct mase_graph *g,
                                 const struct mase_draw *opts)
{
    struct mase_box *boxes = mase_new_array(a, struct mase_box, (size_t)g->node_count);
    int i = 0;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        boxes[i].node = n;
        fill_box(&boxes[i++], a, opts);
    }
    return boxes;
}
