/*
 * program_verify.c - every rule of a program that does not hold, one line each.
 *
 * Values are numbered, made once and before they are used; what an instruction gives has the type
 * that the operation's own shape rule finds, for two numbers of samples; sums are as wide as their
 * operands make them.
 */
#include <stdio.h>

#include "base/number.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"
#include "quant/quant.h"

enum { TRIES = 2 };
static const int64_t samples_of[TRIES] = { 2, 5 };

struct check {
    const struct mase_program *p;
    struct mase_tensor **tensor[TRIES]; /* of every value, for so many samples */
    struct mase_str *out;
    int faults;
    int defined; /* values below it may be used */
    char at[64]; /* the current line */
};

static void say(struct check *c, const char *fmt, ...) MASE_PRINTF(2, 3);
static void say(struct check *c, const char *fmt, ...)
{
    va_list ap;
    c->faults++;
    if (!c->out)
        return;
    mase_str_printf(c->out, "%s: ", c->at);
    va_start(ap, fmt);
    mase_str_vprintf(c->out, fmt, ap);
    va_end(ap);
    mase_str_addc(c->out, '\n');
}

static void check_use(struct mase_pvalue *v, void *data)
{
    struct check *c = data;
    const bool known =
        v->number >= 0 && v->number < c->p->value_count && c->p->value[v->number] == v;
    if (!known)
        say(c, "it uses a value that the program does not have");
    else if (v->made_by && v->number >= c->defined)
        say(c, "it uses %%%d before that is made", v->number);
}

/* ---- types ---- */

static void collect(const struct mase_arg *a, const struct mase_tensor **t, int *count, int cap)
{
    if (a->kind == MASE_ARG_TENSOR && (*count)++ < cap)
        t[*count - 1] = a->tensor;
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        collect(&a->items[i], t, count, cap);
}

static bool fits(const struct mase_pvalue *v, const struct mase_tensor *t, int64_t samples)
{
    const struct mase_shape s = mase_ptype_shape(&v->type, samples);
    return v->type.dtype == t->dtype && mase_shape_equal(&s, &t->shape);
}

static struct mase_tensor **tensors_of(struct mase_arena *a, const struct mase_program *p,
                                       int64_t samples)
{
    struct mase_tensor **t = mase_new_array(a, struct mase_tensor *, (size_t)p->value_count);
    for (int n = 0; n < p->value_count; n++) {
        const struct mase_ptype *type = &p->value[n]->type;
        const struct mase_shape s = mase_ptype_shape(type, samples);
        t[n] = mase_new(a, struct mase_tensor);
        *t[n] = mase_tensor(a, type->dtype, &s, false);
    }
    return t;
}

static void say_type(struct check *c, const struct mase_instr *i, const struct mase_tensor *t,
                     int64_t samples)
{
    struct mase_str text = { 0 };
    const struct mase_arg arg = { .kind = MASE_ARG_TENSOR, .tensor = (struct mase_tensor *)t };
    mase_arg_show(&text, &arg);
    say(c, "of %lld samples %s makes %s", (long long)samples, mase_ops[i->op].name,
        mase_str_text(&text));
    mase_str_release(&text);
}

/* Check that the shape rule finds the types of the results, for this number of samples. */
static void check_call(struct check *c, const struct mase_instr *i, int try)
{
    struct mase_arena a = { 0 };
    struct mase_pcall k;
    struct mase_err err = { 0 };
    int found = 0;
    const struct mase_tensor **t =
        mase_new_array(&a, const struct mase_tensor *, (size_t)i->result_count + 1);
    mase_pcall_init(&k, &a, i, c->tensor[try], samples_of[try]);
    if (mase_call_infer(&k.call, &err)) {
        say(c, "%s", err.msg);
    } else {
        collect(&k.call.result, t, &found, i->result_count);
        if (found != i->result_count)
            say(c, "%s gives %d tensors, not %d", mase_ops[i->op].name, found, i->result_count);
        for (int n = 0; n < found && n < i->result_count; n++)
            if (!fits(i->result[n], t[n], samples_of[try]))
                say_type(c, i, t[n], samples_of[try]);
    }
    mase_arena_release(&a);
}

/* Does the operation take them at all? */
static void check_operands(struct check *c, const struct mase_instr *i, int try)
{
    struct mase_arena a = { 0 };
    struct mase_pcall k;
    struct mase_err err = { 0 };
    mase_pcall_init(&k, &a, i, c->tensor[try], samples_of[try]);
    if (mase_call_infer(&k.call, &err))
        say(c, "%s", err.msg);
    mase_arena_release(&a);
}

static void check_round(struct check *c, const struct mase_instr *i)
{
    const struct mase_pvalue *x = mase_pvalue_of(&i->param[0]);
    if (!x || !i->round.format || i->result_count != 1)
        say(c, "round takes one value and a number format");
    else if (x->type.dtype != MASE_F32 || !mase_ptype_equal(&x->type, &i->result[0]->type))
        say(c, "round takes f32 and gives the same type");
    else if (i->round_rank < x->type.rank || i->round_rank > MASE_MAX_RANK)
        say(c, "round counts fewer dimensions than the value has");
    if (i->round.format && mase_format_is_open(i->round.format) != (i->of[0] && i->of[1]))
        say(c, "the steps of %s come from two values that were rounded, of which it is the bias",
            mase_quants[MASE_QUANT_products]->name);
    for (int k = 1; k < mase_instr_params(i); k++) {
        const struct mase_pvalue *v = mase_pvalue_of(&i->param[k]);
        if (!v || v->type.dtype != MASE_F32 || v->type.rank != 1 || mase_ptype_follows(&v->type))
            say(c, "what a format learns is a vector of f32");
        else if (x && x->type.dtype == MASE_F32 && v->type.dim[0].plus != mase_instr_blocks(i))
            say(c, "%s learns %lld values of it, not %lld", i->round.format->row->name,
                (long long)mase_instr_blocks(i), (long long)v->type.dim[0].plus);
    }
}

