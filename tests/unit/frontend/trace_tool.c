/*
 * trace_tool.c - print the graph of a model: trace_tool SPEC CLASSES DIM... For tests that compare
 * with other programs.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mase/zoo.h>

int main(int argc, char **argv)
{
    struct mase_data_info data = { .name = "data" };
    struct mase_graph *g = NULL;
    struct mase_str text = { 0 };
    struct mase_err err;
    if (argc < 4 || argc - 3 > MASE_MAX_RANK)
        return 2;
    data.classes = atoi(argv[2]);
    for (int i = 3; i < argc; i++)
        data.sample.dim[data.sample.rank++] = atoi(argv[i]);
    if (mase_model_open(&g, argv[1], &data, NULL, &err)) {
        mase_err_print(stderr, &err);
        return 2;
    }
    mase_graph_print(&text, g);
    if (g->training) {
        mase_str_add(&text, "\n\nwhile training\n");
        mase_graph_print(&text, g->training);
    }
    puts(mase_str_text(&text));
    mase_str_release(&text);
    mase_graph_free(g);
    return 0;
}
