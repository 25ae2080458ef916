/*
 * intern.c - every format of the process, once.
 *
 * The pool only grows: formats are few (one for each set of parameters that was ever configured)
 * and small, and what never goes away needs no owner, so graphs, plans, reports and searches share
 * them freely. Adding one is serialised; a format itself is never written again.
 */
#include <pthread.h>
#include <string.h>

#include <mase/arena.h>

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

const struct mase_format *mase_format_intern(enum mase_quant_kind kind,
                                             const struct mase_value *config, const void *params)
{
    const struct mase_quant_info *row = mase_quants[kind];
    pthread_mutex_lock(&pool.lock);
    struct entry *e = pool.entries[kind];
    while (e && !mase_value_equal(e->format.config, config))
        e = e->next;
    if (!e) {
        e = mase_new(&pool.arena, struct entry);
        const struct mase_value *own = mase_value_copy(&pool.arena, config);
        e->format = (struct mase_format){
            .kind = kind, .row = row, .config = own, .params = bind(row, own, params)
        };
        e->next = pool.entries[kind];
        pool.entries[kind] = e;
    }
    pthread_mutex_unlock(&pool.lock);
    return &e->format;
}
