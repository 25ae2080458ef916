/*
 * open_network.c - the network that a word names, with the weights that it comes with, is given or
 * starts from.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/run.h>
#include <mase/saved.h>

#include "work/work_parts.h"

/* ---- words, before anything is made ---- */

void mase_work_choice_init(struct mase_work_choice *c, struct mase_arena *a)
{
    *c = (struct mase_work_choice){ .model_at = MASE_NOWHERE,
                                    .weights_at = MASE_NOWHERE,
                                    .type_at = MASE_NOWHERE,
                                    .task_at = MASE_NOWHERE };
    mase_data_choice_init(&c->data, a);
}

static enum mase_status find_word(struct mase_opened *w, struct mase_err *err)
{
    const struct mase_work_choice *c = &w->choice;
    if (!c->model)
        return MASE_OK;
    if (c->layers) {
        w->word =
            (struct mase_word){ .kind = MASE_WORD_LAYERS, .text = c->model, .path = c->model };
        return MASE_OK;
    }
    if (mase_word_find(&w->word, c->data.arena, c->model, err))
        return mase_place(err, c->model_at);
    return MASE_OK;
}

static bool has_weights(enum mase_word_kind kind)
{
    return kind == MASE_WORD_ONNX || kind == MASE_WORD_SAVED || kind == MASE_WORD_CHECKPOINT ||
           kind == MASE_WORD_WEIGHTS;
}

/* Weights are used for what they were trained for; only training may change it. */
static enum mase_status find_task(struct mase_opened *w, struct mase_err *err)
{
    const struct mase_work_choice *c = &w->choice;
    const struct mase_task *trained = w->trained.task ? mase_task_find(w->trained.task) : NULL;
    w->task = c->task ? mase_task_find(c->task) : trained ? trained : mase_tasks;
    if (!trained || w->task == trained)
        return MASE_OK;
    if (c->data.trains) {
        mase_info("%s was trained for task %s; from here on it is %s", w->weights, trained->name,
                  c->task);
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EVALUE, c->task_at,
                        "--task %s contradicts %s, which was trained for task %s", c->task,
                        w->weights, trained->name);
}

enum mase_status mase_work_find(struct mase_opened *w, const struct mase_work_choice *choice,
                                struct mase_err *err)
{
    *w = (struct mase_opened){ .choice = *choice, .trained = { .epoch = -1, .step = -1 } };
    if (choice->weights) /* report errors of the weights first */
        MASE_TRY(mase_work_find_weights(w, err));
    MASE_TRY(find_word(w, err));
    if (choice->spare_weights && has_weights(w->word.kind))
        w->choice.weights = NULL;
    if (!w->choice.weights)
        MASE_TRY(mase_work_find_weights(w, err));
    if (w->weights)
        MASE_TRY(mase_trained_on(&w->trained, choice->data.arena, w->weights, err));
    MASE_TRY(find_task(w, err));
    w->choice.data.task = w->task;
    w->choice.data.weights = w->weights;
    return MASE_OK;
}

/* ---- the graph ---- */

static enum mase_status open_model(struct mase_opened *w, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    const struct mase_model_opts opts = { .seconds = w->choice.seconds };
    if (!data)
        return mase_fail(err, MASE_EVALUE,
                         "'%s' does not say what data it takes: give --dataset NAME, or "
                         "--input-shape N,N,... of a sample",
                         w->word.text);
    struct mase_data_info fitted = *data;
    if (w->task)
        fitted.classes = (int)mase_task_outputs(w->task, data);
    return mase_model_open(&w->graph, w->word.text, &fitted, &opts, err);
}

static enum mase_status open_graph(struct mase_opened *w, struct mase_err *err)
{
    MASE_TRY(mase_graph_read_mg(&w->graph, w->word.path, err));
    return w->choice.no_values ? MASE_OK : mase_graph_check_writes(w->graph, err);
}

static enum mase_status open_onnx(struct mase_opened *w, const struct mase_data_info *data,
                                  struct mase_err *err)
{
    struct mase_onnx_info info;
    MASE_TRY(
        mase_model_open_onnx(&w->graph, &info, w->word.path, data ? &data->sample : NULL, err));
    w->sample = info.sample;
    w->has_sample = info.has_sample;
    return MASE_OK;
}

