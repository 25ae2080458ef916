/*
 * command_nets.c - the networks that a command names.
 *
 * A word is, in this order: a folder that transform saved (or the project's folder around it, or
 * that of a training run), a graph in a .mg file, a file of weights, a model by name.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/log.h>
#include <mase/pass.h>
#include <mase/zoo.h>

#include "cli/command_nets.h"
#include "cli/project.h"

/* ---- opening ---- */

static uint64_t seed(const struct mase_cli *c)
{
    return (uint64_t)mase_cli_value(c, MASE_CLI_seed)->i;
}

static void find_sample(struct mase_cli_net *n)
{
    n->has_sample = mase_graph_says_sample(&n->sample, n->graph);
}

/* The shapes of all inputs that the command line gives, by a dataset or --input-shape; else what
 * the graph says of its first. */
static enum mase_status take_shapes(struct mase_cli_net *n, struct mase_cli *c,
                                    struct mase_err *err)
{
    const struct mase_data_info *data;
    find_sample(n);
    if (!c->setting[MASE_CLI_dataset].cmdline)
        return MASE_OK;
    MASE_TRY(mase_cli_data_info(&data, c, mase_cli_text(c, MASE_CLI_dataset), err));
    n->sample = data->sample;
    n->has_sample = true;
    if (data->more_count)
        mase_graph_set_more(n->graph, data->more, data->more_count);
    return MASE_OK;
}

/* Initial weights, for what has none of its own. */
static enum mase_status init_weights(struct mase_cli_net *n, const struct mase_cli *c,
                                     struct mase_err *err)
{
    MASE_TRY(mase_cli_check_size(n->graph, n->has_sample ? &n->sample : NULL, err));
    mase_graph_init_weights(n->graph, seed(c));
    return MASE_OK;
}

static enum mase_status open_folder(struct mase_cli_net *n, struct mase_cli *c, const char *dir,
                                    struct mase_err *err)
{
    struct mase_arena *a = &c->arena;
    const char *graph = mase_path_join(a, dir, MASE_SAVED_GRAPH);
    if (n->no_values && mase_is_file(graph) &&
        !mase_is_file(mase_path_join(a, dir, MASE_SAVED_WEIGHTS))) {
        MASE_TRY(mase_graph_read_mg(&n->graph, graph, err)); /* nobody asks for what it lost */
    } else {
        MASE_TRY(mase_graph_load(&n->graph, dir, NULL, err));
    }
    MASE_TRY(take_shapes(n, c, err));
    if (mase_cli_text(c, MASE_CLI_load_name) && c->operand_count < 2)
        mase_warn("load_name is of no effect: '%s' has weights of its own", n->word);
    if (!n->graph->weights && !n->no_values && mase_graph_param_count(n->graph)) {
        mase_warn("'%s' has no weights; they are initialised from the seed", n->word);
        return init_weights(n, c, err);
    }
    mase_cli_warn_of_weights(n->graph);
    return MASE_OK;
}

/* What --load names goes to a network that has no weights of its own. */
static enum mase_status give_weights(struct mase_cli_net *n, struct mase_cli *c,
                                     struct mase_err *err)
{
    enum mase_cli_weights kind = MASE_CLI_INITIALISED;
    if (n->no_values)
        return MASE_OK;
    if (mase_cli_text(c, MASE_CLI_load_name))
        MASE_TRY(mase_cli_load_kind(&kind, c, err));
    return mase_cli_take_weights(&n->graph, c, n->word, n->has_sample ? &n->sample : NULL, kind,
                                 err);
}

static enum mase_status open_graph(struct mase_cli_net *n, struct mase_cli *c, const char *path,
                                   struct mase_err *err)
{
    MASE_TRY(mase_graph_read_mg(&n->graph, path, err));
    MASE_TRY(take_shapes(n, c, err));
    return give_weights(n, c, err);
}

