/*
 * files.c - networks of programs to files and back.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/emit.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/onnx.h>
#include <mase/work.h>

#include "base/swap.h"

/* ---- folders ---- */

struct save {
    struct mase_net *net;
    const char *dir;
};

/* On a clone, which gets the metadata that are missing. */
static enum mase_status save_graph(struct mase_graph **g, const struct save *s,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_inputs in = { 0 };
    enum mase_status st = mase_net_inputs(&in, &a, s->net, err);
    struct mase_manager m = { .env = { .inputs = in.item, .input_count = in.count } };
    if (!st)
        st = mase_work_save(&m, g, s->dir, &s->net->trained, err);
    mase_manager_release(&m);
    mase_arena_release(&a);
    return st;
}

static enum mase_status save(void *data, struct mase_err *err)
{
    const struct save *s = data;
    MASE_TRY(mase_net_need_output(s->net, err));
    struct mase_graph *g = mase_graph_clone(s->net->graph);
    const enum mase_status st = save_graph(&g, s, err);
    mase_graph_free(g);
    return st;
}

enum mase_status mase_net_save(struct mase_net *net, const char *dir, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(dir, err);
    MASE_TRY(mase_api_text(dir, "dir", err));
    return mase_api_run(net->session, save, &(struct save){ net, dir }, err);
}

/* ---- single files ---- */

struct write_opts {
    const char *dialect, *name;
    bool unrolled, codes;
};

static const char *const dialects[] = { "any", "qdq", "qonnx", NULL };

static const struct mase_opt write_rows[] = {
    MASE_OPT_CHOICE(struct write_opts, dialect, "dialect", "any", dialects,
                    "of ONNX: how roundings are written"),
    MASE_OPT_TEXT(struct write_opts, name, "name", NULL, "of C: what its functions are called"),
    MASE_OPT_BOOL(struct write_opts, unrolled, "unrolled", false,
                  "of C: weights stand in the code"),
    MASE_OPT_BOOL(struct write_opts, codes, "codes", false, "of C: takes and gives integer codes"),
    { 0 },
};

struct write {
    struct mase_net *net;
    const char *path, *options;
};

static enum mase_status write_text(const struct write *w, const char *what, struct mase_err *err)
{
    struct mase_str s = { 0 };
    enum mase_status st = mase_net_describe(&s, w->net, what, err);
    if (!st)
        st = mase_file_write(w->path, mase_str_text(&s), s.len, err);
    mase_str_release(&s);
    return st;
}

static enum mase_status write_onnx(const struct write *w, const struct write_opts *o,
                                   struct mase_arena *a, struct mase_err *err)
{
    struct mase_inputs in;
    struct mase_str bytes = { 0 };
    struct mase_onnx_written how = { .dialect = mase_streq(o->dialect, "qdq")     ? MASE_ONNX_QDQ
                                                : mase_streq(o->dialect, "qonnx") ? MASE_ONNX_QONNX
                                                                                  : MASE_ONNX_ANY };
    MASE_TRY(mase_net_need_values(w->net, err));
    MASE_TRY(mase_net_inputs(&in, a, w->net, err));
    enum mase_status st = mase_onnx_export(&bytes, w->net->graph, in.item, in.count, &how, err);
    if (!st && how.why.status)
        mase_info("%s is in QONNX: %s", w->path, how.why.msg);
    if (!st)
        st = mase_file_write(w->path, mase_str_text(&bytes), bytes.len, err);
    mase_str_release(&bytes);
    return st;
}

/* All files or none. */
static enum mase_status write_files(const char *dir, const struct mase_emitted *e,
                                    struct mase_arena *a, struct mase_err *err)
{
    const char *names[MASE_EMITTED_FILES];
    for (int i = 0; i < e->files; i++)
        names[i] = e->file[i].name;
    struct mase_swap *s = mase_swap_new(a, dir, names, e->files);
    enum mase_status st = mase_swap_begin(s, err);
    for (int i = 0; !st && i < e->files; i++)
        st = mase_file_write(mase_swap_next(s, i), mase_str_text(&e->file[i].text),
                             e->file[i].text.len, err);
    if (!st)
        st = mase_swap_commit(s, err);
    mase_swap_free(s);
    return st;
}

