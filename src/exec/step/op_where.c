/*
 * op_where.c - one value or another by a condition that depends on the samples. A constant
 * condition only picks rows: that is a layout.
 */
#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"
#include "exec/step/broadcast.h"

/* condition ? yes : no */
struct choice {
    struct mase_spread condition, operand[2];
};

static void forward(const struct mase_step *s, long from, long to)
{
    const struct choice *c = s->own;
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++) {
        bool always, yes_broadcast, no_broadcast;
        const float *cond = mase_spread_at(s, &c->condition, r, &always);
        const float *yes = mase_spread_at(s, &c->operand[0], r, &yes_broadcast);
        const float *no = mase_spread_at(s, &c->operand[1], r, &no_broadcast);
        float *y = s->out->x + r * p->stride;
        for (long i = 0; i < p->n; i++)
            y[i] = cond[always ? 0 : i] != 0.0f ? yes[yes_broadcast ? 0 : i]
                                                : no[no_broadcast ? 0 : i];
    }
}

static void part(const struct mase_step *s, int operand, long r, long lane, float *dx, bool add,
                 long n)
{
    const struct choice *c = s->own;
    bool always;
    const float *cond = mase_spread_at(s, &c->condition, r, &always);
    const float *dy = s->out->dx + r * s->plan->stride + lane;
    cond += always ? 0 : lane;
    for (long i = 0; i < n; i++) {
        const float d = (cond[always ? 0 : i] != 0.0f) == (operand == 0) ? dy[i] : 0.0f;
        dx[i] = add ? dx[i] + d : d;
    }
}

static void backward_yes(const struct mase_step *s, long from, long to)
{
    const struct choice *c = s->own;
    mase_spread_back(s, &c->operand[0], 0, part, from, to);
}

static void backward_no(const struct mase_step *s, long from, long to)
{
    const struct choice *c = s->own;
    mase_spread_back(s, &c->operand[1], 1, part, from, to);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    static mase_phase_fn *const backward[2] = { backward_yes, backward_no };
    const bool fill = c->node->op == MASE_OP_masked_fill; /* input, mask, value */
    const int at[3] = { fill ? 1 : 0, fill ? 2 : 1, fill ? 0 : 2 };
    const struct mase_tensor *constant = mase_arg_tensor(&s->probe->param[at[0]]);
    const struct mase_slot *slot = mase_plan_slot(s->plan, mase_arg_tensor(&c->param[at[0]]));
    if (constant && constant->data && !(slot && slot->derived)) {
        s->kind = &mase_step_layout;
        return mase_step_layout.prepare(s, c, err);
    }
    struct choice *w = s->own = mase_new(&s->plan->arena, struct choice);
    MASE_TRY(mase_spread_set(s, &w->condition, &c->param[at[0]], err));
    for (int i = 0; i < 2; i++)
        MASE_TRY(mase_spread_set(s, &w->operand[i], &c->param[at[1 + i]], err));
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    for (int i = 0; i < 2; i++)
        if (w->operand[i].in >= 0)
            mase_step_backward(s, backward[i], MASE_UNIT_ITEMS,
                               (long)s->in[w->operand[i].in]->rows);
    return MASE_OK;
}

const struct mase_step_kind mase_step_where = { .name = "where",
                                                .prepare = prepare,
                                                .derives = true };
