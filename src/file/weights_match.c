/*
 * weights_match.c - a file's tensors compared with a graph's.
 */
#include <math.h>
#include <string.h>

#include "file/weights_match.h"

static void add_name(struct mase_weights_match *l, struct mase_match_names *n, const char *name,
                     const char *note)
{
    int cap = n->cap;
    n->name = mase_arena_grow(l->arena, n->name, n->count, &cap, sizeof *n->name);
    n->note = mase_arena_grow(l->arena, n->note, n->count, &n->cap, sizeof *n->note);
    n->name[n->count] = mase_arena_strdup(l->arena, name);
    n->note[n->count++] = note;
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
static void find(struct mase_weights_match *l, const char *full, const struct mase_param *p,
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
    struct mase_weights_match *l = data;
    const struct mase_match_entry *e = mase_map_get(&l->items, full);
    const struct mase_tensor *t = e ? e->tensor : NULL;
    if (t && !mase_shape_equal(&t->shape, &p->tensor.shape))
        add_name(l, &l->misshaped, full, shape_note(l->arena, &p->tensor.shape, &t->shape));
    else if (t)
        find(l, full, p, t);
    if (t && p->kind == MASE_PARAM_FIXED && mase_shape_equal(&t->shape, &p->tensor.shape) &&
        !is_as_traced(p, t))
        add_name(l, &l->changed, full, NULL);
    return true;
}

/* num_batches_tracked of a batch norm that is in the file. */
static bool is_late_counter(const struct mase_weights_match *l, const char *full,
                            const struct mase_param *p)
{
    static const char counter[] = "num_batches_tracked";
    const size_t n = strlen(full);
    if (!mase_param_is_buffer(p) || !mase_ends_with(full, counter))
        return false;
    return mase_map_get(&l->items, mase_arena_printf(l->arena, "%.*srunning_mean",
                                                     (int)(n - strlen(counter)), full)) != NULL;
}

static bool miss(const char *full, struct mase_param *p, void *data)
{
    struct mase_weights_match *l = data;
    const struct mase_match_entry *e = mase_map_get(&l->items, full);
    if (p->kind == MASE_PARAM_CONSTANT || (e && e->tensor) ||
        mase_map_get(&l->found, first_name(full, p)))
        return true;
    if (e)
        add_name(l, &l->missing, full, mase_arena_printf(l->arena, "%s in the file", e->what));
    else if (is_late_counter(l, full, p))
        add_name(l, &l->untracked, full, NULL);
    else
        add_name(l, &l->missing, full, NULL);
    return true;
}

static void look_for_more(struct mase_weights_match *l)
{
    for (int i = 0; i < l->count; i++) {
        const struct mase_match_entry *e = &l->entries[i];
        if (!e->ignored && !mase_map_get(&l->known, e->name))
            add_name(l, e->tensor ? &l->unexpected : &l->passed, e->name, e->what);
    }
    /* one note for each name of a list, not the end of a sentence: no mase_fail_unknown */
    for (int i = 0; i < l->unexpected.count; i++) {
        const char *near = mase_nearest(l->unexpected.name[i], l->missing.name, l->missing.count);
        if (near)
            l->unexpected.note[i] = mase_arena_printf(l->arena, "for '%s'?", near);
    }
}

void mase_match_compare(struct mase_weights_match *l)
{
    mase_match_names_of_file(l);
    for (int i = 0; i < l->count; i++) {
        struct mase_match_entry *e = &l->entries[i];
        if (e->ignored)
            continue;
        if (mase_map_get(&l->items, e->name))
            add_name(l, &l->contrary, e->name, "twice, once in a wrapper");
        mase_map_put(&l->items, e->name, e);
    }
    mase_graph_each_param(l->graph, compare, l);
    mase_graph_each_param(l->graph, miss, l);
    look_for_more(l);
}
