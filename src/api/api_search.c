/*
 * api_search.c - searching: a network of the program's, measured in many formats.
 *
 * A search lasts as long as the call. What its trials need later, the network and the words of the
 * caller, is kept, and a search is made of it again when the network of a trial is asked for.
 */
#include "api/objects.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include <mase/search.h>

#include "base/alloc.h"

enum { MOST_WORKERS = 1024 };

/* A search for the length of a call. */
struct seek {
    const struct mase_searched *of;
    struct mase_arena arena;
    struct mase_value *section, *training;
    struct mase_train_opts opts;
    struct mase_objective objective;
    struct mase_classes classes;
    struct mase_search *search; /* owned */
    atomic_bool stopped;        /* on_trial has said so */
};

/* ---- metrics of the program ---- */

struct metric {
    const struct seek *seek;
    const struct mase_own_metric *given;
};

static enum mase_status call_metric(const struct metric *m, double *found, struct mase_net *net,
                                    const struct mase_value *point, struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_json_print(&text, point, 0);
    *err = (struct mase_err){ 0 }; /* what was said before is not about it */
    const enum mase_status st = mase_api_agree(
        m->given->measure(m->given->user, found, net, mase_str_text(&text), err), err);
    mase_str_release(&text);
    return st;
}

/* On a copy: what the function changes is not the candidate's, which goes on to other points. */
static enum mase_status measure_own(void *data, double *found, struct mase_graph *g,
                                    const struct mase_value *point, struct mase_err *err)
{
    const struct metric *m = data;
    const struct mase_searched *of = m->seek->of;
    struct mase_graph *copy = mase_graph_clone(g);
    mase_graph_own_weights(copy);
    struct mase_loan *l = mase_lend(copy, &mase_dataset_info(of->rows->dataset)->data.sample);
    l->net.trained = of->net->trained;
    const enum mase_status st = call_metric(m, found, &l->net, point, err);
    struct mase_graph *left = l->net.graph;
    mase_loan_end(l);
    if (left != copy)
        mase_graph_free(copy); /* it borrows the weights of what it became */
    mase_graph_free(left);
    return st;
}

static const struct mase_search_own_metric *own_metrics(struct seek *k)
{
    const struct mase_searching *how = &k->of->how;
    const size_t count = (size_t)how->metric_count;
    struct mase_search_own_metric *own =
        mase_new_array(&k->arena, struct mase_search_own_metric, count + 1);
    struct metric *data = mase_new_array(&k->arena, struct metric, count);
    for (size_t i = 0; i < count; i++) {
        data[i] = (struct metric){ k, &how->metrics[i] };
        own[i] =
            (struct mase_search_own_metric){ how->metrics[i].name, measure_own, (void *)&data[i] };
    }
    return count ? own : NULL;
}

/* ---- networks of other arguments ---- */

static enum mase_status call_open(struct mase_net **net, const struct mase_searched *of,
                                  const struct mase_value *arguments, struct mase_err *err)
{
    struct mase_str text = { 0 };
    *net = NULL;
    mase_json_print(&text, arguments, 0);
    *err = (struct mase_err){ 0 };
    const enum mase_status st =
        mase_api_agree(of->how.open(of->how.user, net, mase_str_text(&text), err), err);
    mase_str_release(&text);
    return st;
}

static enum mase_status open_model(void *data, const struct mase_value *arguments,
                                   struct mase_graph **g, struct mase_err *err)
{
    const struct seek *k = data;
    struct mase_net *net;
    MASE_TRY(call_open(&net, k->of, arguments, err));
    MASE_TRY(mase_net_need_values(net, err));
    MASE_TRY(mase_net_fits(net, net->graph, k->of->rows, err));
    *g = mase_graph_clone(net->graph);
    mase_graph_own_weights(*g);
    return MASE_OK;
}

/* ---- what the caller says ---- */

static enum mase_status take_training(struct seek *k, const struct mase_value *from,
                                      bool others_may_be, struct mase_err *err)
{
    struct mase_value *said = mase_value_table(&k->arena);
    for (int i = 0; i < from->count; i++) {
        int row = 0;
        while (mase_train_rows[row].key && !mase_streq(mase_train_rows[row].key, from->keys[i]))
            row++;
        if (mase_train_rows[row].key || !others_may_be) {
            mase_value_set(&k->arena, said, from->keys[i], from->items[i]);
            said->key_at[said->count - 1] = from->key_at[i];
        }
    }
    struct mase_train_opts checked;
    MASE_TRY(mase_opts_bind(&checked, sizeof checked, mase_train_rows, said, &k->arena, err));
    for (int i = 0; i < said->count; i++)
        mase_value_set(&k->arena, k->training, said->keys[i], said->items[i]);
    return MASE_OK;
}

/* All options of training, also those that are not said: two programs that mean the same search the
 * same. */
