/*
 * api_passes.c - passes of the library and of programs, run for a network; and quantising by
 * decisions.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/calibrate.h>
#include <mase/compare.h>
#include <mase/meta.h>
#include <mase/quantize.h>
#include <mase/sheet.h>

#include "base/alloc.h"

/* ---- a manager ---- */

/* What a run of passes is given and leaves. */
struct run {
    struct mase_arena arena;
    struct mase_manager manager;
    struct mase_samples samples;
    struct mase_sheets sheets;
    struct mase_str text;
    struct mase_str json;   /* result for the caller */
    struct mase_kept *kept; /* weights before a transform; NULL: there was none */
    bool transforms;
};

/* Passes read samples into what they hold for the inputs. */
static enum mase_status take_rows(struct run *r, struct mase_inputs *in, const struct mase_net *net,
                                  const struct mase_rows *rows, struct mase_err *err)
{
    const struct mase_data_info *d = &mase_dataset_info(rows->dataset)->data;
    MASE_TRY(mase_net_fits(net, net->graph, rows, err));
    *in = mase_graph_inputs(&r->arena, net->graph, &d->sample, 1);
    if (in->count && mase_inputs_features(in) != mase_data_features(d))
        return mase_fail(
            err, MASE_EVALUE, "samples of %s have %lld values; the inputs of the network take %lld",
            d->name, (long long)mase_data_features(d), (long long)mase_inputs_features(in));
    r->samples = mase_api_samples(rows);
    return MASE_OK;
}

/* Within the graph that is about to be changed: a clone of the network's. */
static enum mase_status begin(struct run *r, const struct mase_net *net,
                              const struct mase_rows *rows, struct mase_err *err)
{
    struct mase_arena *a = &r->arena;
    struct mase_inputs in = { 0 };
    if (rows)
        MASE_TRY(take_rows(r, &in, net, rows, err));
    else if (net->has_sample)
        MASE_TRY(mase_net_inputs(&in, a, net, err));
    r->sheets = (struct mase_sheets){ .arena = a, .text = &r->text, .tables = mase_value_list(a) };
    r->manager.timings = mase_value_list(a);
    r->manager.env = (struct mase_pass_env){
        .inputs = in.item,
        .input_count = in.count,
        .samples = rows ? &r->samples : NULL,
        .original = net->before,
        .info = mase_value_table(a),
        .info_arena = a,
        .files = mase_value_list(a),
        .sheets = &r->sheets,
        .threads = mase_threads_allowed(),
    };
    return MASE_OK;
}

static void end(struct run *r)
{
    mase_xfree(r->kept);
    mase_str_release(&r->text);
    mase_str_release(&r->json);
    mase_arena_release(&r->arena);
}

static void write_info(struct run *r)
{
    struct mase_arena *a = &r->arena;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "results", r->manager.env.info);
    mase_value_set(a, v, "text", mase_value_string(a, mase_str_text(&r->text)));
    mase_value_set(a, v, "tables", r->sheets.tables);
    mase_value_set(a, v, "files", r->manager.env.files);
    mase_value_set(a, v, "timings", r->manager.timings);
    mase_json_print(&r->json, v, 0);
}

/* ---- changing a network ---- */

static void put_back(void *record)
{
    mase_put_back(record);
}

/* Before a transform, which may write weights where they lie: should the call fail, by whatever,
 * they are what they were. */
static void keep_weights(struct run *r, const struct mase_graph *g)
{
    r->transforms = true;
    if (r->kept)
        return;
    r->kept = mase_cleanup(sizeof *r->kept, put_back);
    struct mase_kept k = { .arena = &r->arena };
    mase_keep_values(&k, g);
    *r->kept = k;
}

/* Work on a clone of the network's graph. */
typedef enum mase_status work_fn(struct mase_graph **g, struct run *r, void *data,
                                 struct mase_err *err);

