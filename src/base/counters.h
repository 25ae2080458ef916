/*
 * counters.h - counters of expensive operations of the process, for debug messages and tests.
 */
#ifndef MASE_BASE_COUNTERS_H
#define MASE_BASE_COUNTERS_H

#include <stdint.h>

enum mase_counter {
    MASE_COUNT_SHAPE_RULES, /* one call of the shape rule of one operation */
    MASE_COUNT_CLONES,      /* of graphs */
    MASE_COUNT_BINDINGS,    /* of a table of options to a struct */
    MASE_COUNT_PASSES,      /* runs of a pass */
    MASE_COUNT_FSYNCS,
    MASE_COUNTER_COUNT
};

void mase_count(enum mase_counter counter); /* add one, from any thread */
int64_t mase_counted(enum mase_counter counter);

#endif /* MASE_BASE_COUNTERS_H */
