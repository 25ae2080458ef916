/*
 * t_costs.c - costs against totals derived by hand, line by line, and the original's estimator.
 */
#include <math.h>

#include "golden.h"
#include "graph_text.h"
#include "program/cost_rules.h"
#include "program/costs.h"
#include "run_cases.h"
#include "unit/ir/cases.h"

/* ---- networks ---- */

static struct mase_costs *costs_of(const struct mase_graph *g, const struct mase_input *inputs,
                                   int count)
{
    struct mase_costs *costs;
    struct mase_err err;
    if (mase_costs_new(&costs, g, inputs, count, &err))
        fail_msg("%s", err.msg);
    return costs;
}

static struct mase_cost node_cost(const struct mase_node *n, const struct mase_input *inputs,
                                  int count)
{
    struct mase_costs *costs = costs_of(n->graph, inputs, count);
    const struct mase_cost c = mase_costs_node(costs, n);
    mase_costs_free(costs);
    return c;
}

static struct mase_cost total_cost(const struct fixture *f)
{
    struct mase_costs *costs = costs_of(f->g, &f->dummy, 1);
    const struct mase_cost c = mase_costs_total(costs);
    mase_costs_free(costs);
    return c;
}

/* Around a network of the zoo, for one sample; no weights. */
static void setup_zoo(struct fixture *f, const char *model, const char *dataset)
{
    const struct mase_model *m = NULL;
    const struct mase_data_info *d = NULL;
    struct mase_err err;
    struct mase_graph *g = NULL;
    if (mase_zoo_find(&m, model, &err) || mase_data_find(&d, dataset, &err) ||
        m->build(&g, d, &err))
        fail_msg("%s", err.msg);
    struct mase_shape shape = { .rank = 1 + d->sample.rank, .dim = { 1 } };
    memcpy(shape.dim + 1, d->sample.dim, sizeof shape.dim - sizeof shape.dim[0]);
    setup_graph(f, g, shape);
    RUN(f, "add_common_metadata", NULL);
}

static struct mase_cost zoo_cost(const char *model, const char *dataset)
{
    struct fixture f;
    setup_zoo(&f, model, dataset);
    const struct mase_cost c = total_cost(&f);
    teardown(&f);
    return c;
}

/* A golden network with weights, for one sample. */
static void setup_one(struct fixture *f, const char *model)
{
    setup(f, model);
    f->dummy.tensor.shape.dim[0] = 1;
    RUN(f, "add_common_metadata", NULL);
}

static struct mase_cost cost_of(struct fixture *f, const char *node)
{
    const struct mase_node *n = mase_graph_find(f->g, node);
    assert_non_null(n);
    return node_cost(n, &f->dummy, 1);
}

/* ---- totals by hand ---- */

static void jsc_tiny_line_by_line(void **state)
{
    (void)state;
    struct fixture f;
    setup_one(&f, "jsc-tiny");
    const struct mase_cost norm = cost_of(&f, "seq_blocks_0");
    assert_int_equal(norm.macs, 0);
    assert_int_equal(norm.flops, 4 * 16);
    assert_int_equal(norm.params, 16 + 16);
    assert_int_equal(norm.param_bits, 32 * (4 * 16)); /* weight, bias, mean, variance */
    assert_int_equal(norm.traffic, 4 * (4 * 16 + 16 + 16));
    const struct mase_cost linear = cost_of(&f, "seq_blocks_2");
    assert_int_equal(linear.macs, 16 * 5);
    assert_int_equal(linear.flops, 160);
    assert_int_equal(linear.train_flops, 480);
    assert_int_equal(linear.params, 80 + 5);
    assert_int_equal(linear.in_bits, 32 * 16);
    assert_int_equal(linear.out_bits, 32 * 5);
    assert_int_equal(linear.traffic, 4 * (85 + 16 + 5));
    assert_int_equal(linear.bitops, 80 * 32 * 32);
    assert_true(linear.bops == 80 * (32 * 32 + 32 + 32 + 4)); /* log2 16 */
    assert_int_equal(linear.ebops, 80 * 32 * 32);
    const struct mase_cost total = total_cost(&f);
    assert_int_equal(total.flops, 64 + 16 + 160 + 5);
    assert_int_equal(total.train_flops, 128 + 32 + 480 + 10);
    assert_int_equal(total.params, 32 + 85);
    assert_int_equal(total.bitops, 81920);
    teardown(&f);
}

