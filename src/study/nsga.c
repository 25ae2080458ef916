/*
 * nsga.c - generations of genetic samplers.
 */
#include "study/nsga.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/front.h"

void mase_nsga_open(struct mase_nsga *g)
{
    const struct mase_nsga_options *o = g->base.options;
    mase_history_open(&g->history, &g->base.setup);
    g->parent = mase_new_array(&g->base.arena, struct mase_nsga_member, (size_t)o->population);
}

void mase_nsga_close(struct mase_sampler *s)
{
    mase_history_close(&((struct mase_nsga *)s)->history);
}

int64_t mase_nsga_needs(const struct mase_sampler *s, int64_t n)
{
    const struct mase_nsga_options *o = s->options;
    return n / o->population * o->population;
}

/* ---- selection ---- */

static const double *loss_of(const struct mase_nsga *g, const struct mase_nsga_member *m, int j)
{
    return &g->history.loss[(int64_t)m->result * g->base.setup.objectives + j];
}

/* Those that violate constraints follow all others, by how much. */
static int compare_violations(const void *a, const void *b)
{
    const struct mase_nsga_member *x = a, *y = b;
    return x->crowding != y->crowding ? (x->crowding > y->crowding) - (x->crowding < y->crowding)
                                      : (x->result > y->result) - (x->result < y->result);
}

static void rank_infeasible(const struct mase_nsga *g, struct mase_nsga_member *m, int64_t n,
                            int32_t rank)
{
    for (int64_t i = 0; i < n; i++)
        m[i].crowding = g->history.violation[m[i].result];
    qsort(m, (size_t)n, sizeof *m, compare_violations);
    for (int64_t i = 0; i < n; i++) {
        rank += i > 0 && m[i].crowding > m[i - 1].crowding;
        m[i].rank = rank;
    }
    for (int64_t i = 0; i < n; i++)
        m[i].crowding = 0;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct mase_nsga_member *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->result > y->result) - (x->result < y->result);
}

/* Sort the feasible ones by rank; returns one more than the last rank. */
static int32_t rank_feasible(const struct mase_nsga *g, struct mase_nsga_member *m, int64_t n)
{
    const int objectives = g->base.setup.objectives;
    double *loss = mase_xcalloc((size_t)n * (size_t)objectives * sizeof *loss + 1);
    int32_t *order = mase_xcalloc((size_t)n * 2 * sizeof *order + 1), *rank = order + n, ranks = 0;
    for (int64_t i = 0; i < n; i++)
        memcpy(loss + i * objectives, loss_of(g, &m[i], 0), (size_t)objectives * sizeof *loss);
    mase_loss_order(order, loss, n, objectives);
    mase_front_ranks(rank, loss, order, n, objectives);
    for (int64_t i = 0; i < n; i++) {
        m[i].rank = rank[i];
        ranks = rank[i] >= ranks ? rank[i] + 1 : ranks;
    }
    qsort(m, (size_t)n, sizeof *m, compare_ranks);
    mase_xfree(order);
    mase_xfree(loss);
    return ranks;
}

struct along {
    double loss;
    struct mase_nsga_member *member;
};

static int compare_along(const void *a, const void *b)
{
    const struct along *x = a, *y = b;
    return x->loss != y->loss ? (x->loss > y->loss) - (x->loss < y->loss)
                              : compare_ranks(x->member, y->member);
}

/* The crowding distance of Deb, Pratap, Agarwal and Meyarivan (2002); the ends are infinitely far
 * from others. */
static void find_crowding(const struct mase_nsga *g, struct mase_nsga_member *front, int64_t n)
{
    struct along *v = mase_xcalloc((size_t)n * sizeof *v + 1);
    for (int64_t i = 0; i < n; i++)
        front[i].crowding = 0;
    for (int j = 0; j < g->base.setup.objectives; j++) {
        for (int64_t i = 0; i < n; i++)
            v[i] = (struct along){ *loss_of(g, &front[i], j), &front[i] };
        qsort(v, (size_t)n, sizeof *v, compare_along);
        const double range = v[n - 1].loss - v[0].loss;
        v[0].member->crowding = v[n - 1].member->crowding = INFINITY;
        for (int64_t i = 1; i + 1 < n && range > 0 && isfinite(range); i++)
            v[i].member->crowding += (v[i + 1].loss - v[i - 1].loss) / range;
    }
    mase_xfree(v);
}

