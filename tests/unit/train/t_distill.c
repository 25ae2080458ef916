/*
 * t_distill.c - a quantised network that learns from the float one it was: the loss against
 * PyTorch's, who the teacher is, and runs that are resumed.
 */
#include "check.h"
#include "run_cases.h"

#include <unistd.h>

#include <mase/call.h>
#include <mase/log.h>
#include <mase/torch.h>

#include "formats.h"
#include "graph_text.h"

enum { ROWS = 3000, EPOCHS = 3 };

static char dir[] = "/tmp/t_distill_XXXXXX";
static struct mase_dataset *jets;

static const char *file(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* ---- the loss ---- */

/* By PyTorch, in double: (1 - a) F.cross_entropy(z, y, weight, label_smoothing) +
 * a T T F.kl_div(log_softmax(z / T), log_softmax(t / T), 'batchmean', log_target), and d/dz. */
enum { SAMPLES = 3, CLASSES = 4 };
static const float own[SAMPLES][CLASSES] = { { 1.5f, -0.5f, 0.25f, 2 },
                                             { -1, 0.75f, 3, -2.5f },
                                             { 0, 0.5f, -0.25f, 1 } };
static const float other[SAMPLES][CLASSES] = { { 2, 0.5f, -1, 1.25f },
                                               { 0.25f, -0.75f, 1.5f, -3 },
                                               { 4, -2, 0, 0.5f } };
static const int32_t label[SAMPLES] = { 3, 2, 0 };
static const float class_weight[CLASSES] = { 0.5f, 1, 2, 1.5f };
static const struct golden {
    struct mase_loss_opts opts;
    double loss, gradient[SAMPLES][CLASSES];
} golden[] = {
    { { .distill = 0.25f, .temperature = 2 },
      0.938382476,
      { { 0.063765261, -0.002783900, 0.035710108, -0.096691469 },
        { -0.026531082, 0.031338388, -0.003766555, -0.001040751 },
        { -0.297358091, 0.105403713, 0.045626756, 0.146327622 } } },
    { { .distill = 0.75f, .temperature = 4, .class_weight = class_weight, .smoothing = 0.125f },
      1.182084836,
      { { -0.017599138, -0.053143444, 0.057368999, 0.013373583 },
        { -0.109697888, 0.052323157, 0.068074910, -0.010700179 },
        { -0.290784474, 0.156974467, 0.033208181, 0.100601827 } } },
    { { .distill = 1, .temperature = 1, .class_weight = class_weight },
      0.715940799,
      { { -0.082433124, -0.027924133, 0.021593448, 0.088763810 },
        { -0.062655558, 0.006110660, 0.057976330, -0.001431432 },
        { -0.262923196, 0.088636436, 0.036431243, 0.137855517 } } },
};

/* A network that returns what it is given. */
static struct mase_graph *identity(void)
{
    struct mase_graph *g = mase_graph_new("identity");
    mase_build_input(g, "x", NULL);
    text_module(g, "fc = Linear(4, 4, bias=False)");
    mase_build_output(g, text_call(g, "fc(x)"));
    mase_graph_init_weights(g, 1);
    struct mase_tensor *w = &mase_module_param(mase_graph_module(g, "fc"), "weight")->tensor;
    for (int i = 0; i < CLASSES * CLASSES; i++)
        mase_f32(w)[i] = i % (CLASSES + 1) ? 0.0f : 1.0f;
    return g;
}

static void loss_and_gradient_are_pytorchs(void **state)
{
    (void)state;
    struct mase_graph *g = identity();
    struct mase_plan *p;
    struct mase_loss_result r;
    float teacher[CLASSES][16];
    const struct mase_input in = { "x", { MASE_F32, { 2, { 1, CLASSES } }, NULL } };
    const struct mase_plan_opts po = { .batch = 8, .train = true, .inputs = &in, .input_count = 1 };
    must(mase_plan_new(&p, g, &po, &err));
    for (size_t k = 0; k < sizeof golden / sizeof golden[0]; k++) {
        struct mase_loss_opts o = golden[k].opts;
        o.teacher = (struct mase_lanes){ teacher[0], CLASSES, 16 };
        for (int c = 0; c < CLASSES; c++)
            for (int i = 0; i < 16; i++)
                teacher[c][i] = i < SAMPLES ? other[i][c] : NAN;
        mase_plan_gather(p, own[0], CLASSES, NULL, SAMPLES);
        must(mase_plan_forward(p, &err));
        mase_plan_loss(p, &r, &(struct mase_targets){ .label = label }, &o);
        check_near(r.loss / r.weight, golden[k].loss, 2e-6, "loss", (long long)k);
        const float *d = mase_plan_output_gradient(p);
        const int64_t stride = mase_plan_output(p).stride;
        for (int i = 0; i < SAMPLES * CLASSES; i++)
            check_near(d[i % CLASSES * stride + i / CLASSES],
                       golden[k].gradient[i / CLASSES][i % CLASSES], 2e-7, "gradient", i);
        for (int c = 0; c < CLASSES; c++)
            assert_true(d[c * stride + SAMPLES] == 0);
    }
    mase_plan_free(p);
    mase_graph_free(g);
}

/* ---- the teacher ---- */

static struct mase_train_opts quick_opts(void)
{
    struct mase_train_opts o = default_opts();
    o.learning_rate = 0.01;
    o.schedule = "constant";
    o.batch_size = 700; /* two tiles, and at the end one */
    o.max_epochs = EPOCHS;
    o.threads = 1;
    o.seed = 3;
    o.distill = 0.5;
    return o;
}

/* jsc-toy, which has batch norms. */
static struct mase_graph *network(bool quantised)
{
    struct mase_graph *g = build("jsc-toy", 3);
    struct mase_quant q = { .kind = MASE_QUANT_integer };
    for (int i = 0; i < MASE_DATA_OUT; i++)
        q.operand[i] = integer_format(5, 3);
    for (struct mase_module *m = g->modules; quantised && m; m = m->next)
        if (mase_streq(mase_ops[m->op].name, "linear"))
            mase_module_set_quant(g, m, &q);
    return g;
}

struct outcome {
    double train_loss[EPOCHS];
    int epochs, die_after;
    char weights[65];
};

static enum mase_status note_epoch(void *data, const struct mase_train_epoch *e, struct mase_err *x)
{
    struct outcome *n = data;
    n->train_loss[e->epoch] = e->train_loss;
    return ++n->epochs == n->die_after ? mase_fail(x, MASE_EIO, "killed") : MASE_OK;
}

static bool add_bytes(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    mase_str_addn(data, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

static struct outcome train(const struct mase_train_opts *o, bool resume, int die_after)
{
    struct outcome n = { .die_after = die_after };
    struct mase_graph *g = network(true);
    struct mase_trainer *t;
    struct mase_str bytes = { 0 };
    must(mase_trainer_new(&t, g, jets, o, &err));
    if (resume)
        must(mase_trainer_resume(t, file("last.ckpt"), &err));
    const struct mase_train_env env = { .checkpoint_dir = dir, .data = &n, .on_epoch = note_epoch };
    const enum mase_status st = mase_trainer_run(t, &env, &err);
    if (!die_after)
        must(st);
    mase_graph_each_param(g, add_bytes, &bytes);
    mase_sha256(n.weights, bytes.data, bytes.len);
    mase_str_release(&bytes);
    mase_trainer_free(t);
    mase_graph_free(g);
    return n;
}

static double *outputs_of(bool quantised, const float *x, int64_t rows)
{
    struct mase_graph *g = network(quantised);
    struct mase_predictor *p;
    float *y = calloc((size_t)rows * 5, sizeof *y);
    double *wide = calloc((size_t)rows * 5, sizeof *wide);
    must(mase_predictor_new(&p, g, &mase_dataset_info(jets)->data.sample, NULL, &err));
    must(mase_predictor_run(p, y, x, rows, &err));
    for (int64_t i = 0; i < rows * 5; i++)
        wide[i] = y[i];
    mase_predictor_free(p);
    mase_graph_free(g);
    free(y);
    return wide;
}

static double log_sum(const double *x, double T)
{
    double sum = 0;
    for (int c = 0; c < 5; c++)
        sum += exp(x[c] / T);
    return log(sum);
}

/* Nothing is learned with a rate of 0, and frozen batch norms compute as in evaluation: the loss is
 * the distance of the initial network in five bits from itself in float. */
static void the_teacher_is_the_float_network(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    const struct mase_split_rows rows = mase_dataset_split(jets, MASE_SPLIT_TRAIN);
    const struct mase_table_view table = mase_dataset_table(jets);
    float *x = calloc((size_t)rows.count * 16, sizeof *x);
    double kl = 0;
    o.learning_rate = 0;
    o.distill = 1;
    o.distill_temperature = 3;
    o.freeze_bn_stats_after = 0;
    o.max_epochs = 1;
    for (int64_t i = 0; i < rows.count; i++)
        memcpy(x + i * 16, table.data + rows.row[i] * table.stride, 16 * sizeof *x);
    double *plain = outputs_of(false, x, rows.count), *coarse = outputs_of(true, x, rows.count);
    for (int64_t i = 0; i < rows.count * 5; i++) {
        const double *t = plain + i / 5 * 5, *z = coarse + i / 5 * 5;
        const double r = plain[i] / 3 - log_sum(t, 3), q = coarse[i] / 3 - log_sum(z, 3);
        kl += exp(r) * (r - q);
    }
    const double want = 9 * kl / (double)rows.count;
    assert_true(want > 1e-4);
    check_near(train(&o, false, 0).train_loss[0], want, 2e-6, "loss", 0);
    free(plain);
    free(coarse);
    free(x);
}

/* Nobody asks a teacher: the bytes are those of a run without one. */
static void a_weight_of_zero_is_none(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_torch f;
    o.distill = 0;
    const struct outcome without = train(&o, false, 0);
    o.distill_temperature = 7;
    assert_string_equal(train(&o, false, 0).weights, without.weights);
    must(mase_torch_open(&f, file("last.ckpt"), &err));
    assert_null(mase_obj_get(f.root, "teacher_state_dict"));
    mase_torch_close(&f);
    o.distill = 0.5;
    assert_string_not_equal(train(&o, false, 0).weights, without.weights);
}

/* Tensors of a dict of the checkpoint, one behind the other. */
static void read_dict(struct mase_str *bytes, const char *key)
{
    struct mase_torch f;
    must(mase_torch_open(&f, file("last.ckpt"), &err));
    const struct mase_obj *d = mase_obj_get(f.root, key);
    assert_non_null(d);
    for (int i = 0; i < d->count; i++)
        mase_str_addn(bytes, d->items[i]->tensor->data,
                      (size_t)mase_tensor_bytes(d->items[i]->tensor));
    mase_torch_close(&f);
}

/* As it was evaluated last: an average, where there is one. It does not change any more. */
static void it_is_taken_when_the_formats_come_on(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct mase_train_opts o = quick_opts();
        struct mase_str float_weights = { 0 }, teacher = { 0 };
        o.quantize_after = 1;
        o.average_weights = k ? 0.9 : 0;
        train(&o, false, 2); /* killed in the second, which has no checkpoint */
        read_dict(&float_weights, "state_dict");
        train(&o, false, 0);
        read_dict(&teacher, "teacher_state_dict");
        assert_int_equal(teacher.len, float_weights.len);
        assert_memory_equal(teacher.data, float_weights.data, teacher.len);
        mase_str_release(&float_weights);
        mase_str_release(&teacher);
    }
}

/* ---- going on ---- */

/* Killed before and after the formats come on, and in the middle of an epoch. */
static void a_killed_run_goes_on(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    o.quantize_after = 1;
    o.average_weights = 0.9;
    const struct outcome whole = train(&o, false, 0);
    for (int die = 2; die <= EPOCHS; die++)
        for (o.threads = 1; o.threads <= 2; o.threads++) {
            train(&o, false, die);
            assert_string_equal(train(&o, true, 0).weights, whole.weights);
        }
    o.max_steps = 5; /* of three an epoch */
    train(&o, false, 0);
    o.max_steps = -1;
    assert_string_equal(train(&o, true, 0).weights, whole.weights);
}

static void a_checkpoint_needs_the_teacher(void **state)
{
    (void)state;
    struct mase_train_opts o = quick_opts();
    struct mase_torch f;
    struct mase_trainer *t;
    struct mase_arena a = { 0 };
    struct mase_graph *g = network(true);
    train(&o, false, 2);
    must(mase_torch_open(&f, file("last.ckpt"), &err));
    struct mase_obj *dict = (struct mase_obj *)mase_obj_get(f.root, "teacher_state_dict");
    dict->keys[0] = mase_obj_text(&a, "another");
    must(mase_torch_write(f.root, file("less.ckpt"), &err));
    mase_torch_close(&f);
    must(mase_trainer_new(&t, g, jets, &o, &err));
    assert_int_equal(mase_trainer_resume(t, file("less.ckpt"), &err), MASE_EPARSE);
    assert_non_null(
        strstr(err.msg, "of teacher_state_dict is missing or of another type or shape"));
    mase_trainer_free(t);
    mase_graph_free(g);
    mase_arena_release(&a);
    unlink(file("less.ckpt"));
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        bool quantised;
        double distill, temperature;
        const char *message;
    } cases[] = {
        { false, 0.5, 2,
          "distill = 0.5: the network has no number formats, and so no float network" },
        { true, 1.5, 2, "distill = 1.5 is outside 0..1" },
        { true, NAN, 2, "distill = nan is outside 0..1" },
        { true, 0.5, 0, "distill_temperature = 0 is not above 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_train_opts o = quick_opts();
        struct mase_graph *g = network(cases[i].quantised);
        struct mase_trainer *t;
        o.distill = cases[i].distill;
        o.distill_temperature = cases[i].temperature;
        assert_int_equal(mase_trainer_new(&t, g, jets, &o, &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, cases[i].message));
        mase_graph_free(g);
    }
}

static int open_data(void **state)
{
    (void)state;
    mase_log_set_level(MASE_ERROR);
    if (!mkdtemp(dir))
        return 1;
    must(
        mase_dataset_open(&jets, "jsc-sim", &(struct mase_dataset_opts){ .sim_rows = ROWS }, &err));
    return 0;
}

static int close_data(void **state)
{
    (void)state;
    mase_dataset_close(jets);
    unlink(file("best.ckpt"));
    unlink(file("last.ckpt"));
    assert_int_equal(rmdir(dir), 0);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_and_gradient_are_pytorchs),
        cmocka_unit_test(the_teacher_is_the_float_network),
        cmocka_unit_test(a_weight_of_zero_is_none),
        cmocka_unit_test(it_is_taken_when_the_formats_come_on),
        cmocka_unit_test(a_killed_run_goes_on),
        cmocka_unit_test(a_checkpoint_needs_the_teacher),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return run_cases(argc, argv, tests, open_data, close_data);
}
