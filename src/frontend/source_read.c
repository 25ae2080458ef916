/*
 * source_read.c - build a graph from the tracer's answer, one JSON object:
 *
 *     name                    of the class or function, "Net"
 *     modules, attrs, nodes   the graph of evaluation
 *     training                null: the same graph; or an object of modules, attrs and nodes; or
 *                             {"error": FAULT}: the network cannot be trained
 *     confined                whether the kernel filters the child's system calls
 *     defaults                ["scale=2"]: arguments of forward that keep their defaults
 *     given                   ["torch.nn as nn"]: names that the file uses without importing them
 *     passed                  [FAULT]: statements beside the network that failed
 *     decided                 [PLACE]: lines where the shape of a sample decided
 *
 * or {"error": FAULT} instead of all these. A PLACE is {"path": "net.py", "line": 12, "col": 9,
 * "span": 4}, a FAULT a place with a "message". Every module and node has the PLACE of the user's
 * code under "at". A value that JSON lacks is an object of one key: node, tuple, slice, dict, atom,
 * float. The child has executed a user's code, so every part of its answer is checked.
 */
#include <math.h>

#include <mase/log.h>
#include <mase/value.h>

#include "frontend/source_read.h"
#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

enum mase_status mase_reading_malformed(const struct reading *r, const char *what)
{
    return mase_fail_in(r->err, MASE_EPARSE, r->path, "the tracer's answer has no proper %s", what);
}

const char *mase_reading_text(const struct mase_value *v, const char *key)
{
    const struct mase_value *t = mase_value_get(v, key);
    return t && t->kind == MASE_STRING ? t->s : NULL;
}

static int get_int(const struct mase_value *v, const char *key)
{
    const struct mase_value *i = mase_value_get(v, key);
    return i && i->kind == MASE_INT && i->i >= 0 && i->i < INT32_MAX ? (int)i->i : 0;
}

bool mase_reading_number(const struct mase_value *v, double *out)
{
    const struct mase_value *special = mase_value_get(v, "float");
    if (!v || (v->kind != MASE_INT && v->kind != MASE_FLOAT && !special))
        return false;
    if (special)
        *out = mase_streq(special->s, "nan") ? NAN : special->s[0] == '-' ? -INFINITY : INFINITY;
    else
        *out = mase_value_number(v);
    return true;
}

/* The place of an object in the answer, or the file. */
static struct mase_loc get_place(const struct reading *r, const struct mase_value *at)
{
    const char *path = mase_reading_text(at, "path");
    return (struct mase_loc){ .path = path ? path : r->path,
                              .line = get_int(at, "line"),
                              .col = get_int(at, "col"),
                              .span = get_int(at, "span"),
                              .off = -1 };
}

static enum mase_status get_arg(struct reading *r, const struct mase_value *v,
                                struct mase_arg *out);

static enum mase_status get_items(struct reading *r, const struct mase_value *v,
                                  enum mase_arg_kind kind, struct mase_arg *out)
{
    if (!v || v->kind != MASE_LIST)
        return mase_reading_malformed(r, "sequence");
    *out = (struct mase_arg){ .kind = kind, .count = v->count };
    out->items = mase_new_array(&r->scratch, struct mase_arg, (size_t)v->count);
    for (int i = 0; i < v->count; i++)
        MASE_TRY(get_arg(r, v->items[i], &out->items[i]));
    return MASE_OK;
}

/* [[name, value], ...] */
enum mase_status mase_reading_dict(struct reading *r, const struct mase_value *v,
                                   struct mase_arg *out)
{
    if (!v || v->kind != MASE_LIST)
        return mase_reading_malformed(r, "keywords");
    *out = (struct mase_arg){ .kind = MASE_ARG_DICT, .count = v->count };
    out->items = mase_new_array(&r->scratch, struct mase_arg, (size_t)v->count);
    out->keys = mase_new_array(&r->scratch, const char *, (size_t)v->count);
    for (int i = 0; i < v->count; i++) {
        const struct mase_value *pair = v->items[i];
        if (pair->kind != MASE_LIST || pair->count != 2 || pair->items[0]->kind != MASE_STRING)
            return mase_reading_malformed(r, "keyword");
        out->keys[i] = pair->items[0]->s;
        MASE_TRY(get_arg(r, pair->items[1], &out->items[i]));
    }
    return MASE_OK;
}

