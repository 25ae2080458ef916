/*
 * phase.c - phases of a run: quantisation starts after some epochs (quantize_after), and batch
 * norms stop updating their statistics after some (freeze_bn_stats_after).
 *
 * A phase is a pair of graphs, one that is trained and one that is validated, and their plans. All
 * graphs have the same parameters in the same memory, and the flat parameters of all plans the same
 * order, so an optimiser goes on with its moments. Which phase it is follows from the epoch alone:
 * a run that is resumed enters the one it left.
 */
#include <math.h>

#include <mase/call.h>
#include <mase/log.h>
#include <mase/tiled_plan.h>

#include "base/ranks.h"
#include "exec/plan/plan_parts.h"
#include "ir/graph/bind_call.h"
#include "train/trainer.h"

/* ---- which phase ---- */

static bool is_batch_norm(const struct mase_node *n)
{
    static const enum mase_op ops[] = { MASE_OP_batch_norm, MASE_OP_batch_norm1d,
                                        MASE_OP_batch_norm2d, MASE_OP_batch_norm3d };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (n->op == ops[i])
            return true;
    return false;
}

static bool has_batch_norm(const struct mase_graph *g)
{
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (is_batch_norm(n))
            return true;
    return false;
}

enum mase_status mase_trainer_check_phases(struct mase_trainer *t, struct mase_err *err)
{
    struct mase_train_opts *o = &t->opts;
    if (o->dev_run)
        o->quantize_after = 0; /* a dry run has one epoch, which tries quantisation */
    if (o->quantize_after > 0 && !mase_graph_is_quantised(t->graph)) {
        mase_warn("quantize_after is of no effect: the network has no number formats");
        o->quantize_after = 0;
    }
    MASE_TRY(mase_train_check_distill(o, t->graph, MASE_NOWHERE, err));
    if (o->freeze_bn_stats_after >= 0 && !has_batch_norm(t->trained)) {
        mase_warn("freeze_bn_stats_after is of no effect: the network has no batch norm");
        o->freeze_bn_stats_after = -1;
    }
    if (o->quantize_after > 0 && o->quantize_after >= o->max_epochs)
        return mase_fail(err, MASE_EVALUE,
                         "quantize_after = %lld: none of the %lld epochs would train through the "
                         "number formats",
                         (long long)o->quantize_after, (long long)o->max_epochs);
    return MASE_OK;
}

/* ---- graphs ---- */

/* A function has an argument `training`, which may be the network's mode. */
static void freeze_function(struct mase_node *n)
{
    const int at = mase_sig_find(mase_op_call_sig(n->op), "training");
    struct mase_arg *arg = at < n->args.count ? &n->args.items[at] : NULL;
    for (int i = 0; i < n->kwargs.count && !arg; i++)
        if (mase_streq(n->kwargs.keys[i], "training"))
            arg = &n->kwargs.items[i];
    if (arg && arg->kind == MASE_ARG_ATOM && mase_streq(arg->s, MASE_FOLLOWS_MODE))
        *arg = mase_arg_bool(false);
}

/* Batch norms compute as in evaluation, by running statistics, which no longer change; weight and
 * bias are still trained. A batch norm whose mode the network sets itself keeps that mode. */
static void freeze_batch_norms(struct mase_graph *g)
{
    for (struct mase_node *n = g->first; n; n = n->next) {
        if (!is_batch_norm(n))
            continue;
        if (n->kind == MASE_CALL_FUNCTION)
            freeze_function(n);
        else if (n->mode == MASE_MODE_FOLLOWS)
            n->mode = MASE_MODE_EVAL;
    }
}

static enum mase_status make_graphs(struct mase_trainer *t, struct mase_err *err)
{
    t->evaluated = t->graph;
    if (!t->quantised) {
        t->evaluated = t->plain = mase_graph_clone(t->graph);
        mase_graph_drop_formats(t->plain);
    }
    MASE_TRY(mase_graph_to_train(&t->trained, t->evaluated, err));
    if (t->frozen) {
        t->trained = t->fixed = mase_graph_clone(t->trained);
        freeze_batch_norms(t->fixed);
    }
    return MASE_OK;
}

/* ---- plans ---- */

/* A process that has but a part of the tiles needs no more threads than those. */
static int threads_for(const struct mase_trainer *t, const struct mase_shape *sample, int64_t batch)
{
    const int threads = mase_train_threads(t->trained, sample, batch, (int)t->opts.threads);
    const int tiles = mase_tiled_plan_tiles(batch);
    int64_t from;
    if (!t->opts.ranks || tiles == 1)
        return threads;
    const int own = (int)mase_ranks_share(&from, tiles, 0, t->opts.ranks->count); /* the most */
    return threads < own ? threads : own;
}

