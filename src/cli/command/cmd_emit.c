/*
 * cmd_emit.c - ch emit TARGET: a network as source of another language. ch emit c writes
 *
 *     DIR/net.c, net.h       the network
 *     DIR/net_test.c         test vectors: samples, and what the engine makes of them
 *     DIR/net.mk             make -f net.mk: both, compiled and checked
 */
#include <math.h>
#include <string.h>

#include <mase/emit.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/rng.h>

#include "cli/command/cmd_train.h"

struct job {
    struct mase_cli *c;
    const struct mase_target *target;
    const struct mase_model *model;
    struct mase_opened work; /* owns its graph */
    struct mase_data_info data;
    float *x, *y; /* test vectors */
    int64_t vectors;
    const char *source; /* where the vectors come from, for messages */
    struct mase_emitted e;
};

/* ---- the network ---- */

/* Data of which only the shape is known: "shape:3,32,32". */
static struct mase_data_info data_of_sample(struct mase_arena *a, const struct mase_shape *sample)
{
    const char *name = "shape:";
    for (int d = 0; d < sample->rank; d++)
        name = mase_arena_printf(a, "%s%s%lld", name, d ? "," : "", (long long)sample->dim[d]);
    return (struct mase_data_info){ .name = name, .sample = *sample };
}

/* Find the shape of a sample: from the given dataset, else from the weights' training, else from
 * the model's usual dataset; NULL: the network may have it. */
static enum mase_status find_data(const struct mase_data_info **info, struct job *j,
                                  struct mase_err *err)
{
    struct mase_opened *w = &j->work;
    const char *name = w->choice.data.dataset;
    *info = w->trained.data.name ? &w->trained.data : NULL;
    if (!name && !*info)
        name = j->model->dataset;
    if (name && mase_work_data_info(info, w, name, err))
        return mase_place(err, w->choice.data.at);
    return MASE_OK;
}

static enum mase_status build(struct job *j, struct mase_err *err)
{
    struct mase_opened *w = &j->work;
    const struct mase_data_info *info;
    MASE_TRY(mase_work_read_scaling(w, err));
    MASE_TRY(find_data(&info, j, err));
    if (info || w->word.kind != MASE_WORD_SOURCE)
        MASE_TRY(mase_cli_build(w, j->c, info, err));
    if (!w->has_sample)
        return mase_fail(err, MASE_EVALUE,
                         "emit needs a DATASET or --input-shape: the network does not say what "
                         "a sample is");
    j->data = info ? *info : data_of_sample(&j->c->arena, &w->sample);
    w->choice.data.dataset = j->data.name;
    return mase_cli_quantise(&w->graph, j->c, w, err);
}

/* ---- test vectors ---- */

/* Take rows of the test split, evenly spread; false: impossible. */
static bool take_rows(struct job *j, int64_t n)
{
    struct mase_dataset *d = NULL;
    struct mase_err why = { 0 }; /* samples are drawn instead */
    if (!j->data.name || mase_starts_with(j->data.name, "shape:") ||
        mase_work_open_data(&d, &j->work, &why))
        return false;
    const struct mase_split_rows rows = mase_dataset_split(d, MASE_SPLIT_TEST);
    const int64_t features = mase_shape_count(&j->data.sample);
    const bool fits =
        rows.count > 0 && mase_shape_equal(&mase_dataset_info(d)->data.sample, &j->data.sample);
    for (int64_t k = 0; fits && k < n; k++) {
        const uint32_t row = rows.row[k * rows.count / n];
        mase_dataset_batch(d, &(struct mase_batch){ .row = &row,
                                                    .n = 1,
                                                    .x = j->x + k * features,
                                                    .feature_stride = 1,
                                                    .sample_stride = features });
    }
    mase_dataset_close(d);
    return fits;
}

static void draw(struct job *j, int64_t n)
{
    const uint64_t seed = (uint64_t)mase_cli_value(j->c, MASE_CLI_seed)->i;
    struct mase_rng r = mase_rng(seed, MASE_STREAM_DUMMY, mase_rng_name("emit"));
    for (int64_t k = 0; k < n; k++)
        j->x[k] = mase_rng_normal(&r);
}

/* Make samples and their results, by integers for a quantised network. */
static enum mase_status make_vectors(struct job *j, struct mase_err *err)
{
    const int64_t n = mase_cli_value(j->c, MASE_CLI_vectors)->i,
                  features = mase_shape_count(&j->data.sample);
    const struct mase_predictor_opts opts = { .engine = mase_engine_deployed(j->work.graph) };
    struct mase_predictor *p;
    if (n == 0)
        return MASE_OK;
    j->x = mase_new_array(&j->c->arena, float, (size_t)(n * features));
    const bool rows = take_rows(j, n);
    j->source = rows ? mase_arena_printf(&j->c->arena, "test samples of %s", j->data.name)
                     : "samples drawn from the seed";
    if (!rows)
        draw(j, n * features);
    MASE_TRY(mase_predictor_new(&p, j->work.graph, &j->data.sample, &opts, err));
    j->vectors = n;
    j->y = mase_new_array(&j->c->arena, float, (size_t)(n * mase_predictor_outputs(p)));
    const enum mase_status st = mase_predictor_run(p, j->y, j->x, n, err);
    mase_predictor_free(p);
    return st;
}

