/*
 * t_plan_weights.c - whose weights a plan reads: the graph's own in evaluation, wherever they lie,
 * a copy in training; and that all which was made of them follows when they change or move.
 */
#include "run_cases.h"
#include "step_case.h"

#include "exec/plan/plan_parts.h"
#include "formats.h"

enum { SAMPLES = 5 };

static void run(struct running *r, struct mase_plan *p, int64_t samples)
{
    feed(r, p, samples);
    must(mase_plan_forward(p, &err), r->c);
}

static void same_output(const struct running *r, const struct mase_plan *p,
                        const struct mase_plan *q, int64_t samples)
{
    const struct mase_lanes x = mase_plan_output(p), y = mase_plan_output(q);
    assert_int_equal(x.rows, y.rows);
    for (int64_t row = 0; row < x.rows; row++)
        if (memcmp(x.data + row * x.stride, y.data + row * y.stride,
                   (size_t)samples * sizeof *x.data))
            fail_msg("%s: %s: row %lld differs", r->c->op, r->c->text, (long long)row);
}

static bool is_plain(const struct step_case *c)
{
    return !strstr(c->text, "buffer "); /* what constants alone decide is decided once */
}

/* The fewest samples: statistics of a batch are not those of one. */
static int64_t fewest(const struct step_case *c)
{
    const bool of_batch =
        strstr(c->text, "track_running_stats=False") || strstr(c->text, "batch_norm(x, None, None");
    return of_batch ? 2 : 1;
}

/* A clone borrows its weights, which a plan then borrows too; when the clone takes weights of its
 * own they lie elsewhere. One sample: kinds have another arrangement of the weights for it. */
static void they_may_move(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        struct mase_graph *owner = r.graph;
        if (!is_plain(c)) {
            stop(&r);
            continue;
        }
        r.graph = mase_graph_clone(owner);
        struct mase_plan *p = plan_of(&r, SAMPLES, false, 1);
        run(&r, p, fewest(c));
        run(&r, p, SAMPLES);
        mase_graph_own_weights(r.graph);
        struct mase_rng rng = mase_rng(8, MASE_STREAM_TEST, 1);
        mase_graph_each_param(r.graph, fill_param, &rng);
        mase_plan_read_weights(p);
        struct mase_plan *fresh = plan_of(&r, SAMPLES, false, 1);
        for (int64_t n = fewest(c); n <= SAMPLES; n += SAMPLES - fewest(c)) {
            run(&r, p, n);
            run(&r, fresh, n);
            same_output(&r, p, fresh, n);
        }
        mase_plan_free(p);
        mase_plan_free(fresh);
        stop(&r);
        mase_graph_free(owner);
    }
}

static struct mase_plan *plan_like(struct running *r, int64_t batch, struct mase_plan *like)
{
    struct mase_plan *p;
    const struct mase_plan_opts o = {
        .batch = batch, .inputs = r->input, .input_count = r->inputs, .like = like
    };
    must(mase_plan_new(&p, r->graph, &o, &err), r->c);
    return p;
}

/* Every call that can be, by formats whose steps move all numbers. */
static void quantise_all(struct mase_graph *g)
{
    const struct mase_format *f = format_of("integer(4, 2)");
    const struct mase_quant q = { .kind = f->kind, .operand = { f, f, f } };
    for (struct mase_node *n = g->first; n; n = n->next) {
        if (!mase_ops[n->op].quantisable)
            continue;
        if (n->kind == MASE_CALL_MODULE)
            mase_module_set_quant(g, mase_node_module(n), &q);
        else if (n->kind == MASE_CALL_FUNCTION)
            mase_node_set_quant(n, &q);
    }
}

/* Plans alike have one set of copies, which the first one makes anew when it reads the weights. */
static void plans_alike(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        quantise_all(r.graph);
        struct mase_plan *p = plan_of(&r, SAMPLES, false, 1);
        struct mase_plan *q = plan_like(&r, 2, p);
        assert_null(q->rounded);
        assert_null(q->derived);
        for (int turn = 0; turn < 2; turn++) {
            for (int64_t n = fewest(c); n <= 2; n++) {
                run(&r, p, n);
                run(&r, q, n);
                same_output(&r, p, q, n);
            }
            struct mase_rng rng = mase_rng(8, MASE_STREAM_TEST, 1);
            mase_graph_each_param(r.graph, fill_param, &rng);
            mase_plan_read_weights(p);
            mase_plan_read_weights(q);
        }
        mase_plan_free(q);
        mase_plan_free(p);
        stop(&r);
    }
}