static void the_jsc_networks(void **state)
{
    (void)state;
    const struct mase_cost toy = zoo_cost("jsc-toy", "jsc");
    const int64_t toy_macs = 16 * 8 + 8 * 8 + 8 * 5;
    assert_int_equal(toy.macs, toy_macs);
    assert_int_equal(toy.flops, 2 * toy_macs + 5 * (16 + 8 + 8 + 5)); /* norm 4, relu 1 */
    assert_int_equal(toy.bitops, toy_macs * 32 * 32);
    assert_int_equal(toy.params, toy_macs + (8 + 8 + 5) + 2 * (16 + 8 + 8 + 5));
    const struct mase_cost s = zoo_cost("jsc-s", "jsc");
    const int64_t s_macs = 16 * 64 + 64 * 32 + 32 * 32 + 32 * 32 + 32 * 5;
    assert_int_equal(s.macs, s_macs);
    assert_int_equal(s.flops, 2 * s_macs + 4 * (16 + 64 + 5) + (16 + 64 + 32 + 32 + 32 + 5));
    assert_int_equal(s.bitops, s_macs * 32 * 32);
}

static void vgg7(void **state)
{
    (void)state;
    const int64_t macs = 32 * 32 * 128 * (9 * 3) + 32 * 32 * 128 * (9 * 128)     /* 32 x 32 */
                         + 16 * 16 * 256 * (9 * 128) + 16 * 16 * 256 * (9 * 256) /* 16 x 16 */
                         + 8 * 8 * 512 * (9 * 256) + 8 * 8 * 512 * (9 * 512)     /* 8 x 8 */
                         + 8192 * 1024 + 1024 * 1024 + 1024 * 10;
    /* norm and relu after each convolution, a window of 4 after each pair, two more relus */
    const int64_t ops = 2 * 5 * (32 * 32 * 128 + 16 * 16 * 256 + 8 * 8 * 512) +
                        4 * (16 * 16 * 128 + 8 * 8 * 256 + 4 * 4 * 512) + 1024 + 1024;
    const struct mase_cost c = zoo_cost("vgg7", "cifar10");
    assert_int_equal(c.macs, macs);
    assert_int_equal(c.flops, 2 * macs + ops);
    assert_int_equal(c.bitops, macs * 1024);
    assert_int_equal(c.params, 14029450);
}

/* The number that is quoted for it everywhere: 1.814 GMACs. */
static void resnet18(void **state)
{
    (void)state;
    const int64_t same = 56 * 56 * 64 * (9 * 64); /* each 3 x 3 that keeps the size, everywhere */
    const int64_t stem = 112 * 112 * 64 * (49 * 3);
    const int64_t stage = same / 2 + 28 * 28 * 128 * 64 + 3 * same; /* halving, 1 x 1 beside it */
    const int64_t macs = stem + 4 * same + 3 * stage + 512 * 1000;
    assert_int_equal(macs, 1814073344);
    /* norm, relu and window of the stem; each block two norms, two relus and a sum, one more norm
     * beside it where the size halves; the average */
    const int64_t size = 56 * 56 * 64;
    const int64_t ops = 5 * (112 * 112 * 64) + 9 * size + 2 * 11 * size +
                        (2 * 11 + 4) * (size / 2 + size / 4 + size / 8) + 7 * 7 * 512;
    const struct mase_cost c = zoo_cost("resnet18", "imagenet");
    assert_int_equal(c.macs, macs);
    assert_int_equal(c.flops, 2 * macs + ops);
    assert_int_equal(c.bitops, macs * 1024);
    assert_int_equal(c.params, 11689512);
}

/* ---- the original's estimator ---- */

/* It takes grouped convolutions for ungrouped ones. */
static const struct {
    const char *model, *target;
    int64_t macs;
} grouped[] = {
    { "conv_bn", "conv2", 48 * (9 * 2) },
};

static int64_t expected(const char *model, const char *target, int64_t golden)
{
    for (size_t i = 0; i < sizeof grouped / sizeof grouped[0]; i++)
        if (mase_streq(grouped[i].model, model) && mase_streq(grouped[i].target, target)) {
            assert_true(golden != grouped[i].macs);
            return grouped[i].macs;
        }
    return golden;
}

