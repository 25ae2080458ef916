/*
 * calibrate_walk.c - calibration, node by node in the order of execution (calibrate_parts.h).
 *
 * Calibration runs on a copy of the graph, which starts in float. A calibrated node computes in its
 * formats, so that the following nodes see the inputs that they will have. Within a node the order
 * is: formats of inputs and weights; gptq and bias correction, which need them; formats of bias and
 * result.
 */
#include <math.h>
#include <stdio.h>

#include <mase/log.h>
#include <mase/progress.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "pass/calibrate/calibrate_parts.h"
#include "pass/support.h"
#include "quant/quant.h"

const struct mase_opt mase_calibrate_rows[] = {
    MASE_OPT_CHOICE(struct mase_calibrate_opts, method, "method", "mse", mase_calibrate_methods,
                    "what makes a parameter the best: every value held, all but a share of them, "
                    "the least mean squared error, the least divergence"),
    MASE_OPT_FLOAT(struct mase_calibrate_opts, quantile, "quantile", 0.999, 0.5, 1,
                   "quantile: the share of values up to the range's upper end, and from its lower "
                   "end on"),
    MASE_OPT_INT(struct mase_calibrate_opts, rows, "rows", 2048, 1, 0x1p31,
                 "rows of the training split, spread evenly over it"),
    MASE_OPT_BOOL(struct mase_calibrate_opts, keep, "keep", true,
                  "leave what a network was saved or trained with as it is"),
    MASE_OPT_BOOL(struct mase_calibrate_opts, gptq, "gptq", false,
                  "fit the weights of linear layers to what they are given, and round them column "
                  "by column so that errors make up for each other; their biases, too"),
    MASE_OPT_BOOL(struct mase_calibrate_opts, bias_correction, "bias_correction", false,
                  "take the mean error of a layer's result from its bias"),
    MASE_OPT_FLOAT(struct mase_calibrate_opts, damping, "damping", 0.01, 0, 1,
                   "gptq: added to the diagonal of the Hessian, relative to its mean"),
    { 0 },
};

struct walk {
    struct mase_graph *g;                    /* the copy */
    struct mase_graph *plain;                /* a copy that stays in float */
    struct mase_node **nodes, **plain_nodes; /* nodes of the copies, by position */
    struct mase_decision *list;
    int count;
    const struct mase_calibrate_opts *o;
    int64_t rows;
    struct mase_pass_env *env;
    bool *changed; /* by position: weights or bias were changed */
    struct mase_value *found, *fitted;
    int parameters;
};

static bool has_formats(const struct mase_decision *d)
{
    return d->reason == MASE_QUANTISED || d->reason == MASE_BYPASSED;
}

/* Has the format of an operand no learned numbers yet? Training will learn them. */
static bool is_unlearned(const struct mase_node *n, enum mase_operand o)
{
    const struct mase_quant *q = mase_node_quant(n);
    const struct mase_rounding how = { .format = q ? q->operand[o] : NULL };
    return mase_format_learned(mase_rounding_now(n, o, how).format) > 0;
}

/* Operands whose numbers are to be learned compute in float until then. */
static void set_quant(struct mase_node *n, const struct mase_quant *q)
{
    struct mase_quant now;
    mase_node_set_quant(n, q);
    if (!q)
        return;
    now = *q;
    for (int o = 0; o < MASE_OPERAND_COUNT; o++)
        if (is_unlearned(n, (enum mase_operand)o))
            now.operand[o] = NULL;
    if (!now.operand[MASE_DATA_IN] || !now.operand[MASE_WEIGHT]) /* its step is not learned yet */
        now.operand[MASE_BIAS] =
            mase_format_is_open(now.operand[MASE_BIAS]) ? NULL : now.operand[MASE_BIAS];
    mase_node_set_quant(n, &now);
}

/* ---- report ---- */

static void set_number(struct mase_arena *a, struct mase_value *v, const char *key, double x)
{
    mase_value_set(a, v, key, isfinite(x) ? mase_value_float(a, x) : mase_value_none(a));
}

