/*
 * learned_round.c - uniform rounding in plans that train: clamped values pass no gradient back,
 * and steps and bounds may themselves be learned (plan_formats.h).
 *
 * Each block has a step and bounds. A learned one is a parameter like any other; its gradient is
 * the sum over the rows of the block, always in their order, whatever threads computed the rows.
 */
#include <math.h>
#include <string.h>

#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "quant/quant.h"

enum { AT_ONCE = 256 }; /* values of a dense block that are gathered at a time */

/* Blocks of a format that has none: the whole is one. */
static void whole(struct mase_learned_rounding *g, struct mase_arena *a)
{
    int64_t *row = mase_new_array(a, int64_t, (size_t)g->rows), *end = mase_new(a, int64_t);
    for (int64_t i = 0; i < g->rows; i++)
        row[i] = i * g->stride;
    *end = g->rows;
    g->row = row;
    g->end = end;
    g->blocks = 1;
}

static void map_rows(struct mase_learned_rounding *g, struct mase_arena *a)
{
    int32_t *of = mase_new_array(a, int32_t, (size_t)g->rows);
    int64_t block = 0;
    for (int64_t i = 0; i < g->rows; i++) {
        while (i >= g->end[block])
            block++;
        of[g->row[i] / g->stride] = (int32_t)block;
    }
    g->block_of = of;
}

/* ---- steps of products ---- */

struct mase_learned_rounding_products {
    struct mase_products products;
    struct mase_weight *value[2][MASE_LEARNED_MAX];
    float *of_data, *of_weight; /* by block */
    float *step, *room;
};

static const struct mase_learned_rounding_products *find_products(
    struct mase_plan *p, const struct mase_rounding_products *request)
{
    struct mase_arena *a = &p->arena;
    if (!request)
        return NULL;
    struct mase_learned_rounding_products *g = mase_new(a, struct mase_learned_rounding_products);
    g->products = request->products;
    mase_products_init(&g->products, a);
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < MASE_LEARNED_MAX && request->learned[k][j]; j++)
            g->value[k][j] = mase_plan_weight(p, request->learned[k][j]);
    const struct mase_products *q = &g->products;
    g->of_data = mase_new_array(a, float, (size_t)q->of_data.blocks);
    g->of_weight = mase_new_array(a, float, (size_t)q->of_weight.blocks);
    g->step = mase_new_array(a, float, (size_t)q->outputs);
    g->room = mase_new_array(a, float, (size_t)(q->groups + q->of_weight.parts));
    return g;
}

struct mase_learned_rounding *mase_learned_rounding(struct mase_plan *p,
                                                    const struct mase_rounding_request *request,
                                                    const struct mase_round *r, int64_t rows)
{
    const struct mase_format *f = request->how.format;
    const int learned = mase_format_learned(f);
    if (!learned && !request->products &&
        (!p->train || mase_format_gradient(f) == MASE_GRADIENT_STRAIGHT))
        return NULL;
    struct mase_learned_rounding *g = mase_new(&p->arena, struct mase_learned_rounding);
    *g = (struct mase_learned_rounding){ .how = request->how,
                                         .products = find_products(p, request->products),
                                         .learned = learned,
                                         .blocks = r->blocks,
                                         .rows = rows,
                                         .row = r->row,
                                         .end = r->end,
                                         .stride = r->stride };
    for (int j = 0; j < learned; j++)
        g->value[j] = mase_plan_weight(p, request->learned[j]);
    if (!g->row)
        whole(g, &p->arena);
    map_rows(g, &p->arena);
    g->uniform = mase_new_array(&p->arena, struct mase_uniform, (size_t)g->blocks);
    if (learned && p->train && g->how.role == MASE_ROLE_DATA)
        g->seen = mase_new_array(&p->arena, struct mase_block_size, (size_t)g->blocks);
    return g;
}

void mase_learned_rounding_use(struct mase_step *s, struct mase_learned_rounding *g)
{
    for (int j = 0; j < g->learned; j++)
        mase_step_use(s, g->value[j]);
}

static const float *const *values(const struct mase_learned_rounding *g, const float **at)
{
    for (int j = 0; j < g->learned; j++)
        at[j] = g->value[j]->x;
    return at;
}

/* A format without blocks that is not uniform is bounded by its lowest and highest value. */
static struct mase_uniform bounds_of(const struct mase_format *f, int64_t block,
                                     enum mase_sign sign)
{
    struct mase_uniform u = { .scale = 1 };
    if (!mase_format_uniform(&u, f, block, sign))
        mase_format_limits(&u.lo, &u.hi, f, sign);
    return u;
}

