/*
 * weights_file.c - a graph's parameters and buffers to a file and back.
 *
 * Names are PyTorch's state-dict names. Loading is strict, and it is all or nothing: the file is
 * compared with the graph first, every difference is told at once, and only a file without any is
 * copied. Forgiven are: what wrappers put into names; constants that tracing found in the code
 * (_tensor_constant0), which are the graph's own: a file may lack them, and none that we write has
 * them; the counters num_batches_tracked, which old files lack; tensors of kinds that we do not
 * read and do not need; and names of a tied parameter, of which a file needs one. Those it has must
 * hold the same numbers. Lenient loading takes what fits of a file and says what it did of each
 * other name; numbers that contradict each other or the graph are refused even so.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/log.h>

#include "file/weights_match.h"

/* ---- saving ---- */

struct collection {
    struct mase_arena *arena;
    struct mase_named_tensor *items;
    int count, cap;
    bool without_data;
};

static bool collect(const char *full, struct mase_param *p, void *data)
{
    struct collection *c = data;
    if (p->kind == MASE_PARAM_CONSTANT)
        return true;
    c->items = mase_arena_grow(c->arena, c->items, c->count, &c->cap, sizeof *c->items);
    c->items[c->count++] =
        (struct mase_named_tensor){ mase_arena_strdup(c->arena, full), p->tensor };
    c->without_data |= !p->tensor.data && mase_tensor_count(&p->tensor) > 0;
    return true;
}

enum mase_status mase_weights_save(const struct mase_graph *g, const char *path,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct collection c = { .arena = &a };
    mase_graph_each_param(g, collect, &c);
    enum mase_status st;
    if (c.without_data)
        st = mase_fail_in(err, MASE_EVALUE, path, "the graph has no weights to save");
    else
        st = mase_tensors_write(c.items, c.count, NULL, path, err);
    mase_arena_release(&a);
    return st;
}

/* ---- loading ---- */

static void list_names(struct mase_str *out, const char *what, const struct mase_match_names *n,
                       int most)
{
    if (n->count == 0)
        return;
    mase_str_printf(out, "%s%d %s:", out->len ? "; " : "", n->count, what);
    for (int i = 0; i < n->count && i < most; i++) {
        mase_str_printf(out, "%s %s", i ? "," : "", n->name[i]);
        if (n->note[i])
            mase_str_printf(out, " (%s)", n->note[i]);
    }
    if (n->count > most)
        mase_str_printf(out, " and %d more", n->count - most);
}

/* Same type: the bits; else the nearest value of ours, as PyTorch's copy_ does. */
static bool copy_param(const char *full, struct mase_param *p, void *data)
{
    struct mase_weights_match *l = data;
    const struct mase_tensor *t = mase_map_get(&l->found, full);
    if (!t)
        return true; /* a constant, tied to what has been copied, or drawn from the seed */
    const int64_t count = mase_tensor_count(t);
    if (t->dtype == p->tensor.dtype && count)
        memcpy(p->tensor.data, t->data, (size_t)mase_tensor_bytes(t));
    else
        for (int64_t i = 0; i < count; i++)
            mase_tensor_set(&p->tensor, i, mase_tensor_get(t, i));
    l->converted += t->dtype != p->tensor.dtype;
    return true;
}

/* Counters that the file lacks start at 0, whatever was there before. */
static void reset_counters(const struct mase_weights_match *l)
{
    for (int i = 0; i < l->untracked.count; i++) {
        struct mase_param *p = mase_map_get(&l->known, l->untracked.name[i]);
        for (int64_t k = 0; k < mase_tensor_count(&p->tensor); k++)
            mase_tensor_set(&p->tensor, k, 0);
    }
}

enum { SHOWN = 4, NAMED = 200 };

/* List the faults: those of any mode, or those that only the lenient mode accepts. */
static void list_faults(struct mase_str *text, const struct mase_weights_match *l, bool lenient)
{
    if (!lenient) {
        list_names(text, "missing", &l->missing, SHOWN);
        list_names(text, "unexpected", &l->unexpected, SHOWN);
        list_names(text, "of another shape", &l->misshaped, SHOWN);
    }
    list_names(text, "with other values than what it is tied to", &l->contrary, SHOWN);
    list_names(text, "with other values than the network was traced with", &l->changed, SHOWN);
}

static bool any_fits(const struct mase_weights_match *l)
{
    for (int i = 0; i < l->count; i++) {
        const struct mase_match_entry *e = &l->entries[i];
        const struct mase_param *p = mase_map_get(&l->known, e->name);
        if (p && e->tensor && mase_shape_equal(&e->tensor->shape, &p->tensor.shape))
            return true;
    }
    return false;
}

static enum mase_status refuse(const struct mase_weights_match *l, const struct mase_str *faults,
                               const char *path, struct mase_err *err)
{
    const char *advice = mase_match_advice(l);
    if (!advice && any_fits(l) && !l->contrary.count && !l->changed.count)
        advice = "--strict no takes what fits and draws the rest from the seed";
    return mase_fail_in(err, MASE_EVALUE, path, "these are not the model's weights: %s%s%s",
                        mase_str_text(faults), advice ? "; " : "", advice ? advice : "");
}

