/*
 * train_prune.c - prune weights during training (mase/prune.h).
 *
 * The masks change before steps of the schedule, by the weights of that time. After every step
 * pruned weights are set to zero again; before it their gradients are cleared, so that they do not
 * count in the gradient norm either. Which step changes them follows from its number, and
 * checkpoints have the masks: a run that is resumed goes on with the same bits.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>
#include <mase/torch.h>

#include "train/trainer.h"

/* ---- the schedule ---- */

static int64_t in_steps(const struct mase_trainer *t, int64_t count)
{
    return t->pruning.how.by_steps ? count : count * t->steps;
}

/* Do the masks change before this step (counted from 0)? */
static bool is_due(const struct mase_trainer *t, int64_t step)
{
    const struct mase_pruning *p = &t->pruning.how;
    const int64_t begin = in_steps(t, p->begin), end = in_steps(t, p->end);
    return step >= begin && step <= end &&
           (step == end || (step - begin) % in_steps(t, p->every) == 0);
}

static double progress_at(const struct mase_trainer *t, int64_t step)
{
    const int64_t begin = in_steps(t, t->pruning.how.begin), end = in_steps(t, t->pruning.how.end);
    return end > begin ? (double)(step - begin) / (double)(end - begin) : 1.0;
}

/* A warning only: the run may be resumed with more epochs. */
static void warn_of_end(const struct mase_trainer *t)
{
    const struct mase_train_opts *o = &t->opts;
    const int64_t end = in_steps(t, t->pruning.how.end);
    int64_t steps = o->max_epochs * t->steps;
    if (o->max_steps > 0 && o->max_steps < steps)
        steps = o->max_steps;
    if (!o->dev_run && steps > 0 && end >= steps)
        mase_warn(
            "prune: the last weights go before step %lld (end = %lld %s), which a run of %lld "
            "steps does not reach",
            (long long)end, (long long)t->pruning.how.end,
            t->pruning.how.by_steps ? "steps" : "epochs", (long long)steps);
}

/* ---- what is pruned ---- */

static const struct mase_train_param *find_param(const struct mase_train_param *list, int count,
                                                 const char *name)
{
    for (int i = 0; i < count; i++)
        if (mase_streq(list[i].name, name))
            return &list[i];
    mase_bug("training has no parameter '%s'", name);
}

/* Drop frozen weights from the targets; renumber the targets that biases refer to. */
static void leave_out_frozen(struct mase_trainer_pruning *p, const struct mase_train_param *param,
                             int params, struct mase_arena *a)
{
    int *now = mase_new_array(a, int, (size_t)p->count + 1);
    int kept = 0;
    for (int i = 0; i < p->count; i++) {
        const struct mase_prune_target *t = &p->list[i];
        const int64_t at = find_param(param, params, t->name)->at;
        now[i] = at >= 0 ? kept : -1;
        if (at < 0) {
            mase_warn("prune: %s is frozen and stays as it is", t->name);
            continue;
        }
        p->list[kept] = *t;
        if (t->bias_of >= 0)
            p->list[kept].bias_of = now[t->bias_of];
        p->at[kept++] = at;
    }
    p->count = kept;
}

static enum mase_status start(struct mase_trainer *t, struct mase_err *err)
{
    struct mase_trainer_pruning *p = &t->pruning;
    struct mase_arena a = { 0 };
    MASE_TRY(mase_prune_resolve(&p->how, t->opts.prune, err));
    MASE_TRY(mase_prune_targets(&p->list, &p->count, &t->arena, t->graph, &p->how, err));
    warn_of_end(t);
    int params;
    const struct mase_train_param *param = mase_trainer_params(t, &a, &params);
    p->at = mase_new_array(&t->arena, int64_t, (size_t)p->count + 1);
    leave_out_frozen(p, param, params, &a);
    mase_arena_release(&a);
    if (!p->count)
        return mase_fail(
            err, MASE_EVALUE,
            "nothing to prune: no linear, convolutional or recurrent layer is trained");
    if (p->how.method == MASE_PRUNE_MOVEMENT)
        p->score = mase_new_array(&t->arena, float, (size_t)t->optim.params.n);
    for (int i = 0; i < p->count; i++)
        p->list[i].score = p->score ? p->score + p->at[i] : NULL;
    p->on = true;
    return MASE_OK;
}

