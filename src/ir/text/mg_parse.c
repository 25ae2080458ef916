/*
 * mg_parse.c - reads .mg, the text form of a graph.
 *
 * The first line is "mase-graph 1". Every further line is one statement; inside of brackets lines
 * may be broken, and # begins a comment. What is used must stand above.
 *
 *     name NAME                          the model's name
 *     untrainable WHY                    it cannot be trained, for this reason
 *     batch NUMBER                       of samples that it takes at a time; without: any
 *     module PATH = CLASS(ARGUMENTS)     a layer, as one would construct it in PyTorch; then, each
 *                                        at most once and in this order:
 *           init {weight: START, ...}        not PyTorch's default START for these parameters
 *           frozen {weight, ...}             these parameters are not trained
 *           tied {weight: PATH, ...}         these are other names of the parameters at PATH
 *           quantized {SETTINGS}             number formats, as the quantise pass is configured
 *     attr PATH = TYPE                   what get_attr reads; then: buffer, constant or frozen, and
 *                                        init START or tied PATH; buffer fixed: the network was
 *                                        made with its numbers, and no file may change them
 *     %NAME TYPING = placeholder[target=NAME]      with (default=VALUE) for an optional input
 *     %NAME TYPING = get_attr[target=PATH]
 *     %NAME TYPING = KIND[target=TARGET](args = (VALUE, ...), kwargs = {NAME: VALUE, ...})
 *                                        KIND: call_function, call_method, call_module; kwargs may
 *                                        be left out; then no_grad: gradients stop at its result;
 *                                        a module may go on with eval or train: the mode it is
 *                                        always in; a function with quantized {SETTINGS}
 *     return VALUE                       what the graph gives: the last statement
 *     training                           or but the last: what follows, modules and all, is the
 *                                        graph while it is trained
 *
 *     TYPING     nothing, or ": ANNOTATION TYPE", either of which may be missing
 *     TYPE       f32[8, 16]; f32 f64 i64 i32 u8 bool
 *     START      zeros, ones, uniform(BOUND, CENTRE), normal(DEVIATION, MEAN), CENTRE and MEAN 0 if
 *                left out, or a list of as many numbers as there are elements
 *     SETTINGS   name: 'integer', data_in_width: 8, data_in_frac_width: 4, weight_width: ...
 *     VALUE      None True False 12 -1.5 inf nan 'text' torch.float32 %node (1,) [1, 2] {a: 1}
 *                slice(None, 2, None) atom('printed as it is')
 *
 * A name, path or target that is no plain word (letters, digits and _ . + -) is quoted. Names of
 * nodes are kept as written. A TYPE before = becomes the node's only result in its metadata, and is
 * not checked: shapes are inferred anew when they are needed.
 */
#include <mase/file.h>
#include <mase/meta.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/mg.h"

#define MAX_TEXT ((size_t)256 << 20)

/* ---- name, module, attr ---- */

/* Refuse more weights than a file may ask for, before memory is. */
static enum mase_status count_bytes(struct mase_mg_parser *p, struct mase_loc at,
                                    const struct mase_param *param)
{
    int64_t bytes = mase_tensor_bytes(&param->tensor);
    if (bytes <= MASE_MAX_WEIGHTS && (p->bytes += bytes) <= MASE_MAX_WEIGHTS)
        return MASE_OK;
    return mase_fail_at(p->err, MASE_ELIMIT, at, "the weights would take more than %lld GiB",
                        (long long)(MASE_MAX_WEIGHTS >> 30));
}

static enum mase_status parse_name(struct mase_mg_parser *p)
{
    const char *name;
    if (p->g->name)
        return mase_mg_fail(p, "the graph is named already: '%s'", p->g->name);
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_label(p, &name, "a name"));
    p->g->name = mase_arena_strdup(&p->g->arena, name);
    return MASE_OK;
}

