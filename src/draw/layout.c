/*
 * layout.c - layers, trunks and the course of edges; order and x are found in files of their own.
 */
#include "draw/layout.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    LAYER_GAP = 40,     /* between layers, at least */
    LAYER_SWING = 48,   /* so much more at most, where edges swing wide */
    PASSING = 10,       /* a trunk takes so much room */
    PORT_DISTANCE = 16, /* between the ends of two edges at one box */
    MOST_VERTICES = 1 << 21
};

struct job {
    struct mase_layout *l;
    struct mase_layers g;
    int *trunk;              /* (nodes) its first passing vertex; they follow layer by layer */
    double *top, *bottom;    /* (layers) */
    int *in_start, *in_edge; /* edges into a node: in_edge[in_start[n] .. in_start[n + 1]) */
};

/* ---- layers ---- */

static void longest_paths(const struct job *j)
{
    struct mase_layout *l = j->l;
    for (int n = 0; n < l->nodes; n++) {
        l->node[n].layer = 0;
        for (int i = j->in_start[n]; i < j->in_start[n + 1]; i++) {
            const int above = l->node[l->edge[j->in_edge[i]].from].layer;
            if (l->node[n].layer <= above)
                l->node[n].layer = above + 1;
        }
    }
}

/* Does the node depend on no other value: a source, or computed from sources that nothing else
 * uses? */
static bool floats(const struct job *j, int n, const bool *floating, const int *outs)
{
    for (int i = j->in_start[n]; i < j->in_start[n + 1]; i++) {
        const int from = j->l->edge[j->in_edge[i]].from;
        if (!floating[from] || outs[from] > 1)
            return false;
    }
    return true;
}

/* Nodes move down to their users where that shortens more edges than it lengthens: those with more
 * edges out than in, and what floats, as the constants do. Targets move first, so that what feeds
 * them can follow. */
static void sink_nodes(struct job *j)
{
    struct mase_layout *l = j->l;
    struct mase_arena *a = j->g.arena;
    int *first = mase_new_array(a, int, (size_t)l->nodes); /* layer of the first user; 0: none */
    int *outs = mase_new_array(a, int, (size_t)l->nodes);
    bool *floating = mase_new_array(a, bool, (size_t)l->nodes);
    for (int i = 0; i < l->edges; i++)
        outs[l->edge[i].from]++;
    for (int n = 0; n < l->nodes; n++)
        floating[n] = floats(j, n, floating, outs);
    for (int n = l->nodes - 1; n >= 0; n--) {
        const int ins = j->in_start[n + 1] - j->in_start[n];
        if (outs[n] && (outs[n] > ins || floating[n]))
            l->node[n].layer = first[n] - 1;
        for (int i = j->in_start[n]; i < j->in_start[n + 1]; i++) {
            int *above = &first[l->edge[j->in_edge[i]].from];
            if (!*above || *above > l->node[n].layer)
                *above = l->node[n].layer;
        }
    }
}

/* The edges into each node, in the order given. */
static void index_edges(struct job *j)
{
    const struct mase_layout *l = j->l;
    struct mase_arena *a = j->g.arena;
    j->in_start = mase_new_array(a, int, (size_t)l->nodes + 2);
    j->in_edge = mase_new_array(a, int, (size_t)l->edges);
    int *end = j->in_start + 1; /* grows to the start of the next */
    for (int i = 0; i < l->edges; i++)
        end[l->edge[i].to + 1]++;
    for (int n = 0; n < l->nodes; n++)
        end[n + 1] += end[n];
    for (int i = 0; i < l->edges; i++)
        j->in_edge[end[l->edge[i].to]++] = i;
}

/* ---- vertices ---- */

static int add_vertex(struct job *j, int node, int layer, double width)
{
    struct mase_vertex *v = &j->g.vertex[j->g.count];
    *v = (struct mase_vertex){ .node = node, .layer = layer, .width = width };
    j->g.size[layer]++;
    return j->g.count++;
}

/* Vertices of nodes come first, with equal indices; then the trunks. False: too many trunks, as
 * when many nodes are used much later. */
