/*
 * execute.c - run a plan's steps, alone or shared among threads.
 *
 * Threads share the items of a phase, with a barrier behind it. The result of an item does not
 * depend on how items are shared, so the number of threads changes no bit.
 */
#include <mase/plan.h>

#include <omp.h>

#include "base/host.h"
#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"

/* Lanes are shared in blocks that the products like best. */
enum { LANE_BLOCK = 64 };

void mase_work_run(const struct mase_work *w, int thread, int threads)
{
    const struct mase_phase *ph = w->phase;
    const long unit = ph->unit == MASE_UNIT_LANES ? LANE_BLOCK : 1;
    const long items = ph->unit == MASE_UNIT_LANES ? w->step->plan->n : ph->items;
    const long blocks = (items + unit - 1) / unit;
    const long from = blocks * thread / threads * unit, to = blocks * (thread + 1) / threads * unit;
    if (from >= items || from >= to)
        return;
    ph->run(w->step, from, to < items ? to : items);
}

static void run_part(const struct mase_works *works, int thread, int threads)
{
    for (long i = 0; i < works->count; i++) {
        mase_work_run(&works->item[i], thread, threads);
        if (threads > 1) {
#pragma omp barrier
        }
    }
}

void mase_works_run(const struct mase_works *works, int threads)
{
    if (threads == 1) {
        run_part(works, 0, 1);
        return;
    }
    struct mase_guard *guard = mase_guard_suspend();
#pragma omp parallel num_threads(threads)
    run_part(works, omp_get_thread_num(), omp_get_num_threads()); /* may be fewer */
    mase_guard_resume(guard);
}

/* A few samples in evaluation: sixteen lanes would be mostly padding. Each feature's chain of
 * operations is the same as in lanes, so the bits are too. */
enum { FEW_SAMPLES = 4 };

static void refresh_single(struct mase_plan *p)
{
    for (int i = 0; i < p->step_count; i++)
        if (p->step[i]->kind->refresh_single)
            p->step[i]->kind->refresh_single(p->step[i]);
    p->single_stale = false;
}

static void forward_single(const struct mase_plan *p, int64_t sample)
{
    for (int i = 0; i < p->input_count; i++)
        for (int64_t r = 0; r < p->input[i]->rows; r++)
            p->input[i]->single[r] = p->input[i]->x[r * p->stride + sample];
    for (int i = 0; i < p->step_count; i++) {
        const struct mase_step *s = p->step[i];
        s->single(s, s->out->single, s->in[0]->single);
    }
    for (int64_t r = 0; r < p->output->rows; r++)
        p->output->x[r * p->stride + sample] = p->output->single[r];
}

enum mase_status mase_plan_check(const struct mase_plan *p, struct mase_err *err)
{
    if (p->derived)
        MASE_TRY(mase_plan_check(p->derived, err));
    for (int i = 0; i < p->step_count; i++) {
        const struct mase_step *s = p->step[i];
        const struct mase_fault *f = s->fault;
        if (!f || !f->found)
            continue;
        const int64_t sample = p->row ? (int64_t)p->row[f->lane] : p->first + f->lane;
        return mase_node_place(s->node,
                               s->guarded ? mase_step_refuse_whole(s, sample, err)
                                          : s->kind->refuse(s, sample, err),
                               err);
    }
    return MASE_OK;
}

enum mase_status mase_plan_forward(struct mase_plan *p, struct mase_err *err)
{
    if (p->samples < p->least_samples)
        return mase_node_place(p->mixing_node, mase_batch_too_small(p->mixing_node, err), err);
    p->number++;
    if (p->train) /* else they were computed when the weights were read */
        mase_derive_forward(p, p->threads);
    if (p->single && p->samples <= FEW_SAMPLES) {
        if (p->single_stale)
            refresh_single(p);
        for (int64_t i = 0; i < p->samples; i++)
            forward_single(p, i);
        return MASE_OK; /* no step on that path has faults */
    }
    if (p->forward.stale)
        mase_plan_list_forward(p);
    mase_works_run(&p->forward, p->threads);
    return mase_plan_check(p, err);
}

void mase_plan_set_threads(struct mase_plan *p, int threads)
{
    p->threads = threads > 1 ? threads : 1;
}

void mase_plan_backward(struct mase_plan *p)
{
    mase_works_run(&p->backward, p->threads);
    mase_derive_backward(p, p->threads);
    mase_plan_store(p);
}

void mase_plan_set_samples(struct mase_plan *p, int64_t samples)
{
    if (samples < 1 || samples > p->batch)
        mase_bug("%lld samples in a plan for 1..%lld", (long long)samples, (long long)p->batch);
    p->samples = samples;
    p->n = (samples + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

void mase_plan_gather(struct mase_plan *p, const float *table, int64_t row_stride,
                      const uint32_t *index, int64_t samples)
{
    mase_plan_set_samples(p, samples);
    const struct mase_lanes in = mase_plan_inputs(p);
    p->k->gather(&(struct mase_gather){ .y = in.data,
                                        .table = table,
                                        .index = index,
                                        .F = in.rows,
                                        .n = p->n,
                                        .samples = samples,
                                        .y_stride = p->stride,
                                        .table_stride = row_stride });
}

void mase_step_clear(const struct mase_step *s, float *x, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to && p->samples < p->n; r++)
        for (int64_t i = p->samples; i < p->n; i++)
            x[r * p->stride + i] = 0.0f;
}

/* ---- looking in ---- */

static struct mase_lanes lanes_of(const struct mase_plan *p, const struct mase_slot *s, float *x)
{
    return (struct mase_lanes){ x, x ? s->rows : 0, p->stride };
}

struct mase_lanes mase_plan_input(const struct mase_plan *p, int i)
{
    return lanes_of(p, p->input[i], p->input[i]->x);
}

/* They are allocated first and live to the end, so they are adjacent (place.c). */
struct mase_lanes mase_plan_inputs(const struct mase_plan *p)
{
    struct mase_lanes all = mase_plan_input(p, 0);
    for (int i = 1; i < p->input_count; i++) {
        if (p->input[i]->x != all.data + all.rows * all.stride)
            mase_bug("input %d of a plan does not lie behind the one before", i);
        all.rows += p->input[i]->rows;
    }
    return all;
}

struct mase_lanes mase_plan_input_gradient(const struct mase_plan *p, int i)
{
    return lanes_of(p, p->input[i], p->input[i]->dx);
}

struct mase_lanes mase_plan_output(const struct mase_plan *p)
{
    return lanes_of(p, p->output, p->output->x);
}

float *mase_plan_output_gradient(struct mase_plan *p)
{
    return p->output->dx;
}

struct mase_plan_params mase_plan_params(const struct mase_plan *p)
{
    return (struct mase_plan_params){ p->params, p->grads, p->param_size };
}

void mase_plan_accumulate(struct mase_plan *p, bool on)
{
    p->accumulate = on;
}

void mase_plan_set_step(struct mase_plan *p, uint64_t step)
{
    p->number = step;
}

const char *mase_plan_isa(const struct mase_plan *p)
{
    return p->k->isa;
}

int64_t mase_plan_memory(const struct mase_plan *p)
{
    const int64_t derived = p->derived ? p->derived->memory_size : 0;
    return (p->memory_size + derived + 2 * p->param_size) * (int64_t)sizeof(float);
}