static enum mase_status open_saved(struct mase_opened *w, struct mase_err *err)
{
    const char *path = mase_path_join(w->choice.data.arena, w->word.path, MASE_SAVED_GRAPH);
    return mase_graph_read_mg(&w->graph, path, err);
}

/* A file of another kind is refused in its reader's words. */
static enum mase_status open_weights(struct mase_opened *w, struct mase_err *err)
{
    const bool alone = w->choice.only_weights || w->word.kind == MASE_WORD_OTHER;
    if (alone)
        MASE_TRY(mase_tensors_open(&w->tensors, w->word.path, err));
    if (w->choice.only_weights)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, w->word.path,
                        "holds weights without their network, as earlier versions wrote them: name "
                        "the network, and this file with --load");
}

static enum mase_status open_kind(struct mase_opened *w, const struct mase_data_info *data,
                                  struct mase_err *err)
{
    switch (w->word.kind) {
    case MASE_WORD_LAYERS:
        return mase_model_layers(&w->graph, w->word.text, w->choice.layers, err);
    case MASE_WORD_ZOO:
    case MASE_WORD_SOURCE:
        return open_model(w, data, err);
    case MASE_WORD_GRAPH:
        return open_graph(w, err);
    case MASE_WORD_ONNX:
        return open_onnx(w, data, err);
    case MASE_WORD_SAVED:
        return open_saved(w, err);
    case MASE_WORD_CHECKPOINT:
        return mase_checkpoint_need_graph(&w->graph, w->word.path, err);
    case MASE_WORD_WEIGHTS:
    case MASE_WORD_OTHER:
        return open_weights(w, err);
    case MASE_WORD_NONE:
        break;
    }
    return mase_fail(err, MASE_EVALUE, "no network is named");
}

static void set_sample(struct mase_opened *w, const struct mase_data_info *data)
{
    w->sample = data->sample;
    w->has_sample = true;
}

/* Set shapes of samples: from the data, else the network, else its training. */
static void take_shapes(struct mase_opened *w, const struct mase_data_info *data)
{
    const struct mase_data_info *trained = &w->trained.data;
    if (data) {
        set_sample(w, data);
        if (w->word.kind != MASE_WORD_LAYERS)
            mase_model_set_inputs(w->graph, data);
    } else if (!w->has_sample && mase_graph_says_sample(&w->sample, w->graph)) {
        w->has_sample = true;
    } else if (!w->has_sample && trained->name) {
        set_sample(w, trained);
        mase_graph_set_more(w->graph, trained->more, trained->more_count);
    }
}

enum mase_status mase_work_graph(struct mase_opened *w, const struct mase_data_info *data,
                                 struct mase_err *err)
{
    MASE_TRY(open_kind(w, data, err));
    if (w->graph)
        take_shapes(w, data);
    return MASE_OK;
}

/* ---- its size ---- */

