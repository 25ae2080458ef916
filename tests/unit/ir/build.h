/*
 * build.h - short ways to make graphs in tests.
 */
#ifndef MASE_TESTS_IR_BUILD_H
#define MASE_TESTS_IR_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <mase/graph.h>

#include "formats.h"

#define N(node)  mase_arg_node(node)
#define I(value) mase_arg_int(value)
#define F(value) mase_arg_float(value)
#define B(value) mase_arg_bool(value)
#define T(text)  mase_arg_text(text)

/* A tuple, list or dict over a compound literal: valid in the enclosing block. */
#define SEQ(k, ...)                                                                          \
    (struct mase_arg)                                                                        \
    {                                                                                        \
        .kind = (k), .items = (struct mase_arg[]){ __VA_ARGS__ },                            \
        .count = (int)(sizeof((struct mase_arg[]){ __VA_ARGS__ }) / sizeof(struct mase_arg)) \
    }
#define TUPLE(...) SEQ(MASE_ARG_TUPLE, __VA_ARGS__)
#define LIST(...)  SEQ(MASE_ARG_LIST, __VA_ARGS__)
#define KW1(k, v)                                                                                \
    (struct mase_arg)                                                                            \
    {                                                                                            \
        .kind = MASE_ARG_DICT, .keys = (const char *[]){ k }, .items = (struct mase_arg[]){ v }, \
        .count = 1                                                                               \
    }
#define KW2(k1, v1, k2, v2)                                        \
    (struct mase_arg)                                              \
    {                                                              \
        .kind = MASE_ARG_DICT, .keys = (const char *[]){ k1, k2 }, \
        .items = (struct mase_arg[]){ v1, v2 }, .count = 2         \
    }

/* Append calls; arguments follow as struct mase_arg. */
#define FUNCTION(g, target, ...) \
    mase_graph_insert((g), NULL, MASE_CALL_FUNCTION, (target), &TUPLE(__VA_ARGS__), NULL)
#define METHOD(g, target, ...) \
    mase_graph_insert((g), NULL, MASE_CALL_METHOD, (target), &TUPLE(__VA_ARGS__), NULL)
#define CALL_MODULE(g, path, ...) \
    mase_graph_insert((g), NULL, MASE_CALL_MODULE, (path), &TUPLE(__VA_ARGS__), NULL)

static inline struct mase_node *placeholder(struct mase_graph *g, const char *name)
{
    return mase_graph_insert(g, NULL, MASE_PLACEHOLDER, name, NULL, NULL);
}

static inline struct mase_node *output(struct mase_graph *g, struct mase_node *n)
{
    return mase_graph_insert(g, NULL, MASE_OUTPUT, "output", &TUPLE(N(n)), NULL);
}

/* Register a module; args and kwargs may be NULL. */
static inline struct mase_module *module(struct mase_graph *g, const char *path, const char *cls,
                                         const struct mase_arg *args, const struct mase_arg *kwargs)
{
    struct mase_module *m = NULL;
    struct mase_err err = { 0 };
    if (mase_graph_add_module(g, &m, path, mase_op_of_module(cls), args, kwargs, &err))
        fail_msg("%s", err.msg);
    return m;
}

#define MODULE0(g, path, cls)      module((g), (path), (cls), NULL, NULL)
#define MODULE_(g, path, cls, ...) module((g), (path), (cls), &TUPLE(__VA_ARGS__), NULL)

/* The network of the laboratory: 117 parameters. */
static inline struct mase_graph *jsc_tiny(void)
{
    struct mase_graph *g = mase_graph_new("jsc-tiny");
    MODULE_(g, "seq_blocks.0", "BatchNorm1d", I(16));
    MODULE_(g, "seq_blocks.1", "ReLU", I(16));
    MODULE_(g, "seq_blocks.2", "Linear", I(16), I(5));
    MODULE_(g, "seq_blocks.3", "ReLU", I(5));
    struct mase_node *n = placeholder(g, "x");
    for (const struct mase_module *m = g->modules; m; m = m->next)
        n = CALL_MODULE(g, m->path, N(n));
    output(g, n);
    return g;
}

/* A residual block with a module called twice. */
static inline struct mase_graph *residual(void)
{
    struct mase_graph *g = mase_graph_new("residual");
    MODULE_(g, "layer1.0.conv1", "Conv2d", I(8), I(8), I(3), I(1), I(1));
    MODULE_(g, "layer1.0.bn1", "BatchNorm2d", I(8));
    module(g, "layer1.0.relu", "ReLU", NULL, &KW1("inplace", B(true)));
    MODULE_(g, "fc", "Linear", I(8), I(10));
    struct mase_node *x = placeholder(g, "x");
    x->annotation = "torch.Tensor";
    struct mase_node *c = CALL_MODULE(g, "layer1.0.conv1", N(x));
    struct mase_node *b = CALL_MODULE(g, "layer1.0.bn1", N(c));
    struct mase_node *r = CALL_MODULE(g, "layer1.0.relu", N(b));
    struct mase_node *a = FUNCTION(g, "operator.add", N(r), N(x));
    struct mase_node *s = CALL_MODULE(g, "layer1.0.relu", N(a));
    struct mase_node *f =
        mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, "torch.flatten", &TUPLE(N(s)),
                          &KW2("start_dim", I(1), "end_dim", I(-1)));
    output(g, CALL_MODULE(g, "fc", N(f)));
    return g;
}

static inline struct mase_quant integer_8_4(void)
{
    const struct mase_format *f = integer_format(8, 4);
    return (struct mase_quant){ .kind = MASE_QUANT_integer, .operand = { f, f, f } };
}

/* Compare what a printer appends with expected. */
#define ASSERT_PRINTS(expected, call_with_out)             \
    do {                                                   \
        struct mase_str out_ = { 0 }, *out = &out_;        \
        call_with_out;                                     \
        assert_string_equal(mase_str_text(out), expected); \
        mase_str_release(out);                             \
    } while (0)

#endif /* MASE_TESTS_IR_BUILD_H */