/* ---- write ---- */

/* A description of the inputs, for the header. */
static const char *about(const struct job *j)
{
    struct mase_str s = { 0 };
    const struct mase_scaling *k = &j->work.trained.scaling;
    mase_str_add(&s, "A sample is ");
    mase_shape_print(&s, &j->data.sample);
    mase_str_printf(&s, " as of %s", j->data.name);
    if (j->work.trained.image.normalise)
        mase_str_add(&s, ", pixels as they were in training: (p / 255 - mean) / deviation");
    if (k->n) {
        mase_str_add(&s, ", scaled as in training, (value - mean) / deviation:");
        for (int64_t f = 0; f < k->n && f < 64; f++)
            mase_str_printf(&s, "\n%lld: mean %.9g, deviation %.9g", (long long)f, k->mean[f],
                            k->std[f]);
    }
    if (j->work.trained.target_scaling.n)
        mase_str_add(&s, "\nResults are scaled targets, as training saw them.");
    const char *text = mase_arena_strdup(&j->c->arena, mase_str_text(&s));
    mase_str_release(&s);
    return text;
}

/* Write all files or none: each is complete before it replaces an older one. */
static enum mase_status write_files(const struct job *j, const char *dir, struct mase_err *err)
{
    struct mase_writer w[MASE_EMITTED_FILES];
    enum mase_status st = MASE_OK;
    int opened = 0;
    for (; !st && opened < j->e.files; opened++) {
        const struct mase_emitted_file *f = &j->e.file[opened];
        st = mase_writer_open(&w[opened], mase_path_join(&j->c->arena, dir, f->name), err);
        if (st)
            break;
        st = mase_writer_put(&w[opened], mase_str_text(&f->text), f->text.len, err);
    }
    if (!st)
        return mase_writers_close(w, opened, err);
    while (opened)
        mase_writer_abort(&w[--opened]);
    return st;
}

/* ---- report ---- */

static void put_steps(const struct job *j)
{
    static const char *const headers[] = { "Node",          "Step",      "Type", "Values",
                                           "Multiply-adds", "Constants", NULL };
    struct mase_table t = mase_table(&j->c->arena, headers);
    t.align[0] = t.align[1] = t.align[2] = MASE_ALIGN_LEFT;
    for (int i = 0; i < j->e.count; i++) {
        const struct mase_emitted_step *s = &j->e.step[i];
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, s->from);
        mase_table_set(&t, row, 1, s->kind);
        mase_table_set(&t, row, 2, s->type);
        mase_table_setf(&t, row, 3, "%lld", (long long)s->values);
        mase_table_setf(&t, row, 4, "%lld", (long long)s->products);
        mase_table_setf(&t, row, 5, "%lld", (long long)s->bytes);
    }
    mase_sheets_add(&j->c->sheets, &(struct mase_sheet){ .key = "steps",
                                                         .title = "what a sample goes through",
                                                         .table = t,
                                                         .style = MASE_TABLE_PRETTY });
}

static void put_overall(const struct job *j, const char *dir)
{
    const struct mase_emitted *e = &j->e;
    mase_sheets_line(&j->c->sheets,
                     "%s: %s() in %s of %lld inputs and %lld outputs, %lld multiply-adds, %lld "
                     "roundings a sample",
                     dir, e->name, e->integers ? "integers" : "floats", (long long)e->inputs,
                     (long long)e->outputs, (long long)e->products, (long long)e->roundings);
    mase_sheets_line(&j->c->sheets, "constants %lld bytes, code about %lld, static memory %lld",
                     (long long)e->constants, (long long)e->code, (long long)e->memory);
    if (j->vectors)
        mase_sheets_line(&j->c->sheets, "%lld test vectors: %s; make -C %s -f %s checks them",
                         (long long)j->vectors, j->source, dir, e->makefile);
}

