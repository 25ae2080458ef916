/*
 * t_program.c - a program for any number of samples computes what that of the batch at hand does:
 * every operation's cases and random networks are lowered, verified, written and read back, and
 * run to the same bits.
 */
#include <mase/program.h>

#include "random_graph.h"
#include "run_cases.h"
#include "step_case.h"

struct subject {
    const struct mase_graph *g;
    const struct mase_input *in;
    int inputs;
    const char *what;
};

static void report(const struct subject *s, const struct mase_program *p)
{
    struct mase_str text = { 0 };
    mase_graph_print_mg(&text, s->g);
    if (p)
        mase_program_print(&text, p);
    fprintf(stderr, "%s\n%s\n", s->what, mase_str_text(&text));
    mase_str_release(&text);
}

static void must_hold(const struct subject *s, const struct mase_program *p)
{
    struct mase_str faults = { 0 };
    if (mase_program_verify(p, &faults)) {
        report(s, p);
        fail_msg("%s", mase_str_text(&faults));
    }
    mase_str_release(&faults);
}

/* The same tree with the same bits? NaN counts by its bits as well. */
static bool same_values(const struct mase_arg *a, const struct mase_arg *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == MASE_ARG_TENSOR)
        return a->tensor->dtype == b->tensor->dtype &&
               mase_shape_equal(&a->tensor->shape, &b->tensor->shape) &&
               !memcmp(a->tensor->data, b->tensor->data, (size_t)mase_tensor_bytes(a->tensor));
    if (a->kind != MASE_ARG_TUPLE && a->kind != MASE_ARG_LIST)
        return mase_arg_equal(a, b);
    for (int i = 0; i < a->count; i++)
        if (a->count != b->count || !same_values(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static void must_run_as(const struct subject *s, const struct mase_program *p,
                        const struct mase_arg *want)
{
    struct mase_arena a = { 0 };
    struct mase_arg got;
    if (mase_program_run(&got, &a, p, s->in, s->inputs, &err)) {
        report(s, p);
        fail_msg("%s", err.msg);
    }
    if (!same_values(&got, want)) {
        report(s, p);
        fail_msg("the program computes something else");
    }
    mase_arena_release(&a);
}

/* Parameters have no values in a text: they are those of the original, by name. */
static void lend_weights(struct mase_program *to, const struct mase_program *from)
{
    for (int i = 0; i < to->value_count; i++)
        for (int k = 0; to->value[i]->source == MASE_PSOURCE_PARAM && k < from->value_count; k++)
            if (from->value[k]->source == MASE_PSOURCE_PARAM &&
                !strcmp(from->value[k]->name, to->value[i]->name))
                to->value[i]->param = from->value[k]->param;
}

static void must_read_back(const struct subject *s, const struct mase_program *p,
                           const struct mase_arg *want)
{
    struct mase_str text = { 0 }, again = { 0 };
    struct mase_program *q;
    mase_program_print(&text, p);
    if (mase_program_parse(&q, mase_str_text(&text), text.len, "text", &err)) {
        report(s, p);
        mase_err_print(stderr, &err);
        fail();
    }
    mase_program_print(&again, q);
    assert_string_equal(mase_str_text(&again), mase_str_text(&text));
    lend_weights(q, p);
    must_run_as(s, q, want);
    mase_program_free(q);
    mase_str_release(&text);
    mase_str_release(&again);
}

/* False when the graph cannot be lowered. */
static bool check_subject(const struct subject *s)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_program *p;
    const struct mase_lower_opts o = { .inputs = s->in, .input_count = s->inputs };
    const bool lowered = !mase_program_lower(&p, s->g, &o, &err);
    if (lowered && !mase_run_reference(&v, &a, s->g, s->in, s->inputs, &err)) {
        const struct mase_arg *want = mase_run_output(&v, s->g);
        must_hold(s, p);
        must_run_as(s, p, want);
        must_read_back(s, p, want);
        must_read_back(s, p, want);
    }
    mase_program_free(p);
    mase_arena_release(&a);
    return lowered;
}

/* ---- tests ---- */

static void every_operation(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, 4);
        const struct subject s = { r.graph, r.input, r.inputs, c->text };
        if (!check_subject(&s)) {
            mase_err_print(stderr, &err);
            fail_msg("%s: %s", c->op, c->text);
        }
        stop(&r);
    }
}

