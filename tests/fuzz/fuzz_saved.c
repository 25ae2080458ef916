/*
 * fuzz_saved.c - any bytes as the files of a saved folder: refused with a cause, or a graph that
 * verifies and comes back equal when it is saved and loaded again.
 */
#include <stddef.h>
#include <stdint.h>

#include <mase/graph.h>
#include <mase/log.h>
#include <mase/pass.h>

#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "graph_module.mg", "node_meta_param.toml",
                                     "state_dict.safetensors", "SHA256SUMS", NULL };

static enum mase_status run(struct mase_graph **g, const char *pass, const char *key,
                            const char *dir, struct mase_err *err)
{
    struct mase_manager m = { 0 };
    struct mase_arena a = { 0 };
    struct mase_value *args = mase_value_table(&a);
    args->at = MASE_NOWHERE;
    mase_value_set(&a, args, key, mase_value_string(&a, dir));
    m.env.info_arena = &a;
    m.env.files = mase_value_list(&a);
    const enum mase_status st = mase_manager_run(&m, g, pass, args, err);
    mase_manager_release(&m);
    mase_arena_release(&a);
    return st;
}

static void must(bool holds, const char *what, const struct mase_err *err)
{
    if (!holds)
        mase_bug("%s: %s", what, err->msg);
}

static void check(struct mase_graph *g, const char *dir)
{
    struct mase_err err = { 0 };
    struct mase_str why = { 0 };
    struct mase_graph *back = mase_graph_new(NULL);
    must(!mase_graph_verify(g, &why), mase_str_text(&why), &err);
    if (run(&g, "save_mase_graph", "save_dir", dir, &err)) {
        /* what its metadata needs may be missing, or its shapes do not fit */
        must(err.msg[0], "refused without cause", &err);
    } else {
        must(!run(&back, "load_mase_graph", "load_dir", dir, &err), "it does not come back", &err);
        must(mase_graph_equal(g, back, &why), mase_str_text(&why), &err);
    }
    mase_str_release(&why);
    mase_graph_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_err err = { 0 };
    struct mase_arena a = { 0 };
    const char *dir = fuzz_folder();
    struct mase_graph *g = mase_graph_new("fuzz");
    mase_log_set_level(MASE_CRITICAL);
    fuzz_write_parts(dir, names, data, size);
    if (run(&g, "load_mase_graph", "load_dir", dir, &err))
        must(err.msg[0], "refused without cause", &err);
    else
        check(g, mase_path_join(&a, dir, "again"));
    mase_graph_free(g);
    mase_arena_release(&a);
    return 0;
}
