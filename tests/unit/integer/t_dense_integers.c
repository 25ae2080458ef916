/*
 * t_dense_integers.c - chains of dense layers in integers: what kernels compute sample by sample is
 * what is computed number by number, for every instruction set, however large the codes.
 */
#include <stdlib.h>

#include "formats.h"
#include "integer/int_parts.h"
#include "kern/kern.h"
#include "run_cases.h"
#include "unit/exec/step_case.h"

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

enum { SAMPLES = 71 }; /* a chunk, four at a time, one at a time */

static const struct step_case nets[] = {
    { "linear",
      "a = Linear(37, 21); b = Linear(21, 18); c = Linear(18, 5); a(x); torch.relu(a); "
      "b(relu); c(b)",
      .in = { S(37) } },
    { "linear",
      "n = BatchNorm1d(16); a = Linear(16, 64); m = BatchNorm1d(64); b = Linear(64, 5); "
      "o = BatchNorm1d(5); n(x); torch.relu(n); a(relu); m(a); torch.relu(m); b(relu_1); o(b)",
      .in = { S(16) } },
    { "linear", "a = Linear(3, 1); b = Linear(1, 33); a(x); torch.relu(a); b(relu)",
      .in = { S(3) } },
    { 0 },
};

/* data of the first layer, of the others, weights */
static const char *const families[][3] = {
    { "int(8, 1)", "int(8, 256)", "int(8, 1)" },
    { "int(8, 1)", "int(8, 100)", "int(8, 1)" },
    { "int(8, 0.7, 5)", "int(8, 300, -3)", "int(8, 0.9)" },
    { "integer(8, 0)", "integer(8, -8)", "integer(8, 0)" },
    { "fixed_floor(8, 0)", "fixed_floor(7, -8)", "integer(8, 0)" },
    { "integer(6, -2)", "integer(5, -8)", "integer(5, -3)" },
    { "integer(12, 4)", "integer(16, 0)", "integer(11, 3)" },
    { "integer(3, -5)", "integer(2, -8)", "integer(2, -6)" },
};

static void quantise(struct running *r, const char *const *format)
{
    bool first = true;
    for (struct mase_node *n = r->graph->first; n; n = n->next) {
        if (n->op != MASE_OP_linear)
            continue;
        struct mase_quant q = { .operand = { format_of(format[first ? 0 : 1]),
                                             format_of(format[2]) } };
        q.kind = q.operand[0]->kind;
        mase_module_set_quant(r->graph, mase_node_module(n), &q);
        first = false;
    }
}

/* What weights and samples are: the largest, the smallest, both in turn, what is a little too much
 * for 16 bits if eight are taken together, a few large ones among small ones, or anything between.
 */
enum fill { LARGEST, SMALLEST, TURNS, EDGE, FEW, RANDOM, FILL_COUNT };

static float filled(enum fill how, int64_t i, struct mase_rng *rng)
{
    switch (how) {
    case LARGEST:
        return 127;
    case SMALLEST:
        return -128;
    case TURNS:
        return i % 2 ? -128 : 127;
    case EDGE:
        return 33;
    case FEW:
        return i % 74 < 2 ? 127 : 2;
    default:
        return floorf(mase_rng_float(rng) * 256) - 128;
    }
}

struct filling {
    enum fill how;
    struct mase_rng rng;
};

static bool fill_weight(const char *full, struct mase_param *p, void *data)
{
    struct filling *f = data;
    float *v = mase_f32(&p->tensor);
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++) {
        if (p->tensor.shape.rank == 2)
            v[i] = filled(f->how, i, &f->rng);
        else if (strstr(full, "running_var"))
            v[i] = 1e4f * (1 + mase_rng_float(&f->rng));
        else
            v[i] = mase_rng_float(&f->rng) * 4 - 2;
    }
    return true;
}

static void fill_net(struct running *r, enum fill weights, enum fill samples)
{
    struct filling f = { weights, mase_rng(3, MASE_STREAM_TEST,
                                           (uint64_t)(weights * FILL_COUNT + samples)) };
    mase_graph_each_param(r->graph, fill_weight, &f);
    for (int64_t i = 0; i < mase_tensor_count(&r->input[0].tensor); i++)
        mase_f32(&r->input[0].tensor)[i] = filled(samples, i, &f.rng);
}

/* By the plain way, which keeps every value. */
static float *plain(struct running *r, struct mase_int_program *e)
{
    struct mase_int16_plan *fast = e->fast;
    e->fast = NULL;
    struct mase_int_runner *w = mase_int_runner_new(e, r->samples, MASE_INT_KEEP_ALL);
    float *y = mase_new_array(&r->arena, float, (size_t)(r->samples * e->output->rows));
    must(mase_int_runner_run_array(w, y, mase_f32(&r->input[0].tensor), r->samples, &err), r->c);
    mase_int_runner_free(w);
    e->fast = fast;
    return y;
}

static void check_samples(struct running *r, struct mase_int_program *e, const float *want,
                          const char *what)
{
    const int64_t outputs = e->output->rows;
    for (int64_t n = 1; n <= r->samples; n += n < 9 ? 1 : 31) {
        struct mase_int_runner *w = mase_int_runner_new(e, n, MASE_INT_KEEP_OUTPUT);
        float *y =
            malloc((size_t)(n * outputs) * sizeof *y); /* exactly: nothing beyond is written */
        assert_non_null(y);
        must(mase_int_runner_run_array(w, y, mase_f32(&r->input[0].tensor), n, &err), r->c);
        for (int64_t i = 0; i < n * outputs; i++)
            if (memcmp(&y[i], &want[i], sizeof *y) != 0)
                fail_msg("%s: %s: %lld samples: [%lld]: got %.9g, want %.9g", what, r->c->text,
                         (long long)n, (long long)i, (double)y[i], (double)want[i]);
        free(y);
        mase_int_runner_free(w);
    }
}

