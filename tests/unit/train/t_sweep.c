/*
 * t_sweep.c - sweeps: the grid, results equal to training alone, and nothing done twice.
 */
#include "../base/check.h"
#include "run_cases.h"

#include <math.h>
#include <stdatomic.h>

#include <mase/log.h>
#include <mase/sweep.h>
#include <mase/zoo.h>

#include "base/host.h"

static struct mase_dataset *jets;

static int open_jets(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .sim_rows = 3000 };
    mase_log_set_level(MASE_CRITICAL);
    return mase_dataset_open(&jets, "jsc-sim", &opts, NULL) ? -1 : 0;
}

static int close_jets(void **state)
{
    (void)state;
    mase_dataset_close(jets);
    return 0;
}

/* A sweep over jets whose axes are written as JSON: {"batch_size": [64, 128]}. */
struct fixture {
    struct folder dir;
    struct mase_graph *network;
    struct mase_sweep_axis axes[8];
    struct mase_sweep sweep;
};

static struct mase_value *json(struct mase_arena *a, const char *text)
{
    struct mase_value *v;
    struct mase_err err;
    if (mase_json_parse(&v, a, text, strlen(text), "test", &err))
        fail_msg("%s", err.msg);
    return v;
}

static void set_axes(struct fixture *f, const char *axes)
{
    const struct mase_value *v = json(&f->dir.arena, axes);
    for (int i = 0; i < v->count; i++)
        f->axes[i] =
            (struct mase_sweep_axis){ v->keys[i], v->items[i], strchr(v->keys[i], '.') != NULL };
    f->sweep.axes = f->axes;
    f->sweep.axis_count = v->count;
}

static void set_up(struct fixture *f, const char *axes)
{
    *f = (struct fixture){ .dir = folder_make() };
    const struct mase_model *model;
    assert_int_equal(mase_zoo_find(&model, "jsc-tiny", NULL), MASE_OK);
    assert_int_equal(model->build(&f->network, &mase_dataset_info(jets)->data, NULL), MASE_OK);
    f->sweep = (struct mase_sweep){
        .network = f->network,
        .data = jets,
        .options = json(&f->dir.arena, "{\"max_epochs\": 2, \"learning_rate\": 0.01}"),
        .dir = f->dir.path,
    };
    set_axes(f, axes);
}

static void tear_down(struct fixture *f)
{
    mase_graph_free(f->network);
    folder_remove(&f->dir);
}

static void expand(struct fixture *f)
{
    struct mase_err err;
    if (mase_sweep_expand(&f->sweep, &f->dir.arena, &err))
        fail_msg("%s", err.msg);
}

/* Expand and run; returns how many were trained, not recalled. */
static int run(struct fixture *f)
{
    struct mase_err err;
    int trained = 0;
    expand(f);
    if (mase_sweep_run(&f->sweep, &err))
        fail_msg("%s", err.msg);
    for (int i = 0; i < f->sweep.count; i++)
        trained += !f->sweep.points[i].reused;
    return trained;
}

/* ---- the grid ---- */

static void last_axis_runs_fastest(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "{\"training_optimizer\": [\"adam\", \"sgd\"], \"batch_size\": [64, 128, 256]}");
    expand(&f);
    assert_int_equal(f.sweep.count, 6);
    for (int i = 0; i < 6; i++) {
        const struct mase_train_opts *o = &f.sweep.points[i].opts;
        assert_string_equal(o->optimizer, i < 3 ? "adam" : "sgd");
        assert_int_equal(o->batch_size, 64 << i % 3);
        assert_int_equal(o->max_epochs, 2);
        assert_true(o->learning_rate == 0.01);
    }
    struct mase_str label = { 0 };
    mase_sweep_label(&label, &f.sweep, &f.sweep.points[4]);
    assert_string_equal(label.data, "training_optimizer=sgd batch_size=128");
    mase_str_release(&label);
    tear_down(&f);
}

