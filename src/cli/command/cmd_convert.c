/*
 * cmd_convert.c - ch convert IN OUT: convert tensors or a network to another kind of file.
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
    struct mase_word word; /* kind of IN */
    const char *in, *out;  /* in: path of the network or file */
    struct mase_cli_converted done;
};

/* ---- kinds of OUT ---- */

/* Does OUT name a folder: one that exists, or a name without suffix? */
static bool is_folder_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return mase_is_dir(path) || !*name || !strchr(name, '.');
}

/* ---- networks ---- */

static bool is_graph_name(const char *path)
{
    return mase_ends_with(path, ".mg") || mase_ends_with(path, ".py");
}

/* Does OUT name a kind of file with a graph and weights? */
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

/* Does the configuration have formats, so that the network is quantised first? */
static bool quantises(const struct job *j)
{
    return j->c->config && mase_value_at(j->c->config, "passes.quantize");
}

/* Open IN; without weights if only the graph is converted. */
static enum mase_status open_network(struct job *j, struct mase_opened *net, struct mase_err *err)
{
    const bool values = j->word.kind != MASE_WORD_GRAPH || !is_graph_name(j->out) || quantises(j);
    return (values ? mase_cli_net_open : mase_cli_net_outline)(net, j->c, j->word.text, err);
}

static enum mase_onnx_dialect dialect_of(const struct mase_cli *c)
{
    const char *word = mase_cli_text(c, MASE_CLI_dialect);
    return mase_streq(word, "qdq")     ? MASE_ONNX_QDQ
           : mase_streq(word, "qonnx") ? MASE_ONNX_QONNX
                                       : MASE_ONNX_ANY;
}

static enum mase_status write_onnx(struct job *j, const struct mase_opened *net,
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

static enum mase_status write_network(struct job *j, const struct mase_opened *net,
                                      const struct mase_checkpoint_info *trained,
                                      struct mase_err *err)
{
    j->done = (struct mase_cli_converted){ .nodes = net->graph->node_count, .tensors = -1 };
    if (is_graph_name(j->out))
        return write_graph(j, net->graph, err);
    j->done.tensors = 0;
    mase_graph_each_param(net->graph, count_tensor, &j->done);
    return mase_ends_with(j->out, ".onnx") ? write_onnx(j, net, err)
                                           : mase_cli_net_save(j->c, net, j->out, trained, err);
}

/* Convert, after quantising if the configuration has formats. */
static enum mase_status convert_network(struct job *j, struct mase_err *err)
{
    struct mase_opened net, quantised = { 0 };
    MASE_TRY(open_network(j, &net, err));
    enum mase_status st =
        quantises(j) ? mase_cli_net_quantise(&quantised, j->c, &net, err) : MASE_OK;
    if (!st)
        st = write_network(j, quantises(j) ? &quantised : &net, &net.trained, err);
    mase_work_close(&quantised);
    mase_work_close(&net);
    return st;
}

/* Save a folder with the weights of --load. */
static enum mase_status replace_weights(struct job *j, struct mase_err *err)
{
    struct mase_opened net;
    MASE_TRY(mase_cli_net_open(&net, j->c, j->out, err));
    j->done = (struct mase_cli_converted){ .nodes = net.graph->node_count };
    mase_graph_each_param(net.graph, count_tensor, &j->done);
    struct mase_checkpoint_info trained;
    enum mase_status st = mase_trained_on(&trained, &j->c->arena, j->in, err);
    if (!st)
        st = mase_cli_load_weights(net.graph, j->c, j->in, err);
    if (!st)
        st = mase_cli_net_save(j->c, &net, j->out, &trained, err);
    mase_work_close(&net);
    return st;
}

/* ---- choose the conversion ---- */

/* Is IN a file of tensors, with or without its graph? */
static bool is_weights_file(const struct job *j)
{
    return j->word.kind == MASE_WORD_WEIGHTS || j->word.kind == MASE_WORD_OTHER ||
           (j->word.kind == MASE_WORD_CHECKPOINT && mase_is_file(j->word.text));
}

static bool is_with_weights(const struct job *j)
{
    return j->word.kind == MASE_WORD_SAVED || j->word.kind == MASE_WORD_CHECKPOINT;
}

/* Refuse --load if IN has weights. */
static enum mase_status refuse_load(const struct job *j, struct mase_err *err)
{
    if (!mase_cli_text(j->c, MASE_CLI_load_name))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "--load gives a network its weights; '%s' holds weights",
                     j->in);
}

static enum mase_status from_weights(struct job *j, struct mase_err *err)
{
    MASE_TRY(refuse_load(j, err));
    if (mase_tensors_can_write(j->out))
        return mase_cli_convert_weights(&j->done, j->c, j->in, j->out, err);
    if (is_folder_name(j->out) && mase_is_saved(j->out))
        return replace_weights(j, err);
    if (j->word.kind == MASE_WORD_CHECKPOINT)
        return convert_network(j, err);
    if (is_folder_name(j->out))
        return mase_fail(err, MASE_EVALUE,
                         "'%s' holds weights, and '%s' is no folder with a network to take them: "
                         "ch convert NETWORK %s --load %s makes one",
                         j->in, j->out, j->out, j->in);
    return mase_fail(err, MASE_EVALUE, "'%s' holds weights and no graph for '%s'", j->in, j->out);
}

/* Convert from a saved folder, or the checkpoint of a run. */
static enum mase_status from_folder(struct job *j, struct mase_err *err)
{
    const char *weights = mase_path_join(&j->c->arena, j->in, MASE_SAVED_WEIGHTS);
    MASE_TRY(refuse_load(j, err));
    if (is_graph_name(j->out) || is_network_name(j->out))
        return convert_network(j, err);
    return mase_cli_convert_weights(&j->done, j->c, mase_is_dir(j->in) ? weights : j->in, j->out,
                                    err);
}

/* Save the weights only. */
static enum mase_status save_weights(struct job *j, struct mase_err *err)
{
    struct mase_opened net;
    MASE_TRY(mase_cli_net_open(&net, j->c, j->word.text, err));
    j->done = (struct mase_cli_converted){ .nodes = -1 };
    mase_graph_each_param(net.graph, count_tensor, &j->done);
    const enum mase_status st = mase_weights_save(net.graph, j->out, err);
    mase_work_close(&net);
    return st;
}

static enum mase_status from_network(struct job *j, struct mase_err *err)
{
    if (j->word.kind == MASE_WORD_ONNX && mase_tensors_can_write(j->out))
        return save_weights(j, err);
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

/* ---- report ---- */

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
    struct job j = { .c = c, .out = c->operands[1] };
    MASE_TRY(check_out(&j, err));
    MASE_TRY(mase_word_find(&j.word, &c->arena, c->operands[0], err));
    j.in = j.word.path;
    MASE_TRY((is_weights_file(&j)   ? from_weights
              : is_with_weights(&j) ? from_folder
                                    : from_network)(&j, err));
    return report(&j, err);
}
