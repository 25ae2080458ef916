/*
 * resume.c - a run from its checkpoint, and what a checkpoint says of its network and its data.
 *
 * A file is checked whole before anything of the trainer changes.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>
#include <mase/torch.h>
#include <mase/weights.h>

#include "file/obj_value.h"
#include "train/trained_file.h"
#include "train/trainer.h"

/* ---- reading fields ---- */

static enum mase_status fail_field(const char *path, const char *what, const struct mase_obj *o,
                                   struct mase_err *err)
{
    return mase_fail_in(err, MASE_EPARSE, path, "no checkpoint to resume from: %s is %s", what,
                        o ? mase_obj_kind_names[o->kind] : "missing");
}

static enum mase_status get_int(int64_t *v, const struct mase_obj *d, const char *key,
                                const char *path, struct mase_err *err)
{
    const struct mase_obj *o = mase_obj_get(d, key);
    if (!o || o->kind != MASE_OBJ_INT || o->i < -1)
        return fail_field(path, key, o, err);
    *v = o->i;
    return MASE_OK;
}

/* Before there were tasks, what scores are made of were counts of right answers. */
static const struct mase_obj *former(const struct mase_obj *d, const char *key)
{
    return mase_streq(key, "score_part")    ? mase_obj_get(d, "correct")
           : mase_streq(key, "score_whole") ? mase_obj_get(d, "seen")
                                            : NULL;
}

static enum mase_status get_float(double *v, const struct mase_obj *d, const char *key,
                                  const char *path, struct mase_err *err)
{
    const struct mase_obj *o = mase_obj_get(d, key), *old = o ? NULL : former(d, key);
    if (old && old->kind == MASE_OBJ_INT && old->i >= 0) {
        *v = (double)old->i;
        return MASE_OK;
    }
    if (!o || o->kind != MASE_OBJ_FLOAT)
        return fail_field(path, key, o, err);
    *v = o->f;
    return MASE_OK;
}

