/*
 * engine.c - an outside program that calls the engine, whose headers are those of one version.
 */
#include <stdio.h>

#include <mase/graph.h>

int main(void)
{
    struct mase_graph *g = mase_graph_new("outside");
    puts(g->first ? "nodes" : "no nodes");
    mase_graph_free(g);
    return 0;
}