/* Options that the target has. */
static struct mase_value *target_options(const struct mase_target *t, const struct write_opts *o,
                                         struct mase_arena *a)
{
    struct mase_value *v = mase_value_table(a);
    for (const struct mase_opt *row = t->rows; row->key; row++) {
        if (mase_streq(row->key, "codes"))
            mase_value_set(a, v, row->key, mase_value_bool(a, o->codes));
        if (mase_streq(row->key, "style") && o->unrolled)
            mase_value_set(a, v, row->key, mase_value_string(a, "unrolled"));
    }
    return v;
}

/* It stands in the source, as the name of the header. */
static enum mase_status check_stem(const char *stem, const char *path, struct mase_err *err)
{
    for (const char *c = stem; *c; c++)
        if ((unsigned char)*c < ' ' || strchr("\"\\", *c))
            return mase_fail_in(err, MASE_EVALUE, path,
                                "C cannot include a header of such a name: quotes, backslashes "
                                "and control characters");
    return MASE_OK;
}

static enum mase_status write_target(const struct write *w, const struct mase_target *t,
                                     const struct write_opts *o, struct mase_arena *a,
                                     struct mase_err *err)
{
    struct mase_inputs in;
    struct mase_emitted e = { 0 };
    const char *slash = strrchr(w->path, '/'), *file = slash ? slash + 1 : w->path;
    const char *stem = mase_arena_strndup(a, file, strlen(file) - strlen(t->ends));
    const char *dir = slash ? mase_arena_strndup(a, w->path, (size_t)(slash - w->path)) : ".";
    MASE_TRY(check_stem(stem, w->path, err));
    MASE_TRY(mase_api_text(o->name, "name", err));
    MASE_TRY(mase_net_need_values(w->net, err));
    MASE_TRY(mase_net_inputs(&in, a, w->net, err));
    const struct mase_emit_opts opts = { .name = o->name ? o->name : w->net->graph->name,
                                         .file = stem,
                                         .options = target_options(t, o, a) };
    enum mase_status st = mase_emit(&e, t, w->net->graph, in.item, in.count, &opts, err);
    if (!st)
        st = write_files(dir[0] ? dir : "/", &e, a, err);
    mase_emitted_release(&e);
    return st;
}

static enum mase_status write_kind(const struct write *w, struct mase_arena *a,
                                   struct mase_err *err)
{
    static const char *const kinds[] = { "mg", "py", "svg", "dot" };
    struct mase_value *given;
    struct write_opts o;
    MASE_TRY(mase_api_options(&given, a, w->options, err));
    MASE_TRY(mase_opts_bind(&o, sizeof o, write_rows, given, a, err));
    if (mase_ends_with(w->path, ".onnx"))
        return write_onnx(w, &o, a, err);
    const struct mase_target *target = mase_target_of_path(w->path);
    if (target)
        return write_target(w, target, &o, a, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mase_ends_with(w->path, mase_arena_printf(a, ".%s", kinds[i])))
            return write_text(w, kinds[i], err);
    if (mase_tensors_can_write(w->path))
        return mase_weights_save(w->net->graph, w->path, err);
    return mase_fail_in(err, MASE_EVALUE, w->path,
                        "its name does not say what it shall be: expected .onnx, .mg, .py, "
                        ".safetensors, .pt, .pth, .ckpt, .npz, .svg, .dot or .c");
}

