/*
 * t_learned.c - formats that training learns: what they start with, what they round to, the
 * gradients of what is learned, against the formulas of their papers in double.
 */
#include "run_cases.h"
#include "step_case.h"

#include <mase/program.h>
#include <mase/tiled_plan.h>

#include "exec/plan/plan_parts.h"
#include "formats.h"
#include "ir/graph/graph_parts.h"

enum { N = 21, I = 20, O = 4 };

static const struct step_case linear = { "linear", "fc = Linear(20, 4); fc(x)",
                                         .in = { { 1, { I } } } };

/* ---- the network: x rounded to one format, the weight to another ---- */

static void add_learned(struct mase_graph *g, enum mase_operand o, const struct mase_format *f,
                        int64_t blocks)
{
    for (int j = 0; j < mase_format_learned(f); j++) {
        char name[64];
        snprintf(name, sizeof name, "fc.%s_%s", mase_operand_names[o], f->row->learned->names[j]);
        mase_graph_add_attr(g, name, MASE_F32, &(struct mase_shape){ 1, { blocks } },
                            MASE_PARAM_TRAINED)
            ->init = MASE_INIT_UNSET;
    }
}

static int64_t blocks_of(const struct mase_format *f, enum mase_operand o)
{
    const struct mase_shape data = { 2, { 1, I } }, weight = { 2, { O, I } };
    return mase_format_blocks(f, o == MASE_WEIGHT ? &weight : &data,
                              o == MASE_WEIGHT ? MASE_ROLE_WEIGHT : MASE_ROLE_DATA)
        .count;
}

static struct running network(const char *data, const char *weight)
{
    struct running r = start(&linear, N);
    struct mase_module *fc = mase_graph_module(r.graph, "fc");
    const struct mase_format *f = format_of(data), *w = format_of(weight);
    const struct mase_quant q = { .kind = w->kind,
                                  .operand = { [MASE_DATA_IN] = f, [MASE_WEIGHT] = w } };
    mase_module_set_quant(r.graph, fc, &q);
    add_learned(r.graph, MASE_DATA_IN, f, blocks_of(f, MASE_DATA_IN));
    add_learned(r.graph, MASE_WEIGHT, w, blocks_of(w, MASE_WEIGHT));
    mase_graph_alloc(r.graph);
    for (int i = 0; i < r.graph->attr_count; i++)
        for (int64_t k = 0; k < mase_tensor_count(&r.graph->attrs[i].tensor); k++)
            mase_f32(&r.graph->attrs[i].tensor)[k] = NAN;
    return r;
}

static void set(struct running *r, const char *name, const float *value)
{
    struct mase_param *p = mase_graph_attr(r->graph, name);
    memcpy(mase_f32(&p->tensor), value, (size_t)mase_tensor_count(&p->tensor) * sizeof *value);
}

static void start_plan(struct mase_plan *p)
{
    p->warm_up_pass = 1;
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    p->warm_up_pass = 0;
}

static float value_of(const struct running *r, const struct mase_plan *p, const char *name, int i)
{
    return mase_plan_weight(p, mase_graph_attr(r->graph, name))->x[i];
}

static float gradient_of(const struct running *r, const struct mase_plan *p, const char *name,
                         int i)
{
    return mase_plan_weight(p, mase_graph_attr(r->graph, name))->dx[i];
}

static double x_at(const struct running *r, int k, int i)
{
    return mase_tensor_get(&r->input[0].tensor, k * I + i);
}

static double w_at(const struct running *r, int o, int i)
{
    return mase_tensor_get(&mase_graph_attr(r->graph, "fc.weight")->tensor, o * I + i);
}

static void assert_near(const char *what, double got, double want)
{
    if (fabs(got - want) > 2e-5 * (1 + fabs(want)))
        fail_msg("%s: %.9g, expected %.9g", what, got, want);
}

/* ---- where they start ---- */

