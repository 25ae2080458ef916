/*
 * redefine.c - networks with other widths: what each width becomes, whether all agree, and the
 * changes of layers and calls that follow.
 *
 * Everything is decided before g changes. The changes are made on a clone first, whose shapes must
 * be those that the sums of widths say.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>
#include <mase/pass.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "pass/widths/width_parts.h"

const char *const mase_redefine_names[] = {
    [MASE_REDEFINE_NOT] = "NA",      [MASE_REDEFINE_OUTPUT_ONLY] = "output_only",
    [MASE_REDEFINE_BOTH] = "both",   [MASE_REDEFINE_INPUT_ONLY] = "input_only",
    [MASE_REDEFINE_WIDTH] = "width", [MASE_REDEFINE_COUNT] = NULL,
};

struct solving {
    const struct mase_widths *w;
    const struct mase_graph *g;
    struct mase_arena arena;
    const struct mase_redefinition **of; // (layers): how each is redefined, or NULL
    const struct mase_redefinition **by; // (vars): what decided the width of a free one, or NULL
    int *from;                           // (vars): the variable that it was decided for
    int64_t *wanted;                     // (vars): the width that it was to have
    int64_t *now;                        // (vars): the new width of a free one
    bool literal;                        /* layers take what they took */
    struct mase_err *err;
};

/* ---- which layers ---- */

static enum mase_status no_such_layer(struct solving *s, const struct mase_redefinition *r)
{
    const struct mase_node *n = mase_graph_find(s->g, r->node);
    const char **names = mase_new_array(&s->arena, const char *, (size_t)s->w->listed_count);
    for (int i = 0; i < s->w->listed_count; i++)
        names[i] = s->w->listed[i].node;
    const struct mase_unknown unknown = { .word = n ? NULL : r->node,
                                          .names = names,
                                          .count = s->w->listed_count,
                                          .tail = "those with widths: ",
                                          .lists = true,
                                          .list_bytes = 300 };
    if (!n)
        return mase_fail_unknown(s->err, r->at, &unknown, "no node is called '%s'", r->node);
    return mase_fail_unknown(s->err, r->at, &unknown, "'%s' (%s) has no width of its own", r->node,
                             mase_ops[n->op].name);
}

/* The layer of a redefinition; its number, or -1: it has no width. */
static int layer_of(const struct solving *s, const struct mase_redefinition *r)
{
    const struct mase_node *n = mase_graph_find(s->g, r->node);
    const struct mase_module *m = n ? mase_node_module(n) : NULL;
    const struct mase_width_layer *l = m ? mase_width_layer_of(s->w, m->path) : NULL;
    return l && l->var ? (int)(l - s->w->layer) : -1;
}

static bool scales_output(enum mase_redefine how)
{
    return how == MASE_REDEFINE_OUTPUT_ONLY || how == MASE_REDEFINE_BOTH ||
           how == MASE_REDEFINE_WIDTH;
}

static bool scales_input(enum mase_redefine how)
{
    return how == MASE_REDEFINE_INPUT_ONLY || how == MASE_REDEFINE_BOTH;
}

/* Does r, of layer l, go with those before it, of which `first` is one? */
static enum mase_status check_redefinition(struct solving *s, const struct mase_redefinition *r,
                                           int l, const struct mase_redefinition *first)
{
    const struct mase_redefinition *own = s->of[l];
    if ((first->how == MASE_REDEFINE_WIDTH) != (r->how == MASE_REDEFINE_WIDTH))
        return mase_fail_at(s->err, MASE_EVALUE, r->at,
                            "%s says %s and %s says %s: with width all neighbours follow, with "
                            "the others none does",
                            first->node, mase_redefine_names[first->how], r->node,
                            mase_redefine_names[r->how]);
    if (scales_input(r->how) && !mase_width_is_unit(&s->w->layer[l]))
        return mase_fail_at(s->err, MASE_EVALUE, r->at,
                            "%s takes indices: only what it gives can be redefined", r->node);
    if (own && !own->fallback && !r->fallback)
        return mase_fail_at(s->err, MASE_EVALUE, r->at,
                            "%s and %s are calls of one layer: one of them redefines it", own->node,
                            r->node);
    return MASE_OK;
}

