/*
 * module.c - leaf modules: made by calling a constructor of ops.def, printed as PyTorch does.
 */
#include <string.h>

#include <mase/value.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

const char *const mase_operand_names[] = {
    [MASE_DATA_IN] = "data_in",
    [MASE_WEIGHT] = "weight",
    [MASE_BIAS] = "bias",
    [MASE_DATA_OUT] = "data_out",
};

/* ---- registration ---- */

static void put_module(struct mase_graph *g, struct mase_module *m)
{
    *(g->modules_last ? &g->modules_last->next : &g->modules) = m;
    g->modules_last = m;
    g->module_count++;
    mase_map_put(&g->module_map, m->path, m);
    g->edits++;
}

static enum mase_status construct(struct mase_module *m, struct mase_arena *a,
                                  const struct mase_arg *args, const struct mase_arg *kwargs,
                                  struct mase_err *err)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    struct mase_binding b;

    MASE_TRY(mase_bind(&b, a, sig, args, kwargs, err));
    MASE_TRY(mase_bind_defaults(&b, a, sig, err));
    m->attrs = mase_new_array(a, struct mase_arg, (size_t)sig->count);
    for (int i = 0; i < sig->count; i++)
        m->attrs[i] = mase_arg_copy(a, &b.value[i]);
    return mase_params_make(m, a, err);
}

enum mase_status mase_check_path(const char *path, struct mase_err *err)
{
    enum { MOST = 100 };
    int parts = 1;
    for (const char *p = path; *p; p++)
        parts += *p == '.';
    if (parts <= MOST)
        return MASE_OK;
    return mase_fail(err, MASE_ELIMIT, "the path '%.40s...' has %d parts; at most %d are possible",
                     path, parts, MOST);
}

enum mase_status mase_graph_add_module(struct mase_graph *g, struct mase_module **out,
                                       const char *path, enum mase_op op,
                                       const struct mase_arg *args, const struct mase_arg *kwargs,
                                       struct mase_err *err)
{
    if (!mase_ops[op].module)
        mase_bug("module %s: %s has no layer", path, mase_ops[op].name);
    if (mase_graph_module(g, path))
        return mase_fail(err, MASE_EVALUE, "module '%s' exists already", path);
    MASE_TRY(mase_check_path(path, err));

    struct mase_module *m = mase_new(&g->arena, struct mase_module);
    m->path = mase_intern(&g->intern, path);
    m->op = op;
    enum mase_status st = construct(m, &g->arena, args, kwargs, err);
    if (st)
        return err ? mase_wrap(err, "module %s: %s", path, mase_ops[op].module) : st;
    put_module(g, m);
    if (out)
        *out = m;
    return MASE_OK;
}

/* m with other attributes and new parameters. */
static enum mase_status made_anew(struct mase_module *made, struct mase_graph *g,
                                  const struct mase_module *m, const struct mase_module_attr *list,
                                  int count, struct mase_err *err)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    *made = *m;
    made->params = NULL;
    made->param_count = 0;
    made->attrs =
        mase_arena_memdup(&g->arena, m->attrs, (size_t)sig->count * sizeof(struct mase_arg));
    for (int i = 0; i < count; i++) {
        const int at = mase_sig_find(sig, list[i].name);
        if (at < 0)
            mase_bug("module %s: %s has no '%s'", m->path, mase_ops[m->op].module, list[i].name);
        made->attrs[at] = mase_arg_copy(&g->arena, &list[i].value);
    }
    return mase_params_make(made, &g->arena, err);
}

enum mase_status mase_module_set_attr(struct mase_graph *g, struct mase_module *m, const char *name,
                                      const struct mase_arg *value, struct mase_err *err)
{
    const struct mase_module_attr attr = { name, *value };
    struct mase_module made;
    MASE_TRY(made_anew(&made, g, m, &attr, 1, err));
    for (int i = 0; i < made.param_count; i++) {
        const struct mase_param *old = mase_module_param(m, made.params[i].name);
        if (old && mase_shape_equal(&old->tensor.shape, &made.params[i].tensor.shape))
            made.params[i] = *old;
    }
    *m = made;
    g->edits++;
    return MASE_OK;
}

