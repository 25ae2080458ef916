/*
 * step_case.h - one small network as a test case of the plan's steps: built from text, filled with
 * numbers that are exact and lie away from corners, run by the reference and by a plan.
 */
#ifndef MASE_TESTS_STEP_CASE_H
#define MASE_TESTS_STEP_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase/plan.h>
#include <mase/rng.h>
#include <mase/run.h>

#include "graph_text.h"

/* What the numbers must be like. */
enum values {
    ANY,      /* odd multiples of 1/8 in -2..2: no corner of any function is near */
    POSITIVE, /* 1.125..2.875 */
    DISTINCT, /* no two of a sample nearer than 1/4: maxima stay where they are */
    INDEX,    /* 0, 1, 2, 3 as int64 */
};

enum { CASE_INPUTS = 3 };

struct step_case {
    const char *op; /* the row it is for */
    /* Statements separated by ';': "name = Class(...)" registers a layer, "param NAME 2 3",
     * "buffer NAME 3" what get_attr reads, "index x 0:4:2 1 None" is x[:, 0:4:2, 1, None], anything
     * else is a call; inputs are x, y, z. The last
     * result is returned. */
    const char *text;
    struct mase_shape in[CASE_INPUTS]; /* of one sample */
    enum values values;
    bool constant; /* PyTorch gives it no gradient though it varies */
};
extern const struct step_case step_cases[]; /* until op is NULL */

struct running {
    const struct step_case *c;
    struct mase_arena arena;
    struct mase_graph *graph;
    struct mase_input input[CASE_INPUTS];
    int inputs;
    int64_t samples;
};

static struct mase_err err;

static inline void must(enum mase_status st, const struct step_case *c)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("%s: %s", c->op, c->text);
    }
}

static inline void add_attr(struct mase_graph *g, const char *statement)
{
    char name[32], *at;
    struct mase_shape shape = { 0 };
    const enum mase_param_kind kind = statement[0] == 'b' ? MASE_PARAM_BUFFER : MASE_PARAM_TRAINED;
    at = strchr(statement, ' ') + 1;
    const size_t length = strcspn(at, " ");
    memcpy(name, at, length);
    name[length] = '\0';
    for (at += length; *at == ' ';)
        shape.dim[shape.rank++] = strtol(at, &at, 10);
    mase_graph_add_attr(g, name, MASE_F32, &shape, kind);
    mase_graph_insert(g, NULL, MASE_GET_ATTR, name, NULL, NULL);
}

/* "index x 0:4:2 1 None" */
static inline struct mase_node *add_index(struct mase_graph *g, const char *statement)
{
    struct mase_arg item[8] = { { .kind = MASE_ARG_SLICE } }, none[3] = { 0 }, part[8][3];
    char name[2] = { statement[6], '\0' }, *at = (char *)statement + 7;
    int n = 1;
    item[0].items = none;
    item[0].count = 3;
    for (; *at == ' '; n++) {
        if (!strncmp(at, " None", 5)) {
            item[n] = mase_arg_none();
            at += 5;
            continue;
        }
        item[n] = mase_arg_int(strtol(at, &at, 10));
        if (*at != ':')
            continue;
        part[n][0] = item[n];
        part[n][1] = mase_arg_int(strtol(at + 1, &at, 10));
        part[n][2] = mase_arg_int(strtol(at + 1, &at, 10));
        item[n] = (struct mase_arg){ .kind = MASE_ARG_SLICE, .items = part[n], .count = 3 };
    }
    const struct mase_arg args[2] = { mase_arg_node(mase_graph_find(g, name)),
                                      mase_arg_seq(&g->arena, MASE_ARG_TUPLE, item, n) };
    const struct mase_arg both = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, args, 2);
    return mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, "operator.getitem", &both, NULL);
}

/* "tie b.weight a.weight" */
static inline void add_tie(struct mase_graph *g, const char *statement)
{
    char name[32];
    const char *to = strrchr(statement, ' ') + 1;
    snprintf(name, sizeof name, "%.*s", (int)(to - statement) - 5, statement + 4);
    assert_int_equal(mase_graph_tie(g, name, to, &err), MASE_OK);
}

static inline struct mase_node *add_statement(struct mase_graph *g, const char *text)
{
    if (!strncmp(text, "param ", 6) || !strncmp(text, "buffer ", 7))
        add_attr(g, text);
    else if (!strncmp(text, "tie ", 4))
        add_tie(g, text);
    else if (!strncmp(text, "index ", 6))
        return add_index(g, text);
    else if (strstr(text, " = "))
        text_module(g, "%s", text);
    else
        return text_call(g, "%s", text);
    return NULL;
}

static inline struct mase_graph *build_case(const struct step_case *c)
{
    static const char *const names[CASE_INPUTS] = { "x", "y", "z" };
    struct mase_graph *g = mase_graph_new(c->op);
    for (int i = 0; i < CASE_INPUTS && (i == 0 || c->in[i].rank); i++)
        mase_build_input(g, names[i], NULL);
    char text[1024], *next = text;
    struct mase_node *last = NULL, *made;
    snprintf(text, sizeof text, "%s", c->text);
    while (next) {
        char *statement = next + strspn(next, " ");
        next = strchr(statement, ';');
        if (next)
            *next++ = '\0';
        if ((made = add_statement(g, statement)))
            last = made;
    }
    mase_build_output(g, last);
    return g;
}

