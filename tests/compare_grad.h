/*
 * compare_grad.h - the gradients of one network by a plan and by the program that is its gradient,
 * run by the interpreter: the same numbers, or no such program. What the program is must hold in
 * any case: it is verified, and its text reads back to an equal one.
 *
 * A plan sums in float32, the interpreter rounds every value to that: with values of size one they
 * differ by CP_CLOSE of the largest gradient at most (compare_plan.h). Gradients beyond CP_WILD are
 * not compared.
 */
#ifndef MASE_TESTS_COMPARE_GRAD_H
#define MASE_TESTS_COMPARE_GRAD_H

#include <mase/program.h>

#include "compare_plan.h"

struct cg_comparing {
    const struct cp_case *c;
    struct mase_arg gradient[2]; /* of parameters and of inputs: dicts */
    const float *g;              /* of the plan's next parameter */
    double size;
    struct mase_str *why;
};

/* ---- the program ---- */

static inline bool cg_reads_back(const struct mase_program *p, struct mase_str *why)
{
    struct mase_str text = { 0 }, again = { 0 };
    struct mase_program *q = NULL;
    struct mase_err err = { 0 };
    bool same = false;
    mase_program_print(&text, p);
    if (mase_program_parse(&q, mase_str_text(&text), text.len, "text", &err)) {
        mase_str_printf(why, "the gradient's text: %s\n%s", err.msg, mase_str_text(&text));
    } else {
        mase_program_print(&again, q);
        same = !strcmp(mase_str_text(&text), mase_str_text(&again));
        if (!same)
            mase_str_printf(why, "the gradient's text reads back to another program");
    }
    mase_program_free(q);
    mase_str_release(&text);
    mase_str_release(&again);
    return same;
}

/* NULL: there is none, or with *wrong one that does not hold. */
static inline struct mase_program *cg_program(const struct cp_case *c, bool *wrong,
                                              struct mase_str *why)
{
    const struct mase_lower_opts o = { .inputs = c->in,
                                       .input_count = c->inputs,
                                       .training = true };
    const struct mase_grad_opts g = { .inputs = true };
    struct mase_program *forward, *joint = NULL;
    struct mase_err err = { 0 };
    *wrong = false;
    if (mase_program_lower(&forward, c->g, &o, &err))
        return NULL;
    if (!mase_program_grad(&joint, forward, &g, &err))
        *wrong = mase_program_verify(joint, why) || !cg_reads_back(joint, why);
    mase_program_free(forward);
    return joint;
}

/* The gradient of the output in the program's shape; that of no other result. */
static inline const struct mase_pvalue *cg_seed(const struct mase_program *p)
{
    for (int n = 0; n < p->value_count; n++)
        if (p->value[n]->source == MASE_PSOURCE_INPUT && !strcmp(p->value[n]->name, "output.grad"))
            return p->value[n];
    return NULL;
}

static inline bool cg_run(struct cg_comparing *k, struct mase_arena *a,
                          const struct mase_program *p)
{
    struct mase_input in[5];
    struct mase_arg out;
    struct mase_err err;
    int count = k->c->inputs;
    const struct mase_pvalue *seed = cg_seed(p);
    memcpy(in, k->c->in, sizeof k->c->in);
    if (seed) {
        const struct mase_shape shape = mase_ptype_shape(&seed->type, k->c->samples);
        in[count].name = seed->name;
        in[count].tensor = mase_tensor(a, MASE_F32, &shape, true);
        for (int64_t i = 0; i < mase_tensor_count(&in[count].tensor); i++)
            mase_tensor_set(&in[count].tensor, i, cp_weight(i));
        count++;
    }
    if (mase_program_run(&out, a, p, in, count, &err))
        return false;
    k->gradient[0] = out.items[0];
    k->gradient[1] = out.items[1];
    return true;
}

/* ---- comparing ---- */

static inline const struct mase_tensor *cg_find(const struct mase_arg *dict, const char *name)
{
    for (int i = 0; i < dict->count; i++)
        if (!strcmp(dict->keys[i], name))
            return dict->items[i].tensor;
    return NULL;
}

/* Are they such that float32 keeps them? */
static inline bool cg_tame(struct cg_comparing *k)
{
    k->size = 1.0;
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < k->gradient[d].count; i++) {
            const struct mase_tensor *t = k->gradient[d].items[i].tensor;
            for (int64_t n = 0; n < mase_tensor_count(t); n++) {
                if (!(fabs(mase_tensor_get(t, n)) <= CP_WILD))
                    return false;
                k->size = fmax(k->size, fabs(mase_tensor_get(t, n)));
            }
        }
    return true;
}

static inline bool cg_same(struct cg_comparing *k, double got, double want, const char *name,
                           int64_t i)
{
    if (fabs(got - want) <= CP_CLOSE * k->size)
        return true;
    mase_str_printf(k->why, "the gradient of %s[%lld]: the program has %.9g, the plan %.9g", name,
                    (long long)i, got, want);
    return false;
}

static inline bool cg_param(const char *full, struct mase_param *p, void *data)
{
    struct cg_comparing *k = data;
    const struct mase_tensor *t = cg_find(&k->gradient[0], full);
    const int64_t n = mase_tensor_count(&p->tensor);
    bool same = true;
    if (!mase_param_is_trained(p) || p->tied)
        return true;
    for (int64_t i = 0; i < n && same; i++)
        same = cg_same(k, t ? mase_tensor_get(t, i) : 0.0, (double)k->g[i], full, i);
    k->g += (n + 15) / 16 * 16;
    return same;
}

static inline bool cg_input(struct cg_comparing *k, const struct mase_plan *p, int n)
{
    const struct mase_lanes g = mase_plan_input_gradient(p, n), x = mase_plan_input(p, n);
    const struct mase_tensor *t = cg_find(&k->gradient[1], k->c->in[n].name);
    bool same = true;
    for (int64_t i = 0; i < x.rows * k->c->samples && same; i++)
        same = cg_same(k, t ? mase_tensor_get(t, i) : 0.0,
                       g.data ? (double)g.data[i % x.rows * g.stride + i / x.rows] : 0.0,
                       k->c->in[n].name, i);
    return same;
}

/* p has been fed, and gone back with the output's gradient that cp_gradients gives it. close: are
 * its values such that gradients are the same? */
static inline enum cp_verdict cg_compare(const struct cp_case *c, const struct mase_plan *p,
                                         bool close, struct mase_str *why)
{
    struct cg_comparing k = { .c = c, .g = mase_plan_params(p).g, .why = why };
    struct mase_arena a = { 0 };
    enum cp_verdict v = CP_REFUSED;
    bool wrong;
    struct mase_program *joint = cg_program(c, &wrong, why);
    if (joint && !wrong && cg_run(&k, &a, joint)) {
        v = close && cg_tame(&k) ? CP_SAME : CP_UNTAMED;
        for (int n = 0; n < c->inputs && v == CP_SAME; n++)
            v = cg_input(&k, p, n) ? CP_SAME : CP_WRONG;
        const size_t before = why->len;
        if (v == CP_SAME)
            mase_graph_each_param(c->g, cg_param, &k);
        v = why->len > before ? CP_WRONG : v;
    }
    mase_program_free(joint);
    mase_arena_release(&a);
    return wrong ? CP_WRONG : v;
}

#endif /* MASE_TESTS_COMPARE_GRAD_H */
