/*
 * sweep_run.c - build the grid of configurations and train them in parallel.
 *
 * A configuration has a graph, a trainer and an arena of its own; the data is shared and constant.
 * Progress, the log and files are shared and used in critical sections.
 */
#include "base/host.h"
#include "train/sweep_parts.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/safetensors.h>

#include "train/content.h"

/* ---- the grid ---- */

static enum mase_status check_axis(const struct mase_sweep_axis *axis, struct mase_err *err)
{
    const struct mase_value *v = axis->values;
    for (int i = 0; i < v->count; i++)
        for (int j = 0; j < i; j++)
            if (mase_value_equal(v->items[i], v->items[j])) {
                struct mase_str text = { 0 };
                mase_value_str(&text, v->items[i]);
                const enum mase_status st = mase_fail(err, MASE_EVALUE, "%s: %s is given twice",
                                                      axis->key, mase_str_text(&text));
                mase_str_release(&text);
                return st;
            }
    return MASE_OK;
}

/* Count the configurations. */
static enum mase_status count_points(struct mase_sweep *s, struct mase_err *err)
{
    if (s->axis_count > MASE_SWEEP_MAX_AXES)
        return mase_fail(err, MASE_ELIMIT, "a sweep varies at most %d options, not %d",
                         MASE_SWEEP_MAX_AXES, s->axis_count);
    s->count = 1;
    for (int i = 0; i < s->axis_count; i++) {
        const int64_t count = (int64_t)s->count * s->axes[i].values->count;
        if (count > MASE_SWEEP_MAX_RUNS)
            return mase_fail(err, MASE_ELIMIT, "a sweep has at most %d configurations",
                             MASE_SWEEP_MAX_RUNS);
        MASE_TRY(check_axis(&s->axes[i], err));
        s->count = (int)count;
    }
    return MASE_OK;
}

/* Configuration number i, whose digits in the mixed radix of the axes' lengths select the values.
 */
static enum mase_status make_point(struct mase_sweep_point *p, const struct mase_sweep *s, int i,
                                   struct mase_arena *a, struct mase_err *err)
{
    struct mase_value *table = s->options ? mase_value_copy(a, s->options) : mase_value_table(a);
    int network = 0, stride = 1;
    p->network = s->network;
    for (int axis = s->axis_count - 1; axis >= 0; axis--) {
        const struct mase_value *values = s->axes[axis].values;
        const int digit = i % values->count;
        p->value[axis] = values->items[digit];
        i /= values->count;
        if (!s->axes[axis].network) {
            mase_value_set(a, table, s->axes[axis].key, mase_value_copy(a, p->value[axis]));
            continue;
        }
        network += digit * stride;
        stride *= values->count;
    }
    if (s->networks)
        p->network = s->networks[network];
    p->base = s->bases ? s->bases[s->networks ? network : 0] : NULL;
    MASE_TRY(mase_opts_bind(&p->opts, sizeof(p->opts), mase_train_rows, table, a, err));
    p->opts.threads = 1;
    p->opts.prune = s->prune;
    if (s->networks && !mase_graph_is_quantised(p->network))
        p->opts.distill = 0; /* the float network of an axis of formats has no teacher */
    return MASE_OK;
}

static enum mase_status hash_weights(struct mase_sweep *s, struct mase_err *err)
{
    struct mase_file f;
    s->weights_hash[0] = '\0';
    if (!s->weights)
        return MASE_OK;
    MASE_TRY(mase_file_open(&f, s->weights, err));
    mase_sha256(s->weights_hash, f.data, f.size);
    mase_file_close(&f);
    return MASE_OK;
}

enum mase_status mase_sweep_grid(struct mase_sweep *s, struct mase_arena *a, struct mase_err *err)
{
    MASE_TRY(count_points(s, err));
    s->points = mase_new_array(a, struct mase_sweep_point, (size_t)s->count);
    for (int i = 0; i < s->count; i++)
        MASE_TRY(make_point(&s->points[i], s, i, a, err));
    return MASE_OK;
}