/* The best of m (n), front by front, become the parents. */
static void select_parents(struct mase_nsga *g, struct mase_nsga_member *m, int64_t n,
                           struct mase_rng *r)
{
    const struct mase_nsga_options *o = g->base.options;
    g->parents = 0;
    for (int64_t first = 0, end; first < n && g->parents < o->population; first = end) {
        for (end = first + 1; end < n && m[end].rank == m[first].rank;)
            end++;
        const int64_t free = o->population - g->parents, held = end - first;
        find_crowding(g, m + first, held);
        if (held > free)
            g->choose(g, m + first, held, free, r);
        const int64_t kept = held < free ? held : free;
        memcpy(g->parent + g->parents, m + first, (size_t)kept * sizeof *m);
        g->parents += kept;
    }
}

/* A generation has ended: its children and their parents compete. */
static void end_generation(struct mase_nsga *g, int64_t generation)
{
    const struct mase_history *h = &g->history;
    struct mase_nsga_member *m =
        mase_xcalloc((size_t)(g->parents + h->count - g->first) * sizeof *m + 1);
    struct mase_rng r = mase_rng(g->base.setup.seed, MASE_STREAM_SAMPLE, ~(uint64_t)generation);
    int64_t n = 0, infeasible = 0;
    for (int pass = 0; pass < 2; pass++) { /* feasible ones before the others */
        for (int64_t i = -g->parents; i < h->count - g->first; i++) {
            const int64_t result = i < 0 ? g->parent[i + g->parents].result : g->first + i;
            if (h->kind[result] == (pass ? MASE_RESULT_INFEASIBLE : MASE_RESULT_COMPLETE))
                m[n++].result = (int32_t)result;
        }
        infeasible = pass ? n - infeasible : n;
    }
    const int32_t ranks = rank_feasible(g, m, n - infeasible);
    rank_infeasible(g, m + n - infeasible, infeasible, ranks);
    select_parents(g, m, n, &r);
    g->first = h->count;
    mase_xfree(m);
}

void mase_nsga_tell(struct mase_sampler *s, const struct mase_trial *t)
{
    struct mase_nsga *g = (struct mase_nsga *)s;
    const struct mase_nsga_options *o = s->options;
    (void)mase_history_add(&g->history, t);
    if ((s->told + 1) % o->population == 0)
        end_generation(g, s->told / o->population);
}

/* ---- children ---- */

static int64_t below(struct mase_rng *r, int64_t n)
{
    return (int64_t)(mase_rng_double(r) * (double)n);
}

/* The better of two parents drawn at random. */
static const double *draw_parent(const struct mase_nsga *g, struct mase_rng *r)
{
    const struct mase_nsga_member *a = &g->parent[below(r, g->parents)];
    const struct mase_nsga_member *b = &g->parent[below(r, g->parents)];
    const bool first = a->rank != b->rank ? a->rank < b->rank : a->crowding >= b->crowding;
    return g->history.x + (int64_t)(first ? a : b)->result * g->base.setup.space->count;
}

static void cross(const struct mase_nsga *g, double *x, struct mase_rng *r)
{
    const struct mase_nsga_options *o = g->base.options;
    const double *first = draw_parent(g, r), *second = draw_parent(g, r);
    const bool both = mase_rng_double(r) < o->crossover;
    for (int i = 0; i < g->base.setup.space->count; i++)
        x[i] = both && mase_rng_double(r) < o->swapping ? second[i] : first[i];
}

static void mutate(const struct mase_nsga *g, double *x, struct mase_rng *r)
{
    const struct mase_nsga_options *o = g->base.options;
    const struct mase_space *space = g->base.setup.space;
    const double often = o->mutation < 0 ? 1.0 / space->count : o->mutation;
    for (int i = 0; i < space->count; i++)
        if (mase_rng_double(r) < often || isnan(x[i]))
            x[i] = mase_dimension_draw(&space->dimension[i], r);
}

enum { TRIES = 16 };

void mase_nsga_ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                   int64_t pending_count)
{
    struct mase_nsga *g = (struct mase_nsga *)s;
    struct mase_rng r = mase_rng(s->setup.seed, MASE_STREAM_SAMPLE, (uint64_t)n);
    if (g->parents == 0) {
        for (int i = 0; i < s->setup.space->count; i++)
            x[i] = mase_dimension_draw(&s->setup.space->dimension[i], &r);
        return;
    }
    /* A child that was born before would teach nothing: it mutates until it is new. */
    cross(g, x, &r);
    for (int i = 0; i < TRIES; i++) {
        mutate(g, x, &r);
        if (!mase_history_seen(&g->history, x, pending, pending_count))
            break;
    }
}