/* g takes the network's place if there is something new about it, metadata too: the clone, or what
 * a pass loaded. */
static void settle(struct mase_net *net, struct mase_graph *g, const struct mase_graph *clone,
                   uint64_t edits, bool transformed)
{
    const struct mase_graph *old = net->graph;
    struct mase_shape sample;
    const bool says = g != clone && mase_graph_says_sample(&sample, g);
    if (g == clone && !transformed && g->edits == edits && g->notes == 0 &&
        g->props == old->props) {
        mase_graph_free(g);
        return;
    }
    mase_net_become(net, g, g->edits != edits); /* the last that needs memory */
    if (says) {
        net->sample = sample;
        net->has_sample = true;
    }
}

static enum mase_status change(struct mase_net *net, const struct mase_rows *rows, work_fn *work,
                               void *data, struct mase_text *info, struct mase_err *err)
{
    struct run r = { 0 };
    MASE_TRY(mase_net_need_output(net, err));
    struct mase_graph *clone = mase_graph_clone(net->graph), *g = clone;
    const uint64_t edits = g->edits;
    enum mase_status st = begin(&r, net, rows, err);
    if (!st)
        st = work(&g, &r, data, err);
    if (!st && info && !r.json.data)
        write_info(&r);
    if (st && r.kept)
        mase_put_back(r.kept);
    mase_manager_release(&r.manager); /* what it keeps borrows from g */
    if (st)
        mase_graph_free(g);
    else
        settle(net, g, clone, edits, r.transforms);
    if (!st && info)
        mase_text_take(info, &r.json);
    end(&r);
    return st;
}

/* ---- running passes ---- */

/* The name as the original's functions have it, too. */
static const struct mase_pass *find_pass(struct mase_arena *a, const char *name)
{
    static const char *const endings[] = { "_analysis_pass", "_transform_pass", "_interface_pass",
                                           "_pass" };
    const struct mase_pass *p = mase_pass_find(name);
    for (size_t i = 0; !p && i < sizeof endings / sizeof *endings; i++)
        if (mase_ends_with(name, endings[i]))
            p = mase_pass_find(mase_arena_strndup(a, name, strlen(name) - strlen(endings[i])));
    return p;
}

struct pass {
    struct mase_net *net;
    const char *name, *args;
    const struct mase_rows *rows;
    struct mase_text *info;
};

static enum mase_status work_pass(struct mase_graph **g, struct run *r, void *data,
                                  struct mase_err *err)
{
    const struct pass *c = data;
    struct mase_value *args;
    const struct mase_pass *p = find_pass(&r->arena, c->name);
    MASE_TRY(mase_api_options(&args, &r->arena, c->args, err));
    if (p && p->transform)
        keep_weights(r, *g);
    return p ? mase_manager_run_pass(&r->manager, g, p, args, err)
             : mase_manager_run(&r->manager, g, c->name, args, err); /* which says what there is */
}

static enum mase_status run_pass(void *data, struct mase_err *err)
{
    struct pass *c = data;
    return change(c->net, c->rows, work_pass, c, c->info, err);
}

enum mase_status mase_net_pass(struct mase_net *net, const char *pass, const char *args,
                               const struct mase_rows *rows, struct mase_text *info,
                               struct mase_err *err)
{
    struct pass c = { net, pass, args, rows, info };
    MASE_API_NEED(net, err);
    MASE_API_NEED(pass, err);
    return mase_api_change(net, run_pass, &c, err);
}

static enum mase_status work_passes(struct mase_graph **g, struct run *r, void *data,
                                    struct mase_err *err)
{
    const struct pass *c = data;
    struct mase_value *config;
    MASE_TRY(mase_api_options(&config, &r->arena, c->args, err));
    const struct mase_value *passes = mase_value_get(config, "passes");
    passes = passes ? passes : config;
    for (int i = 0; passes->kind == MASE_TABLE && i < passes->count; i++) {
        const struct mase_pass *p = mase_pass_find(passes->keys[i]);
        if (p && p->transform)
            keep_weights(r, *g);
    }
    return mase_manager_run_all(&r->manager, g, passes, err);
}