enum mase_status mase_module_rebuild(struct mase_graph *g, struct mase_module *m,
                                     const struct mase_module_attr *list, int count,
                                     struct mase_err *err)
{
    struct mase_module made;
    MASE_TRY(made_anew(&made, g, m, list, count, err));
    for (int i = 0; i < made.param_count; i++) {
        const struct mase_param *old = mase_module_param(m, made.params[i].name);
        if (old)
            made.params[i].kind = old->kind;
    }
    *m = made;
    g->edits++;
    return MASE_OK;
}

struct mase_module *mase_graph_module(const struct mase_graph *g, const char *path)
{
    return mase_map_get(&g->module_map, path);
}

static struct mase_param copy_param(struct mase_graph *g, const struct mase_param *src)
{
    struct mase_param copy = *src;
    copy.name = mase_intern(&g->intern, src->name);
    copy.tied = src->tied ? mase_intern(&g->intern, src->tied) : NULL;
    if (src->values)
        copy.values = mase_arena_memdup(
            &g->arena, src->values, sizeof *src->values * (size_t)mase_tensor_count(&src->tensor));
    return copy;
}

struct mase_module *mase_graph_copy_module(struct mase_graph *g, const struct mase_module *src)
{
    struct mase_module *m = mase_new(&g->arena, struct mase_module);
    int count = mase_op_ctor_sig(src->op)->count;

    m->path = mase_intern(&g->intern, src->path);
    m->op = src->op;
    m->attrs = mase_new_array(&g->arena, struct mase_arg, (size_t)count);
    for (int i = 0; i < count; i++)
        m->attrs[i] = mase_arg_copy(&g->arena, &src->attrs[i]);
    m->params = mase_new_array(&g->arena, struct mase_param, (size_t)src->param_count);
    m->param_count = src->param_count;
    for (int i = 0; i < src->param_count; i++)
        m->params[i] = copy_param(g, &src->params[i]);
    m->quant = src->quant ? mase_quant_copy(&g->arena, src->quant) : NULL;
    put_module(g, m);
    return m;
}

/* The paths that nodes reach: of called modules, and of those a parameter is read from. */
static void note_reached(struct mase_map *reached, const struct mase_node *n)
{
    const char *dot = strrchr(n->target, '.');
    if (n->kind == MASE_CALL_MODULE)
        mase_map_put(reached, n->target, (void *)n);
    else if (n->kind == MASE_GET_ATTR && dot)
        mase_map_put(reached,
                     mase_arena_strndup(reached->arena, n->target, (size_t)(dot - n->target)),
                     (void *)n);
}

/* Move up the modules that follow the removed one. */
static void close_gap(struct mase_graph *g, int kept)
{
    for (int i = g->attr_count - 1; i >= 0 && g->attrs[i].after > kept; i--)
        g->attrs[i].after--;
}

/* Modules that nothing reaches: all of them, or the one at this path. */
static int drop_unreached(struct mase_graph *g, const char *only)
{
    struct mase_arena scratch = { 0 };
    struct mase_map reached = { .arena = &scratch };
    struct mase_module **link = &g->modules;
    int dropped = 0, kept = 0;

    for (const struct mase_node *n = g->first; n; n = n->next)
        note_reached(&reached, n);
    g->modules_last = NULL;
    while (*link) {
        struct mase_module *m = *link;
        if (mase_map_get(&reached, m->path) || (only && !mase_streq(only, m->path))) {
            g->modules_last = m;
            link = &m->next;
            kept++;
            continue;
        }
        close_gap(g, kept);
        *link = m->next;
        mase_map_put(&g->module_map, m->path, NULL);
        dropped++;
    }
    mase_arena_release(&scratch);
    g->module_count -= dropped;
    g->edits += (uint64_t)dropped;
    if (dropped)
        mase_graph_settle_ties(g);
    return dropped;
}