/* Hash the users' own losses once for each network. A loss that cannot be read is reported when its
 * configuration runs. */
static void hash_losses(struct mase_sweep *s)
{
    struct mase_err unwanted;
    for (int i = 0; i < s->count; i++) {
        struct mase_sweep_point *p = &s->points[i], *same = s->points;
        while (same < p &&
               (same->network != p->network || !mase_streq(same->opts.loss, p->opts.loss) ||
                !mase_streq(same->opts.task, p->opts.task)))
            same++;
        if (same < p)
            memcpy(p->loss_hash, same->loss_hash, sizeof p->loss_hash);
        else if (mase_content_of_loss(p->loss_hash, p->network, s->data, &p->opts, &unwanted))
            memcpy(p->loss_hash, "?", sizeof "?");
    }
}

enum mase_status mase_sweep_expand(struct mase_sweep *s, struct mase_arena *a, struct mase_err *err)
{
    MASE_TRY(hash_weights(s, err));
    MASE_TRY(mase_sweep_grid(s, a, err));
    hash_losses(s);
    for (int i = 0; i < s->count; i++) {
        mase_sweep_make_key(&s->points[i], s);
        mase_sweep_recall(&s->points[i], s);
    }
    return MASE_OK;
}

const struct mase_task *mase_sweep_task(const struct mase_sweep *s)
{
    return mase_task_find(s->count ? s->points[0].opts.task : NULL);
}

void mase_sweep_label(struct mase_str *out, const struct mase_sweep *s,
                      const struct mase_sweep_point *p)
{
    for (int i = 0; i < s->axis_count; i++) {
        mase_str_printf(out, "%s%s=", i ? " " : "", s->axes[i].key);
        mase_value_str(out, p->value[i]);
    }
}

/* ---- one configuration ---- */

/* Progress display, shared by the threads: use in a critical section only. */
struct display {
    struct mase_progress bar;
    int64_t epochs;          /* done in all configurations */
    struct mase_err failure; /* the first failure to display; no status: none */
};

struct job {
    struct mase_sweep_point *p;
    const struct mase_sweep *sweep;
    struct display *display;
    int64_t samples;
};

/* The body of a critical section runs in a guard, since a jump must not leave that section. */
static enum mase_status show(void *data, struct mase_err *err)
{
    struct display *d = data;
    (void)err;
    mase_progress_step(&d->bar, ++d->epochs);
    return MASE_OK;
}

static enum mase_status show_epoch(struct job *j)
{
    struct mase_guard *guard = mase_guard_current();
    struct mase_err err;
    enum mase_status st;
#pragma omp critical(mase_sweep_display)
    st = mase_guarded_part(guard, show, j->display, &err);
    return mase_guard_propagate(st, &err);
}

static enum mase_status on_epoch(void *data, const struct mase_train_epoch *e, struct mase_err *err)
{
    struct job *j = data;
    struct mase_sweep_result *r = &j->p->result;
    (void)err;
    r->epochs++;
    r->steps = e->step;
    r->train_loss = e->train_loss;
    r->train_score = e->train_score;
    r->val_loss = e->val_loss;
    r->val_score = e->val_score;
    r->seconds += e->train_seconds;
    j->samples += e->samples;
    return show_epoch(j);
}

/* A network that was not trained is evaluated on the validation split here. */
static enum mase_status test(struct mase_sweep_result *r, struct mase_graph *g,
                             const struct mase_dataset *d, const struct mase_objective *o,
                             int64_t batch, struct mase_err *err)
{
    struct mase_predictor *predictor;
    const struct mase_predictor_opts po = { .batch = o->own ? batch : 0, .coupled_batch = batch };
    struct mase_evaluation e = { 0 }, v = { .loss = r->val_loss, .score = r->val_score };
    MASE_TRY(mase_predictor_new(&predictor, g, &mase_dataset_info(d)->data.sample, &po, err));
    enum mase_status st = mase_evaluate(&e, predictor, d, o, MASE_SPLIT_TEST, 0, NULL, err);
    if (!st && r->epochs == 0)
        st = mase_evaluate(&v, predictor, d, o, MASE_SPLIT_VALIDATION, 0, NULL, err);
    mase_predictor_free(predictor);
    r->val_loss = v.loss;
    r->val_score = v.score;
    r->test_loss = e.loss;
    r->test_score = e.score;
    r->test_error = e.accuracy_error;
    return st;
}