static enum mase_status assign(struct solving *s, const struct mase_redefinition *list, int count)
{
    const struct mase_redefinition *first = NULL;
    for (int i = 0; i < count; i++) {
        const struct mase_redefinition *r = &list[i];
        if (r->how == MASE_REDEFINE_NOT)
            continue;
        const int l = layer_of(s, r);
        if (l < 0)
            return no_such_layer(s, r);
        first = first ? first : r;
        MASE_TRY(check_redefinition(s, r, l, first));
        s->of[l] = r;
    }
    s->literal = first && first->how != MASE_REDEFINE_WIDTH;
    return MASE_OK;
}

/* ---- which widths ---- */

/* channels * by, which must be a whole number. */
static enum mase_status multiply(struct solving *s, int64_t *out, int64_t channels, double by,
                                 const struct mase_redefinition *r)
{
    char text[2][MASE_NUMBER_BYTES];
    const double exact = (double)channels * by, whole = nearbyint(exact);
    if (fabs(exact - whole) <= 1e-9 * fabs(exact) && whole >= 1 && whole < 0x1p31) {
        *out = (int64_t)whole;
        return MASE_OK;
    }
    return mase_fail_at(s->err, MASE_EVALUE, r->at,
                        "%s: %lld channels times %s are %s, which is no number of channels",
                        r->node, (long long)channels, mase_number_shortest(text[0], by, 1, false),
                        mase_number_shortest(text[1], exact, 1, false));
}

/* As half of an odd number of channels. */
static enum mase_status refuse_part(struct solving *s, const char *node, int var)
{
    const struct mase_width_var *v = &s->w->var[s->from[var]];
    return mase_fail_at(s->err, MASE_EVALUE, s->by[var] ? s->by[var]->at : MASE_NOWHERE,
                        "%s gives %lld channels, of which %s would have a part that is no whole "
                        "number",
                        v->node, (long long)s->wanted[var], node);
}

static enum mase_status length(struct solving *s, int64_t *out, const char *node,
                               const struct mase_width_sum *sum)
{
    for (int i = 0; i < sum->count; i++)
        if (s->now[sum->term[i].var] * sum->term[i].num % sum->term[i].den)
            return refuse_part(s, node, sum->term[i].var);
    if (mase_width_value(out, sum, s->now))
        return MASE_OK;
    return mase_fail(s->err, MASE_EVALUE, "%s would be left without channels", node);
}

static enum mase_status disagree(struct solving *s, int var, int64_t width, int free_var,
                                 const struct mase_redefinition *r)
{
    const struct mase_width_var *a = &s->w->var[s->from[free_var]], *b = &s->w->var[var];
    return mase_fail_at(s->err, MASE_EVALUE, r ? r->at : s->by[free_var]->at,
                        "%s gives %lld channels and %s %lld, but %s needs %s from both", a->node,
                        (long long)s->wanted[free_var], b->node, (long long)width,
                        b->joined ? b->joined : a->joined,
                        a->width == b->width ? "as many" : "numbers in proportion");
}

/* var gets this width; r NULL: nothing says so but the network itself. */
static enum mase_status decide(struct solving *s, int var, int64_t width,
                               const struct mase_redefinition *r)
{
    const struct mase_width_var *v = &s->w->var[var];
    const struct mase_width_term t = v->bound.term[0];
    const char *fixed = s->w->var[t.var].fixed;
    if (fixed && width != v->width)
        return mase_fail_at(s->err, MASE_EVALUE, r->at, "%s keeps its %lld channels: %s", v->node,
                            (long long)v->width, fixed);
    if (s->from[t.var])
        return width * t.den == s->now[t.var] * t.num ? MASE_OK : disagree(s, var, width, t.var, r);
    s->by[t.var] = r;
    s->from[t.var] = var;
    s->wanted[t.var] = width;
    if (width * t.den % t.num) {
        const struct mase_width_var *free_var = &s->w->var[t.var];
        return refuse_part(s, free_var->node ? free_var->node : free_var->joined, t.var);
    }
    s->now[t.var] = width * t.den / t.num;
    return MASE_OK;
}

/* A width that several others decide together. */
static bool is_decided(const struct solving *s, int layer)
{
    return s->w->var[s->w->layer[layer].var].bound.count > 1;
}

static enum mase_status wanted_width(struct solving *s, int64_t *width, int layer)
{
    const struct mase_redefinition *r = s->of[layer];
    *width = s->w->var[s->w->layer[layer].var].width;
    return r && scales_output(r->how) ? multiply(s, width, *width, r->out, r) : MASE_OK;
}