/* An object with one key stands for a value that JSON lacks. */
static enum mase_status get_special(struct reading *r, const struct mase_value *v,
                                    struct mase_arg *out)
{
    const char *kind = v->count == 1 ? v->keys[0] : "";
    const struct mase_value *inner = v->count == 1 ? v->items[0] : NULL;
    double number;
    if (mase_streq(kind, "node") && inner->kind == MASE_INT && inner->i >= 0 &&
        inner->i < r->count) {
        *out = mase_arg_node(r->nodes[inner->i]);
        return MASE_OK;
    }
    if (mase_streq(kind, "tuple"))
        return get_items(r, inner, MASE_ARG_TUPLE, out);
    if (mase_streq(kind, "slice") && inner->kind == MASE_LIST && inner->count == 3)
        return get_items(r, inner, MASE_ARG_SLICE, out);
    if (mase_streq(kind, "dict"))
        return mase_reading_dict(r, inner, out);
    if (mase_streq(kind, "atom") && inner->kind == MASE_STRING) {
        *out = (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = inner->s };
        return MASE_OK;
    }
    if (!mase_reading_number(v, &number))
        return mase_reading_malformed(r, "value");
    *out = mase_arg_float(number);
    return MASE_OK;
}

static enum mase_status get_arg(struct reading *r, const struct mase_value *v, struct mase_arg *out)
{
    if (v->kind == MASE_LIST)
        return get_items(r, v, MASE_ARG_LIST, out);
    if (v->kind == MASE_TABLE)
        return get_special(r, v, out);
    *out = mase_arg_from_value(&r->scratch, v);
    return MASE_OK;
}

/* ---- modules and attributes ---- */

static bool get_flag(const struct mase_value *v, const char *key, bool *out)
{
    const struct mase_value *flag = mase_value_get(v, key);
    *out = flag && flag->kind == MASE_BOOL && flag->b;
    return flag && flag->kind == MASE_BOOL;
}

/* ["weight", "bias"] */
static enum mase_status get_frozen(struct reading *r, const struct mase_value *v,
                                   struct mase_module *m)
{
    if (!v || v->kind != MASE_LIST)
        return mase_reading_malformed(r, "module");
    for (int i = 0; i < v->count; i++) {
        struct mase_param *p =
            v->items[i]->kind == MASE_STRING ? mase_module_param(m, v->items[i]->s) : NULL;
        if (!p || mase_param_is_buffer(p))
            return mase_reading_malformed(r, "parameter");
        p->kind = MASE_PARAM_FROZEN;
    }
    return MASE_OK;
}

/* Record a tie once all of its names are known. */
static enum mase_status note_tie(struct reading *r, const char *path, const struct mase_value *to,
                                 struct mase_loc at)
{
    if (!to || to->kind != MASE_STRING)
        return mase_reading_malformed(r, "tie");
    r->ties = mase_arena_grow(&r->scratch, r->ties, r->tie_count, &r->tie_cap, sizeof *r->ties);
    r->ties[r->tie_count++] = (struct tie){ path, to->s, at };
    return MASE_OK;
}

/* {"weight": "embed.weight"} */
static enum mase_status get_ties(struct reading *r, const struct mase_value *v,
                                 const struct mase_module *m)
{
    const struct mase_value *ties = mase_value_get(v, "tied");
    if (!ties || ties->kind != MASE_TABLE)
        return mase_reading_malformed(r, "module");
    for (int i = 0; i < ties->count; i++)
        MASE_TRY(note_tie(r, mase_arena_printf(&r->scratch, "%s.%s", m->path, ties->keys[i]),
                          ties->items[i], get_place(r, mase_value_get(v, "at"))));
    return MASE_OK;
}

static enum mase_status tie_all(struct reading *r)
{
    for (int i = 0; i < r->tie_count; i++)
        if (mase_graph_add_tie(r->g, r->ties[i].path, r->ties[i].to, r->err))
            return mase_place(r->err, r->ties[i].at);
    mase_graph_settle_ties(r->g);
    r->tie_count = 0;
    return MASE_OK;
}

