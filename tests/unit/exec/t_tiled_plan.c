/*
 * t_tiled_plan.c - a batch in tiles is the batch: what one large plan computes, a tiled one
 * computes too, up to the order of sums; and neither the number of threads nor that of processes
 * changes a bit of it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mase/call.h>
#include <mase/rng.h>
#include <mase/tiled_plan.h>

#include "exec/plan/plan_parts.h"
#include "formats.h"
#include "run_cases.h"
#include "thread_ranks.h"

enum { FEATURES = 8, CLASSES = 5, ROWS = 1600 };

static struct mase_err err;
static float table[ROWS * FEATURES + 16];
static int32_t labels[ROWS];
static const float class_weight[CLASSES] = { 0.5f, 1, 2, 1, 3 };

static void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("unexpected error");
    }
}

/* Everything that meets other tiles or depends on where a sample lies: batch norms, dropout. */
static const char layers[] = "mase-graph 1\n"
                             "module a = Linear(in_features=8, out_features=24)\n"
                             "module n = BatchNorm1d(num_features=24)\n"
                             "module d = Dropout(p=0.25)\n"
                             "module b = Linear(in_features=24, out_features=5)\n"
                             "module m = BatchNorm1d(num_features=5)\n"
                             "%x = placeholder[target=x]\n"
                             "%a = call_module[target=a](args = (%x,), kwargs = {})\n"
                             "%n = call_module[target=n](args = (%a,), kwargs = {})\n"
                             "%relu = call_function[target=torch.relu](args = (%n,), kwargs = {})\n"
                             "%d = call_module[target=d](args = (%relu,), kwargs = {})\n"
                             "%b = call_module[target=b](args = (%d,), kwargs = {})\n"
                             "%m = call_module[target=m](args = (%b,), kwargs = {})\n"
                             "return %m\n";

/* Operands that are computed from parameters, once for all tiles: some parameters are used nowhere
 * else, some by layers of the network too; a batch norm with a weight alone, which meets the other
 * tiles and keeps running statistics. */
static const char derived[] =
    "mase-graph 1\n"
    "attr w = f32[24, 8] init uniform(0.5)\n"
    "attr u = f32[24, 2] init uniform(0.5)\n"
    "attr v = f32[2, 8] init uniform(0.5)\n"
    "attr s = f32[24] init uniform(0.5)\n"
    "attr mean = f32[24] buffer\n"
    "attr var = f32[24] buffer init ones\n"
    "module b = Linear(in_features=24, out_features=5)\n"
    "%x = placeholder[target=x]\n"
    "%w = get_attr[target=w]\n"
    "%u = get_attr[target=u]\n"
    "%v = get_attr[target=v]\n"
    "%s = get_attr[target=s]\n"
    "%mean = get_attr[target=mean]\n"
    "%var = get_attr[target=var]\n"
    "%uv = call_function[target=torch.matmul](args = (%u, %v), kwargs = {})\n"
    "%wuv = call_function[target=operator.add](args = (%w, %uv), kwargs = {})\n"
    "%e = call_function[target=torch.exp](args = (%s,), kwargs = {})\n"
    "%l = call_function[target=torch.nn.functional.linear](args = (%x, %wuv, %e), kwargs = {})\n"
    "%n = call_function[target=torch.nn.functional.batch_norm](args = (%l, %mean, %var, %e, None, "
    "True), kwargs = {})\n"
    "%m = call_function[target=operator.mul](args = (%n, %s), kwargs = {})\n"
    "%r = call_function[target=torch.relu](args = (%m,), kwargs = {})\n"
    "%b = call_module[target=b](args = (%r,), kwargs = {})\n"
    "return %b\n";

static const char *const texts[] = { layers, derived };
static const char *text = layers;

static struct mase_graph *make_graph(void)
{
    struct mase_graph *g;
    must(mase_graph_parse_mg(&g, text, strlen(text), "tiled_plan.mg", &err));
    mase_graph_init_weights(g, 7);
    return g;
}

