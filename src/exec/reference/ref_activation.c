/*
 * ref_activation.c - activations: functions of one value with up to two parameters, and softmax.
 */
#include <float.h>
#include <math.h>

#include "exec/reference/ref.h"

/* Comparisons are written so that NaN stays NaN. */

static double relu(double x, const double *p)
{
    (void)p;
    return x < 0.0 ? 0.0 : x;
}

static double relu_slope(double x, const double *p)
{
    (void)p;
    return x > 0.0 ? 1.0 : 0.0;
}

static double clip(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static double relu6(double x, const double *p)
{
    (void)p;
    return clip(x, 0.0, 6.0);
}

static double relu6_slope(double x, const double *p)
{
    (void)p;
    return x > 0.0 && x < 6.0 ? 1.0 : 0.0;
}

static double leaky_relu(double x, const double *p)
{
    return x < 0.0 ? p[0] * x : x;
}

static double leaky_relu_slope(double x, const double *p)
{
    return x > 0.0 ? 1.0 : p[0];
}

static double elu(double x, const double *p)
{
    return x < 0.0 ? p[0] * expm1(x) : x;
}

static double elu_slope(double x, const double *p)
{
    return x > 0.0 ? 1.0 : p[0] * exp(x);
}

static double selu(double x, const double *p)
{
    (void)p;
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    return scale * (x < 0.0 ? alpha * expm1(x) : x);
}

static double selu_slope(double x, const double *p)
{
    (void)p;
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    return scale * (x > 0.0 ? 1.0 : alpha * exp(x));
}

static double sigmoid(double x, const double *p)
{
    (void)p;
    return 1.0 / (1.0 + exp(-x));
}

static double sigmoid_slope(double x, const double *p)
{
    const double y = sigmoid(x, p);
    return y * (1.0 - y);
}

static double silu(double x, const double *p)
{
    return x * sigmoid(x, p);
}

static double silu_slope(double x, const double *p)
{
    const double y = sigmoid(x, p);
    return y * (1.0 + x * (1.0 - y));
}

static double hardtanh(double x, const double *p)
{
    return clip(x, p[0], p[1]);
}

static double hardtanh_slope(double x, const double *p)
{
    return x > p[0] && x < p[1] ? 1.0 : 0.0;
}

static double hardsigmoid(double x, const double *p)
{
    return relu6(x + 3.0, p) / 6.0;
}

static double hardsigmoid_slope(double x, const double *p)
{
    (void)p;
    return fabs(x) < 3.0 ? 1.0 / 6.0 : 0.0;
}

static double hardswish(double x, const double *p)
{
    return x * hardsigmoid(x, p);
}

static double hardswish_slope(double x, const double *p)
{
    (void)p;
    return x > 3.0 ? 1.0 : x < -3.0 ? 0.0 : x / 3.0 + 0.5;
}

static double hardshrink(double x, const double *p)
{
    return x >= -p[0] && x <= p[0] ? 0.0 : x;
}

static double softshrink(double x, const double *p)
{
    return x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : 0.0 * x;
}

/* Also for hardshrink. */
static double shrink_slope(double x, const double *p)
{
    return fabs(x) > p[0] ? 1.0 : 0.0;
}

/* Linear above the threshold, where the exponential would not change the result. */
static double softplus(double x, const double *p)
{
    return x * p[0] > p[1] ? x : log1p(exp(x * p[0])) / p[0];
}

static double softplus_slope(double x, const double *p)
{
    return x * p[0] > p[1] ? 1.0 : sigmoid(x * p[0], p);
}

static double softsign(double x, const double *p)
{
    (void)p;
    return x / (1.0 + fabs(x));
}

static double softsign_slope(double x, const double *p)
{
    (void)p;
    return 1.0 / ((1.0 + fabs(x)) * (1.0 + fabs(x)));
}

static double logsigmoid(double x, const double *p)
{
    (void)p;
    return fmin(x, 0.0) - log1p(exp(-fabs(x)));
}

static double logsigmoid_slope(double x, const double *p)
{
    return sigmoid(-x, p);
}

/* log(1 + e^x), which is x long before e^x is too large. */
static double soft_plus(double x)
{
    return x > 20.0 ? x : log1p(exp(x));
}

static double mish(double x, const double *p)
{
    (void)p;
    return x * tanh(soft_plus(x));
}

static double mish_slope(double x, const double *p)
{
    const double t = tanh(soft_plus(x));
    return t + x * sigmoid(x, p) * (1.0 - t * t);
}

static double celu(double x, const double *p)
{
    return x > 0.0 ? x : p[0] * expm1(x / p[0]);
}

static double celu_slope(double x, const double *p)
{
    return x > 0.0 ? 1.0 : exp(x / p[0]);
}

static double threshold(double x, const double *p)
{
    return x <= p[0] ? p[1] : x;
}

static double threshold_slope(double x, const double *p)
{
    return x <= p[0] ? 0.0 : 1.0;
}

static double tanhshrink(double x, const double *p)
{
    (void)p;
    return x - tanh(x);
}

static double tanhshrink_slope(double x, const double *p)
{
    (void)p;
    return tanh(x) * tanh(x);
}

static double nan_to_num(double x, const double *p)
{
    return isnan(x) ? p[0] : x == INFINITY ? p[1] : x == -INFINITY ? p[2] : x;
}

static double nan_to_num_slope(double x, const double *p)
{
    (void)p;
    return isfinite(x) ? 1.0 : 0.0;
}

static const struct {
    mase_activation_fn *f;
    const char *param[2];
    mase_activation_fn *slope;
} activations[MASE_OP_COUNT] = {
    [MASE_OP_relu] = { relu, { 0 }, relu_slope },
    [MASE_OP_relu6] = { relu6, { 0 }, relu6_slope },
    [MASE_OP_leaky_relu] = { leaky_relu, { "negative_slope" }, leaky_relu_slope },
    [MASE_OP_elu] = { elu, { "alpha" }, elu_slope },
    [MASE_OP_selu] = { selu, { 0 }, selu_slope },
    [MASE_OP_silu] = { silu, { 0 }, silu_slope },
    [MASE_OP_sigmoid] = { sigmoid, { 0 }, sigmoid_slope },
    [MASE_OP_hardtanh] = { hardtanh, { "min_val", "max_val" }, hardtanh_slope },
    [MASE_OP_hardswish] = { hardswish, { 0 }, hardswish_slope },
    [MASE_OP_hardsigmoid] = { hardsigmoid, { 0 }, hardsigmoid_slope },
    [MASE_OP_hardshrink] = { hardshrink, { "lambd" }, shrink_slope },
    [MASE_OP_softshrink] = { softshrink, { "lambd" }, shrink_slope },
    [MASE_OP_softplus] = { softplus, { "beta", "threshold" }, softplus_slope },
    [MASE_OP_softsign] = { softsign, { 0 }, softsign_slope },
    [MASE_OP_logsigmoid] = { logsigmoid, { 0 }, logsigmoid_slope },
    [MASE_OP_mish] = { mish, { 0 }, mish_slope },
    [MASE_OP_celu] = { celu, { "alpha" }, celu_slope },
    [MASE_OP_threshold] = { threshold, { "threshold", "value" }, threshold_slope },
    [MASE_OP_tanhshrink] = { tanhshrink, { 0 }, tanhshrink_slope },
    [MASE_OP_nan_to_num] = { nan_to_num, { 0 }, nan_to_num_slope },
};

static void map(struct mase_call *c, mase_activation_fn *f, const double *p)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int64_t n = mase_tensor_count(x);
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, f(ref_get(x, i), p));
}