static void not_alike(struct running *r, const struct mase_plan_opts *o, const char *why)
{
    struct mase_plan *p;
    err = (struct mase_err){ 0 };
    assert_int_equal(mase_plan_new(&p, r->graph, o, &err), MASE_EUNSUPPORTED);
    if (!strstr(err.msg, why))
        fail_msg("%s", err.msg);
}

static const struct step_case net;

static void what_cannot_be_alike(void **state)
{
    (void)state;
    struct running r = start(&net, SAMPLES), other = start(&net, SAMPLES);
    struct mase_plan *eval = plan_of(&r, SAMPLES, false, 1), *train = plan_of(&r, SAMPLES, true, 1);
    struct mase_plan_opts o = {
        .batch = 2, .inputs = r.input, .input_count = r.inputs, .like = train
    };
    not_alike(&r, &o, "in evaluation alone");
    o.like = eval;
    not_alike(&other, &o, "of the same graph");
    o.train = true;
    not_alike(&r, &o, "in evaluation alone");
    o.train = false;
    o.formats_change = true;
    not_alike(&r, &o, "formats that stay");
    o.formats_change = false;
    struct mase_plan *second = plan_like(&r, 2, eval);
    o.like = second;
    not_alike(&r, &o, "has its own");
    o.like = eval;
    quantise_all(r.graph);
    not_alike(&r, &o, "has not changed");
    mase_plan_free(second);
    mase_plan_free(train);
    mase_plan_free(eval);
    stop(&r);
    stop(&other);
}

static const struct step_case net = { "linear",
                                      "fc = Linear(5, 7); b = BatchNorm1d(7); fc(x); b(fc)",
                                      .in = { { 1, { 5 } } } };

/* Plans that evaluate have no copy of what is float32; one that trains has one of all. */
static void who_copies(void **state)
{
    (void)state;
    struct running r = start(&net, SAMPLES);
    struct mase_plan *eval[2] = { plan_of(&r, SAMPLES, false, 1), plan_of(&r, 2, false, 1) };
    struct mase_plan *train = plan_of(&r, SAMPLES, true, 1);
    for (int i = 0; i < train->weight_count; i++) {
        const struct mase_tensor *t = &train->weight[i].param->tensor;
        assert_ptr_not_equal(train->weight[i].x, t->data);
        for (int k = 0; k < 2; k++)
            assert_int_equal(eval[k]->weight[i].x == t->data, t->dtype == MASE_F32);
    }
    mase_plan_free(train);
    mase_plan_free(eval[0]);
    mase_plan_free(eval[1]);
    stop(&r);
}

/* What training changes reaches the graph, and plans that evaluate it, when it is written. */
static void training_writes(void **state)
{
    (void)state;
    struct running r = start(&net, SAMPLES);
    struct mase_plan *eval = plan_of(&r, SAMPLES, false, 1);
    struct mase_plan *train = plan_of(&r, SAMPLES, true, 1);
    struct mase_plan *before = plan_of(&r, SAMPLES, false, 1);
    run(&r, before, SAMPLES);
    const struct mase_plan_params params = mase_plan_params(train);
    assert_int_equal(params.n, 48 + 16 + 16 + 16);
    run(&r, train, SAMPLES); /* running statistics follow */
    for (int64_t i = 0; i < params.n; i++)
        params.w[i] += 0.5f;
    run(&r, eval, SAMPLES);
    same_output(&r, eval, before, SAMPLES);
    mase_plan_write_weights(train);
    mase_plan_read_weights(eval);
    struct mase_plan *after = plan_of(&r, SAMPLES, false, 1);
    for (int64_t n = 1; n <= SAMPLES; n += SAMPLES - 1) {
        run(&r, eval, n);
        run(&r, after, n);
        same_output(&r, eval, after, n);
    }
    const struct mase_lanes x = mase_plan_output(before), y = mase_plan_output(after);
    assert_true(x.data[0] != y.data[0]);
    mase_plan_free(before);
    mase_plan_free(after);
    mase_plan_free(train);
    mase_plan_free(eval);
    stop(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_may_move),        cmocka_unit_test(plans_alike),
        cmocka_unit_test(what_cannot_be_alike), cmocka_unit_test(who_copies),
        cmocka_unit_test(training_writes),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