static enum mase_status make_plans(struct mase_trainer *t, struct mase_err *err)
{
    const struct mase_data_info *info = &mase_dataset_info(t->data)->data;
    const int64_t batch = t->opts.batch_size < t->rows ? t->opts.batch_size : t->rows;
    const int64_t rows = mase_dataset_split(t->data, MASE_SPLIT_VALIDATION).count;
    const int asked = (int)t->opts.threads;
    t->threads = threads_for(t, &info->sample, batch);
    const struct mase_predictor_opts vo = {
        .threads = mase_predict_threads(t->evaluated, &info->sample, rows, asked),
        .coupled_batch = t->opts.batch_size,
        .usual = rows,
        .batch = t->objective.own ? batch : 0, /* the loss may not be a mean over samples */
        .learns = true,
        .seed = (uint64_t)t->opts.seed,
    };
    MASE_TRY(mase_predictor_new(&t->validator, t->evaluated, &info->sample, &vo, err));
    MASE_TRY(mase_trainer_find_targets(t, err));
    const struct mase_plan_opts po = { .batch = batch,
                                       .train = true,
                                       .threads = t->threads,
                                       .seed = (uint64_t)t->opts.seed,
                                       .inputs = t->validator->inputs.item,
                                       .input_count = t->validator->inputs.count };
    MASE_TRY(mase_tiled_plan_new(&t->tiled, t->trained, &po, err));
    t->plan = mase_tiled_plan_first(t->tiled);
    mase_tiled_plan_share(t->tiled, t->opts.ranks);
    mase_trainer_hold_targets(t, mase_tiled_plan_tiles(batch));
    MASE_TRY(mase_target_own_loss(&t->own_loss, &t->targets, t->plan->batch,
                                  mase_tiled_plan_tiles(batch), true, err));
    if (t->own_loss) /* reports an error of the loss itself */
        MASE_TRY(mase_own_loss_begin(t->own_loss, batch, mase_tiled_plan_tiles(batch), err));
    t->ebops = mase_ebops_new(t->plan);
    t->bits = mase_bits_new(t->plan);
    if (!t->plan->output->needs_grad)
        return mase_fail(err, MASE_EVALUE,
                         "nothing to train: no gradient reaches a parameter, all that the output "
                         "depends on are frozen (requires_grad = False) or behind torch.no_grad()");
    if (t->optim.m)
        mase_optimizer_move(&t->optim, t->plan);
    else
        MASE_TRY(mase_optimizer_init(&t->optim, t->plan, &t->opts, err));
    return MASE_OK;
}

/* ---- change the phase ---- */

/* Print without shapes, which only some graphs know, so that equal networks have equal text. */
static const char *print_network(struct mase_arena *a, const struct mase_graph *g)
{
    struct mase_str text = { 0 };
    struct mase_graph *bare = mase_graph_clone(g);
    for (struct mase_node *n = bare->first; n; n = n->next)
        n->meta = NULL;
    mase_graph_print_mg(&text, bare);
    mase_graph_free(bare);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

void mase_trainer_leave_phase(struct mase_trainer *t)
{
    mase_ebops_free(t->ebops);
    mase_bits_free(t->bits);
    t->ebops = NULL;
    t->bits = NULL;
    mase_own_loss_free(t->own_loss);
    mase_tiled_plan_free(t->tiled);
    mase_predictor_free(t->validator);
    mase_graph_free(t->fixed);
    mase_graph_free(t->plain);
    t->own_loss = NULL;
    t->tiled = NULL;
    t->plan = NULL;
    t->validator = NULL;
    t->fixed = t->plain = NULL;
}

enum mase_status mase_trainer_enter_phase(struct mase_trainer *t, struct mase_err *err)
{
    const struct mase_train_opts *o = &t->opts;
    const bool quantised = t->state.epoch >= o->quantize_after;
    const bool frozen = o->freeze_bn_stats_after >= 0 && t->state.epoch >= o->freeze_bn_stats_after;
    if (t->plan && quantised == t->quantised && frozen == t->frozen)
        return MASE_OK;
    if (t->plan)
        mase_plan_write_weights(t->plan);
    mase_trainer_leave_phase(t);
    t->quantised = quantised;
    t->frozen = frozen;
    MASE_TRY(make_graphs(t, err));
    MASE_TRY(make_plans(t, err));
    t->network = print_network(&t->arena, t->evaluated);
    t->network_to_come = quantised ? NULL : print_network(&t->arena, t->graph);
    return MASE_OK;
}

enum mase_status mase_trainer_begin_formats(struct mase_trainer *t, struct mase_err *err)
{
    struct mase_train_state *s = &t->state;
    if (s->epoch != t->opts.quantize_after || s->batch > 0)
        return MASE_OK;
    if (t->opts.distill > 0)
        MASE_TRY(mase_trainer_make_teacher(t, err));
    if (t->opts.quantize_after == 0)
        return MASE_OK;
    s->best_loss = s->plateau_loss = INFINITY;
    s->best_epoch = -1;
    s->waited = 0;
    mase_trainer_forget_average(t);
    return MASE_OK;
}