static enum mase_status read_state(struct mase_train_state *s, const struct mase_obj *d,
                                   const char *path, struct mase_err *err)
{
#define COUNT(f) MASE_TRY(get_int(&s->f, d, #f, path, err));
#define VALUE(f) MASE_TRY(get_float(&s->f, d, #f, path, err));
#define LATER_COUNT(f, before) \
    s->f = before;             \
    if (mase_obj_get(d, #f))   \
    COUNT(f)
#define LATER_VALUE(f, before) \
    s->f = before;             \
    if (mase_obj_get(d, #f))   \
    VALUE(f)
#include "train/state.def"
    if (s->batch && !mase_obj_get(d, "score_whole")) /* the sums of an epoch under way */
        return fail_field(path, "score_whole", NULL, err);
    return MASE_OK;
}

/* ---- is it the same run? ---- */

/* Options that change no number, or that say only how far to go. */
static bool may_differ(enum mase_train_option option)
{
    switch (option) {
    case MASE_TRAIN_max_epochs:
    case MASE_TRAIN_max_steps:
    case MASE_TRAIN_patience:
    case MASE_TRAIN_threads:
    case MASE_TRAIN_log_every_n_steps:
    case MASE_TRAIN_to_debug:
        return true;
    default:
        return false;
    }
}

/* What a file that is older than an option would say of it: the run was as it is by default, but
 * onecycle left the momentum alone. */
static struct mase_value *former_option(struct mase_arena *a, const struct mase_train_opts *o,
                                        const struct mase_opt *row)
{
    if (row == &mase_train_rows[MASE_TRAIN_constant_momentum] &&
        mase_streq(o->schedule, "onecycle"))
        return mase_value_bool(a, true);
    return mase_opt_default_value(a, row);
}

static bool same_option(const struct mase_train_opts *now, const struct mase_opt *row,
                        const struct mase_obj *o)
{
    struct mase_arena a = { 0 };
    const struct mase_value *was = o ? mase_value_of_obj(&a, o) : former_option(&a, now, row);
    const bool same = was && mase_value_equal(was, mase_opt_value(&a, now, row));
    mase_arena_release(&a);
    return same;
}

static enum mase_status check_options(const struct mase_trainer *t, const struct mase_obj *root,
                                      const char *path, struct mase_err *err)
{
    const struct mase_obj *was = mase_obj_get(root, "hyper_parameters");
    for (const struct mase_opt *row = mase_train_rows; row->key; row++) {
        const struct mase_obj *o = mase_obj_get(was, row->key);
        if (may_differ((enum mase_train_option)(row - mase_train_rows)) ||
            same_option(&t->opts, row, o))
            continue;
        struct mase_str s = { 0 };
        if (o)
            mase_obj_print(&s, o);
        const enum mase_status st =
            mase_fail_in(err, MASE_EVALUE, path, "cannot resume with another %s: the run had %s",
                         row->key, o ? mase_str_text(&s) : "none, being older than that");
        mase_str_release(&s);
        return st;
    }
    return MASE_OK;
}

/* A loss of one's own may be edited under its name. Files from before this was kept do not say. */
static enum mase_status check_loss(const struct mase_trainer *t, const struct mase_obj *ours,
                                   const char *path, struct mase_err *err)
{
    const struct mase_obj *was = mase_obj_get(ours, "loss_sha256");
    if (!t->loss_hash[0])
        return MASE_OK;
    if (!was)
        mase_warn("%s does not say what the loss %s was; it is taken for what it is now", path,
                  t->opts.loss);
    if (!was || mase_obj_is_text(was, t->loss_hash))
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, path,
                        "cannot resume: the loss %s computes something else now", t->opts.loss);
}

/* The plain values of a dict, by name. */
static struct mase_value *plain_values(struct mase_arena *a, const struct mase_obj *d)
{
    struct mase_value *table = mase_value_table(a);
    for (int i = 0; d && d->kind == MASE_OBJ_DICT && i < d->count; i++) {
        struct mase_value *v = mase_value_of_obj(a, d->items[i]);
        if (v && d->keys[i]->kind == MASE_OBJ_TEXT)
            mase_value_set(a, table, d->keys[i]->text, v);
    }
    return table;
}

static enum mase_status check_scaling(const struct mase_trainer *t,
                                      const struct mase_checkpoint_info *was, const char *path,
                                      struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(t->data);
    if (!mase_scaling_equal(&was->target_scaling, &info->target_scaling))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "cannot resume: the run scaled the targets otherwise than this one; "
                            "--target-scaling says how");
    if (!mase_scaling_equal(&was->scaling, &info->scaling))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "cannot resume: the run scaled the features otherwise (%s) than this "
                            "one (%s); --scaling says how",
                            mase_scale_names[was->scale], mase_scale_names[info->scale]);
    return MASE_OK;
}

/* named: false, the run is from before columns were named. */
static enum mase_status check_columns(const struct mase_trainer *t,
                                      const struct mase_checkpoint_info *was, bool named,
                                      const char *path, struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(t->data);
    const struct mase_image_opts *image = &was->image;
    if (named && !mase_data_columns_equal(&was->columns, &info->columns))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "cannot resume: the run read other columns of %s; --label and "
                            "--features say which",
                            info->data.name);
    if (image->channels &&
        (!mase_image_same_normalisation(image, &info->image) || image->crop != info->image.crop ||
         image->flip != info->image.flip || image->channels != info->image.channels))
        return mase_fail_in(
            err, MASE_EVALUE, path,
            "cannot resume: the run did otherwise with the pictures of %s; --normalize, "
            "--augment and --image-channels say what",
            info->data.name);
    if (!mase_data_split_equal(&was->split, &info->split))
        return mase_fail_in(
            err, MASE_EVALUE, path,
            "cannot resume: the run split the rows of %s otherwise; --split, --split-by "
            "and --split-seed say how",
            info->data.name);
    return MASE_OK;
}

