/*
 * networks.c - the network of the run with the weights it ended with, and the one before the
 * transforms.
 *
 *     train       the checkpoint with the lowest validation loss
 *     transform   the graph that was saved; before: the model, with the weights it was given
 *     test        the model with the weights that were tested
 *     sweep       the model alone: every configuration had weights of its own
 */
#include <mase/file.h>
#include <mase/weights.h>

#include "cli/report/report.h"

/* ---- pieces ---- */

static bool holds_graph(const struct mase_report *r, const char *dir)
{
    return mase_is_file(mase_path_join(r->arena, dir, "graph_module.mg"));
}

static enum mase_status load_folder(struct mase_graph **g, struct mase_report *r, const char *dir,
                                    struct mase_err *err)
{
    struct mase_manager m = { 0 };
    struct mase_value *args = mase_value_table(r->arena);
    args->at = MASE_NOWHERE;
    mase_value_set(r->arena, args, "load_dir", mase_value_string(r->arena, dir));
    *g = mase_graph_new(r->model);
    const enum mase_status st = mase_manager_run(&m, g, "load_mase_graph", args, err);
    mase_manager_release(&m);
    return st;
}

/* The model by its name, or from its file, which may be gone: then *g is NULL and noted. */
static enum mase_status open_model(struct mase_graph **g, struct mase_report *r,
                                   struct mase_err *err)
{
    const struct mase_model *m;
    struct mase_err why = { 0 };
    if (!mase_cli_text(r->c, MASE_CLI_model))
        return MASE_OK; /* a sweep over several */
    MASE_TRY(mase_cli_named_model(&m, r->c, err));
    if (mase_cli_open_model(g, r->c, m->name, &r->data, &why))
        mase_report_note(r, "the network is not shown: %s%s%s", why.path, why.path[0] ? ": " : "",
                         why.msg);
    return MASE_OK;
}

/* ---- by action ---- */

static enum mase_status after_training(struct mase_report *r, struct mase_err *err)
{
    const char *dir = mase_report_path(r, "software/training_ckpts");
    const char *saved = mase_path_join(r->arena, dir, "transformed_ckpt");
    const char *best = mase_path_join(r->arena, dir, "best.ckpt");
    const char *last = mase_path_join(r->arena, dir, "last.ckpt");
    const char *path = mase_is_file(best) ? best : last;
    if (holds_graph(r, saved))
        MASE_TRY(load_folder(&r->graph, r, saved, err));
    else
        MASE_TRY(open_model(&r->graph, r, err));
    if (!r->graph || !mase_is_file(path))
        return MASE_OK;
    MASE_TRY(mase_weights_load(r->graph, path, err));
    r->weights = path == best ? "best.ckpt" : "last.ckpt";
    r->c->setting[MASE_CLI_load_name].file = mase_value_string(r->arena, path); /* its scaling */
    return MASE_OK;
}

/* The model and the weights that it was given. Those lie elsewhere and may be gone. */
static enum mase_status as_given(struct mase_graph **g, const char **weights, struct mase_report *r,
                                 struct mase_err *err)
{
    const struct mase_value *load = mase_report_value(r, "configuration.options.load_name");
    const bool given = load && load->kind == MASE_STRING;
    const struct mase_model *m;
    enum mase_cli_weights kind;
    struct mase_err why = { 0 };
    MASE_TRY(mase_cli_named_model(&m, r->c, err));
    if (given && !mase_is_file(load->s) && !mase_is_dir(load->s)) {
        mase_report_note(r, "the weights that the run began with are gone: %s", load->s);
        return open_model(g, r, err);
    }
    if (given)
        r->c->setting[MASE_CLI_load_name].file = mase_value_copy(r->arena, load);
    MASE_TRY(mase_cli_load_kind(&kind, r->c, err));
    if (mase_cli_build(g, r->c, m, &r->data, kind, &why)) {
        mase_graph_free(*g);
        *g = NULL;
        mase_report_note(r, "the network that the run began with is not shown: %s%s%s", why.path,
                         why.path[0] ? ": " : "", why.msg);
        return MASE_OK;
    }
    *weights = given ? mase_report_relative(r, load->s) : "initialised from the seed";
    return MASE_OK;
}

static enum mase_status after_transforms(struct mase_report *r, struct mase_err *err)
{
    const char *dir = mase_report_path(r, "software/transform/transformed_ckpt"), *unused = NULL;
    if (!holds_graph(r, dir))
        return mase_fail_in(err, MASE_EIO, dir, "holds no graph_module.mg, which transform saves");
    MASE_TRY(load_folder(&r->graph, r, dir, err));
    if (r->graph->weights)
        r->weights = "transformed_ckpt";
    return as_given(&r->before, &unused, r, err);
}

/* ---- metadata ---- */

/* Shapes, types and formats, and entries for statistics. */
static enum mase_status add_metadata(struct mase_graph **g, struct mase_report *r,
                                     struct mase_err *err)
{
    struct mase_manager m = { 0 };
    if (!*g)
        return MASE_OK;
    mase_cli_sample_inputs(&m.env, r->arena, *g, &r->data.sample);
    const enum mase_status st = mase_manager_run(&m, g, "add_software_metadata", NULL, err);
    mase_manager_release(&m);
    return st;
}

enum mase_status mase_report_read_networks(struct mase_report *r, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    if (mase_streq(r->action, "train"))
        st = after_training(r, err);
    else if (mase_streq(r->action, "transform"))
        st = after_transforms(r, err);
    else if (mase_streq(r->action, "test"))
        st = as_given(&r->graph, &r->weights, r, err);
    else
        st = open_model(&r->graph, r, err);
    if (st)
        return st;
    MASE_TRY(add_metadata(&r->graph, r, err));
    return add_metadata(&r->before, r, err);
}
