/*
 * candidate.c - a network that moves from point to point.
 */
#include "search/candidate.h"

#include "ir/graph/graph_parts.h"
#include "pass/support.h"
#include "program/costs.h"
#include "search/search_parts.h"

/* With the metadata that runners read. */
static enum mase_status add_metadata(struct mase_candidate *c, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const struct mase_shape *sample = &mase_dataset_info(c->search->opts.data)->data.sample;
    const struct mase_inputs in = mase_graph_inputs(&a, c->graph, sample, 1);
    struct mase_manager m = { .env = { .inputs = in.item, .input_count = in.count } };
    const enum mase_status st = mase_manager_run(&m, &c->graph, "add_common_metadata", NULL, err);
    mase_manager_release(&m);
    mase_arena_release(&a);
    return st;
}

/* The first site that calls the module of site i; i itself where it calls none. */
static int first_call(const struct mase_candidate *c, int i)
{
    const struct mase_module *m = c->node[i] ? mase_node_module(c->node[i]) : NULL;
    for (int k = 0; k < i && m; k++)
        if (c->node[k] && mase_node_module(c->node[k]) == m)
            return k;
    return i;
}

/* A copy of a network of the search, in the formats that it came with. x: the point that decides
 * its widths; NULL: as they are. */
static enum mase_status take_variant(struct mase_candidate *c, int variant, const double *x,
                                     struct mase_err *err)
{
    const struct mase_search *s = c->search;
    const struct mase_format_space *f = &s->formats;
    c->variant = variant;
    c->graph = mase_graph_clone(s->variants.graph[variant]);
    if (x && s->channels.layers.count) {
        c->widths = mase_arena_memdup(&c->arena, x + s->channels.layers.first,
                                      (size_t)s->channels.layers.count * sizeof *x);
        MASE_TRY(mase_channel_space_apply(&s->channels, c->graph, &s->space, x, s->opts.seed, err));
    }
    c->node = mase_new_array(&c->arena, struct mase_node *, (size_t)f->sites);
    c->quant = mase_new_array(&c->arena, const struct mase_quant *, (size_t)f->sites);
    mase_format_choices_init(&c->choices, f);
    c->first_call = mase_new_array(&c->arena, int, (size_t)f->sites);
    for (int i = 0; i < f->sites; i++) {
        c->node[i] = mase_graph_find(c->graph, f->site[i].node);
        c->quant[i] = c->node[i] ? mase_node_quant(c->node[i]) : NULL;
        c->first_call[i] = first_call(c, i);
    }
    return add_metadata(c, err);
}

enum mase_status mase_candidate_init(struct mase_candidate *c, const struct mase_search *s,
                                     struct mase_err *err)
{
    *c = (struct mase_candidate){ .search = s };
    return take_variant(c, 0, NULL, err);
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

static void drop_variant(struct mase_candidate *c)
{
    drop_copy(c);
    mase_predictor_free(c->predictor);
    mase_costs_free(c->costs);
    mase_format_choices_release(&c->choices);
    mase_graph_free(c->graph);
    mase_arena_release(&c->arena);
    c->predictor = NULL;
    c->costs = NULL;
    c->graph = NULL;
    c->widths = NULL;
}

void mase_candidate_release(struct mase_candidate *c)
{
    drop_variant(c);
    *c = (struct mase_candidate){ 0 };
}

/* The network of a point, before its formats. */
static enum mase_status follow_variant(struct mase_candidate *c, const double *x,
                                       struct mase_err *err)
{
    const struct mase_search *s = c->search;
    const int variant = mase_variants_index(&s->variants, &s->space, x);
    const struct mase_option_space *o = &s->channels.layers;
    bool same = variant == c->variant && c->graph;
    for (int i = 0; i < o->count && same; i++)
        same = c->widths && c->widths[i] == x[o->first + i];
    if (same)
        return MASE_OK;
    drop_variant(c);
    return take_variant(c, variant, x, err);
}

/* What a plan cannot follow is made anew when it is needed; so is one that has not followed to the
 * end. */
static enum mase_status follow(struct mase_candidate *c, const struct mase_node *n,
                               struct mase_err *err)
{
    struct mase_err why;
    const enum mase_status st =
        c->predictor ? mase_predictor_follow_formats(c->predictor, n, &why) : MASE_OK;
    if (!st)
        return MASE_OK;
    mase_predictor_free(c->predictor);
    c->predictor = NULL;
    if (st == MASE_EUNSUPPORTED)
        return MASE_OK;
    *err = why;
    return st;
}

/* The formats of each site at a point. Calls of one module have those of the last of them that
 * names a format, as the quantise pass has it. */
static enum mase_status choose(const struct mase_quant **wanted, struct mase_candidate *c,
                               const double *x, struct mase_err *err)
{
    for (int i = 0; i < c->search->formats.sites; i++) {
        const struct mase_format_choice *choice;
        if (!c->node[i])
            continue;
        MASE_TRY(mase_format_choose(&choice, &c->choices, i, c->node[i], x, err));
        if (choice->quant)
            wanted[c->first_call[i]] = choice->quant;
    }
    return MASE_OK;
}

static enum mase_status give_formats(struct mase_candidate *c, const double *x,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const int sites = c->search->formats.sites;
    const struct mase_quant **wanted = mase_new_array(&a, const struct mase_quant *, (size_t)sites);
    enum mase_status st = choose(wanted, c, x, err);
    for (int i = 0; i < sites && !st; i++) {
        if (!c->node[i] || c->first_call[i] != i || mase_quant_equal(wanted[i], c->quant[i]))
            continue;
        mase_node_set_quant(c->node[i], wanted[i]);
        c->quant[i] = wanted[i];
        for (int k = i; k < sites; k++)
            if (c->node[k] && c->first_call[k] == i)
                mase_meta_set_formats(c->node[k]);
        st = follow(c, c->node[i], err);
    }
    mase_arena_release(&a);
    return st;
}

/* A study may hold what another program wrote. */
static enum mase_status check_point(const struct mase_space *s, const double *x,
                                    struct mase_err *err)
{
    for (int i = 0; i < s->count; i++)
        if (!(mase_dimension_nearest(&s->dimension[i], x[i]) == x[i]))
            return mase_fail(err, MASE_EVALUE, "%s has no value %g", s->dimension[i].name, x[i]);
    return MASE_OK;
}

enum mase_status mase_candidate_move(struct mase_candidate *c, const double *x,
                                     struct mase_err *err)
{
    MASE_TRY(check_point(&c->search->space, x, err));
    drop_copy(c);
    c->x = x;
    MASE_TRY(follow_variant(c, x, err));
    return give_formats(c, x, err);
}

/* Equal formats are one pointer. */
void mase_candidate_key(struct mase_str *out, const struct mase_candidate *c)
{
    const struct mase_search *s = c->search;
    mase_str_printf(out, "%d:", c->variant);
    for (int i = 0; i < s->channels.layers.count; i++)
        mase_str_printf(out, "%a,", c->widths[i]);
    for (int i = 0; i < s->training.count; i++)
        mase_str_printf(out, "%a,", c->x[s->training.first + i]);
    for (int i = 0; i < s->pruning.count; i++)
        mase_str_printf(out, "%a,", c->x[s->pruning.first + i]);
    for (int i = 0; i < s->formats.sites; i++) {
        const struct mase_quant *q = c->node[i] ? c->quant[c->first_call[i]] : NULL;
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
