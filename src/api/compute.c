/*
 * compute.c - running a network, measuring how good it is, and proving its integers.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/verify.h>
#include <mase/work.h>

#include "base/alloc.h"

/* A network that mixes the samples of a batch is given as many as the command line gives it. */
enum { TOGETHER = 128, MANY = 1 << 16 };

/* The engine of that name; without one integers where they are asked for. */
static enum mase_status find_engine(const struct mase_engine **out, const char *name, bool exact,
                                    struct mase_err *err)
{
    MASE_TRY(mase_api_text(name, "engine", err));
    name = name ? name : exact ? "int" : "float";
    *out = mase_engine_find(name);
    return *out ? MASE_OK : mase_engine_unknown(name, err);
}

/* ---- runners ---- */

struct make {
    const struct mase_net *net;
    struct mase_runner **out;
    const struct mase_run_opts *given;
};

static enum mase_status make_runner(void *data, struct mase_err *err)
{
    const struct make *m = data;
    const struct mase_net *net = m->net;
    const struct mase_engine *engine;
    struct mase_run_opts o = { 0 };
    if (m->given) {
        MASE_TRY(mase_api_size(m->given->size, offsetof(struct mase_run_opts, exact),
                               "mase_run_opts", err));
        MASE_API_COPY(o, m->given);
    }
    MASE_TRY(mase_api_train_number(o.threads, MASE_TRAIN_threads, err));
    MASE_TRY(mase_api_number(o.samples, INT64_MAX, "samples", err));
    MASE_TRY(mase_api_train_number(o.batch_size, MASE_TRAIN_batch_size, err));
    MASE_TRY(mase_net_need_values(net, err));
    MASE_TRY(find_engine(&engine, o.engine, o.exact, err));
    struct mase_runner *r = mase_xcalloc(sizeof *r);
    enum mase_status st = mase_net_inputs(&r->inputs, &r->arena, net, err);
    if (st) {
        mase_runner_free(r);
        return st;
    }
    r->session = net->session;
    r->graph = mase_graph_clone(net->graph);
    mase_graph_own_weights(r->graph);
    const int64_t rows = o.samples > 0 ? o.samples : MANY;
    const struct mase_predictor_opts opts = {
        .engine = engine,
        .threads = mase_predict_threads(r->graph, &net->sample, rows, o.threads),
        .coupled_batch = o.batch_size,
        .usual = o.samples,
        .seed = o.seed,
    };
    st = mase_predictor_new(&r->predictor, r->graph, &net->sample, &opts, err);
    if (st)
        mase_runner_free(r);
    else
        *m->out = r;
    return st;
}

enum mase_status mase_runner_new(const struct mase_net *net, struct mase_runner **runner,
                                 const struct mase_run_opts *options, struct mase_err *err)
{
    MASE_API_NEED(runner, err);
    *runner = NULL;
    MASE_API_NEED(net, err);
    return mase_api_run(net->session, make_runner, &(struct make){ net, runner, options }, err);
}

void mase_runner_free(struct mase_runner *r)
{
    if (!r)
        return;
    mase_predictor_free(r->predictor);
    mase_graph_free(r->graph);
    mase_arena_release(&r->arena);
    mase_xfree(r);
}

struct run {
    struct mase_runner *runner;
    void *y;
    enum mase_dtype dtype;
    const float *x;
    int64_t n;
};

static enum mase_status run_samples(void *data, struct mase_err *err)
{
    const struct run *r = data;
    const struct mase_shape result = mase_predictor_result(r->runner->predictor);
    const int64_t in = mase_inputs_features(&r->runner->inputs), out = mase_shape_count(&result);
    if (r->n < 0)
        return mase_fail(err, MASE_EVALUE, "there are %lld samples", (long long)r->n);
    if (r->n && (in > out ? in : out) > MASE_API_VALUES / r->n)
        return mase_fail(err, MASE_ELIMIT, "no memory has so many values as %lld samples",
                         (long long)r->n);
    return mase_predictor_run_typed(r->runner->predictor, r->y, r->dtype, r->x, r->n, err);
}

static enum mase_status run_runner(struct mase_runner *runner, void *y, enum mase_dtype dtype,
                                   const float *x, int64_t n, struct mase_err *err)
{
    struct run r = { runner, y, dtype, x, n };
    if (n) {
        MASE_API_NEED(y, err);
        MASE_API_NEED(x, err);
    }
    if (runner->busy)
        return mase_fail(err, MASE_EVALUE, "this runner is running: a callback cannot use it");
    runner->busy = true;
    const enum mase_status st = mase_api_run(runner->session, run_samples, &r, err);
    runner->busy = false;
    return st;
}