static void note_choice(struct walk *w, const struct mase_node *n, enum mase_operand o,
                        const struct mase_format *f, const struct mase_cal_fit *fit)
{
    struct mase_arena *a = mase_pass_arena(w->env);
    struct mase_value *v = mase_value_table(a);
    struct mase_str text = { 0 };
    mase_format_tell(&text, f);
    mase_value_set(a, v, "node", mase_value_string(a, n->name));
    mase_value_set(a, v, "operand", mase_value_string(a, mase_operand_names[o]));
    mase_value_set(a, v, "format", mase_value_string(a, mase_str_text(&text)));
    mase_value_set(a, v, "method", mase_value_string(a, w->o->method));
    set_number(a, v, "min", fit->min);
    set_number(a, v, "max", fit->max);
    set_number(a, v, "low", fit->low);
    set_number(a, v, "high", fit->high);
    set_number(a, v, "mse", fit->mse);
    set_number(a, v, "sqnr_db", fit->sqnr);
    set_number(a, v, "saturated", fit->saturated);
    mase_value_set(a, v, "values", mase_value_int(a, fit->values));
    mase_value_push(a, w->found, v);
    mase_str_release(&text);
}

static struct mase_value *note_layer(struct walk *w, const struct mase_node *n)
{
    struct mase_arena *a = mase_pass_arena(w->env);
    const int last = w->fitted->count - 1;
    struct mase_value *v = last >= 0 ? w->fitted->items[last] : NULL;
    if (v && mase_streq(mase_value_get(v, "node")->s, n->name))
        return v;
    v = mase_value_table(a);
    mase_value_set(a, v, "node", mase_value_string(a, n->name));
    mase_value_push(a, w->fitted, v);
    return v;
}

/* ---- one node ---- */

/* A node under calibration. */
struct work {
    struct mase_node *node;    /* of the copy */
    struct mase_quant quant;   /* formats so far; NULL: not chosen yet */
    struct mase_value *config; /* with the numbers chosen so far, or NULL */
    struct mase_arena arena;
};

static bool is_pending(const struct work *k, enum mase_operand o, enum mase_quant_kind kind)
{
    for (const struct mase_opt *p = mase_quants[kind]->params; k->config && p->type; p++) {
        char key[64];
        mase_snprintf(key, sizeof key, "%s_%s", mase_operand_names[o], p->key);
        if (mase_value_is_auto(mase_value_get(k->config, key)))
            return true;
    }
    return false;
}

static enum mase_status choose(struct walk *w, struct work *k, const struct mase_quant_table *t,
                               enum mase_operand o, const struct mase_cal_source *s, int count,
                               struct mase_err *err)
{
    struct mase_cal_tensor *tensors =
        mase_new_array(&k->arena, struct mase_cal_tensor, (size_t)count);
    struct mase_cal_values v = { .tensor = tensors, .min = INFINITY, .max = -INFINITY };
    struct mase_cal_fit fit;
    for (int i = 0; i < count; i++) {
        if (!s[i].values.x)
            continue;
        tensors[v.count++] = s[i].values;
        v.min = isnan(s[i].min) || isnan(v.min) ? NAN : fmin(v.min, s[i].min);
        v.max = fmax(v.max, s[i].max);
    }
    if (!v.count)
        return mase_fail(err, MASE_EUNSUPPORTED, "it has no values that could be seen");
    MASE_TRY(mase_cal_decide(k->config, mase_operand_names[o], &fit, t->kind[o], &v, w->o,
                             &k->arena, err));
    MASE_TRY(mase_quant_table_bind(&k->quant, t, o, err));
    note_choice(w, k->node, o, k->quant.operand[o], &fit);
    w->parameters++;
    return MASE_OK;
}

