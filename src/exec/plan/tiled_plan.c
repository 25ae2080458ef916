/*
 * tiled_plan.c - a batch in tiles, each a plan; each thread runs its own tiles (tiled_plan.h).
 */
#include <mase/tiled_plan.h>

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <mase/progress.h>

#include "base/alloc.h"
#include "base/host.h"
#include "base/ranks.h"
#include "exec/loss/own_loss.h"
#include "exec/plan/collective.h"
#include "exec/plan/plan_parts.h"
#include "exec/plan/thread_tuner.h"

/* Samples of a tile: few enough that a layer's values stay near the core and a batch of a thousand
 * keeps two of them busy, so many that the sums at the end of every product cost little (with 256,
 * 14 % of a step). */
enum { TILE = 512 };

/* What every process knows of a tile, once they have told each other. */
struct tally {
    struct mase_loss_result result;
    bool failed; /* a step or the loss could not compute with its values */
};

/* Results of one tile. Threads write in parallel, and no two tiles share a cache line. */
struct part {
    struct tally tally;
    struct mase_targets targets;
    struct mase_lanes teacher;
    char apart[64];
};

struct mase_tiled_plan {
    struct mase_tiling tiling;
    struct mase_ranks *ranks; /* NULL: this process runs all tiles of all batches */
    int tiles, threads;
    struct mase_thread_tuner tuner;
    struct part *part; // (tiles)
};

/* ---- life ---- */

int mase_tiled_plan_tiles(int64_t samples)
{
    return (int)((samples + TILE - 1) / TILE);
}

