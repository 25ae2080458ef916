/*
 * count_flops.c - what every node costs, and the network: operations, bits, traffic.
 *
 * After a transform the totals of the graph before it stand below, so that the change shows.
 */
#include <inttypes.h>

#include <mase/table.h>

#include "pass/support.h"
#include "program/costs.h"

struct flops_opts {
    const char *save_path, *format;
};

/* The columns: a number of the cost, its heading, its name for programs. */
static const struct {
    const char *header, *key;
    size_t offset;
} columns[] = {
    { "MACs", "macs", offsetof(struct mase_cost, macs) },
    { "FLOPs", "flops", offsetof(struct mase_cost, flops) },
    { "Train FLOPs", "train_flops", offsetof(struct mase_cost, train_flops) },
    { "Params", "params", offsetof(struct mase_cost, params) },
    { "Param bits", "param_bits", offsetof(struct mase_cost, param_bits) },
    { "In bits", "in_bits", offsetof(struct mase_cost, in_bits) },
    { "Out bits", "out_bits", offsetof(struct mase_cost, out_bits) },
    { "Traffic B", "traffic_bytes", offsetof(struct mase_cost, traffic) },
    { "Nonzero MACs", "nonzero_macs", offsetof(struct mase_cost, nonzero_macs) },
    { "BitOPs", "bitops", offsetof(struct mase_cost, bitops) },
    { "Nonzero BitOPs", "nonzero_bitops", offsetof(struct mase_cost, nonzero_bitops) },
    { "BOPs", "bops", offsetof(struct mase_cost, bops) },
    { "EBOPs", "ebops", offsetof(struct mase_cost, ebops) },
};

enum { COLUMNS = sizeof columns / sizeof columns[0], NAMES = 2 };

static int64_t number(const struct mase_cost *c, int column)
{
    const char *field = (const char *)c + columns[column].offset;
    /* BOPs have a logarithm in them */
    if (columns[column].offset == offsetof(struct mase_cost, bops))
        return (int64_t)(*(const double *)field + 0.5);
    return *(const int64_t *)field;
}

static void add_row(struct mase_table *t, const char *name, const char *op,
                    const struct mase_cost *c)
{
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, name);
    mase_table_set(t, row, 1, op);
    for (int i = 0; i < COLUMNS; i++)
        mase_table_setf(t, row, NAMES + i, "%" PRId64, number(c, i));
}

/* A network and what it costs. */
struct counted {
    const struct mase_graph *graph;
    struct mase_costs *costs;
    struct mase_cost total;
};

static struct mase_table make_table(struct mase_arena *a, const struct counted *is,
                                    const struct counted *was)
{
    const char *headers[NAMES + COLUMNS + 1] = { "Node", "Op" };
    for (int i = 0; i < COLUMNS; i++)
        headers[NAMES + i] = columns[i].header;
    struct mase_table t = mase_table(a, headers);
    for (const struct mase_node *n = is->graph->first; n; n = n->next) {
        const struct mase_cost c = mase_costs_node(is->costs, n);
        add_row(&t, n->name, mase_ops[n->op].name, &c);
    }
    add_row(&t, "total", "", &is->total);
    if (was->costs)
        add_row(&t, "total before", "", &was->total);
    return t;
}

static struct mase_value *as_value(struct mase_arena *a, const struct mase_cost *c)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < COLUMNS; i++)
        mase_value_set(a, v, columns[i].key, mase_value_int(a, number(c, i)));
    return v;
}

static struct mase_value *result(struct mase_arena *a, const struct counted *is,
                                 const struct counted *was)
{
    struct mase_value *v = mase_value_table(a), *nodes = mase_value_table(a);
    mase_value_set(a, v, "total", as_value(a, &is->total));
    if (was->costs)
        mase_value_set(a, v, "before", as_value(a, &was->total));
    mase_value_set(a, v, "nodes", nodes);
    for (const struct mase_node *n = is->graph->first; n; n = n->next) {
        const struct mase_cost c = mase_costs_node(is->costs, n);
        mase_value_set(a, nodes, n->name, as_value(a, &c));
    }
    return v;
}