static int make_samples(void **state)
{
    struct mase_rng r = mase_rng(5, MASE_STREAM_INIT, 0);
    (void)state;
    for (int i = 0; i < ROWS * FEATURES; i++)
        table[i] = mase_rng_range(&r, -2, 2);
    for (int i = 0; i < ROWS; i++)
        labels[i] = (int32_t)(mase_rng_u32(&r) % CLASSES);
    return 0;
}

static struct mase_plan_opts opts_of(struct mase_input *in, int64_t batch, int threads)
{
    *in = (struct mase_input){ .name = "x",
                               .tensor = { .dtype = MASE_F32, .shape = { 2, { 1, FEATURES } } } };
    return (struct mase_plan_opts){ .batch = batch,
                                    .train = true,
                                    .threads = threads,
                                    .seed = 11,
                                    .inputs = in,
                                    .input_count = 1 };
}

/* What a few steps without an update leave. */
struct outcome {
    struct mase_loss_result loss;
    float *grads;
    float *weights; /* running statistics among them */
    int64_t count, weight_count;
};

static bool keep_weight(const char *full, struct mase_param *p, void *data)
{
    struct outcome *o = data;
    (void)full;
    for (int64_t i = 0; i < mase_tensor_count(&p->tensor); i++)
        o->weights[o->weight_count++] = (float)mase_tensor_get(&p->tensor, i);
    return true;
}

static void keep(struct outcome *o, struct mase_arena *a, struct mase_plan *p, struct mase_graph *g)
{
    const struct mase_plan_params params = mase_plan_params(p);
    o->count = params.n;
    o->grads = mase_arena_memdup(a, params.g, (size_t)params.n * sizeof(float));
    o->weights = mase_new_array(a, float, 4096);
    mase_plan_write_weights(p);
    mase_graph_each_param(g, keep_weight, o);
}

enum { TILES = 3, MOST = 512 };

struct rows {
    int64_t at;                   /* where the batch begins */
    float (*out)[CLASSES * MOST]; // (TILES): of the teacher
};

static void load(void *data, struct mase_plan *tile, struct mase_targets *targets, int number,
                 int64_t from, int64_t n)
{
    const struct rows *r = data;
    (void)number;
    mase_plan_gather(tile, table + (r->at + from) * FEATURES, FEATURES, NULL, n);
    targets->label = labels + r->at + from;
}

/* Samples count alike, or by their classes, or so and with a teacher: his outputs are features. */
enum how { ALIKE, WEIGHTED, TAUGHT };

static struct mase_loss_opts loss_opts(enum how how)
{
    return (struct mase_loss_opts){ .class_weight = how == ALIKE ? NULL : class_weight,
                                    .distill = 0.25f,
                                    .temperature = 2 };
}

static void fill_outputs(float *out, int64_t stride, int64_t at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < CLASSES; c++)
            out[c * stride + i] = table[(at + i) * FEATURES + c];
}

static struct mase_lanes teach(void *data, const struct mase_plan *tile, int number)
{
    const struct rows *r = data;
    fill_outputs(r->out[number], MOST, r->at + tile->first, tile->samples);
    return (struct mase_lanes){ r->out[number], CLASSES, MOST };
}

/* Batches of these sizes one after the other, the second added to the first. ranks NULL: by one
 * process. */
static struct outcome by_ranks(struct mase_arena *a, const int64_t size[2], int threads,
                               enum how how, struct mase_ranks *ranks)
{
    struct outcome o = { 0 };
    struct mase_graph *g = make_graph();
    struct mase_tiled_plan *t;
    struct mase_input in;
    const struct mase_plan_opts po = opts_of(&in, size[0], threads);
    must(mase_tiled_plan_new(&t, g, &po, &err));
    mase_tiled_plan_share(t, ranks);
    struct rows r = { .out = mase_arena_alloc(a, TILES * sizeof *r.out) };
    for (int i = 0; i < 2; i++) {
        must(mase_tiled_plan_step(t, &o.loss,
                                  &(struct mase_tiled_batch){ .samples = size[i],
                                                              .load = load,
                                                              .teach = how == TAUGHT ? teach : NULL,
                                                              .data = &r,
                                                              .loss = loss_opts(how),
                                                              .accumulate = i > 0,
                                                              .number = (uint64_t)i + 1 },
                                  &err));
        r.at += size[i] / 2;
    }
    mase_tiled_plan_match(t);
    keep(&o, a, mase_tiled_plan_first(t), g);
    mase_tiled_plan_free(t);
    mase_graph_free(g);
    return o;
}