static void scales_start_by_the_values(void **state)
{
    (void)state;
    struct running r = network("lsq(4)", "lsq(3, 0)");
    struct mase_plan *p = plan_of(&r, N, true, 1);
    double sum = 0;
    feed(&r, p, N);
    start_plan(p);
    for (int k = 0; k < N * I; k++)
        sum += fabs(x_at(&r, 0, k));
    assert_near("x", value_of(&r, p, "fc.data_in_scale", 0), 2 * sum / (N * I) / sqrt(7));
    for (int o = 0; o < O; o++) {
        sum = 0;
        for (int i = 0; i < I; i++)
            sum += fabs(w_at(&r, o, i));
        assert_near("w", value_of(&r, p, "fc.weight_scale", o), 2 * sum / I / sqrt(3));
    }
    const float before = value_of(&r, p, "fc.data_in_scale", 0);
    feed(&r, p, 3);
    start_plan(p); /* what has a value keeps it */
    assert_true(before == value_of(&r, p, "fc.data_in_scale", 0));
    mase_plan_free(p);
    stop(&r);
}

static void load_rows(void *data, struct mase_plan *tile, struct mase_targets *targets, int number,
                      int64_t from, int64_t n)
{
    const struct running *r = data;
    const struct mase_lanes x = mase_plan_input(tile, 0);
    mase_plan_set_samples(tile, n);
    (void)targets; /* nobody asks for the loss */
    (void)number;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < I; i++)
            x.data[i * x.stride + k] = (float)x_at(r, (int)(from + k), (int)i);
}

/* A plan that takes fewer samples at once than it starts by. */
static struct mase_tiled_plan *started(struct running *r)
{
    struct mase_tiled_plan *t = NULL;
    const struct mase_plan_opts o = { .batch = 8, .inputs = r->input, .input_count = 1 };
    const struct mase_tiled_batch all = { .samples = N, .load = load_rows, .data = r };
    must(mase_tiled_plan_new(&t, r->graph, &o, &err), r->c);
    must(mase_tiled_plan_start(t, &all, &err), r->c);
    return t;
}

static void scales_start_by_every_sample(void **state)
{
    (void)state;
    struct running r = network("lsq(4)", "lsq(3, 0)");
    set(&r, "fc.weight_scale", (const float[]){ 1, NAN, 3, 4 });
    struct mase_tiled_plan *t = started(&r);
    const struct mase_plan *p = mase_tiled_plan_first(t);
    double sum = 0;
    for (int k = 0; k < N * I; k++)
        sum += fabs(x_at(&r, 0, k));
    assert_near("x", value_of(&r, p, "fc.data_in_scale", 0), 2 * sum / (N * I) / sqrt(7));
    assert_true(value_of(&r, p, "fc.weight_scale", 0) == 1); /* it had one */
    assert_false(isnan(value_of(&r, p, "fc.weight_scale", 1)));
    mase_tiled_plan_free(t);
    stop(&r);
}

static void ranges_start_by_every_sample(void **state)
{
    (void)state;
    struct running r = network("lsq_plus(4)", "lsq(3, 0)");
    struct mase_tiled_plan *t = started(&r);
    double low = 0, high = 0;
    for (int k = 0; k < N * I; k++) {
        low = fmin(low, x_at(&r, 0, k));
        high = fmax(high, x_at(&r, 0, k));
    }
    assert_near("scale", value_of(&r, mase_tiled_plan_first(t), "fc.data_in_scale", 0),
                (high - low) / 15);
    mase_tiled_plan_free(t);
    stop(&r);
}

static void untrained_networks_are_refused(void **state)
{
    (void)state;
    struct running r = network("lsq(4)", "lsq(3, 0)");
    struct mase_plan *p = NULL;
    struct mase_values v;
    const struct mase_plan_opts o = { .batch = N, .inputs = r.input, .input_count = 1 };
    assert_int_equal(mase_plan_new(&p, r.graph, &o, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "'fc.data_in_scale' has no value"));
    assert_int_equal(mase_run_reference(&v, &r.arena, r.graph, r.input, 1, &err), MASE_EVALUE);
    stop(&r);
}

/* ---- gradients ---- */

/* One value rounded, in double: the result, and its derivatives by x and by what is learned. */
struct rounded {
    double q, dx, d[2];
};
typedef struct rounded model_fn(double x, const double *value, double lo, double hi);

static struct rounded lsq(double x, const double *s, double lo, double hi)
{
    const double v = x / s[0];
    if (v < lo || v > hi)
        return (struct rounded){ s[0] * (v < lo ? lo : hi), 0, { v < lo ? lo : hi, 0 } };
    return (struct rounded){ s[0] * rint(v), 1, { rint(v) - v, 0 } };
}

