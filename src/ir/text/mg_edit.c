/*
 * mg_edit.c - statements and values of .mg for a graph that is there already.
 */
#include <string.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/mg.h"

/* Check that operands precede the node. */
static enum mase_status check_order(const struct mase_node *n, struct mase_loc at,
                                    struct mase_err *err)
{
    for (const struct mase_node *below = n; below; below = below->next)
        for (int i = 0; i < n->input_count; i++)
            if (n->inputs[i] == below)
                return mase_fail_at(err, MASE_EVALUE, at, "%%%s stands below the node that uses it",
                                    below->name);
    return MASE_OK;
}

static enum mase_status end_of_text(struct mase_mg_parser *p)
{
    while (p->lx.t.kind == MASE_MG_NEWLINE)
        MASE_TRY(mase_mg_next(&p->lx));
    return p->lx.t.kind == MASE_MG_END ? MASE_OK : mase_mg_expected(p, "the end of the text");
}

static enum mase_status add(struct mase_mg_parser *p)
{
    const struct mase_node *last = p->g->last;
    MASE_TRY(mase_mg_next(&p->lx));
    const struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_statement(p));
    MASE_TRY(end_of_text(p));
    MASE_TRY(mase_mg_tie_all(p));
    if (p->added && p->added->kind == MASE_OUTPUT && last && last->kind == MASE_OUTPUT)
        return mase_fail_at(p->err, MASE_EVALUE, at, "the graph has an output already: %s",
                            last->name);
    return p->added ? check_order(p->added, at, p->err) : MASE_OK;
}

enum mase_status mase_graph_add_mg(struct mase_graph *g, struct mase_node **added,
                                   struct mase_node *before, const char *statement,
                                   struct mase_err *err)
{
    struct mase_mg_parser p;
    struct mase_err unwanted;
    mase_mg_begin(&p, g, statement, strlen(statement), "<statement>", err ? err : &unwanted);
    p.before = before ? before : mase_graph_output(g);
    const enum mase_status st = add(&p);
    mase_arena_release(&p.scratch);
    *added = st ? NULL : p.added;
    return st;
}

enum mase_status mase_graph_parse_arg(struct mase_arg *arg, struct mase_arena *a,
                                      struct mase_graph *g, const char *text, struct mase_err *err)
{
    struct mase_mg_parser p;
    struct mase_err unwanted;
    mase_mg_begin(&p, g, text, strlen(text), "<value>", err ? err : &unwanted);
    enum mase_status st = mase_mg_next(&p.lx);
    if (!st)
        st = mase_mg_value(&p, arg);
    if (!st)
        st = end_of_text(&p);
    if (!st)
        *arg = mase_arg_copy(a, arg);
    mase_arena_release(&p.scratch);
    return st;
}

enum mase_status mase_node_check_args(const struct mase_node *n, const struct mase_arg *args,
                                      const struct mase_arg *kwargs, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    enum mase_status st = MASE_OK;
    if (args->kind != MASE_ARG_TUPLE || kwargs->kind != MASE_ARG_DICT)
        st = mase_fail(err, MASE_EVALUE,
                       "%s: arguments are a tuple, (%%x, 2), and a dict, {dim: 1}", n->name);
    else if (n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD ||
             n->kind == MASE_CALL_MODULE)
        st = mase_bind_check(&a, n->op, n->kind, args, kwargs, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_node_check_order(const struct mase_node *n, struct mase_err *err)
{
    return check_order(n, MASE_NOWHERE, err);
}