static void bad_grids_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *axes, *message;
    } cases[] = {
        { "{\"batch_size\": [64, 128, 64]}", "batch_size: 64 is given twice" },
        { "{\"batch_size\": [64, 0]}", "batch_size" },
        { "{\"training_optimizer\": [\"adam\", \"adan\"]}", "training_optimizer" },
        { "{\"bath_size\": [1, 2]}", "batch_size" },
        { "{\"seed\": [0], \"batch_size\": [1], \"max_epochs\": [1], \"max_steps\": [1], "
          "\"patience\": [1], \"momentum\": [0]}",
          "at most 5 options" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        struct mase_err err = { 0 };
        set_up(&f, cases[i].axes);
        assert_int_not_equal(mase_sweep_expand(&f.sweep, &f.dir.arena, &err), MASE_OK);
        if (!strstr(err.msg, cases[i].message))
            fail_msg("case %d: %s", i, err.msg);
        tear_down(&f);
    }
}

static void key(char out[17], const char *axes, const char *variant)
{
    struct fixture f;
    set_up(&f, axes);
    f.sweep.data_variant = variant;
    expand(&f);
    memcpy(out, f.sweep.points[0].key, 17);
    tear_down(&f);
}

static void key_is_of_what_matters(void **state)
{
    (void)state;
    char base[17], other[17];
    key(base, "{}", NULL);
    static const char *const same[] = { "{\"learning_rate\": [1e-2]}", "{\"threads\": [7]}",
                                        "{\"log_every_n_steps\": [1]}", "{\"seed\": [0]}" };
    static const char *const different[] = { "{\"learning_rate\": [0.0100001]}", "{\"seed\": [1]}",
                                             "{\"training_optimizer\": [\"sgd\"]}",
                                             "{\"max_epochs\": [3]}" };
    for (int i = 0; i < COUNT(same); i++) {
        key(other, same[i], NULL);
        assert_string_equal(other, base);
    }
    for (int i = 0; i < COUNT(different); i++) {
        key(other, different[i], NULL);
        assert_string_not_equal(other, base);
    }
    key(other, "{}", "split=mase");
    assert_string_not_equal(other, base);
}

/* ---- training ---- */

struct alone {
    double train_loss, val_loss;
};

static enum mase_status keep_losses(void *data, const struct mase_train_epoch *e,
                                    struct mase_err *err)
{
    struct alone *out = data;
    (void)err;
    *out = (struct alone){ e->train_loss, e->val_loss };
    return MASE_OK;
}

/* The same configuration by the trainer itself. */
static struct alone train_alone(const struct mase_sweep *s, const struct mase_train_opts *opts)
{
    struct alone out = { 0 };
    struct mase_graph *g;
    struct mase_trainer *t;
    const struct mase_train_env env = { .data = &out, .on_epoch = keep_losses };
    g = mase_graph_clone(s->network);
    mase_graph_init_weights(g, (uint64_t)opts->seed);
    assert_int_equal(mase_trainer_new(&t, g, jets, opts, NULL), MASE_OK);
    assert_int_equal(mase_trainer_run(t, &env, NULL), MASE_OK);
    mase_trainer_free(t);
    mase_graph_free(g);
    return out;
}

static void results_are_those_of_training_alone(void **state)
{
    (void)state;
    for (int jobs = 1; jobs <= 4; jobs += 3) {
        struct fixture f;
        set_up(&f, "{\"batch_size\": [32, 100], \"seed\": [0, 1, 2]}");
        f.sweep.jobs = jobs;
        assert_int_equal(run(&f), 6);
        for (int i = 0; i < 6; i++) {
            const struct mase_sweep_point *p = &f.sweep.points[i];
            const struct alone alone = train_alone(&f.sweep, &p->opts);
            assert_true(p->done && p->result.epochs == 2);
            assert_true(p->result.train_loss == alone.train_loss);
            assert_true(p->result.val_loss == alone.val_loss);
            assert_true(p->result.test_score > 0.2 && p->result.test_score < 1);
            for (int j = 0; j < i; j++)
                assert_true(p->result.val_loss != f.sweep.points[j].result.val_loss);
        }
        tear_down(&f);
    }
}