static bool make_vertices(struct job *j)
{
    struct mase_layout *l = j->l;
    struct mase_arena *a = j->g.arena;
    int *deepest = mase_new_array(a, int, (size_t)l->nodes); /* layer of the last user */
    for (int i = 0; i < l->edges; i++) {
        const int to = l->node[l->edge[i].to].layer;
        if (deepest[l->edge[i].from] < to)
            deepest[l->edge[i].from] = to;
    }
    size_t count = (size_t)l->nodes;
    for (int n = 0; n < l->nodes; n++) {
        if (j->g.layers <= l->node[n].layer)
            j->g.layers = l->node[n].layer + 1;
        if (deepest[n] > l->node[n].layer)
            count += (size_t)(deepest[n] - l->node[n].layer - 1);
    }
    if (count > MOST_VERTICES)
        return false;
    j->g.vertex = mase_new_array(a, struct mase_vertex, count);
    j->g.size = mase_new_array(a, int, (size_t)j->g.layers);
    j->trunk = mase_new_array(a, int, (size_t)l->nodes);
    for (int n = 0; n < l->nodes; n++)
        add_vertex(j, n, l->node[n].layer, l->node[n].width);
    for (int n = 0; n < l->nodes; n++) {
        j->trunk[n] = j->g.count;
        for (int layer = l->node[n].layer + 1; layer < deepest[n]; layer++)
            add_vertex(j, -1, layer, PASSING);
    }
    return true;
}

/* The vertex through which edge e comes to its target. */
static int last_before(const struct job *j, const struct mase_layout_edge *e)
{
    const int passed = j->l->node[e->to].layer - j->l->node[e->from].layer - 1;
    return passed ? j->trunk[e->from] + passed - 1 : e->from;
}

/* Every pair of neighbours, each once: along the trunks, and off them. */
static void each_link(struct job *j, void (*visit)(struct mase_vertex *up, struct mase_vertex *down,
                                                   int up_index, int down_index))
{
    struct mase_vertex *v = j->g.vertex;
    for (int n = 0; n < j->l->nodes; n++) {
        const int end = n + 1 < j->l->nodes ? j->trunk[n + 1] : j->g.count;
        for (int t = j->trunk[n]; t < end; t++) {
            const int above = t == j->trunk[n] ? n : t - 1;
            visit(&v[above], &v[t], above, t);
        }
    }
    for (int i = 0; i < j->l->edges; i++) {
        const int above = last_before(j, &j->l->edge[i]), below = j->l->edge[i].to;
        visit(&v[above], &v[below], above, below);
    }
}

static void count_link(struct mase_vertex *up, struct mase_vertex *down, int u, int d)
{
    (void)u, (void)d;
    up->downs++;
    down->ups++;
}

static void set_link(struct mase_vertex *up, struct mase_vertex *down, int u, int d)
{
    up->down[up->downs++] = d;
    down->up[down->ups++] = u;
}

static void link_vertices(struct job *j)
{
    each_link(j, count_link);
    for (int i = 0; i < j->g.count; i++) {
        struct mase_vertex *v = &j->g.vertex[i];
        v->up = mase_new_array(j->g.arena, int, (size_t)v->ups);
        v->down = mase_new_array(j->g.arena, int, (size_t)v->downs);
        v->ups = v->downs = 0;
    }
    each_link(j, set_link);
}

/* The naive order: as the nodes were given, trunks at the right. */
static void fill_layers(struct job *j)
{
    j->g.order = mase_new_array(j->g.arena, int *, (size_t)j->g.layers);
    for (int i = 0; i < j->g.layers; i++) {
        j->g.order[i] = mase_new_array(j->g.arena, int, (size_t)j->g.size[i]);
        j->g.size[i] = 0;
    }
    for (int i = 0; i < j->g.count; i++) {
        struct mase_vertex *v = &j->g.vertex[i];
        v->pos = j->g.size[v->layer]++;
        j->g.order[v->layer][v->pos] = i;
    }
}

/* ---- heights ---- */

/* How far the widest edge between layers i and i + 1 swings. */
static double widest_swing(const struct mase_layers *g, int i)
{
    double widest = 0;
    for (int k = 0; k < g->size[i]; k++) {
        const struct mase_vertex *v = &g->vertex[g->order[i][k]];
        for (int d = 0; d < v->downs; d++)
            widest = fmax(widest, fabs(g->vertex[v->down[d]].x - v->x));
    }
    return widest;
}

