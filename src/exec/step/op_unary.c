/*
 * op_unary.c - activations and other functions of one value, rows at a time.
 *
 * Most have vector bodies (kern/curves.def); the rest are computed in double as MAP in ops.def
 * says, the same on every instruction set.
 */
#include <math.h>

#include "exec/plan/step.h"
#include "exec/reference/ref.h"
#include "exec/reference/ref_whole.h"

struct unary {
    enum mase_curve curve;
    const char *param[2]; /* where they come from; NULL: from fixed */
    float fixed[2];
    bool flat; /* no gradient flows through it, though ops.def does not say so */
};

/* Functions with a kernel or parameters; others have their expression in ops.def. */
static const struct unary table[MASE_OP_COUNT] = {
    [MASE_OP_relu6] = { .curve = MASE_CURVE_clip, .fixed = { 0.0f, 6.0f } },
    [MASE_OP_leaky_relu] = { .curve = MASE_CURVE_leaky_relu, .param = { "negative_slope" } },
    [MASE_OP_elu] = { .curve = MASE_CURVE_elu, .param = { "alpha" }, .fixed = { 0.0f, 1.0f } },
    [MASE_OP_selu] = { .curve = MASE_CURVE_elu,
                       .fixed = { 1.6732632423543772848f, 1.0507009873554804934f } },
    [MASE_OP_silu] = { .curve = MASE_CURVE_silu },
    [MASE_OP_gelu] = { .curve = MASE_CURVE_gelu },
    [MASE_OP_sigmoid] = { .curve = MASE_CURVE_sigmoid },
    [MASE_OP_tanh] = { .curve = MASE_CURVE_tanh },
    [MASE_OP_hardtanh] = { .curve = MASE_CURVE_clip, .param = { "min_val", "max_val" } },
    [MASE_OP_hardswish] = { .curve = MASE_CURVE_hardswish },
    [MASE_OP_hardsigmoid] = { .curve = MASE_CURVE_hardsigmoid },
    [MASE_OP_hardshrink] = { .curve = MASE_CURVE_hardshrink, .param = { "lambd" } },
    [MASE_OP_softshrink] = { .curve = MASE_CURVE_softshrink, .param = { "lambd" } },
    [MASE_OP_softplus] = { .curve = MASE_CURVE_softplus, .param = { "beta", "threshold" } },
    [MASE_OP_softsign] = { .curve = MASE_CURVE_softsign },
    [MASE_OP_logsigmoid] = { .curve = MASE_CURVE_logsigmoid },
    [MASE_OP_neg] = { .curve = MASE_CURVE_neg },
    [MASE_OP_abs] = { .curve = MASE_CURVE_abs },
    [MASE_OP_sqrt] = { .curve = MASE_CURVE_sqrt },
    [MASE_OP_square] = { .curve = MASE_CURVE_square },
    [MASE_OP_exp] = { .curve = MASE_CURVE_exp },
    [MASE_OP_round] = { .curve = MASE_CURVE_round },
    [MASE_OP_floor] = { .curve = MASE_CURVE_floor },
    [MASE_OP_clamp] = { .curve = MASE_CURVE_clamp, .fixed = { -INFINITY, INFINITY } },
    [MASE_OP_detach] = { .curve = MASE_CURVE_identity, .flat = true },
    [MASE_OP_invert] = { .flat = true },
};

struct function {
    const struct unary *row;
    enum mase_curve curve;
    float p[2];
    mase_unary_fn *value, *slope;      /* set: of the C library; else the curve */
    struct mase_activation activation; /* or its value is set: neither */
};

static double value_of(const struct function *f, double x)
{
    return f->value ? f->value(x) : f->activation.value(x, f->activation.p);
}

static double slope_of(const struct function *f, double x)
{
    return f->value ? f->slope(x) : f->activation.slope(x, f->activation.p);
}

static bool has_curve(const struct function *f)
{
    return !f->value && !f->activation.slope;
}

/* Rows from..to in one piece when nothing lies between them. */
static long contiguous(const struct mase_plan *p, long from, long to, long *rows)
{
    *rows = p->n == p->stride ? to - from : 1;
    return *rows * p->n;
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct function *f = s->own;
    const struct mase_plan *p = s->plan;
    long rows;
    for (long r = from; r < to; r += rows) {
        const long n = contiguous(p, r, to, &rows), at = r * p->stride;
        float *y = s->out->x + at;
        const float *x = s->in[0]->x + at;
        if (has_curve(f))
            p->k->curve(f->curve, y, x, f->p, n);
        for (long i = 0; !has_curve(f) && i < n; i++)
            y[i] = (float)value_of(f, (double)x[i]);
    }
    mase_step_clear(s, s->out->x, from, to);
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct function *f = s->own;
    const struct mase_plan *p = s->plan;
    float *const all = s->in[0]->dx;
    long rows;
    for (long r = from; r < to && all; r += rows) {
        const long n = contiguous(p, r, to, &rows), at = r * p->stride;
        const float *x = s->in[0]->x + at, *dy = s->out->dx + at;
        float *dx = all + at;
        if (has_curve(f))
            p->k->curve_back(f->curve, dx, dy, x, f->p, s->add[0], n);
        for (long i = 0; !has_curve(f) && i < n; i++) {
            const float d = (float)((double)dy[i] * slope_of(f, (double)x[i]));
            dx[i] = s->add[0] ? dx[i] + d : d;
        }
    }
    if (all)
        mase_step_clear(s, all, from, to);
}

