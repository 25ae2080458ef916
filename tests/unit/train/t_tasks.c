/*
 * t_tasks.c - what networks are trained for: metrics against scikit-learn's and PyTorch's
 * (tests/data/tasks/generate.py), gradients against differences, and runs of every task that come
 * to the same bits however they are run.
 */
#include "check.h"
#include "run_cases.h"

#include <unistd.h>

#include <mase/file.h>
#include <mase/task.h>

#include "evaluate/targets.h"
#include "exec/plan/plan_parts.h"

#define DATA MASE_SOURCE_DIR "/tests/data/tasks/"

static char dir[] = "/tmp/t_tasks_XXXXXX";

static struct mase_dataset *open_for(const char *task, const char *file)
{
    struct mase_dataset *d;
    const struct mase_dataset_opts o = { .target = mase_task_reads(mase_task_find(task)) };
    char path[512];
    snprintf(path, sizeof path, DATA "%s", file);
    must(mase_dataset_open(&d, path, &o, &err));
    return d;
}

static struct mase_graph *network(const char *text)
{
    struct mase_graph *g;
    must(mase_graph_parse_mg(&g, text, strlen(text), "test", &err));
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 5);
    return g;
}

/* ---- metrics ---- */

/* A network that answers what it is asked. */
static const char echo[] = "mase-graph 1\n"
                           "%x = placeholder[target=x]\n"
                           "%a = call_method[target=neg](args = (%x,), kwargs = {})\n"
                           "%b = call_method[target=neg](args = (%a,), kwargs = {})\n"
                           "return %b\n";

static const struct {
    const char *task, *loss, *file;
    double value, score;
    struct {
        const char *name;
        double value;
    } metric[6];
} known[] = {
    { "binary",
      NULL,
      "answers_binary.npz",
      0.517038828062064,
      0.75,
      { { "auc", 0.85625 },
        { "f1", 0.722222222222222 },
        { "precision", 0.8125 },
        { "recall", 0.65 },
        { "positive", 20 },
        { NULL, 0 } } },
    { "multilabel",
      NULL,
      "answers_multilabel.npz",
      0.546590420791951,
      0.678571428571428,
      { { "f1_macro", 0.675276513530685 },
        { "auc_macro", 0.819669413659184 },
        { "exact_match", 0.325 },
        { NULL, 0 } } },
    { "reg",
      NULL,
      "answers_regression.npz",
      1.93169841732433,
      0.900511513296904,
      { { "mae", 0.966972603253089 },
        { "rmse", 1.38985553829322 },
        { "r2_mean", 0.872331909592551 },
        { NULL, 0 } } },
    { "reg",
      "l1",
      "answers_regression.npz",
      0.966972603253089,
      0.900511513296904,
      { { NULL, 0 } } },
    { "reg",
      "huber",
      "answers_regression.npz",
      0.500597265680811,
      0.900511513296904,
      { { NULL, 0 } } },
    { "seg",
      NULL,
      "answers_segmentation.npz",
      0.702081234836785,
      0.719178082191781,
      { { "mean_iou", 0.556036227484315 }, { NULL, 0 } } },
    { "autoencode", NULL, "answers_regression.npz", 0, 1, { { "mae", 0 }, { NULL, 0 } } },
};

static double metric(const struct mase_evaluation *e, const char *name)
{
    for (int i = 0; i < e->metrics; i++)
        if (mase_streq(e->metric[i].name, name))
            return e->metric[i].value;
    fail_msg("there is no metric %s", name);
    return NAN;
}