static struct outcome by_tiles(struct mase_arena *a, const int64_t size[2], int threads,
                               enum how how)
{
    return by_ranks(a, size, threads, how, NULL);
}

static struct outcome by_plan(struct mase_arena *a, const int64_t size[2], enum how how)
{
    static float out[CLASSES * (ROWS + 16)];
    struct outcome o = { 0 };
    struct mase_graph *g = make_graph();
    struct mase_plan *p;
    struct mase_input in;
    const struct mase_plan_opts po = opts_of(&in, size[0], 1);
    struct mase_loss_opts lo = loss_opts(how);
    if (how == TAUGHT)
        lo.teacher = (struct mase_lanes){ out, CLASSES, ROWS + 16 };
    must(mase_plan_new(&p, g, &po, &err));
    int64_t at = 0;
    for (int i = 0; i < 2; i++) {
        mase_plan_gather(p, table + at * FEATURES, FEATURES, NULL, size[i]);
        mase_plan_set_step(p, (uint64_t)i); /* forward counts it */
        mase_plan_accumulate(p, i > 0);
        assert_int_equal(mase_plan_forward(p, &err), MASE_OK);
        fill_outputs(out, ROWS + 16, at, size[i]);
        mase_plan_loss(p, &o.loss, &(struct mase_targets){ .label = labels + at }, &lo);
        mase_plan_backward(p);
        at += size[i] / 2;
    }
    keep(&o, a, p, g);
    mase_plan_free(p);
    mase_graph_free(g);
    return o;
}

static void check_close(const float *got, const float *want, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-5f * fmaxf(1, fabsf(want[i]))))
            fail_msg("%s[%lld]: %.9g, not %.9g", what, (long long)i, (double)got[i],
                     (double)want[i]);
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    assert_memory_equal(a->grads, b->grads, (size_t)a->count * sizeof(float));
    assert_memory_equal(a->weights, b->weights, (size_t)a->weight_count * sizeof(float));
    assert_true(a->loss.loss == b->loss.loss && a->loss.weight == b->loss.weight);
    assert_true(a->loss.score.part == b->loss.score.part);
}

/* Even tiles, uneven ones, three of them, and a second batch of fewer tiles or of one. */
static const int64_t sizes[][2] = {
    { 1024, 1024 }, { 1024, 600 }, { 1025, 513 }, { 530, 17 }, { 513, 512 }
};

static void tiles_are_the_batch(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++)
        for (int how = ALIKE; how <= TAUGHT; how++) {
            struct mase_arena a = { 0 };
            text = texts[i % 2];
            const struct outcome t = by_tiles(&a, sizes[i / 2], 1, (enum how)how);
            const struct outcome p = by_plan(&a, sizes[i / 2], (enum how)how);
            check_close(t.grads, p.grads, p.count, "gradient");
            check_close(t.weights, p.weights, p.weight_count, "weight or statistic");
            assert_true(fabs(t.loss.loss - p.loss.loss) < 1e-4);
            assert_true(fabs(t.loss.weight - p.loss.weight) < 1e-9);
            assert_true(t.loss.score.part == p.loss.score.part);
            mase_arena_release(&a);
        }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        struct mase_arena a = { 0 };
        text = texts[i % 2];
        const struct outcome one = by_tiles(&a, sizes[i / 2], 1, TAUGHT);
        for (int threads = 2; threads <= 4; threads++) {
            const struct outcome more = by_tiles(&a, sizes[i / 2], threads, TAUGHT);
            check_same(&more, &one);
        }
        mase_arena_release(&a);
    }
}

/* What each rank of a job comes to. */
struct job {
    const int64_t *size;
    int threads;
    struct mase_arena arena[THREAD_RANKS_MOST];
    struct outcome outcome[THREAD_RANKS_MOST];
};

