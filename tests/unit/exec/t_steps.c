/*
 * t_steps.c - every step of a plan computes what the reference does, and its gradients are those of
 * the reference by differences; threads, instruction sets and the batch's size change nothing.
 *
 * Differences: of a linear functional F of the output with random weights, by the five point rule
 *     F' = (8 (F(+h) - F(-h)) - (F(+2h) - F(-2h))) / 12 h,  error h^4 F''''' / 30,
 * with h = 1/32 on numbers that are multiples of 1/8, so that the moved inputs are exact. The
 * reference rounds every output once to float32, which moves F by at most 2^-24 sum |weight output|
 * and F' by 1.5 / h times that (48); two nodes in a row by twice as much. To this comes 1e-4 for
 * the truncation and the plan's own float32 sums.
 */
#include "kern/kern.h"
#include "run_cases.h"
#include "step_case.h"

#include "ir/shape/shape.h"

static const double H = 1.0 / 32;

/* ---- values ---- */

static void check_output(struct running *r, struct mase_plan *p, const struct mase_tensor *want,
                         int64_t samples)
{
    const struct mase_lanes y = mase_plan_output(p);
    assert_int_equal(y.rows * r->samples, mase_tensor_count(want));
    for (int64_t k = 0; k < samples; k++)
        for (int64_t row = 0; row < y.rows; row++) {
            const double w = mase_tensor_get(want, k * y.rows + row);
            const double got = (double)y.data[row * y.stride + k];
            if (!(fabs(got - w) <= 1e-5 * fmax(1.0, fabs(w))))
                fail_msg("%s: %s: row %lld of sample %lld: got %.9g, want %.9g", r->c->op,
                         r->c->text, (long long)row, (long long)k, got, w);
        }
}

static bool uses_batch(const struct step_case *c)
{
    return strncmp(c->op, "batch_norm", 10) == 0 &&
           (c->op[10] != '\0' || strstr(c->text, "None, None"));
}

/* In both modes, in batches that fill their lanes and in those that do not. */
static void steps_equal_the_reference(void **state)
{
    static const int64_t sizes[] = { 1, 7, 16, 17, 80 };
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++)
        for (int i = 0; i < 10; i++) {
            const int64_t samples = uses_batch(c) && i / 2 == 0 ? 2 : sizes[i / 2];
            struct running r = start(c, samples);
            const struct mase_tensor want = reference(&r, &r.arena);
            struct mase_plan *p = plan_of(&r, uses_batch(c) ? samples : samples + 3, i % 2, 1);
            feed(&r, p, samples);
            assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
            check_output(&r, p, &want, samples);
            mase_plan_free(p);
            stop(&r);
        }
}

/* ---- gradients ---- */

/* F, and the sum of the absolute terms. */
static double functional_of(struct running *r, double *size)
{
    struct mase_arena a = { 0 };
    const struct mase_tensor y = reference(r, &a);
    const int64_t rows = mase_tensor_count(&y) / r->samples;
    double sum = 0;
    *size = 0;
    for (int64_t i = 0; i < mase_tensor_count(&y); i++) {
        const double term = (double)functional(i % rows, i / rows) * mase_tensor_get(&y, i);
        sum += term;
        *size += fabs(term);
    }
    mase_arena_release(&a);
    return sum;
}

static void check_derivative(struct running *r, struct mase_tensor *t, int64_t i, double got,
                             const char *what)
{
    const double x = mase_tensor_get(t, i);
    double f[4], size = 0;
    for (int k = 0; k < 4; k++) {
        mase_tensor_set(t, i, x + (k < 2 ? k - 2 : k - 1) * H);
        f[k] = functional_of(r, &size);
    }
    mase_tensor_set(t, i, x);
    const double want = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * H);
    const double tolerance = 2 * 1.5 / H * 0x1p-24 * size + 1e-4 * fmax(1.0, fabs(want));
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s: %s: d/d %s[%lld]: got %.9g, want %.9g +- %.2g", r->c->op, r->c->text, what,
                 (long long)i, got, want, tolerance);
}

struct param_walk {
    struct running *r;
    const float *g;
};

static bool check_param(const char *full, struct mase_param *param, void *data)
{
    struct param_walk *w = data;
    const int64_t count = mase_tensor_count(&param->tensor);
    if (param->tied)
        return true;
    for (int64_t i = 0; i < count && !mase_param_is_buffer(param); i++)
        check_derivative(w->r, &param->tensor, i, (double)w->g[i], full);
    w->g += mase_param_is_buffer(param) ? 0 : (count + 15) / 16 * 16;
    return true;
}

