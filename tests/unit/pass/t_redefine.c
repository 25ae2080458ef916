/*
 * t_redefine.c - layers of other widths: the tasks of lab 4, what follows, what is refused.
 *
 * A network whose widths were multiplied must be the one that is built with these widths, weights
 * included: the networks here are texts in which $8 is 8 times the multiplier.
 */
#include "fixture.h"

#include <mase/rng.h>

#include "graph_text.h"
#include "ir/graph/graph_parts.h"
#include "pass/widths/width_parts.h"
#include "run_cases.h"

enum { SEED = 7 };

struct net {
    const char *name;
    struct mase_shape x;
    const char
        *line[24];     /* "layer = Class(...) of node", a layer that is called later, or a call */
    const char *fixed; /* layers that keep their widths, beside the last: "a b" */
};

static const struct net nets[] = {
    { .name = "three linear layers",
      .x = { 2, { BATCH, 16 } },
      .line = { "bn = BatchNorm1d(16) of x", "fc1 = Linear(16, $16) of bn",
                "fc2 = Linear($16, $16) of fc1", "fc3 = Linear($16, 5) of fc2" } },
    { .name = "batch norms, activations, dropout",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, $64, bias=False) of x", "bn1 = BatchNorm1d($64) of fc1",
                "relu(bn1)", "dropout(relu, 0.5, False)", "fc2 = Linear($64, $32) of dropout",
                "ln = LayerNorm($32) of fc2", "act = PReLU($32) of ln", "one = PReLU() of act",
                "softmax(one, dim=1)", "fc3 = Linear($32, 5) of softmax" } },
    { .name = "a residual sum",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "stem = Conv2d(3, $8, 3, padding=1) of x", "bn = BatchNorm2d($8) of stem",
                "relu(bn)", "conv1 = Conv2d($8, $4, 3, padding=1) of relu",
                "bn1 = BatchNorm2d($4) of conv1", "conv2 = Conv2d($4, $8, 3, padding=1) of bn1",
                "bn2 = BatchNorm2d($8) of conv2", "add(bn2, relu)", "pool = MaxPool2d(2) of add",
                "torch.flatten(pool, 1)", "fc = Linear($128, 5) of flatten" } },
    { .name = "a length that is written out",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "conv = Conv2d(3, $8, 3) of x", "conv.view(-1, $288)",
                "fc1 = Linear($288, $10) of view", "fc1.reshape((-1, $10))",
                "fc2 = Linear($10, 5) of reshape" } },
    { .name = "lengths that are asked for",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "conv = Conv2d(3, $8, 3) of x", "conv.size(0)", "conv.size(1)",
                "operator.mul(size_1, 36)", "conv.view(size, mul)",
                "fc = Linear($288, 5) of view" } },
    { .name = "a depthwise and a grouped convolution",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "stem = Conv2d(3, $8, 3) of x",
                "dw = Conv2d($8, $16, 3, padding=1, groups=$8) of stem",
                "gn = GroupNorm(4, $16) of dw",
                "gr = Conv2d($16, $16, 3, padding=1, groups=4) of gn", "add(gn, gr)",
                "inst = InstanceNorm2d($16, affine=True) of add", "inst.mean((2, 3))",
                "fc = Linear($16, 5) of mean" } },
    { .name = "a concatenation and a gate over it",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "a = Conv2d(3, $8, 3) of x", "b = Conv2d(3, $4, 3) of x", "torch.cat([a, b], 1)",
                "bn = BatchNorm2d($12) of cat", "bn.mean((2, 3))", "down = Linear($12, $3) of mean",
                "up = Linear($3, $12) of down", "torch.sigmoid(up)", "torch.unsqueeze(sigmoid, -1)",
                "torch.unsqueeze(unsqueeze, -1)", "mul(bn, unsqueeze_1)", "mul.amax((2, 3))",
                "fc = Linear($12, 5) of amax" } },
    { .name = "values along a new dimension",
      .x = { 2, { BATCH, 16 } },
      .line = { "a = Linear(16, $8) of x", "b = Linear(16, $8) of x", "torch.stack([a, b], 1)",
                "stack.amax(1)", "torch.stack([a, amax], -1)", "stack_1.sum(2)",
                "fc = Linear($8, 5) of sum_1" } },
    { .name = "halves and their sum",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "stem = Conv2d(3, $8, 3) of x", "gate = Conv2d($8, $16, 1) of stem",
                "torch.chunk(gate, 2, 1)", "operator.getitem(chunk, 0)",
                "operator.getitem(chunk, 1)", "torch.sigmoid(getitem_1)", "mul(getitem, sigmoid)",
                "add(mul, stem)", "torch.flatten(add, 1)", "fc = Linear($288, 5) of flatten" } },
    { .name = "upwards",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "stem = Conv2d(3, $8, 3, stride=2) of x",
                "up = ConvTranspose2d($8, $16, 2, stride=2) of stem", "ps = PixelShuffle(2) of up",
                "last = Conv2d($4, $2, 3) of ps", "last.mean((2, 3))",
                "fc = Linear($2, 5) of mean" } },
    { .name = "recurrent layers",
      .x = { 3, { BATCH, 6, 4 } },
      .line = { "lstm = LSTM(4, $6, num_layers=2, batch_first=True, bidirectional=True) of x",
                "operator.getitem(lstm, 0)", "ln = LayerNorm($12) of getitem",
                "gru = GRU($12, $10, batch_first=True) of ln", "operator.getitem(gru, 1)",
                "operator.getitem(gru, 0)", "torch.transpose(getitem_2, 1, 2)",
                "conv = Conv1d($10, $8, 3) of transpose", "bn = BatchNorm1d($8) of conv",
                "bn.amax(-1)", "operator.getitem(getitem_1, -1)",
                "torch.cat([amax, getitem_3], -1)", "fc = Linear($18, 5) of cat" } },
    { .name = "states that begin with zeros",
      .x = { 3, { BATCH, 6, 4 } },
      .line = { "lstm = LSTM(4, $12, batch_first=True)", "cell = GRUCell($12, $12)",
                "torch.zeros(1, 8, $12)", "torch.zeros((8, $12))", "lstm(x, (zeros, zeros))",
                "operator.getitem(lstm, 0)", "torch.amax(getitem, 1)", "cell(amax, zeros_1)",
                "cell(amax, cell)", "fc = Linear($12, 5) of cell_1" } },
    { .name = "a layer that is called twice",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, $8) of x", "fc2 = Linear($8, $8) of fc1", "fc2(fc2)",
                "fc3 = Linear($8, 5) of fc2_1" } },
    { .name = "channels that zeros are added to",
      .x = { 4, { BATCH, 3, 8, 8 } },
      .line = { "conv = Conv2d(3, $8, 3) of x", "pad(conv, (0, 0, 0, 0, 2, 2))", "pad.mean((2, 3))",
                "torch.flatten(pad, 1)", "torch.flatten(conv, 1)",
                "fc = Linear($288, 5) of flatten_1" } },
    { .name = "a slice of the channels",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, 8) of x", "torch.narrow(fc1, 1, 0, 4)",
                "fc2 = Linear(4, $8) of narrow", "fc3 = Linear($8, 5) of fc2" },
      .fixed = "fc1" },
    { .name = "heads of an attention",
      .x = { 3, { BATCH, 6, 4 } },
      .line = { "q = Linear(4, 8) of x", "q.view(-1, 6, 2, 4)", "torch.transpose(view, 1, 2)",
                "transpose.mean((1, 2))", "fc1 = Linear(4, $8) of mean",
                "fc2 = Linear($8, 5) of fc1" },
      .fixed = "q" },
    { .name = "places that are written",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, 8) of x", "operator.setitem(fc1, 0, 2.0)",
                "fc2 = Linear(8, $8) of setitem", "fc3 = Linear($8, 5) of fc2" },
      .fixed = "fc1" },
    { .name = "a question about a width",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, 8) of x", "fc1.size(1)", "operator.eq(size, 8)",
                "torch._assert(eq, 'no')", "fc2 = Linear(8, $8) of fc1",
                "fc3 = Linear($8, 5) of fc2" },
      .fixed = "fc1" },
    { .name = "a sum with the input",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, $8) of x", "fc2 = Linear($8, 16) of fc1", "add(x, fc2)",
                "fc3 = Linear(16, 5) of add" },
      .fixed = "fc2" },
    { .name = "one value that is repeated",
      .x = { 2, { BATCH, 16 } },
      .line = { "fc1 = Linear(16, $8) of x", "gate = Linear(16, 1) of x", "mul(fc1, gate)",
                "fc2 = Linear($8, 5) of mul" },
      .fixed = "gate" },
};

