/*
 * save_mase_graph.c - a graph as a folder: its text, its weights, its metadata.
 *
 * The three belong together, so they take their places together (swap.h): a full disk or a broken
 * run leaves the earlier save as it was. A process that is killed while files change places leaves
 * a mixture: their sums, which change first, tell, and it is not loaded. A folder that already
 * holds this very graph is left alone: waiting for the disk is most of the time that a small run
 * takes. A graph without weights is saved without them.
 */
#include <string.h>

#include <mase/log.h>
#include <mase/safetensors.h>

#include "base/swap.h"
#include "pass/interface/files.h"
#include "pass/support.h"

struct save_opts {
    const char *save_dir;
    const struct mase_saved_more *more; /* NULL: no additional file */
};

/* ---- the files ---- */

static void print_graph(struct mase_str *out, const struct mase_graph *g,
                        struct mase_arena *scratch)
{
    (void)scratch;
    mase_graph_print_mg(out, g);
}

static void print_meta(struct mase_str *out, const struct mase_graph *g, struct mase_arena *scratch)
{
    mase_toml_print(out, mase_meta_table(scratch, g));
}

/* Files in the order in which they are replaced. */
struct part {
    const char *name;
    /* NULL: sums and weights, which the graph's text does not determine */
    void (*print)(struct mase_str *out, const struct mase_graph *g, struct mase_arena *scratch);
};
static const struct part parts[] = {
    { MASE_SAVED_SUMS, NULL },
    { MASE_SAVED_GRAPH, print_graph },
    { MASE_SAVED_WEIGHTS, NULL },
    { MASE_SAVED_META, print_meta },
};

enum { SUMS, FIRST, PARTS = sizeof parts / sizeof parts[0] };

static enum mase_status write_part(const struct part *part, const struct mase_graph *g,
                                   struct mase_arena *scratch, const char *path,
                                   struct mase_err *err)
{
    if (!part->print)
        return g->weights ? mase_weights_save(g, path, err) : MASE_OK;
    struct mase_str text = { 0 };
    part->print(&text, g, scratch);
    enum mase_status st = mase_file_write(path, mase_str_text(&text), text.len, err);
    mase_str_release(&text);
    return st;
}

static enum mase_status write_sums(const char *dir, struct mase_arena *scratch,
                                   struct mase_err *err)
{
    struct mase_str text = { 0 };
    enum mase_status st = mase_saved_sums(&text, dir, err);
    if (!st)
        st = mase_file_write(mase_path_join(scratch, dir, MASE_SAVED_SUMS), mase_str_text(&text),
                             text.len, err);
    mase_str_release(&text);
    return st;
}

/* ---- is the folder up to date? ---- */

struct comparison {
    const struct mase_safetensors *file;
    int count;
    bool same;
};

static bool compare_param(const char *full, struct mase_param *p, void *data)
{
    struct comparison *c = data;
    const struct mase_tensor *t = NULL;
    for (int i = 0; i < c->file->count && !t; i++)
        if (mase_streq(c->file->items[i].name, full))
            t = &c->file->items[i].tensor;
    c->count++;
    c->same = t && p->tensor.data && t->dtype == p->tensor.dtype &&
              mase_shape_equal(&t->shape, &p->tensor.shape) &&
              memcmp(t->data, p->tensor.data, (size_t)mase_tensor_bytes(t)) == 0;
    return c->same;
}

static bool holds_weights(const char *path, const struct mase_graph *g)
{
    struct mase_safetensors file;
    if (!g->weights)
        return !mase_is_file(path);
    if (mase_safetensors_open(&file, path, NULL))
        return false;
    struct comparison c = { .file = &file, .same = true };
    mase_graph_each_param(g, compare_param, &c);
    bool same = c.same && c.count == file.count;
    mase_safetensors_close(&file);
    return same;
}

static bool holds_part(const char *path, const struct part *part, const struct mase_graph *g,
                       struct mase_arena *scratch)
{
    struct mase_file file;
    if (!part->print)
        return holds_weights(path, g);
    if (mase_file_open(&file, path, NULL))
        return false;
    struct mase_str text = { 0 };
    part->print(&text, g, scratch);
    bool same = file.size == text.len && memcmp(file.data, mase_str_text(&text), text.len) == 0;
    mase_str_release(&text);
    mase_file_close(&file);
    return same;
}

