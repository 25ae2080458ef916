/*
 * t_program_grad_formats.c - gradients of programs that round: what passes a rounding, what was cut
 * and what formats have learned, beside the plan's backward. t_learned.c holds plans to the
 * formulas of the formats' papers.
 */
#include "formats.h"
#include "grad_case.h"
#include "ir/graph/graph_parts.h"
#include "run_cases.h"

enum { SAMPLES = 5 };

static void check(struct running r, const char *what)
{
    struct subject s = differentiate(r);
    must_hold(&s, s.joint);
    must_read_back(&s);
    const struct mase_arg both = gradients(&s);
    const struct comparing k = compare_with_plan(&s, &both);
    if (!k.values)
        refuse(&s, what);
    release(&s);
}

static void quantise(struct mase_graph *g, struct mase_node *n, const struct mase_quant *q)
{
    if (mase_node_module(n))
        mase_module_set_quant(g, mase_node_module(n), q);
    else
        mase_node_set_quant(n, q);
}

/* ---- every operation ---- */

/* Straight through; nothing of what was cut; blocks; recurrent layers round at every step. */
static const struct family {
    const char *data, *weight;
} families[] = {
    { "integer(4, 1)", "integer(4, 2)" },
    { "int(3, 0.25)", "int(4, 0.125)" },
    { "block_fp(3, 8, NA, [2])", "block_fp(3, 8, NA, [2])" },
};

static struct mase_node *call_of(const struct running *r)
{
    const enum mase_op op = mase_op_find(r->c->op);
    for (struct mase_node *n = r->graph->first; n; n = n->next)
        if (n->op == op && (n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_MODULE))
            return n;
    return NULL;
}

/* Called on its own result: what was summed in another order is rounded again, to something else.
 */
static bool is_called_twice(const struct mase_node *n)
{
    int calls = 0;
    for (const struct mase_node *o = n->graph->first; o; o = o->next)
        calls += o->kind == MASE_CALL_MODULE && mase_streq(o->target, n->target);
    return calls > 1;
}

/* A plan cuts blocks of samples that come first alone. */
static bool has_plan(struct running *r)
{
    struct mase_plan *p = NULL;
    const struct mase_plan_opts o = {
        .batch = SAMPLES, .train = true, .inputs = r->input, .input_count = r->inputs
    };
    const bool made = !mase_plan_new(&p, r->graph, &o, &err);
    if (made)
        mase_plan_free(p);
    return made;
}

static void every_quantised_operation_as_the_plan(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        const struct mase_format *data = format_of(families[f].data);
        const struct mase_format *weight = format_of(families[f].weight);
        const struct mase_quant q = { .kind = data->kind, .operand = { data, weight, weight } };
        int quantised = 0;
        for (const struct step_case *c = step_cases; c->op; c++) {
            struct running r = start(c, SAMPLES);
            struct mase_node *n = call_of(&r);
            const bool may = n && mase_ops[n->op].quantisable && !is_called_twice(n);
            if (may)
                quantise(r.graph, n, &q);
            if (may && has_plan(&r)) {
                check(r, "nothing is compared");
                quantised++;
            } else {
                stop(&r);
            }
        }
        assert_true(quantised > 100);
    }
}

/* ---- every format ---- */

/* Whole blocks of any format. */
static const struct step_case wide = { "linear", "fc = Linear(32, 32); fc(x)",
                                       .in = { { 1, { 32 } } } };
static const struct step_case linear = { "linear", "fc = Linear(20, 4); fc(x)",
                                         .in = { { 1, { 20 } } } };

static void every_format_as_the_plan(void **state)
{
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        struct mase_str text = { 0 };
        if (mase_quants[k]->learned || k == MASE_QUANT_products)
            continue; /* they have values of their own, below */
        format_proposed(&text, mase_quants[k]);
        const struct mase_format *f = format_of(mase_str_text(&text));
        const struct mase_quant q = { .kind = f->kind, .operand = { f, f, f } };
        struct running r = start(&wide, SAMPLES);
        mase_module_set_quant(r.graph, mase_graph_module(r.graph, "fc"), &q);
        check(r, mase_quants[k]->name);
        mase_str_release(&text);
    }
}

/* ---- what is learned ---- */