/* Limit the size of weights before they are allocated. */
static enum mase_status count_bytes(struct reading *r, const struct mase_value *v,
                                    const struct mase_param *p)
{
    const int64_t bytes = mase_tensor_bytes(&p->tensor);
    if (bytes <= MASE_MAX_WEIGHTS && (r->bytes += bytes) <= MASE_MAX_WEIGHTS)
        return MASE_OK;
    return mase_fail_at(r->err, MASE_ELIMIT, get_place(r, mase_value_get(v, "at")),
                        "the weights would take more than %lld GiB",
                        (long long)(MASE_MAX_WEIGHTS >> 30));
}

static enum mase_status add_module(struct reading *r, const struct mase_value *v)
{
    const char *path = mase_reading_text(v, "path"), *class_name = mase_reading_text(v, "class");
    const struct mase_value *starts = mase_value_get(v, "start");
    struct mase_module *m = NULL;
    struct mase_arg kwargs;
    const enum mase_op op = class_name ? mase_op_of_module(class_name) : MASE_OP_unknown;
    if (!path || op == MASE_OP_unknown || !starts || starts->kind != MASE_TABLE)
        return mase_reading_malformed(r, "module");
    MASE_TRY(mase_reading_dict(r, mase_value_get(v, "values"), &kwargs));
    if (mase_graph_add_module(r->g, &m, path, op, NULL, &kwargs, r->err))
        return mase_place(r->err, get_place(r, mase_value_get(v, "at")));
    for (int i = 0; i < m->param_count; i++)
        MASE_TRY(count_bytes(r, v, &m->params[i]));
    for (int i = 0; i < starts->count; i++) {
        struct mase_param *p = mase_module_param(m, starts->keys[i]);
        if (!p)
            return mase_reading_malformed(r, "parameter");
        MASE_TRY(mase_reading_start(r, starts->items[i], p));
    }
    MASE_TRY(get_ties(r, v, m));
    return get_frozen(r, mase_value_get(v, "frozen"), m);
}

static enum mase_status get_tensor(struct reading *r, const struct mase_value *v,
                                   struct mase_tensor *t)
{
    const char *dtype = mase_reading_text(v, "dtype");
    const struct mase_value *shape = mase_value_get(v, "shape");
    if (!dtype || !shape || shape->kind != MASE_LIST)
        return mase_reading_malformed(r, "attribute");
    if (shape->count > MASE_MAX_RANK)
        return mase_fail_at(r->err, MASE_ELIMIT, get_place(r, mase_value_get(v, "at")),
                            "a tensor has at most %d dimensions, this %d", MASE_MAX_RANK,
                            shape->count);
    *t = (struct mase_tensor){ .shape.rank = shape->count };
    while (t->dtype < MASE_DTYPE_COUNT && !mase_streq(mase_dtypes[t->dtype].name, dtype))
        t->dtype++;
    if (t->dtype == MASE_DTYPE_COUNT)
        return mase_reading_malformed(r, "type");
    for (int i = 0; i < shape->count; i++) {
        if (shape->items[i]->kind != MASE_INT || shape->items[i]->i < 0 ||
            shape->items[i]->i > INT32_MAX)
            return mase_reading_malformed(r, "shape");
        t->shape.dim[i] = shape->items[i]->i;
    }
    return MASE_OK;
}

/* The kind of a parameter, from four flags of the tracer; false: an impossible combination. */
static bool get_param_kind(const struct mase_value *v, enum mase_param_kind *kind)
{
    bool buffer, constant, frozen, fixed;
    if (!get_flag(v, "buffer", &buffer) || !get_flag(v, "constant", &constant) ||
        !get_flag(v, "frozen", &frozen) || !get_flag(v, "fixed", &fixed))
        return false;
    *kind = constant ? MASE_PARAM_CONSTANT
            : fixed  ? MASE_PARAM_FIXED
            : frozen ? MASE_PARAM_FROZEN
            : buffer ? MASE_PARAM_BUFFER
                     : MASE_PARAM_TRAINED;
    return constant + fixed + frozen <= 1 && buffer == (*kind >= MASE_PARAM_BUFFER);
}

