/*
 * cmd_predict.c - ch predict: a network's outputs for samples in a NumPy file or a file of data.
 *
 * The network is built for the dataset that is named, else for the one its checkpoint was trained
 * on, else for its usual one. Several inputs come in a .npz, several results go to one
 * (predict_many.h).
 *
 *     Y.npy                                the outputs, (samples, outputs)
 *     PROJECT/software/predict/run.json
 */
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/npy.h>
#include <mase/program.h>
#include <mase/progress.h>
#include <mase/run.h>

#include "cli/command/cmd_train.h"
#include "cli/predict_many.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    struct mase_opened work; /* owns its graph */
    struct mase_data_info data;
    struct mase_tensor x, y;
    struct mase_tensor given;      /* samples as the file has them */
    struct mase_cli_arrays arrays; /* arrays of a .npz, or the samples by the name of the input */
    bool table;                    /* the samples are unscaled rows of a data file */
    struct mase_cli_many many;
    struct mase_predictor *predictor; /* owned */
    const char *project_dir;
    int threads;
    double seconds;   /* of computation */
    uint64_t started; /* by mase_clock */
};

static enum mase_status need(const struct mase_cli *c, enum mase_cli_option_id id,
                             struct mase_err *err)
{
    if (mase_cli_text(c, id))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "predict needs %s %s", mase_cli_options[id].spellings,
                     mase_cli_options[id].metavar);
}

/* The scaling of pixels in training, by channel. */
static struct mase_scaling pixel_scaling(const struct job *j)
{
    const struct mase_shape *s = &j->data.sample;
    const int64_t n = mase_shape_count(s), plane = s->rank == 3 ? s->dim[1] * s->dim[2] : n;
    double *mean = mase_new_array(&j->c->arena, double, (size_t)n),
           *std = mase_new_array(&j->c->arena, double, (size_t)n);
    for (int64_t f = 0; f < n; f++) {
        const int64_t c = f / plane % 3;
        mean[f] = 255 * j->work.trained.image.mean[c];
        std[f] = 255 * j->work.trained.image.std[c];
    }
    return (struct mase_scaling){ n, mean, std };
}

static enum mase_status read_checkpoint(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_work_read_scaling(&j->work, err));
    const bool raw = mase_cli_flag(j->c, MASE_CLI_raw);
    if (raw && !j->work.trained.scale && !j->work.trained.image.normalise)
        return mase_fail_in(
            err, MASE_EVALUE, mase_cli_text(j->c, MASE_CLI_load_name),
            "--raw: this file does not say how its training data was scaled; --scaling can");
    return MASE_OK;
}

/* ---- the samples ---- */

/* The shape of one sample. */
static struct mase_shape sample_of(const struct mase_shape *all)
{
    struct mase_shape s = { .rank = all->rank - 1 };
    for (int i = 0; i < s.rank; i++)
        s.dim[i] = all->dim[i + 1];
    return s;
}

static enum mase_status check_samples(const struct job *j, struct mase_err *err)
{
    const struct mase_shape sample = sample_of(&j->x.shape);
    if (j->arrays.count || mase_shape_equal(&sample, &j->data.sample))
        return MASE_OK;
    struct mase_str got = { 0 }, want = { 0 };
    mase_shape_print(&got, &j->x.shape);
    mase_shape_print(&want, &j->data.sample);
    const enum mase_status st =
        mase_fail_in(err, MASE_EVALUE, mase_cli_text(j->c, MASE_CLI_input),
                     "its shape is %s; expected a row of samples, each %s as of %s",
                     mase_str_text(&got), mase_str_text(&want), j->data.name);
    mase_str_release(&got);
    mase_str_release(&want);
    return st;
}

/* Read a data file; its columns are scaled as in training. */
static enum mase_status read_table(struct job *j, struct mase_err *err)
{
    const char *path = mase_cli_text(j->c, MASE_CLI_input);
    MASE_TRY(mase_cli_read_table(&j->x, j->c, &j->work.trained, path, err));
    j->given = j->x;
    j->table = true;
    j->arrays.count = 0;
    if (j->work.trained.scaling.n)
        mase_info("The features are scaled as in training");
    return MASE_OK;
}