enum { NETS = sizeof nets / sizeof nets[0] };

static const struct net *find_net(const char *name)
{
    for (int i = 0; i < NETS; i++)
        if (!strcmp(nets[i].name, name))
            return &nets[i];
    fail_msg("there is no network '%s'", name);
    return NULL;
}

/* line with the multiplier put in. */
static const char *multiplied(struct mase_arena *a, const char *line, int by)
{
    struct mase_str s = { 0 };
    while (*line) {
        char *end = NULL;
        if (*line == '$') {
            mase_str_printf(&s, "%ld", strtol(line + 1, &end, 10) * by);
            line = end;
        } else {
            mase_str_addc(&s, *line++);
        }
    }
    const char *text = mase_arena_strdup(a, mase_str_text(&s));
    mase_str_release(&s);
    return text;
}

static struct mase_graph *build_net(const struct net *net, int by)
{
    struct mase_graph *g = mase_graph_new(net->name);
    struct mase_arena a = { 0 };
    struct mase_node *n = mase_build_input(g, "x", NULL);
    for (int i = 0; net->line[i]; i++) {
        const char *line = multiplied(&a, net->line[i], by), *of = strstr(line, " of ");
        if (of)
            n = text_layer(g, mase_graph_find(g, of + 4), "%.*s", (int)(of - line), line);
        else if (strstr(line, " = "))
            text_module(g, "%s", line);
        else
            n = text_call(g, "%s", line);
    }
    mase_build_output(g, n);
    mase_graph_alloc(g);
    mase_graph_init_weights(g, SEED);
    mase_arena_release(&a);
    return g;
}