static enum mase_status open_model(struct mase_cli_net *n, struct mase_cli *c, const char *name,
                                   struct mase_err *err)
{
    const struct mase_model *model = NULL;
    const struct mase_data_info *data;
    const char *dataset = mase_cli_text(c, MASE_CLI_dataset);
    if (!mase_model_is_file(name) && mase_zoo_find(&model, name, err))
        return mase_wrap(err, "'%s' is no file or folder", name);
    if (model && !c->setting[MASE_CLI_dataset].cmdline &&
        !mase_streq(name, mase_cli_text(c, MASE_CLI_model)))
        dataset = NULL; /* the configuration's is for its own model */
    if (!dataset && !model)
        return mase_fail(err, MASE_EVALUE,
                         "'%s' does not say what data it takes: give --dataset NAME, or "
                         "--input-shape N,N,... of a sample",
                         name);
    MASE_TRY(mase_cli_data_info(&data, c, dataset ? dataset : model->dataset, err));
    MASE_TRY(mase_cli_open_model(&n->graph, c, name, data, err));
    n->sample = data->sample;
    n->has_sample = true;
    return give_weights(n, c, err);
}

/* It has its weights, and says what samples are like. */
static enum mase_status open_onnx(struct mase_cli_net *n, struct mase_cli *c, const char *path,
                                  struct mase_err *err)
{
    const struct mase_data_info *data = NULL;
    const bool asked = c->setting[MASE_CLI_dataset].cmdline;
    struct mase_onnx_info info;
    if (asked)
        MASE_TRY(mase_cli_data_info(&data, c, mase_cli_text(c, MASE_CLI_dataset), err));
    MASE_TRY(mase_model_open_onnx(&n->graph, &info, path, data ? &data->sample : NULL, err));
    n->sample = info.sample;
    n->has_sample = info.has_sample;
    mase_cli_warn_of_weights(n->graph);
    return mase_cli_text(c, MASE_CLI_load_name) ? give_weights(n, c, err) : MASE_OK;
}

/* A checkpoint that says what it was trained with is a network; else it is weights alone. */
static enum mase_status open_checkpoint(struct mase_cli_net *n, const char *path,
                                        struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_checkpoint_info info;
    enum mase_file_kind kind = MASE_KIND_UNKNOWN;
    MASE_TRY(mase_file_kind_find(&kind, path, err));
    if (kind == MASE_KIND_TORCH)
        MASE_TRY(mase_checkpoint_graph(&n->graph, path, err));
    if (!n->graph)
        return mase_tensors_open(&n->weights, path, err);
    enum mase_status st = mase_checkpoint_info(&info, &a, path, err);
    if (!st && info.data.name) {
        n->sample = info.data.sample;
        n->has_sample = true;
        mase_graph_set_more(n->graph, info.data.more, info.data.more_count);
    }
    if (!st && !n->no_values) {
        st = mase_cli_check_size(n->graph, n->has_sample ? &n->sample : NULL, err);
        st = st ? st : mase_weights_load(n->graph, path, err);
        mase_cli_warn_of_weights(n->graph);
    }
    mase_arena_release(&a);
    return st;
}

static enum mase_status open_dir(struct mase_cli_net *n, struct mase_cli *c, struct mase_err *err)
{
    const char *path;
    MASE_TRY(mase_network_find(&path, &c->arena, n->word, err));
    return mase_is_dir(path) ? open_folder(n, c, path, err) : open_checkpoint(n, path, err);
}

static enum mase_status open_word(struct mase_cli_net *n, struct mase_cli *c, struct mase_err *err)
{
    const char *slash = strrchr(n->word, '/'), *name = slash ? slash + 1 : n->word;
    enum mase_file_kind kind = MASE_KIND_UNKNOWN;
    if (mase_is_dir(n->word))
        return open_dir(n, c, err);
    if (!mase_is_file(n->word))
        return open_model(n, c, n->word, err);
    if (mase_streq(name, "graph_module.mg")) /* as --load has it */
        return open_folder(n, c, n->word, err);
    MASE_TRY(mase_file_kind_find(&kind, n->word, err));
    if (kind == MASE_KIND_MG || mase_ends_with(n->word, ".mg"))
        return open_graph(n, c, n->word, err);
    if (mase_ends_with(n->word, ".onnx"))
        return open_onnx(n, c, n->word, err);
    if (mase_model_is_file(n->word))
        return open_model(n, c, n->word, err);
    return open_checkpoint(n, n->word, err);
}

static enum mase_status open_or_close(struct mase_cli_net *n, struct mase_cli *c,
                                      struct mase_err *err)
{
    enum mase_status st = open_word(n, c, err);
    if (st)
        mase_cli_net_close(n);
    return st;
}

