/*
 * candidate.c - a network that moves from point to point.
 */
#include "search/candidate.h"

#include "ir/graph/graph_parts.h"
#include "pass/support.h"
#include "search/search_parts.h"

void mase_candidate_init(struct mase_candidate *c, const struct mase_search *s)
{
    const struct mase_format_space *f = &s->formats;
    *c = (struct mase_candidate){ .search = s, .graph = mase_graph_clone(s->opts.graph) };
    c->node = mase_new_array(&c->arena, struct mase_node *, (size_t)f->sites);
    c->quant = mase_new_array(&c->arena, const struct mase_quant *, (size_t)f->sites);
    mase_format_choices_init(&c->choices, f);
    int i = 0, position = 0;
    for (struct mase_node *n = c->graph->first; n; n = n->next, position++)
        if (i < f->sites && f->site[i].position == position) {
            c->quant[i] = mase_node_quant(n);
            c->node[i++] = n;
        }
}

static void drop_copy(struct mase_candidate *c)
{
    mase_predictor_free(c->of_trained);
    mase_graph_free(c->trained);
    c->of_trained = NULL;
    c->trained = NULL;
}

void mase_candidate_copy(struct mase_candidate *c)
{
    drop_copy(c);
    c->trained = mase_graph_clone(c->graph);
    mase_graph_own_weights(c->trained);
}

struct mase_graph *mase_candidate_network(struct mase_candidate *c)
{
    return c->trained ? c->trained : c->graph;
}

void mase_candidate_release(struct mase_candidate *c)
{
    drop_copy(c);
    mase_predictor_free(c->predictor);
    mase_format_choices_release(&c->choices);
    mase_graph_free(c->graph);
    mase_arena_release(&c->arena);
    *c = (struct mase_candidate){ 0 };
}

static void give(struct mase_node *n, const struct mase_quant *q)
{
    struct mase_module *m = mase_node_module(n);
    if (m)
        mase_module_set_quant(n->graph, m, q);
    else
        mase_node_set_quant(n, q);
    mase_meta_set_formats(n);
}

/* What a plan cannot follow is made anew when it is needed. */
static enum mase_status follow(struct mase_candidate *c, const struct mase_node *n,
                               struct mase_err *err)
{
    struct mase_err why;
    if (!c->predictor)
        return MASE_OK;
    const enum mase_status st = mase_predictor_follow_formats(c->predictor, n, &why);
    if (st == MASE_EUNSUPPORTED) {
        mase_predictor_free(c->predictor);
        c->predictor = NULL;
        return MASE_OK;
    }
    if (st)
        *err = why;
    return st;
}

enum mase_status mase_candidate_move(struct mase_candidate *c, const double *x,
                                     struct mase_err *err)
{
    drop_copy(c);
    c->x = x;
    for (int i = 0; i < c->search->formats.sites; i++) {
        const struct mase_format_choice *choice;
        MASE_TRY(mase_format_choose(&choice, &c->choices, i, c->node[i], x, err));
        if (mase_quant_equal(choice->quant, c->quant[i]))
            continue;
        give(c->node[i], choice->quant);
        c->quant[i] = choice->quant;
        MASE_TRY(follow(c, c->node[i], err));
    }
    return MASE_OK;
}

/* Equal formats are one pointer. */
void mase_candidate_key(struct mase_str *out, const struct mase_candidate *c)
{
    const struct mase_search *s = c->search;
    for (int i = 0; i < s->training.count; i++)
        mase_str_printf(out, "%a,", c->x[s->training.first + i]);
    for (int i = 0; i < s->formats.sites; i++) {
        const struct mase_quant *q = c->quant[i];
        mase_str_addc(out, ';');
        for (int o = 0; o < MASE_OPERAND_COUNT && q && !q->bypass; o++)
            mase_str_printf(out, "%p,", (const void *)q->operand[o]);
    }
}

enum mase_status mase_candidate_predictor(struct mase_predictor **p, struct mase_candidate *c,
                                          struct mase_err *err)
{
    const struct mase_search_opts *o = &c->search->opts;
    struct mase_predictor **made = c->trained ? &c->of_trained : &c->predictor;
    const struct mase_predictor_opts opts = { .coupled_batch = o->batch_size,
                                              .formats_change = !c->trained };
    if (!*made)
        MASE_TRY(mase_predictor_new(made, mase_candidate_network(c),
                                    &mase_dataset_info(o->data)->data.sample, &opts, err));
    *p = *made;
    return MASE_OK;
}
