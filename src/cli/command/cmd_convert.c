/*
 * cmd_convert.c - ch convert IN OUT: the same tensors, or the same network, in another kind of
 * file.
 *
 *     from                                to
 *     .pt .pth .ckpt .safetensors .npz    each other: tensors, unchanged to the bit
 *     a saved folder, a run, its .ckpt    each of these: its weights; .mg, .py: its graph; a
 *                                         folder; .onnx: both
 *     a model by name, net.py:CLASS, .mg  .mg, .py; a folder or .onnx, with initial weights or
 *                                         --load's
 *     .onnx                               each of all these, with its own weights
 *     a file of weights                   a saved folder that is there: its weights are replaced
 *
 * What IN is, is told from what is there; what OUT shall be, from its name.
 */
#include "cli/command/cmd_convert.h"

#include <string.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/graph.h>
#include <mase/log.h>
#include <mase/onnx.h>
#include <mase/pass.h>
#include <mase/zoo.h>

#include "cli/command/cmd_train.h"
#include "cli/command_nets.h"

struct job {
    struct mase_cli *c;
    const char *in, *out;
    struct mase_cli_converted done;
};

/* ---- what it is ---- */

/* A folder is what is one, or has no suffix to say otherwise. */
static bool is_folder_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return mase_is_dir(path) || !*name || !strchr(name, '.');
}

static bool is_weights_file(const char *word)
{
    return mase_is_file(word) && !mase_model_is_file(word);
}

/* ---- networks ---- */

static bool is_graph_name(const char *path)
{
    return mase_ends_with(path, ".mg") || mase_ends_with(path, ".py");
}

/* A graph with its weights. */
static bool is_network_name(const char *path)
{
    return is_folder_name(path) || mase_ends_with(path, ".onnx");
}

static enum mase_status write_graph(struct job *j, const struct mase_graph *g, struct mase_err *err)
{
    struct mase_str text = { 0 };
    enum mase_status st = MASE_OK;
    if (mase_ends_with(j->out, ".py"))
        st = mase_graph_print_py(&text, g, err);
    else
        mase_graph_print_mg(&text, g);
    if (!st)
        st = mase_file_write(j->out, mase_str_text(&text), text.len, err);
    mase_str_release(&text);
    return st;
}

static bool count_tensor(const char *full, struct mase_param *p, void *data)
{
    struct mase_cli_converted *done = data;
    (void)full;
    done->tensors++;
    done->values += mase_tensor_count(&p->tensor);
    return true;
}

/* Does the configuration say how to quantise the network first? */
static bool quantises(const struct job *j)
{
    return j->c->config && mase_value_at(j->c->config, "passes.quantize");
}

/* A graph from file to file needs no weights, however large they would be. */
static enum mase_status open_network(struct job *j, struct mase_cli_net *net, struct mase_err *err)
{
    if (!mase_is_file(j->in) || !mase_ends_with(j->in, ".mg") || !is_graph_name(j->out) ||
        quantises(j))
        return mase_cli_net_open(net, j->c, j->in, err);
    *net = (struct mase_cli_net){ .word = j->in };
    return mase_graph_read_mg(&net->graph, j->in, err);
}

/* A folder with a network, and how the data was scaled that the weights behind from were trained
 * on; NULL: nobody knows. */
static enum mase_status save_folder(struct job *j, const struct mase_cli_net *net, const char *from,
                                    struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_checkpoint_info info = { 0 };
    const struct mase_checkpoint_info unknown = { 0 };
    struct mase_value *files = mase_value_list(a);
    if (from)
        MASE_TRY(mase_trained_on(&info, a, from, err));
    MASE_TRY(mase_trained_keep(j->out, a, &unknown, files, err)); /* of other weights */
    MASE_TRY(mase_cli_net_save(j->c, net, j->out, err));
    return mase_trained_keep(j->out, a, &info, files, err);
}

static enum mase_onnx_dialect dialect_of(const struct mase_cli *c)
{
    const char *word = mase_cli_text(c, MASE_CLI_dialect);
    return mase_streq(word, "qdq")     ? MASE_ONNX_QDQ
           : mase_streq(word, "qonnx") ? MASE_ONNX_QONNX
                                       : MASE_ONNX_ANY;
}

