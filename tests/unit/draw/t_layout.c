/*
 * t_layout.c - the layout of graphs: what holds for every graph, and how some of them must look.
 */
#include "../base/check.h"
#include "run_cases.h"

#include <math.h>

#include "draw/layout.h"

/* A graph being built, with room for the tests' largest. */
struct graph {
    struct mase_arena arena;
    struct mase_layout l;
    struct mase_layout_node node[3000];
    struct mase_layout_edge edge[9000];
};

static struct graph *graph_new(void)
{
    struct graph *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->l.node = g->node;
    g->l.edge = g->edge;
    return g;
}

static void graph_free(struct graph *g)
{
    mase_arena_release(&g->arena);
    free(g);
}

static int add_node(struct graph *g, double width, double height)
{
    assert_true(g->l.nodes < COUNT(g->node));
    g->node[g->l.nodes] = (struct mase_layout_node){ .width = width, .height = height };
    return g->l.nodes++;
}

static void add_edge(struct graph *g, int from, int to)
{
    assert_true(g->l.edges < COUNT(g->edge));
    g->edge[g->l.edges++] = (struct mase_layout_edge){ .from = from, .to = to };
}

/* A node after those given; -1 ends them. */
static int node_after(struct graph *g, int a, int b)
{
    const int n = add_node(g, 80 + g->l.nodes * 7 % 50, 40 + g->l.nodes % 3 * 15);
    if (a >= 0)
        add_edge(g, a, n);
    if (b >= 0)
        add_edge(g, b, n);
    return n;
}

static int chain(struct graph *g, int after, int count)
{
    for (int i = 0; i < count; i++)
        after = node_after(g, after, -1);
    return after;
}

/* ---- what must hold ---- */

static double top(const struct mase_layout_node *n)
{
    return n->y - n->height / 2;
}
static double bottom(const struct mase_layout_node *n)
{
    return n->y + n->height / 2;
}
static double left(const struct mase_layout_node *n)
{
    return n->x - n->width / 2;
}
static double right(const struct mase_layout_node *n)
{
    return n->x + n->width / 2;
}

static const double slack = 1e-6, near = 8; /* the least distance of a line from a box */

/* Boxes lie in the picture and apart. */
static void check_boxes(const struct mase_layout *l)
{
    for (int i = 0; i < l->nodes; i++) {
        const struct mase_layout_node *a = &l->node[i];
        assert_true(left(a) >= -slack && right(a) <= l->width + slack);
        assert_true(top(a) >= -slack && bottom(a) <= l->height + slack);
        for (int k = i + 1; k < l->nodes; k++) {
            const struct mase_layout_node *b = &l->node[k];
            const double dx = fabs(a->x - b->x) - (a->width + b->width) / 2;
            const double dy = fabs(a->y - b->y) - (a->height + b->height) / 2;
            assert_true(a->layer == b->layer ? dx >= 20 - slack : dy >= 20 - slack);
        }
    }
}

/* A vertical line keeps away from boxes that are not its own. */
static void check_line(const struct mase_layout *l, const struct mase_layout_edge *e, int p)
{
    const struct mase_layout_point *from = &e->point[p], *to = &e->point[p + 1];
    assert_true(fabs(from->x - to->x) < slack && from->y <= to->y + slack);
    for (int i = 0; i < l->nodes; i++) {
        const struct mase_layout_node *n = &l->node[i];
        if (i != e->from && i != e->to && from->y < bottom(n) && to->y > top(n))
            assert_true(from->x < left(n) - near || from->x > right(n) + near);
    }
}

/* A swing stays between two layers. */
static void check_swing(const struct mase_layout *l, const struct mase_layout_edge *e, int p)
{
    const struct mase_layout_point *from = &e->point[p], *to = &e->point[p + 1];
    assert_true(from->y + near < to->y);
    for (int i = 0; i < l->nodes; i++)
        assert_true(bottom(&l->node[i]) <= from->y + slack || top(&l->node[i]) >= to->y - slack);
}

static void check_edge(const struct mase_layout *l, const struct mase_layout_edge *e)
{
    const struct mase_layout_node *from = &l->node[e->from], *to = &l->node[e->to];
    const struct mase_layout_point *end = &e->point[e->points - 1];
    assert_true(from->layer < to->layer);
    assert_int_equal(e->points, 2 * (to->layer - from->layer + 1));
    assert_true(fabs(e->point[0].x - from->x) < slack && e->point[0].y == bottom(from));
    assert_true(end->x > left(to) + 5 && end->x < right(to) - 5 && end->y == top(to));
    for (int p = 0; p < e->points; p += 2)
        check_line(l, e, p);
    for (int p = 1; p + 1 < e->points; p += 2)
        check_swing(l, e, p);
}