static enum mase_status read_samples(struct job *j, struct mase_err *err)
{
    const char *path = mase_cli_text(j->c, MASE_CLI_input);
    struct mase_tensor t;
    const bool several = strchr(path, ';') && !mase_is_file(path);
    if (!several && mase_cli_is_table(path))
        return read_table(j, err);
    if (mase_ends_with(path, ".npz") || several) {
        MASE_TRY(several ? mase_cli_read_files(&j->arrays, &j->c->arena, path, err)
                         : mase_cli_read_arrays(&j->arrays, &j->c->arena, path, err));
        j->x = j->arrays.items[0].tensor;
        return MASE_OK;
    }
    MASE_TRY(mase_npy_read(&t, &j->c->arena, path, err));
    j->x = j->given = t;
    if (t.shape.rank < 1)
        return mase_fail_in(err, MASE_EVALUE, path, "it holds a single number; expected samples");
    if (t.dtype == MASE_F32)
        return MASE_OK;
    j->x = mase_tensor(&j->c->arena, MASE_F32, &t.shape, true);
    for (int64_t i = 0; i < mase_tensor_count(&t); i++)
        mase_tensor_set(&j->x, i, mase_tensor_get(&t, i));
    return MASE_OK;
}

/* Take the shape of a sample from the given samples, if nothing else tells it. */
static void find_by_samples(struct job *j)
{
    struct mase_data_array *others =
        mase_new_array(&j->c->arena, struct mase_data_array, (size_t)j->arrays.count);
    j->data = (struct mase_data_info){ .name = "samples", .sample = sample_of(&j->x.shape) };
    for (int i = 0; i < j->arrays.count; i++) {
        const struct mase_named_tensor *x = &j->arrays.items[i];
        const struct mase_shape one =
            x->tensor.shape.rank ? sample_of(&x->tensor.shape) : (struct mase_shape){ 0 };
        if (x->name)
            others[j->data.other_count++] = (struct mase_data_array){ x->name, one };
        else if (i && j->data.more_count < MASE_MORE_INPUTS)
            j->data.more[j->data.more_count++] = one;
    }
    j->data.others = others;
}

static enum mase_status find_data(struct job *j, struct mase_err *err)
{
    const struct mase_value *name = mase_cli_value(j->c, MASE_CLI_dataset);
    const struct mase_data_info *info = &j->work.trained.data;
    if (name->kind != MASE_NONE || !info->name) {
        const char *which = name->kind != MASE_NONE ? name->s : j->model->dataset;
        if (which && mase_work_data_info(&info, &j->work, which, err))
            return mase_place(err, name->at);
        if (!which) {
            find_by_samples(j);
            info = &j->data;
        }
    }
    j->data = *info;
    j->work.choice.data.dataset = info->name;
    if (name->kind == MASE_NONE) /* names the project, and goes to run.json */
        j->c->setting[MASE_CLI_dataset].dflt = mase_value_string(&j->c->arena, info->name);
    return MASE_OK;
}

/* ---- the run ---- */

static struct mase_value *results(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a);
    const char *input = mase_cli_text(j->c, MASE_CLI_input);
    mase_value_set(a, v, "input", mase_value_string(a, input));
    if (!j->predictor) {
        mase_value_set(a, v, "samples", mase_value_int(a, j->many.samples));
        mase_value_set(a, v, "results", mase_value_int(a, j->many.results));
        mase_value_set(a, v, "planned", mase_value_bool(a, false));
        return v;
    }
    mase_value_set(a, v, "samples", mase_value_int(a, j->y.shape.dim[0]));
    mase_value_set(a, v, "outputs", mase_value_int(a, mase_predictor_outputs(j->predictor)));
    mase_value_set(a, v, "planned", mase_value_bool(a, mase_predictor_planned(j->predictor)));
    mase_value_set(a, v, "seconds", mase_value_float(a, j->seconds));
    return v;
}

static enum mase_status record(const struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *files = mase_value_list(a);
    const char *output = mase_path_absolute(a, mase_cli_text(j->c, MASE_CLI_output));
    mase_value_push(a, files, mase_value_string(a, output));
    struct mase_cli_claim claim;
    MASE_TRY(mase_cli_claim(&claim, j->c, j->project_dir, false, err));
    const enum mase_status st = mase_cli_record(
        &(struct mase_cli_record){ .c = j->c,
                                   .project_dir = j->project_dir,
                                   .name = "software/predict/run.json",
                                   .model = j->model,
                                   .graph = j->work.graph,
                                   .weights = j->work.source,
                                   .dataset = mase_cli_data_shape(a, &j->data),
                                   .isa =
                                       j->predictor ? mase_predictor_isa(j->predictor) : "scalar",
                                   .threads = j->threads,
                                   .results = results(j),
                                   .files = files,
                                   .started = j->started },
        err);
    mase_cli_unclaim(&claim);
    return st;
}

