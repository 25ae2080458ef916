/*
 * freeze_parameters.c - parameters that are not to be trained, chosen by their names.
 */
#include <string.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"

/* A whole name, the module that has it, or a pattern as of file names; dots are letters to it. */
static bool fits(const char *pattern, const char *full)
{
    const size_t n = strlen(pattern);
    return (strncmp(full, pattern, n) == 0 && (full[n] == '.' || !full[n])) ||
           mase_glob_match(pattern, full);
}

struct freezing {
    const char *pattern;
    struct mase_map first; /* first names of parameters of which any name fits */
    int count;
};

static bool choose(const char *full, struct mase_param *p, void *data)
{
    struct freezing *f = data;
    if (mase_param_is_buffer(p) || !fits(f->pattern, full))
        return true;
    const char *first = p->tied ? p->tied : full;
    if (!mase_map_get(&f->first, first)) {
        mase_map_put(&f->first, mase_arena_strdup(f->first.arena, first), p);
        f->count++;
    }
    return true;
}

/* Every name of a tied parameter says the same. */
static bool freeze(const char *full, struct mase_param *p, void *data)
{
    const struct freezing *f = data;
    if (mase_map_get(&f->first, p->tied ? p->tied : full))
        p->kind = MASE_PARAM_FROZEN;
    return true;
}

int mase_graph_freeze(struct mase_graph *g, const char *pattern)
{
    struct mase_arena a = { 0 };
    struct freezing f = { .pattern = pattern, .first = { .arena = &a } };
    mase_graph_each_param(g, choose, &f);
    mase_graph_each_param(g, freeze, &f);
    if (g->training)
        mase_graph_each_param(g->training, freeze, &f);
    mase_arena_release(&a);
    return f.count;
}
