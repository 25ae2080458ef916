/*
 * mg_print.c - write .mg, which mg_parse.c reads back to an equal graph.
 */
#include <mase/meta.h>
#include <mase/value.h>

#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"
#include "ir/text/mg.h"

const char *const mase_init_names[] = {
    [MASE_INIT_ZEROS] = "zeros",   [MASE_INIT_ONES] = "ones",   [MASE_INIT_UNIFORM] = "uniform",
    [MASE_INIT_NORMAL] = "normal", [MASE_INIT_UNSET] = "unset",
};

static void print_label(struct mase_str *out, const char *s)
{
    if (mase_mg_is_word(s))
        mase_str_add(out, s);
    else
        mase_mg_quote(out, s);
}

static void print_type(struct mase_str *out, enum mase_dtype dtype, const struct mase_shape *shape)
{
    mase_str_add(out, mase_dtypes[dtype].name);
    mase_shape_print(out, shape);
}

static void print_quant(struct mase_str *out, const struct mase_quant *q)
{
    struct mase_arena scratch = { 0 };
    struct mase_arg config = mase_quant_config(&scratch, q);
    mase_str_add(out, " quantized ");
    mase_arg_write(out, &config, MASE_ARG_MG);
    mase_arena_release(&scratch);
}

/* ---- modules ---- */

static void print_arguments(struct mase_str *out, const struct mase_module *m)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    const char *sep = "";
    for (int i = 0; i < sig->count; i++) {
        if (mase_module_attr_is_default(m, i))
            continue;
        mase_str_printf(out, "%s%s=", sep, sig->param[i].name);
        mase_arg_write(out, &m->attrs[i], MASE_ARG_MG);
        sep = ", ";
    }
}

static void print_values(struct mase_str *out, const struct mase_param *p)
{
    mase_str_addc(out, '[');
    for (int64_t i = 0, n = mase_tensor_count(&p->tensor); i < n; i++) {
        mase_str_add(out, i ? ", " : "");
        mase_repr_float(out, p->values[i]);
    }
    mase_str_addc(out, ']');
}

static void print_start(struct mase_str *out, const struct mase_param *p)
{
    if (p->init == MASE_INIT_VALUES) {
        print_values(out, p);
        return;
    }
    mase_str_add(out, mase_init_names[p->init]);
    if (p->init != MASE_INIT_UNIFORM && p->init != MASE_INIT_NORMAL)
        return;
    mase_str_addc(out, '(');
    mase_repr_float(out, p->scale);
    if (p->centre != 0) {
        mase_str_add(out, ", ");
        mase_repr_float(out, p->centre);
    }
    mase_str_addc(out, ')');
}

/* Only parameters that do not start by PyTorch's default. */
static void print_starts(struct mase_str *out, const struct mase_module *m)
{
    struct mase_arena scratch = { 0 };
    struct mase_module plain = { .path = m->path, .op = m->op, .attrs = m->attrs };
    const char *open = " init {";

    if (mase_params_make(&plain, &scratch, NULL))
        mase_bug("module %s: its attributes do not make it again", m->path);
    for (int i = 0; i < m->param_count; i++) {
        const struct mase_param *p = &m->params[i], *d = &plain.params[i];
        if (p->tied || mase_param_starts_as(p, d))
            continue;
        mase_str_printf(out, "%s%s: ", open, p->name);
        print_start(out, p);
        open = ", ";
    }
    if (*open == ',')
        mase_str_addc(out, '}');
    mase_arena_release(&scratch);
}

static void print_frozen(struct mase_str *out, const struct mase_module *m)
{
    const char *open = " frozen {";
    for (int i = 0; i < m->param_count; i++)
        if (m->params[i].kind == MASE_PARAM_FROZEN && !m->params[i].tied) {
            mase_str_printf(out, "%s%s", open, m->params[i].name);
            open = ", ";
        }
    if (*open == ',')
        mase_str_addc(out, '}');
}

static void print_ties(struct mase_str *out, const struct mase_module *m)
{
    const char *open = " tied {";
    for (int i = 0; i < m->param_count; i++)
        if (m->params[i].tied) {
            mase_str_printf(out, "%s%s: ", open, m->params[i].name);
            print_label(out, m->params[i].tied);
            open = ", ";
        }
    if (*open == ',')
        mase_str_addc(out, '}');
}

static void print_module(struct mase_str *out, const struct mase_module *m)
{
    mase_str_add(out, "module ");
    print_label(out, m->path);
    mase_str_printf(out, " = %s(", mase_ops[m->op].module);
    print_arguments(out, m);
    mase_str_addc(out, ')');
    print_starts(out, m);
    print_frozen(out, m);
    print_ties(out, m);
    if (m->quant)
        print_quant(out, m->quant);
    mase_str_addc(out, '\n');
}