static void metrics_are_those_of_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_dataset *d = open_for(known[i].task, known[i].file);
        struct mase_graph *g = network(echo);
        struct mase_objective o;
        struct mase_predictor *p;
        struct mase_evaluation e;
        uint32_t all[40];
        for (uint32_t k = 0; k < 40; k++)
            all[k] = k;
        must(mase_objective_find(&o, known[i].task, known[i].loss, 0.75, &err));
        must(mase_predictor_new(&p, g, &mase_dataset_info(d)->data.sample, NULL, &err));
        const struct mase_evaluate_opts opts = { .rows = { all, 40 },
                                                 .objective = &o,
                                                 .detail = &a };
        must(mase_evaluate_rows(&e, p, d, &opts, &err));
        check_near(e.loss, known[i].value, 2e-7, "loss", (int)i);
        check_near(e.score, known[i].score, 1e-7, "score", (int)i);
        for (int k = 0; known[i].metric[k].name; k++)
            check_near(metric(&e, known[i].metric[k].name), known[i].metric[k].value, 2e-7,
                       known[i].metric[k].name, (int)i);
        mase_predictor_free(p);
        mase_graph_free(g);
        mase_dataset_close(d);
        mase_arena_release(&a);
    }
}

/* ---- training ---- */

#define LINEAR(in, out)                                                \
    "mase-graph 1\n"                                                   \
    "module fc = Linear(in_features=" #in ", out_features=" #out ")\n" \
    "%x = placeholder[target=x]\n"                                     \
    "%y = call_module[target=fc](args = (%x,), kwargs = {})\n"         \
    "return %y\n"

static const char segments[] =
    "mase-graph 1\n"
    "module c = Conv2d(in_channels=1, out_channels=3, kernel_size=3, padding=1)\n"
    "%x = placeholder[target=x]\n"
    "%y = call_module[target=c](args = (%x,), kwargs = {})\n"
    "return %y\n";

static const char tokens[] = "mase-graph 1\n"
                             "module e = Embedding(num_embeddings=7, embedding_dim=7)\n"
                             "%x = placeholder[target=x]\n"
                             "%i = call_method[target=long](args = (%x,), kwargs = {})\n"
                             "%y = call_module[target=e](args = (%i,), kwargs = {})\n"
                             "return %y\n";