static inline double one_value(struct mase_rng *r, enum values kind, int64_t i, int64_t count)
{
    switch (kind) {
    case POSITIVE:
        return 1.125 + 0.25 * (mase_rng_u32(r) % 8);
    case DISTINCT: /* 7 and the count have no common factor in any case here */
        return 0.25 * (double)((i * 7 + 3) % count - count / 2);
    case INDEX:
        return mase_rng_u32(r) % 4;
    default:
        return -1.875 + 0.25 * (mase_rng_u32(r) % 16);
    }
}

static inline bool fill_param(const char *full, struct mase_param *p, void *data)
{
    struct mase_rng *r = data;
    const bool positive = strstr(full, "var") != NULL;
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++)
        mase_tensor_set(&p->tensor, i,
                        positive ? one_value(r, POSITIVE, 0, 1) : one_value(r, ANY, 0, 1) / 2);
    return true;
}

static inline void fill_input(struct running *r, int i, struct mase_rng *rng)
{
    const enum mase_dtype type = r->c->values == INDEX && i == 0 ? MASE_I64 : MASE_F32;
    struct mase_shape shape = { 1, { r->samples } };
    for (int d = 0; d < r->c->in[i].rank; d++)
        shape.dim[shape.rank++] = r->c->in[i].dim[d];
    struct mase_tensor t = mase_tensor(&r->arena, type, &shape, true);
    const int64_t count = mase_tensor_count(&t), each = count / r->samples;
    for (int64_t k = 0; k < count; k++) {
        const enum values kind = r->c->values == INDEX && i > 0 ? ANY : r->c->values;
        const double apart = kind == DISTINCT ? 0.125 * i : 0.0; /* inputs differ too */
        mase_tensor_set(&t, k, one_value(rng, kind, k % each + k / each, each) + apart);
    }
    r->input[i].tensor = t;
}

static inline struct running start(const struct step_case *c, int64_t samples)
{
    static const char *const names[CASE_INPUTS] = { "x", "y", "z" };
    struct running r = { .c = c, .samples = samples, .graph = build_case(c) };
    struct mase_rng rng = mase_rng(7, MASE_STREAM_TEST, mase_rng_name(c->text));
    mase_graph_alloc(r.graph);
    mase_graph_each_param(r.graph, fill_param, &rng);
    for (int i = 0; i < CASE_INPUTS && (i == 0 || c->in[i].rank); i++, r.inputs++) {
        r.input[i].name = names[i];
        fill_input(&r, i, &rng);
    }
    return r;
}

static inline void stop(struct running *r)
{
    mase_graph_free(r->graph);
    mase_arena_release(&r->arena);
}

/* The result of the reference; in r's arena, or one of the caller's. */
static inline struct mase_tensor reference(struct running *r, struct mase_arena *a)
{
    struct mase_values v;
    must(mase_run_reference(&v, a, r->graph, r->input, r->inputs, &err), r->c);
    const struct mase_arg *out = mase_run_output(&v, r->graph);
    assert_int_equal(out->kind, MASE_ARG_TENSOR);
    return *out->tensor;
}

static inline struct mase_plan *plan_of(struct running *r, int64_t batch, bool train, int threads)
{
    struct mase_plan *p;
    const struct mase_plan_opts o = { .batch = batch,
                                      .train = train,
                                      .input_gradients = true,
                                      .threads = threads,
                                      .inputs = r->input,
                                      .input_count = r->inputs };
    must(mase_plan_new(&p, r->graph, &o, &err), r->c);
    return p;
}

/* The first `samples` samples of the inputs into the plan. */
static inline void feed(struct running *r, struct mase_plan *p, int64_t samples)
{
    mase_plan_set_samples(p, samples);
    mase_plan_set_step(p, UINT64_MAX); /* the next is 0, which draws as the reference does */
    for (int i = 0; i < r->inputs; i++) {
        const struct mase_lanes x = mase_plan_input(p, i);
        for (int64_t row = 0; row < x.rows; row++)
            for (int64_t k = 0; k < x.stride; k++)
                x.data[row * x.stride + k] =
                    k < samples ? (float)mase_tensor_get(&r->input[i].tensor, k * x.rows + row)
                                : 0.0f;
    }
}

/* The number by which output `row` of sample `k` counts: the functional whose gradient is taken. */
static inline float functional(int64_t row, int64_t k)
{
    return (float)((row * 5 + k * 3) % 7 - 3) / 4;
}

static inline void run_backward(struct mase_plan *p, int64_t samples)
{
    const struct mase_lanes y = mase_plan_output(p);
    float *dy = mase_plan_output_gradient(p);
    for (int64_t row = 0; dy && row < y.rows; row++)
        for (int64_t k = 0; k < y.stride; k++)
            dy[row * y.stride + k] = k < samples ? functional(row, k) : 0.0f;
    mase_plan_backward(p);
}

#endif /* MASE_TESTS_STEP_CASE_H */
