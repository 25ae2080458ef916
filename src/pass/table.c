/*
 * table.c - the passes by name, read from passes.def.
 */
#include <mase/pass.h>

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

const struct mase_pass *mase_pass_find(const char *name)
{
    for (int i = 0; mase_passes[i]; i++)
        if (mase_streq(mase_passes[i]->name, name))
            return mase_passes[i];
    return NULL;
}

/* A pass of the user's own is in no row: what it is follows from the function it has. */
const char *mase_pass_kind(const struct mase_pass *p)
{
    for (int i = 0; mase_passes[i]; i++)
        if (mase_passes[i] == p)
            return kinds[i];
    return p->analyse ? "analysis" : "transform";
}