static void nothing_is_done_twice(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "{\"batch_size\": [32, 64]}");
    assert_int_equal(run(&f), 2);
    const struct mase_sweep_result first = f.sweep.points[1].result;
    assert_int_equal(run(&f), 0);
    assert_memory_equal(&f.sweep.points[1].result, &first, sizeof(first));

    set_axes(&f, "{\"learning_rate\": [0.01, 0.1], \"batch_size\": [64, 16]}");
    assert_int_equal(run(&f), 3);
    assert_true(f.sweep.points[0].reused && f.sweep.points[0].result.val_loss == first.val_loss);
    tear_down(&f);
}

/* A file that was cut short, or is of something else, counts for nothing and is written anew. */
static void damaged_results_run_again(void **state)
{
    (void)state;
    static const char *const damage[] = { "", "{\"result\": {\"epochs\": 2", "{\"result\": 3}",
                                          "[]", "{\"result\": {\"epochs\": \"two\"}}" };
    struct fixture f;
    set_up(&f, "{\"max_epochs\": [1]}");
    assert_int_equal(run(&f), 1);
    const double loss = f.sweep.points[0].result.val_loss;
    const char *path =
        mase_arena_printf(&f.dir.arena, "%s/%s.json", f.dir.path, f.sweep.points[0].key);
    for (int i = 0; i < COUNT(damage); i++) {
        write_text(path, damage[i], strlen(damage[i]));
        assert_int_equal(run(&f), 1);
        assert_true(f.sweep.points[0].result.val_loss == loss);
    }
    assert_int_equal(run(&f), 0);
    tear_down(&f);
}

/* A batch norm cannot train on batches of one: that configuration fails, the other is kept. */
static void one_failure_does_not_stop_the_others(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_err err = { 0 };
    set_up(&f, "{\"batch_size\": [1, 64]}");
    expand(&f);
    assert_int_equal(mase_sweep_run(&f.sweep, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "1 of 2 configurations failed, the first batch_size=1: "));
    assert_false(f.sweep.points[0].done);
    assert_true(f.sweep.points[1].done);
    assert_int_equal(folder_entries(&f.dir), 1);
    tear_down(&f);
}

/* ---- without memory ---- */

static struct {
    atomic_long alive, asked;
    long enough;
    int messages;
} memory;

static void *grant(void *user, void *p, size_t size)
{
    (void)user;
    if (!size) {
        memory.alive--;
        free(p);
        return NULL;
    }
    if (++memory.asked > memory.enough)
        return NULL;
    memory.alive += !p;
    return realloc(p, size);
}

static void count_message(void *user, enum mase_log_level level, const char *message)
{
    (void)user, (void)level, (void)message;
    memory.messages++; /* one thread at a time */
}

static enum mase_status run_sweep(void *data, struct mase_err *err)
{
    return mase_sweep_run(data, err);
}

/* Each configuration fails by itself, two side by side, and those that did not are kept. */
static void without_memory_configurations_fail_alone(void **state)
{
    (void)state;
    const struct mase_host host = { .alloc = grant, .log = count_message, .level = MASE_INFO };
    enum mase_status st = MASE_ENOMEM;
    for (long enough = 1; st; enough += 1 + enough / 4) {
        struct fixture f;
        struct mase_err err;
        set_up(&f, "{\"batch_size\": [512, 1024]}");
        f.sweep.jobs = 2;
        expand(&f);
        memory.enough = enough;
        memory.asked = memory.messages = 0;
        st = mase_guarded(&host, run_sweep, &f.sweep, &err);
        assert_true(st == MASE_OK || st == MASE_ENOMEM);
        assert_int_equal(memory.alive, 0);
        int done = 0;
        for (int i = 0; i < f.sweep.count; i++)
            done += f.sweep.points[i].done;
        assert_int_equal(folder_entries(&f.dir), done);
        if (!st)
            assert_int_equal(done, 2);
        tear_down(&f);
    }
}

/* ---- reports ---- */