/* Convert targets that were scaled in training back to the units of the data. */
static enum mase_status scale_back(struct job *j, struct mase_err *err)
{
    const struct mase_scaling *s = &j->work.trained.target_scaling;
    const int64_t outputs = mase_predictor_outputs(j->predictor);
    if (!s->n)
        return MASE_OK;
    if (s->n != outputs)
        return mase_fail(err, MASE_EVALUE,
                         "the network has %lld outputs, but its checkpoint scaled %lld targets",
                         (long long)outputs, (long long)s->n);
    for (int64_t i = 0; i < mase_tensor_count(&j->y); i++)
        mase_tensor_set(&j->y, i,
                        mase_tensor_get(&j->y, i) * s->std[i % outputs] + s->mean[i % outputs]);
    return MASE_OK;
}

/* ---- several inputs or results ---- */

/* Does the network return anything but one tensor? */
static bool has_results(const struct job *j)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_err err;
    const struct mase_inputs in = mase_graph_inputs(&a, j->work.graph, &j->data.sample, 1);
    const bool many = !mase_infer_shapes(&v, &a, j->work.graph, in.item, in.count, &err) &&
                      mase_run_output(&v, j->work.graph)->kind != MASE_ARG_TENSOR;
    mase_arena_release(&a);
    return many;
}

static int count_inputs(const struct mase_graph *g)
{
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        count += n->kind == MASE_PLACEHOLDER;
    return count;
}

/* The samples of a single input, for a network with several results. */
static void give_single(struct job *j)
{
    const struct mase_inputs in =
        mase_graph_inputs(&j->c->arena, j->work.graph, &j->data.sample, 1);
    j->arrays.items = mase_new(&j->c->arena, struct mase_named_tensor);
    j->arrays.items[0] = (struct mase_named_tensor){
        in.item[0].name,
        in.item[0].tensor.dtype == MASE_F32 ? j->x : mase_cli_as_input(&j->c->arena, &j->given)
    };
    j->arrays.count = 1;
}

/* Does the file have arrays of a dataset, X and y, rather than one named as the only input? */
static bool has_data(const struct job *j)
{
    const struct mase_node *n = j->work.graph->first;
    while (n->kind != MASE_PLACEHOLDER)
        n = n->next;
    for (int i = 0; i < j->arrays.count; i++)
        if (!j->arrays.items[i].name || mase_streq(j->arrays.items[i].name, n->target))
            return false;
    return j->arrays.count > 0;
}

/* Choose between the fast way, for one input and one result, whose samples are j->x, and the
 * general one. */
static enum mase_status choose_way(struct job *j, bool *many, struct mase_err *err)
{
    const char *input = mase_cli_text(j->c, MASE_CLI_input);
    const int inputs = count_inputs(j->work.graph);
    if (!inputs)
        return mase_fail(err, MASE_EUNSUPPORTED, "the network has no input");
    if (inputs == 1 && has_data(j)) {
        MASE_TRY(read_table(j, err));
        MASE_TRY(check_samples(j, err));
    }
    if (!j->table && !mase_cli_flag(j->c, MASE_CLI_raw) && j->work.trained.scaling.n)
        mase_info("The samples are taken as scaled already; --raw scales them");
    if (!j->arrays.count && inputs > 1)
        return mase_fail_in(err, MASE_EVALUE, input,
                            "the network has several inputs: give a .npz file that has an array "
                            "for each, by its name, or --input for each");
    if (!j->arrays.count) {
        *many = has_results(j);
        if (*many)
            give_single(j);
        return MASE_OK;
    }
    MASE_TRY(mase_cli_order_arrays(&j->arrays, &j->c->arena, j->work.graph, input, err));
    if (!j->arrays.count)
        return mase_fail_in(err, MASE_EVALUE, input, "it has no array that the network takes");
    j->data.sample = sample_of(&j->arrays.items[0].tensor.shape);
    const struct mase_tensor all = mase_cli_join_arrays(&j->c->arena, &j->arrays);
    *many = has_results(j) || !all.data || j->arrays.count != inputs;
    if (!*many)
        j->x = all;
    return MASE_OK;
}

