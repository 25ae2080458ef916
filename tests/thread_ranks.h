/*
 * thread_ranks.h - ranks that are threads of one test: what several processes of a job do, where
 * a debugger, a sanitizer and an assertion can see it.
 */
#ifndef MASE_TESTS_THREAD_RANKS_H
#define MASE_TESTS_THREAD_RANKS_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranks.h"

enum { THREAD_RANKS_MOST = 8 };

/* What all threads of a job see. A message is handed over when both sides are there. */
struct thread_world {
    pthread_barrier_t all;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    const void *offered[THREAD_RANKS_MOST][THREAD_RANKS_MOST]; /* [from][to] */
    const void *shown[THREAD_RANKS_MOST];
    int count, aborted;
};

static inline void thread_gather(struct mase_ranks *r, void *all, const int64_t *at)
{
    struct thread_world *w = r->data;
    w->shown[r->rank] = all;
    pthread_barrier_wait(&w->all);
    for (int i = 0; i < r->count; i++)
        if (i != r->rank)
            memcpy((char *)all + at[i], (const char *)w->shown[i] + at[i],
                   (size_t)(at[i + 1] - at[i]));
    pthread_barrier_wait(&w->all);
}

static inline void thread_broadcast(struct mase_ranks *r, void *x, size_t bytes, int from)
{
    struct thread_world *w = r->data;
    w->shown[r->rank] = x;
    pthread_barrier_wait(&w->all);
    if (r->rank != from)
        memcpy(x, w->shown[from], bytes);
    pthread_barrier_wait(&w->all);
}

static inline void thread_send(struct mase_ranks *r, const void *x, size_t bytes, int to)
{
    struct thread_world *w = r->data;
    (void)bytes;
    pthread_mutex_lock(&w->lock);
    w->offered[r->rank][to] = x;
    pthread_cond_broadcast(&w->moved);
    while (w->offered[r->rank][to])
        pthread_cond_wait(&w->moved, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static inline void thread_receive(struct mase_ranks *r, void *x, size_t bytes, int from)
{
    struct thread_world *w = r->data;
    pthread_mutex_lock(&w->lock);
    while (!w->offered[from][r->rank])
        pthread_cond_wait(&w->moved, &w->lock);
    memcpy(x, w->offered[from][r->rank], bytes);
    w->offered[from][r->rank] = NULL;
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

static inline void thread_leave(struct mase_ranks *r)
{
    mase_ranks_free(r);
}

static inline void thread_abort(struct mase_ranks *r, int status)
{
    ((struct thread_world *)r->data)->aborted = status;
    mase_ranks_free(r);
}

static const struct mase_link thread_link = { .gather = thread_gather,
                                              .send = thread_send,
                                              .receive = thread_receive,
                                              .broadcast = thread_broadcast,
                                              .leave = thread_leave,
                                              .abort = thread_abort };

typedef void thread_rank_fn(struct mase_ranks *r, void *data);

struct thread_rank {
    struct mase_ranks *ranks;
    thread_rank_fn *run;
    void *data;
};

static inline void *thread_rank_main(void *data)
{
    const struct thread_rank *t = data;
    t->run(t->ranks, t->data);
    return NULL;
}

/* run(rank, data) in as many threads as there are ranks; each leaves by itself or not. Returns the
 * status that one aborted with, or 0. */
static inline int thread_ranks_run(int count, thread_rank_fn *run, void *data)
{
    struct thread_world w = { .count = count };
    struct thread_rank rank[THREAD_RANKS_MOST];
    pthread_t thread[THREAD_RANKS_MOST];
    pthread_barrier_init(&w.all, NULL, (unsigned)count);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.moved, NULL);
    for (int i = 0; i < count; i++) {
        rank[i] = (struct thread_rank){ mase_ranks_new(&thread_link, &w, i, count), run, data };
        if (pthread_create(&thread[i], NULL, thread_rank_main, &rank[i]) != 0)
            abort();
    }
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&w.all);
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.moved);
    return w.aborted;
}

#endif /* MASE_TESTS_THREAD_RANKS_H */
