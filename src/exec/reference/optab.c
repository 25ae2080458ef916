/*
 * optab.c - reads the RUN column of ops.def: which forward computes an operation.
 */
#include <mase/run.h>

#include "exec/reference/ref.h"

#define mase_forward_NONE NULL

static mase_forward_fn *const forwards[MASE_OP_COUNT] = {
#define OP(name, ...) [MASE_OP_##name] =
#define RUN(forward)  mase_forward_##forward,
#include <mase/ops.def>
};

#undef mase_forward_NONE

mase_forward_fn *mase_forward_of(enum mase_op op)
{
    return forwards[op];
}