/* Replacements for NaN and infinities: the arguments, else 0 and the type's extremes. */
static enum mase_status read_replacements(const struct mase_call *c, double *p,
                                          struct mase_err *err)
{
    static const char *const names[] = { "nan", "posinf", "neginf" };
    const double end = mase_arg_tensor(&c->param[0])->dtype == MASE_F64 ? DBL_MAX : (double)FLT_MAX;
    const double usual[] = { 0.0, end, -end };
    for (int i = 0; i < 3; i++) {
        p[i] = usual[i];
        if (mase_arg_present(mase_call_arg(c, names[i])))
            MASE_TRY(mase_call_float(c, &p[i], names[i], err));
    }
    return MASE_OK;
}

enum mase_status mase_activation_read(const struct mase_call *c, struct mase_activation *a,
                                      struct mase_err *err)
{
    const enum mase_op op = c->node->op;
    *a = (struct mase_activation){ .value = activations[op].f, .slope = activations[op].slope };
    if (op == MASE_OP_nan_to_num)
        return read_replacements(c, a->p, err);
    for (int i = 0; i < 2 && activations[op].param[i]; i++) {
        MASE_TRY(mase_call_float(c, &a->p[i], activations[op].param[i], err));
        if (mase_arg_tensor(&c->param[0])->dtype == MASE_F32) /* as PyTorch compares with it */
            a->p[i] = (double)(float)a->p[i];
    }
    if (op == MASE_OP_celu && a->p[0] == 0.0)
        return mase_call_fail(c, err, "alpha must not be 0");
    return MASE_OK;
}

enum mase_status mase_forward_activation(struct mase_call *c, struct mase_err *err)
{
    struct mase_activation a;
    MASE_TRY(mase_activation_read(c, &a, err));
    if (!a.value)
        mase_bug("%s is no activation", mase_ops[c->node->op].name);
    map(c, a.value, a.p);
    return MASE_OK;
}

enum mase_status mase_forward_nan_to_num(struct mase_call *c, struct mase_err *err)
{
    return mase_forward_activation(c, err);
}

