/*
 * t_products.c - a bias in steps of the products to which it is added: which steps those are, and
 * that all who compute have them. The expected steps are written out by hand.
 */
#include "run_cases.h"
#include "unit/exec/step_case.h"

#include <mase/int_program.h>
#include <mase/program.h>

#include "exec/plan/plan_parts.h"
#include "formats.h"
#include "ir/graph/graph_parts.h"

enum { N = 3, MOST = 6 };

/* A layer that is given zeros gives its bias. */
static const struct row {
    struct step_case c;
    const char *data, *weight;
    float data_learned[8], weight_learned[8]; /* scales and, behind them, offsets */
    int64_t groups;
    double step[MOST]; /* of each output */
    bool integers;     /* such a layer has exact integers */
} rows[] = {
    { .c = { "linear", "a = Linear(4, 3); a(x)", .in = { { 1, { 4 } } } },
      .data = "lsq(4)",
      .weight = "lsq(3, 0)",
      .data_learned = { 0.3f },
      .weight_learned = { 0.1f, 0.7f, 0.05f },
      .step = { 0.03, 0.21, 0.015 },
      .integers = true },
    { .c = { "linear", "a = Linear(4, 3); a(x)", .in = { { 2, { 5, 4 } } } },
      .data = "int(8, 0.125)",
      .weight = "lsq(3)",
      .weight_learned = { 0.3f },
      .step = { 0.0375, 0.0375, 0.0375 },
      .integers = true },
    { .c = { "linear", "a = Linear(4, 3); a(x)", .in = { { 1, { 4 } } } },
      .data = "lsq(8)",
      .weight = "int(4, 0.25)",
      .data_learned = { 0.3f },
      .step = { 0.075, 0.075, 0.075 },
      .integers = true },
    { .c = { "linear", "a = Linear(4, 3); a(x)", .in = { { 1, { 4 } } } },
      .data = "int(8, 0.3, 2)",
      .weight = "int(4, [0.5, 0.1, 0.2], NA, 0)",
      .step = { 0.15, 0.03, 0.06 },
      .integers = true },
    /* the least of what a sum meets */
    { .c = { "linear", "a = Linear(4, 3); a(x)", .in = { { 1, { 4 } } } },
      .data = "lsq(8, 1)",
      .weight = "lsq(4, NA, 2)",
      .data_learned = { 0.4f, 0.2f, 0.8f, 0.4f },
      .weight_learned = { 0.1f, 0.2f, 0.5f, 0.4f, 0.7f, 0.7f },
      .step = { 0.02, 0.08, 0.14 } },
    { .c = { "conv1d", "a = Conv1d(4, 6, 3, groups=2); a(x)", .in = { { 2, { 4, 5 } } } },
      .data = "lsq(8, 1)",
      .weight = "lsq(4, 0)",
      .data_learned = { 0.4f, 0.4f, 0.1f, 0.1f },
      .weight_learned = { 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f },
      .groups = 2,
      .step = { 0.04, 0.08, 0.12, 0.04, 0.05, 0.06 },
      .integers = true },
    { .c = { "convtranspose1d", "a = ConvTranspose1d(4, 6, 3, groups=2); a(x)",
             .in = { { 2, { 4, 5 } } } },
      .data = "pact(8)",
      .weight = "lsq(4, 1)",
      .data_learned = { 127.0f * 0.4f },
      .weight_learned = { 0.1f, 0.2f, 0.3f },
      .groups = 2,
      .step = { 0.04, 0.08, 0.12, 0.04, 0.08, 0.12 } },
    { .c = { "linear", "a = Linear(4, 3); a(x)", .in = { { 1, { 4 } } } },
      .data = "lsq_plus(8)",
      .weight = "lsq_plus(4, 0)",
      .data_learned = { 0.3f, 0.1f },
      .weight_learned = { 0.1f, 0.7f, 0.05f, 0, 0, 0 },
      .step = { 0.03, 0.21, 0.015 },
      .integers = true },
};
enum { ROWS = sizeof rows / sizeof *rows };