static enum mase_status decide_layer(struct solving *s, int layer)
{
    int64_t width;
    if (is_decided(s, layer))
        return MASE_OK;
    MASE_TRY(wanted_width(s, &width, layer));
    return decide(s, s->w->layer[layer].var, width, s->of[layer]);
}

/* What nothing names yields to what is named, and stays where it has to. */
static enum mase_status decide_fallback(struct solving *s, int layer)
{
    const struct mase_width_layer *l = &s->w->layer[layer];
    const int var = s->w->var[l->var].bound.term[0].var;
    return s->w->var[var].fixed || s->from[var] ? MASE_OK : decide_layer(s, layer);
}

/* Does anything but the default say how wide the layer is? */
static bool is_said(const struct solving *s, int layer)
{
    const struct mase_redefinition *r = s->of[layer];
    return s->w->layer[layer].var && (s->literal || (r && !r->fallback));
}

/* Widths that others decide must be those that they are said to be. */
static enum mase_status check_decided(struct solving *s, int layer)
{
    const struct mase_width_layer *l = &s->w->layer[layer];
    const struct mase_width_var *v = &s->w->var[l->var];
    int64_t width, needed;
    MASE_TRY(length(s, &needed, l->node, &v->bound));
    if (!is_said(s, layer) || !is_decided(s, layer))
        return MASE_OK;
    MASE_TRY(wanted_width(s, &width, layer));
    if (width == needed)
        return MASE_OK;
    const struct mase_redefinition *r = s->of[layer] ? s->of[layer] : s->by[v->bound.term[0].var];
    return mase_fail_at(s->err, MASE_EVALUE, r ? r->at : MASE_NOWHERE,
                        "%s gives %lld channels, but %s needs %lld of it", l->node,
                        (long long)width, v->joined, (long long)needed);
}

static enum mase_status decide_widths(struct solving *s)
{
    const struct mase_widths *w = s->w;
    for (int v = 0; v < w->vars; v++)
        s->now[v] = w->var[v].width;
    for (int i = 0; i < w->layers; i++)
        if (is_said(s, i))
            MASE_TRY(decide_layer(s, i));
    for (int i = 0; i < w->layers; i++)
        if (s->of[i] && !is_said(s, i))
            MASE_TRY(decide_fallback(s, i));
    for (int i = 0; i < w->layers; i++)
        if (w->layer[i].var)
            MASE_TRY(check_decided(s, i));
    return MASE_OK;
}

/* ---- do readers agree ---- */

/* What gives the lengths of a sum: layers by name, or the network's input. */
static const char *givers(struct solving *s, const struct mase_width_sum *sum)
{
    const char *text = NULL;
    for (int i = 0; i < sum->count; i++) {
        const char *name = s->w->var[sum->term[i].var].node;
        if (name)
            text = text ? mase_arena_printf(&s->arena, "%s and %s", text, name) : name;
    }
    return text ? text : "the network's input";
}

static enum mase_status refuse_reader(struct solving *s, const struct mase_width_layer *l,
                                      int64_t arrives, int64_t takes)
{
    const struct mase_width_sum *in = &l->in[0];
    const struct mase_redefinition *r = s->of[l - s->w->layer];
    r = r ? r : s->by[in->term[0].var];
    const bool direct = in->count == 1 && in->term[0].num == 1 && in->term[0].den == 1;
    const struct mase_loc at = r ? r->at : MASE_NOWHERE;
    if (direct || mase_width_is_constant(in))
        return mase_fail_at(s->err, MASE_EVALUE, at, "%s gives %lld channels, %s takes %lld",
                            givers(s, in), (long long)arrives, l->node, (long long)takes);
    return mase_fail_at(s->err, MASE_EVALUE, at, "%lld values reach %s from %s, but it takes %lld",
                        (long long)arrives, l->node, givers(s, in), (long long)takes);
}

static enum mase_status check_readers(struct solving *s)
{
    for (int i = 0; i < s->w->layers; i++) {
        const struct mase_width_layer *l = &s->w->layer[i];
        const struct mase_redefinition *r = s->of[i];
        int64_t takes = l->takes, arrives = 0;
        for (int k = 0; k < l->ins; k++)
            MASE_TRY(length(s, &arrives, l->node, &l->in[k]));
        if (!s->literal || !mase_width_is_unit(l))
            continue;
        if (r && scales_input(r->how))
            MASE_TRY(multiply(s, &takes, takes, r->in, r));
        if (takes != arrives)
            return refuse_reader(s, l, arrives, takes);
    }
    return MASE_OK;
}

