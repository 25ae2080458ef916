/*
 * cmd_trace.c - ch trace MODEL [DATASET]: one sample through every node, in float and quantised.
 *
 * The quantised network is a saved one, or made by the configuration; the float network is that
 * without formats. The reference computes both.
 */
#include <inttypes.h>

#include <mase/compare.h>

#include <mase/zoo.h>

#include "cli/command_nets.h"

enum { SHOWN = 8 }; /* values shown of each node, unless --node selects one */

struct job {
    struct mase_cli *c;
    struct mase_opened plain, quantised; /* quantised.graph may be NULL */
    struct mase_values a, b;
    const char *source;
};

/* ---- the two networks ---- */

static bool is_quantised(const struct mase_graph *g)
{
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (mase_node_quant(n))
            return true;
    return false;
}

/* A copy without formats, which borrows the weights. */
static void strip(struct mase_opened *out, const struct mase_opened *n)
{
    *out = *n;
    out->tensors = (struct mase_tensors){ 0 };
    out->graph = mase_cli_net_clone(n);
    mase_graph_drop_formats(out->graph);
}

static enum mase_status open_both(struct job *j, const char *word, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    MASE_TRY(mase_cli_net_open(&j->plain, c, word, err));
    if (!j->plain.graph)
        return mase_fail(err, MASE_EVALUE,
                         "'%s' holds weights alone: name a network, and give "
                         "them with --load",
                         word);
    if (is_quantised(j->plain.graph)) {
        j->quantised = j->plain;
        strip(&j->plain, &j->quantised);
        return MASE_OK;
    }
    if (!c->config || !mase_value_at(c->config, "passes.quantize"))
        return MASE_OK;
    return mase_cli_net_quantise(&j->quantised, c, &j->plain, err);
}

static void close_both(struct job *j)
{
    /* close the borrower of weights first */
    struct mase_opened *first =
        j->plain.graph && j->plain.graph->weights_borrowed ? &j->plain : &j->quantised;
    mase_work_close(first);
    mase_work_close(first == &j->plain ? &j->quantised : &j->plain);
}

static enum mase_status compute(struct job *j, struct mase_err *err)
{
    const char *data = j->c->operand_count > 1 ? j->c->operands[1] : NULL;
    struct mase_cli_inputs in;
    MASE_TRY(mase_cli_inputs_pick(&in, j->c, &j->plain, data,
                                  mase_cli_value(j->c, MASE_CLI_sample)->i, err));
    j->source = in.source;
    MASE_TRY(mase_cli_run(&j->a, j->c, &j->plain, &in, err));
    return j->quantised.graph ? mase_cli_run(&j->b, j->c, &j->quantised, &in, err) : MASE_OK;
}

/* ---- tables ---- */

static const struct mase_tensor *result(const struct mase_values *v, const struct mase_node *n)
{
    const struct mase_arg *r = mase_values_get(v, n);
    return r && r->kind == MASE_ARG_TENSOR ? r->tensor : NULL;
}

static bool wanted(const struct job *j, const struct mase_node *n)
{
    const char *name = mase_cli_text(j->c, MASE_CLI_node);
    return !name || mase_streq(name, n->name);
}

static void add_node(struct mase_table *t, const struct job *j, const struct mase_node *n)
{
    const struct mase_tensor *x = result(&j->a, n);
    const struct mase_tensor *q = j->quantised.graph ? result(&j->b, n) : NULL;
    const struct mase_node *other = q ? mase_graph_find(j->quantised.graph, n->name) : n;
    const int row = mase_table_row(t);
    struct mase_str shape = { 0 };
    struct mase_error e;
    mase_table_set(t, row, 0, n->name);
    mase_table_set(t, row, 1, mase_cli_type_of(t->arena, other));
    if (x)
        mase_shape_print(&shape, &x->shape);
    mase_table_set(t, row, 2, mase_str_text(&shape));
    mase_str_release(&shape);
    if (!q || !x || !mase_error_measure(&e, x, q))
        return;
    mase_table_set(t, row, 3, mase_cli_formats_of(t->arena, other));
    mase_cli_set_error(t, row, 4, e.max);
    mase_cli_set_error(t, row, 5, e.mean);
    mase_table_setf(t, row, 6, "%.2f", e.sqnr);
}

