/*
 * section_networks.c - the network of the run with the weights it ended with, and the one before
 * the transforms.
 *
 *     train       the checkpoint with the lowest validation loss
 *     transform   the graph that was saved; before: the model, with the weights it was given
 *     test        the model with the weights that were tested
 *     search      the network that the trials began with
 *     sweep       the model alone: every configuration had weights of its own
 */
#include <mase/file.h>
#include <mase/saved.h>
#include <mase/weights.h>

#include "cli/report/report.h"

/* ---- loading ---- */

/* The graph that the run saved of a user's model, or NULL. */
static const char *kept_graph(const struct mase_report *r)
{
    const char *folder = mase_arena_printf(r->arena, "software/%s", r->action);
    const char *path = mase_path_join(r->arena, mase_report_path(r, folder), MASE_CLI_GRAPH);
    return mase_is_file(path) ? path : NULL;
}

/* May the report execute the Python file of the model? Only with --trust: the folder may be from
 * others.
 */
static bool may_open(struct mase_report *r)
{
    const char *name = mase_cli_text(r->c, MASE_CLI_model);
    const bool python = name && mase_model_is_file(name) && !mase_ends_with(name, ".mg");
    if (!python || mase_cli_flag(r->c, MASE_CLI_trust))
        return true;
    mase_report_note(r,
                     "the network is not shown: it is %s, which would be executed to see it; "
                     "--trust allows that",
                     name);
    return false;
}

/* Open the model as the run saved it; else by its name or file, which may no longer exist: then *g
 * is NULL, with a note. */
static enum mase_status open_model(struct mase_graph **g, struct mase_report *r,
                                   struct mase_err *err)
{
    struct mase_opened w;
    struct mase_work_choice o;
    struct mase_err why = { 0 };
    if (kept_graph(r))
        return mase_graph_read_mg(g, kept_graph(r), err);
    if (!mase_cli_text(r->c, MASE_CLI_model) || !may_open(r)) /* no model, or several of a sweep */
        return MASE_OK;
    MASE_TRY(mase_cli_choose(&o, r->c, err));
    o.weights = NULL;
    MASE_TRY(mase_work_find(&w, &o, err));
    if (mase_work_graph(&w, &r->data, &why))
        mase_report_note(r, "the network is not shown: %s%s%s", why.path, why.path[0] ? ": " : "",
                         why.msg);
    *g = w.graph;
    return MASE_OK;
}

/* Load the weights that the run began with, by its record. */
static enum mase_status load_initial(struct mase_graph **g, struct mase_report *r,
                                     struct mase_err *err)
{
    struct mase_opened w;
    struct mase_work_choice o;
    MASE_TRY(mase_cli_choose(&o, r->c, err));
    if (o.weights && mase_ends_with(o.weights, ".onnx")) /* the graph comes from that file, too */
        return MASE_OK;
    o.model = NULL;
    MASE_TRY(mase_work_find(&w, &o, err));
    w.word.text = r->model; /* for messages */
    w.graph = *g;
    w.sample = r->data.sample;
    w.has_sample = true;
    const enum mase_status st = mase_work_load(&w, err);
    *g = w.graph;
    if (!st)
        mase_cli_log_weights(r->c, *g, w.weights);
    return st;
}

/* ---- by action ---- */

/* The graph of a training run; checkpoints of earlier versions do not have it. */
static enum mase_status trained_graph(struct mase_report *r, const char *dir,
                                      const char *checkpoint, struct mase_err *err)
{
    const char *saved = mase_path_join(r->arena, dir, "transformed_ckpt");
    if (mase_is_file(checkpoint))
        MASE_TRY(mase_checkpoint_graph(&r->graph, checkpoint, err));
    if (r->graph)
        return MASE_OK;
    return mase_is_saved(saved) ? mase_graph_load(&r->graph, saved, r->model, err)
                                : open_model(&r->graph, r, err);
}