static enum mase_status add_attr(struct reading *r, const struct mase_value *v)
{
    const char *path = mase_reading_text(v, "path");
    const struct mase_value *tied = mase_value_get(v, "tied");
    const int after = get_int(v, "after");
    enum mase_param_kind kind;
    struct mase_tensor t;
    MASE_TRY(get_tensor(r, v, &t));
    if (!path || mase_graph_attr(r->g, path) || !get_param_kind(v, &kind) ||
        after > r->g->module_count ||
        (r->g->attr_count && after < r->g->attrs[r->g->attr_count - 1].after))
        return mase_reading_malformed(r, "attribute");
    MASE_TRY(mase_check_path(path, r->err));
    struct mase_param *p = mase_graph_add_attr(r->g, path, t.dtype, &t.shape, MASE_PARAM_TRAINED);
    p->kind = kind;
    p->after = after;
    MASE_TRY(count_bytes(r, v, p));
    if (tied && tied->kind != MASE_NONE)
        return note_tie(r, path, tied, get_place(r, mase_value_get(v, "at")));
    return mase_reading_start(r, mase_value_get(v, "start"), p);
}

/* ---- nodes ---- */

static bool get_kind(const char *name, enum mase_node_kind *kind)
{
    for (int k = 0; name && k < MASE_NODE_KIND_COUNT; k++) {
        *kind = (enum mase_node_kind)k;
        if (mase_streq(name, mase_node_kind_names[k]))
            return true;
    }
    return false;
}

/* Check that the target of a call exists and takes these arguments. */
static enum mase_status check_call(struct reading *r, enum mase_node_kind kind, const char *target,
                                   const struct mase_arg *args, const struct mase_arg *kwargs)
{
    if (kind == MASE_GET_ATTR)
        return mase_graph_attr(r->g, target) ? MASE_OK : mase_reading_malformed(r, "attribute");
    if (kind == MASE_CALL_MODULE && !mase_graph_module(r->g, target))
        return mase_reading_malformed(r, "module");
    if (kind == MASE_PLACEHOLDER || kind == MASE_OUTPUT)
        return MASE_OK;
    const enum mase_op op = mase_graph_resolve(r->g, kind, target);
    if (op == MASE_OP_unknown)
        return mase_fail(r->err, MASE_EVALUE, "'%s' is not supported", target);
    if (mase_bind_check(&r->scratch, op, kind, args, kwargs, r->err))
        return mase_wrap(r->err, "%s", target);
    return MASE_OK;
}

static bool get_mode(const char *name, enum mase_node_kind kind, enum mase_mode *mode)
{
    for (int m = 0; name && m < MASE_MODE_COUNT; m++) {
        *mode = (enum mase_mode)m;
        if (mase_streq(name, mase_mode_names[m]))
            return m == MASE_MODE_FOLLOWS || kind == MASE_CALL_MODULE;
    }
    return false;
}

/* Check the number of arguments, and names that only some kinds have. */
static bool has_form(enum mase_node_kind kind, const char *target, const struct mase_arg *args,
                     const struct mase_arg *kwargs, bool no_grad)
{
    static const struct {
        int least, most;
        bool calls;
    } form[] = {
        [MASE_PLACEHOLDER] = { 0, 1, false },          [MASE_GET_ATTR] = { 0, 0, false },
        [MASE_CALL_FUNCTION] = { 0, INT32_MAX, true }, [MASE_CALL_METHOD] = { 1, INT32_MAX, true },
        [MASE_CALL_MODULE] = { 0, INT32_MAX, true },   [MASE_OUTPUT] = { 1, 1, false },
    };
    if (args->count < form[kind].least || args->count > form[kind].most ||
        (!form[kind].calls && (kwargs->count || no_grad)))
        return false;
    return kind != MASE_OUTPUT || mase_streq(target, "output");
}