/* ---- changes ---- */

enum { MOST_ATTRS = 3 };

static void add_attr(struct mase_module_attr *list, int *count, const char *name, int64_t v)
{
    list[(*count)++] = (struct mase_module_attr){ name, mase_arg_int(v) };
}

/* The attributes of a layer with the new widths. */
static enum mase_status attrs_of(struct solving *s, struct mase_module_attr list[MOST_ATTRS],
                                 int *count, const struct mase_width_layer *l,
                                 const struct mase_module *m)
{
    int64_t in = 0, out;
    struct mase_arg lengths[MASE_MAX_RANK];
    *count = 0;
    for (int i = 0; i < l->ins; i++) {
        MASE_TRY(length(s, &in, l->node, &l->in[i]));
        lengths[i] = mase_arg_int(in);
    }
    const bool tuple = l->row->in && mase_module_attr(m, l->row->in)->kind == MASE_ARG_TUPLE;
    if (tuple)
        list[(*count)++] =
            (struct mase_module_attr){ l->row->in,
                                       mase_arg_seq(&s->arena, MASE_ARG_TUPLE, lengths, l->ins) };
    else if (l->row->in)
        add_attr(list, count, l->row->in, in);
    if (l->var) {
        MASE_TRY(length(s, &out, l->node, &s->w->var[l->var].bound));
        add_attr(list, count, l->row->out, out);
    }
    if (l->gives) {
        add_attr(list, count, l->row->out, in * l->gives);
        add_attr(list, count, "groups", in);
    }
    return MASE_OK;
}

/* Learned numbers of the layer's formats start anew. */
static void forget_learned(struct mase_graph *g, const struct mase_module *m)
{
    const char *prefix = m->path;
    for (int i = g->attr_count - 1; i >= 0; i--)
        if (g->attrs[i].init == MASE_INIT_UNSET && mase_starts_with(g->attrs[i].name, prefix) &&
            g->attrs[i].name[strlen(prefix)] == '.')
            mase_graph_drop_attr(g, g->attrs[i].name);
}

/* As of channels that groups do not divide: at the redefinition that gave it them. */
static enum mase_status fail_layer(struct solving *s, const struct mase_width_layer *l,
                                   enum mase_status st)
{
    const struct mase_redefinition *r = s->of[l - s->w->layer];
    if (!r && l->ins)
        r = s->by[l->in[0].term[0].var];
    if (!s->err)
        return st;
    mase_place(s->err, r ? r->at : MASE_NOWHERE);
    return mase_wrap(s->err, "%s", l->node);
}

static enum mase_status change_layer(struct solving *s, struct mase_graph *g,
                                     const struct mase_width_layer *l)
{
    struct mase_module *m = mase_graph_module(g, l->path);
    struct mase_module_attr list[MOST_ATTRS];
    int count;
    bool same = true;
    if (l->row->in && !l->ins) /* what it takes was not found, so nothing of it changes */
        return MASE_OK;
    if (!m)
        return mase_fail(s->err, MASE_EVALUE, "%s: the network is another: it has no %s", l->node,
                         l->path);
    MASE_TRY(attrs_of(s, list, &count, l, m));
    for (int i = 0; i < count; i++)
        same = same && mase_arg_equal(mase_module_attr(m, list[i].name), &list[i].value);
    if (same)
        return MASE_OK;
    forget_learned(g, m);
    const enum mase_status st = mase_module_rebuild(g, m, list, count, s->err);
    return st ? fail_layer(s, l, st) : MASE_OK;
}

static enum mase_status change_view(struct solving *s, struct mase_graph *g,
                                    const struct mase_width_view *v)
{
    struct mase_node *n = mase_graph_find(g, v->node);
    int64_t value;
    MASE_TRY(length(s, &value, v->node, &v->sum));
    if (!n || v->arg >= n->args.count)
        return mase_fail(s->err, MASE_EVALUE, "the network is another: it has no %s", v->node);
    struct mase_arg args = mase_arg_copy(&s->arena, &n->args);
    struct mase_arg *number = &args.items[v->arg];
    *(v->item < 0 ? number : &number->items[v->item]) = mase_arg_int(value);
    if (!mase_arg_equal(&args, &n->args))
        mase_node_set_args(n, &args, &n->kwargs);
    return MASE_OK;
}