static void complete_training(struct seek *k)
{
    k->training = mase_value_table(&k->arena);
    for (const struct mase_opt *row = mase_train_rows; row->key; row++) {
        struct mase_value *v = mase_opt_value(&k->arena, &k->opts, row);
        if (v->kind != MASE_NONE)
            mase_value_set(&k->arena, k->training, row->key, v);
    }
}

static enum mase_status read_words(struct seek *k, struct mase_err *err)
{
    struct mase_arena *a = &k->arena;
    const struct mase_searching *how = &k->of->how;
    struct mase_value *config, *options;
    k->training = mase_value_table(a);
    MASE_TRY(mase_api_options(&config, a, k->of->config, err));
    k->section = mase_value_get(config, "search");
    if (k->section)
        MASE_TRY(take_training(k, config, true, err));
    else
        k->section = config;
    MASE_TRY(mase_api_options(&options, a, how->options, err));
    MASE_TRY(take_training(k, options, false, err));
    if (how->seed > INT64_MAX)
        return mase_fail(err, MASE_EVALUE, "no seed is as large as %llu",
                         (unsigned long long)how->seed);
    if (how->seed)
        mase_value_set(a, k->training, "seed", mase_value_int(a, (int64_t)how->seed));
    MASE_TRY(mase_opts_bind(&k->opts, sizeof k->opts, mase_train_rows, k->training, a, err));
    complete_training(k);
    return mase_train_objective(&k->objective, &k->opts, err);
}

static enum mase_status open_search(struct seek *k, struct mase_err *err)
{
    const struct mase_searched *of = k->of;
    MASE_TRY(read_words(k, err));
    MASE_TRY(mase_net_need_values(of->net, err));
    MASE_TRY(mase_net_fits(of->net, of->net->graph, of->rows, err));
    mase_classes_match(&k->classes, &k->arena, of->rows->dataset, &of->net->trained);
    const struct mase_search_opts o = {
        .section = k->section,
        .graph = of->net->graph,
        .open_model = of->how.open ? open_model : NULL,
        .open_data = k,
        .data = of->rows->dataset,
        .objective = &k->objective,
        .class_map = k->classes.map,
        .batch_size = k->opts.batch_size,
        .seed = (uint64_t)k->opts.seed,
        .training = k->training,
        .workers = of->how.workers ? of->how.workers : mase_threads_allowed(),
        .own = own_metrics(k),
    };
    return mase_search_new(&k->search, &o, err);
}

static void close_search(struct seek *k)
{
    mase_search_free(k->search);
    mase_arena_release(&k->arena);
}

/* ---- running ---- */

static void ended(void *data, const struct mase_study *s, const struct mase_trial *t)
{
    struct seek *k = data;
    const struct mase_searching *how = &k->of->how;
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    if (!how->on_trial)
        return;
    mase_json_print(&text, mase_trial_value(&a, s, t), 0);
    if (!how->on_trial(how->user, mase_str_text(&text)))
        atomic_store(&k->stopped, true);
    mase_str_release(&text);
    mase_arena_release(&a);
}

static bool stop(void *data)
{
    struct seek *k = data;
    const struct mase_searching *how = &k->of->how;
    return atomic_load(&k->stopped) || (how->stop && how->stop(how->user));
}

static const char *name_of(const struct mase_searched *of)
{
    const char *name = of->net->graph->name;
    return of->how.study ? of->how.study : name ? name : "network";
}

static enum mase_status run_in(struct mase_store *store, struct mase_study *study, struct seek *k,
                               struct mase_err *err)
{
    const struct mase_searching *how = &k->of->how;
    const struct mase_search_run_opts o = { .store = store,
                                            .trials = how->trials,
                                            .seconds = how->seconds,
                                            .ended = ended,
                                            .stop = stop,
                                            .data = k };
    MASE_TRY(mase_search_take_study(study, k->search, store, name_of(k->of), how->storage, err));
    return mase_search_run(k->search, study, &o, err);
}

static enum mase_status run(struct mase_study *study, struct seek *k, struct mase_err *err)
{
    struct mase_store *store = NULL;
    MASE_TRY(open_search(k, err));
    if (k->of->how.storage)
        MASE_TRY(mase_store_open(&store, k->of->how.storage, MASE_STORE_CREATE, err));
    const enum mase_status st = run_in(store, study, k, err);
    mase_store_close(store);
    return st;
}

/* ---- the call ---- */

struct call {
    const struct mase_net *net;
    struct mase_trials **out;
    const struct mase_rows *rows;
    const char *config;
    const struct mase_searching *given;
};

