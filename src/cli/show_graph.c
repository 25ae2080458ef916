/*
 * show_graph.c - ch show for networks: nodes, layers, parameters; a drawing if asked for.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/draw.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/program.h>
#include <mase/value.h>

#include "cli/command/cmd_show.h"
#include "cli/project.h"

/* Totals of a network. */
struct totals {
    int64_t params, frozen, buffers, bytes; /* values; params include frozen; bytes of all */
    int quantised;                          /* number of nodes */
};

struct job {
    struct mase_show *s;
    struct mase_opened net;
    struct mase_values values;
    bool has_shapes;
    struct totals totals;
};

/* ---- shapes ---- */

/* Set batches of one sample, for the first placeholder and those with known sample shapes. */
static int set_inputs(const struct job *j, struct mase_input in[1 + MASE_MORE_INPUTS])
{
    const struct mase_graph *g = j->net.graph;
    int count = 0;
    for (const struct mase_node *x = g->first; x && j->net.has_sample; x = x->next) {
        if (x->kind != MASE_PLACEHOLDER || count > g->more_count)
            continue;
        const struct mase_shape *own = mase_graph_sample(g, count, &j->net.sample);
        struct mase_shape *s = &in[count].tensor.shape;
        in[count] = (struct mase_input){ .name = x->name };
        *s = (struct mase_shape){ own->rank + 1, { 1 } };
        memcpy(s->dim + 1, own->dim, sizeof s->dim - sizeof s->dim[0]);
        count++;
    }
    mase_inputs_find_type(in, count, g);
    return count;
}

/* Infer shapes for one sample; without them if that fails. */
static void infer(struct job *j)
{
    struct mase_err err = { 0 };
    struct mase_input in[1 + MASE_MORE_INPUTS];
    const int count = set_inputs(j, in);
    if (!count)
        return;
    j->has_shapes =
        mase_infer_shapes(&j->values, &j->s->c->arena, j->net.graph, in, count, &err) == 0;
    if (!j->has_shapes)
        mase_warn("shapes are not known: %s", err.msg);
}

static void set_shape(struct mase_table *t, int row, int column, const struct mase_shape *shape)
{
    struct mase_str text = { 0 };
    mase_shape_print(&text, shape);
    mase_table_set(t, row, column, mase_str_text(&text));
    mase_str_release(&text);
}

/* ---- sheets ---- */

/* Attributes that distinguish a call. */
static const char *mode_of(const struct mase_node *n)
{
    static const char *const text[2][MASE_MODE_COUNT] = {
        { "", " (eval)", " (train)" },
        { " (no_grad)", " (no_grad, eval)", " (no_grad, train)" },
    };
    return text[n->no_grad][n->mode];
}

static void add_node(struct job *j, struct mase_table *t, const struct mase_node *n)
{
    const bool shown = j->has_shapes && n->graph == j->net.graph;
    const struct mase_arg *value = shown ? mase_values_get(&j->values, n) : NULL;
    const int row = mase_table_row(t);
    struct mase_str inputs = { 0 };
    for (int i = 0; i < n->input_count; i++)
        mase_str_printf(&inputs, "%s%s", i ? ", " : "", n->inputs[i]->name);
    mase_table_set(t, row, 0, n->name);
    mase_table_set(t, row, 1, mase_node_kind_names[n->kind]);
    mase_table_setf(t, row, 2, "%s%s", mase_cli_type_of(t->arena, n), mode_of(n));
    mase_table_set(t, row, 3, mase_str_text(&inputs));
    if (value && value->kind == MASE_ARG_TENSOR)
        set_shape(t, row, 4, &value->tensor->shape);
    mase_table_setf(t, row, 5, "%" PRId64, mase_module_param_count(mase_node_module(n)));
    if (mase_node_quant(n)) {
        mase_table_set(t, row, 6, mase_cli_formats_of(t->arena, n));
        j->totals.quantised++;
    }
    mase_str_release(&inputs);
}

static const char *const node_headers[] = { "Node",  "Kind",       "Calls",   "Inputs",
                                            "Shape", "Parameters", "Formats", NULL };

/* Describe graph->training, if there is one. */
static void add_training(struct job *j)
{
    const struct mase_graph *g = j->net.graph;
    mase_cli_log_random(g);
    if (g->untrainable)
        mase_warn("it cannot be trained: %s", g->untrainable);
    if (!g->training)
        return;
    struct mase_sheet *sheet = mase_show_sheet(j->s, "training", node_headers);
    for (const struct mase_node *n = g->training->first; n; n = n->next)
        add_node(j, &sheet->table, n);
    sheet->title = mase_arena_printf(
        &j->s->c->arena,
        "while it is trained it is another network: forward asks self.training; %s",
        mase_show_count(&j->s->c->arena, g->training->node_count, "node"));
}