static int compare(struct fixture *f, const char *model, const struct mase_value *golden)
{
    int found = 0;
    for (int i = 0; i < golden->count; i++)
        for (const struct mase_node *n = f->g->first; n; n = n->next) {
            const bool is = n->kind == MASE_CALL_MODULE && mase_streq(n->target, golden->keys[i]);
            const bool function =
                n->kind == MASE_CALL_FUNCTION && mase_streq(mase_ops[n->op].name, golden->keys[i]);
            if (!is && !function)
                continue;
            const struct mase_cost c = node_cost(n, &f->dummy, 1);
            const int64_t want = expected(model, golden->keys[i], golden->items[i]->i);
            if (c.macs + c.ops != want)
                fail_msg("%s %s: expected %lld, got %lld", model, golden->keys[i], (long long)want,
                         (long long)(c.macs + c.ops));
            found++;
        }
    return found;
}

static void computations_are_the_originals(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_value *all;
    struct mase_err err;
    if (mase_json_read(&all, &a, DATA "/costs/computations.json", &err))
        fail_msg("%s", err.msg);
    assert_int_equal(all->count, 8);
    for (int i = 0; i < all->count; i++) {
        struct fixture f;
        setup_one(&f, all->keys[i]);
        assert_true(compare(&f, all->keys[i], all->items[i]) >= all->items[i]->count);
        teardown(&f);
    }
    mase_arena_release(&a);
}

/* ---- products that are no layers ---- */

static void matrix_products(void **state)
{
    (void)state;
    struct fixture f;
    setup_one(&f, "matmul_net");
    int products = 0;
    for (const struct mase_node *n = f.g->first; n; n = n->next) {
        if (n->op != MASE_OP_matmul && n->op != MASE_OP_bmm)
            continue;
        const struct mase_meta_arg *x = mase_meta_arg(n->meta, "data_in_0");
        const struct mase_cost c = node_cost(n, &f.dummy, 1);
        const int64_t k = x->shape.dim[x->shape.rank - 1];
        assert_int_equal(c.macs, mase_shape_count(&n->meta->results[0].shape) * k);
        assert_int_equal(c.bitops, c.macs * 1024);
        assert_int_equal(c.params, 0);
        products++;
    }
    assert_int_equal(products, 2);
    teardown(&f);
}

/* 32768 x 32768 x 32768 products and their adders are 1.08 2^55 bit operations; 300 times as many
 * are no count. */
static void what_cannot_be_counted_is_refused(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new("large");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    x = text_call(g, "%s.expand(32768, 32768)", x->name);
    for (int i = 0; i < 300; i++)
        x = text_call(g, "torch.matmul(%s, %s)", x->name, x->name);
    mase_build_output(g, x);
    struct fixture f;
    setup_graph(&f, g, (struct mase_shape){ 2, { 1, 1 } });
    FAILS(&f, "count_flops", "", 1, 1, "matmul_237: the costs up to here are beyond 2^63");
    teardown(&f);
}

/* ---- products by features ---- */

static const struct mase_arg *value_of(const struct mase_node *n, void *values)
{
    return mase_values_get(values, n);
}

/* How many of n values belong to each feature. */
static void count_features(int64_t *count, int64_t n, struct mase_feature_layout at)
{
    for (int64_t i = 0; i < n; i++)
        count[i / at.group * at.each + i / at.run % at.each]++;
}

static double products_by_features(struct fixture *f, const struct mase_node *n)
{
    struct mase_values v;
    struct mase_call call;
    struct mase_feature_products p;
    int64_t x[64] = { 0 }, w[64] = { 0 };
    double sum = 0;
    MUST(f, mase_infer_shapes(&v, &f->arena, f->g, &f->dummy, 1, &f->err));
    MUST(f, mase_call_init(&call, &f->arena, n, value_of, &v, &f->err));
    call.result = *mase_values_get(&v, n);
    assert_true(mase_call_features(&p, &call) && p.features <= 64);
    count_features(x, mase_tensor_count(mase_call_tensor(&call, "input")), p.x);
    count_features(w, mase_tensor_count(mase_call_tensor(&call, "weight")), p.w);
    for (int64_t i = 0; i < p.features; i++)
        sum += (double)x[i] * (double)w[i];
    return sum * p.share;
}