enum mase_status mase_trainer_start_pruning(struct mase_trainer *t, struct mase_err *err)
{
    const enum mase_status st = t->opts.prune ? start(t, err) : MASE_OK;
    return st ? mase_wrap(err, "pass prune") : MASE_OK;
}

/* ---- steps ---- */

/* The part first..last of target i that lies in the flat parameters from..to. */
static bool part_of(const struct mase_trainer_pruning *p, int i, int64_t from, int64_t to,
                    int64_t *first, int64_t *last)
{
    const int64_t at = p->at[i];
    *first = from > at ? from - at : 0;
    *last = to < at + p->list[i].count ? to - at : p->list[i].count;
    return *first < *last;
}

void mase_trainer_prune_gradients(const struct mase_trainer *t, int64_t from, int64_t to)
{
    const struct mase_trainer_pruning *p = &t->pruning;
    int64_t first, last;
    for (int i = 0; i < p->count; i++) {
        if (!part_of(p, i, from, to, &first, &last))
            continue;
        const uint8_t *kept = p->list[i].kept;
        const float *w = t->optim.params.w + p->at[i];
        float *g = t->optim.params.g + p->at[i], *score = p->score ? p->score + p->at[i] : NULL;
        for (int64_t k = first; score && k < last; k++)
            score[k] -= w[k] * g[k];
        for (int64_t k = first; k < last; k++)
            g[k] = kept[k] ? g[k] : 0.0f;
    }
}

void mase_trainer_prune_values(const struct mase_trainer *t, float *values, int64_t from,
                               int64_t to)
{
    const struct mase_trainer_pruning *p = &t->pruning;
    int64_t first, last;
    for (int i = 0; i < p->count; i++) {
        if (!part_of(p, i, from, to, &first, &last))
            continue;
        const uint8_t *kept = p->list[i].kept;
        float *v = values + p->at[i];
        for (int64_t k = first; k < last; k++)
            v[k] = kept[k] ? v[k] : 0.0f;
    }
}

void mase_trainer_prune_weights(const struct mase_trainer *t, int64_t from, int64_t to)
{
    mase_trainer_prune_values(t, t->optim.params.w, from, to);
}

void mase_trainer_prune(struct mase_trainer *t)
{
    struct mase_trainer_pruning *p = &t->pruning;
    struct mase_train_state *s = &t->state;
    if (!p->on || !is_due(t, s->step))
        return;
    for (int i = 0; i < p->count; i++)
        p->list[i].w = t->optim.params.w + p->at[i];
    const double progress = progress_at(t, s->step);
    mase_prune_masks(p->list, p->count, &p->how, progress, (uint64_t)t->opts.seed);
    mase_trainer_prune_weights(t, 0, t->optim.params.n);
    s->waited = 0; /* the plateau counter restarts, since a pruned network may recover */
    if (progress < 1)
        return;
    s->best_loss = INFINITY; /* the best loss so far was that of a network with more weights */
    s->best_epoch = -1;
}

double mase_trainer_sparsity(const struct mase_trainer *t)
{
    const struct mase_trainer_pruning *p = &t->pruning;
    int64_t gone = 0, all = 0;
    for (int i = 0; i < p->count; i++) {
        if (p->list[i].bias_of >= 0)
            continue;
        all += p->list[i].count;
        for (int64_t k = 0; k < p->list[i].count; k++)
            gone += !p->list[i].kept[k];
    }
    return p->on ? (double)gone / (double)all : NAN;
}

void mase_trainer_end_pruning(const struct mase_trainer *t)
{
    if (t->pruning.on && t->state.step <= in_steps(t, t->pruning.how.end) && !t->opts.dev_run)
        mase_warn("training ended before the last weights were pruned: the sparsity is %.4f",
                  mase_trainer_sparsity(t));
}

/* ---- checkpoints ---- */