/* Choose the format of an operand, or take the given one, and set it in the node. */
static enum mase_status choose_one(struct walk *w, struct work *k, const struct mase_decision *d,
                                   enum mase_operand o, struct mase_err *err)
{
    struct mase_cal_source *all;
    struct mase_quant_table t = { 0 };
    int n = 0;
    if (k->config)
        MASE_TRY(mase_quant_table(&t, k->config, err));
    if (!d->quant.operand[o] || !is_pending(k, o, t.kind[o])) {
        k->quant.operand[o] = d->quant.operand[o];
        set_quant(k->node, &k->quant);
        return MASE_OK;
    }
    struct mase_quant all_of_them = d->quant; /* has all operands and their signs */
    all_of_them.bypass = false;
    set_quant(k->node, &all_of_them);
    const int there = mase_cal_sources(&all, &k->arena, k->node);
    for (int i = 0; i < there; i++)
        if (all[i].operand == o)
            all[n++] = all[i];
    set_quant(k->node, &k->quant);
    enum mase_status st = mase_cal_read(all, n, w->g, w->rows, &k->arena, w->env, err);
    if (!st)
        st = choose(w, k, &t, o, all, n, err);
    if (st) {
        mase_place(err, d->pending->at);
        return mase_wrap(err, "%s (%s): %s", k->node->name, mase_ops[k->node->op].name,
                         mase_operand_names[o]);
    }
    set_quant(k->node, &k->quant);
    return MASE_OK;
}

/* Adjust weights to errors of the inputs, before they get a format. */
static enum mase_status begin_fit(struct walk *w, struct work *k, int at, struct mase_cal_inputs *x,
                                  struct mase_err *err)
{
    const struct mase_decision *d = &w->list[at];
    *x = (struct mase_cal_inputs){ 0 };
    if (!w->o->gptq || k->quant.bypass || !d->quant.operand[MASE_WEIGHT])
        return MASE_OK;
    mase_node_set_quant(k->node, &d->quant);
    const char *why = is_unlearned(k->node, MASE_WEIGHT)
                          ? "training is to learn the format of its weights"
                          : mase_cal_unfit(k->node);
    set_quant(k->node, &k->quant);
    if (why) {
        mase_info("gptq: %s stays as it is: %s", k->node->name, why);
        return MASE_OK;
    }
    MASE_TRY(mase_cal_gather(x, k->node, w->plain_nodes[at], w->rows, &k->arena, w->env, err));
    return mase_cal_refit(k->node, x, w->o->damping, err);
}

static enum mase_status end_fit(struct walk *w, struct work *k, int at,
                                const struct mase_cal_inputs *x, struct mase_err *err)
{
    struct mase_arena *a = mase_pass_arena(w->env);
    double nearest, fitted;
    if (!x->in)
        return MASE_OK;
    MASE_TRY(mase_cal_round(k->node, x, w->o->damping, &nearest, &fitted, err));
    set_number(a, note_layer(w, k->node), "error_nearest", nearest);
    set_number(a, note_layer(w, k->node), "error_gptq", fitted);
    w->changed[at] = true;
    return MASE_OK;
}

/* Needed after weights were fitted, which ignores means. */
static enum mase_status correct_bias(struct walk *w, struct work *k, int at, bool fitted,
                                     struct mase_err *err)
{
    double largest;
    if (!(w->o->bias_correction || fitted) || k->quant.bypass || mase_cal_fixed(k->node))
        return MASE_OK;
    MASE_TRY(mase_cal_correct(k->node, w->plain_nodes[at], w->rows, w->env, &largest, err));
    set_number(mase_pass_arena(w->env), note_layer(w, k->node), "largest_correction", largest);
    w->changed[at] = true;
    return MASE_OK;
}

static enum mase_status calibrate_node(struct walk *w, struct work *k, int at, struct mase_err *err)
{
    const struct mase_decision *d = &w->list[at];
    struct mase_cal_inputs x;
    MASE_TRY(choose_one(w, k, d, MASE_DATA_IN, err));
    MASE_TRY(begin_fit(w, k, at, &x, err));
    MASE_TRY(choose_one(w, k, d, MASE_WEIGHT, err));
    MASE_TRY(end_fit(w, k, at, &x, err));
    MASE_TRY(correct_bias(w, k, at, x.in > 0, err));
    MASE_TRY(choose_one(w, k, d, MASE_BIAS, err));
    return choose_one(w, k, d, MASE_DATA_OUT, err);
}

