/*
 * t_growth.c - a network twice as long takes twice the memory to plan and to watch, not four times:
 * what is taken from the plan's arena grows as the number of nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <mase/call.h>

#include "exec/plan/plan_parts.h"
#include "run_cases.h"

enum { FEATURES = 3, SAMPLES = 5 };

static struct mase_err err;

static struct mase_graph *chain(int length)
{
    static const char *const ops[] = { "torch.relu", "torch.tanh", "torch.neg" };
    struct mase_graph *g = mase_graph_new("chain");
    struct mase_node *n = mase_graph_insert(g, NULL, MASE_PLACEHOLDER, "x", NULL, NULL);
    for (int i = 0; i < length; i++) {
        struct mase_arg last = mase_arg_node(n);
        const struct mase_arg args = { .kind = MASE_ARG_TUPLE, .items = &last, .count = 1 };
        n = mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, ops[i % 3], &args, NULL);
    }
    struct mase_arg last = mase_arg_node(n);
    const struct mase_arg args = { .kind = MASE_ARG_TUPLE, .items = &last, .count = 1 };
    mase_graph_insert(g, NULL, MASE_OUTPUT, "output", &args, NULL);
    return g;
}

/* Watchers come in the order of the nodes, each once. */
struct seen {
    int *next, number;
};

static void see(void *data, const struct mase_lanes *value, long from, long to)
{
    struct seen *s = data;
    assert_int_equal(value->rows, FEATURES);
    assert_int_equal(to - from, SAMPLES);
    assert_int_equal(*s->next, s->number);
    ++*s->next;
}

/* Bytes that planning, watching and running a chain take. */
static size_t taken(int length, bool train)
{
    struct mase_graph *g = chain(length);
    struct mase_arena a = { 0 };
    struct mase_plan *p;
    const struct mase_input in = {
        .name = "x", .tensor = { .dtype = MASE_F32, .shape = { 2, { SAMPLES, FEATURES } } }
    };
    const struct mase_plan_opts o = {
        .batch = SAMPLES, .train = train, .input_gradients = train, .inputs = &in, .input_count = 1
    };
    if (mase_plan_new(&p, g, &o, &err))
        fail_msg("%s", err.msg);
    struct seen *seen = mase_new_array(&a, struct seen, (size_t)length + 1);
    int next = 0, count = 0;
    for (const struct mase_node *n = g->first; n->kind != MASE_OUTPUT; n = n->next, count++) {
        struct mase_shape sample;
        seen[count] = (struct seen){ &next, count };
        assert_true(mase_plan_watch(
            p, &(struct mase_watch){ .node = n, .lanes = see, .data = &seen[count] }, &sample));
    }
    mase_plan_set_samples(p, SAMPLES);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    assert_int_equal(next, length + 1);
    const size_t used = p->arena.used;
    mase_plan_free(p);
    mase_graph_free(g);
    mase_arena_release(&a);
    return used;
}

static void memory_grows_as_the_network(void **state)
{
    (void)state;
    for (int train = 0; train < 2; train++) {
        const size_t few = taken(300, train), many = taken(1200, train);
        if (many > 5 * few)
            fail_msg("4 times as long: %zu bytes instead of %zu", many, few);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_grows_as_the_network),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