static void add_nodes(struct job *j)
{
    struct mase_sheet *sheet = mase_show_sheet(j->s, "nodes", node_headers);
    for (const struct mase_node *n = j->net.graph->first; n; n = n->next)
        add_node(j, &sheet->table, n);
    sheet->title =
        mase_arena_printf(&j->s->c->arena, "%s in the order of execution%s",
                          mase_show_count(&j->s->c->arena, j->net.graph->node_count, "node"),
                          j->has_shapes ? ", shapes for one sample" : "");
}

static void add_modules(struct job *j)
{
    static const char *const headers[] = { "Module", "Layer", "Parameters", NULL };
    struct mase_sheet *sheet = mase_show_sheet(j->s, "modules", headers);
    for (const struct mase_module *m = j->net.graph->modules; m; m = m->next) {
        const int row = mase_table_row(&sheet->table);
        struct mase_str repr = { 0 };
        mase_module_repr(&repr, m);
        mase_table_set(&sheet->table, row, 0, m->path);
        mase_table_set(&sheet->table, row, 1, mase_str_text(&repr));
        mase_table_setf(&sheet->table, row, 2, "%" PRId64, mase_module_param_count(m));
        mase_str_release(&repr);
    }
    sheet->title = mase_show_count(&j->s->c->arena, j->net.graph->module_count, "module");
}

struct param_sheet {
    struct job *j;
    struct mase_table *table;
};

static bool add_param(const char *full, struct mase_param *p, void *data)
{
    const struct param_sheet *sheet = data;
    struct mase_table *t = sheet->table;
    struct totals *totals = &sheet->j->totals;
    const int64_t count = mase_tensor_count(&p->tensor), bytes = mase_tensor_bytes(&p->tensor);
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, full);
    if (p->tied)
        mase_table_setf(t, row, 1, "tied to %s", p->tied);
    else
        mase_table_set(t, row, 1,
                       mase_param_is_buffer(p)        ? "buffer"
                       : p->kind == MASE_PARAM_FROZEN ? "frozen"
                                                      : "parameter");
    mase_table_set(t, row, 2, mase_show_type(&p->tensor));
    set_shape(t, row, 3, &p->tensor.shape);
    mase_table_setf(t, row, 4, "%" PRId64, count);
    mase_table_setf(t, row, 5, "%" PRId64, bytes);
    if (t->columns > 6)
        mase_show_set_stats(t, row, 6, &p->tensor);
    if (p->tied) /* counted under its first name */
        return true;
    *(mase_param_is_buffer(p) ? &totals->buffers : &totals->params) += count;
    totals->frozen += p->kind == MASE_PARAM_FROZEN ? count : 0;
    totals->bytes += bytes;
    return true;
}

static void add_params(struct job *j)
{
    const char *headers[6 + MASE_SHOW_STATS + 1] = { "Name",  "Kind",   "Type",
                                                     "Shape", "Values", "Bytes" };
    if (mase_cli_flag(j->s->c, MASE_CLI_stats))
        memcpy(headers + 6, mase_show_stats, sizeof mase_show_stats);
    struct mase_sheet *sheet = mase_show_sheet(j->s, "parameters", headers);
    struct mase_table *t = &sheet->table;
    mase_graph_each_param(j->net.graph, add_param, &(struct param_sheet){ .j = j, .table = t });
    const struct totals *n = &j->totals;
    const char *frozen =
        n->frozen ? mase_arena_printf(t->arena, ", %" PRId64 " frozen", n->frozen) : "";
    sheet->title = mase_arena_printf(
        t->arena, "%s%s, and %" PRId64 " in buffers",
        mase_show_count(t->arena, n->params - n->frozen, "trainable value"), frozen, n->buffers);
}

