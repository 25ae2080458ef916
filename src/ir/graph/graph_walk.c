/*
 * graph_walk.c - breadth first along users or inputs.
 */
#include <mase/graph.h>

struct walk {
    struct mase_arena arena;
    struct mase_map seen; /* by name */
    struct mase_node **queue;
    int count, cap;
};

static void push(struct walk *w, struct mase_node *n)
{
    if (mase_map_get(&w->seen, n->name))
        return;
    mase_map_put(&w->seen, n->name, n);
    w->queue = mase_arena_grow(&w->arena, w->queue, w->count, &w->cap, sizeof *w->queue);
    w->queue[w->count++] = n;
}

static void walk(struct mase_node *start, bool forward, mase_visit_fn *visit, void *data)
{
    struct walk w = { .seen.arena = &w.arena };

    push(&w, start);
    for (int i = 0; i < w.count; i++) {
        struct mase_node *n = w.queue[i];
        enum mase_walk next = visit(n, data);
        if (next == MASE_WALK_STOP)
            break;
        if (next == MASE_WALK_PRUNE)
            continue;
        struct mase_node **near = forward ? n->users : n->inputs;
        for (int k = 0; k < (forward ? n->user_count : n->input_count); k++)
            push(&w, near[k]);
    }
    mase_arena_release(&w.arena);
}

void mase_walk_forward(struct mase_node *start, mase_visit_fn *visit, void *data)
{
    walk(start, true, visit, data);
}

void mase_walk_backward(struct mase_node *start, mase_visit_fn *visit, void *data)
{
    walk(start, false, visit, data);
}
