/*
 * ref_activation.c - activations: functions of one value with up to two parameters, and softmax.
 */
#include <math.h>

#include "exec/ref.h"

/* p: the parameters that the table below names. Comparisons are written so that NaN stays NaN. */
typedef double activation_fn(double x, const double *p);

static double relu(double x, const double *p)
{
    (void)p;
    return x < 0.0 ? 0.0 : x;
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

static double leaky_relu(double x, const double *p)
{
    return x < 0.0 ? p[0] * x : x;
}

static double elu(double x, const double *p)
{
    return x < 0.0 ? p[0] * expm1(x) : x;
}

static double selu(double x, const double *p)
{
    (void)p;
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    return scale * (x < 0.0 ? alpha * expm1(x) : x);
}

static double sigmoid(double x, const double *p)
{
    (void)p;
    return 1.0 / (1.0 + exp(-x));
}

static double silu(double x, const double *p)
{
    return x * sigmoid(x, p);
}

static double hardtanh(double x, const double *p)
{
    return clip(x, p[0], p[1]);
}

static double hardsigmoid(double x, const double *p)
{
    return relu6(x + 3.0, p) / 6.0;
}

static double hardswish(double x, const double *p)
{
    return x * hardsigmoid(x, p);
}

static double hardshrink(double x, const double *p)
{
    return x >= -p[0] && x <= p[0] ? 0.0 : x;
}

static double softshrink(double x, const double *p)
{
    return x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : 0.0 * x;
}

/* Linear above the threshold, where the exponential would not change the result. */
static double softplus(double x, const double *p)
{
    return x * p[0] > p[1] ? x : log1p(exp(x * p[0])) / p[0];
}

static double softsign(double x, const double *p)
{
    (void)p;
    return x / (1.0 + fabs(x));
}

static double logsigmoid(double x, const double *p)
{
    (void)p;
    return fmin(x, 0.0) - log1p(exp(-fabs(x)));
}

static const struct {
    activation_fn *f;
    const char *param[2];
} activations[MASE_OP_COUNT] = {
    [MASE_OP_relu] = { relu, { 0 } },
    [MASE_OP_relu6] = { relu6, { 0 } },
    [MASE_OP_leaky_relu] = { leaky_relu, { "negative_slope" } },
    [MASE_OP_elu] = { elu, { "alpha" } },
    [MASE_OP_selu] = { selu, { 0 } },
    [MASE_OP_silu] = { silu, { 0 } },
    [MASE_OP_sigmoid] = { sigmoid, { 0 } },
    [MASE_OP_hardtanh] = { hardtanh, { "min_val", "max_val" } },
    [MASE_OP_hardswish] = { hardswish, { 0 } },
    [MASE_OP_hardsigmoid] = { hardsigmoid, { 0 } },
    [MASE_OP_hardshrink] = { hardshrink, { "lambd" } },
    [MASE_OP_softshrink] = { softshrink, { "lambd" } },
    [MASE_OP_softplus] = { softplus, { "beta", "threshold" } },
    [MASE_OP_softsign] = { softsign, { 0 } },
    [MASE_OP_logsigmoid] = { logsigmoid, { 0 } },
};

static void map(struct mase_call *c, activation_fn *f, const double *p)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int64_t n = mase_tensor_count(x);
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, f(ref_get(x, i), p));
}

enum mase_status mase_forward_activation(struct mase_call *c, struct mase_err *err)
{
    enum mase_op op = c->node->op;
    double p[2] = { 0.0, 0.0 };
    if (!activations[op].f)
        mase_bug("%s is no activation", mase_ops[op].name);
    for (int i = 0; i < 2 && activations[op].param[i]; i++)
        MASE_TRY(mase_call_float(c, &p[i], activations[op].param[i], err));
    map(c, activations[op].f, p);
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

/* One line of elements: e^(x - max) over its sum, or the logarithm of that. */
static void softmax_line(struct mase_tensor *out, const struct mase_tensor *x, int64_t first,
                         int64_t n, int64_t stride, bool logarithm)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t k = 0; k < n; k++)
        top = fmax(top, ref_get(x, first + k * stride));
    for (int64_t k = 0; k < n; k++)
        sum += exp(ref_get(x, first + k * stride) - top);
    for (int64_t k = 0; k < n; k++) {
        double d = ref_get(x, first + k * stride) - top;
        ref_set(out, first + k * stride, logarithm ? d - log(sum) : exp(d) / sum);
    }
}

static enum mase_status softmax(struct mase_call *c, bool logarithm, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    int axis;
    MASE_TRY(mase_ref_softmax_axis(c, &axis, &x->shape, err));
    struct mase_axis a = mase_axis_of(&x->shape, axis);
    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < a.inner; i++)
            softmax_line(ref_out(c), x, o * a.len * a.inner + i, a.len, a.inner, logarithm);
    return MASE_OK;
}

enum mase_status mase_forward_softmax(struct mase_call *c, struct mase_err *err)
{
    return softmax(c, false, err);
}

enum mase_status mase_forward_log_softmax(struct mase_call *c, struct mase_err *err)
{
    return softmax(c, true, err);
}
