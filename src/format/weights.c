/*
 * weights.c - a graph's parameters and buffers to a file and back.
 *
 * Names are PyTorch's state-dict names. Loading is strict, and it is all or nothing: the file is
 * compared with the graph first, every difference is told at once, and only a file without any is
 * copied. Three things are forgiven: a wrapper's prefix before every name; constants that tracing
 * found in the code (_tensor_constant0), which are the graph's own: a file may lack them, and none
 * that we write has them; and names of a tied parameter, of which a file needs one. Those it has
 * must hold the same numbers.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <mase/graph.h>
#include <mase/log.h>
#include <mase/str.h>
#include <mase/weights.h>

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
    if (p->is_constant)
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

/* ---- comparing ---- */

/* Names that differ, and what to say of each. */
struct names {
    const char **name;
    const char **note; /* or NULL */
    int count, cap;
};

struct loading {
    struct mase_arena *arena;
    const struct mase_graph *graph;
    const struct mase_tensors *file;
    size_t skip;           /* bytes of the prefix that all names of the file have */
    struct mase_map items; /* the file's tensors by name without the prefix */
    struct mase_map known; /* the graph's names */
    struct mase_map found; /* what the file has of a parameter, by its first name in the graph */
    struct names missing, unexpected, misshaped, contrary, changed;
    int converted; /* tensors whose type is not the parameter's */
};

static void add_name(struct loading *l, struct names *n, const char *name, const char *note)
{
    int cap = n->cap;
    n->name = mase_arena_grow(l->arena, n->name, n->count, &cap, sizeof *n->name);
    n->note = mase_arena_grow(l->arena, n->note, n->count, &n->cap, sizeof *n->note);
    n->name[n->count] = mase_arena_strdup(l->arena, name);
    n->note[n->count++] = note;
}

static bool know(const char *full, struct mase_param *p, void *data)
{
    struct loading *l = data;
    mase_map_put(&l->known, mase_arena_strdup(l->arena, full), p);
    return true;
}

static bool any_known_has(const char *full, struct mase_param *p, void *data)
{
    const char **prefix = data;
    (void)p;
    if (!mase_starts_with(full, *prefix))
        return true;
    *prefix = NULL; /* found: stop */
    return false;
}

/* How many of the file's names are the graph's when so much of each is left out? */
static int known_without(const struct loading *l, size_t skip)
{
    int n = 0;
    for (int i = 0; i < l->file->count; i++)
        n += mase_map_get(&l->known, l->file->items[i].name + skip) != NULL;
    return n;
}

/* Is prefix before every name of the file, and either before none of the graph or, as in
 * model.model.0.weight, more of a name than the graph has? */
static bool is_wrapper(const struct loading *l, const char *prefix)
{
    for (int i = 0; i < l->file->count; i++)
        if (!mase_starts_with(l->file->items[i].name + l->skip, prefix))
            return false;
    const char *wanted = prefix;
    mase_graph_each_param(l->graph, any_known_has, &wanted);
    return l->file->count > 0 &&
           (wanted || known_without(l, l->skip + strlen(prefix)) > known_without(l, l->skip));
}

static void skip_prefixes(struct loading *l)
{
    static const char *const wrappers[] = { "module.", "model.",
                                            "module." }; /* DataParallel, Lightning */
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (is_wrapper(l, wrappers[i]))
            l->skip += strlen(wrappers[i]);
}

static const char *shape_note(struct mase_arena *a, const struct mase_shape *wanted,
                              const struct mase_shape *found)
{
    struct mase_str s = { 0 };
    mase_shape_print(&s, wanted);
    mase_str_add(&s, " in the model, ");
    mase_shape_print(&s, found);
    mase_str_add(&s, " in the file");
    const char *note = mase_arena_strdup(a, mase_str_text(&s));
    mase_str_release(&s);
    return note;
}

static bool same_values(const struct mase_tensor *a, const struct mase_tensor *b)
{
    const int64_t count = mase_tensor_count(a);
    if (a->dtype == b->dtype)
        return !count || memcmp(a->data, b->data, (size_t)mase_tensor_bytes(a)) == 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = mase_tensor_get(a, i), y = mase_tensor_get(b, i);
        if (x != y && (x == x || y == y)) /* two NaN are alike */
            return false;
    }
    return true;
}

static const char *first_name(const char *full, const struct mase_param *p)
{
    return p->tied ? p->tied : full;
}

/* A name of a parameter and what the file has under it, of the right shape. */
static void find(struct loading *l, const char *full, const struct mase_param *p,
                 const struct mase_tensor *t)
{
    const char *first = first_name(full, p);
    const struct mase_tensor *other = mase_map_get(&l->found, first);
    if (!other)
        mase_map_put(&l->found, mase_arena_strdup(l->arena, first), (void *)t);
    else if (!same_values(other, t))
        add_name(l, &l->contrary, full, mase_arena_printf(l->arena, "tied to '%s'", first));
}

/* Is it the buffer that the network was traced with? PyTorch computes in float32 what was computed
 * in more there, so that tables of sines differ a little. */
static bool is_as_traced(const struct mase_param *p, const struct mase_tensor *t)
{
    const double tolerance = 1e-3;
    double largest = 0, apart = 0;
    for (int64_t i = 0, n = mase_tensor_count(t); i < n; i++) {
        const double x = mase_tensor_get(t, i);
        const double was = p->init == MASE_INIT_VALUES ? p->values[i]
                           : p->init == MASE_INIT_ONES ? 1
                                                       : p->centre;
        if (x == was || (x != x && was != was))
            continue;
        apart = fmax(apart, fabs(x - was));
        largest = fmax(largest, fabs(x));
        if (!isfinite(x) || !isfinite(was))
            return false;
    }
    return apart <= tolerance * largest && p->init != MASE_INIT_NORMAL && p->scale == 0;
}