/* All or nothing: what differs is listed; else all can be copied. */
static enum mase_status check(const struct mase_weights_match *l, bool lenient, const char *path,
                              struct mase_err *err)
{
    struct mase_str faults = { 0 };
    enum mase_status st = MASE_OK;
    list_faults(&faults, l, lenient);
    if (faults.len)
        st = refuse(l, &faults, path, err);
    else if (lenient && !any_fits(l) && (l->missing.count || l->misshaped.count))
        st = mase_fail_in(err, MASE_EVALUE, path,
                          "nothing in it fits the model: %d tensors of other names, %d of other "
                          "shapes; --map OLD=NEW changes names",
                          l->unexpected.count, l->misshaped.count);
    mase_str_release(&faults);
    return st;
}

static void copy_all(struct mase_weights_match *l, struct mase_graph *g,
                     const struct mase_weights_opts *opts)
{
    if (g->weights_borrowed)
        mase_graph_own_weights(g);
    if (l->missing.count || l->misshaped.count) {
        mase_graph_init_weights(g, opts->seed);
    } else {
        mase_graph_alloc(g);
        mase_graph_init_constants(g);
    }
    mase_graph_each_param(g, copy_param, l);
    reset_counters(l);
}

static void warn_of(const char *path, const char *what, const struct mase_match_names *n)
{
    struct mase_str text = { 0 };
    list_names(&text, what, n, NAMED);
    if (text.len)
        mase_warn("%s: %s", path, mase_str_text(&text));
    mase_str_release(&text);
}

/* The usual form of a file, also of ours, is not worth a line: a state dict, or one under that key
 * with Lightning's prefix. */
static void tell_taken(const struct mase_weights_match *l, const char *path)
{
    const char *key = l->file->key ? l->file->key : "";
    const char *others = l->file->others ? l->file->others : "";
    struct mase_str text = { 0 };
    if (*key && (!mase_streq(key, "state_dict") || *others))
        mase_str_printf(&text, "the weights of '%s' are taken", key);
    if (*others)
        mase_str_printf(&text, ", not those of %s", others);
    if (l->wrappers.len &&
        !(mase_streq(key, "state_dict") && mase_streq(mase_str_text(&l->wrappers), "'model.'")))
        mase_str_printf(&text, "%snames are read without %s", text.len ? "; " : "",
                        mase_str_text(&l->wrappers));
    if (l->file->left_out)
        mase_str_printf(&text, "%s%d tensors of the training loop are left out",
                        text.len ? "; " : "", l->file->left_out);
    if (l->untracked.count)
        mase_str_printf(&text, "%sthere is no num_batches_tracked, which starts at 0",
                        text.len ? "; " : "");
    if (text.len)
        mase_info("%s: %s", path, mase_str_text(&text));
    mase_str_release(&text);
}

static void tell(const struct mase_weights_match *l, const char *path)
{
    tell_taken(l, path);
    warn_of(path, "not in the file, drawn from the seed", &l->missing);
    warn_of(path, "of another shape, drawn from the seed", &l->misshaped);
    warn_of(path, "not in the model, left out", &l->unexpected);
    warn_of(path, "of a kind that is not read, left out", &l->passed);
    if (l->file->converted)
        mase_info("%s: %d tensors of types that are not ours (float16 and the like) were widened",
                  path, l->file->converted);
    if (l->converted)
        mase_info("%s: %d tensors were converted to the types of the model's", path, l->converted);
}

static enum mase_status take(struct mase_graph *g, const struct mase_tensors *from,
                             const char *path, const struct mase_weights_opts *opts,
                             struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_weights_match l = { .arena = &a, .graph = g, .file = from };
    l.items.arena = l.known.arena = l.found.arena = &a;
    mase_match_compare(&l);
    const enum mase_status st = check(&l, opts->lenient, path, err);
    if (!st) {
        copy_all(&l, g, opts);
        tell(&l, path);
    }
    mase_str_release(&l.wrappers);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_weights_take(struct mase_graph *g, const struct mase_tensors *from,
                                   const char *path, struct mase_err *err)
{
    return take(g, from, path, &(struct mase_weights_opts){ 0 }, err);
}

enum mase_status mase_weights_load_by(struct mase_graph *g, const char *path,
                                      const struct mase_weights_opts *opts, struct mase_err *err)
{
    struct mase_tensors file;
    MASE_TRY(mase_tensors_open_key(&file, path, opts->key, err));
    enum mase_status st = mase_tensors_rename(&file, opts->renames, opts->rename_count, path, err);
    if (!st)
        st = take(g, &file, path, opts, err);
    mase_tensors_close(&file);
    return st;
}

enum mase_status mase_weights_load(struct mase_graph *g, const char *path, struct mase_err *err)
{
    return mase_weights_load_by(g, path, &(struct mase_weights_opts){ 0 }, err);
}
