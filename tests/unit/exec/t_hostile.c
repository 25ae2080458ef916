/*
 * t_hostile.c - whatever stands where an argument belongs, a call gives a result or an error, never
 * a crash. Every argument of every case of cases.txt is replaced by every value of a list of
 * unlikely ones; run under the sanitizers, this looks for wild reads and overflows.
 */
#include <mase/run.h>

#include "run_cases.h"
#include "unit/ir/cases.h"

static struct mase_arg two_ints[] = { { .kind = MASE_ARG_INT, .i = INT64_MAX },
                                      { .kind = MASE_ARG_INT, .i = -1 } };
static struct mase_arg slice_parts[] = { { .kind = MASE_ARG_INT, .i = INT64_MIN },
                                         { .kind = MASE_ARG_NONE },
                                         { .kind = MASE_ARG_INT, .i = INT64_MAX } };
static const struct mase_arg unlikely[] = {
    { .kind = MASE_ARG_NONE },
    { .kind = MASE_ARG_BOOL, .b = true },
    { .kind = MASE_ARG_INT, .i = 0 },
    { .kind = MASE_ARG_INT, .i = -1 },
    { .kind = MASE_ARG_INT, .i = 3 },
    { .kind = MASE_ARG_INT, .i = INT64_C(1) << 40 },
    { .kind = MASE_ARG_INT, .i = INT64_MAX },
    { .kind = MASE_ARG_INT, .i = INT64_MIN },
    { .kind = MASE_ARG_FLOAT, .f = -0.5 },
    { .kind = MASE_ARG_FLOAT, .f = 1e300 },
    { .kind = MASE_ARG_TEXT, .s = "zeros" },
    { .kind = MASE_ARG_ATOM, .s = "torch.float16" },
    { .kind = MASE_ARG_TUPLE },
    { .kind = MASE_ARG_LIST, .items = two_ints, .count = 2 },
    { .kind = MASE_ARG_SLICE, .items = slice_parts, .count = 3 },
    { .kind = MASE_ARG_DICT },
};

struct tally {
    int tried, refused;
};

static void try_graph(struct op_case *c, struct tally *t)
{
    struct mase_err err = { 0 };
    struct mase_values v;
    struct mase_arena a = { 0 };
    t->tried++;
    if (mase_run_reference(&v, &a, c->graph, c->input, c->input_count, &err)) {
        t->refused++;
        assert_true(err.msg[0] != '\0');
    }
    mase_arena_release(&a);
}

/* Replace what is at *place for a while; n's arguments are args and kwargs. */
static void try_place(struct op_case *c, struct mase_node *n, struct mase_arg *args,
                      struct mase_arg *kwargs, struct mase_arg *place, struct tally *t)
{
    struct mase_arg original = *place;
    for (size_t i = 0; i < sizeof unlikely / sizeof unlikely[0]; i++) {
        *place = unlikely[i];
        mase_node_set_args(n, args, kwargs);
        try_graph(c, t);
    }
    *place = original;
    mase_node_set_args(n, args, kwargs);
}

static void try_node(struct op_case *c, struct mase_node *n, struct tally *t)
{
    struct mase_arg args = mase_arg_copy(&c->arena, &n->args);
    struct mase_arg kwargs = mase_arg_copy(&c->arena, &n->kwargs);
    for (int i = 0; i < args.count; i++)
        try_place(c, n, &args, &kwargs, &args.items[i], t);
    for (int i = 0; i < kwargs.count; i++)
        try_place(c, n, &args, &kwargs, &kwargs.items[i], t);
}

static void no_argument_crashes_a_call(void **state)
{
    (void)state;
    struct case_reader r = open_cases("data/ops/cases.txt");
    struct op_case c;
    struct tally t = { 0, 0 };
    for (; next_case(&r, &c); release_case(&c))
        for (struct mase_node *n = c.graph->first; n; n = n->next)
            if (n->kind >= MASE_CALL_FUNCTION && n->kind <= MASE_CALL_MODULE)
                try_node(&c, n, &t);
    close_cases(&r);
    assert_true(t.tried > 10000);
    assert_true(t.refused > t.tried / 2); /* most of it makes no sense */
}

/* The same for what a layer is constructed with. */
static void no_attribute_crashes_a_layer(void **state)
{
    (void)state;
    struct case_reader r = open_cases("data/ops/cases.txt");
    struct op_case c;
    struct tally t = { 0, 0 };
    for (; next_case(&r, &c); release_case(&c)) {
        struct mase_module *m = c.graph->modules;
        for (int k = 0; m && k < mase_op_ctor_sig(m->op)->count; k++) {
            struct mase_arg original = m->attrs[k];
            for (size_t i = 0; i < sizeof unlikely / sizeof unlikely[0]; i++) {
                m->attrs[k] = unlikely[i];
                c.graph->edits++;
                try_graph(&c, &t);
            }
            m->attrs[k] = original;
            c.graph->edits++;
        }
    }
    close_cases(&r);
    assert_true(t.tried > 5000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_argument_crashes_a_call),
        cmocka_unit_test(no_attribute_crashes_a_layer),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