static void share_batches(struct mase_ranks *r, void *data)
{
    struct job *j = data;
    j->outcome[r->rank] = by_ranks(&j->arena[r->rank], j->size, j->threads, TAUGHT, r);
    mase_ranks_leave(r, 0);
}

/* More of them than tiles, too: some have nothing to do. */
static void processes_change_no_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        struct mase_arena a = { 0 };
        text = texts[i % 2];
        const struct outcome one = by_tiles(&a, sizes[i / 2], 1, TAUGHT);
        for (int n = 0; n < 8; n++) {
            const int ranks = 2 + n / 2, threads = 1 + n % 2;
            struct job j = { .size = sizes[i / 2], .threads = threads };
            assert_int_equal(thread_ranks_run(ranks, share_batches, &j), 0);
            for (int k = 0; k < ranks; k++) {
                check_same(&j.outcome[k], &one);
                mase_arena_release(&j.arena[k]);
            }
        }
        mase_arena_release(&a);
    }
}

/* Within a thread of another region, or under OMP_THREAD_LIMIT, there is none to be had. */
static void fewer_threads_do_all_of_it(void **state)
{
    struct mase_arena a = { 0 };
    (void)state;
    const struct outcome one = by_tiles(&a, sizes[1], 1, WEIGHTED);
    struct outcome within = { 0 };
#pragma omp parallel num_threads(2)
#pragma omp single
    within = by_tiles(&a, sizes[1], 2, WEIGHTED);
    check_same(&within, &one);
    mase_arena_release(&a);
}

static void one_tile_is_a_plan(void **state)
{
    static const int64_t size[2] = { 512, 77 };
    struct mase_arena a = { 0 };
    (void)state;
    for (int i = 0; i < 2; i++) {
        text = texts[i];
        const struct outcome t = by_tiles(&a, size, 2, ALIKE), p = by_plan(&a, size, ALIKE);
        check_same(&t, &p);
    }
    mase_arena_release(&a);
}

/* Each parameter is updated once, by whatever thread. */
static unsigned char updated[4096];

static void update(void *data, int64_t from, int64_t to)
{
    (void)data;
    for (int64_t i = from; i < to; i++)
        updated[i]++;
}

static void every_parameter_is_updated_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++)
        for (int64_t samples = 100; samples <= 1000; samples += 900) {
            struct mase_graph *g = make_graph();
            struct mase_tiled_plan *t;
            struct mase_input in;
            struct mase_loss_result loss;
            struct rows r = { 0 };
            const struct mase_plan_opts po = opts_of(&in, 1000, threads);
            memset(updated, 0, sizeof updated);
            must(mase_tiled_plan_new(&t, g, &po, &err));
            must(mase_tiled_plan_step(
                t, &loss,
                &(struct mase_tiled_batch){
                    .samples = samples, .load = load, .update = update, .data = &r },
                &err));
            for (int64_t i = 0; i < mase_plan_params(mase_tiled_plan_first(t)).n; i++)
                assert_int_equal(updated[i], 1);
            mase_tiled_plan_free(t);
            mase_graph_free(g);
        }
}

/* What formats learn starts by a run of the network, which a batch norm must not count. */
static void starting_changes_nothing_else(void **state)
{
    (void)state;
    const struct mase_quant q = { .kind = MASE_QUANT_lsq,
                                  .operand = { [MASE_WEIGHT] = format_of("lsq(4, 0)") } };
    struct mase_graph *g;
    struct mase_tiled_plan *t;
    struct mase_input in;
    struct mase_arena a = { 0 };
    struct outcome before = { 0 }, after = { 0 };
    struct rows r = { 0 };
    text = layers;
    g = make_graph();
    mase_module_set_quant(g, mase_graph_module(g, "a"), &q);
    must(mase_graph_learn(g, &err));
    const struct mase_plan_opts po = opts_of(&in, 600, 1);
    must(mase_tiled_plan_new(&t, g, &po, &err));
    keep(&before, &a, mase_tiled_plan_first(t), g);
    must(mase_tiled_plan_start(
        t, &(struct mase_tiled_batch){ .samples = 600, .load = load, .data = &r }, &err));
    keep(&after, &a, mase_tiled_plan_first(t), g);
    int64_t started = 0;
    for (int64_t i = 0; i < after.weight_count; i++) {
        started += isnan(before.weights[i]) && after.weights[i] > 0;
        if (!isnan(before.weights[i]) && before.weights[i] != after.weights[i])
            fail_msg("value %lld was %g, is %g", (long long)i, (double)before.weights[i],
                     (double)after.weights[i]);
    }
    assert_int_equal(started, 24); /* a scale for each output */
    mase_tiled_plan_free(t);
    mase_graph_free(g);
    mase_arena_release(&a);
}

