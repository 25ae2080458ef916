/*
 * counters.c - counters of the process, see counters.h.
 */
#include "base/counters.h"

#include <stdatomic.h>

static _Atomic int64_t counted[MASE_COUNTER_COUNT];

void mase_count(enum mase_counter counter)
{
    atomic_fetch_add_explicit(&counted[counter], 1, memory_order_relaxed);
}

int64_t mase_counted(enum mase_counter counter)
{
    return atomic_load_explicit(&counted[counter], memory_order_relaxed);
}
