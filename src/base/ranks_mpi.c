/*
 * ranks_mpi.c - ranks of Open MPI.
 *
 * libmpi is loaded when a launcher has started the process as one of several, and never otherwise:
 * it brings a dozen libraries with it and takes a fifth of a second to start. Without it at build
 * (cmake/ranks.cmake) such a start is an error.
 */
#include "base/ranks.h"

#ifdef MASE_MPI_LIBRARY

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Everything of the library that is used: functions, and variables behind its macros. */
/* clang-format off */
#define API(X)                                                                                 \
    X(MPI_Init_thread) X(MPI_Finalize) X(MPI_Abort) X(MPI_Comm_rank) X(MPI_Comm_size)          \
    X(MPI_Send) X(MPI_Recv) X(MPI_Bcast) X(MPI_Allgatherv)                                     \
    X(ompi_mpi_comm_world) X(ompi_mpi_byte)
/* clang-format on */

struct mpi {
    void *library;
    MPI_Comm world;
    MPI_Datatype byte;
    int *bytes, *at; // (ranks): of a gather
#define POINTER(name) __typeof__(&name) name;
    API(POINTER)
};

/* Messages longer than an int can count go in parts. */
enum { MOST = 1 << 30 };

static int part_of(size_t bytes)
{
    return bytes < MOST ? (int)bytes : MOST;
}

/* A call that fails ends the job by itself: the usual error handler of MPI. */
static void mpi_gather(struct mase_ranks *r, void *all, const int64_t *at)
{
    struct mpi *m = r->data;
    if (at[r->count] > INT_MAX)
        mase_bug("%lld bytes to gather at once", (long long)at[r->count]);
    for (int i = 0; i < r->count; i++) {
        m->at[i] = (int)at[i];
        m->bytes[i] = (int)(at[i + 1] - at[i]);
    }
    m->MPI_Allgatherv(MPI_IN_PLACE, 0, m->byte, all, m->bytes, m->at, m->byte, m->world);
}

static void mpi_send(struct mase_ranks *r, const void *x, size_t bytes, int to)
{
    struct mpi *m = r->data;
    const char *p = x;
    for (int n; bytes; p += n, bytes -= (size_t)n) {
        n = part_of(bytes);
        m->MPI_Send(p, n, m->byte, to, 0, m->world);
    }
}

static void mpi_receive(struct mase_ranks *r, void *x, size_t bytes, int from)
{
    struct mpi *m = r->data;
    char *p = x;
    for (int n; bytes; p += n, bytes -= (size_t)n) {
        n = part_of(bytes);
        m->MPI_Recv(p, n, m->byte, from, 0, m->world, MPI_STATUS_IGNORE);
    }
}

static void mpi_broadcast(struct mase_ranks *r, void *x, size_t bytes, int from)
{
    struct mpi *m = r->data;
    char *p = x;
    for (int n; bytes; p += n, bytes -= (size_t)n) {
        n = part_of(bytes);
        m->MPI_Bcast(p, n, m->byte, from, m->world);
    }
}

/* The library stays: its threads may still run. */
static void release(struct mase_ranks *r)
{
    struct mpi *m = r->data;
    mase_xfree(m->bytes);
    mase_xfree(m->at);
    mase_xfree(m);
    mase_ranks_free(r);
}

static void mpi_leave(struct mase_ranks *r)
{
    ((struct mpi *)r->data)->MPI_Finalize();
    release(r);
}

static void mpi_abort(struct mase_ranks *r, int status)
{
    struct mpi *m = r->data;
    m->MPI_Abort(m->world, status);
}

static const struct mase_link link_mpi = { .gather = mpi_gather,
                                           .send = mpi_send,
                                           .receive = mpi_receive,
                                           .broadcast = mpi_broadcast,
                                           .leave = mpi_leave,
                                           .abort = mpi_abort };

/* Global, since the library opens parts of itself that expect to find it so. */
static bool load(struct mpi *m)
{
    m->library = dlopen(MASE_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    bool whole = m->library != NULL;
#define FIND(name)                                                    \
    if (whole) {                                                      \
        void *address = dlsym(m->library, #name);                     \
        memcpy(&m->name, &address, sizeof address); /* POSIX's way */ \
        whole = address != NULL;                                      \
    }
    API(FIND)
    return whole;
}

/* One thread at a time calls it, which need not be the first one. */
static bool start(struct mpi *m, int *rank, int *count)
{
    int level;
    m->world = (MPI_Comm)(void *)m->ompi_mpi_comm_world;
    m->byte = (MPI_Datatype)(void *)m->ompi_mpi_byte;
    return m->MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) == MPI_SUCCESS &&
           m->MPI_Comm_rank(m->world, rank) == MPI_SUCCESS &&
           m->MPI_Comm_size(m->world, count) == MPI_SUCCESS;
}

enum mase_status mase_ranks_connect(struct mase_ranks **out, struct mase_err *err)
{
    struct mpi *m = mase_xcalloc(sizeof *m);
    int rank = 0, count = 0;
    *out = NULL;
    if (!load(m)) {
        const char *why = dlerror();
        mase_xfree(m);
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "started as one of several processes, but Open MPI cannot be loaded: %s",
                         why ? why : MASE_MPI_LIBRARY " is of another version");
    }
    if (!start(m, &rank, &count)) {
        mase_xfree(m);
        return mase_fail(err, MASE_EIO, "Open MPI cannot be started");
    }
    m->bytes = mase_xcalloc((size_t)count * sizeof *m->bytes);
    m->at = mase_xcalloc((size_t)count * sizeof *m->at);
    *out = mase_ranks_new(&link_mpi, m, rank, count);
    return MASE_OK;
}

#else

enum mase_status mase_ranks_connect(struct mase_ranks **out, struct mase_err *err)
{
    *out = NULL;
    if (mase_ranks_is_follower()) /* the first process says it for all */
        return mase_fail(err, MASE_EUNSUPPORTED, "%s", "");
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "started as one of several processes, but built without Open MPI: install "
                     "libopenmpi-dev and build again");
}

#endif