/* Indices that pick no row, in any tile: refused with the sample's name, whoever met it, and no
 * parameter is touched. */
static const char picking[] = "mase-graph 1\n"
                              "module e = Embedding(num_embeddings=10, embedding_dim=5)\n"
                              "%x = placeholder[target=x]\n"
                              "%long = call_method[target=long](args = (%x,), kwargs = {})\n"
                              "%e = call_module[target=e](args = (%long,), kwargs = {})\n"
                              "%mean = call_method[target=mean](args = (%e, 1), kwargs = {})\n"
                              "return %mean\n";

static void load_indices(void *data, struct mase_plan *tile, struct mase_targets *targets,
                         int number, int64_t from, int64_t n)
{
    static const int32_t zeros[2048];
    const float *bad = data; /* and the sample that has it */
    const struct mase_lanes x = mase_plan_input(tile, 0);
    mase_plan_set_samples(tile, n);
    (void)number;
    targets->label = zeros;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t r = 0; r < x.rows; r++)
            x.data[r * x.stride + i] = (float)((from + i + r) % 10);
        if ((float)(from + i) >= bad[1])
            x.data[3 * x.stride + i] = bad[0];
    }
}

static void an_index_that_picks_no_row_is_refused(void **state)
{
    static const struct {
        float value;
        const char *index;
    } bad[] = { { -1, "-1" },
                { 10, "10" },
                { 99, "99" },
                { 3e9f, "3000000000" },
                { NAN, "-9223372036854775808 (what NaN becomes)" } };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int threads = 1; threads <= 3; threads++) {
            const int64_t sample = i % 2 ? 5 : 700;
            float at[2] = { bad[i].value, (float)sample };
            uint32_t row[1000];
            struct mase_graph *g;
            struct mase_tiled_plan *t;
            struct mase_input in;
            struct mase_loss_result loss;
            char message[128];
            const struct mase_plan_opts po = opts_of(&in, 1000, threads);
            must(mase_graph_parse_mg(&g, picking, sizeof picking - 1, "pick.mg", &err));
            mase_graph_init_weights(g, 7);
            must(mase_tiled_plan_new(&t, g, &po, &err));
            for (uint32_t k = 0; k < 1000; k++)
                row[k] = 5000 + k;
            memset(updated, 0, sizeof updated);
            assert_int_equal(
                mase_tiled_plan_step(t, &loss,
                                     &(struct mase_tiled_batch){ .samples = 1000,
                                                                 .load = load_indices,
                                                                 .update = update,
                                                                 .data = at,
                                                                 .row = threads > 1 ? row : NULL },
                                     &err),
                MASE_EVALUE);
            snprintf(message, sizeof message,
                     "e: embedding: index %s of sample %d (counted from 0) is outside 0..9",
                     bad[i].index, (int)sample + (threads > 1 ? 5000 : 0));
            assert_string_equal(err.msg, message);
            for (size_t k = 0; k < sizeof updated; k++)
                assert_int_equal(updated[k], 0);
            at[1] = 1e9f; /* the next batch is none the worse for it */
            must(mase_tiled_plan_step(
                t, &loss,
                &(struct mase_tiled_batch){ .samples = 1000, .load = load_indices, .data = at },
                &err));
            mase_tiled_plan_free(t);
            mase_graph_free(g);
        }
}