static enum mase_status check(const struct mase_searching *how, struct mase_err *err)
{
    MASE_TRY(mase_api_number(how->trials, INT64_MAX, "trials", err));
    MASE_TRY(mase_api_number(how->workers, MOST_WORKERS, "workers", err));
    MASE_TRY(mase_api_number(how->metric_count, MOST_WORKERS, "metric_count", err));
    MASE_TRY(mase_api_text(how->storage, "storage", err));
    MASE_TRY(mase_api_text(how->study, "study", err));
    if (!(how->seconds >= 0 && isfinite(how->seconds)))
        return mase_fail(err, MASE_EVALUE, "a search cannot take %g seconds", how->seconds);
    if (how->metric_count)
        MASE_API_NEED(how->metrics, err);
    for (int i = 0; i < how->metric_count; i++)
        if (!how->metrics[i].name || !*how->metrics[i].name || !how->metrics[i].measure)
            return mase_fail(err, MASE_EVALUE, "metric %d needs a name and a function", i);
    return MASE_OK;
}

static const char *copy_text(struct mase_arena *a, const char *text)
{
    return text ? mase_arena_strdup(a, text) : NULL;
}

/* The words of the caller, copied. */
static enum mase_status keep(struct mase_searched *of, struct mase_arena *a, const struct call *c,
                             struct mase_err *err)
{
    struct mase_searching *how = &of->how;
    if (c->given) {
        MASE_TRY(mase_api_size(c->given->size, offsetof(struct mase_searching, trials),
                               "mase_searching", err));
        MASE_API_COPY(*how, c->given);
    }
    MASE_TRY(check(how, err));
    MASE_TRY(mase_net_use(c->net, err));
    of->rows = c->rows;
    of->config = mase_arena_strdup(a, c->config);
    how->storage = copy_text(a, how->storage);
    how->study = copy_text(a, how->study);
    how->options = copy_text(a, how->options);
    struct mase_own_metric *m =
        mase_new_array(a, struct mase_own_metric, (size_t)how->metric_count);
    for (int i = 0; i < how->metric_count; i++) {
        m[i] = how->metrics[i];
        m[i].name = mase_arena_strdup(a, m[i].name);
    }
    how->metrics = m;
    of->net = mase_net_copy(c->net);
    return MASE_OK;
}

static enum mase_status search(void *data, struct mase_err *err)
{
    const struct call *c = data;
    struct mase_trials *t = mase_xcalloc(sizeof *t);
    t->session = c->net->session;
    t->of = mase_new(&t->arena, struct mase_searched);
    struct seek k = { .of = t->of };
    enum mase_status st = keep(t->of, &t->arena, c, err);
    if (!st)
        st = run(&t->study, &k, err);
    close_search(&k);
    if (st)
        mase_trials_free(t);
    else
        *c->out = t;
    return st;
}

enum mase_status mase_net_search(const struct mase_net *net, struct mase_trials **trials,
                                 const struct mase_rows *rows, const char *config,
                                 const struct mase_searching *how, struct mase_err *err)
{
    MASE_API_NEED(trials, err);
    *trials = NULL;
    MASE_API_NEED(net, err);
    MASE_API_NEED(rows, err);
    MASE_API_NEED(config, err);
    return mase_api_run(net->session, search, &(struct call){ net, trials, rows, config, how },
                        err);
}

/* ---- the network of a trial ---- */

static enum mase_status find_net(struct mase_net **net, struct seek *k, const struct mase_study *s,
                                 int64_t number, struct mase_err *err)
{
    struct mase_checkpoint_info info;
    struct mase_graph *g;
    MASE_TRY(open_search(k, err));
    MASE_TRY(mase_search_network(&g, &info, k->search, &s->trial[number], err));
    struct mase_net *found = mase_net_new(k->of->net->session);
    found->graph = mase_graph_clone(g);
    mase_graph_own_weights(found->graph);
    found->sample = mase_dataset_info(k->of->rows->dataset)->data.sample;
    found->has_sample = true;
    found->trained = mase_copy_trained(
        &found->arena, mase_search_trains(k->search) ? &info : &k->of->net->trained);
    *net = found; /* nothing after this needs memory */
    return MASE_OK;
}

struct find {
    const struct mase_trials *trials;
    struct mase_net **out;
    int64_t number;
};

static enum mase_status find(void *data, struct mase_err *err)
{
    const struct find *f = data;
    const struct mase_trials *t = f->trials;
    struct seek k = { .of = t->of };
    if (!t->of)
        return mase_fail(err, MASE_EVALUE,
                         "these trials are from a store: mase_net_search, which goes on with a "
                         "study, knows their networks");
    if (f->number < 0 || f->number >= t->study.trials)
        return mase_fail(err, MASE_EVALUE, "there is no trial %lld; there are %lld",
                         (long long)f->number, (long long)t->study.trials);
    const enum mase_status st = find_net(f->out, &k, &t->study, f->number, err);
    close_search(&k);
    return st;
}

enum mase_status mase_trials_net(const struct mase_trials *trials, struct mase_net **net,
                                 int64_t number, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    *net = NULL;
    MASE_API_NEED(trials, err);
    return mase_api_run(trials->session, find, &(struct find){ trials, net, number }, err);
}
