/*
 * t_random.c - plans of random networks compute what the reference does, or there is no plan:
 * values in both modes and in plans of more room, gradients by differences, and those of the
 * program that is the gradient. The seeds are fixed: what is wrong once stays wrong. NETWORKS=4000
 * in the environment looks at so many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <mase/rng.h>

#include "compare_grad.h"
#include "compare_plan.h"
#include "random_graph.h"
#include "run_cases.h"

enum { NETWORKS = 200, CALLS = 12 };

static uint32_t next_number(void *data)
{
    return mase_rng_u32(data);
}

struct tally {
    int verdict[CP_WRONG + 1];
    int checked, unchecked;
    int program[CP_WRONG + 1]; /* of the program that is the gradient */
};

/* Another number of samples than the networks were made for. */
static struct cp_case case_of(struct rg *r, int64_t samples)
{
    struct cp_case c = { .g = r->g, .inputs = r->inputs, .samples = samples };
    for (int i = 0; i < r->inputs; i++) {
        struct mase_shape s = r->input[i].tensor.shape;
        s.dim[0] = samples;
        c.in[i] = r->input[i];
        c.in[i].tensor = mase_tensor(&r->arena, MASE_F32, &s, true);
        for (int64_t k = 0; k < mase_tensor_count(&c.in[i].tensor); k++)
            mase_f32(&c.in[i].tensor)[k] =
                (float)(2 * rg_pick(r, 32) - 31) / 16 + (float)(k % 64) * 0x1p-12f; /* no ties */
    }
    return c;
}

static void print_network(const struct rg *r)
{
    struct mase_str text = { 0 };
    mase_graph_print_mg(&text, r->g);
    fputs(mase_str_text(&text), stderr);
    mase_str_release(&text);
}

static void check_network(struct rg *r, uint64_t seed, struct tally *t)
{
    struct mase_str why = { 0 };
    struct mase_plan *p;
    struct mase_err err;
    struct cp_case c = case_of(r, 1 + rg_pick(r, 20));
    enum cp_verdict v = CP_SAME;
    for (int i = 0; i < 4 && v == CP_SAME; i++)
        v = cp_forward(&c, i / 2 ? c.samples + 20 : c.samples, i % 2,
                       i == 3 && seed % 8 == 0 ? 2 : 1, &why);
    if (v == CP_SAME && !r->has_formats && !cp_plan(&c, &p, c.samples, true, 1, &err)) {
        struct cp_slopes s = { .why = &why };
        v = cp_gradients(&c, p, &s);
        t->checked += s.checked;
        t->unchecked += s.unchecked;
        if (v == CP_SAME)
            t->program[v = cg_compare(&c, p, true, &why)]++;
        mase_plan_free(p);
    }
    t->verdict[v]++;
    if (v == CP_WRONG) {
        print_network(r);
        fprintf(stderr, "seed %d, %d samples: %s\n", (int)seed, (int)c.samples,
                mase_str_text(&why));
    }
    mase_str_release(&why);
}

static void plans_are_right_or_refused(void **state)
{
    struct tally t = { 0 };
    const int networks = getenv("NETWORKS") ? atoi(getenv("NETWORKS")) : NETWORKS;
    (void)state;
    for (int seed = 0; seed < networks; seed++) {
        struct mase_rng rng = mase_rng((uint64_t)seed, MASE_STREAM_TEST, 0);
        struct rg r = { .next = next_number, .data = &rng };
        rg_make(&r, CALLS);
        check_network(&r, (uint64_t)seed, &t);
        rg_release(&r);
    }
    print_message("%d the same, %d refused, %d not compared; %d gradients, %d at corners\n",
                  t.verdict[CP_SAME], t.verdict[CP_REFUSED], t.verdict[CP_UNTAMED], t.checked,
                  t.unchecked);
    print_message("%d gradients as programs the same, %d refused, %d not compared\n",
                  t.program[CP_SAME], t.program[CP_REFUSED], t.program[CP_UNTAMED]);
    assert_int_equal(t.verdict[CP_WRONG], 0);
    assert_true(t.program[CP_SAME] > networks / 3);
    /* Most networks can be run, and most gradients compared: else the test looks at nothing. */
    assert_true(t.verdict[CP_SAME] > networks / 2);
    assert_true(t.checked > 3 * networks / 2 && t.checked > 4 * t.unchecked);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_right_or_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
