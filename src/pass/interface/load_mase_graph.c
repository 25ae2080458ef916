/*
 * load_mase_graph.c - a graph from the folder that save_mase_graph wrote.
 *
 * The graph is replaced by the saved one: nodes, quantised layers, weights and metadata. Files that
 * were not saved together are refused.
 */
#include <string.h>

#include <mase/safetensors.h>

#include "pass/interface/files.h"
#include "pass/support.h"

struct load_opts {
    const char *load_dir;
};

/* The folder of a path, which may be a file in it. */
static const char *folder_of(struct mase_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (mase_is_dir(path))
        return path;
    return slash ? mase_arena_strndup(a, path, (size_t)(slash - path) + 1) : ".";
}

static enum mase_status fill(struct mase_graph *g, struct mase_arena *scratch, const char *dir,
                             struct mase_err *err)
{
    const char *weights = mase_path_join(scratch, dir, MASE_SAVED_WEIGHTS);
    const char *meta = mase_path_join(scratch, dir, MASE_SAVED_META);
    struct mase_value *table;
    if (mase_is_file(weights))
        MASE_TRY(mase_weights_load(g, weights, err));
    MASE_TRY(mase_toml_read(&table, scratch, meta, err));
    mase_value_resolve_na(table);
    return mase_meta_read(g, table, err);
}

static enum mase_status load(struct mase_graph **g, struct mase_arena *scratch, const char *dir,
                             struct mase_err *err)
{
    MASE_TRY(mase_saved_check(dir, err));
    MASE_TRY(mase_graph_read_mg(g, mase_path_join(scratch, dir, MASE_SAVED_GRAPH), err));
    return fill(*g, scratch, dir, err);
}

enum mase_status mase_graph_load(struct mase_graph **g, const char *path, const char *name,
                                 struct mase_err *err)
{
    struct mase_arena scratch = { 0 };
    struct mase_graph *loaded = NULL;
    const enum mase_status st = load(&loaded, &scratch, folder_of(&scratch, path), err);
    mase_arena_release(&scratch);
    if (st) {
        mase_graph_free(loaded);
        return st;
    }
    if (!loaded->name && name)
        loaded->name = mase_intern(&loaded->intern, name);
    *g = loaded;
    return MASE_OK;
}

static enum mase_status run(struct mase_graph **g, const void *options, struct mase_pass_env *env,
                            struct mase_err *err)
{
    const struct load_opts *o = options;
    (void)env;
    return mase_graph_load(g, o->load_dir, (*g)->name, err);
}

static const struct mase_opt opts[] = {
    { .key = "load_dir",
      .type = MASE_OPT_TYPE_PATH,
      .offset = offsetof(struct load_opts, load_dir),
      .required = true,
      .help = "the folder that save_mase_graph wrote, or a file in it" },
    { 0 },
};

const struct mase_pass mase_pass_load_mase_graph = {
    .name = "load_mase_graph",
    .help = "replace the graph by a saved one: nodes, weights and metadata",
    .opts = opts,
    .opts_size = sizeof(struct load_opts),
    .transform = run,
};
