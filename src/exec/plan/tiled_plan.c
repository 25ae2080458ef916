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
#include "exec/loss/own_loss.h"
#include "exec/plan/collective.h"
#include "exec/plan/plan_parts.h"
#include "exec/plan/thread_tuner.h"

/* Samples of a tile: few enough that a layer's values stay near the core and a batch of a thousand
 * keeps two of them busy, so many that the sums at the end of every product cost little (with 256,
 * 14 % of a step). */
enum { TILE = 512 };

/* Results of one tile. Threads write in parallel, and no two tiles share a cache line. */
struct part {
    struct mase_loss_result result;
    struct mase_targets targets;
    struct mase_lanes teacher;
    char apart[64];
};

struct mase_tiled_plan {
    struct mase_tiling tiling;
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
    mase_xfree(t->part);
    mase_xfree(t);
}

struct mase_plan *mase_tiled_plan_first(const struct mase_tiled_plan *t)
{
    return t->tiling.tile[0];
}

/* ---- one step ---- */

/* The tiles of a thread. */
struct share {
    int from, to;
};

static struct share share_of(const struct mase_tiled_plan *t, int thread, int threads)
{
    const int n = t->tiling.count;
    return (struct share){ n * thread / threads, n * (thread + 1) / threads };
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
        t->part[k].result.weight = mase_plan_weight_sum(p, &t->part[k].targets, &b->loss);
        if (b->teach)
            t->part[k].teacher = b->teach(b->data, p, k);
    }
}

static const struct mase_works *works_of(const struct mase_plan *p, bool backward)
{
    return backward ? &p->backward : &p->forward;
}

/* Every tile runs up to the next phase that needs the other tiles; then the threads meet at a
 * barrier. A single thread skips the barrier: it may be one of several threads that each train a
 * network. */
static void run(const struct mase_tiled_plan *t, struct share own, bool backward, int threads)
{
    const struct mase_works *first = works_of(t->tiling.tile[0], backward);
    for (long at = 0, end; at < first->count; at = end) {
        for (end = at + 1; end < first->count && !first->item[end].phase->barrier;)
            end++;
        for (int k = own.from; k < own.to; k++)
            for (long i = at; i < end; i++)
                mase_work_run(&works_of(t->tiling.tile[k], backward)->item[i], 0, 1);
        if (threads > 1) {
#pragma omp barrier
        }
    }
}

static void wait_for_all(int threads)
{
    if (threads > 1) {
#pragma omp barrier
    }
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
        part->result.loss = 0;
        mase_own_loss_tile(l, k, p->first, p->samples, &y, &part->targets);
        mase_loss_score(&part->result, &y, &part->targets, &b->loss, p->samples);
    }
    wait_for_all(threads);
    if (mase_own_loss_check(l, NULL, NULL))
        return false;
    if (thread == 0)
        t->part[0].result.loss = (double)b->samples * mase_own_loss_end(l, b->loss.scale);
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
        weight += t->part[k].result.weight;
    for (int k = own.from; k < own.to; k++) {
        struct mase_plan *p = t->tiling.tile[k];
        struct mase_loss_opts o = b->loss;
        if (b->teach)
            o.teacher = t->part[k].teacher;
        mase_plan_loss_part(p, &t->part[k].result, &t->part[k].targets, &o, weight, b->samples);
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
 * that part while it is in the cache. */
static void finish(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b, int thread,
                   int threads)
{
    const struct mase_plan *first = t->tiling.tile[0];
    const int64_t vectors = first->param_size / MASE_LANES;
    const int64_t from = vectors * thread / threads * MASE_LANES;
    const int64_t to = vectors * (thread + 1) / threads * MASE_LANES;
    mase_collective_sum(first, first->grads + from, first->grads_part, from, to - from);
    finish_derived(t, thread, threads);
    if (b->update)
        b->update(b->data, from, to);
}

/* The first fault of any tile. Every thread checks all tiles, after all have run forward, so all
 * threads get the same answer. */
static enum mase_status check(const struct mase_tiled_plan *t, struct mase_err *err)
{
    for (int k = 0; k < t->tiling.count; k++)
        MASE_TRY(mase_plan_check(t->tiling.tile[k], err));
    return MASE_OK;
}

static void step_part(const struct mase_tiled_plan *t, const struct mase_tiled_batch *b, int thread,
                      int threads)
{
    const struct share own = share_of(t, thread, threads);
    load(t, own, b);
    run(t, own, false, threads);
    if (check(t, NULL) || !losses(t, own, b, thread, threads))
        return;
    run(t, own, true, threads);
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
    t->tiling.count = 1;
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

enum mase_status mase_tiled_plan_step(struct mase_tiled_plan *t, struct mase_loss_result *result,
                                      const struct mase_tiled_batch *b, struct mase_err *err)
{
    struct mase_plan *first = mase_tiled_plan_first(t);
    t->tiling.count = mase_tiled_plan_tiles(b->samples);
    first->number = b->number;
    if (b->loss.own)
        MASE_TRY(mase_own_loss_begin(b->loss.own, b->samples, t->tiling.count, err));
    mase_derive_forward(first, t->threads);
    if (t->threads > 1)
        step_in_time(t, b);
    else
        step(t, b, 1);
    *result = (struct mase_loss_result){ 0 };
    MASE_TRY(check(t, err));
    if (b->loss.own)
        MASE_TRY(mase_own_loss_check(b->loss.own, b->row, err));
    mase_plan_store(first);
    for (int k = 0; k < t->tiling.count; k++) {
        result->loss += t->part[k].result.loss;
        result->weight += t->part[k].result.weight;
        result->score.part += t->part[k].result.score.part;
        result->score.whole += t->part[k].result.score.whole;
    }
    return MASE_OK;
}