/* Every set of instructions that this processor has. Returns how many ran sample by sample. */
static int by_every_set(struct running *r, const char *what)
{
    const struct mase_kernels *k;
    struct mase_int_program *e;
    int dense = 0;
    for (int i = 0; mase_isa_names[i]; i++) {
        setenv("MASE_ISA", mase_isa_names[i], 1);
        if (mase_kernels_select(&k, &err))
            continue;
        must(mase_int_program_new(&e, r->graph, r->input, 1, &err), r->c);
        check_samples(r, e, plain(r, e), what);
        dense += e->dense != NULL;
        mase_int_program_free(e);
    }
    unsetenv("MASE_ISA");
    return dense;
}

static void samples_give_what_numbers_give(void **state)
{
    const int step = getenv("MASE_QUICK") ? 5 : 1;
    int dense = 0, all = 0;
    (void)state;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct step_case *c = nets; c->op; c++)
            for (int fill = 0; fill < FILL_COUNT * FILL_COUNT; fill += step, all++) {
                struct running r = start(c, SAMPLES);
                fill_net(&r, fill / FILL_COUNT, fill % FILL_COUNT);
                quantise(&r, families[f]);
                dense += by_every_set(&r, families[f][0]) > 0;
                stop(&r);
            }
    assert_in_range(dense, all * 9 / 10, all); /* sums of some need more than 32 bits */
}

/* A batch norm makes 66.5 and a little of the code 2, which float32 cannot tell from 66.5, a tie.
 */
static bool fill_tie(const char *full, struct mase_param *p, void *data)
{
    float *v = mase_f32(&p->tensor);
    (void)data;
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++) {
        if (p->tensor.shape.rank == 2)
            v[i] = i % p->tensor.shape.dim[1] == i / p->tensor.shape.dim[1];
        else if (full[0] != 'm' || strstr(full, "mean"))
            v[i] = 0;
        else
            v[i] = strstr(full, "var")    ? (float)(1 - 1e-5)
                   : strstr(full, "bias") ? 64.5f
                                          : (i % 2 ? -1 : 1) * (1 + 0x1p-23f);
    }
    return true;
}

static void ties_that_floats_miss_are_seen(void **state)
{
    static const struct step_case c = { "linear",
                                        "a = Linear(4, 4); m = BatchNorm1d(4); b = Linear(4, 4); "
                                        "a(x); m(a); b(m)",
                                        .in = { S(4) } };
    static const char *const format[] = { "int(8, 1)", "int(8, 1)", "int(8, 1)" };
    (void)state;
    struct running r = start(&c, 9);
    struct mase_int_program *e;
    mase_graph_each_param(r.graph, fill_tie, NULL);
    for (int64_t i = 0; i < 36; i++)
        mase_f32(&r.input[0].tensor)[i] = (float)(i % 4 % 2 ? -(i / 4) : i / 4);
    quantise(&r, format);
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &c);
    const float *want = plain(&r, e);
    assert_true(e->dense && want[2 * 4] == 67 && want[2 * 4 + 1] == 67);
    mase_int_program_free(e);
    by_every_set(&r, "ties");
    stop(&r);
}

/* Lanes in, lanes out. */
static void lanes_are_taken_too(void **state)
{
    (void)state;
    struct running r = start(&nets[0], 40);
    struct mase_int_program *e;
    fill_net(&r, RANDOM, RANDOM);
    quantise(&r, families[0]);
    must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &nets[0]);
    const float *want = plain(&r, e);
    struct mase_int_runner *w = mase_int_runner_new(e, 40, MASE_INT_KEEP_OUTPUT);
    mase_to_lanes(mase_int_runner_input(w), mase_f32(&r.input[0].tensor), 40);
    must(mase_int_runner_run(w, 40, &err), &nets[0]);
    const struct mase_lanes y = mase_int_runner_output(w);
    for (int64_t i = 0; i < 40 * y.rows; i++)
        assert_memory_equal(&y.data[i % y.rows * y.stride + i / y.rows], &want[i], sizeof *want);
    mase_int_runner_free(w);
    mase_int_program_free(e);
    stop(&r);
}

/* The sample is named, in whichever chunk it is; what comes after it is not computed. */
static void what_is_no_number_is_told(void **state)
{
    (void)state;
    for (int net = 0; net < 2; net++) {
        struct running r = start(&nets[net], SAMPLES);
        struct mase_int_program *e;
        fill_net(&r, RANDOM, RANDOM);
        quantise(&r, families[0]);
        must(mase_int_program_new(&e, r.graph, r.input, 1, &err), &nets[net]);
        assert_non_null(e->dense);
        struct mase_int_runner *w = mase_int_runner_new(e, SAMPLES, MASE_INT_KEEP_OUTPUT);
        float *y = mase_new_array(&r.arena, float, (size_t)(SAMPLES * e->output->rows));
        float *x = mase_f32(&r.input[0].tensor);
        x[67 * e->input->rows + 2] = NAN;
        assert_int_equal(mase_int_runner_run_array(w, y, x, SAMPLES, &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, "sample 67"));
        x[67 * e->input->rows + 2] = -INFINITY;
        assert_int_equal(mase_int_runner_run_array(w, y, x, SAMPLES, &err), MASE_OK);
        mase_int_runner_free(w);
        mase_int_program_free(e);
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_what_numbers_give),
        cmocka_unit_test(ties_that_floats_miss_are_seen),
        cmocka_unit_test(lanes_are_taken_too),
        cmocka_unit_test(what_is_no_number_is_told),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