static enum mase_status write_onnx(struct job *j, const struct mase_cli_net *net,
                                   struct mase_err *err)
{
    struct mase_str bytes = { 0 };
    if (!net->has_sample)
        return mase_fail(err, MASE_EVALUE,
                         "the shape of a sample is not known: say --dataset NAME, or --input-shape "
                         "N,N,... of a sample");
    const struct mase_inputs in = mase_graph_inputs(&j->c->arena, net->graph, &net->sample, 1);
    struct mase_onnx_written how = { .dialect = dialect_of(j->c) };
    enum mase_status st = mase_onnx_export(&bytes, net->graph, in.item, in.count, &how, err);
    if (!st && how.why.status)
        mase_info("%s is in QONNX: %s", j->out, how.why.msg);
    if (!st)
        st = mase_file_write(j->out, mase_str_text(&bytes), bytes.len, err);
    mase_str_release(&bytes);
    return st;
}

/* Where the weights of a network come from; NULL: from the seed. */
static const char *weights_of(const struct job *j)
{
    return mase_cli_text(j->c, MASE_CLI_load_name) ? mase_cli_text(j->c, MASE_CLI_load_name)
           : mase_is_dir(j->in)                    ? mase_network_in(&j->c->arena, j->in)
           : is_weights_file(j->in)                ? j->in
                                                   : NULL;
}

static enum mase_status write_network(struct job *j, const struct mase_cli_net *net,
                                      struct mase_err *err)
{
    j->done = (struct mase_cli_converted){ .nodes = net->graph->node_count, .tensors = -1 };
    if (is_graph_name(j->out))
        return write_graph(j, net->graph, err);
    j->done.tensors = 0;
    mase_graph_each_param(net->graph, count_tensor, &j->done);
    return mase_ends_with(j->out, ".onnx") ? write_onnx(j, net, err)
                                           : save_folder(j, net, weights_of(j), err);
}

/* Quantised first, if a configuration says so. */
static enum mase_status convert_network(struct job *j, struct mase_err *err)
{
    struct mase_cli_net net, quantised = { 0 };
    MASE_TRY(open_network(j, &net, err));
    enum mase_status st =
        quantises(j) ? mase_cli_net_quantise(&quantised, j->c, &net, err) : MASE_OK;
    if (!st)
        st = write_network(j, quantises(j) ? &quantised : &net, err);
    mase_cli_net_close(&quantised);
    mase_cli_net_close(&net);
    return st;
}

/* The weights of a folder, replaced by those of a file. */
static enum mase_status replace_weights(struct job *j, struct mase_err *err)
{
    struct mase_cli_net net;
    MASE_TRY(mase_cli_net_open(&net, j->c, j->out, err));
    j->done = (struct mase_cli_converted){ .nodes = net.graph->node_count };
    mase_graph_each_param(net.graph, count_tensor, &j->done);
    enum mase_status st = mase_cli_load_weights(net.graph, j->c, j->in, err);
    if (!st)
        st = save_folder(j, &net, j->in, err);
    mase_cli_net_close(&net);
    return st;
}

/* ---- which way ---- */

/* Whoever has weights of its own takes no others. */
static enum mase_status refuse_load(const struct job *j, struct mase_err *err)
{
    if (!mase_cli_text(j->c, MASE_CLI_load_name))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "--load gives a network its weights; '%s' holds weights",
                     j->in);
}

/* Does a file of weights say what network it was trained in? */
static enum mase_status knows_network(bool *knows, const char *path, struct mase_err *err)
{
    struct mase_graph *g = NULL;
    enum mase_file_kind kind;
    *knows = false;
    MASE_TRY(mase_file_kind_find(&kind, path, err));
    if (kind == MASE_KIND_TORCH)
        MASE_TRY(mase_checkpoint_graph(&g, path, err));
    *knows = g != NULL;
    mase_graph_free(g);
    return MASE_OK;
}

static enum mase_status from_weights(struct job *j, struct mase_err *err)
{
    bool knows;
    MASE_TRY(refuse_load(j, err));
    if (mase_tensors_can_write(j->out))
        return mase_cli_convert_weights(&j->done, j->c, j->in, j->out, err);
    if (is_folder_name(j->out) && mase_is_saved(j->out))
        return replace_weights(j, err);
    MASE_TRY(knows_network(&knows, j->in, err));
    if (knows)
        return convert_network(j, err);
    if (is_folder_name(j->out))
        return mase_fail(err, MASE_EVALUE,
                         "'%s' holds weights, and '%s' is no folder with a network to take them: "
                         "ch convert NETWORK %s --load %s makes one",
                         j->in, j->out, j->out, j->in);
    return mase_fail(err, MASE_EVALUE, "'%s' holds weights and no graph for '%s'", j->in, j->out);
}