/* The options of pruning in one line, which must be equal when a run resumes. */
const char *mase_trainer_pruning_text(struct mase_arena *a, const struct mase_pruning *p)
{
    struct mase_str shares = { 0 };
    if (p->shares)
        mase_json_print(&shares, p->shares, 0);
    const char *text = mase_arena_printf(
        a, "%s %s %s sparsity %.17g%s%s, from %.17g, %lld to %lld by %lld %s",
        p->global ? "global" : "local", p->channels ? "channel" : "elementwise",
        mase_prune_methods[p->method], p->sparsity, p->shares ? " " : "",
        p->shares ? mase_str_text(&shares) : "", p->initial_sparsity, (long long)p->begin,
        (long long)p->end, (long long)p->every, p->by_steps ? "steps" : "epochs");
    mase_str_release(&shares);
    return text;
}

struct mase_obj *mase_trainer_save_pruning(struct mase_arena *a, const struct mase_trainer *t)
{
    const struct mase_trainer_pruning *p = &t->pruning;
    struct mase_obj *o = mase_obj_dict(a);
    mase_obj_set(a, o, "section", mase_obj_text(a, mase_trainer_pruning_text(a, &p->how)));
    struct mase_obj *masks = mase_obj_set(a, o, "masks", mase_obj_dict(a));
    struct mase_obj *scores = mase_obj_set(a, o, "scores", mase_obj_dict(a));
    for (int i = 0; i < p->count; i++) {
        const struct mase_prune_target *l = &p->list[i];
        const struct mase_tensor mask = { MASE_U8, l->param->tensor.shape, l->kept };
        const struct mase_tensor score = { MASE_F32, l->param->tensor.shape, (void *)l->score };
        mase_obj_set(a, masks, l->name, mase_obj_tensor(a, &mask));
        if (l->score)
            mase_obj_set(a, scores, l->name, mase_obj_tensor(a, &score));
    }
    return o;
}

static const struct mase_tensor *get_tensor(const struct mase_obj *d, const char *name,
                                            enum mase_dtype dtype, int64_t count)
{
    const struct mase_obj *o = mase_obj_get(d, name);
    const bool fits = o && o->kind == MASE_OBJ_TENSOR && o->tensor->dtype == dtype &&
                      mase_tensor_count(o->tensor) == count;
    return fits ? o->tensor : NULL;
}

enum mase_status mase_trainer_check_pruning(const struct mase_trainer *t,
                                            const struct mase_obj *was, const char *path,
                                            struct mase_err *err)
{
    const struct mase_trainer_pruning *p = &t->pruning;
    struct mase_arena a = { 0 };
    const struct mase_obj *section = mase_obj_get(was, "section");
    const char *now = p->on ? mase_trainer_pruning_text(&a, &p->how) : NULL;
    enum mase_status st = MASE_OK;
    const bool same = now ? section && mase_obj_is_text(section, now) : !was;
    if (!same) {
        struct mase_str text = { 0 };
        if (section)
            mase_obj_print(&text, section);
        st = mase_fail_in(err, MASE_EVALUE, path,
                          "cannot resume with another [passes.prune]: the run had %s",
                          section ? mase_str_text(&text) : "none");
        mase_str_release(&text);
    }
    for (int i = 0; i < p->count && !st; i++) {
        const struct mase_prune_target *l = &p->list[i];
        if (!get_tensor(mase_obj_get(was, "masks"), l->name, MASE_U8, l->count) ||
            (l->score && !get_tensor(mase_obj_get(was, "scores"), l->name, MASE_F32, l->count)))
            st = mase_fail_in(err, MASE_EPARSE, path,
                              "no checkpoint to resume from: the mask of %s is missing or of "
                              "another shape",
                              l->name);
    }
    mase_arena_release(&a);
    return st;
}

void mase_trainer_load_pruning(struct mase_trainer *t, const struct mase_obj *was)
{
    struct mase_trainer_pruning *p = &t->pruning;
    for (int i = 0; i < p->count; i++) {
        const struct mase_prune_target *l = &p->list[i];
        const size_t n = (size_t)l->count;
        const uint8_t *kept =
            get_tensor(mase_obj_get(was, "masks"), l->name, MASE_U8, l->count)->data;
        for (size_t k = 0; k < n; k++)
            l->kept[k] = kept[k] != 0;
        if (p->score)
            memcpy(p->score + p->at[i],
                   get_tensor(mase_obj_get(was, "scores"), l->name, MASE_F32, l->count)->data,
                   n * sizeof(float));
    }
}
