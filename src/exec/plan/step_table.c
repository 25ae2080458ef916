/*
 * step_table.c - reads the STEP column of ops.def: which kind of step runs an operation in a plan.
 */
#include "exec/plan/step.h"

/* clang-format off */
static const struct {
    enum mase_op op;
    const struct mase_step_kind *kind;
} steps[MASE_OP_COUNT] = {
    [MASE_OP_unknown] = { .op = MASE_OP_unknown
#define OP(name, ...) }, [MASE_OP_##name] = { .op = MASE_OP_##name
#define STEP(step) , .kind = &mase_step_##step
#include <mase/ops.def>
    }
};
/* clang-format on */

const struct mase_step_kind *mase_step_kind_of(enum mase_op op)
{
    return steps[op].kind;
}
