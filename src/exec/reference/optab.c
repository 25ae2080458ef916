/*
 * optab.c - the reference of a call: memory for its result, and the forward that the RUN column of
 * ops.def names.
 */
#include <mase/run.h>

#include "base/limit.h"
#include "exec/reference/ref.h"
#include "exec/reference/ref_whole.h"

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

/* ---- memory ---- */

static uint64_t missing_bytes(const struct mase_arg *result)
{
    uint64_t bytes = 0;
    if (result->kind == MASE_ARG_TENSOR && !result->tensor->data)
        bytes = (uint64_t)mase_tensor_bytes(result->tensor);
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        bytes += missing_bytes(&result->items[i]);
    return bytes;
}

enum mase_status mase_ref_room(const struct mase_call *c, const struct mase_arg *value,
                               struct mase_err *err)
{
    const uint64_t bytes = missing_bytes(value), all = c->arena->used + bytes;
    if (all <= mase_limit_of_network())
        return MASE_OK;
    struct mase_str text = { 0 };
    mase_arg_show(&text, value);
    const enum mase_status st =
        mase_limit_network(all, err, "%s: its result %s of %s, with all before it,", c->node->name,
                           mase_str_text(&text), mase_size_text(bytes).s);
    mase_str_release(&text);
    return st;
}

int mase_ref_allocate(struct mase_arena *a, struct mase_arg *result)
{
    int count = 0;
    if (result->kind == MASE_ARG_TENSOR && !result->tensor->data) {
        *result->tensor = mase_tensor(a, result->tensor->dtype, &result->tensor->shape, true);
        return 1;
    }
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        count += mase_ref_allocate(a, &result->items[i]);
    return count;
}

/* ---- computing ---- */

enum mase_status mase_ref_compute(struct mase_call *c, struct mase_err *err)
{
    bool done;
    MASE_TRY(mase_ref_whole(c, &done, err));
    if (done)
        return MASE_OK;
    MASE_TRY(mase_ref_check_whole(c, err));
    return mase_forward_of(c->node->op)(c, err);
}