static enum mase_status after_training(struct mase_report *r, struct mase_err *err)
{
    const char *dir = mase_report_path(r, "software/training_ckpts");
    const char *best = mase_path_join(r->arena, dir, "best.ckpt");
    const char *last = mase_path_join(r->arena, dir, "last.ckpt");
    const char *path = mase_is_file(best) ? best : last;
    MASE_TRY(trained_graph(r, dir, path, err));
    if (!r->graph || !mase_is_file(path))
        return MASE_OK;
    MASE_TRY(mase_weights_load(r->graph, path, err));
    r->weights = path == best ? "best.ckpt" : "last.ckpt";
    r->c->setting[MASE_CLI_load_name].file =
        mase_value_string(r->arena, path); /* for its scaling */
    return MASE_OK;
}

/* Open the model and the weights that the run began with, which may no longer exist. */
static enum mase_status open_initial(struct mase_graph **g, const char **weights,
                                     struct mase_report *r, struct mase_err *err)
{
    const struct mase_value *load = mase_report_value(r, "configuration.options.load_name");
    const bool given = load && load->kind == MASE_STRING;
    struct mase_err why = { 0 };
    MASE_TRY(open_model(g, r, err));
    if (!*g)
        return MASE_OK;
    if (given && !mase_is_file(load->s) && !mase_is_dir(load->s)) {
        mase_report_note(r, "the weights that the run began with are gone: %s", load->s);
        return MASE_OK;
    }
    if (given)
        r->c->setting[MASE_CLI_load_name].file = mase_value_copy(r->arena, load);
    if (load_initial(g, r, &why)) {
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
    if (!mase_is_saved(dir))
        return mase_fail_in(err, MASE_EIO, dir, "holds no graph_module.mg, which transform saves");
    MASE_TRY(mase_graph_load(&r->graph, dir, r->model, err));
    if (r->graph->weights)
        r->weights = "transformed_ckpt";
    return open_initial(&r->before, &unused, r, err);
}

/* Apply [passes.quantize], so that the pages of a test or a sweep show the network that was
 * measured. If that fails nothing is shown. */
static void apply_formats(struct mase_report *r)
{
    const struct mase_value *passes = mase_report_value(r, "configuration.passes");
    struct mase_manager m = { 0 };
    struct mase_err why = { 0 };
    if (!r->graph || !passes || !mase_report_text(r, "model.quantised"))
        return;
    mase_graph_set_more(r->graph, r->data.more, r->data.more_count);
    mase_cli_sample_inputs(&m.env, r->arena, r->graph, &r->data.sample);
    if (mase_pass_runs_bind(&r->c->passes, r->arena, passes, &why) ||
        mase_cli_run_quantize(&m, &r->graph, r->c, &why)) {
        mase_graph_free(r->graph);
        r->graph = NULL;
        mase_report_note(r, "the network is not shown: its number formats cannot be told: %s",
                         why.msg);
    }
    mase_manager_release(&m);
}

/* ---- metadata ---- */

/* Add shapes, types and formats, and entries for statistics. */
static enum mase_status add_metadata(struct mase_graph **g, struct mase_report *r,
                                     struct mase_err *err)
{
    struct mase_manager m = { 0 };
    if (!*g)
        return MASE_OK;
    mase_graph_set_more(*g, r->data.more, r->data.more_count);
    mase_cli_sample_inputs(&m.env, r->arena, *g, &r->data.sample);
    const enum mase_status st = mase_manager_run(&m, g, "add_software_metadata", NULL, err);
    mase_manager_release(&m);
    return st;
}

static void note_values(struct mase_report *r)
{
    struct mase_str where = { 0 };
    const int64_t n = r->graph ? mase_graph_not_finite(r->graph, &where) : 0;
    if (n)
        mase_report_note(r, "%lld of the weights %s NaN or infinite: %s", (long long)n,
                         n == 1 ? "is" : "are", mase_str_text(&where));
    mase_str_release(&where);
}

enum mase_status mase_report_read_networks(struct mase_report *r, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    if (mase_streq(r->action, "train"))
        st = after_training(r, err);
    else if (mase_streq(r->action, "transform"))
        st = after_transforms(r, err);
    else if (mase_streq(r->action, "test") || mase_streq(r->action, "search"))
        st = open_initial(&r->graph, &r->weights, r, err);
    else
        st = open_model(&r->graph, r, err);
    if (st)
        return st;
    if (mase_streq(r->action, "test") || mase_streq(r->action, "sweep"))
        apply_formats(r);
    note_values(r);
    MASE_TRY(add_metadata(&r->graph, r, err));
    return add_metadata(&r->before, r, err);
}