enum mase_status mase_forward_rrelu(struct mase_call *c, struct mase_err *err)
{
    double slope;
    MASE_TRY(mase_rrelu_slope(c, false, &slope, err));
    map(c, leaky_relu, &slope);
    return MASE_OK;
}

/* ---- activations of two values ---- */

/* The weight is one number, or one for each channel: [C], or [C, 1, ...] in a program. */
enum mase_status mase_forward_prelu(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *w = mase_call_tensor(c, "weight");
    const struct mase_shape *s = &x->shape;
    const struct mase_axis a = mase_axis_of(s, s->rank > 1 ? 1 : 0);
    const bool one = mase_tensor_count(w) == 1;
    const int64_t n = mase_tensor_count(x);
    (void)err;
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i,
                mase_binary_of(MASE_OP_prelu)(ref_get(x, i),
                                              ref_get(w, one ? 0 : i / a.inner % a.len)));
    return MASE_OK;
}

enum mase_status mase_forward_glu(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    const struct mase_axis a = mase_axis_of(&ref_out(c)->shape, axis);
    const int64_t half = a.len * a.inner, n = mase_tensor_count(ref_out(c));
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = i / half * 2 * half + i % half;
        ref_set(ref_out(c), i, ref_get(x, from) * sigmoid(ref_get(x, from + half), NULL));
    }
    return MASE_OK;
}

/* ---- gelu ---- */

static double gelu(double x, const double *p)
{
    (void)p;
    return 0.5 * x * (1.0 + erf(x / sqrt(2.0)));
}

static double gelu_tanh(double x, const double *p)
{
    (void)p;
    const double sqrt_2_over_pi = 0.79788456080286535588;
    return 0.5 * x * (1.0 + tanh(sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
}

enum mase_status mase_forward_gelu(struct mase_call *c, struct mase_err *err)
{
    const char *how = mase_call_text(c, "approximate", "none");
    bool approximate = mase_streq(how, "tanh");
    if (!approximate && !mase_streq(how, "none"))
        return mase_call_fail(c, err, "approximate = '%s' is neither 'none' nor 'tanh'", how);
    map(c, approximate ? gelu_tanh : gelu, NULL);
    return MASE_OK;
}

/* ---- softmax ---- */

/* Without a dim PyTorch takes 0 for 0, 1 and 3 dimensions, else 1. */
enum mase_status mase_ref_softmax_axis(const struct mase_call *c, int *axis,
                                       const struct mase_shape *s, struct mase_err *err)
{
    if (mase_arg_present(mase_call_arg(c, "dim")))
        return mase_call_axis_arg(c, axis, s, "dim", err);
    *axis = s->rank == 0 || s->rank == 1 || s->rank == 3 ? 0 : 1;
    return MASE_OK;
}

struct soft {
    double sign; /* -1: softmin */
    bool logarithm;
};

/* The elements of one vector: e^(x - max) over its sum, or the logarithm of that. */
static void softmax_vector(struct mase_tensor *out, const struct mase_tensor *x, int64_t first,
                           int64_t n, int64_t stride, const struct soft *how)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t k = 0; k < n; k++)
        top = fmax(top, how->sign * ref_get(x, first + k * stride));
    for (int64_t k = 0; k < n; k++)
        sum += exp(how->sign * ref_get(x, first + k * stride) - top);
    for (int64_t k = 0; k < n; k++) {
        double d = how->sign * ref_get(x, first + k * stride) - top;
        ref_set(out, first + k * stride, how->logarithm ? d - log(sum) : exp(d) / sum);
    }
}

static enum mase_status softmax_along(struct mase_call *c, int axis, struct soft how)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_axis a = mase_axis_of(&x->shape, axis);
    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < a.inner; i++)
            softmax_vector(ref_out(c), x, o * a.len * a.inner + i, a.len, a.inner, &how);
    return MASE_OK;
}

static enum mase_status softmax(struct mase_call *c, struct soft how, struct mase_err *err)
{
    int axis;
    MASE_TRY(mase_ref_softmax_axis(c, &axis, &mase_call_tensor(c, "input")->shape, err));
    return softmax_along(c, axis, how);
}

enum mase_status mase_forward_softmax(struct mase_call *c, struct mase_err *err)
{
    return softmax(c, (struct soft){ .sign = 1.0 }, err);
}

enum mase_status mase_forward_log_softmax(struct mase_call *c, struct mase_err *err)
{
    return softmax(c, (struct soft){ .sign = 1.0, .logarithm = true }, err);
}

enum mase_status mase_forward_softmin(struct mase_call *c, struct mase_err *err)
{
    return softmax(c, (struct soft){ .sign = -1.0 }, err);
}

enum mase_status mase_forward_softmax2d(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    return softmax_along(c, mase_call_tensor(c, "input")->shape.rank - 3,
                         (struct soft){ .sign = 1.0 });
}