static void set_up_net(struct fixture *f, const struct net *net)
{
    setup_graph(f, build_net(net, 1), net->x);
    f->m.env.seed = SEED;
}

struct comparing {
    const struct mase_graph *other;
    int different, count;
};

static bool compare_param(const char *full, struct mase_param *p, void *data)
{
    struct comparing *c = data;
    const struct mase_param *q = mase_graph_attr(c->other, full);
    const size_t bytes = (size_t)mase_tensor_bytes(&p->tensor);
    c->count++;
    c->different += !q || !mase_shape_equal(&q->tensor.shape, &p->tensor.shape) ||
                    memcmp(q->tensor.data, p->tensor.data, bytes) != 0;
    return true;
}

/* Equal to the last bit of its weights. */
static void assert_same_network(const struct mase_graph *g, const struct mase_graph *other)
{
    struct mase_str why = { 0 };
    struct comparing c = { .other = other };
    if (!mase_graph_equal(g, other, &why))
        fail_msg("%s: %s", g->name, mase_str_text(&why));
    mase_graph_each_param(g, compare_param, &c);
    assert_true(c.count > 0);
    assert_int_equal(c.different, 0);
}

/* ---- which layers there are ---- */

/* A layer whose constructor counts channels has a row, or is named here with the reason. */
static void every_layer_with_channels_has_a_row(void **state)
{
    (void)state;
    static const char *const counts[] = { "in_features",  "in1_features",  "in_channels",
                                          "num_features", "num_channels",  "num_parameters",
                                          "hidden_size",  "embedding_dim", "normalized_shape" };
    static const enum mase_op unknown[] = {
        MASE_OP_bilinear,            /* takes two widths: both stay */
        MASE_OP_embedding_bag_layer, /* its width stays */
    };
    int found = 0;
    for (int op = 0; op < MASE_OP_COUNT; op++) {
        const char *ctor = mase_ops[op].module ? mase_ops[op].ctor : "";
        bool has = false, known = mase_width_row_of_op((enum mase_op)op) != NULL;
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            has |= strstr(ctor, counts[i]) != NULL;
        for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
            known |= unknown[i] == (enum mase_op)op;
        if (has != known)
            fail_msg("%s", mase_ops[op].name);
        found += has;
    }
    assert_true(found > 20);
}

/* ---- width ---- */

static bool is_listed(const char *words, const char *name)
{
    const char *at = words ? strstr(words, name) : NULL;
    return at && (!at[strlen(name)] || at[strlen(name)] == ' ');
}

static void is_the_network_of_these_widths(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++)
        for (int by = 2; by <= 3; by++) {
            struct fixture f;
            set_up_net(&f, &nets[i]);
            struct mase_graph *wide = build_net(&nets[i], by);
            RUN(&f, "redefine_linear",
                mase_arena_printf(
                    &f.arena, "default.config = { name = 'width', channel_multiplier = %d }", by));
            assert_same_network(f.g, wide);
            mase_graph_free(wide);
            teardown(&f);
        }
}