static enum mase_status save(struct mase_pass_env *env, const struct mase_table *t,
                             const char *path, struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_table_render(t, MASE_TABLE_CSV, &text);
    mase_str_addc(&text, '\n');
    enum mase_status st = mase_pass_write(env, path, &text, err);
    mase_str_release(&text);
    return st;
}

static bool has_metadata(const struct mase_graph *g)
{
    for (const struct mase_node *n = g ? g->first : NULL; n; n = n->next)
        if (!n->meta || !n->meta->has_common)
            return false;
    return g != NULL;
}

/* The inputs that the metadata are of. */
static int find_inputs(struct mase_arena *a, const struct mase_graph *g, struct mase_input **out)
{
    int count = 0;
    *out = mase_new_array(a, struct mase_input, (size_t)g->node_count);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_meta_arg *r = n->meta->result_count ? n->meta->results : NULL;
        if (n->kind == MASE_PLACEHOLDER && r && r->kind == MASE_META_TENSOR)
            (*out)[count++] =
                (struct mase_input){ n->name, { .dtype = r->dtype, .shape = r->shape } };
    }
    return count;
}

static enum mase_status check(const struct counted *c, struct mase_err *err)
{
    struct mase_cost sum = { 0 };
    for (const struct mase_node *n = c->graph->first; n; n = n->next) {
        const struct mase_cost own = mase_costs_node(c->costs, n);
        mase_cost_add(&sum, &own);
        if (!mase_cost_fits(&sum))
            return mase_node_place(
                n,
                mase_fail(err, MASE_ELIMIT, "%s: the costs %s 2^63, and counts end there", n->name,
                          mase_cost_fits(&own) ? "up to here are beyond" : "are beyond"),
                err);
    }
    return MASE_OK;
}

static enum mase_status count(struct counted *c, const struct mase_graph *g, struct mase_arena *a,
                              struct mase_err *err)
{
    struct mase_input *inputs;
    const int n = find_inputs(a, g, &inputs);
    c->graph = g;
    MASE_TRY(mase_costs_new(&c->costs, g, inputs, n, err));
    MASE_TRY(check(c, err));
    c->total = mase_costs_total(c->costs);
    return MASE_OK;
}

/* Are the costs of the graph before of as many samples? */
static bool is_comparable(struct mase_arena *a, const struct mase_graph *original,
                          const struct mase_graph *g)
{
    struct mase_input *was, *is;
    if (!has_metadata(original))
        return false;
    return !find_inputs(a, original, &was) || !find_inputs(a, g, &is) ||
           mase_shape_equal(&was->tensor.shape, &is->tensor.shape);
}

static enum mase_status show(const struct counted *is, const struct counted *was,
                             const struct flops_opts *o, struct mase_pass_env *env,
                             struct mase_err *err)
{
    const struct mase_table t = make_table(env->scratch, is, was);
    struct mase_value *found = result(mase_pass_arena(env), is, was);
    mase_pass_show(env, NULL, &(struct mase_sheet){ .key = "count_flops", .table = t }, o->format,
                   found);
    mase_pass_note(env, "count_flops", found);
    const char *path = mase_pass_path(env, o->save_path, "costs.csv");
    return path ? save(env, &t, path, err) : MASE_OK;
}

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    struct counted is = { 0 }, was = { 0 };
    enum mase_status st = count(&is, g, env->scratch, err);
    if (!st && is_comparable(env->scratch, env->original, g))
        st = count(&was, env->original, env->scratch, err);
    if (!st)
        st = show(&is, &was, options, env, err);
    mase_costs_free(is.costs);
    mase_costs_free(was.costs);
    return st;
}

static const struct mase_opt opts[] = {
    MASE_OPT_CHOICE(struct flops_opts, format, "format", NULL, mase_pass_formats,
                    "how the table looks; none: as all tables"),
    MASE_OPT_PATH(struct flops_opts, save_path, "save_path", NULL,
                  "where the table is written as CSV"),
    { 0 },
};

const struct mase_pass mase_pass_count_flops = {
    .name = "count_flops",
    .help = "MACs, FLOPs, parameters, bits, memory traffic and bit operations of every node",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .opts = opts,
    .opts_size = sizeof(struct flops_opts),
    .analyse = run,
};