/* The gradient of what was rounded to, then the operands of round, whose types are those of the
 * results. */
static void check_round_back(struct check *c, const struct mase_instr *i)
{
    const struct mase_pvalue *dy = mase_pvalue_of(&i->param[0]);
    const int learned = mase_format_learned(i->round.format);
    if (!i->round.format || i->result_count != 1 + learned) {
        say(c, "round_back has a result for each operand of a rounding to a number format");
        return;
    }
    if (!dy || !mase_ptype_equal(&dy->type, &i->result[0]->type))
        say(c, "the gradient has another type than what was rounded");
    for (int k = 0; k <= learned; k++) {
        const struct mase_pvalue *v = mase_pvalue_of(&i->param[1 + k]);
        if (!v || v->type.dtype != MASE_F32 || !mase_ptype_equal(&v->type, &i->result[k]->type))
            say(c, "round_back gives f32 of the types of its operands");
        else if (k && v->type.dim[0].plus != mase_instr_blocks(i))
            say(c, "%s learns %lld values of it, not %lld", i->round.format->row->name,
                (long long)mase_instr_blocks(i), (long long)v->type.dim[0].plus);
    }
}

/* Slopes have one value for each that the operation computes or takes. */
static void check_slope(struct check *c, const struct mase_instr *i, int try)
{
    const int before = c->faults;
    check_operands(c, i, try);
    if (c->faults > before)
        return;
    const struct mase_ptype want = mase_slope_type(i);
    if (i->result_count != 1 || !mase_ptype_equal(&want, &i->result[0]->type))
        say(c, "%s of %s has another type", mase_prims[i->prim].name, mase_ops[i->op].name);
}

/* The operation takes what the adjoint gives, and gives what that takes. */
static void check_adjoint(struct check *c, const struct mase_instr *i, int try)
{
    const struct mase_pvalue *dy = mase_pvalue_of(&i->param[0]);
    struct mase_arg param[MASE_MAX_PARAMS];
    struct mase_pvalue *result = (struct mase_pvalue *)dy;
    struct mase_instr forward = *i;
    if (!dy || i->result_count != 1) {
        say(c, "adjoint takes a value and gives one");
        return;
    }
    for (int k = 0; k < mase_instr_params(i); k++)
        param[k] = i->param[k];
    param[0] = mase_pvalue_arg(i->result[0]);
    forward.param = param;
    forward.result = &result;
    check_call(c, &forward, try);
}

static void check_prim(struct check *c, const struct mase_instr *i)
{
    const bool both = i->op == MASE_OP_max || i->op == MASE_OP_min;
    if (i->prim != mase_op_prim(i->op) && !(both && i->prim == MASE_PRIM_zip) &&
        !mase_prim_derives(i->prim, i->op))
        say(c, "%s is no %s", mase_ops[i->op].name, mase_prims[i->prim].name);
}

static void check_types(struct check *c, const struct mase_instr *i, int try)
{
    if (i->prim == MASE_PRIM_adjoint)
        check_adjoint(c, i, try);
    else if (mase_prim_is_derived(i->prim))
        check_slope(c, i, try);
    else
        check_call(c, i, try);
}

static void check_instr(struct check *c, const struct mase_instr *i)
{
    const int before = c->faults;
    mase_snprintf(c->at, sizeof c->at, "%%%d", i->result_count ? i->result[0]->number : c->defined);
    for (int k = 0; k < mase_instr_params(i); k++)
        mase_each_pvalue(&i->param[k], check_use, c);
    for (int k = 0; k < i->result_count; k++) {
        if (i->result[k]->made_by != i || i->result[k]->source != MASE_PSOURCE_RESULT)
            say(c, "it is not marked as the result of its instruction");
        if (i->result[k]->number < c->defined)
            say(c, "numbers do not follow the order of instructions");
        else
            c->defined = i->result[k]->number + 1;
    }
    if (c->faults > before)
        return;
    if (i->prim == MASE_PRIM_round || i->prim == MASE_PRIM_round_back) {
        (i->prim == MASE_PRIM_round ? check_round : check_round_back)(c, i);
        return;
    }
    check_prim(c, i);
    if (i->round.format && i->prim != MASE_PRIM_recur)
        say(c, "%s has no factors to round", mase_prims[i->prim].name);
    for (int t = 0; t < TRIES && c->faults == before; t++)
        check_types(c, i, t);
    const struct mase_integer_form sum = c->faults == before ? mase_instr_sum(i) : i->sum;
    if (sum.width != i->sum.width || sum.frac_width != i->sum.frac_width)
        say(c, "its operands make the sum fixed(%d, %d)", sum.width, sum.frac_width);
}

int mase_program_verify(const struct mase_program *p, struct mase_str *out)
{
    struct check c = { .p = p, .out = out, .at = "program" };
    struct mase_arena a = { 0 };
    for (int t = 0; t < TRIES; t++)
        c.tensor[t] = tensors_of(&a, p, samples_of[t]);
    for (int n = 0; n < p->value_count; n++)
        if (p->value[n]->number != n)
            say(&c, "value %d has the number %d", n, p->value[n]->number);
    for (const struct mase_instr *i = p->first; i && !c.faults; i = i->next)
        check_instr(&c, i);
    mase_snprintf(c.at, sizeof c.at, "return");
    c.defined = p->value_count;
    if (!c.faults)
        mase_each_pvalue(&p->output, check_use, &c);
    mase_arena_release(&a);
    return c.faults;
}