static void features_have_every_product(void **state)
{
    static const struct {
        const char *layer;
        struct mase_shape x;
    } cases[] = {
        { "net = Linear(6, 5)", { 3, { 2, 4, 6 } } },
        { "net = Conv1d(4, 6, 3, groups=2, padding=1)", { 3, { 1, 4, 9 } } },
        { "net = Conv2d(4, 8, (3, 2), stride=2)", { 4, { 2, 4, 9, 8 } } },
        { "net = Conv3d(3, 3, 2, groups=3)", { 5, { 1, 3, 4, 5, 6 } } },
        { "net = ConvTranspose1d(4, 6, 3, groups=2, stride=2)", { 3, { 2, 4, 7 } } },
        { "net = ConvTranspose2d(3, 5, 2, padding=1)", { 4, { 1, 3, 5, 6 } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct mase_graph *g = mase_graph_new("net");
        mase_build_output(g, text_layer(g, mase_build_input(g, "x", NULL), "%s", cases[i].layer));
        setup_graph(&f, g, cases[i].x);
        const double macs = (double)cost_of(&f, "net").macs;
        assert_true(macs > 0);
        assert_true(fabs(products_by_features(&f, mase_graph_find(g, "net")) - macs) < 1e-9 * macs);
        teardown(&f);
    }
}

/* ---- after quantisation ---- */

static const char integer[] =
    "by = 'type'\ndefault.config.name = 'NA'\n"
    "linear.config = { name = 'integer', data_in_width = 8, data_in_frac_width = 4, "
    "weight_width = 6, weight_frac_width = 4, bias_width = 5, bias_frac_width = 4 }";

/* By another way than the code's: the number as binary text, its zeros cut off at both ends. */
static int enclosed(float w)
{
    int code = (int)lrintf(fabsf(w) * 16), width = 0;
    char text[40] = "";
    for (int bit = 31; bit >= 0; bit--)
        text[31 - bit] = code >> bit & 1 ? '1' : '0';
    const char *first = strchr(text, '1'), *last = strrchr(text, '1');
    if (first)
        width = (int)(last - first) + 1;
    return width;
}

static float *weight_of(struct fixture *f, const char *module)
{
    return mase_f32(&mase_module_param(mase_graph_module(f->g, module), "weight")->tensor);
}

/* The five weights of docs/costs.md among zeros, with four bits of fraction: 0011, 0100, -0111,
 * 1010 and, rounded, 0000. */
static void the_weights_of_the_example(void **state)
{
    (void)state;
    static const float weights[] = { 0.1875f, 0.25f, -0.4375f, 0.625f, 0.01f };
    struct fixture f;
    setup_one(&f, "jsc-tiny");
    mase_graph_own_weights(f.g);
    memset(weight_of(&f, "seq_blocks.2"), 0, 80 * sizeof(float));
    memcpy(weight_of(&f, "seq_blocks.2"), weights, sizeof weights);
    struct mase_cost c = cost_of(&f, "seq_blocks_2");
    assert_int_equal(c.bitops, 80 * 32 * 32);
    assert_int_equal(c.macs, 80);
    assert_int_equal(c.nonzero_macs, 5);
    assert_int_equal(c.nonzero_bitops, 5 * 32 * 32);
    assert_true(c.bops == 5 * 32 * 32 + 80 * (32 + 32 + 4));
    assert_int_equal(c.ebops, 5 * 32 * 32);
    RUN(&f, "quantize", integer);
    RUN(&f, "add_common_metadata", NULL);
    c = cost_of(&f, "seq_blocks_2");
    assert_int_equal(c.bitops, 80 * 8 * 6);
    assert_int_equal(c.nonzero_macs, 4);
    assert_int_equal(c.nonzero_bitops, 4 * 8 * 6);
    assert_true(c.bops == 4 * 8 * 6 + 80 * (8 + 6 + 4));
    assert_int_equal(c.ebops, 8 * (2 + 1 + 3 + 3));
    teardown(&f);
}

static void quantisation_shows(void **state)
{
    (void)state;
    struct fixture f;
    setup_one(&f, "jsc-tiny");
    RUN(&f, "quantize", integer);
    printed(&f);
    RUN(&f, "count_flops", NULL);
    const struct mase_cost c = cost_of(&f, "seq_blocks_2");
    assert_int_equal(c.macs, 80);
    assert_int_equal(c.bitops, 80 * 8 * 6);
    assert_int_equal(c.param_bits, 80 * 6 + 5 * 5);
    assert_int_equal(c.in_bits, 16 * 8);
    int64_t ebops = 0, nonzero = 0;
    const float *w = weight_of(&f, "seq_blocks.2");
    for (int i = 0; i < 80; i++) {
        ebops += 8 * enclosed(w[i]);
        nonzero += enclosed(w[i]) > 0;
    }
    assert_int_equal(c.nonzero_bitops, nonzero * 8 * 6);
    assert_true(c.bops == (double)(nonzero * 8 * 6 + 80 * (8 + 6 + 4)));
    assert_int_equal(c.ebops, ebops);
    assert_true(ebops > 0 && ebops < c.bitops);
    const struct mase_value *info = mase_value_get(f.m.env.info, "count_flops");
    assert_int_equal(mase_value_at(info, "total.bitops")->i, 3840);
    assert_int_equal(mase_value_at(info, "before.bitops")->i, 81920);
    assert_int_equal(mase_value_at(info, "nodes.seq_blocks_2.macs")->i, 80);
    const char *text = printed(&f);
    assert_non_null(strstr(text, "\ntotal "));
    assert_non_null(strstr(text, "\ntotal before "));
    teardown(&f);
}

static void average_bits(void **state)
{
    (void)state;
    struct fixture f;
    setup_one(&f, "jsc-toy");
    RUN(&f, "calculate_avg_bits", NULL);
    assert_string_equal(printed(&f), "average bits: data_in 32, weight 32, both 32\n");
    RUN(&f, "quantize",
        "by = 'name'\ndefault.config.name = 'NA'\n"
        "seq_blocks_2.config = { name = 'integer', data_in_width = 8, "
        "data_in_frac_width = 4, weight_width = 4, weight_frac_width = 'NA', "
        "bias_width = 8, bias_frac_width = 4 }");
    RUN(&f, "calculate_avg_bits", NULL);
    const struct mase_value *info = mase_value_get(f.m.env.info, "calculate_avg_bits");
    const double data = (16 * 8 + 8 * 32 + 8 * 32) / 32.0;
    const double weight = (128 * 4 + 64 * 32 + 40 * 32) / 232.0;
    assert_true(fabs(mase_value_get(info, "data_avg_bit")->f - data) < 1e-12);
    assert_true(fabs(mase_value_get(info, "w_avg_bit")->f - weight) < 1e-12);
    assert_true(fabs(mase_value_get(info, "avg_bit")->f - (data * 32 + weight * 232) / 264) <
                1e-12);
    teardown(&f);
}

/* Transposed convolutions have weights and inputs as others have. */
static void average_bits_of_transposed_convolutions(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_graph *g = mase_graph_new("up");
    mase_build_input(g, "x", NULL);
    text_module(g, "up = ConvTranspose1d(4, 6, 3)");
    mase_build_output(g, text_call(g, "up(x)"));
    setup_graph(&f, g, (struct mase_shape){ 3, { 1, 4, 10 } });
    RUN(&f, "quantize",
        "by = 'type'\ndefault.config.name = 'NA'\n"
        "convtranspose1d.config = { name = 'integer', data_in_width = 8, data_in_frac_width = 4, "
        "weight_width = 6, weight_frac_width = 4, bias_width = 5, bias_frac_width = 4 }");
    printed(&f);
    RUN(&f, "calculate_avg_bits", NULL);
    assert_string_equal(printed(&f), "average bits: data_in 8, weight 6, both 6.71429\n");
    teardown(&f);
}

static void tables_and_files(void **state)
{
    (void)state;
    struct fixture f;
    setup_one(&f, "jsc-tiny");
    const char *dir = temp_dir(&f);
    f.m.env.out_dir = dir;
    printed(&f);
    RUN(&f, "count_flops", "format = 'csv'");
    assert_string_equal(printed(&f), file_text(&f, mase_path_join(&f.arena, dir, "costs.csv")));
    RUN(&f, "count_flops", "format = 'json'\nsave_path = 'here.csv'");
    struct mase_value *v;
    const char *text = printed(&f);
    MUST(&f, mase_json_parse(&v, &f.arena, text, strlen(text), "costs", &f.err));
    assert_int_equal(mase_value_at(v, "total.flops")->i, 245);
    assert_null(mase_value_get(v, "before"));
    FAILS(&f, "count_flops", "format = 'html'", 1, 10, "format");
    remove(mase_path_join(&f.arena, dir, "costs.csv"));
    assert_int_equal(remove(mase_path_join(&f.arena, dir, "here.csv")), 0);
    remove(dir);
    teardown(&f);
}

/* ---- however it is written ---- */

/* The counts of a call with fresh metadata; false: it cannot be written so. */
static bool counted(struct mase_cost *cost, struct op_case *c, struct mase_node *call)
{
    struct mase_manager m = { .env = { .inputs = c->input, .input_count = c->input_count } };
    struct mase_err unwanted;
    mase_graph_drop_props(c->graph, MASE_PROP_ALL);
    const bool done = !mase_manager_run(&m, &c->graph, "add_common_metadata", NULL, &unwanted);
    if (done)
        *cost = node_cost(call, c->input, c->input_count);
    mase_manager_release(&m);
    return done;
}

/* Costs of the call under each of these names, as that kind of node. Returns how many there were.
 */
static int compare_names(struct op_case *c, struct mase_node *call, const char *names,
                         enum mase_node_kind kind, const struct mase_cost *want)
{
    int tried = 0;
    for (const char *p = names ? names : ""; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        struct mase_cost got;
        call->kind = kind;
        call->target = mase_arena_strndup(&c->arena, p, n);
        p += n;
        if (!counted(&got, c, call))
            continue;
        tried++;
        if (got.macs != want->macs || got.ops != want->ops || got.in_bits != want->in_bits ||
            got.out_bits != want->out_bits || got.bops != want->bops || got.ebops != want->ebops)
            fail_msg("cases.txt:%d: %s: %s of %s has %lld MACs, %lld operations, %lld bits in; "
                     "else %lld, %lld, %lld",
                     c->line, c->op, kind == MASE_CALL_METHOD ? "method" : "function", call->target,
                     (long long)got.macs, (long long)got.ops, (long long)got.in_bits,
                     (long long)want->macs, (long long)want->ops, (long long)want->in_bits);
    }
    return tried;
}

/* 4 x 5 x 6 products of 8 by 6 bits, and the 30 values that are stored in 6 bits. */
static void parameters_that_are_read_count_in_their_formats(void **state)
{
    static const char *const forms[] = { "call_function[target=torch.matmul]",
                                         "call_function[target=operator.matmul]" };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct mase_graph *g;
        struct mase_err err;
        struct fixture f;
        char text[256];
        const int n = snprintf(text, sizeof text,
                               "mase-graph 1\nattr v = f32[6, 5]\n%%x = placeholder[target=x]\n"
                               "%%w = get_attr[target=v]\n"
                               "%%matmul = %s(args = (%%x, %%w), kwargs = {})\nreturn %%matmul\n",
                               forms[i]);
        if (mase_graph_parse_mg(&g, text, (size_t)n, "text", &err))
            fail_msg("%d: %s", err.loc.line, err.msg);
        setup_graph(&f, g, (struct mase_shape){ 2, { 4, 6 } });
        RUN(&f, "quantize",
            "by = 'type'\ndefault.config.name = 'NA'\nmatmul.config = { name = 'integer', "
            "data_in_width = 8, data_in_frac_width = 4, weight_width = 6, weight_frac_width = 4 }");
        RUN(&f, "add_common_metadata", NULL);
        const struct mase_cost c = cost_of(&f, "matmul");
        assert_int_equal(c.macs, 4 * 5 * 6);
        assert_int_equal(c.bitops, 4 * 5 * 6 * 8 * 6);
        assert_int_equal(c.in_bits, 4 * 6 * 8 + 6 * 5 * 6);
        assert_int_equal(total_cost(&f).params, 6 * 5);
        assert_int_equal(total_cost(&f).param_bits, 6 * 5 * 6);
        teardown(&f);
    }
}

static void setup_text(struct fixture *f, const char *text, struct mase_shape shape)
{
    struct mase_graph *g;
    struct mase_err err;
    if (mase_graph_parse_mg(&g, text, strlen(text), "text", &err))
        fail_msg("%d: %s", err.loc.line, err.msg);
    setup_graph(f, g, shape);
}

/* x.copy_(y) reads both, each once. */
static void copies_read_what_they_are_given(void **state)
{
    (void)state;
    struct fixture f;
    setup_text(&f,
               "mase-graph 1\n%x = placeholder[target=x]\n"
               "%y = call_method[target=sum](args = (%x, 0), kwargs = {})\n"
               "%z = call_method[target=copy_](args = (%x, %y), kwargs = {})\nreturn %z\n",
               (struct mase_shape){ 2, { 2, 3 } });
    assert_int_equal(cost_of(&f, "z").in_bits, (6 + 3) * 32);
    teardown(&f);
}

/* A format is of tensors: a length is no result that is stored in it. */
static void numbers_take_no_bits(void **state)
{
    (void)state;
    struct fixture f;
    setup_text(&f,
               "mase-graph 1\n%x = placeholder[target=x]\n"
               "%n = call_method[target=size](args = (%x, 0), kwargs = {})\n"
               "%add = call_function[target=operator.add](args = (%n, 1), kwargs = {})\n"
               "%add_1 = call_function[target=operator.add](args = (%x, %add), kwargs = {})\n"
               "return %add_1\n",
               (struct mase_shape){ 2, { 2, 3 } });
    RUN(&f, "quantize",
        "by = 'type'\ndefault.config.name = 'NA'\nadd.config = { name = 'integer', data_in_width "
        "= 8, data_in_frac_width = 4, data_out_width = 7, data_out_frac_width = 3 }");
    assert_int_equal(cost_of(&f, "add").out_bits, 0);
    assert_int_equal(cost_of(&f, "add_1").out_bits, 6 * 7);
    teardown(&f);
}

/* Costs are found once, and asked again for the formats that layers have by then. */
static void prices_follow_the_formats(void **state)
{
    (void)state;
    struct fixture f;
    setup_one(&f, "jsc-tiny");
    struct mase_costs *costs = costs_of(f.g, &f.dummy, 1);
    assert_int_equal(mase_costs_macs(costs), 80);
    assert_int_equal(mase_costs_total(costs).bitops, 80 * 32 * 32);
    RUN(&f, "quantize", integer);
    for (int again = 0; again < 2; again++) {
        const struct mase_cost now = mase_costs_total(costs), want = total_cost(&f);
        assert_int_equal(now.bitops, 80 * 8 * 6);
        assert_int_equal(now.ebops, want.ebops);
        assert_int_equal(now.param_bits, want.param_bits);
        assert_int_equal(now.traffic, want.traffic);
    }
    mase_costs_free(costs);
    teardown(&f);
}

/* Functions, operators and methods of an operation, by every row of the table that has a case. */
static void a_call_costs_alike_however_it_is_written(void **state)
{
    (void)state;
    struct case_reader r = open_cases("data/ops/cases.txt");
    struct op_case c;
    int compared = 0;
    for (; next_case(&r, &c); release_case(&c)) {
        struct mase_node *call = NULL;
        struct mase_cost want;
        for (struct mase_node *n = c.graph->first; n; n = n->next)
            if (n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD)
                call = call ? NULL : n;
        /* the object of the method is not the first operand of the function */
        if (mase_streq(c.op, "where"))
            continue;
        if (!call || !call->args.count || call->args.items[0].kind != MASE_ARG_NODE ||
            !counted(&want, &c, call))
            continue;
        const struct mase_op_info *op = &mase_ops[call->op];
        compared += compare_names(&c, call, op->functions, MASE_CALL_FUNCTION, &want);
        compared += compare_names(&c, call, op->methods, MASE_CALL_METHOD, &want);
    }
    close_cases(&r);
    assert_true(compared > 2000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsc_tiny_line_by_line),
        cmocka_unit_test(the_jsc_networks),
        cmocka_unit_test(vgg7),
        cmocka_unit_test(resnet18),
        cmocka_unit_test(computations_are_the_originals),
        cmocka_unit_test(matrix_products),
        cmocka_unit_test(what_cannot_be_counted_is_refused),
        cmocka_unit_test(features_have_every_product),
        cmocka_unit_test(the_weights_of_the_example),
        cmocka_unit_test(quantisation_shows),
        cmocka_unit_test(average_bits),
        cmocka_unit_test(average_bits_of_transposed_convolutions),
        cmocka_unit_test(tables_and_files),
        cmocka_unit_test(parameters_that_are_read_count_in_their_formats),
        cmocka_unit_test(copies_read_what_they_are_given),
        cmocka_unit_test(numbers_take_no_bits),
        cmocka_unit_test(prices_follow_the_formats),
        cmocka_unit_test(a_call_costs_alike_however_it_is_written),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