static const struct {
    const char *task, *loss, *file, *network;
    double before, after; /* a score that some epochs pass from one side to the other */
} runs[] = {
    { "reg", NULL, "numbers.npz", LINEAR(4, 2), 0.2, 0.5 },
    { "reg", "l1", "numbers.npz", LINEAR(4, 2), 0.2, 0.5 },
    { "reg", "huber", "numbers.npz", LINEAR(4, 2), 0.2, 0.5 },
    { "multilabel", NULL, "labels.npz", LINEAR(4, 2), 0.75, 0.9 },
    { "autoencode", NULL, "numbers.npz", LINEAR(4, 4), 0.3, 0.9 },
    { "seg", NULL, "maps.npz", segments, 0.6, 0.8 },
    { "lm", NULL, "tokens.npz", tokens, 6, 2.5 },
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static struct mase_train_opts opts_of(int i)
{
    struct mase_train_opts o = default_opts();
    o.task = runs[i].task;
    o.loss = runs[i].loss;
    o.learning_rate = 0.05;
    o.batch_size = 24;
    o.max_epochs = 12;
    o.threads = 1;
    return o;
}

struct notes {
    double first, last; /* scores in training */
    int epochs, die_after;
};

static enum mase_status note_epoch(void *data, const struct mase_train_epoch *e,
                                   struct mase_err *er)
{
    struct notes *n = data;
    if (n->epochs++ == 0)
        n->first = e->train_score;
    n->last = e->val_score;
    return n->epochs == n->die_after ? mase_fail(er, MASE_EIO, "killed") : MASE_OK;
}

static bool add_bytes(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    mase_str_addn(data, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

static bool saves; /* checkpoints: they take longer than the rest */

static struct notes train(char hex[65], int i, const struct mase_train_opts *o, const char *resume,
                          int die_after)
{
    struct notes n = { .die_after = die_after };
    struct mase_dataset *d = open_for(runs[i].task, runs[i].file);
    struct mase_graph *g = network(runs[i].network);
    struct mase_trainer *t;
    struct mase_str s = { 0 };
    must(mase_trainer_new(&t, g, d, o, &err));
    if (resume)
        must(mase_trainer_resume(t, resume, &err));
    const struct mase_train_env env = { .checkpoint_dir = saves ? dir : NULL,
                                        .data = &n,
                                        .on_epoch = note_epoch };
    const enum mase_status st = mase_trainer_run(t, &env, &err);
    assert_int_equal(st, die_after ? MASE_EIO : MASE_OK);
    mase_graph_each_param(g, add_bytes, &s);
    mase_sha256(hex, s.data, s.len);
    mase_str_release(&s);
    mase_trainer_free(t);
    mase_graph_free(g);
    mase_dataset_close(d);
    return n;
}

static const char *last_checkpoint(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/last.ckpt", dir);
    return path;
}

static void every_task_learns(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        char hex[65];
        const struct mase_train_opts o = opts_of(i);
        const struct notes n = train(hex, i, &o, NULL, 0);
        const bool rises = runs[i].after > runs[i].before;
        if (rises ? n.first > runs[i].before || n.last < runs[i].after
                  : n.first < runs[i].before || n.last > runs[i].after)
            fail_msg("run %d of task %s: from %g to %g", i, runs[i].task, n.first, n.last);
    }
}

static void threads_and_resuming_change_no_bit(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        char want[65], got[65];
        struct mase_train_opts o = opts_of(i);
        o.max_epochs = 4;
        train(want, i, &o, NULL, 0);
        o.threads = 3;
        train(got, i, &o, NULL, 0);
        assert_string_equal(got, want);
        saves = true;
        train(got, i, &o, NULL, 3); /* the third epoch is lost */
        saves = false;
        assert_string_not_equal(got, want);
        train(got, i, &o, last_checkpoint(), 0);
        assert_string_equal(got, want);
    }
}

static void a_checkpoint_says_its_task(void **state)
{
    (void)state;
    char hex[65];
    struct mase_arena a = { 0 };
    struct mase_checkpoint_info c;
    struct mase_train_opts o = opts_of(2);
    o.max_epochs = 1;
    o.loss_delta = 0.5;
    saves = true;
    train(hex, 2, &o, NULL, 0);
    saves = false;
    must(mase_checkpoint_info(&c, &a, last_checkpoint(), &err));
    assert_string_equal(c.task, "regression");
    assert_string_equal(c.loss, "huber");
    assert_true(c.loss_delta == 0.5 && c.data.targets == 2 && c.data.classes == 0);
    mase_arena_release(&a);
}

/* ---- gradients ---- */

static double loss_of(struct mase_plan *p, const struct mase_targets *t,
                      const struct mase_loss_opts *o)
{
    struct mase_loss_result r;
    const struct mase_lanes y = mase_plan_output(p);
    must(mase_plan_forward(p, &err));
    mase_reference_loss(&r, &y, t, o, p->samples);
    return r.loss / r.weight;
}

/* Every fifth weight, against central differences of the loss in double. */
static void check_gradients(struct mase_plan *p, const struct mase_targets *t,
                            const struct mase_loss_opts *o, int i)
{
    struct mase_loss_result r;
    const struct mase_plan_params w = mase_plan_params(p);
    must(mase_plan_forward(p, &err));
    mase_plan_loss(p, &r, t, o);
    mase_plan_backward(p);
    struct mase_arena a = { 0 };
    const float *g = mase_arena_memdup(&a, w.g, (size_t)w.n * sizeof *g);
    check_near(r.loss / r.weight, loss_of(p, t, o), 1e-6, "loss", i);
    for (int64_t k = 0; k < w.n; k += 5) {
        const float was = w.w[k], step = 1.0f / 256;
        w.w[k] = was + step;
        const double above = loss_of(p, t, o);
        w.w[k] = was - step;
        const double below = loss_of(p, t, o);
        w.w[k] = was;
        check_near(g[k], (above - below) / (2 * (double)step), 2e-3, "gradient", (int)k);
    }
    mase_arena_release(&a);
}

static void gradients_are_those_of_the_loss(void **state)
{
    (void)state;
    enum { N = 24 };
    for (int i = 0; i < RUNS; i++) {
        if (mase_streq(runs[i].loss, "l1"))
            continue; /* has corners; t_kernels.c knows its slopes */
        struct mase_dataset *d = open_for(runs[i].task, runs[i].file);
        const struct mase_shape *sample = &mase_dataset_info(d)->data.sample;
        struct mase_input in = { .name = "x", .tensor = { .dtype = MASE_F32 } };
        struct mase_graph *g = network(runs[i].network);
        struct mase_objective o;
        struct mase_target_source source;
        struct mase_target_buffer buffer;
        struct mase_predictor *shape;
        struct mase_plan *p;
        uint32_t row[N];
        for (uint32_t k = 0; k < N; k++)
            row[k] = 2 * k;
        in.tensor.shape = (struct mase_shape){ .rank = sample->rank + 1, .dim = { N } };
        memcpy(in.tensor.shape.dim + 1, sample->dim, (size_t)sample->rank * sizeof sample->dim[0]);
        must(mase_objective_find(&o, runs[i].task, runs[i].loss, 0.75, &err));
        must(mase_predictor_new(&shape, g, sample, NULL, &err));
        const struct mase_shape result = mase_predictor_result(shape);
        must(mase_target_source_init(&source, &o, d, &result, &err));
        must(mase_plan_new(
            &p, g,
            &(struct mase_plan_opts){
                .batch = N, .train = true, .threads = 1, .inputs = &in, .input_count = 1 },
            &err));
        mase_target_source_score(&source, (struct mase_split_rows){ row, N });
        mase_target_buffer_init(&buffer, &source, N);
        const struct mase_table_view table = mase_dataset_table(d);
        mase_plan_gather(p, table.data, table.stride, row, N);
        const struct mase_targets t =
            mase_targets_load(&buffer, &source, row, N, mase_plan_input(p, 0));
        const struct mase_loss_opts lo = mase_target_loss(&source);
        check_gradients(p, &t, &lo, i);
        mase_plan_free(p);
        mase_predictor_free(shape);
        mase_target_buffer_release(&buffer);
        mase_target_source_release(&source);
        mase_graph_free(g);
        mase_dataset_close(d);
    }
}

/* ---- what does not fit ---- */

static void refuse(const char *task, const char *file, const char *text,
                   const struct mase_train_opts *o, const char *message)
{
    struct mase_dataset *d = open_for(task, file);
    struct mase_graph *g = network(text);
    struct mase_trainer *t;
    assert_int_not_equal(mase_trainer_new(&t, g, d, o, &err), MASE_OK);
    if (!strstr(err.msg, message))
        fail_msg("'%s' does not say '%s'", err.msg, message);
    mase_graph_free(g);
    mase_dataset_close(d);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct mase_train_opts o = opts_of(0);
    refuse("reg", "numbers.npz", LINEAR(4, 3), &o, "3 outputs, but");
    o.task = "multilabel";
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "labels of task multilabel are 0 or 1");
    o.task = "autoencode";
    refuse("autoencode", "numbers.npz", LINEAR(4, 3), &o, "it needs 4");
    o.task = "seg";
    refuse("seg", "maps.npz", echo, &o, "for the maps [4, 3]");
    o.task = "lm";
    refuse("lm", "tokens.npz", echo, &o, "it has to give [8, tokens]");
    refuse("lm", "numbers.npz", LINEAR(4, 4), &o, "it has to give [4, tokens]");
    o.task = "cls";
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "was not opened for task classification");
    o.task = "reg";
    o.class_weights = "balanced";
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "class_weights is not for task regression");
    o.class_weights = NULL;
    o.label_smoothing = 0.1;
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "label_smoothing is not for task regression");
    o.label_smoothing = 0;
    o.distill = 0.5;
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "distill is not for task regression");
    o.distill = 0;
    o.loss = "bce";
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "task regression has mse l1 huber");
    o.loss = "huber";
    o.loss_delta = 0;
    refuse("reg", "numbers.npz", LINEAR(4, 2), &o, "loss_delta = 0 is not above 0");
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    static const char *const names[] = { "best.ckpt", "last.ckpt" };
    (void)state;
    for (int i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_those_of_others),
        cmocka_unit_test(gradients_are_those_of_the_loss),
        cmocka_unit_test(every_task_learns),
        cmocka_unit_test(threads_and_resuming_change_no_bit),
        cmocka_unit_test(a_checkpoint_says_its_task),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return run_cases(argc, argv, tests, make_dir, remove_dir);
}