static enum mase_status parse_untrainable(struct mase_mg_parser *p)
{
    const char *why;
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_label(p, &why, "the reason"));
    mase_graph_refuse_training(p->g, why);
    return MASE_OK;
}

static enum mase_status parse_batch(struct mase_mg_parser *p)
{
    struct mase_arg n;
    const struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_value(p, &n));
    if (n.kind != MASE_ARG_INT || n.i < 1)
        return mase_fail_at(p->err, MASE_EPARSE, at, "a batch is a number of samples, 1 or more");
    p->g->batch = n.i;
    return MASE_OK;
}

static enum mase_status take_class(struct mase_mg_parser *p, enum mase_op *op)
{
    const char *classes[MASE_OP_COUNT], *name = p->lx.t.text;
    if (p->lx.t.kind != MASE_MG_WORD)
        return mase_mg_expected(p, "the class of a layer");
    *op = mase_op_of_module(name);
    if (*op != MASE_OP_unknown)
        return mase_mg_next(&p->lx);
    for (int i = 0; i < MASE_OP_COUNT; i++)
        classes[i] = mase_ops[i].module;
    return mase_fail_unknown(
        p->err, p->lx.t.at,
        &(struct mase_unknown){ name, classes, MASE_OP_COUNT, .before = "; did you mean '" },
        "unknown layer '%s'", name);
}

static enum mase_status parse_module(struct mase_mg_parser *p)
{
    struct mase_arg args = { .kind = MASE_ARG_TUPLE }, kwargs = { .kind = MASE_ARG_DICT };
    struct mase_module *m = NULL;
    struct mase_quant quant;
    const char *path;
    enum mase_op op = MASE_OP_unknown;

    MASE_TRY(mase_mg_next(&p->lx));
    struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_label(p, &path, "the path of the module"));
    MASE_TRY(mase_mg_need(p, "="));
    MASE_TRY(take_class(p, &op));
    if (!mase_mg_at(p, "("))
        return mase_mg_expected(p, "'('");
    MASE_TRY(mase_mg_items(p, &args, &kwargs, ")"));
    if (mase_graph_add_module(p->g, &m, path, op, &args, &kwargs, p->err))
        return mase_place(p->err, at);
    for (int i = 0; i < m->param_count; i++)
        MASE_TRY(count_bytes(p, at, &m->params[i]));

    if (mase_mg_at(p, "init")) {
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_starts(p, m));
    }
    if (mase_mg_at(p, "frozen")) {
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_frozen(p, m));
    }
    if (mase_mg_at(p, "tied")) {
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_ties(p, m));
    }
    if (mase_mg_at(p, "quantized")) {
        if (!mase_ops[op].quantisable)
            return mase_mg_fail(p, "%s cannot be quantised", mase_ops[op].module);
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_quant(p, &quant));
        mase_module_set_quant(p->g, m, &quant);
    }
    return MASE_OK;
}

static enum mase_status parse_attr(struct mase_mg_parser *p)
{
    struct mase_tensor t;
    const char *path;

    MASE_TRY(mase_mg_next(&p->lx));
    struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_label(p, &path, "the path of the attribute"));
    if (mase_graph_attr(p->g, path))
        return mase_fail_at(p->err, MASE_EVALUE, at, "attribute '%s' exists already", path);
    if (mase_check_path(path, p->err))
        return mase_place(p->err, at);
    MASE_TRY(mase_mg_need(p, "="));
    MASE_TRY(mase_mg_tensor_type(p, &t));
    struct mase_param *param =
        mase_graph_add_attr(p->g, path, t.dtype, &t.shape, MASE_PARAM_TRAINED);
    MASE_TRY(count_bytes(p, at, param));
    if (mase_mg_at(p, "buffer") || mase_mg_at(p, "constant")) {
        const bool constant = mase_mg_at(p, "constant");
        if (constant || param->kind != MASE_PARAM_CONSTANT)
            param->kind = constant ? MASE_PARAM_CONSTANT : MASE_PARAM_BUFFER;
        MASE_TRY(mase_mg_next(&p->lx));
        if (!constant && mase_mg_at(p, "fixed")) {
            param->kind = MASE_PARAM_FIXED;
            MASE_TRY(mase_mg_next(&p->lx));
        }
    } else if (mase_mg_at(p, "frozen")) {
        param->kind = MASE_PARAM_FROZEN;
        MASE_TRY(mase_mg_next(&p->lx));
    }
    if (mase_mg_at(p, "tied")) {
        MASE_TRY(mase_mg_next(&p->lx));
        return mase_mg_tie(p, path);
    }
    if (!mase_mg_at(p, "init"))
        return MASE_OK;
    MASE_TRY(mase_mg_next(&p->lx));
    return mase_mg_start(p, param);
}