struct making {
    struct mase_trainer **t;
    struct mase_graph *g;
    const struct mase_sweep *s;
    const struct job *j;
};

static enum mase_status make_trainer(void *data, struct mase_err *err)
{
    const struct making *m = data;
    return mase_trainer_new(m->t, m->g, m->s->data, &m->j->p->opts, err);
}

static enum mase_status fit(struct job *j, const struct mase_sweep *s, struct mase_graph *g,
                            struct mase_err *err)
{
    struct mase_trainer *t;
    struct mase_sweep_result *r = &j->p->result;
    const struct mase_train_env env = { .data = j, .on_epoch = on_epoch };
    struct making making = { &t, g, s, j };
    struct mase_guard *guard = mase_guard_current();
    enum mase_status st;
#pragma omp critical(mase_sweep_display) /* the guard may log */
    st = mase_guarded_part(guard, make_trainer, &making, err);
    if (mase_guard_propagate(st, err))
        return st;
    st = mase_trainer_run(t, &env, err);
    r->best_val_loss = mase_trainer_state(t)->best_loss;
    r->best_epoch = mase_trainer_state(t)->best_epoch;
    r->samples_per_second = r->seconds > 0 ? (double)j->samples / r->seconds : 0;
    struct mase_objective o = *mase_trainer_objective(t);
    o.own_graph = NULL; /* the trainer frees it */
    mase_trainer_free(t);
    return st ? st : test(r, g, s->data, &o, j->p->opts.batch_size, err);
}

