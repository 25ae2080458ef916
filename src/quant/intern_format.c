/*
 * intern_format.c - every format of the process, once.
 *
 * The pool only grows: formats are few (one for each set of parameters that was ever configured)
 * and small, and what never goes away needs no owner, so graphs, plans, reports and searches share
 * them freely. Adding one is serialised; a format itself is never written again.
 */
#include <pthread.h>
#include <string.h>

#include <mase/arena.h>

#include "base/host.h"
#include "quant/quant.h"

struct entry {
    struct mase_format format; /* first: what callers see */
    struct entry *next;
};

static struct {
    pthread_mutex_t lock;
    struct mase_arena arena;
    struct entry *entries[MASE_QUANT_COUNT];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct adding {
    enum mase_quant_kind kind;
    const struct mase_value *config;
    const void *params;
    struct entry *e;
};

/* Parameters may point into the configuration: into the copy that stays. They were checked. */
static const void *bind(const struct mase_quant_info *row, const struct mase_value *config,
                        const void *params)
{
    void *own = mase_arena_memdup(&pool.arena, params, row->size);
    for (int i = 0; i < config->count; i++)
        if (row->params[i].type == MASE_OPT_TYPE_NUMBERS &&
            mase_opt_bind_value(own, &row->params[i], config->items[i], NULL))
            mase_bug("%s: a parameter that was checked is none", row->name);
    return own;
}

static enum mase_status add(void *data, struct mase_err *err)
{
    struct adding *new = data;
    const struct mase_quant_info *row = mase_quants[new->kind];
    (void)err;
    struct entry *e = mase_new(&pool.arena, struct entry);
    const struct mase_value *own = mase_value_copy(&pool.arena, new->config);
    e->format = (struct mase_format){
        .kind = new->kind, .row = row, .config = own, .params = bind(row, own, new->params)
    };
    e->next = pool.entries[new->kind];
    new->e = pool.entries[new->kind] = e;
    return MASE_OK;
}

/* The pool outlives every call. Without memory for a format, the lock is given back first. */
const struct mase_format *mase_format_intern(enum mase_quant_kind kind,
                                             const struct mase_value *config, const void *params)
{
    struct mase_err err;
    enum mase_status st = MASE_OK;
    pthread_mutex_lock(&pool.lock);
    struct entry *e = pool.entries[kind];
    while (e && !mase_value_equal(e->format.config, config))
        e = e->next;
    if (!e) {
        struct adding new = { .kind = kind, .config = config, .params = params };
        const bool empty = !pool.arena.last;
        st = mase_process_run(add, &new, &err);
        e = new.e;
        if (st && empty)
            pool.arena = (struct mase_arena){ 0 }; /* its first chunk is gone */
    }
    pthread_mutex_unlock(&pool.lock);
    (void)mase_guard_propagate(st, &err);
    return &e->format;
}
