/*
 * ranks.c - the processes of one job: what does not depend on the link (ranks.h).
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/ranks.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/alloc.h"
#include "base/number.h"

/* ---- life ---- */

struct mase_ranks *mase_ranks_new(const struct mase_link *link, void *data, int rank, int count)
{
    struct mase_ranks *r = mase_xcalloc(sizeof *r);
    *r = (struct mase_ranks){ .rank = rank, .count = count, .link = link, .data = data };
    r->at = mase_xcalloc((size_t)(count + 1) * sizeof *r->at);
    r->threads = 1;
    return r;
}

void mase_ranks_free(struct mase_ranks *r)
{
    mase_xfree(r->at);
    mase_xfree(r);
}

/* A positive number of the environment, else 0. */
static long number_of(const char *name)
{
    const char *text = getenv(name);
    const long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 ? n : 0;
}

/* How many processes a launcher started, as far as it says: Open MPI's mpirun, or Slurm's srun
 * where it starts them by PMIx. */
static long launched(void)
{
    const long count = number_of("OMPI_COMM_WORLD_SIZE");
    return count || !getenv("PMIX_RANK") ? count : number_of("SLURM_STEP_NUM_TASKS");
}

bool mase_ranks_is_follower(void)
{
    return launched() > 1 && number_of("PMIX_RANK") + number_of("OMPI_COMM_WORLD_RANK") > 0;
}

/* Where a rank runs. */
struct station {
    char host[64];
    cpu_set_t cpus;
};

/* CPUs that this rank may use; where ranks of one machine may use the same ones, its part of them.
 */
static int share_of_cpus(struct mase_ranks *r)
{
    struct station *all = mase_xcalloc((size_t)r->count * sizeof *all);
    struct station *own = &all[r->rank];
    cpu_set_t any;
    int neighbours = 0;
    CPU_ZERO(&any);
    (void)gethostname(own->host, sizeof own->host - 1);
    if (sched_getaffinity(0, sizeof own->cpus, &own->cpus))
        CPU_ZERO(&own->cpus);
    mase_ranks_gather(r, all, sizeof *all, r->count);
    for (int i = 0; i < r->count; i++) {
        if (!mase_streq(all[i].host, own->host))
            continue;
        CPU_OR(&any, &any, &all[i].cpus);
        neighbours++;
    }
    const int part = CPU_COUNT(&any) / neighbours, most = CPU_COUNT(&own->cpus);
    mase_xfree(all);
    return part < 1 ? 1 : part < most ? part : most;
}

enum mase_status mase_ranks_join(struct mase_ranks **out, struct mase_err *err)
{
    const long count = launched();
    struct mase_ranks *r;
    *out = NULL;
    if (count < 2)
        return MASE_OK;
    MASE_TRY(mase_ranks_connect(&r, err));
    if (r->count != count) {
        const int found = r->count;
        r->link->leave(r);
        return mase_fail(err, MASE_EVALUE,
                         "started as one of %ld processes, but Open MPI finds %d: its own mpirun "
                         "starts them, or srun --mpi=pmix",
                         count, found);
    }
    r->threads = share_of_cpus(r);
    *out = r;
    return MASE_OK;
}

void mase_ranks_part(struct mase_ranks *r)
{
    if (r)
        r->parted = true;
}

int mase_ranks_leave(struct mase_ranks *r, int status)
{
    if (!r)
        return status;
    const bool follows = r->rank > 0;
    if (status && !r->parted)
        r->link->abort(r, status);
    else
        r->link->leave(r);
    return follows ? 0 : status;
}

/* ---- exchange ---- */

bool mase_ranks_speaks(const struct mase_ranks *r)
{
    return !r || r->rank == 0;
}

int64_t mase_ranks_share(int64_t *from, int64_t n, int rank, int count)
{
    *from = (n * rank + count - 1) / count;
    return (n * (rank + 1) + count - 1) / count;
}

void mase_ranks_gather(struct mase_ranks *r, void *items, size_t size, int64_t n)
{
    if (!r)
        return;
    for (int i = 0; i < r->count; i++) {
        int64_t from;
        r->at[i + 1] = mase_ranks_share(&from, n, i, r->count) * (int64_t)size;
    }
    r->bytes += (r->at[r->rank + 1] - r->at[r->rank]) * (r->count - 1);
    r->waits++;
    r->link->gather(r, items, r->at);
}

void mase_ranks_send(struct mase_ranks *r, const void *x, size_t bytes, int to)
{
    r->bytes += (int64_t)bytes;
    r->waits++;
    r->link->send(r, x, bytes, to);
}

void mase_ranks_receive(struct mase_ranks *r, void *x, size_t bytes, int from)
{
    r->waits++;
    r->link->receive(r, x, bytes, from);
}

void mase_ranks_broadcast(struct mase_ranks *r, void *x, size_t bytes, int from)
{
    if (!r)
        return;
    r->bytes += from == r->rank ? (int64_t)bytes * (r->count - 1) : 0;
    r->waits++;
    r->link->broadcast(r, x, bytes, from);
}

/* The message of rank `from` becomes that of rank 0. */
static void pass_error(struct mase_ranks *r, int from, struct mase_err *err)
{
    if (r->rank == from)
        mase_ranks_send(r, err, sizeof *err, 0);
    if (r->rank != 0)
        return;
    mase_ranks_receive(r, err, sizeof *err, from);
    err->loc.path = err->loc.path ? err->path : NULL;
    const size_t used = strlen(err->msg);
    mase_snprintf(err->msg + used, sizeof err->msg - used, " (on rank %d of %d)", from, r->count);
}

enum mase_status mase_ranks_agree(struct mase_ranks *r, enum mase_status st, struct mase_err *err)
{
    if (!r)
        return st;
    int *all = mase_xcalloc((size_t)r->count * sizeof *all), first = 0;
    all[r->rank] = (int)st;
    mase_ranks_gather(r, all, sizeof *all, r->count);
    while (first < r->count && !all[first])
        first++;
    const enum mase_status agreed = first < r->count ? (enum mase_status)all[first] : MASE_OK;
    mase_xfree(all);
    if (!agreed)
        return MASE_OK;
    r->parted = true;
    if (first)
        pass_error(r, first, err);
    if (r->rank)
        err->msg[0] = '\0';
    err->status = agreed;
    return agreed;
}

bool mase_ranks_same(struct mase_ranks *r, const void *x, size_t bytes, int *differs)
{
    *differs = 0;
    if (!r)
        return true;
    char *all = mase_xcalloc((size_t)r->count * bytes);
    memcpy(all + (size_t)r->rank * bytes, x, bytes);
    mase_ranks_gather(r, all, bytes, r->count);
    for (int i = r->count - 1; i > 0; i--)
        if (memcmp(all + (size_t)i * bytes, all, bytes) != 0)
            *differs = i;
    mase_xfree(all);
    return *differs == 0;
}
