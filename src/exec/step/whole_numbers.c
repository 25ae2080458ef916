/*
 * whole_numbers.c - integers in a plan, which stores them as float32: exact below 2^24, and refused
 * beyond.
 *
 * A step of integer arithmetic checks its results. Unsigned 8-bit integers wrap around as
 * elsewhere; wider ones would wrap only beyond 2^24, where they are refused. A sum is exact in any
 * order if the sum of magnitudes stays below 2^24.
 */
#include <math.h>

#include <mase/program.h>

#include "exec/plan/step.h"
#include "exec/reference/ref_whole.h"

#define EXACT 0x1p24f

static bool is_sum(enum mase_op op)
{
    return op == MASE_OP_sum || op == MASE_OP_cumsum;
}

/* One item, run by one thread, so that the first fault is reported. */
static void look(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    const struct mase_slot *of = is_sum(s->node->op) ? s->in[0] : s->out;
    (void)from, (void)to;
    *s->fault = (struct mase_fault){ 0 };
    for (int64_t i = 0; i < p->samples && !s->fault->found; i++) {
        float sum = 0;
        for (int64_t r = 0; r < of->rows && !s->fault->found; r++) {
            const float v = fabsf(of->x[r * p->stride + i]);
            sum = is_sum(s->node->op) ? sum + v : v;
            if (!(sum < EXACT))
                *s->fault = (struct mase_fault){ true, sum, i };
        }
    }
}

static void wrap(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++)
        for (int64_t i = 0; i < p->n; i++) {
            float *x = &s->out->x[r * p->stride + i];
            *x -= 256 * floorf(*x / 256);
        }
}

enum mase_status mase_step_refuse_whole(const struct mase_step *s, int64_t sample,
                                        struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "%s: sample %lld comes to an integer of %.9g; a plan, which computes in "
                     "float32, has integers below 2^24",
                     s->node->name, (long long)sample, (double)s->fault->value);
}

enum mase_status mase_step_guard_whole(struct mase_step *s, struct mase_err *err)
{
    const enum mase_op op = s->node->op;
    const enum mase_prim prim = mase_op_prim(op);
    const bool computes = prim == MASE_PRIM_map || prim == MASE_PRIM_zip ||
                          prim == MASE_PRIM_reduce || prim == MASE_PRIM_scan ||
                          prim == MASE_PRIM_update;
    const enum mase_dtype dtype = s->out->tensor->dtype;
    if (!mase_is_whole(dtype) || s->fault || s->plan->derived_of)
        return MASE_OK;
    if (prim == MASE_PRIM_dot)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: a plan sums products in float32, and these are of integers",
                         s->node->name);
    if (!computes)
        return MASE_OK;
    s->fault = mase_new(&s->plan->arena, struct mase_fault);
    s->guarded = true;
    s->single = NULL;
    mase_step_forward(s, look, MASE_UNIT_ITEMS, 1);
    if (dtype == MASE_U8)
        mase_step_forward(s, wrap, MASE_UNIT_ITEMS, (long)s->out->rows);
    return MASE_OK;
}
