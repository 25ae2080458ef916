/*
 * work_choice.c - convert options to the choices of the layer work, and what was found back to
 * options, since run.json records what a run used, not only what was typed.
 */
#include <mase/file.h>
#include <mase/log.h>
#include <mase/program.h>

#include "cli/command/cmd_train.h"

/* ---- options to choices ---- */

/* A report reads the record of a run, which contains defaults, as its file. */
static bool is_given(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_cli_setting *s = &c->setting[id];
    return s->cmdline || s->settled || (s->file && !mase_value_equal(s->file, s->dflt));
}

static bool trains(const struct mase_cli *c)
{
    return mase_streq(c->command->name, "train") || mase_streq(c->command->name, "sweep");
}

struct mase_data_choice mase_cli_data_choice(struct mase_cli *c)
{
    struct mase_data_choice choice = {
        .arena = &c->arena,
        .dataset = mase_cli_text(c, MASE_CLI_dataset),
        .at = mase_cli_value(c, MASE_CLI_dataset)->at,
        .task = mase_cli_task(c),
        .weights = mase_cli_text(c, MASE_CLI_load_name),
        .trains = trains(c),
        .ranges = mase_streq(c->command->name, "data"), /* shown by `ch data` */
    };
    for (int w = 0; w < MASE_DATA_WORD_COUNT; w++) {
        choice.value[w] = mase_cli_value(c, mase_cli_data_ids[w]);
        choice.said[w] = is_given(c, mase_cli_data_ids[w]);
    }
    return choice;
}

/* The layers of the file's [model], unless the command line names another model. */
static const struct mase_value *own_layers(const struct mase_cli *c)
{
    return c->setting[MASE_CLI_model].cmdline ? NULL : mase_value_at(c->config, "model.layers");
}

enum mase_status mase_cli_choose(struct mase_work_choice *o, struct mase_cli *c,
                                 struct mase_err *err)
{
    const struct mase_value *load = mase_cli_value(c, MASE_CLI_load_name),
                            *type = mase_cli_value(c, MASE_CLI_load_type),
                            *task = mase_cli_value(c, MASE_CLI_task);
    *o = (struct mase_work_choice){
        .model = mase_cli_text(c, MASE_CLI_model),
        .model_at = mase_cli_value(c, MASE_CLI_model)->at,
        .layers = own_layers(c),
        .weights = mase_cli_text(c, MASE_CLI_load_name),
        .weights_at = load->at,
        .weights_type = mase_streq(type->s, "auto") ? NULL : type->s,
        .type_at = type->at,
        .task = mase_cli_is_given(c, MASE_CLI_task) ? task->s : NULL,
        .task_at = task->at,
        .data = mase_cli_data_choice(c),
        .seconds = (double)mase_cli_value(c, MASE_CLI_trace_seconds)->i,
    };
    return mase_cli_load_opts(&o->load, c, err);
}

/* ---- results to options ---- */

/* Use weights for the task that they were trained for, unless the options give another. */
static void settle_task(struct mase_cli *c, const struct mase_checkpoint_info *trained)
{
    struct mase_arena *a = &c->arena;
    const struct mase_task *task = trained->task ? mase_task_find(trained->task) : NULL;
    if (!task)
        return;
    if (!mase_cli_is_given(c, MASE_CLI_task))
        c->setting[MASE_CLI_task].dflt = mase_value_string(a, task->name);
    if (mase_cli_task(c) != task || mase_cli_is_given(c, MASE_CLI_loss))
        return;
    c->setting[MASE_CLI_loss].dflt =
        trained->loss ? mase_value_string(a, trained->loss) : mase_value_none(a);
    if (!mase_cli_is_given(c, MASE_CLI_loss_delta))
        c->setting[MASE_CLI_loss_delta].dflt = mase_value_float(a, trained->loss_delta);
}

/* Replace the word of --load by the absolute path that was found. */
static void settle_weights(struct mase_cli *c, struct mase_opened *w)
{
    const enum mase_cli_option_id id = w->choice.weights ? MASE_CLI_load_name : MASE_CLI_model;
    if (!w->weights)
        return;
    w->weights = w->choice.data.weights = mase_path_absolute(&c->arena, w->weights);
    struct mase_value *v = mase_value_string(&c->arena, w->weights);
    v->at = mase_cli_value(c, id)->at;
    mase_cli_settle(c, MASE_CLI_load_name, v);
}

enum mase_status mase_cli_find_choice(struct mase_opened *w, struct mase_cli *c,
                                      const struct mase_work_choice *o, struct mase_err *err)
{
    MASE_TRY(mase_work_find(w, o, err));
    settle_weights(c, w);
    settle_task(c, &w->trained);
    return MASE_OK;
}

enum mase_status mase_cli_find_work(struct mase_opened *w, struct mase_cli *c, struct mase_err *err)
{
    struct mase_work_choice o;
    MASE_TRY(mase_cli_choose(&o, c, err));
    return mase_cli_find_choice(w, c, &o, err);
}

/* ---- the network ---- */

enum mase_status mase_cli_build(struct mase_opened *w, struct mase_cli *c,
                                const struct mase_data_info *data, struct mase_err *err)
{
    MASE_TRY(mase_work_build(w, data, err));
    if (w->source != MASE_WEIGHTS_SEED || !mase_cli_flag(c, MASE_CLI_resume))
        mase_cli_log_weights(c, w->graph, w->weights);
    return MASE_OK;
}

/* Record which arrays were read, for run.json. */
static void settle_features(struct mase_cli *c, const struct mase_opened *w)
{
    const struct mase_value *v = w->choice.data.value[MASE_DATA_features];
    if (v != mase_cli_value(c, MASE_CLI_features))
        mase_cli_settle(c, MASE_CLI_features, mase_value_copy(&c->arena, v));
}

enum mase_status mase_cli_match_inputs(struct mase_dataset **d, struct mase_cli *c,
                                       struct mase_opened *w, struct mase_err *err)
{
    MASE_TRY(mase_work_match_inputs(d, w, err));
    settle_features(c, w);
    return MASE_OK;
}

enum mase_status mase_cli_match_data(const struct mase_data_info **data, struct mase_cli *c,
                                     struct mase_opened *w, struct mase_err *err)
{
    MASE_TRY(mase_work_match_data(data, w, err));
    settle_features(c, w);
    return MASE_OK;
}

void mase_cli_log_random(const struct mase_graph *g)
{
    const struct mase_node *n = mase_graph_draws(g);
    if (n)
        mase_info("%s draws numbers in evaluation too: results are random, and decided by --seed",
                  n->name);
}

/* ---- data ---- */

enum mase_status mase_cli_open_data(struct mase_dataset **d, struct mase_cli *c, const char *name,
                                    struct mase_err *err)
{
    struct mase_opened w;
    struct mase_work_choice o;
    MASE_TRY(mase_cli_choose(&o, c, err));
    o.model = NULL;
    o.data.dataset = name;
    MASE_TRY(mase_work_find(&w, &o, err));
    return mase_work_open_data(d, &w, err);
}

enum mase_status mase_cli_fail_data(const struct mase_opened *w, enum mase_status failed,
                                    struct mase_err *err)
{
    const struct mase_data_info *info;
    struct mase_opened other = *w;
    struct mase_err why = { 0 };
    if (failed != MASE_EIO || w->word.kind != MASE_WORD_ZOO ||
        mase_data_find(&info, w->choice.data.dataset, NULL))
        return failed;
    if (mase_work_graph(&other, info, &why))
        *err = why;
    mase_work_close(&other);
    return failed;
}