static bool compare(const char *full, struct mase_param *p, void *data)
{
    struct loading *l = data;
    const struct mase_tensor *t = mase_map_get(&l->items, full);
    if (t && !mase_shape_equal(&t->shape, &p->tensor.shape))
        add_name(l, &l->misshaped, full, shape_note(l->arena, &p->tensor.shape, &t->shape));
    else if (t)
        find(l, full, p, t);
    if (t && p->is_fixed && mase_shape_equal(&t->shape, &p->tensor.shape) && !is_as_traced(p, t))
        add_name(l, &l->changed, full, NULL);
    return true;
}

static bool miss(const char *full, struct mase_param *p, void *data)
{
    struct loading *l = data;
    if (!p->is_constant && !mase_map_get(&l->items, full) &&
        !mase_map_get(&l->found, first_name(full, p)))
        add_name(l, &l->missing, full, NULL);
    return true;
}

static void compare_all(struct loading *l)
{
    mase_graph_each_param(l->graph, know, l);
    skip_prefixes(l);
    for (int i = 0; i < l->file->count; i++)
        mase_map_put(&l->items, l->file->items[i].name + l->skip, &l->file->items[i].tensor);
    mase_graph_each_param(l->graph, compare, l);
    mase_graph_each_param(l->graph, miss, l);
    for (int i = 0; i < l->file->count; i++) {
        const char *name = l->file->items[i].name + l->skip;
        if (!mase_map_get(&l->known, name))
            add_name(l, &l->unexpected, name, NULL);
    }
    /* one note for each name of a list, not the end of a sentence: no mase_fail_unknown */
    for (int i = 0; i < l->unexpected.count; i++) {
        const char *near = mase_nearest(l->unexpected.name[i], l->missing.name, l->missing.count);
        if (near)
            l->unexpected.note[i] = mase_arena_printf(l->arena, "for '%s'?", near);
    }
}

static void list_names(struct mase_str *out, const char *what, const struct names *n)
{
    enum { SHOWN = 4 };
    if (n->count == 0)
        return;
    mase_str_printf(out, "%s%d %s:", out->len ? "; " : "", n->count, what);
    for (int i = 0; i < n->count && i < SHOWN; i++) {
        mase_str_printf(out, "%s %s", i ? "," : "", n->name[i]);
        if (n->note[i])
            mase_str_printf(out, " (%s)", n->note[i]);
    }
    if (n->count > SHOWN)
        mase_str_printf(out, " and %d more", n->count - SHOWN);
}

/* ---- loading ---- */

/* Same type: the bits; else the nearest value of ours, as PyTorch's copy_ does. */
static bool copy_param(const char *full, struct mase_param *p, void *data)
{
    struct loading *l = data;
    const struct mase_tensor *t = mase_map_get(&l->found, full);
    if (!t)
        return true; /* a constant, or tied to what has been copied */
    const int64_t count = mase_tensor_count(t);
    if (t->dtype == p->tensor.dtype && count)
        memcpy(p->tensor.data, t->data, (size_t)mase_tensor_bytes(t));
    else
        for (int64_t i = 0; i < count; i++)
            mase_tensor_set(&p->tensor, i, mase_tensor_get(t, i));
    l->converted += t->dtype != p->tensor.dtype;
    return true;
}

/* All or nothing: what differs is listed, or the weights are copied. */
static enum mase_status finish(struct loading *l, struct mase_graph *g, const char *path,
                               struct mase_err *err)
{
    struct mase_str text = { 0 };
    list_names(&text, "missing", &l->missing);
    list_names(&text, "unexpected", &l->unexpected);
    list_names(&text, "of another shape", &l->misshaped);
    list_names(&text, "with other values than what it is tied to", &l->contrary);
    list_names(&text, "with other values than the network was traced with", &l->changed);
    if (text.len) {
        mase_fail_in(err, MASE_EVALUE, path, "these are not the model's weights: %s",
                     mase_str_text(&text));
        mase_str_release(&text);
        return MASE_EVALUE;
    }
    if (g->weights_borrowed)
        mase_graph_own_weights(g);
    mase_graph_alloc(g);
    mase_graph_init_constants(g);
    mase_graph_each_param(g, copy_param, l);
    return MASE_OK;
}

enum mase_status mase_weights_take(struct mase_graph *g, const struct mase_tensors *from,
                                   const char *path, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct loading l = { .arena = &a, .graph = g, .file = from };
    l.items.arena = l.known.arena = l.found.arena = &a;
    compare_all(&l);
    const enum mase_status st = finish(&l, g, path, err);
    if (!st && from->converted)
        mase_info("%s: %d tensors of types that are not ours (float16 and the like) were widened",
                  path, from->converted);
    if (!st && l.converted)
        mase_info("%s: %d tensors were converted to the types of the model's", path, l.converted);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_weights_load_renamed(struct mase_graph *g, const char *path,
                                           const struct mase_rename *renames, int count,
                                           struct mase_err *err)
{
    struct mase_tensors file;
    MASE_TRY(mase_tensors_open(&file, path, err));
    enum mase_status st = mase_tensors_rename(&file, renames, count, path, err);
    if (!st)
        st = mase_weights_take(g, &file, path, err);
    mase_tensors_close(&file);
    return st;
}

enum mase_status mase_weights_load(struct mase_graph *g, const char *path, struct mase_err *err)
{
    return mase_weights_load_renamed(g, path, NULL, 0, err);
}