int mase_graph_sweep(struct mase_graph *g)
{
    return drop_unreached(g, NULL);
}

void mase_graph_sweep_module(struct mase_graph *g, const char *path)
{
    drop_unreached(g, path);
}

/* ---- attributes of the graph itself ---- */

static struct mase_param *put_attr(struct mase_graph *g, struct mase_param p)
{
    if (mase_map_get(&g->attr_map, p.name))
        mase_bug("attribute '%s' exists already", p.name);
    g->attrs = mase_arena_grow(&g->arena, g->attrs, g->attr_count, &g->attr_cap, sizeof *g->attrs);
    g->attrs[g->attr_count++] = p;
    /* the array may move, so the map holds positions, from 1: NULL means absent */
    mase_map_put(&g->attr_map, p.name, (void *)(intptr_t)g->attr_count);
    g->edits++;
    return &g->attrs[g->attr_count - 1];
}

struct mase_param *mase_graph_add_attr(struct mase_graph *g, const char *path,
                                       enum mase_dtype dtype, const struct mase_shape *shape,
                                       enum mase_param_kind kind)
{
    if (mase_is_tensor_constant(path))
        kind = MASE_PARAM_CONSTANT;
    return put_attr(g, (struct mase_param){ .name = mase_intern(&g->intern, path),
                                            .kind = kind,
                                            .after = g->module_count,
                                            .tensor = { .dtype = dtype, .shape = *shape } });
}

void mase_graph_drop_attr(struct mase_graph *g, const char *path)
{
    const intptr_t position = (intptr_t)mase_map_get(&g->attr_map, path);
    if (!position)
        mase_bug("there is no attribute '%s'", path);
    mase_map_put(&g->attr_map, path, NULL);
    for (intptr_t i = position; i < g->attr_count; i++) {
        g->attrs[i - 1] = g->attrs[i];
        mase_map_put(&g->attr_map, g->attrs[i].name, (void *)i);
    }
    g->attr_count--;
    g->edits++;
}

struct mase_param *mase_graph_copy_attr(struct mase_graph *g, const struct mase_param *src)
{
    return put_attr(g, copy_param(g, src));
}

struct mase_param *mase_graph_attr(const struct mase_graph *g, const char *path)
{
    intptr_t position = (intptr_t)mase_map_get(&g->attr_map, path);
    if (position)
        return &g->attrs[position - 1];

    const char *dot = strrchr(path, '.');
    if (!dot)
        return NULL;
    struct mase_str owner = { 0 };
    mase_str_addn(&owner, path, (size_t)(dot - path));
    const struct mase_module *m = mase_graph_module(g, mase_str_text(&owner));
    mase_str_release(&owner);
    return m ? mase_module_param(m, dot + 1) : NULL;
}

/* Attributes stand in the order in which they were added, so that only the next can be due. */
bool mase_graph_next_registered(const struct mase_graph *g, struct mase_registered *r)
{
    if (!r->modules && !r->attrs)
        r->next = g->modules;
    r->module = NULL;
    r->attr = r->attrs < g->attr_count ? &g->attrs[r->attrs] : NULL;
    if (r->attr && (!r->next || r->attr->after <= r->modules)) {
        r->attrs++;
        return true;
    }
    r->attr = NULL;
    r->module = r->next;
    if (!r->module)
        return false;
    r->next = r->module->next;
    r->modules++;
    return true;
}

/* ---- asking ---- */

const struct mase_arg *mase_module_attr(const struct mase_module *m, const char *name)
{
    int i = mase_sig_find(mase_op_ctor_sig(m->op), name);
    if (i < 0)
        mase_bug("%s has no attribute '%s'", mase_ops[m->op].module, name);
    return &m->attrs[i];
}

struct mase_param *mase_module_param(const struct mase_module *m, const char *name)
{
    for (int i = 0; i < m->param_count; i++)
        if (mase_streq(m->params[i].name, name))
            return &m->params[i];
    return NULL;
}

