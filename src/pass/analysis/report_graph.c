/*
 * report_graph.c - the graph as text, how many nodes of each kind, and its layers.
 */
#include "pass/support.h"

struct report_opts {
    const char *file_name;
};

static void add_counts(struct mase_str *out, const struct mase_graph *g)
{
    int count[MASE_NODE_KIND_COUNT] = { 0 };
    for (const struct mase_node *n = g->first; n; n = n->next)
        count[n->kind]++;
    for (int i = 0; i < MASE_NODE_KIND_COUNT; i++)
        mase_str_printf(out, "%s'%s': %d", i ? ", " : "{", mase_node_kind_names[i], count[i]);
    mase_str_add(out, "}");
}

static void add_layers(struct mase_str *out, const struct mase_graph *g)
{
    const char *between = "";
    mase_str_add(out, "[");
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_module *m = mase_node_module(n);
        if (!m)
            continue;
        mase_str_add(out, between);
        mase_module_repr(out, m);
        between = ", ";
    }
    mase_str_add(out, "]");
}

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct report_opts *o = options;
    struct mase_str text = { 0 };
    mase_graph_print(&text, g);
    mase_str_add(&text, "\nNetwork overview:\n");
    add_counts(&text, g);
    mase_str_add(&text, "\nLayer types:\n");
    add_layers(&text, g);
    if (!o->file_name)
        mase_pass_print(env, &text);
    const char *path = mase_pass_path(env, o->file_name, "report_graph.txt");
    enum mase_status st = path ? mase_pass_write(env, path, &text, err) : MASE_OK;
    mase_str_release(&text);
    return st;
}

static const struct mase_opt opts[] = {
    MASE_OPT_PATH(struct report_opts, file_name, "file_name", NULL,
                  "write here instead of to the screen"),
    { 0 },
};

const struct mase_pass mase_pass_report_graph = {
    .name = "report_graph",
    .help = "print the graph, its node counts and its layers",
    .opts = opts,
    .opts_size = sizeof(struct report_opts),
    .analyse = run,
};