static enum mase_status change(struct solving *s, struct mase_graph *g)
{
    for (int i = 0; i < s->w->layers; i++)
        MASE_TRY(change_layer(s, g, &s->w->layer[i]));
    for (int i = 0; i < s->w->views; i++)
        MASE_TRY(change_view(s, g, &s->w->view[i]));
    return MASE_OK;
}

/* ---- the proof ---- */

static bool has_lengths(const struct solving *s, const struct mase_width_flow *f,
                        const struct mase_arg *a)
{
    const struct mase_tensor *t = mase_arg_tensor(a);
    bool has = f->rank == (t ? t->shape.rank : a->kind == MASE_ARG_INT) &&
               f->count == (mase_arg_is_seq(a) ? a->count : 0);
    for (int d = 0; d < f->rank && has; d++) {
        int64_t wanted;
        has =
            mase_width_value(&wanted, &f->dim[d], s->now) && wanted == (t ? t->shape.dim[d] : a->i);
    }
    for (int i = 0; i < f->count && has; i++)
        has = has_lengths(s, &f->item[i], &a->items[i]);
    return has;
}

static enum mase_status prove(struct solving *s, const struct mase_graph *g)
{
    struct mase_values v;
    int i = 0;
    MASE_TRY(mase_infer_shapes(&v, &s->arena, g, s->w->input, s->w->inputs, s->err));
    for (const struct mase_node *n = g->first; n; n = n->next, i++)
        if (!has_lengths(s, &s->w->flow[i], mase_values_get(&v, n)))
            return mase_fail(s->err, MASE_EUNSUPPORTED,
                             "%s (%s) does not follow these widths as it follows others", n->name,
                             mase_ops[n->op].name);
    return MASE_OK;
}

static bool learns(const struct mase_graph *g)
{
    for (int i = 0; i < g->attr_count; i++)
        if (g->attrs[i].init == MASE_INIT_UNSET)
            return true;
    return false;
}

/* Learned numbers for the new lengths, which the metadata says. */
static enum mase_status learn_anew(struct solving *s, struct mase_graph *g)
{
    struct mase_manager m = { .env = { .inputs = s->w->input, .input_count = s->w->inputs } };
    mase_graph_drop_props(g, MASE_PROP_ALL);
    const enum mase_status st = mase_manager_run(&m, &g, "add_common_metadata", NULL, s->err);
    mase_manager_release(&m);
    return st ? st : mase_graph_learn(g, s->err);
}

static enum mase_status redefine(struct solving *s, struct mase_graph *g)
{
    MASE_TRY(change(s, g));
    MASE_TRY(prove(s, g));
    if (learns(g))
        MASE_TRY(learn_anew(s, g));
    return mase_graph_check_size(g, s->err);
}

static enum mase_status try_on_clone(struct solving *s)
{
    struct mase_graph *trial = mase_graph_clone(s->g);
    const enum mase_status st = redefine(s, trial);
    mase_graph_free(trial);
    return st;
}

/* Forward in training is another graph, which did not follow. */
static void lose_training(struct mase_graph *g, uint64_t edits)
{
    static const char why[] = "cannot be trained: forward asks self.training, and only what it "
                              "computes in evaluation has the new widths";
    if (!g->training || g->edits == edits)
        return;
    mase_warn("a network of other widths %s", why);
    mase_graph_refuse_training(g, why);
}

enum mase_status mase_widths_redefine(struct mase_graph *g, const struct mase_widths *w,
                                      const struct mase_redefinition *list, int count,
                                      uint64_t seed, struct mase_err *err)
{
    struct solving s = { .w = w, .g = g, .err = err };
    s.of = mase_new_array(&s.arena, const struct mase_redefinition *, (size_t)w->layers);
    s.by = mase_new_array(&s.arena, const struct mase_redefinition *, (size_t)w->vars);
    s.from = mase_new_array(&s.arena, int, (size_t)w->vars);
    s.wanted = mase_new_array(&s.arena, int64_t, (size_t)w->vars);
    s.now = mase_new_array(&s.arena, int64_t, (size_t)w->vars);
    const uint64_t edits = g->edits;
    enum mase_status st = assign(&s, list, count);
    if (!st && !(st = decide_widths(&s)) && !(st = check_readers(&s)) && !(st = try_on_clone(&s)))
        st = redefine(&s, g);
    if (!st)
        lose_training(g, edits);
    if (!st && g->weights)
        st = mase_graph_init_missing(g, seed, err);
    mase_arena_release(&s.arena);
    return st;
}