static void add_values(struct mase_table *t, const struct job *j, const struct mase_node *n)
{
    const struct mase_tensor *x = result(&j->a, n);
    const struct mase_tensor *q = j->quantised.graph ? result(&j->b, n) : NULL;
    const int64_t count = x ? mase_tensor_count(x) : 0;
    const int64_t shown = mase_cli_text(j->c, MASE_CLI_node) || count <= SHOWN ? count : SHOWN;
    for (int64_t i = 0; i < shown; i++) {
        const int row = mase_table_row(t);
        mase_table_set(t, row, 0, n->name);
        mase_table_setf(t, row, 1, "%" PRId64, i);
        mase_cli_set_real(t, row, 2, mase_tensor_get(x, i));
        if (!q)
            continue;
        mase_cli_set_real(t, row, 3, mase_tensor_get(q, i));
        mase_cli_set_error(t, row, 4, mase_tensor_get(q, i) - mase_tensor_get(x, i));
    }
}

static enum mase_status check_node(const struct job *j, struct mase_err *err)
{
    const char *name = mase_cli_text(j->c, MASE_CLI_node);
    if (!name || mase_graph_find(j->plain.graph, name))
        return MASE_OK;
    const char **names =
        mase_new_array(&j->c->arena, const char *, (size_t)j->plain.graph->node_count);
    int count = 0;
    for (const struct mase_node *n = j->plain.graph->first; n; n = n->next)
        names[count++] = n->name;
    return mase_fail_unknown(err, MASE_NOWHERE,
                             &(struct mase_unknown){ .word = name, .names = names, .count = count },
                             "--node: no node is called '%s'", name);
}

static void report(const struct job *j)
{
    static const char *const nodes[] = { "Node",      "Type",       "Shape",   "Formats",
                                         "Max error", "Mean error", "SQNR dB", NULL };
    static const char *const values[] = { "Node", "Index", "Float", "Quantised", "Error", NULL };
    static const char *const plain_nodes[] = { "Node", "Type", "Shape", NULL };
    static const char *const plain_values[] = { "Node", "Index", "Value", NULL };
    const bool both = j->quantised.graph != NULL;
    const char *node = mase_cli_text(j->c, MASE_CLI_node);
    struct mase_arena *a = &j->c->arena;
    struct mase_sheet sheets[] = {
        { .key = "nodes",
          .title = mase_arena_printf(a, "%s %s %s", j->source, node ? "at" : "through",
                                     node ? node : "every node"),
          .table = mase_table(a, both ? nodes : plain_nodes) },
        { .key = "values",
          .title = node ? "its values"
                        : mase_arena_printf(a, "the first %d values of each; --node NAME shows all",
                                            SHOWN),
          .table = mase_table(a, both ? values : plain_values) },
    };
    for (const struct mase_node *n = j->plain.graph->first; n; n = n->next)
        if (wanted(j, n)) {
            add_node(&sheets[0].table, j, n);
            add_values(&sheets[1].table, j, n);
        }
    mase_cli_put_sheets(j->c, sheets, 2);
}

enum mase_status mase_cli_trace(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c };
    const char *word;
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_subject(&word, c, err));
    if (c->operand_count > 1 &&
        mase_model_is_file(word)) /* a user's own network is built for the data */
        MASE_TRY(mase_cli_name_dataset(c, c->operands[1], err));
    enum mase_status st = open_both(&j, word, err);
    if (!st)
        st = check_node(&j, err);
    if (!st)
        st = compute(&j, err);
    if (!st)
        report(&j);
    close_both(&j);
    return st;
}