static struct rounded lsq_plus(double x, const double *s, double lo, double hi)
{
    const double z = rint(s[1] / s[0]), v = x / s[0] - z;
    if (v < lo || v > hi)
        return (struct rounded){ s[0] * ((v < lo ? lo : hi) + z), 0, { v < lo ? lo : hi, 1 } };
    return (struct rounded){ s[0] * (rint(x / s[0])), 1, { rint(x / s[0]) - x / s[0], 0 } };
}

static struct rounded pact(double x, const double *a, double lo, double hi)
{
    const double s = a[0] / hi, v = x / s, least = lo < 0 ? -hi : 0;
    if (v < least || v > hi)
        return (struct rounded){ v < least ? least * s : a[0],
                                 0,
                                 { v < least ? (lo < 0 ? -1 : 0) : 1, 0 } };
    return (struct rounded){ s * rint(v), 1, { 0, 0 } };
}

static struct rounded hgq(double x, const double *b, double lo, double hi)
{
    const double f = rint(b[0]), i = rint(b[1]), bits = fmax(f + i, 0);
    const double s = exp2(i - bits), most = exp2(bits) - 1, v = x / s, least = lo < 0 ? -most : 0;
    (void)hi;
    if (v < least || v > most) {
        const double sign = v > most ? 1 : lo < 0 ? -1 : 0;
        return (struct rounded){ s * (v > most ? most : least),
                                 0,
                                 { sign * log(2) * s, sign * log(2) * exp2(i) } };
    }
    return (struct rounded){ s * rint(v), 1, { log(2) * (x - s * rint(v)), 0 } };
}

struct learning_case {
    const char *data, *weight;
    model_fn *model;
    const char *learned[2];
    float data_value[2], weight_value[2]; /* of the first block; others are a little more */
    double lo[2], hi[2];                  /* of data and weight */
    bool slowed;
};

static const struct learning_case cases[] = {
    { "lsq(3)", "lsq(2)", lsq, { "scale" }, { 0.4f }, { 0.4f }, { -4, -2 }, { 3, 1 }, true },
    { "lsq(3, 1)", "lsq(3, 0)", lsq, { "scale" }, { 0.4f }, { 0.2f }, { -4, -4 }, { 3, 3 }, true },
    { "lsq(3)", "lsq(3, 1)", lsq, { "scale" }, { 0.4f }, { 0.2f }, { -4, -4 }, { 3, 3 }, true },
    { "lsq(2)", "lsq(3, NA, 1)", lsq, { "scale" }, { 0.5f }, { 0.2f }, { -2, -4 }, { 1, 3 }, true },
    { "lsq_plus(3)",
      "lsq_plus(3, 0)",
      lsq_plus,
      { "scale", "offset" },
      { 0.3f, 0.35f },
      { 0.2f, -0.26f },
      { -4, -4 },
      { 3, 3 },
      true },
    { "pact(3)", "pact(3, 0)", pact, { "bound" }, { 1.3f }, { 0.6f }, { -4, -4 }, { 3, 3 }, false },
    { "hgq(4)",
      "hgq(4)",
      hgq,
      { "frac_width", "int_width" },
      { 1.7f, 0.2f },
      { 2.6f, -1.1f },
      { -1, -1 },
      { 1, 1 },
      false },
    { "hgq(4, 1)",
      "hgq(4, NA, 1)",
      hgq,
      { "frac_width", "int_width" },
      { 1.7f, 0.2f },
      { 1.6f, -0.6f },
      { -1, -1 },
      { 1, 1 },
      false },
};

/* A little more for later blocks, so that each is its own. */
static float nth(float first, int64_t block, int64_t blocks)
{
    return first * (1 + 0.3f * (float)block / (float)blocks);
}

static void set_values(struct running *r, const struct learning_case *c, enum mase_operand o,
                       int64_t blocks)
{
    for (int j = 0; j < 2 && c->learned[j]; j++) {
        float value[O * I];
        char name[64];
        for (int64_t b = 0; b < blocks; b++)
            value[b] = nth(o == MASE_WEIGHT ? c->weight_value[j] : c->data_value[j], b, blocks);
        snprintf(name, sizeof name, "fc.%s_%s", mase_operand_names[o], c->learned[j]);
        set(r, name, value);
    }
}

