/*
 * collective.c - parts of tiles that lie in the memory of one process (collective.h).
 */
#include "exec/plan/collective.h"

int mase_collective_add(struct mase_plan *p, void *part)
{
    p->part = mase_arena_grow(&p->arena, p->part, p->part_count, &p->part_cap, sizeof *p->part);
    p->part[p->part_count] = part;
    return p->part_count++;
}

bool mase_collective_is_tile(const struct mase_plan *p)
{
    return p->tiling != NULL;
}

bool mase_collective_is_first(const struct mase_plan *p)
{
    return !p->tiling || p->tiling->tile[0] == p;
}

int mase_collective_tiles(const struct mase_plan *p)
{
    return p->tiling ? p->tiling->count : 1;
}

const void *mase_collective_part(const struct mase_plan *p, int number, int k)
{
    const struct mase_plan *tile = p->tiling ? p->tiling->tile[k] : p;
    if (number < 0 || number >= tile->part_count)
        mase_bug("part %d of a tile that has %d", number, tile->part_count);
    return tile->part[number];
}

void mase_collective_sum(const struct mase_plan *p, float *sum, int number, int64_t from, int64_t n)
{
    for (int k = 0; k < mase_collective_tiles(p); k++) {
        const float *part = (const float *)mase_collective_part(p, number, k) + from;
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