enum mase_status mase_cli_net_open(struct mase_cli_net *n, struct mase_cli *c, const char *word,
                                   struct mase_err *err)
{
    *n = (struct mase_cli_net){ .word = word };
    return open_or_close(n, c, err);
}

enum mase_status mase_cli_net_outline(struct mase_cli_net *n, struct mase_cli *c, const char *word,
                                      struct mase_err *err)
{
    *n = (struct mase_cli_net){ .word = word, .no_values = true };
    return open_or_close(n, c, err);
}

void mase_cli_net_close(struct mase_cli_net *n)
{
    mase_graph_free(n->graph);
    mase_tensors_close(&n->weights);
    *n = (struct mase_cli_net){ 0 };
}

/* ---- made from another ---- */

enum mase_status mase_cli_net_adopt(struct mase_cli_net *n, const struct mase_cli_net *other,
                                    struct mase_err *err)
{
    if (n->graph || !other->graph)
        return MASE_OK;
    n->graph = mase_graph_clone(other->graph);
    mase_graph_own_weights(n->graph);
    n->sample = other->sample;
    n->has_sample = other->has_sample;
    MASE_TRY(mase_weights_take(n->graph, &n->weights, n->word, err));
    mase_cli_warn_of_weights(n->graph);
    return MASE_OK;
}

enum mase_status mase_cli_quantize_run(const struct mase_pass_run **run, const struct mase_cli *c,
                                       struct mase_err *err)
{
    *run = mase_pass_runs_find(&c->passes, "quantize", NULL);
    if (*run)
        return MASE_OK;
    if (!c->config)
        return mase_fail(err, MASE_EVALUE, "expected configuration via --config, got None");
    return mase_fail(err, MASE_EVALUE, "%s has no section [passes.quantize]",
                     mase_cli_text(c, MASE_CLI_config));
}

/* quantize asks for metadata, which asks for the shapes of the inputs. */
static enum mase_status set_inputs(struct mase_manager *m, struct mase_cli *c,
                                   const struct mase_cli_net *n, struct mase_err *err)
{
    struct mase_cli_inputs in;
    struct mase_input *inputs =
        mase_new_array(&c->arena, struct mase_input, (size_t)n->graph->node_count);
    MASE_TRY(mase_cli_inputs_make(&in, c, n, 1, err));
    for (const struct mase_node *x = n->graph->first; x; x = x->next)
        if (x->kind == MASE_PLACEHOLDER) {
            inputs[m->env.input_count] =
                (struct mase_input){ x->name, in.tensor[m->env.input_count] };
            m->env.input_count++;
        }
    m->env.inputs = inputs;
    return MASE_OK;
}

enum mase_status mase_cli_net_save(struct mase_cli *c, const struct mase_cli_net *n,
                                   const char *dir, struct mase_err *err)
{
    struct mase_manager m = { .env = { .seed = seed(c) } };
    MASE_TRY(set_inputs(&m, c, n, err));
    struct mase_graph *g = n->graph;
    const enum mase_status st = mase_manager_save(&m, &g, dir, err);
    mase_manager_release(&m);
    return st;
}

enum mase_status mase_cli_net_quantise(struct mase_cli_net *out, struct mase_cli *c,
                                       const struct mase_cli_net *n, struct mase_err *err)
{
    struct mase_manager m = { .env = { .seed = seed(c) } };
    const struct mase_pass_run *run;
    *out = (struct mase_cli_net){ .word = mase_cli_text(c, MASE_CLI_config),
                                  .sample = n->sample,
                                  .has_sample = n->has_sample };
    MASE_TRY(mase_cli_quantize_run(&run, c, err));
    MASE_TRY(set_inputs(&m, c, n, err));
    out->graph = mase_graph_clone(n->graph);
    const enum mase_status st = mase_cli_run_quantize(&m, &out->graph, c, err);
    mase_manager_release(&m);
    if (st)
        mase_cli_net_close(out);
    return st;
}

enum mase_status mase_cli_subject(const char **word, const struct mase_cli *c, struct mase_err *err)
{
    *word = c->operand_count ? c->operands[0] : mase_cli_text(c, MASE_CLI_model);
    if (*word)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "no network given; usage: ch %s %s", c->command->name,
                     c->command->operands);
}
