/*
 * grad_case.h - a case of step_case.h and the gradient of its program: verified, written and read
 * back, run by the interpreter, compared with the plan's backward.
 *
 * The bound. The interpreter computes each instruction in double and rounds its result to float32,
 * a plan sums in float32. A gradient is a sum of at most a few hundred terms through a few such
 * instructions, none larger than `size`, the largest gradient of the case or of its output: both
 * stay within 256 * 2^-24 = 1.5e-5 times that.
 */
#ifndef MASE_TESTS_GRAD_CASE_H
#define MASE_TESTS_GRAD_CASE_H

#include <mase/program.h>

#include "step_case.h"

static const double grad_bound = 0x1p-16;

/* ---- a case and its gradient ---- */

struct subject {
    struct running r;
    struct mase_program *forward, *joint;
};

static inline void report(const struct subject *s)
{
    struct mase_str text = { 0 };
    if (s->joint)
        mase_program_print(&text, s->joint);
    fprintf(stderr, "%s: %s\n%s", s->r.c->op, s->r.c->text, mase_str_text(&text));
    mase_str_release(&text);
}

static inline void refuse(const struct subject *s, const char *why)
{
    report(s);
    fail_msg("%s: %s: %s", s->r.c->op, s->r.c->text, why);
}

static inline struct subject differentiate(struct running r)
{
    struct subject s = { .r = r };
    const struct mase_lower_opts o = { .inputs = s.r.input,
                                       .input_count = s.r.inputs,
                                       .training = true };
    const struct mase_grad_opts g = { .inputs = true };
    must(mase_program_lower(&s.forward, s.r.graph, &o, &err), r.c);
    if (mase_program_grad(&s.joint, s.forward, &g, &err))
        refuse(&s, err.msg);
    return s;
}

static inline void release(struct subject *s)
{
    mase_program_free(s->forward);
    mase_program_free(s->joint);
    stop(&s->r);
}

/* ---- text ---- */

static inline void must_hold(const struct subject *s, const struct mase_program *p)
{
    struct mase_str faults = { 0 };
    if (mase_program_verify(p, &faults))
        refuse(s, mase_str_text(&faults));
    mase_str_release(&faults);
}

static inline void must_read_back(const struct subject *s)
{
    struct mase_str text = { 0 }, again = { 0 };
    struct mase_program *q;
    mase_program_print(&text, s->joint);
    if (mase_program_parse(&q, mase_str_text(&text), text.len, "text", &err)) {
        mase_err_print(stderr, &err);
        refuse(s, "its text does not parse");
    }
    mase_program_print(&again, q);
    if (strcmp(mase_str_text(&again), mase_str_text(&text)))
        refuse(s, "its text reads back to another program");
    must_hold(s, q);
    mase_program_free(q);
    mase_str_release(&text);
    mase_str_release(&again);
}

/* ---- by the interpreter ---- */

/* The gradients of parameters and of inputs, when that of the output is the functional. */
static inline struct mase_arg gradients(struct subject *s)
{
    struct mase_input in[CASE_INPUTS + 1];
    struct mase_arg out, y;
    int count = s->r.inputs;
    memcpy(in, s->r.input, sizeof s->r.input);
    must(mase_program_run(&y, &s->r.arena, s->forward, in, count, &err), s->r.c);
    struct mase_tensor dy = mase_tensor(&s->r.arena, MASE_F32, &y.tensor->shape, true);
    const int64_t rows = mase_tensor_count(&dy) / s->r.samples;
    for (int64_t i = 0; i < mase_tensor_count(&dy); i++)
        mase_tensor_set(&dy, i, (double)functional(i % rows, i / rows));
    in[count++] = (struct mase_input){ "output.grad", dy };
    if (mase_program_run(&out, &s->r.arena, s->joint, in, count, &err))
        refuse(s, err.msg);
    assert_int_equal(out.kind, MASE_ARG_TUPLE);
    return out;
}

static inline const struct mase_tensor *find(const struct mase_arg *dict, const char *name)
{
    for (int i = 0; i < dict->count; i++)
        if (!strcmp(dict->keys[i], name))
            return dict->items[i].tensor;
    return NULL;
}

/* ---- beside a plan ---- */

struct comparing {
    struct subject *s;
    const struct mase_arg *params;
    const float *g;
    double size; /* at least that of the gradient that comes in */
    int64_t values, equal;
};

static inline void note_size(struct comparing *k, const struct mase_arg *dict)
{
    for (int i = 0; i < dict->count; i++)
        for (int64_t n = 0; n < mase_tensor_count(dict->items[i].tensor); n++)
            k->size = fmax(k->size, fabs(mase_tensor_get(dict->items[i].tensor, n)));
}

static inline void compare(struct comparing *k, double got, double want, const char *what,
                           int64_t i)
{
    k->values++;
    k->equal += got == want;
    if (fabs(got - want) <= grad_bound * k->size)
        return;
    report(k->s);
    fail_msg("%s: %s: gradient of %s[%lld]: the program %.9g, the plan %.9g", k->s->r.c->op,
             k->s->r.c->text, what, (long long)i, got, want);
}

static inline bool compare_param(const char *full, struct mase_param *param, void *data)
{
    struct comparing *k = data;
    const int64_t count = mase_tensor_count(&param->tensor);
    if (param->tied || !mase_param_is_trained(param))
        return true;
    const struct mase_tensor *t = find(k->params, full);
    for (int64_t i = 0; i < count; i++)
        compare(k, t ? mase_tensor_get(t, i) : 0.0, (double)k->g[i], full, i);
    k->g += (count + 15) / 16 * 16;
    return true;
}

static inline void compare_input(struct comparing *k, struct mase_plan *p, int n,
                                 const struct mase_arg *inputs)
{
    const struct running *r = &k->s->r;
    const struct mase_lanes g = mase_plan_input_gradient(p, n), x = mase_plan_input(p, n);
    const struct mase_tensor *t = find(inputs, r->input[n].name);
    if (r->input[n].tensor.dtype != MASE_F32)
        return;
    for (int64_t i = 0; i < x.rows * r->samples; i++)
        compare(k, t ? mase_tensor_get(t, i) : 0.0,
                g.rows ? (double)g.data[i % x.rows * g.stride + i / x.rows] : 0.0, r->input[n].name,
                i);
}

/* The gradients of the program are those of a plan; counts how many there are, and how many have
 * the same bits. */
static inline struct comparing compare_with_plan(struct subject *s, const struct mase_arg *both)
{
    struct mase_plan *p = plan_of(&s->r, s->r.samples, true, 1);
    feed(&s->r, p, s->r.samples);
    assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
    run_backward(p, s->r.samples);
    struct comparing k = { s, &both->items[0], mase_plan_params(p).g, 1, 0, 0 };
    note_size(&k, &both->items[0]);
    note_size(&k, &both->items[1]);
    mase_graph_each_param(s->r.graph, compare_param, &k);
    for (int n = 0; n < s->r.inputs; n++)
        compare_input(&k, p, n, &both->items[1]);
    mase_plan_free(p);
    return k;
}

#endif /* MASE_TESTS_GRAD_CASE_H */