static enum mase_status check_data_options(const struct mase_trainer *t, const struct mase_obj *was,
                                           const char *path, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_checkpoint_info info = { 0 };
    enum mase_status st = mase_trained_from_data(&info, &a, plain_values(&a, was), path, err);
    if (!st)
        st = check_columns(t, &info, mase_obj_get(was, "features") != NULL, path, err);
    if (!st)
        st = check_scaling(t, &info, path, err);
    mase_arena_release(&a);
    return st;
}

static enum mase_status check_data(const struct mase_trainer *t, const struct mase_obj *was,
                                   const char *path, struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(t->data);
    int64_t rows;
    MASE_TRY(get_int(&rows, was, "train_rows", path, err));
    if (!mase_obj_is_text(mase_obj_get(was, "checksum"), info->checksum))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "cannot resume: the run was on other data than %s now is",
                            info->data.name);
    const int64_t now = mase_dataset_split(t->data, MASE_SPLIT_TRAIN).count;
    if (rows != now)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "cannot resume: the run trained on %lld rows of %s, this one on %lld",
                            (long long)rows, info->data.name, (long long)now);
    return check_data_options(t, was, path, err);
}

static enum mase_status check_state(const struct mase_trainer *t, const struct mase_train_state *s,
                                    const char *path, struct mase_err *err)
{
    const bool fits = s->epoch >= 0 && s->epoch < INT32_MAX && s->batch >= 0 &&
                      s->batch < t->batches && s->step >= 0 && s->step <= (s->epoch + 1) * t->steps;
    return fits ? MASE_OK
                : mase_fail_in(err, MASE_EVALUE, path,
                               "cannot resume: epoch %lld, batch %lld and step %lld do not belong "
                               "to this run",
                               (long long)s->epoch, (long long)s->batch, (long long)s->step);
}

/* The graph that the file has under that key; NULL: it does not say. */
static enum mase_status read_graph(struct mase_graph **g, const struct mase_obj *root,
                                   const char *key, const char *path, struct mase_err *err)
{
    const struct mase_obj *text = mase_obj_get(mase_obj_get(root, "mase"), key);
    *g = NULL;
    if (!text)
        return MASE_OK;
    if (text->kind != MASE_OBJ_TEXT)
        return mase_fail_in(err, MASE_EPARSE, path, "its graph is %s, expected text",
                            mase_obj_kind_names[text->kind]);
    return mase_graph_parse_mg(g, text->text, text->len, path, err);
}

static enum mase_status check_network(const struct mase_trainer *t, const struct mase_obj *root,
                                      const char *path, struct mase_err *err)
{
    struct mase_graph *was;
    struct mase_str why = { 0 };
    enum mase_status st = read_graph(&was, root, "graph_to_come", path, err);
    if (!st && !was)
        st = read_graph(&was, root, "graph", path, err);
    if (st)
        return st;
    if (was && !mase_graph_same_formats(was, t->graph, &why))
        st = mase_fail_in(err, MASE_EVALUE, path, "cannot resume with another network: %s",
                          mase_str_text(&why));
    mase_str_release(&why);
    mase_graph_free(was);
    return st;
}

/* ---- moments ---- */

/* The moment called key of parameter number i, which must have the parameter's shape. */
static enum mase_status get_moment(const float **data, const struct mase_obj *state, int i,
                                   const struct mase_train_param *p, const char *key,
                                   const char *path, struct mase_err *err)
{
    const struct mase_obj *o = mase_obj_get(mase_obj_get_int(state, i), key);
    if (!mase_obj_get_int(state, i))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "no checkpoint to resume from: %s of %s is missing: the run did not "
                            "train it; what --freeze named then must be frozen now",
                            key, p->name);
    if (!o || o->kind != MASE_OBJ_TENSOR || o->tensor->dtype != MASE_F32 ||
        !mase_shape_equal(&o->tensor->shape, &p->param->tensor.shape))
        return mase_fail_in(err, MASE_EPARSE, path,
                            "no checkpoint to resume from: %s of %s is missing or of another shape",
                            key, p->name);
    *data = mase_f32(o->tensor);
    return MASE_OK;
}