enum mase_status mase_runner_run(struct mase_runner *runner, float *y, const float *x, int64_t n,
                                 struct mase_err *err)
{
    MASE_API_NEED(runner, err);
    return run_runner(runner, y, MASE_F32, x, n, err);
}

enum mase_status mase_runner_run_typed(struct mase_runner *runner, void *y, const float *x,
                                       int64_t n, struct mase_err *err)
{
    MASE_API_NEED(runner, err);
    return run_runner(runner, y, mase_predictor_dtype(runner->predictor), x, n, err);
}

const char *mase_runner_type(const struct mase_runner *runner)
{
    return runner ? mase_dtypes[mase_predictor_dtype(runner->predictor)].torch + strlen("torch.")
                  : NULL;
}

int mase_runner_input(const struct mase_runner *runner, int i, int64_t dim[8])
{
    if (!runner || i < 0 || i >= runner->inputs.count)
        return -1;
    const struct mase_shape *all = &runner->inputs.item[i].tensor.shape;
    struct mase_shape one = { .rank = all->rank - 1 };
    memcpy(one.dim, all->dim + 1, sizeof one.dim - sizeof one.dim[0]);
    return mase_api_dims(&one, dim);
}

int mase_runner_result(const struct mase_runner *runner, int64_t dim[8])
{
    if (!runner)
        return -1;
    const struct mase_shape s = mase_predictor_result(runner->predictor);
    return mase_api_dims(&s, dim);
}

int64_t mase_runner_features(const struct mase_runner *runner)
{
    return runner ? mase_inputs_features(&runner->inputs) : 0;
}

/* ---- evaluating ---- */

struct test {
    struct mase_net *net;
    struct mase_scores *out;
    const struct mase_rows *rows;
    const struct mase_test_opts *given;
    struct mase_text *detail;
    /* made of these */
    struct mase_test_opts o;
    struct mase_arena arena;
};

/* Are the arrays that were read those that the inputs are called? */
static enum mase_status match_inputs(struct mase_graph *g, const struct mase_data_info *d,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const char *features;
    enum mase_status st = mase_inputs_match(&features, &a, g, d, err);
    if (!st && features)
        st = mase_fail(err, MASE_EVALUE,
                       "the network's inputs are other arrays than were read: open the data for "
                       "this network, or with features = '%s'",
                       features);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_net_fits(const struct mase_net *net, struct mase_graph *g,
                               const struct mase_rows *rows, struct mase_err *err)
{
    const struct mase_data_info *d = &mase_dataset_info(rows->dataset)->data;
    struct mase_str is = { 0 }, must = { 0 };
    if (!net->has_sample || mase_shape_equal(&net->sample, &d->sample))
        return match_inputs(g, d, err);
    mase_shape_print(&is, &d->sample);
    mase_shape_print(&must, &net->sample);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "samples of %s are %s; the network takes %s", d->name,
                  mase_str_text(&is), mase_str_text(&must));
    mase_str_release(&is);
    mase_str_release(&must);
    return st;
}

/* As the options say, else as in training, else classification. */
static enum mase_status objective_of(struct mase_objective *o, const struct test *t,
                                     struct mase_err *err)
{
    const struct mase_checkpoint_info *trained = &t->net->trained;
    const char *task = t->o.task ? t->o.task : trained->task;
    const bool same = !t->o.task && !t->o.loss;
    return mase_objective_find(o, task, same ? trained->loss : t->o.loss,
                               same && trained->loss ? trained->loss_delta : 1, err);
}

static struct mase_split_rows first_rows(struct mase_split_rows rows, int64_t limit)
{
    if (limit > 0 && limit < rows.count)
        rows.count = limit;
    return rows;
}

static void give_detail(struct test *t, const struct mase_evaluation *e, const char *split,
                        const char *const *class_names)
{
    struct mase_arena *a = &t->arena;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "split", mase_value_string(a, split));
    mase_value_set(a, v, "task", mase_value_string(a, e->task->name));
    mase_value_set(a, v, "samples", mase_value_int(a, e->samples));
    mase_value_set(a, v, "loss", mase_value_measured(a, e->loss));
    mase_value_set(a, v, "score", mase_value_measured(a, e->score));
    mase_value_set(a, v, "score_name", mase_value_string(a, e->task->score));
    mase_evaluation_set(a, v, e, class_names);
    mase_text_json(t->detail, v);
}