static enum mase_status add_node(struct reading *r, const struct mase_value *v)
{
    const char *target = mase_reading_text(v, "target"),
               *annotation = mase_reading_text(v, "annotation");
    enum mase_node_kind kind;
    struct mase_arg args, kwargs;
    enum mase_mode mode;
    bool no_grad, assigned;
    if (!get_kind(mase_reading_text(v, "kind"), &kind) || !target || mase_graph_output(r->g) ||
        !get_flag(v, "no_grad", &no_grad) || !get_flag(v, "assigned", &assigned) ||
        !get_mode(mase_reading_text(v, "mode"), kind, &mode))
        return mase_reading_malformed(r, "node");
    MASE_TRY(get_items(r, mase_value_get(v, "args"), MASE_ARG_TUPLE, &args));
    MASE_TRY(mase_reading_dict(r, mase_value_get(v, "kwargs"), &kwargs));
    if (!has_form(kind, target, &args, &kwargs, no_grad))
        return mase_reading_malformed(r, "node");
    if (check_call(r, kind, target, &args, &kwargs))
        return mase_place(r->err, get_place(r, mase_value_get(v, "at")));
    struct mase_node *n = mase_graph_insert(r->g, NULL, kind, target, &args, &kwargs);
    n->annotation = annotation ? mase_intern(&r->g->intern, annotation) : NULL;
    n->no_grad = no_grad;
    n->mode = mode;
    mase_node_set_place(n, get_place(r, mase_value_get(v, "at")));
    r->nodes =
        mase_arena_grow(&r->scratch, r->nodes, r->count, &r->cap, sizeof(struct mase_node *));
    r->nodes[r->count++] = n;
    if (assigned) {
        r->assigned = mase_arena_grow(&r->scratch, r->assigned, r->assigned_count, &r->assigned_cap,
                                      sizeof(struct mase_node *));
        r->assigned[r->assigned_count++] = n;
    }
    return MASE_OK;
}

static enum mase_status each(struct reading *r, const struct mase_value *answer, const char *key,
                             enum mase_status (*add)(struct reading *, const struct mase_value *))
{
    const struct mase_value *list = mase_value_get(answer, key);
    if (!list || list->kind != MASE_LIST)
        return mase_reading_malformed(r, key);
    for (int i = 0; i < list->count; i++)
        MASE_TRY(add(r, list->items[i]));
    return MASE_OK;
}

static enum mase_status fail_as_told(struct reading *r, const struct mase_value *fault)
{
    return mase_fail_at(r->err, MASE_EVALUE, get_place(r, fault), "%s",
                        mase_reading_text(fault, "message"));
}

static bool is_fault(const struct mase_value *fault)
{
    return fault && mase_reading_text(fault, "message");
}

enum mase_status mase_reading_extend(struct reading *r, const struct mase_value *v)
{
    MASE_TRY(each(r, v, "modules", add_module));
    MASE_TRY(each(r, v, "attrs", add_attr));
    MASE_TRY(tie_all(r));
    return each(r, v, "nodes", add_node);
}

/* Read the modules, attributes and nodes of one mode. */
static enum mase_status read_body(struct reading *r, const struct mase_value *v)
{
    r->count = r->assigned_count = 0;
    r->bytes = 0;
    MASE_TRY(mase_reading_extend(r, v));
    if (!mase_graph_output(r->g))
        return mase_reading_malformed(r, "output");
    return mase_graph_follow_assigned(r->g, r->assigned, r->assigned_count, r->err);
}

/* Record why the graph for training could not be traced, for attempts to train. */
static void refuse_training(struct reading *r, const struct mase_value *fault)
{
    const struct mase_loc at = get_place(r, fault);
    mase_graph_refuse_training(r->g,
                               mase_arena_printf(&r->scratch, "in training, %s:%d: %s", at.path,
                                                 at.line, mase_reading_text(fault, "message")));
}

static enum mase_status read_training(struct reading *r, const struct mase_value *v)
{
    struct mase_graph *evaluated = r->g;
    if (!v)
        return mase_reading_malformed(r, "training");
    if (v->kind == MASE_NONE)
        return MASE_OK;
    if (is_fault(mase_value_get(v, "error"))) {
        refuse_training(r, mase_value_get(v, "error"));
        return MASE_OK;
    }
    r->g = mase_graph_new(evaluated->name);
    const enum mase_status st = read_body(r, v);
    struct mase_graph *training = r->g;
    r->g = evaluated;
    for (int i = 0; !st && i < training->attr_count; i++) {
        struct mase_param *p = mase_graph_attr(evaluated, training->attrs[i].name);
        if (p &&
            training->attrs[i].kind == MASE_PARAM_FIXED) /* fixed values are compared with p's */
            p->kind = MASE_PARAM_FIXED;
    }
    if (!st)
        return mase_graph_set_training(evaluated, training, r->err);
    mase_graph_free(training);
    return st;
}