/* ---- nodes ---- */

/* The part of a node's line before its arguments. */
struct head {
    struct mase_loc target_at;
    const char *name, *annotation, *target;
    bool typed;
    struct mase_tensor type;
    enum mase_node_kind kind;
};

static bool is_dtype(const struct mase_mg_parser *p)
{
    for (int i = 0; i < MASE_DTYPE_COUNT; i++)
        if (mase_mg_at(p, mase_dtypes[i].name))
            return true;
    return false;
}

static enum mase_status take_typing(struct mase_mg_parser *p, struct head *h)
{
    MASE_TRY(mase_mg_next(&p->lx));
    if (!is_dtype(p) && !mase_mg_at(p, "="))
        MASE_TRY(mase_mg_label(p, &h->annotation, "a type or '='"));
    if (is_dtype(p)) {
        h->typed = true;
        MASE_TRY(mase_mg_tensor_type(p, &h->type));
    }
    return MASE_OK;
}

static enum mase_status take_kind(struct mase_mg_parser *p, struct head *h)
{
    for (int k = 0; k < MASE_OUTPUT; k++) {
        if (!mase_mg_at(p, mase_node_kind_names[k]))
            continue;
        h->kind = (enum mase_node_kind)k;
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_need(p, "["));
        MASE_TRY(mase_mg_need(p, "target"));
        MASE_TRY(mase_mg_need(p, "="));
        h->target_at = p->lx.t.at;
        MASE_TRY(mase_mg_label(p, &h->target, "a target"));
        return mase_mg_need(p, "]");
    }
    return mase_mg_expected(p, "placeholder, get_attr, call_function, call_method, call_module or "
                               "return");
}

static enum mase_status fail_target(struct mase_mg_parser *p, const struct head *h,
                                    const char *what, const char *const *names, int count)
{
    return mase_fail_unknown(
        p->err, h->target_at,
        &(struct mase_unknown){ h->target, names, count, .before = "; did you mean '" },
        "unknown %s '%s'", what, h->target);
}

static enum mase_status check_module_target(struct mase_mg_parser *p, const struct head *h)
{
    if (mase_graph_module(p->g, h->target))
        return MASE_OK;
    int count = 0;
    const char **paths = mase_new_array(&p->scratch, const char *, (size_t)p->g->module_count);
    for (const struct mase_module *m = p->g->modules; m; m = m->next)
        paths[count++] = m->path;
    return fail_target(p, h, "module", paths, count);
}

/* One name of each row is enough to find what was meant: most targets differ in their last part. */
static enum mase_status check_call_target(struct mase_mg_parser *p, const struct head *h)
{
    bool method = h->kind == MASE_CALL_METHOD;
    if (mase_graph_resolve(p->g, h->kind, h->target) != MASE_OP_unknown)
        return MASE_OK;
    const char *names[MASE_OP_COUNT];
    for (int i = 0; i < MASE_OP_COUNT; i++) {
        const char *all = method ? mase_ops[i].methods : mase_ops[i].functions;
        size_t n = 0;
        while (all && all[n] && all[n] != ' ')
            n++;
        names[i] = n ? mase_arena_strndup(&p->scratch, all, n) : NULL;
    }
    return fail_target(p, h, method ? "method" : "function", names, MASE_OP_COUNT);
}

