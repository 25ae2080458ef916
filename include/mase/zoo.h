/*
 * zoo.h - the networks that have a name.
 */
#ifndef MASE_ZOO_H
#define MASE_ZOO_H

#include <mase/data.h>
#include <mase/graph.h>

struct mase_model {
    const char *name;       /* "jsc-tiny" */
    const char *class_name; /* "JSC_Tiny": of the original's module */
    const char *task;       /* "physical", "vision", "toy" */
    const char *dataset; /* the data it is usually trained on: gives --info its parameter count */
    const char *help;
    /* Build the graph for this data, without weights. */
    enum mase_status (*build)(struct mase_graph **g, const struct mase_data_info *data,
                              struct mase_err *err);
};

extern const struct mase_model mase_zoo[]; /* ends with a NULL name */

/* By name; '-' and '_' are the same. Unknown: an error naming the nearest. */
enum mase_status mase_zoo_find(const struct mase_model **m, const char *name,
                               struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_ZOO_H */
