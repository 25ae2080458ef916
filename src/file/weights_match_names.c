/*
 * weights_match_names.c - the names of a file's tensors, without what wrappers of the model put
 * there.
 */
#include <string.h>

#include "file/weights_match.h"

/* Before every name: DataParallel and averages of weights, Lightning and people's own. */
static const char *const wrappers[] = { "module.",    "model.",     "net.",     "network.",
                                        "ema_model.", "backbone.",  "encoder.", "student.",
                                        "teacher.",   "swa_model.", "ema." };
enum { WRAPPERS = sizeof wrappers / sizeof wrappers[0], MOST_WRAPPERS = 4 };

static bool know(const char *full, struct mase_param *p, void *data)
{
    struct mase_weights_match *l = data;
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

/* How many names are the graph's when so much of each is left out? */
static int known_without(const struct mase_weights_match *l, size_t skip)
{
    int n = 0;
    for (int i = 0; i < l->count; i++)
        n += !l->entries[i].ignored && mase_map_get(&l->known, l->entries[i].name + skip) != NULL;
    return n;
}

/* Is prefix before every name, and either before none of the graph or, as in model.model.0.weight,
 * more of a name than the graph has? Only the first two mean the same to everyone. */
static bool is_wrapper(const struct mase_weights_match *l, int which)
{
    const char *prefix = wrappers[which], *wanted = prefix;
    int n = 0;
    for (int i = 0; i < l->count; i++) {
        if (!l->entries[i].ignored && !mase_starts_with(l->entries[i].name, prefix))
            return false;
        n += !l->entries[i].ignored;
    }
    if (!n)
        return false;
    const bool more = known_without(l, strlen(prefix)) > known_without(l, 0);
    if (which >= 2)
        return more;
    mase_graph_each_param(l->graph, any_known_has, &wanted);
    return wanted || more;
}

static void note_wrapper(struct mase_weights_match *l, const char *wrapper)
{
    mase_str_printf(&l->wrappers, "%s'%s'", l->wrappers.len ? " and " : "", wrapper);
}

static bool skip_prefix(struct mase_weights_match *l)
{
    for (int k = 0; k < WRAPPERS; k++) {
        if (!is_wrapper(l, k))
            continue;
        for (int i = 0; i < l->count; i++)
            if (!l->entries[i].ignored)
                l->entries[i].name += strlen(wrappers[k]);
        note_wrapper(l, wrappers[k]);
        return true;
    }
    return false;
}

/* torch.compile's "_orig_mod." and the like, wherever they stand; unless the graph has them. */
static void skip_inner(struct mase_weights_match *l)
{
    const char *gone = NULL;
    for (int i = 0; i < l->count; i++)
        if (!mase_map_get(&l->known, l->entries[i].name))
            l->entries[i].name = mase_name_without_wrappers(l->arena, l->entries[i].name, &gone);
    if (gone)
        note_wrapper(l, gone);
}

/* AveragedModel counts its steps beside the module. */
static void ignore_counters(struct mase_weights_match *l)
{
    for (int i = 0; i < l->count; i++)
        if (mase_streq(l->entries[i].name, "n_averaged") && !mase_map_get(&l->known, "n_averaged"))
            l->entries[i].ignored = l->count > 1;
}

void mase_match_names_of_file(struct mase_weights_match *l)
{
    const struct mase_tensors *f = l->file;
    l->count = f->count + f->unread_count;
    l->entries = mase_new_array(l->arena, struct mase_match_entry, (size_t)l->count);
    for (int i = 0; i < f->count; i++)
        l->entries[i] =
            (struct mase_match_entry){ f->items[i].name, &f->items[i].tensor, NULL, false };
    for (int i = 0; i < f->unread_count; i++)
        l->entries[f->count + i] =
            (struct mase_match_entry){ f->unread[i].name, NULL, f->unread[i].what, false };
    mase_graph_each_param(l->graph, know, l);
    skip_inner(l);
    ignore_counters(l);
    for (int i = 0; i < MOST_WRAPPERS && skip_prefix(l); i++)
        ;
}

/* Is one first part missing before all names of the file? */
const char *mase_match_advice(const struct mase_weights_match *l)
{
    const char *first = l->missing.count ? l->missing.name[0] : "";
    const size_t n = strcspn(first, ".");
    if (!first[n])
        return NULL;
    int known = 0;
    for (int i = 0; i < l->count; i++)
        known += mase_map_get(&l->known, mase_arena_printf(l->arena, "%.*s.%s", (int)n, first,
                                                           l->entries[i].name)) != NULL;
    return known > l->count / 2 && known > known_without(l, 0)
               ? mase_arena_printf(l->arena, "--map =%.*s puts that before the file's names",
                                   (int)n, first)
               : NULL;
}