/* The moments of every parameter that is trained; copy false: only see whether they are there. */
static enum mase_status take_moments(struct mase_trainer *t, const struct mase_obj *root, bool copy,
                                     const char *path, struct mase_err *err)
{
    const struct mase_optim_row *row = t->optim.row;
    const struct mase_obj *list = mase_obj_get(root, "optimizer_states");
    const struct mase_obj *first =
        list && list->kind == MASE_OBJ_LIST && list->count == 1 ? list->items[0] : NULL;
    const struct mase_obj *state = mase_obj_get(first, "state");
    struct mase_arena a = { 0 };
    int count, params = 0;
    const struct mase_train_param *p = mase_trainer_params(t, &a, &count);
    enum mase_status st = MASE_OK;
    for (int i = 0; i < count && !st; i++) {
        const int number = params;
        params += !mase_param_is_buffer(p[i].param) && !p[i].param->tied;
        if (p[i].param->kind == MASE_PARAM_FROZEN && !p[i].param->tied &&
            mase_obj_get_int(state, number))
            st = mase_fail_in(err, MASE_EVALUE, path,
                              "cannot resume: the run trained %s, which is frozen now", p[i].name);
        if (p[i].at < 0)
            continue;
        const size_t size = (size_t)mase_tensor_count(&p[i].param->tensor) * sizeof(float);
        const float *m = NULL, *v = NULL;
        if (row->m)
            st = get_moment(&m, state, number, &p[i], row->m, path, err);
        if (!st && row->v)
            st = get_moment(&v, state, number, &p[i], row->v, path, err);
        if (st || !copy)
            continue;
        if (m)
            memcpy(t->optim.m + p[i].at, m, size);
        if (v)
            memcpy(t->optim.v + p[i].at, v, size);
    }
    mase_arena_release(&a);
    return st;
}

/* ---- all of it ---- */

static enum mase_status resume(struct mase_trainer *t, const struct mase_obj *root,
                               const char *path, struct mase_err *err)
{
    const struct mase_obj *ours = mase_obj_get(root, "mase");
    const struct mase_obj *teacher = mase_obj_get(root, "teacher_state_dict");
    struct mase_train_state s = { 0 };
    if (!ours)
        return mase_fail_in(
            err, MASE_EVALUE, path,
            "this checkpoint was not written by ch train: --load takes its weights, "
            "but it cannot be resumed");
    MASE_TRY(read_state(&s, mase_obj_get(ours, "state"), path, err));
    MASE_TRY(check_options(t, root, path, err));
    MASE_TRY(check_loss(t, ours, path, err));
    MASE_TRY(check_data(t, mase_obj_get(ours, "data"), path, err));
    MASE_TRY(check_state(t, &s, path, err));
    MASE_TRY(mase_trainer_check_pruning(t, mase_obj_get(ours, "prune"), path, err));
    if (s.step > 0)
        MASE_TRY(take_moments(t, root, false, path, err));
    MASE_TRY(check_network(t, root, path, err));
    MASE_TRY(mase_trainer_check_teacher(t, &s, teacher, path, err));
    t->state = s;
    MASE_TRY(mase_trainer_enter_phase(t, err));
    MASE_TRY(mase_weights_load(t->graph, path, err));
    mase_plan_read_weights(t->plan);
    if (s.step > 0)
        MASE_TRY(take_moments(t, root, true, path, err));
    MASE_TRY(mase_trainer_load_weights(t, mase_obj_get(ours, "weights"), path, err));
    MASE_TRY(mase_trainer_load_teacher(t, teacher, err));
    mase_trainer_load_pruning(t, mase_obj_get(ours, "prune"));
    mase_optimizer_set_steps(&t->optim, s.step, &t->opts, t->steps);
    return MASE_OK;
}