static void reports_name_every_configuration(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_str out = { 0 };
    set_up(&f, "{\"training_optimizer\": [\"adam\", \"sgd\"], "
               "\"learning_rate\": [0.1, 0.001, 0.00001], \"seed\": [3]}");
    expand(&f);
    for (int i = 0; i < 6; i++) {
        f.sweep.points[i].done = i != 5;
        f.sweep.points[i].result =
            (struct mase_sweep_result){ .epochs = 2, .val_loss = 0.5 + i, .test_score = 1.0 / 3 };
    }
    const struct mase_table csv = mase_sweep_csv(&f.sweep, &f.dir.arena);
    mase_table_render(&csv, MASE_TABLE_CSV, &out);
    assert_true(mase_starts_with(out.data, "training_optimizer,learning_rate,seed,epochs,"));
    assert_non_null(strstr(out.data, "\nadam,0.001,3,2,0.0,0.0,1.5,"));
    assert_non_null(strstr(out.data, ",0.3333333333333333,"));
    assert_non_null(strstr(out.data, "\nsgd,1e-05,3,,"));
    mase_str_clear(&out);

    const struct mase_table table = mase_sweep_table(&f.sweep, &f.dir.arena);
    mase_table_render(&table, MASE_TABLE_PRETTY, &out);
    assert_non_null(strstr(out.data, " 0.3333 "));
    assert_non_null(strstr(out.data, " - "));
    mase_str_clear(&out);

    mase_sweep_svg(&out, &f.sweep);
    assert_non_null(strstr(out.data, ">learning_rate</text>"));
    assert_non_null(strstr(out.data, ">training_optimizer adam</text>"));
    assert_non_null(strstr(out.data, ">training_optimizer sgd</text>"));
    assert_null(strstr(out.data, "seed"));
    assert_non_null(strstr(out.data, ">1e-5</text>"));
    mase_str_release(&out);
    tear_down(&f);
}

static void chart_of_any_grid(void **state)
{
    (void)state;
    static const char *const axes[] = { "{}", "{\"seed\": [1]}",
                                        "{\"training_optimizer\": [\"sgd\", \"adam\"]}",
                                        "{\"momentum\": [0, 0.5], \"seed\": [4, 3, 2]}" };
    for (int i = 0; i < COUNT(axes); i++) {
        struct fixture f;
        struct mase_str out = { 0 };
        set_up(&f, axes[i]);
        expand(&f);
        mase_sweep_svg(&out, &f.sweep);
        assert_true(mase_ends_with(out.data, "</svg>\n"));
        assert_null(strstr(out.data, "nan"));
        mase_str_release(&out);
        tear_down(&f);
    }
}

/* Over formats: a network for each value, accuracy over numbers in order, the plain one a level. */
static void formats_are_an_axis(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_graph *nets[3];
    set_up(&f, "{\"linear.weight_width\": [4, 2, \"float\"], \"seed\": [0, 1]}");
    for (int i = 0; i < 3; i++)
        nets[i] = mase_graph_clone(f.network);
    f.sweep.network = NULL;
    f.sweep.networks = (const struct mase_graph *const *)nets;
    expand(&f);
    assert_int_equal(f.sweep.count, 6);
    for (int i = 0; i < 6; i++) {
        struct mase_sweep_point *p = &f.sweep.points[i];
        assert_ptr_equal(p->network, nets[i / 2]);
        assert_int_equal(mase_sweep_is_plain(&f.sweep, p), i >= 4);
        assert_int_equal(p->opts.seed, i % 2);
        p->done = true;
        p->result.test_score = 0.1 * (i + 1);
    }
    const struct mase_plot plot = mase_sweep_plot(&f.sweep, &f.dir.arena);
    const struct mase_plot_series *line = &plot.series[0], *level = &plot.series[1];
    assert_int_equal(plot.count, 2);
    assert_string_equal(plot.x_label, "linear.weight_width, 2 seeds");
    assert_string_equal(plot.y_label, "test accuracy, mean ± deviation");
    assert_string_equal(line->name, "quantised");
    assert_string_equal(mase_plot_dash(&plot, 0), "");
    assert_string_equal(mase_plot_dash(&plot, 1), "7 4");
    assert_true(line->n == 2 && line->x[0] == 2 && line->x[1] == 4);
    assert_true(fabs(line->y[0] - 0.35) < 1e-12 && fabs(line->y[1] - 0.15) < 1e-12);
    assert_string_equal(level->name, "float");
    assert_true(level->dashed && !line->dashed);
    assert_true(fabs(level->y[0] - 0.55) < 1e-12 && level->y[0] == level->y[1]);
    for (int i = 0; i < 3; i++)
        mase_graph_free(nets[i]);
    tear_down(&f);
}