static bool is_saved(const char *dir, const struct mase_graph *g, struct mase_arena *scratch)
{
    for (int i = FIRST; i < PARTS; i++)
        if (!holds_part(mase_path_join(scratch, dir, parts[i].name), &parts[i], g, scratch))
            return false;
    return mase_is_file(mase_path_join(scratch, dir, MASE_SAVED_SUMS)) &&
           mase_saved_check(dir, NULL) == MASE_OK;
}

/* ---- save ---- */

static enum mase_status write_parts(const struct mase_swap *s, const struct mase_graph *g,
                                    struct mase_arena *a, const struct mase_saved_more *more,
                                    struct mase_err *err)
{
    for (int i = 0; i < PARTS; i++)
        if (i != SUMS)
            MASE_TRY(write_part(&parts[i], g, a, mase_swap_next(s, i), err));
    MASE_TRY(write_sums(mase_swap_folder(s), a, err));
    if (!more || !more->text)
        return MASE_OK;
    MASE_TRY(mase_file_write(mase_swap_next(s, PARTS), more->text, strlen(more->text), err));
    return mase_saved_add(mase_swap_folder(s), more->name, err);
}

static enum mase_status save(const struct mase_graph *g, struct mase_arena *a, const char *dir,
                             const struct mase_saved_more *more, struct mase_err *err)
{
    const char *names[PARTS + 1];
    for (int i = 0; i < PARTS; i++)
        names[i] = parts[i].name;
    names[PARTS] = more ? more->name : NULL;
    struct mase_swap *s = mase_swap_new(a, dir, names, more ? PARTS + 1 : PARTS);
    enum mase_status st = mase_swap_begin(s, err);
    if (!st)
        st = write_parts(s, g, a, more, err);
    if (!st)
        st = mase_swap_commit(s, err);
    mase_swap_free(s);
    return st;
}

static bool holds_more(const char *dir, const struct mase_saved_more *more, struct mase_arena *a)
{
    struct mase_file file;
    const char *path = mase_path_join(a, dir, more->name);
    if (!more->text)
        return !mase_is_file(path);
    if (mase_file_open(&file, path, NULL))
        return false;
    const bool same =
        file.size == strlen(more->text) && memcmp(file.data, more->text, file.size) == 0;
    mase_file_close(&file);
    return same;
}

static enum mase_status save_with(const struct mase_graph *g, const char *dir,
                                  const struct mase_saved_more *more, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const bool there = is_saved(dir, g, &a) && (!more || holds_more(dir, more, &a));
    const enum mase_status st = there ? MASE_OK : save(g, &a, dir, more, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_graph_save(const struct mase_graph *g, const char *dir, struct mase_err *err)
{
    return save_with(g, dir, NULL, err);
}

/* ---- the pass ---- */

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct save_opts *o = options;
    const char *dir = mase_pass_path(env, o->save_dir, "saved_mase_graph");
    if (!dir)
        return mase_fail(err, MASE_EVALUE, "save_dir is not given, and there is no output folder");
    MASE_TRY(save_with(g, dir, o->more, err));
    for (int i = 0; i < PARTS; i++) {
        const char *path = mase_path_join(env->scratch, dir, parts[i].name);
        if (mase_is_file(path))
            mase_pass_wrote(env, path);
    }
    mase_info("Saved mase graph to %s", dir);
    return MASE_OK;
}

static const struct mase_opt opts[] = {
    MASE_OPT_PATH(struct save_opts, save_dir, "save_dir", NULL, "the folder to write"),
    { 0 },
};

const struct mase_pass mase_pass_save_mase_graph = {
    .name = "save_mase_graph",
    .help = "write the graph, its weights and its metadata to a folder",
    .needs = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = opts,
    .opts_size = sizeof(struct save_opts),
    .analyse = run,
};

enum mase_status mase_manager_save(struct mase_manager *m, struct mase_graph **g, const char *dir,
                                   struct mase_err *err)
{
    return mase_manager_save_with(m, g, dir, NULL, err);
}

enum mase_status mase_manager_save_with(struct mase_manager *m, struct mase_graph **g,
                                        const char *dir, const struct mase_saved_more *more,
                                        struct mase_err *err)
{
    const struct save_opts o = { dir, more };
    const struct mase_pass_run run = { .pass = &mase_pass_save_mase_graph,
                                       .opts = &o,
                                       .at = MASE_NOWHERE };
    return mase_manager_run_bound(m, g, &run, err);
}
