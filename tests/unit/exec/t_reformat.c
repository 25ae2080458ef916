/*
 * t_reformat.c - formats changed in a plan that exists: bit for bit what a plan made anew computes,
 * from float and to float too, whichever node it is; what cannot follow is refused.
 */
#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "formats.h"
#include "run_cases.h"
#include "step_case.h"

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

enum { SAMPLES = 5 };

/* Modules, functions, shared modules, operands that are constants, parameters, derived from them;
 * relu knows no sign. */
static const struct step_case cases[] = {
    { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(5) } },
    { "linear", "fc = Linear(5, 5); fc(x); fc(fc)", .in = { S(3, 5) } },
    { "linear", "a = Linear(5, 8); r = ReLU(); b = Linear(8, 3); a(x); r(a); b(r)",
      .in = { S(5) } },
    { "conv2d", "c = Conv2d(3, 8, 3, padding=1); b = BatchNorm2d(8); c(x); b(c); torch.relu(b)",
      .in = { S(3, 4, 3) } },
    { "conv1d", "c = Conv1d(3, 4, 3); c(x)", .in = { S(3, 7) } },
    { "matmul", "torch.matmul(x, y)", .in = { S(3, 4), S(4, 2) } },
    { "matmul", "buffer w 4 3; torch.matmul(x, w)", .in = { S(2, 4) } },
    { "mul", "param w 4; operator.mul(x, w)", .in = { S(3, 4) } },
    { "linear", "param w 20; w.view(4, 5); torch.nn.functional.linear(x, view)", .in = { S(5) } },
    { "linear",
      "param w 4 5; param b 4; torch.neg(w); torch.neg(b); "
      "torch.nn.functional.linear(x, neg, neg_1)",
      .in = { S(3, 5) } },
    { "add", "param w 4; param u 4; operator.add(w, u); operator.sub(x, add)", .in = { S(3, 4) } },
    { "layer_norm", "n = LayerNorm(4); n(x); torch.softmax(n, 2)", .in = { S(3, 4) } },
    { "cat", "torch.relu(x); torch.sigmoid(x); torch.cat((relu, sigmoid), 1); torch.mean(cat, 1)",
      .in = { S(4) } },
    { "max_pool1d", "p = MaxPool1d(2); p(x); param w 3 4; torch.stack((p, p), 1)",
      .in = { S(3, 8) } },
    { 0 },
};

/* NULL: float. A format that comes twice is found again. */
static const struct family {
    const char *data, *weight, *out;
} families[] = {
    { NULL, NULL, NULL },
    { "integer(4, 1)", "integer(4, 2)", NULL },
    { "block_fp(3, 8, NA, [2])", "block_fp(3, 8, NA, [2, 3])", "integer(6, 2)" },
    { "integer(4, 1)", NULL, NULL },
    { NULL, "fixed(4, 2)", NULL },
    { "log(4, NA)", "minifloat_denorm(5, 3, NA)", "minifloat_ieee(6, 3, NA)" },
    { "block_log(4, 4, [2])", "block_log(4, 4, [2, 3])", "block_minifloat(6, 3, 4, [3])" },
    { NULL, NULL, NULL },
    { "fixed(5, 2)", "integer(3, 1)", "block_fp(3, 8, NA, [2])" },
    { "block_fp(3, 8, NA, [2])", "block_fp(4, 4, 3, [-1])", NULL },
};
enum { FAMILIES = sizeof families / sizeof *families };

static const struct mase_format *format_or_none(const char *text)
{
    return text ? format_of(text) : NULL;
}

static void set_formats(struct mase_graph *g, struct mase_node *n, const struct family *f)
{
    const struct mase_format *weight = format_or_none(f->weight);
    struct mase_quant q = { .operand = { format_or_none(f->data), weight, weight } };
    q.operand[MASE_DATA_OUT] = format_or_none(f->out);
    const struct mase_format *first = q.operand[0] ? q.operand[0] : weight;
    if (first)
        q.kind = first->kind;
    if (mase_node_module(n))
        mase_module_set_quant(g, mase_node_module(n), first ? &q : NULL);
    else
        mase_node_set_quant(n, first ? &q : NULL);
}

static struct mase_plan *plan(struct running *r, bool formats_change)
{
    struct mase_plan *p;
    const struct mase_plan_opts o = { .batch = SAMPLES,
                                      .formats_change = formats_change,
                                      .inputs = r->input,
                                      .input_count = r->inputs };
    must(mase_plan_new(&p, r->graph, &o, &err), r->c);
    feed(r, p, SAMPLES);
    return p;
}

/* Against a plan made anew, which has only the roundings it needs; also of a single sample, which
 * may take another path. */
static void check(struct running *r, struct mase_plan *p, const struct mase_node *n, int family)
{
    struct mase_plan *fresh = plan(r, false);
    feed(r, p, SAMPLES);
    must(mase_plan_forward(p, &err), r->c);
    must(mase_plan_forward(fresh, &err), r->c);
    const struct mase_lanes x = mase_plan_output(p), y = mase_plan_output(fresh);
    for (int64_t row = 0; row < x.rows; row++)
        if (memcmp(x.data + row * x.stride, y.data + row * y.stride, SAMPLES * sizeof *x.data))
            fail_msg("%s: %s: formats %d: row %lld differs: %g, %g", r->c->text, n->name, family,
                     (long long)row, x.data[row * x.stride], y.data[row * y.stride]);
    feed(r, p, 1);
    must(mase_plan_forward(p, &err), r->c);
    for (int64_t row = 0; row < x.rows; row++)
        if (memcmp(x.data + row * x.stride, y.data + row * y.stride, sizeof *x.data))
            fail_msg("%s: %s: formats %d: row %lld of one sample differs: %g, %g", r->c->text,
                     n->name, family, (long long)row, x.data[row * x.stride],
                     y.data[row * y.stride]);
    mase_plan_free(fresh);
}