static void place_layers(struct job *j)
{
    struct mase_layout *l = j->l;
    double y = 0;
    j->top = mase_new_array(j->g.arena, double, (size_t)j->g.layers);
    j->bottom = mase_new_array(j->g.arena, double, (size_t)j->g.layers);
    for (int n = 0; n < l->nodes; n++) {
        double *height = &j->bottom[l->node[n].layer];
        *height = fmax(*height, l->node[n].height);
    }
    for (int i = 0; i < j->g.layers; i++) {
        j->top[i] = y;
        y = j->bottom[i] += y;
        l->height = y;
        y += round(LAYER_GAP + fmin(LAYER_SWING, widest_swing(&j->g, i) / 8));
    }
    for (int n = 0; n < l->nodes; n++) {
        struct mase_layout_node *node = &l->node[n];
        node->x = j->g.vertex[n].x;
        node->y = (j->top[node->layer] + j->bottom[node->layer]) / 2;
        l->width = fmax(l->width, node->x + node->width / 2);
    }
    for (int i = l->nodes; i < j->g.count; i++)
        l->width = fmax(l->width, j->g.vertex[i].x + PASSING / 2.0);
}

/* ---- edges ---- */

struct port {
    double from, x; /* where the edge comes from, where it ends; from the middle of the box */
    int edge;
};

static int by_origin(const void *a, const void *b)
{
    const struct port *p = a, *q = b;
    return p->from != q->from ? (p->from > q->from) - (p->from < q->from) : p->edge - q->edge;
}

/* A lone edge ends at the middle. Of several each ends below where it comes from, if the box
 * reaches that far; they keep a distance. */
static void place_ports(const struct job *j, int n, struct port *port, int count)
{
    const double limit = count > 1 ? j->l->node[n].width * 0.36 : 0;
    const double distance = count > 1 ? fmin(PORT_DISTANCE, 2 * limit / (count - 1)) : 0;
    for (int i = 0; i < count; i++) {
        const int e = j->in_edge[j->in_start[n] + i];
        const double x = j->g.vertex[last_before(j, &j->l->edge[e])].x - j->l->node[n].x;
        port[i] = (struct port){ x, fmin(fmax(x, -limit), limit), e };
    }
    qsort(port, (size_t)count, sizeof *port, by_origin);
    for (int i = 1; i < count; i++)
        port[i].x = fmax(port[i].x, port[i - 1].x + distance);
    for (int i = count - 1; i >= 0; i--)
        port[i].x = fmin(port[i].x, limit - (count - 1 - i) * distance);
}

static void add_line(struct mase_layout_edge *e, double x, double top, double bottom)
{
    e->point[e->points++] = (struct mase_layout_point){ x, top };
    e->point[e->points++] = (struct mase_layout_point){ x, bottom };
}

static void route(const struct job *j, struct mase_layout_edge *e, double end, struct mase_arena *a)
{
    const struct mase_layout_node *from = &j->l->node[e->from], *to = &j->l->node[e->to];
    const int passed = to->layer - from->layer - 1;
    e->point = mase_new_array(a, struct mase_layout_point, 2 * (size_t)passed + 4);
    e->points = 0;
    add_line(e, from->x, from->y + from->height / 2, j->bottom[from->layer]);
    for (int i = 0; i < passed; i++) {
        const int layer = from->layer + 1 + i;
        add_line(e, j->g.vertex[j->trunk[e->from] + i].x, j->top[layer], j->bottom[layer]);
    }
    add_line(e, to->x + end, j->top[to->layer], to->y - to->height / 2);
}

static void route_edges(const struct job *j, struct mase_arena *a)
{
    struct port *port = mase_new_array(j->g.arena, struct port, (size_t)j->l->edges);
    for (int n = 0; n < j->l->nodes; n++) {
        const int count = j->in_start[n + 1] - j->in_start[n];
        place_ports(j, n, port, count);
        for (int i = 0; i < count; i++)
            route(j, &j->l->edge[port[i].edge], port[i].x, a);
    }
}

static void lay_out(struct job *j, struct mase_arena *a)
{
    struct mase_layout *l = j->l;
    link_vertices(j);
    fill_layers(j);
    l->layers = j->g.layers;
    l->crossings = mase_layers_order(&j->g, &l->naive_crossings);
    mase_layers_place(&j->g);
    place_layers(j);
    route_edges(j, a);
}

bool mase_layout_run(struct mase_layout *l, struct mase_arena *a)
{
    struct mase_arena scratch = { 0 };
    struct job j = { .l = l, .g.arena = &scratch };
    l->width = l->height = 0;
    index_edges(&j);
    longest_paths(&j);
    sink_nodes(&j);
    const bool possible = make_vertices(&j);
    if (possible)
        lay_out(&j, a);
    mase_arena_release(&scratch);
    return possible;
}