static void block_steps(float *step, const struct mase_factor *f, int64_t blocks,
                        struct mase_weight *const *value)
{
    const float *at[MASE_LEARNED_MAX];
    for (int j = 0; j < MASE_LEARNED_MAX && value[j]; j++)
        at[j] = value[j]->x;
    for (int64_t b = 0; b < blocks; b++)
        step[b] = value[0] ? mase_learned_uniform(f->format, at, b, f->sign).scale
                           : bounds_of(f->format, b, f->sign).scale;
}

static void refresh_products(const struct mase_learned_rounding *g)
{
    const struct mase_learned_rounding_products *p = g->products;
    const struct mase_products *q = &p->products;
    block_steps(p->of_data, &q->data, q->of_data.blocks, p->value[0]);
    block_steps(p->of_weight, &q->weight, q->of_weight.blocks, p->value[1]);
    mase_products_steps(p->step, q, p->room, p->of_data, p->of_weight);
    for (int64_t b = 0; b < g->blocks; b++)
        g->uniform[b] = mase_products_uniform(p->step[b], g->how.sign);
}

bool mase_learned_rounding_moves(const struct mase_learned_rounding *g)
{
    return g && (g->learned || g->products);
}

void mase_learned_rounding_refresh(const struct mase_learned_rounding *g)
{
    const float *at[MASE_LEARNED_MAX];
    if (g->products) {
        refresh_products(g);
        return;
    }
    const struct mase_format *f = g->how.format;
    for (int64_t b = 0; b < g->blocks; b++)
        g->uniform[b] = g->learned ? mase_learned_uniform(f, values(g, at), b, g->how.sign)
                                   : bounds_of(f, b, g->how.sign);
}

static struct mase_block block_at(const struct mase_learned_rounding *g, int64_t b, int64_t lanes)
{
    const int64_t begin = b ? g->end[b - 1] : 0;
    return (struct mase_block){ g->row + begin, g->end[b] - begin, lanes, NULL, b };
}

static void set(const struct mase_learned_rounding *g, int64_t b,
                const struct mase_block_size *size)
{
    const struct mase_format *f = g->how.format;
    float value[MASE_LEARNED_MAX];
    f->row->learned->start(value, size, f->params, g->how.sign);
    for (int j = 0; j < g->learned; j++)
        g->value[j]->x[b] = value[j];
}

void mase_learned_rounding_start(const struct mase_learned_rounding *g, const float *x,
                                 int64_t lanes, bool first)
{
    for (int64_t b = 0; b < g->blocks && g->learned; b++) {
        if (first ? !isnan(g->value[0]->x[b]) : !g->seen || !g->seen[b].count)
            continue;
        const struct mase_block block = block_at(g, b, lanes);
        struct mase_block_size size = mase_block_sizes(x, &block, lanes, g->how.role);
        if (g->seen && !first)
            size = mase_block_sizes_of_both(&g->seen[b], &size);
        if (g->seen)
            g->seen[b] = size;
        set(g, b, &size);
    }
}

/* ---- rows of lanes ---- */

void mase_learned_rounding_rows(const struct mase_learned_rounding *g, const struct mase_kernels *k,
                                float *y, const float *x, int64_t lanes, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++)
        k->quantize_uniform(y + r * g->stride, x + r * g->stride, &g->uniform[g->block_of[r]],
                            lanes);
}

/* Round one sample, whose values are contiguous. */
void mase_learned_rounding_single(const struct mase_learned_rounding *g,
                                  const struct mase_kernels *k, float *y, const float *x)
{
    if (g->blocks == 1) {
        k->quantize_uniform(y, x, g->uniform, (g->rows + MASE_LANES - 1) / MASE_LANES * MASE_LANES);
        return;
    }
    for (int64_t r = 0; r < g->rows; r++)
        y[r] = mase_uniform_round(x[r], &g->uniform[g->block_of[r]]);
}

void mase_learned_rounding_rows_back(const struct mase_learned_rounding *g,
                                     const struct mase_kernels *k, float *dx, float *sum,
                                     const float *dy, const float *x, bool add, int64_t lanes,
                                     int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++)
        k->quantize_uniform_back(dx + r * g->stride, sum + 3 * r, dy + r * g->stride,
                                 x + r * g->stride, &g->uniform[g->block_of[r]], add, lanes);
}

/* ---- what is learned ---- */

static void put(const struct mase_step *s, const struct mase_weight *w, int64_t i, float d)
{
    if (w->dx)
        w->dx[i] = mase_step_adds(s, w) ? w->dx[i] + d : d;
}

static void learn_block(const struct mase_step *s, const struct mase_learned_rounding *g, int64_t b,
                        const float sum[3])
{
    const struct mase_format *f = g->how.format;
    float value[MASE_LEARNED_MAX], d[MASE_LEARNED_MAX];
    for (int j = 0; j < g->learned; j++)
        value[j] = g->value[j]->x[b];
    f->row->learned->gradient(d, sum, value, f->params, g->how.sign, block_at(g, b, 1).rows);
    for (int j = 0; j < g->learned; j++)
        put(s, g->value[j], b, d[j]);
}