/* No two edges end at one point. */
static void check_ends(const struct mase_layout *l)
{
    for (int i = 0; i < l->edges; i++)
        for (int k = i + 1; k < l->edges; k++)
            if (l->edge[i].to == l->edge[k].to)
                assert_true(fabs(l->edge[i].point[l->edge[i].points - 1].x -
                                 l->edge[k].point[l->edge[k].points - 1].x) > 1);
}

static void check(struct graph *g)
{
    struct mase_layout *l = &g->l;
    mase_layout_run(l, &g->arena);
    check_boxes(l);
    for (int i = 0; i < l->edges; i++)
        check_edge(l, &l->edge[i]);
    check_ends(l);
    assert_true(l->crossings <= l->naive_crossings);
}

/* ---- graphs ---- */

static void a_chain_is_straight(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    chain(g, -1, 40);
    check(g);
    assert_int_equal(g->l.layers, 40);
    for (int i = 1; i < 40; i++)
        assert_true(fabs(g->node[i].x - g->node[0].x) < slack);
    graph_free(g);
}

static void nothing_and_one_node_are_graphs(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    check(g);
    assert_true(g->l.width == 0 && g->l.height == 0);
    add_node(g, 100, 40);
    check(g);
    assert_true(g->l.width == 100 && g->l.height == 40);
    graph_free(g);
}

/* As resnet18: eight blocks of five nodes with a way around, some with two nodes on it. */
static void a_residual_network_has_a_straight_spine(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    int spine[100], count = 0, at = chain(g, -1, 5);
    for (int i = 0; i <= at; i++)
        spine[count++] = i;
    for (int block = 0; block < 8; block++) {
        const int first = g->l.nodes, last = chain(g, at, 5);
        for (int i = first; i <= last; i++)
            spine[count++] = i;
        const int around = block % 2 && block > 1 ? chain(g, at, 2) : at;
        at = spine[count++] = node_after(g, last, around);
    }
    check(g);
    for (int i = 1; i < count; i++)
        assert_true(fabs(g->node[spine[i]].x - g->node[0].x) < slack);
    assert_int_equal(g->l.crossings, 0);
    graph_free(g);
}

/* One after another, layer by layer, the same length: neither branch is the spine. */
static void equal_branches_are_symmetric(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    const int head = add_node(g, 100, 40), a = add_node(g, 100, 40), b = add_node(g, 100, 40);
    const int tail = add_node(g, 100, 40);
    add_edge(g, head, a);
    add_edge(g, head, b);
    add_edge(g, a, tail);
    add_edge(g, b, tail);
    check(g);
    assert_true(fabs(g->node[head].x - (g->node[a].x + g->node[b].x) / 2) < slack);
    assert_true(fabs(g->node[tail].x - g->node[head].x) < slack);
    graph_free(g);
}

static void a_constant_stands_above_its_user(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    const int constant = node_after(g, -1, -1), shaped = node_after(g, constant, -1);
    const int end = chain(g, -1, 10), user = node_after(g, end, shaped);
    check(g);
    assert_int_equal(g->node[shaped].layer, g->node[user].layer - 1);
    assert_int_equal(g->node[constant].layer, g->node[user].layer - 2);
    graph_free(g);
}

/* All that uses a node turns off one line. */
static void edges_of_a_node_share_a_trunk(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    const int head = node_after(g, -1, -1);
    int at = node_after(g, head, -1);
    for (int i = 0; i < 20; i++)
        at = node_after(g, at, head);
    check(g);
    const struct mase_layout_edge *longest = &g->edge[g->l.edges - 1];
    assert_int_equal(longest->from, head);
    for (int i = 0; i < g->l.edges; i++)
        for (int p = 0; g->edge[i].from == head && p < g->edge[i].points - 2; p++)
            assert_memory_equal(&g->edge[i].point[p], &longest->point[p], sizeof longest->point[p]);
    assert_int_equal(g->l.crossings, 0);
    graph_free(g);
}

/* As many heads as feet, each head with the foot opposite: all cross until they are turned. */
static void needless_crossings_go(void **state)
{
    (void)state;
    enum { PAIRS = 8 };
    struct graph *g = graph_new();
    for (int i = 0; i < 2 * PAIRS; i++)
        add_node(g, 60, 30);
    for (int i = 0; i < PAIRS; i++)
        add_edge(g, i, 2 * PAIRS - 1 - i);
    check(g);
    assert_int_equal(g->l.naive_crossings, PAIRS * (PAIRS - 1) / 2);
    assert_int_equal(g->l.crossings, 0);
    graph_free(g);
}