/* Fill the summary row, the first row, once everything is counted. */
static void fill_summary(struct job *j, struct mase_sheet *sheet)
{
    const struct mase_graph *g = j->net.graph;
    struct mase_table *t = &sheet->table;
    const int row = mase_table_row(t);
    const bool model = j->s->kind == MASE_KIND_UNKNOWN;
    const int64_t numbers[] = { g->node_count,     g->module_count, j->totals.params,
                                j->totals.buffers, j->totals.bytes, j->totals.quantised };
    mase_table_set(t, row, 0, model ? "model" : mase_file_kinds[j->s->kind].name);
    mase_table_set(t, row, 1, g->name ? g->name : "");
    for (int i = 0; i < 6; i++)
        mase_table_setf(t, row, 2 + i, "%" PRId64, numbers[i]);
    sheet->title = mase_arena_printf(&j->s->c->arena, "%s: %s", j->s->word,
                                     model ? "a model by name" : mase_file_kinds[j->s->kind].title);
}

static void report(struct job *j)
{
    static const char *const headers[] = { "Kind",    "Name",  "Nodes",     "Modules", "Parameters",
                                           "Buffers", "Bytes", "Quantised", NULL };
    struct mase_sheet *summary = mase_show_sheet(j->s, "summary", headers);
    add_nodes(j);
    add_training(j);
    add_modules(j);
    add_params(j);
    fill_summary(j, summary);
}

/* ---- drawing ---- */

static enum mase_status draw(const struct job *j, const char *path, struct mase_err *err)
{
    const struct mase_graph *g = j->net.graph;
    const struct mase_draw opts = { .values = j->has_shapes ? &j->values : NULL,
                                    .title = g->name ? g->name : j->s->word };
    struct mase_str out = { 0 };
    enum mase_status st = MASE_OK;
    if (mase_ends_with(path, ".dot"))
        mase_draw_dot(&out, g, &opts);
    else if (!mase_draw_svg(&out, g, &opts))
        st =
            mase_fail(err, MASE_ELIMIT,
                      "--draw: lines between the %d nodes would pass more than two million places; "
                      "draw it as .dot",
                      g->node_count);
    if (!st)
        st = mase_file_write(path, mase_str_text(&out), out.len, err);
    mase_str_release(&out);
    if (!st)
        mase_info("Drew the graph to %s", path);
    return st;
}

/* ---- the program ---- */

/* Lower the network in training, with its gradient. */
static enum mase_status lower_backward(struct mase_program **out, const struct job *j,
                                       const struct mase_input *in, int count, struct mase_err *err)
{
    const struct mase_lower_opts opts = { .inputs = in, .input_count = count, .training = true };
    struct mase_graph *g;
    struct mase_program *forward;
    MASE_TRY(mase_graph_to_train(&g, j->net.graph, err));
    MASE_TRY(mase_program_lower(&forward, g, &opts, err));
    const enum mase_status st = mase_program_grad(out, forward, NULL, err);
    mase_program_free(forward);
    return st;
}

static enum mase_status put_program(const struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->s->c;
    struct mase_input in[1 + MASE_MORE_INPUTS];
    const int count = set_inputs(j, in);
    struct mase_program *p;
    struct mase_str text = { 0 };
    if (!count)
        return mase_fail(err, MASE_EVALUE,
                         "--program: the shape of a sample is not known; name the data, as in "
                         "'ch show %s DATASET --program'",
                         j->s->word);
    const struct mase_lower_opts opts = { .inputs = in, .input_count = count };
    MASE_TRY(mase_cli_flag(c, MASE_CLI_backward)
                 ? lower_backward(&p, j, in, count, err)
                 : mase_program_lower(&p, j->net.graph, &opts, err));
    mase_program_print(&text, p);
    if (mase_cli_wants_json(c)) {
        struct mase_value *v = mase_value_table(&c->arena);
        mase_value_set(&c->arena, v, "program", mase_value_string(&c->arena, mase_str_text(&text)));
        mase_cli_put_json(v);
    } else {
        fputs(mase_str_text(&text), stdout);
    }
    mase_str_release(&text);
    mase_program_free(p);
    return MASE_OK;
}

enum mase_status mase_show_graph(struct mase_show *s, struct mase_err *err)
{
    struct job j = { .s = s };
    struct mase_cli *c = s->c;
    const char *picture = mase_cli_text(c, MASE_CLI_draw);
    const bool values = mase_cli_flag(c, MASE_CLI_stats) || mase_cli_text(c, MASE_CLI_load_name);
    MASE_TRY((values ? mase_cli_net_open : mase_cli_net_outline)(&j.net, c, s->word, err));
    enum mase_status st = MASE_OK;
    infer(&j);
    if (mase_cli_flag(c, MASE_CLI_program))
        st = put_program(&j, err);
    else
        report(&j);
    if (!st && picture)
        st = draw(&j, picture, err);
    mase_work_close(&j.net);
    return st;
}