static struct rounded model(const struct running *r, const struct learning_case *c,
                            enum mase_operand o, int64_t block, double x)
{
    double value[2] = { 0, 0 };
    for (int j = 0; j < 2 && c->learned[j]; j++) {
        char name[64];
        snprintf(name, sizeof name, "fc.%s_%s", mase_operand_names[o], c->learned[j]);
        value[j] = mase_f32(&mase_graph_attr(r->graph, name)->tensor)[block];
    }
    const int w = o == MASE_WEIGHT;
    return c->model(x, value, c->lo[w], c->hi[w]);
}

/* Blocks are whole, one for each column or row, or one for each value. */
static int64_t block_at(int64_t blocks, int row, int column, enum mase_operand o)
{
    if (blocks == 1)
        return 0;
    return blocks == O * I ? row * I + column : o == MASE_WEIGHT && blocks == O ? row : column;
}

static struct rounded x_rounded(const struct running *r, const struct learning_case *c, int k,
                                int i)
{
    const int64_t blocks = blocks_of(format_of(c->data), MASE_DATA_IN);
    return model(r, c, MASE_DATA_IN, block_at(blocks, k, i, MASE_DATA_IN), x_at(r, k, i));
}

static struct rounded w_rounded(const struct running *r, const struct learning_case *c, int o,
                                int i)
{
    const int64_t blocks = blocks_of(format_of(c->weight), MASE_WEIGHT);
    return model(r, c, MASE_WEIGHT, block_at(blocks, o, i, MASE_WEIGHT), w_at(r, o, i));
}

static double slowing(const struct learning_case *c, enum mase_operand o, int64_t blocks)
{
    const int64_t count = (o == MASE_WEIGHT ? O * I : I) / blocks;
    return c->slowed ? 1 / sqrt((double)count * c->hi[o == MASE_WEIGHT]) : 1;
}

static void check_learned(const struct running *r, const struct mase_plan *p,
                          const struct learning_case *c, enum mase_operand o, int64_t blocks,
                          double (*sum)[2])
{
    for (int j = 0; j < 2 && c->learned[j]; j++)
        for (int64_t b = 0; b < blocks; b++) {
            char name[64];
            snprintf(name, sizeof name, "fc.%s_%s", mase_operand_names[o], c->learned[j]);
            assert_near(name, gradient_of(r, p, name, (int)b), sum[b][j] * slowing(c, o, blocks));
        }
}

static void check_case(const struct learning_case *c)
{
    struct running r = network(c->data, c->weight);
    const int64_t xb = blocks_of(format_of(c->data), MASE_DATA_IN);
    const int64_t wb = blocks_of(format_of(c->weight), MASE_WEIGHT);
    set_values(&r, c, MASE_DATA_IN, xb);
    set_values(&r, c, MASE_WEIGHT, wb);
    struct mase_plan *p = plan_of(&r, N, true, 1);
    feed(&r, p, N);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    run_backward(p, N);
    double dx[I][2] = { { 0 } }, dw[O * I][2] = { { 0 } };
    const struct mase_lanes in = mase_plan_input_gradient(p, 0), out = mase_plan_output(p);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < I; i++) {
            const struct rounded q = x_rounded(&r, c, k, i);
            double d = 0;
            for (int o = 0; o < O; o++)
                d += (double)functional(o, k) * w_rounded(&r, c, o, i).q;
            assert_near("dx", in.data[i * in.stride + k], d * q.dx);
            for (int j = 0; j < 2; j++)
                dx[block_at(xb, k, i, MASE_DATA_IN)][j] += d * q.d[j];
        }
    for (int o = 0; o < O; o++) {
        double y = mase_tensor_get(&mase_graph_attr(r.graph, "fc.bias")->tensor, o);
        for (int i = 0; i < I; i++) {
            const struct rounded q = w_rounded(&r, c, o, i);
            double d = 0;
            y += x_rounded(&r, c, 0, i).q * q.q;
            for (int k = 0; k < N; k++)
                d += (double)functional(o, k) * x_rounded(&r, c, k, i).q;
            assert_near("dw", gradient_of(&r, p, "fc.weight", o * I + i), d * q.dx);
            for (int j = 0; j < 2; j++)
                dw[block_at(wb, o, i, MASE_WEIGHT)][j] += d * q.d[j];
        }
        assert_near("y", out.data[o * out.stride], y);
    }
    check_learned(&r, p, c, MASE_DATA_IN, xb, dx);
    check_learned(&r, p, c, MASE_WEIGHT, wb, dw);
    mase_plan_free(p);
    stop(&r);
}

