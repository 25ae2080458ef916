/*
 * t_frozen.c - where gradients stop: frozen parameters, calls under no_grad. For every step, what
 * is left of the gradients has the bits that it has without; and the text form keeps it all.
 */
#include "ir/shape/shape.h"
#include "run_cases.h"
#include "step_case.h"

enum { SAMPLES = 19, MOST = 16 };

/* ---- everything that a plan computes ---- */

/* Gradients of one parameter, or of one input; n = 0: there are none. */
struct gradient {
    const struct mase_param *param;
    const float *g;
    int64_t n;
};

struct outcome {
    const float *y;
    int64_t rows, trained; /* of the output; floats of parameters that are trained */
    struct gradient param[MOST], input[CASE_INPUTS];
    int params;
};

static const float *copy(struct running *r, struct mase_lanes x)
{
    float *all = mase_new_array(&r->arena, float, (size_t)(x.rows * SAMPLES));
    for (int64_t i = 0; i < x.rows * SAMPLES; i++)
        all[i] = x.data[i / SAMPLES * x.stride + i % SAMPLES];
    return all;
}

struct collecting {
    struct running *r;
    struct outcome *o;
    const float *g;
};

static bool collect(const char *full, struct mase_param *p, void *data)
{
    struct collecting *c = data;
    const int64_t n = mase_tensor_count(&p->tensor);
    (void)full;
    if (mase_param_is_buffer(p) || p->tied)
        return true;
    struct gradient *d = &c->o->param[c->o->params++];
    *d = (struct gradient){ .param = p };
    if (p->kind == MASE_PARAM_FROZEN)
        return true;
    d->n = n;
    d->g = mase_arena_memdup(&c->r->arena, c->g, (size_t)n * sizeof *c->g);
    c->g += (n + 15) / 16 * 16;
    return true;
}

static struct outcome compute(struct running *r)
{
    struct mase_plan *p = plan_of(r, SAMPLES, true, 2);
    struct outcome o = { .rows = mase_plan_output(p).rows, .trained = mase_plan_params(p).n };
    feed(r, p, SAMPLES);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    o.y = copy(r, mase_plan_output(p));
    run_backward(p, SAMPLES);
    struct collecting c = { r, &o, mase_plan_params(p).g };
    mase_graph_each_param(r->graph, collect, &c);
    for (int i = 0; i < r->inputs; i++) {
        const struct mase_lanes g = mase_plan_input_gradient(p, i);
        o.input[i] = (struct gradient){ .g = copy(r, g), .n = g.rows * SAMPLES };
    }
    mase_plan_free(p);
    return o;
}

static void assert_same(const struct running *r, const float *a, const float *b, int64_t n,
                        const char *what)
{
    if (n && memcmp(a, b, (size_t)n * sizeof *a))
        fail_msg("%s: %s: %s differs", r->c->op, r->c->text, what);
}

/* The same where both have something; only frozen parameters may lack it. */
static void assert_rest_is_same(struct running *r, const struct outcome *a, const struct outcome *b)
{
    assert_same(r, a->y, b->y, a->rows * SAMPLES, "the output");
    for (int i = 0; i < a->params; i++) {
        assert_int_equal(b->param[i].n,
                         b->param[i].param->kind == MASE_PARAM_FROZEN ? 0 : a->param[i].n);
        assert_same(r, a->param[i].g, b->param[i].g, b->param[i].n, a->param[i].param->name);
    }
    for (int i = 0; i < r->inputs; i++) {
        assert_int_equal(a->input[i].n, b->input[i].n);
        assert_same(r, a->input[i].g, b->input[i].g, a->input[i].n, "the gradient of an input");
    }
}

/* ---- parameters ---- */