/* Formats on every operand, and on the result where that may have one. */
static void every_quantised_operation(void **state)
{
    const struct mase_quant q = { .kind = MASE_QUANT_integer,
                                  .operand = { [MASE_DATA_IN] = format_of("integer(8, 4)"),
                                               [MASE_WEIGHT] = format_of("integer(6, 5)"),
                                               [MASE_BIAS] = format_of("integer(9, 6)"),
                                               [MASE_DATA_OUT] = format_of("integer(7, 3)") } };
    int quantised = 0;
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, 4);
        const struct subject s = { r.graph, r.input, r.inputs, c->text };
        bool any = false;
        for (struct mase_node *n = r.graph->first; n; n = n->next) {
            struct mase_quant own = q;
            if (!mase_ops[n->op].quantisable)
                continue;
            if (mase_op_call_sig(n->op)->param[0].role == 's') /* recurrent layers have none */
                own.operand[MASE_DATA_OUT] = NULL;
            if (mase_node_module(n))
                mase_module_set_quant(r.graph, mase_node_module(n), &own);
            else if (n->kind == MASE_CALL_FUNCTION)
                mase_node_set_quant(n, &own);
            any = true;
        }
        if (any && !check_subject(&s))
            fail_msg("%s: %s: %s", c->op, c->text, err.msg);
        quantised += any;
        stop(&r);
    }
    assert_true(quantised > 50);
}

static void check_text(const char *text, struct mase_shape in, const struct mase_quant *q)
{
    const struct step_case c = { .op = "program", .text = text, .in = { in } };
    struct running r = start(&c, 4);
    const struct subject s = { r.graph, r.input, r.inputs, text };
    if (q)
        mase_node_set_quant(mase_graph_find(r.graph, "add"), q);
    if (!check_subject(&s))
        fail_msg("%s: %s", text, err.msg);
    stop(&r);
}

/* A product of weights and N has the same shape for any N, and is no constant for that. */
static void a_product_with_the_samples(void **state)
{
    (void)state;
    check_text("param p 5; x.size(0); torch.mul(p, size); torch.add(x, mul)",
               (struct mase_shape){ 1, { 5 } }, NULL);
}

/* An operand of fewer dimensions is cut as it would be after broadcasting. */
static void blocks_are_cut_as_broadcast(void **state)
{
    struct mase_quant q = { .kind = MASE_QUANT_block_fp };
    (void)state;
    q.operand[MASE_DATA_IN] = format_of("block_fp(4, 8, NA, [6])");
    check_text("param p 6; torch.add(x, p)", (struct mase_shape){ 2, { 3, 6 } }, &q);
}

static uint32_t next_number(void *data)
{
    return mase_rng_u32(data);
}

static void random_networks(void **state)
{
    enum { NETWORKS = 150, CALLS = 12 };
    int lowered = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETWORKS; seed++) {
        struct mase_rng rng = mase_rng(seed, MASE_STREAM_TEST, 1);
        struct rg r = { .next = next_number, .data = &rng };
        rg_make(&r, CALLS);
        struct mase_input in[2];
        for (int i = 0; i < r.inputs; i++) {
            struct mase_shape shape = r.input[i].tensor.shape;
            shape.dim[0] = 5;
            in[i] = r.input[i];
            in[i].tensor = mase_tensor(&r.arena, MASE_F32, &shape, true);
            for (int64_t k = 0; k < mase_tensor_count(&in[i].tensor); k++)
                mase_f32(&in[i].tensor)[k] = (float)(mase_rng_u32(&rng) % 64) / 16 - 2;
        }
        const struct subject s = { r.g, in, r.inputs, "a random network" };
        lowered += check_subject(&s);
        rg_release(&r);
    }
    assert_true(lowered > NETWORKS * 8 / 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation),
        cmocka_unit_test(every_quantised_operation),
        cmocka_unit_test(a_product_with_the_samples),
        cmocka_unit_test(blocks_are_cut_as_broadcast),
        cmocka_unit_test(random_networks),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