static enum mase_status check_shapes(const struct mase_graph *g, const struct mase_shape *sample,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    const struct mase_inputs in = mase_graph_inputs(&a, g, sample, 1);
    const enum mase_status st = mase_infer_shapes(&v, &a, g, in.item, in.count, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_work_check_size(const struct mase_graph *g, const struct mase_shape *sample,
                                      struct mase_err *err)
{
    /* Passes that need no shapes may see a network whose data do not fit, unless it is so large
     * that its weights take long to make. */
    const int64_t large = (int64_t)1 << 26;
    if (sample && mase_graph_param_count(g) > large)
        MASE_TRY(check_shapes(g, sample, err));
    return mase_graph_check_size(g, err);
}

/* ---- weights of a folder ---- */

static bool is_parameter(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    (void)p;
    *(bool *)data = true;
    return false;
}

static enum mase_status need_weights(const struct mase_graph *g, const char *dir,
                                     struct mase_err *err)
{
    bool any = false;
    mase_graph_each_param(g, is_parameter, &any);
    if (!any || g->weights)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, dir,
                        "has no " MASE_SAVED_WEIGHTS ": the weights of its graph are missing");
}

/* A transform may have changed more than formats: keep the network's name, and log that. */
static enum mase_status check_name(const struct mase_opened *w, const struct mase_graph *saved,
                                   struct mase_err *err)
{
    const struct mase_graph *named = w->graph;
    struct mase_str why = { 0 };
    enum mase_status st = MASE_OK;
    if (mase_graph_same_network(named, saved, &why))
        ;
    else if (named->name && saved->name && mase_streq(named->name, saved->name))
        mase_warn("%s as saved in %s is not %s as it is now: %s; the saved one is used",
                  saved->name, w->weights, w->word.text, mase_str_text(&why));
    else
        st = mase_fail(err, MASE_EVALUE,
                       "'%s' holds the network %s and not %s: %s; name the folder as the model to "
                       "use what it holds",
                       w->weights, saved->name ? saved->name : "without a name", w->word.text,
                       mase_str_text(&why));
    mase_str_release(&why);
    return st;
}

static enum mase_status take_saved(struct mase_opened *w, struct mase_err *err)
{
    struct mase_graph *saved = NULL, *named = w->graph;
    if (mase_graph_load(&saved, w->weights, named->name, err))
        return mase_place(err, w->choice.weights_at);
    enum mase_status st = need_weights(saved, w->weights, err);
    if (!st)
        st = check_name(w, saved, err);
    if (st) {
        mase_graph_free(saved);
        return st;
    }
    mase_graph_set_more(saved, named->more, named->more_count);
    w->graph = saved;
    mase_graph_free(named);
    return MASE_OK;
}

/* ---- weights ---- */

enum mase_status mase_work_load(struct mase_opened *w, struct mase_err *err)
{
    if (!w->graph || w->choice.no_values || w->source == MASE_WEIGHTS_OWN)
        return MASE_OK;
    if (w->source == MASE_WEIGHTS_SAVED)
        return take_saved(w, err);
    MASE_TRY(mase_work_check_size(w->graph, w->has_sample ? &w->sample : NULL, err));
    if (w->source == MASE_WEIGHTS_SEED) {
        mase_graph_init_weights(w->graph, w->choice.load.seed);
        return MASE_OK;
    }
    MASE_TRY(mase_checkpoint_follow(w->graph, w->weights, err));
    return mase_weights_load_by(w->graph, w->weights, &w->choice.load, err);
}

/* Use a saved folder as it is, unless weights are not needed, which it may lack. */
static bool is_whole(const struct mase_opened *w)
{
    const char *values = mase_path_join(w->choice.data.arena, w->word.path, MASE_SAVED_WEIGHTS);
    return w->word.kind == MASE_WORD_SAVED && !w->choice.weights &&
           (!w->choice.no_values || mase_is_file(values));
}

enum mase_status mase_work_build(struct mase_opened *w, const struct mase_data_info *data,
                                 struct mase_err *err)
{
    if (!is_whole(w)) {
        MASE_TRY(mase_work_graph(w, data, err));
        return mase_work_load(w, err);
    }
    MASE_TRY(mase_graph_load(&w->graph, w->word.path, NULL, err));
    take_shapes(w, data);
    return w->choice.no_values ? MASE_OK : need_weights(w->graph, w->weights, err);
}

/* ---- all of it ---- */

/* NULL: unknown; the network may know. */
static enum mase_status find_data(const struct mase_data_info **data, struct mase_opened *w,
                                  struct mase_err *err)
{
    const bool made = w->word.kind == MASE_WORD_ZOO || w->word.kind == MASE_WORD_SOURCE;
    const char *name = w->choice.data.dataset;
    *data = NULL;
    if (!name && made && w->trained.data.name) {
        *data = &w->trained.data;
        return MASE_OK;
    }
    if (!name && w->word.model)
        name = w->word.model->dataset;
    return name ? mase_work_data_info(data, w, name, err) : MASE_OK;
}

static enum mase_status open_found(struct mase_opened *w, struct mase_err *err)
{
    const struct mase_data_info *data;
    MASE_TRY(find_data(&data, w, err));
    MASE_TRY(mase_work_build(w, data, err));
    if (!data || !w->graph || !(data->more_count || data->other_count))
        return MASE_OK;
    return mase_work_match_data(&data, w, err);
}

enum mase_status mase_work_open(struct mase_opened *w, const struct mase_work_choice *choice,
                                struct mase_err *err)
{
    enum mase_status st = mase_work_find(w, choice, err);
    if (!st)
        st = open_found(w, err);
    if (st)
        mase_work_close(w);
    return st;
}

void mase_work_close(struct mase_opened *w)
{
    mase_graph_free(w->graph);
    mase_tensors_close(&w->tensors);
    w->graph = NULL;
    w->tensors = (struct mase_tensors){ 0 };
}