static enum mase_status set_params(struct function *f, struct mase_call *c, struct mase_err *err)
{
    static const char *const bounds[2] = { "min", "max" };
    for (int i = 0; i < 2; i++) {
        const char *name = c->node->op == MASE_OP_clamp ? bounds[i] : f->row->param[i];
        double v = (double)f->row->fixed[i];
        if (name && (c->node->op != MASE_OP_clamp || mase_arg_present(mase_call_arg(c, name))))
            MASE_TRY(mase_call_float(c, &v, name, err));
        f->p[i] = (float)v;
    }
    /* if the bounds cross, the result is max */
    if (f->curve == MASE_CURVE_clamp && f->p[0] > f->p[1])
        f->p[0] = f->p[1];
    return MASE_OK;
}

static void add_phases(struct mase_step *s, bool flat)
{
    s->stops = flat;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    if (!flat)
        mase_step_backward(s, backward, MASE_UNIT_ITEMS, (long)s->out->rows);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_operand(s, mase_arg_tensor(&c->param[0]), err));
    struct function *f = s->own = mase_new(&s->plan->arena, struct function);
    f->row = &table[c->node->op];
    f->curve = f->row->curve;
    MASE_TRY(set_params(f, c, err));
    if (f->curve == MASE_CURVE_identity) {
        f->value = mase_unary_of(c->node->op);
        f->slope = mase_slope_of(c->node->op);
        MASE_TRY(mase_activation_read(c, &f->activation, err));
    }
    if (c->node->op == MASE_OP_invert) {
        if (c->param[0].tensor->dtype != MASE_DTYPE_BOOL)
            return mase_call_fail(c, err, "a plan inverts truth values only");
        f->value = mase_unary_of(MASE_OP_not);
    }
    if (c->node->op == MASE_OP_gelu && mase_streq(mase_call_text(c, "approximate", "none"), "tanh"))
        f->curve = MASE_CURVE_gelu_tanh;
    add_phases(s, f->row->flat || mase_op_is_flat(c->node->op));
    return MASE_OK;
}

/* ---- types ---- */

/* Element types as the reference makes them (mase_tensor_convert). */
static double truth(double x)
{
    return x != 0.0;
}

static double to_i64(double x)
{
    return (double)mase_integer_of_float(x, MASE_I64);
}

static double to_i32(double x)
{
    return (double)mase_integer_of_float(x, MASE_I32);
}

static double to_u8(double x)
{
    return (double)mase_integer_of_float(x, MASE_U8);
}

/* For integers, which wrap around. */
static double low_byte(double x)
{
    return x - 256.0 * floor(x / 256.0);
}

static mase_unary_fn *const casts[MASE_DTYPE_COUNT] = {
    [MASE_I64] = to_i64, [MASE_I32] = to_i32, [MASE_U8] = to_u8, [MASE_DTYPE_BOOL] = truth
};

/* Integers and truth values are floats in a plan, so that only making them computes. */
static enum mase_status prepare_cast(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    const enum mase_dtype from = c->param[0].tensor->dtype, to = s->out->tensor->dtype;
    if (to == from || to == MASE_F32) {
        s->kind = &mase_step_view;
        return mase_step_view.prepare(s, c, err);
    }
    MASE_TRY(mase_step_input(s, c, "input", err));
    struct function *f = s->own = mase_new(&s->plan->arena, struct function);
    f->row = &table[c->node->op];
    f->value = to == MASE_U8 && mase_is_whole(from) ? low_byte : casts[to];
    if (!f->value)
        return mase_call_fail(c, err, "a plan cannot make %s of %s", mase_dtypes[to].name,
                              mase_dtypes[from].name);
    add_phases(s, true);
    return MASE_OK;
}

const struct mase_step_kind mase_step_unary = {
    .name = "unary", .prepare = prepare, .axes = MASE_AXES_KEPT, .derives = true
};
const struct mase_step_kind mase_step_cast = {
    .name = "cast", .prepare = prepare_cast, .axes = MASE_AXES_KEPT, .derives = true
};