static void check_inputs(struct running *r, struct mase_plan *p)
{
    for (int i = 0; i < r->inputs; i++) {
        const struct mase_lanes g = mase_plan_input_gradient(p, i);
        const struct mase_lanes x = mase_plan_input(p, i);
        if (r->input[i].tensor.dtype != MASE_F32)
            continue;
        for (int64_t row = 0; row < x.rows; row++) {
            for (int64_t k = 0; k < r->samples; k++)
                check_derivative(r, &r->input[i].tensor, k * x.rows + row,
                                 g.rows ? (double)g.data[row * g.stride + k] : 0.0,
                                 r->input[i].name);
            for (int64_t k = r->samples; g.rows && k < 16; k++)
                assert_true(g.data[row * g.stride + k] == 0.0f); /* the padding stays clean */
        }
    }
}

static void gradients_equal_differences(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, 3);
        struct mase_plan *p = plan_of(&r, 3, true, 1);
        if (c->constant) { /* differences see what PyTorch does not pass on */
            mase_plan_free(p);
            stop(&r);
            continue;
        }
        feed(&r, p, 3);
        assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
        run_backward(p, 3);
        struct param_walk w = { &r, mase_plan_params(p).g };
        mase_graph_each_param(r.graph, check_param, &w);
        check_inputs(&r, p);
        mase_plan_free(p);
        stop(&r);
    }
}

/* Parameter gradients of a plan for `samples` samples, of which only the last three count. */
static float *last_three(struct running *r, int64_t samples, int64_t *n)
{
    struct mase_plan *p = plan_of(r, samples, true, 1);
    feed(r, p, samples);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    const struct mase_lanes y = mase_plan_output(p);
    float *dy = mase_plan_output_gradient(p);
    for (int64_t i = 0; dy && i < y.rows * y.stride; i++) {
        const int64_t k = i % y.stride - (samples - 3);
        dy[i] = k >= 0 && k < 3 ? functional(i / y.stride, k) : 0.0f;
    }
    mase_plan_backward(p);
    *n = mase_plan_params(p).n;
    float *g = mase_arena_memdup(&r->arena, mase_plan_params(p).g, (size_t)*n * sizeof *g);
    mase_plan_free(p);
    return g;
}

/* Large batches are taken in blocks: what the differences showed for three samples holds behind the
 * first block too. */
static void large_batches_have_the_same_gradients(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running many = start(c, 70), few = start(c, 3);
        for (int i = 0; i < few.inputs; i++) {
            const int64_t count = mase_tensor_count(&few.input[i].tensor);
            for (int64_t k = 0; k < count; k++)
                mase_tensor_set(&few.input[i].tensor, k,
                                mase_tensor_get(&many.input[i].tensor, count / 3 * 67 + k));
        }
        int64_t n = 0, m = 0;
        const float *a = last_three(&many, 70, &n), *b = last_three(&few, 3, &m);
        assert_int_equal(n, m);
        for (int64_t i = 0; i < n && !uses_batch(c); i++)
            if (!(fabs((double)a[i] - (double)b[i]) <= 2e-6 * fmax(1.0, fabs((double)b[i]))))
                fail_msg("%s: %s: gradient %lld: %.9g among 70, %.9g alone", c->op, c->text,
                         (long long)i, (double)a[i], (double)b[i]);
        stop(&many);
        stop(&few);
    }
}

/* ---- what must not matter ---- */

/* Outputs and all gradients as one array of floats. */
static float *everything(struct running *r, int64_t batch, int64_t samples, int threads, size_t *n)
{
    struct mase_plan *p = plan_of(r, batch, true, threads);
    struct mase_plan_params q = mase_plan_params(p);
    feed(r, p, samples);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    const struct mase_lanes y = mase_plan_output(p);
    size_t size = (size_t)(q.n + y.rows * samples);
    for (int i = 0; i < r->inputs; i++)
        size += (size_t)(mase_plan_input(p, i).rows * samples);
    float *all = mase_new_array(&r->arena, float, size);
    *n = 0;
    for (int64_t k = 0; k < y.rows * samples; k++)
        all[(*n)++] = y.data[k / samples * y.stride + k % samples];
    run_backward(p, samples);
    for (int64_t k = 0; k < q.n; k++)
        all[(*n)++] = q.g[k];
    for (int i = 0; i < r->inputs; i++) {
        const struct mase_lanes g = mase_plan_input_gradient(p, i);
        for (int64_t k = 0; k < g.rows * samples; k++)
            all[(*n)++] = g.data[k / samples * g.stride + k % samples];
    }
    mase_plan_free(p);
    return all;
}

static bool have_isa(struct running *r)
{
    struct mase_plan *p;
    const struct mase_plan_opts o = { .batch = 2, .inputs = r->input, .input_count = r->inputs };
    if (mase_plan_new(&p, r->graph, &o, &err) == MASE_EUNSUPPORTED)
        return false;
    mase_plan_free(p);
    return true;
}