/* A network of x and p, eight numbers that are learned. */
#define NETWORK(body)                           \
    "mase-graph 1\nattr p = f32[8] init ones\n" \
    "%x = placeholder[target=x]\n"              \
    "%p = get_attr[target=p]\n" body

static void what_cannot_be_planned_is_refused(void **state)
{
    static const char mixing[] = "batch",
                      computed[] = "a plan needs indices and masks that are constant";
    static const struct {
        const char *text, *message;
    } cases[] = {
        { NETWORK("%view = call_method[target=view](args = (%x, 1, -1), kwargs = {})\n"
                  "return %view\n"),
          mixing },
        { NETWORK("%i = call_method[target=argsort](args = (%p,), kwargs = {})\n"
                  "%y = call_function[target=operator.getitem](args = (%x, (slice(None, None, "
                  "None), %i)), kwargs = {})\n"
                  "return %y\n"),
          computed },
        { NETWORK("%i = call_method[target=argsort](args = (%p,), kwargs = {})\n"
                  "%y = call_function[target=operator.getitem](args = (%p, %i), kwargs = {})\n"
                  "%z = call_function[target=operator.mul](args = (%x, %y), kwargs = {})\n"
                  "return %z\n"),
          computed },
        { NETWORK("%i = call_method[target=argmax](args = (%p,), kwargs = {})\n"
                  "%y = call_function[target=operator.setitem](args = (%x, (slice(None, None, "
                  "None), %i), 0.5), kwargs = {})\n"
                  "return %y\n"),
          computed },
    };
    struct mase_input in;
    const struct mase_plan_opts po = opts_of(&in, 1024, 2);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_graph *g;
        struct mase_tiled_plan *t;
        must(mase_graph_parse_mg(&g, cases[i].text, strlen(cases[i].text), "net.mg", &err));
        mase_graph_init_weights(g, 7);
        if (!mase_tiled_plan_new(&t, g, &po, &err) || !strstr(err.msg, cases[i].message))
            fail_msg("got '%s', want '%s'", err.msg, cases[i].message);
        mase_graph_free(g);
    }
}

/* One of three processes meets an index that picks no row; the batch behind it is sound. */
static void meet_bad_index(struct mase_ranks *r, void *data)
{
    float at[2] = { 10, 700 };
    struct mase_err own = { 0 };
    struct mase_graph *g;
    struct mase_tiled_plan *t;
    struct mase_input in;
    struct mase_loss_result loss;
    const struct mase_plan_opts po = opts_of(&in, 1500, 1);
    (void)data;
    must(mase_graph_parse_mg(&g, picking, sizeof picking - 1, "pick.mg", &own));
    mase_graph_init_weights(g, 7);
    must(mase_tiled_plan_new(&t, g, &po, &own));
    mase_tiled_plan_share(t, r);
    const struct mase_tiled_batch b = { .samples = 1500, .load = load_indices, .data = at };
    assert_int_equal(mase_tiled_plan_step(t, &loss, &b, &own), MASE_EVALUE);
    assert_string_equal(own.msg, r->rank ? ""
                                         : "e: embedding: index 10 of sample 700 (counted from 0) "
                                           "is outside 0..9 (on rank 1 of 3)");
    at[1] = 1e9f;
    must(mase_tiled_plan_step(t, &loss, &b, &own));
    assert_true(loss.weight == 1500);
    mase_tiled_plan_free(t);
    mase_graph_free(g);
    mase_ranks_leave(r, 0);
}

static void one_process_has_the_fault_of_all(void **state)
{
    (void)state;
    assert_int_equal(thread_ranks_run(3, meet_bad_index, NULL), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_the_batch),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(processes_change_no_bit),
        cmocka_unit_test(fewer_threads_do_all_of_it),
        cmocka_unit_test(one_tile_is_a_plan),
        cmocka_unit_test(every_parameter_is_updated_once),
        cmocka_unit_test(starting_changes_nothing_else),
        cmocka_unit_test(an_index_that_picks_no_row_is_refused),
        cmocka_unit_test(one_process_has_the_fault_of_all),
        cmocka_unit_test(what_cannot_be_planned_is_refused),
    };
    return run_cases(argc, argv, tests, make_samples, NULL);
}
