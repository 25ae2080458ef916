/*
 * t_engines.c - every row of the table of engines: found by its name, and the same numbers as the
 * reference, whatever the batches and the threads.
 */
#include <math.h>

#include <mase/evaluate.h>
#include <mase/run.h>

#include "formats.h"
#include "run_cases.h"
#include "unit/exec/step_case.h"

enum { SAMPLES = 100, INPUTS = 5, OUTPUTS = 3 };

/* Steps by which float32 is exact: all engines and the reference give the same bits. */
static void network(struct running *r, bool quantised)
{
    static const struct step_case c = {
        "linear", "a = Linear(5, 6); b = Linear(6, 3); a(x); torch.relu(a); b(relu)",
        .in = { { 1, { INPUTS } } }
    };
    struct mase_quant q = { .operand = { format_of("integer(6, 2)"), format_of("integer(5, 2)"),
                                         format_of("integer(5, 2)") } };
    *r = start(&c, SAMPLES);
    q.kind = q.operand[0]->kind;
    for (struct mase_node *n = r->graph->first; n && quantised; n = n->next)
        if (n->op == MASE_OP_linear)
            mase_module_set_quant(r->graph, mase_node_module(n), &q);
}

static void predict(float *y, struct running *r, const struct mase_engine *e, int64_t batch,
                    int threads)
{
    const struct mase_shape sample = { 1, { INPUTS } };
    const struct mase_predictor_opts o = { .engine = e, .batch = batch, .threads = threads };
    struct mase_predictor *p;
    assert_int_equal(mase_predictor_new(&p, r->graph, &sample, &o, &err), MASE_OK);
    assert_true(mase_predictor_planned(p));
    assert_int_equal(mase_predictor_outputs(p), OUTPUTS);
    assert_int_equal(mase_predictor_run(p, y, mase_f32(&r->input[0].tensor), SAMPLES, &err),
                     MASE_OK);
    mase_predictor_free(p);
}

static void every_engine_gives_the_reference_s_numbers(void **state)
{
    static const struct {
        int64_t batch;
        int threads;
    } ways[] = { { 0, 1 }, { 7, 1 }, { 16, 2 }, { SAMPLES, 2 } };
    struct running r;
    struct mase_values v;
    struct mase_arena a = { 0 };
    (void)state;
    network(&r, true);
    assert_int_equal(mase_run_reference(&v, &a, r.graph, r.input, 1, &err), MASE_OK);
    const float *wanted = mase_f32(mase_run_output(&v, r.graph)->tensor);
    for (const struct mase_engine *e = mase_engines; e->name; e++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            float y[SAMPLES * OUTPUTS];
            predict(y, &r, e, ways[k].batch, ways[k].threads);
            assert_memory_equal(y, wanted, sizeof y);
        }
    mase_arena_release(&a);
    stop(&r);
}

static void every_engine_is_found_by_its_name(void **state)
{
    (void)state;
    for (const struct mase_engine *e = mase_engines; e->name; e++) {
        assert_ptr_equal(mase_engine_find(e->name), e);
        assert_true(e->help[0] != '\0' && e->functions != NULL);
    }
    assert_null(mase_engine_find("abacus"));
    assert_int_equal(mase_engine_unknown("abacus", &err), MASE_EVALUE);
    for (const struct mase_engine *e = mase_engines; e->name; e++)
        assert_non_null(strstr(err.msg, e->name));
}

static void number_formats_decide_what_is_deployed(void **state)
{
    (void)state;
    for (int quantised = 0; quantised < 2; quantised++) {
        struct running r;
        network(&r, quantised);
        assert_string_equal(mase_engine_deployed(r.graph)->name, quantised ? "int" : "float");
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_engine_gives_the_reference_s_numbers),
        cmocka_unit_test(every_engine_is_found_by_its_name),
        cmocka_unit_test(number_formats_decide_what_is_deployed),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
