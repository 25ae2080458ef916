/*
 * trace_tool.c - print the graph of a model, or compute it. For tests that compare with other
 * programs.
 *
 *     trace_tool SPEC CLASSES DIM...                         print
 *     trace_tool SPEC CLASSES DIM... -- WEIGHTS OUT X.npy... compute, by the reference: OUT0.npy
 * ...
 *
 * The dimensions of further inputs follow behind a semicolon each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/npy.h>
#include <mase/run.h>
#include <mase/weights.h>
#include <mase/zoo.h>

struct output {
    const char *prefix;
    int count;
};

static enum mase_status write_tensors(struct output *o, const struct mase_arg *v,
                                      struct mase_err *err)
{
    char path[4096];
    if (v->kind == MASE_ARG_TENSOR) {
        snprintf(path, sizeof path, "%s%d.npy", o->prefix, o->count++);
        return mase_npy_write(v->tensor, path, err);
    }
    const bool holds =
        v->kind == MASE_ARG_TUPLE || v->kind == MASE_ARG_LIST || v->kind == MASE_ARG_DICT;
    for (int i = 0; holds && i < v->count; i++)
        MASE_TRY(write_tensors(o, &v->items[i], err));
    return MASE_OK;
}

static void print(const struct mase_graph *g)
{
    struct mase_str text = { 0 };
    mase_graph_print(&text, g);
    if (g->training) {
        mase_str_add(&text, "\n\nwhile training\n");
        mase_graph_print(&text, g->training);
    }
    puts(mase_str_text(&text));
    mase_str_release(&text);
}

/* given: WEIGHTS OUT X.npy... */
static enum mase_status compute(struct mase_graph *g, char **given, int count, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_input *inputs = mase_new_array(&a, struct mase_input, (size_t)count);
    struct mase_values v;
    int n = 0;
    mase_graph_init_weights(g, 0);
    const bool has_weights = strcmp(given[0], "-") != 0;
    enum mase_status st = has_weights ? mase_weights_load(g, given[0], err) : MASE_OK;
    for (const struct mase_node *x = g->first; !st && x && n < count - 2; x = x->next) {
        if (x->kind != MASE_PLACEHOLDER)
            continue;
        inputs[n].name = x->name;
        st = mase_npy_read(&inputs[n].tensor, &a, given[2 + n], err);
        n++;
    }
    if (!st)
        st = mase_run_reference(&v, &a, g, inputs, n, err);
    if (!st)
        st = write_tensors(&(struct output){ given[1], 0 }, mase_run_output(&v, g), err);
    mase_arena_release(&a);
    return st;
}

/* Shapes of samples, up to "--"; where they end. */
static int read_shapes(struct mase_data_info *data, char **argv, int i)
{
    struct mase_shape *s = &data->sample;
    for (; argv[i] && strcmp(argv[i], "--"); i++) {
        if (!strcmp(argv[i], ";") && data->more_count < MASE_MORE_INPUTS)
            s = &data->more[data->more_count++];
        else if (s->rank < MASE_MAX_RANK)
            s->dim[s->rank++] = atoi(argv[i]);
    }
    return i;
}

int main(int argc, char **argv)
{
    struct mase_data_info data = { .name = "data" };
    struct mase_graph *g = NULL;
    struct mase_err err;
    if (argc < 3)
        return 2;
    data.classes = atoi(argv[2]);
    const int i = read_shapes(&data, argv, 3);
    enum mase_status st = mase_model_open(&g, argv[1], &data, NULL, &err);
    if (!st && argc - i > 2)
        st = compute(g, argv + i + 1, argc - i - 1, &err);
    else if (!st)
        print(g);
    if (st)
        mase_err_print(stderr, &err);
    mase_graph_free(g);
    return st ? 2 : 0;
}