static enum mase_status run_passes(void *data, struct mase_err *err)
{
    struct pass *c = data;
    return change(c->net, c->rows, work_passes, c, c->info, err);
}

enum mase_status mase_net_passes(struct mase_net *net, const char *config,
                                 const struct mase_rows *rows, struct mase_text *info,
                                 struct mase_err *err)
{
    struct pass c = { net, NULL, config, rows, info };
    MASE_API_NEED(net, err);
    return mase_api_change(net, run_passes, &c, err);
}

/* ---- passes of programs ---- */

struct own_opts {
    struct mase_value *args;
};

const struct mase_opt mase_api_own_opts[] = {
    MASE_OPT_REST(struct own_opts, args, "KEY", "whatever the pass is given"),
    { 0 },
};

size_t mase_api_own_size(void)
{
    return sizeof(struct own_opts);
}

static void end_loan(void *record)
{
    struct mase_loan *l = record;
    mase_text_release(&l->info);
    mase_graph_free(l->net.before);
    mase_arena_release(&l->net.arena);
}

/* The session is that whose call is under way: its host is its first member. */
struct mase_loan *mase_lend(struct mase_graph *g, const struct mase_shape *sample)
{
    struct mase_loan *l = mase_xcalloc_with_cleanup(sizeof *l, end_loan);
    l->net = (struct mase_net){ .session = (struct mase_session *)(uintptr_t)mase_host_current(),
                                .graph = g,
                                .lent = g,
                                .lender = mase_guard_current(),
                                .trained = { .epoch = -1, .step = -1 } };
    if (sample) {
        l->net.has_sample = true;
        l->net.sample = *sample;
    }
    return l;
}

void mase_loan_end(struct mase_loan *l)
{
    end_loan(l);
    mase_xfree(l);
}

static struct mase_loan *lend_for_pass(struct mase_graph *g, const struct mase_pass_env *env)
{
    struct mase_shape sample = { 0 };
    if (!env->input_count)
        return mase_lend(g, NULL);
    const struct mase_shape *whole = &env->inputs[0].tensor.shape;
    sample.rank = whole->rank - 1;
    memcpy(sample.dim, whole->dim + 1, sizeof sample.dim - sizeof sample.dim[0]);
    return mase_lend(g, &sample);
}

static enum mase_status note_result(struct mase_pass_env *env, const char *name,
                                    const struct mase_text *info, struct mase_err *err)
{
    struct mase_value *v;
    if (!info->data || !env->info)
        return MASE_OK;
    const char *text = mase_arena_strdup(env->info_arena, info->data);
    MASE_TRY(mase_json_parse(&v, env->info_arena, text, info->len, "<info>", err));
    if (env->again)
        name = mase_arena_printf(env->info_arena, "%s%s", name, env->again);
    mase_value_set(env->info_arena, env->info, name, v);
    return MASE_OK;
}

static enum mase_status run_own(struct mase_graph **g, const void *options,
                                struct mase_pass_env *env, struct mase_err *err)
{
    const struct mase_own_pass *own = env->pass->user;
    struct mase_loan *l = lend_for_pass(*g, env);
    struct mase_str args = { 0 };
    mase_json_print(&args, ((const struct own_opts *)options)->args, 0);
    *err = (struct mase_err){ 0 }; /* what was said before is not about this pass */
    enum mase_status st =
        mase_api_agree(own->run(own->user, &l->net, mase_str_text(&args), &l->info, err), err);
    if (!st)
        st = mase_net_need_output(&l->net, err);
    if (!st)
        st = note_result(env, own->name, &l->info, err);
    mase_str_release(&args);
    *g = l->net.graph; /* passes of the pass may have put another in its place */
    mase_loan_end(l);
    return st;
}