static void says_what_cannot_change(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++) {
        struct mase_graph *g = build_net(&nets[i], 1);
        struct mase_err err;
        struct mase_widths *w;
        const struct mase_input x = { "x", { .dtype = MASE_F32, .shape = nets[i].x } };
        assert_int_equal(mase_widths_find(&w, g, &x, 1, &err), MASE_OK);
        const int count = mase_widths_count(w);
        assert_true(count > 1);
        for (int k = 0; k < count; k++) {
            const struct mase_width *v = mase_widths_at(w, k);
            if (!v->follows && !v->fixed != !(k == count - 1 || is_listed(nets[i].fixed, v->node)))
                fail_msg("%s: %s: %s", nets[i].name, v->node, v->fixed ? v->fixed : "free");
        }
        mase_widths_free(w);
        mase_graph_free(g);
    }
}

static const struct mase_width *width_named(const struct mase_widths *w, const char *node)
{
    for (int i = 0; i < mase_widths_count(w); i++)
        if (!strcmp(mase_widths_at(w, i)->node, node))
            return mase_widths_at(w, i);
    fail_msg("%s has no width", node);
    return NULL;
}

static struct mase_widths *widths_of(const struct mase_graph *g, const struct net *net)
{
    struct mase_err err;
    struct mase_widths *w;
    const struct mase_input x = { "x", { .dtype = MASE_F32, .shape = net->x } };
    if (mase_widths_find(&w, g, &x, 1, &err))
        fail_msg("%s", err.msg);
    return w;
}

static void members_of_a_sum_are_a_group(void **state)
{
    (void)state;
    const struct net *net = find_net("a residual sum");
    struct mase_graph *g = build_net(net, 1);
    struct mase_widths *w = widths_of(g, net);
    assert_int_equal(width_named(w, "stem")->group, width_named(w, "conv2")->group);
    assert_int_not_equal(width_named(w, "stem")->group, width_named(w, "conv1")->group);
    assert_int_equal(width_named(w, "conv1")->channels, 4);
    assert_string_equal(width_named(w, "fc")->fixed, "it gives the network's outputs");
    mase_widths_free(w);
    mase_graph_free(g);
}

static void what_others_decide_is_no_choice(void **state)
{
    (void)state;
    const struct net *net = find_net("a concatenation and a gate over it");
    struct mase_graph *g = build_net(net, 1);
    struct mase_widths *w = widths_of(g, net);
    assert_string_equal(width_named(w, "up")->fixed, "mul decides it");
    assert_null(width_named(w, "a")->fixed);
    const struct mase_redefinition a = { "a", MASE_REDEFINE_WIDTH, .out = 3 };
    struct mase_err err;
    assert_int_equal(mase_widths_redefine(g, w, &a, 1, SEED, &err), MASE_OK);
    assert_int_equal(mase_module_attr(mase_graph_module(g, "up"), "out_features")->i, 28);
    const struct mase_redefinition up = { "up", MASE_REDEFINE_WIDTH, .out = 3 };
    assert_int_equal(mase_widths_redefine(g, w, &up, 1, SEED, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "up gives 36 channels, but mul needs 12 of it");
    mase_widths_free(w);
    mase_graph_free(g);
}

/* As a search does it: one analysis, one copy per thread, one point after the other. */
static void redefines_copies_again(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++) {
        struct mase_graph *g = build_net(&nets[i], 1), *copy = mase_graph_clone(g);
        struct mase_widths *w = widths_of(g, &nets[i]);
        const int count = mase_widths_count(w);
        for (int by = 3; by >= 1; by--) {
            struct mase_redefinition list[8];
            struct mase_err err;
            for (int k = 0; k < count; k++)
                list[k] = (struct mase_redefinition){ .node = mase_widths_at(w, k)->node,
                                                      .how = MASE_REDEFINE_WIDTH,
                                                      .out = by,
                                                      .fallback = true };
            if (mase_widths_redefine(copy, w, list, count, SEED, &err))
                fail_msg("%s: %s", nets[i].name, err.msg);
            struct mase_graph *wide = build_net(&nets[i], by);
            assert_same_network(copy, wide);
            mase_graph_free(wide);
        }
        struct mase_graph *narrow = build_net(&nets[i], 1);
        assert_same_network(g, narrow); /* which the copies share weights with */
        mase_graph_free(narrow);
        mase_widths_free(w);
        mase_graph_free(copy);
        mase_graph_free(g);
    }
}