static void gradients_are_those_of_the_papers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* ---- the same numbers by every way ---- */

static struct running set_case(const struct learning_case *c)
{
    struct running r = network(c->data, c->weight);
    set_values(&r, c, MASE_DATA_IN, blocks_of(format_of(c->data), MASE_DATA_IN));
    set_values(&r, c, MASE_WEIGHT, blocks_of(format_of(c->weight), MASE_WEIGHT));
    return r;
}

/* The program, printed, read and run, gives the bits of the reference. */
static void check_program(struct running *r, const struct mase_tensor *want)
{
    struct mase_program *p, *again;
    struct mase_str text = { 0 }, broken = { 0 }, second = { 0 };
    struct mase_arg out;
    const struct mase_lower_opts o = { .inputs = r->input, .input_count = 1 };
    must(mase_program_lower(&p, r->graph, &o, &err), r->c);
    if (mase_program_verify(p, &broken))
        fail_msg("%s", mase_str_text(&broken));
    must(mase_program_run(&out, &r->arena, p, r->input, 1, &err), r->c);
    assert_memory_equal(out.tensor->data, want->data, (size_t)mase_tensor_bytes(want));
    mase_program_print(&text, p);
    must(mase_program_parse(&again, mase_str_text(&text), text.len, "text", &err), r->c);
    mase_program_print(&second, again);
    assert_string_equal(mase_str_text(&text), mase_str_text(&second));
    mase_program_free(again);
    mase_program_free(p);
    mase_str_release(&text);
    mase_str_release(&second);
    mase_str_release(&broken);
}

static void check_plan(struct running *r, const struct mase_tensor *want, int64_t batch)
{
    struct mase_plan *p = plan_of(r, batch, false, 1);
    feed(r, p, batch);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    const struct mase_lanes y = mase_plan_output(p);
    for (int64_t k = 0; k < batch; k++)
        for (int o = 0; o < O; o++)
            assert_near("y", y.data[o * y.stride + k], mase_tensor_get(want, k * O + o));
    mase_plan_free(p);
}

static void all_ways_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct running r = set_case(&cases[i]);
        const struct mase_tensor want = reference(&r, &r.arena);
        check_program(&r, &want);
        check_plan(&r, &want, N);
        check_plan(&r, &want, 1);
        stop(&r);
    }
}

/* What a format is now rounds to the values that training has, to the bit, and has codes. */
static void what_was_learned_is_an_int(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int sign = MASE_SIGNED; sign <= MASE_UNSIGNED; sign++) {
            struct running r = set_case(&cases[i]);
            const struct mase_node *n = mase_graph_find(r.graph, "fc");
            const struct mase_format *f = format_of(cases[i].weight);
            const struct mase_rounding how = { f, (enum mase_sign)sign, MASE_ROLE_WEIGHT };
            const struct mase_rounding now = mase_rounding_now(n, MASE_WEIGHT, how);
            const float *value[MASE_LEARNED_MAX];
            float x[O * I], q[O * I];
            int64_t code[O * I];
            const struct mase_shape s = { 2, { O, I } };
            for (int j = 0; j < mase_format_learned(f); j++)
                value[j] = mase_f32(&mase_learned_param(n, MASE_WEIGHT, j)->tensor);
            for (int k = 0; k < O * I; k++)
                x[k] = (float)(k - 11) * 0.137f;
            mase_quantize(now.format, q, x, &s, MASE_ROLE_WEIGHT, now.sign);
            assert_string_equal(now.format->row->name, "int");
            for (int k = 0; k < O * I; k++) {
                const int64_t b = block_at(blocks_of(f, MASE_WEIGHT), k / I, k % I, MASE_WEIGHT);
                const struct mase_uniform u =
                    mase_learned_uniform(f, value, b, (enum mase_sign)sign);
                const float v = rintf(x[k] / u.scale) + 0.0f;
                assert_true(q[k] == (v < u.lo ? u.lo : v > u.hi ? u.hi : v) * u.scale);
            }
            assert_int_equal(mase_format_codes(code, now.format, q, &s, MASE_ROLE_WEIGHT, now.sign),
                             0);
            stop(&r);
        }
}

