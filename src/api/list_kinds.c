/*
 * list_kinds.c - what there is, as JSON: the tables of the library.
 */
#include "api/objects.h"

#include <mase/emit.h>
#include <mase/evaluate.h>
#include <mase/ops.h>
#include <mase/search.h>
#include <mase/zoo.h>

static void set_text(struct mase_arena *a, struct mase_value *v, const char *key, const char *text)
{
    mase_value_set(a, v, key, mase_value_text(a, text));
}

static struct mase_value *option(struct mase_arena *a, const struct mase_opt *row)
{
    static const char *const types[] = {
        [MASE_OPT_TYPE_BOOL] = "boolean",    [MASE_OPT_TYPE_INT] = "integer",
        [MASE_OPT_TYPE_FLOAT] = "number",    [MASE_OPT_TYPE_TEXT] = "text",
        [MASE_OPT_TYPE_PATH] = "path",       [MASE_OPT_TYPE_CHOICE] = "choice",
        [MASE_OPT_TYPE_SWITCH] = "boolean",  [MASE_OPT_TYPE_INTS] = "integers",
        [MASE_OPT_TYPE_NUMBERS] = "numbers", [MASE_OPT_TYPE_VALUE] = "value",
        [MASE_OPT_TYPE_REST] = "sections",
    };
    struct mase_value *v = mase_value_table(a);
    struct mase_str dflt = { 0 }, allowed = { 0 };
    mase_opt_default(&dflt, row);
    mase_opt_describe(&allowed, row);
    set_text(a, v, "key", row->key);
    set_text(a, v, "type", types[row->type]);
    set_text(a, v, "default", mase_str_text(&dflt));
    set_text(a, v, "allowed", mase_str_text(&allowed));
    set_text(a, v, "help", row->help);
    mase_str_release(&dflt);
    mase_str_release(&allowed);
    return v;
}

static struct mase_value *options(struct mase_arena *a, const struct mase_opt *rows)
{
    struct mase_value *list = mase_value_list(a);
    for (; rows && rows->key; rows++)
        mase_value_push(a, list, option(a, rows));
    return list;
}

static struct mase_value *row(struct mase_arena *a, struct mase_value *list, const char *name,
                              const char *help)
{
    struct mase_value *v = mase_value_table(a);
    set_text(a, v, "name", name);
    set_text(a, v, "help", help);
    mase_value_push(a, list, v);
    return v;
}

static void list_passes(struct mase_arena *a, struct mase_value *list)
{
    const struct mase_pass *p;
    for (int i = 0; (p = mase_pass_at(i)); i++) {
        struct mase_value *v = row(a, list, p->name, p->help);
        set_text(a, v, "kind", mase_pass_kind(p));
        mase_value_set(a, v, "options", options(a, p->opts));
    }
}

static void list_formats(struct mase_arena *a, struct mase_value *list)
{
    for (int i = 0; i < MASE_QUANT_COUNT; i++) {
        const struct mase_quant_info *q = mase_quants[i];
        if (!q)
            continue;
        struct mase_value *v = row(a, list, q->name, q->help);
        set_text(a, v, "standard", q->standard);
        mase_value_set(a, v, "options", options(a, q->params));
    }
}

static void list_ops(struct mase_arena *a, struct mase_value *list)
{
    for (int i = 0; i < MASE_OP_COUNT; i++) {
        struct mase_value *v = row(a, list, mase_ops[i].name, mase_ops[i].help);
        set_text(a, v, "type", mase_op_type_names[mase_ops[i].type]);
        mase_value_set(a, v, "quantisable", mase_value_bool(a, mase_ops[i].quantisable));
    }
}

static void list_models(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_model *m = mase_zoo; m->name; m++) {
        struct mase_value *v = row(a, list, m->name, m->help);
        set_text(a, v, "class", m->class_name);
        set_text(a, v, "task", m->task);
        set_text(a, v, "dataset", m->dataset);
    }
}

static void list_datasets(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_data_info *d = mase_datasets; d->name; d++) {
        struct mase_value *v = row(a, list, d->name, d->help);
        mase_value_set(a, v, "sample", mase_value_ints(a, d->sample.dim, d->sample.rank));
        mase_value_set(a, v, "classes", mase_value_int(a, d->classes));
    }
}

static void list_tasks(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_task *t = mase_tasks; t->name; t++) {
        struct mase_value *v = row(a, list, t->name, t->help);
        set_text(a, v, "alias", t->alias);
        set_text(a, v, "losses", t->losses);
        set_text(a, v, "score", t->score);
    }
}

static void list_training(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_opt *o = mase_train_rows; o->key; o++)
        mase_value_push(a, list, option(a, o));
}

static void list_engines(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_engine *e = mase_engines; e->name; e++)
        row(a, list, e->name, e->help);
}

static void list_targets(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_target *t = mase_targets; t->name; t++) {
        struct mase_value *v = row(a, list, t->name, t->help);
        set_text(a, v, "ends", t->ends);
        mase_value_set(a, v, "options", options(a, t->rows));
    }
}

static void list_samplers(struct mase_arena *a, struct mase_value *list)
{
    for (const struct mase_sampler_kind *k = mase_samplers; k->name; k++)
        row(a, list, k->name, k->help);
}

static const struct {
    const char *name;
    void (*fill)(struct mase_arena *a, struct mase_value *list);
} lists[] = {
    { "passes", list_passes },     { "formats", list_formats },   { "ops", list_ops },
    { "models", list_models },     { "datasets", list_datasets }, { "tasks", list_tasks },
    { "training", list_training }, { "engines", list_engines },   { "targets", list_targets },
    { "samplers", list_samplers },
};
enum { LISTS = sizeof lists / sizeof lists[0] };

struct call {
    struct mase_text *out;
    const char *what;
};

static enum mase_status print_list(void *data, struct mase_err *err)
{
    const struct call *c = data;
    const char *names[LISTS];
    for (int i = 0; i < LISTS; i++) {
        names[i] = lists[i].name;
        if (!mase_streq(c->what, lists[i].name))
            continue;
        struct mase_arena a = { 0 };
        struct mase_value *list = mase_value_list(&a);
        lists[i].fill(&a, list);
        mase_text_json(c->out, list);
        mase_arena_release(&a);
        return MASE_OK;
    }
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ c->what, names, LISTS, .tail = "there are ", .lists = true },
        "there is no list of '%s'", c->what);
}

enum mase_status mase_session_list(struct mase_session *s, struct mase_text *out, const char *what,
                                   struct mase_err *err)
{
    MASE_API_NEED(out, err);
    MASE_API_NEED(what, err);
    return mase_api_run(s, print_list, &(struct call){ out, what }, err);
}
