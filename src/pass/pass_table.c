/*
 * pass_table.c - look up passes by name: those of passes.def, of plugins, then of the calling
 * program.
 */
#include "pass/pass_table.h"

#include "base/host.h"

#define PASS(kind, name) extern const struct mase_pass mase_pass_##name;
#include "pass/passes.def"

const struct mase_pass *const mase_passes[] = {
#define PASS(kind, name) &mase_pass_##name,
#include "pass/passes.def"
    NULL,
};

static const char *const kinds[] = {
#define PASS(kind, name) #kind,
#include "pass/passes.def"
};

/* Shared objects stay loaded for the life of the process, and so do their passes. */
enum { ADDED_MAX = 64 };
static const struct mase_pass *added[ADDED_MAX];
static int added_count;

enum { BUILT_IN = sizeof kinds / sizeof kinds[0] };

bool mase_pass_room(int count)
{
    return count <= ADDED_MAX - added_count;
}

void mase_pass_add(const struct mase_pass *p)
{
    if (!mase_pass_room(1))
        mase_bug("no room for pass %s", p->name);
    added[added_count++] = p;
}

const struct mase_pass *mase_pass_at(int i)
{
    if (i < BUILT_IN)
        return mase_passes[i];
    i -= BUILT_IN;
    if (i < added_count)
        return added[i];
    const struct mase_host *host = mase_host_current();
    const struct mase_pass *const *further = host ? host->passes : NULL;
    for (i -= added_count; i > 0 && further && *further; i--)
        further++;
    return further ? *further : NULL;
}

const struct mase_pass *mase_pass_find(const char *name)
{
    const struct mase_pass *p;
    for (int i = 0; (p = mase_pass_at(i)); i++)
        if (mase_streq(p->name, name))
            return p;
    return NULL;
}

static int row_of(const struct mase_pass *p)
{
    int i = 0;
    while (i < BUILT_IN && mase_passes[i] != p)
        i++;
    return i;
}

bool mase_pass_is_plugin(const struct mase_pass *p)
{
    return row_of(p) == BUILT_IN;
}

/* A caller's own pass is in no row: its kind follows from the function that it sets. */
const char *mase_pass_kind(const struct mase_pass *p)
{
    if (!mase_pass_is_plugin(p))
        return kinds[row_of(p)];
    return p->analyse ? "analysis" : "transform";
}