/* Each node takes all formats in turn; the others have what is left from before. */
static void as_if_made_anew(void **state)
{
    (void)state;
    for (const struct step_case *c = cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        struct mase_plan *p = plan(&r, true);
        int changed = 0;
        for (struct mase_node *n = r.graph->first; n; n = n->next) {
            const bool call = n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_MODULE;
            for (int f = 0; call && mase_ops[n->op].quantisable && f < 2 * FAMILIES - 1; f++) {
                set_formats(r.graph, n, &families[f % FAMILIES]);
                must(mase_plan_follow_formats(p, n, &err), c);
                check(&r, p, n, f);
                changed++;
            }
        }
        assert_true(changed >= FAMILIES);
        mase_plan_free(p);
        stop(&r);
    }
}

/* Made with formats, not only for them. */
static void from_formats(void **state)
{
    (void)state;
    for (int f = 0; f < FAMILIES; f++) {
        struct running r = start(&cases[2], SAMPLES);
        struct mase_node *n = mase_graph_find(r.graph, "b");
        set_formats(r.graph, n, &families[f]);
        struct mase_plan *p = plan(&r, true);
        check(&r, p, n, f);
        set_formats(r.graph, n, &families[(f + 1) % FAMILIES]);
        must(mase_plan_follow_formats(p, n, &err), r.c);
        check(&r, p, n, f + 1);
        mase_plan_free(p);
        stop(&r);
    }
}

/* No other weights are rounded: those of "a", spoilt, stay so until they are read. */
static void its_weights_alone(void **state)
{
    (void)state;
    struct running r = start(&cases[2], SAMPLES);
    struct mase_node *b = mase_graph_find(r.graph, "b");
    const struct mase_param *a = mase_graph_attr(r.graph, "a.weight");
    struct mase_plan *p = plan(&r, true);
    struct mase_rounded *spoilt = p->rounded;
    while (spoilt && spoilt->weight.param != a)
        spoilt = spoilt->next;
    assert_non_null(spoilt);
    spoilt->weight.x[0] = 77.0f;
    set_formats(r.graph, b, &families[1]);
    must(mase_plan_follow_formats(p, b, &err), r.c);
    assert_true(spoilt->weight.x[0] == 77.0f);
    mase_plan_read_weights(p);
    assert_true(spoilt->weight.x[0] != 77.0f);
    check(&r, p, b, 1);
    mase_plan_free(p);
    stop(&r);
}

/* Coming back to formats takes no memory. */
static void memory_is_bounded(void **state)
{
    (void)state;
    struct running r = start(&cases[3], SAMPLES);
    struct mase_node *n = mase_graph_find(r.graph, "c");
    struct mase_plan *p = plan(&r, true);
    size_t used = 0;
    for (int turn = 0; turn < 3; turn++) {
        for (int f = 0; f < FAMILIES; f++) {
            set_formats(r.graph, n, &families[f]);
            must(mase_plan_follow_formats(p, n, &err), r.c);
        }
        if (turn)
            assert_int_equal(p->arena.used, used);
        used = p->arena.used;
    }
    mase_plan_free(p);
    stop(&r);
}

static void refused(struct running *r, struct mase_plan *p, const char *name, const char *why)
{
    err = (struct mase_err){ 0 };
    assert_int_equal(mase_plan_follow_formats(p, mase_graph_find(r->graph, name), &err),
                     MASE_EUNSUPPORTED);
    if (!strstr(err.msg, why))
        fail_msg("%s: %s", name, err.msg);
}

static void what_cannot_follow(void **state)
{
    (void)state;
    static const struct step_case in_place = {
        "relu", "torch.relu(x); r = ReLU(inplace=True); r(relu); operator.add(r, relu)",
        .in = { S(4) }
    };
    struct running r = start(&cases[2], SAMPLES);
    struct mase_plan *p = plan(&r, false);
    refused(&r, p, "a", "the plan was made for the formats it has");
    mase_plan_free(p);
    struct mase_plan_opts o = { .batch = SAMPLES,
                                .train = true,
                                .formats_change = true,
                                .inputs = r.input,
                                .input_count = r.inputs };
    assert_int_equal(mase_plan_new(&p, r.graph, &o, &err), MASE_EUNSUPPORTED);
    stop(&r);

    r = start(&cases[9], SAMPLES);
    p = plan(&r, true);
    refused(&r, p, "neg", "has no formats");
    mase_plan_free(p);
    stop(&r);

    r = start(&in_place, SAMPLES);
    p = plan(&r, true);
    struct mase_node *n = mase_graph_find(r.graph, "r");
    must(mase_plan_follow_formats(p, n, &err), r.c);
    check(&r, p, n, 0);
    set_formats(r.graph, n, &families[1]);
    refused(&r, p, "r", "writes into its operand in float");
    mase_plan_free(p);
    p = plan(&r, true);
    check(&r, p, n, 1);
    set_formats(r.graph, n, &families[2]);
    must(mase_plan_follow_formats(p, n, &err), r.c);
    check(&r, p, n, 2);
    set_formats(r.graph, n, &families[0]);
    refused(&r, p, "r", "writes into its operand in float");
    mase_plan_free(p);
    stop(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_if_made_anew),    cmocka_unit_test(from_formats),
        cmocka_unit_test(its_weights_alone),  cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_cannot_follow),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