/* Every head with every foot: so many must cross, however they stand. */
static void needed_crossings_are_counted(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    for (int i = 0; i < 7; i++)
        add_node(g, 60, 30);
    for (int i = 0; i < 3; i++)
        for (int k = 3; k < 7; k++)
            add_edge(g, i, k);
    check(g);
    assert_int_equal(g->l.naive_crossings, 3 * 6);
    assert_int_equal(g->l.crossings, 3 * 6);
    graph_free(g);
}

static uint32_t draw_number(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Every later node may use any earlier one; some use none and stand alone. */
static struct graph *random_graph(uint32_t seed)
{
    struct graph *g = graph_new();
    const int nodes = 1 + (int)(draw_number(&seed) % 60);
    const int window = 1 + (int)(draw_number(&seed) % 30);
    for (int n = 0; n < nodes; n++) {
        add_node(g, 40 + draw_number(&seed) % 200, 20 + draw_number(&seed) % 60);
        for (int i = 1; i <= window && i <= n; i++)
            if (draw_number(&seed) % (uint32_t)(window + 3) < 2)
                add_edge(g, n - i, n);
    }
    return g;
}

/* How many bends the edges have where they pass layers: a trunk may go aside at its ends only. */
static int bends_within(const struct mase_layout *l)
{
    int bends = 0;
    for (int i = 0; i < l->edges; i++)
        for (int p = 3; p + 3 < l->edge[i].points; p += 2)
            bends += fabs(l->edge[i].point[p].x - l->edge[i].point[p + 1].x) > slack;
    return bends;
}

static void rules_hold_for_any_graph(void **state)
{
    (void)state;
    int64_t crossings = 0, naive = 0, bends = 0;
    for (uint32_t seed = 0; seed < 150; seed++) {
        struct graph *g = random_graph(seed);
        check(g);
        crossings += g->l.crossings;
        naive += g->l.naive_crossings;
        bends += bends_within(&g->l);
        graph_free(g);
    }
    /* 2861 of 13101 crossings are left, and 28 bends. Without the swapping of neighbours 3276 would
     * be; if links that cross trunks were straightened, too, 201. */
    assert_in_range(crossings, 1, naive * 23 / 100);
    assert_in_range(bends, 0, 60);
}

static void the_same_graph_lies_the_same_way(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 10; seed++) {
        struct graph *a = random_graph(seed), *b = random_graph(seed);
        mase_layout_run(&a->l, &a->arena);
        mase_layout_run(&b->l, &b->arena);
        mase_layout_run(&b->l, &b->arena); /* nor does a second run depend on the first */
        assert_memory_equal(a->node, b->node, sizeof a->node);
        for (int i = 0; i < a->l.edges; i++)
            assert_memory_equal(a->edge[i].point, b->edge[i].point,
                                (size_t)a->edge[i].points * sizeof *a->edge[i].point);
        graph_free(a);
        graph_free(b);
    }
}

/* 2,500 nodes, and each tenth uses the first: long trunks must not cost the square. */
static void large_graphs_are_quick(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    int at = node_after(g, -1, -1);
    for (int i = 0; i < 2500; i++)
        at = node_after(g, at, i % 10 == 9 ? 0 : i % 7 == 6 ? at - 5 : -1);
    mase_layout_run(&g->l, &g->arena);
    assert_int_equal(g->l.layers, 2501);
    assert_true(g->l.crossings <= g->l.naive_crossings);
    graph_free(g);
}

/* 3,000 nodes, the first half used by the second in reverse: over two million places where lines
 * pass a layer. */
static void too_many_lines_are_refused(void **state)
{
    (void)state;
    struct graph *g = graph_new();
    int at = node_after(g, -1, -1);
    for (int i = 1; i < 3000; i++)
        at = node_after(g, at, i < 1500 ? -1 : 3000 - i);
    assert_false(mase_layout_run(&g->l, &g->arena));
    graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_straight),
        cmocka_unit_test(nothing_and_one_node_are_graphs),
        cmocka_unit_test(a_residual_network_has_a_straight_spine),
        cmocka_unit_test(equal_branches_are_symmetric),
        cmocka_unit_test(a_constant_stands_above_its_user),
        cmocka_unit_test(edges_of_a_node_share_a_trunk),
        cmocka_unit_test(needless_crossings_go),
        cmocka_unit_test(needed_crossings_are_counted),
        cmocka_unit_test(rules_hold_for_any_graph),
        cmocka_unit_test(the_same_graph_lies_the_same_way),
        cmocka_unit_test(large_graphs_are_quick),
        cmocka_unit_test(too_many_lines_are_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