/* Any choice of widths gives a network that holds together, or none at all. */
static void every_point_is_a_network(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(1, MASE_STREAM_TEST, 0);
    int made = 0;
    for (int i = 0; i < 20 * NETS; i++) {
        const struct net *net = &nets[i % NETS];
        struct mase_graph *g = build_net(net, 1), *copy = mase_graph_clone(g);
        struct mase_widths *w = widths_of(g, net);
        struct mase_redefinition list[8];
        struct mase_err err;
        int count = 0;
        for (int k = 0; k < mase_widths_count(w); k++)
            if (!mase_widths_at(w, k)->fixed)
                list[count++] = (struct mase_redefinition){
                    .node = mase_widths_at(w, k)->node,
                    .how = MASE_REDEFINE_WIDTH,
                    .out = 0.25 * (double)(1 + mase_rng_u32(&r) % 12),
                    .fallback = true,
                };
        if (!mase_widths_redefine(copy, w, list, count, SEED, &err)) {
            struct mase_arena a = { 0 };
            struct mase_values v;
            struct mase_input x = { "x", mase_tensor(&a, MASE_F32, &net->x, true) };
            if (mase_run_reference(&v, &a, copy, &x, 1, &err))
                fail_msg("%s: %s", net->name, err.msg);
            assert_int_equal(mase_run_output(&v, copy)->tensor->shape.dim[1], 5);
            mase_arena_release(&a);
            made++;
        } else {
            assert_int_equal(err.status, MASE_EVALUE);
            assert_true(mase_graph_equal(copy, g, NULL));
        }
        mase_widths_free(w);
        mase_graph_free(copy);
        mase_graph_free(g);
    }
    assert_true(made > 5 * NETS);
}

/* ---- the lab ---- */

static const struct net lab[] = {
    { .name = "three",
      .x = { 2, { BATCH, 16 } },
      .line = { "seq_blocks.0 = BatchNorm1d(16) of x", "seq_blocks.1 = ReLU(16) of seq_blocks_0",
                "seq_blocks.2 = Linear(16, 16) of seq_blocks_1",
                "seq_blocks.3 = Linear(16, 16) of seq_blocks_2",
                "seq_blocks.4 = Linear(16, 5) of seq_blocks_3",
                "seq_blocks.5 = ReLU(5) of seq_blocks_4" } },
    { .name = "three with relu",
      .x = { 2, { BATCH, 16 } },
      .line = { "seq_blocks.0 = BatchNorm1d(16) of x", "seq_blocks.1 = ReLU(16) of seq_blocks_0",
                "seq_blocks.2 = Linear(16, 16) of seq_blocks_1",
                "seq_blocks.3 = ReLU(16) of seq_blocks_2",
                "seq_blocks.4 = Linear(16, 16) of seq_blocks_3",
                "seq_blocks.5 = ReLU(16) of seq_blocks_4",
                "seq_blocks.6 = Linear(16, 5) of seq_blocks_5",
                "seq_blocks.7 = ReLU(5) of seq_blocks_6" } },
};

/* What a layer takes and gives. */
static void assert_linear(const struct fixture *f, int at, int64_t in, int64_t out)
{
    const char *path = mase_arena_printf(&((struct fixture *)f)->arena, "seq_blocks.%d", at);
    const struct mase_module *m = mase_graph_module(f->g, path);
    assert_int_equal(mase_module_attr(m, "in_features")->i, in);
    assert_int_equal(mase_module_attr(m, "out_features")->i, out);
    const struct mase_shape *w = &mase_module_param(m, "weight")->tensor.shape;
    assert_int_equal(w->dim[0], out);
    assert_int_equal(w->dim[1], in);
}

static void lab_4(int net, int step, const char *both, int64_t middle, int64_t last)
{
    struct fixture f;
    set_up_net(&f, &lab[net]);
    RUN(&f, "redefine_linear",
        mase_arena_printf(&f.arena,
                          "by = 'name'\ndefault.config.name = 'NA'\n"
                          "seq_blocks_2.config = { name = 'output_only', channel_multiplier = 2 }\n"
                          "seq_blocks_%d.config = { name = 'both', %s }\n"
                          "seq_blocks_%d.config = { name = 'input_only', channel_multiplier = %d }",
                          2 + step, both, 2 + 2 * step, (int)(last / 16)));
    assert_linear(&f, 2, 16, middle);
    assert_linear(&f, 2 + step, middle, last);
    assert_linear(&f, 2 + 2 * step, last, 5);
    struct mase_values v;
    f.dummy.tensor = mase_tensor(&f.arena, MASE_F32, &lab[net].x, true);
    MUST(&f, mase_run_reference(&v, &f.arena, f.g, &f.dummy, 1, &f.err));
    assert_int_equal(mase_run_output(&v, f.g)->tensor->shape.dim[1], 5);
    teardown(&f);
}