static enum mase_status predict_many(struct job *j, struct mase_err *err)
{
    const char *input = mase_cli_text(j->c, MASE_CLI_input);
    if (mase_cli_flag(j->c, MASE_CLI_raw))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "--raw is for networks of one input and one result");
    const struct mase_engine *engine = mase_engine_find(mase_cli_text(j->c, MASE_CLI_engine));
    if (!engine->several)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "--engine %s is for networks of one input and one result", engine->name);
    if (j->work.trained.target_scaling.n)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "the checkpoint scaled its targets, and the network has several inputs or "
                         "results");
    if (mase_graph_draws(j->work.graph))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s draws numbers, and the network has several inputs or results",
                         mase_graph_draws(j->work.graph)->name);
    j->many =
        (struct mase_cli_many){ .input = input, .output = mase_cli_text(j->c, MASE_CLI_output) };
    MASE_TRY(mase_cli_predict_many(&j->many, &j->c->arena, j->work.graph, &j->arrays, err));
    mase_info("%d result%s of %s for %lld samples written to %s, by the reference", j->many.results,
              j->many.results == 1 ? "" : "s", j->model->name, (long long)j->many.samples,
              j->many.output);
    return record(j, err);
}

static enum mase_status predict(struct job *j, struct mase_err *err)
{
    const int asked = (int)mase_cli_value(j->c, MASE_CLI_threads)->i;
    bool many = false;
    MASE_TRY(mase_cli_build(&j->work, j->c, &j->data, err));
    if (mase_graph_param_count(j->work.graph))
        MASE_TRY(need(j->c, MASE_CLI_load_name, err));
    MASE_TRY(choose_way(j, &many, err));
    j->work.sample = j->data.sample;
    MASE_TRY(mase_cli_quantise(&j->work.graph, j->c, &j->work, err));
    if (many)
        return predict_many(j, err);
    const int64_t n = j->x.shape.dim[0];
    j->threads = mase_predict_threads(j->work.graph, &j->data.sample, n, asked);
    if (j->work.trained.image.normalise)
        j->work.trained.scaling = pixel_scaling(j);
    const struct mase_cli_setting *batch = &j->c->setting[MASE_CLI_batch_size];
    const struct mase_engine *engine = mase_engine_find(mase_cli_text(j->c, MASE_CLI_engine));
    const struct mase_predictor_opts opts = {
        .threads = j->threads,
        .engine = engine,
        .coupled_batch = batch->cmdline || batch->file ? mase_cli_effective(batch)->i : 0,
        .usual = n,
        .seed = (uint64_t)mase_cli_value(j->c, MASE_CLI_seed)->i,
        .scaling = j->table || mase_cli_flag(j->c, MASE_CLI_raw) ? &j->work.trained.scaling : NULL,
    };
    mase_cli_log_random(j->work.graph);
    MASE_TRY(mase_predictor_new(&j->predictor, j->work.graph, &j->data.sample, &opts, err));
    const struct mase_shape result = mase_predictor_result(j->predictor);
    struct mase_shape shape = { result.rank + 1, { n } };
    memcpy(shape.dim + 1, result.dim, (size_t)result.rank * sizeof result.dim[0]);
    const bool floats = j->work.trained.target_scaling.n; /* scaled-back outputs are not integers */
    const enum mase_dtype dtype = floats ? MASE_F32 : mase_predictor_dtype(j->predictor);
    j->y = mase_tensor(&j->c->arena, dtype, &shape, true);
    const uint64_t started = mase_clock();
    MASE_TRY(mase_predictor_run_typed(j->predictor, j->y.data, dtype, mase_f32(&j->x), n, err));
    j->seconds = 1e-9 * (double)(mase_clock() - started);
    MASE_TRY(scale_back(j, err));
    const char *path = mase_cli_text(j->c, MASE_CLI_output);
    MASE_TRY(mase_npy_write(&j->y, path, err));
    mase_info("Outputs of %s for %lld samples written to %s (%.0f samples/s%s)", j->model->name,
              (long long)n, path, j->seconds > 0 ? (double)n / j->seconds : 0,
              mase_predictor_planned(j->predictor) ? "" : ", by the reference");
    return record(j, err);
}

enum mase_status mase_cli_predict(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock() };
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    MASE_TRY(need(c, MASE_CLI_input, err));
    MASE_TRY(need(c, MASE_CLI_output, err));
    if (j.work.word.kind == MASE_WORD_NONE)
        return mase_fail(err, MASE_EVALUE, "No model provided! It is required.");
    j.model = mase_cli_named_model(c, &j.work);
    MASE_TRY(read_checkpoint(&j, err));
    MASE_TRY(read_samples(&j, err));
    MASE_TRY(find_data(&j, err));
    MASE_TRY(check_samples(&j, err));
    MASE_TRY(mase_cli_find_project(&j.project_dir, c, err));
    const enum mase_status st = predict(&j, err);
    mase_predictor_free(j.predictor);
    mase_work_close(&j.work);
    return st;
}