/* An earlier call of the same module with the same configuration; -1: none. */
static int earlier(const struct walk *w, int at)
{
    const struct mase_module *m = mase_node_module(w->nodes[at]);
    for (int i = 0; m && i < at; i++)
        if (has_formats(&w->list[i]) && mase_node_module(w->nodes[i]) == m)
            return i;
    return -1;
}

static enum mase_status calibrate_at(struct walk *w, int at, struct mase_err *err)
{
    struct mase_decision *d = &w->list[at];
    const int same = earlier(w, at);
    if (same >= 0) {
        d->quant = d->pending ? w->list[same].quant : d->quant;
        d->pending = NULL;
        return MASE_OK;
    }
    struct work k = { .node = w->nodes[at],
                      .quant = { .kind = d->quant.kind, .bypass = d->quant.bypass } };
    if (d->pending)
        k.config = mase_value_copy(&k.arena, d->pending);
    const enum mase_status st = calibrate_node(w, &k, at, err);
    mase_arena_release(&k.arena);
    if (st)
        return st;
    d->quant = k.quant;
    d->pending = NULL;
    return MASE_OK;
}

/* ---- the walk ---- */

static enum mase_status walk(struct walk *w, struct mase_err *err)
{
    struct mase_progress bar;
    enum mase_status st = MASE_OK;
    for (int i = 0; i < w->count; i++)
        if (has_formats(&w->list[i])) {
            set_quant(w->nodes[i], NULL);
            set_quant(w->plain_nodes[i], NULL);
        }
    mase_progress_start(&bar, "Calibrating", w->count);
    for (int i = 0; i < w->count && !st; i++) {
        if (has_formats(&w->list[i]))
            st = calibrate_at(w, i, err);
        mase_progress_step(&bar, i + 1);
    }
    mase_progress_end(&bar);
    return st;
}

static void note(const struct walk *w)
{
    struct mase_arena *a = mase_pass_arena(w->env);
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "method", mase_value_string(a, w->o->method));
    mase_value_set(a, v, "rows", mase_value_int(a, w->rows));
    mase_value_set(a, v, "operands", w->found);
    if (w->fitted->count)
        mase_value_set(a, v, "layers", w->fitted);
    mase_pass_note(w->env, "calibrate", v);
    if (w->parameters)
        mase_info("Calibrated %d operand%s on %lld rows of the training split, by %s",
                  w->parameters, w->parameters == 1 ? "" : "s", (long long)w->rows, w->o->method);
}

static enum mase_status copy_back(const struct walk *w, struct mase_err *err)
{
    for (int i = 0; i < w->count; i++)
        if (w->changed[i])
            MASE_TRY(mase_cal_copy_weights(w->list[i].node, w->nodes[i], err));
    return MASE_OK;
}

static struct mase_graph *copy_of(const struct mase_graph *g, struct mase_node **nodes)
{
    struct mase_graph *copy = mase_graph_clone(g);
    mase_graph_own_weights(copy);
    for (struct mase_node *n = copy->first; n; n = n->next)
        *nodes++ = n;
    return copy;
}

enum mase_status mase_calibrate(struct mase_decision *list, int count, struct mase_graph *g,
                                const struct mase_calibrate_opts *o, struct mase_pass_env *env,
                                struct mase_err *err)
{
    struct mase_arena *a = env->scratch, *notes = mase_pass_arena(env);
    struct walk w = { .list = list,
                      .count = count,
                      .o = o,
                      .rows = o->rows,
                      .env = env,
                      .nodes = mase_new_array(a, struct mase_node *, (size_t)count),
                      .plain_nodes = mase_new_array(a, struct mase_node *, (size_t)count),
                      .changed = mase_new_array(a, bool, (size_t)count),
                      .found = mase_value_list(notes),
                      .fitted = mase_value_list(notes) };
    MASE_TRY(mase_cal_rows(&w.rows, env, err));
    w.g = copy_of(g, w.nodes);
    w.plain = copy_of(g, w.plain_nodes);
    enum mase_status st = walk(&w, err);
    if (!st)
        st = copy_back(&w, err);
    mase_graph_free(w.g);
    mase_graph_free(w.plain);
    if (!st)
        note(&w);
    return st;
}