/* The folder of a run, or of a saved graph. */
static enum mase_status from_folder(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    const char *path;
    MASE_TRY(refuse_load(j, err));
    MASE_TRY(mase_network_find(&path, a, j->in, err));
    if (is_graph_name(j->out) || is_network_name(j->out))
        return convert_network(j, err);
    const bool saved = mase_is_dir(path);
    return mase_cli_convert_weights(
        &j->done, j->c, saved ? mase_path_join(a, path, MASE_SAVED_WEIGHTS) : path, j->out, err);
}

/* A network that comes with weights: they are all that goes out. */
static enum mase_status save_weights(struct job *j, struct mase_err *err)
{
    struct mase_cli_net net;
    MASE_TRY(mase_cli_net_open(&net, j->c, j->in, err));
    j->done = (struct mase_cli_converted){ .nodes = -1 };
    mase_graph_each_param(net.graph, count_tensor, &j->done);
    const enum mase_status st = mase_weights_save(net.graph, j->out, err);
    mase_cli_net_close(&net);
    return st;
}

static enum mase_status from_network(struct job *j, struct mase_err *err)
{
    const struct mase_model *model;
    if (mase_ends_with(j->in, ".onnx") && mase_tensors_can_write(j->out))
        return save_weights(j, err);
    if (!mase_model_is_file(j->in) && mase_zoo_find(&model, j->in, err))
        return mase_wrap(err, "'%s' is no file or folder", j->in);
    if (is_graph_name(j->out) || is_network_name(j->out))
        return convert_network(j, err);
    return mase_fail(err, MASE_EVALUE,
                     "'%s' has no weights for '%s': ch train makes some, and its graph can be "
                     "written to a .mg or .py file",
                     j->in, j->out);
}

static enum mase_status check_out(const struct job *j, struct mase_err *err)
{
    if (!is_graph_name(j->out) && !mase_tensors_can_write(j->out) && !is_network_name(j->out))
        return mase_fail(err, MASE_EVALUE,
                         "cannot tell what '%s' shall be: expected a name in .pt, .pth, .ckpt, "
                         ".safetensors, .npz, .mg, .py or .onnx, or a folder",
                         j->out);
    const bool empty = mase_is_dir(j->out) && !mase_is_saved(j->out);
    if (!empty && (mase_is_dir(j->out) || mase_is_file(j->out)) &&
        !mase_cli_flag(j->c, MASE_CLI_force))
        return mase_fail(err, MASE_EVALUE, "'%s' exists; --force replaces it", j->out);
    return MASE_OK;
}

/* ---- the report ---- */

static void set_count(struct mase_table *t, int column, int64_t n)
{
    if (n >= 0)
        mase_table_setf(t, 0, column, "%lld", (long long)n);
}

static enum mase_status report(struct job *j, struct mase_err *err)
{
    static const char *const headers[] = { "File", "Kind", "Nodes", "Tensors", "Values", NULL };
    struct mase_sheet s = { .key = "converted", .table = mase_table(&j->c->arena, headers) };
    enum mase_file_kind kind;
    MASE_TRY(mase_file_kind_find(&kind, j->out, err));
    mase_table_row(&s.table);
    mase_table_set(&s.table, 0, 0, j->out);
    mase_table_set(&s.table, 0, 1, mase_file_kinds[kind].name);
    set_count(&s.table, 2, j->done.nodes);
    set_count(&s.table, 3, j->done.tensors);
    set_count(&s.table, 4, j->done.tensors < 0 ? -1 : j->done.values);
    s.title = mase_arena_printf(&j->c->arena, "wrote %s from %s", j->out, j->in);
    mase_cli_put_sheets(j->c, &s, 1);
    return MASE_OK;
}

enum mase_status mase_cli_convert(struct mase_cli *c, struct mase_err *err)
{
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(mase_cli_merge(c, err));
    if (c->operand_count < 2)
        return mase_fail(err, MASE_EVALUE, "expected two names; usage: ch %s %s", c->command->name,
                         c->command->operands);
    struct job j = { .c = c,
                     .in = mase_cli_weights_behind(&c->arena, c->operands[0]),
                     .out = c->operands[1] };
    MASE_TRY(check_out(&j, err));
    MASE_TRY((is_weights_file(j.in) ? from_weights
              : mase_is_dir(j.in)   ? from_folder
                                    : from_network)(&j, err));
    return report(&j, err);
}