void mase_learned_rounding_learn(const struct mase_step *s, const struct mase_learned_rounding *g,
                                 const float *sum, int64_t from, int64_t to)
{
    for (int64_t b = from; b < to; b++) {
        const struct mase_block block = block_at(g, b, 1);
        float all[3] = { 0, 0, 0 };
        for (int64_t i = 0; i < block.rows; i++)
            for (int j = 0; j < 3; j++)
                all[j] += sum[3 * (block.row[i] / g->stride) + j];
        learn_block(s, g, b, all);
    }
}

/* ---- dense tensors ---- */

static int64_t vectors(int64_t n)
{
    return (n + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

/* Gather n values of a block from its i-th on; pads with zeros. */
static int64_t gather(float *lane, const float *x, const struct mase_block *b, int64_t i)
{
    const int64_t n = b->rows - i < AT_ONCE ? b->rows - i : AT_ONCE;
    for (int64_t j = 0; j < n; j++)
        lane[j] = x[b->row[i + j]];
    for (int64_t j = n; j < vectors(n); j++)
        lane[j] = 0;
    return n;
}

/* Are the values of a block neighbours, in whole vectors? Then they can stay where they are. */
static bool lies_together(const struct mase_block *b)
{
    return b->rows % MASE_LANES == 0 && b->row[0] % MASE_LANES == 0 &&
           b->row[b->rows - 1] - b->row[0] == b->rows - 1;
}

void mase_learned_rounding_dense(const struct mase_learned_rounding *g,
                                 const struct mase_kernels *k, float *y, const float *x)
{
    float lane[AT_ONCE];
    for (int64_t b = 0; b < g->blocks; b++) {
        const struct mase_block block = block_at(g, b, 1);
        if (block.rows == 1) {
            y[block.row[0]] = mase_uniform_round(x[block.row[0]], &g->uniform[b]);
            continue;
        }
        if (lies_together(&block)) {
            k->quantize_uniform(y + block.row[0], x + block.row[0], &g->uniform[b], block.rows);
            continue;
        }
        for (int64_t i = 0, n; i < block.rows; i += n) {
            n = gather(lane, x, &block, i);
            k->quantize_uniform(lane, lane, &g->uniform[b], vectors(n));
            for (int64_t j = 0; j < n; j++)
                y[block.row[i + j]] = lane[j];
        }
    }
}

/* Gather values into a buffer, and scatter the gradients. */
static void scattered_back(const struct mase_step *s, const struct mase_block *block,
                           const struct mase_uniform *u, float all[3], float *dx, const float *dy,
                           const float *x, bool add)
{
    float lane[AT_ONCE], d[AT_ONCE];
    for (int64_t i = 0, n; i < block->rows; i += n) {
        float sum[3];
        n = gather(lane, x, block, i);
        gather(d, dy, block, i);
        s->plan->k->quantize_uniform_back(d, sum, d, lane, u, false, vectors(n));
        for (int64_t j = 0; j < n && dx; j++) {
            float *to = &dx[block->row[i + j]];
            *to = add ? *to + d[j] : d[j];
        }
        for (int j = 0; j < 3; j++)
            all[j] += sum[j];
    }
}

/* One value, as the kernel would. */
static float value_back(float sum[3], float dy, float x, const struct mase_uniform *u)
{
    const float v = x / u->scale;
    const bool low = v<u->lo, high = v> u->hi;
    sum[0] = low || high || dy == 0 ? 0.0f : dy * (rintf(v) - v);
    sum[1] = low ? dy : 0.0f;
    sum[2] = high ? dy : 0.0f;
    return low || high ? 0.0f : dy;
}

void mase_learned_rounding_dense_back(const struct mase_step *s,
                                      const struct mase_learned_rounding *g, float *dx,
                                      const float *dy, const float *x, bool add)
{
    for (int64_t b = 0; b < g->blocks; b++) {
        const struct mase_block block = block_at(g, b, 1);
        const int64_t at = block.row[0];
        float all[3] = { 0, 0, 0 };
        if (block.rows == 1) {
            const float d = value_back(all, dy[at], x[at], &g->uniform[b]);
            if (dx)
                dx[at] = add ? dx[at] + d : d;
        } else if (dx && lies_together(&block)) {
            s->plan->k->quantize_uniform_back(dx + at, all, dy + at, x + at, &g->uniform[b], add,
                                              block.rows);
        } else {
            scattered_back(s, &block, &g->uniform[b], all, dx, dy, x, add);
        }
        if (g->learned)
            learn_block(s, g, b, all);
    }
}
