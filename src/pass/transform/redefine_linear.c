/*
 * redefine_linear.c - layers with other numbers of channels, as lab 4 of the original has it.
 *
 *     [passes.redefine_linear]
 *     by = "name"
 *     default.config.name = "NA"
 *     fc1.config = { name = "output_only", channel_multiplier = 2 }
 *     fc2.config = { name = "both", channel_multiplier = 2 }
 *     fc3.config = { name = "input_only", channel_multiplier = 2 }
 *
 * The name is the original's; convolutions and recurrent layers are redefined, too. What the names
 * mean and what follows is in widths.h.
 */
#include <mase/log.h>

#include "ir/graph/graph_parts.h"
#include "pass/support.h"
#include "pass/widths/width_parts.h"

struct redefine_opts {
    const char *by;
    const struct mase_value *fallback;
    struct mase_value *sections;
};

/* ---- one section ---- */

struct section_opts {
    const char *name;
    double multiplier, in, out; /* MASE_NA: not given */
};

#define MULTIPLIER(f, k, hlp)                                                              \
    {                                                                                      \
        .key = k, .type = MASE_OPT_TYPE_FLOAT, .offset = offsetof(struct section_opts, f), \
        .may_be_none = true, .num = (double)MASE_NA, .min = 1e-6, .max = 1e6, .help = hlp  \
    }

static const struct mase_opt section_rows[] = {
    { .key = "name",
      .type = MASE_OPT_TYPE_CHOICE,
      .offset = offsetof(struct section_opts, name),
      .may_be_none = true,
      .choices = mase_redefine_names + MASE_REDEFINE_NOT + 1,
      .help = "what is multiplied" },
    MULTIPLIER(multiplier, "channel_multiplier", "by which number"),
    MULTIPLIER(in, "channel_multiplier_in", "what the layer takes, if that is another number"),
    MULTIPLIER(out, "channel_multiplier_out", "what the layer gives, if that is another number"),
    { 0 },
};

static bool given(double multiplier)
{
    return multiplier != (double)MASE_NA;
}

static enum mase_redefine find_name(const char *name)
{
    int i = MASE_REDEFINE_NOT;
    while (name && !mase_streq(mase_redefine_names[i], name))
        i++;
    return (enum mase_redefine)i;
}

/* One of the two multipliers: its own, or that of both. */
static enum mase_status choose(double *out, bool needed, double own, double both, const char *key,
                               const struct mase_value *config, const struct mase_redefinition *r,
                               struct mase_err *err)
{
    if (!needed && given(own))
        return mase_fail_at(err, MASE_EVALUE, mase_value_get(config, key)->at,
                            "'%s': %s has no use for %s", r->node, mase_redefine_names[r->how],
                            key);
    *out = given(own) ? own : both;
    if (needed && !given(*out))
        return mase_fail_at(err, MASE_EVALUE, config->at,
                            "the config of '%s' has no channel_multiplier", r->node);
    return MASE_OK;
}

static enum mase_status read_section(struct mase_redefinition *r, const struct mase_value *section,
                                     struct mase_arena *a, struct mase_err *err)
{
    const struct mase_value *config;
    struct section_opts o;
    MASE_TRY(mase_section_config(&config, r->node, r->at, section, err));
    if (!mase_value_get(config, "name"))
        return mase_fail_at(err, MASE_EVALUE, config->at,
                            "the config of '%s' has no name: output_only, both, input_only, width, "
                            "or \"NA\" for none",
                            r->node);
    MASE_TRY(mase_opts_bind(&o, sizeof o, section_rows, config, a, err));
    r->how = find_name(o.name);
    if (r->how == MASE_REDEFINE_NOT)
        return MASE_OK;
    const bool in = r->how == MASE_REDEFINE_BOTH || r->how == MASE_REDEFINE_INPUT_ONLY;
    MASE_TRY(choose(&r->in, in, o.in, o.multiplier, "channel_multiplier_in", config, r, err));
    return choose(&r->out, r->how != MASE_REDEFINE_INPUT_ONLY, o.out, o.multiplier,
                  "channel_multiplier_out", config, r, err);
}

/* ---- all sections ---- */

struct redefinitions {
    struct mase_redefinition fallback;
    struct mase_redefinition *named;
    int count;
};

static enum mase_status read_sections(struct redefinitions *l, const struct redefine_opts *o,
                                      struct mase_arena *a, struct mase_err *err)
{
    const struct mase_value *sections = o->sections;
    if (!o->fallback)
        return mase_fail(err, MASE_EVALUE, "default value must be provided.");
    l->fallback =
        (struct mase_redefinition){ .node = "default", .fallback = true, .at = o->fallback->at };
    MASE_TRY(read_section(&l->fallback, o->fallback, a, err));
    l->named = mase_new_array(a, struct mase_redefinition, (size_t)sections->count);
    for (l->count = 0; l->count < sections->count; l->count++) {
        struct mase_redefinition *r = &l->named[l->count];
        r->node = sections->keys[l->count];
        r->at = sections->key_at[l->count];
        MASE_TRY(read_section(r, sections->items[l->count], a, err));
    }
    return MASE_OK;
}

static enum mase_status check(const void *options, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct redefinitions l;
    const enum mase_status st = read_sections(&l, options, &a, err);
    mase_arena_release(&a);
    return st;
}

/* The default for every layer, and behind it, so that they count, the sections. */
static int list_all(struct mase_redefinition **out, struct mase_arena *a,
                    const struct redefinitions *l, const struct mase_widths *w)
{
    const int widths = mase_widths_count(w);
    struct mase_redefinition *list =
        mase_new_array(a, struct mase_redefinition, (size_t)(widths + l->count));
    for (int i = 0; i < widths; i++) {
        list[i] = l->fallback;
        list[i].node = mase_widths_at(w, i)->node;
    }
    for (int i = 0; i < l->count; i++)
        list[widths + i] = l->named[i];
    *out = list;
    return widths + l->count;
}