/* Concatenate the texts of a list, or places as "net.py:12". */
static enum mase_status join(struct mase_str *out, struct reading *r,
                             const struct mase_value *answer, const char *key)
{
    const struct mase_value *list = mase_value_get(answer, key);
    if (!list || list->kind != MASE_LIST)
        return mase_reading_malformed(r, key);
    mase_str_clear(out);
    for (int i = 0; i < list->count; i++) {
        const struct mase_value *v = list->items[i];
        const struct mase_loc at = get_place(r, v);
        mase_str_add(out, i ? ", " : "");
        if (v->kind == MASE_STRING)
            mase_str_add(out, v->s);
        else
            mase_str_printf(out, "%s:%d", at.path, at.line);
    }
    return MASE_OK;
}

/* [{"path": "net.py", "line": 40, "message": "..."}]: statements beside the network that fail. */
static enum mase_status warn_passed(struct reading *r, const struct mase_value *v)
{
    if (!v || v->kind != MASE_LIST)
        return mase_reading_malformed(r, "passed");
    if (!v->count)
        return MASE_OK;
    const struct mase_loc at = get_place(r, v->items[0]);
    const char *message = mase_reading_text(v->items[0], "message");
    struct mase_str more = { 0 };
    for (int i = 1; i < v->count; i++)
        mase_str_printf(&more, "%s%d", i > 1 ? ", " : "; so were lines ",
                        get_int(v->items[i], "line"));
    mase_warn("%s:%d was passed over: %s%s", at.path, at.line, message ? message : "it fails",
              more.len ? mase_str_text(&more) : "");
    mase_str_release(&more);
    return MASE_OK;
}

/* Log what the tracer assumed or left out. */
static enum mase_status tell_notes(struct reading *r, const struct mase_value *answer)
{
    struct mase_str text = { 0 };
    enum mase_status st = join(&text, r, answer, "given");
    if (!st && text.len)
        mase_info("%s does not import %s: that is given", r->path, mase_str_text(&text));
    if (!st)
        st = warn_passed(r, mase_value_get(answer, "passed"));
    if (!st)
        st = join(&text, r, answer, "decided");
    if (!st && text.len)
        mase_info("The graph holds for samples of this shape, which decided at %s",
                  mase_str_text(&text));
    if (!st)
        st = join(&text, r, answer, "defaults");
    if (!st && text.len)
        mase_info("forward's defaults are taken: %s", mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

static enum mase_status read_graph(struct reading *r, const struct mase_value *answer)
{
    if (is_fault(mase_value_get(answer, "error")))
        return fail_as_told(r, mase_value_get(answer, "error"));
    if (!mase_reading_text(answer, "name"))
        return mase_reading_malformed(r, "graph");
    r->g->name = mase_arena_strdup(&r->g->arena, mase_reading_text(answer, "name"));
    MASE_TRY(read_body(r, answer));
    MASE_TRY(read_training(r, mase_value_get(answer, "training")));
    bool confined;
    if (!get_flag(answer, "confined", &confined))
        return mase_reading_malformed(r, "confinement");
    if (!confined)
        mase_warn("nothing keeps %s from starting programs: the kernel, or python3's ctypes, does "
                  "not help",
                  r->path);
    return tell_notes(r, answer);
}

/* ---- the answer ---- */

enum mase_status mase_source_read(struct mase_graph **g, const char *path, const char *answer,
                                  size_t size, struct mase_err *err)
{
    struct reading r = { .path = path, .err = err, .g = mase_graph_new(NULL) };
    struct mase_value *root = NULL;
    enum mase_status st =
        mase_json_parse(&root, &r.scratch, answer, size, "the tracer's answer", err);
    if (!st)
        st = read_graph(&r, root);
    mase_arena_release(&r.scratch);
    if (st)
        mase_graph_free(r.g);
    else
        *g = r.g;
    return st;
}
