/*
 * cmd_diff.c - ch diff A [B]: compare nodes, formats and parameters, and the outputs of every node
 * for one input. Without B, B is A as the configuration quantises it. A file of weights takes the
 * graph of the other side; two of them are compared by their parameters alone.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/compare.h>
#include <mase/log.h>

#include "cli/command_nets.h"

struct sides {
    struct mase_cli *c;
    struct mase_opened a, b;
};

/* ---- nodes ---- */

static const char *call_of(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    const struct mase_module *m = mase_node_module(n);
    if (m)
        mase_module_repr(&text, m);
    else
        mase_node_print(&text, n);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

static void add_node(struct mase_table *t, const struct mase_node_pair *p)
{
    struct mase_arena *a = t->arena;
    const bool whole =
        p->a && p->b && !p->same_call; /* the class alone would not show the difference */
    const struct mase_node *n[] = { p->a, p->b };
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, p->a ? p->a->name : p->b->name);
    for (int i = 0; i < 2; i++) {
        if (!n[i])
            continue;
        mase_table_set(t, row, 1 + i, whole ? call_of(a, n[i]) : mase_cli_type_of(a, n[i]));
        mase_table_set(t, row, 3 + i, mase_cli_formats_of(a, n[i]));
    }
    mase_table_set(t, row, 5,
                   !p->b                               ? "only in A"
                   : !p->a                             ? "only in B"
                   : !p->same_call && !p->same_formats ? "call, formats"
                   : !p->same_call                     ? "call"
                                                       : "formats");
}

static struct mase_sheet compare_nodes(const struct sides *s)
{
    static const char *const headers[] = { "Node",      "A",          "B", "Formats A",
                                           "Formats B", "Difference", NULL };
    struct mase_arena *a = &s->c->arena;
    struct mase_sheet sheet = { .key = "nodes", .table = mase_table(a, headers) };
    struct mase_node_pair *pairs;
    const int count = mase_compare_nodes(&pairs, a, s->a.graph, s->b.graph);
    for (int i = 0; i < count; i++)
        if (!pairs[i].same_call || !pairs[i].same_formats)
            add_node(&sheet.table, &pairs[i]);
    sheet.title = mase_arena_printf(a, "A is %s, B is %s: %d of %d nodes differ", s->a.word.text,
                                    s->b.word.text, sheet.table.rows, count);
    return sheet;
}

/* ---- parameters ---- */

static const char *shape_of(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_str text = { 0 };
    if (t)
        mase_shape_print(&text, &t->shape);
    const char *copy = mase_arena_strdup(a, t ? mase_str_text(&text) : "none");
    mase_str_release(&text);
    return copy;
}

static void set_errors(struct mase_table *t, int row, int column, const struct mase_error *e)
{
    mase_cli_set_error(t, row, column, e->max);
    mase_cli_set_error(t, row, column + 1, e->mean);
    mase_table_setf(t, row, column + 2, "%.2f", e->sqnr);
}

static void add_param(struct mase_table *t, const struct mase_tensor_pair *p)
{
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, p->name);
    mase_table_set(t, row, 1, shape_of(t->arena, p->a));
    mase_table_set(t, row, 2, shape_of(t->arena, p->b));
    if (!p->same_shape)
        return;
    mase_table_setf(t, row, 3, "%" PRId64, p->error.differ);
    set_errors(t, row, 4, &p->error);
}

/* The length of a prefix that a wrapper (Lightning, DataParallel) adds to every name. */
static size_t wrapper_of(const struct mase_tensors *t)
{
    static const char *const wrappers[] = { "module.", "model.", "module." };
    size_t skip = 0;
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        int with = 0;
        for (int k = 0; k < t->count; k++)
            with += mase_starts_with(t->items[k].name + skip, wrappers[i]);
        skip += with == t->count ? strlen(wrappers[i]) : 0;
    }
    return skip;
}

static int tensors_of(struct mase_named_tensor **out, struct mase_arena *a,
                      const struct mase_opened *n)
{
    if (n->graph)
        return mase_graph_tensors(out, a, n->graph);
    const size_t skip = wrapper_of(&n->tensors);
    *out = mase_new_array(a, struct mase_named_tensor, (size_t)n->tensors.count);
    for (int i = 0; i < n->tensors.count; i++) {
        (*out)[i] = n->tensors.items[i];
        (*out)[i].name += skip;
    }
    return n->tensors.count;
}

static struct mase_sheet compare_params(const struct sides *s)
{
    static const char *const headers[] = { "Parameter", "Shape A",
                                           "Shape B",   "Values that differ",
                                           "Max error", "Mean error",
                                           "SQNR dB",   NULL };
    struct mase_arena *arena = &s->c->arena;
    struct mase_sheet sheet = { .key = "parameters", .table = mase_table(arena, headers) };
    struct mase_named_tensor *a, *b;
    struct mase_tensor_pair *pairs;
    const int na = tensors_of(&a, arena, &s->a), nb = tensors_of(&b, arena, &s->b);
    const int count = mase_compare_tensors(&pairs, arena, a, na, b, nb);
    for (int i = 0; i < count; i++)
        if (!pairs[i].same_shape || pairs[i].error.differ)
            add_param(&sheet.table, &pairs[i]);
    sheet.title = mase_arena_printf(arena, "%d of %d parameters differ", sheet.table.rows, count);
    return sheet;
}