static void add_learned(struct mase_graph *g, enum mase_operand o, const struct mase_format *f,
                        const struct mase_shape *s, const float *value)
{
    const int64_t blocks =
        mase_format_blocks(f, s, o == MASE_WEIGHT ? MASE_ROLE_WEIGHT : MASE_ROLE_DATA).count;
    for (int j = 0; j < mase_format_learned(f); j++) {
        char name[64];
        snprintf(name, sizeof name, "a.%s_%s", mase_operand_names[o], f->row->learned->names[j]);
        mase_graph_add_attr(g, name, MASE_F32, &(struct mase_shape){ 1, { blocks } },
                            MASE_PARAM_TRAINED)
            ->init = MASE_INIT_UNSET;
        mase_graph_alloc(g);
        for (int64_t b = 0; b < blocks; b++)
            mase_f32(&mase_graph_attr(g, name)->tensor)[b] = value[j * blocks + b];
    }
}

static struct running network(const struct row *row, const char *bias)
{
    struct running r = start(&row->c, N);
    struct mase_module *m = mase_graph_module(r.graph, "a");
    const struct mase_format *f = format_of(row->data), *w = format_of(row->weight);
    const struct mase_quant q = {
        .kind = w->kind,
        .operand = { [MASE_DATA_IN] = f, [MASE_WEIGHT] = w, [MASE_BIAS] = format_of(bias) }
    };
    struct mase_shape x = r.input[0].tensor.shape;
    x.dim[0] = 1;
    mase_module_set_quant(r.graph, m, &q);
    add_learned(r.graph, MASE_DATA_IN, f, &x, row->data_learned);
    add_learned(r.graph, MASE_WEIGHT, w, &mase_module_param(m, "weight")->tensor.shape,
                row->weight_learned);
    memset(r.input[0].tensor.data, 0, (size_t)mase_tensor_bytes(&r.input[0].tensor));
    for (int64_t o = 0; o < mase_tensor_count(&mase_module_param(m, "bias")->tensor); o++)
        mase_f32(&mase_module_param(m, "bias")->tensor)[o] = (float)(o - 2) * 0.777f + 0.05f;
    return r;
}

static const struct mase_tensor *bias_of(const struct running *r)
{
    return &mase_module_param(mase_graph_module(r->graph, "a"), "bias")->tensor;
}

/* Output number k of N samples, samples first. */
static int64_t output_at(const struct running *r, int64_t k, int64_t each)
{
    const int64_t outputs = mase_tensor_count(bias_of(r)), of_sample = k % each;
    return r->c->op[0] == 'l' ? of_sample % outputs : of_sample / (each / outputs);
}

static void check(const struct running *r, const struct row *row, const char *who, double got,
                  int64_t output)
{
    const double step = row->step[output], b = (double)mase_f32(bias_of(r))[output];
    const double want = rint(b / step) * step;
    if (fabs(got - want) > 1e-6 * (1 + fabs(want)))
        fail_msg("%s, %s: %s: output %d is %.9g, not %.9g", row->c.text, row->data, who,
                 (int)output, got, want);
}

static void check_lanes(const struct running *r, const struct row *row, const char *who,
                        const struct mase_lanes *y)
{
    for (int64_t i = 0; i < y->rows; i++)
        for (int k = 0; k < N; k++)
            check(r, row, who, (double)y->data[i * y->stride + k], output_at(r, i, y->rows));
}

static void all_have_the_steps_of_their_products(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        struct running r = network(&rows[i], "products");
        const struct mase_tensor y = reference(&r, &r.arena);
        const int64_t each = mase_tensor_count(&y) / N;
        for (int64_t k = 0; k < mase_tensor_count(&y); k++)
            check(&r, &rows[i], "reference", mase_tensor_get(&y, k), output_at(&r, k, each));
        for (int train = 0; train < 2; train++) {
            struct mase_plan *p = plan_of(&r, N, train, 1);
            feed(&r, p, N);
            must(mase_plan_forward(p, &err), r.c);
            const struct mase_lanes lanes = mase_plan_output(p);
            check_lanes(&r, &rows[i], train ? "plan that trains" : "plan", &lanes);
            mase_plan_free(p);
        }
        stop(&r);
    }
}