enum mase_status mase_api_run_own(struct mase_graph **g, const void *options,
                                  struct mase_pass_env *env, struct mase_err *err)
{
    return run_own(g, options, env, err);
}

enum mase_status mase_api_look_own(const struct mase_graph *g, const void *options,
                                   struct mase_pass_env *env, struct mase_err *err)
{
    struct mase_graph *copy = mase_graph_clone(g), *looked_at = copy;
    enum mase_status st = run_own(&looked_at, options, env, err);
    if (!st && (looked_at->edits != g->edits || !mase_graph_equal(g, looked_at, NULL)))
        st = mase_fail(err, MASE_EVALUE, "an analysis must not change the graph");
    if (looked_at != copy)
        mase_graph_free(looked_at);
    mase_graph_free(copy);
    return st;
}

/* ---- decisions ---- */

struct quantize {
    struct mase_net *net;
    const struct mase_decision_text *decisions;
    int count;
    const struct mase_rows *rows;
};

/* There is one for each node, and no node is named as a key of the section. */
static enum mase_status check_decision(const struct quantize *q, int i, const struct mase_graph *g,
                                       const struct mase_value *section, struct mase_map *decided,
                                       struct mase_err *err)
{
    const char *node = q->decisions[i].node;
    if (!node)
        return mase_fail(err, MASE_EVALUE, "the node of decision %d is NULL", i);
    if (!mase_graph_find(g, node))
        return mase_fail(err, MASE_EVALUE, "no node is called '%s'", node);
    if (mase_map_get(decided, node))
        return mase_fail(err, MASE_EVALUE, "there are two decisions for '%s'", node);
    if (mase_value_get(section, node))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "a node called '%s' is quantised by its type alone: configurations have "
                         "the word for something else",
                         node);
    mase_map_put(decided, node, (void *)node);
    return MASE_OK;
}

/* The decisions as a section by names, which the pass binds, checks and calibrates. */
static enum mase_status section_of(struct mase_value **out, struct mase_arena *a,
                                   const struct mase_graph *g, const struct quantize *q,
                                   struct mase_err *err)
{
    struct mase_value *words = mase_value_table(a), *none = mase_value_table(a), *config;
    struct mase_map decided = { .arena = a };
    mase_value_set(a, none, "name", mase_value_none(a));
    mase_value_set(a, words, "by", mase_value_string(a, "name"));
    mase_value_set(a, mase_value_set(a, words, "default", mase_value_table(a)), "config", none);
    *out = mase_value_copy(a, words);
    for (int i = 0; i < q->count; i++) {
        const struct mase_decision_text *d = &q->decisions[i];
        MASE_TRY(check_decision(q, i, g, words, &decided, err));
        if (!d->config)
            continue;
        if (mase_api_options(&config, a, d->config, err))
            return mase_wrap(err, "%s", d->node);
        mase_value_set(a, mase_value_set(a, *out, d->node, mase_value_table(a)), "config", config);
    }
    return MASE_OK;
}

static void make_float(struct mase_graph *g, const struct quantize *q)
{
    for (int i = 0; i < q->count; i++) {
        struct mase_node *n = mase_graph_find(g, q->decisions[i].node);
        if (q->decisions[i].config)
            continue;
        if (mase_node_module(n) || n->kind == MASE_CALL_FUNCTION)
            mase_node_set_quant(n, NULL);
    }
}

static enum mase_status work_quantize(struct mase_graph **g, struct run *r, void *data,
                                      struct mase_err *err)
{
    const struct quantize *q = data;
    struct mase_value *section = NULL;
    MASE_TRY(section_of(&section, &r->arena, *g, q, err));
    make_float(*g, q);
    return mase_manager_run(&r->manager, g, "quantize", section, err);
}

static enum mase_status quantize(void *data, struct mase_err *err)
{
    struct quantize *q = data;
    return change(q->net, q->rows, work_quantize, q, NULL, err);
}