static void put_json(const struct job *j, const char *dir)
{
    struct mase_arena *a = &j->c->arena;
    const struct mase_emitted *e = &j->e;
    struct mase_value *t = mase_value_table(a), *steps = mase_value_list(a);
    const struct {
        const char *key;
        int64_t number;
    } numbers[] = { { "inputs", e->inputs },
                    { "outputs", e->outputs },
                    { "constant_bytes", e->constants },
                    { "code_bytes_estimated", e->code },
                    { "memory_bytes", e->memory },
                    { "products", e->products },
                    { "roundings", e->roundings },
                    { "vectors", j->vectors } };
    mase_value_set(a, t, "model", mase_value_string(a, j->model->name));
    mase_value_set(a, t, "folder", mase_value_string(a, dir));
    mase_value_set(a, t, "function", mase_value_string(a, e->name));
    mase_value_set(a, t, "arithmetic", mase_value_string(a, e->integers ? "integers" : "floats"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        mase_value_set(a, t, numbers[i].key, mase_value_int(a, numbers[i].number));
    for (int i = 0; i < e->count; i++) {
        const struct mase_emitted_step *s = &e->step[i];
        struct mase_value *v = mase_value_table(a);
        mase_value_set(a, v, "node", mase_value_string(a, s->from));
        mase_value_set(a, v, "step", mase_value_string(a, s->kind));
        mase_value_set(a, v, "type", mase_value_string(a, s->type));
        mase_value_set(a, v, "values", mase_value_int(a, s->values));
        mase_value_set(a, v, "products", mase_value_int(a, s->products));
        mase_value_set(a, v, "constant_bytes", mase_value_int(a, s->bytes));
        mase_value_push(a, steps, v);
    }
    mase_value_set(a, t, "steps", steps);
    mase_cli_put_json(t);
}

/* ---- the command ---- */

/* Options of the target, by name. */
static struct mase_value *target_options(const struct job *j)
{
    struct mase_value *t = mase_value_table(&j->c->arena);
    for (const struct mase_opt *row = j->target->rows; row->key; row++)
        for (int id = 0; id < MASE_CLI_COUNT; id++)
            if (mase_cli_options[id].opt == row)
                mase_value_set(
                    &j->c->arena, t, row->key,
                    (struct mase_value *)mase_cli_value(j->c, (enum mase_cli_option_id)id));
    return t;
}

static enum mase_status emit(struct job *j, struct mase_err *err)
{
    const struct mase_inputs in =
        mase_graph_inputs(&j->c->arena, j->work.graph, &j->data.sample, 1);
    const struct mase_emit_opts o = {
        .name = j->work.graph->name,
        .about = about(j),
        .options = target_options(j),
        .x = j->x,
        .y = j->y,
        .vectors = j->vectors,
    };
    return mase_emit(&j->e, j->target, j->work.graph, in.item, in.count, &o, err);
}

/* If the network fails on its vectors, the error of the target usually tells more. */
static enum mase_status emit_tested(struct job *j, struct mase_err *err)
{
    struct mase_err why = { 0 };
    const enum mase_status st = make_vectors(j, err);
    if (!st)
        return emit(j, err);
    j->vectors = 0;
    return emit(j, &why) ? emit(j, err) : st;
}

static enum mase_status run(struct job *j, struct mase_err *err)
{
    const char *dir = mase_cli_text(j->c, MASE_CLI_output);
    MASE_TRY(build(j, err));
    MASE_TRY(emit_tested(j, err));
    MASE_TRY(write_files(j, dir, err));
    if (mase_cli_wants_json(j->c)) {
        put_json(j, dir);
        return MASE_OK;
    }
    put_steps(j);
    put_overall(j, dir);
    return MASE_OK;
}

static enum mase_status find_target(struct job *j, struct mase_err *err)
{
    const char *word = j->c->operand_count ? j->c->operands[0] : NULL;
    j->target = word ? mase_target_find(word) : NULL;
    if (j->target)
        return MASE_OK;
    const char *names = NULL;
    for (const struct mase_target *t = mase_targets; t->name; t++)
        names = names ? mase_arena_printf(&j->c->arena, "%s|%s", names, t->name) : t->name;
    return mase_fail(err, MASE_EVALUE, "emit what? %s%s%sch emit %s MODEL", word ? "'" : "",
                     word ? word : "", word ? "' is not there; " : "", names);
}

enum mase_status mase_cli_emit(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c };
    MASE_TRY(find_target(&j, err));
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    if (j.work.source == MASE_WEIGHTS_SEED)
        return mase_fail(err, MASE_EVALUE,
                         "emit needs --load PATH: the weights, or a folder that was saved");
    if (!mase_cli_text(c, MASE_CLI_output))
        return mase_fail(err, MASE_EVALUE, "emit needs --output DIR: the folder to write to");
    if (j.work.word.kind == MASE_WORD_NONE)
        return mase_fail(err, MASE_EVALUE, "No model provided! It is required.");
    j.model = mase_cli_named_model(c, &j.work);
    const enum mase_status st = run(&j, err);
    mase_emitted_release(&j.e);
    mase_work_close(&j.work);
    return st;
}
