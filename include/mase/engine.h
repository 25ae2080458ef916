/*
 * engine.h - what computes a network: the rows of engines.def.
 *
 *     const struct mase_predictor_opts o = { .engine = mase_engine_find("int") };
 *     MASE_TRY(mase_predictor_new(&p, graph, &sample, &o, err));
 *
 * An engine refuses what it cannot compute when a predictor is made, before anything runs.
 */
#ifndef MASE_ENGINE_H
#define MASE_ENGINE_H

#include <mase/api.h>
#include <mase/graph.h>

MASE_API_BEGIN

struct mase_engine_functions;
struct mase_engine {
    const char *name, *help;
    bool several; /* takes networks of several inputs or results */
    const struct mase_engine_functions *functions;
};
extern const struct mase_engine mase_engines[]; /* the last has no name */

const struct mase_engine *mase_engine_find(const char *name); /* NULL: there is none */
/* Fails, and says which engines there are. */
enum mase_status mase_engine_unknown(const char *name, struct mase_err *err);
/* What a program in C or in hardware computes: integers of a network with number formats, else
 * floats. */
const struct mase_engine *mase_engine_deployed(const struct mase_graph *g);

MASE_API_END

#endif /* MASE_ENGINE_H */