/* ---- the report ---- */

static bool names(const struct redefinitions *l, const char *node)
{
    bool does = false;
    for (int i = 0; i < l->count && !does; i++)
        does = mase_streq(l->named[i].node, node);
    return does;
}

/* Layers that the default does not reach. */
static void tell_fixed(const struct redefinitions *l, const struct mase_widths *w)
{
    for (int i = 0; i < mase_widths_count(w) && l->fallback.how != MASE_REDEFINE_NOT; i++) {
        const struct mase_width *v = mase_widths_at(w, i);
        if (v->fixed && !v->follows && !names(l, v->node))
            mase_info("redefine_linear: %s keeps its %lld channels: %s", v->node,
                      (long long)v->channels, v->fixed);
    }
}

enum { LAYER, OPERATION, TOOK, TAKES, GAVE, GIVES, PARAMETERS };

static int64_t attr(const struct mase_module *m, const char *name)
{
    const struct mase_arg *v = mase_module_attr(m, name);
    return v->kind == MASE_ARG_TUPLE ? v->items[v->count - 1].i : v->i;
}

static void set_pair(struct mase_table *t, int row, int column, const char *name,
                     const struct mase_module *was, const struct mase_module *is)
{
    if (!name)
        return;
    mase_table_setf(t, row, column, "%lld", (long long)attr(was, name));
    mase_table_setf(t, row, column + 1, "%lld", (long long)attr(is, name));
}

static void add_row(struct mase_table *t, const struct mase_width_layer *l,
                    const struct mase_module *was, const struct mase_module *is)
{
    const int row = mase_table_row(t);
    mase_table_set(t, row, LAYER, l->node);
    mase_table_set(t, row, OPERATION, mase_ops[is->op].name);
    set_pair(t, row, TOOK, l->row->in, was, is);
    set_pair(t, row, GAVE, l->row->out, was, is);
    mase_table_setf(t, row, PARAMETERS, "%lld", (long long)mase_module_param_count(is));
}

/* Layers that changed, whatever redefined them. */
static void report(struct mase_pass_env *env, const struct mase_widths *w,
                   const struct mase_graph *before, const struct mase_graph *g)
{
    static const char *const headers[] = { "Layer", "Operation", "Took",       "Takes",
                                           "Gave",  "Gives",     "Parameters", NULL };
    struct mase_table t = mase_table(env->scratch, headers);
    struct mase_arena *a = mase_pass_arena(env);
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < w->layers; i++) {
        const struct mase_module *was = mase_graph_module(before, w->layer[i].path),
                                 *is = mase_graph_module(g, w->layer[i].path);
        if (!mase_module_equal(was, is))
            add_row(&t, &w->layer[i], was, is);
    }
    mase_pass_show(env, "Redefined layers:\n",
                   &(struct mase_sheet){ .key = "redefine_linear", .table = t }, NULL, NULL);
    mase_value_set(a, v, "layers", mase_sheet_rows(a, &t));
    mase_value_set(a, v, "parameters", mase_value_int(a, mase_graph_param_count(g)));
    mase_value_set(a, v, "parameters_before", mase_value_int(a, mase_graph_param_count(before)));
    mase_pass_note(env, "redefine_linear", v);
}

static enum mase_status redefine(struct mase_graph *g, const struct mase_widths *w,
                                 const struct redefine_opts *o, struct mase_pass_env *env,
                                 struct mase_err *err)
{
    struct redefinitions l;
    struct mase_redefinition *list;
    MASE_TRY(read_sections(&l, o, env->scratch, err));
    const int count = list_all(&list, env->scratch, &l, w);
    struct mase_graph *before = mase_graph_clone(g);
    const enum mase_status st = mase_widths_redefine(g, w, list, count, env->seed, err);
    if (!st && !env->dry_run) {
        tell_fixed(&l, w);
        report(env, w, before, g);
    }
    mase_graph_free(before);
    return st;
}

static enum mase_status run(struct mase_graph **g, const void *options, struct mase_pass_env *env,
                            struct mase_err *err)
{
    struct mase_widths *w;
    MASE_TRY(mase_widths_find(&w, *g, env->inputs, env->input_count, err));
    const enum mase_status st = redefine(*g, w, options, env, err);
    mase_widths_free(w);
    return st;
}

static const char *const ways[] = { "name", NULL };

static const struct mase_opt opts[] = {
    MASE_OPT_CHOICE(struct redefine_opts, by, "by", "name", ways,
                    "what the sections are named after: nodes"),
    MASE_OPT_VALUE(struct redefine_opts, fallback, "default",
                   "config of the layers that no section names; must be there; config.name = "
                   "\"NA\" leaves them alone"),
    MASE_OPT_REST(
        struct redefine_opts, sections, "KEY",
        "config = { name = \"output_only\", channel_multiplier = 2 } of a node: "
        "output_only, both, input_only multiply what this layer gives and takes (\"both\" "
        "also by channel_multiplier_in and _out), and its neighbours must agree; width "
        "multiplies what it gives, and its readers and the members of its sums follow"),
    { 0 },
};

const struct mase_pass mase_pass_redefine_linear = {
    .name = "redefine_linear",
    .help = "give layers other numbers of channels, with new weights",
    .opts = opts,
    .opts_size = sizeof(struct redefine_opts),
    .check = check,
    .transform = run,
};