static const struct learning {
    const char *data, *weight, *bias;
    float data_value[2], weight_value[2]; /* of the first block; others are a little more */
} learned[] = {
    { "lsq(3)", "lsq(2)", NULL, { 0.4f }, { 0.4f } },
    { "lsq(3, 1)", "lsq(3, 0)", NULL, { 0.4f }, { 0.2f } },
    { "lsq(2)", "lsq(3, NA, 1)", NULL, { 0.5f }, { 0.2f } },
    { "lsq_plus(3)", "lsq_plus(3, 0)", NULL, { 0.3f, 0.35f }, { 0.2f, -0.26f } },
    { "pact(3)", "pact(3, 0)", NULL, { 1.3f }, { 0.6f } },
    { "hgq(4)", "hgq(4)", NULL, { 1.7f, 0.2f }, { 2.6f, -1.1f } },
    { "hgq(4, 1)", "hgq(4, NA, 1)", NULL, { 1.7f, 0.2f }, { 1.6f, -0.6f } },
    { "lsq(4)", "lsq(3, 0)", "products", { 0.4f }, { 0.2f } },
    { "integer(8, 4)", "pact(3)", "integer(8, 4)", { 0 }, { 0.6f } },
};

static int64_t blocks_of(const struct mase_format *f, enum mase_operand o)
{
    const struct mase_shape data = { 2, { 1, 20 } }, weight = { 2, { 4, 20 } };
    const bool is_weight = o == MASE_WEIGHT;
    return mase_format_blocks(f, is_weight ? &weight : &data,
                              is_weight ? MASE_ROLE_WEIGHT : MASE_ROLE_DATA)
        .count;
}

static void add_learned(struct mase_graph *g, enum mase_operand o, const struct mase_format *f)
{
    for (int j = 0; j < mase_format_learned(f); j++) {
        char name[64];
        snprintf(name, sizeof name, "fc.%s_%s", mase_operand_names[o], f->row->learned->names[j]);
        mase_graph_add_attr(g, name, MASE_F32, &(struct mase_shape){ 1, { blocks_of(f, o) } },
                            MASE_PARAM_TRAINED);
    }
}

static void set_learned(struct mase_graph *g, enum mase_operand o, const struct mase_format *f,
                        const float *first)
{
    for (int j = 0; j < mase_format_learned(f); j++) {
        char name[64];
        snprintf(name, sizeof name, "fc.%s_%s", mase_operand_names[o], f->row->learned->names[j]);
        struct mase_tensor *t = &mase_graph_attr(g, name)->tensor;
        const int64_t n = mase_tensor_count(t);
        for (int64_t b = 0; b < n; b++)
            mase_f32(t)[b] = first[j] * (1 + 0.3f * (float)b / (float)n);
    }
}

static struct running learning(const struct learning *l)
{
    struct running r = start(&linear, 21);
    const struct mase_format *data = format_of(l->data), *weight = format_of(l->weight);
    const struct mase_format *bias = l->bias ? format_of(l->bias) : NULL;
    const struct mase_quant q = { .kind = weight->kind, .operand = { data, weight, bias } };
    struct mase_rng rng = mase_rng(7, MASE_STREAM_TEST, 1);
    mase_module_set_quant(r.graph, mase_graph_module(r.graph, "fc"), &q);
    add_learned(r.graph, MASE_DATA_IN, data);
    add_learned(r.graph, MASE_WEIGHT, weight);
    mase_graph_alloc(r.graph);
    mase_graph_each_param(r.graph, fill_param, &rng);
    set_learned(r.graph, MASE_DATA_IN, data, l->data_value);
    set_learned(r.graph, MASE_WEIGHT, weight, l->weight_value);
    return r;
}

static void what_is_learned_as_the_plan(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof learned / sizeof *learned; i++)
        check(learning(&learned[i]), learned[i].weight);
}

/* Every learned number has a gradient, and one of them is not 0. */
static void what_is_learned_has_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof learned / sizeof *learned; i++) {
        struct subject s = differentiate(learning(&learned[i]));
        const struct mase_arg both = gradients(&s);
        for (int n = 0; n < s.r.graph->attr_count; n++) {
            const struct mase_tensor *t = find(&both.items[0], s.r.graph->attrs[n].name);
            double sum = 0;
            assert_non_null(t);
            for (int64_t k = 0; k < mase_tensor_count(t); k++)
                sum += fabs(mase_tensor_get(t, k));
            if (!(sum > 0))
                refuse(&s, s.r.graph->attrs[n].name);
        }
        release(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quantised_operation_as_the_plan),
        cmocka_unit_test(every_format_as_the_plan),
        cmocka_unit_test(what_is_learned_as_the_plan),
        cmocka_unit_test(what_is_learned_has_gradients),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
