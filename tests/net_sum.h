/*
 * net_sum.h - is a network what it was? A sum of all that a program sees of it.
 */
#ifndef TESTS_NET_SUM_H
#define TESTS_NET_SUM_H

#include <mase.h>

#include "traces.h"

/* Of a network's text and weights; 0: it can only be freed. */
static inline uint64_t sum_of(struct mase_net *net)
{
    struct mase_text t = { 0 };
    struct mase_weight_info i = { .size = sizeof i };
    struct mase_err err;
    uint64_t h = 0;
    if (!mase_net_print(net, &t, "mg", &err))
        h = add_bytes(1, t.data, t.len);
    mase_text_release(&t);
    for (int k = 0; h && !mase_net_weight(net, k, &i, &err); k++) {
        size_t n = strstr(i.dtype, "64") ? 8 : strstr(i.dtype, "32") ? 4 : 1;
        for (int d = 0; d < i.rank; d++)
            n *= (size_t)i.dim[d];
        if (i.data)
            h = add_bytes(h, i.data, n);
    }
    return h;
}

#endif /* TESTS_NET_SUM_H */