static enum mase_status write_file(void *data, struct mase_err *err)
{
    const struct write *w = data;
    struct mase_arena a = { 0 };
    MASE_TRY(mase_net_use(w->net, err));
    const enum mase_status st = write_kind(w, &a, err);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_net_write(struct mase_net *net, const char *path, const char *options,
                                struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(path, err);
    return mase_api_run(net->session, write_file, &(struct write){ net, path, options }, err);
}

/* ---- weights back ---- */

struct load_opts {
    const char *key;
    bool lenient;
    int64_t seed;
    const struct mase_value *map;
};

static const struct mase_opt load_rows[] = {
    MASE_OPT_TEXT(struct load_opts, key, "key", NULL, "of the state dict, where there are several"),
    MASE_OPT_BOOL(struct load_opts, lenient, "lenient", false, "take what fits, draw the rest"),
    MASE_OPT_INT(struct load_opts, seed, "seed", 0, 0, 0, "of what is drawn"),
    MASE_OPT_VALUE(struct load_opts, map, "map", "a table from old names to new"),
    { 0 },
};

static enum mase_status renames(struct mase_weights_opts *o, struct mase_arena *a,
                                const struct mase_value *map, struct mase_err *err)
{
    if (!map)
        return MASE_OK;
    if (map->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, map->at, "map must be a table from old names to new");
    struct mase_rename *list = mase_new_array(a, struct mase_rename, (size_t)map->count);
    for (int i = 0; i < map->count; i++) {
        if (map->items[i]->kind != MASE_STRING)
            return mase_fail_at(err, MASE_EVALUE, map->items[i]->at, "a name is a text");
        list[i] = (struct mase_rename){ map->keys[i], map->items[i]->s };
    }
    o->renames = list;
    o->rename_count = map->count;
    return MASE_OK;
}

/* Find the weights that path names; keep what was found. */
static enum mase_status find_weights(struct mase_opened *w, struct mase_arena *a,
                                     struct mase_arena *kept, const struct write *given,
                                     struct mase_err *err)
{
    struct mase_value *options;
    struct load_opts o;
    struct mase_work_choice choice;
    mase_work_choice_init(&choice, kept);
    MASE_TRY(mase_api_options(&options, a, given->options, err));
    MASE_TRY(mase_opts_bind(&o, sizeof o, load_rows, options, a, err));
    choice.weights = given->path;
    choice.load =
        (struct mase_weights_opts){ .key = o.key, .lenient = o.lenient, .seed = (uint64_t)o.seed };
    MASE_TRY(renames(&choice.load, a, o.map, err));
    MASE_TRY(mase_work_find(w, &choice, err));
    if (w->source == MASE_WEIGHTS_FILE)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, w->weights,
                        "is a saved network and no weights alone: open it, or open the network "
                        "with these weights");
}

static enum mase_status load_copy(struct mase_opened *w, struct mase_graph *g,
                                  struct mase_graph *copy, struct mase_arena *a,
                                  struct mase_arena *kept, const struct write *given,
                                  struct mase_err *err)
{
    MASE_TRY(find_weights(w, a, kept, given, err));
    MASE_TRY(mase_checkpoint_follow(copy, w->weights, err));
    MASE_TRY(mase_weights_load_by(copy, w->weights, &w->choice.load, err));
    return mase_checkpoint_follow(g, w->weights, err);
}

static enum mase_status load_weights(void *data, struct mase_err *err)
{
    const struct write *given = data;
    struct mase_net *net = given->net;
    struct mase_arena a = { 0 }, kept = { 0 };
    struct mase_opened w;
    MASE_TRY(mase_net_use(net, err));
    MASE_TRY(mase_graph_check_size(net->graph, err));
    struct mase_graph *copy = mase_graph_clone(net->graph), *g = mase_graph_clone(net->graph);
    mase_graph_own_weights(copy);
    const enum mase_status st = load_copy(&w, g, copy, &a, &kept, given, err);
    if (!st) {
        const char *origin = mase_arena_strdup(&kept, w.weights);
        mase_graph_alloc(g);
        mase_net_become_trained(net, g, copy, &kept, &w.trained, origin);
    } else {
        mase_graph_free(g);
    }
    mase_graph_free(copy);
    mase_arena_release(&kept);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_net_load(struct mase_net *net, const char *path, const char *options,
                               struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(path, err);
    return mase_api_change(net, load_weights, &(struct write){ net, path, options }, err);
}