static void widens_as_the_lab_does(void **state)
{
    (void)state;
    lab_4(0, 1, "channel_multiplier = 2", 32, 32);
    lab_4(1, 2, "channel_multiplier = 2", 32, 32);
    lab_4(1, 2, "channel_multiplier_in = 2, channel_multiplier_out = 4", 32, 64);
}

/* Literally, for layers of other kinds: what arrives is counted behind what stands between. */
static void other_layers_are_redefined_alike(void **state)
{
    (void)state;
    struct fixture f;
    set_up_net(&f, find_net("a length that is written out"));
    RUN(&f, "redefine_linear",
        "default.config.name = 'NA'\n"
        "conv.config = { name = 'output_only', channel_multiplier = 2 }\n"
        "fc1.config = { name = 'both', channel_multiplier_in = 2, channel_multiplier_out = 0.5 }\n"
        "fc2.config = { name = 'input_only', channel_multiplier = 0.5 }");
    assert_int_equal(mase_graph_param_count(f.g), 16 * 28 + 5 * 577 + 5 * 6);
    teardown(&f);
    set_up_net(&f, find_net("recurrent layers"));
    RUN(&f, "redefine_linear",
        "default.config.name = 'NA'\n"
        "gru.config = { name = 'output_only', channel_multiplier = 2 }\n"
        "conv.config = { name = 'input_only', channel_multiplier = 2 }\n"
        "fc.config = { name = 'input_only', channel_multiplier = 1.5555555555555556 }");
    const struct mase_module *gru = mase_graph_module(f.g, "gru");
    assert_int_equal(mase_module_attr(gru, "hidden_size")->i, 20);
    assert_int_equal(mase_module_param(gru, "weight_hh_l0")->tensor.shape.dim[0], 60);
    assert_int_equal(mase_module_attr(mase_graph_module(f.g, "conv"), "in_channels")->i, 20);
    assert_int_equal(mase_module_attr(mase_graph_module(f.g, "fc"), "in_features")->i, 28);
    teardown(&f);
}

static void prints_what_changed(void **state)
{
    (void)state;
    struct fixture f;
    set_up_net(&f, find_net("a residual sum"));
    RUN(&f, "redefine_linear",
        "default.config.name = 'NA'\n"
        "stem.config = { name = 'width', channel_multiplier = 0.5 }");
    assert_string_equal(printed(&f),
                        "Redefined layers:\n"
                        "Layer    Operation       Took    Takes    Gave    Gives    Parameters\n"
                        "-------  ------------  ------  -------  ------  -------  ------------\n"
                        "stem     conv2d             3        3       8        4           112\n"
                        "bn       batch_norm2d       8        4                              8\n"
                        "conv1    conv2d             8        4       4        4           148\n"
                        "conv2    conv2d             4        4       8        4           148\n"
                        "bn2      batch_norm2d       8        4                              8\n"
                        "fc       linear           128       64       5        5           325\n");
    const struct mase_value *note = mase_value_get(f.m.env.info, "redefine_linear");
    assert_int_equal(mase_value_get(note, "parameters")->i, 757);
    teardown(&f);
}

/* ---- what stays ---- */

static bool fill(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    (void)data;
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++)
        mase_tensor_set(&p->tensor, i, 3);
    return true;
}

static void other_layers_keep_their_weights(void **state)
{
    (void)state;
    struct fixture f;
    set_up_net(&f, find_net("a residual sum"));
    mase_graph_each_param(f.g, fill, NULL);
    RUN(&f, "redefine_linear",
        "default.config.name = 'NA'\nconv1.config = { name = 'width', channel_multiplier = 2 }");
    static const struct {
        const char *name;
        bool kept;
    } params[] = { { "stem.weight", true },   { "bn.running_mean", true }, { "bn2.weight", true },
                   { "conv1.weight", false }, { "conv1.bias", false },     { "bn1.weight", false },
                   { "conv2.bias", false },   { "fc.bias", true } };
    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++)
        assert_int_equal(mase_f32(&mase_graph_attr(f.g, params[i].name)->tensor)[0] == 3,
                         params[i].kept);
    teardown(&f);
}

