/*
 * look.c - an outside program in C: makes a graph, and shows the sentence of an error.
 */
#include <stdio.h>

#include <mase/graph.h>
#include <mase/zoo.h>

int main(void)
{
    struct mase_err err = { 0 };
    const struct mase_model *model = NULL;
    struct mase_graph *g = mase_graph_new("outside");
    if (mase_zoo_find(&model, "jsc-tiny", &err))
        mase_err_print(stderr, &err);
    printf("%s, %s\n", g->first ? "nodes" : "no nodes", model ? model->class_name : "no model");
    mase_graph_free(g);
    return !model;
}