static enum mase_status check_target(struct mase_mg_parser *p, const struct head *h)
{
    switch (h->kind) {
    case MASE_CALL_MODULE:
        return check_module_target(p, h);
    case MASE_CALL_FUNCTION:
    case MASE_CALL_METHOD:
        return check_call_target(p, h);
    case MASE_GET_ATTR:
        if (!mase_graph_attr(p->g, h->target))
            return mase_fail_at(p->err, MASE_EVALUE, h->target_at,
                                "no attr or module's parameter is called '%s'", h->target);
        return MASE_OK;
    default:
        return MASE_OK;
    }
}

/* (args = (...), kwargs = {...}) */
static enum mase_status take_call(struct mase_mg_parser *p, struct mase_arg *args,
                                  struct mase_arg *kwargs)
{
    MASE_TRY(mase_mg_need(p, "("));
    MASE_TRY(mase_mg_need(p, "args"));
    MASE_TRY(mase_mg_need(p, "="));
    struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_value(p, args));
    if (args->kind != MASE_ARG_TUPLE)
        return mase_fail_at(p->err, MASE_EPARSE, at, "args must be a tuple: (%%x,)");
    if (mase_mg_at(p, ",")) {
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_need(p, "kwargs"));
        MASE_TRY(mase_mg_need(p, "="));
        at = p->lx.t.at;
        MASE_TRY(mase_mg_value(p, kwargs));
        if (kwargs->kind != MASE_ARG_DICT)
            return mase_fail_at(p->err, MASE_EPARSE, at, "kwargs must be a dict: {dim: 1}");
    }
    return mase_mg_need(p, ")");
}

/* Arguments that the signature does not know are found here, where their line is known. */
static enum mase_status check_call(struct mase_mg_parser *p, const struct head *h,
                                   const struct mase_arg *args, const struct mase_arg *kwargs)
{
    enum mase_op op = mase_graph_resolve(p->g, h->kind, h->target);
    if (h->kind == MASE_CALL_METHOD && !args->count)
        return mase_fail_at(p->err, MASE_EVALUE, h->target_at,
                            "a method needs its object as the first argument");
    enum mase_status st = mase_bind_check(&p->scratch, op, h->kind, args, kwargs, p->err);
    if (!st)
        return MASE_OK;
    mase_wrap(p->err, "%s", h->target);
    return mase_place(p->err, h->target_at);
}

static enum mase_status take_default(struct mase_mg_parser *p, struct mase_arg *args)
{
    struct mase_arg v;
    MASE_TRY(mase_mg_need(p, "("));
    MASE_TRY(mase_mg_need(p, "default"));
    MASE_TRY(mase_mg_need(p, "="));
    MASE_TRY(mase_mg_value(p, &v));
    *args = mase_arg_seq(&p->scratch, MASE_ARG_TUPLE, &v, 1);
    return mase_mg_need(p, ")");
}

/* The shape that the line gives, as the one thing known of the node. */
static struct mase_meta *typed_meta(struct mase_graph *g, const struct head *h)
{
    struct mase_meta *meta = mase_new(&g->arena, struct mase_meta);
    meta->results = mase_new(&g->arena, struct mase_meta_arg);
    meta->result_count = 1;
    *meta->results = (struct mase_meta_arg){ .name = "data_out_0",
                                             .kind = MASE_META_TENSOR,
                                             .dtype = h->type.dtype,
                                             .shape = h->type.shape };
    return meta;
}

static struct mase_node *add_node(struct mase_mg_parser *p, const struct head *h,
                                  const struct mase_arg *args, const struct mase_arg *kwargs)
{
    struct mase_graph *g = p->g;
    struct mase_node *n =
        mase_graph_insert_exact(g, p->before, h->kind, h->name, h->target, args, kwargs);
    p->added = n;
    n->annotation = h->annotation ? mase_intern(&g->intern, h->annotation) : NULL;
    n->meta = h->typed ? typed_meta(g, h) : NULL;
    mase_node_set_place(n, h->target_at);
    return n;
}