static bool copy_param(const char *full, struct mase_param *p, void *data)
{
    struct mase_map *of = data;
    const struct mase_param *from = mase_map_get(of, full);
    if (from && from->tensor.data && p->tensor.data && from->tensor.dtype == p->tensor.dtype &&
        mase_shape_equal(&from->tensor.shape, &p->tensor.shape))
        memcpy(p->tensor.data, from->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

static bool note_param(const char *full, struct mase_param *p, void *data)
{
    struct mase_map *of = data;
    mase_map_put(of, mase_arena_strdup(of->arena, full), p);
    return true;
}

/* Load the weights of a file into the base, which they belong to; g copies those it has. */
static enum mase_status load_base(struct mase_graph *g, const struct mase_graph *base,
                                  const char *path, const struct mase_weights_opts *load,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_map of = { .arena = &a };
    struct mase_graph *loaded = mase_graph_clone(base);
    mase_graph_init_weights(loaded, load->seed);
    const enum mase_status st = mase_weights_load_by(loaded, path, load, err);
    mase_graph_each_param(loaded, note_param, &of);
    if (!st)
        mase_graph_each_param(g, copy_param, &of);
    mase_arena_release(&a);
    mase_graph_free(loaded);
    return st;
}

static enum mase_status train_point(void *data, struct mase_err *err)
{
    struct job *j = data;
    const struct mase_sweep *s = j->sweep;
    struct mase_graph *g = mase_graph_clone(j->p->network);
    j->p->result = (struct mase_sweep_result){
        .train_loss = NAN, .train_score = NAN, .val_loss = NAN, .val_score = NAN
    };
    const struct mase_graph *of = j->p->base ? j->p->base : g;
    if (of->weights) /* weights of an .onnx file */
        mase_graph_own_weights(g);
    else
        mase_graph_init_weights(g, (uint64_t)j->p->opts.seed);
    struct mase_weights_opts load = s->load;
    load.seed = (uint64_t)j->p->opts.seed;
    enum mase_status st = MASE_OK;
    if (s->weights && j->p->base)
        st = load_base(g, j->p->base, s->weights, &load, err);
    else if (s->weights)
        st = mase_weights_load_by(g, s->weights, &load, err);
    if (!st)
        st = fit(j, s, g, err);
    mase_graph_free(g);
    return st;
}

/* ---- all configurations ---- */

struct finishing {
    const struct job *j;
    enum mase_status st;
};

/* Store and display the result of a configuration; one thread at a time. */
static enum mase_status finish(void *data, struct mase_err *err)
{
    const struct finishing *f = data;
    struct mase_sweep_point *p = f->j->p;
    const struct mase_sweep *s = f->j->sweep;
    struct display *display = f->j->display;
    enum mase_status st = f->st;
    struct mase_str label = { 0 };
    (void)err;
    const char *score = mase_sweep_task(s)->score;
    if (!st)
        st = mase_sweep_store(p, s, &p->failure);
    p->done = !st;
    mase_sweep_label(&label, s, p);
    if (st)
        mase_log(MASE_ERROR, "%s: %s", mase_str_text(&label), p->failure.msg);
    else
        mase_info("%s: val_loss %.4f, val_%s %.4f, test_%s %.4f in %.1f s", mase_str_text(&label),
                  p->result.val_loss, score, p->result.val_score, score, p->result.test_score,
                  p->result.seconds);
    mase_progress_step(&display->bar, display->epochs);
    mase_str_release(&label);
    return MASE_OK;
}

/* Train, then store, each in a guard of its own: a configuration that runs out of memory has failed
 * as by any other error, and the next one may have enough. */
static void run_point(struct mase_sweep *s, struct mase_sweep_point *p, struct display *display,
                      struct mase_guard *guard)
{
    struct job job = { .p = p, .sweep = s, .display = display };
    struct finishing f = { &job, mase_guarded_part(guard, train_point, &job, &p->failure) };
#pragma omp critical(mase_sweep_display)
    if (mase_guarded_part(guard, finish, &f, &p->failure))
        display->failure = p->failure;
}

/* Count the configurations without a stored result, and their epochs. */
static int count_missing(const struct mase_sweep *s, int64_t *epochs)
{
    int n = 0;
    *epochs = 0;
    for (int i = 0; i < s->count; i++)
        if (!s->points[i].done) {
            *epochs += s->points[i].opts.max_epochs;
            n++;
        }
    return n;
}

static int job_count(const struct mase_sweep *s, int missing)
{
    const int wanted = s->jobs > 0 ? s->jobs : mase_threads_allowed();
    return wanted < missing ? wanted : missing;
}

static enum mase_status report_failures(const struct mase_sweep *s, struct mase_err *err)
{
    int failed = 0;
    const struct mase_sweep_point *first = NULL;
    for (int i = s->count - 1; i >= 0; i--)
        if (!s->points[i].done) {
            first = &s->points[i];
            failed++;
        }
    if (!failed)
        return MASE_OK;
    struct mase_str label = { 0 };
    mase_sweep_label(&label, s, first);
    const enum mase_status st =
        mase_fail(err, first->failure.status, "%d of %d configurations failed, the first %s: %s",
                  failed, s->count, mase_str_text(&label), first->failure.msg);
    mase_str_release(&label);
    return st;
}

enum mase_status mase_sweep_run(struct mase_sweep *s, struct mase_err *err)
{
    struct display display = { 0 };
    int64_t epochs;
    const int missing = count_missing(s, &epochs);
    if (!missing)
        return MASE_OK;
    MASE_TRY(mase_make_dirs(s->dir, err));
    mase_progress_start(&display.bar, "sweep, epochs", epochs);
    struct mase_guard *guard = mase_guard_current();
#pragma omp parallel for schedule(dynamic, 1) num_threads(job_count(s, missing))
    for (int i = 0; i < s->count; i++) {
        if (!s->points[i].done)
            run_point(s, &s->points[i], &display, guard);
    }
    (void)mase_guard_propagate(display.failure.status, &display.failure);
    mase_progress_end(&display.bar);
    return report_failures(s, err);
}