/* ---- from the file again ---- */

static struct mase_sweep grid_of(struct fixture *f)
{
    struct mase_sweep again = { .axes = f->sweep.axes, .axis_count = f->sweep.axis_count };
    assert_int_equal(mase_sweep_grid(&again, &f->dir.arena, NULL), MASE_OK);
    return again;
}

static void csv_reads_back(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_str text = { 0 };
    set_up(&f, "{\"training_optimizer\": [\"adam\", \"sgd\"], \"batch_size\": [32, 64]}");
    expand(&f);
    for (int i = 0; i < f.sweep.count; i++) {
        struct mase_sweep_point *p = &f.sweep.points[i];
        p->done = i != 2;
        p->result = (struct mase_sweep_result){ .epochs = i, .val_loss = i / 3.0, .seconds = 0.1 };
    }
    f.sweep.points[1].result.train_loss = NAN;
    const struct mase_table t = mase_sweep_csv(&f.sweep, &f.dir.arena);
    mase_table_render(&t, MASE_TABLE_CSV, &text);
    const char *path = folder_at(&f.dir, "sweep.csv");
    write_text(path, text.data, text.len);
    mase_str_release(&text);

    struct mase_sweep again = grid_of(&f);
    assert_int_equal(mase_sweep_read_csv(&again, path, NULL), MASE_OK);
    assert_int_equal(again.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(again.points[i].done, i != 2);
        assert_int_equal(again.points[i].result.epochs, i != 2 ? i : 0);
        assert_true(again.points[i].result.val_loss == (i != 2 ? i / 3.0 : 0));
    }
    assert_true(isnan(again.points[1].result.train_loss));
    tear_down(&f);
}

#define HEADER                                                                          \
    "batch_size,epochs,train_loss,train_acc,val_loss,val_acc,best_val_loss,best_epoch," \
    "test_loss,test_acc,test_acc_error,seconds\n"

static void damaged_csv_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int line;
    } cases[] = {
        { "", "0 columns, a sweep of 1 options has 12", 0 },
        { "size,epochs\n", "2 columns, a sweep of 1 options has 12", 1 },
        { "width" HEADER, "expected the column 'batch_size' here", 1 },
        { HEADER "32,1,1,1,1,1,1,1,1,1,1,1\n", "1 rows, the sweep has 2 configurations", 2 },
        { HEADER "64,1,1,1,1,1,1,1,1,1,1,1\n", "expected batch_size = 32 here", 2 },
        { HEADER "32,1,1\n", "3 fields, expected 12", 2 },
        { HEADER "32,-1,1,1,1,1,1,1,1,1,1,1\n", "epochs must be a count", 2 },
        { HEADER "32,1,one,1,1,1,1,1,1,1,1,1\n", NULL, 2 },
    };
    struct fixture f;
    set_up(&f, "{\"batch_size\": [32, 64]}");
    const char *path = folder_at(&f.dir, "sweep.csv");
    for (int i = 0; i < COUNT(cases); i++) {
        struct mase_err err = { 0 };
        struct mase_sweep s = grid_of(&f);
        write_text(path, cases[i].text, strlen(cases[i].text));
        assert_int_not_equal(mase_sweep_read_csv(&s, path, &err), MASE_OK);
        if (cases[i].message)
            assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(err.loc.line, cases[i].line);
    }
    tear_down(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_axis_runs_fastest),
        cmocka_unit_test(bad_grids_are_refused),
        cmocka_unit_test(key_is_of_what_matters),
        cmocka_unit_test(results_are_those_of_training_alone),
        cmocka_unit_test(nothing_is_done_twice),
        cmocka_unit_test(damaged_results_run_again),
        cmocka_unit_test(one_failure_does_not_stop_the_others),
        cmocka_unit_test(without_memory_configurations_fail_alone),
        cmocka_unit_test(reports_name_every_configuration),
        cmocka_unit_test(chart_of_any_grid),
        cmocka_unit_test(formats_are_an_axis),
        cmocka_unit_test(csv_reads_back),
        cmocka_unit_test(damaged_csv_is_refused),
    };
    return run_cases(argc, argv, tests, open_jets, close_jets);
}