static enum mase_status take_function_quant(struct mase_mg_parser *p, struct mase_node *n)
{
    struct mase_quant quant;
    if (n->kind == MASE_CALL_MODULE)
        return mase_mg_fail(p, "a layer's number formats stand in its module line");
    if (n->kind != MASE_CALL_FUNCTION || !mase_ops[n->op].quantisable)
        return mase_mg_fail(p, "%s cannot be quantised", n->target);
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_quant(p, &quant));
    mase_node_set_quant(n, &quant);
    return MASE_OK;
}

static enum mase_status parse_operation(struct mase_mg_parser *p, struct head *h)
{
    struct mase_arg args = { .kind = MASE_ARG_TUPLE }, kwargs = { .kind = MASE_ARG_DICT };

    MASE_TRY(take_kind(p, h));
    MASE_TRY(check_target(p, h));
    if (h->kind == MASE_PLACEHOLDER && mase_mg_at(p, "("))
        MASE_TRY(take_default(p, &args));
    if (h->kind != MASE_PLACEHOLDER && h->kind != MASE_GET_ATTR) {
        MASE_TRY(take_call(p, &args, &kwargs));
        MASE_TRY(check_call(p, h, &args, &kwargs));
    }
    struct mase_node *n = add_node(p, h, &args, &kwargs);
    if (h->kind != MASE_PLACEHOLDER && h->kind != MASE_GET_ATTR && mase_mg_at(p, "no_grad")) {
        n->no_grad = true;
        MASE_TRY(mase_mg_next(&p->lx));
    }
    for (int m = MASE_MODE_EVAL; m < MASE_MODE_COUNT && h->kind == MASE_CALL_MODULE; m++)
        if (mase_mg_at(p, mase_mode_names[m])) {
            n->mode = (enum mase_mode)m;
            MASE_TRY(mase_mg_next(&p->lx));
            break;
        }
    return mase_mg_at(p, "quantized") ? take_function_quant(p, n) : MASE_OK;
}

static enum mase_status parse_output(struct mase_mg_parser *p, struct head *h)
{
    struct mase_arg v;
    MASE_TRY(mase_mg_need(p, "return"));
    MASE_TRY(mase_mg_value(p, &v));
    struct mase_arg args = mase_arg_seq(&p->scratch, MASE_ARG_TUPLE, &v, 1);
    h->kind = MASE_OUTPUT;
    h->target = "output";
    add_node(p, h, &args, NULL);
    return MASE_OK;
}

static enum mase_status parse_return(struct mase_mg_parser *p)
{
    struct head h = { .name = "output" };
    if (mase_graph_find(p->g, h.name))
        return mase_mg_fail(p, "a node is called output already: write '%%NAME = return ...'");
    return parse_output(p, &h);
}

static enum mase_status parse_node(struct mase_mg_parser *p)
{
    struct head h = { .name = p->lx.t.text };

    if (mase_graph_find(p->g, h.name))
        return mase_mg_fail(p, "%%%s is defined already", h.name);
    MASE_TRY(mase_mg_next(&p->lx));
    if (mase_mg_at(p, ":"))
        MASE_TRY(take_typing(p, &h));
    MASE_TRY(mase_mg_need(p, "="));
    return mase_mg_at(p, "return") ? parse_output(p, &h) : parse_operation(p, &h);
}

/* ---- the file ---- */