static void print_attr(struct mase_str *out, const struct mase_param *p)
{
    mase_str_add(out, "attr ");
    print_label(out, p->name);
    mase_str_add(out, " = ");
    print_type(out, p->tensor.dtype, &p->tensor.shape);
    mase_str_add(out, p->kind == MASE_PARAM_CONSTANT ? " constant"
                      : mase_param_is_buffer(p)      ? " buffer"
                                                     : "");
    mase_str_add(out, p->kind == MASE_PARAM_FIXED                ? " fixed"
                      : p->kind == MASE_PARAM_FROZEN && !p->tied ? " frozen"
                                                                 : "");
    if (p->tied) {
        mase_str_add(out, " tied ");
        print_label(out, p->tied);
    } else if (p->init != MASE_INIT_ZEROS) {
        mase_str_add(out, " init ");
        print_start(out, p);
    }
    mase_str_addc(out, '\n');
}

/* ---- nodes ---- */

static bool is_dtype_name(const char *s)
{
    for (int i = 0; i < MASE_DTYPE_COUNT; i++)
        if (mase_streq(s, mase_dtypes[i].name))
            return true;
    return false;
}

/* " : torch.Tensor f32[8, 16]", as far as it is known. */
static void print_typing(struct mase_str *out, const struct mase_node *n)
{
    const struct mase_meta_arg *r = n->meta && n->meta->result_count ? n->meta->results : NULL;
    bool typed = r && r->kind == MASE_META_TENSOR && n->kind != MASE_OUTPUT;

    if (!n->annotation && !typed)
        return;
    mase_str_add(out, " :");
    if (n->annotation) {
        mase_str_addc(out, ' ');
        if (is_dtype_name(n->annotation))
            mase_mg_quote(out, n->annotation);
        else
            print_label(out, n->annotation);
    }
    if (typed) {
        mase_str_addc(out, ' ');
        print_type(out, r->dtype, &r->shape);
    }
}

static void print_output(struct mase_str *out, const struct mase_node *n)
{
    if (!mase_streq(n->name, "output") || n->annotation) {
        mase_str_printf(out, "%%%s", n->name);
        print_typing(out, n);
        mase_str_add(out, " = ");
    }
    mase_str_add(out, "return ");
    if (n->args.count)
        mase_arg_write(out, &n->args.items[0], MASE_ARG_MG);
    mase_str_addc(out, '\n');
}

static void print_arguments_of(struct mase_str *out, const struct mase_node *n)
{
    if (n->kind == MASE_GET_ATTR)
        return;
    if (n->kind == MASE_PLACEHOLDER) {
        if (!n->args.count)
            return;
        mase_str_add(out, "(default=");
        mase_arg_write(out, &n->args.items[0], MASE_ARG_MG);
        mase_str_addc(out, ')');
        return;
    }
    mase_str_add(out, "(args = ");
    mase_arg_write(out, &n->args, MASE_ARG_MG);
    mase_str_add(out, ", kwargs = ");
    mase_arg_write(out, &n->kwargs, MASE_ARG_MG);
    mase_str_addc(out, ')');
}

static void print_node(struct mase_str *out, const struct mase_node *n)
{
    if (n->kind == MASE_OUTPUT) {
        print_output(out, n);
        return;
    }
    mase_str_printf(out, "%%%s", n->name);
    print_typing(out, n);
    mase_str_printf(out, " = %s[target=", mase_node_kind_names[n->kind]);
    print_label(out, n->target);
    mase_str_addc(out, ']');
    print_arguments_of(out, n);
    mase_str_add(out, n->no_grad ? " no_grad" : "");
    if (n->mode != MASE_MODE_FOLLOWS)
        mase_str_printf(out, " %s", mase_mode_names[n->mode]);
    if (n->quant)
        print_quant(out, n->quant);
    mase_str_addc(out, '\n');
}

static void print_body(struct mase_str *out, const struct mase_graph *g)
{
    if (g->modules || g->attr_count)
        mase_str_addc(out, '\n');
    for (struct mase_registered r = { 0 }; mase_graph_next_registered(g, &r);)
        if (r.module)
            print_module(out, r.module);
        else
            print_attr(out, r.attr);
    mase_str_addc(out, '\n');
    for (const struct mase_node *n = g->first; n; n = n->next)
        print_node(out, n);
}

void mase_graph_print_mg(struct mase_str *out, const struct mase_graph *g)
{
    mase_str_printf(out, "%s %d\n", MASE_MG_MAGIC, MASE_MG_VERSION);
    if (g->name) {
        mase_str_add(out, "name ");
        print_label(out, g->name);
        mase_str_addc(out, '\n');
    }
    if (g->untrainable) {
        mase_str_add(out, "untrainable ");
        mase_mg_quote(out, g->untrainable);
        mase_str_addc(out, '\n');
    }
    if (g->batch)
        mase_str_printf(out, "batch %lld\n", (long long)g->batch);
    print_body(out, g);
    if (g->training) {
        mase_str_add(out, "\ntraining\n");
        print_body(out, g->training);
    }
}
