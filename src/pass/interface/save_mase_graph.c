/*
 * save_mase_graph.c - a graph as a folder: its text, its weights, its metadata.
 *
 * The three belong together, so they are first written completely into a folder beside the old
 * ones, then change places with them; when one cannot, all change back. A full disk or a broken
 * run leaves the earlier save as it was. A graph without weights is saved without them.
 */
#include <stdio.h>
#include <unistd.h>

#include <mase/log.h>
#include <mase/safetensors.h>

#include "base/fault.h"
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

/* One file of the folder: where it stands, the new one, where the old one waits. */
struct change {
    const char *now, *next, *last;
    bool out, in; /* the old one is gone from its place; the new one is there */
};

static bool change_place(struct change *c)
{
    if (mase_is_file(c->now)) {
        if (mase_sys_rename(c->now, c->last))
            return false;
        c->out = true;
    }
    if (mase_is_file(c->next)) {
        if (mase_sys_rename(c->next, c->now))
            return false;
        c->in = true;
    }
    return true;
}

static void change_back(const struct change *c)
{
    if (c->in)
        (void)mase_sys_rename(c->now, c->next);
    if (c->out)
        (void)mase_sys_rename(c->last, c->now);
}

static enum mase_status change_all(struct change *changes, struct mase_pass_env *env,
                                   struct mase_err *err)
{
    for (int i = 0; i < FILES; i++) {
        if (change_place(&changes[i]))
            continue;
        mase_fail_errno(err, changes[i].now, "cannot replace");
        for (int k = i; k >= 0; k--)
            change_back(&changes[k]);
        return MASE_EIO;
    }
    for (int i = 0; i < FILES; i++)
        if (changes[i].in)
            mase_pass_wrote(env, changes[i].now);
    return MASE_OK;
}

static enum mase_status save(const struct mase_graph *g, struct mase_pass_env *env, const char *dir,
                             const char *temp, struct mase_err *err)
{
    struct mase_arena *a = env->scratch;
    struct change changes[FILES] = { 0 };
    enum mase_status st = mase_make_dirs(temp, err);
    for (int i = 0; i < FILES; i++) {
        changes[i].now = mase_path_join(a, dir, files[i].name);
        changes[i].next = mase_path_join(a, temp, files[i].name);
        changes[i].last = mase_arena_printf(a, "%s.last", changes[i].next);
    }
    for (int i = 0; i < FILES && !st; i++)
        st = files[i].write(g, a, changes[i].next, err);
    if (!st)
        st = change_all(changes, env, err);
    for (int i = 0; i < FILES; i++) {
        unlink(changes[i].next);
        unlink(changes[i].last);
    }
    rmdir(temp);
    return st;
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
    enum mase_status st = save(g, env, dir, temp, err);
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