/* Whatever a file says was learned: computed with or refused. */
static void strange_values_are_taken_or_refused(void **state)
{
    static const float strange[] = { NAN, INFINITY, -INFINITY, 0, -1, 1e-38f, 3e38f, -3e38f };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof strange / sizeof *strange; k++) {
            struct running r = set_case(&cases[i]);
            struct mase_values v;
            struct mase_param *p = &r.graph->attrs[r.graph->attr_count - 1];
            mase_f32(&p->tensor)[mase_tensor_count(&p->tensor) - 1] = strange[k];
            const enum mase_status st =
                mase_run_reference(&v, &r.arena, r.graph, r.input, r.inputs, &err);
            assert_int_equal(st, isfinite(strange[k]) ? MASE_OK : MASE_EVALUE);
            stop(&r);
        }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct running r = set_case(&cases[i]);
        struct mase_plan *p[2];
        for (int t = 0; t < 2; t++) {
            p[t] = plan_of(&r, N, true, t ? 3 : 1);
            feed(&r, p[t], N);
            assert_int_equal(mase_plan_forward(p[t], &err), MASE_OK);
            run_backward(p[t], N);
        }
        assert_memory_equal(p[0]->grads, p[1]->grads, (size_t)p[0]->param_size * sizeof(float));
        mase_plan_free(p[0]);
        mase_plan_free(p[1]);
        stop(&r);
    }
}

/* ---- in the graph ---- */

static void parameters_come_and_go_with_formats(void **state)
{
    (void)state;
    struct running r = set_case(&cases[1]);
    struct mase_module *fc = mase_graph_module(r.graph, "fc");
    struct mase_str text = { 0 }, again = { 0 };
    struct mase_graph *read;
    mase_graph_print_mg(&text, r.graph);
    assert_non_null(strstr(mase_str_text(&text), "attr fc.weight_scale = f32[4] init unset"));
    must(mase_graph_parse_mg(&read, mase_str_text(&text), text.len, "text", &err), r.c);
    mase_graph_print_mg(&again, read);
    assert_string_equal(mase_str_text(&text), mase_str_text(&again));
    const struct mase_format *f = format_of("integer(8, 4)"), *w = format_of("lsq(5, 0)");
    struct mase_quant q = { .kind = f->kind, .operand = { [MASE_DATA_IN] = f, [MASE_WEIGHT] = w } };
    mase_module_set_quant(r.graph, fc, &q);
    must(mase_graph_learn(r.graph, &err), r.c);
    assert_null(mase_graph_attr(r.graph, "fc.data_in_scale"));
    assert_true(mase_f32(&mase_graph_attr(r.graph, "fc.weight_scale")->tensor)[0] ==
                0.2f); /* kept */
    q.operand[MASE_WEIGHT] = format_of("lsq(5)");
    mase_module_set_quant(r.graph, fc, &q);
    must(mase_graph_learn(r.graph, &err), r.c);
    assert_int_equal(mase_tensor_count(&mase_graph_attr(r.graph, "fc.weight_scale")->tensor), 1);
    assert_int_equal(mase_graph_need_learned(r.graph, &err), MASE_EVALUE);
    mase_module_set_quant(r.graph, fc, NULL);
    must(mase_graph_learn(r.graph, &err), r.c);
    assert_int_equal(r.graph->attr_count, 0);
    mase_graph_free(read);
    mase_str_release(&text);
    mase_str_release(&again);
    stop(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_start_by_the_values),
        cmocka_unit_test(scales_start_by_every_sample),
        cmocka_unit_test(ranges_start_by_every_sample),
        cmocka_unit_test(untrained_networks_are_refused),
        cmocka_unit_test(gradients_are_those_of_the_papers),
        cmocka_unit_test(all_ways_agree),
        cmocka_unit_test(what_was_learned_is_an_int),
        cmocka_unit_test(strange_values_are_taken_or_refused),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(parameters_come_and_go_with_formats),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
