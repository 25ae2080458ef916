/*
 * collective.c - parts of tiles, in the memory of one process or of several (collective.h).
 */
#include "exec/plan/collective.h"

#include <string.h>

#include "base/ranks.h"

int mase_collective_add(struct mase_plan *p, void *part, size_t bytes)
{
    p->part = mase_arena_grow(&p->arena, p->part, p->part_count, &p->part_cap, sizeof *p->part);
    p->part[p->part_count] = (struct mase_part){ part, bytes };
    return p->part_count++;
}

bool mase_collective_is_tile(const struct mase_plan *p)
{
    return p->tiling != NULL;
}

bool mase_collective_is_first(const struct mase_plan *p)
{
    return !p->tiling || p->tiling->tile[p->tiling->from] == p;
}

int mase_collective_tiles(const struct mase_plan *p)
{
    return p->tiling ? p->tiling->count : 1;
}

static struct mase_part part_of(const struct mase_plan *p, int number, int k)
{
    const struct mase_plan *tile = p->tiling ? p->tiling->tile[k] : p;
    if (number < 0 || number >= tile->part_count)
        mase_bug("part %d of a tile that has %d", number, tile->part_count);
    return tile->part[number];
}

const void *mase_collective_part(const struct mase_plan *p, int number, int k)
{
    return part_of(p, number, k).data;
}

/* Values at .. at + n - 1 of the parts of these tiles. */
static void add_tiles(const struct mase_plan *p, float *sum, int number, int64_t at, int64_t n,
                      int from, int to)
{
    for (int k = from; k < to; k++) {
        const float *part = (const float *)mase_collective_part(p, number, k) + at;
        if (part == sum)
            continue;
        if (n % MASE_LANES == 0) {
            p->k->axpy(sum, part, 1.0f, (long)n);
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            sum[i] += part[i];
    }
}

void mase_collective_sum(const struct mase_plan *p, float *sum, int number, int64_t from, int64_t n)
{
    add_tiles(p, sum, number, from, n, 0, mase_collective_tiles(p));
}

/* ---- several processes ---- */

void mase_collective_divide(struct mase_tiling *t, int count, struct mase_ranks *ranks)
{
    int64_t from = 0;
    const int64_t to = ranks ? mase_ranks_share(&from, count, ranks->rank, ranks->count) : count;
    t->count = count;
    t->ranks = ranks;
    t->from = (int)from;
    t->to = (int)to;
}

size_t mase_collective_room(const struct mase_plan *p)
{
    const struct mase_works *const lists[] = { &p->forward, &p->backward };
    size_t room = 0;
    for (int i = 0; i < 2; i++)
        for (long j = 0; j < lists[i]->count; j++) {
            const struct mase_phase *phase = lists[i]->item[j].phase;
            const size_t bytes = phase->barrier ? p->part[phase->reads].bytes : 0;
            room = bytes > room ? bytes : room;
        }
    return room;
}

void mase_collective_exchange(const struct mase_plan *p, int number)
{
    const struct mase_tiling *t = p->tiling;
    if (!t || !t->ranks)
        return;
    const size_t bytes = part_of(p, number, 0).bytes;
    for (int k = t->from; k < t->to; k++)
        memcpy(t->buffer + (size_t)k * bytes, part_of(p, number, k).data, bytes);
    mase_ranks_gather(t->ranks, t->buffer, bytes, t->count);
    for (int k = 0; k < t->count; k++)
        if (k < t->from || k >= t->to)
            memcpy(part_of(p, number, k).data, t->buffer + (size_t)k * bytes, bytes);
}

int mase_collective_owner(const struct mase_tiling *t, int k)
{
    int rank = 0;
    for (int64_t from; mase_ranks_share(&from, t->count, rank, t->ranks->count) <= k;)
        rank++;
    return rank;
}

/* Floats that travel at a time: while one rank adds its tiles to some, the one before it has gone
 * on to the next. */
enum { SEGMENT = 1 << 14 };

/* A sum of floats cannot be taken in any other order: what the tiles before these come to arrives,
 * theirs are added, and it goes on. */
static void pass_on(const struct mase_plan *p, float *sum, int number, int64_t n)
{
    const struct mase_tiling *t = p->tiling;
    struct mase_ranks *r = t->ranks;
    for (int64_t at = 0, left; at < n; at += SEGMENT) {
        left = n - at < SEGMENT ? n - at : SEGMENT;
        if (t->from > 0)
            mase_ranks_receive(r, sum + at, (size_t)left * sizeof *sum,
                               mase_collective_owner(t, t->from - 1));
        add_tiles(p, sum + at, number, at, left, t->from, t->to);
        if (t->to < t->count)
            mase_ranks_send(r, sum + at, (size_t)left * sizeof *sum,
                            mase_collective_owner(t, t->to));
    }
}

void mase_collective_total(const struct mase_plan *p, int number, int64_t n)
{
    const struct mase_tiling *t = p->tiling;
    float *sum = part_of(p, number, 0).data;
    if (!t || !t->ranks) {
        mase_collective_sum(p, sum, number, 0, n);
        return;
    }
    if (t->from < t->to)
        pass_on(p, sum, number, n);
    mase_ranks_broadcast(t->ranks, sum, (size_t)n * sizeof *sum,
                         mase_collective_owner(t, t->count - 1));
}
