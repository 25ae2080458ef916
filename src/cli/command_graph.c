/*
 * command_graph.c - the graph that a command is about: the model that is named, with the weights
 * that
 * --load names, or initial ones.
 *
 * Weights may come with a graph: a saved folder is one, and a checkpoint says what it was trained
 * with. What runs under the name of a model is that network: another one is refused. The number
 * formats that weights were saved or trained with belong to them, so these are kept.
 */
#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/log.h>
#include <mase/program.h>

#include "cli/command_nets.h"
#include "cli/project.h"

static bool note_param(const char *full, struct mase_param *p, void *data)
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
    mase_graph_each_param(g, note_param, &any);
    if (!any || g->weights)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, dir,
                        "has no " MASE_SAVED_WEIGHTS ": the weights of its graph are missing");
}

/* ---- from a saved folder ---- */

/* A transform may have changed more than formats: then the name is that of the model still, and
 * people are told. */
static enum mase_status check_name(const struct mase_graph *named, const struct mase_graph *saved,
                                   const struct mase_cli *c, const char *name, struct mase_err *err)
{
    struct mase_str why = { 0 };
    const char *dir = mase_cli_text(c, MASE_CLI_load_name);
    enum mase_status st = MASE_OK;
    if (mase_graph_same_network(named, saved, &why))
        ;
    else if (mase_streq(named->name, saved->name))
        mase_warn("%s as saved in %s is not %s as it is now: %s; the saved one is used",
                  saved->name, dir, name, mase_str_text(&why));
    else
        st =
            mase_fail(err, MASE_EVALUE,
                      "'%s' holds the network %s and not %s: %s; name the folder as the model to "
                      "use what it holds",
                      dir, saved->name ? saved->name : "without a name", name, mase_str_text(&why));
    mase_str_release(&why);
    return st;
}

static enum mase_status take_saved(struct mase_graph **g, struct mase_cli *c, const char *name,
                                   struct mase_err *err)
{
    const char *dir = mase_cli_text(c, MASE_CLI_load_name);
    struct mase_graph *saved = NULL;
    enum mase_status st = mase_graph_load(&saved, dir, (*g)->name, err);
    if (st)
        mase_place(err, mase_cli_value(c, MASE_CLI_load_name)->at);
    if (!st)
        st = need_weights(saved, dir, err);
    if (!st)
        st = check_name(*g, saved, c, name, err);
    if (st) {
        mase_graph_free(saved);
        return st;
    }
    mase_graph_free(*g);
    *g = saved;
    return MASE_OK;
}

/* ---- either ---- */

/* The shapes with one sample: what the network's data decide before its size does. */
static enum mase_status check_shapes(const struct mase_graph *g, const struct mase_shape *sample,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_pass_env env = { 0 };
    struct mase_values v;
    mase_cli_sample_inputs(&env, &a, g, sample);
    const enum mase_status st = mase_infer_shapes(&v, &a, g, env.inputs, env.input_count, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_cli_check_size(const struct mase_graph *g, const struct mase_shape *sample,
                                     struct mase_err *err)
{
    /* Passes that need no shapes may see a network whose data do not fit, unless it is so large
     * that its weights take long to make. */
    const int64_t large = (int64_t)1 << 26;
    if (sample && mase_graph_param_count(g) > large)
        MASE_TRY(check_shapes(g, sample, err));
    return mase_graph_check_size(g, err);
}

static enum mase_status take_weights(struct mase_graph **g, struct mase_cli *c, const char *name,
                                     const struct mase_shape *sample, enum mase_cli_weights kind,
                                     struct mase_err *err)
{
    const char *path = mase_cli_text(c, MASE_CLI_load_name);
    if (kind == MASE_CLI_SAVED)
        return take_saved(g, c, name, err);
    if (kind == MASE_CLI_OWN)
        return MASE_OK;
    MASE_TRY(mase_cli_check_size(*g, sample, err));
    if (kind == MASE_CLI_INITIALISED) {
        mase_graph_init_weights(*g, (uint64_t)mase_cli_value(c, MASE_CLI_seed)->i);
        return MASE_OK;
    }
    MASE_TRY(mase_checkpoint_follow(*g, path, err));
    return mase_cli_load_weights(*g, c, path, err);
}

enum mase_status mase_cli_take_weights(struct mase_graph **g, struct mase_cli *c, const char *name,
                                       const struct mase_shape *sample, enum mase_cli_weights kind,
                                       struct mase_err *err)
{
    MASE_TRY(take_weights(g, c, name, sample, kind, err));
    if (kind != MASE_CLI_INITIALISED || !mase_cli_flag(c, MASE_CLI_resume))
        mase_cli_tell_weights(c, *g, mase_cli_text(c, MASE_CLI_load_name));
    return MASE_OK;
}

void mase_cli_tell_draws(const struct mase_graph *g)
{
    const struct mase_node *n = mase_graph_draws(g);
    if (n)
        mase_info("%s draws numbers in evaluation too: results are random, and decided by --seed",
                  n->name);
}

enum mase_status mase_cli_fail_data(struct mase_cli *c, const struct mase_model *m,
                                    enum mase_status failed, struct mase_err *err)
{
    const struct mase_data_info *info;
    struct mase_graph *g = NULL;
    struct mase_err other = { 0 };
    if (failed != MASE_EIO || !m->build ||
        mase_data_find(&info, mase_cli_text(c, MASE_CLI_dataset), NULL))
        return failed;
    if (mase_cli_open_model(&g, c, m->name, info, &other))
        *err = other;
    mase_graph_free(g);
    return failed;
}

enum mase_status mase_cli_build(struct mase_graph **g, struct mase_cli *c,
                                const struct mase_model *m, const struct mase_data_info *data,
                                enum mase_cli_weights kind, struct mase_err *err)
{
    MASE_TRY(mase_cli_open_model(g, c, m->name, data, err));
    return mase_cli_take_weights(g, c, m->name, &data->sample, kind, err);
}
