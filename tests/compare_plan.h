/*
 * compare_plan.h - one network by a plan and by the reference: the same numbers, or no plan.
 *
 * The reference computes each value in double and rounds it once to float32; a plan computes in
 * float32. With values of size one and a few sums of a few terms on the way to an output, they
 * differ by some 2^-24 of each step: CP_CLOSE is ten thousand times the last place. Networks with
 * values above CP_WILD, infinities or NaN are run and not compared: float32 loses there what it
 * will.
 *
 * Gradients are compared with differences of the reference along one random direction per input and
 * parameter, F being a sum of the outputs with weights:
 *     F' = (8 (F(h) - F(-h)) - (F(2h) - F(-2h))) / 12 h
 * by h and by h / 2. Where the two disagree, or where the second differences F(h) - 2 F(0) + F(-h)
 * do not shrink as h^2, there is a corner in between, or too much rounding, and nothing is said.
 */
#ifndef MASE_TESTS_COMPARE_PLAN_H
#define MASE_TESTS_COMPARE_PLAN_H

#include <math.h>
#include <string.h>

#include <mase/call.h>
#include <mase/plan.h>
#include <mase/run.h>

#define CP_CLOSE 6e-4
#define CP_WILD  1e3
#define CP_SLOPE \
    1e-2 /* of a gradient, and how far the two differences may be apart for it to count */

struct cp_case {
    struct mase_graph *g;
    struct mase_input in[4]; /* with values for all samples */
    int inputs;
    int64_t samples;
};

enum cp_verdict {
    CP_SAME,
    CP_REFUSED, /* no plan, or it refused the values */
    CP_UNTAMED, /* values that are not compared */
    CP_WRONG,
};

/* ---- the two ways ---- */

static inline bool cp_tame(const struct mase_arg *a)
{
    for (int i = 0; (a->kind == MASE_ARG_TUPLE || a->kind == MASE_ARG_LIST) && i < a->count; i++)
        if (!cp_tame(&a->items[i]))
            return false;
    for (int64_t i = 0; a->kind == MASE_ARG_TENSOR && i < mase_tensor_count(a->tensor); i++)
        if (!(fabs(mase_tensor_get(a->tensor, i)) <= CP_WILD))
            return false;
    return true;
}

/* The reference's output; NULL when it fails. *tame: all values are such that float32 keeps them.
 */
static inline const struct mase_tensor *cp_reference(const struct cp_case *c, struct mase_arena *a,
                                                     bool *tame, struct mase_err *err)
{
    struct mase_values v;
    if (mase_run_reference(&v, a, c->g, c->in, c->inputs, err))
        return NULL;
    const struct mase_arg *out = mase_run_output(&v, c->g);
    *tame = true;
    for (int i = 0; i < v.count; i++)
        *tame = *tame && cp_tame(&v.value[i]);
    return out->kind == MASE_ARG_TENSOR ? out->tensor : NULL;
}

static inline enum mase_status cp_plan(const struct cp_case *c, struct mase_plan **p, int64_t batch,
                                       bool train, int threads, struct mase_err *err)
{
    const struct mase_plan_opts o = { .batch = batch,
                                      .train = train,
                                      .input_gradients = true,
                                      .threads = threads,
                                      .inputs = c->in,
                                      .input_count = c->inputs };
    return mase_plan_new(p, c->g, &o, err);
}

static inline void cp_feed(const struct cp_case *c, struct mase_plan *p)
{
    mase_plan_set_samples(p, c->samples);
    for (int i = 0; i < c->inputs; i++) {
        const struct mase_lanes x = mase_plan_input(p, i);
        for (int64_t k = 0; k < x.rows * c->samples; k++)
            x.data[k / c->samples * x.stride + k % c->samples] =
                (float)mase_tensor_get(&c->in[i].tensor, k % c->samples * x.rows + k / c->samples);
    }
}

/* ---- values ---- */

static inline enum cp_verdict cp_values(const struct mase_lanes *y, const struct mase_tensor *want,
                                        int64_t samples, struct mase_str *why)
{
    if (y->rows * samples != mase_tensor_count(want)) {
        mase_str_printf(why, "%lld values for each sample, not %lld", (long long)y->rows,
                        (long long)(mase_tensor_count(want) / samples));
        return CP_WRONG;
    }
    for (int64_t i = 0; i < y->rows * samples; i++) {
        const double w = mase_tensor_get(want, i);
        const double got = (double)y->data[i % y->rows * y->stride + i / y->rows];
        if (!(fabs(got - w) <= CP_CLOSE * fmax(1.0, fabs(w)))) {
            mase_str_printf(why,
                            "output %lld of sample %lld: the plan has %.9g, the reference %.9g",
                            (long long)(i % y->rows), (long long)(i / y->rows), got, w);
            return CP_WRONG;
        }
    }
    return CP_SAME;
}

/* In a plan for this many samples or more. */
static inline enum cp_verdict cp_forward(const struct cp_case *c, int64_t batch, bool train,
                                         int threads, struct mase_str *why)
{
    struct mase_plan *p;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    bool tame = true;
    enum cp_verdict verdict = CP_UNTAMED;
    if (cp_plan(c, &p, batch, train, threads, &err)) {
        mase_str_printf(why, "%s", err.msg);
        return CP_REFUSED;
    }
    cp_feed(c, p);
    const bool refused = mase_plan_forward(p, &err) != MASE_OK;
    const struct mase_tensor *want = cp_reference(c, &a, &tame, &err);
    const struct mase_lanes y = mase_plan_output(p);
    if (refused || (!want && tame)) {
        verdict = refused && !want ? CP_REFUSED : CP_WRONG;
        mase_str_printf(why, "only the %s refuses it: %s", refused ? "plan" : "reference", err.msg);
    } else if (want && tame) {
        verdict = cp_values(&y, want, c->samples, why);
    }
    mase_plan_free(p);
    mase_arena_release(&a);
    return verdict;
}