int64_t mase_module_param_count(const struct mase_module *m)
{
    int64_t count = 0;
    for (int i = 0; m && i < m->param_count; i++)
        if (!mase_param_is_buffer(&m->params[i]))
            count += mase_tensor_count(&m->params[i].tensor);
    return count;
}

/* ---- text ---- */

/* Classes that the original names otherwise than the rest of their format. */
static const struct {
    enum mase_op op;
    enum mase_quant_kind kind;
    const char *name;
} named_otherwise[] = {
    { MASE_OP_conv2d, MASE_QUANT_binary, "Conv2dBinaryScaling" },
    { MASE_OP_conv2d, MASE_QUANT_logicnets, "Conv2DLogicNets" },
};

void mase_module_class(struct mase_str *out, const struct mase_module *m)
{
    for (size_t i = 0; m->quant && i < sizeof named_otherwise / sizeof *named_otherwise; i++)
        if (m->op == named_otherwise[i].op && m->quant->kind == named_otherwise[i].kind) {
            mase_str_add(out, named_otherwise[i].name);
            return;
        }
    mase_str_printf(out, "%s%s", mase_ops[m->op].module,
                    m->quant ? mase_quants[m->quant->kind]->suffix : "");
}

/* One word of a repr column: "p", "p=", "p='" or "[p]". */
struct repr_item {
    char name[40];
    bool named, quoted, unless_default;
};

static bool next_item(struct repr_item *item, const char **repr)
{
    *repr += strspn(*repr, " ");
    size_t n = strcspn(*repr, " ");
    const char *word = *repr;

    *repr += n;
    if (!n)
        return false;
    item->unless_default = word[0] == '[';
    item->quoted = word[n - 1] == '\'';
    item->named = item->unless_default || item->quoted || word[n - 1] == '=';
    word += item->unless_default;
    size_t len = strcspn(word, "=] ");
    if (len >= sizeof item->name)
        mase_bug("repr \"%s\": a name is too long", word);
    memcpy(item->name, word, len);
    item->name[len] = '\0';
    return true;
}

bool mase_module_attr_is_default(const struct mase_module *m, int i)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    struct mase_arena scratch = { 0 };
    struct mase_binding b = { 0 };

    /* all but i as they are; a default may follow from an earlier parameter */
    for (int k = 0; k < sig->count; k++) {
        b.value[k] = m->attrs[k];
        b.bound[k] = k != i;
    }
    bool same = sig->param[i].has_default && !mase_bind_defaults(&b, &scratch, sig, NULL) &&
                mase_arg_equal(&b.value[i], &m->attrs[i]);
    mase_arena_release(&scratch);
    return same;
}

void mase_module_repr(struct mase_str *out, const struct mase_module *m)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    const char *repr = mase_ops[m->op].repr, *sep = "";

    mase_module_class(out, m);
    mase_str_addc(out, '(');
    for (struct repr_item item; next_item(&item, &repr);) {
        int i = mase_sig_find(sig, item.name);
        if (i < 0)
            mase_bug("repr of %s: no parameter '%s'", mase_ops[m->op].module, item.name);
        if (item.unless_default && mase_module_attr_is_default(m, i))
            continue;
        mase_str_printf(out, "%s%s%s", sep, item.named ? item.name : "", item.named ? "=" : "");
        const struct mase_arg *v = &m->attrs[i];
        if (item.quoted && v->kind == MASE_ARG_TEXT)
            mase_repr_string(out, v->s, strlen(v->s));
        else
            mase_arg_write(out, v, MASE_ARG_STR);
        sep = ", ";
    }
    mase_str_addc(out, ')');
}

/* ---- quantisation ---- */

void mase_module_set_quant(struct mase_graph *g, struct mase_module *m, const struct mase_quant *q)
{
    m->quant = q ? mase_quant_copy(&g->arena, q) : NULL;
    g->edits++;
    g->format_edits++;
}
