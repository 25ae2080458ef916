/*
 * engines.c - the table of engines (mase/evaluate.h).
 */
#include <mase/evaluate.h>

#include <mase/str.h>

#include "evaluate/predictor.h"

const struct mase_engine mase_engines[] = {
#define ENGINE(name, several, help) { #name, help, several, &mase_engine_##name },
#include "evaluate/engines.def"
    { 0 },
};

const struct mase_engine *mase_engine_find(const char *name)
{
    for (const struct mase_engine *e = mase_engines; e->name; e++)
        if (mase_streq(e->name, name))
            return e;
    return NULL;
}

enum mase_status mase_engine_unknown(const char *name, struct mase_err *err)
{
    enum { COUNT = sizeof mase_engines / sizeof mase_engines[0] - 1 };
    const char *names[COUNT];
    for (int i = 0; i < COUNT; i++)
        names[i] = mase_engines[i].name;
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ name, names, COUNT, .tail = "available: ", .lists = true },
        "there is no engine '%s'", name);
}

const struct mase_engine *mase_engine_deployed(const struct mase_graph *g)
{
    return mase_engine_find(mase_graph_is_quantised(g) ? "int" : "float");
}