/* Tiles are as even as whole vectors allow. */
static int64_t tile_size(int64_t samples)
{
    const int64_t each =
        (samples + mase_tiled_plan_tiles(samples) - 1) / mase_tiled_plan_tiles(samples);
    return (each + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

static enum mase_status make_tiles(struct mase_tiled_plan *t, struct mase_graph *g,
                                   const struct mase_plan_opts *opts, struct mase_err *err)
{
    struct mase_plan_opts o = *opts;
    o.train = true;
    if (t->tiles > 1) /* a short batch may be one tile of any size */
        o.batch = TILE;
    for (int k = 0; k < t->tiles; k++) {
        o.threads = k ? 1 : t->threads;
        MASE_TRY(
            mase_plan_new_tile(&t->tiling.tile[k], g, &o, t->tiles > 1 ? &t->tiling : NULL, err));
        if (k == 0)
            MASE_TRY(mase_plan_check_size(t->tiling.tile[0], t->tiles, err));
    }
    return MASE_OK;
}

enum mase_status mase_tiled_plan_new(struct mase_tiled_plan **out, struct mase_graph *g,
                                     const struct mase_plan_opts *opts, struct mase_err *err)
{
    struct mase_tiled_plan *t = mase_xcalloc(sizeof *t);
    t->tiles = mase_tiled_plan_tiles(opts->batch);
    t->threads = opts->threads > 1 ? opts->threads : 1;
    t->tuner = mase_thread_tuner();
    t->tiling.tile = mase_xcalloc((size_t)t->tiles * sizeof *t->tiling.tile);
    t->part = mase_xcalloc((size_t)t->tiles * sizeof *t->part);
    const enum mase_status st = make_tiles(t, g, opts, err);
    if (st) {
        mase_tiled_plan_free(t);
        return st;
    }
    *out = t;
    return MASE_OK;
}

void mase_tiled_plan_free(struct mase_tiled_plan *t)
{
    if (!t)
        return;
    for (int k = t->tiles - 1; k >= 0; k--) /* the others know the first */
        mase_plan_free(t->tiling.tile[k]);
    mase_xfree(t->tiling.tile);
    mase_xfree(t->tiling.buffer);
    mase_xfree(t->part);
    mase_xfree(t);
}

struct mase_plan *mase_tiled_plan_first(const struct mase_tiled_plan *t)
{
    return t->tiling.tile[0];
}

void mase_tiled_plan_share(struct mase_tiled_plan *t, struct mase_ranks *ranks)
{
    const size_t room = mase_collective_room(t->tiling.tile[0]);
    const size_t each = room > sizeof(struct tally) ? room : sizeof(struct tally);
    t->ranks = ranks;
    t->tiling.buffer = ranks ? mase_xcalloc((size_t)t->tiles * each) : NULL;
}

/* Rank 0 has run tiles of every batch. */
void mase_tiled_plan_match(const struct mase_tiled_plan *t)
{
    const struct mase_plan *p = t->tiling.tile[0];
    for (int i = 0; t->ranks && i < p->weight_count; i++)
        if (mase_param_is_buffer(p->weight[i].param))
            mase_ranks_broadcast(t->ranks, p->weight[i].x,
                                 (size_t)p->weight[i].count * sizeof(float), 0);
}

/* ---- one step ---- */

/* The tiles of a thread. */
struct share {
    int from, to;
};

static struct share share_of(const struct mase_tiled_plan *t, int thread, int threads)
{
    const int from = t->tiling.from, n = t->tiling.to - from;
    return (struct share){ from + n * thread / threads, from + n * (thread + 1) / threads };
}

/* n samples of the batch from the given one on. */
static void load_tile(const struct mase_tiled_plan *t, int k, const struct mase_tiled_batch *b,
                      int64_t from, int64_t n)
{
    struct mase_plan *p = t->tiling.tile[k];
    p->first = from;
    p->number = b->number;
    p->row = b->row ? b->row + from : NULL;
    b->load(b->data, p, &t->part[k].targets, k, from, n);
}

static void load(const struct mase_tiled_plan *t, struct share own,
                 const struct mase_tiled_batch *b)
{
    const int64_t size = tile_size(b->samples);
    for (int k = own.from; k < own.to; k++) {
        struct mase_plan *p = t->tiling.tile[k];
        const int64_t from = k * size, left = b->samples - from;
        p->accumulate = b->accumulate && k == 0;
        load_tile(t, k, b, from, left < size ? left : size);
        t->part[k].tally.result.weight = mase_plan_weight_sum(p, &t->part[k].targets, &b->loss);
        if (b->teach)
            t->part[k].teacher = b->teach(b->data, p, k);
    }
}

static const struct mase_works *works_of(const struct mase_plan *p, bool backward)
{
    return backward ? &p->backward : &p->forward;
}

static void wait_for_all(int threads)
{
    if (threads > 1) {
#pragma omp barrier
    }
}

/* Every tile runs up to the next phase that needs the other tiles; then the threads meet at a
 * barrier, and processes exchange what it reads. A single thread skips the barrier: it may be one
 * of several threads that each train a network. */
static void run(const struct mase_tiled_plan *t, struct share own, bool backward, int thread,
                int threads)
{
    const struct mase_works *first = works_of(t->tiling.tile[0], backward);
    for (long at = 0, end; at < first->count; at = end) {
        for (end = at + 1; end < first->count && !first->item[end].phase->barrier;)
            end++;
        for (int k = own.from; k < own.to; k++)
            for (long i = at; i < end; i++)
                mase_work_run(&works_of(t->tiling.tile[k], backward)->item[i], 0, 1);
        wait_for_all(threads);
        if (!t->tiling.ranks || end == first->count)
            continue;
        if (thread == 0)
            mase_collective_exchange(t->tiling.tile[0], first->item[end].phase->reads);
        wait_for_all(threads);
    }
}

/* The tallies of all tiles. One thread calls it, in every process. */
static void exchange_tallies(const struct mase_tiled_plan *t)
{
    const struct mase_tiling *g = &t->tiling;
    struct tally *all = (struct tally *)(void *)g->buffer;
    if (!g->ranks)
        return;
    for (int k = g->from; k < g->to; k++)
        all[k] = t->part[k].tally;
    mase_ranks_gather(g->ranks, all, sizeof *all, g->count);
    for (int k = 0; k < g->count; k++)
        t->part[k].tally = all[k];
}

/* Did a tile of any process fail? */
static bool any_failed(const struct mase_tiled_plan *t)
{
    bool failed = false;
    for (int k = 0; k < t->tiling.count; k++)
        failed |= t->part[k].tally.failed;
    return failed;
}

/* The first fault of any tile. Every thread checks all tiles, after all have run forward, so all
 * threads get the same answer. */
static enum mase_status check(const struct mase_tiled_plan *t, struct mase_err *err)
{
    for (int k = 0; k < t->tiling.count; k++)
        MASE_TRY(mase_plan_check(t->tiling.tile[k], err));
    return MASE_OK;
}

/* Forward is done, in all threads: could every tile be computed? Faults of others and the weights
 * of their samples come with the answer. */
static bool is_sound(const struct mase_tiled_plan *t, struct share own, int thread, int threads)
{
    if (!t->tiling.ranks)
        return !check(t, NULL);
    for (int k = own.from; k < own.to; k++)
        t->part[k].tally.failed = mase_plan_check(t->tiling.tile[k], NULL) != MASE_OK;
    wait_for_all(threads);
    if (thread == 0)
        exchange_tallies(t);
    wait_for_all(threads);
    return !check(t, NULL) && !any_failed(t);
}

/* Sums over the samples of other processes' tiles, and whether the loss could be computed there.
 * One thread calls it. */
static void exchange_own_loss(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b)
{
    const bool failed = mase_own_loss_check(b->loss.own, NULL, NULL) != MASE_OK;
    for (int k = t->tiling.from; k < t->tiling.to; k++)
        t->part[k].tally.failed = failed;
    mase_own_loss_exchange(b->loss.own, &t->tiling, tile_size(b->samples));
    exchange_tallies(t);
}

/* A user's own loss is one number for all tiles. Returns false when a value does not allow to
 * compute it. */
static bool own_losses(const struct mase_tiled_plan *t, struct share own,
                       const struct mase_tiled_batch *b, int thread, int threads)
{
    struct mase_own_loss *l = b->loss.own;
    for (int k = own.from; k < own.to; k++) {
        struct mase_plan *p = t->tiling.tile[k];
        const struct mase_lanes y = mase_plan_output(p);
        struct part *part = &t->part[k];
        part->tally.result.loss = 0;
        mase_own_loss_tile(l, k, p->first, p->samples, &y, &part->targets);
        mase_loss_score(&part->tally.result, &y, &part->targets, &b->loss, p->samples);
    }
    wait_for_all(threads);
    if (t->tiling.ranks) {
        if (thread == 0)
            exchange_own_loss(t, b);
        wait_for_all(threads);
    }
    if (mase_own_loss_check(l, NULL, NULL) || any_failed(t))
        return false;
    if (thread == 0)
        t->part[0].tally.result.loss = (double)b->samples * mase_own_loss_end(l, b->loss.scale);
    wait_for_all(threads);
    for (int k = own.from; k < own.to; k++) {
        struct mase_plan *p = t->tiling.tile[k];
        mase_own_loss_gradient(l, k,
                               (struct mase_lanes){ p->output->dx, p->output->rows, p->stride });
    }
    return true;
}

static bool losses(const struct mase_tiled_plan *t, struct share own,
                   const struct mase_tiled_batch *b, int thread, int threads)
{
    double weight = 0;
    if (b->loss.own)
        return own_losses(t, own, b, thread, threads);
    for (int k = 0; k < t->tiling.count; k++)
        weight += t->part[k].tally.result.weight;
    for (int k = own.from; k < own.to; k++) {
        struct mase_plan *p = t->tiling.tile[k];
        struct mase_loss_opts o = b->loss;
        if (b->teach)
            o.teacher = t->part[k].teacher;
        mase_plan_loss_part(p, &t->part[k].tally.result, &t->part[k].targets, &o, weight,
                            b->samples);
    }
    return true;
}

/* Pass gradients from derived values to parameters, in one thread: after all tiles are done, and
 * before parameters change. */
static void finish_derived(const struct mase_tiled_plan *t, int thread, int threads)
{
    struct mase_plan *first = t->tiling.tile[0];
    if (!first->derived)
        return;
    wait_for_all(threads);
    if (thread == 0)
        mase_derive_backward(first, 1);
    wait_for_all(threads);
}

/* Add the gradients of all tiles, in their order, for a thread's part of the parameters, and update
 * that part while it is in the cache. Gradients of several processes are added by one thread. */
static void finish(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b, int thread,
                   int threads)
{
    const struct mase_plan *first = t->tiling.tile[0];
    const int64_t vectors = first->param_size / MASE_LANES;
    const int64_t from = vectors * thread / threads * MASE_LANES;
    const int64_t to = vectors * (thread + 1) / threads * MASE_LANES;
    if (t->tiling.ranks) {
        if (thread == 0)
            mase_collective_total(first, first->grads_part, first->param_size);
        wait_for_all(threads);
    } else {
        mase_collective_sum(first, first->grads + from, first->grads_part, from, to - from);
    }
    finish_derived(t, thread, threads);
    if (b->update)
        b->update(b->data, from, to);
}

static void step_part(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b, int thread,
                      int threads)
{
    const struct share own = share_of(t, thread, threads);
    load(t, own, b);
    run(t, own, false, thread, threads);
    if (!is_sound(t, own, thread, threads) || !losses(t, own, b, thread, threads))
        return;
    run(t, own, true, thread, threads);
    finish(t, b, thread, threads);
}

/* One tile: threads share every phase of its plan. */
static void step_whole(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b,
                       int threads)
{
    struct mase_plan *p = mase_tiled_plan_first(t);
    load(t, (struct share){ 0, 1 }, b);
    mase_works_run(&p->forward, threads);
    if (check(t, NULL) || !losses(t, (struct share){ 0, 1 }, b, 0, 1))
        return;
    mase_works_run(&p->backward, threads);
    finish(t, b, 0, 1);
}

static void step(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b, int threads)
{
    if (t->tiling.count == 1) {
        step_whole(t, b, threads);
    } else if (threads == 1) {
        step_part(t, b, 0, 1);
    } else {
        struct mase_guard *guard = mase_guard_suspend();
#pragma omp parallel num_threads(threads)
        step_part(t, b, omp_get_thread_num(), omp_get_num_threads()); /* may be fewer */
        mase_guard_resume(guard);
    }
}

static void step_in_time(struct mase_tiled_plan *t, const struct mase_tiled_batch *b)
{
    const uint64_t started = mase_clock();
    step(t, b, mase_thread_tuner_single(&t->tuner) ? 1 : t->threads);
    mase_thread_tuner_record(&t->tuner, (double)(mase_clock() - started), b->samples);
}

/* Only learned numbers keep their new values: the forward pass has also changed statistics of batch
 * norms, which are restored. */
enum mase_status mase_tiled_plan_start(struct mase_tiled_plan *t, const struct mase_tiled_batch *b,
                                       struct mase_err *err)
{
    struct mase_plan *p = mase_tiled_plan_first(t);
    struct mase_arena a = { 0 };
    enum mase_status st = MASE_OK;
    float **was = mase_new_array(&a, float *, (size_t)p->weight_count);
    for (int i = 0; i < p->weight_count; i++)
        was[i] = mase_arena_memdup(&a, p->weight[i].x, (size_t)p->weight[i].count * sizeof(float));
    mase_collective_divide(&t->tiling, 1, NULL);
    for (int64_t at = 0; at < b->samples && !st; at += p->batch) {
        const int64_t left = b->samples - at;
        load_tile(t, 0, b, at, left < p->batch ? left : p->batch);
        p->warm_up_pass++;
        mase_derive_forward(p, 1);
        mase_works_run(&p->forward, 1);
        st = check(t, err);
    }
    p->warm_up_pass = 0;
    for (int i = 0; i < p->weight_count; i++)
        if (p->weight[i].param->init != MASE_INIT_UNSET)
            memcpy(p->weight[i].x, was[i], (size_t)p->weight[i].count * sizeof(float));
    mase_arena_release(&a);
    return st;
}

/* How this process fared becomes how all did. They ask each other only when it is known to all of
 * them that something failed. */
static enum mase_status settle(const struct mase_tiled_plan *t, enum mase_status st,
                               struct mase_err *err)
{
    return st || any_failed(t) ? mase_ranks_agree(t->ranks, st, err) : MASE_OK;
}

enum mase_status mase_tiled_plan_step(struct mase_tiled_plan *t, struct mase_loss_result *result,
                                      const struct mase_tiled_batch *b, struct mase_err *err)
{
    struct mase_plan *first = mase_tiled_plan_first(t);
    const int tiles = mase_tiled_plan_tiles(b->samples);
    /* a single tile is computed by every process, which is less work than to hand it on */
    mase_collective_divide(&t->tiling, tiles, tiles > 1 ? t->ranks : NULL);
    for (int k = 0; k < tiles; k++)
        t->part[k].tally.failed = false;
    first->number = b->number;
    first->accumulate = b->accumulate; /* whoever runs it */
    if (b->loss.own)
        MASE_TRY(settle(t, mase_own_loss_begin(b->loss.own, b->samples, tiles, err), err));
    mase_derive_forward(first, t->threads);
    if (t->threads > 1)
        step_in_time(t, b);
    else
        step(t, b, 1);
    exchange_tallies(t);
    enum mase_status st = check(t, err);
    if (!st && b->loss.own)
        st = mase_own_loss_check(b->loss.own, b->row, err);
    MASE_TRY(settle(t, st, err));
    mase_plan_store(first);
    *result = (struct mase_loss_result){ 0 };
    for (int k = 0; k < tiles; k++) {
        const struct mase_loss_result *part = &t->part[k].tally.result;
        result->loss += part->loss;
        result->weight += part->weight;
        result->score.part += part->score.part;
        result->score.whole += part->score.whole;
    }
    return MASE_OK;
}
