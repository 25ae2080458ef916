/*
 * op_layout.c - operations that move rows, such as permute, cat, split, x[...], expand: each row of
 * the result is a row of an operand, or a constant, or 0.
 *
 * The map of rows is found by running the reference once, for two samples, on operands that hold
 * positions instead of values. So a plan cannot differ from the reference, and a call that mixes
 * samples is detected.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/step/rowmap.h"

/* A position is (operand + 1) PLACE + row samples + sample; a number among the arguments is -1 -
 * its index. */
static const double PLACE = 0x1p40;

struct layout {
    struct mase_step *step;
    struct mase_call call;  /* the probe's, its operands replaced by positions */
    struct mase_arena work; /* freed when the map is known */
    double number[MASE_MAX_PARAMS];
    int numbers;
};

/* The number of the input that t is, counted from 1. One that is given twice, also under another
 * shape, is one input: its gradient must be written once. */
static enum mase_status input_of(struct mase_step *s, const struct mase_tensor *t, int *number,
                                 struct mase_err *err)
{
    MASE_TRY(mase_step_operand(s, t, err));
    const struct mase_slot *last = s->in[s->in_count - 1],
                           *root = last->alias_of ? last->alias_of : last;
    for (*number = 1; *number < s->in_count; ++*number)
        if (s->in[*number - 1] == root || s->in[*number - 1]->alias_of == root) {
            s->in_count--;
            break;
        }
    return MASE_OK;
}

/* Samples of the probe; 1 in a plan without batch. */
static int64_t samples_of(const struct mase_plan *p)
{
    return mase_plan_first(p) ? 2 : 1;
}

static enum mase_status replace_tensor(struct layout *l, struct mase_arg *probe,
                                       const struct mase_tensor *t, struct mase_err *err)
{
    int number;
    MASE_TRY(input_of(l->step, t, &number, err));
    const struct mase_slot *slot = mase_step_slot(l->step, t);
    const int64_t samples = samples_of(l->step->plan);
    struct mase_tensor places = mase_tensor(&l->work, MASE_F64, &probe->tensor->shape, true);
    const int64_t count = mase_tensor_count(&places);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = mase_slot_row(slot, i, samples);
        const int64_t sample = slot->lanes ? i / mase_slot_behind(slot) % samples : 0;
        ((double *)places.data)[i] = number * PLACE + (double)(row * samples + sample);
    }
    probe->tensor = mase_arena_memdup(&l->work, &places, sizeof places);
    return MASE_OK;
}

/* The tensors of an index or a mask, which decide where rows come from. */
static enum mase_status need_constant(const struct layout *l, const struct mase_arg *arg,
                                      struct mase_err *err)
{
    if (arg->kind == MASE_ARG_TENSOR && !arg->tensor->data)
        return mase_call_fail(&l->call, err, "a plan needs indices and masks that are constant");
    for (int i = 0; mase_arg_is_seq(arg) && i < arg->count; i++)
        MASE_TRY(need_constant(l, &arg->items[i], err));
    return MASE_OK;
}

/* One argument: data becomes positions; indices and masks must be constants. */
static enum mase_status replace_arg(struct layout *l, struct mase_arg *probe,
                                    const struct mase_arg *arg, char role, struct mase_err *err)
{
    if (mase_arg_is_seq(arg) && role) {
        *probe = mase_arg_seq(&l->work, probe->kind, probe->items, probe->count);
        for (int i = 0; i < arg->count; i++)
            MASE_TRY(replace_arg(l, &probe->items[i], &arg->items[i], role, err));
        return MASE_OK;
    }
    if (arg->kind != MASE_ARG_TENSOR) {
        if (role && mase_arg_number(arg, &l->number[l->numbers]))
            *probe = mase_arg_float(-1.0 - l->numbers++);
        return MASE_OK;
    }
    return role == 't' ? need_constant(l, arg, err) : replace_tensor(l, probe, arg->tensor, err);
}

/* pad's value, which is 0 when it is not given. */
static enum mase_status replace_filling(struct layout *l, struct mase_arg *probe,
                                        const struct mase_arg *value, struct mase_err *err)
{
    const struct mase_arg zero = mase_arg_float(0);
    return replace_arg(l, probe, mase_arg_present(value) ? value : &zero, 'x', err);
}

static enum mase_status replace_args(struct layout *l, struct mase_err *err)
{
    const struct mase_call *c = l->step->call;
    for (int i = 0; i < c->sig->count; i++) {
        char role = c->sig->param[i].role;
        if (c->node->op == MASE_OP_expand_as && i == 1)
            continue; /* only its shape counts */
        if (c->node->op == MASE_OP_masked_fill && i == 2)
            role = 'x'; /* the value */
        if (c->node->op == MASE_OP_pad && i == 3) {
            MASE_TRY(replace_filling(l, &l->call.param[i], &c->param[i], err));
            continue;
        }
        if (c->node->op == MASE_OP_getattr && i == 0)
            role = 'x';
        if ((c->node->op == MASE_OP_getitem || c->node->op == MASE_OP_setitem) && i == 1) {
            MASE_TRY(need_constant(l, &l->call.param[i], err));
            continue;
        }
        MASE_TRY(replace_arg(l, &l->call.param[i], &c->param[i], role, err));
    }
    return MASE_OK;
}