enum mase_status mase_net_quantize(struct mase_net *net, const struct mase_decision_text *decisions,
                                   int count, const struct mase_rows *rows, struct mase_err *err)
{
    struct quantize q = { net, decisions, count, rows };
    MASE_API_NEED(net, err);
    if (count < 0)
        return mase_fail(err, MASE_EVALUE, "there are %d decisions", count);
    if (count)
        MASE_API_NEED(decisions, err);
    return mase_api_change(net, quantize, &q, err);
}

/* ---- explaining ---- */

struct explain {
    struct mase_net *net;
    struct mase_text *out;
    const char *args;
};

static struct mase_value *decision(struct mase_arena *a, const struct mase_decision *d)
{
    struct mase_value *v = mase_value_table(a);
    const bool given = d->reason == MASE_QUANTISED || d->reason == MASE_BYPASSED;
    const struct mase_quant *q = given ? &d->quant : mase_node_quant(d->node);
    mase_value_set(a, v, "node", mase_value_string(a, d->node->name));
    mase_value_set(a, v, "reason", mase_value_string(a, mase_reason_names[d->reason]));
    mase_value_set(a, v, "by", mase_value_string(a, d->by));
    mase_value_set(a, v, "key", d->key ? mase_value_string(a, d->key) : mase_value_none(a));
    mase_value_set(a, v, "fallback", mase_value_bool(a, d->fallback));
    mase_value_set(a, v, "formats", mase_json_formats(a, q));
    mase_value_set(a, v, "config", mase_json_config(a, q));
    return v;
}

static enum mase_status explain_in(struct mase_value **out, struct mase_arena *a,
                                   const struct explain *e, struct mase_err *err)
{
    const struct mase_graph *g = e->net->graph;
    struct mase_value *args, *passes = mase_value_table(a);
    struct mase_pass_runs runs;
    struct mase_decision *list = mase_new_array(a, struct mase_decision, (size_t)g->node_count);
    MASE_TRY(mase_api_options(&args, a, e->args, err));
    mase_value_set(a, passes, "quantize", args);
    MASE_TRY(mase_pass_runs_bind(&runs, a, passes, err));
    MASE_TRY(mase_quantize_explain(list, a, g, &runs.items[0], err));
    *out = mase_value_list(a);
    for (int i = 0; i < g->node_count; i++)
        mase_value_push(a, *out, decision(a, &list[i]));
    return MASE_OK;
}