/* ---- gradients ---- */

static inline double cp_weight(int64_t i)
{
    return (double)(i * 7 % 11 - 5) / 8;
}

static inline double cp_functional(const struct cp_case *c)
{
    struct mase_arena a = { 0 };
    struct mase_err err;
    bool tame;
    double sum = 0;
    const struct mase_tensor *y = cp_reference(c, &a, &tame, &err);
    for (int64_t i = 0; y && i < mase_tensor_count(y); i++)
        sum += cp_weight(i) * mase_tensor_get(y, i);
    mase_arena_release(&a);
    return y ? sum : NAN;
}

static inline double cp_direction(int64_t i)
{
    return i * 13 % 7 < 3 ? -1.0 : 1.0;
}

struct cp_differences {
    double first, second;
};

/* Along the direction in t. */
static inline struct cp_differences cp_differences(const struct cp_case *c, struct mase_tensor *t,
                                                   double h)
{
    const struct mase_tensor before = *t;
    const int64_t n = mase_tensor_count(t);
    struct mase_arena a = { 0 };
    double f[5];
    t->data = mase_arena_memdup(&a, t->data, (size_t)mase_tensor_bytes(t));
    for (int k = 0; k < 5; k++) {
        for (int64_t i = 0; i < n; i++)
            mase_tensor_set(t, i, mase_tensor_get(&before, i) + (k - 2) * h * cp_direction(i));
        f[k] = cp_functional(c);
    }
    *t = before;
    mase_arena_release(&a);
    return (struct cp_differences){ (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h),
                                    f[3] - 2 * f[2] + f[1] };
}

struct cp_slopes {
    struct cp_case *c;
    const float *g;         /* of the next parameter */
    struct mase_str *why;   /* what is wrong, when something is */
    int checked, unchecked; /* tensors */
};

static inline bool cp_slope(struct cp_slopes *s, struct mase_tensor *t, double got,
                            const char *name)
{
    const double h = 1.0 / 32;
    const struct cp_differences coarse = cp_differences(s->c, t, h);
    const struct cp_differences fine = cp_differences(s->c, t, h / 2);
    const double room = CP_SLOPE * fmax(1.0, fabs(fine.first));
    if (!(fabs(coarse.first - fine.first) <= room / 4) ||
        !(fabs(4 * fine.second - coarse.second) <= h * room / 2)) {
        s->unchecked++;
        return true;
    }
    s->checked++;
    if (fabs(got - fine.first) <= room)
        return true;
    mase_str_printf(s->why, "the gradient along %s is %.9g, by differences %.9g", name, got,
                    fine.first);
    return false;
}

static inline bool cp_param(const char *full, struct mase_param *p, void *data)
{
    struct cp_slopes *s = data;
    const int64_t n = mase_tensor_count(&p->tensor);
    double got = 0;
    if (!mase_param_is_trained(p))
        return true;
    for (int64_t i = 0; i < n; i++)
        got += cp_direction(i) * (double)s->g[i];
    s->g += (n + 15) / 16 * 16;
    return cp_slope(s, &p->tensor, got, full);
}

static inline bool cp_input(struct cp_slopes *s, const struct mase_plan *p, int k)
{
    const struct mase_lanes g = mase_plan_input_gradient(p, k), x = mase_plan_input(p, k);
    double got = 0;
    for (int64_t i = 0; g.data && i < x.rows * s->c->samples; i++)
        got += cp_direction(i) * (double)g.data[i % x.rows * g.stride + i / x.rows];
    return cp_slope(s, &s->c->in[k].tensor, got, s->c->in[k].name);
}

/* Forward and backward, the output's gradient being cp_weight; false when the values are refused.
 */
static inline bool cp_backward(const struct cp_case *c, struct mase_plan *p)
{
    struct mase_err err;
    cp_feed(c, p);
    if (mase_plan_forward(p, &err))
        return false;
    const struct mase_lanes y = mase_plan_output(p);
    float *dy = mase_plan_output_gradient(p);
    for (int64_t i = 0; dy && i < y.rows * y.stride; i++) {
        const int64_t row = i / y.stride, k = i % y.stride;
        dy[i] = k < c->samples ? (float)cp_weight(k * y.rows + row) : 0.0f;
    }
    mase_plan_backward(p);
    return true;
}

/* Of a network whose values are the same and tame. */
static inline enum cp_verdict cp_gradients(struct cp_case *c, struct mase_plan *p,
                                           struct cp_slopes *s)
{
    s->c = c;
    s->g = mase_plan_params(p).g;
    if (!cp_backward(c, p))
        return CP_REFUSED;
    const size_t before = s->why->len;
    for (int i = 0; i < c->inputs; i++)
        if (!cp_input(s, p, i))
            return CP_WRONG;
    mase_graph_each_param(c->g, cp_param, s);
    return s->why->len > before ? CP_WRONG : CP_SAME;
}

#endif /* MASE_TESTS_COMPARE_PLAN_H */