struct resuming {
    struct mase_trainer *t;
    const char *path;
};

static enum mase_status resume_from(void *data, struct mase_err *err)
{
    const struct resuming *r = data;
    struct mase_torch file;
    MASE_TRY(mase_torch_open(&file, r->path, err));
    const enum mase_status st = resume(r->t, file.root, r->path, err);
    mase_torch_close(&file);
    return st;
}

enum mase_status mase_trainer_resume(struct mase_trainer *t, const char *path, struct mase_err *err)
{
    struct resuming r = { t, path };
    MASE_TRY(mase_trainer_check(t, err));
    return mase_heap_run(t->heap, resume_from, &r, err);
}

/* ---- the network ---- */

enum mase_status mase_checkpoint_graph(struct mase_graph **g, const char *path,
                                       struct mase_err *err)
{
    struct mase_torch file;
    MASE_TRY(mase_torch_open(&file, path, err));
    const enum mase_status st = read_graph(g, file.root, "graph", path, err);
    mase_torch_close(&file);
    return st;
}

/* ---- about the data ---- */

/* Hashes that rise, of no more rows than there were; else nothing is known. */
static struct mase_seen_rows read_seen(struct mase_arena *a, const struct mase_obj *data)
{
    const struct mase_obj *o = mase_obj_get(data, "seen"), *rows = mase_obj_get(o, "rows"),
                          *hashed = mase_obj_get(o, "hashed"), *list = mase_obj_get(o, "hashes"),
                          *all = mase_obj_get(o, "all");
    const struct mase_seen_rows none = { 0 };
    struct mase_seen_rows seen = { 0 };
    if (!rows || rows->kind != MASE_OBJ_INT || !hashed || hashed->kind != MASE_OBJ_INT || !list ||
        list->kind != MASE_OBJ_TENSOR || list->tensor->dtype != MASE_I64)
        return none;
    seen.all = all && all->kind == MASE_OBJ_BOOL && all->b;
    seen.rows = rows->i;
    seen.hashed = hashed->i;
    seen.count = mase_tensor_count(list->tensor);
    if (seen.hashed < 1 || seen.hashed > seen.rows || seen.count > seen.hashed)
        return none;
    seen.hash = mase_arena_memdup(a, list->tensor->data, (size_t)seen.count * sizeof *seen.hash);
    for (int64_t i = 1; i < seen.count; i++)
        if (seen.hash[i] <= seen.hash[i - 1])
            return none;
    return seen;
}

static enum mase_status read_info(struct mase_checkpoint_info *info, struct mase_arena *a,
                                  const struct mase_obj *root, const char *path,
                                  struct mase_err *err)
{
    const struct mase_obj *ours = mase_obj_get(root, "mase"), *data = mase_obj_get(ours, "data");
    const struct mase_obj *epoch = mase_obj_get(root, "epoch");
    const struct mase_obj *step = mase_obj_get(root, "global_step");
    *info = (struct mase_checkpoint_info){ .ours = ours != NULL, .epoch = -1, .step = -1 };
    if (epoch && epoch->kind == MASE_OBJ_INT)
        info->epoch = epoch->i;
    if (step && step->kind == MASE_OBJ_INT)
        info->step = step->i;
    info->loss_delta = 1;
    if (ours)
        mase_trained_task(info, plain_values(a, mase_obj_get(root, "hyper_parameters")));
    if (!data)
        return MASE_OK;
    info->seen = read_seen(a, data);
    return mase_trained_from_data(info, a, plain_values(a, data), path, err);
}

enum mase_status mase_checkpoint_info(struct mase_checkpoint_info *info, struct mase_arena *a,
                                      const char *path, struct mase_err *err)
{
    struct mase_torch file;
    MASE_TRY(mase_torch_open(&file, path, err));
    const enum mase_status st = read_info(info, a, file.root, path, err);
    mase_torch_close(&file);
    return st;
}