static enum mase_status explain(void *data, struct mase_err *err)
{
    const struct explain *e = data;
    struct mase_arena a = { 0 };
    struct mase_value *v = NULL;
    MASE_TRY(mase_net_need_output(e->net, err));
    const enum mase_status st = explain_in(&v, &a, e, err);
    if (!st)
        mase_text_json(e->out, v);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_net_explain(struct mase_net *net, struct mase_text *out, const char *args,
                                  struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(out, err);
    return mase_api_run(net->session, explain, &(struct explain){ net, out, args }, err);
}

/* ---- numbers alone ---- */

struct round {
    float *y;
    const float *x;
    int rank;
    const int64_t *dim;
    const char *format, *role;
};

static enum mase_status format_of(const struct mase_format **f, struct mase_arena *a,
                                  const char *text, struct mase_err *err)
{
    struct mase_value *config;
    enum mase_quant_kind kind;
    MASE_TRY(mase_api_options(&config, a, text, err));
    const struct mase_value *name = mase_value_get(config, "name");
    if (!name || name->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EVALUE, name ? name->at : config->at,
                            "a format needs a name: name = 'integer'");
    MASE_TRY(mase_quant_need(&kind, name->s, name->at, err));
    return mase_format_bind(f, kind, config, "", err);
}

/* An empty tensor is one, too. */
static enum mase_status tensor_shape(struct mase_shape *s, const struct round *r,
                                     struct mase_err *err)
{
    int64_t some[MASE_MAX_RANK] = { 0 };
    const bool given = r->rank > 0 && r->rank <= MASE_MAX_RANK && r->dim;
    for (int i = 0; i < r->rank && given; i++)
        some[i] = r->dim[i] ? r->dim[i] : 1;
    MASE_TRY(mase_api_shape(s, r->rank, given ? some : NULL, MASE_MAX_RANK, err));
    if (r->rank)
        memcpy(s->dim, r->dim, (size_t)r->rank * sizeof *r->dim);
    return MASE_OK;
}

static enum mase_status round_in(const struct round *r, struct mase_arena *a, struct mase_err *err)
{
    const struct mase_format *f;
    struct mase_shape s;
    const bool positive = mase_streq(r->role, "unsigned data");
    const bool data = positive || mase_streq(r->role, "data");
    const enum mase_role role = data ? MASE_ROLE_DATA : MASE_ROLE_WEIGHT;
    MASE_TRY(format_of(&f, a, r->format, err));
    if (!data && !mase_streq(r->role, "weight") && !mase_streq(r->role, "bias"))
        return mase_fail(err, MASE_EVALUE,
                         "role '%s' is none of data, unsigned data, weight and bias", r->role);
    MASE_TRY(tensor_shape(&s, r, err));
    if (f)
        MASE_TRY(mase_format_fits(f, &s, role, err));
    if (mase_shape_count(&s) > 0)
        mase_quantize(f, r->y, r->x, &s, role, positive ? MASE_UNSIGNED : MASE_SIGNED);
    return MASE_OK;
}

static enum mase_status round_values(void *data, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const enum mase_status st = round_in(data, &a, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_session_round(struct mase_session *s, float *y, const float *x, int rank,
                                    const int64_t *dim, const char *format, const char *role,
                                    struct mase_err *err)
{
    struct round r = { y, x, rank, dim, format, role };
    MASE_API_NEED(y, err);
    MASE_API_NEED(x, err);
    MASE_API_NEED(format, err);
    MASE_API_NEED(role, err);
    return mase_api_run(s, round_values, &r, err);
}

/* ---- statistics ---- */

/* What metadata have of a node now: {operand: statistics}. */
static struct mase_value *statistics(struct mase_arena *a, const struct mase_meta *m)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; m && i < m->sw_arg_count; i++)
        if (m->sw_args[i].stat && m->sw_args[i].stat->count)
            mase_value_set(a, v, m->sw_args[i].name, m->sw_args[i].stat);
    for (int i = 0; m && i < m->sw_result_count; i++)
        if (m->sw_results[i].stat && m->sw_results[i].stat->count)
            mase_value_set(a, v, m->sw_results[i].name, m->sw_results[i].stat);
    return v;
}

static enum mase_status work_profile(struct mase_graph **g, struct run *r, void *data,
                                     struct mase_err *err)
{
    MASE_TRY(work_pass(g, r, data, err));
    struct mase_value *found = mase_value_table(&r->arena);
    for (const struct mase_node *n = (*g)->first; n; n = n->next) {
        struct mase_value *v = statistics(&r->arena, n->meta);
        if (v->count)
            mase_value_set(&r->arena, found, n->name, v);
    }
    mase_json_print(&r->json, found, 0);
    return MASE_OK;
}

static enum mase_status profile(void *data, struct mase_err *err)
{
    struct pass *c = data;
    return change(c->net, c->rows, work_profile, c, c->info, err);
}

enum mase_status mase_net_profile(struct mase_net *net, struct mase_text *out,
                                  const struct mase_rows *rows, const char *options,
                                  struct mase_err *err)
{
    struct pass c = { net, "profile_statistics", options, rows, out };
    MASE_API_NEED(net, err);
    MASE_API_NEED(out, err);
    return mase_api_change(net, profile, &c, err);
}
