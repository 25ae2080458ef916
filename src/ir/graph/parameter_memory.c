/*
 * parameter_memory.c - the memory of parameters, and how they start.
 *
 * Blocks never move once made, because a clone may look into them: parameters added later get a
 * block of their own. A clone's list begins with its own blocks and goes on with those it borrows.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mase/rng.h>

#include "base/alloc.h"
#include "base/limit.h"
#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "ir/graph/module_tree.h"

enum { ALIGN = 64 };

struct mase_weights {
    struct mase_weights *next;
    const struct mase_graph *owner;
    void *memory;
};

/* At most INT64_MAX bytes before, so the sum is no overflow. */
static size_t padded(const struct mase_param *p)
{
    size_t bytes = (size_t)mase_tensor_bytes(&p->tensor);
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- memory ---- */

/* A block of its own for g. */
static char *new_block(struct mase_graph *g, size_t size)
{
    struct mase_weights *w = mase_new(&g->arena, struct mase_weights);
    w->memory = mase_aligned_calloc(size);
    mase_aligned_give_to_arena(w->memory, &g->arena);
    w->owner = g;
    w->next = g->weights;
    g->weights = w;
    return w->memory;
}

void mase_weights_free(struct mase_graph *g)
{
    for (; g->weights && g->weights->owner == g; g->weights = g->weights->next)
        mase_aligned_free(g->weights->memory);
    g->weights = NULL;
}

struct placing {
    const struct mase_graph *g;
    bool own; /* those that have data, copied; else those that have none */
    size_t size;
    char *next;
};

static bool add_size(const char *full, struct mase_param *p, void *data)
{
    struct placing *pl = data;
    (void)full;
    if (!p->tied && pl->own == (p->tensor.data != NULL))
        pl->size += padded(p);
    return true;
}

static bool place(const char *full, struct mase_param *p, void *data)
{
    struct placing *pl = data;
    (void)full;
    if (p->tied) { /* to an earlier one */
        p->tensor.data = mase_param_root(pl->g, p)->tensor.data;
        return true;
    }
    if (pl->own != (p->tensor.data != NULL))
        return true;
    if (p->tensor.data)
        memcpy(pl->next, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    p->tensor.data = pl->next;
    pl->next += padded(p);
    return true;
}

static bool is_unplaced(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    *(bool *)data |= !p->tensor.data;
    return true;
}

struct sum {
    uint64_t bytes, largest;
    char name[128]; /* of the largest */
    const struct mase_param *param;
};

static bool add_bytes(const char *full, struct mase_param *p, void *data)
{
    struct sum *s = data;
    const uint64_t bytes = p->tied ? 0 : padded(p);
    if (__builtin_add_overflow(s->bytes, bytes, &s->bytes))
        s->bytes = UINT64_MAX;
    if (bytes > s->largest) {
        mase_snprintf(s->name, sizeof s->name, "%s", full);
        s->largest = bytes;
        s->param = p;
    }
    return true;
}

enum mase_status mase_graph_check_size(const struct mase_graph *g, struct mase_err *err)
{
    struct sum s = { 0 };
    mase_graph_each_param(g, add_bytes, &s);
    if (s.bytes <= mase_limit_of_network())
        return MASE_OK;
    struct mase_str shape = { 0 };
    mase_shape_print(&shape, &s.param->tensor.shape);
    const enum mase_status st =
        mase_limit_network(s.bytes, err, "the memory of its weights, '%s' of %s above all,", s.name,
                           mase_str_text(&shape));
    mase_str_release(&shape);
    return st;
}

void mase_graph_alloc(struct mase_graph *g)
{
    struct placing pl = { .g = g };
    bool unplaced = false;

    mase_graph_each_param(g, is_unplaced, &unplaced);
    if (!unplaced && g->weights)
        return;
    mase_graph_each_param(g, add_size, &pl);
    pl.next = new_block(g, pl.size);
    mase_graph_each_param(g, place, &pl);
}

void mase_graph_own_weights(struct mase_graph *g)
{
    struct placing pl = { .g = g, .own = true };
    if (!g->weights_borrowed)
        return;
    struct mase_weights *old = g->weights;
    mase_graph_each_param(g, add_size, &pl);
    pl.next = new_block(g, pl.size);
    mase_graph_each_param(g, place, &pl);
    for (; old && old->owner == g; old = old->next)
        mase_aligned_free(old->memory);
    g->weights->next = NULL;
    g->weights_borrowed = false;
}

void mase_graph_take_weights(struct mase_graph *g, struct mase_graph *from)
{
    struct mase_weights **end = &g->weights;
    while (*end && (*end)->owner == g)
        end = &(*end)->next;
    *end = NULL; /* parameters of `from` follow, as when g was cloned */
    struct mase_weights *first = NULL, **last = &first;
    struct mase_weights *w = from->weights;
    for (; w && w->owner == from; w = w->next) {
        *last = mase_arena_memdup(&g->arena, w, sizeof *w);
        (*last)->owner = g;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    *last = w; /* which from borrows itself */
    *end = first;
    g->weights_borrowed = w != NULL;
    from->weights = g->weights;
    from->weights_borrowed = g->weights != NULL;
}

/* ---- walking ---- */

struct each {
    mase_param_fn *fn;
    void *data;
};

static bool pass_on(const char *full, struct mase_param *p, const struct mase_module *m, void *data)
{
    const struct each *each = data;
    (void)m;
    return each->fn(full, p, each->data);
}

void mase_graph_each_param(const struct mase_graph *g, mase_param_fn *fn, void *data)
{
    mase_tree_walk(g, pass_on, &(struct each){ fn, data });
}

struct counts {
    int64_t params, frozen;
};

static bool count_values(const char *full, struct mase_param *p, const struct mase_module *m,
                         void *data)
{
    struct counts *c = data;
    const int64_t n = mase_param_is_buffer(p) || p->tied ? 0 : mase_tensor_count(&p->tensor);
    (void)full;
    (void)m;
    c->params += n;
    c->frozen += p->kind == MASE_PARAM_FROZEN ? n : 0;
    return true;
}

int64_t mase_graph_param_count(const struct mase_graph *g)
{
    struct counts c = { 0 };
    mase_tree_walk(g, count_values, &c);
    return c.params;
}

int64_t mase_graph_frozen_count(const struct mase_graph *g)
{
    struct counts c = { 0 };
    mase_tree_walk(g, count_values, &c);
    return c.frozen;
}

/* ---- how they start ---- */

static double start_value(const struct mase_param *p, int64_t i, struct mase_rng *r)
{
    switch (p->init) {
    case MASE_INIT_ZEROS:
        return 0;
    case MASE_INIT_ONES:
        return 1;
    case MASE_INIT_UNIFORM:
        return p->centre + mase_rng_range(r, -p->scale, p->scale);
    case MASE_INIT_NORMAL:
        return p->centre + p->scale * mase_rng_normal(r);
    case MASE_INIT_UNSET:
        return NAN;
    case MASE_INIT_VALUES:
        return p->values[i];
    }
    mase_bug("initialisation %d does not exist", p->init);
}

/* The padding of an embedding, which gets no gradient there. */
static void clear_row(struct mase_param *p)
{
    const int64_t width = p->tensor.shape.dim[1];
    memset(mase_f32(&p->tensor) + (p->zero_row - 1) * width, 0, (size_t)width * sizeof(float));
}

static bool start(const char *full, struct mase_param *p, const struct mase_module *m, void *data)
{
    (void)m;
    if (p->tied)
        return true;
    struct mase_rng r = mase_rng(*(const uint64_t *)data, MASE_STREAM_INIT, mase_rng_name(full));
    for (int64_t i = 0, n = mase_tensor_count(&p->tensor); i < n; i++)
        mase_tensor_set(&p->tensor, i, start_value(p, i, &r));
    if (p->zero_row)
        clear_row(p);
    return true;
}

/* The number of tensors without values, and the names of the first. */
struct count {
    int64_t values;
    int tensors;
    struct mase_str *where;
};

static bool count_not_finite(const char *full, struct mase_param *p, void *data)
{
    enum { SHOWN = 4 };
    struct count *c = data;
    const bool counts = p->tensor.data && !p->tied && p->init != MASE_INIT_UNSET;
    const int64_t n = counts ? mase_tensor_not_finite(&p->tensor) : 0;
    c->values += n;
    if (!n || !c->where || c->tensors++ > SHOWN)
        return true;
    if (c->tensors > SHOWN)
        mase_str_add(c->where, ", ...");
    else
        mase_str_printf(c->where, "%s%s (%lld)", c->where->len ? ", " : "", full, (long long)n);
    return true;
}

int64_t mase_graph_not_finite(const struct mase_graph *g, struct mase_str *where)
{
    struct count c = { .where = where };
    mase_graph_each_param(g, count_not_finite, &c);
    return c.values;
}

void mase_graph_init_weights(struct mase_graph *g, uint64_t seed)
{
    mase_graph_own_weights(g);
    mase_graph_alloc(g);
    mase_tree_walk(g, start, &seed);
}

/* Parameters without memory, in order. */
struct missing {
    struct mase_arena arena;
    bool *is;
    int count, cap, at;
    uint64_t seed;
};

static bool note_missing(const char *full, struct mase_param *p, void *data)
{
    struct missing *m = data;
    (void)full;
    m->is = mase_arena_grow(&m->arena, m->is, m->count, &m->cap, sizeof *m->is);
    m->is[m->count++] = !p->tensor.data;
    return true;
}

static bool start_missing(const char *full, struct mase_param *p, const struct mase_module *module,
                          void *data)
{
    struct missing *m = data;
    return m->is[m->at++] ? start(full, p, module, &m->seed) : true;
}

enum mase_status mase_graph_init_missing(struct mase_graph *g, uint64_t seed, struct mase_err *err)
{
    struct missing m = { .seed = seed };
    MASE_TRY(mase_graph_check_size(g, err));
    mase_graph_each_param(g, note_missing, &m);
    mase_graph_alloc(g);
    mase_tree_walk(g, start_missing, &m);
    mase_arena_release(&m.arena);
    return MASE_OK;
}

static bool start_constant(const char *full, struct mase_param *p, const struct mase_module *m,
                           void *data)
{
    return p->kind == MASE_PARAM_CONSTANT ? start(full, p, m, data) : true;
}

void mase_graph_init_constants(struct mase_graph *g)
{
    uint64_t seed = 0;
    mase_tree_walk(g, start_constant, &seed);
}