static void formats_stay_and_learn_anew(void **state)
{
    (void)state;
    struct fixture f;
    set_up_net(&f, find_net("three linear layers"));
    RUN(&f, "quantize",
        "by = 'type'\ndefault.config.name = 'NA'\nlinear.config = { name = 'lsq', "
        "data_in_width = 4, data_in_axis = 1, weight_width = 4, weight_axis = 0, bias_width = 8 }");
    const struct mase_quant *q = mase_graph_module(f.g, "fc2")->quant;
    const struct mase_format *format = q->operand[MASE_WEIGHT];
    assert_int_equal(mase_graph_attr(f.g, "fc1.weight_scale")->tensor.shape.dim[0], 16);
    RUN(&f, "redefine_linear",
        "default.config.name = 'NA'\nfc1.config = { name = 'width', channel_multiplier = 2 }");
    assert_ptr_equal(mase_graph_module(f.g, "fc1")->quant->operand[MASE_WEIGHT], format);
    assert_int_equal(mase_graph_attr(f.g, "fc1.weight_scale")->tensor.shape.dim[0], 32);
    assert_int_equal(mase_graph_attr(f.g, "fc2.weight_scale")->tensor.shape.dim[0], 16);
    assert_int_equal(mase_graph_attr(f.g, "fc2.data_in_scale")->tensor.shape.dim[0], 32);
    teardown(&f);
}

static void metadata_is_found_anew(void **state)
{
    (void)state;
    struct fixture f;
    set_up_net(&f, find_net("three linear layers"));
    RUN(&f, "add_common_metadata", NULL);
    RUN(&f, "redefine_linear",
        "default.config.name = 'NA'\nfc1.config = { name = 'width', channel_multiplier = 2 }");
    assert_false(f.g->props & MASE_PROP_COMMON);
    RUN(&f, "add_common_metadata", NULL);
    const struct mase_node *n = mase_graph_find(f.g, "fc2");
    assert_int_equal(mase_meta_arg(n->meta, "data_in_0")->shape.dim[1], 32);
    teardown(&f);
}

/* ---- what is refused ---- */

static void is_refused(const struct net *net, const char *sections, int line, const char *message)
{
    struct fixture f;
    set_up_net(&f, net);
    struct mase_graph *before = mase_graph_clone(f.g);
    const char *text = mase_arena_printf(&f.arena, "default.config.name = 'NA'\n%s", sections);
    assert_int_equal(run(&f, "redefine_linear", text), MASE_EVALUE);
    if (strcmp(f.err.msg + strlen("pass redefine_linear: "), message) != 0)
        fail_msg("%s", f.err.msg);
    assert_int_equal(f.err.loc.line, line);
    assert_same_network(f.g, before);
    mase_graph_free(before);
    teardown(&f);
}

static void neighbours_must_agree(void **state)
{
    (void)state;
    const struct net *three = find_net("three linear layers"), *sum = find_net("a residual sum");
    is_refused(three, "fc1.config = { name = 'output_only', channel_multiplier = 2 }", 2,
               "fc1 gives 32 channels, fc2 takes 16");
    is_refused(three,
               "fc1.config = { name = 'output_only', channel_multiplier = 2 }\n"
               "fc2.config = { name = 'input_only', channel_multiplier = 3 }",
               3, "fc1 gives 32 channels, fc2 takes 48");
    is_refused(three, "fc1.config = { name = 'input_only', channel_multiplier = 2 }", 2,
               "the network's input gives 16 channels, fc1 takes 32");
    is_refused(sum,
               "conv1.config = { name = 'input_only', channel_multiplier = 2 }\n"
               "stem.config = { name = 'output_only', channel_multiplier = 2 }",
               3, "stem gives 16 channels and conv2 8, but add needs as many from both");
    is_refused(sum,
               "conv2.config = { name = 'output_only', channel_multiplier = 2 }\n"
               "conv1.config = { name = 'input_only', channel_multiplier = 2 }\n"
               "stem.config = { name = 'output_only', channel_multiplier = 2 }",
               4, "256 values reach fc from stem, but it takes 128");
    is_refused(sum,
               "stem.config = { name = 'width', channel_multiplier = 2 }\n"
               "conv2.config = { name = 'width', channel_multiplier = 3 }",
               3, "stem gives 16 channels and conv2 24, but add needs as many from both");
}