/* The integers add what the program has rounded, no more. */
static void integers_round_no_bias_again(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        struct running r = network(&rows[i], "products");
        struct mase_int_program *e = NULL;
        const enum mase_status st = mase_int_program_new(&e, r.graph, r.input, r.inputs, &err);
        assert_int_equal(st == MASE_OK, rows[i].integers);
        if (!st) {
            struct mase_int_runner *w = mase_int_runner_new(e, N, MASE_INT_KEEP_ALL);
            const struct mase_lanes x = mase_int_runner_input(w);
            memset(x.data, 0, (size_t)(x.rows * x.stride) * sizeof *x.data);
            must(mase_int_runner_run(w, N, &err), r.c);
            const struct mase_lanes y = mase_int_runner_output(w);
            check_lanes(&r, &rows[i], "integers", &y);
            assert_int_equal(e->rounded_biases, 0);
            mase_int_runner_free(w);
            mase_int_program_free(e);
        }
        stop(&r);
    }
}

static void gradients_pass_straight(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        struct running r = network(&rows[i], "products"), f = network(&rows[i], "float");
        struct mase_plan *p = plan_of(&r, N, true, 1), *q = plan_of(&f, N, true, 1);
        feed(&r, p, N);
        feed(&f, q, N);
        must(mase_plan_forward(p, &err), r.c);
        must(mase_plan_forward(q, &err), f.c);
        run_backward(p, N);
        run_backward(q, N);
        assert_int_equal(p->param_size, q->param_size);
        assert_memory_equal(p->grads, q->grads, (size_t)p->param_size * sizeof(float));
        mase_plan_free(p);
        mase_plan_free(q);
        stop(&r);
        stop(&f);
    }
}

static void print_program(struct mase_str *out, const struct running *r)
{
    struct mase_program *p;
    const struct mase_lower_opts o = { .inputs = r->input, .input_count = r->inputs };
    must(mase_program_lower(&p, r->graph, &o, &err), r->c);
    struct mase_str faults = { 0 };
    if (mase_program_verify(p, &faults))
        fail_msg("%s", mase_str_text(&faults));
    mase_program_print(out, p);
    mase_program_free(p);
    mase_str_release(&faults);
}

/* Steps that are given are told; others are said by what makes them. */
static void programs_say_it(void **state)
{
    static const char *const say[] = {
        [0] = " to products signed weight of %2 %5 from a\n",
        [3] = " to products([0.15",
        [6] = " to products signed weight of %2 %5 turned from a\n",
    };
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        struct running r = network(&rows[i], "products");
        struct mase_str text = { 0 }, again = { 0 };
        struct mase_program *p;
        print_program(&text, &r);
        if (i < (int)(sizeof say / sizeof *say) && say[i] && !strstr(mase_str_text(&text), say[i]))
            fail_msg("no '%s' in\n%s", say[i], mase_str_text(&text));
        must(mase_program_parse(&p, mase_str_text(&text), text.len, "text", &err), r.c);
        mase_program_print(&again, p);
        assert_string_equal(mase_str_text(&text), mase_str_text(&again));
        mase_program_free(p);
        mase_str_release(&text);
        mase_str_release(&again);
        stop(&r);
    }
}

static void refuse(const struct row *row)
{
    struct running r = network(row, "products");
    struct mase_plan *p;
    struct mase_values v;
    const struct mase_plan_opts o = { .batch = N, .inputs = r.input, .input_count = r.inputs };
    const char *why = "bias: products needs data_in and weight that are codes times scales";
    assert_int_not_equal(mase_plan_new(&p, r.graph, &o, &err), MASE_OK);
    assert_non_null(strstr(err.msg, why));
    assert_int_not_equal(mase_run_reference(&v, &r.arena, r.graph, r.input, r.inputs, &err),
                         MASE_OK);
    assert_non_null(strstr(err.msg, why));
    stop(&r);
}

static void products_without_steps_are_refused(void **state)
{
    struct row row = rows[0];
    (void)state;
    row.data = "integer(8, 4)";
    refuse(&row);
    row = rows[0];
    row.weight = "int(4)"; /* by the values */
    refuse(&row);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_have_the_steps_of_their_products),
        cmocka_unit_test(integers_round_no_bias_again),
        cmocka_unit_test(gradients_pass_straight),
        cmocka_unit_test(programs_say_it),
        cmocka_unit_test(products_without_steps_are_refused),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
