/*
 * t_steps_exact.c - operations whose result is one rounded value, or no more than a choice, give in
 * a plan what the reference gives, bit for bit: the signs of zeros, infinities, NaN, ties and
 * denormals included, on every instruction set.
 */
#include "kern/kern.h"
#include "run_cases.h"
#include "step_case.h"

#include <float.h>

#define FEATURES 48
#define ONE                  \
    .in = {                  \
        { 1, { FEATURES } }, \
    }
#define TWO                  \
    .in = {                  \
        { 1, { FEATURES } }, \
        { 1, { FEATURES } }, \
    }

static const struct step_case cases[] = {
    { "relu", "a = ReLU(); a(x)", ONE },
    { "relu6", "a = ReLU6(); a(x)", ONE },
    { "hardtanh", "a = Hardtanh(min_val=-0.5, max_val=2.0); a(x)", ONE },
    { "leaky_relu", "a = LeakyReLU(negative_slope=0.25); a(x)", ONE },
    { "hardshrink", "a = Hardshrink(lambd=0.75); a(x)", ONE },
    { "softshrink", "a = Softshrink(lambd=0.75); a(x)", ONE },
    { "neg", "torch.neg(x)", ONE },
    { "abs", "torch.abs(x)", ONE },
    { "sqrt", "torch.sqrt(x)", ONE },
    { "round", "torch.round(x)", ONE },
    { "floor", "torch.floor(x)", ONE },
    { "clamp", "torch.clamp(x, 0.0, 2.5)", ONE },
    { "clamp", "torch.clamp(x, -1.5)", ONE },
    { "add", "operator.add(x, y)", TWO },
    { "add", "operator.add(x, 0.0)", ONE },
    { "sub", "operator.sub(x, y)", TWO },
    { "sub", "torch.sub(x, x)", ONE },
    { "mul", "operator.mul(x, y)", TWO },
    { "mul", "operator.mul(x, -0.0)", ONE },
    { "div", "torch.div(x, y)", TWO },
    { "maximum", "torch.maximum(x, y)", TWO },
    { "minimum", "torch.minimum(x, y)", TWO },
    { "eq", "operator.eq(x, y)", TWO },
    { "ne", "operator.ne(x, y)", TWO },
    { "gt", "operator.gt(x, y)", TWO },
    { "ge", "operator.ge(x, y)", TWO },
    { "lt", "operator.lt(x, y)", TWO },
    { "le", "operator.le(x, y)", TWO },
    { "where", "operator.gt(x, 0.0); torch.where(gt, x, y)", TWO },
    { 0 },
};

static const float hostile[] = {
    0.0f,    -0.0f,        0.5f,       -0.5f,        1.5f,          -1.5f,   2.5f,
    -2.5f,   0.75f,        -0.75f,     6.0f,         -6.0f,         FLT_MIN, -FLT_MIN,
    FLT_MAX, -FLT_MAX,     INFINITY,   -INFINITY,    NAN,           1e-20f,  -1e-20f,
    3e38f,   -0.49999997f, 8388607.5f, FLT_TRUE_MIN, -FLT_TRUE_MIN,
};
enum { HOSTILE = sizeof hostile / sizeof *hostile, SAMPLES = 37 };

/* Hostile numbers in every pairing: the second input runs at another speed. */
static void fill(struct running *r)
{
    for (int i = 0; i < r->inputs; i++)
        for (int64_t k = 0; k < mase_tensor_count(&r->input[i].tensor); k++)
            mase_f32(&r->input[i].tensor)[k] = hostile[(i ? k / HOSTILE : k) % HOSTILE];
}

static void check_bits(const struct running *r, const struct mase_plan *p,
                       const struct mase_tensor *want, const char *isa)
{
    const struct mase_lanes y = mase_plan_output(p);
    for (int64_t i = 0; i < mase_tensor_count(want); i++) {
        const float got = y.data[i % y.rows * y.stride + i / y.rows];
        const float w = (float)mase_tensor_get(want, i);
        if (isnan(got) && isnan(w)) /* which of several is left to the processor */
            continue;
        if (memcmp(&got, &w, sizeof w))
            fail_msg("%s: %s: %s: of %a, %a: got %a, want %a", isa, r->c->op, r->c->text,
                     mase_tensor_get(&r->input[0].tensor, i),
                     r->inputs > 1 ? mase_tensor_get(&r->input[1].tensor, i) : 0.0, (double)got,
                     (double)w);
    }
}

static void exact_steps_are_the_reference_to_the_bit(void **state)
{
    (void)state;
    for (const struct step_case *c = cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        fill(&r);
        const struct mase_tensor want = reference(&r, &r.arena);
        for (int i = 0; i < MASE_ISA_COUNT; i++) {
            struct mase_plan *p;
            const struct mase_plan_opts o = { .batch = SAMPLES,
                                              .inputs = r.input,
                                              .input_count = r.inputs };
            setenv("MASE_ISA", mase_isa_names[i], 1);
            const enum mase_status st = mase_plan_new(&p, r.graph, &o, &err);
            unsetenv("MASE_ISA");
            if (st == MASE_EUNSUPPORTED && i > 0)
                continue;
            must(st, c);
            feed(&r, p, SAMPLES);
            assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
            check_bits(&r, p, &want, mase_isa_names[i]);
            mase_plan_free(p);
        }
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_steps_are_the_reference_to_the_bit),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