enum mase_status mase_mg_statement(struct mase_mg_parser *p)
{
    static const struct {
        const char *word;
        enum mase_status (*parse)(struct mase_mg_parser *p);
    } statements[] = {
        { "name", parse_name }, { "untrainable", parse_untrainable }, { "module", parse_module },
        { "attr", parse_attr }, { "return", parse_return },           { "batch", parse_batch },
    };
    if (p->lx.t.kind == MASE_MG_NODE)
        return parse_node(p);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (mase_mg_at(p, statements[i].word))
            return statements[i].parse(p);
    return mase_mg_expected(p, "name, module, attr, return or a node (%x)");
}

/* The second graph: from here on the parser adds to it. */
static enum mase_status parse_training(struct mase_mg_parser *p, struct mase_graph **evaluated)
{
    if (*evaluated)
        return mase_mg_fail(p, "there is one graph for training");
    MASE_TRY(mase_mg_tie_all(p));
    *evaluated = p->g;
    p->g = mase_graph_new((*evaluated)->name);
    return mase_mg_next(&p->lx);
}

static enum mase_status join_training(struct mase_mg_parser *p, struct mase_graph *evaluated,
                                      struct mase_loc at)
{
    struct mase_graph *training = p->g;
    p->g = evaluated;
    return mase_graph_set_training(evaluated, training, p->err) ? mase_place(p->err, at) : MASE_OK;
}

/* data: where to put the evaluated graph when one for training follows. */
static enum mase_status parse_line(struct mase_mg_parser *p, void *data)
{
    if (mase_graph_output(p->g) && mase_mg_at(p, "training"))
        return parse_training(p, data);
    if (mase_graph_output(p->g))
        return mase_mg_fail(p, "nothing may follow return");
    return mase_mg_statement(p);
}

static enum mase_status parse_statements(struct mase_mg_parser *p, struct mase_graph **evaluated)
{
    MASE_TRY(mase_mg_lines(p, parse_line, evaluated));
    return mase_graph_output(p->g) ? mase_mg_tie_all(p)
                                   : mase_mg_fail(p, "the graph has no return");
}

static enum mase_status parse_file(struct mase_mg_parser *p)
{
    struct mase_graph *evaluated = NULL;
    MASE_TRY(mase_mg_magic(p, "a graph", MASE_MG_MAGIC, MASE_MG_VERSION));
    enum mase_status st = parse_statements(p, &evaluated);
    if (st && evaluated) {
        mase_graph_free(p->g);
        p->g = evaluated;
    } else if (evaluated) {
        st = join_training(p, evaluated, p->lx.t.at);
    }
    return st;
}

void mase_mg_begin(struct mase_mg_parser *p, struct mase_graph *g, const char *text, size_t size,
                   const char *path, struct mase_err *err)
{
    *p = (struct mase_mg_parser){ .g = g, .err = err };
    p->lx = (struct mase_mg_lexer){ .arena = &p->scratch,
                                    .path = path ? path : "<text>",
                                    .pos = text,
                                    .end = text + size,
                                    .line_start = text,
                                    .line = 1,
                                    .err = err };
}

enum mase_status mase_graph_parse_mg(struct mase_graph **out, const char *text, size_t size,
                                     const char *path, struct mase_err *err)
{
    struct mase_err unwanted;
    struct mase_mg_parser p;

    *out = NULL;
    if (size > MAX_TEXT)
        return mase_fail_in(err, MASE_ELIMIT, path, "a graph has at most %zu MiB of text",
                            MAX_TEXT >> 20);
    mase_mg_begin(&p, mase_graph_new(NULL), text, size, path, err ? err : &unwanted);
    enum mase_status st = parse_file(&p);
    mase_arena_release(&p.scratch);
    if (st)
        mase_graph_free(p.g);
    else
        *out = p.g;
    return st;
}

enum mase_status mase_graph_read_mg(struct mase_graph **out, const char *path, struct mase_err *err)
{
    struct mase_file f;
    *out = NULL;
    MASE_TRY(mase_file_open(&f, path, err));
    enum mase_status st = mase_graph_parse_mg(out, (const char *)f.data, f.size, path, err);
    mase_file_close(&f);
    return st;
}