static void threads_and_isa_change_no_bit(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, 37);
        size_t n, m;
        const float *standard = everything(&r, 37, 37, 1, &n);
        for (int i = 0; i < 3 * MASE_ISA_COUNT; i++) {
            setenv("MASE_ISA", mase_isa_names[i / 3], 1);
            if (!have_isa(&r))
                continue;
            const float *other = everything(&r, 37, 37, i % 3 + 1, &m);
            assert_int_equal(n, m);
            if (memcmp(standard, other, n * sizeof *other))
                fail_msg("%s: %s: %s with %d threads differs", c->op, c->text,
                         mase_isa_names[i / 3], i % 3 + 1);
        }
        unsetenv("MASE_ISA");
        stop(&r);
    }
}

static void room_for_more_changes_no_bit(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, 7);
        size_t n, m;
        const float *tight = everything(&r, 7, 7, 1, &n), *loose = everything(&r, 40, 7, 1, &m);
        assert_int_equal(n, m);
        if (memcmp(tight, loose, n * sizeof *loose))
            fail_msg("%s: %s: a larger plan differs", c->op, c->text);
        stop(&r);
    }
}

/* Gradients of a step are its own, or come on top of the last one's: twice the same is two times as
 * much. */
static void steps_keep_apart_or_add_up(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, 7);
        struct mase_plan *p = plan_of(&r, 7, true, 1);
        const struct mase_plan_params q = mase_plan_params(p);
        const size_t size = (size_t)q.n * sizeof *q.g;
        float *once = NULL;
        for (int i = 0; i < 3; i++) {
            mase_plan_set_step(p, 0);
            mase_plan_accumulate(p, i == 2);
            feed(&r, p, 7);
            assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
            run_backward(p, 7);
            if (i == 0)
                once = mase_arena_memdup(&r.arena, q.g, size);
            else
                for (int64_t k = 0; k < q.n; k++)
                    if (!(fabsf(q.g[k] - (float)i * once[k]) <= 1e-5f * fmaxf(1, fabsf(once[k]))))
                        fail_msg("%s: %s: gradient %lld: %.9g after %.9g", c->op, c->text,
                                 (long long)k, (double)q.g[k], (double)once[k]);
        }
        mase_plan_free(p);
        stop(&r);
    }
}

static int64_t memory_of(const char *text, bool train)
{
    const struct step_case c = { "relu", text, .in = { { 1, { 64 } } } };
    struct running r = start(&c, 32);
    struct mase_plan *p = plan_of(&r, 32, train, 1);
    const int64_t bytes = mase_plan_memory(p);
    mase_plan_free(p);
    stop(&r);
    return bytes;
}

/* What only a relu reads, it overwrites, and its gradient that of the result. */
static void a_relu_takes_no_memory(void **state)
{
    (void)state;
    static const char without[] = "a = Linear(64, 64); b = Linear(64, 64); a(x); b(a)";
    static const char with[] =
        "a = Linear(64, 64); b = Linear(64, 64); a(x); torch.relu(a); b(relu)";
    assert_int_equal(memory_of(with, true), memory_of(without, true));
    assert_int_equal(memory_of(with, false), memory_of(without, false));
}

/* Networks with the place of a relu open: its function, the name of its result, more arguments.
 * What it would overwrite is read by itself alone, by others before it and behind it, by its own
 * like. */
static const char *const around[] = {
    "l = Linear(5, 5); m = Linear(5, 3); l(x); %1$s(l%3$s); m(%2$s)",
    "l = Linear(5, 5); l(x); %1$s(l%3$s); %1$s(%2$s%3$s)",
    "l = Linear(5, 5); l(x); %1$s(l%3$s); operator.mul(%2$s, l)",
    "l = Linear(5, 5); l(x); %1$s(l%3$s); operator.sub(%2$s, l)",
    "l = Linear(5, 5); l(x); operator.mul(l, l); %1$s(l%3$s); operator.add(%2$s, mul)",
    "l = Linear(5, 5); m = Linear(5, 5); l(x); %1$s(l%3$s); m(%2$s); operator.add(m, %2$s)",
    "torch.exp(x); %1$s(exp%3$s); operator.mul(%2$s, %2$s)",
    "l = Linear(5, 5); l(x); l.view(-1, 1, 5); %1$s(view%3$s); %2$s.view(-1, 5); l.add(view_1)",
    "c = Conv1d(1, 3, 2); x.view(-1, 1, 5); c(view); %1$s(c%3$s); operator.mul(%2$s, 2)",
};