static void frozen_parameters_change_no_other_bit(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        const struct outcome all = compute(&r);
        for (int i = 0; i < all.params; i++) {
            struct mase_param *p = (struct mase_param *)all.param[i].param;
            p->kind = MASE_PARAM_FROZEN;
            const struct outcome one = compute(&r);
            assert_int_equal(one.trained, all.trained - (all.param[i].n + 15) / 16 * 16);
            assert_rest_is_same(&r, &all, &one);
            p->kind = MASE_PARAM_TRAINED;
        }
        for (int i = 0; i < all.params; i++)
            ((struct mase_param *)all.param[i].param)->kind = MASE_PARAM_FROZEN;
        const struct outcome none = compute(&r);
        assert_int_equal(none.trained, 0);
        assert_rest_is_same(&r, &all, &none);
        stop(&r);
    }
}

/* ---- calls ---- */

static bool is_call(const struct mase_node *n)
{
    return n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD ||
           n->kind == MASE_CALL_MODULE;
}

/* The same network with x.detach() behind the n-th call in the place of no_grad. */
static struct running detached(const struct step_case *c, int n)
{
    struct running r = start(c, SAMPLES);
    struct mase_node *at = r.graph->first;
    while (!is_call(at) || n-- > 0)
        at = at->next;
    const struct mase_arg x = mase_arg_node(at);
    const struct mase_arg args = mase_arg_seq(&r.graph->arena, MASE_ARG_TUPLE, &x, 1);
    struct mase_node *d =
        mase_graph_insert_after(r.graph, at, MASE_CALL_METHOD, "detach", &args, NULL);
    mase_graph_replace_uses(r.graph, at, d, d);
    return r;
}

/* Is it a piece of a tuple, which is what it was, with its gradient? */
static bool is_piece(const struct mase_values *v, const struct mase_node *n)
{
    return n->op == MASE_OP_getitem && mase_values_get(v, n->inputs[0])->kind == MASE_ARG_TUPLE;
}

/* Is the result of a call one tensor of the samples, and not written over? */
static bool can_detach(struct running *r, const struct mase_node *n)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    must(mase_infer_shapes(&v, &a, r->graph, r->input, r->inputs, &err), r->c);
    const struct mase_tensor *t = is_call(n) ? mase_arg_tensor(mase_values_get(&v, n)) : NULL;
    const bool can = t && t->dtype == MASE_F32 && t->shape.rank > 0 && t->shape.dim[0] == SAMPLES &&
                     n->op != MASE_OP_setitem && !is_piece(&v, n) &&
                     !mase_ends_with(n->target, "_");
    mase_arena_release(&a);
    return can;
}

static void no_grad_is_a_detached_result(void **state)
{
    int compared = 0;
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        int number = 0;
        for (struct mase_node *n = r.graph->first; n; n = n->next) {
            if (!is_call(n))
                continue;
            if (can_detach(&r, n)) {
                struct running d = detached(c, number);
                n->no_grad = true;
                const struct outcome a = compute(&d), b = compute(&r);
                assert_rest_is_same(&r, &a, &b);
                n->no_grad = false;
                compared++;
                stop(&d);
            }
            number++;
        }
        stop(&r);
    }
    assert_true(compared > 100);
}

/* Nothing is left to compute backwards. */
static void without_gradients_nothing_is_trained(void **state)
{
    (void)state;
    for (const struct step_case *c = step_cases; c->op; c++) {
        struct running r = start(c, SAMPLES);
        struct mase_node *last = mase_graph_output(r.graph)->inputs[0];
        if (!can_detach(&r, last)) {
            stop(&r);
            continue;
        }
        last->no_grad = true;
        const struct outcome o = compute(&r);
        for (int i = 0; i < r.inputs; i++)
            assert_int_equal(o.input[i].n, 0);
        for (int i = 0; i < o.params; i++)
            for (int64_t k = 0; k < o.param[i].n; k++)
                assert_true(o.param[i].g[k] == 0.0f);
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_parameters_change_no_other_bit),
        cmocka_unit_test(no_grad_is_a_detached_result),
        cmocka_unit_test(without_gradients_nothing_is_trained),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