static enum mase_status measure(struct test *t, struct mase_err *err)
{
    const struct mase_dataset *d = t->rows->dataset;
    const char *split = t->o.split ? t->o.split : "test";
    struct mase_objective objective;
    struct mase_classes classes;
    const struct mase_engine *engine;
    struct mase_measurement found;
    enum mase_split which;
    MASE_TRY(find_engine(&engine, t->o.engine, t->o.exact, err));
    MASE_TRY(mase_api_split(&which, split, err));
    MASE_TRY(objective_of(&objective, t, err));
    MASE_TRY(mase_net_fits(t->net, t->net->graph, t->rows, err));
    mase_classes_match(&classes, &t->arena, d, &t->net->trained);
    const struct mase_measure how = {
        .data = d,
        .rows = first_rows(mase_dataset_split(d, which), t->o.limit),
        .objective = &objective,
        .class_map = classes.map,
        .batch_size = t->o.batch_size > 0 ? t->o.batch_size : TOGETHER,
        .threads = t->o.threads,
        .engine = engine,
        .detail = t->detail ? &t->arena : NULL,
    };
    MASE_TRY(mase_work_measure(&found, t->net->graph, &how, err));
    const struct mase_evaluation *e = &found.e;
    struct mase_scores s = {
        .samples = e->samples, .loss = e->loss, .score = e->score, .seconds = e->seconds
    };
    MASE_API_GIVE(t->out, s);
    if (t->detail)
        give_detail(t, e, split, classes.names);
    return MASE_OK;
}

static enum mase_status evaluate(void *data, struct mase_err *err)
{
    struct test *t = data;
    MASE_TRY(mase_api_size(t->out->size, sizeof *t->out, "mase_scores", err));
    if (t->given) {
        MASE_TRY(mase_api_size(t->given->size, offsetof(struct mase_test_opts, exact),
                               "mase_test_opts", err));
        MASE_API_COPY(t->o, t->given);
    }
    MASE_TRY(mase_api_train_number(t->o.threads, MASE_TRAIN_threads, err));
    MASE_TRY(mase_api_number(t->o.limit, INT64_MAX, "limit", err));
    MASE_TRY(mase_api_train_number(t->o.batch_size, MASE_TRAIN_batch_size, err));
    MASE_TRY(mase_net_need_values(t->net, err));
    const enum mase_status st = measure(t, err);
    mase_arena_release(&t->arena);
    return st;
}

enum mase_status mase_net_evaluate(struct mase_net *net, struct mase_scores *scores,
                                   const struct mase_rows *rows,
                                   const struct mase_test_opts *options, struct mase_text *detail,
                                   struct mase_err *err)
{
    struct test t = { .net = net, .out = scores, .rows = rows, .given = options, .detail = detail };
    MASE_API_NEED(net, err);
    MASE_API_NEED(scores, err);
    MASE_API_NEED(rows, err);
    return mase_api_run(net->session, evaluate, &t, err);
}

/* ---- proving ---- */

struct prove {
    struct mase_net *net;
    struct mase_proof *out;
    const struct mase_rows *rows;
    const char *split;
    int64_t limit;
    struct mase_text *detail;
};

static enum mase_status prove_in(struct mase_arena *a, const struct prove *p, struct mase_err *err)
{
    const struct mase_dataset *d = p->rows->dataset;
    struct mase_verification v;
    enum mase_split which;
    MASE_TRY(mase_api_size(p->out->size, sizeof *p->out, "mase_proof", err));
    MASE_TRY(mase_api_number(p->limit, INT64_MAX, "limit", err));
    MASE_TRY(mase_net_need_values(p->net, err));
    MASE_TRY(mase_net_fits(p->net, p->net->graph, p->rows, err));
    MASE_TRY(mase_api_split(&which, p->split ? p->split : "test", err));
    const struct mase_split_rows rows = first_rows(mase_dataset_split(d, which), p->limit);
    if (!rows.count)
        return mase_fail(err, MASE_EVALUE, "%s has no rows to compare on",
                         mase_dataset_info(d)->data.name);
    MASE_TRY(mase_verify(&v, a, p->net->graph, d, rows, err));
    struct mase_proof found = {
        .samples = v.samples, .outputs = v.outputs, .differ = v.differ, .decisions = v.decisions
    };
    MASE_API_GIVE(p->out, found);
    if (p->detail)
        mase_text_json(p->detail, mase_verification_nodes(a, &v));
    return MASE_OK;
}

static enum mase_status prove(void *data, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const enum mase_status st = prove_in(&a, data, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_net_prove(struct mase_net *net, struct mase_proof *proof,
                                const struct mase_rows *rows, const char *split, int64_t limit,
                                struct mase_text *detail, struct mase_err *err)
{
    struct prove p = { net, proof, rows, split, limit, detail };
    MASE_API_NEED(net, err);
    MASE_API_NEED(proof, err);
    MASE_API_NEED(rows, err);
    return mase_api_run(net->session, prove, &p, err);
}