/* The result's tensors hold positions too. */
static void retype(struct layout *l, struct mase_arg *r)
{
    if (r->kind == MASE_ARG_TENSOR) {
        struct mase_tensor t = mase_tensor(&l->work, MASE_F64, &r->tensor->shape, true);
        r->tensor = mase_arena_memdup(&l->work, &t, sizeof t);
    }
    if (mase_arg_is_seq(r))
        *r = mase_arg_seq(&l->work, r->kind, r->items, r->count);
    for (int i = 0; mase_arg_is_seq(r) && i < r->count; i++)
        retype(l, &r->items[i]);
}

static enum mase_status mixes(const struct mase_step *s, struct mase_err *err)
{
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "%s: %s moves values between samples, which a plan cannot", s->node->name,
                     mase_ops[s->node->op].name);
}

static enum mase_status read_map(struct layout *l, const struct mase_tensor *t,
                                 struct mase_err *err)
{
    struct mase_step *s = l->step;
    struct mase_term_list terms = { 0 };
    float *shift = l->numbers ? mase_new_array(&s->plan->arena, float, (size_t)s->out->rows) : NULL;
    const double *place = t->data;
    const int64_t samples = samples_of(s->plan);
    for (int64_t r = 0; r < s->out->rows; r++) {
        const double first = place[mase_slot_element(s->out, r, 0, samples)];
        const double second = place[mase_slot_element(s->out, r, samples - 1, samples)];
        if (first == 0 && second == 0) /* nothing comes here */
            continue;
        if (first == 0)
            return mixes(s, err);
        if (first < 0 && second != first)
            return mixes(s, err);
        if (first < 0) {
            shift[r] = (float)l->number[(int)(-1.0 - first)];
            continue;
        }
        const int input = (int)(first / PLACE) - 1;
        const int64_t at = (int64_t)fmod(first, PLACE), next = (int64_t)fmod(second, PLACE);
        const int64_t row = at / samples, further = s->in[input]->lanes ? samples - 1 : 0;
        if ((int)(second / PLACE) - 1 != input || at % samples || next != at + further)
            return mixes(s, err);
        mase_rowmap_add(s, &terms, (struct mase_term){ input, (int32_t)r, (int32_t)row, 1.0f });
    }
    mase_rowmap_set(s, &terms, 1, shift);
    return MASE_OK;
}

static enum mase_status probe(struct layout *l, struct mase_err *err)
{
    l->call.arena = &l->work;
    MASE_TRY(replace_args(l, err));
    retype(l, &l->call.result);
    MASE_TRY(mase_forward_of(l->call.node->op)(&l->call, err));
    const struct mase_arg *r = &l->call.result;
    return read_map(l, mase_arg_is_seq(r) ? r->items[l->step->result_index].tensor : r->tensor,
                    err);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct layout l = { .step = s, .call = *s->probe };
    (void)c;
    const enum mase_status st = probe(&l, err);
    mase_arena_release(&l.work);
    return st;
}

/* ---- new tensors with a batch dimension ---- */

/* One row of numbers for all samples: torch.zeros(x.size(0), 3). */
static enum mase_status read_values(struct mase_step *s, const struct mase_tensor *t,
                                    struct mase_err *err)
{
    float *shift = mase_new_array(&s->plan->arena, float, (size_t)s->out->rows);
    for (int64_t r = 0; r < s->out->rows; r++) {
        const double first = mase_tensor_get(t, mase_slot_element(s->out, r, 0, 2));
        shift[r] = (float)first;
        if (mase_tensor_get(t, mase_slot_element(s->out, r, 1, 2)) != first)
            return mase_call_fail(s->call, err, "differs from sample to sample");
    }
    mase_rowmap_set(s, &(struct mase_term_list){ 0 }, 1, shift);
    return MASE_OK;
}

static enum mase_status prepare_fill(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct mase_arena work = { 0 };
    struct mase_call probed = *s->probe;
    struct mase_tensor own = *probed.result.tensor;
    (void)c;
    probed.arena = &work;
    probed.result.tensor = &own;
    mase_ref_allocate(&work, &probed.result);
    enum mase_status st = mase_forward_of(probed.node->op)(&probed, err);
    if (!st)
        st = read_values(s, probed.result.tensor, err);
    mase_arena_release(&work);
    return st;
}

const struct mase_step_kind mase_step_fill = { .name = "fill",
                                               .prepare = prepare_fill,
                                               .axes = MASE_AXES_ANY };
const struct mase_step_kind mase_step_layout = {
    .name = "layout", .prepare = prepare, .axes = MASE_AXES_ANY, .derives = true
};