static void numbers_must_be_whole(void **state)
{
    (void)state;
    is_refused(find_net("three linear layers"),
               "fc1.config = { name = 'width', channel_multiplier = 0.3 }", 2,
               "fc1: 16 channels times 0.3 are 4.8, which is no number of channels");
    is_refused(find_net("halves and their sum"),
               "gate.config = { name = 'width', channel_multiplier = 0.3125 }", 2,
               "gate gives 5 channels, of which stem would have a part that is no whole number");
    is_refused(find_net("a depthwise and a grouped convolution"),
               "stem.config = { name = 'width', channel_multiplier = 0.125 }", 2,
               "gn: num_channels = 2 is not a multiple of num_groups = 4");
}

static void what_is_fixed_stays(void **state)
{
    (void)state;
    is_refused(find_net("three linear layers"),
               "fc3.config = { name = 'width', channel_multiplier = 2 }", 2,
               "fc3 keeps its 5 channels: it gives the network's outputs");
    is_refused(find_net("a slice of the channels"),
               "fc1.config = { name = 'width', channel_multiplier = 2 }", 2,
               "fc1 keeps its 8 channels: narrow (narrow) is not known to follow it");
    is_refused(find_net("a layer that is called twice"),
               "fc2.config = { name = 'width', channel_multiplier = 2 }\n"
               "fc2_1.config = { name = 'width', channel_multiplier = 2 }",
               3, "fc2 and fc2_1 are calls of one layer: one of them redefines it");
    is_refused(find_net("a sum with the input"),
               "fc2.config = { name = 'width', channel_multiplier = 2 }", 2,
               "fc2 keeps its 16 channels: add joins it with what does not follow");
    is_refused(find_net("a depthwise and a grouped convolution"),
               "dw.config = { name = 'width', channel_multiplier = 2 }", 2,
               "'dw' (conv2d) has no width of its own; those with widths: stem, gr, fc");
}

static void sections_are_checked(void **state)
{
    (void)state;
    struct fixture f;
    set_up_net(&f, find_net("three linear layers"));
    FAILS(&f, "redefine_linear", "by = 'name'", 1, 1, "default value must be provided.");
    FAILS(&f, "redefine_linear", "default.config = { }", 1, 18, "has no name");
    FAILS(&f, "redefine_linear", "default.config.name = 'NA'\nfc1 = 2", 2, 7, "'fc1' must be");
    FAILS(&f, "redefine_linear", "default.config.name = 'NA'\nfc1.config.name = 'wide'", 2, 19,
          "width");
    FAILS(&f, "redefine_linear", "default.config.name = 'NA'\nfc1.config = { name = 'both' }", 2,
          14, "no channel_multiplier");
    FAILS(&f, "redefine_linear",
          "default.config.name = 'NA'\nfc1.config = { name = 'output_only', "
          "channel_multiplier = 2, channel_multiplier_in = 2 }",
          2, 86, "channel_multiplier_in");
    FAILS(&f, "redefine_linear",
          "default.config.name = 'NA'\nfc.config = { name = 'width', channel_multiplier = 2 }", 2,
          1, "did you mean 'fc1'?");
    FAILS(&f, "redefine_linear",
          "default.config.name = 'NA'\nfc1.config = { name = 'width', channel_multiplier = 2 }\n"
          "fc2.config = { name = 'both', channel_multiplier = 2 }",
          3, 1, "fc1 says width and fc2 says both");
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_with_channels_has_a_row),
        cmocka_unit_test(is_the_network_of_these_widths),
        cmocka_unit_test(says_what_cannot_change),
        cmocka_unit_test(members_of_a_sum_are_a_group),
        cmocka_unit_test(what_others_decide_is_no_choice),
        cmocka_unit_test(redefines_copies_again),
        cmocka_unit_test(every_point_is_a_network),
        cmocka_unit_test(widens_as_the_lab_does),
        cmocka_unit_test(other_layers_are_redefined_alike),
        cmocka_unit_test(prints_what_changed),
        cmocka_unit_test(other_layers_keep_their_weights),
        cmocka_unit_test(formats_stay_and_learn_anew),
        cmocka_unit_test(metadata_is_found_anew),
        cmocka_unit_test(neighbours_must_agree),
        cmocka_unit_test(numbers_must_be_whole),
        cmocka_unit_test(what_is_fixed_stays),
        cmocka_unit_test(sections_are_checked),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
