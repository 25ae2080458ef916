/*
 * save_mase_graph.c - a graph as a folder: its text, its weights, its metadata.
 *
 * The three belong together, so they are first written completely into a folder beside the old
 * ones and then renamed: a full disk or a broken run leaves the earlier save as it was. A graph
 * without weights is saved without them.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <mase/log.h>
#include <mase/safetensors.h>

#include "pass/interface/files.h"
#include "pass/support.h"

struct save_opts {
    const char *save_dir;
};

static enum mase_status write_graph(const struct mase_graph *g, struct mase_arena *scratch,
                                    const char *path, struct mase_err *err)
{
    (void)scratch;
    struct mase_str text = { 0 };
    mase_graph_print_mg(&text, g);
    enum mase_status st = mase_file_write(path, mase_str_text(&text), text.len, err);
    mase_str_release(&text);
    return st;
}

static enum mase_status write_weights(const struct mase_graph *g, struct mase_arena *scratch,
                                      const char *path, struct mase_err *err)
{
    (void)scratch;
    return g->weights ? mase_weights_save(g, path, err) : MASE_OK;
}

static enum mase_status write_meta(const struct mase_graph *g, struct mase_arena *scratch,
                                   const char *path, struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_toml_print(&text, mase_meta_table(scratch, g));
    enum mase_status st = mase_file_write(path, mase_str_text(&text), text.len, err);
    mase_str_release(&text);
    return st;
}

static const struct {
    const char *name;
    enum mase_status (*write)(const struct mase_graph *g, struct mase_arena *scratch,
                              const char *path, struct mase_err *err);
} files[] = {
    { MASE_SAVED_GRAPH, write_graph },
    { MASE_SAVED_WEIGHTS, write_weights },
    { MASE_SAVED_META, write_meta },
};

enum { FILES = sizeof files / sizeof files[0] };

static enum mase_status write_all(const struct mase_graph *g, struct mase_pass_env *env,
                                  const char *dir, struct mase_err *err)
{
    for (int i = 0; i < FILES; i++)
        MASE_TRY(
            files[i].write(g, env->scratch, mase_path_join(env->scratch, dir, files[i].name), err));
    return MASE_OK;
}

static enum mase_status move_all(struct mase_pass_env *env, const char *from, const char *to,
                                 struct mase_err *err)
{
    for (int i = 0; i < FILES; i++) {
        const char *temp = mase_path_join(env->scratch, from, files[i].name);
        const char *path = mase_path_join(env->scratch, to, files[i].name);
        if (mase_is_file(temp)) {
            if (rename(temp, path))
                return mase_fail_errno(err, path, "cannot rename");
            mase_pass_wrote(env, path);
        } else if (unlink(path) && errno != ENOENT) { /* weights of an earlier save */
            return mase_fail_errno(err, path, "cannot remove");
        }
    }
    return MASE_OK;
}

static void clean(struct mase_pass_env *env, const char *dir)
{
    for (int i = 0; i < FILES; i++)
        unlink(mase_path_join(env->scratch, dir, files[i].name));
    rmdir(dir);
}

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct save_opts *o = options;
    const char *dir = mase_pass_path(env, o->save_dir, "saved_mase_graph");
    if (!dir)
        return mase_fail(err, MASE_EVALUE, "save_dir is not given, and there is no output folder");
    const char *temp = mase_path_join(env->scratch, dir,
                                      mase_arena_printf(env->scratch, ".new.%ld", (long)getpid()));
    MASE_TRY(mase_make_dirs(temp, err));
    enum mase_status st = write_all(g, env, temp, err);
    if (!st)
        st = move_all(env, temp, dir, err);
    clean(env, temp);
    if (!st)
        mase_info("Saved mase graph to %s", dir);
    return st;
}

static const struct mase_opt opts[] = {
    MASE_OPT_PATH(struct save_opts, save_dir, "save_dir", NULL, "the folder to write"),
    { 0 },
};

const struct mase_pass mase_pass_save_mase_graph = {
    .name = "save_mase_graph",
    .help = "write the graph, its weights and its metadata to a folder",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .opts = opts,
    .opts_size = sizeof(struct save_opts),
    .analyse = run,
};