static float *around_relu(const char *text, const char *call, const char *name, const char *more,
                          size_t *n)
{
    char all[256];
    snprintf(all, sizeof all, text, call, name, more);
    const struct step_case c = { "relu", all, .in = { { 1, { 5 } } } };
    struct running r = start(&c, 7);
    struct mase_rng same = mase_rng(7, MASE_STREAM_TEST, 0);
    mase_graph_each_param(r.graph, fill_param, &same);
    fill_input(&r, 0, &same);
    const float *at = everything(&r, 7, 7, 1, n);
    float *kept = malloc(*n * sizeof *kept);
    memcpy(kept, at, *n * sizeof *kept);
    stop(&r);
    return kept;
}

/* A clamp from zero on is the same and never in place. */
static void a_relu_in_place_overwrites_nothing_that_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        size_t n, m;
        float *got = around_relu(around[i], "torch.relu", "relu", "", &n);
        float *want = around_relu(around[i], "torch.clamp", "clamp", ", 0.0", &m);
        assert_int_equal(n, m);
        for (size_t k = 0; k < n; k++)
            if (!(fabsf(got[k] - want[k]) <= 1e-6f * fmaxf(1, fabsf(want[k]))))
                fail_msg("%s: %zu: %.9g, expected %.9g", around[i], k, (double)got[k],
                         (double)want[k]);
        free(got);
        free(want);
    }
}

/* ---- coverage ---- */

/* Constants, labels and checks: no step takes them. */
static bool only_reference(enum mase_op op)
{
    return op == MASE_OP__assert || op == MASE_OP_setitem || op == MASE_OP_gather ||
           op == MASE_OP_arange || op == MASE_OP_range || op == MASE_OP_tensor ||
           op == MASE_OP_store;
}

static void every_operation_has_a_case(void **state)
{
    static const bool lowers[MASE_OP_COUNT] = { [MASE_OP_unknown] = false
#define OP(name, ...)     , [MASE_OP_##name] = false
#define LOWER(prim, rule) || true
#include <mase/ops.def>
    };
    bool seen[MASE_OP_COUNT] = { false };
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        const enum mase_op op = mase_op_find(c->op);
        struct mase_graph *g = build_case(c);
        bool used = false;
        for (const struct mase_node *n = g->first; n; n = n->next)
            used |= n->op == op;
        if (!used)
            fail_msg("the case for %s does not call it: %s", c->op, c->text);
        seen[op] = true;
        mase_graph_free(g);
    }
    /* what ops.def writes out is tested as such (t_elementwise.c) */
    for (enum mase_op op = 0; op < MASE_OP_COUNT; op++)
        if (lowers[op] && !seen[op] && !only_reference(op) && !mase_unary_of(op) &&
            !mase_binary_of(op) && op != MASE_OP_counted_batch_norm) /* said by programs alone */
            fail_msg("%s has no case", mase_ops[op].name);
}

/* torch.randn(3): the same for all samples, another with every step, and in evaluation the same. */
static void what_all_samples_share_is_drawn_anew(void **state)
{
    (void)state;
    static const struct step_case c = { "randn", "torch.randn(3); operator.add(x, randn)",
                                        .in = { { 1, { 3 } } } };
    for (int train = 0; train < 2; train++) {
        struct running r = start(&c, 4);
        struct mase_plan *p = plan_of(&r, 4, train, 1);
        float drawn[3];
        feed(&r, p, 4);
        for (int step = 0; step < 3; step++) {
            must(mase_plan_forward(p, &err), &c);
            const struct mase_lanes x = mase_plan_input(p, 0), y = mase_plan_output(p);
            const float now = y.data[0] - x.data[0];
            drawn[step] = now;
            for (int64_t k = 1; k < 4; k++)
                assert_true(fabsf(y.data[k] - x.data[k] - now) < 1e-6f);
        }
        assert_int_equal(drawn[0] == drawn[1], !train);
        assert_int_equal(drawn[1] == drawn[2], !train);
        mase_plan_free(p);
        stop(&r);
    }
}

/* Thousands of runs that look at numbers alone: too long under valgrind or the thread sanitizer. */
static bool is_slow(void)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return getenv("MASE_QUICK") != NULL;
}

int main(int argc, char **argv)
{
    if (is_slow())
        cmocka_set_skip_filter("gradients_equal_differences");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_case),
        cmocka_unit_test(steps_equal_the_reference),
        cmocka_unit_test(gradients_equal_differences),
        cmocka_unit_test(large_batches_have_the_same_gradients),
        cmocka_unit_test(threads_and_isa_change_no_bit),
        cmocka_unit_test(room_for_more_changes_no_bit),
        cmocka_unit_test(steps_keep_apart_or_add_up),
        cmocka_unit_test(what_all_samples_share_is_drawn_anew),
        cmocka_unit_test(a_relu_takes_no_memory),
        cmocka_unit_test(a_relu_in_place_overwrites_nothing_that_is_read),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