/* ---- outputs ---- */

static void add_output(struct mase_table *t, const struct mase_value_pair *p)
{
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, p->a->name);
    mase_table_set(t, row, 1, mase_cli_type_of(t->arena, p->a));
    mase_table_set(t, row, 2, mase_cli_type_of(t->arena, p->b));
    if (!p->comparable)
        return;
    set_errors(t, row, 3, &p->error);
    mase_table_setf(t, row, 6, "%" PRId64, p->error.flips);
    mase_table_setf(t, row, 7, "%" PRId64, p->error.rows);
}

/* Rows by --batch-size; else a default that computes quickly. The batch size of a configuration's
 * training does not count. */
static int64_t rows_to_draw(const struct sides *s, const struct mase_opened *n)
{
    enum { VALUES = 16384, MOST = 128 };
    const struct mase_value *given = s->c->setting[MASE_CLI_batch_size].cmdline;
    const int64_t each = n->has_sample ? mase_shape_count(&n->sample) : 1;
    if (mase_cli_text(s->c, MASE_CLI_input))
        return given ? given->i : 0;
    if (given)
        return given->i;
    return each * MOST <= VALUES ? MOST : each < VALUES ? VALUES / each : 1;
}

static enum mase_status compare_outputs(struct mase_sheet *sheet, const struct sides *s,
                                        struct mase_err *err)
{
    static const char *const headers[] = { "Node",         "A",          "B",
                                           "Max error",    "Mean error", "SQNR dB",
                                           "Argmax flips", "Rows",       NULL };
    struct mase_arena *a = &s->c->arena;
    const struct mase_opened *known = s->a.has_sample ? &s->a : &s->b;
    struct mase_cli_inputs in;
    struct mase_values va, vb;
    struct mase_value_pair *pairs;
    int first;
    MASE_TRY(mase_cli_inputs_make(&in, s->c, known, rows_to_draw(s, known), err));
    MASE_TRY(mase_cli_run(&va, s->c, &s->a, &in, err));
    MASE_TRY(mase_cli_run(&vb, s->c, &s->b, &in, err));
    const int count = mase_compare_values(&pairs, &first, a, s->a.graph, &va, s->b.graph, &vb);
    *sheet = (struct mase_sheet){ .key = "outputs", .table = mase_table(a, headers) };
    for (int i = first < 0 ? count : first; i < count; i++)
        add_output(&sheet->table, &pairs[i]);
    sheet->title = first < 0
                       ? mase_arena_printf(a, "for %s every output is the same", in.source)
                       : mase_arena_printf(a, "for %s the first output that differs is that of %s",
                                           in.source, pairs[first].a->name);
    return MASE_OK;
}

/* Can both run on one input? If not, outputs are not compared, without an error. */
static bool can_run(const struct sides *s)
{
    if (s->a.has_sample && s->b.has_sample && !mase_shape_equal(&s->a.sample, &s->b.sample))
        mase_warn("outputs are not compared: the inputs have different shapes");
    else if (!s->a.has_sample && !s->b.has_sample && !mase_cli_text(s->c, MASE_CLI_input))
        mase_warn("outputs are not compared: neither side says what shape its input has; give one "
                  "with --input X.npy");
    else
        return true;
    return false;
}

static enum mase_status report(const struct sides *s, struct mase_err *err)
{
    struct mase_sheet sheets[3];
    int count = 0;
    if (s->a.graph && s->b.graph)
        sheets[count++] = compare_nodes(s);
    sheets[count++] = compare_params(s);
    if (s->a.graph && s->b.graph && can_run(s))
        MASE_TRY(compare_outputs(&sheets[count++], s, err));
    mase_cli_put_sheets(s->c, sheets, count);
    return MASE_OK;
}

static enum mase_status open_b(struct sides *s, struct mase_err *err)
{
    if (s->c->operand_count < 2) {
        if (!s->a.graph)
            return mase_fail(err, MASE_EVALUE, "'%s' holds weights alone: name a second network",
                             s->a.word.text);
        return mase_cli_net_quantise(&s->b, s->c, &s->a, err);
    }
    MASE_TRY(mase_cli_net_open(&s->b, s->c, s->c->operands[1], err));
    MASE_TRY(mase_cli_net_adopt(&s->b, &s->a, err));
    return mase_cli_net_adopt(&s->a, &s->b, err);
}

enum mase_status mase_cli_diff(struct mase_cli *c, struct mase_err *err)
{
    struct sides s = { .c = c };
    const char *word;
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_subject(&word, c, err));
    MASE_TRY(mase_cli_net_open(&s.a, c, word, err));
    enum mase_status st = open_b(&s, err);
    if (!st)
        st = report(&s, err);
    mase_work_close(&s.b); /* may borrow weights of a */
    mase_work_close(&s.a);
    return st;
}
